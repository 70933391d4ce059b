"""Loads and stores that the copies of the chips do not make, though their documents, or simulators, do."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import OpResult, SSAValue

from ...analysis.pto.schedules import Kernel
from ...dialects.pto.attributes import AddressSpace, Layout
from ...dialects.pto.memory import MakeTensorViewOp, PartitionViewOp, constant_value
from ...dialects.pto.tiles import TLoadOp, TStoreOp
from ...dialects.pto.types import DYNAMIC, TileBufType
from ...dialects.traversal import walk
from .hazard import Hazard

CODES = ("stored-mat", "strided-elements")
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the stores out of a memory that a5 stores nothing from, and copies of rows whose elements are apart."""
    for op in walk(kernel.function):
        if isinstance(op, TStoreOp) and kernel.chip == "a5" and _is_in_mat(op.src):
            yield Hazard(
                "stored-mat",
                op,
                "expects A5 tstore src to use loc=vec or loc=acc: PTOAS refuses this store and the chip has no such "
                "copy, though simulators make it; store the tile from where it came, or by way of the accumulator",
                "warning",
            )
        part = op.src if isinstance(op, TLoadOp) else op.dst if isinstance(op, TStoreOp) else None
        stride = None if part is None else _stride_of_rows(part)
        if stride is not None:
            yield Hazard(
                "strided-elements",
                op,
                f"expects a unit innermost stride, not {stride}: a copy takes consecutive elements of a row, "
                "whatever stride the tensor declares; make a view whose last stride is 1, or one of layout dn",
            )


def _is_in_mat(value: SSAValue) -> bool:
    return isinstance(value.type, TileBufType) and value.type.location is AddressSpace.MAT


def _stride_of_rows(part: SSAValue) -> int | None:
    """Return the constant distance of the elements of a row of a part, if it is not 1 and the layout is `nd`."""
    view = part.owner.source if isinstance(part, OpResult) and isinstance(part.owner, PartitionViewOp) else part
    maker = view.owner if isinstance(view, OpResult) else None
    if not isinstance(maker, MakeTensorViewOp) or len(maker.strides) < 2:
        return None
    if maker.layout is not None and maker.layout.data is not Layout.ND:
        return None
    *_, before, last = (constant_value(stride) for stride in maker.strides)
    extents = getattr(part.type, "extents", (DYNAMIC,))
    if last in (None, 1) or extents[-1] in (DYNAMIC, 1) or (maker.layout is None and before in (None, 1)):
        return None
    return last
