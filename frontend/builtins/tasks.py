"""Builtins about tasks and queues."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Sequence
from typing import NoReturn

from xdsl.ir import Operation

from ...csl import syntax
from ...csl.errors import CslError
from ...csl.source import Diagnostic, Note
from ...dialects import wse
from ...targets.wavelets import WORD_BITS, WORD_MASK
from .. import control, emit, recovery, types
from ..evaluator import Evaluator
from ..frames import Frame
from ..pe import TASK_KINDS, Binding, PeProgram, Rotation, color_symbol, program_place
from ..registry import GUARD, Table, Where
from ..struct_fields import Fields
from ..types import Type
from ..values import VOID, Callable, Value, is_ssa

TABLE = Table("Tasks and queues")


@TABLE.row(
    "@bind_local_task(task, id)", "@bind_data_task(task, id)", "@bind_control_task(task, id)", where=Where.COMPTIME
)
def _bind_task(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    kind = wse.TaskKind(node.name.removeprefix("bind_").removesuffix("_task"))
    bind_task(ev, node, kind, *node.arguments)
    return VOID


def bind_task(
    ev: Evaluator,
    node: syntax.Builtin,
    kind: wse.TaskKind,
    task_node: syntax.Expression,
    id_node: syntax.Expression,
) -> None:
    """Bind a task to an id of its kind."""
    pe = ev.program
    arguments = task_node, id_node
    task, id = ev.expr(arguments[0]), ev.expr(arguments[1])
    if not isinstance(task.data, Callable) or not task.data.is_task:
        ev.fail(arguments[0], f"@{node.name} binds a task, not a value of type '{task.type}'")
    if _kind(id.type) is not kind or id.type not in TASK_KINDS:
        ev.fail(arguments[1], f"@{node.name} takes a '{kind.value}_task_id', not '{id.type}'")
    number = ev.data(id, arguments[1], "the id of a task")
    count = len(task.data.node.parameters)
    if isinstance(task.type, types.Function) and task.type.result is not types.VOID:
        ev.fail(arguments[0], f"task '{task.data.name}' returns a '{task.type.result}'; a task returns 'void'")
    if kind is wse.TaskKind.LOCAL and count:
        ev.fail(
            arguments[0], f"local task '{task.data.name}' has parameters; only data and control tasks are given data"
        )
    if kind is wse.TaskKind.DATA and count == 0:
        ev.fail(arguments[0], f"data task '{task.data.name}' has no parameter; it is given the wavelet's data")
    previous = pe.bindings.get((kind, number))
    dispatches = previous is not None and (ev.frame.module.is_library or previous.task.module.is_library)
    if dispatches and kind is wse.TaskKind.LOCAL and number == ev.session.target.teardown_task:
        own = previous if ev.frame.module.is_library else None
        source, at = (ev.source, node) if own is None else (own.source, own.node)
        message = (
            f"local task id {number} starts the handlers that @set_teardown_handler and @set_empty_queue_handler set, "
            "which this program has; bind the task to another id, or leave the handlers out"
        )
        raise CslError([Diagnostic(source, at.start, at.end, message)])
    if previous is not None:
        ev.fail(
            node,
            f"{kind.value} task id {number} is bound twice, to '{previous.task.name}' and '{task.data.name}'; "
            "choose another id",
            ev.note(previous.node, "first bound here", previous.source),
        )
    target = ev.session.target
    if kind is wse.TaskKind.LOCAL and number in target.reserved_local_task_ids and number != target.teardown_task:
        name = ev.session.target.name
        ev.fail(node, f"task '{task.data.name}' has id {number}, which {name} reserves for the system; choose another")
    symbol = pe.unique(task.data.module.symbol(task.data.name))
    source, place, _ = program_place(ev, node)
    pe.bindings[kind, number] = Binding(task.data, kind, number, place, source, symbol, order=len(pe.bindings))


@TABLE.row("@bind_rotating_tasks(task, other, id, config)", where=Where.COMPTIME, since="2.10", on_wse2=GUARD)
def _bind_rotating_tasks(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    pe = ev.program
    main, other, id, config = node.arguments
    alternate = ev.expr(other)
    if not isinstance(alternate.data, Callable) or not alternate.data.is_task:
        ev.fail(other, f"@bind_rotating_tasks binds two tasks, not a value of type '{alternate.type}'")
    fields = Fields(ev, ev.comptime_expr(config), config, "the configuration of rotating tasks")
    limit, first = fields.number("limit"), fields.number("init") or 0
    fields.end()
    if limit is None:
        ev.fail(config, "the configuration of rotating tasks needs a field '.limit'")
    if not 0 <= first <= limit < 1 << WORD_BITS:
        ev.fail(config, f"'.init' is {first} and '.limit' {limit}; use 0 to '.limit', and up to {WORD_MASK}")
    number = int(ev.data(ev.expr(id), id, "the id of a task"))
    if len([each for each in pe.bindings.values() if each.rotation is not None]) == MAX_ROTATIONS:
        ev.fail(node, f"@bind_rotating_tasks is called more than {MAX_ROTATIONS} times; a PE has as many pairs")
    bind_task(ev, node, wse.TaskKind.DATA, main, id)
    counter = pe.allocate(ev, "rotation", types.U16, Value(types.U16, first), ev.source, node)
    pe.bindings[wse.TaskKind.DATA, number].rotation = Rotation(alternate.data, limit, counter)
    return VOID


MAX_ROTATIONS = 2
"""Pairs of rotating tasks of a PE (Builtins for WSE-3)."""


def bind_alternates(ev: Evaluator) -> None:
    """Bind the second task of each rotating pair to entry 0 of the control task table of its queue."""
    assert ev.pe is not None
    pe = ev.pe
    for binding in [each for each in pe.bindings.values() if each.rotation is not None]:
        with recovery.checked(ev.session):
            _bind_alternate(pe, binding)


def _bind_alternate(pe: PeProgram, binding: Binding) -> None:
    assert binding.rotation is not None
    task = binding.rotation.alternate
    number = pe.control_tables.get(binding.id, 0) * pe.control_stride
    other = pe.bindings.get((wse.TaskKind.CONTROL, number))
    if other is not None:
        message = (
            f"control tasks '{other.task.name}' and '{task.name}' both have id {number}, as the second of rotating "
            "tasks has the first entry of its queue's table; give the queue another '.ctrl_table_id'"
        )
        raise CslError([Diagnostic(binding.source, binding.node.start, binding.node.end, message)])
    symbol = pe.unique(task.module.symbol(task.name))
    pe.bindings[wse.TaskKind.CONTROL, number] = Binding(
        task, wse.TaskKind.CONTROL, number, binding.node, binding.source, symbol, order=len(pe.bindings)
    )


def _kind(type: Type) -> wse.TaskKind | None:
    """Return the kind of the tasks an identifier speaks of."""
    if type in (types.COLOR, types.INPUT_QUEUE):
        return wse.TaskKind.DATA
    return TASK_KINDS.get(type) if isinstance(type, types.Identifier) else None


def _states(ev: Evaluator, value: Value, node: syntax.Expression) -> tuple[wse.TaskKind, int] | None:
    """Return the kind and number of a task an id stands for; None where it is known at run time only."""
    kind = _kind(value.type)
    if value.type is types.UT_ID:
        ev.fail(node, "this must be a task, or the id of one, not a 'ut_id'; @block and @unblock take a microthread")
    if kind is None:
        advice = "; make an id of it, as with @get_local_task_id" if types.is_integer(value.type) else ""
        ev.fail(node, f"this must be a task id, a color or an input queue, not '{value.type}'{advice}")
    if value.type is (types.INPUT_QUEUE if ev.session.target.data_tasks_by_color else types.COLOR):
        name, other = ("WSE-2", "color") if value.type is types.INPUT_QUEUE else ("WSE-3", "input queue")
        ev.fail(node, f"tasks are blocked and unblocked by their {other} on {name}, not by '{value.type}'")
    if is_ssa(value.data):
        return None
    return kind, ev.data(value, node)


def _symbol(ev: Evaluator, value: Value, kind: wse.TaskKind, number: int, node: syntax.Node) -> str:
    """Return the symbol of a task in the IR; for a color or queue without a data task, its own."""
    assert ev.pe is not None
    if kind is wse.TaskKind.DATA and not ev.pe.is_bound(kind, number):
        by_color = ev.session.target.data_tasks_by_color
        if value.type is types.COLOR or (value.type is types.DATA_TASK_ID and by_color):
            ev.pe.queue(ev, False, None, number, node)
            return color_symbol(number)
        return ev.pe.queue(ev, False, number, None, node)
    return ev.pe.task_symbol(ev, kind, number, node)


def completion_symbol(
    ev: Evaluator, value: Value, node: syntax.Node, what: str = "", *, is_activated: bool = False
) -> str:
    """Return the symbol of the task or queue that the end of an operation activates or unblocks."""
    assert ev.pe is not None
    if isinstance(value.data, Callable):
        symbol = ev.pe.symbol_of(value.data)
        if symbol is not None:
            return symbol
        ev.fail_for_lack(node, f"task '{value.data.name}' is not bound to an id; bind it in a comptime block")
    if is_activated and value.type is not types.LOCAL_TASK_ID:
        ev.fail(node, f"{what} takes a task, or the 'local_task_id' of one, not '{value.type}' (DSD-190, DSD-203)")
    state = _states(ev, value, node)  # pyright: ignore[reportArgumentType]
    if state is None:
        ev.fail(node, "the task must be known at compile time here")
    return _symbol(ev, value, *state, node)


_AT_RUN_TIME: dict[str, Function[[str], Operation]] = {
    "activate": wse.ActivateOp,
    "block": wse.BlockOp,
    "unblock": wse.UnblockOp,
}


@TABLE.row("@activate(id)", "@block(id)", "@unblock(id)", where=Where.PE)
def _change(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    pe = ev.program
    (argument,) = node.arguments
    value = ev.expr(argument)
    make = _AT_RUN_TIME[node.name]
    if isinstance(value.data, Callable):
        symbol = completion_symbol(ev, value, argument)
        if ev.builder is None:
            binding = next(b for b in pe.bindings.values() if b.symbol == symbol)
            _set_initial_state(ev, pe, node, (binding.kind, binding.id))
            return VOID
        ev.code.at(ev.source, node.start)
        ev.code(make(symbol))
        return VOID
    if node.name != "activate" and value.type is types.UT_ID:
        _change_microthread(ev, pe, node, value, argument)
        return VOID
    if node.name == "activate" and value.type is not types.LOCAL_TASK_ID:
        ev.fail(argument, f"@activate takes a 'local_task_id', not '{value.type}'; data tasks are started by wavelets")
    state = _states(ev, value, argument)
    if ev.builder is None:
        if state is None:
            ev.fail(argument, "the id must be known at compile time")
        _set_initial_state(ev, pe, node, state)
        if node.name == "unblock" and state[0] is wse.TaskKind.DATA:
            pe.unblocked_queues[state[1]] = (ev.frame.module, argument)
        return VOID
    if state is not None:
        symbol = _symbol(ev, value, *state, argument)
        ev.code.at(ev.source, node.start)
        ev.code(make(symbol))
        return VOID
    with_task(ev, value, lambda binding: ev.code(make(binding.symbol)), node)
    return VOID


def _change_microthread(
    ev: Evaluator, pe: PeProgram, node: syntax.Builtin, id: Value, argument: syntax.Expression
) -> None:
    """Block or unblock a microthread, from the start on or at run time (CSL, Microthread IDs)."""
    if ev.session.target.microthread_of_queue:
        ev.fail(argument, f"@{node.name} of a 'ut_id' needs WSE-3; on WSE-2 it takes a task id or a color")
    if not is_ssa(id.data):
        pe.use(ev, "microthread", ev.data(id, argument, "the id of a microthread"), argument)
    if ev.builder is not None:
        number = id.data if is_ssa(id.data) else ev.code.constant(types.U16, id.data)
        ev.code.at(ev.source, node.start)
        ev.code((wse.BlockMicrothreadOp if node.name == "block" else wse.UnblockMicrothreadOp)(number))
        return
    if is_ssa(id.data):
        ev.fail(argument, "the id of the microthread must be known at compile time here")
    if node.name == "block":
        pe.blocked_microthreads[id.data] = (ev.frame.module, node)
    else:
        pe.blocked_microthreads.pop(id.data, None)


def with_task(ev: Evaluator, id: Value, emit_for: Function[[Binding], object], node: syntax.Node) -> None:
    """Emit what is done with the task of an id known at run time only; that no task has it ends the run."""
    kind = _kind(id.type)

    def among(bindings: Sequence[Binding]) -> Value:
        if bindings:
            first, *others = bindings
            same = emit.binary(ev.code, "==", types.U16, id.data, ev.code.constant(types.U16, first.id))
            control.branch(ev, same, lambda: for_one(first), lambda: among(others), node)
        elif kind is wse.TaskKind.LOCAL:
            message = "no task is bound to local task id {u}; bind one with @bind_local_task"
            ev.code.at(ev.source, node.start)
            ev.code(wse.AssertOp(ev.code.constant(types.BOOL, False), message, id.data))
        return VOID

    def for_one(binding: Binding) -> Value:
        emit_for(binding)
        return VOID

    among([binding for (k, _), binding in ev.program.bindings.items() if k is kind])


def _set_initial_state(ev: Evaluator, pe: PeProgram, node: syntax.Builtin, state: tuple[wse.TaskKind, int]) -> None:
    """Record the state of a task when the program starts."""
    if node.name == "activate":
        pe.active[state] = (ev.source, node)
    elif node.name == "block":
        pe.blocked[state] = (ev.source, node)
    else:
        pe.blocked.pop(state, None)


@TABLE.row("@initialize_queue(queue[, config])", where=Where.COMPTIME, rules="AMB-34")
def _initialize_queue(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    pe = ev.program
    arguments = node.arguments
    queue = ev.expr(arguments[0])
    if queue.type not in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        ev.fail(arguments[0], f"@initialize_queue takes an 'input_queue' or 'output_queue', not '{queue.type}'")
    output = queue.type is types.OUTPUT_QUEUE
    number = ev.data(queue, arguments[0], "a queue")
    mine, what = ev.frame.module.library, f"{'output' if output else 'input'} queue {number}"
    if (output, number) in pe.initialized:
        users = {pe.initialized[output, number][0], mine}
        _refuse_second_use(ev, node, what, sorted(user for user in users if user), len(users) == 1)
    source, place, _ = program_place(ev, node)
    pe.initialized[output, number] = mine, source, place
    pe.use(ev, "output queue" if output else "input queue", number, node)
    keeps_color = ev.session.target.queues_keep_color
    if not keeps_color:
        # There the DSD that uses a queue may name its color.
        if len(arguments) == 1 or _is_empty(ev.expr(arguments[1]).type):
            return VOID
        if output:
            ev.fail(node, "@initialize_queue of an output queue takes no configuration on WSE-2; leave it out or empty")
    if len(arguments) == 1:
        ev.fail(node, "@initialize_queue needs a configuration with '.color'")
    fields = Fields(ev, ev.expr(arguments[1]), arguments[1], "the configuration of a queue")
    color = fields.identifier("color", types.COLOR)
    priority, table = fields.choice("priority"), fields.number("ctrl_table_id")
    fields.end()
    if color is None:
        ev.fail(arguments[1], "the configuration of a queue needs a field '.color'")
    if priority not in (None, "high", "medium", "low"):
        ev.fail(arguments[1], f"'.priority' is one of high, medium and low, not '{priority}'")
    if priority is not None and keeps_color:
        ev.fail(arguments[1], "'.priority' of a queue exists on WSE-2 only; give it to a fabric DSD")
    if table is not None and not keeps_color:
        ev.fail(arguments[1], "'.ctrl_table_id' exists on WSE-3 only")
    if table is not None and output:
        ev.fail(arguments[1], "'.ctrl_table_id' is for input queues only")
    if table is not None:
        queues = ev.session.target.input_queues
        if not 0 <= table < queues:
            ev.fail(arguments[1], f"'.ctrl_table_id' is {table}; use 0 to {queues - 1}, one for each input queue")
        pe.control_tables[number] = table
    pe.use(ev, "color", color, arguments[1])
    pe.queue_colors[output, number] = color
    return VOID


def _refuse_second_use(ev: Evaluator, node: syntax.Node, what: str, libraries: list[str], is_same: bool) -> NoReturn:
    """Raise CslError for a queue that is initialized twice, if by libraries at the program's import of one."""
    if not libraries:
        ev.fail(node, f"{what} is initialized twice; leave one out")
    if is_same:
        message = f"two imports of {libraries[0]} use {what}; give each of them other queues"
    elif len(libraries) == 2:
        message = f"{libraries[0]} and {libraries[1]} both use {what}; give one of them other queues"
    else:
        message = f"{what} is used by {libraries[0]}, which initializes it; use another one, or give the library others"
    source, place, _ = program_place(ev, node)
    raise CslError([Diagnostic(source, place.start, place.end, message)])


