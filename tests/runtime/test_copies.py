"""Copies of the host to classes that have a symbol at different addresses, or only where its pointer points."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from loomir.diagnostics.errors import LoomError
from loomir.runtime import Machine

from .flow_modules import parse
from .machines import load

WIDTH, HEIGHT, COUNT = 8, 4, 3
WORDS = 64
POINTERS = [[2 * (20 + x + y) for x in range(WIDTH)] for y in range(HEIGHT)]
PROGRAM = f"""flow.fabric @test target "wse3" grid {WIDTH} by {HEIGHT} {{
  flow.units @even on [::2, :] words {WORDS} {{
    flow.buffer @a at 4 : memref<{COUNT}xi16>
    flow.buffer @only at 30 : memref<i16>
    flow.export @a as "a"
    flow.export @only as "only"
  }}
  flow.units @odd on [1::4, :] words {WORDS} {{
    flow.param @at = dense<{POINTERS}> : tensor<{HEIGHT}x{WIDTH}xi16>
    flow.buffer @p at 0 : memref<i16>
    flow.initialize @p[0] = @at
    flow.export @p as "a" points_to memref<{COUNT}xi16>
  }}
  flow.units @torn on [3, :2] + [7, 1:] words {WORDS} {{
    flow.buffer @a at 9 : memref<{COUNT}xi16>
    flow.export @a as "a"
  }}
}}"""


def start(x: int, y: int) -> int | None:
    """The first word of @a on a PE; None where there is none."""
    if x % 2 == 0:
        return 4
    if x % 4 == 1:
        return 20 + x + y
    return 9 if (y < 2 if x == 3 else y > 0) else None


def inside(x: int, y: int, w: int, h: int) -> list[tuple[int, int]]:
    return [(column, row) for row in range(y, y + h) for column in range(x, x + w)]


@st.composite
def regions(draw) -> tuple[int, int, int, int]:
    x, y = draw(st.integers(0, WIDTH - 1)), draw(st.integers(0, HEIGHT - 1))
    return x, y, draw(st.integers(1, WIDTH - x)), draw(st.integers(1, HEIGHT - y))


@cache
def module() -> ModuleOp:
    return parse(PROGRAM)


def made() -> tuple[Machine, np.ndarray]:
    """A machine with numbers in all its memory, and these numbers, [height, width, words]."""
    machine = load(module())
    memory = np.arange(HEIGHT * WIDTH * WORDS, dtype=np.uint16).reshape(HEIGHT, WIDTH, WORDS)
    for number in range(len(machine.classes)):
        _, places = machine.image(number)
        memory[places[:, 1], places[:, 0], 0] = [2 * (start(x, y) or 0) for x, y in places.tolist()]
        machine.write_words(0, places, memory[places[:, 1], places[:, 0]])
    return machine, memory


@given(regions(), st.integers(1, 8), st.integers(0, 99))
def test_regions(region: tuple[int, int, int, int], count: int, seed: int) -> None:
    machine, memory = made()
    x, y, w, h = region
    words = np.random.default_rng(seed).integers(0, 1 << 16, (h, w, count), np.uint16)
    missing = [place for place in inside(*region) if start(*place) is None]
    if missing:
        with pytest.raises(LoomError, match=rf"PE \({missing[0][0]}, {missing[0][1]}\) has no symbol 'a'"):
            machine.write_region("a", *region, count, words)
        return
    machine.write_region("a", *region, count, words)
    for column, row in inside(*region):
        first = start(column, row)
        assert first is not None
        memory[row, column, first : first + count] = words[row - y, column - x]
    found = machine.read_region("a", *region, count + 2)
    for column, row in inside(*region):
        first = start(column, row)
        assert first is not None
        assert (found[row - y, column - x].view(np.uint16) == memory[row, column, first : first + count + 2]).all()
    for number in range(len(machine.classes)):
        image, places = machine.image(number)
        assert (image == memory[places[:, 1], places[:, 0]]).all()


def test_symbols_of_some_classes() -> None:
    machine, memory = made()
    expected = np.zeros((HEIGHT, WIDTH, COUNT), np.uint16)
    for column, row in inside(0, 0, WIDTH, HEIGHT):
        if (first := start(column, row)) is not None:
            expected[row, column] = memory[row, column, first : first + COUNT]
    assert (machine.read_symbol("a").view(np.uint16) == expected).all()
    machine.write_symbol("only", np.int16(7))
    assert (machine.read_symbol("only") == np.where(np.arange(WIDTH) % 2 == 0, 7, 0)).all()
    image, places = machine.image(1)
    assert (image == memory[places[:, 1], places[:, 0]]).all()
    assert (machine.exporting("a")[0] == [start(x, 0) is not None for x in range(WIDTH)]).all()


@pytest.mark.usefixtures("memory_in_use")
def test_what_is_beyond_the_memory_in_use_is_zero() -> None:
    machine, memory = made()
    count = 2 * WORDS
    found = machine.read_region("a", 0, 1, WIDTH, 1, count, np.uint16)
    for column, row in inside(0, 1, WIDTH, 1):
        first = start(column, row)
        assert first is not None
        expected = np.concatenate([memory[row, column, first:], np.zeros(first + count - WORDS, np.uint16)])
        assert (found[0, column] == expected).all()


def test_a_copy_that_ends_beyond_the_memory_in_use_writes_nothing() -> None:
    machine, memory = made()
    with pytest.raises(LoomError, match=r"ends at byte 129 of memory on PE \(5, 0\), where bytes 0 to 127 are in use"):
        machine.write_region("a", 4, 0, 2, 1, 40, np.zeros((1, 2, 40), np.uint16))
    image, places = machine.image(0)
    assert (image == memory[places[:, 1], places[:, 0]]).all()
