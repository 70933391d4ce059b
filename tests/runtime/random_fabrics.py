"""Random fabrics: PEs of several classes, routes of any kind and queues, as tables and as a `flow` program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from loomir import targets
from loomir.runtime.tables.format import INPUT, NONE, OUTPUT, SECTIONS, Tables
from loomir.targets.wavelets import PORTS

Place = tuple[int, int]
"""Row and column."""

ROOM = targets.get("wse3").input_queue_words
"""Wavelets that the input queue of each id holds; the ids of queues are their rows."""

MOVES = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}
ACROSS = {"north": "south", "south": "north", "east": "west", "west": "east"}


@dataclass
class RandomFabric:
    width: int
    height: int
    classes: list[list[Place]]
    """PEs of each class."""
    routes: list[dict[Place, tuple[set[str], set[str]]]]
    """For each color the ports in and out of each router."""
    queues: list[tuple[int, int, dict[Place, int]]]
    """Class, direction, and the color on each PE."""

    def serving(self, place: Place, direction: int, color: int) -> list[int]:
        """Return the queues of a direction that serve a color on a PE."""
        return [
            number
            for number, (_, way, colors) in enumerate(self.queues)
            if way == direction and colors.get(place) == color
        ]

    def tables(self) -> Tables:
        sections: dict[str, list[Any]] = {name: [] for name in SECTIONS}
        strings = [""]

        def text(string: str) -> int:
            strings.append(string)
            return len(strings) - 1

        def regions(places: Any) -> tuple[int, int]:
            first = len(sections["regions"])
            sections["regions"] += [(x, 1, 1, y, 1, 1) for y, x in places]
            return first, len(sections["regions"]) - first

        sections["program"].append((text("wse3"), self.width, self.height, text("program")))
        for number, places in enumerate(self.classes):
            mine = [row for row, queue in enumerate(self.queues) if queue[0] == number]
            record = np.zeros((), SECTIONS["classes"])
            record["name"], record["words"] = text(f"class{number}"), 400
            record["regions"], record["region_count"] = regions(places)
            record["queues"], record["queue_count"] = (mine[0], len(mine)) if mine else (0, 0)
            sections["classes"].append(record)
        for number, routes in enumerate(self.routes):
            sections["colors"].append((text(f"color{number}"), text(f"@color{number}"), 0, number, 0))
            for place, ports in routes.items():
                masks = [sum(1 << PORTS.index(port) for port in each) for each in ports]
                sections["routes"].append((number, *regions([place]), NONE, NONE, 0, *masks, 0, 0))
        for number, (owner, direction, colors) in enumerate(self.queues):
            first = len(sections["queue_colors"])
            for color in sorted(set(colors.values())):
                served = regions(place for place, its in colors.items() if its == color)
                sections["queue_colors"].append((color, *served))
            count, name, room = len(sections["queue_colors"]) - first, text(f"queue{number}"), ROOM[number % len(ROOM)]
            label = text(f"@queue{number}")
            sections["queues"].append(
                (name, label, 0, owner, NONE, first, count, 0, room, number % len(ROOM), direction)
            )
        arrays = {name: np.array(rows, SECTIONS[name]) for name, rows in sections.items()}
        return Tables(arrays, tuple(strings))

    def flow(self) -> str:
        lines = [f'flow.fabric @program target "wse3" grid {self.width} by {self.height} {{']
        lines += [f"flow.color @color{number} = {number}" for number in range(len(self.routes))]
        for number, routes in enumerate(self.routes):
            for (y, x), ports in routes.items():
                receive, transmit = (", ".join(sorted(each)) for each in ports)
                lines.append(f"flow.route @color{number} on [{x}, {y}] from [{receive}] to [{transmit}]")
        for number, places in enumerate(self.classes):
            lines.append(f"flow.units @class{number} on {_regions(places)} words 400 {{")
            for row, (owner, direction, colors) in enumerate(self.queues):
                if owner == number:
                    served = ", ".join(
                        f"@color{color} on {_regions(place for place, its in colors.items() if its == color)}"
                        for color in sorted(set(colors.values()))
                    )
                    way = "input" if direction == INPUT else "output"
                    lines.append(f"flow.queue {way} @queue{row} id {row % len(ROOM)} colors [{served}]")
            lines.append("}")
        return "\n".join([*lines, "}"])


def _regions(places: Any) -> str:
    return " + ".join(f"[{x}, {y}]" for y, x in places)


@st.composite
def random_fabrics(draw: st.DrawFn) -> RandomFabric:
    """Draw trees of routes, and some routers of any kind; PEs may have no class, and several queues for a color."""
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    places = [(y, x) for y in range(height) for x in range(width)]
    number = draw(st.integers(1, min(3, len(places))))
    owners = {place: draw(st.integers(-1, number - 1)) for place in places}
    for owner, place in enumerate(places[:number]):
        owners[place] = owner
    classes = [[place for place in places if owners[place] == each] for each in range(number)]
    routes = [_routes(draw, height, width) for _ in range(draw(st.integers(1, 2)))]
    colors = st.integers(-1, len(routes) - 1)
    queues: list[tuple[int, int, dict[Place, int]]] = []
    for owner in range(number):
        for direction in (OUTPUT, *draw(st.lists(st.sampled_from([INPUT, OUTPUT]), max_size=2)), INPUT):
            same = draw(colors)
            chosen = {place: same if draw(st.integers(0, 4)) else draw(colors) for place in classes[owner]}
            queues.append((owner, direction, {place: color for place, color in chosen.items() if color >= 0}))
    return RandomFabric(width, height, classes, routes, queues)


def _routes(draw: st.DrawFn, height: int, width: int) -> dict[Place, tuple[set[str], set[str]]]:
    """Draw the routes of a color: everywhere one way, so that senders meet; or trees, and some routers of any kind."""
    places = [(y, x) for y in range(height) for x in range(width)]
    routes: dict[Place, tuple[set[str], set[str]]] = {}
    if draw(st.booleans()):
        way = draw(st.sampled_from(sorted(MOVES)))
        for y, x in places:
            dy, dx = MOVES[way]
            inside = 0 <= y + dy < height and 0 <= x + dx < width
            out = {way} if inside else {"ramp"}
            if inside and draw(st.integers(0, 2)) == 0:
                out.add("ramp")
            routes[y, x] = ({"ramp", ACROSS[way]}, out)
    for _ in range(draw(st.integers(0, 2))):
        root = draw(st.sampled_from(places))
        routes.setdefault(root, (set(), set()))[0].add("ramp")
        tree = [root]
        for _ in range(draw(st.integers(0, 6))):
            y, x = draw(st.sampled_from(tree))
            way = draw(st.sampled_from(sorted(MOVES)))
            following = (y + MOVES[way][0], x + MOVES[way][1])
            if following in routes or following not in places:
                continue
            routes[y, x][1].add(way)
            routes[following] = ({ACROSS[way]}, set())
            tree.append(following)
        for place in tree:
            if not routes[place][1] or draw(st.booleans()):
                routes[place][1].add("ramp")
    if draw(st.integers(0, 4)) == 0:
        ports: st.SearchStrategy[set[str]] = st.sets(st.sampled_from(PORTS), min_size=1, max_size=2)
        routes[draw(st.sampled_from(places))] = (draw(ports), draw(ports))
    return {place: ports for place, ports in routes.items() if ports[0] and ports[1]}
