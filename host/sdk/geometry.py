"""cerebras.geometry.geometry: integer points and rectangles."""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple, cast

from .errors import SdkError


class IntVector(NamedTuple):
    """A point, or a size: column and row."""

    x: int
    y: int


class _Corners(NamedTuple):
    ul: IntVector
    lr: IntVector


class IntRectangle(_Corners):
    """The PEs from `ul`, the upper left corner, up to `lr`, which is just outside, below and right of the last.

    With `dims` it is made of its upper left corner, `origin`, and its width and height.
    """

    __slots__ = ()

    def __new__(
        cls,
        ul: IntVector | None = None,
        lr: IntVector | None = None,
        *,
        origin: IntVector | None = None,
        dims: IntVector | None = None,
    ) -> IntRectangle:
        first = origin if ul is None else ul
        if first is None or (ul is not None and origin is not None) or (lr is None) == (dims is None):
            raise SdkError(
                "IntRectangle: give two corners, IntRectangle(ul, lr), or origin= and dims=, the width and height"
            )
        if dims is not None:
            (x, y), (width, height) = pair(first, "IntRectangle: origin"), pair(dims, "IntRectangle: dims")
            if min(width, height) < 1:
                raise SdkError(f"IntRectangle: dims is {width} x {height} PEs; give at least 1 x 1")
            lr = IntVector(x + width, y + height)
        return super().__new__(cls, first, cast("IntVector", lr))


def whole(value: object, what: str) -> int:
    """Return an int; raises SdkError if it is none."""
    try:
        return index(cast("int", value))
    except TypeError:
        raise SdkError(f"{what} is {value!r}; give an int") from None


def pair(value: object, what: str) -> tuple[int, int]:
    """Return the two ints of a vector; raises SdkError if it is none."""
    if not isinstance(value, tuple) or len(cast("tuple[Any, ...]", value)) != 2:
        raise SdkError(f"{what} is {value!r}; give an IntVector")
    x, y = cast("tuple[Any, Any]", value)
    return whole(x, f"{what}: x"), whole(y, f"{what}: y")
