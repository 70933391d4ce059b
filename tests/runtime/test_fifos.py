"""FIFOs: order, full and empty, the tasks they start, and what their memory holds."""

from __future__ import annotations

import numpy as np
import pytest

import loomir
from loomir.diagnostics import LoomError
from loomir.runtime import Deadlock, Machine

WIDTH, HEIGHT = 3, 2
TARGETS = ("wse2", "wse3")


def program(target: str, body: str, *, capacity: int = 8, kind: str = "i32", fifo: str = "") -> str:
    """Words come in from the host through @in, and go out to it through @out; @loop leads back to the PE."""
    return f"""wse.program @fifos target "{target}" rectangle {WIDTH} x {HEIGHT} {{
      wse.color @in
      wse.color @loop
      wse.color @out
      wse.host_stream @in in
      wse.host_stream @out out
      wse.route @loop on [:, :] from [ramp] to [ramp]
      wse.pe @cell on [:, :] {{
        wse.input_queue @from_host color @in id 2
        wse.output_queue @to_host color @out id 3
        wse.input_queue @back color @loop id 4
        wse.output_queue @away color @loop id 5
        wse.buffer @memory : memref<{capacity}x{kind}>
        wse.export @memory
        wse.fifo @f on @memory {fifo}
        {body}
      }}
    }}"""


def move(kind: str) -> str:
    name = "mov16" if kind in ("i16", "f16") else "mov32"
    return f"""
    wse.task @start local active {{
      %f = dsd.fifo @f : !dsd.fifo<{kind}>
      %i = dsd.fabin @from_host extent 0x7fff : !dsd.fabin<{kind}>
      %o = dsd.fabout @to_host extent 32767 : !dsd.fabout<{kind}>
      dsd.{name} %f, %i async : !dsd.fifo<{kind}>, !dsd.fabin<{kind}>
      dsd.{name} %o, %f async : !dsd.fabout<{kind}>, !dsd.fifo<{kind}>
    }}"""


def words(count: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + WIDTH * HEIGHT * count, dtype=np.uint32).reshape(HEIGHT, WIDTH, count)


def machine(text: str, block_units: int | None = None) -> Machine:
    return Machine(loomir.compile(text).fabric, block_units=block_units)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("capacity", [1, 3, 64])
@pytest.mark.parametrize("kind", ["i16", "f32"])
def test_first_in_first_out(target: str, capacity: int, kind: str):
    """Also more elements than the extent 0x7fff, which stands for no end at all."""
    engine = machine(program(target, move(kind), capacity=capacity, kind=kind))
    for start in (0, 300):
        engine.send("in", 0, 0, WIDTH, HEIGHT, words(40, start))
        engine.run(allow_pending=True)
        assert (engine.receive("out", 0, 0, WIDTH, HEIGHT, 40) == words(40, start)).all()


def test_more_than_0x7fff_elements():
    engine = machine(program("wse3", move("i32"), capacity=1000))
    sent = np.arange(40_000, dtype=np.uint32)[None, None, :]
    engine.send("in", 0, 0, 1, 1, sent)
    engine.run(allow_pending=True)
    assert (engine.receive("out", 0, 0, 1, 1, 40_000) == sent).all()


COMPUTE = """
wse.buffer @ten : memref<1xf32> = dense<10.0>
wse.buffer @element : memref<1xf32>
wse.task @start local active {
  %f = dsd.fifo @f : !dsd.fifo<f32>
  %i = dsd.fabin @from_host extent 12 : !dsd.fabin<f32>
  %o = dsd.fabout @away extent 12 : !dsd.fabout<f32>
  %tens = wse.get_buffer @ten : memref<1xf32>
  %ten = dsd.mem1d %tens stride 0 extent 12 : memref<1xf32>
  dsd.fadds %f, %i, %ten async : !dsd.fifo<f32>, !dsd.fabin<f32>, !dsd.mem1d<f32>
  dsd.fnegs %o, %f async : !dsd.fabout<f32>, !dsd.fifo<f32>
}
wse.task @cube data @back (%x: f32) {
  wse.block @cube
  %square = arith.mulf %x, %x : f32
  %result = arith.mulf %square, %x : f32
  %e = wse.get_buffer @element : memref<1xf32>
  %zero = arith.constant 0 : index
  memref.store %result, %e[%zero] : memref<1xf32>
  %o = dsd.fabout @to_host extent 1 : !dsd.fabout<f32>
  %d = dsd.mem1d %e extent 1 : memref<1xf32>
  dsd.fmovs %o, %d async(unblock = @cube) : !dsd.fabout<f32>, !dsd.mem1d<f32>
}"""


