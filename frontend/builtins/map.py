"""@map: a function called for each element of its DSDs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...csl import syntax
from ...dialects import dsd
from .. import control, emit, types
from ..addresses import moved, plus, scaled
from ..calls import call, signature
from ..choices import Operands, for_each
from ..conversion import cast
from ..descriptors import CircularDescriptor, FabricDescriptor, FifoDescriptor, MemoryDescriptor
from ..dsd_operands import materialize, scalar_at
from ..evaluator import Evaluator
from ..places import Memory
from ..registry import Table, Where
from ..types import Type
from ..values import VOID, Address, Callable, Value, is_ssa
from .dsrs import FIFO_FILES, FILES, stepped

TABLE = Table("@map")


@TABLE.row(
    "@map(function, operand...)",
    where=Where.RUN_TIME,
    refusal="@map works on memory and the fabric, which do not exist at compile time",
    takes="a function, its arguments, and a destination",
    rules="DSD-123, DSR-068",
)
def _map(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    function = ev.expr(node.arguments[0])
    if not isinstance(function.data, Callable) or function.data.is_task:
        ev.fail(node.arguments[0], f"@map calls a function, not a value of type '{function.type}'")
    callable = function.data
    count = len(callable.node.parameters)
    given = node.arguments[1:]
    if len(given) not in (count, count + 1):
        ev.fail(node, f"'{callable.name}' takes {count} arguments, but @map is given {len(given)} operands")

    def emit(operands: Operands) -> Value:
        _emitted(ev, node, callable, [operands.expr(argument) for argument in given])
        return VOID

    return for_each(ev, node, emit)


def _emitted(ev: Evaluator, node: syntax.Builtin, callable: Callable, operands: list[Value]) -> None:
    """Emit the calls of a function for the elements of operands none of which is a choice."""
    count = len(callable.node.parameters)
    signature = _parameter_types(ev, callable)
    operands = [
        _in_register(ev, operand, argument, is_source=n < count)
        for n, (operand, argument) in enumerate(zip(operands, node.arguments[1:], strict=True))
    ]
    destination = operands[count] if len(operands) > count else None
    _check_operands(ev, operands[:count], destination, signature, node)
    length = _length(ev, operands, node)

    def one(position: Any) -> None:
        arguments = [
            _element(ev, operand, position, signature[n], node.arguments[1 + n])
            for n, operand in enumerate(operands[:count])
        ]
        result = call(ev, callable, arguments, node)
        if destination is not None and result.type is types.VOID:
            ev.fail(node.arguments[-1], f"'{callable.name}' returns nothing for @map to store here")
        if destination is not None:
            _put(ev, destination, position, result, node.arguments[1 + count])
        elif result.type is not types.VOID:
            ev.fail(node, f"'{callable.name}' returns a '{result.type}', but @map has no destination for it")

    if not is_ssa(length):
        if length == 0:
            return
        stop = ev.code.constant(types.I16, length)
    else:
        stop = length
    bounds = (ev.code.constant(types.I16, 0), stop, ev.code.constant(types.I16, 1))
    control.counted(ev, [], bounds, one, node)


def _in_register(ev: Evaluator, operand: Value, argument: syntax.Expression, *, is_source: bool) -> Value:
    """Return the DSD that an operand holds, if that is a register (DSR-068); else the operand."""
    if not isinstance(operand.type, types.Register):
        return operand
    if operand.type.name in FIFO_FILES:
        ev.fail(argument, f"a '{operand.type}' holds a FIFO, which @map does not take (DSD-123)")
    if operand.type.name not in FILES:
        ev.fail(argument, f"@map takes DSDs and DSRs, not a value of type '{operand.type}'")
    if operand.type.name == "dsr_dest" and is_source:
        ev.fail(argument, "a 'dsr_dest' holds destinations only; load the source into a dsr_src0 or dsr_src1 (DSR-008)")
    if operand.type.name == "dsr_src1" and not is_source:
        ev.fail(argument, "a 'dsr_src1' holds sources only; load the destination into a dsr_dest or dsr_src0 (DSR-010)")
    return stepped(ev, operand, argument)


def _check_operands(
    ev: Evaluator, inputs: list[Value], destination: Value | None, signature: list[Type | None], node: syntax.Builtin
) -> None:
    for operand, type, argument in zip(inputs, signature, node.arguments[1:], strict=False):
        if operand.type is types.FIFO or operand.type is types.FABOUT:
            ev.fail(argument, f"a '{operand.type}' cannot be read by @map")
        if isinstance(operand.type, types.Descriptor) and type is not None and type not in types.DSD_ELEMENTS:
            ev.fail(argument, f"the elements of a DSD are numbers of 16 or 32 bits, but the function takes a '{type}'")
    if destination is None:
        return
    argument = node.arguments[-1]
    if destination.type is types.FIFO or destination.type is types.FABIN:
        ev.fail(argument, f"a '{destination.type}' cannot be written by @map")
    if isinstance(destination.type, types.Pointer) and destination.type.const:
        ev.fail(argument, "@map cannot write its results through a pointer to constant memory")


def _parameter_types(ev: Evaluator, function: Callable) -> list[Type | None]:
    found = signature(ev, function, function.node)
    return [
        None if isinstance(parameter.type, syntax.AnyType) else type
        for parameter, type in zip(function.node.parameters, found.parameters, strict=True)
    ]


def _length(ev: Evaluator, operands: list[Value], node: syntax.Node) -> Any:
    """Return how often the function is called: as often as the shortest DSD is long."""
    known: list[int] = []
    unknown: list[SSAValue] = []
    for operand in operands:
        data = operand.data
        extents: tuple[Any, ...] = ()
        if isinstance(data, MemoryDescriptor):
            extents = data.extents
        elif isinstance(data, FabricDescriptor | CircularDescriptor):
            extents = (data.extent,)
        if not extents:
            continue
        total: Any = 1
        for extent in extents:
            total = _times(ev, total, extent)
        if is_ssa(total):
            unknown.append(total)
        else:
            known.append(total)
    if not known and not unknown:
        ev.fail(node, "@map needs at least one DSD, which determines how often the function is called")
    if not unknown:
        return min(known)
    result = unknown[0]
    for other in [*unknown[1:], *([ev.code.constant(types.I16, min(known))] if known else [])]:
        result = ev.code.value(arith.MinUIOp(result, other))
    return result


def _place(ev: Evaluator, data: MemoryDescriptor | CircularDescriptor, position: Any, type: Type) -> Memory:
    """Return the element of a memory DSD at a position of the walk."""
    width = types.size(type)
    if isinstance(data, CircularDescriptor):
        size = ev.code.constant(types.U16, data.wraparound)
        element = emit.binary(ev.code, "%", types.U16, position, size)
        return Memory(moved(ev, data.address, element, width), type, const=False)
    where: Address = data.address
    if len(data.strides) == 1:
        return Memory(moved(ev, where, _times(ev, position, data.strides[0]), width), type, const=False)
    # Innermost first: split the position into one index per dimension.
    offset: Any = 0
    rest = position
    walked: Any = 0
    for stride, extent in zip(data.strides, reversed(data.extents), strict=True):
        size = extent if is_ssa(extent) else ev.code.constant(types.I16, extent)
        index = emit.binary(ev.code, "%", types.U16, rest, size)
        rest = emit.binary(ev.code, "/", types.U16, rest, size)
        step = plus(ev, stride, walked)
        offset = plus(ev, offset, _times(ev, index, step))
        walked = plus(ev, walked, _times(ev, step, plus(ev, extent, -1)))
    return Memory(moved(ev, where, offset, width), type, const=False)


def _times(ev: Evaluator, position: Any, stride: Any) -> Any:
    if is_ssa(stride) and is_ssa(position):
        return emit.binary(ev.code, "*", types.I16, position, stride)
    return scaled(ev, stride, position) if is_ssa(stride) else scaled(ev, position, stride)


def _element(ev: Evaluator, operand: Value, position: Any, type: Type | None, node: syntax.Expression) -> Value:
    data = operand.data
    if isinstance(data, MemoryDescriptor | CircularDescriptor):
        wanted = type or _guess(ev, data)
        found = _place(ev, data, position, _carried(ev, wanted, node)).load(ev, node)
        return cast(ev, found, wanted, node)
    if isinstance(data, FabricDescriptor | FifoDescriptor):
        return _received(ev, data, type or types.F32, node)
    return operand


def _guess(ev: Evaluator, data: MemoryDescriptor | CircularDescriptor) -> Type:
    """Return the type of an element where the function does not say: that of the buffer."""
    buffer = data.address.buffer
    if buffer is not None:
        return buffer.element
    return types.F32 if data.unit == 2 else ev.session.fp16


def _cell(ev: Evaluator, type: Type, node: syntax.Expression) -> Address:
    assert ev.pe is not None
    return ev.pe.spill(ev, emit.stored(type), node)


def _received(ev: Evaluator, data: Any, type: Type, node: syntax.Expression) -> Value:
    """Return one wavelet, or one element of a FIFO."""
    element = _carried(ev, type, node)
    as_int: Type = types.I16 if types.size(element) == 2 else types.I32
    where = _cell(ev, element, node)
    single = replace(data, extent=1) if isinstance(data, FabricDescriptor) else data
    source = materialize(ev, single, as_int, node)
    row = "mov16" if as_int is types.I16 else "mov32"
    ev.code(dsd.OPERATIONS[row](scalar_at(ev, where, as_int), [source]))
    return cast(ev, Memory(where, element, const=True).load(ev, node), type, node)


def _carried(ev: Evaluator, type: Type, node: syntax.Node) -> Type:
    """Return the type of DSD elements that a function takes or returns as a type: a byte occupies a word there."""
    size = types.size(type)
    if size == 1:
        in_memory = emit.stored(type)
        return types.I16 if isinstance(in_memory, types.Int) and in_memory.signed else types.U16
    if size > 4:
        ev.fail(node, f"DSDs have elements of 16 or 32 bits, not '{type}'")
    return type


def _put(ev: Evaluator, operand: Value, position: Any, result: Value, node: syntax.Expression) -> None:
    """Store the result of one call."""
    data = operand.data
    if isinstance(data, MemoryDescriptor | CircularDescriptor):
        element = _carried(ev, result.type, node)
        _place(ev, data, position, element).store(ev, cast(ev, result, element, node), node)
        return
    if isinstance(data, FabricDescriptor | FifoDescriptor):
        element = emit.stored(_carried(ev, result.type, node))
        result = cast(ev, result, element, node) if types.size(result.type) == 1 else result
        single = replace(data, extent=1) if isinstance(data, FabricDescriptor) else data
        row = {"f16": "fmovh", "f32": "fmovs"}.get(str(element), "mov16" if types.size(element) == 2 else "mov32")
        target = materialize(ev, single, element, node)
        ev.code(dsd.OPERATIONS[row](target, [ev.ssa(result, node)]))
        return
    if isinstance(operand.type, types.Pointer):
        where = data if isinstance(data, Address) else Address(None, 0, 1, data)
        if result.type != operand.type.target:
            ev.fail(
                node, f"the function of @map returns a '{result.type}', but this points to a '{operand.type.target}'"
            )
        Memory(where, operand.type.target, operand.type.const).store(ev, result, node)
        return
    ev.fail(node, f"@map writes its results to a DSD or through a pointer, not to a '{operand.type}'")
