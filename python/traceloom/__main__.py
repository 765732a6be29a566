"""`python -m traceloom`: records programs; any other command is passed on to the program `traceloom`."""

import argparse
import io
import os
import runpy
import shutil
import sys
import sysconfig
import types

from ._memory import track_memory
from ._profile import profile


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if not is_recording(arguments):
        return run_program(arguments)
    parser = argparse.ArgumentParser(prog="python -m traceloom", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("profile", help="record lines and calls as a NYTProf file")
    command.add_argument("-o", "--output", default="nytprof.out", help="output file (default: %(default)s)")
    command.add_argument("--format", choices=["nytprof", "pynytprof"], default="nytprof", help="dialect of the file")
    command.add_argument("--calls", dest="lines", action="store_false", help="record calls without lines, which is faster")
    command.add_argument("--builtins", action="store_true", help="also record calls of functions that are not written in Python")
    command.add_argument("--subprocesses", action="store_true", help="also record Python processes that it starts, to OUTPUT.PID")
    add_target(command)
    command = commands.add_parser("memory", help="record allocations as a Memlyze file")
    command.add_argument("-o", "--output", default="memory.mlyze", help="output file (default: %(default)s)")
    command.add_argument("--native", action="store_true", help="record every allocation of the process, with native stacks")
    add_target(command)
    chosen = parser.parse_args(arguments)
    if not chosen.target:
        parser.error("no target given; pass a script, or a module with -m")
    if chosen.command == "memory" and chosen.native:
        return run_natively(chosen)
    with recorder(chosen):
        run_target(chosen)
    return 0


def is_recording(arguments):
    """`memory` is also a command of the program, whose arguments are traces."""
    if arguments[:1] == ["memory"]:
        return "-m" in arguments or any(argument.endswith(".py") for argument in arguments)
    return arguments[:1] == ["profile"]


def recorder(chosen):
    if chosen.command == "memory":
        return track_memory(chosen.output)
    options = {name: getattr(chosen, name) for name in ("format", "lines", "builtins", "subprocesses")}
    return profile(chosen.output, application=chosen.target[0], **options)


def add_target(command):
    command.add_argument("-m", dest="is_module", action="store_true", help="the target is a module, as in python -m")
    command.add_argument("target", nargs=argparse.REMAINDER, help="a script or module, and its arguments")


def run_target(chosen):
    """Runs a script or module as Python itself would, with the same exit code."""
    sys.argv = chosen.target
    if chosen.is_module:
        # As in `python -m`, the current folder is already first in the module search path.
        runpy.run_module(chosen.target[0], run_name="__main__", alter_sys=True)
    else:
        run_script(chosen.target[0])


def run_script(path):
    """Runs a script without other frames around it."""
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    module = types.ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=__builtins__)
    # Modules that import `__main__` find the script, as they would without us.
    sys.modules["__main__"] = module
    exec(code, vars(module))


def run_natively(chosen):
    """Starts Python again under the program's recorder, with one allocation per object."""
    os.environ.setdefault("PYTHONMALLOC", "malloc")
    module = ["-m"] if chosen.is_module else []
    return run_program(["memory", "-o", chosen.output, "--", sys.executable, *module, *chosen.target])


def run_program(arguments):
    """Runs the program from this package, or else the one on the path."""
    program = os.path.join(sysconfig.get_path("scripts"), "traceloom")
    program = program if os.path.exists(program) else shutil.which("traceloom")
    if program is None:
        print("traceloom: the program is not installed; only `profile` and `memory` work without it", file=sys.stderr)
        return 2
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    sys.exit(main())
