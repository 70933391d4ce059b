"""sdk_utils: HOST-054 to HOST-069."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from loomir.host.sdk.conversions import calculate_cycles, input_array_to_u32, memcpy_view
from loomir.host.sdk.errors import SdkError


@pytest.mark.parametrize(
    ("start", "end", "words", "elapsed"),
    [
        ((1, 0, 0), (5, 1, 0), (0x1, 0x50000, 0x1), 65540),
        ((0xFFF0, 0xFFFF, 0), (0x10, 0, 1), (0xFFFFFFF0, 0x100000, 0x10000), 32),
        ((0, 0, 0), (0xFFFF, 0xFFFF, 0xFFFF), (0, 0xFFFF0000, 0xFFFFFFFF), (1 << 48) - 1),
    ],
)
def test_elapsed_cycles(start: tuple[int, ...], end: tuple[int, ...], words: tuple[int, ...], elapsed: int) -> None:
    """HOST-054, HOST-056, HOST-057: three words carry two time stamps of three 16-bit words each."""
    packed = (start[1] << 16 | start[0], end[0] << 16 | start[2], end[2] << 16 | end[1])
    assert packed == words
    buffer = np.array(words, np.uint32)
    for view in (buffer, buffer.view(np.float32), buffer.view(np.int32)):
        result = calculate_cycles(view)
        assert result == elapsed
        assert type(result) is np.int64


def test_elapsed_cycles_of_many() -> None:
    """HOST-058: three words of each PE, fetched as uint32, seen as float32 [height, width, 3]."""
    height, width = 2, 3
    data = np.zeros((width * height * 3, 1), np.uint32)
    for pe in range(width * height):
        data[3 * pe : 3 * pe + 3, 0] = (pe, (pe + 7) << 16, 0)
    words = data.view(np.float32).reshape((height, width, 3))
    for y in range(height):
        for x in range(width):
            assert calculate_cycles(words[y, x, :]) == 7


@pytest.mark.parametrize("wrong", [np.zeros(2, np.float32), np.zeros(3, np.float64), np.zeros(6, np.uint16)])
def test_no_time_stamps(wrong: np.ndarray) -> None:
    with pytest.raises(SdkError, match="calculate_cycles takes the 3 words of 32 bits"):
        calculate_cycles(wrong)


def test_widened_with_index() -> None:
    """HOST-059, HOST-062, HOST-063: with a sentinel, the place in the innermost dimension is in the upper half."""
    array = np.array([10, 20, 30, 40], np.uint16)
    words = input_array_to_u32(array, 0, 2)
    assert words.dtype == np.uint32
    assert_array_equal(words, [0x0000000A, 0x00010014, 0x0000001E, 0x00010028])
    assert_array_equal(input_array_to_u32(np_arr=array, sentinel=1, fast_dim_sz=3), [10, 0x10014, 0x2001E, 40])
    assert_array_equal(input_array_to_u32(arr=array.reshape(2, 2), sentinel=7, fast_dim_sz=2), words)


def test_widened_with_zeros() -> None:
    """HOST-061, HOST-063: without a sentinel the upper half is zero, for signed and real numbers too."""
    assert_array_equal(input_array_to_u32(np.array([10, 20, 30, 40], np.uint16), None, 2), [10, 20, 30, 40])
    assert_array_equal(input_array_to_u32(np.array([-1, 2], np.int16), None, 2), [0xFFFF, 2])
    assert_array_equal(input_array_to_u32(np.array([0.5], np.float16), None, 1), [0x3800])


def test_words_stay_as_they_are() -> None:
    """HOST-060: elements of 4 bytes keep their bits."""
    assert_array_equal(input_array_to_u32(np.array([1.0, -2.0], np.float32), None, 2), [0x3F800000, 0xC0000000])
    assert_array_equal(input_array_to_u32(np.array([-1], np.int32), 1, 1), [0xFFFFFFFF])


@pytest.mark.parametrize("wrong", [np.zeros(2, np.uint8), np.zeros(2, np.float64), np.zeros(2, np.complex64), None])
def test_no_words(wrong: Any) -> None:
    """HOST-060: elements of 1, 8 or 16 bytes are refused."""
    with pytest.raises(SdkError, match=r"input_array_to_u32 takes elements of 2 or 4 bytes|takes an array"):
        input_array_to_u32(wrong, None, 1)


@pytest.mark.parametrize("wrong", [0, -1, 1 << 17, None, True, 1.5])
def test_no_innermost_size(wrong: Any) -> None:
    with pytest.raises(SdkError, match=r"fast_dim_sz is .*; give the size of the innermost dimension"):
        input_array_to_u32(np.zeros(2, np.uint16), 1, wrong)


def test_view_of_the_low_half() -> None:
    """HOST-064, HOST-067, HOST-068, HOST-069: a view of 16 bits, as many as words; writing it changes the words."""
    container = np.zeros(5, np.uint32)
    x = memcpy_view(container, np.float16)
    assert x.dtype == np.float16 and x.shape == (5,)
    x.fill(0.5)
    assert_array_equal(container, np.full(5, 0x00003800))
    x[1::2] = -2.0
    assert_array_equal(container, [0x3800, 0xC000, 0x3800, 0xC000, 0x3800])
    container[0] = 0xABCD3C00
    assert x[0] == 1.0


def test_views_of_other_sizes() -> None:
    """HOST-066, HOST-067: 4 bytes show the whole word, 1 byte the lowest."""
    container = np.array([[0x11223344, 0x80FF00FF]], np.uint32)
    assert_array_equal(memcpy_view(container, np.uint8), [[0x44, 0xFF]])
    assert_array_equal(memcpy_view(container, np.dtype(np.int16)), [[0x3344, 0xFF]])
    whole = memcpy_view(container, np.int32)
    whole[0, 1] = 5
    assert container[0, 1] == 5


def test_view_of_a_view() -> None:
    """HOST-068: of an array of any shape and layout."""
    container = np.zeros((4, 6), np.float32)
    memcpy_view(container[::2, 1::2].T, np.int16)[...] = 3
    expected = np.zeros((4, 6), np.uint32)
    expected[::2, 1::2] = 3
    assert_array_equal(container.view(np.uint32), expected)


@pytest.mark.parametrize("wrong", [np.zeros(2, np.uint16), np.zeros(2), [1, 2]])
def test_no_container(wrong: Any) -> None:
    """HOST-065: elements of 4 bytes only."""
    with pytest.raises(SdkError, match="memcpy_view takes a numpy array with elements of 4 bytes, not"):
        memcpy_view(wrong, np.int16)


def test_no_view() -> None:
    """HOST-066: no elements of 8 bytes."""
    with pytest.raises(SdkError, match="memcpy_view shows elements of 1, 2 or 4 bytes, not float64 of 8"):
        memcpy_view(np.zeros(2, np.uint32), np.float64)
