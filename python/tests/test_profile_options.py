"""The options of the profiler: calls only, functions that are not written in Python, other clocks, other processes."""

import cProfile
import functools
import json
import operator
import os
import shutil
import subprocess
import sys

import pytest

import traceloom
from test_profile import calls_of, fibonacci, profiled


def sort_and_join(words):
    words = sorted(words, key=length)
    return ",".join(words).upper()


def length(word):
    return len(word)


def fails_in_c():
    try:
        int("x")
    except ValueError:
        return len("x")


def named_calls(trace):
    """Calls by the full name."""
    counts = {}
    for row in trace.calls.to_arrow().to_pylist():
        counts[row["callee"]] = counts.get(row["callee"], 0) + row["count"]
    return counts


def test_builtins_are_subs(tmp_path):
    def work():
        sort_and_join(["ccc", "a", "bb"])
        fails_in_c()

    trace = profiled(tmp_path, work, builtins=True)
    counts = named_calls(trace)
    wanted = {"builtins::sorted": 1, "builtins::len": 4, "builtins::str.join": 1, "builtins::str.upper": 1}
    assert {name: counts.get(name) for name in wanted} == wanted
    edges = {(row["caller"].split("::")[-1], row["callee"].split("::")[-1]) for row in trace.calls.to_arrow().to_pylist()}
    assert {("sort_and_join", "sorted"), ("sorted", "length"), ("length", "len"), ("fails_in_c", "len")} <= edges
    assert "builtins::sorted" not in named_calls(profiled(tmp_path, work))


def test_calls_without_lines(tmp_path):
    trace = profiled(tmp_path, lambda: fibonacci(10), lines=False)
    assert calls_of(trace)["fibonacci"] == 177
    assert len(trace.line_times) == 0


class Clock:
    """A clock that the program advances itself."""

    def __init__(self):
        self.time = [0]
        # Not written in Python, so that a profiler does not record it.
        self.read = functools.partial(operator.getitem, self.time, 0)

    def take(self, nanoseconds):
        self.time[0] += nanoseconds


def sums_of(trace):
    """Calls, self time and total time by the last part of a name, in nanoseconds."""
    sums = {}
    for row in trace.calls.to_arrow().to_pylist():
        name = row["callee"].split("::")[-1].split("[")[0].split(".")[-1]
        before = sums.get(name, (0, 0, 0))
        sums[name] = (before[0] + row["count"], before[1] + row["excl_ns"], before[2] + row["incl_ns"])
    return sums


def test_times_are_those_of_the_timer(tmp_path):
    clock = Clock()

    def work():
        for number in range(5):
            outer(number)

    def outer(number):
        clock.take(1_000)
        for _ in range(number):
            inner()

    def inner():
        clock.take(700)

    theirs = cProfile.Profile(timer=clock.read, timeunit=1e-9)
    theirs.runcall(work)
    expected = {}
    for entry in theirs.getstats():
        if not isinstance(entry.code, str):
            name = entry.code.co_qualname.split(".")[-1]
            expected[name] = (entry.callcount, round(entry.inlinetime * 1e9), round(entry.totaltime * 1e9))
    assert expected["outer"] == (5, 0, 12_000)
    ours = sums_of(profiled(tmp_path, work, timer=clock.read))
    assert {name: ours[name] for name in expected} == expected


@pytest.mark.skipif(not shutil.which("nytprofhtml"), reason="needs Devel::NYTProf")
@pytest.mark.parametrize("options", [["--calls"], ["--builtins"], ["--calls", "--builtins"]])
def test_the_tools_of_nytprof_read_it(tmp_path, options):
    (tmp_path / "script.py").write_text("def double(x):\n    return len('x' * x)\n\ndouble(21)\n")
    command = [sys.executable, "-m", "traceloom", "profile", *options, "script.py"]
    subprocess.run(command, cwd=tmp_path, check=True)
    command = ["nytprofhtml", "--no-flame", "-f", "nytprof.out", "-o", "html"]
    rendered = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert rendered.returncode == 0, rendered.stderr
    pages = "".join(page.read_text(errors="replace") for page in (tmp_path / "html").glob("*.html"))
    assert "double" in pages
    assert ("builtins::len" in pages) == ("--builtins" in options)


PARENT = """
import multiprocessing, os, subprocess, sys

def work(number):
    return number + 1

if __name__ == "__main__":
    subprocess.run([sys.executable, "child.py"], check=True)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map(work, [1, 2, 3]) == [2, 3, 4]
            pool.close()
            pool.join()
    print("TRACELOOM_PROFILE" in os.environ)
"""

CHILD = """
import sys
def in_child():
    return 1

in_child()
print(sys.modules["sitecustomize"].WAS_HERE, any("_child" in folder for folder in sys.path))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_are_started_are_recorded(tmp_path, program_path):
    (tmp_path / "parent.py").write_text(PARENT)
    (tmp_path / "child.py").write_text(CHILD)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("WAS_HERE = True\n")
    command = [sys.executable, "-m", "traceloom", "profile", "--subprocesses", "-o", "out", "parent.py"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True False\nTrue\n"), done.stderr
    files = sorted(tmp_path.glob("out.*"))
    counts = [named_calls(traceloom.open(file, strict=True)) for file in files]
    assert [count["__main__::in_child"] for count in counts if "__main__::in_child" in count] == [1]
    # The one that is forked is still `__main__`; the one that is spawned imports the program as another module.
    assert sorted(name for count in counts for name in count if name.endswith("::work")) == ["__main__::work", "__mp_main__::work"]
    subprocess.run([program_path, "merge", "out", *files, "merged"], cwd=tmp_path, check=True)
    merged = named_calls(traceloom.open(tmp_path / "merged"))
    assert (merged["__main__::in_child"], merged["__main__::work"], merged["__mp_main__::work"]) == (1, 3, 3)


def test_a_block_leaves_the_environment_as_it_was(tmp_path):
    before = dict(os.environ)
    with traceloom.profile(tmp_path / "out", subprocesses=True):
        wanted = json.loads(os.environ["TRACELOOM_PROFILE"])
        assert wanted["path"] == str(tmp_path / "out")
    assert dict(os.environ) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("recorder", [traceloom.profile, traceloom.track_memory])
def test_a_fork_may_leave_the_block(tmp_path, recorder):
    with recorder(tmp_path / "out"):
        child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert traceloom.open(tmp_path / "out", strict=True).check()["accepted"]
