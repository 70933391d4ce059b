"""The verdict of a search: the possible outcomes, and the conditions that they depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..symbolic_integers import (
    Condition,
)

Outcome: TypeAlias = Literal["end", "left", "deadlock", "overwrite", "early", "held", "unfreed"]
"""Outcome of cores: `end`, all of them end; `left`, with entries that nobody pops; `deadlock`; `overwrite`, a push that
may reuse a slot in use; `early`, a credit for slots that are not free yet; `held`, a pop while the consumer holds all
slots; `unfreed`, popped entries that are not freed, or freed before their pop."""


@dataclass
class Verdict:
    """The outcomes that are possible; the only ones if the search is complete.

    `conditions` are those that outcomes depend on, with the origin of each.
    """

    outcomes: dict[tuple[Outcome, str], None] = field(default_factory=dict[tuple[Outcome, str], None])
    is_complete: bool = True
    conditions: dict[tuple[Condition, Any], None] = field(default_factory=dict[tuple[Condition, Any], None])
    states: int = 0

    @property
    def is_clean(self) -> bool:
        """True if `end` is the only possible outcome."""
        return self.is_complete and all(kind == "end" for kind, _ in self.outcomes)

    @property
    def is_wrong(self) -> bool:
        """True if `end` is impossible."""
        return self.is_complete and bool(self.outcomes) and all(kind != "end" for kind, _ in self.outcomes)
