"""Wavelets of several senders that meet in one queue come one by one, in the order of time."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.runtime import Deadlock

from ..searches import examples
from .flow_modules import parse, spin
from .machines import load

SENDERS = {(1, 0): "north", (2, 1): "east", (1, 2): "south", (0, 1): "west"}
"""PEs around the one in the middle, by the port at which their wavelets come, in the order of ports."""
OPPOSITE = {"north": "south", "east": "west", "south": "north", "west": "east"}


def program(target: str, sends: dict[tuple[int, int], tuple[int, int, int]], *, receives: bool, late: int = 0) -> str:
    """Each sender sends some wavelets after some turns of a loop, one every so many cycles.

    The one in the middle receives them, after `late` turns of a loop, or has a data task.
    """
    total = sum(count for count, *_ in sends.values())
    units: list[str] = []
    for k, ((x, y), (count, turns, stride)) in enumerate(sends.items()):
        units.append(f"""flow.units @u{k} on [{x}, {y}] words 1000 {{
          flow.buffer @a at 0 : memref<490xi32> = dense<{k}>
          flow.buffer @x at 990 : memref<i32>
          flow.queue output @out id 2 colors [@c on [:, :]]
          flow.task local @main id 9 active {{
            {spin(turns)}
            %a = flow.stream @a at 0 strides [{stride}] extents [{count}] : !flow.stream<i32>
            %o = flow.queue_stream @out extent {count} : !flow.stream<i32>
            flow.apply mov32 %o, %a : !flow.stream<i32>, !flow.stream<i32>
            flow.return
          }}
        }}""")
    reader = f"""flow.task local @main id 9 active {{
      {spin(late, "@k")}
      %b = flow.stream @log at 0 strides [1] extents [{total}] : !flow.stream<i32>
      %n = flow.queue_stream @in extent {total} : !flow.stream<i32>
      flow.apply mov32 %b, %n : !flow.stream<i32>, !flow.stream<i32>
      flow.return
    }}"""
    task = """flow.task data @d id 2 on @in (%v: i32) {
      %k = flow.load @k[] : i32
      %i = arith.index_cast %k : i32 to index
      flow.store %v, @log[%i] : i32
      %one = arith.constant 1 : i32
      %next = arith.addi %k, %one : i32
      flow.store %next, @k[] : i32
      flow.return
    }"""
    routes = "\n".join(
        f"flow.route @c on [{x}, {y}] from [ramp] to [{OPPOSITE[port]}]" for (x, y), port in SENDERS.items()
    )
    return f"""flow.fabric @meeting target "{target}" grid 3 by 3 {{
      flow.color @c = 2
      {routes}
      flow.route @c on [1, 1] from [{", ".join(SENDERS.values())}] to [ramp]
      {"".join(units)}
      flow.units @middle on [1, 1] words 512 {{
        flow.buffer @log at 0 : memref<{total}xi32>
        flow.buffer @k at 500 : memref<i32>
        flow.export @log as "log"
        flow.queue input @in id 2 colors [@c on [:, :]]
        {reader if receives else task}
      }}
    }}"""


def log_and_issues(text: str) -> tuple[list[int], dict[str, int]]:
    trace = io.BytesIO()
    machine = load(parse(text), trace=trace)
    machine.run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    issues = {event["pes"]: event["cycle"] for event in events if event["event"] == "operation"}
    return machine.read_symbol("log")[1, 1].tolist(), issues


SENDS = st.dictionaries(
    st.sampled_from(list(SENDERS)), st.tuples(st.integers(1, 9), st.integers(0, 6), st.integers(1, 12)), min_size=2
)


@settings(max_examples=examples(40))
@given(st.sampled_from(["wse2", "wse3"]), SENDS, st.booleans())
def test_wavelets_come_in_the_order_of_time(
    target: str, sends: dict[tuple[int, int], tuple[int, int, int]], receives: bool
) -> None:
    """By when each wavelet is there, and of those of one cycle by their port."""
    log, issues = log_and_issues(program(target, sends, receives=receives))
    timing = targets.get(target).timing
    ports, arrivals = list(SENDERS), list[tuple[int, int, int]]()
    for k, ((x, y), (count, _, stride)) in enumerate(sends.items()):
        rate = timing.element_cycles("move", (32, 32), (stride,))
        for n in range(count):
            arrivals.append((issues[f"PE ({x}, {y})"] + n * max(1, -(-rate.numerator // rate.denominator)),
                             ports.index((x, y)), k))  # fmt: skip
    assert log == [k for *_, k in sorted(arrivals)]


def test_those_of_one_send_come_in_between_those_of_another() -> None:
    log, _ = log_and_issues(program("wse3", {(0, 1): (4, 0, 1), (1, 0): (4, 0, 1)}, receives=True))
    assert log == [1, 0, 1, 0, 1, 0, 1, 0]


MANY = st.dictionaries(
    st.sampled_from(list(SENDERS)), st.tuples(st.integers(1, 40), st.integers(0, 60), st.just(1)), min_size=2
)


def shared(
    target: str, sends: dict[tuple[int, int], tuple[int, int, int]], issues: dict[str, int]
) -> tuple[list[int], list[int]]:
    """Return in which order wavelets are taken, and when each send ends, wavelet by wavelet."""
    machine = targets.get(target)
    timing = machine.timing
    own_words, words = machine.output_queue_words[2] + timing.link_words, machine.input_queue_words[2]
    owns: list[list[int]] = []
    for (x, y), (count, *_) in sends.items():
        first = issues[f"PE ({x}, {y})"] + timing.send_setup + timing.inject
        owns.append([first + k for k in range(count)])
    ports = [list(SENDERS).index(place) for place in sends]
    leaves: list[list[int]] = [[] for _ in owns]
    credits_ = [0 for _ in owns]
    enters: list[list[int]] = [[] for _ in owns]
    takes: list[int] = []
    log: list[int] = []

    def credit(k: int) -> int:
        number = len(leaves[k])
        return enters[k][number - own_words] + timing.hop if number >= own_words else 0

    while any(len(own) > len(leave) for own, leave in zip(owns, leaves, strict=True)):
        left = [k for k, own in enumerate(owns) if len(own) > len(leaves[k])]
        leave, _, k = min((max(owns[k][len(leaves[k])], credit(k)), ports[k], k) for k in left)
        credits_[k] = credit(k)
        came = leave + timing.hop + timing.ramp
        leaves[k].append(leave)
        enters[k].append(max(came, takes[-words]) if len(takes) >= words else came)
        takes.append(max(came, takes[-1] + 1 if takes else issues["PE (1, 1)"] + timing.receive_setup))
        log.append(k)
    ends = [
        max(issues[f"PE ({x}, {y})"] + timing.send_setup + len(own), credit)
        for (x, y), own, credit in zip(sends, owns, credits_, strict=True)
    ]
    return log, ends


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.sampled_from(["wse2", "wse3"]), MANY, st.integers(0, 60))
def test_senders_share_the_words_of_the_queue(
    target: str, sends: dict[tuple[int, int], tuple[int, int, int]], late: int
) -> None:
    """A late receiver holds them back; what each way holds besides is its own."""
    trace = io.BytesIO()
    machine = load(parse(program(target, sends, receives=True, late=late)), trace=trace)
    machine.run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    issues = {event["pes"]: event["cycle"] for event in events if event["event"] == "operation"}
    log, ends = shared(target, sends, issues)
    assert machine.read_symbol("log")[1, 1].tolist() == log
    assert [int(machine.clocks[y, x]) for x, y in sends] == ends


def test_the_words_of_the_queue_count_once() -> None:
    """Nothing is read: of two senders one gets all the queue's words, or both some of them."""
    words = targets.get("wse3").input_queue_words[2]
    for sent, fits in ((12, True), (12 + words // 2, True), (12 + words, False)):
        sends = {(0, 1): (sent, 0, 1), (2, 1): (sent, 0, 1)}
        text = program("wse3", sends, receives=True, late=0).replace(f"extent {2 * sent} ", "extent 0 ")
        machine = load(parse(text))
        if fits:
            machine.run(100_000)
        else:
            with pytest.raises(Deadlock, match=r"waits remain(?s:.)*cannot send its 16 wavelets"):
                machine.run(100_000)
            assert any("still holds 4 more" in str(left) for left in machine.unread())
