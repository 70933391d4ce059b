"""Symbols, as a host writes and reads them: types, shapes, unaligned buffers, launches, and its mistakes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.diagnostics.errors import LoomError
from loomir.runtime.machine import Machine

from ..searches import examples
from .flow_modules import parse
from .machines import load

REGIONS = {
    "all": ("[:, :]", lambda x, y: True),
    "column": ("[1, :]", lambda x, y: x == 1),
    "strided": ("[::2, 1::2]", lambda x, y: x % 2 == 0 and y % 2 == 1),
    "cells": ("[0, :] + [:, 2]", lambda x, y: x == 0 or y == 2),
    "checkers": ("[::2, ::2] + [1::2, 1::2]", lambda x, y: (x + y) % 2 == 0),
}
WIDTH, HEIGHT = 5, 4


def machine(body: str, regions: str = "[:, :]", *, verify: bool = True, **options) -> Machine:
    return load(
        parse(
            f"""flow.fabric @test target "wse3" grid {WIDTH} by {HEIGHT} {{
          flow.units @u on {regions} words 256 {{
            {body}
          }}
        }}""",
            verify=verify,
        ),
        **options,
    )


TYPES = {
    ("f32", ""): np.dtype(np.float32), ("f16", ""): np.dtype(np.float16), ("i32", ""): np.dtype(np.int32),
    ("i16", ""): np.dtype(np.int16), ("i32", " unsigned"): np.dtype(np.uint32),
    ("i16", " unsigned"): np.dtype(np.uint16), ("bf16", ""): np.dtype(ml_dtypes.bfloat16),
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(
    type=st.sampled_from(sorted(TYPES)), shape=st.lists(st.integers(1, 4), max_size=3), address=st.integers(0, 9),
    region=st.sampled_from(sorted(REGIONS)), seed=st.integers(0, 1000),
)  # fmt: skip
def test_round_trip(type, shape, address, region, seed) -> None:
    """Every bit pattern comes back, whatever lies beside it, at even and odd word addresses."""
    kind, unsigned = type
    dtype = TYPES[type]
    wide = dtype.itemsize == 4
    address = address * 2 if wide else address
    text = "x".join([*map(str, shape), kind])
    words = int(np.prod(shape, dtype=np.int64)) * (2 if wide else 1)
    regions, inside = REGIONS[region]
    made = machine(
        f"""flow.buffer @before at 0 : memref<{max(address, 1)}xi16>
        flow.buffer @value at {address} : memref<{text}>
        flow.buffer @after at {address + words} : memref<4xi16>
        flow.export @value as "v"{unsigned}
        flow.export @before as "before"
        flow.export @after as "after" """,
        regions,
    )
    if address:
        made.write_symbol("before", np.int16(0x1234))
    made.write_symbol("after", np.int16(0x5678))
    raw = np.random.default_rng(seed).integers(0, 1 << (8 * dtype.itemsize), (HEIGHT, WIDTH, *shape), np.uint64)
    values = raw.astype(np.dtype(f"u{dtype.itemsize}")).view(dtype)
    made.write_symbol("v", values)
    found = made.read_symbol("v")
    assert found.dtype == dtype and found.shape == (HEIGHT, WIDTH, *shape)
    bits = np.dtype(f"u{dtype.itemsize}")
    for y in range(HEIGHT):
        for x in range(WIDTH):
            expected = values[y, x] if inside(x, y) else np.zeros_like(values[y, x])
            assert (np.asarray(found[y, x]).view(bits) == np.asarray(expected).view(bits)).all()
            if inside(x, y):
                assert (made.read_symbol("after")[y, x] == 0x5678).all()
                assert not address or (made.read_symbol("before")[y, x] == 0x1234).all()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (WIDTH, 2, 3), (HEIGHT, 1, 2, 3), (HEIGHT, WIDTH, 2, 3), (1, 3)])
def test_arrays_broadcast(shape: tuple[int, ...]) -> None:
    made = machine('flow.buffer @a at 0 : memref<2x3xf32>\n flow.export @a as "a"')
    values = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.float32).reshape(shape)
    made.write_symbol("a", values)
    assert (made.read_symbol("a") == np.broadcast_to(values, (HEIGHT, WIDTH, 2, 3))).all()


def test_several_classes_share_a_symbol() -> None:
    made = load(
        parse("""flow.fabric @test target "wse3" grid 4 by 2 {
      flow.units @a on [0, :] words 8 {
        flow.buffer @x at 0 : memref<2xf32> = dense<1.0>
        flow.export @x as "x"
      }
      flow.units @b on [2:, 1] words 16 {
        flow.buffer @y at 4 : memref<2xf32> = dense<[2.0, 3.0]>
        flow.export @y as "x"
      }
    }""")
    )
    found = made.read_symbol("x")
    assert found[:, 0].tolist() == [[1, 1], [1, 1]]
    assert found[1, 2:].tolist() == [[2, 3], [2, 3]]
    assert not found[:, 1].any() and not found[0, 1:].any()
    made.write_symbol("x", np.arange(16, dtype=np.float32).reshape(2, 4, 2))
    assert made.read_symbol("x")[1].tolist() == [[8, 9], [0, 0], [12, 13], [14, 15]]


def test_interleaved_classes_share_a_symbol() -> None:
    """Each PE shows its own class's buffer, also where the classes' bounding rectangles overlap."""
    made = load(
        parse("""flow.fabric @test target "wse3" grid 3 by 3 {
      flow.units @even on [::2, ::2] + [1, 1] words 8 {
        flow.buffer @x at 0 : memref<i16> = dense<1>
        flow.export @x as "x"
      }
      flow.units @odd on [1, ::2] + [::2, 1] words 8 {
        flow.buffer @y at 3 : memref<i16> = dense<2>
        flow.export @y as "x"
      }
    }""")
    )
    assert made.read_symbol("x").tolist() == [[1, 2, 1], [2, 1, 2], [1, 2, 1]]
    made.write_symbol("x", np.arange(9, dtype=np.int16).reshape(3, 3))
    assert made.read_symbol("x").ravel().tolist() == list(range(9))


def test_function_with_two_signatures_starts_nowhere() -> None:
    made = load(
        parse(
            """flow.fabric @test target "wse3" grid 2 by 1 {
      flow.units @a on [0, :] words 8 {
        flow.export @f as "f"
        flow.func @f(%a: i16) { flow.return }
      }
      flow.units @b on [1, :] words 8 {
        flow.export @f as "f"
        flow.func @f() { flow.return }
      }
    }""",
            verify=False,
        )
    )
    with pytest.raises(LoomError, match="'f' takes 0 arguments"):
        made.launch("f", [1])
    made.run()
    assert made.statistics()["task_runs"] == 0


def test_initial_values() -> None:
    made = machine("""
      flow.buffer @a at 1 : memref<2x2xi16> = dense<[[1, -2], [3, -32768]]>
      flow.buffer @b at 6 : memref<f32> = dense<0.1>
      flow.buffer @c at 9 : memref<3xf16> = dense<[0.5, -1.0, 65504.0]>
      flow.export @a as "a" unsigned
      flow.export @b as "b"
      flow.export @c as "c" """)
    assert made.read_symbol("a")[3, 4].tolist() == [[1, 65534], [3, 32768]]
    assert made.read_symbol("b")[0, 0] == np.float32(0.1)
    assert made.read_symbol("c")[1, 2].tolist() == [0.5, -1.0, 65504.0]


LAUNCH = """
  flow.buffer @i at 0 : memref<i16>
  flow.buffer @j at 2 : memref<i32>
  flow.buffer @h at 5 : memref<f16>
  flow.buffer @s at 6 : memref<f32>
  flow.export @i as "i"
  flow.export @j as "j" unsigned
  flow.export @h as "h"
  flow.export @s as "s"
  flow.export @keep as "go"
  flow.func @keep(%i: i16, %j: i32, %h: f16, %s: f32) {
    flow.store %i, @i[] : i16
    flow.store %j, @j[] : i32
    flow.store %h, @h[] : f16
    flow.store %s, @s[] : f32
    flow.return
  }
