"""Output files are put in place all together or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from loomir import LoomError
from loomir.tools.outputs import Outputs


def test_all_or_nothing(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"old")
    with pytest.raises(KeyError), Outputs() as outputs:
        outputs.open(first).write(b"new")
        outputs.open(second).write(b"new")
        raise KeyError
    assert first.read_bytes() == b"old" and list(tmp_path.iterdir()) == [first]
    with Outputs() as outputs:
        outputs.open(first).write(b"new")
        outputs.open(second).write(b"new too")
        assert first.read_bytes() == b"old" and not second.exists()
    assert first.read_bytes() == b"new" and second.read_bytes() == b"new too"
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_one_file_for_two_outputs(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(LoomError, match="two outputs"), Outputs() as outputs:
        outputs.open(tmp_path / "file")
        outputs.open(tmp_path / "link")
    assert not (tmp_path / "file").exists()


def test_a_link_keeps_pointing_at_the_result(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with Outputs() as outputs:
        outputs.open(tmp_path / "link").write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"


def test_a_pipe_is_written_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with Outputs() as outputs:
        outputs.open(pipe).write(b"new")
    reader.join(5)
    assert received == [b"new"] and pipe.is_fifo()


def test_names_that_cannot_be_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "file", "zero\0byte", tmp_path / ("long" * 100)):
        with pytest.raises(LoomError, match="cannot be written"), Outputs() as outputs:
            outputs.open(path)
