"""The fabric, its colors and routes, and the classes of units on it.

What their members must fulfil together is in `verification`, since the members name these operations as their parents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Block, Region
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ...targets import fabrics
from ...targets.wavelets import PORTS
from ..assembly import (
    parse_attributes,
    parse_main_thread,
    parse_members,
    parse_symbol,
    print_attributes,
    print_body,
    print_main_thread,
    verify_main_thread,
)
from ..machine.configuration import configuration_of
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
from ..machine.region import RegionAttr, parse_region_list, print_region_list
from ..machine.rules import verify_ports, verify_stream_way
from ..machine.switches import SwitchAttr, parse_switch, switch_text, verify_switch, verify_switch_on
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser, verify_members

DIRECTIONS = PORTS
"""Router ports; `ramp` leads to the unit's own queues. y grows south, x grows east."""


@irdl_op_definition
class FabricOp(SymbolDefinition):
    """A grid of units, `width` columns by `height` rows, and the routes between them."""

    NOUN: ClassVar = "a fabric"

    name = "flow.fabric"
    target = prop_def(StringAttr)
    width = prop_def(IntegerAttr)
    height = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolTable(), NoTerminator(), IsolatedFromAbove())

    def __init__(self, name: str, target: str, width: int, height: int, body: Region | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "target": StringAttr(target),
                "width": IntegerAttr(width, i64),
                "height": IntegerAttr(height, i64),
            },
            regions=[body or Region(Block())],
        )

    @classmethod
    def parse(cls, parser: Parser) -> FabricOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("target")
        target = parser.parse_str_literal()
        parser.parse_keyword("grid")
        width = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("by")
        height = parser.parse_integer(allow_boolean=False)
        attributes = parse_attributes(parser)
        op = cls(name, target, width, height, parse_members(parser))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f' target "{self.target.data}" grid ')
        printer.print_string(f"{self.width.value.data} by {self.height.value.data}")
        print_attributes(printer, self)
        print_body(printer, self.body)

    @property
    def grid(self) -> tuple[int, int]:
        """Columns and rows."""
        return self.width.value.data, self.height.value.data

    def verify_(self) -> None:
        if min(self.grid) < 1:
            raise VerifyException("the grid of a flow.fabric needs at least one column and one row")
        if self.target.data not in fabrics():
            raise VerifyException(f"unknown target '{self.target.data}'; choose one of {', '.join(sorted(fabrics()))}")
        verify_members(self)


@irdl_op_definition
class ColorOp(SymbolDefinition):
    """Names a routable color, whose routes programs may write while they run if it `changes`."""

    NOUN: ClassVar = "a color"

    name = "flow.color"
    color = prop_def(IntegerAttr)
    changes = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(FabricOp))

    def __init__(self, name: str, color: int, *, changes: bool = False):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "color": IntegerAttr(color, i64),
                "changes": UnitAttr() if changes else None,
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> ColorOp:
        name = parser.parse_symbol_name().data
        parser.parse_punctuation("=")
        number = parser.parse_integer(allow_boolean=False)
        op = cls(name, number, changes=parser.parse_optional_keyword("changes") is not None)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" = {self.color.value.data}")
        if self.changes is not None:
            printer.print_string(" changes")
        print_attributes(printer, self)


def color_named(symbol: SymbolRefAttr, scope: Scope) -> ColorOp:
    """Return the color called `symbol`, also where units use the name for something of their own."""
    found = scope.shared.get(symbol.string_value())
    return found if isinstance(found, ColorOp) else scope.get(ColorOp, symbol)


