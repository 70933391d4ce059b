"""Products of matrices whose blocks of 32 elements have scales, with few valid elements, against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host import pto
from loomir.runtime.executors import EXECUTOR

M, K, N = 13, 118, 21
BLOCKS = 4
CHANCE = np.random.default_rng(40)


def tile(space: str, whole: tuple[int, int], element: str, valid: tuple[int, int], layout: str) -> str:
    return f"!pto.tile_buf<{space}, {whole[0]}x{whole[1]}x{element}, valid={valid[0]}x{valid[1]}, {layout}>"


NZ, ZN = "blayout=col_major, slayout=row_major", "blayout=row_major, slayout=col_major"
OF_A, OF_B = f"{NZ.replace('col', 'row')}, fractal=32", f"{ZN.replace('row', 'col')}, fractal=32"


def kernel(
    kind: str, scale: str, elements: tuple[str, str] = ("f8E4M3FN", "f8E5M2"), rows: int = M, blocks: int = BLOCKS,
    order: str = " {layout = #pto.layout<nd>}",
) -> str:  # fmt: skip
    """Return a kernel of a product: plain, added to the accumulator, or with a bias; of one row, a `tgemv.mx`."""
    height = 1 if rows == 1 else 16
    # Rows of whole blocks; scales of one row have no more room than there are.
    room = blocks if height == 1 else blocks + blocks % 2
    operands = {
        "a": ("left", (height, 128), elements[0], (rows, K), NZ, NZ),
        "b": ("right", (128, 32), elements[1], (K, N), ZN, NZ),
        "sa": ("scaling", (height, room), scale, (rows, blocks), OF_A, OF_A),
        "sb": ("scaling", (room, 32), scale, (blocks, N), OF_B, OF_B),
        "bias": ("bias", (1, 32), "f32", (1, N), "blayout=row_major", "blayout=row_major"),
    }
    lines: list[str] = []
    types: dict[str, str] = {}
    for name, (space, whole, element, valid, layout, in_mat) in operands.items():
        types[name] = tile(space, whole, element, valid, layout)
        mat, shape = tile("mat", whole, element, valid, in_mat), f"{valid[0]}x{valid[1]}x{element}"
        lines.append(
            f"""%{name}m = arith.constant {valid[0]} : index
            %{name}n = arith.constant {valid[1]} : index
            %{name}v = pto.make_tensor_view %{name}, shape = [%{name}m, %{name}n], strides = [%{name}n, %one]{order} :
              !pto.tensor_view<{shape}>
            %{name}p = pto.partition_view %{name}v, offsets = [%zero, %zero], sizes = [%{name}m, %{name}n] :
              !pto.tensor_view<{shape}> -> !pto.partition_tensor_view<{shape}>
            %{name}l = pto.alloc_tile : {mat}
            %{name}t = pto.alloc_tile : {types[name]}
            pto.tload ins(%{name}p : !pto.partition_tensor_view<{shape}>) outs(%{name}l : {mat})
            pto.tmov ins(%{name}l : {mat}) outs(%{name}t : {types[name]})"""
        )
    acc = tile("acc", (height, 32), "f32", (rows, N), f"{NZ}, fractal=1024")
    names = ["a", "sa", "b", "sb"]
    plain = ", ".join(f"%{name}t" for name in names), ", ".join(types[name] for name in names)
    name = "tgemv.mx" if rows == 1 else "tmatmul.mx"
    product = f"pto.{name} ins({plain[0]} : {plain[1]}) outs(%c : {acc})"
    if kind == "acc":
        product += f"\npto.{name}.acc ins(%c, {plain[0]} : {acc}, {plain[1]}) outs(%c : {acc})"
    if kind == "bias":
        product = f"pto.{name}.bias ins({plain[0]}, %biast : {plain[1]}, {types['bias']}) outs(%c : {acc})"
    arguments = ", ".join(f"%{name}: !pto.ptr<{element}>" for name, (_, _, element, *_) in operands.items())
    return f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k({arguments}, %out: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      {chr(10).join(lines)}
      %c = pto.alloc_tile : {acc}
      pto.tget_scale_addr ins(%at : {types["a"]}) outs(%sat : {types["sa"]})
      {product}
      %outv = pto.make_tensor_view %out, shape = [%am, %bn], strides = [%bn, %one] : !pto.tensor_view<{rows}x{N}xf32>
      %outp = pto.partition_view %outv, offsets = [%zero, %zero], sizes = [%am, %bn] :
        !pto.tensor_view<{rows}x{N}xf32> -> !pto.partition_tensor_view<{rows}x{N}xf32>
      pto.tstore ins(%c : {acc}) outs(%outp : !pto.partition_tensor_view<{rows}x{N}xf32>)
      return
    }}
    }}"""


