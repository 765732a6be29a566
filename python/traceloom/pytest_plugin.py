"""A pytest plugin that records and limits the memory of each test.

`pytest --traceloom-memory=FOLDER` writes a trace per test. `--traceloom-memory-limit=BYTES`, or the mark
`@pytest.mark.traceloom_memory(limit=BYTES)`, fails a test whose peak exceeds the limit.
"""

import os
import re
import tempfile

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("traceloom")
    group.addoption("--traceloom-memory", metavar="FOLDER", help="write a memory trace of each test to this folder")
    group.addoption("--traceloom-memory-limit", metavar="BYTES", type=int, help="fail tests whose peak memory exceeds this")


def pytest_configure(config):
    config.addinivalue_line("markers", "traceloom_memory(limit): fail the test if its peak memory exceeds this many bytes")


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
        pytest.fail(f"the peak memory of the test is {peak:,} bytes, which exceeds the limit of {limit:,}", pytrace=False)
    return outcome


def peak_of(trace):
    """The peak number of bytes in use; 0 for a test without allocations."""
    return trace.memory()["peak"]["bytes"] if len(trace.allocations) else 0
