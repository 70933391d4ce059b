"""Conformance of pipes: the public instruction set's own tests, written anew in `.pto`, against numpy.

Each program runs as the documents promise (`ideal`), as on a2 and a3, and as on a5, where the chip has what it needs.
The table says which case of the public tests is which of ours: a name in `CASES`, or a test below.

CPU simulator, 45 cases

| public test | here |
|---|---|
| tpushpop {float,uint32} x {64,128}_128 x Mat (4) | one_{f32,i32}_{64,128}x128_mat |
| tpushpop the same x Vec (4) | one_{f32,i32}_{64,128}x128_vec: what a vector tile is pushed from is the vector core |
| tpushpop multicore_float_64_128_Vec | stream_of_12 |
| tpushpop v2c_gm_fifo_preserves_updown_and_leftright_layout | v2c_halves_{up_down,left_right} |
| tpushpop a5_style_c2v_local_split_push_pop | c2v_half |
| tpushpop a5_style_c2v_dual_subblock_split_push_pop | c2v_both_halves |
| tpushpop cpu_stub_prefers_injected_hooks... (no hooks: a run owns its state) | test_runs_share_no_state |
| tpushpop v2c_split_...waits_for_both_lanes_before_publish | test_entry_is_there_when_both_lanes_have_pushed |
| tpushpop a5_style_dir_both_{updown,leftright}_waits... (2) | both_{up_down,left_right}_matching_direction |
| ... for the other direction there | test_pop_waits_for_its_own_direction |
| tpushpop_cv single, multicore_stream (2) | cv_single, cv_stream |
| tpushpop_vc {up_down,left_right}_single_tile (2) | vc_{up_down,left_right}_single |
| tpushpop_vc {up_down,left_right}_fifo_wraparound (2) | vc_{up_down,left_right}_wraparound |
| ... one after the other, where the second hangs there (H10) | test_runs_share_no_state |
| tpushpop_vc both_dir_{up_down,left_right}_overlapping_pops (2) | both_{up_down,left_right}_overlapping_pops |
| tpushpop_vc both_dir_up_down_gm_fifo_keeps_c2v_order (fails there: H10) | both_up_down_order |
| tpushpop_cv_nosplit single_tile | cv_nosplit_single |
| tpushpop_cv_nosplit fifo_wraparound | cv_nosplit_wraparound |
| tpushpop_cv_nosplit delayed_free (fails there: H10) | cv_nosplit_delayed_free |
| tpushpop_cv_nosplit inactive_lane_skips_protocol | test_second_core_without_split |
| tpushpop_cv_nosplit dual_lane_delayed_free | cv_nosplit_delayed_free on a2a3: both cores take part |
| tpushpop_cv_nosplit dual_lane_fast_lane_wrap_waits | test_producer_waits_for_the_slower_core |
| tpushpop_cv_nosplit gm_slot_uses_valid_shape int32 128x128 | cv_nosplit_valid_rows |
| tpushpop_cv_nosplit gm_slot_uses_dynamic_valid_shape | cv_nosplit_dynamic_valid, cv_nosplit_dynamic_part |
| tpushpop_cv_nosplit both_direction c2v_then_v2c | both_nosplit_c2v_then_v2c |
| tpushpop_cv_nosplit both_direction c2v_producer_waits_for_out_of_order_slot | both_nosplit_wrapped_ring |
| tpushpop_cv_nosplit single_subblock_on_dual_lane_pipe | test_second_core_without_split |
| tpushpop_vc_nosplit single_tile, fifo_wraparound (2) | vc_nosplit_single, vc_nosplit_wraparound |
| tpushpop_vc_nosplit inactive_aiv1_is_noop | test_second_core_without_split |
| tpush_a5 case_1, case_2 (2) | both_add_one_left_right, both_add_one_up_down on a5 |
| tpush_a3 case_1 | both_add_one_left_right on a2a3 |
| tpushpop_fixpipe case1, case3, case4 (3) | fixpipe_1_f32_f16, fixpipe_3_deqf16, fixpipe_4_vdeqf16 |

NPU, 48 cases of a2a3 and 39 of a5

| public test | here |
|---|---|
| tpushpop_cv case1..8 (a2a3 8, a5 8) | cv_{1..4}_up_down, cv_{5..8}_left_right |
| tpushpop_cv case13, case14 (a2a3 2) | cv_13_up_down_odd, cv_14_left_right_odd |
| tpushpop_cv_nosplit case1..3 (a2a3 3, a5 3) | cv_nosplit_{1..3} |
| tpushpop_cv_nosplit case4 40 tiles, 80 dispatches (a2a3 1) | cv_nosplit_4_40_tiles |
| tpushpop_cv_nosplit case4, case5 strips of an accumulator (a5 2) | strips_static, strips_dynamic |
| tpushpop_dir_both case1, case2 (a2a3 2, a5 2) | dir_both_{up_down,left_right} |
| tpushpop_dir_both_concurrent case1, case2 (a2a3 2) | dir_both_concurrent_{up_down,left_right} |
| tpushpop_fixpipe case1..4 (a2a3 4, a5 4) | fixpipe_* |
| tpushpop_mixed_tile_size case1..6 (a2a3 6) | mixed_{64x64x32,64x64x64,32x32x16}_{v2c,both} |
| tpushpop_subtile case1 (a2a3 1, a5 1) | subtile |
| tpushpop_vc case1..12 (a2a3 12, a5 12) | vc_{up_down,left_right}_{i8,i16}_{1,2,4} |
| tpushpop_vc case13 explicit sub-block (a2a3 1, a5 1) | vc_13_named_lane_{64,128} |
| tpushpop_vc_nosplit case1..6 (a2a3 6, a5 6) | vc_nosplit_{i8,i16}_{1,2,4} |

The document's own three examples (PTO-033 to PTO-035) are c2v_of_the_document, v2c_of_the_document_{f32,f16} and
slot_of_the_document.

Rules that all cases prove: PTO-010, PTO-011 (slots that are tensors), PTO-020 (one pipe for both directions), PTO-025
to PTO-027 (splits), PTO-029 (each push tells its consumer).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir import pto
from loomir.diagnostics.errors import LoomError
from loomir.dialects import context, flow
from loomir.dialects.ir_text import parse_ir
from loomir.host.pto_check import check
from loomir.passes import get_all_passes
from loomir.runtime import Deadlock

from .cases import CASES, Array, Arrays, Case, exact_exchange
from .kernel_text import Chip
from .programs import UP_DOWN, Exchange

Arch: TypeAlias = Literal["ideal", "a2a3", "a5"]
RING_NUMBERS = 1 << 19
"""Of 32 bits, more than the slots of three blocks of any case are."""


NATIVE: dict[Chip, Arch] = {"a3": "a2a3", "a5": "a5"}


def archs_of(case: Case, chip: Chip) -> tuple[Arch, ...]:
    """The chip's way, and ideal pipes, with the memory of the newest chip a case runs on."""
    return (NATIVE[chip], "ideal") if chip == case.chips[-1] else (NATIVE[chip],)


