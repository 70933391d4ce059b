"""The rules of statements and jumps."""

from __future__ import annotations

from ..csl import syntax
from . import source_names, types
from .blocks import check_label, has_left, jumps_away, never_ends, run, unless_left
from .comptime_known import mark_variable
from .conversion import as_wanted
from .errors import Unchecked
from .evaluator import Evaluator
from .frames import Break, Continue, Return, Target, flag
from .leaves import zero
from .operators import binary
from .place_expressions import assign
from .places import Memory, Place, Temporary
from .recursion import called, in_place
from .registry import expression, statement
from .types import Type
from .values import NOTHING, VOID, Address, Local, Value, boolean, known

# Blocks


@expression(syntax.Block)
def _block(ev: Evaluator, node: syntax.Block, want: Type | None) -> Value:
    if not node.statements:
        return VOID
    if node.label is None:
        with ev.scope():
            run(ev, node.statements)
        return VOID
    check_label(ev, node)
    if ev.builder is None:
        try:
            with ev.scope():
                run(ev, node.statements)
        except Break as jump:
            if jump.label != node.label:
                raise
            return jump.value
        return VOID
    target = Target(node.label, False, flag("left"))
    given = want
    if isinstance(want, types.Cast):
        given = None if want.numbers_only else want.target
    target.result = Local("result", given or types.VOID, None, mutable=True, comptime=False)
    target.wanted = want
    ev.live += [target.broken, target.result]
    ev.frame.targets.append(target)
    try:
        with ev.scope():
            run(ev, node.statements)
        left = any(local.value is not None and local.value.data is True for local in ev.frame.flags())
    finally:
        ev.frame.targets.pop()
    result = target.result.value
    if result is None or result.type is types.VOID:
        return NOTHING if has_left(ev) is True else VOID
    if target.without_value is not None:
        note = ev.note(node, f"other breaks give it a value of type '{result.type}'")
        ev.fail(target.without_value, f"this break gives '{node.label}' no value; give one", note)
    if not left and not never_ends(node) and not jumps_away(node.statements[-1]):
        add = f"add a 'break :{node.label} ...' at its end"
        ev.fail(node, f"'{node.label}' may end without a value of type '{result.type}'; {add}")
    return result


# Declarations and assignments


@statement(syntax.Variable)
def _variable(ev: Evaluator, node: syntax.Variable) -> None:
    type = None if node.type is None else ev.type_of(node.type)
    if node.is_comptime:
        with ev.at_compile_time():
            value = None if node.value is None else ev.expr(node.value, type)
        if value is not None and not known(value):
            ev.fail(node, f"'{node.name}' is comptime, but its value is not known at compile time")
    else:
        value = None if node.value is None else ev.expr(node.value, type)
    if node.link_name is not None or node.link_section is not None:
        attribute = "linkname" if node.link_name is not None else "linksection"
        ev.fail(node, f"'{attribute}' is for global variables; declare '{node.name}' outside of functions")
    if value is None and type is None:
        ev.fail(node, f"'{node.name}' has neither type nor value; give it one of them")
    if value is None and node.kind == "const":
        ev.fail(node, f"constant '{node.name}' has no value; give it one")
    if value is not None and type is not None:
        value = ev.coerce(value, type, node.value or node)
    if type is None or (type is types.COMPTIME_STRUCT and value is not None and node.kind == "const"):
        assert value is not None
        type = value.type
    if type is types.UNDEFINED:
        return
    if any(node.name in scope for scope in ev.frame.scopes[-1:]):
        ev.fail(node, f"'{node.name}' is declared twice in this block; rename one")
    mutable = node.kind == "var"
    if isinstance(type, types.Range) and value is not None and not _is_assigned(ev, node.name):
        # As in the manual's example; one that is assigned to would be another loop each time.
        mutable = False
    is_late = types.is_comptime_only(type) or type is types.VOID
    if mutable and not node.is_comptime and ev.builder is not None and is_late:
        ev.fail(
            node,
            f"variable '{node.name}' is a '{type}', which exists at compile time only; "
            "give it another type, or declare it 'comptime var'",
        )
    comptime = node.is_comptime or ev.builder is None or types.is_comptime_only(type)
    if value is None and ev.builder is None:
        value = Value(type, zero(type))
    local = Local(node.name, type, value, mutable, comptime=comptime or not mutable)
    if not comptime and ev.builder is not None and _needs_memory(ev, node, local):
        assert ev.pe is not None
        if ev.is_checking:
            raise Unchecked
        local.memory = _local_memory(ev, node, type)
        local.value = None
        if value is not None:
            Memory(local.memory, type, const=False).store(ev, value, node)
        local.comptime = True
    elif not comptime and value is not None and mutable:
        # From here on it changes at run time, whatever it starts with.
        local.value = value
    if ev.builder is not None:
        mark_variable(ev, local, node)
    source_names.note(ev, node.name, local.value)
    ev.declare(local, node)


def _is_assigned(ev: Evaluator, name: str) -> bool:
    function = ev.frame.function
    return function is None or name in ev.session.analyses.assigned(function)


