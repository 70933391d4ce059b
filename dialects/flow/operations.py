"""Operations on streams: table operations, and registers that keep streams, from the start on if wanted.

What an entry of the table does is in `dsd_table`; nothing here knows how long it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i1, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ...operations.dsd_table import OPERATIONS, DsdOperation, Element, Format
from ...targets import Target
from ..assembly import parse_attributes, parse_members, print_attributes, print_body
from ..building import build, string
from ..inheritance import ByInheritance
from ..machine.elements import ELEMENT_TYPES
from ..machine.formats import known_format, parse_format, print_format
from ..machine.symbols import Scope, SymbolUser
from ..traits import VerifiedByKind
from .asynchronous import AsynchronousOp
from .fabric import UnitsOp
from .fields import counted
from .origins import name_of
from .scope import scope_of_units
from .types import StreamType, element_type_of, element_words


@irdl_op_definition
class InitialOp(IRDLOperation, metaclass=ByInheritance):
    """Loads of registers before the program starts (DSR-039), and their streams."""

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
                raise VerifyException(
                    f"{op.name} has side effects, which flow.initial does not allow; put it into a flow.func"
                )


REGISTER_FILES = ("dest", "src0", "src1")


def _verify_register(file: str, number: int, target: Target) -> None:
    size = {"dest": target.dsr_dest, "src0": target.dsr_src0, "src1": target.dsr_src1}.get(file)
    if size is None:
        raise VerifyException(f"'{file}' is not a register file; the files are {', '.join(REGISTER_FILES)}")
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
        for origin, owner in scope_of_units(scope).origins(self.stream).items():
            made_by = name_of(origin, owner)
            if self.is_async and origin in ("vector", "array", "ring", "fifo"):
                raise VerifyException(f"async is for streams of queues (DSR-036), not for {made_by}; remove it")
            if self.save_address is not None and origin not in ("vector", "array", "ring"):
                raise VerifyException(f"save_address is for walks over memory (DSR-037), not for {made_by}; remove it")


@irdl_op_definition
class RegisterOp(SymbolUser):
    """Reads the stream that a register holds, for `flow.apply`; `fifo` says that it is a FIFO (DSR-012).

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
            parser.raise_error("flow.register makes a value of type !flow.stream", position)
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
                    f"{use.operation.name} uses the content of a register, which only flow.apply can; pass "
                    "it the stream"
                )

    def verify_symbols(self, scope: Scope) -> None:
        _verify_register(self.file.data, self.number.value.data, scope.target)


