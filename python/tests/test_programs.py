"""Real programs: what the profiler counts is what cProfile counts."""

import asyncio
import concurrent.futures
import cProfile
import io
import os
import threading
import unittest

import pytest

import traceloom


def counts_of_cprofile(profile):
    """Calls of functions in Python by file and first line."""
    counts = {}
    for entry in profile.getstats():
        if not isinstance(entry.code, str):
            key = (entry.code.co_filename, entry.code.co_firstlineno)
            counts[key] = counts.get(key, 0) + entry.callcount
    return counts


def counts_of(trace):
    places = {row["name"]: (row["file"], row["line"]) for row in trace.definitions.to_arrow().to_pylist()}
    counts = {}
    for row in trace.calls.to_arrow().to_pylist():
        key = places[row["callee"]]
        counts[key] = counts.get(key, 0) + row["count"]
    return counts


def agree(tmp_path, work, folder, **options):
    """Runs a program that does the same each time, and compares functions in a folder."""
    work()
    profile = cProfile.Profile()
    profile.runcall(work)
    path = tmp_path / "nytprof.out"
    with traceloom.profile(path, **options):
        work()
    theirs, ours = counts_of_cprofile(profile), counts_of(traceloom.open(path, strict=True))
    theirs = {key: count for key, count in theirs.items() if folder in key[0]}
    assert len(theirs) > 5
    assert {key: ours.get(key) for key in theirs} == theirs


@pytest.mark.parametrize("options", [{}, {"lines": False}, {"builtins": True}])
def test_a_test_suite(tmp_path, options):
    suite = pytest.importorskip("test.test_textwrap")

    def work():
        tests = unittest.defaultTestLoader.loadTestsFromModule(suite)
        outcome = unittest.TextTestRunner(stream=io.StringIO()).run(tests)
        assert outcome.wasSuccessful() and outcome.testsRun > 50

    agree(tmp_path, work, "textwrap", **options)


def handle(text):
    return text.upper()


async def serve(requests):
    async def answer(reader, writer):
        while line := await reader.readline():
            writer.write(handle(line))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for number in range(requests):
            writer.write(b"request %d\n" % number)
            assert await reader.readline() == b"REQUEST %d\n" % number
        writer.close()
        await writer.wait_closed()


def calls(trace, name):
    return sum(row["count"] for row in trace.calls.to_arrow().to_pylist() if row["callee"].split("::")[-1] == name)


def test_a_server(tmp_path):
    path = tmp_path / "nytprof.out"
    with traceloom.profile(path):
        asyncio.run(serve(20))
    trace = traceloom.open(path, strict=True)
    assert trace.check()["accepted"], trace.findings()
    assert calls(trace, "handle") == 20
    callers = {row["caller"] for row in trace.calls.to_arrow().to_pylist() if row["callee"].endswith("::handle")}
    assert len(callers) == 1 and "answer" in callers.pop()


def square(number):
    return number * number


def test_a_pool_of_threads(tmp_path):
    path, barrier = tmp_path / "nytprof.out", threading.Barrier(3)

    def task(number):
        # Each thread has a task before one gets a second one.
        if number < 3:
            barrier.wait()
        return square(number)

    with traceloom.profile(path):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            assert sum(pool.map(task, range(300))) == sum(number * number for number in range(300))
    trace = traceloom.open(path, strict=True)
    assert calls(trace, "square") == 300
    # This thread and those of the pool.
    assert len(trace.processes) == 4
    assert os.path.getsize(path) > 0
