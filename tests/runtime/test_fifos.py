"""FIFOs: order, full and empty, the tasks they start, and what their memory holds."""

from __future__ import annotations

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.operations import prices
from loomir.runtime import Deadlock, Machine

from .machines import load

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


def machine(text: str) -> Machine:
    return load(loomir.compile(text).fabric)


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


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_cubes(target: str):
    values = np.linspace(-1, 1, WIDTH * HEIGHT * 12, dtype=np.float32).reshape(HEIGHT, WIDTH, 12)

    engine = machine(program(target, COMPUTE, capacity=5, kind="f32"))
    engine.send("in", 0, 0, WIDTH, HEIGHT, values)
    engine.run()
    results = engine.receive("out", 0, 0, WIDTH, HEIGHT, 12).view(np.float32)
    expected = -(values + np.float32(10))
    assert (results == expected * expected * expected).all()


@pytest.mark.slow
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
        engine = load(loomir.compile(text).fabric, prices=prices.of({"single_multiply": 2}))
        engine.send("in", 0, 0, WIDTH, HEIGHT, words(64))
        engine.run()
        return int(engine.clocks.max())

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
    """DSD-134, AMB-21: with `suspend` synchronous operations wait too."""
    with pytest.raises(Deadlock, match=r"mov32 in @start .* waits on FIFO @f, which is full, for 2 of 6 elements"):
        machine(program("wse3", MEMORY, capacity=4, fifo="full_action suspend")).run()


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


def test_tasks_of_a_fifo():
    """DSD-142, DSD-147, DSD-149.

    The reader waits for every batch of words, so a push starts the task once for each; nothing ever was full.
    """
    text = program("wse3", move("i32") + COUNT, fifo="activate_push @pushed activate_pop @popped")
    engine = machine(text)
    engine.run(allow_pending=True)
    for start in range(3):
        engine.send("in", 0, 0, WIDTH, HEIGHT, words(1, start))
        engine.run(allow_pending=True)
    # The operations have been set up when the host sends for the second time.
    assert (engine.read_symbol("pushes") == 2).all()
    assert (engine.read_symbol("pops") == 0).all()


def test_a_pop_starts_the_task_of_a_full_fifo():
    """DSD-141, DSD-144, DSD-149."""
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
    engine.run(allow_pending=True)
    assert (engine.receive("out", 0, 0, WIDTH, HEIGHT, 5) == words(5)).all()
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


# Operations that end at a FIFO


def storing(result: str, buffer: str) -> str:
    """Puts a truth value into a buffer of one i16."""
    return f"""
      %{buffer}_number = arith.extui %{result} : i1 to i16
      %{buffer}_array = wse.get_buffer @{buffer} : memref<i16>
      memref.store %{buffer}_number, %{buffer}_array[] : memref<i16>"""


def flags(*names: str) -> str:
    return "".join(f"wse.buffer @{name} : memref<i16> = dense<-1> wse.export @{name}\n" for name in names)


def memory(count: int, name: str, first: int = 0, kind: str = "i16") -> str:
    values = ", ".join(str(first + n) for n in range(count))
    return f"wse.buffer @{name} : memref<{count}x{kind}> = dense<[{values}]> wse.export @{name}\n"


LENGTHS = f"""
{memory(50, "given", 100)} {memory(50, "taken", -1000)} {flags("pushed", "pushed_more", "popped", "popped_more")}
wse.task @start local active {{
  %f = dsd.fifo @f : !dsd.fifo<i16>
  %given = wse.get_buffer @given : memref<50xi16>
  %source = dsd.mem1d %given extent 50 : memref<50xi16>
  %rest = dsd.mem1d %given at 32 extent 18 : memref<50xi16>
  %taken = wse.get_buffer @taken : memref<50xi16>
  %target = dsd.mem1d %taken extent 50 : memref<50xi16>
  %behind = dsd.mem1d %taken at 32 extent 18 : memref<50xi16>
  dsd.set_fifo_length @f write 42
  %a = dsd.mov16 %f, %source : !dsd.fifo<i16>, !dsd.mem1d<i16> -> i1
  dsd.set_fifo_length @f read 42
  %b = dsd.mov16 %target, %f : !dsd.mem1d<i16>, !dsd.fifo<i16> -> i1
  %c = dsd.mov16 %f, %rest : !dsd.fifo<i16>, !dsd.mem1d<i16> -> i1
  %d = dsd.mov16 %behind, %f : !dsd.mem1d<i16>, !dsd.fifo<i16> -> i1
  {storing("a", "pushed")} {storing("b", "popped")} {storing("c", "pushed_more")} {storing("d", "popped_more")}
}}"""


