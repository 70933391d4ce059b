"""Small CSL programs for tests: written to a directory, compiled, and run on a simulator.

A PE's file is text; what it exports is said beside it, and the layout and the exporting lines are written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import loomir
from loomir.csl import CslError
from loomir.diagnostics.errors import LoomError
from loomir.dialects import wse
from loomir.dialects.verification import verify
from loomir.frontend.compilation import CompiledLayout, compile_layout

PE_FILE = "pe.csl"
LAYOUT_FILE = "layout.csl"

ONE_TILE = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
}
"""

START, END = "«", "»"
"""Around the part of a text that an error must point to."""


def on_both(
    program: loomir.Program, monkeypatch: pytest.MonkeyPatch, name: str, threads: tuple[int, ...] = (1, 2)
) -> tuple[Any, dict[str, Any]]:
    """Return an array after a launch of main, and the statistics, which are the same on both executors."""
    seen: list[Any] = []
    runs = [("reference", 1, True), *(("core", count, counts) for count in threads for counts in (True, False))]
    for executor, count, counts in runs:
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        simulator = loomir.Simulator(program, threads=count, statistics=counts)
        simulator.launch("main")
        found = simulator.statistics()
        statistics = seen[0][2] if found is None else found.as_dict()
        seen.append((simulator.get(name).tolist(), simulator.cycles, statistics))
    assert all(each == seen[0] for each in seen)
    return seen[0][0], seen[0][2]


