"""The barrier of all cores in a dry run."""

from __future__ import annotations


class Barrier:
    """The barrier of the cores of a program, and the arrays that have been written."""

    def __init__(self, cores: int, written: set[str] | None = None) -> None:
        self.cores = cores
        self.rounds: list[dict[int, int]] = []
        self.taken: dict[int, int] = {}
        self.written: set[str] = set() if written is None else written

    def arrive(self, core: int, step: int) -> int:
        """Note that a core has come to its next barrier; return which one that is."""
        number = self.taken.get(core, 0)
        self.taken[core] = number + 1
        if len(self.rounds) <= number:
            self.rounds.append({})
        self.rounds[number][core] = step
        return number

    def is_complete(self, number: int) -> bool:
        """Return True if all cores have come to a barrier."""
        return len(self.rounds[number]) == self.cores

    def arrivals(self, number: int) -> tuple[int, ...]:
        """Return the steps of all cores at a barrier."""
        return tuple(self.rounds[number].values())
