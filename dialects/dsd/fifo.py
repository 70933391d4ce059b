"""FIFOs as operands of DSD operations, and their lengths.

The FIFO itself and its actions belong to `wse`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, f32, i16, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...targets.wavelets import EXTENTS
from .. import wse
from ..machine.fifos import FIFO_SIDES, verify_fifo_side
from ..wse import Scope, SymbolUser
from .fields import (
    Integer,
    dynamic_part,
    joined_parts,
    parse_integer,
    print_integer,
    static_part,
    verify_field,
)
from .types import FifoType


@irdl_op_definition
class FifoOp(SymbolUser):
    """A FIFO as operand: as destination the operation pushes into it, as source it pops from it (DSD-126).

    ```
    %f = dsd.fifo @f : !dsd.fifo<f32>
    ```

    It has no length of its own unless one is set: the other operands say how many elements move (AMB-16). What an
    operation does that finds the FIFO full or empty is said by `wse.fifo`.
    """

    name = "dsd.fifo"
    fifo = prop_def(SymbolRefAttr)
    result = result_def(FifoType)
    traits = traits_def(Pure())
    assembly_format = "$fifo attr-dict `:` type($result)"

    def __init__(self, fifo: str, element_type: Attribute):
        super().__init__(properties={"fifo": SymbolRefAttr(fifo)}, result_types=[FifoType(element_type)])

    def verify_symbols(self, scope: Scope) -> None:
        fifo = scope.get(wse.FifoOp, self.fifo)
        held = scope.get(wse.BufferOp, fifo.buffer).element_type
        given = self.result.type.element_type
        if (held in (f32, i32)) != (given in (f32, i32)):
            raise VerifyException(
                f"FIFO @{fifo.sym_name.data} holds {held}, and {given} has a different width; use a type "
                "of the same width"
            )


@irdl_op_definition
class SetFifoLengthOp(SymbolUser):
    """Sets how many elements operations read from a FIFO, or write to it; 0 leaves it to their other operands (AMB-16).

    ```
    dsd.set_fifo_length @f read 42
    dsd.set_fifo_length @f write %n
    ```

    The FIFO itself changes, no descriptor is made (DSD-155). The length is unsigned 16-bit (DSD-153), in elements
    (DSD-154), and 0 at the start (DSD-157). An operation that stops early leaves behind how many elements it lacked,
    which is the length of the next one alone (DSD-127, DSD-129).
    """

    name = "dsd.set_fifo_length"
    fifo = prop_def(SymbolRefAttr)
    side = prop_def(StringAttr)
    length_value = opt_operand_def(i16)
    length_attr = opt_prop_def(IntegerAttr, prop_name="length")

    def __init__(self, fifo: str, side: str, length: Integer):
        super().__init__(
            operands=[dynamic_part(length)],
            properties={"fifo": SymbolRefAttr(fifo), "side": StringAttr(side), "length": static_part(length)},
        )

    @property
    def length(self) -> Integer:
        """The new length, in elements."""
        return joined_parts(self.length_value, self.length_attr, 0)

    @classmethod
    def parse(cls, parser: Parser) -> SetFifoLengthOp:
        fifo = parser.parse_symbol_name().data
        side = parser.parse_keyword_in(FIFO_SIDES)
        length = parse_integer(parser)
        op = cls(fifo, side, length)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.fifo.string_value())
        printer.print_string(f" {self.side.data} ")
        print_integer(printer, self.length)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        verify_fifo_side(self.side.data)
        verify_field("length", self.length_value, self.length_attr, EXTENTS, needed=True)

    def verify_symbols(self, scope: Scope) -> None:
        scope.get(wse.FifoOp, self.fifo)
