"""The `flow` dialect: what the runtime executes.

A `flow.fabric` is a grid of units joined by routes. Units that run the same program are one `flow.units` with a
region of coordinates, a word-addressed memory, queues and tasks; what differs from unit to unit is data
(`flow.coordinate`, `flow.get_param`). Task bodies are `arith`, `math` and `scf` on scalars, loads and stores, and
`flow.apply`: one table operation repeated over streams, which are strided walks over memory or runs of wavelets
of a queue. Everything that has a number on the machine (address, color, queue, task, microthread) has it here.

The dialect knows nothing of CSL, of descriptors or of how the runtime stores memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i16,
    i64,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, ParametrizedAttribute, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .dsd_table import OPERATIONS, DsdOperation
from .region import RegionAttr, parse_region_list, print_region

DYNAMIC = -(1 << 63)
"""Marks an integer field whose value is the next SSA operand of its group."""

DIRECTIONS = ("ramp", "north", "east", "south", "west")
"""Router ports; `ramp` leads to the unit's own queues. y grows south, x grows east."""

ELEMENTS = "elements of type f16, bf16, f32, i16 or i32"
"""What memory holds, for error messages."""

Scalar = IntegerType | AnyFloat | IndexType


@irdl_attr_definition
class StreamType(ParametrizedAttribute, TypeAttribute):
    """A finite sequence of scalars: a strided walk over memory or a run of wavelets of a queue."""

    name: ClassVar[str] = "flow.stream"  # pyright: ignore[reportIncompatibleVariableOverride]
    element_type: Attribute


class _Integers:
    """Parses and prints lists of integers, each a literal or an SSA value of type i16."""

    @staticmethod
    def parse_one(parser: Parser, operands: list[UnresolvedOperand]) -> int:
        operand = parser.parse_optional_unresolved_operand()
        if operand is None:
            return parser.parse_integer(allow_boolean=False)
        operands.append(operand)
        return DYNAMIC

    @staticmethod
    def parse_list(parser: Parser, operands: list[UnresolvedOperand]) -> list[int]:
        return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _Integers.parse_one(parser, operands))

    @staticmethod
    def print(printer: Printer, values: Sequence[int], operands: Sequence[SSAValue]) -> None:
        dynamic = iter(operands)
        for position, value in enumerate(values):
            if position:
                printer.print_string(", ")
            if value == DYNAMIC:
                printer.print_operand(next(dynamic))
            else:
                printer.print_string(str(value))


def _print_body(printer: Printer, body: Region, *, entry_args: bool = False) -> None:
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=entry_args, print_empty_block=False)


def _symbol(parser: Parser) -> SymbolRefAttr:
    return SymbolRefAttr(parser.parse_symbol_name())


@irdl_op_definition
class FabricOp(IRDLOperation):
    """A grid of units, `width` columns by `height` rows, and the routes between them."""

    name = "flow.fabric"
    sym_name = prop_def(SymbolNameConstraint())
    target = prop_def(StringAttr)
    width = prop_def(IntegerAttr)
    height = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), SymbolTable(), NoTerminator(), IsolatedFromAbove())

    def __init__(self, name: str, target: str, width: int, height: int, body: Region | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "target": StringAttr(target),
                "width": IntegerAttr(width, i64),
                "height": IntegerAttr(height, i64),
            },
            regions=[body or Region(Block())],
        )

    @classmethod
    def parse(cls, parser: Parser) -> FabricOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("target")
        target = parser.parse_str_literal()
        parser.parse_keyword("grid")
        width = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("by")
        height = parser.parse_integer(allow_boolean=False)
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return cls(name, target, width, height, body)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f' target "{self.target.data}" grid ')
        printer.print_string(f"{self.width.value.data} by {self.height.value.data}")
        _print_body(printer, self.body)

    def verify_(self) -> None:
        if self.width.value.data < 1 or self.height.value.data < 1:
            raise VerifyException("the grid of a flow.fabric needs at least one column and one row")


