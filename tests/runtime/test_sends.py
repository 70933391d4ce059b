"""Sends that wait for room: a full way holds back its producer (DSD-214 to DSD-218)."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import LoomError
from loomir.runtime import Deadlock, Machine

from .flow_modules import parse, spin
from .machines import load

ROOM = {"wse2": 4 + 2 + 6, "wse3": 4 + 4 + 8}
"""Wavelets that input queue 2, the link and output queue 2 hold, by DSD-215 to DSD-218 and two hops' worth a link."""


def exchange(count: int, target: str = "wse3") -> Machine:
    """Two PEs that both send `count` words synchronously before they receive."""
    text = f"""
    flow.fabric @exchange target "{target}" grid 2 by 1 {{
      flow.color @right = 0
      flow.color @left = 1
      flow.route @right on [0, :] from [ramp] to [east]
      flow.route @right on [1, :] from [west] to [ramp]
      flow.route @left on [1, :] from [ramp] to [west]
      flow.route @left on [0, :] from [east] to [ramp]
      flow.units @pe on [:, :] words 400 {{
        flow.buffer @a at 0 : memref<{count}xi32>
        flow.buffer @b at 200 : memref<{count}xi32>
        flow.export @a as "a"
        flow.export @b as "b"
        flow.export @main as "main"
        flow.queue input @in id 2 colors [@right on [1, :], @left on [0, :]]
        flow.queue output @out id 2 colors [@right on [0, :], @left on [1, :]]
        flow.func @main {{
          %a = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<i32>
          %b = flow.stream @b at 0 strides [1] extents [{count}] : !flow.stream<i32>
          %out = flow.queue_stream @out extent {count} : !flow.stream<i32>
          %in = flow.queue_stream @in extent {count} : !flow.stream<i32>
          flow.apply mov32 %out, %a : !flow.stream<i32>, !flow.stream<i32>
          flow.apply mov32 %b, %in : !flow.stream<i32>, !flow.stream<i32>
          flow.return
        }}
      }}
    }}"""
    return load(parse(text))


@pytest.mark.parametrize("target", ROOM)
def test_a_send_ends_when_its_wavelets_fit_into_the_queue(target: str) -> None:
    """DSD-214, DSD-215, DSD-217: both PEs may send first as long as the queues hold it all."""
    machine = exchange(ROOM[target], target)
    words = np.arange(2 * ROOM[target], dtype=np.int32).reshape(1, 2, ROOM[target])
    machine.write_symbol("a", words)
    machine.launch("main")
    machine.run()
    assert (machine.read_symbol("b") == words[:, ::-1]).all()


@pytest.mark.parametrize("target", ROOM)
def test_two_that_send_first_wait_for_each_other(target: str) -> None:
    """DSD-214: one wavelet more than the way holds, and the classic exchange hangs; the report names the circle."""
    machine = exchange(ROOM[target] + 1, target)
    machine.launch("main")
    with pytest.raises(Deadlock) as caught:
        machine.run(allow_pending=True)
    report = str(caught.value)
    lines = report.splitlines()[1:3]
    for place, color, line in zip(["PE (0, 0)", "PE (1, 0)"], ["right", "left"], lines, strict=True):
        assert line.startswith(f"  {place}: task @main: mov32 in @main")
        count = ROOM[target] + 1
        assert f"cannot send its {count} wavelets on output queue @out (id 2, color @{color})" in line
    full = "input queue @in at the other end is full and is not read"
    assert f"{full}, and no more than {ROOM[target]} wavelets fit on the way there" in report
    assert "circular wait: PE (0, 0) -> PE (1, 0) -> PE (0, 0)" in report


