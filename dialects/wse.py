"""The `wse` dialect: a program on the wafer, after compile time is over.

A `wse.program` is a rectangle of processing elements (PEs): colors and routes for the fabric, and
one `wse.pe` for each distinct program, placed on a region of the rectangle. A `wse.pe` owns buffers,
parameters, queues, functions and tasks; their bodies are `arith`, `math`, `scf`, `memref` and `dsd`
or `dsr` operations, with the operations here for what only the machine has: task state, coordinates
and parameters that differ from PE to PE. IR never grows with the number of PEs.

The dialect knows nothing of CSL syntax, of descriptors, or of how a program is executed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    bf16,
    f16,
    f32,
    i1,
    i16,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    Resource,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from ..targets import TARGETS, Target
from .assembly import (
    parse_argument,
    parse_arguments,
    parse_attributes,
    parse_body,
    parse_members,
    parse_symbol,
    print_arguments,
    print_attributes,
    print_body,
)
from .fifo_options import FIFO_OPTIONS, parse_fifo_options, print_fifo_options, verify_fifo_actions
from .machine_rules import (
    verify_fifos,
    verify_pointer,
    verify_ports,
    verify_stream_way,
    verify_task,
    verify_task_id,
    verify_unblocked_queue,
)
from .print_format import verify_format
from .region import RegionAttr, parse_region_list, print_region_list
from .traversal import walk

_OperationT = TypeVar("_OperationT", bound=Operation)

ELEMENT_TYPES: tuple[BFloat16Type | Float16Type | Float32Type | IntegerType, ...] = (f16, bf16, f32, i16, i32)
"""What buffers, parameters and wavelets hold; integers are signless, operations give the sign."""

EVERYWHERE = ArrayAttr([RegionAttr.get()])
"""The whole rectangle, `[:, :]`."""


# ---------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------


class Direction(StrEnum):
    """A port of a PE's router; `ramp` leads to the PE itself. x grows east, y grows south."""

    RAMP = "ramp"
    NORTH = "north"
    SOUTH = "south"
    EAST = "east"
    WEST = "west"


class TaskKind(StrEnum):
    """What starts a task: an activation, a wavelet of data, or a control wavelet."""

    LOCAL = "local"
    DATA = "data"
    CONTROL = "control"


class Axis(StrEnum):
    """A direction of the rectangle: x counts columns, y counts rows."""

    X = "x"
    Y = "y"


@irdl_attr_definition
class DirectionAttr(EnumAttribute[Direction], SpacedOpaqueSyntaxAttribute):
    """A port of a router, in a `wse.route`."""

    name = "wse.direction"


@irdl_attr_definition
class TaskKindAttr(EnumAttribute[TaskKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a `wse.task`."""

    name = "wse.task_kind"


@irdl_attr_definition
class AxisAttr(EnumAttribute[Axis], SpacedOpaqueSyntaxAttribute):
    """The axis a `wse.coordinate` or `wse.extent` speaks of."""

    name = "wse.axis"


@irdl_attr_definition
class QueueColorAttr(ParametrizedAttribute):
    """The color a queue serves on some PEs: `#wse.queue_color<@east0 on [::2, :]>`."""

    name = "wse.queue_color"
    color: SymbolRefAttr
    regions: ArrayAttr[RegionAttr]

    @staticmethod
    def get(color: str, regions: ArrayAttr[RegionAttr] = EVERYWHERE) -> QueueColorAttr:
        return QueueColorAttr(SymbolRefAttr(color), regions)

    @property
    def color_name(self) -> str:
        return self.color.string_value()

    @property
    def is_everywhere(self) -> bool:
        return self.regions == EVERYWHERE

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parsed = _parse_queue_color(parser)
        return (parsed.color, parsed.regions)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_queue_color(printer, self)


# ---------------------------------------------------------------------------------------------
# Pieces of assembly
# ---------------------------------------------------------------------------------------------


def _parse_queue_color(parser: AttrParser) -> QueueColorAttr:
    color = parse_symbol(parser)
    if parser.parse_optional_keyword("on") is None:
        return QueueColorAttr(color, EVERYWHERE)
    return QueueColorAttr(color, parse_region_list(parser))


def _print_queue_color(printer: Printer, color: QueueColorAttr) -> None:
    printer.print_attribute(color.color)
    if not color.is_everywhere:
        printer.print_string(" on ")
        print_region_list(printer, color.regions)


def _parse_directions(parser: Parser) -> ArrayAttr[DirectionAttr]:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: DirectionAttr(parser.parse_str_enum(Direction))
        )
    )


def _print_directions(printer: Printer, directions: ArrayAttr[DirectionAttr]) -> None:
    with printer.in_square_brackets():
        printer.print_list(directions, lambda direction: printer.print_string(direction.data))


# ---------------------------------------------------------------------------------------------
# Symbols
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """What the operations of one PE program may name, and the machine it is for.

    Built once for each `wse.pe`, so that checking all uses of symbols costs one walk of the program.
    """

    target: Target
    rectangle: tuple[int, int]
    program: Mapping[str, Operation]
    pe: Mapping[str, Operation]
    pe_name: str

    def find(self, symbol: SymbolRefAttr | str) -> Operation:
        """The operation that defines `symbol`; raises VerifyException if there is none."""
        name = symbol if isinstance(symbol, str) else symbol.string_value()
        found = self.pe.get(name) or self.program.get(name)
        if found is None:
            raise VerifyException(
                f"@{name} is not defined in wse.pe @{self.pe_name} or its program; define it or correct the name"
            )
        return found

    def color(self, symbol: SymbolRefAttr | str) -> ColorOp:
        """The color called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, ColorOp, "a color")

    def buffer(self, symbol: SymbolRefAttr | str) -> BufferOp:
        """The buffer called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, BufferOp, "a buffer")

    def fifo(self, symbol: SymbolRefAttr | str) -> FifoOp:
        """The FIFO called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FifoOp, "a FIFO")

    def param(self, symbol: SymbolRefAttr | str) -> ParamOp:
        """The parameter called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, ParamOp, "a parameter")

    def func(self, symbol: SymbolRefAttr | str) -> FuncOp:
        """The function called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FuncOp, "a function")

    def input_queue(self, symbol: SymbolRefAttr | str) -> InputQueueOp:
        """The input queue called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, InputQueueOp, "an input queue")

    def output_queue(self, symbol: SymbolRefAttr | str) -> OutputQueueOp:
        """The output queue called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, OutputQueueOp, "an output queue")

    def task_to_activate(self, symbol: SymbolRefAttr | str) -> TaskOp:
        """The local task called `symbol`: nothing else can be activated (DSD-190, DSD-191)."""
        found = self.find(symbol)
        if not isinstance(found, TaskOp) or found.task_kind is not TaskKind.LOCAL:
            raise VerifyException(f"{_described(found)} cannot be activated; name a local task (wse.task ... local)")
        return found

    def check_unblock(self, symbol: SymbolRefAttr | str, done: str = "unblocked") -> None:
        """Accept what can be unblocked on the target: DSD-192, DSD-193, DSD-204 to DSD-206."""
        found = self.find(symbol)
        if isinstance(found, TaskOp) and found.task_kind is not TaskKind.CONTROL:
            return
        by_color = self.target.data_tasks_by_color
        if isinstance(found, ColorOp if by_color else InputQueueOp):
            return
        other = "a color" if by_color else "an input queue"
        raise VerifyException(
            f"{_described(found)} cannot be {done} on {self.target.name}; name a local task, a data task or {other}"
        )

    def _of_kind(self, symbol: SymbolRefAttr | str, kind: type[_OperationT], noun: str) -> _OperationT:
        found = self.find(symbol)
        if not isinstance(found, kind):
            raise VerifyException(f"{_described(found)} stands where {noun} is needed; name {noun}")
        return found


