"""Operations that make tiles of other shapes, with odd, few and no valid rows or columns, which a launch decides."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from loomir.host import pto
from loomir.runtime.executors import EXECUTOR

SHAPES = ((8, 32), (5, 17), (1, 1), (7, 9), (0, 9), (3, 0), (0, 0))
A = np.random.default_rng(1).integers(-5, 6, (8, 32)).astype(np.float32)
B = np.random.default_rng(2).integers(-5, 6, (8, 32)).astype(np.float32)
A[1, :3] = np.nan, np.inf, -0.0

OPERATIONS = """
  pto.tcmp ins(%ta, %tb {cmpMode = #pto<cmp lt>} : WHOLE, WHOLE) outs(%tm : MASK)
  pto.tsel ins(%tm, %ta, %tb, %tx : MASK, WHOLE, WHOLE, WHOLE) outs(%ts : WHOLE)
  pto.ttrans ins(%ta, %tt : WHOLE, TURNED) outs(%tt2 : TURNED)
  pto.tfillpad ins(%ta : WHOLE) outs(%tp : PADDED)
  pto.tci ins(%first : i32) outs(%tk : COUNTED)
  pto.tconcat ins(%ta, %tb : WHOLE, WHOLE) outs(%tw : WIDE)
"""
TILES = {
    "WHOLE": "!pto.tile_buf<vec, 8x32xf32, valid=?x?>", "MASK": "!pto.tile_buf<vec, 8x32xui8>",
    "TURNED": "!pto.tile_buf<vec, 32x8xf32, valid=?x?>", "PADDED": "!pto.tile_buf<vec, 8x32xf32, pad=3>",
    "COUNTED": "!pto.tile_buf<vec, 8x32xi32, valid=?x?>", "WIDE": "!pto.tile_buf<vec, 8x64xf32, valid=?x?>",
}  # fmt: skip
STORED = {
    "s": ("WHOLE", 8, 32, "%m, %n"), "t2": ("TURNED", 32, 8, "%n, %m"), "p": ("PADDED", 8, 32, "%c8, %c32"),
    "k": ("COUNTED", 8, 32, "%m, %n"), "w": ("WIDE", 8, 64, "%m, %n2"),
}  # fmt: skip


def element(name: str) -> str:
    return "i32" if name == "k" else "f32"


@cache
def program() -> pto.Program:
    extents = {"TURNED": ("%n", "%m"), "WIDE": ("%m", "%n2")}
    made = {"a": "WHOLE", "b": "WHOLE", "x": "WHOLE", "m": "MASK", "t": "TURNED"} | {
        name: kind for name, (kind, *_) in STORED.items()
    }
    lines: list[str] = []
    for name, kind in made.items():
        rows, columns = extents.get(kind, ("%m", "%n"))
        open_ = f" valid_row = {rows} valid_col = {columns}" if "?" in TILES[kind] else ""
        lines.append(f"%t{name} = pto.alloc_tile{open_} : {TILES[kind]}")
    views = {"a": ("WHOLE", 8, 32, "%m, %n"), "b": ("WHOLE", 8, 32, "%m, %n"), **STORED}
    after: list[str] = []
    for name, (kind, rows, columns, sizes) in views.items():
        type = f"{rows}x{columns}x{element(name)}"
        part = f"!pto.partition_tensor_view<?x?x{element(name)}>"
        lines += [
            f"%v{name} = pto.make_tensor_view %{name}, shape = [%c{rows}, %c{columns}], strides = [%c{columns}, %c1] : "
            f"!pto.tensor_view<{type}>",
            f"%q{name} = pto.partition_view %v{name}, offsets = [%c0, %c0], sizes = [{sizes}] : "
            f"!pto.tensor_view<{type}> -> {part}",
        ]
        if name in STORED:
            after.append(f"pto.tstore ins(%t{name} : {TILES[kind]}) outs(%q{name} : {part})")
        else:
            lines.append(f"pto.tload ins(%q{name} : {part}) outs(%t{name} : {TILES[kind]})")
    body = OPERATIONS
    for kind, type in TILES.items():
        body = body.replace(kind, type)
    arguments = ", ".join(f"%{name}: !pto.ptr<{element(name)}>" for name in views)
    numbers = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 2, 8, 32, 64))
    return pto.Program(
        f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k({arguments}, %rows: index, %columns: index)
        attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      {numbers}
      %m = arith.addi %rows, %c0 : index
      %n = arith.addi %columns, %c0 : index
      %n2 = arith.muli %columns, %c2 : index
      %first = arith.constant 40 : i32
      {chr(10).join(lines)}
      {body}
      {chr(10).join(after)}
      return
    }}
    }}""",
        check=False,
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_few_elements(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]) -> None:
    m, n = shape
    results: list[Any] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv(EXECUTOR, executor)
        blank = {
            name: np.full((rows, columns), 9, np.int32 if name == "k" else np.float32)
            for name, (_, rows, columns, _) in STORED.items()
        }
        given = {"a": A, "b": B, "rows": m, "columns": n, **blank}
        results.append(pto.launch(program(), given).arrays)
    for name in STORED:
        assert np.array_equal(*(each[name].view(np.uint8) for each in results)), name
    found = results[0]
    a, b = A[:m, :n], B[:m, :n]
    padded = np.full((8, 32), -np.inf, np.float32)
    padded[:m, :n] = a
    for name, wanted in (
        ("s", np.where(a < b, a, b)), ("t2", a.T), ("p", padded), ("w", np.concatenate([a, b], axis=1)),
        ("k", 40 + np.arange(m * n).reshape(m, n)),
    ):  # fmt: skip
        rows, columns = wanted.shape
        np.testing.assert_array_equal(found[name][:rows, :columns], wanted, err_msg=name)
        outside = np.ones(found[name].shape, bool)
        outside[:rows, :columns] = False
        assert (found[name][outside] == 9).all(), name
