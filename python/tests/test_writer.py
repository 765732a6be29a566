"""Writing traces of every format."""

import shutil
import subprocess
import threading

import pytest

import traceloom


def compose(trace):
    with trace.span("frame", ts_ns=1_000, thread="main") as frame:
        with trace.span("draw", ts_ns=2_000, thread="main") as draw:
            trace.event("click", ts_ns=2_500, thread="main")
            trace.value("fps", 59.5, ts_ns=2_600, thread="main")
            draw.end(ts_ns=4_000)
        frame.end(ts_ns=9_000)
    trace.log("WARN", "late by 5 ms", ts_ns=9_500, thread="main")
    trace.allocate(0x1000, 64, stack=[("inner", "a.py", 3), ("outer", "a.py", 9)], ts_ns=10_000, thread="main")
    trace.allocate(0x2000, 32, ts_ns=11_000, thread="main")
    trace.free(0x1000, ts_ns=50_000)


@pytest.mark.parametrize("to", ["easyprofiler", "wtf", "nytprof", "cnanolog", "memlyze"])
def test_every_format_is_written_and_accepted(tmp_path, to):
    path = tmp_path / "made"
    with traceloom.writer(path, to=to) as trace:
        compose(trace)
    read = traceloom.open(path, strict=True)
    assert read.format == to
    assert read.check()["accepted"], read.findings()
    spans = {row["name"]: row["dur_ns"] for row in read.spans.to_arrow().to_pylist()}
    if to in ("easyprofiler", "wtf"):
        assert spans["frame"] == 8_000 and spans["draw"] == 2_000
        assert any("click" in row["name"] for row in read.events.to_arrow().to_pylist())
    if to == "cnanolog":
        assert ("WARN", "late by 5 ms") in [(entry["level"], entry["message"]) for entry in read.log()]
    if to == "memlyze":
        memory = read.memory()
        assert (memory["allocations"], memory["frees"], memory["live_bytes"]) == (2, 1, 32)
        assert "inner" in {row["function"] for row in read.frames.to_arrow().to_pylist()}
        assert any("span" in loss["what"] for loss in trace.lost)


@pytest.mark.skipif(not shutil.which("nytprofcsv"), reason="needs Devel::NYTProf")
def test_the_tools_of_nytprof_read_what_is_written(tmp_path):
    with traceloom.writer(tmp_path / "made", to="nytprof") as trace:
        compose(trace)
    done = subprocess.run(["nytprofcsv", "-f", "made", "-o", "csv"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    calls = subprocess.run(["nytprofcalls", "made"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "frame;draw" in calls.stdout.replace("main::", ""), calls.stdout + calls.stderr


def test_the_extension_names_the_format(tmp_path):
    for name, format in [("x.prof", "easyprofiler"), ("x.wtf-trace", "wtf"), ("x.clog", "cnanolog"), ("x.mlyze", "memlyze")]:
        with traceloom.writer(tmp_path / name) as trace:
            compose(trace)
        assert traceloom.open(tmp_path / name).format == format


def test_times_and_threads_default_to_now_and_here(tmp_path):
    path = tmp_path / "x.prof"
    with traceloom.writer(path) as trace:
        with trace.span("here"):
            pass
        other = threading.Thread(target=lambda: trace.span("there").end(), name="other")
        other.start()
        other.join()
    read = traceloom.open(path)
    names = {row["id"]: row["name"] for row in read.threads.to_arrow().to_pylist()}
    spans = {row["name"]: row for row in read.spans.to_arrow().to_pylist()}
    assert names[spans["there"]["thread_id"]] == "other" and names[spans["here"]["thread_id"]] == "MainThread"
    assert spans["here"]["ts_ns"] <= spans["there"]["ts_ns"]


def test_a_block_that_fails_writes_nothing(tmp_path):
    path = tmp_path / "x.prof"
    with pytest.raises(RuntimeError), traceloom.writer(path) as trace:
        trace.event("first")
        raise RuntimeError("on purpose")
    assert not path.exists()
    with pytest.raises(ValueError), traceloom.writer(path) as trace:
        trace.log("LOUD", "x")
