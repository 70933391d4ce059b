"""The programs in examples/pto: what the check says of them, and that they compute what their comments say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import ml_dtypes
import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host import pto
from loomir.host.pto_check import check
from loomir.runtime import Deadlock

Arch: TypeAlias = Literal["ideal", "a2a3", "a5"]
Arrays: TypeAlias = Mapping[str, "np.ndarray[Any, np.dtype[Any]]"]

EXAMPLES = Path(__file__).parents[3] / "examples" / "pto"
HAZARDS = EXAMPLES / "hazards"
ALL: tuple[Arch, ...] = ("ideal", "a2a3", "a5")
OLDER: tuple[Arch, ...] = ("ideal", "a2a3")
NEWER: tuple[Arch, ...] = ("ideal", "a5")


@dataclass(frozen=True)
class Example:
    """How a program is run: on what, with arrays of which shapes, and what has to be in `out` (f32)."""

    archs: tuple[Arch, ...]
    arguments: Mapping[str, tuple[Any, ...]]
    """Shape, then type if it is not f32."""
    golden: Callable[[Arrays], Any]
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])
    blocks: int = 1
    slots: int = 0
    """Bytes of `slots`, if the text does not say how many."""


def wide(array: Any) -> Any:
    return array.astype(np.float64)


PROGRAMS: Mapping[str, Example] = {
    "double_buffer": Example(
        ALL, {"a": (128, 64)}, lambda x: wide(x["a"]) + np.concatenate([np.zeros((16, 64)), wide(x["a"])[:-16]])
    ),
    "rows_split": Example(
        ALL,
        {"a": (64, 32, np.float16), "b": (32, 32, np.float16), "bias": (64, 32)},
        lambda x: wide(x["a"]) @ wide(x["b"]) + x["bias"],
    ),
    "dequantize": Example(
        NEWER,
        {"a": (16, 256), "b": (256, 32, np.int8), "offset": (256, 1), "scale": (256, 1)},
        lambda x: wide(x["a"]) @ ((wide(x["b"]) - x["offset"]) * x["scale"]),
    ),
    "both_directions": Example(
        ALL,
        {"a": (32, 64), "b": (64, 512), "c": (32, 512)},
        lambda x: wide(x["a"] + 1) @ x["b"] + x["c"],
    ),
    "slots_in_parts": Example(
        ALL,
        {"a": (128, 128, np.float16), "b": (128, 128, np.float16)},
        lambda x: np.tile(wide(x["a"]) @ wide(x["b"]), (1, 4)) + 3.14,
        slots=2 * 128 * 512 * 4,
    ),
    "odd_split": Example(
        OLDER,
        {"a": (5, 32), "b": (32, 127), "bias": (5, 127)},
        lambda x: wide(x["a"]) @ x["b"] + x["bias"],
    ),
    "dynamic_shapes": Example(
        ALL,
        {"a": (43, 32), "b": (32, 32)},
        lambda x: wide(x["a"]) @ x["b"],
        numbers={"rows": 43},
    ),
    "mixed_tiles": Example(OLDER, {"a": (64, 64), "b": (64, 32)}, lambda x: wide(x["a"]) @ x["b"]),
    "blocks": Example(
        ALL,
        {"a": (24 * 32, 32, ml_dtypes.bfloat16), "b": (32, 32, ml_dtypes.bfloat16)},
        lambda x: 0.5 * (wide(x["a"]) @ wide(x["b"])),
        blocks=24,
        slots=24 * 4096,
    ),
    "delayed_free": Example(
        OLDER,
        {"a": (128, 32), "b": (32, 32)},
        lambda x: np.vstack([(wide(x["a"][i + 16 : i + 32]) - x["a"][i : i + 16]) @ x["b"] for i in range(0, 128, 32)]),
    ),
}


def inputs(shapes: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    random = np.random.default_rng(7)
    found: dict[str, Any] = {}
    for name, (rows, columns, *dtype) in shapes.items():
        numbers = random.uniform(-2, 2, (rows, columns))
        found[name] = (numbers * 30 if dtype == [np.int8] else numbers).astype(dtype[0] if dtype else np.float32)
    return found


def test_every_program_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.pto")} == {*PROGRAMS, "matmul_print", "control_signal", "ring"}
    assert {path.stem for path in HAZARDS.glob("*.pto")} == set(FINDINGS)


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [*PROGRAMS, "matmul_print", "control_signal"])
def test_nothing_is_found(name: str) -> None:
    assert {finding.code for finding in check(EXAMPLES / f"{name}.pto")} <= {"seeded-credits", "leftover-credits"}


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [name for name, example in PROGRAMS.items() if "a5" in example.archs])
def test_credits_left_over_on_a5_are_told_without_a_run(name: str) -> None:
    """H2: what a5 keeps for the next launch, as a run finds it; loops to an argument alone are not followed so far."""
    example = PROGRAMS[name]
    given = inputs(example.arguments)
    arguments = {**given, **example.numbers, "out": np.zeros(example.golden(given).shape, np.float32)}
    if example.slots:
        arguments["slots"] = np.zeros(example.slots // 4, np.float32)
    result = pto.run(EXAMPLES / f"{name}.pto", arch="a5", blocks=example.blocks, arguments=arguments)
    left = any(finding.code == "leftover-credits" for finding in check(EXAMPLES / f"{name}.pto", "a5"))
    if not example.numbers:
        assert left == any(finding.code == "leftover-credits" for finding in result.findings)


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "arch"), [(name, arch) for name, example in PROGRAMS.items() for arch in example.archs], ids=str
)
def test_computes_what_it_says(name: str, arch: Arch) -> None:
    example = PROGRAMS[name]
    given = inputs(example.arguments)
    golden = example.golden(given)
    arguments = {**given, **example.numbers, "out": np.zeros(golden.shape, np.float32)}
    if example.slots:
        arguments["slots"] = np.zeros(example.slots // 4, np.float32)
    result = pto.run(EXAMPLES / f"{name}.pto", arch=arch, blocks=example.blocks, arguments=arguments)
    np.testing.assert_allclose(result.arrays["out"], golden, 1e-3, 1e-3)
    assert [str(finding) for finding in result.findings if arch != "a5" or finding.severity == "error"] == []


@pytest.mark.parametrize("arch", ALL)
def test_prints_the_product(arch: Arch) -> None:
    given = inputs({"a": (16, 16), "b": (16, 16)})
    result = pto.run(EXAMPLES / "matmul_print.pto", arch=arch, arguments=given)
    # On a2 and a3 both vector cores take part, split or not.
    cores = ["AIV0", "AIV1"] if arch == "a2a3" else ["AIV0"]
    assert sorted(printed.core for printed in result.prints) == cores
    for printed in result.prints:
        np.testing.assert_allclose(printed.array, given["a"] @ given["b"], 1e-3, 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 16, 17, 100])
def test_any_number_of_rows(rows: int) -> None:
    given = inputs({"a": (rows, 32), "b": (32, 32)})
    out = np.zeros((rows + 1, 32), np.float32)
    result = pto.run(EXAMPLES / "dynamic_shapes.pto", arguments={**given, "rows": rows, "out": out})
    np.testing.assert_allclose(result.arrays["out"][:rows], given["a"] @ given["b"], 1e-3, 1e-3)
    assert not result.arrays["out"][rows:].any()


# ---------------------------------------------------------------------------------------------
# Wrong programs
# ---------------------------------------------------------------------------------------------

FINDINGS: Mapping[str, str] = {
    "h1_odd_slot_number": "unsafe-depth",
    "h2_seeded_credits": "seeded-credits",
    "h3_frees_together": "early-credit",
    "h3_frees_lost": "deadlock",
    "h4_local_slots": "local-aliasing",
    "h5_mixed_tiles_in_global_memory": "mixed-tile-sizes",
    "h6_freed_twice": "freed-twice",
    "h7_rings_alias": "aliasing-rings",
    "h9_second_vector_core": "second-core",
    "deadlock": "deadlock",
}
"""What the check says of each; others may be true of the same program."""


@pytest.mark.parametrize(("name", "code"), FINDINGS.items(), ids=str)
def test_hazard_is_found(name: str, code: str) -> None:
    found = check(HAZARDS / f"{name}.pto")
    assert code in {finding.code for finding in found}
    assert "rejected" not in {finding.code for finding in found}


@pytest.mark.parametrize(("name", "arch"), [("deadlock", "a5"), ("h3_frees_lost", "a2a3")])
def test_run_ends_with_who_waits_for_whom(name: str, arch: Arch) -> None:
    with pytest.raises(Deadlock, match="AIC") as told:
        pto.run(HAZARDS / f"{name}.pto", arch=arch, arguments={} if name == "deadlock" else RING)
    assert "AIV0" in str(told.value) and "circular wait" in str(told.value)
    lost = "free each entry before the next pop" in str(told.value)
    assert lost == (name == "h3_frees_lost")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_reports_a_slot_that_is_written_after_its_push(when: str, tmp_path: Path) -> None:
    text = (HAZARDS / "h3_frees_lost.pto").read_text(encoding="utf-8")
    push = "      pto.tpush_to_aiv(%entry : !slot) {id = 0, split = 0}\n"
    late = "      pto.tstore ins(%square : !acc) outs(%entry_part : !part)\n"
    program = tmp_path / "late.pto"
    program.write_text(text.replace(push, push + late if when == "after" else late + push), encoding="utf-8")
    found = list(pto.run(program, arch="ideal", arguments=RING).findings)
    line = text[: text.index(push)].count("\n") + 2
    expected = [("error", "store-after-push", f"{program}:{line}:7")] if when == "after" else []
    assert [(finding.severity, finding.code, finding.location) for finding in found] == expected
    assert when == "before" or "entry 0 of channel @c2v_0 is written after it has been pushed" in found[0].message


RING = {"slots": np.zeros(16 * 256, np.float32)}
"""Slots in global memory, more than any program here has."""


def first_numbers(name: str, arch: Arch, order: str | None = None) -> tuple[list[float], set[str]]:
    """The first number of each tile in `out`, which should be 1, 2, 3, ..., and what was told, by its code."""
    slots = RING if "%slots" in (HAZARDS / f"{name}.pto").read_text(encoding="utf-8") else {}
    result = pto.run(HAZARDS / f"{name}.pto", arch=arch, order=order, arguments=slots)
    return list(result.arrays["out"].reshape(-1, 256)[:, 0]), {finding.code for finding in result.findings}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arch", "code"),
    [
        ("h1_odd_slot_number", "a2a3", "early-overwrite"),
        ("h2_seeded_credits", "a5", "early-overwrite"),
        ("h4_local_slots", "a2a3", "local-aliasing"),
    ],
)
def test_run_tells_of_what_is_overwritten(name: str, arch: Arch, code: str) -> None:
    """With a producer that runs as far ahead as it may."""
    found, codes = first_numbers(name, arch, "eager")
    assert found != [*range(1, len(found) + 1)]
    assert code in codes


def test_run_tells_of_frees_that_come_together() -> None:
    """Nothing is overwritten in this run, but nothing prevents it."""
    found, codes = first_numbers("h3_frees_together", "a5", "eager")
    assert found == [*range(1, len(found) + 1)]
    assert "early-credit" in codes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["h1_odd_slot_number", "h2_seeded_credits", "h3_frees_together"])
def test_ideal_pipes_keep_every_tile(name: str) -> None:
    for order in ("eager", "prompt"):
        assert first_numbers(name, "ideal", order) == ([*range(1, 9)], set())


@pytest.mark.slow
@pytest.mark.parametrize("arch", ALL)
def test_tiles_of_two_sizes_overlap_on_a5(arch: Arch) -> None:
    given = inputs({"a": (16, 16)})
    result = pto.run(HAZARDS / "h5_mixed_tiles_in_global_memory.pto", arch=arch, arguments={**given, **RING})
    square = given["a"] @ given["a"]
    if arch == "a5":
        square[8:] = square[:8]
    np.testing.assert_allclose(result.arrays["out"].reshape(24, 16)[:16], square, 1e-3, 1e-3)


def test_pipe_of_both_directions_in_global_memory_hangs_on_a5() -> None:
    """H8: the vector cores wait for the wrong flag there, so it is refused with the cause and the remedy."""
    with pytest.raises(LoomError, match=r"wait for the flag of free slots.*\(H8\); open a pipe for each direction"):
        pto.run(HAZARDS / "h7_rings_alias.pto", arch="a5")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["ideal", "a2a3"])
def test_rings_of_tensors_overlap_on_chips(arch: Arch) -> None:
    given = inputs({"a": (16, 16)})
    result = pto.run(HAZARDS / "h7_rings_alias.pto", arch=arch, arguments={**given, **RING})
    to_cube, to_vector = (result.arrays[name].reshape(16, 16) for name in ("to_cube", "to_vector"))
    kept = [(to_cube == 7).all(), (to_vector == given["a"]).all()]
    assert kept == [True, True] if arch == "ideal" else not all(kept)
    told = [finding.message for finding in result.findings if finding.code == "aliasing-rings"]
    assert bool(told) == (arch != "ideal")
    assert all("the slots of channels @v2c_0 and @c2v_0 overlap" in message for message in told)
    assert {finding.code for finding in result.findings} == (set() if arch == "ideal" else {"aliasing-rings"})


@pytest.mark.slow
@pytest.mark.parametrize("arch", OLDER)
def test_slots_that_blocks_share(arch: Arch) -> None:
    """Without an offset by block all blocks have their slots at one place in global memory."""
    example = PROGRAMS["mixed_tiles"]
    given = inputs(example.arguments)
    arguments = {**given, "out": np.zeros(example.golden(given).shape, np.float32)}
    result = pto.run(EXAMPLES / "mixed_tiles.pto", arch=arch, blocks=2, arguments=arguments)
    (told,) = {finding.message for finding in result.findings if finding.code == "shared-slots"}
    assert told.startswith("blocks 0 and 1 have the slots of channel @") and "get_block_idx" in told
    assert "aliasing-rings" not in {finding.code for finding in result.findings}


@pytest.mark.slow
@pytest.mark.parametrize("order", ["eager", "prompt"])
def test_slots_freed_twice_on_a5(order: str) -> None:
    given = inputs({"a": (128, 16)})
    squares = np.vstack([given["a"][i : i + 16] @ given["a"][i : i + 16] for i in range(0, 128, 16)])
    for arch in ALL:
        result = pto.run(HAZARDS / "h6_freed_twice.pto", arch=arch, order=order, arguments={**given, **RING})
        if arch == "a5":
            assert "freed-twice" in {finding.code for finding in result.findings}
        else:
            assert result.findings == []
            np.testing.assert_allclose(result.arrays["out"].reshape(128, 16), squares, 1e-3, 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("arch", NEWER)
@pytest.mark.parametrize("alone", [False, True])
def test_a_second_core_writes_a_row_too_far_on_a5(tmp_path: Path, arch: Arch, alone: bool) -> None:
    """H9: the slot of the second core begins a row further; the remedy is to leave it to the first alone."""
    text = (HAZARDS / "h9_second_vector_core.pto").read_text(encoding="utf-8")
    if alone:
        start, push = text.index("    %sent = pto.talloc"), "pto.tpush_to_aic(%sent : !slot) {id = 0, split = 0}\n"
        end = text.index(push) + len(push)
        text = f"{text[:start]}    scf.if %first {{\n{text[start:end]}    }}\n{text[end:]}"
    path = tmp_path / "second.pto"
    path.write_text(text, encoding="utf-8")
    codes = set() if alone else {"second-core"}
    assert {finding.code for finding in check(path)} - {"stored-mat"} == codes
    given = inputs({"a": (16, 16)})["a"]
    result = pto.run(path, arch=arch, arguments={"a": given, "slots": np.zeros((3, 16, 16), np.float32)}, order="eager")
    assert {finding.code for finding in result.findings} == codes
    got, behind = result.arrays["out"].reshape(16, 16), result.arrays["slots"][1, 0]
    is_shifted = arch == "a5" and not alone
    # The first core's rows, then the second's, which begin at row 1 and end behind the slot.
    np.testing.assert_array_equal(got, np.vstack([given[:1], given[:-1]]) if is_shifted else given)
    np.testing.assert_array_equal(behind, given[-1] if is_shifted else 0)
