"""Kernels against numpy, checked and run without a finding; and the same with a fault planted, which is found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from loomir import pto
from loomir.diagnostics.errors import LoomError
from loomir.diagnostics.findings import Finding
from loomir.host.pto_check import check

from .pto_kernel_text import K, P, acc, left, mat, module, right, vec
from .pto_kernels import Case, attention, cases, causal, dequant, gemm, rnd, softmax, tensors

CASES = {case.name: case for case in cases()}


def told(findings: list[Finding]) -> list[str]:
    """The findings that are not about the chip."""
    return [str(finding) for finding in findings if finding.severity != "note"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.one_in(3)
def test_right_kernels(name: str) -> None:
    case = CASES[name]
    assert told(check(case.text)) == []
    behaviors: tuple[Any, ...] = (case.arch, "ideal")
    for arch in behaviors:
        result = pto.run(case.text, arch=arch, blocks=case.blocks, arguments=case.arguments)
        assert told(result.findings) == []
        np.testing.assert_allclose(result.arrays[case.out], case.golden, rtol=case.rtol, atol=1e-4)


# ---------------------------------------------------------------------------------------------
# Planted faults
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """A text replaced in one kernel of a right program, or in both; every occurrence, or only one."""

    name: str
    code: str
    pattern: str
    replacement: str = ""
    within: str = ""
    occurrence: int | None = 0

    def planted(self, case: Case) -> str:
        start = case.text.index(f"func.func @{self.within}") if self.within else 0
        end = case.text.find("func.func", start + 1) if self.within else len(case.text)
        head, body, tail = case.text[:start], case.text[start:end], case.text[end:]
        found = list(re.finditer(self.pattern, body))
        assert found, self.pattern
        if self.occurrence is None:
            return head + re.sub(self.pattern, self.replacement, body) + tail
        one = found[self.occurrence]
        return head + body[: one.start()] + one.expand(self.replacement) + body[one.end() :] + tail


def literal(text: str) -> str:
    return re.escape(text)


SPLIT_ROWS = [
    Fault("pop split by columns", "split-mismatch", r"(tpop_from_aic \{id = 0, split = )1", r"\g<1>2"),
    Fault("push split by columns", "split-mismatch", r"(tpush_to_aiv.*split = )1", r"\g<1>2"),
    Fault("both cores store one half", "global-race", r"(arith.muli %ln\d+, )%c16_index", r"\g<1>%c0_index"),
]
WHOLE = [
    Fault("one end splits", "split-mismatch", r"(tpop_from_aic \{id = 0, split = )0", r"\g<1>1"),
    Fault("integers popped", "element-mismatch", r"(tile_buf<loc=vec, dtype=)f32", r"\g<1>i32", "vec", None),
    Fault("half the rows popped", "shape-mismatch", literal(vec(32, 32)), vec(32, 32, valid=(16, 32)), "vec", None),
    Fault("wider tile popped", "shape-mismatch", r"cols=32, v_row=(\d+), v_col=32", r"cols=64, v_row=\1, v_col=64",
          "vec", None),
    # What computes with the tile refuses it too.
    Fault("popped by columns", "layout-mismatch", r"(rows=32.*?blayout=)row_major", r"\g<1>col_major", "vec", None),
    Fault("product missing", "unwritten-tile", r"\n  pto.tmatmul .*"),
    Fault("load missing", "unwritten-tile", r"\n  pto.tload .*"),
    Fault("move missing", "unwritten-tile", r"\n  pto.tmov .*"),
    Fault("tile of half the columns loaded", "narrow-tile", literal(mat(32, 32)), mat(32, 32, valid=(32, 16)), "cube",
          None),
    Fault("free missing", "unbalanced-pipe", r"\n  pto.tfree.*"),
    Fault("pushed twice", "unbalanced-pipe", r"(\n  pto.tpush.*)", r"\1\1"),
    Fault("not pushed", "unbalanced-pipe", r"\n  pto.tpush.*"),
    Fault("small buffer", "reserved-size", "size = 16384, location", "size = 8192, location"),
    Fault("small slots", "rejected", "slot_size = 4096", "slot_size = 2048", "", None),
]  # fmt: skip
TO_CUBE = [
    Fault("boxes transposed", "layout-mismatch", literal(mat(16, 32)), mat(16, 32).replace("col_major, slayout=row",
          "row_major, slayout=col"), "cube", None),
    Fault("half popped", "shape-mismatch", literal(mat(16, 32)), mat(16, 32, valid=(8, 32)), "cube", None),
    Fault("scaling missing", "unwritten-tile", r"\n  pto.tcolexpandmul .*"),
    Fault("pushed by columns", "split-mismatch", r"(tpush_to_aic.*split = )1", r"\g<1>2"),
]  # fmt: skip
FREE_OF_ONE = Fault("credit for one vector core", "split-mismatch", r"(tfree_from_aiv \{id = \d, split = )1", r"\g<1>0")
ROUNDS = [
    Fault("both cores store one half", "global-race", r"(arith.muli %ln\d+, )%c16_index", r"\g<1>%c0_index"),
    Fault("one free missing", "unbalanced-pipe", r"\n  pto.tfree_from_aic \{id = 2.*"),
    Fault("free of another pipe", "unbalanced-pipe", r"pto.tfree_from_aic \{id = 2", "pto.tfree_from_aic {id = 0"),
    Fault("answer missing", "unbalanced-pipe", r"\n  pto.tpush_to_aic.*"),
    Fault("exponentials missing", "unwritten-tile", r"\n  pto.texp .*"),
]
BLOCKS = [
    Fault("blocks store one part", "global-race", r"(arith.muli %bk\d+, )%c64_index", r"\g<1>%c0_index", "vec"),
    Fault("blocks overlap", "global-race", r"(arith.muli %bk\d+, )%c64_index", r"\g<1>%c32_index", "vec"),
]
TENSORS = [
    Fault("slot not stored", "unwritten-slot", r"\n  pto.tstore.*"),
    Fault("slot not pushed", "slot-not-pushed", r"\n  pto.tpush.*"),
]
TRIANGLE = [Fault("one round less", "unbalanced-pipe", r"(arith.addi %r\d+, )%c1_index", r"\g<1>%c0_index")]
ROWS = [
    Fault("quotient missing", "unwritten-tile", r"\n  pto.trowexpanddiv .*"),
    Fault("half the rows loaded", "narrow-tile", r"rows=16, (.*?), v_row=16", r"rows=16, \1, v_row=8", "", None),
]

PLANTED = [
    (case, fault)
    for arch in ("a5", "a2a3")
    for case, faults in (
        (gemm("gemm", arch, 1), SPLIT_ROWS),
        (gemm("gemm", arch, 0), WHOLE),
        (dequant("dequant", arch, 1), TO_CUBE),
        (attention("attention", arch, 1), ROUNDS),
        (attention("attention ahead", arch, 1, ahead=True), ROUNDS[:1]),
        (tensors("tensors"), TENSORS if arch == "a2a3" else []),
        (dequant("dequant", arch, 1), [FREE_OF_ONE] if arch == "a5" else []),
        (causal("causal", arch), TRIANGLE),
        (softmax("softmax", arch), ROWS),
    )
    for fault in faults
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "fault"), PLANTED, ids=[f"{case.arch}-{case.name}-{fault.name}" for case, fault in PLANTED]
)
@pytest.mark.one_in(2)
def test_planted_faults(case: Case, fault: Fault) -> None:
    found = {finding.code for finding in check(fault.planted(case)) if finding.severity != "note"}
    assert fault.code in found, found


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.parametrize("arch", ["a5", "a2a3"])
@pytest.mark.parametrize("fault", BLOCKS, ids=[fault.name for fault in BLOCKS])
def test_faults_of_several_blocks(arch: Any, fault: Fault) -> None:
    """How many blocks there are is known to a run alone."""
    case = gemm("blocks", arch, 1, blocks=3)
    text = fault.planted(case)
    assert told(check(text)) == []
    result = pto.run(text, arch=arch, blocks=case.blocks, arguments=case.arguments)
    assert fault.code in {finding.code for finding in result.findings}


def narrow_product(arch: str, packed: bool, rows: int = 64, valid: int = 16) -> Case:
    """A product of `valid` rows in an accumulator of `rows`."""
    cube = K("cube", "cube", [("%a", P), ("%b", P), ("%out", P)])
    total = acc(rows, 64, valid=(valid, 64))
    result = cube.tile(total.replace("pad=0", "pad=0, compact=1") if packed else total)
    lhs, rhs = cube.tile(left(rows, 32, valid=(valid, 32))), cube.tile(right(32, 64))
    first, second = cube.tile(mat(rows, 32, valid=(valid, 32))), cube.tile(mat(32, 64))
    cube.load(cube.part("%a", (valid, 32), (0, 0), (valid, 32)), first)
    cube.load(cube.part("%b", (32, 64), (0, 0), (32, 64)), second)
    cube.mov(first, lhs)
    cube.mov(second, rhs)
    cube.mm(lhs, rhs, result)
    cube.store(result, cube.part("%out", (valid, 64), (0, 0), (valid, 64)))
    a, b = rnd(valid, 32), rnd(32, 64)
    arguments = {"a": a, "b": b, "out": np.zeros((valid, 64), np.float32)}
    return Case("narrow", module("a5" if arch == "a5" else "a3", cube), arch, arguments, "out", a @ b)


@pytest.mark.parametrize(
    ("packed", "rows", "valid", "codes"),
    [(False, 64, 16, ["accumulator-pitch"]), (True, 64, 16, []), (False, 16, 16, []), (False, 64, 50, [])],
)
def test_pitch_of_products(packed: bool, rows: int, valid: int, codes: list[str]) -> None:
    """The chip takes M from the left tile and reads with the rows of the accumulator, unless that is packed."""
    case = narrow_product("a5", packed, rows, valid)
    assert [finding.code for finding in check(case.text)] == codes
    result = pto.run(case.text, arch="a5", arguments=case.arguments)
    assert [finding.code for finding in result.findings] == codes
    for finding in result.findings:
        assert "boxes of this product 16 rows apart" in finding.message and "compact=1" in finding.message


def stored_product(
    shape: tuple[int, int], stored: tuple[int, int], first: tuple[int, int] | None = None, *, adds: bool = True
) -> str:
    """A product of `shape` in an accumulator of which `stored` are valid and stored; added to one of `first`, or after
    it in its place."""
    cube = K("cube", "cube", [("%a", P), ("%b", P), ("%out", P)])
    result = cube.tile(acc(*stored))
    for number, (rows, columns) in enumerate([shape] if first is None else [first, shape]):
        lhs = cube.tile(left(stored[0], 32, valid=(rows, 32)))
        rhs = cube.tile(right(32, stored[1], valid=(32, columns)))
        loaded = cube.tile(mat(stored[0], 32, valid=(rows, 32)))
        other = cube.tile(mat(32, stored[1], valid=(32, columns)))
        cube.load(cube.part("%a", (rows, 32), (0, 0), (rows, 32)), loaded)
        cube.load(cube.part("%b", (32, columns), (0, 0), (32, columns)), other)
        cube.mov(loaded, lhs)
        cube.mov(other, rhs)
        (cube.mmacc if number and adds else cube.mm)(lhs, rhs, result)
    cube.store(result, cube.part("%out", stored, (0, 0), stored))
    return module("a5", cube)


@pytest.mark.parametrize(
    ("shape", "stored", "first", "message"),
    [
        ((64, 16), (64, 64), None, "64 columns of the accumulator are stored, but the products have written 16"),
        ((16, 16), (64, 16), None, "64 rows of the accumulator are stored, but the products have written 16"),
        ((64, 16), (64, 64), (64, 32), "64 columns of the accumulator are stored, but the products have written 32"),
        ((64, 16), (64, 64), (64, 64), None),
        ((64, 64), (64, 64), None, None),
        ((64, 50), (64, 64), None, None),
    ],
)
def test_part_of_an_accumulator_without_product(
    shape: tuple[int, int], stored: tuple[int, int], first: tuple[int, int] | None, message: str | None
) -> None:
    found = [finding for finding in check(stored_product(shape, stored, first)) if finding.code == "unwritten-tile"]
    assert [finding.severity for finding in found] == ([] if message is None else ["error"])
    assert message is None or message in found[0].message


@pytest.mark.parametrize(
    ("shape", "first", "message"),
    [
        ((16, 64), (64, 64), "64 rows of the accumulator are stored, but the last product has written 16, so the "
         "others are those of an earlier one; give the accumulator 16 valid rows, or the operands 64"),
        ((64, 16), (64, 64), "64 columns of the accumulator are stored, but the last product has written 16, so"),
        ((64, 64), (64, 64), None),
        ((64, 64), (16, 64), None),
    ],
)  # fmt: skip
def test_part_of_an_accumulator_of_an_earlier_product(
    shape: tuple[int, int], first: tuple[int, int], message: str | None
) -> None:
    """It may be meant so: a warning."""
    text = stored_product(shape, (64, 64), first, adds=False)
    found = [finding for finding in check(text) if finding.code == "unwritten-tile"]
    assert [finding.severity for finding in found] == ([] if message is None else ["warning"])
    assert message is None or message in found[0].message
    assert not [finding for finding in check(stored_product(shape, (64, 64), first)) if "earlier" in finding.message]


@pytest.mark.parametrize(("address", "codes"), [(0, ["slots-overlap"]), (12288, ["slots-overlap"]), (16384, [])])
@pytest.mark.slow
def test_addresses_inside_slots(address: int, codes: list[str]) -> None:
    """Slots are in the first 16 KiB of the vector core's memory; besides, no level of PTOAS takes some addresses."""
    stated = "address_space<vec>, auto = false, base = 0"
    text = gemm("gemm", "a5", 0).text.replace("address_space<vec>, auto = true", stated)
    assert [finding.code for finding in check(text)] == ["build-level"]
    start = text.index("func.func @vec")
    begin = text.index("{\n", text.index("kernel_kind", start)) + 2
    constant = f"%where = arith.constant {address} : i64\n"
    placed = text[begin:].replace("= pto.alloc_tile :", "= pto.alloc_tile addr = %where :", 1)
    found = [finding.code for finding in check(text[:begin] + constant + placed)]
    assert [code for code in found if code != "build-level"] == codes


