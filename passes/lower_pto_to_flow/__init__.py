"""Pass `lower-pto-to-flow`: lower kernels of cube and vector cores to a fabric of both kinds of units.

Addresses have been assigned before. This module finds the kernels and pairs the ends of their pipes; the other modules
of this package lower operations on tiles and pipes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from ...analysis.pto.core_flags import flags_of_program
from ...analysis.pto.local_memory import called, capacity
from ...analysis.pto.pipe_ends import refusal
from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.machine.region import RegionAttr
from ...dialects.pto import epilogue
from ...dialects.pto.attributes import AddressSpace, KernelKind
from ...dialects.pto.buffers import ImportReservedBufferOp, ReserveBufferOp
from ...dialects.pto.frontend_pipes import OpenPipeOp, PipeUseOp
from ...dialects.pto.internal_pipes import InitializeL2G2LPipeOp, InitializePipeOp, TPopOp, number
from ...dialects.pto.kernels import (
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    SectionCubeOp,
    SectionOp,
    SyncAllOp,
    architecture_of,
    kernel_kind,
)
from ...dialects.pto.memory import constant_value
from ...dialects.pto.types import TileBufType
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from ...operations.pipe_protocol import Behavior
from ...targets.chip import LANES
from ...targets.chips import chip as chip_of
from .barriers import Barriers
from .bodies import KernelLowering
from .core_flags import SPACE, CoreFlags
from .pipes import CUBE, VECTOR, Machine, Plan, Ring, is_shared
from .tile_operations import CONVERTER
from .views import GLOBAL_MEMORY, SPACES

_CORES = (KernelKind.CUBE, KernelKind.VECTOR)


@dataclass(frozen=True)
class LowerPtoToFlowPass(ModulePass):
    """Replaces the kernels of a module by one `flow.fabric`: a row for each block, its cube core first.

    Pipes are values and have their flags, tiles and buffers their addresses: the other passes on `pto` run before.
    Functions with `pto.entry` are what a host starts; without any, kernels that no other function calls are. What they
    call takes their place. An exported function names its arguments in `loom.arguments`, and in `loom.pointers`
    what those that are pointers point to: those are addresses in bytes.

    `protocol` says how pipes wait for free slots: as one of the chips, or `ideal`, for each slot by itself. `blocks`
    is how many blocks there are, `lanes` how many vector cores each has: by default 2, or 1 where no tile is shared
    and nothing asks for the number of a core; on a2a3 only where there are kernels of vector cores alone.

    With several `devices` the rows of the first device are the first, and so on. An exported function then takes one
    argument, the address of a table: a row of words of 64 bits for each device, which are its arguments.
    """

    name = "lower-pto-to-flow"

    protocol: Behavior = "ideal"
    blocks: int = 1
    lanes: int | None = None
    devices: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if min(self.blocks, self.devices) < 1 or self.lanes not in (None, 1, LANES):
            raise LoomError(f"blocks and devices must be 1 or more, and lanes 1 or {LANES}; correct the options")
        for inner in walk(op):
            if isinstance(inner, OpenPipeOp | PipeUseOp):
                raise refusal(
                    inner,
                    "is a front-end operation on a pipe id; run pto-lower-frontend-pipe-ops before lower-pto-to-flow",
                )
        for inner in walk(op):
            if isinstance(inner, ReserveBufferOp | ImportReservedBufferOp):
                raise refusal(
                    inner,
                    "is not resolved to an address; run pto-place-reserved-buffers and pto-resolve-reserved-buffers "
                    "before lower-pto-to-flow",
                )
        fabric = _Program(op, self).lower()
        for member in list(op.body.block.ops):
            if isinstance(member, FuncOp | ModuleOp):
                member.detach()
                member.erase(safe_erase=False)
        op.body.block.add_op(fabric)


class _Program:
    """The kernels of a module, and the pipes between them."""

    def __init__(self, module: ModuleOp, options: LowerPtoToFlowPass) -> None:
        self.module = module
        self.options = options
        self.kernels = self._kernels()
        self.ends = {core: self._ends(core) for core in _CORES}
        self.chip = self._chip()
        reached = {op: None for core in _CORES for function in self.kernels for op in _reachable(function, core)}
        self.flags = flags_of_program(reached, self.chip)
        self.machine = Machine(options.protocol, self._lanes(), options.blocks, options.devices, self.chip)
        self.taken: set[str] = set()
        """Names in the fabric that no kernel has there."""

    def lower(self) -> flow.FabricOp:
        rings: list[Ring] = []
        plans = self._plans(rings)
        self.taken = {GLOBAL_MEMORY, SPACE, CONVERTER, CUBE, VECTOR, *SPACES.values()}
        self.taken |= {ring.channel for ring in rings}
        barriers = Barriers(self.machine)
        used = {core for core in _CORES if any(self._runs_on(function, core) for function in self.kernels)}
        columns = range(1 + self.machine.lanes)
        flags = CoreFlags(
            self.machine, self.flags,
            [column for column in columns if (KernelKind.VECTOR if column else KernelKind.CUBE) in used],
        )  # fmt: skip
        units = [self._units(core, plans[core], barriers, flags) for core in _CORES]
        self._erase_unused_spaces(units)
        fabric = flow.FabricOp("kernels", self.chip, 1 + self.machine.lanes, self.machine.blocks * self.machine.devices)
        fabric.location = self.kernels[0].location
        made_here: list[Operation] = [flow.SpaceOp(GLOBAL_MEMORY, 0), *flags.spaces(), *barriers.channels()]
        for member in made_here:
            member.location = fabric.location
        memory, *exchanges = made_here
        for member in (memory, *(ring.operation(self.machine.protocol) for ring in rings), *exchanges, *units):
            fabric.body.block.add_op(member)
        return fabric

    # Kernels -----------------------------------------------------------------------------------

    def _kernels(self) -> list[FuncOp]:
        """Return the functions that the host launches."""
        functions = [op for op in walk(self.module) if isinstance(op, FuncOp) and not op.is_declaration]
        entries = [function for function in functions if "pto.entry" in function.attributes]
        callees = {called(op) for function in functions for op in walk(function) if isinstance(op, CallOp)}
        found = [
            function
            for function in entries or [function for function in functions if function not in callees]
            if any(self._runs_on(function, core) for core in _CORES)
        ]
        if not found:
            raise LoomError(
                "the module has no kernel; give a function the attribute pto.kernel_kind or pto.entry",
                location_of(self.module),
            )
        names: dict[str, FuncOp] = {}
        for function in found:
            if names.setdefault(function.sym_name.data, function) is not function:
                raise LoomError(f"there are two kernels @{function.sym_name.data}; rename one", location_of(function))
        return found

    def _runs_on(self, function: FuncOp, core: KernelKind) -> bool:
        """Return True if a function has operations for a core."""
        kind = kernel_kind(function)
        if kind is not None:
            return kind is core
        return any(
            kernel_kind(op) is core
            if isinstance(op, FuncOp)
            else isinstance(op, SectionOp) and isinstance(op, SectionCubeOp) == (core is KernelKind.CUBE)
            for op in _reachable(function, core)
        )

    def _units(
        self, core: KernelKind, plans: dict[InitializePipeOp, Plan], barriers: Barriers, flags: CoreFlags
    ) -> flow.UnitsOp:
        """Return the units of one kind of core, with their memories and kernels."""
        chip = chip_of(self.chip)
        is_cube = core is KernelKind.CUBE
        columns = range(1) if is_cube else range(1, 1 + self.machine.lanes)
        members: list[Operation] = []
        sizes = {
            name: capacity(chip, space) for space, name in SPACES.items() if (space is AddressSpace.VEC) is not is_cube
        }
        for function in self.kernels:
            if not self._runs_on(function, core):
                continue
            lowering = KernelLowering(function, core, self.machine, plans, barriers, flags)
            visible = function.sym_name.data
            new = lowering.lower(f"{visible}_kernel" if visible in self.taken else visible)
            for name, size in lowering.spaces.items():
                sizes[name] = max(size, sizes.get(name, 0))
            export = flow.ExportOp(new.sym_name.data, visible)
            export.location = function.location
            members += [new, export]
        units = flow.UnitsOp(CUBE if is_cube else VECTOR, [RegionAttr.get(columns, None)], 0)
        units.location = self.kernels[0].location
        spaces: list[Operation] = [flow.SpaceOp(name, size) for name, size in sizes.items()]
        for member in (*spaces, *members):
            if member in spaces:
                member.location = units.location
            units.body.block.add_op(member)
        return units

    def _erase_unused_spaces(self, classes: list[flow.UnitsOp]) -> None:
        used = {
            (units.sym_name.data if op.owner is None else op.owner.units, op.space.string_value())
            for units in classes
            for op in walk(units)
            if isinstance(op, flow.TileOp)
        }
        for units in classes:
            for op in list(units.body.block.ops):
                if isinstance(op, flow.SpaceOp) and (units.sym_name.data, op.sym_name.data) not in used:
                    op.detach()
                    op.erase()

    # Pipes -------------------------------------------------------------------------------------

    def _ends(self, core: KernelKind) -> list[InitializePipeOp]:
        """Return the pipes a core opens, in the order of the program."""
        found: dict[InitializePipeOp, None] = {}
        for function in self.kernels:
            if self._runs_on(function, core):
                for op in _reachable(function, core):
                    if isinstance(op, InitializePipeOp):
                        found[op] = None
        return list(found)

    def _chip(self) -> str:
        """Return the chip whose memories and data paths the program uses."""
        if self.options.protocol != "ideal":
            return self.options.protocol
        stated = architecture_of(self.kernels[0])
        if stated is not None:
            return stated
        pipes = [op for core in _CORES for op in self.ends[core]]
        return "a2a3" if any(isinstance(op, InitializeL2G2LPipeOp) for op in pipes) else "a5"

    def _lanes(self) -> int:
        pipes = [op for core in _CORES for op in self.ends[core]]
        shared = next((op for op in pipes if is_shared(op)), None)
        both = shared is not None or (self.options.protocol == "a2a3" and self._mixes_cores(pipes))
        if self.options.lanes is None:
            return LANES if both or self._asks_for_lanes() else 1
        if both and self.options.lanes < LANES:
            why = "a2a3 has both take part in all pipes" if shared is None else "they share the entries of this pipe"
            raise LoomError(
                f"the program is for {LANES} vector cores in a block, as {why}; leave out 'lanes'",
                location_of(shared or self.kernels[0]),
            )
        return self.options.lanes

    def _mixes_cores(self, pipes: Sequence[InitializePipeOp]) -> bool:
        """Return True if a block is more than one vector core: kernels of vector cores alone are launched on one."""
        return bool(pipes) or any(
            self._runs_on(function, KernelKind.CUBE)
            or any(isinstance(op, SyncAllOp) for op in _reachable(function, KernelKind.VECTOR))
            for function in self.kernels
        )

    def _asks_for_lanes(self) -> bool:
        """Return True if vector cores ask for their number, or flags are between cores of a block."""
        return self.flags.of_a_block or any(
            isinstance(op, GetSubBlockIdxOp | GetSubBlockNumOp)
            for function in self.kernels
            for op in _reachable(function, KernelKind.VECTOR)
        )

    def _lanes_of(self, pipe: InitializePipeOp) -> int:
        """Return how many vector cores take part in a pipe: on a2a3 all of them, split or not."""
        return self.machine.lanes if is_shared(pipe) or self.chip == "a2a3" else 1

    def _plans(self, rings: list[Ring]) -> dict[KernelKind, dict[InitializePipeOp, Plan]]:
        """Pair the ends of pipes: those with equal signatures, in the order of the text."""
        groups: dict[Hashable, dict[KernelKind, list[InitializePipeOp]]] = {}
        for core in _CORES:
            for op in self.ends[core]:
                groups.setdefault(_signature(op), {kind: [] for kind in _CORES})[core].append(op)
        plans: dict[KernelKind, dict[InitializePipeOp, Plan]] = {core: {} for core in _CORES}
        for ends in groups.values():
            for core in _CORES:
                if not ends[core]:
                    missing = "cube core" if core is KernelKind.CUBE else "vector cores"
                    raise refusal(
                        next(op for kind in _CORES for op in ends[kind]),
                        f"has no peer: no kernel of the {missing} opens this pipe; open it there, with the same "
                        "dir_mask, slot_size, slot_num and buffers",
                    )
            # Pipes whose entries are tensors may have more ends on one side; those are of the last pipe.
            for place in range(max(map(len, ends.values()))):
                pair = {core: ends[core][min(place, len(ends[core]) - 1)] for core in _CORES}
                plan = next((plans[core][pair[core]] for core in _CORES if pair[core] in plans[core]), None)
                if plan is None:
                    plan = self._plan(pair, rings)
                for core in _CORES:
                    plans[core][pair[core]] = plan
        return plans

    def _plan(self, pair: dict[KernelKind, InitializePipeOp], rings: list[Ring]) -> Plan:
        pipe = pair[KernelKind.CUBE]
        identity = pipe.frontend_id
        if identity is None:
            identity = 0 if pipe.flag_base is None else number(pipe.flag_base)
        found: dict[int, Ring] = {}
        for direction, way in ((pipe_protocol.C2V, "c2v"), (pipe_protocol.V2C, "v2c")):
            if not pipe.direction & direction:
                continue
            name, taken = f"{way}_{identity}", {ring.channel for ring in rings}
            count = 1
            while name in taken:
                count += 1
                name = f"{way}_{identity}_{count}"
            offset = (
                pipe.depth * pipe.entry_bytes if direction == pipe_protocol.V2C and pipe_protocol.C2V in found else 0
            )
            producer = pair[KernelKind.CUBE if direction == pipe_protocol.C2V else KernelKind.VECTOR]
            lanes = self._lanes_of(pipe)
            found[direction] = Ring(name, direction, pipe.depth, pipe.entry_bytes, lanes, offset, producer)
        rings += found.values()
        return Plan(found, _popped(pair))


def _popped(pair: dict[KernelKind, InitializePipeOp]) -> Attribute | None:
    """Return the type that the cube core's pushes are converted to: that of the vector cores' pops."""
    config = pair[KernelKind.CUBE].acc_push_epilogue
    if config is None:
        return None
    for use in pair[KernelKind.VECTOR].pipe.uses:
        if isinstance(use.operation, TPopOp) and isinstance(use.operation.tile.type, TileBufType):
            return use.operation.tile.type.element_type
    return epilogue.result_types(config.quant.data)[0]


def _signature(pipe: InitializePipeOp) -> Hashable:
    """Return what both ends of a pipe have in common."""
    if pipe.flag_base is None:
        raise refusal(pipe, "has no flags; run pto-resolve-reserved-buffers before lower-pto-to-flow")
    buffers = tuple(
        None if operand is None else constant_value(operand)
        for operand in (getattr(pipe, "local_addr", None), getattr(pipe, "peer_local_addr", None))
    )
    return type(pipe), number(pipe.flag_base), pipe.direction, pipe.entry_bytes, pipe.depth, buffers


def _reachable(function: FuncOp, core: KernelKind) -> Iterator[Operation]:
    """Yield the operations a core executes when it runs a function, callees included."""
    seen = {function}
    pending: list[Operation] = [function]
    while pending:
        op = pending.pop()
        yield op
        if isinstance(op, SectionOp) and isinstance(op, SectionCubeOp) != (core is KernelKind.CUBE):
            continue
        if isinstance(op, CallOp):
            callee = called(op)
            if callee is not None and callee not in seen and kernel_kind(callee) in (None, core):
                seen.add(callee)
                pending.append(callee)
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                pending.extend(reversed(list(block.ops)))
