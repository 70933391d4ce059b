"""Shifts of NumPy's integers past their width in host scripts, as the NumPy of the SDK does them.

Scripts join the three u16 words of a clock as `words[0] + (words[1] << 16) + (words[2] << 32)`. NumPy 1 makes an int64
of an integer with 16 bits that is shifted by a number of Python; NumPy 2 keeps its 16 bits, and the result is 0.

That holds for a script and for the modules that it imports from its own folder, and those below it, but not for what is
installed there.
"""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, cast

import numpy as np

NAME = "__loom_shifted_left__"
"""Name that rewritten scripts call `shifted_left` by."""


def shifted_left(value: Any, count: Any) -> Any:
    """Return `value << count`; an int64 where NumPy 2 would shift all bits of a scalar out of it."""
    if isinstance(value, np.integer) and type(count) is int and 8 * value.itemsize <= count < 64:
        return np.int64(cast(int, value)) << count
    return value << count


def code_of(source: str | bytes, name: str) -> CodeType:
    """Return the code of a text whose shifts to the left are calls of `NAME`; `name` is that of its file."""
    tree = cast(ast.Module, compile(source, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True))
    return compile(_rewrite(tree), name, "exec", dont_inherit=True)


class _OwnModule(SourceFileLoader):
    """Loads a module of a script, always from its text: what Python has cached of it shifts as NumPy 2."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return code_of(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__[NAME] = shifted_left
        super().exec_module(module)


class _OwnModules(MetaPathFinder):
    """Finds the modules in a folder and below it, but for installed ones."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._own = os.path.join(os.path.realpath(folder), "")
        self._known: dict[str, bool] = {}
        """Of folders, if they are the script's."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] == __name__.partition(".")[0]:
            return None
        if path is not None and not any(map(self._is_own, path)):
            return None
        found = PathFinder.find_spec(fullname, [self._folder] if path is None else path, target)
        if found is None or found.origin is None or type(found.loader) is not SourceFileLoader:
            return None
        if not self._is_own(os.path.dirname(os.path.realpath(found.origin))):
            return None
        found.loader = _OwnModule(fullname, found.origin)
        return found

    def _is_own(self, folder: str) -> bool:
        if folder not in self._known:
            real = os.path.join(os.path.realpath(folder), "")
            self._known[folder] = real.startswith(self._own) and not _is_installed(real)
        return self._known[folder]


def _is_installed(folder: str) -> bool:
    if not {"site-packages", "dist-packages"}.isdisjoint(folder.split(os.sep)):
        return True
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return folder.startswith(tuple(os.path.join(os.path.realpath(path), "") for path in installed))


@contextmanager
def in_own_modules(folder: str) -> Generator[None]:
    """Let modules that are imported inside from a folder, or below it, shift as scripts do."""
    finder = _OwnModules(folder)
    # Where it is first on the path, as the folder of a script is: behind what is built in.
    sys.meta_path.insert(sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _rewrite(tree: ast.Module) -> ast.Module:
    """Make calls of `NAME` of all shifts to the left."""
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
