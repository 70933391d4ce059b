"""The `flow` dialect: what the runtime executes.

A `flow.fabric` is a grid of units joined by routes. Units that run the same program are one `flow.units` with a
region of coordinates, a word-addressed memory, queues and tasks; what differs from unit to unit is data
(`flow.coordinate`, `flow.get_param`). Task bodies are `arith`, `math` and `scf` on scalars, loads and stores, and
`flow.apply`: one table operation repeated over streams, which are strided walks over memory or runs of wavelets
of a queue. Everything that has a number on the machine (address, color, queue, task, microthread) has it here.

A verified fabric has nothing left to check by name or by type: symbols are there and of the right kind, numbers are
the target's, streams are used the way they flow. All of it costs one walk over the operations.

The dialect knows nothing of CSL, of descriptors or of how the runtime stores memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, Literal, TypeAlias, TypeVar

from xdsl.dialects import scf
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
    bf16,
    f16,
    f32,
    i1,
    i8,
    i16,
    i32,
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
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
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

from ..targets import TARGETS, Target
from .assembly import (
    parse_arguments,
    parse_attributes,
    parse_body,
    parse_members,
    parse_symbol,
    print_arguments,
    print_attributes,
    print_body,
)
from .dsd_table import OPERATIONS, DsdOperation, Element
from .fifo_options import (
    FIFO_SIDES,
    parse_fifo_options,
    print_fifo_options,
    verify_fifo_actions,
    verify_fifo_side,
)
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
from .region import RegionAttr, indices_text, parse_region_list, print_region_list, region_list_text
from .region_overlap import first_overlap
from .traversal import walk

DYNAMIC = -(1 << 63)
"""Marks an integer field whose value is the next SSA operand of its group."""

DIRECTIONS = ("ramp", "north", "east", "south", "west")
"""Router ports; `ramp` leads to the unit's own queues. y grows south, x grows east."""

ELEMENT_TYPES: tuple[Attribute, ...] = (f16, bf16, f32, i16, i32)
"""What memory and wavelets hold; integers are signless, operations give the sign."""

SCALAR_TYPES: tuple[Attribute, ...] = (*ELEMENT_TYPES, i1, i8, i64, IndexType())
"""What a body computes with."""

LITERALS = range(-0xFFFF, 0x10000)
"""Offsets and strides that a stream can have as literals."""

EXTENTS = range(0x10000)

POINTER_EXTENT = 0xFFFF
"""Length of the walk that stands for a pointer to a scalar: never the shortest operand (DSD-072, AMB-01)."""

Scalar = IntegerType | AnyFloat | IndexType

_OperationT = TypeVar("_OperationT", bound=Operation)


def verify_element_type(type: Attribute, owner: str) -> None:
    """Raise VerifyException unless `type` is one of `ELEMENT_TYPES`."""
    if type not in ELEMENT_TYPES:
        raise VerifyException(f"{owner} cannot hold {type}; use f16, bf16, f32, i16 or i32")


def element_words(type: Attribute) -> int:
    """16-bit words an element of `type` takes in memory; raises VerifyException for other types."""
    verify_element_type(type, "memory")
    return 2 if type in (f32, i32) else 1


def _verify_scalar(type: Attribute, owner: str) -> None:
    if type not in SCALAR_TYPES:
        raise VerifyException(f"{owner} cannot be of type {type}; use f16, bf16, f32, i1, i8, i16, i32, i64 or index")


@irdl_attr_definition
class StreamType(ParametrizedAttribute, TypeAttribute):
    """A finite sequence of scalars: a strided walk over memory or a run of wavelets of a queue."""

    name: ClassVar[str] = "flow.stream"  # pyright: ignore[reportIncompatibleVariableOverride]
    element_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            type = parser.parse_type()
            if type not in ELEMENT_TYPES:
                parser.raise_error(f"a stream cannot hold {type}; use f16, bf16, f32, i16 or i32", position)
        return (type,)

    def verify(self) -> None:
        verify_element_type(self.element_type, "a stream")


class _Integers:
    """Parses and prints lists of integers, each a literal or an SSA value of type i16."""

    @staticmethod
    def parse_one(parser: Parser, operands: list[UnresolvedOperand]) -> int:
        operand = parser.parse_optional_unresolved_operand()
        if operand is None:
            position = parser.pos
            number = parser.parse_integer(allow_boolean=False)
            if number not in LITERALS:
                parser.raise_error(
                    f"{number} does not fit a field of a stream; choose a number from {LITERALS[0]} to {LITERALS[-1]}",
                    position,
                )
            return number
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


