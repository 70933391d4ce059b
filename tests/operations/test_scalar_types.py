"""Scalar types by name: numpy's type of each has the bits and the sign that the name says, for all who use one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import builtin

from loomir.diagnostics.errors import LoomError
from loomir.dialects.scalar_types import element_dtype
from loomir.frontend import scalars
from loomir.host.compilation import dtype_of
from loomir.host.sdk.runtime import dtype_of as dtype_of_argument
from loomir.operations.scalar_types import EXTENSION_NAMES, NUMPY_NAMES, numpy_type

WIDTH = re.compile(r"(bf|f|i|u)(\d+)")
ONE_AND_A_HALF = 1.5


@pytest.mark.parametrize("name", [*NUMPY_NAMES, *EXTENSION_NAMES])
def test_bits_and_sign(name: str) -> None:
    found: np.dtype[Any] = numpy_type(name)
    if name in ("index", "i1"):
        assert found == (np.int64 if name == "index" else np.bool_)
        return
    match = WIDTH.match(name)
    assert match is not None
    assert found.itemsize * 8 == int(match[2])
    if "f" in match[1]:
        assert float(np.array(ONE_AND_A_HALF, found)) == ONE_AND_A_HALF
    else:
        assert found.kind == match[1]


def test_brain_floats_have_eight_bits_of_exponent() -> None:
    assert float(np.array(1e38, numpy_type("bf16"))) == pytest.approx(1e38, rel=0.01)
    assert float(np.array(1e38, numpy_type("f8E5M2"))) == np.inf


def test_all_who_use_numpy_agree() -> None:
    types = {
        "f16": builtin.f16, "bf16": builtin.bf16, "f32": builtin.f32, "i8": builtin.i8, "i16": builtin.i16,
        "i32": builtin.i32,
    }  # fmt: skip
    for name, type in types.items():
        assert element_dtype(type) == dtype_of(type) == dtype_of_argument(name, "it") == numpy_type(name)
    for type, found in scalars.NUMPY.items():
        assert found == numpy_type("i1" if str(type) == "bool" else str(type))
    unsigned = builtin.IntegerType(16, builtin.Signedness.UNSIGNED)
    assert (
        element_dtype(unsigned) == dtype_of(builtin.i16, unsigned=True) == dtype_of_argument("u16", "it") == np.uint16
    )
    assert element_dtype(builtin.Float8E5M2Type()) == numpy_type("f8E5M2")
    assert element_dtype(builtin.i1) is None
    with pytest.raises(LoomError, match="the host cannot see values of type i64"):
        dtype_of(builtin.i64)
