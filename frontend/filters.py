"""Filters of colors: what `.filter` of the configuration of a color says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import VerifyException

from ..csl import syntax
from ..diagnostics.records import record
from ..dialects.machine.filters import FilterAttr, verify_filter
from ..targets.wavelets import FILTER_KINDS
from . import types
from .evaluator import Evaluator
from .struct_fields import Fields
from .values import Column, Value

Numbers = dict[str, NDArray[np.int64]]
"""The numbers of a filter, by name: one for each lane."""


@record
class Filter:
    """A filter without its numbers."""

    kind: str
    flags: tuple[str, ...]
    names: tuple[str, ...]
    """The numbers that it has."""

    def attribute(self, ids: NDArray[Any], numbers: Numbers) -> FilterAttr:
        """Return the filter of some PEs."""
        columns = {"id": ids, **{name: numbers[name] for name in self.names}}
        return FilterAttr.get(
            self.kind,
            self.flags,
            {
                name: [int(values[0])] if (values == values[0]).all() else values.tolist()
                for name, values in columns.items()
            },
        )


def filter_of(ev: Evaluator, value: Value, node: syntax.Node) -> tuple[Filter, Numbers]:
    """Return the filter that a struct describes. Raises CslError for one that the machine does not have."""
    fields = Fields(ev, value, node, "'.filter'")
    kinds = ", ".join(FILTER_KINDS)
    if "kind" not in fields.members:
        ev.fail(node, f"'.filter' needs a field '.kind', such as .{{ .counter = true }}; the kinds are {kinds}")
    kind = fields.choice("kind") or ""
    if kind not in FILTER_KINDS:
        ev.fail(node, f"unknown filter kind '.{kind}'; use one of {kinds}")
    names, flags = FILTER_KINDS[kind]
    fields.flag("fast_mode")  # published programs set it; no document says what it does
    for name in fields.members:
        if name not in names and name not in flags:
            known = ", ".join(f"'.{each}'" for each in (*names, *flags))
            ev.fail(node, f"a {kind} filter has no field '.{name}'; it has {known}")
    given = {name: fields.take(name) for name in names}
    numbers = {name: _numbers(ev, name, one, node) for name, one in given.items() if one is not None}
    for name in ("min_idx", "max_idx"):
        if name in names and name not in numbers:
            ev.fail(node, f"a {kind} filter needs a field '.{name}'")
    chosen = tuple(flag for flag in flags if fields.flag(flag))
    found = Filter(kind, chosen, tuple(numbers))
    try:
        verify_filter(found.attribute(np.zeros(ev.lanes.count, np.int64), numbers))
    except VerifyException as error:
        ev.fail(node, f"this filter is not possible: {error}")
    _warn(ev, found, numbers, node)
    return found, numbers


def _numbers(ev: Evaluator, name: str, value: Value, node: syntax.Node) -> NDArray[np.int64]:
    if not types.is_integer(value.type):
        ev.fail(node, f"field '.{name}' is an integer, not of type '{value.type}'")
    if isinstance(value.data, Column):
        return ev.lanes.spread(value.data).astype(np.int64)
    number = int(ev.data(value, node, f"field '.{name}'"))
    if number.bit_length() > 62:
        ev.fail(node, f"'.{name}' {number} is beyond the counters of a filter")
    return np.full(ev.lanes.count, number, np.int64)


def _warn(ev: Evaluator, filter: Filter, numbers: Numbers, node: syntax.Node) -> None:
    """Warn of filters that do nothing, or let nothing pass."""
    if filter.kind == "range":
        if (numbers["min_idx"] > numbers["max_idx"]).any():
            ev.warn(node, "no data wavelet passes this filter: its '.min_idx' is greater than its '.max_idx'")
        return
    if filter.kind == "sparse_counter" and "limit1" not in numbers:
        ev.warn(
            node, "every wavelet passes this filter: a sparse counter filters up to its '.limit1', which is missing"
        )
    elif not set(filter.flags) & {"count_data", "count_control"}:
        ev.warn(
            node,
            "this filter counts no wavelets, so its counter stays as it is; set '.count_data' or '.count_control'",
        )
