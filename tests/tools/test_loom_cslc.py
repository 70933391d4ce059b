"""loom cslc: its flags, what it writes, what it says about mistakes. The front end itself is tested elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from loomir import frontend
from loomir.host.sdk import artifact

from ..host.sdk.programs import Layout, grid_layout
from .conftest import Run, one_error

Calls = list[dict[str, Any]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Calls:
    """Replaces the front end by one that notes what it is asked for; the working directory has a layout.csl."""
    noted: Calls = []

    def compile_layout(path: Path, **options: Any) -> Layout:
        noted.append({"path": path, **options})
        layout = grid_layout()
        layout.warnings = ["layout.csl:1:1: warning: odd"] if options["params"].get("odd") else []
        layout.params, layout.colors = options["params"], options["colors"]
        return layout

    monkeypatch.setattr(frontend, "compile_layout", compile_layout, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layout.csl").write_text("layout {}\n")
    return noted


FABRIC = ("--fabric-dims=10,4", "--fabric-offsets=4,1", "--memcpy")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("--arch=wse2", "./layout.csl", *FABRIC, "-o", "out", "--channels", "1"),
        ("layout.csl", "--arch", "wse2", *FABRIC, "-o=out", "--channels=1"),
        (*FABRIC, "--width-west-buf=0", "--width-east-buf", "0", "layout.csl", "-oout"),
        ("layout.csl", "--fabric-dims", "10,4", "--fabric-offsets", "4,1", "--memcpy"),
    ],
)
def test_forms_of_flags(run_loom: Run, calls: Calls, arguments: Sequence[str], tmp_path: Path) -> None:
    outcome = run_loom("cslc", *arguments)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    [call] = calls
    assert call["path"] == Path("layout.csl")
    assert {key: call[key] for key in ("arch", "fabric_dims", "fabric_offsets", "memcpy", "channels")} == {
        "arch": "wse2", "fabric_dims": (10, 4), "fabric_offsets": (4, 1), "memcpy": True, "channels": 1,
    }  # fmt: skip
    assert artifact.read(tmp_path / "out").rectangle == (3, 2)


@pytest.mark.slow
def test_parameters_and_colors(run_loom: Run, calls: Calls, tmp_path: Path) -> None:
    """All of them end in out.json, however they are spread over flags."""
    outcome = run_loom(
        "cslc", "layout.csl", *FABRIC, "--params=M:4,N:0x10", "--params=debug:true,scale:1.5,low:-3,padded:007",
        "--colors=x_in:1,ax_out:3", "--colors", "b_in:4", "--channels=16", "--arch=wse3",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    params = {"M": 4, "N": 16, "debug": True, "scale": 1.5, "low": -3, "padded": 7}
    colors = {"x_in": 1, "ax_out": 3, "b_in": 4}
    assert calls[0]["params"] == params and calls[0]["colors"] == colors
    assert calls[0]["channels"] == 16 and calls[0]["arch"] == "wse3" and calls[0]["fp16_format"] == "f16"
    assert json.loads((tmp_path / "out" / "out.json").read_text()) == {"params": params, "colors": colors}


@pytest.mark.slow
def test_format_of_floats(run_loom: Run, calls: Calls) -> None:
    assert run_loom("cslc", "layout.csl", "--fp16-format=bf16").status == 0
    assert calls[0]["fp16_format"] == "bf16"


@pytest.mark.slow
def test_defaults(run_loom: Run, calls: Calls) -> None:
    """A whole wafer, the program as far north and west as can be, the directory out."""
    assert run_loom("cslc", "layout.csl").status == 0
    assert run_loom("cslc", "layout.csl", "--memcpy", "--width-west-buf=2", "--arch", "wse3").status == 0
    assert [call["fabric_offsets"] for call in calls] == [(0, 0), (6, 1)]
    assert all(call["fabric_dims"][0] > 500 for call in calls)
    assert artifact.read("out").placement.west_buffer == 2


@pytest.mark.slow
def test_verbose(run_loom: Run, calls: Calls) -> None:
    outcome = run_loom("cslc", "layout.csl", *FABRIC, "--verbose")
    assert outcome.status == 0 and outcome.out == ""
    assert "compiling layout.csl for wse2" in outcome.err
    assert "3 x 2 PEs run 1 different programs; writing out" in outcome.err


def test_import_path(run_loom: Run, calls: Calls, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    assert run_loom("cslc", "layout.csl", *FABRIC, "--import-path", "lib", "--import-path=.").status == 0
    assert calls[0]["import_paths"] == (Path("lib"), Path("."))
    one_error(
        run_loom("cslc", "layout.csl", "--import-path=gone"), "gone: error: is not a directory; correct --import-path"
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["--max-inlined-iterations=200", "--max-inlined-iterations 200"])
def test_limits(run_loom: Run, calls: Calls, form: str) -> None:
    assert run_loom("cslc", "layout.csl", *FABRIC, *form.split(), "--comptime-func-depth-limit=9").status == 0
    assert run_loom("cslc", "layout.csl", *FABRIC).status == 0
    assert [(call["max_inlined_iterations"], call["comptime_func_depth_limit"]) for call in calls] == [
        (200, 9),
        (None, None),
    ]


@pytest.mark.slow
def test_link_sections(run_loom: Run, calls: Calls) -> None:
    flag = "--link-section-start-address-bytes"
    outcome = run_loom("cslc", "layout.csl", *FABRIC, f"{flag}=.a:40960,b_2:0x100", flag, ".c:2")
    assert outcome.status == 0, outcome.err
    assert calls[0]["link_sections"] == {".a": 40960, "b_2": 256, ".c": 2}


@pytest.mark.slow
def test_flags_that_change_nothing(run_loom: Run, calls: Calls) -> None:
    outcome = run_loom("cslc", "layout.csl", *FABRIC, "--max-parallelism", "4", "-g0")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    outcome = run_loom("cslc", "layout.csl", *FABRIC, "--max-parallelism", "4", "-g0", "--verbose")
    assert "ignored --max-parallelism: one processor compiles\n" in outcome.err
    assert "ignored -g0: where operations come from is always kept\n" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("--output-json", "layout.csl"), "out.json"),
        (("layout.csl", "-o", "deep/built", "--output-json"), "deep/built.json"),
        (("--output-json=other.txt", "layout.csl"), "other.txt"),
    ],
)
def test_params_in_a_file_of_their_own(
    run_loom: Run, calls: Calls, arguments: Sequence[str], name: str, tmp_path: Path
) -> None:
    (tmp_path / "deep").mkdir()
    outcome = run_loom("cslc", *arguments, *FABRIC, "--params=M:4")
    assert outcome.status == 0, outcome.err
    assert json.loads((tmp_path / name).read_text()) == {"params": {"M": 4}, "colors": {}}


def test_table_of_routes(run_loom: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = ".{ .routes = .{ .rx = .{ WEST }, .tx = .{ EAST, RAMP } }, .switches = .{ .pos1 = .{ .tx = RAMP } } }"
    Path("layout.csl").write_text(
        'layout { @set_rectangle(5, 1); for (@range(i16, 5)) |x| { @set_tile_code(x, 0, "pe.csl", .{}); }\n'
        "@set_color_config(0, 0, @get_color(12), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });\n"
        f"@set_color_config(1, 0, @get_color(3), {config}); @set_color_config(3, 0, @get_color(3), {config}); }}"
    )
    Path("pe.csl").write_text("")
    outcome = run_loom("cslc", "layout.csl", "--out-routes")
    assert outcome.status == 0, outcome.err
    assert outcome.out.splitlines() == [
        "color  PEs (columns, rows)  rx      tx            switch",
        "3      1..3 step 2, 0       {WEST}  {EAST, RAMP}  [to [ramp]]",
        "12     0, 0                 {RAMP}  {EAST}",
    ]


MEMORY_LAYOUT = """
layout { @set_rectangle(3, 1); @set_tile_code(0, 0, "pe.csl", .{ .n = 1 });
for (@range(i16, 2)) |x| { @set_tile_code(x + 1, 0, "pe.csl", .{ .n = 2 }); }
@export_name("main", fn() void); }
"""

MEMORY_PE = """param n: u16;
var words: [3]u8;
var numbers: [n, 100]f32;
var halves: [7]f16;
var count: i32 = 5;
noinline fn inner(a: i32) i32 { count += a; words[0] = @as(u8, count); return count; }
noinline fn outer(a: i32) i32 { halves[0] = 1.0; return inner(a) + inner(a + 1); }
fn main() void { count = outer(count); numbers[0, 0] = 1.0; }
comptime { @export_symbol(main); }
"""


def compile_memory(run_loom: Run, directory: Path, text: str, *flags: str) -> Any:
    (directory / "layout.csl").write_text(MEMORY_LAYOUT)
    (directory / "pe.csl").write_text(text)
    return run_loom("cslc", "layout.csl", *flags)


def test_memory_of_programs(run_loom: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables are exact; code and stack are estimates, of which a test knows only what makes them grow."""
    monkeypatch.chdir(tmp_path)
    text = MEMORY_PE.replace("halves[0] = 1.0;", "")
    outcome = compile_memory(run_loom, tmp_path, text, "--memory")
    assert outcome.status == 0, outcome.err
    first, second = outcome.out.split("\n\n")
    assert re.sub(r"(estimated|free) +[\d,]+", r"\1 N", second) == (
        "pe_2, on 2 PEs of 49,152 bytes:\n"
        "  data                   808\n"
        "    numbers              800  pe.csl:3:1\n"
        "    count                  4  pe.csl:5:1\n"
        "    words                  4  pe.csl:2:1\n"
        "  code, estimated N\n"
        "  stack, estimated N\n"
        "  free N\n"
    )
    assert first.startswith("pe, on 1 PE of 49,152 bytes:\n  data                   408\n")


