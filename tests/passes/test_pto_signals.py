"""What is reported on control signals without running them (PTO-021): they come and go as whole tiles do."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from loomir.analysis.pto.schedules import pipe_uses
from loomir.checks.pto.registry import find_hazards
from loomir.diagnostics.findings import Finding
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.frontend_pipes import OpenPipeOp
from loomir.dialects.pto.kernels import Architecture
from loomir.dialects.traversal import walk
from loomir.dialects.verification import verify
from loomir.operations.pipe_protocol import Behavior
from loomir.passes.pto_infer_slots import PtoInferSlotsPass
from loomir.passes.pto_lower_frontend_pipe_ops import PtoLowerFrontendPipeOpsPass

MAT = "!pto.tile_buf<mat, 16x16xf32>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"
PUSH = "pto.tpush_signal_to_aic(%signal : i1) {id = 0}\n"
FREE = "pto.tfree_from_aiv {id = 0, split = 0}\n"
PUSH_TILE = f"pto.tpush_to_aic(%tile : {VEC}) {{id = 0, split = 0}}\n"


def pop(name: str = "s") -> str:
    return f"%{name} = pto.tpop_signal_from_aiv {{id = 0}} -> i1\n"


def pop_tile(name: str = "t") -> str:
    return f"%{name} = pto.tpop_from_aiv {{id = 0, split = 0}} -> {MAT}\n"


def program(cube: str, vector: str, *, slots: int = 2, size: int = 1024) -> ModuleOp:
    """Two kernels with a pipe to the cube core."""
    opened = f"{{id = 0, dir_mask = 2, slot_size = {size}, slot_num = {slots}}}(v2c_consumer_buf = %fifo : i32)\n"
    reserved = f'name = "fifo", size = {slots * size}, location = #pto.address_space<mat>, auto = true'
    text = f"""
    func.func @cube() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
      %fifo = pto.reserve_buffer {{{reserved}}} -> i32
      pto.aic_initialize_pipe {opened} {cube}
      return
    }}
    func.func @vector(%signal: i1, %tile: {VEC}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @cube}} -> i32
      pto.aiv_initialize_pipe {opened} {vector}
      return
    }}"""
    module = parse_ir(context(), text, "program.pto")
    verify(module)
    return module


def hazards(module: ModuleOp, behavior: Behavior | None = None) -> list[Finding]:
    return find_hazards(module, behavior)


@pytest.mark.parametrize("lowered", [False, True])
def test_signals_are_pushed_and_popped(lowered: bool) -> None:
    module = program(pop() + FREE, PUSH)
    if lowered:
        PtoLowerFrontendPipeOpsPass(arch="a5").apply(context(), module)
    functions = [op for op in walk(module) if isinstance(op, FuncOp)]
    uses = [[(use.action, use.of_signal, use.direction) for use in pipe_uses(function)] for function in functions]
    assert uses == [[("pop", True, 2), ("free", False, 2)], [("push", True, 2)]]


@pytest.mark.parametrize("behavior", ["ideal", "a2a3", "a5"])
def test_nothing_is_told_of_a_right_program(behavior: Behavior) -> None:
    rounds = 4
    cube = "".join(pop(f"s{place}") + FREE for place in range(rounds))
    assert hazards(program(cube, PUSH * rounds, slots=4), behavior) == []


def test_a_signal_is_used_after_its_slot_is_freed() -> None:
    """It is a number by then; a tile behind it is not."""
    use = "%n = arith.extui %s : i1 to i32\n"
    assert hazards(program(pop() + FREE + use, PUSH)) == []
    left = "!pto.tile_buf<left, 16x16xf32>"
    print_tile = f"%l = pto.alloc_tile : {left}\npto.tmov ins(%t : {MAT}) outs(%l : {left})\n"
    # The first free is that of the signal.
    assert hazards(program(pop() + pop_tile() + FREE + print_tile + FREE, PUSH + PUSH_TILE)) == []
    (finding,) = hazards(program(pop() + pop_tile() + FREE + FREE + print_tile, PUSH + PUSH_TILE))
    assert finding.code == "use-after-free"


def test_pushes_and_pops_are_counted() -> None:
    (finding,) = hazards(program(pop() + FREE, PUSH * 2))
    assert finding.code == "unbalanced-pipe"
    assert "1 entry is popped in @cube, but 2 are pushed into the pipe of 'fifo'" in finding.message
    (finding,) = hazards(program(pop(), PUSH), "a5")
    assert (finding.code, finding.severity) == ("unbalanced-pipe", "error")
    # There a pop gives the slot back.
    (finding,) = hazards(program(pop(), PUSH), "a2a3")
    assert (finding.code, finding.severity) == ("unbalanced-pipe", "warning")


def test_a_deadlock_names_the_signal() -> None:
    """The cube core holds its first slot while it waits for more signals than there are slots."""
    module = program(pop("a") + pop("b") + FREE + FREE, PUSH * 2, slots=1)
    assert {finding.code for finding in hazards(module, "ideal")} >= {"deadlock"}
    assert "deadlock" not in {finding.code for finding in hazards(program(pop("a") + pop("b") + FREE + FREE, PUSH * 2))}


def test_a_signal_is_freed_once_on_a5_too() -> None:
    """There a tile that is popped out of global memory is freed by the pop; a signal by the free."""

    def cube(pops: str) -> ModuleOp:
        opened = "{dir_mask = 2, slot_size = 1024, slot_num = 2}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe"
        free = "pto.tfree(%pipe : !pto.pipe) {split = 0}"
        text = f"""func.func @cube(%slots: !pto.ptr<f32>, %buffer: i32, %tile: {MAT})
            attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
          %pipe = pto.initialize_l2g2l_pipe {opened}
          {pops}
          {free}
          return
        }}"""
        return parse_ir(context(), text, "program.pto")

    assert hazards(cube("%s = pto.tpop_signal(%pipe : !pto.pipe) -> i1"), "a5") == []
    (finding,) = hazards(cube(f"pto.tpop(%tile, %pipe : {MAT}, !pto.pipe) {{split = 0}}"), "a5")
    assert finding.code == "freed-twice"


def test_what_follows_from_a_signal() -> None:
    """What is popped in one branch only may be too much or too little, unless the other core branches alike."""
    again = "scf.if %s {\n" + pop("u") + FREE + "}\n"
    (finding,) = hazards(program(pop() + FREE + again, PUSH * 2))
    assert (finding.severity, finding.code) == ("warning", "undecided")
    assert "depends on %signal, which is known only at run time" in finding.message
    assert hazards(program(pop() + FREE + again, PUSH + "scf.if %signal {\n" + PUSH + "}\n")) == []


@pytest.mark.parametrize(("arch", "slots"), [("a2a3", 2), ("a5", 3)])
def test_slots_are_as_large_and_as_many_as_signals_need(arch: Architecture, slots: int) -> None:
    """PTO-022, PTO-023: on a2 and a3 a pop gives the slot back."""
    module = program(pop("a") + pop("b") + pop("c") + FREE * 3, PUSH * 3, slots=8)
    PtoInferSlotsPass(slot_num="infer", slot_size="infer", arch=arch).apply(context(), module)
    verify(module)
    ends = [op for op in walk(module) if isinstance(op, OpenPipeOp)]
    assert [(end.entry_bytes, end.depth) for end in ends] == [(4, slots)] * 2


def test_slots_hold_tiles_and_signals() -> None:
    module = program(pop() + FREE + pop_tile() + FREE, PUSH + PUSH_TILE, size=4096)
    PtoInferSlotsPass(slot_size="infer").apply(context(), module)
    assert [op.entry_bytes for op in walk(module) if isinstance(op, OpenPipeOp)] == [1024, 1024]
