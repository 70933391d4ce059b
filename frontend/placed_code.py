"""From code placed by a host script to a `wse` module: no layout file is evaluated, PEs may be left without code.

What layout files say of PEs comes here as data: files with params, and routes, each with the line of the script that
asked for it. PEs are sorted into classes as those of layout files are.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable as Function
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import VerifyException

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic, Note, Source
from ..diagnostics.records import record
from ..dialects.machine.switches import Position, verify_switch, verify_switch_on
from ..dialects.wse import Direction, SwitchAttr
from . import recovery, types
from .builtins.layout import ColorConfig, Tiles
from .compilation import Assembly, CompiledLayout, again, deep_evaluation, start_session
from .effects import Effect
from .errors import ProgramErrors
from .evaluator import suggestion
from .pe import location
from .scalars import column
from .session import Session
from .values import Lanes, Value

Places = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Columns and rows of PEs."""


class Origin(NamedTuple):
    """A line of a host script."""

    path: str
    line: int


@record
class PlacedParam:
    """A param of PEs' code: a number, or the number of a color, for each PE or one for all."""

    values: NDArray[np.int64] | int
    is_color: bool
    origin: Origin


@record
class PlacedCode:
    """PEs that run one file with the same params, whose values may differ."""

    path: Path
    places: Places
    params: Mapping[str, PlacedParam]
    origin: Origin


@record
class PlacedRoute:
    """Routers that treat a color alike: for each switch position where it comes from and goes to, None as before."""

    color: int
    places: Places
    positions: Sequence[tuple[Sequence[str] | None, Sequence[str] | None]]
    origin: Origin


@dataclass
class _Scripts:
    """Lines of host scripts as places in sources, for diagnostics."""

    sources: dict[str, Source] = field(default_factory=dict[str, Source])

    def place(self, origin: Origin) -> tuple[Source, syntax.Node]:
        source = self.sources.get(origin.path)
        if source is None:
            source = self.sources[origin.path] = Source(origin.path, "".join(linecache.getlines(origin.path)))
        lines = source.text.splitlines(keepends=True)
        if origin.line > len(lines):
            source = Source(origin.path, "\n" * origin.line)
            return source, syntax.Node(origin.line - 1, origin.line - 1)
        line = lines[origin.line - 1]
        start = sum(map(len, lines[: origin.line - 1]))
        return source, syntax.Node(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))


def compile_placed(
    name: str,
    codes: Sequence[PlacedCode],
    routes: Sequence[PlacedRoute],
    host_streams: Sequence[tuple[int, str, tuple[int, int]]],
    rectangle: tuple[int, int],
    *,
    arch: str,
    color_names: Mapping[int, str],
    import_paths: Sequence[Path | str] = (),
    fp16_format: str = "f16",
    print: Function[[str], None] = print,
    notice: Function[[str], None] | None = None,
) -> CompiledLayout:
    """Compile code and routes for a rectangle of PEs; the other arguments are as for `compile_layout`.

    `host_streams` are colors on which the host streams, "in" or "out", each with the PE (x, y). `color_names` are names
    of colors for messages. Raises CslError, with all errors of the CSL files and of what the host script gives them, or
    LoomError.
    """
    session = start_session(
        arch=arch, fabric_dims=None, fabric_offsets=(0, 0), memcpy=False, channels=0, print=print,
        import_paths=import_paths, fp16_format=fp16_format, notice=notice,
    )  # fmt: skip
    scripts = _Scripts()

    def compile(session: Session) -> CompiledLayout:
        session.rectangle = rectangle
        session.color_names.update(color_names)
        tiles: list[Tiles] = []
        for code in codes:
            if _params_fit(session, scripts, code):
                tiles.append(_tiles(session, scripts, code))
        effects: list[Effect] = []
        for route in routes:
            with recovery.checked(session):
                effects.append(_effect(session, scripts, route))
        assembly = Assembly(session, name)
        for number, way, (x, y) in host_streams:
            assembly.used_colors.add(number)
            assembly.streams.setdefault((number, way), []).append((np.array([x]), np.array([y])))
        program = assembly.program("program", tiles, effects)
        source, node = scripts.place(codes[0].origin)
        program.location = location(source, node)
        return assembly.result(program, {}, {})

    with deep_evaluation(name):
        try:
            return compile(session)
        except CslError as error:
            found = recovery.all_errors(error, session.files, lambda mistakes: compile(again(session, mistakes)))
            raise _with_origins(session, scripts, codes, found) from None


def _declared(session: Session, path: Path) -> dict[str, syntax.Variable]:
    return {
        declaration.name: declaration
        for declaration in session.files.parse(path).declarations
        if isinstance(declaration, syntax.Variable) and declaration.kind == "param"
    }


def _params_fit(session: Session, scripts: _Scripts, code: PlacedCode) -> bool:
    """Return True if the file has the params that it is given, with their types; False where errors are looked for.

    Raises CslError elsewhere.
    """
    declared = _declared(session, code.path)
    fitting = 0
    for name, param in code.params.items():
        with recovery.checked(session):
            _check_param(session, scripts, code, declared, name, param)
            fitting += 1
    return fitting == len(code.params)


