"""Each finding about pipes, in a program that has it and in one that has it not."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.checks.pto.registry import find_hazards
from loomir.diagnostics.findings import Finding
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.kernels import Architecture
from loomir.dialects.verification import verify
from loomir.operations.pipe_protocol import Behavior

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


def hazards(text: str, behavior: Behavior | None = None) -> list[Finding]:
    return find_hazards(parsed(text), behavior)


def kinds(text: str, behavior: Behavior | None = None) -> list[str]:
    return [hazard.code for hazard in hazards(text, behavior)]


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
    assert hazard.message.endswith(f"use {slots - 1} or {slots + 1}")
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
    """A third tile in use overwrites the first of two local slots, where slots are in global memory."""
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
    # The slot of another pipe is none of this one.
    other = made.replace("%p", "%q")
    swapped = program(other + take + WRITE + give.replace("%p", "%q"))
    assert "not-a-slot" in kinds(swapped)


def test_tiles_are_not_used_after_they_are_freed() -> None:
    used = f"pto.tprint ins(%t : {VEC})\n"
    assert kinds(consumer(pop("t") + used + FREE)) == []
    assert kinds(consumer(pop("t") + FREE + used)) == ["use-after-free"]
    # The first free is of the tile popped first.
    assert kinds(consumer(pop("t") + pop("u") + FREE + used.replace("%t", "%u") + FREE)) == []


def test_copies_of_tiles_may_be_used_after_they_are_freed() -> None:
    """Out of global memory; the producer overwrites the slot there."""
    in_global_memory = "gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %a : i32"
    body = pop("t") + FREE + f"pto.tprint ins(%t : {VEC})\n"
    for behavior in ("ideal", "a2a3"):
        assert kinds(consumer(body, operands=in_global_memory), behavior) == []


def test_every_entry_is_freed_once() -> None:
    (hazard,) = hazards(consumer(pop("t")))
    assert hazard.code == "unbalanced-pipe"
    assert "1 entry is popped from pipe 0, but 0 are freed" in hazard.message
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
    assert "4 entries are popped in @taker, but 3 are pushed into the pipe of 'b'" in few.message
    assert "the consumer waits forever" in few.message
    (many,) = hazards(program(5, 4))
    assert "entries are left in it" in many.message


def test_rounds_that_depend_on_values_are_only_warned_of() -> None:
    convert = "%n = arith.index_cast %a : i32 to index\n"
    assert kinds(consumer(convert + loop(pop("t") + FREE, 4).replace("to %hi", "to %n"))) == []
    found = hazards(consumer(convert + loop(pop("t"), 4).replace("to %hi", "to %n")))
    assert [(hazard.severity, hazard.code) for hazard in found] == [("warning", "unbalanced-pipe")]
    assert "more entries of pipe 0 are popped than freed" in found[-1].message


# ---------------------------------------------------------------------------------------------
# Both ends
# ---------------------------------------------------------------------------------------------

PUSH = f"pto.tpush_to_aiv(%t : {ACC}) {{split = 0}}\n"
TURN = pop("v") + FREE
SPLIT_PUSH = PUSH.replace("split = 0", "split = 1")
SPLIT_TURN = (pop("v", HALF, 1) + FREE).replace("split = 0", "split = 1")


def pair(giver: str, taker: str, slots: int = 2, *, in_global_memory: bool = False) -> str:
    """A cube kernel that pushes `%t` and a vector kernel that pops, through a pipe of so many slots."""
    imported = '%a = pto.import_reserved_buffer {name = "b", peer_func = @taker} -> i32\n'
    where = "location = #pto.address_space<vec>, auto = true"
    reserved = f'%a = pto.reserve_buffer {{name = "b", size = {1024 * slots}, {where}}} -> i32\n'
    slots_at = "gm_slot_buffer = %p : !pto.ptr<f32>, " if in_global_memory else ""
    settings = f"{{dir_mask = 1, slot_size = 1024, slot_num = {slots}}}({slots_at}c2v_consumer_buf = %a : i32)\n"
    arguments = f"%t: {ACC}, %p: !pto.ptr<f32>, %n: index"
    return kernel("cube", arguments, imported + "pto.aic_initialize_pipe " + settings + giver, "giver") + kernel(
        "vector", "%p: !pto.ptr<f32>, %n: index", reserved + "pto.aiv_initialize_pipe " + settings + taker, "taker"
    )


def test_odd_depths_overwrite_only_where_slots_are_used_again() -> None:
    (hazard,) = hazards(pair(loop(PUSH, 8), loop(TURN, 8), 5, in_global_memory=True), "a2a3")
    assert (hazard.severity, hazard.code) == ("error", "unsafe-depth")
    assert hazard.location is not None and hazard.location.startswith("program.pto:3:")
    assert kinds(pair(loop(PUSH, 5), loop(TURN, 5), 5, in_global_memory=True), "a2a3") == []
    assert kinds(pair(loop(PUSH, 8), loop(TURN, 8), 5, in_global_memory=True), "ideal") == []


def test_pipes_of_a5_begin_with_credits() -> None:
    """But for those of whole entries in the consumer's memory, which no longer do."""
    (hazard,) = hazards(pair(loop(SPLIT_PUSH, 3), loop(SPLIT_TURN, 3)), "a5")
    assert (hazard.severity, hazard.code) == ("note", "seeded-credits")
    assert "push 2 may reuse slot 0 before it is read" in hazard.message
    assert kinds(pair(loop(SPLIT_PUSH, 1), loop(SPLIT_TURN, 1)), "a5") == []
    assert kinds(pair(loop(SPLIT_PUSH, 3), loop(SPLIT_TURN, 3)), "ideal") == []
    assert kinds(pair(loop(PUSH, 64), loop(TURN, 64)), "a5") == []


