"""The core and the reference agree on cores of chips: memory, bit for bit, findings, prints, deadlocks and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.host import machines
from loomir.operations.scalar_types import numpy_type
from loomir.operations.tile_functions import FUNCTIONS, SCALAR_SHAPES
from loomir.runtime import Deadlock, Machine
from loomir.runtime.core.chip import record_sizes
from loomir.runtime.executors import OF_CHIPS

from ...searches import examples
from .test_channels import Case, cases, launch, load, text

BYTES = 4096
TYPES = {
    "f32": "f32", "f16": "f16", "bf16": "bf16", "f8E4M3FN": "f8E4M3FN", "f8E5M2": "f8E5M2", "i64": "i64", "i32": "i32",
    "i16": "i16", "i8": "i8", "ui64": "u64", "ui32": "u32", "ui16": "u16", "ui8": "u8",
}  # fmt: skip
"""Elements of tiles: MLIR's names, and those of `scalar_types`."""

FLOATS = tuple(TYPES)[:5]
ROUNDINGS = ("rint", "floor", "ceil", "trunc", "round", "odd")
OF_FLOATS = ("exponential", "logarithm", "square_root", "reciprocal")
OF_INTEGERS = ("bit_and", "bit_or", "bit_xor", "shift_left", "shift_right")
WHOLE = tuple(TYPES)[5:]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 65504.0, 65520.0, 464.0, 448.0, 57344.0, 2.5, -0.5, 1.5, 2.0**31,
           -(2.0**31), 2.0**63]  # fmt: skip


def test_records_are_as_long_in_both_languages() -> None:
    assert all(ours == theirs for ours, theirs in record_sizes())


def outcome(machine: Machine, run: Any) -> list[Any]:
    """What a run comes to: its error, its findings and what it has printed."""
    try:
        run()
        failed = None
    except LoomError as error:
        failed = (type(error), str(error), error.units if isinstance(error, Deadlock) else None)
    printed = [(place, label, values.tobytes()) for place, label, values in machine.chip.printed_tiles]
    return [failed, [str(found) for found in machine.chip.findings], printed, machine.statistics()["steps"]]


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(cases, st.booleans())
def test_channels(case: Case, prompt: bool) -> None:
    """Two launches of a producer and a consumer, right or wrong."""
    found: list[list[Any]] = []
    for executor in OF_CHIPS:
        machine, buffer = load(case, executor=executor, prompt=prompt)
        both = [outcome(machine, lambda m=machine, b=buffer: launch(m, case, b)) for _ in range(2)]
        spaces = vars(machine.executor)["spaces"].bytes
        found.append([*both, [memory.tobytes() for memory in spaces]])
    assert found[0] == found[1]


@pytest.mark.slow
def test_any_number_of_threads() -> None:
    """Rows on several threads leave the memory, the findings and the deadlock that one thread leaves."""
    for ahead, pops in ((1, 20), (2, 20), (1, 21)):
        case = Case(depth=4, period=2, lanes=2, seed=0, to_lanes=True, pushes=20, pops=pops, ahead=ahead, blocks=9)
        found: list[list[Any]] = []
        for threads in (1, 3):
            module = Parser(context(), text(case), "channel.mlir").parse_module()
            machine = machines.load(module, executor="core", threads=threads, parallel_from=1)
            buffer = machine.chip.allocate("gm", 8 * case.depth * case.blocks)
            ended = outcome(machine, lambda m=machine, b=buffer, c=case: launch(m, c, b))
            found.append([ended, [memory.tobytes() for memory in vars(machine.executor)["spaces"].bytes]])
        assert found[0] == found[1]


