"""Timing of a trace, an estimate: when steps would begin and end on a chip, how busy cores are, what they wait for.

A trace says in which order steps happen and which others each waits for; who executes the program plays no part. The
pipes of a core work at the same time. A step begins when its pipe is free, when the steps that it waits for have ended,
and when the data of its core that it touches are there. A core that waits for another issues nothing meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

from ....dialects.pto.attributes import HardwarePipe
from ....operations import pto_tiles
from ....targets.chip_costs import Class, Costs, Path
from .trace import Core, Step, Trace
from .values import Region

_TRANSCENDENTAL = frozenset({"exponential", "logarithm", "square_root", "reciprocal"})

_F32_BYTES = 4


@dataclass
class CoreTimes:
    """The times of one core, in cycles."""

    core: Core
    end: float = 0
    busy: dict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    """Busy cycles of each pipe."""
    waits: dict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    """Idle cycles of the core, by the entry or slot it waits for."""


@dataclass
class Times:
    """The times of a program: of each core, and when the last one ends."""

    cores: list[CoreTimes]

    @property
    def cycles(self) -> int:
        return ceil(max((core.end for core in self.cores), default=0))

    @property
    def waited(self) -> int:
        """The cycles that all cores wait for others."""
        return ceil(sum(sum(core.waits.values()) for core in self.cores))

    def statistics(self, frequency_hz: float) -> dict[str, object]:
        """Return the times as a record: cycles, microseconds, and of each core occupancy and waits."""
        total = max(1, self.cycles)
        return {
            "is_estimate": True,
            "cycles": self.cycles,
            "microseconds": round(self.cycles / frequency_hz * 1e6, 3),
            "cores": [
                {
                    "core": str(core.core),
                    "cycles": ceil(core.end),
                    "occupancy": {pipe: round(busy / total, 4) for pipe, busy in sorted(core.busy.items()) if busy},
                    "waits": {what: ceil(cycles) for what, cycles in sorted(core.waits.items()) if cycles},
                }
                for core in self.cores
            ],
        }


def times_of(trace: Trace, costs: Costs, chip: str) -> Times:
    """Return the times of a trace."""
    timing = _Timing(trace, costs, by_global_memory=chip != "a5")
    for index, step in enumerate(trace.steps):
        timing.step(index, step)
    return Times(timing.cores)


class _Timing:
    def __init__(self, trace: Trace, costs: Costs, *, by_global_memory: bool) -> None:
        self.cores = [CoreTimes(core) for core in trace.cores]
        self._trace = trace
        self._costs = costs
        self._by_global_memory = by_global_memory
        self._ends: list[float] = []
        self._free: dict[tuple[int, HardwarePipe], float] = defaultdict(float)
        """When each pipe of each core is free."""
        self._issued: dict[int, float] = defaultdict(float)
        """When each core issues its next instruction, at the earliest."""
        self._data: dict[str, dict[tuple[int, int], list[float]]] = defaultdict(dict)
        """For each memory, when the last store to some bytes and the last load of them end."""

    def step(self, index: int, step: Step) -> None:
        """Add the times of a step."""
        core = self.cores[step.core]
        pipes = [step.pipe] if step.pipe is not HardwarePipe.ALL else [p for c, p in self._free if c == step.core]
        own = max([self._issued[step.core], *(self._free[step.core, pipe] for pipe in pipes)])
        explicit = step.core in self._trace.explicit
        if not explicit:
            own = max([own, *(self._ready(access.memory, access.region, access.writes) for access in step.accesses)])
        start, others = own, [other for other in step.after if self._trace.steps[other].core != step.core]
        for other in step.after:
            lag = self._costs.signal if other in others else 0
            start = max(start, self._ends[other] + lag)
        if start > own and others:
            # What other pipes still do meanwhile costs nothing.
            core.waits[_awaited(step)] += max(0, start - max(own, core.end))
            self._issued[step.core] = start
        end = start + self._cycles(step)
        for pipe in pipes:
            self._free[step.core, pipe] = end
        if step.pipe is not HardwarePipe.ALL:
            core.busy[step.pipe.value.removeprefix("PIPE_")] += end - start
        if step.pipe is HardwarePipe.S:
            self._issued[step.core] = end
        for access in step.accesses:
            self._touch(access.memory, access.region, end, writes=access.writes)
        core.end = max(core.end, end)
        self._ends.append(end)
        assert len(self._ends) == index + 1

    def _ready(self, memory: str, region: Region | None, writes: bool) -> float:
        """Return when bytes may be read, or written: behind stores to them, and loads of what is overwritten."""
        if region is None or region.is_empty or not memory.startswith("block "):
            return 0
        low, high = region.low, region.high
        found = 0.0
        for (start, end), (stored, loaded) in self._data[memory].items():
            if start < high and low < end:
                found = max(found, stored, loaded if writes else 0)
        return found

    def _touch(self, memory: str, region: Region | None, end: float, *, writes: bool) -> None:
        if region is not None and not region.is_empty and memory.startswith("block "):
            last = self._data[memory].setdefault((region.low, region.high), [0.0, 0.0])
            last[0 if writes else 1] = max(last[0 if writes else 1], end)

    # -----------------------------------------------------------------------------------------
    # Cycles
    # -----------------------------------------------------------------------------------------

    def _cycles(self, step: Step) -> float:
        costs = self._costs
        match step.kind:
            case "load" | "store" | "move":
                return self._copy(_path(step), _bytes(step))
            case "push":
                to_vector = self.cores[step.core].core.column == 0
                if self._by_global_memory:
                    return self._copy("acc to gm" if to_vector else "vec to gm", _bytes(step))
                return self._copy("acc to vec" if to_vector else "vec to mat", _bytes(step))
            case "pop":
                if not self._by_global_memory or not step.extents:
                    return costs.scalar
                return self._copy("gm to mat" if self.cores[step.core].core.column == 0 else "gm to vec", _bytes(step))
            case "product":
                rows, inner, columns = (*step.extents, 0, 0, 0)[:3]
                steps = (
                    ceil(rows / costs.cube_rows)
                    * ceil(inner * step.size / costs.cube_inner_bytes)
                    * ceil(columns / costs.cube_rows)
                )
                return costs.cube_head + steps * (costs.cube_step_f32 if step.size == _F32_BYTES else costs.cube_step)
            case "compute":
                steps = ceil(_bytes(step) / costs.vector_bytes)
                return costs.vector_head + steps * costs.vector_steps[_class(step)] if steps else 0
            case "barrier" | "set" | "wait" | "drain":
                return 0
            case _:
                return costs.scalar

    def _copy(self, path: Path, size: int) -> float:
        head = self._costs.copy_head if "gm" in path.split() else self._costs.local_head
        return head + size / self._costs.rates[path] if size else 0


def _awaited(step: Step) -> str:
    """Return what a step waits for, as statistics say."""
    match step.kind:
        case "pop":
            return f"entries of {step.channel}"
        case "push" | "alloc":
            return f"slots of {step.channel}"
        case "drain":
            return f"credits of {step.channel} at the end"
        case _:
            return "a barrier"


def _bytes(step: Step) -> int:
    size = step.size
    for extent in step.extents:
        size *= extent
    return size if step.extents else 0


def _path(step: Step) -> Path:
    """Return the path of a copy."""
    source = next((access.memory for access in step.accesses if not access.writes), "gm")
    result = next((access.memory for access in step.accesses if access.writes), "gm")
    names = [memory.rpartition(" ")[2] if memory.startswith("block ") else "gm" for memory in (source, result)]
    path = " to ".join(names)
    return _PATHS.get(path, "gm to vec")


_PATHS: Mapping[str, Path] = {
    path: path
    for path in (
        "gm to vec", "gm to mat", "vec to gm", "acc to gm", "mat to gm", "mat to left", "mat to right", "acc to vec",
        "acc to mat", "vec to mat", "mat to bias",
    )
}  # fmt: skip


def _class(step: Step) -> Class:
    """Return the class of a vector operation; one that is not in the table counts as one on two tiles."""
    row = pto_tiles.OPERATIONS.get(step.op.name.removeprefix("pto."))
    if row is None:
        return "unary" if step.op.name in ("pto.tmov", "pto.tcvt", "pto.textract") else "binary"
    if row.function in _TRANSCENDENTAL:
        return "transcendental"
    if row.shape == "row_reduction":
        return "reduction"
    if {"per_row", "per_column"} & set(row.operands):
        return "expansion"
    if row.function == "divide":
        return "division"
    return "binary" if len([kind for kind in row.operands if kind == "tile"]) > 1 else "unary"
