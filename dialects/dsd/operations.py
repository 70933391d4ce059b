"""The DSD operations: what all have in common, on descriptors and on registers.

Nothing here knows one operation, for which `builtins` has a class, or registers: `dsr` builds its operations on the
same class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import MemRefType, StringAttr, UnitAttr, bf16, f16, f32, i1, i16, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Resource
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ...operations import dsd_table
from ...targets.model import Target
from ..building import build
from ..machine.formats import known_format, parse_format, print_format
from ..traits import VerifiedByDescriptors
from ..wse import ELEMENT_TYPES, Scope, SymbolUser, TaskStates
from .attributes import AsyncAttr, ZeroedSource
from .derived import defining_op
from .fabric import FabinOp, FaboutOp
from .fifo import FifoOp
from .memory import Mem1dOp, Mem4dOp, TensorAccessOp
from .types import (
    CircbufType,
    DescriptorType,
    FabinType,
    FaboutType,
    FabricDescriptorType,
    FifoType,
    Mem1dType,
    Mem4dType,
)

DFILT = "dfilt"
"""The builtin that drops data wavelets up to a number of control wavelets."""

_ELEMENTS: Mapping[dsd_table.Element, Attribute] = {"f16": f16, "bf16": bf16, "f32": f32, "i16": i16, "i32": i32}


def resolve_all(
    parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute], position: int
) -> Sequence[SSAValue]:
    """Give each operand its type; an error at `position` if there are more of one than of the other."""
    if len(operands) != len(types):
        parser.raise_error(f"{len(operands)} operands have {len(types)} types; give one for each", position)
    return parser.resolve_operands(operands, types, position)


class Queues(Resource):
    """The PE's input and output queues; the effect's value is the fabric operand."""

    def name(self) -> str:
        return "<Queues>"


class DsdOperationEffects(MemoryEffect):
    """What a DSD operation touches: memory, queues, task states, and whatever its level adds.

    An asynchronous operation touches them until it completes, not only where it is issued.
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
    (DSD-131), and true otherwise (AMB-18). `fp16` is the format of its 16-bit floats, absent for f16; numbers of format
    cb16 are i16 with their bits. With `drops_data` it is `@dfilt`: data wavelets of its source are dropped, control
    wavelets are its elements, and nothing is stored. Passes match on this class and ask `definition`, never on one
    operation's class.
    """

    destination = operand_def()
    sources = var_operand_def()
    index = opt_operand_def(i16)
    asynchronous = opt_prop_def(AsyncAttr, prop_name="async")
    fp16 = opt_prop_def(StringAttr)
    drops_data = opt_prop_def(UnitAttr)
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
        fp16: StringAttr | None = None,
        drops_data: bool = False,
    ):
        build(
            self,
            [destination, *sources] if index is None else [destination, *sources, index],
            [i1] if with_result else [],
            {"async": asynchronous, "fp16": fp16, "drops_data": UnitAttr() if drops_data else None},
            (1, len(sources), int(index is not None)),
        )

    @classmethod
    def table_row(cls) -> dsd_table.DsdOperation:
        """Return the operation's row in the table."""
        return dsd_table.OPERATIONS[cls.name.partition(".")[2]]

    @property
    def definition(self) -> dsd_table.DsdOperation:
        """The operation's row in the table, with operands of its format of 16-bit floats.

        Raises VerifyException for a format that does not exist.
        """
        row = self.table_row()
        return row if self.fp16 is None else row.in_format(known_format(self.fp16.data, row))

    @property
    def shown_name(self) -> str:
        """The name of its builtin in CSL."""
        return self.definition.name if self.drops_data is None else DFILT

    @property
    def table_operands(self) -> tuple[SSAValue, ...]:
        """Destination and sources, of an operation with the sources it needs: found faster than one by one."""
        return tuple(self.operands)[: 1 + len(self.definition.sources)]

    @property
    def settings(self) -> AsyncAttr | None:
        """How the operation runs on a microthread; None if it is synchronous."""
        return self.asynchronous

    @property
    def is_async(self) -> bool:
        """True if the operation runs on a microthread of its own (DSD-180, DSD-181)."""
        return self.settings is not None

    @property
    def fabric_operands(self) -> tuple[SSAValue, ...]:
        """The operands that are runs of wavelets, destination first."""
        return tuple(
            operand
            for operand in self.table_operands
            if isinstance(self.descriptor_type_of(operand), FabricDescriptorType)
        )

    @property
    def fabric_inputs(self) -> tuple[SSAValue, ...]:
        """The sources that are arriving wavelets."""
        return tuple(s for s in self.table_operands[1:] if isinstance(self.descriptor_type_of(s), FabinType))

    @abstractmethod
    def descriptor_of(self, operand: SSAValue) -> SSAValue | None:
        """Return the descriptor `operand` is or holds; None if it is a scalar or not known here."""

    def descriptor_type_of(self, operand: SSAValue) -> DescriptorType | None:
        """Return the type of the descriptor `operand` is or holds, if known."""
        descriptor = self.descriptor_of(operand)
        return None if descriptor is None else cast(DescriptorType, descriptor.type)

    @abstractmethod
    def verify_operand(self, operand: SSAValue, source: int | None) -> None:
        """Check an operand that is not a scalar; `source` is its position, None for the destination."""

    def effects(self) -> set[EffectInstance]:
        """Return the memory effects of the operation; see `DsdOperationEffects`."""
        read, write = MemoryEffectKind.READ, MemoryEffectKind.WRITE
        # Sending and receiving both change what a queue holds.
        found = {EffectInstance(kind, operand, Queues()) for operand in self.fabric_operands for kind in (read, write)}
        if self.destination not in self.fabric_operands and self.drops_data is None:
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
        fp16 = parse_format(parser)
        drops_data = parser.parse_optional_keyword("drops_data") is not None
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
        op = cls(
            destination, sources, index=index, asynchronous=asynchronous, with_result=with_result, fp16=fp16,
            drops_data=drops_data,
        )  # fmt: skip
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
        print_format(printer, self.fp16)
        if self.drops_data is not None:
            printer.print_string(" drops_data")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(operands, lambda operand: printer.print_attribute(operand.type))
        if self.result is not None:
            printer.print_string(" -> i1")

    def verify_(self) -> None:
        self.verify_use()

    def verify_use(self) -> None:
        """Check operands and settings: all that `verify_` does, but for what the definition in IRDL says."""
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
        if self.drops_data is not None:
            self._verify_drops_data()

    def _verify_drops_data(self) -> None:
        is_control = self.settings is not None and self.settings.control is not None
        if self.definition.name != "mov32" or self.index is not None or self.result is not None or is_control:
            raise VerifyException(
                f"{self.definition.name} drops data wavelets; only a mov32 without index, result and on_control can"
            )
        (source,) = self.sources
        type = self.descriptor_type_of(source)
        if source.type in ELEMENT_TYPES or (type is not None and not isinstance(type, FabinType)):
            raise VerifyException("the source of an operation that drops data wavelets is not a fabin; name one")

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
                    "index; give it one, in CSL with '.index', in IR with index(...)"
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

    def verify_target(self, target: Target) -> None:
        """Check what a machine can do."""
        if len(self.fabric_inputs) > target.max_fabric_inputs:
            raise VerifyException(
                f"{self.definition.name} has {len(self.fabric_inputs)} fabric inputs, but {target.name} takes "
                f"{target.max_fabric_inputs}; receive one of them into memory first"
            )

    def verify_symbols(self, scope: Scope) -> None:
        self.verify_target(scope.target)
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

    traits = traits_def(VerifiedByDescriptors())

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

    def verify_use(self) -> None:
        super().verify_use()
        row = self.definition
        if self.is_async and not self.fabric_operands:
            raise VerifyException(
                f"{self.shown_name} is async but moves no wavelets; only operations with a fabric operand can be"
            )
        fifos = [n for n, source in enumerate(self.sources) if isinstance(source.type, FifoType)]
        if len(row.sources) > 1 and fifos:
            if len(fifos) > 1:
                raise VerifyException(f"{row.name} reads two FIFOs; at most one source can be a FIFO")
            if fifos == [0]:
                raise VerifyException(
                    f"the first source of {row.name} is a FIFO; swap the sources or copy the FIFO first"
                )

    def verify_symbols(self, scope: Scope) -> None:
        super().verify_symbols(scope)
        for operand in self.table_operands:
            if isinstance(operand.type, FifoType) and not isinstance(operand.owner, FifoOp):
                raise VerifyException(
                    f"which FIFO {self.definition.name} works on must be known at compile time; name it with "
                    "dsd.fifo (DSD-122)"
                )


_OperationT = TypeVar("_OperationT", bound=DsdOperation)


def dsd_operation(operation: type[_OperationT]) -> type[_OperationT]:
    """Define an operation of the table, as `irdl_op_definition` does; its docstring says what its row says."""
    row = operation.table_row()
    operation.__doc__ = f"`@{row.name}`: {row.summary}."
    return irdl_op_definition(operation)