def _described(op: Operation) -> str:
    """How an error names a symbol: `local task @step`, `buffer @u`."""
    name = symbol_name(op)
    return f"{_noun(op)} @{name}"


def _noun(op: Operation) -> str:
    """What kind of symbol an operation defines: `local task`, `buffer`."""
    if isinstance(op, TaskOp):
        return f"{op.task_kind} task"
    if isinstance(op, FifoOp):
        return "FIFO"
    return op.name.removeprefix("wse.").replace("_", " ")


def symbol_name(op: Operation) -> str | None:
    """The symbol `op` defines, if any."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None


class SymbolUser(IRDLOperation, ABC):
    """An operation that names symbols of its PE program or depends on the target.

    xDSL's own interface looks each name up by a scan of the symbol table; `wse.program` instead
    builds the tables once and calls `verify_symbols` on every user in a single walk.
    """

    @abstractmethod
    def verify_symbols(self, scope: Scope) -> None:
        """Raise VerifyException if a name is missing, of the wrong kind, or the target refuses."""


class UniqueSymbols(SymbolTable):
    """A symbol table whose error stands at the second operation of one name, not at the table."""

    def verify(self, op: Operation) -> None:
        first: dict[str, Operation] = {}
        for member in (member for block in op.regions[0].blocks for member in block.ops):
            name = symbol_name(member)
            if name is not None and (other := first.setdefault(name, member)) is not member:
                message = f"@{name} is already the name of the {_noun(other)} above; give this {_noun(member)} another"
                member.emit_error(message, VerifyException(message))


class TaskStates(Resource):
    """Which tasks of a PE are active and which are blocked."""

    def name(self) -> str:
        return "<TaskStates>"


class WritesTaskStates(MemoryEffect):
    """The operation activates, blocks or unblocks a task."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE, resource=TaskStates())}


# ---------------------------------------------------------------------------------------------
# The program and its layout
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """A rectangle of PEs, the fabric between them, and the programs they run.

    ```
    wse.program @stencil target "wse3" rectangle 8 x 8 { ... }
    ```

    The rectangle is 8 columns (x) by 8 rows (y). Raises an error if the target is unknown, if an
    operation below names a symbol that is missing or of the wrong kind, or if an id is out of the
    target's range.
    """

    name = "wse.program"
    sym_name = prop_def(SymbolNameConstraint())
    target = prop_def(StringAttr)
    width = prop_def(IntegerAttr)
    height = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), UniqueSymbols(), NoTerminator(), IsolatedFromAbove())

    def __init__(
        self,
        name: str,
        target: str,
        width: int,
        height: int,
        body: Region | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "target": StringAttr(target),
                "width": IntegerAttr(width, i64),
                "height": IntegerAttr(height, i64),
            },
            regions=[Region(Block()) if body is None else body],
            attributes=attributes or {},
        )

    @property
    def rectangle(self) -> tuple[int, int]:
        """Width and height in PEs."""
        return self.width.value.data, self.height.value.data

    @property
    def pes(self) -> list[PeOp]:
        """The PE programs, in order."""
        return [op for op in self.body.block.ops if isinstance(op, PeOp)]

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("target")
        target = parser.parse_str_literal()
        parser.parse_keyword("rectangle")
        width = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("x")
        height = parser.parse_integer(allow_boolean=False)
        attributes = parse_attributes(parser)
        return cls(name, target, width, height, parse_members(parser), attributes)

    def print(self, printer: Printer) -> None:
        width, height = self.rectangle
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" target ")
        printer.print_string_literal(self.target.data)
        printer.print_string(f" rectangle {width} x {height}")
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        width, height = self.rectangle
        if width < 1 or height < 1:
            raise VerifyException(f"rectangle {width} x {height} holds no PE; both sides must be at least 1")
        target = TARGETS.get(self.target.data)
        if target is None:
            raise VerifyException(f"unknown target '{self.target.data}'; choose one of {', '.join(sorted(TARGETS))}")
        symbols = _symbols(self)
        ids: dict[int, str] = {}
        for op in self.body.block.ops:
            match op:
                case PeOp():
                    scope = Scope(target, self.rectangle, symbols, _symbols(op), op.sym_name.data)
                    for user in walk(op):
                        if isinstance(user, SymbolUser):
                            _verify_symbols(user, scope)
                case ColorOp():
                    _verify_color_id(op, ids, target)
                case RouteOp() | HostStreamOp():
                    _verify_symbols(op, Scope(target, self.rectangle, symbols, {}, ""))
                case _:
                    raise VerifyException(
                        f"{op.name} does not belong in a wse.program directly; only colors, routes, host streams and "
                        "PE programs do"
                    )


def _symbols(table: ProgramOp | PeOp) -> dict[str, Operation]:
    return {name: op for op in table.body.block.ops if (name := symbol_name(op)) is not None}


def _verify_symbols(user: SymbolUser, scope: Scope) -> None:
    """Report an error at the operation that made it, not at the program that found it."""
    try:
        user.verify_symbols(scope)
    except VerifyException as error:
        user.emit_error(f"Operation does not verify: {error}", error)


def _verify_color_id(color: ColorOp, taken: dict[int, str], target: Target) -> None:
    if color.id is None:
        return
    number, name = color.id.value.data, color.sym_name.data
    if not 0 <= number < target.routable_colors:
        raise VerifyException(
            f"color @{name} has id {number}, which {target.name} does not offer; choose one from 0 to "
            f"{target.routable_colors - 1}"
        )
    _verify_unique(taken, number, "color", name)


def _verify_unique(taken: dict[int, str], number: int, noun: str, name: str) -> None:
    if (other := taken.setdefault(number, name)) != name:
        raise VerifyException(f"{noun} @{name} has id {number}, which @{other} has already; give one another id")


