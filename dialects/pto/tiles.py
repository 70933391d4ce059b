"""Tile operations: loads and stores, moves between memories, arithmetic, printing.

All read the tiles in `ins(...)` and write the one in `outs(...)`. Those that are a tile function take everything from
their row of `pto_tiles`, and are in `tile_functions`; the others move tiles between memories.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import AnyFloat, BoolAttr, IndexType, IntegerType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from ...operations import pto_tiles
from ...targets.chip import MAX_PRODUCT_EXTENT
from ..members import members
from ..traits import VerifiedByKind
from . import attributes, enumerations
from .assembly import (
    parse_attribute_list,
    parse_ins,
    parse_operands,
    parse_outs,
    parse_typed_operand,
    parse_typed_operands,
    parse_types_of,
    print_attribute_list,
    print_ins,
    print_outs,
    print_typed_operands,
)
from .attributes import (
    AccToVecModeAttr,
    AddressSpace,
    AtomicTypeAttr,
    PadModeAttr,
    PrintFormatAttr,
    ReluPreModeAttr,
    RoundModeAttr,
    SaturationModeAttr,
    StorePhaseAttr,
)
from .kernels import fail
from .tile_rules.registry import TILE_RULES
from .tile_rules.tiles import verify_tiles
from .types import DYNAMIC, PackedType, PartitionTensorViewType, TensorViewType, TileBufType

_INDEX = IndexType()
_ATTRIBUTE_BY_NAME = {attribute.name: attribute for attribute in members(Attribute, attributes, enumerations)}


class TileEffects(MemoryEffect):
    """Memory effects of a tile operation: it reads its inputs and writes its destination."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, TileOperation)
        written = op.destination
        read = {operand for operand in op.operands if operand is not written and _is_memory(operand.type)}
        effects = {EffectInstance(MemoryEffectKind.READ, operand) for operand in read}
        return effects | {EffectInstance(MemoryEffectKind.WRITE, written)}


def _is_memory(type: Attribute) -> bool:
    return isinstance(type, TileBufType | PartitionTensorViewType | TensorViewType)


class TileOperation(IRDLOperation):
    """Reads the tiles of `ins(...)`, writes the one of `outs(...)`."""

    traits = traits_def(TileEffects())

    @classmethod
    def __subclasshook__(cls, subclass: type, /) -> bool:
        # Python would ask each of the many classes below this one.
        return cls in subclass.__mro__

    @property
    def destination(self) -> SSAValue:
        """The operand that is written."""
        return cast(SSAValue, getattr(self, "dst"))  # noqa: B009


def is_product(op: Operation) -> bool:
    """Return True for the products of matrices, which the cube computes."""
    return op.name.startswith(("pto.tmatmul", "pto.tgemv"))


_OF_ONE_TYPE = {
    "shift_left": "src0, src1, and dst",
    "shift_right": "src0, src1, and dst",
    "power": "base and exp",
}
"""Functions whose tiles have one type of elements, and what upstream calls the tiles."""


def _tile(op: Operation, operand: SSAValue, place: str) -> TileBufType:
    """Return the type of an operand; raises VerifyException unless it is a tile."""
    if not isinstance(operand.type, TileBufType):
        fail(op, f"expects {place} to be !pto.tile_buf<...>, not {operand.type}")
    return operand.type


def _agree(left: int, right: int) -> bool:
    """Return True if two extents are, or may be, equal."""
    return DYNAMIC in (left, right) or left == right


# ---------------------------------------------------------------------------------------------
# Those of the table
# ---------------------------------------------------------------------------------------------


