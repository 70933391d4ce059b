"""Hazard: one finding about one operation, before it has a location."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from xdsl.dialects import scf
from xdsl.ir import Operation

from ...analysis.pto.schedules import Kernel, Schedule
from ...diagnostics.findings import Severity
from ...diagnostics.locations import location_of
from ...diagnostics.records import record
from ...dialects.pto.memory import constant_value


@record
class Hazard:
    """One finding: its code, the operation it is about, and its message."""

    code: str
    op: Operation
    message: str
    severity: Severity = "error"


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun in the singular or plural."""
    return f"{count} {one if count == 1 else many}"


def in_every_schedule(kernel: Kernel, find: Callable[[Schedule, Kernel], Iterable[Hazard]]) -> Iterator[Hazard]:
    """Yield what `find` reports of the schedules of each core that runs a kernel.

    A hazard is only a warning if some schedule of the core lacks it, or if loops may run less often.
    """
    for paths in kernel.schedules:
        yield from _merged(paths, lambda path: find(path, kernel))


def _merged(paths: Sequence[Schedule], find: Callable[[Schedule], Iterable[Hazard]]) -> Iterator[Hazard]:
    found: dict[tuple[str, Operation], Hazard] = {}
    times: Counter[tuple[str, Operation]] = Counter()
    for path in paths:
        once: dict[tuple[str, Operation], Hazard] = {}
        for hazard in find(path):
            once.setdefault((hazard.code, hazard.op), hazard)
        times.update(once.keys())
        found.update(once)
    unknown = next((path.depends_on for path in paths if path.depends_on is not None), None)
    for key, hazard in found.items():
        if all(path.exact for path in paths) and times[key] == len(paths):
            yield hazard
        else:
            depends = "" if unknown is None else f"; whether this happens depends on {_asked(unknown)}"
            yield replace(hazard, severity="warning", message=hazard.message + depends)


def _asked(op: Operation) -> str:
    """Describe a loop or branch whose bounds or condition are unknown, with the values it depends on."""
    names = [value.name_hint for value in (op.operands[:2] if isinstance(op, scf.ForOp) else op.operands[:1])
             if value.name_hint and constant_value(value) is None]  # fmt: skip
    place = location_of(op)
    line = "" if place is None else f" in line {place.rsplit(':', 2)[-2]}"
    what = "branch" if isinstance(op, scf.IfOp) else "loop"
    return f"the {what}{line}" + (f", which depends on {' and '.join(f'%{name}' for name in names)}" if names else "")
