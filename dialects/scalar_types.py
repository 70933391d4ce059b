"""Scalar types and dense constants of IR, by the names and numpy types of `operations.scalar_types`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from ..operations.scalar_types import numpy_type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCALAR_DIALECTS = ("arith", "math")
"""xDSL's dialects of scalar code, at every level."""

_INTEGER_KINDS = {1: "i1", 8: "i8", 16: "i16", 32: "i32", 64: "i64"}
_OTHER_KINDS: dict[type[Attribute], str] = {
    Float64Type: "f64", Float32Type: "f32", Float16Type: "f16", BFloat16Type: "bf16", IndexType: "index",
}  # fmt: skip


def kind_of(type: Attribute) -> str | None:
    """Return the scalar kind of an IR type ("i16", "f32", "index", ...); None if the engine does not compute it."""
    if isinstance(type, IntegerType):
        return _INTEGER_KINDS.get(type.bitwidth)
    return _OTHER_KINDS.get(type.__class__)


_FLOATS: tuple[type[Attribute], ...] = (
    Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type,
)  # fmt: skip


def element_dtype(type: Attribute) -> np.dtype[Any] | None:
    """Return the numpy type of the elements of a tile; None for a type that numpy does not have."""
    if isinstance(type, IntegerType):
        if type.bitwidth not in (8, 16, 32, 64):
            return None
        unsigned = type == IntegerType(type.bitwidth, Signedness.UNSIGNED)
        return numpy_type(f"{'u' if unsigned else 'i'}{type.bitwidth}")
    return numpy_type(type.name) if isinstance(type, _FLOATS) else None


def dense_values(attribute: DenseIntOrFPElementsAttr) -> NDArray[Any]:
    """Return the elements of a dense attribute, of its shape (a splat is repeated)."""
    # Tools that only read text start without numpy.
    import numpy as np

    shape = tuple(attribute.get_shape())
    element = attribute.get_element_type()
    values: NDArray[Any]
    if isinstance(element, AnyFloat):
        # Python's own floats of 16 and 32 bits do not keep what a NaN carries.
        values = np.frombuffer(attribute.data.data, numpy_type(element.name))
    else:
        values = np.asarray(list(attribute.get_values()))
    count = int(np.prod(shape, dtype=np.int64))
    return (np.full(count, values[0]) if len(values) == 1 else values).reshape(shape)
