"""The members of a dialect: whatever its modules define belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdsl.ir import Attribute, Operation

from loomir.dialects import get_all_dialects


def subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


@pytest.mark.parametrize("name", sorted(get_all_dialects()))
def test_every_class_of_a_dialect_is_a_member(name: str) -> None:
    dialect = get_all_dialects()[name]()
    for kind, listed in ((Operation, dialect.operations), (Attribute, dialect.attributes)):
        defined = {each for each in subclasses(kind) if str(vars(each).get("name")).startswith(f"{name}.")}
        assert {each for each in defined if each.__module__.startswith("loomir.")} == set(listed)
        assert len(list(listed)) == len(set(listed))


def test_dialects_are_the_folders() -> None:
    assert set(get_all_dialects()) == {"wse", "dsd", "dsr", "flow", "pto"}
    for name, load in get_all_dialects().items():
        assert load().name == name
