"""Starts the profile of a process that a profiled one started; see `traceloom._children`."""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder


def chain():
    """Runs the `sitecustomize` that this one hides, and leaves the search path as it would be."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != own]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def begin():
    try:
        from traceloom import _children
    except ImportError:
        # A Python that does not have the package is not recorded.
        return
    _children.begin()


chain()
begin()
