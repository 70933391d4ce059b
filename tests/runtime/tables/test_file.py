"""Tables as files: what is written is read, and a damaged file is one error."""

from __future__ import annotations

import warnings
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.diagnostics.errors import LoomError
from loomir.runtime.tables.check import check
from loomir.runtime.tables.dump import dump
from loomir.runtime.tables.file import read, restamped, write
from loomir.runtime.tables.format import OF_CHIPS, SECTIONS

from ...searches import examples
from .programs import everything


def file() -> bytes:
    stream = BytesIO()
    write(everything(), stream)
    return stream.getvalue()


FILE = file()


def test_what_is_written_is_read() -> None:
    tables, found = everything(), read(FILE)
    assert found.strings == tables.strings
    assert list(found.sections) == list(SECTIONS)
    for name in SECTIONS:
        assert found[name].dtype == SECTIONS[name]
        assert found[name].tobytes() == tables[name].tobytes()
        assert len(tables[name]) or name in OF_CHIPS, f"the program has nothing in '{name}'"
    check(found)


def test_sections_are_views_at_multiples_of_16_bytes() -> None:
    whole = np.frombuffer(FILE, np.uint8)
    found = read(FILE)
    for name in SECTIONS:
        offset = found[name].__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        assert 0 < offset < len(FILE)
        assert offset % 16 == 0


def test_texts_of_any_kind_are_kept() -> None:
    tables = everything()
    strings = (*tables.strings, "naïve", "\ud800", "", "\0")
    stream = BytesIO()
    write(type(tables)(tables.sections, strings), stream)
    assert read(stream.getvalue()).strings == strings


DAMAGES = [
    (b"", "the file has 0 bytes, fewer than the header of tables"),
    (b"PK" + FILE[2:], "the file does not contain tables of a program"),
    (FILE[:8] + b"\1\2\3\4" + FILE[12:], "the tables are of version 04030201, and this loomir reads version"),
    (FILE[:-1], f"the tables are cut short: the file has {len(FILE) - 1} bytes of {len(FILE)}"),
    (FILE + b"\0", f"the tables are cut short: the file has {len(FILE) + 1} bytes of {len(FILE)}"),
    (FILE[:12] + b"\1" + FILE[13:], "the tables are damaged: their header has another checksum"),
    (FILE[:40] + b"\377" + FILE[41:], "the tables are damaged: their header has another checksum"),
    (FILE[:-40] + b"~" + FILE[-39:], "the tables are damaged: section 'string_bytes' has another checksum"),
]


@pytest.mark.parametrize(("data", "message"), DAMAGES, ids=[message for _, message in DAMAGES])
def test_a_damaged_file_is_one_error(data: bytes, message: str) -> None:
    with pytest.raises(LoomError) as caught:
        read(data, "out/program.tables")
    assert str(caught.value).startswith(f"out/program.tables: error: {message}")
    assert str(caught.value).endswith("; compile the program again")


@given(st.data())
@settings(max_examples=examples(300))
@pytest.mark.slow
def test_any_damage_is_one_error(data: st.DataObject) -> None:
    damaged = bytearray(FILE)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.one_of(st.integers(0, 200), st.integers(0, len(FILE) - 1)))
        damaged[place] ^= data.draw(st.integers(1, 255))
    end = data.draw(st.one_of(st.just(len(FILE)), st.integers(0, len(FILE))))
    try:
        found = read(bytes(damaged[:end]))
    except LoomError:
        return
    # Only what nobody reads has changed: zeros between sections.
    for name in SECTIONS:
        assert found[name].tobytes() == everything()[name].tobytes()


@given(st.data())
@settings(max_examples=examples(300))
def test_forged_bytes_are_tables_or_one_error(data: st.DataObject) -> None:
    forged = bytearray(FILE)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(24, len(FILE) - 1))
        forged[place] = data.draw(st.one_of(st.integers(0, 255), st.sampled_from([0, 1, 255])))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        try:
            found = read(restamped(bytes(forged)))
            check(found)
        except LoomError:
            return
    dump(found)