# ---------------------------------------------------------------------------------------------
# Symbols
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """What the operations of a fabric, or of one class of its units, may name, and the machine they are for.

    Built once for each class, so that checking all uses of symbols costs one walk of the program.
    """

    target: Target
    grid: tuple[int, int]
    """Columns and rows."""
    where: str
    """The operation whose symbols these are, for errors."""
    fabric: Mapping[str, Operation]
    units: Mapping[str, Operation]
    words: int = 0
    """Memory of a unit, in 16-bit words."""
    streams: Streams = field(default_factory=lambda: Streams())

    def find(self, symbol: SymbolRefAttr) -> Operation:
        """The operation that defines `symbol`; raises VerifyException if there is none."""
        name = symbol.string_value()
        found = self.units.get(name) or self.fabric.get(name)
        if found is None:
            raise VerifyException(f"@{name} is not defined in {self.where}; define it or correct the name")
        return found

    def color(self, symbol: SymbolRefAttr) -> ColorOp:
        """The color called `symbol`; raises VerifyException if it is anything else."""
        # A unit may use the name for something of its own.
        found = self.fabric.get(symbol.string_value())
        return found if isinstance(found, ColorOp) else self._of_kind(symbol, ColorOp, "a color")

    def buffer(self, symbol: SymbolRefAttr) -> BufferOp:
        """The buffer called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, BufferOp, "a buffer")

    def fifo(self, symbol: SymbolRefAttr) -> FifoOp:
        """The FIFO called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FifoOp, "a FIFO")

    def param(self, symbol: SymbolRefAttr) -> ParamOp:
        """The parameter called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, ParamOp, "a param")

    def func(self, symbol: SymbolRefAttr) -> FuncOp:
        """The function called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FuncOp, "a function")

    def queue(self, symbol: SymbolRefAttr) -> QueueOp:
        """The queue called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, QueueOp, "a queue")

    def input_queue(self, symbol: SymbolRefAttr) -> QueueOp:
        """The input queue called `symbol`; raises VerifyException if it is anything else."""
        found = self._of_kind(symbol, QueueOp, "an input queue")
        if not found.is_input:
            raise VerifyException(f"{_described(found)} stands where an input queue is needed; name an input queue")
        return found

    def task_to_activate(self, symbol: SymbolRefAttr) -> TaskOp:
        """The local task called `symbol`: nothing else can be activated (DSD-190, DSD-191)."""
        found = self.find(symbol)
        if not isinstance(found, TaskOp) or not found.is_local:
            raise VerifyException(f"{_described(found)} cannot be activated; name a local task")
        return found

    def check_block(self, symbol: SymbolRefAttr, done: str) -> None:
        """Accept a task, or an input queue, which stands for what its wavelets start (DSD-192, DSD-193)."""
        found = self.find(symbol)
        if not isinstance(found, TaskOp) and not (isinstance(found, QueueOp) and found.is_input):
            raise VerifyException(f"{_described(found)} cannot be {done}; name a task or an input queue")

    def _of_kind(self, symbol: SymbolRefAttr, kind: type[_OperationT], noun: str) -> _OperationT:
        found = self.find(symbol)
        if not isinstance(found, kind):
            raise VerifyException(f"{_described(found)} stands where {noun} is needed; name {noun}")
        return found


class SymbolUser(IRDLOperation, ABC):
    """An operation that names symbols of its fabric or units, or depends on the target.

    xDSL's own interface looks each name up by a scan of the symbol table; `flow.fabric` instead builds the tables
    once and calls `verify_symbols` on every user in a single walk.
    """

    @abstractmethod
    def verify_symbols(self, scope: Scope) -> None:
        """Raise VerifyException if a name is missing, of the wrong kind, or the target refuses."""


def _symbol_name(op: Operation) -> str | None:
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def _symbols(table: FabricOp | UnitsOp) -> dict[str, Operation]:
    return {name: op for op in table.body.block.ops if (name := _symbol_name(op)) is not None}


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _described(op: Operation) -> str:
    """How an error names a symbol: `local task @step`, `input queue @west`, `buffer @u`."""
    match op:
        case TaskOp():
            kind = f"{op.kind.data} task"
        case QueueOp():
            kind = f"{op.direction.data} queue"
        case FuncOp():
            kind = "function"
        case FifoOp():
            kind = "FIFO"
        case _:
            kind = op.name.removeprefix("flow.")
    return f"{kind} @{_symbol_name(op)}"


def _verify_symbols(user: SymbolUser, scope: Scope) -> None:
    """Report an error at the operation that made it, not at the fabric that found it."""
    try:
        user.verify_symbols(scope)
    except VerifyException as error:
        user.emit_error(f"Operation does not verify: {error}", error)


def _verify_units(units: UnitsOp, outer: Scope) -> None:
    """Check all that the operations of a class name, how their streams flow, and the ids of the class."""
    available = outer.target.memory_bytes // 2
    words = units.words.value.data
    if not 0 <= words <= available:
        op = units
        raise VerifyException(
            f"units @{op.sym_name.data} have {words} words of memory, but a PE of {outer.target.name} has {available}; "
            "use fewer"
        )
    symbols = _symbols(units)
    streams = Streams()
    streams.trace(units, symbols)
    where = f"flow.units @{units.sym_name.data}"
    scope = Scope(outer.target, outer.grid, where, outer.fabric, symbols, words, streams)
    calls: dict[str, list[CallOp]] = {}
    for member in units.body.block.ops:
        for user in walk(member):
            if isinstance(user, SymbolUser):
                _verify_symbols(user, scope)
            if isinstance(user, CallOp) and isinstance(member, FuncOp):
                calls.setdefault(member.sym_name.data, []).append(user)
    _verify_no_recursion(calls)
    _verify_queue_ids(units, scope)
    _verify_task_ids(units, scope)


def _verify_no_recursion(calls: Mapping[str, Sequence[CallOp]]) -> None:
    """Refuse a call that leads back to the function it stands in. `calls` are those of each function."""
    finished: set[str] = set()
    for start in calls:
        active = {start: iter(calls[start])}
        while active:
            name, rest = next(reversed(active.items()))
            op = next(rest, None)
            if op is None:
                finished.add(name)
                del active[name]
                continue
            callee = op.callee.string_value()
            if callee in active:
                raise VerifyException(f"function @{callee} calls itself by this call; write a loop instead")
            if callee not in finished:
                active[callee] = iter(calls.get(callee, ()))


def _verify_queue_ids(units: UnitsOp, scope: Scope) -> None:
    """On WSE-3 a queue keeps its color, so queues of one id and direction serve one color on a PE (AMB-11)."""
    if not scope.target.queues_keep_color:
        return
    sharing: dict[tuple[str, int], list[QueueOp]] = {}
    for op in units.body.block.ops:
        if isinstance(op, QueueOp):
            sharing.setdefault((op.direction.data, op.queue_id.value.data), []).append(op)
    for (_, number), queues in sharing.items():
        places = [(queue, place) for queue in queues for place in queue.places(scope.grid)]
        found = first_overlap([place for _, place in places])
        if found is not None:
            (first, _), (op, _) = places[found[0]], places[found[1]]
            x, y = found[2]
            raise VerifyException(
                f"{_described(op)} has id {number}, which @{first.sym_name.data} has already with another color at PE "
                f"({x}, {y}); give one another id"
            )


def _verify_task_ids(units: UnitsOp, scope: Scope) -> None:
    """Local and data tasks share their numbers, control tasks have their own."""
    taken: dict[tuple[bool, int], TaskOp] = {}
    for op in units.body.block.ops:
        if not isinstance(op, TaskOp):
            continue
        other = taken.setdefault((op.kind.data == "control", op.task_id.value.data), op)
        # Data tasks have the ids of their queues or colors, which may be one on different PEs.
        if other is not op and not (op.is_data and other.is_data):
            raise VerifyException(
                f"{_described(op)} has id {op.task_id.value.data}, which @{other.sym_name.data} has already; give one "
                "another id"
            )


# ---------------------------------------------------------------------------------------------
# Where streams come from
# ---------------------------------------------------------------------------------------------

Origin: TypeAlias = Literal["vector", "array", "fifo", "received", "sent"]
"""What a stream is made of: a walk over memory of one dimension or of more, a FIFO, an input or an output queue."""


def _made_by(origin: Origin, owner: StreamMaker) -> str:
    """How an error names a stream."""
    if isinstance(owner, FifoStreamOp):
        return f"FIFO @{owner.fifo.string_value()}"
    if isinstance(owner, StreamOp):
        dimensions = "" if origin == "vector" else f" of {owner.dimensions} dimensions"
        array = "memory" if owner.buffer is None else f"buffer @{owner.buffer.string_value()}"
        return f"a walk{dimensions} over {array}"
    return f"a stream of {'input' if origin == 'received' else 'output'} queue @{owner.queue.string_value()}"


class Streams:
    """Where each stream of a class of units may come from, through branches, loops and calls.

    A stream type does not tell memory from queues, nor an input from an output. Origins spread along the values that
    pass a stream on; each value gets each origin once, with an operation that is one, so the work is linear.
    """

    def __init__(self) -> None:
        self._origins: dict[SSAValue, dict[Origin, StreamMaker]] = {}
        self._passed: dict[SSAValue, list[SSAValue]] = {}

    def of(self, stream: SSAValue) -> Mapping[Origin, StreamMaker]:
        """The possible origins of a stream, each with an operation that makes it so."""
        return self._origins.get(stream, {})

    def trace(self, units: UnitsOp, symbols: Mapping[str, Operation]) -> None:
        """Find the origins of all streams in the bodies of `units`. Names that do not exist are passed over."""
        fresh: list[tuple[SSAValue, Origin, StreamMaker]] = []
        for op in walk(units):
            match op:
                case StreamOp():
                    fresh.append((op.result, "vector" if op.dimensions == 1 else "array", op))
                case FifoStreamOp():
                    fresh.append((op.result, "fifo", op))
                case QueueStreamOp():
                    queue = symbols.get(op.queue.string_value())
                    if isinstance(queue, QueueOp):
                        fresh.append((op.result, "received" if queue.is_input else "sent", op))
                case _:
                    for source, target in _passes_on(op, symbols):
                        if isinstance(target.type, StreamType):
                            self._passed.setdefault(source, []).append(target)
        while fresh:
            value, origin, owner = fresh.pop()
            known = self._origins.setdefault(value, {})
            if origin not in known:
                known[origin] = owner
                fresh.extend((target, origin, owner) for target in self._passed.get(value, ()))


def _passes_on(op: Operation, symbols: Mapping[str, Operation]) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Pairs of values of which the second may be what the first is."""
    match op:
        case scf.IfOp():
            for region in op.regions:
                yield from zip(_last_operands(region), op.results, strict=False)
        case scf.ForOp():
            carried = _arguments(op.body)[1:]
            for values in (op.iter_args, _last_operands(op.body)):
                yield from zip(values, carried, strict=False)
                yield from zip(values, op.results, strict=False)
        case scf.WhileOp():
            before, after = op.before_region, op.after_region
            yield from zip(op.arguments, _arguments(before), strict=False)
            yield from zip(_last_operands(after), _arguments(before), strict=False)
            # The first operand of scf.condition is the condition.
            passed = _last_operands(before)[1:]
            yield from zip(passed, _arguments(after), strict=False)
            yield from zip(passed, op.results, strict=False)
        case CallOp():
            callee = symbols.get(op.callee.string_value())
            if isinstance(callee, FuncOp):
                yield from zip(op.arguments, _arguments(callee.body), strict=False)
                yield from zip(_last_operands(callee.body), op.results, strict=False)
        case _:
            for result in op.results:
                if isinstance(result.type, StreamType):
                    yield from ((operand, result) for operand in op.operands)


def _arguments(region: Region) -> Sequence[SSAValue]:
    return () if region.first_block is None else region.first_block.args


def _last_operands(region: Region) -> Sequence[SSAValue]:
    last = region.block.last_op if len(region.blocks) == 1 else None
    return () if last is None else last.operands


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
        attributes = parse_attributes(parser)
        op = cls(name, target, width, height, parse_members(parser))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f' target "{self.target.data}" grid ')
        printer.print_string(f"{self.width.value.data} by {self.height.value.data}")
        print_attributes(printer, self)
        print_body(printer, self.body)

    @property
    def grid(self) -> tuple[int, int]:
        """Columns and rows."""
        return self.width.value.data, self.height.value.data

    def verify_(self) -> None:
        if min(self.grid) < 1:
            raise VerifyException("the grid of a flow.fabric needs at least one column and one row")
        target = TARGETS.get(self.target.data)
        if target is None:
            raise VerifyException(f"unknown target '{self.target.data}'; choose one of {', '.join(sorted(TARGETS))}")
        scope = Scope(target, self.grid, f"flow.fabric @{self.sym_name.data}", _symbols(self), {})
        self._verify_colors(target)
        for op in self.body.block.ops:
            match op:
                case ColorOp():
                    pass
                case RouteOp() | HostStreamOp():
                    _verify_symbols(op, scope)
                case UnitsOp():
                    _verify_units(op, scope)
                case _:
                    raise VerifyException(
                        f"{op.name} does not belong in a flow.fabric directly; only colors, routes, host streams and "
                        "units do"
                    )
        self._verify_places()
        self._verify_exports()

    def _verify_colors(self, target: Target) -> None:
        taken: dict[int, str] = {}
        for op in self.body.block.ops:
            if not isinstance(op, ColorOp):
                continue
            number, name = op.color.value.data, op.sym_name.data
            if not 0 <= number < target.routable_colors:
                raise VerifyException(
                    f"color @{name} is color {number}, which {target.name} does not offer; choose one from 0 to "
                    f"{target.routable_colors - 1}"
                )
            if (other := taken.setdefault(number, name)) != name:
                raise VerifyException(f"colors @{other} and @{name} are both color {number}; give one another number")

    def _verify_places(self) -> None:
        places: list[tuple[UnitsOp, tuple[range, range]]] = []
        for op in self.body.block.ops:
            if isinstance(op, UnitsOp):
                regions = [region.resolve(*self.grid) for region in op.regions_attr]
                if not any(columns and rows for columns, rows in regions):
                    raise VerifyException(
                        f"units @{op.sym_name.data} on {region_list_text(op.regions_attr)} stand on no PE of the grid, "
                        f"which has {indices_text(*self.grid)}; correct their region or remove them"
                    )
                places += [(op, region) for region in regions]
        found = first_overlap(places)
        if found is not None:
            (first, _), (op, _) = places[found[0]], places[found[1]]
            x, y = found[2]
            raise VerifyException(
                f"units @{op.sym_name.data} stand on PE ({x}, {y}), where @{first.sym_name.data} stand already; "
                "place one class of units on each PE"
            )

    def _verify_exports(self) -> None:
        """What has one name has one type on all PEs."""
        known: dict[str, tuple[str, str]] = {}
        for units in self.body.block.ops:
            if not isinstance(units, UnitsOp):
                continue
            symbols = _symbols(units)
            for op in units.body.block.ops:
                if not isinstance(op, ExportOp):
                    continue
                name, shown = op.visible_name.data, op.shown_as(symbols)
                other, owner = known.setdefault(name, (shown, units.sym_name.data))
                if other != shown:
                    raise VerifyException(
                        f'"{name}" is {shown} here, but {other} in units @{owner}; give them one type or two names'
                    )


