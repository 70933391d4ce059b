"""SdkLayout: what a host script calls to build a program of code regions, without a layout file."""

from __future__ import annotations

import enum
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ...diagnostics.errors import LoomError
from ...targets import TARGETS, get
from .code_regions import CodeRegion, LayoutState, PortHandle, check_port
from .direct_link import WORD_BYTES
from .errors import SdkError
from .geometry import IntVector, pair, whole
from .platforms import SdkCompileArtifacts, SdkExecutionPlatform, SdkTarget
from .routing import Color, Edge, Route, RoutingPosition, check_color, same_color
from .script_lines import origin
from .streams import HOST_COLOR, Stream

MSG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

PLATFORMS: dict[str, tuple[type, ...]] = {
    "platform": (SdkExecutionPlatform, SdkTarget, str, Path),
    "target": (SdkTarget,),
    "fabric_file": (str, Path),
}
"""Names of what an SdkLayout is made for, with their types."""

PLATFORM_WORDS = {
    "platform": "what get_platform returns",
    "target": "SdkTarget.WSE2 or SdkTarget.WSE3",
    "fabric_file": "the path of a JSON file",
}


class FP16TYPE(enum.Enum):
    """The type of 16-bit floats at run time."""

    F16 = "f16"
    BF16 = "bf16"
    CB16 = "cb16"