@irdl_op_definition
class ColorOp(IRDLOperation):
    """A color: a virtual channel of the fabric.

    ```
    wse.color @east0
    wse.color @east1 = 3
    ```

    Without an id, lowering chooses one of the target's routable colors.
    """

    name = "wse.color"
    sym_name = prop_def(SymbolNameConstraint())
    id = opt_prop_def(IntegerAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(ProgramOp))

    def __init__(self, name: str, id: int | None = None, attributes: Mapping[str, Attribute] | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "id": None if id is None else IntegerAttr(id, i64),
            },
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> ColorOp:
        name = parser.parse_symbol_name().data
        number = None
        if parser.parse_optional_punctuation("=") is not None:
            number = parser.parse_integer(allow_boolean=False)
        return cls(name, number, parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.id is not None:
            printer.print_string(f" = {self.id.value.data}")
        print_attributes(printer, self)


@irdl_op_definition
class RouteOp(SymbolUser):
    """How the routers of a region pass on one color, from some ports to some ports.

    ```
    wse.route @east0 on [::2, :] from [ramp] to [east]
    wse.route @down on [1, 1:] + [3, 1:] from [north] to [ramp, south]
    ```
    """

    name = "wse.route"
    color = prop_def(SymbolRefAttr)
    placement = prop_def(ArrayAttr[RegionAttr])
    inputs = prop_def(ArrayAttr[DirectionAttr])
    outputs = prop_def(ArrayAttr[DirectionAttr])
    traits = traits_def(HasParent(ProgramOp))

    def __init__(
        self,
        color: str,
        placement: ArrayAttr[RegionAttr],
        inputs: Sequence[Direction],
        outputs: Sequence[Direction],
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "color": SymbolRefAttr(color),
                "placement": placement,
                "inputs": ArrayAttr(DirectionAttr(port) for port in inputs),
                "outputs": ArrayAttr(DirectionAttr(port) for port in outputs),
            },
            attributes=attributes or {},
        )

    @property
    def input_ports(self) -> tuple[Direction, ...]:
        """The ports the color comes in by."""
        return tuple(port.data for port in self.inputs)

    @property
    def output_ports(self) -> tuple[Direction, ...]:
        """The ports the color goes out by; more than one is a multicast."""
        return tuple(port.data for port in self.outputs)

    @classmethod
    def parse(cls, parser: Parser) -> RouteOp:
        color = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        placement = parse_region_list(parser)
        parser.parse_keyword("from")
        inputs = _parse_directions(parser)
        parser.parse_keyword("to")
        outputs = _parse_directions(parser)
        return cls(
            color,
            placement,
            [port.data for port in inputs],
            [port.data for port in outputs],
            parse_attributes(parser),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(" on ")
        print_region_list(printer, self.placement)
        printer.print_string(" from ")
        _print_directions(printer, self.inputs)
        printer.print_string(" to ")
        _print_directions(printer, self.outputs)
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_ports(self.input_ports, self.output_ports)

    def verify_symbols(self, scope: Scope) -> None:
        scope.color(self.color)


class StreamWay(StrEnum):
    """Which way the wavelets of a host stream go: from the host in, or out to it."""

    IN = "in"
    OUT = "out"


@irdl_op_definition
class HostStreamOp(SymbolUser):
    """Connects a color with the host on the PEs of a region, by default on all.

    ```
    wse.host_stream @input in
    wse.host_stream @result out on [-1, :]
    ```

    `in`: what the host sends arrives in the PE's input queue of the color. `out`: what the PE sends on the color goes
    to the host, unless the program has a route for the color there. The routes between host and PE are implied.
    """

    name = "wse.host_stream"
    color = prop_def(SymbolRefAttr)
    way = prop_def(StringAttr)
    placement = prop_def(ArrayAttr[RegionAttr])
    traits = traits_def(HasParent(ProgramOp))

    def __init__(
        self,
        color: str,
        way: StreamWay,
        placement: ArrayAttr[RegionAttr] = EVERYWHERE,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"color": SymbolRefAttr(color), "way": StringAttr(way.value), "placement": placement},
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> HostStreamOp:
        color = parser.parse_symbol_name().data
        way = parser.parse_str_enum(StreamWay)
        placement = EVERYWHERE
        if parser.parse_optional_keyword("on") is not None:
            placement = parse_region_list(parser)
        return cls(color, way, placement, parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(f" {self.way.data}")
        if self.placement != EVERYWHERE:
            printer.print_string(" on ")
            print_region_list(printer, self.placement)
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_stream_way(self.way.data)

    def verify_symbols(self, scope: Scope) -> None:
        scope.color(self.color)


@irdl_op_definition
class PeOp(IRDLOperation):
    """One program, and the PEs that run it.

    ```
    wse.pe @cell on [:, :] { ... }
    wse.pe @border on [0, :] + [-1, :] { ... }
    ```

    Regions are x first, then y, as Python slices over the rectangle.
    """

    name = "wse.pe"
    sym_name = prop_def(SymbolNameConstraint())
    placement = prop_def(ArrayAttr[RegionAttr])
    body = region_def("single_block")
    traits = traits_def(
        SymbolOpInterface(),
        UniqueSymbols(),
        NoTerminator(),
        IsolatedFromAbove(),
        HasParent(ProgramOp),
    )

    def __init__(
        self,
        name: str,
        placement: ArrayAttr[RegionAttr] = EVERYWHERE,
        body: Region | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"sym_name": StringAttr(name), "placement": placement},
            regions=[Region(Block()) if body is None else body],
            attributes=attributes or {},
        )

    @property
    def program(self) -> ProgramOp:
        """The program this PE program is part of."""
        parent = self.parent_op()
        assert isinstance(parent, ProgramOp)
        return parent

    @classmethod
    def parse(cls, parser: Parser) -> PeOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        placement = parse_region_list(parser)
        attributes = parse_attributes(parser)
        return cls(name, placement, parse_members(parser), attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        print_region_list(printer, self.placement)
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        exported: set[str] = set()
        task_ids: dict[TaskKind, dict[int, str]] = {kind: {} for kind in TaskKind}
        for op in self.body.block.ops:
            if not isinstance(op, _PE_MEMBERS):
                raise VerifyException(
                    f"{op.name} does not belong in a wse.pe directly; put it into a wse.func or wse.task"
                )
            if isinstance(op, ExportOp):
                if op.exported_name in exported:
                    raise VerifyException(f'"{op.exported_name}" is exported twice; give one of them another name')
                exported.add(op.exported_name)
            elif isinstance(op, TaskOp) and (number := op.task_id) is not None:
                _verify_unique(task_ids[op.task_kind], number, f"{op.task_kind} task", op.sym_name.data)


# ---------------------------------------------------------------------------------------------
# What a PE owns
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class BufferOp(IRDLOperation):
    """Memory of each PE: an array, or a scalar variable if the rank is 0.

    ```
    wse.buffer @u : memref<64xf32>
    wse.buffer @count : memref<i16> = dense<0>
    wse.buffer @fifo : memref<32xi16> = dense<0> align 16
    ```

    Row-major (DSD-027). The alignment is in bytes, a power of two of at least 2. Without an
    initial value the memory holds zeros.
    """

    name = "wse.buffer"
    sym_name = prop_def(SymbolNameConstraint())
    type = prop_def(MemRefType)
    value = opt_prop_def(DenseIntOrFPElementsAttr)
    alignment = opt_prop_def(IntegerAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        type: MemRefType,
        value: DenseIntOrFPElementsAttr | None = None,
        alignment: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "type": type,
                "value": value,
                "alignment": None if alignment is None else IntegerAttr(alignment, i64),
            },
            attributes=attributes or {},
        )

    @property
    def element_count(self) -> int:
        """Number of elements, 1 for a scalar."""
        return element_count(self.type)

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        name = parser.parse_symbol_name().data
        parser.parse_punctuation(":")
        type = _parse_memref(parser, "a buffer")
        value = None
        if parser.parse_optional_punctuation("=") is not None:
            value = _parse_dense(parser, type.get_element_type(), type.get_shape())
        alignment = None
        if parser.parse_optional_keyword("align") is not None:
            alignment = parser.parse_integer(allow_boolean=False)
        return cls(name, type, value, alignment, parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        if self.value is not None:
            printer.print_string(" = ")
            self.value.print_without_type(printer)
        if self.alignment is not None:
            printer.print_string(f" align {self.alignment.value.data}")
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_element_type(self.type.get_element_type(), "a buffer")
        if not self.type.has_static_shape():
            raise VerifyException(
                f"buffer type {self.type} has an open extent; a PE's memory is laid out at compile "
                "time, so give every extent"
            )
        if self.alignment is not None:
            bytes = self.alignment.value.data
            if bytes < 2 or bytes & (bytes - 1):
                raise VerifyException(f"alignment {bytes} is not a power of two of at least 2 bytes; choose one")
        if self.value is not None and self.value.get_shape() != self.type.get_shape():
            raise VerifyException(
                f"initial value of shape {list(self.value.get_shape())} does not fit {self.type}; give it that shape"
            )


@irdl_op_definition
class ParamOp(SymbolUser):
    """A number that is fixed when the program starts and may differ from PE to PE.

    ```
    wse.param @coefficient : f32 = dense<0.5>
    wse.param @row : i16 over 3 x 2 = dense<[[0, 0, 0], [1, 1, 1]]>
    ```

    One value for all PEs, or `over` the rectangle one value for each, rows of x inside y.
    """

    name = "wse.param"
    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        value: DenseIntOrFPElementsAttr,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"sym_name": StringAttr(name), "value": value},
            attributes=attributes or {},
        )

    @property
    def type(self) -> Attribute:
        """Type of the parameter as one PE sees it."""
        return self.value.get_element_type()

    @property
    def is_uniform(self) -> bool:
        """Whether all PEs have the same value by construction."""
        return not self.value.get_shape()

    @classmethod
    def parse(cls, parser: Parser) -> ParamOp:
        name = parser.parse_symbol_name().data
        parser.parse_punctuation(":")
        type = parser.parse_type()
        shape: tuple[int, ...] = ()
        if parser.parse_optional_keyword("over") is not None:
            width = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("x")
            shape = (parser.parse_integer(allow_boolean=False), width)
        parser.parse_punctuation("=")
        return cls(name, _parse_dense(parser, type, shape), parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        if not self.is_uniform:
            height, width = self.value.get_shape()
            printer.print_string(f" over {width} x {height}")
        printer.print_string(" = ")
        self.value.print_without_type(printer)
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_element_type(self.type, "a parameter")
        shape = self.value.get_shape()
        if shape and len(shape) != 2:
            raise VerifyException(
                f"values of shape {list(shape)} do not fit a rectangle; give one value or a row of "
                "values for each row of PEs"
            )

    def verify_symbols(self, scope: Scope) -> None:
        shape = self.value.get_shape()
        width, height = scope.rectangle
        if shape and tuple(shape) != (height, width):
            raise VerifyException(
                f"parameter @{self.sym_name.data} has values over {shape[1]} x {shape[0]} PEs, but the rectangle is "
                f"{width} x {height}; give one value for each PE"
            )


@irdl_op_definition
class InitializeOp(SymbolUser):
    """The initial value of one element of a buffer that only memory layout or the PE decides.

    ```
    wse.initialize @pointers[3] = address_of @u + 4
    wse.initialize @width[0] = param @columns
    ```

    The element is counted in row-major order. An address is one of 16-bit words, the offset in words too, and the
    buffer holds i16; a parameter has the type of the buffer's elements. It goes over what the buffer itself says.
    """

    name = "wse.initialize"
    buffer = prop_def(SymbolRefAttr)
    element = prop_def(IntegerAttr)
    target = opt_prop_def(SymbolRefAttr)
    offset = opt_prop_def(IntegerAttr)
    param = opt_prop_def(SymbolRefAttr)
    traits = traits_def(HasParent(PeOp))

    def __init__(
        self,
        buffer: str,
        element: int,
        *,
        address_of: str | None = None,
        offset: int = 0,
        param: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "buffer": SymbolRefAttr(buffer),
                "element": IntegerAttr(element, i64),
                "target": None if address_of is None else SymbolRefAttr(address_of),
                "offset": IntegerAttr(offset, i64) if offset else None,
                "param": None if param is None else SymbolRefAttr(param),
            },
            attributes=attributes or {},
        )

    @property
    def words_on(self) -> int:
        """The offset from the target's address, in 16-bit words."""
        return 0 if self.offset is None else self.offset.value.data

    @classmethod
    def parse(cls, parser: Parser) -> InitializeOp:
        buffer = parser.parse_symbol_name().data
        with parser.in_square_brackets():
            element = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation("=")
        target = param = None
        offset = 0
        if parser.parse_keyword_in(("address_of", "param")) == "param":
            param = parser.parse_symbol_name().data
        else:
            target = parser.parse_symbol_name().data
            if parser.parse_optional_punctuation("+") is not None:
                offset = parser.parse_integer(allow_boolean=False)
        return cls(buffer, element, address_of=target, offset=offset, param=param, attributes=parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.buffer)
        printer.print_string(f"[{self.element.value.data}] = ")
        if self.param is not None:
            printer.print_string("param ")
            printer.print_attribute(self.param)
        elif self.target is not None:
            printer.print_string("address_of ")
            printer.print_attribute(self.target)
            if self.words_on:
                printer.print_string(f" + {self.words_on}")
        print_attributes(printer, self)

    def verify_(self) -> None:
        if (self.target is None) == (self.param is None):
            raise VerifyException(
                "wse.initialize takes the address of a buffer or a parameter, and only one of them; correct it"
            )
        if self.target is None and self.offset is not None:
            raise VerifyException("only an address has an offset; remove it")

    def verify_symbols(self, scope: Scope) -> None:
        buffer = scope.buffer(self.buffer)
        name, type = buffer.sym_name.data, buffer.type.get_element_type()
        if not 0 <= (element := self.element.value.data) < buffer.element_count:
            raise VerifyException(
                f"buffer @{name} has no element {element}; choose one from 0 to {buffer.element_count - 1}"
            )
        if self.target is not None:
            scope.buffer(self.target)
            if type != i16:
                raise VerifyException(f"buffer @{name} holds {type}, but an address is an i16; use that type")
        elif self.param is not None:
            param = scope.param(self.param)
            if param.type != type:
                raise VerifyException(
                    f"parameter @{param.sym_name.data} has type {param.type}, but buffer @{name} holds {type}; make "
                    "both agree"
                )


