"""Wavelets held at a switch fill the links back to their sender, against a simulation wavelet by wavelet."""

from __future__ import annotations

import io
import json
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.runtime import Deadlock, Machine

from ..searches import examples
from .flow_modules import parse, spin
from .machines import load
from .router_model import encode

ADVANCE = encode([(1, True)], 31)
OUT, IN = (getattr(targets.get("wse3"), f"{name}_queue_words")[2] for name in ("output", "input"))


class Row(NamedTuple):
    """The first PE of a row sends to the last one; the switch of another is closed until its own PE opens it."""

    before: int
    """Routers between the sender and the closed one."""
    behind: int
    """Routers between that and the receiver."""
    sent: int
    opens: int | None
    """Turns of a loop before the switch is opened; None if it never is."""
    reads: int
    """Turns of a loop before the receiver reads."""
    copies: bool = False
    """The PE with the switch gets the wavelets as well, and reads them when it opens it."""


def units(name: str, x: int, members: str, body: str) -> str:
    return f"""flow.units @{name} on [{x}, :] words 400 {{
      flow.buffer @a at 0 : memref<180xi32>
      flow.buffer @x at 396 : memref<i32>
      {members}
      flow.task local @main id 9 active {{
        {body}
      }}
    }}"""


def move(count: int, *, out: bool) -> str:
    to, source = ("%o", "%a") if out else ("%a", "%o")
    queue = "out" if out else "in"
    return f"""%a = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<i32>
      %o = flow.queue_stream @{queue} extent {count} : !flow.stream<i32>
      flow.apply mov32 {to}, {source} : !flow.stream<i32>, !flow.stream<i32>"""


OUTPUT = "flow.queue output @out id 2 colors [@c on [:, :]]"
INPUT = "flow.queue input @in id 2 colors [@c on [:, :]]"
COMMAND = f"""%w = arith.constant {ADVANCE} : i32
      %c = flow.queue_stream @out extent 1 control : !flow.stream<i32>
      flow.apply mov32 %c, %w : !flow.stream<i32>, i32"""


def program(row: Row) -> str:
    closed = row.before + 1
    last = closed + row.behind + 1
    opens = "" if row.opens is None else spin(row.opens) + COMMAND
    reads = move(row.sent, out=False) if row.copies else ""
    to = "[ramp, east]" if row.copies else "[east]"
    between = f"flow.route @c on [{closed + 1}:{last}, :] from [west] to [east]" if row.behind else ""
    first = f"flow.route @c on [1:{closed}, :] from [west] to [east]" if row.before else ""
    return f"""flow.fabric @row target "wse3" grid {last + 1} by 1 {{
      flow.color @c = 4
      flow.route @c on [0, :] from [ramp] to [east]
      {first}
      flow.route @c on [{closed}, :] from [ramp] to [east] switch [from [west] to {to}]
      {between}
      flow.route @c on [{last}, :] from [west] to [ramp]
      {units("first", 0, OUTPUT, move(row.sent, out=True))}
      {units("gate", closed, OUTPUT + INPUT * row.copies, opens + reads)}
      {units("last", last, INPUT, spin(row.reads) + move(row.sent, out=False))}
    }}"""


def issues(trace: bytes, x: int) -> list[int]:
    """Return when a PE has issued its operations."""
    events = (json.loads(line) for line in trace.decode().splitlines())
    return sorted(each["cycle"] for each in events if each["event"] == "operation" and each["pes"] == f"PE ({x}, 0)")