def equal(type: str, ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether bytes are equal but for the payloads of NaNs, of elements that begin at even or at odd bytes."""
    dtype = numpy_type(TYPES[type])
    bits = f"u{dtype.itemsize}"

    def from_byte(first: int) -> bool:
        a, b = (each[first : first + len(ours) - dtype.itemsize].copy().view(dtype) for each in (ours, theirs))
        with np.errstate(all="ignore"):
            nans = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
        return bool(((a.view(bits) == b.view(bits)) | nans).all())

    return ours.tobytes() == theirs.tobytes() or from_byte(0) or from_byte(1)


def run_tiles(text: str, data: np.ndarray, executor: str) -> tuple[Any, np.ndarray]:
    """Run one core on a memory that holds some bytes; its error, if there is one, and what the memory holds then."""
    machine = machines.load(Parser(context(), text, "tiles.mlir").parse_module(), executor=executor)
    memory = vars(machine.executor)["spaces"].of_class("core", "m")
    memory[0] = data
    machine.launch("main")
    try:
        machine.run()
    except LoomError as error:
        return str(error), memory[0]
    return None, memory[0]


def fabric(body: str) -> str:
    return f"""flow.fabric @k target "a5" grid 1 by 1 {{
      flow.units @core on [0, 0] words 16 {{
        flow.space @m {BYTES}
        flow.func @main {{ {body} flow.return }}
        flow.export @main as "main"
      }}
    }}"""


@st.composite
def applications(draw: st.DrawFn) -> tuple[str, str, np.ndarray]:
    """A function on tiles of any types and layouts, which may overlap: its text, the type that it writes, memory."""
    name = draw(st.sampled_from(list(FUNCTIONS)))
    row = FUNCTIONS[name]
    kinds = FLOATS if name in OF_FLOATS else WHOLE if name in OF_INTEGERS else list(TYPES)
    into = draw(st.sampled_from(kinds))
    one_type = draw(st.booleans())
    rows, columns, inner = (draw(st.integers(1, 7)) for _ in range(3))
    shapes: list[tuple[int, int]]
    match row.shape:
        case "row_reduction":
            shapes = [(rows, 1), (rows, columns)]
        case "product":
            shapes = [(rows, columns), *[(rows, columns)] * (row.sources - 2), (rows, inner), (inner, columns)]
        case "concatenation":
            shapes = [(rows, columns + inner), (rows, columns), (rows, inner)]
        case "padding":
            shapes = [(rows + draw(st.integers(0, 2)), columns + draw(st.integers(0, 2))), (rows, columns)]
        case "packing":
            columns, packed = 3 * columns, (rows, (3 * columns + 7) // 8)
            is_packed = name != "select"
            shapes = [packed if is_packed else (rows, columns), (rows, columns) if is_packed else packed]
            shapes += [(rows, columns)] * (row.sources - 1)
        case "counting":
            shapes = [(rows, columns)]
        case "indexing":
            table, line = (rows, columns), (inner, columns)
            shapes = [line, table, line] if name == "gather" else [table, line, line]
        case _:
            shapes = [(rows, columns)] * (1 + row.sources)
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, len(shapes) - 1))
        shapes[place] = (draw(st.integers(0, 4)), columns)
    lines: list[str] = []
    types: list[str] = []
    for place, (height, width) in enumerate(shapes):
        type = into if place == 0 or one_type else draw(st.sampled_from(list(TYPES)))
        fixed = {"packing": "ui8" if place == (name == "select") else type, "sorting": "i64" if place < 2 else type,
                 "indexing": "i8" if place == 2 else type}.get(row.shape, type)  # fmt: skip
        type = fixed if draw(st.integers(0, 15)) else type
        into = type if place == 0 else into
        types.append(type)
        size = np.dtype(numpy_type(TYPES[type])).itemsize
        where = draw(st.sampled_from([0, 8, 64])) if draw(st.integers(0, 3)) == 0 else 1024 * place
        across = draw(st.booleans())
        pitch = draw(st.integers(0, 2))
        strides = (1, height + pitch) if across else (width + pitch, 1)
        repeated = row.shape == "elementwise" and place and draw(st.integers(0, 4)) == 0
        height = 1 if repeated else height
        lines.append(
            f"%a{place} = arith.constant {where + draw(st.sampled_from([0, size, 1]))} : i64\n"
            f"%t{place} = flow.tile @m[%a{place}] extents [{height}, {width}] strides [{strides[0]}, {strides[1]}] : "
            f"!flow.tile<{type}>"
        )
    options: list[str] = []
    if name == "copy":
        options += [f'rounding = "{draw(st.sampled_from(ROUNDINGS))}"'] if draw(st.booleans()) else []
        options += [flag for flag in ("saturate", "wrap", "relu", "accumulate") if draw(st.integers(0, 3)) == 0]
        options += ["reshape"] if draw(st.integers(0, 3)) == 0 else []
    if name == "pad" and draw(st.booleans()):
        options.append(f"value = {draw(st.sampled_from(['-1.5 : f32', '7 : i32', '300 : i32']))}")
    sources = [f"%t{place}" for place in range(1, len(shapes))]
    names = [f"!flow.tile<{type}>" for type in types[1:]]
    if row.shape == "counting":
        lines.append("%n = arith.constant 5 : i32\n%s = arith.constant -3 : i64")
        sources, names = ["%n", "%s"], ["i32", "i64"]
    elif row.shape in SCALAR_SHAPES and draw(st.booleans()):
        kind = draw(st.sampled_from(["f32", "f16", "bf16", "i32", "i8", "i64"]))
        number = draw(st.sampled_from(["-3", "2", "77"])) + ("" if kind.startswith("i") else ".5")
        lines.append(f"%n = arith.constant {number} : {kind}")
        sources[-1], names[-1] = "%n", kind
    written = f" {{{', '.join(options)}}}" if options else ""
    lines.append(
        f'flow.tile_apply "{name}" %t0({", ".join(sources)}){written} : !flow.tile<{into}>({", ".join(names)})'
    )
    chance = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    data = chance.integers(0, 256, BYTES).astype(np.uint8)
    if row.shape == "indexing":
        count = shapes[1 if name == "gather" else 0][0] * columns
        data[2048:3072] = chance.integers(0, count + draw(st.integers(0, 1)), 1024) % 128 if count else 0
    for place, type in enumerate(types):
        part = data[1024 * place : 1024 * place + 512]
        dtype = numpy_type(TYPES[type])
        with np.errstate(all="ignore"):
            if type in FLOATS:
                part.view(dtype)[:] = np.where(
                    chance.random(512 // dtype.itemsize) < 0.2, chance.choice(SPECIAL, 512 // dtype.itemsize),
                    chance.normal(0, 30, 512 // dtype.itemsize),
                ).astype(dtype)  # fmt: skip
    return fabric("\n".join(lines)), into, data


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(applications())
def test_functions_on_tiles(case: tuple[str, str, np.ndarray]) -> None:
    program, into, data = case
    results = [run_tiles(program, data, executor) for executor in OF_CHIPS]
    assert results[0][0] == results[1][0]
    assert equal(into, results[0][1], results[1][1]), program


@pytest.mark.parametrize("type", FLOATS[1:])
def test_every_narrow_float(type: str) -> None:
    """All bit patterns as float32, and back: exact, and as ml_dtypes and numpy have them."""
    dtype = numpy_type(TYPES[type])
    count = 1 << 8 * min(dtype.itemsize, 1)
    for high in (0, 1, 60, 64, 123, 128, 191, 255) if dtype.itemsize == 2 else (0,):
        body = f"""%z = arith.constant 0 : i64
          %w = arith.constant 1024 : i64
          %b = arith.constant 3072 : i64
          %s = flow.tile @m[%z] extents [{count}] strides [1] : !flow.tile<{type}>
          %f = flow.tile @m[%w] extents [{count}] strides [1] : !flow.tile<f32>
          %d = flow.tile @m[%b] extents [{count}] strides [1] : !flow.tile<{type}>
          flow.tile_apply "copy" %f(%s) : !flow.tile<f32>(!flow.tile<{type}>)
          flow.tile_apply "copy" %d(%f) : !flow.tile<{type}>(!flow.tile<f32>)"""
        patterns = np.arange(count).astype(f"u{dtype.itemsize}") + (high << 8 if dtype.itemsize == 2 else 0)
        patterns = patterns.astype(f"u{dtype.itemsize}")
        data = np.zeros(BYTES, np.uint8)
        data[: patterns.nbytes] = patterns.view(np.uint8)
        for executor in OF_CHIPS:
            failed, memory = run_tiles(fabric(body), data, executor)
            assert failed is None
            values = patterns.view(dtype).astype(np.float32)
            np.testing.assert_array_equal(memory[1024 : 1024 + 4 * count].view(np.float32), values)
            back = memory[3072 : 3072 + patterns.nbytes].view(dtype)
            np.testing.assert_array_equal(back.astype(np.float32), values)


def test_a_product_is_summed_in_order() -> None:
    """k ascending, product and sum each rounded: neither pairwise nor fused."""
    inner = 33
    chance = np.random.default_rng(4)
    left, right = chance.normal(size=(3, inner)).astype(np.float32), chance.normal(size=(inner, 5)).astype(np.float32)
    body = f"""%a = arith.constant 0 : i64
      %b = arith.constant 1024 : i64
      %c = arith.constant 3072 : i64
      %l = flow.tile @m[%a] extents [3, {inner}] strides [{inner}, 1] : !flow.tile<f32>
      %r = flow.tile @m[%b] extents [{inner}, 5] strides [5, 1] : !flow.tile<f32>
      %d = flow.tile @m[%c] extents [3, 5] strides [5, 1] : !flow.tile<f32>
      flow.tile_apply "matrix_multiply" %d(%l, %r) : !flow.tile<f32>(!flow.tile<f32>, !flow.tile<f32>)"""
    data = np.zeros(BYTES, np.uint8)
    data[: left.nbytes], data[1024 : 1024 + right.nbytes] = left.view(np.uint8).ravel(), right.view(np.uint8).ravel()
    wanted = np.zeros((3, 5), np.float32)
    for r in range(3):
        for c in range(5):
            for k in range(inner):
                wanted[r, c] = np.float32(wanted[r, c] + np.float32(left[r, k] * right[k, c]))
    for executor in OF_CHIPS:
        _, memory = run_tiles(fabric(body), data, executor)
        assert memory[3072 : 3072 + wanted.nbytes].view(np.float32).reshape(3, 5).tobytes() == wanted.tobytes()
