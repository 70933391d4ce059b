"""Where the files of a program are looked for, in which order, and what is said of those that are nowhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import loomir
from loomir.diagnostics.errors import LoomError

from .harness import ONE_TILE, Csl, pes

SHOW = "comptime { @comptime_print(m.n); }"


def shown(csl: Csl, name: str, **options: Any) -> list[str]:
    """Return what the module of a name says of itself."""
    csl.pe(f'const m = @import_module("{name}");\n{SHOW}', **options)
    return csl.printed


@pytest.fixture(autouse=True)
def _start(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the compiler in an empty directory, without a search path."""
    (csl.directory / "start").mkdir()
    monkeypatch.chdir(csl.directory / "start")
    monkeypatch.delenv("CSL_IMPORT_PATH", raising=False)


@pytest.mark.parametrize("name", ["<own/lib>", "<own/lib.csl>"])
def test_names_in_angled_brackets(csl: Csl, name: str) -> None:
    csl.write({"paths/own/lib.csl": "const n = 7;", "code/own/lib.csl": "const n = 1;"})
    assert shown(csl, name, import_paths=(csl.directory / "paths",)) == ["7"]


def test_the_search_path_goes_before_the_libraries(csl: Csl) -> None:
    csl.write({"paths/math.csl": "const n = 8;"})
    assert shown(csl, "<math>", import_paths=(csl.directory / "paths",)) == ["8"]


def test_libraries_that_are_not_provided_yet_can_be(csl: Csl) -> None:
    csl.write({"paths/collectives_2d/pe.csl": "const n = 9;"})
    assert shown(csl, "<collectives_2d/pe>", import_paths=(csl.directory / "paths",)) == ["9"]


def test_code_of_tiles_in_the_search_path(csl: Csl) -> None:
    csl.write({"paths/own/code.csl": "comptime { @comptime_print(11); }"})
    csl.layout(ONE_TILE.replace('"pe.csl"', '"<own/code>"'), import_paths=[str(csl.directory / "paths")])
    assert csl.printed == ["11"]


def test_values_in_the_search_path(csl: Csl) -> None:
    csl.write({"paths/values.json": "[4, 5]"})
    text = 'const v = @import_comptime_value([2]u16, "values.json");\ncomptime { @comptime_print(v[1]); }'
    csl.pe(text, import_paths=(csl.directory / "paths",))
    assert csl.printed == ["5"]


