"""Colors of a placed layout: which nets share a value, which must differ, and a value for each.

Nets that links join are one class with one value. Two classes that are in use on the same PE need different values,
and so does a class that another's wavelets reach, along a painted route that leaves the PEs of its net.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import networkx as nx

from ...analysis.coloring import color_graph, graph_of
from .netlist import PE, STEPS, Block, Fabric, ImpossibleLayout, Link, Net

SMALL_AREA = 16
"""PEs of a painted rectangle up to which each is looked up by itself."""


class Kind(IntEnum):
    """How a color is in use at a PE, the weakest first."""

    REACHED = 0
    """Wavelets of a neighbor arrive."""
    NAMED = 1
    """The program names it, but it has no route."""
    PAINTED = 2


@dataclass
class ColorClass:
    """Nets that have the same value."""

    number: int
    nets: tuple[str, ...]
    value: int | None
    allowed: tuple[int, ...]
    switched: bool
    """On some PE it has several routing positions."""

    @property
    def names(self) -> str:
        listed = ", ".join(f"'{name}'" for name in self.nets[:3])
        more = f" and {len(self.nets) - 3} more" if len(self.nets) > 3 else ""
        return f"color{'s' * (len(self.nets) > 1)} {listed}{more}"

    @property
    def key(self) -> tuple[str, int]:
        """Classes of equal keys have the same value for sure."""
        return ("class", self.number) if self.value is None else ("value", self.value)


def color_classes(nets: Sequence[Net], links: Sequence[Link], fabric: Fabric) -> dict[str, ColorClass]:
    """Return the class of each net; ImpossibleLayout if its nets have different values, or none that they may have."""
    joined: nx.utils.UnionFind[str] = nx.utils.UnionFind(net.name for net in nets)
    for link in links:
        joined.union(link.source.net, link.target.net)
    members: dict[str, list[Net]] = {}
    for net in nets:
        members.setdefault(joined[net.name], []).append(net)
    classes: dict[str, ColorClass] = {}
    for number, group in enumerate(members.values()):
        made = _color_class(number, group, links, fabric)
        classes.update(dict.fromkeys(made.nets, made))
    return classes


def _color_class(number: int, group: list[Net], links: Sequence[Link], fabric: Fabric) -> ColorClass:
    names = tuple(net.name for net in group)
    switching = next(
        ((net, paint) for net in group for paint in net.paints if len(paint.positions) > 1), (group[0], None)
    )
    chosen = [net for net in group if net.value is not None]
    for net in chosen[1:]:
        if net.value != chosen[0].value:
            between = [link for link in links if {link.source.net, link.target.net} & set(names)]
            joining = ", ".join(f"'{link.name}'" for link in between[:3])
            raise ImpossibleLayout(
                f"color '{chosen[0].name}' has the value {chosen[0].value} and color '{net.name}' the value "
                f"{net.value}, but {joining} join{'s' * (len(between) == 1)} them, and wavelets keep their color on "
                "the way; give both the same value, or leave out one",
                [chosen[0].name, net.name, *(link.name for link in between)],
            )
    value = chosen[0].value if chosen else None
    net, paint = switching
    if paint is not None and value is not None and value not in fabric.switch_colors:
        raise ImpossibleLayout(
            f"color '{chosen[0].name}' has the value {value}, and color '{net.name}' {len(paint.positions)} routing "
            f"positions at ({paint.x}, {paint.y}) of '{paint.block}', but only the colors "
            f"{_ranges(fabric.switch_colors)} have switches; give it one of those, or leave the value out",
            [chosen[0].name, net.name],
        )
    avoided = {color for net in group for color in net.avoid}
    allowed = tuple(
        color for color in fabric.colors if color not in avoided and (paint is None or color in fabric.switch_colors)
    )
    result = ColorClass(number, names, value, allowed, paint is not None)
    if value is None and not allowed:
        raise ImpossibleLayout(f"there is no color that {result.names} may have; free one of them", names)
    return result


def _ranges(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))


@dataclass
class _Area:
    """A rectangle of PEs on which a class is in use."""

    x0: int
    y0: int
    x1: int
    y1: int
    number: int
    net: str
    kind: Kind

    def contains(self, pe: PE) -> bool:
        return self.x0 <= pe[0] < self.x1 and self.y0 <= pe[1] < self.y1


@dataclass
class Uses:
    """Where the classes of a placed layout are in use, by programs and painted routes."""

    classes: dict[str, ColorClass]
    block_at: Callable[[PE], str | None]
    """The block at a PE of the fabric."""
    cells: dict[PE, dict[int, tuple[str, Kind]]] = field(default_factory=dict[PE, dict[int, tuple[str, Kind]]])
    """The classes at a PE, each with its net."""
    areas: dict[str, list[_Area]] = field(default_factory=dict[str, list[_Area]])
    """Larger rectangles, by their block."""

    def at(self, pe: PE) -> dict[int, tuple[str, Kind]]:
        """Return the classes in use at a PE, each with its net."""
        found = self.cells.get(pe, {})
        inside = {area.number: (area.net, area.kind) for area in self._areas_at(pe)}
        return {**inside, **found} if inside else found

    def _areas_at(self, pe: PE) -> Iterator[_Area]:
        if self.areas and (block := self.block_at(pe)) in self.areas:
            yield from (area for area in self.areas[block] if area.contains(pe))

    def add(self, area: _Area, block: Block, at: PE) -> None:
        """Note a rectangle: as a whole if it is large and inside its block, else PE by PE."""
        if (area.x1 - area.x0) * (area.y1 - area.y0) > SMALL_AREA and _inside(area, block, at):
            self.areas.setdefault(block.name, []).append(area)
            return
        for y in range(area.y0, area.y1):
            for x in range(area.x0, area.x1):
                self._add_cell((x, y), area)

    def _add_cell(self, pe: PE, area: _Area) -> None:
        cell = self.cells.setdefault(pe, {})
        known = cell.get(area.number)
        if known is None or known[1] < area.kind:
            cell[area.number] = (area.net, area.kind)
        elif area.kind == known[1] == Kind.PAINTED and known[0] != area.net:
            raise _same_pe(self.classes[known[0]], known[0], area.net, pe)

    def conflicts(self) -> Iterator[tuple[int, int, PE, str, str, bool]]:
        """Yield pairs of classes that are in use on one PE: numbers, PE, nets, and True if both are painted."""
        for pe, cell in self.cells.items():
            if len(cell) > 1:
                members = list(cell.items())
                for position, (first, (net, kind)) in enumerate(members):
                    for second, (other_net, other_kind) in members[position + 1 :]:
                        yield first, second, pe, net, other_net, min(kind, other_kind) == Kind.PAINTED
        for areas in self.areas.values():
            for position, area in enumerate(areas):
                for other in areas[position + 1 :]:
                    x, y = max(area.x0, other.x0), max(area.y0, other.y0)
                    if x < min(area.x1, other.x1) and y < min(area.y1, other.y1):
                        yield from self._pair(area, other.number, other.net, other.kind, (x, y))
        for pe, cell in self.cells.items():
            for area in self._areas_at(pe):
                for number, (net, kind) in cell.items():
                    yield from self._pair(area, number, net, kind, pe)

    def _pair(
        self, area: _Area, number: int, net: str, kind: Kind, pe: PE
    ) -> Iterator[tuple[int, int, PE, str, str, bool]]:
        both = min(area.kind, kind) == Kind.PAINTED
        if area.number != number:
            yield area.number, number, pe, area.net, net, both
        elif both and area.net != net:
            raise _same_pe(self.classes[net], area.net, net, pe)


def _inside(area: _Area, block: Block, at: PE) -> bool:
    return at[0] <= area.x0 and at[1] <= area.y0 and area.x1 <= at[0] + block.width and area.y1 <= at[1] + block.height


def _same_pe(joined: ColorClass, first: str, second: str, pe: PE) -> ImpossibleLayout:
    return ImpossibleLayout(
        f"links join the colors '{first}' and '{second}' to one, but PE {pe} has routes for both; use another color "
        "for one of them",
        [first, second, *joined.nets],
    )


def uses_of(
    nets: Sequence[Net],
    classes: dict[str, ColorClass],
    blocks: Mapping[str, Block],
    places: Mapping[str, PE],
    block_at: Callable[[PE], str | None],
    fabric: Fabric,
) -> Uses:
    """Return where the classes are in use once all blocks have a place."""
    uses = Uses(classes, block_at)
    for net in nets:
        number = classes[net.name].number
        for paint in net.paints:
            block, (x, y) = blocks[paint.block], places[paint.block]
            x0, y0 = x + paint.x, y + paint.y
            kind = Kind.PAINTED if paint.positions else Kind.NAMED
            area = _Area(x0, y0, x0 + paint.width, y0 + paint.height, number, net.name, kind)
            uses.add(area, block, (x, y))
            for side in sorted({side for position in paint.positions for side in position.tx} & STEPS.keys()):
                for reached in _reached(area, STEPS[side], block, (x, y), fabric):
                    uses.add(reached, block, (x, y))
    return uses


def _reached(area: _Area, step: PE, block: Block, at: PE, fabric: Fabric) -> Iterator[_Area]:
    """Yield the PEs one step from those of an area, where its wavelets arrive, in its block and outside."""
    x0, y0, x1, y1 = area.x0 + step[0], area.y0 + step[1], area.x1 + step[0], area.y1 + step[1]
    bounds = (at[0], at[1], at[0] + block.width, at[1] + block.height)
    for west, north, east, south in (
        (max(x0, bounds[0]), max(y0, bounds[1]), min(x1, bounds[2]), min(y1, bounds[3])),
        (x0, y0, min(x1, bounds[0]), y1),
        (max(x0, bounds[2]), y0, x1, y1),
        (x0, y0, x1, min(y1, bounds[1])),
        (x0, max(y0, bounds[3]), x1, y1),
    ):
        west, north, east, south = max(west, 0), max(north, 0), min(east, fabric.width), min(south, fabric.height)
        if west < east and north < south:
            yield _Area(west, north, east, south, area.number, area.net, Kind.REACHED)


def conflict_edges(uses: Uses, classes: Mapping[int, ColorClass]) -> dict[tuple[int, int], PE]:
    """Return the pairs of classes that need different values, each with a PE that both use.

    Raises ImpossibleLayout for two colors with the same value that have routes on one PE.
    """
    edges: dict[tuple[int, int], PE] = {}
    for first, second, pe, first_net, second_net, painted in uses.conflicts():
        value = classes[first].value
        if value is None or value != classes[second].value:
            edges.setdefault((min(first, second), max(first, second)), pe)
        elif painted:
            raise ImpossibleLayout(
                f"PE {pe} has routes for color '{first_net}' and for color '{second_net}', and both have the value "
                f"{value}; give one of them another value, or leave it out",
                [first_net, second_net],
            )
    return edges


def values_of(classes: Mapping[int, ColorClass], edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return a value for each class; Exhausted, with the classes in the way, if there are too few."""
    graph = graph_of(classes, edges)
    allowed = {number: each.allowed for number, each in classes.items()}
    fixed = {number: each.value for number, each in classes.items() if each.value is not None}
    return color_graph(graph, allowed, fixed)
