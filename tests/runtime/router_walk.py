"""The way of one wavelet, router by router: slow, obvious, and apart from the engine."""

from __future__ import annotations

from loomir.targets.model import Timing

MOVES = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


class Circle(Exception):
    pass


class Meeting(Exception):
    pass


def route(
    routes, height: int, width: int, sender: tuple[int, int], timing: Timing
) -> tuple[list[tuple[tuple[int, int], int, str]], list[tuple[int, int]], list[tuple[int, int]]]:
    """Return receivers, the latency to them and the port that wavelets come by, where copies are lost, and where they
    leave the grid.

    `routes[place]` is (ports in, ports out). Latency is that of routers: without the ramp to
    the receiver. Places are (row, column). Raises Circle, and Meeting if copies of one wavelet meet on a link.
    """
    received: list[tuple[tuple[int, int], int, str]] = []
    lost: list[tuple[int, int]] = []
    left: list[tuple[int, int]] = []
    seen: set[tuple[tuple[int, int], str]] = set()
    meeting = False

    def enter(place: tuple[int, int], port: str, latency: int, path: tuple) -> None:
        nonlocal meeting
        if (place, port) in path:
            raise Circle
        meeting |= (place, port) in seen
        seen.add((place, port))
        receive, transmit = routes.get(place, (set(), set()))
        if port not in receive:
            lost.append(place)
            return
        ways = 0
        if "ramp" in transmit:
            received.append((place, latency, port))
            ways += 1
        for out in MOVES:
            if out not in transmit or out == port:
                continue  # a wavelet does not go back where it came from
            ways += 1
            step = MOVES[out]
            following = (place[0] + step[0], place[1] + step[1])
            cost = latency + timing.hop
            if port != "ramp" and OPPOSITE[port] != out:
                cost += timing.turn
            if not (0 <= following[0] < height and 0 <= following[1] < width):
                left.append(place)
                continue
            enter(following, OPPOSITE[out], cost, (*path, (place, port)))
        if not ways:
            lost.append(place)

    enter(sender, "ramp", 0, ())
    if meeting:
        raise Meeting
    return received, lost, left
