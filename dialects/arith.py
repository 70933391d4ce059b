"""xDSL's `arith` with an operation that it lacks."""

from __future__ import annotations

from xdsl.dialects.arith import Arith as XdslArith
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """Converts an unsigned integer to an index, or an index to one: `%i = arith.index_castui %n : i32 to index`."""

    name = "arith.index_castui"
    input = operand_def(IntegerType | IndexType)
    result = result_def(IntegerType | IndexType)
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"


Arith = Dialect("arith", [*XdslArith.operations, IndexCastUIOp], list(XdslArith.attributes))
