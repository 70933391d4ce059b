"""The public texts of PTOAS: the programs of each file, and which of them its tests expect to be refused.

`python -m tests.dialects.pto.public_texts CHECKOUT` counts, by folder, how many parse, verify and print to the same
text again, and how many that are there for their error give one, as read or in the
passes that their tests run. `--failures` lists the others.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.printer import Printer

from loomir.diagnostics.errors import LoomError
from loomir.diagnostics.findings import Finding
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.module_rules import verify_program
from loomir.dialects.pto.vmi_stages import check_uses
from loomir.dialects.traversal import walk
from loomir.dialects.verification import verify
from loomir.host.pto_check import check
from loomir.host.pto_vectors import check_vectors
from loomir.passes import get_all_passes

SUFFIXES = (".pto", ".mlir")


@dataclass(frozen=True)
class PublicText:
    """One program of a file, the chip that it is compiled for, and the errors its tests expect, if it is refused."""

    path: Path
    piece: str
    text: str
    chip: str | None
    is_wrong: bool
    errors: tuple[str, ...]
    stages: tuple[str, ...] = ()
    """The passes that its test runs, if they are ours too."""
    level: int | None = None
    """The build level that its test chooses."""

    @property
    def name(self) -> str:
        return f"{self.path}{self.piece and ':' + self.piece}"


def public_texts(checkout: Path) -> Iterator[PublicText]:
    """Yield the programs of all files of a checkout."""
    for path in sorted(path for path in checkout.rglob("*") if path.suffix in SUFFIXES and path.is_file()):
        yield from texts_of(path)


def texts_of(path: Path) -> Iterator[PublicText]:
    """Yield the programs of a file: one, or one for each piece that its tests split it into."""
    text = path.read_text(encoding="utf-8")
    runs = _runs(text)
    for name, piece in _pieces(text, runs):
        own = [run for run in runs if not name or name.isdigit() or name in run]
        own = [run for run in own if "split-file " not in run] or own
        chip = re.search(r"--pto-arch[= ](\w+)", " ".join(own))
        errors = tuple(_errors(piece))
        is_wrong = bool(own) and all(re.search(r"(\bnot\b|^!).*(ptoas|pto-test-opt|ptobc)", run) for run in own)
        is_wrong = is_wrong or "expected-error" in piece
        if name.isdigit() and is_wrong:
            is_wrong = bool(errors) or re.search(r"//\s*[A-Z0-9_]+:", piece) is not None
        if not re.search(r"^\s*[^/\s]", piece, flags=re.MULTILINE):
            continue
        level = re.search(r"--pto-level[= ]level(\d)", " ".join(own))
        yield PublicText(
            path, name, piece, None if chip is None else chip[1], is_wrong, errors, tuple(_stages(own)),
            None if level is None else int(level[1]),
        )  # fmt: skip


def _stages(runs: Sequence[str]) -> Iterator[str]:
    """Yield the passes of the first RUN line, up to the first that is not one of ours."""
    passes = get_all_passes()
    for name in re.findall(r"\s--?([a-z][\w-]*)(?![\w=-])", runs[0]) if runs else ():
        name = {"vmi-to-vpto": "pto-validate-vmi-registers"}.get(name, name)
        if name not in passes:
            if name != "split-input-file":
                return
        else:
            yield name


def _runs(text: str) -> list[str]:
    """Return the RUN lines that compile something, continued lines joined."""
    joined = re.sub(r"\\\s*\n\s*//\s*RUN:\s*", " ", text)
    runs = re.findall(r"//\s*RUN:\s*(.*)", joined)
    return [run for run in runs if re.search(r"ptoas|pto-test-opt|ptobc|split-file", run)]


def _pieces(text: str, runs: Sequence[str]) -> Iterator[tuple[str, str]]:
    if any("split-file " in run for run in runs):
        split = re.split(r"^//--- (\S+)\n", text, flags=re.MULTILINE)
        yield from zip(split[1::2], split[2::2], strict=True)
    elif any("split-input-file" in run for run in runs):
        for number, piece in enumerate(re.split(r"^// -----.*\n", text, flags=re.MULTILINE)):
            if re.search(r"^\s*[^/\s]", piece, flags=re.MULTILINE):
                yield str(number), piece
    else:
        yield "", text


def _errors(piece: str) -> Iterator[str]:
    """Yield what a program's comments expect of its errors."""
    for match in re.finditer(r"expected-error[^{\n]*\{\{(.*?)\}\}", piece):
        yield match[1]
    for match in re.finditer(r"//\s*[A-Z0-9_]*CHECK[-A-Z]*:\s*(.*(?:error|'pto\.|expects|must|requires).*)", piece):
        yield match[1]
    for match in re.finditer(r"//\s*(?!RUN)[A-Z0-9_]+:\s*(.*(?:error:|'pto\.).*)", piece):
        yield match[1]