def read(case: Case, chip: Chip) -> ModuleOp:
    return parse_ir(context(), case.text(chip), f"{chip}.pto")


class Run:
    """One run of a case, and what should have come of it."""

    def __init__(
        self, case: Case, arch: Arch, chip: Chip, *, program: ModuleOp | None = None, blocks: int = 1, **options: Any
    ):
        # test_case has each program checked, which verifies it after each pass.
        lowered = pto.Program(program or read(case, chip), arch=arch, blocks=blocks, verify_each=False)
        given = [case.arrays(np.random.default_rng(block), chip) for block in range(blocks)]
        golden = [case.golden(arrays) for arrays in given]
        self.golden: dict[str, Array] = {}
        arguments = {name: np.concatenate([arrays[name] for arrays in given]) for name in given[0]}
        # Without a split a2 and a3 hand the tile to both vector cores; on a5 the second pops zeros.
        seconds = golden if chip == "a3" else [case.golden(_without_product(arrays)) for arrays in given]
        for name, one in golden[0].items():
            parts = [
                part
                for first, second in zip(golden, seconds, strict=True)
                for part in ([first[name], second[name]] if name in case.per_lane else [first[name]])
            ]
            self.golden[name] = np.concatenate(parts)
            arguments[name] = np.zeros(self.golden[name].shape, _stored(one))
        for name in lowered.parameters.keys() - arguments.keys():
            arguments[name] = np.zeros(RING_NUMBERS, np.float32)
        self.tolerance = case.tolerance
        options.setdefault("repeat", case.repeat)
        self.result = pto.launch(lowered, arguments, **options)

    def check(self) -> None:
        for name, wanted in self.golden.items():
            found = self.result.arrays[name]
            if self.tolerance:
                np.testing.assert_allclose(
                    found.astype(np.float64), wanted.astype(np.float64), self.tolerance, self.tolerance, err_msg=name
                )
            else:
                np.testing.assert_array_equal(found, wanted, err_msg=name)

    @property
    def errors(self) -> list[str]:
        return [str(finding) for finding in self.result.findings if finding.severity == "error"]


def _without_product(arrays: Arrays) -> Arrays:
    return {name: np.zeros_like(array) if name == "cube_in" else array for name, array in arrays.items()}


