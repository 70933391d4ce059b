"""The `dsd` dialect: data structure descriptors (DSDs) as values, and the operations over them.

A descriptor names a set of memory elements or a run of wavelets; one DSD operation repeats one scalar
operation over its descriptors. Descriptors are immutable SSA values: operations that change one make a new
one. The DSD operations themselves are generated from `dsd_table`, here on descriptors and in `dsr` on
registers. Rule numbers refer to the project's rules of the DSD document.

The dialect knows nothing of how queues, microthreads or registers are chosen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
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
    Dialect,
    Operation,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineMap, AffineSymExpr
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
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasCanonicalizationPatternsTrait,
    MemoryEffect,
    MemoryEffectKind,
    Pure,
    Resource,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from . import dsd_table
from .fifo_options import FIFO_SIDES, verify_fifo_side
from .wse import (
    ELEMENT_TYPES,
    InputQueueOp,
    OutputQueueOp,
    Scope,
    SymbolUser,
    TaskStates,
    element_count,
    parse_element_type,
    verify_element_type,
)

Integer = int | SSAValue
"""A field of a descriptor: a number known at compile time, or a value of type i16."""

EXTENTS = range(1 << 16)
"""What an extent may be, in elements or wavelets (DSD-008)."""
OFFSETS = range(-(1 << 15), 1 << 15)
"""What an offset may be, in elements (DSD-011, DSD-048)."""
MEM1D_STRIDES = range(-(1 << 7), 1 << 7)
"""What the stride of a mem1d descriptor may be, in elements (DSD-009)."""
MEM4D_STRIDES = range(-(1 << 15), 1 << 15)
"""What a stride of a mem4d descriptor may be, in elements (DSD-050)."""
MAX_DIMENSIONS = 4
"""Most dimensions of a mem4d descriptor (DSD-045, DSD-057)."""

_ELEMENTS: Mapping[dsd_table.Element, Attribute] = {"f16": f16, "f32": f32, "i16": i16, "i32": i32}


# ---------------------------------------------------------------------------------------------
# Types
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class DescriptorType(ParametrizedAttribute, TypeAttribute, ABC):
    """A descriptor; its elements or wavelets hold `element_type`."""

    element_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parse_element_type(parser, "a descriptor"),)

    def verify(self) -> None:
        verify_element_type(self.element_type, "a descriptor")


class MemoryDescriptorType(DescriptorType, ABC):
    """A descriptor of elements in the PE's memory."""


class FabricDescriptorType(DescriptorType, ABC):
    """A descriptor of wavelets."""


@irdl_attr_definition
class Mem1dType(MemoryDescriptorType):
    """Elements at one stride: `!dsd.mem1d<f32>`."""

    name = "dsd.mem1d"


@irdl_attr_definition
class Mem4dType(MemoryDescriptorType):
    """Elements of up to four nested walks: `!dsd.mem4d<f32>`."""

    name = "dsd.mem4d"


@irdl_attr_definition
class CircbufType(MemoryDescriptorType):
    """Elements of a buffer whose walk wraps around: `!dsd.circbuf<f32>`."""

    name = "dsd.circbuf"


@irdl_attr_definition
class FifoType(MemoryDescriptorType):
    """A first-in first-out buffer in memory: `!dsd.fifo<f32>`."""

    name = "dsd.fifo"


@irdl_attr_definition
class FabinType(FabricDescriptorType):
    """Wavelets that arrive: `!dsd.fabin<f32>`."""

    name = "dsd.fabin"


@irdl_attr_definition
class FaboutType(FabricDescriptorType):
    """Wavelets that are sent: `!dsd.fabout<f32>`."""

    name = "dsd.fabout"


# ---------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------


class Priority(StrEnum):
    """How eagerly the hardware runs a microthread (DSD-231, DSD-232)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class SimdMode(StrEnum):
    """How 16-bit values travel in wavelets (DSD-238 to DSD-242)."""

    SIMD_32 = "simd_32"
    SIMD_64 = "simd_64"
    SIMD_32_OR_64 = "simd_32_or_64"


class ZeroedSource(StrEnum):
    """Which source's memory a send sets to zero when it is done (DSD-245 to DSD-247)."""

    FIRST_SOURCE = "first_source"
    SECOND_SOURCE = "second_source"


class ControlAction(StrEnum):
    """What a control wavelet does to the operation that receives it (DSD-197 to DSD-201)."""

    TERMINATE = "terminate"
    ACTIVATE = "activate"
    UNBLOCK = "unblock"


@irdl_attr_definition
class PriorityAttr(EnumAttribute[Priority], SpacedOpaqueSyntaxAttribute):
    """Priority of a microthread."""

    name = "dsd.priority"


@irdl_attr_definition
class SimdModeAttr(EnumAttribute[SimdMode], SpacedOpaqueSyntaxAttribute):
    """SIMD mode of a fabric descriptor."""

    name = "dsd.simd_mode"


@irdl_attr_definition
class ZeroedSourceAttr(EnumAttribute[ZeroedSource], SpacedOpaqueSyntaxAttribute):
    """The source an outgoing fabric descriptor zeroes."""

    name = "dsd.zeroed_source"


@irdl_attr_definition
class OnControlAttr(ParametrizedAttribute):
    """What a control wavelet does: `#dsd.on_control<activate @t>`; all three end the operation."""

    name = "dsd.on_control"
    action: StringAttr
    symbol: SymbolRefAttr | NoneAttr

    @staticmethod
    def get(action: ControlAction, symbol: str | None = None) -> OnControlAttr:
        return OnControlAttr(StringAttr(action.value), NoneAttr() if symbol is None else SymbolRefAttr(symbol))

    def verify(self) -> None:
        if (self.task is None) != (self.control_action is ControlAction.TERMINATE):
            raise VerifyException("on_control is neither terminate, activate @task nor unblock @task; use one of them")

    @property
    def control_action(self) -> ControlAction:
        return ControlAction(self.action.data)

    @property
    def task(self) -> str | None:
        """The symbol that is activated or unblocked."""
        return _symbol_text(self.symbol)

    @staticmethod
    def parse_action(parser: AttrParser) -> OnControlAttr:
        """Parse `terminate`, `activate @t` or `unblock @t`."""
        action = parser.parse_str_enum(ControlAction)
        if action is ControlAction.TERMINATE:
            return OnControlAttr.get(action)
        return OnControlAttr.get(action, parser.parse_symbol_name().data)

    def print_action(self, printer: Printer) -> None:
        """Print what `parse_action` reads."""
        printer.print_string(self.action.data)
        if (task := self.task) is not None:
            printer.print_string(" ")
            printer.print_symbol_name(task)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parsed = cls.parse_action(parser)
        return (parsed.action, parsed.symbol)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_action(printer)


def _symbol_text(symbol: SymbolRefAttr | NoneAttr) -> str | None:
    return symbol.string_value() if isinstance(symbol, SymbolRefAttr) else None


def _symbol(name: str | None) -> SymbolRefAttr | NoneAttr:
    return NoneAttr() if name is None else SymbolRefAttr(name)


