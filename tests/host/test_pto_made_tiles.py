"""Tiles made of numbers, by indices, by lengths and of sorted lists, with few valid elements, against numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host import pto
from loomir.runtime.executors import EXECUTOR

NAMES = {np.dtype(kind): name for kind, name in (
    (np.float32, "f32"), (np.float16, "f16"), (np.int32, "i32"), (np.int16, "i16"), (np.int8, "i8"),
    (np.uint32, "ui32"), (np.uint16, "ui16"), (np.uint8, "ui8"),
)}  # fmt: skip
CHANCE = np.random.default_rng(20)
EXECUTORS = ("reference", "core")


def kernel(body: str, arrays: Mapping[str, Any], whole: Mapping[str, tuple[int, int]], stored: tuple[str, ...]) -> str:
    """Return a vector kernel with a tile %NAMEt for each array, whose valid part is loaded, and some of them stored.

    In the body NAME:t is the type of the tile, NAME:p that of the tensor %NAMEp.
    """
    lines: list[str] = []
    for name, array in arrays.items():
        (rows, columns), kind = array.shape, NAMES[array.dtype]
        # Rows are whole blocks of 32 bytes; a tile of one column may have them in it.
        height, width = whole.get(name, (rows, columns + -columns % (32 // array.itemsize)))
        layout = ", blayout=col_major" if width == 1 else ""
        tile = f"!pto.tile_buf<vec, {height}x{width}x{kind}, valid={rows}x{columns}{layout}>"
        tensor, part = (f"!pto.{word}<{rows}x{columns}x{kind}>" for word in ("tensor_view", "partition_tensor_view"))
        body = body.replace(f"{name}:t", tile).replace(f"{name}:p", part)
        lines.append(
            f"""%{name}m = arith.constant {rows} : index
            %{name}n = arith.constant {columns} : index
            %{name}v = pto.make_tensor_view %{name}, shape = [%{name}m, %{name}n], strides = [%{name}n, %one] : {tensor}
            %{name}p = pto.partition_view %{name}v, offsets = [%zero, %zero], sizes = [%{name}m, %{name}n] :
              {tensor} -> {part}
            %{name}t = pto.alloc_tile : {tile}
            pto.tload ins(%{name}p : {part}) outs(%{name}t : {tile})"""
        )
        if name in stored:
            body += f"\npto.tstore ins(%{name}t : {tile}) outs(%{name}p : {part})"
    arguments = ", ".join(f"%{name}: !pto.ptr<{NAMES[array.dtype]}>" for name, array in arrays.items())
    return f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      {chr(10).join(lines)}
      {body}
      return
    }}
    }}"""


def run(
    monkeypatch: pytest.MonkeyPatch, body: str, arrays: Mapping[str, Any],
    whole: Mapping[str, tuple[int, int]] | None = None, stored: tuple[str, ...] = ("out",),
) -> Mapping[str, Any]:  # fmt: skip
    """Run a kernel on both executors, which must agree to the bit; return what the arrays are then."""
    text = kernel(body, arrays, whole or {}, stored)
    found: list[Mapping[str, Any]] = []
    for executor in EXECUTORS:
        monkeypatch.setenv(EXECUTOR, executor)
        copies = {name: array.copy() for name, array in arrays.items()}
        found.append(pto.run(text, arch="ideal", arguments=copies).arrays)
    for name in arrays:
        assert np.array_equal(*(each[name].view(np.uint8) for each in found)), name
    return found[1]


# Triangles


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("diagonal", "kind"), ((0, np.float32), (3, np.int16), (-2, np.uint32), (40, np.float16), (-40, np.int32))
)
@pytest.mark.parametrize("upper", (0, 1))
def test_triangles(monkeypatch: pytest.MonkeyPatch, diagonal: int, upper: int, kind: type[Any]) -> None:
    out = np.full((5, 11), 7, kind)
    body = f"""%d = arith.constant {diagonal} : i32
    pto.ttri ins(%d {{upperOrLower = {upper} : i32}} : i32) outs(%outt : out:t)"""
    found = run(monkeypatch, body, {"out": out}, {"out": (8, 16)})["out"]
    ones = np.ones_like(out)
    assert np.array_equal(found, np.triu(ones, diagonal) if upper else np.tril(ones, diagonal))


# Random numbers


