"""Memory descriptors: operations that describe elements of arrays, `mem1d`, `mem4d`, `circbuf` and accesses by index.

Nothing here knows what is done with the elements, or in what memory they are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AffineMapAttr, DenseArrayBase, IntegerAttr, MemRefType, UnitAttr, i16, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineMap, AffineSymExpr
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
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ...targets.wavelets import EXTENTS, MAX_DIMENSIONS, MEM1D_STRIDES, MEM4D_STRIDES, OFFSETS
from ..building import build, integers, of_elements
from ..inheritance import ByInheritance
from ..traits import VerifiedByKind
from ..wse import element_count
from .fields import (
    Integer,
    constant_extent,
    constant_value,
    dynamic_part,
    joined_fields,
    joined_parts,
    parse_fields,
    parse_integer,
    parse_integers,
    print_fields,
    print_integer,
    static_part,
    static_parts,
    verify_field,
    verify_fields,
    verify_range,
)
from .folding import known_number, known_numbers, replace_changed
from .options import parse_options, print_options, verify_options
from .types import CircbufType, DescriptorType, Mem1dType, Mem4dType


def parse_memref(parser: Parser) -> MemRefType:
    """Parse the type of a descriptor's array; anything else is an error."""
    position = parser.pos
    type = parser.parse_type()
    if not isa(type, MemRefType):
        parser.raise_error("a descriptor is made of a memref, for example memref<16xf32>", position)
    return type


class FoldsMemoryFields(HasCanonicalizationPatternsTrait):
    """Fields that are constant values become numbers."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (FoldMemoryFields(),)


class MemoryDescriptorOp(IRDLOperation, metaclass=ByInheritance):
    """Makes a descriptor of memory elements from an array."""

    traits = traits_def(Pure())

    @property
    def base_type(self) -> MemRefType:
        """Type of the array; its element type is the descriptor's."""
        return cast(MemRefType, self.operands[0].type)

    def verify_(self) -> None:
        verify_options(self)
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
    traits = traits_def(VerifiedByKind())

    def __init__(
        self,
        base: SSAValue,
        map: AffineMap,
        extents: Sequence[int],
        result_type: Mem1dType | Mem4dType | None = None,
        *,
        wavelet_index_offset: bool = False,
    ):
        if result_type is None:
            kind = Mem1dType if map.num_dims == 1 else Mem4dType
            result_type = of_elements(kind, cast(MemRefType, base.type).get_element_type())
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
        extents = parse_integers(parser)
        properties, attributes = parse_options(parser, cls)
        parser.parse_punctuation(":")
        base_type = parse_memref(parser)
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
        print_options(printer, self)
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
            verify_range("extent", extent, EXTENTS)
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
    traits = traits_def(FoldsMemoryFields(), VerifiedByKind())
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
        fields = [dynamic_part(field) for field in (offset, stride, extent)]
        build(
            self,
            [base, *(field for field in fields if field is not None)],
            [of_elements(Mem1dType, type.get_element_type())],
            {
                "offset": None if offset == 0 else static_part(offset),
                "stride": None if stride == 1 else static_part(stride),
                "extent": static_part(extent),
                "wavelet_index_offset": UnitAttr() if wavelet_index_offset else None,
            },
            (1, *(int(field is not None) for field in fields)),
        )

    @classmethod
    def of(cls, base: SSAValue) -> Mem1dOp:
        """Return the descriptor of all elements of an array of known size, in row-major order."""
        return cls(base, element_count(cast(MemRefType, base.type)))

    @property
    def offset(self) -> Integer:
        """First element, from the base, in elements."""
        return joined_parts(self.offset_value if self._has_values else None, self.offset_attr, 0)

    @property
    def stride(self) -> Integer:
        """From one element to the next, in elements."""
        return joined_parts(self.stride_value if self._has_values else None, self.stride_attr, 1)

    @property
    def extent(self) -> Integer:
        """Number of elements."""
        return joined_parts(self.extent_value if self._has_values else None, self.extent_attr, 0)

    @property
    def _has_values(self) -> bool:
        """True if a field is a value; which one takes longer to find out."""
        return len(self.operands) > 1

    @classmethod
    def parse(cls, parser: Parser) -> Mem1dOp:
        base = parser.parse_unresolved_operand()
        offset: Integer = 0
        stride: Integer = 1
        if parser.parse_optional_keyword("at") is not None:
            offset = parse_integer(parser)
        if parser.parse_optional_keyword("stride") is not None:
            stride = parse_integer(parser)
        parser.parse_keyword("extent")
        extent = parse_integer(parser)
        properties, attributes = parse_options(parser, cls)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(base, parse_memref(parser)), extent, offset=offset, stride=stride)
        op.properties.update(properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        for word, value, default in (("at", self.offset, 0), ("stride", self.stride, 1)):
            if value != default:
                printer.print_string(f" {word} ")
                print_integer(printer, value)
        printer.print_string(" extent ")
        print_integer(printer, self.extent)
        print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)

    def verify_fields(self) -> None:
        verify_field("offset", self.offset_value, self.offset_attr, OFFSETS)
        verify_field("stride", self.stride_value, self.stride_attr, MEM1D_STRIDES)
        verify_field("extent", self.extent_value, self.extent_attr, EXTENTS, needed=True)


