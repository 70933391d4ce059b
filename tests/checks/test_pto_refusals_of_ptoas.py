"""What passes and the driver of PTOAS refuse beside its verifiers: addresses, operands that share bytes, fragments."""

from __future__ import annotations

import pytest

from loomir.diagnostics.errors import LoomError
from loomir.host.pto_check import check

BYTES = "!pto.tile_buf<vec, 16x32xui8>"
ZZ = "!pto.tile_buf<vec, 16x32xui8, slayout=row_major>"
SCRATCH = "!pto.tile_buf<vec, 1x96xui8>"
F32 = "!pto.tile_buf<vec, 16x16xf32>"


def found(
    body: str, *, arch: str = "a5", arguments: str = "", kind: str = "vector", entry: str = "pto.entry",
    level: int | None = None,
) -> str:  # fmt: skip
    """Return the findings about a function as lines."""
    attributes = [f"pto.kernel_kind = #pto.kernel_kind<{kind}>"] if kind else []
    attributes += [entry] if entry else []
    numbers = "".join(f"%c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 8, 16))
    text = (
        f'module attributes {{pto.target_arch = "{arch}"}} {{\n'
        f"func.func @f({arguments}) attributes {{{', '.join(attributes)}}} {{\n{numbers}{body}\nreturn\n}}\n}}\n"
    )
    return "\n".join(map(str, check(text, level=level)))


def alloc(name: str, kind: str, address: int | None) -> str:
    if address is None:
        return f"%{name} = pto.alloc_tile : {kind}\n"
    return f"%{name}_a = arith.constant {address} : i64\n%{name} = pto.alloc_tile addr = %{name}_a : {kind}\n"


# ---------------------------------------------------------------------------------------------
# Operands that share bytes
# ---------------------------------------------------------------------------------------------


def rearranged(source: int | None, scratch: int | None, result: int | None) -> str:
    tiles = alloc("s", BYTES, source) + alloc("t", SCRATCH, scratch) + alloc("d", ZZ, result)
    return f"{tiles}pto.tmov ins(%s : {BYTES}, %t : {SCRATCH}) outs(%d : {ZZ}) {{grpAxis = #pto<mx_group_axis axis0>}}"


@pytest.mark.parametrize(("source", "scratch", "result"), [(0, 512, 256), (0, 480, 1024), (1024, 0, 64)])
def test_operands_that_share_bytes(source: int, scratch: int, result: int) -> None:
    sizes = {"src": (source, 512), "tmp": (scratch, 96), "dst": (result, 512)}
    shared = {
        (one, other)
        for one, (start, size) in sizes.items()
        for other, (begin, length) in sizes.items()
        if set(range(start, start + size)) & set(range(begin, begin + length)) and one < other
    }
    message = found(rearranged(source, scratch, result))
    assert bool(shared) == ("operand byte ranges overlap" in message)
    assert not shared or "[operand-overlap]" in message


def test_operands_apart_and_placed() -> None:
    assert "operand-overlap" not in found(rearranged(0, 512, 1024))
    assert "operand-overlap" not in found(rearranged(None, None, None))


def test_parts_of_one_tile() -> None:
    whole = "!pto.tile_buf<vec, 32x32xui8>"
    part = f"pto.subview %w[%c{{}}, %c0] sizes [16, 32] : {whole} -> {BYTES}\n"
    body = alloc("w", whole, None) + alloc("d", ZZ, None) + f"%s = {part.format(0)}%t = {part}"
    body += f"pto.tmov ins(%s : {BYTES}, %t : {BYTES}) outs(%d : {ZZ}) {{grpAxis = #pto<mx_group_axis axis0>}}"
    assert "src is in bytes 0 to 511 of its tile, and tmp is in bytes 256 to 767" in found(body.replace("%c{}", "%c8"))
    assert "operand-overlap" not in found(body.replace("%c{}", "%c16"))


# ---------------------------------------------------------------------------------------------
# Levels
# ---------------------------------------------------------------------------------------------

SUM = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"


@pytest.mark.parametrize(("first", "second"), [(None, None), (0, 1024), (0, None), (None, 0)])
def test_all_tiles_have_addresses_or_none(first: int | None, second: int | None) -> None:
    message = found(alloc("a", F32, first) + alloc("b", F32, second))
    assert ("requires 'addr' operand when --pto-level=level3" in message) == ((first is None) != (second is None))


def test_scratch_that_is_left_out_beside_addresses() -> None:
    """A warning: published kernels do so."""
    body = alloc("a", F32, 0) + alloc("b", SUM, 1024) + f"pto.trowsum ins(%a : {F32}) outs(%b : {SUM})"
    assert "warning: 'pto.trowsum' op requires explicit tmp when --pto-level=level3" in found(body, arch="a2a3")
    assert "build-level" not in found(body, arch="a5")
    assert "build-level" not in found(body.replace("addr = %a_a ", "").replace("addr = %b_a ", ""), arch="a2a3")


BUFFER = '%r = pto.reserve_buffer {name = "r", size = 1024, location = #pto.address_space<vec>, auto = AUTO} -> i32\n'
SLOTS = "!pto.multi_tile_buf<vec, 16x16xf32, count=2>"


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [
        (alloc("a", F32, None), "", "'pto.alloc_tile' op requires 'addr' operand when --pto-level=level3"),
        (
            alloc("a", F32, 0),
            "'pto.alloc_tile' op has an unexpected 'addr' operand: only supported when --pto-level=",
            "",
        ),
        (BUFFER.replace("AUTO", "true"), "", "requires 'auto = false' and explicit 'base' when --pto-level=level3"),
        (BUFFER.replace("AUTO", "false, base = 0"), "with explicit 'base' (auto = false) is not supported when", ""),
        (f"%m = pto.alloc_multi_tile : {SLOTS}", "", "requires a base 'addr' operand when --pto-level=level3"),
    ],
)
def test_levels_choose_addresses_or_take_them(body: str, low: str, high: str) -> None:
    """Each program is right on one of them, and without a level."""
    assert "build-level" not in found(body)
    for level, message in ((1, low), (2, low), (3, high)):
        told = found(body, level=level)
        assert message in told
        assert ("build-level" in told) == bool(message)


