"""Loads and stores of vectors of any length, whose numbers mean one thing or another by how many there are.

Behind the address there is nothing; with the attribute `group`, the distance of the groups' rows; without it, two
distances, of blocks of 32 bytes and of the rows of eight blocks. A store may have a mask behind those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, StringAttr, i16
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from .kernels import fail
from .registers import VmiMaskType, VmiVRegType
from .rules import is_in_vector_memory, memory_element
from .types import PtrType
from .vector_rules import check_groups, check_mask, packs_bytes

_INDEX = IndexType()


def _distances(
    parser: Parser, numbers: Sequence[UnresolvedOperand]
) -> tuple[SSAValue | None, SSAValue | None, SSAValue | None]:
    """Return the distances of rows, of blocks and of rows of blocks that the numbers behind an address are."""
    if len(numbers) == 1:
        return parser.resolve_operand(numbers[0], _INDEX), None, None
    if len(numbers) == 2:
        blocks, rows = (parser.resolve_operand(number, i16) for number in numbers)
        return None, blocks, rows
    return None, None, None


_MODES = ("continuous", "unpack", "dintlv", "brc")


def _verify(op: VmiVloadOp | VmiVstoreOp, memory: str, pointer: Attribute, vectors: Sequence[Attribute]) -> None:
    """Check that distances, groups and the distribution go together, and that vectors have the elements of memory."""
    is_load = isinstance(op, VmiVloadOp)
    value = "result" if is_load else "value"
    found = [vector for vector in vectors if isinstance(vector, VmiVRegType)]
    group, distribution = op.attributes.get("group"), op.attributes.get("dist_mode")
    mode = distribution.data if isinstance(distribution, StringAttr) else None
    if group is not None and mode is not None and not (is_load and mode == "brc"):
        fail(op, "group and dist_mode are mutually exclusive")
    if group is not None and op.stride is None:
        fail(op, "group requires a stride operand")
    if group is None and op.stride is not None:
        fail(op, "stride operand is only valid with group")
    if group is not None and isinstance(op, VmiVstoreOp) and op.mask:
        fail(op, "group mode does not support mask operand")
    if isinstance(group, IntegerAttr):
        groups = cast("IntegerAttr[IntegerType]", group).value.data
        if groups <= 0:
            fail(op, f"group must be positive, got {groups}")
        if len(found) != 1:
            fail(op, f"group mode requires exactly 1 {value}")
        check_groups(op, found[0], groups)
    if (op.block_stride is None) is not (op.repeat_stride is None):
        fail(op, "block_stride and repeat_stride must both be present or absent")
    if op.block_stride is not None and mode is not None:
        fail(op, "block_stride and dist_mode are mutually exclusive")
    if op.block_stride is not None and len(found) != 1:
        fail(op, f"block-stride mode requires exactly 1 {value}")
    if not found:
        fail(op, f"requires at least 1 {value}")
    if mode == "dintlv" and len(found) != 2:
        fail(op, f'dist-mode "dintlv" requires exactly 2 {value}s')
    if mode != "dintlv" and len(found) != 1:
        fail(op, f'requires exactly 1 {value} for dist-mode "{mode or "continuous"}"')
    if mode is not None and mode not in _MODES:
        fail(op, f'invalid dist-mode: "{mode}"')
    if not is_load and mode in ("unpack", "brc"):
        fail(op, f'dist-mode "{mode}" is not valid for vstore')
    predicated = op.attributes.get("pmode")
    if isinstance(predicated, StringAttr) and predicated.data not in ("zero", "merge"):
        fail(op, f'invalid pmode: "{predicated.data}"')
    _verify_elements(op, memory, pointer, found, mode)


def _verify_elements(
    op: VmiVloadOp | VmiVstoreOp, memory: str, pointer: Attribute, found: Sequence[VmiVRegType], mode: str | None
) -> None:
    element = memory_element(pointer)
    for vector in found:
        own = vector.element_type
        packs = op.attributes.get("group") is not None and memory == "destination" and packs_bytes(pointer, own)
        if element not in (None, own) and mode != "unpack" and not packs:
            fail(op, f"requires memory {memory} element type to match VMI data element type")
        if vector.count != found[0].count:
            fail(op, "requires all VMI data values to have the same logical lane count")
        if own != found[0].element_type:
            fail(op, "requires all VMI data values to have the same element type")
        if mode == "dintlv" and vector.layout.data and vector.layout.data[0].kind.data != "contiguous":
            fail(op, f"requires layout-assigned {memory} to use #pto.vmi.layout<contiguous>")
    if not is_in_vector_memory(pointer):
        fail(op, f"requires memory {memory} to be UB-backed")


@irdl_op_definition
class VmiVloadOp(IRDLOperation):
    """Loads vectors: `%v = pto.vmi.vload %p[%offset], %stride {group = 8} : <pointer> -> !pto.vmi.vreg<8xf32>`."""

    name = "pto.vmi.vload"
    source = operand_def(PtrType | MemRefType)
    offset = operand_def(_INDEX)
    stride = opt_operand_def(_INDEX)
    block_stride = opt_operand_def(i16)
    repeat_stride = opt_operand_def(i16)
    loaded = var_result_def(VmiVRegType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> VmiVloadOp:
        pointer = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            offset = parser.parse_operand(_INDEX)
        numbers: list[UnresolvedOperand] = []
        while len(numbers) < 2 and parser.parse_optional_punctuation(",") is not None:
            numbers.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(pointer, parser.parse_type())
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.build(
            operands=[source, offset, *_distances(parser, numbers)], result_types=[results], attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        with printer.in_square_brackets():
            printer.print_operand(self.offset)
        for number in (self.stride, self.block_stride, self.repeat_stride):
            if number is not None:
                printer.print_string(", ")
                printer.print_operand(number)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_list(self.loaded, lambda value: printer.print_attribute(value.type))

    def verify_(self) -> None:
        _verify(self, "source", self.source.type, self.loaded.types)


@irdl_op_definition
class VmiVstoreOp(IRDLOperation):
    """Stores vectors: `pto.vmi.vstore %v, %p[%offset], %mask : !pto.vmi.vreg<64xf32>, !pto.ptr<f32, ub>, <mask>`."""

    name = "pto.vmi.vstore"
    stored = var_operand_def(VmiVRegType)
    destination = operand_def(PtrType | MemRefType)
    offset = operand_def(_INDEX)
    stride = opt_operand_def(_INDEX)
    block_stride = opt_operand_def(i16)
    repeat_stride = opt_operand_def(i16)
    mask = var_operand_def(VmiMaskType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> VmiVstoreOp:
        values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        with parser.in_square_brackets():
            offset = parser.parse_operand(_INDEX)
        numbers: list[UnresolvedOperand] = []
        while len(numbers) < 3 and parser.parse_optional_punctuation(",") is not None:
            numbers.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types: list[Attribute] = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
        distances = min(len(numbers), 1) if "group" in attributes else len(numbers) // 2 * 2
        masks = numbers[distances:]
        if len(types) != len(values) + len(masks):
            parser.raise_error(
                f"expected {len(values) + len(masks)} types ({len(values) - 1} value(s), 1 destination"
                f"{', 1 mask' if masks else ''}), got {len(types)}", position, parser.pos,
            )  # fmt: skip
        resolved = [parser.resolve_operand(value, type) for value, type in zip([*values, *masks], types, strict=True)]
        split = len(values) - 1
        operands = [resolved[:split], resolved[split], offset]
        operands += [*_distances(parser, numbers[:distances]), resolved[split + 1 :]]
        return cls.build(operands=operands, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list([*self.stored, self.destination], printer.print_operand)
        with printer.in_square_brackets():
            printer.print_operand(self.offset)
        for number in (self.stride, self.block_stride, self.repeat_stride, *self.mask):
            if number is not None:
                printer.print_string(", ")
                printer.print_operand(number)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        shown = [*self.stored, self.destination, *self.mask]
        printer.print_list(shown, lambda value: printer.print_attribute(value.type))

    def verify_(self) -> None:
        if len(self.mask) > 1:
            fail(self, "at most one mask allowed")
        _verify(self, "destination", self.destination.type, self.stored.types)
        if self.attributes.get("pmode") == StringAttr("merge"):
            fail(
                self,
                'pmode "merge" is not supported for stores: the legacy store lowering is mask-governed only and cannot '
                'retain prior destination contents on inactive lanes; omit pmode (defaults to "zero")',
            )
        vector = self.stored[0].type
        for value in self.mask:
            if isinstance(value.type, VmiMaskType) and isinstance(vector, VmiVRegType):
                check_mask(self, value.type, vector)
