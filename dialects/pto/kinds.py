"""Kinds of operands and results of instructions: the types that each accepts, in upstream's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    VectorType,
    bf16,
    f16,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

from ...diagnostics.records import record
from .registers import AlignType, MaskType, VmiMaskType, VmiVRegType, VRegType
from .types import F4E1M2x2Type, F4E2M1x2Type, HiF8x2Type, PartitionTensorViewType, PtrType, TensorViewType, TileBufType


@record
class Kind:
    """A constraint on the type of an operand, or on an attribute, of an instruction, with its name in messages."""

    accepts: Callable[[Attribute], bool]
    summary: str


def is_signless(type: Attribute) -> bool:
    """Return True for integers without a sign of their own, such as i32."""
    return isinstance(type, IntegerType) and cast("IntegerType", type).signedness.data is Signedness.SIGNLESS


def is_number(type: Attribute) -> bool:
    """Return True for integers and floats."""
    return isinstance(type, IntegerType | AnyFloat)


def is_pair(type: Attribute, *elements: Attribute) -> bool:
    """Return True for `vector<2xE>` of one of the elements."""
    if not isinstance(type, VectorType):
        return False
    vector = cast("VectorType[Attribute]", type)
    return vector.get_shape() == (2,) and vector.element_type in elements


def _is_packed(type: Attribute) -> bool:
    """Return True for what a thread converts to and from several 8-bit floats at once."""
    if isinstance(type, HiF8x2Type | F4E1M2x2Type | F4E2M1x2Type):
        return True
    if not isinstance(type, VectorType):
        return False
    vector = cast("VectorType[Attribute]", type)
    names = ("f8E4M3FN", "f8E5M2")
    return vector.get_shape() in ((2,), (4,), (8,)) and str(vector.element_type) in names


def _of(*classes: type[Attribute]) -> Callable[[Attribute], bool]:
    return lambda type: isinstance(type, classes)


def _mask(granularity: str) -> Callable[[Attribute], bool]:
    return lambda type: isinstance(type, MaskType) and type.granularity.data == granularity


def _one_of(*types: Attribute, pairs: tuple[Attribute, ...] = ()) -> Callable[[Attribute], bool]:
    return lambda type: type in types or is_pair(type, *pairs)


_TILES = (TensorType, PartitionTensorViewType, TileBufType)

KINDS: Mapping[str, Kind] = {
    # Registers of the vector cores
    "V": Kind(_of(VRegType), "PTO low-level vector type"),
    "M": Kind(_of(MaskType), "PTO low-level mask type"),
    "M8": Kind(_mask("b8"), "PTO low-level b8 mask type"),
    "M16": Kind(_mask("b16"), "PTO low-level b16 mask type"),
    "M32": Kind(_mask("b32"), "PTO low-level b32 mask type"),
    "A": Kind(_of(AlignType), "PTO low-level align type"),
    # Registers of any length
    "L": Kind(_of(VmiVRegType), "VMI logical vector register type"),
    "K": Kind(_of(VmiMaskType), "VMI logical mask type"),
    "W": Kind(_of(VmiVRegType, VmiMaskType), "VMI logical vector or mask type"),
    "R": Kind(_of(VRegType, MaskType), "PTO physical vector register or mask type"),
    # Memory
    "B": Kind(_of(PtrType, MemRefType), "memref or pointer-like buffer type"),
    "P": Kind(_of(PtrType), "pointer-like buffer type"),
    "Q": Kind(_of(PtrType, MemRefType), "Ptr or MemRef"),
    "T": Kind(_of(*_TILES), "tensor, partition_tensor_view or tile_buf"),
    "TB": Kind(_of(TileBufType), "tile_buf"),
    "C": Kind(_of(TensorViewType, *_TILES), "TensorView, PartitionTensorView, TileBuf, or Tensor"),
    "G": Kind(_of(TensorViewType, PartitionTensorViewType), "TensorView or PartitionTensorView"),
    # Numbers
    "index": Kind(_of(IndexType), "index"),
    "i1": Kind(_one_of(i1), "1-bit signless integer"),
    "i16": Kind(_one_of(i16), "16-bit signless integer"),
    "i32": Kind(_one_of(i32), "32-bit signless integer"),
    "i64": Kind(_one_of(i64), "64-bit signless integer"),
    "f32": Kind(_one_of(f32), "32-bit float"),
    "N": Kind(lambda type: is_signless(type) or isinstance(type, AnyFloat), "numeric (integer/float)"),
    "I": Kind(_of(IntegerType), "integer"),
    "S": Kind(is_signless, "signless integer"),
    "F": Kind(lambda type: isinstance(type, AnyFloat), "floating-point"),
    "number": Kind(is_number, "integer/float scalar"),
    "printable": Kind(is_number, "integer/float printable scalar"),
    # What threads compute with
    "F1": Kind(_of(Float16Type, Float32Type, BFloat16Type), "floating scalar"),
    "F2": Kind(_one_of(f16, f32, bf16, pairs=(f16, bf16)), "f16, f32, bf16, vector<2xf16> or vector<2xbf16>"),
    "F3": Kind(_one_of(f16, f32, pairs=(f16,)), "f16, f32 or vector<2xf16>"),
    "F4": Kind(_one_of(f16, f32, pairs=(f16, bf16)), "f16, f32, vector<2xf16> or vector<2xbf16>"),
    "SH": Kind(_one_of(i32, i64, f16, f32, pairs=(f16,)), "i32, i64, f16, f32 or vector<2xf16>"),
    "RX": Kind(_one_of(i32, f16, f32), "integer/float scalar"),
    "AT": Kind(
        _one_of(i32, i64, f16, bf16, f32, pairs=(f16, bf16)),
        "i32, i64, bf16, f16, f32, vector<2xf16> or vector<2xbf16>",
    ),
    "DV": Kind(_one_of(i8, i16, i32, i64), "i8, i16, i32 or i64"),
    "I2": Kind(_one_of(i32, i64), "i32 or i64"),
    "CV": Kind(
        lambda type: type in (i32, i64, f16, bf16, f32) or is_pair(type, f16, bf16, f32) or _is_packed(type),
        "standard scalar, low-precision scalar payload, or supported vector<2xT> conversion type",
    ),
}
"""The kinds by the name that rows of `operations/pto_instructions` give them."""