def test_scratch_that_level_3_does_not_make() -> None:
    body = alloc("a", F32, 0) + alloc("b", SUM, 1024) + f"pto.trowsum ins(%a : {F32}) outs(%b : {SUM})"
    told = found(body, arch="a2a3", level=3)
    assert "error: 'pto.trowsum' op requires explicit tmp when PlanMemory is skipped" in told
    assert "build-level" not in found(body, arch="a5", level=3)
    free = body.replace("addr = %a_a ", "").replace("addr = %b_a ", "")
    assert found(free, arch="a2a3", level=2) == found(free, arch="a2a3")


def test_a_level_that_there_is_not() -> None:
    with pytest.raises(LoomError, match="level is 4; use 1, 2 or 3"):
        found("", level=4)


def test_scratch_of_unknown_size() -> None:
    open_tile = "!pto.tile_buf<vec, 16x16xf32, valid=?x16>"
    open_sum = "!pto.tile_buf<vec, 16x1xf32, valid=?x1, blayout=col_major>"
    tiles = f"%a = pto.alloc_tile valid_row = %c8 : {open_tile}\n%b = pto.alloc_tile valid_row = %c8 : {open_sum}\n"
    body = f"{tiles}pto.trowsum ins(%a : {open_tile}) outs(%b : {open_sum})"
    assert "requires static tile_buf src to materialize implicit trowsum tmp" in found(body, arch="a2a3")
    assert "implicit-scratch" not in found(body, arch="a5")
    given = alloc("t", F32, None) + body.replace(f"ins(%a : {open_tile}", f"ins(%a, %t : {open_tile}, {F32}")
    assert "implicit-scratch" not in found(given, arch="a2a3")


# ---------------------------------------------------------------------------------------------
# Copies, parts and vector code
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "element", "layout"), [(16, 1, ""), (16, 2, ""), (1, 16, ""), (16, 2, "dn")])
def test_elements_of_a_row_that_are_apart(row: int, element: int, layout: str) -> None:
    stated = f" {{layout = #pto.layout<{layout}>}}" if layout else ""
    view, part = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<16x16xf32>"
    body = (
        f"%v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c{row}, %c{element}]{stated} : {view}\n"
        f"%q = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : {view} -> {part}\n"
        f"{alloc('a', F32, None)}pto.tload ins(%q : {part}) outs(%a : {F32})"
    )
    message = found(body, arguments="%p: !pto.ptr<f32>")
    assert ("expects a unit innermost stride, not 2" in message) == (element == 2 and layout != "dn")


def test_stores_of_the_cube_cores_first_memory() -> None:
    tile, part = (
        "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>",
        "!pto.partition_tensor_view<16x16xf32>",
    )
    body = f"{alloc('a', tile, None)}pto.tstore ins(%a : {tile}) outs(%q : {part})"
    arguments = f"%q: {part}"
    message = found(body, kind="cube", arguments=arguments)
    assert "warning: expects A5 tstore src to use loc=vec or loc=acc" in message
    assert "stored-mat" not in found(body, arch="a2a3", kind="cube", arguments=arguments)