@pytest.mark.slow
def test_memory_as_json(run_loom: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums agree; a call within a call takes the stack of both, code of two calls is longer than that of one."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, dict[str, Any]] = {}
    flat = MEMORY_PE.replace("return inner(a) + inner(a + 1)", "return a")
    recursive = MEMORY_PE.replace("return count; }", "return if (a == 0) 0 else 1 + inner(a - 1); }")
    for name, text in (("nested", MEMORY_PE), ("flat", flat), ("recursive", recursive)):
        outcome = compile_memory(run_loom, tmp_path, text, "--memory=memory.json")
        assert (outcome.status, outcome.out) == (0, ""), outcome.err
        maps = json.loads(Path("memory.json").read_text())
        assert [(each["program"], each["pes"]) for each in maps] == [("pe", 1), ("pe_2", 2)]
        found[name] = maps[1]
        sizes = {variable["name"]: variable["bytes"] for variable in maps[1]["variables"]}
        assert sizes["numbers"] == 800 and sizes["halves"] == 14
        assert maps[1]["data"] == sum(sizes.values()) + maps[1]["padding"]
        taken = maps[1]["data"] + maps[1]["code_estimate"] + maps[1]["stack_estimate"]
        assert maps[1]["memory"] == 49152 == taken + maps[1]["free"]
    assert found["nested"]["variables"][0]["location"] == "pe.csl:3:1"
    assert found["nested"]["stack_estimate"] > found["flat"]["stack_estimate"] > 0
    assert found["nested"]["code_estimate"] > found["flat"]["code_estimate"] > 0
    assert [each["is_recursive"] for each in found.values()] == [False, False, True]


def test_memory_that_does_not_suffice(run_loom: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = compile_memory(run_loom, tmp_path, MEMORY_PE.replace("100]f32", "10000]f32"), "--memory")
    assert outcome.status == 1
    assert outcome.err == (
        "pe.csl:3:1: error: the buffers of @pe_2 take 80,022 bytes, but a PE of wse2 has 49,152: @numbers 80,000 "
        "(pe.csl:3), @halves 14 (pe.csl:4), @count 4 (pe.csl:5), @words 4 (pe.csl:2); make them smaller or spread them "
        "over more PEs\n"
    )


@pytest.mark.slow
def test_warnings_as_errors(run_loom: Run, calls: Calls, tmp_path: Path) -> None:
    outcome = run_loom("cslc", "layout.csl", *FABRIC, "--params=odd:true", "--warnings-as-errors", "--output-json")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err == (
        "layout.csl:1:1: warning: odd\n"
        "error: the warning is an error by --warnings-as-errors; fix the cause, or leave out the flag\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["layout.csl"]
    assert run_loom("cslc", "layout.csl", *FABRIC, "--warnings-as-errors").status == 0


@pytest.mark.slow
def test_warnings(run_loom: Run, calls: Calls) -> None:
    """They do not keep the program from being written."""
    outcome = run_loom("cslc", "layout.csl", *FABRIC, "--params=odd:true")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "layout.csl:1:1: warning: odd\n")


def test_help(run_loom: Run) -> None:
    outcome = run_loom("cslc", "--help")
    assert outcome.status == 0 and outcome.out.startswith("usage: loom cslc")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: LAYOUT.csl"),
        (("missing.csl",), "missing.csl: error: does not exist; name the CSL file with the layout block"),
        ((".",), ".: error: is not a file; name the CSL file"),
        (("layout.csl", "--memcopy"), "unrecognized arguments: --memcopy; did you mean --memcpy?"),
        (("layout.csl", "--mem"), "unrecognized arguments: --mem"),
        (("layout.csl", "other.csl"), "unrecognized arguments: other.csl"),
        (("layout.csl", "--arch=wse1"), "argument --arch: invalid choice: 'wse1'"),
        (("layout.csl", "--fabric-dims=10"), "argument --fabric-dims: '10' is not of the form NUMBER,NUMBER"),
        (("layout.csl", "--fabric-dims=a,b"), "'a' is not a whole number from 0 to 65536"),
        (("layout.csl", "--fabric-offsets=-4,1"), "'-4' is not a whole number"),
        (("layout.csl", "--params=M"), "argument --params: 'M' is not of the form NAME:VALUE"),
        (("layout.csl", "--params=M:4,"), "'' is not of the form NAME:VALUE"),
        (("layout.csl", "--params=M:four"), "'four' of 'M' is not a value; give a number, true or false"),
        (("layout.csl", "--params=M:4,M:5"), "'M' is given twice, as 4 and as 5"),
        (("layout.csl", "--params=M:4", "--params=M:5"), "parameter 'M' is given twice, as 4 and as 5; give it once"),
        (("layout.csl", "--colors=red:x"), "'x' of 'red' is not a color id; give a number"),
        (("layout.csl", "--memcpy", "--channels=17"), "--channels=17 is out of range; give 1 to 16"),
        (("layout.csl", "--memcpy", "--channels=0"), "--channels=0 is out of range; give 1 to 16"),
        (("layout.csl", "--channels=2"), "--channels needs --memcpy; add that flag"),
        (("layout.csl", "--width-east-buf=2"), "--width-east-buf needs --memcpy; add that flag"),
        (("layout.csl", "--fabric-dims=9,4", "--fabric-offsets=4,1", "--memcpy"), "give at least --fabric-dims=10,4"),
        (("layout.csl", "-o"), "argument -o: expected one argument"),
        (("layout.csl", "--max-inlined-iterations=0"), "--max-inlined-iterations: '0' is not a number above 0"),
        (("layout.csl", "--max-inlined-iterations=many"), "'many' is not a number above 0"),
        (("layout.csl", "--max-inlined-iteration=5"), "did you mean --max-inlined-iterations?"),
        (("layout.csl", "-g1"), "unrecognized arguments: -g1"),
        (
            ("layout.csl", "--link-section-start-address-bytes=.a"),
            "--link-section-start-address-bytes: '.a' is not of the form NAME:ADDRESS",
        ),
        (("layout.csl", "--link-section-start-address-bytes=.a:x"), "'x' of '.a' is not an address"),
        (
            ("layout.csl", "--link-section-start-address-bytes=.a:2", "--link-section-start-address-bytes=.a:4"),
            "link section '.a' is given twice, as 2 and as 4; give it once",
        ),
        (("layout.csl", *FABRIC, "-o", "layout.csl"), "layout.csl: error: exists and is not a directory"),
    ],
)
def test_mistakes(run_loom: Run, calls: Calls, arguments: Sequence[str], message: str, tmp_path: Path) -> None:
    """One line, status 1, nothing written."""
    one_error(run_loom("cslc", *arguments), message)
    assert [path.name for path in tmp_path.iterdir()] == ["layout.csl"]


@pytest.mark.slow
def test_same_value_twice(run_loom: Run, calls: Calls) -> None:
    assert run_loom("cslc", "layout.csl", *FABRIC, "--params=M:4,N:2", "--params=M:4").status == 0
    params: Mapping[str, Any] = calls[0]["params"]
    assert params == {"M": 4, "N": 2}
