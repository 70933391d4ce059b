"""Format strings: how numbers are written."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.operations.print_format import shown


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("f16", 42.0, "42.0"),
        ("f16", 0.0999755859375, "0.1"),
        ("f32", 0.0999755859375, "0.099975586"),
        ("f16", 65504.0, "65504.0"),
        ("bf16", 0.10009765625, "0.1"),
        ("f32", 1e20, "100000000000000000000.0"),
        ("f32", float(np.finfo(np.float32).max), "340282350000000000000000000000000000000.0"),
        ("f16", 2.0**-24, "0.00000006"),
        ("f32", -0.0, "-0.0"),
        ("f32", float("-inf"), "-inf"),
        ("f64", 0.1, "0.1"),
    ],
)
def test_floats(kind: str, value: float, text: str) -> None:
    """The manual of <simprint> shows a 16-bit 42 as 42.0."""
    assert shown("f", kind, value) == text


def test_floats_are_read_back() -> None:
    for bits in range(0, 0x7C00, 37):
        value = np.array(bits, np.uint16).view(np.float16)[()]
        assert np.float16(shown("f", "f16", float(value))) == value
