"""Streams between the host and the units: order, starts of tasks, back out again, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest

import loomir
from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.runtime import Deadlock, Machine
from loomir.runtime.host_streams import MissingWavelets

from .flow_modules import parse, spin
from .machines import load

WIDTH, HEIGHT = 3, 2


def program(target: str, body: str, *, outside: str = "") -> str:
    return f"""wse.program @streams target "{target}" rectangle {WIDTH} x {HEIGHT} {{
      wse.color @in
      wse.color @more
      wse.color @out
      wse.host_stream @in in
      wse.host_stream @more in on [0, :]
      wse.host_stream @out out
      {outside}
      wse.pe @cell on [:, :] {{
        wse.input_queue @from_host color @in id 2
        wse.input_queue @from_host_too color @more id 3
        wse.output_queue @to_host color @out id 4
        {body}
      }}
    }}"""


DOUBLE = """
wse.task @double data @from_host (%value: i16) {
  %o = dsd.fabout @to_host extent 1 : !dsd.fabout<i16>
  %twice = arith.addi %value, %value : i16
  dsd.mov16 %o, %twice : !dsd.fabout<i16>, i16
}"""

ADD_FOREVER = """
wse.task @start local active {
  %i = dsd.fabin @from_host extent 32767 : !dsd.fabin<i16>
  %o = dsd.fabout @to_host extent 32767 : !dsd.fabout<i16>
  %c = arith.constant 1000 : i16
  dsd.add16 %o, %i, %c async : !dsd.fabout<i16>, !dsd.fabin<i16>, i16
}"""

TARGETS = ("wse2", "wse3")


def machine(text: str) -> Machine:
    return load(loomir.compile(text).fabric)


def words(count: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + WIDTH * HEIGHT * count, dtype=np.uint32).reshape(HEIGHT, WIDTH, count)


@pytest.mark.parametrize("target", TARGETS)
def test_data_task(target: str):
    engine = machine(program(target, DOUBLE))
    engine.send("in", 0, 0, WIDTH, HEIGHT, words(4))
    engine.send("in", 1, 0, 2, 1, words(4)[:1, 1:, :3] + 500)
    engine.run()
    assert (engine.received("out") == [[4, 7, 7], [4, 4, 4]]).all()
    assert (engine.receive("out", 0, 0, WIDTH, HEIGHT, 4) == 2 * words(4)).all()
    assert (engine.receive("out", 1, 0, 2, 1, 1) == 2 * words(4)[:1, 1:, :1] + 1000).all()
    assert (engine.receive("out", 2, 0, 1, 1, 2) == 2 * words(4)[:1, 2:, 1:3] + 1000).all()
    assert (engine.received("out") == [[0, 2, 0], [0, 0, 0]]).all()


@pytest.mark.parametrize("target", TARGETS)
def test_an_endless_operation_serves_every_run(target: str):
    """Extent 0x7fff never ends: the machine comes to rest with the operation under way, and the host goes on."""
    engine = machine(program(target, ADD_FOREVER))
    for start in (0, 40):
        engine.send("in", 0, 0, WIDTH, HEIGHT, words(5, start))
        engine.run(allow_pending=True)
        assert (engine.receive("out", 0, 0, WIDTH, HEIGHT, 5) == words(5, start) + 1000).all()


@pytest.mark.slow
def test_sixteen_bit_wavelets_have_an_empty_upper_half():
    engine = machine(program("wse3", DOUBLE))
    engine.send("in", 0, 0, 1, 1, np.full((1, 1, 1), 0x1234FFFF, np.uint32))
    engine.run()
    assert engine.receive("out", 0, 0, 1, 1, 1).item() == 0xFFFE


def test_both_halves_of_a_wavelet():
    """Two arguments take the value from the low half and the index from the high one."""
    engine = machine(
        program(
            "wse2",
            """
            wse.buffer @got : memref<4xi16>
            wse.export @got
            wse.task @put data @from_host (%value: i16, %index: i16) {
              %got = wse.get_buffer @got : memref<4xi16>
              %at = arith.index_cast %index : i16 to index
              memref.store %value, %got[%at] : memref<4xi16>
            }""",
        )
    )
    order = np.array([2, 0, 3, 1], np.uint32)
    engine.send("in", 0, 0, 1, 1, (order << 16 | (order + 7))[None, None, :])
    engine.run()
    assert engine.read_symbol("got")[0, 0].tolist() == [7, 8, 9, 10]


def test_a_route_of_the_program_takes_wavelets_away_from_the_host():
    """Where the program routes the color itself, what is sent follows the route."""
    engine = machine(
        program(
            "wse3",
            DOUBLE
            + """
            wse.input_queue @from_west color @out id 5
            wse.buffer @got : memref<i16>
            wse.export @got
            wse.task @take data @from_west (%value: i16) {
              %got = wse.get_buffer @got : memref<i16>
              memref.store %value, %got[] : memref<i16>
            }""",
            outside="wse.route @out on [0, 0] from [ramp] to [east] wse.route @out on [1, 0] from [west] to [ramp]",
        )
    )
    engine.send("in", 0, 0, 1, 1, words(1, 10)[:1, :1])
    engine.run()
    assert engine.read_symbol("got").ravel().tolist() == [0, 20, 0, 0, 0, 0]
    assert not engine.received("out").any()


def test_missing_wavelets():
    engine = machine(program("wse2", DOUBLE))
    engine.send("in", 0, 0, 2, 1, words(2)[:1, :2])
    engine.run()
    with pytest.raises(MissingWavelets, match=r"color @out from PE \(0, 0\); 2 have arrived, and 5 other PEs") as error:
        engine.receive("out", 0, 0, WIDTH, HEIGHT, 3)
    assert (error.value.lacking == [[1, 1, 3], [3, 3, 3]]).all()
    assert (engine.received("out") == [[2, 2, 0], [0, 0, 0]]).all()


def test_refused():
    engine = machine(program("wse2", DOUBLE))
    with pytest.raises(LoomError, match=r"@more to PE \(1, 0\), which the color does not connect with the host"):
        engine.send("more", 0, 0, 2, 1, words(1)[:1, :2])
    with pytest.raises(
        LoomError, match="@out is not a stream from the host; the streams from the host are: @in, @more"
    ):
        engine.send("out", 0, 0, 1, 1, words(1)[:1, :1])
    with pytest.raises(LoomError, match="@in is not a stream to the host"):
        engine.receive("in", 0, 0, 1, 1, 1)
    with pytest.raises(LoomError, match="not inside the grid of 3 x 2"):
        engine.receive("out", 0, 0, 4, 1, 1)
    with pytest.raises(LoomError, match=r"shape \[1, 1, n\], not \[2\]"):
        engine.send("in", 0, 0, 1, 1, np.zeros(2, np.uint32))
    with pytest.raises(LoomError, match="words of 32 bits, not int64"):
        engine.send("in", 0, 0, 1, 1, np.zeros((1, 1, 1), np.int64))
    no_queue = program("wse2", DOUBLE).replace("wse.input_queue @from_host_too color @more id 3", "")
    with pytest.raises(LoomError, match=r"@more to PE \(0, 0\), which has no input queue for it"):
        machine(no_queue).send("more", 0, 0, 1, 1, words(1)[:1, :1])


def test_a_waiting_task_is_still_a_deadlock():
    engine = machine(
        program(
            "wse2",
            """
            wse.buffer @got : memref<4xi16>
            wse.task @start local active {
              %got = wse.get_buffer @got : memref<4xi16>
              %d = dsd.mem1d %got extent 4 : memref<4xi16>
              %i = dsd.fabin @from_host extent 4 : !dsd.fabin<i16>
              dsd.mov16 %d, %i : !dsd.mem1d<i16>, !dsd.fabin<i16>
            }""",
        )
    )
    engine.send("in", 0, 0, WIDTH, HEIGHT, words(3))
    with pytest.raises(Deadlock, match=r"color @in\) for 1 of 4 wavelets"):
        engine.run(allow_pending=True)


SPINNING = """
wse.task @spin local active {
  wse.activate @spin
}"""


@pytest.mark.slow
def test_a_task_that_spins_for_ever_lets_others_run():
    spinner = program("wse3", DOUBLE).replace(
        "wse.pe @cell on [:, :]", f"wse.pe @spinner on [0, :] {{ {SPINNING} }} wse.pe @cell on [1:, :]"
    )
    engine = machine(spinner)
    engine.send("in", 1, 0, 2, HEIGHT, words(2)[:, 1:])
    engine.run(until=lambda: bool((engine.received("out")[:, 1:] == 2).all()))
    assert (engine.receive("out", 1, 0, 2, HEIGHT, 2) == 2 * words(2)[:, 1:]).all()
    with pytest.raises(LoomError, match="step limit"):
        engine.run(10_000, until=lambda: False)


def test_a_unit_that_spins_also_takes_wavelets():
    engine = machine(program("wse2", DOUBLE + SPINNING))
    engine.send("in", 0, 0, WIDTH, HEIGHT, words(6))
    engine.run(100_000, until=lambda: bool((engine.received("out") == 6).all()))
    assert (engine.receive("out", 0, 0, WIDTH, HEIGHT, 6) == 2 * words(6)).all()


def test_two_inputs_that_come_to_different_pes_in_different_order():
    """A PE goes on as soon as it has both, whatever the others wait for."""
    text = """wse.program @both target "wse2" rectangle 2 x 1 {
      wse.color @first
      wse.color @second
      wse.host_stream @first in
      wse.host_stream @second in
      wse.pe @cell on [:, :] {
        wse.input_queue @one color @first id 2
        wse.input_queue @two color @second id 3
        wse.buffer @sum : memref<2xi16>
        wse.export @sum
        wse.task @start local active {
          %sum = wse.get_buffer @sum : memref<2xi16>
          %d = dsd.mem1d %sum extent 2 : memref<2xi16>
          %a = dsd.fabin @one extent 2 : !dsd.fabin<i16>
          %b = dsd.fabin @two extent 2 : !dsd.fabin<i16>
          dsd.add16 %d, %a, %b async : !dsd.mem1d<i16>, !dsd.fabin<i16>, !dsd.fabin<i16>
        }
      }
    }"""
    machine = load(loomir.compile(text).fabric)
    machine.run(allow_pending=True)
    words = np.array([[[3, 4]]], np.uint32)
    for color, column in (("first", 0), ("first", 1), ("second", 1)):
        machine.send(color, column, 0, 1, 1, words)
        machine.run(allow_pending=True)
    assert machine.read_symbol("sum").tolist() == [[[0, 0], [6, 8]]]


def flooded(target: str, sent: int, received: int, late: int) -> str:
    """The host and the first PE send on one color to the second, which receives late."""
    return f"""flow.fabric @flooded target "{target}" grid 2 by 1 {{
      flow.color @c = 4
      flow.host_stream @c in on [1, :]
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]
      flow.units @first on [0, :] words 600 {{
        flow.buffer @a at 0 : memref<32xi32> = dense<-1>
        flow.buffer @x at 500 : memref<i32>
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.task local @main id 9 active {{
          {spin(100)}
          %a = flow.stream @a at 0 strides [1] extents [{sent}] : !flow.stream<i32>
          %o = flow.queue_stream @out extent {sent} : !flow.stream<i32>
          flow.apply mov32 %o, %a : !flow.stream<i32>, !flow.stream<i32>
          flow.return
        }}
      }}
      flow.units @second on [1, :] words 600 {{
        flow.buffer @got at 0 : memref<200xi32>
        flow.buffer @x at 500 : memref<i32>
        flow.export @got as "got"
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.task local @main id 9 active {{
          {spin(late)}
          %b = flow.stream @got at 0 strides [1] extents [{received}] : !flow.stream<i32>
          %n = flow.queue_stream @in extent {received} : !flow.stream<i32>
          flow.apply mov32 %b, %n : !flow.stream<i32>, !flow.stream<i32>
          flow.return
        }}
      }}
    }}"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("calls", [1, 3])
