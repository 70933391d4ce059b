"""Program of a dry run: the kernels of a module whose pipes and tiles have been placed, and their channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from ....diagnostics.records import record
from ....dialects.pto.attributes import KernelKind
from ....dialects.pto.internal_pipes import BoundPipeOp, InitializeL2G2LPipeOp, InitializePipeOp
from ....dialects.pto.kernels import (
    Architecture,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    SectionCubeOp,
    SectionVectorOp,
    core_of,
    kernel_kind,
)
from ....dialects.traversal import walk
from ....operations import pipe_protocol
from ....operations.pipe_protocol import Behavior
from ....targets.chip import LANES
from ..core_flags import flags_of_program
from ..pipe_ends import pipe_ends
from ..schedules import PipeUse, pipe_uses
from .channels import Channel


@record
class Ring:
    """One direction of a pipe: its settings and the uses of both ends."""

    name: str
    pipe: InitializePipeOp
    direction: int
    uses: tuple[PipeUse, ...]

    @cached_property
    def is_split(self) -> bool:
        """True if vector cores share its entries."""
        return any(use.split != pipe_protocol.NO_SPLIT for use in self.uses)

    @cached_property
    def of_tiles(self) -> bool:
        """True if its entries are tiles or signals."""
        return any(use.of_contents for use in self.uses if use.action != "free")

    @cached_property
    def has_epilogue(self) -> bool:
        """True if what is pushed is converted on the way."""
        return any(use.pipe.acc_push_epilogue is not None for use in self.uses)


class Program:
    """The kernels that are launched, and the rings of their pipes."""

    def __init__(
        self, module: ModuleOp, behavior: Behavior, chip: Architecture, depths: Mapping[str, int] | None = None
    ) -> None:
        self.depths = depths or {}
        """Numbers of slots, by ring, that differ from those of the text."""
        self.module = module
        self.behavior: Behavior = behavior
        self.chip = chip
        operations = list(walk(module))
        functions = [op for op in operations if isinstance(op, FuncOp) and not op.is_declaration]
        self.functions: Mapping[str, FuncOp] = {op.sym_name.data: op for op in functions}
        entries = [op for op in functions if "pto.entry" in op.attributes]
        called = {op.callee.root_reference.data for op in operations if isinstance(op, CallOp)}
        kernels = [op for op in functions if kernel_kind(op) or any(map(_is_section, walk(op)))]
        self.launched = entries or [op for op in kernels if op.sym_name.data not in called]
        self.rings = list(_rings(module, functions))
        self.of_use: dict[Operation, Ring] = {use.op: ring for ring in self.rings for use in ring.uses}
        asks = any(isinstance(op, GetSubBlockIdxOp | GetSubBlockNumOp) for op in operations)
        self.core_flags = flags_of_program(operations, chip)
        both = asks or self.core_flags.of_a_block or any(ring.is_split for ring in self.rings)
        self.lanes = LANES if both else 1

    def kinds(self) -> set[KernelKind]:
        """Return the kinds of cores that run any kernel."""
        found: set[KernelKind] = set()
        for function in self.functions.values():
            kind = kernel_kind(function)
            found |= {kind} if kind else set()
            for op in walk(function):
                if isinstance(op, SectionCubeOp | SectionVectorOp):
                    found.add(KernelKind.CUBE if isinstance(op, SectionCubeOp) else KernelKind.VECTOR)
        return found

    def lanes_of(self, ring: Ring) -> int:
        """Return how many vector cores take part in the entries of a ring."""
        return self.lanes if ring.is_split or self.chip == "a2a3" else 1

    def channels(self) -> dict[str, Channel]:
        """Return the channels of one block."""
        return {ring.name: self._channel(ring) for ring in self.rings}

    def _channel(self, ring: Ring) -> Channel:
        lanes = self.lanes_of(ring)
        to_vector = ring.direction == pipe_protocol.C2V
        local = not isinstance(ring.pipe, InitializeL2G2LPipeOp)
        depth = self.depths.get(ring.name, ring.pipe.depth)
        return Channel(
            ring.name,
            depth,
            self.behavior,
            producers=1 if to_vector else lanes,
            consumers=lanes if to_vector else 1,
            seed=pipe_protocol.seeded_credits(depth, self.behavior, whole=not ring.is_split, local=local),
            frees_at_pop=self.behavior == "a2a3" and ring.of_tiles,
        )


def _is_section(op: Operation) -> bool:
    return isinstance(op, SectionCubeOp | SectionVectorOp)


def _rings(module: ModuleOp, functions: list[FuncOp]) -> Iterator[Ring]:
    uses: dict[tuple[Operation, int], list[PipeUse]] = {}
    for function in functions:
        for use in pipe_uses(function):
            uses.setdefault((use.pipe, use.direction), []).append(use)
    groups: dict[object, list[InitializePipeOp]] = {}
    for ends in pipe_ends(module):
        base = ends.first.flag_base
        stated = base is not None and not ends.peers_known
        groups.setdefault(base.value.data if stated and base is not None else ends, []).extend(ends.pipes)
    for place, pipes in enumerate(groups.values()):
        for direction in (pipe_protocol.C2V, pipe_protocol.V2C):
            mine = tuple(use for pipe in pipes for use in uses.get((pipe, direction), ()))
            if mine:
                way = "c2v" if direction == pipe_protocol.C2V else "v2c"
                number = min((pipe.frontend_id for pipe in pipes if pipe.frontend_id is not None), default=place)
                yield Ring(f"{way}_{number}", pipes[0], direction, mine)


def producer_of(ring: Ring, op: BoundPipeOp) -> bool:
    """Return True if an operation is one of the producer's."""
    return (core_of(op) is KernelKind.CUBE) == (ring.direction == pipe_protocol.C2V)
