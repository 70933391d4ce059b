"""Derived descriptors: operations that change a field of another, and what is known of a descriptor through them.

Nothing here looks at the operations that use a descriptor.
"""

from __future__ import annotations

from abc import ABC
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, i16
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from ...targets.wavelets import EXTENTS, MEM1D_STRIDES, OFFSETS
from ..inheritance import ByInheritance
from .fabric import FabinOp, FaboutOp
from .fields import (
    Integer,
    constant_extent,
    constant_value,
    dynamic_part,
    joined_parts,
    parse_integer,
    print_integer,
    static_part,
    verify_field,
)
from .folding import replace_changed
from .memory import CircbufOp, Mem1dOp, Mem4dOp, TensorAccessOp, parse_memref, with_fields
from .types import CircbufType, DescriptorType, FabinType, FaboutType, Mem1dType, Mem4dType


class FoldsIntoSource(HasCanonicalizationPatternsTrait):
    """A changed field goes into the descriptor it changes, where both are known."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (FoldDerivedDescriptor(), MergeDerivedDescriptors())


class DerivedDescriptorOp(IRDLOperation, metaclass=ByInheritance):
    """Makes a new descriptor that differs from another in one field; the other stays as it is (DSD-159)."""

    result = result_def()
    traits = traits_def(Pure())

    @property
    def descriptor(self) -> SSAValue:
        """The descriptor this one differs from."""
        return self.operands[0]

    @property
    def descriptor_type(self) -> DescriptorType:
        return cast(DescriptorType, self.descriptor.type)

    def _verify_kind(self, accepted: tuple[type[DescriptorType], ...], noun: str, hint: str) -> None:
        if not isinstance(self.descriptor.type, accepted):
            raise VerifyException(f"{self.name} takes {noun}, not {self.descriptor.type}; {hint}")
        if self.result.type != self.descriptor.type:
            raise VerifyException(
                f"{self.name} makes a {self.result.type} of a {self.descriptor.type}; both have the same type"
            )


class _FieldOp(DerivedDescriptorOp, ABC):
    """A derived descriptor whose new field is an integer."""

    input = operand_def()
    field_value = opt_operand_def(i16)
    field_attr = opt_prop_def(IntegerAttr, prop_name="value")

    def __init__(self, descriptor: SSAValue, value: Integer):
        super().__init__(
            operands=[descriptor, dynamic_part(value)],
            result_types=[descriptor.type],
            properties={"value": static_part(value)},
        )

    @property
    def value(self) -> Integer:
        """The new value of the field, or what is added to it."""
        return joined_parts(self.field_value, self.field_attr, 0)

    @classmethod
    def parse(cls, parser: Parser) -> _FieldOp:
        descriptor = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = parse_integer(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(descriptor, parser.parse_type()), value)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.descriptor)
        printer.print_string(", ")
        print_integer(printer, self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.descriptor.type)

    def _verify_value(self, name: str, allowed: range) -> None:
        verify_field(name, self.field_value, self.field_attr, allowed, needed=True)


@irdl_op_definition
class IncrementOffsetOp(_FieldOp):
    """Moves a descriptor by a number of its elements; nothing checks that it stays in the array.

    ```
    %e = dsd.increment_offset %d, %n : !dsd.mem1d<f32>
    ```

    Only mem1d and mem4d (DSD-165), by an i16 (DSD-166).
    """

    name = "dsd.increment_offset"
    traits = traits_def(FoldsIntoSource())

    def verify_(self) -> None:
        self._verify_kind((Mem1dType, Mem4dType), "a mem1d or mem4d descriptor", "only those have an offset")
        self._verify_value("offset", OFFSETS)


@irdl_op_definition
class SetLengthOp(_FieldOp):
    """Changes the extent of a descriptor, in elements or wavelets.

    ```
    %e = dsd.set_length %d, 12 : !dsd.fabin<f32>
    ```

    Not for mem4d (DSD-173) nor for FIFOs, whose lengths change in place (DSD-155). The length is unsigned
    16-bit (DSD-174).
    """

    name = "dsd.set_length"
    traits = traits_def(FoldsIntoSource())

    def verify_(self) -> None:
        self._verify_kind(
            (Mem1dType, CircbufType, FabinType, FaboutType),
            "a mem1d, circbuf or fabric descriptor",
            "a mem4d keeps its extents, and a FIFO has a read length and a write length",
        )
        self._verify_value("length", EXTENTS)


@irdl_op_definition
class SetStrideOp(_FieldOp):
    """Changes the stride of a descriptor, in elements.

    ```
    %e = dsd.set_stride %d, 2 : !dsd.mem1d<f32>
    ```

    Only mem1d (DSD-177); the stride is signed 8-bit (DSD-178).
    """

    name = "dsd.set_stride"
    traits = traits_def(FoldsIntoSource())

    def verify_(self) -> None:
        self._verify_kind((Mem1dType,), "a mem1d descriptor", "only that has one stride")
        self._verify_value("stride", MEM1D_STRIDES)


@irdl_op_definition
class SetBaseOp(DerivedDescriptorOp):
    """Moves a descriptor to another array, from its first element: an earlier offset is dropped (DSD-163).

    ```
    %e = dsd.set_base %d, %A : !dsd.mem1d<f32>, memref<10xf32>
    ```

    Only mem1d and mem4d (DSD-161), onto a tensor (DSD-162).
    """

    name = "dsd.set_base"
    input = operand_def()
    base = operand_def(MemRefType)
    traits = traits_def(FoldsIntoSource())

    def __init__(self, descriptor: SSAValue, base: SSAValue):
        super().__init__(operands=[descriptor, base], result_types=[descriptor.type])

    @classmethod
    def parse(cls, parser: Parser) -> SetBaseOp:
        descriptor = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        base = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation(",")
        op = cls(parser.resolve_operand(descriptor, type), parser.resolve_operand(base, parse_memref(parser)))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.descriptor)
        printer.print_string(", ")
        printer.print_operand(self.base)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.descriptor.type)
        printer.print_string(", ")
        printer.print_attribute(self.base.type)

    def verify_(self) -> None:
        self._verify_kind((Mem1dType, Mem4dType), "a mem1d or mem4d descriptor", "only those have a base")
        base = cast(MemRefType, self.base.type)
        if base.get_num_dims() == 0:
            raise VerifyException("the new base is a scalar; name an array")
        if base.get_element_type() != self.descriptor_type.element_type:
            raise VerifyException(
                f"the new base has elements of {base.get_element_type()}, the descriptor of "
                f"{self.descriptor_type.element_type}; make a new descriptor"
            )


def defining_op(descriptor: SSAValue) -> Operation | None:
    """Return the operation that made `descriptor`, through any that derived it; None if it is an argument."""
    owner = descriptor.owner
    while isinstance(owner, DerivedDescriptorOp):
        owner = owner.descriptor.owner
    return owner if isinstance(owner, Operation) else None


def strides_if_constant(descriptor: SSAValue) -> tuple[int, ...] | None:
    """Return the strides, innermost first, of a mem4d descriptor known at compile time, else None (DSR-061)."""
    owner = descriptor.owner
    while isinstance(owner, DerivedDescriptorOp):
        if isinstance(owner, _FieldOp) and constant_value(owner.value) is None:
            return None
        owner = owner.descriptor.owner
    if not isinstance(owner, Mem4dOp) or any(constant_value(field) is None for field in (owner.offset, *owner.extents)):
        return None
    strides = tuple(number for stride in owner.strides if (number := constant_value(stride)) is not None)
    return strides if len(strides) == len(owner.strides) else None


class FoldDerivedDescriptor(RewritePattern):
    """Put a changed field into the descriptor it changes, where both are known at compile time."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DerivedDescriptorOp, rewriter: PatternRewriter) -> None:
        source = op.descriptor.owner
        new: Operation | None = None
        match op, source:
            case IncrementOffsetOp(), Mem1dOp() | Mem4dOp():
                start, step = constant_value(source.offset), constant_value(op.value)
                if start is None or step is None or start + step not in OFFSETS:
                    return
                new = with_fields(source, offset=start + step)
            case SetLengthOp(), Mem1dOp():
                new = with_fields(source, extent=op.value)
            case SetLengthOp(), FabinOp() | FaboutOp():
                new = type(source)(
                    source.result.type,
                    op.value,
                    queue=source.queue_name,
                    color=source.color_name,
                    options=source.options,
                )
            case SetLengthOp(), CircbufOp():
                if (length := constant_extent(op.value)) is None:
                    return
                new = CircbufOp(source.base, length, wraparound=source.wraparound)
            case SetLengthOp(), TensorAccessOp():
                if (length := constant_extent(op.value)) is None:
                    return
                new = TensorAccessOp(
                    source.base,
                    source.access,
                    [length],
                    source.result.type,
                    wavelet_index_offset=source.wavelet_index_offset is not None,
                )
            case SetStrideOp(), Mem1dOp():
                new = with_fields(source, stride=op.value)
            case SetBaseOp(), Mem1dOp() | Mem4dOp():
                new = with_fields(source, base=op.base, offset=0)
            case _:
                return
        assert isinstance(source, Operation)
        replace_changed(rewriter, op, new, source)


class MergeDerivedDescriptors(RewritePattern):
    """Two changes of one field in a row are one: the later wins, increments add up.

    A new base replaces the offset too, so that increments before it are lost (DSD-163).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DerivedDescriptorOp, rewriter: PatternRewriter) -> None:
        first = op.descriptor.owner
        if not isinstance(first, DerivedDescriptorOp):
            return
        match op, first:
            case IncrementOffsetOp(), IncrementOffsetOp():
                one, two = constant_value(first.value), constant_value(op.value)
                if one is None or two is None or one + two not in OFFSETS:
                    return
                new = IncrementOffsetOp(first.descriptor, one + two)
            case SetLengthOp() | SetStrideOp(), _ if type(first) is type(op):
                new = type(op)(first.descriptor, op.value)
            case SetBaseOp(), SetBaseOp() | IncrementOffsetOp():
                new = SetBaseOp(first.descriptor, op.base)
            case _:
                return
        replace_changed(rewriter, op, new, op)