class TableOperation(TileOperation):
    """A tile operation of the table."""

    inputs = var_operand_def()
    dst = operand_def()

    def __init__(self, inputs: Sequence[SSAValue], dst: SSAValue, **modes: Attribute) -> None:
        """Compute with what is in `ins`, a tile for intermediate results included."""
        super().__init__(operands=[inputs, dst], properties=modes)

    @classmethod
    def table_row(cls) -> pto_tiles.PtoTileOperation:
        """Return the operation's row in the table."""
        return pto_tiles.OPERATIONS[cls.name.removeprefix("pto.")]

    @property
    def scratch(self) -> SSAValue | None:
        """The tile for intermediate results, if there is one."""
        row = self.table_row()
        place = len(row.operands) if row.scratch_at is None else row.scratch_at
        return self.inputs[place] if len(self.inputs) > len(row.operands) else None

    @property
    def sources(self) -> Sequence[SSAValue]:
        """What the function computes with: the inputs without the tile for intermediate results."""
        row = self.table_row()
        place = len(row.operands) if row.scratch_at is None else row.scratch_at
        return [x for n, x in enumerate(self.inputs) if n != place or len(self.inputs) <= len(row.operands)]

    @property
    def mode(self) -> Attribute | None:
        """How the operation computes, where there is a choice."""
        mode = self.table_row().mode
        return None if mode is None else self.properties.get(mode[0])

    @classmethod
    def parse(cls, parser: Parser) -> TableOperation:
        parser.parse_keyword("ins")
        with parser.in_parens():
            operands = parse_operands(parser)
            inside = parser.parse_optional_attr_dict() if cls.table_row().mode_inside else {}
            parser.parse_punctuation(":")
            inputs = parse_types_of(parser, operands)
        destination = parse_outs(parser)
        properties, attributes = parse_attribute_list(parser, cls)
        own = cls.get_irdl_definition().properties
        properties |= {name: value for name, value in inside.items() if name in own}
        attributes |= {name: value for name, value in inside.items() if name not in own}
        return cls.build(operands=[inputs, destination], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        row = self.table_row()
        inside = row.mode_inside == "always" or (row.mode_inside == "scratch" and self.scratch is not None)
        printer.print_string(" ins")
        with printer.in_parens():
            printer.print_list(self.inputs, printer.print_operand)
            if inside:
                printer.print_op_attributes(self.properties)
            printer.print_string(" : ")
            printer.print_list(self.inputs, lambda operand: printer.print_attribute(operand.type))
        print_outs(printer, self.dst)
        print_attribute_list(printer, self, but=tuple(self.properties) if inside else ())

    def verify_(self) -> None:
        row = self.table_row()
        allowed = (len(row.operands), len(row.operands) + 1) if row.scratch else (len(row.operands),)
        if len(self.inputs) not in allowed:
            counts = " or ".join(map(str, allowed))
            fail(self, f"expects {counts} operands in ins(...), not {len(self.inputs)}; correct them")
        destination = _tile(self, self.dst, "outs(...)")
        tiles: list[TileBufType] = []
        if row.operands == ("either", "either") and sum(isinstance(x.type, TileBufType) for x in self.inputs) != 1:
            fail(self, "expected exactly one tile_buf operand and one scalar operand; correct them")
        for position, (kind, operand) in enumerate(zip(row.operands, self.sources, strict=True), 1):
            if kind == "scalar" or (kind == "either" and not isinstance(operand.type, TileBufType)):
                if not isinstance(operand.type, IntegerType | AnyFloat):
                    fail(self, f"expects operand {position} to be a number, not {operand.type}")
            else:
                tiles.append(_tile(self, operand, f"operand {position}"))
        if self.scratch is not None:
            _tile(self, self.scratch, f"operand {len(self.inputs)}")
        if row.function in _OF_ONE_TYPE and len({tile.element_type for tile in (*tiles, destination)}) > 1:
            fail(self, f"expects {_OF_ONE_TYPE[row.function]} to have the same element type")
        self._verify_shapes(row, tiles, destination)
        if (rules := TILE_RULES.get(row.name)) is not None:
            verify_tiles(self, self._named(), rules)

    def _named(self) -> dict[str, SSAValue]:
        """Return the operands by PTOAS's names for them."""
        row = self.table_row()
        sources = list(self.sources)
        if row.operands == ("either", "either") and not isinstance(sources[0].type, TileBufType):
            sources.reverse()
        named = dict(zip(row.names, sources, strict=True))
        return named | ({"tmp": self.scratch} if self.scratch is not None else {}) | {"dst": self.dst}

    def _verify_shapes(self, row: pto_tiles.PtoTileOperation, tiles: list[TileBufType], result: TileBufType) -> None:
        rows, columns = result.valid_shape
        first = tiles[0].valid_shape if tiles else result.valid_shape
        second = tiles[1].valid_shape if len(tiles) > 1 else first
        match row.shape:
            case "elementwise":
                good, rule = self._fits_elementwise(row, tiles, result)
            case "row_reduction":
                good = _agree(first[0], rows)
                rule = "the result to have as many valid rows as the tile"
            case "concatenation":
                known = DYNAMIC not in (first[1], second[1], columns)
                good = _agree(first[0], rows) and _agree(second[0], rows)
                good = good and (not known or first[1] + second[1] == columns)
                rule = "tiles of the same valid rows, and a result as wide as both together"
            case "column_reduction":
                good = _agree(first[1], columns)
                rule = "the result to have as many valid columns as the tile"
            case "product":
                self._verify_product(tiles, result)
                return
            case _:
                return
        if not good:
            shapes = " and ".join(_shape_text(tile) for tile in (*tiles, result))
            fail(self, f"expects {rule}; they are {shapes}")

    def _verify_product(self, tiles: list[TileBufType], result: TileBufType) -> None:
        """Check the memories and sizes of a product; valid extents of the result play no part (`TMATMUL_IMPL`)."""
        *totals, left, right = tiles if self.table_row().operands[-1] != "bias" else tiles[:-1]
        locations = tuple(tile.location for tile in (left, right, *totals, result))
        if locations[:2] != (AddressSpace.LEFT, AddressSpace.RIGHT) or set(locations[2:]) != {AddressSpace.ACC}:
            found = ", ".join(location.value for location in locations)
            fail(self, f"expects lhs, rhs, and dst to use the left, right, and acc address spaces; they are {found}")
        (rows, inner), columns = left.valid_shape, right.valid_shape[1]
        holders = ((rows, result.rows), (columns, result.columns), (inner, right.rows))
        holders += tuple(pair for total in totals for pair in ((rows, total.rows), (columns, total.columns)))
        if any(extent > room for extent, room in holders if extent != DYNAMIC):
            found = " and ".join(_shape_text(tile) for tile in (left, right, *totals, result))
            fail(self, f"expects static matmul tile shapes lhs[M,K], rhs[K,N], and dst[M,N]; they are {found}")
        extents = (rows, inner, columns)
        if any(extent != DYNAMIC and extent > MAX_PRODUCT_EXTENT for extent in extents):
            found = ", ".join("?" if extent == DYNAMIC else str(extent) for extent in extents)
            fail(self, f"expects m, k, and n valid sizes to be in [0, {MAX_PRODUCT_EXTENT}]; they are {found}")

    def _fits_elementwise(
        self, row: pto_tiles.PtoTileOperation, tiles: list[TileBufType], result: TileBufType
    ) -> tuple[bool, str]:
        """Return True if tiles have the valid shape of the result where they are not repeated, and the rule."""
        rows, columns = result.valid_shape
        fits = all(
            (kind == "per_column" or _agree(tile.valid_shape[0], rows)) and _agree(tile.valid_shape[1], columns)
            # The elements for each row may be in a row themselves.
            for kind, tile in zip((kind for kind in row.operands if kind != "scalar"), tiles, strict=False)
            if kind != "per_row"
        )
        if row.operands == ("per_column",):
            return fits, "the result to have as many valid columns as the tile"
        if "per_column" in row.operands:
            return fits, "the result to have the valid shape of the first tile, and as many columns as the second"
        if "per_row" in row.operands:
            return fits, "the result to have the valid rows and columns of the first tile"
        return fits, "all tiles to have the same valid rows and columns"


def _verify_rules(op: IRDLOperation) -> None:
    """Check the rules of an operation that moves tiles, whose operands have PTOAS's names."""
    named: dict[str, SSAValue] = {}
    for name, _ in type(op).get_irdl_definition().operands:
        value: SSAValue | None = getattr(op, name)
        if value is not None:
            named[name] = value
    verify_tiles(op, named, TILE_RULES[op.name.removeprefix("pto.")])


def _shape_text(tile: TileBufType) -> str:
    return " x ".join("?" if extent == DYNAMIC else str(extent) for extent in tile.valid_shape)


_OperationT = TypeVar("_OperationT", bound=TableOperation)

_OPERAND_TEXT = {
    "tile": "tile",
    "per_row": "tile with an element for each row",
    "per_column": "tile with an element for each column",
    "scalar": "scalar",
    "either": "tile or scalar",
    "mask": "tile with a bit for each element",
    "bias": "row of biases",
}


_SEES_OPERANDS = ("tands", "tors", "txors")
"""The operations whose check sees whether two operands are one."""


def table_operation(operation: type[_OperationT]) -> type[_OperationT]:
    """Define an operation of the table, as `irdl_op_definition` does, with the docstring and the mode of its row."""
    row = operation.table_row()
    operands = [_OPERAND_TEXT[kind] for kind in row.operands]
    operands += ["and possibly a tile for intermediate results"] if row.scratch else []
    if row.name not in _SEES_OPERANDS:
        operation.traits = traits_def(TileEffects(), VerifiedByKind())
    operation.__doc__ = f"{row.summary[0].upper()}{row.summary[1:]}. `ins`: {', '.join(operands)}."
    if row.mode is not None:
        name, attribute = row.mode
        setattr(operation, name, opt_prop_def(BoolAttr if attribute == "bool" else _ATTRIBUTE_BY_NAME[attribute]))
    return irdl_op_definition(operation)


# ---------------------------------------------------------------------------------------------
# Between memories
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class TLoadOp(TileOperation):
    """Loads a part of a tensor into a tile: `pto.tload ins(%part : <type>) outs(%tile : <type>)`.

    It may be followed by `pad_mode = #pto.padmode<PadValue> pad_value = %v : f32`, for what is outside the tensor.
    """

    name = "pto.tload"
    traits = traits_def(TileEffects(), VerifiedByKind())
    src = operand_def()
    dst = operand_def()
    pad_value = opt_operand_def()
    pad_mode = opt_prop_def(PadModeAttr)

    def __init__(self, src: SSAValue, dst: SSAValue) -> None:
        super().__init__(operands=[src, dst, None])

    @classmethod
    def parse(cls, parser: Parser) -> TLoadOp:
        parser.parse_keyword("ins")
        with parser.in_parens():
            source = parse_typed_operand(parser)
        destination = parse_outs(parser)
        properties, attributes = parse_attribute_list(parser, cls)
        padding: SSAValue | None = None
        if parser.parse_optional_keyword("pad_mode") is not None:
            parser.parse_punctuation("=")
            properties["pad_mode"] = parser.parse_attribute()
        if parser.parse_optional_keyword("pad_value") is not None:
            parser.parse_punctuation("=")
            padding = parse_typed_operand(parser)
        return cls.build(operands=[source, destination, padding], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_ins(printer, [self.src])
        print_outs(printer, self.dst)
        print_attribute_list(printer, self, but=("pad_mode",))
        if self.pad_mode is not None:
            printer.print_string(" pad_mode = ")
            printer.print_attribute(self.pad_mode)
        if self.pad_value is not None:
            printer.print_string(" pad_value = ")
            print_typed_operands(printer, [self.pad_value])

    def verify_(self) -> None:
        tile = _tile(self, self.dst, "outs(...)")
        if not isinstance(self.src.type, PartitionTensorViewType | TensorViewType):
            fail(self, f"expects ins(...) to be a part of a tensor, not {self.src.type}; use pto.partition_view")
        if tile.location not in (AddressSpace.VEC, AddressSpace.MAT, AddressSpace.SCALING):
            fail(self, f"expects a tile with loc=vec, loc=mat or loc=scaling, not {tile.location.value}; use pto.tmov")
        _verify_rules(self)


class _CopyWithEpilogue(TileOperation):
    """A copy whose elements may be scaled by the factors of a tile or by one number on the way."""

    def __init__(
        self,
        src: SSAValue,
        dst: SSAValue,
        *,
        fp: SSAValue | None = None,
        preQuantScalar: SSAValue | None = None,
        **modes: Attribute,
    ) -> None:
        super().__init__(operands=[src, dst, fp, preQuantScalar], properties=modes)


@irdl_op_definition
class TStoreOp(_CopyWithEpilogue):
    """Stores the valid part of a tile: `pto.tstore ins(%tile : <type>) outs(%part : <type>)`.

    Out of the accumulator, elements may be scaled on the way: by the tile `%fp`, `ins(%tile : <type> fp %fp : <type>)`,
    or by a number in 64 bits, `ins(%tile : <type>, %scale : i64)`.
    """

    name = "pto.tstore"
    traits = traits_def(TileEffects(), VerifiedByKind())
    src = operand_def()
    dst = operand_def()
    fp = opt_operand_def(TileBufType)
    preQuantScalar = opt_operand_def(i64)
    stPhase = opt_prop_def(StorePhaseAttr)
    atomicType = opt_prop_def(AtomicTypeAttr)
    reluPreMode = opt_prop_def(ReluPreModeAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> TStoreOp:
        parser.parse_keyword("ins")
        factors: SSAValue | None = None
        scale: SSAValue | None = None
        with parser.in_parens():
            source = parse_typed_operand(parser)
            if parser.parse_optional_keyword("fp") is not None:
                factors = parse_typed_operand(parser)
            if parser.parse_optional_punctuation(",") is not None:
                scale = parse_typed_operand(parser)
        destination = parse_outs(parser)
        properties, attributes = parse_attribute_list(parser, cls)
        return cls.build(operands=[source, destination, factors, scale], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins")
        with printer.in_parens():
            print_typed_operands(printer, [self.src])
            if self.fp is not None:
                printer.print_string(" fp ")
                print_typed_operands(printer, [self.fp])
            if self.preQuantScalar is not None:
                printer.print_string(", ")
                print_typed_operands(printer, [self.preQuantScalar])
        print_outs(printer, self.dst)
        print_attribute_list(printer, self)

    def verify_(self) -> None:
        tile = _tile(self, self.src, "ins(...)")
        if not isinstance(self.dst.type, PartitionTensorViewType | TensorViewType):
            fail(self, f"expects outs(...) to be a part of a tensor, not {self.dst.type}; use pto.partition_view")
        if tile.location not in (AddressSpace.VEC, AddressSpace.ACC, AddressSpace.MAT):
            fail(self, f"expects a tile with loc=vec, loc=mat or loc=acc, not {tile.location.value}")
        _verify_rules(self)


@irdl_op_definition
class TMovOp(_CopyWithEpilogue):
    """Moves a tile to another memory: `pto.tmov ins(%tile : <type>) outs(%other : <type>)`.

    Out of the accumulator, elements may be scaled on the way, by a tile, `ins(%tile : <type>, %fp : <type>)`, or a
    number, `ins(%tile : <type>, %scale : i64)`.
    """

    name = "pto.tmov"
    src = operand_def()
    dst = operand_def()
    fp = opt_operand_def(TileBufType)
    preQuantScalar = opt_operand_def(i64)
    accToVecMode = opt_prop_def(AccToVecModeAttr)
    reluPreMode = opt_prop_def(ReluPreModeAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> TMovOp:
        parser.parse_keyword("ins")
        factors: SSAValue | None = None
        scale: SSAValue | None = None
        with parser.in_parens():
            source = parse_typed_operand(parser)
            while parser.parse_optional_punctuation(",") is not None:
                position = parser.pos
                operand = parse_typed_operand(parser)
                if isinstance(operand.type, TileBufType) and factors is None and scale is None:
                    factors = operand
                elif operand.type == i64 and scale is None:
                    scale = operand
                else:
                    parser.raise_error("expected a tile of scales or an i64", position, parser.pos)
        destination = parse_outs(parser)
        properties, attributes = parse_attribute_list(parser, cls)
        return cls.build(operands=[source, destination, factors, scale], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins")
        with printer.in_parens():
            operands = [operand for operand in (self.src, self.fp, self.preQuantScalar) if operand is not None]
            printer.print_list(operands, lambda operand: print_typed_operands(printer, [operand]))
        print_outs(printer, self.dst)
        print_attribute_list(printer, self)

    def verify_(self) -> None:
        _tile(self, self.src, "ins(...)")
        _tile(self, self.dst, "outs(...)")
        _verify_rules(self)


@irdl_op_definition
class TExtractOp(TileOperation):
    """Copies a part of a tile: `pto.textract ins(%tile, %row, %col : <type>, index, index) outs(%part : <type>)`.

    Out of the accumulator, elements may be scaled on the way, as by `pto.tmov`: `ins(%tile, %row, %col, %scale :
    <type>, index, index, i64)` or `ins(%tile, %row, %col : <type>, index, index fp %fp : <type>)`.
    """

    name = "pto.textract"
    src = operand_def()
    indexRow = operand_def(_INDEX)
    indexCol = operand_def(_INDEX)
    dst = operand_def()
    fp = opt_operand_def(TileBufType)
    preQuantScalar = opt_operand_def(i64)
    accToVecMode = opt_prop_def(AccToVecModeAttr)
    reluPreMode = opt_prop_def(ReluPreModeAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> TExtractOp:
        parser.parse_keyword("ins")
        factors: SSAValue | None = None
        position = parser.pos
        with parser.in_parens():
            operands = parse_typed_operands(parser)
            if parser.parse_optional_keyword("fp") is not None:
                factors = parse_typed_operand(parser)
        if len(operands) not in (3, 4):
            parser.raise_error("expected a tile, a row, a column and optionally an i64", position, parser.pos)
        source, row, column, scale = [*operands, None][:4]
        destination = parse_outs(parser)
        properties, attributes = parse_attribute_list(parser, cls)
        return cls.build(
            operands=[source, row, column, destination, factors, scale], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins")
        with printer.in_parens():
            operands = (self.src, self.indexRow, self.indexCol, self.preQuantScalar)
            print_typed_operands(printer, [operand for operand in operands if operand is not None])
            if self.fp is not None:
                printer.print_string(" fp ")
                print_typed_operands(printer, [self.fp])
        print_outs(printer, self.dst)
        print_attribute_list(printer, self)

    def verify_(self) -> None:
        _tile(self, self.src, "operand 1")
        _tile(self, self.dst, "outs(...)")
        _verify_rules(self)


@irdl_op_definition
class TCvtOp(TileOperation):
    """Converts elements: `pto.tcvt ins(%tile {rmode = #pto<round_mode ROUND>} : <type>) outs(%other : <type>)`.

    `rmode` says how it rounds, `satmode` whether it saturates; a tile for intermediate results may follow the
    first. Rounding mode and saturation left out mean `CAST_RINT` and `OFF`.
    """

    name = "pto.tcvt"
    traits = traits_def(TileEffects(), VerifiedByKind())
    src = operand_def()
    tmp = opt_operand_def(TileBufType)
    dst = operand_def()
    rmode = opt_prop_def(RoundModeAttr)
    sat_mode = opt_prop_def(SaturationModeAttr)

    def __init__(self, src: SSAValue, dst: SSAValue, *, tmp: SSAValue | None = None, **modes: Attribute) -> None:
        super().__init__(operands=[src, tmp, dst], properties=modes)

    @classmethod
    def parse(cls, parser: Parser) -> TCvtOp:
        parser.parse_keyword("ins")
        position = parser.pos
        with parser.in_parens():
            operands = parse_operands(parser)
            properties, attributes = parse_attribute_list(parser, cls)
            parser.parse_punctuation(":")
            values = parse_types_of(parser, operands)
        if len(values) > 2:
            parser.raise_error("expected a tile and optionally one for intermediate results", position, parser.pos)
        if (saturation := attributes.pop("satmode", None)) is not None:
            if "sat_mode" in properties:
                parser.raise_error("cannot specify both satmode and sat_mode", position, parser.pos)
            properties["sat_mode"] = saturation
        source, scratch = [*values, None][:2]
        return cls.build(operands=[source, scratch, parse_outs(parser)], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins")
        operands = [operand for operand in (self.src, self.tmp) if operand is not None]
        with printer.in_parens():
            printer.print_list(operands, printer.print_operand)
            modes = {"rmode": self.rmode, "satmode": self.sat_mode}
            shown = {name: mode for name, mode in modes.items() if mode is not None}
            printer.print_op_attributes({**shown, **self.attributes})
            printer.print_string(" : ")
            printer.print_list(operands, lambda operand: printer.print_attribute(operand.type))
        print_outs(printer, self.dst)

    def verify_(self) -> None:
        source, result = _tile(self, self.src, "ins(...)"), _tile(self, self.dst, "outs(...)")
        if any(isinstance(tile.element_type, PackedType) for tile in (source, result)):
            _verify_rules(self)  # several elements may be one
            return
        if not all(map(_agree, source.valid_shape, result.valid_shape)):
            fail(
                self,
                "expects both tiles to have the same valid rows and columns; they are "
                f"{_shape_text(source)} and {_shape_text(result)}",
            )
        _verify_rules(self)


@irdl_op_definition
class TPrintOp(IRDLOperation):
    """Prints a tile or a part of a tensor: `pto.tprint ins(%tile : <type>)`.

    A tile that is not in the vector cores' buffer is printed by way of a second operand, a part of a tensor.
    """

    name = "pto.tprint"
    src = operand_def()
    tmp = opt_operand_def()
    printFormat = opt_prop_def(PrintFormatAttr)

    @classmethod
    def parse(cls, parser: Parser) -> TPrintOp:
        position = parser.pos
        operands = parse_ins(parser)
        if len(operands) > 2:
            parser.raise_error("expected a tile and optionally scratch memory", position, parser.pos)
        properties, attributes = parse_attribute_list(parser, cls)
        source, scratch = [*operands, None][:2]
        return cls.build(operands=[source, scratch], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_ins(printer, self.operands)
        print_attribute_list(printer, self)

    def verify_(self) -> None:
        printed = self.src.type
        if not _is_memory(printed):
            fail(self, f"expects a tile or a part of a tensor, not {printed}")
        if isinstance(printed, TileBufType) and self.tmp is None and printed.location is not AddressSpace.VEC:
            fail(self, "expects printable tile_buf without tmp to be in vec address space; name scratch memory")
        _verify_rules(self)
