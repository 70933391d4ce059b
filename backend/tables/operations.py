"""Operations on streams, data structure registers, tasks, and what a program says and asks of itself."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.records import record
from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...operations.dsd_table import DsdOperation
from ...runtime.tables.format import (
    DROPS_DATA,
    HAS_FIFO_RESULT,
    LOAD_ASYNC,
    LOAD_ON_CONTROL,
    LOAD_SAVES_ADDRESS,
    NO_MICROTHREAD,
    ON_CONTROL,
)
from ...runtime.tables.instructions import BITS, DSD_ROWS, FORMATS, KIND, PRIORITIES, REGISTER_FILES
from ...targets.wavelets import TIMESTAMP_WORDS
from .body import Body
from .code import NOTHING, Late, Place
from .scalars import reinterpret
from .values import Known, reinterpreted

_FUNCTION = {name: number for number, name in enumerate(DSD_ROWS)}


@record
class _Settings:
    """Settings of an operation: its microthread, and the tasks that its end, or a control wavelet, starts."""

    microthread: int = NO_MICROTHREAD
    tasks: tuple[str | None, ...] = (None,) * 4
    on_control: bool = False
    priority: int = 0


def _settings(body: Body, op: flow.AsynchronousOp) -> _Settings:
    """Return how an operation runs."""
    if op.microthread is None:
        return _Settings()
    early = None if op.on_control is None else op.on_control.data
    tasks: list[str | None] = []
    for symbol in (
        op.activate, op.unblock, op.control_task if early == "activate" else None,
        op.control_task if early == "unblock" else None,
    ):  # fmt: skip
        name = None if symbol is None else symbol.root_reference.data
        if name is not None:
            body.depend("task", name)
            body.units.target_task(op, name)
        tasks.append(name)
    priority = PRIORITIES.index(None if op.priority is None else op.priority.data)
    return _Settings(op.microthread.value.data, tuple(tasks), early is not None, priority)


# Operations


def apply(body: Body, op: flow.ApplyOp) -> None:
    """Append an operation of the table of DSD operations."""
    table = op.entry
    settings = _settings(body, op)
    destination = body.use(op.destination)
    sources = [
        body.use(value) if isinstance(value.type, flow.StreamType) else _scalar(body, value, kind)
        for value, kind in zip(op.sources, table.sources, strict=True)
    ]
    result = NOTHING
    if op.result is not None:
        # Only a FIFO can end an operation without its having done its work.
        if any(isinstance(value.owner, flow.FifoStreamOp | flow.RegisterOp) for value in op.operands):
            result = body.define(op.result)
        else:
            body.define_known(op.result, True)
    body.observe()
    has_result = result != NOTHING
    slot = Late("operation", _row(body, op, table, settings, destination, sources, has_result=has_result))
    # An operation may look at its operands while it waits.
    body.control("apply", slot, result, 0, [result] if has_result else (), [destination, *sources], early=True)


def _scalar(body: Body, value: SSAValue, kind: str) -> int:
    """Return the register of a scalar operand as the operation reads it: the bits of any type of the right width."""
    own = str(kind_of(value.type))
    if own == kind or BITS[own] != BITS[kind]:
        return body.use(value)
    found = body.values[value]
    if isinstance(found, Known):
        return body.number(reinterpreted(found.bits, own, kind))
    return reinterpret(body, found, own, kind)


def _row(
    body: Body,
    op: flow.ApplyOp,
    table: DsdOperation,
    settings: _Settings,
    destination: int,
    sources: list[int],
    *,
    has_result: bool,
) -> Any:
    is_stream = [isinstance(value.type, flow.StreamType) for value in op.sources]
    flags = (ON_CONTROL if settings.on_control else 0) | (HAS_FIFO_RESULT if has_result else 0)
    flags |= DROPS_DATA if op.drops_data is not None else 0
    format = FORMATS.index(op.format)

    def key(register: Place, descriptor: Place) -> Any:
        places = [
            descriptor(source) if stream else register(source)
            for source, stream in zip(sources, is_stream, strict=True)
        ]
        places += [register(NOTHING)] * (3 - len(places))
        return (
            settings.tasks, _FUNCTION[table.name], descriptor(destination), tuple(places), settings.microthread, format,
            flags, settings.priority,
        )  # fmt: skip

    return key


def set_fifo_length(body: Body, op: flow.SetFifoLengthOp) -> None:
    """Append a change of the length of one side of a FIFO."""
    name = op.fifo.root_reference.data
    body.depend("fifo", name)
    body.units.fifo(op, name)
    length = body.use(op.length)
    body.charge("descriptor")
    body.control("set_fifo_length", length, ("fifo", name), 0 if op.side.data == "read" else 1, uses=[length])


# Data structure registers


def load_register(body: Body, op: flow.LoadRegisterOp) -> None:
    """Append a load of a data structure register."""
    stream = body.use(op.stream)
    settings = _settings(body, op) if op.is_async else _Settings()
    flags = LOAD_SAVES_ADDRESS if op.save_address is not None else 0
    flags |= (LOAD_ASYNC if op.is_async else 0) | (LOAD_ON_CONTROL if settings.on_control else 0)
    key = (
        settings.tasks, settings.microthread, REGISTER_FILES.index(op.file.data), op.number.value.data, flags,
        settings.priority,
    )  # fmt: skip
    body.charge("register_load")
    body.control("load_register", stream, 0, ("register_load", key), uses=[stream])


def register(body: Body, op: flow.RegisterOp) -> None:
    """Append a read of a data structure register."""
    row = body.sections.intern(
        "register_reads", REGISTER_FILES.index(op.file.data), op.number.value.data, int(op.fifo is not None)
    )
    result = body.define(op.result)
    body.control("read_register", result, 0, ("register_read", row), [result])


# Tasks


def activate(body: Body, op: flow.ActivateOp) -> None:
    """Append an activation of a local task."""
    name = op.symbol.root_reference.data
    body.depend("task", name)
    row = body.units.target_task(op, name)
    if row is None or not body.units.is_local(row):
        raise LoomError(
            f"{op.symbol} is activated but is not a local task; only local tasks can be activated", location_of(op)
        )
    _change_task(body, op, "activate", name)


def block_task(body: Body, op: flow.BlockOp) -> None:
    """Append a block of a task."""
    _change_task(body, op, "block", op.symbol.root_reference.data)


def unblock(body: Body, op: flow.UnblockOp) -> None:
    """Append an unblocking of a task."""
    _change_task(body, op, "unblock", op.symbol.root_reference.data)


def block_microthread(body: Body, op: flow.BlockMicrothreadOp) -> None:
    """Append a block of a microthread."""
    _change_microthread(body, op, "block_microthread")


def unblock_microthread(body: Body, op: flow.UnblockMicrothreadOp) -> None:
    """Append an unblocking of a microthread."""
    _change_microthread(body, op, "unblock_microthread")


def _change_microthread(body: Body, op: flow.BlockMicrothreadOp | flow.UnblockMicrothreadOp, instruction: str) -> None:
    number = body.use(op.number)
    body.charge("task_control")
    body.observe()
    body.control(instruction, number, uses=[number])


def _change_task(body: Body, op: Operation, instruction: str, name: str) -> None:
    body.depend("task", name)
    row = body.units.target_task(op, name)
    body.charge("task_control")
    if row is not None:
        body.observe()
        body.control(instruction, ("task", name))


# What a program says and asks of itself


def check(body: Body, op: flow.AssertOp) -> None:
    """Append an assertion."""
    condition = body.use(op.condition)
    shown = NOTHING if op.value is None else body.use(op.value)
    row = body.sections.intern("messages", body.sections.string(op.message.data), int(op.value is not None))
    body.charge("branch_not_taken")
    body.control("assert", condition, shown, ("message", row), uses=[condition, shown])


def print_(body: Body, op: flow.PrintOp) -> None:
    """Append an output to the log."""
    sections = body.sections
    kinds = [KIND[str(kind_of(value.type))] for value in op.arguments]
    row = sections.intern("prints", sections.string(op.format.data), sections.run("kinds", kinds), len(kinds))
    first, arguments = body.together([body.use(value) for value in op.arguments])
    body.observe()
    body.control("print", ("print", row), first, uses=arguments)


def directive(body: Body, op: flow.DirectiveOp) -> None:
    """Append a call of a directive of a line of PEs."""
    root, count = body.use(op.root), body.use(op.count)
    row = body.sections.intern("directives", body.sections.string(op.directive.data), 0 if op.axis.data == "x" else 1)
    body.control("directive", ("directive", row), root, count, uses=[root, count])


def set_clock(body: Body, op: flow.SetClockOp) -> None:
    """Append a start of the clock, which costs nothing."""
    body.observe()
    body.control("set_clock", c=int(op.action.data == "reset"))


def timestamp(body: Body, op: flow.TimestampOp) -> None:
    """Append a read of the clock."""
    body.charge("timestamp")
    body.observe()
    words = body.group(TIMESTAMP_WORDS)
    body.control("timestamp", words[0], defs=words)
    for result, word in zip(op.results, words, strict=True):
        body.values[result] = word


HANDLERS: dict[type[Operation], Any] = {
    flow.ApplyOp: apply,
    flow.SetFifoLengthOp: set_fifo_length,
    flow.LoadRegisterOp: load_register,
    flow.RegisterOp: register,
    flow.ActivateOp: activate,
    flow.BlockOp: block_task,
    flow.UnblockOp: unblock,
    flow.BlockMicrothreadOp: block_microthread,
    flow.UnblockMicrothreadOp: unblock_microthread,
    flow.AssertOp: check,
    flow.PrintOp: print_,
    flow.DirectiveOp: directive,
    flow.SetClockOp: set_clock,
    flow.TimestampOp: timestamp,
}
