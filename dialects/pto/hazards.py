"""What a program on pipes does wrong, or may do wrong on some chip, as far as its text tells.

The verifiers refuse what no chip accepts. Here is what is accepted and then overwrites, aliases, hangs or leaves
credits behind: each finding says where, what happens, and what to do. Only what is decided by one function, or by the
two ends of one pipe, is found; the engine finds the rest when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from . import protocol
from .attributes import KernelKind
from .buffers import ImportReservedBufferOp, ReserveBufferOp, reservation_of
from .frontend_pipes import AllocSlotOp, FreeOp, OpenPipeOp, PipeUseOp, PopOp, PushOp, opened_pipes
from .internal_pipes import (
    BoundPipeOp,
    InitializeL2G2LPipeOp,
    InitializePipeOp,
    TAllocOp,
    TFreeOp,
    TPopOp,
    TPushOp,
    number,
)
from .kernels import Architecture, GetSubBlockIdxOp, architecture_of, core_of, function_of
from .memory import PartitionViewOp, SubViewOp, TReshapeOp, constant_value
from .tiles import TileOperation
from .types import TensorViewType, TileBufType, element_bytes

Action: TypeAlias = Literal["alloc", "push", "pop", "free"]
"""What an operation does with a pipe: ask for a slot, put an entry in, take one out, give its slot back."""

Kind: TypeAlias = Literal[
    "unsafe depth", "small slot", "reserved size", "unequal lanes", "lane shape", "local aliasing", "not a slot",
    "unwritten slot", "slot not pushed", "store after push", "use after free", "unbalanced pipe",
]  # fmt: skip

LANE_ALIGNMENT = 32
"""On a5, the elements of a C2V tile's columns and the bytes of a V2C lane's that a split by columns needs a
multiple of."""


@dataclass(frozen=True)
class Hazard:
    """One finding: its kind, the operation it is about, and a sentence saying what happens and what to do."""

    kind: Kind
    op: Operation
    message: str


@dataclass(frozen=True)
class PipeUse:
    """One operation on a pipe, in either form of the dialect."""

    op: Operation
    action: Action
    pipe: OpenPipeOp | InitializePipeOp
    direction: int
    split: int
    entry: SSAValue | None

    @property
    def name(self) -> str:
        """How a message names the pipe."""
        return f"pipe {self.pipe.pipe_id}" if isinstance(self.pipe, OpenPipeOp) else "the pipe"


def find_hazards(module: ModuleOp, architecture: Architecture | None = None) -> list[Hazard]:
    """All findings in a module that verifies, in the order of its operations.

    What is wrong on one generation of chips only is reported if it is the `architecture`, or the one the module is
    for.
    """
    found: list[Hazard] = []
    counts: dict[tuple[ReserveBufferOp, int], dict[str, tuple[int | None, Operation]]] = {}
    for function in module.walk():
        if not isinstance(function, FuncOp):
            continue
        chip = architecture or architecture_of(function)
        uses = list(pipe_uses(function))
        for op in function.walk():
            if isinstance(op, OpenPipeOp | InitializePipeOp):
                found += _depth(op)
            if isinstance(op, OpenPipeOp):
                found += _reserved_sizes(op, chip)
        for use in uses:
            found += _slot_size(use)
            found += _lane_shape(use, chip)
            found += _unequal_lanes(use, chip)
            found += _slot_contents(use)
        found += _local_slots(uses)
        found += _uses_after_free(uses)
        found += _pops_and_frees(uses)
        _count(uses, counts)
    found += _pushes_and_pops(counts)
    order = {op: place for place, op in enumerate(module.walk())}
    return sorted(found, key=lambda hazard: order[hazard.op])


# ---------------------------------------------------------------------------------------------
# What happens on pipes
# ---------------------------------------------------------------------------------------------

_ACTIONS: Mapping[type[Operation], Action] = {
    AllocSlotOp: "alloc", PushOp: "push", PopOp: "pop", FreeOp: "free",
    TAllocOp: "alloc", TPushOp: "push", TPopOp: "pop", TFreeOp: "free",
}  # fmt: skip


def pipe_uses(function: FuncOp) -> Iterator[PipeUse]:
    """The operations on pipes in a function, in the order they stand in."""
    pipes: dict[int, list[OpenPipeOp]] = {}
    for op in function.walk():
        action: Action | None = next((action for kind, action in _ACTIONS.items() if isinstance(op, kind)), None)
        if action is None:
            continue
        if isinstance(op, PipeUseOp):
            if op.pipe_id not in pipes:
                pipes[op.pipe_id] = opened_pipes(function, op.pipe_id)
            entry = op.entry if isinstance(op, FreeOp) else op.entry_value
            if len(pipes[op.pipe_id]) == 1:
                yield PipeUse(op, action, pipes[op.pipe_id][0], op.DIRECTION, op.split_axis, entry)
        elif isinstance(op, BoundPipeOp) and isinstance(pipe := op.pipe_handle.owner, InitializePipeOp):
            from_cube = (core_of(op) is KernelKind.CUBE) == op.IS_PRODUCER
            direction = protocol.C2V if from_cube else protocol.V2C
            yield PipeUse(op, action, pipe, direction, op.split_axis, op.entry_value)


def _in_global_memory(pipe: OpenPipeOp | InitializePipeOp) -> bool:
    if isinstance(pipe, OpenPipeOp):
        return pipe.gm_slot_buffer is not None or pipe.gm_slot_tensor is not None
    return isinstance(pipe, InitializeL2G2LPipeOp)


def _by_block(uses: list[PipeUse], key: Callable[[PipeUse], object]) -> dict[object, list[PipeUse]]:
    """Uses of the same pipe, direction and block together, in order."""
    groups: dict[object, list[PipeUse]] = {}
    for use in uses:
        groups.setdefault(key(use), []).append(use)
    return groups


def _same_block(use: PipeUse) -> object:
    return use.pipe, use.direction, use.op.parent_block()


# ---------------------------------------------------------------------------------------------
# Numbers of a pipe
# ---------------------------------------------------------------------------------------------


def _depth(pipe: OpenPipeOp | InitializePipeOp) -> Iterator[Hazard]:
    """Numbers of slots with which a push does not wait for the slot it reuses."""
    depth = pipe.depth
    push = protocol.unsafe_push(depth)
    if push is not None:
        yield Hazard(
            "unsafe depth",
            pipe,
            f"sparse free-space waiting is unsafe for slot_num = {depth}: push {push} reuses slot "
            f"{protocol.slot_of(push, depth)} before its free credit; use {depth - 1} or {depth + 1}, or sync_period "
            "= 1",
        )


def _reserved_sizes(pipe: OpenPipeOp, chip: Architecture | None) -> Iterator[Hazard]:
    """Buffers that are not as large as the slots in them."""
    if chip is None:
        return
    slots = pipe.depth if chip == "a5" else pipe.local_depth
    for direction in (protocol.C2V, protocol.V2C):
        buffer = pipe.consumer_buffer(direction)
        reserved = buffer.owner if buffer is not None and pipe.direction & direction else None
        if not isinstance(reserved, ReserveBufferOp):
            continue
        size, needed = number(reserved.size), slots * pipe.entry_bytes
        if size != needed:
            consequence = "slots overlap what lies behind it" if size < needed else "the rest is never used"
            yield Hazard(
                "reserved size",
                pipe,
                f"'{reserved.key}' reserves {size} bytes for {slots} slots of {pipe.entry_bytes}, so that "
                f"{consequence}; reserve {needed}",
            )


# ---------------------------------------------------------------------------------------------
# Entries
# ---------------------------------------------------------------------------------------------


def _slot_size(use: PipeUse) -> Iterator[Hazard]:
    """Slots that do not hold the tiles of both vector cores, or the tile that is taken out (PTO-022)."""
    tile = None if use.entry is None else use.entry.type
    if not isinstance(tile, TileBufType) or tile.valid_bytes is None or use.action not in ("push", "pop"):
        return
    lane = (use.action == "push") == (use.direction == protocol.V2C)
    if use.pipe.acc_push_epilogue is not None and use.action == "push":
        return
    parts = protocol.LANES if lane and use.split in (protocol.UP_DOWN, protocol.LEFT_RIGHT) else 1
    if parts * tile.valid_bytes > use.pipe.entry_bytes:
        entry = f"{parts} tiles of {tile.valid_bytes} bytes" if parts > 1 else f"a tile of {tile.valid_bytes} bytes"
        yield Hazard(
            "small slot",
            use.op,
            f"slot_size = {use.pipe.entry_bytes} is too small for {entry}, which reach into the next slot; use "
            f"{parts * tile.valid_bytes}",
        )


def _lane_shape(use: PipeUse, chip: Architecture | None) -> Iterator[Hazard]:
    """Tiles that a5 cannot share among its vector cores."""
    tile = None if use.entry is None else use.entry.type
    if chip != "a5" or use.action != "push" or not isinstance(tile, TileBufType) or _in_global_memory(use.pipe):
        return
    columns, size = tile.valid_shape[1], element_bytes(tile.element_type)
    if use.split not in (protocol.UP_DOWN, protocol.LEFT_RIGHT) or size is None:
        return
    problem = None
    if use.direction == protocol.C2V:
        if size != 4:
            problem = f"elements of {size} bytes; a split tile has elements of 4"
        elif use.split == protocol.LEFT_RIGHT and columns > 0 and columns % LANE_ALIGNMENT:
            problem = f"{columns} columns; a tile split by columns has a multiple of {LANE_ALIGNMENT}"
    elif use.split == protocol.LEFT_RIGHT and columns > 0 and columns * size % LANE_ALIGNMENT:
        problem = f"columns of {columns * size} bytes; a lane of a tile has a multiple of {LANE_ALIGNMENT}"
    if problem is not None:
        yield Hazard("lane shape", use.op, f"a5 cannot share this tile among its vector cores: it has {problem}")


def _unequal_lanes(use: PipeUse, chip: Architecture | None) -> Iterator[Hazard]:
    """Operations only one vector core carries out where both have to, on a2a3."""
    if chip != "a2a3" or core_of(use.op) is not KernelKind.VECTOR:
        return
    parent = use.op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, scf.IfOp) and _depends_on_lane(parent.cond):
            yield Hazard(
                "unequal lanes",
                use.op,
                "only some vector cores come here, but on a2a3 both signal for every entry, split or not; move the "
                "operation out of the scf.if",
            )
            return
        parent = parent.parent_op()


def _depends_on_lane(value: SSAValue) -> bool:
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen or isinstance(current, BlockArgument):
            continue
        seen.add(current)
        if isinstance(current.owner, GetSubBlockIdxOp):
            return True
        if isinstance(current.owner, Operation):
            pending += current.owner.operands
    return False


# ---------------------------------------------------------------------------------------------
# Slots in global memory
# ---------------------------------------------------------------------------------------------


def _slot_contents(use: PipeUse) -> Iterator[Hazard]:
    """Slots that are pushed without having been taken or written, or taken and not pushed (PTO-030, PTO-031)."""
    entry = use.entry
    if entry is None or not isinstance(entry.type, TensorViewType):
        return
    if use.action == "push":
        allocations = [op for op in _users(entry, TAllocOp) if _precedes(op, use.op)]
        if not isinstance(entry.owner, AllocSlotOp) and not allocations:
            yield Hazard(
                "not a slot",
                use.op,
                "the tensor is no slot of the pipe, and what it holds is not handed over; push what talloc gives",
            )
            return
        writes = list(_writes(entry))
        if not any(_precedes(write, use.op) for write in writes):
            yield Hazard(
                "unwritten slot",
                use.op,
                "nothing is stored into the slot before it is handed over; store a tile into it first",
            )
        for write in writes:
            if _follows(write, use.op):
                yield Hazard(
                    "store after push",
                    write,
                    "the slot has been handed over to the consumer, who may be reading it; store before the push",
                )
    elif use.action == "alloc" and not any(isinstance(other.operation, PushOp | TPushOp) for other in entry.uses):
        yield Hazard(
            "slot not pushed",
            use.op,
            "the slot is never handed over, so that the consumer waits for it forever; push it",
        )


def _users(value: SSAValue, kind: type[Operation]) -> Iterator[Operation]:
    return (use.operation for use in value.uses if isinstance(use.operation, kind))


def _derived(value: SSAValue) -> Iterator[SSAValue]:
    """`value` and the parts taken of it."""
    yield value
    for use in value.uses:
        if isinstance(use.operation, PartitionViewOp | SubViewOp | TReshapeOp):
            yield from _derived(use.operation.results[0])


def _writes(value: SSAValue) -> Iterator[Operation]:
    """What writes into `value` or a part of it."""
    for part in _derived(value):
        for use in part.uses:
            if isinstance(use.operation, TileOperation) and use.operation.destination is part:
                yield use.operation


def _block_member(op: Operation, block: Block | None) -> Operation | None:
    """The operation of `block` that is `op`, or that `op` stands in."""
    current: Operation | None = op
    while current is not None and current.parent_block() is not block:
        current = current.parent_op()
    return current


def _precedes(op: Operation, other: Operation) -> bool:
    """Whether `op`, or what it stands in, stands before `other` in a block around both."""
    block = other.parent_block()
    while block is not None:
        member, place = _block_member(op, block), _block_member(other, block)
        if member is not None and place is not None:
            return member is not place and member.is_before_in_block(place)
        parent = block.parent_op()
        block = None if parent is None else parent.parent_block()
    return False


def _follows(op: Operation, other: Operation) -> bool:
    """Whether `op`, or what it stands in, stands after `other` in the same block."""
    member = _block_member(op, other.parent_block())
    return member is not None and member is not other and other.is_before_in_block(member)


# ---------------------------------------------------------------------------------------------
# Taking out and giving back
# ---------------------------------------------------------------------------------------------


def _local_slots(uses: list[PipeUse]) -> Iterator[Hazard]:
    """More tiles taken out and not given back than the consumer's buffer has slots."""
    for group in _by_block(uses, _same_block).values():
        outstanding = 0
        for use in group:
            if use.action == "free":
                outstanding = max(0, outstanding - 1)
            elif use.action == "pop" and use.entry is not None and isinstance(use.entry.type, TileBufType):
                outstanding += 1
                pipe = use.pipe
                depth = pipe.local_depth if isinstance(pipe, OpenPipeOp | InitializeL2G2LPipeOp) else pipe.depth
                if _in_global_memory(pipe) and outstanding > depth:
                    yield Hazard(
                        "local aliasing",
                        use.op,
                        f"{outstanding} tiles are in use, but the consumer's buffer has {depth} slots, so that this "
                        "one overwrites the oldest; free tiles earlier or raise local_slot_num",
                    )


