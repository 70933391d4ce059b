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

from ..machine.elements import ELEMENT_TYPES as ELEMENT_TYPES
from ..machine.elements import verify_element_type as verify_element_type
from ..machine.modes import PRIORITIES as PRIORITIES
from ..machine.symbols import SymbolUser as SymbolUser
from ..members import dialect_of
from . import (
    access,
    channels,
    code,
    fabric,
    fifos,
    memory,
    operations,
    queues,
    state,
    streams,
    tiles,
    types,
    updates,
)
from . import verification as verification  # registers the checks of members
from .access import Array as Array
from .access import LoadOp as LoadOp
from .access import StoreOp as StoreOp
from .asynchronous import CONTROL_ACTIONS as CONTROL_ACTIONS
from .asynchronous import AsynchronousOp as AsynchronousOp
from .channels import AcquireOp as AcquireOp
from .channels import ChannelOp as ChannelOp
from .channels import CommitOp as CommitOp
from .channels import DrainOp as DrainOp
from .channels import ReleaseOp as ReleaseOp
from .channels import RestOp as RestOp
from .channels import WaitOp as WaitOp
from .code import TASK_KINDS as TASK_KINDS
from .code import CallOp as CallOp
from .code import FuncOp as FuncOp
from .code import ReturnOp as ReturnOp
from .code import TaskOp as TaskOp
from .fabric import DIRECTIONS as DIRECTIONS
from .fabric import ColorOp as ColorOp
from .fabric import FabricOp as FabricOp
from .fabric import HostStreamOp as HostStreamOp
from .fabric import MessageNetworkOp as MessageNetworkOp
from .fabric import RouteOp as RouteOp
from .fabric import UnitsOp as UnitsOp
from .fields import DYNAMIC as DYNAMIC
from .fields import LITERALS as LITERALS
from .fifos import FifoOp as FifoOp
from .memory import BufferOp as BufferOp
from .memory import ExportOp as ExportOp
from .memory import InitializeOp as InitializeOp
from .memory import ParamOp as ParamOp
from .operations import REGISTER_FILES as REGISTER_FILES
from .operations import ApplyOp as ApplyOp
from .operations import InitialOp as InitialOp
from .operations import LoadRegisterOp as LoadRegisterOp
from .operations import RegisterOp as RegisterOp
from .queues import QueueOp as QueueOp
from .scope import Origin as Origin
from .state import ActivateOp as ActivateOp
from .state import AssertOp as AssertOp
from .state import BlockedMicrothreadOp as BlockedMicrothreadOp
from .state import BlockMicrothreadOp as BlockMicrothreadOp
from .state import BlockOp as BlockOp
from .state import Cb16Op as Cb16Op
from .state import CoordinateOp as CoordinateOp
from .state import DirectiveOp as DirectiveOp
from .state import ExtentOp as ExtentOp
from .state import GetParamOp as GetParamOp
from .state import PrintOp as PrintOp
from .state import RemfOp as RemfOp
from .state import SetClockOp as SetClockOp
from .state import SetExceptionMaskOp as SetExceptionMaskOp
from .state import TimestampOp as TimestampOp
from .state import UnblockMicrothreadOp as UnblockMicrothreadOp
from .state import UnblockOp as UnblockOp
from .streams import CircularStreamOp as CircularStreamOp
from .streams import FifoStreamOp as FifoStreamOp
from .streams import QueueStreamOp as QueueStreamOp
from .streams import SetFifoLengthOp as SetFifoLengthOp
from .streams import StreamMaker as StreamMaker
from .streams import StreamOp as StreamOp
from .tiles import MAX_TILE_DIMENSIONS as MAX_TILE_DIMENSIONS
from .tiles import Owner as Owner
from .tiles import Slot as Slot
from .tiles import SpaceOp as SpaceOp
from .tiles import TileApplyOp as TileApplyOp
from .tiles import TileGetOp as TileGetOp
from .tiles import TileOp as TileOp
from .tiles import TilePrintOp as TilePrintOp
from .tiles import TileType as TileType
from .types import SCALAR_TYPES as SCALAR_TYPES
from .types import Scalar as Scalar
from .types import StreamType as StreamType
from .types import element_words as element_words
from .updates import AdvanceOp as AdvanceOp
from .updates import IndexedOp as IndexedOp
from .updates import RebaseOp as RebaseOp
from .updates import ResizeOp as ResizeOp
from .updates import RestrideOp as RestrideOp

Flow = dialect_of(
    "flow", types, fabric, memory, queues, fifos, code, state, access, streams, updates, operations, tiles, channels
)
