"""The directory that the compiler writes, and where programs fit on the fabric."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loomir.diagnostics.errors import LoomError
from loomir.diagnostics.locations import location_of
from loomir.host.sdk import artifact
from loomir.host.sdk.placement import FabricPlacement

from .programs import PLACEMENT, grid_layout, write_grid

FILES = {"out.json", "loom.json", "program.flow.mlir", "program.tables", "program.wse.mlir"}
"""Those of an artifact."""


@pytest.mark.slow
def test_what_is_written_is_read(grid: Path) -> None:
    """HOST-004: sizes, symbols and where buffers are come from the directory."""
    found = artifact.read(grid)
    assert (found.arch, found.rectangle, found.placement) == ("wse3", (3, 2), PLACEMENT)
    assert [str(export) for export in found.exports[:2]] == ["wide: [*]u32", "real: [*]f32"]
    take = next(export for export in found.exports if export.name == "take")
    assert (take.kind, take.arguments, str(take)) == ("function", ("i16", "f32"), "take(i16, f32)")
    [cell] = found.classes
    assert cell.has(2, 1) and not cell.has(3, 0)
    assert cell.buffers["hidden"].shape == (3,) and cell.buffers["hidden"].element == "i16"


def test_out_json(grid: Path) -> None:
    """What host scripts read: parameters and colors."""
    assert json.loads((grid / "out.json").read_text()) == {"params": {"size": 5}, "colors": {"into": 4}}


@pytest.mark.slow
def test_places_in_the_source_survive(grid: Path) -> None:
    """Tables know where in the source operations come from, though the text does not say it."""
    artifact.write(grid, layout := grid_layout(), "wse3", PLACEMENT)
    lowered = {str(location_of(op)) for op in layout.module.walk()}
    tables = artifact.read_tables(artifact.read(grid))
    assert tables is not None
    found = {text for text in tables.strings if text.startswith("grid.csl:")}
    assert found <= lowered and len(found) > 10


@pytest.mark.slow
def test_text_that_was_changed(grid: Path) -> None:
    """It is what runs, verified, and its places are its own."""
    text = grid / "program.flow.mlir"
    lines = text.read_text().splitlines(keepends=True)
    text.write_text("// changed\n" + "".join(lines))
    module = artifact.read_program(artifact.read(grid))
    assert location_of(module) == f"{text}:2:1"
    number, line = next((number, line) for number, line in enumerate(lines) if "flow.buffer" in line)
    text.write_text("".join([*lines[:number], line, *lines[number:]]))
    with pytest.raises(LoomError, match=rf"^{text}:\d+:5: error: Redefinition of symbol"):
        artifact.read_program(artifact.read(grid))


@pytest.mark.slow
def test_whole_directory(tmp_path: Path) -> None:
    """Directories on the way are made; nothing else is left."""
    write_grid(tmp_path / "deeper" / "out")
    assert {path.name for path in (tmp_path / "deeper" / "out").iterdir()} == FILES
    assert [path.name for path in (tmp_path / "deeper").iterdir()] == ["out"]


@pytest.mark.slow
def test_directory_that_exists(tmp_path: Path) -> None:
    """Other files in it stay; the core of an earlier run goes."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    (out / "core.npz").write_text("old")
    (out / "out.json").write_text("old")
    write_grid(out)
    assert {path.name for path in out.iterdir()} == {*FILES, "mine.txt"}
    assert "size" in (out / "out.json").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_nothing_is_written_after_an_error(tmp_path: Path) -> None:
    layout = grid_layout()
    with pytest.raises(LoomError, match="too small"):
        artifact.write(tmp_path / "out", layout, "wse3", FabricPlacement((9, 4), (4, 1), memcpy=True))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(LoomError, match="exists and is not a directory; name another output with -o"):
        write_grid(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"
    with pytest.raises(LoomError, match="cannot be written: "):
        write_grid(tmp_path / "out" / "deeper")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_directory_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(LoomError, match="cannot be written: Permission denied"):
        write_grid(tmp_path / "out")


FITS = FabricPlacement((10, 4), (4, 1), memcpy=True)


@pytest.mark.parametrize(
    ("placement", "message"),
    [
        (FITS, None),
        (FabricPlacement((9, 4), (4, 1), memcpy=True), "--fabric-dims=10,4"),
        (FabricPlacement((10, 3), (4, 1), memcpy=True), "--fabric-dims=10,4"),
        (FabricPlacement((20, 20), (3, 1), memcpy=True), "--fabric-offsets=4,1"),
        (FabricPlacement((20, 20), (4, 0), memcpy=True), "--fabric-offsets=4,1"),
        (FabricPlacement((10, 4), (5, 1), memcpy=True), "--fabric-dims=11,4"),
        (FabricPlacement((13, 4), (6, 1), memcpy=True, west_buffer=2, east_buffer=1), None),
        (FabricPlacement((12, 4), (6, 1), memcpy=True, west_buffer=2, east_buffer=1), "--fabric-dims=13,4"),
        (FabricPlacement((20, 9), (5, 1), memcpy=True, west_buffer=2), "--fabric-offsets=6,1"),
        (FabricPlacement((3, 2), (0, 0)), None),
        (FabricPlacement((3, 2), (1, 0)), "--fabric-dims=4,2"),
    ],
)
def test_fabric(placement: FabricPlacement, message: str | None) -> None:
    """Three columns west and two east, a halo of one PE, and the buffers asked for."""
    if message is None:
        placement.check((3, 2))
        return
    with pytest.raises(LoomError, match=f"give at least {message}$"):
        placement.check((3, 2))


# What was edited


def reseal(grid: Path, found: object) -> None:
    """Writes loom.json with the digest that it would have, had it been written so."""
    if isinstance(found, dict) and "digest" in found:
        found["digest"] = artifact._digest_of(found)  # pyright: ignore[reportPrivateUsage]
    (grid / "loom.json").write_text(json.dumps(found))


VALUES = [None, True, -1, 0, 1 << 70, 2.5, float("nan"), float("inf"), "\x1b[31m", [[]], {}]


def places(found: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Where there is something in a description, outermost first; of a list or a table the first two."""
    items = list(found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ())
    if isinstance(found, list) or path[-1:] == ("buffers",):
        items = items[:2]
    inner = [place for key, value in items for place in places(value, (*path, key))]
    return [path, *inner] if path else inner


def refused(grid: Path) -> bool:
    """Whether the description is refused; an error is one line that says what to do."""
    try:
        artifact.read(grid)
    except LoomError as error:
        assert "compile the program again" in error.message and str(error).isprintable(), str(error)
        return True
    return False


@pytest.mark.slow
def test_edited_descriptions(grid: Path) -> None:
    """Every field missing, and of every other kind: refused, with a digest that fits or without."""
    good = json.loads((grid / "loom.json").read_text())
    accepted: list[str] = []
    for path in [path for path in places(good) if path != ("digest",)]:
        for value in [KeyError, *VALUES]:
            found = json.loads(json.dumps(good))
            holder = found
            for key in path[:-1]:
                holder = holder[key]
            if holder[path[-1]] == value and type(holder[path[-1]]) is type(value):
                continue
            if value is KeyError:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            (grid / "loom.json").write_text(json.dumps(found))
            assert refused(grid), (path, value)
            reseal(grid, found)
            if not refused(grid):
                accepted.append(f"{'.'.join(map(str, path))} = {value!r}")
    # Only what is of the right kind passes, where the digest says that it was meant so.
    assert not [line for line in accepted if line.endswith(("nan", "inf", "2.5", str(1 << 70), "-1", "[[]]"))]
    assert not [line for line in accepted if line.startswith(("rectangle", "arch", "format", "digests ="))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "it is nested too deeply"),
        ('{"a":' * 100_000, "it is nested too deeply"),
        ("[]", "it is not an object"),
        ("", "Expecting value"),
        ("\0", "Expecting value"),
        ("9" * 5000, "Exceeds the limit"),
    ],
)
def test_descriptions_that_are_none(grid: Path, text: str, message: str) -> None:
    (grid / "loom.json").write_text(text)
    with pytest.raises(LoomError, match=rf"loom.json cannot be read \(.*{message}.*\); compile the program again"):
        artifact.read(grid)


def test_bytes_that_are_no_text(grid: Path) -> None:
    (grid / "loom.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(LoomError, match=r"loom\.json cannot be read"):
        artifact.read(grid)


def test_a_field_is_named(grid: Path) -> None:
    for change, message in (
        ({"rectangle": [3, 2, 1]}, "'rectangle' is not a list of 2 numbers"),
        ({"rectangle": [3, 0]}, "'rectangle' is not a whole number from 1 to"),
        ({"arch": "../../x"}, "'arch' is '../../x'"),
        ({"placement": 3}, "'placement' is not an object"),
        ({"digests": {}}, "'program.flow.mlir' is missing"),
        ({"exports": [{"kind": "task"}]}, "'kind' is 'task'"),
        ({"rectangle": [4, 2]}, "it was changed"),
    ):
        good = json.loads((grid / "loom.json").read_text())
        (grid / "loom.json").write_text(json.dumps(good | change))
        with pytest.raises(LoomError) as caught:
            artifact.read(grid)
        assert caught.value.message == f"loom.json cannot be read ({message}); compile the program again" or (
            message in caught.value.message
        )
        (grid / "loom.json").write_text(json.dumps(good))


def test_a_directory_of_the_name_of_a_file(grid: Path) -> None:
    """Nothing is put in place where not all of it can be."""
    before = (grid / "loom.json").read_bytes()
    (grid / "out.json").unlink()
    (grid / "out.json").mkdir()
    with pytest.raises(LoomError, match=r"out.json: error: exists and is a directory; remove it"):
        write_grid(grid)
    assert (grid / "loom.json").read_bytes() == before and not list(grid.parent.glob(".loom-*"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY", None])
def test_a_core_that_is_damaged(grid: Path, content: bytes | None) -> None:
    import numpy as np

    from loomir.host.sdk import core

    path = grid / "core.npz"
    if content is None:
        np.savez(path, name_0=np.array("other"), words_0=np.zeros((1, 4)), positions_0=np.zeros((1, 2), int))
    else:
        path.write_bytes(content)
    with pytest.raises(LoomError, match=r"core.npz: error: the core cannot be read \(.*\); run the program again"):
        core.find(artifact.read(grid))
