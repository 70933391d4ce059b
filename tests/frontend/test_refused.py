"""Every rule of DSDs and DSRs by which something is refused, from CSL text, with the place and the message."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .harness import Csl

WSE2, WSE3 = ("wse2",), ("wse3",)
BOTH = (*WSE2, *WSE3)

LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .c = @get_color(3) });
  @set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });
  @export_name("main", fn() void);
}
"""

DECLARATIONS = """
param c: color;
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
var a = @zeros([12]i16);
var m = @zeros([3, 4]i16);
var f = @zeros([12]f32);
var x: i16 = 0;
var n: u16 = 3;
var wide: u32 = 3;
var signed: i16 = 3;
var pointer: [*]i16 = &a;
var flag: bool = true;
const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
const d4 = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{2, 3} -> m[i, j] });
const s = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> f[i] });
const ring = @get_dsd(circbuf_dsd, .{ .base_address = &a, .extent = 4 });
const in = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
const out = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
var room = @zeros([8]i16);
const fifo = @allocate_fifo(room);
var room2 = @zeros([8]i16);
const fifo2 = @allocate_fifo(room2);
const dest = @get_dsr(dsr_dest, 1);
const src0 = @get_dsr(dsr_src0, 1);
const src1 = @get_dsr(dsr_src1, 1);
const xdsr0 = @get_xdsr(0);
const sr0 = @get_sr(0);
const local = @get_local_task_id(9);
const unbound = @get_local_task_id(11);
task done() void {}
task control() void {}
comptime {
  @bind_local_task(done, local);
  @bind_control_task(control, @get_control_task_id(40));
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(oq, .{ .color = c });
}
"""