@irdl_op_definition
class Mem4dOp(MemoryDescriptorOp):
    """Elements of an array in up to four nested walks.

    ```
    %d = dsd.mem4d %A at 2 strides [1, -3] extents [2, 4] : memref<4x5xf32>
    %e = dsd.mem4d %A at %start extents [2, 3] : memref<4x5xf32>
    %f = dsd.mem4d %A strides [1, %s] extents [%n, 3] : memref<4x5xf32>
    ```

    Strides are innermost first, extents outermost first (DSD-062). A stride is the change of address when
    its walk advances, faster walks having run to their ends (DSD-061); all ones, the default (DSD-051), visit
    consecutive elements. The offset is 0 if not given (DSD-049). Fields may be values of type i16; a descriptor
    that has such takes three stride registers (AMB-06). Refused are: a number of dimensions outside 1 to 4, strides and
    extents of different number (DSD-053), a stride or offset outside i16 (DSD-048, DSD-050), an extent outside 0 to
    65535 (DSD-052).
    """

    name = "dsd.mem4d"
    base = operand_def(MemRefType)
    offset_value = opt_operand_def(i16)
    offset_attr = opt_prop_def(IntegerAttr, prop_name="offset")
    strides_attr = opt_prop_def(DenseArrayBase.constr(i64), prop_name="strides")
    extents_attr = prop_def(DenseArrayBase.constr(i64), prop_name="extents")
    stride_values = var_operand_def(i16)
    extent_values = var_operand_def(i16)
    wavelet_index_offset = opt_prop_def(UnitAttr)
    result = result_def(Mem4dType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(FoldsMemoryFields(), VerifiedByKind())

    def __init__(
        self,
        base: SSAValue,
        extents: Sequence[Integer],
        *,
        strides: Sequence[Integer] | None = None,
        offset: Integer = 0,
        wavelet_index_offset: bool = False,
    ):
        type = cast(MemRefType, base.type)
        groups = [
            [field for field in group if isinstance(field, SSAValue)] for group in ([offset], strides or (), extents)
        ]
        build(
            self,
            [base, *(value for group in groups for value in group)],
            [of_elements(Mem4dType, type.get_element_type())],
            {
                "offset": None if offset == 0 else static_part(offset),
                "strides": None if strides is None else integers(static_parts(strides)),
                "extents": integers(static_parts(extents)),
                "wavelet_index_offset": UnitAttr() if wavelet_index_offset else None,
            },
            (1, *map(len, groups)),
        )

    @property
    def offset(self) -> Integer:
        """First element, from the base, in elements."""
        return joined_parts(self.offset_value, self.offset_attr, 0)

    @property
    def strides(self) -> tuple[Integer, ...]:
        """Change of address when each walk advances, innermost first, in elements."""
        if self.strides_attr is None:
            return (1,) * len(self.extents_attr)
        return joined_fields(self.strides_attr.get_values(), self.stride_values)

    @property
    def extents(self) -> tuple[Integer, ...]:
        """Iterations of each walk, outermost first."""
        return joined_fields(self.extents_attr.get_values(), self.extent_values)

    @classmethod
    def parse(cls, parser: Parser) -> Mem4dOp:
        base = parser.parse_unresolved_operand()
        offset: Integer = 0
        if parser.parse_optional_keyword("at") is not None:
            offset = parse_integer(parser)
        strides = parse_fields(parser) if parser.parse_optional_keyword("strides") is not None else None
        parser.parse_keyword("extents")
        extents = parse_fields(parser)
        properties, attributes = parse_options(parser, cls)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(base, parse_memref(parser)), extents, strides=strides, offset=offset)
        op.properties.update(properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        if self.offset != 0:
            printer.print_string(" at ")
            print_integer(printer, self.offset)
        if self.strides_attr is not None:
            printer.print_string(" strides ")
            print_fields(printer, self.strides)
        printer.print_string(" extents ")
        print_fields(printer, self.extents)
        print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)

    def verify_fields(self) -> None:
        verify_field("offset", self.offset_value, self.offset_attr, OFFSETS)
        dimensions, strides = len(self.extents_attr), self.strides_attr
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise VerifyException(f"a mem4d has one to four dimensions, not {dimensions}; split the walk")
        if strides is not None and len(strides) != dimensions:
            raise VerifyException(
                f"{len(strides)} strides do not fit {dimensions} extents; give one stride for each extent"
            )
        numbers = () if strides is None else strides.get_values()
        verify_fields("stride", numbers, self.stride_values, MEM4D_STRIDES)
        verify_fields("extent", self.extents_attr.get_values(), self.extent_values, EXTENTS)


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
            properties={"extent": static_part(extent), "wraparound": static_part(wraparound)},
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
        properties, attributes = parse_options(parser, cls)
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(base, parse_memref(parser)), extent, wraparound=wraparound)
        op.properties.update(properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        printer.print_string(f" extent {self.extent}")
        if self.wraparound_attr is not None:
            printer.print_string(f" wraparound {self.wraparound}")
        print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)

    def verify_fields(self) -> None:
        verify_range("extent", self.extent, EXTENTS)
        sized = self.base_type.get_num_dims() > 0 and self.base_type.has_static_shape()
        if not sized and self.wraparound_attr is None:
            raise VerifyException(f"wraparound is missing, and {self.base_type} has no size to take; give it")
        if sized and self.wraparound > element_count(self.base_type):
            raise VerifyException(
                f"wraparound {self.wraparound} is larger than the {element_count(self.base_type)} elements of "
                f"{self.base_type}; choose a smaller one"
            )
        verify_range("wraparound", self.wraparound, EXTENTS[1:])


