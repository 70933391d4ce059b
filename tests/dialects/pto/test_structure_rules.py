"""Rules of pointers, variables, regions, local tiles and whole modules: right texts, and edits of each with their
message.
"""

from __future__ import annotations

import re

import pytest
from xdsl.dialects import test
from xdsl.ir import Region
from xdsl.utils.exceptions import VerifyException

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.instructions import OPERATIONS
from loomir.dialects.pto.module_rules import verify_program
from loomir.dialects.pto.structure_rules import STRUCTURE_RULES
from loomir.dialects.traversal import walk
from loomir.dialects.verification import verify

from .test_instruction_rules import edited, made

# ---------------------------------------------------------------------------------------------
# Types and attributes of an operation
# ---------------------------------------------------------------------------------------------

NESTED = "!pto.struct<f32,!pto.struct<i8,f16>>"
ARRAY = "!pto.local_array<8x4xf32>"
SEVERAL, ONE = "!pto.multi_tile_buf<vec,16x16xf32,count=2>", "!pto.tile_buf<vec,16x16xf32>"
WIDE, PLAIN = "!pto.tile_buf<vec,16x16xi32>", "!pto.tile_buf<vec,16x8xi32>"
PATH = "path = array<i64: {}>"

CASES: list[tuple[str, str, str, dict[str, str]]] = [
    ("inttoptr", "i64 | gm/f32", "", {
        "0:i32": "address operand must be i64", "1:gm/index": "result element type is not supported by EmitC: 'index'",
        "1:gm/i1": "result element type is not supported by EmitC: 'i1'",
        "1:gm/!pto.f8E8M0": "result element type is not supported by EmitC: '!pto.f8E8M0'"}),
    *[("inttoptr", f"ui64 | gm/{element}", "", {}) for element in ("f64", "ui8", "f8E4M3FN", "!pto.hif8")],
    ("castptr", "i64 | ub/f32", "", {
        "1:i64": "integer-to-integer cast is not a ptr cast", "0:f32": "input must be an integer, memref, or !pto.ptr<",
        "1:f32": "result must be an integer or !pto.ptr<...>",
        "0:memref<4xf32>; 1:i64": "memref-to-integer cast is unsupported",
        "0:gm/f32": "ptr-to-ptr cast must stay within the same PTO memory space"}),
    ("castptr", "ub/f16 | ub/f32", "", {"0:left/f16": "ptr-to-ptr cast must stay within the same PTO memory space"}),
    ("cmo.cacheinvalid", "gm/i32 |", "space = #pto.address_space<gm>", {
        "space = #pto.address_space<vec>": "only supports GM cache maintenance",
        "0:ub/i32": "single_cache_line address expects a GM pointer or GM tensor view",
        f"0:{ONE}": "single_cache_line address expects a GM pointer or GM tensor view"}),
    ("cmo.cacheinvalid", "!pto.partition_tensor_view<4xi32> |", "", {}),
    ("cmo.cacheinvalid", "? |", "space = #pto.address_space<gm>", {
        "space = #pto.address_space<left>": "only supports GM cache maintenance"}),
    *[(f"struct_{name}", f"{NESTED} {'f16 |' if name == 'set' else '| f16'}", PATH.format("1, 1"), {
        "": "requires attribute 'path'",
        "path = array<i64>": "struct path must have at least one index",
        PATH.format("1, 1, 0"): "struct path index 2 descends into non-struct field of type f16",
        PATH.format("2"): f"struct path index 0 (2) is out of range for {NESTED.replace(',', ', ')} with 2 field(s)",
        PATH.format("1, -1"): "struct path index 1 (-1) is out of range for !pto.struct<i8, f16> with 2 field(s)",
        PATH.format("1"): "struct path must end at a scalar field, but ends at !pto.struct<i8, f16>; extend the path",
        PATH.format("0"): f"{what} type f16 does not match field type f32 at the given path"})
      for name, what in (("get", "result"), ("set", "value"))],
    ("local_array_get", f"{ARRAY} index+index | f32", "", {
        f"0:{ONE}": "operand #0 must be !pto.local_array, but got '!pto.tile_buf<",
        "1:index": "expects 2 indices for !pto.local_array of rank 2, got 1",
        "2:f16": "result type f16 does not match array element type f32"}),
    ("local_array_set", f"{ARRAY} index+index f32 |", "", {
        f"0:{ONE}": "operand #0 must be !pto.local_array, but got '!pto.tile_buf<",
        "1:index+index+index": "expects 2 indices for !pto.local_array of rank 2, got 3",
        "2:f16": "value type f16 does not match array element type f32"}),
    ("alloc_multi_tile", f"? ? ? | {SEVERAL}", "", {
        f"3:{ONE}": "result must be `!pto.multi_tile_buf`",
        "3:!pto.multi_tile_buf<vec,16x32xf8E5M2,count=2>": "slot dtype f8E5M2 is not supported by pto.alloc_multi_tile",
        "3:!pto.multi_tile_buf<vec,16x2xf32,count=2>":
        "expects slot row-major none_box tile row byte size (cols * sizeof(dtype)) to be 32-byte aligned, but got 8",
        "0:=48": "addr must be aligned to 32 bytes for local tile memory space, got 48",
        "0:=-32": "addr must be non-negative, got -32",
        "3:!pto.multi_tile_buf<vec,16x16xf32,compact=2,count=2>":
        "multi_tile_buf slot uses row_plus_one compaction, whose padded storage footprint exceeds product(shape)",
        "1:index": "valid_row operand must be absent because slot v_row is 16",
        "2:index": "valid_col operand must be absent because slot v_col is 16",
        "3:!pto.multi_tile_buf<vec,16x16xf32,valid=?x16,count=2>":
        "valid_row operand is required because slot v_row is ?",
        "3:!pto.multi_tile_buf<vec,16x16xf32,valid=16x?,count=2>":
        "valid_col operand is required because slot v_col is ?",
        "pto.multi_buffer_addrs = array<i64: 0, 1024>":
        "attribute 'pto.multi_buffer_addrs' is reserved for pto-plan-memory"}),
    ("alloc_multi_tile", "=64 index index | !pto.multi_tile_buf<vec,16x16xf32,valid=?x?,count=16>", "", {}),
    ("multi_tile_get", f"{SEVERAL} index | {ONE}", "", {
        f"0:{ONE}": "operand #0 must be !pto.multi_tile_buf, but got '!pto.tile_buf<",
        f"2:{WIDE}": "result tile_buf must match the multi_tile_buf slot type: expected !pto.tile_buf<loc=vec"}),
    ("tassign", f"{ONE} =64 | {ONE}", "", {
        f"2:{WIDE}": "result type must match tile operand type",
        "0:!pto.partition_tensor_view<4xf32>; 2:!pto.partition_tensor_view<4xf32>":
        "expects tile operand and result to be !pto.tile_buf",
        "1:=48": "addr must be aligned to 32 bytes for local tile memory space, got 48",
        "1:=-64": "addr must be non-negative, got -64"}),
    ("bitcast", f"{ONE} | {WIDE}", "", {
        "1:!pto.tile_buf<mat,16x16xi32>": "expects src/result to have the same memorySpace",
        f"1:{ONE}": "expects src/result to have different element types; use pto.treshape for shape/config changes",
        f"1:{PLAIN}": "expects src/result to have the same shape; use pto.treshape for shape changes",
        "1:!pto.tile_buf<vec,16x16xi32,valid=8x16>": "expects src/result to have the same validShape",
        "1:!pto.tile_buf<vec,16x16xi32,blayout=col_major>": "expects src/result to have the same tile config",
        "1:!pto.tile_buf<vec,16x16xi64>": "bitcast result requires more bytes than source storage"}),
    ("bitcast", f"{ONE} | !pto.tile_buf<vec,16x16xf16>", "", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "types", "attributes", "wrong"), CASES, ids=lambda each: str(each)[:20])