@irdl_op_definition
class ColorOp(IRDLOperation):
    """Names a routable color."""

    name = "flow.color"
    sym_name = prop_def(SymbolNameConstraint())
    color = prop_def(IntegerAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, color: int):
        super().__init__(properties={"sym_name": StringAttr(name), "color": IntegerAttr(color, i64)})

    @classmethod
    def parse(cls, parser: Parser) -> ColorOp:
        name = parser.parse_symbol_name().data
        parser.parse_punctuation("=")
        return cls(name, parser.parse_integer(allow_boolean=False))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" = {self.color.value.data}")


@irdl_op_definition
class RouteOp(IRDLOperation):
    """Sets the router of every unit of a region for one color: wavelets from any port of `from` leave by every
    port of `to`."""

    name = "flow.route"
    color = prop_def(SymbolRefAttr)
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    receive = prop_def(ArrayAttr[StringAttr])
    transmit = prop_def(ArrayAttr[StringAttr])

    def __init__(
        self,
        color: str | SymbolRefAttr,
        regions: Sequence[RegionAttr],
        receive: Sequence[str],
        transmit: Sequence[str],
    ):
        super().__init__(
            properties={
                "color": SymbolRefAttr(color) if isinstance(color, str) else color,
                "regions": ArrayAttr(regions),
                "receive": ArrayAttr([StringAttr(port) for port in receive]),
                "transmit": ArrayAttr([StringAttr(port) for port in transmit]),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> RouteOp:
        color = _symbol(parser)
        parser.parse_keyword("on")
        regions = parse_region_list(parser)

        def ports(keyword: str) -> list[str]:
            parser.parse_keyword(keyword)
            return parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_keyword_in(DIRECTIONS)
            )

        return cls(color, regions.data, ports("from"), ports("to"))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(" on ")
        _print_regions(printer, self.regions_attr.data)
        for keyword, ports in (("from", self.receive), ("to", self.transmit)):
            printer.print_string(f" {keyword} [{', '.join(port.data for port in ports)}]")

    def verify_(self) -> None:
        for port in (*self.receive, *self.transmit):
            if port.data not in DIRECTIONS:
                raise VerifyException(f"'{port.data}' is no router port; the ports are {', '.join(DIRECTIONS)}")


def _print_regions(printer: Printer, regions: Sequence[RegionAttr]) -> None:
    for position, region in enumerate(regions):
        if position:
            printer.print_string(" + ")
        print_region(printer, region)


@irdl_op_definition
class UnitsOp(IRDLOperation):
    """A class of units that run one program: where they stand and how many 16-bit words of memory they use."""

    name = "flow.units"
    sym_name = prop_def(SymbolNameConstraint())
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    words = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), SymbolTable(), NoTerminator(), IsolatedFromAbove())

    def __init__(self, name: str, regions: Sequence[RegionAttr], words: int, body: Region | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "regions": ArrayAttr(regions),
                "words": IntegerAttr(words, i64),
            },
            regions=[body or Region(Block())],
        )

    @classmethod
    def parse(cls, parser: Parser) -> UnitsOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        regions = parse_region_list(parser)
        parser.parse_keyword("words")
        words = parser.parse_integer(allow_boolean=False)
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return cls(name, regions.data, words, body)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        _print_regions(printer, self.regions_attr.data)
        printer.print_string(f" words {self.words.value.data}")
        _print_body(printer, self.body)


