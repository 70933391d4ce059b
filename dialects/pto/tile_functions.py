"""Tile functions: the operations on whole tiles that have a row in `pto_tiles`, one class each, made from the row.

`TRowSumOp` is `pto.trowsum`, and `TMatmulAccOp` is `pto.tmatmul.acc`. A class takes its docstring, its operands and the
shapes that it accepts from the row.
"""

from __future__ import annotations

import re

from ...operations.pto_tiles import OPERATIONS as ROWS
from .tiles import TableOperation, table_operation

_WORDS = re.compile(r"row|col|expand|arg|fill|exp(?=dif)|part|[a-z0-9]+")
"""The words that a name is made of; what follows the last of the prefixes is one word."""


def class_name(name: str) -> str:
    """Return the name of the class of an operation, called `name` without `pto.`."""
    words = [word for part in name.removeprefix("t").split(".") for word in _WORDS.findall(part)]
    return f"T{''.join(word.capitalize() for word in words)}Op"


OPERATIONS: dict[str, type[TableOperation]] = {
    name: table_operation(type(class_name(name), (TableOperation,), {"name": f"pto.{name}", "__module__": __name__}))
    for name in ROWS
}
"""The classes by name without `pto.`."""

globals().update({operation.__name__: operation for operation in OPERATIONS.values()})
