"""Time to place, route and color layouts of many code regions.

    python bench/layouts.py [--regions N] [--repeat N]

Each row is a netlist on the whole machine whose regions have no place: a chain, a grid whose regions feed their east
and south neighbors, a tree of sums, a star (as many links as there are regions go to a few), random links, and chains
and circles of six tall regions. Seconds are the processor's; hops are the routers that links go through, over blocks
those on PEs with a program.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

from loomir.host.layout.layouts import lay_out
from loomir.host.layout.netlist import Block, Fabric, Link, Net, Paint, Port, Position
from loomir.host.layout.placement import port_pes
from loomir.targets import wse3

RAMP = frozenset({"ramp"})


class Netlist:
    """Blocks, nets and links in the making; every port has a color of its own."""

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self.nets: list[Net] = []
        self.links: list[Link] = []

    def add(self, name: str, width: int, height: int) -> str:
        """Add a block without a place, and return its name."""
        self.blocks[name] = Block(name, width, height)
        return name

    def join(self, source: str, leaves: str, target: str, enters: str) -> None:
        """Link two blocks."""
        number = len(self.links)
        ports = [
            self._port(source, leaves, f"tx{number}", Position(RAMP, frozenset({leaves}))),
            self._port(target, enters, f"rx{number}", Position(frozenset({enters}), RAMP)),
        ]
        self.links.append(Link(f"{source} -> {target}", *ports))

    def _port(self, block: str, side: str, net: str, position: Position) -> Port:
        (x, y), *_, (last_x, last_y) = port_pes(self.blocks[block], side) * 2
        paint = Paint(block, x, y, last_x - x + 1, last_y - y + 1, (position,))
        self.nets.append(Net(net, (paint,)))
        return Port(block, net, side)


def chain(netlist: Netlist, count: int, width: int, height: int) -> None:
    """Add regions of which each feeds the next."""
    for number in range(count):
        netlist.add(f"r{number}", width, height)
        if number:
            netlist.join(f"r{number - 1}", "east", f"r{number}", "west")


def circle(netlist: Netlist, count: int, width: int, height: int) -> None:
    """Add regions of which each feeds the next, and the last the first."""
    chain(netlist, count, width, height)
    netlist.join(f"r{count - 1}", "east", "r0", "west")


def grid(netlist: Netlist, count: int, width: int, height: int) -> None:
    """Add regions that feed their neighbors east and south."""
    across = int(count**0.5)
    for number in range(across * across):
        netlist.add(f"r{number}", width, height)
        if number % across:
            netlist.join(f"r{number - 1}", "east", f"r{number}", "west")
        if number >= across:
            netlist.join(f"r{number - across}", "south", f"r{number}", "north")


def tree(netlist: Netlist, count: int, width: int, height: int) -> None:
    """Add regions of which each feeds the one of half its number, two for one."""
    for number in range(count):
        netlist.add(f"r{number}", width, height)
        if number:
            netlist.join(f"r{number}", "east", f"r{(number - 1) // 2}", "west")


def star(netlist: Netlist, count: int, width: int, height: int) -> None:
    """Add regions that feed one of every twenty."""
    for number in range(count):
        netlist.add(f"r{number}", width, height)
    for number in range(count):
        if number % 20:
            netlist.join(f"r{number}", "south", f"r{number - number % 20}", "north")


def tangle(netlist: Netlist, count: int, width: int, height: int) -> None:
    """Add regions with links between any of them."""
    chosen = random.Random(1)
    for number in range(count):
        netlist.add(f"r{number}", width, height)
    for _ in range(count):
        first, second = chosen.sample(range(count), 2)
        netlist.join(f"r{first}", chosen.choice(("east", "west")), f"r{second}", chosen.choice(("east", "west")))


FEW = 6

ROWS: list[tuple[Callable[[Netlist, int, int, int], None], int | None, int, int]] = [
    (chain, None, 1, 1),
    (chain, None, 3, 4),
    (grid, None, 1, 1),
    (grid, None, 4, 4),
    (tree, None, 1, 1),
    (tree, None, 2, 2),
    (star, None, 1, 1),
    (tangle, None, 1, 1),
    (chain, FEW, 1, 16),
    (chain, FEW, 1, 30),
    (circle, FEW, 1, 16),
    (circle, FEW, 1, 30),
]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regions", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=1, help="take the fastest of so many runs")
    arguments = parser.parse_args()
    print("| netlist | regions | links | seconds | columns x rows | hops | longest | over blocks | colors |")
    print("|---|---|---|---|---|---|---|---|---|")
    for build, count, width, height in ROWS:
        netlist = Netlist()
        build(netlist, count or arguments.regions, width, height)
        blocks, fabric = list(netlist.blocks.values()), Fabric.of(wse3.TARGET)
        start = time.process_time()
        layout = lay_out(blocks, netlist.nets, netlist.links, fabric)
        seconds = time.process_time() - start
        for _ in range(arguments.repeat - 1):
            start = time.process_time()
            lay_out(blocks, netlist.nets, netlist.links, fabric)
            seconds = min(seconds, time.process_time() - start)
        programs = {(x + dx, y + dy) for x, y in layout.places.values() for dx in range(width) for dy in range(height)}
        lanes = [lane for found in layout.lanes.values() for lane in found]
        hops = [(hop.x, hop.y) for lane in lanes for hop in lane.hops]
        ends = [*programs, *hops]
        print(
            f"| {build.__name__} of {width} x {height} | {len(netlist.blocks)} | {len(netlist.links)} | {seconds:.1f} "
            f"| {max(x for x, _ in ends) + 1} x {max(y for _, y in ends) + 1} | {len(hops)} "
            f"| {max(len(lane.hops) for lane in lanes)} | {sum(pe in programs for pe in hops)} "
            f"| {len(set(layout.values.values()))} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
