"""Programs that no build level of PTOAS takes: level 3 wants every address given, levels 1 and 2 give them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from xdsl.ir import Operation

from ...analysis.pto.implicit_scratch import needs_scratch, scratch_like
from ...diagnostics.locations import location_of
from ...dialects.pto.buffers import ReserveBufferOp
from ...dialects.pto.instruction_operation import InstructionOp
from ...dialects.pto.memory import AllocTileOp
from ...dialects.pto.tiles import TableOperation, TCvtOp
from ...dialects.pto.types import DYNAMIC
from ...dialects.traversal import walk
from .hazard import Hazard
from .subject import Subject

CODES = ("build-level", "implicit-scratch")
"""What this file reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the first operations that only levels 1 and 2 take, in a program with one that only level 3 takes.

    Published kernels with addresses leave out tiles for intermediate results, so that is a warning. In a program for
    levels 1 and 2, yield the operations for which they cannot make such a tile.
    """
    stated: tuple[Operation, str] | None = None
    without_address: tuple[Operation, str] | None = None
    without_scratch: list[Operation] = []
    for op in walk(subject.module):
        if not _is_concerned(type(op)):
            continue
        if stated is None and (reason := _of_level_3(op)) is not None:
            stated = op, reason
        if without_address is None and (reason := _of_levels_1_and_2(op)) is not None:
            without_address = op, reason
        if needs_scratch(op):
            without_scratch.append(op)
    if stated is None:
        yield from _of_unknown_size(without_scratch)
        return
    other, given = stated
    where = "" if (place := location_of(other)) is None else f" at {place}"
    why = f"when --pto-level=level3, and {given}{where} needs that level"
    if without_address is not None:
        op, misses = without_address
        yield Hazard(
            "build-level",
            op,
            f"'{op.name}' op {misses} {why}: levels 1 and 2 assign all addresses themselves; give every address, or "
            "none",
        )
    if without_scratch:
        yield Hazard(
            "build-level",
            without_scratch[0],
            f"'{without_scratch[0].name}' op requires explicit tmp {why}, so the newest PTOAS refuses it at every "
            "level; add the tile for intermediate results, or leave out all addresses",
            "warning",
        )


@cache
def _is_concerned(kind: type[Operation]) -> bool:
    """Return True for the kinds of operations of which levels may ask something; others are most of a program."""
    return issubclass(kind, AllocTileOp | ReserveBufferOp | InstructionOp | TableOperation | TCvtOp)


def _of_unknown_size(operations: Iterable[Operation]) -> Iterator[Hazard]:
    """Yield the operations whose tile for intermediate results is as large as one that is known at run time only."""
    for op in operations:
        like = scratch_like(op)
        if like is not None and DYNAMIC in like[1].valid_shape:
            yield Hazard(
                "implicit-scratch",
                op,
                f"'{op.name}' op requires static tile_buf {like[0]} to materialize implicit "
                f"{op.name.removeprefix('pto.')} tmp; add a tile for intermediate results, or give {like[0]} a valid "
                "shape that is known when it is compiled",
            )


def _of_level_3(op: Operation) -> str | None:
    """Return what only level 3 takes of an operation; None for most."""
    match op:
        case AllocTileOp() if op.addr is not None:
            return "the address of the tile"
        case ReserveBufferOp() if op.base is not None:
            return "the base of the buffer"
        case InstructionOp() if op.row.name == "alloc_multi_tile" and op.operand("addr") is not None:
            return "the address of several tiles"
        case InstructionOp() if op.row.name == "tassign":
            return "pto.tassign"
        case _:
            return None


def _of_levels_1_and_2(op: Operation) -> str | None:
    """Return what level 3 misses of an operation; None for most."""
    match op:
        case AllocTileOp() if op.addr is None:
            return "requires 'addr' operand"
        case ReserveBufferOp() if op.base is None:
            return "requires 'auto = false' and explicit 'base'"
        case InstructionOp() if op.row.name == "alloc_multi_tile" and op.operand("addr") is None:
            return "requires a base 'addr' operand"
        case _:
            return None
