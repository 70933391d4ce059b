"""The registry of checks: every file declares what it reports, and the documentation names all of it."""

from __future__ import annotations

import ast
from pathlib import Path

from loomir import checks
from loomir.checks.pto.registry import CHECKS

FOLDER = Path(checks.__file__).parent / "pto"
WITHOUT_CODES = {"__init__", "hazard", "registry", "subject"}
"""The files of the folder that are not checks."""


def reported(path: Path) -> set[str]:
    """Return the codes of the hazards that a file constructs."""
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    makes = {"Hazard", "Problem"}
    names = (call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in makes)
    return {str(name.value) for name in names if isinstance(name, ast.Constant)}


DRY_RUN = FOLDER.parents[1] / "analysis" / "pto" / "dry_run"
PASSES_ON = "in_a_dry_run"
"""The check that reports what a dry run meets."""


def test_every_file_is_a_check_and_declares_what_it_reports() -> None:
    found = {check.__name__.rpartition(".")[2]: check for check in CHECKS}
    assert set(found) == {path.stem for path in FOLDER.glob("*.py")} - WITHOUT_CODES
    for name, check in found.items():
        assert sum(hasattr(check, entry) for entry in ("find", "find_in_kernel", "find_in_trace")) == 1, name
        files = DRY_RUN.glob("*.py") if name == PASSES_ON else [FOLDER / f"{name}.py"]
        assert set(check.CODES) == {code for file in files for code in reported(file)}, name


def test_codes_are_documented() -> None:
    table = (FOLDER.parents[1] / "docs" / "pto.md").read_text()
    for code in {code for check in CHECKS for code in check.CODES}:
        assert f"| `{code}`" in table or f", `{code}`" in table, code
