"""loom-opt: what it adds to xDSL's driver, and what it says about bad input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run, one_error

Write = Callable[[str], Path]

UNDEFINED_BEFORE_USE = """\
builtin.module {
  %a = arith.constant 1 : i32
  %b = arith.addi %a, %c : i32
  %c = arith.constant 2 : i32
}
"""

WRONG_RETURN = """\
func.func @f() -> i32 {
  %a = arith.constant 1.0 : f32
  func.return %a : f32
}
"""

GOOD = """\
builtin.module {
  func.func @f(%a : i32) -> i32 {
    %zero = arith.constant 0 : i32
    %sum = arith.addi %a, %zero : i32
    func.return %sum : i32
  }
}
"""


def test_passes_run(run_opt: Run, write: Write) -> None:
    outcome = run_opt(write(GOOD), "-p", "canonicalize")
    assert outcome.status == 0 and outcome.err == ""
    assert "arith.addi" not in outcome.out and "func.return %a" in outcome.out


def test_our_dialects_and_passes_are_registered(run_opt: Run) -> None:
    outcome = run_opt("--help")
    assert outcome.status == 0
    for name in ("dsd-expand-tensor-access", "dsd-assign-queues", "dsd-assign-microthreads", "dsr-allocate"):
        assert name in outcome.out.replace("\n", "").replace(" ", "")


@pytest.mark.slow
def test_plain_xdsl_opt_sees_them_too(write: Write) -> None:
    path = write('builtin.module {\n  wse.program @p target "wse3" rectangle 1 x 1 {\n  }\n}\n')
    script = Path(sys.executable).with_name("xdsl-opt")
    done = subprocess.run([script, path, "-p", "dsd-assign-queues"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "wse.program @p" in done.stdout


def test_locations_are_those_of_the_text(run_opt: Run, write: Write) -> None:
    path = write(GOOD)
    outcome = run_opt(path, "--print-debuginfo")
    assert f'loc("{path}":4:5)' in outcome.out


def test_unparsable(run_opt: Run, write: Write) -> None:
    path = write("builtin.module {\n  %a = arith.constant\n}\n")
    one_error(run_opt(path), f"{path}:3:1: error: ")


def test_unknown_operation_is_reported_where_it_starts(run_opt: Run, write: Write) -> None:
    path = write("builtin.module {\n  wse.nonsense @x\n}\n")
    one_error(run_opt(path), f"{path}:2:3: error: operation wse.nonsense is not registered")


def test_broken_rule(run_opt: Run, write: Write) -> None:
    path = write(WRONG_RETURN)
    one_error(run_opt(path), f"{path}:3:3: error: ", "same types as the function output types")


def test_broken_rule_of_ours(run_opt: Run, write: Write) -> None:
    path = write('\nwse.program @p target "wse9" rectangle 1 x 1 {\n}\n')
    one_error(run_opt(path), f"{path}:2:1: error: ", "unknown target 'wse9'", "wse2, wse3")


def test_all_broken_rules(run_opt: Run, write: Write) -> None:
    """Each operation that does not verify is a line."""
    text = """
"test.op"() ({
  %a = "arith.constant"() <{value = 1 : i16}> : () -> i32
  %b = "arith.constant"() <{value = 1 : i8}> : () -> i32
}) : () -> ()
"""
    result = run_opt(write(text))
    assert result.status == 1
    assert [line.split(":")[1] for line in result.err.splitlines()] == ["3", "4"], result.err


def test_use_before_definition(run_opt: Run, write: Write) -> None:
    path = write(UNDEFINED_BEFORE_USE)
    one_error(run_opt(path), f"{path}:3:3: error: %c of arith.addi is used before it is defined")


def test_value_of_a_block_that_does_not_dominate(run_opt: Run, write: Write) -> None:
    path = write("""\
func.func @f(%p : i1) -> i32 {
  cf.cond_br %p, ^a, ^b
^a:
  %x = arith.constant 1 : i32
  cf.br ^b
^b:
  func.return %x : i32
}
""")
    one_error(run_opt(path), f"{path}:7:3: error: %x of func.return")


def test_values_of_dominating_blocks_and_regions_above(run_opt: Run, write: Write) -> None:
    path = write("""\
