"""The documentation: its links lead somewhere, every page is found, and its programs and commands do what they say."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from loomir.frontend.modules import library_names
from loomir.host.compilation import PIPELINE
from loomir.host.pto_check import FRONT_END
from loomir.tools import loom
from loomir.tools.universe import LOOM_UNIVERSE

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CONTENTS = ROOT / "docs" / "README.md"
PAGES = sorted(
    [
        README,
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        ROOT / "bench/README.md",
    ]
)
MAX_LINES_OF_README = 105
"""One screen and a half, and the program."""


@cache
def text_of(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the file and the anchor of every relative link of a page."""
    found = re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text_of(page))
    targets = [target.partition("#") for target in found if "://" not in target]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in targets]


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of code of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    for path, anchor in links(page):
        assert path.exists(), f"{page} links to {path}, which does not exist"
        assert not anchor or anchor in anchors(path), f"{page} links to #{anchor} of {path}; it has {anchors(path)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page: Path) -> None:
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    for path in re.findall(rf"(?<![\w/.-])(?:{folders})/[\w./-]*\w", page.read_text()):
        assert (ROOT / path).exists() or (page.parent / path).exists(), f"{page} names {path}, which does not exist"


def test_parts_of_the_engine_exist() -> None:
    """The design page names the modules that each paragraph is about."""
    engine = (ROOT / "docs" / "design.md").read_text().partition("## The engine")[2].partition("\n## ")[0]
    named = [
        name for names in re.findall(r"\*\* \(((?:`\w+`(?:, )?)+)\)", engine) for name in re.findall(r"\w+", names)
    ]
    assert len(named) > 20
    folders = (ROOT / "runtime", ROOT / "runtime" / "chips", ROOT / "runtime" / "reference")
    assert [name for name in named if not any((folder / f"{name}.py").exists() for folder in folders)] == []


def test_every_page_is_reached_from_the_contents() -> None:
    reached, left = {CONTENTS}, [CONTENTS]
    while left:
        targets = {path for path, _ in links(left.pop()) if path.is_relative_to(ROOT / "docs") and path.suffix == ".md"}
        left += targets - reached
        reached |= targets
    assert set((ROOT / "docs").rglob("*.md")) == reached
    assert CONTENTS in {path for path, _ in links(README)}


def test_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= MAX_LINES_OF_README


@pytest.mark.slow
def test_readme_program(tmp_path: Path) -> None:
    (source,) = blocks(README, "csl")
    parts = re.split(r"^(?=// (\S+\.csl)$)", source, flags=re.MULTILINE)[1:]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        (tmp_path / name).write_text(text)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    sessions = "".join(blocks(README, "console"))
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", sessions, flags=re.MULTILINE)
    assert len(commands) == 4
    for command, expected in commands:
        result = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
        )
        assert without_wall_time(result.stdout + result.stderr) == without_wall_time(expected)


def without_wall_time(text: str) -> str:
    return re.sub(r"[\d.]+ s$", "", text, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["docs/python.md", "docs/emitting.md", "docs/pto.md", "docs/pto-python.md", "examples/pto/README.md"]
)
def test_python_examples(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    examples = blocks(ROOT / page, "python")
    assert examples
    exec("\n".join(examples), {})


def test_every_pass_is_documented() -> None:
    table = re.findall(r"`([\w-]+)`", (ROOT / "docs" / "passes.md").read_text())
    assert set(LOOM_UNIVERSE.all_passes) <= set(table)


def test_the_diagram_of_levels_has_the_passes_in_order() -> None:
    diagram = (ROOT / "docs" / "design.md").read_text().partition("\n## Levels\n")[2].partition("\n- **wse**")[0]
    shown = re.findall(r"[a-z]+(?:-[a-z]+)+", diagram)
    wafer, chips = [*PIPELINE], [*FRONT_END, "lower-pto-to-flow"]
    assert [name for name in shown if name in wafer] == wafer
    assert [name for name in shown if name in chips] == chips


def test_every_pass_has_filecheck_tests() -> None:
    folders = {path.name for folder in ("passes", "importers") for path in (ROOT / "lit_tests" / folder).iterdir()}
    assert set(LOOM_UNIVERSE.all_passes) <= folders


def test_every_library_is_documented() -> None:
    """A section is about one file, or about all those of a folder."""
    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "libraries.md").read_text(), flags=re.MULTILINE)
    sections = {name for name in library_names() for heading in headings if f"{name}/".startswith(f"{heading}/")}
    assert set(library_names()) == sections


@pytest.mark.parametrize(
    ("page", "commands"),
    [("running", [["run"]]), ("sdk", [["cslc"], ["sdk"]]), ("pto", [["pto", "check"], ["pto", "run"]])],
)
def test_documented_flags_exist(page: str, commands: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands:
        with contextlib.suppress(SystemExit):
            loom.main([*command, "--help"])
    flags = r"(?<![\w-])--[a-z][\w-]*"
    documented = set(re.findall(flags, (ROOT / "docs" / f"{page}.md").read_text()))
    existing = set(re.findall(flags, capsys.readouterr().out))
    assert documented <= existing
    assert page != "running" or existing - {"--help"} == documented
