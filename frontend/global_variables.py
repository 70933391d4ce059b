"""Globals: their types and initial values, found whatever the order of the text."""

from __future__ import annotations

from collections.abc import Hashable

from ..csl import syntax
from ..csl.errors import CslError
from . import calls, linkage, recovery, source_names, types
from .asking import key_of, lasting_question
from .conversion import cast, extremes
from .evaluator import Evaluator
from .frames import Frame
from .leaves import zero
from .modules import Global
from .places import Held, Memory, Place, Temporary
from .types import Type
from .values import Address, Callable, Value


class GlobalVariable(Memory):
    """A global variable: at compile time, its initial value."""

    def __init__(self, variable: Global, where: Address, type: Type) -> None:
        super().__init__(where, type, const=False)
        self.variable = variable

    def asked(self) -> Hashable:
        return "variable", self.type, key_of(self.where), key_of(self.variable)

    def initial(self) -> Value:
        """Return what the variable holds when the program starts."""
        value = self.variable.value
        return Value(self.type, zero(self.type)) if value is None else value


@lasting_question
def global_place(ev: Evaluator, found: Global, node: syntax.Node) -> Place:
    """Return what a global name stands for, resolving it first."""
    declaration = found.node
    if isinstance(declaration, syntax.Function):
        function = Callable(found.module, declaration)
        return Temporary(Value(calls.signature(ev, function, node), function))
    resolve(ev, found, node)
    assert found.type is not None
    if declaration.storage == "extern" and ev.pe is not None:
        return global_place(ev, linkage.definition(ev, found), node)
    if declaration.kind != "var" or types.is_comptime_only(found.type) or ev.pe is None:
        if found.value is None:
            found.value = Value(found.type, zero(found.type))
        return Held(found, found.value.type if found.type is types.COMPTIME_STRUCT else found.type)
    if found.memory is None:
        found.memory = ev.pe.variable(ev, found)
    return GlobalVariable(found, found.memory, found.type)


def resolve(ev: Evaluator, found: Global, node: syntax.Node) -> None:
    """Find the type and the initial value of a global, whatever the order of the text."""
    if found.type is not None:
        recovery.check(found.type)
        return
    declaration = found.node
    assert isinstance(declaration, syntax.Variable)
    if found.resolving:
        ev.fail(node, f"'{declaration.name}' depends on its own value; break the cycle")
    found.resolving = True
    try:
        frame = Frame(found.module, comptime=True)
        if found.module.is_library and not ev.frame.module.is_library and declaration.kind != "param":
            frame.called_at = (ev.source, node.start, node.end, declaration.name)
        with ev.at_compile_time(), ev.framed(frame):
            _resolve(ev, found, declaration, node)
    except CslError as error:
        raise recovery.poison_global(ev, found, error) from None
    finally:
        found.resolving = False


def _resolve(ev: Evaluator, found: Global, declaration: syntax.Variable, node: syntax.Node) -> None:
    module, name = found.module, declaration.name
    type = None if declaration.type is None else ev.type_of(declaration.type)
    if declaration.kind == "param" and name in module.bindings:
        value = module.bindings[name]
    elif declaration.value is None:
        if declaration.kind == "param":
            ev.fail(
                declaration,
                f"param '{name}' has no value; "
                "give it one where the file is imported or placed, or on the command line",
            )
        if declaration.kind == "const" and not declaration.storage:
            ev.fail(declaration, f"constant '{name}' has no value; give it one")
        if type is None:
            ev.fail(declaration, f"'{name}' has neither type nor value; give it one of them")
        found.type = type
        _check_storage(ev, declaration, type)
        return
    else:
        value = ev.expr(declaration.value, type)
    if type is not None:
        if declaration.kind == "param" and name in module.bindings:
            value = _bound(ev, value, type, declaration)
        else:
            value = ev.coerce(value, type, declaration.value or declaration)
    found.value = value
    source_names.note(ev, name, value)
    found.type = value.type if type is None or type is types.COMPTIME_STRUCT else type
    if declaration.kind == "var":
        _check_variable(ev, declaration, found.type)
    _check_storage(ev, declaration, found.type)


def _check_storage(ev: Evaluator, declaration: syntax.Variable, type: Type) -> None:
    if declaration.storage and not linkage.is_shareable(type):
        ev.fail(declaration, f"'{declaration.name}' is a '{type}', which cannot be shared by 'export' or 'extern'")


def _check_variable(ev: Evaluator, declaration: syntax.Variable, type: Type) -> None:
    """Check that a variable that changes at run time has a run-time type."""
    if types.is_comptime_only(type):
        advice = "give it another type" if type in (types.COMPTIME_INT, types.COMPTIME_FLOAT) else "declare it 'const'"
        ev.fail(
            declaration, f"variable '{declaration.name}' is a '{type}', which exists at compile time only; {advice}"
        )


def _bound(ev: Evaluator, value: Value, type: Type, declaration: syntax.Variable) -> Value:
    """Return the value a param is given, in its own type: numbers convert if they fit."""
    source = value.type
    if type is types.COLOR and (types.is_integer(source) or source is type):
        count = ev.session.target.routable_colors
        for number in extremes(value.data):
            if not 0 <= number < count:
                ev.fail(
                    declaration,
                    f"color {number} of '{declaration.name}' does not exist; use 0 to {count - 1}",
                )
        return Value(type, value.data)
    if types.is_float(type) and types.is_integer(source):
        return cast(ev, value, type, declaration)
    return ev.coerce(value, type, declaration)
