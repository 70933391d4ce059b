"""What every operation that defines or uses a symbol has: its name, how errors call it, and its check.

Which operation a name stands for is found in `scope`; nothing here knows the operations themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from ..symbols import symbol_name

if TYPE_CHECKING:
    from .scope import Scope


class SymbolUser(IRDLOperation, ABC):
    """An operation that names symbols of its fabric or units, or depends on the target.

    xDSL's own interface looks each name up by a scan of the symbol table; `flow.fabric` instead builds the tables
    once and calls `verify_symbols` on every user in a single walk.
    """

    @abstractmethod
    def verify_symbols(self, scope: Scope) -> None:
        """Raise VerifyException if a name is missing, of the wrong kind, or the target refuses."""


def described(op: Operation) -> str:
    """How an error names a symbol: `local task @step`, `input queue @west`, `buffer @u`."""
    match op.name:
        case "flow.task":
            kind = f"{_word(op, 'kind')} task"
        case "flow.queue":
            kind = f"{_word(op, 'direction')} queue"
        case "flow.func":
            kind = "function"
        case "flow.fifo":
            kind = "FIFO"
        case name:
            kind = name.removeprefix("flow.")
    return f"{kind} @{symbol_name(op)}"


def _word(op: Operation, name: str) -> str:
    """The text of a property that is one."""
    word = op.get_attr_or_prop(name)
    return word.data if isinstance(word, StringAttr) else ""
