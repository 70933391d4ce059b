"""Work that all blocks, or both vector cores, do alike; tiles outside their memory, or over each other; products of
unequal depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loomir import pto
from loomir.host.pto_check import check

from ..host.pto_kernel_text import K, P, acc, column, left, mat, module, right, vec


def codes(findings: list[pto.Finding]) -> list[str]:
    return [finding.code for finding in findings]


def doubled(row_of: Any, *, rows: int = 64, adds: bool = False) -> str:
    """A kernel that doubles eight rows of `x`, from `row_of(kernel)` on."""
    kernel = K("double", "vector", [("%x", P), ("%out", P)])
    row = row_of(kernel)
    tile = kernel.tile(vec(8, 16))
    kernel.load(kernel.part("%x", (rows, 16), (row, 0), (8, 16)), tile)
    kernel.t1("tadd", tile, tile, tile)
    kernel.store(tile, kernel.part("%out", (rows, 16), (row, 0), (8, 16)))
    text = module("a5", kernel)
    end = "outs(%p"
    place = text.rindex(")", 0, text.index("\n", text.rindex(end)))
    return text[: place + 1] + " {atomicType = #pto<atomic_type atomic_add>}" + text[place + 1 :] if adds else text


def run(text: str, blocks: int) -> list[pto.Finding]:
    arrays = {"x": np.ones((64, 16), np.float32), "out": np.zeros((64, 16), np.float32)}
    return pto.run(text, arch="a5", blocks=blocks, arguments=arrays).findings


@pytest.mark.parametrize("adds", [False, True])
def test_blocks_that_store_the_same(adds: bool) -> None:
    """Without a race, as all store the same; also where they add it."""
    (finding,) = run(doubled(lambda kernel: kernel.c(8), adds=adds), 4)
    assert (finding.code, finding.severity) == ("repeated-work", "warning")
    assert finding.message.startswith("all 4 blocks store the same at the same places, so each does the work of all")
    assert run(doubled(lambda kernel: kernel.c(8), adds=adds), 1) == []
    assert run(doubled(lambda kernel: kernel.mul(kernel.block(), 8), adds=adds), 4) == []


def test_blocks_of_which_some_store_the_same() -> None:
    """The last of three blocks is moved back into 16 rows: it does what the second does."""

    def row_of(kernel: K) -> str:
        return kernel.bin("minsi", kernel.mul(kernel.block(), 8), 8)

    assert run(doubled(row_of), 3) == []
    assert codes(run(doubled(lambda kernel: kernel.bin("minsi", kernel.block(), 0)), 3)) == ["repeated-work"]


def test_vector_cores_that_store_the_same() -> None:
    """They ask which they are, and one number of a row is lost."""
    text = doubled(lambda kernel: kernel.mul(kernel.lane(), 8))
    assert check(text) == []
    (finding,) = check(text.replace("arith.muli %ln", "arith.muli %c0_index, %c8_index : index // ", 1))
    assert (finding.code, finding.severity) == ("repeated-work", "warning")
    assert "give each a part of its own, by pto.get_subblock_idx" in finding.message
    assert check(doubled(lambda kernel: (kernel.op("pto.get_subblock_idx"), kernel.c(0))[1])) == [], "not used"


@pytest.mark.parametrize(
    ("space", "address", "found"),
    [("vec", 253_952 - 1024, 0), ("vec", 253_952 - 992, 1), ("vec", 1 << 40, 1), ("mat", 0, 0)],
)
def test_addresses_beyond_the_memory(space: str, address: int, found: int) -> None:
    """On a5 a vector core has 248 KiB."""
    kernel = K("kernel", "vector" if space == "vec" else "cube", [("%x", P), ("%out", P)])
    type = (vec if space == "vec" else mat)(16, 16)
    tile = kernel.op(f"pto.alloc_tile addr = {kernel.c(address, 'i64')} : {type}", "t")
    kernel.types[tile] = type
    kernel.load(kernel.part("%x", (16, 16), (0, 0), (16, 16)), tile)
    if space == "vec":
        kernel.store(tile, kernel.part("%out", (16, 16), (0, 0), (16, 16)))
    outside = [finding for finding in check(module("a5", kernel)) if finding.code == "outside-memory"]
    assert len(outside) == found
    assert all("which has 253952; give it another address" in finding.message for finding in outside)


@pytest.mark.parametrize(("valid", "expected"), [(16, []), (8, ["narrow-tile"])])
def test_products_that_sum_over_more_than_is_valid(valid: int, expected: list[str]) -> None:
    """The depth is that of the left tile."""
    kernel = K("product", "cube", [("%a", P), ("%b", P), ("%out", P)])
    first, second = kernel.tile(mat(16, 16)), kernel.tile(mat(16, 16, valid=(valid, 16)))
    lhs, rhs = kernel.tile(left(16, 16)), kernel.tile(right(16, 16, valid=(valid, 16)))
    total = kernel.tile(acc(16, 16))
    kernel.load(kernel.part("%a", (16, 16), (0, 0), (16, 16)), first)
    kernel.load(kernel.part("%b", (valid, 16), (0, 0), (valid, 16)), second)
    kernel.mov(first, lhs)
    kernel.mov(second, rhs)
    kernel.mm(lhs, rhs, total)
    kernel.store(total, kernel.part("%out", (16, 16), (0, 0), (16, 16)))
    found = check(module("a5", kernel))
    assert codes(found) == expected
    assert all(
        "sums over 16 elements" in finding.message and "has 8 valid rows" in finding.message for finding in found
    )


def test_errors_of_tiles_beside_others() -> None:
    """What is wrong with an operation on tiles alone is told beside what else a verifier refuses."""
    kernel = K("kernel", "vector", [("%x", P), ("%out", P)])
    numbers = kernel.tile(vec(8, 16, "i32"))
    one = kernel.c(1, "i32")
    kernel.do(f"pto.tands ins({numbers}, {one} : {vec(8, 16, 'i32')}, i32) outs({numbers} : {vec(8, 16, 'i32')})")
    kernel.sub(kernel.op(kernel_view(kernel), "w"), "!pto.tensor_view<8x16xf32>", (0, 0), (8, 0))
    found = check(module("a3", kernel))
    assert codes(found) == ["rejected", "rejected"]
    assert "tands" in found[0].message and "size at dim 1 must be positive" in found[1].message


def kernel_view(kernel: K) -> str:
    rows, columns, one = map(kernel.c, (8, 16, 1))
    shape = f"shape = [{rows}, {columns}], strides = [{columns}, {one}]"
    return f"pto.make_tensor_view %x, {shape} : !pto.tensor_view<8x16xf32>"


def two_tiles(second: int, order: str, *, rows: int = 16) -> str:
    """Two tiles at addresses 0 and `second`: each letter of `order` loads (a, b) or stores (A, B) one of them; z fills
    the first with zeros."""
    kernel = K("kernel", "vector", [("%x", P), ("%out", P)])
    tiles: dict[str, str] = {}
    for name, address, type in (("a", 0, vec(16, 16)), ("b", second, vec(rows, 16))):
        tiles[name] = kernel.op(f"pto.alloc_tile addr = {kernel.c(address, 'i64')} : {type}", name)
        kernel.types[tiles[name]] = type
    for place, what in enumerate(order):
        tile = tiles["a" if what == "z" else what.lower()]
        part = kernel.part("%out" if what.isupper() else "%x", (64, 16), (0, 0), (16 if what in "aA" else rows, 16))
        if what == "z":
            kernel.fill(0.0, tile)
        elif what.islower():
            kernel.load(part, tile)
        else:
            kernel.store(tile, kernel.part("%out", (256, 16), (16 * place, 0), (16 if what == "A" else rows, 16)))
    return module("a5", kernel)


@pytest.mark.parametrize(
    ("second", "order", "rows", "found"),
    [
        (0, "abAB", 16, "A"),
        (512, "abAB", 16, "A"),
        (512, "abBA", 16, "A"),
        (512, "baBA", 16, "B"),
        (0, "abaA", 16, ""),
        (0, "aAbB", 16, ""),
        (0, "aAbA", 16, ""),  # nothing is lost: one tile under two names
        (0, "aBbA", 16, ""),  # read by the other name
        (1024, "abAB", 16, ""),
        (0, "zbA", 8, ""),  # a part of the tile is filled in
        (512, "zbA", 4, ""),
    ],
)
def test_tiles_over_each_other(second: int, order: str, rows: int, found: str) -> None:
    """A tile is overwritten by way of another one before anything has read it, and read then."""
    text = two_tiles(second, order, rows=rows)
    findings = check(text)
    assert codes(findings) == ["overlapping-tiles"] * len(found)
    for finding in findings:
        assert f"the tile %{found.lower()}" in finding.message
        assert "what pto.tload at <text>:" in finding.message and "is overwritten by pto.tload at" in finding.message
        assert finding.severity == "warning"


def clamped(kind: str) -> str:
    """Blocks of 16 of 40 rows, the last one moved back by eight, in a kernel for each kind of computation."""
    kernel = K("clamped", "cube" if kind == "product" else "vector", [("%x", P), ("%out", P)])

    def first(last: int) -> str:
        return kernel.bin("minsi", kernel.mul(kernel.block(), 16), last)

    def loaded(row: Any, rows: int = 16, type: str = vec(16, 16)) -> str:
        tile = kernel.tile(type)
        kernel.load(kernel.part("%x", (40, 16), (row, 0), (rows, 16)), tile)
        return tile

    if kind == "product":
        result, sides = kernel.tile(acc(16, 16)), (kernel.tile(left(16, 16)), kernel.tile(right(16, 16)))
        kernel.mov(loaded(first(24), type=mat(16, 16)), sides[0])
        kernel.mov(loaded(kernel.c(0), type=mat(16, 16)), sides[1])
        kernel.mm(*sides, result)
        kernel.mmacc(*sides, result)
    else:
        tile = loaded(first(23 if kind == "other rows" else 24))
        result, sums, row = kernel.tile(vec(16, 16)), kernel.tile(column(16)), kernel.tile(vec(1, 16))
        if kind == "rows":
            kernel.t1("trowmax", tile, sums, result)
            kernel.t1("trowexpandsub", tile, result, sums)
            kernel.t1("tcolexpandmul", result, result, loaded(kernel.c(0), 1, vec(1, 16)))
        elif kind == "columns":
            kernel.t1("tcolmax", tile, row)
            kernel.t1("tcolexpandsub", tile, result, row)
        elif kind == "fixed rows":
            kernel.t1("tadd", tile, result, loaded(kernel.c(0)))
        else:
            kernel.t1("texp", tile, result)
    kernel.store(result, kernel.part("%out", (40, 16), (first(24), 0), (16, 16)))
    return module("a5", kernel)


@pytest.mark.parametrize(
    ("kind", "races"),
    [("elements", 0), ("rows", 0), ("product", 0), ("columns", 1), ("fixed rows", 1), ("other rows", 1)],
)
def test_rows_that_two_blocks_compute_alike(kind: str, races: int) -> None:
    """Rows that both store are the same if each is made, in the same way, of the same row of what was loaded."""
    x = np.random.default_rng(1).uniform(-1, 1, (40, 16)).astype(np.float32)
    result = pto.run(clamped(kind), arch="a5", blocks=3, arguments={"x": x, "out": np.zeros_like(x)})
    assert codes(result.findings) == ["global-race"] * races
    expected = {"elements": np.exp(x), "rows": (x - x.max(1, keepdims=True)) * x[0], "product": 2 * x @ x[:16]}
    if kind in expected:
        np.testing.assert_allclose(result.arrays["out"], expected[kind], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("pitch", "distance", "adds", "found"),
    [
        (16, 1, False, 0),
        (1, 8, False, 0),
        (32, 2, False, 0),
        (15, 1, False, 1),
        (0, 1, False, 1),
        (0, 1, True, 0),
        (3, 8, False, 0),
        (4, 8, False, 1),
    ],
)
def test_rows_over_each_other(pitch: int, distance: int, adds: bool, found: int) -> None:
    """A store of 8 x 16 elements at so many elements from row to row, and within a row; loads may overlap."""
    kernel = K("kernel", "vector", [("%x", P), ("%out", P)])
    tile = kernel.tile(vec(8, 16))
    for pointer in ("%x", "%out"):
        shape = f"shape = [{kernel.c(8)}, {kernel.c(16)}], strides = [{kernel.c(pitch)}, {kernel.c(distance)}]"
        type = "!pto.tensor_view<8x16xf32>"
        part = kernel.sub(kernel.op(f"pto.make_tensor_view {pointer}, {shape} : {type}", "w"), type, (0, 0), (8, 16))
        if pointer == "%x":
            kernel.load(part, tile)
        else:
            kernel.store(tile, part)
    if adds:
        kernel.lines[-1] += " {atomicType = #pto<atomic_type atomic_add>}"
    findings = [finding for finding in check(module("a5", kernel)) if finding.code == "overlapping-rows"]
    assert len(findings) == found
    for finding in findings:
        assert f"begin {pitch} elements apart, and the elements of a row are {distance} apart" in finding.message
        assert finding.severity == "error"


@pytest.mark.parametrize("computes", [True, False])
def test_unwritten_tiles_of_kernels_between_pipes(computes: bool) -> None:
    """A kernel that pops, computes and pushes is none that only shows its pipes."""
    cube, kernel = K("cube", "cube", []), K("vec", "vector", [])
    cube.open(0, 3, 1024, 2, c2v=cube.imp("c", "vec"), v2c=cube.reserve("v", 2048, "mat"))
    kernel.open(0, 3, 1024, 2, c2v=kernel.reserve("c", 2048, "vec"), v2c=kernel.imp("v", "cube"))
    cube.push(cube.tile(acc(16, 16)))
    cube.pop(mat(16, 16))
    cube.free()
    entry = kernel.pop(vec(16, 16))
    tile = kernel.tile(vec(16, 16))
    kernel.push(tile)
    if computes:
        kernel.t1("trelu", entry, tile)
    kernel.free()
    found = [finding for finding in check(module("a5", cube, kernel)) if finding.code == "unwritten-tile"]
    assert [finding.severity for finding in found] == ["warning"] * computes