def philox(counter: int, key: list[int], rounds: int) -> list[int]:
    """Return the four words that a counter of 128 bits is encrypted to."""
    c, k, low = [counter >> shift & 0xFFFF_FFFF for shift in (0, 32, 64, 96)], list(key), 0xFFFF_FFFF
    for _ in range(rounds):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k[0], b & low, a >> 32 ^ c[3] ^ k[1], a & low]
        k = [k[0] + 0x9E3779B9 & low, k[1] + 0xBB67AE85 & low]
    return c


def test_philox_of_the_paper() -> None:
    """The oracle gives the words that the authors of Philox publish for ten rounds."""
    assert philox(0, [0, 0], 10) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox((1 << 128) - 1, [0xFFFF_FFFF] * 2, 10) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(("shape", "step"), (((3, 256), 64), ((2, 300), 64 + 44), ((3, 21), 21)))
@pytest.mark.parametrize(
    ("rounds", "words"), ((7, (5, 0, 0, 9)), (10, (0xFFFF_FFF0, 0xFFFF_FFFF, 0xFFFF_FFFF, 0x8000_0000)))
)
def test_random_numbers(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], step: int, rounds: int, words: tuple[int, ...]
) -> None:
    keys = [324508639, 0xF000_0001]
    signed = [number - (1 << 32) if number >> 31 else number for number in (*keys, *words)]
    body = "\n".join(f"%w{place} = arith.constant {number} : i32" for place, number in enumerate(signed))
    body += f"""
    pto.trandom ins(%w0, %w1, %w2, %w3, %w4, %w5 {{rounds = {rounds} : i32}} : i32, i32, i32, i32, i32, i32)
      outs(%outt : out:t)"""
    out = np.zeros(shape, np.uint32)
    found = run(monkeypatch, body, {"out": out})["out"]
    first = sum(word << 32 * place for place, word in enumerate(words))
    for row in range(shape[0]):
        blocks = [philox(first + row * step + block & (1 << 128) - 1, keys, rounds) for block in range(shape[1])]
        assert found[row].tolist() == [word for block in blocks for word in block][: shape[1]]


# The larger of two, and its index


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ("tpartargmax", "tpartargmin"))
@pytest.mark.parametrize("into", ("out", "a", "b"))
def test_larger_and_its_index(monkeypatch: pytest.MonkeyPatch, name: str, into: str) -> None:
    """Of equal ones, and of those that do not compare, the second; where one has no element, the other is copied."""
    a = CHANCE.integers(0, 3, (6, 13)).astype(np.float32)
    b = CHANCE.integers(0, 3, (6, 5) if into != "b" else (6, 13)).astype(np.float32)
    a[0, 0] = b[1, 1] = np.nan
    ai, bi = (CHANCE.integers(0, 1 << 32, each.shape).astype(np.uint32) for each in (a, b))
    arrays = {"a": a, "b": b, "c": ai, "d": bi, "out": np.zeros_like(a), "index": np.zeros_like(ai)}
    places = {"out": "index", "a": "c", "b": "d"}[into]
    body = f"""pto.{name} ins(%at, %bt, %ct, %dt : a:t, b:t, c:t, d:t)
      outs(%{into}t, %{places}t : {into}:t, {places}:t)"""
    whole = dict.fromkeys(arrays, (8, 16))
    found = run(monkeypatch, body, arrays, whole, (into, places))
    wanted, index = a.copy(), ai.copy()
    for row, column in np.ndindex(b.shape):
        x, y = a[row, column], b[row, column]
        if not (x > y if name == "tpartargmax" else x < y):
            wanted[row, column], index[row, column] = y, bi[row, column]
    np.testing.assert_array_equal(found[into], wanted)
    np.testing.assert_array_equal(found[places], index)


# Blocks of 32 bytes


