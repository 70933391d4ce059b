"""The layout block: which PEs run which program, and how routers are configured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import VerifyException

from ...csl import syntax
from ...diagnostics.records import record
from ...dialects.machine.switches import MAX_POSITIONS, POP_MODES, Position, verify_switch, verify_switch_on
from ...dialects.wse import Direction, SwitchAttr
from ...targets.wavelets import SWAP_PORTS
from .. import types
from ..effects import Effect
from ..evaluator import Evaluator
from ..filter_ids import NO_FILTER
from ..filters import Filter, filter_of
from ..registry import Table, Where
from ..struct_fields import Fields
from ..types import Type
from ..values import VOID, Column, Value, element_of

TABLE = Table("Rectangle, tile code and routes")


@record
class ColorConfig:
    """How a router treats a color; without ports it is left alone."""

    color: int
    inputs: tuple[Direction, ...]
    outputs: tuple[Direction, ...]
    switch: SwitchAttr | None = None
    teardown: bool = False
    """It starts in a teardown phase."""
    swap: tuple[str, ...] = ()
    """The axes on which it swaps with the color whose number differs in the lowest bit."""
    filter: Filter | None = None


@dataclass
class Tiles:
    """PEs given the same file by one call: their places, and params with columns of `effect.lanes`."""

    path: Path
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    params: Value
    effect: Effect


def _progress(ev: Evaluator) -> None:
    """Record progress of the layout, unless it has more effects than PEs and colors account for."""
    session = ev.session
    assert session.rectangle is not None
    width, height = session.rectangle
    if len(ev.effects) <= width * height * (1 + session.target.routable_colors):
        session.steps.progress()


@TABLE.row("@set_rectangle(width, height)", where=Where.LAYOUT)
def _set_rectangle(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    width, height = node.arguments
    if ev.session.rectangle is not None:
        ev.fail(node, "@set_rectangle is called twice; a program has one rectangle")
    size = ev.integer(width, "the width"), ev.integer(height, "the height")
    if min(size) < 1:
        ev.fail(node, f"the rectangle has {size[0]} x {size[1]} PEs; both sides must be at least 1")
    fabric, offsets = ev.session.options.fabric, ev.session.options.offsets
    wafer = ev.session.target.fabric
    if fabric is None and any(side > limit for side, limit in zip(size, wafer, strict=True)):
        ev.fail(node, f"the rectangle has {size[0]} x {size[1]} PEs; the wafer has {wafer[0]} x {wafer[1]}")
    if fabric is not None:
        for have, need, offset, what in zip(fabric, size, offsets, ("width", "height"), strict=True):
            if offset + need > have:
                ev.fail(
                    node,
                    f"the rectangle's {what} {need} at offset {offset} does not fit the fabric's {what} {have}; "
                    "give larger --fabric-dims",
                )
    ev.session.rectangle = size
    ev.session.rectangle_set = (ev.source, node)
    return VOID


def _coordinate(ev: Evaluator, node: syntax.Expression) -> Any:
    value = ev.expr(node)
    if not types.is_integer(value.type):
        ev.fail(node, f"a coordinate is an integer, not '{value.type}'")
    return value.data


def _places(ev: Evaluator, effect: Effect, x: Any, y: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the coordinates of each lane, checked against the rectangle."""
    count = effect.lanes.count
    assert ev.session.rectangle is not None
    width, height = ev.session.rectangle
    # Coordinates beyond the numbers of numpy are outside too.
    columns, rows = (
        (effect.lanes.spread(axis) if isinstance(axis, Column) else np.array([axis] * count)) for axis in (x, y)
    )
    outside = (columns < 0) | (columns >= width) | (rows < 0) | (rows >= height)
    if outside.any():
        lane = int(np.argmax(outside))
        ev.fail(
            effect.node,
            f"PE ({columns[lane]}, {rows[lane]}) is outside the rectangle of {width} x {height} PEs",
        )
    return columns.astype(np.int64), rows.astype(np.int64)


