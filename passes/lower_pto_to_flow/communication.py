"""Lowering of communication between devices: copies between their memories, signals, and collectives.

The memories of all devices are parts of global memory, so a tensor of another device is a tensor at another address.
Staging tiles, by way of which elements go on a chip, are not written. What is begun asynchronously is done at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import UnitAttr, i1, i32, i64
from xdsl.ir import Operation, SSAValue

from ...analysis.pto.pipe_ends import refusal
from ...dialects import flow
from ...dialects.pto.attributes import AtomicType, AtomicTypeAttr, Layout
from ...dialects.pto.instructions import InstructionOp
from .core_flags import rest_until
from .instruction_context import Instructions, Scratch, given, word_of
from .views import View, in_order_of_matrix, known

_COMBINED = {"sum": "add", "max": "maximum", "min": "minimum"}

_PREDICATES = {"eq": "eq", "ne": "ne", "gt": "sgt", "ge": "sge", "lt": "slt", "le": "sle"}

MAX_SIGNALS = 64
"""Signals that one operation waits for."""


def _tensor(kernel: Instructions, value: SSAValue) -> View:
    view = kernel.handles.view(value)
    return view if view.layout is Layout.ND else in_order_of_matrix(view)[0]


def _copy(kernel: Instructions, op: InstructionOp, target: View, source: View, *, adds: bool = False) -> None:
    """Copy a tensor of one shape to another; shapes known only at run time are compared there."""
    for there, here in zip(target.extents, source.extents, strict=False):
        kernel.emitter.equal(there, here, f"both tensors of {op.name} have one shape")
    if len(target.extents) != len(source.extents):
        raise refusal(op, f"copies {len(source.extents)} dimensions to {len(target.extents)}; give both one shape")
    kernel.emitter.apply("copy", target, [source], {"accumulate": UnitAttr()} if adds else {})


def _transfer(kernel: Instructions, op: InstructionOp) -> None:
    atomic = op.attribute("atomicType")
    adds = isinstance(atomic, AtomicTypeAttr) and atomic.data is AtomicType.ADD
    _copy(kernel, op, _tensor(kernel, given(op, "dst")), _tensor(kernel, given(op, "src")), adds=adds)


def _begin_transfer(kernel: Instructions, op: InstructionOp) -> None:
    _transfer(kernel, op)
    kernel.handles.values[op.results[0]] = kernel.emitter.constant(0)


def _nothing(kernel: Instructions, op: InstructionOp) -> None:
    for result in op.results:
        kernel.handles.values[result] = kernel.emitter.constant(0)


def _has_ended(kernel: Instructions, op: InstructionOp) -> None:
    kernel.handles.values[op.results[0]] = kernel.emitter.constant(1, i1)


def _notify(kernel: Instructions, op: InstructionOp) -> None:
    signal, value = _tensor(kernel, given(op, "signal")), kernel.handles.value(given(op, "value"))
    if word_of(op, "notifyOp", "set") == "set":
        kernel.emitter.apply("fill", signal, [value])
    else:
        kernel.emitter.apply("add", signal, [signal, value])


def _signals(kernel: Instructions, op: InstructionOp) -> list[View]:
    """Return the signals of an operation, one by one."""
    view = _tensor(kernel, given(op, "signal"))
    extents = known(view.extents)
    if extents is None:
        raise refusal(op, "compares signals whose number is known only when it runs; give their shape")
    found = [view]
    for place, extent in enumerate(extents):
        found = [
            kernel.emitter.part(each, [at if axis == place else 0 for axis in range(len(extents))],
                                (*(1 if axis <= place else n for axis, n in enumerate(extents)),))
            for each in found
            for at in range(extent)
        ]  # fmt: skip
        if len(found) > MAX_SIGNALS:
            raise refusal(op, f"compares more than {MAX_SIGNALS} signals; wait for them in a loop")
    return [replace(each, extents=(1,), strides=(1,)) for each in found]


def _wait(kernel: Instructions, op: InstructionOp) -> None:
    """Wait for each signal after the other."""
    wanted = kernel.handles.value(given(op, "cmpValue"))
    for signal in _signals(kernel, op):
        rest_until(kernel.emitter, signal, wanted, _PREDICATES[word_of(op, "cmp", "ge")])


def _test(kernel: Instructions, op: InstructionOp) -> None:
    """Compare each signal; in a loop, the other cores go on before it is asked again."""
    emitter, wanted = kernel.emitter, kernel.handles.value(given(op, "cmpValue"))
    values = [emitter.make(flow.TileGetOp(emitter.tile(signal), i32)) for signal in _signals(kernel, op)]
    holds = [emitter.make(arith.CmpiOp(value, wanted, _PREDICATES[word_of(op, "cmp", "ge")])) for value in values]
    found = holds[0]
    for each in holds[1:]:
        found = emitter.make(arith.AndIOp(found, each))
    if _is_repeated(op):
        first, least = (emitter.make(arith.ExtSIOp(number, i64)) for number in (values[0], wanted))
        emitter.append(flow.RestOp(found, first, least))
    kernel.handles.values[op.results[0]] = found


def _is_repeated(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, scf.WhileOp | scf.ForOp):
        parent = parent.parent_op()
    return parent is not None


def _members(kernel: Instructions, op: InstructionOp) -> list[View]:
    return [_tensor(kernel, member) for member in op.operand_groups["group"]]


def _broadcast(kernel: Instructions, op: InstructionOp) -> None:
    source = _tensor(kernel, given(op, "src"))
    for member in _members(kernel, op):
        _copy(kernel, op, member, source)


def _parts(kernel: Instructions, op: InstructionOp, whole: View, members: list[View]) -> list[View]:
    """Return the parts of a tensor that belong to members: behind each other in rows, or in one row."""
    axis = max(0, len(whole.extents) - 2)
    parts: list[View] = []
    for place, member in enumerate(members):
        if len(member.extents) != len(whole.extents):
            raise refusal(op, f"joins {len(member.extents)} dimensions to {len(whole.extents)}; give as many to both")
        length = member.extents[axis]
        first = kernel.emitter.multiply(length, place)
        if all(isinstance(number, int) for number in (length, first, whole.extents[axis])) and (
            first + length > whole.extents[axis]  # pyright: ignore[reportOperatorIssue]
        ):
            raise refusal(
                op, f"has {len(members)} parts of {length} in a tensor that has {whole.extents[axis]}; make it larger"
            )
        kernel.emitter.within(first, length, whole.extents[axis], f"the parts of {op.name} are in its tensor")
        offsets = [first if at == axis else 0 for at in range(len(whole.extents))]
        parts.append(kernel.emitter.part(whole, offsets, member.extents))
    return parts


def _gather(kernel: Instructions, op: InstructionOp) -> None:
    members = _members(kernel, op)
    for part, member in zip(_parts(kernel, op, _tensor(kernel, given(op, "dst")), members), members, strict=True):
        _copy(kernel, op, part, member)


def _scatter(kernel: Instructions, op: InstructionOp) -> None:
    members = _members(kernel, op)
    for part, member in zip(_parts(kernel, op, _tensor(kernel, given(op, "src")), members), members, strict=True):
        _copy(kernel, op, member, part)


def _reduce(kernel: Instructions, op: InstructionOp) -> None:
    """Combine the tensors of a group in its order; the result may be one of them, so it is written last."""
    target, members = _tensor(kernel, given(op, "dst")), _members(kernel, op)
    extents = known(target.extents)
    if extents is None:
        raise refusal(op, "combines tensors whose shape is known only when it runs; give their shape")
    total = Scratch(kernel.tiles).view(target.element, extents, extents)
    _copy(kernel, op, total, members[0])
    for member in members[1:]:
        kernel.emitter.apply(_COMBINED[word_of(op, "reduceOp", "sum")], total, [total, member])
    kernel.emitter.apply("copy", target, [total])


LOWERINGS: dict[str, Callable[[Instructions, InstructionOp], None]] = {
    "comm.tput": _transfer,
    "comm.tget": _transfer,
    "comm.tnotify": _notify,
    "comm.twait": _wait,
    "comm.ttest": _test,
    "comm.tbroadcast": _broadcast,
    "comm.tgather": _gather,
    "comm.tscatter": _scatter,
    "comm.treduce": _reduce,
    "comm.build_async_session": _nothing,
    "comm.tput_async": _begin_transfer,
    "comm.tget_async": _begin_transfer,
    "comm.wait_async_event": _has_ended,
    "comm.test_async_event": _has_ended,
}
"""The function of each instruction, by its name without `pto.`."""
