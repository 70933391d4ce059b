"""Registers that are loaded in one task and used in another, and those that operations move on."""

from __future__ import annotations

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.runtime import Machine

from .machines import load

TARGETS = ("wse2", "wse3")
WIDTH, HEIGHT = 3, 2


def machine(text: str) -> Machine:
    return load(loomir.compile(text).fabric)


def program(target: str, body: str, outside: str = "") -> str:
    return f"""wse.program @registers target "{target}" rectangle {WIDTH} x {HEIGHT} {{
      {outside}
      wse.pe @cell on [:, :] {{
        {body}
      }}
    }}"""


# y += A x, one column of A at a time; the register of A goes on by itself.
MATVEC = """
wse.buffer @A : memref<15xf32>
wse.buffer @x : memref<3xf32>
wse.buffer @y : memref<4xf32>
wse.export @A
wse.export @x
wse.export @y
wse.export @compute
wse.func @compute() {
  %A = wse.get_buffer @A : memref<15xf32>
  %y = wse.get_buffer @y : memref<4xf32>
  %a = dsd.mem1d %A at 1 extent 4 : memref<15xf32>
  %d = dsd.mem1d %y extent 4 : memref<4xf32>
  %0 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
  %1 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
  %2 = dsr.load %a save_address : !dsd.mem1d<f32> -> !dsr.src1<f32, 0>
  %x = wse.get_buffer @x : memref<3xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  scf.for %k = %zero to %three step %one {
    %value = memref.load %x[%k] : memref<3xf32>
    %to = dsr.get_dsr : !dsr.dest<f32, 0>
    %from = dsr.get_dsr : !dsr.src0<f32, 0>
    %column = dsr.get_dsr : !dsr.src1<f32, 0>
    dsr.fmacs %to, %from, %column, %value : !dsr.dest<f32, 0>, !dsr.src0<f32, 0>, !dsr.src1<f32, 0>, f32
  }
}"""


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_an_address_goes_on(target: str):
    """DSR-065, DSR-066, DSR-067: each operation starts where the last one stopped; a load starts afresh."""

    engine = machine(program(target, MATVEC))
    rng = np.random.default_rng(1)
    A = rng.integers(-8, 8, (HEIGHT, WIDTH, 15)).astype(np.float32)
    x = rng.integers(-8, 8, (HEIGHT, WIDTH, 3)).astype(np.float32)
    engine.write_symbol("A", A)
    engine.write_symbol("x", x)
    columns = A[:, :, 1:13].reshape(HEIGHT, WIDTH, 3, 4)
    expected = np.einsum("yxkm,yxk->yxm", columns, x)
    for rounds in (1, 2):
        engine.launch("compute")
        engine.run()
        assert (engine.read_symbol("y") == rounds * expected).all()


def moving(walk: str, kind: str, extent: int, registers: str = "", types: str = "") -> str:
    """@load puts a walk over 0, 1, 2, ... into a register, and each @use takes the next part of it."""
    return f"""
    wse.buffer @from : memref<20xi16> = dense<[{", ".join(map(str, range(20)))}]>
    wse.buffer @to : memref<4xi16>
    wse.export @to
    wse.export @load
    wse.export @use
    wse.func @load() {{
      %from = wse.get_buffer @from : memref<20xi16>
      %to = wse.get_buffer @to : memref<4xi16>
      %s = dsd.{kind} %from {walk} : memref<20xi16>
      %x = dsr.get_xdsr : !dsr.xdsr<0>
      %0 = dsr.load %s {registers} save_address : !dsd.{kind}<i16>{types} -> !dsr.src1<i16, 2>
      %t = dsd.mem1d %to extent {extent} : memref<4xi16>
      %1 = dsr.load %t : !dsd.mem1d<i16> -> !dsr.dest<i16, 3>
    }}
    wse.func @use() {{
      %to = dsr.get_dsr : !dsr.dest<i16, 3>
      %from = dsr.get_dsr : !dsr.src1<i16, 2>
      dsr.mov16 %to, %from : !dsr.dest<i16, 3>, !dsr.src1<i16, 2>
    }}"""


@pytest.mark.parametrize(
    ("walk", "kind", "parts"),
    [
        ("extent 4", "mem1d", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]),
        ("at 1 stride 2 extent 3", "mem1d", [[1, 3, 5], [7, 9, 11], [13, 15, 17]]),
        ("strides [1, 2] extents [2, 2]", "mem4d", [[0, 1, 3, 4], [6, 7, 9, 10], [12, 13, 15, 16]]),
    ],
)
def test_where_it_goes_on(walk: str, kind: str, parts: list[list[int]]):
    """DSR-067's vectors: behind the last access by the step of the slowest dimension."""
    extended = ("xdsr %x", ", !dsr.xdsr<0>") if kind == "mem4d" else ("", "")
    engine = machine(program("wse3", moving(walk, kind, len(parts[0]), *extended)))
    engine.launch("load")
    engine.run()
    for part in parts:
        engine.launch("use")
        engine.run()
        assert (engine.read_symbol("to")[:, :, : len(part)] == part).all()