@irdl_attr_definition
class AsyncAttr(ParametrizedAttribute):
    """That an operation runs on a microthread, and how: `#dsd.async<activate = @sent, ut = 3>`.

    `activate` and `unblock` name what happens on completion, `on_control` what a control wavelet does, `ut`
    fixes the microthread (WSE-3, DSD-224), `priority` its priority (WSE-2, DSD-225). An operation without
    this attribute is synchronous, so none of these settings can stand without it (DSD-196).
    """

    name = "dsd.async"
    activate: SymbolRefAttr | NoneAttr
    unblock: SymbolRefAttr | NoneAttr
    on_control: OnControlAttr | NoneAttr
    ut: IntAttr | NoneAttr
    priority: PriorityAttr | NoneAttr

    @staticmethod
    def get(
        *,
        activate: str | None = None,
        unblock: str | None = None,
        on_control: OnControlAttr | None = None,
        ut: int | None = None,
        priority: Priority | None = None,
    ) -> AsyncAttr:
        return AsyncAttr(
            _symbol(activate),
            _symbol(unblock),
            NoneAttr() if on_control is None else on_control,
            NoneAttr() if ut is None else IntAttr(ut),
            NoneAttr() if priority is None else PriorityAttr(priority),
        )

    @property
    def activated(self) -> str | None:
        """The task that completion activates."""
        return _symbol_text(self.activate)

    @property
    def unblocked(self) -> str | None:
        """The task, queue or color that completion unblocks."""
        return _symbol_text(self.unblock)

    @property
    def control(self) -> OnControlAttr | None:
        """What a control wavelet does; None if nothing."""
        return self.on_control if isinstance(self.on_control, OnControlAttr) else None

    @property
    def microthread(self) -> int | None:
        """The microthread, if it is fixed."""
        return self.ut.data if isinstance(self.ut, IntAttr) else None

    @property
    def microthread_priority(self) -> Priority | None:
        """The priority given on the operation."""
        return self.priority.data if isinstance(self.priority, PriorityAttr) else None

    def with_microthread(self, number: int) -> AsyncAttr:
        """The same settings on microthread `number`."""
        return AsyncAttr(self.activate, self.unblock, self.on_control, IntAttr(number), self.priority)

    @staticmethod
    def parse_settings(parser: AttrParser, delimiter: Parser.Delimiter) -> AsyncAttr:
        """Parse the settings inside `delimiter`, each at most once; nothing at all means none."""
        found: dict[str, Attribute] = {}

        def setting() -> None:
            position = parser.pos
            key = parser.parse_identifier()
            if key in found:
                parser.raise_error(f"'{key}' is given twice; give it once", position)
            parser.parse_punctuation("=")
            match key:
                case "activate" | "unblock":
                    found[key] = SymbolRefAttr(parser.parse_symbol_name())
                case "on_control":
                    found[key] = OnControlAttr.parse_action(parser)
                case "ut":
                    found[key] = IntAttr(parser.parse_integer(allow_boolean=False))
                case "priority":
                    found[key] = PriorityAttr(parser.parse_str_enum(Priority))
                case _:
                    parser.raise_error(
                        f"'{key}' is no setting of an asynchronous operation; use activate, unblock, "
                        "on_control, ut or priority",
                        position,
                    )

        parser.parse_optional_comma_separated_list(delimiter, setting)
        names = ("activate", "unblock", "on_control", "ut", "priority")
        return AsyncAttr.new([found.get(name, NoneAttr()) for name in names])

    def print_settings(self, printer: Printer, start: str, end: str) -> None:
        """Print the settings between `start` and `end`, or nothing if there are none."""
        texts: list[Callable[[], object]] = []

        def say(key: str, write: Callable[[], object]) -> None:
            texts.append(lambda: (printer.print_string(f"{key} = "), write()))

        for key, symbol in (("activate", self.activated), ("unblock", self.unblocked)):
            if symbol is not None:
                say(key, lambda symbol=symbol: printer.print_symbol_name(symbol))
        if (control := self.control) is not None:
            say("on_control", lambda: control.print_action(printer))
        if (number := self.microthread) is not None:
            say("ut", lambda: printer.print_string(str(number)))
        if (priority := self.microthread_priority) is not None:
            say("priority", lambda: printer.print_string(priority))
        if texts:
            with printer.delimited(start, end):
                printer.print_list(texts, lambda write: write())

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return cls.parse_settings(parser, parser.Delimiter.ANGLE).parameters

    def print_parameters(self, printer: Printer) -> None:
        self.print_settings(printer, "<", ">")

    def verify_settings(self) -> None:
        """Check what can be checked without knowing the program; called by the operations that carry it."""
        if self.activated is not None and self.unblocked is not None:
            raise VerifyException("activate and unblock are both given; keep one of them")

    def verify_symbols(self, scope: Scope) -> None:
        """Check tasks, microthread and priority against the program and its target."""
        if (task := self.activated) is not None:
            scope.task_to_activate(task)
        if (symbol := self.unblocked) is not None:
            scope.check_unblock(symbol)
        if (control := self.control) is not None and (symbol := control.task) is not None:
            if control.control_action is ControlAction.ACTIVATE:
                scope.task_to_activate(symbol)
            else:
                scope.check_unblock(symbol)
        number, target = self.microthread, scope.target
        if number is not None and not 0 <= number < target.microthreads:
            raise VerifyException(
                f"{target.name} has no microthread {number}; choose one from 0 to {target.microthreads - 1}"
            )
        if self.microthread_priority is not None and not target.operation_priority:
            raise VerifyException(f"on {target.name} an operation has no priority; give it to the fabric descriptor")


# ---------------------------------------------------------------------------------------------
# Pieces of assembly
# ---------------------------------------------------------------------------------------------

_ENUM_OPTIONS: Mapping[str, Callable[[AttrParser], Attribute]] = {
    "priority": lambda parser: PriorityAttr(parser.parse_str_enum(Priority)),
    "simd": lambda parser: SimdModeAttr(parser.parse_str_enum(SimdMode)),
    "zero": lambda parser: ZeroedSourceAttr(parser.parse_str_enum(ZeroedSource)),
}

_OPTIONS: Mapping[str, str] = {
    "wavelet_index_offset": "dsd.mem1d, dsd.mem4d, dsd.tensor_access and dsd.fabout",
    "control": "dsd.fabout",
    "advance_switch": "dsd.fabout",
    "zero": "dsd.fabout",
    "control_transform": "dsd.fabin and dsd.fabout",
    "simd": "dsd.fabin and dsd.fabout",
    "priority": "dsd.fabin and dsd.fabout",
}
"""The options written in braces, and who has them."""


def _parse_option(parser: Parser) -> tuple[str, Attribute]:
    name = parser.parse_identifier()
    if parser.parse_optional_punctuation("=") is None:
        return name, UnitAttr()
    if (parse := _ENUM_OPTIONS.get(name)) is not None:
        return name, parse(parser)
    return name, parser.parse_attribute()


def _parse_options(parser: Parser, op: type[IRDLOperation]) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Parse `{control, simd = simd_32}`: the properties of `op` among them, and all else."""
    position = parser.pos
    entries = parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, lambda: _parse_option(parser))
    options = dict(entries or ())
    if len(options) != len(entries or ()):
        parser.raise_error("an option is given twice; give it once", position)
    own = op.get_irdl_definition().properties
    properties = {name: value for name, value in options.items() if name in own and name in _OPTIONS}
    return properties, {name: value for name, value in options.items() if name not in properties}


def _print_options(printer: Printer, op: Operation) -> None:
    options = {name: value for name, value in op.properties.items() if name in _OPTIONS} | op.attributes
    if not options:
        return

    def write(entry: tuple[str, Attribute]) -> None:
        name, value = entry
        printer.print_identifier_or_string_literal(name)
        if isinstance(value, PriorityAttr | SimdModeAttr | ZeroedSourceAttr):
            printer.print_string(f" = {value.data}")
        elif not isinstance(value, UnitAttr):
            printer.print_string(" = ")
            printer.print_attribute(value)

    printer.print_string(" ")
    with printer.in_braces():
        printer.print_list(options.items(), write)


def _verify_options(op: Operation) -> None:
    """Refuse an option of another kind of descriptor, which would otherwise be a mere attribute."""
    for name in op.attributes:
        if (owners := _OPTIONS.get(name)) is not None:
            raise VerifyException(f"{op.name} has no option '{name}', which belongs to {owners}; remove it")


def _parse_integer(parser: Parser) -> Integer:
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return parser.resolve_operand(operand, i16)
    return parser.parse_integer(allow_boolean=False)


def _print_integer(printer: Printer, value: Integer) -> None:
    if isinstance(value, int):
        printer.print_string(str(value))
    else:
        printer.print_operand(value)


def _parse_integers(parser: Parser) -> list[int]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False))


def _parse_memref(parser: Parser) -> MemRefType:
    position = parser.pos
    type = parser.parse_type()
    if not isa(type, MemRefType):
        parser.raise_error("a descriptor is made of a memref, for example memref<16xf32>", position)
    return type


def resolve_all(
    parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute], position: int
) -> Sequence[SSAValue]:
    """Give each operand its type; an error at `position` if there are more of one than of the other."""
    if len(operands) != len(types):
        parser.raise_error(f"{len(operands)} operands have {len(types)} types; give one for each", position)
    return parser.resolve_operands(operands, types, position)


def _static(value: Integer | None) -> IntegerAttr | None:
    return IntegerAttr(value, i64) if isinstance(value, int) else None


def _dynamic(value: Integer | None) -> SSAValue | None:
    return value if isinstance(value, SSAValue) else None


def _integer(dynamic: SSAValue | None, static: IntegerAttr | None, default: int) -> Integer:
    if dynamic is not None:
        return dynamic
    return default if static is None else static.value.data


def _verify_field(
    name: str, dynamic: SSAValue | None, static: IntegerAttr | None, allowed: range, *, needed: bool = False
) -> None:
    if dynamic is not None and static is not None:
        raise VerifyException(f"{name} is given as a number and as a value; keep one of them")
    if needed and dynamic is None and static is None:
        raise VerifyException(f"{name} is missing and has no default; give it")
    if static is not None:
        _verify_range(name, static.value.data, allowed)


def _verify_range(name: str, value: int, allowed: range) -> None:
    if value not in allowed:
        raise VerifyException(f"{name} {value} is out of range; it lies from {allowed.start} to {allowed.stop - 1}")


def constant_value(value: Integer) -> int | None:
    """The number `value` is known to be at compile time, or None."""
    if isinstance(value, int):
        return value
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isa(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def constant_extent(value: Integer) -> int | None:
    """The extent `value` is known to be at compile time: an i16 read as unsigned (DSD-008)."""
    number = constant_value(value)
    return number if number is None or isinstance(value, int) else number % len(EXTENTS)


class _FoldsConstantFields(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (FoldConstantFields(),)


class _FoldsIntoConstant(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (FoldDerivedDescriptor(), MergeDerivedDescriptors())


# ---------------------------------------------------------------------------------------------
# Operations that make a descriptor
# ---------------------------------------------------------------------------------------------


class MemoryDescriptorOp(IRDLOperation, ABC):
    """Makes a descriptor of memory elements from an array."""

    traits = traits_def(Pure())

    @property
    def base_type(self) -> MemRefType:
        """Type of the array; its element type is the descriptor's."""
        return cast(MemRefType, self.operands[0].type)

    def verify_(self) -> None:
        _verify_options(self)
        type = self.results[0].type
        assert isinstance(type, DescriptorType)
        if type.element_type != self.base_type.get_element_type():
            raise VerifyException(
                f"a descriptor of {self.base_type} has elements of {self.base_type.get_element_type()}, "
                f"not {type.element_type}; use that element type"
            )
        self.verify_fields()

    @abstractmethod
    def verify_fields(self) -> None:
        """Check the fields of this kind of descriptor."""


