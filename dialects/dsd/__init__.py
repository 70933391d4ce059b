"""The `dsd` dialect: data structure descriptors (DSDs) as values, and the operations over them.

A descriptor names a set of memory elements or a run of wavelets; one DSD operation repeats one scalar
operation over its descriptors. Descriptors are immutable SSA values: operations that change one make a new
one. The DSD operations themselves have a class for each row of `dsd_table`, here on descriptors and in `dsr` on
registers.

The dialect knows nothing of how queues, microthreads or registers are chosen.
"""

from __future__ import annotations

from ..machine.modes import Priority as Priority
from ..machine.modes import SimdMode as SimdMode
from ..members import dialect_of, members
from . import attributes, builtins, derived, fabric, fifo, memory, types
from .attributes import AsyncAttr as AsyncAttr
from .attributes import ControlAction as ControlAction
from .attributes import OnControlAttr as OnControlAttr
from .attributes import PriorityAttr as PriorityAttr
from .attributes import SimdModeAttr as SimdModeAttr
from .attributes import ZeroedSource as ZeroedSource
from .attributes import ZeroedSourceAttr as ZeroedSourceAttr
from .builtins import *  # noqa: F403
from .derived import DerivedDescriptorOp as DerivedDescriptorOp
from .derived import IncrementOffsetOp as IncrementOffsetOp
from .derived import SetBaseOp as SetBaseOp
from .derived import SetLengthOp as SetLengthOp
from .derived import SetStrideOp as SetStrideOp
from .derived import defining_op as defining_op
from .derived import strides_if_constant as strides_if_constant
from .fabric import FabinOp as FabinOp
from .fabric import FaboutOp as FaboutOp
from .fabric import FabricDescriptorOp as FabricDescriptorOp
from .fields import Integer as Integer
from .fields import constant_extent as constant_extent
from .fields import constant_value as constant_value
from .fifo import FifoOp as FifoOp
from .fifo import SetFifoLengthOp as SetFifoLengthOp
from .memory import CircbufOp as CircbufOp
from .memory import Mem1dOp as Mem1dOp
from .memory import Mem4dOp as Mem4dOp
from .memory import MemoryDescriptorOp as MemoryDescriptorOp
from .memory import TensorAccessOp as TensorAccessOp
from .operations import DescriptorOperation as DescriptorOperation
from .operations import DsdOperation as DsdOperation
from .operations import DsdOperationEffects as DsdOperationEffects
from .operations import Queues as Queues
from .operations import dsd_operation as dsd_operation
from .operations import resolve_all as resolve_all
from .types import CircbufType as CircbufType
from .types import DescriptorType as DescriptorType
from .types import FabinType as FabinType
from .types import FaboutType as FaboutType
from .types import FabricDescriptorType as FabricDescriptorType
from .types import FifoType as FifoType
from .types import Mem1dType as Mem1dType
from .types import Mem4dType as Mem4dType
from .types import MemoryDescriptorType as MemoryDescriptorType

Dsd = dialect_of("dsd", types, attributes, memory, fifo, fabric, derived, builtins)

OPERATIONS = {op.table_row().name: op for op in members(DescriptorOperation, builtins)}
"""The DSD operations on descriptors by the name of their row, for generic code: `OPERATIONS["fmacs"]` is `FmacsOp`."""