@irdl_op_definition
class BufferOp(IRDLOperation):
    """An array in unit memory at a word address (16-bit words); 32-bit elements need an even address."""

    name = "flow.buffer"
    sym_name = prop_def(SymbolNameConstraint())
    address = prop_def(IntegerAttr)
    type = prop_def(MemRefType)
    initial = opt_prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        address: int,
        type: MemRefType[Attribute],
        initial: DenseIntOrFPElementsAttr | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "address": IntegerAttr(address, i64),
                "type": type,
                "initial": initial,
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("at")
        address = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isa(type, MemRefType[Attribute]):
            parser.raise_error("a flow.buffer has a memref type")
        initial = None
        if parser.parse_optional_punctuation("=") is not None:
            parser.parse_keyword("dense")
            if not isa(type, MemRefType[Scalar]):
                parser.raise_error(f"memory holds {ELEMENTS}, not {type.element_type}")
            initial = parser.parse_dense_int_or_fp_elements_attr(TensorType(type.element_type, type.get_shape()))
        return cls(name, address, type, initial)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" at {self.address.value.data} : ")
        printer.print_attribute(self.type)
        if self.initial is not None:
            printer.print_string(" = ")
            self.initial.print_without_type(printer)

    def verify_(self) -> None:
        width = element_words(self.type.element_type)
        if width == 2 and self.address.value.data % 2:
            raise VerifyException(
                f"buffer @{self.sym_name.data} holds 32-bit elements at odd word address "
                f"{self.address.value.data}; align it to 2 words"
            )


def element_words(type: Attribute) -> int:
    """16-bit words an element of `type` takes in memory; raises VerifyException for other types."""
    width = getattr(type, "bitwidth", None)
    if width not in (8, 16, 32):
        raise VerifyException(f"memory holds {ELEMENTS}, not {type}")
    return 2 if width == 32 else 1


@irdl_op_definition
class ParamOp(IRDLOperation):
    """A read-only scalar of every unit: one value for all, or one per unit of the grid, row-major [y][x]."""

    name = "flow.param"
    sym_name = prop_def(SymbolNameConstraint())
    values = prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, values: DenseIntOrFPElementsAttr):
        super().__init__(properties={"sym_name": StringAttr(name), "values": values})

    assembly_format = "$sym_name `=` $values attr-dict"


@irdl_op_definition
class ExportOp(IRDLOperation):
    """Shows a buffer or function to the host under a name; `unsigned` makes the host see unsigned integers."""

    name = "flow.export"
    symbol = prop_def(SymbolRefAttr)
    visible_name = prop_def(StringAttr)
    unsigned = opt_prop_def(UnitAttr)
    read_only = opt_prop_def(UnitAttr)

    def __init__(self, symbol: str, visible_name: str, *, unsigned: bool = False, read_only: bool = False):
        super().__init__(
            properties={
                "symbol": SymbolRefAttr(symbol),
                "visible_name": StringAttr(visible_name),
                "unsigned": UnitAttr() if unsigned else None,
                "read_only": UnitAttr() if read_only else None,
            }
        )

    assembly_format = "$symbol `as` $visible_name (`unsigned` $unsigned^)? (`read_only` $read_only^)? attr-dict"


@irdl_op_definition
class QueueOp(IRDLOperation):
    """A hardware queue of the unit, `input` or `output`, with the color it serves; where the color differs from
    unit to unit, each color comes with the regions of the grid on which it holds."""

    name = "flow.queue"
    sym_name = prop_def(SymbolNameConstraint())
    direction = prop_def(StringAttr)
    queue_id = prop_def(IntegerAttr)
    colors = prop_def(ArrayAttr[SymbolRefAttr])
    color_regions = prop_def(ArrayAttr[ArrayAttr[RegionAttr]])
    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        direction: str,
        queue_id: int,
        colors: Sequence[SymbolRefAttr],
        color_regions: Sequence[ArrayAttr[RegionAttr]],
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "direction": StringAttr(direction),
                "queue_id": IntegerAttr(queue_id, i64),
                "colors": ArrayAttr(colors),
                "color_regions": ArrayAttr(color_regions),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> QueueOp:
        direction = parser.parse_keyword_in(("input", "output"))
        name = parser.parse_symbol_name().data
        parser.parse_keyword("id")
        queue_id = parser.parse_integer(allow_boolean=False)
        colors: list[SymbolRefAttr] = []
        color_regions: list[ArrayAttr[RegionAttr]] = []

        def color() -> None:
            colors.append(_symbol(parser))
            parser.parse_keyword("on")
            color_regions.append(parse_region_list(parser))

        parser.parse_keyword("colors")
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, color)
        return cls(name, direction, queue_id, colors, color_regions)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.direction.data} ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" id {self.queue_id.value.data} colors [")
        for position, (color, regions) in enumerate(zip(self.colors, self.color_regions, strict=True)):
            if position:
                printer.print_string(", ")
            printer.print_attribute(color)
            printer.print_string(" on ")
            _print_regions(printer, regions.data)
        printer.print_string("]")

    def verify_(self) -> None:
        if self.direction.data not in ("input", "output"):
            raise VerifyException("a queue is 'input' or 'output'")
        if len(self.colors) != len(self.color_regions):
            raise VerifyException("every color of a queue needs its regions")


