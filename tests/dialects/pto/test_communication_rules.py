"""Rules of communication between devices, and of flags and buffers: right operations, and wrong edits of each with
their message, as in `test_instruction_rules`.

Several values of one operand, such as the members of a group, are written `A+B`.
"""

from __future__ import annotations

import re

import pytest
from xdsl.utils.exceptions import VerifyException

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.communication_rules import COMMUNICATION_RULES
from loomir.dialects.verification import verify

from .test_instruction_rules import edited, made


def part(shape: str, kind: str = "partition_tensor_view") -> str:
    return f"!pto.{kind}<{shape}>"


def tile(shape: str, memory: str = "vec") -> str:
    return f"!pto.tile_buf<{memory},{shape}>"


P, T, SIGNAL, BYTES = part("64xf32"), tile("1x64xf32"), part("1xi32"), "!pto.ptr<i8>"
HALF, VIEW = part("64xf16"), part("64xf32", "tensor_view")
ANY = part("?xf32")
A_VIEW, RANK = "to be a tensor_view or partition_view", "to have rank >= 1"
LINE = "to be a static flat contiguous logical 1D GM view"
SESSION, EVENT = "!pto.async_session", "!pto.async_event"

STAGED = {
    f"0:{T}": f"expects dst {A_VIEW}", f"1:{T}": f"expects src {A_VIEW}", f"0:{part('f32')}": f"expects dst {RANK}",
    f"1:{part('?xf32', 'tensor_view')}": "allows dynamic dimensions on src only for partition_tensor_view",
    f"0:{part('0xf32')}": "expects every static dimension of dst to be positive",
    f"2:{P}": "expects ping to be a tile_buf", f"3:{P}": "expects pong to be a tile_buf",
    f"2:{tile('1x64xf32', 'mat')}": "expects ping to be in vec address space",
    f"3:{tile('1x64xf32', 'mat')}": "expects pong to be in vec address space",
    f"3:{tile('2x32xf32')}": "expects ping and pong to have identical types",
    f"1:{HALF}": "expects src and dst to have the same element type",
    f"1:{part('32xf32')}": "expects src and dst to have the same static/dynamic shape signature",
    f"1:{ANY}": "expects src and dst to have the same static/dynamic shape signature",
    f"2:{tile('1x64xf16')}; 3:{tile('1x64xf16')}": "expects staging tile element type to match src/dst",
}  # fmt: skip
ASYNCHRONOUS = {
    f"1:{HALF}": "expects src and dst to have the same element type", f"0:{part('f32')}": f"expects dst {RANK}",
    f"0:{T}": f"expects dst {A_VIEW}", f"1:{ANY}": "expects src to have a static shape",
    f"0:{part('2x32xf32')}": f"expects dst {LINE}", f"1:{part('2x32xf32')}": f"expects src {LINE}",
    f"1:{part('32xf32')}": "expects src and dst to have the same static shape",
}  # fmt: skip
SIGNALLED = {
    f"0:{T}": f"expects signal {A_VIEW}", f"0:{part('i32')}": f"expects signal {RANK}",
    f"0:{part('?xi32')}": "does not support dynamic dimensions on signal",
    f"0:{part('0xi32')}": "expects every static dimension of signal to be positive",
    f"0:{part('1xui32')}": "expects signal element type to be i32",
}  # fmt: skip


def collective(name: str) -> dict[str, str]:
    """Wrong edits of an operation `name` ping pong group."""
    return {
        f"0:{T}": f"expects {name} {A_VIEW}", f"0:{ANY}": f"does not support dynamic dimensions on {name}",
        f"1:{P}": "expects ping to be a tile_buf", f"2:{tile('1x64xf32', 'mat')}": "expects pong to be in vec address",
        f"2:{tile('1x32xf32')}": "expects ping and pong to have identical types",
        "3:?": "expects at least one group operand",
        f"3:{P}+{T}": f"expects group[1] {A_VIEW}", f"3:{ANY}": "does not support dynamic dimensions on group[0]",
        f"3:{P}+{VIEW}": "expects all group operands to have identical types",
        "root = 2 : i32": "expects root to index into group operands",
        "root = -1 : i32": "expects root to index into group operands",
        f"1:{tile('1x64xf16')}; 2:{tile('1x64xf16')}": f"expects staging tile element type to match {name}",
    }  # fmt: skip