def _parse_dense(parser: Parser, element_type: Attribute, shape: Sequence[int]) -> DenseIntOrFPElementsAttr:
    element = next((element for element in ELEMENT_TYPES if element == element_type), None)
    if element is None:
        parser.raise_error(f"{element_type} takes no initial value; use f16, bf16, f32, i16 or i32")
    parser.parse_keyword("dense")
    return parser.parse_dense_int_or_fp_elements_attr(TensorType(element, shape))


def parse_element_type(parser: AttrParser, owner: str) -> Attribute:
    """Parse one of `ELEMENT_TYPES`; anything else is an error that says `owner` cannot have it."""
    position = parser.pos
    type = parser.parse_type()
    if type not in ELEMENT_TYPES:
        parser.raise_error(f"{owner} cannot hold {type}; use f16, bf16, f32, i16 or i32", position)
    return type


def _parse_memref(parser: AttrParser, owner: str) -> MemRefType:
    """Parse a memref type; anything else is an error that says `owner` has one."""
    position = parser.pos
    type = parser.parse_type()
    if not isa(type, MemRefType):
        parser.raise_error(f"{owner} has a memref type, for example memref<64xf32>", position)
    return type


def verify_element_type(type: Attribute, owner: str) -> None:
    """Raise VerifyException unless `type` is one of `ELEMENT_TYPES`."""
    if type not in ELEMENT_TYPES:
        raise VerifyException(f"{owner} cannot hold {type}; use f16, bf16, f32, i16 or i32")


def element_count(type: MemRefType) -> int:
    """Number of elements of a memref with known extents, 1 for rank 0."""
    count = 1
    for extent in type.get_shape():
        count *= extent
    return count