def _uses_after_free(uses: list[PipeUse]) -> Iterator[Hazard]:
    """Tiles read after their slot was given back: the oldest taken out is the first given back."""
    for group in _by_block(uses, _same_block).values():
        popped: list[PipeUse] = []
        for use in group:
            if use.action == "pop":
                popped.append(use)
            elif use.action == "free" and popped:
                yield from _late_uses(popped.pop(0), use.op)


def _late_uses(popped: PipeUse, free: Operation) -> Iterator[Hazard]:
    if popped.entry is None or isinstance(popped.op, TPopOp):
        # A declared tile may be bound to another slot in between.
        return
    for part in _derived(popped.entry):
        for late in part.uses:
            if isinstance(late.operation, PipeUseOp | BoundPipeOp) or not _follows(late.operation, free):
                continue
            yield Hazard(
                "use after free",
                late.operation,
                "the slot of this entry has been given back, and the producer may have overwritten it; free it later",
            )


def _pops_and_frees(uses: list[PipeUse]) -> Iterator[Hazard]:
    """Entries taken out more often, or less, than given back."""
    for group in _by_block(uses, lambda use: (use.pipe, use.direction)).values():
        pops, frees = _times(group, "pop"), _times(group, "free")
        if pops is None or frees is None or pops == frees:
            continue
        last = [use for use in group if use.action in ("pop", "free")][-1]
        yield Hazard(
            "unbalanced pipe",
            last.op,
            f"{last.name} gives {pops} entries out and gets {frees} slots back; free each entry once",
        )


