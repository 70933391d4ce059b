"""Output files are put in place all together or not at all."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from loomir import LoomError
from loomir.tools.outputs import Outputs

PROGRAM = Path(__file__).parents[2] / "examples" / "pto" / "rows_split.pto"


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


def test_partial_files_cannot_be_guessed(tmp_path: Path) -> None:
    """Two runs of one process name them differently, and nobody else may read what is written for a pipe."""
    names: set[str] = set()
    for _ in range(2):
        with Outputs() as outputs:
            outputs.open(tmp_path / "file")
            (partial,) = tmp_path.glob(".*")
            names.add(partial.name)
            assert str(os.getpid()) not in partial.name
        (tmp_path / "file").unlink()
    assert len(names) == 2
    assert all(len(name) > 20 for name in names)


def test_partial_files_follow_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the name is guessed: the file is created exclusively, under another name if that is taken."""
    victim = tmp_path / "victim"
    victim.write_text("of somebody else")
    guesses = iter([b"guessed", b"guessed", b"free"])
    monkeypatch.setattr("loomir.host.output_files.os.urandom", lambda _: next(guesses))
    (tmp_path / f".loom-{b'guessed'.hex()}.partial").symlink_to(victim)
    with Outputs() as outputs:
        outputs.open(tmp_path / "file").write(b"new")
    assert victim.read_text() == "of somebody else" and (tmp_path / "file").read_bytes() == b"new"
    assert not (tmp_path / "file").is_symlink() and next(guesses, None) is None


def test_modes_are_those_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with Outputs() as outputs:
            outputs.open(tmp_path / "file")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Let SIGINT be an interrupt, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_while_files_are_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are there, and then the interrupt is heard."""
    replace = os.replace

    def interrupted(source: Path, target: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        replace(source, target)

    monkeypatch.setattr("loomir.tools.outputs.os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt), Outputs() as outputs:
        outputs.open(tmp_path / "first").write(b"new")
        outputs.open(tmp_path / "second").write(b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_before_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Outputs() as outputs:
        outputs.open(tmp_path / "first").write(b"new")
        signal.raise_signal(signal.SIGINT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_closed_standard_streams() -> None:
    """A tool whose stdin or stdout is closed works, or says what is wrong; no file takes the place of a stream."""
    tool = f"{shlex.quote(sys.executable)} -m loomir.tools.loom pto check"
    for command, status, said in (
        (f"{tool} - <&-", 1, "stdin: 1 error"),
        (f"{tool} --arch a2a3 {shlex.quote(str(PROGRAM))} >&-", 0, ""),
        (f"{tool} --arch a2a3 {shlex.quote(str(PROGRAM))} 2>&-", 0, "nothing found"),
    ):
        ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (status, "") and said in ended.stdout