def _stored(golden: Array) -> Any:
    return np.float32 if golden.dtype == np.float64 else golden.dtype


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "chip"),
    [
        # A quarter of the cases is run, each for one of its chips, half of them for the one: the rest in thorough runs.
        pytest.param(
            name,
            chip,
            marks=() if number % 8 in (0, 7) and chip == case.chips[number % len(case.chips)] else pytest.mark.thorough,
        )
        for number, (name, case) in enumerate(CASES.items())
        for chip in case.chips
    ],
    ids=str,
)
@pytest.mark.one_in(2)
def test_case(name: str, chip: Chip) -> None:
    case = CASES[name]
    program = read(case, chip)
    codes = {finding.code for finding in check(program)}
    # Of a5 this is reported in nearly every program: it begins with credits, keeps some (H2), and stores no mat.
    usual = {"seeded-credits", "leftover-credits", "stored-mat"} if chip == "a5" else set[str]()
    assert codes <= usual or case.overfreed_on_a5
    for arch in archs_of(case, chip):
        run = Run(case, arch, chip, program=program)
        if arch == "a5" and case.overfreed_on_a5:
            assert "early-credit" in codes
            assert run.errors or "early-credit" in {finding.code for finding in run.result.findings}
            continue
        run.check()
        assert run.errors == []
        assert arch == "a5" or run.result.findings == []


DOCUMENT = [
    ("c2v_of_the_document", 65536, np.float32),
    ("v2c_of_the_document_f32", 65536, np.float32),
    ("v2c_of_the_document_f16", 32768, np.float16),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "slot", "dtype"), DOCUMENT, ids=[name for name, _, _ in DOCUMENT])
def test_slots_of_the_document(name: str, slot: int, dtype: type) -> None:
    """PTO-007, PTO-009, PTO-033, PTO-034: 128 x 128 numbers to a slot, whole; push n fills slot n mod 2."""
    case = CASES[name]
    program = read(case, "a3")
    channel = next(op for op in pto.Program(program, arch="a2a3").module.walk() if isinstance(op, flow.ChannelOp))
    assert (channel.depth.value.data, channel.period.value.data) == (2, 2)
    result = Run(case, "a2a3", "a3", program=program).result
    ring = result.arrays["gm_slot_buffer"].view(np.uint8)
    given = case.arrays(np.random.default_rng(0), "a3")
    if name.startswith("c2v"):
        tiles = given["cube_in"].reshape(3, 128, 128).astype(np.float64) @ given["matrix"].reshape(128, 128)
    else:
        tiles = given["vector_in"].reshape(3, 128, 128)
    for number, tile in ((2, tiles[2]), (1, tiles[1])):
        place = number % 2 * slot
        found = ring[place : place + slot].view(dtype).reshape(128, 128)
        np.testing.assert_array_equal(found, tile.astype(dtype))
    assert tiles[1].any() and not ring[2 * slot :].any()


@pytest.mark.parametrize("taken", [1, 65535])
def test_a_slot_of_the_document_holds_its_tile(taken: int) -> None:
    """PTO-022, PTO-033: no byte less."""
    text = CASES["c2v_of_the_document"].text("a3").replace("slot_size = 65536", f"slot_size = {65536 - taken}")
    with pytest.raises(LoomError, match=f"slot.*{65536 - taken}"):
        pto.Program(parse_ir(context(), text, "a3.pto"), arch="a2a3")


@pytest.mark.slow
def test_a_pop_waits_until_the_push_tells_it() -> None:
    """PTO-001, PTO-008: a tile goes from one core to the other by a push; without it, nothing is ready."""
    case = CASES["c2v_of_the_document"]
    silent = "\n".join(line for line in case.text("a3").splitlines() if "tpush_to_aiv" not in line)
    message = r"AIV1: @main waits to pop entry 0 of channel @c2v_0, which nobody has pushed .*: 0 pushed, 0 popped"
    with pytest.raises(Deadlock, match=message):
        Run(replace(case, text=lambda _: silent), "a2a3", "a3")
    Run(case, "a2a3", "a3").check()


