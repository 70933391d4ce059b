"""memcpy_h2d and memcpy_d2h, copies and streams (HOST-033 to HOST-053)."""

from __future__ import annotations

import enum
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import loomir
from loomir.host.sdk import tensors
from loomir.host.sdk.errors import SdkError
from loomir.host.sdk.runtime import MemcpyDataType, MemcpyOrder, SdkRuntime, Task

from .programs import INTO, OUT_OF

ROW, COLUMN = MemcpyOrder.ROW_MAJOR, MemcpyOrder.COL_MAJOR
HALF, WHOLE = MemcpyDataType.MEMCPY_16BIT, MemcpyDataType.MEMCPY_32BIT


def options(order: MemcpyOrder = ROW, data_type: MemcpyDataType = WHOLE, **more: Any) -> dict[str, Any]:
    return {"streaming": False, "data_type": data_type, "order": order, "nonblock": False, **more}


def position(y: int, x: int, k: int, shape: tuple[int, int, int], order: MemcpyOrder) -> int:
    """Where the manual puts A[y][x][k]."""
    h, w, length = shape
    return (y * w + x) * length + k if order is ROW else y + h * (x + w * k)


def test_positions() -> None:
    """HOST-039, HOST-049: the flat position of an element in both orders."""
    shape = (2, 3, 2)
    assert position(1, 2, 1, shape, ROW) == position(1, 2, 1, shape, COLUMN) == 11
    assert position(0, 0, 1, shape, ROW) == 1 and position(0, 0, 1, shape, COLUMN) == 6
    flat = np.arange(12, dtype=np.uint32)
    for order in (ROW, COLUMN):
        tensor = tensors.unpack(flat, shape, order is COLUMN)
        back = np.zeros(12, np.uint32)
        tensors.pack(tensor, back, order is COLUMN)
        assert_array_equal(back, flat)
        for y in range(2):
            for x in range(3):
                for k in range(2):
                    assert tensor[y, x, k] == position(y, x, k, shape, order)


@pytest.mark.parametrize("order", [ROW, COLUMN])
def test_copies(running: SdkRuntime, order: MemcpyOrder) -> None:
    """HOST-033, HOST-034, HOST-035, HOST-051, HOST-053: a tensor goes in, another comes back into the same array."""
    tensor = np.arange(36, dtype=np.float32).reshape(2, 3, 6)
    data = (tensor if order is ROW else tensor.T).flatten()
    given = data.copy()
    real = running.get_id("real")
    assert isinstance(running.memcpy_h2d(real, data, 0, 0, 3, 2, 6, **options(order)), Task)
    running.launch("double", nonblock=False)
    assert isinstance(running.memcpy_d2h(data, real, 0, 0, 3, 2, 6, **options(order)), Task)
    assert_array_equal(data, 2 * given)
    other = COLUMN if order is ROW else ROW
    running.memcpy_d2h(data, real, 0, 0, 3, 2, 6, **options(other))
    assert_array_equal(data, 2 * (tensor.T.ravel() if order is ROW else tensor.ravel()))


def test_region(running: SdkRuntime) -> None:
    """HOST-036: w columns and h rows from column px and row py; the others are left alone."""
    wide = running.get_id("wide")
    data = np.arange(1, 11, dtype=np.uint32)
    running.memcpy_h2d(wide, data, 1, 0, 1, 2, 5, **options())
    everything = np.zeros(30, np.uint32)
    running.memcpy_d2h(everything, wide, 0, 0, 3, 2, 5, **options())
    expected = np.zeros((2, 3, 5))
    expected[:, 1] = data.reshape(2, 5)
    assert_array_equal(everything.reshape(2, 3, 5), expected)
    part = np.zeros(4, np.int32)
    running.memcpy_d2h(part, wide, 1, 1, 2, 1, 2, **options())
    assert_array_equal(part, [6, 7, 0, 0])