def test_slots_beyond_the_memory() -> None:
    """Of a pipe that is a value, with an address."""

    def program(address: int) -> str:
        settings = "{dir_mask = 1, slot_size = 4096, slot_num = 4, flag_base = 0}"
        pipe = f"pto.initialize_l2l_pipe {settings}(%at : i32) -> !pto.pipe"
        tile = f"%t = pto.declare_tile -> {vec(32, 32)}\npto.tpop(%t, %p : {vec(32, 32)}, !pto.pipe) {{split = 0}}\n"
        body = f"%at = arith.constant {address} : i32\n%p = {pipe}\n{tile}"
        body += "pto.tfree(%p : !pto.pipe) {split = 0}\nreturn"
        kind = "attributes {pto.kernel_kind = #pto.kernel_kind<vector>}"
        return f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @v() {kind} {{\n{body}\n}}\n}}'

    assert check(program(0)) == []
    (finding,) = check(program(245760))
    assert finding.code == "slots-overlap" and "which has 253952" in finding.message


@pytest.mark.parametrize(
    ("offset", "bytes_read"), [(257, "1028 to 2051"), (1 << 20, "4194304 to 4195327"), (-1, "-4 to 1019")]
)
def test_pointers_beyond_their_array(offset: int, bytes_read: str) -> None:
    """The array that the pointer comes from is named, not the one that happens to be at the address."""
    kernel = K("vec", "vector", [("%a", P), ("%out", P), ("%n", "index")])
    moved = kernel.op("pto.addptr %a, %n : <f32> -> <f32>", "q")
    tile = kernel.tile(vec(16, 16))
    kernel.load(kernel.part(moved, (16, 16), (0, 0), (16, 16)), tile)
    kernel.store(tile, kernel.part("%out", (16, 16), (0, 0), (16, 16)))
    arguments = {"a": np.ones((32, 16), np.float32), "out": np.zeros((16, 16), np.float32)}
    assert pto.run(module("a3", kernel), arguments={**arguments, "n": 256}).findings == []
    with pytest.raises(LoomError, match=f"loads bytes {bytes_read} of 'a', which has 2048"):
        pto.run(module("a3", kernel), arguments={**arguments, "n": offset})