@irdl_op_definition
class ExportOp(SymbolUser):
    """Makes a buffer or function visible to the host.

    ```
    wse.export @u
    wse.export @count as "steps" unsigned read_only
    wse.export @pointer as "y" points_to memref<24xf32>
    wse.export @main
    ```

    `unsigned` makes the host see u16 or u32 where the buffer's type is a signless integer. With `points_to` the host
    sees what the buffer, one i16 that holds a word address, points to on each PE at the time of a copy; how many
    elements that has may be left open, as in `memref<?xf32>`.
    """

    name = "wse.export"
    symbol = prop_def(SymbolRefAttr)
    exported_as = opt_prop_def(StringAttr)
    points_to = opt_prop_def(MemRefType)
    unsigned = opt_prop_def(UnitAttr)
    read_only = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(PeOp))

    def __init__(
        self,
        symbol: str,
        exported_as: str | None = None,
        *,
        points_to: MemRefType | None = None,
        unsigned: bool = False,
        read_only: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "symbol": SymbolRefAttr(symbol),
                "exported_as": None if exported_as is None else StringAttr(exported_as),
                "points_to": points_to,
                "unsigned": UnitAttr() if unsigned else None,
                "read_only": UnitAttr() if read_only else None,
            },
            attributes=attributes or {},
        )

    @property
    def exported_name(self) -> str:
        """The name the host uses."""
        return self.symbol.string_value() if self.exported_as is None else self.exported_as.data

    @classmethod
    def parse(cls, parser: Parser) -> ExportOp:
        symbol = parser.parse_symbol_name().data
        exported_as = None
        if parser.parse_optional_keyword("as") is not None:
            exported_as = parser.parse_str_literal()
        points_to = None
        if parser.parse_optional_keyword("points_to") is not None:
            points_to = _parse_memref(parser, "what a pointer points to")
        unsigned = parser.parse_optional_keyword("unsigned") is not None
        read_only = parser.parse_optional_keyword("read_only") is not None
        return cls(
            symbol,
            exported_as,
            points_to=points_to,
            unsigned=unsigned,
            read_only=read_only,
            attributes=parse_attributes(parser),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.symbol)
        if self.exported_as is not None:
            printer.print_string(" as ")
            printer.print_string_literal(self.exported_as.data)
        if self.points_to is not None:
            printer.print_string(" points_to ")
            printer.print_attribute(self.points_to)
        if self.unsigned is not None:
            printer.print_string(" unsigned")
        if self.read_only is not None:
            printer.print_string(" read_only")
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        found = scope.find(self.symbol)
        match found:
            case BufferOp():
                shown = found.type if self.points_to is None else self.points_to
                if self.points_to is not None:
                    verify_pointer(found.sym_name.data, found.type, self.points_to)
                    verify_element_type(self.points_to.get_element_type(), "memory")
                if self.unsigned is not None and shown.get_element_type() not in (i16, i32):
                    raise VerifyException(
                        f"buffer @{found.sym_name.data} of {shown} cannot be exported as unsigned; only i16 and i32 can"
                    )
            case FuncOp():
                if self.unsigned is not None or self.read_only is not None or self.points_to is not None:
                    raise VerifyException(
                        f"function @{found.sym_name.data} is not unsigned, read_only nor a pointer; remove the word"
                    )
            case _:
                raise VerifyException(f"{_described(found)} cannot be exported; export a buffer or a function")


@irdl_op_definition
class FifoOp(SymbolUser):
    """A first-in first-out buffer in the PE's memory, for DSD operations that push into it and pop from it.

    ```
    wse.fifo @f on @memory
    wse.fifo @g on @storage activate_push @pop_again activate_pop @push_again
    wse.fifo @h on @space empty_action terminate full_action suspend register 3 xdsr 0
    ```

    It holds as many elements as the buffer has. `activate_push` names the local task to activate when a push lets a
    pop go on that had found too little (DSD-147), `activate_pop` when a pop makes room for a push that had found none
    (DSD-144). `empty_action` and `full_action` say what an operation does that finds the FIFO empty or full:
    `test_or_suspend`, the default (DSD-136), stops a synchronous one, whose result is then false (DSD-131), and lets
    an asynchronous one wait (DSD-132); `terminate` ends either as if it were done (DSD-133), `suspend` lets either wait
    (DSD-134), and `fault` is an error (DSD-135). `register` is the dest and the src1 register that hold the FIFO from
    the start on, with `xdsr` (DSR-071, DSR-074). `priority` (WSE-3, DSD-227) and `simd` (WSE-2, DSD-243) are kept for
    the machine and change nothing here.

    Refused are: a buffer that is a scalar, or is the memory of another FIFO, or has an alignment below the target's for
    FIFOs (DSD-118); a task that is not local (DSD-143); on WSE-2 the actions `suspend` and `fault`, and any
    `full_action` (DSD-137 to DSD-139); a register without an XDSR or the reverse (DSR-073), one that the target lacks
    (DSR-076), and one of another FIFO (DSR-075); a `priority` on WSE-2 (DSD-229), a `simd` on WSE-3 (DSD-244).
    """

    name = "wse.fifo"
    sym_name = prop_def(SymbolNameConstraint())
    buffer = prop_def(SymbolRefAttr)
    empty_action = opt_prop_def(StringAttr)
    full_action = opt_prop_def(StringAttr)
    activate_push = opt_prop_def(SymbolRefAttr)
    activate_pop = opt_prop_def(SymbolRefAttr)
    register = opt_prop_def(IntegerAttr)
    xdsr = opt_prop_def(IntegerAttr)
    priority = opt_prop_def(StringAttr)
    simd = opt_prop_def(StringAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        buffer: str,
        *,
        options: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"sym_name": StringAttr(name), "buffer": SymbolRefAttr(buffer), **(options or {})},
            attributes=attributes or {},
        )

    @property
    def options(self) -> dict[str, Attribute]:
        """What is given beside the buffer, by name and in the order it is written."""
        return {name: self.properties[name] for name in FIFO_OPTIONS if name in self.properties}

    @classmethod
    def parse(cls, parser: Parser) -> FifoOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        buffer = parser.parse_symbol_name().data
        return cls(name, buffer, options=parse_fifo_options(parser, FIFO_OPTIONS), attributes=parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        printer.print_attribute(self.buffer)
        print_fifo_options(printer, self.options)
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        name, buffer, target = self.sym_name.data, scope.buffer(self.buffer), scope.target
        if buffer.type.get_num_dims() == 0 or buffer.element_count == 0:
            raise VerifyException(f"FIFO @{name} lies on buffer @{buffer.sym_name.data}, which is no array; name one")
        minimum = target.fifo_alignment
        if buffer.alignment is not None and buffer.alignment.value.data < minimum:
            raise VerifyException(
                f"FIFO @{name} lies on buffer @{buffer.sym_name.data} with alignment {buffer.alignment.value.data}, "
                f"but {target.name} needs {minimum} bytes for a FIFO; align the buffer so, or leave the alignment out"
            )
        for task in (self.activate_push, self.activate_pop):
            if task is not None:
                scope.task_to_activate(task)
        verify_fifo_actions(self.empty_action, self.full_action, target)
        fifos = [op for op in scope.pe.values() if isinstance(op, FifoOp)]
        verify_fifos([(op.sym_name.data, op.buffer.string_value()) for op in fifos], name, target)
        self._verify_registers(fifos, target)
        if self.priority is not None and target.operation_priority:
            raise VerifyException(
                f"FIFO @{name} has a priority, which on {target.name} an operation has; give it there (DSD-229)"
            )
        if self.simd is not None and not target.operation_priority:
            raise VerifyException(
                f"FIFO @{name} has a SIMD mode, which {target.name} does not know; remove it (DSD-244)"
            )

    def _verify_registers(self, fifos: Sequence[FifoOp], target: Target) -> None:
        name = self.sym_name.data
        if (self.register is None) != (self.xdsr is None):
            raise VerifyException(f"FIFO @{name} has a register or an xdsr alone; give both or none (DSR-073)")
        sizes = (("register", min(target.dsr_dest, target.dsr_src1)), ("xdsr", target.xdsrs))
        for kind, size in sizes:
            given = self.properties.get(kind)
            if given is None:
                continue
            assert isa(given, IntegerAttr)
            number = given.value.data
            if not 0 <= number < size:
                raise VerifyException(
                    f"FIFO @{name} has {kind} {number}, which {target.name} lacks; choose one from 0 to {size - 1}"
                )
            for other in fifos[: fifos.index(self)]:
                if other.properties.get(kind) == given:
                    raise VerifyException(
                        f"FIFO @{name} has {kind} {number}, as @{other.sym_name.data} does; give it its own (DSR-075)"
                    )


@irdl_op_definition
class InitialOp(IRDLOperation):
    """What is loaded into registers before the program starts, in the order written (DSR-039).

    ```
    wse.initial {
      %a = wse.get_buffer @a : memref<16xf32>
      %d = dsd.mem1d %a extent 16 : memref<16xf32>
      dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 2>
    }
    ```

    It holds loads and what they take, nothing else.
    """

    name = "wse.initial"
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), HasParent(PeOp))

    def __init__(self, body: Region | None = None, attributes: Mapping[str, Attribute] | None = None):
        super().__init__(regions=[Region(Block()) if body is None else body], attributes=attributes or {})

    @classmethod
    def parse(cls, parser: Parser) -> InitialOp:
        attributes = parse_attributes(parser)
        return cls(parse_members(parser), attributes)

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if op.name != "dsr.load" and not op.has_trait(Pure):
                raise VerifyException(f"{op.name} does something, which wse.initial does not; put it into a wse.func")


