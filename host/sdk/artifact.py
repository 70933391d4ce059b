"""Compiled artifact: the directory that `loom cslc` writes and host scripts run.

    out.json            parameters and colors, as host scripts read them
    loom.json           what the runtime needs to know: rectangle, fabric, exported symbols, buffers of every PE
    program.flow.mlir   the program that runs
    program.tables      the same as tables, which executors run, with where in the source its operations come from
    program.wse.mlir    the same before it was lowered, for people
    core.npz            the memory of all PEs when the last run stopped; see `core`
    symbols.npz         of a layout made by a host script: what its variables hold at first

Start-up matters: reading loom.json needs neither xDSL nor numpy.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ...diagnostics.errors import LoomError, shown
from ...diagnostics.records import record
from ...targets import TARGETS
from ..output_files import uninterrupted
from .placement import FabricPlacement
from .streams import PlacedRegion, PlacedStream

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import TypeIs
    from xdsl.dialects.builtin import ModuleOp

    from ...dialects import flow
    from ...runtime.tables.format import Tables

OUT_JSON = "out.json"
LOOM_JSON = "loom.json"
FLOW = "program.flow.mlir"
TABLES = "program.tables"
WSE = "program.wse.mlir"
CORE = "core.npz"
SYMBOLS = "symbols.npz"

ALWAYS = (FLOW, TABLES)
DIGESTED = (*ALWAYS, SYMBOLS)
"""Files of which loom.json has digests, and those of them that every artifact has."""

FORMAT = 4
"""Of loom.json; artifacts of another format have to be compiled again."""

TRACE_PREFIX = "loom.trace."
"""A buffer of this name and a key holds what <debug> recorded under that key."""


class ExportedName(Protocol):
    """A name that the host may use, as the CSL front end describes it; see `Export`."""

    @property
    def kind(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def dtype(self) -> str | None: ...
    @property
    def mutable(self) -> bool: ...
    @property
    def arguments(self) -> Sequence[str]: ...


class Layout(Protocol):
    """A compiled layout, as the CSL front end returns it."""

    @property
    def module(self) -> ModuleOp: ...
    @property
    def rectangle(self) -> tuple[int, int]: ...
    @property
    def exports(self) -> Mapping[str, ExportedName]: ...
    @property
    def params(self) -> Mapping[str, object]: ...
    @property
    def colors(self) -> Mapping[str, int]: ...


@record
class Export:
    """A symbol the host may name. `element` is a CSL type such as "f32" for a buffer, `arguments` are a function's."""

    name: str
    kind: Literal["buffer", "function"]
    type: str
    element: str | None = None
    mutable: bool = False
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "function":
            return f"{self.name}({', '.join(self.arguments)})"
        return f"{self.name}: {self.type}"


@record
class BufferPlace:
    """A buffer in the memory of a PE: address in 16-bit words, element type as in IR, shape."""

    address: int
    element: str
    shape: tuple[int, ...]


@record
class PeClass:
    """PEs that run the same code. `regions` are (first x, end x, step, first y, end y, step) in the rectangle."""

    name: str
    regions: tuple[tuple[int, int, int, int, int, int], ...]
    buffers: Mapping[str, BufferPlace] = field(default_factory=dict[str, BufferPlace])

    def has(self, x: int, y: int) -> bool:
        """Return True if a PE of the rectangle belongs to the class."""
        return any(x in range(*region[:3]) and y in range(*region[3:]) for region in self.regions)


@record
class Artifact:
    """What loom.json says, and where the rest is."""

    directory: Path
    arch: str
    rectangle: tuple[int, int]
    placement: FabricPlacement
    exports: tuple[Export, ...]
    colors: Mapping[str, int]
    classes: tuple[PeClass, ...]
    digests: Mapping[str, str]
    """Of the files that hold the program, as they were written."""
    streams: tuple[PlacedStream, ...] = ()
    """Between the host and a layout made by a host script."""
    layout_regions: tuple[PlacedRegion, ...] = ()
    """Of such a layout."""

    @property
    def core(self) -> Path:
        """Return where a run leaves the memory of all PEs."""
        return self.directory / CORE

    @property
    def flow(self) -> Path:
        """Return the program that runs."""
        return self.directory / FLOW


Completion = Callable[[Sequence[PeClass]], tuple[dict[str, Any], dict[str, str | bytes]]]
"""Gives what a host script's layout adds to the description, and more files, once the PEs' memory is known."""


