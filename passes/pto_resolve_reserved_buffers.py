"""Pass `pto-resolve-reserved-buffers`: assign flags to pipes, and replace reserved buffers by their addresses."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..analysis.first_fit import Room
from ..analysis.pto.pipe_ends import Ends, containing_function, local_address, pipe_ends, refusal
from ..dialects.pto.attributes import KernelKind
from ..dialects.pto.buffers import ImportReservedBufferOp, ReserveBufferOp, reservation_of
from ..dialects.pto.internal_pipes import InitializeL2G2LPipeOp, InitializePipeOp, number
from ..dialects.pto.kernels import core_of
from ..dialects.traversal import walk
from ..operations import pipe_protocol
from ..targets.chip import FLAG_ALIGNMENT, HARDWARE_FLAGS


@dataclass(frozen=True)
class PtoResolveReservedBuffersPass(ModulePass):
    """Gives both ends of every pipe the same flags, then puts constants in place of buffers.

    A pipe takes two flags, for both directions four, from an even one on: the first that no other pipe of the same
    functions has. Flags that are stated are kept. Pipes take theirs in the order of their numbers in the kernels. The
    two ends of a pipe are in two functions and agree about its direction and slots (PTO-012, PTO-022, PTO-023).
    More flags than there are is an error.

    Buffers need addresses before, from `pto-place-reserved-buffers` or the kernel.
    """

    name = "pto-resolve-reserved-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _assign_flags(op)
        _resolve_buffers(op)


# ---------------------------------------------------------------------------------------------
# Flags
# ---------------------------------------------------------------------------------------------

_Core = tuple[FuncOp, KernelKind | None]


def _assign_flags(module: ModuleOp) -> None:
    pipes = pipe_ends(module)
    for ends in pipes:
        _check(ends)
    used: dict[_Core, Room] = {}
    given = {ends: _given(ends) for ends in pipes}
    for ends, base in given.items():
        if base is not None:
            _keep(ends, base, used)
    numbered = [(place, ends) for place, ends in enumerate(pipes) if given[ends] is None]
    for _, ends in sorted(numbered, key=lambda item: _rank(*item)):
        width = pipe_protocol.flag_count(ends.first.direction)
        rooms = [_room(core, used) for core in _cores(ends)]
        base = 0
        while any(room.first(width, base) != base for room in rooms):
            base = max(room.first(width, base) for room in rooms)
        _occupy(ends, base, used)
        for pipe in ends.pipes:
            pipe.flag_base = IntegerAttr(base, i32)


def _check(ends: Ends) -> None:
    """Reject ends without the peers they need, and ends that differ."""
    first = ends.first
    if not ends.peers_known:
        if first.flag_base is None:
            raise refusal(
                first,
                "requires local_addr to come from pto.reserve_buffer or pto.import_reserved_buffer when 'flag_base' "
                "is not explicit; reserve the buffer or state the flags",
            )
        return
    if not ends.only_in_global_memory and (len(ends.pipes), len(ends.functions)) != (2, 2):
        raise refusal(
            first,
            "requires a complete compatible peer init pair when local_addr comes from pto.reserve_buffer or "
            "pto.import_reserved_buffer; open the pipe once in each of two functions",
        )
    if any(_signature(pipe) != _signature(first) for pipe in ends.pipes):
        raise refusal(
            first,
            "requires peer pipe init ops to agree on direction and pipe shape; write the same dir_mask, slot_size, "
            "slot_num and local_slot_num on both ends",
        )


def _signature(pipe: InitializePipeOp) -> tuple[object, ...]:
    local = pipe.local_slot_num if isinstance(pipe, InitializeL2G2LPipeOp) else None
    return pipe.direction, pipe.entry_bytes, pipe.depth, local, local_address(pipe) is None


def _given(ends: Ends) -> int | None:
    """Return the first flag, if one of the ends states it."""
    found: int | None = None
    for pipe in ends.pipes:
        if pipe.flag_base is None:
            continue
        base = number(pipe.flag_base)
        if found is not None and found != base:
            raise refusal(pipe, "conflicting explicit flag_base across peer pipe inits; state the same on both ends")
        found = base
    return found


def _keep(ends: Ends, base: int, used: dict[_Core, Room]) -> None:
    width = pipe_protocol.flag_count(ends.first.direction)
    if not all(_room(core, used).is_free(base, width) for core in _cores(ends)):
        raise refusal(
            ends.first,
            "conflicting flag_base across peer pipe init components in the same function; state other flags or none",
        )
    _occupy(ends, base, used)
    for pipe in ends.pipes:
        pipe.flag_base = IntegerAttr(base, i32)


def _occupy(ends: Ends, base: int, used: dict[_Core, Room]) -> None:
    width = pipe_protocol.flag_count(ends.first.direction)
    if base + width > HARDWARE_FLAGS:
        raise refusal(
            ends.first,
            "requires all pipe components in a function to fit within "
            f"{HARDWARE_FLAGS} hardware flag ids; use fewer pipes",
        )
    for core in _cores(ends):
        _room(core, used).occupy(base, width)


def _room(core: _Core, used: dict[_Core, Room]) -> Room:
    return used.setdefault(core, Room(HARDWARE_FLAGS, FLAG_ALIGNMENT))


def _cores(ends: Ends) -> list[_Core]:
    """Return the functions and cores in which the ends run; sections for different cores do not conflict."""
    return list(dict.fromkeys((containing_function(pipe), core_of(pipe)) for pipe in ends.pipes))


def _rank(place: int, ends: Ends) -> tuple[int, int, int, int]:
    if ends.frontend_id is None:
        return 1, 0, 0, place
    return 0, ends.frontend_id, ends.first.direction, place


# ---------------------------------------------------------------------------------------------
# Buffers
# ---------------------------------------------------------------------------------------------


def _resolve_buffers(module: ModuleOp) -> None:
    found = [op for op in walk(module) if isinstance(op, ReserveBufferOp | ImportReservedBufferOp)]
    addresses: dict[Operation, int] = {}
    for op in found:
        reserved = reservation_of(op.addr)
        if reserved is None:
            raise refusal(op, "expects matching peer reserve_buffer to exist; reserve the buffer or correct the name")
        if reserved.base is None:
            missing = (
                "expects 'base' to be resolved before address materialization"
                if op is reserved
                else "expects peer reserve_buffer base to be resolved"
            )
            raise refusal(op, f"{missing}; run pto-place-reserved-buffers before")
        addresses[op] = number(reserved.base)
    for op in found:
        constant = arith.ConstantOp(IntegerAttr(addresses[op], i32))
        constant.location = op.location
        Rewriter.replace_op(op, constant)
