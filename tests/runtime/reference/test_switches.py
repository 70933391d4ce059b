"""Switches, filters and color swaps, against routers that move one wavelet at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import MethodType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.dialects.machine.filters import FilterAttr, filter_text
from loomir.dialects.machine.switches import Position, SwitchAttr, switch_text
from loomir.runtime.reference import configuration
from loomir.runtime.reference.machine import Machine
from loomir.runtime.reference.order import Kind
from loomir.runtime.reference.switches import Passage, SwitchedColor, popped
from loomir.targets.wavelets import FILTER_KINDS

from ...searches import examples
from ..router_model import ORDER, Filter, Route, Wavelet, commands, encode, run
from .test_machine import load

COMMANDS = st.tuples(st.sampled_from([0, 1, 1, 1, 2]), st.booleans())
FROM = st.sampled_from(["ramp", "ramp", "west", "west", "north"])
TO = st.lists(st.sampled_from(["ramp", "east", "south"]), min_size=1, max_size=2, unique=True)
"""Wavelets only ever go east and south, so that none runs in a circle; the four sides are alike to a router."""


NUMBER = st.integers(0, 6)


@st.composite
def filters(draw) -> Filter | None:
    kind = draw(st.sampled_from([None, "counter", "sparse_counter", "range"]))
    if kind is None:
        return None
    if kind == "range":
        low = draw(st.integers(0, 3))
        return Filter(kind, {"min_idx": low, "max_idx": draw(st.integers(low, 4))}, set())
    names, flags = FILTER_KINDS[kind]
    numbers = {name: draw(NUMBER) for name in draw(st.sets(st.sampled_from(names)))}
    if "limit1" in numbers:
        numbers["init_counter"] = draw(st.integers(0, numbers["limit1"]))
    elif kind == "counter":
        numbers.pop("init_counter", None)
    return Filter(kind, numbers, draw(st.sets(st.sampled_from(flags))))


@st.composite
def route(draw, crowded: bool) -> Route:
    receive = draw(st.lists(FROM, min_size=1, max_size=3 if crowded else 1, unique=True))
    positions: list[tuple[list[str] | None, list[str] | None] | None] = [(receive, draw(TO))]
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["rx", "rx", "tx", "both", "ends", "invalid"]))
        taken = [draw(FROM)] if kind in ("rx", "both") else None
        sent = [] if kind == "ends" else draw(TO) if kind in ("tx", "both") else None
        positions.append(None if kind == "invalid" else (taken, sent))
    valid = [number for number, position in enumerate(positions) if position is not None]
    pop = draw(st.sampled_from(["no_pop", "always_pop", "pop_on_advance", "pop_on_advance_nop"]))
    return Route(positions, draw(st.sampled_from(valid)), draw(st.booleans()), pop, filter=draw(filters()))


@st.composite
def traffic(draw) -> list[tuple[int, int, list[int], bool]]:
    """Messages of one sender: first time, cycles between wavelets, words, control."""
    messages: list[tuple[int, int, list[int], bool]] = []
    time = draw(st.integers(0, 30))
    for _ in range(draw(st.integers(1, 5))):
        control = draw(st.booleans())
        count = draw(st.integers(1, 6))
        if control:
            words = [
                encode(draw(st.lists(COMMANDS, min_size=1, max_size=8)), draw(st.integers(0, 63))) for _ in range(count)
            ]
        else:
            words = [draw(st.integers(0, 5)) << 16 | draw(st.integers(0, 9)) for _ in range(count)]
        rate = draw(st.integers(1, 4))
        messages.append((time, rate, words, control))
        time += (count - 1) * rate + draw(st.integers(1, 25))
    return messages


@st.composite
def programs(draw, crowded: bool, colors: int = 1):
    width, height = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    places: list[tuple[int, ...]] = [(x, y) for y in range(height) for x in range(width)]
    if colors == 2:
        places = [(*place, color) for place in places for color in range(2)]
    routes = {place: draw(route(crowded)) for place in places}
    if colors == 2:
        swaps = st.sampled_from(["", "x", "x", "y", "xy"])
        for x, y, color in places:
            # Mostly both swap; where one does, what comes on its own number gets lost.
            both = color == 1 and draw(st.sampled_from([True, True, True, False]))
            routes[x, y, color].swap = routes[x, y, 0].swap if both else draw(swaps)
    return (width, height), routes, {place: draw(traffic()) for place in places}


def route_text(name: str, place: tuple[int, ...], one: Route) -> str:
    """Return the `flow.route` of a router."""
    receive, transmit = (", ".join(ports or ()) for ports in one.positions[0] or ())
    positions = [Position(*(None if p is None else tuple(p) for p in each or ())) for each in one.positions[1:]]
    switch = switch_text(SwitchAttr.get(positions, one.current, ring=one.ring, pop_mode=one.pop))
    swap = f"swap [{', '.join(one.swap)}]" if one.swap else ""
    teardown = " teardown" if one.teardown else ""
    ports = f"from [{receive}] to [{transmit}]"
    text = f"flow.route @{name} on [{place[0]}, {place[1]}] {ports} {swap} switch {switch}{teardown}"
    if one.filter is not None:
        numbers = {"id": [0 if len(place) == 2 else place[2]], **{n: [v] for n, v in one.filter.numbers.items()}}
        text += f" filter {filter_text(FilterAttr.get(one.filter.kind, one.filter.flags, numbers))}"
    return text


def machine(size, routes, changes: str = "") -> Machine:
    names = ["c", "d"] if any(len(place) == 3 for place in routes) else ["c"]
    lines = [route_text(names[(*place, 0)[2]], place, one) for place, one in routes.items()]
    queues = [
        f"flow.queue {way} @{way}{name} id {2 + number} colors [@{name} on [:, :]]"
        for number, name in enumerate(names)
        for way in ("output", "input")
    ]
    return load(f"""flow.fabric @switches target "wse3" grid {size[0]} by {size[1]} {{
      {" ".join(f"flow.color @{name} = {4 + number}{changes}" for number, name in enumerate(names))}
      {" ".join(lines)}
      flow.units @u on [:, :] words 8 {{ {" ".join(queues)} }}
    }}""")


COLOR, SWITCH, POSITIONS = 0x7C00 + 4, 0x7F40 + 4, (0x7F60 + 4, 0x7F80 + 4, 0x7FA0 + 4)
"""Registers of color 4 on the third-generation wafer."""

BITS = {"west": 1, "east": 2, "south": 4, "north": 8, "ramp": 16}
POP_MODES = ["no_pop", "always_pop", "pop_on_advance", "pop_on_advance_nop"]


def registers(route: Route) -> list[tuple[int, int]]:
    """Return what a program writes to get a route: addresses and words."""

    def bits(ports: list[str]) -> int:
        return sum(BITS[port] for port in ports)

    words: list[tuple[int, int]] = []
    for address, position in zip(POSITIONS, [*route.positions[1:], None, None, None], strict=False):
        receive, transmit = position or (None, None)
        word = 0 if transmit is None else bits(transmit) | 1 << 10
        words.append((address, word if receive is None else word | bits(receive) << 5 | 1 << 11))
    words.append((SWITCH, int(route.ring) << 12 | route.current << 13))
    receive, transmit = route.positions[0] or ([], [])
    flags = POP_MODES.index(route.pop) << 12 | int(route.teardown) << 14
    words.append((COLOR, bits(transmit or []) | bits(receive or []) << 5 | flags))
    return words


def by_reference(size, routes, sent, order: list[int], writes=None):
    """Return what `router_model.run` does. PEs send in an order, each its own messages one after the other."""
    engine = machine(size, routes, "" if writes is None else " changes")
    engine.tear_down = lambda router, cycle: None
    colors = list(engine.switched.values())
    places = list(routes)

    def write(pe, route: Route, cycle: int) -> None:
        pe.now = cycle
        for address, word in registers(route):
            configuration.write(engine, pe, address, word, 0)
        read = [configuration.read(engine, pe, address, 0) for address, _ in registers(route)]
        assert read == [word for _, word in registers(route)]

    for (x, y), each in (writes or {}).items():
        for time, route in each:
            pe = engine.pes[y * size[0] + x]
            engine.order.schedule(time, Kind.ACCESS, pe.number, (), partial(write, pe, route))
    got: dict = {place: [] for place in places}

    def at(place: tuple[int, ...]) -> tuple[SwitchedColor, int]:
        return colors[(*place, 0)[2]], place[1] * size[0] + place[0]

    def arrive(self, pe: int, queue, run) -> None:
        """Take all at once, as a receiver that is never late."""
        times = range(
            run.first - self.timing.ramp, run.first - self.timing.ramp + len(run.payload) * run.rate, run.rate
        )
        words = (Wavelet(word, run.control) for word in run.payload)
        number = int(queue.number) // 2
        place = (self.pes[pe].x, self.pes[pe].y, number) if len(colors) == 2 else (self.pes[pe].x, self.pes[pe].y)
        got[place] += zip(times, words, strict=True)
        run.path.taken(self, run.first, run.rate, len(run.payload))

    engine.arrive = MethodType(arrive, engine)
    left = {place: list(messages) for place, messages in sent.items()}
    for number in order:
        place = places[number % len(places)]
        color, pe = at(place)
        for first, rate, words, control in left[place][: 1 + number % 2]:
            color.send(pe, Passage(words, first, rate, control), advances=False)
            engine.settle(color)
        del left[place][: 1 + number % 2]
    for place, messages in left.items():
        color, pe = at(place)
        for first, rate, words, control in messages:
            color.send(pe, Passage(words, first, rate, control), advances=False)
    for color in colors:
        engine.settle(color)
    while engine.order:
        engine.order.advance()
    waiting: dict = {}
    for number, color in enumerate(colors):
        for port, pe, count in color.left_waiting():
            place = (pe % size[0], pe // size[0], number)[: len(places[0])]
            waiting[place, ORDER[port]] = count
    return got, waiting, {place: at(place)[0].router(at(place)[1]).position for place in places}


def check(program, order: list[int], writes=None) -> None:
    size, routes, sent = program
    single = {
        place: [
            (time + k * rate, Wavelet(word, control))
            for time, rate, words, control in messages
            for k, word in enumerate(words)
        ]
        for place, messages in sent.items()
    }
    assert by_reference(size, routes, sent, order, writes) == run(routes, single, writes)


ORDERS = st.lists(st.integers(0, 100), max_size=20)


@pytest.mark.slow
@settings(max_examples=examples(250, seldom=True))
@given(programs(crowded=False), ORDERS)
def test_random_switches(program, order: list[int]) -> None:
    check(program, order)


@pytest.mark.slow
@settings(max_examples=examples(150, seldom=True))
@given(programs(crowded=True), ORDERS)
def test_random_switches_where_time_decides(program, order: list[int]) -> None:
    check(program, order)


@st.composite
def rewritten(draw):
    """Programs that rewrite routes; some wavelets tear the color down, and some routers begin in a teardown phase."""
    size, routes, sent = draw(programs(crowded=True))
    torn = encode([(3, draw(st.booleans()))], 31)
    for messages in sent.values():
        for number, (time, rate, words, control) in enumerate(messages):
            if control and draw(st.integers(0, 3)) == 0:
                messages[number] = (time, rate, [*words[:-1], torn], control)
    writes: dict = {}
    for place, one in routes.items():
        routes[place] = replace(one, teardown=draw(st.integers(0, 4)) == 0)
        times = sorted(draw(st.lists(st.integers(0, 120), max_size=3, unique=True)))
        writes[place] = [(time, replace(draw(route(crowded=True)), teardown=time != times[-1])) for time in times]
    return (size, routes, sent), writes


@pytest.mark.slow
@settings(max_examples=examples(200, seldom=True))
@given(rewritten(), ORDERS)
def test_random_routes_that_programs_rewrite(program, order: list[int]) -> None:
    """Registers that are read are as they were written; routes count from the next cycle on; teardown phases hold."""
    check(program[0], order, program[1])


@pytest.mark.slow
@settings(max_examples=examples(150, seldom=True))
@given(programs(crowded=False, colors=2), ORDERS)
def test_random_swaps(program, order: list[int]) -> None:
    check(program, order)


@pytest.mark.slow
@settings(max_examples=examples(100, seldom=True))
@given(programs(crowded=True, colors=2), ORDERS)
def test_random_swaps_where_time_decides(program, order: list[int]) -> None:
    check(program, order)


@given(st.integers(0, 2**32 - 1))
def test_popping(word: int) -> None:
    after = popped(word)
    assert commands(after) == [*commands(word)[1:], (0, True)]
    assert after >> 16 & 0x3F == word >> 16 & 0x3F
