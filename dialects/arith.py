"""xDSL's `arith` with an operation that it lacks, and one that reads all that MLIR does."""

from __future__ import annotations

from xdsl.dialects.arith import Arith as XdslArith
from xdsl.dialects.arith import SelectOp as XdslSelectOp
from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import Pure


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """Converts an unsigned integer to an index, or an index to one: `%i = arith.index_castui %n : i32 to index`."""

    name = "arith.index_castui"
    input = operand_def(IntegerType | IndexType)
    result = result_def(IntegerType | IndexType)
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"


class SelectOp(XdslSelectOp):
    """Reads `arith.select %condition, %a, %b : f32`, and `: i1, f32` with the type of the condition, as MLIR does."""

    @classmethod
    def parse(cls, parser: Parser) -> XdslSelectOp:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        position = parser.pos
        if len(operands) != 3:
            parser.raise_error("expected a condition and two values", position, parser.pos)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        condition: Attribute = i1
        if parser.parse_optional_punctuation(",") is not None:
            condition, kind = kind, parser.parse_type()
        values = parser.resolve_operands(operands, (condition, kind, kind), position)
        return XdslSelectOp.build(operands=values, result_types=[kind], attributes=attributes)


_OTHERS = [operation for operation in XdslArith.operations if operation is not XdslSelectOp]

Arith = Dialect("arith", [*_OTHERS, SelectOp, IndexCastUIOp], list(XdslArith.attributes))