def _is_empty(type: Type) -> bool:
    return type is types.VOID or (isinstance(type, types.Struct) and not type.types)


def check_ids(ev: Evaluator) -> None:
    """Raise CslError for ids without a task, and for two tasks with one id.

    Control tasks share one table with the others, unless @set_control_task_table parts them.
    """
    assert ev.pe is not None
    for state, (source, node) in (*ev.pe.active.items(), *ev.pe.blocked.items()):
        kind, number = state
        if kind is wse.TaskKind.LOCAL and state not in ev.pe.bindings:
            message = f"no task is bound to local task id {number}; bind one with @bind_local_task"
            error = CslError([Diagnostic(source, node.start, node.end, message)])
            with recovery.checked(ev.session):
                raise error if ev.mistakes is None else ev.mistakes.for_lack(error)
    if "control_task_table" in ev.pe.state:
        return
    for (kind, number), binding in ev.pe.bindings.items():
        other = ev.pe.bindings.get((wse.TaskKind.CONTROL, number))
        if kind is wse.TaskKind.CONTROL or other is None:
            continue
        first, last = (binding, other) if binding.order < other.order else (other, binding)
        names = f"{kind.value} task '{binding.task.name}' and control task '{other.task.name}'"
        advice = "" if ev.session.target.data_tasks_by_color else ", or call @set_control_task_table"
        message = f"{names} have the same id {number}; choose another{advice}"
        note = Note(first.source, first.node.start, first.node.end, "first bound here")
        with recovery.checked(ev.session):
            raise CslError([Diagnostic(last.source, last.node.start, last.node.end, message, [note])])


