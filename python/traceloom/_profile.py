"""The profiler, which records lines and calls of a program."""

import os
import sys
import tempfile
from collections.abc import Callable

from . import _children, _traceloom

OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


class profile:
    """Records lines and calls of all threads while its block runs, as a NYTProf file.

    Devel::NYTProf's tools render the file (`nytprofhtml -f PATH`), and `traceloom.open` reads it. With `format="pynytprof"`, the
    file is in the dialect of Pynytprof. Without `lines`, only calls are recorded, which is faster. With `builtins`, calls of
    functions that are not written in Python are also recorded. With `subprocesses`, Python processes that the program starts
    write separate profiles, to the same path followed by the process id. `timer` is a function that returns nanoseconds, such
    as `time.process_time_ns`, to measure something other than elapsed time.

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
        self,
        path: str | os.PathLike[str] = "nytprof.out",
        *,
        format: str = "nytprof",
        lines: bool = True,
        builtins: bool = False,
        subprocesses: bool = False,
        timer: Callable[[], int] | None = None,
        application: str | None = None,
    ) -> None:
        if format not in ("nytprof", "pynytprof"):
            raise ValueError(f"unknown format {format!r}; expected 'nytprof' or 'pynytprof'")
        self.path = os.path.abspath(path)
        self.format = format
        self.lines = lines
        self.builtins = builtins
        self.subprocesses = subprocesses
        self.timer = timer
        self.application = os.path.abspath(application or sys.argv[0] or "-") if sys.argv else "-"

    def __enter__(self) -> "profile":
        self._process = os.getpid()
        #: The file that the recorder writes.
        self.output = self.path
        if self.format != "nytprof":
            number, self.output = tempfile.mkstemp(prefix="traceloom-")
            os.close(number)
        _traceloom.profile_start(self, OWN)
        if self.subprocesses:
            _children.follow(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process != os.getpid():
            # A forked child also leaves the block, but does not record into this file.
            return
        if self.subprocesses:
            _children.unfollow()
        _traceloom.profile_stop()
        if self.output != self.path:
            try:
                _traceloom.profile_convert(self.output, self.path, self.format)
            finally:
                os.remove(self.output)
