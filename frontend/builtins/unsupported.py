"""Builtins of parts of the machine that are not modeled yet: each call is checked and refused with one error."""

from __future__ import annotations

from ...csl import syntax
from ..evaluator import Evaluator
from ..registry import Table
from ..types import Type
from ..values import Value

TABLE = Table("Known but not supported yet")

_MISSING: dict[str, str] = {}
"""What each builtin needs that is not simulated."""


def _declare(missing: str, *calls: str, since: str = "1.4", on_wse2: str = "") -> None:
    TABLE.row(*calls, since=since, on_wse2=on_wse2)(_refuse)
    for name in TABLE.rows[-1].names:
        _MISSING[name] = missing


def _refuse(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    ev.fail(node, f"@{node.name} is not supported yet: {_MISSING[f'@{node.name}']} not simulated")


_declare("dropping wavelets up to a control wavelet is", "@dfilt(dsd, config)")
