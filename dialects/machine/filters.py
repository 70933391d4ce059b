"""Filters of a color at the ramp of a router, and color swaps at its ports: what routes have beside their ports.

One attribute serves every dialect that has routes; nothing here knows which they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, StringAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ...targets.wavelets import FILTER_FLAGS, FILTER_KINDS, FILTER_NUMBERS, FILTER_VALUES, SWAP_PORTS
from .region import RegionAttr

Numbers: TypeAlias = tuple[int, ...]
"""One number for all PEs of a route, or one for each, by rows of the grid."""

Swap = ArrayAttr[StringAttr]
"""The axes on which wavelets change their color as they come in."""


@irdl_attr_definition
class FilterAttr(ParametrizedAttribute):
    """The filter of a color: its id on the PE, its kind, what it counts, and its numbers."""

    name = "wse.filter"
    kind: StringAttr
    flags: ArrayAttr[StringAttr]
    numbers: DictionaryAttr

    @staticmethod
    def get(kind: str, flags: Iterable[str], numbers: Mapping[str, Sequence[int]]) -> FilterAttr:
        """Return a filter; of each of its numbers there is one, or one for each PE of the route."""
        return FilterAttr(
            StringAttr(kind), ArrayAttr(StringAttr(flag) for flag in FILTER_FLAGS if flag in set(flags)),
            DictionaryAttr(
                {name: DenseArrayBase.from_list(i64, numbers[name]) for name in FILTER_NUMBERS if name in numbers}
            ),
        )  # fmt: skip

    def values(self) -> dict[str, Numbers]:
        """Return its numbers by name."""
        return {
            name: tuple(int(value) for value in values.get_values())
            for name, values in self.numbers.data.items()
            if isinstance(values, DenseArrayBase)
        }

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            filter = parse_filter(parser)
        return (filter.kind, filter.flags, filter.numbers)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(filter_text(self))


def parse_filter(parser: AttrParser | Parser) -> FilterAttr:
    """Parse `counter id 0 limit1 5 max_counter [4, 3] count_data`."""

    def number() -> int:
        return parser.parse_integer(allow_boolean=False)

    kind = parser.parse_keyword_in(FILTER_KINDS)
    numbers: dict[str, Sequence[int]] = {}
    for name in FILTER_NUMBERS:
        if parser.parse_optional_keyword(name) is not None:
            several = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, number)
            numbers[name] = [number()] if several is None else several
    flags = [flag for flag in FILTER_FLAGS if parser.parse_optional_keyword(flag) is not None]
    return FilterAttr.get(kind, flags, numbers)


def filter_text(filter: FilterAttr) -> str:
    """Return a filter as it is written."""
    parts = [filter.kind.data]
    for name, values in filter.values().items():
        parts += [name, str(values[0]) if len(values) == 1 else f"[{', '.join(map(str, values))}]"]
    return " ".join([*parts, *(flag.data for flag in filter.flags)])


def parse_swap(parser: AttrParser | Parser) -> Swap:
    """Parse `[x, y]`."""
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: StringAttr(parser.parse_keyword_in(SWAP_PORTS))
        )
    )


def swap_text(swap: Swap) -> str:
    """Return the axes of a swap as they are written."""
    return f"[{', '.join(axis.data for axis in swap)}]"


def verify_filter(filter: FilterAttr, target: Target | None = None) -> None:
    """Raise VerifyException unless a filter makes sense, on routers of `target` where that is known."""
    kind, values = filter.kind.data, filter.values()
    if kind not in FILTER_KINDS:
        raise VerifyException(f"'{kind}' is not a kind of filter; the kinds are {', '.join(FILTER_KINDS)}")
    names, flags = FILTER_KINDS[kind]
    for name in [*values, *(flag.data for flag in filter.flags)]:
        if name not in ("id", *names, *flags):
            raise VerifyException(f"a {kind} filter has no '{name}'; it has {', '.join((*names, *flags))}")
    for name in ("id", *(name for name in ("min_idx", "max_idx") if name in names)):
        if name not in values:
            raise VerifyException(f"a {kind} filter needs '{name}'")
    for name, numbers in values.items():
        for number in numbers:
            if name != "id" and number not in FILTER_VALUES:
                raise VerifyException(
                    f"'{name}' of a filter is {FILTER_VALUES[0]} to {FILTER_VALUES[-1]}, not {number}"
                )
    ids = values["id"]
    if min(ids) < 0 or (target is not None and max(ids) >= target.filters):
        limit = "" if target is None else f"; a PE of {target.name} has {target.filters} filters"
        raise VerifyException(f"a filter has id {min(ids) if min(ids) < 0 else max(ids)}{limit}")
    for low, high, why in _PAIRS.get(kind, ()):
        found = _greater(values.get(low, (0,)), values.get(high))
        if found is not None:
            raise VerifyException(f"'{low}' {found[0]} of a filter is greater than '{high}' {found[1]}, {why}")


_PAIRS = {
    "counter": (("init_counter", "limit1", "behind which the counter starts again"),),
    "sparse_counter": (("init_counter", "limit1", "behind which the counter starts again"),),
}


def _greater(low: Numbers, high: Numbers | None) -> tuple[int, int] | None:
    """Return the first of some numbers that is greater than its counterpart, with that; None if none is."""
    if high is None:
        return None
    count = max(len(low), len(high))
    pairs = zip(low * (count // len(low)), high * (count // len(high)), strict=False)
    return next(((one, other) for one, other in pairs if one > other), None)


def verify_swap(swap: Swap, color: str, number: int | None, target: Target) -> None:
    """Raise VerifyException unless a color, by its number if that is known, can swap with another one."""
    axes = [axis.data for axis in swap]
    if not axes or len(set(axes)) < len(axes) or not set(axes) <= set(SWAP_PORTS):
        raise VerifyException(f"a color swap names x, y or both, each once, not [{', '.join(axes)}]")
    if number is None:
        raise VerifyException(
            f"color @{color} swaps with the color whose id differs in the lowest bit, so it needs an id; give it one"
        )
    if number ^ 1 >= target.routable_colors:
        raise VerifyException(
            f"color @{color} has id {number}, and {target.name} has no color {number ^ 1} to swap with"
        )


def verify_counts(filter: FilterAttr, regions: Iterable[RegionAttr], grid: tuple[int, int]) -> None:
    """Raise VerifyException unless a filter has one number of each kind, or one for each PE of its route."""
    several = {name: len(numbers) for name, numbers in filter.values().items() if len(numbers) != 1}
    if not several:
        return
    count = len({(x, y) for region in regions for x, y in product(*region.resolve(*grid))})
    for name, given in several.items():
        if given != count:
            raise VerifyException(
                f"'{name}' of a filter has {given} numbers; it needs one, or one for each of the route's {count} PEs"
            )
