"""A plugin of pytest: the memory of each test, with a limit.

`pytest --traceloom-memory=FOLDER` writes a trace per test. `--traceloom-memory-limit=BYTES`, or the mark
`@pytest.mark.traceloom_memory(limit=BYTES)`, fails a test whose peak is higher.
"""

import os
import re
import tempfile

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("traceloom")
    group.addoption("--traceloom-memory", metavar="FOLDER", help="write a memory trace of each test to this folder")
    group.addoption("--traceloom-memory-limit", metavar="BYTES", type=int, help="fail tests that take more at their peak")


def pytest_configure(config):
    config.addinivalue_line("markers", "traceloom_memory(limit): fail the test if it takes more bytes at its peak")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    folder, limit = item.config.getoption("traceloom_memory"), item.config.getoption("traceloom_memory_limit")
    mark = item.get_closest_marker("traceloom_memory")
    if mark is not None:
        limit = mark.kwargs.get("limit", limit)
    if folder is None and limit is None:
        return (yield)
    import traceloom

    with tempfile.TemporaryDirectory() as temporary:
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder or temporary, re.sub(r"[^\w.-]+", "_", item.nodeid) + ".mlyze")
        with traceloom.track_memory(path):
            outcome = yield
        peak = peak_of(traceloom.open(path))
    item.user_properties.append(("traceloom_peak_bytes", peak))
    if limit is not None and peak > limit:
        pytest.fail(f"the test takes {peak:,} bytes at its peak, and may take {limit:,}", pytrace=False)
    return outcome


def peak_of(trace):
    """The most bytes that were in use at a time; a test that takes nothing has none."""
    return trace.memory()["peak"]["bytes"] if len(trace.allocations) else 0
