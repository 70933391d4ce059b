"""Contract of a pipe: both ends agree in split, element type, shape and layout of each entry (PTO-025 to PTO-027)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from xdsl.ir import Operation

from ...analysis.pto.rings import Ring, is_identified
from ...analysis.pto.schedules import PipeUse
from ...diagnostics.locations import location_of
from ...dialects.pto.attributes import AddressSpace, BLayout, SLayout
from ...dialects.pto.types import DYNAMIC, TensorViewType, TileBufType
from ...operations import pipe_protocol
from ...targets.chip import LANES
from .hazard import Hazard
from .subject import Subject

CODES = ("split-mismatch", "element-mismatch", "shape-mismatch", "layout-mismatch")
"""Codes of the findings that this check reports."""

_SPLITS = ("no split", "rows halved", "columns halved", "rows halved, one more in the first core",
           "columns halved, one more in the first core")  # fmt: skip
"""Ways to split, by number."""

_OF_CUBE = ((BLayout.COL_MAJOR, SLayout.ROW_MAJOR), (BLayout.ROW_MAJOR, SLayout.NONE_BOX))
"""Layouts in which the cube core pops tiles."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the pops whose entries no push into their ring can make, or none that they get, and frees unlike pops."""
    for ring in subject.rings:
        for kernel, uses in ring.consumers.items():
            if ring.direction == pipe_protocol.V2C and kernel.behavior == "a5":
                yield from _frees(ring, uses)
        if not ring.has_two_ends:
            continue
        pushed = [use for uses in ring.producers.values() for use in uses if use.action == "push" and _has_type(use)]
        popped = [use for uses in ring.consumers.values() for use in uses if use.action == "pop" and _has_type(use)]
        order = _in_order(subject, ring)
        for pop in popped:
            yield from _mismatch(ring, pop, order.get(pop.op, pushed), certain=pop.op in order)


def _frees(ring: Ring, uses: Sequence[PipeUse]) -> Iterator[Hazard]:
    """Yield the cube core's frees whose credits reach other vector cores than those whose parts its pops took."""
    pops = [use for use in uses if use.action == "pop"]
    splits = {use.split != pipe_protocol.NO_SPLIT for use in pops}
    for free in uses:
        if free.action != "free" or not pops or (free.split != pipe_protocol.NO_SPLIT) in splits:
            continue
        place = location_of(pops[0].op)
        cost = "the first vector core alone" if free.split == pipe_protocol.NO_SPLIT else "both vector cores"
        yield Hazard(
            "split-mismatch",
            free.op,
            f"an entry of {ring.label} is freed with split = {free.split} ({_way(free.split)}), but popped with split "
            f"= {pops[0].split} ({_way(pops[0].split)}){'' if place is None else f' at {place}'}: this free returns "
            f"its credit to {cost}; make both agree",
        )


def _in_order(subject: Subject, ring: Ring) -> dict[Operation, list[PipeUse]]:
    """Return the pushes of the entries that each pop gets, where both ends run in a known order."""
    by_op = {use.op: use for end in (ring.producers, ring.consumers) for uses in end.values() for use in uses}
    for execution in subject.executions:
        name = next((name for name, other in execution.program.rings.items() if other is ring), None)
        if name is None:
            continue
        by_core: dict[tuple[str, str], list[Operation]] = {}
        for core, events in execution.program.cores.items():
            for event, op in zip(events, execution.program.operations[core], strict=True):
                if event.ring == name and event.action in ("push", "pop"):
                    by_core.setdefault((event.action, core), []).append(op)
        found: dict[Operation, list[PipeUse]] = {}
        pushing, popping = ([ops for (action, _), ops in by_core.items() if action == end] for end in ("push", "pop"))
        for given, taken in product(pushing, popping):
            for push, pop in zip(given, taken, strict=False):
                pushes = found.setdefault(pop, [])
                if by_op[push] not in pushes and _has_type(by_op[push]):
                    pushes.append(by_op[push])
        return found
    return {}


def _mismatch(ring: Ring, pop: PipeUse, pushes: Sequence[PipeUse], *, certain: bool) -> Iterator[Hazard]:
    """Yield how a pop disagrees with a push that it gets an entry of, or else with all that it may."""
    problems = [(push, _problem(ring, push, pop)) for push in pushes]
    wrong = [(push, problem) for push, problem in problems if problem is not None]
    if not wrong or not (certain or len(wrong) == len(problems)):
        return
    push, problem = wrong[0]
    place = location_of(push.op)
    message = f"{problem.message}{'' if place is None else f' (pushed at {place})'}; make both ends agree"
    # Pipes that only share flags may be two, one after the other.
    known = any(is_identified(use.pipe, ring.direction) for use in (push, pop))
    yield replace(problem, message=message, severity="error" if known else "warning")


