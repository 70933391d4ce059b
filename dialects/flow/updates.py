"""Stream updates: operations that make a stream from another by a change of one field.

Nothing here knows what is done with a stream.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, i16
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..machine.symbols import Scope, SymbolUser
from .origins import name_of
from .scope import Origin, scope_of_units
from .types import StreamType, element_type_of, element_words


class _StreamUpdateOp(SymbolUser, ABC):
    """Shared by what makes a stream from a stream and an i16 `amount`; both streams have one type."""

    CHANGES: ClassVar[frozenset[Origin]]
    """What a stream must be made of to be changed like this."""
    NEEDED: ClassVar[str]
    """The same in words."""

    stream = operand_def(StreamType)
    amount = operand_def(IntegerType(16))
    result = result_def(StreamType)
    traits = traits_def(Pure())

    def __init__(self, stream: SSAValue, amount: SSAValue):
        super().__init__(operands=[stream, amount], result_types=[stream.type])

    @classmethod
    def parse(cls, parser: Parser):
        stream = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        amount = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls(parser.resolve_operand(stream, type), parser.resolve_operand(amount, i16))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.stream)
        printer.print_string(", ")
        printer.print_operand(self.amount)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.stream.type)

    def verify_(self) -> None:
        if self.result.type != self.stream.type:
            raise VerifyException(
                f"{self.name} makes {self.result.type} of {self.stream.type}; a stream keeps its type, so use that"
            )

    def verify_symbols(self, scope: Scope) -> None:
        for origin, owner in scope_of_units(scope).origins(self.stream).items():
            if origin not in self.CHANGES:
                raise VerifyException(f"{self.name} changes {name_of(origin, owner)}; it needs {self.NEEDED}")


@irdl_op_definition
class AdvanceOp(_StreamUpdateOp):
    """Moves a walk by a signed number of 16-bit words (DSD-168, DSD-169)."""

    name = "flow.advance"
    CHANGES: ClassVar = frozenset({"vector", "array", "ring"})
    NEEDED: ClassVar = "a walk over memory"


@irdl_op_definition
class ResizeOp(_StreamUpdateOp):
    """Changes the length, unsigned, of a one-dimensional stream (DSD-175)."""

    name = "flow.resize"
    CHANGES: ClassVar = frozenset({"vector", "ring", "received", "sent"})
    NEEDED: ClassVar = "a stream of one dimension"


@irdl_op_definition
class RestrideOp(_StreamUpdateOp):
    """Changes the stride, signed, in elements, of a one-dimensional walk (DSD-179)."""

    name = "flow.restride"
    CHANGES: ClassVar = frozenset({"vector"})
    NEEDED: ClassVar = "a walk over memory of one dimension"


@irdl_op_definition
class RebaseOp(_StreamUpdateOp):
    """Moves a walk to another byte address, without the offset it had (DSD-163)."""

    name = "flow.rebase"
    CHANGES: ClassVar = frozenset({"vector", "array", "ring"})
    NEEDED: ClassVar = "a walk over memory"


@irdl_op_definition
class IndexedOp(_StreamUpdateOp):
    """Puts an index into the high half of each wavelet of a run to be sent, beside 16 bits of data (DSD-108)."""

    name = "flow.indexed"
    CHANGES: ClassVar = frozenset({"sent"})
    NEEDED: ClassVar = "a stream of an output queue"

    def verify_(self) -> None:
        super().verify_()
        if element_words(element_type_of(self.stream)) == 2:
            raise VerifyException(
                f"flow.indexed puts an index where {self.stream.type} has data; send 16-bit values (AMB-26)"
            )
