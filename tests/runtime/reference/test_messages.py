"""The network of messages against one that is simulated cycle by cycle."""

from __future__ import annotations

from types import MethodType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from ...searches import examples
from .test_machine import load

WIDTH, HEIGHT = 4, 3
Place = tuple[int, int]
"""Row and column."""
Message = tuple[Place, Place, int, int]
"""Sender, receiver, the cycle in which it starts, and the number of its elements."""

MODULE = f"""
flow.fabric @messages target "wse3" grid {WIDTH} by {HEIGHT} {{
  flow.color @comm = 18
  flow.message_network @comm
  flow.units @u on [:, :] words 8 {{
    flow.queue input @in id 2 colors [@comm on [:, :]]
    flow.queue output @out id 3 colors [@comm on [:, :]]
  }}
}}
"""
PORTS = ("ramp", "north", "east", "south", "west")


def way(sender: Place, receiver: Place, hop: int, turn: int) -> list[tuple[Place, str, str, int]]:
    """Return each router of a way, by which port a message comes and leaves, and when, if nothing is in its way."""
    (row, column), (to_row, to_column) = sender, receiver
    east, south = ("east" if column < to_column else "west"), ("south" if row < to_row else "north")
    back = {"east": "west", "west": "east", "south": "north", "north": "south"}
    steps = [east] * abs(to_column - column) + [south] * abs(to_row - row)
    found: list[tuple[Place, str, str, int]] = []
    came, time = "ramp", 0
    for step in steps:
        found.append(((row, column), came, step, time))
        time += hop + (turn if came not in ("ramp", back[step]) else 0)
        column += {"east": 1, "west": -1}.get(step, 0)
        row += {"south": 1, "north": -1}.get(step, 0)
        came = back[step]
    return [*found, ((row, column), came, "ramp", time)]


class Undecided(Exception):
    """Two messages come by one port in one cycle."""


def simulated(messages: list[Message], hop: int, turn: int) -> list[int]:
    """Return when the last wavelet of each message is at its receiver, by stepping through the cycles."""
    ways = [way(sender, receiver, hop, turn) for sender, receiver, _, _ in messages]
    own = [-start for _, _, start, _ in messages]
    """The time of each message's own clock."""
    stands = [False] * len(messages)
    holder: dict[tuple[Place, str], int] = {}
    lines: dict[tuple[Place, str], list[int]] = {}
    ends = [0] * len(messages)
    cycle = 0
    while not all(ends):
        for number, (steps, (_, _, _, length)) in enumerate(zip(ways, messages, strict=True)):
            last = 1 + length
            for place, _, port, time in steps:
                # A message that stood a while is at one time of its own clock in several cycles.
                left = holder.get((place, port)) == number and own[number] == time + last + 1
                if left and not stands[number]:
                    line = lines.get((place, port), [])
                    if line:
                        following = line.pop(0)
                        holder[place, port] = following
                        stands[following] = False
                    else:
                        del holder[place, port]
            if not stands[number] and own[number] == steps[-1][3] + last:
                ends[number] = cycle
        asking = [
            (place, PORTS.index(port), PORTS.index(came), number)
            for number, steps in enumerate(ways)
            for place, came, port, time in steps
            if own[number] == time and holder.get((place, port)) != number and not stands[number]
        ]
        # A turn delays wavelets behind the link that was taken, so that those of two messages may come over one link in
        # one cycle. Which is first is open then.
        if len({request[:3] for request in asking}) < len(asking):
            raise Undecided
        for place, port, _, number in sorted(asking):
            link = place, PORTS[port]
            if link in holder:
                lines.setdefault(link, []).append(number)
                stands[number] = True
            else:
                holder[link] = number
        own = [time if still else time + 1 for time, still in zip(own, stands, strict=True)]
        cycle += 1
    return ends


def run(messages: list[Message]) -> tuple[list[int], Any]:
    """Return when the last wavelet of each message is at its receiver, which takes all at once, and the timing."""
    machine = load(MODULE)
    (network,) = machine.networks
    ends = [0] * len(messages)

    def admit(self: Any, queue: Any, run: Any) -> None:
        run.piece.taken(0, len(run.payload), run.first, run.rate)
        if run.control:
            ends[run.payload[-1]] = run.first

    machine.admit = MethodType(admit, machine)
    stream: Any = SimpleNamespace(control=False, message=True)
    for number, ((row, column), (to_row, to_column), start, length) in enumerate(messages):
        issue: Any = SimpleNamespace(pe=machine.pes[row * WIDTH + column])
        network.inject(issue, stream, [to_row << 16 | to_column, length], 0, 1, last=False, send=None)
        network.inject(issue, stream, [number] * length, start, 1, last=True, send=None)
    while machine.order:
        machine.order.advance()
    assert not network.worms
    return ends, machine.timing


places = st.tuples(st.integers(0, HEIGHT - 1), st.integers(0, WIDTH - 1))


@st.composite
def crowds(draw: st.DrawFn) -> list[Message]:
    """Draw messages at about the same time, some of them to one PE."""
    favorite = draw(places)
    receivers = st.one_of(places, st.just(favorite))
    starts, lengths = st.integers(0, 12), st.integers(1, 15)
    return draw(st.lists(st.tuples(places, receivers, starts, lengths), min_size=1, max_size=9))


@settings(max_examples=examples(300, seldom=True), deadline=None)
@given(crowds())
@pytest.mark.slow
def test_as_simulated_cycle_by_cycle(messages: list[Message]) -> None:
    """LIB-001: the order at links, who goes first in one cycle, and what those that wait lose."""
    # Two of one sender in one cycle are in the order in which they are sent, on the machine; a PE sends one at a time.
    seen: set[tuple[Place, int]] = set()
    messages = [m for m in messages if (m[0], m[2]) not in seen and not seen.add((m[0], m[2]))]
    ends, timing = run(messages)
    try:
        expected = simulated(messages, timing.hop, timing.turn)
    except Undecided:
        reject()
    assert ends == expected


@pytest.mark.parametrize(
    ("messages", "order"),
    [
        # Both are at the router of the receiver in one cycle: from the west after from the east.
        ([((0, 0), (0, 1), 0, 5), ((0, 2), (0, 1), 0, 5)], [1, 0]),
        # First come, first served.
        ([((0, 0), (0, 1), 0, 5), ((0, 2), (0, 1), 1, 5)], [0, 1]),
        # What the PE itself sends comes first.
        ([((0, 2), (0, 1), 0, 5), ((0, 1), (0, 1), 2, 5)], [1, 0]),
        # Along the row, then along the column: they meet at the corner, and not on the way.
        ([((0, 0), (2, 3), 0, 9), ((1, 3), (2, 3), 0, 9)], [1, 0]),
    ],
)
def test_who_goes_first(messages: list[Message], order: list[int]) -> None:
    """LIB-001"""
    ends, timing = run(messages)
    assert sorted(range(len(messages)), key=lambda number: ends[number]) == order
    assert ends == simulated(messages, timing.hop, timing.turn)


def test_no_circle_of_messages_waits() -> None:
    """LIB-001: four long messages round a square would hold each other's ways if they could turn at will."""
    corners = [(0, 0), (0, 3), (2, 3), (2, 0)]
    for step in (1, 2, 3):
        messages = [(corner, corners[(number + step) % 4], 0, 200) for number, corner in enumerate(corners)]
        ends, timing = run(messages)
        assert ends == simulated(messages, timing.hop, timing.turn)
        assert all(ends)
