"""Numbers unknown at compile time: what goes wrong for some of them, or for all but a few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, product

from xdsl.ir import Operation

from ...analysis.model_checking.control_trees import event_nodes_in
from ...analysis.model_checking.verdicts import Verdict
from ...analysis.pto.rings import Program
from ...analysis.pto.schedules import Kernel, Schedule
from ...analysis.pto.symbolic_execution import Polynomial, SymbolicExecution, deciding_condition, inputs_of
from ...analysis.symbolic_integers import BLOCK, Interval, Terms
from ...diagnostics.findings import Severity
from . import deadlock, free_credits, leftover_credits, overwrites, push_pop_balance, slots_in_use, unsafe_depth
from .hazard import Hazard, counted
from .subject import Execution, Subject

CODES = ("unbalanced-pipe", "undecided")
"""Codes of the findings that this check reports."""


_SAMPLES = (*range(10), 12, 15, 16, 17, 20, 24, 25, 31, 32, 33, 40, 48, 64, 65)
"""Sample values of one symbol."""

_SAMPLES_OF_SEVERAL = (0, 1, 2, 3, 5, 9, 17)
"""Sample values of each of several symbols."""

_MAX_SAMPLES = 60
"""The largest number of sample programs."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield what goes wrong in programs that ask for unknown numbers; where that is undecided, unsafe depths too."""
    for component, program, outcomes in subject.symbolic:
        if outcomes is None:
            continue
        hazards = list(_hazards(outcomes, program))
        yield from hazards
        if any(hazard.code == "undecided" for hazard in hazards) and component.kernels[0].behavior != "ideal":
            for pipe in component.pipes:
                yield from unsafe_depth.find_in_pipe(pipe)


def _hazards(outcomes: SymbolicExecution, sample: Program | None) -> Iterator[Hazard]:
    """Yield what goes wrong; `sample` is the program where loops run some number of times."""
    imbalances = list(_one_sided(outcomes)) or list(_counts(outcomes, certain=True))
    if imbalances:
        yield from imbalances
        return
    verdict = outcomes.explore()
    kinds = {kind for kind, _ in verdict.outcomes}
    if verdict.is_clean:
        return
    if verdict.is_complete and kinds <= {"end", "overwrite"} and outcomes.explore(seeded=False).is_clean:
        for ring in dict.fromkeys(ring for kind, ring in verdict.outcomes if kind == "overwrite"):
            yield overwrites.seeded_credits(outcomes.component, ring)
        return
    found = list(_counts(outcomes, certain=False)) or list(_for_sample_values(outcomes, verdict))
    if not found and verdict.is_wrong and sample is not None:
        found = [replace(hazard, severity="error") for hazard in _in_execution(Execution(sample))]
        found = found or [replace(hazard, severity="error") for hazard in _unbalanced(sample)]
    if not found:
        found = [*_sampled(sample), *_undecided(outcomes, verdict)]
    yield from found


def _one_sided(outcomes: SymbolicExecution) -> Iterator[Hazard]:
    """Yield the rings that no core pushes into, or pops from, in the branches that constants choose."""
    events = [do.event for nodes in outcomes.cores.values() for do in event_nodes_in(nodes)]
    for name, ring in outcomes.component.rings.items():
        actions = {event.action for event in events if event.ring == name}
        pops = "pop" in actions
        if pops == actions.isdisjoint(("push", "alloc", "commit")):
            yield push_pop_balance.one_sided(ring, pops=pops)


def _in_execution(execution: Execution) -> Iterator[Hazard]:
    for check in (deadlock, overwrites, leftover_credits):
        yield from check.find_in_execution(execution)


def _in_schedules(paths: Iterable[tuple[Schedule, Kernel]]) -> Iterator[Hazard]:
    for path, kernel in paths:
        for check in (slots_in_use, free_credits):
            yield from check.find_in_schedule(path, kernel)


def _sampled(program: Program | None) -> Iterator[Hazard]:
    """Yield what may be overwritten where loops run some number of times, if cores do that."""
    if program is not None:
        yield from overwrites.find_in_execution(Execution(program))


def _counts(outcomes: SymbolicExecution, *, certain: bool) -> Iterator[Hazard]:
    """Yield the rings whose numbers of pushes, pops or frees differ as polynomials.

    With `certain`, they differ for nearly all values; otherwise they are equal if one symbol has one value, or equals
    another, which may be what the program means.
    """
    for name, ring in outcomes.component.rings.items():
        (kernel, uses), *_ = ring.consumers.items()
        last = {use.action: use.op for use in uses}
        pushes = outcomes.times(name, "push" if ring.of_tiles else "commit")
        pops = outcomes.times(name, "pop")
        frees = [] if ring.frees_at_pop else outcomes.times(name, "free", default="pop")
        for (producer, pushed), (consumer, popped) in [*product(pushes, pops), *zip(pops, frees, strict=False)]:
            difference = None if pushed is None or popped is None else pushed.minus(popped)
            if not difference or not difference.is_independent:
                continue
            ends = [end for end in (pushed, popped) if end is not None]
            if certain != (_rarely_equal(difference) and all(end.is_unbounded for end in ends)):
                continue
            by = [f" by {core}" if len(outcomes.cores) > 2 else "" for core in (producer, consumer)]
            if (producer, pushed) in pops:
                yield Hazard(
                    "unbalanced-pipe",
                    last["pop"],
                    f"{pushed} entries are popped from {ring.label}, but {popped} are freed{by[1]}"
                    f"{_unless(difference)}; free each entry once",
                    "error" if certain else "warning",
                )
                continue
            yield Hazard(
                "unbalanced-pipe",
                last["pop"],
                f"{popped} entries are popped in @{kernel.function.sym_name.data}{by[1]}, but {pushed} are pushed into "
                f"{ring.label}{by[0]}{_unless(difference)}; make both agree",
                "error" if certain else "warning",
            )


