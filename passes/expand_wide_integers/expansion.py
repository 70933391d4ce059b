"""The limbs of each value of a function or task, and what its operations become."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    f32,
    i16,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import wse
from ...dialects.machine.code import CodeOperation
from ...operations import cb16, integers
from ...operations.scalar_types import numpy_type
from . import limbs
from .limbs import LIMB, Emitter, Floats, Number


def is_wide(type: Attribute) -> bool:
    """Return True for integers of more bits than a limb has."""
    return isinstance(type, IntegerType) and type.bitwidth > LIMB


def flat(types: Sequence[Attribute]) -> list[Attribute]:
    """Return types with those of the limbs in place of each wide integer."""
    return [part for type in types for part in ([i64] * count_of(type) if is_wide(type) else [type])]


def count_of(type: Attribute) -> int:
    """Return how many limbs a wide integer has."""
    assert isinstance(type, IntegerType)
    return type.bitwidth // LIMB


_CARRIES = (
    scf.IfOp, scf.ForOp, scf.WhileOp, scf.YieldOp, scf.ConditionOp, wse.CallOp, wse.ReturnOp,
)  # fmt: skip
"""The operations that pass values on, whatever these are."""


class Expansion:
    """Replaces the wide integers of one function or task."""

    def __init__(self, code: CodeOperation) -> None:
        self._code = code
        self._limbs: dict[SSAValue, Number] = {}
        self._replaced: list[Operation] = []
        self._arguments: list[tuple[Block, SSAValue]] = []

    def run(self) -> None:
        """Replace them. Raises LoomError at an operation that does not compute with them."""
        code = self._code
        if isinstance(code, wse.FuncOp):
            types = code.function_type
            self._check(code, (*types.inputs, *types.outputs))
            code.function_type = FunctionType.from_lists(flat(types.inputs.data), flat(types.outputs.data))
        if code.shares is None:
            self._block(code.body.block, code)
        for op in reversed(self._replaced):
            op.detach()
            op.erase()
        for block, argument in self._arguments:
            block.erase_arg(argument)  # pyright: ignore[reportArgumentType]

    def _check(self, op: Operation, types: Sequence[Attribute]) -> None:
        for type in types:
            if is_wide(type) and type.bitwidth % LIMB:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
                wider = f"i{LIMB * (count_of(type) + 1)}"
                raise LoomError(
                    f"{type} has more than {LIMB} bits and not a multiple of {LIMB}; use {wider} and keep its upper "
                    "bits as the sign, or zero",
                    location_of(op),
                )

    def _block(self, block: Block, owner: Operation) -> None:
        for argument in list(block.args):
            if is_wide(argument.type):
                self._check(owner, [argument.type])
                place = argument.index + 1
                count = count_of(argument.type)
                self._limbs[argument] = [block.insert_arg(i64, place + position) for position in range(count)]
                self._arguments.append((block, argument))
        for op in list(block.ops):
            self._operation(op)

    def _operation(self, op: Operation) -> None:
        wide = any(map(is_wide, op.operand_types)) or any(map(is_wide, op.result_types))
        if not wide:
            self._regions(op)
            return
        self._check(op, (*op.operand_types, *op.result_types))
        if isinstance(op, _CARRIES):
            self._carry(op)
            return
        made = self._computed(op)
        (result,) = op.results
        if isinstance(made, list):
            self._limbs[result] = made
        else:
            result.replace_all_uses_with(made)
        self._replaced.append(op)

    def _regions(self, op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                self._block(block, op)

    def _flat(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [part for value in values for part in self._limbs.get(value, [value])]

    def _carry(self, op: Operation) -> None:
        """Replace an operation that passes values on by one that passes limbs."""
        if isinstance(op, scf.ForOp) and is_wide(op.lb.type):
            raise LoomError(f"scf.for does not count in {op.lb.type}; count its trips in i{LIMB}", location_of(op))
        new = type(op).create(
            operands=self._flat(op.operands),
            result_types=flat(op.result_types),
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        Emitter(op)(new)
        results = list(new.results)
        for result in op.results:
            if is_wide(result.type):
                self._limbs[result] = [results.pop(0) for _ in range(count_of(result.type))]
            else:
                result.replace_all_uses_with(results.pop(0))
        self._replaced.append(op)
        self._regions(new)

    def _computed(self, op: Operation) -> Number | SSAValue:
        """Return the limbs of a result, or the result itself if it is not wide."""
        emit = Emitter(op)
        operands = [self._limbs.get(value, [value]) for value in op.operands]
        rule = _RULES.get(type(op))
        made = None if rule is None else rule(emit, op, operands)
        if made is None:
            types = sorted({str(type) for type in (*op.operand_types, *op.result_types) if is_wide(type)})
            raise LoomError(
                f"{op.name} does not compute with {', '.join(types)}; use integers of at most {LIMB} bits there",
                location_of(op),
            )
        return made


_Rule = Callable[[Emitter, Operation, list[Number]], "Number | SSAValue | None"]


def _constant(emit: Emitter, op: Operation, operands: list[Number]) -> Number:
    assert isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr)
    return limbs.constant(emit, op.value.value.data, count_of(op.result.type))


def _of_two(function: Callable[[Emitter, Number, Number], Number]) -> _Rule:
    return lambda emit, op, operands: function(emit, *operands)


def _bitwise(emit: Emitter, op: Operation, operands: list[Number]) -> Number:
    return limbs.bitwise(emit, type(op), *operands)


def _division(divide: Callable[[Emitter, Number, Number], tuple[Number, Number]], position: int) -> _Rule:
    return lambda emit, op, operands: divide(emit, *operands)[position]


def _shift(emit: Emitter, op: Operation, operands: list[Number]) -> Number:
    return limbs.shift(emit, type(op), *operands)


def _comparison(emit: Emitter, op: Operation, operands: list[Number]) -> SSAValue:
    assert isinstance(op, arith.CmpiOp)
    return limbs.compare(emit, integers.PREDICATES[op.predicate.value.data].name, *operands)


def _chosen(predicate: str) -> _Rule:
    """Return the rule of a minimum or maximum: the first operand if a predicate holds, else the second."""

    def rule(emit: Emitter, op: Operation, operands: list[Number]) -> Number:
        return limbs.choose(emit, limbs.compare(emit, predicate, *operands), *operands)

    return rule


def _select(emit: Emitter, op: Operation, operands: list[Number]) -> Number:
    (condition,), one, other = operands
    return limbs.choose(emit, condition, one, other)


def _extension(emit: Emitter, op: Operation, operands: list[Number]) -> Number:
    """Return an integer in more limbs; what is narrower than one is extended to one first."""
    (number,) = operands
    if number[0].type != i64:
        number = [emit.value(type(op).create(operands=number, result_types=[i64]))]
    signed = isinstance(op, arith.ExtSIOp)
    upper = limbs.sign(emit, number) if signed else emit.constant(0)
    return [*number, *[upper] * (count_of(op.results[0].type) - len(number))]


def _truncation(emit: Emitter, op: Operation, operands: list[Number]) -> Number | SSAValue:
    (number,), (result,) = operands, op.results
    if is_wide(result.type):
        return number[: count_of(result.type)]
    if result.type == i64:
        return number[0]
    return emit.value(arith.TruncIOp(number[0], result.type))  # pyright: ignore[reportArgumentType]


def _index(emit: Emitter, op: Operation, operands: list[Number]) -> Number | SSAValue:
    (number,), (result,) = operands, op.results
    if not is_wide(result.type):
        return emit.value(arith.IndexCastOp(number[0], IndexType()))
    low = [emit.value(arith.IndexCastOp(number[0], i64))]
    return [*low, *[limbs.sign(emit, low)] * (count_of(result.type) - 1)]


_FLOAT_OPERATIONS: dict[str, type[Operation]] = {
    "uitofp": arith.UIToFPOp, "mulf": arith.MulfOp, "negf": arith.NegfOp,
}  # fmt: skip


def _floats(emit: Emitter, type: Attribute) -> Floats:
    """Return the operations of a format of MLIR."""
    assert isinstance(type, AnyFloat)

    def operation(name: str, operands: Sequence[SSAValue]) -> SSAValue:
        return emit.value(_FLOAT_OPERATIONS[name].create(operands=list(operands), result_types=[type]))

    def constant(number: float) -> SSAValue:
        with np.errstate(over="ignore"):
            rounded = float(numpy_type(type.name).type(number))
        return emit.value(arith.ConstantOp(FloatAttr(rounded, type)))

    def single(number: SSAValue) -> SSAValue:
        return number if type == f32 else emit.value(arith.ExtFOp(number, f32))

    return Floats(operation, constant, single)


def _cb16(emit: Emitter) -> Floats:
    """Return the operations of format cb16, whose numbers are integers with their bits."""

    def operation(name: str, operands: Sequence[SSAValue]) -> SSAValue:
        return emit.value(wse.Cb16Op(name, operands, i16))

    def constant(number: float) -> SSAValue:
        return emit.constant(cb16.bits(cb16.rounded(number)), i16)

    def single(number: SSAValue) -> SSAValue:
        return emit.value(wse.Cb16Op("extf", [number], f32))

    return Floats(operation, constant, single)


def _to_float(emit: Emitter, op: Operation, operands: list[Number]) -> SSAValue:
    floats = _floats(emit, op.results[0].type)
    return limbs.to_float(emit, operands[0], floats, is_signed=isinstance(op, arith.SIToFPOp))


def _from_float(emit: Emitter, op: Operation, operands: list[Number]) -> Number:
    ((number,),) = operands
    count = count_of(op.results[0].type)
    return limbs.from_float(emit, number, _floats(emit, number.type), count, is_signed=isinstance(op, arith.FPToSIOp))


def _of_cb16(emit: Emitter, op: Operation, operands: list[Number]) -> Number | SSAValue | None:
    assert isinstance(op, wse.Cb16Op)
    match op.function.data:
        case "sitofp" | "uitofp" as name:
            return limbs.to_float(emit, operands[0], _cb16(emit), is_signed=name == "sitofp")
        case "fptosi" | "fptoui" as name:
            ((number,),) = operands
            count = count_of(op.results[0].type)
            return limbs.from_float(emit, number, _cb16(emit), count, is_signed=name == "fptosi")
        case _:
            return None


_RULES: dict[type[Operation], _Rule] = {
    arith.ConstantOp: _constant,
    arith.AddiOp: _of_two(limbs.add),
    arith.SubiOp: _of_two(limbs.subtract),
    arith.MuliOp: _of_two(limbs.multiply),
    arith.DivUIOp: _division(limbs.divide, 0),
    arith.RemUIOp: _division(limbs.divide, 1),
    arith.DivSIOp: _division(limbs.divide_signed, 0),
    arith.RemSIOp: _division(limbs.divide_signed, 1),
    arith.AndIOp: _bitwise,
    arith.OrIOp: _bitwise,
    arith.XOrIOp: _bitwise,
    arith.ShLIOp: _shift,
    arith.ShRSIOp: _shift,
    arith.ShRUIOp: _shift,
    arith.CmpiOp: _comparison,
    arith.MinSIOp: _chosen("slt"),
    arith.MinUIOp: _chosen("ult"),
    arith.MaxSIOp: _chosen("sgt"),
    arith.MaxUIOp: _chosen("ugt"),
    arith.SelectOp: _select,
    arith.ExtSIOp: _extension,
    arith.ExtUIOp: _extension,
    arith.TruncIOp: _truncation,
    arith.IndexCastOp: _index,
    arith.SIToFPOp: _to_float,
    arith.UIToFPOp: _to_float,
    arith.FPToSIOp: _from_float,
    arith.FPToUIOp: _from_float,
    wse.Cb16Op: _of_cb16,
}
