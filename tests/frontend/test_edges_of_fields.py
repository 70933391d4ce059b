"""The least and the largest value of each field of a DSD, from CSL text, and the values beyond them."""

from __future__ import annotations

import pytest

import loomir
from loomir.diagnostics.errors import LoomError

from .harness import Csl

DECLARATIONS = """
var a = @zeros([20]i16);
var count: u16 = 3;
var signed: i16 = 3;
var wide: u32 = 3;
var pointer: [*]i16 = &a;
const line = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 4 });
const fifo = @allocate_fifo(a);
"""


def of(kind: str, fields: str) -> str:
    """Return a use of a DSD with these fields."""
    made = f"@get_dsd({kind}, .{{ {fields} }})"
    if kind == "fabin_dsd":
        return f"@mov16(line, {made});"
    if kind == "circbuf_dsd":
        return f"@load_to_dsr_xdsr(@get_dsr(dsr_dest, 0), @get_xdsr(0), {made});"
    return f"@mov16({made}, 1);"


def with_stride(stride: str) -> str:
    return of("mem1d_dsd", f".base_address = &a, .extent = 2, .stride = {stride}")


def with_offset(offset: str, extent: str = "2", kind: str = "mem1d_dsd") -> str:
    return of(kind, f".base_address = &a, .extent = {extent}, .offset = {offset}")


def with_access(access: str, kind: str = "mem1d_dsd") -> str:
    return of(kind, f".tensor_access = {access}")


def ring(extent: str, wraparound: str) -> str:
    return of("circbuf_dsd", f".base_address = &a, .extent = {extent}, .wraparound = {wraparound}")


IN = ".input_queue = @get_input_queue(2), .extent = "
OUT = ".output_queue = @get_output_queue(2), .extent = "
MEM4D = ".base_address = &a, .extent = .{ 1, 2 }, .stride = .{ 1, %s }"
CELLS = ".base_address = &a, .extent = .{ %s }"

TAKEN = [
    *(of("mem1d_dsd", f".base_address = &a, .extent = {extent}") for extent in ("0", "65535", "count")),
    *(of("mem4d_dsd", CELLS % extents) for extents in ("0, 1", "1, 65535", "1", "1, 1, 1, 1", "count, 2")),
    *(of("fabin_dsd", IN + extent) for extent in ("0", "65535", "count")),
    *(of("fabout_dsd", OUT + extent) for extent in ("0", "65535", "count")),
    *(with_stride(stride) for stride in ("-128", "127", "@as(i8, signed)")),
    *(of("mem4d_dsd", MEM4D % stride) for stride in ("-32768", "32767", "signed")),
    *(with_offset(offset) for offset in ("-32768", "32767", "signed")),
    *(with_offset(offset, ".{ 2, 2 }", "mem4d_dsd") for offset in ("-32768", "32767", "signed")),
    *(with_access(access) for access in ("|i|{0} -> a[i]", "|i|{65535} -> a[0]", "|i|{2} -> a[127 * i]")),
    *(with_access(access) for access in ("|i|{2} -> a[-128 * i]", "|i|{2} -> a[i + 32767]", "|i|{2} -> a[i - 32768]")),
    with_access("|i, j, k, l|{1, 1, 1, 1} -> a[i + j + k + l]", "mem4d_dsd"),
    *(ring(*fields) for fields in (("0", "20"), ("65535", "20"), ("7", "1"))),
    *(f"@mov16(@set_dsd_length(line, {length}), 1);" for length in ("0", "65535", "count")),
    *(f"@mov16(@set_dsd_stride(line, {stride}), 1);" for stride in ("-128", "127", "@as(i8, signed)")),
    *(f"@mov16(@increment_dsd_offset(line, {by}, i16), 1);" for by in ("-32768", "32767", "signed")),
    *(f"@set_fifo_{side}_length(fifo, {to});" for side in ("read", "write") for to in ("0", "65535", "count")),
    "@mov16(@set_dsd_base_addr(@get_dsd(mem4d_dsd, .{ .base_address = &a, .extent = .{ 2, 2 } }), pointer), 1);",
]  # fmt: skip


LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
}
"""


def compile_main(csl: Csl, statements: str, arch: str) -> None:
    text = f"{DECLARATIONS}\nfn main() void {{ {statements} }}\ncomptime {{ @export_symbol(main); }}\n"
    loomir.compile(csl.layout(LAYOUT, text, arch).module)


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.slow
def test_taken(csl: Csl, arch: str) -> None:
    """DSD-008, DSD-009, DSD-011, DSD-021, DSD-022, DSD-032, DSD-048, DSD-050, DSD-052, DSD-057, DSD-079, DSD-080."""
    compile_main(csl, "\n".join(TAKEN), arch)


REFUSED = {
    "DSD-008": [
        (of("mem1d_dsd", ".base_address = &a, .extent = 65536"), "an extent of 65536 is out of range; use 0 to 65535"),
        (of("mem1d_dsd", ".base_address = &a, .extent = -1"), "an extent of -1 is out of range; use 0 to 65535"),
        (of("mem1d_dsd", ".base_address = &a, .extent = signed"), "expected 'u16', found 'i16'"),
        (of("mem1d_dsd", ".base_address = &a, .extent = wide"), "expected 'u16', found 'u32'"),
    ],
    "DSD-009": [
        (with_stride("128"), "a stride of 128 is out of range; use -128 to 127"),
        (with_stride("-129"), "a stride of -129 is out of range; use -128 to 127"),
        (with_stride("signed"), "expected 'i8', found 'i16'; convert it with @as(i8, ...)"),
    ],
    "DSD-011": [
        (with_offset("32768"), "an offset of 32768 is out of range; use -32768 to 32767"),
        (with_offset("-32769"), "an offset of -32769 is out of range; use -32768 to 32767"),
        (with_offset("count"), "expected 'i16', found 'u16'"),
    ],
    "DSD-021": [
        (with_access("|i|{65536} -> a[0]"), "an extent of 65536 is out of range; use 0 to 65535"),
        (with_access("|i|{-1} -> a[0]"), "an extent of -1 is out of range; use 0 to 65535"),
    ],
    "DSD-032": [
        (with_access("|i|{2} -> a[128 * i]"), "a stride of 128 is out of range; use -128 to 127"),
        (with_access("|i|{2} -> a[-129 * i]"), "a stride of -129 is out of range; use -128 to 127"),
        (with_access("|i|{2} -> a[i + 32768]"), "offset 32768 or stride 1 does not fit in 'i16' (DSD-032)"),
        (with_access("|i|{2} -> a[i - 32769]"), "offset -32769 or stride 1 does not fit in 'i16' (DSD-032)"),
    ],
    "DSD-048": [
        (with_offset("32768", ".{ 2, 2 }", "mem4d_dsd"), "an offset of 32768 is out of range; use -32768 to 32767"),
        (with_offset("-32769", ".{ 2, 2 }", "mem4d_dsd"), "an offset of -32769 is out of range; use -32768 to 32767"),
    ],
    "DSD-050": [
        (of("mem4d_dsd", MEM4D % "32768"), "a stride of 32768 is out of range; use -32768 to 32767"),
        (of("mem4d_dsd", MEM4D % "-32769"), "a stride of -32769 is out of range; use -32768 to 32767"),
        (of("mem4d_dsd", MEM4D % "count"), "expected 'i16', found 'u16'"),
    ],
    "DSD-052": [
        (of("mem4d_dsd", CELLS % "1, 65536"), "an extent of 65536 is out of range; use 0 to 65535"),
        (of("mem4d_dsd", CELLS % "signed, 2"), "expected 'u16', found 'i16'"),
    ],
    "DSD-057": [
        (
            with_access("|i, j, k, l, m|{1, 1, 1, 1, 1} -> a[i + j + k + l + m]", "mem4d_dsd"),
            "5 variables; a DSD has at most 4 dimensions (DSD-057)",
        ),
        (of("mem4d_dsd", CELLS % "1, 1, 1, 1, 1"), "a mem4d_dsd has 1 to 4 dimensions, not 5 (DSD-057)"),
    ],
    "DSD-080": [
        (ring("4", "21"), "'.wraparound' is 21, but the buffer has 20 elements"),
        (ring("65536", "20"), "an extent of 65536 is out of range; use 0 to 65535"),
        (ring("-1", "20"), "an extent of -1 is out of range; use 0 to 65535"),
    ],
    "DSD-095": [
        (of("fabin_dsd", IN + "65536"), "an extent of 65536 is out of range; use 0 to 65535"),
        (of("fabout_dsd", OUT + "-1"), "an extent of -1 is out of range; use 0 to 65535"),
    ],
    "DSD-153": [
        ("@set_fifo_read_length(fifo, 65536);", "65536 does not fit in 'u16'"),
        ("@set_fifo_write_length(fifo, -1);", "-1 does not fit in 'u16'"),
        ("@set_fifo_write_length(fifo, signed);", "expected 'u16', found 'i16'"),
    ],
    "DSD-166": [
        ("@mov16(@increment_dsd_offset(line, -32769, i16), 1);", "-32769 is out of range; use -32768 to 32767"),
        ("@mov16(@increment_dsd_offset(line, count, i16), 1);", "expected 'i16', found 'u16'"),
    ],
    "DSD-174": [
        ("@mov16(@set_dsd_length(line, 65536), 1);", "a length of 65536 is out of range; use 0 to 65535"),
        ("@mov16(@set_dsd_length(line, -1), 1);", "a length of -1 is out of range; use 0 to 65535"),
        ("@mov16(@set_dsd_length(line, signed), 1);", "expected 'u16', found 'i16'"),
    ],
    "DSD-178": [
        ("@mov16(@set_dsd_stride(line, 128), 1);", "a stride of 128 is out of range; use -128 to 127"),
        ("@mov16(@set_dsd_stride(line, -129), 1);", "a stride of -129 is out of range; use -128 to 127"),
        ("@mov16(@set_dsd_stride(line, signed), 1);", "expected 'i8', found 'i16'"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("rule", REFUSED)
def test_refused(csl: Csl, rule: str) -> None:
    """One step beyond each edge, and values of run time of another type than the field's."""
    for statement, message in REFUSED[rule]:
        with pytest.raises(LoomError) as caught:
            compile_main(csl, statement, "wse3")
        assert message in caught.value.message, (statement, str(caught.value))
