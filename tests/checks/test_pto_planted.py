"""Faults planted in the example kernels: an operation left out, a number of one end changed; none stays silent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from loomir import LoomError, pto
from loomir.host.pto_check import check
from loomir.operations.pipe_protocol import Behavior

EXAMPLES = Path(__file__).parents[2] / "examples/pto"
PROGRAMS: list[tuple[str, Behavior]] = [
    ("matmul_print", "a2a3"), ("matmul_print", "a5"), ("rows_split", "a5"), ("dequantize", "a5"), ("odd_split", "a2a3"),
    ("both_directions", "a2a3"), ("both_directions", "a5"), ("slots_in_parts", "a2a3"), ("dynamic_shapes", "a5"),
    ("mixed_tiles", "a2a3"), ("delayed_free", "a2a3"), ("blocks", "a2a3"),
]  # fmt: skip
LEFT_OUT = re.compile(
    r"^ *pto\.(?:tload|tfree_from_ai[cv]|tpush_to_ai[cv]|tmov (?=.*outs\(%\w*(?:left|right)))\b.*$", re.MULTILINE
)
"""Operations without which a tile is not written, or the ends of a pipe do not agree."""


def faults(text: str) -> Iterator[tuple[str, str]]:
    for match in LEFT_OUT.finditer(text):
        line = text[: match.start()].count("\n") + 1
        yield (
            f"{match[0].split('(')[0].split()[0]} of line {line} left out",
            text[: match.start()] + text[match.end() :],
        )
    for match in re.finditer(r"pto\.(?:tpop_from_ai[cv]|tpush_to_ai[cv])[^\n]*split = (\d)", text):
        other = {"0": "1", "1": "2", "2": "1"}.get(match[1], "0")
        yield f"split {match[1]} of one end is {other}", text[: match.start(1)] + other + text[match.end(1) :]
    for match in re.finditer(r"slot_size = (\d+)", text):
        yield "slot_size of one end halved", text[: match.start(1)] + str(int(match[1]) // 2) + text[match.end() :]
    for match in re.finditer(r"reserve_buffer \{name = \"\w+\", size = (\d+)", text):
        yield "reserved size halved", text[: match.start(1)] + str(int(match[1]) // 2) + text[match.end() :]
    for match in re.finditer(r"pto\.tfree_from_ai[cv][^\n]*id = 0", text):
        yield "a free of a pipe that is not open", text[: match.end() - 1] + "1" + text[match.end() :]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arch"), PROGRAMS)
@pytest.mark.one_in(4)
def test_no_fault_is_silent(name: str, arch: Behavior) -> None:
    text = (EXAMPLES / f"{name}.pto").read_text()
    assert [finding for finding in check(text, arch) if finding.severity != "note"] == []
    planted = dict(faults(text))
    silent = [what for what, wrong in planted.items() if not any(f.severity != "note" for f in check(wrong, arch))]
    # What depends on numbers of a launch is left to a run.
    assert len(planted) > 4 and [what for what in silent if not _is_found_in_a_run(planted[what], arch)] == []


def _is_found_in_a_run(text: str, arch: Behavior) -> bool:
    try:
        return any(found.severity != "note" for found in pto.run(text, arch=arch).findings)
    except LoomError:
        return True


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_ends_that_disagree_are_found_in_a_run(arch: Behavior) -> None:
    """How entries are split is found by whoever only runs the program, too."""
    text = (EXAMPLES / "both_directions.pto").read_text()
    wrong = text.replace("tpop_from_aic {id = 0, split = 2}", "tpop_from_aic {id = 0, split = 1}")
    findings = [found for found in pto.run(wrong, arch=arch).findings if found.code == "split-mismatch"]
    assert len(findings) == 1 and "is popped with split = 1, but pushed with split = 2" in findings[0].message


def test_names_are_those_of_the_text() -> None:
    """Kernels are called as the text does, also where the fabric has something of that name; so are tiles."""
    text = (EXAMPLES / "both_directions.pto").read_text()
    hangs = re.sub(r"  func.func @both_directions.*?\n  }\n", "", text, flags=re.DOTALL)
    hangs = hangs.replace("scf.for %tile = %c0 to %c512", "scf.for %tile = %c64 to %c512", 1)
    with pytest.raises(LoomError, match="@cube waits to pop entry 7") as caught:
        pto.run(hangs, arch="a2a3")
    assert "_kernel" not in str(caught.value)
    unwritten = text.replace(
        "pto.tload ins(%c_part : !pto.partition_tensor_view<32x32xf32>) outs(%c_half : !half_c)", ""
    )
    assert "the tile %c_half in bytes" in " ".join(str(found) for found in check(unwritten, "a2a3"))
