"""Calls: a function is evaluated where it is called, with what is known there."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Generator, Hashable
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Block, Region, SSAValue

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Note
from ..dialects import wse
from ..dialects.machine.code import CodeOperation
from . import comptime_known, control, emit, recovery, recursion, types
from .asking import is_shareable, key_of, question
from .blocks import fail_jump, never_ends, run_body
from .checking import check, unknown
from .emit import Builder, has_one_register, scalar
from .errors import Unchecked
from .evaluator import Evaluator
from .frames import Break, Continue, Frame, Member, Return, TailLoop, flag, is_instance
from .leaves import leaves, rebuild, zero
from .linkage import definition
from .modules import Module
from .pe import location
from .signatures import signature
from .specialization import OutlinedFunction, fixed, same
from .types import Type
from .values import VOID, Address, Callable, Local, Value, boolean, is_ssa, known


def call(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> Value:
    """Evaluate a call, at compile time or into the code being emitted.

    Raises CslError if the arguments do not fit.
    """
    declaration = function.node
    if len(arguments) != len(declaration.parameters):
        other = _with_arguments(function, len(arguments))
        if other is not None:
            return call(ev, other, arguments, node)
        count = len(declaration.parameters)
        ev.mistyped(
            node,
            f"'{function.name}' takes {count} argument{'' if count == 1 else 's'}, not {len(arguments)}",
            ev.note(declaration, "declared here", function.module.file.source),
        )
    if declaration.body is None:
        if ev.builder is None:
            ev.fail(node, f"'{function.name}' is 'extern', and so cannot be called at compile time (Storage Classes)")
        return call(ev, _defined(ev, function), arguments, node)
    if ev.is_checking and ev.builder is not None:
        return _checked(ev, function, arguments, node)
    if len(ev.frames) > ev.session.options.call_depth and ev.builder is None:
        fail_deep(ev, function, node)
    caller = ev.frame
    values = list(zip(arguments, node.arguments if isinstance(node, syntax.Call) else [node] * 99, strict=False))
    given: list[Value] = []
    frame = Frame(function.module, declaration)
    frame.called_at = (ev.source, node.start, node.end, function.name)
    if declaration.inlining == "inline" and function.module.is_library and isinstance(node, syntax.Call):
        frame.written = (caller, node.arguments)
    location = None if ev.builder is None else ev.code.location
    with ev.framed(frame):
        for parameter, (value, at) in zip(declaration.parameters, values, strict=True):
            if not isinstance(parameter.type, syntax.AnyType):
                type = ev.type_of(parameter.type)
                if value.type != type:
                    ev.frame = caller
                    try:
                        value = ev.coerce(value, type, at)
                    finally:
                        ev.frame = frame
            if parameter.is_comptime and is_ssa(value.data):
                ev.frame = caller
                ev.fail(at, f"parameter '{parameter.name}' of '{function.name}' must be known at compile time")
            if parameter.name is not None:
                local = Local(parameter.name, value.type, value, mutable=False)
                if ev.builder is not None:
                    _mark(ev, caller, local, parameter, declaration, at)
                ev.declare(local, parameter)
            given.append(value)
        arguments = given
        result_type = _result_type(ev, declaration)
        frame.result_type = result_type
        if ev.builder is not None and declaration.inlining != "inline":
            ev.frame = caller
            comptime_known.warn_of_call(ev, function, arguments, result_type, node)
            ev.frame = frame
        if ev.builder is not None and result_type is not None and types.is_comptime_only(result_type):
            with ev.at_compile_time():
                result = _known(ev, declaration)
        elif ev.builder is None:
            result = _result(ev, function, given)
        else:
            frame.arguments, frame.branches = given, ev.branches
            frame.is_tail = _is_tail(ev, caller, result_type, node)
            with _placed(ev, caller, function, node):
                result = _called(ev, function, frame, node)
    if ev.builder is not None:
        ev.code.location = location
    else:
        _check_generic(ev, function, given, node)
    return result


def _with_arguments(function: Callable, count: int) -> Callable | None:
    """Return the function of a library that is called by the name of another, with this number of arguments.

    `name` with `count` arguments is `name_count`: the libraries of two releases differ in their arguments.
    """
    module = function.module
    found = module.globals.get(f"{function.name}_{count}") if module.is_library else None
    if found is not None and isinstance(found.node, syntax.Function) and len(found.node.parameters) == count:
        return Callable(module, found.node)
    return None


@contextmanager
def _placed(ev: Evaluator, caller: Frame, function: Callable, node: syntax.Node) -> Generator[None]:
    """Give what is emitted inside the place of the program's call, if a library's function is called."""
    code = ev.code
    was_placed = code.is_placed
    is_library = function.module.is_library
    if is_library and not caller.module.is_library:
        code.is_placed = False
        code.at(caller.module.file.source, node.start)
    code.is_placed = is_library
    try:
        yield
    finally:
        code.is_placed = was_placed


def _mark(
    ev: Evaluator, caller: Frame, local: Local, parameter: syntax.Parameter, function: syntax.Function, at: syntax.Node
) -> None:
    """Mark a parameter whose value is not known at compile time by the manual's rules."""
    if parameter.is_comptime or function.inlining == "inline":
        frame, ev.frame = ev.frame, caller
        try:
            if parameter.is_comptime:
                comptime_known.warn(ev, at)
            else:
                local.unknown_because = comptime_known.reason(ev, at)
        finally:
            ev.frame = frame
    else:
        comptime_known.mark_parameter(local, parameter, function)


