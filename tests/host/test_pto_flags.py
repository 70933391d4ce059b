"""Flags between the pipelines of a core: what they order, and what they leave open."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import pto
from loomir.dialects import context
from loomir.host.pto_check import check

from .pto_kernel_text import K, P, module, vec

pytestmark = pytest.mark.skipif(
    context().get_optional_op("pto.set_flag") is None, reason="the dialect does not read flags"
)


def kernel(there: bool = True, back: bool = True, barrier: str = "", rounds: int = 4, event: str = "EVENT_ID0") -> str:
    """A kernel that loads, doubles and stores tiles, in order by flags `there`, and `back` for the next round."""
    core = K("vec", "vector", [("%a", P), ("%out", P)])
    tile, result = core.tile(vec(16, 64)), core.tile(vec(16, 64))

    def flag(action: str, source: str, target: str, name: str = "EVENT_ID0") -> None:
        core.do(f'pto.{action}_flag["PIPE_{source}", "PIPE_{target}", "{name}"]')

    def loops(action: str) -> None:
        if back:
            flag(action, "V", "MTE2")
            flag(action, "MTE3", "V")

    loops("set")
    step = core.for_(0, rounds)
    row = core.mul(step, 16)
    loops("wait")
    core.load(core.part("%a", (64, 64), (row, 0), (16, 64)), tile)
    if there:
        flag("set", "MTE2", "V")
        flag("wait", "MTE2", "V")
    if barrier:
        core.do(f"pto.barrier <{barrier}>")
    core.ts("tmuls", tile, 2.0, result)
    if back:
        flag("set", "V", "MTE2")
    flag("set", "V", "MTE3", event)
    flag("wait", "V", "MTE3")
    core.store(result, core.part("%out", (64, 64), (row, 0), (16, 64)))
    if back:
        flag("set", "MTE3", "V")
    core.end()
    loops("wait")
    return module("a3", core)


def test_flags_in_their_places_order_all() -> None:
    assert check(kernel()) == []
    assert check(kernel(back=False, rounds=1)) == []


def test_a_missing_flag() -> None:
    (finding,) = check(kernel(there=False))
    assert (finding.code, finding.severity) == ("pipe-race", "error")
    assert "PIPE_V reads byte 0 of 'vec', which PIPE_MTE2 writes" in finding.message
    assert "set a flag of PIPE_MTE2 to PIPE_V in between and wait for it" in finding.message


def test_the_next_round_overwrites() -> None:
    findings = check(kernel(back=False))
    assert [finding.code for finding in findings] == ["pipe-race", "pipe-race"]
    assert "PIPE_MTE2 writes byte 0 of 'vec', which PIPE_V reads" in findings[0].message
    assert "PIPE_V writes byte 4096 of 'vec', which PIPE_MTE3 reads" in findings[1].message


def test_barriers() -> None:
    """That of all pipelines orders them; one of a single pipeline orders its own operations, which are so anyway."""
    assert check(kernel(there=False, barrier="PIPE_ALL")) == []
    assert [finding.code for finding in check(kernel(there=False, barrier="PIPE_V"))] == ["pipe-race"]


def test_a_flag_that_nothing_sets() -> None:
    codes = {finding.code: finding.message for finding in check(kernel(event="EVENT_ID1"))}
    assert set(codes) == {"unset-flag", "pipe-race"}
    assert (
        "AIV0 waits for flag 0 of PIPE_V to PIPE_MTE3 that nothing has set, so PIPE_MTE3 waits forever, while flag 1 "
        "of PIPE_V to PIPE_MTE3, set at <text>:"
    ) in codes["unset-flag"]
    assert "is not waited for; let PIPE_V set it before" in codes["unset-flag"]


def test_a_flag_that_is_set_too_late() -> None:
    pair = '  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', '  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'
    text = kernel(back=False, rounds=1)
    assert "\n".join(pair) in text
    codes = {finding.code: finding.message for finding in check(text.replace("\n".join(pair), "\n".join(pair[::-1])))}
    assert "waits forever, and pto.set_flag at <text>:" in codes["unset-flag"]
    assert "comes behind it; let PIPE_MTE2 set it before" in codes["unset-flag"]


def test_a_flag_that_is_left_set() -> None:
    """The last wait is missing: the flag is still set when the next kernel waits for it."""
    text = kernel(rounds=3)
    before, wait, behind = text.rpartition('pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]')
    assert wait and check(text) == []
    (finding,) = check(before + behind)
    assert (finding.code, finding.severity) == ("leftover-flag", "warning")
    assert "AIV0 ends with flag 0 of PIPE_MTE3 to PIPE_V set once more than it is waited for" in finding.message


def events(text: str) -> str:
    """Return a kernel with events between kinds of operations instead of flags between pipelines."""
    kinds = {"MTE2": "TLOAD", "V": "TVEC", "MTE3": "TSTORE_VEC"}
    for action, name in (("set_flag", "record_event"), ("wait_flag", "wait_event")):
        for source, first in kinds.items():
            for target, second in kinds.items():
                before = f'pto.{action}["PIPE_{source}", "PIPE_{target}", '
                text = text.replace(
                    before, f"pto.{name}[#pto.pipe_event_type<{first}>, #pto.pipe_event_type<{second}>, "
                )
    for number in range(2):
        text = text.replace(f'"EVENT_ID{number}"]', f"#pto.event<EVENT_ID{number}>]" if "record_event" in text else "")
    return text


def test_events_order_as_flags_do() -> None:
    assert check(events(kernel())) == []
    assert [finding.code for finding in check(events(kernel(there=False)))] == ["pipe-race"]
    assert {finding.code for finding in check(events(kernel(event="EVENT_ID1")))} == {"unset-flag", "pipe-race"}


def with_buffers(loaded: int = 0, computed: int = 0) -> str:
    """A kernel of a5 whose pipelines take and free buffers: the load one, the product two, the store the second."""
    core = K("vec", "vector", [("%a", P), ("%out", P)])
    tile, result = core.tile(vec(16, 64)), core.tile(vec(16, 64))

    def hold(action: str, pipe: str, number: int) -> None:
        core.do(f'pto.{action}_buf "PIPE_{pipe}", {number}')

    step = core.for_(0, 4)
    row = core.mul(step, 16)
    hold("get", "MTE2", loaded)
    core.load(core.part("%a", (64, 64), (row, 0), (16, 64)), tile)
    hold("rls", "MTE2", loaded)
    hold("get", "V", computed)
    hold("get", "V", 1)
    core.ts("tmuls", tile, 2.0, result)
    hold("rls", "V", computed)
    hold("rls", "V", 1)
    hold("get", "MTE3", 1)
    core.store(result, core.part("%out", (64, 64), (row, 0), (16, 64)))
    hold("rls", "MTE3", 1)
    core.end()
    return module("a5", core)


def test_buffers_order_pipelines_that_take_one() -> None:
    """One after the other, in the order of the program; buffers of other numbers order nothing."""
    assert check(with_buffers()) == []
    findings = check(with_buffers(computed=2))
    assert {finding.code for finding in findings} == {"pipe-race"}
    assert "PIPE_V reads byte 0 of 'vec', which PIPE_MTE2 writes" in findings[0].message


GATHER = """
func.func @gather(%x: !pto.ptr<f32>, %places: !pto.ptr<i32>, %out: !pto.ptr<f32>)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %from = pto.make_tensor_view %x, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<4x16xf32>
  %at = pto.make_tensor_view %places, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<4x16xi32>
  %to = pto.make_tensor_view %out, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<4x16xf32>
  %a = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<4x16xf32> -> FLOATS
  %b = pto.partition_view %at, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<4x16xi32> -> NUMBERS
  %c = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<4x16xf32> -> FLOATS
  %source = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf32>
  %indices = pto.alloc_tile : !pto.tile_buf<vec, 4x16xi32>
  %scratch = pto.alloc_tile : !pto.tile_buf<vec, 4x16xi32>
  %taken = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf32>
  pto.tload ins(%a : FLOATS) outs(%source : !pto.tile_buf<vec, 4x16xf32>)
  pto.tload ins(%b : NUMBERS) outs(%indices : !pto.tile_buf<vec, 4x16xi32>)
  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.tgather ins(%source, %indices, %scratch : !pto.tile_buf<vec, 4x16xf32>, !pto.tile_buf<vec, 4x16xi32>,
                  !pto.tile_buf<vec, 4x16xi32>) outs(%taken : !pto.tile_buf<vec, 4x16xf32>)
  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.tstore ins(%taken : !pto.tile_buf<vec, 4x16xf32>) outs(%c : FLOATS)
  return
}
""".replace("FLOATS", "!pto.partition_tensor_view<4x16xf32>").replace("NUMBERS", "!pto.partition_tensor_view<4x16xi32>")


def test_instructions_on_tiles_are_ordered_too() -> None:
    """Gathers and their kin read tiles that have to be written, and behind flags like other operations."""
    assert check(GATHER) == []
    unordered = [line for line in GATHER.splitlines(keepends=True) if "PIPE_MTE2" not in line]
    races = check("".join(unordered))
    assert races and {finding.code for finding in races} == {"pipe-race"}
    assert "PIPE_V reads byte" in races[0].message and "which PIPE_MTE2 writes" in races[0].message
    unloaded = [line for line in GATHER.splitlines(keepends=True) if "tload ins(%b" not in line]
    (unwritten,) = check("".join(unloaded))
    assert unwritten.code == "unwritten-tile" and "the tile %indices in bytes" in unwritten.message


def test_the_scalar_unit_has_flags_of_its_own() -> None:
    """`tgetval`, `tsetval` and `tci` are its operations: those of the vector unit do not order them."""
    tile = "!pto.tile_buf<vec, 4x16xf32>"
    start, end = GATHER.index("  pto.tgather"), GATHER.index('  pto.set_flag["PIPE_V"')
    one = f"""  %element = pto.tgetval ins(%source, %c1 : {tile}, index) outs : f32
  pto.tsetval ins(%c1, %element : index, f32) outs(%taken : {tile})
  %zero = arith.constant 0 : i32
  pto.tci ins(%zero : i32) outs(%indices : !pto.tile_buf<vec, 4x16xi32>)
"""
    text = GATHER[:start] + one + GATHER[end:]
    right = text.replace('"PIPE_V"', '"PIPE_S"')
    assert check(right) == []
    assert {finding.code for finding in check(text)} == {"pipe-race"}
    assert pto.run(right, times=True, arguments={
        "x": np.arange(64, dtype=np.float32), "places": np.zeros(64, np.int32), "out": np.zeros(64, np.float32)
    }).statistics["estimate"]  # fmt: skip
