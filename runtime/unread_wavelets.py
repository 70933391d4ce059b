"""Unread wavelets of a machine at rest: not an error by themselves, but often the cause of one.

An executor makes records of those it finds, with the functions below, which say where the wavelets are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..targets.wavelets import PORTS
from .places import Unit
from .wait_sentences import numbered


class Unread(NamedTuple):
    """Wavelets of a color at one PE that nothing there has read."""

    color: str
    place: Unit
    """(x, y) in the grid"""
    wavelets: int
    queue: str | None
    """The input queue they wait in; None where the PE has no queue for the color, and for what went to the host."""
    sender: Unit | None
    """A PE that sent some of them, where that is known."""
    label: str
    """The name of the color in messages."""
    state: str
    """Where they are, in words: "wait in input queue @in of PE (1, 0): nothing reads them"."""
    is_behind: bool = False
    """True if they wait only because others before them do not go on."""

    def __str__(self) -> str:
        return f"{_counted(self.wavelets)} of color {self.label} {self.state}"


def plain(label: str) -> str:
    """Return the name in a label: @red and 'red' are red."""
    return label.replace("'", "").removeprefix("@")


def by_place(found: Iterable[Unread]) -> list[Unread]:
    """Return unread wavelets by color, row and column."""
    return sorted(found, key=lambda left: (left.color, left.place[::-1]))


def in_queue(
    label: str, place: Unit, count: int, queue: str, number: int, room: int | None = None, held: int = 0
) -> Unread:
    """Return wavelets that wait in an input queue and, if `held` more are at their senders, on the full ways there.

    Of messages `room` are in the queue, the others before it.
    """
    wait, them = ("waits", "it") if count == 1 else ("wait", "them")
    where = f"in input queue {numbered(queue, number)}"
    if room is not None and count > room:
        state = f"{wait} for PE {place}, {room} {where} and {count - room} held back: nothing reads {them}"
    elif held:
        state = (
            f"{wait} {where} of PE {place} and on the way there: nothing reads {them}, and the sender still holds "
            f"{held} more"
        )
    else:
        state = f"{wait} {where} of PE {place}: nothing reads {them}"
    return Unread(plain(label), place, count, plain(queue), None, label, state)


def at_sender(label: str, place: Unit, count: int, queue: str, number: int) -> Unread:
    """Return wavelets for an input queue that has taken what came, and whose senders find no room for more."""
    whose = "its" if count == 1 else "their"
    state = (
        f"for input queue {numbered(queue, number)} of PE {place} {_are(count)} still at {whose} sender: there is no "
        "room on all ways"
    )
    return Unread(plain(label), place, count, plain(queue), None, label, state, is_behind=True)


def without_queue(label: str, place: Unit, count: int, sender: Unit) -> Unread:
    """Return wavelets that a PE has sent to one without an input queue for their color."""
    state = f"{_were(count)} sent by PE {sender} to PE {place}, where no operation and no task reads the color"
    return Unread(plain(label), place, count, None, sender, label, state)


def to_host(label: str, place: Unit, count: int) -> Unread:
    """Return wavelets that a PE has sent to the host, and that the host has not received."""
    state = f"{_were(count)} sent by PE {place} to the host, which has not received {'it' if count == 1 else 'them'}"
    return Unread(plain(label), place, count, None, place, label, state)


def at_router(label: str, place: Unit, count: int, port: int, position: int | None, taken: Sequence[str]) -> Unread:
    """Return wavelets that have come to a router by a port from which it does not take them.

    `position` is that of its switch, None if it has none, and `taken` the ports from which it takes the color.
    """
    takes = "its route" if position is None else f"its switch is at position {position}, where it"
    state = (
        f"{'waits' if count == 1 else 'wait'} at the router of PE {place}, from {PORTS[port]}: {takes} takes the color "
        f"from {' or '.join(taken) or 'no port'}"
    )
    return Unread(plain(label), place, count, None, None, label, state)


def before_torn_down(label: str, place: Unit, count: int, port: int) -> Unread:
    """Return wavelets that have come to a router where their color is in a teardown phase."""
    state = (
        f"{'waits' if count == 1 else 'wait'} at the router of PE {place}, from {PORTS[port]}: the color is in a "
        "teardown phase there"
    )
    return Unread(plain(label), place, count, None, None, label, state)


def before_full(label: str, place: Unit, count: int, port: int) -> Unread:
    """Return wavelets that a router does not pass on, since the links or queues behind it are full."""
    state = (
        f"{'waits' if count == 1 else 'wait'} at the router of PE {place}, from {PORTS[port]}: there is no room on the "
        "way on"
    )
    return Unread(plain(label), place, count, None, None, label, state, is_behind=True)


def down_ramp(label: str, place: Unit, count: int) -> Unread:
    """Return wavelets of a color with switches that went down the ramp of a PE without an input queue for them."""
    state = f"arrived at PE {place}, where no operation and no task reads the color"
    return Unread(plain(label), place, count, None, None, label, state)


def off_grid(label: str, place: Unit, count: int, port: int) -> Unread:
    """Return wavelets of a color with switches that left the grid."""
    state = f"left the grid to the {PORTS[port]} of PE {place}"
    return Unread(plain(label), place, count, None, None, label, state)


def in_message(label: str, place: Unit, count: int, sender: Unit, reason: str) -> Unread:
    """Return the wavelets of a message that stalls; `reason` says why."""
    state = f"wait in the message from PE {sender} to PE {place}: {reason}"
    return Unread(plain(label), place, count, None, sender, label, state)


def summary(found: Iterable[Unread], when: str) -> list[str]:
    """Return a sentence for each color of some unread wavelets, with the number of PEs; `when` is "at stop()"."""
    colors: dict[str, list[Unread]] = {}
    for left in found:
        colors.setdefault(left.label, []).append(left)
    return [_sentence(label, lefts, when) for label, lefts in colors.items()]


def _sentence(label: str, lefts: Sequence[Unread], when: str) -> str:
    first = lefts[0]
    total = sum(left.wavelets for left in lefts)
    pes = len({left.place for left in lefts})
    remedy = "receive as many wavelets as are sent"
    if len(lefts) == 1:
        return f"{when}: {first}; {remedy}"
    where = f"on {pes} PEs" if pes > 1 else f"on PE {first.place}"
    return f"{when}: {_counted(total)} of color {label} {_are(total)} unread {where}; the first {first.state}; {remedy}"


def _counted(count: int) -> str:
    return f"{count} wavelet{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