def is_generic(function: syntax.Function) -> bool:
    """Return True if a copy of a function is compiled for the types of its arguments."""
    return any(
        isinstance(parameter.type, syntax.AnyType)
        or (isinstance(parameter.type, syntax.Name) and parameter.type.name == "type")
        for parameter in function.parameters
    )


def _checked(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> Value:
    """Return the result of a call in code that is only checked: its arguments must fit, its body is not looked at."""
    if is_generic(function.node) or function.node.result is None:
        raise Unchecked
    type = signature(ev, function, node)
    if types.COMPTIME_STRUCT in type.parameters or types.is_comptime_only(type.result):
        raise Unchecked
    places = node.arguments if isinstance(node, syntax.Call) else [node] * len(arguments)
    for value, wanted, at in zip(arguments, type.parameters, places, strict=False):
        ev.coerce(value, wanted, at)
    return unknown(ev, type.result)


def _check_generic(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> None:
    """Check the whole body of a generic function called at compile time, once for the types it is given.

    The manual compiles a copy of it for them (Generics), of which the values given rule out nothing.
    """
    if ev.builder is not None or ev.is_checking or ev.pe is None or function.module.is_library:
        return
    if not is_generic(function.node):
        return
    _check_specialized(ev, function, arguments, node)


@question
def _check_specialized(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> None:
    pe = ev.program
    key = (id(function.module), id(function.node), tuple(map(_specialized, arguments)))
    if key in pe.checked:
        return
    pe.checked.add(key)
    note = Note(ev.source, node.start, node.end, f"the whole body of '{function.name}' is compiled for these types")
    check(ev, lambda: emit_checked(ev, function, arguments), note)


def _specialized(value: Value) -> str:
    """Return a type, or what is given for a comptime parameter of a type that exists at compile time only."""
    return str(value.data) if value.type is types.TYPE else str(value.type)


def emit_checked(ev: Evaluator, function: Callable, arguments: list[Value]) -> None:
    """Emit the body of a generic function, for its errors alone: of parameters of run-time types nothing is known."""
    declaration = function.node
    frame = Frame(function.module, declaration)
    with ev.framed(frame):
        for parameter, value in zip(declaration.parameters, arguments, strict=True):
            if not parameter.is_comptime and not types.is_comptime_only(value.type):
                value = unknown(ev, value.type)
            if parameter.name is not None:
                ev.declare(Local(parameter.name, value.type, value, mutable=False), parameter)
        frame.result_type = _result_type(ev, declaration)
        if frame.result_type is not None and types.is_comptime_only(frame.result_type):
            raise Unchecked
        _emitted(ev, frame, declaration)


def fail_deep(ev: Evaluator, function: Callable, node: syntax.Node) -> NoReturn:
    """Raise CslError for calls that are nested too deeply."""
    deepest = ev.session.options.call_depth
    question = f"does '{function.name}' call itself forever? If not, allow more with --comptime-func-depth-limit=N"
    ev.fail(node, f"calls are nested more than {deepest} deep; {question}")


def _is_tail(ev: Evaluator, caller: Frame, result: Type | None, node: syntax.Node) -> bool:
    """Return True if nothing is done after a call in its function, which returns its result, unchanged."""
    if caller.function is None or id(node) not in ev.session.analyses.tail_calls(caller.function):
        return False
    wanted = caller.result_type
    return wanted in (None, types.VOID) or wanted == result


def _called(ev: Evaluator, function: Callable, frame: Frame, node: syntax.Node) -> Value:
    """Emit a call, whose frame is the innermost: as a jump, in place, or of an outlined function."""
    arguments, caller = frame.arguments, ev.frames[-2]
    result = frame.result_type or types.VOID
    around = list(recursion.in_place(ev))
    tail = _tail_target(ev, function, frame, around)
    if isinstance(tail, Value):
        return tail
    if tail is not None:
        raise recursion.Recursion(tail, is_tail=True, differs=_differ(tail, arguments))
    found = recursion.outlined(ev, function, arguments)
    symbol = None
    if found is None:
        target = _returns_to(ev, function, frame, around, node)
        if target is not None:
            raise recursion.Recursion(target, is_tail=False)
        symbol = _shared(ev, function, arguments)
        if symbol is None:
            return _body(ev, function, frame, lambda: _emitted(ev, frame, function.node), node)
    ev.frame = caller
    try:
        if found is not None:
            return _call_outlined(ev, found, arguments, result, node)
        assert symbol is not None
        return _call_shared(ev, symbol, arguments, result, node)
    finally:
        ev.frame = frame


def _tail_target(ev: Evaluator, function: Callable, frame: Frame, around: list[Frame]) -> Value | Frame | None:
    """Follow tail calls back: to the loop that a call goes on with, or to a frame whose code is to become one.

    A loop is asked for its next iteration; the value of the call, which nothing uses, is returned then. The function of
    a frame inside a loop becomes one of the loop's: with a loop for each, inside each other, all would be emitted anew
    for each one around it.
    """
    if not frame.is_tail:
        return None
    target: Frame | None = None
    unrolled = 0
    is_outlined = recursion.outlined(ev, function, frame.arguments) is not None
    for position, each in enumerate(around):
        if each.loop is not None:
            member = each.loop.find(function, frame.arguments)
            is_inside = target is not None and not _differ(target, frame.arguments)
            if (member or is_inside) and not _points_to_locals(ev, frame.arguments, around[: position + 1]):
                if member is None:
                    assert target is not None
                    member = each.loop.add(function, target.arguments)
                each.loop.lead_through([other for other in around[:position] if not other.is_host])
                each.loop.jump(member, frame.arguments)
                return recursion.result_of(frame.result_type or types.VOID)
            if member is not None and target is None:
                return None
        if each.unrolls:
            return None
        if is_instance(each, function, frame.arguments):
            unrolled += 1
            if (
                target is not None
                or is_outlined
                or unrolled > recursion.MAX_UNROLLED_CALLS
                or not _differ(each, frame.arguments)
            ):
                target = each
        if not each.is_tail:
            break
    if target is not None and _points_to_locals(ev, frame.arguments, around[: around.index(target) + 1]):
        return None
    return target


def _differ(frame: Frame, arguments: list[Value]) -> bool:
    """Return True if a call differs from one around it in a number known at compile time."""
    return any(
        not isinstance(value.type, types.Pointer | types.Descriptor)
        and known(value)
        and not is_ssa(value.data)
        and not same(value, before)
        for value, before in zip(arguments, frame.arguments, strict=True)
    )


def _points_to_locals(ev: Evaluator, arguments: list[Value], ended: list[Frame]) -> bool:
    """Return True if an argument points to memory of a call that a tail call ends: a loop has it once only."""
    assert ev.pe is not None
    addresses = [leaf.data for value in arguments for leaf in leaves(value) if isinstance(leaf.data, Address)]
    if not addresses:
        return False
    symbols = ev.pe.local_symbols([_node_of(each) for each in ended])
    return any(address.buffer is not None and address.buffer.symbol in symbols for address in addresses)


def _returns_to(
    ev: Evaluator, function: Callable, frame: Frame, around: list[Frame], node: syntax.Node
) -> Frame | None:
    """Return the frame around a call that it leads back to otherwise than by tail calls; None if it may end.

    A call emitted in the code of another of its function must differ from it in an argument known at compile time.
    """
    outermost: Frame | None = None
    undecided = 0
    deep = len(ev.frames) > ev.session.options.call_depth
    for each in around:
        if not is_instance(each, function, frame.arguments):
            continue
        if not _differ(each, frame.arguments):
            return each
        outermost = each
        undecided += each.branches < ev.branches
    if outermost is not None and (deep or undecided > recursion.MAX_UNROLLED_CALLS):
        return outermost
    if deep:
        fail_deep(ev, function, node)
    return None


def _body(ev: Evaluator, function: Callable, frame: Frame, emit: Emit, node: syntax.Node) -> Value:
    """Emit the body of a call, whose frame is the innermost; as a loop if it calls itself in tail position.

    If it calls itself elsewhere, an outlined function is called.
    """
    before = recursion.Checkpoint(ev)
    try:
        return emit()
    except recursion.Recursion as problem:
        if problem.target is not frame:
            raise
        found = problem
    before.restore()
    if not found.is_tail:
        return _stand_and_call(ev, function, frame, node)
    try:
        with recovery.on_trial(ev) if found.differs else nullcontext():
            return _looped(ev, function, frame, before, node)
    except CslError:
        if not found.differs:
            raise
        # What a loop does not know at compile time may be known where the calls are emitted one in the other.
        before.restore()
        frame.is_host, frame.unrolls = False, True
        frame.scopes, frame.targets = frame.scopes[:1], []
        try:
            return emit()
        except recursion.Recursion as problem:
            if problem.target is not frame:
                raise
        before.restore()
        raise


def _stand_and_call(ev: Evaluator, function: Callable, frame: Frame, node: syntax.Node) -> Value:
    """Emit a call of a function that calls itself, which is outlined from now on."""
    found = recursion.outlined(ev, function, frame.arguments)
    if found is None:
        found = _emit_outlined(ev, function, frame.arguments, node)
    return _call_outlined(ev, found, frame.arguments, frame.result_type or types.VOID, node)


def _looped(ev: Evaluator, function: Callable, frame: Frame, before: recursion.Checkpoint, node: syntax.Node) -> Value:
    """Emit a call as a loop of which it, and each tail call that leads back to it, is an iteration."""
    loop = TailLoop()
    loop.add(function, frame.arguments, is_first=True)
    frame.is_host = True
    if isinstance(frame.result_type, types.Descriptor):
        ev.fail(function.node, f"'{function.name}' calls itself and returns a DSD; return the DSD's properties instead")
    is_complete = False
    while True:
        try:
            with nullcontext() if is_complete else recovery.on_trial(ev):
                result = _emit_loop(ev, loop, frame, node)
            if not loop.has_grown:
                return result
        except CslError:
            # What has not been known to change may have led to it. Otherwise all errors are looked for, where they are.
            if not loop.has_grown:
                if is_complete or ev.mistakes is None:
                    raise
                is_complete = True
        except recursion.Recursion as problem:
            if problem.target.loop is not loop:
                raise
            # Besides, an iteration calls a member otherwise than in tail position.
            before.restore()
            member = loop.find(Callable(problem.target.module, _node_of(problem.target)), problem.target.arguments)
            assert member is not None
            if recursion.outlined(ev, member.function, member.arguments) is None:
                _emit_outlined(ev, member.function, member.arguments, node)
            if member is loop.members[0]:
                frame.is_host = False
                return _stand_and_call(ev, function, frame, node)
        before.restore()


def _node_of(frame: Frame) -> syntax.Function:
    assert frame.function is not None
    return frame.function


def _emit_loop(ev: Evaluator, loop: TailLoop, frame: Frame, node: syntax.Node) -> Value:
    """Emit the loop, as far as its members and what changes in it are known."""
    loop.begin()
    type = frame.result_type or types.VOID
    result = Local("result", type, None, mutable=True, comptime=False)
    carried = loop.carried() if type is types.VOID else [*loop.carried(), result]
    ev.live += carried
    # An iteration may go on with a loop around this one, where that cannot have its function as a member.
    carried += [local for around in recursion.loops(ev) for local in around.carried()]

    def go_on() -> Value:
        assert loop.again.value is not None
        return loop.again.value

    def iterate() -> None:
        which = loop.which.value
        given = [[p.next.value if p.carried else p.value for p in member.parameters] for member in loop.members]
        loop.again.value = boolean(False)

        def among(first: int, last: int) -> Value:
            """Emit the member of a number in a range that is asked for."""
            if last - first == 1:
                return _iteration(ev, loop, loop.members[first], given[first])
            middle = (first + last) // 2
            assert which is not None
            limit = ev.code.constant(types.U16, middle)
            below = emit.binary(ev.code, "<", types.U16, ev.ssa(which, node), limit)
            return control.branch(ev, below, lambda: among(first, middle), lambda: among(middle, last), node)

        value = among(0, len(loop.members))
        if type is not types.VOID:
            result.value = value

    control.loop(ev, carried, go_on, iterate, node)
    return VOID if result.value is None else result.value


def _iteration(ev: Evaluator, loop: TailLoop, member: Member, values: list[Value | None]) -> Value:
    """Emit the body of a member of a loop."""
    function = member.function
    frame = Frame(function.module, function.node, loop=loop, is_tail=True)
    frame.called_at = ev.frame.called_at
    with ev.framed(frame):
        for parameter, value in zip(function.node.parameters, values, strict=True):
            assert value is not None
            frame.arguments.append(value)
            if parameter.name is not None:
                local = Local(parameter.name, value.type, value, mutable=False)
                comptime_known.mark_parameter(local, parameter, function.node)
                ev.declare(local, parameter)
        frame.result_type = _result_type(ev, function.node)
        return _emitted(ev, frame, function.node)


def _emit_outlined(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> OutlinedFunction:
    """Emit a function that calls itself; its arguments and results are the run-time parts of those of CSL."""
    assert ev.pe is not None
    found = OutlinedFunction(function, arguments, ev.pe.unique(function.module.symbol(function.name)))
    ev.pe.recursive.append(found)
    block = Block()
    outer = ev.builder, ev.live, ev.branches
    ev.builder, ev.live, ev.branches = Builder(block), [], 0
    try:
        values: list[Value] = []
        for value, constant in zip(arguments, fixed(function, arguments), strict=True):
            if isinstance(constant, Value):
                values.append(value)
                continue
            parts: list[Any] = []
            for leaf in leaves(value):
                part = block.insert_arg(control.register_type(leaf), len(block.args))
                parts.append(Address(None, 0, 1, part) if isinstance(leaf.data, Address) else part)
            values.append(rebuild(value, parts))
        frame = Frame(function.module, function.node, is_root=True, is_recursive=True)
        result = emit_function(ev, function, values, frame)
        returned = [] if result.type is types.VOID else control.registers(ev, result, function.node)
        ev.code(wse.ReturnOp(*returned))
    except CslError:
        ev.pe.recursive.remove(found)
        raise
    finally:
        ev.builder, ev.live, ev.branches = outer
    inputs, outputs = [value.type for value in block.args], [value.type for value in returned]
    op = wse.FuncOp(found.symbol, FunctionType.from_lists(inputs, outputs), Region(block))
    op.location = location(function.module.file.source, function.node)
    ev.pe.functions_emitted.append(op)
    return found


def _call_outlined(
    ev: Evaluator, found: OutlinedFunction, arguments: list[Value], type: Type, node: syntax.Node
) -> Value:
    """Emit the call of a function that calls itself."""
    function = found.function
    operands: list[SSAValue] = []
    for value, first, constant in zip(arguments, found.arguments, fixed(function, arguments), strict=True):
        if isinstance(constant, Value):
            continue
        if isinstance(value.type, types.Descriptor) and not first.data.like(value.data):
            ev.fail(
                node,
                f"calls of '{function.name}', which calls itself, take DSDs that differ "
                "in what cannot change at run time: FIFO, queue, color, options, width of elements, number of "
                "dimensions, or the array of a circbuf_dsd",
            )
        operands += control.registers(ev, value, node)
    shape = recursion.result_of(type)
    parts = [] if type is types.VOID else leaves(shape)
    ev.code.at(ev.source, node.start)
    op = ev.code(wse.CallOp(found.symbol, operands, [control.register_type(part) for part in parts]))
    if type is types.VOID:
        return VOID
    results: list[Any] = [
        Address(None, 0, 1, result) if isinstance(part.data, Address) else result
        for part, result in zip(parts, op.results, strict=True)
    ]
    return rebuild(shape, results)


Emit = Function[[], Value]

MAX_INLINED_NODES = 2_000
"""Nodes of the tree of one function that a PE's code repeats at its calls before the function is outlined."""

MAX_REPEATED_NODES = 400
"""The same of a function without parameters, with what it calls: nothing known at its calls makes it shorter."""


def _shared(ev: Evaluator, function: Callable, arguments: list[Value]) -> str | None:
    """Return the symbol of a function that is called rather than emitted in place; None to emit it.

    In place, what is known at a call prunes the body. A body that is long, or called often, stands once.
    """
    node = function.node
    if node.inlining == "inline" or not all(has_one_register(value.type) for value in arguments):
        return None
    if any(parameter.is_comptime or isinstance(parameter.type, syntax.AnyType) for parameter in node.parameters):
        return None
    key = _key(function)
    assert ev.owner is not None
    if _leads_back(ev, function):
        return None
    here = {} if ev.journal is None else ev.journal.spent
    may_repeat = node.inlining != "noinline" and not _is_repeated(ev, function)
    if may_repeat and _stays_in_place(ev, function, here.get(key, 0)):
        count = ev.owner.inlined if ev.journal is None else here
        count[key] = count.get(key, 0) + ev.session.analyses.size(node)
        return None
    around = [Callable(frame.module, frame.function) for frame in ev.frames if frame.function is not None]
    return _outline(ev, function, [value.type for value in arguments], ev.frame.result_type, dict(here), around)


def _key(function: Callable) -> Hashable:
    return function.module.key, id(function.node)


@question
def _stays_in_place(ev: Evaluator, function: Callable, here: int) -> bool:
    """Return True if the code of a function may be repeated once more, `here` nodes of it being in this body."""
    key = _key(function)
    spent = ev.program.inlined.get(key, 0) + sum(body.get(key, 0) for body in ev.spent_around) + here
    return spent + ev.session.analyses.size(function.node) <= MAX_INLINED_NODES


@question
def _outline(
    ev: Evaluator,
    function: Callable,
    parameters: list[Type],
    result: Type | None,
    here: dict[Hashable, int],
    around: list[Callable],
) -> str | None:
    """Return the symbol of an outlined function, emitted if it is the first call; None if it cannot be outlined.

    `here` is `Journal.spent` of the body with the call, `around` the functions whose calls the call is inside.
    """
    known, key = ev.program.shared_functions, _key(function)
    if key not in known:
        frames, ev.frames = ev.frames, [Frame(each.module, each.node) for each in around]
        ev.spent_around.append(here)
        # Errors of a body whose arguments are not known are none of the program's: it is emitted in place then.
        try:
            with recovery.on_trial(ev):
                known[key] = _emit_shared(ev, function, parameters, result)
        except CslError:
            known[key] = None
        finally:
            ev.spent_around.pop()
            ev.frames = frames
    return known[key]


def _leads_back(ev: Evaluator, function: Callable) -> bool:
    """Return True if a function is the one that is being outlined, or calls it, perhaps through others of their file.

    It stays in place then, where its calls become jumps to the beginning, rather than being outlined with another copy
    of what is being outlined inside.
    """
    outlined = recursion.called(ev)
    if not isinstance(outlined, Callable) or outlined.module is not function.module:
        return False
    seen: dict[int, syntax.Function] = {}
    _gather_calls(ev, function.module, function.node, seen)
    return id(outlined.node) in seen


def _gather_calls(ev: Evaluator, module: Module, node: syntax.Function, seen: dict[int, syntax.Function]) -> None:
    """Add a function and those of its file that it names, directly or through others."""
    seen[id(node)] = node
    for name in ev.session.analyses.names(node):
        found = module.globals.get(name)
        if found is not None and isinstance(found.node, syntax.Function) and id(found.node) not in seen:
            _gather_calls(ev, module, found.node, seen)


def _is_repeated(ev: Evaluator, function: Callable) -> bool:
    """Return True if code that is the same at every call, and long, is called from several places of its file."""
    module, node = function.module, function.node
    if node.parameters or ev.session.analyses.names(module.file)[node.name] < 2:
        return False
    return _size_with_calls(ev, module, node) > MAX_REPEATED_NODES


def _size_with_calls(ev: Evaluator, module: Module, node: syntax.Function) -> int:
    """Count the nodes of a function and of those of its file that it calls, each once."""
    seen: dict[int, syntax.Function] = {}
    _gather_calls(ev, module, node, seen)
    return sum(map(ev.session.analyses.size, seen.values()))


def _emit_shared(ev: Evaluator, function: Callable, parameters: list[Type], result_type: Type | None) -> str | None:
    """Emit an out-of-line function; None if its result is not a single number."""
    pe = ev.program
    if result_type is None or not (result_type is types.VOID or has_one_register(result_type)):
        return None

    def emit() -> Region:
        block = Block(arg_types=[scalar(type) for type in parameters])
        outer = ev.builder, ev.live, ev.branches
        ev.builder, ev.live, ev.branches = Builder(block), [], 0
        try:
            values = [Value(type, argument) for type, argument in zip(parameters, block.args, strict=True)]
            frame = Frame(function.module, function.node, is_root=True, called=function)
            result = emit_function(ev, function, values, frame)
            returned = [] if result_type is types.VOID else [ev.ssa(result, function.node)]
            ev.code(wse.ReturnOp(*returned))
        finally:
            ev.builder, ev.live, ev.branches = outer
        return Region(block)

    around = tuple((frame.module.key, id(frame.function)) for frame in ev.frames)
    key = "outlined", _key(function), tuple(parameters), around
    op = make_function(ev, key, function, emit)
    pe.functions_emitted.append(op)
    return op.sym_name.data


def make_function(ev: Evaluator, key: Hashable, function: Callable, emit: Function[[], Region]) -> wse.FuncOp:
    """Return a function with a body that is emitted, or that of an earlier program (`asking.Bodies`)."""
    pe = ev.program

    def make(symbol: str, body: Region, like: CodeOperation | None) -> wse.FuncOp:
        if like is None:
            last = body.block.last_op
            assert isinstance(last, wse.ReturnOp)
            type = FunctionType.from_lists(body.block.arg_types, last.operand_types)
        else:
            assert isinstance(like, wse.FuncOp)
            type = like.function_type
        op = wse.FuncOp(symbol, type, body)
        op.location = location(function.module.file.source, function.node)
        return op

    return ev.session.bodies.make(ev, key, lambda: pe.unique(function.module.symbol(function.name)), emit, make)


def _call_shared(ev: Evaluator, symbol: str, arguments: list[Value], result: Type, node: syntax.Node) -> Value:
    """Emit the call of an outlined function."""
    operands = [ev.ssa(value, node) for value in arguments]
    ev.code.at(ev.source, node.start)
    op = ev.code(wse.CallOp(symbol, operands, [] if result is types.VOID else [scalar(result)]))
    return VOID if result is types.VOID else Value(result, op.results[0])


def _defined(ev: Evaluator, function: Callable) -> Callable:
    """Return the exported function an extern one stands for."""
    other = definition(ev, function.module.globals[function.name])
    assert isinstance(other.node, syntax.Function), "checked: declarations with one symbol agree"
    return Callable(other.module, other.node)


def _result_type(ev: Evaluator, declaration: syntax.Function) -> Type | None:
    if declaration.result is None:
        return None if declaration.storage == "export" else types.VOID
    return ev.type_of(declaration.result)


def _known(ev: Evaluator, declaration: syntax.Function) -> Value:
    """Return the result of a call evaluated at compile time."""
    assert declaration.body is not None
    ev.frame.comptime = True
    try:
        run_body(ev, declaration.body)
    except Return as result:
        return result.value
    except (Break, Continue) as jump:
        fail_jump(ev, jump)
    return _fell_through(ev, declaration)


MIN_NODES_OF_RESULT = 24
"""Nodes of the smallest function whose results are kept: to find one takes about as long as to evaluate as many."""


def _result(ev: Evaluator, function: Callable, arguments: list[Value]) -> Value:
    """Return the result of a call evaluated at compile time, whose frame is the innermost."""
    declaration = function.node
    if (
        ev.owner is not None
        and ev.session.analyses.size(declaration) >= MIN_NODES_OF_RESULT
        and ev.frame.written is None
        and all(map(is_shareable, arguments))
    ):
        return _evaluated(ev, function, arguments)
    return _known(ev, declaration)


@question
def _evaluated(ev: Evaluator, function: Callable, arguments: list[Value]) -> Value:
    """Return the result of a call with arguments that any program may give."""
    declaration = function.node
    key = function.module.key, id(declaration), *map(key_of, arguments)
    if ev.frame.function is declaration:
        return ev.session.results.of(ev, key, lambda: _known(ev, declaration))
    # It is asked of another program than the one that the call has been evaluated for first.
    with ev.framed(Frame(function.module, declaration)) as frame:
        for parameter, value in zip(declaration.parameters, arguments, strict=True):
            if parameter.name is not None:
                ev.declare(Local(parameter.name, value.type, value, mutable=False), parameter)
        frame.result_type = _result_type(ev, declaration)
        return ev.session.results.of(ev, key, lambda: _known(ev, declaration))


def _fell_through(ev: Evaluator, declaration: syntax.Function) -> Value:
    type = ev.frame.result_type
    if type is not None and type is not types.VOID:
        ev.fail(declaration, f"'{declaration.name}' ends without returning a value of type '{type}'")
    return VOID


def _emitted(ev: Evaluator, frame: Frame, declaration: syntax.Function) -> Value:
    """Return the result of a call whose body is emitted in place."""
    assert declaration.body is not None
    frame.in_memory = ev.session.analyses.addressed(declaration)
    frame.returned = flag("returned")
    ev.live.append(frame.returned)
    type = frame.result_type
    if type is not types.VOID:
        frame.result = Local("result", type or types.VOID, None, mutable=True, comptime=False)
        ev.live.append(frame.result)
    run_body(ev, declaration.body)
    if frame.result is None:
        return VOID
    left = frame.returned.value
    if type is not None and left is not None and left.data is not True and not never_ends(declaration.body):
        ev.fail(
            declaration.body,
            f"'{declaration.name}' may end without returning a value of type '{type}'; add a 'return' at its end",
        )
    if frame.result.value is None:
        if type is None:
            return VOID
        return _fell_through(ev, declaration)
    return frame.result.value


def call_indirectly(ev: Evaluator, function: Value, arguments: list[Value], node: syntax.Node) -> Value:
    """Emit a call through a pointer known at run time only."""
    type = function.type
    assert isinstance(type, types.Function) and ev.pe is not None
    if len(arguments) != len(type.parameters):
        ev.fail(node, f"'{type}' takes {len(type.parameters)} arguments, not {len(arguments)}")
    if not all(map(has_one_register, type.parameters)) or not (
        type.result is types.VOID or has_one_register(type.result)
    ):
        ev.fail(node, f"a function of type '{type}' cannot be called through a pointer that changes at run time")
    operands = [
        ev.ssa(ev.coerce(value, wanted, node), node) for value, wanted in zip(arguments, type.parameters, strict=True)
    ]
    results = [] if type.result is types.VOID else [scalar(type.result)]
    ev.code.at(ev.source, node.start)
    op = ev.code(wse.CallOp(ev.pe.dispatcher(type, ev.code.location), [function.data, *operands], results))
    return Value(type.result, op.results[0]) if results else VOID


def emit_dispatcher(ev: Evaluator, type: types.Function, arguments: list[Value], node: syntax.Node) -> Value:
    """Emit the body of the function that calls what a pointer points to: one test for each function there is."""
    assert ev.pe is not None
    builder, (pointer, *rest) = ev.code, arguments

    def fitting() -> list[tuple[int, Callable]]:
        numbered = enumerate(ev.pe.functions if ev.pe is not None else [], start=1)
        return [(number, function) for number, function in numbered if signature(ev, function, node) == type]

    def one(choices: list[tuple[int, Callable]]) -> Value:
        if not choices:
            builder(
                wse.AssertOp(
                    builder.constant(types.BOOL, False), "a function pointer does not hold the address of a function"
                )
            )
            return VOID if type.result is types.VOID else Value(type.result, zero(type.result))
        (number, function), *others = choices
        same = emit.binary(builder, "==", types.U16, pointer.data, builder.constant(types.U16, number))
        return control.branch(ev, same, lambda: call(ev, function, rest, node), lambda: one(others), node)

    return one(fitting())


def emit_function(ev: Evaluator, function: Callable, arguments: list[Value], frame: Frame | None = None) -> Value:
    """Emit a whole function or task, whose arguments are SSA values."""
    frame = frame or Frame(function.module, function.node, is_root=True)
    with ev.framed(frame):
        for parameter, value in zip(function.node.parameters, arguments, strict=True):
            ev.check_format(value.type, parameter)
            if parameter.name is not None:
                ev.declare(Local(parameter.name, value.type, value, mutable=False), parameter)
        frame.arguments = list(arguments)
        frame.result_type = _result_type(ev, function.node)
        return _body(ev, function, frame, lambda: _emitted(ev, frame, function.node), function.node)