@dataclass
class Csl:
    """Compiles programs in a directory of its own."""

    directory: Path
    printed: list[str] = field(default_factory=list)

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def layout(self, text: str, pe: str | None = None, arch: str = "wse2", **options: Any) -> CompiledLayout:
        """Compile a layout file, and perhaps the file of its PEs. Files of `options["files"]` are written too."""
        compiled = self.unverified(text, pe, arch, **options)
        verify(compiled.module)
        return compiled

    def unverified(self, text: str, pe: str | None, arch: str, **options: Any) -> CompiledLayout:
        """Return what `layout` does, for those who give it to `loomir.compile`, which verifies it."""
        self.write({LAYOUT_FILE: text, **({} if pe is None else {PE_FILE: pe}), **options.pop("files", {})})
        self.printed.clear()
        options.setdefault("print", self.printed.append)
        # Programs of tests have parts that do nothing; `test_lint` looks at what is said of them.
        options.setdefault("lint", False)
        return compile_layout(self.directory / LAYOUT_FILE, arch=arch, **options)

    def pe(self, text: str, arch: str = "wse2", **options: Any) -> CompiledLayout:
        """Return a program of one PE."""
        return self.layout(ONE_TILE, text, arch, **options)

    def comptime(self, statements: str, declarations: str = "", arch: str = "wse2", **options: Any) -> list[str]:
        """Return the lines a comptime block prints."""
        self.pe(f"{declarations}\ncomptime {{\n{statements}\n}}\n", arch, **options)
        return list(self.printed)

    def value(self, expression: str, declarations: str = "", arch: str = "wse2", **options: Any) -> str:
        """Return an expression as @comptime_print shows it."""
        (line,) = self.comptime(f"@comptime_print({expression});", declarations, arch, **options)
        return line

    def start(self, text: str, exports: Mapping[str, str], *args: Any, **options: Any) -> loomir.Simulator:
        """Return a simulator of a rectangle of equal PEs; the arguments are those of `program`, and `check` its own."""
        check = options.pop("check", None)
        return loomir.Simulator(self.program(text, exports, *args, **options), step_limit=200_000, check=check)

    def program(
        self,
        text: str,
        exports: Mapping[str, str],
        functions: Mapping[str, str] | None = None,
        arch: str = "wse2",
        width: int = 1,
        height: int = 1,
        layout: str = "",
        params: str = "",
        **options: Any,
    ) -> loomir.Program:
        """Return a program for a rectangle of equal PEs.

        `exports` gives the element type of each array, `functions` the type of each function; `layout` is said at
        the end of the layout block, and `params` are members of the struct of params, which may speak of x and y.
        """
        functions = functions or {"main": "fn() void"}
        names = [
            *(f'@export_name("{name}", [*]{type}, true);' for name, type in exports.items()),
            *(f'@export_name("{name}", {type});' for name, type in functions.items()),
        ]
        lines = [text]
        for name, type in exports.items():
            lines.append(f"var {name}_exported: [*]{type} = &{name};")
            lines.append(f'comptime {{ @export_symbol({name}_exported, "{name}"); }}')
        lines += [f"comptime {{ @export_symbol({name}); }}" for name in functions]
        whole = f"""
        layout {{
          @set_rectangle({width}, {height});
          for (@range(i16, {width})) |x| {{
            for (@range(i16, {height})) |y| {{
              @set_tile_code(x, y, "pe.csl", .{{ {params} }});
            }}
          }}
          {layout}
          {" ".join(names)}
        }}
        """
        compiled = self.unverified(whole, "\n".join(lines), arch, **options)
        return loomir.compile(compiled.module, verify_each=False)

    def run(
        self,
        text: str,
        exports: Mapping[str, str],
        inputs: Mapping[str, Any] | None = None,
        launches: Sequence[tuple[str, tuple[float, ...]]] = (("main", ()),),
        **options: Any,
    ) -> dict[str, NDArray[Any]]:
        """Return the exported arrays of PE (0, 0) after the launches."""
        simulator = self.start(text, exports, **options)
        for name, value in (inputs or {}).items():
            simulator.set(name, value)
        for name, arguments in launches:
            simulator.launch(name, *arguments)
        return {name: simulator.get(name)[0, 0] for name in exports}

    def compute(self, statements: str, type: str = "i32", count: int = 1, before: str = "", **options: Any) -> Any:
        """Return what statements put in `out[0]`, or in all of `out` if it has several elements."""
        text = f"{before}\nvar out = @zeros([{count}]{type});\nfn main() void {{\n{statements}\n}}\n"
        out = self.run(text, {"out": type}, **options)["out"]
        return out[0].item() if count == 1 else out

    def refuses(
        self,
        marked: str,
        message: str,
        layout: str = ONE_TILE,
        arch: str = "wse2",
        lower: bool = False,
        notes: Sequence[str] = (),
        **options: Any,
    ) -> CslError:
        """Compile a program one text of which has «a mistake»; the one error must point there and say `message`.

        With `lower` the mistake may turn up as late as in lowering.
        """
        files = {LAYOUT_FILE: layout, PE_FILE: marked, **options.pop("files", {})}
        (name,) = (name for name, text in files.items() if START in text)
        before, _, rest = files[name].partition(START)
        inside = rest.partition(END)[0]
        files = {other: text.replace(START, "").replace(END, "") for other, text in files.items()}
        with pytest.raises(LoomError) as caught:
            compiled = self.layout(files.pop(LAYOUT_FILE), None, arch, files=files, **options)
            if lower:
                loomir.compile(compiled.module)
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        assert caught.value.location == f"{self.directory / name}:{line}:{column}", str(caught.value)
        assert message in caught.value.message, str(caught.value)
        if lower and not isinstance(caught.value, CslError):
            return caught.value  # pyright: ignore[reportReturnType]
        assert isinstance(caught.value, CslError)
        (diagnostic,) = caught.value.diagnostics
        source_line = f"{before}{inside}{rest.partition(END)[2]}".split("\n")[line - 1]
        first, shown, caret = str(caught.value).split("\n")[:3]
        assert first == f"{caught.value.location}: error: {caught.value.message}"
        assert shown == source_line
        assert caret.strip("~ \t") == "^" and caret.index("^") == column - 1
        width = len(inside.split("\n")[0])
        assert len(caret.rstrip()) == column - 1 + max(1, width), str(caught.value)
        for note in notes:
            assert any(note in shown.message for shown in diagnostic.notes), str(caught.value)
        return caught.value


def pes(compiled: CompiledLayout) -> list[wse.PeOp]:
    """Return the unit classes of a program."""
    return [op for op in compiled.module.walk() if isinstance(op, wse.PeOp)]


NUMPY: dict[str, Any] = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
    "f16": np.float16, "f32": np.float32,
}  # fmt: skip
