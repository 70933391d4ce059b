"""Arrays in .npy files: a header that lies, or says what is not an array of numbers, is one clear error."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.tools.loom import read_array


def npy(header: str, data: bytes = b"\0" * 64, version: tuple[int, int] = (1, 0)) -> bytes:
    """A file with any header."""
    text = header.encode("latin1").ljust(117) + b"\n"
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + data


def header(shape: str = "(4,)", descr: str = "'<f4'", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


WRONG = [
    (npy(header("(1 << 62,)")), "cannot be read as a .npy file"),
    (npy(header("(4611686018427387904,)")), "has a header of 18446744073709551616 bytes of elements, but 64 follow"),
    (npy(header("(9223372036854775808, 4)")), "but 64 follow; write it again"),
    (npy(header("(4294967296, 4294967296, 4294967296)")), "but 64 follow; write it again"),
    (npy(header("(17,)")), "has a header of 68 bytes of elements, but 64 follow"),
    (npy(header("(-4,)")), "has a header of shape (-4,), which no array has"),
    (npy(header(str((1,) * 33))), "which no array has"),
    (npy(header("(4.0,)")), "cannot be read as a .npy file"),
    (npy(header("'ab'")), "cannot be read as a .npy file"),
    (npy(header(descr="[('a', '<i4')]")), "holds elements of type [('a', '<i4')]; write an array"),
    (npy(header(descr="'|O'")), "holds elements of type object; write an array of numbers"),
    (npy(header(descr="('<f4', (2, 2))")), "holds elements of type ('<f4', (2, 2)); write an array of numbers"),
    (npy(header(descr="'nonsense'")), "cannot be read as a .npy file"),
    (npy(header(descr="'<f4', **{}")), "cannot be read as a .npy file"),
    (npy("__import__('os').system('false')"), "cannot be read as a .npy file"),
    (npy("(" * 100), "cannot be read as a .npy file"),
    (npy("[" * 9000, version=(2, 0)), "cannot be read as a .npy file"),
    (npy("{}"), "cannot be read as a .npy file"),
    (npy("\0" * 50), "cannot be read as a .npy file"),
    (npy(header())[:60], "cannot be read as a .npy file"),
    (npy(header())[:8], "cannot be read as a .npy file"),
    (npy(header(), version=(9, 9)), "cannot be read as a .npy file"),
    (b"\x93NUMPY", "cannot be read as a .npy file"),
    (b"", "is not a .npy file"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), WRONG)
def test_wrong_headers(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(LoomError) as caught:
        read_array(str(tmp_path / "x.npy"))
    assert caught.value.location == str(tmp_path / "x.npy") and message in caught.value.message
    assert "\n" not in str(caught.value)


def test_right_headers(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    for array in (
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.zeros((0, 3)),
        np.array(5),
        np.ones(3, ">i2"),
        np.ones(2, bool),
    ):
        np.save(path, array)
        np.testing.assert_array_equal(read_array(str(path)), array, strict=True)
    path.write_bytes(npy(header(), version=(2, 0)))
    np.testing.assert_array_equal(read_array(str(path)), np.zeros(4, np.float32), strict=True)


@pytest.mark.slow
def test_mutated_files(tmp_path: Path) -> None:
    """Whatever is changed in a file, it is an array of numbers or an error of ours."""
    path = tmp_path / "x.npy"
    np.save(path, np.arange(12, dtype=np.int32).reshape(3, 4))
    good = path.read_bytes()
    chance = random.Random(5)
    refused = 0
    for _ in range(600):
        content = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(80)
            content[place : place + chance.randint(0, 2)] = bytes(
                chance.choice(b"0123456789(){}[]',:<>=fiOVSUM\0\xff ") for _ in range(chance.randint(0, 3))
            )
        path.write_bytes(content)
        try:
            read_array(str(path))
        except LoomError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 300


PROGRAM = """\
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @x : memref<4xi32>
    wse.export @x
  }
}
"""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(4, [("a", "i4")]), "holds .*, not numbers"),
        (np.zeros(4, "V4"), "holds .*, not numbers"),
        (np.zeros(4, object), None),
        (np.array(["a"] * 4), "holds .*, not numbers"),
        (np.zeros(4, "M8[s]"), "holds .*, not numbers"),
        ([{}, 1, 2, 3], "holds object, not numbers"),
    ],
)
def test_values_from_python(value: object, message: str | None) -> None:
    simulator = loomir.Simulator(loomir.compile(PROGRAM))
    with pytest.raises(LoomError, match=message):
        simulator.set("x", value)  # pyright: ignore[reportArgumentType]
