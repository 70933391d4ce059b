"""Tiles: strided walks over byte-addressed memories of a unit, or of all units, and what is computed on whole tiles.

Nothing here knows layouts of tiles, pipes or cores: what a function computes is in `tile_functions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, Pure
from xdsl.utils.exceptions import VerifyException

from ...diagnostics.records import record
from ...operations.tile_functions import FUNCTIONS, SCALAR_SHAPES
from ..assembly import parse_attributes, parse_symbol, print_attributes
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser, described
from .channels import ChannelOp
from .fabric import FabricOp, UnitsOp
from .fields import DYNAMIC, counted, numbers_of, static_part

MAX_TILE_DIMENSIONS = 5

_COUNT = BaseAttr(IndexType) | EqAttrConstraint(IntegerType(64))
"""Types of extents and strides."""

ROLES = ("written", "read", "copied")
"""What a tile is to the entry of a channel it belongs to: the producer's until it is committed, the consumer's until it
is released, or the consumer's copy, until as many entries later its place is taken again."""


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """A strided walk over a memory, of one to five dimensions."""

    name = "flow.tile"
    element_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parser.parse_type(),)

    def verify(self) -> None:
        type = self.element_type
        integer = isinstance(type, IntegerType) and type.bitwidth in (8, 16, 32, 64)
        if not integer and not isinstance(type, AnyFloat):
            raise VerifyException(f"a tile cannot hold {type}; use floats, or integers of 8, 16, 32 or 64 bits")


@irdl_op_definition
class SpaceOp(SymbolDefinition):
    """A byte-addressed memory: of each unit of a class, or one for all units if it is in the fabric itself.

    ```
    flow.space @vec 196608
    ```

    One of 0 bytes in the fabric is as large as what the host puts there.
    """

    NOUN: ClassVar = "a space"

    name = "flow.space"
    size = prop_def(IntegerAttr)
    traits = traits_def(HasParent(FabricOp, UnitsOp))

    def __init__(self, name: str, size: int):
        super().__init__(properties={"sym_name": StringAttr(name), "size": IntegerAttr(size, i64)})

    @classmethod
    def parse(cls, parser: Parser) -> SpaceOp:
        op = cls(parser.parse_symbol_name().data, parser.parse_integer(allow_boolean=False))
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" {self.size.value.data}")
        print_attributes(printer, self)

    def verify_(self) -> None:
        if self.size.value.data < 0:
            raise VerifyException(f"space @{self.sym_name.data} has {self.size.value.data} bytes; give 0 or more")


@record
class Slot:
    """The entry of a channel that a tile belongs to: number `index` modulo `count`, `size` bytes apart."""

    channel: str
    index: SSAValue
    count: int
    size: int
    role: str


@record
class Owner:
    """Whose memory contains a tile, where it is not the unit's own: that of a unit of another class in the same row.

    `lane` counts the columns of the class, from 0.
    """

    units: str
    lane: SSAValue


