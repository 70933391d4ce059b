"""Symbol names that operations define, at every level.

Which name an operation may use, and what for, is each dialect's own to say.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Operation


def symbol_name(op: Operation) -> str | None:
    """Return the symbol `op` defines, if any."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def symbols_of(owner: Operation) -> dict[str, Operation]:
    """Return the operations directly inside `owner` that define symbols, by name."""
    return {name: op for op in owner.regions[0].block.ops if (name := symbol_name(op)) is not None}


def symbols_named(op: Operation) -> set[str]:
    """Return the symbols that the properties of an operation name, but its own."""
    return {
        value.root_reference.data
        for value in (*op.properties.values(), *op.attributes.values())
        if isinstance(value, SymbolRefAttr)
    }
