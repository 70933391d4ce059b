"""What the host sees as unsigned in CSL it sees as unsigned after CSL -> IR -> CSL -> IR, and gets the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loomir
from loomir.backend.csl import source_of
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.frontend.compilation import CompiledLayout, compile_layout

from .round_trip import assert_same

TYPES = {
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "i8": np.int8, "i16": np.int16, "i32": np.int32,
    "f32": np.float32,
}  # fmt: skip
INTEGERS = [type for type in TYPES if type != "f32"]


def compiled(directory: Path, layout: str, pe: str, arch: str) -> CompiledLayout:
    directory.mkdir()
    (directory / "layout.csl").write_text(layout)
    (directory / "pe.csl").write_text(pe)
    return compile_layout(directory / "layout.csl", arch=arch, memcpy=True)


def again(first: CompiledLayout, directory: Path, arch: str) -> CompiledLayout:
    directory.mkdir()
    for name, text in source_of(first.module).items():
        (directory / name).write_text(text)
    return compile_layout(directory / "layout.csl", arch=arch, memcpy=True)


def signatures(program: CompiledLayout) -> dict[str, str]:
    return {name: export.type for name, export in program.exports.items()}


SYS = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
"""
LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
"""


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("type", INTEGERS)
def test_parameters_and_buffers(type: str, arch: str, tmp_path: Path) -> None:
    layout = f"""{LAYOUT}
      @export_name("main", fn({type}, f32, {type}) void);
      @export_name("out", [*]{type}, true);
      @export_name("told", [*]{type}, false);
      @export_name("less", [*]i16, true);
    }}"""
    pe = f"""{SYS}
    var out = @zeros([3]{type});
    var told = [2]{type}{{ 100, 7 }};
    var less = @zeros([3]i16);
    var out_pointer: [*]{type} = &out;
    const told_pointer: [*]{type} = &told;
    var less_pointer: [*]i16 = &less;
    fn smaller(a: {type}, b: {type}) bool {{ return a < b; }}
    fn main(a: {type}, x: f32, b: {type}) void {{
      out[0] = a / 3;
      out[1] = b >> 1;
      out[2] = if (x > 1.0) a else b;
      less[0] = if (smaller(a, b)) 1 else 2;
      less[1] = if (a < told[0]) 1 else 2;
      less[2] = if (out[0] < b) 1 else 2;
      sys.unblock_cmd_stream();
    }}
    comptime {{
      @export_symbol(out_pointer, "out");
      @export_symbol(told_pointer, "told");
      @export_symbol(less_pointer, "less");
      @export_symbol(main);
    }}"""
    first = compiled(tmp_path / "first", layout, pe, arch)
    second = again(first, tmp_path / "second", arch)
    assert signatures(second)["main"] == f"fn({type}, f32, {type}) void"
    assert signatures(second) == signatures(first)
    third = again(second, tmp_path / "third", arch)
    assert signatures(third) == signatures(first)
    numpy = TYPES[type]
    limits = np.iinfo(numpy)
    for a, b in ((limits.max, 5), (limits.max - 1, limits.max), (limits.min, 77)):
        expected = [int(a // 3) if a >= 0 else -(-int(a) // 3), b >> 1, int(a)]
        less = [1 if a < b else 2, 1 if a < 100 else 2, 1 if expected[0] < b else 2]
        for program in (first, second, third):
            flow = loomir.compile(str(program.module))
            assert flow.symbols["main"].arguments == (np.dtype(numpy), np.dtype(np.float32), np.dtype(numpy))
            simulator = loomir.Simulator(flow)
            simulator.launch("main", int(a), 1.5, int(b))
            assert simulator.get("out").dtype == numpy
            assert simulator.get("out").ravel().tolist() == expected
            assert simulator.get("less").ravel().tolist() == less


@pytest.mark.slow
def test_a_function_that_is_called_too(tmp_path: Path) -> None:
    layout = f"""{LAYOUT}
      @export_name("add", fn(u16) void);
      @export_name("twice", fn(u16) void);
      @export_name("out", [*]u32, true);
    }}"""
    pe = f"""{SYS}
    var out = @zeros([1]u32);
    var out_pointer: [*]u32 = &out;
    fn work(n: u16) void {{ if (n > 40000) {{ out[0] += n; }} }}
    fn add(n: u16) void {{ work(n); sys.unblock_cmd_stream(); }}
    fn twice(n: u16) void {{ work(n); work(n); sys.unblock_cmd_stream(); }}
    comptime {{ @export_symbol(out_pointer, "out"); @export_symbol(add); @export_symbol(twice); }}"""
    first = compiled(tmp_path / "first", layout, pe, "wse3")
    second = again(first, tmp_path / "second", "wse3")
    assert signatures(second) == signatures(first)
    simulator = loomir.Simulator(loomir.compile(str(second.module)))
    for name, number in (("add", 65535), ("twice", 50000), ("add", 40000)):
        simulator.launch(name, number)
    assert simulator.get("out").ravel().tolist() == [65535 + 2 * 50000]


@pytest.mark.slow
def test_called_from_ir(tmp_path: Path) -> None:
    text = """
    wse.program @p target "wse3" rectangle 1 x 1 {
      wse.pe @cell on [:, :] {
        wse.export @add unsigned_arguments [0]
        wse.export @main
        wse.export @out unsigned
        wse.buffer @out : memref<1xi16>
        wse.func @add(%n: i16) {
          %out = wse.get_buffer @out : memref<1xi16>
          %zero = arith.constant 0 : index
          %ten = arith.constant 10 : i16
          %quotient = arith.divui %n, %ten : i16
          memref.store %quotient, %out[%zero] : memref<1xi16>
          wse.return
        }
        wse.func @main() {
          %n = arith.constant -5 : i16
          wse.call @add(%n) : (i16) -> ()
          wse.return
        }
      }
    }"""
    module = parse_ir(context(), text, "program.mlir")
    files = source_of(module)
    for name, source in files.items():
        (tmp_path / name).write_text(source)
    program = compile_layout(tmp_path / "layout.csl", arch="wse3", memcpy=True)
    assert signatures(program)["add"] == "fn(u16) void"
    for made in (loomir.compile(text), loomir.compile(str(program.module))):
        simulator = loomir.Simulator(made)
        simulator.launch("main")
        assert simulator.get("out").ravel().tolist() == [65531 // 10]
        simulator.launch("add", 60000)
        assert simulator.get("out").ravel().tolist() == [6000]


WIDE = """
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @b : memref<4xi32>
    wse.export @b
    wse.export @main
    wse.func @part(%x: i128, %n: i128) -> i32 {
      %y = arith.shrui %x, %n : i128
      %t = arith.trunci %y : i128 to i32
      wse.return %t : i32
    }
    wse.func @main() {
      %b = wse.get_buffer @b : memref<4xi32>
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 2 : index
      %x = memref.load %b[%0] : memref<4xi32>
      %n = arith.constant -36893488147419103235 : i128
      %w = arith.extsi %x : i32 to i128
      %y = arith.muli %w, %n : i128
      %z = arith.divui %y, %n : i128
      %s = arith.constant 64 : i128
      %p = wse.call @part(%y, %s) : (i128, i128) -> i32
      %q = wse.call @part(%z, %w) : (i128, i128) -> i32
      %c = arith.cmpi ult, %y, %z : i128
      %d = arith.extui %c : i1 to i32
      memref.store %p, %b[%0] : memref<4xi32>
      memref.store %q, %b[%1] : memref<4xi32>
      memref.store %d, %b[%2] : memref<4xi32>
      wse.return
    }
  }
}
"""


def test_integers_of_more_than_64_bits(tmp_path: Path) -> None:
    assert_same(WIDE, tmp_path)
    assert "i128" in (tmp_path / "cell.csl").read_text()
