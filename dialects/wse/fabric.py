"""The fabric of a program: colors, their routes, and the streams between PEs and host.

Nothing here knows what a PE does with a wavelet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent

from ..assembly import parse_attributes, print_attributes
from ..machine.filters import (
    FilterAttr,
    Swap,
    filter_text,
    parse_filter,
    parse_swap,
    swap_text,
    verify_counts,
    verify_filter,
    verify_swap,
)
from ..machine.region import RegionAttr, Regions, parse_region_list, print_region_list, regions_attribute
from ..machine.rules import verify_ports, verify_stream_way
from ..machine.switches import SwitchAttr, parse_switch, switch_text, verify_switch, verify_switch_on
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser
from .attributes import EVERYWHERE, Direction, DirectionAttr, StreamWay
from .program import ProgramOp


def _parse_directions(parser: Parser) -> ArrayAttr[DirectionAttr]:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: DirectionAttr(parser.parse_str_enum(Direction))
        )
    )


def _print_directions(printer: Printer, directions: ArrayAttr[DirectionAttr]) -> None:
    with printer.in_square_brackets():
        printer.print_list(directions, lambda direction: printer.print_string(direction.data))


@irdl_op_definition
class ColorOp(SymbolDefinition):
    """A color: a virtual channel of the fabric.

    ```
    wse.color @east0
    wse.color @east1 = 3
    wse.color @turns = 4 changes
    ```

    Without an id, lowering chooses one of the target's routable colors. The routes of one that `changes` may be written
    by programs while they run.
    """

    NOUN: ClassVar = "a color"

    name = "wse.color"
    id = opt_prop_def(IntegerAttr)
    changes = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(ProgramOp))

    def __init__(
        self,
        name: str,
        id: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        *,
        changes: bool = False,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "id": None if id is None else IntegerAttr(id, i64),
                "changes": UnitAttr() if changes else None,
            },
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> ColorOp:
        name = parser.parse_symbol_name().data
        number = None
        if parser.parse_optional_punctuation("=") is not None:
            number = parser.parse_integer(allow_boolean=False)
        changes = parser.parse_optional_keyword("changes") is not None
        return cls(name, number, parse_attributes(parser), changes=changes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.id is not None:
            printer.print_string(f" = {self.id.value.data}")
        if self.changes is not None:
            printer.print_string(" changes")
        print_attributes(printer, self)


@irdl_op_definition
class RouteOp(SymbolUser):
    """The route of one color in the routers of a region, from some ports to others, until control wavelets switch it.

    ```
    wse.route @east0 on [::2, :] from [ramp] to [east]
    wse.route @down on [1, 1:] + [3, 1:] from [north] to [ramp, south]
    wse.route @turn on [1, 1] from [ramp] to [north] switch [to [west], to [east], to [south]] at 1 ring
    wse.route @line on [1:, 0] from [west] to [east] switch [from [ramp] to [ramp], invalid] always_pop
    wse.route @sum on [:, 0] from [west] to [east] teardown
    ```

    A `switch` lists up to three more positions, each of which changes where the color comes from (one port) or where
    it goes, and leaves the other as the position before has it; the switch is never at an `invalid` one. A control
    wavelet moves the switch after it has passed: on to the next position if that is valid, else back to the route
    itself (position 0) if the switch is a `ring`, and else not at all. `at` is the position at the start. The pop
    mode says when the router takes the first command off a passing control wavelet, so that the next router obeys the
    next one: never, `always_pop`, `pop_on_advance` (if the command has moved the switch on), or `pop_on_advance_nop`
    (that, or if it is not a command). Where the ports to go to are `[]`, wavelets end.

    With `teardown` the color starts in a teardown phase: its routers pass nothing on until the program of their PE
    ends it.

    ```
    wse.route @red on [1:, 0] from [west] to [ramp, east] swap [x]
    wse.route @all on [1:4, 0] from [west] to [ramp] filter range id 0 min_idx [0, 3, 6] max_idx [2, 5, 8]
    wse.route @some on [1:, 0] from [west] to [ramp] filter counter id 0 limit1 5 max_counter 4 count_data
    ```

    With `swap` the router takes from its ports on an axis what comes there on the color whose id differs in the lowest
    bit; on both axes, also from its ramp. A `filter` lets some of the wavelets that go down the ramp pass; its numbers
    are those of `@set_color_config`, one for all PEs of the route or one for each, by rows.
    """

    name = "wse.route"
    color = prop_def(SymbolRefAttr)
    placement = prop_def(ArrayAttr[RegionAttr])
    inputs = prop_def(ArrayAttr[DirectionAttr])
    outputs = prop_def(ArrayAttr[DirectionAttr])
    switch = opt_prop_def(SwitchAttr)
    teardown = opt_prop_def(UnitAttr)
    swap = opt_prop_def(Swap)
    filter = opt_prop_def(FilterAttr)
    traits = traits_def(HasParent(ProgramOp))

    def __init__(
        self,
        color: str,
        placement: Regions,
        inputs: Sequence[Direction],
        outputs: Sequence[Direction],
        switch: SwitchAttr | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        *,
        teardown: bool = False,
        swap: Swap | None = None,
        filter: FilterAttr | None = None,
    ):
        super().__init__(
            properties={
                "color": SymbolRefAttr(color),
                "placement": regions_attribute(placement),
                "inputs": ArrayAttr(DirectionAttr(port) for port in inputs),
                "outputs": ArrayAttr(DirectionAttr(port) for port in outputs),
                "switch": switch,
                "teardown": UnitAttr() if teardown else None,
                "swap": swap,
                "filter": filter,
            },
            attributes=attributes or {},
        )

    @property
    def input_ports(self) -> tuple[Direction, ...]:
        """The ports the color comes in by."""
        return tuple(port.data for port in self.inputs)

    @property
    def output_ports(self) -> tuple[Direction, ...]:
        """The ports the color goes out by; more than one is a multicast."""
        return tuple(port.data for port in self.outputs)

    @classmethod
    def parse(cls, parser: Parser) -> RouteOp:
        color = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        placement = parse_region_list(parser)
        parser.parse_keyword("from")
        inputs = _parse_directions(parser)
        parser.parse_keyword("to")
        outputs = _parse_directions(parser)
        swap = parse_swap(parser) if parser.parse_optional_keyword("swap") is not None else None
        switch = parse_switch(parser) if parser.parse_optional_keyword("switch") is not None else None
        teardown = parser.parse_optional_keyword("teardown") is not None
        filter = parse_filter(parser) if parser.parse_optional_keyword("filter") is not None else None
        return cls(
            color,
            placement,
            [port.data for port in inputs],
            [port.data for port in outputs],
            switch,
            parse_attributes(parser),
            teardown=teardown,
            swap=swap,
            filter=filter,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(" on ")
        print_region_list(printer, self.placement)
        printer.print_string(" from ")
        _print_directions(printer, self.inputs)
        printer.print_string(" to ")
        _print_directions(printer, self.outputs)
        if self.swap is not None:
            printer.print_string(f" swap {swap_text(self.swap)}")
        if self.switch is not None:
            printer.print_string(f" switch {switch_text(self.switch)}")
        if self.teardown is not None:
            printer.print_string(" teardown")
        if self.filter is not None:
            printer.print_string(f" filter {filter_text(self.filter)}")
        print_attributes(printer, self)

    def verify_(self) -> None:
        if self.switch is None:
            verify_ports(self.input_ports, self.output_ports)
        else:
            verify_switch(self.input_ports, self.output_ports, self.switch)
        if self.filter is not None:
            verify_filter(self.filter)

    def verify_symbols(self, scope: Scope) -> None:
        color = scope.get(ColorOp, self.color)
        number = None if color.id is None else color.id.value.data
        if self.switch is not None:
            verify_switch_on(scope.target, self.switch, color.sym_name.data, number)
        if self.swap is not None:
            verify_swap(self.swap, color.sym_name.data, number, scope.target)
        if self.filter is not None:
            verify_filter(self.filter, scope.target)
            verify_counts(self.filter, self.placement, scope.grid)


@irdl_op_definition
class HostStreamOp(SymbolUser):
    """Connects a color with the host on the PEs of a region, by default on all.

    ```
    wse.host_stream @input in
    wse.host_stream @result out on [-1, :]
    ```

    `in`: what the host sends arrives in the PE's input queue of the color. `out`: what the PE sends on the color goes
    to the host, unless the program has a route for the color there. The routes between host and PE are implied.
    """

    name = "wse.host_stream"
    color = prop_def(SymbolRefAttr)
    way = prop_def(StringAttr)
    placement = prop_def(ArrayAttr[RegionAttr])
    traits = traits_def(HasParent(ProgramOp))

    def __init__(
        self,
        color: str,
        way: StreamWay,
        placement: Regions = EVERYWHERE,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "color": SymbolRefAttr(color),
                "way": StringAttr(way.value),
                "placement": regions_attribute(placement),
            },
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> HostStreamOp:
        color = parser.parse_symbol_name().data
        way = parser.parse_str_enum(StreamWay)
        placement = EVERYWHERE
        if parser.parse_optional_keyword("on") is not None:
            placement = parse_region_list(parser)
        return cls(color, way, placement, parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(f" {self.way.data}")
        if self.placement != EVERYWHERE:
            printer.print_string(" on ")
            print_region_list(printer, self.placement)
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_stream_way(self.way.data)

    def verify_symbols(self, scope: Scope) -> None:
        scope.get(ColorOp, self.color)


@irdl_op_definition
class MessageNetworkOp(SymbolUser):
    """Makes a color the network of `<message_passing>`, on all routers of the rectangle, instead of routes.

    ```
    wse.message_network @comm
    ```

    A message is a run of wavelets that ends with a control wavelet. Its first wavelet has the receiver's column in its
    low half and its row in the high half, and goes no further than the receiver's router; the rest arrives in the
    receiver's input queue of the color. A message goes east or west first, then north or south, and holds each link
    until its last wavelet has passed.
    """

    name = "wse.message_network"
    color = prop_def(SymbolRefAttr)
    traits = traits_def(HasParent(ProgramOp))

    def __init__(self, color: str, attributes: Mapping[str, Attribute] | None = None):
        super().__init__(properties={"color": SymbolRefAttr(color)}, attributes=attributes or {})

    @classmethod
    def parse(cls, parser: Parser) -> MessageNetworkOp:
        return cls(parser.parse_symbol_name().data, parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        scope.get(ColorOp, self.color)
