"""Statistics of runs: equal on both executors, against sums, and against what can be told by hand."""

from __future__ import annotations

import json
from contextlib import redirect_stderr
from io import BytesIO, StringIO
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.host import machines
from loomir.runtime import Deadlock, Machine
from loomir.runtime.statistics.report import Link, Statistics
from loomir.runtime.statistics.text import as_csv, summary

from ..searches import examples
from . import test_held_at_switches
from .flow_modules import parse
from .random_programs import RandomProgram, random_exchange

PROGRAMS = st.integers(0, 2**32 - 1).map(lambda seed: random_exchange(Random(seed)))
WSE3 = targets.fabric("wse3").timing


def run(program: RandomProgram, executor: str, trace: BytesIO | None = None) -> tuple[Machine, str]:
    """Run a program; return the machine, and how it ended: "", "hang" or "error"."""
    machine = machines.load(parse(program.text), executor=executor, statistics=True, trace=trace)
    numbers = np.arange(machine.width * machine.height, dtype=np.uint32).reshape(machine.height, machine.width, 1)
    with redirect_stderr(StringIO()):
        for sent in program.sent:
            if sent.words and sent.color in machine.host_inputs:
                words = np.array(sent.words, np.uint32) + numbers
                machine.send(sent.color, 0, 0, machine.width, machine.height, words)
        for argument in program.launches:
            try:
                machine.launch("main", [argument])
                machine.run(20_000, allow_pending=True)
            except Deadlock:
                return machine, "hang"
            except LoomError:
                return machine, "error"
    return machine, ""


def statistics(machine: Machine) -> Statistics:
    found = machine.measured()
    assert found is not None
    return found


def check_sums(machine: Machine, how: str) -> None:
    """Find sums that do not agree."""
    found, work = statistics(machine), machine.statistics()
    assert (found.idle + found.computing + found.waiting == found.until).all()
    assert min(found.idle.min(), found.computing.min(), found.waiting.min()) >= 0
    if how == "":
        assert (found.until == machine.clocks).all()
    if how != "error":
        assert sum(line.cycles for line in found.lines) == found.computing.sum()
        assert sum(line.waited for line in found.lines) == found.waiting.sum()
        assert sum(line.steps for line in found.lines) == work["steps"]
        assert sum(queue.sent for queue in found.queues) == work["wavelets_sent"]


def totals(found: Statistics, port: str = "") -> dict[str, int]:
    """Return the wavelets of each color on links, all but ramps, or one port's."""
    sums: dict[str, int] = {}
    for link in found.links:
        if link.port == port or (not port and link.port != "ramp"):
            sums[link.color] = sums.get(link.color, 0) + link.wavelets
    return sums


