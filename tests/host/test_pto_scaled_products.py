"""Products of matrices whose blocks of 32 elements have scales, with few valid elements, against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host import pto
from loomir.runtime.executors import EXECUTOR

M, K, N = 13, 110, 21
BLOCKS = 4
CHANCE = np.random.default_rng(40)


def tile(space: str, whole: tuple[int, int], element: str, valid: tuple[int, int], layout: str) -> str:
    return f"!pto.tile_buf<{space}, {whole[0]}x{whole[1]}x{element}, valid={valid[0]}x{valid[1]}, {layout}>"


NZ, ZN = "blayout=col_major, slayout=row_major", "blayout=row_major, slayout=col_major"
OF_A, OF_B = f"{NZ.replace('col', 'row')}, fractal=32", f"{ZN.replace('row', 'col')}, fractal=32"


def kernel(kind: str, scale: str) -> str:
    """Return a kernel of a product: plain, added to the accumulator, or with a bias."""
    operands = {
        "a": ("left", (16, 128), "f8E4M3FN", (M, K), NZ, NZ),
        "b": ("right", (128, 32), "f8E5M2", (K, N), ZN, NZ),
        "sa": ("scaling", (16, BLOCKS), scale, (M, BLOCKS), OF_A, OF_A),
        "sb": ("scaling", (BLOCKS, 32), scale, (BLOCKS, N), OF_B, OF_B),
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
            %{name}v = pto.make_tensor_view %{name}, shape = [%{name}m, %{name}n], strides = [%{name}n, %one] :
              !pto.tensor_view<{shape}>
            %{name}p = pto.partition_view %{name}v, offsets = [%zero, %zero], sizes = [%{name}m, %{name}n] :
              !pto.tensor_view<{shape}> -> !pto.partition_tensor_view<{shape}>
            %{name}l = pto.alloc_tile : {mat}
            %{name}t = pto.alloc_tile : {types[name]}
            pto.tload ins(%{name}p : !pto.partition_tensor_view<{shape}>) outs(%{name}l : {mat})
            pto.tmov ins(%{name}l : {mat}) outs(%{name}t : {types[name]})"""
        )
    acc = tile("acc", (16, 32), "f32", (M, N), f"{NZ}, fractal=1024")
    names = ["a", "sa", "b", "sb"]
    plain = ", ".join(f"%{name}t" for name in names), ", ".join(types[name] for name in names)
    product = f"pto.tmatmul.mx ins({plain[0]} : {plain[1]}) outs(%c : {acc})"
    if kind == "acc":
        product += f"\npto.tmatmul.mx.acc ins(%c, {plain[0]} : {acc}, {plain[1]}) outs(%c : {acc})"
    if kind == "bias":
        product = f"pto.tmatmul.mx.bias ins({plain[0]}, %biast : {plain[1]}, {types['bias']}) outs(%c : {acc})"
    arguments = ", ".join(f"%{name}: !pto.ptr<{element}>" for name, (_, _, element, *_) in operands.items())
    return f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k({arguments}, %out: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      {chr(10).join(lines)}
      %c = pto.alloc_tile : {acc}
      pto.tget_scale_addr ins(%at : {types["a"]}) outs(%sat : {types["sa"]})
      {product}
      %outv = pto.make_tensor_view %out, shape = [%am, %bn], strides = [%bn, %one] : !pto.tensor_view<{M}x{N}xf32>
      %outp = pto.partition_view %outv, offsets = [%zero, %zero], sizes = [%am, %bn] :
        !pto.tensor_view<{M}x{N}xf32> -> !pto.partition_tensor_view<{M}x{N}xf32>
      pto.tstore ins(%c : {acc}) outs(%outp : !pto.partition_tensor_view<{M}x{N}xf32>)
      return
    }}
    }}"""


def arguments() -> dict[str, Any]:
    return {
        "a": CHANCE.normal(size=(M, K)).astype(ml_dtypes.float8_e4m3fn),
        "b": CHANCE.normal(size=(K, N)).astype(ml_dtypes.float8_e5m2),
        "sa": CHANCE.integers(120, 131, (M, BLOCKS)).astype(np.uint8),
        "sb": CHANCE.integers(122, 133, (BLOCKS, N)).astype(np.uint8),
        "bias": CHANCE.normal(size=(1, N)).astype(np.float32),
        "out": np.zeros((M, N), np.float32),
    }


def product(given: dict[str, Any]) -> Any:
    """Return the product in double precision, each element times the scale of its block."""
    of_a = np.repeat(np.exp2(given["sa"].astype(float) - 127), 32, axis=1)[:, :K]
    of_b = np.repeat(np.exp2(given["sb"].astype(float) - 127), 32, axis=0)[:K]
    return (given["a"].astype(float) * of_a) @ (given["b"].astype(float) * of_b)


@pytest.mark.parametrize("kind", ("plain", "acc", "bias"))
def test_scaled_products(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    given, found = arguments(), []
    for executor in ("reference", "core"):
        monkeypatch.setenv(EXECUTOR, executor)
        found.append(pto.run(kernel(kind, "!pto.f8E8M0"), arch="ideal", arguments=dict(given)).arrays["out"])
    assert np.array_equal(*(each.view(np.uint32) for each in found))
    wanted = product(given) * (2 if kind == "acc" else 1) + (given["bias"] if kind == "bias" else 0)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4, atol=1e-3 * np.abs(wanted).max())


def test_least_and_missing_scales() -> None:
    """A byte of 0 is two to the power of -127, and 255 is not a number."""
    given = arguments()
    given["a"][...], given["b"][...] = 1, 1
    given["sa"][...], given["sb"][...] = 127, 254
    given["sa"][0], given["sa"][1] = 0, 255
    out = pto.run(kernel("plain", "!pto.f8E8M0"), arch="ideal", arguments=given).arrays["out"]
    assert (out[0] == K).all() and np.isnan(out[1]).all() and (out[2] == np.float32(np.inf)).all()


def test_scales_without_a_meaning_are_refused() -> None:
    """Scales of other types are written in public texts, but nothing says what number they are."""
    given = arguments() | {name: np.ones(shape, np.float16) for name, shape in (("sa", (M, 4)), ("sb", (4, N)))}
    with pytest.raises(LoomError, match=r"has scales of f16, whose meaning the documents leave open; use !pto\.f8E8M0"):
        pto.run(kernel("plain", "f16"), arch="ideal", arguments=given)
