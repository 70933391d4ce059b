"""Operations that make a stream: of memory, of a queue, of a FIFO.

Nothing here knows what is done with a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i16,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
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
from xdsl.utils.exceptions import VerifyException

from ...targets.wavelets import EXTENTS, MAX_DIMENSIONS
from ..assembly import parse_symbol
from ..building import build, integer, integers, of_elements, symbol
from ..machine.elements import memory_bytes
from ..machine.fifos import FIFO_SIDES, verify_fifo_side
from ..machine.symbols import Scope, SymbolUser, described
from ..traits import VerifiedByKind
from .access import Array, address_of, parse_array, print_array, symbol_of, verify_array
from .fields import (
    DYNAMIC,
    LITERALS,
    Integers,
    counted,
    numbers_of,
    static_part,
    verify_fields,
)
from .fifos import FifoOp
from .memory import BufferOp
from .queues import QueueOp
from .types import StreamType, element_type_of, element_words


@irdl_op_definition
class StreamOp(SymbolUser):
    """A walk of up to four dimensions over a buffer, or over the memory from a byte address on.

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
    traits = traits_def(VerifiedByKind(), Pure())

    def __init__(
        self,
        array: Array,
        offset: int | SSAValue,
        strides: Sequence[int | SSAValue],
        extents: Sequence[int | SSAValue],
        type: Attribute,
    ):
        groups = [
            address_of(array),
            *([field for field in fields if isinstance(field, SSAValue)] for fields in ([offset], strides, extents)),
        ]
        build(
            self,
            [value for group in groups for value in group],
            [of_elements(StreamType, type)],
            {
                "buffer": symbol_of(array),
                "static_offset": integer(static_part(offset)),
                "static_strides": integers(tuple(map(static_part, strides))),
                "static_extents": integers(tuple(map(static_part, extents))),
            },
            tuple(map(len, groups)),
        )

    @classmethod
    def parse(cls, parser: Parser) -> StreamOp:
        array = parse_array(parser)
        groups: list[list[UnresolvedOperand]] = [[], [], []]
        parser.parse_keyword("at")
        offset = Integers.parse_one(parser, groups[0])
        parser.parse_keyword("strides")
        strides = Integers.parse_list(parser, groups[1])
        parser.parse_keyword("extents")
        extents = Integers.parse_list(parser, groups[2])
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
        print_array(printer, self)
        # Mostly all fields are literals, and which value is which takes long to find out.
        offset, strides, extents = ((), (), ())
        if len(self.operands) > (self.buffer is None):
            offset, strides, extents = [self.offset] if self.offset else [], self.strides, self.extents
        printer.print_string(" at ")
        Integers.print(printer, [self.static_offset.value.data], offset)
        printer.print_string(" strides [")
        Integers.print(printer, numbers_of(self.static_strides), strides)
        printer.print_string("] extents [")
        Integers.print(printer, numbers_of(self.static_extents), extents)
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @property
    def dimensions(self) -> int:
        return len(numbers_of(self.static_extents))

    def verify_(self) -> None:
        verify_array(self.name, self)
        strides = numbers_of(self.static_strides)
        if len(strides) != self.dimensions or not 1 <= self.dimensions <= MAX_DIMENSIONS:
            raise VerifyException(
                "a stream has one to four dimensions with a stride and an extent each, not "
                f"{counted(len(strides), 'stride')} and {counted(self.dimensions, 'extent')}; correct them"
            )
        verify_fields("offset", [self.static_offset.value.data], [self.offset] if self.offset else [], LITERALS)
        verify_fields("stride", strides, self.strides, LITERALS)
        verify_fields("extent", numbers_of(self.static_extents), self.extents, EXTENTS)

    def verify_symbols(self, scope: Scope) -> None:
        _verify_elements(self, scope)


def described_array(op: StreamOp | CircularStreamOp) -> str:
    """Return how an error names what a walk is over."""
    return "memory" if op.buffer is None else f"buffer @{op.buffer.string_value()}"


def _verify_elements(op: StreamOp | CircularStreamOp, scope: Scope) -> None:
    """Refuse a walk over a buffer whose elements have another width."""
    if op.buffer is None:
        return
    buffer = scope.get(BufferOp, op.buffer)
    type = element_type_of(op.result)
    if 2 * element_words(type) != memory_bytes(buffer.element_type):
        raise VerifyException(
            f"a stream of {type} cannot walk over buffer @{buffer.sym_name.data} of {buffer.element_type}; use a "
            "type of that width, or another buffer on the same words"
        )