def _has_array(type: types.Type) -> bool:
    return isinstance(type, types.Array) or (isinstance(type, types.Record) and any(map(_has_array, type.types)))


def _needs_memory(ev: Evaluator, node: syntax.Variable, local: Local) -> bool:
    if _has_array(local.type):
        return local.mutable or (local.value is not None and not known(local.value) and node.name in ev.frame.in_memory)
    if node.name not in ev.frame.in_memory or isinstance(local.type, types.Function):
        return False
    return local.mutable or (local.value is not None and not known(local.value))


@statement(syntax.Assign)
def _assign(ev: Evaluator, node: syntax.Assign) -> None:
    if isinstance(node.target, syntax.Name) and node.target.name == "_" and node.operator == "=":
        ev.expr(node.value)
        return
    where = ev.place(node.target)
    if node.operator == "=":
        value = ev.expr(node.value, where.type)
        unless_left(ev, lambda: _store(ev, where, value, node), node, value)
        return
    old = where.load(ev, node.target)
    operand = ev.expr(node.value, old.type)

    def change() -> Value:
        value = binary(ev, node.operator[:-1], old, operand, node)
        where.store(ev, ev.coerce(value, where.type, node), node.target)
        return VOID

    unless_left(ev, change, node, operand)


def _store(ev: Evaluator, where: Place, value: Value, node: syntax.Assign) -> Value:
    if isinstance(where, Temporary):
        where.store(ev, value, node.target)
    if isinstance(where, Memory):
        where.store(ev, ev.coerce(value, where.type, node.value), node.target)
    else:
        assign(ev, node.target, value, node.value)
    return VOID


# Jumps


@expression(syntax.Return)
def _return(ev: Evaluator, node: syntax.Return, want: Type | None) -> Value:
    frame = ev.frame
    if frame.function is None:
        ev.fail(node, "'return' is not in a function")
    value = VOID if node.value is None else ev.expr(node.value, frame.result_type)
    return unless_left(ev, lambda: _return_value(ev, value, node), node, value)


def _return_value(ev: Evaluator, value: Value, node: syntax.Return) -> Value:
    frame = ev.frame
    assert frame.function is not None
    if frame.result_type is not None:
        if node.value is None and frame.result_type is not types.VOID:
            ev.fail(node, f"'{frame.function.name}' returns '{frame.result_type}'; give a value")
        value = ev.coerce(value, frame.result_type, node.value or node)
    if ev.builder is None or frame.returned is None:
        raise Return(node, value)
    if frame.result is not None:
        frame.result.value = value
        frame.result.type = value.type
    frame.returned.value = boolean(True)
    return NOTHING


def _target(ev: Evaluator, label: str | None, node: syntax.Node, *, loop: bool) -> Target:
    for target in reversed(ev.frame.targets):
        if (label is None and target.is_loop) or (label is not None and target.label == label):
            if loop and not target.is_loop:
                break
            return target
    what = "a loop" if label is None else f"anything labeled '{label}'"
    ev.fail(node, f"this is not in {what}")


@expression(syntax.Break)
def _break(ev: Evaluator, node: syntax.Break, want: Type | None) -> Value:
    if ev.builder is None:
        raise Break(node, node.label, VOID if node.value is None else ev.expr(node.value))
    target = _target(ev, node.label, node, loop=False)
    value = VOID if node.value is None else ev.expr(node.value, target.wanted)
    return unless_left(ev, lambda: _break_with(ev, target, value, node), node, value)


def _break_with(ev: Evaluator, target: Target, value: Value, node: syntax.Break) -> Value:
    if node.value is not None:
        value = as_wanted(ev, value, target.wanted, node.value)
    if target.result is not None and value.type is not types.VOID:
        target.result.value = value
    elif target.without_value is None:
        target.without_value = node
    target.broken.value = boolean(True)
    return NOTHING


@expression(syntax.Continue)
def _continue(ev: Evaluator, node: syntax.Continue, want: Type | None) -> Value:
    if ev.builder is None:
        raise Continue(node, node.label)
    target = _target(ev, node.label, node, loop=True)
    assert target.continued is not None
    target.continued.value = boolean(True)
    return NOTHING


def _local_memory(ev: Evaluator, node: syntax.Variable, type: Type) -> Address:
    """Return the memory of a local variable whose address is taken, or that is an array.

    Each call of a function inside itself has its own. So do its calls in each body that is called, as they may be made
    while a call elsewhere has not ended.
    """
    if any(frame.is_recursive for frame in in_place(ev, whole=True)):
        ev.fail(
            node,
            f"'{node.name}' needs memory of its own in each call of a function that calls itself, which is not "
            "supported; declare it outside the function, or pass what it holds as a parameter",
        )
    module, function = ev.frame.module, ev.frame.function
    depth = sum(frame.module is module and frame.function is function for frame in in_place(ev, whole=True))
    return ev.program.local_array(ev, node, type, function, depth, called(ev))