@pytest.mark.parametrize(
    ("slots", "entries"), [(2, 1), (2, 2), (2, 3), (2, 4), (8, 3), (8, 4), (8, 64), (3, 9), (6, 9)]
)
def test_credits_that_a5_leaves_over(slots: int, entries: int) -> None:
    """PTO-028, H2: a free behind every P-th pop gives a credit, of which pushes from S on take one at every P-th."""
    period = slots if slots <= 2 else slots // 2
    given = sum(1 for popped in range(1, entries + 1) if popped % period == 0)
    taken = sum(1 for pushed in range(slots, entries) if pushed % period == 0)
    program = pair(loop(SPLIT_PUSH, entries), loop(SPLIT_TURN, entries), slots)
    found = hazards(program, "a5")
    left = [hazard for hazard in found if hazard.code == "leftover-credits"]
    assert len(left) == (given > taken)
    for hazard in left:
        assert hazard.severity == "note"
        assert f"leave{'s' if entries == 1 else ''} {given - taken} credit{'s' if given - taken > 1 else ''} more" in (
            hazard.message
        )
    assert "leftover-credits" not in kinds(program, "ideal")
    assert "leftover-credits" not in kinds(pair(loop(PUSH, entries), loop(TURN, entries), slots), "a5")


def test_credits_to_begin_with_do_not_matter_if_the_consumer_answers() -> None:
    both = "slot_size = 1024, slot_num = 1"
    names = {"cube": ("import", "reserve"), "vec": ("reserve", "import")}

    def end(core: str, peer: str, op: str, body: str) -> str:
        lines: list[str] = []
        for name, space, how in zip(("c2v", "v2c"), ("vec", "mat"), names[core], strict=True):
            if how == "reserve":
                where = f"size = 1024, location = #pto.address_space<{space}>, auto = true"
                lines.append(f'%{name} = pto.reserve_buffer {{name = "{name}", {where}}} -> i32')
            else:
                lines.append(f'%{name} = pto.import_reserved_buffer {{name = "{name}", peer_func = @{peer}}} -> i32')
        buffers = "c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32"
        lines.append(f"pto.{op}_initialize_pipe {{dir_mask = 3, {both}}}({buffers})\n")
        kind = "cube" if core == "cube" else "vector"
        return kernel(kind, f"%t: {ACC}, %u: {HALF}", "\n".join(lines) + loop(body, 4), core)

    matrix = "!pto.tile_buf<mat, 16x16xf32>"
    ask = f"{SPLIT_PUSH}%m = pto.tpop_from_aiv {{split = 1}} -> {matrix}\npto.tfree_from_aiv {{split = 1}}\n"
    answer = f"{SPLIT_TURN}pto.tpush_to_aic(%u : {HALF}) {{split = 1}}\n"
    right = kinds(end("cube", "vec", "aic", ask) + end("vec", "cube", "aiv", answer), "a5")
    assert set(right) == {"leftover-credits"}
    # Both wait for the other to begin.
    wrong = ask.removeprefix(SPLIT_PUSH) + SPLIT_PUSH
    (hazard,) = hazards(end("cube", "vec", "aic", wrong) + end("vec", "cube", "aiv", answer), "a5")
    assert (hazard.severity, hazard.code) == ("error", "deadlock")
    assert "the kernels deadlock: " in hazard.message
    assert "no number of slots helps" in hazard.message


