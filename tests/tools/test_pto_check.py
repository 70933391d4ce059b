"""loom pto check: what it says about good, bad and empty programs, and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.host.pto_check import check

from .conftest import Run, one_error

ACC = "!pto.tile_buf<acc, 16x16xf32>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"


def program(*, arch: str | None = None, slots: int = 2, gm: bool = False, size: int = 1024, pushes: int = 1) -> str:
    """A cube kernel that pushes tiles and a vector kernel that takes one out."""
    target = "" if arch is None else f' attributes {{pto.target_arch = "{arch}"}}'
    at = "gm_slot_buffer = %gm : !pto.ptr<f32>, " if gm else ""
    settings = f"{{dir_mask = 1, slot_size = {size}, slot_num = {slots}}}({at}c2v_consumer_buf = %b : i32)"
    push = f"    pto.tpush_to_aiv(%acc : {ACC}) {{split = 0}}\n"
    where = f"size = {size * slots}, location = #pto.address_space<vec>, auto = true"
    return f"""module{target} {{
  func.func @cube(%gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %b = pto.import_reserved_buffer {{name = "fifo", peer_func = @vec}} -> i32
    pto.aic_initialize_pipe {settings}
    %acc = pto.alloc_tile : {ACC}
{push * pushes}    return
  }}
  func.func @vec(%gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %b = pto.reserve_buffer {{name = "fifo", {where}}} -> i32
    pto.aiv_initialize_pipe {settings}
    %t = pto.tpop_from_aic {{split = 0}} -> {VEC}
    pto.tfree_from_aic {{split = 0}}
    return
  }}
}}
"""


@pytest.fixture
def pto(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a program to a file of its own."""

    def write(text: str) -> Path:
        path = tmp_path / "program.pto"
        path.write_text(text)
        return path

    return write


Write = Callable[[str], Path]


@pytest.mark.parametrize("arch", ["ideal", "a5"])
def test_a_good_program(run_loom: Run, pto: Write, arch: str) -> None:
    path = pto(program())
    outcome = run_loom("pto", "check", path, "--arch", arch)
    assert (outcome.status, outcome.out, outcome.err) == (0, f"{path}: nothing found\n", "")


def test_an_error_is_status_1(run_loom: Run, pto: Write) -> None:
    path = pto(program(pushes=2))
    outcome = run_loom("pto", "check", path)
    assert outcome.status == 1
    first, last = outcome.out.splitlines()
    assert first.startswith(f"{path}:13:5: error: 1 entry is popped in @vec, but 2 are pushed into the pipe of 'fifo'")
    assert first.endswith("make both agree [unbalanced-pipe]")
    assert last == f"{path}: 1 error"


def test_warnings_alone_are_status_0(run_loom: Run, pto: Write) -> None:
    path = pto(program().replace("size = 2048", "size = 4096"))
    outcome = run_loom("pto", "check", path)
    assert outcome.status == 0
    assert "warning: 'fifo' reserves 4096 bytes for 2 slots of 1024" in outcome.out
    assert outcome.out.endswith(f"{path}: 1 warning\n")


def test_json(run_loom: Run, pto: Write) -> None:
    path = pto(program(pushes=2))
    outcome = run_loom("pto", "check", path, "--json")
    (found,) = json.loads(outcome.out)
    assert outcome.status == 1
    assert found.keys() == {"severity", "code", "message", "location", "arch"}
    assert (found["severity"], found["code"]) == ("error", "unbalanced-pipe")
    assert found["location"] == f"{path}:13:5"
    assert json.loads(run_loom("pto", "check", pto(program()), "--json").out) == []


@pytest.mark.slow
def test_the_chip_is_the_module_s_or_that_of_its_slots(pto: Write) -> None:
    """A program for a5 alone cannot be compiled for a2a3, and is not tried, unless that is asked for."""
    path = pto(program())
    assert check(path) == check(path, "a5") == check(path, "ideal") == []
    (refused,) = check(path, "a2a3")
    assert "requires 'gm_slot_buffer' when lowering to a2/a3" in refused.message
    assert (refused.code, refused.severity) == ("rejected", "error")
    (named,) = check(pto(program(arch="a3")))
    assert named.message == refused.message


