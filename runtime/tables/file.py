"""Tables as a file: a header, a table of sections, and the sections, contiguous.

    magic        8 bytes
    version      u32, changes with the records and instructions
    sections     u32, how many there are
    size         u64, bytes of the whole file
    of each section: record size u32, checksum (CRC-32) u32, records u64, offset u64
    checksum     u32 of all above, padded to 16 bytes

Sections are those of `format.SECTIONS` in their order, then offsets and bytes of the strings (UTF-8); each begins at a
multiple of 16 bytes. Numbers are little-endian. A file that reads well may still be forged: see `check`.
"""

from __future__ import annotations

import itertools
from hashlib import sha256
from typing import IO, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.errors import LoomError
from ...targets.model import LEVELS
from . import instructions
from .format import SECTIONS, Tables

MAGIC = b"LoomTabl"

_ALIGNMENT = 16

_HEADER = np.dtype([("magic", "S8"), ("version", "<u4"), ("sections", "<u4"), ("size", "<u8")])
_ENTRY = np.dtype([("record", "<u4"), ("checksum", "<u4"), ("count", "<u8"), ("offset", "<u8")])

_STORED: dict[str, np.dtype[Any]] = {**SECTIONS, "string_ends": np.dtype("<u4"), "string_bytes": np.dtype("u1")}

_AGAIN = "compile the program again"


def _version() -> int:
    """Return a number that changes with the records of the sections, and with what numbers in them mean."""
    layout = [(name, np.lib.format.dtype_to_descr(dtype)) for name, dtype in _STORED.items()]
    return int.from_bytes(sha256(repr((instructions.VERSION, LEVELS, layout)).encode()).digest()[:4], "little")


VERSION = _version()


def write(tables: Tables, stream: IO[bytes]) -> None:
    """Write tables to a binary stream."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in tables.strings]
    arrays: dict[str, NDArray[Any]] = {
        **tables.sections,
        "string_ends": np.cumsum([len(text) for text in encoded], dtype="<u4"),
        "string_bytes": np.frombuffer(b"".join(encoded), np.uint8),
    }
    pieces: list[bytes] = []
    entries = np.zeros(len(_STORED), _ENTRY)
    offset = start = _padded(_HEADER.itemsize + entries.nbytes + 4)
    for place, (name, dtype) in enumerate(_STORED.items()):
        data = np.ascontiguousarray(arrays[name], dtype).tobytes()
        entries[place] = dtype.itemsize, crc32(data), len(arrays[name]), offset
        pieces.append(data.ljust(_padded(len(data)), b"\0"))
        offset += len(pieces[-1])
    header = np.array([(MAGIC, VERSION, len(_STORED), offset)], _HEADER).tobytes() + entries.tobytes()
    stream.write((header + crc32(header).to_bytes(4, "little")).ljust(start, b"\0"))
    for piece in pieces:
        stream.write(piece)


def read(data: bytes | bytearray | memoryview, name: str | None = None) -> Tables:
    """Return the tables in the bytes of a file, as views of them; `name` is the file's, for errors.

    Raises LoomError for bytes that are not tables, of another version, cut short or damaged.
    """

    def refuse(what: str) -> LoomError:
        return LoomError(f"{what}; {_AGAIN}", name)

    size = len(data)
    if size < _HEADER.itemsize:
        raise refuse(f"the file has {size} bytes, fewer than the header of tables")
    header = np.frombuffer(data, _HEADER, 1)[0]
    if header["magic"] != MAGIC:
        raise refuse("the file does not contain tables of a program")
    version = int(header["version"])
    if version != VERSION:
        raise refuse(f"the tables are of version {version:08x}, and this loomir reads version {VERSION:08x}")
    if int(header["size"]) != size:
        raise refuse(f"the tables are cut short: the file has {size} bytes of {int(header['size'])}")
    start = _HEADER.itemsize + len(_STORED) * _ENTRY.itemsize
    if (
        size < start + 4
        or int(header["sections"]) != len(_STORED)
        or (crc32(memoryview(data)[:start]) != int.from_bytes(bytes(data[start : start + 4]), "little"))
    ):
        raise refuse("the tables are damaged: their header has another checksum")
    arrays: dict[str, NDArray[Any]] = {}
    end = _padded(start + 4)
    for entry, (section, dtype) in zip(np.frombuffer(data, _ENTRY, len(_STORED), _HEADER.itemsize), _STORED.items(),
                                       strict=True):  # fmt: skip
        record, checksum, count, offset = (int(field) for field in entry)
        length = record * count
        if record != dtype.itemsize or offset != end or offset + length > size:
            raise refuse(f"the tables are damaged: section '{section}' is not where it should be")
        if crc32(memoryview(data)[offset : offset + length]) != checksum:
            raise refuse(f"the tables are damaged: section '{section}' has another checksum")
        arrays[section] = np.frombuffer(data, dtype, count, offset)
        end = offset + _padded(length)
    if end != size:
        raise refuse(f"the tables are damaged: {size - end} bytes follow the last section")
    strings = _strings(arrays.pop("string_ends"), arrays.pop("string_bytes"))
    if strings is None:
        raise refuse("the tables are damaged: their strings are not UTF-8")
    return Tables(arrays, strings)


def restamped(data: bytes) -> bytes:
    """Return a file with the checksums and the size that it should have, for tests of what is forged."""
    size, first = len(data), _HEADER.itemsize
    start = first + len(_STORED) * _ENTRY.itemsize
    if size < start + 4:
        return data
    changed = bytearray(data)
    header = np.frombuffer(changed, _HEADER, 1)
    header["magic"], header["version"], header["sections"], header["size"] = MAGIC, VERSION, len(_STORED), size
    for entry in np.frombuffer(changed, _ENTRY, len(_STORED), first):
        offset, length = int(entry["offset"]), int(entry["record"]) * int(entry["count"])
        entry["checksum"] = crc32(memoryview(changed)[offset : offset + length]) if offset + length <= size else 0
    changed[start : start + 4] = crc32(memoryview(changed)[:start]).to_bytes(4, "little")
    return bytes(changed)


def _strings(ends: NDArray[np.uint32], text: NDArray[np.uint8]) -> tuple[str, ...] | None:
    """Return the strings, None if they are not contiguous strings."""
    starts = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    if (np.diff(starts) < 0).any() or starts[-1] != len(text):
        return None
    encoded = text.tobytes()
    bounds: list[int] = starts.tolist()
    try:
        return tuple(encoded[low:high].decode("utf-8", "surrogatepass") for low, high in itertools.pairwise(bounds))
    except UnicodeDecodeError:
        return None


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