def test_a_deadlock_names_its_cycle_and_how_many_slots_would_do() -> None:
    """The producer fills one pipe before the other, the consumer empties them by turns."""
    lines: dict[str, list[str]] = {"cube": [], "vector": []}
    for pipe in (0, 1):
        where = "size = 2048, location = #pto.address_space<vec>, auto = true"
        lines["cube"].append(f'%a{pipe} = pto.import_reserved_buffer {{name = "b{pipe}", peer_func = @vector}} -> i32')
        lines["vector"].append(f'%a{pipe} = pto.reserve_buffer {{name = "b{pipe}", {where}}} -> i32')
        for kind, op in (("cube", "aic"), ("vector", "aiv")):
            settings = f"{{id = {pipe}, dir_mask = 1, slot_size = 1024, slot_num = 2}}"
            lines[kind].append(f"pto.{op}_initialize_pipe {settings}(c2v_consumer_buf = %a{pipe} : i32)")
    pushes = [PUSH.replace("split", f"id = {pipe}, split") for pipe in (0, 1) for _ in range(4)]
    turns = [
        (pop(f"v{place}_{pipe}") + FREE).replace("{split", f"{{id = {pipe}, split")
        for place in range(4)
        for pipe in (0, 1)
    ]
    program = kernel("cube", f"%t: {ACC}", "\n".join([*lines["cube"], *pushes]), "cube") + kernel(
        "vector", "", "\n".join([*lines["vector"], *turns]), "vector"
    )
    (hazard,) = hazards(program, "ideal")
    assert hazard.code == "deadlock"
    assert "push 3 of the pipe of 'b0' on @cube waits for free 1 of the pipe of 'b0' on @vector" in hazard.message
    assert "pop 0 of the pipe of 'b1' on @vector waits for push 0 of the pipe of 'b1' on @cube" in hazard.message
    assert "use slot_num = 3 for the pipe of 'b0'" in hazard.message
    enough = program.replace("slot_num = 2", "slot_num = 3").replace("size = 2048", "size = 3072")
    assert kinds(enough, "ideal") == []


# ---------------------------------------------------------------------------------------------
# Order of what one kernel does
# ---------------------------------------------------------------------------------------------


def test_frees_by_the_number_of_entries_taken_out() -> None:
    """Chips report free slots by how many entries were popped, of which some may still be in use."""
    settings = "slot_size = 1024, slot_num = 2"
    (early,) = hazards(consumer(pop("t") + pop("u") + FREE * 2, settings), "a5")
    assert (early.severity, early.code) == ("error", "early-credit")
    assert "2 have here, but only 1 are freed" in early.message
    assert kinds(consumer(pop("t") + FREE + pop("u") + FREE, settings), "a5") == []
    assert kinds(consumer(pop("t") + pop("u") + FREE * 2, settings), "ideal") == []
    # Tiles of a2a3 are copied when they are popped, and their slots free then.
    assert kinds(consumer(pop("t") + pop("u") + FREE * 2, settings), "a2a3") == []