BLOCKED = (
    "stream_of_12", "both_up_down_order", "both_left_right_overlapping_pops", "cv_nosplit_dynamic_part",
    "vc_left_right_wraparound", "cv_4_up_down", "cv_14_left_right_odd", "fixpipe_4_vdeqf16", "vc_up_down_i8_4",
    "vc_nosplit_i16_2", "mixed_64x64x32_both", "both_add_one_left_right", "dir_both_concurrent_up_down", "subtile",
    "strips_dynamic",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", BLOCKED)
def test_three_blocks_work_on_their_own_parts(name: str) -> None:
    case = CASES[name]
    for chip in case.chips:
        if chip != "a5" or not case.overfreed_on_a5:
            Run(case, NATIVE[chip], chip, blocks=3).check()


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("order", ["eager", "prompt"])
@pytest.mark.parametrize("name", ["vc_up_down_wraparound", "cv_nosplit_delayed_free", "both_up_down_order"])
def test_order_of_cores_makes_no_difference(name: str, order: str) -> None:
    for arch in ("ideal", "a2a3"):
        Run(CASES[name], arch, "a3", order=order).check()


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "chip"), [("a2a3", "a3"), ("a5", "a5")])
def test_second_core_without_split(arch: Arch, chip: Chip) -> None:
    """PTO-025: on a2 and a3 both vector cores get the whole tile; on a5 the second takes no part, and pops zeros."""
    for name in ("cv_nosplit_single", "cv_nosplit_wraparound"):
        run = Run(CASES[name], arch, chip)
        run.check()
        first, second = np.split(run.result.arrays["vector_out"], 2)
        assert first.any()
        assert second.any() == (arch == "a2a3")


@pytest.mark.slow
@pytest.mark.parametrize("order", ["eager", "prompt"])
def test_producer_waits_for_the_slower_core(order: str) -> None:
    """PTO-006, PTO-028: with two vector cores a slot is free when both have freed it, whichever is first."""
    for rounds in (5, 9):
        case = exact_exchange(Exchange("push", "pop free", rounds=rounds))
        Run(case, "a2a3", "a3", order=order).check()


@pytest.mark.slow
def test_entry_is_there_when_both_lanes_have_pushed() -> None:
    """PTO-026: the cube core's pop waits for both halves."""
    exchange = Exchange("pop free", "push", UP_DOWN, 16, 16, 16)
    text = exchange.text("a5")
    push = next(line for line in text.splitlines() if "tpush_to_aic" in line)
    zero = "%zero = arith.constant 0 : i64"
    first = "%first = arith.cmpi eq, %h0, %zero : i64"
    only_first = text.replace(push, "\n".join([zero, first, "scf.if %first {", push, "}"]))
    assert "%h0 = pto.get_subblock_idx" in only_first
    half = replace(exact_exchange(exchange), text=lambda _: only_first)
    with pytest.raises(Deadlock, match=r"AIC: .* waits to pop entry 0 of channel @v2c_0, which lane 1 has not pushed"):
        Run(half, "a5", "a5")
    Run(exact_exchange(exchange), "a5", "a5").check()


@pytest.mark.slow
@pytest.mark.parametrize("split", [1, 2])
def test_pop_waits_for_its_own_direction(split: int) -> None:
    """PTO-020: an entry that goes the other way does not satisfy a pop."""
    exchange = Exchange("pop free push", "push pop free", split, 16, 64, 64)
    silent = "\n".join(line for line in exchange.text("a5").splitlines() if "tpush_to_aiv" not in line)
    with pytest.raises(
        Deadlock, match=r"AIV0 to block 0 AIV1: .* waits to pop entry 0 of channel @c2v_0, which nobody"
    ):
        Run(replace(exact_exchange(exchange), text=lambda _: silent), "a5", "a5")


@pytest.mark.slow
def test_runs_share_no_state() -> None:
    """One program after another, with the same pipe number and other depths, splits and types, each starts anew."""
    for name in ("vc_up_down_wraparound", "vc_left_right_wraparound", "one_i32_64x128_mat", "vc_up_down_wraparound"):
        Run(CASES[name], "a2a3", "a3").check()


@pytest.mark.slow
def test_repeated_launches_leave_no_credits() -> None:
    """What is left of a pipe's credits is taken at the end of a launch: the next begins as the first did."""
    for name in ("cv_nosplit_wraparound", "both_up_down_order", "vc_left_right_wraparound"):
        Run(CASES[name], "a2a3", "a3", repeat=7).check()


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name", ["cv_14_left_right_odd", "both_add_one_left_right", "subtile", "vc_13_named_lane_64", "strips_dynamic"]
)
def test_pipes_as_values(name: str) -> None:
    """The same programs written with pipes as values, which are read back from their text, do the same."""
    case = CASES[name]
    for chip in case.chips:
        program = read(case, chip)
        for step in (
            "pto-assign-default-frontend-pipe-id",
            "pto-lower-frontend-pipe-ops",
            "pto-infer-validate-pipe-init",
        ):
            get_all_passes()[step]()().apply(context(), program)
        text = str(program)
        assert "pto.initialize_l2" in text and "initialize_pipe" not in text
        Run(case, NATIVE[chip], chip, program=parse_ir(context(), text, f"{chip}.pto")).check()
