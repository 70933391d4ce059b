"""Pass `pto-bind-launch-arguments`: the numbers of block and vector core that PyPTO's launcher passes as arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, FunctionType, IndexType, ModuleOp, i8, i16, i32, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from ..analysis.pto.local_memory import called
from ..diagnostics.errors import LoomError
from ..diagnostics.locations import location_of
from ..dialects.pto.kernels import GetBlockIdxOp, GetBlockNumOp, GetSubBlockIdxOp, IndexOp
from ..dialects.traversal import walk

BOUND: dict[str, type[IndexOp]] = {
    "__pypto_spmd_block_idx": GetBlockIdxOp,
    "__pypto_spmd_block_num": GetBlockNumOp,
    "__pypto_spmd_subblock_idx": GetSubBlockIdxOp,
}
"""The arguments that the launcher passes by their names, with the operation that asks for the same number."""


@dataclass(frozen=True)
class PtoBindLaunchArgumentsPass(ModulePass):
    """Replaces the arguments that PyPTO's launcher passes to each core, such as `%__pypto_spmd_block_idx`, by the
    operation that asks for the number, in all functions that no other calls."""

    name = "pto-bind-launch-arguments"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bind_launch_arguments(op)


def bind_launch_arguments(module: ModuleOp) -> None:
    """Do what the pass does. Raises LoomError for an argument of another type than an integer."""
    operations = list(walk(module))
    callees = {called(inner) for inner in operations if isinstance(inner, CallOp)}
    for function in operations:
        if isinstance(function, FuncOp) and not function.is_declaration and function not in callees:
            _bind(function)


def _bind(function: FuncOp) -> None:
    block = function.body.blocks[0]
    bound = [argument for argument in block.args if argument.name_hint in BOUND]
    if not bound:
        return
    if function.arg_attrs is not None:
        kept = [given for given, argument in zip(function.arg_attrs, block.args, strict=True) if argument not in bound]
        function.arg_attrs = ArrayAttr(kept)
    builder = Builder(InsertPoint.at_start(block))
    for argument in bound:
        assert argument.name_hint is not None
        number = builder.insert(BOUND[argument.name_hint]()).result
        number.owner.location = function.location
        argument.replace_all_uses_with(_converted(builder, number, argument.type, function))
        block.erase_arg(argument)
    function.function_type = FunctionType.from_lists(
        [argument.type for argument in block.args], list(function.function_type.outputs)
    )


def _converted(builder: Builder, number: SSAValue, type: Attribute, function: FuncOp) -> SSAValue:
    """Return the number as a value of the argument's type."""
    if type == i64:
        return number
    if isinstance(type, IndexType):
        return builder.insert(arith.IndexCastOp(number, type)).result
    if type in (i8, i16, i32):
        return builder.insert(arith.TruncIOp(number, cast("Any", type))).result
    raise LoomError(
        f"an argument that the launcher binds has type {type}; use i32, i64 or index", location_of(function)
    )