def test_frees_that_tell_nobody() -> None:
    """Whenever slots are freed, a number of entries has been popped that is not a multiple of the period."""
    settings = "slot_size = 1024, slot_num = 4"
    body = pop("t") + pop("u") + pop("v") + FREE * 3
    for place in range(2):
        body += pop(f"w{place}") + pop(f"x{place}") + FREE * 2
    (lost,) = hazards(consumer(body, settings), "a5")
    assert (lost.severity, lost.code) == ("error", "lost-credit")
    assert "the producer waits forever" in lost.message


def test_more_entries_in_use_than_slots() -> None:
    settings = "slot_size = 1024, slot_num = 2"
    body = pop("t") + pop("u") + pop("v") + FREE * 3
    (held,) = hazards(consumer(body, settings), "ideal")
    assert (held.severity, held.code) == ("error", "slots-held")
    assert "pipe 0 has 2 slots, and the consumer holds all of them" in held.message
    assert kinds(consumer(body, "slot_size = 1024, slot_num = 3"), "ideal") == []


def branches(then: str, other: str, condition: str = "%if") -> str:
    return f"scf.if {condition} {{\n{then}}} else {{\n{other}}}\n"


def guarded(body: str) -> str:
    return "%no = arith.constant 0 : i32\n%if = arith.cmpi eq, %a, %no : i32\n" + body


def test_both_arms_of_an_if() -> None:
    """What happens on either way is an error, what happens on one a warning."""
    assert kinds(consumer(guarded(branches(TURN, TURN.replace("%v", "%w"))))) == []
    assert kinds(consumer(guarded(pop("v") + branches(FREE, FREE)))) == []
    (one,) = hazards(consumer(guarded(pop("v") + branches(FREE, ""))))
    assert (one.severity, one.code) == ("warning", "unbalanced-pipe")
    either = hazards(consumer(guarded(pop("v") + branches(FREE * 2, ""))))
    assert [hazard.severity for hazard in either] == ["warning", "warning"]
    (never,) = hazards(consumer(guarded(pop("v") + pop("w") + branches(FREE, FREE))))
    assert never.severity == "error"


def test_conditions_on_the_round_of_a_loop() -> None:
    """A pipeline: the first round takes two entries out, the last none."""
    head = "%zero = arith.constant 0 : index\n%last = arith.constant 3 : index\n" + pop("t")
    inner = "%more = arith.cmpi ult, %k, %last : index\nscf.if %more {\n" + pop("u") + "}\n" + FREE
    assert kinds(consumer(head + loop(inner, 4))) == []
    (hazard,) = hazards(consumer(head + loop(inner, 5)))
    assert "4 entries are popped from pipe 0, but 5 are freed" in hazard.message


def test_tiles_that_loops_carry() -> None:
    """Each round uses the tile the round before took out, which has been freed where the order is wrong."""
    used = f"pto.tprint ins(%tile : {VEC})\n"

    def program(body: str) -> str:
        bounds = (
            "%lo = arith.constant 0 : index\n%hi = arith.constant 3 : index\n%by = arith.constant 1 : index\n"
            + pop("first")
        )
        rounds = (
            f"%r = scf.for %k = %lo to %hi step %by iter_args(%tile = %first) -> ({VEC}) {{\n{body}"
            f"scf.yield %next : {VEC}\n}}\n"
        )
        return consumer(bounds + rounds + f"pto.tprint ins(%r : {VEC})\n" + FREE)

    assert kinds(program(used + pop("next") + FREE)) == []
    assert kinds(program(pop("next") + FREE + used)) == ["use-after-free"]


