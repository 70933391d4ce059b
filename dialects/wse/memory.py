"""The memory of a PE: buffers, parameters, initial values of both, and what of it the host sees.

Addresses are chosen later; nothing here knows the code that reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i16,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ..assembly import parse_attributes, print_attributes
from ..building import build, flag, integer, string, symbol
from ..machine.elements import parse_dense, parse_memref, print_dense, verify_memory_type
from ..machine.memory import BufferOperation, ExportOperation
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser
from ..traits import VerifiedByKind
from .program import PeOp


@irdl_op_definition
class BufferOp(BufferOperation):
    """Memory of each PE: an array, or a scalar variable if the rank is 0.

    ```
    wse.buffer @u : memref<64xf32>
    wse.buffer @count : memref<i16> = dense<0>
    wse.buffer @fifo : memref<32xi16> = dense<0> align 16
    wse.buffer @table : memref<16xi16> at 40960
    wse.buffer @scratch : memref<8xf32> undefined
    ```

    Row-major (DSD-027). The alignment is in bytes, a power of two of at least 2; what is larger than a 16-bit word
    begins at a multiple of 4 bytes anyhow. An element of i8 takes one byte. Without an initial value the memory holds
    zeros; if it is `undefined`, programs may not count on that, and executors that look for races report what reads it
    before it has been written. A buffer `at` an address, in bytes, is placed there; the others where there is room.
    """

    name = "wse.buffer"
    value = opt_prop_def(DenseIntOrFPElementsAttr)
    alignment = opt_prop_def(IntegerAttr)
    address = opt_prop_def(IntegerAttr)
    undefined = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(PeOp))

    def __init__(
        self,
        name: str,
        type: MemRefType,
        value: DenseIntOrFPElementsAttr | None = None,
        alignment: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        address: int | None = None,
        *,
        undefined: bool = False,
    ):
        properties = {
            "sym_name": string(name),
            "type": type,
            "value": value,
            "alignment": None if alignment is None else integer(alignment),
            "address": None if address is None else integer(address),
            "undefined": flag(undefined),
        }
        build(self, [], [], properties)
        self.attributes.update(attributes or {})

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        name = parser.parse_symbol_name().data
        parser.parse_punctuation(":")
        type = parse_memref(parser, "a buffer")
        value = None
        if parser.parse_optional_punctuation("=") is not None:
            value = parse_dense(parser, type.get_element_type(), type.get_shape())
        undefined = parser.parse_optional_keyword("undefined") is not None
        alignment = None
        if parser.parse_optional_keyword("align") is not None:
            alignment = parser.parse_integer(allow_boolean=False)
        address = None
        if parser.parse_optional_keyword("at") is not None:
            address = parser.parse_integer(allow_boolean=False)
        return cls(name, type, value, alignment, parse_attributes(parser), address, undefined=undefined)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        if self.value is not None:
            printer.print_string(" = ")
            print_dense(printer, self.value)
        if self.undefined is not None:
            printer.print_string(" undefined")
        if self.alignment is not None:
            printer.print_string(f" align {self.alignment.value.data}")
        if self.address is not None:
            printer.print_string(f" at {self.address.value.data}")
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_memory_type(self.type.get_element_type(), "a buffer")
        if not self.type.has_static_shape():
            raise VerifyException(
                f"buffer type {self.type} has an open extent; a PE's memory is laid out at compile "
                "time, so give every extent"
            )
        if self.alignment is not None:
            bytes = self.alignment.value.data
            if bytes < 2 or bytes & (bytes - 1):
                raise VerifyException(f"alignment {bytes} is not a power of two of at least 2 bytes; choose one")
        if self.address is not None:
            step = 2 if self.alignment is None else self.alignment.value.data
            address = self.address.value.data
            if address < 0 or address % step:
                raise VerifyException(f"address {address} is not a multiple of {step} bytes; choose one that is")
        if self.value is not None and self.undefined is not None:
            raise VerifyException("an undefined buffer has an initial value; remove one of them")
        if self.value is not None and self.value.get_shape() != self.type.get_shape():
            raise VerifyException(
                f"initial value of shape {list(self.value.get_shape())} does not fit {self.type}; give it that shape"
            )


@irdl_op_definition
class ParamOp(SymbolDefinition, SymbolUser):
    """A number that is fixed when the program starts and may differ from PE to PE.

    ```
    wse.param @coefficient : f32 = dense<0.5>
    wse.param @row : i16 over 3 x 2 = dense<[[0, 0, 0], [1, 1, 1]]>
    ```

    One value for all PEs, or `over` the rectangle one value for each, rows of x inside y.
    """

    NOUN: ClassVar = "a parameter"

    name = "wse.param"
    value = prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(HasParent(PeOp))

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
    def symbol_kind(self) -> str:
        return "parameter"

    @property
    def type(self) -> Attribute:
        """Type of the parameter as one PE sees it."""
        return self.value.get_element_type()

    @property
    def is_uniform(self) -> bool:
        """True if all PEs have the same value by construction."""
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
        return cls(name, parse_dense(parser, type, shape), parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        if not self.is_uniform:
            height, width = self.value.get_shape()
            printer.print_string(f" over {width} x {height}")
        printer.print_string(" = ")
        print_dense(printer, self.value)
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_memory_type(self.type, "a parameter")
        shape = self.value.get_shape()
        if shape and len(shape) != 2:
            raise VerifyException(
                f"values of shape {list(shape)} do not fit a rectangle; give one value or a row of "
                "values for each row of PEs"
            )

    def verify_symbols(self, scope: Scope) -> None:
        shape = self.value.get_shape()
        width, height = scope.grid
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

    The element is counted in row-major order. An address counts bytes, and so does the offset, and the buffer holds
    i16; a parameter has the type of the buffer's elements. It overrides the buffer's own initial value.
    """

    name = "wse.initialize"
    buffer = prop_def(SymbolRefAttr)
    element = prop_def(IntegerAttr)
    target = opt_prop_def(SymbolRefAttr)
    offset = opt_prop_def(IntegerAttr)
    param = opt_prop_def(SymbolRefAttr)
    traits = traits_def(HasParent(PeOp), VerifiedByKind())

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
        properties = {
            "buffer": symbol(buffer),
            "element": integer(element),
            "target": None if address_of is None else symbol(address_of),
            "offset": integer(offset) if offset else None,
            "param": None if param is None else symbol(param),
        }
        build(self, [], [], properties, attributes=attributes)

    @property
    def bytes_on(self) -> int:
        """The offset from the target's address."""
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
            if self.bytes_on:
                printer.print_string(f" + {self.bytes_on}")
        print_attributes(printer, self)

    def verify_(self) -> None:
        if (self.target is None) == (self.param is None):
            raise VerifyException(
                "wse.initialize takes either the address of a buffer or a parameter; give exactly one"
            )
        if self.target is None and self.offset is not None:
            raise VerifyException("only an address has an offset; remove it")

    def verify_symbols(self, scope: Scope) -> None:
        buffer = scope.get(BufferOp, self.buffer)
        name, type = buffer.sym_name.data, buffer.type.get_element_type()
        if not 0 <= (element := self.element.value.data) < buffer.element_count:
            raise VerifyException(
                f"buffer @{name} has no element {element}; choose one from 0 to {buffer.element_count - 1}"
            )
        if self.target is not None:
            scope.get(BufferOp, self.target)
            if type != i16:
                raise VerifyException(f"buffer @{name} holds {type}, but an address is an i16; use that type")
        elif self.param is not None:
            param = scope.get(ParamOp, self.param)
            if param.type != type:
                raise VerifyException(
                    f"parameter @{param.sym_name.data} has type {param.type}, but buffer @{name} holds {type}; make "
                    "both agree"
                )


