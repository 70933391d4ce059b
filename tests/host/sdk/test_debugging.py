"""debug_util: symbols and traces of a stopped run (HOST-070 to HOST-083)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from loomir.host.sdk import core, trace_records
from loomir.host.sdk.debugging import debug_util
from loomir.host.sdk.errors import SdkError
from loomir.host.sdk.runtime import MemcpyDataType, MemcpyOrder, SdkRuntime


@pytest.fixture(params=["same process", "core file"])
def stopped(start: Callable[[], SdkRuntime], grid: Path, request: pytest.FixtureRequest) -> Path:
    """An artifact whose run has stopped; PE (x, y) holds 100 y + 10 x + k in wide[k]."""
    runner = start()
    wide = (np.arange(2)[:, None, None] * 100 + np.arange(3)[:, None] * 10 + np.arange(5)).astype(np.uint32)
    runner.memcpy_h2d(runner.get_id("wide"), wide.ravel(), 0, 0, 3, 2, 5, streaming=False, order=MemcpyOrder.ROW_MAJOR,
                      data_type=MemcpyDataType.MEMCPY_32BIT, nonblock=False)  # fmt: skip
    runner.stop()
    if request.param == "core file":
        core._held.clear()
        core._kept.clear()
    return grid


@pytest.mark.slow
def test_symbols(stopped: Path) -> None:
    """HOST-070, HOST-075, HOST-076, HOST-077: PE (px, py) of the program is at column 4 + px and row 1 + py."""
    for bindir in (stopped, str(stopped)):
        found = debug_util(bindir)
        for y in range(2):
            for x in range(3):
                values = found.get_symbol(4 + x, 1 + y, "wide", np.uint32)
                assert_array_equal(values, 100 * y + 10 * x + np.arange(5))
                assert values.dtype == np.uint32


def test_symbols_that_are_not_exported(stopped: Path) -> None:
    """HOST-071: any symbol by its name in the source, of the PE's file or one it imports."""
    found = debug_util(stopped)
    assert_array_equal(found.get_symbol(5, 2, "hidden", np.int16), [7, 7, 7])
    assert_array_equal(found.get_symbol(5, 2, "hidden_too", np.float32), [2.5])
    assert_array_equal(found.get_symbol(5, 2, "real", np.dtype(np.float32)), np.zeros(6))
    with pytest.raises(SdkError, match="'hidden' has 6 bytes, which is not a multiple of the size of float32"):
        found.get_symbol(5, 2, "hidden", np.float32)


def test_missing_symbol(stopped: Path) -> None:
    """HOST-072, HOST-073: symbol and PE are named, and the two usual causes."""
    message = (
        r"PE P5\.2 of the fabric has no symbol 'gone'; either the coordinates are wrong \(the program starts at P4\.1 "
        r"and is 3 x 2 PEs\), or the compiler has removed the symbol: export it to keep it"
    )
    with pytest.raises(SdkError, match=message):
        debug_util(stopped).get_symbol(5, 2, "gone", np.int16)


@pytest.mark.parametrize("place", [(0, 0), (3, 1), (7, 1), (4, 3), (4, 0)])
def test_pe_outside_the_program(stopped: Path, place: tuple[int, int]) -> None:
    """HOST-077: coordinates count from the corner of the fabric."""
    message = rf"PE P{place[0]}\.{place[1]} of the fabric is not in the program, which has P4\.1 to P6\.2"
    with pytest.raises(SdkError, match=message):
        debug_util(stopped).get_symbol(*place, "wide", np.uint32)
    with pytest.raises(SdkError, match=message):
        debug_util(stopped).read_trace(*place, "my_trace")


def test_no_wafer(grid: Path) -> None:
    """HOST-074: simulator runs only."""
    debug_util(grid, cmaddr="")
    with pytest.raises(SdkError, match="a wafer's address; leave it out: loom runs programs on its own simulator only"):
        debug_util(grid, cmaddr="1.2.3.4:9000")


