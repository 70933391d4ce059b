"""Loads and stores of single elements, and how an operation names a buffer or an address.

The run checks that an index is inside the buffer.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from xdsl.dialects.builtin import IndexType, IntegerType, SymbolRefAttr, i16
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..building import build, symbol
from ..machine.elements import verify_memory_type
from ..machine.symbols import Scope, SymbolUser
from ..traits import VerifiedByKind
from .fields import counted
from .memory import BufferOp
from .types import Scalar

Array: TypeAlias = str | SSAValue
"""Target of an access: the name of a buffer, or a byte address of type i16."""


class _ArrayUser(Protocol):
    """An operation on a buffer, or on the memory at an address."""

    @property
    def buffer(self) -> SymbolRefAttr | None: ...

    @property
    def address(self) -> SSAValue | None: ...


class _AccessOp(SymbolUser, ABC):
    """Shared by what accesses one element of a buffer, or of the memory at a byte address.

    A buffer takes an index for each of its dimensions, an address one index in elements, or none.
    """

    buffer = opt_prop_def(SymbolRefAttr)
    address = opt_operand_def(IntegerType(16))
    indices = var_operand_def(IndexType)
    traits = traits_def(VerifiedByKind())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def print_place(self, printer: Printer) -> None:
        print_array(printer, self)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    @staticmethod
    def parse_place(parser: Parser) -> tuple[Array, Sequence[SSAValue], Mapping[str, Attribute]]:
        array = parse_array(parser)
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType()))
        return array, indices, parser.parse_optional_attr_dict()

    def verify_(self) -> None:
        verify_array(self.name, self)
        if self.address is not None and len(self.indices) > 1:
            raise VerifyException(
                f"{self.name} at an address takes one index or none, not {len(self.indices)}; memory has one dimension"
            )

    def verify_access(self, scope: Scope, type: Attribute) -> None:
        """Check indices and type against the buffer, or the type alone at an address."""
        if self.buffer is None:
            verify_memory_type(type, "memory")
            return
        buffer = scope.get(BufferOp, self.buffer)
        name, rank = buffer.sym_name.data, buffer.type.get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(
                f"buffer @{name} has {counted(rank, 'dimension')}, but {self.name} has indices for "
                f"{len(self.indices)}; give one for each"
            )
        if type != buffer.element_type:
            raise VerifyException(f"buffer @{name} holds {buffer.element_type}, not {type}; use its type")


def parse_array(parser: Parser) -> Array:
    """Parse `@buffer` or `%address`."""
    symbol = parser.parse_optional_symbol_name()
    return parser.parse_operand(i16) if symbol is None else symbol.data


def print_array(printer: Printer, op: _ArrayUser) -> None:
    """Print what `parse_array` reads."""
    if op.buffer is not None:
        printer.print_attribute(op.buffer)
    elif op.address is not None:
        printer.print_operand(op.address)


def symbol_of(array: Array) -> SymbolRefAttr | None:
    """Return the property that names a buffer; None for an address."""
    return symbol(array) if isinstance(array, str) else None


def address_of(array: Array) -> list[SSAValue]:
    """Return the operands that give an address; none for a buffer."""
    return [] if isinstance(array, str) else [array]


def verify_array(name: str, op: _ArrayUser) -> None:
    """Raise VerifyException unless a buffer or an address is named, and not both."""
    if (op.buffer is None) == (op.address is None):
        raise VerifyException(f"{name} takes either a buffer or an address; give exactly one")


@irdl_op_definition
class LoadOp(_AccessOp):
    """Loads one element of a buffer, or of the memory at a byte address.

    ```
    %a = flow.load @u[%i, %j] : f32
    %b = flow.load %address[%i] : f32
    %c = flow.load %address[] : i16
    ```

    What is outside the memory of the unit, and an odd byte address of an element other than i8, end the run with an
    error. An index outside the buffer, and a 32-bit element at an odd word, are warnings, once for each operation. An
    index at an address counts elements, and the sum wraps at 16 bits.
    """

    name = "flow.load"
    result = result_def(Scalar)
    traits = traits_def(MemoryReadEffect())

    def __init__(self, array: Array, indices: Sequence[SSAValue], type: Attribute):
        address = address_of(array)
        build(self, [*address, *indices], [type], {"buffer": symbol_of(array)}, (len(address), len(indices)))

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        array, indices, attributes = cls.parse_place(parser)
        parser.parse_punctuation(":")
        op = cls(array, indices, parser.parse_type())
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_place(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_symbols(self, scope: Scope) -> None:
        self.verify_access(scope, self.result.type)


@irdl_op_definition
class StoreOp(_AccessOp):
    """Stores one element of a buffer, or of the memory at a byte address; errors and warnings as for `flow.load`.

    ```
    flow.store %a, @u[%i, %j] : f32
    flow.store %b, %address[%i] : f32
    ```
    """

    name = "flow.store"
    value = operand_def(Scalar)
    traits = traits_def(MemoryWriteEffect())

    def __init__(self, value: SSAValue, array: Array, indices: Sequence[SSAValue]):
        address = address_of(array)
        segments = (1, len(address), len(indices))
        build(self, [value, *address, *indices], [], {"buffer": symbol_of(array)}, segments)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        array, indices, attributes = cls.parse_place(parser)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(value, parser.parse_type()), array, indices)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.value)
        printer.print_string(", ")
        self.print_place(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)

    def verify_symbols(self, scope: Scope) -> None:
        self.verify_access(scope, self.value.type)
