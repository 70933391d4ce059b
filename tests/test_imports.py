"""The import graph: folders are layers, and modules import each other without cycles.

docs/design.md says what each folder is for. Every import counts here, wherever in a file it is.
"""

from __future__ import annotations

import ast
import subprocess
import sys
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

WITHOUT_XDSL = ["analysis", "csl", "operations", "runtime", "targets"]
"""Folders that know no IR; `analysis.pto` and `analysis.wse` read it for the rest of analysis."""

READS_IR = ("loomir.analysis.pto", "loomir.analysis.wse")
"""Exempt of these."""

BELOW_RUNTIME = {"diagnostics", "operations", "runtime", "targets"}
"""What the engine may import."""


@lru_cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("loomir", include_external_packages=True, cache_dir=None)


def test_every_folder_is_a_layer() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders == set().union(*LAYERS)


@pytest.mark.slow
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


def test_the_engine_knows_executors_by_name_only() -> None:
    for module in graph().find_descendants("loomir.runtime") | {"loomir.runtime"}:
        imported = graph().find_modules_directly_imported_by(module)
        homes = {name.split(".")[1] for name in imported if name.startswith("loomir.")}
        assert homes <= BELOW_RUNTIME, module


@pytest.mark.slow
@pytest.mark.parametrize("module", ["runtime.machine", "host.sdk.device", "host.sdk.runtime", "host.sdk.debugging"])
def test_engine_and_host_scripts_are_loaded_without_ir(module: str) -> None:
    # Their errors are xDSL's diagnostic exceptions, which are in a module that imports nothing else.
    names = "[name for name in sys.modules if name.startswith(('xdsl', 'networkx', 'loomir.dialects'))]"
    code = f"import sys, loomir.{module}; print({names})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert ast.literal_eval(loaded) == ["xdsl", "xdsl.utils", "xdsl.utils.exceptions"]


WITH_CYCLES_OF_TYPES = {"backend", "frontend", "importers", "runtime"}
"""Folders with modules that name each other's classes in annotations; those imports are for type checkers only."""


def cycles(imports: grimp.ImportGraph) -> list[list[str]]:
    """Return the sets of modules that import each other in circles."""
    edges = nx.DiGraph(
        (module, imported)
        for module in imports.modules
        for imported in imports.find_modules_directly_imported_by(module)
    )
    return [sorted(knot) for knot in nx.strongly_connected_components(edges) if len(knot) > 1]


@pytest.mark.slow
def test_no_cycles() -> None:
    # Imports inside functions count.
    assert cycles(grimp.build_graph("loomir", exclude_type_checking_imports=True, cache_dir=None)) == []


def test_cycles_of_types_stay_in_few_folders() -> None:
    folders = [{module.split(".")[1] for module in knot} for knot in cycles(graph())]
    assert all(len(knot) == 1 for knot in folders)
    assert set().union(*folders) == WITH_CYCLES_OF_TYPES


def test_the_evaluator_and_the_program_of_pes_alone_name_each_other() -> None:
    # All else that they use of the front end, they use without being named there, or as a protocol.
    pairs = [["loomir.frontend.evaluator", "loomir.frontend.pe"], ["loomir.frontend.modules", "loomir.frontend.values"]]
    assert sorted(knot for knot in cycles(graph()) if knot[0].startswith("loomir.frontend.")) == pairs


@pytest.mark.slow
def test_the_front_end_imports_at_the_top() -> None:
    # But for its face, which loads the compiler when it is first used, to keep the start of the tools short.
    for path in {*(ROOT / "frontend").rglob("*.py")} - {ROOT / "frontend" / "__init__.py"}:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = [node for each in functions for node in ast.walk(each) if isinstance(node, ast.ImportFrom)]
        assert not any(node.level for node in inside), path
