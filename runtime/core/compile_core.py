"""Compiler driver of the core: finds a C compiler, compiles the sources beside this file, and links the library.

Run as a script, it builds the library beside the sources where it is missing or of other sources. Knows only Python's
standard library, because an installation runs it before anything is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""The folder of the sources."""

LIBRARY = "loomcore" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
"""The file name of the library."""

FLAGS = (
    "-std=c11", "-O3", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno",
    "-Wall", "-Wextra", "-pthread",
)  # fmt: skip
"""Flags of every source. Floats are computed as written: nothing is contracted or reordered."""

VARIANTS = {"kernels.c": {"baseline": (), "avx2": ("-mavx2", "-mf16c")}}
"""Sources compiled once for every set of instructions, with the flags of each; the processor chooses at run time."""

SANITIZERS = {
    "memory": ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-O1"),
    "threads": ("-g", "-fsanitize=thread", "-fno-omit-frame-pointer", "-O1"),
}
"""Flags by what they look for: accesses outside of memory and undefined behavior, or races."""

NO_COMPILER = 3
"""The exit status if there is no compiler."""


class CompileError(Exception):
    """A core that cannot be built: why, and what to do."""


class NoCompilerError(CompileError):
    """There is no C compiler."""


def is_wanted() -> bool:
    """Return False if the environment asks for an installation without the core. Raises CompileError."""
    choice = os.environ.get("LOOM_CORE", "")
    if choice not in ("", "none"):
        raise CompileError(f"LOOM_CORE is '{choice}'; leave it unset to build the core, or set it to none")
    return choice != "none"


def sources(suffix: str = ".[ch]") -> list[Path]:
    """Return the C sources and headers, sorted by name."""
    return sorted(FOLDER.glob(f"*{suffix}"))


@cache
def source_hash() -> str:
    """Return a hash of the sources and of the flags, which a library carries."""
    digest = hashlib.sha256(repr((FLAGS, VARIANTS)).encode())
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_current(library: Path) -> bool:
    """Return True if a library is built from the sources of now."""
    return library.exists() and source_hash().encode() in library.read_bytes()


# Compilers


def system_compiler() -> list[str] | None:
    """Return the command of the C compiler named by CC, or of `cc`; None if it cannot build a library.

    Raises CompileError if the compiler that CC names cannot.
    """
    named = os.environ.get("CC")
    command = shlex.split(named) if named else ["cc"]
    reason = _fails(command)
    if reason and named:
        raise CompileError(
            f"the compiler that CC names, '{named}', cannot build a library: {reason}; unset or correct CC"
        )
    return None if reason else command


def compiler() -> list[str]:
    """Return the command of a C compiler: the system's, else that of the wheel `ziglang`. Raises CompileError."""
    command = system_compiler()
    if command is None and importlib.util.find_spec("ziglang"):
        # Without a processor named, zig compiles for that of this machine.
        command = [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]
        reason = _fails(command)
        if reason:
            raise CompileError(f"the compiler of the package ziglang cannot build a library: {reason}; install cc")
    if command is None:
        raise NoCompilerError(
            "no C compiler was found for the engine's core: install cc, or the package ziglang, or set LOOM_CORE=none "
            "to do without the core"
        )
    return command


def _fails(command: Sequence[str]) -> str | None:
    """Return why a compiler does not build a library that uses libm, None if it does."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "test.c")
        source.write_text("#include <math.h>\n#include <stdint.h>\ndouble test(double x) { return exp(x); }\n")
        try:
            _run([*command, *FLAGS, "-shared", str(source), "-o", str(Path(folder, LIBRARY)), "-lm"])
        except CompileError as error:
            return str(error)
    return None


def _run(command: Sequence[str]) -> None:
    """Run a compiler. Raises CompileError with the first line of what it reports as an error."""
    import subprocess  # here and below: a run asks only for the name of the library, and for the hash of its sources

    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise CompileError(f"'{command[0]}' cannot be started: {error.strerror}") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        first = next((line for line in lines if "error" in line), lines[0] if lines else f"status {done.returncode}")
        raise CompileError(first.strip())


# Building


def _variants(source: Path) -> dict[str, tuple[str, ...]]:
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    variants = VARIANTS.get(source.name, {"": ()})
    return {name: flags for name, flags in variants.items() if x86 or name != "avx2"}


def build(folder: Path = FOLDER, extra: Sequence[str] = ()) -> Path:
    """Build the library into a folder, with extra flags, and return its path. Raises CompileError.

    The library is complete or absent: it replaces an older one at the end.
    """
    from concurrent.futures import ThreadPoolExecutor

    command = [*compiler(), *FLAGS, *extra]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        steps: list[list[str]] = []
        for source in sources(".c"):
            for name, flags in _variants(source).items():
                result = str(Path(scratch, f"{source.stem}_{name}.o"))
                defines = [f'-DLOOM_SOURCES="{source_hash()}"', *([f"-DVARIANT={name}"] if name else [])]
                steps.append([*command, *flags, *defines, "-c", str(source), "-o", result])
        library = Path(scratch, LIBRARY)
        try:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(_run, steps))
            _run([*command, "-shared", *(step[-1] for step in steps), "-o", str(library), "-lm"])
        except CompileError as error:
            raise CompileError(
                f"the C compiler '{shlex.join(compiler())}' fails on the engine's core: {error}"
            ) from None
        os.replace(library, folder / LIBRARY)
    return folder / LIBRARY


def main() -> int:
    """Build the library where it is missing or out of date; return the exit status."""
    parser = argparse.ArgumentParser(prog="compile_core", description=__doc__)
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder of the library (default: the sources')")
    parser.add_argument(
        "--sanitize", nargs="?", const="memory", choices=list(SANITIZERS), help="with sanitizers; warnings fail"
    )
    parser.add_argument("--if-possible", action="store_true", help="without a compiler, end with status 3 in silence")
    arguments = parser.parse_args()
    try:
        if is_wanted() and (arguments.sanitize or not is_current(arguments.into / LIBRARY)):
            build(arguments.into, [*SANITIZERS[arguments.sanitize], "-Werror"] if arguments.sanitize else [])
    except CompileError as error:
        status = NO_COMPILER if isinstance(error, NoCompilerError) else 1
        if status != NO_COMPILER or not arguments.if_possible:
            print(f"error: {error}", file=sys.stderr)
        return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
