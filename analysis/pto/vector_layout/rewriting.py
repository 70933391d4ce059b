"""Changes of programs on vectors of any length: types of values, signatures of functions, operations in front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.pto.instructions import OPERATIONS
from ....dialects.pto.registers import VmiMaskType, VmiVRegType
from .control_flow import Functions, inner_first
from .transfer import operation_name


def retype(value: SSAValue, type: Attribute) -> SSAValue:
    """Give a value another type and return what stands for it now. Its uses keep their order."""
    if value.type == type:
        return value
    # Uses are moved in reverse: twice leaves them as they were.
    return Rewriter.replace_value_with_new_type(Rewriter.replace_value_with_new_type(value, type), type)


def instruction(
    name: str,
    operands: Sequence[SSAValue],
    results: Sequence[Attribute],
    attributes: Mapping[str, Attribute] | None = None,
    *,
    of: Operation,
) -> Operation:
    """Return an operation on vectors of any length, which takes the place of another."""
    made = OPERATIONS[f"vmi.{name}"].create(operands=operands, result_types=results, attributes=dict(attributes or {}))
    made.location = of.location
    return made


def insert_before(
    op: Operation,
    name: str,
    operands: Sequence[SSAValue],
    results: Sequence[Attribute],
    attributes: Mapping[str, Attribute] | None = None,
) -> Operation:
    """Insert an operation on vectors of any length in front of another, and return it."""
    made = instruction(name, operands, results, attributes, of=op)
    Rewriter.insert_op(made, InsertPoint.before(op))
    return made


def recreated(value: SSAValue, type: Attribute, before: Operation, names: Sequence[str]) -> SSAValue | None:
    """Make a value again as another type in front of an operation, if one of some operations makes it."""
    if not isinstance(value, OpResult) or operation_name(value.op) not in names:
        return None
    made = value.op.clone()
    Rewriter.insert_op(made, InsertPoint.before(before))
    made.location = before.location
    return Rewriter.replace_value_with_new_type(made.results[0], type)


def set_signatures(module: ModuleOp) -> None:
    """Give functions the types of their arguments and of what they return."""
    functions = Functions(module)
    calls: dict[str, list[func.CallOp]] = {}
    for op in inner_first(module):
        if isinstance(op, func.CallOp):
            calls.setdefault(op.callee.root_reference.data, []).append(op)
    for function in functions.by_name.values():
        if not function.body.blocks:
            continue
        types = list(function.function_type.outputs)
        returns = functions.returns.get(function)
        given = [list(call.result_types) for call in calls.get(function.sym_name.data, ())]
        given += [list(returns[0].operand_types)] if returns else []
        if given:
            types = [given[0][index] if _is_virtual(type) else type for index, type in enumerate(types)]
        inputs = [argument.type for argument in function.body.blocks[0].args]
        function.properties["function_type"] = FunctionType.from_lists(inputs, types)


def _is_virtual(type: Attribute) -> bool:
    return isinstance(type, VmiVRegType | VmiMaskType)
