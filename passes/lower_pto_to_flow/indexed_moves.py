"""Moves of elements to and from indices, of a tile or a tensor: gathers, scatters, and what is made of them."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import BoolAttr, UnitAttr, i32, i64
from xdsl.ir import SSAValue

from ...analysis.pto.pipe_ends import refusal
from ...dialects import flow
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.types import TileBufType, element_bytes
from ...operations.tile_functions import COMPARISONS
from ...targets.tile_limits import HISTOGRAM_BINS
from .emission import Emitter
from .instruction_context import Instructions, Scratch, given, number_of, shape_of, whole, word_of
from .tile_operations import ui8, ui16, ui32
from .views import Number, View

_PATTERNS = {
    "P0101": (2, 0), "P1010": (2, 1), "P0001": (4, 0), "P0010": (4, 1), "P0100": (4, 2), "P1000": (4, 3),
    "P1111": (1, 0),
}  # fmt: skip
"""Of how many elements one is taken, and which."""


def gather(kernel: Instructions, op: InstructionOp) -> None:
    """Take elements at indices, counted row by row in the whole source, or those of a pattern."""
    pattern = op.attribute("maskPattern")
    source, target = kernel.view(op, "src"), kernel.view(op, "dst")
    if pattern is not None:
        part = _of_pattern(kernel, op, source, str(getattr(pattern, "data", "")))
        kernel.emitter.apply("copy", replace(target, extents=part.extents), [part])
        return
    extra = op.operand_groups["extra"]
    if op.operand("cdst") is not None:
        _gather_places(kernel, op, source, target)
        return
    places = replace(kernel.handles.view(extra[0]), extents=target.extents)
    kernel.emitter.apply("gather", target, [replace(whole(op, "src", source), element=target.element), places])


def _gather_places(kernel: Instructions, op: InstructionOp, source: View, target: View) -> None:
    """Write the places of the elements of each row that compare with a number, and how many there are.

    Places count the elements of the whole tile, from `offset` on. A row of the result has as many of them as it has
    valid columns, and what is behind the last one stays.
    """
    emitter, scratch, room = kernel.emitter, Scratch(kernel.tiles), shape_of(op, "src")
    rows, columns = source.extents
    number = op.operand_groups["extra"][0]
    bits, keys = scratch.bits(source.extents, room), scratch.view(i32, source.extents, room)
    emitter.apply(f"compare_{COMPARISONS[word_of(op, 'cmpMode', 'eq')]}", bits, [source, kernel.handles.value(number)])
    emitter.apply("select", keys, [bits, emitter.constant(1), emitter.constant(0)])
    places = scratch.view(i64, (rows, room[1]), room)
    emitter.apply("count", places, [emitter.constant(number_of(op, "offset", 0)), emitter.constant(1)])
    places = replace(places, extents=source.extents)
    emitter.apply("sort_pairs", places, [places, keys])
    counts = scratch.view(i32, (rows, 1), (room[0], 1))
    emitter.apply("row_sum", counts, [keys])
    of_rows = kernel.view(op, "cdst")
    emitter.apply("copy", replace(of_rows, extents=(rows, 1), strides=(1, 1)), [counts])
    kept = target.extents[1]
    if isinstance(kept, int) and isinstance(columns, int):
        kept = min(kept, columns)
    emitter.at_most(kept, columns, f"the result of {op.name} has no more valid columns than its source")
    shape, across = (rows, kept), scratch.view(i32, (1, kept), (1, room[1]))
    wide, is_kept = scratch.view(i32, shape, room), scratch.bits(shape, room)
    limits = scratch.view(i32, shape, room)
    emitter.apply("count", across, [emitter.constant(0), emitter.constant(1)])
    emitter.apply("fill", wide, [across])
    emitter.apply("fill", limits, [counts])
    emitter.apply("compare_less", is_kept, [wide, limits])
    into = replace(target, extents=shape)
    emitter.apply("select", into, [is_kept, replace(places, extents=shape), into])


def scatter(kernel: Instructions, op: InstructionOp) -> None:
    """Write elements at indices, counted row by row in the whole destination, or at those of a pattern."""
    pattern = op.attribute("maskPattern")
    source, target = kernel.view(op, "src"), kernel.view(op, "dst")
    if pattern is not None:
        part = _of_pattern(kernel, op, target, str(getattr(pattern, "data", "")))
        kernel.emitter.apply("fill", target, [kernel.emitter.zero(target.element)])
        kernel.emitter.apply("copy", part, [replace(source, extents=part.extents)])
        return
    places = kernel.view(op, "indexes")
    line = replace(source, extents=places.extents, element=target.element)
    kernel.emitter.apply("scatter", whole(op, "dst", target), [line, places])


def _of_pattern(kernel: Instructions, op: InstructionOp, view: View, pattern: str) -> View:
    """Return the rows or columns of a tile that a pattern takes."""
    axis = op.attribute("axis")
    every, first = _PATTERNS[pattern]
    dimension = 0 if axis is not None and getattr(axis, "data", "") == "col" else 1
    size = element_bytes(view.element)
    assert size is not None
    extents, strides = list(view.extents), list(view.strides)
    taken = kernel.emitter.divide(kernel.emitter.add(extents[dimension], every - 1 - first), every)
    shift = kernel.emitter.multiply(strides[dimension], first * size)
    extents[dimension], strides[dimension] = taken, kernel.emitter.multiply(strides[dimension], every)
    address = kernel.emitter.add(view.address, shift)
    return replace(view, address=address, extents=tuple(extents), strides=tuple(strides))


def _rows_and_columns(view: View) -> tuple[Number, Number]:
    *rows, columns = view.extents
    return rows[-1] if rows else 1, columns


def _places(
    kernel: Instructions, op: InstructionOp, scratch: Scratch, memory: View, line: View, outside: str
) -> tuple[View, View, Number]:
    """Return where each element of a tile is in a tensor: the tensor, places in it, and how many elements it has.

    Indices are taken as numbers without a sign, as the cores do.
    """
    emitter = kernel.emitter
    rows, columns = line.extents
    room = shape_of(op, "dst" if op.operand("src") is None else "src")
    index = given(op, "idx")
    indices = replace(kernel.handles.view(index), element=ui32)
    places = scratch.view(i64, (rows, columns), room)

    def bound(view: View, count: Number) -> None:
        if outside == "clamp":
            emitter.apply("minimum", view, [view, emitter.value(emitter.subtract(count, 1))])
        elif outside == "wrap":
            emitter.apply("remainder", view, [view, emitter.value(count)])

    if word_of(op, "coalesce", "elem") == "elem":
        count = emitter.product(memory.extents)
        emitter.apply("copy", places, [replace(indices, extents=(rows, columns))])
        bound(places, count)
        return replace(memory, extents=(count,), strides=(1,)), places, count
    height, width = _rows_and_columns(memory)
    flat = isinstance(index.type, TileBufType) and index.type.rows == 1
    by_row = replace(indices, extents=(rows, 1), strides=indices.strides[::-1] if flat else indices.strides)
    numbers = scratch.view(i64, (rows, 1), (room[0], 1))
    across = scratch.view(i64, (1, columns), (1, room[1]))
    emitter.apply("copy", numbers, [by_row])
    bound(numbers, height)
    if outside not in ("clamp", "wrap", "zero", "skip"):
        # The error about a place would count elements.
        last = emitter.subtract(height, 1)
        largest = _extreme(kernel, scratch, numbers, "row_maximum")
        emitter.at_most(largest, last, f"every row of {op.name} is in its tensor", "one of them")
    emitter.apply("count", across, [emitter.constant(0), emitter.constant(1)])
    emitter.apply("multiply", numbers, [numbers, emitter.value(width)])
    emitter.apply("add", places, [numbers, across])
    matrix = replace(memory, extents=memory.extents[-2:], strides=memory.strides[-2:])
    return matrix, places, emitter.multiply(height, width)


def gather_from_memory(kernel: Instructions, op: InstructionOp) -> None:
    """Take rows or elements of a tensor at indices."""
    emitter = kernel.emitter
    target, scratch = kernel.view(op, "dst"), Scratch(kernel.tiles)
    outside = word_of(op, "gatherOob", "undefined")
    memory, places, count = _places(kernel, op, scratch, kernel.view(op, "mem"), target, outside)
    if outside != "zero":
        emitter.apply("gather", target, [memory, places])
        return
    inside = scratch.bits(places.extents, shape_of(op, "dst"))
    emitter.apply("compare_less", inside, [places, emitter.value(count)])
    emitter.apply("minimum", places, [places, emitter.value(emitter.subtract(count, 1))])
    emitter.apply("gather", target, [memory, places])
    emitter.apply("select", target, [inside, target, emitter.zero(target.element)])


_SCATTERS = {"none": "scatter", "add": "scatter_add", "max": "scatter_maximum", "min": "scatter_minimum"}
"""The function of each way to combine an element with the one that is there."""


def scatter_to_memory(kernel: Instructions, op: InstructionOp) -> None:
    """Write rows or elements of a tile to indices of a tensor, in their order, or combine them with what is there."""
    source, scratch = kernel.view(op, "src"), Scratch(kernel.tiles)
    outside = word_of(op, "scatterOob", "undefined")
    function = _SCATTERS[word_of(op, "scatterAtomicOp", "none")]
    memory, places, count = _places(kernel, op, scratch, kernel.view(op, "mem"), source, outside)
    if outside == "skip":
        source, places = _those_inside(kernel, scratch, source, places, count, shape_of(op, "src"))
    kernel.emitter.apply(function, memory, [source, places])


def _those_inside(
    kernel: Instructions, scratch: Scratch, source: View, places: View, count: Number, room: tuple[int, int]
) -> tuple[View, View]:
    """Return the elements whose places are below a count, one after the other in their order, and their places."""
    emitter, extents = kernel.emitter, source.extents
    length, most = emitter.product(extents), room[0] * room[1]
    order = scratch.view(i64, (1, length), (1, most))
    inside = scratch.bits(extents, room)
    chosen = scratch.view(ui8, extents, room)
    keys = scratch.view(ui8, (1, length), (1, most))
    number = scratch.view(i64, (1, 1), (1, 1))
    emitter.apply("compare_less", inside, [places, emitter.value(count)])
    emitter.apply("select", chosen, [inside, emitter.constant(1), emitter.constant(0)])
    emitter.apply("copy", keys, [chosen], {"reshape": UnitAttr()})
    emitter.apply("count", order, [emitter.constant(0), emitter.constant(1)])
    emitter.apply("merge_pairs", order, [order, keys])
    kept: list[View] = []
    for view in (source, places):
        into = scratch.view(view.element, (1, length), (1, most))
        emitter.apply("gather", into, [view, order])
        kept.append(into)
    emitter.apply("fill", number, [emitter.constant(0)])
    emitter.apply("row_sum", number, [_as_integers(emitter, scratch, keys, most)])
    taken = emitter.make(flow.TileGetOp(emitter.tile(number), i64))
    elements, at = (replace(view, extents=(1, taken)) for view in kept)
    return elements, at


def _as_integers(emitter: Emitter, scratch: Scratch, flags: View, most: int) -> View:
    """Return ones and zeros of 8 bits as integers that a sum does not overflow."""
    wide = scratch.view(i64, flags.extents, (1, most))
    emitter.apply("copy", wide, [flags])
    return wide


_BLOCK_BYTES = 32


def gather_blocks(kernel: Instructions, op: InstructionOp) -> None:
    """Copy blocks of 32 bytes from offsets in bytes, one for each block of the result."""
    emitter, room = kernel.emitter, shape_of(op, "dst")
    source, target, offsets = (kernel.view(op, name) for name in ("src", "dst", "offsets"))
    size, source_size = _bytes_of(op, target), _bytes_of(op, source)
    rows, columns = target.extents
    length = emitter.multiply(columns, size)
    if isinstance(length, int) and length % _BLOCK_BYTES:
        raise refusal(
            op, f"gathers rows of {length} bytes in blocks of {_BLOCK_BYTES}, and the last block has no offset of its "
            f"own; make the valid columns of the result a multiple of {_BLOCK_BYTES // size}"
        )  # fmt: skip
    emitter.equal(emitter.remainder(length, _BLOCK_BYTES), 0,
                  f"the valid columns of the result of {op.name} are whole blocks of {_BLOCK_BYTES} bytes")  # fmt: skip
    blocks = emitter.divide(length, _BLOCK_BYTES)
    most = (room[0], -(-room[1] * size // _BLOCK_BYTES))
    for number, limit, what in zip((rows, blocks), shape_of(op, "offsets"), ("row", "block"), strict=True):
        if isinstance(number, int) and number > limit:
            raise refusal(op, f"has {limit} offsets for {number} {what}s of the result; give one for each {what}")
        emitter.at_most(number, limit, f"{op.name} has an offset for each {what} of the result")
    scratch = Scratch(kernel.tiles)
    places = scratch.view(i64, (rows, blocks, _BLOCK_BYTES), (*most, _BLOCK_BYTES))
    within = scratch.view(i64, (1, _BLOCK_BYTES), (1, _BLOCK_BYTES))
    of_blocks = replace(offsets, element=ui32, extents=(rows, blocks, 1), strides=(*offsets.strides, 1))
    emitter.apply("fill", places, [of_blocks])
    emitter.apply("count", within, [emitter.constant(0), emitter.constant(1)])
    emitter.apply("add", places, [places, within])
    table = replace(
        source, element=ui8, extents=(shape_of(op, "src")[0], shape_of(op, "src")[1] * source_size),
        strides=(emitter.multiply(source.strides[0], source_size), 1),
    )  # fmt: skip
    result = replace(
        target, element=ui8, extents=(rows, blocks, _BLOCK_BYTES),
        strides=(emitter.multiply(target.strides[0], size), _BLOCK_BYTES, 1),
    )  # fmt: skip
    emitter.apply("gather", result, [table, places])


def _bytes_of(op: InstructionOp, view: View) -> int:
    size = element_bytes(view.element)
    if size is None:
        raise refusal(op, f"uses elements of type {view.element}, whose size is unknown")
    if view.strides[-1] != 1:
        raise refusal(op, "gathers blocks of a tile that is not row-major; use a row-major tile")
    return size


def concatenate_by_lengths(kernel: Instructions, op: InstructionOp) -> None:
    """Write the first elements of each row of two tiles side by side, as many as their lengths say, and no others.

    A length counts elements times the bytes of its own type. What does not fit in the valid columns of the result is
    left out.
    """
    emitter, target, room = kernel.emitter, kernel.view(op, "dst"), shape_of(op, "dst")
    rows, columns = target.extents
    scratch = Scratch(kernel.tiles)
    line, start = scratch.view(i64, (1, columns), (1, room[1])), scratch.view(i64, (rows, 1), (room[0], 1))
    emitter.apply("count", line, [emitter.constant(0), emitter.constant(1)])
    emitter.apply("fill", start, [emitter.constant(0)])
    for place in (0, 1):
        source, lengths = kernel.view(op, f"src{place}"), kernel.view(op, f"src{place}Idx")
        size = element_bytes(lengths.element)
        assert size is not None
        shape = shape_of(op, f"src{place}")
        end = scratch.view(i64, (rows, 1), (room[0], 1))
        emitter.apply("fill", end, [replace(lengths, extents=(rows, 1))])
        emitter.apply("divide", end, [end, emitter.constant(size)])
        _check_lengths(kernel, op, scratch, end, source, place)
        # Columns of the source that are written to each column of the result: those below its length are meant.
        across = scratch.view(i64, (rows, columns), room)
        emitter.apply("subtract", across, [line, start])
        behind, before = scratch.bits((rows, columns), room), scratch.bits((rows, columns), room)
        emitter.apply("compare_at_least", behind, [across, emitter.constant(0)])
        beyond = scratch.view(i64, (rows, columns), room)
        emitter.apply("subtract", beyond, [across, end])
        emitter.apply("compare_less", before, [beyond, emitter.constant(0)])
        emitter.apply("bit_and", before, [before, behind])
        emitter.apply("add", start, [start, end])
        emitter.apply("select", across, [before, across, emitter.constant(0)])
        of_row = scratch.view(i64, (rows, 1), (room[0], 1))
        emitter.apply("count", of_row, [emitter.constant(0), emitter.constant(shape[1])])
        emitter.apply("add", across, [across, of_row])
        taken = scratch.view(target.element, (rows, columns), room)
        emitter.apply("gather", taken, [whole(op, f"src{place}", source), across])
        emitter.apply("select", target, [before, taken, target])


def _check_lengths(
    kernel: Instructions, op: InstructionOp, scratch: Scratch, lengths: View, source: View, place: int
) -> None:
    """Assert at run time that no length is negative, or larger than a row of its tile."""
    for function in ("row_minimum", "row_maximum"):
        kernel.emitter.at_most(
            _extreme(kernel, scratch, lengths, function), source.extents[1],
            f"no length in src{place}Idx of {op.name} is above the valid columns of src{place}", "one of them",
        )  # fmt: skip


def _extreme(kernel: Instructions, scratch: Scratch, column: View, function: str) -> SSAValue:
    """Return the least or largest number of a column, 0 if it has no rows; `function` says which."""
    emitter = kernel.emitter
    turned = replace(column, extents=column.extents[::-1], strides=column.strides[::-1])
    found = scratch.view(i64, (1, 1), (1, 1))
    emitter.apply("fill", found, [emitter.constant(0)])
    emitter.apply(function, found, [turned])
    return emitter.make(flow.TileGetOp(emitter.tile(found), i64))


def count_bytes(kernel: Instructions, op: InstructionOp) -> None:
    """Count for each row and each byte the elements whose byte is at most that one, and whose upper bytes are given.

    The headers for a5 and the simulator count up to each byte, though the manual counts each by itself.
    """
    emitter, target = kernel.emitter, kernel.view(op, "dst")
    source, given_bytes, room = kernel.view(op, "src"), kernel.view(op, "idx"), shape_of(op, "src")
    width = element_bytes(source.element)
    assert width in (2, 4), "the verifier takes no others"
    byte, rows = _counted_byte(op), source.extents[0]
    scratch = Scratch(kernel.tiles)
    numbers, weights, filtered, part = (scratch.view(i64, source.extents, room) for _ in range(4))
    passes = scratch.bits(source.extents, room)
    emitter.apply("copy", numbers, [replace(source, element=ui32 if width == 4 else ui16)])
    emitter.apply("fill", weights, [emitter.constant(1)])

    def take(number: int) -> None:
        """Write one byte of each element."""
        emitter.apply("shift_right", part, [numbers, emitter.constant(8 * number)])
        emitter.apply("bit_and", part, [part, emitter.constant(HISTOGRAM_BINS - 1)])

    for place, upper in enumerate(range(width - 1, byte, -1)):
        # One byte for each row, or one row of bytes for each upper byte.
        one = replace(given_bytes, element=ui8, extents=(rows, 1) if width == 2 else (1, 1))
        if width == 4:
            one = replace(one, address=emitter.add(one.address, emitter.multiply(one.strides[0], place)))
        wanted = scratch.view(i64, one.extents, (room[0], 1))
        emitter.apply("copy", wanted, [one])
        take(upper)
        emitter.apply("subtract", part, [part, wanted])
        emitter.apply("compare_equal", passes, [part, emitter.constant(0)])
        emitter.apply("select", filtered, [passes, weights, emitter.constant(0)])
        emitter.apply("copy", weights, [filtered])
    take(byte)
    counts = scratch.view(i64, (rows, HISTOGRAM_BINS), (room[0], HISTOGRAM_BINS))
    starts = scratch.view(i64, (rows, 1), (room[0], 1))
    emitter.apply("count", starts, [emitter.constant(0), emitter.constant(HISTOGRAM_BINS)])
    emitter.apply("add", part, [part, starts])
    emitter.apply("fill", counts, [emitter.constant(0)])
    emitter.apply("scatter_add", counts, [weights, part])
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        left, right = (emitter.part(counts, (0, at), (rows, HISTOGRAM_BINS - step)) for at in (0, step))
        emitter.apply("add", right, [right, left])
    emitter.apply("copy", replace(target, extents=(rows, HISTOGRAM_BINS)), [counts])


def _counted_byte(op: InstructionOp) -> int:
    """Return the number of the byte that is counted, the lowest is 0."""
    legacy = op.attribute("isMSB")
    return number_of(op, "byte", 1 if legacy is None else int(legacy == BoolAttr.from_bool(True)))
