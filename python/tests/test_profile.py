"""The profiler: its counts, and the readers of its files."""

import os
import shutil
import subprocess
import sys
import threading

import pytest

import traceloom


def fibonacci(number):
    if number < 2:
        return number
    return fibonacci(number - 1) + fibonacci(number - 2)


def numbers(count):
    for number in range(count):
        yield number


def consume():
    total = 0
    for number in numbers(10):
        total += number
    return total


def fails():
    raise ValueError("on purpose")


def survives():
    try:
        fails()
    except ValueError:
        return 1


def profiled(tmp_path, work, **options):
    path = tmp_path / "nytprof.out"
    with traceloom.profile(path, **options):
        work()
    trace = traceloom.open(path, strict=True)
    assert trace.check()["accepted"], trace.findings()
    return trace


def calls_of(trace):
    """Calls by the last part of the name."""
    counts = {}
    for row in trace.calls.to_arrow().to_pylist():
        name = row["callee"].split("::")[-1]
        counts[name] = counts.get(name, 0) + row["count"]
    return counts


def lines_of(trace, function):
    """Counts by line, relative to the first line of a function of this file."""
    first = function.__code__.co_firstlineno
    files = {row["id"]: row["name"] for row in trace.files.to_arrow().to_pylist()}
    counts = {}
    for row in trace.line_times.to_arrow().to_pylist():
        if row["level"] == "line" and os.path.basename(files[row["file_id"]]) == os.path.basename(__file__):
            counts[row["line"] - first] = row["calls"]
    return counts


def test_calls_and_lines_are_counted(tmp_path):
    trace = profiled(tmp_path, lambda: fibonacci(10))
    assert calls_of(trace)["fibonacci"] == 177
    counts = lines_of(trace, fibonacci)
    assert (counts[1], counts[2], counts[3]) == (177, 89, 88)


def test_generators_and_exceptions_leave_a_sound_stack(tmp_path):
    def work():
        consume()
        survives()
        fibonacci(3)

    trace = profiled(tmp_path, work)
    counts = calls_of(trace)
    # A generator is entered once per value, and once at its end.
    assert counts["numbers"] == 11
    assert (counts["fails"], counts["survives"], counts["fibonacci"]) == (1, 1, 5)
    edges = {(row["caller"].split("::")[-1], row["callee"].split("::")[-1]) for row in trace.calls.to_arrow().to_pylist()}
    assert ("consume", "numbers") in edges and ("survives", "fails") in edges
    assert not any(caller == "numbers" for caller, _ in edges)


def test_threads_are_recorded(tmp_path):
    def work():
        threads = [threading.Thread(target=fibonacci, args=(8,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    trace = profiled(tmp_path, work)
    assert calls_of(trace)["fibonacci"] == 3 * 67
    assert len(trace.processes) == 4


def test_asyncio_is_recorded(tmp_path):
    import asyncio

    async def child():
        await asyncio.sleep(0)
        return 1

    async def parent():
        return sum(await asyncio.gather(*(child() for _ in range(5))))

    trace = profiled(tmp_path, lambda: asyncio.run(parent()))
    # Each coroutine is started once, and resumed after its sleep.
    assert sum(count for name, count in calls_of(trace).items() if name.startswith("test_asyncio_is_recorded.<locals>.child")) == 10


def test_the_dialect_of_pynytprof_is_written(tmp_path):
    trace = profiled(tmp_path, lambda: fibonacci(5), format="pynytprof")
    assert trace.format == "pynytprof"
    assert os.listdir(tmp_path) == ["nytprof.out"]
    with pytest.raises(ValueError):
        traceloom.profile(tmp_path / "x", format="nonsense")


def test_one_profile_at_a_time(tmp_path):
    with traceloom.profile(tmp_path / "a.out"):
        with pytest.raises(RuntimeError, match="already"):
            traceloom.profile(tmp_path / "b.out").__enter__()
    with traceloom.profile(tmp_path / "c.out"):
        fibonacci(4)
    assert calls_of(traceloom.open(tmp_path / "c.out"))["fibonacci"] == 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_child_of_a_fork_is_not_recorded(tmp_path):
    def work():
        child = os.fork()
        if child == 0:
            fibonacci(15)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        fibonacci(3)

    assert calls_of(profiled(tmp_path, work))["fibonacci"] == 5


SCRIPT = """
import sys

def double(x):
    return 2 * x

if __name__ == "__main__":
    print(sys.argv[1:], double(21), __file__)
    sys.exit(3)
"""


def run_script(tmp_path, *arguments):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "traceloom", "profile", *arguments]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def test_the_command_runs_scripts_and_modules(tmp_path):
    for arguments in (["script.py", "a", "-b"], ["-m", "script", "a", "-b"]):
        done = run_script(tmp_path, "-o", "out.nytprof", *arguments)
        assert done.returncode == 3, done.stderr
        assert done.stdout.startswith("['a', '-b'] 42") and "script.py" in done.stdout
        trace = traceloom.open(tmp_path / "out.nytprof", strict=True)
        counts = calls_of(trace)
        assert counts["double"] == 1 and counts["<module>[script.py:1]"] == 1
        attributes = {row["key"]: row["value"] for row in trace.attributes.to_arrow().to_pylist()}
        assert attributes["application"].endswith("script.py") or attributes["application"].endswith("script")


@pytest.mark.skipif(not shutil.which("nytprofhtml"), reason="needs Devel::NYTProf")
def test_the_tools_of_nytprof_read_the_file(tmp_path):
    assert run_script(tmp_path, "script.py").returncode == 3
    rendered = subprocess.run(
        ["nytprofhtml", "--no-flame", "-f", "nytprof.out", "-o", "html"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert rendered.returncode == 0, rendered.stderr
    pages = "".join(page.read_text(errors="replace") for page in (tmp_path / "html").glob("*script*line.html"))
    assert "return 2 * x" in pages and "double" in pages
    calls = subprocess.run(["nytprofcalls", "nytprof.out"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "__main__::<module>[script.py:1];__main__::double" in calls.stdout, calls.stderr
