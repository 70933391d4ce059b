"""Issue counts: how often each operation of a PE program is issued, by the trip counts of loops. Knows no IR.

Each task and each function that the host launches counts once, a loop as often as it states at least, once if it states
nothing, every arm of a branch as if it were taken, and what a function issues for each of its calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from .skeleton import Branch, Call, Loop, Operation, Program, Statement

MAX_COUNT = 1 << 40
"""Largest count; recursive functions reach it."""


def issue_counts(program: Program) -> Counter[Hashable]:
    """Return how often each operation is issued, by its key."""
    found: Counter[Hashable] = Counter()
    calls: dict[Hashable, Counter[Hashable]] = {}

    def follow(body: tuple[Statement, ...], times: int, own: Counter[Hashable], called: Counter[Hashable]) -> None:
        for statement in body:
            match statement:
                case Operation():
                    own[statement.key] = min(own[statement.key] + times, MAX_COUNT)
                case Call():
                    called[statement.function] = min(called[statement.function] + times, MAX_COUNT)
                case Branch():
                    for arm in statement.arms:
                        follow(arm, times, own, called)
                case Loop():
                    follow(statement.body, min(times * max(1, statement.at_least), MAX_COUNT), own, called)
                case _:
                    pass

    inside: dict[Hashable, Counter[Hashable]] = {}
    for name, function in program.functions.items():
        inside[name], calls[name] = Counter(), Counter()
        follow(function.body, 1, inside[name], calls[name])
    started: Counter[Hashable] = Counter({name: 1 for name, each in program.functions.items() if each.exported})
    for task in program.tasks.values():
        follow(task.body, 1, found, started)
    for name, times in _times(started, calls).items():
        for key, count in inside.get(name, Counter()).items():
            found[key] = min(found[key] + times * count, MAX_COUNT)
    return found


def _times(started: Counter[Hashable], calls: dict[Hashable, Counter[Hashable]]) -> Counter[Hashable]:
    """Return how often each function runs; calls by which it comes to call itself are left out."""
    order: list[Hashable] = []
    state: dict[Hashable, bool] = {}
    dropped: set[tuple[Hashable, Hashable]] = set()
    for root in calls:
        if root in state:
            continue
        state[root] = False
        pending = [(root, iter(calls[root]))]
        while pending:
            name, rest = pending[-1]
            callee = next(rest, None)
            if callee is None:
                state[name] = True
                order.append(name)
                pending.pop()
            elif callee in calls and callee not in state:
                state[callee] = False
                pending.append((callee, iter(calls[callee])))
            elif callee in calls and not state[callee]:
                dropped.add((name, callee))
    total = Counter(started)
    for name in reversed(order):
        for callee, count in calls[name].items():
            if (name, callee) not in dropped:
                total[callee] = min(total[callee] + total[name] * count, MAX_COUNT)
    return total