class FoldMemoryFields(RewritePattern):
    """Write a field that is a constant value as a number."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Mem1dOp | Mem4dOp, rewriter: PatternRewriter) -> None:
        offset = known_number(op.offset_value, constant_value, OFFSETS)
        if isinstance(op, Mem4dOp):
            strides = known_numbers(op.strides, constant_value, MEM4D_STRIDES)
            extents = known_numbers(op.extents, constant_extent, EXTENTS)
            if offset is not None or strides != op.strides or extents != op.extents:
                new = Mem4dOp(
                    op.base,
                    extents,
                    strides=None if op.strides_attr is None else strides,
                    offset=op.offset if offset is None else offset,
                    wavelet_index_offset=op.wavelet_index_offset is not None,
                )
                replace_changed(rewriter, op, new, op)
            return
        stride = known_number(op.stride_value, constant_value, MEM1D_STRIDES)
        extent = known_number(op.extent_value, constant_extent, EXTENTS)
        if offset is not None or stride is not None or extent is not None:
            replace_changed(rewriter, op, with_fields(op, offset=offset, stride=stride, extent=extent), op)


def with_fields(
    source: Mem1dOp | Mem4dOp,
    *,
    base: SSAValue | None = None,
    offset: Integer | None = None,
    stride: Integer | None = None,
    extent: Integer | None = None,
) -> Mem1dOp | Mem4dOp:
    """Return a copy of a descriptor with some fields changed."""
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