@pytest.mark.slow
def test_findings_of_one_chip_say_which(pto: Write) -> None:
    text = program(gm=True, pushes=3, slots=5).replace("pto.tpop", "pto.tpop")
    both = check(pto(text))
    assert {(finding.code, finding.arch) for finding in both} == {("unbalanced-pipe", None), ("unsafe-depth", None)}
    guarded = text.replace(
        "    %t = ",
        "    %lane = pto.get_subblock_idx\n    %z = arith.constant 0 : i64\n"
        "    %first = arith.cmpi eq, %lane, %z : i64\n    scf.if %first {\n    %t = ",
    ).replace("    pto.tfree_from_aic {split = 0}\n", "    pto.tfree_from_aic {split = 0}\n    }\n")
    lanes = [finding for finding in check(pto(guarded)) if finding.code == "unequal-lanes"]
    assert [finding.arch for finding in lanes] == ["a2a3", "a2a3"]
    assert "(on a2a3) [unequal-lanes]" in str(lanes[0])


def test_modules_are_checked_and_left_as_they_are(pto: Write) -> None:
    module = parse_ir(context(), program(arch="a5"), "program.pto")
    before = str(module)
    assert check(module, "ideal") == []
    assert check(module, "a2a3") != []
    assert str(module) == before


@pytest.mark.parametrize("text", ["", "\n\n", "// nothing\n"])
def test_an_empty_file(run_loom: Run, pto: Write, text: str) -> None:
    outcome = run_loom("pto", "check", pto(text))
    assert outcome.status == 1
    assert "error: the text contains no operation; write a kernel, func.func [rejected]" in outcome.out


@pytest.mark.parametrize(
    "text", ["func.func @f() { return }", "module {}", 'wse.program @p target "wse3" rectangle 1 x 1 {}']
)
def test_a_file_without_kernels(run_loom: Run, pto: Write, text: str) -> None:
    outcome = run_loom("pto", "check", pto(text))
    assert outcome.status == 1
    assert "error: there is no kernel; write a func.func with operations on tiles, with pto" in outcome.out


def test_text_that_does_not_parse(run_loom: Run, pto: Write) -> None:
    path = pto(program().replace("slot_size", "slot_sise"))
    outcome = run_loom("pto", "check", path)
    assert outcome.status == 1
    first, last = outcome.out.splitlines()
    assert first.startswith(f"{path}:4:") and "unexpected keyword 'slot_sise'" in first
    assert last == f"{path}: 1 error"


def test_what_has_no_place_is_told_of_the_file(run_loom: Run, pto: Write) -> None:
    path = pto("func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { return }\n" * 2)
    assert run_loom("pto", "check", path).out.startswith(f'{path}: error: Redefinition of symbol "f" [rejected]\n')


def test_an_index_of_more_than_64_bits(pto: Write) -> None:
    constant = "    %big = arith.constant 99999999999999999999 : index\n    return\n"
    (found,) = check(pto(program().replace("    return\n", constant, 1)))
    assert found.message == "99999999999999999999 does not fit in the 64 bits of an index"
    assert found.location is not None and ":7:" in found.location


def test_what_the_compiler_refuses_stands_beside_what_else_is_found(pto: Write) -> None:
    """Both ends number their slots otherwise, and one pops more than is pushed."""
    text = program(arch="a5", pushes=2)
    place = text.rindex("slot_num = 2")
    found = check(pto(text[:place] + "slot_num = 4" + text[place + len("slot_num = 2") :]))
    assert [finding.code for finding in found] == ["rejected", "reserved-size", "unbalanced-pipe"]
    assert "requires peer pipe init ops to agree on direction and pipe shape" in found[0].message


