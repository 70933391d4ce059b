"""Registry of the checks of programs with pipes: the files of this folder that declare CODES.

A check is a function `find(subject)` of whole programs, `find_in_kernel(kernel)` of one end of the pipes, or
`find_in_trace(trace)` of a dry run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...analysis.pto.dry_run.trace import Trace
from ...analysis.pto.schedules import Kernel
from ...diagnostics.findings import Finding, once_each
from ...diagnostics.locations import location_of
from ...dialects.traversal import walk
from ...operations.pipe_protocol import Behavior
from .hazard import Hazard
from .subject import Subject


def _checks() -> list[ModuleType]:
    package = __name__.rpartition(".")[0]
    names = [found.name for found in iter_modules([str(Path(__file__).parent)]) if found.name != "registry"]
    modules = [import_module(f"{package}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "CODES")]


CHECKS = _checks()
"""The modules that declare the codes they report as CODES, in the order of their names."""


OF_THE_CHIP = ("seeded-credits", "leftover-credits")
"""Codes of what a chip does with all pipes of a kind; a program can hardly avoid it."""


def find_hazards(module: ModuleOp, behavior: Behavior | None = None, level: int | None = None) -> list[Finding]:
    """Return all findings in a module that verifies, in the order of its operations.

    `behavior` and `level` are those of Subject. Of two findings with one code about one operation the error stays, and
    of two errors, or warnings, the one about the whole program. What is so because of the chip is reported once.
    """
    subject = Subject(module, behavior, level)
    programs: list[Callable[[Subject], Iterator[Hazard]]] = [one.find for one in CHECKS if hasattr(one, "find")]
    kernels: list[Callable[[Kernel], Iterator[Hazard]]] = [
        one.find_in_kernel for one in CHECKS if hasattr(one, "find_in_kernel")
    ]
    found = [hazard for find in programs for hazard in find(subject)]
    found += [hazard for kernel in subject.kernels for find in kernels for hazard in find(kernel)]
    return _in_order(module, found)


def find_in_trace(module: ModuleOp, trace: Trace) -> list[Finding]:
    """Return all findings about a dry run of a module, in the order of its operations."""
    checks: list[Callable[[Trace], Iterator[Hazard]]] = [
        one.find_in_trace for one in CHECKS if hasattr(one, "find_in_trace")
    ]
    return _in_order(module, [hazard for find in checks for hazard in find(trace)])


def _in_order(module: ModuleOp, found: list[Hazard]) -> list[Finding]:
    """Return hazards as findings in the order of operations, one of each code about an operation."""
    if not found:
        return []
    order = {op: place for place, op in enumerate(walk(module))}
    unique: dict[tuple[str, Operation], Hazard] = {}
    for hazard in sorted(found, key=lambda hazard: hazard.severity):
        unique.setdefault((hazard.code, hazard.op), hazard)
    findings = [
        Finding(hazard.severity, hazard.code, hazard.message, location_of(hazard.op))
        for hazard in sorted(unique.values(), key=lambda hazard: (order[hazard.op], hazard.severity, hazard.code))
    ]
    return once_each(findings, OF_THE_CHIP)