@irdl_op_definition
class ApplyOp(AsynchronousOp):
    """Repeats a table operation over streams.

    `operands` are the destination and the sources of the entry, in its order; a source may be a scalar where the
    table allows it. The operation runs as many times as its shortest stream is long (AMB-01), element after
    element, so that a source sees what earlier iterations wrote. With `async` it runs on a microthread and the
    task goes on; `activate` or `unblock` then names the task that its completion activates or unblocks. With
    `on_control` a control wavelet ends it early: that wavelet is consumed and not stored, and `terminate`, `activate`
    or `unblock` says what happens then. Without `async` it is asynchronous all the same if a register among its
    operands was loaded so.

    Streams hold elements of the entry's width, scalars are of its type; moves and bitwise operations take any scalar
    of the width. `fp16` is the format of its 16-bit floats, absent for f16; scalars of format cb16 are i16 with their
    bits. The result, if there is one, is false where the operation found a FIFO empty or full and stopped. A mov32 with
    `drops_data` drops the data wavelets of its source, counts control wavelets as its elements, and stores nothing.
    """

    name = "flow.apply"
    operation = prop_def(StringAttr)
    fp16 = opt_prop_def(StringAttr)
    drops_data = opt_prop_def(UnitAttr)
    destination = operand_def(StreamType)
    sources = var_operand_def()
    result = opt_result_def(i1)
    traits = traits_def(VerifiedByKind())

    def __init__(
        self,
        operation: str,
        destination: SSAValue,
        sources: Sequence[SSAValue],
        settings: Mapping[str, Attribute | None] | None = None,
        *,
        with_result: bool = False,
        fp16: StringAttr | None = None,
        drops_data: bool = False,
    ):
        build(
            self,
            [destination, *sources],
            [i1] if with_result else [],
            {
                "operation": string(operation),
                "fp16": fp16,
                "drops_data": UnitAttr() if drops_data else None,
                **(settings or {}),
            },
        )

    @property
    def entry(self) -> DsdOperation:
        """The table entry of the operation, with operands of its format of 16-bit floats."""
        return OPERATIONS[self.operation.data].in_format(self.format)

    @property
    def format(self) -> Format | None:
        """The format of 16-bit floats, if it is not f16. Raises VerifyException for one that does not exist."""
        return None if self.fp16 is None else known_format(self.fp16.data, OPERATIONS[self.operation.data])

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        operation = parser.parse_identifier()
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        settings = cls.parse_settings(parser)
        fp16 = parse_format(parser)
        drops_data = parser.parse_optional_keyword("drops_data") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) != len(operands):
            parser.raise_error(
                f"flow.apply has {counted(len(operands), 'operand')}, but types for {len(types)}", position
            )
        values = parser.resolve_operands(operands, types, parser.pos)
        with_result = parser.parse_optional_punctuation("->") is not None
        if with_result:
            position = parser.pos
            if parser.parse_type() != i1:
                parser.raise_error("the result of flow.apply is an i1", position)
        op = cls(operation, values[0], values[1:], settings, with_result=with_result, fp16=fp16, drops_data=drops_data)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.operation.data} ")
        printer.print_list(self.operands, printer.print_operand)
        self.print_settings(printer)
        print_format(printer, self.fp16)
        if self.drops_data is not None:
            printer.print_string(" drops_data")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)
        if self.result is not None:
            printer.print_string(" -> i1")

    def verify_(self) -> None:
        if self.operation.data not in OPERATIONS:
            raise VerifyException(f"'{self.operation.data}' is not an operation of the DSD table; correct the name")
        entry = self.entry
        if len(self.sources) != len(entry.sources):
            raise VerifyException(
                f"{entry.name} takes {counted(len(entry.sources), 'source')}, not {len(self.sources)}; correct the "
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
        if self.drops_data is not None and (
            self.operation.data != "mov32" or self.result is not None or self.on_control is not None
        ):
            raise VerifyException(
                f"{self.operation.data} drops data wavelets; only a mov32 without result and on_control can"
            )
        self.verify_settings()

    def _verify_stream(self, noun: str, stream: SSAValue, needed: Element) -> None:
        """Check the width of a stream: an operation sees the bits of its streams as its own type."""
        type = element_type_of(stream)
        if element_words(type) != (1 if needed in ("f16", "bf16", "i16") else 2):
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
        """Check that wavelets go out by the destination and come in by the sources (DSD-102)."""
        name = self.entry.name
        units = scope_of_units(scope)
        destination = units.origins(self.destination)
        if (owner := destination.get("received")) is not None:
            raise VerifyException(
                f"the destination of {name} may be {name_of('received', owner)}, which sends nothing; name an output "
                "queue"
            )
        for stream in self.operands:
            made_by = units.origins(stream).get("fifo") if isinstance(stream.type, StreamType) else None
            if made_by is not None and made_by is not stream.owner:
                raise VerifyException(
                    f"{name} may work on {name_of('fifo', made_by)} or on something else; name the FIFO (DSD-122)"
                )
        received = 0
        for position, source in enumerate(self.sources):
            origins = units.origins(source)
            if (owner := origins.get("sent")) is not None:
                raise VerifyException(
                    f"source {position + 1} of {name} may be {name_of('sent', owner)}, which receives nothing; name "
                    "an input queue"
                )
            received += "received" in origins
        if received > scope.target.max_fabric_inputs:
            raise VerifyException(
                f"{name} may have {counted(received, 'fabric input')}, but {scope.target.name} takes "
                f"{scope.target.max_fabric_inputs}; receive one of them into memory first"
            )
        streams = self.operands
        known = not any(isinstance(stream.owner, RegisterOp) for stream in streams)
        if self.is_async and known and not received and "sent" not in destination and destination:
            raise VerifyException(
                f"{name} is asynchronous but moves no wavelets (DSD-183); remove async, or use a queue"
            )