@irdl_op_definition
class ColorOp(IRDLOperation):
    """Names a routable color."""

    name = "flow.color"
    sym_name = prop_def(SymbolNameConstraint())
    color = prop_def(IntegerAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(FabricOp))

    def __init__(self, name: str, color: int):
        super().__init__(properties={"sym_name": StringAttr(name), "color": IntegerAttr(color, i64)})

    @classmethod
    def parse(cls, parser: Parser) -> ColorOp:
        name = parser.parse_symbol_name().data
        parser.parse_punctuation("=")
        op = cls(name, parser.parse_integer(allow_boolean=False))
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" = {self.color.value.data}")
        print_attributes(printer, self)


@irdl_op_definition
class RouteOp(SymbolUser):
    """Sets the router of every unit of a region for one color: wavelets from any port of `from` leave by every
    port of `to`. Where two routes of a color meet, the later one holds."""

    name = "flow.route"
    color = prop_def(SymbolRefAttr)
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    receive = prop_def(ArrayAttr[StringAttr])
    transmit = prop_def(ArrayAttr[StringAttr])
    traits = traits_def(HasParent(FabricOp))

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
        color = parse_symbol(parser)
        parser.parse_keyword("on")
        regions = parse_region_list(parser)

        def ports(keyword: str) -> list[str]:
            parser.parse_keyword(keyword)
            return parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_keyword_in(DIRECTIONS)
            )

        op = cls(color, regions.data, ports("from"), ports("to"))
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(" on ")
        print_region_list(printer, self.regions_attr)
        for keyword, ports in (("from", self.receive), ("to", self.transmit)):
            printer.print_string(f" {keyword} [{', '.join(port.data for port in ports)}]")
        print_attributes(printer, self)

    def verify_(self) -> None:
        receive, transmit = ([port.data for port in ports] for ports in (self.receive, self.transmit))
        for port in (*receive, *transmit):
            if port not in DIRECTIONS:
                raise VerifyException(f"'{port}' is no router port; the ports are {', '.join(DIRECTIONS)}")
        verify_ports(receive, transmit)

    def verify_symbols(self, scope: Scope) -> None:
        scope.color(self.color)


@irdl_op_definition
class HostStreamOp(SymbolUser):
    """Connects a color with the host on every unit of a region.

    `in`: what the host sends arrives in the unit's input queue of the color. `out`: what the unit sends on the color
    goes to the host, unless its router has a route for the color.
    """

    name = "flow.host_stream"
    color = prop_def(SymbolRefAttr)
    way = prop_def(StringAttr)
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    traits = traits_def(HasParent(FabricOp))

    def __init__(self, color: str | SymbolRefAttr, way: str, regions: Sequence[RegionAttr]):
        super().__init__(
            properties={
                "color": SymbolRefAttr(color) if isinstance(color, str) else color,
                "way": StringAttr(way),
                "regions": ArrayAttr(regions),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> HostStreamOp:
        color = parse_symbol(parser)
        way = parser.parse_keyword_in(("in", "out"))
        parser.parse_keyword("on")
        op = cls(color, way, parse_region_list(parser).data)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(f" {self.way.data} on ")
        print_region_list(printer, self.regions_attr)
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_stream_way(self.way.data)

    def verify_symbols(self, scope: Scope) -> None:
        scope.color(self.color)


@irdl_op_definition
class UnitsOp(IRDLOperation):
    """A class of units that run one program: where they stand and how many 16-bit words of memory they use."""

    name = "flow.units"
    sym_name = prop_def(SymbolNameConstraint())
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    words = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), SymbolTable(), NoTerminator(), IsolatedFromAbove(), HasParent(FabricOp))

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
        attributes = parse_attributes(parser)
        op = cls(name, regions.data, words, parse_members(parser))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        print_region_list(printer, self.regions_attr)
        printer.print_string(f" words {self.words.value.data}")
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        exported: set[str] = set()
        listening: dict[str, str] = {}
        for op in self.body.block.ops:
            if not isinstance(op, _UNITS_MEMBERS):
                raise VerifyException(
                    f"{op.name} does not belong in flow.units directly; put it into a flow.func or flow.task"
                )
            if isinstance(op, ExportOp):
                if (name := op.visible_name.data) in exported:
                    raise VerifyException(f'"{name}" is exported twice; give one of them another name')
                exported.add(name)
            elif isinstance(op, TaskOp) and op.queue is not None:
                name, queue = op.sym_name.data, op.queue.string_value()
                if (other := listening.setdefault(queue, name)) != name:
                    raise VerifyException(
                        f"queue @{queue} has two data tasks, @{other} and @{name}; give one of them another queue"
                    )


@irdl_op_definition
class BufferOp(SymbolUser):
    """An array in unit memory at a word address (16-bit words); 32-bit elements need an even address.

    Buffers may lie over one another. Row-major; rank 0 is a scalar variable. Without an initial value the memory
    holds zeros.
    """

    name = "flow.buffer"
    sym_name = prop_def(SymbolNameConstraint())
    address = prop_def(IntegerAttr)
    type = prop_def(MemRefType)
    initial = opt_prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(UnitsOp))

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
        position = parser.pos
        type = parser.parse_type()
        if not isa(type, MemRefType[Attribute]):
            parser.raise_error("a buffer has a memref type, for example memref<64xf32>", position)
        initial = None
        if parser.parse_optional_punctuation("=") is not None:
            parser.parse_keyword("dense")
            if type.element_type not in ELEMENT_TYPES or not isa(type, MemRefType[Scalar]):
                parser.raise_error(
                    f"a buffer cannot hold {type.element_type}; use f16, bf16, f32, i16 or i32", position
                )
            initial = parser.parse_dense_int_or_fp_elements_attr(TensorType(type.element_type, type.get_shape()))
        op = cls(name, address, type, initial)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" at {self.address.value.data} : ")
        printer.print_attribute(self.type)
        if self.initial is not None:
            printer.print_string(" = ")
            self.initial.print_without_type(printer)
        print_attributes(printer, self)

    @property
    def element_type(self) -> Attribute:
        return self.type.get_element_type()

    @property
    def first_word(self) -> int:
        return self.address.value.data

    def verify_(self) -> None:
        name = self.sym_name.data
        verify_element_type(self.element_type, f"buffer @{name}")
        if not self.type.has_static_shape():
            raise VerifyException(f"buffer @{name} has type {self.type} with an open extent; give every extent")
        if element_words(self.element_type) == 2 and self.first_word % 2:
            raise VerifyException(
                f"buffer @{name} holds 32-bit elements at odd word address {self.first_word}; align it to 2 words"
            )
        if self.initial is not None and (self.initial.get_shape(), self.initial.get_element_type()) != (
            self.type.get_shape(), self.element_type,
        ):  # fmt: skip
            raise VerifyException(
                f"initial value of type {self.initial.type} does not fit {self.type}; give it that type"
            )

    def verify_symbols(self, scope: Scope) -> None:
        end = self.first_word + prod(self.type.get_shape()) * element_words(self.element_type)
        if self.first_word < 0 or end > scope.words:
            raise VerifyException(
                f"buffer @{self.sym_name.data} takes words {self.first_word} to {end - 1}, but its units have words 0 "
                f"to {scope.words - 1}; move it or give them more words"
            )


@irdl_op_definition
class InitializeOp(SymbolUser):
    """The initial value of one element of a buffer, by its place in row-major order: a number, or a parameter.

    ```
    flow.initialize @pointers[2] = 640
    flow.initialize @size[0] = @columns
    ```

    It goes over what the buffer itself says of the element.
    """

    name = "flow.initialize"
    buffer = prop_def(SymbolRefAttr)
    element = prop_def(IntegerAttr)
    number = opt_prop_def(IntegerAttr)
    param = opt_prop_def(SymbolRefAttr)
    traits = traits_def(HasParent(UnitsOp))

    def __init__(self, buffer: str, element: int, value: int | str):
        super().__init__(
            properties={
                "buffer": SymbolRefAttr(buffer),
                "element": IntegerAttr(element, i64),
                "number": None if isinstance(value, str) else IntegerAttr(value, i64),
                "param": SymbolRefAttr(value) if isinstance(value, str) else None,
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> InitializeOp:
        buffer = parser.parse_symbol_name().data
        with parser.in_square_brackets():
            element = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation("=")
        param = parser.parse_optional_symbol_name()
        op = cls(buffer, element, parser.parse_integer(allow_boolean=False) if param is None else param.data)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.buffer)
        printer.print_string(f"[{self.element.value.data}] = ")
        if self.param is not None:
            printer.print_attribute(self.param)
        elif self.number is not None:
            printer.print_string(str(self.number.value.data))
        print_attributes(printer, self)

    def verify_(self) -> None:
        if (self.number is None) == (self.param is None):
            raise VerifyException("flow.initialize takes a number or a parameter, and only one of them; correct it")

    def verify_symbols(self, scope: Scope) -> None:
        buffer = scope.buffer(self.buffer)
        name, type = buffer.sym_name.data, buffer.element_type
        if not 0 <= (element := self.element.value.data) < (count := prod(buffer.type.get_shape())):
            raise VerifyException(f"buffer @{name} has no element {element}; choose one from 0 to {count - 1}")
        if self.param is not None:
            param = scope.param(self.param)
            if param.type != type:
                raise VerifyException(
                    f"param @{param.sym_name.data} has type {param.type}, but buffer @{name} holds {type}; make both "
                    "agree"
                )
        elif type not in (i16, i32):
            raise VerifyException(f"buffer @{name} holds {type}, not numbers such as addresses; use i16 or i32")


@irdl_op_definition
class ParamOp(SymbolUser):
    """A read-only scalar of every unit: one value for all, or one per unit of the grid, row-major [y][x]."""

    name = "flow.param"
    sym_name = prop_def(SymbolNameConstraint())
    values = prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(UnitsOp))

    def __init__(self, name: str, values: DenseIntOrFPElementsAttr):
        super().__init__(properties={"sym_name": StringAttr(name), "values": values})

    assembly_format = "$sym_name `=` $values attr-dict"

    @property
    def type(self) -> Attribute:
        """Type of the parameter as one unit sees it."""
        return self.values.get_element_type()

    def verify_(self) -> None:
        _verify_scalar(self.type, f"param @{self.sym_name.data}")

    def verify_symbols(self, scope: Scope) -> None:
        shape = list(self.values.get_shape())
        width, height = scope.grid
        if shape and shape != [height, width]:
            raise VerifyException(
                f"param @{self.sym_name.data} has values of shape {shape}; give one value, or one for each PE, "
                f"[{height}, {width}]"
            )