class SdkLayout:
    """A program of code regions, placed, routed and colored when it is compiled.

    `platform` is what get_platform returns, an SdkTarget, or the path of a JSON file with the architecture ("arch")
    and, if it is not the whole wafer, the size of the fabric in PEs ("width", "height"). By name they are `platform`,
    `target` and `fabric_file`.
    """

    def __init__(self, *args: SdkExecutionPlatform | SdkTarget | Path | str, **kwargs: Any) -> None:
        given: list[object] = [*args]
        for name, value in kwargs.items():
            if name in PLATFORMS:
                if not isinstance(value, PLATFORMS[name]):
                    raise SdkError(f"SdkLayout: {name} is {value!r}; give {PLATFORM_WORDS[name]}")
                given.append(value)
            elif name != "msg_level":
                raise SdkError(
                    f"SdkLayout takes no argument '{name}'; it takes one of {', '.join(PLATFORMS)}, and msg_level"
                )
            elif value not in MSG_LEVELS:
                raise SdkError(f"SdkLayout: msg_level is {value!r}; give one of {', '.join(MSG_LEVELS)}")
        if len(given) != 1:
            raise SdkError(f"SdkLayout is given {len(given)} platforms; give one of {', '.join(PLATFORMS)}")
        self.state = LayoutState(*_target(given[0]))

    # Regions

    def create_code_region(self, source: str | Path, name: str, width: int, height: int) -> CodeRegion:
        """Return a new region of `width` x `height` PEs that run the CSL file `source`."""
        call = "create_code_region"
        self.state.check_open(call)
        if not isinstance(source, str | Path):
            raise SdkError(f"{call}: source is {source!r}; give the path of a CSL file")
        if not isinstance(name, str) or not name:
            raise SdkError(f"{call}: name is {name!r}; give a str")
        if name in self.state.streams:
            raise SdkError(f"{call}: there is a stream '{name}' already; choose another name")
        if name in self.state.regions:
            before = self.state.regions[name].origin
            raise SdkError(
                f"{call}: there is a region '{name}' already, made in line {before.line}; choose another name"
            )
        size = whole(width, f"{call}: width"), whole(height, f"{call}: height")
        if min(size) < 1:
            raise SdkError(f"{call}: region '{name}' has {size[0]} x {size[1]} PEs; it needs at least one")
        if size[0] > self.state.fabric[0] or size[1] > self.state.fabric[1]:
            raise SdkError(
                f"{call}: region '{name}' has {size[0]} x {size[1]} PEs, and the fabric {self.state.fabric[0]} x "
                f"{self.state.fabric[1]}"
            )
        path = Path(source)
        if not path.is_file():
            missing = "is not a file" if path.exists() else "does not exist"
            raise SdkError(f"{call}: the source of region '{name}', {path}, {missing}; give the path of a CSL file")
        region = self.state.regions[name] = CodeRegion(self.state, path, name, *size)
        return region

    def hstack(self, children: Sequence[CodeRegion], origin: IntVector | None = None) -> int:
        """Place regions side by side, from west to east, and return their width in all.

        The first is placed at `origin`; without one it stays where it is, or is placed when the layout is compiled.
        Where the regions were placed or stacked before does not count any more.
        """
        return self._stack("hstack", children, origin)

    def vstack(self, children: Sequence[CodeRegion], origin: IntVector | None = None) -> int:
        """Place regions one below the other, and return their height in all; see `hstack`."""
        return self._stack("vstack", children, origin)

    def _stack(self, call: str, children: Sequence[CodeRegion], where: IntVector | None) -> int:
        self.state.check_open(call)
        if not isinstance(children, Sequence) or not children or not all(isinstance(c, CodeRegion) for c in children):
            raise SdkError(f"{call}: children is {children!r}; give a list of at least one code region")
        for number, child in enumerate(children):
            if self.state.regions.get(child.name) is not child:
                raise SdkError(f"{call}: region '{child.name}' belongs to another layout")
            if child in children[:number]:
                raise SdkError(f"{call}: region '{child.name}' is listed twice")
        first = children[0]
        if where is not None:
            first.place_at(call, *pair(where, f"{call}: origin"))
        base = first
        while base.anchor is not None:
            base, stacked = base.anchor[0], base
            if base in children:
                raise SdkError(
                    f"{call}: region '{stacked.name}' is stacked beside '{base.name}', in line {stacked.origin.line}, "
                    f"so '{base.name}' cannot be stacked beside '{first.name}'; give an origin, or leave "
                    f"'{base.name}' out"
                )
        done = 0
        for child in children:
            if child is not first:
                child.at = None
                child.anchor = (first, done, 0) if call == "hstack" else (first, 0, done)
                child.origin = origin_of_call()
            done += child.width if call == "hstack" else child.height
        return done

    # Connections and streams

    def connect(self, tx: PortHandle, rx: PortHandle) -> None:
        """Connect an output port with an input port; the path between them is found when the layout is compiled."""
        self._connect("connect", tx, rx)

    def _connect(self, call: str, tx: object, rx: object) -> None:
        self.state.check_open(call)
        source, target = check_port(tx, f"{call}: tx"), check_port(rx, f"{call}: rx")
        for port in (source, target):
            if port.region.layout is not self.state:
                raise SdkError(f"{call}: {port} belongs to another layout")
        if source.is_input or not target.is_input:
            wrong, needed = (source, "an output port") if source.is_input else (target, "an input port")
            raise SdkError(f"{call}: {wrong} is given as {'tx' if wrong is source else 'rx'}, which takes {needed}")
        for port in (source, target):
            if port.joined is not None:
                raise SdkError(
                    f"{call}: {port} is connected already, in line {port.joined.line}; a port has one connection: make "
                    "another port with another color"
                )
        if source.data_size != target.data_size:
            raise SdkError(
                f"{call}: {source} has data_size {source.data_size}, but {target} has {target.data_size}; the sizes of "
                "connected ports are equal"
            )
        if source.length != target.length:
            raise SdkError(
                f"{call}: {source} has {source.length} PEs, but {target} has {target.length}; each PE sends to the one "
                "of the same number"
            )
        source.joined = target.joined = origin()
        self.state.connections.append((source, target, source.joined))

    def create_input_stream(self, port: PortHandle, io_loc: IntVector | None = None, io_buffer_size: int = 1024) -> str:
        """Connect an input port of one PE with the host; return the name by which SdkRuntime.send knows it.

        Data comes in at a PE of its own, at `io_loc` or wherever there is room, which keeps up to `io_buffer_size`
        wavelets that the port does not take yet.
        """
        return self._stream("create_input_stream", port, io_loc, io_buffer_size, is_input=True)

    def create_output_stream(
        self, port: PortHandle, io_loc: IntVector | None = None, io_buffer_size: int = 1024
    ) -> str:
        """Connect an output port of one PE with the host; return the name by which SdkRuntime.receive knows it."""
        return self._stream("create_output_stream", port, io_loc, io_buffer_size, is_input=False)

    def _stream(self, call: str, port: object, io_loc: object, io_buffer_size: object, *, is_input: bool) -> str:
        from ...frontend.modules import LIBRARIES

        self.state.check_open(call)
        inside = check_port(port, f"{call}: port")
        if inside.is_input != is_input:
            raise SdkError(f"{call}: {inside} is not an {'input' if is_input else 'output'} port")
        if inside.length != 1:
            raise SdkError(
                f"{call}: {inside} has {inside.length} PEs; the host reaches ports of one PE only, so connect the port "
                "with a region that gathers or spreads the data"
            )
        size = whole(io_buffer_size, f"{call}: io_buffer_size")
        if size < 1:
            raise SdkError(f"{call}: io_buffer_size is {size}; give at least 1")
        memory = get(self.state.arch).memory_bytes
        if size * WORD_BYTES >= memory:
            raise SdkError(
                f"{call}: io_buffer_size is {size} wavelets of {WORD_BYTES} bytes, but a PE of {self.state.arch} has "
                f"{memory} bytes of memory; give fewer"
            )
        name = f"{inside.region.name}_{inside.name}"
        if name in self.state.streams or name in self.state.regions:
            raise SdkError(f"{call}: there is a stream or region '{name}' already; give the port a prefix")
        file = "input_stream.csl" if is_input else "output_stream.csl"
        region = CodeRegion(self.state, LIBRARIES / "sdklayout" / file, name, 1, 1)
        if io_loc is not None:
            x, y = pair(io_loc, f"{call}: io_loc")
            columns, rows = self.state.fabric
            if not (0 <= x < columns and 0 <= y < rows):
                raise SdkError(f"{call}: io_loc is PE ({x}, {y}), outside of the fabric of {columns} x {rows} PEs")
            region.place(x, y)
        host, color = Color(HOST_COLOR), region.color("port")
        if is_input:
            region.set_param_all("buffer_size", size)
        region.set_param_all("host", host)
        region.set_param_all(color)
        if is_input:
            routes = RoutingPosition().set_input([Route.RAMP])
            outside = region.create_output_port(color, Edge.RIGHT, [routes], inside.data_size)
            self._connect(call, outside, inside)
        else:
            routes = RoutingPosition().set_output([Route.RAMP])
            outside = region.create_input_port(color, Edge.RIGHT, [routes], inside.data_size)
            self._connect(call, inside, outside)
        self.state.regions[name] = region
        self.state.streams[name] = Stream(name, is_input, host.get_global_name(), str(inside), region=name)
        return name

    def create_input_stream_from_loc(self, loc: IntVector, color: Color, prefix: str = "") -> str:
        """Connect a PE of a region with the host, which sends to it on a color; return the name for SdkRuntime.send."""
        return self._stream_at("create_input_stream_from_loc", loc, color, prefix, is_input=True)

    def create_output_stream_from_loc(self, loc: IntVector, color: Color, prefix: str = "") -> str:
        """Connect a PE of a region with the host, to which it sends on a color; return the name for receive."""
        return self._stream_at("create_output_stream_from_loc", loc, color, prefix, is_input=False)

    def _stream_at(self, call: str, loc: object, color: object, prefix: object, *, is_input: bool) -> str:
        self.state.check_open(call)
        where, kind = pair(loc, f"{call}: loc"), check_color(color, call)
        if not isinstance(prefix, str):
            raise SdkError(f"{call}: prefix is {prefix!r}; give a str")
        name = f"{prefix}{kind.get_global_name()}"
        if name in self.state.streams or name in self.state.regions:
            raise SdkError(f"{call}: there is a stream or region '{name}' already; give another prefix")
        for other in self.state.streams.values():
            if other.at == where and other.given is not None and same_color(other.given, kind):
                way = "input" if other.is_input else "output"
                raise SdkError(
                    f"{call}: '{other.name}' is an {way} stream of color '{other.color}' at PE {where} already, "
                    f"made in line {other.origin.line if other.origin else 0}; use another color, or another PE"
                )
        self.state.streams[name] = Stream(
            name, is_input, kind.get_global_name(), f"PE {where}", at=where, given=kind, origin=origin()
        )
        return name

    # Compilation

    def compile(
        self,
        out_prefix: str,
        libs: Sequence[str] = (),
        cslc_prefix: str = "",
        save_port_map: bool = False,
        f16_type: FP16TYPE = FP16TYPE.F16,
    ) -> SdkCompileArtifacts:
        """Compile to the directory `out_prefix`, for SdkRuntime; it holds the colors' values in colors.json.

        `libs` are directories in which modules are looked for too. With `save_port_map` the places of streams and
        regions are written to port_map.json there. `cslc_prefix` has no effect: there is one compiler.
        """
        from .layout_compilation import compile_layout

        self.state.check_open("compile")
        if not isinstance(out_prefix, str | Path) or not str(out_prefix):
            raise SdkError(f"compile: out_prefix is {out_prefix!r}; give the path of a directory to write")
        if isinstance(libs, str | Path) or not all(isinstance(lib, str | Path) for lib in libs):
            raise SdkError(f"compile: libs is {libs!r}; give a list of directories")
        if not isinstance(cslc_prefix, str):
            raise SdkError(f"compile: cslc_prefix is {cslc_prefix!r}; give a str")
        if not isinstance(f16_type, FP16TYPE):
            raise SdkError(f"compile: f16_type is {f16_type!r}; give a value of FP16TYPE")
        if not self.state.regions:
            raise SdkError("compile: the layout has no code region; make one with create_code_region")
        self.state.compiled = origin()
        try:
            compile_layout(self.state, Path(out_prefix), tuple(libs), f16_type.value, save_port_map=bool(save_port_map))
        except SdkError:
            raise
        except LoomError as error:
            raise SdkCompileError(error) from error
        return SdkCompileArtifacts(str(out_prefix))


