"""Delivery tables against a router that moves one wavelet at a time, hop by hop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.runtime.warps.fabric import Color, arrivals, compress, reach, trace
from loomir.runtime.warps.units import cells, from_mask, rectangle
from loomir.targets.wavelets import PORTS

from ...searches import examples
from ..router_walk import MOVES, OPPOSITE, Circle, Meeting, route

TIMING = targets.get("wse3").timing


def color_of(routes, height: int, width: int) -> Color:
    color = Color("c", 0, np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8))
    for (y, x), (receive, transmit) in routes.items():
        color.set_route([(range(x, x + 1), range(y, y + 1))], receive, transmit)
    return color


def compare(routes, height: int, width: int, senders: set[tuple[int, int]]) -> None:
    mask = np.zeros((height, width), np.bool_)
    for place in senders:
        mask[place] = True
    expected, losses = [], set()
    circle = False
    for sender in sorted(senders):
        try:
            received, lost = route(routes, height, width, sender, TIMING)
        except Circle:
            circle = True
            break
        except Meeting:
            assume(False)
        expected += [(sender, target, latency) for target, latency, *_ in received]
        losses |= {(sender, place) for place in lost}
    if circle:
        with pytest.raises(LoomError, match="loops through PE"):
            trace(color_of(routes, height, width), mask, TIMING)
        return
    paths = trace(color_of(routes, height, width), mask, TIMING)
    found = [
        (tuple(source), tuple(target), latency)
        for source, target, latency in zip(
            paths.source.tolist(), paths.target.tolist(), paths.latency.tolist(), strict=True
        )
    ]
    assert sorted(found) == sorted(expected)
    assert {(tuple(s), tuple(p)) for s, p in zip(paths.lost.tolist(), paths.lost_at.tolist(), strict=True)} == losses


@pytest.mark.slow
@settings(max_examples=examples(150, seldom=True))
@given(st.data())
def test_random_routes(data) -> None:
    """Any ports at any router: branches, turns, edges, dead ends and circles."""
    height, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    places = [(y, x) for y in range(height) for x in range(width)]
    ports = st.sets(st.sampled_from(PORTS), min_size=1, max_size=2)
    routes = {place: (data.draw(st.sets(st.sampled_from(PORTS), min_size=1)), data.draw(ports)) for place in places}
    compare(routes, height, width, data.draw(st.sets(st.sampled_from(places), min_size=1)))


@settings(max_examples=examples(100, seldom=True))
@given(st.data())
def test_random_trees(data) -> None:
    """One tree of routes from a root: every branch ends at a ramp, on the way some also deliver."""
    height, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    root = (data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1)))
    routes = {root: ({"ramp"}, set())}
    for _ in range(data.draw(st.integers(1, 12))):
        place = data.draw(st.sampled_from(sorted(routes)))
        direction = data.draw(st.sampled_from(sorted(MOVES)))
        following = (place[0] + MOVES[direction][0], place[1] + MOVES[direction][1])
        if following in routes or not (0 <= following[0] < height and 0 <= following[1] < width):
            continue
        routes[place][1].add(direction)
        routes[following] = ({OPPOSITE[direction]}, set())
    for place, (_, transmit) in routes.items():
        if not transmit or (place != root and data.draw(st.booleans())):
            transmit.add("ramp")
    compare(routes, height, width, {root})


def test_circle_with_branches_is_reported_soon() -> None:
    """Every router passes everything on to everybody: copies must not be followed until memory runs out."""
    everywhere = [(range(8), range(8))]
    color = Color("c", 0, np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.uint8))
    color.set_route(everywhere, PORTS, PORTS)
    with pytest.raises(LoomError, match="loops through PE"):
        trace(color, np.ones((8, 8), np.bool_), TIMING)


def test_wavelet_that_has_no_way_on_is_lost() -> None:
    compare({(0, 0): ({"ramp"}, {"east"}), (0, 1): ({"west"}, {"west"})}, 1, 2, {(0, 0)})


# Compression


def expand(deliveries, subset, shape, payloads, times):
    """What arrives, by receiver, when the senders in `subset` send."""
    result = []
    for delivery in deliveries:
        mask = np.zeros(shape, np.bool_)
        rows, columns = np.broadcast_arrays(*delivery.source.cells())
        mask[rows, columns] = True
        mask &= subset
        if not mask.any():
            continue
        for units in from_mask(rectangle(range(shape[0]), range(shape[1])), mask):
            rows, columns = np.broadcast_arrays(*units.cells())
            payload = np.moveaxis(payloads[rows, columns], 2, 1)
            for receivers, wavelets, when, _ in arrivals(delivery, units, payload, times[rows, columns]):
                to_rows, to_columns = np.broadcast_arrays(*receivers.cells())
                when = np.broadcast_to(np.asarray(when), receivers.shape)
                assert wavelets.shape == (receivers.shape[0], payload.shape[1], receivers.shape[1])
                values = np.moveaxis(wavelets, 1, 2).reshape(-1, wavelets.shape[1])
                places = list(zip(to_rows.ravel().tolist(), to_columns.ravel().tolist(), strict=True))
                assert len(set(places)) == len(places), "receivers of one arrival are distinct"
                result += list(zip(places, map(tuple, values.tolist()), when.ravel().tolist(), strict=True))
    return sorted(result)


@st.composite
def pairs(draw):
    """(sender, receiver, latency) on a small grid, of a kind that the table knows or of any."""
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    places = [(y, x) for y in range(height) for x in range(width)]
    senders = draw(st.sets(st.sampled_from(places), min_size=1))
    kind = draw(st.sampled_from(["shift", "shifts", "spread", "any"]))
    found = set()
    if kind in ("shift", "shifts"):
        steps = draw(st.lists(
            st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=1 if kind == "shift" else 20,
            unique=True,
        ))  # fmt: skip
        for y, x in senders:
            for dy, dx in steps:
                if (y + dy, x + dx) in places:
                    found.add(((y, x), (y + dy, x + dx), 2 * (abs(dy) + abs(dx))))
    elif kind == "spread":
        axis = draw(st.integers(0, 1))
        size = (height, width)[axis]
        first = draw(st.integers(0, size - 1))
        line = range(first, draw(st.integers(first, size - 1)) + 1)
        for sender in senders:
            for position in line:
                target = (position, sender[1]) if axis == 0 else (sender[0], position)
                found.add((sender, target, 2 * abs(position - sender[axis])))
    else:
        for sender in senders:
            for target in draw(st.sets(st.sampled_from(places), max_size=4)):
                found.add((sender, target, draw(st.integers(0, 5))))
    assume(found)
    return height, width, sorted(found)


@pytest.mark.slow
@settings(max_examples=examples(300, seldom=True))
@given(case=pairs(), seed=st.integers(0, 1000), displacements=st.sampled_from([1, 16]))
def test_compress_and_arrivals(case, seed: int, displacements: int) -> None:
    """Compressed tables deliver exactly the pairs, for any subset of the senders."""
    height, width, found = case
    random = np.random.default_rng(seed)
    source, target = (np.array([pair[k] for pair in found]) for k in (0, 1))
    latency = np.array([pair[2] for pair in found])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loomir.runtime.warps.deliveries.MAX_DISPLACEMENTS", displacements)
        deliveries = compress(source, target, latency, (height, width), "queue")
    subset = random.random((height, width)) < 0.7
    payloads = random.integers(0, 1 << 32, (height, width, 3), np.uint32)
    times = random.integers(0, 100, (height, width))
    expected = sorted(
        (to, tuple(payloads[at].tolist()), int(times[at]) + delay) for at, to, delay in found if subset[at]
    )
    assert expand(deliveries, subset, (height, width), payloads, times) == expected
    for delivery in deliveries:
        assert delivery.receiver == "queue"
    chosen = sorted({to for _, to, _ in found})[:: 1 + seed % 2]
    units = cells(np.array([y for y, _ in chosen]), np.array([x for _, x in chosen]))
    reached = sorted((at, to) for delivery in deliveries for at, to in reach(delivery, units))
    assert reached == sorted({(at, to) for at, to, _ in found if to in chosen})