"""


def test_launch_passes_arguments() -> None:
    """Integers may be given signed or unsigned; floats are rounded to their type."""
    made = machine(LAUNCH)
    made.launch("go", [65535, 4294967295, 0.1, 0.1])
    made.run()
    assert (made.read_symbol("i") == -1).all()
    assert (made.read_symbol("j") == 4294967295).all()
    assert (made.read_symbol("h") == np.float16(0.1)).all()
    assert (made.read_symbol("s") == np.float32(0.1)).all()
    made.launch("go", [np.int16(-32768), np.uint32(7), np.float16(2), np.float32(3)])
    made.run()
    assert [made.read_symbol(name)[2, 2] for name in "ijhs"] == [-32768, 7, 2, 3]
    statistics = made.statistics()
    assert statistics["task_runs"] == 2 * WIDTH * HEIGHT and statistics["units"] == WIDTH * HEIGHT
    assert statistics["cycles_estimated"] == made.cycles > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([1, 2, 3.0], r"'go' takes 4 arguments \(i16, i32, f16, f32\), not 3"),
        ([65536, 0, 0, 0], "argument 65536 of 'go' does not fit i16"),
        ([-32769, 0, 0, 0], "argument -32769 of 'go' does not fit i16"),
        ([1.5, 0, 0, 0], "argument 1.5 of 'go' is not of type i16"),
        (["a", 0, 0, 0], "argument 'a' of 'go' is not of type i16"),
        ([None, 0, 0, 0], "argument None of 'go' is not of type i16"),
        ([0, 0, [1], 0], r"argument \[1\] of 'go' is not of type f16"),
        ([float("nan"), 0, 0, 0], "argument nan of 'go' is not of type i16"),
        ([float("inf"), 0, 0, 0], "argument inf of 'go' is not of type i16"),
    ],
)
def test_wrong_arguments(arguments, message: str) -> None:
    made = machine(LAUNCH)
    with pytest.raises(LoomError, match=message):
        made.launch("go", arguments)
    # Nothing is half-started.
    made.run()
    assert made.statistics()["task_runs"] == 0


def test_names_that_do_not_exist() -> None:
    made = machine(LAUNCH)
    with pytest.raises(LoomError, match="exports no buffer 'nothing'; it exports: h, i, j, s"):
        made.read_symbol("nothing")
    with pytest.raises(LoomError, match="exports no buffer 'go'"):
        made.write_symbol("go", 1)
    with pytest.raises(LoomError, match="exports no function 'i'; it exports: go"):
        made.launch("i", [])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 2), np.float32), r"'s' takes shape \[4, 5\] \(or one that broadcasts to it\), not \[2, 2\]"),
        (np.zeros((1, 4, 5), np.float32), r"not \[1, 4, 5\]"),
        (np.zeros((4, 5), np.complex64), "'s' holds float32, not complex64"),
        (np.array("text"), "'s' holds float32, not"),
        (np.array(None), "'s' holds float32, not object"),
    ],
)
def test_wrong_arrays(values, message: str) -> None:
    made = machine(LAUNCH)
    with pytest.raises(LoomError, match=message):
        made.write_symbol("s", values)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("flow.buffer @a at 250 : memref<4xf32>", "buffer @a ends at word 258, beyond the 256 words"),
        ('flow.export @a as "a"', "@a is exported but is neither a buffer nor a function"),
        (
            "flow.param @p = dense<[1, 2]> : tensor<2xi16>",
            r"param @p has shape \[2\]; give one value, or one per PE, \[4, 5\]",
        ),
        ("flow.queue input @q id 0 colors [@c on [:, :]]", "@c is not a color of the fabric"),
        ("flow.task data @t id 0 on @q (%v: f32) { flow.return }", "@q is not an input queue"),
        ("flow.task local @t id 9 { flow.activate @s\n flow.return }", "@s is neither a task nor an input queue of u"),
        ("flow.fifo @f on @b", "@b is not a buffer of u"),
        (
            "flow.task local @t id 9 { %s = flow.fifo_stream @f : !flow.stream<i16>\n flow.return }",
            "@f is not a FIFO of u",
        ),
        ("flow.task local @t id 9 { flow.call @f() : () -> ()\n flow.return }", "@f is not a function"),
        ("flow.task local @t id 9 { %v = flow.load @b[] : i16\n flow.return }", "@b is not a buffer"),
        ("flow.task local @t id 9 { %v = flow.get_param @b : i16\n flow.return }", "@b is not a parameter"),
        (
            "flow.buffer @b at 0 : memref<4xi16>\n flow.task local @t id 9 {\n %k = arith.constant 4 : index\n"
            " %v = flow.load @b[%k] : i16\n flow.return }",
            "index 4 of dimension 0 is outside @b, which has 4 elements there",
        ),
        (
            "flow.buffer @b at 0 : memref<4xi16>\n flow.task local @t id 9 { %v = flow.load @b[] : i16\n flow.return }",
            "@b has 1 dimensions, not 0",
        ),
        (
            "flow.task local @t id 9 {\n %a = arith.constant 1 : i4\n %b = arith.addi %a, %a : i4\n flow.return }",
            "cannot execute arith.addi on i4; compute with f32",
        ),
        (
            "flow.task local @t id 9 {\n %a = arith.constant 1.0 : f64\n %b = arith.addf %a, %a : f64\n flow.return }",
            "cannot execute arith.addf on f64; compute with f32",
        ),
        (
            'flow.func @t(%a: f64) {\n flow.return }\n flow.export @t as "t"',
            "@t takes f64, which PEs do not compute with",
        ),
        (
            "flow.task local @t id 9 {\n %a = arith.constant 1 : i32\n %b = arith.extsi %a : i32 to i48\n"
            " flow.return }",
            "cannot execute arith.extsi on i48",
        ),
        (
            "flow.task local @t id 9 {\n %a = arith.constant 1 : i32\n %b, %c = arith.mulsi_extended %a, %a : i32\n"
            " flow.return }",
            "cannot execute arith.mulsi_extended; lower it to arith, scf and flow first",
        ),
    ],
)
def test_programs_that_cannot_be_loaded(body: str, message: str) -> None:
    """The engine does not rely on a verifier having been there before."""
    with pytest.raises(LoomError, match=message):
        machine(body, verify=False)


def test_units_must_not_share_a_place() -> None:
    text = """flow.fabric @test target "wse3" grid 2 by 2 {
      flow.units @a on [0, :] words 8 {}
      flow.units @b on [:, 1] words 8 {}
    }"""
    with pytest.raises(LoomError, match="units @b share PEs with another class"):
        load(parse(text, verify=False))


def test_units_must_be_on_the_grid() -> None:
    text = 'flow.fabric @test target "wse3" grid 2 by 2 {\n flow.units @a on [5:, :] words 8 {}\n}'
    with pytest.raises(LoomError, match="no PE of the grid, which has columns 0 to 1 and rows 0 to 1"):
        load(parse(text, verify=False))


def test_module_without_a_fabric() -> None:
    with pytest.raises(LoomError, match=r"exactly one flow.fabric, not 0"):
        load(parse("builtin.module {}"))


def test_a_function_is_launched_once_before_a_run() -> None:
    """The second launch would run with the arguments of both: it is refused, and legal again after the run."""
    made = machine("""flow.export @f as "f"
      flow.func @f(%v: i16) {
        flow.return
      }""")
    made.launch("f", [1])
    with pytest.raises(LoomError, match="'f' has been launched and not run yet; run the machine"):
        made.launch("f", [2])
    made.run()
    made.launch("f", [2])
    made.run()
