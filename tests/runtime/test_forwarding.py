"""Operations that send what they receive are held back as sends are (DSD-214)."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import example, given, settings
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


def program(target: str, sends: list[int], late: int, receives: list[tuple[int, int]], *, slow: bool) -> str:
    """The first of three PEs sends to the second, which passes on what it gets to the third."""
    total = sum(sends)

    def task(body: str) -> str:
        return f"""flow.buffer @a at 0 : memref<240xf32>
          flow.buffer @x at 500 : memref<i32>
          flow.task local @main id 9 active {{
            {body}
            flow.return
          }}"""

    sent = "".join(
        f"""%a{k} = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
          %o{k} = flow.queue_stream @out extent {count} : !flow.stream<f32>
          flow.apply fmovs %o{k}, %a{k} : !flow.stream<f32>, !flow.stream<f32>"""
        for k, count in enumerate(sends)
    )
    kind = "fmuls %o, %i, %one : !flow.stream<f32>, !flow.stream<f32>, f32"
    passed = f"""{spin(late, label="w")}
      %one = arith.constant 1.0 : f32
      %o = flow.queue_stream @out extent {total} : !flow.stream<f32>
      %i = flow.queue_stream @in extent {total} : !flow.stream<f32>
      flow.apply {kind if slow else "fmovs %o, %i : !flow.stream<f32>, !flow.stream<f32>"}"""
    received = "".join(
        f"""{spin(turns, label=f"r{k}")}
          %b{k} = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
          %n{k} = flow.queue_stream @in extent {count} : !flow.stream<f32>
          flow.apply fmovs %b{k}, %n{k} : !flow.stream<f32>, !flow.stream<f32>"""
        for k, (count, turns) in enumerate(receives)
    )
    return f"""flow.fabric @forwarding target "{target}" grid 3 by 1 {{
      flow.color @c = 2
      flow.color @d = 3
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]
      flow.route @d on [1, :] from [ramp] to [east]
      flow.route @d on [2, :] from [west] to [ramp]
      flow.units @first on [0, :] words 600 {{
        flow.queue output @out id 2 colors [@c on [:, :]]
        {task(sent)}
      }}
      flow.units @second on [1, :] words 600 {{
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.queue output @out id 3 colors [@d on [:, :]]
        {task(passed)}
      }}
      flow.units @third on [2, :] words 600 {{
        flow.queue input @in id 3 colors [@d on [:, :]]
        {task(received)}
      }}
    }}"""


CASES = st.tuples(
    st.sampled_from(["wse2", "wse3"]), st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(0, 100),
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 100)), max_size=4), st.booleans(),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(CASES)
def test_a_slow_receiver_holds_back_who_passes_on_and_who_sends(
    case: tuple[str, list[int], int, list[tuple[int, int]], bool],
) -> None:
    """Wavelet by wavelet: an element is taken when it is there, the operation ready, and there is room for it."""
    name, sends, late, parts, slow = case
    total, receives = sum(sends), list[tuple[int, int]]()
    for count, turns in [*parts, (total, 20)]:
        count = min(count, total - sum(taken for taken, _ in receives))
        if count:
            receives.append((count, turns))
    trace = io.BytesIO()
    machine = load(parse(program(name, sends, late, receives, slow=slow)), trace=trace, prices=PRICES)
    machine.run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    issues = [
        sorted(event["cycle"] for event in events if event["event"] == "operation" and event["pes"] == f"PE ({x}, 0)")
        for x in range(3)
    ]
    target = targets.get(name)
    timing = target.timing
    held = [target.output_queue_words[k] + target.input_queue_words[k] + timing.link_words for k in (2, 3)]
    latency = timing.hop + timing.ramp
    pace = SLOW if slow else 1
    starts = [issue for issue, (count, _) in zip(issues[2], receives, strict=True) for _ in range(count)]
    leave: list[int] = []
    passes: list[int] = []
    takes: list[int] = []
    ends: list[int] = []
    for issue, count in zip(issues[0], sends, strict=True):
        begins, back = issue + timing.send_setup, 0
        for k in range(count):
            n = len(leave)
            back = passes[n - held[0]] + timing.hop if n >= held[0] else 0
            leave.append(max(begins + timing.inject + k, back))
            ready = passes[-1] + pace if passes else issues[1][0] + timing.receive_setup
            ahead = timing.inject + timing.forward
            credit = takes[n - held[1]] + timing.hop - ahead if n >= held[1] else 0
            passes.append(max(leave[-1] + latency, ready, credit))
            there = passes[-1] + ahead + latency
            takes.append(max(there, starts[n] + timing.receive_setup, takes[-1] + 1 if takes else 0))
        ends.append(max(begins + count, back))
    assert issues[0][1:] == ends[:-1]
    assert machine.clocks[0].tolist() == [ends[-1], passes[-1] + pace, takes[-1] + 1]


def test_an_operation_that_finds_no_room_is_reported() -> None:
    """The third PE reads nothing: the second cannot pass all on, and so the first cannot send all."""
    machine = load(parse(program("wse3", [30, 30], 0, [], slow=False)))
    with pytest.raises(Deadlock) as caught:
        machine.run(100_000)
    report = str(caught.value)
    assert "PE (1, 0): task @main: fmovs in @main cannot send its 44 wavelets on output queue @out" in report
    assert "PE (0, 0): task @main: fmovs in @main cannot send its 30 wavelets on output queue @out" in report


def packing(sends: list[tuple[int, int]], count: int, late: int, action: str) -> str:
    """The first of three PEs sends halves, some after a while, which the second sends on two at a time."""

    stream, sent, at = "!flow.stream<i16>", "", 0
    for k, (turns, length) in enumerate(sends):
        sent += f"""{spin(turns, label=f"w{k}")}
          %a{k} = flow.stream @a at {at} strides [1] extents [{length}] : {stream}
          %o{k} = flow.queue_stream @out extent {length} : {stream}
          flow.apply mov16 %o{k}, %a{k} : {stream}, {stream}
        """
        at += length
    passed = f"""%o = flow.queue_stream @out extent {count} packed : {stream}
      %q = flow.queue_stream @in extent {count} : {stream}
      flow.apply mov16 %o, %q{action} : {stream}, {stream}"""
    whole = count + count % 2
    received = f"""{spin(late, label="w")}
      %b = flow.stream @a at 0 strides [1] extents [{whole}] : {stream}
      %n = flow.queue_stream @in extent {whole} packed : {stream}
      flow.apply mov16 %b, %n : {stream}, {stream}"""
    return chain(f"memref<240xi16> = dense<{list(range(1, 241))}>", sent, passed, received)


def chain(array: str, sent: str, passed: str, received: str) -> str:
    """Return a program of three PEs in a row, each with an array: one sends, one passes on, one receives."""

    def units(name: str, x: int, queues: str, body: str) -> str:
        return f"""flow.units @{name} on [{x}, :] words 600 {{
          flow.buffer @a at 0 : {array}
          flow.buffer @x at 500 : memref<i32>
          flow.export @a as "a"
          {queues}
          flow.task local @main id 9 active {{
            {body}
            flow.return
          }}
        }}"""

    color, queue_in, queue_out = "colors [@{} on [:, :]]", "flow.queue input @in id 2 ", "flow.queue output @out id 3 "
    return f"""flow.fabric @chain target "wse3" grid 3 by 1 {{
      flow.color @c = 2
      flow.color @d = 3
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]
      flow.route @d on [1, :] from [ramp] to [east]
      flow.route @d on [2, :] from [west] to [ramp]
      {units("first", 0, queue_out + color.format("c"), sent)}
      {units("middle", 1, queue_in + color.format("c") + chr(10) + queue_out + color.format("d"), passed)}
      {units("last", 2, queue_in + color.format("d"), received)}
    }}"""


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 9)), min_size=1, max_size=6),
    st.integers(0, 40),
    st.sampled_from(["", " async(microthread = 1)", " async(microthread = 1, priority = low)"]),
)
def test_wavelets_of_two_values_leave_when_the_second_is_taken(
    sends: list[tuple[int, int]], late: int, action: str
) -> None:
    """However what comes is split, two values make a wavelet; of an odd number the last has a zero behind it."""
    count = sum(length for _, length in sends)
    trace = io.BytesIO()
    machine = load(parse(packing(sends, count, late, action)), trace=trace)
    machine.run()
    whole = count + count % 2
    assert machine.read_symbol("a")[0, 2, :whole].tolist() == [*range(1, count + 1), 0][:whole]
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    moments: dict[str, list[int]] = {"taken": [], "sent": []}
    for event in events:
        if event["pes"] == "PE (1, 0)" and event["event"] in moments:
            pieces = max(event["wavelets"] - 1, 1)
            step = (event["last_cycle"] - event["cycle"]) // pieces
            moments[event["event"]] += [event["cycle"] + k * step for k in range(event["wavelets"])]
    second = [*moments["taken"][1::2], moments["taken"][-1] + 1][: whole // 2]
    assert moments["sent"] == [time + targets.get("wse3").timing.inject for time in second]


def unpacking(
    sends: list[int], count: int, late: int, receives: list[tuple[int, int]], *, action: str = "", slow: bool = False
) -> str:
    """The first of three PEs sends two values a wavelet, which the second sends on one by one."""

    stream, sent, at = "!flow.stream<f16>", "", 0
    for k, length in enumerate(sends):
        sent += f"""%a{k} = flow.stream @a at {at} strides [1] extents [{length}] : {stream}
          %o{k} = flow.queue_stream @out extent {length} packed : {stream}
          flow.apply fmovh %o{k}, %a{k} : {stream}, {stream}
        """
        at += length
    passed = f"""{spin(late, label="w")}
      %o = flow.queue_stream @out extent {count} : {stream}
      %q = flow.queue_stream @in extent {count} packed : {stream}
      flow.apply fmovh %o, %q{action} : {stream}, {stream}"""
    received, at = "", 0
    for k, (turns, length) in enumerate(receives):
        kind = (f"fmulh %b{k}, %n{k}, %two", ", f16") if slow else (f"fmovh %b{k}, %n{k}", "")
        received += f"""{spin(turns, label=f"r{k}")}
          %b{k} = flow.stream @a at {at} strides [1] extents [{length}] : {stream}
          %n{k} = flow.queue_stream @in extent {length} : {stream}
          flow.apply {kind[0]} : {stream}, {stream}{kind[1]}
        """
        at += length
    two = "%two = arith.constant 2.0 : f16"
    return chain("memref<240xf16>", *(f"{two}\n{body}" for body in (sent, passed, received)))


PARTS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=4)
PRICE_OF_A_PRODUCT = 3


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.integers(1, 15), min_size=2, max_size=6),
    st.booleans(),
    st.integers(0, 30),
    PARTS,
    st.sampled_from(["", " async(microthread = 1)", " async(microthread = 1, priority = low)"]),
    st.booleans(),
)
@example([15, 15, 9], True, 0, [(60, 7), (30, 21)], "", False)
@example([15, 15, 9], False, 10, [(40, 30)], " async(microthread = 1, priority = low)", True)
def test_a_wavelet_of_two_values_is_taken_when_there_is_room_for_both(
    pairs: list[int], odd: bool, late: int, parts: list[tuple[int, int]], action: str, slow: bool
) -> None:
    """Wavelet by wavelet; of an odd number of values the last wavelet needs room for one alone (DSD-214)."""
    sends = [2 * pair for pair in pairs]
    count = sum(sends) - odd
    receives: list[tuple[int, int]] = []
    for turns, length in [*parts, (20, count)]:
        length = min(length, count - sum(taken for _, taken in receives))
        if length:
            receives.append((turns, length))
    trace = io.BytesIO()
    prices = of({"elements": {"fmulh": PRICE_OF_A_PRODUCT}})
    text = unpacking(sends, count, late, receives, action=action, slow=slow)
    machine = load(parse(text), trace=trace, prices=prices)
    machine.run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    issues = [
        sorted(event["cycle"] for event in events if event["event"] == "operation" and event["pes"] == f"PE ({x}, 0)")
        for x in range(3)
    ]
    target = targets.get("wse3")
    timing = target.timing
    words = [target.output_queue_words[3] + target.input_queue_words[2] + timing.link_words] * 2
    latency, ahead = timing.hop + timing.ramp, timing.inject + timing.forward
    starts = [issue for issue, (_, length) in zip(issues[2], receives, strict=True) for _ in range(length)]
    leave: list[int] = []
    passes: list[int] = []
    takes: list[int] = []
    ends: list[int] = []
    ready = issues[1][0] + timing.receive_setup
    for issue, length in zip(issues[0], sends, strict=True):
        begins, back = issue + timing.send_setup, 0
        for k in range(length // 2):
            n = len(leave)
            back = passes[n - words[0]] + timing.hop if n >= words[0] else 0
            leave.append(max(begins + timing.inject + 2 * k, back))
            values = range(2 * n, min(2 * n + 2, count))
            returned = [takes[v - words[1]] + timing.hop - ahead - v % 2 for v in values if v >= words[1]]
            passes.append(max(leave[-1] + latency, ready, *returned))
            ready = passes[-1] + len(values)
            for v in values:
                there = passes[-1] + v % 2 + ahead + latency
                pace = PRICE_OF_A_PRODUCT if slow else 1
                takes.append(max(there, starts[v] + timing.receive_setup, takes[-1] + pace if takes else 0))
        ends.append(max(begins + length, back))
    assert issues[0][1:] == ends[:-1]
    assert int(machine.clocks[0, 0]) == ends[-1]
    assert int(machine.clocks[0, 2]) == takes[-1] + (PRICE_OF_A_PRODUCT if slow else 1)
    moments = sorted(event["cycle"] for event in events if event["event"] == "taken" and event["pes"] == "PE (1, 0)")
    assert set(moments) <= set(passes)
    if not action:
        assert int(machine.clocks[0, 1]) == ready


def test_two_values_a_wavelet_are_not_passed_on_where_nobody_takes_them() -> None:
    """DSD-214: the second way holds 16 values, so that 8 wavelets and what fits on the first way leave the sender."""
    machine = load(parse(unpacking([60, 60], 120, 0, [])))
    with pytest.raises(Deadlock) as caught:
        machine.run(100_000)
    report = str(caught.value)
    assert "PE (1, 0): task @main: fmovh in @main cannot send its 104 wavelets on output queue @out" in report
    assert "PE (0, 0): task @main: fmovh in @main cannot send its 30 wavelets on output queue @out" in report