class _CallableOp(IRDLOperation):
    """Shared by tasks and functions: a symbol, a signature and a body with the parameters as block arguments."""

    @staticmethod
    def parse_signature(parser: Parser) -> tuple[list[Parser.Argument], list[Attribute]]:
        arguments = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument) or []
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            results = list(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))
        return arguments, results

    @staticmethod
    def print_signature(printer: Printer, body: Region, results: Sequence[Attribute] = ()) -> None:
        block = body.block
        if block.args:
            printer.print_string("(")
            for position, argument in enumerate(block.args):
                if position:
                    printer.print_string(", ")
                printer.print_block_argument(argument)
            printer.print_string(")")
        if results:
            printer.print_string(" -> (")
            printer.print_list(results, printer.print_attribute)
            printer.print_string(")")


@irdl_op_definition
class FuncOp(_CallableOp):
    """A function of the unit. Functions do not recurse. An exported one without results can be launched."""

    name = "flow.func"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(self, name: str, body: Region, results: Sequence[Attribute] = ()):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(list(body.block.arg_types), results),
            },
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        arguments, results = cls.parse_signature(parser)
        return cls(name, parser.parse_region(arguments), results)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        self.print_signature(printer, self.body, self.function_type.outputs.data)
        _print_body(printer, self.body)


TASK_KINDS = ("local", "data", "control")


