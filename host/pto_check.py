"""What can be told of a program on pipes without running it: `check`.

Knows which passes a kernel goes through on its way to values and addresses; runs nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException

from ..diagnostics import LoomError
from ..dialects import context
from ..dialects.pto.findings import Finding
from ..dialects.pto.frontend_pipes import OpenPipeOp
from ..dialects.pto.hazards import find_hazards
from ..dialects.pto.internal_pipes import InitializeL2LPipeOp
from ..dialects.pto.kernels import SectionOp, architecture_of, kernel_kind
from ..dialects.pto.protocol import Behaviour
from ..dialects.traversal import walk
from ..frontend.ir_text import parse_ir, read_text
from ..passes import get_all_passes
from ..verification import located, verify

FRONT_END = (
    "pto-assign-default-frontend-pipe-id",
    "pto-infer-slots",
    "pto-lower-frontend-pipe-ops",
    "pto-infer-validate-pipe-init",
    "pto-place-tiles",
    "pto-place-reserved-buffers",
    "pto-resolve-reserved-buffers",
)
"""The passes from what users write down to pipes with flags and buffers with addresses."""


def check(source: Path | str | ModuleOp, arch: Behaviour | None = None) -> list[Finding]:
    """What is wrong with a program, or may go wrong, as far as its text tells, in the order of the text.

    Without `arch` it is checked for the chip its module names, or else for every chip it is written for: one with
    slots in global memory for both, another for a5. What is true of only one of several chips says so. A `source`
    that does not parse, verify or pass the compiler's checks is itself a finding, `rejected`. Raises LoomError for a
    file that cannot be read, and for an unknown `arch`.
    """
    if arch not in (None, *get_args(Behaviour)):
        raise LoomError(f"arch is '{arch}'; use one of {', '.join(get_args(Behaviour))}")
    name = None if isinstance(source, ModuleOp) else str(source)
    text = "" if isinstance(source, ModuleOp) else read_text(source)
    try:
        module = source if isinstance(source, ModuleOp) else parse_ir(context(), text, str(source))
        _require_kernels(module, name)
    except LoomError as error:
        return [_rejected(error)]
    archs: list[Behaviour] = [arch] if arch is not None else _chips(module)
    merged: dict[Finding, list[Behaviour]] = {}
    for one in archs:
        for finding in _findings(module, one):
            merged.setdefault(finding, []).append(one)
    found = [finding if len(of) == len(archs) else replace(finding, arch=of[0]) for finding, of in merged.items()]
    return sorted(found, key=_position)


def _require_kernels(module: ModuleOp, name: str | None) -> None:
    if not any(isinstance(op, SectionOp) or (isinstance(op, FuncOp) and kernel_kind(op)) for op in walk(module)):
        raise LoomError(
            "there is no kernel; write a func.func with pto.kernel_kind = #pto.kernel_kind<cube> or <vector>, or one "
            "with pto.section.cube and pto.section.vector",
            name,
        )


def _position(finding: Finding) -> tuple[int, int]:
    """Line and column of a finding; what has none comes first."""
    parts = (finding.location or "").rsplit(":", 2)
    return (int(parts[1]), int(parts[2])) if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit() else (0, 0)


def _chips(module: ModuleOp) -> list[Behaviour]:
    """The chips a module is for."""
    chips: list[Behaviour] = ["a2a3", "a5"]
    operations = list(walk(module))
    stated = {chip for op in operations if isinstance(op, FuncOp) and (chip := architecture_of(op)) is not None}
    if stated:
        return [chip for chip in chips if chip in stated]
    opened = [op for op in operations if isinstance(op, OpenPipeOp)]
    if any(isinstance(op, InitializeL2LPipeOp) for op in operations) or any(
        op.gm_slot_buffer is None and op.gm_slot_tensor is None for op in opened
    ):
        return ["a5"]
    if any(op.local_slot_num is not None for op in opened):
        return ["a2a3"]
    return chips


def _findings(module: ModuleOp, arch: Behaviour) -> list[Finding]:
    """The findings about a module as on a chip; on ideal pipes, with slots where those of its own chip lie."""
    chip = arch if arch != "ideal" else _chips(module)[0]
    module = module.clone()
    for op in walk(module):
        if isinstance(op, ModuleOp):
            op.attributes.pop("pto.device-spec", None)
            op.attributes.pop("pto.target_arch", None)
    module.attributes["pto.target_arch"] = StringAttr(chip)
    try:
        verify(module)
        found = find_hazards(module, arch)
    except LoomError as error:
        return [_rejected(error)]
    try:
        _compile(module)
    except LoomError as error:
        found.append(_rejected(error))
    return found


def _compile(module: ModuleOp) -> None:
    """Take a module through the compiler's passes; raises LoomError where one refuses it."""
    passes = get_all_passes()
    for name in FRONT_END:
        if name not in passes:
            continue
        try:
            passes[name]()().apply(context(), module)
        except DiagnosticException as error:
            raise located(error) from None
        verify(module)


def _rejected(error: LoomError) -> Finding:
    return Finding("error", "rejected", error.message, error.location)
