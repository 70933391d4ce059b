"""A program in IR as the CSL front end hands it over, and the artifact made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from loomir.dialects.ir_text import parse_ir
from loomir.host.compilation import context
from loomir.host.sdk import artifact
from loomir.host.sdk.placement import FabricPlacement

WIDTH, HEIGHT = 3, 2

UNBLOCK = """\
      %counter = wse.get_buffer @unblocked : memref<i16>
      %before = memref.load %counter[] : memref<i16>
      %one = arith.constant 1 : i16
      %after = arith.addi %before, %one : i16
      memref.store %after, %counter[] : memref<i16>
"""

GRID = """\
wse.program @grid target "wse3" rectangle 3 x 2 {
  wse.color @into = 4
  wse.color @out_of = 5
  wse.host_stream @into in
  wse.host_stream @out_of out
  wse.pe @cell on [:, :] {
    wse.buffer @wide : memref<5xi32> = dense<0>
    wse.buffer @real : memref<2x3xf32> = dense<0.0>
    wse.buffer @narrow : memref<4xi16> = dense<0>
    wse.buffer @single : memref<1xi16> = dense<0>
    wse.buffer @half : memref<4xf16> = dense<0.0>
    wse.buffer @fixed : memref<2xf32> = dense<1.5>
    wse.buffer @hidden : memref<3xi16> = dense<7>
    wse.buffer @"library.hidden_too" : memref<1xf32> = dense<2.5>
    wse.buffer @"loom.trace.my_trace" : memref<12xi16> =
      dense<[9, 0, 1, 16, 1, 0, 770, 24898, 114, 7, 1, 0]>
    wse.buffer @unblocked : memref<i16> = dense<0>
    wse.export @wide unsigned
    wse.export @real
    wse.export @narrow unsigned
    wse.export @single unsigned
    wse.export @half
    wse.export @fixed read_only
    wse.export @unblocked as "loom.cmd_stream" unsigned
    wse.export @double
    wse.export @forget
    wse.export @take
    wse.export @echo
    wse.export @wait
    wse.export @say
    wse.buffer @pointer : memref<i16> = dense<0>
    wse.initialize @pointer[0] = address_of @narrow
    wse.export @pointer as "pointed" points_to memref<4xi16> unsigned
    wse.input_queue @from_host color @into id 2
    wse.output_queue @to_host color @out_of id 3

    wse.func @double() {
      %real = wse.get_buffer @real : memref<2x3xf32>
      %all = dsd.tensor_access %real affine_map<(i, j) -> (i, j)> extents [2, 3]
        : memref<2x3xf32> -> !dsd.mem4d<f32>
      dsd.fadds %all, %all, %all : !dsd.mem4d<f32>, !dsd.mem4d<f32>, !dsd.mem4d<f32>
UNBLOCK
      wse.return
    }
    wse.func @forget() {
      %x = wse.coordinate x : i16
      %zero = arith.constant 0 : i16
      %first = arith.cmpi eq, %x, %zero : i16
      scf.if %first {
UNBLOCK
      }
      wse.return
    }
    wse.func @take(%number: i16, %factor: f32) {
      %zero = arith.constant 0 : index
      %narrow = wse.get_buffer @narrow : memref<4xi16>
      memref.store %number, %narrow[%zero] : memref<4xi16>
      %real = wse.get_buffer @real : memref<2x3xf32>
      memref.store %factor, %real[%zero, %zero] : memref<2x3xf32>
UNBLOCK
      wse.return
    }
    wse.func @echo() {
      %in = dsd.fabin @from_host extent 4 : !dsd.fabin<f32>
      %out = dsd.fabout @to_host extent 4 : !dsd.fabout<f32>
      %half = arith.constant 0.5 : f32
      dsd.fadds %out, %in, %half async : !dsd.fabout<f32>, !dsd.fabin<f32>, f32
UNBLOCK
      wse.return
    }
    wse.func @say(%number: i16) {
      %x = wse.coordinate x : i16
      wse.print "PE {u} says ", %x : i16
      wse.print "{d}\\n{x}", %number, %number : i16, i16
      wse.print " and more\\n"
UNBLOCK
      wse.return
    }
    wse.func @wait() {
      %in = dsd.fabin @from_host extent 2 : !dsd.fabin<f32>
      %real = wse.get_buffer @real : memref<2x3xf32>
      %zero = arith.constant 0 : i16
      %some = dsd.tensor_access %real affine_map<(i) -> (0, i)> extents [2] : memref<2x3xf32> -> !dsd.mem1d<f32>
      dsd.fmovs %some, %in : !dsd.mem1d<f32>, !dsd.fabin<f32>
UNBLOCK
      wse.return
    }
  }
}
""".replace("UNBLOCK\n", UNBLOCK)


@dataclass
class ExportedName:
    """A name that the host may use."""

    kind: str
    type: str
    dtype: str | None = None
    mutable: bool = True
    arguments: tuple[str, ...] = ()


EXPORTS = {
    "wide": ExportedName("buffer", "[*]u32", "u32"),
    "real": ExportedName("buffer", "[*]f32", "f32"),
    "narrow": ExportedName("buffer", "[*]u16", "u16"),
    "single": ExportedName("buffer", "[*]u16", "u16"),
    "half": ExportedName("buffer", "[*]f16", "f16"),
    "fixed": ExportedName("buffer", "[*]f32", "f32", mutable=False),
    "double": ExportedName("function", "fn()void"),
    "forget": ExportedName("function", "fn()void"),
    "take": ExportedName("function", "fn(i16,f32)void", arguments=("i16", "f32")),
    "echo": ExportedName("function", "fn()void"),
    "wait": ExportedName("function", "fn()void"),
    "say": ExportedName("function", "fn(i16)void", arguments=("i16",)),
    "pointed": ExportedName("buffer", "[*]u16", "u16"),
    "loom.cmd_stream": ExportedName("buffer", "*u16", "u16"),
}

INTO, OUT_OF = 4, 5


@dataclass
class Layout:
    """A compiled layout as the front end returns it."""

    module: ModuleOp
    rectangle: tuple[int, int]
    exports: Mapping[str, ExportedName]
    params: Mapping[str, object] = field(default_factory=dict[str, object])
    colors: Mapping[str, int] = field(default_factory=dict[str, int])
    warnings: list[str] = field(default_factory=list[str])
    programs: int = 1
    imports_memcpy: bool = False


PLACEMENT = FabricPlacement((WIDTH + 7, HEIGHT + 2), (4, 1), memcpy=True)


def grid_layout() -> Layout:
    """The program above, fresh: writing an artifact lowers it."""
    module = parse_ir(context(), GRID, "grid.csl")
    return Layout(module, (WIDTH, HEIGHT), EXPORTS, {"size": 5}, {"into": INTO})


def write_grid(directory: Path) -> Path:
    """The artifact of the program above."""
    artifact.write(directory, grid_layout(), "wse3", PLACEMENT)
    return directory
