"""The `dsd` dialect: data structure descriptors (DSDs) as values, and the operations over them.

A descriptor names a set of memory elements or a run of wavelets; one DSD operation repeats one scalar
operation over its descriptors. Descriptors are immutable SSA values: operations that change one make a new
one. The DSD operations themselves are generated from `dsd_table`, here on descriptors and in `dsr` on
registers. Rule numbers refer to the project's rules of the DSD document.

The dialect knows nothing of how queues, microthreads or registers are chosen.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from .attributes import (
    AsyncAttr,
    ControlAction,
    OnControlAttr,
    Priority,
    PriorityAttr,
    SimdMode,
    SimdModeAttr,
    ZeroedSource,
    ZeroedSourceAttr,
)
from .derived import (
    DerivedDescriptorOp,
    IncrementOffsetOp,
    SetBaseOp,
    SetLengthOp,
    SetStrideOp,
    defining_op,
    strides_if_constant,
)
from .fabric import FabinOp, FaboutOp, FabricDescriptorOp
from .fields import (
    EXTENTS,
    MAX_DIMENSIONS,
    MEM1D_STRIDES,
    MEM4D_STRIDES,
    OFFSETS,
    Integer,
    constant_extent,
    constant_value,
)
from .fifo import FifoOp, SetFifoLengthOp
from .folding import FoldConstantFields, FoldDerivedDescriptor, MergeDerivedDescriptors
from .memory import CircbufOp, Mem1dOp, Mem4dOp, MemoryDescriptorOp, TensorAccessOp
from .operations import (
    OPERATIONS,
    DescriptorOperation,
    DsdOperation,
    DsdOperationEffects,
    Queues,
    resolve_all,
    table_operations,
)
from .types import (
    CircbufType,
    DescriptorType,
    FabinType,
    FaboutType,
    FabricDescriptorType,
    FifoType,
    Mem1dType,
    Mem4dType,
    MemoryDescriptorType,
)

Dsd = Dialect(
    "dsd",
    [
        TensorAccessOp,
        Mem1dOp,
        Mem4dOp,
        CircbufOp,
        FifoOp,
        SetFifoLengthOp,
        FabinOp,
        FaboutOp,
        IncrementOffsetOp,
        SetLengthOp,
        SetStrideOp,
        SetBaseOp,
        *OPERATIONS.values(),
    ],
    [
        Mem1dType,
        Mem4dType,
        CircbufType,
        FabinType,
        FaboutType,
        FifoType,
        PriorityAttr,
        SimdModeAttr,
        ZeroedSourceAttr,
        OnControlAttr,
        AsyncAttr,
    ],
)

__all__ = [
    "EXTENTS",
    "MAX_DIMENSIONS",
    "MEM1D_STRIDES",
    "MEM4D_STRIDES",
    "OFFSETS",
    "OPERATIONS",
    "AsyncAttr",
    "CircbufOp",
    "CircbufType",
    "ControlAction",
    "DerivedDescriptorOp",
    "DescriptorOperation",
    "DescriptorType",
    "Dsd",
    "DsdOperation",
    "DsdOperationEffects",
    "FabinOp",
    "FabinType",
    "FaboutOp",
    "FaboutType",
    "FabricDescriptorOp",
    "FabricDescriptorType",
    "FifoOp",
    "FifoType",
    "FoldConstantFields",
    "FoldDerivedDescriptor",
    "IncrementOffsetOp",
    "Integer",
    "Mem1dOp",
    "Mem1dType",
    "Mem4dOp",
    "Mem4dType",
    "MemoryDescriptorOp",
    "MemoryDescriptorType",
    "MergeDerivedDescriptors",
    "OnControlAttr",
    "Priority",
    "PriorityAttr",
    "Queues",
    "SetBaseOp",
    "SetFifoLengthOp",
    "SetLengthOp",
    "SetStrideOp",
    "SimdMode",
    "SimdModeAttr",
    "TensorAccessOp",
    "ZeroedSource",
    "ZeroedSourceAttr",
    "constant_extent",
    "constant_value",
    "defining_op",
    "resolve_all",
    "strides_if_constant",
    "table_operations",
]
