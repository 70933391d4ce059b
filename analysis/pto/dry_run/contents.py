"""Contents of a core's own memories in a dry run: what has been written where.

Contents are signatures, which are equal for equal data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ....diagnostics.locations import location_of
from ....dialects.pto.attributes import AddressSpace
from ....dialects.pto.tiles import is_product
from ....targets.chip import BOX_ROWS
from ..local_memory import tile_bytes
from .rows import Rows
from .trace import Problem, Trace
from .values import PACKED, Tile, whole_boxes


@dataclass
class Written:
    """The contents of some bytes, from `start` to `end`."""

    start: int
    end: int
    tile: Tile
    signature: object
    rows: Rows | None = None
    numbers: tuple[int, int] | None = None
    """The first of its elements and by how much they grow, row by row, if that is known."""
    pitch: int | None = None
    """Rows by which columns of boxes of a product are apart in the accumulator."""
    product: tuple[int, int] | None = None
    """The rows and columns that products have written; None if others have written there, or that is not known."""
    latest: tuple[int, int] | None = None
    """Of these, those that the last product has written, and what was added to it."""
    by: Operation | None = None
    """The operation that has written it."""
    is_read: bool = False
    lost: dict[object, Operation] = field(default_factory=dict[object, Operation])
    """The tiles, by their origin, of which this has overwritten what nothing had read, each with what wrote that."""


class Contents:
    """The local memories of one core: which tile was written last to which bytes."""

    def __init__(self, trace: Trace, core: int) -> None:
        self._trace = trace
        self._core = core
        self._written: dict[AddressSpace, list[Written]] = {}
        self._is_lost = False
        """True if something may have been written anywhere."""
        self.op: Operation | None = None
        """The operation that is executed."""

    def name(self, tile: Tile) -> str:
        """Return the name of the memory of a tile, unique in the program."""
        return self._trace.cores[self._core].memory(tile.space.value)

    def write(
        self, tile: Tile, signature: object, product: tuple[int, int] | None = None, *, adds: bool = False
    ) -> None:
        """Record that the valid part of a tile has been written; what it covers whole is gone.

        A `product` of so many rows and columns writes no more of it than that, and with `adds`, adds to what is there.
        """
        region = tile.region()
        if region is None:
            # How much of it is unknown: all of it may be.
            size = tile_bytes(tile.type)
            if tile.address is None or size is None:
                self.lose()
                return
            low, high, signature = tile.address, tile.address + size, None
        elif region.is_empty:
            return
        else:
            low, high = region.low, region.high
        before = self._written.setdefault(tile.space, [])
        kept = [part for part in before if part.start < low or part.end > high]
        written = Written(low, high, tile, signature, by=self.op, lost=_overwritten(before, tile, low, high))
        if product is not None and not self._is_lost:
            written.product, written.latest = _with_earlier(product, written, before, adds=adds)
        kept.append(written)
        self._written[tile.space] = kept

    def note_rows(self, tile: Tile, rows: Rows) -> None:
        """Note of which rows those are made that have been written last to a tile."""
        region = tile.region()
        for part in reversed(self._written.get(tile.space, ())):
            if region is not None and part.start == region.low:
                part.rows = rows
                return

    def last(self, tile: Tile) -> Written | None:
        """Return what has been written last to exactly the bytes of a tile; None if that is not known."""
        region = tile.region()
        if region is None or self._is_lost:
            return None
        for part in reversed(self._written.get(tile.space, ())):
            if part.start < region.high and region.low < part.end:
                return part if (part.start, part.end) == (region.low, region.high) else None
        return None

    def note_numbers(self, tile: Tile, first: int, step: int) -> None:
        """Note the elements that have been written last to a tile."""
        region = tile.region()
        for part in reversed(self._written.get(tile.space, ())):
            if region is not None and part.start == region.low:
                part.numbers = first, step
                return

    def numbers(self, tile: Tile) -> tuple[int, int] | None:
        """Return the first of the elements of a tile and by how much they grow; None if that is not known."""
        last = self.last(tile)
        return None if last is None else last.numbers

    def lose(self) -> None:
        """Note that an unknown place may have been written."""
        self._is_lost = True

    def read(self, op: Operation, tile: Tile, name: str | None = None) -> object:
        """Return the signature of the contents of a tile, None if unknown; report a tile that nothing has written, by
        its name in the text."""
        region = tile.region()
        if region is None:
            for part in self._written.get(tile.space, ()):
                part.is_read = True
            return None
        if region.is_empty:
            return "empty"
        low, high = region.low, region.high
        found: Written | None = None
        for part in reversed(self._written.get(tile.space, ())):
            if part.start < high and low < part.end:
                found = part
                break
        if found is None and self._is_lost:
            return None
        if found is None:
            which = "the tile" if name is None else f"the tile %{name}"
            what = "pushed" if "push" in op.name else "stored" if op.name == "pto.tstore" else "read"
            self._trace.report(
                Problem(
                    "unwritten-tile",
                    op,
                    f"{which} in bytes {low} to {high - 1} of '{tile.space.value}' is {what} on "
                    f"{self._trace.cores[self._core].name}, but nothing has written there; load or compute it before",
                    may=what == "read",
                    core=self._core,
                )
            )
            return None
        self._note_read(op, tile, name, found)
        if found.pitch is not None and tile.valid[1] is not None and tile.valid[1] > BOX_ROWS:
            self._check_pitch(op, tile, found.pitch)
        if found.product is not None and found.start == low and not is_product(op):
            self._check_product(op, tile, found.product, found.latest or found.product)
        if found.start == low and found.end == high:
            return found.signature
        inside = found.start <= low and high <= found.end
        return ("part", found.signature, low - found.start, region.dimensions) if inside and found.signature else None

    def _note_read(self, op: Operation, tile: Tile, name: str | None, found: Written) -> None:
        """Note that a tile is read, and report what has been written to it if another tile overwrote that unread."""
        region = tile.region()
        for part in self._written.get(tile.space, ()):
            if region is not None and part.start < region.high and region.low < part.end:
                part.is_read = True
        before = None if tile.origin is None else found.lost.get(tile.origin)
        if before is None or found.by is None or region is None:
            return
        which = "the tile" if name is None else f"the tile %{name}"
        self._trace.report(
            Problem(
                "overlapping-tiles",
                op,
                f"{which} in bytes {region.low} to {region.high - 1} of '{tile.space.value}' is read on "
                f"{self._trace.cores[self._core].name}, but what {_shown(before)} has written there is overwritten by "
                f"{_shown(found.by)}, through another tile with an address there, before anything has read it; give "
                "the two addresses apart",
                may=True,
                core=self._core,
            )
        )

    def set_pitch(self, tile: Tile, rows: int) -> None:
        """Record the number of rows of the product that was last written to a tile."""
        region = tile.region()
        for part in reversed(self._written.get(tile.space, ())):
            if region is not None and part.start == region.low:
                part.pitch = rows
                return

    def _check_pitch(self, op: Operation, tile: Tile, written: int) -> None:
        """Report a product that is read with another pitch than the chip writes it with: that of its valid rows."""
        pitch = tile.pitch
        if pitch is None or pitch == written:
            return
        remedy = (
            f"keep {written} valid rows in it"
            if tile.type.compact.data == PACKED
            else f"write compact=1 in the type of the accumulator, or allocate it with {written} rows"
        )
        self._trace.report(
            Problem(
                "accumulator-pitch",
                op,
                f"the chip puts the boxes of this product {written} rows apart, those of its left tile, but they are "
                f"read {pitch} rows apart, as the tile says, so columns from {BOX_ROWS} on are wrong; {remedy}",
            )
        )

    def _check_product(self, op: Operation, tile: Tile, product: tuple[int, int], latest: tuple[int, int]) -> None:
        """Report that more of an accumulator is read than products, or the last, have written, boxes counted whole."""
        for what, written, last, valid in zip(("rows", "columns"), product, latest, tile.valid, strict=True):
            if valid is None:
                continue
            if whole_boxes(last) < valid <= whole_boxes(written):
                self._trace.report(
                    Problem(
                        "unwritten-tile",
                        op,
                        f"{valid} {what} of the accumulator are {'stored' if op.name == 'pto.tstore' else 'read'}, but "
                        f"the last product has written {last}, so the others are those of an earlier one; give the "
                        f"accumulator {last} valid {what}, or the operands {valid}",
                        may=True,
                        core=self._core,
                    )
                )
                return
            if valid > whole_boxes(written):
                self._trace.report(
                    Problem(
                        "unwritten-tile",
                        op,
                        f"{valid} {what} of the accumulator are {'stored' if op.name == 'pto.tstore' else 'read'}, but "
                        f"the products have written {written}, as many as their operands have valid ones; "
                        f"give the accumulator {written} valid {what}, or the operands {valid}",
                        may=op.name != "pto.tstore",
                        core=self._core,
                    )
                )
                return


def _overwritten(before: Sequence[Written], tile: Tile, low: int, high: int) -> dict[object, Operation]:
    """Return the other tiles of which a write to bytes overwrites what nothing has read, each with what wrote it.

    A write inside of what was written, or around a part of it, may be meant so: it fills in a part, or makes it whole.
    """
    found: dict[object, Operation] = {}
    for part in before:
        if part.start >= high or part.end <= low:
            continue
        covers, apart = part.start >= low and part.end <= high, part.start < low < part.end < high
        apart = apart or low < part.start < high < part.end
        owner = part.tile.origin
        if covers:
            found.update(part.lost)
        if (covers or apart) and not part.is_read and owner is not None and tile.origin is not None and part.by:
            found[owner] = part.by
    if tile.origin is not None:
        found.pop(tile.origin, None)
    return found


def _shown(op: Operation) -> str:
    place = location_of(op)
    return op.name if place is None else f"{op.name} at {place}"


def _with_earlier(
    product: tuple[int, int], written: Written, before: Sequence[Written], *, adds: bool
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Return the rows and columns that a product and those before it have written, and those of the last alone.

    None if others have written there, too. A product that `adds` to what is there belongs to the one before it.
    """
    earlier = [part for part in before if part.start < written.end and written.start < part.end]
    if not earlier:
        return product, product
    if len(earlier) > 1 or earlier[0].product is None or earlier[0].start != written.start:
        return None, None
    last = earlier[0].latest if adds else None
    return _larger(earlier[0].product, product), product if last is None else _larger(last, product)


def _larger(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    return max(left[0], right[0]), max(left[1], right[1])
