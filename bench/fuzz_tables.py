"""Fuzzing of the reader and checker of tables: any bytes give tables or one LoomError.

    python bench/fuzz_tables.py DIRECTORY [-max_total_time=3600]

Needs atheris (`pip install atheris`). DIRECTORY holds what to begin with, such as the file that this program writes
there first; options are those of libFuzzer. The checksums of what atheris makes are corrected, so that most of it
reaches the checker.
"""

from __future__ import annotations

import sys
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import context, flow
from loomir.dialects.ir_text import parse_ir, text_of
from loomir.runtime.tables.check import check
from loomir.runtime.tables.dump import dump
from loomir.runtime.tables.file import read, restamped, write

ROOT = Path(__file__).resolve().parents[1]
SEED = ROOT / "lit_tests" / "dialects" / "flow" / "stencil.mlir"


def one(data: bytes) -> None:
    """Read and check some bytes."""
    try:
        tables = read(restamped(data))
        check(tables)
    except LoomError:
        return
    dump(tables)


def seed() -> bytes:
    """Return the file of a small program."""
    module = parse_ir(context(), *text_of(SEED))
    stream = BytesIO()
    write(assemble(next(op for op in module.walk() if isinstance(op, flow.FabricOp))), stream)
    return stream.getvalue()


def main() -> None:
    """Write the first file and fuzz."""
    atheris: Any = import_module("atheris")
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    directory.joinpath("stencil.tables").write_bytes(seed())
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
