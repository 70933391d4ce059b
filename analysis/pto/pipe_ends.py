"""Pipe ends: which pipes that are values are the two ends of one hardware pipe, and what passes on them share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.records import record
from ...dialects.pto.buffers import reservation_of
from ...dialects.pto.internal_pipes import InitializeL2G2LPipeOp, InitializeL2LPipeOp, InitializePipeOp
from ...dialects.pto.kernels import function_of
from ...dialects.pto.types import TileBufType, element_bytes
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from ...targets.chip import LANE_ALIGNMENT


def refusal(op: Operation, message: str) -> LoomError:
    """Return an error about `op` in the wording of PTOAS."""
    return LoomError(f"'{op.name}' op {message}", location_of(op))


def containing_function(op: Operation) -> FuncOp:
    """Return the function around `op`; raises LoomError without one."""
    function = function_of(op)
    if function is None:
        raise refusal(op, "must be nested under a func.func; put it into one")
    return function


def local_address(pipe: InitializePipeOp) -> SSAValue | None:
    """Return the consumer's buffer of a pipe, the vector cores' if there are two; None if slots are tensors."""
    if isinstance(pipe, InitializeL2LPipeOp):
        return pipe.local_addr
    return pipe.local_addr if isinstance(pipe, InitializeL2G2LPipeOp) else None


@record
class Ends:
    """One pipe of the hardware: its two ends, or one whose other end is unknown."""

    pipes: tuple[InitializePipeOp, ...]
    peers_known: bool
    """True if the ends name a buffer, or an id, that identifies the other end."""

    @property
    def first(self) -> InitializePipeOp:
        return self.pipes[0]

    @property
    def only_in_global_memory(self) -> bool:
        """True if entries are tensors; any number of kernels may then share the pipe."""
        return local_address(self.first) is None

    @property
    def functions(self) -> set[FuncOp]:
        return {containing_function(pipe) for pipe in self.pipes}

    @property
    def frontend_id(self) -> int | None:
        """The least id the pipe has in its kernels."""
        return min((pipe.frontend_id for pipe in self.pipes if pipe.frontend_id is not None), default=None)


def pipe_ends(module: ModuleOp) -> list[Ends]:
    """Return the pipes of a module, each with all its ends, in the order of their first ends.

    Ends belong together if they use the same reserved buffer for the same direction; if their entries are tensors, if
    they had the same id and direction in their kernels.
    """
    inits = [op for op in walk(module) if isinstance(op, InitializePipeOp)]
    sharers: dict[Hashable, list[InitializePipeOp]] = {}
    keys = {pipe: list(_keys(pipe)) for pipe in inits}
    for pipe in inits:
        for key in keys[pipe]:
            sharers.setdefault(key, []).append(pipe)
    found: list[Ends] = []
    seen: set[InitializePipeOp] = set()
    for root in inits:
        if root in seen:
            continue
        seen.add(root)
        ends = [root]
        for pipe in ends:
            for key in keys[pipe]:
                for other in sharers.pop(key, ()):
                    if other not in seen:
                        seen.add(other)
                        ends.append(other)
        found.append(Ends(tuple(ends), any(keys[pipe] for pipe in ends)))
    return found


def _keys(pipe: InitializePipeOp) -> Iterator[Hashable]:
    address = local_address(pipe)
    if address is None:
        yield (pipe if pipe.frontend_id is None else pipe.frontend_id), pipe.direction
        return
    if pipe.direction != pipe_protocol.BOTH:
        buffers = [(address, pipe.direction)]
    else:
        buffers = [(address, pipe_protocol.C2V)]
        if isinstance(pipe, InitializeL2LPipeOp | InitializeL2G2LPipeOp) and pipe.peer_local_addr is not None:
            buffers.append((pipe.peer_local_addr, pipe_protocol.V2C))
    for buffer, direction in buffers:
        reserved = reservation_of(buffer)
        if reserved is not None:
            yield reserved, direction


def lane_problem(tile: TileBufType, split: int, direction: int) -> str | None:
    """Return why a5 cannot split a tile of the producer between its vector cores; None if it can."""
    columns, size = tile.valid_shape[1], element_bytes(tile.element_type)
    if split not in (pipe_protocol.UP_DOWN, pipe_protocol.LEFT_RIGHT) or size is None:
        return None
    problem = None
    if direction == pipe_protocol.C2V:
        if size != 4:
            problem = f"elements of {size} bytes; a split tile has elements of 4"
        elif split == pipe_protocol.LEFT_RIGHT and columns > 0 and columns % LANE_ALIGNMENT:
            problem = f"{columns} columns; a tile split by columns has a multiple of {LANE_ALIGNMENT}"
    elif split == pipe_protocol.LEFT_RIGHT and columns > 0 and columns * size % LANE_ALIGNMENT:
        problem = f"columns of {columns * size} bytes; a lane of a tile has a multiple of {LANE_ALIGNMENT}"
    return None if problem is None else f"a5 cannot split this tile between its vector cores: it has {problem}"
