"""Reads of memory that nothing has written, which a run reports."""

from __future__ import annotations

import numpy as np
import pytest

from ..runtime.machines import load
from .harness import Csl

HEAD = """
const c = @get_color(3);
const in_queue = @get_input_queue(1);
const out_queue = @get_output_queue(2);
comptime {
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
  @bind_local_task(ended, @get_local_task_id(12));
}
var out = @zeros([8]f32);
var given = @zeros([8]f32);
var work: [8]f32;
var matrix: [4, 4]f32;
var count: i16;
var small: [8]i8;
var ready = @zeros([8]f32);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> work[i] });
const even = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> work[2 * i] });
const odd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> work[2 * i + 1] });
const inner = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{2, 2} -> matrix[i + 1, j + 1] });
const border = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{2, 4} -> matrix[3 * i, j] });
const to8 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> out[i] });
const to4 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
const from8 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> ready[i] });
const from4 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> ready[i] });
const rx = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = in_queue });
const tx = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = out_queue });
"""

LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"

FAULTS = {
    "a load": ("work[0] = 1.0; out[0] = work[1];", "this load reads element 1 of @work"),
    "a counter": ("count += 1;", "this load reads element 0 of @count"),
    "a byte": ("small[2] = 1; count = @as(i16, small[4]);", "this load reads element 4 of @small"),
    "an index at run time": (
        "for (@range(i16, 3)) |i| { work[i] = 1.0; } for (@range(i16, 4)) |i| { out[i] = work[i]; }",
        "this load reads element 3 of @work",
    ),
    "behind a pointer": ("const p = &work; p.*[2] = 1.0; out[0] = p.*[3];", "this load reads element 3 of @work"),
    "an operand": ("@fmovs(even, from4); @fadds(to8, from8, all);", "fadds in @main reads element 1 of @work"),
    "an operand that moves": (
        "work[0] = 1.0; var walk = @set_dsd_length(all, 1); for (@range(i16, 2)) |i| { "
        "@fmovs(@set_dsd_length(to8, 1), walk); walk = @increment_dsd_offset(walk, 1, f32); }",
        "fmovs in @main reads element 1 of @work",
    ),
    "the second addend": (
        "@fmovs(even, from4); @fadds(to8, from8, from8); @fadds(to8, to8, all);",
        "fadds in @main reads element 1 of @work",
    ),
    "strided": ("@fmovs(even, from4); @fmuls(to4, odd, 2.0);", "fmuls in @main reads element 1 of @work"),
    "four dimensions": ("@fmovs(inner, from4); @fmovs(to8, border);", "fmovs in @main reads element 0 of @matrix"),
    "what is sent": (
        "work[0] = 1.0; @fmovs(tx, @set_dsd_length(all, 4), .{ .async = true, .activate = ended });",
        "fmovs in @main reads element 1 of @work",
    ),
    "a local array": ("var mine: [4]f32; mine[0] = 1.0; out[1] = mine[out_of()];", "of @main.mine"),
}  # fmt: skip

CORRECT = {
    "all is written": "@fmovs(even, from4); @fmovs(odd, from4); @fadds(to8, from8, all);",
    "a sum": "@fadds(all, from8, from8); @fadds(all, all, from8); @fadds(to8, to8, all);",
    "received": "@fmovs(tx, from4, .{ .async = true }); @fmovs(@set_dsd_length(all, 4), rx); out[0] = work[3];",
    "only what is written": "@fmovs(inner, from4); @fmovs(to4, inner); matrix[0, 0] = out[0]; out[1] = matrix[0, 0];",
    "an initial value": "out[0] = ready[7]; @fadds(to8, from8, from8);",
    "bytes": "small[3] = 4; count = @as(i16, small[3]); count += 1;",
    "a local array": "var mine: [4]f32; for (@range(i16, 4)) |i| { mine[i] = 1.0; } out[1] = mine[out_of()];",
}


