"""The memory tracer, which records allocations and frees with their stacks."""

import gc
import os

from . import _traceloom
from ._profile import OWN

if hasattr(os, "register_at_fork"):
    # The writer is a thread, and a forked child has only the thread that forked.
    os.register_at_fork(after_in_child=_traceloom.memory_abandon)


class track_memory:
    """Records every allocation of the interpreter while its block runs, with Python's stacks, as a Memlyze file.

    >>> import os, tempfile, traceloom
    >>> path = os.path.join(tempfile.mkdtemp(), "x.mlyze")
    >>> with traceloom.track_memory(path) as tracker:
    ...     kept = bytearray(1_000_000)
    ...     tracker.marker("it is there")
    >>> traceloom.open(path).memory()["live_bytes"] >= 1_000_000
    True
    """

    def __init__(self, path: str | os.PathLike[str] = "memory.mlyze") -> None:
        self.path = os.fspath(path)

    def __enter__(self) -> "track_memory":
        self._process = os.getpid()
        _traceloom.memory_start(self.path, OWN)
        gc.callbacks.append(_collected)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process != os.getpid():
            # A forked child also leaves the block, but does not record into this file.
            return
        gc.callbacks.remove(_collected)
        _traceloom.memory_stop()

    def marker(self, name: str) -> None:
        """Adds a marker at the current time."""
        _traceloom.memory_marker(name)


def _collected(phase: str, info: dict[str, int]) -> None:
    if phase == "stop":
        _traceloom.memory_gc(info["collected"])
