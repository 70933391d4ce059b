"""What the values of kernels are in the new program: scalars, and the views that tiles, tensors and pointers stand for.

A tile is a handle: `pto.set_validshape` and `pto.tpop` change what it stands for from there on. What a loop or branch
changes of a handle from outside is not known behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.scf import IfOp
from xdsl.ir import Operation, SSAValue

from ...diagnostics import location_of
from ...dialects.pto.frontend_pipes import SetQuantOp
from ...dialects.pto.internal_pipes import TAllocOp, TPopOp
from ...dialects.pto.memory import SetValidShapeOp, constant_value
from ...dialects.traversal import walk
from ..pto_pipes import refusal
from .emission import Emitter
from .views import Declared, Number, View

Handle: TypeAlias = SSAValue | int
"""A tile or tensor, or the number of a pipe whose scale is set."""


class Handles:
    """The values of a function that is being lowered."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.values: dict[SSAValue, SSAValue] = {}
        self._views: dict[Handle, View | Declared | SSAValue] = {}
        self._lost: dict[Handle, Operation] = {}

    # Scalars -----------------------------------------------------------------------------------

    def value(self, old: SSAValue) -> SSAValue:
        """A scalar, or a pointer as its address."""
        found = self.values.get(old)
        if found is None:
            raise refusal(self.emitter.at, f"uses a value of type {old.type} that cannot be followed to `flow`")
        return found

    def number(self, old: SSAValue) -> Number:
        """An integer: known, or as an i64."""
        constant = constant_value(old)
        if constant is None:
            new = self.value(old)
            constant = constant_value(new)
            return self.emitter.integer(new) if constant is None else constant
        return constant

    # Views -------------------------------------------------------------------------------------

    def bind(self, handle: Handle, view: View | Declared | SSAValue) -> None:
        """Let a handle stand for something from here on."""
        self._views[handle] = view
        self._lost.pop(handle, None)

    def follow(self, handle: Handle, other: Handle) -> None:
        """Let a handle stand for what another stands for, as far as that is known."""
        self._views[handle] = self._views[other]
        self._lost.pop(handle, None)
        if other in self._lost:
            self._lost[handle] = self._lost[other]

    def is_known(self, handle: Handle) -> bool:
        return handle in self._views

    def view(self, handle: SSAValue) -> View:
        """What a tile or tensor stands for here; raises LoomError if that is not known."""
        found = self._find(handle)
        if not isinstance(found, View):
            name = "a tile" if handle.name_hint is None else f"%{handle.name_hint}"
            raise refusal(
                self.emitter.at,
                f"uses {name} that has no place here; let a pipe bind it before, or give it its own place with "
                "pto.alloc_tile",
            )
        return found

    def any_view(self, handle: SSAValue, *, for_its_place: bool = False) -> View | Declared:
        """What a tile stands for, also one that a pipe will bind.

        `for_its_place` asks for no valid rows and columns: loops and branches may have changed them.
        """
        if for_its_place and isinstance(self._lost.get(handle), SetValidShapeOp):
            found = self._views[handle]
        else:
            found = self._find(handle)
        assert isinstance(found, View | Declared)
        return found

    def extents(self, handle: SSAValue) -> tuple[Number, ...]:
        """Valid rows and columns of a tile, also of one that a pipe will bind."""
        return self.any_view(handle).extents

    def scale(self, pipe: int) -> View | SSAValue | None:
        """The scale of the pushes of a pipe here."""
        found = self._find(pipe) if pipe in self._views or pipe in self._lost else None
        assert not isinstance(found, Declared)
        return found

    def _find(self, handle: Handle) -> View | Declared | SSAValue:
        changed = self._lost.get(handle)
        if changed is not None:
            where = location_of(changed)
            raise refusal(
                self.emitter.at,
                f"uses what {changed.name}{'' if where is None else f' at {where}'} changes in a loop or branch, which "
                "cannot be followed out of it; change it again before this use, or move the use there",
            )
        if handle not in self._views:
            raise refusal(self.emitter.at, "uses a tile or tensor that cannot be followed to `flow`")
        return self._views[handle]

    # Regions -----------------------------------------------------------------------------------

    def enter(self, op: Operation) -> Snapshot:
        """Before the regions of `op`. An earlier trip of a loop may have changed what the loop changes."""
        if not isinstance(op, IfOp):
            for handle, change in _changes(op).items():
                if handle in self._views:
                    self._lost.setdefault(handle, change)
        return Snapshot(dict(self._views), dict(self._lost))

    def restart(self, snapshot: Snapshot) -> None:
        """Before each region."""
        self._views, self._lost = dict(snapshot.views), dict(snapshot.lost)

    def note_changes(self, snapshot: Snapshot) -> None:
        """Behind each region: what it changed will not be known behind its operation."""
        for handle, view in snapshot.views.items():
            if self._views.get(handle) != view or handle in self._lost:
                snapshot.changed.add(handle)

    def leave(self, op: Operation, snapshot: Snapshot) -> None:
        """Behind the regions of `op`."""
        self.restart(snapshot)
        changes = _changes(op) if snapshot.changed else {}
        for handle in snapshot.changed:
            self._lost.setdefault(handle, changes.get(handle, op))


@dataclass
class Snapshot:
    """What handles stand for before an operation with regions, and which of them the regions change."""

    views: dict[Handle, View | Declared | SSAValue]
    lost: dict[Handle, Operation]
    changed: set[Handle] = field(default_factory=set[Handle])


def _changes(op: Operation) -> dict[Handle, Operation]:
    """The handles that the regions of `op` change, and where: where they get another place, if they do."""
    found: dict[Handle, Operation] = {}
    for inner in walk(op):
        match inner:
            case SetValidShapeOp():
                found.setdefault(inner.source, inner)
            case TPopOp():
                found[inner.tile] = inner
            case TAllocOp():
                found[inner.entry] = inner
            case SetQuantOp():
                found[inner.pipe_id] = inner
            case _:
                pass
    return found