def test_parts_of_tiles_that_are_passed() -> None:
    part = "!pto.tile_buf<vec, 8x16xf32>"
    body = f"%s = pto.subview %t[%c0, %c0] sizes [8, 16] : {F32} -> {part}\npto.tprint ins(%s : {part})"
    assert "[unaddressed-part]" in found(body, arguments=f"%t: {F32}")
    assert "unaddressed-part" not in found(body, arguments=f"%t: {F32}", entry="")
    assert "unaddressed-part" not in found(alloc("t", F32, None) + body)


@pytest.mark.parametrize("between", ["", "pto.barrier #pto.pipe<PIPE_ALL>\n"])
def test_registers_behind_a_barrier(between: str) -> None:
    register, pointer = "!pto.vreg<64xf32>", "!pto.ptr<f32, ub>"
    body = (
        f'%m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>\n%r = pto.vlds %u[%c0] : {pointer} -> {register}\n{between}'
        f"pto.vsts %r, %u[%c0], %m : {register}, {pointer}, !pto.mask<b32>"
    )
    assert bool(between) == ("cannot infer resultless pto.vecscope" in found(body, arguments=f"%u: {pointer}"))


# ---------------------------------------------------------------------------------------------
# Sections
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pipes", ["MTE2 S", "S V", "MTE2 V", "V S", "FIX MTE2", "MTE3 V"])
@pytest.mark.parametrize("name", ["set_flag", "wait_flag"])
def test_flags_of_no_core(pipes: str, name: str) -> None:
    """Both kinds of cores have PIPE_S and PIPE_MTE2: the source sets a flag, and the other waits for it."""
    source, target = pipes.split()
    body = f"pto.{name}[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID0>]"
    is_open = (source if name == "set_flag" else target) in ("S", "MTE2")
    assert is_open == (f"ambiguous op(s): 'pto.{name}'" in found(body, kind=""))
    assert "ambiguous" not in found(body)
    assert "ambiguous" not in found(f"pto.section.vector {{\n{body}\n}}", kind="")


def test_operations_beside_a_section_in_a_loop() -> None:
    add = f"pto.tadd ins(%a, %a : {F32}, {F32}) outs(%a : {F32})\n"
    loop = "scf.for %i = %c0 to %c2 step %c1 {{\n{}\n}}"
    section = f"pto.section.vector {{\n{add}}}\n"
    tile = alloc("a", F32, None)
    assert "mixes nested explicit pto.section.*" in found(tile + loop.format(section + add), kind="")
    assert "mixes nested" not in found(tile + loop.format(section + section), kind="")


# ---------------------------------------------------------------------------------------------
# Fragments that threads keep
# ---------------------------------------------------------------------------------------------

FRAGMENT = "%n = arith.constant 4 : i32\n%f = llvm.alloca %n x f32 {pto.persistent} : (i32) -> !llvm.ptr\n"
ZERO = "%zero = arith.constant 0.0 : f32\n"


def section(body: str, threads: int = 32) -> str:
    return f"pto.section.simt<<<{threads}, 1, 1>>> {{\n{body}\n}}\n"


def at(name: str, index: int | str, *, element: str = "f32") -> str:
    place = f"{index}" if isinstance(index, int) else index
    types = "(!llvm.ptr)" if isinstance(index, int) else "(!llvm.ptr, i64)"
    return f"%{name} = llvm.getelementptr %f[{place}] : {types} -> !llvm.ptr, {element}\n"


def stores(*places: int) -> str:
    return "".join(f"{at(f'p{n}', n)}llvm.store %zero, %p{n} : f32, !llvm.ptr\n" for n in places)


LOADED = "{}%x = llvm.load %q : !llvm.ptr -> f32\npto.store %x, %u[%c0] : !pto.ptr<f32, ub>, f32"


@pytest.mark.parametrize("kept", [(0, 1, 2, 3), (0, 2), (3,)])
@pytest.mark.parametrize("loaded", range(5))
def test_elements_that_are_kept(kept: tuple[int, ...], loaded: int) -> None:
    body = FRAGMENT + ZERO + section(stores(*kept)) + section(LOADED.format(at("q", loaded)))
    message = found(body, arguments="%u: !pto.ptr<f32, ub>")
    assert ("[persistent-fragment]" in message) == (loaded not in kept)
    assert ("exceeds allocation size 16" in message) == (loaded == 4)


