"""Traces: equal to the byte on both executors, beside statistics, and of the last records alone."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import redirect_stderr
from io import BytesIO, StringIO
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir.diagnostics.errors import LoomError
from loomir.host import machines
from loomir.runtime import Deadlock, Machine
from loomir.runtime.trace_lines import KINDS, Lines, Traced

from ..searches import examples
from .flow_modules import parse
from .random_programs import RandomProgram, random_exchange
from .test_statistics import ROW, run, statistics

PROGRAMS = st.integers(0, 2**32 - 1).map(lambda seed: random_exchange(Random(seed)))


def events(trace: BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trace.getvalue().splitlines()]


def place(event: dict[str, Any]) -> tuple[int, int]:
    x, y = event["pes"].removeprefix("PE (").removesuffix(")").split(", ")
    return int(x), int(y)


def times(event: dict[str, Any]) -> list[int]:
    """Return when each wavelet of a record left, or was taken."""
    return np.linspace(event["cycle"], event["last_cycle"], event["wavelets"]).round().astype(int).tolist()


@pytest.mark.slow
@settings(max_examples=examples(24), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_random_programs(program: RandomProgram) -> None:
    """Both executors write the same, in the same order; sums of records are what statistics have."""
    traces = BytesIO(), BytesIO()
    (machine, how), (_, other) = (
        run(program, executor, trace) for executor, trace in zip(("reference", "core"), traces, strict=True)
    )
    if "error" in (how, other):
        return
    assert traces[0].getvalue() == traces[1].getvalue()
    sums: Counter[Any] = Counter()
    for event in events(traces[0]):
        if event["event"] in ("sent", "taken"):
            sums[event["event"], place(event), event["name"]] += event["wavelets"]
        elif event["event"] == "waited":
            sums["waited", place(event), event["queue"]] += event["cycles"]
    wanted: Counter[Any] = Counter()
    for queue in statistics(machine).queues:
        at = queue.x, queue.y
        wanted["sent", at, queue.name] += queue.sent
        wanted["taken", at, queue.name] += queue.taken if queue.kind == "input" else 0
        wanted["waited", at, queue.name] += queue.waited + queue.waited_in_background
    assert +sums == +wanted


@pytest.mark.slow
@settings(max_examples=examples(24), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS)
def test_the_fill_of_queues(program: RandomProgram) -> None:
    """The peak of a queue is that of a simulation wavelet by wavelet: when each comes, and when it is taken."""
    trace = BytesIO()
    machine, how = run(program, "core", trace)
    if how == "error":
        return
    fabric: Any = machine.executor.fabric  # pyright: ignore
    tables = fabric.tables
    names = [tables.strings[row] for row in tables["queues"]["name"]]
    come: dict[tuple[int, int], list[int]] = {}
    taken: dict[tuple[int, int], list[int]] = {}
    unknown: set[tuple[int, int]] = set()
    network = {row for row in range(len(names)) if fabric.network[row] >= 0}

    def row_of(pe: int, name: str) -> int:
        return next(row for row in range(len(names))
                    if names[row] == name and tables["queues"]["owner"][row] == fabric.pe_class[pe])  # fmt: skip

    switched = {color.color for color in fabric.switched}
    for event in events(trace):
        if event["event"] not in ("sent", "taken"):
            continue
        (x, y), name = place(event), event["name"]
        pe = y * machine.width + x
        row, unit = row_of(pe, name), int(fabric.pe_unit[pe])
        if event["event"] == "taken":
            taken.setdefault((pe, row), []).extend(times(event))
            continue
        ways = fabric.ways_of(row, unit)
        for way in ways:
            there = pe + int(way["offset"]), int(way["queue"])
            if len(ways) > 1:
                unknown.add(there)  # a multicast may be held back, and its records have its own times
            come.setdefault(there, []).extend(time + int(way["latency"]) for time in times(event))
    for queue in statistics(machine).queues:
        if queue.kind != "input":
            continue
        pe = queue.y * machine.width + queue.x
        row = row_of(pe, queue.name)
        comes, takes = sorted(come.get((pe, row), [])), sorted(taken.get((pe, row), []))
        color = int(fabric.colors_of(row)[int(fabric.pe_unit[pe])])
        if len(comes) != queue.taken + queue.left or (pe, row) in unknown or row in network or color in switched:
            continue  # what the host sent, or control wavelets that are not for it
        takes += [1 << 60] * queue.left
        fill = {time: sum(a <= time < b for a, b in zip(comes, takes, strict=True)) for time in comes}
        peak = max(fill.values(), default=0)
        assert queue.peak == peak
        assert not peak or queue.peak_cycle == min(time for time, count in fill.items() if count == peak)


def test_records_of_a_row(executor: str) -> None:
    """What each kind of record says."""
    trace = BytesIO()
    machine = machines.load(parse(ROW), executor=executor, trace=trace)
    machine.run(allow_pending=True)
    found = events(trace)
    assert [event["cycle"] for event in found] == sorted(event["cycle"] for event in found)
    (sent,) = (event for event in found if event["event"] == "sent")
    assert sent == {
        "cycle": sent["cycle"], "last_cycle": sent["cycle"] + 7, "event": "sent", "name": "out", "pes": "PE (0, 0)",
        "color": "@red", "wavelets": 8,
    }  # fmt: skip
    (waited,) = (event for event in found if event["event"] == "waited")
    assert (waited["pes"], waited["queue"], waited["name"]) == ("PE (40, 0)", "in", "fmovs in @take")
    assert waited["cycles"] == waited["last_cycle"] - waited["cycle"] > 0
    taken = [event for event in found if event["event"] == "taken"]
    assert [(event["pes"], event["wavelets"]) for event in taken] == [("PE (2, 0)", 6), ("PE (40, 0)", 6)]
    assert taken[1]["cycle"] == waited["last_cycle"]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_are_chosen(executor: str, kind: str) -> None:
    """A trace of some kinds is the lines of these."""
    whole, some = BytesIO(), BytesIO()
    for trace, kinds in ((whole, None), (some, [kind])):
        machines.load(parse(ROW), executor=executor, trace=trace, trace_kinds=kinds).run(allow_pending=True)
    mine = {"tasks": ("task", "ended"), "operations": ("operation", "completed"), "waits": ("waited",)}
    names = mine.get(kind, ("sent", "taken"))
    assert events(some) == [event for event in events(whole) if event["event"] in names] != []


def test_the_last_records(executor: str) -> None:
    """A ring holds the last records; none is lost if there is room."""
    whole = BytesIO()
    machines.load(parse(ROW), executor=executor, trace=whole).run(allow_pending=True)
    lines = whole.getvalue().splitlines()
    for room in (1, 5, len(lines), len(lines) + 1):
        trace = BytesIO()
        machine = machines.load(parse(ROW), executor=executor, trace=trace, trace_last=room)
        machine.run(allow_pending=True)
        assert not trace.getvalue()
        machine.write_trace()
        written = trace.getvalue().splitlines()
        if room < len(lines):
            assert json.loads(written[0]) == {"event": "dropped", "records": len(lines) - room}
            assert len(written) == 1 + room and set(written[1:]) < set(lines)
            assert written[1:] == [line for line in lines if line in written]
        else:
            assert written == lines
        assert read_again(machine) == (min(room, len(lines)), max(0, len(lines) - room))


def read_again(machine: Machine) -> tuple[int, int]:
    """Return how many records there are, and how many were dropped."""
    found = machine.traced()
    assert found is not None
    return len(found[0].records), found[0].dropped


@pytest.mark.parametrize("last", [None, 1000])
def test_after_a_hang_and_an_error(executor: str, last: int | None) -> None:
    hangs = ROW.replace("extents [6]", "extents [9]").replace("extent 6", "extent 9").replace("8xf32", "9xf32")
    before, _, after = ROW.rpartition("flow.return")
    stops = f'{before}%no = arith.constant false\nflow.assert %no, "it ends here"\nflow.return{after}'
    for text, error in ((hangs, Deadlock), (stops, LoomError)):
        trace = BytesIO()
        machine = machines.load(parse(text), executor=executor, trace=trace, trace_last=last)
        with redirect_stderr(StringIO()), pytest.raises(error):
            machine.run()
        machine.write_trace()
        found = events(trace)
        assert {"task", "operation"} <= {event["event"] for event in found}
        assert any(event["event"] == "sent" and event["wavelets"] >= 8 for event in found)


def test_an_interrupt_while_lines_are_made(executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records of which lines were made then are written by the next call."""
    whole, trace = BytesIO(), BytesIO()
    machines.load(parse(ROW), executor=executor, trace=whole).run(allow_pending=True)
    machine = machines.load(parse(ROW), executor=executor, trace=trace)
    with monkeypatch.context() as patch:
        patch.setattr(Lines, "worded", interrupted)
        with pytest.raises(KeyboardInterrupt):
            machine.run(allow_pending=True)
    assert not trace.getvalue()
    machine.write_trace()
    assert trace.getvalue() == whole.getvalue() != b""


def interrupted(lines: Lines, traced: Traced) -> bytes:
    raise KeyboardInterrupt


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(
        LoomError, match=r"'wait' is not a kind of trace records; the kinds are: tasks, operations, waits"
    ):
        machines.load(parse(ROW), trace=BytesIO(), trace_kinds=["wait"])
    with pytest.raises(LoomError, match="a trace of the last 0 records keeps nothing"):
        machines.load(parse(ROW), trace_last=0)
