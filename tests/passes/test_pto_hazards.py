"""Each finding about pipes, in a program that has it and in one that has it not."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.dialects import context
from loomir.dialects.pto.findings import Finding
from loomir.dialects.pto.kernels import Architecture
from loomir.dialects.pto.protocol import Behaviour
from loomir.frontend.ir_text import parse_ir
from loomir.passes.pto_hazards import find_hazards
from loomir.verification import verify

ACC = "!pto.tile_buf<acc, 16x16xf32>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"
HALF = "!pto.tile_buf<vec, 8x16xf32>"
SLOT = "!pto.tensor_view<16x16xf32>"
PART = "!pto.partition_tensor_view<16x16xf32>"


def parsed(text: str) -> ModuleOp:
    module = parse_ir(context(), text, "program.pto")
    verify(module)
    return module


def kernel(kind: str, arguments: str, body: str, name: str = "kernel") -> str:
    attributes = f"attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
    return f"func.func @{name}({arguments}) {attributes} {{\n{body}\nreturn\n}}\n"


def hazards(text: str, behaviour: Behaviour | None = None) -> list[Finding]:
    return find_hazards(parsed(text), behaviour)


def kinds(text: str, behaviour: Behaviour | None = None) -> list[str]:
    return [hazard.code for hazard in hazards(text, behaviour)]


def consumer(body: str, settings: str = "slot_size = 1024", operands: str = "c2v_consumer_buf = %a : i32") -> str:
    """A vector kernel whose pipe has the settings; `%a` an address, `%p` a pointer, `%lane` a vector core."""
    opened = f"%lane = pto.get_subblock_idx\npto.aiv_initialize_pipe {{dir_mask = 1, {settings}}}({operands})\n"
    return kernel("vector", "%a: i32, %p: !pto.ptr<f32>", opened + body)


def pop(name: str, tile: str = VEC, split: int = 0) -> str:
    return f"%{name} = pto.tpop_from_aic {{split = {split}}} -> {tile}\n"


FREE = "pto.tfree_from_aic {split = 0}\n"


@pytest.mark.parametrize(("slots", "push"), [(5, 5), (7, 7), (9, 9)])
def test_odd_depths_from_five_on_are_unsafe(slots: int, push: int) -> None:
    """PTO-028"""
    program = consumer("", f"slot_size = 1024, slot_num = {slots}")
    (hazard,) = hazards(program, "a5")
    assert hazard.code == "unsafe-depth"
    assert f"unsafe for slot_num = {slots}: push {push} reuses slot 0" in hazard.message
    assert f"use {slots - 1} or {slots + 1}" in hazard.message
    assert hazard.severity == "warning"
    assert kinds(program, "ideal") == []


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 6, 8])
def test_other_depths_are_safe(slots: int) -> None:
    assert kinds(consumer("", f"slot_size = 1024, slot_num = {slots}"), "a2a3") == []


def test_slot_holds_the_tiles_of_both_vector_cores() -> None:
    """PTO-022: each pushes half of the entry."""
    arguments = f"%a: i32, %t: {HALF}"
    opened = "pto.aiv_initialize_pipe {dir_mask = 2, slot_size = %d}(v2c_consumer_buf = %%a : i32)\n"
    push = f"pto.tpush_to_aic(%t : {HALF}) {{split = 1}}"
    (hazard,) = hazards(kernel("vector", arguments, opened % 512 + push))
    assert hazard.code == "small-slot"
    assert "slot_size = 512 is too small for 2 tiles of 512 bytes" in hazard.message
    assert kinds(kernel("vector", arguments, opened % 1024 + push)) == []


@pytest.mark.parametrize(
    ("architecture", "settings", "needed"),
    [("a5", "slot_num = 4", 4096), ("a2a3", "slot_num = 4, local_slot_num = 2", 2048)],
)
def test_reserved_bytes_are_those_of_the_slots(architecture: Architecture, settings: str, needed: int) -> None:
    def program(size: int) -> str:
        reserved = (
            f'%b = pto.reserve_buffer {{name = "b", size = {size}, location = #pto.address_space<vec>, auto = true}}'
            " -> i32\n"
        )
        opened = f"pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024, {settings}}}(c2v_consumer_buf = %b : i32)"
        return kernel("vector", "", reserved + opened)

    assert kinds(program(needed), architecture) == []
    (small,) = hazards(program(needed - 1024), architecture)
    assert small.code == "reserved-size"
    assert f"reserve {needed}" in small.message
    assert kinds(program(2 * needed), architecture) == ["reserved-size"]
    assert kinds(program(2 * needed)) == []


def test_lanes_of_a2a3_do_the_same() -> None:
    guarded = (
        f"%z = arith.constant 0 : i64\n%first = arith.cmpi eq, %lane, %z : i64\nscf.if %first {{\n{pop('t')}{FREE}}}\n"
    )
    assert kinds(consumer(guarded), "a2a3") == ["unequal-lanes", "unequal-lanes"]
    assert kinds(consumer(guarded), "a5") == []
    other = guarded.replace("%lane, %z", "%z, %z")
    assert kinds(consumer(other), "a2a3") == []


@pytest.mark.parametrize(
    ("tile", "split", "problem"),
    [
        ("!pto.tile_buf<acc, 16x16xi16>", 1, "elements of 2 bytes"),
        (ACC, 2, "16 columns"),
        ("!pto.tile_buf<acc, 16x32xf32>", 2, None),
        (ACC, 1, None),
    ],
)
def test_what_a5_can_share(tile: str, split: int, problem: str | None) -> None:
    """PTO-026, PTO-027"""
    body = (
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096}(c2v_consumer_buf = %a : i32)\n"
        f"pto.tpush_to_aiv(%t : {tile}) {{split = {split}}}"
    )
    found = hazards(kernel("cube", f"%a: i32, %t: {tile}", body), "a5")
    assert [hazard.code for hazard in found] == ([] if problem is None else ["lane-shape"])
    assert problem is None or problem in found[0].message
    assert kinds(kernel("cube", f"%a: i32, %t: {tile}", body), "a2a3") == []


def test_more_tiles_in_use_than_local_slots() -> None:
    """A third tile in use overwrites the first of two local slots, where slots lie in global memory."""
    body = pop("t") + pop("u") + pop("v") + FREE * 3
    settings = "slot_size = 1024, local_slot_num = 2"
    in_global_memory = "gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %a : i32"
    (hazard,) = hazards(consumer(body, settings, in_global_memory))
    assert hazard.code == "local-aliasing"
    assert "3 tiles are in use, but the consumer's buffer has 2 slots" in hazard.message
    assert kinds(consumer(pop("t") + pop("u") + FREE + pop("v") + FREE * 2, settings, in_global_memory)) == []
    assert kinds(consumer(body, settings)) == []


def producer(body: str) -> str:
    """A cube kernel whose pipe has slots in global memory; `%t` is such a slot, `%c` an accumulator tile."""
    opened = f"pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 1024}}(gm_slot_tensor = %t : {SLOT})\n"
    return kernel("cube", f"%t: {SLOT}, %c: {ACC}, %i: index", opened + body)


TAKE = f"%e = pto.talloc_to_aiv {{split = 0}} -> {SLOT}\n"
WRITE = (
    f"%w = pto.partition_view %e, offsets = [%i, %i], sizes = [%i, %i] : {SLOT} -> {PART}\n"
    f"pto.tstore ins(%c : {ACC}) outs(%w : {PART})\n"
)
GIVE = f"pto.tpush_to_aiv(%e : {SLOT}) {{split = 0}}\n"


def test_a_slot_is_taken_written_and_pushed() -> None:
    """PTO-011"""
    assert kinds(producer(TAKE + WRITE + GIVE)) == []


def test_only_slots_are_pushed() -> None:
    """PTO-030"""
    assert kinds(producer(GIVE.replace("%e", "%t"))) == ["not-a-slot"]


def test_unwritten_slots_are_not_pushed() -> None:
    """PTO-031"""
    assert kinds(producer(TAKE + GIVE)) == ["unwritten-slot"]
    assert kinds(producer(TAKE + GIVE + WRITE)) == ["unwritten-slot", "store-after-push"]


def test_slots_are_pushed() -> None:
    assert kinds(producer(TAKE + WRITE)) == ["slot-not-pushed"]


def test_slots_of_pipes_as_values() -> None:
    """PTO-030, PTO-031"""
    made = (
        f"%p = pto.initialize_l2g2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 8}}(%t : {SLOT}) -> !pto.pipe\n"
    )
    declared = f"%e = pto.declare_global -> {SLOT}\n"
    take = f"pto.talloc(%e, %p : {SLOT}, !pto.pipe) {{split = 0}}\n"
    give = f"pto.tpush(%e, %p : {SLOT}, !pto.pipe) {{split = 0}}\n"

    def program(body: str) -> str:
        return kernel("cube", f"%t: {SLOT}, %c: {ACC}, %i: index", made + declared + body)

    assert kinds(program(take + WRITE + give)) == []
    assert kinds(program(give)) == ["not-a-slot"]
    assert kinds(program(take + give)) == ["unwritten-slot"]


def test_tiles_are_not_used_after_they_are_freed() -> None:
    used = f"pto.tprint ins(%t : {VEC})\n"
    assert kinds(consumer(pop("t") + used + FREE)) == []
    assert kinds(consumer(pop("t") + FREE + used)) == ["use-after-free"]
    # The first free is of the tile taken out first.
    assert kinds(consumer(pop("t") + pop("u") + FREE + used.replace("%t", "%u") + FREE)) == []


def test_every_entry_is_freed_once() -> None:
    (hazard,) = hazards(consumer(pop("t")))
    assert hazard.code == "unbalanced-pipe"
    assert "pipe 0 gives 1 entries out and gets 0 slots back" in hazard.message
    assert kinds(consumer(FREE + pop("t") + FREE)) == ["unbalanced-pipe"]


def loop(body: str, count: int) -> str:
    return (
        f"%lo = arith.constant 0 : index\n%hi = arith.constant {count} : index\n%by = arith.constant 1 : index\n"
        f"scf.for %k = %lo to %hi step %by {{\n{body}}}\n"
    )


def test_as_much_is_put_in_as_is_taken_out() -> None:
    def program(pushes: int, pops: int) -> str:
        imported = '%a = pto.import_reserved_buffer {name = "b", peer_func = @taker} -> i32\n'
        where = "location = #pto.address_space<vec>, auto = true"
        reserved = f'%a = pto.reserve_buffer {{name = "b", size = 8192, {where}}} -> i32\n'
        settings = "{dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)\n"
        push = f"pto.tpush_to_aiv(%t : {ACC}) {{split = 0}}\n"
        giver = imported + "pto.aic_initialize_pipe " + settings + loop(push, pushes)
        taker = reserved + "pto.aiv_initialize_pipe " + settings + loop(pop("v") + FREE, pops)
        return kernel("cube", f"%t: {ACC}", giver, "giver") + kernel("vector", "", taker, "taker")

    assert kinds(program(4, 4)) == []
    (few,) = hazards(program(3, 4))
    assert few.code == "unbalanced-pipe"
    assert "4 entries are taken out in @taker, but 3 are put into the pipe of 'b'" in few.message
    assert "the consumer waits forever" in few.message
    (many,) = hazards(program(5, 4))
    assert "entries are left in it" in many.message


def test_rounds_that_depend_on_values_are_only_warned_of() -> None:
    convert = "%n = arith.index_cast %a : i32 to index\n"
    assert kinds(consumer(convert + loop(pop("t") + FREE, 4).replace("to %hi", "to %n"))) == []
    found = hazards(consumer(convert + loop(pop("t"), 4).replace("to %hi", "to %n")))
    assert {(hazard.severity, hazard.code) for hazard in found} == {
        ("warning", "slots-held"),
        ("warning", "unbalanced-pipe"),
    }
    assert "pipe 0 gives more entries out than it gets slots back" in found[-1].message
