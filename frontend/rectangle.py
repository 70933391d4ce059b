"""What holds for the rectangle as a whole: each PE has code once, and each of its routers treats a color in one way."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

from ..csl.errors import CslError
from ..csl.source import Diagnostic, Note
from ..dialects import wse
from ..dialects.machine.filters import FilterAttr
from ..dialects.machine.region import RegionAttr
from . import recovery
from .builtins.layout import ColorConfig, Tiles
from .effects import Effect
from .filters import Filter, Numbers
from .pe import color_symbol, location
from .regions import regions
from .session import Session

Places = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Columns and rows of PEs."""


def placement(places: list[Places]) -> ArrayAttr[RegionAttr]:
    """Return the PEs of several lists, each once, as regions."""
    width = max(int(columns.max()) for columns, _ in places) + 1
    height = max(int(rows.max()) for _, rows in places) + 1
    taken = np.zeros((height, width), np.bool_)
    for columns, rows in places:
        taken[rows, columns] = True
    rows, columns = np.nonzero(taken)
    return ArrayAttr(regions(columns, rows))


def check_tiles(session: Session, tiles: list[Tiles]) -> None:
    """Raise CslError unless each PE of the rectangle is given code once."""
    assert session.rectangle is not None
    width, height = session.rectangle
    taken = _Taken(width, height, "is given code twice")
    for item in tiles:
        with recovery.checked(session):
            taken.add(item.effect, item.columns, item.rows)
    missing = np.argwhere(taken.grid < 0)
    if len(missing):
        y, x = missing[0]
        assert session.rectangle_set is not None
        source, node = session.rectangle_set
        which = f"PE ({x}, {y}) is" if len(missing) == 1 else f"{len(missing)} PEs are, PE ({x}, {y}) the first,"
        message = f"{which} given no code; call @set_tile_code for each PE of the rectangle"
        error = CslError([Diagnostic(source, node.start, node.end, message)])
        raise error if session.mistakes is None else session.mistakes.for_lack(error)


class _Taken:
    """Which call spoke of each PE."""

    def __init__(self, width: int, height: int, complaint: str) -> None:
        self.grid = np.full((height, width), -1, np.int32)
        self.effects: list[Effect] = []
        self.complaint = complaint

    def add(self, effect: Effect, columns: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Record that PEs are given code or a configuration. Raises CslError if one has it already."""
        before = self.grid[rows, columns]
        self.grid[rows, columns] = len(self.effects)
        self.effects.append(effect)
        if (before >= 0).any():
            lane = int(np.argmax(before >= 0))
            self._fail(effect, self.effects[int(before[lane])], int(columns[lane]), int(rows[lane]))
        width = self.grid.shape[1]
        counts = np.bincount(rows * width + columns)
        if counts.max() > 1:
            place = int(np.argmax(counts > 1))
            self._fail(effect, effect, place % width, place // width)

    def _fail(self, effect: Effect, before: Effect, x: int, y: int) -> NoReturn:
        note = Note(before.source, before.node.start, before.node.end, "first here")
        message = f"PE ({x}, {y}) {self.complaint}"
        raise CslError([Diagnostic(effect.source, effect.node.start, effect.node.end, message, [note])])


class Routers:
    """How the routers of the rectangle treat each color, as the layout and the PEs' programs say."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._routes: dict[ColorConfig, tuple[Effect, list[Places]]] = {}
        self._numbers: dict[ColorConfig, list[Numbers]] = {}
        """Of filters, for each of the lists of PEs."""
        self._taken: dict[int, _Taken] = {}

    def add(self, effect: Effect, *, of_layout: bool = False) -> None:
        """Record the route of a color on routers. Raises CslError if one has a configuration of the color.

        Filters of the layout get their ids by `number_filters`, those of the code of PEs at once.
        """
        config: ColorConfig
        config, columns, rows, *numbers = effect.arguments
        assert self.session.rectangle is not None
        complaint = f"is given two configurations of color {config.color}"
        taken = self._taken.setdefault(config.color, _Taken(*self.session.rectangle, complaint))
        taken.add(effect, columns, rows)
        if config.inputs or config.outputs:
            self._routes.setdefault(config, (effect, []))[1].append((columns, rows))
        if config.filter is not None:
            self._numbers.setdefault(config, []).append(numbers[0])
            if of_layout:
                self.session.filters.wait(config.color, effect)
            else:
                self.session.filters.add(config.color, effect, taken.grid.shape)

    def number_filters(self) -> None:
        """Give the filters of the layout their ids, which the code of PEs may ask for."""
        assert self.session.rectangle is not None
        width, height = self.session.rectangle
        self.session.filters.number((height, width))

    def colors(self) -> set[int]:
        return {config.color for config in self._routes}

    def operations(self) -> list[Operation]:
        """Return the routes."""
        found: list[Operation] = []
        for config, (effect, places) in self._routes.items():
            op = wse.RouteOp(
                color_symbol(config.color), placement(places), config.inputs, config.outputs, config.switch,
                teardown=config.teardown,
                swap=ArrayAttr(map(StringAttr, config.swap)) if config.swap else None,
                filter=None if config.filter is None else self._filter(config, config.filter, places),
            )  # fmt: skip
            op.location = location(effect.source, effect.node)
            found.append(op)
        return found

    def _filter(self, config: ColorConfig, filter: Filter, places: list[Places]) -> FilterAttr:
        """Return the filters of some PEs, with their numbers by rows."""
        columns, rows = (np.concatenate(axes) for axes in zip(*places, strict=True))
        order = np.lexsort((columns, rows))
        parts = self._numbers[config]
        numbers = {name: np.concatenate([part[name] for part in parts])[order] for name in filter.names}
        ids = self.session.filters.by_color[config.color][rows, columns]
        return filter.attribute(ids[order], numbers)
