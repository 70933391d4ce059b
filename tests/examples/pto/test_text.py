"""The text of the conformance programs: all passes take it, and the check finds nothing but what is true of a5."""

from __future__ import annotations

from pathlib import Path

import pytest

from loomir.host.pto_check import check

from .cases import CASES
from .kernel_text import Chip

A5_WARNINGS = {"seeded-credits"}
"""What is true of a5 in nearly every program: it begins with credits (H2)."""


@pytest.mark.parametrize(
    ("name", "chip"), [(name, chip) for name, case in CASES.items() for chip in case.chips], ids=str
)
def test_nothing_is_found(name: str, chip: Chip, tmp_path: Path) -> None:
    case = CASES[name]
    path = tmp_path / f"{name}.pto"
    path.write_text(case.text(chip), encoding="utf-8")
    findings = {finding.code for finding in check(path)}
    if chip == "a5" and case.overfreed_on_a5:
        assert "early-credit" in findings
    else:
        assert findings <= (A5_WARNINGS if chip == "a5" else set())
