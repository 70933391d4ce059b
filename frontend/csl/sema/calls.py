"""Calls: a function is evaluated where it is called, with what is known there."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Block, Region

from ....dialects import wse
from .. import syntax
from ..errors import CslError
from . import control, emit, late, types
from .conversion import coerce
from .core import Evaluator, Unchecked
from .emit import Builder, has_one_register, scalar
from .frames import Break, Continue, Frame, Return, flag
from .modules import Module
from .pe import location
from .types import Type
from .values import VOID, Callable, Local, Value, is_ssa, known


def signature(ev: Evaluator, function: Callable, node: syntax.Node) -> types.Function:
    """The type of a function; parameters of a generic one that have no type of their own count as `comptime_struct`."""
    kept = function.module.signatures.get(function.name)
    if kept is not None:
        return kept
    declaration = function.node
    if any(frame.function is declaration and frame.signing for frame in ev.frames):
        ev.fail(node, f"the type of '{declaration.name}' depends on itself; break the circle")
    names = {parameter.name for parameter in declaration.parameters}
    with ev.at_compile_time(), ev.framed(Frame(function.module, declaration, comptime=True, signing=True)):

        def one(type: syntax.Expression | None) -> Type:
            if type is None:
                return types.VOID
            if isinstance(type, syntax.AnyType) or not names.isdisjoint(ev.session.facts.names(type)):
                return types.COMPTIME_STRUCT
            return ev.type_of(type)

        result = types.Function(
            tuple(one(parameter.type) for parameter in declaration.parameters),
            one(declaration.result),
            function.is_task,
        )
    function.module.signatures[function.name] = result
    return result


def call(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> Value:
    """Evaluates a call, at compile time or into the code being emitted.

    Raises CslError if the arguments do not fit.
    """
    declaration = function.node
    if len(arguments) != len(declaration.parameters):
        count = len(declaration.parameters)
        ev.fail(
            node,
            f"'{function.name}' takes {count} argument{'' if count == 1 else 's'}, not {len(arguments)}",
            ev.note(declaration, "declared here", function.module.file.source),
        )
    if declaration.body is None:
        return call(ev, _defined(ev, function), arguments, node)
    if ev.is_checking and ev.builder is not None:
        return _checked(ev, function, arguments, node)
    deepest = ev.session.options.call_depth
    if len(ev.frames) > deepest:
        ev.fail(node, f"calls are nested more than {deepest} deep; does '{function.name}' call itself for ever?")
    if ev.builder is not None and not _ends(ev, function, arguments):
        ev.fail(node, f"'{function.name}' calls itself; recursion at run time is not supported, use a loop")
    caller = ev.frame
    values = list(zip(arguments, node.arguments if isinstance(node, syntax.Call) else [node] * 99, strict=False))
    given: list[Value] = []
    frame = Frame(function.module, declaration)
    frame.arguments = arguments
    frame.called_at = (ev.source, node.start, node.end, function.name)
    location = None if ev.builder is None else ev.code.location
    with ev.framed(frame):
        for parameter, (value, at) in zip(declaration.parameters, values, strict=True):
            if not isinstance(parameter.type, syntax.AnyType):
                type = ev.type_of(parameter.type)
                if value.type != type:
                    ev.frame = caller
                    try:
                        value = coerce(ev, value, type, at)
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
        if ev.builder is not None and result_type is not None and types.is_comptime_only(result_type):
            with ev.at_compile_time():
                result = _known(ev, declaration)
        elif ev.builder is None:
            result = _known(ev, declaration)
        else:
            symbol = _shared(ev, function, arguments)
            if symbol is None:
                result = _emitted(ev, frame, declaration)
            else:
                ev.frame = caller
                result = _call_shared(ev, symbol, arguments, result_type or types.VOID, node)
                ev.frame = frame
    if ev.builder is not None:
        ev.code.location = location
    else:
        late.check_generic(ev, function, given, node)
    return result


def _mark(
    ev: Evaluator, caller: Frame, local: Local, parameter: syntax.Parameter, function: syntax.Function, at: syntax.Node
) -> None:
    """Marks a parameter whose value is not known at compile time by the manual's rules."""
    if parameter.is_comptime or function.inlining == "inline":
        frame, ev.frame = ev.frame, caller
        try:
            if parameter.is_comptime:
                late.warn(ev, at)
            else:
                local.late = late.reason(ev, at)
        finally:
            ev.frame = frame
    else:
        late.mark_parameter(local, parameter, function)


def is_generic(function: syntax.Function) -> bool:
    """Whether a copy of a function is compiled for the types of its arguments."""
    return any(
        isinstance(parameter.type, syntax.AnyType)
        or (isinstance(parameter.type, syntax.Name) and parameter.type.name == "type")
        for parameter in function.parameters
    )


