"""Epilogues of pushes from the accumulator: source and result types of each quantization mode, layouts of each mode.

Knows types, no operations.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    i32,
)
from xdsl.ir import Attribute

from .attributes import AddressSpace, BLayout, FixpipeLayout, FixpipeQuant, SLayout
from .kernels import Architecture
from .types import HiF8Type, TileBufType

_I32 = (i32, IntegerType(32, Signedness.SIGNED), IntegerType(32, Signedness.UNSIGNED))
_SI8 = IntegerType(8, Signedness.SIGNED)
_UI8 = IntegerType(8, Signedness.UNSIGNED)
_FP8 = (Float8E4M3Type(), Float8E4M3FNType(), Float8E4M3FNUZType())

_TYPES: dict[FixpipeQuant, tuple[tuple[Attribute, ...], tuple[Attribute, ...]]] = {
    FixpipeQuant.NO_CONVERT: ((f32, *_I32), (f32, *_I32)),
    FixpipeQuant.F32_F16: ((f32,), (f16,)),
    FixpipeQuant.F32_BF16: ((f32,), (bf16,)),
    FixpipeQuant.REQ8_SCALAR: (_I32, (_SI8, _UI8)),
    FixpipeQuant.REQ8_VEC: (_I32, (_SI8,)),
    FixpipeQuant.DEQF16_SCALAR: (_I32, (f16,)),
    FixpipeQuant.DEQF16_VEC: (_I32, (f16,)),
    FixpipeQuant.QF322B8_PRE_SCALAR: ((f32,), (_SI8, _UI8)),
    FixpipeQuant.QF322B8_PRE_VEC: ((f32,), (_SI8,)),
    FixpipeQuant.QF322F16_PRE_SCALAR: ((f32,), (f16,)),
    FixpipeQuant.QF322BF16_PRE_SCALAR: ((f32,), (bf16,)),
    FixpipeQuant.QS322BF16_PRE_SCALAR: (_I32, (bf16,)),
    FixpipeQuant.QS322BF16_PRE_VEC: (_I32, (bf16,)),
    FixpipeQuant.QF322HIF8_PRE_SCALAR: ((f32,), (HiF8Type(),)),
    FixpipeQuant.QF322FP8_PRE_SCALAR: ((f32,), _FP8),
}
"""Element types of the accumulator, and of the tile the consumer gets, for each conversion."""

A5_ONLY: dict[FixpipeQuant, str] = {
    FixpipeQuant.QS322BF16_PRE_SCALAR: "'qs322bf16_pre_*' quantization modes",
    FixpipeQuant.QS322BF16_PRE_VEC: "'qs322bf16_pre_*' quantization modes",
    FixpipeQuant.QF322HIF8_PRE_SCALAR: "'qf322hif8_pre_scalar'/'qf322fp8_pre_scalar'",
    FixpipeQuant.QF322FP8_PRE_SCALAR: "'qf322hif8_pre_scalar'/'qf322fp8_pre_scalar'",
}
"""The conversions only chips of generation a5 have, and how errors name them."""

_LAYOUTS: dict[FixpipeLayout, tuple[BLayout, SLayout]] = {
    FixpipeLayout.NZ2ND: (BLayout.ROW_MAJOR, SLayout.NONE_BOX),
    FixpipeLayout.NZ2DN: (BLayout.COL_MAJOR, SLayout.NONE_BOX),
    FixpipeLayout.NZ2NZ: (BLayout.COL_MAJOR, SLayout.ROW_MAJOR),
}


def source_types(quant: FixpipeQuant) -> tuple[Attribute, ...]:
    """Return the element types the accumulator may have."""
    return _TYPES[quant][0]


def result_types(quant: FixpipeQuant) -> tuple[Attribute, ...]:
    """Return the element types the consumer's tile may have."""
    return _TYPES[quant][1]


def converts(quant: FixpipeQuant, source: Attribute, result: Attribute) -> bool:
    """Return True if a mode converts `source` to `result`."""
    if quant is FixpipeQuant.NO_CONVERT and source != result:
        return False
    return source in source_types(quant) and result in result_types(quant)


def has_layout(layout: FixpipeLayout, tile: TileBufType) -> bool:
    """Return True if the consumer's tile has the layout that `layout` produces."""
    return tile.location is AddressSpace.VEC and (tile.blayout, tile.slayout) == _LAYOUTS[layout]


def factor_types(architecture: Architecture) -> tuple[Attribute, ...]:
    """Return the element types of the tile of scales, one for each column."""
    if architecture == "a5":
        return (f16, bf16, f32)
    return tuple(IntegerType(64, sign) for sign in Signedness)