func.func @f(%p : i1) -> i32 {
  %x = arith.constant 1 : i32
  cf.cond_br %p, ^a, ^b
^a:
  %y = scf.if %p -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %x : i32
  }
  func.return %y : i32
^b:
  func.return %x : i32
}
""")
    assert run_opt(path).status == 0


def test_split_input_and_verify_diagnostics(run_opt: Run, write: Write) -> None:
    path = write(WRONG_RETURN + "// -----\n" + GOOD + "// -----\n" + UNDEFINED_BEFORE_USE)
    outcome = run_opt(path, "--split-input-file", "--verify-diagnostics")
    assert outcome.status == 0 and outcome.err == ""
    assert f"{path}:3:3: error: " in outcome.out
    assert "func.func @f(%a" in outcome.out
    assert f"{path}:16:3: error: %c of arith.addi" in outcome.out


def test_split_input_parse_error_has_the_line_of_the_file(run_opt: Run, write: Write) -> None:
    path = write(GOOD + "// -----\nfoo.bar\n")
    one_error(run_opt(path, "--split-input-file"), f"{path}:9:1: error: ")


@pytest.mark.slow
def test_deep_nesting(run_opt: Run, write: Write) -> None:
    path = write("builtin.module {\n" * 3000 + "}\n" * 3000)
    one_error(run_opt(path), str(path), "nested too deeply")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\x7fELF\x02\x01\x01\x00\x00", "byte 7 is zero"), (b"builtin.module {\xff}", "byte 16 is not valid UTF-8")],
)
def test_not_text(run_opt: Run, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "binary"
    path.write_bytes(content)
    one_error(run_opt(path), f"{path}: error: is not a text file: {message}")


def test_missing_file_and_directory(run_opt: Run, tmp_path: Path) -> None:
    one_error(run_opt(tmp_path / "none.mlir"), "none.mlir: error: cannot be opened: No such file")
    one_error(run_opt(tmp_path), "Is a directory")


def test_wrong_flags(run_opt: Run, write: Write) -> None:
    path = write(GOOD)
    one_error(run_opt(path, "--nonsense"), "--nonsense")
    one_error(run_opt(path, "-p", "canonicalyze"), "'canonicalyze' is not a pass", "canonicalize")
    one_error(run_opt(path, "-p", "canonicalize{"), "pass pipeline")
    one_error(
        run_opt(path, "-p", "canonicalize,dsd-assign-queues{nonsense=1}"),
        "'dsd-assign-queues' has no option 'nonsense'; it has none",
    )
    flow = "lower-pto-to-flow"
    one_error(
        run_opt(path, "-p", flow + "{block=1}"), "has no option 'block'; its options are: protocol, blocks, lanes"
    )
    one_error(
        run_opt(path, "-p", flow + "{blocks=2 protocol=a7}"),
        f"option 'protocol' of '{flow}' is a7; use one of ideal, a2a3, a5",
    )
    one_error(run_opt(path, "-p", flow + "{blocks=two}"), f"option 'blocks' of '{flow}' is two; it takes a number")
    one_error(run_opt(path, "-t", "nonsense"), "nonsense")


def test_output_is_whole_or_untouched(run_opt: Run, write: Write, tmp_path: Path) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("before")
    one_error(run_opt(write(WRONG_RETURN), "-o", output))
    assert output.read_text() == "before"
    assert run_opt(write(GOOD), "-o", output).status == 0
    assert "func.func @f" in output.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.mlir", "program.mlir"]


def test_unwritable_output(run_opt: Run, write: Write, tmp_path: Path) -> None:
    one_error(run_opt(write(GOOD), "-o", tmp_path / "none" / "out.mlir"), "out.mlir: error: cannot be written")
    one_error(run_opt(write(GOOD), "-o", tmp_path), "is a directory")


def test_an_operand_defined_only_inside_its_user(run_opt: Run, write: Write) -> None:
    path = write(
        """func.func @f(%n: index) {
  scf.for %i = %zero to %n step %n {
    %zero = arith.constant 0 : index
  }
  return
}
"""
    )
    outcome = run_opt(path)
    assert outcome.status == 1
    assert f"{path}:2:3: error: operand 0 of scf.for is defined only inside a region of its own" in outcome.err