def test_rules_of_types_and_attributes(name: str, types: str, attributes: str, wrong: dict[str, str]) -> None:
    """A right operation verifies; each edit of it gives upstream's message."""
    codes = types.split()
    made(name, codes, attributes).verify_()
    for edit, message in wrong.items():
        with pytest.raises(VerifyException) as caught:
            made(name, *edited(codes, attributes, edit)).verify_()
        assert f"'pto.{name}' op {message}" in str(caught.value), edit


# ---------------------------------------------------------------------------------------------
# Local tiles
# ---------------------------------------------------------------------------------------------

NZ, ZN = "blayout=col_major,slayout=row_major", "slayout=col_major"
ADDRESSES = [(memory, 512 if memory in ("left", "right", "acc") else 32)
             for memory in ("vec", "mat", "left", "right", "acc", "bias", "scaling")]  # fmt: skip
SHAPES: list[tuple[str, str, str]] = [
    ("vec,16x8xf32", "vec,16x8xindex", "expects result element type to have a byte size"),
    ("vec,3x16xf16", "vec,3x15xf16",
     "row-major none_box tile row byte size (cols * sizeof(dtype)) to be 32-byte aligned, but got 30 bytes"),
    ("vec,16x3xf16,blayout=col_major", "vec,8x3xf16,blayout=col_major",
     "col-major none_box tile column byte size (rows * sizeof(dtype)) to be 32-byte aligned, but got 16 bytes"),
    ("vec,3x16x!pto.f4E1M2x2", "vec,3x8x!pto.f4E1M2x2", "to be 16-byte aligned, but got 8 bytes"),
    ("vec,3x16x!pto.f4E2M1x2", "vec,3x16x!pto.hif8", "to be 32-byte aligned, but got 16 bytes"),
    (f"mat,16x16xf16,{NZ}", f"mat,17x16xf16,{NZ}",
     "expects result boxed tile rows to be a multiple of innerRows (16), but got 17"),
    (f"mat,16x8xf32,{NZ}", f"mat,16x12xf32,{NZ}",
     "expects result boxed tile cols to be a multiple of innerCols (8), but got 12"),
    (f"mat,16x16xf16,{ZN}", f"mat,8x16xf16,{ZN}",
     "expects result boxed tile rows to be a multiple of innerRows (16), but got 8"),
    (f"mat,32x16xi8,{ZN}", f"mat,32x24xi8,{ZN}",
     "expects result boxed tile cols to be a multiple of innerCols (16), but got 24"),
    (f"vec,17x16xf16,{NZ}", f"vec,17x17xf16,{NZ}", "boxed tile cols to be a multiple of innerCols (16), but got 17"),
    (f"mat,1x16xf16,{NZ}", f"mat,2x16xf16,{NZ}", "boxed tile rows to be a multiple of innerRows (16), but got 2"),
    (f"acc,16x16xf32,{NZ},fractal=1024", f"acc,16x8xf32,{NZ},fractal=1024",
     "boxed tile cols to be a multiple of innerCols (16), but got 8"),
    ("scaling,3x2xi8,slayout=row_major,fractal=32", "scaling,3x3xi8,slayout=row_major,fractal=32",
     "boxed tile cols to be a multiple of innerCols (2), but got 3"),
    (f"mat,16x4xi64,{NZ}", f"mat,16x4xf80,{NZ}",
     "expects result element byte size to divide 32 for boxed fractal-512 tile layout"),
]  # fmt: skip


