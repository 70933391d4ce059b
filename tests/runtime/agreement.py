"""Compares what two executors make of a program, and finds a small program on which they disagree."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from io import BytesIO, StringIO
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import DiagnosticException, ParseError

from loomir.diagnostics.errors import LoomError
from loomir.host import machines
from loomir.runtime.deadlock import Deadlock
from loomir.runtime.findings import finding_of

from .flow_modules import parse
from .random_programs import RandomProgram

STEP_LIMIT = 20_000
END = re.compile(r"\s*(\}|scf\.yield|scf\.condition)")
"""Lines that end a block."""


@dataclass(frozen=True)
class Way:
    """An executor and its options."""

    executor: str
    options: tuple[tuple[str, Any], ...] = ()
    is_traced: bool = False

    def __str__(self) -> str:
        return " ".join([self.executor, *(f"{name}={value}" for name, value in self.options)])


@dataclass
class Outcome:
    """All that a host sees of a run."""

    ended: list[str]
    """How each launch has ended: "" or the sentence of the error."""
    failed: bool = False
    """A mistake has stopped the program: where the other PEs are then is left open."""
    error: tuple[Any, ...] = ()
    """The finding that has stopped it."""
    memory: dict[tuple[int, int], Any] = field(default_factory=dict)
    clocks: dict[tuple[int, int], int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    received: dict[str, list[list[int]]] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    log: list[Any] = field(default_factory=list)
    trace: list[bytes] = field(default_factory=list)
    """In any order, if there is one."""


def outcome(program: RandomProgram, way: Way) -> Outcome:
    """Run a program and return what came of it."""
    with redirect_stderr(StringIO()) as printed:
        result = _run(program, way)
    result.findings += printed.getvalue().splitlines()
    return result


def _run(program: RandomProgram, way: Way) -> Outcome:
    result = Outcome([])
    trace = BytesIO() if way.is_traced else None
    machine = machines.load(parse(program.text), executor=way.executor, trace=trace, **dict(way.options))
    numbers = np.arange(machine.width * machine.height, dtype=np.uint32).reshape(machine.height, machine.width, 1)
    for sent in program.sent:
        if sent.words and sent.color in machine.host_inputs:
            words = np.array(sent.words, np.uint32) + numbers
            machine.send(sent.color, 0, 0, machine.width, machine.height, words)
    for argument in program.launches:
        try:
            machine.launch("main", [argument])
            machine.run(STEP_LIMIT, allow_pending=True)
            result.ended.append("")
        except Deadlock as error:
            # How many wait, and since when; the lines that follow group them, and the groups are the executor's.
            result.ended.append(error.message.splitlines()[0])
            break
        except LoomError as error:
            result.ended.append(str(error))
            result.failed = True
            record = machine.executor.engine.error()  # pyright: ignore
            result.error = () if record is None or not record["code"] else finding_of(record)
            result.log = machine.log
            result.trace = [] if trace is None else trace.getvalue().splitlines()
            return result
    for number in range(len(machine.classes)):
        words, places = machine.image(number)
        for (x, y), mine in zip(places.tolist(), words, strict=True):
            result.memory[x, y] = mine
            result.clocks[x, y] = int(machine.clocks[y, x])
    counts = machine.statistics()
    result.counts = {name: counts[name] for name in ("wavelets_sent", "task_runs", "cycles_estimated")}
    for color in machine.host_outputs:
        result.received[color] = [
            machine.receive(color, x, y, 1, 1, int(count)).ravel().tolist()
            for (y, x), count in np.ndenumerate(machine.received(color))
        ]
    result.findings = [str(unread) for unread in machine.unread()]
    result.findings += [f"{clue.places.tolist()}: {clue.text}" for clue in machine.executor.lost_activations()]
    result.log = machine.log
    result.trace = [] if trace is None else sorted(trace.getvalue().splitlines())
    return result


def differences(one: Outcome, other: Outcome) -> list[str]:
    """Return a line for each thing in which two outcomes differ, few of a kind."""
    if one.failed or other.failed:
        found = [
            f"{name}: {getattr(one, name)} {getattr(other, name)}"
            for name in ("ended", "error", "findings", "log")
            if getattr(one, name) != getattr(other, name)
        ]
        return found + trace_differences(one, other)
    found = [
        f"{name}: {getattr(one, name)} {getattr(other, name)}"
        for name in ("ended", "counts", "received", "log")
        if getattr(one, name) != getattr(other, name)
    ]
    if one.findings != other.findings:
        found.append(f"findings: {one.findings} {other.findings}")
    found += trace_differences(one, other)
    for place, words in one.memory.items():
        if place not in other.memory or len(words) != len(other.memory[place]):
            found.append(f"PE {place} has {len(words)} words")
            continue
        for word in np.flatnonzero(~_same(words, other.memory[place]))[:3]:
            found.append(f"PE {place} word {word}: {words[word]:04x} {other.memory[place][word]:04x}")
        if one.clocks[place] != other.clocks[place]:
            found.append(f"PE {place} clock: {one.clocks[place]} {other.clocks[place]}")
    return found


def _same(one: NDArray[np.uint16], other: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return which words are equal, or part of NaNs: the sign and payload of one that is computed are not defined."""
    return (one == other) | (_is_nan(one) & _is_nan(other))