@pytest.mark.slow
@settings(max_examples=examples(24), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_random_programs(program: RandomProgram) -> None:
    """Both executors count the same, and what is counted twice in two ways is equal."""
    (one, how), (other, ended) = run(program, "reference"), run(program, "core")
    check_sums(one, how)
    check_sums(other, ended)
    if "error" not in (how, ended):
        assert statistics(one).as_dict() == statistics(other).as_dict()


@pytest.mark.slow
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_cycles_of_tasks(program: RandomProgram) -> None:
    """Computing and waiting are the times between the starts of tasks and their ends, as the trace has them."""
    trace = BytesIO()
    machine, how = run(program, "core", trace)
    if how:
        return
    busy = np.zeros((machine.height, machine.width), np.int64)
    for line in map(json.loads, trace.getvalue().splitlines()):
        if line["event"] in ("task", "ended"):
            x, y = (int(number) for number in line["pes"].removeprefix("PE (").removesuffix(")").split(", "))
            busy[y, x] += line["cycle"] * (1 if line["event"] == "ended" else -1)
            busy[y, x] += machine.target.timing.task_start if line["event"] == "task" else 0
    found = statistics(machine)
    assert (found.computing + found.waiting == busy).all()


@pytest.mark.slow
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_wavelets_by_way(program: RandomProgram) -> None:
    """What comes down ramps is taken or left; links carry each wavelet of a way once for each hop."""
    machine, how = run(program, "core")
    if how == "error":
        return
    found, executor = statistics(machine), machine.executor
    fabric: Any = executor.fabric  # pyright: ignore
    labels = [fabric.tables.strings[row] for row in fabric.tables["colors"]["label"]]
    special = {labels[switched.color] for switched in fabric.switched}
    special |= {labels[row] for row in fabric.tables["networks"]["color"]}
    from_host = {stream.label for stream in machine.host_inputs.values()}
    came: dict[str, int] = {}
    hops: dict[str, int] = {}
    shared: set[str] = set()
    for queue in found.queues:
        if queue.kind == "input" and queue.color is not None:
            came[queue.color] = came.get(queue.color, 0) + queue.taken + queue.left
        if queue.kind != "output" or queue.color is None or queue.color in special or not queue.sent:
            continue
        pe = queue.y * machine.width + queue.x
        cls = int(fabric.pe_class[pe])
        row = next(row for row in range(len(fabric.tables["queues"]))
                   if fabric.tables["queues"]["owner"][row] == cls
                   and fabric.tables.strings[fabric.tables["queues"]["name"][row]] == queue.name)  # fmt: skip
        ways = fabric.ways_of(row, int(fabric.pe_unit[pe]))
        if len(ways) != 1 or int(fabric.flags_of(row)[int(fabric.pe_unit[pe])]):
            shared.add(queue.color)  # ways that begin together, or wavelets that end elsewhere
            continue
        to = pe + int(ways[0]["offset"])
        distance = abs(to % machine.width - queue.x) + abs(to // machine.width - queue.y)
        hops[queue.color] = hops.get(queue.color, 0) + distance * queue.sent
    between, down = totals(found), totals(found, "ramp")
    for color, count in hops.items():
        if color not in shared:
            assert between.get(color, 0) == count, color
    for color, count in came.items():
        # Several queues may read a color on a PE, and nothing may: then these differ.
        if color not in from_host and color not in shared and color not in special and color in hops:
            assert down.get(color, 0) == count, color


ROW = """flow.fabric @row target "wse3" grid 41 by 1 {
  flow.color @red = 1
  flow.route @red on [0, :] from [ramp] to [east]
  flow.route @red on [1:40, :] from [west] to [east]
  flow.route @red on [2, :] from [west] to [ramp, east]
  flow.route @red on [40, :] from [west] to [ramp]
  flow.units @s on [0, :] words 64 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue output @out id 3 colors [@red on [:, :]]
    flow.task local @send id 8 active {
      %a = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<f32>
      %o = flow.queue_stream @out extent 8 : !flow.stream<f32>
      flow.apply fmovs %o, %a : !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }
  }
  flow.units @r on [2::38, :] words 64 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@red on [:, :]]
    flow.task local @take id 8 active {
      %b = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<f32>
      flow.apply fmovs %b, %b : !flow.stream<f32>, !flow.stream<f32>
      %a = flow.stream @a at 0 strides [1] extents [6] : !flow.stream<f32>
      %i = flow.queue_stream @in extent 6 : !flow.stream<f32>
      flow.apply fmovs %a, %i : !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }
  }
}"""

READY = WSE3.task_start + WSE3.memory_setup + 2 + WSE3.receive_setup
"""When its receivers are, which move 8 words in memory first."""


def come_to(x: int) -> int:
    """Return when the first wavelet of the row comes to a PE."""
    return WSE3.task_start + WSE3.send_setup + WSE3.inject + x * WSE3.hop + WSE3.ramp


def test_a_multicast_in_a_row(executor: str) -> None:
    """All that can be told by hand: a link that two ways share carries a wavelet once."""
    machine = machines.load(parse(ROW), executor=executor, statistics=True)
    machine.run(allow_pending=True)
    found = statistics(machine)
    between = [Link(x, 0, "east", "@red", 8) for x in range(40)]
    assert found.links == (*between[:2], Link(2, 0, "ramp", "@red", 8), *between[2:], Link(40, 0, "ramp", "@red", 8))
    queues = {(queue.x, queue.kind): queue for queue in found.queues}
    sent = queues[0, "output"]
    assert (sent.sent, sent.taken, sent.waited) == (8, 0, 0)
    for x in (2, 40):
        come = come_to(x)
        # One wavelet a cycle comes, and 6 are taken, one a cycle at most.
        taken = [max(come, READY) + k for k in range(6)] + [1 << 60] * 2
        fill = {time: sum(come + k <= time < taken[k] for k in range(8)) for time in range(200)}
        queue = queues[x, "input"]
        assert (queue.taken, queue.left, queue.waited) == (6, 2, max(0, come - READY))
        assert (queue.peak, queue.peak_cycle) == (max(fill.values()), max(fill, key=lambda time: fill[time]))
        assert found.waiting[0, x] == max(0, come - READY)
        assert found.computing[0, x] == READY + 6
    assert queues[2, "input"].peak > queues[40, "input"].peak and queues[40, "input"].waited > 0
    assert found.computing[0, 0] == WSE3.task_start + WSE3.send_setup + 8
    text = summary(found)
    assert "PE (0, 0) east, color @red" in text and "input in of PE (40, 0), color @red" in text
    rows = as_csv(found).splitlines()
    assert "link,2,0,ramp,@red,8" in rows and rows[0] == "pe,x,y,until,idle,computing,waiting,background,blocked"


def test_a_control_wavelet_that_compute_engines_ignore(executor: str) -> None:
    """It takes the links, and no ramp."""
    moved = "flow.apply fmovs %o, %a : !flow.stream<f32>, !flow.stream<f32>"
    text = ROW.replace(moved, moved + "\n" + test_held_at_switches.COMMAND, 1)
    machine = machines.load(parse(text), executor=executor, statistics=True)
    machine.run(allow_pending=True)
    found = statistics(machine)
    assert totals(found) == {"@red": 40 * 9} and totals(found, "ramp") == {"@red": 2 * 8}
    assert [queue.sent for queue in found.queues if queue.kind == "output"] == [9]


def test_links_of_a_color_with_switches(executor: str) -> None:
    """Six wavelets pass a switch, and the command that opens it takes the links behind it."""
    row = test_held_at_switches.Row(before=1, behind=1, sent=6, opens=5, reads=0)
    machine = machines.load(parse(test_held_at_switches.program(row)), executor=executor, statistics=True)
    machine.run(allow_pending=True)
    carried = [(0, "east", 6), (1, "east", 6), (2, "east", 7), (3, "east", 7), (4, "ramp", 6)]
    assert statistics(machine).links == tuple(Link(x, 0, port, "@c", count) for x, port, count in carried)


def test_a_hang_and_what_follows_it(executor: str) -> None:
    """Of a task that waits for ever, what it has done is counted, and its wait is not."""
    text = (
        ROW.replace("extents [6]", "extents [8]")
        .replace("extent 6", "extent 8")
        .replace("extents [8]", "extents [4]", 1)
    )
    machine = machines.load(parse(text.replace("extent 8", "extent 4", 1)), executor=executor, statistics=True)
    with pytest.raises(Deadlock):
        machine.run()
    found = statistics(machine)
    check_sums(machine, "hang")
    assert found.until[0, 40] == come_to(40) + 4
    assert found.computing[0, 40] == READY + 4


def test_an_error_in_the_middle(executor: str) -> None:
    """Statistics can be read after an error, and add up on the PE that met it."""
    body = "flow.apply fmovs %a, %i : !flow.stream<f32>, !flow.stream<f32>"
    stop = """
      %no = arith.constant false
      flow.assert %no, "it ends here"
    """
    machine = machines.load(parse(ROW.replace(body, body + stop)), executor=executor, statistics=True)
    with pytest.raises(LoomError, match="it ends here"):
        machine.run()
    found = statistics(machine)
    assert (found.idle + found.computing + found.waiting == found.until).all()
    assert found.until.max() > WSE3.task_start


def test_what_is_not_asked_for_is_not_there(executor: str) -> None:
    assert machines.load(parse(ROW), executor=executor).measured() is None
