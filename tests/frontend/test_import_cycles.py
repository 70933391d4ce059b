"""The files of the front end import each other without a cycle, and none of them inside a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import loomir.frontend

FOLDER = Path(loomir.frontend.__file__).parent
FILES = {".".join(path.relative_to(FOLDER).with_suffix("").parts): path for path in FOLDER.rglob("*.py")}


def imports(name: str, *, inside: bool) -> Iterator[str]:
    """Yield the files that one imports at its top, or inside of functions; imports for annotations do not count."""
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    nodes = [inner for function in functions for inner in ast.walk(function)] if inside else tree.body
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = name.split(".")[: -node.level] if not name.endswith("__init__") else name.split(".")[:-1]
            if node.level > len(name.split(".")):
                continue
            whole = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{whole}.{alias.name}".lstrip(".")
                yield from (found for found in (inner, whole) if found in FILES)


def test_no_cycle() -> None:
    graph = {name: set(imports(name, inside=False)) for name in FILES}
    assert sum(map(len, graph.values())) > 100
    tuple(TopologicalSorter(graph).static_order())


def test_no_import_inside_a_function() -> None:
    # `frontend` itself loads the compiler when it is first used, to keep the start of the tools short.
    found = {name: list(imports(name, inside=True)) for name in FILES if name != "__init__"}
    assert not any(found.values()), found
