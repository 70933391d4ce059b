"""Joins of handles where paths meet: one view whose numbers depend on the path taken.

Paths meet after a branch, at the start of a loop, and in `arith.select`. Views of one memory differ only in numbers;
those that differ are carried as scalars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TypeAlias

from xdsl.ir import Attribute, Operation

from ...diagnostics.records import record
from ...dialects.flow import Slot
from ...dialects.pto.attributes import Layout
from .emission import Emitter
from .views import Declared, Number, View, known


@record
class Lost:
    """What a handle stands for is not known behind an operation, and why."""

    behind: Operation
    reason: str


Meaning: TypeAlias = View | Declared | Lost
"""What a handle stands for."""

_NO_ENTRY = -1
"""The number of an entry for a tile that is in no slot."""


@record
class _Ring:
    """Of which slots an entry's view is one."""

    channel: str
    count: int
    size: int
    role: str


@record
class Form:
    """What meanings that meet have in common."""

    kind: type[View] | type[Declared]
    rank: int = 0
    space: str = ""
    element: Attribute | None = None
    units: str | None = None
    ring: _Ring | None = None
    """The slots of the entries; without any, views are told apart by their addresses."""
    layout: Layout = Layout.ND
    strides: tuple[int, ...] | None = field(default=None, compare=False)
    """Of its views, where they are known: those of a view that a way has yet to get."""


def common_form(meanings: Sequence[Meaning]) -> Form | str:
    """Return the common form of meanings, or why they cannot be joined."""
    for meaning in meanings:
        if isinstance(meaning, Lost):
            return meaning.reason
    views = [meaning for meaning in meanings if isinstance(meaning, View)]
    if not views:
        return Form(Declared, max(len(meaning.extents) for meaning in meanings if isinstance(meaning, Declared)))
    first = views[0]
    spaces = {view.space for view in views}
    if len(spaces) > 1 or len({None if view.owner is None else view.owner[0] for view in views}) > 1:
        names = " and ".join(f"@{space}" for space in sorted(spaces))
        return f"they are in different memories, {names}; copy one to a tile beside the other with pto.tmov"
    if len({view.layout for view in views}) > 1:
        return "they have different layouts in global memory; load from each in its branch"
    rings = {_ring(view) for view in views}
    if len(rings - {None}) > 1:
        if any(ring is not None and ring.role == "written" for ring in rings):
            return "they are slots of different pipes, which are stored to; store to them in the branches"
        rings = {None}
    return Form(
        View,
        max(len(view.extents) for view in views),
        first.space,
        first.element,
        None if first.owner is None else first.owner[0],
        next((ring for ring in rings if ring is not None), None),
        first.layout,
        known(first.strides),
    )


def _ring(view: View) -> _Ring | None:
    entry = view.entry
    return None if entry is None else _Ring(entry.channel, entry.count, entry.size, entry.role)


def numbers_in(meaning: Meaning, form: Form, emitter: Emitter) -> list[Number]:
    """Return the numbers that distinguish a meaning from others of its form."""
    if form.kind is Declared:
        assert isinstance(meaning, Declared)
        return [0] * (form.rank - len(meaning.extents)) + list(meaning.extents)
    if isinstance(meaning, Declared):
        # It has no place: only that it has none, and its extents, are of interest.
        missing = form.rank - len(meaning.extents)
        strides = form.strides or (0,) * form.rank
        meaning = View(form.space, _element(form), 0, (*[1] * missing, *meaning.extents), strides, bound=0)
    assert isinstance(meaning, View)
    index: Number = _NO_ENTRY
    address = meaning.address
    if meaning.entry is not None:
        if form.ring is None:
            address = emitter.slot_address(meaning)
        else:
            index = meaning.entry.index
    leading = form.rank - len(meaning.extents)
    return [
        address,
        *[1] * leading,
        *meaning.extents,
        *[0] * leading,
        *meaning.strides,
        meaning.bound,
        *([] if form.ring is None else [index]),
        *([] if meaning.owner is None else [meaning.owner[1]]),
    ]


def meaning_of(form: Form, numbers: Sequence[Number], emitter: Emitter) -> Meaning:
    """Return the meaning with a form and numbers."""
    if form.kind is Declared:
        return Declared(tuple(numbers))
    rank = form.rank
    address, bound, rest = numbers[0], numbers[1 + 2 * rank], list(numbers[2 + 2 * rank :])
    view = View(
        form.space, _element(form), address, tuple(numbers[1 : 1 + rank]), tuple(numbers[1 + rank : 1 + 2 * rank]),
        bound=bound, layout=form.layout,
    )  # fmt: skip
    if form.ring is not None:
        index, ring = rest.pop(0), form.ring
        if index != _NO_ENTRY:
            view = replace(view, entry=Slot(ring.channel, emitter.value(index), ring.count, ring.size, ring.role))
    return view if form.units is None else replace(view, owner=(form.units, rest.pop(0)))


def _element(form: Form) -> Attribute:
    assert form.element is not None
    return form.element