@pytest.mark.parametrize("target", TARGETS)
def test_lengths_and_what_is_outstanding(target: str):
    """DSD-150, DSD-151, DSD-154, DSD-158: of 42 elements 32 go in, the result is false, and 10 are outstanding, which
    is the length of the next operation (DSD-127, DSD-129)."""
    engine = machine(program(target, LENGTHS, capacity=32, kind="i16"))
    engine.run()
    results = [engine.read_symbol(name) for name in ("pushed", "popped", "pushed_more", "popped_more")]
    assert [set(result.ravel().tolist()) for result in results] == [{0}, {0}, {1}, {1}]
    taken = engine.read_symbol("taken")
    assert (taken[:, :, :42] == 100 + np.arange(42)).all()
    assert (taken[:, :, 42:] == -1000 + np.arange(42, 50)).all()


def test_set_length_stays_for_the_operations_after():
    """DSD-155: the FIFO itself is changed; DSD-157: at first its lengths are 0, and the other operand says how many."""
    text = program(
        "wse2",
        f"""
        {memory(9, "given", 1)} {memory(9, "taken", -9)}
        wse.task @start local active {{
          %f = dsd.fifo @f : !dsd.fifo<i16>
          %given = wse.get_buffer @given : memref<9xi16>
          %source = dsd.mem1d %given extent 9 : memref<9xi16>
          %taken = wse.get_buffer @taken : memref<9xi16>
          %target = dsd.mem1d %taken extent 9 : memref<9xi16>
          %behind = dsd.mem1d %taken at 2 extent 7 : memref<9xi16>
          dsd.mov16 %f, %source : !dsd.fifo<i16>, !dsd.mem1d<i16>
          dsd.set_fifo_length @f read 2
          dsd.mov16 %target, %f : !dsd.mem1d<i16>, !dsd.fifo<i16>
          dsd.mov16 %behind, %f : !dsd.mem1d<i16>, !dsd.fifo<i16>
          dsd.set_fifo_length @f read 0
          %end = dsd.mem1d %taken at 4 extent 5 : memref<9xi16>
          dsd.mov16 %end, %f : !dsd.mem1d<i16>, !dsd.fifo<i16>
        }}""",
        capacity=16,
        kind="i16",
    )
    engine = machine(text)
    engine.run()
    assert (engine.read_symbol("taken") == np.arange(1, 10)).all()


@pytest.mark.slow
def test_lengths_may_differ_from_pe_to_pe():
    text = program(
        "wse3",
        f"""
        {memory(9, "given", 1)} {flags("result")}
        wse.task @start local active {{
          %f = dsd.fifo @f : !dsd.fifo<i16>
          %given = wse.get_buffer @given : memref<9xi16>
          %source = dsd.mem1d %given extent 9 : memref<9xi16>
          %column = wse.coordinate x : i16
          %three = arith.constant 3 : i16
          %length = arith.muli %column, %three : i16
          dsd.set_fifo_length @f write %length
          %r = dsd.mov16 %f, %source : !dsd.fifo<i16>, !dsd.mem1d<i16> -> i1
          {storing("r", "result")}
        }}""",
        capacity=6,
        kind="i16",
    )
    engine = machine(text)
    engine.run()
    # 0 leaves it to the source, which is too long.
    assert (engine.read_symbol("result") == [0, 1, 1]).all()
    filled = engine.read_symbol("memory")
    assert [filled[0, x].tolist() for x in range(3)] == [[1, 2, 3, 4, 5, 6], [1, 2, 3, 0, 0, 0], [1, 2, 3, 4, 5, 6]]


