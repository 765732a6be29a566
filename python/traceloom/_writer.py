"""Writing traces."""

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from typing import Any

from . import _traceloom


def writer(path: str | os.PathLike[str], *, to: str | None = None) -> "Writer":
    """Writes a trace from scratch: spans, events, values, log entries, allocations.

    The extension of the path determines the format, such as `.prof`, `.wtf-trace`, `.clog` or `.mlyze`, unless `to` is given. The
    file is written at the end of the block; `lost` then lists what the format cannot hold.

    >>> import os, tempfile, traceloom
    >>> path = os.path.join(tempfile.mkdtemp(), "x.prof")
    >>> with traceloom.writer(path) as trace:
    ...     with trace.span("frame", ts_ns=0) as frame:
    ...         trace.value("fps", 60.0, ts_ns=500)
    ...         frame.end(ts_ns=1_000)
    >>> traceloom.open(path).spans.select(["name", "dur_ns"]).to_arrow().to_pylist()
    [{'name': 'frame', 'dur_ns': 1000}]
    """
    return Writer(path, to=to)


class Writer:
    """Collects a trace; see `writer`.

    Every method accepts `ts_ns`, the time since the start in nanoseconds (default: now), and `thread`, the name of a thread
    (default: the current one).
    """

    def __init__(self, path: str | os.PathLike[str], *, to: str | None = None) -> None:
        self.path = os.fspath(path)
        self.to = to
        self.lost: list[dict[str, Any]] = []
        self._start_ns = time.perf_counter_ns()
        self._builder = _traceloom.Builder(os.path.basename(self.path), time.time_ns())

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.lost = self._builder.write(self.path, self.to)

    def _at(self, ts_ns: int | None) -> int:
        return time.perf_counter_ns() - self._start_ns if ts_ns is None else ts_ns

    def span(self, name: str, *, ts_ns: int | None = None, thread: str | None = None) -> "Span":
        """Starts a span that lasts until the end of its block, or until `end` is called."""
        thread = _name(thread)
        self._builder.begin(thread, name, self._at(ts_ns))
        return Span(self, thread)

    def event(self, name: str, *, ts_ns: int | None = None, thread: str | None = None) -> None:
        """Adds an event."""
        self._builder.event(_name(thread), name, self._at(ts_ns))

    def value(self, name: str, value: float, *, ts_ns: int | None = None, thread: str | None = None) -> None:
        """Adds a value."""
        self._builder.value(_name(thread), name, self._at(ts_ns), value)

    def log(self, level: str, message: str, *, ts_ns: int | None = None, thread: str | None = None) -> None:
        """Adds a log entry; the level is DEBUG, INFO, WARN or ERROR."""
        self._builder.log(_name(thread), level, self._at(ts_ns), message)

    def allocate(
        self,
        address: int,
        size: int,
        *,
        stack: Sequence[tuple[str, str, int]] = (),
        ts_ns: int | None = None,
        thread: str | None = None,
    ) -> None:
        """Adds an allocation. The stack is a list of (function, file, line), innermost first."""
        self._builder.allocate(_name(thread), self._at(ts_ns), address, size, list(stack))

    def free(self, address: int, *, ts_ns: int | None = None) -> None:
        """Adds a free."""
        self._builder.free(self._at(ts_ns), address)


class Span(contextlib.AbstractContextManager):
    """An open span."""

    def __init__(self, of: Writer, thread: str) -> None:
        self._writer = of
        self._thread = thread
        self._is_open = True

    def end(self, *, ts_ns: int | None = None) -> None:
        """Ends the span before its block does."""
        if self._is_open:
            self._is_open = False
            self._writer._builder.end(self._thread, self._writer._at(ts_ns))

    def __exit__(self, *_: object) -> None:
        self.end()


def _name(thread: str | None) -> str:
    return threading.current_thread().name if thread is None else thread