def test_slots_that_are_pushed_twice_or_into_another_pipe() -> None:
    (again,) = hazards(producer(TAKE + WRITE + GIVE + GIVE))
    assert again.code == "not-a-slot"
    assert "has already been pushed" in again.message
    second = f"pto.aic_initialize_pipe {{id = 1, dir_mask = 1, slot_size = 1024}}(gm_slot_tensor = %t : {SLOT})\n"
    other = GIVE.replace("{split", "{id = 1, split")
    assert kinds(producer(second + TAKE + WRITE + other)) == ["not-a-slot"]


def test_slots_written_by_a_function() -> None:
    function = f"func.func private @fill(%s: {SLOT})\n"
    call = f"func.call @fill(%e) : ({SLOT}) -> ()\n"
    assert kinds(function + producer(TAKE + call + GIVE)) == []


def test_tiles_of_slots_in_global_memory_on_a5() -> None:
    """There a pop frees its slot, and the slot stride of the consumer is the size of its tiles."""
    operands = f"gm_slot_tensor = %s : {SLOT}, c2v_consumer_buf = %a : i32"
    opened = f"pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024}}({operands})\n"
    body = pop("t") + FREE + pop("u", HALF) + FREE
    program = kernel("vector", f"%a: i32, %s: {SLOT}", opened + body)
    assert kinds(program, "a5") == ["freed-twice", "mixed-tile-sizes", "freed-twice"]
    assert {hazard.severity for hazard in hazards(program, "a5")} == {"warning"}
    assert kinds(program, "a2a3") == kinds(program, "ideal") == []


def test_slots_of_both_directions_alias() -> None:
    """Where slots are tensors, those of both directions of a pipe have the same addresses."""

    def end(core: str, op: str, mine: str, theirs: str) -> str:
        opened = f"pto.{op}_initialize_pipe {{dir_mask = 3, slot_size = 1024}}(gm_slot_tensor = %t : {SLOT})\n"
        tile = ACC if core == "cube" else VEC
        give = (TAKE + WRITE + GIVE).replace("to_aiv", f"to_{theirs}").replace(f"%c : {ACC}", f"%c : {tile}")
        take = f"%g = pto.tpop_from_{theirs} {{split = 0}} -> {SLOT}\n"
        free = f"pto.tfree_from_{theirs}(%g : {SLOT}) {{split = 0}}\n"
        body = give + take + free if core == "cube" else take + free + give
        return kernel(core, f"%t: {SLOT}, %c: {tile}, %i: index", opened + body, mine)

    program = end("cube", "aic", "aic", "aiv") + end("vector", "aiv", "aiv", "aic")
    assert kinds(program, "a2a3") == ["aliasing-rings"]
    assert kinds(program, "ideal") == []


def test_vector_cores_that_do_the_same_on_different_ways() -> None:
    condition = "%z = arith.constant 0 : i64\n%if = arith.cmpi eq, %lane, %z : i64\n"
    same = branches(TURN, TURN.replace("%v", "%w"))
    assert kinds(consumer(condition + same), "a2a3") == []
    split = condition + branches((pop("v", HALF, 1) + FREE).replace("split = 0", "split = 1"), "")
    assert kinds(consumer(split), "a5") == ["unequal-lanes", "unequal-lanes"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [10**6, 2**31, 10**23])
def test_long_loops_are_counted_and_only_warned_of(count: int) -> None:
    assert kinds(pair(loop(PUSH, count), loop(TURN, count)), "ideal") == []
    (hazard,) = hazards(pair(loop(SPLIT_PUSH, count), loop(SPLIT_TURN, count)), "a5")
    assert (hazard.severity, hazard.code) == ("note", "seeded-credits")
    (more,) = hazards(pair(loop(PUSH, count + 1), loop(TURN, count)), "ideal")
    assert f"{count} entries are popped in @taker, but {count + 1} are pushed" in more.message