def task_arguments(ev: Evaluator, binding: Binding) -> list[Type]:
    """Return the types of a task's arguments."""
    result: list[Type] = []
    with ev.at_compile_time(), ev.framed(Frame(binding.task.module, comptime=True)):
        for parameter in binding.task.node.parameters:
            type = ev.type_of(parameter.type)
            packed = isinstance(type, types.Record) and type.layout == "packed"
            whole = isinstance(type, types.Int | types.Float | types.Enum) or packed
            if not whole or types.bit_width(type) not in (16, 32):
                ev.fail(parameter, f"a task is given numbers or packed structs of 16 or 32 bits, not '{type}'")
            result.append(type)
        bits = sum(types.bit_width(type) or 0 for type in result)
        if bits > 32:
            task = binding.task.node
            advice = "take fewer or narrower ones"
            ev.fail(
                task,
                f"the parameters of task '{task.name}' have {bits} bits; the payload of a wavelet has 32: {advice}",
            )
    return result


@TABLE.row("@set_control_task_table([config])", where=Where.COMPTIME, on_wse2=GUARD)
def _set_control_task_table(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    pe = ev.program
    if "control_task_table" in pe.state:
        before = pe.state["control_task_table"]
        ev.fail(node, "@set_control_task_table is called twice; once is enough", ev.note(before, "first here"))
    if arguments:
        fields = Fields(ev, ev.comptime_expr(arguments[0]), arguments[0], "the configuration of the control task table")
        instructions, stride = fields.number("instructions"), fields.number("stride")
        fields.end()
        if instructions not in (None, 2, 4, 8):
            ev.fail(arguments[0], f"'.instructions' is 2, 4 or 8, not {instructions}")
        if stride is not None and not 1 <= stride <= 7:
            ev.fail(arguments[0], f"'.stride' is 1 to 7, not {stride}")
        pe.control_stride = stride or pe.control_stride
    pe.state["control_task_table"] = node
    return VOID
