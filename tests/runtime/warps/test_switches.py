"""Routes that control wavelets change, against routers that move one wavelet at a time."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.dialects.machine.switches import Position, SwitchAttr
from loomir.runtime.warps.fabric import Color
from loomir.runtime.warps.placement import Placement
from loomir.runtime.warps.switches import SwitchedColor, popped
from loomir.runtime.warps.tasks import NEVER
from loomir.runtime.warps.units import cells

from ...searches import examples
from ..router_model import ORDER, Route, Wavelet, commands, encode, run

COMMANDS = st.tuples(st.sampled_from([0, 1, 1, 1, 2]), st.booleans())
FROM = st.sampled_from(["ramp", "ramp", "west", "west", "north"])
TO = st.lists(st.sampled_from(["ramp", "east", "south"]), min_size=1, max_size=2, unique=True)
"""Wavelets only ever go east and south, so that none runs in a circle; the four sides are alike to a router."""


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
    return Route(positions, draw(st.sampled_from(valid)), draw(st.booleans()), pop)


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
            words = draw(st.lists(st.integers(0, 2**32 - 1), min_size=count, max_size=count))
        rate = draw(st.integers(1, 4))
        messages.append((time, rate, words, control))
        time += (count - 1) * rate + draw(st.integers(1, 25))
    return messages


@st.composite
def programs(draw, crowded: bool):
    width, height = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    places = [(x, y) for y in range(height) for x in range(width)]
    routes = {place: draw(route(crowded)) for place in places}
    return (width, height), routes, {place: draw(traffic()) for place in places}


def network(size, routes) -> tuple[SwitchedColor, Placement]:
    width, height = size
    masks = np.zeros((2, height, width), np.uint8)
    color = SwitchedColor(Color("c", 0, masks[0], masks[1]), 0, targets.get("wse3").timing)
    for (x, y), one in routes.items():
        receive, transmit = one.positions[0]
        switch = SwitchAttr.get(
            [
                Position() if position is None else Position(*(None if p is None else tuple(p) for p in position))
                for position in one.positions[1:]
            ],
            one.current, ring=one.ring, pop_mode=one.pop,
        )  # fmt: skip
        color.set_route([(range(x, x + 1), range(y, y + 1))], receive, transmit, switch)
    everywhere = np.ones((height, width), np.bool_)
    placement = Placement("all", [(range(width), range(height))], width, height, None)
    color.readers.append((SimpleNamespace(cls=SimpleNamespace(placement=placement)), everywhere))  # pyright: ignore
    color.add_sender(everywhere)
    color.join()
    return color, placement


def deliver(color: SwitchedColor, placement: Placement, got: dict) -> None:
    for _, message in color.settle():
        rows, columns = message.units.cells()
        first = np.broadcast_to(np.asarray(message.first), message.units.shape)
        flat = np.moveaxis(np.asarray(message.payload), 1, 2).reshape(-1, message.count)
        for row, column, time, words in zip(
            rows.ravel().tolist(), columns.ravel().tolist(), first.ravel().tolist(), flat.tolist(), strict=True
        ):
            place = placement.position(row, column)
            got[place] += [(time + k * message.rate, Wavelet(word, message.control)) for k, word in enumerate(words)]


def by_engine(size, routes, sent, *, together: bool):
    """What `router_model.run` gives, with senders that send alike in one message if `together`."""
    color, placement = network(size, routes)
    got = {place: [] for place in routes}
    pending = {place: list(messages) for place, messages in sent.items()}
    while any(pending.values()):
        heads = {place: messages[0] for place, messages in pending.items() if messages}
        shapes = {(rate, len(words), control) for _, rate, words, control in heads.values()}
        rate, count, control = min(shapes)
        alike = [place for place, head in heads.items() if (head[1], len(head[2]), head[3]) == (rate, count, control)]
        chosen = alike if together else alike[-1:]
        local = placement.local(np.array([(y, x) for x, y in chosen]))
        units = cells(local[:, 0], local[:, 1])
        rows, columns = (v.ravel().tolist() for v in units.cells())
        order = [placement.position(row, column) for row, column in zip(rows, columns, strict=True)]
        payload = np.array([heads[place][2] for place in order], np.uint32)
        payload = np.moveaxis(payload.reshape(*units.shape, count), 2, 1)
        first = np.array([heads[place][0] for place in order]).reshape(units.shape)
        color.send(placement, units, payload, first, rate, control=control, advance=False)
        deliver(color, placement, got)
        for place in chosen:
            pending[place].pop(0)
    while (earliest := color.earliest()) < NEVER:
        color.decide(earliest + 2)
        deliver(color, placement, got)
    waiting = {((column, row), ORDER[port]): count for port, row, column, count in color.left_waiting()}
    return got, waiting, {(x, y): int(color.position[y, x]) for x, y in routes}


def check(program) -> None:
    size, routes, sent = program
    single = {
        place: [
            (time + k * rate, Wavelet(word, control))
            for time, rate, words, control in messages
            for k, word in enumerate(words)
        ]
        for place, messages in sent.items()
    }
    expected = run(routes, single)
    for together in (True, False):
        assert by_engine(size, routes, sent, together=together) == expected


@pytest.mark.thorough
@settings(max_examples=examples(250, seldom=True))
@given(programs(crowded=False))
def test_random_switches(program) -> None:
    check(program)


@pytest.mark.thorough
@settings(max_examples=examples(150, seldom=True))
@given(programs(crowded=True))
def test_random_switches_where_time_decides(program) -> None:
    check(program)


@given(st.integers(0, 2**32 - 1))
def test_popping(word: int) -> None:
    (after,) = popped(np.array([word], np.uint32)).tolist()
    assert commands(after) == [*commands(word)[1:], (0, True)]
    assert after >> 16 & 0x3F == word >> 16 & 0x3F
