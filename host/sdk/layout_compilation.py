"""From an SdkLayout to an artifact: regions are placed, ports routed, colors valued, and the code of PEs compiled."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.errors import LoomError
from ...frontend import placed_code
from ...frontend.placed_code import PlacedCode, PlacedParam, PlacedRoute
from ...targets import get
from ..garbage_collection import collector_paused
from ..layout.layouts import lay_out
from ..layout.netlist import Block, Fabric, ImpossibleLayout, Layout, Link, Net, Paint, Port, Position
from ..layout.placement import NO_CHANNELS, place
from ..notices import print_notice
from . import artifact
from .code_regions import CodeRegion, LayoutState, PortHandle, SymbolData
from .errors import SdkError
from .placement import FabricPlacement
from .routing import Color, Setting
from .script_lines import Origin
from .streams import HOST_COLOR, PlacedRegion, PlacedStream, Stream

COLORS_JSON = "colors.json"
PORT_MAP_JSON = "port_map.json"

NUMBER, COLOR = 1, 2
"""What a param is on a PE; 0 is not set."""

Grid = NDArray[np.int64]


def compile_layout(
    layout: LayoutState, directory: Path, libs: Sequence[str], fp16_format: str, *, save_port_map: bool
) -> None:
    """Write the artifact of a layout. Raises LoomError for what is wrong, with its line of the script or of CSL."""
    with collector_paused():
        _Compilation(layout, directory, libs, fp16_format, save_port_map).run()


@dataclass
class _Painted:
    """The routes of one color on the PEs of a region."""

    color: Color
    index: Grid
    """Which of `kinds` holds on each PE, -1 for none."""
    named: NDArray[np.bool_]
    """Where the program names the color, or the host streams on it."""
    origin: Origin
    kinds: list[tuple[tuple[Setting, ...], Origin, PortHandle | None]] = field(default_factory=list[Any])


class _Compilation:
    def __init__(
        self, layout: LayoutState, directory: Path, libs: Sequence[str], fp16_format: str, save_port_map: bool
    ) -> None:
        self.layout = layout
        self.directory = directory
        self.libs = libs
        self.fp16_format = fp16_format
        self.save_port_map = save_port_map
        self.target = get(layout.arch)
        self.regions = list(layout.regions.values())
        self.painted: dict[str, dict[str, _Painted]] = {}
        """By region and global name of the color."""
        self.origins: dict[str, Origin] = {}
        """Of blocks, links and nets, by name."""
        self.solution: Layout
        self.local_ids: dict[Path, frozenset[int]] = {}

    def run(self) -> None:
        self._place_stacks()
        for region in self.regions:
            self.painted[region.name] = _paint(region)
        for stream in self.layout.streams.values():
            self._name_at(stream)
        blocks = [Block(r.name, r.width, r.height, _place_of(r)) for r in self.regions]
        links = [self._link(*connection) for connection in self.layout.connections]
        nets = list(self._nets())
        self.origins |= {region.name: region.origin for region in self.regions}
        try:
            self.solution = lay_out(blocks, nets, links, Fabric.of(self.target, self.layout.fabric))
        except ImpossibleLayout as error:
            where = next((self.origins[name] for name in error.subjects if name in self.origins), None)
            raise SdkError(error.message, None if where is None else str(where)) from None
        self._warn_of_open_ports()
        routes = [*self._region_routes(), *self._hops()]
        width, height = self._extent()
        try:
            compiled = placed_code.compile_placed(
                str(self.directory), list(self._codes()), routes, self._host_streams(), (width, height),
                arch=self.layout.arch, color_names=self._color_names(), import_paths=self.libs,
                fp16_format=self.fp16_format, notice=print_notice,
            )  # fmt: skip
        except LoomError as error:
            from ..compilation import errors_of_passes_too

            raise errors_of_passes_too(error) from None
        for warning in compiled.warnings:
            print(warning, file=sys.stderr)
        artifact.write(
            self.directory, compiled, self.layout.arch, FabricPlacement((width, height), (0, 0)), self._complete
        )

    # The netlist

    def _place_stacks(self) -> None:
        """Place regions that others are stacked beside and that have no place yet."""
        stacks: dict[str, list[tuple[CodeRegion, int, int]]] = {}
        for region in self.regions:
            root, x, y = _root(region)
            if root is not region and root.at is None:
                stacks.setdefault(root.name, [(root, 0, 0)]).append((region, x, y))
        if not stacks:
            return
        sizes = {
            name: (max(x + r.width for r, x, _ in members), max(y + r.height for r, _, y in members))
            for name, members in stacks.items()
        }
        margins = {name: MARGIN if any(r.ports for r, _, _ in members) else 0 for name, members in stacks.items()}
        blocks = [Block(name, w + 2 * margins[name], h + 2 * margins[name]) for name, (w, h) in sizes.items()]
        blocks += [
            Block(region.name, region.width, region.height, at)
            for region in self.regions
            if (at := _place_of(region)) is not None
        ]
        try:
            places = place(blocks, [], Fabric.of(self.target, self.layout.fabric), NO_CHANNELS)
        except ImpossibleLayout as error:
            where = next((r.origin for r in self.regions if r.name in error.subjects), None)
            raise SdkError(error.message, None if where is None else str(where)) from None
        for name in stacks:
            x, y = places[name]
            self.layout.regions[name].at = (x + margins[name], y + margins[name])

    def _name_at(self, stream: Stream) -> None:
        """Note that the host streams on a color at a PE of a region; there it has no route."""
        if stream.at is None or stream.given is None or stream.origin is None:
            return
        x, y = stream.at
        for region in self.regions:
            at = _place_of(region)
            if at is None:
                continue
            if at[0] <= x < at[0] + region.width and at[1] <= y < at[1] + region.height:
                cell = y - at[1], x - at[0]
                painted = _of_color(self.painted[region.name], region, stream.given, stream.origin)
                if painted.index[cell] >= 0:
                    positions, where, port = painted.kinds[int(painted.index[cell])]
                    if port is not None:
                        raise SdkError(f"stream '{stream.name}' is at {port}; connect one or the other", str(where))
                    outputs = positions[0][1] or ()
                    if stream.is_input and set(outputs) - {"ramp"}:
                        raise SdkError(
                            f"stream '{stream.name}' brings color '{stream.color}' to PE {stream.at}, where it is "
                            f"painted to go on to {', '.join(outputs)}; forward it with another color",
                            str(where),
                        )
                painted.index[cell] = -1
                painted.named[cell] = True
                return
        raise SdkError(
            f"stream '{stream.name}' is at PE {stream.at}, where no region has been placed; place the region whose "
            "program it serves",
            str(stream.origin),
        )

    def _link(self, source: PortHandle, target: PortHandle, where: Origin) -> Link:
        name = f"{source.region.name}.{source.name} -> {target.region.name}.{target.name}"
        self.origins[name] = where
        return Link(name, _port(source), _port(target))

    def _nets(self) -> Iterator[Net]:
        paints: dict[str, list[Paint]] = {}
        values: dict[str, tuple[int, Origin]] = {}
        avoid: dict[str, frozenset[int]] = {}
        for region in self.regions:
            taken = self._task_ids(region.source) if self.target.data_tasks_by_color else frozenset[int]()
            for name, painted in self.painted[region.name].items():
                self.origins.setdefault(name, painted.origin)
                value = painted.color.get_value()
                if value is not None and values.setdefault(name, (value, painted.color.origin))[0] != value:
                    raise SdkError(
                        f"color '{name}' is given the value {value}, but has {values[name][0]} since line "
                        f"{values[name][1].line}; colors of one name are one color",
                        str(painted.color.origin),
                    )
                avoid[name] = avoid.get(name, frozenset[int]()) | taken
                paints.setdefault(name, []).extend(_paints(region, painted))
        for name, found in paints.items():
            value = values.get(name)
            yield Net(name, tuple(found), None if value is None else value[0], avoid[name])

    def _task_ids(self, source: Path) -> frozenset[int]:
        """Return the local task ids that a file names, which on this machine colors of data tasks share."""
        found = self.local_ids.get(source)
        if found is None:
            text = source.read_text(encoding="utf-8", errors="replace")
            numbers = re.findall(r"@get_local_task_id\(\s*(\d+)\s*\)", text) if "@get_data_task_id" in text else []
            found = self.local_ids[source] = frozenset(map(int, numbers))
        return found

    # What the compiler gets

    def _codes(self) -> Iterator[PlacedCode]:
        for region in self.regions:
            x, y = self.solution.places[region.name]
            names = list(dict.fromkeys(setting.name for setting in region.params))
            kinds = np.zeros((len(names), region.height, region.width), np.int64)
            values = np.zeros_like(kinds)
            origins: dict[str, Origin] = {}
            for setting in region.params:
                at = (names.index(setting.name), *setting.cells)
                if isinstance(setting.value, Color):
                    kinds[at] = COLOR
                    values[at] = self.solution.values[setting.value.get_global_name()]
                else:
                    kinds[at] = NUMBER
                    values[at] = setting.value
                origins[setting.name] = setting.origin
            cells = kinds.reshape(len(names), region.height * region.width)
            patterns, which = np.unique(cells, axis=1, return_inverse=True) if names else (cells, 0)
            which = np.broadcast_to(np.asarray(which).reshape(-1), (region.width * region.height,))
            for number in range(max(1, patterns.shape[1] if names else 1)):
                rows, columns = np.divmod(np.flatnonzero(which == number), region.width)
                params = {
                    name: PlacedParam(
                        values[position, rows, columns], int(patterns[position, number]) == COLOR,
                        placed_code.Origin(*origins[name]),
                    )
                    for position, name in enumerate(names)
                    if patterns[position, number]
                }  # fmt: skip
                yield PlacedCode(region.source, (columns + x, rows + y), params, placed_code.Origin(*region.origin))

    def _region_routes(self) -> Iterator[PlacedRoute]:
        for region in self.regions:
            x, y = self.solution.places[region.name]
            for name, painted in self.painted[region.name].items():
                value = self.solution.values[name]
                for number, (positions, where, port) in enumerate(painted.kinds):
                    rows, columns = np.nonzero(painted.index == number)
                    if not len(rows):
                        continue
                    if port is None:
                        places = (columns + x, rows + y)
                        yield PlacedRoute(value, places, positions, placed_code.Origin(*where))
                    elif port.joined is not None:
                        yield from self._port_routes(port, positions, value, (x, y))

    def _port_routes(
        self, port: PortHandle, positions: Sequence[Setting], value: int, corner: tuple[int, int]
    ) -> Iterator[PlacedRoute]:
        """Yield the routes of a port's PEs, with the directions of its link."""
        number = next(n for n, (tx, rx, _) in enumerate(self.layout.connections) if port in (tx, rx))
        name = self._link(*self.layout.connections[number]).name
        ways: dict[str, list[tuple[int, int]]] = {}
        for cell, lane in zip(port.cells(), self.solution.lanes[name], strict=True):
            ways.setdefault(lane.enters if port.is_input else lane.leaves, []).append(cell)
        for way, cells in ways.items():
            whole = [((way,), given[1]) if port.is_input else (given[0], (way,)) for given in positions]
            places = np.array(cells, np.int64) + np.array(corner)
            yield PlacedRoute(value, (places[:, 0], places[:, 1]), whole, placed_code.Origin(*port.origin))

    def _hops(self) -> Iterator[PlacedRoute]:
        """Yield the routes of links outside of their ports."""
        found: dict[tuple[int, str, str], tuple[list[tuple[int, int]], Origin]] = {}
        for source, target, where in self.layout.connections:
            value = self.solution.values[source.color.get_global_name()]
            for lane in self.solution.lanes[self._link(source, target, where).name]:
                for hop in lane.hops:
                    found.setdefault((value, hop.rx, hop.tx), ([], where))[0].append((hop.x, hop.y))
        for (value, rx, tx), (cells, where) in found.items():
            places = np.array(cells, np.int64)
            yield PlacedRoute(value, (places[:, 0], places[:, 1]), [((rx,), (tx,))], placed_code.Origin(*where))

    def _host_streams(self) -> list[tuple[int, str, tuple[int, int]]]:
        """Return the colors on which the host streams to PEs of regions, the way, and the PE."""
        return [
            (self.solution.values[stream.color], "in" if stream.is_input else "out", stream.at)
            for stream in self.layout.streams.values()
            if stream.at is not None
        ]

    def _extent(self) -> tuple[int, int]:
        """Return the rectangle of PEs from the fabric's corner that the program takes part in."""
        places = self.solution.places
        ends = [(places[r.name][0] + r.width, places[r.name][1] + r.height) for r in self.regions]
        ends += [
            (hop.x + 1, hop.y + 1) for lanes in self.solution.lanes.values() for lane in lanes for hop in lane.hops
        ]
        return max(x for x, _ in ends), max(y for _, y in ends)

    def _color_names(self) -> dict[int, str]:
        names: dict[int, dict[str, None]] = {}
        # Those of streams last: a user knows them less.
        for region in sorted(self.regions, key=lambda region: region.name in self.layout.streams):
            for name, painted in self.painted[region.name].items():
                names.setdefault(self.solution.values[name], {})[painted.color.get_local_param_name()] = None
        return {value: "/".join([*found][:MAX_NAMES]) for value, found in names.items()}

    def _warn_of_open_ports(self) -> None:
        for region in self.regions:
            for port in region.ports.values():
                if port.joined is None:
                    print(
                        f"{port.origin}: warning: {port} is connected with nothing, so that its color has no route "
                        "there; connect it, or create a stream",
                        file=sys.stderr,
                    )

    # What the runtime gets

    def _complete(self, classes: Sequence[artifact.PeClass]) -> tuple[dict[str, Any], dict[str, str | bytes]]:
        """Return what the artifact says of the layout, and its files."""
        values = {name: value for name, value in self.solution.values.items() if name != HOST_COLOR}
        files: dict[str, str | bytes] = {COLORS_JSON: json.dumps(values, indent=2) + "\n"}
        streams = [self._placed(stream) for stream in self.layout.streams.values()]
        regions = [self._described(region) for region in self.regions]
        if self.save_port_map:
            ports: dict[str, dict[str, object]] = {
                stream.name: {
                    "direction": "input" if stream.is_input else "output", "x": stream.x, "y": stream.y,
                    "color": stream.color,
                }
                for stream in streams
            }  # fmt: skip
            for one in regions:
                if one.name not in ports:
                    ports[one.name] = {"x": one.x, "y": one.y, "width": one.width, "height": one.height}
            files[PORT_MAP_JSON] = json.dumps(ports, indent=2) + "\n"
        data = [one for region in self.regions for one in self._symbols(region, classes)]
        if data:
            stream = io.BytesIO()
            arrays = {
                f"{kind}_{number}": array
                for number, parts in enumerate(data)
                for kind, array in zip(("address", "places", "words"), parts, strict=True)
            }
            np.savez(stream, **arrays)  # pyright: ignore[reportArgumentType]
            files[artifact.SYMBOLS] = stream.getvalue()
        description = {"streams": [asdict(one) for one in streams], "regions": [asdict(one) for one in regions]}
        return description, files

    def _placed(self, stream: Stream) -> PlacedStream:
        x, y = stream.at or self.solution.places[stream.region or stream.name]
        color = self.solution.values[stream.color]
        return PlacedStream(stream.name, stream.is_input, x, y, color, stream.end)

    def _described(self, region: CodeRegion) -> PlacedRegion:
        others = {id(port): other for tx, rx, _ in self.layout.connections for port, other in ((tx, rx), (rx, tx))}
        ports = tuple(
            (str(port).partition(" of region")[0], "nothing" if id(port) not in others else self._end(others[id(port)]))
            for port in region.ports.values()
        )
        return PlacedRegion(region.name, *self.solution.places[region.name], region.width, region.height, ports)

    def _end(self, port: PortHandle) -> str:
        stream = self.layout.streams.get(port.region.name)
        return str(port) if stream is None else f"the host's stream '{stream.name}'"

    def _symbols(
        self, region: CodeRegion, classes: Sequence[artifact.PeClass]
    ) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """Yield address, places [n, (x, y)] and words [n, words] of initial data. Raises SdkError for a misfit."""
        left, top = self.solution.places[region.name]
        for data in region.symbols.values():
            words = np.ascontiguousarray(data.values).view(np.uint16).reshape(region.height, region.width, -1)
            for found in classes:
                cells = [
                    (x, y)
                    for bounds in found.regions
                    for y in range(*bounds[3:])
                    for x in range(*bounds[:3])
                    if left <= x < left + region.width and top <= y < top + region.height
                ]
                if not cells:
                    continue
                address = _address(data, region, found)
                places = np.array(cells, np.int64)
                yield np.array(address), places, words[places[:, 1] - top, places[:, 0] - left]


