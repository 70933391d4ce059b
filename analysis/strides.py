"""Strides of tensor accesses: an offset, one stride per dimension and the extents (DSD-017 to DSD-042, DSD-061 to
DSD-071).

An access is given as affine index expressions, one per dimension of the array, over induction variables of which
the last moves fastest (DSD-059). Everything counts in elements of the array. The module knows numbers only: no IR,
no descriptor values and no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..diagnostics.records import record
from ..targets.wavelets import EXTENTS, MEM1D_STRIDES, MEM4D_STRIDES, OFFSETS

DescriptorKind = Literal["mem1d", "mem4d"]


class WalkError(ValueError):
    """An access that no memory descriptor can hold; the message is a sentence for the program's author."""


@record
class AffineIndex:
    """`constant` plus the sum of `coefficients[d]` times induction variable d, outermost first."""

    coefficients: tuple[int, ...]
    constant: int = 0


@record
class Walk:
    """The fields of a memory descriptor: `strides` innermost first, `extents` outermost first (DSD-062).

    A stride is the change of address at the moment its dimension advances, every faster dimension being wound back
    to its start in the same step (DSD-061).
    """

    offset: int
    strides: tuple[int, ...]
    extents: tuple[int, ...]


def linearize(shape: Sequence[int], indices: Sequence[AffineIndex]) -> AffineIndex:
    """Return the row-major element number of `indices` in an array of `shape`: the last dimension is contiguous
    (DSD-027).

    Raises WalkError if the number of indices is not the rank of the array (DSD-024).
    """
    if len(shape) != len(indices):
        raise WalkError(f"the access has {len(indices)} index expressions but the array has rank {len(shape)}")
    variables = len(indices[0].coefficients) if indices else 0
    coefficients, constant, step = [0] * variables, 0, 1
    for extent, index in zip(reversed(shape), reversed(indices), strict=True):
        coefficients = [c + step * i for c, i in zip(coefficients, index.coefficients, strict=True)]
        constant += step * index.constant
        step *= extent
    return AffineIndex(tuple(coefficients), constant)


def address_changes(coefficients: Sequence[int], extents: Sequence[int]) -> tuple[int, ...]:
    """Return the stride of every dimension, innermost first, from linear coefficients and extents given outermost
    first: stride(d) = c(d) - sum of c(e) * (n(e) - 1) over the faster dimensions e (DSD-063)."""
    strides: list[int] = []
    wound_back = 0
    for coefficient, extent in zip(reversed(coefficients), reversed(extents), strict=True):
        strides.append(coefficient - wound_back)
        wound_back += coefficient * (extent - 1)
    return tuple(strides)


def walk_of_access(
    kind: DescriptorKind, shape: Sequence[int], indices: Sequence[AffineIndex], extents: Sequence[int]
) -> Walk:
    """Return the walk of a tensor access over an array of `shape`, checked for a descriptor of `kind`.

    `extents` has one length per induction variable. Raises WalkError for what a descriptor cannot express.
    """
    if any(len(index.coefficients) != len(extents) for index in indices):
        variables = len(indices[0].coefficients)
        raise WalkError(f"the access has {variables} induction variables but {len(extents)} extents")
    linear = linearize(shape, indices)
    coefficients = linear.coefficients if indices else (0,) * len(extents)
    walk = Walk(linear.constant, address_changes(coefficients, extents), tuple(extents))
    check_walk(kind, walk)
    return walk


def check_walk(kind: DescriptorKind, walk: Walk) -> None:
    """Raise WalkError unless `walk` fits the fields of a descriptor of `kind` (DSD-020, DSD-021, DSD-032, DSD-057)."""
    dimensions = len(walk.extents)
    if kind == "mem1d" and dimensions != 1:
        raise WalkError(f"a mem1d descriptor has one dimension, not {dimensions}; use mem4d for up to four")
    if kind == "mem4d" and not 1 <= dimensions <= 4:
        raise WalkError(f"a mem4d descriptor has one to four dimensions, not {dimensions}")
    for extent in walk.extents:
        if extent < 0:
            raise WalkError(f"extent {extent} is negative; a length counts elements")
        if extent not in EXTENTS:
            raise WalkError(f"extent {extent} is above {EXTENTS[-1]}; split the access")
    stride_range, stride_type = (MEM1D_STRIDES, "i8") if kind == "mem1d" else (MEM4D_STRIDES, "i16")
    for stride in walk.strides:
        if stride not in stride_range:
            raise WalkError(
                f"stride {stride} does not fit the {stride_type} of a {kind} descriptor"
                f" ({stride_range[0]} to {stride_range[-1]})"
            )
    if walk.offset not in OFFSETS:
        raise WalkError(f"offset {walk.offset} does not fit an i16 ({OFFSETS[0]} to {OFFSETS[-1]})")