@pytest.mark.slow
def test_numbers_known_to_a_run_alone() -> None:
    """A part that reaches out of its tensor, with its numbers, and rows that blocks share only for some number."""
    kernel = K("vec", "vector", [("%a", P), ("%out", P), ("%step", "index")])
    row = kernel.mul(kernel.block(), "%step")
    tile, first = kernel.tile(vec(16, 16)), kernel.tile(vec(16, 16))
    kernel.load(kernel.part("%a", (64, 16), (row, 0), (16, 16)), tile)
    kernel.load(kernel.part("%a", (64, 16), (0, 0), (16, 16)), first)
    kernel.t1("tadd", tile, tile, first)
    kernel.store(tile, kernel.part("%out", (64, 16), (row, 0), (16, 16)))
    text = module("a3", kernel)
    arrays = {"a": rnd(64, 16), "out": np.zeros((64, 16), np.float32)}

    def codes(step: int) -> list[str]:
        result = pto.run(text, arch="a2a3", blocks=4, arguments={**arrays, "step": step})
        return [finding.code for finding in result.findings]

    assert check(text) == [] and codes(16) == []
    assert codes(8) == ["global-race"]
    assert pto.run(text, arch="a2a3", blocks=4, arguments={**arrays, "step": 8}, check=False).findings == []
    with pytest.raises(
        LoomError, match=r"block 2 AIV0 views 16 elements from 50 on of dimension 0 of 'a', which has 64"
    ):
        codes(25)


