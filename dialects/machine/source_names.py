"""Names of colors and queues in the source that IR was made from, for messages: symbols in IR are unique, names not."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Operation

from ..building import string
from ..symbols import symbol_name

NAME = "loom.name"


UNNAMED = ""
"""The source name of a color or queue that the source calls by its id alone."""


def set_source_name(op: Operation, name: str | None) -> None:
    """Note the name that an operation's symbol has in the source; None leaves it without one."""
    if name is not None:
        op.attributes[NAME] = string(name)


def source_name(op: Operation) -> str | None:
    """Return the name that an operation's symbol has in the source, None if it has none or no other."""
    name = op.attributes.get(NAME)
    return name.data if isinstance(name, StringAttr) else None


def shown_name(op: Operation) -> str:
    """Return what messages call a color or queue: 'its name' in the source, its id if it has none there, or the @symbol
    of what comes from no other source."""
    name = source_name(op)
    if name == UNNAMED:
        for property in ("id", "queue_id", "color"):
            number = op.properties.get(property)
            if isinstance(number, IntegerAttr):
                return str(cast("IntegerAttr[IntegerType]", number).value.data)
    return f"'{name}'" if name else f"@{symbol_name(op)}"