@irdl_op_definition
class ExportOp(SymbolUser):
    """Shows a buffer or function to the host under a name; `unsigned` makes the host see unsigned integers.

    ```
    flow.export @u as "u"
    flow.export @pointer as "y" points_to memref<24xf32>
    ```

    With `points_to` the host sees the memory at the word address that the buffer, one i16, holds on each unit at the
    time of a copy; the number of elements may be open. What several classes of units show under one name has one type.
    """

    name = "flow.export"
    symbol = prop_def(SymbolRefAttr)
    visible_name = prop_def(StringAttr)
    points_to = opt_prop_def(MemRefType)
    unsigned = opt_prop_def(UnitAttr)
    read_only = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(UnitsOp))

    def __init__(
        self,
        symbol: str,
        visible_name: str,
        *,
        points_to: MemRefType[Attribute] | None = None,
        unsigned: bool = False,
        read_only: bool = False,
    ):
        super().__init__(
            properties={
                "symbol": SymbolRefAttr(symbol),
                "visible_name": StringAttr(visible_name),
                "points_to": points_to,
                "unsigned": UnitAttr() if unsigned else None,
                "read_only": UnitAttr() if read_only else None,
            }
        )

    assembly_format = (
        "$symbol `as` $visible_name (`points_to` $points_to^)? (`unsigned` $unsigned^)? (`read_only` $read_only^)? "
        "attr-dict"
    )

    def shown_as(self, symbols: Mapping[str, Operation]) -> str:
        """What the host sees of it, given the symbols of its units."""
        if self.points_to is not None:
            return f"{'an unsigned' if self.unsigned else 'a'} {self.points_to}"
        match symbols.get(self.symbol.string_value()):
            case BufferOp(type=type):
                return f"{'an unsigned' if self.unsigned else 'a'} {type}"
            case FuncOp(function_type=type):
                return f"a function of ({', '.join(map(str, type.inputs))})"
            case _:
                return "undefined"

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
                name = found.sym_name.data
                if self.unsigned is not None or self.read_only is not None or self.points_to is not None:
                    raise VerifyException(f"function @{name} is not unsigned, read_only nor a pointer; remove the word")
                for type in found.function_type.inputs:
                    if type not in (*ELEMENT_TYPES, i8):
                        raise VerifyException(
                            f"function @{name} takes {type}, which the host cannot pass; take numbers of type f16, "
                            "bf16, f32, i8, i16 or i32"
                        )
            case _:
                raise VerifyException(f"{_described(found)} cannot be exported; export a buffer or a function")


@irdl_op_definition
class FifoOp(SymbolUser):
    """A first-in first-out buffer in unit memory, as many elements as its buffer has.

    `activate_push` is activated by a push that lets a pop go on, `activate_pop` by a pop that lets a push go on
    (DSD-144, DSD-147). `empty_action` and `full_action` say what an operation does that finds it empty or full, by
    default `test_or_suspend` (DSD-130 to DSD-136).
    """

    OPTIONS: ClassVar = ("empty_action", "full_action", "activate_push", "activate_pop")

    name = "flow.fifo"
    sym_name = prop_def(SymbolNameConstraint())
    buffer = prop_def(SymbolRefAttr)
    empty_action = opt_prop_def(StringAttr)
    full_action = opt_prop_def(StringAttr)
    activate_push = opt_prop_def(SymbolRefAttr)
    activate_pop = opt_prop_def(SymbolRefAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(UnitsOp))

    def __init__(
        self,
        name: str,
        buffer: SymbolRefAttr,
        options: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"sym_name": StringAttr(name), "buffer": buffer, **(options or {})}, attributes=attributes or {}
        )

    @classmethod
    def parse(cls, parser: Parser) -> FifoOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        buffer = parse_symbol(parser)
        return cls(name, buffer, parse_fifo_options(parser, cls.OPTIONS), parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        printer.print_attribute(self.buffer)
        print_fifo_options(printer, {n: self.properties[n] for n in self.OPTIONS if n in self.properties})
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        name, buffer = self.sym_name.data, scope.buffer(self.buffer)
        if prod(buffer.type.get_shape()) == 0 or buffer.type.get_num_dims() == 0:
            raise VerifyException(f"FIFO @{name} lies on buffer @{buffer.sym_name.data}, which is no array; name one")
        for task in (self.activate_push, self.activate_pop):
            if task is not None:
                scope.task_to_activate(task)
        verify_fifo_actions(self.empty_action, self.full_action, scope.target)
        verify_fifos(
            [(op.sym_name.data, op.buffer.string_value()) for op in scope.units.values() if isinstance(op, FifoOp)],
            name,
            scope.target,
        )


@irdl_op_definition
class InitialOp(IRDLOperation):
    """What registers of the units hold before the program starts (DSR-039): loads of registers, and their streams."""

    name = "flow.initial"
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), HasParent(UnitsOp))

    def __init__(self, body: Region):
        super().__init__(regions=[body])

    @classmethod
    def parse(cls, parser: Parser) -> InitialOp:
        attributes = parse_attributes(parser)
        op = cls(parse_members(parser))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if not isinstance(op, LoadRegisterOp) and not op.has_trait(Pure):
                raise VerifyException(f"{op.name} does something, which flow.initial does not; put it into a flow.func")


@irdl_op_definition
class QueueOp(SymbolUser):
    """A hardware queue of the unit, `input` or `output`, with the color it serves; where the color differs from
    unit to unit, each color comes with the regions of the grid on which it holds.

    `unblocked` lets control wavelets of an input queue without data task start control tasks from the beginning; a
    data task does so too.

    An id the target lacks is refused (DSD-219, DSD-220). Queues may share an id, but on WSE-3 they then serve one
    color on a PE.
    """

    name = "flow.queue"
    sym_name = prop_def(SymbolNameConstraint())
    direction = prop_def(StringAttr)
    queue_id = prop_def(IntegerAttr)
    colors = prop_def(ArrayAttr[SymbolRefAttr])
    color_regions = prop_def(ArrayAttr[ArrayAttr[RegionAttr]])
    unblocked = opt_prop_def(UnitAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(UnitsOp))

    def __init__(
        self,
        name: str,
        direction: str,
        queue_id: int,
        colors: Sequence[SymbolRefAttr],
        color_regions: Sequence[ArrayAttr[RegionAttr]],
        *,
        unblocked: bool = False,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "direction": StringAttr(direction),
                "queue_id": IntegerAttr(queue_id, i64),
                "colors": ArrayAttr(colors),
                "color_regions": ArrayAttr(color_regions),
                "unblocked": UnitAttr() if unblocked else None,
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
            colors.append(parse_symbol(parser))
            parser.parse_keyword("on")
            color_regions.append(parse_region_list(parser))

        parser.parse_keyword("colors")
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, color)
        unblocked = parser.parse_optional_keyword("unblocked") is not None
        op = cls(name, direction, queue_id, colors, color_regions, unblocked=unblocked)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.direction.data} ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" id {self.queue_id.value.data} colors [")
        for position, (color, regions) in enumerate(zip(self.colors, self.color_regions, strict=True)):
            if position:
                printer.print_string(", ")
            printer.print_attribute(color)
            printer.print_string(" on ")
            print_region_list(printer, regions)
        printer.print_string("]")
        if self.unblocked is not None:
            printer.print_string(" unblocked")
        print_attributes(printer, self)

    @property
    def is_input(self) -> bool:
        return self.direction.data == "input"

    def places(self, grid: tuple[int, int]) -> Iterator[tuple[str, tuple[range, range]]]:
        """The name of each color with the columns and rows on which it holds."""
        for color, regions in zip(self.colors, self.color_regions, strict=True):
            for region in regions:
                yield color.string_value(), region.resolve(*grid)

    def verify_(self) -> None:
        name = self.sym_name.data
        if self.direction.data not in ("input", "output"):
            raise VerifyException(f"queue @{name} is '{self.direction.data}'; make it 'input' or 'output'")
        if not self.colors.data:
            raise VerifyException(f"queue @{name} has no color; name the color it serves")
        verify_unblocked_queue(name, is_input=self.is_input, unblocked=self.unblocked is not None)
        if len(self.colors) != len(self.color_regions):
            raise VerifyException(
                f"queue @{name} has {_counted(len(self.colors), 'color')}, but regions for {len(self.color_regions)}; "
                "give each color its regions"
            )

    def verify_symbols(self, scope: Scope) -> None:
        for color in self.colors:
            scope.color(color)
        name, number, target = self.sym_name.data, self.queue_id.value.data, scope.target
        queues = target.input_queues if self.is_input else target.output_queues
        if not 0 <= number < queues:
            raise VerifyException(
                f"{_described(self)} has id {number}, which {target.name} does not have; choose one from 0 to "
                f"{queues - 1}"
            )
        places = list(self.places(scope.grid))
        if (found := first_overlap(places)) is not None:
            x, y = found[2]
            raise VerifyException(
                f"queue @{name} serves @{places[found[0]][0]} and @{places[found[1]][0]} at PE ({x}, {y}); a queue "
                "serves one color, so keep one of them there"
            )


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function of the unit. Functions do not recurse. An exported one can be launched; its results are dropped.

    Arguments and results are scalars and streams.
    """

    name = "flow.func"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), HasParent(UnitsOp))

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
        arguments = parse_arguments(parser)
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            results = list(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))
        attributes = parse_attributes(parser)
        op = cls(name, parse_body(parser, arguments, ReturnOp), results)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.body.block.args:
            print_arguments(printer, self.body)
        if results := self.function_type.outputs.data:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(results, printer.print_attribute)
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        name = self.sym_name.data
        if tuple(self.body.block.arg_types) != tuple(self.function_type.inputs):
            raise VerifyException(
                f"the body of function @{name} does not take the arguments of its type; make both agree"
            )
        for noun, types in (("an argument", self.function_type.inputs), ("a result", self.function_type.outputs)):
            for type in types:
                if not isinstance(type, StreamType):
                    _verify_scalar(type, f"{noun} of function @{name}")


TASK_KINDS = ("local", "data", "control")


@irdl_op_definition
class TaskOp(SymbolUser):
    """A task: `local` (run by activation), `data` (run by each wavelet of an input queue, whose payload is its
    arguments: one of 16 or 32 bits, or two halves, low half first) or `control` (run by control wavelets).

    A data task has the id of its queue on WSE-3, of one of its queue's colors on WSE-2; no other task has that id.
    """

    name = "flow.task"
    sym_name = prop_def(SymbolNameConstraint())
    kind = prop_def(StringAttr)
    task_id = prop_def(IntegerAttr)
    queue = opt_prop_def(SymbolRefAttr)
    active = opt_prop_def(UnitAttr)
    blocked = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), HasParent(UnitsOp))

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
        queue = parse_symbol(parser).root_reference.data if parser.parse_optional_keyword("on") else None
        active = parser.parse_optional_keyword("active") is not None
        blocked = parser.parse_optional_keyword("blocked") is not None
        arguments = parse_arguments(parser)
        attributes = parse_attributes(parser)
        body = parse_body(parser, arguments, ReturnOp)
        op = cls(name, kind, task_id, body, queue=queue, active=active, blocked=blocked)
        op.attributes.update(attributes)
        return op

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
            print_arguments(printer, self.body)
        print_attributes(printer, self)
        print_body(printer, self.body)

    @property
    def is_local(self) -> bool:
        return self.kind.data == "local"

    @property
    def is_data(self) -> bool:
        return self.kind.data == "data"

    def verify_(self) -> None:
        name, kind = self.sym_name.data, self.kind.data
        if kind not in TASK_KINDS:
            raise VerifyException(f"task @{name} is '{kind}'; make it one of {', '.join(TASK_KINDS)}")
        if self.is_data and self.queue is None:
            raise VerifyException(f"data task @{name} has no queue; name the input queue that starts it")
        if self.queue is not None and not self.is_data:
            raise VerifyException(f"{kind} task @{name} has a queue; remove it, only data tasks have one")
        active, types = self.active is not None, self.body.block.arg_types
        verify_task(kind, name, types, active=active, verify_element=verify_element_type)

    def verify_symbols(self, scope: Scope) -> None:
        number, target = self.task_id.value.data, scope.target
        if self.queue is not None:
            queue = scope.input_queue(self.queue)
            if target.data_tasks_by_color:
                numbers = [scope.color(color).color.value.data for color in queue.colors]
                wanted = "of its queue's color"
            else:
                numbers, wanted = [queue.queue_id.value.data], "of its queue"
            if number not in numbers:
                raise VerifyException(
                    f"data task @{self.sym_name.data} has id {number}, but on {target.name} it has the id {wanted}; "
                    f"use {numbers[0]}"
                )
            return
        verify_task_id(_described(self), number, target, control=not self.is_local)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a task or function."""

    name = "flow.return"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(FuncOp, TaskOp))
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue] = ()):
        super().__init__(operands=[values])

    def verify_(self) -> None:
        parent = self.parent_op()
        # The parent is verified after its body, so its type may still be missing or wrong.
        type = None if parent is None else parent.properties.get("function_type")
        expected = type.outputs.data if isinstance(type, FunctionType) else ()
        if tuple(self.values.types) != tuple(expected):
            raise VerifyException(
                "flow.return does not return what its function or task promises "
                f"({', '.join(map(str, expected)) or 'nothing'}); make both agree"
            )