@irdl_op_definition
class TaskOp(_CallableOp):
    """A task: `local` (run by activation), `data` (run by each wavelet of an input queue, whose payload is its
    arguments: one of 16 or 32 bits, or two halves, low half first) or `control` (run by control wavelets)."""

    name = "flow.task"
    sym_name = prop_def(SymbolNameConstraint())
    kind = prop_def(StringAttr)
    task_id = prop_def(IntegerAttr)
    queue = opt_prop_def(SymbolRefAttr)
    active = opt_prop_def(UnitAttr)
    blocked = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(
        self,
        name: str,
        kind: str,
        task_id: int,
        body: Region,
        *,
        queue: str | None = None,
        active: bool = False,
        blocked: bool = False,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "kind": StringAttr(kind),
                "task_id": IntegerAttr(task_id, i64),
                "queue": None if queue is None else SymbolRefAttr(queue),
                "active": UnitAttr() if active else None,
                "blocked": UnitAttr() if blocked else None,
            },
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> TaskOp:
        kind = parser.parse_keyword_in(TASK_KINDS)
        name = parser.parse_symbol_name().data
        parser.parse_keyword("id")
        task_id = parser.parse_integer(allow_boolean=False)
        queue = _symbol(parser).root_reference.data if parser.parse_optional_keyword("on") else None
        active = parser.parse_optional_keyword("active") is not None
        blocked = parser.parse_optional_keyword("blocked") is not None
        arguments, _ = cls.parse_signature(parser)
        body = parser.parse_region(arguments)
        return cls(name, kind, task_id, body, queue=queue, active=active, blocked=blocked)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" id {self.task_id.value.data}")
        if self.queue is not None:
            printer.print_string(" on ")
            printer.print_attribute(self.queue)
        if self.active is not None:
            printer.print_string(" active")
        if self.blocked is not None:
            printer.print_string(" blocked")
        if self.body.block.args:
            printer.print_string(" ")
        self.print_signature(printer, self.body)
        _print_body(printer, self.body)

    def verify_(self) -> None:
        arguments = len(self.body.block.args)
        if self.kind.data == "local" and (arguments or self.queue is not None):
            raise VerifyException(f"local task @{self.sym_name.data} takes no arguments and no queue")
        if self.kind.data == "data" and (arguments not in (1, 2) or self.queue is None):
            raise VerifyException(f"data task @{self.sym_name.data} takes one or two arguments from an input queue")


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a task or function."""

    name = "flow.return"
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue] = ()):
        super().__init__(operands=[values])


@irdl_op_definition
class CallOp(IRDLOperation):
    """Calls a function of the same unit."""

    name = "flow.call"
    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    results_ = var_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $results_)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue], results: Sequence[Attribute]):
        super().__init__(operands=[arguments], properties={"callee": SymbolRefAttr(callee)}, result_types=[results])


class _AxisOp(IRDLOperation):
    """Shared by what gives a number for `x` or `y`; the result is i16 unless the type says otherwise."""

    axis = prop_def(StringAttr)
    result = result_def(Scalar)
    traits = traits_def(Pure())

    def __init__(self, axis: str, type: Attribute = i16):
        super().__init__(properties={"axis": StringAttr(axis)}, result_types=[type])

    @classmethod
    def parse(cls, parser: Parser):
        axis = parser.parse_keyword_in(("x", "y"))
        parser.parse_punctuation(":")
        return cls(axis, parser.parse_type())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis.data} : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class CoordinateOp(_AxisOp):
    """The unit's own column (`x`) or row (`y`) in the grid."""

    name = "flow.coordinate"


@irdl_op_definition
class ExtentOp(_AxisOp):
    """The number of columns (`x`) or rows (`y`) of the grid."""

    name = "flow.extent"


@irdl_op_definition
class GetParamOp(IRDLOperation):
    """Reads a parameter of the unit."""

    name = "flow.get_param"
    param = prop_def(SymbolRefAttr)
    result = result_def(Scalar)
    traits = traits_def(Pure())
    assembly_format = "$param `:` type($result) attr-dict"

    def __init__(self, param: str, type: Attribute):
        super().__init__(properties={"param": SymbolRefAttr(param)}, result_types=[type])


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Loads one element of a buffer. An index outside the buffer ends the run with an error."""

    name = "flow.load"
    buffer = prop_def(SymbolRefAttr)
    indices = var_operand_def(IndexType)
    result = result_def(Scalar)
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$buffer `[` $indices `]` attr-dict `:` type($result)"

    def __init__(self, buffer: str, indices: Sequence[SSAValue], type: Attribute):
        super().__init__(operands=[indices], properties={"buffer": SymbolRefAttr(buffer)}, result_types=[type])


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Stores one element of a buffer. An index outside the buffer ends the run with an error."""

    name = "flow.store"
    value = operand_def(Scalar)
    buffer = prop_def(SymbolRefAttr)
    indices = var_operand_def(IndexType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `,` $buffer `[` $indices `]` attr-dict `:` type($value)"

    def __init__(self, value: SSAValue, buffer: str, indices: Sequence[SSAValue]):
        super().__init__(operands=[value, indices], properties={"buffer": SymbolRefAttr(buffer)})


class _TaskControlOp(IRDLOperation):
    """Shared by what changes the state of the task `symbol`, or of the data task of the input queue `symbol`."""

    symbol = prop_def(SymbolRefAttr)
    assembly_format = "$symbol attr-dict"

    def __init__(self, symbol: str):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)})