def test_a_host_that_finds_no_room_lets_others_go_first(target: str, calls: int):
    """DSD-214: what the queue and the link to it do not hold is still at the host when a PE sends on the color."""
    count, sent = 60, 3
    machine = load(parse(flooded(target, sent, count + sent, 1000)))
    for part in np.split(np.arange(1, 1 + count, dtype=np.uint32), calls):
        machine.send("c", 1, 0, 1, 1, part.reshape(1, 1, -1))
    limits = targets.get(target)
    held = limits.input_queue_words[2] + limits.timing.link_words
    assert machine.sent("c")[0, 1] == count and machine.unsent("c")[0, 1] == count - limits.timing.link_words
    machine.run()
    got = machine.read_symbol("got")[0, 1, : count + sent].tolist()
    assert got == [*range(1, 1 + held), *[-1] * sent, *range(1 + held, 1 + count)]
    assert machine.unsent("c").tolist() == [[0, 0]]


def test_what_a_pe_does_not_take_of_a_host_stays_there():
    """DSD-214: the queue and the link to it hold some of what a host sends, as of what others send."""
    limits = targets.get("wse3")
    held = limits.input_queue_words[2] + limits.timing.link_words
    silent = flooded("wse3", 1, 10, 0).replace("local @main id 9 active", "local @main id 9", 1)
    machine = load(parse(silent.replace("flow.route @c", "//")))
    machine.send("c", 1, 0, 1, 1, np.arange(1, 1 + held, dtype=np.uint32).reshape(1, 1, -1))
    assert machine.unsent("c").tolist() == [[0, 0]]
    machine.send("c", 1, 0, 1, 1, np.arange(30, dtype=np.uint32).reshape(1, 1, -1))
    assert machine.unsent("c").tolist() == [[0, 30]]
    machine.run(allow_pending=True)
    assert machine.unsent("c").tolist() == [[0, 20]]
    (left,) = (str(each) for each in machine.unread() if each.label == "@c")
    assert left.startswith(f"{held} wavelets of color @c wait in input queue @in") and "still holds 20 more" in left