@irdl_op_definition
class CallOp(SymbolUser):
    """Calls a function of the same unit."""

    name = "flow.call"
    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    results_ = var_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $results_)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue], results: Sequence[Attribute]):
        super().__init__(operands=[arguments], properties={"callee": SymbolRefAttr(callee)}, result_types=[results])

    def verify_symbols(self, scope: Scope) -> None:
        function = scope.func(self.callee)
        used = FunctionType.from_lists(self.arguments.types, self.results_.types)
        if used != function.function_type:
            raise VerifyException(
                f"function @{function.sym_name.data} has type {function.function_type}, but is called as {used}; make "
                "both agree"
            )


class _AxisOp(IRDLOperation):
    """Shared by what gives a number for `x` or `y`."""

    axis = prop_def(StringAttr)
    result = result_def(Scalar)
    traits = traits_def(Pure())

    def __init__(self, axis: str, type: Attribute = i16):
        super().__init__(properties={"axis": StringAttr(axis)}, result_types=[type])

    @classmethod
    def parse(cls, parser: Parser):
        axis = parser.parse_keyword_in(("x", "y"))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(axis, parser.parse_type())
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if self.axis.data not in ("x", "y"):
            raise VerifyException(f"the grid has no axis '{self.axis.data}'; use x or y")
        if self.result.type not in (i16, i32, IndexType()):
            raise VerifyException(f"{self.name} gives a whole number, not {self.result.type}; use i16, i32 or index")


@irdl_op_definition
class CoordinateOp(_AxisOp):
    """The unit's own column (`x`) or row (`y`) in the grid."""

    name = "flow.coordinate"


@irdl_op_definition
class ExtentOp(_AxisOp):
    """The number of columns (`x`) or rows (`y`) of the grid."""

    name = "flow.extent"


@irdl_op_definition
class GetParamOp(SymbolUser):
    """Reads a parameter of the unit."""

    name = "flow.get_param"
    param = prop_def(SymbolRefAttr)
    result = result_def(Scalar)
    traits = traits_def(Pure())
    assembly_format = "$param `:` type($result) attr-dict"

    def __init__(self, param: str, type: Attribute):
        super().__init__(properties={"param": SymbolRefAttr(param)}, result_types=[type])

    def verify_symbols(self, scope: Scope) -> None:
        param = scope.param(self.param)
        if param.type != self.result.type:
            raise VerifyException(
                f"param @{param.sym_name.data} has type {param.type}, not {self.result.type}; use its type"
            )


Array: TypeAlias = str | SSAValue
"""What is accessed: the name of a buffer, or a word address of type i16."""


class _AccessOp(SymbolUser, ABC):
    """Shared by what accesses one element of a buffer, or of the memory at a word address.

    A buffer takes an index for each of its dimensions, an address one index in elements, or none.
    """

    buffer = opt_prop_def(SymbolRefAttr)
    address = opt_operand_def(IntegerType(16))
    indices = var_operand_def(IndexType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def print_place(self, printer: Printer) -> None:
        _print_array(printer, self)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    @staticmethod
    def parse_place(parser: Parser) -> tuple[Array, Sequence[SSAValue], Mapping[str, Attribute]]:
        array = _parse_array(parser)
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType()))
        return array, indices, parser.parse_optional_attr_dict()

    def verify_(self) -> None:
        _verify_array(self)
        if self.address is not None and len(self.indices) > 1:
            raise VerifyException(
                f"{self.name} at an address takes one index or none, not {len(self.indices)}; memory has one dimension"
            )

    def verify_access(self, scope: Scope, type: Attribute) -> None:
        """Check indices and type against the buffer, or the type alone at an address."""
        if self.buffer is None:
            verify_element_type(type, "memory")
            return
        buffer = scope.buffer(self.buffer)
        name, rank = buffer.sym_name.data, buffer.type.get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(
                f"buffer @{name} has {_counted(rank, 'dimension')}, but {self.name} has indices for "
                f"{len(self.indices)}; give one for each"
            )
        if type != buffer.element_type:
            raise VerifyException(f"buffer @{name} holds {buffer.element_type}, not {type}; use its type")


def _parse_array(parser: Parser) -> Array:
    """Parse `@buffer` or `%address`."""
    symbol = parser.parse_optional_symbol_name()
    return parser.parse_operand(i16) if symbol is None else symbol.data


def _print_array(printer: Printer, op: _AccessOp | StreamOp) -> None:
    """Print what `_parse_array` reads."""
    if op.buffer is not None:
        printer.print_attribute(op.buffer)
    elif op.address is not None:
        printer.print_operand(op.address)


def _named(array: Array) -> SymbolRefAttr | None:
    return SymbolRefAttr(array) if isinstance(array, str) else None


def _addressed(array: Array) -> list[SSAValue]:
    return [] if isinstance(array, str) else [array]


def _verify_array(op: _AccessOp | StreamOp) -> None:
    if (op.buffer is None) == (op.address is None):
        raise VerifyException(f"{op.name} names a buffer or an address, and only one of them; correct it")


@irdl_op_definition
class LoadOp(_AccessOp):
    """Loads one element of a buffer, or of the memory at a word address.

    ```
    %a = flow.load @u[%i, %j] : f32
    %b = flow.load %address[%i] : f32
    %c = flow.load %address[] : i16
    ```

    An index outside the buffer, an address outside the memory of the unit, and an odd address of a 32-bit element
    end the run with an error. An index at an address counts elements, and the sum wraps at 16 bits.
    """

    name = "flow.load"
    result = result_def(Scalar)
    traits = traits_def(MemoryReadEffect())

    def __init__(self, array: Array, indices: Sequence[SSAValue], type: Attribute):
        super().__init__(
            operands=[_addressed(array), indices], properties={"buffer": _named(array)}, result_types=[type]
        )

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        array, indices, attributes = cls.parse_place(parser)
        parser.parse_punctuation(":")
        op = cls(array, indices, parser.parse_type())
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_place(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_symbols(self, scope: Scope) -> None:
        self.verify_access(scope, self.result.type)


@irdl_op_definition
class StoreOp(_AccessOp):
    """Stores one element of a buffer, or of the memory at a word address; errors as for `flow.load`.

    ```
    flow.store %a, @u[%i, %j] : f32
    flow.store %b, %address[%i] : f32
    ```
    """

    name = "flow.store"
    value = operand_def(Scalar)
    traits = traits_def(MemoryWriteEffect())

    def __init__(self, value: SSAValue, array: Array, indices: Sequence[SSAValue]):
        super().__init__(operands=[value, _addressed(array), indices], properties={"buffer": _named(array)})

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        array, indices, attributes = cls.parse_place(parser)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(value, parser.parse_type()), array, indices)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.value)
        printer.print_string(", ")
        self.print_place(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)

    def verify_symbols(self, scope: Scope) -> None:
        self.verify_access(scope, self.value.type)


