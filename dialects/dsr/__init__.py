"""The `dsr` dialect: DSD operations on the registers that hold descriptors.

Registers are types, as in xDSL's register dialects: `!dsr.dest<f32>` is some register of the dest file,
`!dsr.dest<f32, 2>` register 2; the element type is that of the descriptor held. Descriptors are still made by
`dsd` operations; `dsr.load` puts one into a register, and the operations, one for each row of `dsd_table` like those
of `dsd`, work on registers only.

The dialect knows nothing of how registers are chosen.
"""

from __future__ import annotations

from ..members import dialect_of, members
from . import builtins, loads, types
from .builtins import *  # noqa: F403
from .loads import MAX_STRIDE_REGISTERS as MAX_STRIDE_REGISTERS
from .loads import GetDsrOp as GetDsrOp
from .loads import GetSrOp as GetSrOp
from .loads import GetXdsrOp as GetXdsrOp
from .loads import LoadOp as LoadOp
from .loads import RemoveRedundantLoad as RemoveRedundantLoad
from .loads import needed_stride_registers as needed_stride_registers
from .loads import needs_xdsr as needs_xdsr
from .loads import stride_registers as stride_registers
from .operations import RegisterOperation as RegisterOperation
from .types import DescriptorRegisterType as DescriptorRegisterType
from .types import DestType as DestType
from .types import ExtensionRegisterType as ExtensionRegisterType
from .types import RegisterResource as RegisterResource
from .types import RegisterType as RegisterType
from .types import Src0Type as Src0Type
from .types import Src1Type as Src1Type
from .types import SrType as SrType
from .types import XdsrType as XdsrType

Dsr = dialect_of("dsr", types, loads, builtins)

OPERATIONS = {op.table_row().name: op for op in members(RegisterOperation, builtins)}
"""The DSD operations on registers by the name of their row, for generic code: `OPERATIONS["fmacs"]` is `FmacsOp`."""
