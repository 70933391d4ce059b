"""Functions that name no core run on that of their tiles; parts that a core only names may be outside of a tensor."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import LoomError, pto
from tests.host.pto_kernel_text import acc, left, mat, right, vec

VIEW, PART = "!pto.tensor_view<16x16xf32>", "!pto.partition_tensor_view<16x16xf32>"


def text(row: str) -> str:
    """A product on the cube core, of rows from `%row` on, and a sum on the vector cores."""
    tiles = {"am": mat(16, 16), "bm": mat(16, 16), "l": left(16, 16), "r": right(16, 16), "p": acc(16, 16)}
    tiles |= {"v": vec(16, 16)}
    allocated = "\n".join(f"%{name} = pto.alloc_tile : {type}" for name, type in tiles.items())
    views = "\n".join(
        f"%v{name} = pto.make_tensor_view %{name}, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}\n"
        f"%p{name} = pto.partition_view %v{name}, offsets = [{row if name == 'a' else '%c0'}, %c0], "
        f"sizes = [%c16, %c16] : {VIEW} -> {PART}"
        for name in "abcd"
    )
    load = "pto.tload ins(%p{} : " + PART + ") outs(%{} : {})\n"
    body = (
        load.format("a", "am", tiles["am"])
        + load.format("b", "bm", tiles["bm"])
        + f"pto.tmov ins(%am : {tiles['am']}) outs(%l : {tiles['l']})\n"
        + f"pto.tmov ins(%bm : {tiles['bm']}) outs(%r : {tiles['r']})\n"
        + f"pto.tmatmul ins(%l, %r : {tiles['l']}, {tiles['r']}) outs(%p : {tiles['p']})\n"
        + f"pto.tstore ins(%p : {tiles['p']}) outs(%pc : {PART})\n"
        + load.format("b", "v", tiles["v"])
        + f"pto.tadd ins(%v, %v : {tiles['v']}, {tiles['v']}) outs(%v : {tiles['v']})\n"
        + f"pto.tstore ins(%v : {tiles['v']}) outs(%pd : {PART})\n"
    )
    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @both(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>, %d: !pto.ptr<f32>) attributes {{pto.entry}} {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c16 = arith.constant 16 : index
%lane = pto.get_subblock_idx
%at = arith.index_cast %lane : i64 to index
%row = arith.muli %at, %c16 : index
%blocks = pto.get_block_num
%far = arith.index_cast %blocks : i64 to index
{allocated}
{views}
{body}return
}}
}}
"""


def test_a_function_of_both_kinds_runs_on_both() -> None:
    """The second vector core names a part that is outside, which the cube core uses, and there it is inside.

    Both vector cores store the same.
    """
    program = text("%row")
    assert [finding.code for finding in pto.check(program)] == ["repeated-work"]
    a, b = np.random.default_rng(3).standard_normal((2, 16, 16)).astype(np.float32)
    result = pto.run(program, arch="a5", arguments=[a, b, np.zeros_like(a), np.zeros_like(a)])
    np.testing.assert_allclose(result.arrays["c"], a @ b, rtol=1e-4, atol=1e-5)
    assert (result.arrays["d"] == 2 * b).all()
    assert [finding.code for finding in result.findings] == ["repeated-work"]


def test_a_part_outside_that_its_core_uses() -> None:
    program = text("%far")
    assert [finding.code for finding in pto.check(program) if finding.severity == "error"] == ["outside-tensor"]
    with pytest.raises(LoomError, match="AIC views 16 elements from 1 on of dimension 0 of 'a', which has 16 there"):
        pto.run(program, arch="a5", arguments=[np.zeros((16, 16), np.float32)] * 4)