@pytest.mark.parametrize(("rows", "columns", "codes"), [(5, 16, []), (3, 16, []), (7, 16, 1), (5, 12, 1)])
def test_shapes_known_to_a_run_alone(rows: int, columns: int, codes: object) -> None:
    """Of five rows of sixteen pushed, another number of columns, or more rows, is popped."""
    arguments = [("%a", P), ("%b", P), ("%out", P), ("%m", "index"), ("%rows", "index"), ("%columns", "index")]
    cube, vector = K("cube", "cube", arguments), K("vec", "vector", arguments)
    cube.open(0, 1, 1024, 2, c2v=cube.imp("f", "vec"))
    vector.open(0, 1, 1024, 2, c2v=vector.reserve("f", 2048, "vec"))
    first, second = cube.tile(mat(16, 16)), cube.tile(mat(16, 16))
    lhs, rhs = cube.tile(left(16, 16)), cube.tile(right(16, 16))
    open_acc = acc(16, 16).replace("v_row=16", "v_row=?").replace("v_col=16", "v_col=?")
    total = cube.tile(open_acc, cube.c(16), cube.c(16))
    cube.load(cube.part("%a", (16, 16), (0, 0), (16, 16)), first)
    cube.load(cube.part("%b", (16, 16), (0, 0), (16, 16)), second)
    cube.mov(first, lhs)
    cube.mov(second, rhs)
    cube.mm(lhs, rhs, total)
    cube.do(f"pto.set_validshape {total}, %m, {cube.c(16)} : {open_acc}")
    cube.push(total)
    entry = vector.pop(vec(16, 16).replace("v_row=16", "v_row=?").replace("v_col=16", "v_col=?"), 0, 0,
                       ("%rows", "%columns"))  # fmt: skip
    vector.store(entry, vector.part("%out", (16, 16), (0, 0), ("%rows", "%columns")))
    vector.free()
    text = module("a5", cube, vector).replace("x%rowsx%columnsxf32", "x").replace("<%rowsx%columnsx", "<?x?x")
    arrays = {name: np.zeros((16, 16), np.float32) for name in ("a", "b", "out")}
    assert told(check(text)) == []
    result = pto.run(text, arch="a5", arguments={**arrays, "m": 5, "rows": rows, "columns": columns})
    expected = ["shape-mismatch"] if codes else []
    assert [finding.code for finding in result.findings] == expected