@irdl_op_definition
class TensorAccessOp(MemoryDescriptorOp):
    """A walk over a tensor given by its indices: one variable makes a mem1d, up to four a mem4d.

    ```
    %d = dsd.tensor_access %A affine_map<(i, j) -> (i + j, j + 2)> extents [5, 5]
           : memref<8x8xf32> -> !dsd.mem4d<f32>
    ```

    The last variable moves fastest (DSD-059); tensors are row-major (DSD-027). `dsd-expand-tensor-access`
    turns it into offset, strides and extents. Refused are: a number of variables other than that of
    extents (DSD-058), other than 1 for a mem1d (DSD-020), above 4 for a mem4d (DSD-057); a number of
    indices other than the tensor's rank (DSD-024); an index that is not affine (DSD-025) or has a run-time
    symbol (DSD-026); an extent outside 0 to 65535 (DSD-021, DSD-032).
    """

    name = "dsd.tensor_access"
    base = operand_def(MemRefType)
    map = prop_def(AffineMapAttr)
    extents_attr = prop_def(DenseArrayBase.constr(i64), prop_name="extents")
    wavelet_index_offset = opt_prop_def(UnitAttr)
    result = result_def(Mem1dType | Mem4dType)

    def __init__(
        self,
        base: SSAValue,
        map: AffineMap,
        extents: Sequence[int],
        result_type: Mem1dType | Mem4dType,
        *,
        wavelet_index_offset: bool = False,
    ):
        super().__init__(
            operands=[base],
            result_types=[result_type],
            properties={
                "map": AffineMapAttr(map),
                "extents": DenseArrayBase.from_list(i64, extents),
                "wavelet_index_offset": UnitAttr() if wavelet_index_offset else None,
            },
        )

    @property
    def access(self) -> AffineMap:
        """From the induction variables, outermost first, to the tensor's indices."""
        return self.map.data

    @property
    def extents(self) -> tuple[int, ...]:
        """Iterations of each induction variable, outermost first."""
        return self.extents_attr.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> TensorAccessOp:
        base = parser.parse_unresolved_operand()
        position = parser.pos
        map = parser.parse_attribute()
        if not isinstance(map, AffineMapAttr):
            parser.raise_error("expected affine_map<...>, the indices of the access", position)
        parser.parse_keyword("extents")
        extents = _parse_integers(parser)
        properties, attributes = _parse_options(parser, cls)
        parser.parse_punctuation(":")
        base_type = _parse_memref(parser)
        parser.parse_punctuation("->")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, Mem1dType | Mem4dType):
            parser.raise_error("a tensor access makes a !dsd.mem1d or !dsd.mem4d", position)
        op = cls(parser.resolve_operand(base, base_type), map.data, extents, type)
        op.properties.update(properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        printer.print_string(" ")
        printer.print_attribute(self.map)
        printer.print_string(f" extents {list(self.extents)}")
        _print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_fields(self) -> None:
        access, extents = self.access, self.extents
        variables = access.num_dims
        if access.num_symbols or any(isinstance(e, AffineSymExpr) for r in access.results for e in r.dfs()):
            raise VerifyException(
                "a tensor access has a run-time symbol; give offset, strides and extents of a dsd.mem1d instead"
            )
        if variables != len(extents):
            raise VerifyException(f"{variables} induction variables have {len(extents)} extents; give one for each")
        if isinstance(self.result.type, Mem1dType):
            if variables != 1:
                raise VerifyException(f"a mem1d access has one induction variable, not {variables}; make a !dsd.mem4d")
        elif not 1 <= variables <= MAX_DIMENSIONS:
            raise VerifyException(
                f"a mem4d access has one to four induction variables, not {variables}; split the access"
            )
        for extent in extents:
            _verify_range("extent", extent, EXTENTS)
        rank = self.base_type.get_num_dims()
        if len(access.results) != rank:
            raise VerifyException(
                f"{len(access.results)} indices do not address {self.base_type}; give {rank}, one for each dimension"
            )
        for index in access.results:
            if not index.is_pure_affine() or any(
                isinstance(e, AffineBinaryOpExpr) and e.kind not in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)
                for e in index.dfs()
            ):
                raise VerifyException(
                    f"index {index} is not affine in the induction variables; use sums of variables times constants"
                )


@irdl_op_definition
class Mem1dOp(MemoryDescriptorOp):
    """Elements of an array at one stride.

    ```
    %d = dsd.mem1d %A at 3 stride 2 extent 5 : memref<16xf32>
    %e = dsd.mem1d %A at %start extent %n {wavelet_index_offset} : memref<16xf32>
    ```

    Element k is `base + offset + k * stride`, in elements (DSD-017). Each field is a number or a value of
    type i16; the offset is 0 (DSD-012) and the stride 1 (DSD-010) if not given. Refused are: a missing
    extent (DSD-016), an extent outside 0 to 65535 (DSD-008), a stride outside -128 to 127 (DSD-009), an
    offset outside i16 (DSD-011).
    """

    name = "dsd.mem1d"
    base = operand_def(MemRefType)
    offset_value = opt_operand_def(i16)
    stride_value = opt_operand_def(i16)
    extent_value = opt_operand_def(i16)
    offset_attr = opt_prop_def(IntegerAttr, prop_name="offset")
    stride_attr = opt_prop_def(IntegerAttr, prop_name="stride")
    extent_attr = opt_prop_def(IntegerAttr, prop_name="extent")
    wavelet_index_offset = opt_prop_def(UnitAttr)
    result = result_def(Mem1dType)
    traits = traits_def(_FoldsConstantFields())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        base: SSAValue,
        extent: Integer,
        *,
        offset: Integer = 0,
        stride: Integer = 1,
        wavelet_index_offset: bool = False,
    ):
        type = cast(MemRefType, base.type)
        super().__init__(
            operands=[base, _dynamic(offset), _dynamic(stride), _dynamic(extent)],
            result_types=[Mem1dType(type.get_element_type())],
            properties={
                "offset": None if offset == 0 else _static(offset),
                "stride": None if stride == 1 else _static(stride),
                "extent": _static(extent),
                "wavelet_index_offset": UnitAttr() if wavelet_index_offset else None,
            },
        )

    @property
    def offset(self) -> Integer:
        """First element, from the base, in elements."""
        return _integer(self.offset_value, self.offset_attr, 0)

    @property
    def stride(self) -> Integer:
        """From one element to the next, in elements."""
        return _integer(self.stride_value, self.stride_attr, 1)

    @property
    def extent(self) -> Integer:
        """Number of elements."""
        return _integer(self.extent_value, self.extent_attr, 0)

    @classmethod
    def parse(cls, parser: Parser) -> Mem1dOp:
        base = parser.parse_unresolved_operand()
        offset: Integer = 0
        stride: Integer = 1
        if parser.parse_optional_keyword("at") is not None:
            offset = _parse_integer(parser)
        if parser.parse_optional_keyword("stride") is not None:
            stride = _parse_integer(parser)
        parser.parse_keyword("extent")
        extent = _parse_integer(parser)
        properties, attributes = _parse_options(parser, cls)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(base, _parse_memref(parser)), extent, offset=offset, stride=stride)
        op.properties.update(properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        for word, value, default in (("at", self.offset, 0), ("stride", self.stride, 1)):
            if value != default:
                printer.print_string(f" {word} ")
                _print_integer(printer, value)
        printer.print_string(" extent ")
        _print_integer(printer, self.extent)
        _print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)

    def verify_fields(self) -> None:
        _verify_field("offset", self.offset_value, self.offset_attr, OFFSETS)
        _verify_field("stride", self.stride_value, self.stride_attr, MEM1D_STRIDES)
        _verify_field("extent", self.extent_value, self.extent_attr, EXTENTS, needed=True)