def _rarely_equal(difference: Polynomial) -> bool:
    """Return True if a difference is 0 only where nothing runs at all."""
    free = difference.symbols
    values = range(1, _MAX_SAMPLES)
    return not free or (len(free) == 1 and all(difference.value({free[0]: value}) for value in values))


def _unless(difference: Polynomial) -> str:
    """Describe for which values a difference is 0."""
    if not difference.symbols:
        return ", so entries are left" if difference.value({}) > 0 else ", so one side waits forever"
    if len(difference.symbols) > 1:
        return f"; these counts are equal only if {difference} is 0"
    (name,) = difference.symbols
    equal_at = [str(value) for value in range(_MAX_SAMPLES) if difference.value({name: value}) == 0]
    return (
        f"; these counts are equal only if {name} is {' or '.join(equal_at)}"
        if equal_at
        else "; these counts are never equal"
    )


def _for_sample_values(outcomes: SymbolicExecution, verdict: Verdict) -> Iterator[Hazard]:
    """Yield what goes wrong for sample values of arguments: errors, if it does for all from some value on."""
    symbols = inputs_of(verdict.conditions)
    if not symbols or len(symbols) > 3:
        return
    samples = list(
        islice(product(_SAMPLES if len(symbols) == 1 else _SAMPLES_OF_SEVERAL, repeat=len(symbols)), _MAX_SAMPLES)
    )
    wrong: dict[tuple[int, ...], list[Hazard]] = {}
    for values in samples:
        program = outcomes.program(dict(zip(symbols, values, strict=True)))
        if program is None:
            return
        paths = [(path, kernel) for kernel in program.kernels for (path,) in kernel.schedules]
        wrong[values] = [
            *_unbalanced(program),
            *_in_execution(Execution(program)),
            *_in_schedules(paths),
        ]
    least: int | None = None
    if len(symbols) == 1:
        # The least value from which on all samples go wrong, if the model checker proves it.
        right = max((values[0] for values, hazards in wrong.items() if not _errors(hazards)), default=-1)
        least = next((value for value in _SAMPLES if value > right), None)
        known: dict[Terms, Interval] = {((symbols[0], 1),): (least, None)}
        if least is not None and not outcomes.explore(known=known).is_wrong:
            least = None
    first: dict[tuple[str, Operation | None], tuple[tuple[int, ...], Hazard]] = {}
    times: Counter[tuple[str, Operation | None]] = Counter()
    considered = {values: hazards for values, hazards in wrong.items() if least is None or values[0] >= least}
    for values, hazards in considered.items():
        # Cores may deadlock at other operations for other values.
        hazards_by_key: dict[tuple[str, Operation | None], Hazard] = {
            (hazard.code, None if hazard.code == "deadlock" else hazard.op): hazard for hazard in hazards
        }
        times.update(hazards_by_key.keys())
        for key, hazard in hazards_by_key.items():
            first.setdefault(key, (values, hazard))
    # There may be a single block.
    certain = verdict.is_wrong or (least is not None and symbols[0].name != BLOCK)
    for key, (values, hazard) in first.items():
        if hazard.code == "seeded-credits":
            yield hazard
            continue
        if certain and times[key] == len(considered):
            case = f"whenever {symbols[0]} is at least {least}" if least is not None else "in every run"
        else:
            given = " and ".join(f"{name} is {value}" for name, value in zip(symbols, values, strict=True))
            case = f"if {given}, for example"
        severity: Severity = "error" if certain and hazard.severity == "error" else "warning"
        yield replace(hazard, severity=severity, message=f"{hazard.message}; this happens {case}")


def _errors(hazards: Iterable[Hazard]) -> bool:
    return any(hazard.severity == "error" for hazard in hazards)


def _unbalanced(program: Program) -> Iterator[Hazard]:
    """Yield the rings into which more, or less, is pushed than popped."""
    for name, ring in program.rings.items():
        pushed, popped = deadlock.pushes_and_pops(program, name)
        if pushed != popped:
            (_, uses), *_ = ring.consumers.items()
            wait = "so entries are left in it" if pushed > popped else "so the consumer waits forever"
            yield Hazard(
                "unbalanced-pipe",
                next((use.op for use in reversed(uses) if use.action == "pop"), uses[-1].op),
                f"{counted(popped, 'entry is', 'entries are')} popped, but {counted(pushed, 'is', 'are')} pushed into "
                f"{ring.label}, {wait}; make both agree",
            )


def _undecided(outcomes: SymbolicExecution, verdict: Verdict) -> Iterator[Hazard]:
    """Yield the loop or branch whose condition leaves the outcome undecided."""
    conditions = deciding_condition(verdict.conditions)
    if conditions is not None:
        name, op = conditions
        rings = " and ".join(outcomes.component.rings)
        yield Hazard(
            "undecided",
            op,
            f"whether both ends of {rings} push and pop equally often depends on {name}, which is known only at run "
            "time, so only some cases were checked; run the program",
            "warning",
        )