def verify_text(text: str) -> None:
    """Verify a program as `loom pto check` does."""
    module = parse_ir(context(), text, "program.pto")
    verify(module)
    verify_program(walk(module))


def allocated(tile: str, address: int | None = None) -> str:
    start = "" if address is None else f"%a = arith.constant {address} : i64\n  "
    given = "" if address is None else "addr = %a "
    return f"func.func @f() {{\n  {start}%t = pto.alloc_tile {given}: !pto.tile_buf<{tile}>\n  return\n}}"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("right", "wrong", "message"), SHAPES)
def test_extents_that_layouts_allow(right: str, wrong: str, message: str) -> None:
    verify_text(allocated(right))
    with pytest.raises(LoomError, match=re.escape(message) + "$"):
        verify_text(allocated(wrong))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("memory", "alignment"), ADDRESSES)
def test_where_tiles_begin(memory: str, alignment: int) -> None:
    tile = f"{memory},16x16xf32"
    verify_text(allocated(tile, 3 * alignment))
    for address in (alignment // 2, 3 * alignment + 16):
        message = f"addr must be aligned to {alignment} bytes for local tile memory space, got {address}"
        with pytest.raises(LoomError, match=message):
            verify_text(allocated(tile, address))
    with pytest.raises(LoomError, match=f"addr must be non-negative, got -{alignment}"):
        verify_text(allocated(tile, -alignment))


OPEN = "vec, 16x32xf32, valid=?x?"
OPENS = f"!pto.multi_tile_buf<{OPEN}, count=2>"
VALID = {
    "alloc_tile": f"%t = pto.alloc_tile valid_row = %m valid_col = %n : !pto.tile_buf<{OPEN}>",
    "set_validshape": f"""%t = pto.alloc_tile valid_row = %i valid_col = %i : !pto.tile_buf<{OPEN}>
  pto.set_validshape %t, %m, %n : !pto.tile_buf<{OPEN}>""",
    "alloc_multi_tile": f"%t = pto.alloc_multi_tile valid_row = %m valid_col = %n : {OPENS}",
    "tpop_from_aic": f"""%a = pto.reserve_buffer {{name = "b", size = 16384, location = #pto.address_space<vec>,
    auto = true}} -> i32
  pto.aiv_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 2048}}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic(%m, %n) {{id = 0, split = 0}} -> !pto.tile_buf<{OPEN}>
  pto.tfree_from_aic {{id = 0, split = 0}}""",
}
"""Where a program gives valid rows and columns."""


@pytest.mark.parametrize("body", VALID.values(), ids=VALID)
def test_constant_valid_extents(body: str) -> None:
    def of(rows: int, columns: int) -> str:
        return f"""func.func @f(%i: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %m = arith.constant {rows} : index
  %n = arith.constant {columns} : index
  {body}
  return
}}"""

    for extents in ((0, 0), (16, 32)):
        verify_text(of(*extents))
    for extents, message in (
        ((17, 32), "expects row operand <= shape dim (16), not 17"),
        ((16, 33), "expects col operand <= shape dim (32), not 33"),
        ((-1, 32), "expects row operand to be non-negative, not -1"),
    ):
        with pytest.raises(LoomError, match=re.escape(message)):
            verify_text(of(*extents))


@pytest.mark.parametrize("valid", ["17x32", "16x33", "17x?", "?x33"])
def test_valid_extents_of_types(valid: str) -> None:
    with pytest.raises(LoomError, match=r"tile_buf valid_(row|col) \(\d+\) exceeds (row|col) \(\d+\)"):
        verify_text(f"func.func @f(%t: !pto.tile_buf<vec, 16x32xf32, valid={valid}>) {{\n  return\n}}")


# ---------------------------------------------------------------------------------------------
# What is around an operation, and whole modules
# ---------------------------------------------------------------------------------------------

TILE = "!pto.tile_buf<vec, 16x16xf32>"
POINTER = """
func.func @f(%n: i64, %i: index, %v: f32) {
  %p = pto.inttoptr %n : i64 -> !pto.ptr<f32>
  %x = pto.load_scalar %p[%i] : !pto.ptr<f32> -> f32
  pto.store_scalar %v, %p[%i] : !pto.ptr<f32>, f32
  return
}
"""
NO_OFFSETS = "may only be used as the pointer operand of pto.load_scalar or pto.store_scalar, not by 'pto.addptr'"
VARIABLES = """
func.func @f(%c: i1, %v: f32) {
  %s = pto.declare_struct -> !pto.struct<f32, i8>
  scf.if %c {
    pto.struct_set %s[0], %v : !pto.struct<f32, i8>, f32
    scf.yield
  }
  %x = pto.struct_get %s[0] : !pto.struct<f32, i8> -> f32
  return
}
"""
ESCAPES = ("stack-local struct must not escape the scope that declares it, but its value is passed to '{}'; declare "
           "the struct in the outer scope and mutate it from the nested region instead")  # fmt: skip
YIELD = f"pto.yield(%t, %v) : ({TILE}, f32) -> ()"
REGION = f"""
func.func @f(%t: {TILE}, %v: f32) {{
  %a, %b = pto.fusion_region {{
    {YIELD}
  }} : {TILE}, f32
  return
}}
"""
SLOTS = """
func.func @f() {
  %c = arith.constant 1 : index
  %m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x16xf32, count=2>
  %t = pto.multi_tile_get %m[%c] : !pto.multi_tile_buf<vec, 16x16xf32, count=2> -> !pto.tile_buf<vec, 16x16xf32>
  return
}
"""
ENTRY = """
func.func @f() attributes {pto.entry} {
  return
}
func.func private @g() -> i32
"""
HELPER = f"""
func.func @other() {{
  return
}}
func.func @f(%t: {TILE}, %i: index, %n: i64, %x: f32) attributes {{pto.tileop.helper}} {{
  %p = pto.castptr %n : i64 -> !pto.ptr<i32>
  %u = pto.castptr %n : i64 -> !pto.ptr<i32, ub>
  %z = arith.constant 0 : i32
  %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
  // here
  return
}}
"""
NO_SECTIONS = "tileop helpers must not contain pre-existing sections"
NO_FLAGS = "tileop helpers must not contain pipe synchronization"
NO_THREADS = "tileop helpers must launch a @pto.simt helper instead of containing SIMT operations directly"
NO_TILES = "tileop helpers must not contain Tile allocation or high-level TileOps"
NO_TRANSFERS = "tileop helpers must not contain MTE data movement"
HERE = "// here"
IN_HELPERS: list[tuple[str, str]] = [
    ("pto.section.cube { }", NO_SECTIONS),
    ("pto.section.vector { }", NO_SECTIONS),
    ("scf.execute_region { pto.section.vector { } scf.yield }", NO_SECTIONS),
    ("pto.mte_gm_ub %p, %u, %n, %n nburst(%n, %n, %n) : !pto.ptr<i32>, !pto.ptr<i32, ub>, i64, i64, i64, i64, i64",
     NO_TRANSFERS),
    ("pto.barrier <PIPE_ALL>", NO_FLAGS),
    ("pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>", NO_FLAGS),
    ("pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]", NO_FLAGS),
    ("pto.wait_flag_dyn [#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, %i]", NO_FLAGS),
    ("pto.record_event [#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID0>]", NO_FLAGS),
    ('pto.get_buf "PIPE_V", 0', NO_FLAGS),
    ("pto.sync.set <PIPE_V>, 3", NO_FLAGS),
    ("pto.fence.barrier_all #pto.fence_scope<gm>", NO_FLAGS),
    ("%e = pto.declare_eventid_array -> !pto.eventid_array<2>", NO_FLAGS),
    ("pto.store_vfsimt_info %z, %z, %z : i32, i32, i32", NO_THREADS),
    ("pto.trap", NO_THREADS),
    ("%b = pto.get_block_idx", NO_THREADS),
    ("%a = pto.load %p[%i] : !pto.ptr<i32> -> i32", NO_THREADS),
    (f"pto.tabs ins(%t : {TILE}) outs(%t : {TILE})", NO_TILES),
    (f"%a = pto.alloc_tile : {TILE}", NO_TILES),
    (f"pto.taddc ins(%t, %t, %t : {TILE}, {TILE}, {TILE}) outs(%t : {TILE})", NO_TILES),
    (f"%a = pto.tassign %t, %n : {TILE} -> {TILE}", NO_TILES),
    ("%a = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x16xf32, count=2>", NO_TILES),
    ('%a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32',
     NO_TILES),
    ("func.call @other() : () -> ()", "tileop helpers must not call another helper; use pto.simt_launch for SIMT work"),
]  # fmt: skip
ALLOWED = [
    'pto.mem_bar "VV_ALL"', 'pto.get_buf_dyn "PIPE_V", %i', 'pto.rls_buf_dyn "PIPE_V", %i',
    f"%a = pto.bitcast %t : {TILE} -> {TILE.replace('f32', 'i32')}",
    "%a = pto.tile_buf_addr %t : " + TILE + " -> !pto.ptr<f32, ub>",
]  # fmt: skip


def check_edit(text: str, old: str, new: str, message: str) -> None:
    assert old in text, old
    with pytest.raises(LoomError) as caught:
        verify_text(text.replace(old, new, 1))
    assert message in caught.value.message, (old, new)


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (POINTER, [
            ("%x =", "%q = pto.addptr %p, %i : !pto.ptr<f32> -> !pto.ptr<f32> %x =", NO_OFFSETS),
        ]),
        (VARIABLES, [
            ("  return\n", "  return %s : !pto.struct<f32, i8>\n", ESCAPES.format("func.return")),
            ("scf.if %c {\n",
             "%r = scf.if %c -> (!pto.struct<f32, i8>) { scf.yield %s : !pto.struct<f32, i8> } else {\n",
             ESCAPES.format("scf.yield")),
        ]),
        (REGION, [
            (YIELD, "", "expects body to terminate with pto.yield"),
            ("pto.yield(%t, %v)", "^b(%w: f32): pto.yield(%t, %v)", "expects body block to have no arguments, got 1"),
            (YIELD, "%w = arith.constant 0 : i32", "expects body to terminate with pto.yield"),
            (YIELD, f"pto.yield(%t) : ({TILE}) -> ()",
             "expects pto.yield to return 2 values, got 1"),
            (YIELD, "pto.yield(%v, %v) : (f32, f32) -> ()",
             "expects yielded value #0 to have type '!pto.tile_buf<loc=vec"),
            ("  return", "  pto.yield(%v) : (f32) -> ()\n  return",
             "expects parent op to be pto.fusion_region"),
        ]),
        (SLOTS, [
            ("constant 1", "constant 2", "constant slot 2 is out of range for multi_tile_buf count=2"),
            ("constant 1", "constant -1", "constant slot -1 is out of range for multi_tile_buf count=2"),
        ]),
        (ENTRY, [
            *[("f() attributes {pto.entry} {\n", f"f() -> i32 attributes {{{name}}} {{\n  %z = arith.constant 0 : i32\n"
               "  return %z : i32\n} func.func @h() {\n", "'func.func' op PTO entry functions must return void")
              for name in ("pto.entry", "hacc.entry", "pto.kernel", "pto.aicore")],
            ("@g() -> i32", "@g() -> i32 attributes {pto.entry}",
             "'func.func' op `pto.entry` is only valid on function definitions"),
            ("@f()", "@f(%s: !pto.struct<f32>)",
             "argument 0 has type !pto.struct<f32>, but a stack-local struct must not be a function argument; structs "
             "must originate from 'pto.declare_struct' in the same function"),
            ("@g() -> i32", "@g() -> (i32, !pto.struct<f32>)",
             "result 1 has type !pto.struct<f32>, but a stack-local struct must not be returned"),
            ("@g() -> i32", "@g() -> i32 attributes {pto.tileop.helper}",
             "tileop helpers must not return values; write results through mutable Tile parameters"),
        ]),
        (HELPER, [
            ("%i: index", "%i: index, %q: !pto.ptr<f32>",
             "tileop argument #2 must be !pto.tile_buf or a PTO scalar, got !pto.ptr<f32>"),
            *[(HERE, line, message) for line, message in IN_HELPERS],
        ]),
    ],
    ids=["pointer", "variables", "region", "slots", "entry", "helper"],
)  # fmt: skip
def test_rules_of_places(text: str, edits: list[tuple[str, str, str]]) -> None:
    """A right text verifies, and each edit of it gives upstream's message."""
    verify_text(text)
    for old, new, message in edits:
        check_edit(text, old, new, message)


