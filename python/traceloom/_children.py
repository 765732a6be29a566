"""Profiles of the processes that a profiled program starts.

A new Python process reads the variable in `_child/sitecustomize.py`, which it finds through PYTHONPATH; a forked child starts a
separate profile.
"""

import atexit
import json
import os
from typing import TYPE_CHECKING

from . import _traceloom

if TYPE_CHECKING:
    from ._profile import profile

VARIABLE = "TRACELOOM_PROFILE"
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_child")

#: The options for children, if they record.
_followed: "dict[str, object] | None" = None


def follow(parent: "profile") -> None:
    """Lets processes that start from now on record themselves."""
    global _followed
    # A child of a child writes to the same folder; process ids distinguish the files.
    path = parent.path.removesuffix(f".{os.getpid()}")
    _followed = {"path": path, "format": parent.format, "lines": parent.lines, "builtins": parent.builtins}
    os.environ[VARIABLE] = json.dumps(_followed)
    os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *_others()])
    _finish_forks()


def unfollow() -> None:
    """Stops following; running processes continue to record."""
    global _followed
    _followed = None
    os.environ.pop(VARIABLE, None)
    if others := _others():
        os.environ["PYTHONPATH"] = os.pathsep.join(others)
    else:
        os.environ.pop("PYTHONPATH", None)


def begin() -> None:
    """Starts the profile of this process, if its parent requested it."""
    if wanted := os.environ.get(VARIABLE):
        _begin(json.loads(wanted))


def _begin(wanted: "dict[str, object]") -> None:
    global _own
    from ._profile import profile

    path = f"{wanted.pop('path')}.{os.getpid()}"
    _own = profile(path, subprocesses=True, **wanted)  # type: ignore[arg-type]
    _own.__enter__()
    atexit.register(_end)


#: The profile of this process, if it is a child.
_own: "profile | None" = None


def _end() -> None:
    global _own
    ended, _own = _own, None
    if ended is not None:
        ended.__exit__()


def _others() -> list[str]:
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [folder for folder in folders if folder and folder != FOLDER]


def _finish_forks() -> None:
    """Processes of `multiprocessing` exit without `atexit`, but run their own finalizers."""
    from multiprocessing import util

    util.register_after_fork(_finish_forks, lambda _: util.Finalize(None, _end, exitpriority=-100))


def _forked() -> None:
    # The writer is a thread, and a forked child has only the thread that forked.
    global _own
    _own = None
    _traceloom.profile_abandon()
    if _followed is not None:
        _begin(dict(_followed))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
