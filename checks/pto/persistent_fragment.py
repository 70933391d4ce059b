"""Arrays that threads keep from section to section, which PTOAS has to be able to put into numbered slots."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.schedules import Kernel
from ...dialects.traversal import walk
from .hazard import Hazard

CODES = ("persistent-fragment",)
"""Codes of the findings that this check reports."""


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the first rule that a persistent fragment of a function breaks."""
    if not any(op.name == "llvm.alloca" for op in walk(kernel.function)):
        return
    # The dialect takes long to import, and few kernels have arrays.
    from ...analysis.pto.persistent_fragments import FragmentError, verify_fragments

    try:
        verify_fragments(kernel.function)
    except FragmentError as error:
        yield Hazard("persistent-fragment", error.op, f"'{error.op.name}' op {error.message}")
