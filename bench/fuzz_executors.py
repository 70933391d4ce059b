"""Fuzzing of executors with tables that the checker accepts: none crashes, hangs, or ends but with one error.

    python bench/fuzz_executors.py DIRECTORY [--executor core] [--seconds 60] [--seed 0]

Tables are those of random programs of the tests, with a few fields changed. Each is run in a process that is started
again when it dies or hangs; what it ran then is left in DIRECTORY as a file, which `--again FILE` runs once more. For a
core under sanitizers, build one (`runtime/core/compile_core.py --sanitize --into FOLDER`), and set LOOM_CORE_LIBRARY
and LD_PRELOAD as `.ci/sanitizers` does.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import subprocess
import sys
import time
from contextlib import redirect_stderr
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from loomir.diagnostics.errors import LoomError
from loomir.runtime import Machine
from loomir.runtime.tables.check import check
from loomir.runtime.tables.dump import dump
from loomir.runtime.tables.file import read, write
from loomir.runtime.tables.format import SECTIONS, Tables

ROOT = Path(__file__).resolve().parents[1]
STEPS = 400
"""Steps of each run: forged programs often go round for ever."""
LONGEST = 30
"""Seconds that one run may take."""
PROGRAMS = 150

RARE = frozenset({"program", "regions", "classes", "image_bytes", "column_values", "exports"})
"""Sections of which a changed field seldom shows anything new."""


def write_seeds(directory: Path, executor: str) -> None:
    """Write the tables of the programs to begin with, of those that an executor runs."""
    from loomir.backend.tables import assemble
    from loomir.dialects import context, flow
    from loomir.dialects.ir_text import parse_ir

    sys.path.insert(0, str(ROOT))
    from tests.runtime.random_programs import random_exchange
    from tests.runtime.tables.programs import EVERYTHING

    texts = [EVERYTHING, *(random_exchange(Random(seed)).text for seed in range(PROGRAMS))]
    for place, text in enumerate(texts):
        module = parse_ir(context(), text, "program.mlir")
        tables = assemble(next(op for op in module.walk() if isinstance(op, flow.FabricOp)))
        if run(tables, executor, Random(place)).find("does not run programs with") < 0:
            directory.joinpath(f"{place}.seed").write_bytes(stored(tables))


def number(random: Random, old: int, high: int) -> int:
    """Return a number for a field that holds `old`, and `high` at most."""
    return (
        random.randint(0, min(high, 12)),
        random.randint(max(0, high - 2), high),
        (old + random.choice((-2, -1, 1, 2, 4, 16))) & high,
        old ^ 1 << random.randrange(high.bit_length()),
        random.randint(0, high),
    )[random.randrange(5)]


def changed(tables: Tables, random: Random) -> Tables:
    """Return tables with some fields changed."""
    found = Tables({name: tables[name].copy() for name in SECTIONS}, tables.strings)
    names = [name for name in SECTIONS if len(found[name]) and (name not in RARE or random.random() < 0.2)]
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        records = found[random.choice([*names, "code", "operations", "descriptors"])]
        if not len(records):
            continue
        row = random.randrange(len(records))
        record = records[row : row + 1]
        if random.random() < 0.2:
            records[row] = records[random.randrange(len(records))]
            continue
        fields = records.dtype.names
        values: Any = record[random.choice(fields)] if fields else record
        flat = values.reshape(-1).view(f"u{values.dtype.itemsize}")
        place = random.randrange(len(flat))
        high = int(np.iinfo(flat.dtype).max)
        flat[place] = number(random, int(flat[place]), high)
    return found


def load(tables: Tables, executor: str, random: Random) -> Machine:
    """Return a machine, some of them with traces."""
    return Machine(tables, executor=executor, trace=io.BytesIO() if random.random() < 0.2 else None)


def run(tables: Tables, executor: str, random: Random) -> str:
    """Run tables as a host would; return how it ended: "done", "limit" or the error."""
    with redirect_stderr(io.StringIO()):
        try:
            machine = load(tables, executor, random)
        except LoomError as error:
            return error.message
        launches: list[tuple[str, list[int]]] = []
        for row in tables["exports"]:
            name = tables.strings[int(row["name"])]
            if row["type"] == 1:
                launches.append((name, [random.choice((0, 1, 2, 5, -1)) for _ in range(int(row["rank"]))]))
        ended = "done"
        for name, arguments in [("", []), *launches[:3]]:
            try:
                if name:
                    machine.launch(name, arguments)
                for color, stream in machine.host_inputs.items():
                    for y, x in np.argwhere(stream.reads)[:2].tolist():
                        machine.send(color, x, y, 1, 1, np.arange(3, dtype=np.uint32))
                if not machine.run(step_limit=STEPS):
                    ended = "limit"
            except LoomError as error:
                ended = error.message
                break
            finally:
                assert machine.clocks.shape == (machine.height, machine.width)
                machine.statistics()
                machine.unread()
                machine.image(0)
                assert len(machine.log) == machine.log_length
            machine.explain(allow_pending=False, all_of_them=True)
            machine.starved()
    return ended


def stored(tables: Tables) -> bytes:
    """Return tables as a file."""
    stream = io.BytesIO()
    write(tables, stream)
    return stream.getvalue()


def work(directory: Path, executor: str, seconds: float, seed: int) -> None:
    """Run changed tables for some time, each kept in a file while it runs."""
    end = time.monotonic() + seconds
    random = Random(seed)
    seeds = sorted(directory.glob("*.seed"))
    known: dict[Path, Tables] = {}
    tried = ran = 0
    current = directory / f"{executor}-{seed}.tables"
    while time.monotonic() < end:
        which = random.choice(seeds)
        if which not in known:
            known[which] = read(which.read_bytes())
        tables = changed(known[which], random)
        tried += 1
        try:
            check(tables)
        except LoomError:
            continue
        again = random.randrange(1 << 30)
        current.write_bytes(again.to_bytes(4, "little") + stored(tables))
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        dump(tables)
        run(tables, executor, Random(again))
        faulthandler.cancel_dump_traceback_later()
        ran += 1
        if ran % 50 == 0:
            print(f"{tried} {ran}", flush=True)
    print(f"{tried} {ran}", flush=True)
    current.unlink(missing_ok=True)


def main() -> int:
    """Fuzz until the time is over; return 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", default=Path("."))
    parser.add_argument("--executor", default="core")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.again is not None:
        data = given.again.read_bytes()
        tables = read(data[4:])
        check(tables)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        print(run(tables, given.executor, Random(int.from_bytes(data[:4], "little"))))
        return 0
    given.directory.mkdir(parents=True, exist_ok=True)
    if given.worker:
        work(given.directory, given.executor, given.seconds, given.seed)
        return 0
    if not any(given.directory.glob("*.seed")):
        write_seeds(given.directory, given.executor)
    end, seed = time.monotonic() + given.seconds, given.seed
    tried = ran = found = 0
    while (left := end - time.monotonic()) > 1:
        command = [
            sys.executable, __file__, str(given.directory), "--executor", given.executor, "--seconds", str(left),
            "--seed", str(seed), "--worker",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        counts = done.stdout.split()
        if len(counts) >= 2:
            tried, ran = tried + int(counts[-2]), ran + int(counts[-1])
        current = given.directory / f"{given.executor}-{seed}.tables"
        if done.returncode:
            found += 1
            kept = given.directory / f"{given.executor}-{seed}.found"
            if current.exists():
                current.rename(kept)
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            kept.with_suffix(".txt").write_text("\n".join(lines))
            print(f"{kept}: status {done.returncode}: {lines[-1] if lines else ''}", flush=True)
        seed += 1
    print(f"{given.executor}: {tried} forged tables, {ran} accepted and run, {found} crashes or hangs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
