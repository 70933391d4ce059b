"""The types of functions as they are declared."""

from __future__ import annotations

from ..csl import syntax
from . import types
from .asking import lasting_question
from .evaluator import Evaluator
from .frames import Frame
from .types import Type
from .values import Callable


@lasting_question
def signature(ev: Evaluator, function: Callable, node: syntax.Node) -> types.Function:
    """Return the type of a function; generic parameters without a type of their own count as `comptime_struct`."""
    kept = function.module.signatures.get(function.name)
    if kept is not None:
        return kept
    declaration = function.node
    if any(frame.function is declaration and frame.signing for frame in ev.frames):
        ev.fail(node, f"the type of '{declaration.name}' depends on itself; break the cycle")
    names = {parameter.name for parameter in declaration.parameters}
    with ev.at_compile_time(), ev.framed(Frame(function.module, declaration, comptime=True, signing=True)):

        def one(type: syntax.Expression | None) -> Type:
            if type is None:
                return types.VOID
            if isinstance(type, syntax.AnyType) or not names.isdisjoint(ev.session.analyses.names(type)):
                return types.COMPTIME_STRUCT
            return ev.type_of(type)

        result = types.Function(
            tuple(one(parameter.type) for parameter in declaration.parameters),
            one(declaration.result),
            function.is_task,
        )
    function.module.signatures[function.name] = result
    return result
