"""Kernels that use pipes, but that nothing which a host starts calls."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import CallOp, FuncOp

from ...analysis.pto.local_memory import called
from ...dialects.traversal import walk
from .hazard import Hazard
from .subject import Subject

CODES = ("unlaunched-kernel",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the kernels that no function with `pto.entry` reaches, though one reaches the other end of their pipes."""
    functions = [op for op in walk(subject.module) if isinstance(op, FuncOp)]
    entries = [function for function in functions if "pto.entry" in function.attributes]
    reached = list(entries)
    for function in reached:
        for op in walk(function):
            callee = called(op) if isinstance(op, CallOp) else None
            if callee is not None and callee not in reached:
                reached.append(callee)
    names = " or ".join(f"@{entry.sym_name.data}" for entry in entries)
    reported: set[FuncOp] = set()
    for ring in subject.rings if entries else ():
        users = [kernel.function for kernel in (*ring.producers, *ring.consumers)]
        missing = [function for function in users if function not in reached]
        for function in missing if len(missing) < len(users) else ():
            if function not in reported:
                reported.add(function)
                yield Hazard(
                    "unlaunched-kernel",
                    function,
                    f"@{function.sym_name.data} is never started, so {ring.label} has one end: only {names} is, which "
                    "has pto.entry, and what it calls; call it there",
                )
