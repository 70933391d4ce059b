"""Tile operations of vector kernels that are several functions of the engine, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from loomir.host import pto

ROWS, COLUMNS = 8, 16


def run(body: str, a: Any, b: Any, out: Any) -> Any:
    """Run a vector kernel on tiles %x and %y of `a` and `b`; return what %z is then."""
    names = {np.dtype(kind): name for kind, name in (
        (np.float32, "f32"), (np.float16, "f16"), (np.int32, "i32"), (np.int16, "i16"), (np.int8, "i8"),
        (np.uint32, "ui32"), (np.uint8, "ui8"),
    )}  # fmt: skip

    def tensor(name: str, array: Any) -> str:
        rows, columns = array.shape
        kind = names[array.dtype]
        return f"""
  %{name}m = arith.constant {rows} : index
  %{name}n = arith.constant {columns} : index
  %{name}v = pto.make_tensor_view %{name}, shape = [%{name}m, %{name}n], strides = [%{name}n, %one] :
    !pto.tensor_view<{rows}x{columns}x{kind}>
  %{name}p = pto.partition_view %{name}v, offsets = [%zero, %zero], sizes = [%{name}m, %{name}n] :
    !pto.tensor_view<{rows}x{columns}x{kind}> -> !pto.partition_tensor_view<{rows}x{columns}x{kind}>
  %{name}t = pto.alloc_tile : {tile(array)}"""

    def tile(array: Any) -> str:
        """A tile that has an array as its valid part: a column, or rows that fill blocks of 32 bytes."""
        rows, columns = array.shape
        if columns == 1:
            return f"!pto.tile_buf<vec, {rows}x1x{names[array.dtype]}, blayout=col_major>"
        block = 32 // array.itemsize
        return f"!pto.tile_buf<vec, {rows}x{-(-columns // block) * block}x{names[array.dtype]}, valid={rows}x{columns}>"

    def part(array: Any) -> str:
        return f"!pto.partition_tensor_view<{array.shape[0]}x{array.shape[1]}x{names[array.dtype]}>"

    for name, array in (("A", a), ("B", b), ("OUT", out)):
        body = body.replace(name, tile(array))
    loads = "".join(
        f"\n  pto.tload ins(%{name}p : {part(array)}) outs(%{name}t : {tile(array)})"
        for name, array in (("a", a), ("b", b), ("out", out))
    )
    body = body.replace("MEM", part(a))
    text = f"""
func.func @k(%a: !pto.ptr<{names[a.dtype]}>, %b: !pto.ptr<{names[b.dtype]}>, %out: !pto.ptr<{names[out.dtype]}>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index{tensor("a", a)}{tensor("b", b)}{tensor("out", out)}{loads}
  {body}
  pto.tstore ins(%outt : {tile(out)}) outs(%outp : {part(out)})
  return
}}
"""
    return pto.run(text, arch="ideal", arguments={"a": a, "b": b, "out": out.copy()}).arrays["out"]


A = np.random.default_rng(1).normal(size=(ROWS, COLUMNS)).astype(np.float32)
B = np.random.default_rng(2).normal(size=(ROWS, COLUMNS)).astype(np.float32)
COLUMN, ROW = B[:, :1].copy(), B[:1].copy()
WHOLE = np.zeros_like(A)
NUMBERS = np.arange(ROWS * COLUMNS, dtype=np.int32).reshape(ROWS, COLUMNS)
PLACES = np.random.default_rng(3).integers(0, ROWS * COLUMNS, (ROWS, COLUMNS)).astype(np.int32)
ONE = "%x = arith.constant 3.0 : f32\n"
SIGNED = (NUMBERS * 37 % 101 - 50).astype(np.int32)
DIVISORS = np.where(NUMBERS % 3 == 0, 7, np.where(NUMBERS % 3 == 1, -5, 3)).astype(np.int32)
TIES = np.round(A * 4).astype(np.float32)
SPECIAL = A.copy()
SPECIAL[0, :6] = [np.nan, np.inf, -np.inf, 0.0, -0.0, np.nan]
LONG = np.random.default_rng(5).permutation(2 * 72).reshape(2, 72).astype(np.float32) // 3
LONG_PLACES = np.arange(2 * 72, dtype=np.uint32).reshape(2, 72)[:, ::-1].copy()
LISTS = -np.sort(-np.random.default_rng(6).integers(0, 60, (8, 32)).astype(np.float32), axis=1)
"""Eight sorted lists."""


def floored(a: float, b: float) -> float:
    """Python's remainder has the sign of the divisor."""
    return a % b


