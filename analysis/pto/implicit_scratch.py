"""Tiles for intermediate results that are left out: which operations need one, and how large PTOAS makes it.

Its levels 1 and 2, which place all tiles, make such a tile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import AnyFloat, BoolAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.pto.instruction_operation import InstructionOp
from ...dialects.pto.kernels import architecture_of
from ...dialects.pto.tiles import TableOperation, TCvtOp
from ...dialects.pto.types import DYNAMIC, TileBufType

_SORTED_TOGETHER = 32
"""The columns that one step of `tsort32` sorts."""


def needs_scratch(op: Operation) -> bool:
    """Return True for an operation without the tile for intermediate results that its chip needs."""
    match op:
        case TableOperation() if op.table_row().scratch and op.scratch is None:
            needs = _NEEDS.get(op.table_row().name)
            return needs is not None and needs(op, _is_for_a5(op))
        case TCvtOp() if op.tmp is None:
            return _narrows(op) and not _is_for_a5(op)
        case InstructionOp() if op.row.name == "tquant":
            return op.operand("tmp") is None and not _is_for_a5(op)
        case InstructionOp() if op.row.name == "tmrgsort":
            return op.attribute("no_tmp") is not None
        case _:
            return False


def _is_for_a5(op: Operation) -> bool:
    return architecture_of(op) == "a5"


def _on_a2a3(op: TableOperation, is_a5: bool) -> bool:
    return not is_a5


def _of_floats(op: TableOperation, is_a5: bool) -> bool:
    kind = op.dst.type
    return isinstance(kind, TileBufType) and isinstance(kind.element_type, AnyFloat)


def _by_halves(op: TableOperation, is_a5: bool) -> bool:
    mode = cast("BoolAttr | None", op.mode)
    return mode is not None and bool(mode.value.data)


def _has_tail(op: TableOperation, is_a5: bool) -> bool:
    kind = op.inputs[0].type
    columns = kind.valid_shape[1] if isinstance(kind, TileBufType) else 0
    return columns == DYNAMIC or columns % _SORTED_TOGETHER != 0


_NEEDS: dict[str, Callable[[TableOperation, bool], bool]] = {
    **dict.fromkeys(
        (
            "tci", "txor", "txors", "trowmax", "trowmin", "trowsum", "trowprod", "tcolargmax", "tcolargmin",
            "trowargmax", "trowargmin", "tprelu", "trem", "trems", "tsel", "tsels", "ttrans",
        ),
        _on_a2a3,
    ),
    **dict.fromkeys(("tpow", "tpows"), _of_floats),
    "tcolsum": _by_halves,
    "tsort32": _has_tail,
}  # fmt: skip
"""When the operations of the table need that tile, by the operation and whether the chip is an a5."""


def _narrows(op: TCvtOp) -> bool:
    """Return True for a conversion of floats to narrow integers that keeps their low bits."""
    source, result = op.src.type, op.dst.type
    if not isinstance(source, TileBufType) or not isinstance(result, TileBufType) or _saturates(op):
        return False
    pair = str(source.element_type), str(result.element_type).removeprefix("u").removeprefix("s")
    return pair in (("f32", "i16"), ("f16", "i16"), ("f16", "i8"))


def _saturates(op: TCvtOp) -> bool:
    return op.sat_mode is not None and str(getattr(op.sat_mode.data, "value", op.sat_mode.data)) != "OFF"


# ---------------------------------------------------------------------------------------------
# Sizes
# ---------------------------------------------------------------------------------------------

_LIKE_SOURCE = (
    "tcolsum", "trowmax", "trowmin", "trowsum", "trowprod", "tcolargmax", "tcolargmin", "trowargmax", "trowargmin",
    "tsels", "ttrans",
)  # fmt: skip
_LIKE_RESULT = ("tpow", "tpows", "txor", "txors", "tprelu", "trem", "trems")


def scratch_like(op: Operation) -> tuple[str, TileBufType] | None:
    """Return the tile, and its name, by whose valid shape the tile that is made is sized; None if by none."""
    found: tuple[str, SSAValue] | None = None
    match op:
        case TableOperation() if op.table_row().name in _LIKE_SOURCE:
            found = "src", op.sources[1 if op.table_row().name == "tsels" else 0]
        case TableOperation() if op.table_row().name in _LIKE_RESULT:
            found = "dst", op.dst
        case TCvtOp():
            found = "dst", op.dst
        case InstructionOp() if op.row.name == "tquant":
            found = "src", op.operands[0]
        case _:
            return None
    kind = found[1].type
    return (found[0], kind) if isinstance(kind, TileBufType) else None