MARGIN = 2
"""Free PEs around regions that are stacked and have ports."""

MAX_NAMES = 3
"""Names of a color in messages."""


def _address(data: SymbolData, region: CodeRegion, found: artifact.PeClass) -> int:
    """Return where a variable of a class is. Raises SdkError if there is none or data does not fit it."""
    where = str(data.origin)
    place = found.buffers.get(data.symbol)
    if place is None:
        known = ", ".join(sorted(name for name in found.buffers if "." not in name)) or "none"
        raise SdkError(
            f"region '{region.name}' has no variable '{data.symbol}' in memory; its variables are: {known}; a constant "
            "cannot be set, and what the program does not use is kept only with 'export var'",
            where,
        )
    count = int(np.prod(place.shape, dtype=np.int64))
    given = data.values.shape[2]
    bits = 8 * data.values.dtype.itemsize
    element = place.element
    fits = element.endswith(str(bits)) and (bits == 16 or element.startswith("f") == (data.values.dtype.kind == "f"))
    if not fits:
        raise SdkError(
            f"'{data.symbol}' of region '{region.name}' holds {element}, but the data is {data.values.dtype}; convert "
            "the data",
            where,
        )
    if given != count:
        raise SdkError(
            f"'{data.symbol}' of region '{region.name}' has {count} elements on each PE, but the data has {given} for "
            "each; correct width and height",
            where,
        )
    return place.address