@irdl_op_definition
class Mem4dOp(MemoryDescriptorOp):
    """Elements of an array in up to four nested walks.

    ```
    %d = dsd.mem4d %A at 2 strides [1, -3] extents [2, 4] : memref<4x5xf32>
    %e = dsd.mem4d %A at %start extents [2, 3] : memref<4x5xf32>
    ```

    Strides are innermost first, extents outermost first (DSD-062). A stride is the change of address when
    its walk advances, faster walks having run to their ends (DSD-061); all ones, the default (DSD-051), visit
    consecutive elements. The offset may be a value of type i16 and is 0 if not given (DSD-049). Refused are: a
    number of dimensions outside 1 to 4, strides and extents of different number (DSD-053), a stride or
    offset outside i16 (DSD-048, DSD-050), an extent outside 0 to 65535 (DSD-052).
    """

    name = "dsd.mem4d"
    base = operand_def(MemRefType)
    offset_value = opt_operand_def(i16)
    offset_attr = opt_prop_def(IntegerAttr, prop_name="offset")
    strides_attr = opt_prop_def(DenseArrayBase.constr(i64), prop_name="strides")
    extents_attr = prop_def(DenseArrayBase.constr(i64), prop_name="extents")
    wavelet_index_offset = opt_prop_def(UnitAttr)
    result = result_def(Mem4dType)
    traits = traits_def(_FoldsConstantFields())

    def __init__(
        self,
        base: SSAValue,
        extents: Sequence[int],
        *,
        strides: Sequence[int] | None = None,
        offset: Integer = 0,
        wavelet_index_offset: bool = False,
    ):
        type = cast(MemRefType, base.type)
        super().__init__(
            operands=[base, _dynamic(offset)],
            result_types=[Mem4dType(type.get_element_type())],
            properties={
                "offset": None if offset == 0 else _static(offset),
                "strides": None if strides is None else DenseArrayBase.from_list(i64, strides),
                "extents": DenseArrayBase.from_list(i64, extents),
                "wavelet_index_offset": UnitAttr() if wavelet_index_offset else None,
            },
        )

    @property
    def offset(self) -> Integer:
        """First element, from the base, in elements."""
        return _integer(self.offset_value, self.offset_attr, 0)

    @property
    def strides(self) -> tuple[int, ...]:
        """Change of address when each walk advances, innermost first, in elements."""
        if self.strides_attr is None:
            return (1,) * len(self.extents)
        return self.strides_attr.get_values()

    @property
    def extents(self) -> tuple[int, ...]:
        """Iterations of each walk, outermost first."""
        return self.extents_attr.get_values()

    @classmethod
    def parse(cls, parser: Parser) -> Mem4dOp:
        base = parser.parse_unresolved_operand()
        offset: Integer = 0
        if parser.parse_optional_keyword("at") is not None:
            offset = _parse_integer(parser)
        strides = _parse_integers(parser) if parser.parse_optional_keyword("strides") is not None else None
        parser.parse_keyword("extents")
        extents = _parse_integers(parser)
        properties, attributes = _parse_options(parser, cls)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(base, _parse_memref(parser)), extents, strides=strides, offset=offset)
        op.properties.update(properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        if self.offset != 0:
            printer.print_string(" at ")
            _print_integer(printer, self.offset)
        if self.strides_attr is not None:
            printer.print_string(f" strides {list(self.strides)}")
        printer.print_string(f" extents {list(self.extents)}")
        _print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)

    def verify_fields(self) -> None:
        _verify_field("offset", self.offset_value, self.offset_attr, OFFSETS)
        dimensions = len(self.extents)
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise VerifyException(f"a mem4d has one to four dimensions, not {dimensions}; split the walk")
        if len(self.strides) != dimensions:
            raise VerifyException(
                f"{len(self.strides)} strides do not fit {dimensions} extents; give one stride for each extent"
            )
        for stride in self.strides:
            _verify_range("stride", stride, MEM4D_STRIDES)
        for extent in self.extents:
            _verify_range("extent", extent, EXTENTS)


@irdl_op_definition
class CircbufOp(MemoryDescriptorOp):
    """A contiguous buffer whose walk returns to its base at the wraparound.

    ```
    %c = dsd.circbuf %A extent 20 wraparound 5 : memref<10xf16>
    ```

    Access k is element `k mod wraparound` (DSD-087). The wraparound, in elements, is the size of the array if
    not given (DSD-084). Refused are: a wraparound of 0 or above the array's size (DSD-085), none for a single
    element (DSD-086), an extent or wraparound above 65535 (DSD-079, DSD-080).
    """

    name = "dsd.circbuf"
    base = operand_def(MemRefType)
    extent_attr = prop_def(IntegerAttr, prop_name="extent")
    wraparound_attr = opt_prop_def(IntegerAttr, prop_name="wraparound")
    result = result_def(CircbufType)

    def __init__(self, base: SSAValue, extent: int, *, wraparound: int | None = None):
        type = cast(MemRefType, base.type)
        super().__init__(
            operands=[base],
            result_types=[CircbufType(type.get_element_type())],
            properties={"extent": _static(extent), "wraparound": _static(wraparound)},
        )

    @property
    def extent(self) -> int:
        """Number of elements one operation processes; may exceed the buffer (DSD-082)."""
        return self.extent_attr.value.data

    @property
    def wraparound(self) -> int:
        """Number of elements after which the walk returns to the base."""
        return element_count(self.base_type) if self.wraparound_attr is None else self.wraparound_attr.value.data

    @classmethod
    def parse(cls, parser: Parser) -> CircbufOp:
        base = parser.parse_unresolved_operand()
        parser.parse_keyword("extent")
        extent = parser.parse_integer(allow_boolean=False)
        wraparound = None
        if parser.parse_optional_keyword("wraparound") is not None:
            wraparound = parser.parse_integer(allow_boolean=False)
        properties, attributes = _parse_options(parser, cls)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(base, _parse_memref(parser)), extent, wraparound=wraparound)
        op.properties.update(properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        printer.print_string(f" extent {self.extent}")
        if self.wraparound_attr is not None:
            printer.print_string(f" wraparound {self.wraparound}")
        _print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)

    def verify_fields(self) -> None:
        _verify_range("extent", self.extent, EXTENTS)
        sized = self.base_type.get_num_dims() > 0 and self.base_type.has_static_shape()
        if not sized and self.wraparound_attr is None:
            raise VerifyException(f"wraparound is missing, and {self.base_type} has no size to take; give it")
        if sized and self.wraparound > element_count(self.base_type):
            raise VerifyException(
                f"wraparound {self.wraparound} lies beyond the {element_count(self.base_type)} elements of "
                f"{self.base_type}; choose a smaller one"
            )
        _verify_range("wraparound", self.wraparound, EXTENTS[1:])


@irdl_op_definition
class FifoOp(SymbolUser):
    """A FIFO as operand: as destination the operation pushes into it, as source it pops from it (DSD-126).

    ```
    %f = dsd.fifo @f : !dsd.fifo<f32>
    ```

    It has no length of its own unless one is set: the other operands say how many elements move (AMB-16). What an
    operation does that finds the FIFO full or empty is said by `wse.fifo`.
    """

    name = "dsd.fifo"
    fifo = prop_def(SymbolRefAttr)
    result = result_def(FifoType)
    traits = traits_def(Pure())
    assembly_format = "$fifo attr-dict `:` type($result)"

    def __init__(self, fifo: str, element_type: Attribute):
        super().__init__(properties={"fifo": SymbolRefAttr(fifo)}, result_types=[FifoType(element_type)])

    def verify_symbols(self, scope: Scope) -> None:
        fifo = scope.fifo(self.fifo)
        held = scope.buffer(fifo.buffer).type.get_element_type()
        given = self.result.type.element_type
        if (held in (f32, i32)) != (given in (f32, i32)):
            raise VerifyException(
                f"FIFO @{fifo.sym_name.data} holds {held}, and {given} has another width; use a type of its width"
            )


