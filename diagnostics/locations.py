"""Source locations of operations, as messages show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr
    from xdsl.ir import Attribute, Operation


def location_of(op: Operation) -> str | None:
    """Return where `op` was written, as `file:line:col`, or None if its location is unknown."""
    return render_location(op.location)


def as_written(op: Operation) -> LocationAttr:
    """Return the location of `op` with its name, or the one that an earlier pass left it, for what takes its place."""
    from xdsl.dialects.builtin import NameLoc, StringAttr

    return op.location if isinstance(op.location, NameLoc) else NameLoc(StringAttr(op.name), op.location)


def written_as(op: Operation) -> str | None:
    """Return the operation that was written where `op` stands, if a pass has left its name."""
    from xdsl.dialects.builtin import NameLoc

    return op.location.desc.data if isinstance(op.location, NameLoc) else None


def render_location(location: Attribute) -> str | None:
    """Return an xDSL location as `file:line:col`; the first known part of a compound one, or None."""
    from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc

    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case NameLoc():
            return render_location(location.location)
        case CallSiteLoc():
            return render_location(location.callee)
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return next((text for part in parts if (text := render_location(part)) is not None), None)
        case _:
            return None
