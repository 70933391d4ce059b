"""Shifts of NumPy's integers past their width in host scripts, as the NumPy of the SDK does them.

Scripts join the three u16 words of a clock as `words[0] + (words[1] << 16) + (words[2] << 32)`. NumPy 1 makes an int64
of an integer with 16 bits that is shifted by a number of Python; NumPy 2 keeps its 16 bits, and the result is 0.
"""

from __future__ import annotations

import ast
from typing import Any, cast

import numpy as np

NAME = "__loom_shifted_left__"
"""Name that rewritten scripts call `shifted_left` by."""


def shifted_left(value: Any, count: Any) -> Any:
    """Return `value << count`; an int64 where NumPy 2 would shift all bits of a scalar out of it."""
    if isinstance(value, np.integer) and type(count) is int and 8 * value.itemsize <= count < 64:
        return np.int64(cast(int, value)) << count
    return value << count


def rewrite(tree: ast.Module) -> ast.Module:
    """Make calls of `NAME` of a script's shifts to the left."""
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                parts = [_rewritten(part) for part in cast("list[object]", value)]
                setattr(node, field, parts)
                nodes += [part for part in parts if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                part = _rewritten(value)
                setattr(node, field, part)
                nodes.append(cast(ast.AST, part))
    return tree


def _rewritten(part: object) -> object:
    if not (isinstance(part, ast.BinOp) and isinstance(part.op, ast.LShift)):
        return part
    name = ast.copy_location(ast.Name(NAME, ast.Load()), part)
    return ast.copy_location(ast.Call(name, [part.left, part.right], []), part)