def write(
    directory: Path, layout: Layout, arch: str, placement: FabricPlacement, complete: Completion | None = None
) -> Tables:
    """Lower a compiled layout and write its directory, whole or not at all; return its tables.

    The layout's module is lowered in place. Raises LoomError if the program does not fit the fabric, cannot be lowered,
    or the directory cannot be written.
    """
    # Here and below: a host script that only reads loom.json does not pay for xDSL.
    from ...backend.tables import assemble
    from ...dialects.ir_text import print_ir
    from ...runtime.tables import file
    from ..compilation import compile

    placement.check(layout.rectangle)
    files: dict[str, str | bytes] = {WSE: print_ir(layout.module)}
    program = compile(layout.module, verify_each=False)
    files[FLOW] = print_ir(program.module)
    tables = assemble(program.fabric)
    stream = io.BytesIO()
    file.write(tables, stream)
    files[TABLES] = stream.getvalue()
    classes = classes_of(program.fabric)
    more: dict[str, Any] = {}
    if complete is not None:
        more["layout"], others = complete(classes)
        files |= others
    description = {
        "format": FORMAT,
        "arch": arch,
        "rectangle": list(layout.rectangle),
        "placement": asdict(placement),
        "exports": [asdict(export) for export in exports_of(layout.exports)],
        "colors": dict(layout.colors),
        "classes": [asdict(found) for found in classes],
        "digests": {name: _digest(files[name]) for name in DIGESTED if name in files},
        **more,
    }
    description["digest"] = _digest_of(description)
    files[LOOM_JSON] = json.dumps(description, indent=1) + "\n"
    files[OUT_JSON] = out_json(layout)
    write_files(directory, files)
    return tables


def out_json(layout: Layout) -> str:
    """Return the params and colors of a layout as host scripts read them."""
    out = {"params": dict(layout.params), "colors": dict(layout.colors)}
    return json.dumps(out, indent=2, default=str) + "\n"


def read_program(artifact: Artifact) -> ModuleOp:
    """Return the program that the text of an artifact says, verified; places are those in the text.

    It is for text that has been changed; what was compiled runs from tables. Raises LoomError.
    """
    from ...dialects import context
    from ...dialects.ir_text import decode_text, parse_ir
    from ...dialects.verification import verify

    name = str(artifact.flow)
    module = parse_ir(context(), decode_text(_content(artifact.flow), name), name)
    verify(module)
    return module


def read_tables(artifact: Artifact) -> Tables | None:
    """Return the tables of an artifact; None if the text of its program has been changed since.

    Raises LoomError for a file that is not the one that was written, or that no executor could run.
    """
    if _digest(_content(artifact.flow)) != artifact.digests[FLOW]:
        return None
    from ...runtime.tables import file
    from ...runtime.tables.check import check

    path = artifact.directory / TABLES
    content = _content(path)
    if _digest(content) != artifact.digests[TABLES]:
        raise LoomError("was changed; compile the program again", str(path))
    tables = file.read(content, str(path))
    try:
        check(tables)
    except LoomError as error:
        raise LoomError(error.message, str(path)) from error
    return tables


