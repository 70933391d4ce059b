"""The routers of one color, wavelet by wavelet and cycle by cycle: slow, obvious, and apart from the engine."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

SIDES = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
ACROSS = {"north": "south", "south": "north", "east": "west", "west": "east"}
ORDER = ["ramp", "north", "east", "south", "west"]

HOP, TURN = 2, 33
"""What the machine model says of the third-generation wafer."""


@dataclass(frozen=True)
class Wavelet:
    word: int
    control: bool


@dataclass
class Route:
    """Positions as pairs of port lists to set, either None; None for an invalid one. Position 0 sets both."""

    positions: list[tuple[list[str] | None, list[str] | None] | None]
    current: int = 0
    ring: bool = False
    pop: str = "no_pop"


@dataclass
class Router:
    route: Route
    links: dict[str, deque[tuple[int, Wavelet]]] = field(default_factory=lambda: {port: deque() for port in ORDER})
    free: int = 0
    position: int = 0

    def ports(self) -> tuple[list[str], list[str]]:
        receive: list[str] = []
        transmit: list[str] = []
        for setting in self.route.positions[: self.position + 1]:
            if setting is not None:
                receive = receive if setting[0] is None else setting[0]
                transmit = transmit if setting[1] is None else setting[1]
        return receive, transmit

    def advance(self) -> bool:
        following = self.position + 1
        if following < len(self.route.positions) and self.route.positions[following] is not None:
            self.position = following
            return True
        moved = self.route.ring and self.position != 0
        if self.route.ring:
            self.position = 0
        return moved


def commands(word: int) -> list[tuple[int, bool]]:
    """Return the eight commands of a control wavelet: code, and whether the compute engine ignores the wavelet."""
    bits = [word >> bit & 1 for bit in (*range(22, 30), *range(16))]
    return [(bits[3 * n] + 2 * bits[3 * n + 1], bool(bits[3 * n + 2])) for n in range(8)]


def encode(entries: list[tuple[int, bool]], entry_point: int) -> int:
    """Return the inverse of `commands`; commands that are missing are no-operations that are not ignored."""
    word = entry_point << 16
    places = [*range(22, 30), *range(16)]
    for n, (code, ignore) in enumerate(entries):
        for k, bit in enumerate((code & 1, code >> 1 & 1, int(ignore))):
            word |= bit << places[3 * n + k]
    return word


def run(
    routes: dict[tuple[int, int], Route], sent: dict[tuple[int, int], list[tuple[int, Wavelet]]]
) -> tuple[dict[tuple[int, int], list[tuple[int, Wavelet]]], dict[tuple[tuple[int, int], str], int], dict]:
    """Let wavelets go from the ramps, given as (time, wavelet) in order.

    Gives what comes down each ramp and when, how many wavelets wait at which port of which router, and positions.
    """
    routers = {place: Router(route, position=route.current) for place, route in routes.items()}
    for place, wavelets in sent.items():
        routers[place].links["ramp"].extend(wavelets)
    got: dict[tuple[int, int], list[tuple[int, Wavelet]]] = {place: [] for place in routers}
    while True:
        # The router that can act first acts: what it does can only matter to others later.
        best = None
        for place, router in routers.items():
            for number, port in enumerate(ORDER):
                if router.links[port] and port in router.ports()[0]:
                    arrived = router.links[port][0][0]
                    key = (max(arrived, router.free), arrived, number, place)
                    best = key if best is None else min(best, key)
        if best is None:
            break
        now, _, number, place = best
        router, port = routers[place], ORDER[number]
        _, wavelet = router.links[port].popleft()
        router.free = now + 1
        _, transmit = router.ports()
        ignored = False
        if wavelet.control:
            (code, ignored), *rest = commands(wavelet.word)
            moved = False
            if code == 1:
                moved = router.advance()
            elif code == 2:
                router.position = 0
            pop = router.route.pop
            if pop == "always_pop" or (pop.startswith("pop_on") and moved) or (pop.endswith("nop") and code == 0):
                wavelet = Wavelet(encode([*rest, (0, True)], wavelet.word >> 16 & 0x3F), True)
        for out in transmit:
            if out == "ramp":
                if not ignored:
                    got[place].append((now, wavelet))
                continue
            if out == port:
                continue
            there = (place[0] + SIDES[out][0], place[1] + SIDES[out][1])
            if there in routers:
                turned = port not in ("ramp", ACROSS[out])
                routers[there].links[ACROSS[out]].append((now + HOP + TURN * turned, wavelet))
    waiting = {
        (place, port): len(link) for place, router in routers.items() for port, link in router.links.items() if link
    }
    return got, waiting, {place: router.position for place, router in routers.items()}
