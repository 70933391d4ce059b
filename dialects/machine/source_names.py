"""Names of colors and queues in the source that IR was made from, for messages: symbols in IR are unique, names not."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ..building import string
from ..symbols import symbol_name

NAME = "loom.name"


def set_source_name(op: Operation, name: str | None) -> None:
    """Note the name that an operation's symbol has in the source; None leaves it without one."""
    if name is not None:
        op.attributes[NAME] = string(name)


def source_name(op: Operation) -> str | None:
    """Return the name that an operation's symbol has in the source, None if it has none or no other."""
    name = op.attributes.get(NAME)
    return name.data if isinstance(name, StringAttr) else None


def shown_name(op: Operation) -> str:
    """Return what messages call a color or queue: 'its name' in the source, or @symbol where it has none there."""
    name = source_name(op)
    return f"@{symbol_name(op)}" if name is None else f"'{name}'"
