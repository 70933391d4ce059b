"""Layouts: places for all blocks, paths for all links, values for all colors.

`lay_out` tries ever more room between the blocks, where their places are open, until all links have a path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...analysis.coloring import Exhausted
from .conflicts import ColorClass, color_classes, conflict_edges, uses_of, values_of
from .netlist import EDGES, OPPOSITE, PE, Block, Fabric, ImpossibleLayout, Layout, Link, Net
from .placement import NO_CHANNELS, Channels, block_grid, place, port_pes
from .routing import Router

CHANNELS = (Channels(), Channels(lanes=1), Channels(lanes=2), Channels(lanes=4), NO_CHANNELS)
"""Room between blocks, in the order in which it is tried."""

CLOCKWISE = ("north", "east")
"""Sides whose PEs are counted clockwise around the block. Three lanes or more between two of these, or two of the
others, cannot all stay apart."""

MAX_RECOLORINGS = 20
"""How often links are routed again because there are too few colors."""


def lay_out(blocks: Sequence[Block], nets: Sequence[Net], links: Sequence[Link], fabric: Fabric) -> Layout:
    """Return places, values and paths.

    The result depends on the arguments and their order alone. Raises ImpossibleLayout, with the names of what has no
    place, path or value.
    """
    check_netlist(blocks, nets, links)
    classes = color_classes(nets, links, fabric)
    unplaced: ImpossibleLayout | None = None
    unrouted: ImpossibleLayout | None = None
    tried: set[tuple[PE, ...]] = set()
    has_open = any(block.at is None for block in blocks)
    for channels in CHANNELS if has_open else CHANNELS[:1]:
        try:
            places = place(blocks, links, fabric, channels)
        except ImpossibleLayout as error:
            # The last one, without channels, is about the blocks alone.
            unplaced = error
            continue
        if tuple(places.values()) in tried:
            continue
        if channels == CHANNELS[0] and has_open and not _wide_links_are_straight(blocks, links, places):
            continue
        tried.add(tuple(places.values()))
        try:
            return route(blocks, nets, links, fabric, places, classes)
        except ImpossibleLayout as error:
            unrouted = unrouted or error
    reason = unrouted or unplaced
    assert reason is not None
    raise reason


def route(
    blocks: Sequence[Block],
    nets: Sequence[Net],
    links: Sequence[Link],
    fabric: Fabric,
    places: dict[str, PE],
    classes: dict[str, ColorClass] | None = None,
) -> Layout:
    """Return paths and values for blocks that have places; ImpossibleLayout if there are none."""
    classes = classes or color_classes(nets, links, fabric)
    by_name = {block.name: block for block in blocks}
    by_number = {each.number: each for each in classes.values()}
    grid = block_grid(blocks, places, fabric)
    names = [block.name for block in blocks]

    def block_at(pe: PE) -> str | None:
        index = int(grid[pe[1], pe[0]])
        return None if index < 0 else names[index]

    uses = uses_of(nets, classes, by_name, places, block_at, fabric)
    painted = conflict_edges(uses, by_number)
    router = Router(links, nets, by_name, places, classes, uses, fabric, grid)
    router.route()
    for again in range(MAX_RECOLORINGS + 1):
        edges = painted | router.edges()
        try:
            values = values_of(by_number, edges)
        except Exhausted as exhausted:
            competitors = [by_number[int(str(number))] for number in exhausted.competitors]
            if again < MAX_RECOLORINGS and router.avoid(each.number for each in competitors):
                continue
            raise _too_few(competitors, edges, links, fabric) from None
        found = {net: values[color.number] for net, color in classes.items()}
        return Layout(places, found, router.lanes())
    raise AssertionError("the last round returns or raises")


def check_netlist(blocks: Sequence[Block], nets: Sequence[Net], links: Sequence[Link]) -> None:
    """Raise ImpossibleLayout for ports that are joined twice, and for ports of different sizes."""
    by_name = {block.name: block for block in blocks}
    holders: dict[tuple[str, str, str], Link] = {}
    for link in links:
        counts: list[int] = []
        for port in (link.source, link.target):
            counts.append(len(port_pes(by_name[port.block], port.side)))
            if port.side is None:
                continue
            key = (port.block, port.net, port.side)
            if key in holders:
                other = holders[key]
                raise ImpossibleLayout(
                    f"links '{other.name}' and '{link.name}' both join the port of color '{port.net}' on the "
                    f"{EDGES[port.side]} edge of code region '{port.block}'; a port has one link: use a port of "
                    "another color for one of them",
                    [other.name, link.name],
                )
            holders[key] = link
        if counts[0] != counts[1]:
            raise ImpossibleLayout(
                f"link '{link.name}' joins a port of {_pes(counts[0])} of code region '{link.source.block}' to one of "
                f"{_pes(counts[1])} of '{link.target.block}'; each PE needs its own partner: make both edges equally "
                "long",
                [link.name, link.source.block, link.target.block],
            )
        sides = (link.source.side, link.target.side)
        if counts[0] > 2 and (sides[0] in CLOCKWISE) == (sides[1] in CLOCKWISE):
            raise ImpossibleLayout(
                f"link '{link.name}' joins {_pes(counts[0])} on the {EDGES[sides[0] or '']} edge of code region "
                f"'{link.source.block}' to those on the {EDGES[sides[1] or '']} edge of '{link.target.block}', so that "
                "lanes would have to cross, and a PE routes a color for one only; join a top or right edge to a bottom "
                "or left one",
                [link.name, link.source.block, link.target.block],
            )


def _wide_links_are_straight(blocks: Sequence[Block], links: Sequence[Link], places: dict[str, PE]) -> bool:
    """Return True if the links with several lanes join ports that are opposite each other."""
    by_name = {block.name: block for block in blocks}
    for link in links:
        ends: list[list[PE]] = []
        for port in (link.source, link.target):
            x, y = places[port.block]
            ends.append([(x + dx, y + dy) for dx, dy in port_pes(by_name[port.block], port.side)])
        if len(ends[0]) > 1:
            (x, y), (to_x, to_y) = ends[0][0], ends[1][0]
            ahead = {"north": y - to_y, "east": to_x - x, "south": to_y - y, "west": x - to_x}[link.source.side or ""]
            facing = link.target.side == OPPOSITE[link.source.side or ""]
            if not (facing and ahead > 0 and (x == to_x or y == to_y)):
                return False
    return True


def _pes(count: int) -> str:
    return f"{count} PE{'s' * (count != 1)}"


def _too_few(
    competitors: Sequence[ColorClass], edges: dict[tuple[int, int], PE], links: Sequence[Link], fabric: Fabric
) -> ImpossibleLayout:
    """Return the error for classes that need more values than there are."""
    numbers = {each.number for each in competitors}
    nets = [net for each in competitors for net in each.nets]
    between = [link.name for link in links if link.source.net in nets]
    meeting = Counter(pe for pair, pe in edges.items() if numbers.issuperset(pair))
    where = f", most of them at PE {max(meeting, key=lambda pe: meeting[pe])}" if meeting else ""
    switched = sum(each.switched for each in competitors)
    fewer = (
        f", and {switched} of them have several routing positions, for which there are {len(fabric.switch_colors)}"
        if switched
        else ""
    )
    shown = ", ".join(f"'{net}'" for net in nets[:4]) + (f" and {len(nets) - 4} more" * (len(nets) > 4))
    through = ""
    if between:
        listed = ", ".join(f"'{name}'" for name in between[:3]) + (f" and {len(between) - 3} more" * (len(between) > 3))
        through = f"; links of them: {listed}"
    return ImpossibleLayout(
        f"there are {len(fabric.colors)} colors and no way to give different ones to {len(competitors)} that meet"
        f"{where}{fewer}: {shown}{through}; place regions further apart, or use fewer colors",
        [*nets, *between],
    )