def _problem(ring: Ring, push: PipeUse, pop: PipeUse) -> Hazard | None:
    """Return how two ends of an entry disagree; None if they agree, or may."""
    if push.split != pop.split:
        return Hazard(
            "split-mismatch",
            pop.op,
            f"entries of {ring.label} are popped with split = {pop.split} ({_way(pop.split)}), but pushed with split = "
            f"{push.split} ({_way(push.split)})",
        )
    assert push.entry is not None and pop.entry is not None
    given, taken = push.entry.type, pop.entry.type
    converts = push.pipe.acc_push_epilogue is not None
    if isinstance(given, TensorViewType) and isinstance(taken, TensorViewType):
        # Each end says itself which rows and columns a slot has, for parts of it.
        return None if given.element_type == taken.element_type else _of_elements(ring, pop, "slot", given, taken)
    if not (isinstance(given, TileBufType) and isinstance(taken, TileBufType)):
        return None
    if not converts and given.element_type != taken.element_type:
        return _of_elements(ring, pop, "tile", given, taken)
    expected = _expected(ring, given, push.split)
    for what, wanted, have in zip(("rows", "columns"), expected, taken.valid_shape, strict=True):
        if DYNAMIC not in (wanted, have) and wanted != have:
            whose = "a vector core's part has" if ring.direction == pipe_protocol.C2V else "the parts together have"
            whose = "the entry has" if push.split == pipe_protocol.NO_SPLIT else whose
            return Hazard(
                "shape-mismatch",
                pop.op,
                f"a tile of {taken.valid_shape[0]} x {taken.valid_shape[1]} valid elements is popped from "
                f"{ring.label}, but one of {given.valid_shape[0]} x {given.valid_shape[1]} is pushed, of which {whose} "
                f"{wanted} {what}",
            )
    return None if converts else _layout_problem(ring, pop, taken)


def _layout_problem(ring: Ring, pop: PipeUse, taken: TileBufType) -> Hazard | None:
    """Return how a popped tile is laid out otherwise than the pipe delivers it: by rows, or in boxes for the cube."""
    layout = taken.blayout, taken.slayout
    if taken.location is AddressSpace.VEC and layout != (BLayout.ROW_MAJOR, SLayout.NONE_BOX):
        wanted = "blayout=row_major, slayout=none_box"
    elif taken.location is AddressSpace.MAT and layout not in _OF_CUBE:
        wanted = "blayout=col_major, slayout=row_major, or row_major without boxes"
    else:
        return None
    return Hazard(
        "layout-mismatch",
        pop.op,
        f"a tile with blayout={taken.blayout.value}, slayout={taken.slayout.value} is popped from {ring.label}, which "
        f"delivers {wanted}",
    )


def _expected(ring: Ring, given: TileBufType, split: int) -> tuple[int, int]:
    """Return the valid rows and columns that a pop gets; DYNAMIC where that is not known, as for odd splits."""
    rows, columns = given.valid_shape
    if split == pipe_protocol.NO_SPLIT:
        return rows, columns
    halves_rows = pipe_protocol.splits_rows(split)
    extent = rows if halves_rows else columns
    if extent == DYNAMIC or pipe_protocol.is_odd(split):
        part = DYNAMIC
    elif ring.direction == pipe_protocol.C2V:
        part = extent // LANES
    else:
        part = extent * LANES
    return (part, columns) if halves_rows else (rows, part)


def _of_elements(
    ring: Ring, pop: PipeUse, what: str, given: TileBufType | TensorViewType, taken: TileBufType | TensorViewType
) -> Hazard:
    return Hazard(
        "element-mismatch",
        pop.op,
        f"a {what} of {taken.element_type} is popped from {ring.label}, but one of {given.element_type} is pushed, and "
        "nothing converts it",
    )


def _has_type(use: PipeUse) -> bool:
    """Return True for tiles and tensors; signals are numbers."""
    return use.entry is not None and isinstance(use.entry.type, TileBufType | TensorViewType)


def _way(split: int) -> str:
    return _SPLITS[split] if 0 <= split < len(_SPLITS) else "unknown"
