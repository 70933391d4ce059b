"""Scalar code: constants, operations on numbers, coordinates, parameters, and checks of floating point exceptions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...operations import integers
from ...operations.costs import scalar_class
from ...operations.float_exceptions import raises
from ...operations.floats import LOWEST_NORMAL
from ...runtime.reference.scalars import FUNCTIONS
from ...runtime.tables.instructions import BITS, FIRST_SCALAR, FLOATS, KIND, KINDS, SCALAR_NUMBER
from .body import Body
from .code import MOVE, NOTHING, SELECT, Late, Place
from .values import constant_bits


def constant(body: Body, op: arith.ConstantOp) -> None:
    """Note the value of a constant."""
    body.define_known(op.result, constant_bits(op.value))


@cache
def _number(name: str, kinds: tuple[str, ...], predicate: int) -> int | None:
    """Return the number of a scalar operation, given the kinds of its operands and its result."""
    return SCALAR_NUMBER.get((name, kinds[:-1], kinds[-1], predicate))


def scalar_of_pes(body: Body, op: Operation) -> None:
    """Append a scalar operation of PEs, which have no f64. Raises LoomError for one that they do not execute."""
    if any(kind_of(value.type) == "f64" for value in (*op.operands, *op.results)):
        raise LoomError(_cannot_execute(op), location_of(op))
    scalar(body, op)


def scalar(body: Body, op: Operation) -> None:
    """Append a scalar operation, or compute it now if all operands are known."""
    kinds = [kind_of(value.type) for value in (*op.operands, *op.results)]
    if not op.results or None in kinds:
        raise LoomError(_cannot_execute(op), location_of(op))
    names = tuple(map(str, kinds))
    traps = body.units.traps and _may_trap(op)
    known = [body.known(value) for value in op.operands]
    divides = op.name in integers.DIVISIONS
    if None not in known and not traps and not (divides and not known[1]):
        body.define_known(op.results[0], _folded(op, names, known))
        return
    operands = [body.use(value) for value in op.operands]
    if divides and not known[1]:
        body.control("check_divisor", operands[1], uses=[operands[1]])
    if not (names[-1] == "i1" and body.branches.is_decided(op.results[0])):
        body.charge(scalar_cost(op, names[-1]))
    if op.name == "arith.select":
        result = body.define(op.results[0])
        condition, chosen, other = operands
        body.emit(MOVE, result, other, 0, [result], [other])
        body.emit(SELECT, result, condition, chosen, [result], [result, condition, chosen])
    elif op.name == "arith.bitcast" and names[0] == names[1]:
        body.values[op.results[0]] = operands[0]
    else:
        _compute(body, op, names, operands)
    if traps:
        _trap(body, op, operands, body.use(op.results[0]))


def scalar_cost(op: Operation, kind: str) -> str:
    """Return the class of costs of a scalar operation with a result of a kind."""
    return scalar_class(op.name, BITS[kind], floats=kind in FLOATS or isinstance(op, flow.Cb16Op))


def _number_of(op: Operation, names: tuple[str, ...]) -> int:
    """Return the number of an operation of the tables that computes what `op` does. Raises LoomError."""
    predicate = op.predicate.value.data if isinstance(op, arith.CmpiOp | arith.CmpfOp) else 0
    name = f"cb16.{op.function.data}" if isinstance(op, flow.Cb16Op) else op.name
    number = _number(name, names, predicate)
    if number is None:
        raise LoomError(_cannot_execute(op), location_of(op))
    return number


def _folded(op: Operation, names: tuple[str, ...], known: list[Any]) -> int:
    """Return what executors would compute from operands that are known. Raises LoomError."""
    if op.name == "arith.select":
        condition, chosen, other = known
        return chosen if condition else other
    if op.name == "arith.bitcast" and names[0] == names[1]:
        return known[0]
    return FUNCTIONS[_number_of(op, names) - FIRST_SCALAR](*known)


def _compute(body: Body, op: Operation, names: tuple[str, ...], operands: list[int]) -> None:
    number = _number_of(op, names)
    result = body.define(op.results[0])
    if len(operands) == 3:
        # The third operand is where the result goes.
        body.emit(MOVE, result, operands[2], 0, [result], [operands[2]])
        body.emit(number, result, operands[0], operands[1], [result], [result, *operands[:2]])
    else:
        body.emit(number, result, operands[0], operands[1] if len(operands) > 1 else 0, [result], operands)


def reinterpret(body: Body, operand: int, source: str, result: str) -> int:
    """Return the register of a value read as another kind of its width, for which nothing is charged."""
    target = body.register()
    number = SCALAR_NUMBER["arith.bitcast", (source,), result, 0]
    body.emit(number, target, operand, 0, [target], [operand])
    return target


def increment(body: Body, counter: int, step: int) -> None:
    """Append the step of a loop's counter, which no width wraps."""
    number = SCALAR_NUMBER["arith.addi", ("index", "index"), "index", 0]
    body.emit(number, counter, counter, step, [counter], [counter, step])


