"""Operations of higher priority go first (DSD-232): against a simulation cycle by cycle."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.operations.prices import of
from loomir.targets.model import LEVELS

from ..searches import examples
from .flow_modules import parse, spin
from .machines import load

pytestmark = pytest.mark.executors("reference", "core")

Case: TypeAlias = "tuple[str, list[Part], dict[str, list[tuple[int, int]]], int, int, str | None]"
"""A target, what the PE in the middle does, after what turns the others send how many, how many it sends, how late the
last receiver is, and the priority of what tasks wait for."""

SLOW = 3
PRICES = of({"single_multiply": SLOW})
"""Multiplications are slower than wavelets."""

SIDES = {"west": (0, 1), "east": (2, 1), "north": (1, 0)}
"""Where the PEs are that send to the one in the middle."""

DEFAULT = {"wse2": "low", "wse3": "high"}
"""The priority of an operation without one (DSD-226, DSD-230); tasks wait at medium_low (DSD-233)."""


@dataclass
class Part:
    """An operation of the PE in the middle."""

    queue: str
    """What it reads; "out" if it sends."""
    priority: str | None
    """None: by default."""
    is_slow: bool
    turns: int
    """How long the task spins before it issues the operation."""
    is_sync: bool = False
    passes: bool = False
    """It sends what it reads."""


def issued(number: int, part: Part, count: int) -> str:
    destination = "out" if part.passes or part.queue == "out" else None
    source = None if part.queue == "out" else part.queue
    walk = f"at {100 * number} strides [1] extents [{count}] : !flow.stream<f32>"
    lines = [spin(part.turns, label=f"w{number}")]
    for name, queue in ((f"%d{number}", destination), (f"%s{number}", source)):
        made = f"flow.stream @a {walk}" if queue is None else (
            f"flow.queue_stream @{queue} extent {count} : !flow.stream<f32>"
        )  # fmt: skip
        lines.append(f"{name} = {made}")
    suffix = ""
    if not part.is_sync:
        priority = "" if part.priority is None else f", priority = {part.priority}"
        suffix = f" async(microthread = {number}{priority})"
    stream = "!flow.stream<f32>"
    if part.is_slow:
        lines.append(f"flow.apply fmuls %d{number}, %s{number}, %one{suffix} : {stream}, {stream}, f32")
    else:
        lines.append(f"flow.apply fmovs %d{number}, %s{number}{suffix} : {stream}, {stream}")
    return "\n".join(lines)


def program(
    target: str,
    parts: list[Part],
    sends: dict[str, list[tuple[int, int]]],
    total: int,
    late: int,
    main_thread: str | None,
) -> str:
    """PEs in the west, east and north send to the one in the middle, and that to the south."""
    level = "" if main_thread is None else f" main_thread {main_thread}"
    routes, units = "", ""
    for number, (side, (x, y)) in enumerate(SIDES.items()):
        towards = {"west": "east", "east": "west", "north": "south"}[side]
        routes += f"""flow.color @{side} = {2 + number}
          flow.route @{side} on [{x}, {y}] from [ramp] to [{towards}]
          flow.route @{side} on [1, 1] from [{side}] to [ramp]
        """
        body = "".join(
            f"""{spin(turns, label=f"w{k}")}
              %a{k} = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
              %o{k} = flow.queue_stream @out extent {count} : !flow.stream<f32>
              flow.apply fmovs %o{k}, %a{k} : !flow.stream<f32>, !flow.stream<f32>
            """
            for k, (turns, count) in enumerate(sends[side])
        )
        units += f"""flow.units @from_{side} on [{x}, {y}] words 1200 {{
          flow.queue output @out id 2 colors [@{side} on [:, :]]
          {buffers()}
          {main(body)}
        }}
        """
    counts = {side: sum(count for _, count in sends[side]) for side in SIDES} | {"out": total}
    body = "%one = arith.constant 1.0 : f32\n" + "\n".join(
        issued(number, part, counts[part.queue]) for number, part in enumerate(parts)
    )
    inputs = "".join(
        f"flow.queue input @{side} id {2 + k} colors [@{side} on [:, :]]\n" for k, side in enumerate(SIDES)
    )
    last = f"""{spin(late, label="w")}
      %a = flow.stream @a at 0 strides [1] extents [{total}] : !flow.stream<f32>
      %i = flow.queue_stream @in extent {total} : !flow.stream<f32>
      flow.apply fmovs %a, %i : !flow.stream<f32>, !flow.stream<f32>"""
    return f"""flow.fabric @shared target "{target}" grid 3 by 3 {{
      {routes}
      flow.color @out = 6
      flow.route @out on [1, 1] from [ramp] to [south]
      flow.route @out on [1, 2] from [north] to [ramp]
      {units}
      flow.units @middle on [1, 1] words 1200{level} {{
        {inputs}
        flow.queue output @out id 3 colors [@out on [:, :]]
        {buffers()}
        {main(body)}
      }}
      flow.units @south on [1, 2] words 1200 {{
        flow.queue input @in id 3 colors [@out on [:, :]]
        {buffers()}
        {main(last if total else "")}
      }}
    }}"""


def buffers() -> str:
    return "flow.buffer @a at 0 : memref<500xf32>\nflow.buffer @x at 1100 : memref<i32>"


def main(body: str) -> str:
    return f"flow.task local @main id 9 active {{\n{body}\nflow.return\n}}"


@dataclass
class Simulated:
    """An operation as the simulation has it."""

    level: int
    issued: int
    ready: int
    cost: int
    count: int
    there: list[int] | None
    """When each of its wavelets is there; None if it reads none."""
    needs_credits: bool | None
    """None of a send for which its task waits: if something of higher priority is under way when it is issued."""
    busy: int = -1
    takes: list[int] = field(default_factory=list[int])
    blocked: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """First and last cycles in which its microthread is blocked."""


def simulate(operations: list[Simulated], credits_: list[int], capacity: int, until: int) -> None:
    """Let the operations take elements: `credits_` has when each wavelet that leaves frees a place again."""
    for cycle in range(until):
        for its in sorted(operations, key=lambda each: -each.level):
            number = len(its.takes)
            if number == its.count or cycle < its.issued:
                continue
            if its.needs_credits is None:
                above = [other for other in operations if other.level > its.level]
                its.needs_credits = any(len(each.takes) < each.count or each.busy > cycle for each in above)
            if cycle < its.ready or (its.there is not None and its.there[number] > cycle):
                continue
            if its.needs_credits and number >= capacity and credits_[number - capacity] > cycle:
                continue
            if any(other.level > its.level and other.busy > cycle for other in operations):
                continue
            if any(first <= cycle <= last for first, last in its.blocked):
                continue
            its.takes.append(cycle)
            its.busy = its.ready = cycle + its.cost


def times(events: list[dict[str, Any]], kind: str, at: tuple[int, int], queue: str) -> list[int]:
    found: list[int] = []
    for event in events:
        if event["event"] == kind and event["pes"] == f"PE {at}" and event["name"] == queue:
            step = 0 if event["wavelets"] == 1 else (event["last_cycle"] - event["cycle"]) // (event["wavelets"] - 1)
            found += [event["cycle"] + k * step for k in range(event["wavelets"])]
    return sorted(found)


PRIORITY = st.sampled_from([None, "low", "medium", "high"])
PART = st.tuples(PRIORITY, st.booleans(), st.integers(0, 12) | st.integers(20, 60))
SENDS = st.lists(st.tuples(st.integers(0, 15), st.integers(1, 25)), min_size=1, max_size=3)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    target = draw(st.sampled_from(["wse2", "wse3"]))
    sends = {side: draw(SENDS) for side in SIDES}
    queues = draw(st.permutations([*SIDES, "out"]))
    parts = [Part(queue, *draw(PART)) for queue in queues]
    how = draw(st.sampled_from(["all", "sync", "passes", "both"]))
    total = draw(st.integers(1, 60))
    if how in ("passes", "both"):
        parts = [part for part in parts if part.queue != "out"]
        parts[0].passes = True
        total = sum(count for _, count in sends[parts[0].queue])
    if how in ("sync", "both"):
        parts.sort(key=lambda part: part.queue != "out")
        parts[-1].is_sync = True
    main_thread = draw(st.sampled_from([None, *LEVELS[1:]]))
    return target, parts, sends, total, draw(st.integers(0, 60)), main_thread


@settings(max_examples=examples(40), deadline=None)
@given(cases())
@pytest.mark.slow
def test_higher_priorities_go_first(case: Case) -> None:
    """An element is taken when it is there, and its operation ready, and none of higher priority is at work."""
    name, parts, sends, total, late, main_thread = case
    target = targets.get(name)
    timing, trace = target.timing, io.BytesIO()
    machine = load(parse(program(name, parts, sends, total, late, main_thread)), trace=trace, prices=PRICES)
    machine.run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    middle = [event for event in events if event["pes"] == "PE (1, 1)"]
    issues = sorted(event["cycle"] for event in middle if event["event"] == "operation")
    latency = timing.hop + timing.ramp
    south = times(events, "taken", (1, 2), "in")
    capacity = target.output_queue_words[3] + target.input_queue_words[3] + timing.link_words
    levels = [
        LEVELS.index((main_thread or "medium_low") if part.is_sync else part.priority or DEFAULT[name])
        for part in parts
    ]
    operations: list[Simulated] = []
    for part, level, issue in zip(parts, levels, issues, strict=True):
        cost = SLOW if part.is_slow else 1
        if part.queue == "out":
            can_be_held = any(other > level for other in levels)
            ready = issue + timing.send_setup if part.is_sync else issue
            needs_credits = None if part.is_sync else can_be_held
            operations.append(Simulated(level, issue, ready, cost, total, None, needs_credits))
        else:
            there = [time + latency for time in times(events, "sent", SIDES[part.queue], "out")]
            ready = issue + timing.receive_setup
            operations.append(Simulated(level, issue, ready, cost, len(there), there, needs_credits=part.passes))
    ahead = timing.inject + (timing.forward if any(part.passes for part in parts) else 0)
    returned = [time + timing.hop - ahead for time in south]
    simulate(operations, returned, capacity, 3000)
    for part, its in zip(parts, operations, strict=True):
        if part.queue != "out":
            assert times(events, "taken", (1, 1), part.queue) == its.takes
        if part.queue == "out" or part.passes:
            assert times(events, "sent", (1, 1), "out") == [time + ahead for time in its.takes]
    ends = {
        parts[event.get("microthread", len(parts) - 1)].queue: event["last_cycle"]
        for event in middle
        if event["event"] == "completed"
    }
    for part, its in zip(parts, operations, strict=True):
        own = its.takes[-1] + its.cost
        if part.queue != "out":
            assert ends[part.queue] == own
        elif its.needs_credits:
            credit = returned[total - capacity - 1] + ahead if total > capacity else 0
            assert ends[part.queue] == (max(own, credit) if part.is_sync else own + timing.inject)


@pytest.mark.parametrize("is_one_task", [True, False])
def test_wavelets_of_a_later_send_come_behind_those_that_wait_for_their_turns(is_one_task: bool) -> None:
    """Nothing holds the second send back, whose task issues it in the same go, or is sure to be next."""
    walk = "flow.stream @a at 0 strides [1] extents"
    sent = """%o = flow.queue_stream @out extent 3 : !flow.stream<f32>
      flow.apply fmovs %o, %n async(microthread = 1{}) : !flow.stream<f32>, f32"""
    later = "%n = arith.constant 2.0 : f32\n" + sent.format("")
    later = later.replace("%n", "%m").replace("%o", "%p")
    machine = load(
        parse(f"""flow.fabric @turns target "wse3" grid 2 by 1 {{
          flow.color @c = 0
          flow.route @c on [0, :] from [ramp] to [east]
          flow.route @c on [1, :] from [west] to [ramp]
          flow.units @sender on [0, :] words 1200 {{
            {buffers()}
            flow.queue output @out id 2 colors [@c on [:, :]]
            {
            main(f'''%n = arith.constant 1.0 : f32
              {sent.format(", priority = low")}
              {spin(20)}
              {later if is_one_task else "flow.activate @later"}''')
        }
            flow.task local @later id 10 {{
              {later}
              flow.return
            }}
          }}
          flow.units @receiver on [1, :] words 1200 {{
            {buffers()}
            flow.export @a as "a"
            flow.queue input @in id 2 colors [@c on [:, :]]
            {
            main(f'''%a = {walk} [6] : !flow.stream<f32>
              %i = flow.queue_stream @in extent 6 : !flow.stream<f32>
              flow.apply fmovs %a, %i : !flow.stream<f32>, !flow.stream<f32>''')
        }
          }}
        }}""")
    )
    machine.run()
    assert machine.read_symbol("a")[0, 1, :6].tolist() == [1, 1, 1, 2, 2, 2]


def test_what_has_ended_holds_no_later_send_back() -> None:
    """Nothing is under way when the task issues its send, also where wavelets of the east are known of only later."""
    sends = {side: [(0, 1)] for side in SIDES}
    parts = [Part(side, "high", is_slow=False, turns=0) for side in SIDES]
    parts.append(Part("out", None, is_slow=True, turns=60, is_sync=True))
    trace = io.BytesIO()
    load(parse(program("wse3", parts, sends, 60, 120, None)), trace=trace, prices=PRICES).run()
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    sent = times(events, "sent", (1, 1), "out")
    assert sent == list(range(sent[0], sent[0] + 60 * SLOW, SLOW))
    assert times(events, "taken", (1, 2), "in")[0] > sent[-1], "it waits for no room, or the test shows nothing"


@pytest.mark.parametrize("priority", ["", ", priority = low"])
@pytest.mark.parametrize("later", ["", " async(microthread = 2)", " async(microthread = 2, priority = medium)"])
def test_wavelets_of_a_send_come_behind_those_that_are_passed_on_before(priority: str, later: str) -> None:
    """The operation that passes on what comes from the east has ended before its task sends on the same queue."""
    stream = "!flow.stream<f32>"
    body = f"""%n = arith.constant 2.0 : f32
      %q = flow.queue_stream @in extent 3 : {stream}
      %o = flow.queue_stream @out extent 3 : {stream}
      flow.apply fmovs %o, %q async(microthread = 1{priority}) : {stream}, {stream}
      {spin(40)}
      flow.apply fmovs %o, %n{later} : {stream}, f32"""
    source = f"""%n = arith.constant 1.0 : f32
      {spin(8)}
      %o = flow.queue_stream @out extent 3 : {stream}
      flow.apply fmovs %o, %n : {stream}, f32"""
    last = f"""%a = flow.stream @a at 0 strides [1] extents [6] : {stream}
      %q = flow.queue_stream @in extent 6 : {stream}
      flow.apply fmovs %a, %q : {stream}, {stream}"""
    machine = load(
        parse(f"""flow.fabric @passes target "wse3" grid 3 by 1 {{
          flow.color @c = 0
          flow.color @d = 1
          flow.route @c on [2, :] from [ramp] to [west]
          flow.route @c on [1, :] from [east] to [ramp]
          flow.route @d on [1, :] from [ramp] to [west]
          flow.route @d on [0, :] from [east] to [ramp]
          flow.units @receiver on [0, :] words 1200 {{
            {buffers()}
            flow.export @a as "a"
            flow.queue input @in id 2 colors [@d on [:, :]]
            {main(last)}
          }}
          flow.units @middle on [1, :] words 1200 {{
            {buffers()}
            flow.queue input @in id 2 colors [@c on [:, :]]
            flow.queue output @out id 3 colors [@d on [:, :]]
            {main(body)}
          }}
          flow.units @source on [2, :] words 1200 {{
            {buffers()}
            flow.queue output @out id 3 colors [@c on [:, :]]
            {main(source)}
          }}
        }}""")
    )
    machine.run()
    assert machine.read_symbol("a")[0, 0, :6].tolist() == [1, 1, 1, 2, 2, 2]
