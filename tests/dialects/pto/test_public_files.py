"""The public test files of PTOAS, where a checkout of it is at hand: set LOOMIR_PTOAS to its directory.

Each file that uses pipes is read, checked, printed and read again. A file, or part of one, that is there for its error
gives one, or, where that is an error of a later pass, none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.printer import Printer

from loomir.checks.pto.registry import find_hazards
from loomir.diagnostics.errors import LoomError
from loomir.dialects import get_all_dialects
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.verification import verify

DIRECTORY = os.environ.get("LOOMIR_PTOAS")

_PIPES = re.compile(
    r"pto\.(ai[cv]_initialize_pipe|initialize_l2g?2?l_pipe|tpush|tpop|tfree|talloc|(import_)?reserved?_buffer|set_quant_(scalar|vector)\b)"
)


def files() -> list[Path]:
    """The files below `test` of the checkout that use pipes."""
    if DIRECTORY is None:
        return []
    found = [path for end in ("pto", "mlir") for path in (Path(DIRECTORY) / "test").rglob(f"*.{end}")]
    return sorted(path for path in found if _PIPES.search(path.read_text(encoding="utf-8")))


def parts(text: str) -> Iterator[tuple[str, str | None, bool]]:
    """The programs of a file: text, chip, and whether an error is wanted."""
    runs = [line for line in text.splitlines() if "RUN:" in line]
    pieces = {"": text}
    if any("split-file" in run for run in runs):
        split = re.split(r"^//--- (\S+)\n", text, flags=re.MULTILINE)
        pieces = dict(zip(split[1::2], split[2::2], strict=True))
    for name, piece in pieces.items():
        own = [run for run in runs if name in run and "split-file" not in run]
        chip = re.search(r"--pto-arch[= ](\w+)", " ".join(own))
        yield piece, None if chip is None else chip.group(1), any("not ptoas" in run for run in own)


def read(text: str, chip: str | None = None) -> ModuleOp:
    context = Context()
    for dialects in (get_xdsl_dialects(), get_all_dialects()):
        for name, load in dialects.items():
            context.register_dialect(name, load)
    module = parse_ir(context, text, "public.pto")
    told = {"pto.target_arch", "pto.device-spec"} & set(module.attributes)
    if chip is not None and not told:
        module.attributes["pto.target_arch"] = StringAttr(chip)
    verify(module)
    return module


def printed(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


@pytest.mark.skipif(DIRECTORY is None, reason="LOOMIR_PTOAS names no checkout of PTOAS")
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_public_file(path: Path) -> None:
    for text, chip, is_wrong in parts(path.read_text(encoding="utf-8")):
        try:
            module = read(text, chip)
        except LoomError:
            assert is_wrong
            continue
        once = printed(module)
        assert printed(read(once)) == once
        find_hazards(module)
