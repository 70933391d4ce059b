"""Merging of sorted lists of pairs, each a value and an index."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import BoolAttr, i64
from xdsl.ir import SSAValue

from ...analysis.pto.pipe_ends import refusal
from ...dialects import flow
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.types import TileBufType, element_bytes
from .instruction_context import Instructions, Scratch, shape_of_tile
from .views import Number, View


def merge(kernel: Instructions, op: InstructionOp) -> None:
    """Merge four sorted lists of pairs in each part of a row, or the lists of several tiles."""
    lists = op.operand_groups["srcs"]
    length = lists[-1]
    target_tile = op.operand_groups["dsts"][0]
    target = kernel.handles.view(target_tile)
    element = target.element
    size = element_bytes(element)
    if size not in (2, 4):
        raise refusal(op, f"merges pairs of {element}; use f32 or f16")
    each = 8 // size  # elements of a pair

    def pairs(tile: SSAValue) -> View:
        view = kernel.handles.view(tile)
        return kernel.tiles.pairs(op, view, tile, kernel.emitter.divide(view.extents[1], each))

    if not isinstance(length.type, TileBufType):
        source = pairs(lists[0])
        count = kernel.emitter.multiply(4, _pairs_of_list(kernel, op, length, source.extents[1], each))
        groups = kernel.emitter.divide(source.extents[1], count)
        result = kernel.tiles.pairs(op, target, target_tile, source.extents[1])
        extents, strides = (groups, count), (count, 1)
        result, source = (replace(view, extents=extents, strides=strides) for view in (result, source))
        kernel.emitter.apply("merge_pairs", result, [source, kernel.tiles.keys(source, element)])
        return
    sources = [pairs(tile) for tile in (lists if op.attribute("no_tmp") is not None else lists[:-1])]
    total: Number = 0
    for source in sources:
        total = kernel.emitter.add(total, source.extents[1])
    # Only as many are written as are valid in the result: the largest ones.
    wanted = kernel.emitter.least(total, kernel.emitter.divide(target.extents[1], each))
    result = kernel.tiles.pairs(op, target, target_tile, wanted)
    room = (1, sum(shape_of_tile(tile)[1] // each for tile in lists[: len(sources)]))
    scratch = Scratch(kernel.tiles)
    collected = scratch.view(result.element, (1, total), room)
    at: Number = 0
    for source in sources:
        kernel.emitter.apply("copy", kernel.emitter.part(collected, (0, at), source.extents), [source])
        at = kernel.emitter.add(at, source.extents[1])
    keys = kernel.tiles.keys(collected, element)
    is_partial = op.attribute("exhausted") == BoolAttr.from_bool(True)
    if not is_partial and wanted == total:
        kernel.emitter.apply("merge_pairs", result, [collected, keys])
        return
    merged = scratch.view(result.element, (1, total), room)
    kernel.emitter.apply("merge_pairs", merged, [collected, keys])
    if is_partial:
        wanted = kernel.emitter.least(wanted, _taken(kernel, scratch, sources, keys, room))
    part = (1, wanted)
    kernel.emitter.apply("copy", replace(result, extents=part), [replace(merged, extents=part)])


def _pairs_of_list(kernel: Instructions, op: InstructionOp, length: SSAValue, whole: Number, each: int) -> Number:
    """Return how many pairs a list has, whose length counts elements."""
    emitter, part = kernel.emitter, kernel.handles.number(length)
    if isinstance(part, int):
        if part < each or part % each:
            raise refusal(
                op, f"merges lists of {part} elements; use a positive multiple of {each}, the elements of a pair"
            )
        return part // each
    emitter.equal(emitter.remainder(part, each), 0, f"a list of {op.name} is whole pairs of {each} elements")
    count = emitter.divide(part, each)
    emitter.at_most(emitter.subtract(count, 1), emitter.subtract(whole, 1),
                    f"a list of {op.name} has a pair at least, and no more than its row")  # fmt: skip
    return count


def _taken(kernel: Instructions, scratch: Scratch, sources: list[View], keys: View, room: tuple[int, int]) -> Number:
    """Return how many pairs are merged when the first of several lists is exhausted."""
    emitter, extents = kernel.emitter, keys.extents
    lists, order, places, chosen = (scratch.view(i64, extents, room) for _ in range(4))
    last, least = (scratch.view(i64, (1, 1), (1, 1)) for _ in range(2))
    of_list = scratch.bits(extents, room)
    at: Number = 0
    for number, source in enumerate(sources):
        part = emitter.part(lists, (0, at), source.extents)
        emitter.apply("fill", part, [emitter.constant(number)])
        at = emitter.add(at, source.extents[1])
    emitter.apply("merge_pairs", order, [lists, keys])
    emitter.apply("count", places, [emitter.constant(1), emitter.constant(1)])
    emitter.apply("fill", least, [emitter.value(at)])
    for number in range(len(sources)):
        emitter.apply("compare_equal", of_list, [order, emitter.constant(number)])
        emitter.apply("select", chosen, [of_list, places, emitter.constant(0)])
        emitter.apply("row_maximum", last, [chosen])
        emitter.apply("minimum", least, [least, last])
    return emitter.make(flow.TileGetOp(emitter.tile(least), i64))
