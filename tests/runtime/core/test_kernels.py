"""Kernels of the core: every row of the DSD table, in every format, against exact arithmetic."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from loomir.operations.dsd_table import OPERATIONS
from loomir.runtime.core import library
from loomir.runtime.tables.instructions import DSD_ROWS, FORMATS

from ...searches import examples
from .. import oracle

WORDS = 160
SIZE = {"f32": 4, "i32": 4, "f16": 2, "bf16": 2, "cb16": 2, "i16": 2}
CASES = [
    (name, format or "f16")
    for name, row in OPERATIONS.items()
    for format in (FORMATS if row.has_format else (None,))
]  # fmt: skip
"""Every operation with every format of its 16-bit floats."""
operations = pytest.mark.parametrize(("name", "half"), CASES)
VARIANTS = ("loom_kernels", "loom_baseline_kernels")

Memory = NDArray[np.uint8]


class Operand(ctypes.Structure):
    _fields_ = (
        ("at", ctypes.c_void_p), ("step", ctypes.c_int32 * 4), ("extent", ctypes.c_uint32 * 4),
        ("done", ctypes.c_uint32 * 4), ("dimensions", ctypes.c_uint32),
    )  # fmt: skip


@cache
def core() -> ctypes.CDLL:
    loaded = library.load()
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    for name in VARIANTS:
        getattr(loaded, name).restype = pointer
    loaded.kernel_of.restype = pointer
    loaded.kernel_of.argtypes = [pointer, number, number]
    loaded.kernel_apply.argtypes = [pointer, pointer, number]
    loaded.operand_walk.argtypes = [pointer, pointer, number, number, pointer, pointer]
    loaded.operand_run.argtypes = [pointer, pointer, ctypes.c_int32]
    loaded.operand_skip.argtypes = [pointer, ctypes.c_uint64]
    loaded.walk_reach.argtypes = [number, number, *[pointer] * 4]
    return loaded


def kernel_of(name: str, half: str, variant: str) -> int | None:
    kernels = getattr(core(), variant)()
    return core().kernel_of(kernels, DSD_ROWS.index(name), 0 if half == "f16" else FORMATS.index(half))


def kinds_of(name: str, half: str) -> list[str]:
    """Return the kinds of the operands of an operation, destination first."""
    row = OPERATIONS[name]
    return [half if kind == "f16" else kind for kind in (row.destination, *row.sources)]


class Walk:
    """A memory operand: word address, strides innermost first and extents outermost first, in elements."""

    def __init__(self, kind: str, word: int, strides: Sequence[int], extents: Sequence[int]):
        self.kind, self.word, self.strides, self.extents = kind, word, list(strides), list(extents)

    def __repr__(self) -> str:
        return f"Walk({self.kind!r}, {self.word}, {self.strides}, {self.extents})"

    def fill(self, operand: Operand, memory: Memory) -> None:
        at = memory.ctypes.data + 2 * self.word
        core().operand_walk(ctypes.byref(operand), at, SIZE[self.kind], *self.shape())

    def shape(self) -> tuple[int, Any, Any]:
        """Return dimensions, extents and strides as the core takes them."""
        n = len(self.extents)
        return n, (ctypes.c_uint16 * n)(*self.extents), (ctypes.c_int16 * n)(*self.strides)

    def addresses(self) -> oracle.Memory:
        width = SIZE[self.kind] // 2
        return oracle.Memory(
            self.kind, [self.word + offset * width for offset in oracle.walk(self.strides, self.extents)]
        )  # fmt: skip


Source = Walk | oracle.Scalar | oracle.Wavelets


def apply(
    name: str, half: str, variant: str, memory: Memory, destination: Walk | oracle.Wavelets, sources: Sequence[Source],
    pieces: Sequence[int],
) -> list[int]:  # fmt: skip
    """Compute pieces of so many elements in memory; return what is sent as wavelets."""
    operands = (Operand * 4)()
    kept: list[Any] = []
    for operand, source in zip(operands, (destination, *sources), strict=False):
        if isinstance(source, Walk):
            source.fill(operand, memory)
            continue
        values = [oracle.to_bits(source.value, source.kind)] if isinstance(source, oracle.Scalar) else source.bits
        values = [bits if SIZE[source.kind] == 4 else bits | 0xABCD0000 for bits in values or [0] * sum(pieces)]
        kept.append((ctypes.c_uint32 * len(values))(*values))
        core().operand_run(
            ctypes.addressof(operand), ctypes.addressof(kept[-1]), 0 if isinstance(source, oracle.Scalar) else 4
        )  # fmt: skip
    if OPERATIONS[name].function == "add_with_carry":
        kept.append(ctypes.c_uint16(0))
        core().operand_run(ctypes.addressof(operands[3]), ctypes.addressof(kept[-1]), 0)
    for count in pieces:
        core().kernel_apply(kernel_of(name, half, variant), ctypes.addressof(operands), count)
    return list(kept[0]) if isinstance(destination, oracle.Wavelets) else []


def check(
    name: str, half: str, words: NDArray[np.uint16], destination: Walk | oracle.Wavelets, sources: Sequence[Source],
    pieces: Sequence[int], *, overlapping: bool = False,
) -> None:  # fmt: skip
    """Compare the memory, and what is sent, with what the oracle computes element by element."""
    expected = oracle.Words(words.tolist())
    sent = oracle.Wavelets(kinds_of(name, half)[0], [])
    oracle.execute(
        expected, name, destination.addresses() if isinstance(destination, Walk) else sent,
        [source.addresses() if isinstance(source, Walk) else source for source in sources], sum(pieces), half,
    )  # fmt: skip
    if overlapping and expected.nan_at:
        # What an element reads of the bits of a NaN that is computed is not defined.
        return
    for variant in VARIANTS:
        memory = words.copy().view(np.uint8)
        wavelets = apply(name, half, variant, memory, destination, sources, pieces)
        assert expected.agrees(memory.view(np.uint16).tolist()), (variant, destination, sources)
        for found, bits in zip(wavelets, sent.bits, strict=False):
            if SIZE[sent.kind] == 2:
                assert found >> 16 == 0xABCD
                found &= 0xFFFF
            assert found == bits or (oracle.is_nan(found, sent.kind) and oracle.is_nan(bits, sent.kind))


EDGES = {
    "f32": [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3FC00000, 0x40490FDB, 0x477FE000, 0x46FFFE00, 0x46FFFF00,
            0x47000000, 0x33000000, 0x33000001, 0x387FFFFF, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00123, 0x3F000000,
            0x3FC00001],
    "f16": [0, 1, 2, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x3E00, 0x4248, 0x5BFF, 0x7800, 0x7BFF, 0x7C00, 0x7C01,
            0x7E55, 0x3800],
    "bf16": [0, 1, 0x7F, 0x80, 0x3F80, 0x3FC0, 0x3F81, 0x4049, 0x46FF, 0x4700, 0x7F7F, 0x7F80, 0x7F81, 0x7FC5, 0x3F00],
    "cb16": [0, 1, 0x1FF, 0x200, 0x5400, 0x5401, 0x5600, 0x5900, 0x71FF, 0x7200, 0x7DFF, 0x7E00, 0x7E01,
             0x7F00, 0x5200],
    "i16": [0, 1, 2, 3, 7, 14, 15, 16, 17, 0x7FFF, 0x4000, 0x5555],
    "i32": [0, 1, 0x7FFFFFFF, 0x12345678],
}  # fmt: skip
"""Zero, subnormals, ordinary numbers, limits of integers, the largest, infinity, NaNs; each with both signs."""


def edges(kind: str) -> list[int]:
    sign = 1 << (8 * SIZE[kind] - 1)
    return [bits ^ other for bits in EDGES[kind] for other in (0, sign)]


def memory_of(kinds: Sequence[str], seed: int) -> NDArray[np.uint16]:
    """Return words with edges of all kinds that an operation has, and with random ones."""
    random = np.random.default_rng(seed)
    words = random.integers(0, 1 << 16, WORDS, np.uint16)
    for kind in kinds:
        chosen = random.choice(edges(kind), WORDS // 2).astype(np.uint32)
        wide = chosen.view(np.uint16) if SIZE[kind] == 4 else np.repeat(chosen, 2).astype(np.uint16)
        words = np.where(random.random(WORDS // 2).repeat(2) < 0.5, wide, words)
    return words.astype(np.uint16)


def scalar_of(name: str, kind: str, random: np.random.Generator) -> oracle.Scalar:
    if name.startswith("fscale") and kind == "i16":
        return oracle.Scalar(kind, int(random.choice([0, 1, -1, 7, -7, 24, -24, 60, -60, 130, -130, 280, -280])))
    numbers = [bits for bits in edges(kind) if not oracle.is_nan(bits, kind)]
    return oracle.Scalar(kind, oracle.from_bits(int(random.choice(numbers)), kind))


def test_every_operation_has_a_kernel() -> None:
    for name, half in product(OPERATIONS, ("f16", "bf16", "cb16")):
        assert kernel_of(name, half, "loom_kernels") is not None
    kernels = core().loom_kernels()
    assert core().kernel_of(kernels, len(DSD_ROWS), 0) is None
    assert core().kernel_of(kernels, 0, len(FORMATS)) is None


@pytest.mark.one_in(3)
@operations
def test_strides(name: str, half: str) -> None:
    """DSD-001, DSD-017, DSD-018: strides from -3 to 3 of every operand, scalars, elements at odd words, edge values."""
    kinds = kinds_of(name, half)
    row = OPERATIONS[name]
    random = np.random.default_rng(len(name))
    every = list(product(range(-3, 4), repeat=len(kinds)))
    side_by_side = [tuple(1 for _ in kinds)]
    for round_, strides in enumerate(side_by_side + random.permutation(every)[: examples(150)].tolist()):
        count = int(random.choice([1, 2, 5, 8, 13]))
        operands: list[Any] = []
        for position, (kind, stride) in enumerate(zip(kinds, strides, strict=True)):
            if position and (
                position - 1 in row.scalar_only or (position - 1 in row.scalar_sources and random.random() < 0.25)
            ):
                operands.append(scalar_of(name, kind, random))
            else:
                reach = (count - 1) * stride * (SIZE[kind] // 2)
                # The destination is in one half of memory, sources are in the other.
                word = WORDS // 2 * (position > 0) + int(random.integers(max(0, -reach), 78 - max(0, reach)))
                operands.append(Walk(kind, word, [stride], [count]))
        check(name, half, memory_of(kinds, round_), operands[0], operands[1:], [count])


@pytest.mark.one_in(3)
@operations
def test_every_second_element(name: str, half: str) -> None:
    """What is between keeps its bits; lengths around those of vectors, scalars, and results in place of a source."""
    kinds = kinds_of(name, half)
    row = OPERATIONS[name]
    random = np.random.default_rng(7)
    for round_, count in enumerate((4, 9, 17)):
        for with_scalar, in_place in product((False, True), repeat=2):
            last = len(kinds) - 1
            operands: list[Any] = []
            for position, kind in enumerate(kinds):
                may_be = position and (position - 1 in row.scalar_sources)
                if position and (position - 1 in row.scalar_only or (with_scalar and may_be and position == last)):
                    operands.append(scalar_of(name, kind, random))
                elif position == 1 and in_place and kind == kinds[0]:
                    operands.append(operands[0])
                else:
                    word = 0 if not position else WORDS // 2 + 2 * int(random.integers(0, 2)) + SIZE[kind] // 2
                    operands.append(Walk(kind, word, [2], [count]))
            check(name, half, memory_of(kinds, round_), operands[0], operands[1:], [count])


@pytest.mark.one_in(3)
@operations
def test_edge_values_side_by_side(name: str, half: str) -> None:
    """All pairs of edges through the rows that are made into vectors, and each result also in place of a source."""
    kinds = kinds_of(name, half)
    row = OPERATIONS[name]
    random = np.random.default_rng(1)
    vectors = [kind for position, kind in enumerate(kinds[1:]) if position not in row.scalar_only]
    pairs = np.array(list(product(*(edges(kind) for kind in vectors[:2]))), np.uint32)
    pairs = random.permutation(pairs)[: 16 * examples(45)] if vectors else np.zeros((4, 1), np.uint32)
    count = len(pairs)
    for scalar in range(3 if row.scalar_only else 1):
        places = [2 * count * position for position in range(len(vectors) + 1)]
        words = np.zeros(2 * count * (len(vectors) + 1) + 2, np.uint16)
        for column, (kind, place) in enumerate(zip(vectors, places[1:], strict=True)):
            values = np.ascontiguousarray(pairs[:, column])
            raw = values.view(np.uint16) if SIZE[kind] == 4 else values.astype(np.uint16)
            words[place : place + len(raw)] = raw
        for destination in {places[0], *(places[1:] if kinds[0] in vectors else ())}:
            if destination and SIZE[kinds[0]] != SIZE[vectors[places.index(destination) - 1]]:
                continue
            left = iter(zip(vectors, places[1:], strict=True))
            sources: list[Source] = []
            for position, kind in enumerate(kinds[1:]):
                if position in row.scalar_only:
                    sources.append(scalar_of(name, kind, np.random.default_rng(scalar)))
                else:
                    _, place = next(left)
                    sources.append(Walk(kind, place, [1], [count]))
            check(name, half, words, Walk(kinds[0], destination, [1], [count]), sources, [count])


@st.composite
def walks(draw: Any, kind: str) -> Walk:
    """Draw a walk of up to four dimensions that stays in memory."""
    width = SIZE[kind] // 2
    dimensions = draw(st.integers(1, 4))
    extents = draw(st.lists(st.integers(1, 3 if dimensions > 1 else 20), min_size=dimensions, max_size=dimensions))
    strides = draw(st.lists(st.sampled_from([1, 2, -1, 1, -2, 0, 3]), min_size=dimensions, max_size=dimensions))
    offsets = [offset * width for offset in oracle.walk(strides, extents)]
    assume(max(offsets) - min(offsets) + width <= WORDS)
    return Walk(kind, draw(st.integers(-min(offsets), WORDS - width - max(offsets))), strides, extents)


SHORT_RUNS = {
    "rows apart": ([1, 3], [24, 4]),
    "columns": ([6, -17], [24, 4]),
    "planes backwards": ([-1, -2, -5], [3, 6, 5]),
    "an element visited twice": ([1, -2], [24, 4]),
    "rows that begin again": ([1, -3], [24, 4]),
    "the other row first": ([1, -15], [2, 8]),
}
"""Strides innermost first and extents outermost first, of walks with short runs."""


@pytest.mark.parametrize("shape", SHORT_RUNS)
@pytest.mark.parametrize("name", ["add16", "fadds"])
@pytest.mark.slow
@pytest.mark.one_in(3)
def test_short_runs_beside_and_upon_each_other(name: str, shape: str) -> None:
    """DSD-061: an element sees what those before it have written, if the walks are the same and if not."""
    strides, extents = SHORT_RUNS[shape]
    kind, *_ = kinds_of(name, "f16")
    width = SIZE[kind] // 2
    count, offsets = math.prod(extents), list(oracle.walk(strides, extents))
    first = -min(offsets) * width
    reach = (max(offsets) - min(offsets) + 1) * width
    size = 2 * reach + 10 * width
    destination = Walk(kind, first, strides, extents)
    for place in (0, 1, 2, 5, 8):
        for other in (place, 0):
            sources: list[Source] = [
                Walk(kind, first + place * width, strides, extents), Walk(kind, first + other * width, strides, extents)
            ]  # fmt: skip
            for pieces in ([count], [5, count - 5]):
                # Small numbers, whose sums are no NaN.
                words = np.random.default_rng(place).integers(0, 1 << 8, size, np.uint16)
                check(name, "f16", words, destination, sources, pieces)
    apart: list[Source] = [Walk(kind, first + reach, strides, extents), oracle.Scalar(kind, 3)]
    check(name, "f16", words, destination, apart, [count])


@pytest.mark.one_in(3)
@operations
def test_walks_that_overlap(name: str, half: str) -> None:
    """DSD-045, DSD-061, DSD-062: an element sees what those before it have written, in pieces or at once."""
    kinds = kinds_of(name, half)
    row = OPERATIONS[name]

    @settings(max_examples=examples(15))
    @given(data=st.data(), seed=st.integers(0, 1 << 30))
    def run(data: Any, seed: int) -> None:
        destination = data.draw(walks(kinds[0]))
        sources: list[Source] = []
        count = math.prod(destination.extents)
        for position, kind in enumerate(kinds[1:]):
            if position in row.scalar_only:
                sources.append(scalar_of(name, kind, np.random.default_rng(seed)))
                continue
            source = data.draw(walks(kind))
            sources.append(source)
            count = min(count, math.prod(source.extents))
        first = data.draw(st.integers(0, count))
        pieces = [first, count - first]
        check(name, half, memory_of(kinds, seed), destination, sources, pieces, overlapping=True)

    run()


@pytest.mark.one_in(3)
@operations
def test_wavelets(name: str, half: str) -> None:
    """DSD-002, DSD-093: sources that are wavelets, and a destination that is sent, 16-bit ones in their low halves."""
    kinds = kinds_of(name, half)
    row = OPERATIONS[name]
    random = np.random.default_rng(3)
    for round_ in range(examples(9)):
        count = int(random.choice([1, 3, 8, 70]))
        received = int(random.integers(0, len(kinds)))
        operands: list[Any] = []
        for position, kind in enumerate(kinds):
            if position and position - 1 in row.scalar_only:
                operands.append(scalar_of(name, kind, random))
            elif position == 0 and round_ % 2:
                operands.append(oracle.Wavelets(kind, []))
            elif position and (position == received or round_ % 3 == 0):
                operands.append(oracle.Wavelets(kind, [int(random.choice(edges(kind))) for _ in range(count)]))
            else:
                operands.append(Walk(kind, int(random.integers(0, WORDS - 2 * count)), [1], [count]))
        pieces = [count // 2, count - count // 2]
        check(name, half, memory_of(kinds, round_), operands[0], operands[1:], pieces, overlapping=True)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_a_sum_into_one_element(kind: str) -> None:
    """DSD-072: a destination with stride 0 that is a source as well accumulates."""
    accumulator = Walk(kind, 4, [0], [40])
    name = "faddh" if kind == "f16" else "fadds"
    words = np.random.default_rng(2).normal(size=WORDS // 2).astype(np.float32).view(np.uint16)
    check(name, "f16", words, accumulator, [accumulator, Walk(kind, 40, [1], [40])], [40])


@pytest.mark.one_in(3)
@operations
def test_random_patterns_side_by_side(name: str, half: str) -> None:
    """All bits that there are, edges among them, through the rows that are made into vectors."""
    kinds = kinds_of(name, half)
    random = np.random.default_rng(5)
    count = 300
    words = np.zeros(2 * count * len(kinds), np.uint16)
    sources: list[Source] = []
    for position, kind in enumerate(kinds):
        patterns = random.integers(0, 1 << (8 * SIZE[kind]), count, dtype=np.uint64)
        patterns = np.where(random.random(count) < 0.4, random.choice(edges(kind), count), patterns)
        raw = patterns.astype(f"u{SIZE[kind]}").view(np.uint16)
        words[2 * count * position : 2 * count * position + len(raw)] = raw
        if position - 1 in OPERATIONS[name].scalar_only and position:
            sources.append(scalar_of(name, kind, random))
        else:
            sources.append(Walk(kind, 2 * count * position, [1], [count]))
    destination = sources.pop(0)
    assert isinstance(destination, Walk)
    check(name, half, words, destination, sources, [count])


@settings(max_examples=examples(200))
@given(walk=walks("i16"), counts=st.lists(st.integers(0, 40), max_size=3))
def test_skipping_elements(walk: Walk, counts: list[int]) -> None:
    """An operand that skips is where one is that has gone there, and no element is beyond its reach."""
    operand = Operand()
    memory = np.zeros(2 * WORDS, np.uint8)
    walk.fill(operand, memory)
    addresses = walk.addresses().addresses
    at = 0
    for count in counts:
        at += count
        if at < len(addresses):
            core().operand_skip(ctypes.addressof(operand), count)
            assert operand.at == memory.ctypes.data + 2 * addresses[at]
    reach = (ctypes.c_int64 * 2)()
    core().walk_reach(2, *walk.shape(), ctypes.byref(reach), ctypes.byref(reach, 8))
    offsets = [2 * (address - walk.word) for address in addresses]
    assert list(reach) == [min(offsets), max(offsets)]
