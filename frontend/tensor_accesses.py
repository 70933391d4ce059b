"""The rule of tensor accesses, `|i, j|{M, N} -> a[i, j]`."""

from __future__ import annotations

from collections.abc import Sequence

from ..csl import syntax
from ..csl.errors import CslError
from ..targets.wavelets import EXTENTS
from . import types
from .evaluator import Evaluator
from .registry import expression
from .types import Type
from .values import Address, Local, Value, is_ssa, struct


@expression(syntax.TensorAccess)
def _tensor_access(ev: Evaluator, node: syntax.TensorAccess, want: Type | None) -> Value:
    """Return a struct of what @get_dsd takes instead: `base_address`, `offset`, `stride` and `extent`."""
    extents = tuple(_extent(ev, extent) for extent in node.extents)
    if len(extents) != len(node.variables):
        ev.fail(node, f"{len(node.variables)} variables but {len(extents)} extents; give each variable one (DSD-058)")
    if len(extents) > 4:
        ev.fail(node, f"{len(extents)} variables; a DSD has at most 4 dimensions (DSD-057)")
    if not isinstance(node.base, syntax.Name):
        ev.fail(node.base, "a tensor access is of the name of an array, or of a pointer to one; name it (DSD-023)")
    base = ev.place(node.base)
    type = base.type
    if isinstance(type, types.Pointer):
        pointer = base.load(ev, node.base)
        where = pointer.data
        if not isinstance(where, Address) or is_ssa(where.base) or is_ssa(where.offset):
            ev.fail(
                node.base,
                f"the pointer '{node.base.name}' must be known at compile time; set one of the run with "
                "@set_dsd_base_addr (DSD-023)",
            )
        array = type.target if not type.many else types.Array((types.MAX_POINTER_EXTENT,), type.target)
    else:
        pointer, array = Value(types.Pointer(type, base.is_const), base.address(ev, node.base)), type
    if not isinstance(array, types.Array):
        ev.fail(node.base, f"a tensor access needs an array, not a value of type '{type}'")
    if len(node.indices) != len(array.dims):
        ev.fail(
            node, f"'{array}' has {len(array.dims)} dimensions, but there are {len(node.indices)} indices (DSD-024)"
        )
    offset, steps = _affine(ev, node, array, extents)
    strides: list[int] = []
    # A descriptor's stride counts from where the faster walks have ended (DSD-061).
    walked = 0
    for step, extent in zip(reversed(steps), reversed(extents), strict=True):
        strides.append(step - walked)
        walked += step * (extent - 1) if extent > 0 else 0
    if not all(map(types.I16.holds, (offset, *strides))):
        ev.fail(node, f"offset {offset} or stride {max(strides, key=abs)} does not fit in 'i16' (DSD-032)")
    narrow = len(strides) == 1 and types.I8.holds(strides[0])
    return struct(
        base_address=pointer,
        offset=Value(types.I16, offset),
        stride=_numbers(types.I8 if narrow else types.I16, strides),
        extent=_numbers(types.U16, extents),
    )


def _numbers(type: Type, numbers: Sequence[int]) -> Value:
    """Return a tuple of numbers."""
    return Value(types.Struct(None, (type,) * len(numbers)), tuple(Value(type, number) for number in numbers))


def _extent(ev: Evaluator, node: syntax.Expression) -> int:
    extent = ev.integer(node, "an extent")
    if extent not in EXTENTS:
        ev.fail(node, f"an extent of {extent} is out of range; use 0 to {EXTENTS[-1]} (DSD-021)")
    return extent


NOT_AFFINE = "the index is not affine: it must be a sum of the variables times constants (DSD-025)"


def _affine(
    ev: Evaluator, node: syntax.TensorAccess, array: types.Array, extents: tuple[int, ...]
) -> tuple[int, list[int]]:
    """Return the start and the step per variable of the linear index, evaluated at points of the domain."""

    def at(point: list[int]) -> int:
        scope = {
            variable.name: Local(variable.name, types.COMPTIME_INT, Value(types.COMPTIME_INT, number), False)
            for variable, number in zip(node.variables, point, strict=True)
        }
        ev.frame.scopes.append(scope)
        try:
            result = 0
            for extent, index in zip(array.dims, node.indices, strict=True):
                result = result * extent + ev.integer(index, "an index of a tensor access")
            return result
        finally:
            ev.frame.scopes.pop()

    origin = [0] * len(extents)
    start = at(origin)
    steps: list[int] = []
    for n in range(len(extents)):
        # The step of a variable that takes one value only counts too: the DSD may be made longer, or its stride read.
        try:
            steps.append(at([int(k == n) for k in range(len(extents))]) - start)
        except CslError:
            if extents[n] > 1:
                raise
            # A table looked up with the variable, say, has no second element.
            ev.fail(node, NOT_AFFINE)
    # Any other points must agree, or the index is not affine (DSD-025).
    corner = [max(0, extent - 1) for extent in extents]
    middle = [max(0, extent - 1) // 2 for extent in extents]
    for point in (corner, middle):
        if at(point) != start + sum(p * s for p, s in zip(point, steps, strict=True)):
            ev.fail(node, NOT_AFFINE)
    return start, steps