@irdl_op_definition
class AssertOp(IRDLOperation):
    """Ends the run with an error that gives the message and the unit, where the condition does not hold.

    ```
    flow.assert %condition, "the index is in range"
    ```
    """

    name = "flow.assert"
    condition = operand_def(i1)
    message = prop_def(StringAttr)
    assembly_format = "$condition `,` $message attr-dict"

    def __init__(self, condition: SSAValue, message: str):
        super().__init__(operands=[condition], properties={"message": StringAttr(message)})


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Appends a text to the log of the machine, with the unit and its clock; costs no cycles.

    ```
    flow.print "x is {d}, 2x is {f}\n", %x, %y : i16, f32
    ```

    `{u}` prints an operand as unsigned number, `{d}` signed, `{x}` hexadecimal, `{X}` hexadecimal and `{b}` binary with
    every digit of the type, `{f}` a float; `{{` is a brace.
    """

    name = "flow.print"
    format = prop_def(StringAttr)
    arguments = var_operand_def(Scalar)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$format (`,` $arguments^ `:` type($arguments))? attr-dict"

    def __init__(self, format: str, arguments: Sequence[SSAValue] = ()):
        super().__init__(operands=[arguments], properties={"format": StringAttr(format)})

    def verify_(self) -> None:
        verify_format(self.format.data, [isinstance(type, AnyFloat) for type in self.arguments.types])


@irdl_op_definition
class TimestampOp(IRDLOperation):
    """The clock of the unit in cycles, 48 bits: three words, the lowest first.

    ```
    %low, %middle, %high = flow.timestamp
    ```
    """

    name = "flow.timestamp"
    low = result_def(i16)
    middle = result_def(i16)
    high = result_def(i16)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__(result_types=[i16, i16, i16])


class _TaskControlOp(SymbolUser, ABC):
    """Shared by what changes the state of the task `symbol`, or of the data task of the input queue `symbol`."""

    symbol = prop_def(SymbolRefAttr)
    assembly_format = "$symbol attr-dict"

    def __init__(self, symbol: str):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)})


@irdl_op_definition
class ActivateOp(_TaskControlOp):
    """Makes a local task active; it runs once it is unblocked and the unit is free."""

    name = "flow.activate"

    def verify_symbols(self, scope: Scope) -> None:
        scope.task_to_activate(self.symbol)


@irdl_op_definition
class BlockOp(_TaskControlOp):
    """Keeps a task, or the data task of a queue, from running until it is unblocked."""

    name = "flow.block"

    def verify_symbols(self, scope: Scope) -> None:
        scope.check_block(self.symbol, "blocked")


@irdl_op_definition
class UnblockOp(_TaskControlOp):
    """Allows a blocked task, or the data task of a queue, to run."""

    name = "flow.unblock"

    def verify_symbols(self, scope: Scope) -> None:
        scope.check_block(self.symbol, "unblocked")


@irdl_op_definition
class StreamOp(SymbolUser):
    """A walk of up to four dimensions over a buffer, or over the memory from a word address on.

    ```
    %a = flow.stream @u at 3 strides [1] extents [64] : !flow.stream<f32>
    %b = flow.stream %address at %k strides [1] extents [%n] : !flow.stream<f32>
    ```

    `extents` counts outermost first, `strides` innermost first; a stride is the address change, in elements, when
    its dimension advances, faster dimensions being wound back to their start (DSD-061, DSD-062). `at` is the
    first element. Literals and i16 values mix freely. The elements may be taken as another type of the same width.
    """

    name = "flow.stream"
    buffer = opt_prop_def(SymbolRefAttr)
    address = opt_operand_def(IntegerType(16))
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
        array: Array,
        offset: int | SSAValue,
        strides: Sequence[int | SSAValue],
        extents: Sequence[int | SSAValue],
        type: Attribute,
    ):
        super().__init__(
            operands=[
                _addressed(array),
                [offset] if isinstance(offset, SSAValue) else [],
                [stride for stride in strides if isinstance(stride, SSAValue)],
                [extent for extent in extents if isinstance(extent, SSAValue)],
            ],
            properties={
                "buffer": _named(array),
                "static_offset": IntegerAttr(_static(offset), i64),
                "static_strides": DenseArrayBase.from_list(i64, [_static(stride) for stride in strides]),
                "static_extents": DenseArrayBase.from_list(i64, [_static(extent) for extent in extents]),
            },
            result_types=[StreamType(type)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> StreamOp:
        array = _parse_array(parser)
        groups: list[list[UnresolvedOperand]] = [[], [], []]
        parser.parse_keyword("at")
        offset = _Integers.parse_one(parser, groups[0])
        parser.parse_keyword("strides")
        strides = _Integers.parse_list(parser, groups[1])
        parser.parse_keyword("extents")
        extents = _Integers.parse_list(parser, groups[2])
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, StreamType):
            parser.raise_error("flow.stream makes a value of type !flow.stream", position)
        values = [iter(parser.resolve_operands(group, [i16] * len(group), parser.pos)) for group in groups]

        def mixed(numbers: Sequence[int], group: int) -> list[int | SSAValue]:
            return [next(values[group]) if number == DYNAMIC else number for number in numbers]

        op = cls(array, mixed([offset], 0)[0], mixed(strides, 1), mixed(extents, 2), type.element_type)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_array(printer, self)
        printer.print_string(" at ")
        _Integers.print(printer, [self.static_offset.value.data], [self.offset] if self.offset else [])
        printer.print_string(" strides [")
        _Integers.print(printer, _ints(self.static_strides), self.strides)
        printer.print_string("] extents [")
        _Integers.print(printer, _ints(self.static_extents), self.extents)
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @property
    def dimensions(self) -> int:
        return len(_ints(self.static_extents))

    def verify_(self) -> None:
        _verify_array(self)
        strides = _ints(self.static_strides)
        if len(strides) != self.dimensions or not 1 <= self.dimensions <= MAX_DIMENSIONS:
            raise VerifyException(
                "a stream has one to four dimensions with a stride and an extent each, not "
                f"{_counted(len(strides), 'stride')} and {_counted(self.dimensions, 'extent')}; correct them"
            )
        _verify_fields("offset", [self.static_offset.value.data], [self.offset] if self.offset else [], LITERALS)
        _verify_fields("stride", strides, self.strides, LITERALS)
        _verify_fields("extent", _ints(self.static_extents), self.extents, EXTENTS)

    def verify_symbols(self, scope: Scope) -> None:
        if self.buffer is None:
            return
        buffer = scope.buffer(self.buffer)
        type = _element_type(self.result)
        if element_words(type) != element_words(buffer.element_type):
            raise VerifyException(
                f"a stream of {type} cannot walk over buffer @{buffer.sym_name.data} of {buffer.element_type}; use a "
                "type of that width, or another buffer on the same words"
            )


MAX_DIMENSIONS = 4
"""Of a walk (DSD-053, AMB-05)."""


def _verify_fields(noun: str, numbers: Sequence[int], operands: Sequence[SSAValue], allowed: range) -> None:
    """Check a group of literals and values: every literal in range, every other place with its operand."""
    dynamic = sum(number == DYNAMIC for number in numbers)
    if dynamic != len(operands):
        raise VerifyException(
            f"the stream leaves {_counted(dynamic, noun)} open, but has values for {len(operands)}; give one for each"
        )
    for number in numbers:
        if number != DYNAMIC and number not in allowed:
            raise VerifyException(
                f"{noun} {number} does not fit a stream; choose one from {allowed[0]} to {allowed[-1]}"
            )


def _element_type(stream: SSAValue) -> Attribute:
    assert isinstance(stream.type, StreamType)
    return stream.type.element_type


def _static(value: int | SSAValue) -> int:
    return DYNAMIC if isinstance(value, SSAValue) else value


def _ints(attribute: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    return tuple(attribute.get_values())


@irdl_op_definition
class QueueStreamOp(SymbolUser):
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
        queue = parse_symbol(parser).root_reference.data
        group: list[UnresolvedOperand] = []
        parser.parse_keyword("extent")
        extent = _Integers.parse_one(parser, group)
        control = parser.parse_optional_keyword("control") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, StreamType):
            parser.raise_error("flow.queue_stream makes a value of type !flow.stream", position)
        values = parser.resolve_operands(group, [i16] * len(group), parser.pos)
        op = cls(queue, values[0] if values else extent, type.element_type, control=control)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.queue)
        printer.print_string(" extent ")
        _Integers.print(printer, [self.static_extent.value.data], [self.extent] if self.extent else [])
        if self.control is not None:
            printer.print_string(" control")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        _verify_fields("extent", [self.static_extent.value.data], [self.extent] if self.extent else [], EXTENTS)

    def verify_symbols(self, scope: Scope) -> None:
        queue = scope.queue(self.queue)
        if self.control is not None and queue.is_input:
            raise VerifyException(
                f"{_described(queue)} receives control wavelets and data alike; only a stream of an output queue is "
                "control"
            )


@irdl_op_definition
class FifoStreamOp(SymbolUser):
    """What is pushed into a FIFO, or popped from it; its length is what `flow.set_fifo_length` set, if that is not 0,
    and else what the other operands say."""

    name = "flow.fifo_stream"
    fifo = prop_def(SymbolRefAttr)
    result = result_def(StreamType)
    traits = traits_def(Pure())
    assembly_format = "$fifo attr-dict `:` type($result)"

    def __init__(self, fifo: SymbolRefAttr, type: Attribute):
        super().__init__(properties={"fifo": fifo}, result_types=[StreamType(type)])

    def verify_symbols(self, scope: Scope) -> None:
        fifo = scope.fifo(self.fifo)
        held = scope.buffer(fifo.buffer).element_type
        if element_words(held) != element_words(self.result.type.element_type):
            raise VerifyException(
                f"{_described(fifo)} holds {held}, and {self.result.type.element_type} has another width; use a type "
                "of its width"
            )


@irdl_op_definition
class SetFifoLengthOp(SymbolUser):
    """Sets how many elements operations read from a FIFO, or write to it; 0 leaves it to their other operands."""

    name = "flow.set_fifo_length"
    fifo = prop_def(SymbolRefAttr)
    side = prop_def(StringAttr)
    length = operand_def(IntegerType(16))

    def __init__(self, fifo: SymbolRefAttr, side: str, length: SSAValue):
        super().__init__(operands=[length], properties={"fifo": fifo, "side": StringAttr(side)})

    @classmethod
    def parse(cls, parser: Parser) -> SetFifoLengthOp:
        fifo = parse_symbol(parser)
        side = parser.parse_keyword_in(FIFO_SIDES)
        parser.parse_punctuation(",")
        length = parser.resolve_operand(parser.parse_unresolved_operand(), i16)
        op = cls(fifo, side, length)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.fifo)
        printer.print_string(f" {self.side.data}, ")
        printer.print_operand(self.length)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        verify_fifo_side(self.side.data)

    def verify_symbols(self, scope: Scope) -> None:
        scope.fifo(self.fifo)


class _StreamUpdateOp(SymbolUser, ABC):
    """Shared by what makes a stream from a stream and an i16 `amount`; both streams have one type."""

    CHANGES: ClassVar[frozenset[Origin]]
    """What a stream must be made of to be changed like this."""
    NEEDED: ClassVar[str]
    """The same in words."""

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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls(parser.resolve_operand(stream, type), parser.resolve_operand(amount, i16))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.stream)
        printer.print_string(", ")
        printer.print_operand(self.amount)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.stream.type)

    def verify_(self) -> None:
        if self.result.type != self.stream.type:
            raise VerifyException(
                f"{self.name} makes {self.result.type} of {self.stream.type}; a stream keeps its type, so use that"
            )

    def verify_symbols(self, scope: Scope) -> None:
        for origin, owner in scope.streams.of(self.stream).items():
            if origin not in self.CHANGES:
                raise VerifyException(f"{self.name} changes {_made_by(origin, owner)}; it needs {self.NEEDED}")


@irdl_op_definition
class AdvanceOp(_StreamUpdateOp):
    """The same walk moved by a signed number of 16-bit words (DSD-168, DSD-169)."""

    name = "flow.advance"
    CHANGES: ClassVar = frozenset({"vector", "array"})
    NEEDED: ClassVar = "a walk over memory"


@irdl_op_definition
class ResizeOp(_StreamUpdateOp):
    """The same one-dimensional stream with another length, unsigned (DSD-175)."""

    name = "flow.resize"
    CHANGES: ClassVar = frozenset({"vector", "received", "sent"})
    NEEDED: ClassVar = "a stream of one dimension"


@irdl_op_definition
class RestrideOp(_StreamUpdateOp):
    """The same one-dimensional walk with another stride in elements, signed (DSD-179)."""

    name = "flow.restride"
    CHANGES: ClassVar = frozenset({"vector"})
    NEEDED: ClassVar = "a walk over memory of one dimension"


@irdl_op_definition
class RebaseOp(_StreamUpdateOp):
    """The same walk from another word address on, without the offset it had (DSD-163)."""

    name = "flow.rebase"
    CHANGES: ClassVar = frozenset({"vector", "array"})
    NEEDED: ClassVar = "a walk over memory"


@irdl_op_definition
class IndexedOp(_StreamUpdateOp):
    """The same run of wavelets to be sent, each with an index in its high half beside 16 bits of data (DSD-108)."""

    name = "flow.indexed"
    CHANGES: ClassVar = frozenset({"sent"})
    NEEDED: ClassVar = "a stream of an output queue"

    def verify_(self) -> None:
        super().verify_()
        if element_words(_element_type(self.stream)) == 2:
            raise VerifyException(
                f"flow.indexed puts an index where {self.stream.type} has data; send 16-bit values (AMB-26)"
            )


PRIORITIES = ("low", "medium", "high")
CONTROL_ACTIONS = ("terminate", "activate", "unblock")


class AsynchronousOp(SymbolUser, ABC):
    """Shared by what says how an operation runs on a microthread: `async(microthread = 2, activate = @done)`."""

    microthread = opt_prop_def(IntegerAttr)
    activate = opt_prop_def(SymbolRefAttr)
    unblock = opt_prop_def(SymbolRefAttr)
    on_control = opt_prop_def(StringAttr)
    control_task = opt_prop_def(SymbolRefAttr)
    priority = opt_prop_def(StringAttr)

    @property
    def is_async(self) -> bool:
        """Whether there is a microthread."""
        return self.microthread is not None

    @staticmethod
    def settings(
        microthread: int | None = None,
        activate: str | None = None,
        unblock: str | None = None,
        on_control: tuple[str, str | None] | None = None,
        priority: str | None = None,
    ) -> dict[str, Attribute | None]:
        """The properties that hold these settings; `on_control` is an action and the task it names."""
        action, task = on_control or (None, None)
        return {
            "microthread": None if microthread is None else IntegerAttr(microthread, i64),
            "activate": None if activate is None else SymbolRefAttr(activate),
            "unblock": None if unblock is None else SymbolRefAttr(unblock),
            "on_control": None if action is None else StringAttr(action),
            "control_task": None if task is None else SymbolRefAttr(task),
            "priority": None if priority is None else StringAttr(priority),
        }

    @staticmethod
    def parse_settings(parser: Parser) -> dict[str, Attribute | None]:
        """The properties of `async(...)`; none without it."""
        if parser.parse_optional_keyword("async") is None:
            return {}
        parser.parse_punctuation("(")
        parser.parse_keyword("microthread")
        parser.parse_punctuation("=")
        found: dict[str, Attribute | None] = {
            "microthread": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        }
        while parser.parse_optional_punctuation(",") is not None:
            key = parser.parse_keyword_in(("activate", "unblock", "on_control", "priority"))
            parser.parse_punctuation("=")
            if key == "on_control":
                action = parser.parse_keyword_in(CONTROL_ACTIONS)
                found[key] = StringAttr(action)
                if action != "terminate":
                    found["control_task"] = parse_symbol(parser)
            elif key == "priority":
                found[key] = StringAttr(parser.parse_keyword_in(PRIORITIES))
            else:
                found[key] = parse_symbol(parser)
        parser.parse_punctuation(")")
        return found

    def print_settings(self, printer: Printer) -> None:
        """Print what `parse_settings` reads."""
        if self.microthread is None:
            return
        printer.print_string(f" async(microthread = {self.microthread.value.data}")
        for key, symbol in (("activate", self.activate), ("unblock", self.unblock)):
            if symbol is not None:
                printer.print_string(f", {key} = ")
                printer.print_attribute(symbol)
        if self.on_control is not None:
            printer.print_string(f", on_control = {self.on_control.data}")
            if self.control_task is not None:
                printer.print_string(" ")
                printer.print_attribute(self.control_task)
        if self.priority is not None:
            printer.print_string(f", priority = {self.priority.data}")
        printer.print_string(")")

    def verify_settings(self) -> None:
        """Check what can be checked without knowing the program."""
        if self.activate is not None and self.unblock is not None:
            raise VerifyException(
                "an operation activates or unblocks a task at its end, not both (DSD-189); keep one of them"
            )
        if self.on_control is None:
            action_fits = self.control_task is None
        else:
            action_fits = (self.control_task is None) == (self.on_control.data == "terminate")
        if not action_fits or (self.on_control is not None and self.on_control.data not in CONTROL_ACTIONS):
            raise VerifyException("on_control is neither terminate, activate @task nor unblock @task; use one of them")
        if self.microthread is None and (self.activate or self.unblock or self.on_control or self.priority):
            raise VerifyException(
                "only an asynchronous operation has a completion task or a priority (DSD-196); give it a microthread"
            )
        if self.priority is not None and self.priority.data not in PRIORITIES:
            raise VerifyException(f"'{self.priority.data}' is no priority; use {', '.join(PRIORITIES)}")

    def verify_symbols(self, scope: Scope) -> None:
        if self.activate is not None:
            scope.task_to_activate(self.activate)
        if self.unblock is not None:
            scope.check_block(self.unblock, "unblocked")
        if self.control_task is not None and self.on_control is not None:
            if self.on_control.data == "activate":
                scope.task_to_activate(self.control_task)
            else:
                scope.check_block(self.control_task, "unblocked")
        number, target = self.microthread, scope.target
        if number is not None and not 0 <= number.value.data < target.microthreads:
            raise VerifyException(
                f"{target.name} has no microthread {number.value.data}; choose one from 0 to {target.microthreads - 1}"
            )


REGISTER_FILES = ("dest", "src0", "src1")


def _verify_register(file: str, number: int, target: Target) -> None:
    size = {"dest": target.dsr_dest, "src0": target.dsr_src0, "src1": target.dsr_src1}.get(file)
    if size is None:
        raise VerifyException(f"there is no register file '{file}'; the files are {', '.join(REGISTER_FILES)}")
    if not 0 <= number < size:
        raise VerifyException(f"{target.name} has no {file} register {number}; choose one from 0 to {size - 1}")


@irdl_op_definition
class LoadRegisterOp(AsynchronousOp):
    """Keeps a stream in a register of the unit, for operations of any task (DSR-038).

    With `save_address` each operation on the register moves it on by what it has done (DSR-065, DSR-067); with
    `async` operations on it are asynchronous (DSD-182, DSD-195).
    """

    name = "flow.load_register"
    file = prop_def(StringAttr)
    number = prop_def(IntegerAttr)
    stream = operand_def(StreamType)
    save_address = opt_prop_def(UnitAttr)

    def __init__(
        self,
        file: str,
        number: int,
        stream: SSAValue,
        *,
        save_address: bool = False,
        settings: Mapping[str, Attribute | None] | None = None,
    ):
        super().__init__(
            operands=[stream],
            properties={
                "file": StringAttr(file),
                "number": IntegerAttr(number, i64),
                "save_address": UnitAttr() if save_address else None,
                **(settings or {}),
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> LoadRegisterOp:
        file = parser.parse_keyword_in(REGISTER_FILES)
        number = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(",")
        stream = parser.parse_unresolved_operand()
        save_address = parser.parse_optional_keyword("save_address") is not None
        settings = cls.parse_settings(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(
            file,
            number,
            parser.resolve_operand(stream, parser.parse_type()),
            save_address=save_address,
            settings=settings,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.file.data} {self.number.value.data}, ")
        printer.print_operand(self.stream)
        if self.save_address is not None:
            printer.print_string(" save_address")
        self.print_settings(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.stream.type)

    def verify_(self) -> None:
        self.verify_settings()

    def verify_symbols(self, scope: Scope) -> None:
        super().verify_symbols(scope)
        _verify_register(self.file.data, self.number.value.data, scope.target)
        for origin, owner in scope.streams.of(self.stream).items():
            made_by = _made_by(origin, owner)
            if self.is_async and origin in ("vector", "array", "fifo"):
                raise VerifyException(f"async is for streams of queues (DSR-036), not for {made_by}; remove it")
            if self.save_address is not None and origin not in ("vector", "array"):
                raise VerifyException(f"save_address is for walks over memory (DSR-037), not for {made_by}; remove it")


@irdl_op_definition
class RegisterOp(SymbolUser):
    """What a register holds, as an operand of `flow.apply`; `fifo` says that it is a FIFO (DSR-012).

    Without the word an operation must not find the FIFO empty or full (DSR-016).
    """

    name = "flow.register"
    file = prop_def(StringAttr)
    number = prop_def(IntegerAttr)
    fifo = opt_prop_def(UnitAttr)
    result = result_def(StreamType)

    def __init__(self, file: str, number: int, type: Attribute, *, fifo: bool = False):
        super().__init__(
            properties={
                "file": StringAttr(file),
                "number": IntegerAttr(number, i64),
                "fifo": UnitAttr() if fifo else None,
            },
            result_types=[StreamType(type)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> RegisterOp:
        file = parser.parse_keyword_in(REGISTER_FILES)
        number = parser.parse_integer(allow_boolean=False)
        fifo = parser.parse_optional_keyword("fifo") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, StreamType):
            parser.raise_error("flow.register gives a value of type !flow.stream", position)
        op = cls(file, number, type.element_type, fifo=fifo)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.file.data} {self.number.value.data}{' fifo' if self.fifo is not None else ''}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        for use in self.result.uses:
            if not isinstance(use.operation, ApplyOp):
                raise VerifyException(
                    f"{use.operation.name} uses what a register holds, which only flow.apply can; give it the stream"
                )

    def verify_symbols(self, scope: Scope) -> None:
        _verify_register(self.file.data, self.number.value.data, scope.target)


@irdl_op_definition
class ApplyOp(AsynchronousOp):
    """Repeats a table operation over streams.

    `operands` are the destination and the sources of the entry, in its order; a source may be a scalar where the
    table allows it. The operation runs as many times as its shortest stream is long (AMB-01), element after
    element, so that a source sees what earlier iterations wrote. With `async` it runs on a microthread and the
    task goes on; `activate` or `unblock` then names a task to be told of its end. With `on_control` a control wavelet
    ends it early: that one is taken and not stored, and `terminate`, `activate` or `unblock` says what happens then.
    Without `async` it is asynchronous all the same if a register among its operands was loaded so.

    Streams hold elements of the entry's width, scalars are of its type; moves and bitwise operations take any scalar
    of the width. The result, if there is one, is false where the operation found a FIFO empty or full and stopped.
    """

    name = "flow.apply"
    operation = prop_def(StringAttr)
    destination = operand_def(StreamType)
    sources = var_operand_def()
    result = opt_result_def(i1)

    def __init__(
        self,
        operation: str,
        destination: SSAValue,
        sources: Sequence[SSAValue],
        settings: Mapping[str, Attribute | None] | None = None,
        *,
        with_result: bool = False,
    ):
        super().__init__(
            operands=[destination, sources],
            properties={"operation": StringAttr(operation), **(settings or {})},
            result_types=[i1 if with_result else None],
        )

    @property
    def entry(self) -> DsdOperation:
        """The table entry of the operation."""
        return OPERATIONS[self.operation.data]

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        operation = parser.parse_identifier()
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        settings = cls.parse_settings(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) != len(operands):
            parser.raise_error(
                f"flow.apply has {_counted(len(operands), 'operand')}, but types for {len(types)}", position
            )
        values = parser.resolve_operands(operands, types, parser.pos)
        with_result = parser.parse_optional_punctuation("->") is not None
        if with_result:
            position = parser.pos
            if parser.parse_type() != i1:
                parser.raise_error("the result of flow.apply is an i1", position)
        op = cls(operation, values[0], values[1:], settings, with_result=with_result)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.operation.data} ")
        printer.print_list(self.operands, printer.print_operand)
        self.print_settings(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)
        if self.result is not None:
            printer.print_string(" -> i1")

    def verify_(self) -> None:
        if self.operation.data not in OPERATIONS:
            raise VerifyException(f"'{self.operation.data}' is no operation of the DSD table; correct the name")
        entry = self.entry
        if len(self.sources) != len(entry.sources):
            raise VerifyException(
                f"{entry.name} takes {_counted(len(entry.sources), 'source')}, not {len(self.sources)}; correct the "
                "operands"
            )
        self._verify_stream("the destination", self.destination, entry.destination)
        for position, (source, needed) in enumerate(zip(self.sources, entry.sources, strict=True)):
            noun = f"source {position + 1}"
            if isinstance(source.type, StreamType):
                if position in entry.scalar_only:
                    raise VerifyException(f"{noun} of {entry.name} must be a scalar of {needed}; give one")
                self._verify_stream(noun, source, needed)
                continue
            if position not in entry.scalar_sources:
                raise VerifyException(f"{noun} of {entry.name} cannot be a scalar; give a stream")
            self._verify_scalar(noun, source.type, needed)
        self.verify_settings()

    def _verify_stream(self, noun: str, stream: SSAValue, needed: Element) -> None:
        """An operation sees the bits of its streams as its own type, so the width must fit."""
        type = _element_type(stream)
        if element_words(type) != (1 if needed in ("f16", "i16") else 2):
            raise VerifyException(
                f"{noun} of {self.entry.name} has elements of {type}, but {needed} is needed; use a type of that width"
            )

    def _verify_scalar(self, noun: str, type: Attribute, needed: Element) -> None:
        if str(type) == needed:
            return
        bits_only = self.entry.function in ("move", "and", "or", "xor") and needed in ("i16", "i32")
        if bits_only and type in ELEMENT_TYPES and element_words(type) == (1 if needed == "i16" else 2):
            return
        raise VerifyException(f"{noun} of {self.entry.name} is a scalar of {type}, but {needed} is needed; use that")

    def verify_symbols(self, scope: Scope) -> None:
        super().verify_symbols(scope)
        self._verify_directions(scope)

    def _verify_directions(self, scope: Scope) -> None:
        """Wavelets go out by the destination and come in by the sources (DSD-102)."""
        name = self.entry.name
        destination = scope.streams.of(self.destination)
        if (owner := destination.get("received")) is not None:
            raise VerifyException(
                f"the destination of {name} may be {_made_by('received', owner)}, which sends nothing; name an output "
                "queue"
            )
        for stream in (self.destination, *self.sources):
            made_by = scope.streams.of(stream).get("fifo") if isinstance(stream.type, StreamType) else None
            if made_by is not None and made_by is not stream.owner:
                raise VerifyException(
                    f"{name} may work on {_made_by('fifo', made_by)} or on something else; name the FIFO (DSD-122)"
                )
        received = 0
        for position, source in enumerate(self.sources):
            origins = scope.streams.of(source)
            if (owner := origins.get("sent")) is not None:
                raise VerifyException(
                    f"source {position + 1} of {name} may be {_made_by('sent', owner)}, which receives nothing; name "
                    "an input queue"
                )
            received += "received" in origins
        if received > scope.target.max_fabric_inputs:
            raise VerifyException(
                f"{name} may have {_counted(received, 'fabric input')}, but {scope.target.name} takes "
                f"{scope.target.max_fabric_inputs}; receive one of them into memory first"
            )
        streams = (self.destination, *self.sources)
        known = not any(isinstance(stream.owner, RegisterOp) for stream in streams)
        if self.is_async and known and not received and "sent" not in destination and destination:
            raise VerifyException(
                f"{name} is asynchronous but moves no wavelets (DSD-183); remove async, or use a queue"
            )


_UNITS_MEMBERS = (BufferOp, InitializeOp, FifoOp, InitialOp, ParamOp, ExportOp, QueueOp, FuncOp, TaskOp)

StreamMaker: TypeAlias = StreamOp | QueueStreamOp | FifoStreamOp
"""What makes a stream of something else than a stream."""


def _operations() -> list[type[Operation]]:
    return [
        FabricOp, ColorOp, RouteOp, HostStreamOp, UnitsOp, BufferOp, InitializeOp, FifoOp, InitialOp, ParamOp, ExportOp,
        QueueOp, FuncOp, TaskOp, ReturnOp, CallOp, CoordinateOp, ExtentOp, GetParamOp, LoadOp, StoreOp, AssertOp,
        PrintOp, TimestampOp, ActivateOp, BlockOp, UnblockOp, StreamOp, QueueStreamOp, FifoStreamOp, SetFifoLengthOp,
        AdvanceOp, ResizeOp, RestrideOp, RebaseOp, IndexedOp, LoadRegisterOp, RegisterOp, ApplyOp,
    ]  # fmt: skip


Flow = Dialect("flow", _operations(), [StreamType])
