"""cerebras.geometry.geometry: integer points and rectangles."""

from __future__ import annotations

from typing import NamedTuple


class IntVector(NamedTuple):
    """A point, or a size: column and row."""

    x: int
    y: int


class IntRectangle(NamedTuple):
    """The PEs from `ul`, the upper left corner, up to `lr`, which lies just outside, below and right of the last."""

    ul: IntVector
    lr: IntVector
