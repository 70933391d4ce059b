"""The width of elements that each mask of any length is for, and where a mask has to be for another.

A comparison decides the width of the mask that it gives. Masks that are combined, or that branches, loops and calls
pass on, have one width; what uses a mask for elements of another has it changed in front.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ....diagnostics.records import record
from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.registers import VmiMaskType, VmiVRegType
from .control_flow import Functions, inner_first, virtual_values
from .layouts import bits_of
from .problems import CONTRACT, fail
from .transfer import operation_name

DEFAULT_WIDTH = 32
"""The width of masks that nothing decides."""

_COMBINED = ("mask_and", "mask_or", "mask_xor", "mask_not")
_BY_OPERAND = {"cmpf": "lhs", "cmpi": "lhs"}
_OF_BYTES = ("vdhist", "vchist")
_MASK_BY = {
    **dict.fromkeys(("select", "active_prefix_index", "compress", "stride_load", "masked_load", "gather",
                     "expand_load"), "result"),
    **dict.fromkeys(("masked_store", "stride_store", "scatter", "compress_store"), "value"),
    **dict.fromkeys(("vadds", "vmuls", "vmaxs", "vmins", "vshls", "vshrs"), "src"),
    **dict.fromkeys(("vintlv", "vdintlv", "vaddc", "vaddcs"), "lhs"),
    **{f"{group}reduce_{each}{kind}": "source" for group in ("", "group_") for each in ("add", "max", "min")
       for kind in "fi"},
    "vexpdif": "x",
    "vmull": "a",
}  # fmt: skip
"""The operand or result whose elements the mask of an operation is for."""


@record
class WidthChange:
    """An operand that has to be a mask for elements of a width."""

    op: Operation
    index: int
    bits: int


@dataclass
class Widths:
    """The widths of all masks, and the operands that need others."""

    by_value: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    changes: list[WidthChange] = field(default_factory=list[WidthChange])


class _Solver:
    def __init__(self) -> None:
        self._parent: dict[SSAValue, SSAValue] = {}
        self._bits: dict[SSAValue, int] = {}

    def add(self, mask: SSAValue) -> None:
        if mask not in self._parent:
            self._parent[mask] = mask
            if isinstance(mask.type, VmiMaskType) and (bits := bits_of(mask.type)):
                self._bits[mask] = bits

    def root(self, mask: SSAValue) -> SSAValue:
        self.add(mask)
        while self._parent[mask] is not mask:
            self._parent[mask] = mask = self._parent[self._parent[mask]]
        return mask

    def unite(self, one: SSAValue, other: SSAValue, op: Operation) -> None:
        if not isinstance(one.type, VmiMaskType) or not isinstance(other.type, VmiMaskType):
            return
        first, second = self.root(one), self.root(other)
        if first is second:
            return
        _agree(self._bits.get(first), self._bits.get(second), op)
        self._parent[second] = first
        if second in self._bits:
            self._bits.setdefault(first, self._bits[second])

    def decide(self, mask: SSAValue, bits: int, op: Operation) -> None:
        root = self.root(mask)
        _agree(self._bits.get(root), bits, op)
        self._bits[root] = bits

    def width(self, mask: SSAValue) -> int:
        return self._bits.get(self.root(mask), DEFAULT_WIDTH)


def _agree(one: int | None, other: int | None, op: Operation) -> None:
    if one is not None and other is not None and one != other:
        fail(
            op,
            CONTRACT,
            f"conflicting mask granularities b{one} and b{other}",
            f"one mask is for elements of {one} and of {other} bits; compare vectors of one width",
        )


def widths_of(module: ModuleOp) -> Widths:
    """Return the widths of all masks. Raises LoomError for a mask that has two."""
    solver, found = _Solver(), Widths()
    masks = [value for value in virtual_values(module) if isinstance(value.type, VmiMaskType)]
    for mask in masks:
        solver.add(mask)
    functions = Functions(module)
    for op in inner_first(module):
        name = operation_name(op)
        if name in _COMBINED or name == "ensure_mask_layout":
            for other in (*op.operands[1:], op.results[0]):
                solver.unite(op.operands[0], other, op)
        if isinstance(op, InstructionOp):
            _of_instruction(op, name, solver, found)
        for one, other, at in functions.equivalent(op):
            solver.unite(one, other, at)
    for mask in masks:
        found.by_value[mask] = solver.width(mask)
    return found


def _of_instruction(op: InstructionOp, name: str, solver: _Solver, found: Widths) -> None:
    if name in _BY_OPERAND:
        solver.decide(op.results[0], _bits(op, _BY_OPERAND[name]), op)
    if name in ("vaddc", "vaddcs"):
        solver.decide(op.results[1], 32, op)
    bits = 8 if name in _OF_BYTES else _bits(op, _MASK_BY[name]) if name in _MASK_BY else 0
    if not bits:
        return
    for index, operand in enumerate(op.operands):
        if isinstance(operand.type, VmiMaskType):
            found.changes.append(WidthChange(op, index, bits))


def _bits(op: InstructionOp, name: str) -> int:
    values = {**op.operand_groups, **op.result_groups}[name]
    type = values[0].type
    return bits_of(type) if isinstance(type, VmiVRegType) else 0
