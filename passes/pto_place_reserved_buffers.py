"""Pass `pto-place-reserved-buffers`: assign addresses to the slots of consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ..analysis.first_fit import Room
from ..analysis.pto.local_memory import capacity, placed_tiles
from ..analysis.pto.pipe_ends import refusal
from ..dialects.pto.attributes import AddressSpace
from ..dialects.pto.buffers import ReserveBufferOp
from ..dialects.pto.internal_pipes import number
from ..dialects.pto.kernels import architecture_of
from ..dialects.traversal import walk
from ..targets.chip import Chip
from ..targets.chips import chip as chip_of


@dataclass(frozen=True)
class PtoPlaceReservedBuffersPass(ModulePass):
    """Gives every `pto.reserve_buffer` with `auto = true` an address: the first aligned one where it fits.

    It goes around buffers of its function that state theirs and around tiles that have one; `pto-place-tiles`, which
    runs before, gives tiles theirs. Not enough memory is an error, as are buffers that overlap.

    `level` is that of the public compiler: 1 and 2 have all buffers placed, 3 none; without it, both are taken. `arch`
    is the chip if the module names none.
    """

    name = "pto-place-reserved-buffers"

    level: Literal[1, 2, 3] | None = None
    arch: Literal["a2a3", "a5"] = "a2a3"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [inner for inner in walk(op) if isinstance(inner, FuncOp)]:
            buffers = [inner for inner in walk(function) if isinstance(inner, ReserveBufferOp)]
            if buffers:
                self._place(function, buffers, chip_of(architecture_of(function) or self.arch))

    def _place(self, function: FuncOp, buffers: list[ReserveBufferOp], chip: Chip) -> None:
        room, taken = (
            {space: Room(capacity(chip, space), chip.alignment) for space in (AddressSpace.VEC, AddressSpace.MAT)}
            for _ in range(2)
        )
        for space, address, size in placed_tiles(function):
            if space in room:
                room[space].occupy(address, size)
        for buffer in buffers:
            self._check(buffer)
            if buffer.base is None:
                continue
            base, size = number(buffer.base), number(buffer.size)
            if base % chip.alignment:
                raise refusal(
                    buffer,
                    f"expects 'base' to satisfy the address-space alignment; use a multiple of {chip.alignment}",
                )
            if base + size > room[buffer.space].capacity:
                raise refusal(buffer, f"exceeds available local memory capacity {_of(buffer, room)}; make it smaller")
            if not taken[buffer.space].is_free(base, size):
                raise refusal(buffer, "overlaps another reserve_buffer of the function; give it another 'base'")
            taken[buffer.space].occupy(base, size)
            room[buffer.space].occupy(base, size)
        for buffer in buffers:
            if buffer.base is not None:
                continue
            base = room[buffer.space].take(number(buffer.size))
            if base is None:
                raise refusal(
                    buffer,
                    "failed to allocate local memory hole for reserve_buffer: there is none of "
                    f"{number(buffer.size)} bytes {_of(buffer, room)}; use fewer or smaller slots",
                )
            buffer.base = IntegerAttr(base, i32)
            buffer.automatic = BoolAttr.from_bool(False)

    def _check(self, buffer: ReserveBufferOp) -> None:
        automatic = bool(buffer.automatic.value.data)
        if automatic and buffer.base is not None:
            raise refusal(
                buffer,
                "unexpected 'base' on auto reserve_buffer: expects 'base' to be absent when 'auto' is true; leave it "
                "out or write auto = false",
            )
        if self.level in (1, 2) and not automatic:
            raise refusal(
                buffer,
                "pto.reserve_buffer with explicit 'base' (auto = false) is not supported when --pto-level=level1 or "
                "level2; write auto = true",
            )
        if self.level == 3 and automatic:
            raise refusal(
                buffer,
                "pto.reserve_buffer requires 'auto = false' and explicit 'base' when --pto-level=level3; state it",
            )


def _of(buffer: ReserveBufferOp, room: dict[AddressSpace, Room]) -> str:
    return f"of {room[buffer.space].capacity} bytes in '{buffer.space.value}'"
