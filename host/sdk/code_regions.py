"""Code regions of a layout: rectangles of PEs with one source file, their params, routes, ports and initial data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.records import record
from .errors import SdkError
from .geometry import IntRectangle, IntVector, pair, whole
from .routing import (
    Color,
    Edge,
    EdgeRouteInfo,
    RoutingPosition,
    Setting,
    check_color,
    settings,
)
from .script_lines import Origin, origin
from .streams import Stream


class LayoutState:
    """What a layout consists of, and whether it can still be changed."""

    def __init__(self, arch: str, fabric: tuple[int, int]) -> None:
        self.arch = arch
        self.fabric = fabric
        """Columns and rows of PEs."""
        self.regions: dict[str, CodeRegion] = {}
        self.connections: list[tuple[PortHandle, PortHandle, Origin]] = []
        """Output port, input port, and the line that connects them."""
        self.streams: dict[str, Stream] = {}
        self.compiled: Origin | None = None
        """The line that compiled it."""

    def check_open(self, call: str) -> None:
        """Raise SdkError if the layout has been compiled, after which it cannot be changed."""
        if self.compiled is not None:
            raise SdkError(
                f"{call}: the layout was compiled in line {self.compiled.line} and is what it is; make another "
                "SdkLayout"
            )


Cells = tuple[slice, slice]
"""Rows and columns of PEs of a region."""

SYMBOL_TYPES = ("int32", "uint32", "float32", "int16", "uint16")
"""The types of data of set_symbol_all (SdkLayout API reference)."""


SIZE_MEANT = "if width and height were meant, give origin= and dims="


@record
class ParamSetting:
    """One call that sets a param on some PEs."""

    name: str
    value: int | Color
    cells: Cells
    origin: Origin


@record
class Painting:
    """One call that sets the routes of a color on some PEs; `along` are edges that are different."""

    color: Color
    positions: tuple[Setting, ...]
    cells: Cells
    along: tuple[EdgeRouteInfo, ...]
    origin: Origin


@record
class SymbolData:
    """Initial values of a variable, [rows of PEs, columns of PEs, elements]."""

    symbol: str
    values: NDArray[Any]
    origin: Origin


@dataclass(eq=False)
class PortHandle:
    """A port: where a color enters or leaves a code region, along one of its edges."""

    region: CodeRegion
    name: str
    color: Color
    edge: Edge
    positions: tuple[Setting, ...]
    """Without what the port leaves open: where the color comes from for an input, where it goes for an output."""
    data_size: int
    is_input: bool
    origin: Origin
    joined: Origin | None = field(default=None)
    """The line that connected it."""

    @property
    def length(self) -> int:
        """Return how many PEs the port has."""
        return self.region.width if self.edge in (Edge.TOP, Edge.BOTTOM) else self.region.height

    def cells(self) -> list[tuple[int, int]]:
        """Return the PEs of the port in the region, west to east or north to south."""
        width, height = self.region.width, self.region.height
        if self.edge in (Edge.TOP, Edge.BOTTOM):
            return [(x, 0 if self.edge is Edge.TOP else height - 1) for x in range(width)]
        return [(0 if self.edge is Edge.LEFT else width - 1, y) for y in range(height)]

    def __str__(self) -> str:
        return f"{'input' if self.is_input else 'output'} port '{self.name}' of region '{self.region.name}'"

    def __repr__(self) -> str:
        return f"<{self}, {self.length} PEs at {self.edge.name}>"


def check_port(port: Any, what: str) -> PortHandle:
    """Return a port; raises SdkError if it is none."""
    if not isinstance(port, PortHandle):
        raise SdkError(f"{what}: {port!r} is not a port; give what create_input_port or create_output_port returned")
    return port


class CodeRegion:
    """A rectangle of PEs that run one CSL file; SdkLayout.create_code_region makes one.

    Coordinates of PEs count from the region's corner north and west. What is said of its place, a param or a color
    later replaces what was said before, except that the PEs of a port keep its routes.
    """

    def __init__(self, layout: LayoutState, source: Path, name: str, width: int, height: int) -> None:
        self.layout = layout
        self.source = source
        self.name = name
        self.width = width
        self.height = height
        self.at: tuple[int, int] | None = None
        self.anchor: tuple[CodeRegion, int, int] | None = None
        """The region that this one was stacked beside, and how far east and south of it."""
        self.origin = origin()
        self.params: list[ParamSetting] = []
        self.paintings: list[Painting] = []
        self.ports: dict[str, PortHandle] = {}
        self.symbols: dict[str, SymbolData] = {}

    def __repr__(self) -> str:
        where = "" if self.at is None else f" at {self.at}"
        return f"<CodeRegion '{self.name}', {self.width} x {self.height} PEs{where}>"

    def place(self, x: int, y: int) -> None:
        """Place the region's corner north and west at column x and row y of the fabric."""
        self.layout.check_open(f"place of region '{self.name}'")
        self.place_at(
            "place", whole(x, f"place of region '{self.name}': x"), whole(y, f"place of region '{self.name}': y")
        )

    def place_at(self, call: str, x: int, y: int) -> None:
        """Place the region on behalf of a call, instead of where it was placed or stacked before."""
        columns, rows = self.layout.fabric
        if min(x, y) < 0 or x + self.width > columns or y + self.height > rows:
            raise SdkError(
                f"{call}: region '{self.name}' of {self.width} x {self.height} PEs at {(x, y)} is not inside the "
                f"fabric of {columns} x {rows} PEs"
            )
        self.at, self.anchor = (x, y), None
        self.origin = origin()

    def color(self, name: str, value: int | None = None) -> Color:
        """Return a color whose global name begins with the region's, so that it is the region's own."""
        return Color(name, value, _region=self.name)

    # Params

    def set_param(self, coord: IntVector, *what: Any, **named: Any) -> None:
        """Set a param of one PE: set_param(coord, name, value) or set_param(coord, color)."""
        self._set("set_param", self._cell(coord, "set_param"), what, named)

    def set_param_all(self, *what: Any, **named: Any) -> None:
        """Set a param of all PEs: set_param_all(name, value) or set_param_all(color)."""
        self._set("set_param_all", (slice(0, self.height), slice(0, self.width)), what, named)

    def set_param_range(self, rect: IntRectangle, *what: Any, **named: Any) -> None:
        """Set a param of a rectangle: set_param_range(rect, name, value) or set_param_range(rect, color)."""
        self._set("set_param_range", self._rectangle(rect, "set_param_range"), what, named)

    def _set(self, call: str, cells: Cells, what: Sequence[Any], named: dict[str, Any]) -> None:
        self.layout.check_open(call)
        keys = ("color",) if what and isinstance(what[0], Color) else ("name", "value")
        given = dict(zip(keys, what, strict=False)) | named
        if len(given) == len(what) + len(named) and given.keys() == {"color"}:
            value = check_color(given["color"], call)
            name = value.get_local_param_name()
        elif len(given) == len(what) + len(named) and given.keys() == {"name", "value"}:
            name, value = given["name"], given["value"]
        else:
            raise SdkError(f"{call}: give the name of a param and its value, or a Color: name= and value=, or color=")
        if not isinstance(name, str):
            raise SdkError(f"{call}: the name of the param is {name!r}; give a str")
        if not isinstance(value, Color):
            try:
                value = index(bool(cast("object", value)) if isinstance(value, np.bool_) else value)
            except TypeError:
                raise SdkError(f"{call}: param '{name}' is given {value!r}; give an int or a Color") from None
            if not -(1 << 63) <= value < 1 << 63:
                raise SdkError(f"{call}: param '{name}' is given {value}, which has more than 64 bits")
        self.params.append(ParamSetting(name, value, cells, origin()))

    # Routes

    def paint(self, coord: IntVector, color: Color, routes: Sequence[RoutingPosition]) -> None:
        """Set the routes of a color on one PE."""
        self._paint("paint", self._cell(coord, "paint"), color, routes)

    def paint_all(
        self, color: Color, routes: Sequence[RoutingPosition], edge_routes: Sequence[EdgeRouteInfo] = ()
    ) -> None:
        """Set the routes of a color on all PEs; those along the edges of `edge_routes` get the routes given there."""
        cells = (slice(0, self.height), slice(0, self.width))
        self._paint("paint_all", cells, color, routes, edge_routes)

    def paint_range(self, rect: IntRectangle, color: Color, routes: Sequence[RoutingPosition]) -> None:
        """Set the routes of a color on a rectangle of PEs."""
        self._paint("paint_range", self._rectangle(rect, "paint_range"), color, routes)

    def _paint(
        self, call: str, cells: Cells, color: Color, routes: object, edge_routes: Sequence[EdgeRouteInfo] = ()
    ) -> None:
        self.layout.check_open(call)
        check_color(color, call)
        what = f"{call} of color '{color.get_global_name()}'"
        if isinstance(edge_routes, EdgeRouteInfo) or not all(isinstance(one, EdgeRouteInfo) for one in edge_routes):
            raise SdkError(f"{what}: edge_routes is {edge_routes!r}; give a list of what get_edge_routing returns")
        positions = settings(routes, what)
        for one in (positions, *(along.positions for along in edge_routes)):
            if one[0][0] is None or one[0][1] is None:
                side = "input" if one[0][0] is None else "output"
                raise SdkError(f"{what}: the first routing position has no {side}; add one with set_{side}")
        self.paintings.append(Painting(color, positions, cells, tuple(edge_routes), origin()))

    # Ports

    def create_input_port(
        self, color: Color, edge: Edge, routes: Sequence[RoutingPosition], data_size: int, prefix: str = ""
    ) -> PortHandle:
        """Return a new port by which a color enters the region along an edge; `routes` have outputs only."""
        return self._port("create_input_port", True, color, edge, routes, data_size, prefix)

    def create_output_port(
        self, color: Color, edge: Edge, routes: Sequence[RoutingPosition], data_size: int, prefix: str = ""
    ) -> PortHandle:
        """Return a new port by which a color leaves the region along an edge; `routes` have inputs only."""
        return self._port("create_output_port", False, color, edge, routes, data_size, prefix)

    def _port(
        self, call: str, is_input: bool, color: Color, edge: object, routes: object, data_size: object, prefix: object
    ) -> PortHandle:
        self.layout.check_open(call)
        check_color(color, call)
        if not isinstance(edge, Edge):
            raise SdkError(f"{call}: edge is {edge!r}; give a value of Edge")
        if not isinstance(prefix, str):
            raise SdkError(f"{call}: prefix is {prefix!r}; give a str")
        size = whole(data_size, f"{call}: data_size")
        if size < 0:
            raise SdkError(f"{call}: data_size is {size}; give the number of wavelets, at least 0")
        name = f"{prefix}{color.get_local_param_name()}"
        if name in self.ports:
            before = self.ports[name]
            raise SdkError(
                f"{call}: region '{self.name}' has a port '{name}' already, made in line {before.origin.line}; give "
                "one of them another prefix"
            )
        positions = settings(routes, f"{call} '{name}'")
        open_side, given = ("input", "output") if is_input else ("output", "input")
        for position in positions:
            have_open, have_given = position if is_input else position[::-1]
            if have_open is not None:
                raise SdkError(
                    f"{call} '{name}': a routing position has an {open_side}, which the layout chooses when it routes "
                    f"the port; give {given}s only"
                )
            if have_given is None:
                raise SdkError(f"{call} '{name}': a routing position has no {given}; add one with set_{given}")
        port = PortHandle(self, name, color, edge, positions, size, is_input, origin())
        taken = {
            cell: other
            for other in self.ports.values()
            if other.color.get_global_name() == color.get_global_name()
            for cell in other.cells()
        }
        for cell in port.cells():
            if cell in taken:
                raise SdkError(
                    f"{call}: port '{name}' and {taken[cell]} are both on PE {cell} with color "
                    f"'{color.get_global_name()}'; a router has one route for a color, so use another color"
                )
        self.ports[name] = port
        return port

    # Data

    def set_symbol_all(self, symbol: str, data: NDArray[Any], width: int, height: int) -> None:
        """Set a variable on all PEs to its part of `data`, `height` rows of `width` elements, row by row.

        Each PE gets the rows and columns of its place: PE (x, y) those of block (x, y), as many as the region has PEs.
        """
        call = f"set_symbol_all of '{symbol}'"
        self.layout.check_open(call)
        if not isinstance(symbol, str):
            raise SdkError(f"set_symbol_all: symbol is {symbol!r}; give the name of a variable")
        array = np.asarray(data)
        if str(array.dtype) not in SYMBOL_TYPES:
            raise SdkError(f"{call}: data is of type {array.dtype}; convert it to one of {', '.join(SYMBOL_TYPES)}")
        width, height = whole(width, f"{call}: width"), whole(height, f"{call}: height")
        if min(width, height) < 1 or array.size != width * height:
            raise SdkError(f"{call}: data has {array.size} elements, but width x height = {width} x {height}")
        if array.ndim == 2 and array.shape != (height, width):
            raise SdkError(
                f"{call}: data has {array.shape[0]} rows of {array.shape[1]} elements, but width x height = {width} x "
                f"{height}; give its number of columns as width, that of its rows as height"
            )
        if width % self.width or height % self.height:
            raise SdkError(
                f"{call}: {width} x {height} elements are not a multiple of the region's {self.width} x {self.height} "
                "PEs; pad the data, or give the region another size"
            )
        columns, rows = width // self.width, height // self.height
        parts = array.reshape(self.height, rows, self.width, columns).transpose(0, 2, 1, 3)
        values = np.ascontiguousarray(parts).reshape(self.height, self.width, rows * columns)
        self.symbols[symbol] = SymbolData(symbol, values, origin())

    # Coordinates

    def _cell(self, coord: object, call: str) -> Cells:
        x, y = pair(coord, f"{call}: coord")
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise SdkError(f"{call}: PE ({x}, {y}) is not in region '{self.name}' of {self.width} x {self.height} PEs")
        return slice(y, y + 1), slice(x, x + 1)

    def _rectangle(self, rect: object, call: str) -> Cells:
        if not isinstance(rect, IntRectangle):
            raise SdkError(f"{call}: rect is {rect!r}; give an IntRectangle")
        (left, top), (right, bottom) = (
            pair(corner, f"{call}: the {name} corner of rect")
            for name, corner in zip(("upper left", "lower right"), rect, strict=True)
        )
        if left >= right or top >= bottom:
            raise SdkError(
                f"{call}: the rectangle from ({left}, {top}) up to ({right}, {bottom}) is empty; its second corner is "
                f"just outside, right of and below the last PE: {SIZE_MEANT}"
            )
        if left < 0 or top < 0 or right > self.width or bottom > self.height:
            raise SdkError(
                f"{call}: the rectangle from ({left}, {top}) up to ({right}, {bottom}) is not inside region "
                f"'{self.name}' of {self.width} x {self.height} PEs; {SIZE_MEANT}"
            )
        return slice(top, bottom), slice(left, right)
