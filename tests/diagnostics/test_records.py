"""Records behave as frozen dataclasses do."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import pytest

from loomir.diagnostics.records import record


class Point:
    """A place with a label that does not count."""

    x: float
    y: tuple[int, ...] = ()
    label: str = field(default="", compare=False)


class Shown:
    """Says itself how it is shown, compared and hashed."""

    x: int
    hidden: int = field(default=0, repr=False)

    def __repr__(self) -> str:
        return f"<{self.x}>"

    def __eq__(self, other: object) -> bool:
        return self.x % 2 == getattr(other, "x", 0) % 2

    def __hash__(self) -> int:
        return self.x % 2


class Equal:
    """Says itself how it is compared."""

    x: int

    def __eq__(self, other: object) -> bool:
        return self.x == getattr(other, "x", 0)


class Hidden:
    """Has a field that is not shown."""

    x: int
    hidden: int = field(default=0, repr=False)


class Empty:
    """Has no fields."""


VALUES: dict[type, list[tuple[Any, ...]]] = {
    Point: [(1, (2,), "a"), (1, (2,), "b"), (1, (3,)), (2,)],
    Shown: [(1,), (3,), (2, 5)],
    Equal: [(1,), (2,)],
    Hidden: [(1, 2), (1, 3)],
    Empty: [()],
}


def of(cls: type, make: Any) -> list[Any]:
    """Return objects of a copy of a class that `make` has decorated, and the first of them a second time."""
    own = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    made = make(type(cls.__name__, cls.__bases__, own))
    found = [made(*values) for values in VALUES[cls]]
    return [*found, replace(found[0])]


@pytest.mark.parametrize("cls", list(VALUES))
def test_records_are_as_frozen_dataclasses(cls: type) -> None:
    ours, theirs = of(cls, record), of(cls, dataclass(frozen=True))
    for found, wanted in zip(ours, theirs, strict=True):
        assert repr(found) == repr(wanted)
        assert hash(found) == hash(wanted)
        assert [each.name for each in fields(found)] == [each.name for each in fields(wanted)]
        assert [found == other for other in ours] == [wanted == other for other in theirs]
        assert [found != other for other in (1, None)] == [wanted != other for other in (1, None)]


def test_constructors_are_as_those_of_dataclasses() -> None:
    """They are compiled for the first object, here one of a class below."""

    @record
    class Point:
        x: int
        names: list[str] = field(default_factory=list[str])
        twice: int = field(default=0, init=False)
        label: str = field(default="", kw_only=True)

    class Below(Point):
        pass

    assert Point.__init__.__qualname__.endswith("initialize")
    first, second = Below(1, label="a"), Point(x=2, names=["n"])
    assert (first.x, first.names, first.twice, first.label) == (1, [], 0, "a")
    assert (second.x, second.names, second.label, Point(3).names) == (2, ["n"], "", [])
    assert first.names is not Point(1).names and replace(second, x=5).names == ["n"]
    assert [each.name for each in fields(Below)] == ["x", "names", "twice", "label"]
    for wrong in ((), (1, [], "label"), (1, [], 0)):
        with pytest.raises(TypeError, match=r"Point\.__init__\(\)"):
            Point(*wrong)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_record_below_another_has_the_fields_of_both() -> None:
    @record
    class Base:
        x: int

    @record
    class Below(Base):
        y: int = 2

    assert Below(1) == Below(1, 2) != Below(1, 3)
    assert hash(Below(1)) == hash(Below(1, 2))
    assert Base(1) != Below(1) and len({Base(1), Below(1), Base(1)}) == 2
    assert repr(Below(1)).endswith("Below(x=1, y=2)")
