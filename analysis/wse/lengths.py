"""Lengths of the operands of DSD operations: operands in memory of different lengths, known at compile time.

An operation runs as often as its shortest memory or fabric input is long (AMB-01), which leaves elements of the longer
ones alone. What is sent is as long as what sends it, FIFOs have lengths of their own, and a single element, a circular
buffer, and walks that go on for ever fit any length.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ...dialects import dsd, wse
from ...dialects.machine.code import Bodies
from ...dialects.traversal import walk
from ...targets.wavelets import ENDLESS_EXTENT, POINTER_EXTENT
from .memory_use import fabric_length, walk_of


def unequal_lengths(program: wse.ProgramOp) -> Iterator[tuple[Operation, str]]:
    """Yield the operations whose operands in memory, and of wavelets that are received, differ in length."""
    bodies = Bodies(program)
    seen: set[Operation] = set()
    for pe in program.pes:
        for member in pe.body.block.ops:
            if isinstance(member, wse.TaskOp | wse.FuncOp):
                home = bodies.home(member)
                if home in seen:
                    continue
                seen.add(home)
                for op in walk(home):
                    message = _message(op) if isinstance(op, dsd.DsdOperation) else None
                    if message is not None:
                        yield op, message


def _message(op: dsd.DsdOperation) -> str | None:
    lengths: list[tuple[str, int]] = []
    for place, operand in enumerate(op.table_operands):
        length: int | None = None
        match operand.type:
            case dsd.FabinType():
                length = fabric_length(operand)
            case dsd.DescriptorType() if not isinstance(operand.type, dsd.FaboutType | dsd.FifoType):
                found = walk_of(operand)
                length = None if found is None else found.length
            case _:
                pass
        if length not in (None, ENDLESS_EXTENT, POINTER_EXTENT):
            lengths.append(("its destination" if place == 0 else f"source {place}", length))
    shortest = min((length for _, length in lengths), default=0)
    longer = next(((name, length) for name, length in lengths if length > shortest), None)
    if longer is None:
        return None
    name, length = longer
    return (
        f"{op.definition.name} takes {shortest} elements, as its shortest operand has, but {name} has {length} "
        "(AMB-01); give both the same extent"
    )
