"""Scalar types by name, and numpy's type of each.

The names are MLIR's, and CSL's for integers with a sign: `u16` is unsigned, `i16` is signed or has no sign. An `index`
is kept in 64 bits.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

NUMPY_NAMES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
    "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "i1": "bool", "index": "int64",
}  # fmt: skip
"""The scalar types that numpy has by itself."""

EXTENSION_NAMES = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}
"""Those that `ml_dtypes` adds."""


@cache
def numpy_type(name: str) -> np.dtype[Any]:
    """Return numpy's type of a scalar type. Raises KeyError for one that numpy does not have."""
    # Tools that only read text start without numpy.
    import numpy as np

    if name in EXTENSION_NAMES:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, EXTENSION_NAMES[name]))
    return np.dtype(NUMPY_NAMES[name])
