"""The quick verification finds what xDSL's verifier finds, wherever in a program of many like operations it stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, f16, i64
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import DiagnosticException

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.verification import verify, verify_dominance

PE = """
  wse.pe @p{0} on [{0}, :] {{
    wse.buffer @a : memref<16xf32>
    wse.buffer @count : memref<i16>
    wse.input_queue @in color @east id 2
    wse.output_queue @out color @east id 3
    wse.export @main
    wse.func @main(%n: i16) {{
      %a = wse.get_buffer @a : memref<16xf32>
      %p = wse.get_buffer @count : memref<i16>
      %k = memref.load %p[] : memref<i16>
      %one = arith.constant 1 : i16
      %next = arith.addi %k, %one : i16
      memref.store %next, %p[] : memref<i16>
      %less = arith.cmpi slt, %next, %n : i16
      %c = arith.constant 2.0 : f32
      %d = dsd.mem1d %a extent 16 : memref<16xf32>
      %e = dsd.mem4d %a strides [1, 1] extents [2, 8] : memref<16xf32>
      scf.if %less {{
        %f = dsd.fabin @in extent 16 : !dsd.fabin<f32>
        dsd.fmovs %d, %f async(activate = @step) : !dsd.mem1d<f32>, !dsd.fabin<f32>
        scf.yield
      }} else {{
        %o = dsd.fabout @out extent 16 : !dsd.fabout<f32>
        dsd.fmovs %o, %e async(activate = @step) : !dsd.fabout<f32>, !dsd.mem4d<f32>
        scf.yield
      }}
      wse.return
    }}
    wse.task @step local {{
      %a = wse.get_buffer @a : memref<16xf32>
      %d = dsd.mem1d %a at 3 extent 13 : memref<16xf32>
      %t = dsd.tensor_access %a affine_map<(i) -> (i + 1)> extents [13] : memref<16xf32> -> !dsd.mem1d<f32>
      %c = arith.constant 2.0 : f32
      dsd.fmacs %d, %t, %d, %c : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      wse.activate @step
      wse.return
    }}
  }}"""

PROGRAM = f"""
wse.program @like target "wse3" rectangle 2 x 1 {{
  wse.color @east = 1
  wse.route @east on [0, :] from [ramp] to [east]
{"".join(PE.format(number) for number in range(2))}
}}
"""


def program(level: str) -> ModuleOp:
    module = parse_ir(context(), PROGRAM, "like.mlir")
    return module if level == "wse" else loomir.compile(module).module


def verified_by_xdsl(module: ModuleOp) -> bool:
    try:
        module.verify()
        verify_dominance(module)
    except (DiagnosticException, LoomError, ValueError):
        return False
    return True


def verified(module: ModuleOp) -> bool:
    try:
        verify(module)
    except (LoomError, ValueError):
        return False
    return True


def damage(module: ModuleOp, kind: str) -> Iterator[Operation]:
    """Does one thing to each operation in turn, after which it is to be checked, and undoes it."""
    for op in list(module.walk()):
        match kind:
            case "property":
                for name, value in list(op.properties.items()):
                    del op.properties[name]
                    yield op
                    op.properties[name] = value
            case "other property":
                for name, value in list(op.properties.items()):
                    other = IntegerAttr(1 << 40, i64) if isinstance(value, StringAttr) else StringAttr("other")
                    op.properties[name] = other
                    yield op
                    op.properties[name] = IntegerAttr(1 << 40, i64)
                    yield op
                    op.properties[name] = value
            case "attribute":
                op.attributes["zero"] = StringAttr("zero")
                yield op
                del op.attributes["zero"]
            case "operand":
                for position, value in enumerate(op.operands):
                    earlier = [result for other in module.walk() for result in other.results]
                    for other in itertools.islice((v for v in earlier if v.type != value.type), 2):
                        op.operands[position] = other
                        yield op
                    op.operands[position] = value
            case "type of a result":
                for result in op.results:
                    type = result.type
                    changed = Rewriter.replace_value_with_new_type(result, f16)
                    yield op
                    Rewriter.replace_value_with_new_type(changed, type)
            case _:
                block, after = op.parent, op.next_op
                if block is None:
                    continue
                op.detach()
                block.add_op(op)
                yield op
                if after is not None:
                    op.detach()
                    block.insert_op_before(op, after)


@pytest.mark.thorough
@pytest.mark.parametrize("level", ["wse", "flow"])
@pytest.mark.parametrize(
    "kind", ["property", "other property", "attribute", "operand", "type of a result", "last of its block"]
)
def test_it_agrees_with_xdsl(level: str, kind: str) -> None:
    module = program(level)
    text = str(module)
    assert verified(module)
    refused = 0
    for op in damage(module, kind):
        expected = verified_by_xdsl(module)
        assert verified(module) == expected, f"{op.name} after: {kind}"
        refused += not expected
    assert str(module) == text
    assert refused or (level, kind) == ("flow", "attribute")


def test_the_first_mistake_is_told() -> None:
    first, *others = PROGRAM.rsplit("at 3 extent 13", 1)
    text = "at 4 extent 70000".join([first.replace("at 3 extent 13", "at 3 extent 80000"), *others])
    with pytest.raises(LoomError, match="80000"):
        verify(parse_ir(context(), text, "like.mlir"))
