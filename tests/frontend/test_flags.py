"""What the flags of the compiler change in a program: limits of loops and calls, addresses of link sections."""

from __future__ import annotations

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow

from .harness import Csl, pes

LOOP = "comptime { var sum: u16 = 0; inline for (@range(u16, 60)) |i| { sum += i; } @comptime_print(sum); }"


# Inline loops


def test_inline_loops_at_compile_time(csl: Csl) -> None:
    text = (
        "fn f(comptime n: u16) u16 { comptime var r: u16 = 0; inline for (@range(u16, n)) |i| { r += i; } return r; }"
    )
    assert csl.comptime("@comptime_print(f(5));", text) == ["10"]


def test_inline_loops_at_run_time(csl: Csl) -> None:
    """Elements are known in the body, run-time variables go through it, the index counts."""
    statements = """
    const weights = [3]i32{ 5, 7, 11 };
    inline for (weights) |weight, index| {
      @comptime_assert(weight > 4);
      out[0] += weight * @as(i32, start[index]);
    }
    """
    before = "var start = [3]i32{ 1, 10, 100 };"
    assert csl.compute(statements, before=before) == 5 * 1 + 7 * 10 + 11 * 100


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("if (i == 2) { break; } out[0] += 1;", 2),
        ("if (i == 2) { continue; } out[0] += 1;", 4),
        ("if (at == 2 and i == 2) { break; } out[0] += 1;", 2),
        ("if (i == at) { continue; } out[0] += 1;", 4),
        ("if (i == at) { return; } out[0] += 1;", 2),
        ("for (@range(i16, 3)) |j| { if (j == at) { continue :outer; } out[0] += 1; }", 10),
        ("for (@range(i16, 3)) |j| { if (i == at) { break :outer; } out[0] += 1; }", 6),
    ],
)
def test_jumps_out_of_inline_loops(csl: Csl, body: str, result: int) -> None:
    loop = f"outer: inline for (@range(i16, 5)) |i| {{ {body} }}"
    assert csl.compute(loop, before="var at: i16 = 2;") == result
    plain = loop.replace("inline ", "")
    assert csl.compute(plain, before="var at: i16 = 2;") == result


def test_inline_loops_over_what_is_not_known(csl: Csl) -> None:
    text = """
    var n: u16 = 3;
    fn main() void { inline for («@range(u16, n)») |i| { n += i; } }
    comptime { @export_symbol(main); }
    """
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }
    """
    csl.refuses(text, "must be known at compile time", layout)


def test_an_inline_block_is_a_missing_brace(csl: Csl) -> None:
    csl.refuses("fn f() void {\n«inline» fn g() void {} }", "'inline' cannot be inside a block")


def test_the_limit_of_inlined_iterations(csl: Csl) -> None:
    compiled = csl.pe(LOOP)
    assert csl.printed == ["1770"]
    assert compiled.warnings == [
        f"{csl.directory}/pe.csl:1:30: warning: this loop has 60 inlined iterations, and cslc of SDK 1.4 takes 50 at "
        "most; give --max-inlined-iterations=60"
    ]
    assert csl.pe(LOOP.replace("60", "50")).warnings == []
    assert csl.pe(LOOP, max_inlined_iterations=60).warnings == []
    marked = LOOP.replace("inline", "«inline").replace("+= i; }", "+= i; }»")
    csl.refuses(marked, "exceeded the maximum of 59 inlined iterations: this loop has 60", max_inlined_iterations=59)


@pytest.mark.slow
def test_the_limit_of_nested_calls(csl: Csl) -> None:
    text = "fn g(n: u16) u16 { return if (n == 0) 1 else 1 + «g(n - 1)»; }\ncomptime { @comptime_print(g(100)); }"
    plain = text.replace("«", "").replace("»", "")
    csl.pe(plain)
    csl.pe(plain.replace("100", "700"), comptime_func_depth_limit=800)
    csl.refuses(text, "calls are nested more than 50 deep", comptime_func_depth_limit=50)
    endless = plain.replace("if (n == 0) 1 else ", "")
    with pytest.raises(LoomError, match="calls are nested more than 1000 deep"):
        csl.pe(endless.replace("n - 1", "n"), comptime_func_depth_limit=10**9)


# Link sections


SECTIONS = """
var before = @zeros([4]u16);
var table linksection(".table") = [3]u16{ 1, 2, 3 };
var after: u32 = 7;
var wide: u32 linksection(".table") = 9;
const name = ".other";
var other: u16 linksection(@strcat(name, "")) = 5;
"""


def addresses(csl: Csl, text: str, **sections: int) -> dict[str, int]:
    """Byte addresses of the variables of a program that uses them from the last to the first."""
    export = "comptime { @export_symbol(main); }"
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }
    """
    body = "fn main() void { other = 1; wide = after; table[0] += before[0]; }"
    compiled = csl.layout(layout, f"{text}\n{body}\n{export}", link_sections={f".{k}": v for k, v in sections.items()})
    program = loomir.compile(compiled.module)
    found = {op.sym_name.data: op for op in program.module.walk() if isinstance(op, flow.BufferOp)}
    return {name: 2 * op.address.value.data for name, op in found.items()}


