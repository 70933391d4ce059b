"""The `wse` dialect: a program on the wafer, after compile time is over.

A `wse.program` is a rectangle of processing elements (PEs): colors and routes for the fabric, and
one `wse.pe` for each distinct program, placed on a region of the rectangle. A `wse.pe` owns buffers,
parameters, queues, functions and tasks; their bodies are `arith`, `math`, `scf`, `memref` and `dsd`
or `dsr` operations, with the operations here for what only the machine has: task state, coordinates
and parameters that differ from PE to PE. IR never grows with the number of PEs.

The dialect knows nothing of CSL syntax, of descriptors, or of how a program is executed.
"""

from __future__ import annotations

from ..machine import filters, region, switches
from ..machine.elements import ELEMENT_TYPES as ELEMENT_TYPES
from ..machine.elements import element_count as element_count
from ..machine.elements import parse_element_type as parse_element_type
from ..machine.elements import verify_element_type as verify_element_type
from ..machine.filters import FilterAttr as FilterAttr
from ..machine.region import RegionAttr as RegionAttr
from ..machine.switches import Position as Position
from ..machine.switches import PositionAttr as PositionAttr
from ..machine.switches import SwitchAttr as SwitchAttr
from ..machine.symbols import Scope as Scope
from ..machine.symbols import SymbolUser as SymbolUser
from ..members import dialect_of
from ..symbols import symbol_name as symbol_name
from . import attributes, code, fabric, fifos, memory, program, queues, state
from . import verification as verification  # registers the checks of members
from .attributes import EVERYWHERE as EVERYWHERE
from .attributes import Axis as Axis
from .attributes import AxisAttr as AxisAttr
from .attributes import Direction as Direction
from .attributes import DirectionAttr as DirectionAttr
from .attributes import QueueColorAttr as QueueColorAttr
from .attributes import StreamWay as StreamWay
from .attributes import TaskKind as TaskKind
from .attributes import TaskKindAttr as TaskKindAttr
from .code import CallOp as CallOp
from .code import FuncOp as FuncOp
from .code import InitialOp as InitialOp
from .code import ReturnOp as ReturnOp
from .code import TaskOp as TaskOp
from .code import verify_task_to_activate as verify_task_to_activate
from .code import verify_task_to_unblock as verify_task_to_unblock
from .fabric import ColorOp as ColorOp
from .fabric import HostStreamOp as HostStreamOp
from .fabric import MessageNetworkOp as MessageNetworkOp
from .fabric import RouteOp as RouteOp
from .fifos import FifoOp as FifoOp
from .memory import BufferOp as BufferOp
from .memory import ExportOp as ExportOp
from .memory import InitializeOp as InitializeOp
from .memory import ParamOp as ParamOp
from .program import PeOp as PeOp
from .program import ProgramOp as ProgramOp
from .queues import InputQueueOp as InputQueueOp
from .queues import OutputQueueOp as OutputQueueOp
from .queues import QueueOp as QueueOp
from .state import ActivateOp as ActivateOp
from .state import AddressOfOp as AddressOfOp
from .state import AssertOp as AssertOp
from .state import BlockedMicrothreadOp as BlockedMicrothreadOp
from .state import BlockMicrothreadOp as BlockMicrothreadOp
from .state import BlockOp as BlockOp
from .state import Cb16Op as Cb16Op
from .state import CoordinateOp as CoordinateOp
from .state import DirectiveOp as DirectiveOp
from .state import ExtentOp as ExtentOp
from .state import GetBufferOp as GetBufferOp
from .state import GetParamOp as GetParamOp
from .state import PrintOp as PrintOp
from .state import RemfOp as RemfOp
from .state import SetClockOp as SetClockOp
from .state import SetExceptionMaskOp as SetExceptionMaskOp
from .state import TaskStates as TaskStates
from .state import TimestampOp as TimestampOp
from .state import UnblockMicrothreadOp as UnblockMicrothreadOp
from .state import UnblockOp as UnblockOp
from .state import ViewOp as ViewOp
from .state import WritesTaskStates as WritesTaskStates

Wse = dialect_of("wse", attributes, region, switches, filters, program, fabric, memory, queues, fifos, code, state)
