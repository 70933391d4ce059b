"""The numbers of the machines against what the documentation and the published measurements say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from loomir import LoomError, targets


def test_unknown_target() -> None:
    with pytest.raises(LoomError, match="unknown target 'wse4'; choose one of wse2, wse3"):
        targets.get("wse4")


def test_queue_lengths() -> None:
    """DSD-215 to DSD-218."""
    assert targets.get("wse2").input_queue_words == (6, 6, 4, 4, 2, 2, 2, 2)
    assert targets.get("wse2").output_queue_words == (2, 2, 6, 6, 2, 2)
    assert targets.get("wse3").input_queue_words == (8, 8, 4, 4, 4, 4, 4, 4)
    assert targets.get("wse3").output_queue_words == (8, 8, 8, 8, 8, 8, 8, 8)


@pytest.mark.parametrize(
    ("name", "bits", "strides", "cycles"),
    [
        ("faddh", 16, (1, 1, 1), Fraction(1, 4)),
        ("fmulh", 16, (1, 1, 1), Fraction(1, 4)),
        ("fmach", 16, (1, 1, 1), Fraction(1, 4)),
        ("fmacs", 32, (1, 1, 1), Fraction(2)),
        ("fadds", 32, (1, 1, 1), Fraction(1, 2)),
        ("fmovh", 16, (1, 1), Fraction(1, 8)),
        ("mov16", 16, (1, 1), Fraction(1, 8)),
        ("fmovs", 32, (1, 1), Fraction(1, 4)),
        ("fmovh", 16, (1, 4), Fraction(4, 8)),
        ("fmovh", 16, (1, -4), Fraction(4, 8)),
        ("faddh", 16, (1, 1, 4), Fraction(4, 8)),
        ("faddh", 16, (1, 1, 200), Fraction(1)),
        ("fadds", 32, (0, 0, 1), Fraction(2)),
        ("faddh", 16, (0, 0, 1), Fraction(2)),
        ("fmovs", 32, (), Fraction(1, 4)),
    ],
)
def test_cycles_of_an_element(name: str, bits: int, strides: tuple[int, ...], cycles: Fraction) -> None:
    assert targets.get("wse3").timing.element_cycles(name, bits, strides) == cycles