@pytest.mark.parametrize("kind", (np.float32, np.int16, np.uint8))
def test_blocks_at_offsets(monkeypatch: pytest.MonkeyPatch, kind: type[Any]) -> None:
    each = 32 // np.dtype(kind).itemsize
    a = CHANCE.integers(0, 200, (4, 64)).astype(kind)
    offsets = CHANCE.integers(0, a.nbytes // 32, (3, 2)).astype(np.uint32) * 32
    out = np.zeros((3, 2 * each), kind)
    body = "pto.tgatherb ins(%at, %bt : a:t, b:t) outs(%outt : out:t)"
    found = run(monkeypatch, body, {"a": a, "b": offsets, "out": out}, {"b": (3, 8), "out": (4, 4 * each)})["out"]
    raw = a.tobytes()
    wanted = [b"".join(raw[offset : offset + 32] for offset in row) for row in offsets.tolist()]
    assert [row.tobytes() for row in found] == wanted


# Lengths


@pytest.mark.parametrize("kind", (np.int32, np.uint8))
def test_rows_side_by_side_by_lengths(monkeypatch: pytest.MonkeyPatch, kind: type[Any]) -> None:
    """What does not fit is left out; the rest of a row stays."""
    size = np.dtype(kind).itemsize
    a, b = (CHANCE.normal(size=(6, width)).astype(np.float32) for width in (9, 7))
    first, second = np.array([[3, 9, 0, 5, 9, 0]], kind).T * size, np.array([[4, 7, 7, 0, 2, 0]], kind).T * size
    out = CHANCE.normal(size=(6, 12)).astype(np.float32)
    arrays = {"a": a, "b": b, "c": first, "d": second, "out": out}
    body = "pto.tconcatidx ins(%at, %bt, %ct, %dt : a:t, b:t, c:t, d:t) outs(%outt : out:t)"
    whole = {"a": (6, 16), "b": (6, 8), "c": (6, 32 // size), "d": (6, 32 // size), "out": (8, 16)}
    found = run(monkeypatch, body, arrays, whole)["out"]
    for row in range(6):
        both = [*a[row, : first[row, 0] // size], *b[row, : second[row, 0] // size]][:12]
        assert found[row].tolist() == [*both, *out[row, len(both) :]]


# Histograms


def histogram_case(kind: type[Any], byte: int) -> tuple[Any, Any]:
    """Return numbers with few different upper bytes, and the bytes that are counted if those above are these."""
    numbers = sum(CHANCE.integers(0, 3 if shift > 8 * byte else 256, (5, 40)) << shift for shift in range(0, 32, 8))
    numbers = np.asarray(numbers).astype(kind)
    if kind is np.uint16:
        return numbers, CHANCE.integers(0, 3, (5, 1)).astype(np.uint8)
    return numbers, np.repeat(CHANCE.integers(0, 3, (max(3 - byte, 1), 1)), 40, axis=1).astype(np.uint8)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("kind", "byte"), ((np.uint16, 0), (np.uint16, 1), (np.uint32, 0), (np.uint32, 1), (np.uint32, 2), (np.uint32, 3))
)
def test_counted_bytes(monkeypatch: pytest.MonkeyPatch, kind: type[Any], byte: int) -> None:
    numbers, above = histogram_case(kind, byte)
    out = np.full((5, 256), 77, np.uint32)
    body = f"pto.thistogram ins(%at, %bt : a:t, b:t) outs(%outt : out:t) {{byte = {byte} : i32}}"
    size = np.dtype(kind).itemsize
    whole = {"a": (32, 64), "out": (32, 256), "b": (32, 1) if size == 2 else (len(above), 64)}
    found = run(monkeypatch, body, {"a": numbers, "b": above, "out": out}, whole)["out"]
    for row in range(5):
        counts = [0] * 256
        for number in numbers[row].tolist():
            parts = number.to_bytes(size, "little")
            uppers = [above[row, 0]] if size == 2 else [above[place, 0] for place in range(3 - byte)]
            if list(parts[byte + 1 :][::-1]) == (uppers if byte < size - 1 else []):
                counts[parts[byte]] += 1
        assert found[row].tolist() == np.cumsum(counts).tolist()


# Scatters to memory


TABLE = CHANCE.normal(size=(9, 8)).astype(np.float32)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("atomic", "kind"),
    (("none", np.float32), ("add", np.float32), ("add", np.int32), ("max", np.float32), ("min", np.int32)),
)
@pytest.mark.parametrize("coalesce", ("elem", "row"))
def test_scatters_that_skip_and_combine(
    monkeypatch: pytest.MonkeyPatch, atomic: str, coalesce: str, kind: type[Any]
) -> None:
    """One after the other; an index outside, a negative one too, writes nothing."""
    table, source = (TABLE * 50).astype(kind), (CHANCE.normal(size=(6, 8)) * 50).astype(kind)
    count = table.size if coalesce == "elem" else len(table)
    indices = CHANCE.integers(0, count + 3, (6, 8) if coalesce == "elem" else (1, 6)).astype(np.int32)
    indices[0, :3] = [-1, 2, 2]
    body = f"""pto.mscatter ins(%at, %bt : a:t, b:t) outs(%outp : out:p)
      {{coalesce = #pto<coalesce {coalesce}>, scatterAtomicOp = #pto<scatter_atomic_op {atomic}>,
        scatterOob = #pto<scatter_oob skip>}}"""
    found = run(monkeypatch, body, {"a": source, "b": indices, "out": table}, {"b": (len(indices), 8)}, ())["out"]
    combine: Callable[[Any, Any], Any] = {
        "none": lambda a, b: b, "add": lambda a, b: a + b, "max": max, "min": min
    }[atomic]  # fmt: skip
    wanted = table.copy()
    for place, index in enumerate(indices.ravel().tolist()):
        if not 0 <= index < count:
            continue
        if coalesce == "elem":
            wanted.flat[index] = combine(wanted.flat[index], source.flat[place])
        else:
            wanted[index] = [combine(*pair) for pair in zip(wanted[index], source[place], strict=True)]
    np.testing.assert_array_equal(found, wanted)


# Merging until a list is exhausted


def pairs(values: Any, first: int) -> Any:
    """A row of pairs of a value and an index."""
    words = np.stack([values.view(np.uint32), np.arange(first, first + len(values), dtype=np.uint32)], axis=-1)
    return words.reshape(1, -1).view(np.float32)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("lengths", ((8, 12), (16, 4, 8), (4, 8, 12, 16)))
@pytest.mark.parametrize("seed", range(2))
def test_merging_stops_where_a_list_ends(monkeypatch: pytest.MonkeyPatch, lengths: tuple[int, ...], seed: int) -> None:
    chance = np.random.default_rng(seed)
    lists = [-np.sort(-chance.integers(0, 12, length)).astype(np.float32) for length in lengths]
    arrays = {f"l{place}": pairs(each, 100 * place) for place, each in enumerate(lists)}
    total = sum(lengths)
    arrays["out"] = np.full((1, 2 * total), 3, np.float32)
    names = ", ".join(f"%l{place}t" for place in range(len(lists)))
    types = ", ".join(f"l{place}:t" for place in range(len(lists)))
    body = f"""%tmp = pto.alloc_tile : out:t
      %taken = arith.constant dense<0> : vector<4xi16>
      pto.tmrgsort ins({names}, %tmp {{exhausted = true}} : {types}, out:t)
        outs(%outt, %taken : out:t, vector<4xi16>)"""
    found = run(monkeypatch, body, arrays)["out"]
    left, merged = [list(enumerate(each.tolist())) for each in lists], []
    while all(left):
        best = max(range(len(left)), key=lambda place: (left[place][0][1], -place))
        number, value = left[best].pop(0)
        merged.append((value, 100 * best + number))
    words = found.view(np.uint32).ravel()[1::2].tolist()
    assert found.ravel()[::2].tolist()[: len(merged)] == [value for value, _ in merged]
    assert words[: len(merged)] == [number for _, number in merged]
    assert (found.ravel()[2 * len(merged) :] == 3).all()


@pytest.mark.parametrize("exhausted", ("false", "true"))
def test_merging_writes_the_valid_part_only(monkeypatch: pytest.MonkeyPatch, exhausted: str) -> None:
    """A result with fewer pairs than the lists together gets the largest ones."""
    lists = [np.arange(first, first - 12, -1).astype(np.float32) for first in (30, 29)]
    arrays = {f"l{place}": pairs(each, 100 * place) for place, each in enumerate(lists)}
    arrays["out"] = np.zeros((1, 16), np.float32)
    body = f"""%tmp = pto.alloc_tile : !pto.tile_buf<vec, 1x48xf32>
      %taken = arith.constant dense<0> : vector<4xi16>
      pto.tmrgsort ins(%l0t, %l1t, %tmp {{exhausted = {exhausted}}} : l0:t, l1:t, !pto.tile_buf<vec, 1x48xf32>)
        outs(%outt, %taken : out:t, vector<4xi16>)"""
    found = run(monkeypatch, body, arrays)["out"]
    assert found.ravel()[::2].tolist() == [30, 29, 29, 28, 28, 27, 27, 26]


LENGTH = """%first = pto.tgetval ins(%nt, %zero : n:t, index) outs : i32
  pto.tmrgsort ins(%at, %first : a:t, i32) outs(%outt : out:t)"""


def test_lists_of_a_length_known_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four lists at a time; what is left of a row stays."""
    values = np.concatenate([-np.sort(-CHANCE.integers(0, 99, 8)) for _ in range(9)]).astype(np.float32)
    arrays = {"a": pairs(values, 0), "n": np.full((1, 8), 16, np.int32), "out": np.full((1, 144), 5, np.float32)}
    found = run(monkeypatch, LENGTH, arrays)["out"].ravel()[::2]
    wanted = [-np.sort(-values[first : first + 32]) for first in (0, 32)]
    assert found.tolist() == [*np.concatenate(wanted), *[5] * 8]


@pytest.mark.parametrize(
    ("length", "message"), ((0, "has a pair at least"), (17, "whole pairs of 2"), (146, "no more"))
)
def test_wrong_lengths_of_lists(monkeypatch: pytest.MonkeyPatch, length: int, message: str) -> None:
    arrays = {"a": pairs(np.zeros(72, np.float32), 0), "n": np.full((1, 8), length, np.int32)}
    with pytest.raises(LoomError, match=message):
        run(monkeypatch, LENGTH, {**arrays, "out": np.zeros((1, 144), np.float32)})


# Blocks that share a scale


@pytest.mark.parametrize(("axis", "flat"), ((1, False), (1, True), (0, False)))
def test_quantized_blocks(monkeypatch: pytest.MonkeyPatch, axis: int, flat: bool) -> None:
    shape = (32, 96) if axis == 0 else (2, 1024)
    a = (CHANCE.normal(size=shape) * np.exp2(CHANCE.integers(-20, 20, shape))).astype(np.float32)
    a[0, :32] = 0
    a[: 32 if axis == 0 else 1, 40] = 3e38
    groups = (1, 96) if axis == 0 else (2, 32)
    outs = (1, 64) if flat else groups
    arrays = {"a": a, "out": np.zeros(shape, np.uint8), "e": np.zeros(outs, np.uint8),
              "m": np.zeros(outs, np.float32), "s": np.zeros(outs, np.float32)}  # fmt: skip
    body = f"""pto.tquant.mx ins(%at : a:t) outs(%outt, %et, %mt, %st : out:t, e:t, m:t, s:t)
      {{quant_type = #pto<quant_type MXFP8>, grpAxis = #pto<mx_group_axis axis{axis}>}}"""
    found = run(monkeypatch, body, arrays, {"s": (1, 128)} if flat else None, ("out", "e", "m", "s"))
    blocks = a.reshape(1, 32, 96).transpose(0, 2, 1) if axis == 0 else a.reshape(2, 32, 32)
    largest = np.abs(blocks).max(-1)
    exponents = np.maximum(np.where(largest > 0, np.floor(np.log2(np.maximum(largest, 1e-38))) + 127, 0) - 8, 0)
    scaling = np.ldexp(1.0, (127 - exponents).astype(int))
    scaled = np.clip(blocks * scaling[..., None].astype(np.float32), -448, 448)
    codes = scaled.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    wanted = codes.transpose(0, 2, 1).reshape(shape) if axis == 0 else codes.reshape(shape)
    np.testing.assert_array_equal(found["out"], wanted)
    np.testing.assert_array_equal(found["e"].reshape(groups), exponents)
    np.testing.assert_array_equal(found["m"].reshape(groups), largest)
    np.testing.assert_array_equal(found["s"].reshape(groups), scaling.astype(np.float32))


QUANTIZED = """pto.tquant.mx ins(%at : a:t) outs(%outt, %et, %mt, %st : out:t, e:t, m:t, s:t)
  {quant_type = #pto<quant_type MXFP8>, grpAxis = #pto<mx_group_axis axis0>"""


def quantized_arrays() -> dict[str, Any]:
    of_blocks = {"e": np.uint8, "m": np.float32, "s": np.float32}
    arrays: dict[str, Any] = {"a": np.ones((32, 32), np.float32), "out": np.zeros((32, 32), np.uint8)}
    return arrays | {name: np.zeros((1, 32), kind) for name, kind in of_blocks.items()}


def test_blocks_with_an_element_that_is_not_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = quantized_arrays()
    arrays["a"][5, 7] = np.nan
    found = run(monkeypatch, QUANTIZED + "}", arrays, None, ("out", "e", "s"))
    is_none = np.arange(32) == 7
    assert np.array_equal(found["e"][0], np.where(is_none, 255, 119))
    assert np.array_equal(np.isnan(found["s"][0]), is_none)
    assert (found["out"][:, is_none] & 0x7F == 0x7F).all() and (found["out"][:, ~is_none] == 0x78).all()


# Places of what compares


@pytest.mark.parametrize(("mode", "kind"), (("eq", np.int32), ("gt", np.float32), ("gt", np.float16), ("eq", np.int16)))
def test_places_of_what_compares(monkeypatch: pytest.MonkeyPatch, mode: str, kind: type[Any]) -> None:
    """Places count the elements of the whole tile, here of 32 columns, from the offset on; the rest of a row stays."""
    a = CHANCE.integers(0, 4, (5, 21)).astype(kind)
    a[1], a[2] = 0, 2
    a[3, :4] = np.nan if kind == np.float32 else 3
    out, counts = np.full((5, 13), -7, np.int32), np.zeros((1, 5), np.int32)
    name = NAMES[a.dtype]
    number = "2.0" if name[0] == "f" else "2"
    body = f"""%k = arith.constant {number} : {name}
    %tmp = pto.alloc_tile : !pto.tile_buf<vec, 8x1024xi8>
    pto.tgather ins(%at, %k, %tmp : a:t, {name}, !pto.tile_buf<vec, 8x1024xi8>) outs(%outt, %nt : out:t, n:t)
      {{cmpMode = #pto<cmp {mode}>, offset = 100 : i32}}"""
    found = run(monkeypatch, body, {"a": a, "out": out, "n": counts}, {"a": (8, 32), "out": (8, 16)}, ("out", "n"))
    holds = a == 2 if mode == "eq" else a > 2
    for row in range(5):
        places = np.flatnonzero(holds[row]) + 32 * row + 100
        assert found["n"][0, row] == len(places)
        wanted = np.concatenate([places, np.full(13, -7)])[:13] if len(places) < 13 else places[:13]
        assert np.array_equal(found["out"][row], wanted)


# Mistakes


@pytest.mark.parametrize(
    ("body", "arrays", "message"),
    (
        ("pto.tgatherb ins(%at, %bt : a:t, b:t) outs(%outt : out:t)",
         {"a": TABLE, "b": np.array([[0], [32], [300], [0]], np.uint32), "out": TABLE[:4]},
         r"index 300 of pto\.tgatherb is not one of 0 to 287"),
        ("pto.tgatherb ins(%at, %bt : a:t, b:t) outs(%outt : out:t)",
         {"a": TABLE, "b": np.zeros((4, 1), np.uint32), "out": TABLE[:4, :6]},
         "gathers rows of 24 bytes in blocks of 32"),
        ("pto.tconcatidx ins(%at, %bt, %ct, %dt : a:t, b:t, c:t, d:t) outs(%outt : out:t)",
         {"a": TABLE, "b": TABLE, "c": np.full((9, 1), 36, np.int32), "d": np.full((9, 1), 4, np.int32),
          "out": np.zeros((9, 16), np.float32)},
         r"no length in src0Idx of pto\.tconcatidx is above the valid columns of src0"),
        ("pto.tconcatidx ins(%at, %bt, %ct, %dt : a:t, b:t, c:t, d:t) outs(%outt : out:t)",
         {"a": TABLE, "b": TABLE, "c": np.full((9, 1), 4, np.int32), "d": np.full((9, 1), -4, np.int32),
          "out": np.zeros((9, 16), np.float32)},
         r"no length in src1Idx of pto\.tconcatidx is above the valid columns of src1"),
    ),
)  # fmt: skip
def test_mistakes(monkeypatch: pytest.MonkeyPatch, body: str, arrays: Mapping[str, Any], message: str) -> None:
    with pytest.raises(LoomError, match=message):
        run(monkeypatch, body, arrays)
