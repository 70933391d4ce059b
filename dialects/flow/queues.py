"""Where wavelets and elements wait in a unit: hardware queues, and FIFOs in memory.

Nothing here knows the streams made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..assembly import parse_attributes, parse_symbol, print_attributes
from ..machine.fifo_options import parse_fifo_options, print_fifo_options, verify_fifo_actions
from ..machine.region import RegionAttr, parse_region_list, print_region_list
from ..machine.region_overlap import first_overlap
from ..machine.rules import verify_fifos, verify_unblocked_queue
from .fabric import UnitsOp
from .fields import counted
from .symbols import SymbolUser, described

if TYPE_CHECKING:
    from .scope import Scope


@irdl_op_definition
class FifoOp(SymbolUser):
    """A first-in first-out buffer in unit memory, as many elements as its buffer has.

    `activate_push` is activated by a push that lets a pop go on, `activate_pop` by a pop that lets a push go on
    (DSD-144, DSD-147). `empty_action` and `full_action` say what an operation does that finds it empty or full, by
    default `test_or_suspend` (DSD-130 to DSD-136).
    """

    OPTIONS: ClassVar = ("empty_action", "full_action", "activate_push", "activate_pop")

    name = "flow.fifo"
    sym_name = prop_def(SymbolNameConstraint())
    buffer = prop_def(SymbolRefAttr)
    empty_action = opt_prop_def(StringAttr)
    full_action = opt_prop_def(StringAttr)
    activate_push = opt_prop_def(SymbolRefAttr)
    activate_pop = opt_prop_def(SymbolRefAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(UnitsOp))

    def __init__(
        self,
        name: str,
        buffer: SymbolRefAttr,
        options: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"sym_name": StringAttr(name), "buffer": buffer, **(options or {})}, attributes=attributes or {}
        )

    @classmethod
    def parse(cls, parser: Parser) -> FifoOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        buffer = parse_symbol(parser)
        return cls(name, buffer, parse_fifo_options(parser, cls.OPTIONS), parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        printer.print_attribute(self.buffer)
        print_fifo_options(printer, {n: self.properties[n] for n in self.OPTIONS if n in self.properties})
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        name, buffer = self.sym_name.data, scope.buffer(self.buffer)
        if prod(buffer.type.get_shape()) == 0 or buffer.type.get_num_dims() == 0:
            raise VerifyException(f"FIFO @{name} lies on buffer @{buffer.sym_name.data}, which is no array; name one")
        for task in (self.activate_push, self.activate_pop):
            if task is not None:
                scope.task_to_activate(task)
        verify_fifo_actions(self.empty_action, self.full_action, scope.target)
        verify_fifos(
            [(op.sym_name.data, op.buffer.string_value()) for op in scope.units.values() if isinstance(op, FifoOp)],
            name,
            scope.target,
        )


@irdl_op_definition
class QueueOp(SymbolUser):
    """A hardware queue of the unit, `input` or `output`, with the color it serves; where the color differs from
    unit to unit, each color comes with the regions of the grid on which it holds. What is sent or awaited where none
    holds is an error of the run (AMB-34).

    `unblocked` lets control wavelets of an input queue without data task start control tasks from the beginning; a
    data task does so too.

    An id the target lacks is refused (DSD-219, DSD-220). Queues may share an id, but on WSE-3 they then serve one
    color on a PE.
    """

    name = "flow.queue"
    sym_name = prop_def(SymbolNameConstraint())
    direction = prop_def(StringAttr)
    queue_id = prop_def(IntegerAttr)
    colors = prop_def(ArrayAttr[SymbolRefAttr])
    color_regions = prop_def(ArrayAttr[ArrayAttr[RegionAttr]])
    unblocked = opt_prop_def(UnitAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(UnitsOp))

    def __init__(
        self,
        name: str,
        direction: str,
        queue_id: int,
        colors: Sequence[SymbolRefAttr],
        color_regions: Sequence[ArrayAttr[RegionAttr]],
        *,
        unblocked: bool = False,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "direction": StringAttr(direction),
                "queue_id": IntegerAttr(queue_id, i64),
                "colors": ArrayAttr(colors),
                "color_regions": ArrayAttr(color_regions),
                "unblocked": UnitAttr() if unblocked else None,
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> QueueOp:
        direction = parser.parse_keyword_in(("input", "output"))
        name = parser.parse_symbol_name().data
        parser.parse_keyword("id")
        queue_id = parser.parse_integer(allow_boolean=False)
        colors: list[SymbolRefAttr] = []
        color_regions: list[ArrayAttr[RegionAttr]] = []

        def color() -> None:
            colors.append(parse_symbol(parser))
            parser.parse_keyword("on")
            color_regions.append(parse_region_list(parser))

        parser.parse_keyword("colors")
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, color)
        unblocked = parser.parse_optional_keyword("unblocked") is not None
        op = cls(name, direction, queue_id, colors, color_regions, unblocked=unblocked)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.direction.data} ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" id {self.queue_id.value.data} colors [")
        for position, (color, regions) in enumerate(zip(self.colors, self.color_regions, strict=True)):
            if position:
                printer.print_string(", ")
            printer.print_attribute(color)
            printer.print_string(" on ")
            print_region_list(printer, regions)
        printer.print_string("]")
        if self.unblocked is not None:
            printer.print_string(" unblocked")
        print_attributes(printer, self)

    @property
    def is_input(self) -> bool:
        return self.direction.data == "input"

    def places(self, grid: tuple[int, int]) -> Iterator[tuple[str, tuple[range, range]]]:
        """The name of each color with the columns and rows on which it holds."""
        for color, regions in zip(self.colors, self.color_regions, strict=True):
            for region in regions:
                yield color.string_value(), region.resolve(*grid)

    def verify_(self) -> None:
        name = self.sym_name.data
        if self.direction.data not in ("input", "output"):
            raise VerifyException(f"queue @{name} is '{self.direction.data}'; make it 'input' or 'output'")
        verify_unblocked_queue(name, is_input=self.is_input, unblocked=self.unblocked is not None)
        if len(self.colors) != len(self.color_regions):
            raise VerifyException(
                f"queue @{name} has {counted(len(self.colors), 'color')}, but regions for {len(self.color_regions)}; "
                "give each color its regions"
            )

    def verify_symbols(self, scope: Scope) -> None:
        for color in self.colors:
            scope.color(color)
        name, number, target = self.sym_name.data, self.queue_id.value.data, scope.target
        queues = target.input_queues if self.is_input else target.output_queues
        if not 0 <= number < queues:
            raise VerifyException(
                f"{described(self)} has id {number}, which {target.name} does not have; choose one from 0 to "
                f"{queues - 1}"
            )
        places = list(self.places(scope.grid))
        if (found := first_overlap(places)) is not None:
            x, y = found[2]
            raise VerifyException(
                f"queue @{name} serves @{places[found[0]][0]} and @{places[found[1]][0]} at PE ({x}, {y}); a queue "
                "serves one color, so keep one of them there"
            )
