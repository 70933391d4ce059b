"""Numbers for colors and tasks: the ones given are kept, the others get free ones."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping


def number(wanted: Mapping[str, int | None], allowed: Iterable[int], avoid: Container[int] = ()) -> dict[str, int]:
    """Return a number for each name, the lowest free ones of `allowed` for those without.

    Fixed numbers are not checked against `allowed`. A name for which nothing is left is missing from
    the result; numbers in `avoid` are given to none.
    """
    taken = {fixed for fixed in wanted.values() if fixed is not None}
    free = iter([candidate for candidate in allowed if candidate not in taken and candidate not in avoid])
    numbers: dict[str, int] = {}
    for name, fixed in wanted.items():
        chosen = next(free, None) if fixed is None else fixed
        if chosen is not None:
            numbers[name] = chosen
    return numbers
