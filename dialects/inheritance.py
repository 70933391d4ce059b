"""Metaclass of operations, types and attributes: what an instance is follows from inheritance alone."""

from __future__ import annotations

from abc import ABCMeta
from typing import TypeVar

_T = TypeVar("_T")


class ByInheritance(ABCMeta):
    """Metaclass of abstract classes without virtual subclasses: none is registered (`ABCMeta.register`).

    `isinstance` of another ABC looks for those each time, which takes twice as long. A compilation asks millions of
    times.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def register(cls, subclass: type[_T]) -> type[_T]:
        """Refuse a virtual subclass, which would not be found."""
        raise TypeError(f"{subclass.__name__} cannot be registered as a subclass of {cls.__name__}; inherit from it")