@irdl_op_definition
class TileOp(SymbolUser):
    """A walk over a memory from a byte address on.

    ```
    %a = flow.tile @vec[%address] extents [16, %n] strides [16, 1] : !flow.tile<f32>
    %b = flow.tile @gm[%base] slot @pipe[%i] of 8 by 1024 as written extents [16, 16] strides [16, 1] : !flow.tile<f32>
    ```

    Extents and strides are given outermost first; strides count elements. With a slot the address is that of slot `%i`
    modulo the number of slots, so many bytes apart, and the tile belongs to entry `%i` of the channel: `written` by
    its producer until it is committed, `read` by its consumer until it is released, or a `copied` one of the consumer,
    until that many entries later the place is taken again. Using it later is reported as a hazard. A negative number
    says that the tile is in no slot: it is at the address itself.

    `of` names another class of units, whose memory contains the tile: that of the unit in the same row and the given
    column of the class, from 0.

    ```
    %c = flow.tile @vec[%address] of @vector lane %l extents [16, 16] strides [16, 1] : !flow.tile<f32>
    ```
    """

    name = "flow.tile"
    space = prop_def(SymbolRefAttr)
    owning_units = opt_prop_def(SymbolRefAttr)
    channel = opt_prop_def(SymbolRefAttr)
    slot_count = opt_prop_def(IntegerAttr)
    slot_size = opt_prop_def(IntegerAttr)
    role = opt_prop_def(StringAttr)
    static_extents = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    address = operand_def(IntegerType(64))
    lane = opt_operand_def(IntegerType(64))
    index = opt_operand_def(IntegerType(64))
    extents = var_operand_def(_COUNT)
    strides = var_operand_def(_COUNT)
    result = result_def(TileType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        space: str,
        address: SSAValue,
        extents: Sequence[int | SSAValue],
        strides: Sequence[int | SSAValue],
        type: Attribute,
        slot: Slot | None = None,
        owner: Owner | None = None,
    ):
        properties: dict[str, Attribute | None] = {
            "space": SymbolRefAttr(space),
            "owning_units": None if owner is None else SymbolRefAttr(owner.units),
            "static_extents": DenseArrayBase.from_list(i64, [static_part(extent) for extent in extents]),
            "static_strides": DenseArrayBase.from_list(i64, [static_part(stride) for stride in strides]),
        }
        if slot is not None:
            properties |= {
                "channel": SymbolRefAttr(slot.channel),
                "slot_count": IntegerAttr(slot.count, i64),
                "slot_size": IntegerAttr(slot.size, i64),
                "role": StringAttr(slot.role),
            }
        super().__init__(
            operands=[
                address,
                [] if owner is None else [owner.lane],
                [] if slot is None else [slot.index],
                [extent for extent in extents if isinstance(extent, SSAValue)],
                [stride for stride in strides if isinstance(stride, SSAValue)],
            ],
            properties=properties,
            result_types=[TileType(type)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> TileOp:
        space = parse_symbol(parser).string_value()
        with parser.in_square_brackets():
            address = parser.parse_operand(i64)
        owner = None
        if parser.parse_optional_keyword("of") is not None:
            units = parse_symbol(parser).string_value()
            parser.parse_keyword("lane")
            owner = Owner(units, parser.parse_operand(i64))
        slot = None
        if parser.parse_optional_keyword("slot") is not None:
            channel = parse_symbol(parser).string_value()
            with parser.in_square_brackets():
                index = parser.parse_operand(i64)
            parser.parse_keyword("of")
            count = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("by")
            size = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("as")
            slot = Slot(channel, index, count, size, parser.parse_keyword_in(ROLES))
        parser.parse_keyword("extents")
        extents = _parse_fields(parser)
        parser.parse_keyword("strides")
        strides = _parse_fields(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, TileType):
            parser.raise_error("flow.tile makes a value of type !flow.tile", position)
        op = cls(space, address, extents, strides, type.element_type, slot, owner)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.space)
        with printer.in_square_brackets():
            printer.print_operand(self.address)
        owner = self.owner
        if owner is not None:
            printer.print_string(" of ")
            printer.print_symbol_name(owner.units)
            printer.print_string(" lane ")
            printer.print_operand(owner.lane)
        slot = self.slot
        if slot is not None:
            printer.print_string(" slot ")
            printer.print_symbol_name(slot.channel)
            with printer.in_square_brackets():
                printer.print_operand(slot.index)
            printer.print_string(f" of {slot.count} by {slot.size} as {slot.role}")
        printer.print_string(" extents ")
        _print_fields(printer, self.static_extents, self.extents)
        printer.print_string(" strides ")
        _print_fields(printer, self.static_strides, self.strides)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @property
    def owner(self) -> Owner | None:
        """Whose memory it is, if not the unit's own or that of all."""
        if self.owning_units is None or self.lane is None:
            return None
        return Owner(self.owning_units.string_value(), self.lane)

    @property
    def slot(self) -> Slot | None:
        """The entry of a channel the tile belongs to, if any."""
        if self.channel is None or self.index is None:
            return None
        assert self.slot_count is not None and self.slot_size is not None and self.role is not None
        return Slot(
            self.channel.string_value(), self.index, self.slot_count.value.data, self.slot_size.value.data,
            self.role.data,
        )  # fmt: skip

    def mixed_extents(self) -> list[int | SSAValue]:
        """Return the extents, literals and values."""
        return _mixed(self.static_extents, self.extents)

    def mixed_strides(self) -> list[int | SSAValue]:
        """Return the strides, literals and values."""
        return _mixed(self.static_strides, self.strides)

    def verify_(self) -> None:
        extents, strides = numbers_of(self.static_extents), numbers_of(self.static_strides)
        if len(extents) != len(strides) or not 1 <= len(extents) <= MAX_TILE_DIMENSIONS:
            raise VerifyException(
                f"a tile has one to {MAX_TILE_DIMENSIONS} dimensions with an extent and a stride each, not "
                f"{counted(len(extents), 'extent')} and {counted(len(strides), 'stride')}; correct them"
            )
        for noun, numbers, values in (("extent", extents, self.extents), ("stride", strides, self.strides)):
            if sum(number == DYNAMIC for number in numbers) != len(values):
                raise VerifyException(f"the tile needs a value for each {noun} it leaves open")
        if any(extent < 0 and extent != DYNAMIC for extent in extents):
            raise VerifyException("an extent of a tile is negative; give 0 or more")
        if (self.owning_units is None) != (self.lane is None):
            raise VerifyException("memory of other units is that of a class and a lane; give both")
        parts = (self.channel, self.index, self.slot_count, self.slot_size, self.role)
        if any(part is None for part in parts) and any(part is not None for part in parts):
            raise VerifyException("a slot has a channel, a number, a count, a size and a role; give all of them")
        slot = self.slot
        if slot is not None and (slot.count < 1 or slot.size < 1 or slot.role not in ROLES):
            raise VerifyException(f"a slot has a count and a size of 1 or more and a role of {', '.join(ROLES)}")

    def verify_symbols(self, scope: Scope) -> None:
        if self.owning_units is None:
            scope.get(SpaceOp, self.space)
        else:
            _verify_space_of(scope.get(UnitsOp, self.owning_units), self.space)
        if self.channel is not None:
            scope.get(ChannelOp, self.channel)


def _verify_space_of(owner: UnitsOp, symbol: SymbolRefAttr) -> None:
    """Raise VerifyException unless a class of units has the memory called `symbol`."""
    for member in owner.body.block.ops:
        if isinstance(member, SpaceOp) and member.sym_name.data == symbol.string_value():
            return
    raise VerifyException(f"{symbol} is not a space of {described(owner)}; name one of its spaces")


def _parse_fields(parser: Parser) -> list[int | SSAValue]:
    def field() -> int | UnresolvedOperand:
        operand = parser.parse_optional_unresolved_operand()
        return parser.parse_integer(allow_boolean=False) if operand is None else operand

    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, field)
    return [field if isinstance(field, int) else _resolve(parser, field) for field in found]