def _root(region: CodeRegion) -> tuple[CodeRegion, int, int]:
    """Return the region that one is stacked beside at last, and how far east and south of it."""
    x = y = 0
    while region.anchor is not None:
        region, dx, dy = region.anchor
        x, y = x + dx, y + dy
    return region, x, y


def _place_of(region: CodeRegion) -> tuple[int, int] | None:
    root, x, y = _root(region)
    return None if root.at is None else (root.at[0] + x, root.at[1] + y)


def _port(port: PortHandle) -> Port:
    return Port(port.region.name, port.color.get_global_name(), _side(port))


def _side(port: PortHandle) -> str | None:
    """Return the side of a region that a port is on, None if the router may choose it.

    A region of one PE has one port at any edge; but not where its routes name directions, which the side must not meet.
    """
    if port.region.width * port.region.height > 1:
        return port.edge.value
    named = {way for setting in port.positions for ways in setting if ways is not None for way in ways}
    return None if named <= {"ramp"} else port.edge.value


def _of_color(colors: dict[str, _Painted], region: CodeRegion, color: Color, where: Origin) -> _Painted:
    name = color.get_global_name()
    if name not in colors:
        shape = (region.height, region.width)
        colors[name] = _Painted(color, np.full(shape, -1, np.int64), np.zeros(shape, np.bool_), where)
    elif color.get_value() is not None and colors[name].color.get_value() is None:
        colors[name].color = color
    return colors[name]


