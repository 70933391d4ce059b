"""Operations on tiles of which one may have fewer valid elements: where one has none, the other is copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...dialects.pto.instructions import InstructionOp
from .instruction_context import Instructions, Scratch, given, shape_of
from .views import Number, View


def partial(function: str) -> Callable[[Instructions, InstructionOp], None]:
    """Return the lowering of what combines two tiles where both are valid, and copies the one that is elsewhere."""

    def lower(kernel: Instructions, op: InstructionOp) -> None:
        first, second = (kernel.view(op, name) for name in ("src0", "src1"))
        target = kernel.view(op, "dst")
        both = tuple(kernel.emitter.least(*pair) for pair in zip(first.extents, second.extents, strict=True))
        kept = replace(kernel.tiles.intermediate(op, given(op, "dst"), target), extents=both)
        kernel.emitter.apply(function, kept, [replace(first, extents=both), replace(second, extents=both)])
        for source in (first, second):
            kernel.emitter.apply("copy", replace(target, extents=source.extents), [source])
        kernel.emitter.apply("copy", replace(target, extents=both), [kept])

    return lower


def partial_place(comparison: str) -> Callable[[Instructions, InstructionOp], None]:
    """Return the lowering of what takes an element and its index from the first tile if it compares with the second."""

    def lower(kernel: Instructions, op: InstructionOp) -> None:
        emitter, room = kernel.emitter, shape_of(op, "dst")
        values, places = ([kernel.view(op, f"src{which}{end}") for which in (0, 1)] for end in ("", "Idx"))
        both: tuple[Number, ...] = tuple(
            emitter.least(*pair) for pair in zip(values[0].extents, values[1].extents, strict=True)
        )
        scratch = Scratch(kernel.tiles)
        chosen = scratch.bits(both, room)
        emitter.apply(comparison, chosen, [replace(each, extents=both) for each in values])
        # All is chosen before anything is written: a result may be one of the sources.
        kept: list[View] = []
        for sources in (values, places):
            into = scratch.view(sources[0].element, both, room)
            emitter.apply("select", into, [chosen, *(replace(each, extents=both) for each in sources)])
            kept.append(into)
        for name, sources, into in zip(("dst", "dstIdx"), (values, places), kept, strict=True):
            target = kernel.view(op, name)
            for source in sources:
                emitter.apply("copy", replace(target, extents=source.extents), [source])
            emitter.apply("copy", replace(target, extents=both), [into])

    return lower
