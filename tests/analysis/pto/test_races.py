"""Races in traces that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects import test as test_dialect
from xdsl.ir import Operation

from loomir.analysis.pto.dry_run.races import races
from loomir.analysis.pto.dry_run.trace import Access, Core, Kind, Step, Trace
from loomir.analysis.pto.dry_run.values import Region, overlap
from loomir.dialects.pto.attributes import HardwarePipe

V, MTE2, ALL = HardwarePipe.V, HardwarePipe.MTE2, HardwarePipe.ALL


def region(start: int, rows: int = 1, pitch: int = 64, columns: int = 4) -> Region:
    return Region(start, ((rows, pitch), (columns, 4)), 4)


def step(
    core: int, kind: Kind, where: Region | None = None, writes: bool = False, after: tuple[int, ...] = (),
    pipe: HardwarePipe = V, contents: object = None, adds: bool = False, memory: str = "out",
) -> Step:  # fmt: skip
    accesses = () if where is None else (Access(memory, where, writes, contents, adds),)
    joins = (ALL,) if kind == "barrier" else ()
    op: Operation = test_dialect.TestOp()
    return Step(core, op, kind, pipe, accesses, after, joins=joins)


def found(*steps: Step, cores: int = 2, explicit: bool = False) -> list[tuple[int, int]]:
    """The races as pairs of steps, by their places in the trace."""
    trace = Trace([Core(core, 1) for core in range(cores)], list(steps))
    trace.explicit = {0} if explicit else set()
    places = {id(each): place for place, each in enumerate(steps)}
    return [(places[id(race.first)], places[id(race.second)]) for race in races(trace)]


def test_what_nothing_orders() -> None:
    here = region(0)
    assert found(step(0, "store", here, True), step(1, "store", here, True)) == [(0, 1)]
    assert found(step(0, "store", here, True), step(1, "load", here)) == [(0, 1)]
    assert found(step(0, "load", here), step(1, "load", here)) == []
    assert found(step(0, "store", here, True), step(0, "store", here, True)) == []
    assert found(step(0, "store", here, True), step(1, "store", region(16), True)) == []


def test_what_a_pipe_orders() -> None:
    here = region(0)
    push, pop = step(0, "push"), step(1, "pop", after=(1,))
    assert found(step(0, "store", here, True), push, pop, step(1, "load", here)) == []
    assert found(step(0, "store", here, True), push, step(1, "load", here), pop) == [(0, 2)]
    # By way of a third core.
    chain = [step(0, "store", here, True), step(0, "push"), step(1, "pop", after=(1,)), step(1, "push")]
    assert found(*chain, step(2, "pop", after=(3,)), step(2, "load", here), cores=3) == []


def test_equal_contents_and_sums() -> None:
    here = region(0)
    same = step(0, "store", here, True, contents="c"), step(1, "store", here, True, contents="c")
    assert found(*same) == []
    other = step(0, "store", here, True, contents="c"), step(1, "store", here, True, contents="d")
    assert found(*other) == [(0, 1)]
    assert found(step(0, "store", here, True, adds=True), step(1, "store", here, True, adds=True)) == []
    assert found(step(0, "store", here, True, adds=True), step(1, "load", here)) == [(0, 1)]


def test_pipes_of_one_core() -> None:
    """They are threads if the program orders them by flags, and so is a barrier of all of them an order."""
    memory: dict[str, Any] = {"memory": "block 0 AIV0 vec"}
    load, use = step(0, "load", region(0), True, pipe=MTE2, **memory), step(0, "compute", region(0), pipe=V, **memory)
    assert found(load, use) == []
    assert found(load, use, explicit=True) == [(0, 1)]
    assert found(load, step(0, "barrier", pipe=ALL), use, explicit=True) == []
    flag = step(0, "set", pipe=MTE2), step(0, "wait", pipe=V, after=(1,))
    assert found(load, *flag, use, explicit=True) == []


def test_orders_that_are_not_followed() -> None:
    """What else orders cores, or the pipes of one, is taken for an order."""
    here = region(0)
    trace = Trace([Core(0, 1), Core(1, 1)], [step(0, "store", here, True), step(1, "store", here, True)])
    assert len(list(races(trace))) == 1
    trace.orders_cores = True
    assert list(races(trace)) == []
    memory: dict[str, Any] = {"memory": "block 0 AIV0 vec"}
    load, use = step(0, "load", here, True, pipe=MTE2, **memory), step(0, "compute", here, pipe=V, **memory)
    trace = Trace([Core(0, 1)], [load, use], explicit={0})
    assert len(list(races(trace))) == 1
    trace.unknown_order = {0}
    assert list(races(trace)) == []


@pytest.mark.parametrize("pitch", [16, 48, 64, 100])
@pytest.mark.parametrize("start", range(0, 200, 12))
def test_overlaps_byte_by_byte(start: int, pitch: int) -> None:
    one, other = region(0, 3, 64), region(start, 4, pitch, 2)

    def bytes_of(of: Region) -> set[int]:
        (rows, by), (columns, each) = of.dimensions
        return {of.start + row * by + column * each + k for row in range(rows) for column in range(columns)
                for k in range(of.size)}  # fmt: skip

    assert overlap(one, other) == min(bytes_of(one) & bytes_of(other), default=None)
