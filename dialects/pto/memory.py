"""Memory of `pto` programs: pointers and views of global memory, tiles and subviews of tiles.

A view of global memory consists of numbers (address, extents, strides in elements); a tile is in a core's own memory,
at a given address or one that is assigned later.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure

from ..ir_text import LocatingParser
from ..traits import VerifiedByConstants
from .assembly import parse_attribute_list, print_attribute_list, resolve
from .attributes import AddressSpace, LayoutAttr, SLayout
from .kernels import fail, parse_pointer_type
from .local_tiles import box_of, verify_address, verify_layout
from .types import DYNAMIC, PartitionTensorViewType, PtrType, TensorViewType, TileBufType

_INDEX = IndexType()


def constant_value(value: SSAValue) -> int | None:
    """Return the value of a constant integer; None for any other value."""
    # While a text is parsed, a value may be used before the operation that makes it.
    owner = value.owner if isinstance(value, OpResult) else None
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def verify_valid(op: Operation, rows: SSAValue | None, columns: SSAValue | None, tile: TileBufType) -> None:
    """Check that valid rows and columns that are constants are not negative, and no more than the tile has."""
    for name, operand, whole in (("row", rows, tile.rows), ("col", columns, tile.columns)):
        value = None if operand is None else constant_value(operand)
        if value is not None and value < 0:
            fail(op, f"expects {name} operand to be non-negative, not {value}")
        if value is not None and value > whole:
            fail(op, f"expects {name} operand <= shape dim ({whole}), not {value}")


def _extent_of(parser: Parser, value: SSAValue) -> int:
    """Return the extent that a parsed value has in an inferred type."""
    if isinstance(parser, LocatingParser):
        parser.look_at_values()
    return _extents([value])[0]


def _extents(values: Sequence[SSAValue]) -> list[int]:
    """Return the extents that values have in a type: those that are constants, and DYNAMIC."""
    known = [constant_value(value) for value in values]
    return [DYNAMIC if extent is None else extent for extent in known]


def _parse_operand_list(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)


def _print_operand_list(printer: Printer, operands: Sequence[SSAValue]) -> None:
    with printer.in_square_brackets():
        printer.print_list(operands, printer.print_operand)


def _parse_key(parser: Parser, key: str) -> None:
    parser.parse_keyword(key)
    parser.parse_punctuation("=")


def _indices(parser: Parser, operands: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    return resolve(parser, operands, [_INDEX] * len(operands), parser.pos)


# ---------------------------------------------------------------------------------------------
# Pointers
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class AddPtrOp(IRDLOperation):
    """Advances a pointer by a number of elements: `pto.addptr %p, %offset : <f32> -> <f32>`."""

    name = "pto.addptr"
    ptr = operand_def(PtrType)
    offset = operand_def(_INDEX)
    result = result_def(PtrType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> AddPtrOp:
        pointer = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offset = parser.parse_operand(_INDEX)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(pointer, parse_pointer_type(parser))
        parser.parse_punctuation("->")
        return cls.build(operands=[source, offset], result_types=[parse_pointer_type(parser)], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        # The public text leaves out the name of the type here.
        printer.print_string(" : ")
        for value, behind in ((self.ptr, " -> "), (self.result, "")):
            assert isinstance(value.type, PtrType)
            value.type.print_parameters(printer)
            printer.print_string(behind)

    def verify_(self) -> None:
        if self.ptr.type != self.result.type:
            fail(self, "expects ptr and result to be of one type; make them agree")


@irdl_op_definition
class LoadScalarOp(IRDLOperation):
    """Reads one element: `%v = pto.load_scalar %p[%offset] : !pto.ptr<i32> -> i32`."""

    name = "pto.load_scalar"
    ptr = operand_def(PtrType)
    offset = operand_def(_INDEX)
    value = result_def()

    @classmethod
    def parse(cls, parser: Parser) -> LoadScalarOp:
        pointer = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            offset = parser.parse_operand(_INDEX)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(pointer, parse_pointer_type(parser))
        parser.parse_punctuation("->")
        return cls.build(operands=[source, offset], result_types=[parser.parse_type()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.ptr)
        with printer.in_square_brackets():
            printer.print_operand(self.offset)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.ptr.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.value.type)

    def verify_(self) -> None:
        _verify_element(self, self.ptr, self.value.type)


@irdl_op_definition
class StoreScalarOp(IRDLOperation):
    """Writes one element: `pto.store_scalar %v, %p[%offset] : !pto.ptr<i32>, i32`."""

    name = "pto.store_scalar"
    ptr = operand_def(PtrType)
    offset = operand_def(_INDEX)
    value = operand_def()

    @classmethod
    def parse(cls, parser: Parser) -> StoreScalarOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        pointer = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            offset = parser.parse_operand(_INDEX)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        target = parser.resolve_operand(pointer, parse_pointer_type(parser))
        parser.parse_punctuation(",")
        stored = parser.resolve_operand(value, parser.parse_type())
        return cls.build(operands=[target, offset, stored], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.value, self.ptr), printer.print_operand)
        with printer.in_square_brackets():
            printer.print_operand(self.offset)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.ptr, self.value), lambda operand: printer.print_attribute(operand.type))

    def verify_(self) -> None:
        _verify_element(self, self.ptr, self.value.type)


def _verify_element(op: Operation, pointer: SSAValue, element: Attribute) -> None:
    assert isinstance(pointer.type, PtrType)
    if pointer.type.element_type != element:
        fail(op, f"expects a value of the pointer's element type {pointer.type.element_type}, not {element}")


# ---------------------------------------------------------------------------------------------
# Views of global memory
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class MakeTensorViewOp(IRDLOperation):
    """Makes a tensor at a pointer: `pto.make_tensor_view %p, shape = [%m, %n], strides = [%n, %one] : <type>`.

    Strides count elements; `layout` is the order of its elements.
    """

    name = "pto.make_tensor_view"
    ptr = operand_def(PtrType)
    shape = var_operand_def(_INDEX)
    strides = var_operand_def(_INDEX)
    layout = opt_prop_def(LayoutAttr)
    result = result_def(TensorViewType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), VerifiedByConstants())

    def __init__(
        self,
        ptr: SSAValue,
        shape: Sequence[SSAValue],
        strides: Sequence[SSAValue],
        layout: LayoutAttr | None = None,
    ) -> None:
        """Make a tensor whose type states the extents that are constants."""
        assert isinstance(ptr.type, PtrType), "a tensor is made at a pointer"
        type = TensorViewType.get(_extents(shape), ptr.type.element_type)
        super().__init__(operands=[ptr, shape, strides], result_types=[type], properties={"layout": layout})

    @classmethod
    def parse(cls, parser: Parser) -> MakeTensorViewOp:
        pointer = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        _parse_key(parser, "shape")
        shape = _parse_operand_list(parser)
        parser.parse_punctuation(",")
        _parse_key(parser, "strides")
        strides = _parse_operand_list(parser)
        properties, attributes = parse_attribute_list(parser, cls)
        parser.parse_punctuation(":")
        position = parser.pos
        view = parser.parse_type()
        if not isinstance(view, TensorViewType):
            parser.raise_error("expected result type pto.tensor_view<...>", position, parser.pos)
        base = parser.resolve_operand(pointer, PtrType.get(view.element_type))
        return cls.build(
            operands=[base, _indices(parser, shape), _indices(parser, strides)],
            result_types=[view],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.ptr)
        printer.print_string(", shape = ")
        _print_operand_list(printer, self.shape)
        printer.print_string(", strides = ")
        _print_operand_list(printer, self.strides)
        print_attribute_list(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        view = self.result.type
        assert isinstance(view, TensorViewType)
        rank = len(view.extents)
        if not len(self.shape) == len(self.strides) == rank:
            fail(
                self,
                f"expects as many shape and strides operands as tensor_view has dimensions, {rank}; there are "
                f"{len(self.shape)} and {len(self.strides)}",
            )
        for place, (operand, extent) in enumerate(zip(self.shape, view.extents, strict=True)):
            given = constant_value(operand)
            if extent != DYNAMIC and given is not None and given != extent:
                fail(self, f"expects shape operand {place} to be {extent}, as its type says, not {given}")


@irdl_op_definition
class PartitionViewOp(IRDLOperation):
    """Views a part of a tensor: `pto.partition_view %v, offsets = [%i, %j], sizes = [%m, %n] : <type> -> <type>`.

    The result's type may be left out; its extents are then the sizes that are constants, and `?`.
    """

    name = "pto.partition_view"
    source = operand_def(TensorViewType)
    offsets = var_operand_def(_INDEX)
    sizes = var_operand_def(_INDEX)
    result = result_def(PartitionTensorViewType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), VerifiedByConstants())

    def __init__(self, source: SSAValue, offsets: Sequence[SSAValue], sizes: Sequence[SSAValue]) -> None:
        """View a part whose type states the sizes that are constants."""
        assert isinstance(source.type, TensorViewType), "a part is that of a tensor"
        type = PartitionTensorViewType.get(_extents(sizes), source.type.element_type)
        super().__init__(operands=[source, offsets, sizes], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> PartitionViewOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        _parse_key(parser, "offsets")
        offsets = _parse_operand_list(parser)
        parser.parse_punctuation(",")
        _parse_key(parser, "sizes")
        size_operands = _parse_operand_list(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        view = parser.parse_type()
        source = parser.resolve_operand(operand, view)
        sizes = _indices(parser, size_operands)
        if parser.parse_optional_punctuation("->") is not None:
            result = parser.parse_type()
        elif isinstance(view, TensorViewType):
            extents = [_extent_of(parser, size) for size in sizes]
            result = PartitionTensorViewType.get(extents, view.element_type)
        else:
            parser.raise_error("expected a !pto.tensor_view<...>", position, parser.pos)
        return cls.build(
            operands=[source, _indices(parser, offsets), sizes], result_types=[result], attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        printer.print_string(", offsets = ")
        _print_operand_list(printer, self.offsets)
        printer.print_string(", sizes = ")
        _print_operand_list(printer, self.sizes)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        view, part = self.source.type, self.result.type
        assert isinstance(view, TensorViewType)
        assert isinstance(part, PartitionTensorViewType)
        rank = len(view.extents)
        if not len(self.offsets) == len(self.sizes) == rank:
            fail(
                self,
                f"expects as many offsets and sizes as the source has dimensions, {rank}; there are "
                f"{len(self.offsets)} and {len(self.sizes)}",
            )
        if part.element_type != view.element_type:
            fail(self, f"expects result elements of {view.element_type}, as the source has, not {part.element_type}")
        for place, (offset, size, extent) in enumerate(zip(self.offsets, self.sizes, view.extents, strict=True)):
            first, count = constant_value(offset), constant_value(size)
            if first is not None and first < 0:
                fail(self, f"expects offset {place} not to be negative, as {first} is")
            if count is not None and count <= 0:
                fail(self, f"size at dim {place} must be positive, got {count}; leave the part out")
            if count is not None and len(part.extents) == rank and part.extents[place] not in (DYNAMIC, count):
                fail(
                    self,
                    f"size/result mismatch at dim {place}: size operand={count} result type dim={part.extents[place]}; "
                    "make them agree",
                )
            if extent != DYNAMIC and first is not None and count is not None and first + count > extent:
                fail(
                    self,
                    f"expects offset {place} and size {place} to stay within the {extent} elements of dimension "
                    f"{place}; {first} + {count} is more",
                )


# ---------------------------------------------------------------------------------------------
# Tiles
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class AllocTileOp(IRDLOperation):
    """Allocates a tile: `pto.alloc_tile addr = %a valid_row = %m valid_col = %n : <type>`.

    The address, in bytes, and the valid rows and columns are given where they are not left open; valid rows and
    columns only where the type says `?`.
    """

    name = "pto.alloc_tile"
    addr = opt_operand_def(i64)
    valid_row = opt_operand_def(_INDEX)
    valid_col = opt_operand_def(_INDEX)
    result = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(VerifiedByConstants())
    assembly_format = (
        "(`addr` `=` $addr^)? (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict `:` type($result)"
    )

    def __init__(
        self,
        type: TileBufType,
        *,
        addr: SSAValue | None = None,
        valid_row: SSAValue | None = None,
        valid_col: SSAValue | None = None,
    ) -> None:
        super().__init__(operands=[addr, valid_row, valid_col], result_types=[type])

    def verify_(self) -> None:
        tile = self.result.type
        assert isinstance(tile, TileBufType)
        verify_layout(self, tile, "result")
        verify_address(self, None if self.addr is None else constant_value(self.addr), tile.location)
        for name, operand, extent in (
            ("row", self.valid_row, tile.valid_shape[0]),
            ("col", self.valid_col, tile.valid_shape[1]),
        ):
            if operand is not None and extent != DYNAMIC:
                fail(self, f"expects no valid_{name} operand, as the type says v_{name}={extent}; write v_{name}=?")
            if operand is None and extent == DYNAMIC:
                fail(self, f"valid_{name} operand is required because result type v_{name} is ?")
        verify_valid(self, self.valid_row, self.valid_col, tile)


@irdl_op_definition
class DeclareTileOp(IRDLOperation):
    """Declares a tile that `pto.tpop` binds to a slot: `pto.declare_tile -> <type>`."""

    name = "pto.declare_tile"
    tile = result_def(TileBufType)
    assembly_format = "attr-dict `->` type($tile)"


@irdl_op_definition
class DeclareGlobalOp(IRDLOperation):
    """Declares a tensor that `pto.talloc` or `pto.tpop` binds to a slot: `pto.declare_global -> <type>`."""

    name = "pto.declare_global"
    entry = result_def(TensorViewType)
    assembly_format = "attr-dict `->` type($entry)"


@irdl_op_definition
class SubViewOp(IRDLOperation):
    """Makes a view of a part of a tile, in the same memory.

    `pto.subview %t[%i, %j] sizes [8, 16] valid [%m, %n] : <type> -> <type>`; valid rows and columns are the sizes
    unless they are given, and the result's type may be left out.
    """

    name = "pto.subview"
    source = operand_def(TileBufType)
    offsets = var_operand_def(_INDEX)
    valid_row = opt_operand_def(_INDEX)
    valid_col = opt_operand_def(_INDEX)
    sizes = prop_def(ArrayAttr[IntegerAttr])
    result = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> SubViewOp:
        operand = parser.parse_unresolved_operand()
        offsets = _parse_operand_list(parser)
        parser.parse_keyword("sizes")
        sizes = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        )
        valid: list[SSAValue | None] = [None, None]
        if parser.parse_optional_keyword("valid") is not None:
            position = parser.pos
            given = _parse_operand_list(parser)
            if len(given) != 2:
                parser.raise_error("expected rows and columns: valid [%m, %n]", position, parser.pos)
            valid = [*_indices(parser, given)]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        source = parser.resolve_operand(operand, type)
        if parser.parse_optional_punctuation("->") is not None:
            result = parser.parse_type()
        elif isinstance(type, TileBufType) and len(sizes) == 2:
            rows, columns = (size.value.data for size in sizes)
            known = (rows if valid[0] is None else _extent_of(parser, valid[0]),
                     columns if valid[1] is None else _extent_of(parser, valid[1]))  # fmt: skip
            result = _part_of_tile(type, (rows, columns), known)
        else:
            parser.raise_error("expected a !pto.tile_buf<...>, with two sizes", position, parser.pos)
        return cls.build(
            operands=[source, _indices(parser, offsets), *valid],
            result_types=[result],
            properties={"sizes": ArrayAttr(sizes)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        _print_operand_list(printer, self.offsets)
        printer.print_string(f" sizes [{', '.join(str(size) for size in self.extents)}]")
        if self.valid_row is not None and self.valid_col is not None:
            printer.print_string(" valid ")
            _print_operand_list(printer, (self.valid_row, self.valid_col))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @property
    def extents(self) -> tuple[int, ...]:
        """The rows and columns of the subview."""
        return tuple(size.value.data for size in self.sizes)

    def verify_(self) -> None:
        source, part = self.source.type, self.result.type
        assert isinstance(source, TileBufType)
        assert isinstance(part, TileBufType)
        if len(self.offsets) != 2 or len(self.extents) != 2:
            fail(self, "expects two offsets and two sizes, for rows and columns")
        if part.element_type != source.element_type:
            fail(self, f"expects result elements of {source.element_type}, as the source has, not {part.element_type}")
        if part.location is not source.location:
            fail(self, f"expects the result in {source.location.value}, where the source is, not {part.location.value}")
        for name, offset, size, whole in zip(
            ("rows", "columns"), self.offsets, self.extents, source.shape, strict=True
        ):
            if size <= 0:
                fail(self, f"expects sizes greater than 0; it takes {size} {name}")
            first = constant_value(offset)
            if first is not None and (first < 0 or first + size > whole):
                fail(self, f"expects its {size} {name} from {first} on to be within the {whole} of the source")
        if (self.valid_row is None) is not (self.valid_col is None):
            fail(self, "subview expects valid_row and valid_col to be both present or both absent")
        if part.shape != self.extents:
            fail(self, "expects result shape to match subview sizes")
        if part.config != source.config:
            fail(self, "expects result tile config to match source")
        for name, operand, size, valid in zip(
            ("row", "col"), (self.valid_row, self.valid_col), self.extents, part.valid_shape, strict=True
        ):
            self._verify_valid(name, operand, size, valid)
        # What leaves the accumulator is any number of its rows.
        if source.slayout is not SLayout.NONE_BOX and source.location is not AddressSpace.ACC:
            self._verify_boxes(source)

    def _verify_valid(self, name: str, operand: SSAValue | None, size: int, valid: int) -> None:
        """Check the valid extent of the result: what the operand says, or else any that is known."""
        given = size if operand is None else constant_value(operand)
        if operand is not None and given is not None and given < 0:
            fail(self, f"valid_{name} must be non-negative when constant")
        if operand is not None and given is not None and given > size:
            fail(self, f"valid_{name} must be <= subview {name} size")
        place = 0 if name == "row" else 1
        if not 0 <= valid <= size if operand is None else valid not in (DYNAMIC, given):
            fail(self, f"expects result valid_shape[{place}] to match inferred/explicit valid_{name}")

    def _verify_boxes(self, source: TileBufType) -> None:
        """Check that the part consists of whole boxes."""
        box = box_of(source)
        if box is None:
            fail(self, "unsupported tile layout for subview")
        if any(size % inner for size, inner in zip(self.extents, box, strict=True)):
            fail(self, "boxed layout subview sizes must be multiples of inner shape")
        for offset, inner in zip(self.offsets, box, strict=True):
            first = constant_value(offset)
            if first is not None and first % inner:
                fail(self, "boxed layout subview offsets must be multiples of inner shape")


def _part_of_tile(tile: TileBufType, sizes: tuple[int, int], valid: tuple[int, int]) -> TileBufType:
    """Return the inferred type of a subview of `tile`."""
    return TileBufType.get(
        tile.location, tile.element_type, sizes, valid,
        blayout=tile.blayout, slayout=tile.slayout, fractal=tile.fractal.data, pad=tile.pad.data,
        compact=tile.compact.data,
    )  # fmt: skip


@irdl_op_definition
class SetValidShapeOp(IRDLOperation):
    """Changes the valid rows and columns of a tile whose type leaves them open.

    `pto.set_validshape %t, %m, %n : <type>`
    """

    name = "pto.set_validshape"
    source = operand_def(TileBufType)
    valid_row = operand_def(_INDEX)
    valid_col = operand_def(_INDEX)
    assembly_format = "$source `,` $valid_row `,` $valid_col attr-dict `:` type($source)"

    def __init__(self, source: SSAValue, valid_row: SSAValue, valid_col: SSAValue) -> None:
        super().__init__(operands=[source, valid_row, valid_col])

    def verify_(self) -> None:
        tile = self.source.type
        assert isinstance(tile, TileBufType)
        if not tile.has_dynamic_valid:
            fail(self, "expects a tile with v_row=?, v_col=?; write them in its type")
        verify_valid(self, self.valid_row, self.valid_col, tile)


@irdl_op_definition
class TReshapeOp(IRDLOperation):
    """Reinterprets the bytes of a tile as another shape or type: `pto.treshape %t : <type> -> <type>`."""

    name = "pto.treshape"
    src = operand_def(TileBufType)
    result = result_def(TileBufType)
    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        before, after = self.src.type, self.result.type
        assert isinstance(before, TileBufType)
        assert isinstance(after, TileBufType)
        if before.location is not after.location:
            fail(self, f"expects the result in {before.location.value}, where the tile is, not {after.location.value}")
        if before.bytes is not None and after.bytes is not None and before.bytes != after.bytes:
            fail(self, f"expects a result of {before.bytes} bytes, as the tile has, not {after.bytes}")
        if (before.slayout is SLayout.NONE_BOX) is not (after.slayout is SLayout.NONE_BOX):
            fail(self, "cannot reshape between boxed and non-boxed tile layouts")
