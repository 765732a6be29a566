"""Profiles of the processes that a profiled program starts.

A Python that is started reads the variable in `_child/sitecustomize.py`, which PYTHONPATH leads to; a fork goes on with a
profile of its own.
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

#: What children record, if they do.
_followed: "dict[str, object] | None" = None


def follow(parent: "profile") -> None:
    """Makes the processes that are started from now on record themselves."""
    global _followed
    # A child of a child writes next to it: numbers of processes tell them apart.
    path = parent.path.removesuffix(f".{os.getpid()}")
    _followed = {"path": path, "format": parent.format, "lines": parent.lines, "builtins": parent.builtins}
    os.environ[VARIABLE] = json.dumps(_followed)
    os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *_others()])
    _finish_forks()


def unfollow() -> None:
    """Ends it; processes that run go on."""
    global _followed
    _followed = None
    os.environ.pop(VARIABLE, None)
    if others := _others():
        os.environ["PYTHONPATH"] = os.pathsep.join(others)
    else:
        os.environ.pop("PYTHONPATH", None)


def begin() -> None:
    """Starts the profile of this process, if the one that started it asked for that."""
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
    """The processes of `multiprocessing` end without `atexit`, but run finalizers of their own."""
    from multiprocessing import util

    util.register_after_fork(_finish_forks, lambda _: util.Finalize(None, _end, exitpriority=-100))


def _forked() -> None:
    # The writer is a thread, and a fork has only the thread that forked.
    global _own
    _own = None
    _traceloom.profile_abandon()
    if _followed is not None:
        _begin(dict(_followed))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