@irdl_op_definition
class SetFifoLengthOp(SymbolUser):
    """Sets how many elements operations read from a FIFO, or write to it; 0 leaves it to their other operands (AMB-16).

    ```
    dsd.set_fifo_length @f read 42
    dsd.set_fifo_length @f write %n
    ```

    The FIFO itself changes, no descriptor is made (DSD-155). The length is unsigned 16-bit (DSD-153), in elements
    (DSD-154), and 0 at the start (DSD-157). An operation that stops early leaves behind how many elements it lacked,
    which is the length of the next one alone (DSD-127, DSD-129).
    """

    name = "dsd.set_fifo_length"
    fifo = prop_def(SymbolRefAttr)
    side = prop_def(StringAttr)
    length_value = opt_operand_def(i16)
    length_attr = opt_prop_def(IntegerAttr, prop_name="length")

    def __init__(self, fifo: str, side: str, length: Integer):
        super().__init__(
            operands=[_dynamic(length)],
            properties={"fifo": SymbolRefAttr(fifo), "side": StringAttr(side), "length": _static(length)},
        )

    @property
    def length(self) -> Integer:
        """The new length, in elements."""
        return _integer(self.length_value, self.length_attr, 0)

    @classmethod
    def parse(cls, parser: Parser) -> SetFifoLengthOp:
        fifo = parser.parse_symbol_name().data
        side = parser.parse_keyword_in(FIFO_SIDES)
        length = _parse_integer(parser)
        op = cls(fifo, side, length)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.fifo.string_value())
        printer.print_string(f" {self.side.data} ")
        _print_integer(printer, self.length)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        verify_fifo_side(self.side.data)
        _verify_field("length", self.length_value, self.length_attr, EXTENTS, needed=True)

    def verify_symbols(self, scope: Scope) -> None:
        scope.fifo(self.fifo)


class FabricDescriptorOp(SymbolUser, ABC):
    """Makes a descriptor of wavelets."""

    queue = opt_prop_def(SymbolRefAttr)
    color = opt_prop_def(SymbolRefAttr)
    extent_value = opt_operand_def(i16)
    extent_attr = opt_prop_def(IntegerAttr, prop_name="extent")
    control_transform = opt_prop_def(UnitAttr)
    simd = opt_prop_def(SimdModeAttr)
    priority = opt_prop_def(PriorityAttr)
    traits = traits_def(Pure(), _FoldsConstantFields())

    def __init__(
        self,
        type: FabinType | FaboutType,
        extent: Integer,
        *,
        queue: str | None = None,
        color: str | None = None,
        options: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            operands=[_dynamic(extent)],
            result_types=[type],
            properties={
                "queue": None if queue is None else SymbolRefAttr(queue),
                "color": None if color is None else SymbolRefAttr(color),
                "extent": _static(extent),
                **(options or {}),
            },
        )

    @property
    def queue_name(self) -> str | None:
        """The queue's symbol, if it has been chosen."""
        return None if self.queue is None else self.queue.string_value()

    @property
    def color_name(self) -> str | None:
        """The color's symbol, if it is given."""
        return None if self.color is None else self.color.string_value()

    @property
    def extent(self) -> Integer:
        """Number of values, one to a wavelet except in a SIMD mode."""
        return _integer(self.extent_value, self.extent_attr, 0)

    @property
    def options(self) -> dict[str, Attribute]:
        """The options in braces, as a new descriptor with another queue needs them."""
        return {name: value for name, value in self.properties.items() if name in _OPTIONS}

    @property
    def element_type(self) -> Attribute:
        """What a wavelet holds."""
        return cast(DescriptorType, self.results[0].type).element_type

    def with_queue(self, queue: str) -> FabricDescriptorOp:
        """The same descriptor on the queue called `queue`, not yet inserted."""
        new = type(self)(
            cast("FabinType | FaboutType", self.results[0].type),
            self.extent,
            queue=queue,
            options=self.options,
        )
        new.attributes.update(self.attributes)
        new.location = self.location
        return new

    @classmethod
    def parse(cls, parser: Parser) -> FabricDescriptorOp:
        queue = parser.parse_optional_symbol_name()
        color = parser.parse_symbol_name() if parser.parse_optional_keyword("color") is not None else None
        parser.parse_keyword("extent")
        extent = _parse_integer(parser)
        properties, attributes = _parse_options(parser, cls)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, FabinType | FaboutType) or type.name != cls.name:
            parser.raise_error(f"{cls.name} makes a !{cls.name}, for example !{cls.name}<f32>", position)
        op = cls(
            type,
            extent,
            queue=None if queue is None else queue.data,
            color=None if color is None else color.data,
            options=properties,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        if (queue := self.queue_name) is not None:
            printer.print_string(" ")
            printer.print_symbol_name(queue)
        if (color := self.color_name) is not None:
            printer.print_string(" color ")
            printer.print_symbol_name(color)
        printer.print_string(" extent ")
        _print_integer(printer, self.extent)
        _print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        _verify_options(self)
        _verify_field("extent", self.extent_value, self.extent_attr, EXTENTS, needed=True)
        if self.queue is None and self.color is None:
            raise VerifyException(f"{self.name} has neither a queue nor a color; name one")
        if self.element_type in (f32, i32) and self.simd is not None:
            raise VerifyException(
                f"simd packs 16-bit values into wavelets, but the values are {self.element_type}; remove it"
            )

    @abstractmethod
    def find_queue(self, scope: Scope) -> InputQueueOp | OutputQueueOp | None:
        """The queue, if one is named; raises VerifyException if the symbol is no queue of this way."""

    def verify_symbols(self, scope: Scope) -> None:
        queue = self.find_queue(scope)
        if (color := self.color_name) is not None:
            scope.color(color)
            if queue is not None and all(entry.color_name != color for entry in queue.colors):
                raise VerifyException(
                    f"queue @{queue.sym_name.data} does not serve color @{color}; name its color or none"
                )
        if self.priority is not None and scope.target.operation_priority:
            raise VerifyException(
                f"on {scope.target.name} a fabric descriptor has no priority; give it to the operation"
            )


@irdl_op_definition
class FabinOp(FabricDescriptorOp):
    """Wavelets that arrive from an input queue.

    ```
    %i = dsd.fabin @from_west extent 64 : !dsd.fabin<f32>
    %j = dsd.fabin color @east0 extent %n {simd = simd_32} : !dsd.fabin<f16>
    ```

    With a color in place of a queue, `dsd-assign-queues` makes the queue. Options: `priority` (WSE-3,
    DSD-100), `simd` on 16-bit values (DSD-238), `control_transform` (DSD-253). Refused are: a symbol that is
    no input queue (DSD-213), `control` and `wavelet_index_offset` (DSD-110), `priority` on WSE-2 (DSD-101).
    """

    name = "dsd.fabin"
    result = result_def(FabinType)

    def find_queue(self, scope: Scope) -> InputQueueOp | None:
        return None if self.queue is None else scope.input_queue(self.queue)


@irdl_op_definition
class FaboutOp(FabricDescriptorOp):
    """Wavelets that are sent through an output queue.

    ```
    %o = dsd.fabout @to_east extent 64 : !dsd.fabout<f32>
    %c = dsd.fabout @to_east extent 1 {control, advance_switch} : !dsd.fabout<i32>
    ```

    With a color in place of a queue, `dsd-assign-queues` makes the queue. Options as for `dsd.fabin`, and
    `control` (the wavelets are control wavelets, DSD-106), `advance_switch` (DSD-252),
    `wavelet_index_offset` (each wavelet carries the operation's index, DSD-108) and `zero = first_source` or
    `second_source` (DSD-246). Refused are: a symbol that is no output queue (DSD-213), an index beside 32-bit
    data, `priority` on WSE-2 (DSD-101).
    """

    name = "dsd.fabout"
    control = opt_prop_def(UnitAttr)
    advance_switch = opt_prop_def(UnitAttr)
    wavelet_index_offset = opt_prop_def(UnitAttr)
    zero = opt_prop_def(ZeroedSourceAttr)
    result = result_def(FaboutType)

    def verify_(self) -> None:
        super().verify_()
        if self.wavelet_index_offset is not None and self.element_type in (f32, i32):
            raise VerifyException(
                "wavelet_index_offset puts an index into the high half of each wavelet, where "
                f"{self.element_type} has data; send 16-bit values"
            )

    def find_queue(self, scope: Scope) -> OutputQueueOp | None:
        return None if self.queue is None else scope.output_queue(self.queue)


# ---------------------------------------------------------------------------------------------
# Operations that derive a descriptor from another
# ---------------------------------------------------------------------------------------------


class DerivedDescriptorOp(IRDLOperation, ABC):
    """Makes a new descriptor that differs from another in one field; the other stays as it is (DSD-159)."""

    result = result_def()
    traits = traits_def(Pure())

    @property
    def descriptor(self) -> SSAValue:
        """The descriptor this one differs from."""
        return self.operands[0]

    @property
    def descriptor_type(self) -> DescriptorType:
        return cast(DescriptorType, self.descriptor.type)

    def _verify_kind(self, accepted: tuple[type[DescriptorType], ...], noun: str, hint: str) -> None:
        if not isinstance(self.descriptor.type, accepted):
            raise VerifyException(f"{self.name} takes {noun}, not {self.descriptor.type}; {hint}")
        if self.result.type != self.descriptor.type:
            raise VerifyException(
                f"{self.name} makes a {self.result.type} of a {self.descriptor.type}; both have the same type"
            )


class _FieldOp(DerivedDescriptorOp, ABC):
    """A derived descriptor whose new field is an integer."""

    input = operand_def()
    field_value = opt_operand_def(i16)
    field_attr = opt_prop_def(IntegerAttr, prop_name="value")

    def __init__(self, descriptor: SSAValue, value: Integer):
        super().__init__(
            operands=[descriptor, _dynamic(value)],
            result_types=[descriptor.type],
            properties={"value": _static(value)},
        )

    @property
    def value(self) -> Integer:
        """The new value of the field, or what is added to it."""
        return _integer(self.field_value, self.field_attr, 0)

    @classmethod
    def parse(cls, parser: Parser) -> _FieldOp:
        descriptor = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = _parse_integer(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(descriptor, parser.parse_type()), value)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.descriptor)
        printer.print_string(", ")
        _print_integer(printer, self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.descriptor.type)

    def _verify_value(self, name: str, allowed: range) -> None:
        _verify_field(name, self.field_value, self.field_attr, allowed, needed=True)


