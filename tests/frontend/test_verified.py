"""Mistakes in CSL that the verifiers of the dialects find: compiled programs are verified before they are lowered."""

from __future__ import annotations

from pathlib import Path

import pytest

import loomir

LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @export_name("f", fn()void);
}
"""
PE = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
var numbers = @zeros([2000]u32);
%s
comptime {
  @export_symbol(f);
}
"""
FABOUT = ".extent = 2, .output_queue = @get_output_queue(2), .fabric_color = @get_color(2)"


@pytest.mark.parametrize(
    ("target", "source", "message"),
    [
        (
            "wse3",
            "const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> numbers[500 * i] });\n"
            "fn f() void { @mov32(d, 3); }",
            r"pe\.csl:5:31: error: a stride of 500 is out of range; use -128 to 127",
        ),
        (
            "wse3",
            "var odd align(3) = @zeros([2]u32);\nfn f() void { odd[1] = 1; }",
            r"pe\.csl:5:1: error: alignment 3 is not a power of two of at least 2 bytes",
        ),
        (
            "wse2",
            "var buffer align(2) = @zeros([8]u16);\nconst fifo = @allocate_fifo(buffer, .{});\n"
            "fn f() void { @mov16(fifo, 3); }",
            r"pe\.csl:6:29: error: 'buffer' has an alignment of 2 bytes, but a FIFO needs 4; declare it align\(4\)",
        ),
        (
            "wse2",
            f"const d = @get_dsd(fabout_dsd, .{{ {FABOUT}, .priority = .{{ .high = true }} }});\n"
            "fn f() void { @mov32(d, 3); }",
            r"pe\.csl:5:32: error: '.priority' of a DSD does not exist on WSE-2 \(DSD-101\); give it to the operation",
        ),
    ],
)  # fmt: skip
def test_mistake(tmp_path: Path, target: str, source: str, message: str) -> None:
    (tmp_path / "layout.csl").write_text(LAYOUT)
    (tmp_path / "pe.csl").write_text(PE % source)
    with pytest.raises(loomir.LoomError, match=message):
        loomir.compile(tmp_path / "layout.csl", target=target, verify_each=False)