# Floating point exceptions


def _may_trap(op: Operation) -> bool:
    return bool(op.results) and kind_of(op.results[0].type) in LOWEST_NORMAL and raises(op.name)


def _trap(body: Body, op: Operation, operands: list[int], result: int) -> None:
    sections, kind = body.sections, KIND[str(kind_of(op.results[0].type))]

    def row(register: Place, descriptor: Place) -> int:
        del descriptor
        places = [register(operand) for operand in operands]
        places += [register(NOTHING)] * (3 - len(places))
        return sections.intern(
            "traps", sections.string(op.name), tuple(places), register(result), len(operands), kind
        )  # fmt: skip

    body.control("check_exceptions", Late("trap", row), uses=[*operands, result])


def set_exception_mask(body: Body, op: flow.SetExceptionMaskOp) -> None:
    """Append a change of the exception mask."""
    mask = body.use(op.mask)
    body.charge("instruction")
    body.control("set_exception_mask", mask, uses=[mask])


# Values of a PE


def coordinate(body: Body, op: flow.CoordinateOp) -> None:
    """Read a coordinate, whose cost the start of the task has charged."""
    axis = op.axis.data
    width = BITS[str(kind_of(op.result.type))]
    body.values[op.result] = body.own_value((axis, width), "coordinate", 0 if axis == "x" else 1)


def extent(body: Body, op: flow.ExtentOp) -> None:
    """Note the extent of the grid."""
    body.define_known(op.result, body.units.grid[0] if op.axis.data == "x" else body.units.grid[1])


def get_param(body: Body, op: flow.GetParamOp) -> None:
    """Note the value of a parameter, or read that of the PE, whose cost the start of the task has charged."""
    name = op.param.root_reference.data
    body.depend("param", name)
    value = body.units.param(op, name)
    if isinstance(value, np.ndarray):
        body.values[op.result] = body.own_value(name, "column", ("column", name))
    else:
        body.define_known(op.result, value)


def _cannot_execute(op: Operation) -> str:
    """Return why an operation cannot be run: a type that nothing computes with, or the operation itself."""
    for type in (*op.operand_types, *op.result_types):
        if kind_of(type) in (None, "f64"):
            kinds = ", ".join(reversed(KINDS[: KIND["f64"]]))
            return f"the engine cannot execute {op.name} on {type}; compute with {kinds} instead"
    return f"the engine cannot execute {op.name}; lower it to arith, scf and flow first"


HANDLERS: dict[type[Operation], Any] = {
    Operation: scalar_of_pes,
    arith.ConstantOp: constant,
    flow.CoordinateOp: coordinate,
    flow.ExtentOp: extent,
    flow.GetParamOp: get_param,
    flow.SetExceptionMaskOp: set_exception_mask,
}
"""`Operation` stands for every other one."""
