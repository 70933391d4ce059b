"""Numbers unknown at compile time: what goes wrong for some of them, or for all but a few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, product

from xdsl.ir import Operation

from ...analysis.model_checking import Verdict
from ...analysis.pto.events import Program
from ...analysis.pto.outcomes import Outcomes, Sum, place_of, sources
from ...analysis.pto.schedules import Kernel, Schedule
from ...analysis.symbolic_integers import BLOCK, Interval, Terms
from ...diagnostics.findings import Severity
from . import deadlock, free_credits, leftover_credits, overwrites, slots_in_use, unsafe_depth
from .hazard import Hazard, counted
from .subject import Execution, Subject

CODES = ("unbalanced-pipe", "undecided")
"""What this file reports."""


_FIRST = (*range(10), 12, 15, 16, 17, 20, 24, 25, 31, 32, 33, 40, 48, 64, 65)
"""Values that are tried of one number."""

_FEW = (0, 1, 2, 3, 5, 9, 17)
"""Values that are tried of each of several numbers."""

_MAX_TRIED = 60
"""Programs that are tried."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield what goes wrong in programs that ask for unknown numbers; where that is undecided, unsafe depths too."""
    for component, program, outcomes in subject.symbolic:
        if outcomes is None:
            continue
        hazards = list(_outcomes(outcomes, program))
        yield from hazards
        if any(hazard.code == "undecided" for hazard in hazards) and component.kernels[0].behavior != "ideal":
            for pipe in component.pipes:
                yield from unsafe_depth.find_in_pipe(pipe)


def _outcomes(outcomes: Outcomes, sample: Program | None) -> Iterator[Hazard]:
    """Yield what goes wrong; `sample` is the program where loops run some number of times."""
    counted = list(_counts(outcomes, certain=True))
    if counted:
        yield from counted
        return
    verdict = outcomes.explore()
    kinds = {kind for kind, _ in verdict.outcomes}
    if verdict.is_clean:
        return
    if verdict.is_complete and kinds <= {"end", "overwrite"} and outcomes.explore(seeded=False).is_clean:
        for ring in dict.fromkeys(ring for kind, ring in verdict.outcomes if kind == "overwrite"):
            yield overwrites.seeded_credits(outcomes.component, ring)
        return
    found = list(_counts(outcomes, certain=False)) or list(_for_values(outcomes, verdict))
    if not found and verdict.is_wrong and sample is not None:
        found = [replace(hazard, severity="error") for hazard in _in_execution(Execution(sample))]
    if not found:
        found = [*_sampled(sample), *_undecided(outcomes, verdict)]
    yield from found


def _in_execution(execution: Execution) -> Iterator[Hazard]:
    for check in (deadlock, overwrites, leftover_credits):
        yield from check.find_in_execution(execution)


def _in_schedules(ways: Iterable[tuple[Schedule, Kernel]]) -> Iterator[Hazard]:
    for way, kernel in ways:
        for check in (slots_in_use, free_credits):
            yield from check.find_in_schedule(way, kernel)


def _sampled(program: Program | None) -> Iterator[Hazard]:
    """Yield what may be overwritten where loops run some number of times, if cores do that."""
    if program is not None:
        yield from overwrites.find_in_execution(Execution(program))


def _counts(outcomes: Outcomes, *, certain: bool) -> Iterator[Hazard]:
    """Rings of which one end is used more often than the other, certainly or but for what may be the usual numbers.

    Those are where one number has to be another, or to have one value.
    """
    for name, ring in outcomes.component.rings.items():
        (kernel, uses), *_ = ring.consumers.items()
        last = {use.action: use.op for use in uses}
        pushes = outcomes.times(name, "push" if ring.of_tiles else "commit")
        pops = outcomes.times(name, "pop")
        frees = [] if ring.frees_at_pop else outcomes.times(name, "free", default="pop")
        for (giver, put), (taker, taken) in [*product(pushes, pops), *zip(pops, frees, strict=False)]:
            difference = None if put is None or taken is None else put.minus(taken)
            if not difference or not difference.is_independent:
                continue
            ends = [end for end in (put, taken) if end is not None]
            if certain != (_hardly_alike(difference) and all(end.is_unlimited for end in ends)):
                continue
            by = [f" by {core}" if len(outcomes.cores) > 2 else "" for core in (giver, taker)]
            if (giver, put) in pops:
                yield Hazard(
                    "unbalanced-pipe",
                    last["pop"],
                    f"{ring.label} gives {put} entries out and gets {taken} slots back{by[1]}"
                    f"{_unless(difference)}; free each entry once",
                    "error" if certain else "warning",
                )
                continue
            yield Hazard(
                "unbalanced-pipe",
                last["pop"],
                f"{taken} entries are taken out in @{kernel.function.sym_name.data}{by[1]}, but {put} are put into "
                f"{ring.label}{by[0]}{_unless(difference)}; make both agree",
                "error" if certain else "warning",
            )


