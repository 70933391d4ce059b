"""Pass `dsd-expand-tensor-access`: tensor accesses become descriptors with offset, strides and extents."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern

from ..analysis.strides import AffineIndex, Walk, WalkError, walk_of_access
from ..diagnostics.errors import LoomError, Mistakes
from ..diagnostics.locations import location_of
from ..dialects import dsd
from ..dialects.traversal import walk
from ..dialects.verification import verify_dominance


def affine_indices(access: AffineMap) -> list[AffineIndex]:
    """Return the index expressions of an access that is affine, as coefficients and constants."""
    origin = [0] * access.num_dims
    constants = access.eval(origin, [])
    columns: list[list[int]] = []
    for variable in range(access.num_dims):
        unit = [int(variable == other) for other in range(access.num_dims)]
        columns.append([value - constant for value, constant in zip(access.eval(unit, []), constants, strict=True)])
    return [
        AffineIndex(tuple(column[index] for column in columns), constant) for index, constant in enumerate(constants)
    ]


class ExpandTensorAccess(RewritePattern):
    """One `dsd.tensor_access` becomes a `dsd.mem1d` or `dsd.mem4d` (DSD-029, DSD-033, DSD-060); one that cannot is a
    mistake, and stays at the first element."""

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes = mistakes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: dsd.TensorAccessOp, rewriter: PatternRewriter) -> None:
        one = isinstance(op.result.type, dsd.Mem1dType)
        try:
            walk = walk_of_access(
                "mem1d" if one else "mem4d", op.base_type.get_shape(), affine_indices(op.access), op.extents
            )
        except WalkError as error:
            self._mistakes.add(LoomError(f"the tensor access cannot be a descriptor: {error}", location_of(op)))
            count = len(op.extents)
            walk = Walk(0, (0,) * count, (1,) * count)
        indexed = op.wavelet_index_offset is not None
        if one:
            new = dsd.Mem1dOp(
                op.base, walk.extents[0], offset=walk.offset, stride=walk.strides[0], wavelet_index_offset=indexed
            )
        else:
            new = dsd.Mem4dOp(
                op.base, walk.extents, offset=walk.offset, strides=walk.strides, wavelet_index_offset=indexed
            )
        new.attributes.update(op.attributes)
        new.location = op.location
        rewriter.replace(op, new)


@dataclass(frozen=True)
class DsdExpandTensorAccessPass(ModulePass):
    """Replaces every `dsd.tensor_access` by `dsd.mem1d` or `dsd.mem4d`; afterwards no affine map remains.

    The array is taken row-major; strides are changes of address (DSD-061 to DSD-063). An access whose offset,
    stride or extent does not fit its descriptor is an error (DSD-032).
    """

    name = "dsd-expand-tensor-access"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mistakes = Mistakes()
        if any(isinstance(inner, dsd.TensorAccessOp) for inner in walk(op)):
            PatternRewriteWalker(ExpandTensorAccess(mistakes), apply_recursively=False).rewrite_module(op)
            if not mistakes:
                verify_dominance(op)
        _check_expanded(op, mistakes)
        mistakes.end()


def _check_expanded(module: ModuleOp, mistakes: Mistakes) -> None:
    for op in walk(module):
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, AffineMapAttr):
                message = f"{op.name} still holds {attribute}; only dsd.tensor_access can hold an affine map"
                mistakes.add(LoomError(message, location_of(op)))
