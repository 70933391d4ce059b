"""What our `arith`, `llvm` and `scf` read beyond xDSL's: texts that MLIR prints, printed to the same again."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.dialects.arith import SelectOp
from xdsl.printer import Printer

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.verification import verify

BODIES = {
    "extractelement": "%r = llvm.extractelement %v[%n : i32] : vector<4xf32>",
    "execute_region": "scf.execute_region {\n      scf.yield\n    }",
    "select": "%r = arith.select %b, %n, %n : i32",
}


def printed(body: str) -> str:
    module = parse_ir(context(), f"func.func @f(%v: vector<4xf32>, %n: i32, %b: i1) {{\n{body}\nreturn\n}}\n", "f.mlir")
    verify(module)
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_texts_are_printed_to_the_same(body: str) -> None:
    assert body in printed(body)


def test_selection_with_the_type_of_its_condition() -> None:
    assert BODIES["select"] in printed("%r = arith.select %b, %n, %n : i1, i32")
    with pytest.raises(LoomError, match="i32"):
        printed("%r = arith.select %n, %n, %n : i1, i32")
    module = parse_ir(context(), '%b, %n = "test.op"() : () -> (i1, i32)\n%r = arith.select %b, %n, %n : i1, i32', "f")
    assert any(isinstance(op, SelectOp) for op in module.walk())


def test_elements_of_vectors() -> None:
    with pytest.raises(LoomError):
        printed('%r = "llvm.extractelement"(%v, %n) : (vector<4xf32>, i32) -> f16')
