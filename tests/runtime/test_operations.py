"""Every operation of the DSD table against the element-by-element oracle, whole memories compared."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from loomir.operations.dsd_table import OPERATIONS

from ..searches import examples
from . import oracle
from .flow_modules import parse
from .machines import load

WORDS = 96
NAMES = sorted(OPERATIONS)
GRIDS = {
    "one": (1, 1, "[:, :]"), "rectangle": (3, 2, "[:, :]"), "strided": (4, 3, "[::2, ::2]"),
    "cells": (3, 3, "[0, :] + [:, 2] + [1, 0]"),
}  # fmt: skip
WIDTH = {"f32": 2, "i32": 2, "f16": 1, "bf16": 1, "cb16": 1, "i16": 1}
SETTINGS = settings(
    max_examples=examples(15), derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)  # fmt: skip


@dataclass
class Walk:
    """A memory operand as the program writes it; with `moving`, x and y of the unit are added to its offset."""

    kind: str
    at: int
    strides: list[int]
    extents: list[int]
    moving: bool

    @property
    def count(self) -> int:
        return math.prod(self.extents)

    def text(self, name: str) -> str:
        strides, extents = (", ".join(map(str, numbers)) for numbers in (self.strides, self.extents))
        at = str(self.at)
        lines = ""
        if self.moving:
            lines = f"%{name}c = arith.constant {self.at} : i16\n%{name}a = arith.addi %{name}c, %xy : i16\n"
            at = f"%{name}a"
        return (
            f"{lines}%{name} = flow.stream @{self.kind} at {at} strides [{strides}] extents [{extents}] "
            f": !flow.stream<{in_ir(self.kind)}>"
        )

    def addresses(self, x: int, y: int) -> oracle.Memory:
        return oracle.operand(0, self.kind, self.at + (x + y if self.moving else 0), self.strides, self.extents)


def in_ir(kind: str) -> str:
    """Return the type of a kind in IR, where a cb16 is the integer with its bits."""
    return "i16" if kind == "cb16" else kind


def scalars(kind: str) -> st.SearchStrategy[float | int]:
    if kind == "f32":
        return st.floats(width=32, allow_nan=False)
    if kind == "f16":
        return st.floats(width=16, allow_nan=False)
    if kind in oracle.HALVES:
        numbers = st.integers(0, 0xFFFF).map(lambda bits: float(oracle.from_bits(bits, kind)))
        return numbers.filter(lambda number: not math.isnan(number))
    bits = int(kind[1:])
    return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


@st.composite
def walks(draw, kind: str, room: int = 0) -> Walk:
    """A walk of up to four dimensions that stays in memory, with `room` elements to spare."""
    size = WORDS // WIDTH[kind] - room
    dimensions = draw(st.integers(1, 4))
    extents = draw(st.lists(st.integers(1, 3 if dimensions > 1 else 9), min_size=dimensions, max_size=dimensions))
    strides = draw(st.lists(st.sampled_from([1, 2, -1, 3, -2, 0, -3, 4]), min_size=dimensions, max_size=dimensions))
    offsets = list(oracle.walk(strides, extents))
    low, high = min(offsets), max(offsets)
    assume(high - low < size)
    at = draw(st.integers(-low, size - 1 - high))
    return Walk(kind, at, strides, extents, bool(room) and draw(st.booleans()))


def literal(value: float | int, kind: str) -> str:
    if isinstance(value, int):
        return f"{value} : {kind}"
    if kind == "cb16":
        return f"{oracle.signed(oracle.to_bits(value, kind), 16)} : i16"
    return f"0x{oracle.to_bits(value, kind):0{8 if kind == 'f32' else 4}X} : {kind}"


def memories(seed: int, units: int) -> np.ndarray:
    """Words that look like numbers of every kind: no NaN, some special values."""
    random = np.random.default_rng(seed)
    words = random.integers(0, 1 << 16, (units, WORDS), np.uint16)
    ordinary = (random.normal(size=(units, WORDS // 2)) * 8).astype(np.float32).view(np.uint16)
    halves = (random.normal(size=(units, WORDS)) * 8).astype(np.float16).view(np.uint16)
    choice = random.integers(0, 4, (units, WORDS // 2)).repeat(2, axis=1)
    words = np.choose(choice, [words, ordinary, halves, random.integers(-3, 18, (units, WORDS)).astype(np.uint16)])
    singles = np.ascontiguousarray(words).view(np.float32)
    singles[np.isnan(singles)] = -0.0
    singles[random.random(singles.shape) < 0.02] = np.inf
    words = singles.view(np.uint16)
    words[np.isnan(words.view(np.float16))] = 0x8000
    singles = words.view(np.float32)
    singles[np.isnan(singles)] = 1.5
    return words


def fabric(grid: str, body: str) -> str:
    width, height, regions = GRIDS[grid]
    return f"""
