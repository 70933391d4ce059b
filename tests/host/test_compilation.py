"""What `loomir.compile` takes: files, text, modules made in Python, parameters and rectangles."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, FunctionType, MemRefType, ModuleOp, f32
from xdsl.ir import Block, Region

import loomir
from loomir.dialects import dsd, wse

STORE = """\
wse.program @p target "wse3" rectangle 3 x 2 {
  wse.pe @a on [:, :] {
    wse.param @k : i16 = dense<0>
    wse.buffer @o : memref<i16>
    wse.export @o
    wse.export @main
    wse.func @main() {
      %k = wse.get_param @k : i16
      %o = wse.get_buffer @o : memref<i16>
      memref.store %k, %o[] : memref<i16>
    }
  }
}
"""


def stored(**options: Any) -> np.ndarray:
    simulator = loomir.Simulator(loomir.compile(STORE, **options))
    simulator.launch("main")
    return simulator.get("o")


def module(buffer: str) -> ModuleOp:
    """A program that doubles its 8 words, made without any text; its function uses the buffer called `buffer`."""
    type = MemRefType(f32, [8])
    words = wse.GetBufferOp(buffer, type)
    walk = dsd.Mem1dOp(words.result, 8)
    two = arith.ConstantOp(FloatAttr(2.0, f32))
    double = dsd.FmulsOp(walk.result, [walk.result, two.result])
    body = Region(Block([words, walk, two, double, wse.ReturnOp()]))
    function = wse.FuncOp("main", FunctionType.from_lists([], []), body)
    members = [wse.BufferOp("words", type), wse.ExportOp("words"), wse.ExportOp("main"), function]
    pe = wse.PeOp("pe", body=Region(Block(members)))
    return ModuleOp([wse.ProgramOp("program", "wse3", 2, 2, Region(Block([pe])))])


def test_a_module_made_in_python_runs() -> None:
    simulator = loomir.Simulator(loomir.compile(module("words")))
    simulator.set("words", np.arange(8))
    simulator.launch("main")
    assert_array_equal(simulator.get("words"), np.tile(2 * np.arange(8, dtype=np.float32), (2, 2, 1)), strict=True)


def test_a_program_prints_as_what_it_exports() -> None:
    exports = "\n  words: float32 [8]\n  main()"
    assert repr(loomir.compile(module("words"))) == f"Program program for wse3, 2x2 PEs, exports{exports}"
    silent = loomir.compile(STORE.replace("wse.export @o", "").replace("wse.export @main", ""))
    assert repr(silent) == "Program p for wse3, 3x2 PEs, exports nothing"


def test_a_module_without_locations_is_refused_in_words() -> None:
    with pytest.raises(loomir.LoomError, match=r"^error: @other is not defined in wse\.pe @pe"):
        loomir.compile(module("other"))


@pytest.mark.parametrize("source", ["wse.program {\n", STORE.replace("@k", "@j", 1)])
def test_what_an_uncaught_error_prints_is_short(source: str) -> None:
    with pytest.raises(loomir.LoomError) as caught:
        loomir.compile(source)
    printed = "".join(traceback.format_exception(caught.value))
    assert printed.count("Traceback") == 1 and "builtin.module" not in printed


def test_a_file_and_its_text_are_the_same_program(tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(STORE)
    for source in (path, str(path), STORE):
        assert loomir.compile(source).rectangle == (3, 2)


@pytest.mark.parametrize("source", [None, 3, "", b"wse.program"])
def test_no_program(source: Any) -> None:
    with pytest.raises(loomir.LoomError, match="is not a program; give a file, IR text or an xDSL module"):
        loomir.compile(source)


@pytest.mark.parametrize("value", [65535, -1, np.int64(-1), np.full((2, 3), 65535)])
def test_integer_parameters_are_bits(value: Any) -> None:
    assert_array_equal(stored(defines={"k": value}), np.full((2, 3), -1, np.int16), strict=True)


def test_a_parameter_of_every_pe() -> None:
    values = np.arange(20, dtype=np.int16).reshape(4, 5) - 7
    assert_array_equal(stored(defines={"k": values}, rectangle=(np.int64(5), 4)), values, strict=True)


@pytest.mark.parametrize("value", [65536, -32769, 1.5, [1, 2], "three", 1 << 70])
def test_parameters_that_do_not_fit(value: Any) -> None:
    with pytest.raises(loomir.LoomError, match="parameter 'k'"):
        loomir.compile(STORE, defines={"k": value})


@pytest.mark.parametrize(
    "rectangle", [3, (3,), (1, 2, 3), (2.5, 1), ("2", "1"), (0, 1), (1, -1), (763, 1), (1 << 70, 1)]
)
def test_no_rectangle(rectangle: Any) -> None:
    with pytest.raises(loomir.LoomError, match="rectangle"):
        loomir.compile(STORE, rectangle=rectangle)