@pytest.mark.parametrize(
    "region", [(0, 0, 4, 2), (3, 0, 1, 1), (-1, 0, 1, 1), (0, 1, 1, 2), (0, 0, 0, 1), (0, 0, 1, -1)]
)
def test_region_outside(running: SdkRuntime, region: tuple[int, int, int, int]) -> None:
    """HOST-037: a region that leaves the rectangle."""
    x, y, w, h = region
    message = f"the region px={x}, py={y}, w={w}, h={h} is not inside the program's rectangle of 3 x 2 PEs"
    data = np.zeros(8, np.uint32)
    with pytest.raises(SdkError, match=f"memcpy_h2d: {message}"):
        running.memcpy_h2d(running.get_id("wide"), data, *region, 1, **options())
    with pytest.raises(SdkError, match=f"memcpy_d2h: {message}"):
        running.memcpy_d2h(data, running.get_id("wide"), *region, 1, **options())


def test_region_of_no_numbers(running: SdkRuntime) -> None:
    with pytest.raises(SdkError, match="px, py, w, h and elem_per_pe are whole numbers, not"):
        running.memcpy_h2d(0, np.zeros(1, np.uint32), 0, 0, 1.5, 1, 1, **options())  # pyright: ignore[reportArgumentType]
    with pytest.raises(SdkError, match="elem_per_pe is 0; give at least 1"):
        running.memcpy_h2d(0, np.zeros(0, np.uint32), 0, 0, 1, 1, 0, **options())
    running.memcpy_h2d(0, np.zeros(1, np.uint32), np.int32(0), np.uint16(0), 1, 1, np.int64(1), **options())  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("symbol", [99, -1])
def test_no_symbol(running: SdkRuntime, symbol: int) -> None:
    """HOST-038: copies take the id of a symbol."""
    with pytest.raises(SdkError, match=f"no symbol has the id {symbol}; give the int that get_id returns"):
        running.memcpy_h2d(symbol, np.zeros(1, np.uint32), 0, 0, 1, 1, 1, **options())
    with pytest.raises(SdkError, match="'wide' is not a symbol id; give the int that get_id returns"):
        running.memcpy_d2h(np.zeros(1, np.uint32), "wide", 0, 0, 1, 1, 1, **options())  # pyright: ignore[reportArgumentType]
    with pytest.raises(SdkError, match="'double' is a function; give the id of an exported array"):
        running.memcpy_d2h(np.zeros(1, np.uint32), running.get_id("double"), 0, 0, 1, 1, 1, **options())


@pytest.mark.parametrize("elements", [35, 6])
def test_size_of_the_array(running: SdkRuntime, elements: int) -> None:
    """HOST-040: the array holds as many elements as the region."""
    message = f"has {elements} elements, but the region needs h x w x elem_per_pe = 2 x 3 x 6 = 36"
    data = np.zeros(elements, np.float32)
    with pytest.raises(SdkError, match=f"memcpy_h2d: src {message}"):
        running.memcpy_h2d(running.get_id("real"), data, 0, 0, 3, 2, 6, **options())
    with pytest.raises(SdkError, match=f"memcpy_d2h: dest {message}"):
        running.memcpy_d2h(data, running.get_id("real"), 0, 0, 3, 2, 6, **options())


@pytest.mark.parametrize("order", [ROW, COLUMN])
def test_an_array_longer_than_the_region(
    running: SdkRuntime, order: MemcpyOrder, capsys: pytest.CaptureFixture[str]
) -> None:
    """HOST-040: the first elements are taken, with one warning for each line; what is fetched has to fit exactly."""
    real = running.get_id("real")
    data, fetched = np.arange(40, dtype=np.float32), np.zeros(36, np.float32)
    for _ in range(2):
        running.memcpy_h2d(real, data[1:], 0, 0, 3, 2, 6, **options(order))
    running.memcpy_d2h(fetched, real, 0, 0, 3, 2, 6, **options(order))
    assert_array_equal(fetched, data[1:37])
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning.startswith("warning: memcpy_h2d at test_memcpy.py:")
    assert "src has 39 elements, of which the region takes the first h x w x elem_per_pe = 2 x 3 x 6 = 36" in warning
    with pytest.raises(SdkError, match="memcpy_d2h: dest has 40 elements, but the region needs"):
        running.memcpy_d2h(data, real, 0, 0, 3, 2, 6, **options(order))


