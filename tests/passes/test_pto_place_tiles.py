"""Tiles that share memory keep what is read of them: programs made at random are run on the addresses given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from loomir.diagnostics.errors import LoomError
from loomir.dialects import get_all_dialects
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.memory import AllocTileOp, constant_value
from loomir.dialects.verification import verify
from loomir.passes.pto_place_tiles import PtoPlaceTilesPass
from loomir.targets.chips import chip

from ..searches import examples

BLOCK = 256
KIB = 1024
TILE = "!pto.tile_buf<vec, {rows}x256xf32>"
VECTOR = "attributes {pto.kernel_kind = #pto.kernel_kind<vector>}"


def placed(text: str) -> ModuleOp:
    context = Context()
    for dialects in (get_xdsl_dialects(), get_all_dialects()):
        for name, load in dialects.items():
            context.register_dialect(name, load)
    module = parse_ir(context, text, "program.pto")
    verify(module)
    PtoPlaceTilesPass().apply(context, module)
    verify(module)
    return module


# A statement is ("add", destination, source, source), ("loop", statements) or ("if", statements, statements).
Statement = tuple[object, ...]


def statements(tiles: int) -> st.SearchStrategy[list[Statement]]:
    tile = st.integers(0, tiles - 1)
    add: st.SearchStrategy[Statement] = st.tuples(st.just("add"), tile, tile, tile)
    fill: st.SearchStrategy[Statement] = st.tuples(st.just("fill"), tile)

    def nested(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
        several = st.lists(inner, max_size=5)
        return st.one_of(st.tuples(st.just("loop"), several), st.tuples(st.just("if"), several, several))

    simple = st.one_of(add, fill)
    return st.lists(st.recursive(simple, nested, max_leaves=12), max_size=8)


def lines(program: Sequence[Statement], kinds: Sequence[str], numbers: Iterator[int]) -> Iterator[str]:
    for name, *operands in program:
        if name == "add":
            into, *sources = (operand for operand in operands if isinstance(operand, int))
            names = ", ".join(f"%t{source}" for source in sources)
            types = ", ".join(kinds[source] for source in sources)
            yield f"pto.tadd ins({names} : {types}) outs(%t{into} : {kinds[into]})"
        elif name == "fill":
            (into,) = (operand for operand in operands if isinstance(operand, int))
            yield f"pto.texpands ins(%f : f32) outs(%t{into} : {kinds[into]})"
        else:
            yield f"scf.for %i{next(numbers)} = %c0 to %rounds step %c1 {{" if name == "loop" else "scf.if %cond {"
            for place, body in enumerate(operands):
                assert isinstance(body, list)
                if place and body:
                    yield "} else {"
                yield from lines(body, kinds, numbers)
            yield "}"


class Memory:
    """Runs a function on addresses; what is read of a tile must be what was last written to it."""

    def __init__(self, choices: Iterator[int]):
        self._choices = choices
        self._blocks: dict[int, int] = {}
        self._written: dict[AllocTileOp, int] = {}
        self._writes = 0

    def run(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, scf.ForOp):
                for _ in range(next(self._choices)):
                    self.run(op.body.blocks[0])
            elif isinstance(op, scf.IfOp):
                region = op.true_region if next(self._choices) % 2 else op.false_region
                for inner in region.blocks:
                    self.run(inner)
            elif op.name in ("pto.tadd", "pto.texpands"):
                self._operation(op)

    def _operation(self, op: Operation) -> None:
        *sources, into = (value.owner for value in op.operands)
        for tile in sources:
            if isinstance(tile, AllocTileOp) and tile in self._written:
                assert {self._blocks[block] for block in self._span(tile)} == {self._written[tile]}
        assert isinstance(into, AllocTileOp)
        self._writes += 1
        self._written[into] = self._writes
        self._blocks |= dict.fromkeys(self._span(into), self._writes)

    def _span(self, tile: AllocTileOp) -> range:
        assert tile.addr is not None and tile.result.type.valid_bytes is not None
        address = constant_value(tile.addr)
        assert address is not None
        return range(address // BLOCK, (address + tile.result.type.valid_bytes) // BLOCK)


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(st.data())
def test_what_is_read_is_what_was_written(data: st.DataObject) -> None:
    # All tiles are of one valid shape but of different sizes, of which some fit into 192 KiB and some do not.
    sizes = data.draw(st.lists(st.sampled_from([32, 48, 64, 96]), min_size=3, max_size=6))
    kinds = [f"!pto.tile_buf<vec, {size}x256xf32, valid=32x256>" for size in sizes]
    program = data.draw(statements(len(sizes)))
    text = "\n".join(
        [
            f"func.func @kernel(%cond: i1, %rounds: index, %f: f32) {VECTOR} {{",
            *(f"%c{number} = arith.constant {number} : index" for number in (0, 1)),
            *(f"%t{tile} = pto.alloc_tile : {kind}" for tile, kind in enumerate(kinds)),
            *lines(program, kinds, count()),
            "return",
            "}",
        ]
    )
    try:
        module = placed(text)
    except LoomError as error:
        assert "vec overflow" in error.message
        assert sum(sizes) * KIB > chip("a2a3").vector_bytes
        return
    function = next(iter(module.ops))
    choices = cycle(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=12)))
    Memory(choices).run(function.regions[0].blocks[0])


def tile(rows: int) -> str:
    return TILE.format(rows=rows)


def test_the_error_names_the_largest_first() -> None:
    rows = {"small": 16, "large": 128, "middle": 64}
    allocations = [f"%{name} = pto.alloc_tile : {tile(number)}" for name, number in rows.items()]
    writes = [f"pto.texpands ins(%f : f32) outs(%{name} : {tile(number)})" for name, number in rows.items()]
    reads = [f"pto.tprint ins(%{name} : {tile(number)})" for name, number in rows.items()]

    def kernel(*uses: str) -> str:
        return "\n".join([f"func.func @kernel(%f: f32) {VECTOR} {{", *allocations, *uses, "return", "}"])

    placed(kernel(*(step for pair in zip(writes, reads, strict=True) for step in pair)))
    with pytest.raises(LoomError, match="vec overflow, requires 1703936 bits while 1572864 bits available") as caught:
        placed(kernel(*writes, *reads))
    message = caught.value.message
    assert message.index("%large of 131072") < message.index("%middle of 65536") < message.index("%small of 16384")