def _checked(ev: Evaluator, function: Callable, arguments: list[Value], node: syntax.Node) -> Value:
    """The result of a call in code that is only checked: its arguments must fit, its body is not looked at."""
    if is_generic(function.node) or function.node.result is None:
        raise Unchecked
    type = signature(ev, function, node)
    if types.COMPTIME_STRUCT in type.parameters or types.is_comptime_only(type.result):
        raise Unchecked
    places = node.arguments if isinstance(node, syntax.Call) else [node] * len(arguments)
    for value, wanted, at in zip(arguments, type.parameters, places, strict=False):
        coerce(ev, value, wanted, at)
    return late.unknown(ev, type.result)


def emit_checked(ev: Evaluator, function: Callable, arguments: list[Value]) -> None:
    """Emits the body of a generic function, for its errors alone: of parameters of run-time types nothing is known."""
    declaration = function.node
    frame = Frame(function.module, declaration)
    with ev.framed(frame):
        for parameter, value in zip(declaration.parameters, arguments, strict=True):
            if not parameter.is_comptime and not types.is_comptime_only(value.type):
                value = late.unknown(ev, value.type)
            if parameter.name is not None:
                ev.declare(Local(parameter.name, value.type, value, mutable=False), parameter)
        frame.result_type = _result_type(ev, declaration)
        if frame.result_type is not None and types.is_comptime_only(frame.result_type):
            raise Unchecked
        _emitted(ev, frame, declaration)


INLINED = 2_000
"""Nodes of the tree of one function that a PE's code repeats at its calls before the function stands by itself."""

REPEATED = 400
"""The same of a function without parameters, with what it calls: nothing known at its calls makes it shorter."""


def _shared(ev: Evaluator, function: Callable, arguments: list[Value]) -> str | None:
    """The symbol of a function that is called rather than emitted in place; None to emit it.

    In place, what is known at a call prunes the body. A body that is long, or called often, stands once.
    """
    assert ev.pe is not None
    node = function.node
    if node.inlining == "inline" or not all(has_one_register(value.type) for value in arguments):
        return None
    if any(parameter.is_comptime or isinstance(parameter.type, syntax.AnyType) for parameter in node.parameters):
        return None
    key = (id(function.module), id(node))
    size = ev.session.facts.size(node)
    spent = ev.pe.inlined.get(key, 0)
    if spent + size <= INLINED and node.inlining != "noinline" and not _is_repeated(ev, function):
        ev.pe.inlined[key] = spent + size
        return None
    if key not in ev.pe.shared_functions:
        # Errors of a body whose arguments are not known are none of the program's: it is emitted in place then.
        try:
            ev.pe.shared_functions[key] = _emit_shared(ev, function, [value.type for value in arguments])
        except CslError:
            ev.pe.shared_functions[key] = None
    return ev.pe.shared_functions[key]


def _is_repeated(ev: Evaluator, function: Callable) -> bool:
    """Whether code that is the same at every call, and long, is called from several places of its file."""
    module, node = function.module, function.node
    if node.parameters or ev.session.facts.names(module.file)[node.name] < 2:
        return False
    return _size_with_calls(ev, module, node, set()) > REPEATED


def _size_with_calls(ev: Evaluator, module: Module, node: syntax.Function, seen: set[int]) -> int:
    """Nodes of a function and of those of its file that it calls, each of them once."""
    facts = ev.session.facts
    seen.add(id(node))
    size = facts.size(node)
    for name in facts.names(node):
        found = module.globals.get(name)
        if found is not None and isinstance(found.node, syntax.Function) and id(found.node) not in seen:
            size += _size_with_calls(ev, module, found.node, seen)
    return size


def _emit_shared(ev: Evaluator, function: Callable, parameters: list[Type]) -> str | None:
    """Emits a function that stands by itself; None if its result is no single number."""
    assert ev.pe is not None
    result_type = ev.frame.result_type
    if result_type is None or not (result_type is types.VOID or has_one_register(result_type)):
        return None
    block = Block(arg_types=[scalar(type) for type in parameters])
    outer = ev.builder, ev.live, ev.branches
    ev.builder, ev.live, ev.branches = Builder(block), [], 0
    try:
        values = [Value(type, argument) for type, argument in zip(parameters, block.args, strict=True)]
        result = emit_function(ev, function, values)
        returned = [] if result_type is types.VOID else [ev.ssa(result, function.node)]
        ev.code(wse.ReturnOp(*returned))
    finally:
        ev.builder, ev.live, ev.branches = outer
    symbol = ev.pe.unique(function.module.symbol(function.name))
    inputs, outputs = [value.type for value in block.args], [value.type for value in returned]
    op = wse.FuncOp(symbol, FunctionType.from_lists(inputs, outputs), Region(block))
    op.location = location(function.module.file.source, function.node)
    ev.pe.functions_emitted.append(op)
    return symbol


def _call_shared(ev: Evaluator, symbol: str, arguments: list[Value], result: Type, node: syntax.Node) -> Value:
    """Emits the call of a function that stands by itself."""
    operands = [ev.ssa(value, node) for value in arguments]
    ev.code.at(ev.source, node.start)
    op = ev.code(wse.CallOp(symbol, operands, [] if result is types.VOID else [scalar(result)]))
    return VOID if result is types.VOID else Value(result, op.results[0])


