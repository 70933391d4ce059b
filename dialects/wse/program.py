"""The program and its PE programs: the operations that hold all others.

What their members must fulfil together is in `verification`, since the members name these operations as their parents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from ...targets import TARGETS
from ..assembly import (
    parse_attributes,
    parse_main_thread,
    parse_members,
    print_attributes,
    print_body,
    print_main_thread,
    verify_main_thread,
)
from ..machine.configuration import configuration_of
from ..machine.region import RegionAttr, Regions, parse_region_list, print_region_list, regions_attribute
from ..machine.symbols import SymbolDefinition, UniqueSymbols, verify_members
from .attributes import EVERYWHERE


@irdl_op_definition
class ProgramOp(SymbolDefinition):
    """A rectangle of PEs, the fabric between them, and the programs they run.

    ```
    wse.program @stencil target "wse3" rectangle 8 x 8 { ... }
    ```

    The rectangle is 8 columns (x) by 8 rows (y). Raises an error if the target is unknown, if an
    operation below names a symbol that is missing or of the wrong kind, or if an id is out of the
    target's range.
    """

    NOUN: ClassVar = "a program"

    name = "wse.program"
    target = prop_def(StringAttr)
    width = prop_def(IntegerAttr)
    height = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(UniqueSymbols(), NoTerminator(), IsolatedFromAbove())

    def __init__(
        self,
        name: str,
        target: str,
        width: int,
        height: int,
        body: Region | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "target": StringAttr(target),
                "width": IntegerAttr(width, i64),
                "height": IntegerAttr(height, i64),
            },
            regions=[Region(Block()) if body is None else body],
            attributes=attributes or {},
        )

    @property
    def rectangle(self) -> tuple[int, int]:
        """Width and height in PEs."""
        return self.width.value.data, self.height.value.data

    @property
    def pes(self) -> list[PeOp]:
        """The PE programs, in order."""
        return [op for op in self.body.block.ops if isinstance(op, PeOp)]

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("target")
        target = parser.parse_str_literal()
        parser.parse_keyword("rectangle")
        width = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("x")
        height = parser.parse_integer(allow_boolean=False)
        attributes = parse_attributes(parser)
        return cls(name, target, width, height, parse_members(parser), attributes)

    def print(self, printer: Printer) -> None:
        width, height = self.rectangle
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" target ")
        printer.print_string_literal(self.target.data)
        printer.print_string(f" rectangle {width} x {height}")
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        width, height = self.rectangle
        if width < 1 or height < 1:
            raise VerifyException(f"rectangle {width} x {height} contains no PE; both sides must be at least 1")
        if self.target.data not in TARGETS:
            raise VerifyException(f"unknown target '{self.target.data}'; choose one of {', '.join(sorted(TARGETS))}")
        verify_members(self)


@irdl_op_definition
class PeOp(SymbolDefinition):
    """One program, and the PEs that run it.

    ```
    wse.pe @cell on [:, :] { ... }
    wse.pe @border on [0, :] + [-1, :] { ... }
    ```

    Regions are x first, then y, as Python slices over the rectangle. `main_thread` behind them gives the operations for
    which tasks wait another priority than the machine's (DSD-234): `medium_low`, `medium`, `medium_high` or `high`.
    """

    NOUN: ClassVar = "a PE program"

    name = "wse.pe"
    placement = prop_def(ArrayAttr[RegionAttr])
    main_thread = opt_prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(
        UniqueSymbols(),
        NoTerminator(),
        IsolatedFromAbove(),
        HasParent(ProgramOp),
    )

    def __init__(
        self,
        name: str,
        placement: Regions = EVERYWHERE,
        body: Region | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        *,
        main_thread: str | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "placement": regions_attribute(placement),
                "main_thread": None if main_thread is None else StringAttr(main_thread),
            },
            regions=[Region(Block()) if body is None else body],
            attributes=attributes or {},
        )

    @property
    def symbol_kind(self) -> str:
        return "PE program"

    @property
    def program(self) -> ProgramOp:
        """The program this PE program is part of."""
        parent = self.parent_op()
        assert isinstance(parent, ProgramOp)
        return parent

    @classmethod
    def parse(cls, parser: Parser) -> PeOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        placement = parse_region_list(parser)
        main_thread = parse_main_thread(parser)
        attributes = parse_attributes(parser)
        return cls(name, placement, parse_members(parser), attributes, main_thread=main_thread)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        print_region_list(printer, self.placement)
        print_main_thread(printer, self.main_thread)
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        verify_main_thread(self.main_thread)
        configuration_of(self)
        verify_members(self)
