"""Elements of 8 bits, 32-bit elements at odd words, and indices outside arrays: on one PE, and on many."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.runtime.machine import Machine

from .machines import load

GRIDS = pytest.mark.parametrize(("width", "height"), [(1, 1), (4, 3), (3, 70)])


def machine(body: str, width: int = 1, height: int = 1) -> Machine:
    """The machine of a program whose PEs all have the members `body`."""
    text = f"""wse.program @p target "wse3" rectangle {width} x {height} {{
      wse.pe @cell on [:, :] {{
        {body}
      }}
    }}"""
    return load(loomir.compile(text).module)


def launch(made: Machine) -> None:
    made.launch("main", [])
    made.run(100000)


def columns(made: Machine) -> np.ndarray:
    """The x coordinate of every PE."""
    return np.broadcast_to(np.arange(made.width), (made.height, made.width))


MOVES = """
    wse.buffer @table : memref<2x6xi8> = dense<[[0, 1, 2, 3, 4, 5], [-6, 7, -128, 127, 10, 11]]>
    wse.buffer @out : memref<7xi8> = dense<-1>
    wse.buffer @one : memref<i8> = dense<5>
    wse.buffer @beside : memref<i8> = dense<9>
    wse.export @table
    wse.export @out unsigned
    wse.export @one
    wse.export @beside
    wse.export @main
    wse.func @main() {
      %x = wse.coordinate x : i16
      %i = arith.index_cast %x : i16 to index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %table = wse.get_buffer @table : memref<2x6xi8>
      %out = wse.get_buffer @out : memref<7xi8>
      // By indices: out[x] = table[1][x], and one known element.
      %a = memref.load %table[%c1, %i] : memref<2x6xi8>
      memref.store %a, %out[%i] : memref<7xi8>
      %s = wse.get_buffer @one : memref<i8>
      %b = memref.load %s[] : memref<i8>
      %sum = arith.addi %b, %a : i8
      memref.store %sum, %s[] : memref<i8>
      // By a pointer to any byte: table[0][x + 1] = 100 + x.
      %p = wse.address_of @table : i16
      %q = arith.addi %p, %x : i16
      %v = wse.view %q : memref<?xi8>
      %hundred = arith.constant 100 : i16
      %w = arith.addi %hundred, %x : i16
      %n = arith.trunci %w : i16 to i8
      memref.store %n, %v[%c1] : memref<?xi8>
      // Units part: those with an even x write the byte after it.
      %bit = arith.trunci %x : i16 to i1
      scf.if %bit {
        scf.yield
      } else {
        %two = arith.constant 2 : index
        memref.store %n, %v[%two] : memref<?xi8>
        scf.yield
      }
      wse.return
    }"""


@GRIDS
def test_bytes_are_loaded_and_stored_alone(width: int, height: int) -> None:
    made = machine(MOVES, width, height)
    launch(made)
    table = np.zeros((height, width, 2, 6), np.int8)
    table[:] = [[0, 1, 2, 3, 4, 5], [-6, 7, -128, 127, 10, 11]]
    out = np.full((height, width, 7), 255, np.uint8)
    one = np.zeros((height, width), np.int8)
    for y, x in np.ndindex(height, width):
        out[y, x, x] = table[y, x, 1, x].astype(np.uint8)
        one[y, x] = np.int16(5 + int(table[y, x, 1, x])).astype(np.int8)
        table[y, x, 0, x + 1] = 100 + x
        if x % 2 == 0:
            table[y, x, 0, x + 2] = 100 + x
    np.testing.assert_array_equal(made.read_symbol("table"), table)
    found = made.read_symbol("out")
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, out)
    np.testing.assert_array_equal(made.read_symbol("one"), one)
    assert (made.read_symbol("beside") == 9).all()


COPIES = """
    wse.buffer @a : memref<7xi8>
    wse.buffer @b : memref<9xi8>
    wse.buffer @p : memref<i16>
    wse.initialize @p[0] = address_of @a + 3
    wse.param @k : i8 over {w} x {h} = dense<{numbers}>
    wse.initialize @b[5] = param @k
    wse.export @a
    wse.export @b
    wse.export @p as "tail" points_to memref<4xi8> unsigned"""


@GRIDS
def test_the_host_copies_bytes(width: int, height: int) -> None:
    numbers = [[(7 * x - 5 * y) % 200 - 100 for x in range(width)] for y in range(height)]
    made = machine(COPIES.format(w=width, h=height, numbers=numbers), width, height)
    np.testing.assert_array_equal(made.read_symbol("b")[..., 5], numbers)
    values = np.random.default_rng(3).integers(-128, 128, (height, width, 7), np.int8)
    made.write_symbol("a", values)
    np.testing.assert_array_equal(made.read_symbol("tail"), values[..., 3:].view(np.uint8))
    # Through the pointer to an odd byte: bytes, and copies of 16 and of 32 bits.
    for kind, count in ((np.uint8, 4), (np.uint16, 2), (np.uint32, 1)):
        part = np.random.default_rng(count).integers(0, 200, (height, width, 4), np.uint8)
        made.write_region("tail", 0, 0, width, height, count, part.view(kind))
        values[..., 3:] = part.view(np.int8)
        np.testing.assert_array_equal(made.read_symbol("a"), values)
        found = made.read_region("tail", 0, 0, width, height, count, kind)
        np.testing.assert_array_equal(found, part.view(kind))
    np.testing.assert_array_equal(made.read_symbol("b")[..., :5], np.zeros((height, width, 5)))


ODD = """
    wse.buffer @w : memref<8xi16> = dense<[0, 0, 1, 2, 3, 4, 5, 6]>
    wse.buffer @got : memref<{kind}>
    wse.export @w unsigned
    wse.export @got
    wse.export @main
    wse.func @main() {{
      %x = wse.coordinate x : i16
      %two = arith.constant 2 : i16
      %xx = arith.muli %x, %two : i16
      %w = wse.address_of @w : i16
      %p = arith.addi %w, %xx : i16
      %v = wse.view %p : memref<?x{kind}>
      %g = wse.get_buffer @got : memref<{kind}>
      %one = arith.constant 1 : index
      %a = memref.load %v[%one] : memref<?x{kind}>
      memref.store %a, %g[] : memref<{kind}>
      %zero = arith.constant 0 : index
      memref.store %a, %v[%zero] : memref<?x{kind}>
      wse.return
    }}"""


@GRIDS
@pytest.mark.parametrize("kind", ["i32", "f32"])
def test_32_bits_at_an_odd_word(kind: str, width: int, height: int, capsys: pytest.CaptureFixture[str]) -> None:
    """What is read and written is right, and each place is told of once."""
    made = machine(ODD.format(kind=kind), width, height)
    for _ in range(2):
        made.write_symbol("w", np.array([0, 0, 1, 2, 3, 4, 5, 6], np.uint16))
        launch(made)
    words = np.broadcast_to(np.array([0, 0, 1, 2, 3, 4, 5, 6], np.uint16), (height, width, 8)).copy()
    got = np.zeros((height, width), np.uint32)
    for y, x in np.ndindex(height, width):
        low, high = (int(words[y, x, x + 2 + half]) for half in (0, 1))
        got[y, x] = low | high << 16
        words[y, x, x : x + 2] = low, high
    np.testing.assert_array_equal(made.read_symbol("w"), words)
    np.testing.assert_array_equal(made.read_symbol("got").view(np.uint32), got)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (0 if width == 1 else 2)
    if lines:
        assert (
            "warning: this load reads 32-bit elements at byte address 6 on PE (1, 0), which is not a multiple of 4"
            in (lines[0])
        )
        assert "warning: this store writes 32-bit elements at byte address 2 on PE (1, 0)" in lines[1]


ACCESSES = {
    "load": "%a = memref.load %u[%i, %j] : memref<2x3x{type}>\nmemref.store %a, %o[] : memref<{type}>",
    "store": "memref.store %c, %u[%i, %j] : memref<2x3x{type}>",
}
OUTSIDE = """
    wse.buffer @before : memref<4x{type}> = dense<{before}>
    wse.buffer @u : memref<2x3x{type}> = dense<{inside}>
    wse.buffer @after : memref<4x{type}> = dense<{after}>
    wse.buffer @o : memref<{type}>
    wse.buffer @k : memref<2xi16>
    wse.export @before
    wse.export @u
    wse.export @after
    wse.export @o
    wse.export @k
    wse.export @main
    wse.func @main() {{
      %u = wse.get_buffer @u : memref<2x3x{type}>
      %o = wse.get_buffer @o : memref<{type}>
      %k = wse.get_buffer @k : memref<2xi16>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %iw = memref.load %k[%c0] : memref<2xi16>
      %jw = memref.load %k[%c1] : memref<2xi16>
      %i = arith.index_cast %iw : i16 to index
      %j = arith.index_cast %jw : i16 to index
      %c = arith.constant 99 : {type}
      {access}
      wse.return
    }}"""


def outside(type: str, access: str, width: int, height: int) -> Machine:
    numbers = {"before": [1, 2, 3, 4], "inside": [[11, 12, 13], [14, 15, 16]], "after": [21, 22, 23, 24]}
    body = OUTSIDE.format(type=type, access=ACCESSES[access].format(type=type), **numbers)
    return machine(body, width, height)


@pytest.mark.slow
@pytest.mark.one_in(3)
@GRIDS
@pytest.mark.parametrize("type", ["i8", "i16", "i32"])
@pytest.mark.parametrize("access", ["load", "store"])
def test_an_index_outside_an_array_reaches_the_memory_beside_it(
    type: str, access: str, width: int, height: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a walk does (DSD-171), with one warning for each place. One PE alone leaves the array."""
    size = int(type[1:]) // 8
    for (i, j), buffer, element in [((2, 0), "after", 0), ((0, -1), "before", 3), ((0, 7), "after", 1)]:
        made = outside(type, access, width, height)
        gap = {"after": -(-6 * size // 4) * 4 - 6 * size, "before": -(-4 * size // 4) * 4 - 4 * size}[buffer] // size
        j += gap if buffer == "after" else -gap
        where = np.zeros((height, width, 2), np.int16)
        where[-1, -1] = i, j
        for _ in range(2):
            made.write_symbol("k", where)
            launch(made)
        old = {"after": [21, 22, 23, 24], "before": [1, 2, 3, 4]}[buffer]
        expected = np.broadcast_to(np.array(old), (height, width, 4)).copy()
        if access == "store":
            expected[-1, -1, element] = 99
        else:
            assert made.read_symbol("o")[-1, -1] == old[element]
            assert width == 1 or made.read_symbol("o")[0, 0] == 11
        np.testing.assert_array_equal(made.read_symbol(buffer), expected)
        (line,) = capsys.readouterr().err.splitlines()
        position, number, extent = (0, i, 2) if i else (1, j, 3)
        text = f"index {number}{f' ({number + 65536} if it is unsigned)' if number < 0 else ''} of dimension {position}"
        place = f"on PE ({width - 1}, {height - 1})"
        assert f"warning: {text} is outside @u, which has {extent} elements there, {place}" in line


@GRIDS
@pytest.mark.parametrize("access", ["load", "store"])
@pytest.mark.parametrize("index", [-20, 9000])
@pytest.mark.usefixtures("memory_in_use")
def test_beyond_the_memory_in_use_is_an_error(index: int, access: str, width: int, height: int) -> None:
    made = outside("i16", access, width, height)
    where = np.zeros((height, width, 2), np.int16)
    where[-1, -1] = 0, index
    made.write_symbol("k", where)
    made.launch("main", [])
    place = rf"PE \({width - 1}, {height - 1}\)"
    with pytest.raises(LoomError, match=rf"of dimension 1 is outside @u, .* on {place}, and outside its memory in use"):
        made.run()


@GRIDS
@pytest.mark.parametrize(("index", "bad"), [(9000, False), (24_000, False), (24_600, True)])
def test_behind_the_last_buffer_is_memory_of_the_pe(
    index: int, bad: bool, width: int, height: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A PE has 24,576 words; what is stored in those that the program does not use can be loaded again."""
    made = outside("i16", "store", width, height)
    where = np.zeros((height, width, 2), np.int16)
    where[-1, -1] = 0, index
    made.write_symbol("k", where)
    made.launch("main", [])
    if bad:
        with pytest.raises(LoomError, match=r"of dimension 1 is outside @u, .* and outside its memory; check"):
            made.run()
        return
    made.run()
    assert f"index {index} of dimension 1 is outside @u" in capsys.readouterr().err
    first, used = made.buffer("before").places[0].address // 2, made.classes[0].words
    memory = made.read_region("before", 0, 0, width, height, made.target.memory_bytes // 2 - first)
    assert (memory[:, :, used - first :] == 99).sum() == 1


def test_arrays_of_more_than_a_word_begin_at_a_multiple_of_4_bytes() -> None:
    random = Random(5)
    sizes = [(random.choice(["i8", "i16"]), random.randrange(1, 6)) for _ in range(30)]
    body = "\n".join(
        f"wse.buffer @b{n} : memref<{count}x{type}>\nwse.export @b{n}" for n, (type, count) in enumerate(sizes)
    )
    made = machine(body)
    end = 0
    for n, (type, count) in enumerate(sizes):
        found = made.buffer(f"b{n}").places[0].address // 2
        words = -(-count * int(type[1:]) // 16)
        assert found == (end if words == 1 else end + end % 2)
        end = found + words