def _hardly_alike(difference: Sum) -> bool:
    """Whether two numbers that differ by a sum agree only where nothing is done at all."""
    free = difference.unknowns
    values = range(1, _MAX_TRIED)
    return not free or (len(free) == 1 and all(difference.value({free[0]: value}) for value in values))


def _unless(difference: Sum) -> str:
    """Where two numbers agree that differ by a sum, as far as a message tells."""
    if not difference.unknowns:
        return ", so that entries are left" if difference.value({}) > 0 else ", so that one side waits forever"
    if len(difference.unknowns) > 1:
        return f", which is not the same unless {difference} is 0"
    (name,) = difference.unknowns
    alike = [str(value) for value in range(_MAX_TRIED) if difference.value({name: value}) == 0]
    return f", which is not the same unless {name} is {' or '.join(alike)}" if alike else ", which is never the same"


def _for_values(outcomes: Outcomes, verdict: Verdict) -> Iterator[Hazard]:
    """What goes wrong for values of arguments: certainly, if it does for all from some value on."""
    numbers = sources(verdict.conditions)
    if not numbers or len(numbers) > 3:
        return
    tried = list(islice(product(_FIRST if len(numbers) == 1 else _FEW, repeat=len(numbers)), _MAX_TRIED))
    wrong: dict[tuple[int, ...], list[Hazard]] = {}
    for values in tried:
        program = outcomes.program(dict(zip(numbers, values, strict=True)))
        if program is None:
            return
        ways = [(way, kernel) for kernel in program.kernels for (way,) in kernel.schedules]
        wrong[values] = [
            *_left(program),
            *_in_execution(Execution(program)),
            *_in_schedules(ways),
        ]
    least: int | None = None
    if len(numbers) == 1:
        # From where on it goes wrong for all that are tried, and certainly.
        right = max((values[0] for values, hazards in wrong.items() if not _errors(hazards)), default=-1)
        least = next((value for value in _FIRST if value > right), None)
        known: dict[Terms, Interval] = {((numbers[0], 1),): (least, None)}
        if least is not None and not outcomes.explore(known=known).is_wrong:
            least = None
    first: dict[tuple[str, Operation | None], tuple[tuple[int, ...], Hazard]] = {}
    times: Counter[tuple[str, Operation | None]] = Counter()
    looked = {values: hazards for values, hazards in wrong.items() if least is None or values[0] >= least}
    for values, hazards in looked.items():
        # Where cores stand in a deadlock may be another place for other numbers.
        keys: dict[tuple[str, Operation | None], Hazard] = {
            (hazard.code, None if hazard.code == "deadlock" else hazard.op): hazard for hazard in hazards
        }
        times.update(keys.keys())
        for key, hazard in keys.items():
            first.setdefault(key, (values, hazard))
    # There may be one block alone.
    certain = verdict.is_wrong or (least is not None and numbers[0].name != BLOCK)
    for key, (values, hazard) in first.items():
        if hazard.code == "seeded-credits":
            yield hazard
            continue
        if certain and times[key] == len(looked):
            case = f"whenever {numbers[0]} is at least {least}" if least is not None else "always"
        else:
            given = " and ".join(f"{name} is {value}" for name, value in zip(numbers, values, strict=True))
            case = f"if {given}, for example"
        severity: Severity = "error" if certain and hazard.severity == "error" else "warning"
        yield replace(hazard, severity=severity, message=f"{hazard.message}; this is so {case}")


def _errors(hazards: Iterable[Hazard]) -> bool:
    return any(hazard.severity == "error" for hazard in hazards)


def _left(program: Program) -> Iterator[Hazard]:
    """Rings that are not empty in the end."""
    for name, ring in program.rings.items():
        counts = [
            {core: sum(event.ring == name and event.action in actions for event in events)
             for core, events in program.cores.items()}
            for actions in (("push", "commit"), ("pop",))
        ]  # fmt: skip
        put, taken = (max(count.values()) for count in counts)
        if put > taken:
            (_, uses), *_ = ring.consumers.items()
            yield Hazard(
                "unbalanced-pipe",
                next((use.op for use in reversed(uses) if use.action == "pop"), uses[-1].op),
                f"{counted(taken, 'entry is', 'entries are')} taken out, but {counted(put, 'is', 'are')} put into "
                f"{ring.label}, so that entries are left in it; make both agree",
            )


def _undecided(outcomes: Outcomes, verdict: Verdict) -> Iterator[Hazard]:
    """What kernels come to depends on a number in a way that is not followed."""
    asked = place_of(verdict.conditions)
    if asked is not None:
        name, op = asked
        rings = " and ".join(outcomes.component.rings)
        yield Hazard(
            "undecided",
            op,
            f"whether both ends of {rings} agree depends on {name}, which is not known before the program runs, so "
            "that only some cases were looked at; run it",
            "warning",
        )
