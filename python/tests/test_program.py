"""The program that comes with the package."""

import os
import subprocess
import sys
import sysconfig

import pytest

import traceloom

pytestmark = pytest.mark.skipif(
    not os.path.exists(os.path.join(sysconfig.get_path("scripts"), "traceloom")), reason="the package is installed without it"
)


def run(*arguments, **options):
    program = os.path.join(sysconfig.get_path("scripts"), "traceloom")
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True, **options).stdout


def test_it_has_the_version_of_the_package():
    assert run("--version") == f"traceloom {traceloom.__version__}\n"
    by_module = subprocess.run([sys.executable, "-m", "traceloom", "--version"], capture_output=True, text=True, check=True)
    assert by_module.stdout == run("--version")


def test_the_demo_is_written_and_opened(tmp_path):
    run("demo", "--no-open", tmp_path)
    formats = {traceloom.open(path).format for path in tmp_path.iterdir()}
    assert formats >= {"cnanolog", "easyprofiler", "memlyze", "nytprof", "wtf"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")
def test_allocations_with_native_stacks(tmp_path):
    (tmp_path / "script.py").write_text("import sys\nkept = bytearray(5_000_000)\nsys.exit(len(sys.argv))\n")
    command = [sys.executable, "-m", "traceloom", "memory", "--native", "-o", "out.mlyze", "script.py", "a"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    trace = traceloom.open(tmp_path / "out.mlyze")
    large = [row for row in trace.allocations.to_arrow().to_pylist() if 5_000_000 <= row["size_bytes"] < 5_001_000]
    assert len(large) == 1
    # Each object is a separate allocation.
    assert len(trace.allocations) > 5_000
    functions = {row["function"] for row in trace.frames.to_arrow().to_pylist()}
    assert any("PyByteArray" in name or "bytearray" in name for name in functions)
