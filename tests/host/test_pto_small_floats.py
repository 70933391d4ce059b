"""Floats of 4 bits, two in a byte: moves, conversions, scaled products, and quantization in blocks, against numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host import pto
from loomir.runtime.executors import EXECUTOR

BF16 = ml_dtypes.bfloat16
NAMES = {np.dtype(kind): name for kind, name in (
    (np.float32, "f32"), (np.float16, "f16"), (BF16, "bf16"), (np.uint8, "ui8"), (np.int8, "i8"),
)}  # fmt: skip
E2M1, E1M2 = "!pto.f4E2M1x2", "!pto.f4E1M2x2"
MAGNITUDES = {E2M1: [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], E1M2: [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]}
CHANCE = np.random.default_rng(44)


class Tile:
    """A vector tile %NAMEt with an array as its valid part: loaded, or stored at the end."""

    def __init__(self, array: Any, element: str = "", whole: tuple[int, int] | None = None, more: str = "") -> None:
        self.array, self.element = array, element or NAMES[array.dtype]
        rows, columns = array.shape
        height, width = whole or (rows, columns + -columns % (32 // array.itemsize))
        self.type = f"!pto.tile_buf<vec, {height}x{width}x{self.element}, valid={rows}x{columns}{more}>"


def run(
    monkeypatch: pytest.MonkeyPatch, body: str, tiles: Mapping[str, Tile], stored: tuple[str, ...] = ("out",)
) -> Mapping[str, Any]:
    """Run a vector kernel of a5 on both executors, which must agree to the bit; NAME:t is the type of a tile."""
    lines: list[str] = []
    for name, tile in tiles.items():
        (rows, columns), element = tile.array.shape, tile.element
        tensor, part = (f"!pto.{word}<{rows}x{columns}x{element}>" for word in ("tensor_view", "partition_tensor_view"))
        body = body.replace(f"{name}:t", tile.type)
        lines.append(
            f"""%{name}m = arith.constant {rows} : index
            %{name}n = arith.constant {columns} : index
            %{name}v = pto.make_tensor_view %{name}, shape = [%{name}m, %{name}n], strides = [%{name}n, %one] : {tensor}
            %{name}p = pto.partition_view %{name}v, offsets = [%zero, %zero], sizes = [%{name}m, %{name}n] :
              {tensor} -> {part}
            %{name}t = pto.alloc_tile : {tile.type}"""
        )
        if "slayout" not in tile.type:
            lines.append(f"pto.tload ins(%{name}p : {part}) outs(%{name}t : {tile.type})")
        if name in stored:
            body += f"\npto.tstore ins(%{name}t : {tile.type}) outs(%{name}p : {part})"
    arguments = ", ".join(f"%{name}: !pto.ptr<{tile.element}>" for name, tile in tiles.items())
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      {chr(10).join(lines)}
      {body}
      return
    }}
    }}"""
    found: list[Mapping[str, Any]] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv(EXECUTOR, executor)
        copies = {name: tile.array.copy() for name, tile in tiles.items()}
        found.append(pto.run(text, arch="ideal", arguments=copies).arrays)
    for name in tiles:
        assert np.array_equal(*(each[name].view(np.uint8) for each in found)), name
    return found[1]


def values(codes: Any, kind: str) -> Any:
    """Return the numbers of pairs, the one in the lower half of a byte first."""
    both = np.stack([codes & 15, codes >> 4], axis=-1).reshape(len(codes), -1)
    return np.where(both & 8, -1.0, 1.0) * np.array(MAGNITUDES[kind])[both & 7]


def code(number: float, kind: str, mode: str) -> int:
    """Return the 4 bits of a number: of the two numbers around it the one that the mode says, at most the largest."""
    sign, size, most = 8 if np.signbit(number) else 0, abs(number), MAGNITUDES[kind]
    if np.isnan(number):
        return 7
    below = max(place for place in range(8) if most[place] <= size)
    if below == 7 or most[below] == size:
        return sign | below
    middle = (most[below] + most[below + 1]) / 2
    up = {
        "RINT": size > middle or (size == middle and below % 2 == 1), "ROUND": size >= middle, "TRUNC": False,
        "FLOOR": sign > 0, "CEIL": sign == 0,
    }[mode]  # fmt: skip
    return sign | below + up


def codes(numbers: Any, kind: str, mode: str = "RINT") -> Any:
    """Return numbers as pairs."""
    found = np.array([[code(float(each), kind, mode) for each in row] for row in numbers], np.uint8)
    return (found[:, ::2] | found[:, 1::2] << 4).astype(np.uint8)


