"""The memory tracer."""

import gc
import json
import os
import re
import subprocess
import sys
import threading

import pytest

import traceloom

pytest_plugins = ["pytester"]


def keep(kept, size):
    kept.append(bytearray(size))


def tracked(tmp_path, work):
    path = tmp_path / "x.mlyze"
    with traceloom.track_memory(path) as tracker:
        work(tracker)
    trace = traceloom.open(path, strict=True)
    assert trace.check()["accepted"], trace.findings()
    return trace


def large(trace, least):
    """Allocations of at least this many bytes, with the functions on their stacks, innermost first."""
    frames = {row["id"]: row for row in trace.frames.to_arrow().to_pylist()}
    stacks = {row["id"]: row for row in trace.stacks.to_arrow().to_pylist()}
    found = []
    for row in trace.allocations.to_arrow().to_pylist():
        if row["size_bytes"] < least:
            continue
        names, stack = [], row["stack_id"]
        while stack is not None:
            frame = frames[stacks[stack]["frame_id"]]
            names.append((frame["function"], frame["line"]))
            stack = stacks[stack]["parent_id"]
        found.append((row["size_bytes"], row["fate"], names))
    return found


def test_sizes_fates_and_stacks(tmp_path):
    kept = []

    def work(tracker):
        keep(kept, 1_000_000)
        keep(kept, 2_000_000)
        kept.pop()

    found = sorted(large(tracked(tmp_path, work), 900_000))
    assert [(size // 1_000_000, fate) for size, fate, _ in found] == [(1, "live"), (2, "freed")]
    names = found[0][2]
    assert names[0] == ("keep", keep.__code__.co_firstlineno + 1)
    assert names[1][0].endswith("work") and names[2][0] == "tracked"
    assert not any("_memory" in name for name, _ in names)


def test_totals_agree_with_what_is_kept(tmp_path):
    kept = []

    def work(tracker):
        for _ in range(1000):
            keep(kept, 10_000)

    memory = tracked(tmp_path, work).memory()
    # A bytearray needs one byte more; the list and the objects are small.
    assert 10_001_000 <= memory["live_bytes"] < 10_200_000
    assert memory["unknown_frees"] == 0 and memory["double_frees"] == 0


def test_growth_in_place_is_a_new_allocation(tmp_path):
    grown = []

    def work(tracker):
        buffer = bytearray()
        for _ in range(100):
            buffer.extend(b"x" * 10_000)
        grown.append(buffer)

    trace = tracked(tmp_path, work)
    memory = trace.memory()
    assert 1_000_000 <= memory["live_bytes"] < 1_300_000
    assert memory["reused"] == 0


def test_threads_have_their_stacks(tmp_path):
    kept = []

    def work(tracker):
        thread = threading.Thread(target=keep, args=(kept, 3_000_000))
        thread.start()
        thread.join()

    [(_, fate, names)] = large(tracked(tmp_path, work), 2_900_000)
    assert fate == "live" and names[0][0] == "keep" and names[1][0] == "Thread.run"


def test_collections_and_markers_are_events(tmp_path):
    def work(tracker):
        tracker.marker("before")
        gc.collect()
        tracker.marker("after")

    events = [(row["category"], row["name"]) for row in tracked(tmp_path, work).events.to_arrow().to_pylist()]
    assert ("marker", "before") in events and ("marker", "after") in events
    assert any(category == "gc" for category, _ in events)


def test_one_recording_at_a_time_and_again(tmp_path):
    with traceloom.track_memory(tmp_path / "a.mlyze"):
        with pytest.raises(RuntimeError, match="already"):
            traceloom.track_memory(tmp_path / "b.mlyze").__enter__()
    assert tracked(tmp_path, lambda tracker: [bytearray(1000)]).memory()["allocations"] > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_child_of_a_fork_is_not_recorded(tmp_path):
    def work(tracker):
        child = os.fork()
        if child == 0:
            [bytearray(1000) for _ in range(300_000)]
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    assert tracked(tmp_path, work).memory()["allocations"] < 100_000


def test_the_command_runs_scripts(tmp_path):
    (tmp_path / "script.py").write_text("import sys\nkept = bytearray(5_000_000)\nprint(sys.argv[1:])\n")
    command = [sys.executable, "-m", "traceloom", "memory", "-o", "out.mlyze", "script.py", "a"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "['a']\n"), done.stderr
    [(_, _, names)] = large(traceloom.open(tmp_path / "out.mlyze", strict=True), 4_900_000)
    assert names == [("<module>", 2)]


def test_totals_agree_with_those_of_memray(tmp_path):
    pytest.importorskip("memray")
    kept = "kept = [{'id': number, 'parts': [str(number), number + 0.5]} for number in range(60_000)]\n"
    (tmp_path / "script.py").write_text(kept + "kept = [bytearray(5_000) for _ in range(2_000)]\n")
    for arguments in (
        ["traceloom", "memory", "-o", "out.mlyze", "script.py"],
        ["memray", "run", "-q", "--trace-python-allocators", "-o", "out.bin", "script.py"],
        ["memray", "stats", "--json", "-o", "out.json", "out.bin"],
    ):
        subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    theirs = json.loads((tmp_path / "out.json").read_text())
    ours = traceloom.open(tmp_path / "out.mlyze").memory()
    assert ours["allocations"] == pytest.approx(theirs["total_num_allocations"], rel=0.01)
    assert ours["allocated_bytes"] == pytest.approx(theirs["total_bytes_allocated"], rel=0.01)
    assert ours["peak"]["bytes"] == pytest.approx(theirs["metadata"]["peak_memory"], rel=0.01)


def test_the_plugin_limits_tests(pytester):
    pytester.makepyfile(
        """
        import pytest

        def test_small():
            assert bytearray(1000)

        def test_large():
            assert bytearray(30_000_000)

        @pytest.mark.traceloom_memory(limit=50_000_000)
        def test_allowed():
            assert bytearray(30_000_000)
        """
    )
    outcome = pytester.runpytest_subprocess("--traceloom-memory=traces", "--traceloom-memory-limit=20000000")
    outcome.assert_outcomes(passed=2, failed=1)
    outcome.stdout.fnmatch_lines(["*bytes, which exceeds the limit of 20,000,000*"])
    assert len(list((pytester.path / "traces").glob("*.mlyze"))) == 3


def test_a_mark_is_enough_and_peaks_are_reported(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.traceloom_memory(limit=1_000_000)
        def test_large():
            assert bytearray(3_000_000)

        @pytest.mark.traceloom_memory(limit=9_000_000)
        def test_freed_and_taken_again():
            for _ in range(5):
                bytearray(3_000_000)

        def test_free():
            assert bytearray(3_000_000)
        """
    )
    pytester.runpytest_subprocess("--junitxml=report.xml").assert_outcomes(passed=2, failed=1)
    assert not list(pytester.path.rglob("*.mlyze"))
    peaks = re.findall(r'"traceloom_peak_bytes" value="(\d+)"', (pytester.path / "report.xml").read_text())
    assert len(peaks) == 2 and all(3_000_000 <= int(peak) < 6_100_000 for peak in peaks)
