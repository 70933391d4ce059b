"""What every operation that defines or uses a symbol has: its name, how errors call it, and its check.

Which operation a name stands for is found in `scope`; nothing here knows the operations themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from ..symbols import symbol_name
from .attributes import TaskKindAttr

if TYPE_CHECKING:
    from .scope import Scope


def described(op: Operation) -> str:
    """How an error names a symbol: `local task @step`, `buffer @u`."""
    name = symbol_name(op)
    return f"{kind_of(op)} @{name}"


def kind_of(op: Operation) -> str:
    """What kind of symbol an operation defines: `local task`, `buffer`."""
    kind = op.get_attr_or_prop("kind")
    if isinstance(kind, TaskKindAttr):
        return f"{kind.data} task"
    if op.name == "wse.fifo":
        return "FIFO"
    return op.name.removeprefix("wse.").replace("_", " ")


class SymbolUser(IRDLOperation, ABC):
    """An operation that names symbols of its PE program or depends on the target.

    xDSL's own interface looks each name up by a scan of the symbol table; `wse.program` instead
    builds the tables once and calls `verify_symbols` on every user in a single walk.
    """

    @abstractmethod
    def verify_symbols(self, scope: Scope) -> None:
        """Raise VerifyException if a name is missing, of the wrong kind, or the target refuses."""


class UniqueSymbols(SymbolTable):
    """A symbol table whose error stands at the second operation of one name, not at the table."""

    def verify(self, op: Operation) -> None:
        first: dict[str, Operation] = {}
        for member in (member for block in op.regions[0].blocks for member in block.ops):
            name = symbol_name(member)
            if name is not None and (other := first.setdefault(name, member)) is not member:
                message = (
                    f"@{name} is already the name of the {kind_of(other)} above; give this {kind_of(member)} another"
                )
                member.emit_error(message, VerifyException(message))