@irdl_op_definition
class ExportOp(ExportOperation):
    """Makes a buffer or function visible to the host.

    ```
    wse.export @u
    wse.export @count as "steps" unsigned read_only
    wse.export @pointer as "y" points_to memref<24xf32>
    wse.export @main
    wse.export @start unsigned_arguments [0, 2]
    ```

    `unsigned` makes the host see u8, u16 or u32 where the buffer holds signless integers; `unsigned_arguments` does the
    same for what a function takes, by position. With `points_to` the host
    sees what the buffer, one i16 that holds a byte address, points to on each PE at the time of a copy; how many
    elements that has may be left open, as in `memref<?xf32>`.
    """

    name = "wse.export"
    exported_as = opt_prop_def(StringAttr)
    traits = traits_def(HasParent(PeOp))

    def __init__(
        self,
        symbol: str,
        exported_as: str | None = None,
        *,
        points_to: MemRefType | None = None,
        unsigned: bool = False,
        unsigned_arguments: Sequence[int] = (),
        read_only: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            symbol,
            {"exported_as": None if exported_as is None else string(exported_as)},
            points_to=points_to,
            unsigned=unsigned,
            unsigned_arguments=unsigned_arguments,
            read_only=read_only,
            attributes=attributes,
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
            points_to = parse_memref(parser, "what a pointer points to")
        unsigned = parser.parse_optional_keyword("unsigned") is not None
        unsigned_arguments: list[int] = []
        if parser.parse_optional_keyword("unsigned_arguments") is not None:
            unsigned_arguments = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False, allow_negative=False)
            )
        read_only = parser.parse_optional_keyword("read_only") is not None
        return cls(
            symbol,
            exported_as,
            points_to=points_to,
            unsigned=unsigned,
            unsigned_arguments=unsigned_arguments,
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
        if self.unsigned_arguments is not None:
            printer.print_string(f" unsigned_arguments [{', '.join(map(str, self.unsigned_positions))}]")
        if self.read_only is not None:
            printer.print_string(" read_only")
        print_attributes(printer, self)