def test_halves(running: SdkRuntime) -> None:
    """HOST-041, HOST-044, HOST-046, HOST-052: k elements of 16 bits are k words, zero in the upper half."""
    values = (np.arange(24) * 1000 + 40000).astype(np.uint16)
    narrow = running.get_id("narrow")
    running.memcpy_h2d(narrow, values.astype(np.uint32), 0, 0, 3, 2, 4, **options(data_type=HALF))
    out = np.full(24, 0xDEADBEEF, np.uint32)
    running.memcpy_d2h(out, narrow, 0, 0, 3, 2, 4, **options(COLUMN, HALF))
    assert_array_equal(out.reshape(4, 3, 2).T, values.reshape(2, 3, 4))
    half = np.array([0.5, -1.0, 2.0, 3.0], np.float16)
    running.memcpy_h2d(running.get_id("half"), half.view(np.uint16).astype(np.int32), 2, 1, 1, 1, 4,
                       **options(data_type=HALF))  # fmt: skip
    back = np.zeros(4, np.uint32)
    running.memcpy_d2h(back, running.get_id("half"), 2, 1, 1, 1, 4, **options(data_type=HALF))
    assert_array_equal(back.astype(np.uint16).view(np.float16), half)


@pytest.mark.parametrize("dtype", [np.float16, np.int16, np.uint8, np.float64, np.int64, np.complex64, object])
def test_elements_of_the_array(running: SdkRuntime, dtype: Any) -> None:
    """HOST-042, HOST-043: 32 bits; the user widens what is narrower."""
    data = np.zeros(5, dtype)
    with pytest.raises(SdkError, match=r"src holds .*, but memcpy moves 32-bit elements; (widen|convert)"):
        running.memcpy_h2d(running.get_id("wide"), data, 0, 0, 1, 1, 5, **options())
    with pytest.raises(SdkError, match=r"dest holds .*, but memcpy moves 32-bit elements; (widen|convert)"):
        running.memcpy_d2h(data, running.get_id("wide"), 0, 0, 1, 1, 5, **options())


def test_no_array(running: SdkRuntime) -> None:
    with pytest.raises(SdkError, match="src is list, not a numpy array"):
        running.memcpy_h2d(0, [1], 0, 0, 1, 1, 1, **options())  # pyright: ignore[reportArgumentType]


def test_upper_halves_in_use(running: SdkRuntime, capsys: pytest.CaptureFixture[str]) -> None:
    """HOST-045: the first word of 16-bit data that has bits in its upper half is reported; the bits are dropped."""
    data = np.zeros(12, np.uint32)
    data[position(1, 0, 1, (2, 3, 2), COLUMN)] = 0x10001
    narrow = running.get_id("narrow")
    running.memcpy_h2d(narrow, data, 0, 0, 3, 2, 2, **options(COLUMN, HALF))
    message = "warning: memcpy_h2d: src for 'narrow' holds 0x00010001 for PE (0, 1) of the region, element 1: with"
    assert message in capsys.readouterr().err
    back = np.zeros(12, np.uint32)
    running.memcpy_d2h(back, narrow, 0, 0, 3, 2, 2, **options(COLUMN, HALF))
    assert_array_equal(back, data & 0xFFFF)


def test_streams(running: SdkRuntime) -> None:
    """HOST-035, HOST-038, HOST-047: streaming takes a color; data_type has no effect and may be left out."""
    data = np.arange(24, dtype=np.float32)
    out = np.zeros((24, 1), np.float32)
    running.launch("echo", nonblock=False)
    running.memcpy_h2d(INTO, data, 0, 0, 3, 2, 4, **options(streaming=True, data_type=HALF))
    running.memcpy_d2h(out, OUT_OF, 0, 0, 3, 2, 4, streaming=True, order=COLUMN, nonblock=False)
    assert_array_equal(out.reshape(4, 3, 2).T, data.reshape(2, 3, 4) + 0.5)
    running.stop()