@pytest.mark.parametrize("target", TARGETS)
def test_results_and_clocks_do_not_depend_on_batching(target: str):
    values = np.linspace(-1, 1, WIDTH * HEIGHT * 12, dtype=np.float32).reshape(HEIGHT, WIDTH, 12)

    def run(block_units: int | None) -> tuple[np.ndarray, np.ndarray, int]:
        engine = machine(program(target, COMPUTE, capacity=5, kind="f32"), block_units)
        engine.send("in", 0, 0, WIDTH, HEIGHT, values)
        engine.run()
        clock = engine.classes[0].placement.from_grid(engine.classes[0].clock)
        return engine.receive("out", 0, 0, WIDTH, HEIGHT, 12).view(np.float32), clock, engine.cycles

    results, clock, cycles = run(None)
    expected = -(values + np.float32(10))
    assert (results == expected * expected * expected).all()
    for block_units in (1, 2):
        again = run(block_units)
        assert (again[0] == results).all()
        assert (again[1] == clock).all()
        assert again[2] == cycles


def test_a_slow_reader_holds_back_the_writer():
    """A FIFO of two elements lets its writer run ahead by two, so it ends when the reader has taken most."""

    def written(capacity: int) -> int:
        text = program(
            "wse3",
            """
            wse.task @start local active {
              %f = dsd.fifo @f : !dsd.fifo<f32>
              %i = dsd.fabin @from_host extent 64 : !dsd.fabin<f32>
              %o = dsd.fabout @to_host extent 64 : !dsd.fabout<f32>
              %two = arith.constant 2.0 : f32
              dsd.fmovs %f, %i async(activate = @filled) : !dsd.fifo<f32>, !dsd.fabin<f32>
              dsd.fmuls %o, %two, %f async : !dsd.fabout<f32>, f32, !dsd.fifo<f32>
            }
            wse.task @filled local {
            }""",
            capacity=capacity,
            kind="f32",
        )
        engine = machine(text)
        engine.send("in", 0, 0, WIDTH, HEIGHT, words(64))
        engine.run()
        return int(engine.classes[0].clock.max())

    fast, slow = written(64), written(2)
    assert 60 < slow - fast < 70  # the reader takes one element every two cycles, the host sends one every cycle


def test_memory_holds_the_last_elements():
    engine = machine(program("wse2", move("i32"), capacity=4))
    engine.send("in", 0, 0, 1, 1, np.arange(10, dtype=np.uint32)[None, None, :])
    engine.run(allow_pending=True)
    assert engine.read_symbol("memory")[0, 0].tolist() == [8, 9, 6, 7]


MEMORY = """
wse.buffer @from : memref<6xi32> = dense<[1, 2, 3, 4, 5, 6]>
wse.buffer @to : memref<6xi32>
wse.buffer @single : memref<i32>
wse.export @to
wse.export @single
wse.task @start local active {
  %f = dsd.fifo @f : !dsd.fifo<i32>
  %from = wse.get_buffer @from : memref<6xi32>
  %to = wse.get_buffer @to : memref<6xi32>
  %single = wse.get_buffer @single : memref<i32>
  %source = dsd.mem1d %from extent 6 : memref<6xi32>
  %target = dsd.mem1d %to extent 5 : memref<6xi32>
  %seven = arith.constant 7 : i32
  dsd.mov32 %f, %source : !dsd.fifo<i32>, !dsd.mem1d<i32>
  dsd.mov32 %single, %f : memref<i32>, !dsd.fifo<i32>
  dsd.mov32 %f, %seven : !dsd.fifo<i32>, i32
  dsd.mov32 %target, %f : !dsd.mem1d<i32>, !dsd.fifo<i32>
}"""


@pytest.mark.parametrize("target", TARGETS)
def test_synchronous_operations(target: str):
    engine = machine(program(target, MEMORY))
    engine.run()
    assert (engine.read_symbol("single") == 1).all()
    assert (engine.read_symbol("to") == [2, 3, 4, 5, 6, 0]).all()