@irdl_op_definition
class IncrementOffsetOp(_FieldOp):
    """The descriptor, moved by a number of its elements; nothing checks that it stays in the array.

    ```
    %e = dsd.increment_offset %d, %n : !dsd.mem1d<f32>
    ```

    Only mem1d and mem4d (DSD-165), by an i16 (DSD-166).
    """

    name = "dsd.increment_offset"
    traits = traits_def(_FoldsIntoConstant())

    def verify_(self) -> None:
        self._verify_kind((Mem1dType, Mem4dType), "a mem1d or mem4d descriptor", "only those have an offset")
        self._verify_value("offset", OFFSETS)


@irdl_op_definition
class SetLengthOp(_FieldOp):
    """The descriptor with another extent, in elements or wavelets.

    ```
    %e = dsd.set_length %d, 12 : !dsd.fabin<f32>
    ```

    Not for mem4d (DSD-173) nor for FIFOs, whose lengths change in place (DSD-155). The length is unsigned
    16-bit (DSD-174).
    """

    name = "dsd.set_length"
    traits = traits_def(_FoldsIntoConstant())

    def verify_(self) -> None:
        self._verify_kind(
            (Mem1dType, CircbufType, FabinType, FaboutType),
            "a mem1d, circbuf or fabric descriptor",
            "a mem4d keeps its extents, and a FIFO has a read length and a write length",
        )
        self._verify_value("length", EXTENTS)


@irdl_op_definition
class SetStrideOp(_FieldOp):
    """The descriptor with another stride, in elements.

    ```
    %e = dsd.set_stride %d, 2 : !dsd.mem1d<f32>
    ```

    Only mem1d (DSD-177); the stride is signed 8-bit (DSD-178).
    """

    name = "dsd.set_stride"
    traits = traits_def(_FoldsIntoConstant())

    def verify_(self) -> None:
        self._verify_kind((Mem1dType,), "a mem1d descriptor", "only that has one stride")
        self._verify_value("stride", MEM1D_STRIDES)


@irdl_op_definition
class SetBaseOp(DerivedDescriptorOp):
    """The descriptor on another array, from its first element: an earlier offset is gone (DSD-163).

    ```
    %e = dsd.set_base %d, %A : !dsd.mem1d<f32>, memref<10xf32>
    ```

    Only mem1d and mem4d (DSD-161), onto a tensor (DSD-162).
    """

    name = "dsd.set_base"
    input = operand_def()
    base = operand_def(MemRefType)
    traits = traits_def(_FoldsIntoConstant())

    def __init__(self, descriptor: SSAValue, base: SSAValue):
        super().__init__(operands=[descriptor, base], result_types=[descriptor.type])

    @classmethod
    def parse(cls, parser: Parser) -> SetBaseOp:
        descriptor = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        base = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation(",")
        op = cls(parser.resolve_operand(descriptor, type), parser.resolve_operand(base, _parse_memref(parser)))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.descriptor)
        printer.print_string(", ")
        printer.print_operand(self.base)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.descriptor.type)
        printer.print_string(", ")
        printer.print_attribute(self.base.type)

    def verify_(self) -> None:
        self._verify_kind((Mem1dType, Mem4dType), "a mem1d or mem4d descriptor", "only those have a base")
        base = cast(MemRefType, self.base.type)
        if base.get_num_dims() == 0:
            raise VerifyException("the new base is a scalar; name an array")
        if base.get_element_type() != self.descriptor_type.element_type:
            raise VerifyException(
                f"the new base has elements of {base.get_element_type()}, the descriptor of "
                f"{self.descriptor_type.element_type}; make a new descriptor"
            )


def defining_op(descriptor: SSAValue) -> Operation | None:
    """The operation that made `descriptor`, through any that derived it; None if it is an argument."""
    owner = descriptor.owner
    while isinstance(owner, DerivedDescriptorOp):
        owner = owner.descriptor.owner
    return owner if isinstance(owner, Operation) else None


def strides_if_constant(descriptor: SSAValue) -> tuple[int, ...] | None:
    """The strides, innermost first, of a mem4d descriptor known at compile time, else None (DSR-061)."""
    owner = descriptor.owner
    while isinstance(owner, DerivedDescriptorOp):
        if isinstance(owner, _FieldOp) and constant_value(owner.value) is None:
            return None
        owner = owner.descriptor.owner
    if isinstance(owner, Mem4dOp) and constant_value(owner.offset) is not None:
        return owner.strides
    return None


def _replace(rewriter: PatternRewriter, op: Operation, new: Operation, source: Operation) -> None:
    """Replace `op` by `new`, a changed copy of `source`, keeping names, attributes and location."""
    new.attributes.update(source.attributes)
    new.location = op.location
    rewriter.replace(op, new)


class FoldConstantFields(RewritePattern):
    """Write a field that is a constant value as a number."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Mem1dOp | Mem4dOp | FabinOp | FaboutOp, rewriter: PatternRewriter) -> None:
        if isinstance(op, FabinOp | FaboutOp):
            if (extent := _number(op.extent_value, constant_extent, EXTENTS)) is not None:
                new = type(op)(op.result.type, extent, queue=op.queue_name, color=op.color_name, options=op.options)
                _replace(rewriter, op, new, op)
            return
        offset = _number(op.offset_value, constant_value, OFFSETS)
        stride = extent = None
        if isinstance(op, Mem1dOp):
            stride = _number(op.stride_value, constant_value, MEM1D_STRIDES)
            extent = _number(op.extent_value, constant_extent, EXTENTS)
        if offset is not None or stride is not None or extent is not None:
            _replace(rewriter, op, _with_fields(op, offset=offset, stride=stride, extent=extent), op)


def _number(value: SSAValue | None, known: Callable[[Integer], int | None], allowed: range) -> int | None:
    number = None if value is None else known(value)
    return number if number is not None and number in allowed else None


class FoldDerivedDescriptor(RewritePattern):
    """Put a changed field into the descriptor it changes, where both are known at compile time."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DerivedDescriptorOp, rewriter: PatternRewriter) -> None:
        source = op.descriptor.owner
        new: Operation | None = None
        match op, source:
            case IncrementOffsetOp(), Mem1dOp() | Mem4dOp():
                start, step = constant_value(source.offset), constant_value(op.value)
                if start is None or step is None or start + step not in OFFSETS:
                    return
                new = _with_fields(source, offset=start + step)
            case SetLengthOp(), Mem1dOp():
                new = _with_fields(source, extent=op.value)
            case SetLengthOp(), FabinOp() | FaboutOp():
                new = type(source)(
                    source.result.type,
                    op.value,
                    queue=source.queue_name,
                    color=source.color_name,
                    options=source.options,
                )
            case SetLengthOp(), CircbufOp():
                if (length := constant_extent(op.value)) is None:
                    return
                new = CircbufOp(source.base, length, wraparound=source.wraparound)
            case SetLengthOp(), TensorAccessOp():
                if (length := constant_extent(op.value)) is None:
                    return
                new = TensorAccessOp(
                    source.base,
                    source.access,
                    [length],
                    source.result.type,
                    wavelet_index_offset=source.wavelet_index_offset is not None,
                )
            case SetStrideOp(), Mem1dOp():
                new = _with_fields(source, stride=op.value)
            case SetBaseOp(), Mem1dOp() | Mem4dOp():
                new = _with_fields(source, base=op.base, offset=0)
            case _:
                return
        assert isinstance(source, Operation)
        _replace(rewriter, op, new, source)


