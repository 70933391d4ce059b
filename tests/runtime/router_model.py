"""The routers of a color, or of two that swap, wavelet by wavelet and cycle by cycle: slow, obvious, and apart from the
engine. Places are (x, y), of two colors (x, y, 0) and (x, y, 1)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

SIDES = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
ACROSS = {"north": "south", "south": "north", "east": "west", "west": "east"}
ORDER = ["ramp", "north", "east", "south", "west"]

HOP, TURN = 2, 33
"""What the machine model says of the third-generation wafer."""

WORDS = 4
"""Wavelets that a link holds. As many more as cycles of a turn if wavelets may turn into it."""


@dataclass(frozen=True)
class Wavelet:
    word: int
    control: bool


@dataclass
class Filter:
    """The number that each counted wavelet meets, one after the other, and which of them let it pass."""

    kind: str
    numbers: dict[str, int]
    flags: set[str]

    def met(self, counted: int) -> int | None:
        """Return the counter that the wavelet behind so many meets; None if it does not matter any more."""
        first, end = self.numbers.get("init_counter", 0), self.numbers.get("limit1", 0)
        if self.kind == "counter":
            return (first + counted) % (end + 1)
        series = [*range(first, end + 1)] if "limit1" in self.numbers else []
        series += range(self.numbers["limit2"] + 1) if series and "limit2" in self.numbers else []
        return series[counted] if counted < len(series) else None

    def takes(self, wavelet: Wavelet, before: list[Wavelet]) -> bool:
        """Return True if a wavelet passes behind others that have been looked at."""
        if self.kind == "range":
            return wavelet.control or wavelet.word >> 16 in range(self.numbers["min_idx"], self.numbers["max_idx"] + 1)
        of = {True: "count_control" in self.flags, False: "count_data" in self.flags}
        number, most = self.met(sum(of[each.control] for each in before)), self.numbers.get("max_counter", 0)
        if number is None:
            return True
        return wavelet.control and number == most if "filter_control" in self.flags else number <= most


@dataclass
class Route:
    """Positions as pairs of port lists to set, either None; None for an invalid one. Position 0 sets both."""

    positions: list[tuple[list[str] | None, list[str] | None] | None]
    current: int = 0
    ring: bool = False
    pop: str = "no_pop"
    teardown: bool = False
    """It is in a teardown phase."""
    swap: str = ""
    """The axes on which it takes the other color: x, y or both, which is also from the ramp."""
    filter: Filter | None = None

    def swaps(self, port: str) -> bool:
        return port in {"": [], "x": ["east", "west"], "y": ["north", "south"], "xy": ORDER}[self.swap]


@dataclass
class Router:
    route: Route
    links: dict[str, deque[tuple[int, Wavelet]]] = field(default_factory=lambda: {port: deque() for port in ORDER})
    free: int = 0
    position: int = 0
    may_turn: bool = False
    """Wavelets may turn into any link."""
    is_torn: bool = False
    returns: dict[tuple[str, tuple[int, ...]], list[int]] = field(default_factory=dict)
    """For each port out and each router behind it, when the credits that have not been used are there."""
    looked_at: list[Wavelet] = field(default_factory=list)
    """What its filter has looked at."""

    def __post_init__(self) -> None:
        self.position, self.is_torn = self.route.current, self.route.teardown

    def write(self, route: Route, now: int) -> None:
        """Let a program write a route into the registers, from the next cycle on."""
        self.route = replace(route, swap=self.route.swap, filter=self.route.filter)
        self.position, self.is_torn = route.current, route.teardown
        self.free = max(self.free, now + 1)

    def credits(self, out: str) -> list[int]:
        """Return those of a link at the start."""
        every = [self.ports_at(position) for position in range(len(self.route.positions))]
        turns = any({*receive} - {"ramp", ACROSS[out]} for receive, transmit in every if out in transmit)
        return [0] * (WORDS + TURN * (turns or self.may_turn))

    def ports(self) -> tuple[list[str], list[str]]:
        return self.ports_at(self.position)

    def ports_at(self, position: int) -> tuple[list[str], list[str]]:
        receive: list[str] = []
        transmit: list[str] = []
        for setting in self.route.positions[: position + 1]:
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

    def takes(self, port: str) -> bool:
        """Return True if a wavelet is on its way to a port, which takes some now."""
        return bool(self.links[port]) and port in self.ports()[0] and not self.is_torn

    def obey(self, wavelet: Wavelet) -> tuple[Wavelet, bool]:
        """Move the switch as a wavelet says; return it as it goes on, and whether the compute engine ignores it."""
        if not wavelet.control:
            return wavelet, False
        (code, ignored), *rest = commands(wavelet.word)
        moved = False
        if code == 1:
            moved = self.advance()
        elif code == 2:
            self.position = 0
        elif code == 3:
            self.is_torn = True
        pop = self.route.pop
        if pop == "always_pop" or (pop.startswith("pop_on") and moved) or (pop.endswith("nop") and code == 0):
            wavelet = Wavelet(encode([*rest, (0, True)], wavelet.word >> 16 & 0x3F), True)
        return wavelet, ignored


def beside(place: tuple[int, ...], port: str) -> tuple[int, ...]:
    """Return the place of the router at a port."""
    return place[0] + SIDES[port][0], place[1] + SIDES[port][1], *place[2:]


def takers(routers: dict[tuple[int, ...], Router], place: tuple[int, ...], port: str) -> list[tuple[int, ...]]:
    """Return the routers that take what comes to a port of a PE on the color of `place`, its own first."""
    others = [(place[0], place[1], 1 - place[2])] if len(place) == 3 else []
    found = [each for each in (place, *others) if each in routers]
    return [each for each in found if (each != place) == routers[each].route.swaps(port)]


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
    routes: dict[tuple[int, ...], Route],
    sent: dict[tuple[int, ...], list[tuple[int, Wavelet]]],
    writes: dict[tuple[int, ...], list[tuple[int, Route]]] | None = None,
) -> tuple[dict, dict, dict]:
    """Let wavelets go from the ramps, given as (time, wavelet) in order.

    `writes` are what programs make of their routers, by time, if they do.

    Gives what comes down each ramp and when, how many wavelets wait at which port of which router, and positions.
    """
    routers = {place: Router(route, may_turn=writes is not None) for place, route in routes.items()}
    left = {place: list(each) for place, each in (writes or {}).items()}
    for place, wavelets in sent.items():
        for taker in takers(routers, place, "ramp"):
            routers[taker].links["ramp"].extend(wavelets)
    ways: dict[tuple[tuple[int, ...], str], list[tuple[int, ...]]] = {}
    """The routers to which a port leads."""
    for place, router in routers.items():
        for out in ORDER[1:]:
            ways[place, out] = takers(routers, beside(place, out), ACROSS[out]) if beside(place, out) in routers else []
            router.returns |= {(out, taker): router.credits(out) for taker in ways[place, out]}
    comes_from = {
        (to, ACROSS[out]): (routers[place], (out, to)) for (place, out), found in ways.items() for to in found
    }
    got: dict[tuple[int, ...], list[tuple[int, Wavelet]]] = {place: [] for place in routers}
    now = 0
    while True:
        passed = False
        for place, router in routers.items():
            heads = [(router.links[port][0][0], number) for number, port in enumerate(ORDER) if router.takes(port)]
            arrived, number = min(heads, default=(now + 1, 0))
            if max(arrived, router.free) > now:
                continue
            port = ORDER[number]
            _, transmit = router.ports()
            shut = ("ramp",) if router.route.swaps(port) else ("ramp", port)
            outs = [(out, to) for out in transmit if out not in shut for to in ways[place, out]]
            if any(not router.returns[way] or min(router.returns[way]) > now for way in outs):
                continue
            passed = True
            _, wavelet = router.links[port].popleft()
            router.free = now + 1
            if port != "ramp":
                # The place on the link is free again, which its sender knows a hop later.
                sender, way = comes_from[place, port]
                sender.returns[way].append(now + HOP)
            looked_at = wavelet
            wavelet, ignored = router.obey(wavelet)
            if "ramp" in transmit and not ignored:
                filter = router.route.filter
                if filter is None or filter.takes(looked_at, router.looked_at):
                    got[place].append((now, wavelet))
                router.looked_at.append(looked_at)
            for out, to in outs:
                router.returns[out, to].remove(min(router.returns[out, to]))
                turned = port not in ("ramp", ACROSS[out])
                routers[to].links[ACROSS[out]].append((now + HOP + TURN * turned, wavelet))
        for place, each in left.items():
            while each and each[0][0] == now:
                routers[place].write(each.pop(0)[1], now)
                passed = True
        times = [each[0][0] for each in left.values() if each]
        times += [time for router in routers.values() for times in router.returns.values() for time in times]
        times += [link[0][0] for router in routers.values() for link in router.links.values() if link]
        later = [time for time in times if time > now]
        if passed:
            now += 1
        elif later:
            now = min(later)
        else:
            break
    waiting = {
        (place, port): len(link) for place, router in routers.items() for port, link in router.links.items() if link
    }
    return got, waiting, {place: router.position for place, router in routers.items()}