def test_a_shorter_operation_moves_less():
    """What counts is how many elements the operation had, not how many the descriptor has."""
    engine = machine(program("wse2", moving("extent 10", "mem1d", 3)))
    engine.launch("load")
    engine.run()
    for part in ([0, 1, 2], [3, 4, 5]):
        engine.launch("use")
        engine.run()
        assert (engine.read_symbol("to")[:, :, :3] == part).all()


SEND = """
wse.input_queue @from_west color @c id 2
wse.output_queue @to_east color @c id 3
wse.buffer @out : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
wse.buffer @got : memref<4xf32>
wse.buffer @done : memref<2xi16>
wse.export @got
wse.export @done
wse.task @start local active {
  %o = dsd.fabout @to_east extent 4 : !dsd.fabout<f32>
  %out = wse.get_buffer @out : memref<4xf32>
  %d = dsd.mem1d %out extent 4 : memref<4xf32>
  %0 = dsr.load %o async(activate = @sent) : !dsd.fabout<f32> -> !dsr.dest<f32, 1>
  %1 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
  %i = dsd.fabin @from_west extent 4 : !dsd.fabin<f32>
  %got = wse.get_buffer @got : memref<4xf32>
  %g = dsd.mem1d %got extent 4 : memref<4xf32>
  %2 = dsr.load %i async(activate = @received) : !dsd.fabin<f32> -> !dsr.src1<f32, 2>
  %3 = dsr.load %g : !dsd.mem1d<f32> -> !dsr.dest<f32, 2>
  wse.activate @move
}
wse.task @move local {
  %o = dsr.get_dsr : !dsr.dest<i32, 1>
  %d = dsr.get_dsr : !dsr.src1<i32, 1>
  dsr.mov32 %o, %d async : !dsr.dest<i32, 1>, !dsr.src1<i32, 1>
  %g = dsr.get_dsr : !dsr.dest<f32, 2>
  %i = dsr.get_dsr : !dsr.src1<f32, 2>
  dsr.fmovs %g, %i : !dsr.dest<f32, 2>, !dsr.src1<f32, 2>
}
wse.task @sent local {
  %b = wse.get_buffer @done : memref<2xi16>
  %at = arith.constant 0 : index
  %one = arith.constant 1 : i16
  memref.store %one, %b[%at] : memref<2xi16>
}
wse.task @received local {
  %b = wse.get_buffer @done : memref<2xi16>
  %at = arith.constant 1 : index
  %one = arith.constant 1 : i16
  memref.store %one, %b[%at] : memref<2xi16>
}"""
RING = "wse.color @c wse.route @c on [:, :] from [ramp] to [ramp]"


@pytest.mark.parametrize("target", TARGETS)
def test_settings_of_a_load_hold_in_other_tasks(target: str):
    """DSD-182, DSD-195: operations are asynchronous, and activate tasks, because the register was loaded so."""
    engine = machine(program(target, SEND, RING))
    engine.run()
    assert (engine.read_symbol("got") == [1, 2, 3, 4]).all()
    assert (engine.read_symbol("done") == 1).all()


SIDE_BY_SIDE = """
wse.input_queue @from_west color @c id 2
wse.output_queue @to_east color @c id 3
wse.buffer @out : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
wse.buffer @got : memref<4xf32>
wse.export @got
wse.task @start local active {
  %o = dsd.fabout @to_east extent 4 : !dsd.fabout<f32>
  %out = wse.get_buffer @out : memref<4xf32>
  %d = dsd.mem1d %out extent 4 : memref<4xf32>
  %0 = dsr.load %o async : !dsd.fabout<f32> -> !dsr.dest<f32, 1>
  %1 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
  %2 = dsr.get_dsr : !dsr.dest<f32, 1>
  %3 = dsr.get_dsr : !dsr.src1<f32, 1>
  dsr.fmovs %2, %3 async : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
  %i = dsd.fabin @from_west extent 4 : !dsd.fabin<f32>
  %got = wse.get_buffer @got : memref<4xf32>
  %g = dsd.mem1d %got extent 4 : memref<4xf32>
  %4 = dsr.load %g : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
  %5 = dsr.load %i async(activate = @received) : !dsd.fabin<f32> -> !dsr.src1<f32, 1>
  %6 = dsr.get_dsr : !dsr.dest<f32, 1>
  %7 = dsr.get_dsr : !dsr.src1<f32, 1>
  dsr.fmovs %6, %7 : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
}
wse.task @received local {
}"""


