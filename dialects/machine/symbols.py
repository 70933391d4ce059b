"""Symbols: the operations that define and use them, the scope in which they are found, and their verification.

Nothing here knows an operation of a dialect.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import singledispatch
from typing import Any, ClassVar, TypeVar

from xdsl.dialects.builtin import SymbolNameConstraint, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, prop_def, traits_def
from xdsl.traits import HasParent, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ...diagnostics.records import record
from ...targets import Target
from ..inheritance import ByInheritance
from ..symbols import symbol_name


class SymbolDefinition(IRDLOperation, metaclass=ByInheritance):
    """An operation that defines a symbol."""

    NOUN: ClassVar[str]
    """How an error calls one: `a buffer`, `an input queue`."""

    sym_name = prop_def(SymbolNameConstraint())
    traits = traits_def(SymbolOpInterface())

    @property
    def symbol_kind(self) -> str:
        """How an error calls this one, before its name: `local task`, `buffer`."""
        return self.name.partition(".")[2].replace("_", " ")

    def seen_by_users(self) -> Hashable:
        """Return what those that name the symbol may see of it when they are verified."""
        return type(self), *self.properties.items()


_DefinitionT = TypeVar("_DefinitionT", bound=SymbolDefinition)


@record
class Scope:
    """The symbols that operations of one program may name, and the machine it is for.

    Built once for each program, so that checking all uses of symbols costs one walk.
    """

    target: Target
    grid: tuple[int, int]
    """Columns and rows of the rectangle of PEs."""
    where: str
    """The operation whose symbols these are, for errors."""
    shared: Mapping[str, Operation]
    """Symbols of the whole rectangle: colors, programs."""
    own: Mapping[str, Operation]
    """Symbols of the program that a PE runs; they hide shared ones."""

    def find(self, symbol: SymbolRefAttr | str) -> Operation:
        """Return the operation that defines `symbol`; raises VerifyException if there is none."""
        name = symbol if isinstance(symbol, str) else symbol.string_value()
        found = self.own.get(name) or self.shared.get(name)
        if found is None:
            raise VerifyException(f"@{name} is not defined in {self.where}; define it or correct the name")
        return found

    def face(self, name: str) -> Hashable:
        """Return what users of a name may see of what it stands for; None if nothing has it."""
        found = self.own.get(name) or self.shared.get(name)
        return found.seen_by_users() if isinstance(found, SymbolDefinition) else found

    def listening(self) -> Listening:
        """Return this scope, noting what is looked up in it."""
        own = _NotedSymbols(self.own)
        return Listening(replace(self, own=own), own.names)

    def get(self, kind: type[_DefinitionT], symbol: SymbolRefAttr | str) -> _DefinitionT:
        """Return the operation of `kind` that defines `symbol`; raises VerifyException if another or none does."""
        found = self.find(symbol)
        if not isinstance(found, kind):
            raise VerifyException(f"{described(found)} is used where {kind.NOUN} is needed; name {kind.NOUN}")
        return found


class _NotedSymbols(dict[str, Operation]):
    """Symbols that note which of them are looked up."""

    def __init__(self, symbols: Mapping[str, Operation]) -> None:
        super().__init__(symbols)
        self.names: dict[str, None] = {}

    def get(self, name: str, default: Any = None) -> Any:
        self.names[name] = None
        return super().get(name, default)

    def values(self) -> Any:
        self.names.update(dict.fromkeys(self))
        return super().values()


@record
class Listening:
    """A scope, and the names that have been looked up in it."""

    scope: Scope
    names: Mapping[str, None]


class SymbolUser(IRDLOperation, metaclass=ByInheritance):
    """An operation that names symbols of its program, or depends on the target.

    xDSL's own interface looks each name up by a scan of the symbol table; a program instead builds the tables once and
    calls `verify_symbols` on every user in a single walk.
    """

    @abstractmethod
    def verify_symbols(self, scope: Scope) -> None:
        """Raise VerifyException if a name is missing, of the wrong kind, or the target refuses."""


class UniqueSymbols(SymbolTable):
    """A symbol table that reports a name's second operation, not the table."""

    def verify(self, op: Operation) -> None:
        first: dict[str, Operation] = {}
        for member in (member for block in op.regions[0].blocks for member in block.ops):
            name = symbol_name(member)
            if name is not None and (other := first.setdefault(name, member)) is not member:
                message = (
                    f"@{name} is already the name of the {kind_of(other)} above; give this {kind_of(member)} another"
                )
                member.emit_error(message, VerifyException(message))


def described(op: Operation) -> str:
    """Return how an error names a symbol: `local task @step`, `buffer @u`."""
    return f"{kind_of(op)} @{symbol_name(op)}"


def kind_of(op: Operation) -> str:
    """Return what kind of symbol an operation defines: `local task`, `buffer`."""
    return op.symbol_kind if isinstance(op, SymbolDefinition) else op.name.partition(".")[2].replace("_", " ")


@singledispatch
def verify_members(owner: Operation) -> None:
    """Check what the members of `owner` must fulfil together; raises VerifyException or reports an error at a member.

    Each dialect registers its checks by the type of the owner: members are built on the owner, so it cannot know them.
    """
    raise TypeError(f"no check of the members of {owner.name}")


def belongs_in(op: Operation, owner: type[Operation]) -> bool:
    """Return True if operations like `op` are declared to be direct members of `owner`."""
    return any(isinstance(trait, HasParent) and owner in trait.op_types for trait in op.traits)


def verify_user(user: SymbolUser, scope: Scope) -> None:
    """Check what an operation names; reports an error at that operation, not at the program that found it."""
    try:
        user.verify_symbols(scope)
    except VerifyException as error:
        user.emit_error(f"Operation does not verify: {error}", error)