REFUSED: dict[str, list[tuple[tuple[str, ...], str, str, str]]] = {
    "DSD-004": [
        (BOTH, "const made = @get_dsd(«fifo», .{ .extent = 4 });", "_ = made;", "a type is needed here, not a value of type 'fifo_dsd'"),
        (BOTH, "const made = @get_dsd(«mem2d_dsd», .{ .extent = 4 });", "_ = made;", "'mem2d_dsd' is not declared; did you mean 'mem4d_dsd'?"),
    ],
    "DSD-005": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .strides = 1 }»);", "_ = made;", "a 'mem1d_dsd' has no field '.strides'; did you mean '.stride'?"),
        (BOTH, "const made = @get_dsd(fabin_dsd, «.{ .input_queue = iq, .fabric_color = c }»);", "_ = made;", "a 'fabin_dsd' needs a field '.extent'"),
        (BOTH, "const made = @get_dsd(fabout_dsd, «.{ .output_queue = oq, .fabric_color = c }»);", "_ = made;", "a 'fabout_dsd' needs a field '.extent'"),
        (BOTH, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .output_queue = oq }»);", "_ = made;", "a 'fabin_dsd' has no field '.output_queue'; did you mean '.input_queue'?"),
    ],
    "DSD-007": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .base_address = «a», .extent = 4 });", "_ = made;", "'a' is memory of the PE, which cannot be read at compile time; write &a for its address, or declare it 'const'"),
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, «.{ .base_address = x, .extent = 4 }»), 1);", "a base address is a pointer, not a value of type 'i16'; write & in front of the variable"),
    ],
    "DSD-008": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 65536 }»);", "_ = made;", "an extent of 65536 is out of range; use 0 to 65535"),
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = signed }»), 1);", "expected 'u16', found 'i16'; convert it with @as(u16, ...)"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 2.0 }»);", "_ = made;", "an extent is an integer, not 'comptime_float'"),
    ],
    "DSD-009": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .stride = 128 }»);", "_ = made;", "a stride of 128 is out of range; use -128 to 127"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .stride = -129 }»);", "_ = made;", "a stride of -129 is out of range; use -128 to 127"),
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .stride = signed }»), 1);", "expected 'i8', found 'i16'; convert it with @as(i8, ...)"),
    ],
    "DSD-011": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .offset = 32768 }»);", "_ = made;", "an offset of 32768 is out of range; use -32768 to 32767"),
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .offset = wide }»), 1);", "expected 'i16', found 'u32'; convert it with @as(i16, ...)"),
    ],
    "DSD-013": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .tensor_access = 3 }»);", "_ = made;", "'.tensor_access' is written |i|{n} -> array[i], or as a struct"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .tensor_access = &a }»);", "_ = made;", "'.tensor_access' is written |i|{n} -> array[i], or as a struct"),
    ],
    "DSD-014": [
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .wavelet_index_offset = flag }»), 1, .{ .index = n });", "field '.wavelet_index_offset' must be known at compile time"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .wavelet_index_offset = 1 }»);", "_ = made;", "field '.wavelet_index_offset' is 'true' or 'false', not of type 'comptime_int'"),
    ],
    "DSD-016": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a }»);", "_ = made;", "a 'mem1d_dsd' needs a field '.extent'"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .extent = 4 }»);", "_ = made;", "a 'mem1d_dsd' needs a field '.base_address'"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{}»);", "_ = made;", "a 'mem1d_dsd' needs a field '.base_address'"),
    ],
    "DSD-020": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .tensor_access = |i, j|{3, 4} -> m[i, j] }»);", "_ = made;", "a mem1d_dsd has one variable, not 2 (DSD-020); use mem4d_dsd"),
    ],
    "DSD-021": [
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{«n»} -> a[i] }), 1);", "'n' is memory of the PE, which cannot be read at compile time; declare it 'const', or compute this at run time"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{«-1»} -> a[i] });", "_ = made;", "an extent of -1 is out of range; use 0 to 65535 (DSD-021)"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{«2.5»} -> a[i] });", "_ = made;", "an extent must be an integer, not 'comptime_float'"),
    ],
    "DSD-023": [
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> «pointer»[i] }), 1);", "the pointer 'pointer' must be known at compile time; set one of the run with @set_dsd_base_addr (DSD-023)"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> «x»[i] });", "_ = made;", "a tensor access needs an array, not a value of type 'i16'"),
    ],
    "DSD-024": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = «|i|{3} -> m[i]» });", "_ = made;", "'[3, 4]i16' has 2 dimensions, but there are 1 indices (DSD-024)"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = «|i|{3} -> a[i, i]» });", "_ = made;", "'[12]i16' has 1 dimensions, but there are 2 indices (DSD-024)"),
    ],
    "DSD-025": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = «|i|{3} -> a[i * i]» });", "_ = made;", "the index is not affine: it must be a sum of the variables times constants (DSD-025)"),
        (BOTH, "const made = @get_dsd(mem4d_dsd, .{ .tensor_access = «|i, j|{2, 2} -> a[i * j]» });", "_ = made;", "the index is not affine: it must be a sum of the variables times constants (DSD-025)"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = «|i|{3} -> a[i / 2]» });", "_ = made;", "the index is not affine: it must be a sum of the variables times constants (DSD-025)"),
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[«signed» * i] }), 1);", "'signed' is memory of the PE, which cannot be read at compile time; declare it 'const', or compute this at run time"),
    ],
    "DSD-026": [
        (BOTH, "", "@mov16(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i + «signed»] }), 1);", "'signed' is memory of the PE, which cannot be read at compile time; declare it 'const', or compute this at run time"),
    ],
    "DSD-032": [
        (BOTH, "var big = @zeros([400]i16); const made = @get_dsd(mem1d_dsd, «.{ .tensor_access = |i|{3} -> big[128 * i] }»);", "_ = made;", "a stride of 128 is out of range; use -128 to 127"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{«65536»} -> a[0] });", "_ = made;", "an extent of 65536 is out of range; use 0 to 65535 (DSD-021)"),
    ],
    "DSD-036": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .tensor_access = |i|{3} -> a[i], .extent = 3 }»);", "_ = made;", "'.extent' is given twice, by '.tensor_access' too; leave one out"),
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .tensor_access = |i, j|{3, 4} -> m[i, j], .offset = 0 }»);", "_ = made;", "'.offset' is given twice, by '.tensor_access' too; leave one out"),
    ],
    "DSD-047": [
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &x, .extent = .{ 2, 2 } }»);", "_ = made;", "'.base_address' of a mem4d_dsd points to an array, not to a 'i16' (DSD-047)"),
    ],
    "DSD-048": [
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 2, 2 }, .offset = -32769 }»);", "_ = made;", "an offset of -32769 is out of range; use -32768 to 32767"),
    ],
    "DSD-050": [
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 2, 2 }, .stride = .{ 1, 32768 } }»);", "_ = made;", "a stride of 32768 is out of range; use -32768 to 32767"),
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 2, 2 }, .stride = 1 }»);", "_ = made;", "1 strides for 2 extents; give as many of each (DSD-053)"),
    ],
    "DSD-052": [
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 2, -2 } }»);", "_ = made;", "an extent of -2 is out of range; use 0 to 65535"),
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ .x = 2, .y = 2 } }»);", "_ = made;", "'.extent' is a tuple such as .{ 2, 3 }, and its members have no names (DSD-050, DSD-052)"),
    ],
    "DSD-053": [
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 2, 2 }, .stride = .{ 1, 2, 3 } }»);", "_ = made;", "3 strides for 2 extents; give as many of each (DSD-053)"),
    ],
    "DSD-054": [
        (BOTH, "", "@mov16(@get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 2, 2 }, .wavelet_index_offset = flag }»), 1, .{ .index = n });", "field '.wavelet_index_offset' must be known at compile time"),
    ],
    "DSD-057": [
        (BOTH, "const made = @get_dsd(mem4d_dsd, .{ .tensor_access = «|i, j, k, l, o|{1, 1, 1, 1, 1} -> a[i + j + k + l + o]» });", "_ = made;", "5 variables; a DSD has at most 4 dimensions (DSD-057)"),
        (BOTH, "const made = @get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 1, 1, 1, 1, 1 } }»);", "_ = made;", "a mem4d_dsd has 1 to 4 dimensions, not 5 (DSD-057)"),
    ],
    "DSD-058": [
        (BOTH, "const made = @get_dsd(mem4d_dsd, .{ .tensor_access = «|i, j|{3} -> m[i, j]» });", "_ = made;", "2 variables but 1 extents; give each variable one (DSD-058)"),
        (BOTH, "const made = @get_dsd(mem1d_dsd, .{ .tensor_access = «|i|{3, 4} -> a[i]» });", "_ = made;", "1 variables but 2 extents; give each variable one (DSD-058)"),
    ],
    "DSD-073": [
        (BOTH, "", "@add16(«&x», d, d);", "the destination of @add16 must be a DSD, not a pointer (DSD-072)"),
        (BOTH, "", "@fmacs(«&f[0]», s, s, f[1]);", "the destination of @fmacs must be a DSD, not a pointer (DSD-072)"),
    ],
    "DSD-078": [
        (BOTH, "", "@load_to_dsr_xdsr(dest, xdsr0, @get_dsd(circbuf_dsd, «.{ .base_address = pointer, .extent = 4, .wraparound = 4 }»));", "'.base_address' of a circbuf_dsd must be known at compile time (DSD-078)"),
    ],
    "DSD-079": [
        (BOTH, "", "@load_to_dsr_xdsr(dest, xdsr0, @get_dsd(circbuf_dsd, «.{ .base_address = &a, .extent = n }»));", "'.extent' of a circbuf_dsd must be known at compile time; set others with @set_dsd_length"),
        (BOTH, "const made = @get_dsd(circbuf_dsd, «.{ .base_address = &a, .extent = -1 }»);", "_ = made;", "an extent of -1 is out of range; use 0 to 65535"),
    ],
    "DSD-080": [
        (BOTH, "const made = @get_dsd(circbuf_dsd, «.{ .base_address = &a, .extent = 4, .wraparound = 65536 }»);", "_ = made;", "'.wraparound' is 65536, but the buffer has 12 elements"),
        (BOTH, "", "@load_to_dsr_xdsr(dest, xdsr0, @get_dsd(circbuf_dsd, «.{ .base_address = &a, .extent = 4, .wraparound = n }»));", "field '.wraparound' must be known at compile time"),
    ],
    "DSD-085": [
        (BOTH, "const made = @get_dsd(circbuf_dsd, «.{ .base_address = &a, .extent = 4, .wraparound = 13 }»);", "_ = made;", "'.wraparound' is 13, but the buffer has 12 elements"),
    ],
    "DSD-086": [
        (BOTH, "const made = @get_dsd(circbuf_dsd, «.{ .base_address = &a[2], .extent = 4 }»);", "_ = made;", "a circbuf_dsd over a '*i16' needs '.wraparound'; only an array implies it"),
    ],
    "DSD-091": [
        (BOTH, "", "@mov16(«ring», d);", "a circbuf_dsd works only in a register; load it with @load_to_dsr_xdsr (DSD-091)"),
        (BOTH, "", "@mov16(d, «ring»);", "a circbuf_dsd works only in a register; load it with @load_to_dsr_xdsr (DSD-091)"),
    ],
    "DSD-097": [
        (WSE3, "", "@mov16(d, «@get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c })»);", "on {ARCH} a fabin_dsd needs '.input_queue', beside '.fabric_color' or in its place (DSD-097)"),
    ],
    "DSD-098": [
        (WSE3, "const iq2 = @get_input_queue(4); const in2 = @get_dsd(fabin_dsd, .{ .extent = 4, .input_queue = iq2 }); comptime { @initialize_queue(iq2, .{ .color = @get_color(7) }); }", "«@add16(d, in, in2)»;", "@add16 has 2 fabric inputs, but {arch} takes 1; receive one of them into memory first"),
    ],
    "DSD-101": [
        (WSE2, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .input_queue = iq, .priority = .{ .high = true } }»);", "_ = made;", "'.priority' of a DSD does not exist on {ARCH} (DSD-101); give it to the operation"),
        (WSE2, "const made = @get_dsd(fabout_dsd, «.{ .extent = 4, .output_queue = oq, .priority = .{ .high = true } }»);", "_ = made;", "'.priority' of a DSD does not exist on {ARCH} (DSD-101); give it to the operation"),
    ],
    "DSD-102": [
        (BOTH, "", "@mov16(«in», d);", "the destination of @mov16 is a 'fabin_dsd', but wavelets are sent to a fabout_dsd (DSD-102)"),
        (BOTH, "", "@mov16(d, «out»);", "source 1 of @mov16 is a 'fabout_dsd', but wavelets are received from a fabin_dsd (DSD-102)"),
    ],
    "DSD-104": [
        (BOTH, "", "@mov16(@get_dsd(fabout_dsd, «.{ .extent = 4, .output_queue = oq, .control = flag }»), d);", "field '.control' must be known at compile time"),
        (BOTH, "const made = @get_dsd(fabout_dsd, «.{ .extent = 4, .output_queue = oq, .control = 1 }»);", "_ = made;", "field '.control' is 'true' or 'false', not of type 'comptime_int'"),
    ],
    "DSD-107": [
        (BOTH, "", "@mov16(@get_dsd(fabout_dsd, «.{ .extent = 4, .output_queue = oq, .wavelet_index_offset = flag }»), d);", "field '.wavelet_index_offset' must be known at compile time"),
    ],
    "DSD-110": [
        (BOTH, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .input_queue = iq, .control = true }»);", "_ = made;", "a 'fabin_dsd' has no field '.control'"),
        (BOTH, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .input_queue = iq, .wavelet_index_offset = true }»);", "_ = made;", "a 'fabin_dsd' has no field '.wavelet_index_offset'"),
    ],
    "DSD-113": [
        (BOTH, "var made = «@allocate_fifo(a)»;", "_ = made;", "a FIFO exists for the whole program; make it a global: const fifo = @allocate_fifo(...) (DSD-113)"),
        (BOTH, "", "const made = «@allocate_fifo(a)»;", "a FIFO exists for the whole program; make it a global: const fifo = @allocate_fifo(...) (DSD-113)"),
    ],
    "DSD-114": [
        (BOTH, "const made = @allocate_fifo(«x»);", "_ = made;", "a FIFO needs an array as its buffer, not a 'i16'"),
    ],
    "DSD-115": [
        (BOTH, "const fixed = @zeros([4]i16); const made = @allocate_fifo(«fixed»);", "_ = made;", "a FIFO writes to its array; declare the array with 'var'"),
    ],
    "DSD-116": [
        (BOTH, "var bytes = @zeros([4]u8); const made = @allocate_fifo(«bytes»);", "_ = made;", "elements of DSDs and FIFOs have 16 or 32 bits, but 'u8' has 8; convert the pointer with @ptrcast, for example to [*]u16"),
        (BOTH, "var long = @zeros([4]u64); const made = @allocate_fifo(«long»);", "_ = made;", "elements of DSDs and FIFOs have 16 or 32 bits, but 'u64' has 64; convert the pointer with @ptrcast, for example to [*]u16"),
    ],
    "DSD-118": [
        (BOTH, "var low: [4]i16 align(2) = @zeros([4]i16); const made = @allocate_fifo(«low»);", "_ = made;", "'low' has an alignment of 2 bytes, but a FIFO needs 4; declare it align(4) (DSD-118)"),
    ],
    "DSD-122": [
        (BOTH, "var other = fifo;", "@mov16(d, «other»);", "which FIFO this is must be known at compile time (DSD-122); declare the variable 'const'"),
    ],
    "DSD-123": [
        (BOTH, "fn twice(v: i16) i16 { return 2 * v; }", "@map(twice, «fifo», d);", "a 'fifo_dsd' cannot be read by @map"),
        (BOTH, "fn twice(v: i16) i16 { return 2 * v; }", "@map(twice, d, «fifo»);", "a 'fifo_dsd' cannot be written by @map"),
    ],
    "DSD-124": [
        (BOTH, "", "«@add16(d, fifo, fifo2)»;", "@add16 reads two FIFOs; at most one source can be a FIFO"),
    ],
    "DSD-125": [
        (BOTH, "", "«@add16(d, fifo, d)»;", "the first source of @add16 is a FIFO; swap the sources or copy the FIFO first"),
    ],
    "DSD-137": [
        (WSE2, "const made = @allocate_fifo(a, «.{ .empty_action = .{ .suspend = true } }»);", "_ = made;", "a FIFO has no empty_action suspend on {arch}; use test_or_suspend or terminate (DSD-137)"),
    ],
    "DSD-138": [
        (WSE2, "const made = @allocate_fifo(a, «.{ .empty_action = .{ .fault = true } }»);", "_ = made;", "a FIFO has no empty_action fault on {arch}; use test_or_suspend or terminate (DSD-138)"),
    ],
    "DSD-139": [
        (WSE2, "const made = @allocate_fifo(a, «.{ .full_action = .{ .terminate = true } }»);", "_ = made;", "a FIFO has no full_action on {arch}; remove it (DSD-139)"),
    ],
    "DSD-143": [
        (BOTH, "const made = @allocate_fifo(a, «.{ .activate_pop = unbound }»);", "_ = made;", "no task is bound to local task id 11; bind one with @bind_local_task"),
        (BOTH, "const made = @allocate_fifo(a, «.{ .activate_push = control }»);", "_ = made;", "'.activate_push' names a local task, but this one is bound as a control task"),
    ],
    "DSD-152": [
        (BOTH, "", "@set_fifo_read_length(«d», 3);", "@set_fifo_read_length sets a length of a FIFO known at compile time, not of a 'mem1d_dsd' (DSD-152)"),
        (BOTH, "", "@set_fifo_write_length(«d», 3);", "@set_fifo_write_length sets a length of a FIFO known at compile time, not of a 'mem1d_dsd' (DSD-152)"),
    ],
    "DSD-153": [
        (BOTH, "", "@set_fifo_read_length(fifo, «wide»);", "expected 'u16', found 'u32'; convert it with @as(u16, ...)"),
        (BOTH, "", "@set_fifo_write_length(fifo, «-1»);", "-1 does not fit in 'u16', which holds 0 to 65535; use a wider type, or @as to keep the low bits"),
    ],
    "DSD-156": [
        (BOTH, "comptime { «@set_fifo_read_length(fifo, 3)»; }", "", "@set_fifo_read_length changes the FIFO at run time; it cannot be called in a comptime block (DSD-156)"),
    ],
    "DSD-161": [
        (BOTH, "", "@mov16(d, @set_dsd_base_addr(«in», a));", "this must be a memory DSD, not 'fabin_dsd'"),
        (BOTH, "const made = @set_dsd_base_addr(«ring», a);", "_ = made;", "this must be a memory DSD, not 'circbuf_dsd'"),
    ],
    "DSD-162": [
        (BOTH, "", "@mov16(d, @set_dsd_base_addr(d, «x»));", "a base address is a pointer, not a value of type 'i16'; write & in front of the variable"),
    ],
    "DSD-165": [
        (BOTH, "", "@mov16(d, @increment_dsd_offset(«in», 2, i16));", "this must be a memory DSD, not 'fabin_dsd'"),
        (BOTH, "const made = @increment_dsd_offset(«ring», 2, i16);", "_ = made;", "this must be a memory DSD, not 'circbuf_dsd'"),
    ],
    "DSD-166": [
        (BOTH, "const made = @increment_dsd_offset(d, «-32769», i16);", "_ = made;", "an offset of -32769 is out of range; use -32768 to 32767"),
        (BOTH, "", "@mov16(d, @increment_dsd_offset(d, «n», i16));", "expected 'i16', found 'u16'; convert it with @as(i16, ...)"),
    ],
    "DSD-167": [
        (BOTH, "const made = @increment_dsd_offset(d, 2, «u8»);", "_ = made;", "an offset counts elements of i16, u16, i32, u32, f16 or f32, not 'u8' (DSD-167)"),
        (BOTH, "const made = @increment_dsd_offset(d, 2, «i64»);", "_ = made;", "an offset counts elements of i16, u16, i32, u32, f16 or f32, not 'i64' (DSD-167)"),
    ],
    "DSD-173": [
        (BOTH, "const made = @set_dsd_length(«d4», 2);", "_ = made;", "@set_dsd_length takes a mem1d_dsd or a fabric DSD, not a mem4d_dsd"),
    ],
    "DSD-174": [
        (BOTH, "const made = @set_dsd_length(d, «65536»);", "_ = made;", "a length of 65536 is out of range; use 0 to 65535"),
        (BOTH, "", "@mov16(d, @set_dsd_length(d, «signed»));", "expected 'u16', found 'i16'; convert it with @as(u16, ...)"),
    ],
    "DSD-177": [
        (BOTH, "const made = @set_dsd_stride(«d4», 2);", "_ = made;", "@set_dsd_stride takes a mem1d_dsd"),
        (BOTH, "", "@mov16(d, @set_dsd_stride(«in», 2));", "this must be a memory DSD, not 'fabin_dsd'"),
    ],
    "DSD-178": [
        (BOTH, "const made = @set_dsd_stride(d, «128»);", "_ = made;", "a stride of 128 is out of range; use -128 to 127"),
        (BOTH, "", "@mov16(d, @set_dsd_stride(d, «signed»));", "expected 'i8', found 'i16'; convert it with @as(i8, ...)"),
    ],
    "DSD-183": [
        (BOTH, "", "«@mov16(d, d, .{ .async = true })»;", "@mov16 is async but moves no wavelets; only operations with a fabric operand can be"),
    ],
    "DSD-189": [
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .activate = local, .unblock = local }»);", "an operation takes '.activate' or '.unblock', not both"),
    ],
    "DSD-190": [
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .activate = 9 }»);", "'.activate' takes a task, or the 'local_task_id' of one, not 'comptime_int' (DSD-190, DSD-203)"),
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .activate = x }»);", "'.activate' takes a task, or the 'local_task_id' of one, not 'i16' (DSD-190, DSD-203)"),
    ],
    "DSD-191": [
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .activate = unbound }»);", "no task is bound to local task id 11; bind one with @bind_local_task"),
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .activate = control }»);", "'.activate' names a local task, but this one is bound as a control task"),
    ],
    "DSD-192": [
        (WSE2, "", "@mov16(d, in, «.{ .async = true, .unblock = iq }»);", "tasks are blocked and unblocked by their color on {ARCH}, not by 'input_queue'"),
    ],
    "DSD-193": [
        (WSE3, "", "@mov16(d, in, «.{ .async = true, .unblock = c }»);", "tasks are blocked and unblocked by their input queue on {ARCH}, not by 'color'"),
    ],
    "DSD-194": [
        (BOTH, "", "@load_to_dsr(src1, in, .{ .async = true }); «@mov16(d, src1, .{ .async = true, .activate = local })»;", "takes effect only where the fabric descriptor is loaded; give it to that load (DSD-195)"),
    ],
    "DSD-196": [
        (BOTH, "", "@mov16(d, in, «.{ .activate = local }»);", "'.activate', '.unblock' and '.on_control' need '.async = true' (DSD-196)"),
        (BOTH, "", "@mov16(d, in, «.{ .unblock = local }»);", "'.activate', '.unblock' and '.on_control' need '.async = true' (DSD-196)"),
        (BOTH, "", "@mov16(d, in, «.{ .on_control = .{ .terminate = true } }»);", "'.activate', '.unblock' and '.on_control' need '.async = true' (DSD-196)"),
    ],
    "DSD-202": [
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .on_control = .{ .terminate = 1 } }»);", "field '.terminate' is 'true' or 'false', not of type 'comptime_int'"),
    ],
    "DSD-203": [
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .on_control = .{ .activate = unbound } }»);", "no task is bound to local task id 11; bind one with @bind_local_task"),
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .on_control = .{ .activate = iq } }»);", "'.activate' takes a task, or the 'local_task_id' of one, not 'input_queue' (DSD-190, DSD-203)"),
    ],
    "DSD-204": [
        (WSE2, "", "@mov16(d, in, «.{ .async = true, .on_control = .{ .unblock = iq } }»);", "tasks are blocked and unblocked by their color on {ARCH}, not by 'input_queue'"),
    ],
    "DSD-205": [
        (WSE3, "", "@mov16(d, in, «.{ .async = true, .on_control = .{ .unblock = c } }»);", "tasks are blocked and unblocked by their input queue on {ARCH}, not by 'color'"),
    ],
    "DSD-206": [
        (BOTH, "", "@mov16(d, in, «.{ .async = true, .on_control = .{ .unblock = control } }»);", "'.unblock' names a local or data task, but this one is bound as a control task"),
    ],
    "DSD-210": [
        (BOTH, "", "@mov16(d, «@get_dsd(fabin_dsd, .{ .extent = 4 })», .{ .async = true });", "this fabric DSD has neither '.fabric_color' nor a queue; give it one"),
        (WSE3, "", "@mov16(«@get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c })», d, .{ .async = true });", "on {ARCH} a fabout_dsd needs '.output_queue', beside '.fabric_color' or in its place (DSD-210)"),
    ],
    "DSD-213": [
        (BOTH, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .input_queue = oq }»);", "_ = made;", "field '.input_queue' is of type 'input_queue', not 'output_queue'"),
        (BOTH, "const made = @get_dsd(fabout_dsd, «.{ .extent = 4, .output_queue = iq }»);", "_ = made;", "field '.output_queue' is of type 'output_queue', not 'input_queue'"),
        (BOTH, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .input_queue = 2 }»);", "_ = made;", "field '.input_queue' is of type 'input_queue', not 'comptime_int'"),
    ],
    "DSD-219": [
        (WSE2, "const made = @get_output_queue(«6»);", "_ = made;", "there is no output queue 6 on {ARCH}; they are 0 to 5"),
        (WSE2, "const made = @get_output_queue(«7»);", "_ = made;", "there is no output queue 7 on {ARCH}; they are 0 to 5"),
    ],
    "DSD-220": [
        (BOTH, "const made = @get_input_queue(«8»);", "_ = made;", "there is no input queue 8 on {ARCH}; they are 0 to 7"),
        (BOTH, "const made = @get_output_queue(«-1»);", "_ = made;", "there is no output queue -1 on {ARCH}; they are 0 to"),
    ],
    "DSD-228": [
        (WSE3, "", "@mov16(d, in, «.{ .async = true, .priority = .{ .high = true } }»);", "'.priority' belongs to the fabric DSD or FIFO on {ARCH}, not to the operation (DSD-228)"),
    ],
    "DSD-229": [
        (WSE2, "const made = @allocate_fifo(a, «.{ .priority = .{ .low = true } }»);", "_ = made;", "'.priority' of a FIFO does not exist on {arch}; there the operation has it (DSD-229)"),
    ],
    "DSD-231": [
        (WSE2, "", "@mov16(d, in, «.{ .async = true, .priority = .{ .high = true, .low = true } }»);", "exactly one choice of '.priority' must be true, not 2"),
        (WSE3, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .input_queue = iq, .priority = .{ .high = false } }»);", "_ = made;", "exactly one choice of '.priority' must be true, not 0"),
        (WSE3, "const made = @get_dsd(fabin_dsd, «.{ .extent = 4, .input_queue = iq, .priority = .{ .highest = true } }»);", "_ = made;", "'highest' is not a '.priority'; it is one of low, medium, high"),
    ],
    "DSD-235": [
        (BOTH, "", "@mov16(d, 1, «.{ .index = 65536 }»);", "65536 does not fit in 'u16', which holds 0 to 65535; use a wider type, or @as to keep the low bits"),
        (BOTH, "", "@mov16(d, 1, «.{ .index = wide }»);", "expected 'u16', found 'u32'; convert it with @as(u16, ...)"),
    ],
    "DSD-244": [
        (WSE3, "const made = @allocate_fifo(a, «.{ .simd_mode = .{ .simd_32 = true } }»);", "_ = made;", "'.simd_mode' of a FIFO does not exist on {arch}; fabric DSDs have it (DSD-244)"),
    ],
    "DSD-248": [
        (BOTH, "const made = @get_dsd(fabout_dsd, «.{ .extent = 4, .output_queue = oq, .zero = .{ .first_source = true, .second_source = true } }»);", "_ = made;", "exactly one choice of '.zero' must be true, not 2"),
    ],
    "DSD-249": [
        (BOTH, "const made = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq, .zero = .{ .first_source = true } });", "«@mov16(made, d)»;", "@mov16 has one source, which zero calls second_source; use that instead of first_source"),
    ],
    "DSD-254": [
        (BOTH, "const made = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 4, .control_transform = true }»);", "_ = made;", "a 'mem1d_dsd' has no field '.control_transform'"),
    ],
    "DSR-008": [
        (BOTH, "", "@load_to_dsr(dest, d); @mov16(d, «dest»);", "source 1 of @mov16 is a 'dsr_dest', which holds destinations only; use a dsr_src0 or dsr_src1 (DSR-008)"),
    ],
    "DSR-010": [
        (BOTH, "", "@load_to_dsr(src1, d); @mov16(«src1», d);", "the destination of @mov16 is a 'dsr_src1', which holds sources only; use a dsr_dest or dsr_src0 (DSR-010)"),
    ],
    "DSR-019": [
        (BOTH, "const made = @get_dsr(«dsr_source», 1);", "_ = made;", "'dsr_source' is not declared; did you mean 'dsr_src1'?"),
        (BOTH, "const made = @get_dsr(«3», 1);", "_ = made;", "a type is needed here, not a value of type 'comptime_int'"),
        (BOTH, "const made = @get_dsr(«mem1d_dsd», 1);", "_ = made;", "@get_dsr takes one of the types dsr_dest, dsr_src0, dsr_src1, dsr_fifo_dest, dsr_fifo_src1, not 'mem1d_dsd' (DSR-019)"),
    ],
    "DSR-020": [
        (BOTH, "", "const made = @get_dsr(dsr_dest, «n»);", "the number of a register must be known at compile time"),
    ],
    "DSR-021": [
        (BOTH, "", "var k: u16 = n; const made = @get_dsr(dsr_dest, «k»);", "the number of a register must be known at compile time"),
    ],
    "DSR-022": [
        (BOTH, "const made = @get_dsr(dsr_dest, «-1»);", "_ = made;", "{arch} has no dest register -1; they are 0 to 15 (DSR-022)"),
        (BOTH, "const made = @get_dsr(dsr_dest, «100»);", "_ = made;", "{arch} has no dest register 100; they are 0 to 15 (DSR-022)"),
    ],
    "DSR-023": [
        (BOTH, "const made = «@get_dsr(dsr_dest, dest)»;", "_ = made;", "a 'dsr_dest' takes a register number; only a FIFO register takes another DSR (DSR-023)"),
    ],
    "DSR-024": [
        (BOTH, "const made = @get_dsr(dsr_fifo_dest, «d»);", "_ = made;", "the number of a register is an integer, not a 'mem1d_dsd'"),
    ],
    "DSR-025": [
        (BOTH, "const made = @get_dsr(dsr_fifo_dest, «src1»);", "_ = made;", "a 'dsr_fifo_dest' is a 'dsr_dest', not a 'dsr_src1' (DSR-025)"),
        (BOTH, "const made = @get_dsr(dsr_fifo_src1, «dest»);", "_ = made;", "a 'dsr_fifo_src1' is a 'dsr_src1', not a 'dsr_dest' (DSR-025)"),
    ],
    "DSR-027": [
        (BOTH, "", "const made = @get_xdsr(«n»);", "the number of a register must be known at compile time"),
    ],
    "DSR-028": [
        (BOTH, "const made = @get_xdsr(«-1»);", "_ = made;", "{arch} has no xdsr register -1; they are 0 to 15 (DSR-028)"),
        (BOTH, "const made = @get_xdsr(«100»);", "_ = made;", "{arch} has no xdsr register 100; they are 0 to 15 (DSR-028)"),
    ],
    "DSR-030": [
        (BOTH, "", "const made = @get_sr(«n»);", "the number of a register must be known at compile time"),
    ],
    "DSR-031": [
        (BOTH, "const made = @get_sr(«-1»);", "_ = made;", "{arch} has no sr register -1; they are 0 to 15 (DSR-031)"),
        (BOTH, "const made = @get_sr(«100»);", "_ = made;", "{arch} has no sr register 100; they are 0 to 15 (DSR-031)"),
    ],
    "DSR-033": [
        (BOTH, "", "@load_to_dsr(«d», d);", "@load_to_dsr loads a DSR, not a value of type 'mem1d_dsd'"),
        (BOTH, "", "@load_to_dsr(«xdsr0», d);", "@load_to_dsr loads a DSR, not a value of type 'xdsr'"),
    ],
    "DSR-034": [
        (BOTH, "", "@load_to_dsr(dest, «x»);", "@load_to_dsr does not take a value of type 'i16'; load a DSD (DSR-034)"),
        (BOTH, "", "@load_to_dsr(dest, «&a»);", "@load_to_dsr does not take a value of type '*[12]i16'; load a DSD (DSR-034)"),
    ],
    "DSR-036": [
        (BOTH, "", "@load_to_dsr(dest, d, «.{ .async = true }»);", "only a fabric DSD is loaded with '.async'; remove it from a load of memory (DSR-036)"),
    ],
    "DSR-037": [
        (BOTH, "", "@load_to_dsr(src1, in, «.{ .save_address = true }»);", "only a memory DSD is loaded with '.save_address'; remove it from a fabric DSD (DSR-037)"),
    ],
    "DSR-040": [
        (BOTH, "", "@load_to_dsr(«dest», in);", "a fabin_dsd is a source and cannot be loaded into a 'dsr_dest'; load it into a dsr_src0 or dsr_src1 (DSR-040)"),
    ],
    "DSR-041": [
        (BOTH, "", "@load_to_dsr(«src0», out);", "a fabout_dsd is a destination and cannot be loaded into a 'dsr_src0'; load it into a dsr_dest (DSR-041, DSR-042)"),
    ],
    "DSR-042": [
        (BOTH, "", "@load_to_dsr(«src1», out);", "a fabout_dsd is a destination and cannot be loaded into a 'dsr_src1'; load it into a dsr_dest (DSR-041, DSR-042)"),
    ],
    "DSR-044": [
        (BOTH, "", "@load_to_dsr(dest, «ring»);", "@load_to_dsr does not take a value of type 'circbuf_dsd'; load it with @load_to_dsr_xdsr (DSR-044)"),
    ],
    "DSR-045": [
        (BOTH, "const made = @get_dsr(dsr_fifo_dest, dest);", "@load_to_dsr(«made», d);", "@load_to_dsr loads a DSR, not a value of type 'dsr_fifo_dest' (DSR-045): it always holds its FIFO"),
    ],
    "DSR-049": [
        (BOTH, "", "@load_to_dsr_xdsr(«xdsr0», xdsr0, ring);", "@load_to_dsr_xdsr loads a DSR, not a value of type 'xdsr'"),
        (BOTH, "", "@load_to_dsr_xdsr(dest, «0», ring);", "this must be an XDSR, made by @get_xdsr, not a value of type 'comptime_int'"),
        (BOTH, "", "@load_to_dsr_xdsr(dest, «sr0», ring);", "this must be an XDSR, made by @get_xdsr, not a value of type 'sr'"),
    ],
    "DSR-050": [
        (BOTH, "", "@load_to_dsr_xdsr(dest, xdsr0, «d»);", "@load_to_dsr_xdsr does not take a value of type 'mem1d_dsd'; load it with @load_to_dsr"),
    ],
    "DSR-052": [
        (BOTH, "fn load() void { «@load_to_dsr_xdsr(dest, xdsr0, ring)»; } comptime { load(); }", "", "at compile time @load_to_dsr_xdsr belongs in a comptime block of the file itself (DSR-052)"),
    ],
    "DSR-054": [
        (BOTH, "", "@load_to_dsr_xdsr_sr(«d», xdsr0, .{ sr0 }, d4);", "@load_to_dsr_xdsr_sr loads a DSR, not a value of type 'mem1d_dsd'"),
        (BOTH, "", "@load_to_dsr_xdsr_sr(dest, xdsr0, «.{ 0 }», d4);", "the stride registers must be a tuple of @get_sr values, such as .{ sr0, sr1 }"),
        (BOTH, "", "@load_to_dsr_xdsr_sr(dest, xdsr0, «sr0», d4);", "the stride registers must be a tuple of @get_sr values, such as .{ sr0, sr1 }"),
    ],
    "DSR-055": [
        (BOTH, "", "@load_to_dsr_xdsr_sr(dest, xdsr0, .{ sr0 }, «d»);", "@load_to_dsr_xdsr_sr does not take a value of type 'mem1d_dsd'; load it with @load_to_dsr"),
    ],
    "DSR-057": [
        (BOTH, "fn load() void { «@load_to_dsr_xdsr_sr(dest, xdsr0, .{}, d4)»; } comptime { load(); }", "", "at compile time @load_to_dsr_xdsr_sr belongs in a comptime block of the file itself (DSR-057)"),
    ],
    "DSR-062": [
        (BOTH, "", "«@load_to_dsr_xdsr_sr(dest, xdsr0, .{ sr0 }, d4)»;", "this DSD needs 0 stride registers, not 1; give that many (DSR-062, DSR-064)"),
    ],
    "DSR-064": [
        (BOTH, "var moved = d4;", "moved = @increment_dsd_offset(moved, 1, i16); «@load_to_dsr_xdsr_sr(dest, xdsr0, .{}, moved)»;", "this DSD needs 3 stride registers, not 0; give that many (DSR-062, DSR-064)"),
    ],
    "DSR-072": [
        (BOTH, "const made = @allocate_fifo(a, «.{ .dest = src1, .src = src1, .xdsr = xdsr0 }»);", "_ = made;", "field '.dest' is a 'dsr_dest', not a 'dsr_src1' (DSR-072)"),
        (BOTH, "const made = @allocate_fifo(a, «.{ .dest = 1, .src = src1, .xdsr = xdsr0 }»);", "_ = made;", "field '.dest' is a 'dsr_dest', not a 'comptime_int' (DSR-072)"),
    ],
    "DSR-073": [
        (BOTH, "const made = @allocate_fifo(a, «.{ .dest = dest, .src = src1 }»);", "_ = made;", "a FIFO is given '.dest', '.src' and '.xdsr' together, or none of them (DSR-073)"),
    ],
    "DSR-074": [
        (BOTH, "const made = @allocate_fifo(a, «.{ .dest = @get_dsr(dsr_dest, 2), .src = @get_dsr(dsr_src1, 3), .xdsr = xdsr0 }»);", "_ = made;", "'.dest' is register 2 and '.src' 3; both must have the same number (DSR-074)"),
    ],
    "DSR-075": [
        (BOTH, "const made = @allocate_fifo(a, .{ .dest = @get_dsr(dsr_dest, 2), .src = @get_dsr(dsr_src1, 2), .xdsr = xdsr0 });\nvar b = @zeros([8]i16);\nconst v = @allocate_fifo(b, «.{ .dest = @get_dsr(dsr_dest, 2), .src = @get_dsr(dsr_src1, 2), .xdsr = @get_xdsr(1) }»);", "@mov16(made, d); @mov16(v, d);", "another FIFO has DSR 2; give each its own (DSR-075)"),
        (BOTH, "const made = @allocate_fifo(a, .{ .dest = @get_dsr(dsr_dest, 2), .src = @get_dsr(dsr_src1, 2), .xdsr = xdsr0 });\nvar b = @zeros([8]i16);\nconst v = @allocate_fifo(b, «.{ .dest = @get_dsr(dsr_dest, 3), .src = @get_dsr(dsr_src1, 3), .xdsr = xdsr0 }»);", "@mov16(made, d); @mov16(v, d);", "another FIFO has XDSR 0; give each its own (DSR-075)"),
    ],
    "DSR-076": [
        (BOTH, "const made = @allocate_fifo(a, .{ .dest = @get_dsr(dsr_dest, «100»), .src = @get_dsr(dsr_src1, 100), .xdsr = xdsr0 });", "_ = made;", "{arch} has no dest register 100; they are 0 to 15 (DSR-022)"),
    ],
}  # fmt: skip
"""For each rule: the machines, declarations, a statement with «the mistake» in one of the two, and the message."""