def test_stream_that_nobody_reads(running: SdkRuntime, capsys: pytest.CaptureFixture[str]) -> None:
    """HOST-050: a call that blocks waits until all have left the host; what memcpy's own PEs hold is not documented.

    Input queue 2 holds 4, the link to it and that from the column before 4 each.
    """
    room, later = options(streaming=True), options(streaming=True, nonblock=True)
    running.memcpy_h2d(INTO, np.arange(8, dtype=np.uint32), 0, 0, 1, 1, 8, **room)
    running.memcpy_h2d(INTO, np.arange(12, dtype=np.uint32), 1, 0, 1, 1, 12, **room)
    assert not capsys.readouterr().err
    task = running.memcpy_h2d(INTO, np.arange(1, dtype=np.uint32), 1, 0, 1, 1, 1, **later)
    assert running.is_task_done(task) and not capsys.readouterr().err
    running.memcpy_h2d(INTO, np.arange(2, dtype=np.uint32), 1, 0, 1, 1, 2, **room)
    warning = capsys.readouterr().err
    assert warning.startswith(
        "warning: memcpy_h2d to color 4: PE (1, 0) does not go on, and 3 of the wavelets for it find no room on the "
    )
    assert "memcpy's own PEs" in warning and "pass nonblock=True, or start what takes them before" in warning
    running.launch("echo", nonblock=False)
    running.memcpy_h2d(INTO, np.arange(4, dtype=np.uint32), 0, 0, 1, 1, 4, **room)
    running.stop()


def held(running: SdkRuntime, column: int) -> int:
    """Return how many wavelets the way to a PE holds: its queue, the links, and memcpy's columns as is assumed."""
    target = running._machine.machine.target
    link = target.timing.link_words
    memcpy_pe = target.input_queue_words[0] + target.output_queue_words[0] + link
    return target.input_queue_words[2] + (1 + column) * link + 3 * memcpy_pe


@pytest.mark.parametrize("column", [0, 2])
def test_a_blocking_stream_that_nobody_takes_never_completes(running: SdkRuntime, column: int) -> None:
    """HOST-050: without room on the way for all wavelets, the host waits for ever."""
    count = held(running, column)
    send = options(streaming=True)
    running.memcpy_h2d(INTO, np.zeros(count, np.uint32), column, 1, 1, 1, count, **send)
    message = (
        rf"^error: memcpy_h2d to color 4 never completes: PE \({column}, 1\) does not go on, and {3 * 20 + 1} of the "
        "wavelets for it find no room on the way there; pass nonblock=True, or start what takes them before"
    )
    with pytest.raises(SdkError, match=message) as caught:
        running.memcpy_h2d(INTO, np.zeros(1, np.uint32), column, 1, 1, 1, 1, **send)
    assert isinstance(caught.value, loomir.Deadlock) and caught.value.silent == ((column, 1),)


def test_streams_without_blocking_complete_one_behind_the_other(running: SdkRuntime) -> None:
    """HOST-029, HOST-050: a call is done when its own wavelets have left the host, whatever is sent behind them."""
    later = options(streaming=True, nonblock=True)
    more = held(running, 0) - 60 + 4
    first = running.memcpy_h2d(INTO, np.zeros(60, np.float32), 0, 0, 1, 1, 60, **later)
    second = running.memcpy_h2d(INTO, np.zeros(more, np.float32), 0, 0, 1, 1, more, **later)
    assert running.is_task_done(first) and not running.is_task_done(second)
    running.launch("echo", nonblock=False)
    assert running.is_task_done(second)
    out = np.zeros(4, np.float32)
    running.memcpy_d2h(out, OUT_OF, 0, 0, 1, 1, 4, **options(streaming=True))
    assert_array_equal(out, 4 * [0.5])
    running.stop()


