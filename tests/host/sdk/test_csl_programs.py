"""CSL programs from source to host, through the tools: what rules ask of the device side, and what mistakes give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from loomir.host.sdk.conversions import calculate_cycles
from loomir.host.sdk.debugging import debug_util
from loomir.host.sdk.errors import SdkError
from loomir.host.sdk.runtime import MemcpyDataType, MemcpyOrder, SdkRuntime, take_unstopped
from loomir.tools import loom

LAYOUT = """
param width: i16;
const LAUNCH: color = @get_color(8);
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = 1, .LAUNCH = LAUNCH });
layout {
  @set_rectangle(width, 1);
  for (@range(i16, width)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .is_last = x == width - 1 });
  }
  @export_name("fn_foo", fn(i16)void);
  @export_name("forgets", fn()void);
  @export_name("timer_buf", [*]f32, true);
}
"""

PE = """
param memcpy_params: comptime_struct;
param is_last: bool;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
const timestamp = @import_module("<time>");
const debug = @import_module("<debug>", .{ .key = "my_trace", .buffer_size = 100 });

var tsc_start_buf = @zeros([timestamp.tsc_size_words]u16);
var tsc_end_buf = @zeros([timestamp.tsc_size_words]u16);
var timer_buf = @zeros([3]f32);
var ptr_timer_buf: [*]f32 = &timer_buf;
var calls: i16 = 0;

fn pack(low: u16, high: u16) f32 {
  return @bitcast(f32, (@as(u32, high) << @as(u16, 16)) | @as(u32, low));
}

fn fn_foo(rounds: i16) void {
  timestamp.enable_tsc();
  timestamp.get_timestamp(&tsc_start_buf);
  for (@range(i16, rounds)) |k| {
    calls += 1;
  }
  timestamp.get_timestamp(&tsc_end_buf);
  timestamp.disable_tsc();
  timer_buf[0] = pack(tsc_start_buf[0], tsc_start_buf[1]);
  timer_buf[1] = pack(tsc_start_buf[2], tsc_end_buf[0]);
  timer_buf[2] = pack(tsc_end_buf[1], tsc_end_buf[2]);
  debug.trace_timestamp();
  debug.trace_string("Bar");
  debug.trace_i16(1);
  sys_mod.unblock_cmd_stream();
}

fn forgets() void {
  if (is_last) {
    sys_mod.unblock_cmd_stream();
  }
}

comptime {
  @export_symbol(fn_foo);
  @export_symbol(forgets);
  @export_symbol(ptr_timer_buf, "timer_buf");
  @rpc(@get_data_task_id(sys_mod.LAUNCH));
}
"""

FLAGS = ("--arch=wse2", "--fabric-dims=10,3", "--fabric-offsets=4,1", "--memcpy", "--channels=1", "--params=width:3")


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The artifact of the program above on 3 x 1 PEs."""
    monkeypatch.chdir(tmp_path)
    Path("layout.csl").write_text(LAYOUT)
    Path("pe.csl").write_text(PE)
    assert loom.main(["cslc", "layout.csl", *FLAGS]) == 0
    return tmp_path / "out"


def start(bindir: Path) -> SdkRuntime:
    runner = SdkRuntime(bindir, suppress_simfab_trace=True)
    runner.load()
    runner.run()
    return runner


@pytest.mark.slow
def test_launch_and_time(compiled: Path) -> None:
    """HOST-028, HOST-055, HOST-058: an exported function, time stamps packed into three words, elapsed cycles."""
    runner = start(compiled)
    elapsed: list[list[int]] = []
    for rounds in (10, 100):
        runner.launch("fn_foo", np.int16(rounds), nonblock=False)
        data = np.zeros((3 * 3, 1), np.uint32)
        order, data_type = MemcpyOrder.ROW_MAJOR, MemcpyDataType.MEMCPY_32BIT
        options = {"streaming": False, "data_type": data_type, "order": order, "nonblock": False}
        runner.memcpy_d2h(data, runner.get_id("timer_buf"), 0, 0, 3, 1, 3, **options)
        words = data.view(np.float32).reshape((1, 3, 3))
        elapsed.append([int(calculate_cycles(words[0, x, :])) for x in range(3)])
    runner.stop()
    few, many = elapsed
    assert len(set(few)) == len(set(many)) == 1
    assert 10 < few[0] < many[0]
    assert 5 < many[0] / few[0] < 11
    assert_array_equal(debug_util(compiled).get_symbol(6, 1, "calls", np.int16), [110])