def test_both_vector_cores_push_as_often_as_is_popped() -> None:
    """The second core pushes once more than the first."""
    half = "!pto.tile_buf<vec, 8x16xf32>"
    settings = "{dir_mask = 2, slot_size = 1024, slot_num = 2}"
    push = f"pto.tpush_to_aic(%t : {half}) {{split = 1}}\n"
    vector = (
        f'%a = pto.import_reserved_buffer {{name = "fifo", peer_func = @cube}} -> i32\n'
        f"pto.aiv_initialize_pipe {settings}(v2c_consumer_buf = %a : i32)\n%t = pto.alloc_tile : {half}\n"
        "%lane = pto.get_subblock_idx\n%n = arith.index_cast %lane : i64 to index\n%c0 = arith.constant 0 : index\n"
        f"%c1 = arith.constant 1 : index\n{push}scf.for %i = %c0 to %n step %c1 {{\n{push}}}"
    )
    cube = (
        '%a = pto.reserve_buffer {name = "fifo", size = 2048, location = #pto.address_space<mat>, auto = true} -> i32\n'
        f"pto.aic_initialize_pipe {settings}(v2c_consumer_buf = %a : i32)\n"
        "%t = pto.tpop_from_aiv {split = 1} -> !pto.tile_buf<mat, 16x16xf32>\npto.tfree_from_aiv {split = 1}"
    )
    for behavior in ("ideal", "a5"):
        (found,) = hazards(kernel("vector", "", vector, "vector") + kernel("cube", "", cube, "cube"), behavior)
        assert found.code == "unbalanced-pipe"
        assert "1 entry is popped in @cube, but 2 are pushed into the pipe of 'fifo' by AIV1" in found.message


def test_the_second_core_stores_what_it_does_not_get() -> None:
    """H9: of entries that are not split the second core gets zeros, which may lie over what the first stores."""
    tiles = f"%other = pto.alloc_tile : {VEC}\npto.tadd ins(%t, %t : {VEC}, {VEC}) outs(%other : {VEC})\n"
    store = f"pto.tstore ins(%other : {VEC}) outs(%part : {PART})\n"
    view = f"""%c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %first = arith.constant 0 : i64
      %is_first = arith.cmpi eq, %lane, %first : i64
      %row = arith.index_cast %lane : i64 to index
      %view = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : {SLOT}
      %part = pto.partition_view %view, offsets = [%ROW, %c0], sizes = [%c16, %c16] : {SLOT} -> {PART}
      """
    own, shared = view.replace("%ROW", "%row"), view.replace("%ROW", "%c0")
    begun = pop("t") + tiles
    (found,) = hazards(consumer(begun + shared + store + FREE), "a5")
    assert (found.code, found.severity) == ("second-core", "warning")
    assert "of which the second core gets zeros" in found.message
    guarded = f"scf.if %is_first {{\n{store}}}\n"
    assert kinds(consumer(begun + shared + guarded + FREE), "a5") == []
    assert kinds(consumer(begun + own + store + FREE), "a5") == []
    assert kinds(consumer(pop("t") + shared + store.replace("%other", "%t") + FREE), "a5") == ["second-core"]
    assert kinds(consumer(begun + shared + store + FREE), "a2a3") == []


@pytest.mark.parametrize("action", ["push", "pop"])
def test_one_end_uses_a_pipe_that_both_open(action: str) -> None:
    """Where the text holds both kernels, entries that only one of them handles are an error; with one alone they are
    not."""
    reserve = (
        '%a = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32'
    )
    opened = "pto.{}_initialize_pipe {{dir_mask = 1, slot_size = 1024}}(c2v_consumer_buf = %a : i32)\n"
    taken = f"{reserve}\n{opened.format('aiv')}"
    given = f'%a = pto.import_reserved_buffer {{name = "q", peer_func = @vector}} -> i32\n{opened.format("aic")}'
    if action == "pop":
        taken += pop("t") + FREE
    else:
        given += f"pto.tpush_to_aiv(%c : {ACC}) {{split = 0}}\n"
    vector, cube = kernel("vector", "", taken, "vector"), kernel("cube", f"%c: {ACC}", given, "cube")
    (hazard,) = hazards(vector + cube, "ideal")
    assert (hazard.code, hazard.severity) == ("unbalanced-pipe", "error")
    counts = "1 entry is popped in @vector, but 0 are pushed" if action == "pop" else "0 entries are popped, but 1 is"
    assert counts in hazard.message
    assert kinds(vector, "ideal") == []