class QueueOp(SymbolUser, ABC):
    """What input and output queues have in common.

    A queue serves one color on each PE; with a list of colors each entry holds on its region.
    """

    sym_name = prop_def(SymbolNameConstraint())
    colors = prop_def(ArrayAttr[QueueColorAttr])
    id = opt_prop_def(IntegerAttr)
    unblocked = opt_prop_def(UnitAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        colors: Sequence[QueueColorAttr] | str,
        id: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        *,
        unblocked: bool = False,
    ):
        if isinstance(colors, str):
            colors = [QueueColorAttr.get(colors)]
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "colors": ArrayAttr(colors),
                "id": None if id is None else IntegerAttr(id, i64),
                "unblocked": UnitAttr() if unblocked else None,
            },
            attributes=attributes or {},
        )

    @property
    def queue_id(self) -> int | None:
        """The queue's number on the machine, if it is fixed."""
        return None if self.id is None else self.id.value.data

    @classmethod
    def _parse_fields(
        cls, parser: Parser
    ) -> tuple[str, Sequence[QueueColorAttr], int | None, bool, Mapping[str, Attribute]]:
        name = parser.parse_symbol_name().data
        if parser.parse_keyword_in(("color", "colors")) == "color":
            colors = [QueueColorAttr(parse_symbol(parser), EVERYWHERE)]
        else:
            colors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_queue_color(parser))
        number = None
        if parser.parse_optional_keyword("id") is not None:
            number = parser.parse_integer(allow_boolean=False)
        unblocked = parser.parse_optional_keyword("unblocked") is not None
        return name, colors, number, unblocked, parse_attributes(parser)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if len(self.colors) == 1 and self.colors.data[0].is_everywhere:
            printer.print_string(" color ")
            _print_queue_color(printer, self.colors.data[0])
        else:
            printer.print_string(" colors ")
            with printer.in_square_brackets():
                printer.print_list(self.colors, lambda color: _print_queue_color(printer, color))
        if self.id is not None:
            printer.print_string(f" id {self.id.value.data}")
        if self.unblocked is not None:
            printer.print_string(" unblocked")
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_unblocked_queue(
            self.sym_name.data, is_input=isinstance(self, InputQueueOp), unblocked=self.unblocked is not None
        )
        if not self.colors.data:
            raise VerifyException(f"queue @{self.sym_name.data} has no color; name the color it serves")

    @abstractmethod
    def queue_words(self, target: Target) -> tuple[int, ...]:
        """Length in words of each of the target's queues of this kind."""

    def verify_symbols(self, scope: Scope) -> None:
        for color in self.colors:
            scope.color(color.color)
        number = self.queue_id
        queues = len(self.queue_words(scope.target))
        if number is not None and not 0 <= number < queues:
            raise VerifyException(
                f"{_described(self)} has id {number}, which {scope.target.name} does not have; "
                f"choose one from 0 to {queues - 1}"
            )


@irdl_op_definition
class InputQueueOp(QueueOp):
    """A queue that takes wavelets of a color from the router to the PE.

    ```
    wse.input_queue @from_north color @south id 3
    wse.input_queue @from_west colors [@east0 on [1::2, :], @east1 on [::2, :]]
    wse.input_queue @commands color @down id 4 unblocked
    ```

    Control wavelets of a queue that has a data task start control tasks; those of another one do so only if it is
    `unblocked`, from the beginning or by `wse.unblock`. Without an id, `dsd-assign-queues` chooses one. An id the
    target lacks is refused (DSD-220).
    """

    name = "wse.input_queue"

    @classmethod
    def parse(cls, parser: Parser) -> InputQueueOp:
        name, colors, number, unblocked, attributes = cls._parse_fields(parser)
        return cls(name, colors, number, attributes, unblocked=unblocked)

    def queue_words(self, target: Target) -> tuple[int, ...]:
        return target.input_queue_words


@irdl_op_definition
class OutputQueueOp(QueueOp):
    """A queue that takes wavelets of a color from the PE to the router.

    ```
    wse.output_queue @to_east color @east0 id 2
    ```

    Without an id, `dsd-assign-queues` chooses one. An id the target lacks is refused: WSE-2 has
    output queues 0 to 5 only (DSD-219, DSD-220).
    """

    name = "wse.output_queue"

    @classmethod
    def parse(cls, parser: Parser) -> OutputQueueOp:
        name, colors, number, unblocked, attributes = cls._parse_fields(parser)
        return cls(name, colors, number, attributes, unblocked=unblocked)

    def queue_words(self, target: Target) -> tuple[int, ...]:
        return target.output_queue_words