def _with_fields(
    source: Mem1dOp | Mem4dOp,
    *,
    base: SSAValue | None = None,
    offset: Integer | None = None,
    stride: Integer | None = None,
    extent: Integer | None = None,
) -> Mem1dOp | Mem4dOp:
    base = source.base if base is None else base
    offset = source.offset if offset is None else offset
    indexed = source.wavelet_index_offset is not None
    if isinstance(source, Mem4dOp):
        strides = None if source.strides_attr is None else source.strides
        return Mem4dOp(base, source.extents, strides=strides, offset=offset, wavelet_index_offset=indexed)
    return Mem1dOp(
        base,
        source.extent if extent is None else extent,
        offset=offset,
        stride=source.stride if stride is None else stride,
        wavelet_index_offset=indexed,
    )


class MergeDerivedDescriptors(RewritePattern):
    """Two changes of one field in a row are one: the later wins, increments add up."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DerivedDescriptorOp, rewriter: PatternRewriter) -> None:
        first = op.descriptor.owner
        if type(first) is not type(op):
            return
        match op, first:
            case IncrementOffsetOp(), IncrementOffsetOp():
                one, two = constant_value(first.value), constant_value(op.value)
                if one is None or two is None or one + two not in OFFSETS:
                    return
                new = IncrementOffsetOp(first.descriptor, one + two)
            case SetLengthOp() | SetStrideOp(), SetLengthOp() | SetStrideOp():
                new = type(op)(first.descriptor, op.value)
            case SetBaseOp(), SetBaseOp():
                new = SetBaseOp(first.descriptor, op.base)
            case _:
                return
        _replace(rewriter, op, new, op)


# ---------------------------------------------------------------------------------------------
# The DSD operations
# ---------------------------------------------------------------------------------------------


class Queues(Resource):
    """The PE's input and output queues; the effect's value is the fabric operand."""

    def name(self) -> str:
        return "<Queues>"


class DsdOperationEffects(MemoryEffect):
    """What a DSD operation touches: memory, queues, task states, and whatever its level adds.

    An asynchronous operation touches them until it completes, not only where it stands.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, DsdOperation)
        return op.effects()


class DsdOperation(SymbolUser, ABC):
    """A DSD operation, on descriptors (`dsd`) or on registers (`dsr`).

    `destination` receives, `sources` are read, in the order of the CSL builtin; `index` is the word offset of
    operands that ask for it (DSD-236). `asynchronous` holds the settings if the operation says it is
    asynchronous. `result`, if asked for, is false where the operation found a FIFO empty or full and stopped
    (DSD-131), and true otherwise (AMB-18). Passes match on this class and ask `definition`, never on one operation's
    class.
    """

    destination = operand_def()
    sources = var_operand_def()
    index = opt_operand_def(i16)
    asynchronous = opt_prop_def(AsyncAttr, prop_name="async")
    result = opt_result_def(i1)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(DsdOperationEffects())

    def __init__(
        self,
        destination: SSAValue,
        sources: Sequence[SSAValue],
        *,
        index: SSAValue | None = None,
        asynchronous: AsyncAttr | None = None,
        with_result: bool = False,
    ):
        super().__init__(
            operands=[destination, sources, index],
            properties={"async": asynchronous},
            result_types=[i1 if with_result else None],
        )

    @classmethod
    def table_row(cls) -> dsd_table.DsdOperation:
        """The operation's row in the table."""
        return dsd_table.OPERATIONS[cls.name.partition(".")[2]]

    @property
    def definition(self) -> dsd_table.DsdOperation:
        """The operation's row in the table."""
        return self.table_row()

    @property
    def settings(self) -> AsyncAttr | None:
        """How the operation runs on a microthread; None if it is synchronous."""
        return self.asynchronous

    @property
    def is_async(self) -> bool:
        """Whether the operation runs on a microthread of its own (DSD-180, DSD-181)."""
        return self.settings is not None

    @property
    def fabric_operands(self) -> tuple[SSAValue, ...]:
        """The operands that are runs of wavelets, destination first."""
        return tuple(
            operand
            for operand in (self.destination, *self.sources)
            if isinstance(self.descriptor_type_of(operand), FabricDescriptorType)
        )

    @property
    def fabric_inputs(self) -> tuple[SSAValue, ...]:
        """The sources that are arriving wavelets."""
        return tuple(s for s in self.sources if isinstance(self.descriptor_type_of(s), FabinType))

    @abstractmethod
    def descriptor_of(self, operand: SSAValue) -> SSAValue | None:
        """The descriptor `operand` is or holds; None if it is a scalar or not known here."""

    def descriptor_type_of(self, operand: SSAValue) -> DescriptorType | None:
        """Type of the descriptor `operand` is or holds, if known."""
        descriptor = self.descriptor_of(operand)
        return None if descriptor is None else cast(DescriptorType, descriptor.type)

    @abstractmethod
    def verify_operand(self, operand: SSAValue, source: int | None) -> None:
        """Check an operand that is no scalar; `source` is its position, None for the destination."""

    def effects(self) -> set[EffectInstance]:
        """See `DsdOperationEffects`."""
        read, write = MemoryEffectKind.READ, MemoryEffectKind.WRITE
        # Sending and receiving both change what a queue holds.
        found = {EffectInstance(kind, operand, Queues()) for operand in self.fabric_operands for kind in (read, write)}
        if self.destination not in self.fabric_operands:
            found.add(EffectInstance(write, self.destination))
        for source in self.sources:
            if source not in self.fabric_operands and source.type not in ELEMENT_TYPES:
                found.add(EffectInstance(read, source))
        if self.is_async:
            found.add(EffectInstance(write, resource=TaskStates()))
        return found

    @classmethod
    def parse(cls, parser: Parser) -> DsdOperation:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        asynchronous = None
        if parser.parse_optional_keyword("async") is not None:
            asynchronous = AsyncAttr.parse_settings(parser, parser.Delimiter.PAREN)
        index = None
        if parser.parse_optional_keyword("index") is not None:
            with parser.in_parens():
                index = parser.parse_operand(i16)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        destination, *sources = resolve_all(parser, operands, types, position)
        with_result = parser.parse_optional_punctuation("->") is not None
        if with_result:
            position = parser.pos
            if parser.parse_type() != i1:
                parser.raise_error(f"the result of {cls.name} is an i1", position)
        op = cls(destination, sources, index=index, asynchronous=asynchronous, with_result=with_result)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        operands = (self.destination, *self.sources)
        printer.print_string(" ")
        printer.print_list(operands, printer.print_operand)
        if self.asynchronous is not None:
            printer.print_string(" async")
            self.asynchronous.print_settings(printer, "(", ")")
        if self.index is not None:
            printer.print_string(" index(")
            printer.print_operand(self.index)
            printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(operands, lambda operand: printer.print_attribute(operand.type))
        if self.result is not None:
            printer.print_string(" -> i1")

    def verify_(self) -> None:
        row = self.definition
        if len(self.sources) != len(row.sources):
            raise VerifyException(
                f"{row.name} takes {len(row.sources)} sources, not {len(self.sources)}; correct the operands"
            )
        self._verify_destination()
        for position, source in enumerate(self.sources):
            self._verify_source(position, source)
        if self.asynchronous is not None:
            self.asynchronous.verify_settings()
        self._verify_options_of_operands()

    def _verify_destination(self) -> None:
        row, type = self.definition, self.destination.type
        if isa(type, MemRefType):
            if type.get_num_dims():
                raise VerifyException(
                    f"the destination of {row.name} is an array; make a descriptor of it with dsd.mem1d"
                )
            if not row.scalar_destination:
                raise VerifyException(
                    f"{row.name} does not write to a scalar; make a descriptor of stride 0 with dsd.mem1d"
                )
            self._verify_element("the destination", row.destination, type.get_element_type())
            return
        if type in ELEMENT_TYPES:
            raise VerifyException(
                f"the destination of {row.name} is a value; name a descriptor or the buffer of a scalar"
            )
        self.verify_operand(self.destination, None)

    def _verify_source(self, position: int, source: SSAValue) -> None:
        row, type = self.definition, source.type
        noun = f"source {position + 1}"
        if isa(type, MemRefType):
            raise VerifyException(f"{noun} of {row.name} is an array; make a descriptor of it with dsd.mem1d")
        if type in ELEMENT_TYPES:
            if position not in row.scalar_sources:
                raise VerifyException(f"{noun} of {row.name} cannot be a scalar; name a descriptor")
            self._verify_element(noun, row.sources[position], type)
            return
        if position in row.scalar_only:
            raise VerifyException(f"{noun} of {row.name} must be a scalar of {row.sources[position]}; give one")
        self.verify_operand(source, position)

    def _verify_element(self, noun: str, needed: dsd_table.Element, given: Attribute) -> None:
        """Check an element type; moves and bitwise operations take any of the right width."""
        expected = _ELEMENTS[needed]
        if given == expected:
            return
        bits_only = self.definition.function in ("move", "and", "or", "xor") and needed in ("i16", "i32")
        if bits_only and (given in (f16, bf16, i16)) == (needed == "i16") and given in ELEMENT_TYPES:
            return
        raise VerifyException(
            f"{noun} of {self.definition.name} has elements of {given}, but {expected} is needed; use that"
        )

    def _verify_options_of_operands(self) -> None:
        """Check what options of the operands' descriptors ask of the operation, where they are known."""
        for operand in (self.destination, *self.sources):
            descriptor = self.descriptor_of(operand)
            made_by = None if descriptor is None else defining_op(descriptor)
            if (
                self.index is None
                and isinstance(made_by, Mem1dOp | Mem4dOp | TensorAccessOp | FaboutOp)
                and made_by.wavelet_index_offset is not None
            ):
                raise VerifyException(
                    f"an operand of {self.definition.name} has wavelet_index_offset, but the operation has no "
                    "index; add index(...)"
                )
            if isinstance(made_by, FaboutOp) and made_by.zero is not None:
                self._verify_zero(made_by.zero.data)

    def _verify_zero(self, zeroed: ZeroedSource) -> None:
        row = self.definition
        position = 0
        if len(self.sources) == 1:
            if zeroed is ZeroedSource.FIRST_SOURCE:
                raise VerifyException(
                    f"{row.name} has one source, which zero calls second_source; use that instead of first_source"
                )
        elif zeroed is ZeroedSource.SECOND_SOURCE:
            position = 1
        source = self.sources[position]
        type = self.descriptor_type_of(source)
        if source.type in ELEMENT_TYPES or (
            type is not None and not isinstance(type, Mem1dType | Mem4dType | CircbufType)
        ):
            raise VerifyException(
                f"zero names source {position + 1} of {row.name}, which is not in memory; name a memory descriptor"
            )

    def verify_symbols(self, scope: Scope) -> None:
        target = scope.target
        if len(self.fabric_inputs) > target.max_fabric_inputs:
            raise VerifyException(
                f"{self.definition.name} has {len(self.fabric_inputs)} fabric inputs, but {target.name} takes "
                f"{target.max_fabric_inputs}; receive one of them into memory first"
            )
        if self.asynchronous is not None:
            self.asynchronous.verify_symbols(scope)
            self._verify_microthread_of_queue(self.asynchronous, scope)

    def _verify_microthread_of_queue(self, settings: AsyncAttr, scope: Scope) -> None:
        """Check that the queue of the first fabric operand fixes the microthread, as on WSE-2 (DSD-223)."""
        if settings.microthread is None or not scope.target.microthread_of_queue:
            return
        fabric = self.fabric_operands
        descriptor = self.descriptor_of(fabric[0]) if fabric else None
        made_by = None if descriptor is None else defining_op(descriptor)
        if not isinstance(made_by, FabinOp | FaboutOp) or made_by.queue is None:
            return
        queue = made_by.find_queue(scope)
        number = None if queue is None else queue.queue_id
        if number is not None and number != settings.microthread:
            raise VerifyException(
                f"on {scope.target.name} the microthread is the id {number} of the queue, not {settings.microthread}; "
                "remove ut"
            )