@irdl_op_definition
class ActivateOp(_TaskControlOp):
    """Makes a local task active; it runs once it is unblocked and the unit is free."""

    name = "flow.activate"


@irdl_op_definition
class BlockOp(_TaskControlOp):
    """Keeps a task, or the data task of a queue, from running until it is unblocked."""

    name = "flow.block"


@irdl_op_definition
class UnblockOp(_TaskControlOp):
    """Allows a blocked task, or the data task of a queue, to run."""

    name = "flow.unblock"


@irdl_op_definition
class StreamOp(IRDLOperation):
    """A walk over a buffer of up to four dimensions.

    `extents` counts outermost first, `strides` innermost first; a stride is the address change, in elements, when
    its dimension advances, faster dimensions being wound back to their start (DSD-061, DSD-062). `at` is the
    first element. Literals and i16 values mix freely.
    """

    name = "flow.stream"
    buffer = prop_def(SymbolRefAttr)
    static_offset = prop_def(IntegerAttr)
    static_strides = prop_def(DenseArrayBase.constr(i64))
    static_extents = prop_def(DenseArrayBase.constr(i64))
    offset = opt_operand_def(IntegerType(16))
    strides = var_operand_def(IntegerType(16))
    extents = var_operand_def(IntegerType(16))
    result = result_def(StreamType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        buffer: str,
        offset: int | SSAValue,
        strides: Sequence[int | SSAValue],
        extents: Sequence[int | SSAValue],
        type: Attribute,
    ):
        super().__init__(
            operands=[
                [offset] if isinstance(offset, SSAValue) else [],
                [stride for stride in strides if isinstance(stride, SSAValue)],
                [extent for extent in extents if isinstance(extent, SSAValue)],
            ],
            properties={
                "buffer": SymbolRefAttr(buffer),
                "static_offset": IntegerAttr(_static(offset), i64),
                "static_strides": DenseArrayBase.from_list(i64, [_static(stride) for stride in strides]),
                "static_extents": DenseArrayBase.from_list(i64, [_static(extent) for extent in extents]),
            },
            result_types=[StreamType(type)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> StreamOp:
        buffer = _symbol(parser).root_reference.data
        groups: list[list[UnresolvedOperand]] = [[], [], []]
        parser.parse_keyword("at")
        offset = _Integers.parse_one(parser, groups[0])
        parser.parse_keyword("strides")
        strides = _Integers.parse_list(parser, groups[1])
        parser.parse_keyword("extents")
        extents = _Integers.parse_list(parser, groups[2])
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isinstance(type, StreamType):
            parser.raise_error("flow.stream makes a value of type !flow.stream")
        values = [iter(parser.resolve_operands(group, [i16] * len(group), parser.pos)) for group in groups]

        def mixed(numbers: Sequence[int], group: int) -> list[int | SSAValue]:
            return [next(values[group]) if number == DYNAMIC else number for number in numbers]

        return cls(buffer, mixed([offset], 0)[0], mixed(strides, 1), mixed(extents, 2), type.element_type)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.buffer)
        printer.print_string(" at ")
        _Integers.print(printer, [self.static_offset.value.data], [self.offset] if self.offset else [])
        printer.print_string(" strides [")
        _Integers.print(printer, _ints(self.static_strides), self.strides)
        printer.print_string("] extents [")
        _Integers.print(printer, _ints(self.static_extents), self.extents)
        printer.print_string("] : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        strides, extents = _ints(self.static_strides), _ints(self.static_extents)
        if len(strides) != len(extents) or not 1 <= len(extents) <= 4:
            raise VerifyException("a stream has one to four dimensions, with as many strides as extents")
        if any(extent != DYNAMIC and not 0 <= extent <= 0xFFFF for extent in extents):
            raise VerifyException("the extents of a stream lie between 0 and 65535")


def _static(value: int | SSAValue) -> int:
    return DYNAMIC if isinstance(value, SSAValue) else value


def _ints(attribute: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    return tuple(attribute.get_values())


@irdl_op_definition
class QueueStreamOp(IRDLOperation):
    """A run of `extent` wavelets of a queue; `control` makes those sent control wavelets."""

    name = "flow.queue_stream"
    queue = prop_def(SymbolRefAttr)
    static_extent = prop_def(IntegerAttr)
    control = opt_prop_def(UnitAttr)
    extent = opt_operand_def(IntegerType(16))
    result = result_def(StreamType)
    traits = traits_def(Pure())

    def __init__(self, queue: str, extent: int | SSAValue, type: Attribute, *, control: bool = False):
        super().__init__(
            operands=[[extent] if isinstance(extent, SSAValue) else []],
            properties={
                "queue": SymbolRefAttr(queue),
                "static_extent": IntegerAttr(_static(extent), i64),
                "control": UnitAttr() if control else None,
            },
            result_types=[StreamType(type)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> QueueStreamOp:
        queue = _symbol(parser).root_reference.data
        group: list[UnresolvedOperand] = []
        parser.parse_keyword("extent")
        extent = _Integers.parse_one(parser, group)
        control = parser.parse_optional_keyword("control") is not None
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isinstance(type, StreamType):
            parser.raise_error("flow.queue_stream makes a value of type !flow.stream")
        values = parser.resolve_operands(group, [i16] * len(group), parser.pos)
        return cls(queue, values[0] if values else extent, type.element_type, control=control)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.queue)
        printer.print_string(" extent ")
        _Integers.print(printer, [self.static_extent.value.data], [self.extent] if self.extent else [])
        if self.control is not None:
            printer.print_string(" control")
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


class _StreamUpdateOp(IRDLOperation):
    """Shared by what makes a stream from a stream and an i16 `amount`; both streams have one type."""

    stream = operand_def(StreamType)
    amount = operand_def(IntegerType(16))
    result = result_def(StreamType)
    traits = traits_def(Pure())

    def __init__(self, stream: SSAValue, amount: SSAValue):
        super().__init__(operands=[stream, amount], result_types=[stream.type])

    @classmethod
    def parse(cls, parser: Parser):
        stream = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        amount = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls(parser.resolve_operand(stream, type), parser.resolve_operand(amount, i16))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.stream)
        printer.print_string(", ")
        printer.print_operand(self.amount)
        printer.print_string(" : ")
        printer.print_attribute(self.stream.type)


@irdl_op_definition
class AdvanceOp(_StreamUpdateOp):
    """The same walk moved by a signed number of 16-bit words (DSD-168, DSD-169)."""

    name = "flow.advance"


@irdl_op_definition
class ResizeOp(_StreamUpdateOp):
    """The same one-dimensional stream with another length, unsigned (DSD-175)."""

    name = "flow.resize"


@irdl_op_definition
class RestrideOp(_StreamUpdateOp):
    """The same one-dimensional walk with another stride in elements, signed (DSD-179)."""

    name = "flow.restride"


PRIORITIES = ("low", "medium", "high")


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """Repeats a table operation over streams.

    `operands` are the destination and the sources of the entry, in its order; a source may be a scalar where the
    table allows it. The operation runs as many times as its shortest stream is long (AMB-01), element after
    element, so that a source sees what earlier iterations wrote. With `async` it runs on a microthread and the
    task goes on; `activate` or `unblock` then names a task to be told of its end.
    """

    name = "flow.apply"
    operation = prop_def(StringAttr)
    destination = operand_def(StreamType)
    sources = var_operand_def()
    microthread = opt_prop_def(IntegerAttr)
    activate = opt_prop_def(SymbolRefAttr)
    unblock = opt_prop_def(SymbolRefAttr)
    priority = opt_prop_def(StringAttr)

    def __init__(
        self,
        operation: str,
        destination: SSAValue,
        sources: Sequence[SSAValue],
        *,
        microthread: int | None = None,
        activate: str | None = None,
        unblock: str | None = None,
        priority: str | None = None,
    ):
        super().__init__(
            operands=[destination, sources],
            properties={
                "operation": StringAttr(operation),
                "microthread": None if microthread is None else IntegerAttr(microthread, i64),
                "activate": None if activate is None else SymbolRefAttr(activate),
                "unblock": None if unblock is None else SymbolRefAttr(unblock),
                "priority": None if priority is None else StringAttr(priority),
            },
        )

    @property
    def entry(self) -> DsdOperation:
        """The table entry of the operation."""
        return OPERATIONS[self.operation.data]

    @property
    def is_async(self) -> bool:
        """Whether the operation runs on a microthread."""
        return self.microthread is not None

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        operation = parser.parse_identifier()
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        microthread = activate = unblock = priority = None
        if parser.parse_optional_keyword("async") is not None:
            parser.parse_punctuation("(")
            parser.parse_keyword("microthread")
            parser.parse_punctuation("=")
            microthread = parser.parse_integer(allow_boolean=False)
            while parser.parse_optional_punctuation(",") is not None:
                key = parser.parse_keyword_in(("activate", "unblock", "priority"))
                parser.parse_punctuation("=")
                if key == "activate":
                    activate = _symbol(parser).root_reference.data
                elif key == "unblock":
                    unblock = _symbol(parser).root_reference.data
                else:
                    priority = parser.parse_keyword_in(PRIORITIES)
            parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) != len(operands):
            parser.raise_error(f"flow.apply has {len(operands)} operands but {len(types)} types")
        values = parser.resolve_operands(operands, types, parser.pos)
        return cls(
            operation,
            values[0],
            values[1:],
            microthread=microthread,
            activate=activate,
            unblock=unblock,
            priority=priority,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.operation.data} ")
        printer.print_list(self.operands, printer.print_operand)
        if self.microthread is not None:
            printer.print_string(f" async(microthread = {self.microthread.value.data}")
            for key, symbol in (("activate", self.activate), ("unblock", self.unblock)):
                if symbol is not None:
                    printer.print_string(f", {key} = ")
                    printer.print_attribute(symbol)
            if self.priority is not None:
                printer.print_string(f", priority = {self.priority.data}")
            printer.print_string(")")
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)

    def verify_(self) -> None:
        if self.operation.data not in OPERATIONS:
            raise VerifyException(f"'{self.operation.data}' is no operation of the DSD table")
        entry = self.entry
        if len(self.sources) != len(entry.sources):
            raise VerifyException(f"{entry.name} takes {len(entry.sources)} sources, not {len(self.sources)}")
        for position, source in enumerate(self.sources):
            scalar = not isinstance(source.type, StreamType)
            if scalar and position not in entry.scalar_sources:
                raise VerifyException(f"source {position} of {entry.name} must be a stream")
            if not scalar and position in entry.scalar_only:
                raise VerifyException(f"source {position} of {entry.name} must be a scalar")
        if self.activate is not None and self.unblock is not None:
            raise VerifyException("an operation activates or unblocks a task at its end, not both (DSD-189)")
        if self.microthread is None and (self.activate or self.unblock or self.priority):
            raise VerifyException("only an asynchronous operation has a completion task or a priority (DSD-196)")


def _operations() -> list[type[Operation]]:
    return [
        FabricOp, ColorOp, RouteOp, UnitsOp, BufferOp, ParamOp, ExportOp, QueueOp, FuncOp, TaskOp, ReturnOp, CallOp,
        CoordinateOp, ExtentOp, GetParamOp, LoadOp, StoreOp, ActivateOp, BlockOp, UnblockOp, StreamOp,
        QueueStreamOp, AdvanceOp, ResizeOp, RestrideOp, ApplyOp,
    ]  # fmt: skip


Flow = Dialect("flow", _operations(), [StreamType])
