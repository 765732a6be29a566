"""The stubs: complete, correct, and sufficient for a strict checker."""

import subprocess
import sys

import pytest

PROGRAM = """
import logging
import traceloom

trace = traceloom.open("x.prof")
names: list[str] = trace.spans.select(["name"]).columns
for batch in trace["spans"]:
    rows: int = batch.num_rows
with traceloom.profile("nytprof.out", builtins=True) as profile, traceloom.track_memory() as tracker:
    tracker.marker("here")
with traceloom.writer("x.clog") as writer, writer.span("frame") as span:
    span.end(ts_ns=3)
logging.getLogger().addHandler(traceloom.LogHandler("x.clog"))
first: object = next(traceloom.records(b""))["kind"]
"""


def mypy(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_a_program_is_checked_strictly(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text("import traceloom\ntraceloom.open(3)\ntraceloom.sample('wtf').nonsense\n")
    options = ["--strict", "--cache-dir", "cache"]
    right = mypy("mypy", *options, "right.py", cwd=tmp_path)
    assert right.returncode == 0, right.stdout
    wrong = mypy("mypy", *options, "wrong.py", cwd=tmp_path)
    assert wrong.returncode == 1 and "Found 2 errors" in wrong.stdout, wrong.stdout


def test_the_stubs_are_what_the_package_is(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "config").write_text("[mypy]\nignore_missing_imports = True\n")
    done = mypy("mypy.stubtest", "--mypy-config-file", "config", "traceloom", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
