"""What reports say of units that wait: the texts of `Wait`, and the remedies and explanations of `Awaited`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

SEND_FIRST = {
    True: "let one of them send before it receives, or send and receive asynchronously",
    False: "let one of them send before it has received",
}
"""What to do about units that wait for each other's wavelets, by whether a task of one of them waits."""

RECEIVE_FIRST = "let one of them receive before, or while, it sends"
"""What to do about units whose messages wait for each other."""


MAX_SENDS = 3
"""Places of sends in a sentence; the rest are counted."""


def waiter(microthread: int | None, task: str, operation: str, where: str | None) -> str:
    """Return who waits, and at which operation; `microthread` is None for an operation that its task waits for."""
    name = f"task @{task}" if microthread is None else f"microthread {microthread}"
    return f"{name}: {operation}{f' ({where})' if where else ''}"


def numbered(queue: str, number: int) -> str:
    """Return a queue with its id, which may be all that it is called by."""
    return queue if queue == str(number) else f"{queue} (id {number})"


def with_color(queue: str, number: int, color: str) -> str:
    """Return a queue with its id and color."""
    return f"{queue} (color {color})" if queue == str(number) else f"{queue} (id {number}, color {color})"


def on_input_queue(who: str, queue: str, number: int, color: str, awaits: str) -> str:
    """Return that an operation waits for wavelets; `awaits` is "3 of 4 wavelets" or "a message"."""
    return f"{who} waits on input queue {with_color(queue, number, color)} for {awaits}"


def on_output_queue(
    who: str, queue: str, number: int, color: str, count: int, receivers: Sequence[str], held: int | None = None
) -> str:
    """Return that an operation waits for room at the input queues that it sends to; the way there holds `held`."""
    way = "" if held is None else f", and no more than {held} wavelets fit on the way there"
    return (
        f"{who} cannot send its {count} wavelets on output queue {with_color(queue, number, color)}: input queue "
        f"{' or '.join(receivers)} at the other end is full and is not read{way}"
    )


def on_routers(who: str, queue: str, number: int, color: str, count: int) -> str:
    """Return that an operation waits for room at routers of a color with switches."""
    return (
        f"{who} cannot send its {count} wavelets on output queue {with_color(queue, number, color)}: the routers on "
        "the way do not pass on those before them, and hold no more"
    )


def closed_switch(
    pe: str, color: str, count: int, port: str, position: int, taken: Sequence[str], opened: Sequence[int]
) -> str:
    """Return that a switch does not let wavelets pass, and what to do; `opened` are the positions in which it would."""
    waits = f"{count} wavelet{' waits' if count == 1 else 's wait'}"
    from_ = " or ".join(taken) or "no port"
    remedy = (
        f"move it to position {' or '.join(map(str, opened))} before, with control wavelets or with advance_switch"
        if opened
        else f"add a position that takes the color from {port}"
    )
    return (
        f"the switch of color {color} at {pe} is at position {position}, which takes the color from {from_}, and "
        f"{waits} there from {port}; {remedy}"
    )


def other_route(pe: str, color: str, count: int, port: str, taken: Sequence[str]) -> str:
    """Return that a route takes a color from other ports than wavelets come by, and what to do."""
    waits = f"{count} wavelet{' waits' if count == 1 else 's wait'}"
    return (
        f"the route of color {color} at {pe} takes it from {' or '.join(taken) or 'no port'}, and {waits} there from "
        f"{port}; let the route take the color from {port}, or end the send elsewhere"
    )


def torn_down(pe: str, color: str, count: int, port: str) -> str:
    """Return that wavelets wait at a router where their color is in a teardown phase, and what to do."""
    waits = f"{count} wavelet{' waits' if count == 1 else 's wait'}"
    return (
        f"color {color} is in a teardown phase at {pe}, where {waits} from {port}; end it there with teardown.exit of "
        "<tile_config>"
    )


def full_queue(queue: str, pe: str) -> str:
    """Return that wavelets of a color with switches stall because nothing reads a queue."""
    return f"input queue {queue} of {pe} is full and is not read; receive there as many wavelets as are sent"


def on_fifo(who: str, fifo: str, lacks: str, missing: int, count: int) -> str:
    """Return that an operation waits for elements or places of a FIFO; `lacks` is "empty" or "full"."""
    return f"{who} waits on FIFO @{fifo}, which is {lacks}, for {missing} of {count} elements"


def on_microthread(who: str, missing: int, count: int) -> str:
    """Return that an operation waits since its microthread is blocked; `missing` of its `count` elements are left."""
    return f"{who} is blocked with {missing} of {count} elements left"


def blocked_microthread(number: int, where: str | None, units: str) -> str:
    """Return that nothing unblocks the microthread of a number of some units, and what to do."""
    by = "" if where is None else f" by the @block at {where}"
    return (
        f"microthread {number} of {units} is blocked{by}, and nothing unblocks it; call @unblock(@get_ut_id({number})) "
        "when its operation may go on"
    )


def blocked_task(task: str, where: str | None, queue: str | None) -> str:
    """Return that a task could run if it were not blocked; `queue` has wavelets for it."""
    reason = "is active" if queue is None else f"has wavelets waiting on input queue {queue}"
    return f"task @{task}{f' ({where})' if where else ''} {reason} but is blocked, and nothing unblocks it"


def blocked_queue(queue: str, where: str | None) -> str:
    """Return that control wavelets wait in a blocked queue."""
    return f"input queue {queue}{f' ({where})' if where else ''} has control wavelets but is blocked; unblock it"


def no_wavelets(queue: str, units: str, reason: Literal["no message", "no route", "no sender", "too little"]) -> str:
    """Return why nobody sends to the input queue `queue` of some units."""
    whose = f"input queue {queue} of {units}"
    match reason:
        case "no message":
            return f"no message to {units} is on its way; let a PE send one there"
        case "no route":
            return f"no route leads to {whose}; add one from a PE that sends"
        case "no sender":
            return f"no PE sends wavelets that reach {whose}; let one send there, or correct the route"
        case "too little":
            return f"the PEs that send to {whose} have finished; they sent too little, or the receiver expects too much"


def sends(sender: str, receiver: str, places: Sequence[str]) -> str:
    """Return, as the end of a sentence, at which places of the source a PE sends to another."""
    rest = len(places) - MAX_SENDS
    more = f" and {rest} more" if rest > 0 else ""
    return f"; {sender} sends to {receiver} at {', '.join(places[:MAX_SENDS])}{more}"
