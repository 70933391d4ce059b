"""Pass `pto-place-tiles`: assign addresses to tiles in their core's memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from ..analysis.live_ranges import Step, used_together
from ..analysis.pto.local_memory import alignment, callees, capacity, placed_tiles, tile_bytes
from ..analysis.pto.pipe_ends import refusal
from ..analysis.tile_placement import Memory, place_apart, place_sharing
from ..diagnostics.locations import location_of
from ..dialects.pto.apart_operands import tiles_kept_apart
from ..dialects.pto.attributes import AddressSpace, KernelKind
from ..dialects.pto.buffers import ReserveBufferOp
from ..dialects.pto.frontend_pipes import PushOp
from ..dialects.pto.internal_pipes import TPushOp, number
from ..dialects.pto.kernels import SectionOp, architecture_of, core_of
from ..dialects.pto.memory import AllocTileOp, SetValidShapeOp
from ..dialects.pto.tiles import TableOperation, TCvtOp, TileOperation, TPrintOp
from ..dialects.pto.types import TileBufType
from ..dialects.traversal import walk
from ..targets.chip import Chip
from ..targets.chips import chip as chip_of

MAX_NAMED_TILES = 8
"""How many tiles and buffers the error about too little memory names."""


@dataclass(frozen=True)
class PtoPlaceTilesPass(ModulePass):
    """Gives every `pto.alloc_tile` an address, the first aligned one where it fits, memory by memory.

    Tiles go around those that state an address, around reserved buffers that do, and around the tiles of functions
    that are called; buffers that have none yet (`pto-place-reserved-buffers` runs after) find room behind. Only if a
    memory is too small for that, tiles in it that are never of use at the same time share addresses. A memory that is
    too small even then is an error.

    `arch` is the chip if the module names none.
    """

    name = "pto-place-tiles"

    arch: Literal["a2a3", "a5"] = "a2a3"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        done: set[FuncOp] = set()
        for function in [inner for inner in walk(op) if isinstance(inner, FuncOp)]:
            for member in (*reversed(callees(function)), function):
                if member not in done:
                    done.add(member)
                    _place(member, chip_of(architecture_of(member) or self.arch))


def _place(function: FuncOp, chip: Chip) -> None:
    tiles: dict[AddressSpace, dict[AllocTileOp, int]] = {}
    buffers: dict[AddressSpace, list[ReserveBufferOp]] = {}
    for op in walk(function):
        if isinstance(op, ReserveBufferOp):
            buffers.setdefault(op.space, []).append(op)
        elif isinstance(op, AllocTileOp) and op.addr is None:
            size = tile_bytes(op.result.type)
            if size is None:
                raise refusal(op, f"cannot be placed, as the size of {op.result.type.element_type} is unknown")
            tiles.setdefault(op.result.type.location, {})[op] = size
    occupied = placed_tiles(function)
    program: list[Step[AllocTileOp]] | None = None
    for space, sizes in tiles.items():
        stated = [
            (number(buffer.base), number(buffer.size)) for buffer in buffers.get(space, ()) if buffer.base is not None
        ]
        memory = Memory(
            capacity(chip, space),
            alignment(chip, space),
            [*stated, *((address, size) for where, address, size in occupied if where is space)],
            [number(buffer.size) for buffer in buffers.get(space, ()) if buffer.base is None],
        )
        addresses = place_apart(sizes, memory)
        if addresses is None:
            if program is None:
                program = _Program(function).steps
            addresses = place_sharing(sizes, _apart(sizes, used_together(program)), memory)
        if addresses is None:
            raise _too_small(space, memory, sizes, buffers.get(space, ()))
        for op, address in addresses.items():
            _state(op, address)


def _state(op: AllocTileOp, address: int) -> None:
    constant = arith.ConstantOp(IntegerAttr(address, i64))
    placed = AllocTileOp.build(
        operands=[constant.result, op.valid_row, op.valid_col],
        result_types=[op.result.type],
        attributes=op.attributes,
    )
    placed.result.name_hint = op.result.name_hint
    if op.result.name_hint is not None:
        constant.result.name_hint = f"{op.result.name_hint}_address"
    for made in (constant, placed):
        made.location = op.location
    Rewriter.replace_op(op, [constant, placed])


def _too_small(
    space: AddressSpace, memory: Memory, sizes: Mapping[AllocTileOp, int], buffers: Sequence[ReserveBufferOp]
) -> Exception:
    """Return the error about a full memory, which names the largest tiles and reserved buffers in it."""
    held: dict[AllocTileOp | ReserveBufferOp, int] = {**sizes, **{buffer: number(buffer.size) for buffer in buffers}}
    by_size = sorted(held, key=lambda op: -held[op])
    named = ", ".join(_name(op, held[op]) for op in by_size[:MAX_NAMED_TILES])
    more = f", and {len(by_size) - MAX_NAMED_TILES} more" if len(by_size) > MAX_NAMED_TILES else ""
    others = sum(size for _, size in memory.occupied) + sum(memory.behind)
    besides = f" beside {others} bytes in use" if others else ""
    what = "make tiles smaller, the largest first"
    if isinstance(by_size[0], ReserveBufferOp):
        what = "use fewer or smaller slots, or smaller tiles, the largest first"
    return refusal(
        by_size[0],
        f"does not fit: {space.value} overflow, requires {8 * (sum(sizes.values()) + others)} bits while "
        f"{8 * memory.capacity} bits available, and sharing addresses does not save enough{besides}; {what}: "
        f"{named}{more}",
    )


def _name(op: AllocTileOp | ReserveBufferOp, size: int) -> str:
    location = location_of(op)
    where = "" if location is None else f" at {location}"
    if isinstance(op, ReserveBufferOp):
        return f"the buffer '{op.key}' of {size} bytes{where}"
    kind, hint = op.result.type, op.result.name_hint
    name = "a tile" if hint is None else f"%{hint}"
    return f"{name} of {size} bytes ({kind.rows}x{kind.columns}x{kind.element_type}){where}"


# ---------------------------------------------------------------------------------------------
# What is of use at the same time
# ---------------------------------------------------------------------------------------------


def _apart(
    sizes: Mapping[AllocTileOp, int], together: Mapping[AllocTileOp, set[AllocTileOp]]
) -> Mapping[AllocTileOp, set[AllocTileOp]]:
    """Return the tiles that may not share memory: those live at the same time, and all if both cores use some of them.

    The cores run side by side, so that the order in the text says nothing then.
    """
    cores: set[KernelKind | None] = set()
    for tile in sizes:
        cores |= {core_of(use.operation) for use in tile.result.uses}
    if len(cores) > 1:
        return {tile: set(sizes) - {tile} for tile in sizes}
    return together


class _Program:
    """The steps of a function, and what they do with its tiles."""

    def __init__(self, function: FuncOp):
        self.steps: list[Step[AllocTileOp]] = []
        self._tiles = _tiles_of_values(function)
        self._whole = {
            op for op in walk(function) if isinstance(op, AllocTileOp) and op.addr is None and _is_used_as_it_is(op)
        }
        self._region(function.body, self._step())

    def _step(self, *previous: int) -> int:
        """Add a step after others."""
        place = len(self.steps)
        self.steps.append(Step[AllocTileOp]())
        for earlier in previous:
            self.steps[earlier].next.append(place)
        return place

    def _region(self, region: Region, before: int) -> int:
        """Add the steps of a region entered from `before`; return the step after it."""
        end = self._step()
        starts = {block: self._step() for block in region.blocks}
        if not starts:
            self.steps[before].next.append(end)
        for position, (block, start) in enumerate(starts.items()):
            if position == 0:
                self.steps[before].next.append(start)
            self._block(block, start, starts, end)
        return end

    def _block(self, block: Block, start: int, starts: Mapping[Block, int], end: int) -> None:
        last = start
        for op in block.ops:
            last = self._operation(op, last)
        following = () if block.last_op is None else block.last_op.successors
        self.steps[last].next += [starts[successor] for successor in following] or [end]

    def _operation(self, op: Operation, before: int) -> int:
        """Add the steps of an operation after `before`; return the last of them."""
        here = self._step(before)
        self._note(op, self.steps[here])
        if not op.regions:
            return here
        ends = [self._region(region, here) for region in op.regions if region.blocks]
        behind = self._step(*ends)
        runs_once = isinstance(op, SectionOp | scf.IfOp)
        # What is not known runs in any order, any number of times.
        if not runs_once:
            for end in ends:
                self.steps[end].next.append(here)
        if not isinstance(op, SectionOp) and not (isinstance(op, scf.IfOp) and len(ends) == len(op.regions)):
            self.steps[here].next.append(behind)
        return behind

    def _note(self, op: Operation, step: Step[AllocTileOp]) -> None:
        """Record which tiles an operation reads and writes."""
        if isinstance(op, AllocTileOp | SetValidShapeOp) or _passes_on(op):
            return
        if not isinstance(op, TileOperation) or tiles_kept_apart(op):
            step.reads |= self._of(op.operands)
            return
        scratch = _scratch(op)
        step.touches |= self._of([op.destination, *scratch])
        step.reads |= self._of(value for value in _inputs(op) if value not in scratch)
        tile = op.destination.owner
        if isinstance(tile, AllocTileOp) and tile in self._whole:
            step.overwrites.add(tile)

    def _of(self, values: Iterable[SSAValue]) -> set[AllocTileOp]:
        return {tile for value in values for tile in self._tiles.get(value, ())}


def _inputs(op: TileOperation) -> Iterable[SSAValue]:
    """Yield the operands that an operation reads, with the destination where it is an input as well."""
    written = False
    for value in op.operands:
        if value is op.destination and not written:
            written = True
            continue
        yield value


def _scratch(op: TileOperation) -> Sequence[SSAValue]:
    """Return the tiles for intermediate results, which are dead before and after."""
    scratch = op.tmp if isinstance(op, TCvtOp) else op.scratch if isinstance(op, TableOperation) else None
    return () if scratch is None else (scratch,)


def _is_used_as_it_is(tile: AllocTileOp) -> bool:
    """Return True if a write to a tile replaces all that is ever read of it: its valid part, which is always the
    same, and no other part."""
    kind = tile.result.type
    valid = tile.valid_row is None and tile.valid_col is None and min(kind.valid_shape) >= 0
    return valid and all(
        isinstance(use.operation, TileOperation | TPrintOp | PushOp | TPushOp) for use in tile.result.uses
    )


def _passes_on(op: Operation) -> bool:
    """Return True if an operation only makes aliases of tiles."""
    return (
        bool(op.regions)
        or (op.has_trait(IsTerminator) and isinstance(op.parent_op(), scf.IfOp | scf.ForOp | scf.WhileOp))
        or (not isinstance(op, CallOp) and any(isinstance(result.type, TileBufType) for result in op.results))
    )


def _tiles_of_values(function: FuncOp) -> dict[SSAValue, set[AllocTileOp]]:
    """Return the tiles without an address that each value may alias."""
    found: dict[SSAValue, set[AllocTileOp]] = {}
    flows: dict[SSAValue, list[SSAValue]] = {}
    for op in walk(function):
        if isinstance(op, AllocTileOp) and op.addr is None:
            found[op.result] = {op}
        for source, target in _flows(op):
            if isinstance(source.type, TileBufType) and isinstance(target.type, TileBufType):
                flows.setdefault(source, []).append(target)
    pending = list(found)
    while pending:
        value = pending.pop()
        for target in flows.get(value, ()):
            tiles = found.setdefault(target, set())
            if not found[value] <= tiles:
                tiles |= found[value]
                pending.append(target)
    return found


def _flows(op: Operation) -> Iterable[tuple[SSAValue, SSAValue]]:
    """Yield pairs of values of which the second may alias the first."""
    inside: list[BlockArgument] = [
        argument for region in op.regions for block in region.blocks for argument in block.args
    ]
    targets: list[OpResult | BlockArgument] = [*op.results, *inside]
    if op.has_trait(IsTerminator):
        parent = op.parent_op()
        if parent is not None and not isinstance(parent, FuncOp):
            targets += [*parent.results, *(arg for region in parent.regions for b in region.blocks for arg in b.args)]
        targets += [argument for successor in op.successors for argument in successor.args]
    keeps_type = bool(op.regions) or op.has_trait(IsTerminator)
    return [
        (source, target) for source in op.operands for target in targets if not keeps_type or source.type == target.type
    ]