@TABLE.row("@set_tile_code(x, y[, file[, params]])", where=Where.LAYOUT)
def _set_tile_code(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    if ev.session.rectangle is None:
        ev.fail_for_lack(node, "@set_tile_code comes before @set_rectangle; set the rectangle first")
    x, y = _coordinate(ev, arguments[0]), _coordinate(ev, arguments[1])
    path = ev.frame.module.path
    if len(arguments) > 2:
        path = ev.find_file(arguments[2], ev.text(arguments[2], "the name of a file"))
    params = Value(types.Struct((), ()), ())
    if len(arguments) == 4:
        params = ev.expr(arguments[3])
        if not isinstance(params.type, types.Struct) or (params.type.names is None and params.type.types):
            ev.fail(arguments[3], f"params must be a struct, .{{ .name = value }}, not '{params.type}'")
    effect = Effect("tile", node, ev.source, ev.lanes, ())
    columns, rows = _places(ev, effect, x, y)
    effect.arguments = (Tiles(path, columns, rows, params, effect),)
    ev.effects.append(effect)
    _progress(ev)
    return VOID


@TABLE.row("@set_color_config(x, y, color, config)", where=Where.LAYOUT)
def _set_color_config(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    if ev.session.rectangle is None:
        ev.fail_for_lack(node, "@set_color_config comes before @set_rectangle; set the rectangle first")
    x, y = _coordinate(ev, arguments[0]), _coordinate(ev, arguments[1])
    config, numbers = _config(ev, arguments[2], arguments[3])
    effect = Effect("color", node, ev.source, ev.lanes, ())
    columns, rows = _places(ev, effect, x, y)
    effect.arguments = (config, columns, rows, numbers)
    ev.effects.append(effect)
    _progress(ev)
    return VOID


@TABLE.row("@set_local_color_config(color, config)", where=Where.COMPTIME)
def _set_local_color_config(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    pe = ev.program
    config, numbers = _config(ev, arguments[0], arguments[1])
    pe.effects.append(Effect("color", node, ev.source, ev.lanes, (config, pe.columns, pe.rows, numbers)))
    return VOID


@TABLE.row("@get_filter_id(color)", where=Where.PE)
def _get_filter_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    color = ev.expr(argument)
    if color.type is not types.COLOR:
        ev.fail(argument, f"this must be a color, not '{color.type}'")
    ids = ev.program.filter_ids(ev.data(color, argument, "the color"))
    if NO_FILTER in ids:
        ev.fail_for_lack(
            node,
            "this color has no filter on some PEs that run this code, or gets it later; give it one with "
            "@set_color_config, or before with @set_local_color_config",
        )
    found, *others = ids
    if others:
        numbers = f"{found} and {others[0]}"
        ev.fail(
            node,
            f"the filter of this color has several ids on the PEs that run this code, such as {numbers}; give these "
            "PEs filters of the same colors, or different params",
        )
    return Value(types.U16, found)


def _config(
    ev: Evaluator, color: syntax.Expression, node: syntax.Expression
) -> tuple[ColorConfig, dict[str, NDArray[np.int64]]]:
    """Return the configuration of a color, and the numbers of its filter."""
    value = ev.expr(color)
    if value.type is not types.COLOR:
        ev.fail(color, f"this must be a color, not '{value.type}'")
    number = ev.data(value, color, "the color")
    fields = Fields(ev, ev.expr(node), node, "the configuration of a color")
    routes, switches, filtering = fields.take("routes"), fields.take("switches"), fields.take("filter")
    teardown = fields.flag("teardown")
    if teardown:
        ev.session.changing_colors.add(number)
    fields.end()
    if routes is None:
        ev.fail(node, "the configuration of a color needs '.routes'; '.routes = .{}' leaves the router as it is")
    parts = Fields(ev, routes, node, "'.routes'")
    rx, tx = parts.take("rx"), parts.take("tx")
    swap = tuple(axis for axis in SWAP_PORTS if parts.flag(f"color_swap_{axis}"))
    if swap and number ^ 1 >= ev.session.target.routable_colors:
        ev.fail(node, f"color {number} swaps with color {number ^ 1}, which {ev.session.target.name} does not have")
    # Where earlier releases had them.
    early = {name: value for name in (*_POSITIONS, "ring_mode", "pop_mode") if (value := parts.take(name)) is not None}
    parts.end()
    inside = Fields(ev, switches, node, "'.switches'") if switches is not None else None
    if inside is not None and list(early) == ["pop_mode"] and "pop_mode" not in inside.members:
        ev.warn(node, "'.pop_mode' in '.routes' is deprecated; move it into '.switches'")
        inside.members |= early
        early = {}
    if early and inside is not None:
        ev.fail(node, f"'.{next(iter(early))}' is in '.routes', although there are '.switches'; move it there")
    inputs, outputs = _directions(ev, rx, node), _directions(ev, tx, node)
    members = inside
    if members is None and early:
        members = Fields(ev, routes, node, "'.switches'")
        members.members = early
    switch = None if members is None else _switch(ev, members, node)
    if switch is not None and not inputs and not outputs and not switch.positions.data:
        switch = None
    if switch is None:
        if bool(inputs) != bool(outputs):
            missing = "rx" if not inputs else "tx"
            ev.fail(node, f"the route is incomplete: '.{missing}' names no direction")
    else:
        try:
            verify_switch(inputs, outputs, switch)
            verify_switch_on(ev.session.target, switch, f"color_{number}", number)
        except VerifyException as error:
            ev.fail(node, f"this configuration of a color is not possible: {error}")
    filter, numbers = (None, {}) if filtering is None else filter_of(ev, filtering, node)
    if (filter is not None or swap) and not inputs and not outputs:
        ev.fail(node, "a color that is not routed needs no filter and no swap; give it '.rx' and '.tx' in '.routes'")
    return ColorConfig(number, inputs, outputs, switch, teardown, swap, filter), numbers


_POSITIONS = tuple(f"pos{number + 1}" for number in range(MAX_POSITIONS))


def _switch(ev: Evaluator, fields: Fields, node: syntax.Node) -> SwitchAttr:
    """Return the switch that `.switches` describes."""
    positions = [_position(ev, name, fields.take(name), node) for name in _POSITIONS]
    current = fields.number("current_switch_pos") or 0
    ring = fields.flag("ring_mode")
    pop_mode = fields.choice("pop_mode") or POP_MODES[0]
    fields.end()
    if pop_mode not in POP_MODES:
        ev.fail(node, f"there is no pop mode '.{pop_mode}'; the modes are {', '.join(POP_MODES)}")
    if not 0 <= current <= MAX_POSITIONS:
        ev.fail(node, f"'.current_switch_pos' is 0 to {MAX_POSITIONS}, not {current}")
    if current and not positions[current - 1].is_valid:
        ev.fail(node, f"'.current_switch_pos' is {current}, but there is no '.pos{current}'")
    return SwitchAttr.get(positions, current, ring=ring, pop_mode=pop_mode)


def _position(ev: Evaluator, name: str, value: Value | None, node: syntax.Node) -> Position:
    if value is None:
        return Position()
    parts = Fields(ev, value, node, f"'.{name}'")
    rx, tx = parts.take("rx"), parts.take("tx")
    invalid = parts.flag("invalid")
    parts.end()
    if invalid and (rx is not None or tx is not None):
        ev.fail(node, f"'.{name}' is '.invalid' and has directions; leave one out")
    if not invalid and rx is None and tx is None:
        ev.fail(node, f"'.{name}' changes nothing; give it '.rx' or '.tx', or '.invalid = true'")
    return Position(
        None if rx is None else _directions(ev, rx, node), None if tx is None else _directions(ev, tx, node)
    )


def _directions(ev: Evaluator, value: Value | None, node: syntax.Node) -> tuple[Direction, ...]:
    if value is None:
        return ()
    if isinstance(value.type, types.Record | types.Array):
        type = value.type
        items = list(value.data) if isinstance(type, types.Record) else [element_of(type, kept) for kept in value.data]
    else:
        items = [value]
    found: list[Direction] = []
    for item in items:
        if item.type is not types.DIRECTION:
            ev.fail(node, f"a route consists of directions such as EAST, not of '{item.type}'")
        number = int(ev.data(item, node, "a direction"))
        found.append(Direction(types.DIRECTIONS[number].lower()))
    distinct = tuple(dict.fromkeys(found))
    if len(distinct) < len(found):
        ev.warn(node, "the SDK's compiler accepts each direction of a route only once; remove the second")
    return distinct
