"""Layouts against an oracle that follows every wavelet from router to router."""

from __future__ import annotations

import pytest

from loomir.host.layout.layouts import lay_out
from loomir.host.layout.netlist import (
    OPPOSITE,
    STEPS,
    Block,
    Fabric,
    Layout,
    Link,
    Net,
    Paint,
    Port,
    Position,
)
from loomir.host.layout.placement import port_pes
from loomir.targets import wse2, wse3
from loomir.targets.model import Target

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
            assert net.value is not None or value in fabric.colors
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