def test_order(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the importer, then the flags in their order, then the environment in its, then where it started."""
    places = ["code", "first", "second", "third", "fourth", "start"]
    csl.write({f"{place}/lib.csl": f"const n = {number};" for number, place in enumerate(places)})
    csl.write({"code/pe.csl": f'const m = @import_module("lib.csl");\n{SHOW}'})
    monkeypatch.setenv("CSL_IMPORT_PATH", f"{csl.directory}/third:{csl.directory / 'fourth'}")
    options: dict[str, Any] = {"import_paths": (csl.directory / "first", csl.directory / "second")}
    layout = ONE_TILE.replace('"pe.csl"', '"code/pe.csl"')
    for number, place in enumerate(places):
        compiled = csl.layout(layout, **options)
        assert csl.printed == [str(number)]
        assert [warning for warning in compiled.warnings if "cslc was started" in warning] == (
            compiled.warnings if place == "start" else []
        )
        (csl.directory / place / "lib.csl").unlink()
    with pytest.raises(LoomError) as caught:
        csl.layout(layout, **options)
    at = csl.directory
    assert caught.value.location == f"{at}/code/pe.csl:1:26"
    assert caught.value.message == (
        f"there is no file 'lib.csl' in {at}/code (beside this file), {at}/first (--import-path), "
        f"{at}/second (--import-path), {at}/third (CSL_IMPORT_PATH), {at}/fourth (CSL_IMPORT_PATH) or . (where cslc "
        "was started); check the path, which is relative to this file"
    )


def test_a_file_where_the_compiler_was_started_is_a_warning(csl: Csl) -> None:
    csl.write({"start/lib.csl": "const n = 3;"})
    compiled = csl.pe(f'const m = @import_module("lib.csl");\n{SHOW}')
    assert csl.printed == ["3"]
    assert compiled.warnings == [
        f"{csl.directory}/pe.csl:1:26: warning: 'lib.csl' is found where cslc was started, not beside this file, where "
        "the language looks for it; write the path from this file, or give --import-path=."
    ]
    csl.write({"start/tile.csl": "comptime { @comptime_print(12); }"})
    compiled = csl.layout(ONE_TILE.replace('"pe.csl"', '"tile.csl"'))
    assert csl.printed == ["12"] and ":4:24: warning: 'tile.csl' is found where" in compiled.warnings[0]


def test_a_directory_of_the_environment_that_is_none(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CSL_IMPORT_PATH", "::nowhere:")
    assert csl.pe("").warnings == [
        "nowhere: warning: CSL_IMPORT_PATH contains this, which is not a directory; correct the variable"
    ]
    with pytest.raises(LoomError, match="nowhere: error: is not a directory and cannot be searched for modules"):
        csl.pe("", import_paths=("nowhere",))


def test_a_library_that_is_nowhere_says_where_it_was_looked_for(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CSL_IMPORT_PATH", str(csl.directory / "start"))
    where = f"there is no library <own>, and none in {csl.directory}/start (CSL_IMPORT_PATH); there are: <"
    csl.refuses('const m = @import_module(«"<own>"»);', where)


@pytest.mark.parametrize("name", ["<../outside>", "</etc/hostname>", "<own/../../outside>", "<./lib>", "<own//lib>"])
def test_brackets_name_nothing_outside_of_the_search_path(csl: Csl, name: str) -> None:
    csl.write({"outside.csl": "const n = 1;", "paths/own/lib.csl": "const n = 1;", "paths/lib.csl": "const n = 1;"})
    message = f"there is no library {name}; a name in angled brackets has no '.', '..' or empty part"
    csl.refuses(f'const m = @import_module(«"{name}"»);', message, import_paths=(csl.directory / "paths",))


@pytest.mark.parametrize("name", ["", "a\\x00b", "a\\nb.csl", ".", "start", "/dev/zero"])
def test_names_that_cannot_be_files(csl: Csl, name: str) -> None:
    message = "is not a file name" if "\\" in name or not name else "there is no file"
    csl.refuses(f'const m = @import_module(«"{name}"»);', message)


@pytest.mark.parametrize("name", ["n" * 300, "d/" * 3000])
def test_names_too_long_for_the_system(csl: Csl, name: str) -> None:
    with pytest.raises(LoomError, match=r"pe\.csl:1:26: error: there is no file '(n|d/)+' in "):
        csl.pe(f'const m = @import_module("{name}");\ncomptime {{ _ = m; }}')


# Links


def test_imports_through_links(csl: Csl) -> None:
    """What a linked file imports is beside the link, or else beside the file itself."""
    csl.write(
        {"real/lib.csl": 'const near = @import_module("near.csl");\nconst n = near.n;', "real/near.csl": "const n = 4;"}
    )
    (csl.directory / "lib.csl").symlink_to("real/lib.csl")
    assert shown(csl, "lib.csl") == ["4"]
    csl.write({"near.csl": "const n = 5;"})
    assert shown(csl, "lib.csl") == ["5"]


def test_circles_through_links_and_other_paths(csl: Csl) -> None:
    csl.write({"a.csl": 'const m = @import_module("linked.csl");'})
    (csl.directory / "linked.csl").symlink_to("a.csl")
    with pytest.raises(LoomError, match=r"a\.csl:1:11: error: 'linked\.csl' imports itself"):
        csl.pe('const m = @import_module("a.csl");\ncomptime { _ = m; }')
    csl.write({"b.csl": 'const m = @import_module("start/../b.csl");'})
    with pytest.raises(LoomError, match=r"b\.csl:1:11: error: 'b\.csl' imports itself"):
        csl.pe('const m = @import_module("b.csl");\ncomptime { _ = m; }')
    (csl.directory / "round.csl").symlink_to("round.csl")
    csl.refuses('const m = @import_module(«"round.csl"»);', "there is no file 'round.csl'")


def test_one_file_by_several_paths_is_one_program(csl: Csl) -> None:
    (csl.directory / "linked.csl").symlink_to("pe.csl")
    names = ["pe.csl", "start/../pe.csl", "linked.csl", f"{csl.directory}/pe.csl"]
    tiles = "".join(f'@set_tile_code({x}, 0, "{name}");' for x, name in enumerate(names))
    compiled = csl.layout(f"layout {{ @set_rectangle({len(names)}, 1); {tiles} }}", "comptime { @comptime_print(1); }")
    assert len(pes(compiled)) == 1 and csl.printed == ["1"]


def test_a_user_module_of_the_name_of_an_internal_library(csl: Csl) -> None:
    assert shown(csl, "pseudorandom.csl", files={"pseudorandom.csl": "const n = 6;"}) == ["6"]


@pytest.mark.thorough
def test_libraries_of_a_package_reached_through_links(tmp_path: Path) -> None:
    """The package may be a link, and so may each file of the front end, as installers make them."""
    import subprocess
    import sys

    package = Path(loomir.__file__).parent
    linked = tmp_path / "site" / "loomir"
    linked.mkdir(parents=True)
    for other in package.iterdir():
        if other.name != "frontend" and (other.suffix == ".py" or (other / "__init__.py").exists()):
            (linked / other.name).symlink_to(other)
    for folder, folders, files in os.walk(package / "frontend"):
        folders[:] = [name for name in folders if not name.startswith("_")]
        target = linked / Path(folder).relative_to(package)
        target.mkdir()
        for name in files:
            if name.endswith((".py", ".csl")):
                # Each in a place of its own, as in a cache of packages.
                store = tmp_path / "store" / str(abs(hash((folder, name))))
                store.mkdir(parents=True)
                (store / "content").write_bytes((Path(folder) / name).read_bytes())
                (target / name).symlink_to(store / "content")
    (tmp_path / "layout.csl").write_text(ONE_TILE)
    (tmp_path / "pe.csl").write_text('const m = @import_module("<math>");\ncomptime { @comptime_print(m.PI); }')
    script = "import loomir, sys; print(loomir.__file__); loomir.compile(sys.argv[1])"
    for site in (linked.parent, tmp_path / "other"):
        if not site.exists():
            site.symlink_to(linked.parent)
        ended = subprocess.run(
            [sys.executable, "-P", "-c", script, str(tmp_path / "layout.csl")],
            env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.startswith(f"{site}/loomir/__init__.py\n3.14"), ended.stdout


def test_from_python(csl: Csl) -> None:
    csl.write({"paths/lib.csl": "const n = 7;", "layout.csl": ONE_TILE})
    csl.write({"pe.csl": 'const m = @import_module("<lib>");\ncomptime { @comptime_assert(m.n == 7); }'})
    loomir.compile(csl.directory / "layout.csl", import_paths=[csl.directory / "paths"])
    with pytest.raises(LoomError, match="import_paths is one path"):
        loomir.compile(csl.directory / "layout.csl", import_paths=str(csl.directory / "paths"))
    with pytest.raises(LoomError, match="there is no library <lib>"):
        loomir.compile(csl.directory / "layout.csl")
