"""The text of the conformance programs: it is read, passes through all passes, and nothing is found in it."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp

from loomir.dialects import get_all_dialects
from loomir.dialects.pto.hazards import find_hazards
from loomir.frontend.ir_text import parse_ir
from loomir.passes import get_all_passes
from loomir.verification import verify

from .cases import CASES
from .kernel_text import Chip

PASSES = [
    "pto-assign-default-frontend-pipe-id",
    "pto-lower-frontend-pipe-ops",
    "pto-infer-validate-pipe-init",
    "pto-place-tiles",
    "pto-place-reserved-buffers",
    "pto-resolve-reserved-buffers",
]


def read(text: str) -> tuple[Context, ModuleOp]:
    context = Context()
    for dialects in (get_xdsl_dialects(), get_all_dialects()):
        for name, load in dialects.items():
            context.register_dialect(name, load)
    module = parse_ir(context, text, "program.pto")
    verify(module)
    return context, module


@pytest.mark.parametrize(
    ("name", "chip"), [(name, chip) for name, case in CASES.items() for chip in case.chips], ids=str
)
def test_reads_and_lowers(name: str, chip: Chip) -> None:
    context, module = read(CASES[name].text(chip))
    assert [str(finding) for finding in find_hazards(module)] == []
    for pass_name in PASSES:
        get_all_passes()[pass_name]()().apply(context, module)
        verify(module)
