"""The import graph: folders are layers.

docs/design.md says what each folder is for. Every import counts here, wherever in a file it is.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import grimp
import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS: list[set[str]] = [
    {"tools"},
    {"host"},
    {"importers"},
    {"backend"},
    {"passes"},
    {"checks", "frontend"},
    {"analysis", "csl", "runtime"},
    {"dialects"},
    {"operations"},
    {"targets"},
    {"diagnostics"},
]
"""The folders, highest first: one imports only from those below it."""

WITHOUT_XDSL = ["analysis", "csl", "operations", "targets"]
"""Folders that know no IR; `analysis.pto` and `analysis.wse` read it for the rest of analysis."""

READS_IR = ("loomir.analysis.pto", "loomir.analysis.wse")


@lru_cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("loomir", include_external_packages=True, cache_dir=None)


def test_every_folder_is_a_layer() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders == set().union(*LAYERS)


def test_folders_import_downwards() -> None:
    for position, layer in enumerate(LAYERS):
        above = {f"loomir.{name}" for upper in LAYERS[:position] for name in upper}
        for folder in layer:
            beside = {f"loomir.{name}" for name in layer - {folder}}
            for module in graph().find_descendants(f"loomir.{folder}") | {f"loomir.{folder}"}:
                for imported in graph().find_modules_directly_imported_by(module):
                    home = ".".join(imported.split(".")[:2])
                    assert home not in above | beside, f"{module} imports {imported}"


def test_nobody_imports_the_package_itself() -> None:
    # Its names are a face of the folders for users. The tools read its version.
    importers = graph().find_modules_that_directly_import("loomir")
    assert {module.split(".")[1] for module in importers} <= {"tools"}


@pytest.mark.parametrize("folder", WITHOUT_XDSL)
def test_algorithms_and_tables_know_no_ir(folder: str) -> None:
    for module in graph().find_descendants(f"loomir.{folder}") | {f"loomir.{folder}"}:
        if not module.startswith(READS_IR):
            imported = {name.split(".")[0] for name in graph().find_modules_directly_imported_by(module)}
            assert "xdsl" not in imported, module
            assert "loomir.dialects" not in {
                ".".join(name.split(".")[:2]) for name in graph().find_modules_directly_imported_by(module)
            }, module


WITHOUT_CYCLES = ["diagnostics", "targets", "operations", "dialects", "analysis", "checks", "passes"]
"""Folders whose modules do not import each other in a circle, not for types or inside functions either."""


@pytest.mark.parametrize("folder", WITHOUT_CYCLES)
def test_modules_of_a_folder_have_no_cycles(folder: str) -> None:
    imports = nx.DiGraph()
    for module in graph().find_descendants(f"loomir.{folder}"):
        imports.add_edges_from((module, imported) for imported in graph().find_modules_directly_imported_by(module))
    assert not [sorted(knot) for knot in nx.strongly_connected_components(imports) if len(knot) > 1]
