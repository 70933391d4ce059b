"""The registry of rules: what evaluates each kind of expression, statement and builtin.

A rule registers itself where it is written, by a decorator; `load_rules` imports the files. Builtins are declared in
tables, one for each file of `builtins`: the row of a builtin says what it takes, where it may be called and since which
SDK, and both the checks of a call (`check_count`, `check_place`) and the list in the documentation follow from it.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Callable as Function
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import Any

from ..csl import syntax
from ..diagnostics.records import record
from .evaluator import EXPRESSIONS, PLACES, STATEMENTS, Evaluator
from .types import Type
from .values import Value


def expression(kind: type[syntax.Node]) -> Function[[Any], Any]:
    """Register the rule that evaluates an expression; it is given the type wanted, if one is known."""

    def register(rule: Any) -> Any:
        EXPRESSIONS[kind] = rule
        return rule

    return register


def statement(kind: type[syntax.Node]) -> Function[[Any], Any]:
    """Register the rule that executes a statement."""

    def register(rule: Any) -> Any:
        STATEMENTS[kind] = rule
        return rule

    return register


def place(kind: type[syntax.Node]) -> Function[[Any], Any]:
    """Register the rule that finds the place an expression denotes."""

    def register(rule: Any) -> Any:
        PLACES[kind] = rule
        return rule

    return register


class Where(Enum):
    """Where a builtin may be called; the value is how the documentation says it."""

    ANYWHERE = "anywhere"
    LAYOUT = "layout block"
    PE = "PE program"
    COMPTIME = "comptime block of a PE program"
    FUNCTION = "function of a PE program"
    GLOBAL = "initial value of a global"
    RUN_TIME = "code for run time"


@record
class Row:
    """One builtin, or several that take the same arguments and share a rule."""

    calls: tuple[str, ...]
    """How it is called, optional arguments in brackets: `@get_dsd(type, properties)`."""
    rule: Function[[Evaluator, syntax.Builtin, Type | None], Value]
    table: Table
    counts: list[int] | range
    """The numbers of arguments it takes."""
    takes: str
    """The same in words."""
    where: Where
    refusal: str
    """The error of a call elsewhere; empty for the usual one."""
    since: str
    """The first SDK whose language reference has it, of 1.4 and 2.10."""
    dropped: str
    """The SDK that no longer has it, if any."""
    on_wse2: str
    """What to do on WSE-2, which has no such builtin; empty if it has."""
    rules: str
    """The rules of docs/rules.md that it follows."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the builtins, each once."""
        return tuple(dict.fromkeys(call.partition("(")[0] for call in self.calls))

    @property
    def is_internal(self) -> bool:
        """True if only the libraries call it."""
        return self.calls[0].startswith("@loom_")


@dataclass(eq=False)
class Table:
    """The builtins of one file, under the heading that the documentation gives them."""

    title: str
    has_effects: bool = True
    """True if their calls change more than the value they return, so that code that is only checked stops there."""
    rows: list[Row] = field(default_factory=list[Row])

    def __post_init__(self) -> None:
        TABLES.append(self)

    def row(
        self,
        *calls: str,
        where: Where = Where.ANYWHERE,
        since: str = "1.4",
        rules: str = "",
        refusal: str = "",
        takes: str = "",
        dropped: str = "",
        on_wse2: str = "",
    ) -> Function[[Any], Any]:
        """Declare builtins and register their rule. `refusal` and `takes` replace parts of the usual errors."""

        def register(rule: Any) -> Any:
            counts = _counts(calls)
            row = Row(
                calls, rule, self, counts, takes or _in_words(counts), where, refusal, since, dropped, on_wse2, rules
            )
            self.rows.append(row)
            BUILTINS.update(dict.fromkeys(row.names, row))
            return rule

        return register


TABLES: list[Table] = []
BUILTINS: dict[str, Row] = {}

_CALL = re.compile(r"@\w+\((?P<arguments>[^\[\])]*)(?P<optional>(\[[^\[\]]*)*)\]*\)")


def _counts(calls: tuple[str, ...]) -> list[int] | range:
    """Return the numbers of arguments that the calls of one builtin are written with."""
    found: set[int] = set()
    for call in calls:
        match = _CALL.fullmatch(call)
        assert match is not None, call
        least = len(match["arguments"].split(",")) if match["arguments"] else 0
        if "..." in call:
            return range(least, sys.maxsize)
        found.update(range(least, least + match["optional"].count("[") + 1))
    return sorted(found)


def _in_words(counts: list[int] | range) -> str:
    if not isinstance(counts, list):
        return "more arguments"
    allowed = " or ".join(map(str, counts))
    return f"{allowed} argument{'' if allowed == '1' else 's'}"


def check_count(ev: Evaluator, row: Row, node: syntax.Builtin) -> None:
    """Raise CslError if a call of a builtin has too many or too few arguments."""
    if len(node.arguments) not in row.counts:
        given = f", not {len(node.arguments)}" if isinstance(row.counts, list) and "argument" in row.takes else ""
        ev.fail(node, f"@{node.name} takes {row.takes}{given}")


def check_place(ev: Evaluator, row: Row, node: syntax.Builtin) -> None:
    """Raise CslError if a builtin is called where it may not be, or on an architecture that does not have it."""
    refusal = _refusal(ev, row, node)
    if refusal:
        ev.fail(node, row.refusal.replace("{name}", f"@{node.name}") or refusal)
    if row.on_wse2 and ev.session.target.data_tasks_by_color:
        ev.fail(node, f"@{node.name} exists on WSE-3 only; {row.on_wse2}")


def _refusal(ev: Evaluator, row: Row, node: syntax.Builtin) -> str:
    """Return why a builtin cannot be called here; empty if it can."""
    name = "this part of the library" if row.is_internal else f"@{node.name}"
    match row.where:
        case Where.ANYWHERE:
            return ""
        case Where.LAYOUT:
            return "" if ev.in_layout else f"{name} belongs in the layout block"
        case Where.GLOBAL:
            return "" if ev.initializes_global(node) else f"{name} initializes a global"
        case _ if ev.pe is None:
            return f"{name} belongs in a PE's program, not in the layout"
        case Where.COMPTIME if ev.builder is not None:
            return f"{name} belongs in a comptime block, not in code for run time"
        case Where.FUNCTION if ev.frame.function is None:
            return f"{name} is called in functions"
        case Where.RUN_TIME if ev.builder is None:
            return f"{name} is for run time only"
        case _:
            return ""


GUARD = 'guard it with @is_arch("wse3")'
"""What to do about a builtin that WSE-2 does not have, where nothing else replaces it."""


def load_rules() -> None:
    """Import every file of the front end, so that all rules are registered."""
    package = sys.modules[__name__.rpartition(".")[0]]
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
