"""The `flow` dialect: what the runtime executes.

A `flow.fabric` is a grid of units joined by routes. Units that run the same program are one `flow.units` with a
region of coordinates, a word-addressed memory, queues and tasks; what differs from unit to unit is data
(`flow.coordinate`, `flow.get_param`). Task bodies are `arith`, `math` and `scf` on scalars, loads and stores, and
`flow.apply`: one table operation repeated over streams, which are strided walks over memory or runs of wavelets
of a queue. Everything that has a number on the machine (address, color, queue, task, microthread) has it here.

A verified fabric has nothing left to check by name or by type: symbols are there and of the right kind, numbers are
the target's, streams are used the way they flow. All of it costs one walk over the operations.

The dialect knows nothing of CSL, of descriptors or of how the runtime stores memory.
"""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from ..machine.elements import ELEMENT_TYPES, verify_element_type
from .access import Array, LoadOp, StoreOp
from .asynchronous import CONTROL_ACTIONS, PRIORITIES, AsynchronousOp
from .channels import AcquireOp, ChannelOp, CommitOp, DrainOp, ReleaseOp, WaitOp
from .code import TASK_KINDS, CallOp, FuncOp, ReturnOp, TaskOp
from .fabric import DIRECTIONS, ColorOp, FabricOp, HostStreamOp, RouteOp, UnitsOp
from .fields import DYNAMIC, EXTENTS, LITERALS, MAX_DIMENSIONS, POINTER_EXTENT
from .memory import BufferOp, ExportOp, InitializeOp, ParamOp
from .operations import REGISTER_FILES, ApplyOp, InitialOp, LoadRegisterOp, RegisterOp
from .origins import Origin, Streams
from .queues import FifoOp, QueueOp
from .scope import Scope
from .state import ActivateOp, AssertOp, BlockOp, CoordinateOp, ExtentOp, GetParamOp, PrintOp, TimestampOp, UnblockOp
from .streams import FifoStreamOp, QueueStreamOp, SetFifoLengthOp, StreamMaker, StreamOp
from .symbols import SymbolUser
from .tiles import MAX_TILE_DIMENSIONS, Owner, Slot, SpaceOp, TileApplyOp, TileGetOp, TileOp, TilePrintOp, TileType
from .types import SCALAR_TYPES, Scalar, StreamType, element_words
from .updates import AdvanceOp, IndexedOp, RebaseOp, ResizeOp, RestrideOp


def _operations() -> list[type[Operation]]:
    return [
        FabricOp, ColorOp, RouteOp, HostStreamOp, UnitsOp, BufferOp, InitializeOp, FifoOp, InitialOp, ParamOp, ExportOp,
        QueueOp, FuncOp, TaskOp, ReturnOp, CallOp, CoordinateOp, ExtentOp, GetParamOp, LoadOp, StoreOp, AssertOp,
        PrintOp, TimestampOp, ActivateOp, BlockOp, UnblockOp, StreamOp, QueueStreamOp, FifoStreamOp, SetFifoLengthOp,
        AdvanceOp, ResizeOp, RestrideOp, RebaseOp, IndexedOp, LoadRegisterOp, RegisterOp, ApplyOp, SpaceOp, ChannelOp,
        TileOp, TileApplyOp, TilePrintOp, TileGetOp, AcquireOp, CommitOp, WaitOp, ReleaseOp, DrainOp,
    ]  # fmt: skip


Flow = Dialect("flow", _operations(), [StreamType, TileType])

__all__ = [
    "CONTROL_ACTIONS",
    "DIRECTIONS",
    "DYNAMIC",
    "ELEMENT_TYPES",
    "EXTENTS",
    "LITERALS",
    "MAX_DIMENSIONS",
    "MAX_TILE_DIMENSIONS",
    "POINTER_EXTENT",
    "PRIORITIES",
    "REGISTER_FILES",
    "SCALAR_TYPES",
    "TASK_KINDS",
    "AcquireOp",
    "ActivateOp",
    "AdvanceOp",
    "ApplyOp",
    "Array",
    "AssertOp",
    "AsynchronousOp",
    "BlockOp",
    "BufferOp",
    "CallOp",
    "ChannelOp",
    "ColorOp",
    "CommitOp",
    "CoordinateOp",
    "DrainOp",
    "ExportOp",
    "ExtentOp",
    "FabricOp",
    "FifoOp",
    "FifoStreamOp",
    "Flow",
    "FuncOp",
    "GetParamOp",
    "HostStreamOp",
    "IndexedOp",
    "InitialOp",
    "InitializeOp",
    "LoadOp",
    "LoadRegisterOp",
    "Origin",
    "Owner",
    "ParamOp",
    "PrintOp",
    "QueueOp",
    "QueueStreamOp",
    "RebaseOp",
    "RegisterOp",
    "ReleaseOp",
    "ResizeOp",
    "RestrideOp",
    "ReturnOp",
    "RouteOp",
    "Scalar",
    "Scope",
    "SetFifoLengthOp",
    "Slot",
    "SpaceOp",
    "StoreOp",
    "StreamMaker",
    "StreamOp",
    "StreamType",
    "Streams",
    "SymbolUser",
    "TaskOp",
    "TileApplyOp",
    "TileGetOp",
    "TileOp",
    "TilePrintOp",
    "TileType",
    "TimestampOp",
    "UnblockOp",
    "UnitsOp",
    "WaitOp",
    "element_words",
    "verify_element_type",
]
