"""Symbols of the storage classes `export` and `extern`: one namespace for all modules of a PE's program."""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import NoReturn

from ..csl import syntax
from ..csl.source import Note
from . import recovery, types
from .evaluator import Evaluator
from .frames import Frame
from .modules import Global
from .signatures import signature
from .types import Type
from .values import Callable


def definition(ev: Evaluator, found: Global) -> Global:
    """Return the exported global an extern one stands for. Raise CslError if there is none."""
    symbol = ev.linked_name(found)
    for module in ev.instances:
        for other in module.globals.values():
            if other.node.storage == "export" and ev.linked_name(other) == symbol:
                return other
    with ev.framed(Frame(found.module, comptime=True)):
        unshared = next((m.globals[symbol] for m in ev.instances if symbol in m.globals and not m.is_library), None)
        if unshared is not None and not unshared.node.storage:
            there = unshared.node
            ev.fail(
                found.node,
                f"'{found.node.name}' is declared 'extern' and stands for '{symbol}', which is declared without a "
                f"storage class; declare '{symbol}' 'export'",
                Note(unshared.module.file.source, there.start, there.end, "declared here"),
            )
        ev.fail_for_lack(
            found.node,
            f"'{found.node.name}' is declared 'extern', and no other object is linked that defines '{symbol}'; export "
            "it in a module of this program",
        )


def check_symbols(ev: Evaluator, type_of: Function[[Global], Type | None]) -> None:
    """Check that declarations with one symbol agree, and that it is exported once (Storage Classes, Mixing extern and
    export declarations). Raises CslError, with both places, if not.

    `type_of` resolves a variable.
    """
    by_symbol: dict[str, list[Global]] = {}
    for module in ev.instances:
        for found in module.globals.values():
            if found.node.storage or found.node.link_name is not None:
                by_symbol.setdefault(ev.linked_name(found), []).append(found)
    for symbol, group in by_symbol.items():
        exported = [found for found in group if found.node.storage == "export"]
        shared = [*exported, *(found for found in group if found.node.storage == "extern")]
        if not shared:
            continue
        first = shared[0]
        what = "exported" if exported else "declared"
        for other in group:
            if other is not first:
                with recovery.checked(ev.session):
                    _check_pair(ev, symbol, first, other, what, type_of)
        if len(shared) == 1:
            with recovery.checked(ev.session):
                _described(ev, first, type_of)


def _check_pair(
    ev: Evaluator, symbol: str, first: Global, other: Global, what: str, type_of: Function[[Global], Type | None]
) -> None:
    """Check that another declaration with a symbol agrees with the first, which is `what`: exported or declared."""
    both_exported = first.node.storage == other.node.storage == "export"
    if both_exported and other.module.is_library and first.module.path == other.module.path:
        # Of libraries, only <debug> exports, and its symbol is that of its key.
        _fail(ev, other, "two <debug> buffers have the same key; give one of them another '.key'", first)
    if both_exported:
        nouns = sorted({_noun(found) for found in (first, other)}, reverse=True)
        what = f"two {nouns[0]}s are" if len(nouns) == 1 else f"a {nouns[0]} and a {nouns[1]} are"
        _fail(ev, other, f"{what} exported as '{symbol}'; give one of them another name with linkname", first)
    if not other.node.storage:
        message = f"'{other.node.name}' has the linkname '{symbol}', which is {what} elsewhere"
        _fail(ev, other, f"{message}; declare it 'extern', or give it another one", first)
    have, want = _described(ev, other, type_of), _described(ev, first, type_of)
    if have != want and not (_result_is_open(first) and have.startswith(want.removesuffix("'"))):
        _fail(ev, other, f"'{other.node.name}' is declared as {have}, but {what} as {want}", first)


def _noun(found: Global) -> str:
    return "variable" if isinstance(found.node, syntax.Variable) else "function"


def _result_is_open(found: Global) -> bool:
    """Return True for an exported function that leaves its result to its body."""
    declaration = found.node
    return isinstance(declaration, syntax.Function) and declaration.storage == "export" and declaration.result is None


def _described(ev: Evaluator, found: Global, type_of: Function[[Global], Type | None]) -> str:
    """Return the kind and the type of a declaration as messages say them; those that agree are the same."""
    declaration = found.node
    if isinstance(declaration, syntax.Variable):
        return f"'{declaration.kind}' of type '{type_of(found)}'"
    with ev.framed(Frame(found.module, comptime=True)):
        function = signature(ev, Callable(found.module, declaration), declaration)
    result = "" if _result_is_open(found) else f" {function.result}"
    return f"'{declaration.keyword}({', '.join(map(str, function.parameters))}){result}'"


def _fail(ev: Evaluator, found: Global, message: str, other: Global) -> NoReturn:
    """End the compilation with an error at a declaration, with a note at another."""
    there = other.node
    verb = "exported" if there.storage == "export" else "declared"
    note = Note(other.module.file.source, there.start, there.end, f"{verb} here")
    with ev.framed(Frame(found.module, comptime=True)):
        ev.fail(found.node, message, note)


def check_function(ev: Evaluator, found: Global) -> None:
    """Raise CslError for an exported or extern function whose parameters or result cannot be shared."""
    declaration = found.node
    assert isinstance(declaration, syntax.Function)
    function = signature(ev, Callable(found.module, declaration), declaration)
    for parameter, type in zip(declaration.parameters, function.parameters, strict=True):
        if isinstance(parameter.type, syntax.AnyType):
            ev.fail(
                declaration,
                f"'{found.node.name}' takes an 'anytype', which cannot be shared by '{declaration.storage}'; give the "
                f"parameter '{parameter.name}' a type",
            )
        if not is_shareable(type):
            ev.fail(
                declaration, f"'{found.node.name}' takes a '{type}', which cannot be shared by '{declaration.storage}'"
            )
    if declaration.result is not None and function.result is not types.VOID and not is_shareable(function.result):
        ev.fail(
            declaration,
            f"'{found.node.name}' returns a '{function.result}', which cannot be shared by '{declaration.storage}'",
        )


def is_shareable(type: Type) -> bool:
    """Return True if objects that are linked can share a variable of the type (Storage Classes, Type restrictions)."""
    match type:
        case types.Int():
            return type.bits in (8, 16, 32, 64)
        case types.Enum():
            return is_shareable(type.underlying)
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
