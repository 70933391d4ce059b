"""What is computed from routes on loading, against a walk router by router and against the first engine."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow
from loomir.runtime.fabric.connect import fabric_of
from loomir.runtime.fabric.model import LOST, PARTLY_UNREAD, SWALLOWED, UNROUTED, Fabric
from loomir.runtime.findings import finding_of
from loomir.runtime.reports.sentences import deliver
from loomir.runtime.tables.format import INPUT, OUTPUT
from loomir.runtime.warnings import Warnings
from loomir.runtime.warps.machine import load
from loomir.targets.wavelets import PORTS

from ..searches import examples
from .flow_modules import parse
from .random_fabrics import RandomFabric, random_fabrics
from .router_walk import Circle, Meeting, route
from .same_fabric import compare

TIMING = targets.get("wse3").timing


def walks(case: RandomFabric) -> dict[int, dict[tuple[int, int], tuple[list, list]]]:
    """Return for each output queue and PE where wavelets arrive, with latency, and where they are lost."""
    found: dict[int, dict[tuple[int, int], tuple[list, list]]] = {}
    for queue, (_, direction, colors) in enumerate(case.queues):
        if direction == OUTPUT:
            found[queue] = {
                place: route(case.routes[color], case.height, case.width, place, TIMING)
                for place, color in colors.items()
            }
    return found


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(random_fabrics())
def test_ways_are_those_of_a_walk(case: RandomFabric) -> None:
    try:
        expected = walks(case)
    except Circle:
        with pytest.raises(LoomError, match="loops through PE"):
            fabric_of(case.tables())
        return
    except Meeting:
        assume(False)
        raise
    fabric = fabric_of(case.tables())
    senders: Counter[tuple[int, tuple[int, int]]] = Counter()
    counted = set()
    for queue, (_, direction, colors) in enumerate(case.queues):
        flags = fabric.flags_of(queue)
        if direction == INPUT:
            for place, color in colors.items():
                reached = "ramp" in case.routes[color].get(place, (set(), set()))[1]
                assert bool(flags[unit_of(fabric, place)] & UNROUTED) != reached
            continue
        for place, color in colors.items():
            received, lost = expected[queue][place]
            pe, unit = place[0] * case.width + place[1], unit_of(fabric, place)
            ways = [
                (to, latency + TIMING.ramp, PORTS.index(port), reader)
                for to, latency, port in received
                for reader in case.serving(to, INPUT, color)
            ]
            got = [
                (
                    divmod(pe + int(way["offset"]), case.width),
                    *(int(way[name]) for name in ("latency", "port", "queue")),
                )
                for way in fabric.ways_of(queue, unit)
            ]
            assert sorted(got) == sorted(ways)
            if (place, color) not in counted:
                counted.add((place, color))
                senders.update((reader, to) for to, *_, reader in ways)
            unread = [to for to, *_ in received if not case.serving(to, INPUT, color)]
            vain = unread if not ways else []
            ends = place in case.routes[color]
            is_lost = any(at != place or ends for at in lost) or any(to != place for to in vain)
            assert bool(flags[unit] & LOST) == is_lost
            assert bool(flags[unit] & SWALLOWED) == (place in vain or (place in lost and not ends))
            assert bool(flags[unit] & PARTLY_UNREAD) == bool(ways and unread)
    for queue, (_, direction, _) in enumerate(case.queues):
        if direction == INPUT:
            most = max((count for (reader, _), count in senders.items() if reader == queue), default=0)
            assert fabric.senders[queue] == most


def unit_of(fabric: Fabric, place: tuple[int, int]) -> int:
    return int(fabric.pe_unit[place[0] * fabric.width + place[1]])


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(random_fabrics(), st.sampled_from([1, 2, 16]))
def test_fabrics_are_those_of_the_first_engine(case: RandomFabric, displacements: int) -> None:
    """Ways, what is lost, and what queues hold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loomir.runtime.warps.deliveries.MAX_DISPLACEMENTS", displacements)
        check(case)


def check(case: RandomFabric) -> None:
    try:
        machine = load(parse(case.flow(), verify=False), Warnings())
    except LoomError as error:
        with pytest.raises(LoomError) as other:
            fabric_of(case.tables())
        assert str(other.value) == str(error)
        return
    compare(machine, fabric_of(case.tables()))


OTHER_FABRICS = {
    "switches, and senders that meet at them": """flow.fabric @f target "wse3" grid 3 by 3 {
      flow.color @c = 4
      flow.route @c on [1, 1] from [ramp, west] to [north]
        switch [to [south], invalid, from [east]] at 1 ring pop_on_advance
      flow.route @c on [0, 1] from [ramp] to [east]
      flow.route @c on [1, 0] from [south] to [ramp]
      flow.route @c on [2, 1] from [west] to [ramp]
      flow.units @a on [:2, 1] words 8 {
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.queue output @two id 3 colors [@c on [:, :]]
      }
      flow.units @b on [:, 0] + [2, 1] words 8 {
        flow.queue input @in id 2 colors [@c on [1:, :]]
      }
    }""",
    "streams of the host": """flow.fabric @f target "wse3" grid 3 by 2 {
      flow.color @up = 1
      flow.color @down = 2
      flow.color @none = 3
      flow.route @down on [0, 1] from [ramp] to [east]
      flow.route @down on [1, 1] from [west] to [ramp]
      flow.host_stream @up in on [:2, :]
      flow.host_stream @down out on [:, 0] + [0, 1]
      flow.units @a on [:2, :] words 8 {
        flow.queue input @in id 2 colors [@up on [:, 0], @down on [1, 1]]
        flow.queue input @never id 4 colors [@none on [:, :]]
        flow.queue output @out id 3 colors [@down on [:, :]]
        flow.task data @take id 4 on @never (%x : i32) {
          flow.return
        }
      }
      flow.units @b on [2, :] words 8 {
        flow.queue output @out id 3 colors [@down on [:, 0]]
        flow.queue output @two id 2 colors [@down on [:, 0]]
      }
    }""",
    "a network of messages": """flow.fabric @f target "wse3" grid 3 by 2 {
      flow.color @comm = 18
      flow.color @c = 2
      flow.message_network @comm
      flow.units @a on [:2, :] words 8 {
        flow.queue input @in id 2 colors [@comm on [0, :], @c on [1, :]]
        flow.queue output @out id 3 colors [@comm on [:, :]]
      }
      flow.units @b on [2, :] words 8 {
        flow.queue input @in id 2 colors [@comm on [:, 1]]
      }
    }""",
}


@pytest.mark.parametrize("name", OTHER_FABRICS)
def test_other_fabrics_are_those_of_the_first_engine(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Routers with switches, streams of the host and networks, and what is warned of on loading."""
    module = parse(OTHER_FABRICS[name])
    machine = load(module, Warnings())
    warned = capsys.readouterr().err
    (op,) = module.body.block.ops
    assert isinstance(op, flow.FabricOp)
    fabric = fabric_of(assemble(op))
    compare(machine, fabric)
    warnings = Warnings()
    for record in fabric.findings:
        deliver(fabric, finding_of(record), warnings)
    assert capsys.readouterr().err == warned
    assert bool(warned) == ("host" in name)
