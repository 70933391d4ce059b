"""The numbers of the machines against what the documentation and the published measurements say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from loomir import LoomError, targets
from loomir.targets.model import pace


def test_unknown_target() -> None:
    with pytest.raises(LoomError, match="unknown target 'wse4'; choose one of wse2, wse3"):
        targets.get("wse4")


def test_queue_lengths() -> None:
    """DSD-215, DSD-216, DSD-217, DSD-218."""
    assert targets.get("wse2").input_queue_words == (6, 6, 4, 4, 2, 2, 2, 2)
    assert targets.get("wse2").output_queue_words == (2, 2, 6, 6, 2, 2)
    assert targets.get("wse3").input_queue_words == (8, 8, 4, 4, 4, 4, 4, 4)
    assert targets.get("wse3").output_queue_words == (8, 8, 8, 8, 8, 8, 8, 8)


@pytest.mark.parametrize(
    ("cycles", "whole"), [(Fraction(1, 8), 1), (Fraction(6, 5), 1), (Fraction(3, 2), 1), (Fraction(8, 5), 2), (2, 2)]
)
def test_elements_of_queues_take_whole_cycles(cycles: Fraction, whole: int) -> None:
    assert pace(Fraction(cycles)) == whole


def test_ways_of_wavelets() -> None:
    """The published model of WSE-2 has a cycle a hop, two at each end, and no turn; 33 is of WSE-3 alone."""
    old, new = targets.get("wse2").timing, targets.get("wse3").timing
    assert (old.hop, old.turn, old.inject, old.ramp) == (1, 0, 2, 2)
    assert (new.hop, new.turn, new.inject, new.ramp) == (2, 33, 7, 0)


@pytest.mark.parametrize(
    ("function", "bits", "strides", "cycles"),
    [
        ("move", (16, 16), (1, 1), Fraction(1, 4)),
        ("move", (32, 32), (1, 1), Fraction(1, 2)),
        ("add", (16, 16, 16), (1, 1, 1), Fraction(1, 4)),
        # The appendix says 1/2 and 1; published stencils take 0.95 a sum, and a trace 1 or 2 a product.
        ("add", (32, 32, 32), (1, 1, 1), Fraction(1)),
        ("multiply_add", (32, 32, 32, 32), (1, 1, 1), Fraction(3, 2)),
    ],
)
def test_cycles_of_an_element_on_wse2(
    function: str, bits: tuple[int, ...], strides: tuple[int, ...], cycles: Fraction
) -> None:
    """What the appendix on SIMD mode says of that machine, but for floats of 32 bits."""
    assert targets.get("wse2").timing.element_cycles(function, bits, strides) == cycles


@pytest.mark.parametrize(
    ("function", "bits", "strides", "cycles"),
    [
        ("add", (16, 16, 16), (1, 1, 1), Fraction(1, 4)),
        ("multiply", (16, 16, 16), (1, 1, 1), Fraction(1, 4)),
        ("multiply_add", (16, 16, 16, 16), (1, 1, 1), Fraction(1, 4)),
        ("multiply_add", (32, 32, 32, 32), (1, 1, 1), Fraction(3, 2)),
        ("multiply", (32, 32, 32), (1, 1, 1), Fraction(3, 2)),
        ("multiply_add", (32, 32, 16, 16), (1, 1, 1), Fraction(1, 2)),
        ("add", (32, 32, 32), (1, 1, 1), Fraction(1, 2)),
        ("move", (16, 16), (1, 1), Fraction(1, 8)),
        ("move", (32, 32), (1, 1), Fraction(1, 4)),
        ("move", (16, 16), (1, 4), Fraction(4, 8)),
        ("move", (16, 16), (1, -4), Fraction(4, 8)),
        ("add", (16, 16, 16), (1, 1, 4), Fraction(4, 8)),
        ("add", (16, 16, 16), (1, 1, 200), Fraction(1)),
        ("add", (32, 32, 32), (0, 0, 1), Fraction(2)),
        ("add", (16, 16, 16), (0, 0, 1), Fraction(2)),
        ("move", (32, 32), (), Fraction(1, 4)),
    ],
)
def test_cycles_of_an_element(function: str, bits: tuple[int, ...], strides: tuple[int, ...], cycles: Fraction) -> None:
    assert targets.get("wse3").timing.element_cycles(function, bits, strides) == cycles