def test_stop_waits_for_a_stream_that_nobody_takes(running: SdkRuntime) -> None:
    """HOST-018: all transfers complete before the machine stops; this one never does."""
    running.memcpy_h2d(INTO, np.zeros(200, np.uint32), 0, 0, 1, 1, 200, **options(streaming=True, nonblock=True))
    message = (
        r"memcpy_h2d to color 4 never completes: PE \(0, 0\) .* no room on the way there; let it take them, or send"
    )
    with pytest.raises(SdkError, match=message):
        running.stop()


def test_receive_given_before_send(running: SdkRuntime) -> None:
    """HOST-050: a transfer not waited for takes what a later one makes the program send; in order for a color."""
    first, second = np.zeros(3, np.float32), np.zeros(1, np.float32)
    running.launch("echo", nonblock=False)
    later = options(streaming=True, nonblock=True)
    running.memcpy_d2h(first, OUT_OF, 0, 0, 1, 1, 3, **later)
    task = running.memcpy_d2h(second, OUT_OF, 0, 0, 1, 1, 1, **later)
    assert not running.is_task_done(task)
    running.memcpy_h2d(INTO, np.arange(4, dtype=np.float32), 0, 0, 1, 1, 4, **options(streaming=True))
    running.task_wait(task)
    assert_array_equal(first, [0.5, 1.5, 2.5])
    assert second == 3.5
    running.stop()


def test_receive_that_never_completes(running: SdkRuntime) -> None:
    out = np.zeros(12, np.float32)
    message = (
        r"memcpy_d2h of color 5 asks for 2 wavelets of each PE, but PE \(0, 0\) has sent 0, and 5 other PEs have sent "
        "too few; ask for 0, or let it send 2$"
    )
    with pytest.raises(SdkError, match=message) as caught:
        running.memcpy_d2h(out, OUT_OF, 0, 0, 3, 2, 2, **options(streaming=True))
    assert isinstance(caught.value, loomir.Deadlock)
    assert (len(caught.value.silent), caught.value.missing, caught.value.starved) == (6, 12, ())


def test_receive_of_more_than_is_sent(running: SdkRuntime) -> None:
    """The program has sent all it was to: memcpy_d2h asks for too much."""
    running.launch("echo", nonblock=False)
    running.memcpy_h2d(INTO, np.arange(24, dtype=np.float32), 0, 0, 3, 2, 4, **options(streaming=True))
    message = r"memcpy_d2h of color 5 asks for 5 wavelets of each PE, but PE \(0, 0\) has sent 4, .* ask for 4, or let"
    with pytest.raises(loomir.Deadlock, match=message) as caught:
        running.memcpy_d2h(np.zeros(30, np.float32), OUT_OF, 0, 0, 3, 2, 5, **options(streaming=True))
    assert caught.value.missing == 6


def test_a_stream_that_is_too_short_is_blamed_on_who_sends(running: SdkRuntime) -> None:
    """The program waits for more than memcpy_h2d has sent, which is why memcpy_d2h gets too little."""
    running.launch("echo", nonblock=False)
    running.memcpy_h2d(INTO, np.arange(24, dtype=np.float32), 0, 0, 3, 2, 4, **options(streaming=True))
    running.launch("echo", nonblock=False)
    running.memcpy_h2d(INTO, np.arange(18, dtype=np.float32), 0, 0, 3, 2, 3, **options(streaming=True))
    line = sys._getframe().f_lineno - 1
    message = (
        rf"memcpy_h2d to color 4 \(test_memcpy.py:{line}\) is too short: PE \(0, 0\) has been sent 7 wavelets in 2 "
        r"calls, this the last, and waits for 1 more; send 8\nmemcpy_d2h of color 5 asks for 8 wavelets"
    )
    with pytest.raises(loomir.Deadlock, match=message) as caught:
        running.memcpy_d2h(np.zeros(48, np.float32), OUT_OF, 0, 0, 3, 2, 8, **options(streaming=True))
    assert {(one.place, one.sent, one.missing) for one in caught.value.starved} == {
        ((x, y), 7, 1) for x in range(3) for y in range(2)
    }