def chain(count: int, *, late: int, columns: int = 3, asynchronous: bool = True, data_task: bool = False) -> str:
    """The first PE of a row sends `count` words to all others, which read them only after `late` loop trips."""
    send = "async(microthread = 2, activate = @sent) " if asynchronous else ""
    after = "" if asynchronous else "flow.activate @sent"
    receive = (
        "flow.unblock @take"
        if data_task
        else f"""%in = flow.queue_stream @in extent {count} : !flow.stream<i32>
             flow.apply mov32 %b, %in : !flow.stream<i32>, !flow.stream<i32>"""
    )
    task = (
        """flow.task data @take id 2 on @in blocked (%v: i32) {
          %k = flow.load @seen[] : i32
          %one = arith.constant 1 : i32
          %next = arith.addi %k, %one : i32
          %i = arith.index_cast %k : i32 to index
          flow.store %v, @b[%i] : i32
          flow.store %next, @seen[] : i32
          flow.return
        }"""
        if data_task
        else ""
    )
    return f"""
    flow.fabric @chain target "wse3" grid {columns} by 2 {{
      flow.color @c = 0
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1:-1, :] from [west] to [ramp, east]
      flow.route @c on [-1, :] from [west] to [ramp]
      flow.units @pe on [:, :] words 400 {{
        flow.buffer @a at 0 : memref<{count}xi32>
        flow.buffer @b at 200 : memref<{count}xi32>
        flow.buffer @seen at 396 : memref<i32> = dense<0>
        flow.buffer @done at 398 : memref<i32> = dense<0>
        flow.export @a as "a"
        flow.export @b as "b"
        flow.export @done as "done"
        flow.export @main as "main"
        flow.queue input @in id 2 colors [@c on [1:, :]]
        flow.queue output @out id 2 colors [@c on [0, :]]
        flow.func @main {{
          %a = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<i32>
          %b = flow.stream @b at 0 strides [1] extents [{count}] : !flow.stream<i32>
          %x = flow.coordinate x : i16
          %zero = arith.constant 0 : i16
          %first = arith.cmpi eq, %x, %zero : i16
          scf.if %first {{
            %out = flow.queue_stream @out extent {count} : !flow.stream<i32>
            flow.apply mov32 %out, %a {send}: !flow.stream<i32>, !flow.stream<i32>
            {after}
          }} else {{
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %n = arith.constant {late} : index
            %z = arith.constant 0 : i32
            %o = arith.constant 1 : i32
            %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (i32) {{
              %t = arith.addi %s, %o : i32
              scf.yield %t : i32
            }}
            {receive}
          }}
          flow.return
        }}
        {task}
        flow.task local @sent id 9 {{
          %one = arith.constant 1 : i32
          flow.store %one, @done[] : i32
          flow.return
        }}
      }}
    }}"""