ELSEWHERE = {"DSR-046", "DSR-047"}
"""Rules that a warning reports (AMB-34), tested in test_fifos_and_registers.py."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rule", REFUSED)
def test_refused(csl: Csl, rule: str) -> None:
    """The one error is at the mistake."""
    for machines, declarations, statement, message in REFUSED[rule]:
        for arch in machines:
            text = f"{DECLARATIONS}{declarations}\nfn main() void {{ {statement} }}\ncomptime {{ @export_symbol(main); }}\n"
            expected = message.replace("{arch}", arch).replace("{ARCH}", arch.replace("wse", "WSE-"))
            csl.refuses(text, expected, layout=LAYOUT, arch=arch, lower=True)


def test_every_rule_is_tried() -> None:
    """Every rule of DSDs and DSRs of kind `reject` in rules.md is in the table."""
    rules = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()
    rejects = set(re.findall(r"^\| (DS[DR]-\d+) \| .* \| reject \| \w+ \|$", rules, re.MULTILINE))
    assert rejects == REFUSED.keys() | ELSEWHERE


def test_what_is_declared_is_taken(csl: Csl) -> None:
    """The declarations are no mistake by themselves."""
    text = f"{DECLARATIONS}fn main() void {{ @mov16(d, in, .{{ .async = true, .activate = local }}); }}\ncomptime {{ @export_symbol(main); }}\n"
    for arch in BOTH:
        csl.layout(LAYOUT, text, arch)
