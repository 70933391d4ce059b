"""The layout file of a program: rectangle, code and parameters of each PE, routes, exports."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...csl import syntax
from ...csl.source import Source
from ...csl.syntax import Declaration, Expression, Statement
from ...diagnostics.records import record
from ...dialects import wse
from ...dialects.machine.region_overlap import first_common
from ...dialects.machine.switches import POP_MODES
from ...operations.bit_patterns import are_all_same
from ...targets.memcpy import MAX_STREAMS
from . import tree
from .names import Names
from .pe_program import Export, PeFile, idle_program, numbers_of
from .regions import Rectangle, X, Y, covers, inside, meet, over, resolved
from .tree import NOWHERE
from .types import literal_of, refuse, scalar_type

IDLE_FILE = "idle.csl"


@record
class PrintedPe:
    """A PE program, its file, and the parameters that the file needs from the layout."""

    pe: wse.PeOp
    file_name: str
    printed: PeFile


class Layout:
    """Writes the layout; `spare` are ids of colors that the program leaves free."""

    def __init__(
        self, program: wse.ProgramOp, pes: Sequence[PrintedPe], colors: Mapping[str, int], spare: Sequence[int]
    ) -> None:
        self.program = program
        self.size = program.rectangle
        self.pes = list(pes)
        self._color_ids = colors
        self._spare = list(spare)
        self._names = Names()
        self._names.reserve([X, Y, "memcpy"])
        self._colors = {symbol: self._names.new(symbol) for symbol in colors}
        self._unused: dict[str, tuple[str, int]] = {}
        self._tables: list[Declaration] = []
        self._table_names: dict[Hashable, str] = {}
        self._idle: PeFile | None = None
        self._exports = self._collect_exports()

    def answer_every_launch(self) -> None:
        """Let every PE answer every launch: one without the function unblocks the command stream at once."""
        functions = self._functions()
        for pe in self.pes:
            pe.printed.answer({name: export for name, export in functions.items() if name not in pe.printed.exports})

    def fill(self) -> None:
        """Give the PEs without a program one that only answers launches: every PE needs code."""
        if not self._covered():
            self._idle = idle_program(self._functions())

    def _functions(self) -> dict[str, Export]:
        return {name: export for name, export in self._exports.items() if export.mutable is None}

    def file(self) -> syntax.File:
        """Return the tree of the file."""
        width, height = (tree.integer(side) for side in self.size)
        statements: list[Statement] = [tree.builtin("set_rectangle", width, height)]
        for pe in self.pes:
            statements.extend(self._tile_code(pe))
        if self._idle is not None:
            statements.extend(self._idle_tiles())
        for op in self.program.body.block.ops:
            if isinstance(op, wse.RouteOp):
                statements.extend(self._route(op))
            elif isinstance(op, wse.MessageNetworkOp):
                raise refuse(op, f"{op.name} cannot be written in CSL yet; send over routes")
        for name, export in self._exports.items():
            arguments: list[Expression] = [tree.string(name), export.type]
            if export.mutable is not None:
                arguments.append(tree.name("true" if export.mutable else "false"))
            statements.append(tree.builtin("export_name", *arguments))
        declarations: list[Declaration] = [
            _color(name, self._color_ids[symbol]) for symbol, name in self._colors.items()
        ]
        declarations.extend(_color(name, number) for name, number in self._unused.values())
        options: dict[str, Expression] = {"width": width, "height": height, **self._streams()}
        module = tree.builtin("import_module", tree.string("<memcpy/get_params>"), tree.structure(options))
        declarations.append(tree.declare("const", "memcpy", None, module))
        declarations.extend(self._tables)
        declarations.append(syntax.Layout(NOWHERE, NOWHERE, tree.block(statements)))
        return syntax.File(NOWHERE, NOWHERE, declarations, Source("", ""))

    def idle_file(self) -> syntax.File | None:
        """Return the file of the program that only answers launches."""
        return None if self._idle is None else self._idle.file()

    def _streams(self) -> dict[str, Expression]:
        """Return the colors on which the memcpy library streams: up to four to the PEs, and four from them."""
        fields: dict[str, Expression] = {}
        counts = {"in": 0, "out": 0}
        for op in self.program.body.block.ops:
            if not isinstance(op, wse.HostStreamOp):
                continue
            way = op.way.data
            counts[way] += 1
            if counts[way] > MAX_STREAMS:
                message = f"the memcpy library has {MAX_STREAMS} streams each way; let two of them share a color"
                raise refuse(
                    op, f"color @{op.color.string_value()} is stream {counts[way]} that goes {way}, and {message}"
                )
            name = f"MEMCPY{'H2D' if way == 'in' else 'D2H'}_{counts[way]}"
            fields[name] = tree.name(self._colors[op.color.string_value()])
        return fields

    def _collect_exports(self) -> dict[str, Export]:
        exports: dict[str, Export] = {}
        for pe in self.pes:
            for name, export in pe.printed.exports.items():
                first = exports.setdefault(name, export)
                if (first.text, first.mutable) != (export.text, export.mutable):
                    raise refuse(
                        export.op,
                        f'"{name}" is exported as {_described(first)} elsewhere and as {_described(export)} here; a '
                        "layout of CSL gives a name one type, so use one type or two names",
                    )
        return exports

    # Placement

    def _tile_code(self, pe: PrintedPe) -> list[Statement]:
        def body(x: Expression, y: Expression, region: Rectangle) -> list[Statement]:
            fields: dict[str, Expression] = {"memcpy_params": tree.call(tree.member("memcpy", "get_params"), x)}
            printed = pe.printed
            for name, axis in printed.extent_params.items():
                fields[name] = tree.integer(self.size[0 if axis is wse.Axis.X else 1])
            for name, param in printed.value_params.items():
                fields[name] = self._param(pe, name, param, x, y)
            for name, color in printed.color_params.items():
                if isinstance(color, str):
                    fields[name] = tree.name(self._colors[color])
                else:
                    fields[name] = self._queue_color(color, x, y, region)
            return [tree.builtin("set_tile_code", x, y, tree.string(pe.file_name), tree.structure(fields))]

        return over(resolved(pe.pe.placement, self.size), body)

    def _param(self, pe: PrintedPe, name: str, op: wse.ParamOp, x: Expression, y: Expression) -> Expression:
        type = scalar_type(op.type)
        assert type is not None, "verified: params are scalars"
        values = numbers_of(op.value)
        if len(values) == 1:
            return literal_of(type, values[0])
        width, height = self.size
        table = np.array(values).reshape(height, width)
        if type[0] in "iu" and (formula := _linear(table, type, x, y)) is not None:
            return formula
        if are_all_same(table):
            return self._element(op, f"{pe.pe.sym_name.data}_{name}", type, values[:width], (width,), [x])
        if are_all_same(table.T):
            return self._element(op, f"{pe.pe.sym_name.data}_{name}", type, values[::width], (height,), [y])
        return self._element(op, f"{pe.pe.sym_name.data}_{name}", type, values, (height, width), [y, x])

    def _element(
        self,
        key: Hashable,
        name: str,
        type: str,
        values: Sequence[int | float],
        shape: tuple[int, ...],
        indices: Sequence[Expression],
    ) -> Expression:
        """Return the element of a table of the values for the PE."""
        if key not in self._table_names:
            self._table_names[key] = self._names.new(name)
            elements = [literal_of(type, value) for value in values]
            array = tree.sequence(elements, tree.array_type(shape, tree.name(type)))
            self._tables.append(tree.declare("const", self._table_names[key], None, array))
        return tree.index(tree.name(self._table_names[key]), indices)

    def _queue_color(self, queue: wse.QueueOp, x: Expression, y: Expression, region: Rectangle) -> Expression:
        """Return the color that a queue serves on the PE (x, y) of a region."""
        candidates: list[tuple[str, list[Rectangle]]] = []
        served = 0
        for entry in queue.colors:
            regions = [other for other in resolved(entry.regions, self.size) if meet(other, region)]
            if regions:
                candidates.append((self._colors[entry.color_name], regions))
                served += sum(_shared(other, region) for other in regions)
        complete = served >= len(region[0]) * len(region[1])
        chosen: Expression = tree.name(candidates.pop()[0] if complete and candidates else self._unused_color(queue))
        for name, regions in reversed(candidates):
            if any(covers(other, region) for other in regions):
                chosen = tree.name(name)
                continue
            tests = [inside(other, x, y, region) for other in regions]
            chosen = tree.choice(tree.disjunction(tests) or tree.name("true"), tree.name(name), chosen)
        return chosen

    def _unused_color(self, queue: wse.QueueOp) -> str:
        """Return a color for a queue on the PEs where it serves none."""
        key = queue.sym_name.data
        if key not in self._unused:
            if self._spare:
                self._unused[key] = (self._names.new(f"unused_{key}"), self._spare.pop())
            elif self._unused:
                self._unused[key] = next(reversed(self._unused.values()))
            else:
                raise refuse(
                    queue,
                    f"queue @{key} serves no color on some PEs, and the program leaves no color free to name there; "
                    "place a program without the queue on them",
                )
        return self._unused[key][0]

    def _covered(self) -> bool:
        width, height = self.size
        covered = np.zeros((height, width), bool)
        for pe in self.pes:
            for columns, rows in resolved(pe.pe.placement, self.size):
                covered[rows.start : rows.stop : rows.step, columns.start : columns.stop : columns.step] = True
        return bool(covered.all())

    def _idle_tiles(self) -> list[Statement]:
        whole = (range(self.size[0]), range(self.size[1]))
        regions = [region for pe in self.pes for region in resolved(pe.pe.placement, self.size)]

        def body(x: Expression, y: Expression, region: Rectangle) -> list[Statement]:
            tests = [tree.unary("!", inside(other, x, y, region)) for other in regions]
            fields = {"memcpy_params": tree.call(tree.member("memcpy", "get_params"), x)}
            code = tree.builtin("set_tile_code", x, y, tree.string(IDLE_FILE), tree.structure(fields))
            test = tree.conjunction(tests)
            return [code] if test is None else [tree.branch(test, [code], [])]

        return over([whole], body)

    def _route(self, op: wse.RouteOp) -> list[Statement]:
        def ports(directions: Sequence[wse.Direction]) -> Expression:
            return tree.sequence(tree.name(port.name) for port in directions)

        routes: dict[str, Expression] = {"rx": ports(op.input_ports), "tx": ports(op.output_ports)}
        for axis in () if op.swap is None else op.swap:
            routes[f"color_swap_{axis.data}"] = tree.name("true")
        config: dict[str, Expression] = {"routes": tree.structure(routes)}
        if op.switch is not None:
            config["switches"] = _switches(op.switch)
        if op.teardown is not None:
            config["teardown"] = tree.name("true")

        def body(x: Expression, y: Expression, region: Rectangle) -> list[Statement]:
            color = tree.name(self._colors[op.color.string_value()])
            if op.filter is not None:
                config["filter"] = self._filter(op, op.filter, x, y)
            return [tree.builtin("set_color_config", x, y, color, tree.structure(config))]

        return over(resolved(op.placement, self.size), body)

    def _filter(self, op: wse.RouteOp, filter: wse.FilterAttr, x: Expression, y: Expression) -> Expression:
        """Return the fields of `.filter` of a PE; its id is what the compiler makes it."""
        fields: dict[str, Expression] = {"kind": tree.structure({filter.kind.data: tree.name("true")})}
        width, height = self.size
        for name, values in filter.values().items():
            if name == "id":
                continue
            if len(values) == 1:
                fields[name] = tree.integer(values[0])
                continue
            table = np.zeros((height, width), np.int64)
            table[self._places(op)] = values
            label = f"{op.color.string_value()}_{name}"
            elements = table.reshape(-1).tolist()
            fields[name] = self._element((op, name), label, "u16", elements, (height, width), [y, x])
        for flag in filter.flags:
            fields[flag.data] = tree.name("true")
        return tree.structure(fields)

    def _places(self, op: wse.RouteOp) -> NDArray[np.bool_]:
        """Return the PEs of a route, [height, width]."""
        width, height = self.size
        found = np.zeros((height, width), np.bool_)
        for columns, rows in resolved(op.placement, self.size):
            found[rows.start : rows.stop : rows.step, columns.start : columns.stop : columns.step] = True
        return found


def _switches(switch: wse.SwitchAttr) -> Expression:
    """Return the fields of `.switches`."""

    def ports(names: Sequence[str]) -> Expression:
        found = [tree.name(name.upper()) for name in names]
        return found[0] if len(found) == 1 else tree.sequence(found)

    fields: dict[str, Expression] = {}
    for number, attribute in enumerate(switch.positions):
        position = attribute.position
        if not position.is_valid:
            continue
        ways = {"rx": position.receive, "tx": position.transmit}
        fields[f"pos{number + 1}"] = tree.structure(
            {way: ports(names) for way, names in ways.items() if names is not None}
        )
    if switch.current.data:
        fields["current_switch_pos"] = tree.integer(switch.current.data)
    if switch.is_ring:
        fields["ring_mode"] = tree.name("true")
    if switch.pop_mode.data != POP_MODES[0]:
        fields["pop_mode"] = tree.structure({switch.pop_mode.data: tree.name("true")})
    return tree.structure(fields)


def _color(name: str, number: int) -> syntax.Variable:
    return tree.declare("const", name, tree.name("color"), tree.builtin("get_color", tree.integer(number)))


def _linear(table: NDArray[Any], type: str, x: Expression, y: Expression) -> Expression | None:
    """Return the numbers of a table [height, width] as `a * x + b * y + c`; None if they are not affine."""
    height, width = table.shape
    first = int(table[0, 0])
    across = int(table[0, 1]) - first if width > 1 else 0
    down = int(table[1, 0]) - first if height > 1 else 0
    rows, columns = np.indices(table.shape)
    if not (table == first + across * columns + down * rows).all():
        return None
    terms: list[tuple[int, Expression]] = []
    for factor, coordinate in ((across, x), (down, y)):
        if factor == 0:
            continue
        term = coordinate if type == "i16" else tree.builtin("as", tree.name(type), coordinate)
        if abs(factor) != 1:
            term = tree.binary("*", tree.integer(abs(factor)), term)
        terms.append((factor, term))
    if not terms:
        return tree.integer(first)
    (factor, term), *others = terms
    formula = tree.unary("-", term) if factor < 0 else term
    for factor, term in others:
        formula = tree.binary("-" if factor < 0 else "+", formula, term)
    if first == 0:
        return formula
    return tree.binary("-" if first < 0 else "+", formula, tree.integer(abs(first)))


def _described(export: Export) -> str:
    return export.text if export.mutable is not False else f"{export.text}, read_only,"


def _shared(one: Rectangle, other: Rectangle) -> int:
    """Count the PEs that two intersecting regions share."""
    count = 1
    for a, b in zip(one, other, strict=True):
        first = first_common(a, b)
        assert first is not None
        count *= len(range(first, min(a[-1], b[-1]) + 1, lcm(a.step, b.step)))
    return count