SPECIAL = [
    0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 0.125, -0.125, 0.25, -0.25, 0.375, 0.625, 0.75, -0.75, 1.25, 1.75,
    -1.75, 2.5, -2.5, 3.5, 5.0, -5.0, 5.5, 6.5, 7.0, 1e-40, -1e-40, 3e38, 0.875, 1.625, 1.875, -1.875,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("mode", ("RINT", "ROUND", "TRUNC", "FLOOR", "CEIL"))
@pytest.mark.parametrize("kind", (E2M1, E1M2))
def test_conversions_to_4_bits(monkeypatch: pytest.MonkeyPatch, kind: str, mode: str) -> None:
    source = np.concatenate([SPECIAL, CHANCE.normal(scale=2, size=94)]).astype(BF16).reshape(3, 42)
    tiles = {"a": Tile(source, whole=(4, 64)), "out": Tile(np.zeros((3, 21), np.uint8), kind, (4, 32))}
    body = f"pto.tcvt ins(%at {{rmode = #pto<round_mode {mode}>}} : a:t) outs(%outt : out:t)"
    found = run(monkeypatch, body, tiles)["out"]
    assert np.array_equal(found, codes(source.astype(np.float64), kind, mode))


@pytest.mark.parametrize("kind", (E2M1, E1M2))
def test_conversions_from_4_bits(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    source = np.arange(256, dtype=np.uint8).reshape(16, 16)
    tiles = {"a": Tile(source, kind, (16, 32)), "out": Tile(np.zeros((16, 32), BF16), whole=(16, 64))}
    found = run(monkeypatch, "pto.tcvt ins(%at : a:t) outs(%outt : out:t)", tiles)["out"]
    assert np.array_equal(found.view(np.uint16), values(source, kind).astype(BF16).view(np.uint16))


def test_moves_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns, strides and offsets count pairs, which are bytes."""
    source = CHANCE.integers(0, 256, (5, 48)).astype(np.uint8)
    tiles = {"a": Tile(source, E2M1), "out": Tile(np.zeros((3, 16), np.uint8), E2M1)}
    body = """%two = arith.constant 2 : index
    %c = arith.constant 9 : index
    pto.textract ins(%at, %two, %c : a:t, index, index) outs(%outt : out:t)"""
    assert np.array_equal(run(monkeypatch, body, tiles)["out"], source[2:5, 9:25])


def test_arithmetic_of_pairs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = {name: Tile(np.zeros((2, 32), np.uint8), E2M1) for name in ("a", "out")}
    with pytest.raises(LoomError, match=r"src0: dtype !pto\.f4E2M1x2 is not supported by this op yet"):
        run(monkeypatch, "pto.tadd ins(%at, %at : a:t, a:t) outs(%outt : out:t)", tiles)


# Quantization


def exponent_and_factor(largest: float, kind: str, alg: str) -> tuple[int, float]:
    """Return the scale of a block and what its elements are multiplied by, from the definitions."""
    most, top = (448.0, 8) if kind == "MXFP8" else (6.0, 2)
    if np.isnan(largest):
        return 255, np.nan
    if alg == "ocp":
        exponent = 0 if largest < 2.0**-126 else 255 if np.isinf(largest) else int(np.floor(np.log2(largest))) + 127
        scale = max(exponent - top, 0)
    else:
        quotient = float(np.float32(largest) * np.float32(1 / most))
        scale = 0 if quotient <= 2.0**-127 else 254 if np.isinf(quotient) else int(np.ceil(np.log2(quotient))) + 127
        scale = min(scale, 254)
    return scale, 2.0 ** (127 - scale)


def quantized(source: Any, kind: str, alg: str, axis: int) -> tuple[Any, Any, Any, Any]:
    """Return elements, scales, largest elements and factors."""
    wide = source.astype(np.float32)
    sizes = np.abs(wide)
    if source.dtype == np.float16 and alg == "ocp":
        sizes = (sizes.view(np.uint32) & 0xFFFF0000).view(np.float32)
    rows, columns = source.shape
    blocks = sizes.reshape(rows // 32, 32, columns).swapaxes(1, 2) if axis == 0 else sizes.reshape(rows, -1, 32)
    largest = blocks.max(axis=2)
    scales, factors = np.zeros(largest.shape, np.uint8), np.zeros(largest.shape)
    for place, number in np.ndenumerate(largest):
        scales[place], factors[place] = exponent_and_factor(float(number), kind, alg)
    scaled = wide.astype(np.float64) * np.repeat(factors, 32, axis=axis)
    if kind == "MXFP8":
        data = np.clip(scaled, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    else:
        data = codes(scaled, E2M1)
    return data, scales, largest, factors


def mixed(shape: tuple[int, int], kind: Any) -> Any:
    """Return numbers of many sizes, with infinities and NaN in blocks of their own."""
    numbers = CHANCE.normal(size=shape) * np.exp2(CHANCE.integers(-20, 12, shape))
    numbers = numbers.astype(kind)
    numbers[:32, :32] = 0
    numbers[5, 40], numbers[33, 2], numbers[-1, -1] = np.inf, np.nan, -np.inf
    numbers[40:44, 33:40] = kind(448)
    return numbers


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("alg", ("ocp", "nv"))
@pytest.mark.parametrize(("quant", "kind"), (("MXFP8", np.float32), ("MXFP8", BF16), ("MXFP8", np.float16),
                                             ("MXFP4_E2M1", BF16), ("MXFP4_E2M1", np.float16)))  # fmt: skip
def test_quantized_blocks(monkeypatch: pytest.MonkeyPatch, quant: str, kind: Any, alg: str, axis: int) -> None:
    if axis == 1 and alg == "nv" and kind != np.float32:
        pytest.skip("PTOAS refuses flat scales of 16-bit elements by nv")
    rows, columns = 64, 64
    source, packs = mixed((rows, columns), kind), quant != "MXFP8"
    data, scales, largest, factors = quantized(source, quant, alg, axis)
    flat = axis == 1 and kind != np.float32
    shape = (1, scales.size) if flat else scales.shape
    room = {"max": (shape[0], 256 if flat else 64 if axis == 0 else shape[1])}
    if axis == 1 and not flat:
        room = {"max": (64, 2)}
    blank = np.zeros((rows, columns // 2 if packs else columns), np.uint8)
    tiles = {
        "a": Tile(source),
        "out": Tile(blank, E2M1 if packs else "ui8"),
        "exp": Tile(np.zeros(shape, np.uint8), whole=room["max"]),
        "max": Tile(np.zeros(shape, kind), whole=room["max"]),
        "scaling": Tile(np.zeros(shape, kind), whole=room["max"]),
    }
    body = f"""pto.tquant.mx ins(%at : a:t) outs(%outt, %expt, %maxt, %scalingt : out:t, exp:t, max:t, scaling:t)
      {{quant_type = #pto<quant_type {quant}>, quantScaleAlg = #pto<quant_scale_alg {alg}>,
       grpAxis = #pto<mx_group_axis axis{axis}>}}"""
    if axis == 1 and not flat:
        # Rows of two scales are no whole blocks of 32 bytes: they are in a row of their own tiles, seen as rows.
        for name in ("exp", "max", "scaling"):
            tiles[name] = Tile(np.zeros((1, 128), tiles[name].array.dtype))
            body = body.replace(f"%{name}t", f"%{name}r").replace(
                f"{name}:t", f"!pto.tile_buf<vec, 64x2x{tiles[name].element}>"
            )
            body = (
                f"%{name}r = pto.treshape %{name}t : {tiles[name].type} -> "
                f"!pto.tile_buf<vec, 64x2x{tiles[name].element}>\n{body}"
            )
    found = run(monkeypatch, body, tiles, ("out", "exp", "max", "scaling"))
    with np.errstate(invalid="ignore"):
        assert np.array_equal(found["exp"].reshape(scales.shape), scales)
        not_a_number = np.isnan(data.view(ml_dtypes.float8_e4m3fn).astype(np.float32)) if not packs else False
        assert np.array_equal(np.where(not_a_number, 0, found["out"]), np.where(not_a_number, 0, data))
        halves = kind == np.float16
        stored = found["max"].view(BF16 if halves and alg == "ocp" else kind).astype(np.float32)
        assert np.array_equal(stored.reshape(largest.shape), largest, equal_nan=True)
        stored = found["scaling"].view(BF16 if halves else kind).astype(np.float64)
        assert np.array_equal(stored.reshape(factors.shape), factors, equal_nan=True)


def test_interleaved_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    source = mixed((128, 64), BF16)
    data, scales, _, _ = quantized(source, "MXFP8", "ocp", 0)
    tiles = {
        "a": Tile(source), "out": Tile(np.zeros((128, 64), np.uint8)), "exp": Tile(np.zeros((2, 128), np.uint8)),
        "max": Tile(np.zeros((4, 64), BF16)), "scaling": Tile(np.zeros((4, 64), BF16)),
    }  # fmt: skip
    body = """pto.tquant.mx ins(%at : a:t) outs(%outt, %expt, %maxt, %scalingt : out:t, exp:t, max:t, scaling:t)
      {quant_type = #pto<quant_type MXFP8>, grpAxis = #pto<mx_group_axis axis0>, interleave = true}"""
    found = run(monkeypatch, body, tiles, ("exp",))
    assert data.shape == source.shape
    assert np.array_equal(found["exp"], scales.reshape(2, 2, 64).swapaxes(1, 2).reshape(2, 128))


def test_scales_in_the_order_of_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes of 16 rows by 2 scales; the rows that the last box lacks are zeros."""
    source = np.arange(80, dtype=np.uint8).reshape(1, 80) + 1
    boxed = ", slayout=row_major"
    tiles = {"a": Tile(source, whole=(1, 128)), "out": Tile(np.full((1, 128), 9, np.uint8), more=boxed)}
    body = """%r = pto.treshape %outt : out:t -> !pto.tile_buf<vec, 32x4xui8, valid=20x4, slayout=row_major>
    %tmp = pto.alloc_tile : !pto.tile_buf<vec, 1x160xui8, valid=1x4>
    pto.tmov ins(%at : a:t, %tmp : !pto.tile_buf<vec, 1x160xui8, valid=1x4>)
      outs(%r : !pto.tile_buf<vec, 32x4xui8, valid=20x4, slayout=row_major>)"""
    rows = np.zeros((32, 4), np.uint8)
    rows[:20] = source.reshape(20, 4)
    wanted = rows.reshape(2, 16, 2, 2).transpose(0, 2, 1, 3).reshape(1, -1)
    assert np.array_equal(run(monkeypatch, body, tiles)["out"], wanted)


@pytest.mark.slow
def test_scales_of_columns_in_the_order_of_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    source = CHANCE.integers(0, 256, (4, 64)).astype(np.uint8)
    tiles = {"a": Tile(source), "out": Tile(np.zeros((1, 256), np.uint8), more=", slayout=row_major")}
    body = """%tmp = pto.alloc_tile : !pto.tile_buf<vec, 1x32xui8, valid=1x1>
    pto.tmov ins(%at : a:t, %tmp : !pto.tile_buf<vec, 1x32xui8, valid=1x1>) outs(%outt : out:t)
      {grpAxis = #pto<mx_group_axis axis0>}"""
    wanted = source.reshape(2, 2, 4, 16).transpose(2, 0, 3, 1).reshape(1, -1)
    assert np.array_equal(run(monkeypatch, body, tiles)["out"], wanted)


@pytest.mark.parametrize("mode", ("nd", "nz"))
def test_scales_in_boxes_at_once(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """The deprecated form orders scales itself; `nz` stores 32 columns of all rows behind each other."""
    source = mixed((64, 64), np.float32)
    data, scales, _, _ = quantized(source, "MXFP8", "ocp", 1)
    tiles = {"a": Tile(source), "out": Tile(np.zeros((64, 64), np.uint8)), "zz": Tile(np.zeros((1, 128), np.uint8))}
    tiles |= {name: Tile(np.zeros((1, 128), kind), whole=(1, 256))
              for name, kind in (("exp", np.uint8), ("max", np.float32), ("scaling", np.float32))}  # fmt: skip
    body = f"""pto.tquant.mx ins(%at : a:t)
      outs(%outt, %expt, %maxt, %scalingt, %zzt : out:t, exp:t, max:t, scaling:t, zz:t)
      {{quant_type = #pto<quant_type MXFP8>, storeMode = #pto<vec_store_mode {mode}>}}"""
    found = run(monkeypatch, body, tiles, ("out", "zz"))
    assert np.array_equal(found["zz"].ravel(), scales.reshape(4, 16, 1, 2).transpose(0, 2, 1, 3).ravel())
    wanted = data.reshape(64, 2, 32).swapaxes(0, 1).reshape(64, 64) if mode == "nz" else data
    is_number = np.isfinite(wanted.view(ml_dtypes.float8_e4m3fn).astype(np.float32))
    assert np.array_equal(np.where(is_number, found["out"], 0), np.where(is_number, wanted, 0))
