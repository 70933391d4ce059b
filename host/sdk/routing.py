"""Routing as host scripts state it: colors, directions, routing positions, and edges of code regions.

Knows nothing of how layouts are placed or compiled.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from operator import index
from typing import TypeVar, cast

from ...diagnostics.records import record
from ...targets import TARGETS
from ...targets.wavelets import SWITCH_POSITIONS
from .errors import SdkError
from .script_lines import origin

MAX_COLOR = max(target.routable_colors for target in TARGETS.values()) - 1
"""The greatest physical value of a color (SdkLayout API reference, Color)."""


class Route(enum.Enum):
    """A port of a router; RAMP leads to the PE itself."""

    RAMP = "ramp"
    EAST = "east"
    WEST = "west"
    NORTH = "north"
    SOUTH = "south"


class Edge(enum.Enum):
    """A side of a code region; the value is the direction that leads out of it."""

    TOP = "north"
    BOTTOM = "south"
    LEFT = "west"
    RIGHT = "east"


class RoutingPosition:
    """Where a router takes the wavelets of a color from, and where they go, at one position of its switch."""

    def __init__(self) -> None:
        self._input: list[Route] = []
        self._output: list[Route] = []

    def set_input(self, routes: Sequence[Route]) -> RoutingPosition:
        """Set where wavelets come from; return this position."""
        self._input = _routes(routes, "set_input")
        return self

    def set_output(self, routes: Sequence[Route]) -> RoutingPosition:
        """Set where wavelets go; return this position."""
        self._output = _routes(routes, "set_output")
        return self

    def add_input(self, route: Route) -> RoutingPosition:
        """Add a direction that wavelets come from; return this position."""
        self._input = _routes([*self._input, route], "add_input")
        return self

    def add_output(self, route: Route) -> RoutingPosition:
        """Add a direction that wavelets go to; return this position."""
        self._output = _routes([*self._output, route], "add_output")
        return self

    def get_input(self) -> list[Route]:
        """Return where wavelets come from."""
        return list(self._input)

    def get_output(self) -> list[Route]:
        """Return where wavelets go."""
        return list(self._output)

    def __repr__(self) -> str:
        sides = (" ".join(route.name for route in side) for side in (self._input, self._output))
        return "<RoutingPosition from [{}] to [{}]>".format(*sides)


def _routes(routes: object, name: str) -> list[Route]:
    if isinstance(routes, Route):
        raise SdkError(f"{name}: {routes} is one route; give a list, [{routes}]")
    found = _list_of(routes, Route)
    if found is None:
        raise SdkError(f"{name}: {routes!r} is not a list of routes; give values of Route, such as [Route.RAMP]")
    return list(dict.fromkeys(found))


ItemT = TypeVar("ItemT")


def _list_of(items: object, kind: type[ItemT]) -> list[ItemT] | None:
    """Return the items of a sequence of a class, None if it is none."""
    if not isinstance(items, Sequence):
        return None
    found = [item for item in cast("Sequence[object]", items) if isinstance(item, kind)]
    return found if len(found) == len(cast("Sequence[object]", items)) else None


Ports = tuple[str, ...]

Setting = tuple[Ports | None, Ports | None]
"""Where a color comes from and goes to; None where a position says nothing of it."""


def settings(routes: object, what: str) -> tuple[Setting, ...]:
    """Return a list of routing positions as data. Raises SdkError if it is none, is empty or is too long."""
    if isinstance(routes, RoutingPosition):
        raise SdkError(f"{what}: routes is one RoutingPosition; give a list of them")
    found = _list_of(routes, RoutingPosition)
    if found is None:
        raise SdkError(f"{what}: routes is {routes!r}; give a list of RoutingPosition")
    if not 1 <= len(found) <= SWITCH_POSITIONS:
        raise SdkError(f"{what}: there are {len(found)} routing positions; a router has 1 to {SWITCH_POSITIONS}")
    return tuple(
        (tuple(r.value for r in one.get_input()) or None, tuple(r.value for r in one.get_output()) or None)
        for one in found
    )


@record
class EdgeRouteInfo:
    """Routing positions for the PEs along one edge of a code region; get_edge_routing makes one."""

    edge: Edge
    positions: tuple[Setting, ...]


def get_edge_routing(edge: Edge, routes: Sequence[RoutingPosition]) -> EdgeRouteInfo:
    """Return routing positions for an edge, to be given to CodeRegion.paint_all."""
    if not isinstance(edge, Edge):
        raise SdkError(f"get_edge_routing: edge is {edge!r}; give a value of Edge")
    return EdgeRouteInfo(edge, settings(routes, "get_edge_routing"))


class Color:
    """A color of a layout: its value is chosen when the layout is compiled, unless it is given here."""

    def __init__(self, name: str, value: int | None = None, *, _region: str = "") -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise SdkError(f"Color: the name is {name!r}; give one that a CSL param can have")
        if value is not None:
            try:
                value = index(value)
            except TypeError:
                raise SdkError(f"Color '{name}': the value is {value!r}; give an int from 0 to {MAX_COLOR}") from None
            if not 0 <= value <= MAX_COLOR:
                raise SdkError(f"Color '{name}': the value is {value}; there are the values 0 to {MAX_COLOR}")
        self._name = name
        self._value = value
        self._region = _region
        self.origin = origin()

    def get_global_name(self) -> str:
        """Return the name, behind that of the region that the color belongs to if there is one."""
        return f"{self._region}_{self._name}" if self._region else self._name

    def get_local_param_name(self) -> str:
        """Return the name, which is that of the param that set_param_all(color) sets."""
        return self._name

    def get_value(self) -> int | None:
        """Return the physical value that the color was given, None if the compiler is to choose it."""
        return self._value

    def __repr__(self) -> str:
        value = "" if self._value is None else f" = {self._value}"
        return f"<Color {self.get_global_name()}{value}>"


def check_color(color: object, what: str) -> Color:
    """Return a color; raises SdkError if it is none."""
    if not isinstance(color, Color):
        raise SdkError(f"{what}: {color!r} is not a color; give a Color")
    return color


def same_color(one: Color, other: Color) -> bool:
    """Return True if two colors are one: they have the same global name, or were given the same value."""
    values = one.get_value(), other.get_value()
    return one.get_global_name() == other.get_global_name() or (values[0] is not None and values[0] == values[1])