def test_data_between_cores_outside_pipes() -> None:
    """A vector core reads what the cube core stores, which only a pipe orders."""

    def program(ordered: bool) -> str:
        cube = K("cube", "cube", [("%a", P), ("%b", P), ("%tmp", P), ("%out", P)])
        vector = K("vec", "vector", [("%a", P), ("%b", P), ("%tmp", P), ("%out", P)])
        for kernel in (cube, vector):
            buffer = kernel.imp("f", "vec") if kernel is cube else kernel.reserve("f", 2048, "vec")
            kernel.open(0, 1, 1024, 2, c2v=buffer)
        first, second = cube.tile(mat(16, 16)), cube.tile(mat(16, 16))
        lhs, rhs, total = cube.tile(left(16, 16)), cube.tile(right(16, 16)), cube.tile(acc(16, 16))
        cube.load(cube.part("%a", (16, 16), (0, 0), (16, 16)), first)
        cube.load(cube.part("%b", (16, 16), (0, 0), (16, 16)), second)
        cube.mov(first, lhs)
        cube.mov(second, rhs)
        cube.mm(lhs, rhs, total)
        cube.store(total, cube.part("%tmp", (16, 16), (0, 0), (16, 16)))
        cube.push(total)
        tile = vector.tile(vec(16, 16))
        if ordered:
            vector.pop(vec(16, 16))
        vector.load(vector.part("%tmp", (16, 16), (0, 0), (16, 16)), tile)
        if not ordered:
            vector.pop(vec(16, 16))
        vector.free()
        vector.store(tile, vector.part("%out", (16, 16), (0, 0), (16, 16)))
        return module("a5", cube, vector)

    assert check(program(ordered=True)) == []
    (finding,) = check(program(ordered=False))
    assert (finding.code, finding.severity) == ("global-race", "error")
    assert "of 'tmp'" in finding.message and "nothing orders the two" in finding.message
    assert "hand the data over through a pipe" in finding.message