@pytest.mark.parametrize("target", TARGETS)
def test_loads_of_the_same_body(target: str):
    """What the program loads next to its use is in its register too; operations have read theirs at their issue."""
    compiled = loomir.compile(program(target, SIDE_BY_SIDE, RING))
    assert str(compiled.module).count("flow.register ") == str(compiled.module).count("flow.load_register ") == 4
    engine = load(compiled.fabric)
    engine.run()
    assert (engine.read_symbol("got") == [1, 2, 3, 4]).all()


UNLIKE = """
wse.buffer @from : memref<12xi16> = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]>
wse.buffer @to : memref<4xi16>
wse.export @to
wse.task @start local active {
  %from = wse.get_buffer @from : memref<12xi16>
  %x = wse.coordinate x : i16
  %two = arith.constant 2 : i16
  %n = arith.addi %x, %two : i16
  %s = dsd.mem1d %from at %x extent %n : memref<12xi16>
  %0 = dsr.load %s save_address : !dsd.mem1d<i16> -> !dsr.src1<i16, 0>
  wse.activate @first
}
wse.task @first local {
  wse.call @move() : () -> ()
  wse.activate @second
}
wse.task @second local {
  wse.call @move() : () -> ()
}
wse.func @move() {
  %to = wse.get_buffer @to : memref<4xi16>
  %t = dsd.mem1d %to extent 4 : memref<4xi16>
  %1 = dsr.load %t : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
  %s = dsr.get_dsr : !dsr.src1<i16, 0>
  dsr.mov16 %1, %s : !dsr.dest<i16, 0>, !dsr.src1<i16, 0>
}"""


def test_units_whose_registers_differ():
    """Column x walks x + 2 elements from element x on, so its second operation starts at element 2 x + 2."""
    engine = machine(program("wse3", UNLIKE))
    engine.run()
    expected = [[*range(2 * x + 2, 3 * x + 4), 0, 0][:4] for x in range(WIDTH)]
    assert engine.read_symbol("to").tolist() == [expected] * HEIGHT


def test_a_register_that_nothing_was_loaded_into():
    """DSR-003."""
    body = UNLIKE.replace("%0 = dsr.load %s save_address : !dsd.mem1d<i16> -> !dsr.src1<i16, 0>", "")
    with pytest.raises(LoomError, match=r"nothing has been loaded into src1 register 0 of (6 PEs|PE)"):
        machine(program("wse3", body)).run()


def test_elements_of_another_width():
    body = (
        UNLIKE.replace("dsr.mov16 %1, %s : !dsr.dest<i16, 0>, !dsr.src1<i16, 0>", "")
        + """
    wse.buffer @wide : memref<4xf32>
    wse.task @third local active {
      %to = wse.get_buffer @wide : memref<4xf32>
      %t = dsd.mem1d %to extent 4 : memref<4xf32>
      %1 = dsr.load %t : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      %s = dsr.get_dsr : !dsr.src1<f32, 0>
      dsr.fmovs %1, %s : !dsr.dest<f32, 1>, !dsr.src1<f32, 0>
    }"""
    )
    with pytest.raises(LoomError, match="takes f32 from src1 register 0, which was loaded with elements of i16"):
        machine(program("wse3", body)).run()


def test_loads_on_pes_that_overlap():
    """PEs 0 and 1 load a register, then 1 and 2, and all use it."""
    body = """
    wse.buffer @a : memref<2xi16> = dense<5>
    wse.buffer @b : memref<2xi16> = dense<7>
    wse.buffer @got : memref<2xi16>
    wse.export @got
    wse.export @main
    wse.func @main() {
      %x = wse.coordinate x : i16
      %zero = arith.constant 0 : i16
      %two = arith.constant 2 : i16
      %low = arith.cmpi slt, %x, %two : i16
      scf.if %low {
        %a = wse.get_buffer @a : memref<2xi16>
        %d = dsd.mem1d %a extent 2 : memref<2xi16>
        %0 = dsr.load %d : !dsd.mem1d<i16> -> !dsr.src1<i16, 0>
      }
      %high = arith.cmpi sgt, %x, %zero : i16
      scf.if %high {
        %b = wse.get_buffer @b : memref<2xi16>
        %d = dsd.mem1d %b extent 2 : memref<2xi16>
        %0 = dsr.load %d : !dsd.mem1d<i16> -> !dsr.src1<i16, 0>
      }
      %g = wse.get_buffer @got : memref<2xi16>
      %to = dsd.mem1d %g extent 2 : memref<2xi16>
      %t = dsr.load %to : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      %from = dsr.get_dsr : !dsr.src1<i16, 0>
      dsr.mov16 %t, %from : !dsr.dest<i16, 0>, !dsr.src1<i16, 0>
    }"""
    engine = machine(program("wse3", body))
    engine.launch("main")
    engine.run()
    assert engine.read_symbol("got")[:, :, 0].tolist() == [[5, 7, 7]] * HEIGHT