SCALARS = f"""
{memory(3, "given", 7, "i32")} {flags("few", "enough")}
wse.buffer @scalar : memref<i32> = dense<55>
wse.buffer @sum : memref<i32> = dense<66>
wse.export @scalar
wse.export @sum
wse.task @start local active {{
  %f = dsd.fifo @f : !dsd.fifo<i32>
  %given = wse.get_buffer @given : memref<3xi32>
  %source = dsd.mem1d %given extent 3 : memref<3xi32>
  %scalar = wse.get_buffer @scalar : memref<i32>
  dsd.mov32 %f, %source : !dsd.fifo<i32>, !dsd.mem1d<i32>
  dsd.set_fifo_length @f read 4
  %a = dsd.mov32 %scalar, %f : memref<i32>, !dsd.fifo<i32> -> i1
  %sum = wse.get_buffer @sum : memref<i32>
  dsd.mov32 %f, %source : !dsd.fifo<i32>, !dsd.mem1d<i32>
  dsd.set_fifo_length @f read 2
  %b = dsd.mov32 %sum, %f : memref<i32>, !dsd.fifo<i32> -> i1
  {storing("a", "few")} {storing("b", "enough")}
}}"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_scalar_keeps_its_value(target: str):
    """DSD-128, AMB-19: what was popped is dropped; an operation that finds enough leaves its last element."""
    engine = machine(program(target, SCALARS))
    engine.run()
    assert (engine.read_symbol("few") == 0).all()
    assert (engine.read_symbol("scalar") == 55).all()
    assert (engine.read_symbol("enough") == 1).all()
    assert (engine.read_symbol("sum") == 8).all()


POP = f"""
{memory(3, "taken", -3, "i32")} {flags("result")}
wse.task @start local active {{
  %f = dsd.fifo @f : !dsd.fifo<i32>
  %taken = wse.get_buffer @taken : memref<3xi32>
  %target = dsd.mem1d %taken extent 3 : memref<3xi32>
  %seven = arith.constant 7 : i32
  dsd.mov32 %f, %seven : !dsd.fifo<i32>, i32
  %r = dsd.mov32 %target, %f : !dsd.mem1d<i32>, !dsd.fifo<i32> -> i1
  {storing("r", "result")}
}}"""


@pytest.mark.parametrize(
    ("target", "action", "result"),
    [
        ("wse2", "", 0),
        ("wse2", "test_or_suspend", 0),
        ("wse3", "", 0),
        ("wse2", "terminate", 1),
        ("wse3", "terminate", 1),
    ],
)
def test_actions_that_end_an_operation(target: str, action: str, result: int):
    """DSD-130, DSD-131, DSD-133, DSD-136."""
    engine = machine(program(target, POP, fifo=f"empty_action {action}" if action else ""))
    engine.run()
    assert (engine.read_symbol("result") == result).all()
    assert (engine.read_symbol("taken") == [7, -2, -1]).all()


@pytest.mark.slow
def test_suspend_and_fault():
    """DSD-134, DSD-135."""
    with pytest.raises(Deadlock, match="waits on FIFO @f, which is empty, for 2 of 3 elements"):
        machine(program("wse3", POP, fifo="empty_action suspend")).run()
    with pytest.raises(LoomError, match=r"mov32 in @start finds FIFO @f empty on PE \(0, 0\), which its empty_action"):
        machine(program("wse3", POP, fifo="empty_action fault")).run()
    with pytest.raises(LoomError, match="finds FIFO @f full on PE"):
        machine(program("wse3", MEMORY, capacity=4, fifo="full_action fault")).run()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("empty_action suspend", "no empty_action suspend on wse2; use test_or_suspend or terminate .DSD-137"),
        ("empty_action fault", "no empty_action fault on wse2; .* .DSD-138"),
        ("full_action terminate", "no full_action on wse2; remove it .DSD-139"),
        ("full_action test_or_suspend", "no full_action on wse2; remove it .DSD-139"),
    ],
)
def test_actions_of_wse2(options: str, message: str):
    with pytest.raises(LoomError, match=message):
        machine(program("wse2", POP, fifo=options))


def test_actions_of_wse3():
    """DSD-140."""
    machine(program("wse3", POP, fifo="empty_action terminate full_action fault"))
    with pytest.raises(LoomError):
        machine(program("wse2", POP, fifo="empty_action terminate full_action fault"))


def asynchronous(action: str, text: str = "") -> str:
    return program(
        "wse3",
        f"""
        {COUNT}
        wse.task @start local active {{
          %f = dsd.fifo @f : !dsd.fifo<i32>
          %o = dsd.fabout @to_host extent 3 : !dsd.fabout<i32>
          %seven = arith.constant 7 : i32
          dsd.mov32 %o, %f async(activate = @pushed) : !dsd.fabout<i32>, !dsd.fifo<i32>
          dsd.mov32 %f, %seven : !dsd.fifo<i32>, i32
          {text}
        }}""",
        fifo=f"empty_action {action}",
    )


@pytest.mark.slow
def test_asynchronous_operations_wait_or_terminate():
    """DSD-132: an asynchronous operation waits; DSD-133, AMB-18: it ends, as if it were done, by `terminate`."""
    engine = machine(asynchronous("test_or_suspend"))
    engine.run(allow_pending=True)
    assert (engine.receive("out", 0, 0, WIDTH, HEIGHT, 1) == 7).all()
    assert (engine.read_symbol("pushes") == 0).all()
    # The first element comes after the microthread has looked for it.
    engine = machine(asynchronous("terminate"))
    engine.run()
    assert (engine.received("out") == 0).all()
    assert (engine.read_symbol("pushes") == 1).all()


POLLS = """wse.program @polls target "wse3" rectangle 2 x 4 {
  wse.color @in
  wse.color @link
  wse.host_stream @in in
  wse.route @link on [0, :] from [ramp] to [east]
  wse.route @link on [1, :] from [west] to [ramp]
  wse.pe @sender on [0, :] {
    wse.input_queue @from_host color @in id 2
    wse.output_queue @away color @link id 3
    wse.task @pass_on data @from_host (%x: i32) {
      // The larger the word, the longer it takes.
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %o = dsd.fabout @away extent 1 : !dsd.fabout<i32>
      %same = scf.for %n = %zero to %x step %one iter_args(%a = %x) -> (i32) : i32 {
        %b = arith.xori %a, %n : i32
        %c = arith.xori %b, %n : i32
        scf.yield %c : i32
      }
      dsd.mov32 %o, %same : !dsd.fabout<i32>, i32
    }
  }
  wse.pe @receiver on [1, :] {
    wse.input_queue @from_sender color @link id 4
    wse.buffer @memory : memref<2xi32>
    wse.fifo @f on @memory
    wse.buffer @taken : memref<20xi32>
    wse.buffer @attempts : memref<1xi16>
    wse.buffer @next : memref<1xi32>
    wse.export @taken
    wse.export @attempts
    wse.task @start local active {
      %f = dsd.fifo @f : !dsd.fifo<i32>
      %i = dsd.fabin @from_sender extent 20 : !dsd.fabin<i32>
      dsd.mov32 %f, %i async : !dsd.fifo<i32>, !dsd.fabin<i32>
      %next = wse.get_buffer @next : memref<1xi32>
      %target = dsd.mem1d %next extent 1 : memref<1xi32>
      %taken = wse.get_buffer @taken : memref<20xi32>
      %attempts = wse.get_buffer @attempts : memref<1xi16>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %step = arith.constant 1 : i16
      %length = arith.constant 20 : index
      %all = scf.while (%n = %zero) : (index) -> index {
        %more = arith.cmpi slt, %n, %length : index
        scf.condition(%more) %n : index
      } do {
      ^bb0(%n: index):
        %a = memref.load %attempts[%zero] : memref<1xi16>
        %b = arith.addi %a, %step : i16
        memref.store %b, %attempts[%zero] : memref<1xi16>
        %there = dsd.mov32 %target, %f : !dsd.mem1d<i32>, !dsd.fifo<i32> -> i1
        %following = scf.if %there -> (index) {
          %element = memref.load %next[%zero] : memref<1xi32>
          memref.store %element, %taken[%n] : memref<20xi32>
          %m = arith.addi %n, %one : index
          scf.yield %m : index
        } else {
          scf.yield %n : index
        }
        scf.yield %following : index
      }
    }
  }
}"""


@pytest.mark.slow
def test_an_operation_on_an_empty_fifo_ends_at_once():
    """A task looks again and again while a microthread fills the FIFO with what a slow neighbor sends."""
    sent = np.random.default_rng(3).integers(0, 60, (4, 1, 20)).astype(np.uint32)

    engine = load(loomir.compile(POLLS).fabric)
    engine.send("in", 0, 0, 1, 4, sent)
    engine.run(100_000)
    assert (engine.read_symbol("taken")[:, 1] == sent[:, 0]).all()
    attempts, clocks = engine.read_symbol("attempts")[:, 1, 0], engine.clocks[:, 1]
    # An attempt takes 20 to 40 cycles, whether it finds something or not.
    assert (attempts > clocks // 40).all()
    assert (attempts < clocks // 20).all()
