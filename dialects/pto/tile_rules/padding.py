"""Padding of tiles: what is around the valid part of the result."""

from __future__ import annotations

from ..attributes import PadValue
from ..types import TileBufType, element_bytes
from .tiles import AddressSpace, Tiles

_PADS = list(PadValue)


def fill(tiles: Tiles) -> None:
    """Check `tfillpad`."""
    if tiles.attribute("mode") is not None:
        tiles.fail("does not accept 'mode'; PTOAS infers TFILLPAD lowering from physical shape and planned addresses")
    source, result = tiles.tile("src"), tiles.tile("dst")
    size = element_bytes(source.element_type)
    if size != element_bytes(result.element_type):
        tiles.fail("expects sizeof(src element) == sizeof(dst element)")
    if size not in (1, 2, 4):
        tiles.fail("expects element size to be 1, 2, or 4 bytes")
    if any(before > after for before, after in zip(source.shape, result.shape, strict=True)):
        tiles.fail("expects each dst physical shape dimension to be >= src")
    places = {source.location, result.location}
    if source.shape != result.shape and places != {AddressSpace.VEC}:
        tiles.fail("expects expanded TFILLPAD only for loc=vec")
    if places == {AddressSpace.MAT} and source != result:
        tiles.fail(f"expects src/dst tile types to be lowerable to TFILLPAD for loc=mat{_mismatches(source, result)}")
    if _PADS[result.pad.data] is PadValue.NULL:
        tiles.fail("expects dst PadVal != Null for tfillpad")
    value = tiles.choice("padValue")
    if value is not None and result.location is not AddressSpace.MAT:
        tiles.fail("expects padValue attribute only for loc=mat tfillpad")
    if value is not None and value != _PADS[result.pad.data].value:
        tiles.fail("expects padValue attribute to match dst tile pad configuration")


def _mismatches(source: TileBufType, result: TileBufType) -> str:
    """Return in which fields two types differ."""
    found = [
        f"{name} ({'?' if before < 0 else before} vs {'?' if after < 0 else after})"
        for name, before, after in (
            ("v_row", source.valid_shape[0], result.valid_shape[0]),
            ("v_col", source.valid_shape[1], result.valid_shape[1]),
            ("pad", source.pad.data, result.pad.data),
        )
        if before != after
    ]
    return f"; mismatching fields: {', '.join(found)}" if found else ""
