"""Members of a dialect: the operations, types and attributes that its modules define.

Nothing here knows a dialect; each names its modules, in the order of its reference page.
"""

from __future__ import annotations

from types import ModuleType
from typing import TypeVar

from xdsl.ir import Attribute, Dialect, Operation

_MemberT = TypeVar("_MemberT", bound=Operation | Attribute)


def members(kind: type[_MemberT], *modules: ModuleType) -> list[type[_MemberT]]:
    """Return the classes of `kind` that modules define, in the order written; a class without a name is abstract."""
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and "name" in vars(value)
        # To ask `issubclass` of an abstract class takes longer than to import the dialects.
        and kind in value.__mro__
    ]


def dialect_of(name: str, *modules: ModuleType) -> Dialect:
    """Return the dialect called `name`: all members of modules whose names begin with it."""
    operations, attributes = members(Operation, *modules), members(Attribute, *modules)
    own = f"{name}."
    return Dialect(
        name, [op for op in operations if op.name.startswith(own)], [a for a in attributes if a.name.startswith(own)]
    )
