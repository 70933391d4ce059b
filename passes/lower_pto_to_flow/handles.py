"""Handles: the scalars and views in `flow` that values of kernels stand for.

A tile is a handle: `pto.set_validshape` and `pto.tpop` change what it stands for from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import IntegerType, MemRefType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from ...analysis.pto.local_memory import tile_strides
from ...analysis.pto.pipe_ends import refusal
from ...diagnostics.locations import location_of
from ...dialects.pto.memory import constant_value
from ...dialects.pto.types import PartitionTensorViewType, PtrType, TensorViewType, TileBufType
from .emission import Emitter
from .joining import Lost, Meaning
from .views import GLOBAL_MEMORY, SPACES, Declared, Number, View

HANDLE_TYPES = (TileBufType, TensorViewType, PartitionTensorViewType)


class Handles:
    """The values of a function that is being lowered."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.values: dict[SSAValue, SSAValue] = {}
        self._meanings: dict[SSAValue, Meaning] = {}
        self.scales: dict[int, View | SSAValue] = {}
        """What the pushes of a pipe are scaled by, which is set before them in their own block."""
        self.trials = Trials()

    # Scalars -----------------------------------------------------------------------------------

    def value(self, old: SSAValue) -> SSAValue:
        """Return a scalar, or a pointer as its address."""
        found = self.values.get(old)
        if found is None:
            raise refusal(self.emitter.at, f"uses a value of type {old.type} that cannot be lowered to `flow`")
        return found

    def number(self, old: SSAValue) -> Number:
        """Return an integer, as a constant or an i64."""
        constant = constant_value(old)
        if constant is None:
            new = self.value(old)
            constant = constant_value(new)
            return self.emitter.integer(new) if constant is None else constant
        return constant

    # Views -------------------------------------------------------------------------------------

    def bind(self, handle: SSAValue, meaning: Meaning) -> None:
        """Bind a handle to a meaning from here on."""
        self._meanings[handle] = meaning

    def is_known(self, handle: SSAValue) -> bool:
        return handle in self._meanings

    def meaning(self, handle: SSAValue) -> Meaning:
        """Return the meaning of a handle here, usable or not."""
        if handle not in self._meanings:
            raise refusal(self.emitter.at, "uses a tile or tensor that cannot be lowered to `flow`")
        return self._meanings[handle]

    def view(self, handle: SSAValue) -> View:
        """Return the view of a tile or tensor; raises LoomError if it is unknown."""
        found = self._find(handle)
        if isinstance(found, Declared) and self.trials.under_way:
            self.trials.guessed = True
            return _anywhere(handle, found)
        if not isinstance(found, View):
            raise refusal(
                self.emitter.at,
                f"uses {_named(handle)} that has no address here; pop it from a pipe first, or allocate it with "
                "pto.alloc_tile",
            )
        if isinstance(found.bound, SSAValue):
            self.emitter.is_bound(found.bound, _named(handle))
        return replace(found, bound=1)

    def any_view(self, handle: SSAValue) -> View | Declared:
        """Return the view of a tile, also of one that a pop will bind."""
        return self._find(handle)

    def extents(self, handle: SSAValue) -> tuple[Number, ...]:
        """Return the valid rows and columns of a tile, also of one that a pop will bind."""
        return self.any_view(handle).extents

    def _find(self, handle: SSAValue) -> View | Declared:
        found = self._meanings.get(handle)
        if found is None:
            raise refusal(self.emitter.at, "uses a tile or tensor that cannot be lowered to `flow`")
        if isinstance(found, Lost):
            where = location_of(found.behind)
            raise refusal(
                self.emitter.at,
                f"uses {_named(handle)}, which differs between the paths through {found.behind.name}"
                f"{'' if where is None else f' at {where}'}, and {found.reason}",
            )
        return found

    # Regions -----------------------------------------------------------------------------------

    def state(self) -> dict[SSAValue, Meaning]:
        """Return the meanings of all handles here."""
        return dict(self._meanings)

    def restore(self, state: Mapping[SSAValue, Meaning]) -> None:
        """Restore the meanings of all handles."""
        self._meanings = dict(state)


@dataclass
class Trials:
    """Loops are lowered on trial: a tile that has no place in the first trip may have got one in the trip before."""

    under_way: bool = False
    guessed: bool = False
    """True if a tile without a place has been used as if it had one."""

    @contextmanager
    def of_loop(self) -> Generator[Callable[[], bool]]:
        """Lower a loop until a fixed point."""
        outer = self.under_way, self.guessed

        def settled() -> bool:
            if not self.guessed or outer[0]:
                return True
            # Once more in earnest, which tells where the tile is used.
            self.under_way = self.guessed = False
            return False

        self.under_way, self.guessed = True, False
        yield settled
        self.under_way, self.guessed = outer[0], outer[1] or self.guessed


def _anywhere(handle: SSAValue, declared: Declared) -> View:
    """Return the meaning of an unbound tile or tensor."""
    type = handle.type
    if isinstance(type, TileBufType):
        return View(SPACES[type.location], type.element_type, 0, declared.extents, tile_strides(type))
    assert isinstance(type, TensorViewType)
    extents = tuple(max(0, extent) for extent in type.extents)
    return View(GLOBAL_MEMORY, type.element_type, 0, extents, (0,) * len(extents))


def _named(handle: SSAValue) -> str:
    return "a tile" if handle.name_hint is None else f"%{handle.name_hint}"


def is_handle(value: SSAValue) -> bool:
    """Return True if a value is a tile or tensor, not a scalar."""
    return isinstance(value.type, HANDLE_TYPES)


def pointed(type: Attribute) -> Attribute | None:
    """Return the element type of a pointer."""
    if isinstance(type, PtrType):
        return type.element_type
    return type.get_element_type() if isa(type, MemRefType) else None


def lowered(type: Attribute) -> Attribute:
    """Return the lowered type of a scalar: pointers are addresses, integers are signless."""
    if isinstance(type, IntegerType):
        return IntegerType(cast("IntegerType", type).bitwidth)
    return type if pointed(type) is None else i64