@pytest.mark.parametrize("line", ALLOWED)
def test_what_helpers_may_contain(line: str) -> None:
    verify_text(HELPER.replace(HERE, line))


def test_helpers_do_not_access_memory_past_the_caches() -> None:
    """Such accesses are for entry functions, which a helper may be besides."""
    text = HELPER.replace("{pto.tileop.helper}", "{pto.tileop.helper, pto.entry}")
    verify_text(text)
    check_edit(
        text,
        HERE,
        "%a = pto.ld_dev %p[%i] : !pto.ptr<i32> -> i32",
        "tileop helpers may only contain Vector or Cube compute operations",
    )


def test_a_region_has_a_block() -> None:
    region = OPERATIONS["fusion_region"].create(regions=[Region()])
    with pytest.raises(VerifyException, match=r"'pto.fusion_region' op expects a non-empty body region"):
        region.verify_()


def test_variables_come_from_their_declaration_alone() -> None:
    """A result of another operation hides which block declares the variable."""
    text = """
func.func @f(%c: i1) {
  %r = "test.op"() : () -> !pto.struct<f32>
  return
}
"""
    known = context()
    known.load_op(test.TestOp)
    message = "'test.op' op result 0 has type !pto.struct<f32>, but only 'pto.declare_struct' may produce a "
    with pytest.raises(LoomError, match=re.escape(message)):
        verify_program(walk(parse_ir(known, text, "program.pto")))


def test_every_rule_has_a_row() -> None:
    places = ("declare_struct", "fusion_region", "yield")
    assert {name for name, *_ in CASES} | set(places) == set(STRUCTURE_RULES)