def arguments(rows: int = M) -> dict[str, Any]:
    return {
        "a": CHANCE.normal(size=(rows, K)).astype(ml_dtypes.float8_e4m3fn),
        "b": CHANCE.normal(size=(K, N)).astype(ml_dtypes.float8_e5m2),
        "sa": CHANCE.integers(120, 131, (rows, BLOCKS)).astype(np.uint8),
        "sb": CHANCE.integers(122, 133, (BLOCKS, N)).astype(np.uint8),
        "bias": CHANCE.normal(size=(1, N)).astype(np.float32),
        "out": np.zeros((rows, N), np.float32),
    }


def product(given: dict[str, Any]) -> Any:
    """Return the product in double precision, each element times the scale of its block."""
    of_a = np.repeat(np.exp2(given["sa"].astype(float) - 127), 32, axis=1)[:, :K]
    of_b = np.repeat(np.exp2(given["sb"].astype(float) - 127), 32, axis=0)[:K]
    return (given["a"].astype(float) * of_a) @ (given["b"].astype(float) * of_b)


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", (M, 1))
@pytest.mark.parametrize("kind", ("plain", "acc", "bias"))
def test_scaled_products(monkeypatch: pytest.MonkeyPatch, kind: str, rows: int) -> None:
    given, found = arguments(rows), []
    for executor in ("reference", "core"):
        monkeypatch.setenv(EXECUTOR, executor)
        found.append(pto.run(kernel(kind, "!pto.f8E8M0", rows=rows), arch="ideal", arguments=dict(given)).arrays["out"])
    assert np.array_equal(*(each.view(np.uint32) for each in found))
    wanted = product(given) * (2 if kind == "acc" else 1) + (given["bias"] if kind == "bias" else 0)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4, atol=1e-3 * np.abs(wanted).max())


@pytest.mark.slow
@pytest.mark.parametrize("rows", (M, 1))
def test_scales_in_boxes(rows: int) -> None:
    """Tensors of scales that state no layout have boxes of 16 x 2; A has none where it is one row."""
    given = arguments(rows)
    of_a, of_b = np.zeros((16, 4), np.uint8), np.zeros((4, 32), np.uint8)
    of_a[:rows], of_b[:, :N] = given["sa"], given["sb"]
    boxes = {"sb": of_b.reshape(2, 2, 2, 16).transpose(2, 0, 3, 1).ravel()}
    if rows > 1:
        boxes["sa"] = of_a.reshape(1, 16, 2, 2).transpose(0, 2, 1, 3).ravel()
    text = kernel("plain", "!pto.f8E8M0", rows=rows, order="")
    out = pto.run(text, arch="ideal", arguments=given | boxes).arrays["out"]
    wanted = product(given)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-3 * np.abs(wanted).max())
    with pytest.raises(LoomError, match=r"argument 's[ab]' has \d+ bytes, but the kernels use (64|128)"):
        pto.run(text, arch="ideal", arguments=given)


def test_least_and_missing_scales() -> None:
    """A byte of 0 is two to the power of -127, and 255 is not a number."""
    given = arguments()
    given["a"][...], given["b"][...] = 1, 1
    given["sa"][...], given["sb"][...] = 127, 254
    given["sa"][0], given["sa"][1] = 0, 255
    out = pto.run(kernel("plain", "!pto.f8E8M0"), arch="ideal", arguments=given).arrays["out"]
    assert (out[0] == K).all() and np.isnan(out[1]).all() and (out[2] == np.float32(np.inf)).all()