def read(text: str, chip: str | None = None) -> ModuleOp:
    """Return a program, verified as `loom pto check` does; raises LoomError if it is refused.

    The module is for `chip` if it names none. A device that it names besides chooses none.
    """
    module = parse_ir(context(), text, "public.pto")
    if chip is not None and "pto.target_arch" not in module.attributes:
        module.attributes["pto.target_arch"] = StringAttr(chip)
    verify(module)
    check_uses(module)
    check_vectors(module)
    verify_program(walk(module))
    return module


def run_stages(public: PublicText) -> None:
    """Run the passes that a text's test runs on vectors of any length; raises LoomError if one refuses it."""
    if not any("vmi" in name for name in public.stages):
        return
    module, passes = parse_ir(context(), public.text, "public.pto"), get_all_passes()
    for name in public.stages:
        passes[name]()().apply(context(), module)
        verify(module)


def printed(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


def outcome(public: PublicText) -> str:
    """Return "good", or what is wrong with how a program is read; one that is wrong may be refused by a check too."""
    try:
        module = read(public.text, public.chip)
        run_stages(public)
    except LoomError as error:
        return "good" if public.is_wrong else f"refused: {error}"
    except Exception as error:
        return f"traceback: {error!r}"
    if public.is_wrong:
        told = _checked(public)
        is_refused = any(finding.severity == "error" for finding in told)
        shown = " ".join(map(str, told)) or "nothing found"
        return "good" if is_refused else f"accepted: {' | '.join(public.errors)} ({shown})"
    once = printed(module)
    try:
        return "good" if printed(read(once)) == once else "changes when printed"
    except LoomError as error:
        return f"refused when printed: {error}"


def _checked(public: PublicText) -> list[Finding]:
    """Return what `loom pto check` reports of a text, on the chip it names or else the one that its tests choose."""
    names_one = "pto.target_arch" in public.text
    chip = None if names_one or public.chip is None else "a5" if public.chip == "a5" else "a2a3"
    return check(public.text, chip, level=public.level)


def folder(public: PublicText, checkout: Path) -> str:
    """Return the kind of a text, by its place."""
    parts = public.path.relative_to(checkout).parts
    if "kernels" in parts and "samples" in parts:
        return "model kernels"
    return "/".join(parts[1:3]) if parts[:2] in (("test", "lit"), ("test", "vpto")) else "/".join(parts[:2])


def main(arguments: Sequence[str]) -> None:
    checkout = Path(arguments[0])
    counts: Counter[tuple[str, str]] = Counter()
    for public in public_texts(checkout):
        kind, wrong = folder(public, checkout), "negative" if public.is_wrong else "positive"
        result = outcome(public)
        counts[kind, wrong] += 1
        counts[kind, f"{wrong} good"] += result == "good"
        if result != "good" and "--failures" in arguments:
            print(f"{public.name}\t{wrong}\t{result}", flush=True)
    for kind in sorted({kind for kind, _ in counts}):
        row = [f"{counts[kind, f'{sign} good']} of {counts[kind, sign]} {sign}" for sign in ("positive", "negative")]
        print(f"{kind}: {', '.join(row)}")


if __name__ == "__main__":
    main(sys.argv[1:])