def test_a_launch_that_lacks_wavelets_of_the_host(running: SdkRuntime) -> None:
    running.memcpy_h2d(INTO, np.arange(2, dtype=np.float32), 1, 1, 1, 1, 2, **options(streaming=True))
    running.memcpy_h2d(INTO, np.arange(2, dtype=np.float32), 0, 0, 2, 1, 1, **options(streaming=True))
    with pytest.raises(loomir.Deadlock) as caught:
        running.launch("wait", nonblock=False)
    first, second, *_ = str(caught.value).splitlines()
    assert "memcpy_h2d to color 4 (test_memcpy.py:" in first
    assert first.endswith("PE (0, 0) has been sent 1 wavelet and waits for 1 more; send 2")
    assert second.startswith("launch of 'wait' never completes: 5 PEs, (0, 0), (1, 0), (2, 0), (0, 1), (2, 1), never")


def test_a_launch_to_which_nothing_is_sent(running: SdkRuntime) -> None:
    with pytest.raises(loomir.Deadlock) as caught:
        running.launch("wait", nonblock=False)
    last = str(caught.value).splitlines()[-1]
    assert last == (
        "  no memcpy_h2d has sent to color 4, and PE (0, 0) waits for 2 of its wavelets; send 2 to each PE that "
        "reads it"
    )


@pytest.mark.parametrize("color", [7, 23])
def test_no_streaming_color(running: SdkRuntime, color: int) -> None:
    with pytest.raises(SdkError, match=f"color {color} does not stream .* the host; .*: "):
        running.memcpy_h2d(color, np.zeros(1, np.uint32), 0, 0, 1, 1, 1, **options(streaming=True))


def test_streaming_color_of_the_other_way(running: SdkRuntime) -> None:
    with pytest.raises(SdkError, match=r"color 5 does not stream from the host; .*: 4"):
        running.memcpy_h2d(OUT_OF, np.zeros(1, np.uint32), 0, 0, 1, 1, 1, **options(streaming=True))
    with pytest.raises(SdkError, match="'x' is not a color"):
        running.memcpy_h2d("x", np.zeros(1, np.uint32), 0, 0, 1, 1, 1, **options(streaming=True))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", [MemcpyDataType, MemcpyOrder])
def test_enumerations(kind: type[enum.Enum]) -> None:
    """HOST-046, HOST-048, HOST-052, HOST-053: enumerations of two values."""
    names = {MemcpyDataType: {"MEMCPY_16BIT", "MEMCPY_32BIT"}, MemcpyOrder: {"ROW_MAJOR", "COL_MAJOR"}}
    assert issubclass(kind, enum.Enum)
    assert set(kind.__members__) == names[kind]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": None}, r"order is missing; pass order=MemcpyOrder.ROW_MAJOR or MemcpyOrder.COL_MAJOR"),
        ({"data_type": None}, "data_type is missing; pass data_type=MemcpyDataType.MEMCPY_16BIT or"),
        ({"order": "ROW_MAJOR"}, "order is 'ROW_MAJOR'; give MemcpyOrder.ROW_MAJOR or"),
        ({"data_type": 32}, "data_type is 32; give MemcpyDataType.MEMCPY_16BIT or"),
        ({"ordr": ROW}, "unknown argument 'ordr'; the arguments are streaming, data_type, order, nonblock"),
    ],
)
def test_options(running: SdkRuntime, change: dict[str, Any], message: str) -> None:
    """HOST-046, HOST-048: what is missing or wrong is told."""
    given = {key: value for key, value in {**options(), **change}.items() if value is not None}
    with pytest.raises(SdkError, match=f"memcpy_h2d: {message}"):
        running.memcpy_h2d(0, np.zeros(1, np.uint32), 0, 0, 1, 1, 1, **given)