# ---------------------------------------------------------------------------------------------
# Code
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function of the PE: called by other code, or launched by the host if exported.

    ```
    wse.func @main(%iterations: i16) { ... wse.return }
    wse.func @square(%x: f32) -> f32 { ... wse.return %y : f32 }
    ```

    A body that ends without `wse.return` returns nothing.
    """

    name = "wse.func"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        body: Region | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"sym_name": StringAttr(name), "function_type": function_type},
            regions=[Region(Block(arg_types=function_type.inputs)) if body is None else body],
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_argument(parser))
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            listed = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            results = [parser.parse_type()] if listed is None else list(listed)
        attributes = parse_attributes(parser)
        body = parse_body(parser, arguments, ReturnOp)
        type = FunctionType.from_lists([argument.type for argument in arguments], results)
        return cls(name, type, body, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_arguments(printer, self.body)
        results = self.function_type.outputs.data
        if len(results) == 1:
            printer.print_string(" -> ")
            printer.print_attribute(results[0])
        elif results:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(results, printer.print_attribute)
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        if self.body.block.arg_types != self.function_type.inputs.data:
            raise VerifyException(
                f"the body of function @{self.sym_name.data} does not take the arguments of its type; make both agree"
            )


@irdl_op_definition
class TaskOp(SymbolUser):
    """Code that the PE's scheduler starts.

    ```
    wse.task @step local { ... }
    wse.task @done local id 9 blocked { ... }
    wse.task @receive data @from_west (%value: f32) { ... }
    wse.task @end control id 5 { ... }
    ```

    A local task runs when it is activated and not blocked; `active` and `blocked` give its state
    when the program starts. A data task runs for each wavelet of its input queue and takes the
    wavelet as one argument, or as two of 16 bits, the low half first. A control task runs for a
    control wavelet that carries its id in bits 16 to 21; it takes no argument, the 16 bits of data below the id,
    or the whole wavelet as a data task does.
    """

    name = "wse.task"
    sym_name = prop_def(SymbolNameConstraint())
    kind = prop_def(TaskKindAttr)
    queue = opt_prop_def(SymbolRefAttr)
    id = opt_prop_def(IntegerAttr)
    active = opt_prop_def(UnitAttr)
    blocked = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        kind: TaskKind,
        body: Region | None = None,
        *,
        queue: str | None = None,
        id: int | None = None,
        active: bool = False,
        blocked: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "kind": TaskKindAttr(kind),
                "queue": None if queue is None else SymbolRefAttr(queue),
                "id": None if id is None else IntegerAttr(id, i64),
                "active": UnitAttr() if active else None,
                "blocked": UnitAttr() if blocked else None,
            },
            regions=[Region(Block()) if body is None else body],
            attributes=attributes or {},
        )

    @property
    def task_kind(self) -> TaskKind:
        return self.kind.data

    @property
    def task_id(self) -> int | None:
        """The task's number on the machine, if it is fixed."""
        return None if self.id is None else self.id.value.data

    @classmethod
    def parse(cls, parser: Parser) -> TaskOp:
        name = parser.parse_symbol_name().data
        kind = parser.parse_str_enum(TaskKind)
        queue = parser.parse_symbol_name().data if kind is TaskKind.DATA else None
        number = None
        if parser.parse_optional_keyword("id") is not None:
            number = parser.parse_integer(allow_boolean=False)
        active = parser.parse_optional_keyword("active") is not None
        blocked = parser.parse_optional_keyword("blocked") is not None
        arguments = parse_arguments(parser)
        attributes = parse_attributes(parser)
        return cls(
            name,
            kind,
            parse_body(parser, arguments, ReturnOp),
            queue=queue,
            id=number,
            active=active,
            blocked=blocked,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" {self.task_kind}")
        if self.queue is not None:
            printer.print_string(" ")
            printer.print_attribute(self.queue)
        if self.id is not None:
            printer.print_string(f" id {self.id.value.data}")
        if self.active is not None:
            printer.print_string(" active")
        if self.blocked is not None:
            printer.print_string(" blocked")
        if self.body.block.args:
            printer.print_string(" ")
            print_arguments(printer, self.body)
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        name = self.sym_name.data
        if (self.queue is not None) != (self.task_kind is TaskKind.DATA):
            raise VerifyException(
                f"{self.task_kind} task @{name} "
                + ("needs the input queue that starts it" if self.queue is None else "has a queue")
                + "; data tasks have one, no others"
            )
        verify_task(
            self.task_kind,
            name,
            self.body.block.arg_types,
            active=self.active is not None,
            verify_element=verify_element_type,
        )
        if self.id is not None and self.task_kind is TaskKind.DATA:
            raise VerifyException(f"data task @{name} has an id, which its queue gives it; remove the id")
        if self.task_kind is TaskKind.CONTROL and self.id is None:
            raise VerifyException(f"control task @{name} has no id, so no control wavelet can name it; give it one")

    def verify_symbols(self, scope: Scope) -> None:
        if self.queue is not None:
            scope.input_queue(self.queue)
        if self.task_id is not None:
            control = self.task_kind is TaskKind.CONTROL
            verify_task_id(_described(self), self.task_id, scope.target, control=control)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a function or task.

    ```
    wse.return
    wse.return %y : f32
    ```
    """

    name = "wse.return"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(FuncOp, TaskOp))
    assembly_format = "($arguments^ `:` type($arguments))? attr-dict"

    def __init__(self, *arguments: SSAValue):
        super().__init__(operands=[arguments])

    def verify_(self) -> None:
        parent = self.parent_op()
        expected: Sequence[Attribute] = ()
        # The parent is verified after its body, so its type may still be missing or wrong.
        type = None if parent is None else parent.properties.get("function_type")
        if isinstance(type, FunctionType):
            expected = type.outputs.data
        if tuple(self.arguments.types) != tuple(expected):
            raise VerifyException(
                "wse.return does not return what its function or task promises "
                f"({', '.join(map(str, expected)) or 'nothing'}); make both agree"
            )


@irdl_op_definition
class CallOp(SymbolUser):
    """Calls a function of the same PE program.

    ```
    %y = wse.call @square(%x) : (f32) -> f32
    ```
    """

    name = "wse.call"
    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    res = var_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue] = (), results: Sequence[Attribute] = ()):
        super().__init__(
            operands=[arguments],
            result_types=[results],
            properties={"callee": SymbolRefAttr(callee)},
        )

    def verify_symbols(self, scope: Scope) -> None:
        function = scope.func(self.callee)
        used = FunctionType.from_lists(self.arguments.types, self.res.types)
        if used != function.function_type:
            raise VerifyException(
                f"function @{function.sym_name.data} has type {function.function_type}, but is "
                f"called as {used}; make both agree"
            )


@irdl_op_definition
class GetBufferOp(SymbolUser):
    """The memory of a buffer.

    ```
    %u = wse.get_buffer @u : memref<64xf32>
    ```
    """

    name = "wse.get_buffer"
    buffer = prop_def(SymbolRefAttr)
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$buffer attr-dict `:` type($result)"

    def __init__(self, buffer: str, type: MemRefType):
        super().__init__(properties={"buffer": SymbolRefAttr(buffer)}, result_types=[type])

    def verify_symbols(self, scope: Scope) -> None:
        buffer = scope.buffer(self.buffer)
        if buffer.type != self.result.type:
            raise VerifyException(
                f"buffer @{buffer.sym_name.data} has type {buffer.type}, not {self.result.type}; use its type"
            )


@irdl_op_definition
class AddressOfOp(SymbolUser):
    """The address of a buffer's first word, in 16-bit words; a constant once memory is laid out.

    ```
    %p = wse.address_of @u : i16
    ```
    """

    name = "wse.address_of"
    buffer = prop_def(SymbolRefAttr)
    result = result_def(i16)
    traits = traits_def(Pure())
    assembly_format = "$buffer attr-dict `:` type($result)"

    def __init__(self, buffer: str):
        super().__init__(properties={"buffer": SymbolRefAttr(buffer)}, result_types=[i16])

    def verify_symbols(self, scope: Scope) -> None:
        scope.buffer(self.buffer)


@irdl_op_definition
class ViewOp(IRDLOperation):
    """Memory at a run-time word address, as an array of open extent or as one element.

    ```
    %m = wse.view %p : memref<?xf32>
    %s = wse.view %p : memref<f32>
    ```

    It is loaded, stored and described (`dsd.mem1d`, `dsd.mem4d`, `dsd.set_base`) like a buffer; with rank 0 it is also
    the scalar destination of a DSD operation. Nothing is checked against a buffer: an element may be of any buffer,
    of the type of the view. An address outside the memory in use, or an odd one of a 32-bit element, is an error when
    the access happens.
    """

    name = "wse.view"
    address = operand_def(i16)
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$address attr-dict `:` type($result)"

    def __init__(self, address: SSAValue, type: MemRefType):
        super().__init__(operands=[address], result_types=[type])

    def verify_(self) -> None:
        type = self.result.type
        assert isa(type, MemRefType)
        verify_element_type(type.get_element_type(), "memory")
        if type.get_num_dims() > 1 or type.has_static_shape() != (type.get_num_dims() == 0):
            raise VerifyException(
                f"a view of type {type} is neither a row of open extent nor a single element; use "
                f"memref<?x{type.get_element_type()}> or memref<{type.get_element_type()}>"
            )


@irdl_op_definition
class AssertOp(IRDLOperation):
    """Ends the run with an error that gives the message and the PE, where the condition does not hold.

    ```
    wse.assert %condition, "the index is in range"
    ```
    """

    name = "wse.assert"
    condition = operand_def(i1)
    message = prop_def(StringAttr)
    assembly_format = "$condition `,` $message attr-dict"

    def __init__(self, condition: SSAValue, message: str):
        super().__init__(operands=[condition], properties={"message": StringAttr(message)})


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Appends a text to the log of the machine, with the PE and its clock; costs no cycles.

    ```
    wse.print "x is {d}, 2x is {f}\n", %x, %y : i16, f32
    ```

    `{u}` prints an operand as unsigned number, `{d}` signed, `{x}` hexadecimal, `{X}` hexadecimal and `{b}` binary with
    every digit of the type, `{f}` a float; `{{` is a brace.
    """

    name = "wse.print"
    format = prop_def(StringAttr)
    arguments = var_operand_def(IntegerType | AnyFloat)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$format (`,` $arguments^ `:` type($arguments))? attr-dict"

    def __init__(self, format: str, arguments: Sequence[SSAValue] = ()):
        super().__init__(operands=[arguments], properties={"format": StringAttr(format)})

    def verify_(self) -> None:
        verify_format(self.format.data, [isinstance(type, AnyFloat) for type in self.arguments.types])