STORED = "expects dst static element count ({}) to match src valid_shape static element count ({}); make the part "


@pytest.mark.parametrize(
    ("tile", "part", "counts"),
    [
        ("16x16xf32", "8x16xf32", (128, 256)),
        ("16x16xf32", "32x16xf32", (512, 256)),
        ("16x16xf32", "1x1x1x16x15xf32", (240, 256)),
        ("16x16xf32, valid=4x8", "16x16xf32", (256, 32)),
        ("16x16xf32", "16x16xf32", None),
        ("16x16xf32", "1x256xf32", None),
        ("16x16xf32", "1x2x2x4x16xf32", None),
        ("16x16xf32, valid=4x8", "4x8xf32", None),
        ("16x16xf32", "?x16xf32", None),
        ("16x16xf32, valid=?x16", "4x16xf32", None),
        ("16x16xf32, valid=0x16", "4x16xf32", None),
    ],
)
def test_tiles_are_stored_into_parts_of_as_many_elements(tile: str, part: str, counts: tuple[int, int] | None) -> None:
    """Both in any shape; what one of them is known at run time only, or no element, is left to the run."""
    tile, part = f"!pto.tile_buf<vec, {tile}>", f"!pto.partition_tensor_view<{part}>"
    found = hazards(
        kernel("vector", f"%t: {tile}, %p: {part}", f"pto.tstore ins(%t : {tile}) outs(%p : {part})"), "a2a3"
    )
    stored = [finding for finding in found if finding.code == "stored-part"]
    assert len(stored) == (counts is not None)
    if counts is not None:
        assert STORED.format(*counts) in stored[0].message


def test_scaled_stores_may_have_fewer_elements() -> None:
    """PTOAS does not compare their numbers."""
    tile, part = "!pto.tile_buf<acc, 16x16xi32>", "!pto.partition_tensor_view<8x16xf16>"
    scales = "!pto.tile_buf<scaling, 1x16xui64>"
    given = f"pto.tstore ins(%t : {tile} fp %s : {scales}) outs(%p : {part})"
    text = kernel("cube", f"%t: {tile}, %s: {scales}, %p: {part}", given)
    assert "stored-part" not in kinds(text, "a2a3")
    text = text.replace(f" fp %s : {scales}", "").replace("f16", "i32")
    assert kinds(text, "a2a3") == ["stored-part"]


@pytest.mark.parametrize("pushed", [0, 1, 2])
@pytest.mark.parametrize("popped", [0, 1, 2])
def test_ends_of_a_pipe_as_a_value_agree_in_split(pushed: int, popped: int) -> None:
    """Two functions that only share the flags of a pipe may be of two: a warning."""
    opened = """%pipe = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8,
      flag_base = 0}(%p : memref<256xf32, #pto.address_space<gm>>, %a : i32) -> !pto.pipe
"""
    given = "%p: memref<256xf32, #pto.address_space<gm>>, %a: i32"
    push = f"%t = pto.alloc_tile : {ACC}\npto.tpush(%t, %pipe : {ACC}, !pto.pipe) {{split = {pushed}}}"
    pop = f"""%t = pto.declare_tile -> {VEC}
pto.tpop(%t, %pipe : {VEC}, !pto.pipe) {{split = {popped}}}
pto.tfree(%pipe : !pto.pipe) {{split = {popped}}}"""
    text = kernel("cube", given, opened + push, "push") + kernel("vector", given, opened + pop, "pop")
    for behavior in ("a2a3", "a5"):
        found = [hazard for hazard in hazards(text, behavior) if hazard.code == "split-mismatch"]
        assert [hazard.severity for hazard in found] == ([] if pushed == popped else ["warning"])


