"""Layouts against an oracle that follows every wavelet from router to router."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir.host.layout.layouts import lay_out
from loomir.host.layout.netlist import (
    OPPOSITE,
    STEPS,
    Block,
    Fabric,
    ImpossibleLayout,
    Layout,
    Link,
    Net,
    Paint,
    Port,
    Position,
)
from loomir.host.layout.placement import Channels, place, port_pes
from loomir.targets import wse2, wse3
from loomir.targets.model import Target
from tests.searches import examples

MACHINE = Fabric.of(wse3.TARGET)


def small(width: int, height: int, colors: int = 24) -> Fabric:
    return Fabric(width, height, tuple(range(colors)), frozenset(range(colors)))


def position(rx: str, tx: str) -> tuple[Position, ...]:
    return (Position(frozenset(rx.split()), frozenset(tx.split())),)


class Drawing:
    """A netlist in the making."""

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self.nets: dict[str, Net] = {}
        self.links: list[Link] = []

    def block(self, name: str, width: int = 1, height: int = 1, at: tuple[int, int] | None = None) -> str:
        self.blocks[name] = Block(name, width, height, at)
        return name

    def paint(self, net: str, paint: Paint, value: int | None = None) -> None:
        old = self.nets.get(net, Net(net, (), value))
        self.nets[net] = Net(net, (*old.paints, paint), old.value if value is None else value)

    def port(self, block: str, side: str | None, net: str, *, output: bool, value: int | None = None) -> Port:
        """Paint the PEs of a port and return it."""
        pes = port_pes(self.blocks[block], side)
        (x, y), (last_x, last_y) = pes[0], pes[-1]
        routes: tuple[Position, ...] = ()
        if side is not None:
            routes = position("ramp", side) if output else position(side, "ramp")
        self.paint(net, Paint(block, x, y, last_x - x + 1, last_y - y + 1, routes), value)
        return Port(block, net, side)

    def link(self, source: Port, target: Port, name: str = "") -> None:
        self.links.append(Link(name or f"{source.block}.{source.net} -> {target.block}.{target.net}", source, target))

    def join(self, first: str, leaves: str | None, second: str, enters: str | None, value: int | None = None) -> None:
        """Link two blocks by colors of their own."""
        number = len(self.links)
        self.link(
            self.port(first, leaves, f"{first}_tx{number}", output=True, value=value),
            self.port(second, enters, f"{second}_rx{number}", output=False),
        )

    def lay_out(self, fabric: Fabric) -> Layout:
        return lay_out(list(self.blocks.values()), list(self.nets.values()), self.links, fabric)

    def check(self, layout: Layout, fabric: Fabric) -> None:
        """Build all routers, one color at a time, and follow what each link sends."""
        owner: dict[tuple[int, int], str] = {}
        for block in self.blocks.values():
            x, y = layout.places[block.name]
            assert block.at in (None, (x, y))
            for dy in range(block.height):
                for dx in range(block.width):
                    pe = (x + dx, y + dy)
                    assert 0 <= pe[0] < fabric.width and 0 <= pe[1] < fabric.height
                    assert owner.setdefault(pe, block.name) == block.name
        # Who uses a color at a PE, and where its router sends it; one user for each.
        users: dict[tuple[tuple[int, int], int], object] = {}
        routers: dict[tuple[tuple[int, int], int, str], str] = {}
        for net in self.nets.values():
            value = layout.values[net.name]
            assert net.value in (None, value)
            assert value in fabric.colors or value in {other.value for other in self.nets.values()}
            for paint in net.paints:
                x, y = layout.places[paint.block]
                for dy in range(paint.height):
                    for dx in range(paint.width):
                        pe = (x + paint.x + dx, y + paint.y + dy)
                        assert users.setdefault((pe, value), net.name) == net.name
                if len(paint.positions) > 1:
                    assert value in fabric.switch_colors
        for link in self.links:
            value = layout.values[link.source.net]
            assert layout.values[link.target.net] == value
            for number, lane in enumerate(layout.lanes[link.name]):
                for hop in lane.hops:
                    pe = (hop.x, hop.y)
                    assert 0 <= hop.x < fabric.width and 0 <= hop.y < fabric.height
                    assert users.setdefault((pe, value), (link.name, number)) == (link.name, number)
                    routers[pe, value, hop.rx] = hop.tx
        self.check_neighbors(layout, users)
        for link in self.links:
            value = layout.values[link.source.net]
            sources = self.pes(link.source, layout)
            targets = self.pes(link.target, layout)
            lanes = layout.lanes[link.name]
            assert len(lanes) == len(sources) == len(targets)
            for source, target, lane in zip(sources, targets, lanes, strict=True):
                assert link.source.side in (None, lane.leaves)
                assert link.target.side in (None, lane.enters)
                pe, goes = source, lane.leaves
                for _ in range(fabric.width * fabric.height + 1):
                    pe = (pe[0] + STEPS[goes][0], pe[1] + STEPS[goes][1])
                    if pe == target:
                        break
                    goes = routers[pe, value, OPPOSITE[goes]]
                assert pe == target
                assert OPPOSITE[goes] == lane.enters

    def check_neighbors(self, layout: Layout, users: dict[tuple[tuple[int, int], int], object]) -> None:
        """Check that where a painted route leads, nobody else uses its value."""
        joined: nx.Graph[object] = nx.Graph((link.source.net, link.target.net) for link in self.links)
        joined.add_edges_from((link.source.net, (link.name, lane)) for link in self.links for lane in range(40))
        joined.add_nodes_from(self.nets)
        for net in self.nets.values():
            value, friends = layout.values[net.name], nx.node_connected_component(joined, net.name)
            for paint in net.paints:
                x, y = layout.places[paint.block]
                for side in {side for position in paint.positions for side in position.tx} & STEPS.keys():
                    for dx, dy in product(range(paint.width), range(paint.height)):
                        pe = (x + paint.x + dx + STEPS[side][0], y + paint.y + dy + STEPS[side][1])
                        if (pe, value) in users:
                            assert users[pe, value] in friends

    def pes(self, port: Port, layout: Layout) -> list[tuple[int, int]]:
        x, y = layout.places[port.block]
        return [(x + dx, y + dy) for dx, dy in port_pes(self.blocks[port.block], port.side)]


def checked(drawing: Drawing, fabric: Fabric = MACHINE) -> Layout:
    layout = drawing.lay_out(fabric)
    drawing.check(layout, fabric)
    return layout


def test_a_single_block_is_at_the_corner() -> None:
    drawing = Drawing()
    drawing.block("gv", 2, 1)
    assert checked(drawing).places == {"gv": (0, 0)}


def test_fixed_blocks_are_linked_around_each_other() -> None:
    drawing = Drawing()
    for name, at in {"sender1": (2, 2), "sender2": (4, 7), "sum": (7, 4), "receiver": (3, 3)}.items():
        drawing.block(name, at=at)
    drawing.join("sender1", "east", "sum", "east")
    drawing.join("sender2", "east", "sum", "east")
    drawing.join("sum", "west", "receiver", "west")
    layout = checked(drawing)
    assert layout.places["sum"] == (7, 4)
    # Outside the programs, where there is a way.
    programs = set(layout.places.values())
    assert not any((hop.x, hop.y) in programs for lanes in layout.lanes.values() for hop in lanes[0].hops)
    # As short as it can be.
    assert len(layout.lanes[drawing.links[0].name][0].hops) == 8


@pytest.mark.parametrize("machine", [wse2.TARGET, wse3.TARGET])
def test_streams_get_places_near_their_ports(machine: Target) -> None:
    drawing = Drawing()
    drawing.block("add", at=(7, 4))
    for number in (1, 2):
        drawing.block(f"in{number}")
        drawing.join(f"in{number}", None, "add", "east")
    drawing.block("out")
    drawing.join("add", "west", "out", None)
    layout = checked(drawing, Fabric.of(machine))
    for name in ("in1", "in2", "out"):
        x, y = layout.places[name]
        assert abs(x - 7) + abs(y - 4) <= 3


def test_lanes_of_a_wide_port_stay_apart() -> None:
    drawing = Drawing()
    drawing.block("a", 2, 6, at=(1, 1))
    drawing.block("b", 2, 6, at=(12, 9))
    drawing.join("a", "east", "b", "west")
    drawing.block("c", 6, 1, at=(30, 2))
    drawing.block("d", 6, 2, at=(22, 12))
    drawing.join("c", "south", "d", "north")
    checked(drawing)


def test_switches_get_a_color_with_a_switch() -> None:
    drawing = Drawing()
    drawing.block("demux", 4, 1)
    turns = (*position("west", "ramp"), *position("west", "east"))
    for number in range(12):
        drawing.paint(f"c{number}", Paint("demux", 0, 0, 4, 1, turns if number > 5 else turns[:1]))
    layout = checked(drawing, MACHINE)
    assert {layout.values[f"c{number}"] for number in range(6, 12)} <= MACHINE.switch_colors


SIDES = tuple(STEPS)


@st.composite
def drawings(draw: st.DrawFn) -> Drawing:
    """Return a random netlist: blocks of up to 3 x 3 PEs, some with a place, and links between their sides."""
    drawing = Drawing()
    count = draw(st.integers(2, 7))
    for number in range(count):
        width, height = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        at = None
        if draw(st.integers(0, 2)) == 0:
            at = (4 + 8 * (number % 3) + draw(st.integers(0, 2)), 4 + 8 * (number // 3) + draw(st.integers(0, 2)))
        drawing.block(f"b{number}", width, height, at)
    values = iter(draw(st.permutations(range(24))))
    for _ in range(draw(st.integers(0, 10))):
        first, second = draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))
        leaves, enters = draw(st.sampled_from(SIDES)), draw(st.sampled_from(SIDES))
        pes = [
            len(port_pes(drawing.blocks[f"b{number}"], side)) for number, side in ((first, leaves), (second, enters))
        ]
        crossing = pes[0] > 2 and (leaves in ("north", "east")) == (enters in ("north", "east"))
        if first != second and pes[0] == pes[1] and not crossing:
            value = next(values) if draw(st.integers(0, 3)) == 0 else None
            drawing.join(f"b{first}", leaves, f"b{second}", enters, value)
    for number in range(draw(st.integers(0, 3))):
        # Routes that lead out of a block, to nobody.
        block, side = draw(st.integers(0, count - 1)), draw(st.sampled_from(SIDES))
        drawing.port(f"b{block}", side, f"open{number}", output=True)
    for number in range(draw(st.integers(0, 2))):
        drawing.block(f"io{number}")
        drawing.join(f"io{number}", None, drawing.block(f"free{number}"), draw(st.sampled_from(SIDES)))
    return drawing


@pytest.mark.slow
@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(drawings())
def test_every_wavelet_arrives_where_its_link_ends(drawing: Drawing) -> None:
    # There is room for everything.
    checked(drawing, Fabric(60, 60, tuple(range(24)), frozenset(range(16))))


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(drawings(), st.data())
def test_few_and_shared_colors_are_kept_apart(drawing: Drawing, data: st.DataObject) -> None:
    # Some links have one color, which some blocks also have between them, and there are three others.
    for number in range(data.draw(st.integers(1, 4))):
        ends = data.draw(st.lists(st.sampled_from(sorted(drawing.blocks)), min_size=2, max_size=2, unique=True))
        drawing.block(f"from{number}")
        drawing.block(f"to{number}")
        drawing.paint("shared", Paint(ends[0], 0, 0, 1, 1, position("ramp", "ramp")))
        drawing.link(
            drawing.port(f"from{number}", "east", "shared", output=True),
            drawing.port(f"to{number}", "west", "shared", output=False),
        )
    fabric = small(50, 50, 4)
    try:
        layout = drawing.lay_out(fabric)
    except ImpossibleLayout:
        return
    drawing.check(layout, fabric)


def test_crowds_spread_over_several_ways() -> None:
    # There are two colors, and three gaps in a wall.
    drawing, fabric = Drawing(), small(24, 11, 2)
    for row in set(range(11)) - {2, 5, 8}:
        drawing.block(f"wall{row}", at=(12, row))
        for number in range(2):
            drawing.paint(f"w{row}_{number}", Paint(f"wall{row}", 0, 0, 1, 1, position("ramp", "ramp")))
    for number in range(5):
        drawing.block(f"a{number}", at=(2, 3 + number))
        drawing.block(f"b{number}", at=(20, 3 + number))
        drawing.join(f"a{number}", "east", f"b{number}", "west")
    checked(drawing, fabric)


def test_links_of_one_color_take_different_ways() -> None:
    drawing, fabric = Drawing(), small(20, 20)
    for number in range(4):
        drawing.block(f"a{number}", at=(2, 4 + 3 * number))
        drawing.block(f"b{number}", at=(15, 4 + 3 * (number ^ 1)))
        source = drawing.port(f"a{number}", "east", "shared", output=True)
        drawing.link(source, drawing.port(f"b{number}", "west", "shared", output=False))
        if number % 2:
            # Two crossing lanes cannot both be inside.
            break
    checked(drawing, fabric)


@pytest.mark.parametrize("at", [(17, 16), (16, 12), (10, 12), (10, 20), (4, 3), (30, 10)])
def test_lanes_around_a_block_reach_their_own_pes(at: tuple[int, int]) -> None:
    drawing = Drawing()
    drawing.block("a", 3, 4, at=(17, 6))
    drawing.block("b", 3, 4, at=at)
    drawing.join("a", "east", "b", "west")
    checked(drawing, small(40, 40))


@pytest.mark.slow
def test_lanes_follow_each_other_around_both_ends() -> None:
    drawing = Drawing()
    drawing.block("a", 1, 3, at=(30, 21))
    drawing.block("b", 3, 3, at=(48, 57))
    drawing.join("a", "west", "b", "east")
    checked(drawing)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "size", "step"), [(2, 16, 44), (6, 12, 1)])
def test_a_circle_of_wide_links_is_closed(count: int, size: int, step: int) -> None:
    drawing = Drawing()
    for number in range(count):
        drawing.block(f"r{number}", 1, size, at=(50 + step * number, 50))
    for number in range(count):
        drawing.join(f"r{number}", "east", f"r{(number + 1) % count}", "west")
    checked(drawing)


def test_a_block_gets_a_place_though_wide_ports_leave_no_room() -> None:
    drawing = Drawing()
    drawing.block("big", 20, 4, at=(2, 2))
    drawing.block("side", 2, 4, at=(28, 4))
    drawing.join("big", "east", "side", "west")
    drawing.block("loose")
    checked(drawing, small(32, 10))


@settings(max_examples=examples(100), deadline=None)
@given(drawings())
def test_blocks_leave_room_in_front_of_ports(drawing: Drawing) -> None:
    blocks = [replace(block, at=None) for block in drawing.blocks.values()]
    places = place(blocks, drawing.links, MACHINE)
    pes = {
        block.name: {(places[block.name][0] + x, places[block.name][1] + y) for x in range(block.width)
        for y in range(block.height)}
        for block in blocks
    }  # fmt: skip
    for link in drawing.links:
        for port in (link.source, link.target):
            if port.side is not None:
                x, y = places[port.block]
                for dx, dy in port_pes(drawing.blocks[port.block], port.side):
                    front = (x + dx + STEPS[port.side][0], y + dy + STEPS[port.side][1])
                    assert min(front) >= 0
                    assert not any(front in taken for taken in pes.values())


@settings(max_examples=examples(100), deadline=None)
@given(drawings())
def test_a_layout_depends_on_the_netlist_alone(drawing: Drawing) -> None:
    fabric = small(60, 60)
    assert drawing.lay_out(fabric) == drawing.lay_out(fabric)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 15)), min_size=1, max_size=5),
)
def test_blocks_without_ports_find_a_place_if_there_is_one(
    width: int, height: int, sizes: list[tuple[int, int, int]]
) -> None:
    drawing, fabric = Drawing(), small(width, height)
    taken: set[tuple[int, int]] = set()
    for number, (block_width, block_height, fixed) in enumerate(sizes):
        at = None
        pes = set(product(range(block_width), range(block_height)))
        if fixed < 4 and fixed + block_width <= width and block_height <= height and not pes & taken:
            at = (fixed, 0)
            pes = {(x + fixed, y) for x, y in pes}
            if pes & taken:
                at = None
            else:
                taken |= pes
        drawing.block(f"b{number}", block_width, block_height, at)
    possible = fits([block for block in drawing.blocks.values() if block.at is None], taken, width, height)
    if possible:
        checked(drawing, fabric)
    else:
        with pytest.raises(ImpossibleLayout, match=r"b[0-4]"):
            drawing.lay_out(fabric)


def fits(blocks: list[Block], taken: set[tuple[int, int]], width: int, height: int) -> bool:
    """Try all places of all blocks."""
    if not blocks:
        return True
    block, *others = blocks
    for x, y in product(range(width - block.width + 1), range(height - block.height + 1)):
        pes = set(product(range(x, x + block.width), range(y, y + block.height)))
        if not pes & taken and fits(others, taken | pes, width, height):
            return True
    return False


@settings(max_examples=examples(300), deadline=None)
@given(
    st.integers(2, 4),
    st.lists(
        st.tuples(st.sets(st.integers(0, 3), min_size=1, max_size=4), st.none() | st.integers(0, 3)),
        min_size=1,
        max_size=6,
    ),
)
def test_colors_are_allocated_if_that_is_possible(colors: int, nets: list[tuple[set[int], int | None]]) -> None:
    drawing, fabric = Drawing(), small(4, 1, colors)
    drawing.block("row", 4, 1)
    for number, (columns, value) in enumerate(nets):
        for column in sorted(columns):
            drawing.paint(f"c{number}", Paint("row", column, 0, 1, 1, position("ramp", "ramp")), value)
    choices = [range(colors) if value is None else (value,) for _, value in nets]
    clash = [(a, b) for a, b in combinations(range(len(nets)), 2) if nets[a][0] & nets[b][0]]
    if any(all(values[a] != values[b] for a, b in clash) for values in product(*choices)):
        checked(drawing, fabric)
    else:
        with pytest.raises(ImpossibleLayout, match=r"c[0-5]"):
            drawing.lay_out(fabric)


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(st.sets(st.integers(0, 24), max_size=14), st.sampled_from(SIDES), st.sampled_from(SIDES))
def test_a_link_has_a_path_if_there_is_one(walls: set[int], leaves: str, enters: str) -> None:
    # All blocks paint the value of the link, so that it cannot pass over them.
    drawing, fabric = Drawing(), small(5, 5)
    for number in sorted(walls - {6, 18}):
        drawing.block(f"wall{number}", at=(number % 5, number // 5))
        drawing.paint(f"c{number}", Paint(f"wall{number}", 0, 0, 1, 1, position("ramp", "ramp")), 3)
    drawing.block("a", at=(1, 1))
    drawing.block("b", at=(3, 3))
    drawing.join("a", leaves, "b", enters, 3)
    free = set(product(range(5), range(5))) - {(number % 5, number // 5) for number in walls} - {(1, 1), (3, 3)}
    graph = nx.Graph((pe, (pe[0] + x, pe[1] + y)) for pe in free for x, y in STEPS.values())
    graph = graph.subgraph(free)
    first = (1 + STEPS[leaves][0], 1 + STEPS[leaves][1])
    last = (3 + STEPS[enters][0], 3 + STEPS[enters][1])
    if first in free and last in free and nx.has_path(graph, first, last):
        layout = checked(drawing, fabric)
        assert len(layout.lanes[drawing.links[0].name][0].hops) == nx.shortest_path_length(graph, first, last) + 1
    else:
        with pytest.raises(ImpossibleLayout, match=r"link 'a.a_tx0 -> b.b_rx0' has no free path"):
            drawing.lay_out(fabric)


def test_a_link_does_not_come_from_where_its_color_goes() -> None:
    # The source is right there, east of the target, which passes on to the east.
    drawing = Drawing()
    drawing.block("source", at=(4, 3))
    drawing.block("turn", at=(3, 3))
    drawing.block("sink", at=(3, 6))
    tx = drawing.port("source", None, "tx", output=True)
    drawing.paint("rx", Paint("turn", 0, 0, 1, 1, (*position("", "ramp"), *position("", "east"))))
    drawing.link(tx, Port("turn", "rx", None), "link")
    assert checked(drawing).lanes["link"][0].enters != "east"


def chain(count: int, width: int = 1, height: int = 1) -> Drawing:
    drawing = Drawing()
    for number in range(count):
        drawing.block(f"r{number}", width, height)
        if number:
            drawing.join(f"r{number - 1}", "east", f"r{number}", "west")
    return drawing


@pytest.mark.parametrize(("count", "width", "height"), [(12, 1, 1), (40, 3, 4)])
@pytest.mark.slow
def test_a_chain_is_folded_on_a_narrow_fabric(count: int, width: int, height: int) -> None:
    checked(chain(count, width, height), small(40 if width > 1 else 8, 200 if width > 1 else 20))


@pytest.mark.slow
def test_neighbors_of_a_chain_are_next_to_each_other() -> None:
    layout = checked(chain(100))
    assert max(len(lanes[0].hops) for lanes in layout.lanes.values()) == 1


@pytest.mark.parametrize(("count", "height"), [(6, 12), (3, 30)])
def test_a_chain_of_wide_links_is_straight(count: int, height: int) -> None:
    layout = checked(chain(count, 1, height))
    assert len({y for _, y in layout.places.values()}) == 1
    assert all({hop.tx for hop in lane.hops} == {"east"} for lanes in layout.lanes.values() for lane in lanes)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "height"), [(2, 20), (6, 16)])
def test_a_circle_of_wide_links_gets_places(count: int, height: int) -> None:
    drawing = chain(count, 1, height)
    drawing.join(f"r{count - 1}", "east", "r0", "west")
    checked(drawing)


@pytest.mark.parametrize("side", [None, "east"])
def test_more_room_is_between_blocks_of_one_pe(side: str | None) -> None:
    drawing = Drawing()
    drawing.block("a")
    drawing.block("b")
    drawing.join("a", side, "b", side and OPPOSITE[side])
    places = place(list(drawing.blocks.values()), drawing.links, MACHINE, Channels(lanes=4))
    assert abs(places["a"][0] - places["b"][0]) + abs(places["a"][1] - places["b"][1]) > 4


# Impossible layouts


def refused(drawing: Drawing, fabric: Fabric = MACHINE) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(ImpossibleLayout) as caught:
        drawing.lay_out(fabric)
    return caught.value.message, caught.value.subjects


def test_overlapping_blocks_are_both_named() -> None:
    drawing = Drawing()
    drawing.block("left", 4, 2, at=(1, 1))
    drawing.block("right", 3, 3, at=(4, 2))
    message, subjects = refused(drawing)
    assert message == (
        "code region 'right' of 3 x 3 PEs is placed at (4, 2) and overlaps code region 'left' of 4 x 2 PEs at (1, 1): "
        "PE (4, 2) is in both, and 1 in all; move one of them"
    )
    assert subjects == ("right", "left")


def test_a_block_outside_the_fabric() -> None:
    drawing = Drawing()
    drawing.block("wide", 4, 2, at=(6, 1))
    assert refused(drawing, small(8, 8))[0] == (
        "code region 'wide' of 4 x 2 PEs is placed at (6, 1) and ends at (9, 2), outside the fabric, whose PEs are "
        "(0, 0) to (7, 7); place it inside"
    )


def test_a_block_larger_than_the_fabric() -> None:
    drawing = Drawing()
    drawing.block("wide", 9, 2)
    assert "'wide' of 9 x 2 PEs is larger than the fabric of 8 x 8 PEs" in refused(drawing, small(8, 8))[0]


def test_no_free_rectangle() -> None:
    drawing = Drawing()
    drawing.block("wall", 1, 4, at=(2, 0))
    drawing.block("plate", 3, 2)
    message, subjects = refused(drawing, small(5, 4))
    assert "no free rectangle of 3 x 2 PEs for code region 'plate' on the fabric of 5 x 4 PEs" in message
    assert "16 PEs are free and 6 needed" in message
    assert subjects == ("plate",)


def test_a_port_at_the_edge_of_the_fabric() -> None:
    drawing = Drawing()
    drawing.block("a", at=(0, 0))
    drawing.block("b", at=(3, 0))
    drawing.join("a", "west", "b", "west")
    assert "'a' of 1 x 1 PEs at (0, 0) has a port on its left edge" in refused(drawing)[0]


def test_a_link_without_a_path() -> None:
    drawing = Drawing()
    drawing.block("a", at=(5, 5))
    drawing.block("b", at=(9, 5))
    for number, at in enumerate([(6, 4), (7, 5), (6, 6)]):
        drawing.block(f"wall{number}", at=at)
        drawing.paint(f"w{number}", Paint(f"wall{number}", 0, 0, 1, 1, position("ramp", "ramp")), 7)
    drawing.join("a", "east", "b", "west", 7)
    message, subjects = refused(drawing)
    assert message == (
        "link 'a.a_tx0 -> b.b_rx0' has no free path from the right edge of PE (5, 5) of code region 'a': its color "
        "'a_tx0' with the value 7 is in use already at PEs (6, 4), (6, 6), (7, 5), and inside these it reaches 1 PE; "
        "use another color there, or move the regions apart"
    )
    assert subjects == ("a.a_tx0 -> b.b_rx0", "a", "b")


def test_a_link_does_not_pass_over_its_own_color() -> None:
    drawing = Drawing()
    for name, x in (("a", 0), ("wall", 2), ("b", 4)):
        drawing.block(name, at=(x, 0))
    drawing.paint("c", Paint("wall", 0, 0, 1, 1, position("ramp", "ramp")))
    drawing.link(drawing.port("a", "east", "c", output=True), drawing.port("b", "west", "c", output=False), "over")
    message, _ = refused(drawing, small(5, 1))
    assert "link 'over' has no free path from the right edge of PE (0, 0)" in message
    assert "its color 'c' is in use already at PE (2, 0)" in message


def test_colors_that_run_out_on_a_path() -> None:
    # Three links have to go through one PE that has two colors.
    drawing, fabric = Drawing(), small(7, 3, 2)
    for number in range(3):
        drawing.block(f"a{number}", at=(0 if number < 2 else 1, 2 * number if number < 2 else 1))
        drawing.block(f"b{number}", at=(6 if number < 2 else 5, 2 * number if number < 2 else 1))
        drawing.join(f"a{number}", "east", f"b{number}", "west")
    for row in (0, 2):
        drawing.block(f"wall{row}", 1, 1, at=(3, row))
        for number in range(2):
            drawing.paint(f"w{row}{number}", Paint(f"wall{row}", 0, 0, 1, 1, position("ramp", "ramp")))
    message, subjects = refused(drawing, fabric)
    names = [link.name for link in drawing.links]
    assert message == (
        f"links '{names[0]}' and '{names[1]}' and '{names[2]}' found no free path: 3 colors would go "
        "through PE (2, 1), and there are 2; move the regions apart, each with place()"
    )
    assert subjects == tuple(names)


def test_a_path_closed_by_pes_without_a_free_color() -> None:
    drawing, fabric = Drawing(), small(5, 1, 2)
    drawing.block("a", at=(0, 0))
    drawing.block("wall", at=(2, 0))
    drawing.block("b", at=(4, 0))
    for number in range(2):
        drawing.paint(f"w{number}", Paint("wall", 0, 0, 1, 1, position("ramp", "ramp")))
    drawing.join("a", "east", "b", "west")
    assert refused(drawing, fabric)[0] == (
        "link 'a.a_tx0 -> b.b_rx0' has no free path from the right edge of PE (0, 0) of code region 'a': all 2 colors "
        "are in use at PE (2, 0), and inside these it reaches 1 PE; use another color there, or move the regions apart"
    )


def test_fixed_colors_that_collide() -> None:
    drawing = Drawing()
    drawing.block("a", 3, 3)
    drawing.paint("rx", Paint("a", 0, 0, 2, 2, position("west", "ramp")), 5)
    drawing.paint("tx", Paint("a", 1, 1, 2, 2, position("ramp", "ramp")), 5)
    assert refused(drawing) == (
        "PE (1, 1) has routes for color 'rx' and for color 'tx', and both have the value 5; give one of them another "
        "value, or leave it out",
        ("rx", "tx"),
    )


def test_linked_colors_with_different_values() -> None:
    drawing = Drawing()
    drawing.block("a")
    drawing.block("b")
    tx = drawing.port("a", "east", "tx", output=True, value=3)
    drawing.link(tx, drawing.port("b", "west", "rx", output=False, value=4), "a to b")
    message, _ = refused(drawing)
    assert "color 'tx' has the value 3 and color 'rx' the value 4, but 'a to b' joins them" in message


def test_linked_colors_on_one_pe() -> None:
    drawing = Drawing()
    drawing.block("a")
    tx = drawing.port("a", "east", "tx", output=True)
    drawing.link(tx, drawing.port("a", "west", "rx", output=False), "loop")
    assert refused(drawing)[0].startswith("links join the colors 'tx' and 'rx' to one, but PE (1, 0) has routes")


def test_two_links_at_one_port() -> None:
    drawing = Drawing()
    for name in "abc":
        drawing.block(name)
    tx = drawing.port("a", "east", "tx", output=True)
    drawing.link(tx, drawing.port("b", "west", "rx1", output=False), "first")
    drawing.link(tx, drawing.port("c", "west", "rx2", output=False), "second")
    message, subjects = refused(drawing)
    assert message.startswith("links 'first' and 'second' both join the port of color 'tx' on the right edge of code")
    assert subjects == ("first", "second")


def test_ports_of_different_sizes() -> None:
    drawing = Drawing()
    drawing.block("a", 1, 2)
    drawing.block("b", 1, 3)
    drawing.join("a", "east", "b", "west")
    assert "joins a port of 2 PEs of code region 'a' to one of 3 PEs of 'b'" in refused(drawing)[0]


def test_lanes_that_would_cross() -> None:
    drawing = Drawing()
    drawing.block("a", 1, 3)
    drawing.block("b", 3, 1)
    drawing.join("a", "east", "b", "north")
    assert "joins 3 PEs on the right edge of code region 'a' to those on the top edge of 'b'" in refused(drawing)[0]


def test_a_value_without_a_switch() -> None:
    drawing = Drawing()
    drawing.block("demux", 4, 1)
    turns = (*position("west", "ramp"), *position("west", "east"))
    drawing.paint("c", Paint("demux", 1, 0, 2, 1, turns), 11)
    message, _ = refused(drawing)
    assert "color 'c' has the value 11, and color 'c' 2 routing positions at (1, 0) of 'demux'" in message


def test_too_many_colors_on_a_pe() -> None:
    drawing = Drawing()
    drawing.block("hub")
    for number in range(25):
        drawing.paint(f"c{number}", Paint("hub", 0, 0))
    message, subjects = refused(drawing)
    assert "there are 24 colors and no way to give different ones to 25 that meet" in message
    assert len(subjects) == 25
