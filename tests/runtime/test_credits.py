"""Credits of a way, against a simulation wavelet by wavelet (DSD-214 to DSD-218)."""

from __future__ import annotations

import io
import json
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.operations.prices import of
from loomir.runtime import Deadlock

from ..searches import examples
from .flow_modules import parse, spin
from .machines import load

SLOW = 2
PRICES = of({"single_multiply": SLOW})
"""Multiplications are slower than wavelets, so that they hold them up."""


class Case(NamedTuple):
    """The first PE of a row sends, in several sends, what the last one receives in several receives."""

    target: str
    hops: int
    sends: list[tuple[int, int, bool]]
    """Wavelets of each send, turns of a loop before it, and True if it multiplies."""
    receives: list[tuple[int, int, bool]]
    asynchronous: bool = False
    """Each send runs on a microthread, and its end starts the next task of the sender."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    parts = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 40), st.booleans()), min_size=1, max_size=6)
    sends = draw(parts)
    total = sum(count for count, *_ in sends)
    receives: list[tuple[int, int, bool]] = []
    for count, late, slow in draw(parts):
        count = min(count, total - sum(taken for taken, *_ in receives))
        if count:
            receives.append((count, late, slow))
    left = total - sum(taken for taken, *_ in receives)
    if left:
        receives.append((left, draw(st.integers(0, 200)), draw(st.booleans())))
    return Case(draw(st.sampled_from(["wse2", "wse3"])), draw(st.integers(1, 4)), sends, receives, draw(st.booleans()))


def moved(to: str, source: str, slow: bool) -> str:
    """Return an operation that moves elements, or multiplies them by the first of all."""
    return f"fmuls {to}, {source}, %one" if slow else f"fmovs {to}, {source}"


def types(slow: bool) -> str:
    return "!flow.stream<f32>, !flow.stream<f32>" + (", f32" if slow else "")


def program(case: Case) -> str:
    sends: list[str] = []
    for k, (count, turns, slow) in enumerate(case.sends):
        follows = f"async(microthread = 2, activate = @send{k + 1}) " if case.asynchronous else ""
        then = "" if case.asynchronous else f"flow.activate @send{k + 1}"
        sends.append(f"""flow.task local @send{k} id {8 + k}{" active" if k == 0 else ""} {{
          %one = arith.constant 1.0 : f32
          {spin(turns, label=f"{k}")}
          %a = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
          %o = flow.queue_stream @out extent {count} : !flow.stream<f32>
          flow.apply {moved("%o", "%a", slow)} {follows}: {types(slow)}
          {then}
          flow.return
        }}""")
    last = f"flow.task local @send{len(sends)} id {8 + len(sends)} {{ flow.return }}"
    receives = "".join(
        f"""{spin(turns, label=f"r{k}")}
          %b{k} = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
          %n{k} = flow.queue_stream @in extent {count} : !flow.stream<f32>
          flow.apply {moved(f"%b{k}", f"%n{k}", slow)} : {types(slow)}"""
        for k, (count, turns, slow) in enumerate(case.receives)
    )
    return f"""flow.fabric @credits target "{case.target}" grid {case.hops + 1} by 1 {{
      flow.color @c = 2
      flow.route @c on [0, :] from [ramp] to [east]
      {"flow.route @c on [1:-1, :] from [west] to [east]" if case.hops > 1 else ""}
      flow.route @c on [-1, :] from [west] to [ramp]
      flow.units @first on [0, :] words 600 {{
        flow.buffer @a at 0 : memref<240xf32>
        flow.buffer @x at 500 : memref<i32>
        flow.queue output @out id 2 colors [@c on [:, :]]
        {"".join(sends)}
        {last}
      }}
      flow.units @last on [-1, :] words 600 {{
        flow.buffer @a at 0 : memref<240xf32>
        flow.buffer @x at 500 : memref<i32>
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.task local @main id 9 active {{
          %one = arith.constant 1.0 : f32
          {receives}
          flow.return
        }}
      }}
    }}"""


def run(case: Case) -> tuple[list[int], list[int], list[int]]:
    """Return when sends and receives are issued, and when the tasks start that follow sends."""
    trace = io.BytesIO()
    load(parse(program(case)), trace=trace, prices=PRICES).run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    first, last = "PE (0, 0)", f"PE ({case.hops}, 0)"
    issues, takes = (
        sorted(event["cycle"] for event in events if event["event"] == "operation" and event["pes"] == place)
        for place in (first, last)
    )
    tasks = sorted(event["cycle"] for event in events if event["event"] == "task" and event["pes"] == first)
    return issues, takes, tasks[1:]


def ends(case: Case, issues: list[int], receives: list[int]) -> list[int]:
    """Return when each send ends: wavelet by wavelet, by the sentence of the documentation."""
    target = targets.get(case.target)
    timing = target.timing
    capacity = target.output_queue_words[2] + target.input_queue_words[2] + case.hops * timing.link_words
    latency = case.hops * timing.hop + timing.ramp
    multiplied = SLOW
    ready = [
        (issue + timing.receive_setup, multiplied if slow else 1)
        for issue, (count, _, slow) in zip(receives, case.receives, strict=True)
        for _ in range(count)
    ]
    next_ = 0
    leave: list[int] = []
    take: list[int] = []
    found: list[int] = []
    for issue, (count, _, slow) in zip(issues, case.sends, strict=True):
        rate, own, credit = multiplied if slow else 1, 0, 0
        begins = issue if case.asynchronous else issue + timing.send_setup
        for k in range(count):
            number, own = len(leave), begins + timing.inject + k * rate
            credit = take[number - capacity] + case.hops * timing.hop if number >= capacity else 0
            leave.append(max(own, credit))
            from_, pace = ready[number]
            take.append(max(leave[-1] + latency, from_, next_))
            next_ = take[-1] + pace
        if case.asynchronous:
            found.append(begins + timing.inject + count * rate + leave[-1] - own)
        else:
            found.append(max(begins + count * rate, credit))
    return found


@settings(max_examples=examples(36))
@given(cases())
def test_sends_end_when_a_credit_lets_their_last_wavelet_leave(case: Case) -> None:
    issues, receives, tasks = run(case)
    wanted = ends(case, issues, receives)
    timing = targets.get(case.target).timing
    if case.asynchronous:
        assert [time - timing.task_start for time in tasks] == wanted
    else:
        # Each send is followed by the same instructions.
        lags = {time - timing.task_start - end for time, end in zip(tasks, wanted, strict=True)}
        assert len(lags) == 1 and min(lags) <= 2


def test_many_short_sends_fill_a_way() -> None:
    """DSD-214: each of the sends fits into the way, all of them do not; the last waits for the first to be taken."""
    case = Case("wse3", 1, [(8, 0, False)] * 3, [(24, 1000, False)])
    issues, receives, tasks = run(case)
    assert max(issues) < receives[0]
    assert tasks[1] < receives[0] < tasks[2]


def test_a_late_receiver_takes_what_is_there_as_fast_as_it_can() -> None:
    """A wavelet comes every other cycle, and long before: the receiver is not as slow as that."""
    issues, receives, _ = run(Case("wse3", 1, [(14, 0, True), (1, 0, False)], [(14, 1000, False), (1, 0, False)]))
    assert max(issues) < receives[0]
    assert receives[1] - receives[0] < 16 + 2 * 14


# Multicasts


@st.composite
def multicasts(draw: st.DrawFn) -> tuple[Case, list[list[tuple[int, int, bool]]]]:
    """A case in which every PE behind the first receives, each in several receives of its own."""
    case = draw(cases())
    total = sum(count for count, *_ in case.sends)
    others: list[list[tuple[int, int, bool]]] = []
    for _ in range(case.hops):
        receives: list[tuple[int, int, bool]] = []
        left = total
        while left:
            count = draw(st.integers(1, left)) if len(receives) < 3 else left
            receives.append((count, draw(st.integers(0, 150)), draw(st.booleans())))
            left -= count
        others.append(receives)
    return case, others


def multicast_program(case: Case, others: list[list[tuple[int, int, bool]]]) -> str:
    text = program(case)
    head, _, last = text.partition("flow.units @last on [-1, :]")
    units: list[str] = []
    for x, receives in enumerate(others):
        one = program(case._replace(receives=receives)).partition("flow.units @last on [-1, :]")[2]
        units.append(f"flow.units @last{x} on [{x + 1}, :]{one.rpartition('}')[0]}")
    assert last
    return head.replace("from [west] to [east]", "from [west] to [ramp, east]") + "\n".join(units) + "}"


@settings(max_examples=examples(36))
@given(multicasts())
@pytest.mark.slow
def test_the_slowest_receiver_of_a_multicast_holds_the_others_back(
    drawn: tuple[Case, list[list[tuple[int, int, bool]]]],
) -> None:
    case, others = drawn
    trace = io.BytesIO()
    machine = load(parse(multicast_program(case, others)), trace=trace, prices=PRICES)
    machine.run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    issues = [
        sorted(event["cycle"] for event in events if event["event"] == "operation" and event["pes"] == f"PE ({x}, 0)")
        for x in range(case.hops + 1)
    ]
    tasks = sorted(event["cycle"] for event in events if event["event"] == "task" and event["pes"] == "PE (0, 0)")[1:]
    target = targets.get(case.target)
    timing = target.timing
    multiplied = SLOW
    ready = [
        [
            (issue + timing.receive_setup, multiplied if slow else 1)
            for issue, (count, _, slow) in zip(issues[x + 1], receives, strict=True)
            for _ in range(count)
        ]
        for x, receives in enumerate(others)
    ]
    leave: list[int] = []
    take: list[list[int]] = [[] for _ in others]
    free = [0] * len(others)
    wanted: list[int] = []
    for issue, (count, _, slow) in zip(issues[0], case.sends, strict=True):
        rate = multiplied if slow else 1
        begins = issue if case.asynchronous else issue + timing.send_setup
        own, credits_ = 0, [0]
        for k in range(count):
            number, own = len(leave), begins + timing.inject + k * rate
            credits_ = [0]
            for x, taken in enumerate(take):
                held = target.output_queue_words[2] + target.input_queue_words[2] + (x + 1) * timing.link_words
                if number >= held:
                    credits_.append(taken[number - held] + (x + 1) * timing.hop)
            leave.append(max(own, *credits_))
            for x, taken in enumerate(take):
                from_, pace = ready[x][number]
                taken.append(max(leave[-1] + (x + 1) * timing.hop + timing.ramp, from_, free[x]))
                free[x] = taken[-1] + pace
        if case.asynchronous:
            wanted.append(begins + timing.inject + count * rate + leave[-1] - own)
        else:
            wanted.append(max(begins + count * rate, *credits_))
    lags = {time - timing.task_start - end for time, end in zip(tasks, wanted, strict=True)}
    assert len(lags) == 1 and 0 <= min(lags) <= 2
    assert [int(clock) - end for clock, end in zip(machine.clocks[0, 1:], free, strict=True)] == [0] * len(free)


def test_a_multicast_that_one_receiver_does_not_read_reaches_the_others_in_part() -> None:
    """DSD-214: the second receiver reads nothing, so that the first gets what fits on the way to the second."""
    case = Case("wse3", 2, [(30, 0, False)], [])
    text = multicast_program(case, [[(30, 0, False)], []])
    machine = load(parse(text))
    with pytest.raises(Deadlock, match=r"cannot send its 30 wavelets .* no more than 16 wavelets fit"):
        machine.run(100_000)
    wanted = "PE .1, 0.: task @main: fmovs in @main waits on input queue @in .* for 10 of 30 wavelets"
    machine = load(parse(text))
    with pytest.raises(Deadlock, match=wanted):
        machine.run(100_000)
