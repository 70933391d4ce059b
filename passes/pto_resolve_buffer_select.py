"""Pass `pto-resolve-buffer-select`: replace several tiles of which one is used at a time by single tiles."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from ..analysis.pto.local_memory import tile_bytes
from ..analysis.pto.pipe_ends import refusal
from ..dialects.pto.instructions import InstructionOp
from ..dialects.pto.memory import AllocTileOp, TReshapeOp, constant_value
from ..dialects.pto.registers import MultiTileBufType
from ..dialects.pto.types import DYNAMIC, TileBufType
from ..dialects.traversal import walk


@dataclass(frozen=True)
class PtoResolveBufferSelectPass(ModulePass):
    """Replaces each `pto.alloc_multi_tile` by a `pto.alloc_tile` for each slot, contiguous from `addr` on if
    it states one, and each `pto.multi_tile_get` by the tile of its slot.

    A slot that is known only at run time becomes a chain of `arith.select` behind a `cf.assert` that there is such a
    slot.
    """

    name = "pto-resolve-buffer-select"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        instructions = [inner for inner in walk(op) if isinstance(inner, InstructionOp)]
        allocations = [each for each in instructions if each.row.name == "alloc_multi_tile"]
        slots: dict[SSAValue, list[SSAValue]] = {each.results[0]: _tiles(each) for each in allocations}
        for get in instructions:
            if get.row.name != "multi_tile_get":
                continue
            tiles = slots.get(get.operands[0])
            if tiles is None:
                raise refusal(
                    get, "takes tiles that no pto.alloc_multi_tile of this function makes; name that directly"
                )
            get.results[0].replace_all_uses_with(_selected(get, tiles))
            get.detach()
            get.erase()
        for each in allocations:
            if (use := next(iter(each.results[0].uses), None)) is not None:
                raise refusal(use.operation, "takes several tiles at once; choose one with pto.multi_tile_get")
            each.detach()
            each.erase()


def _tiles(op: InstructionOp) -> list[SSAValue]:
    """Insert a tile for each slot before `op`; return them in order."""
    kind = op.results[0].type
    assert isinstance(kind, MultiTileBufType)
    insert = _Inserter(op)
    base, size = op.operand("addr"), tile_bytes(kind.tile)
    found: list[SSAValue] = []
    for slot in range(kind.count.data):
        address = None
        if base is not None:
            assert size is not None  # the verifier asks for elements of a known size
            start = constant_value(base)
            address = insert(arith.ConstantOp(IntegerAttr((start or 0) + slot * size, i64)))
            if start is None:
                address = insert(arith.AddiOp(base, address))
        tile = insert(
            AllocTileOp.build(
                operands=[address, op.operand("valid_row"), op.operand("valid_col")], result_types=[kind.tile]
            )
        )
        tile.name_hint = op.results[0].name_hint
        found.append(tile)
    return found


def _selected(op: InstructionOp, tiles: list[SSAValue]) -> SSAValue:
    """Insert the choice of a tile before `op`; return it as a value of its own, whose valid shape may be changed."""
    insert = _Inserter(op)
    number = op.operands[1]
    slot = constant_value(number)
    if slot is not None:
        tile, kind = tiles[slot], op.results[0].type
        assert isinstance(kind, TileBufType)
        is_fixed = DYNAMIC not in kind.valid_shape
        return tile if is_fixed else insert(TReshapeOp.build(operands=[tile], result_types=[kind]))
    count = insert(arith.ConstantOp(IntegerAttr.from_index_int_value(len(tiles))))
    is_there = insert(arith.CmpiOp(number, count, "ult"))
    message = f"the slot is one of the {len(tiles)} that there are; correct its number"
    insert.operation(cf.AssertOp(is_there, message))
    chosen = tiles[-1]
    for place, tile in reversed(list(enumerate(tiles[:-1]))):
        this = insert(arith.ConstantOp(IntegerAttr.from_index_int_value(place)))
        chosen = insert(arith.SelectOp(insert(arith.CmpiOp(number, this, "eq")), tile, chosen))
    chosen.name_hint = op.results[0].name_hint
    return chosen


class _Inserter:
    """Inserts operations before another, at its place in the source."""

    def __init__(self, op: Operation):
        self._builder, self._location = Builder(InsertPoint.before(op)), op.location

    def __call__(self, op: Operation) -> SSAValue:
        """Insert an operation; return its result."""
        self.operation(op)
        return op.results[0]

    def operation(self, op: Operation) -> None:
        """Insert an operation."""
        self._builder.insert(op)
        op.location = self._location