RIGHT = FRAGMENT + ZERO + section(stores(0, 1, 2, 3)) + section(LOADED.format(at("q", 0)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (section(LOADED.format(at("q", 0))), section(LOADED.format(at("q", 0)), 64), "launch dimensions (64, 1, 1)"),
        (at("q", 0), at("q", "%k"), "GEP index must be a compile-time integer constant"),
        (at("q", 0), at("q", 1, element="f16"), "byte offset 2 must be non-negative and aligned"),
        (at("q", 0), at("q", -1), "byte offset -4 must be non-negative"),
        ("%x = llvm.load", "%i = llvm.ptrtoint %q : !llvm.ptr to i64\n%x = llvm.load", "unsupported use"),
        ("%zero, %p0", "%bits, %p0", "access element type i32 must match alloca element type f32"),
        (ZERO, ZERO + "llvm.store %zero, %f : f32, !llvm.ptr\n", "must be inside pto.section.simt"),
        ("constant 4 : i32", "constant 400 : i32", ""),
        ("constant 4 : i32", "constant 0 : i32", "element count must be positive"),
    ],
)
def test_fragments_that_are_refused(old: str, new: str, message: str) -> None:
    arguments = "%u: !pto.ptr<f32, ub>, %k: i64, %bits: i32"
    assert "persistent-fragment" not in found(RIGHT, arguments=arguments)
    assert old in RIGHT
    text = RIGHT.replace(old, new)
    if "%bits," in new:
        text = text.replace("%bits, %p0 : f32", "%bits, %p0 : i32")
    result = found(text, arguments=arguments)
    assert message in result
    assert ("persistent-fragment" in result) == bool(message)


@pytest.mark.parametrize(("mode", "good"), [('{pto.unroll = "full"}', True), ("", False)])
def test_fragments_in_loops(mode: str, good: bool) -> None:
    loop = (
        '"scf.for"(%c0, %c2, %c1) ({\n^bb0(%i: index):\n%o = arith.index_cast %i : index to i64\n'
        + at("p", "%o")
        + f"llvm.store %zero, %p : f32, !llvm.ptr\nscf.yield\n}}) {mode} : (index, index, index) -> ()"
    )
    first = FRAGMENT + ZERO + section(loop)
    arguments = "%u: !pto.ptr<f32, ub>"
    assert good == ("persistent-fragment" not in found(first, arguments=arguments))
    last = section(LOADED.format(at("q", 2)))
    assert not good or "element offset 2 is not initialized" in found(first + last, arguments=arguments)


@pytest.mark.parametrize(
    ("count", "element", "good"), [(123, "f32", True), (124, "f32", False), (61, "i64", True), (62, "i64", False)]
)
def test_slots_for_fragments(count: int, element: str, good: bool) -> None:
    """123 slots, two for an element of 64 bits."""
    zero = f"%zero = arith.constant {'0.0' if element == 'f32' else 0} : {element}\n"
    one = FRAGMENT.replace("4 : i32", f"{count} : i32").replace("f32", element) + zero
    body = "".join(
        f"{at(f'p{n}', n, element=element)}llvm.store %zero, %p{n} : {element}, !llvm.ptr\n" for n in range(count)
    )
    assert good == ("123-slot limit" not in found(one + section(body)))


def test_fragments_outside_of_entries_and_in_one_branch() -> None:
    assert "must be defined in a PTO kernel entry" in found(RIGHT, arguments="%u: !pto.ptr<f32, ub>", entry="")
    branches = f"scf.if %b {{\n{section(stores(0))}}}\n" + section(LOADED.format(at("q", 0)))
    message = found(FRAGMENT + ZERO + branches, arguments="%u: !pto.ptr<f32, ub>, %b: i1")
    assert "requires a unique init section that dominates every access section" in message


# ---------------------------------------------------------------------------------------------
# Several backends
# ---------------------------------------------------------------------------------------------

CALLER = """module attributes {pto.backend = "emitc"} {
func.func private @g()
func.func @f() attributes {pto.entry} {
func.call @g() : () -> ()
return
}
}
"""
CALLED = 'module attributes {pto.backend = "vpto"} {\nfunc.func @g() {\nreturn\n}\n}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CALLER + CALLED, "there is no kernel"),
        (
            CALLER.replace("func.func private @g()\n", "") + CALLED.replace("@g", "@h"),
            "unresolved cross-child function",
        ),
        (CALLER + CALLED + "func.func @stray() {\nreturn\n}\n", "outer module containing only child modules"),
        (CALLER.replace("emitc", "llvm") + CALLED, "invalid pto.backend 'llvm'"),
    ],
)
def test_modules_for_several_backends(text: str, message: str) -> None:
    (finding,) = check(f"module {{\n{text}}}\n")
    assert message in finding.message