def test_scales_in_f16_are_factors() -> None:
    """As in the public simulator."""
    given = arguments()
    scales = {name: np.exp2(given[name].astype(float) - 127).astype(np.float16) for name in ("sa", "sb")}
    out = pto.run(kernel("plain", "f16"), arch="ideal", arguments=given | scales).arrays["out"]
    wanted = product(given)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-3 * np.abs(wanted).max())


def test_scales_of_other_types_are_refused() -> None:
    given = arguments() | {name: np.ones(shape, np.float32) for name, shape in (("sa", (M, 4)), ("sb", (4, N)))}
    with pytest.raises(LoomError, match=r"scal"):
        pto.run(kernel("plain", "f32"), arch="ideal", arguments=given)


# Pairs of 4-bit floats

MAGNITUDES = {"!pto.f4E2M1x2": [0, 0.5, 1, 1.5, 2, 3, 4, 6], "!pto.f4E1M2x2": [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]}


def numbers(pairs: Any, kind: str, along: int) -> Any:
    """Return the numbers of pairs along rows (0) or columns (1), the one in the lower half of a byte first."""
    both = np.stack([pairs & 15, pairs >> 4], axis=along + 1)
    shape = (2 * len(pairs), -1) if along == 0 else (len(pairs), -1)
    both = both.reshape(shape)
    return np.where(both & 8, -1.0, 1.0) * np.array(MAGNITUDES[kind])[both & 7]


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("rows", (M, 1))
@pytest.mark.parametrize("kinds", (("!pto.f4E2M1x2", "!pto.f4E1M2x2"), ("!pto.f4E1M2x2", "!pto.f4E2M1x2")))
def test_products_of_pairs(monkeypatch: pytest.MonkeyPatch, kinds: tuple[str, str], rows: int) -> None:
    """A column of A, and a row of B, is two elements: 118 of them have 8 blocks, of which the last is not whole."""
    text = kernel("plain", "!pto.f8E8M0", kinds, rows, 8)
    given = {
        "a": CHANCE.integers(0, 256, (rows, K)).astype(np.uint8), "b": CHANCE.integers(0, 256, (K, N)).astype(np.uint8),
        "sa": CHANCE.integers(120, 131, (rows, 8)).astype(np.uint8),
        "sb": CHANCE.integers(122, 133, (8, N)).astype(np.uint8), "out": np.zeros((rows, N), np.float32),
        "bias": np.zeros((1, N), np.float32),
    }  # fmt: skip
    found: list[Any] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv(EXECUTOR, executor)
        found.append(pto.run(text, arch="ideal", arguments=dict(given)).arrays["out"])
    assert np.array_equal(*(each.view(np.uint32) for each in found))
    of_a = np.repeat(np.exp2(given["sa"].astype(float) - 127), 32, axis=1)[:, : 2 * K]
    of_b = np.repeat(np.exp2(given["sb"].astype(float) - 127), 32, axis=0)[: 2 * K]
    wanted = (numbers(given["a"], kinds[0], 1) * of_a) @ (numbers(given["b"], kinds[1], 0) * of_b)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4, atol=1e-3 * np.abs(wanted).max())


def test_scales_of_pairs_for_too_few_blocks() -> None:
    """PTOAS asks for one scale for 32 columns of pairs, which are 64 elements."""
    pairs = "!pto.f4E2M1x2"
    given = arguments() | {"a": np.zeros((M, K), np.uint8), "b": np.zeros((K, N), np.uint8)}
    message = "has 4 columns of scales in a_scale, and 8 blocks of 32 elements; give a scale for each block"
    with pytest.raises(LoomError, match=message):
        pto.run(kernel("plain", "!pto.f8E8M0", (pairs, pairs)), arch="ideal", arguments=given)
