"""Scope of a class of units: beside its symbols, its memory and where its streams come from.

Nothing here knows an operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from xdsl.ir import Operation, SSAValue

from ...diagnostics.records import record
from ..machine.symbols import Scope

Origin: TypeAlias = Literal["vector", "array", "ring", "fifo", "received", "sent"]
"""What a stream is made of: a walk over memory of one dimension or of more, a FIFO, an input or an output queue."""

StreamOrigins: TypeAlias = Mapping[SSAValue, Mapping[Origin, Operation]]
"""The possible origins of each stream, each with an operation that makes it so."""


@record
class UnitsScope(Scope):
    """What the operations of one class of units may name, and what is known of its memory and streams."""

    words: int
    """Memory of a unit, in 16-bit words."""
    streams: StreamOrigins

    def origins(self, stream: SSAValue) -> Mapping[Origin, Operation]:
        """Return the possible origins of a stream, each with an operation that makes it so."""
        return self.streams.get(stream, {})


def scope_of_units(scope: Scope) -> UnitsScope:
    """Return the scope as that of a class of units, which it is for every operation inside one."""
    assert isinstance(scope, UnitsScope)
    return scope