def _check_param(
    session: Session,
    scripts: _Scripts,
    code: PlacedCode,
    declared: Mapping[str, syntax.Variable],
    name: str,
    param: PlacedParam,
) -> None:
    """Raise CslError for a param that the file does not have, or has as a color where it is given a number."""
    source, node = scripts.place(param.origin)
    if name not in declared:
        known = ", ".join(declared) or "none"
        advice = suggestion(name, declared) or f"; its params are: {known}"
        message = f"'{code.path.name}' has no param '{name}'{advice}"
        raise CslError([Diagnostic(source, node.start, node.end, message)])
    written = _written(declared[name])
    if written == "bool" and not param.is_color:
        wrong = np.setdiff1d(param.values, (0, 1))
        if len(wrong):
            message = f"param '{name}' of '{code.path.name}' is of type 'bool' and is given {wrong[0]}; give 0 or 1"
            raise CslError([Diagnostic(source, node.start, node.end, message)])
    if written is not None and (written == "color") != param.is_color and written in (*_NUMBERS, "color"):
        given, remedy = ("a color", "give a number") if param.is_color else ("a number", "give a Color, not its number")
        message = f"param '{name}' of '{code.path.name}' is of type '{written}' and is given {given}; {remedy}"
        at = declared[name]
        note = Note(session.files.parse(code.path).source, at.start, at.end, "declared here")
        raise CslError([Diagnostic(source, node.start, node.end, message, [note])])


def _written(declaration: syntax.Variable) -> str | None:
    """Return the name of a param's type, None if it has none."""
    return declaration.type.name if isinstance(declaration.type, syntax.Name) else None


_NUMBERS = (*(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)), "f16", "f32", "bool")


def _with_origins(session: Session, scripts: _Scripts, codes: Sequence[PlacedCode], error: ProgramErrors) -> CslError:
    """Return errors with notes that name the script's line, of those about the value of a param."""
    found = [_with_origin(session, scripts, codes, each) for each in error.diagnostics]
    return ProgramErrors(found, error.unreported, error.files, error.rest)


def _with_origin(session: Session, scripts: _Scripts, codes: Sequence[PlacedCode], first: Diagnostic) -> Diagnostic:
    """Return a diagnostic with a note that names the script's line if it is about the value of a param."""
    for code in codes:
        if session.files.parse(code.path).source is not first.source:
            continue
        for name, declaration in _declared(session, code.path).items():
            if declaration.start <= first.start < declaration.end:
                param = code.params.get(name)
                source, node = scripts.place(code.origin if param is None else param.origin)
                text = "the region is created here" if param is None else f"'{name}' is given its value here"
                note = Note(source, node.start, node.end, text)
                message = first.message
                if param is None and message.startswith(f"param '{name}' has no value"):
                    message = f"param '{name}' has no value; give it one with set_param_all or set_param"
                return Diagnostic(first.source, first.start, first.end, message, [*first.notes, note])
    return first


def _tiles(session: Session, scripts: _Scripts, code: PlacedCode) -> Tiles:
    declared = _declared(session, code.path)
    columns, rows = code.places
    lanes = Lanes(len(columns))
    values: list[Value] = []
    for name, param in code.params.items():
        type, given = types.COLOR if param.is_color else types.COMPTIME_INT, np.asarray(param.values)
        if _written(declared[name]) == "bool":
            type, given = types.BOOL, given != 0
        values.append(Value(type, column(lanes, given) if given.ndim else given.item()))
    struct = types.Struct(tuple(code.params), tuple(value.type for value in values))
    source, node = scripts.place(code.origin)
    effect = Effect("tile", node, source, lanes)
    return Tiles(code.path, columns, rows, Value(struct, tuple(values)), effect)


def _effect(session: Session, scripts: _Scripts, route: PlacedRoute) -> Effect:
    source, node = scripts.place(route.origin)
    columns, rows = route.places
    (inputs, outputs), *rest = [
        tuple(None if ports is None else tuple(map(Direction, ports)) for ports in position)
        for position in route.positions
    ]
    switch = None
    if rest:
        positions: list[Position] = []
        before = (inputs, outputs)
        for receive, transmit in rest:
            # A position states what it changes; each counts from the one before.
            now = (before[0] if receive is None else receive, before[1] if transmit is None else transmit)
            changed = [None if new == old else _names(new) for new, old in zip(now, before, strict=True)]
            if changed == [None, None]:
                changed[1] = _names(now[1])
            positions.append(Position(*changed))
            before = now
        switch = SwitchAttr.get(positions)
        try:
            verify_switch(inputs or (), outputs or (), switch)
            verify_switch_on(session.target, switch, f"color_{route.color}", route.color)
        except VerifyException as error:
            message = f"these routing positions are not possible: {error}"
            raise CslError([Diagnostic(source, node.start, node.end, message)]) from None
    config = ColorConfig(route.color, inputs or (), outputs or (), switch)
    return Effect("color", node, source, Lanes(len(columns)), (config, columns, rows))


def _names(ports: Sequence[Direction] | None) -> tuple[str, ...]:
    return tuple(port.value for port in ports or ())