def _is_nan(words: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return which words are an f16 that is NaN, or half of an f32 that is."""
    found = np.isnan(words.view(np.float16))
    pairs = words[: len(words) // 2 * 2]
    found[: len(pairs)] |= np.repeat(np.isnan(np.ascontiguousarray(pairs).view(np.float32)), 2)
    return found


def trace_differences(one: Outcome, other: Outcome) -> list[str]:
    if not (one.trace and other.trace):
        return []
    return [f"trace: {line.decode()}" for line in sorted(set(one.trace) ^ set(other.trace))[:3]]


def kinds_of(found: list[str]) -> set[str]:
    """Return what kinds of differences there are."""
    words = ("ended", "error", "counts", "received", "findings", "log", "trace", "word", "clock")
    return {word for line in found for word in words if re.search(rf"\b{word}\b.*?: ", line)}


def reduced(program: RandomProgram, fails: Callable[[RandomProgram], bool], seconds: float = 120) -> RandomProgram:
    """Return a program of fewer lines that fails too, without operations and blocks of them that do not matter.

    A line that ends in a brace goes with its block, and outer blocks are tried first. What no longer parses or verifies
    is no candidate.
    """
    end = monotonic() + seconds
    smaller, before = program, ""
    while smaller.text != before:
        before = smaller.text
        for indent in sorted({_indent(line) for line in before.split("\n")} - {0}):
            for size in (16, 4, 1):
                smaller = _without_statements(smaller, fails, indent, size, end)
    return smaller


def _without_statements(
    program: RandomProgram, fails: Callable[[RandomProgram], bool], indent: int, size: int, end: float
) -> RandomProgram:
    """Return a program that fails without some runs of so many statements of one depth, the last ones first."""
    lines = program.text.split("\n")
    at = len(lines) - 1
    while at > 0 and monotonic() < end:
        if _indent(lines[at]) == indent:
            # The statements up to this one: what is used later has gone first.
            start = at
            while start > 0 and len([line for line in lines[start:at] if _indent(line) == indent]) < size - 1:
                start -= 1
                if _indent(lines[start]) < indent:
                    start += 1
                    break
            while start < at and _indent(lines[start]) != indent:
                start += 1
            stop = _behind(lines, start, size)
            candidate = replace(program, text="\n".join(lines[:start] + lines[stop:]))
            if stop > at and _fails(candidate, fails):
                program, lines = candidate, candidate.text.split("\n")
                at = start
        at -= 1
    return program


def _behind(lines: list[str], at: int, size: int) -> int:
    """Return where up to `size` whole statements end that begin at a line; `at` if the line is the end of a block."""
    stop, indent = at, _indent(lines[at])
    for _ in range(size):
        if stop >= len(lines) or _indent(lines[stop]) != indent or END.match(lines[stop]):
            break
        if lines[stop].endswith("{"):
            while True:
                stop += 1
                if stop >= len(lines):
                    return at
                if _indent(lines[stop]) <= indent and not lines[stop].endswith("{"):
                    break
        stop += 1
    return stop


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _fails(program: RandomProgram, fails: Callable[[RandomProgram], bool]) -> bool:
    try:
        return fails(program)
    except (DiagnosticException, LoomError, ParseError):
        return False
