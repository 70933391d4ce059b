"""Contents of slots that are tensors: allocated, written, pushed and freed in this order (PTO-030, PTO-031)."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.schedules import Kernel, Pipe, PipeUse, Schedule, Slot, Step
from ...dialects.pto.tiles import TileOperation
from ...dialects.pto.types import TensorViewType
from ...dialects.traversal import walk
from .hazard import Hazard

CODES = ("not-a-slot", "slot-not-pushed", "store-after-push", "unwritten-slot", "use-after-free")
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the pushes of tensors that are not written slots, and the accesses to slots after push or free."""
    for paths in kernel.schedules:
        for path in paths:
            yield from _contents(path, kernel)


def _contents(path: Schedule, kernel: Kernel) -> Iterator[Hazard]:
    allocated: dict[Slot, None] = {}
    written: set[Slot] = set()
    released: set[Slot] = set()
    popped: dict[tuple[Pipe, int], list[Slot]] = {}
    for step in path.steps:
        use, slot = step.use, step.slot
        if use is None:
            if slot is not None:
                yield from _access(step, slot, released, written)
        elif use.action == "alloc" and slot is not None:
            allocated[slot] = None
        elif use.action == "pop" and slot is not None:
            popped.setdefault((use.pipe, use.direction), []).append(slot)
        elif use.action == "free":
            held = popped.get((use.pipe, use.direction), [])
            freed = slot if slot in held else next(iter(held), None)
            if freed is not None and not kernel.frees_at_pop(use.pipe, use.direction):
                held.remove(freed)
                # A tile out of global memory is a copy, which the producer does not reach.
                if not (freed.use.of_tile and kernel.in_global_memory(use.pipe)):
                    released.add(freed)
        elif use.entry is not None and isinstance(use.entry.type, TensorViewType):
            # An outline of a kernel has no data to push.
            yield from _push(use, slot, released, written, computes=_computes(kernel))
            if slot is not None:
                released.add(slot)
    for slot in allocated:
        if slot not in released and path.complete:
            yield Hazard(
                "slot-not-pushed",
                slot.use.op,
                "the slot is never pushed, so the consumer waits for it forever; push it",
            )


def _access(step: Step, slot: Slot, released: set[Slot], written: set[Slot]) -> Iterator[Hazard]:
    if slot.use.action == "pop":
        if slot in released:
            yield Hazard(
                "use-after-free",
                step.op,
                "the slot of this entry has been freed, and the producer may have overwritten it; free it later",
            )
    elif step.access != "read":
        if slot in released and step.access == "write":
            yield Hazard(
                "store-after-push",
                step.op,
                "the slot has been pushed, and the consumer may be reading it; store before the push",
            )
        written.add(slot)


def _computes(kernel: Kernel) -> bool:
    return any(isinstance(op, TileOperation) for op in walk(kernel.function))


def _push(
    use: PipeUse, slot: Slot | None, released: set[Slot], written: set[Slot], *, computes: bool
) -> Iterator[Hazard]:
    if slot is None or slot.use.action != "alloc" or slot.use.pipe is not use.pipe:
        yield Hazard(
            "not-a-slot",
            use.op,
            "the tensor is not a slot of the pipe, and its contents are not pushed; push the result of talloc",
        )
    elif slot in released:
        yield Hazard(
            "not-a-slot",
            use.op,
            "the slot has already been pushed, and the next one is pushed unwritten in its place; push each slot once",
        )
    elif slot not in written:
        yield Hazard(
            "unwritten-slot",
            use.op,
            "nothing is stored into the slot before it is pushed; store a tile into it first",
            "error" if computes else "warning",
        )