def ends(row: Row, trace: bytes) -> tuple[int, int]:
    """Return when the sender and the receiver end."""
    timing = targets.get("wse3").timing
    hop, link = timing.hop, timing.link_words
    closed = row.before + 1
    last = closed + row.behind + 1
    issued, reads = issues(trace, 0)[0], issues(trace, last)[0] + timing.receive_setup
    gate = issues(trace, closed)
    opened = gate[0] + timing.send_setup + timing.inject
    copy = gate[1] + timing.receive_setup if row.copies else 0
    passed: list[list[int]] = [[] for _ in range(last + 1)]
    takes: list[int] = []
    copies: list[int] = []
    credit = 0
    for k in range(row.sent):
        own = issued + timing.send_setup + timing.inject + k
        credit = passed[0][k - OUT] + hop if k >= OUT else 0
        at = own
        for x in range(last + 1):
            when = [at, passed[x][-1] + 1 if k else opened + 1 if x == closed else 0]
            if x < last and k >= link:
                when.append(passed[x + 1][k - link] + hop)
            if x == last and k >= IN:
                when.append(takes[k - IN] + hop)
            if x == closed and row.copies and k >= IN:
                when.append(copies[k - IN] + hop)
            passed[x].append(max(when))
            at = passed[x][k] + hop
            if x == closed:
                copies.append(max(passed[x][k] + timing.ramp, copies[-1] + 1 if k else copy))
        takes.append(max(passed[last][k] + timing.ramp, takes[-1] + 1 if k else reads))
        assert max(own, credit) <= passed[0][k]
    return max(issued + timing.send_setup + row.sent, credit), takes[-1] + 1


def run(row: Row) -> tuple[Machine, bytes]:
    trace = io.BytesIO()
    machine = load(parse(program(row)), trace=trace)
    machine.run(1_000_000)
    return machine, trace.getvalue()


@settings(max_examples=examples(60))
@given(
    st.builds(
        Row, st.integers(0, 3), st.integers(0, 3), st.integers(1, 80), st.integers(0, 30), st.integers(0, 60),
        st.booleans(),
    )
)  # fmt: skip
@example(Row(2, 0, 60, 20, 0))
@example(Row(0, 2, 60, 0, 40))
@example(Row(1, 2, 60, 5, 40, copies=True))
@pytest.mark.slow
def test_a_send_ends_when_its_last_wavelet_finds_room(row: Row) -> None:
    machine, trace = run(row)
    assert (int(machine.clocks[0, 0]), int(machine.clocks[0, -1])) == ends(row, trace)


@pytest.mark.parametrize("before", [0, 1, 3])
def test_as_many_wavelets_as_the_links_hold_do_not_hold_their_sender(before: int) -> None:
    """The queue holds 8 words and each link 4; the send of one wavelet more never ends, and the report says why."""
    fits = OUT + 4 * (before + 1)
    machine = load(parse(program(Row(before, 0, fits, None, 0))))
    with pytest.raises(Deadlock) as caught:
        machine.run(100_000)
    assert "@out" not in str(caught.value)
    machine = load(parse(program(Row(before, 0, fits + 1, None, 0))))
    with pytest.raises(Deadlock) as caught:
        machine.run(100_000)
    place = f"PE ({before + 1}, 0)"
    assert f"cannot send its {fits + 1} wavelets on output queue @out (id 2, color @c): the routers" in str(
        caught.value
    )
    assert (
        f"the switch of color @c at {place} is at position 0, which takes the color from ramp, and 4 wavelets wait "
        "there from west; move it to position 1 before, with control wavelets or with advance_switch"
    ) in str(caught.value)
    assert f"wait at the router of {place}, from west: its switch is at position 0" in str(caught.value)
    assert str(caught.value).count("there is no room on the way on") == before + 1


def test_a_queue_that_is_not_read_holds_a_sender_behind_an_open_switch() -> None:
    """Behind the switch the queue of the gate's PE is full, so that the others get what fits."""
    row = Row(0, 0, 60, 0, 0, copies=True)
    text = program(row).replace(move(60, out=False), "", 1)
    machine = load(parse(text))
    with pytest.raises(Deadlock) as caught:
        machine.run(100_000)
    assert "input queue @in of PE (1, 0) is full and is not read; receive there as many" in str(caught.value)
    assert f"for {60 - IN} of 60 wavelets" in str(caught.value)


def test_a_position_that_no_switch_has_is_asked_for() -> None:
    text = program(Row(0, 0, 20, None, 0)).replace("switch [from [west] to [east]]", "switch [from [south]]")
    machine = load(parse(text))
    with pytest.raises(Deadlock, match="wait there from west; add a position that takes the color from west"):
        machine.run(100_000)
