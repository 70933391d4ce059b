"""xDSL's `llvm` with an operation that it lacks."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import SignlessIntegerConstraint, VectorType
from xdsl.dialects.llvm import LLVM as XdslLlvm
from xdsl.ir import Dialect
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import NoMemoryEffect


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """Returns an element of a vector: `%x = llvm.extractelement %v[%i : i32] : vector<4xf32>`."""

    name = "llvm.extractelement"
    ELEMENT: ClassVar = VarConstraint("ELEMENT", AnyAttr())
    vector = operand_def(VectorType.constr(ELEMENT))
    position = operand_def(SignlessIntegerConstraint)
    res = result_def(ELEMENT)
    traits = traits_def(NoMemoryEffect())
    assembly_format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"


Llvm = Dialect("llvm", [*XdslLlvm.operations, ExtractElementOp], list(XdslLlvm.attributes))
