"""Addresses, views, pointers the host copies through, and what a program says: on one PE, and on many."""

from __future__ import annotations

import re

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.runtime.machine import Machine

from .machines import load

GRIDS = [(1, 1), (4, 3), (3, 70)]
"""Widths and heights."""


def machine(body: str, width: int = 1, height: int = 1) -> Machine:
    """The machine of a program whose PEs all have the members `body`."""
    text = f"""wse.program @p target "wse3" rectangle {width} x {height} {{
      wse.pe @cell on [:, :] {{
        {body}
      }}
    }}"""
    return load(loomir.compile(text).module)


def run(body: str, width: int = 1, height: int = 1, launches: int = 1) -> Machine:
    made = machine(body, width, height)
    for _ in range(launches):
        made.launch("main", [])
        made.run(1_000_000)
    return made


def coordinates(width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    y, x = np.mgrid[0:height, 0:width]
    return x, y


WALKING = """
    wse.buffer @pad : memref<3xi16>
    wse.buffer @u : memref<8xf32> = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>
    wse.buffer @h : memref<5xi16> = dense<[10, 11, 12, 13, 14]>
    wse.buffer @out : memref<4xf32>
    wse.buffer @words : memref<2xi16>
    wse.export @out
    wse.export @words
    wse.export @u
    wse.export @main
    wse.func @main() {
      %x = wse.coordinate x : i16
      %two = arith.constant 2 : i16
      %four = arith.constant 4 : i16
      %u = wse.address_of @u : i16
      %away = arith.muli %x, %four : i16
      %p = arith.addi %u, %away : i16
      %m = wse.view %p : memref<?xf32>
      %same = wse.view %u : memref<?xf32>
      %s = wse.view %p : memref<f32>
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %a = memref.load %m[%i1] : memref<?xf32>
      %b = memref.load %s[] : memref<f32>
      %c = memref.load %same[%i1] : memref<?xf32>
      %back = arith.constant -1 : index
      %q = arith.addi %p, %four : i16
      %n = wse.view %q : memref<?xf32>
      %d = memref.load %n[%back] : memref<?xf32>
      %o = wse.get_buffer @out : memref<4xf32>
      memref.store %a, %o[%i0] : memref<4xf32>
      memref.store %b, %o[%i1] : memref<4xf32>
      %i2 = arith.constant 2 : index
      %i3 = arith.constant 3 : index
      memref.store %c, %o[%i2] : memref<4xf32>
      memref.store %d, %o[%i3] : memref<4xf32>
      // 16-bit elements at any word, and a store through a pointer.
      %h = wse.address_of @h : i16
      %xx = arith.muli %x, %two : i16
      %hp = arith.addi %h, %xx : i16
      %hv = wse.view %hp : memref<?xi16>
      %e = memref.load %hv[%i1] : memref<?xi16>
      %w = wse.get_buffer @words : memref<2xi16>
      memref.store %e, %w[%i0] : memref<2xi16>
      %wa = wse.address_of @words : i16
      %wv = wse.view %wa : memref<?xi16>
      memref.store %x, %wv[%i1] : memref<?xi16>
      %k = arith.constant 100.0 : f32
      memref.store %k, %m[%i0] : memref<?xf32>
      wse.return
    }"""


@pytest.mark.parametrize(("width", "height"), GRIDS)
@pytest.mark.slow
def test_loads_and_stores_through_views(width: int, height: int) -> None:
    made = run(WALKING, width, height)
    x, _ = coordinates(width, height)
    np.testing.assert_array_equal(made.read_symbol("out"), np.stack([x + 1, x, np.ones_like(x), x], -1))
    np.testing.assert_array_equal(made.read_symbol("words"), np.stack([x + 11, x], -1))
    expected = np.where(np.arange(8) == x[..., None], 100, np.arange(8))
    np.testing.assert_array_equal(made.read_symbol("u"), expected)


LOOPING = """
    wse.buffer @u : memref<64xi16>
    wse.buffer @sum : memref<i16>
    wse.export @u
    wse.export @sum
    wse.export @main
    wse.func @main() {
      %lb = arith.constant 0 : index
      %ub = arith.constant 64 : index
      %step = arith.constant 1 : index
      %two = arith.constant 2 : i16
      %zero = arith.constant 0 : i16
      %u = wse.address_of @u : i16
      %x = wse.coordinate x : i16
      %end, %sum = scf.for %i = %lb to %ub step %step iter_args(%p = %u, %s = %zero) -> (i16, i16) {
        %v = wse.view %p : memref<i16>
        %k = arith.index_cast %i : index to i16
        %kx = arith.muli %k, %x : i16
        memref.store %kx, %v[] : memref<i16>
        %again = memref.load %v[] : memref<i16>
        %t = arith.addi %s, %again : i16
        %next = arith.addi %p, %two : i16
        scf.yield %next, %t : i16, i16
      }
      %m = wse.get_buffer @sum : memref<i16>
      memref.store %sum, %m[] : memref<i16>
      wse.return
    }"""


@pytest.mark.parametrize(("width", "height"), GRIDS)
def test_a_loop_that_advances_a_pointer(width: int, height: int) -> None:
    made = run(LOOPING, width, height)
    x, _ = coordinates(width, height)
    np.testing.assert_array_equal(made.read_symbol("u"), np.arange(64) * x[..., None])
    np.testing.assert_array_equal(made.read_symbol("sum"), (np.arange(64).sum() * x).astype(np.int16))


DESCRIBED = """
    wse.buffer @u : memref<12xf32> = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]>
    wse.buffer @v : memref<12xf32>
    wse.buffer @w : memref<4xf32>
    wse.buffer @largest : memref<f32>
    wse.export @v
    wse.export @w
    wse.export @largest
    wse.export @main
    wse.func @main() {
      %x = wse.coordinate x : i16
      %four = arith.constant 4 : i16
      %away = arith.muli %x, %four : i16
      %u = wse.address_of @u : i16
      %p = arith.addi %u, %away : i16
      %m = wse.view %p : memref<?xf32>
      %same = wse.view %u : memref<?xf32>
      %va = wse.address_of @v : i16
      %v = wse.view %va : memref<?xf32>
      // v[0:4] = u[x : x + 8 : 2]; the addresses differ where the grid is wide.
      %s = dsd.mem1d %m stride 2 extent 4 : memref<?xf32>
      %d = dsd.mem1d %v extent 4 : memref<?xf32>
      dsd.fmovs %d, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      // v[4:8]: the same source further on, made from another descriptor by set_base and increment_offset.
      %three = arith.constant 3 : i16
      %d1 = dsd.increment_offset %d, 4 : !dsd.mem1d<f32>
      %s1 = dsd.set_base %s, %same : !dsd.mem1d<f32>, memref<?xf32>
      %s2 = dsd.increment_offset %s1, %three : !dsd.mem1d<f32>
      %s3 = dsd.set_stride %s2, 1 : !dsd.mem1d<f32>
      dsd.fmovs %d1, %s3 : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      // v[8:12] = u rows by a mem4d.
      %d2 = dsd.mem1d %v at 8 extent 4 : memref<?xf32>
      %s4 = dsd.mem4d %same strides [1, 4] extents [2, 2] : memref<?xf32>
      dsd.fmovs %d2, %s4 : !dsd.mem1d<f32>, !dsd.mem4d<f32>
      // w: a tensor access of a view, cut to a run-time length.
      %wa = wse.address_of @w : i16
      %w = wse.view %wa : memref<?xf32>
      %dw = dsd.tensor_access %w affine_map<(i) -> (i)> extents [4] : memref<?xf32> -> !dsd.mem1d<f32>
      %dw2 = dsd.set_length %dw, %three : !dsd.mem1d<f32>
      %one = arith.constant 1.0 : f32
      dsd.fadds %dw2, %s3, %one : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      // A pointer as destination of a reduction.
      %la = wse.address_of @largest : i16
      %l = wse.view %la : memref<f32>
      %start = memref.load %l[] : memref<f32>
      %all = dsd.mem1d %m extent 4 : memref<?xf32>
      dsd.fmaxs %l, %start, %all : memref<f32>, f32, !dsd.mem1d<f32>
      wse.return
    }"""


@pytest.mark.parametrize(("width", "height"), GRIDS)
def test_descriptors_over_views(width: int, height: int) -> None:
    made = run(DESCRIBED, width, height)
    x, _ = coordinates(width, height)
    v = np.zeros((height, width, 12))
    v[..., :4] = x[..., None] + 2 * np.arange(4)
    v[..., 4:8] = 3 + np.arange(4)
    v[..., 8:] = [0, 1, 5, 6]
    np.testing.assert_array_equal(made.read_symbol("v"), v)
    np.testing.assert_array_equal(made.read_symbol("w"), np.broadcast_to([4, 5, 6, 0], (height, width, 4)))
    np.testing.assert_array_equal(made.read_symbol("largest"), x + 3)


PING_PONG = """
    wse.buffer @a : memref<6xf32>
    wse.buffer @b : memref<6xf32>
    wse.buffer @source : memref<i16>
    wse.buffer @target : memref<i16>
    wse.buffer @rows : memref<4xi16> = dense<[-1, -1, -1, 7]>
    wse.param @row : i16 over {w} x {h} = dense<{rows}>
    wse.initialize @source[0] = address_of @a
    wse.initialize @target[0] = address_of @b
    wse.initialize @rows[0] = param @row
    wse.initialize @rows[2] = address_of @b + 4
    wse.export @source as "now" points_to memref<6xf32>
    wse.export @target as "next" points_to memref<?xf32>
    wse.export @rows unsigned
    wse.export @a
    wse.export @b
    wse.export @main
    wse.func @main() {{
      %s = wse.get_buffer @source : memref<i16>
      %t = wse.get_buffer @target : memref<i16>
      %p = memref.load %s[] : memref<i16>
      %q = memref.load %t[] : memref<i16>
      %from = wse.view %p : memref<?xf32>
      %to = wse.view %q : memref<?xf32>
      %d = dsd.mem1d %to extent 6 : memref<?xf32>
      %e = dsd.mem1d %from extent 6 : memref<?xf32>
      %one = arith.constant 1.0 : f32
      dsd.fadds %d, %e, %one : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      // Only PEs whose row is even exchange the pointers, so that they differ from then on.
      %row = wse.get_param @row : i16
      %bit = arith.constant 1 : i16
      %odd = arith.andi %row, %bit : i16
      %zero = arith.constant 0 : i16
      %even = arith.cmpi eq, %odd, %zero : i16
      scf.if %even {{
        memref.store %q, %s[] : memref<i16>
        memref.store %p, %t[] : memref<i16>
      }}
      wse.return
    }}"""


@pytest.mark.parametrize(("width", "height"), GRIDS)
def test_host_copies_through_pointers(width: int, height: int) -> None:
    _, y = coordinates(width, height)
    made = machine(PING_PONG.format(w=width, h=height, rows=y.tolist()), width, height)
    rows = made.read_symbol("rows")
    assert rows.dtype == np.uint16
    np.testing.assert_array_equal(rows[..., [0, 1, 3]], np.stack([y, 0 * y + 0xFFFF, 0 * y + 7], -1))
    start = np.random.default_rng(0).random((height, width, 6), np.float32)
    made.write_symbol("now", start)
    np.testing.assert_array_equal(made.read_symbol("a"), start)
    expected = start
    for launch in range(3):
        made.launch("main", [])
        made.run()
        even = (y % 2 == 0)[..., None]
        expected = start.copy()
        if launch == 2:
            expected = np.where(even, (start + 1 + 1) + 1, start)
            np.testing.assert_array_equal(made.read_symbol("now"), expected)
            np.testing.assert_array_equal(
                made.read_region("next", 0, 0, width, height, 6), np.where(even, start + 1 + 1, start + 1)
            )
    assert made.buffer("next").shape == (-1,)
    with pytest.raises(LoomError, match="'next' points to an array of unknown length"):
        made.read_symbol("next")
    made.write_region("now", 0, 0, width, height, 2, np.array([[[8, 9]]], np.float32))
    now = made.read_symbol("now")
    np.testing.assert_array_equal(now[..., :2], np.broadcast_to([8.0, 9.0], (height, width, 2)))
    np.testing.assert_array_equal(now[..., 2:], expected[..., 2:])


COPIES = """wse.program @p target "wse3" rectangle 6 x 5 {
  wse.pe @even on [::2, :] {
    wse.buffer @pad : memref<3xi16>
    wse.buffer @u : memref<5xi16>
    wse.buffer @w : memref<4xf32>
    wse.export @u
    wse.export @w
  }
  wse.pe @rest on [1::2, 0] + [1::2, 2:] {
    wse.buffer @u : memref<5xi16>
    wse.buffer @w : memref<4xf32>
    wse.export @u
    wse.export @w
  }
  wse.pe @other on [1::2, 1] {
    wse.buffer @w : memref<4xf32>
    wse.export @w
  }
}"""


def test_partial_copies() -> None:
    made = load(loomir.compile(COPIES).module)
    generator = np.random.default_rng(1)
    whole = np.zeros((5, 6, 4), np.float32)
    for x, y, w, h, count in [(0, 0, 6, 5, 4), (1, 1, 3, 2, 2), (2, 0, 1, 5, 3), (5, 4, 1, 1, 1), (0, 3, 6, 1, 4)]:
        values = generator.random((h, w, count), np.float32)
        made.write_region("w", x, y, w, h, count, values)
        whole[y : y + h, x : x + w, :count] = values
        np.testing.assert_array_equal(made.read_symbol("w"), whole)
        np.testing.assert_array_equal(made.read_region("w", x, y, w, h, count), values)
        bits = made.read_region("w", x, y, w, h, 2 * count, "u2")
        np.testing.assert_array_equal(bits, np.ascontiguousarray(values).view(np.uint16).reshape(h, w, 2 * count))
    # 16-bit elements at an odd address (after the pad), and as 32-bit ones there.
    for x, y, w, h, count in [(0, 2, 6, 3, 5), (2, 0, 1, 5, 3), (1, 3, 2, 2, 4)]:
        values = generator.integers(0, 1 << 16, (h, w, count), np.uint16)
        made.write_region("u", x, y, w, h, count, values)
        np.testing.assert_array_equal(made.read_region("u", x, y, w, h, count), values.view(np.int16))
        pairs = made.read_region("u", x, y, w, h, count // 2, np.uint32)
        low, high = values[..., 0 : count // 2 * 2 : 2], values[..., 1 : count // 2 * 2 : 2]
        np.testing.assert_array_equal(pairs, low + (high.astype(np.uint32) << 16))
        made.write_region("u", x, y, w, h, count // 2, pairs[..., ::-1])
        np.testing.assert_array_equal(made.read_region("u", x, y, w, h, count // 2, np.uint32), pairs[..., ::-1])


def test_copies_beyond_the_symbol() -> None:
    made = load(loomir.compile(COPIES).module)
    made.write_region("w", 0, 0, 6, 5, 4, np.array([1, 2, 3, 4], np.float32))
    # On the even columns @u is at word 4 and @w at word 10.
    beyond = made.read_region("u", 0, 0, 1, 5, 20, np.uint16)
    np.testing.assert_array_equal(beyond[..., 6:14].copy().view(np.float32)[0, 0], [1, 2, 3, 4])
    assert not beyond[..., 14:].any()
    assert made.read_region("w", 0, 0, 1, 1, 12280).shape == (1, 1, 12280)
    with pytest.raises(LoomError, match=r"on PE \(0, 0\), which has 49152 bytes; copy fewer"):
        made.read_region("w", 0, 0, 1, 1, 12286)
    with pytest.raises(LoomError, match=r"ends at byte 39 of memory on PE \(0, 0\), where bytes 0 to 35 are in use"):
        made.write_region("w", 0, 0, 1, 1, 5, np.zeros(5, np.float32))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("u", 0, 0, 6, 5, 1, np.zeros(1, np.int16)), r"PE \(1, 1\) has no symbol 'u'"),
        (("u", 3, 0, 4, 1, 1, np.zeros(1, np.int16)), r"4 x 1 PEs from \(3, 0\) leaves the grid of 6 x 5"),
        (
            ("w", 0, 0, 2, 1, 3, np.zeros((2, 1, 3), np.float32)),
            r"takes \[h, w, count\] = \[1, 2, 3\], not \[2, 1, 3\]",
        ),
        (("w", 0, 0, 1, 1, 1, np.zeros(1)), "elements of 8, 16 or 32 bits, not float64"),
        (("v", 0, 0, 1, 1, 1, np.zeros(1, np.float32)), "exports no buffer 'v'"),
    ],
)
def test_bad_copies(arguments: tuple, message: str) -> None:
    made = load(loomir.compile(COPIES).module)
    with pytest.raises(LoomError, match=message):
        made.write_region(*arguments)


def test_a_copy_to_many_units_does_not_visit_them_one_by_one() -> None:
    body = "wse.buffer @u : memref<3xf32>\nwse.export @u"
    made = machine(body, 400, 250)
    values = np.random.default_rng(2).random((250, 400, 3), np.float32)
    made.write_region("u", 0, 0, 400, 250, 3, values)
    np.testing.assert_array_equal(made.read_region("u", 0, 0, 400, 250, 3), values)


WRONG = """
    wse.buffer @u : memref<8xf32>
    wse.buffer @p : memref<i16>
    wse.buffer @k : memref<i16>
    wse.export @p
    wse.export @k
    wse.export @main
    wse.func @main() {{
      %pb = wse.get_buffer @p : memref<i16>
      %p = memref.load %pb[] : memref<i16>
      %v = wse.view %p : memref<?xf32>
      %s = wse.view %p : memref<f32>
      %kb = wse.get_buffer @k : memref<i16>
      %k = memref.load %kb[] : memref<i16>
      %c = arith.constant 1.0 : f32
      {access}
      wse.return
    }}"""
LOAD = "%a = memref.load %s[] : memref<f32>\nmemref.store %a, %s[] : memref<f32>"
STORE = "%i = arith.index_cast %k : i16 to index\nmemref.store %c, %v[%i] : memref<?xf32>"
STREAM = "%d = dsd.mem1d %v extent 3 : memref<?xf32>\ndsd.fmovs %d, %c : !dsd.mem1d<f32>, f32"
AWAY = "%d = dsd.mem1d %v at %k extent 3 : memref<?xf32>\ndsd.fmovs %d, %c : !dsd.mem1d<f32>, f32"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("width", "height"), GRIDS)
@pytest.mark.parametrize(
    ("access", "pointer", "count", "message"),
    [
        (LOAD, 36, 0, "byte address 36 on PE is outside its memory in use, bytes 0 to 35; check the pointer"),
        (LOAD, 34, 0, "byte address 34 on PE is outside"),
        (LOAD, -4, 0, "byte address 65532 on PE"),
        (LOAD, 7, 0, "an element of 32 bits is accessed at odd byte address 7 on PE"),
        (STORE, 8, 7, "byte address 36 on PE"),
        (STORE, 8, -3, "byte address 65532 on PE"),
        (STREAM, 28, 0, "fmovs in @main reaches word address 19 on PE, outside its memory in use, words 0 to 17"),
        (STREAM, 9, 0, "an element of 16 bits is accessed at odd byte address 9 on PE"),
        (AWAY, 4, -2, "fmovs in @main reaches word address -2 on PE"),
    ],
)
@pytest.mark.usefixtures("memory_in_use")
def test_stray_pointers(access: str, pointer: int, count: int, message: str, width: int, height: int) -> None:
    made = machine(WRONG.format(access=access), width, height)
    pointers = np.zeros((height, width), np.int16)
    pointers[-1, -1] = pointer
    made.write_symbol("p", pointers)
    made.write_symbol("k", np.int16(count) * (pointers != 0))
    made.launch("main", [])
    message = message.replace("PE", re.escape(f"PE ({width - 1}, {height - 1})"), 1)
    with pytest.raises(LoomError, match=message) as caught:
        made.run()
    assert caught.value.location is not None


SAYING = """
    wse.buffer @times : memref<3xi16>
    wse.export @times unsigned
    wse.export @main
    wse.func @main() {
      %x = wse.coordinate x : i16
      %minus = arith.constant -2 : i16
      %f = arith.constant 0.5 : f32
      %b = arith.constant true
      wse.print "x {d} {u} {x} {{}} {f} {u}\\n", %x, %minus, %minus, %f, %b : i16, i16, i16, f32, i1
      %lb = arith.constant 0 : index
      %ub = arith.constant 1000 : index
      %step = arith.constant 1 : index
      scf.for %i = %lb to %ub step %step {
        %k = arith.index_cast %i : index to i16
        %l = arith.muli %k, %x : i16
        %m = arith.addi %l, %x : i16
      }
      %lo, %mid, %hi = wse.timestamp : i16, i16, i16
      %t = wse.address_of @times : i16
      %v = wse.view %t : memref<?xi16>
      %i1 = arith.constant 1 : index
      %i2 = arith.constant 2 : index
      memref.store %lo, %v[%lb] : memref<?xi16>
      memref.store %mid, %v[%i1] : memref<?xi16>
      memref.store %hi, %v[%i2] : memref<?xi16>
      wse.print "done"
      wse.return
    }"""


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), GRIDS)
def test_log_and_timestamps(width: int, height: int) -> None:
    made = run(SAYING, width, height, launches=30)
    log = made.log
    assert len(log) == 60 * width * height
    assert [entry[0] for entry in log] == sorted(entry[0] for entry in log)
    first = [entry for entry in log if entry[1:3] == (width - 1, height - 1)]
    assert first[0][3] == f"x {width - 1} 65534 fffe {{}} 0.5 1\n"
    assert first[-1][3] == "done"
    words = made.read_symbol("times").astype(np.int64)
    times = words[..., 0] + (words[..., 1] << 16) + (words[..., 2] << 32)
    assert (times == times[0, 0]).all()
    assert times[0, 0] > 1 << 16
    assert 0 <= first[-1][0] - times[0, 0] < 20


ASSERTING = """
    wse.buffer @limit : memref<i16>
    wse.export @limit
    wse.export @main
    wse.func @main() {
      %l = wse.get_buffer @limit : memref<i16>
      %limit = memref.load %l[] : memref<i16>
      %lb = arith.constant 0 : index
      %ub = arith.constant 10 : index
      %step = arith.constant 1 : index
      scf.for %i = %lb to %ub step %step {
        %k = arith.index_cast %i : index to i16
        %inside = arith.cmpi slt, %k, %limit : i16
        wse.assert %inside, "{k} is below the limit"
      }
      wse.return
    }"""


@pytest.mark.parametrize(("width", "height"), GRIDS)
def test_assertions(width: int, height: int) -> None:
    made = machine(ASSERTING, width, height)
    limits = np.full((height, width), 10, np.int16)
    made.write_symbol("limit", limits)
    made.launch("main", [])
    made.run()
    limits[-1, 0] = 9
    made.write_symbol("limit", limits)
    made.launch("main", [])
    with pytest.raises(LoomError, match=rf"the assertion fails on PE \(0, {height - 1}\): {{k}} is below the limit"):
        made.run()