@irdl_op_definition
class TimestampOp(IRDLOperation):
    """The cycle counter of the PE, 48 bits: three words, the lowest first.

    ```
    %low, %middle, %high = wse.timestamp : i16, i16, i16
    ```
    """

    name = "wse.timestamp"
    low = result_def(i16)
    middle = result_def(i16)
    high = result_def(i16)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "attr-dict `:` type($low) `,` type($middle) `,` type($high)"

    def __init__(self):
        super().__init__(result_types=[i16, i16, i16])


@irdl_op_definition
class GetParamOp(SymbolUser):
    """The value a parameter has on this PE.

    ```
    %c = wse.get_param @coefficient : f32
    ```
    """

    name = "wse.get_param"
    param = prop_def(SymbolRefAttr)
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$param attr-dict `:` type($result)"

    def __init__(self, param: str, type: Attribute):
        super().__init__(properties={"param": SymbolRefAttr(param)}, result_types=[type])

    def verify_symbols(self, scope: Scope) -> None:
        param = scope.param(self.param)
        if param.type != self.result.type:
            raise VerifyException(
                f"parameter @{param.sym_name.data} has type {param.type}, not {self.result.type}; use its type"
            )


class _AxisOp(IRDLOperation, ABC):
    """Shared by what gives a number for x or y."""

    axis = prop_def(AxisAttr)
    result = result_def(i16)
    traits = traits_def(Pure())

    def __init__(self, axis: Axis):
        super().__init__(properties={"axis": AxisAttr(axis)}, result_types=[i16])

    @classmethod
    def parse(cls, parser: Parser):
        axis = parser.parse_str_enum(Axis)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        if parser.parse_type() != i16:
            parser.raise_error("coordinates and extents are of type i16", position)
        op = cls(axis)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : i16")


@irdl_op_definition
class CoordinateOp(_AxisOp):
    """Where this PE stands in the rectangle: x from 0 at the west, y from 0 at the north.

    ```
    %x = wse.coordinate x : i16
    ```
    """

    name = "wse.coordinate"


@irdl_op_definition
class ExtentOp(_AxisOp):
    """Size of the rectangle in PEs: its width for x, its height for y.

    ```
    %width = wse.extent x : i16
    ```
    """

    name = "wse.extent"


@irdl_op_definition
class ActivateOp(SymbolUser):
    """Activates a local task: it runs once the PE is free and the task is not blocked.

    ```
    wse.activate @step
    ```
    """

    name = "wse.activate"
    task = prop_def(SymbolRefAttr)
    traits = traits_def(WritesTaskStates())
    assembly_format = "$task attr-dict"

    def __init__(self, task: str):
        super().__init__(properties={"task": SymbolRefAttr(task)})

    def verify_symbols(self, scope: Scope) -> None:
        scope.task_to_activate(self.task)


@irdl_op_definition
class BlockOp(SymbolUser):
    """Blocks a task, or the tasks of a queue: activations are kept until it is unblocked.

    ```
    wse.block @step
    ```
    """

    name = "wse.block"
    symbol = prop_def(SymbolRefAttr)
    traits = traits_def(WritesTaskStates())
    assembly_format = "$symbol attr-dict"

    def __init__(self, symbol: str):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)})

    def verify_symbols(self, scope: Scope) -> None:
        scope.check_unblock(self.symbol, "blocked")


@irdl_op_definition
class UnblockOp(SymbolUser):
    """Lets a blocked task, or the tasks of a queue, run again.

    ```
    wse.unblock @step
    ```
    """

    name = "wse.unblock"
    symbol = prop_def(SymbolRefAttr)
    traits = traits_def(WritesTaskStates())
    assembly_format = "$symbol attr-dict"

    def __init__(self, symbol: str):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)})

    def verify_symbols(self, scope: Scope) -> None:
        scope.check_unblock(self.symbol)


_PE_MEMBERS = (
    BufferOp, InitializeOp, FifoOp, InitialOp, ParamOp, ExportOp, InputQueueOp, OutputQueueOp, FuncOp, TaskOp
)  # fmt: skip

Wse = Dialect(
    "wse",
    [
        ProgramOp,
        ColorOp,
        RouteOp,
        HostStreamOp,
        PeOp,
        BufferOp,
        FifoOp,
        InitialOp,
        ParamOp,
        InitializeOp,
        ExportOp,
        InputQueueOp,
        OutputQueueOp,
        FuncOp,
        TaskOp,
        ReturnOp,
        CallOp,
        GetBufferOp,
        AddressOfOp,
        ViewOp,
        GetParamOp,
        CoordinateOp,
        ExtentOp,
        ActivateOp,
        BlockOp,
        UnblockOp,
        AssertOp,
        PrintOp,
        TimestampOp,
    ],
    [DirectionAttr, TaskKindAttr, AxisAttr, QueueColorAttr, RegionAttr],
)