def _times(group: list[PipeUse], action: Action) -> int | None:
    """How often an action is carried out; None if that depends on values."""
    total = 0
    for use in group:
        if use.action == action:
            count = _trip_count(use.op)
            if count is None:
                return None
            total += count
    return total


def _trip_count(op: Operation) -> int | None:
    """How often `op` is carried out in a run of its function; None if that depends on values."""
    counts: list[int] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, scf.ForOp):
            bounds = [constant_value(value) for value in (parent.lb, parent.ub, parent.step)]
            lower, upper, step = bounds
            if lower is None or upper is None or step is None or step <= 0:
                return None
            counts.append(len(range(lower, upper, step)))
        elif isinstance(parent, scf.IfOp | scf.WhileOp):
            return None
        parent = parent.parent_op()
    return prod(counts)


_Counts: TypeAlias = dict[tuple[ReserveBufferOp, int], dict[str, tuple[int | None, Operation]]]


def _count(uses: list[PipeUse], counts: _Counts) -> None:
    """Note how often a function pushes into, or pops from, the pipe of each reserved buffer."""
    for group in _by_block(uses, lambda use: (use.pipe, use.direction)).values():
        first = group[0]
        if not isinstance(first.pipe, OpenPipeOp):
            continue
        buffer = first.pipe.consumer_buffer(first.direction)
        if buffer is None or not isinstance(buffer.owner, ReserveBufferOp | ImportReservedBufferOp):
            continue
        reserved = reservation_of(buffer)
        if reserved is None:
            continue
        actions: tuple[Action, ...] = ("push", "pop")
        for action in actions:
            acting = [use for use in group if use.action == action]
            if acting:
                ends = counts.setdefault((reserved, first.direction), {})
                total = _times(group, action)
                known = ends.get(action)
                if known is not None:
                    total = None if total is None or known[0] is None else total + known[0]
                ends[action] = (total, acting[-1].op)


def _pushes_and_pops(counts: _Counts) -> Iterator[Hazard]:
    """Pipes into which more, or less, is put than is taken out."""
    for (reserved, _), ends in counts.items():
        pushes, pops = ends.get("push"), ends.get("pop")
        if pushes is None or pops is None or pushes[0] is None or pops[0] is None or pushes[0] == pops[0]:
            continue
        function = function_of(pops[1])
        taker = "" if function is None else f" in @{function.sym_name.data}"
        wait = "the consumer waits forever" if pushes[0] < pops[0] else "entries are left in it"
        yield Hazard(
            "unbalanced pipe",
            pops[1],
            f"{pops[0]} entries are taken out{taker}, but {pushes[0]} are put into the pipe of '{reserved.key}', so "
            f"that {wait}; make both agree",
        )
