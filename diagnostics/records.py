"""Immutable records, for classes of values that many modules define: `record` in place of `dataclass(frozen=True)`.

A frozen dataclass compiles six methods while its module is imported, which a small program waits for, and its objects
take more than twice as long to make. Here nothing is compiled at first: the constructor is when the first object is
made, and what compares objects when two are compared. It is for type checkers to see that no field is ever assigned.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

ClassT = TypeVar("ClassT")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[ClassT]) -> type[ClassT]:
    """Make a class a dataclass whose objects are never changed: equal, and with equal hashes, if their fields are.

    Like `dataclass(frozen=True)`, it leaves alone what the class defines itself.
    """
    made: Any = dataclass(init=False, repr=False, eq=False)(cls)
    # Python gives a class that defines equality alone None in place of a hash.
    own = {name for name, value in vars(cls).items() if value is not None}

    def compile_constructor() -> None:
        """Give the class the constructor of a dataclass with the same fields."""
        given = {
            each.name: field(
                default=each.default, default_factory=each.default_factory, init=each.init, kw_only=each.kw_only
            )
            for each in fields(made)
        }
        twin: Any = type(cls.__name__, (), {"__annotations__": dict.fromkeys(given, object), **given})
        twin.__qualname__ = cls.__qualname__
        made.__init__ = dataclass(repr=False, eq=False)(twin).__init__

    def initialize(self: object, *values: object, **named: object) -> None:
        """Make the first object."""
        compile_constructor()
        made.__init__(self, *values, **named)

    def compile_comparison() -> None:
        """Give the class the methods that a dataclass with the same fields has."""
        names = [each.name for each in fields(made) if each.compare]
        twin: Any = type(cls.__name__, (), {"__annotations__": dict.fromkeys(names, object)})
        twin = dataclass(init=False, repr=False, unsafe_hash=True)(twin)
        for name in {"__eq__", "__hash__"} - own:
            setattr(cls, name, getattr(twin, name))

    def equal(self: object, other: object) -> bool:
        """Return True if both are of this class and have equal fields."""
        compile_comparison()
        return made.__eq__(self, other)

    def hashed(self: object) -> int:
        """Return the hash of the fields."""
        compile_comparison()
        return made.__hash__(self)

    methods = {"__init__": initialize, "__eq__": equal, "__hash__": hashed, "__repr__": _shown}
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


def _shown(self: Any) -> str:
    """Return the class and the fields, as they are written in a call."""
    shown = [f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"
