"""Values known when a program is assembled, and the bits that registers hold of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from ...diagnostics.errors import LoomError
from ...dialects.scalar_types import kind_of
from ...operations import floats, integers, nans
from ...operations.scalar_types import numpy_type
from ...runtime.tables.instructions import BITS, FLOATS


class Known(NamedTuple):
    """A scalar that is known now, as a register holds it; `kind` is None for a type that nothing computes with."""

    bits: int
    kind: str | None


def register_bits(value: Any, kind: str) -> int:
    """Return what a register holds of a number: an integer wrapped to its kind, or the bits of the nearest float."""
    if kind not in FLOATS:
        return integers.wrapper(BITS[kind])(int(value))
    number = float(value)
    if kind == "f64":
        return integers.signed(floats.bits(number, kind), BITS[kind])
    if not math.isnan(number):
        return floats.bits(number, kind)
    if kind == "bf16":
        return nans.bf16_bits(number) & 0xFFFF
    return nans.bits(number, BITS[kind], nans.MANTISSA_BITS[kind])


def constant_bits(attribute: Attribute) -> int:
    """Return what a register holds of a constant. Raises LoomError unless it is a scalar."""
    if isinstance(attribute, IntegerAttr | FloatAttr):
        kind = kind_of(attribute.get_type())
        return register_bits(attribute.value.data, kind) if kind else 0
    raise LoomError(f"constant {attribute} has no scalar value the engine knows")


def register_array(values: NDArray[Any], kind: str) -> NDArray[np.int64]:
    """Return what registers hold of an array of numbers of a kind."""
    if kind not in FLOATS:
        return values.astype(np.int64)
    return values.astype(numpy_type(kind), copy=False).view(f"u{BITS[kind] // 8}").astype(np.int64)


def reinterpreted(bits: int, source: str, result: str) -> int:
    """Return the register of a value of one kind, read as another kind of the same width."""
    pattern = bits & (1 << BITS[source]) - 1
    if result in FLOATS and result != "f64":
        return pattern
    return pattern - (pattern >> BITS[result] - 1 << BITS[result])