def test_what_is_no_file_or_no_text(run_loom: Run, tmp_path: Path) -> None:
    one_error(run_loom("pto", "check", tmp_path / "none.pto"), "none.pto: error: cannot be read: No such file")
    one_error(run_loom("pto", "check", tmp_path), "cannot be read: Is a directory")
    binary = tmp_path / "binary.pto"
    binary.write_bytes(b"\x93NUMPY\x00")
    one_error(run_loom("pto", "check", binary), "is not a text file")


def test_program_from_stdin(run_loom: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name in messages is `stdin`; an empty one lacks a kernel."""
    for text, place, said in (
        ("", "1:1", "the text contains no operation; write a kernel, func.func"),
        ("func.func @f() {\n  %c = arith.constant -1e-05 : f32\n  return\n}", "2:23", "'-1e-05' is not a number: "
         "a float has a point; write -1.0e-05"),
        ("func.func @f() {\n  %c = arith.constant 1E5 : f32\n  return\n}", "2:23", "write 1.0E5"),
    ):  # fmt: skip
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
        outcome = run_loom("pto", "check", "-")
        assert outcome.status == 1 and outcome.out.startswith(f"stdin:{place}: error: ") and said in outcome.out
        assert outcome.out.endswith("stdin: 1 error\n")


def test_wrong_flags(run_loom: Run, pto: Write) -> None:
    path = pto(program())
    one_error(run_loom("pto"), "loom pto --help")
    one_error(run_loom("pto", "chek", path), "invalid choice: 'chek'")
    one_error(run_loom("pto", "check"), "the following arguments are required: FILE")
    one_error(
        run_loom("pto", "check", path, "--arch", "a4"), "invalid choice: 'a4' (choose from 'ideal', 'a2a3', 'a5')"
    )
    one_error(run_loom("pto", "check", path, "--jsn"), "unrecognized arguments: --jsn; did you mean --json?")
    # The file behind it may have been taken for its value.
    one_error(run_loom("pto", "check", f"--jsn={path}"), "unrecognized arguments: --jsn; did you mean --json?")
    with pytest.raises(LoomError, match="arch is 'a4'; use one of ideal, a2a3, a5"):
        check(path, "a4")  # pyright: ignore[reportArgumentType]


def test_help(run_loom: Run) -> None:
    assert "check or run kernels" in run_loom("--help").out
    assert run_loom("pto", "--help").status == 0
    assert "--arch {ideal,a2a3,a5}" in run_loom("pto", "check", "--help").out
    assert "--set NAME=VALUE" in run_loom("pto", "run", "--help").out


@pytest.mark.parametrize(
    ("slots", "push", "others"), [(5, 5, "4 or 6"), (7, 7, "6 or 8"), (9, 9, "8 or 10"), (15, 15, "14 or 16")]
)
@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_the_words_of_a_depth_that_is_not_safe(
    run_loom: Run, pto: Write, arch: str, slots: int, push: int, others: str
) -> None:
    """H1 (E1): the wait that guards slot 0 comes at the next multiple of the sync period."""
    text = program(slots=slots, gm=True, pushes=slots + 1)
    pop = f"    %t = pto.tpop_from_aic {{split = 0}} -> {VEC}\n    pto.tfree_from_aic {{split = 0}}\n"
    more = "".join(pop.replace("%t", f"%t{place}") for place in range(slots + 1))
    outcome = run_loom("pto", "check", pto(text.replace(pop, more)), "--arch", arch)
    message = (
        f"error: sparse free-space waiting is unsafe for slot_num = {slots}: push {push} reuses slot 0 before its "
        f"free credit; use {others} [unsafe-depth]"
    )
    assert outcome.status == 1
    assert message in outcome.out


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 6, 8, 16])
def test_depths_that_are_safe(pto: Write, slots: int) -> None:
    text = program(slots=slots, gm=True, pushes=slots + 1)
    pop = f"    %t = pto.tpop_from_aic {{split = 0}} -> {VEC}\n    pto.tfree_from_aic {{split = 0}}\n"
    more = "".join(pop.replace("%t", f"%t{place}") for place in range(slots + 1))
    assert check(pto(text.replace(pop, more)), "a2a3") == []