def by_element(function: Callable[..., float], *operands: Any) -> Any:
    """Apply a function of numbers, element by element."""
    kind = operands[0].dtype
    columns = [
        operand.ravel().tolist() if operand.ndim else [operand.item()] * operands[0].size for operand in operands
    ]
    return np.array([function(*each) for each in zip(*columns, strict=True)], kind).reshape(operands[0].shape)


def packed(bits: Any, width: int) -> Any:
    """Pack the bits of each row into bytes, the first in the lowest bit; the rest of the row stays zero."""
    found = np.zeros((len(bits), width), np.uint8)
    for row, column in zip(*np.nonzero(bits), strict=True):
        found[row, column // 8] |= 1 << column % 8
    return found


def pairs(values: Any, places: Any) -> Any:
    """A row of pairs: a value as 4 bytes, and its index."""
    words = np.stack([values.view(np.uint32), places.astype(np.uint32)], axis=-1)
    return words.reshape(len(values), -1).view(np.float32)


def sorted_pairs(values: Any, places: Any) -> Any:
    """Groups of 32 sorted by value, the largest first, and by the smaller index."""
    rows: list[list[tuple[float, int]]] = []
    for row, index in zip(values.tolist(), places.tolist(), strict=True):
        both = list(zip(row, index, strict=True))
        rows.append([pair for first in range(0, len(both), 32)
                     for pair in sorted(both[first : first + 32], key=lambda each: (-each[0], each[1]))])  # fmt: skip
    return pairs(np.array([[value for value, _ in row] for row in rows], np.float32),
                 np.array([[index for _, index in row] for row in rows]))  # fmt: skip


def merged(lists: Any) -> Any:
    """The pairs of sorted lists, merged one after the other: of equal values those of the first list first."""
    both = [(value, number) for number, value in enumerate(np.concatenate(lists).tolist())]
    return sorted(both, key=lambda each: -each[0])


def merge_case(groups: int) -> Any:
    found = [merged(LISTS[first : first + 4]) for first in range(0, 4 * groups, 4)]
    flat = [(value, number + 128 * group) for group, each in enumerate(found) for value, number in each]
    return pairs(np.array([[v for v, _ in flat]], np.float32), np.array([[n for _, n in flat]]))


MERGED = pairs(LISTS.reshape(1, -1), np.arange(256).reshape(1, -1))
TABLE = np.random.default_rng(7).normal(size=(12, 16)).astype(np.float32)
ROWS_OF_TABLE = np.array([[3, 11, 0, 15, 7, 3, 200, 1]], np.int32)
ELEMENTS = np.random.default_rng(8).integers(0, 192, (8, 16)).astype(np.int32)


def table_rows(outside: str) -> Any:
    """The rows of the table at indices, as the mode for those outside says."""
    places = ROWS_OF_TABLE[0]
    match outside:
        case "clamp":
            return TABLE[np.minimum(places, 11)]
        case "wrap":
            return TABLE[places % 12]
        case _:
            return np.where((places < 12)[:, None], TABLE[np.minimum(places, 11)], 0).astype(np.float32)


def mgather(coalesce: str, outside: str) -> str:
    return (
        "pto.mgather ins(%ap, %bt : MEM, B) outs(%outt : OUT) "
        f"{{coalesce = #pto<coalesce {coalesce}>, gatherOob = #pto<gather_oob {outside}>}}"
    )


def two(name: str, attributes: str = "") -> str:
    return f"pto.{name} ins(%at, %bt{attributes} : A, B) outs(%outt : OUT)"


def one(name: str) -> str:
    return f"pto.{name} ins(%at : A) outs(%outt : OUT)"


def with_number(name: str, number: str) -> str:
    return f"%x = arith.constant {number}\npto.{name} ins(%at, %x : A, {number.split()[-1]}) outs(%outt : OUT)"


CASES: dict[str, tuple[str, Any, Any, Any, Callable[[], Any]]] = {
    "tabs": ("pto.tabs ins(%at : A) outs(%outt : OUT)", A, B, WHOLE, lambda: np.abs(A)),
    "trelu": ("pto.trelu ins(%at : A) outs(%outt : OUT)", A, B, WHOLE, lambda: np.maximum(A, 0)),
    "tmin": ("pto.tmin ins(%at, %bt : A, B) outs(%outt : OUT)", A, B, WHOLE, lambda: np.minimum(A, B)),
    "trsqrt": (
        "pto.trsqrt ins(%at : A) outs(%outt : OUT)", np.abs(A), B, WHOLE, lambda: 1 / np.sqrt(np.abs(A))
    ),
    "tdivs": (f"{ONE}pto.tdivs ins(%at, %x : A, f32) outs(%outt : OUT)", A, B, WHOLE, lambda: A / np.float32(3)),
    "number by tile": (
        f"{ONE}pto.tdivs ins(%x, %at : f32, A) outs(%outt : OUT)", A, B, WHOLE, lambda: np.float32(3) / A
    ),
    "trem": (two("trem"), A, B, WHOLE, lambda: by_element(floored, A, B)),
    "trem of integers": (two("trem"), SIGNED, DIVISORS, NUMBERS, lambda: by_element(floored, SIGNED, DIVISORS)),
    "trems": (with_number("trems", "-0.7 : f32"), A, B, WHOLE, lambda: by_element(floored, A, np.float32(-0.7))),
    "tfmod": (two("tfmod"), A, B, WHOLE, lambda: by_element(math.fmod, A, B)),
    "tfmods": (
        with_number("tfmods", "7 : i32"), SIGNED, B, NUMBERS, lambda: by_element(math.fmod, SIGNED, np.int32(7))
    ),
    "tpow": (two("tpow"), np.abs(A), B, WHOLE, lambda: by_element(math.pow, np.abs(A), B)),
    "tpows of integers": (
        with_number("tpows", "3 : i32"), SIGNED, B, NUMBERS, lambda: by_element(pow, SIGNED, np.int32(3))
    ),
    "tlrelu": (with_number("tlrelu", "0.1 : f32"), A, B, WHOLE, lambda: np.where(A > 0, A, A * np.float32(0.1))),
    "tprelu": (two("tprelu"), A, B, WHOLE, lambda: np.where(A > 0, A, A * B)),
    "tnot": (one("tnot"), SIGNED, B, NUMBERS, lambda: ~SIGNED),
    "tand": (two("tand"), SIGNED, PLACES, NUMBERS, lambda: SIGNED & PLACES),
    "tors": (with_number("tors", "6 : i32"), SIGNED, B, NUMBERS, lambda: SIGNED | 6),
    "txor": (two("txor"), SIGNED, PLACES, NUMBERS, lambda: SIGNED ^ PLACES),
    "tshl": (two("tshl"), SIGNED, NUMBERS % 7, NUMBERS, lambda: by_element(lambda a, b: a << b, SIGNED, NUMBERS % 7)),
    "tshrs": (with_number("tshrs", "2 : i32"), SIGNED, B, NUMBERS, lambda: by_element(lambda a: a >> 2, SIGNED)),
    "tshr by all bits": (with_number("tshrs", "32 : i32"), SIGNED, B, NUMBERS, lambda: np.where(SIGNED < 0, -1, 0)),
    "trowmin": (one("trowmin"), A, B, COLUMN, lambda: A.min(1, keepdims=True)),
    "trowprod": (one("trowprod"), A, B, COLUMN, lambda: A.astype(np.float64).prod(1, keepdims=True)),
    "trowargmax": (
        one("trowargmax"), TIES, B, NUMBERS[:, :1].copy(),
        lambda: np.array([[row.tolist().index(max(row.tolist()))] for row in TIES]),
    ),
    "trowargmin": (one("trowargmin"), TIES, B, NUMBERS[:, :1].copy(), lambda: TIES.argmin(1, keepdims=True)),
    "tcolmin": (one("tcolmin"), A, B, ROW, lambda: A.min(0, keepdims=True)),
    "tcolprod": (one("tcolprod"), A, B, ROW, lambda: A.astype(np.float64).prod(0, keepdims=True)),
    "tcolargmax": (one("tcolargmax"), TIES, B, NUMBERS[:1].copy(), lambda: TIES.argmax(0, keepdims=True)),
    "tcolargmin": (one("tcolargmin"), TIES, B, NUMBERS[:1].copy(), lambda: TIES.argmin(0, keepdims=True)),
    **{
        f"tcmp {mode}": (
            two("tcmp", f"{{cmpMode = #pto<cmp {mode}>}}"), SPECIAL, np.where(NUMBERS % 2 == 0, SPECIAL, B),
            np.zeros((ROWS, 32), np.uint8),
            lambda compare=compare: packed(compare(SPECIAL, np.where(NUMBERS % 2 == 0, SPECIAL, B)), 32),
        )
        for mode, compare in (("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
                              ("gt", np.greater), ("ge", np.greater_equal))
    },
    "tcmps": (
        "%x = arith.constant 0.5 : f32\npto.tcmps ins(%at, %x{cmpMode = #pto<cmp gt>} : A, f32) outs(%outt : OUT)",
        A[:, :12].copy(), B, np.zeros((ROWS, 32), np.uint8), lambda: packed(A[:, :12] > 0.5, 32),
    ),
    "tsel": (
        """%bits = pto.alloc_tile : !pto.tile_buf<vec, 8x32xui8>
  pto.tcmp ins(%at, %bt{cmpMode = #pto<cmp lt>} : A, B) outs(%bits : !pto.tile_buf<vec, 8x32xui8>)
  pto.tsel ins(%bits, %at, %bt : !pto.tile_buf<vec, 8x32xui8>, A, B) outs(%outt : OUT)""",
        A, B, WHOLE, lambda: np.minimum(A, B),
    ),
    "tsels": (
        """%x = arith.constant 0.0 : f32
  %bits = pto.alloc_tile : !pto.tile_buf<vec, 8x32xui8>
  pto.tcmps ins(%at, %x{cmpMode = #pto<cmp ge>} : A, f32) outs(%bits : !pto.tile_buf<vec, 8x32xui8>)
  %tmp = pto.alloc_tile : !pto.tile_buf<vec, 8x32xui8>
  pto.tsels ins(%bits, %at, %tmp, %x : !pto.tile_buf<vec, 8x32xui8>, A, !pto.tile_buf<vec, 8x32xui8>, f32)
    outs(%outt : OUT)""",
        A, B, WHOLE, lambda: np.maximum(A, 0),
    ),
    "tsort32": (two("tsort32"), LONG, LONG_PLACES, np.zeros((2, 144), np.float32),
                lambda: sorted_pairs(LONG, LONG_PLACES)),
    "tmrgsort in a row": (
        """%length = arith.constant 64 : i32
  pto.tmrgsort ins(%at, %length : A, i32) outs(%outt : OUT)""",
        MERGED, B, np.zeros((1, 512), np.float32), lambda: merge_case(2),
    ),
    "tmrgsort of tiles": (
        """%tmp = pto.alloc_tile : OUT
  %taken = arith.constant dense<0> : vector<4xi16>
  pto.tmrgsort ins(%at, %bt, %tmp {exhausted = false} : A, B, OUT) outs(%outt, %taken : OUT, vector<4xi16>)""",
        MERGED[:, :64].copy(), MERGED[:, 64:128].copy(), np.zeros((1, 128), np.float32),
        lambda: pairs(np.array([[v for v, _ in merged(LISTS[:2])]], np.float32),
                      np.array([[n for _, n in merged(LISTS[:2])]])),
    ),
    "tscatter": (
        two("tscatter"), A, np.random.default_rng(9).permutation(128).reshape(8, 16).astype(np.int32), WHOLE,
        lambda: A.ravel()[np.argsort(np.random.default_rng(9).permutation(128))].reshape(8, 16),
    ),
    **{
        f"mgather of rows, {outside}": (
            mgather("row", outside), TABLE, ROWS_OF_TABLE, WHOLE, lambda outside=outside: table_rows(outside)
        )
        for outside in ("clamp", "wrap", "zero")
    },
    "mgather of elements": (mgather("elem", "undefined"), TABLE, ELEMENTS, WHOLE, lambda: TABLE.ravel()[ELEMENTS]),
    "tquant": (
        "pto.tquant ins(%at, %bt : A, B) outs(%outt : OUT) {quant_type = #pto<quant_type INT8_SYM>}",
        A * 20, COLUMN * 9, np.zeros((ROWS, COLUMNS), np.int8),
        lambda: np.clip(np.rint((A * 20) * (COLUMN * 9)), -128, 127),
    ),
    "taddc": ("pto.taddc ins(%at, %bt, %outt : A, B, OUT) outs(%outt : OUT)", A, B, A, lambda: A + B + A),
    "tsubsc": (f"{ONE}pto.tsubsc ins(%at, %x, %bt : A, f32, B) outs(%outt : OUT)", A, B, WHOLE, lambda: A - 3 + B),
    "tpartmax": (
        """%part = pto.subview %bt[%zero, %zero] sizes [8, 16] valid [%three, %five] :
    B -> !pto.tile_buf<vec, 8x16xf32, valid=3x5>
  pto.tpartmax ins(%at, %part : A, !pto.tile_buf<vec, 8x16xf32, valid=3x5>) outs(%outt : OUT)""".replace(
            "%part = ", "%three = arith.constant 3 : index\n  %five = arith.constant 5 : index\n  %part = ", 1
        ), A, B, WHOLE, lambda: np.maximum(A, np.pad(B[:3, :5], ((0, 5), (0, 11)), constant_values=-9)),
    ),
    "ttrans": ("pto.ttrans ins(%at : A) outs(%outt : OUT)", A, B, np.zeros((COLUMNS, ROWS), np.float32), lambda: A.T),
    "tcolsum": (
        "pto.tcolsum ins(%at : A) outs(%outt : OUT)", A, B, ROW, lambda: A.astype(np.float64).sum(0, keepdims=True)
    ),
    "tcolmax": ("pto.tcolmax ins(%at : A) outs(%outt : OUT)", A, B, ROW, lambda: A.max(0, keepdims=True)),
    "trowexpandadd": (
        "pto.trowexpandadd ins(%at, %bt : A, B) outs(%outt : OUT)", A, ROW.reshape(-1, 1)[:ROWS], WHOLE,
        lambda: A + ROW.reshape(-1, 1)[:ROWS],
    ),
    "tcolexpandexpdif": (
        "pto.tcolexpandexpdif ins(%at, %bt : A, B) outs(%outt : OUT)", A, ROW, WHOLE, lambda: np.exp(A - ROW)
    ),
    "tci": (
        "%i = arith.constant 5 : i32\npto.tci ins(%i : i32) outs(%outt : OUT) {descending = true}",
        A, B, NUMBERS, lambda: 5 - NUMBERS,
    ),
    "tci of a number without a sign": (
        """%i = arith.constant 5 : i32
  %u = builtin.unrealized_conversion_cast %i : i32 to ui32
  pto.tci ins(%u : ui32) outs(%outt : OUT)""",
        A, B, NUMBERS.astype(np.uint32), lambda: 5 + NUMBERS,
    ),
    "tgather": (
        "pto.tgather ins(%at, %bt : A, B) outs(%outt : OUT)", A, PLACES, WHOLE, lambda: A.reshape(-1)[PLACES]
    ),
    "tgather of a pattern": (
        'pto.tgather ins(%at, {maskPattern = #pto.mask_pattern<P0010>} : A, "row") outs(%outt : OUT)',
        TABLE.reshape(6, 32), B, np.zeros((6, 8), np.float32), lambda: TABLE.reshape(6, 32)[:, 1::4],
    ),
    "tsetval and tgetval": (
        """%from = arith.constant 19 : index
  %v = pto.tgetval ins(%at, %from : A, index) outs : f32
  pto.tsetval ins(%one, %v : index, f32) outs(%outt : OUT)""",
        A, B, WHOLE, lambda: np.where(NUMBERS == 1, A[1, 3], np.float32(0)),
    ),
    "tinsert": (
        """%four = arith.constant 4 : index
  pto.tinsert ins(%at, %one, %four : A, index, index) outs(%outt : OUT)""",
        A[:2, :8].copy(), B, WHOLE, lambda: np.pad(A[:2, :8], ((1, ROWS - 3), (4, COLUMNS - 12))),
    ),
    "arrays of the scalar unit": (
        """%array = pto.declare_local_array -> !pto.local_array<2x4xf32>
  pto.local_array_set %array[%one, %one], %seven : !pto.local_array<2x4xf32>, f32
  %v = pto.local_array_get %array[%one, %one] : !pto.local_array<2x4xf32> -> f32
  pto.texpands ins(%v : f32) outs(%outt : OUT)""".replace("%seven", "%x").replace("%array = ", f"{ONE}%array = "),
        A, B, WHOLE, lambda: np.full_like(A, 3),
    ),
    "flags and fences": (
        """pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.fence.barrier_all #pto.fence_scope<gm>
  pto.cmo.cacheinvalid %ap single_cache_line : !pto.partition_tensor_view<8x16xf32>
  pto.tadd ins(%at, %bt : A, B) outs(%outt : OUT)""",
        A, B, WHOLE, lambda: A + B,
    ),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CASES)
def test_operations_against_numpy(name: str) -> None:
    body, a, b, out, wanted = CASES[name]
    found = run(body, a, b, out)
    np.testing.assert_allclose(found, wanted(), rtol=2e-6, atol=2e-6)


def test_indices_outside_are_errors() -> None:
    """What the documents leave open is an error that says where."""
    places = PLACES.copy()
    places[0, 0] = ROWS * COLUMNS
    with pytest.raises(Exception, match=r"index 128 of pto\.tgather is not one of 0 to 127, the elements"):
        run(CASES["tgather"][0], A, places, WHOLE)
    rows = np.minimum(ROWS_OF_TABLE, len(TABLE) - 1)
    rows[0, -1] = last = len(TABLE) + 3
    message = rf"every row of pto\.mgather is in its tensor \(one of them is {last}, not 0 to {len(TABLE) - 1}\)"
    with pytest.raises(Exception, match=message):
        run(mgather("row", "undefined"), TABLE, rows, WHOLE)
