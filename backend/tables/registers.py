"""Allocation of registers and frame descriptors: a linear scan over live ranges, reused as soon as they end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from .code import COPIES, Code


def allocate(
    code: Code,
    is_descriptor: Sequence[bool],
    groups: Iterable[Sequence[int]],
    loops: Iterable[tuple[int, int]],
    arguments: Sequence[int],
) -> tuple[list[int], int, int]:
    """Return the register, or frame descriptor, of each virtual one, and how many of both there are.

    Those of a group are consecutive; so are the arguments, from 0 on. `loops` are the first and last
    positions of loops: what is written before one and read inside it is kept until its end.
    """
    count = len(is_descriptor)
    first, last = [-1] * count, [-1] * count
    hints: dict[int, int] = {}
    for argument in arguments:
        first[argument] = 0
    for position, instruction in enumerate(code):
        if instruction is None:
            continue
        time = 2 * position + 2
        for register in instruction.uses:
            last[register] = time
        for register in instruction.defs:
            if first[register] < 0:
                first[register] = time if instruction.early else time + 1
                if instruction.op in COPIES and isinstance(instruction.b, int) and instruction.b >= 0:
                    hints[register] = instruction.b
            last[register] = time + 1
    for start, end in loops:
        for position in range(start, end + 1):
            instruction = code[position]
            if instruction is None:
                continue
            for register in (*instruction.uses, *instruction.defs):
                if first[register] < 2 * start + 2 and last[register] < 2 * end + 3:
                    last[register] = 2 * end + 3
    items: list[tuple[int, Sequence[int]]] = [(0, arguments)] if arguments else []
    taken = set(arguments)
    for group in groups:
        starts = [first[register] for register in group if first[register] >= 0]
        if starts:
            taken.update(group)
            items.append((min(starts), group))
    items += [(start, (register,)) for register, start in enumerate(first) if start >= 0 and register not in taken]
    items.sort(key=lambda item: item[0])
    places = [0] * count
    used, most = [0, 0], [0, 0]
    active: list[tuple[int, int, int]] = []
    for start, members in items:
        while active and active[0][0] < start:
            _, kind, place = heappop(active)
            used[kind] &= ~(1 << place)
        kind = int(is_descriptor[members[0]])
        free = ~used[kind]
        if len(members) == 1 and (hint := hints.get(members[0])) is not None and free >> places[hint] & 1:
            base = places[hint]
        else:
            runs = free
            for step in range(1, len(members)):
                runs &= free >> step
            base = (runs & -runs).bit_length() - 1
        for offset, register in enumerate(members):
            places[register] = base + offset
            used[kind] |= 1 << base + offset
            heappush(active, (last[register], kind, base + offset))
        most[kind] = max(most[kind], base + len(members))
    return places, most[0], most[1]
