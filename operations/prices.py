"""Prices that a user gives instead of those of a target: a JSON object of fields of `model.Timing`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, cast

from ..diagnostics.errors import LoomError
from ..diagnostics.records import record
from ..targets.model import PRICES, Target, Timing
from .dsd_table import OPERATIONS

VARIABLE = "LOOM_PRICES"
"""Environment variable: the file with the prices of runs that are given no others."""

MAX_PRICE = 1 << 20
"""Cycles; the most of one price."""

_AT_LEAST_ONE = ("hop", "inject", "loop", "task_start", "read_words", "half_lanes", "single_lanes")
"""Wavelets take time on their way, and so do loops and tasks that never end: no time would pass in them."""
_FRACTIONS = ("single_multiply",)
_ELEMENTS = "elements"
_WRITTEN = re.compile(r"[0-9]{1,20}(/[0-9]{1,20}|\.[0-9]{1,20})?")


@record
class Prices:
    """Prices by field of `Timing`; those that are not there are the target's."""

    fields: tuple[tuple[str, Any], ...] = ()

    def apply(self, target: Target) -> Target:
        """Return a target with these prices."""
        return replace(target, timing=replace(target.timing, **dict(self.fields))) if self.fields else target


NONE = Prices()


def of(prices: Mapping[str, Any], source: str = "the prices") -> Prices:
    """Return prices given by name: numbers of cycles, and under "elements" those of DSD operations by their names.

    Raises LoomError for a name that there is not, and for what cannot be a price.
    """
    if not isinstance(prices, Mapping):
        example = 'prices are an object of names and cycles, for example {"loop": 4}'
        raise LoomError(f"{example}, not {_shown(prices)}", source)
    known = [each.name for each in fields(Timing)]
    found: dict[str, Any] = {}
    for name, value in prices.items():
        if name not in known:
            raise LoomError(f"there is no price '{name}'{_hint(name, known)}", source)
        if name == _ELEMENTS:
            found[name] = _elements(value, source)
        elif name in _FRACTIONS:
            found[name] = _fraction(name, value, source)
        else:
            low = least(name)
            what = "cycles" if name in PRICES else "a number"
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= MAX_PRICE:
                raise LoomError(
                    f"'{name}' is {_shown(value)}; give {what}, a whole number from {low} to {MAX_PRICE:,}", source
                )
            found[name] = value
    return Prices(tuple(found.items()))


def least(name: str) -> int:
    """Return the least that a price may be."""
    return 1 if name in _AT_LEAST_ONE else 0


def read(path: str) -> Prices:
    """Return the prices in a JSON file. Raises LoomError if it cannot be read, or has what cannot be prices."""
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream, object_pairs_hook=lambda pairs: _object(pairs, path))
    except OSError as error:
        raise LoomError(f"cannot be read: {error.strerror or error}", path) from error
    except (ValueError, RecursionError) as error:
        raise LoomError(f"is not JSON: {' '.join(str(error).split())[:200]}", path) from error
    return of(content, path)


def from_environment() -> Prices:
    """Return the prices in the file that the environment names, if it does. Raises LoomError as `read` does."""
    path = os.environ.get(VARIABLE)
    return read(path) if path else NONE


def _object(pairs: list[tuple[str, Any]], source: str) -> dict[str, Any]:
    """Return an object of a file. Raises LoomError for a name that it has twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for number, (name, _) in enumerate(pairs) if name in dict(pairs[:number]))
        raise LoomError(f"there are two prices '{_cut(twice)}'; remove one", source)
    return found


def _elements(value: Any, source: str) -> tuple[tuple[str, Fraction], ...]:
    if not isinstance(value, Mapping):
        raise LoomError(f"'{_ELEMENTS}' is {_shown(value)}; give an object of names of DSD operations", source)
    found: list[tuple[str, Fraction]] = []
    for name, cycles in cast("Mapping[str, Any]", value).items():
        if name not in OPERATIONS:
            raise LoomError(f"there is no DSD operation '{name}'{_hint(name, list(OPERATIONS))}", source)
        found.append((name, _fraction(name, cycles, source)))
    return tuple(found)


def _fraction(name: str, value: Any, source: str) -> Fraction:
    """Return cycles that may be a part of one: 2, 0.25 or "1/4"."""
    result = None
    is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    if is_number or (isinstance(value, str) and _WRITTEN.fullmatch(value)):
        try:
            result = Fraction(value).limit_denominator(1024)
        except (ValueError, OverflowError, ZeroDivisionError):
            result = None
    if result is None or not 0 <= result <= MAX_PRICE:
        raise LoomError(
            f"'{name}' is {_shown(value)}; give cycles for an element, for example 2, 0.25 or \"1/4\"", source
        )
    return result


def _shown(value: Any) -> str:
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."


def _hint(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(known)}"
