"""Streams between the host and a layout: where each comes in or out, for the compiler and for the runtime."""

from __future__ import annotations

from ...diagnostics.records import record
from .routing import Color
from .script_lines import Origin

HOST_COLOR = "loom_host"
"""The color between the host and its PEs, in all of them the same."""


@record
class Stream:
    """A stream of a layout that is not compiled yet: it ends in a region of one PE of its own, or at a PE `at`."""

    name: str
    is_input: bool
    color: str
    """The global name of the color between the host and the PE."""
    end: str
    """What of the program it serves, in words."""
    region: str | None = None
    at: tuple[int, int] | None = None
    given: Color | None = None
    origin: Origin | None = None


@record
class PlacedStream:
    """A stream of a compiled layout: the PE where it comes in or out, and the value of its color there."""

    name: str
    is_input: bool
    x: int
    y: int
    color: int
    end: str


@record
class PlacedRegion:
    """A region of a compiled layout."""

    name: str
    x: int
    y: int
    width: int
    height: int
    ports: tuple[tuple[str, str], ...] = ()
    """Of each port, the name and what it is connected with, in words."""