@pytest.mark.parametrize("action", ["push", "pop"])
@pytest.mark.parametrize("around", ["for", "never", "if"])
def test_one_end_of_a_pipe_is_used_a_number_of_times_that_is_not_known(action: str, around: str) -> None:
    """In a loop to an argument one kernel does nothing, or does it in a branch that a constant never takes."""
    loops = "%z = arith.constant 0 : index\n%one = arith.constant 1 : index\nscf.for %i = %z to %n step %one {\n"
    never = "%is = arith.cmpi eq, %z, %one : index\n"
    begun = {"for": loops, "never": loops, "if": loops + "%is = arith.cmpi eq, %i, %n : index\nscf.if %is {\n"}[around]
    ended = "}\n}\n" if around == "if" else "}\n"

    def end(kind: str, done: str) -> str:
        open = f"pto.{kind}_initialize_pipe {{dir_mask = 1, slot_size = 1024}}(c2v_consumer_buf = %a : i32)\n"
        if not done:
            return open
        used = around == "never" and (kind == "aic") == (action == "pop")
        return open + begun + (f"{never}scf.if %is {{\n{done}}}\n" if used else done) + ended

    push, take = f"pto.tpush_to_aiv(%c : {ACC}) {{split = 0}}\n", pop("t") + FREE
    reserve = (
        '%a = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32\n'
    )
    given = '%a = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32\n'
    given += end("aic", push if action == "push" or around == "never" else "")
    taken = reserve + end("aiv", take if action == "pop" or around == "never" else "")
    program = kernel("vector", "%n: index", taken, "vector") + kernel("cube", f"%n: index, %c: {ACC}", given, "cube")
    found = [hazard for hazard in hazards(program, "ideal") if hazard.code == "unbalanced-pipe"]
    (hazard,) = found
    assert hazard.severity == ("warning" if around == "if" else "error")
    assert {
        "push": "entries are pushed into the pipe of 'q' in @cube, but none is popped",
        "pop": "entries are popped in @vector, but none is pushed into the pipe of 'q', so the consumer waits forever",
    }[action] in hazard.message


@pytest.mark.parametrize(("calls", "found"), [("both", []), ("cube", ["@vector"]), ("vector", ["@cube"])])
def test_kernels_that_nothing_calls(calls: str, found: list[str]) -> None:
    """Of a program with an entry function, only what that calls is started."""
    reserve = (
        '%a = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32'
    )
    opened = "pto.{}_initialize_pipe {{dir_mask = 1, slot_size = 1024}}(c2v_consumer_buf = %a : i32)\n"
    taken = f"{reserve}\n{opened.format('aiv')}{pop('t')}{FREE}"
    given = f'%a = pto.import_reserved_buffer {{name = "q", peer_func = @vector}} -> i32\n{opened.format("aic")}'
    given += f"%c = pto.alloc_tile : {ACC}\npto.tpush_to_aiv(%c : {ACC}) {{split = 0}}\n"
    kernels = kernel("vector", "", taken, "vector") + kernel("cube", "", given, "cube")
    called = ["cube", "vector"] if calls == "both" else [calls]
    begun = "".join(f"func.call @{name}() : () -> ()\n" for name in called)
    entry = f"func.func @main() attributes {{pto.entry}} {{\n{begun}return\n}}\n"
    assert kinds(kernels, "ideal") == []
    hazards_of = hazards(kernels + entry, "ideal")
    assert [hazard.message.split()[0] for hazard in hazards_of] == found
    for hazard in hazards_of:
        assert (hazard.code, hazard.severity) == ("unlaunched-kernel", "error")
        assert "only @main is, which has pto.entry" in hazard.message