@irdl_op_definition
class RouteOp(SymbolUser):
    """Sets the router of every unit of a region for one color: wavelets from any port of `from` leave by every
    port of `to`. Where two routes of a color meet, the later one holds. A `switch` gives the route further positions,
    as in `wse.route`, which also says what `swap` and `filter` are: where any route of a color has one of these, its
    wavelets go from router to router. With `teardown` the color starts in a teardown phase."""

    name = "flow.route"
    color = prop_def(SymbolRefAttr)
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    receive = prop_def(ArrayAttr[StringAttr])
    transmit = prop_def(ArrayAttr[StringAttr])
    switch = opt_prop_def(SwitchAttr)
    teardown = opt_prop_def(UnitAttr)
    swap = opt_prop_def(Swap)
    filter = opt_prop_def(FilterAttr)
    traits = traits_def(HasParent(FabricOp))

    def __init__(
        self,
        color: str | SymbolRefAttr,
        regions: Sequence[RegionAttr],
        receive: Sequence[str],
        transmit: Sequence[str],
        switch: SwitchAttr | None = None,
        *,
        teardown: bool = False,
        swap: Swap | None = None,
        filter: FilterAttr | None = None,
    ):
        super().__init__(
            properties={
                "color": SymbolRefAttr(color) if isinstance(color, str) else color,
                "regions": ArrayAttr(regions),
                "switch": switch,
                "teardown": UnitAttr() if teardown else None,
                "swap": swap,
                "filter": filter,
                "receive": ArrayAttr([StringAttr(port) for port in receive]),
                "transmit": ArrayAttr([StringAttr(port) for port in transmit]),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> RouteOp:
        color = parse_symbol(parser)
        parser.parse_keyword("on")
        regions = parse_region_list(parser)

        def ports(keyword: str) -> list[str]:
            parser.parse_keyword(keyword)
            return parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_keyword_in(DIRECTIONS)
            )

        receive, transmit = ports("from"), ports("to")
        swap = parse_swap(parser) if parser.parse_optional_keyword("swap") is not None else None
        switch = parse_switch(parser) if parser.parse_optional_keyword("switch") is not None else None
        teardown = parser.parse_optional_keyword("teardown") is not None
        filter = parse_filter(parser) if parser.parse_optional_keyword("filter") is not None else None
        op = cls(color, regions.data, receive, transmit, switch, teardown=teardown, swap=swap, filter=filter)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(" on ")
        print_region_list(printer, self.regions_attr)
        for keyword, ports in (("from", self.receive), ("to", self.transmit)):
            printer.print_string(f" {keyword} [{', '.join(port.data for port in ports)}]")
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
        receive, transmit = ([port.data for port in ports] for ports in (self.receive, self.transmit))
        for port in (*receive, *transmit):
            if port not in DIRECTIONS:
                raise VerifyException(f"'{port}' is not a router port; the ports are {', '.join(DIRECTIONS)}")
        if self.switch is None:
            verify_ports(receive, transmit)
        else:
            verify_switch(receive, transmit, self.switch)
        if self.filter is not None:
            verify_filter(self.filter)

    def verify_symbols(self, scope: Scope) -> None:
        color = color_named(self.color, scope)
        if self.swap is not None:
            verify_swap(self.swap, color.sym_name.data, color.color.value.data, scope.target)
        if self.filter is not None:
            verify_filter(self.filter, scope.target)
            verify_counts(self.filter, self.regions_attr, scope.grid)
        if self.switch is not None:
            verify_switch_on(scope.target, self.switch, color.sym_name.data, color.color.value.data)


@irdl_op_definition
class HostStreamOp(SymbolUser):
    """Connects a color with the host on every unit of a region.

    `in`: what the host sends arrives in the unit's input queue of the color. `out`: what the unit sends on the color
    goes to the host, unless its router has a route for the color.
    """

    name = "flow.host_stream"
    color = prop_def(SymbolRefAttr)
    way = prop_def(StringAttr)
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    traits = traits_def(HasParent(FabricOp))

    def __init__(self, color: str | SymbolRefAttr, way: str, regions: Sequence[RegionAttr]):
        super().__init__(
            properties={
                "color": SymbolRefAttr(color) if isinstance(color, str) else color,
                "way": StringAttr(way),
                "regions": ArrayAttr(regions),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> HostStreamOp:
        color = parse_symbol(parser)
        way = parser.parse_keyword_in(("in", "out"))
        parser.parse_keyword("on")
        op = cls(color, way, parse_region_list(parser).data)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        printer.print_string(f" {self.way.data} on ")
        print_region_list(printer, self.regions_attr)
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_stream_way(self.way.data)

    def verify_symbols(self, scope: Scope) -> None:
        color_named(self.color, scope)


@irdl_op_definition
class MessageNetworkOp(SymbolUser):
    """Makes a color a network of messages, on all routers of the grid, instead of routes.

    A message is a run of wavelets that ends with a control wavelet. Its first wavelet has the receiver's column in its
    low half and its row in the high half, and goes no further than the receiver's router; the rest arrives in the
    receiver's input queue of the color. A message goes east or west first, then north or south, and holds each link
    until its last wavelet has passed.
    """

    name = "flow.message_network"
    color = prop_def(SymbolRefAttr)
    traits = traits_def(HasParent(FabricOp))

    def __init__(self, color: str | SymbolRefAttr):
        super().__init__(properties={"color": SymbolRefAttr(color) if isinstance(color, str) else color})

    @classmethod
    def parse(cls, parser: Parser) -> MessageNetworkOp:
        op = cls(parse_symbol(parser))
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.color)
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        color_named(self.color, scope)


@irdl_op_definition
class UnitsOp(SymbolDefinition):
    """A class of units that run one program: their region and how many 16-bit words of memory they use.

    `main_thread` behind these is the priority of the operations for which tasks wait, as in `wse.pe`.
    """

    NOUN: ClassVar = "a class of units"

    name = "flow.units"
    regions_attr = prop_def(ArrayAttr[RegionAttr], prop_name="regions")
    words = prop_def(IntegerAttr)
    main_thread = opt_prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolTable(), NoTerminator(), IsolatedFromAbove(), HasParent(FabricOp))

    def __init__(
        self,
        name: str,
        regions: Sequence[RegionAttr],
        words: int,
        body: Region | None = None,
        *,
        main_thread: str | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "regions": ArrayAttr(regions),
                "words": IntegerAttr(words, i64),
                "main_thread": None if main_thread is None else StringAttr(main_thread),
            },
            regions=[body or Region(Block())],
        )

    @classmethod
    def parse(cls, parser: Parser) -> UnitsOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        regions = parse_region_list(parser)
        parser.parse_keyword("words")
        words = parser.parse_integer(allow_boolean=False)
        main_thread = parse_main_thread(parser)
        attributes = parse_attributes(parser)
        op = cls(name, regions.data, words, parse_members(parser), main_thread=main_thread)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        print_region_list(printer, self.regions_attr)
        printer.print_string(f" words {self.words.value.data}")
        print_main_thread(printer, self.main_thread)
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        verify_main_thread(self.main_thread)
        configuration_of(self)
        verify_members(self)
