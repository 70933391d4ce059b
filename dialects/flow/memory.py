"""The memory of a unit: buffers at addresses, parameters, initial values, and what of it the host sees.

Nothing here knows the code that reads and writes, or how the runtime stores memory.
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
    TensorType,
    UnitAttr,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ...operations import integers
from ..assembly import parse_attributes, print_attributes
from ..building import build, flag, integer, string, symbol
from ..machine.elements import (
    ELEMENT_TYPES,
    MEMORY_TYPES,
    memory_bytes,
    parse_memref,
    print_dense,
    print_typed_dense,
    verify_memory_type,
)
from ..machine.memory import BufferOperation, ExportOperation
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser
from ..traits import VerifiedByKind
from .code import FuncOp
from .fabric import UnitsOp
from .scope import scope_of_units
from .types import Scalar, verify_scalar_type


@irdl_op_definition
class BufferOp(BufferOperation, SymbolUser):
    """An array in unit memory at a word address (16-bit words); 32-bit elements need an even address.

    Buffers may overlap. Row-major; rank 0 is a scalar variable; two elements of i8 share a word, the first in its low
    byte. Without an initial value the memory holds zeros; if it is `undefined`, programs may not count on that. What
    points to a buffer holds its byte address, twice the word address.
    """

    name = "flow.buffer"
    address = prop_def(IntegerAttr)
    initial = opt_prop_def(DenseIntOrFPElementsAttr)
    undefined = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(UnitsOp))

    def __init__(
        self,
        name: str,
        address: int,
        type: MemRefType[Attribute],
        initial: DenseIntOrFPElementsAttr | None = None,
        *,
        undefined: bool = False,
    ):
        properties = {
            "sym_name": string(name),
            "address": integer(address),
            "type": type,
            "initial": initial,
            "undefined": flag(undefined),
        }
        build(self, [], [], properties)

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("at")
        address = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parse_memref(parser, "a buffer")
        initial = None
        if parser.parse_optional_punctuation("=") is not None:
            parser.parse_keyword("dense")
            if type.element_type not in MEMORY_TYPES or not isa(type, MemRefType[Scalar]):
                parser.raise_error(
                    f"a buffer cannot hold {type.element_type}; use f16, bf16, f32, i8, i16 or i32", position
                )
            initial = parser.parse_dense_int_or_fp_elements_attr(TensorType(type.element_type, type.get_shape()))
        op = cls(name, address, type, initial, undefined=parser.parse_optional_keyword("undefined") is not None)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" at {self.address.value.data} : ")
        printer.print_attribute(self.type)
        if self.initial is not None:
            printer.print_string(" = ")
            print_dense(printer, self.initial)
        if self.undefined is not None:
            printer.print_string(" undefined")
        print_attributes(printer, self)

    @property
    def first_word(self) -> int:
        return self.address.value.data

    def verify_(self) -> None:
        name = self.sym_name.data
        verify_memory_type(self.element_type, f"buffer @{name}")
        if not self.type.has_static_shape():
            raise VerifyException(f"buffer @{name} has type {self.type} with an open extent; give every extent")
        if memory_bytes(self.element_type) == 4 and self.first_word % 2:
            raise VerifyException(
                f"buffer @{name} holds 32-bit elements at odd word address {self.first_word}; align it to 2 words"
            )
        if self.initial is not None and self.undefined is not None:
            raise VerifyException(f"buffer @{name} is undefined and has an initial value; remove one of them")
        if self.initial is not None and (self.initial.get_shape(), self.initial.get_element_type()) != (
            self.type.get_shape(), self.element_type,
        ):  # fmt: skip
            raise VerifyException(
                f"initial value of type {self.initial.type} does not fit {self.type}; give it that type"
            )

    def verify_symbols(self, scope: Scope) -> None:
        end = self.first_word + (self.element_count * memory_bytes(self.element_type) + 1) // 2
        words = scope_of_units(scope).words
        if self.first_word < 0 or end > words:
            raise VerifyException(
                f"buffer @{self.sym_name.data} takes words {self.first_word} to {end - 1}, but its units have words 0 "
                f"to {words - 1}; move it or give them more words"
            )


@irdl_op_definition
class InitializeOp(SymbolUser):
    """The initial value of one element of a buffer, by its place in row-major order: a number, or a parameter.

    ```
    flow.initialize @pointers[2] = 1280
    flow.initialize @size[0] = @columns
    ```

    It overrides the buffer's own initial value.
    """

    name = "flow.initialize"
    buffer = prop_def(SymbolRefAttr)
    element = prop_def(IntegerAttr)
    number = opt_prop_def(IntegerAttr)
    param = opt_prop_def(SymbolRefAttr)
    traits = traits_def(HasParent(UnitsOp), VerifiedByKind())

    def __init__(self, buffer: str, element: int, value: int | str):
        properties = {
            "buffer": symbol(buffer),
            "element": integer(element),
            "number": None if isinstance(value, str) else integer(value),
            "param": symbol(value) if isinstance(value, str) else None,
        }
        build(self, [], [], properties)

    @classmethod
    def parse(cls, parser: Parser) -> InitializeOp:
        buffer = parser.parse_symbol_name().data
        with parser.in_square_brackets():
            element = parser.parse_integer(allow_boolean=False)
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
            raise VerifyException("flow.initialize takes either a number or a parameter; give exactly one")

    def verify_symbols(self, scope: Scope) -> None:
        buffer = scope.get(BufferOp, self.buffer)
        name, type = buffer.sym_name.data, buffer.element_type
        element, count = self.element.value.data, buffer.element_count
        if not 0 <= element < count:
            raise VerifyException(f"buffer @{name} has no element {element}; choose one from 0 to {count - 1}")
        if self.param is not None:
            param = scope.get(ParamOp, self.param)
            if param.type != type:
                raise VerifyException(
                    f"parameter @{param.sym_name.data} has type {param.type}, but buffer @{name} holds {type}; "
                    "make both "
                    "agree"
                )
        elif type not in (i8, i16, i32):
            raise VerifyException(f"buffer @{name} holds {type}, not numbers such as addresses; use i8, i16 or i32")
        elif self.number is not None:
            number = self.number.value.data
            if not integers.fits(number, 8 * memory_bytes(type)):
                raise VerifyException(
                    f"buffer @{name} holds {type}, in which {number} does not fit; use another number"
                )


@irdl_op_definition
class ParamOp(SymbolDefinition, SymbolUser):
    """A read-only scalar of every unit: one value for all, or one per unit of the grid, row-major [y][x]."""

    NOUN: ClassVar = "a parameter"

    name = "flow.param"
    values = prop_def(DenseIntOrFPElementsAttr)
    traits = traits_def(HasParent(UnitsOp))

    def __init__(self, name: str, values: DenseIntOrFPElementsAttr):
        super().__init__(properties={"sym_name": StringAttr(name), "values": values})

    @classmethod
    def parse(cls, parser: Parser) -> ParamOp:
        name = parser.parse_symbol_name().data
        parser.parse_punctuation("=")
        position = parser.pos
        values = parser.parse_attribute()
        if not isa(values, DenseIntOrFPElementsAttr):
            parser.raise_error(f"parameter @{name} has {values}; write dense<...> and its type", position)
        op = cls(name, values)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" = ")
        print_typed_dense(printer, self.values)
        print_attributes(printer, self)

    @property
    def symbol_kind(self) -> str:
        return "parameter"

    @property
    def type(self) -> Attribute:
        """Type of the parameter as one unit sees it."""
        return self.values.get_element_type()

    def verify_(self) -> None:
        verify_scalar_type(self.type, f"parameter @{self.sym_name.data}")

    def verify_symbols(self, scope: Scope) -> None:
        shape = list(self.values.get_shape())
        width, height = scope.grid
        if shape and shape != [height, width]:
            raise VerifyException(
                f"parameter @{self.sym_name.data} has values of shape {shape}; give one value, or one for each PE, "
                f"[{height}, {width}]"
            )


@irdl_op_definition
class ExportOp(ExportOperation):
    """Shows a buffer or function to the host under a name; `unsigned` makes the host see unsigned integers.

    ```
    flow.export @u as "u"
    flow.export @pointer as "y" points_to memref<24xf32>
    ```

    `unsigned_arguments` does the same for what a function takes, by position. With `points_to` the host sees the memory
    at the byte address that the buffer, one i16, holds on each unit at the time of a copy; the number of elements may
    be open. What several classes of units show under one name has one type.
    """

    name = "flow.export"
    visible_name = prop_def(StringAttr)
    traits = traits_def(HasParent(UnitsOp))

    def __init__(
        self,
        symbol: str,
        visible_name: str,
        *,
        points_to: MemRefType[Attribute] | None = None,
        unsigned: bool = False,
        unsigned_arguments: Sequence[int] = (),
        read_only: bool = False,
    ):
        super().__init__(
            symbol,
            {"visible_name": string(visible_name)},
            points_to=points_to,
            unsigned=unsigned,
            unsigned_arguments=unsigned_arguments,
            read_only=read_only,
        )

    assembly_format = (
        "$symbol `as` $visible_name (`points_to` $points_to^)? (`unsigned` $unsigned^)? "
        "(`unsigned_arguments` $unsigned_arguments^)? (`read_only` $read_only^)? attr-dict"
    )

    def shown_as(self, symbols: Mapping[str, Operation]) -> str:
        """Return what the host sees of it, given the symbols of its units."""
        if self.points_to is not None:
            return f"{'an unsigned' if self.unsigned else 'a'} {self.points_to}"
        match symbols.get(self.symbol.string_value()):
            case BufferOp(type=type):
                return f"{'an unsigned' if self.unsigned else 'a'} {type}"
            case FuncOp(function_type=type):
                signs = ["unsigned " if k in self.unsigned_positions else "" for k in range(len(type.inputs))]
                return f"a function of ({', '.join(f'{sign}{t}' for sign, t in zip(signs, type.inputs, strict=True))})"
            case _:
                return "undefined"

    def verify_symbols(self, scope: Scope) -> None:
        super().verify_symbols(scope)
        found = scope.find(self.symbol)
        if isinstance(found, FuncOp):
            for type in found.function_type.inputs:
                if type not in (*ELEMENT_TYPES, i1, i8, i64, f64):
                    raise VerifyException(
                        f"function @{found.sym_name.data} takes {type}, which the host cannot pass; take numbers of "
                        "type f16, bf16, f32, i1, i8, i16, i32 or i64"
                    )