def test_a_task_that_waits_for_room_is_a_deadlock():
    with pytest.raises(Deadlock, match=r"mov32 in @start .* waits on FIFO @f, which is full, for 2 of 6 elements"):
        machine(program("wse2", MEMORY, capacity=4)).run()


def test_a_completion_that_never_comes_is_a_deadlock():
    text = program(
        "wse2",
        """
        wse.task @start local active {
          %f = dsd.fifo @f : !dsd.fifo<i32>
          %o = dsd.fabout @to_host extent 3 : !dsd.fabout<i32>
          dsd.mov32 %o, %f async(activate = @done) : !dsd.fabout<i32>, !dsd.fifo<i32>
        }
        wse.task @done local {
        }""",
    )
    engine = machine(text)
    engine.run(allow_pending=True)
    with pytest.raises(Deadlock, match="waits on FIFO @f, which is empty, for 3 of 3 elements"):
        engine.run()


COUNT = """
wse.buffer @pushes : memref<i16>
wse.buffer @pops : memref<i16>
wse.export @pushes
wse.export @pops
wse.task @pushed local {
  %b = wse.get_buffer @pushes : memref<i16>
  %n = memref.load %b[] : memref<i16>
  %one = arith.constant 1 : i16
  %m = arith.addi %n, %one : i16
  memref.store %m, %b[] : memref<i16>
}
wse.task @popped local {
  %b = wse.get_buffer @pops : memref<i16>
  %n = memref.load %b[] : memref<i16>
  %one = arith.constant 1 : i16
  %m = arith.addi %n, %one : i16
  memref.store %m, %b[] : memref<i16>
}"""


@pytest.mark.parametrize("block_units", [None, 1])
def test_tasks_of_a_fifo(block_units: int | None):
    """The reader waits for every batch of words, so a push starts the task once for each; nothing ever was full."""
    text = program("wse3", move("i32") + COUNT, fifo="activate_push @pushed activate_pop @popped")
    engine = machine(text, block_units)
    engine.run(allow_pending=True)
    for start in range(3):
        engine.send("in", 0, 0, WIDTH, HEIGHT, words(1, start))
        engine.run(allow_pending=True)
    # The operations have been set up when the host sends for the second time.
    assert (engine.read_symbol("pushes") == 2).all()
    assert (engine.read_symbol("pops") == 0).all()


def test_a_pop_starts_the_task_of_a_full_fifo():
    text = program(
        "wse3",
        COUNT
        + """
        wse.export @pop
        wse.task @start local active {
          %f = dsd.fifo @f : !dsd.fifo<i32>
          %i = dsd.fabin @from_host extent 32767 : !dsd.fabin<i32>
          dsd.mov32 %f, %i async : !dsd.fifo<i32>, !dsd.fabin<i32>
        }
        wse.func @pop() {
          %f = dsd.fifo @f : !dsd.fifo<i32>
          %o = dsd.fabout @to_host extent 3 : !dsd.fabout<i32>
          dsd.mov32 %o, %f : !dsd.fabout<i32>, !dsd.fifo<i32>
        }""",
        capacity=4,
        fifo="activate_pop @popped",
    )
    engine = machine(text)
    engine.send("in", 0, 0, WIDTH, HEIGHT, words(5))
    engine.run(allow_pending=True)
    engine.launch("pop")
    engine.run(allow_pending=True)
    assert (engine.read_symbol("pops") == 1).all()
    # The second pop wants one element more than there are, and nothing waits for room.
    engine.launch("pop")
    with pytest.raises(Deadlock, match="waits on FIFO @f, which is empty, for 1 of 3 elements"):
        engine.run(allow_pending=True)
    assert (engine.read_symbol("pops") == 1).all()


def test_two_readers_at_once():
    text = program(
        "wse3",
        """
        wse.task @start local active {
          %f = dsd.fifo @f : !dsd.fifo<i32>
          %o = dsd.fabout @to_host extent 3 : !dsd.fabout<i32>
          %p = dsd.fabout @away extent 3 : !dsd.fabout<i32>
          dsd.mov32 %o, %f async : !dsd.fabout<i32>, !dsd.fifo<i32>
          dsd.mov32 %p, %f async : !dsd.fabout<i32>, !dsd.fifo<i32>
        }""",
    )
    with pytest.raises(LoomError, match="use the reader of FIFO @f at the same time"):
        machine(text).run()