def test_results_are_in_place(running: SdkRuntime) -> None:
    """HOST-034: whatever view of memory the caller hands over, it is filled."""
    running.memcpy_h2d(running.get_id("wide"), np.arange(30, dtype=np.int32), 0, 0, 3, 2, 5, **options())
    owner = np.zeros((2, 3, 5), np.float32)
    running.memcpy_d2h(owner.ravel(), running.get_id("wide"), 0, 0, 3, 2, 5, **options())
    assert_array_equal(owner.view(np.int32).ravel(), np.arange(30))
    spaced = np.zeros((30, 2), np.uint32)
    running.memcpy_d2h(spaced[:, 0], running.get_id("wide"), 0, 0, 3, 2, 5, **options())
    assert_array_equal(spaced, np.stack([np.arange(30), np.zeros(30)], 1))
    frozen = np.zeros(30, np.uint32)
    frozen.flags.writeable = False
    with pytest.raises(SdkError, match="dest is read-only; give an array that can be written"):
        running.memcpy_d2h(frozen, running.get_id("wide"), 0, 0, 3, 2, 5, **options())


def test_read_only_symbol(running: SdkRuntime) -> None:
    with pytest.raises(SdkError, match="memcpy_h2d: 'fixed' is exported read-only; pass true as third argument"):
        running.memcpy_h2d(running.get_id("fixed"), np.zeros(2, np.float32), 0, 0, 1, 1, 2, **options())


@pytest.mark.parametrize("order", [ROW, COLUMN])
def test_broadcasts(running: SdkRuntime, order: MemcpyOrder) -> None:
    """One column for all columns of the region, or one row for all rows."""
    wide = running.get_id("wide")
    everything = np.zeros(30, np.uint32)
    column = np.arange(10, dtype=np.uint32).reshape(2, 1, 5)
    flat = column.ravel() if order is ROW else column.T.ravel()
    running.memcpy_h2d_rowbcast(wide, flat, 0, 0, 3, 2, 5, **options(order))
    running.memcpy_d2h(everything, wide, 0, 0, 3, 2, 5, **options())
    assert_array_equal(everything.reshape(2, 3, 5), np.broadcast_to(column, (2, 3, 5)))
    row = np.arange(10, 20, dtype=np.uint32).reshape(1, 2, 5)
    flat = row.ravel() if order is ROW else row.T.ravel()
    running.memcpy_h2d_colbcast(wide, flat, 1, 0, 2, 2, 5, **options(order))
    running.memcpy_d2h(everything, wide, 0, 0, 3, 2, 5, **options())
    assert_array_equal(everything.reshape(2, 3, 5)[:, 1:], np.broadcast_to(row, (2, 2, 5)))
    with pytest.raises(SdkError, match="memcpy_h2d_rowbcast: src has 9 elements, but the region needs h x 1 x elem_"):
        running.memcpy_h2d_rowbcast(wide, everything.reshape(-1)[:9], 0, 0, 3, 2, 5, **options())


def test_more_than_there_is(running: SdkRuntime, capsys: pytest.CaptureFixture[str]) -> None:
    """Writing behind an array is refused; reading there is done, as the machine does, but told."""
    data = np.zeros(6, np.uint32)
    with pytest.raises(SdkError, match="6 elements do not fit in 'wide', which has 5 on each PE; correct elem_per_pe"):
        running.memcpy_h2d(running.get_id("wide"), data, 0, 0, 1, 1, 6, **options())


def test_reading_behind(running: SdkRuntime, capsys: pytest.CaptureFixture[str]) -> None:
    data = np.full(6, 9, np.uint32)
    running.memcpy_d2h(data, running.get_id("wide"), 0, 0, 1, 1, 6, **options())
    assert_array_equal(data[:5], np.zeros(5))
    assert "memcpy_d2h reads 6 elements of 'wide', which has 5" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["narrow", "pointed", "half"])
def test_wide_copy_of_narrow_elements(running: SdkRuntime, name: str) -> None:
    """The data type forgotten for 16-bit elements."""
    data = np.zeros(4, np.uint32)
    message = (
        f"a copy of 4 elements of 32 bits does not fit '{name}', which has 4 of 16 bits on each PE; pass data_type="
    )
    with pytest.raises(SdkError, match=message):
        running.memcpy_d2h(data, running.get_id(name), 0, 0, 1, 1, 4, **options())


