"""Operations on memory in a dry run: scalars, tensors and tiles, with what each reads and writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.pto.attributes import AddressSpace, AtomicType, HardwarePipe
from ....dialects.pto.buffers import ImportReservedBufferOp, ReserveBufferOp, reservation_of
from ....dialects.pto.instructions import OPERATIONS, InstructionOp
from ....dialects.pto.internal_pipes import (
    number,
)
from ....dialects.pto.kernels import (
    core_of,
)
from ....dialects.pto.memory import (
    AddPtrOp,
    AllocTileOp,
    DeclareGlobalOp,
    DeclareTileOp,
    LoadScalarOp,
    MakeTensorViewOp,
    PartitionViewOp,
    SetValidShapeOp,
    StoreScalarOp,
    SubViewOp,
    TReshapeOp,
)
from ....dialects.pto.tiles import (
    TableOperation,
    TCvtOp,
    TileOperation,
    TLoadOp,
    TMovOp,
    TPrintOp,
    TStoreOp,
    is_product,
)
from ....dialects.pto.types import DYNAMIC, PtrType, TensorViewType, TileBufType, element_bytes
from ....operations.pto_instructions.tiles import TABLE as TILES
from .core_state import CoreState
from .rows import Rows
from .trace import Access, Kind, Problem
from .values import Pointer, Tile, View, whole_boxes
from .values import Region as Bytes

_MADE_OF_NUMBERS = ("pto.tci", "pto.texpands")
"""Operations whose first operand is the first, or each, element of the result."""

_GROUPS = "grpAxis"
"""The attribute of operations on groups of scales, whose further operands are for intermediate results."""


_WITHOUT_READS = ("tget_scale_addr", "tprefetch")
"""Instructions that read no elements of their sources: they take an address, or only prefetch."""

_NO_SCRATCH = "no_tmp"
"""The attribute of a merge without a tile for intermediate results, which is the last one otherwise."""

_MAX_COMPARED = 60_000
"""Elements of a part of which it is found out if some have one place."""

_OF_SCALAR_UNIT = frozenset({"tsetval", "tgetval"})
"""Instructions that the scalar unit performs (`getPipe` of PTOAS)."""

_UPDATED = frozenset({"taxpy"})
"""Instructions that read what they write."""

_ON_TILES = [
    row.name
    for row in TILES
    if "'ins'" in row.text and "'outs'" in row.text and row.name not in ("mgather", "mscatter", *_WITHOUT_READS)
]
"""Instructions that read the tiles of `ins(...)` and write those of `outs(...)`."""


class MemoryOperations(CoreState):
    """Executes the operations of a core on memory."""

    # -----------------------------------------------------------------------------------------
    # Global memory
    # -----------------------------------------------------------------------------------------

    def _add_pointer(self, op: AddPtrOp) -> None:
        pointer, offset = self.values.get(op.ptr), self.values.get(op.offset)
        assert isinstance(op.ptr.type, PtrType)
        size = element_bytes(op.ptr.type.element_type)
        if isinstance(pointer, Pointer):
            known = pointer.offset is not None and offset is not None and size is not None
            moved = pointer.offset + offset * size if known else None  # type: ignore[operator]
            found = Pointer(pointer.array, moved)
            self.values[op.result] = found if self.global_memory is None else self.global_memory.placed(found)

    def _tensor(self, op: MakeTensorViewOp) -> None:
        pointer = self.values.get(op.ptr)
        assert isinstance(op.result.type, TensorViewType)
        size = element_bytes(op.result.type.element_type)
        if isinstance(pointer, Pointer) and size is not None:
            extents, strides = (tuple(self.values.get(value) for value in each) for each in (op.shape, op.strides))
            self.values[op.result] = View(pointer.array, pointer.offset, extents, strides, size)

    def _partition(self, op: PartitionViewOp) -> None:
        whole = self.values.get(op.source)
        if not isinstance(whole, View):
            return
        offsets, sizes = ([self.values.get(value) for value in each] for each in (op.offsets, op.sizes))
        # A function for both kinds of cores may name parts that only the other kind uses.
        is_used = any(core_of(use.operation) in (None, self.kind) for use in op.result.uses)
        for place, (offset, size, limit) in enumerate(zip(offsets, sizes, whole.extents, strict=False)):
            if offset is None or size is None or limit is None or not is_used:
                continue
            if offset < 0 or size < 0 or offset + size > limit:
                self.trace.report(
                    Problem(
                        "outside-tensor",
                        op,
                        f"{self.place} views {size} elements from {offset} on of dimension {place} of '{whole.array}', "
                        f"which has {limit} there; correct offsets or sizes",
                    )
                )
        self.values[op.result] = whole.part(offsets, sizes)

    def _load_scalar(self, op: LoadScalarOp) -> None:
        pointer, offset = self.values.get(op.ptr), self.values.get(op.offset)
        self.values[op.value] = None
        region = self._element(op.ptr, pointer, offset)
        if not isinstance(pointer, Pointer):
            return
        self._step(op, "scalar", HardwarePipe.S, (Access(pointer.array, region, False),))
        array = self.arrays.get(pointer.array)
        if region is None or array is None or pointer.array in self.trace_written():
            return
        data = array.reshape(-1).view("u1")[region.start : region.start + region.size]
        if len(data) == region.size and array.dtype.kind in "iu" and array.dtype.itemsize == region.size:
            self.values[op.value] = int(data.view(array.dtype)[0])

    def trace_written(self) -> set[str]:
        """Return the arrays that some step has written."""
        return self.barrier.written

    def _store_scalar(self, op: StoreScalarOp) -> None:
        pointer, offset = self.values.get(op.ptr), self.values.get(op.offset)
        if isinstance(pointer, Pointer):
            region = self._element(op.ptr, pointer, offset)
            value = self.values.get(op.value)
            contents = None if value is None else ("number", value)
            self._step(op, "scalar", HardwarePipe.S, (Access(pointer.array, region, True, contents),))

    def _element(self, value: SSAValue, pointer: Any, offset: int | None) -> Bytes | None:
        assert isinstance(value.type, PtrType)
        size = element_bytes(value.type.element_type)
        if not isinstance(pointer, Pointer) or pointer.offset is None or offset is None or size is None:
            return None
        return Bytes(pointer.offset + offset * size, (), size)

    # -----------------------------------------------------------------------------------------
    # Tiles
    # -----------------------------------------------------------------------------------------

    def _allocate(self, op: AllocTileOp) -> None:
        kind = op.result.type
        assert isinstance(kind, TileBufType)
        address = None if op.addr is None else self.values.get(op.addr)
        valid = [
            stated if stated != DYNAMIC else None if given is None else self.values.get(given)
            for stated, given in zip(kind.valid_shape, (op.valid_row, op.valid_col), strict=True)
        ]
        for place, given in enumerate((op.valid_row, op.valid_col)):
            if given is None and kind.valid_shape[place] == DYNAMIC:
                valid[place] = kind.shape[place]
        self.values[op.result] = Tile.of(kind, address, (valid[0], valid[1]), object())

    def _declare(self, op: DeclareTileOp | DeclareGlobalOp) -> None:
        kind = op.results[0].type
        if isinstance(kind, TileBufType):
            valid = (whole if extent == DYNAMIC else extent
                     for extent, whole in zip(kind.valid_shape, kind.shape, strict=True))  # fmt: skip
            self.values[op.results[0]] = Tile.of(kind, None, (*valid,))  # type: ignore[arg-type]
        else:
            self.values[op.results[0]] = None

    def _set_valid(self, op: SetValidShapeOp) -> None:
        tile = self.values.get(op.source)
        if isinstance(tile, Tile):
            tile.valid = (self.values.get(op.valid_row), self.values.get(op.valid_col))

    def _assign(self, op: InstructionOp) -> None:
        tile = self.values.get(op.operands[0])
        if isinstance(tile, Tile):
            moved = Tile.of(tile.type, self.values.get(op.operands[1]), tile.valid)
            self.values[op.operands[0]] = self.values[op.results[0]] = moved

    def _subview(self, op: SubViewOp) -> None:
        whole, kind = self.values.get(op.source), op.result.type
        assert isinstance(kind, TileBufType)
        if not isinstance(whole, Tile):
            return
        offsets = [self.values.get(offset) for offset in op.offsets]
        address = whole.address
        for offset, stride in zip(offsets, whole.strides, strict=True):
            address = None if address is None or offset is None else address + offset * stride * whole.size
        valid = [
            stated if stated != DYNAMIC else size if given is None else self.values.get(given)
            for stated, given, size in zip(kind.valid_shape, (op.valid_row, op.valid_col), op.extents, strict=True)
        ]
        found = Tile(kind, address, (valid[0], valid[1]), whole.strides, whole.entry, whole.rows, whole.origin)
        self.values[op.result] = found

    def _reshape(self, op: TReshapeOp) -> None:
        before, kind = self.values.get(op.src), op.result.type
        assert isinstance(kind, TileBufType)
        if isinstance(before, Tile):
            valid = tuple(whole if extent == DYNAMIC else extent
                          for extent, whole in zip(kind.valid_shape, kind.shape, strict=True))  # fmt: skip
            found = Tile.of(kind, before.address, (valid[0], valid[1]), before.origin)
            found.entry = before.entry
            self.values[op.result] = found

    def _tile_operation(self, op: TileOperation) -> None:
        """Execute an operation that reads tiles, or a part of a tensor, and writes one."""
        destination = op.destination
        scratch = op.tmp if isinstance(op, TCvtOp) else op.scratch if isinstance(op, TableOperation) else None
        if isinstance(op, TMovOp) and op.fp is not None:
            factors = self.values.get(op.fp)
            # In this memory it is a tile for intermediate results, with which scales are put into boxes.
            scratch = op.fp if isinstance(factors, Tile) and factors.space is AddressSpace.VEC else None
        accesses: list[Access] = []
        contents: list[object] = [op.name]
        written = False
        for operand in op.operands:
            value = self.values.get(operand)
            if operand is destination and not written:
                written = True
                if not (isinstance(op, TableOperation) and operand in op.inputs):
                    continue
            if operand is scratch or (operand in op.operands[1:] and _GROUPS in (*op.properties, *op.attributes)):
                continue
            if isinstance(value, Tile):
                accesses.append(Access(self.memory.name(value), value.region(), False))
                contents.append(self.memory.read(op, value, operand.name_hint))
            elif isinstance(value, View):
                region = value.region()
                accesses.append(Access(value.array, region, False))
                contents.append(None if region is None else (value.array, region))
            elif value is None and isinstance(operand, BlockArgument) and isinstance(operand.owner.parent_op(), FuncOp):
                contents.append(operand)  # All cores have the same.
            else:
                contents.append(value)
        result, known = self.values.get(destination), None not in contents
        modes = (str(op.properties[key]) for key in sorted(op.properties) if "egment" not in key)
        signature = hash((*contents, *modes))
        rows = self._rows(op) if known else None
        kind, pipe = _kind_of(op, result, [self.values.get(operand) for operand in op.operands])
        extents, size = self._extents(op, result)
        if isinstance(result, Tile):
            accesses.append(Access(self.memory.name(result), result.region(), True))
            self._check_shapes(op, result)
            self._step(op, kind, pipe, tuple(accesses), extents=extents, size=size)
            is_known = op.name.startswith("pto.tmatmul") and len(extents) == 3 and 0 not in extents
            product = (extents[0], extents[2]) if is_known else None
            self.memory.write(result, signature if known else None, product, adds=".acc" in op.name)
            self._note_pitch(op, result)
            self._note_numbers(op, result)
            if rows is not None:
                self.memory.note_rows(result, rows)
        elif isinstance(result, View):
            atomic = isinstance(op, TStoreOp) and op.atomicType is not None and op.atomicType.data is AtomicType.ADD
            key = None if rows is None else rows.stored(result)
            stored = Access(result.array, self._stored(op, result), True, signature if known else None, atomic, key)
            self.barrier.written.add(result.array)
            if not atomic:
                self._check_rows(op, result)
            self._step(op, kind, pipe, (*accesses, stored), extents=extents, size=size)
        elif isinstance(destination.type, TileBufType):
            self.memory.lose()

    def _check_rows(self, op: TileOperation, view: View) -> None:
        """Report a store of rows, or columns, that have bytes in common."""
        numbers = [number for number in (*view.extents, *view.strides) if number is not None]
        if len(view.extents) != 2 or len(numbers) < 2 * len(view.extents):
            return
        rows, columns, pitch, distance = numbers
        one_row = (columns - 1) * abs(distance)
        if rows * columns > _MAX_COMPARED or (abs(pitch) > one_row and distance) or 0 in (rows, columns):
            return
        if len(_places(rows, columns, pitch, distance)) == rows * columns:
            return
        self.trace.report(
            Problem(
                "overlapping-rows",
                op,
                f"{rows} rows of {columns} elements are stored, but they begin {pitch} elements apart, and the "
                f"elements of a row are {distance} apart, so some are stored over others; correct the strides of the "
                "tensor",
            )
        )

    def _rows(self, op: TileOperation) -> Rows | None:
        """Return of which rows those of the result of an operation are made; None if each is made of several rows."""
        if isinstance(op, TLoadOp):
            view, tile = self.values.get(op.operands[0]), self.values.get(op.destination)
            if not isinstance(view, View) or not isinstance(tile, Tile) or view.extents != tile.valid:
                return None
            return Rows.loaded(view)
        modes = (str(value) for key, value in op.properties.items() if "egment" not in key)
        how: list[object] = [op.name, *sorted(modes)]
        if isinstance(op, TableOperation) and op.table_row().shape in ("elementwise", "row_reduction", "product"):
            row = op.table_row()
            kinds: Sequence[str] = row.operands
            if row.shape == "product":
                # The right tile, the last but for a bias, is the same for all rows.
                right = len(kinds) - (2 if kinds[-1] == "bias" else 1)
                kinds = ["per_column" if place == right else kind for place, kind in enumerate(kinds)]
            given = list(zip(kinds, op.sources, strict=True))
        elif isinstance(op, TMovOp | TCvtOp | TStoreOp):
            given = [("tile", op.operands[0])]
        else:
            return None
        sources: list[Rows | None] = []
        for kind, operand in given:
            value = self.values.get(operand)
            last = self.memory.last(value) if isinstance(value, Tile) else None
            if kind in ("tile", "per_row", "mask") and isinstance(value, Tile):
                sources.append(None if last is None else last.rows)
            elif isinstance(value, Tile):
                how.append(None if last is None else last.signature)
            else:
                how.append(operand if value is None else value)
        return Rows.computed(how, sources)

    def _stored(self, op: TileOperation, view: View) -> Bytes | None:
        """Return the bytes of a view that a store writes: no more than the tile has."""
        source = self.values.get(op.operands[0])
        if isinstance(source, Tile) and len(view.extents) == 2:
            valid = tuple(
                None if extent is None or room is None else min(extent, room)
                for extent, room in zip(view.extents, source.valid, strict=True)
            )
            return View(view.array, view.offset, valid, view.strides, view.size).region()
        return view.region()

    def _check_shapes(self, op: TileOperation, tile: Tile) -> None:
        """Report a load of more than the tile holds, and sources with fewer valid elements than the result."""
        if isinstance(op, TableOperation) and op.table_row().shape == "elementwise":
            self._check_sources(op, tile)
            return
        view = self.values.get(op.operands[0])
        if not isinstance(op, TLoadOp) or not isinstance(view, View) or len(view.extents) != 2:
            return
        extents = [extent for extent in (*view.extents, *tile.valid) if extent is not None]
        if len(extents) == 4 and extents[0] * extents[1] == extents[2] * extents[3]:
            return  # The same elements in another shape.
        for what, have, room in zip(("rows", "columns"), view.extents, tile.valid, strict=True):
            if have is not None and room is not None and have > room > 0:
                self.trace.report(
                    Problem(
                        "narrow-tile",
                        op,
                        f"the view has {have} {what}, and the tile {room} valid ones, so {have - room} are not loaded; "
                        "make the view and the tile agree",
                    )
                )

    def _check_sources(self, op: TableOperation, result: Tile) -> None:
        for kind, operand in zip(op.table_row().operands, op.sources, strict=True):
            source = self.values.get(operand)
            if kind != "tile" or not isinstance(source, Tile):
                continue
            for what, have, wanted in zip(("rows", "columns"), source.valid, result.valid, strict=True):
                if have is not None and wanted is not None and 0 < have < wanted:
                    self.trace.report(
                        Problem(
                            "narrow-tile",
                            op,
                            f"the result has {wanted} valid {what}, and a source {have}, so {wanted - have} of the "
                            "source are read that are not valid; make the valid shapes agree",
                            may=True,
                        )
                    )

    def _check_depth(self, op: Operation, left: Tile, right: Tile) -> None:
        """Report a product that sums over more than the valid rows of its right tile: the columns of its left one."""
        taken, have = left.valid[1], right.valid[0]
        if taken is not None and have is not None and 0 < have < taken:
            self.trace.report(
                Problem(
                    "narrow-tile",
                    op,
                    f"the product sums over {taken} elements, the valid columns of its left tile, but the right one "
                    f"has {have} valid rows, so {taken - have} of it are read that are not valid; make the two agree",
                    may=True,
                )
            )

    def _note_numbers(self, op: TileOperation, result: Tile) -> None:
        """Note the elements of tiles made of one number, or of numbers that count on."""
        if op.name not in _MADE_OF_NUMBERS or not result.valid[1]:
            return
        first = self.values.get(op.operands[0])
        is_descending = op.name == "pto.tci" and "true" in str(op.properties.get("descending"))
        if isinstance(first, int) and not is_descending and (result.valid[0] == 1 or op.name == "pto.texpands"):
            self.memory.note_numbers(result, first, int(op.name == "pto.tci"))

    def _instruction(self, op: InstructionOp) -> None:
        """Execute an instruction that reads the tiles of `ins(...)` and writes those of `outs(...)`."""
        outputs = op.row.text.partition("'outs'")[2]
        accesses: list[Access] = []
        contents: list[object] = [op.name]
        written: list[Tile] = []
        for name, operands in op.operand_groups.items():
            is_written = re.search(rf"%{name}\b", outputs) is not None
            for place, operand in enumerate(operands):
                value = self.values.get(operand)
                if not isinstance(value, Tile):
                    contents.append(value)
                    continue
                if is_written:
                    written.append(value)
                if (is_written and op.row.name not in _UPDATED) or _is_scratch(op, name, place):
                    continue
                accesses.append(Access(self.memory.name(value), value.region(), False))
                contents.append(self.memory.read(op, value, operand.name_hint))
        accesses += [Access(self.memory.name(tile), tile.region(), True) for tile in written]
        tiles = [value for operand in op.operands if isinstance(value := self.values.get(operand), Tile)]
        if all(tile.space is AddressSpace.VEC for tile in tiles):
            is_scalar = op.row.name in _OF_SCALAR_UNIT or (op.row.name == "tscatter" and self._scatters_one_by_one(op))
            extents = tuple(n or 0 for n in written[0].valid) if written else ()
            pipe = HardwarePipe.S if is_scalar else HardwarePipe.V
            self._step(op, "compute", pipe, tuple(accesses), extents=extents, size=written[0].size if written else 4)
        modes = (str(each) for _, each in sorted({**op.properties, **op.attributes}.items()))
        for place, tile in enumerate(written):
            self.memory.write(tile, None if None in contents else hash((*contents, *modes, place)))
        for result in op.results:
            self.values[result] = None

    def _scatters_one_by_one(self, op: InstructionOp) -> bool:
        """Return True for a scatter by indices on a2 and a3, which is a loop of the scalar unit."""
        return op.attribute("maskPattern") is None and self.program.chip != "a5"

    def _indexed(self, op: InstructionOp) -> None:
        """Execute a gather from a tensor or a scatter into one: elements, or rows, whose indices a tile has."""
        writes = op.row.name == "mscatter"
        view, tile, places = (
            self.values.get(op.operand_groups[name][0]) for name in ("mem", "src" if writes else "dst", "idx")
        )
        accesses: list[Access] = []
        for value, stores in ((tile, not writes), (places, False)):
            if isinstance(value, Tile):
                accesses.append(Access(self.memory.name(value), value.region(), stores))
                if not stores:
                    self.memory.read(op, value, op.operand_groups["idx" if value is places else "src"][0].name_hint)
        if isinstance(view, View):
            # Where the indices are not known, nor is what it touches.
            region = self._touched(op, view, places, tile)
            adds = str(getattr(op.attribute("scatterAtomicOp"), "data", "none")) != "none"
            accesses.append(Access(view.array, region, writes, None, adds))
            if writes:
                self.barrier.written.add(view.array)
        self._step(
            op, "store" if writes else "load", HardwarePipe.MTE3 if writes else HardwarePipe.MTE2, tuple(accesses)
        )
        if isinstance(tile, Tile) and not writes:
            self.memory.write(tile, None)
        elif not isinstance(tile, Tile):
            self.memory.lose()

    def _touched(self, op: InstructionOp, view: View, places: Any, tile: Any) -> Bytes | None:
        """Return the bytes of a tensor at indices that a tile has; None if these are not known."""
        numbers = self.memory.numbers(places) if isinstance(places, Tile) else None
        known = [n for n in (view.offset, *view.extents, *view.strides, *getattr(tile, "valid", ())) if n is not None]
        if numbers is None or len(known) != 3 + 2 * len(view.extents) or not isinstance(tile, Tile):
            return None
        first, step = numbers
        offset, rest = known[0], known[1:]
        extents, strides = rest[: len(view.extents)], rest[len(view.extents) : 2 * len(view.extents)]
        rows, columns = rest[-2:]
        is_contiguous = all(
            extent == 1 or stride == prod(extents[place + 1 :])
            for place, (extent, stride) in enumerate(zip(extents, strides, strict=True))
        )
        if str(getattr(op.attribute("coalesce"), "data", "elem")) == "elem":
            unit, count, inner = view.size, rows * columns, ()
        else:
            unit, count, inner = strides[-2] * view.size if len(strides) > 1 else 0, rows, ((columns, view.size),)
        last = first + (count - 1) * step
        if not is_contiguous or unit == 0 or first < 0 or last * unit >= prod(extents) * view.size:
            return None
        return Bytes(offset + first * unit, ((count if step else 1, step * unit), *inner), view.size)

    def _note_pitch(self, op: TileOperation, result: Tile) -> None:
        """Note the rows with which a product is in the accumulator: those of the left tile, in whole boxes."""
        if not op.name.startswith("pto.tmatmul"):
            return
        operands = [self.values.get(operand) for operand in op.operands]
        left = next((tile for tile in operands if isinstance(tile, Tile) and tile.space is AddressSpace.LEFT), None)
        if left is not None and left.valid[0]:
            self.memory.set_pitch(result, whole_boxes(left.valid[0]))

    def _extents(self, op: Operation, result: Any) -> tuple[tuple[int, ...], int]:
        values = [self.values.get(operand) for operand in op.operands]
        tiles = [value for value in values if isinstance(value, Tile)]
        if is_product(op):
            left = next((tile for tile in tiles if tile.space is AddressSpace.LEFT), None)
            right = next((tile for tile in tiles if tile.space is AddressSpace.RIGHT), None)
            if left is not None and right is not None:
                self._check_depth(op, left, right)
            if left is not None and right is not None and op.name.startswith("pto.tmatmul"):
                return tuple(n or 0 for n in (*left.valid, right.valid[1])), left.size
        # An extract or insert only moves the part; other operations work on the widest of their tiles.
        chosen = min if op.name.startswith(("pto.textract", "pto.tinsert")) else max
        tile = chosen(tiles, key=lambda tile: (tile.valid[0] or 0) * (tile.valid[1] or 0), default=None)
        return ((), 4) if tile is None else (tuple(n or 0 for n in tile.valid), tile.size)

    def _print(self, op: TPrintOp) -> None:
        value = self.values.get(op.src)
        if isinstance(value, Tile):
            self.memory.read(op, value, op.src.name_hint)

    def _reserve(self, op: ReserveBufferOp | ImportReservedBufferOp) -> None:
        reserved = reservation_of(op.addr)
        base = None if reserved is None else reserved.base
        self.values[op.addr] = None if base is None else number(base)

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        AddPtrOp: _add_pointer,
        MakeTensorViewOp: _tensor,
        PartitionViewOp: _partition,
        LoadScalarOp: _load_scalar,
        StoreScalarOp: _store_scalar,
        AllocTileOp: _allocate,
        OPERATIONS["tassign"]: _assign,
        DeclareTileOp: _declare,
        DeclareGlobalOp: _declare,
        SetValidShapeOp: _set_valid,
        SubViewOp: _subview,
        TReshapeOp: _reshape,
        TPrintOp: _print,
        **dict.fromkeys((OPERATIONS[name] for name in _ON_TILES), _instruction),
        OPERATIONS["mgather"]: _indexed,
        OPERATIONS["mscatter"]: _indexed,
        ReserveBufferOp: _reserve,
        ImportReservedBufferOp: _reserve,
    }


def _is_scratch(op: InstructionOp, name: str, place: int) -> bool:
    """Return True for a tile for intermediate results among operands of a name: behind the indices of a gather, or the
    lists of a merge."""
    match op.row.name:
        case "tgather":
            return name == "extra" and place > 0
        case "tmrgsort":
            is_last = place > 0 and place == len(op.operand_groups[name]) - 1
            return name == "srcs" and is_last and op.attribute(_NO_SCRATCH) is None
        case _:
            return False


def _places(rows: int, columns: int, pitch: int, distance: int) -> set[int]:
    """Return where the elements of a part are."""
    return {row * pitch + column * distance for row in range(rows) for column in range(columns)}


def _kind_of(op: TileOperation, result: Any, operands: Sequence[Any]) -> tuple[Kind, HardwarePipe]:
    """Return the kind of an operation on tiles, and the pipe of the core that performs it."""
    if isinstance(op, TLoadOp):
        return "load", HardwarePipe.MTE2
    source = next((value for value in operands if isinstance(value, Tile)), None)
    if isinstance(op, TStoreOp):
        of_acc = source is not None and source.space is AddressSpace.ACC
        return "store", HardwarePipe.FIX if of_acc else HardwarePipe.MTE3
    if is_product(op):
        return "product", HardwarePipe.M
    if op.name == "pto.tci":
        return "compute", HardwarePipe.S
    if isinstance(result, Tile) and source is not None and (result.space is not source.space):
        if source.space is AddressSpace.ACC:
            return "move", HardwarePipe.FIX
        return "move", HardwarePipe.MTE1 if source.space is AddressSpace.MAT else HardwarePipe.MTE3
    return "compute", HardwarePipe.V
