"""Microthreads that PE programs block and unblock."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from xdsl.ir import Operation

from ...diagnostics.locations import location_of
from ...dialects import wse
from ...dialects.machine.code import Bodies
from ...dialects.traversal import walk


class Blocks:
    """Blocks and unblocks of microthreads in a PE program, in the order of the text."""

    def __init__(self, pe: wse.PeOp, bodies: Bodies) -> None:
        self.blocks: list[tuple[Operation, int | None]] = []
        """With the number of the microthread, None if that is known at run time only."""
        self.unblocked: set[int | None] = set()
        for op in pe.body.block.ops:
            if isinstance(op, wse.BlockedMicrothreadOp):
                self.blocks.append((op, op.number.value.data))
            elif isinstance(op, wse.FuncOp | wse.TaskOp):
                self._read(bodies.home(op))

    def _read(self, home: Operation) -> None:
        for op in walk(home):
            if isinstance(op, wse.BlockMicrothreadOp):
                self.blocks.append((op, op.known_number))
            elif isinstance(op, wse.UnblockMicrothreadOp):
                self.unblocked.add(op.known_number)

    @property
    def numbers(self) -> set[int | None]:
        """The microthreads that are ever blocked, None if that may be any."""
        return {number for _, number in self.blocks}

    def may_block(self, number: int | None) -> bool:
        """Return True if a microthread is ever blocked, or for None, of which it is not known which it is, any."""
        return bool(self.numbers) and (number is None or number in self.numbers or None in self.numbers)


def never_unblocked(program: wse.ProgramOp) -> Iterator[tuple[Operation, str]]:
    """Yield blocks of microthreads that nothing unblocks in any PE program that has them, with a message each."""
    bodies = Bodies(program)
    found: dict[Hashable, tuple[Operation, int]] = {}
    unblocked: set[Hashable] = set()
    for pe in program.pes:
        blocks = Blocks(pe, bodies)
        for op, number in blocks.blocks:
            where = location_of(op)
            key = op if where is None else (where, number)
            if number is None or not blocks.unblocked.isdisjoint((number, None)):
                unblocked.add(key)
            else:
                found.setdefault(key, (op, number))
    for key, (op, number) in found.items():
        if key not in unblocked:
            yield (
                op,
                f"microthread {number} is blocked, and nothing unblocks it, so that no operation on it goes on; call "
                f"@unblock(@get_ut_id({number})) when one may, or remove this",
            )