def test_rectangles(stopped: Path) -> None:
    """HOST-078, HOST-079, HOST-080: many PEs at once, [column, row, value] relative to the rectangle."""
    found = debug_util(stopped)
    result = found.get_symbol_rect(((4, 1), (3, 2)), "wide", np.uint32)
    assert result.shape == (3, 2, 5)
    assert_array_equal(result[1, 0], found.get_symbol(5, 1, "wide", np.uint32))
    for x in range(3):
        for y in range(2):
            assert_array_equal(result[x, y], 100 * y + 10 * x + np.arange(5))
    for wrong in ((4, 1, 3, 2), ((4, 1), (3,)), "ab", ((4, 1), (1.5, 2))):
        with pytest.raises(SdkError, match="is not a rectangle; give"):
            found.get_symbol_rect(wrong, "wide", np.uint32)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SdkError, match="contains no PE"):
        found.get_symbol_rect(((4, 1), (0, 2)), "wide", np.uint32)


def test_traces(stopped: Path) -> None:
    """HOST-081, HOST-083: the values in the order recorded, of mixed types."""
    assert debug_util(stopped).read_trace(4, 1, "my_trace") == [65552, "Bar", 1]
    with pytest.raises(SdkError, match=r"PE P4\.1 of the fabric has no trace buffer 'yours'; it has: 'my_trace'"):
        debug_util(stopped).read_trace(4, 1, "yours")


def test_before_any_run(grid: Path) -> None:
    with pytest.raises(SdkError, match=r"contains no core; run the program and call stop\(\) before"):
        debug_util(grid).get_symbol(4, 1, "wide", np.uint32)


@pytest.mark.parametrize("bindir", [None, 3])
def test_no_bindir(bindir: Any) -> None:
    """HOST-070: str or Path."""
    with pytest.raises(SdkError, match=r"give a str or pathlib.Path"):
        debug_util(bindir)


def test_no_artifact(tmp_path: Path) -> None:
    with pytest.raises(SdkError, match="does not exist"):
        debug_util(tmp_path / "missing")


def test_every_kind_of_record() -> None:
    words = [
        1, 0x1111, 0x2222, 0x3333,  # time stamp
        2 | 2 << 8, 0x6968,  # "hi"
        2,  # ""
        3, 40,  # "abc", by address
        4, 1, 4, 0,
        5, 0xFFFF, 5, 0x00FE, 6, 0x00FF,
        7, 0x8000, 8, 0x8000,
        9, 0xFFFF, 0xFFFF, 10, 0xFFFF, 0xFFFF,
        11, 0x3800, 12, 0, 0x3F80, 13, 0x3F80,
        14, 5, 15, 1, 1, 16, 0x5900,
    ]  # fmt: skip
    memory = np.zeros(64, np.uint16)
    memory[40:43] = (3, 0x6261, 0x63)
    buffer = np.array([len(words), 3, *words, 0, 0], np.uint16)
    values, dropped = trace_records.decode(buffer, memory, "trace buffer 't'")
    assert values == [
        0x333322221111, "hi", "", "abc", True, False, -1, -2, 255, -32768, 32768, -1, 0xFFFFFFFF, 0.5, 1.0,
        1.0, 5, 65537, 6.0,
    ]  # fmt: skip
    assert [type(value) for value in values[4:6]] == [bool, bool]
    assert dropped == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([9, 0, 1, 2, 3], "it says 9 words, but has room for 3"),
        ([2, 0, 10, 1], "its last record is truncated"),
        ([2, 0, 2 | 9 << 8, 0x6161], "its last record is truncated"),
        ([1, 0, 99], "word 2 holds 0x0063, which is not a record"),
    ],
)
def test_damaged_traces(words: list[int], message: str) -> None:
    with pytest.raises(SdkError, match=f"trace buffer 't' is damaged: {message}"):
        trace_records.decode(np.array(words, np.uint16), np.zeros(8, np.uint16), "trace buffer 't'")


def test_full_traces(stopped: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_records, "decode", lambda *arguments: ([1], 4))
    assert debug_util(stopped).read_trace(4, 1, "my_trace") == [1]
    assert "trace buffer 'my_trace' of PE P4.1 was full: 4 values were not recorded" in capsys.readouterr().err