OF_DST = "expects dst element type to match group member type"
CASES: list[tuple[str, str, str, dict[str, str]]] = [
    *[(f"comm.{name}", f"{P} {P} {T} {T} |", "", STAGED) for name in ("tput", "tget")],
    ("comm.tput", f"{ANY} {ANY} {T} |", "", {
        f"0:{P}": "expects src and dst to have the same static/dynamic shape signature"}),
    *[(f"comm.{name}", f"{part('1x64xf32')} {part('1x64xf32')} {SESSION} | {EVENT}", "", {})
      for name in ("tput_async", "tget_async")],
    *[(f"comm.{name}", f"{P} {P} {SESSION} | {EVENT}", "", ASYNCHRONOUS) for name in ("tput_async", "tget_async")],
    ("tprefetch_async", f"{P} !pto.prefetch_async_context | {EVENT}", "", {
        f"0:{T}": f"expects src {A_VIEW}", f"0:{ANY}": "expects src to have a static shape",
        f"0:{part('2x32xf32')}": f"expects src {LINE}"}),
    ("make_prefetch_async_context", f"{BYTES} | !pto.prefetch_async_context", "", {
        "0:!pto.ptr<i16>": "expects workspace element type to be an 8-bit integer",
        "0:!pto.ptr<f8E5M2>": "expects workspace element type to be an 8-bit integer"}),
    ("comm.tnotify", f"{SIGNAL} i32 |", "notifyOp = #pto<notify_op set>", {
        **SIGNALLED, "1:i16": "expects value to be i32"}),
    ("comm.twait", f"{SIGNAL} i32 |", "cmp = #pto<wait_cmp eq>", {**SIGNALLED, "1:i64": "expects cmp_value to be i32"}),
    ("comm.ttest", f"{SIGNAL} i32 | i1", "cmp = #pto<wait_cmp eq>", {
        **SIGNALLED, "1:i64": "expects cmp_value to be i32"}),
    ("comm.tbroadcast", f"{P} {T} {T} {P}+{P} |", "root = 1 : i32", {
        **collective("src"), f"0:{VIEW}": "expects src type to match group member type",
        f"0:{HALF}": "expects src type to match group member type"}),
    ("comm.tscatter", f"{VIEW} {T} {T} {P}+{P} |", "root = 0 : i32", {
        **collective("src"), f"0:{HALF}": "expects src element type to match group member type"}),
    ("comm.tgather", f"{VIEW} {T} {T} {P}+{P} |", "root = 0 : i32", {**collective("dst"), f"0:{HALF}": OF_DST}),
    ("comm.treduce", f"{P} {T} {T} {T} {P}+{P} |", "root = 0 : i32, reduceOp = #pto<reduce_op sum>", {
        f"0:{HALF}": OF_DST, f"2:{P}": "expects recv_ping to be a tile_buf",
        f"3:{tile('1x32xf32')}": "expects recv_ping and recv_pong to have identical types",
        f"1:{tile('1x32xf32')}": "expects acc and recv_ping to have identical types",
        "; ".join(f"{place}:{tile('1x64xf16')}" for place in (1, 2, 3)):
        "expects accumulator/receive tiles to match dst element type"}),
    ("comm.build_async_session", f"{tile('1x8xi8')} {BYTES} | {SESSION}",
     "sync_id = 7 : i32, block_bytes = 1 : i64, queue_num = 1 : i32, comm_block_offset = 0 : i64, "
     "channel_group_idx = 4294967295 : i64", {
        f"0:{tile('1x8xi8', 'mat')}": "expects scratch to be in vec address space",
        f"0:{tile('1x7xi8')}": "expects scratch to provide at least 8 bytes",
        "1:!pto.ptr<i64>": "expects workspace element type to be an 8-bit integer",
        "sync_id = 8 : i32": "expects sync_id in range [0, 7]", "sync_id = -1 : i32": "expects sync_id in range [0, 7]",
        "block_bytes = 0 : i64": "expects block_bytes to be greater than 0",
        "queue_num = 0 : i32": "expects queue_num to be greater than 0",
        "comm_block_offset = -1 : i64": "expects comm_block_offset to be non-negative",
        "channel_group_idx = -1 : i64": "expects channel_group_idx to be non-negative",
        "channel_group_idx = 4294967296 : i64": "expects channel_group_idx to fit in uint32"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "types", "attributes", "wrong"), CASES, ids=lambda each: str(each)[:16])
def test_rules_between_devices(name: str, types: str, attributes: str, wrong: dict[str, str]) -> None:
    """A right operation verifies; each edit of it gives upstream's message."""
    codes = types.split()
    made(name, codes, attributes).verify_()
    for edit, message in wrong.items():
        with pytest.raises(VerifyException) as caught:
            made(name, *edited(codes, attributes, edit)).verify_()
        assert f"'pto.{name}' op {message}" in str(caught.value), edit


# ---------------------------------------------------------------------------------------------
# Flags and buffers
# ---------------------------------------------------------------------------------------------

PIPES = "expects pipe to be one of <PIPE_FIX>, <PIPE_MTE1>, <PIPE_MTE2>, <PIPE_MTE3>, <PIPE_V>"
CONCRETE = "expects 'op_type' to map to a concrete pipe, not PIPE_ALL/PIPE_UNASSIGNED"
FLAGS: list[tuple[str, str, str, str]] = [
    *[row for name in ("sync.set", "sync.wait") for row in (
        ("a5", f"{name} <PIPE_MTE3>, 15", f"{name} <PIPE_MTE3>, 16",
         f"A5 {name} expects static FFTS event_id in [0, 15], but got 16"),
        ("a5", f"{name} <PIPE_V>, 0", f"{name} <PIPE_V>, -1",
         f"A5 {name} expects static FFTS event_id in [0, 15], but got -1"),
        ("a5", f"{name} <PIPE_FIX>, 3", f"{name} <PIPE_S>, 3", f"A5 {name} {PIPES}"),
        ("a3", f"{name} <PIPE_S>, 16 {{ffts_mode = 2 : i32}}", f"{name} <PIPE_S>, 16 {{ffts_mode = 3 : i32}}",
         "requires ffts_mode in range [0, 2], but got 3"),
        ("a5", f"{name} <PIPE_V>, 3 {{ffts_mode = 0 : i32}}", f"{name} <PIPE_V>, 3 {{ffts_mode = -1 : i32}}",
         "requires ffts_mode in range [0, 2], but got -1"),
    )],
    *[row for name in ("set_cross_block", "wait_cross_block") for row in (
        ("a5", f"{name} <PIPE_MTE1>, 15", f"{name} <PIPE_MTE1>, 16", "expects static event_id in [0, 15], but got 16"),
        ("a3", f"{name} <PIPE_MTE2>, 0", f"{name} <PIPE_MTE2>, -1", "expects static event_id in [0, 15], but got -1"),
        ("a3", f"{name} <PIPE_MTE1>, 15", f"{name} <PIPE_M>, 15", f"pto.{name} {PIPES}"),
    )],
    *[row for name in ("set_intra_block", "wait_intra_block") for row in (
        ("a5", f"{name} <PIPE_MTE1>, 31", f"{name} <PIPE_MTE1>, 32", "expects static event_id in [0, 31], but got 32"),
        ("a5", f"{name} <PIPE_MTE1>, 31", f"{name} <PIPE_ALL>, 31", f"pto.{name} {PIPES}"),
    )],
    *[row for name in ("get_buf", "rls_buf") for row in (
        ("a5", f'{name} "PIPE_V", 31', f'{name} "PIPE_V", 32', "expects 'buf_id' in range [0, 31]"),
        ("a5", f'{name} "PIPE_V", 0', f'{name} "PIPE_V", -1', "expects 'buf_id' in range [0, 31]"),
        ("a5", f'{name} "PIPE_V", 0, 0', f'{name} "PIPE_V", 0, -1', "expects 'mode' to be non-negative"),
        ("a5", f'{name} "PIPE_V", 0', f'{name} "PIPE_ALL", 0', CONCRETE),
        ("a5", f"{name} [#pto.pipe<PIPE_V>, 0]", f"{name} [#pto.pipe<PIPE_ALL>, 0]", CONCRETE),
    )],
    *[row for name in ("get_buf_dyn", "rls_buf_dyn") for row in (
        ("a5", f'{name} "PIPE_V", %n', f'{name} "PIPE_ALL", %n', CONCRETE),
        ("a5", f'{name} "PIPE_V", %n, 0', f'{name} "PIPE_V", %n, -1', "expects 'mode' to be non-negative"),
    )],
]  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("chip", "right", "wrong", "message"), FLAGS)
def test_rules_of_flags_and_buffers(chip: str, right: str, wrong: str, message: str) -> None:
    def check(line: str) -> None:
        text = f"func.func @f(%n: index) {{\n  pto.{line}\n  return\n}}"
        verify(parse_ir(context(), f'module attributes {{pto.target_arch = "{chip}"}} {{\n{text}\n}}', "flags.pto"))

    check(right)
    with pytest.raises(LoomError, match=re.escape(f"'pto.{wrong.split()[0]}' op {message}") + "$"):
        check(wrong)


def test_what_another_chip_allows() -> None:
    """A flag that a5 refuses is right on a3: the rule is of one chip."""
    for name in ("sync.set", "sync.wait"):
        text = f"func.func @f() {{\n  pto.{name} <PIPE_S>, 16\n  return\n}}"
        verify(parse_ir(context(), f'module attributes {{pto.target_arch = "a3"}} {{\n{text}\n}}', "flags.pto"))


def test_every_rule_has_a_row() -> None:
    tested = {name for name, *_ in CASES} | {right.split()[0] for _, right, _, _ in FLAGS}
    assert tested == set(COMMUNICATION_RULES)
