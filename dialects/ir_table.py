"""Table form of IR, quick to read: what operations have in common is written, and read, once.

    {"attributes": "[...]", "files": [...], "kinds": [...], "module": [...]}

`attributes` is all attributes and types as the text of one array. A kind is [name, {property: attribute}, {attribute:
attribute}, [type of each result]], where attributes and types are numbers. An operation is [kind, place, operands,
regions], its place null or [file, line, column]; a region is its blocks, a block [types of arguments, operations].
Values are numbered as they are defined: arguments of a block, then results, those of an operation after what stands
in its regions.

For IR of our own making that is read again later, many times as fast as its text. Reading checks that the table is
well formed, not that the operations are: that is for who reads tables of unknown origin.
"""

from __future__ import annotations

from functools import partial
from io import StringIO
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from ..diagnostics.errors import one_line
from ..diagnostics.locations import location_of
from .machine.elements import print_typed_dense

Table = dict[str, Any]
"""What JSON can hold."""


def _print_attribute(printer: Printer, attribute: Attribute) -> None:
    if isa(attribute, DenseIntOrFPElementsAttr):
        print_typed_dense(printer, attribute)
    else:
        printer.print_attribute(attribute)


class MalformedTable(ValueError):
    """The table was not written by `table_of`, or not by this version of it."""


def table_of(module: ModuleOp) -> Table:
    """Return the table of a module without branches between blocks; raises ValueError for one that has any."""
    return _Writer().table(module)


def module_of(ctx: Context, table: Table) -> ModuleOp:
    """Return the module of a table, each operation with its place. Raises MalformedTable."""
    try:
        module = _Reader(ctx, table).operation(table["module"])
    except MalformedTable:
        raise
    except Exception as error:
        # Whatever Python exception the code below, or xDSL's, runs into.
        raise MalformedTable(f"{type(error).__name__}: {one_line(error)}") from error
    if not isinstance(module, ModuleOp):
        raise MalformedTable(f"holds {module.name}, not a module")
    return module


class _Writer:
    def __init__(self) -> None:
        self._attributes: dict[Attribute, int] = {}
        self._files: dict[str, int] = {}
        self._kinds: dict[object, int] = {}
        self._table: list[Any] = []
        self._values: dict[SSAValue, int] = {}

    def table(self, module: ModuleOp) -> Table:
        written = self._operation(module)
        text = StringIO()
        printer = Printer(stream=text)
        with printer.in_square_brackets():
            printer.print_list(self._attributes, partial(_print_attribute, printer))
        return {"attributes": text.getvalue(), "files": list(self._files), "kinds": self._table, "module": written}

    def _attribute(self, attribute: Attribute) -> int:
        return self._attributes.setdefault(attribute, len(self._attributes))

    def _operation(self, op: Operation) -> list[Any]:
        if op.successors:
            raise ValueError(f"{op.name} branches to other blocks")
        properties = {name: self._attribute(value) for name, value in op.properties.items()}
        attributes = {name: self._attribute(value) for name, value in op.attributes.items()}
        results = [self._attribute(result.type) for result in op.results]
        key = (op.name, tuple(properties.items()), tuple(attributes.items()), tuple(results))
        kind = self._kinds.setdefault(key, len(self._kinds))
        if kind == len(self._table):
            self._table.append([op.name, properties, attributes, results])
        operands = [self._values[operand] for operand in op.operands]
        regions = [[self._block(block) for block in region.blocks] for region in op.regions]
        for result in op.results:
            self._values[result] = len(self._values)
        return [kind, self._place(op), operands, regions]

    def _block(self, block: Block) -> list[Any]:
        types = [self._attribute(argument.type) for argument in block.args]
        for argument in block.args:
            self._values[argument] = len(self._values)
        return [types, [self._operation(op) for op in block.ops]]

    def _place(self, op: Operation) -> tuple[int, int, int] | None:
        location = location_of(op)
        if location is None:
            return None
        file, line, column = location.rsplit(":", 2)
        return self._files.setdefault(file, len(self._files)), int(line), int(column)


class _Reader:
    def __init__(self, ctx: Context, table: Table) -> None:
        attributes: Attribute = Parser(ctx, table["attributes"]).parse_attribute()
        if not isa(attributes, ArrayAttr[Attribute]):
            raise MalformedTable("has no array of attributes")
        self._attributes: tuple[Attribute, ...] = attributes.data
        self._files = [StringAttr(file) for file in table["files"]]
        self._kinds: list[tuple[type[Operation], dict[str, Attribute], dict[str, Attribute], list[Attribute]]] = [
            (ctx.get_op(name), self._named(properties), self._named(more), [self._attributes[t] for t in results])
            for name, properties, more, results in table["kinds"]
        ]
        self._values: list[SSAValue] = []
        self._places: dict[tuple[int, int, int], FileLineColLoc] = {}

    def _named(self, numbers: dict[str, int]) -> dict[str, Attribute]:
        return {name: self._attributes[number] for name, number in numbers.items()}

    def operation(self, written: list[Any]) -> Operation:
        number: int
        place: tuple[int, int, int] | None
        operands: list[int]
        blocks: list[list[list[Any]]]
        number, place, operands, blocks = written
        kind, properties, attributes, results = self._kinds[number]
        uses = [self._values[operand] for operand in operands]
        regions = [Region([self._block(block) for block in region]) for region in blocks]
        op = kind.create(
            operands=uses,
            result_types=results,
            properties=dict(properties),
            attributes=dict(attributes),
            regions=regions,
        )
        self._values += op.results
        if place is not None:
            op.location = self._place(*place)
        return op

    def _block(self, written: list[Any]) -> Block:
        types: list[int]
        operations: list[list[Any]]
        types, operations = written
        block = Block(arg_types=[self._attributes[number] for number in types])
        self._values += block.args
        block.add_ops([self.operation(op) for op in operations])
        return block

    def _place(self, file: int, line: int, column: int) -> FileLineColLoc:
        key = file, line, column
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = FileLineColLoc(self._files[file], IntAttr(line), IntAttr(column))
        return found
