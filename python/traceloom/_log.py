"""A `logging` handler that writes CNanoLog files."""

import logging
import os

from . import _traceloom


class LogHandler(logging.Handler):
    """Writes log records as a CNanoLog file, which `traceloom log` prints and `traceloom.open` reads.

    A process can have one such handler at a time. If the process is killed, entries are kept up to the last `flush()`, and nearly
    always up to the last 20 ms. CRITICAL is stored as ERROR, the most severe level of the format; custom levels are stored as the
    next lower level.

    >>> import logging, os, tempfile, traceloom
    >>> path = os.path.join(tempfile.mkdtemp(), "app.clog")
    >>> logger = logging.getLogger("example")
    >>> handler = traceloom.LogHandler(path)
    >>> logger.addHandler(handler)
    >>> logger.warning("%d of %s", 3, "them")
    >>> handler.close()
    >>> logger.removeHandler(handler)
    >>> [(entry["level"], entry["message"]) for entry in traceloom.open(path).log()]
    [('WARN', '3 of them')]
    """

    def __init__(self, path: str | os.PathLike[str], level: int | str = logging.NOTSET) -> None:
        _traceloom.log_open(path)
        self._is_open = True
        super().__init__(level)

    def emit(self, record: logging.LogRecord) -> None:
        """Stores a record."""
        if not self._is_open:
            return
        try:
            _traceloom.log_write(record.levelno, self.format(record), record.pathname, record.lineno)
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Waits until all entries are written to the operating system."""
        if self._is_open:
            _traceloom.log_flush()

    def close(self) -> None:
        """Completes the file."""
        if self._is_open:
            self._is_open = False
            _traceloom.log_close()
        super().close()
