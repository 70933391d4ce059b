"""Regions: rectangular, possibly strided sets of processing elements, written as two slices: `[0:4, ::2]`.

The first slice selects columns (x grows east), the second rows (y grows south). Slices mean what they mean in
Python: open ends and negative bounds are resolved against the width and height of a rectangle, and a single
index `i` selects `i` alone. One attribute serves every dialect that places code, routes or queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

_Bound = IntAttr | NoneAttr


def _value(bound: _Bound) -> int | None:
    return bound.data if isinstance(bound, IntAttr) else None


def _bound(value: int | None) -> _Bound:
    return NoneAttr() if value is None else IntAttr(value)


@irdl_attr_definition
class SliceAttr(ParametrizedAttribute):
    """One Python slice: start, stop and step, each optional; the step is positive."""

    name = "region.slice"
    start: IntAttr | NoneAttr
    stop: IntAttr | NoneAttr
    step: IntAttr

    @staticmethod
    def get(start: int | None = None, stop: int | None = None, step: int = 1) -> SliceAttr:
        return SliceAttr(_bound(start), _bound(stop), IntAttr(step))

    def resolve(self, extent: int) -> range:
        """Return the selected indices among `extent`."""
        return range(*slice(_value(self.start), _value(self.stop), self.step.data).indices(extent))


@irdl_attr_definition
class RegionAttr(ParametrizedAttribute):
    """A rectangular set of PEs: a slice of columns and a slice of rows."""

    name = "wse.region"
    columns: SliceAttr
    rows: SliceAttr

    @staticmethod
    def get(columns: range | slice | int | None = None, rows: range | slice | int | None = None) -> RegionAttr:
        """Return the region of these columns and rows: ranges, slices, single indices, or all if None."""

        def one(indices: range | slice | int | None) -> SliceAttr:
            if indices is None:
                return SliceAttr.get()
            if isinstance(indices, int):
                return SliceAttr.get(indices, None if indices == -1 else indices + 1)
            return SliceAttr.get(indices.start, indices.stop, 1 if indices.step is None else indices.step)

        return RegionAttr(one(columns), one(rows))

    def resolve(self, width: int, height: int) -> tuple[range, range]:
        """Return the selected columns and rows of a rectangle of `width` by `height` PEs."""
        return self.columns.resolve(width), self.rows.resolve(height)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            region = parse_region(parser)
        return (region.columns, region.rows)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_region(printer, self)


Regions = RegionAttr | Iterable[RegionAttr]
"""Where something is: on one region or on several, as operations take it."""


def regions_attribute(regions: Regions) -> ArrayAttr[RegionAttr]:
    """Return regions as operations keep them."""
    return ArrayAttr([regions] if isinstance(regions, RegionAttr) else regions)


def _parse_slice(parser: AttrParser) -> SliceAttr:
    start = parser.parse_optional_integer(allow_boolean=False)
    if parser.parse_optional_punctuation(":") is None:
        if start is None:
            parser.raise_error("expected an index or a slice, for example 0:4, ::2 or 3")
        return SliceAttr.get(start, None if start == -1 else start + 1)
    stop = parser.parse_optional_integer(allow_boolean=False)
    step = None
    if parser.parse_optional_punctuation(":") is not None:
        step = parser.parse_optional_integer(allow_boolean=False)
    if step is not None and step < 1:
        parser.raise_error(f"the step of a slice must be at least 1, not {step}")
    return SliceAttr.get(start, stop, 1 if step is None else step)


def parse_region(parser: AttrParser | Parser) -> RegionAttr:
    """Parse `[columns, rows]`."""
    parser.parse_punctuation("[")
    columns = _parse_slice(parser)
    parser.parse_punctuation(",")
    rows = _parse_slice(parser)
    parser.parse_punctuation("]")
    return RegionAttr(columns, rows)


def _slice_text(indices: SliceAttr) -> str:
    start, stop, step = _value(indices.start), _value(indices.stop), indices.step.data
    if start is not None and step == 1 and (stop == start + 1 or (start == -1 and stop is None)):
        return str(start)
    text = f"{'' if start is None else start}:{'' if stop is None else stop}"
    return text if step == 1 else f"{text}:{step}"


def region_text(region: RegionAttr) -> str:
    """Return a region as it is written: `[columns, rows]`."""
    return f"[{_slice_text(region.columns)}, {_slice_text(region.rows)}]"


def print_region(printer: Printer, region: RegionAttr) -> None:
    """Print `[columns, rows]`."""
    printer.print_string(region_text(region))


def parse_region_list(parser: AttrParser | Parser) -> ArrayAttr[RegionAttr]:
    """Parse regions joined by `+`."""
    regions = [parse_region(parser)]
    while parser.parse_optional_punctuation("+") is not None:
        regions.append(parse_region(parser))
    return ArrayAttr(regions)


def print_region_list(printer: Printer, regions: ArrayAttr[RegionAttr]) -> None:
    """Print regions joined by `+`."""
    printer.print_string(region_list_text(regions))


def region_list_text(regions: ArrayAttr[RegionAttr]) -> str:
    """Return regions as they are written, joined by `+`."""
    return " + ".join(map(region_text, regions))


def indices_text(width: int, height: int) -> str:
    """Return how an error names what regions of a rectangle may select."""
    return f"columns 0 to {width - 1} and rows 0 to {height - 1}"
