"""Programs that no build level of PTOAS takes: level 3 wants every address given, levels 1 and 2 give them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
"""Codes of the findings that this check reports."""

_ADDRESSES = 3
"""The level that takes all addresses from the text; the others assign them."""

_SCRATCH_FOR = {
    "pto.tcolsum": " for binary tcolsum",
    "pto.tcvt": " for non-saturating narrowing tcvt",
    "pto.tmrgsort": " for tmrgsort format2",
}
"""For what the tile for intermediate results is, in PTOAS's words."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield what the build level of a program does not take.

    Without a level, yield the first operations that only levels 1 and 2 take, in a program with one that only level 3
    takes. Published kernels with addresses leave out tiles for intermediate results, so that is a warning then. In a
    program for levels 1 and 2, yield the operations for which they cannot make such a tile.
    """
    concerned = [op for op in walk(subject.module) if _is_concerned(type(op))]
    without_scratch = [op for op in concerned if needs_scratch(op)]
    if subject.level == _ADDRESSES:
        yield from _at_level_3(concerned, without_scratch)
        return
    if subject.level is not None:
        yield from _at_levels_1_and_2(concerned)
        yield from _of_unknown_size(without_scratch)
        return
    stated = _first(concerned, _of_level_3)
    without_address = _first(concerned, _of_levels_1_and_2)
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


def _first(operations: Iterable[Operation], reason: Callable[[Operation], str | None]) -> tuple[Operation, str] | None:
    return next(((op, found) for op in operations if (found := reason(op)) is not None), None)


def _at_level_3(operations: Iterable[Operation], without_scratch: Iterable[Operation]) -> Iterator[Hazard]:
    """Yield the operations without the address, or the tile for intermediate results, that level 3 makes for none."""
    for op in operations:
        misses = _of_levels_1_and_2(op)
        if isinstance(op, ReserveBufferOp) and op.automatic.value.data:
            misses = "requires 'auto = false' and explicit 'base'"
        if misses is not None:
            yield Hazard(
                "build-level",
                op,
                f"'{op.name}' op {misses} when --pto-level=level3, which places nothing itself; give it an address",
            )
    for op in without_scratch:
        kind = _SCRATCH_FOR.get(op.name, "")
        yield Hazard(
            "build-level",
            op,
            f"'{op.name}' op requires explicit tmp{kind} when PlanMemory is skipped, as at level 3; add the tile for "
            "intermediate results",
        )


def _at_levels_1_and_2(operations: Iterable[Operation]) -> Iterator[Hazard]:
    """Yield the operations whose address is stated, which levels 1 and 2 choose."""
    for op in operations:
        if _of_level_3(op) is None:
            continue
        match op:
            case ReserveBufferOp() if op.automatic.value.data:
                what = "has an unexpected 'base' on auto reserve_buffer: levels 1 and 2 assign it; leave it out"
            case ReserveBufferOp():
                what = (
                    "with explicit 'base' (auto = false) is not supported when --pto-level=level1 or level2; use "
                    "--pto-level=level3 or set auto = true"
                )
            case InstructionOp() if op.row.name == "tassign":
                what = "is only supported when --pto-level=level3; build for that level, or leave it out"
            case _:
                on = " on pto.alloc_multi_tile" if isinstance(op, InstructionOp) else ""
                what = (
                    f"has an unexpected 'addr' operand{on}: only supported when --pto-level=level3; build for that "
                    "level, or leave the address out"
                )
        yield Hazard("build-level", op, f"'{op.name}' op {what}")


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