BYTES_LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
layout {
  @set_rectangle(2, 1);
  for (@range(i16, 2)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x) });
  }
  @export_name("bytes", [*]u8, true);
  @export_name("main", fn()void);
}
"""
BYTES_PE = """
param memcpy_params: comptime_struct;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
const pair = packed struct { low: u4, high: u4 };
var bytes = [8]u8{1, 2, 3, 4, 5, 6, 7, 8};
var pointer: [*]u8 = &bytes;
var flags = [3]bool{true, false, true};
var pairs = [3]pair{pair{ .low = 1, .high = 2 }, pair{ .low = 3, .high = 4 }, pair{ .low = 5, .high = 6 }};
fn main() void {
  for (@range(i16, 8)) |i| {
    bytes[i] += 1;
  }
  flags[1] = bytes[0] == 200;
  pairs[1].high += 1;
  sys_mod.unblock_cmd_stream();
}
comptime {
  @export_symbol(pointer, "bytes");
  @export_symbol(main);
}
"""


def test_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies move the 16- and 32-bit words that bytes are in; the debugger sees each byte."""
    monkeypatch.chdir(tmp_path)
    Path("layout.csl").write_text(BYTES_LAYOUT)
    Path("pe.csl").write_text(BYTES_PE)
    assert loom.main(["cslc", "layout.csl", *FLAGS[:-1]]) == 0
    runner = start(tmp_path / "out")
    symbol = runner.get_id("bytes")
    options = {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "nonblock": False}
    words = {"data_type": MemcpyDataType.MEMCPY_32BIT, **options}
    halves = {"data_type": MemcpyDataType.MEMCPY_16BIT, **options}
    data = np.zeros(4, np.uint32)
    runner.memcpy_d2h(data, symbol, 0, 0, 2, 1, 2, **words)
    assert data.view(np.uint8).tolist() == [*range(1, 9)] * 2
    runner.memcpy_h2d(symbol, np.array([0x0AC7, 0x0C0B], np.uint32), 1, 0, 1, 1, 2, **halves)
    runner.launch("main", nonblock=False)
    runner.memcpy_d2h(data, symbol, 0, 0, 2, 1, 2, **words)
    assert data.view(np.uint8).tolist() == [*range(2, 10), 200, 11, 12, 13, 6, 7, 8, 9]
    with pytest.raises(SdkError, match="5 elements of 16 bits does not fit 'bytes', which has 8 of 8 bits on each PE"):
        runner.memcpy_d2h(np.zeros(5, np.uint32), symbol, 0, 0, 1, 1, 5, **halves)
    runner.stop()
    found = debug_util(tmp_path / "out")
    assert_array_equal(found.get_symbol(5, 1, "bytes", np.uint8), [200, 11, 12, 13, 6, 7, 8, 9])
    assert_array_equal(found.get_symbol(5, 1, "flags", np.bool_), [True, True, True])
    assert_array_equal(found.get_symbol(4, 1, "flags", np.bool_), [True, False, True])
    assert_array_equal(found.get_symbol(4, 1, "pairs", np.uint8), [0x21, 0x53, 0x65])


def test_bytes_that_fill_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("layout.csl").write_text(BYTES_LAYOUT)
    Path("pe.csl").write_text(
        BYTES_PE.replace("[8]u8{1, 2, 3, 4, 5, 6, 7, 8}", "[6]u8{1, 2, 3, 4, 5, 6}").replace("i16, 8", "i16, 6")
    )
    assert loom.main(["cslc", "layout.csl", *FLAGS[:-1]]) == 0
    runner = start(tmp_path / "out")
    options = {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "nonblock": False}
    with pytest.raises(SdkError, match="words of 2 or 4 elements, and make the array's length a multiple of 4"):
        runner.memcpy_d2h(
            np.zeros(4, np.uint32),
            runner.get_id("bytes"),
            0,
            0,
            2,
            1,
            2,
            data_type=MemcpyDataType.MEMCPY_32BIT,
            **options,
        )


@pytest.mark.slow
def test_traces(compiled: Path) -> None:
    """HOST-082, HOST-083: what <debug> records, in its order."""
    runner = start(compiled)
    for _ in range(2):
        runner.launch("fn_foo", 3, nonblock=False)
    runner.stop()
    for x in range(3):
        first, *rest = debug_util(compiled).read_trace(4 + x, 1, "my_trace")
        assert rest[:2] == ["Bar", 1] and rest[3:] == ["Bar", 1]
        assert 0 < first < rest[2]


@pytest.mark.slow
def test_command_stream_never_unblocked(compiled: Path) -> None:
    """The function and the PEs that forgot it are named."""
    runner = start(compiled)
    runner.launch("forgets", nonblock=False)
    with pytest.raises(SdkError, match=r"launch of 'forgets' never completes: 2 PEs, \(0, 0\), \(1, 0\), never called"):
        runner.launch("forgets", nonblock=False)
    take_unstopped()


@pytest.mark.slow
def test_arguments(compiled: Path) -> None:
    """HOST-026: the types are those of the CSL source."""
    runner = start(compiled)
    with pytest.raises(SdkError, match=r"argument 1 of fn_foo\(i16\) is .*, but the function takes i16"):
        runner.launch("fn_foo", np.float32(1), nonblock=False)
    runner.stop()


@pytest.mark.slow
def test_fabric_too_small(compiled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert loom.main(["cslc", "layout.csl", *FLAGS, "--fabric-dims=9,3", "-o", "other"]) == 1
    assert "too small for the rectangle of 3 x 1 at offsets 4,1" in capsys.readouterr().err
    assert not Path("other").exists()


@pytest.mark.slow
def test_missing_parameter(compiled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert loom.main(["cslc", "layout.csl", *FLAGS[:-1], "-o", "other"]) == 1
    error = capsys.readouterr().err
    assert "layout.csl:" in error and "error: " in error and "width" in error
    assert not Path("other").exists()


@pytest.mark.slow
def test_function_that_some_pes_do_not_export(compiled: Path) -> None:
    """A launch reaches every PE, so every PE needs the function."""
    Path("pe.csl").write_text(PE.replace("@export_symbol(forgets);", "if (!is_last) { @export_symbol(forgets); }"))
    assert loom.main(["cslc", "layout.csl", *FLAGS, "-o", "partly"]) == 0
    runner = start(Path("partly"))
    with pytest.raises(SdkError, match=r"launch of 'forgets' never completes: PE \(2, 0\) does not export 'forgets'"):
        runner.launch("forgets", nonblock=False)
    take_unstopped()
