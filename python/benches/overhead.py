"""CPU time of programs under recorders, as a multiple of the time without: `python overhead.py {profile,memory} [ROUNDS]`.

Runs with the Python that has the package, and with those of cProfile, viztracer, memray and tracemalloc that are installed. The
times are those of whole processes, all threads and writing the file included; of each the least of the rounds counts.
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = {"profile": ["calls", "lines", "objects", "builtins"], "memory": ["allocations", "objects", "builtins"]}
#: A trace function in Python that sums times by line, like the one of Pynytprof.
SETTRACE = """
import runpy, sys, time
now, times, last = time.perf_counter_ns, {}, [None, 0]
def trace(frame, event, argument):
    at = now()
    if last[0] is not None:
        count, spent = times.get(last[0], (0, 0))
        times[last[0]] = (count + 1, spent + at - last[1])
    if event == "line":
        last[0] = (frame.f_code.co_filename, frame.f_lineno)
    last[1] = now()
    return trace
sys.argv = sys.argv[1:]
sys.settrace(trace)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def recorders(kind, out):
    """The Python arguments for each recorder; its name says what it records."""
    ours = ["-m", "traceloom", kind, "-o", out]
    if kind == "memory":
        memray = ["-m", "memray", "run", "-q", "-f", "-o", out]
        return {
            "nothing": [],
            "traceloom": ours,
            "memray": memray,
            "memray, Python's allocators": [*memray, "--trace-python-allocators"],
            "tracemalloc, 25 frames": ["-X", "tracemalloc=25"],
        }
    viztracer = ["-m", "viztracer", "--quiet", "-o", out + ".json"]
    return {
        "nothing": [],
        "traceloom, lines": ours,
        "settrace, lines": ["-c", SETTRACE],
        "traceloom, calls": [*ours, "--calls"],
        "viztracer, calls": [*viztracer, "--ignore_c_function"],
        "traceloom, calls and C functions": [*ours, "--calls", "--builtins"],
        "viztracer, calls and C functions": viztracer,
        "cProfile, calls and C functions": ["-m", "cProfile", "-o", out],
    }


def cpu_seconds(arguments):
    """User and system time of a process, or none if it fails."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    return used.ru_utime + used.ru_stime if status == 0 else None


def main(kind, rounds="3"):
    workloads = WORKLOADS[kind]
    with tempfile.TemporaryDirectory() as folder:
        named = recorders(kind, os.path.join(folder, "out"))
        least = {}
        for _ in range(int(rounds)):
            for name, arguments in named.items():
                for workload in workloads:
                    took = cpu_seconds([*arguments, os.path.join(HERE, "workloads.py"), workload])
                    if took is not None:
                        least[name, workload] = min(took, least.get((name, workload), took))
    print(f"{'':34}" + "".join(f"{workload:>13}" for workload in workloads))
    for name in named:
        cells = []
        for workload in workloads:
            took, plain = least.get((name, workload)), least["nothing", workload]
            cells.append("-" if took is None else f"{took:.2f} s" if name == "nothing" else f"{took / plain:.2f}x")
        print(f"{name:34}" + "".join(f"{cell:>13}" for cell in cells))


if __name__ == "__main__":
    main(*sys.argv[1:])