def _resolve(parser: Parser, operand: UnresolvedOperand) -> SSAValue:
    # Extents come as i64 or index; a value that is known already keeps its type.
    known = parser.ssa_values.get(operand.operand_name)
    type = known[operand.index].type if known is not None and operand.index < len(known) else i64
    return parser.resolve_operand(operand, type)


def _print_fields(printer: Printer, numbers: DenseArrayBase[IntegerType], values: Sequence[SSAValue]) -> None:
    dynamic = iter(values)

    def field(number: int) -> None:
        if number == DYNAMIC:
            printer.print_operand(next(dynamic))
        else:
            printer.print_string(str(number))

    with printer.in_square_brackets():
        printer.print_list(numbers_of(numbers), field)


def _mixed(numbers: DenseArrayBase[IntegerType], values: Sequence[SSAValue]) -> list[int | SSAValue]:
    dynamic = iter(values)
    return [next(dynamic) if number == DYNAMIC else number for number in numbers_of(numbers)]


@irdl_op_definition
class TileApplyOp(IRDLOperation):
    """Computes a function of the table on whole tiles.

    ```
    flow.tile_apply "add" %c(%a, %b) : !flow.tile<f32>(!flow.tile<f32>, f32)
    ```

    `rounding` and `saturate` say how "copy" converts, and `wrap` that floats keep the lower bits of an integer they are
    too large for, `value` is what "pad" puts around its source, `relu` clamps
    what is written at 0, `accumulate` adds to the destination instead of replacing it, `reshape` says that the
    extents of a copy differ on purpose, with as many elements in row-major order.
    """

    OPTIONS: ClassVar = ("rounding", "saturate", "wrap", "value", "relu", "accumulate", "reshape")

    name = "flow.tile_apply"
    function = prop_def(StringAttr)
    destination = operand_def(TileType)
    sources = var_operand_def()
    assembly_format = "$function $destination `(` $sources `)` attr-dict `:` type($destination) `(` type($sources) `)`"

    def __init__(
        self,
        function: str,
        destination: SSAValue,
        sources: Sequence[SSAValue],
        options: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            operands=[destination, sources],
            properties={"function": StringAttr(function)},
            attributes=dict(options or {}),
        )

    def verify_(self) -> None:
        name = self.function.data
        row = FUNCTIONS.get(name)
        if row is None:
            raise VerifyException(f"unknown tile function '{name}'; use one of {', '.join(FUNCTIONS)}")
        if len(self.sources) != row.sources:
            raise VerifyException(
                f"'{name}' takes {counted(row.sources, 'source')}, not {len(self.sources)}; correct them"
            )
        tiles = [source for source in self.sources if isinstance(source.type, TileType)]
        if len(tiles) < len(self.sources) and row.shape not in SCALAR_SHAPES:
            raise VerifyException(f"'{name}' takes tiles only; make its scalar a tile")


@irdl_op_definition
class TilePrintOp(IRDLOperation):
    """Reports the elements of a tile to the host at this point of the program, under a label."""

    name = "flow.tile_print"
    label = prop_def(StringAttr)
    tile = operand_def(TileType)
    assembly_format = "$label $tile attr-dict `:` type($tile)"

    def __init__(self, label: str, tile: SSAValue):
        super().__init__(operands=[tile], properties={"label": StringAttr(label)})


@irdl_op_definition
class TileGetOp(IRDLOperation):
    """Reads the first element of a tile; an integer without a sign, as operations on scalars give it theirs."""

    name = "flow.tile_get"
    tile = operand_def(TileType)
    result = result_def(AnyFloat | IntegerType)
    assembly_format = "$tile attr-dict `:` type($tile) `->` type($result)"

    def __init__(self, tile: SSAValue, type: Attribute):
        super().__init__(operands=[tile], result_types=[type])
