"""Bodies that PE programs share: passes and assembler do with them what they do with bodies of each program's own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr

from loomir.backend.tables.fabric import assemble
from loomir.dialects import flow, wse
from loomir.dialects.ir_text import parse_ir, print_ir
from loomir.dialects.machine.code import CodeOperation
from loomir.dialects.verification import verify
from loomir.host.compilation import PIPELINE, context
from loomir.passes import get_all_passes
from loomir.runtime.tables.dump import dump
from tests.searches import examples

BODIES = """
    wse.func @store() {
      %a = wse.get_buffer @a : memref<24xf32>
      %p = wse.address_of @b : i16
      %one = arith.constant 1.0 : f32
      %at = arith.constant 3 : index
      memref.store %one, %a[%at] : memref<24xf32>
      %s = wse.call @fill(%p) : (i16) -> f32
      memref.store %s, %a[%at] : memref<24xf32>
      wse.return
    }
    wse.func @fill(%p: i16) -> f32 {
      %x = arith.constant %FACTOR : f32
      %v = wse.view %p : memref<?xf32>
      %d = dsd.mem1d %v extent 4 : memref<?xf32>
      dsd.fmovs %d, %x : !dsd.mem1d<f32>, f32
      wse.return %x : f32
    }
    wse.func @send() {
      %a = wse.get_buffer @a : memref<24xf32>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = arith.constant 3 : index
      %block = dsd.mem4d %a strides [6, 1] extents [2, %EXTENT] : memref<24xf32>
      %c = arith.constant 2.0 : f32
      scf.for %k = %zero to %n step %one {
        dsd.fmuls %block, %block, %c : !dsd.mem4d<f32>, !dsd.mem4d<f32>, f32
      }
      %row = dsd.mem1d %a at 6 extent 6 : memref<24xf32>
      %o = dsd.fabout @out extent 6 : !dsd.fabout<f32>
      dsd.fmovs %o, %row async(activate = @sent) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      wse.return
    }
    wse.task @sent local {
      wse.call @store() : () -> ()
      wse.unblock @%UNBLOCKED
      wse.return
    }
    wse.task @receive local active {
      %b = wse.get_buffer @b : memref<6xf32>
      %d = dsd.mem1d %b extent 6 : memref<6xf32>
      %i = dsd.fabin @in extent 6 : !dsd.fabin<f32>
      dsd.fadds %d, %d, %i async(unblock = @%UNBLOCKED) : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.fabin<f32>
      wse.return
    }
    wse.task @later local blocked {
      wse.return
    }
"""

MEMORY = (
    "wse.buffer @a : memref<24xf32>",
    "wse.buffer @b : memref<6xf32>",
    "wse.buffer @extra : memref<3xi16> = dense<1>",
)

pe_programs = st.tuples(
    st.permutations(MEMORY),
    st.sampled_from([None, 0, 1, 3]),
    st.sampled_from([None, 2, 4]),
    st.sampled_from(["1.0", "2.5"]),
    st.sampled_from([1, 6]),
    st.sampled_from(["later", "receive"]),
)
"""The order of buffers, the ids of both queues, a factor, an extent, and what is unblocked."""


Pe = tuple[Sequence[str], int | None, int | None, str, int, str]


def program(pes: Sequence[Pe]) -> str:
    text = f'wse.program @p target "wse2" rectangle {len(pes)} x 1 {{\n  wse.color @c\n  wse.color @d\n'
    for x, (memory, into, out, factor, extent, unblocked) in enumerate(pes):
        ids = ["" if number is None else f" id {number}" for number in (into, out)]
        text += f"  wse.pe @pe_{x} on [{x}, 0] {{\n    " + "\n    ".join(memory)
        text += f"\n    wse.input_queue @in color @c{ids[0]}\n    wse.output_queue @out color @d{ids[1]}\n"
        text += "    wse.export @send\n"
        body = BODIES.replace("%FACTOR", factor).replace("%EXTENT", str(extent)).replace("%UNBLOCKED", unblocked)
        text += body + "  }\n"
    return text + "}\n"


def placed(text: str) -> ModuleOp:
    """Return the module of a text, every operation of a body placed as its counterpart in the first PE program."""
    module = parse_ir(context(), text, "p.mlir")
    (whole,) = (op for op in module.body.block.ops if isinstance(op, wse.ProgramOp))
    for pe in whole.pes:
        for member in pe.body.block.ops:
            if isinstance(member, CodeOperation):
                for line, op in enumerate(member.walk()):
                    op.location = FileLineColLoc(StringAttr(member.sym_name.data), IntAttr(line), IntAttr(1))
    return module


def carried_out(module: ModuleOp, *names: str) -> str:
    for name in names:
        get_all_passes()[name]()().apply(context(), module)
        verify(module)
    return print_ir(module)


def tables_of(module: ModuleOp) -> str:
    (fabric,) = (op for op in module.body.block.ops if isinstance(op, flow.FabricOp))
    return dump(assemble(fabric))


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(st.lists(pe_programs, min_size=2, max_size=5))
def test_programs_that_share_bodies_become_what_they_become_without(pes: list[Pe]) -> None:
    text = program(pes)
    alone, shared = placed(text), placed(text)
    carried_out(shared, "share-bodies")
    for name in PIPELINE:
        expected = carried_out(alone, name)
        carried_out(shared, name)
        assert carried_out(shared.clone(), "unshare-bodies") == expected, name
    assert tables_of(shared) == tables_of(alone)


def test_equal_programs_have_all_bodies_in_common() -> None:
    one = (list(MEMORY), 1, 2, "1.0", 6, "later")
    module = placed(program([one, one, one]))
    text = carried_out(module, "share-bodies", *PIPELINE)
    assert text.count(" shares @pe_0::") == 2 * 6
    assert text.count("flow.apply fmuls") == 1


def test_a_program_that_differs_in_one_number_has_one_body_more() -> None:
    one, other = ((list(MEMORY), 1, 2, "1.0", extent, "later") for extent in (6, 1))
    text = carried_out(placed(program([one, other])), "share-bodies", *PIPELINE)
    assert text.count(" shares @pe_0::") == 5
    assert text.count("flow.func @send") == 2 and text.count("flow.func @send shares") == 0
