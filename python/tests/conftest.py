"""Fixtures of the tests: sample traces, and the program to compare with."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: One trace of every format.
TRACES = {
    "cnanolog": "cnanolog/cnanolog-1.0.7",
    "easyprofiler": "easyprofiler/easy_profiler-2.1.0",
    "memlyze": "memlyze/memlyze-0.1.0",
    "nytprof": "nytprof/devel-nytprof-6.12",
    "pynytprof": "nytprof/pynytprof",
    "wtf": "wtf/wtf-js",
}


@pytest.fixture(params=sorted(TRACES))
def trace_path(request):
    """The path of a trace of each format."""
    import traceloom

    folder = ROOT / "fixtures" / TRACES[request.param]
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.stat().st_size > 4 << 20 or path.suffix in {".md", ".json", ".txt", ".golden"}:
            continue
        try:
            if traceloom.open(path).format == request.param:
                return path
        except traceloom.TraceloomError:
            continue
    raise AssertionError(f"no {request.param} trace in {folder}")


@pytest.fixture
def program_path():
    """The program `traceloom`."""
    path = os.environ.get("TRACELOOM_PROGRAM")
    if not path:
        pytest.skip("TRACELOOM_PROGRAM names no program")
    return path


@pytest.fixture
def program(program_path):
    """Runs the program and returns its JSON output, one value per line."""

    def run(*arguments):
        done = subprocess.run([program_path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


@pytest.fixture
def has_sql():
    """Whether the wheel was built with SQL, as the build says."""
    answer = os.environ.get("TRACELOOM_SQL")
    if answer is None:
        pytest.skip("TRACELOOM_SQL does not say whether the wheel has SQL")
    return answer == "1"
