"""Real programs: the profiler and cProfile count the same."""

import asyncio
import concurrent.futures
import cProfile
import io
import shutil
import subprocess
import textwrap
import threading
import unittest

import pytest

import traceloom
from test_profile_options import Clock


def sums_of_cprofile(profile):
    """Calls, self time and total time of functions in Python, by file and first line."""
    sums = {}
    for entry in profile.getstats():
        if not isinstance(entry.code, str):
            key = (entry.code.co_filename, entry.code.co_firstlineno)
            add(sums, key, (entry.callcount, round(entry.inlinetime * 1e9), round(entry.totaltime * 1e9)))
    return sums


def sums_of(trace):
    places = {row["name"]: (row["file"], row["line"]) for row in trace.definitions.to_arrow().to_pylist()}
    sums = {}
    for row in trace.calls.to_arrow().to_pylist():
        add(sums, places[row["callee"]], (row["count"], row["excl_ns"], row["incl_ns"]))
    return sums


def render(path, name):
    """Devel::NYTProf's reports of a profile, which name a function."""
    if shutil.which("nytprofhtml"):
        folder = path.with_suffix(".html")
        command = ["nytprofhtml", "--no-flame", "-f", path, "-o", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        # Modules that are frozen into the interpreter have their source as well.
        assert "<frozen " not in done.stderr
        assert any(name in page.read_text(errors="replace") for page in folder.glob("*-line.html"))


def add(sums, key, more):
    sums[key] = tuple(map(sum, zip(sums.get(key, (0, 0, 0)), more)))


@pytest.mark.parametrize("options", [{}, {"lines": False}, {"builtins": True}])
def test_a_test_suite(tmp_path, monkeypatch, options):
    suite = pytest.importorskip("test.test_textwrap")
    # A clock that advances with the work, so that both profilers see the same times.
    clock, split = Clock(), textwrap.TextWrapper._split

    def split_for_a_while(self, text):
        clock.take(100 * len(text))
        return split(self, text)

    monkeypatch.setattr(textwrap.TextWrapper, "_split", split_for_a_while)

    def work():
        tests = unittest.defaultTestLoader.loadTestsFromModule(suite)
        outcome = unittest.TextTestRunner(stream=io.StringIO()).run(tests)
        assert outcome.wasSuccessful() and outcome.testsRun > 50

    # The first run fills caches.
    work()
    profile = cProfile.Profile(timer=clock.read, timeunit=1e-9)
    profile.runcall(work)
    path = tmp_path / "nytprof.out"
    with traceloom.profile(path, timer=clock.read, **options):
        work()
    theirs, ours = sums_of_cprofile(profile), sums_of(traceloom.open(path, strict=True))
    theirs = {key: sums for key, sums in theirs.items() if "textwrap" in key[0]}
    assert len(theirs) > 50 and sum(total for _, _, total in theirs.values()) > 1_000_000
    assert {key: ours.get(key) for key in theirs} == theirs
    render(path, "TextWrapper._wrap_chunks")


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
    render(path, "handle")


def square(number):
    return number * number


def test_a_pool_of_threads(tmp_path):
    path, barrier = tmp_path / "nytprof.out", threading.Barrier(3)

    def task(number):
        # Each thread gets a task before any thread gets a second one.
        if number < 3:
            barrier.wait()
        return square(number)

    with traceloom.profile(path):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            assert sum(pool.map(task, range(300))) == sum(number * number for number in range(300))
    trace = traceloom.open(path, strict=True)
    assert calls(trace, "square") == 300
    # This thread and the threads of the pool.
    assert len(trace.processes) == 4
    render(path, "square")
