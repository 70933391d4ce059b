"""DSRs: registers that hold descriptors from one task to the next."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from ....dialects import dsd, dsd_table
from .. import syntax
from .core import Evaluator
from .types import Type
from .values import Value


def operand(ev: Evaluator, value: Value, needed: Type, source: int | None, node: syntax.Node) -> SSAValue:
    """A register as an operand of an operation."""
    ev.fail(node, "DSRs are not supported yet")


def apply(
    ev: Evaluator,
    row: dsd_table.DsdOperation,
    destination: SSAValue,
    sources: list[SSAValue],
    settings: dsd.AsyncAttr | None,
    index: SSAValue | None,
    node: syntax.Node,
) -> Any:
    """Emits an operation some operands of which are registers."""
    ev.fail(node, "DSRs are not supported yet")
