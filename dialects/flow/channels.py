"""Channels between classes of units: bounded FIFOs of numbered entries, kept in order by credits.

The tiles that belong to the entries say where these are; nothing here moves data.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr, SymbolRefAttr, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ...targets import is_chip
from ...targets.chips import CHIPS
from ..assembly import parse_attributes, parse_symbol, print_attributes
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser
from .fabric import FabricOp, UnitsOp


@irdl_op_definition
class ChannelOp(SymbolDefinition, SymbolUser):
    """A bounded FIFO from a class of cores to another, one on each row of the grid.

    ```
    flow.channel @pipe from @cube to @vector depth 8 period 4 lanes 2 seed 0
    ```

    Entries are numbered from 0. A push that reuses a slot waits for a credit: that of number i, if i is at least
    `depth` and a multiple of `period`. A release sends one credit where the number of entries waited for is a multiple
    of `period`. `seed` credits are there from the start. One side is one unit of a row, the other `lanes` of
    them, and each takes part in every entry: an entry is complete when all its producers have committed it, and a
    credit when all its consumers have given it.

    Entries and credits are counted and have no times, so channels join the cores of chips, which have no clocks here.
    PEs of a wafer have; they are joined by `flow.queue` and `flow.fifo`, where elements with time stamps wait.
    """

    NOUN: ClassVar = "a channel"

    name = "flow.channel"
    producer = prop_def(SymbolRefAttr)
    consumer = prop_def(SymbolRefAttr)
    depth = prop_def(IntegerAttr)
    period = prop_def(IntegerAttr)
    lanes = prop_def(IntegerAttr)
    seed = prop_def(IntegerAttr)
    traits = traits_def(HasParent(FabricOp))

    def __init__(
        self, name: str, producer: str, consumer: str, *, depth: int, period: int = 1, lanes: int = 1, seed: int = 0
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "producer": SymbolRefAttr(producer),
                "consumer": SymbolRefAttr(consumer),
                "depth": IntegerAttr(depth, i64),
                "period": IntegerAttr(period, i64),
                "lanes": IntegerAttr(lanes, i64),
                "seed": IntegerAttr(seed, i64),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> ChannelOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("from")
        producer = parse_symbol(parser).string_value()
        parser.parse_keyword("to")
        consumer = parse_symbol(parser).string_value()
        numbers: dict[str, int] = {}
        for keyword in ("depth", "period", "lanes", "seed"):
            parser.parse_keyword(keyword)
            numbers[keyword] = parser.parse_integer(allow_boolean=False)
        op = cls(name, producer, consumer, **numbers)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" from ")
        printer.print_attribute(self.producer)
        printer.print_string(" to ")
        printer.print_attribute(self.consumer)
        for name in ("depth", "period", "lanes", "seed"):
            number = self.properties[name]
            assert isinstance(number, IntegerAttr)
            printer.print_string(f" {name} {number.value.data}")
        print_attributes(printer, self)

    def verify_(self) -> None:
        name = self.sym_name.data
        if min(self.depth.value.data, self.period.value.data, self.lanes.value.data) < 1 or self.seed.value.data < 0:
            raise VerifyException(f"channel @{name} needs depth, period and lanes of 1 or more, and no negative seed")
        if self.producer == self.consumer:
            raise VerifyException(f"channel @{name} leads from {self.producer} to itself; name two classes of units")

    def verify_symbols(self, scope: Scope) -> None:
        if not is_chip(scope.target.name):
            raise VerifyException(
                f"channel @{self.sym_name.data} joins units of {scope.target.name}, which have clocks, but its "
                f"entries have no times; use queues and FIFOs there, or a target of {' or '.join(CHIPS)}"
            )
        for symbol in (self.producer, self.consumer):
            scope.get(UnitsOp, symbol)


class _ChannelUser(SymbolUser):
    """Names a channel of the fabric."""

    channel = prop_def(SymbolRefAttr)

    def verify_symbols(self, scope: Scope) -> None:
        scope.get(ChannelOp, self.channel)


@irdl_op_definition
class AcquireOp(_ChannelUser):
    """Waits for a free slot where the channel requires it, and returns the number of the producer's next entry."""

    name = "flow.acquire"
    result = result_def(IntegerType(64))
    assembly_format = "$channel attr-dict `:` type($result)"

    def __init__(self, channel: str):
        super().__init__(properties={"channel": SymbolRefAttr(channel)}, result_types=[i64])


@irdl_op_definition
class CommitOp(_ChannelUser):
    """Completes the producer's oldest entry that is not committed yet: the consumer may read it."""

    name = "flow.commit"
    assembly_format = "$channel attr-dict"

    def __init__(self, channel: str):
        super().__init__(properties={"channel": SymbolRefAttr(channel)})


@irdl_op_definition
class WaitOp(_ChannelUser):
    """Waits until the consumer's next entry is complete, and returns its number."""

    name = "flow.wait"
    result = result_def(IntegerType(64))
    assembly_format = "$channel attr-dict `:` type($result)"

    def __init__(self, channel: str):
        super().__init__(properties={"channel": SymbolRefAttr(channel)}, result_types=[i64])


@irdl_op_definition
class ReleaseOp(_ChannelUser):
    """Releases the consumer's oldest entry that is not released yet; sends a credit where the channel requires it."""

    name = "flow.release"
    assembly_format = "$channel attr-dict"

    def __init__(self, channel: str):
        super().__init__(properties={"channel": SymbolRefAttr(channel)})


@irdl_op_definition
class DrainOp(_ChannelUser):
    """Waits, at the producer's end, for the credits still to come, so that none are left for the next launch."""

    name = "flow.drain"
    assembly_format = "$channel attr-dict"

    def __init__(self, channel: str):
        super().__init__(properties={"channel": SymbolRefAttr(channel)})


@irdl_op_definition
class RestOp(SymbolUser):
    """Lets the other cores of the chip go on until they have done something, unless a condition holds.

    It is in the part of a loop that computes the condition from shared memory. Numbers tell what it compares, a label
    the flag that has been set, and waited for, so often.
    """

    name = "flow.rest_unless"
    condition = operand_def(i1)
    found = operand_def(i64)
    wanted = operand_def(i64)
    label = opt_prop_def(StringAttr)
    assembly_format = "$condition `,` $found `,` $wanted (`for` $label^)? attr-dict"

    def __init__(self, condition: SSAValue, found: SSAValue, wanted: SSAValue, label: str | None = None):
        properties: dict[str, Attribute] = {} if label is None else {"label": StringAttr(label)}
        super().__init__(operands=[condition, found, wanted], properties=properties)

    def verify_symbols(self, scope: Scope) -> None:
        if not is_chip(scope.target.name):
            raise VerifyException(
                f"flow.rest_unless waits for other cores of a chip, and units of {scope.target.name} share no memory; "
                f"use queues there, or a target of {' or '.join(CHIPS)}"
            )
