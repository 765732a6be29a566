"""The profiler: lines and calls of a program."""

import os
import sys
import tempfile

from . import _traceloom

OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep

if hasattr(os, "register_at_fork"):
    # The writer is a thread, and a fork has only the thread that forked.
    os.register_at_fork(after_in_child=_traceloom.profile_abandon)


class profile:
    """Records lines and calls of all threads while its block runs, as a NYTProf file.

    Devel::NYTProf's tools render the file (`nytprofhtml -f PATH`), and `traceloom.open` reads it. With `format="pynytprof"` the
    file is in the dialect of Pynytprof.

    >>> import os, tempfile, traceloom
    >>> path = os.path.join(tempfile.mkdtemp(), "nytprof.out")
    >>> with traceloom.profile(path):
    ...     total = sum(number * number for number in range(100))
    >>> trace = traceloom.open(path)
    >>> trace.format
    'nytprof'
    >>> len(trace.calls) > 0
    True
    """

    def __init__(
        self, path: str | os.PathLike[str] = "nytprof.out", *, format: str = "nytprof", application: str | None = None
    ) -> None:
        if format not in ("nytprof", "pynytprof"):
            raise ValueError(f"a profile is nytprof or pynytprof, not {format}")
        self.path = os.fspath(path)
        self.format = format
        self.application = os.path.abspath(application or sys.argv[0] or "-") if sys.argv else "-"

    def __enter__(self) -> "profile":
        self._written = self.path
        if self.format != "nytprof":
            number, self._written = tempfile.mkstemp(prefix="traceloom-")
            os.close(number)
        _traceloom.profile_start(self._written, self.application, OWN)
        return self

    def __exit__(self, *_: object) -> None:
        _traceloom.profile_stop()
        if self._written != self.path:
            try:
                _traceloom.profile_convert(self._written, self.path, self.format)
            finally:
                os.remove(self._written)