def _paint(region: CodeRegion) -> dict[str, _Painted]:
    """Return the routes of a region's colors, by their global names."""
    colors: dict[str, _Painted] = {}
    for setting in region.params:
        if isinstance(setting.value, Color):
            _of_color(colors, region, setting.value, setting.origin).named[setting.cells] = True
    for painting in region.paintings:
        found = _of_color(colors, region, painting.color, painting.origin)
        found.index[painting.cells] = len(found.kinds)
        found.kinds.append((painting.positions, painting.origin, None))
        for along in painting.along:
            rows, columns = (slice(None), slice(None))
            match along.edge.value:
                case "north":
                    rows = slice(0, 1)
                case "south":
                    rows = slice(region.height - 1, region.height)
                case "west":
                    columns = slice(0, 1)
                case _:
                    columns = slice(region.width - 1, region.width)
            found.index[rows, columns] = len(found.kinds)
            found.kinds.append((along.positions, painting.origin, None))
    for port in region.ports.values():
        found = _of_color(colors, region, port.color, port.origin)
        for x, y in port.cells():
            found.index[y, x] = len(found.kinds)
            found.named[y, x] = True
        found.kinds.append((port.positions, port.origin, port))
    return colors


def _paints(region: CodeRegion, painted: _Painted) -> Iterator[Paint]:
    """Yield where a color is in use in a region."""
    for number, (positions, _, port) in enumerate(painted.kinds):
        found = tuple(_positions(positions, port))
        for rectangle in _rectangles(painted.index == number):
            yield Paint(region.name, *rectangle, found)
    for rectangle in _rectangles(painted.named & (painted.index < 0)):
        yield Paint(region.name, *rectangle)


def _positions(settings: Sequence[Setting], port: PortHandle | None) -> Iterator[Position]:
    side = None if port is None else _side(port)
    left_open = () if side is None else (side,)
    receive: Iterable[str] = left_open
    transmit: Iterable[str] = left_open
    for given_in, given_out in settings:
        receive = receive if given_in is None else given_in
        transmit = transmit if given_out is None else given_out
        yield Position(frozenset(receive), frozenset(transmit))


def _rectangles(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int, int, int]]:
    """Yield (x, y, width, height) of rectangles that make up a mask: equal runs of adjoining rows go together."""
    if mask.all():
        yield 0, 0, mask.shape[1], mask.shape[0]
        return
    open_runs: dict[tuple[int, int], int] = {}
    for y in range(mask.shape[0] + 1):
        runs: set[tuple[int, int]] = set()
        if y < mask.shape[0] and mask[y].any():
            edges = np.flatnonzero(np.diff(np.concatenate(([0], mask[y].view(np.int8), [0]))))
            runs = set(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
        for run in sorted(open_runs.keys() - runs):
            first = open_runs.pop(run)
            yield run[0], first, run[1] - run[0], y - first
        for run in runs - open_runs.keys():
            open_runs[run] = y
