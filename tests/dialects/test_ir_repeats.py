"""Operations that a text repeats are read as if each stood alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.diagnostics.errors import LoomError
from loomir.diagnostics.locations import location_of
from loomir.dialects import context
from loomir.dialects.ir_repeats import Lines, Repetitions
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.traversal import walk

ROOT = Path(__file__).parents[2]
TEXTS = sorted((ROOT / "lit_tests").glob("**/*.mlir")) + sorted((ROOT / "examples").glob("**/*.pto"))
BATCHES = [TEXTS[first::40] for first in range(40)]


def _read(text: str) -> tuple[ModuleOp | None, object]:
    """Return the module of a text, with its locations, results and their names; or the error."""
    try:
        module = parse_ir(context(), text, "text.mlir")
    except LoomError as error:
        return None, str(error)
    return module, [(location_of(op), [(value.name_hint, value.type) for value in op.results]) for op in walk(module)]


def _compare(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a text, and read it again with each operation read by the parser."""

    def lines_at(self: Repetitions, position: int, dialects: Sequence[str]) -> Lines | None:
        return None

    module, said = _read(text)
    with monkeypatch.context() as patched:
        patched.setattr(Repetitions, "lines_at", lines_at)
        alone, said_alone = _read(text)
    assert said == said_alone
    assert module is alone or (module is not None and alone is not None and module.is_structurally_equivalent(alone))


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize("paths", BATCHES, ids=range(40))
def test_texts_of_all_dialects(paths: Sequence[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for path in paths:
        for case in path.read_text().split("// -----"):
            _compare(case, monkeypatch)


KERNEL = """
func.func @kernel(%p : !pto.ptr<f32>, %q : !pto.ptr<i32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  {}
  return
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        # The extents of the result are those of the constants.
        """%a = pto.partition_view %v, offsets = [%c1, %c1], sizes = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %b = pto.partition_view %v, offsets = [%c1, %c1], sizes = [%c16, %c1] : !pto.tensor_view<?x?xf32>""",
        # One name twice, and two names.
        """%a = arith.addi %c1, %c1 : index
  %b = arith.addi %c8, %c8 : index
  %c = arith.addi %c8, %c16 : index
  %d = arith.addi %c16, %c1 : index""",
        # The second goes on on the next line.
        """%a = pto.load_scalar %p[%c1] : !pto.ptr<f32> -> f32
  %b = pto.load_scalar %p[%c8] : !pto.ptr<f32> -> f32 loc(unknown)
  %c = arith.addf %a, %b : f32
  %d = arith.addf %a, %b fastmath<fast>
       : f32
  %e = arith.addf %a, %d
       fastmath<fast> : f32""",
        # A type that does not fit, an unknown name, a name that is there already.
        """%a = pto.load_scalar %p[%c1] : !pto.ptr<f32> -> f32
  %b = pto.load_scalar %q[%c1] : !pto.ptr<f32> -> f32""",
        """%a = arith.addi %c1, %c8 : index
  %b = arith.addi %c1, %missing : index""",
        """%a = arith.addi %c1, %c8 : index
  %a = arith.addi %c1, %c16 : index""",
        # Several results, by their places.
        """%a:2 = scf.if %c -> (index, index) {
    scf.yield %c1, %c8 : index, index
  } else {
    scf.yield %c8, %c1 : index, index
  }
  %b = arith.addi %a#0, %c1 : index
  %d = arith.addi %a#1, %c1 : index
  %e = arith.addi %a#2, %c1 : index""".replace("%a:2", "%c = arith.constant true\n  %a:2", 1),
    ],
    ids=["inferred", "twice", "next line", "type", "unknown", "again", "several"],
)
def test_operations_like_earlier_ones(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _compare(KERNEL.format(body), monkeypatch)


def test_repeated_operations_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser of an operation reads the first of those alike, on one line or on several."""
    from loomir.dialects.pto.memory import MakeTensorViewOp

    line = "pto.make_tensor_view %p,\n shape = [%c16, %c16], strides = [{0}, {0}]\n : !pto.tensor_view<?x?xf32>\n  "
    count = 0
    parse = MakeTensorViewOp.parse

    def counted(parser: object) -> MakeTensorViewOp:
        nonlocal count
        count += 1
        return parse(parser)  # type: ignore[arg-type]

    monkeypatch.setattr(MakeTensorViewOp, "parse", counted)
    body = "".join(f"%v{number} = " + line.format("%c1" if number % 2 else "%c8") for number in range(20))
    parse_ir(context(), KERNEL.format(body), "text.mlir")
    assert count == 2  # that of the kernel, and these


@pytest.mark.slow
def test_a_long_line_takes_no_longer_than_its_length() -> None:
    """Looking for the ends of lines is limited: 4,000 operations on one line."""
    text = KERNEL.format(" ".join(f"%x{number} = arith.constant 1 : index" for number in range(4_000)))
    assert len(list(walk(parse_ir(context(), text, "text.mlir")))) > 4_000
