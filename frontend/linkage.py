"""Symbols of the storage classes `export` and `extern`: one namespace for all modules of a PE's program."""

from __future__ import annotations

from ..csl import syntax
from ..csl.source import Note
from . import types
from .evaluator import Evaluator
from .frames import Frame
from .modules import Global
from .signatures import signature
from .types import Type
from .values import Callable


def linked_name(ev: Evaluator, found: Global) -> str:
    """Return the symbol of a global: its linkname, or else its name, below that of its module unless it is shared."""
    declaration = found.node
    if declaration.link_name is not None:
        with ev.at_compile_time(), ev.framed(Frame(found.module, comptime=True)):
            return ev.text(declaration.link_name, "a linkname")
    if declaration.storage:
        return declaration.name
    return found.module.symbol(declaration.name)


def definition(ev: Evaluator, found: Global) -> Global:
    """Return the exported global an extern one stands for. Raise CslError if there is none."""
    symbol = linked_name(ev, found)
    for module in ev.instances:
        for other in module.globals.values():
            if other.node.storage == "export" and linked_name(ev, other) == symbol:
                return other
    with ev.framed(Frame(found.module, comptime=True)):
        ev.fail(
            found.node,
            f"'{found.node.name}' is declared 'extern', and no other object is linked that defines '{symbol}'",
        )


def check_definition(ev: Evaluator, found: Global, other: Global) -> None:
    """Check that an extern variable and the exported one it refers to agree. Raises CslError if not."""
    here, there = found.node, other.node
    assert isinstance(here, syntax.Variable) and isinstance(there, syntax.Variable | syntax.Function)
    kind = there.kind if isinstance(there, syntax.Variable) else "fn"
    if here.kind != kind or found.type != other.type:
        have, want = f"'{here.kind}' of type '{found.type}'", f"'{kind}' of type '{other.type}'"
        with ev.framed(Frame(found.module, comptime=True)):
            note = Note(other.module.file.source, there.start, there.end, "exported here")
            ev.fail(here, f"'{here.name}' is declared as {have}, but exported as {want}", note)


def check_function(ev: Evaluator, found: Global) -> None:
    """Raise CslError for an exported function whose parameters or result cannot be shared."""
    declaration = found.node
    assert isinstance(declaration, syntax.Function)
    function = signature(ev, Callable(found.module, declaration), declaration)
    for type in function.parameters:
        if not is_shareable(type):
            ev.fail(declaration, f"'{found.node.name}' takes a '{type}', which cannot be shared by 'export'")
    if declaration.result is not None and function.result is not types.VOID and not is_shareable(function.result):
        ev.fail(declaration, f"'{found.node.name}' returns a '{function.result}', which cannot be shared by 'export'")


def is_shareable(type: Type) -> bool:
    """Return True if objects that are linked can share a variable of the type (Storage Classes, Type restrictions)."""
    match type:
        case types.Int():
            return not type.is_narrow
        case types.Enum():
            return not type.underlying.is_narrow
        case types.Float():
            return True
        case types.Array():
            return is_shareable(type.element)
        case types.Record(layout="extern"):
            return True
        case types.Record(layout="packed"):
            return types.bit_width(type) in (8, 16, 32, 64)
        case types.Pointer():
            return isinstance(type.target, types.Function) or is_shareable(type.target)
        case _:
            return type is types.BOOL or type is types.COLOR