origin_of_call = origin


class SdkCompileError(SdkError):
    """A mistake that the compiler found: it is shown as the compiler shows it."""

    def __init__(self, error: LoomError) -> None:
        super().__init__(error.message, error.location)
        self._text = str(error)

    def __str__(self) -> str:
        return self._text


def _target(platform: object) -> tuple[str, tuple[int, int]]:
    """Return the architecture and the size of the fabric that a layout is for."""
    if isinstance(platform, SdkExecutionPlatform):
        platform = platform.target
    if isinstance(platform, SdkTarget):
        return platform.value, get(platform.value).fabric
    if not isinstance(platform, str | Path):
        raise SdkError(f"SdkLayout: platform is {platform!r}; give what get_platform returns, or an SdkTarget")
    try:
        found = json.loads(Path(platform).read_text(encoding="utf-8"))
    except OSError as error:
        raise SdkError(f"SdkLayout: the fabric file cannot be read: {error.strerror or error}", str(platform)) from None
    except (ValueError, RecursionError):
        raise SdkError("SdkLayout: the fabric file is not JSON", str(platform)) from None
    if not isinstance(found, dict):
        found = {}
    fields = cast("dict[str, Any]", found)
    arch = str(fields.get("arch", "")).lower()
    if arch not in TARGETS:
        raise SdkError(
            f'SdkLayout: the fabric file names the architecture {fields.get("arch")!r}; give "arch": '
            f"{' or '.join(map(json.dumps, TARGETS))}",
            str(platform),
        )
    wafer = get(arch).fabric
    size = [fields.get(name, whole) for name, whole in zip(("width", "height"), wafer, strict=True)]
    if any(type(side) is not int or not 1 <= side <= limit for side, limit in zip(size, wafer, strict=True)):
        raise SdkError(
            f"SdkLayout: the fabric of {size[0]!r} x {size[1]!r} PEs is not part of the wafer of {wafer[0]} x "
            f"{wafer[1]}",
            str(platform),
        )
    return arch, (size[0], size[1])
