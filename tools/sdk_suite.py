"""`loom sdk --suite`: runs every program of a tree and says which work.

Each runs in a copy of its own of the tree and of what its CSL files import from outside: nothing is written into the
user's, and programs that write the same names do not meet.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ..diagnostics.errors import LoomError, shown
from ..diagnostics.records import record
from .outputs import Outputs
from .sdk_path import sdk_on_path, shell

SKIPPED = shutil.ignore_patterns(".git", ".hg", "__pycache__", ".venv", "node_modules", "simfab_traces")
"""Not copied."""

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL for a program that takes too long."""


@record
class Result:
    """How one program went; `error` is the first line of an error in its output."""

    program: str
    script: str
    passed: bool
    seconds: float
    error: str = ""


def run_suite(
    directory: Path, *, arch: str | None, only: str | None, results: Path | None, jobs: int, time_limit: float
) -> int:
    """Run all programs, print a table, write `results` as JSON; return 1 if one failed, else 0."""
    scripts = find_scripts(directory, arch, only)
    with Outputs() as outputs, sdk_on_path(always=True):
        stream = outputs.open(results) if results is not None else None
        found = _run_all(directory, scripts, jobs, time_limit)
        if stream is not None:
            stream.write((json.dumps([asdict(result) for result in found], indent=2) + "\n").encode())
    print_table(found)
    return 0 if all(result.passed for result in found) else 1


def find_scripts(directory: Path, arch: str | None, only: str | None) -> list[Path]:
    """Return every commands_*.sh below a directory, of one architecture if asked; LoomError if there is none."""
    if not directory.is_dir():
        missing = "is not a directory" if directory.exists() else "does not exist"
        raise LoomError(f"{missing}; give a directory with commands_*.sh below it", str(directory))
    pattern = f"commands_{arch}*.sh" if arch is not None else "commands_*.sh"
    found = sorted(path for path in directory.rglob(pattern) if only is None or only in str(path))
    if not found:
        extra = f" whose path contains '{only}'" if only is not None else ""
        raise LoomError(f"contains no {pattern}{extra}; give a directory of programs", str(directory))
    return found


def _run_all(directory: Path, scripts: list[Path], jobs: int, time_limit: float) -> list[Result]:
    from rich.console import Console

    console = Console(stderr=True)
    outside = imported_folders(directory)
    done = 0
    running = Running()
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run_one, directory, script, outside, time_limit, running) for script in scripts]
        try:
            if not console.is_terminal:
                return [future.result() for future in futures]
            with console.status("") as status:
                found: list[Result] = []
                for future in futures:
                    status.update(f"{done} of {len(scripts)} done; {scripts[done].parent.name}")
                    found.append(future.result())
                    done += 1
                return found
        except BaseException:
            for future in futures:
                future.cancel()
            running.end()
            raise


def imported_folders(directory: Path) -> list[Path]:
    """Return the folders outside a directory from which its CSL files import by relative paths, directly or not."""
    root = directory.resolve()
    found: list[Path] = []
    pending = [root]
    while pending:
        for path in _imports(pending.pop()):
            folder = path.parent
            if root in folder.parents or folder == root or any(known in (folder, *folder.parents) for known in found):
                continue
            found.append(folder)
            pending.append(folder)
    return found


def _imports(folder: Path) -> Iterable[Path]:
    for file in folder.rglob("*.csl"):
        text = file.read_text(encoding="utf-8", errors="replace")
        for name in re.findall(r'"([^"\n<>]*\.\./[^"\n<>]*\.csl)"', text):
            path = (file.parent / name).resolve()
            if path.is_file():
                yield path


class Running:
    """The programs that run now, to be ended when the suite is."""

    def __init__(self) -> None:
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def add(self, process: subprocess.Popen[bytes]) -> None:
        """Add a program that has started."""
        self._processes.add(process)
        if self._ended:
            _end(process)

    def remove(self, process: subprocess.Popen[bytes]) -> None:
        """Remove a program that has ended."""
        self._processes.discard(process)

    def end(self) -> None:
        """End all programs, and those that are about to start."""
        self._ended = True
        for process in list(self._processes):
            _end(process)


def run_one(
    directory: Path, script: Path, outside: Iterable[Path], time_limit: float, running: Running | None = None
) -> Result:
    """Run one program in a copy of the tree."""
    root = directory.resolve()
    name = script.resolve().relative_to(root)
    program = str(name.parent) if name.parent != Path(".") else root.name
    with tempfile.TemporaryDirectory(prefix="loom-suite-", ignore_cleanup_errors=True) as temporary:
        # The whole path, so that imports that leave the tree find what they want at the same distance.
        base = Path(temporary)
        for folder in (root, *outside):
            target = base / folder.relative_to(folder.anchor)
            shutil.copytree(folder, target, ignore=SKIPPED, symlinks=True, dirs_exist_ok=True)
        copy = base / root.relative_to(root.anchor) / name
        start = time.perf_counter()
        status, output = _execute(copy, time_limit, running or Running())
        seconds = round(time.perf_counter() - start, 3)
    if status is None:
        return Result(program, name.name, False, seconds, f"takes longer than {time_limit:g} s")
    error = first_error(output) or f"exits with status {status}" if status else ""
    return Result(program, name.name, status == 0, seconds, error.replace(f"{copy.parent}{os.sep}", ""))


def _execute(script: Path, time_limit: float, running: Running) -> tuple[int | None, str]:
    """Return the exit status of a script, None if it takes too long, and what it printed."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [shell(script), script.name],
            cwd=script.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that ending it ends what it has started
        )
        running.add(process)
        status = None
        try:
            status = process.wait(time_limit)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if status is None:
                _end(process)
            running.remove(process)
        output.seek(0)
        return status, output.read().decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
            return


def first_error(output: str) -> str:
    """Return the line of a program's output that says why it failed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if re.search(r"(?:^|: )(?:internal )?error: ", line):
            return line
    traces = [at for at, line in enumerate(lines) if line.startswith("Traceback ")]
    if traces:
        for line in lines[traces[0] :]:
            if re.match(r"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b", line):
                return line
    return lines[-1] if lines else ""


def print_table(results: list[Result]) -> None:
    """Print the results, one line a program."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console() if sys.stdout.isatty() else Console(width=200)
    table = Table(box=None, pad_edge=False)
    for heading, justify in (
        ("program", "left"),
        ("script", "left"),
        ("", "left"),
        ("seconds", "right"),
        ("error", "left"),
    ):
        table.add_column(heading, justify="right" if justify == "right" else "left", no_wrap=heading != "error")
    for result in results:
        outcome = Text("pass", "green") if result.passed else Text("FAIL", "bold red")
        error = Text(shown(result.error))
        table.add_row(shown(result.program), shown(result.script), outcome, f"{result.seconds:.2f}", error)
    console.print(table)
    passed = sum(result.passed for result in results)
    print(f"{passed} of {len(results)} pass, {sum(result.seconds for result in results):.1f} s in all")