def told(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, main: str, arch: str
) -> tuple[str, list[str]]:
    """Return the program, and the lines that both executors say of memory that nothing has written."""
    text = (
        f"{HEAD}\nfn out_of() i16 {{ return @as(i16, ready[0]) + 2; }}\ntask ended() void {{}}\n"
        f"fn main() void {{\n{main}\n}}\n"
    )
    found: list[list[str]] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        simulator = csl.start(text, {"out": "f32"}, layout=LOOP_BACK, arch=arch, check=True)
        capsys.readouterr()
        simulator.launch("main")
        lines = capsys.readouterr().err.replace(f"{csl.directory}/", "").splitlines()
        found.append([line for line in lines if "nothing has written" in line])
    assert found[0] == found[1]
    return text, found[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(("main", "message"), FAULTS.values(), ids=FAULTS)
def test_what_nothing_has_written_is_read(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, main: str, message: str, arch: str
) -> None:
    """The line that reads and the declaration are named."""
    text, lines = told(csl, capsys, monkeypatch, main, arch)
    assert len(lines) == 1
    at = text[: text.index("fn main()")].count("\n") + 2
    assert lines[0].startswith(f"pe.csl:{at}:")
    assert message in lines[0]
    name = message.split("@")[-1].split(".")[-1]
    declared = text[: text.index(f"var {name}:")].count("\n") + 1
    assert f"declared at pe.csl:{declared}:" in lines[0]
    assert lines[0].endswith("write it before, or give the variable a value, such as @zeros")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_what_nothing_has_written_is_added_to(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arch: str
) -> None:
    """A note, since published programs count on zeros there; other elements are another matter."""
    text, lines = told(csl, capsys, monkeypatch, "@fmacs(all, all, from8, 2.0); @fadds(even, odd, even);", arch)
    at = text[: text.index("fn main()")].count("\n") + 2
    declared = text[: text.index("var work:")].count("\n") + 1
    assert lines == [
        f"pe.csl:{at}:1: note: fmacs in @main adds to element 0 of @work on PE (0, 0), which nothing has written, "
        f"declared at pe.csl:{declared}:1 without a value; it counts on memory that holds zeros at the start: give the "
        "variable a value, such as @zeros"
    ]
    assert ": warning: fadds in @main reads" in told(csl, capsys, monkeypatch, "@fadds(even, odd, even);", arch)[1][0]


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("main", CORRECT.values(), ids=CORRECT)
@pytest.mark.slow
def test_what_has_been_written_is_read(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, main: str, arch: str
) -> None:
    """Elements next to those that nothing has written are no matter."""
    assert told(csl, capsys, monkeypatch, main, arch)[1] == []


@pytest.mark.parametrize("executor", ["core", "reference"])
@pytest.mark.parametrize(("kind", "stride"), [("f32", 2), ("i16", 2), ("f32", 3), ("i16", -2), ("f32", -1)])
def test_walks_beside_what_nothing_writes(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, executor: str, kind: str, stride: int
) -> None:
    """Each element of a walk from where a variable says is looked at, and none of those between."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    count, size, (move, one) = 11, 40, {"f32": ("fmovs", "1.0"), "i16": ("mov16", "1")}[kind]
    touched = [(2 if stride > 0 else size - 3) + k * stride for k in range(count)]
    text = (
        f"var out = @zeros([{count}]{kind});\nvar moved: i16 = 2;\n"
        f"const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{count}}} -> out[i] }});\n"
    )
    code = ""
    for hole in range(count + 1):
        first = touched[0] - 2
        text += f"var work{hole}: [{size}]{kind};\n"
        access = f"|i|{{{count}}} -> work{hole}[{first} + {stride} * i]"
        text += f"const walk{hole} = @get_dsd(mem1d_dsd, .{{ .tensor_access = {access} }});\n"
        code += "".join(f"work{hole}[{place}] = {one}; " for k, place in enumerate(touched) if k != hole)
        code += f"\n@{move}(to, @increment_dsd_offset(walk{hole}, moved, {kind}));\n"
    simulator = csl.start(f"{text}fn main() void {{\n{code}}}\n", {"out": kind}, check=True)
    capsys.readouterr()
    simulator.launch("main")
    lines = [line for line in capsys.readouterr().err.splitlines() if "nothing has written" in line]
    wanted = [f"reads element {place} of @work{hole} " for hole, place in enumerate(touched)]
    assert len(lines) == count and all(part in line for part, line in zip(wanted, lines, strict=True))


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize("columns", [2, 1])
def test_what_the_host_writes(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, executor: str, columns: int
) -> None:
    """It is written, on the PEs to which it is copied; each launch goes on from there."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    text = "var given: [3]f32;\nvar out = @zeros([1]f32);\nfn main() void { out[0] += given[1] + given[2]; }\n"
    machine = load(csl.program(text, {"given": "f32", "out": "f32"}, width=2).module, check=True)
    machine.write_region("given", 0, 0, columns, 1, 3, np.ones((1, columns, 3), np.float32).view(np.uint32))
    capsys.readouterr()
    for _ in range(2):
        machine.launch("main")
        machine.run()
    assert ("on PE (1, 0), which nothing has written" in capsys.readouterr().err) == (columns == 1)
