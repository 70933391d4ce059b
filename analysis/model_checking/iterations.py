"""Loops and their iterations, as all cores count them, and integers that depend on them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

from ..symbolic_integers import (
    ITERATION,
    Affine,
    Symbol,
    Terms,
    add,
)

LoopInstance: TypeAlias = tuple[tuple[int, ...], ...]
"""A loop as all cores count it: its number among the loops entered in one iteration of the loop around it, preceded by
the number and iteration of that loop, and so on. `((0, 3), (1,))` is the second loop in the fourth iteration of the
first."""

IterationPath: TypeAlias = tuple[tuple[int, int], ...]
"""The number and iteration of each loop a core is in; outermost first."""


LoopNumbers: TypeAlias = tuple[int, ...]
"""The numbers of a loop and of the loops around it, outermost first."""


def loop_numbers(loop_instance: LoopInstance) -> LoopNumbers:
    return tuple(part[0] for part in loop_instance)


@lru_cache(maxsize=1 << 14)
def on_shared_iterations(value: Affine, loop_depths: tuple[tuple[object, int], ...], path: IterationPath) -> Affine:
    """Return an integer in which iterations of loops are those shared by all cores."""
    found = Affine(value.constant)
    by_key = dict(loop_depths)
    for part, times in value.terms:
        if part.name == ITERATION and part.instance and part.instance[0] in by_key:
            depth = by_key[part.instance[0]]
            number, iterations = path[depth]
            loop_instance: tuple[object, ...] = (*path[:depth], (number,))
            found = add(found, Affine(times * iterations, ((Symbol(ITERATION, (), loop_instance), times),)))
        else:
            operands = tuple(on_shared_iterations(operand, loop_depths, path) for operand in part.operands)
            found = add(found, Affine(0, ((Symbol(part.name, operands, part.instance), times),)))
    return found


def rebased_instance(loop_instance: LoopInstance, by: LoopInstance, count: int) -> LoopInstance:
    """Return a loop or iteration where the loop `by` around it counts from a later iteration."""
    depth = len(by) - 1
    if len(loop_instance) < len(by) or loop_instance[:depth] != by[:depth] or loop_instance[depth][0] != by[depth][0]:
        return loop_instance
    if len(loop_instance[depth]) == 1:
        return loop_instance
    number, iterations = loop_instance[depth]
    return (*loop_instance[:depth], (number, iterations - count), *loop_instance[depth + 1 :])


@lru_cache(maxsize=1 << 14)
def rebased_value(value: Affine, loop_instance: LoopInstance, by: int) -> Affine:
    """Return an integer where a loop counts its iterations from a later one."""
    found = Affine(value.constant)
    for part, times in value.terms:
        instance: Any = part.instance
        if part.name == ITERATION:
            constant = -times * by if instance == loop_instance else 0
            instance = rebased_instance(instance, loop_instance, by)
        else:
            constant = 0
        operands = tuple(rebased_value(operand, loop_instance, by) for operand in part.operands)
        found = add(found, Affine(constant, ((Symbol(part.name, operands, instance), times),)))
    return found


@lru_cache(maxsize=1 << 14)
def signature(terms: Terms) -> str:
    """Return a text that is equal for integers that differ only in loop iterations."""
    parts = {
        f"{part.name}({', '.join(signature(operand.terms) for operand in part.operands)})"
        for part, _ in terms
        if part.name != ITERATION
    }
    return " + ".join(sorted(parts))


@lru_cache(maxsize=1 << 14)
def innermost_loop(terms: Terms) -> LoopInstance:
    """Return the innermost loop whose iteration a sum contains; empty without one."""
    places: list[Any] = [part.instance for part, _ in terms if part.name == ITERATION]
    return max(places, key=len, default=())


@lru_cache(maxsize=1 << 14)
def inner_depth(terms: Terms) -> int:
    """Return the depth of the innermost loop that the symbols of a sum depend on; 0 if they are loop-invariant."""
    deepest = 0
    for part, _ in terms:
        for operand in part.operands:
            places = [len(inner.instance) for inner, _ in operand.terms if inner.name == ITERATION]
            deepest = max(deepest, inner_depth(operand.terms), *places, 0)
    return deepest