def test_a_word_with_the_end_of_an_array(running: SdkRuntime, capsys: pytest.CaptureFixture[str]) -> None:
    """A wide copy of one narrow element reads the word that it is in, with a warning; the copy to it is refused."""
    single = running.get_id("single")
    running.memcpy_h2d(single, np.array([7], np.uint32), 1, 1, 1, 1, 1, **options(data_type=HALF))
    word = np.zeros(1, np.uint32)
    running.memcpy_d2h(word, single, 1, 1, 1, 1, 1, **options())
    assert word[0] & 0xFFFF == 7
    said = capsys.readouterr().err
    assert "which has 1 of 16 bits; the rest is the memory behind it; pass data_type=MemcpyDataType.MEMCPY_16" in said
    with pytest.raises(SdkError, match="a copy of 1 elements of 32 bits does not fit 'single'"):
        running.memcpy_h2d(single, word, 1, 1, 1, 1, 1, **options())


def test_words_of_narrow_elements(running: SdkRuntime) -> None:
    """Memory is flat: 32-bit words of an array of 16-bit elements are pairs of them, the first in the low half."""
    narrow = running.get_id("narrow")
    running.memcpy_h2d(narrow, np.array([1, 2, 3, 4], np.uint32), 1, 1, 1, 1, 4, **options(data_type=HALF))
    words = np.zeros(2, np.uint32)
    running.memcpy_d2h(words, narrow, 1, 1, 1, 1, 2, **options())
    assert_array_equal(words, [0x20001, 0x40003])


def test_pointers(running: SdkRuntime) -> None:
    """An exported pointer stands for what it points to."""
    running.memcpy_h2d(
        running.get_id("pointed"), np.arange(4, dtype=np.uint32), 2, 0, 1, 1, 4, **options(data_type=HALF)
    )
    out = np.zeros(4, np.uint32)
    running.memcpy_d2h(out, running.get_id("narrow"), 2, 0, 1, 1, 4, **options(data_type=HALF))
    assert_array_equal(out, np.arange(4))


def stuck(running: SdkRuntime) -> None:
    """PEs in the middle of a task: the function is over for the host, and receives what nobody has sent."""
    with pytest.raises(loomir.Deadlock, match="launch of 'wait' never completes"):
        running.launch("wait", nonblock=False)
    running._failed = None


def test_copies_wait_for_tasks_to_end(running: SdkRuntime) -> None:
    """A PE in the middle of a task takes part in no copy: the call never returns, unless a stream frees the PE."""
    stuck(running)
    data = np.zeros(6, np.float32)
    message = (
        r"memcpy_d2h of 'real' never completes: PE \(1, 0\) is in the middle of a task, and takes part in a copy only "
        "when that has ended; copy before it starts, or let it end"
    )
    with pytest.raises(loomir.Deadlock, match=message) as caught:
        running.memcpy_d2h(data, running.get_id("real"), 1, 0, 1, 1, 6, **options())
    assert caught.value.silent == ((1, 0),) and len(caught.value.starved) == 6
    running._failed = None
    with pytest.raises(
        loomir.Deadlock, match=r"memcpy_h2d to 'real' never completes: PE \(0, 0\) and 5 other PEs are in"
    ):
        running.memcpy_h2d(running.get_id("real"), np.zeros(36, np.float32), 0, 0, 3, 2, 6, **options())
    running._failed = None
    # Copies in the background keep their order, and come to pass once the stream is there.
    real = running.get_id("real")
    running.memcpy_d2h(data, real, 1, 0, 1, 1, 6, **options(nonblock=True))
    running.memcpy_h2d(real, np.full(6, 9, np.float32), 1, 0, 1, 1, 6, **options(nonblock=True))
    running.memcpy_h2d(INTO, np.arange(1, 13, dtype=np.float32), 0, 0, 3, 2, 2, **options(streaming=True))
    running.stop()
    assert data.tolist() == [3, 4, 0, 0, 0, 0]
    assert running.read_symbol(1, 0, "real", np.float32).tolist() == [9] * 6