@irdl_op_definition
class CircularStreamOp(SymbolUser):
    """A walk over elements side by side, from the start of a buffer or from a byte address on, that returns there
    behind `wraparound` of them: element k is number k mod `wraparound` (DSD-087).

    ```
    %a = flow.circular_stream @u extent 20 wraparound 8 : !flow.stream<f16>
    ```
    """

    name = "flow.circular_stream"
    buffer = opt_prop_def(SymbolRefAttr)
    address = opt_operand_def(IntegerType(16))
    extent = prop_def(IntegerAttr)
    wraparound = prop_def(IntegerAttr)
    result = result_def(StreamType)
    traits = traits_def(VerifiedByKind(), Pure())

    def __init__(self, array: Array, extent: int, wraparound: int, type: Attribute):
        build(
            self,
            address_of(array),
            [of_elements(StreamType, type)],
            {"buffer": symbol_of(array), "extent": integer(extent), "wraparound": integer(wraparound)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> CircularStreamOp:
        array = parse_array(parser)
        parser.parse_keyword("extent")
        extent = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("wraparound")
        wraparound = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, StreamType):
            parser.raise_error("flow.circular_stream makes a value of type !flow.stream", position)
        op = cls(array, extent, wraparound, type.element_type)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_array(printer, self)
        printer.print_string(f" extent {self.extent.value.data} wraparound {self.wraparound.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        verify_array(self.name, self)
        verify_fields("extent", [self.extent.value.data], [], EXTENTS)
        verify_fields("wraparound", [self.wraparound.value.data], [], EXTENTS[1:])

    def verify_symbols(self, scope: Scope) -> None:
        _verify_elements(self, scope)


ZEROED = ("first", "second")
"""The source that is set to zero when it is sent."""


@irdl_op_definition
class QueueStreamOp(SymbolUser):
    """A run of `extent` wavelets of a queue; `control` makes those sent control wavelets, and `advance_switch` moves
    the switch of the sender's router on behind the last one (DSD-252). With `packed` each wavelet carries two values of
    16 bits, the first in its low half, and `extent` counts values (DSD-240, AMB-23). With `in_pairs` an operation that
    receives goes on when two wavelets are there, or the last one (DSD-241).

    With `message` it belongs to a message of a `flow.message_network`, and `extent` is the most elements that there is
    room for at the other operand: what is received begins with the header, whose low half has the number of elements
    that follow and are taken; of what is sent the last wavelet is a control wavelet and ends the message.

    With `zero first` or `zero second` that source of the operation that sends is set to zero (DSD-246); the only source
    of an operation is its second (DSD-247). With `control_transform` control wavelets that are received are marked in
    the two highest bits, and what is marked so is sent as a control wavelet (DSD-256, DSD-257)."""

    name = "flow.queue_stream"
    queue = prop_def(SymbolRefAttr)
    static_extent = prop_def(IntegerAttr)
    control = opt_prop_def(UnitAttr)
    advance_switch = opt_prop_def(UnitAttr)
    packed = opt_prop_def(UnitAttr)
    in_pairs = opt_prop_def(UnitAttr)
    message = opt_prop_def(UnitAttr)
    zero = opt_prop_def(StringAttr)
    control_transform = opt_prop_def(UnitAttr)
    extent = opt_operand_def(IntegerType(16))
    result = result_def(StreamType)
    traits = traits_def(VerifiedByKind(), Pure())

    def __init__(
        self,
        queue: str,
        extent: int | SSAValue,
        type: Attribute,
        *,
        control: bool = False,
        advance_switch: bool = False,
        packed: bool = False,
        in_pairs: bool = False,
        message: bool = False,
        zero: str | None = None,
        control_transform: bool = False,
    ):
        build(
            self,
            [extent] if isinstance(extent, SSAValue) else [],
            [of_elements(StreamType, type)],
            {
                "queue": symbol(queue),
                "static_extent": integer(static_part(extent)),
                "control": UnitAttr() if control else None,
                "advance_switch": UnitAttr() if advance_switch else None,
                "packed": UnitAttr() if packed else None,
                "in_pairs": UnitAttr() if in_pairs else None,
                "message": UnitAttr() if message else None,
                "zero": None if zero is None else StringAttr(zero),
                "control_transform": UnitAttr() if control_transform else None,
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> QueueStreamOp:
        queue = parse_symbol(parser).root_reference.data
        group: list[UnresolvedOperand] = []
        parser.parse_keyword("extent")
        extent = Integers.parse_one(parser, group)
        control = parser.parse_optional_keyword("control") is not None
        advance_switch = parser.parse_optional_keyword("advance_switch") is not None
        packed = parser.parse_optional_keyword("packed") is not None
        in_pairs = parser.parse_optional_keyword("in_pairs") is not None
        message = parser.parse_optional_keyword("message") is not None
        zero = None
        if parser.parse_optional_keyword("zero") is not None:
            zero = parser.parse_keyword_in(ZEROED)
        control_transform = parser.parse_optional_keyword("control_transform") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, StreamType):
            parser.raise_error("flow.queue_stream makes a value of type !flow.stream", position)
        values = parser.resolve_operands(group, [i16] * len(group), parser.pos)
        length = values[0] if values else extent
        op = cls(
            queue, length, type.element_type, control=control, advance_switch=advance_switch, packed=packed,
            in_pairs=in_pairs, message=message, zero=zero, control_transform=control_transform,
        )  # fmt: skip
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.queue)
        printer.print_string(" extent ")
        Integers.print(printer, [self.static_extent.value.data], [self.extent] if self.extent else [])
        if self.control is not None:
            printer.print_string(" control")
        if self.advance_switch is not None:
            printer.print_string(" advance_switch")
        if self.packed is not None:
            printer.print_string(" packed")
        if self.in_pairs is not None:
            printer.print_string(" in_pairs")
        if self.message is not None:
            printer.print_string(" message")
        if self.zero is not None:
            printer.print_string(f" zero {self.zero.data}")
        if self.control_transform is not None:
            printer.print_string(" control_transform")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        verify_fields("extent", [self.static_extent.value.data], [self.extent] if self.extent else [], EXTENTS)
        if self.message is not None and (self.control is not None or self.packed is not None):
            raise VerifyException(
                "a message of a network ends with one control wavelet and carries one element in each; leave out "
                f"{'control' if self.control is not None else 'packed'}"
            )
        if self.zero is not None and self.zero.data not in ZEROED:
            raise VerifyException(f"zero is {self.zero.data!r}; write one of {', '.join(ZEROED)}")
        if self.packed is not None and self.control_transform is not None:
            raise VerifyException(
                "a wavelet that carries two values has no index for control_transform to mark; leave out one of the two"
            )
        if self.packed is not None and element_words(self.result.type.element_type) != 1:
            raise VerifyException(
                f"a wavelet carries two values of 16 bits, not of {self.result.type.element_type}; leave out packed"
            )

    def verify_symbols(self, scope: Scope) -> None:
        queue = scope.get(QueueOp, self.queue)
        if self.in_pairs is not None and not queue.is_input:
            raise VerifyException("in_pairs says for how many wavelets a receive waits; leave it out of what is sent")
        if self.control is not None and queue.is_input:
            raise VerifyException(
                f"{described(queue)} receives both control wavelets and data; only a stream of an output queue "
                "can be control"
            )
        if self.advance_switch is not None and queue.is_input:
            raise VerifyException(
                f"{described(queue)} sends nothing; only a stream of an output queue can advance a switch"
            )
        if self.zero is not None and queue.is_input:
            raise VerifyException(
                f"{described(queue)} sends nothing; only a stream of an output queue can set a source to zero"
            )


@irdl_op_definition
class FifoStreamOp(SymbolUser):
    """A stream that pushes into a FIFO, or pops from it; its length is what `flow.set_fifo_length` set, if that is not
    0, and else what the other operands say."""

    name = "flow.fifo_stream"
    fifo = prop_def(SymbolRefAttr)
    result = result_def(StreamType)
    traits = traits_def(Pure())
    assembly_format = "$fifo attr-dict `:` type($result)"

    def __init__(self, fifo: SymbolRefAttr, type: Attribute):
        super().__init__(properties={"fifo": fifo}, result_types=[StreamType(type)])

    def verify_symbols(self, scope: Scope) -> None:
        fifo = scope.get(FifoOp, self.fifo)
        held = scope.get(BufferOp, fifo.buffer).element_type
        if element_words(held) != element_words(self.result.type.element_type):
            raise VerifyException(
                f"{described(fifo)} holds {held}, and {self.result.type.element_type} has a different width; use "
                "a type of the same width"
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
        scope.get(FifoOp, self.fifo)


StreamMaker: TypeAlias = StreamOp | CircularStreamOp | QueueStreamOp | FifoStreamOp
"""What makes a stream of something else than a stream."""
