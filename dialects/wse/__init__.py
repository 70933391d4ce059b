"""The `wse` dialect: a program on the wafer, after compile time is over.

A `wse.program` is a rectangle of processing elements (PEs): colors and routes for the fabric, and
one `wse.pe` for each distinct program, placed on a region of the rectangle. A `wse.pe` owns buffers,
parameters, queues, functions and tasks; their bodies are `arith`, `math`, `scf`, `memref` and `dsd`
or `dsr` operations, with the operations here for what only the machine has: task state, coordinates
and parameters that differ from PE to PE. IR never grows with the number of PEs.

The dialect knows nothing of CSL syntax, of descriptors, or of how a program is executed.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from ..machine.elements import ELEMENT_TYPES, element_count, parse_element_type, verify_element_type
from ..machine.region import RegionAttr
from ..machine.switches import Position, PositionAttr, SwitchAttr
from ..symbols import symbol_name
from .attributes import (
    EVERYWHERE,
    Axis,
    AxisAttr,
    Direction,
    DirectionAttr,
    QueueColorAttr,
    StreamWay,
    TaskKind,
    TaskKindAttr,
)
from .code import CallOp, FuncOp, InitialOp, ReturnOp, TaskOp
from .fabric import ColorOp, HostStreamOp, RouteOp
from .memory import BufferOp, ExportOp, InitializeOp, ParamOp
from .program import PeOp, ProgramOp
from .queues import FifoOp, InputQueueOp, OutputQueueOp, QueueOp
from .scope import Scope
from .state import (
    ActivateOp,
    AddressOfOp,
    AssertOp,
    BlockOp,
    CoordinateOp,
    ExtentOp,
    GetBufferOp,
    GetParamOp,
    PrintOp,
    TaskStates,
    TimestampOp,
    UnblockOp,
    ViewOp,
    WritesTaskStates,
)
from .symbols import SymbolUser, UniqueSymbols

Wse = Dialect(
    "wse",
    [
        ProgramOp,
        ColorOp,
        RouteOp,
        HostStreamOp,
        PeOp,
        BufferOp,
        FifoOp,
        InitialOp,
        ParamOp,
        InitializeOp,
        ExportOp,
        InputQueueOp,
        OutputQueueOp,
        FuncOp,
        TaskOp,
        ReturnOp,
        CallOp,
        GetBufferOp,
        AddressOfOp,
        ViewOp,
        GetParamOp,
        CoordinateOp,
        ExtentOp,
        ActivateOp,
        BlockOp,
        UnblockOp,
        AssertOp,
        PrintOp,
        TimestampOp,
    ],
    [DirectionAttr, TaskKindAttr, AxisAttr, QueueColorAttr, RegionAttr, PositionAttr, SwitchAttr],
)

__all__ = [
    "ELEMENT_TYPES",
    "EVERYWHERE",
    "ActivateOp",
    "AddressOfOp",
    "AssertOp",
    "Axis",
    "AxisAttr",
    "BlockOp",
    "BufferOp",
    "CallOp",
    "ColorOp",
    "CoordinateOp",
    "Direction",
    "DirectionAttr",
    "ExportOp",
    "ExtentOp",
    "FifoOp",
    "FuncOp",
    "GetBufferOp",
    "GetParamOp",
    "HostStreamOp",
    "InitialOp",
    "InitializeOp",
    "InputQueueOp",
    "OutputQueueOp",
    "ParamOp",
    "PeOp",
    "Position",
    "PositionAttr",
    "PrintOp",
    "ProgramOp",
    "QueueColorAttr",
    "QueueOp",
    "RegionAttr",
    "ReturnOp",
    "RouteOp",
    "Scope",
    "StreamWay",
    "SwitchAttr",
    "SymbolUser",
    "TaskKind",
    "TaskKindAttr",
    "TaskOp",
    "TaskStates",
    "TimestampOp",
    "UnblockOp",
    "UniqueSymbols",
    "ViewOp",
    "WritesTaskStates",
    "Wse",
    "element_count",
    "parse_element_type",
    "symbol_name",
    "verify_element_type",
]