def run_chain(text: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    machine = load(parse(text))
    grid = (machine.height, machine.width, count)
    words = np.arange(np.prod(grid), dtype=np.int32).reshape(grid)
    machine.write_symbol("a", words)
    machine.launch("main")
    machine.run()
    assert (machine.read_symbol("b")[:, 1:] == words[:, :1]).all()
    return words, machine.read_symbol("done"), machine.clocks


@pytest.mark.parametrize("asynchronous", [True, False])
@pytest.mark.parametrize("data_task", [True, False])
def test_a_slow_receiver_holds_its_sender_back(asynchronous: bool, data_task: bool) -> None:
    """DSD-214: the sender's completion comes after the receiver has begun to read, not before."""
    count = 20
    clocks: dict[int, int] = {}
    for late in (1, 1000):
        text = chain(count, late=late, asynchronous=asynchronous, data_task=data_task)
        _, done, clock = run_chain(text, count)
        assert done[:, 0].all()
        clocks[late] = int(clock[0, 0])
    assert clocks[1000] - clocks[1] > 3000, "1,000 trips of the receiver's loop take more than 3 cycles each"


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_slow_data_task_holds_its_sender_back(asynchronous: bool) -> None:
    """DSD-214, DSD-217: the send ends when the task takes the wavelet that makes room for the last one."""
    count, ends = 30, dict[int, int]()
    for trips in (0, 100, 200):
        text = chain(count, late=1, asynchronous=asynchronous, data_task=True)
        busy = f"""%b0 = arith.constant 0 : index
          %b1 = arith.constant 1 : index
          %bn = arith.constant {trips} : index
          %bz = arith.constant 0 : i32
          %br = scf.for %bi = %b0 to %bn step %b1 iter_args(%bs = %bz) -> (i32) {{
            %bt = arith.addi %bs, %v : i32
            scf.yield %bt : i32
          }}
          %k = flow.load @seen[] : i32"""
        _, done, clock = run_chain(text.replace("%k = flow.load @seen[] : i32", busy), count)
        assert done[:, 0].all()
        ends[trips] = int(clock[0, 0])
    # A hundred trips more for each of the wavelets taken before: the shorter way holds 16, and one is taken.
    trip, rest = divmod(ends[200] - ends[100], 100 * (count - ROOM["wse3"] - 1))
    assert (trip > 3, rest) == (True, 0)
    assert ends[100] - ends[0] > 0


def test_a_blocked_data_task_holds_its_sender_back() -> None:
    """DSD-214: a task that nothing unblocks is part of the report."""
    text = chain(20, late=1, data_task=True).replace("flow.unblock @take", "")
    machine = load(parse(text))
    machine.launch("main")
    with pytest.raises(Deadlock, match=r"cannot send its 20 wavelets .* input queue @in at the other end is full"):
        machine.run()


def test_an_asynchronous_send_that_nobody_reads_is_reported() -> None:
    """DSD-214: with a completion task it is a deadlock, unless pending operations are allowed."""
    text = chain(20, late=1).replace("flow.apply mov32 %b, %in : !flow.stream<i32>, !flow.stream<i32>", "")
    machine = load(parse(text))
    machine.launch("main")
    with pytest.raises(Deadlock, match=r"microthread 2: mov32 in @main .*cannot send its 20 wavelets"):
        machine.run()
    machine = load(parse(text))
    machine.launch("main")
    machine.run(allow_pending=True)
    assert not machine.read_symbol("done").any()


def test_the_end_of_a_later_send_may_be_known_first() -> None:
    """DSD-209: what counts is when the first has ended. The receiver of the second is visited before that of the first,
    and the sender's task has issued both by then."""
    two_sends(far=100, near=600, between=500).run()
    with pytest.raises(LoomError, match=r"microthread 4 at the same time on PE \(0, 0\).*DSD-209"):
        two_sends(far=600, near=600, between=500).run()


def two_sends(*, far: int, near: int, between: int) -> Machine:
    """The first PE sends 30 words to the last and, so many turns of a loop later, to the second, with one microthread.

    These two read after so many turns.
    """
    buffers = """flow.buffer @a at 0 : memref<30xi32>
    flow.buffer @x at 100 : memref<i32>"""
    walk = "%a = flow.stream @a at 0 strides [1] extents [30] : !flow.stream<i32>"
    receivers = "".join(
        f"""flow.units @to_{side} on [{x}, :] words 200 {{
          {buffers}
          flow.queue input @in id 2 colors [@{side} on [:, :]]
          flow.task local @main id 9 active {{
            {walk}
            {spin(late)}
            %in = flow.queue_stream @in extent 30 : !flow.stream<i32>
            flow.apply mov32 %a, %in : !flow.stream<i32>, !flow.stream<i32>
            flow.return
          }}
        }}
        """
        for side, x, late in (("near", 1, near), ("far", 2, far))
    )
    text = f"""flow.fabric @sends target "wse3" grid 3 by 1 {{
      flow.color @near = 0
      flow.color @far = 1
      flow.route @near on [0, :] from [ramp] to [east]
      flow.route @near on [1, :] from [west] to [ramp]
      flow.route @far on [0, :] from [ramp] to [east]
      flow.route @far on [1, :] from [west] to [east]
      flow.route @far on [2, :] from [west] to [ramp]
      flow.units @sender on [0, :] words 200 {{
        {buffers}
        flow.queue output @first id 2 colors [@far on [:, :]]
        flow.queue output @second id 3 colors [@near on [:, :]]
        flow.task local @main id 9 active {{
          {walk}
          %first = flow.queue_stream @first extent 30 : !flow.stream<i32>
          %second = flow.queue_stream @second extent 30 : !flow.stream<i32>
          flow.apply mov32 %first, %a async(microthread = 4) : !flow.stream<i32>, !flow.stream<i32>
          {spin(between)}
          flow.apply mov32 %second, %a async(microthread = 4) : !flow.stream<i32>, !flow.stream<i32>
          flow.return
        }}
      }}
      {receivers}
    }}"""
    return load(parse(text))