def test_addresses_of_link_sections(csl: Csl) -> None:
    """In the order of their declarations, aligned; the others elsewhere."""
    found = addresses(csl, SECTIONS, table=40960, other=0x102)
    assert (found["table"], found["wide"], found["other"]) == (40960, 40968, 0x102)
    sizes = {"before": 8, "table": 6, "after": 4, "wide": 4, "other": 2}
    taken = [byte for name, size in sizes.items() for byte in range(found[name], found[name] + size)]
    assert len(taken) == len(set(taken)) and max(found["before"], found["after"]) < 64


def test_bytes_in_link_sections(csl: Csl) -> None:
    """An array of bytes takes as many, and what follows starts at a word."""
    text = SECTIONS.replace("[3]u16{", "[3]u8{").replace("var before = @zeros([4]u16);", "var before = @zeros([4]u8);")
    found = addresses(
        csl, text.replace("var wide: u32", "var wide: u16").replace("var after: u32", "var after: u16"), table=400
    )
    assert (found["table"], found["wide"]) == (400, 404)


def test_link_sections_without_addresses(csl: Csl) -> None:
    assert max(addresses(csl, SECTIONS).values()) < 64


@pytest.mark.slow
def test_a_buffer_that_is_in_the_way_goes_elsewhere(csl: Csl) -> None:
    found = addresses(csl, SECTIONS, table=2)
    assert found["table"] == 2 and found["wide"] == 8 and min(found["before"], found["after"]) >= 12


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"table": 48 * 1024 - 4}, r"pe\.csl:3:1: error: buffer @table takes the bytes 49148 to 49153, but a PE of"),
        ({"table": 40961}, r"pe\.csl:3:1: error: .*address 40961 is not a multiple of 2 bytes"),
        ({"table": 100, "other": 104}, r"pe\.csl:7:1: error: buffer @other is at address 104, but @table takes"),
    ],
)
def test_addresses_that_cannot_be(csl: Csl, sections: dict[str, int], message: str) -> None:
    with pytest.raises(LoomError, match=message):
        addresses(csl, SECTIONS, **sections)


def test_a_section_that_nothing_is_in(csl: Csl) -> None:
    compiled = csl.pe(SECTIONS, link_sections={".tabel": 40960})
    assert compiled.warnings == [
        f"{csl.directory}/layout.csl: warning: the link section '.tabel' contains no variable that is used"
    ]


def test_a_section_is_a_string(csl: Csl) -> None:
    text = "var x: u16 linksection(«3») = 1;\nfn main() void { x = 2; }\ncomptime { @export_symbol(main); }"
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }
    """
    csl.refuses(text, "a linksection must be a string", layout)


def test_memory_at_a_high_address_works(csl: Csl) -> None:
    text = 'var out linksection(".out") = @zeros([4]u16);\nfn main() void { for (@range(i16, 4)) |i| { out[i] = 7; } }'
    simulator = csl.start(text, {"out": "u16"}, link_sections={".out": 48 * 1024 - 8})
    simulator.launch("main")
    np.testing.assert_array_equal(simulator.get("out")[0, 0], [7] * 4)
    assert len(pes(csl.pe(""))) == 1