def read_symbols(artifact: Artifact) -> list[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Return what variables of a host script's layout hold at first: address, PEs [n, (x, y)], 16-bit words [n, words].

    Raises LoomError if the file is not the one that was written.
    """
    if SYMBOLS not in artifact.digests:
        return []
    import numpy as np

    path = artifact.directory / SYMBOLS
    content = _content(path)
    if _digest(content) != artifact.digests[SYMBOLS]:
        raise LoomError("was changed; compile the program again", str(path))
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return [
            (int(file[f"address_{number}"]), file[f"places_{number}"], file[f"words_{number}"])
            for number in range(len(file.files) // 3)
        ]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LoomError(f"cannot be read ({error.strerror}); compile the program again", str(path)) from error


def _digest(content: str | bytes) -> str:
    from hashlib import sha256

    return sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _digest_of(description: Mapping[str, Any]) -> str:
    """Return the digest of all of a description but its own."""
    rest = {name: value for name, value in description.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True))


def exports_of(exports: Mapping[str, ExportedName]) -> list[Export]:
    """Return the exported symbols in the order in which the layout exports them, which is that of their ids."""
    return [
        Export(
            name,
            "function" if entry.kind == "function" else "buffer",
            entry.type,
            entry.dtype,
            entry.mutable,
            tuple(entry.arguments),
        )
        for name, entry in exports.items()
        if not name.startswith("loom.")
    ]


def classes_of(fabric: flow.FabricOp) -> list[PeClass]:
    """Return which PEs run the same code, and the buffers they hold."""
    from ...dialects import flow

    width, height = fabric.width.value.data, fabric.height.value.data
    found: list[PeClass] = []
    for units in fabric.body.block.ops:
        if not isinstance(units, flow.UnitsOp):
            continue
        regions = [region.resolve(width, height) for region in units.regions_attr]
        buffers = {
            op.sym_name.data: BufferPlace(op.address.value.data, str(op.type.element_type), tuple(op.type.get_shape()))
            for op in units.body.block.ops
            if isinstance(op, flow.BufferOp)
        }
        bounds = tuple(
            (columns.start, columns.stop, columns.step, rows.start, rows.stop, rows.step)
            for columns, rows in regions
            if columns and rows
        )
        found.append(PeClass(units.sym_name.data, bounds, buffers))
    return found


def write_files(directory: Path, files: Mapping[str, str | bytes]) -> None:
    """Put files into a directory, made if need be, once all of them are complete.

    What else is in the directory stays, except the core of an earlier run, which no longer fits.
    """
    import shutil  # these two only to write: host scripts read
    import tempfile

    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        if directory.exists() and not directory.is_dir():
            raise LoomError("exists and is not a directory; name another output with -o", str(directory))
        if taken := [name for name in files if (directory / name).is_dir()]:
            raise LoomError("exists and is a directory; remove it", str(directory / taken[0]))
        staging = Path(tempfile.mkdtemp(prefix=".loom-", dir=directory.parent))
        try:
            staging.chmod(0o777 & ~_umask())
            for name, text in files.items():
                (staging / name).write_bytes(text.encode() if isinstance(text, str) else text)
            with uninterrupted():
                if not directory.exists():
                    os.replace(staging, directory)
                    return
                (directory / CORE).unlink(missing_ok=True)
                # out.json last: whoever finds it finds the rest.
                for name in sorted(files, key=lambda name: name == OUT_JSON):
                    os.replace(staging / name, directory / name)
        finally:
            with suppress(OSError):
                shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise LoomError(f"cannot be written: {error.strerror or error}", str(directory)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(directory: Path | str) -> Artifact:
    """Return the artifact in a directory. Raises LoomError if `loom cslc` did not write it (HOST-002)."""
    path = Path(directory)
    if not path.is_dir():
        missing = "is not a directory" if path.exists() else "does not exist"
        raise LoomError(f"{missing}; give the output directory of loom cslc", str(directory))
    try:
        description = json.loads((path / LOOM_JSON).read_text(encoding="utf-8"))
        if not _is_object(description):
            raise ValueError("it is not an object")
        if description.get("format") != FORMAT:
            raise LoomError("was compiled by another version of loom cslc; compile the program again", str(directory))
        read = _artifact(path, description)
        if description.get("digest") != _digest_of(description):
            raise ValueError("it was changed")
        return read
    except FileNotFoundError:
        raise LoomError(
            "contains no compiled program; give the output directory of loom cslc", str(directory)
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise LoomError(f"{LOOM_JSON} cannot be read ({reason}); compile the program again", str(directory)) from error


MAX_NUMBER = 1 << 40
"""Of any count, address or coordinate in a description."""


def _artifact(path: Path, found: dict[str, Any]) -> Artifact:
    """Return what a description says; raises ValueError for a field that is missing or of another kind."""
    arch = _text(found, "arch")
    if arch not in TARGETS:
        raise ValueError(f"'arch' is '{shown(arch)[:40]}'")
    placement = _object(found, "placement")
    digests = _object(found, "digests")
    layout = _object(found, "layout") if "layout" in found else None
    return Artifact(
        path,
        arch,
        _pair(found, "rectangle", 1),
        FabricPlacement(
            _pair(placement, "fabric", 1),
            _pair(placement, "offsets", 0),
            _truth(placement, "memcpy"),
            *(_number(placement, name) for name in ("channels", "west_buffer", "east_buffer")),
        ),
        tuple(map(_export, _objects(found, "exports"))),
        {name: _number(_object(found, "colors"), name) for name in _object(found, "colors")},
        tuple(map(_class, _objects(found, "classes"))),
        {name: _text(digests, name) for name in DIGESTED if name in digests or name in ALWAYS},
        tuple(map(_stream, _objects(layout, "streams"))) if layout else (),
        tuple(map(_layout_region, _objects(layout, "regions"))) if layout else (),
    )


def _field(found: Mapping[str, Any], name: str) -> Any:
    if name not in found:
        raise ValueError(f"'{name}' is missing")
    return found[name]


def _text(found: Mapping[str, Any], name: str) -> str:
    if not isinstance(value := _field(found, name), str):
        raise ValueError(f"'{name}' is not a string")
    return value


def _truth(found: Mapping[str, Any], name: str) -> bool:
    if not isinstance(value := _field(found, name), bool):
        raise ValueError(f"'{name}' is neither true nor false")
    return value


def _number(found: Mapping[str, Any], name: str) -> int:
    return _numbers([_field(found, name)], 1, name)[0]


def _is_list(value: Any) -> TypeIs[list[Any]]:
    return isinstance(value, list)


def _is_object(value: Any) -> TypeIs[dict[str, Any]]:
    """Return True if a value of a JSON file is an object."""
    return isinstance(value, dict)


def _numbers(values: Any, count: int | None, name: str, least: int = 0) -> tuple[int, ...]:
    """Return whole numbers of a list, `count` of them unless that is None."""
    if not _is_list(values) or (count is not None and len(values) != count):
        raise ValueError(f"'{shown(name)[:40]}' is not a list of {'' if count is None else f'{count} '}numbers")
    for value in values:
        if type(value) is not int or not least <= value <= MAX_NUMBER:
            raise ValueError(f"'{shown(name)[:40]}' is not a whole number from {least} to {MAX_NUMBER}")
    return tuple(values)


def _pair(found: Mapping[str, Any], name: str, least: int) -> tuple[int, int]:
    first, second = _numbers(_field(found, name), 2, name, least)
    return first, second


def _object(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not _is_object(value := _field(found, name)):
        raise ValueError(f"'{name}' is not an object")
    return value


def _objects(found: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = _field(found, name)
    if not _is_list(value) or not all(map(_is_object, value)):
        raise ValueError(f"'{name}' is not a list of objects")
    return value


def _export(found: dict[str, Any]) -> Export:
    kind = _text(found, "kind")
    if kind not in ("buffer", "function"):
        raise ValueError(f"'kind' is '{shown(kind)[:40]}'")
    element, arguments = _field(found, "element"), _field(found, "arguments")
    if element is not None:
        element = _text(found, "element")
    if not _is_list(arguments) or not all(isinstance(argument, str) for argument in arguments):
        raise ValueError("'arguments' is not a list of strings")
    return Export(_text(found, "name"), kind, _text(found, "type"), element, _truth(found, "mutable"), tuple(arguments))


def _class(found: dict[str, Any]) -> PeClass:
    places = _object(found, "buffers")
    buffers = {
        name: BufferPlace(
            _number(_object(places, name), "address"),
            _text(places[name], "element"),
            _numbers(_field(places[name], "shape"), None, "shape"),
        )
        for name in places
    }
    regions = _field(found, "regions")
    if not _is_list(regions):
        raise ValueError("'regions' is not a list")
    return PeClass(_text(found, "name"), tuple(map(_region, regions)), buffers)


def _stream(found: dict[str, Any]) -> PlacedStream:
    x, y, color = (_number(found, name) for name in ("x", "y", "color"))
    name, end = _text(found, "name"), _text(found, "end")
    return PlacedStream(name, _truth(found, "is_input"), x, y, color, end)


def _layout_region(found: dict[str, Any]) -> PlacedRegion:
    ports = _field(found, "ports")
    if not _is_list(ports) or not all(_is_list(port) and [str, str] == [type(text) for text in port] for port in ports):
        raise ValueError("'ports' is not a list of pairs of strings")
    numbers = (_number(found, name) for name in ("x", "y", "width", "height"))
    return PlacedRegion(_text(found, "name"), *numbers, ports=tuple((port[0], port[1]) for port in ports))


def _region(found: Any) -> tuple[int, int, int, int, int, int]:
    x, x_end, x_step, y, y_end, y_step = _numbers(found, 6, "regions")
    if x_step < 1 or y_step < 1:
        raise ValueError("'regions' has a step of 0")
    return x, x_end, x_step, y, y_end, y_step
