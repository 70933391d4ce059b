"""Estimated times of traces, against sums by hand."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir import pto
from loomir.host.pto_check import parse_kernels, prepare, slots_of
from loomir.host.pto_dry_run import estimate as estimate_of
from loomir.host.pto_dry_run import trace_of
from loomir.targets.chips import COSTS

from ...host.pto_kernel_text import K, P, acc, left, mat, module, right, vec
from ...host.pto_kernels import gemm, matmul
from .published_products import PUBLISHED


def estimate(text: str, arch: str, arguments: dict[str, Any], blocks: int = 1) -> dict[str, Any]:
    result = pto.run(text, arch=arch, blocks=blocks, arguments=arguments, times=True)  # pyright: ignore
    return result.statistics["estimate"]


def sequence(arch: str, rounds: int) -> tuple[str, dict[str, np.ndarray]]:
    """A kernel of the vector cores that loads, doubles and stores a tile again and again, each after the last."""
    kernel = K("vec", "vector", [("%a", P), ("%out", P)])
    tile, other = kernel.tile(vec(32, 64)), kernel.tile(vec(32, 64))
    kernel.for_(0, rounds)
    kernel.load(kernel.part("%a", (32, 64), (0, 0), (32, 64)), tile)
    kernel.ts("tmuls", tile, 2.0, other)
    kernel.store(other, kernel.part("%out", (32, 64), (0, 0), (32, 64)))
    kernel.end()
    return module(arch, kernel), {"a": np.ones((32, 64), np.float32), "out": np.zeros((32, 64), np.float32)}


@pytest.mark.parametrize(("name", "arch"), [("a2a3", "a3"), ("a5", "a5")])
@pytest.mark.slow
def test_a_chain_of_operations(name: str, arch: str) -> None:
    """Each operation waits for the data of the one before: a load, 32 vector steps, a store."""
    costs, size = COSTS[name], 32 * 64 * 4
    load = costs.copy_head + size / costs.rates["gm to vec"]
    store = costs.copy_head + size / costs.rates["vec to gm"]
    double = costs.vector_head + size / 256 * costs.vector_steps["unary"]
    text, arguments = sequence(arch, 1)
    found = estimate(text, name, arguments)
    assert found["is_estimate"] and found["cycles"] == ceil(load + double + store)
    # The next load waits until the tile has been read, and overlaps with the store.
    text, arguments = sequence(arch, 2)
    second = max(load + double, load + store) if store > load else load + double
    assert estimate(text, name, arguments)["cycles"] == ceil(load + double + second + store)


def test_a_product() -> None:
    """Of 64 x 32 and 32 x 64 floats twice: 4 x 4 x 4 steps of 2 cycles, and the moves before it."""
    case = matmul("product", "a2a3")
    found = estimate(case.text, "a2a3", case.arguments)
    (core,) = found["cores"]
    assert core["core"] == "block 0 AIC" and core["waits"] == {}
    assert core["occupancy"]["M"] == pytest.approx(2 * (6 + 64 * 2) / found["cycles"], abs=1e-3)


@pytest.mark.slow
def test_who_waits_for_whom() -> None:
    """A slow consumer holds up the cube core only when slots run out; with more of them it waits less."""

    def exchange(slots: int, work: int) -> str:
        cube = K("cube", "cube", [("%a", P), ("%b", P), ("%out", P)])
        vector = K("vec", "vector", [("%a", P), ("%b", P), ("%out", P)])
        cube.open(0, 1, 4096, slots, c2v=cube.imp("f", "vec"))
        vector.open(0, 1, 4096, slots, c2v=vector.reserve("f", 4096 * slots, "vec"))
        lhs, rhs, total = cube.tile(left(32, 32)), cube.tile(right(32, 32)), cube.tile(acc(32, 32))
        first, second = cube.tile(mat(32, 32)), cube.tile(mat(32, 32))
        cube.load(cube.part("%a", (32, 32), (0, 0), (32, 32)), first)
        cube.load(cube.part("%b", (32, 32), (0, 0), (32, 32)), second)
        cube.mov(first, lhs)
        cube.mov(second, rhs)
        cube.mm(lhs, rhs, total)
        cube.for_(0, 8)
        cube.push(total)
        cube.end()
        tile = vector.tile(vec(32, 32))
        vector.for_(0, 8)
        entry = vector.pop(vec(32, 32))
        for _ in range(work):
            vector.t1("texp", entry, tile)
        vector.free()
        vector.end()
        vector.store(tile, vector.part("%out", (32, 32), (0, 0), (32, 32)))
        return module("a5", cube, vector)

    matrices = {name: np.zeros((32, 32), np.float32) for name in ("a", "b", "out")}

    def waits(slots: int, work: int) -> dict[str, Any]:
        return {core["core"]: core["waits"] for core in estimate(exchange(slots, work), "a5", matrices)["cores"]}

    few, many, idle = waits(1, 8), waits(8, 8), waits(8, 0)
    assert few["block 0 AIC"]["slots of c2v_0"] > 1000
    assert "slots of c2v_0" not in many["block 0 AIC"]
    assert idle["block 0 AIV0"]["entries of c2v_0"] > many["block 0 AIV0"]["entries of c2v_0"]
    (pipe,) = slots_of(exchange(1, 8), "a5")
    assert pipe.cycles[1][0] > pipe.cycles[2][0] >= pipe.cycles[8][0]
    assert pipe.cycles[1][1] > pipe.cycles[8][1]


@pytest.mark.slow
def test_the_behavior_decides_the_path() -> None:
    """By way of global memory, tiles are stored and loaded; a5 hands them over."""
    whole = gemm("whole", "a5", 0)
    on_a5 = estimate(whole.text, "a5", whole.arguments)
    other = gemm("whole", "a2a3", 0)
    on_a2a3 = estimate(other.text, "a2a3", other.arguments)
    assert on_a2a3["cycles"] > on_a5["cycles"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extent", "ratio"), [(1536, 0.80), (3072, 1.08), pytest.param(6144, 1.15, marks=pytest.mark.thorough)]
)
def test_published_measurements(extent: int, ratio: float) -> None:
    """Estimates are within a fifth of what an A3 takes, as docs/pto.md says, and so is what each pipeline does."""
    case = PUBLISHED[extent]
    found: list[dict[str, Any]] = []

    def estimate_placed(placed: ModuleOp) -> None:
        found.append(estimate_of(trace_of(placed, "a2a3", "a2a3", {}), "a2a3"))

    prepare(parse_kernels(case.text()).clone(), "a2a3", placed=estimate_placed)
    assert round(found[0]["cycles"] / case.cycles, 2) == ratio
    busy = [found[0]["cores"][0]["occupancy"][pipe] * found[0]["cycles"] for pipe in ("M", "MTE1", "MTE2")]
    for cycles, share in zip(busy, case.shares, strict=False):
        assert 0.9 < cycles / (case.cycles * share / 100) < 1.2