flow.fabric @test target "wse3" grid {width} by {height} {{
  flow.units @u on {regions} words {WORDS} {{
    flow.buffer @f32 at 0 : memref<{WORDS // 2}xf32>
    flow.buffer @i32 at 0 : memref<{WORDS // 2}xi32>
    flow.buffer @f16 at 0 : memref<{WORDS}xf16>
    flow.buffer @i16 at 0 : memref<{WORDS}xi16>
    flow.buffer @bf16 at 0 : memref<{WORDS}xbf16>
    flow.buffer @cb16 at 0 : memref<{WORDS}xi16>
    flow.export @i16 as "words" unsigned
    flow.export @main as "main"
    flow.func @main() {{
      %x = flow.coordinate x : i16
      %y = flow.coordinate y : i16
      %xy = arith.addi %x, %y : i16
      {body}
      flow.return
    }}
  }}
}}
"""


def kinds_of(name: str, half: str) -> tuple[str, list[str]]:
    """Return the kinds of destination and sources of an operation on 16-bit floats of a format."""
    entry = OPERATIONS[name]
    destination, *sources = [half if kind == "f16" else kind for kind in (entry.destination, *entry.sources)]
    return destination, sources


def check(
    name: str, grid: str, destination: Walk, sources: list[Walk | float | int], seed: int, half: str = "f16"
) -> None:
    _, kinds = kinds_of(name, half)
    lines, names, types = [destination.text("d")], ["%d"], [f"!flow.stream<{in_ir(destination.kind)}>"]
    for position, (source, kind) in enumerate(zip(sources, kinds, strict=True)):
        names.append(f"%s{position}")
        if isinstance(source, Walk):
            lines.append(source.text(f"s{position}"))
            types.append(f"!flow.stream<{in_ir(kind)}>")
        else:
            lines.append(f"%s{position} = arith.constant {literal(source, kind)}")
            types.append(in_ir(kind))
    format = "" if half == "f16" else f" fp16({half})"
    lines.append(f"flow.apply {name} {', '.join(names)}{format} : {', '.join(types)}")
    machine = load(parse(fabric(grid, "\n      ".join(lines))))
    width, height, _ = GRIDS[grid]
    before = memories(seed, width * height).reshape(height, width, WORDS)
    machine.write_symbol("words", before)
    start = machine.read_symbol("words")
    machine.launch("main", [])
    machine.run()
    after = machine.read_symbol("words")
    count = min([destination.count, *(source.count for source in sources if isinstance(source, Walk))])
    for y, x in np.argwhere(machine.class_of >= 0).tolist():
        assert (start[y, x] == before[y, x]).all()
        words = oracle.Words(before[y, x])
        operands = [
            source.addresses(x, y) if isinstance(source, Walk) else oracle.Scalar(kind, source)
            for source, kind in zip(sources, kinds, strict=True)
        ]
        oracle.execute(words, name, destination.addresses(x, y), operands, count, half)
        assert words.agrees(after[y, x]), (x, y, words.words, after[y, x].tolist())


@st.composite
def cases(draw, name: str, half: str = "f16"):
    entry = OPERATIONS[name]
    destination, kinds = kinds_of(name, half)
    room = draw(st.sampled_from([0, 0, 4]))
    sources: list[Walk | float | int] = []
    for position, kind in enumerate(kinds):
        scalar = position in entry.scalar_only or (position in entry.scalar_sources and draw(st.booleans()))
        if position and kind == "i16" and name.startswith("fscale"):
            sources.append(draw(st.integers(-60, 60)))
        else:
            sources.append(draw(scalars(kind)) if scalar else draw(walks(kind, room)))
    return draw(walks(destination, room)), sources


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", NAMES)
def test_operation_on_memory(name: str) -> None:
    """DSD-001, DSD-017, DSD-018, DSD-045: every operation over walks of one to four dimensions, any stride."""

    @SETTINGS
    @given(case=cases(name), seed=st.integers(0, 1 << 30), grid=st.sampled_from(sorted(GRIDS)))
    def run(case, seed: int, grid: str) -> None:
        destination, sources = case
        check(name, grid, destination, sources, seed)

    run()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("half", ["bf16", "cb16"])
@pytest.mark.parametrize("name", [name for name in NAMES if OPERATIONS[name].has_format])
def test_other_formats_of_16_bits(name: str, half: str) -> None:
    """Operations on 16-bit floats compute with those of the program's format."""

    @settings(SETTINGS, max_examples=examples(10))
    @given(case=cases(name, half), seed=st.integers(0, 1 << 30), grid=st.sampled_from(sorted(GRIDS)))
    def run(case, seed: int, grid: str) -> None:
        destination, sources = case
        check(name, grid, destination, sources, seed, half)

    run()


@pytest.mark.slow
@settings(SETTINGS, max_examples=examples(60))
@given(data=st.data(), seed=st.integers(0, 1 << 30), grid=st.sampled_from(sorted(GRIDS)))
def test_overlapping_operands(data, seed: int, grid: str) -> None:
    """An iteration sees what the iterations before it have written, whatever the buffers are called."""
    name = data.draw(st.sampled_from(["fadds", "faddh", "add16", "mov16", "fmovs", "mov32", "fmach", "xor16", "fh2s"]))
    entry = OPERATIONS[name]
    extent = data.draw(st.integers(2, 10))
    operands = [
        Walk(
            kind, data.draw(st.integers(9, 14)) * (2 if WIDTH[kind] == 1 else 1),
            [data.draw(st.sampled_from([0, 1, -1, 1, 2]))], [extent], False,
        )
        for kind in (entry.destination, *entry.sources)
    ]  # fmt: skip
    sources: list[Walk | float | int] = list(operands[1:])
    for position in entry.scalar_only:
        sources[position] = 0.5
    check(name, grid, operands[0], sources, seed)


@settings(SETTINGS, max_examples=examples(60))
@given(data=st.data(), seed=st.integers(0, 1 << 30))
def test_every_second_element(data, seed: int) -> None:
    """Blocks of vectors, what is left behind them, elements between and operands that meet."""
    name = data.draw(st.sampled_from(["fadds", "fmacs", "faddh", "add16", "sll16", "mov16", "fmovs", "mov32", "fnegh"]))
    entry = OPERATIONS[name]
    extent = data.draw(st.integers(1, 20))
    starts = st.sampled_from([0, 1, 2, 7, 8])
    operands = [
        Walk(kind, data.draw(starts) * (1 if WIDTH[kind] == 2 else 5), [2], [extent], False)
        for kind in (entry.destination, *entry.sources)
    ]
    sources: list[Walk | float | int] = list(operands[1:])
    for position in entry.scalar_only:
        sources[position] = 0.5
    check(name, "one", operands[0], sources, seed)


@pytest.mark.parametrize(
    ("name", "kind"), [("fadds", "f32"), ("faddh", "f16"), ("add16", "i16"), ("fmaxs", "f32"), ("fmulh", "f16")]
)
@pytest.mark.parametrize("grid", sorted(GRIDS))
def test_reduction_into_one_element(name: str, kind: str, grid: str) -> None:
    """DSD-018, DSD-072: a destination with stride 0 accumulates, element after element."""
    accumulator = Walk(kind, 3, [0], [9], False)
    check(name, grid, accumulator, [accumulator, Walk(kind, 5, [2], [9], True)], 7)


def test_moves_into_one_element_leave_the_last() -> None:
    """DSD-072, DSD-074, DSD-075: src {0..7} read with stride 2 into a zero-stride destination leaves 6."""
    text = fabric(
        "one",
        """
      %d = flow.stream @f16 at 40 strides [0] extents [4] : !flow.stream<f16>
      %s = flow.stream @f16 at 0 strides [2] extents [4] : !flow.stream<f16>
      flow.apply fmovh %d, %s : !flow.stream<f16>, !flow.stream<f16>""",
    )
    machine = load(parse(text))
    words = np.zeros(WORDS, np.uint16)
    words[:8] = np.arange(8, dtype=np.float16).view(np.uint16)
    machine.write_symbol("words", words)
    machine.launch("main", [])
    machine.run()
    after = machine.read_symbol("words")[0, 0]
    assert after[40:41].view(np.float16)[0] == 6.0
    assert not after[41:].any()


def test_no_element_at_all() -> None:
    """DSD-022: an extent of 0 touches nothing."""
    check("fadds", "rectangle", Walk("f32", 0, [1], [0], False), [Walk("f32", 0, [1], [4], False)] * 2, 1)


@pytest.mark.slow
@settings(SETTINGS, max_examples=examples(50))
@given(data=st.data(), seed=st.integers(0, 1 << 30))
def test_operations_on_wavelets(data, seed: int) -> None:
    """DSD-002, DSD-093, DSD-095: an operation that reads a queue, and one that writes to a queue, PE by PE."""
    name = data.draw(st.sampled_from([n for n in NAMES if not n.startswith(("fscale", "fnorm"))]))
    entry = OPERATIONS[name]
    streams = [p for p in range(len(entry.sources)) if p not in entry.scalar_only]
    fed = data.draw(st.sampled_from(streams))
    kind = entry.sources[fed]
    sent = data.draw(walks(kind))
    count = sent.count
    others: list[Walk | float | int | None] = []
    for position, other in enumerate(entry.sources):
        if position == fed:
            others.append(None)
        elif position in entry.scalar_only:
            others.append(data.draw(scalars(other)))
        else:
            others.append(Walk(other, data.draw(st.integers(0, 40 // WIDTH[other])), [1], [count], False))
    assume(count <= 20)
    move = {"f32": "fmovs", "i32": "mov32", "f16": "fmovh", "i16": "mov16"}
    back = entry.destination
    into = Walk(back, data.draw(st.integers(0, WORDS // WIDTH[back] - count)), [1], [count], False)
    asynchronous = data.draw(st.booleans())
    lines, names, types = [], [], []
    for position, (other, source_kind) in enumerate(zip(others, entry.sources, strict=True)):
        names.append(f"%s{position}")
        if other is None:
            lines.append(f"%s{position} = flow.queue_stream @in extent {count} : !flow.stream<{source_kind}>")
        elif isinstance(other, Walk):
            lines.append(other.text(f"s{position}"))
        else:
            lines.append(f"%s{position} = arith.constant {literal(other, source_kind)}")
        scalar = other is not None and not isinstance(other, Walk)
        types.append(source_kind if scalar else f"!flow.stream<{source_kind}>")
    suffix = " async(microthread = 1)" if asynchronous else ""
    body = f"""
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %is0 = arith.cmpi eq, %x, %zero : i16
      %is1 = arith.cmpi eq, %x, %one : i16
      scf.if %is0 {{
        {sent.text("sent")}
        %o = flow.queue_stream @out extent {count} : !flow.stream<{kind}>
        flow.apply {move[kind]} %o, %sent{suffix} : !flow.stream<{kind}>, !flow.stream<{kind}>
      }} else {{
        scf.if %is1 {{
          {"; ".join(lines).replace("; ", chr(10))}
          %o = flow.queue_stream @out extent {count} : !flow.stream<{back}>
          flow.apply {name} %o, {", ".join(names)}{suffix} : !flow.stream<{back}>, {", ".join(types)}
        }} else {{
          {into.text("into")}
          %i = flow.queue_stream @in extent {count} : !flow.stream<{back}>
          flow.apply {move[back]} %into, %i{suffix} : !flow.stream<{back}>, !flow.stream<{back}>
        }}
      }}"""
    text = fabric("rectangle", body).replace(
        "flow.units",
        """flow.color @a = 0
  flow.color @b = 1
  flow.route @a on [0, :] from [ramp] to [east]
  flow.route @a on [1, :] from [west] to [ramp]
  flow.route @b on [1, :] from [ramp] to [east]
  flow.route @b on [2, :] from [west] to [ramp]
  flow.units""", 1,
    ).replace(
        "flow.export @i16",
        """flow.queue output @out id 0 colors [@a on [0, :], @b on [1, :]]
    flow.queue input @in id 1 colors [@a on [1, :], @b on [2, :]]
    flow.export @i16""", 1,
    )  # fmt: skip
    machine = load(parse(text))
    before = memories(seed, 6).reshape(2, 3, WORDS)
    machine.write_symbol("words", before)
    machine.launch("main", [])
    machine.run()
    after = machine.read_symbol("words")
    for y in range(2):
        memory = [oracle.Words(before[y, x]) for x in range(3)]
        arriving = [memory[0].read(kind, address) for address in sent.addresses(0, y).addresses]
        results = oracle.Wavelets(back, [])
        operands = [
            oracle.Wavelets(kind, arriving) if other is None
            else other.addresses(1, y) if isinstance(other, Walk) else oracle.Scalar(source_kind, other)
            for other, source_kind in zip(others, entry.sources, strict=True)
        ]  # fmt: skip
        oracle.execute(memory[1], name, results, operands, count)
        for address, bits in zip(into.addresses(2, y).addresses, results.bits, strict=True):
            memory[2].write(back, address, bits)
        for x in range(3):
            assert memory[x].agrees(after[y, x]), (x, y)