class DescriptorOperation(DsdOperation, ABC):
    """A DSD operation on descriptors, as a program writes it."""

    def descriptor_of(self, operand: SSAValue) -> SSAValue | None:
        return operand if isinstance(operand.type, DescriptorType) else None

    def verify_operand(self, operand: SSAValue, source: int | None) -> None:
        row, type = self.definition, operand.type
        noun = "the destination" if source is None else f"source {source + 1}"
        if not isinstance(type, DescriptorType):
            raise VerifyException(f"{noun} of {row.name} is of type {type}; name a descriptor")
        if isinstance(type, CircbufType):
            raise VerifyException(
                f"{noun} of {row.name} is a circbuf, which works only in a register; load it with dsr.load"
            )
        if source is None and isinstance(type, FabinType):
            raise VerifyException(f"the destination of {row.name} is a fabin; wavelets are sent to a fabout")
        if source is not None and isinstance(type, FaboutType):
            raise VerifyException(f"{noun} of {row.name} is a fabout; wavelets are received from a fabin")
        needed = row.destination if source is None else row.sources[source]
        self._verify_element(noun, needed, type.element_type)

    def verify_(self) -> None:
        super().verify_()
        row = self.definition
        if self.is_async and not self.fabric_operands:
            raise VerifyException(f"{row.name} is async but moves no wavelets; only operations on the fabric can be")
        fifos = [n for n, source in enumerate(self.sources) if isinstance(source.type, FifoType)]
        if len(row.sources) > 1 and fifos:
            if len(fifos) > 1:
                raise VerifyException(f"{row.name} reads two FIFOs; at most one source can be a FIFO")
            if fifos == [0]:
                raise VerifyException(
                    f"the first source of {row.name} is a FIFO; exchange the sources or copy it first"
                )

    def verify_symbols(self, scope: Scope) -> None:
        super().verify_symbols(scope)
        for operand in (self.destination, *self.sources):
            if isinstance(operand.type, FifoType) and not isinstance(operand.owner, FifoOp):
                raise VerifyException(
                    f"which FIFO {self.definition.name} works on must be known; name it with dsd.fifo (DSD-122)"
                )


def _class_name(name: str) -> str:
    return name[0].upper() + name[1:] + "Op"


_LevelT = TypeVar("_LevelT", bound=DsdOperation)


def table_operations(dialect: str, level: type[_LevelT]) -> dict[str, type[_LevelT]]:
    """One operation class of `level` for each row of the table, by the row's name."""
    operations: dict[str, type[_LevelT]] = {}
    for row in dsd_table.OPERATIONS.values():
        fields = {"name": f"{dialect}.{row.name}", "__doc__": f"`@{row.name}`: {row.summary}."}
        fields["__module__"] = level.__module__
        operation = cast(type[_LevelT], type(_class_name(row.name), (level,), fields))
        operations[row.name] = irdl_op_definition(operation)
    return operations


OPERATIONS: dict[str, type[DescriptorOperation]] = table_operations("dsd", DescriptorOperation)
"""The DSD operations on descriptors, by table name: `OPERATIONS["fmacs"](destination, sources)`."""

Dsd = Dialect(
    "dsd",
    [
        TensorAccessOp,
        Mem1dOp,
        Mem4dOp,
        CircbufOp,
        FifoOp,
        SetFifoLengthOp,
        FabinOp,
        FaboutOp,
        IncrementOffsetOp,
        SetLengthOp,
        SetStrideOp,
        SetBaseOp,
        *OPERATIONS.values(),
    ],
    [
        Mem1dType,
        Mem4dType,
        CircbufType,
        FabinType,
        FaboutType,
        FifoType,
        PriorityAttr,
        SimdModeAttr,
        ZeroedSourceAttr,
        OnControlAttr,
        AsyncAttr,
    ],
)
