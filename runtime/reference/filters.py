"""Filters: which of the wavelets that a router sends down its ramp come to the compute engine of the PE.

A wavelet is compared with the numbers of the filter first, and counted then. One that does not pass needs no room in a
queue. What the compute engine ignores anyway is neither compared nor counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from ...targets.wavelets import FILTER_FLAGS, FILTER_KINDS, FILTER_NUMBERS, INDEX_SHIFT, WORD_MASK
from ..fabric.model import NOWHERE, SwitchedColor

COUNTER, SPARSE_COUNTER, RANGE = range(1, len(FILTER_KINDS) + 1)
COUNT_DATA, COUNT_CONTROL, FILTER_CONTROL = (1 << bit for bit in range(len(FILTER_FLAGS)))


@dataclass(eq=False, slots=True)
class Filter:
    """The filter of a color on a PE."""

    kind: int
    flags: int
    id: int
    counter: int
    limit: int
    """Where the counter starts again; of a sparse counter `NOWHERE` if it lets everything pass."""
    then: int
    """Of a sparse counter: the limit after this one, else `NOWHERE`."""
    most: int
    """The counter up to which wavelets pass."""
    low: int
    high: int

    def passes(self, word: int, *, control: bool) -> bool:
        """Return True if a wavelet passes."""
        if self.kind == RANGE:
            return control or self.low <= word >> INDEX_SHIFT <= self.high
        if self.kind == SPARSE_COUNTER and self.limit == NOWHERE:
            return True
        if self.flags & FILTER_CONTROL:
            return control and self.counter == self.most
        return self.counter <= self.most

    def count(self, *, control: bool) -> None:
        """Count a wavelet that has been compared."""
        if self.kind == RANGE or not self.flags & (COUNT_CONTROL if control else COUNT_DATA):
            return
        if self.counter < self.limit:
            self.counter += 1
        elif self.kind == COUNTER:
            self.counter = 0
        elif self.limit != NOWHERE:
            self.counter, self.limit, self.then = 0, self.then, NOWHERE

    def count_all(self, count: int, *, control: bool) -> None:
        """Count wavelets that have been compared."""
        for _ in range(count):
            self.count(control=control)

    def read(self, field: int) -> int:
        """Return what one of its registers holds: its limit, what passes, its counter, and one that is unused."""
        return (self.limit, self.most, self.counter, 0)[field] & WORD_MASK

    def write(self, field: int, value: int) -> None:
        """Write one of its registers."""
        if field == 0:
            self.limit = value
        elif field == 1:
            self.most = value
        elif field == 2:
            self.counter = value

    def first(self, payload: Sequence[int], *, control: bool) -> tuple[bool, int]:
        """Return if the first wavelet passes, and of how many, from the first on, the same is true."""
        trial = copy(self)
        verdict = trial.passes(payload[0], control=control)
        for number, word in enumerate(payload):
            if trial.passes(word, control=control) != verdict:
                return verdict, number
            trial.count(control=control)
        return verdict, len(payload)


def filter_of(color: SwitchedColor, pe: int) -> Filter | None:
    """Return the filter of a color on a PE, None if it has none."""
    if not len(color.filter_kind) or not color.filter_kind[pe]:
        return None
    numbers = dict(zip(FILTER_NUMBERS, color.filter_numbers[:, pe].tolist(), strict=True))
    kind = int(color.filter_kind[pe])
    # Only a sparse counter is another one without its limits.
    limit, then = (numbers[name] if kind == SPARSE_COUNTER else max(numbers[name], 0) for name in ("limit1", "limit2"))
    counter, most, low, high = (max(numbers[name], 0) for name in ("init_counter", "max_counter", "min_idx", "max_idx"))
    return Filter(kind, int(color.filter_flags[pe]), numbers["id"], counter, limit, then, most, low, high)