def _defined(ev: Evaluator, function: Callable) -> Callable:
    """The exported function an extern one stands for."""
    from .linkage import definition

    other = definition(ev, function.module.globals[function.name])
    if not isinstance(other.node, syntax.Function):
        with ev.framed(Frame(function.module, comptime=True)):
            ev.fail(function.node, f"'{function.name}' is declared as a function, but a variable is exported")
    return Callable(other.module, other.node)


def _ends(ev: Evaluator, function: Callable, arguments: list[Value]) -> bool:
    """Whether a call emitted in place can end: a call of itself must differ in an argument known at compile time."""
    for frame in reversed(ev.frames):
        if frame.function is function.node and frame.module is function.module and frame.returned is not None:
            return any(
                known(value) and not is_ssa(value.data) and value.data != before.data
                for value, before in zip(arguments, frame.arguments, strict=False)
            )
    return True


def _result_type(ev: Evaluator, declaration: syntax.Function) -> Type | None:
    if declaration.result is None:
        return None if declaration.storage == "export" else types.VOID
    return ev.type_of(declaration.result)


def _known(ev: Evaluator, declaration: syntax.Function) -> Value:
    """The result of a call evaluated at compile time."""
    assert declaration.body is not None
    ev.frame.comptime = True
    try:
        run_body(ev, declaration.body)
    except Return as result:
        return result.value
    except (Break, Continue) as jump:
        from .statements import fail_jump

        fail_jump(ev, jump)
    return _fell_through(ev, declaration)


def _fell_through(ev: Evaluator, declaration: syntax.Function) -> Value:
    type = ev.frame.result_type
    if type is not None and type is not types.VOID:
        ev.fail(declaration, f"'{declaration.name}' ends without returning a value of type '{type}'")
    return VOID


def run_body(ev: Evaluator, block: syntax.Block) -> None:
    from .statements import run

    with ev.scope():
        run(ev, block.statements)


def _emitted(ev: Evaluator, frame: Frame, declaration: syntax.Function) -> Value:
    """The result of a call whose body is emitted in place."""
    assert declaration.body is not None
    frame.in_memory = ev.session.facts.addressed(declaration)
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
    """Emits a call through a pointer known at run time only."""
    type = function.type
    assert isinstance(type, types.Function) and ev.pe is not None
    if len(arguments) != len(type.parameters):
        ev.fail(node, f"'{type}' takes {len(type.parameters)} arguments, not {len(arguments)}")
    if not all(map(has_one_register, type.parameters)) or not (
        type.result is types.VOID or has_one_register(type.result)
    ):
        ev.fail(node, f"a function of type '{type}' cannot be called through a pointer that changes at run time")
    operands = [
        ev.ssa(coerce(ev, value, wanted, node), node) for value, wanted in zip(arguments, type.parameters, strict=True)
    ]
    results = [] if type.result is types.VOID else [scalar(type.result)]
    ev.code.at(ev.source, node.start)
    op = ev.code(wse.CallOp(ev.pe.dispatcher(type, ev.code.location), [function.data, *operands], results))
    return Value(type.result, op.results[0]) if results else VOID


def emit_dispatcher(ev: Evaluator, type: types.Function, arguments: list[Value], node: syntax.Node) -> Value:
    """Emits the body of the function that calls what a pointer points to: one test for each function there is."""
    assert ev.pe is not None
    builder, (pointer, *rest) = ev.code, arguments

    def fitting() -> list[tuple[int, Callable]]:
        numbered = enumerate(ev.pe.functions if ev.pe is not None else [], start=1)
        return [(number, function) for number, function in numbered if signature(ev, function, node) == type]

    def one(choices: list[tuple[int, Callable]]) -> Value:
        if not choices:
            builder(
                wse.AssertOp(builder.constant(types.BOOL, False), "a pointer to a function holds no function's address")
            )
            return VOID if type.result is types.VOID else Value(type.result, control.zero(type.result))
        (number, function), *others = choices
        same = emit.binary(builder, "==", types.U16, pointer.data, builder.constant(types.U16, number))
        return control.branch(ev, same, lambda: call(ev, function, rest, node), lambda: one(others), node)

    return one(fitting())


def never_ends(body: syntax.Block) -> bool:
    """Whether control plainly does not come out at the end of a body: an endless loop or an assertion stands there."""
    last = body.statements[-1] if body.statements else None
    if isinstance(last, syntax.While):
        return isinstance(last.condition, syntax.Name) and last.condition.name == "true"
    return isinstance(last, syntax.Builtin) and last.name in ("assert", "comptime_assert", "unreachable")


def emit_function(ev: Evaluator, function: Callable, arguments: list[Value]) -> Value:
    """Emits a whole function or task, whose arguments are SSA values."""
    frame = Frame(function.module, function.node)
    with ev.framed(frame):
        for parameter, value in zip(function.node.parameters, arguments, strict=True):
            ev.check_format(value.type, parameter)
            if parameter.name is not None:
                ev.declare(Local(parameter.name, value.type, value, mutable=False), parameter)
        frame.result_type = _result_type(ev, function.node)
        return _emitted(ev, frame, function.node)
