"""CSL that is printed means what the IR means: compiled again, it computes the same, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from loomir.operations.cb16 import FUNCTIONS
from loomir.operations.dsd_table import FORMATS, OPERATIONS, DsdOperation, Format

from .round_trip import assert_same, parse, run, through_csl

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = sorted(OPERATIONS)


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("path", "launches"),
    [
        ("gemv/gemv_f32.mlir", [("gemv", ())]),
        ("gemv/gemv_f16.mlir", [("gemv", ())]),
        ("gemv_grid/gemv_grid.mlir", [("main", ())]),
        ("stencil/stencil.mlir", [("main", (3,)), ("main", (2,))]),
    ],
)
def test_examples(path: str, launches: list[tuple[str, tuple[float, ...]]], target: str, tmp_path: Path) -> None:
    text = (EXAMPLES / path).read_text().replace('target "wse3"', f'target "{target}"')
    again = assert_same(text, tmp_path, launches)
    # What a compiler of CSL makes of it can be printed too.
    (tmp_path / "second").mkdir()
    second = run(through_csl(again, tmp_path / "second"), launches)
    for name, array in run(parse(text), launches).items():
        assert second[name].tobytes() == array.tobytes(), name


def program(body: str, members: str = "", target: str = "wse3", rectangle: str = "2 x 2") -> str:
    """Return a program of one PE program whose function @main has this body."""
    return f"""
    wse.program @p target "{target}" rectangle {rectangle} {{
      wse.pe @cell on [:, :] {{
        wse.export @main
        {members}
        wse.func @main() {{
          {body}
          wse.return
        }}
      }}
    }}"""


def buffers(*types: str) -> tuple[str, str]:
    """Exported buffers @b0, @b1, ... and the values %b0, %b1, ... that they are."""
    members = "\n".join(f"wse.buffer @b{n} : memref<{type}>\nwse.export @b{n}" for n, type in enumerate(types))
    values = "\n".join(f"%b{n} = wse.get_buffer @b{n} : memref<{type}>" for n, type in enumerate(types))
    return members, values


def operation(row: DsdOperation, scalars: frozenset[int], *, scalar_destination: bool = False) -> str:
    """Return the operation `row` on every other element of its buffers, with scalars at some source positions."""
    elements = [row.destination, *row.sources]
    members, body = buffers(*("1x" + e if n == 0 and scalar_destination else f"12x{e}" for n, e in enumerate(elements)))
    if scalar_destination:
        members = members.replace(f"memref<1x{row.destination}>", f"memref<{row.destination}>")
        body = body.replace(f"memref<1x{row.destination}>", f"memref<{row.destination}>")
    operands: list[str] = []
    types: list[str] = []
    for position, element in enumerate(elements):
        source = position - 1
        if position == 0 and scalar_destination:
            operands.append("%b0")
            types.append(f"memref<{element}>")
        elif source in scalars:
            body += f"\n%i{position} = arith.constant {position} : index"
            body += f"\n%s{position} = memref.load %b{position}[%i{position}] : memref<12x{element}>"
            operands.append(f"%s{position}")
            types.append(element)
        else:
            body += f"\n%d{position} = dsd.mem1d %b{position} at {position} stride 2 extent 4 : memref<12x{element}>"
            operands.append(f"%d{position}")
            types.append(f"!dsd.mem1d<{element}>")
    return program(f"{body}\ndsd.{row.name} {', '.join(operands)} : {', '.join(types)}", members)


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", NAMES)
def test_dsd_operations(name: str, tmp_path: Path) -> None:
    row = OPERATIONS[name]
    choices = {row.scalar_only}
    choices |= {row.scalar_only | {position} for position in row.scalar_sources}
    for number, scalars in enumerate(sorted(choices, key=sorted)):
        if scalars == row.scalar_only == frozenset(range(len(row.sources))) and not row.scalar_destination:
            continue
        directory = tmp_path / str(number)
        directory.mkdir()
        everything = len(scalars) == len(row.sources)
        assert_same(operation(row, scalars, scalar_destination=everything and row.scalar_destination), directory)
    if row.scalar_destination:
        (tmp_path / "scalar").mkdir()
        assert_same(operation(row, row.scalar_only, scalar_destination=True), tmp_path / "scalar")


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("format", FORMATS)
def test_other_formats_of_16_bit_floats(format: Format, tmp_path: Path) -> None:
    for row in (OPERATIONS[name] for name in ("faddh", "fmulh", "fmach", "fs2h", "fh2s", "fmachs", "fmovh", "fnegh")):
        for number, scalars in enumerate({row.scalar_only, row.scalar_only | set(row.scalar_sources - {0})}):
            directory = tmp_path / f"{row.name}{number}"
            directory.mkdir()
            text = operation(row.in_format(format), scalars)
            start = text.index(f"dsd.{row.name} ")
            colon = text.index(" :", start)
            assert_same(f"{text[:colon]} fp16({format}){text[colon:]}", directory, fp16_format=format)


@pytest.mark.slow
def test_arithmetic_of_cb16(tmp_path: Path) -> None:
    """Every function that CSL has, on numbers of which some are negative, and none a NaN."""
    left_out = ("remf", "minimumf", "maximumf", "atan2", "log2", "log10", "tan", "atan", "round")
    functions = {name: letters for name, letters in FUNCTIONS.items() if name not in left_out}
    members, body = buffers("4xi16", f"{len(functions)}xi16", f"{len(functions)}xf32")
    for n in range(4):
        body += f"""
          %n{n} = arith.constant {n} : index
          %v{n} = memref.load %b0[%n{n}] : memref<4xi16>
          %x{n} = wse.cb16 "sitofp" %v{n} : (i16) -> i16
        """
    body += '%wide = wse.cb16 "extf" %x2 : (i16) -> f32'
    for number, (name, letters) in enumerate(functions.items()):
        types = {"c": "i16", "i": "i16", "f": "f32", "b": "i1"}
        operands = {"cc": "%x0", "ic": "%v0", "ci": "%x1", "cf": "%x3", "fc": "%wide"}.get(letters, "%x0, %x1")
        taken = ", ".join(types[letter] for letter in letters[:-1])
        body += f"""
          %i{number} = arith.constant {number} : index
          %r{number} = wse.cb16 "{name}" {operands} : ({taken}) -> {types[letters[-1]]}
        """
        result = f"%r{number}"
        if letters[-1] == "b":
            result = f"%w{number}"
            body += f"{result} = arith.extui %r{number} : i1 to i16\n"
        buffer, type = ("%b2", "f32") if letters[-1] == "f" else ("%b1", "i16")
        body += f"memref.store {result}, {buffer}[%i{number}] : memref<{len(functions)}x{type}>\n"
    assert_same(program(body, members), tmp_path, fp16_format="cb16")


INTEGERS = [
    *(f"{name}i" for name in ("add", "sub", "mul", "and", "or", "xor")),
    *(f"{name}{sign}i" for name in ("div", "rem", "min", "max") for sign in "su"),
]
FLOATS = [f"{name}f" for name in ("add", "sub", "mul", "div", "maximum", "minimum", "maxnum", "minnum")]
BINARY = {"i16": INTEGERS, "i32": INTEGERS, "f32": FLOATS, "f16": FLOATS}


@pytest.mark.slow
@pytest.mark.parametrize("type", sorted(BINARY))
def test_arithmetic(type: str, tmp_path: Path) -> None:
    lines: list[str] = []
    for name in BINARY[type]:
        for other in ("%y", "%c"):
            lines.append(f"%r{len(lines)} = arith.{name} %x, {other} : {type}")
    if type[0] == "i":
        for name in ("shli", "shrsi", "shrui"):
            lines.append(f"%r{len(lines)} = arith.{name} %x, %three : {type}")
            lines.append(
                f"%k{len(lines)} = arith.andi %y, %three : {type}\n%r{len(lines)} = arith.{name} %c, "
                f"%k{len(lines)} : {type}"
            )
    count = len(lines)
    members, body = buffers(f"2x{type}", f"{count}x{type}")
    literal = "-7" if type[0] == "i" else "-7.5"
    body += f"""
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %x = memref.load %b0[%i0] : memref<2x{type}>
      %given = memref.load %b0[%i1] : memref<2x{type}>
      %c = arith.constant {literal} : {type}
    """
    if type[0] == "i":
        body += f"%three = arith.constant 3 : {type}\n%odd = arith.constant 1 : {type}\n"
        body += f"%y = arith.ori %given, %odd : {type}"
    else:
        body += f"%one = arith.constant 0.25 : {type}\n%y = arith.addf %given, %one : {type}"
    for number, line in enumerate(lines):
        body += f"\n{line}\n%n{number} = arith.constant {number} : index"
        body += f"\nmemref.store %r{number}, %b1[%n{number}] : memref<{count}x{type}>"
    assert_same(program(body, members), tmp_path)


INTEGER_PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
FLOAT_PREDICATES = [
    *(f"{order}{name}" for order in "ou" for name in ("eq", "gt", "ge", "lt", "le", "ne")),
    *("ord", "uno", "true", "false"),
]


@pytest.mark.slow
@pytest.mark.parametrize("type", ["i16", "i32", "f32", "f16"])
def test_comparisons(type: str, tmp_path: Path) -> None:
    is_float = type[0] == "f"
    predicates = FLOAT_PREDICATES if is_float else INTEGER_PREDICATES
    members, body = buffers(f"2x{type}", f"{2 * len(predicates)}xi16")
    nan = {"f32": "0x7fc00000", "f16": "0x7e00"}.get(type, "0")
    body += f"""
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %x = memref.load %b0[%i0] : memref<2x{type}>
      %y = memref.load %b0[%i1] : memref<2x{type}>
      %c = arith.constant {nan} : {type}
    """
    number = 0
    for other in ("%y", "%c"):
        for predicate in predicates:
            body += f"""
              %p{number} = arith.cmp{"f" if is_float else "i"} {predicate}, %x, {other} : {type}
              %w{number} = arith.extui %p{number} : i1 to i16
              %n{number} = arith.constant {number} : index
              memref.store %w{number}, %b1[%n{number}] : memref<{2 * len(predicates)}xi16>
            """
            number += 1
    assert_same(program(body, members), tmp_path)


@pytest.mark.slow
def test_conversions(tmp_path: Path) -> None:
    members, body = buffers("2xi16", "2xf32", "2xf16", "8xi16", "8xi32", "8xf32", "4xf16")
    body += """
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i2 = arith.constant 2 : index
      %i3 = arith.constant 3 : index
      %i4 = arith.constant 4 : index
      %a = memref.load %b0[%i0] : memref<2xi16>
      %x = memref.load %b1[%i0] : memref<2xf32>
      %h = memref.load %b2[%i0] : memref<2xf16>
      %w0 = arith.extsi %a : i16 to i32
      memref.store %w0, %b4[%i0] : memref<8xi32>
      %w1 = arith.extui %a : i16 to i32
      memref.store %w1, %b4[%i1] : memref<8xi32>
      %w2 = arith.bitcast %x : f32 to i32
      memref.store %w2, %b4[%i2] : memref<8xi32>
      %w3 = arith.fptosi %x : f32 to i32
      memref.store %w3, %b4[%i3] : memref<8xi32>
      %n0 = arith.trunci %w2 : i32 to i16
      memref.store %n0, %b3[%i0] : memref<8xi16>
      %n1 = arith.fptosi %h : f16 to i16
      memref.store %n1, %b3[%i1] : memref<8xi16>
      %n2 = arith.bitcast %h : f16 to i16
      memref.store %n2, %b3[%i2] : memref<8xi16>
      %odd = arith.trunci %a : i16 to i1
      %n3 = arith.extsi %odd : i1 to i16
      memref.store %n3, %b3[%i3] : memref<8xi16>
      %f0 = arith.sitofp %a : i16 to f32
      memref.store %f0, %b5[%i0] : memref<8xf32>
      %f1 = arith.uitofp %a : i16 to f32
      memref.store %f1, %b5[%i1] : memref<8xf32>
      %f2 = arith.extf %h : f16 to f32
      memref.store %f2, %b5[%i2] : memref<8xf32>
      %f3 = arith.uitofp %odd : i1 to f32
      memref.store %f3, %b5[%i3] : memref<8xf32>
      %h0 = arith.truncf %x : f32 to f16
      memref.store %h0, %b6[%i0] : memref<4xf16>
      %h1 = arith.sitofp %a : i16 to f16
      memref.store %h1, %b6[%i1] : memref<4xf16>
      %s = arith.select %odd, %f0, %f2 : f32
      memref.store %s, %b5[%i4] : memref<8xf32>
      %three = arith.constant 3 : i16
      %low = arith.andi %a, %three : i16
      %at = arith.index_cast %low : i16 to index
      memref.store %low, %b3[%at] : memref<8xi16>
    """
    assert_same(program(body, members), tmp_path)


@pytest.mark.slow
def test_math(tmp_path: Path) -> None:
    names = ["absf", "ceil", "floor", "sqrt", "rsqrt"]
    members, body = buffers("2xf32", f"{len(names)}xf32")
    body += """
      %zero = arith.constant 0 : index
      %given = memref.load %b0[%zero] : memref<2xf32>
      %x = math.absf %given : f32
    """
    for number, name in enumerate(names):
        body += f"""
          %r{number} = math.{name} %x : f32
          %n{number} = arith.constant {number} : index
          memref.store %r{number}, %b1[%n{number}] : memref<{len(names)}xf32>
        """
    assert_same(program(body, members), tmp_path)


@pytest.mark.slow
def test_control_flow(tmp_path: Path) -> None:
    members, body = buffers("8xi16", "8xi16")
    body += """
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i8 = arith.constant 8 : index
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %ten = arith.constant 10 : i16
      %p, %q = scf.for %i = %zero to %ten step %one iter_args(%a = %zero, %b = %one) -> (i16, i16) : i16 {
        %sum = arith.addi %a, %b : i16
        scf.yield %b, %sum : i16, i16
      }
      memref.store %p, %b1[%i0] : memref<8xi16>
      memref.store %q, %b1[%i1] : memref<8xi16>
      scf.for %i = %i1 to %i8 step %i1 {
        %x = memref.load %b0[%i] : memref<8xi16>
        %positive = arith.cmpi sgt, %x, %zero : i16
        %y, %z = scf.if %positive -> (i16, i16) {
          %m = arith.muli %x, %ten : i16
          scf.yield %m, %x : i16, i16
        } else {
          scf.yield %x, %ten : i16, i16
        }
        %last = scf.while (%v = %y) : (i16) -> i16 {
          %limit = arith.constant 50 : i16
          %go = arith.cmpi slt, %v, %limit : i16
          scf.condition(%go) %v : i16
        } do {
        ^bb0(%w: i16):
          %next = arith.addi %w, %ten : i16
          scf.yield %next : i16
        }
        %r = arith.subi %last, %z : i16
        memref.store %r, %b1[%i] : memref<8xi16>
      }
    """
    assert_same(program(body, members), tmp_path)


@pytest.mark.slow
def test_descriptors(tmp_path: Path) -> None:
    members, body = buffers("4x5xf32", "40xf32", "i16")
    body += """
      %two = arith.constant 2 : i16
      %n = memref.load %b2[] : memref<i16>
      %three = arith.constant 3 : i16
      %at = arith.andi %n, %three : i16
      %a = dsd.mem4d %b0 at 1 strides [2, -1] extents [2, 3] : memref<4x5xf32>
      %b = dsd.mem1d %b1 at %at stride %two extent 6 : memref<40xf32>
      dsd.fmovs %b, %a : !dsd.mem1d<f32>, !dsd.mem4d<f32>
      %c = dsd.tensor_access %b0 affine_map<(i, j) -> (i * 2, j + 1)> extents [2, 3]
             : memref<4x5xf32> -> !dsd.mem4d<f32>
      %d = dsd.increment_offset %b, 12 : !dsd.mem1d<f32>
      dsd.fnegs %d, %c : !dsd.mem1d<f32>, !dsd.mem4d<f32>
      %e = dsd.set_length %d, %at : !dsd.mem1d<f32>
      %f = dsd.set_stride %e, 1 : !dsd.mem1d<f32>
      %g = dsd.set_base %f, %b1 : !dsd.mem1d<f32>, memref<40xf32>
      %h = dsd.increment_offset %g, 30 : !dsd.mem1d<f32>
      %k = arith.constant 2.5 : f32
      dsd.fmuls %h, %h, %k : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i3 = arith.constant 3 : index
      %end = scf.for %i = %i0 to %i3 step %i1 iter_args(%walk = %b) -> (!dsd.mem1d<f32>) {
        dsd.fadds %walk, %walk, %k : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
        %next = dsd.increment_offset %walk, 1 : !dsd.mem1d<f32>
        scf.yield %next : !dsd.mem1d<f32>
      }
      %x = dsd.mem1d %b1 extent 4 {wavelet_index_offset} : memref<40xf32>
      dsd.fmovs %x, %k index(%two) : !dsd.mem1d<f32>, f32
    """
    assert_same(program(body, members), tmp_path)


@pytest.mark.slow
def test_pointers(tmp_path: Path) -> None:
    members = """
      wse.buffer @y : memref<3x8xf32> = dense<1.5>
      wse.buffer @pointer : memref<i16>
      wse.initialize @pointer[0] = address_of @y
      wse.export @pointer as "y" points_to memref<24xf32>
      wse.buffer @u : memref<6xi32>
      wse.buffer @other : memref<i16>
      wse.initialize @other[0] = address_of @u
      wse.export @other as "u" points_to memref<6xi32> unsigned
      wse.param @column : i16 over 2 x 2 = dense<[[3, 4], [5, 6]]>
      wse.buffer @w : memref<3xi16> = dense<7>
      wse.initialize @w[1] = param @column
      wse.export @w read_only
    """
    body = """
      %p = wse.address_of @y : i16
      %all = wse.view %p : memref<?xf32>
      %i = arith.constant 3 : index
      %v = memref.load %all[%i] : memref<?xf32>
      %held = wse.get_buffer @pointer : memref<i16>
      %a = memref.load %held[] : memref<i16>
      %two = arith.constant 2 : i16
      %b = arith.addi %a, %two : i16
      memref.store %b, %held[] : memref<i16>
      %one = wse.view %b : memref<f32>
      memref.store %v, %one[] : memref<f32>
      %view = wse.view %a : memref<?xf32>
      %d = dsd.mem1d %view at 2 extent 2 : memref<?xf32>
      dsd.fadds %d, %d, %v : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
    """
    assert_same(program(body, members), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_tasks_and_classes(target: str, tmp_path: Path) -> None:
    """Senders and receivers of different programs, a PE with none, a queue of another color on each row."""
    text = """
      wse.program @p target "TARGET" rectangle 3 x 2 {
        wse.color @a
        wse.color @b = 7
        wse.route @a on [0, 0] from [ramp] to [east]
        wse.route @a on [1, 0] from [west] to [ramp]
        wse.route @b on [0, 1] from [ramp] to [east]
        wse.route @b on [1, 1] from [west] to [ramp]
        wse.pe @sender on [0, :] {
          wse.buffer @x : memref<6xf32>
          wse.buffer @sent : memref<i16>
          wse.export @x
          wse.export @sent
          wse.export @main
          wse.output_queue @out colors [@a on [:, 0], @b on [:, 1]]
          wse.func @main(%n: i16) {
            %x = wse.get_buffer @x : memref<6xf32>
            %d = dsd.mem1d %x extent %n : memref<6xf32>
            %o = dsd.fabout @out extent %n : !dsd.fabout<f32>
            dsd.fmovs %o, %d async(activate = @done) : !dsd.fabout<f32>, !dsd.mem1d<f32>
            wse.return
          }
          wse.task @done local id 14 {
            %sent = wse.get_buffer @sent : memref<i16>
            %n = memref.load %sent[] : memref<i16>
            %one = arith.constant 1 : i16
            %next = arith.addi %n, %one : i16
            memref.store %next, %sent[] : memref<i16>
            wse.return
          }
        }
        wse.pe @receiver on [1, :] {
          wse.buffer @y : memref<f32>
          wse.buffer @order : memref<8xi16>
          wse.buffer @at : memref<i16>
          wse.export @y
          wse.export @order
          wse.input_queue @in colors [@a on [:, 0], @b on [:, 1]]
          wse.task @add data @in (%v: f32) {
            %y = wse.get_buffer @y : memref<f32>
            %old = memref.load %y[] : memref<f32>
            %sum = arith.addf %old, %v : f32
            memref.store %sum, %y[] : memref<f32>
            wse.activate @count
            wse.unblock @count
            wse.return
          }
          wse.task @count local blocked {
            wse.block @count
            %at = wse.get_buffer @at : memref<i16>
            %order = wse.get_buffer @order : memref<8xi16>
            %n = memref.load %at[] : memref<i16>
            %i = arith.index_cast %n : i16 to index
            %row = wse.coordinate y : i16
            %column = wse.coordinate x : i16
            %width = wse.extent x : i16
            %scaled = arith.muli %row, %width : i16
            %place = arith.addi %scaled, %column : i16
            memref.store %place, %order[%i] : memref<8xi16>
            %one = arith.constant 1 : i16
            %next = arith.addi %n, %one : i16
            memref.store %next, %at[] : memref<i16>
            wse.return
          }
        }
      }
    """
    assert_same(text.replace("TARGET", target), tmp_path, [("main", (4,))])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "idle.csl",
        "layout.csl",
        "receiver.csl",
        "sender.csl",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("with_data", [True, False])
def test_control_wavelets(target: str, with_data: bool, tmp_path: Path) -> None:
    text = """
      wse.program @p target "TARGET" rectangle 2 x 1 {
        wse.color @c
        wse.route @c on [0, 0] from [ramp] to [east]
        wse.route @c on [1, 0] from [west] to [ramp]
        wse.pe @sender on [0, 0] {
          wse.export @main
          wse.output_queue @out color @c
          wse.func @main() {
            %o = dsd.fabout @out extent 1 {control} : !dsd.fabout<i32>
            %word = arith.constant 2621450 : i32
            dsd.mov32 %o, %word async : !dsd.fabout<i32>, i32
            wse.return
          }
        }
        wse.pe @receiver on [1, 0] {
          wse.buffer @y : memref<4xi16>
          wse.export @y
          wse.input_queue @in color @c UNBLOCKED
          DATA
          wse.task @got control id 40 (%v: i16) {
            %y = wse.get_buffer @y : memref<4xi16>
            %i = arith.constant 1 : index
            memref.store %v, %y[%i] : memref<4xi16>
            wse.return
          }
        }
      }
    """
    data = "wse.task @word data @in (%v: i32) {\nwse.return\n}" if with_data else ""
    assert_same(
        text.replace("TARGET", target).replace("DATA", data).replace("UNBLOCKED", "" if with_data else "unblocked"),
        tmp_path,
    )


@pytest.mark.slow
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_fifos_and_registers(target: str, tmp_path: Path) -> None:
    text = """
      wse.program @p target "TARGET" rectangle 2 x 1 {
        wse.color @c
        wse.route @c on [0, 0] from [ramp] to [east]
        wse.route @c on [1, 0] from [west] to [ramp]
        wse.pe @sender on [0, 0] {
          wse.buffer @x : memref<8xf32>
          wse.export @x
          wse.export @main
          wse.output_queue @out color @c
          wse.func @main() {
            %x = wse.get_buffer @x : memref<8xf32>
            %d = dsd.mem1d %x extent 8 : memref<8xf32>
            %o = dsd.fabout @out extent 8 : !dsd.fabout<f32>
            dsd.fmovs %o, %d async : !dsd.fabout<f32>, !dsd.mem1d<f32>
            wse.return
          }
        }
        wse.pe @receiver on [1, 0] {
          wse.buffer @memory : memref<8xf32>
          wse.buffer @y : memref<8xf32>
          wse.export @y
          wse.export @main
          wse.input_queue @in color @c
          wse.fifo @f on @memory
          wse.func @main() {
            %i = dsd.fabin @in extent 8 : !dsd.fabin<f32>
            %f = dsd.fifo @f : !dsd.fifo<f32>
            dsd.fmovs %f, %i async(activate = @pop) : !dsd.fifo<f32>, !dsd.fabin<f32>
            wse.return
          }
          wse.task @pop local {
            %y = wse.get_buffer @y : memref<8xf32>
            %f = dsd.fifo @f : !dsd.fifo<f32>
            %d = dsd.mem1d %y extent 8 : memref<8xf32>
            dsd.fnegs %d, %f : !dsd.mem1d<f32>, !dsd.fifo<f32>
            %half = dsd.mem1d %y stride 2 extent 4 : memref<8xf32>
            %r = dsr.load %half : !dsd.mem1d<f32> -> !dsr.dest<f32, 3>
            %two = arith.constant 2.0 : f32
            dsr.fmovs %r, %two : !dsr.dest<f32, 3>, f32
            wse.return
          }
        }
      }
    """
    assert_same(text.replace("TARGET", target), tmp_path)


@pytest.mark.slow
def test_params_that_differ_from_pe_to_pe(tmp_path: Path) -> None:
    """Formulas, tables of one and of two dimensions, and a table of which one column is used."""
    params = """
      wse.param @a : i16 over 3 x 4 = dense<[[0, 1, 2], [5, 6, 7], [10, 11, 12], [15, 16, 17]]>
      wse.param @b : i16 over 3 x 4 = dense<[[3, 1, 2], [3, 1, 2], [3, 1, 2], [3, 1, 2]]>
      wse.param @c : i16 over 3 x 4 = dense<[[1, 2, 3], [4, 5, 7], [1, 2, 9], [4, 5, 11]]>
      wse.param @d : i16 = dense<-4>
    """
    body = "\n".join(
        f"%{name} = wse.get_param @{name} : i16\n%i{n} = arith.constant {n} : index\n"
        f"memref.store %{name}, %b0[%i{n}] : memref<4xi16>"
        for n, name in enumerate("abcd")
    )
    members, values = buffers("4xi16")
    text = program(f"{values}\n{body}", members + params, rectangle="3 x 4")
    (tmp_path / "part").mkdir()
    assert_same(text, tmp_path)
    assert_same(text.replace("on [:, :]", "on [2, :]"), tmp_path / "part")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_what_fifos_are_given_and_registers_hold(target: str, tmp_path: Path) -> None:
    """Results and lengths of operations on FIFOs, their registers, and what is loaded before the program starts."""
    text = """
      wse.program @p target "TARGET" rectangle 1 x 1 {
        wse.pe @cell on [:, :] {
          wse.buffer @memory : memref<8xi16>
          wse.buffer @spare : memref<8xi16>
          wse.buffer @x : memref<12xi16>
          wse.buffer @y : memref<12xi16>
          wse.buffer @facts : memref<4xi16>
          wse.export @x
          wse.export @y
          wse.export @facts
          wse.export @main
          wse.fifo @f on @memory register 3 xdsr 1 OPTIONS
          wse.fifo @g on @spare empty_action terminate activate_push @noted
          wse.initial {
            %x = wse.get_buffer @x : memref<12xi16>
            %d = dsd.mem1d %x extent 12 : memref<12xi16>
            dsr.load %d : !dsd.mem1d<i16> -> !dsr.src1<i16, 2>
            %y = wse.get_buffer @y : memref<12xi16>
            %rows = dsd.mem4d %y strides [3, -8] extents [3, 4] : memref<12xi16>
            %xdsr = dsr.get_xdsr : !dsr.xdsr<0>
            %sr = dsr.get_sr : !dsr.sr<4>
            dsr.load %rows xdsr %xdsr srs [%sr] : !dsd.mem4d<i16>, !dsr.xdsr<0>, !dsr.sr<4> -> !dsr.dest<i16, 5>
          }
          wse.func @main() {
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c2 = arith.constant 2 : index
            %c3 = arith.constant 3 : index
            %facts = wse.get_buffer @facts : memref<4xi16>
            %f = dsd.fifo @f : !dsd.fifo<i16>
            %x = wse.get_buffer @x : memref<12xi16>
            %d = dsd.mem1d %x extent 12 : memref<12xi16>
            dsd.set_fifo_length @f write 10
            %a = dsd.mov16 %f, %d : !dsd.fifo<i16>, !dsd.mem1d<i16> -> i1
            %na = arith.extui %a : i1 to i16
            memref.store %na, %facts[%c0] : memref<4xi16>
            %to = dsr.get_dsr : !dsr.dest<i16, 5>
            %from = dsr.get_dsr fifo : !dsr.src1<i16, 3>
            %b = dsr.mov16 %to, %from : !dsr.dest<i16, 5>, !dsr.src1<i16, 3> -> i1
            %nb = arith.extui %b : i1 to i16
            memref.store %nb, %facts[%c1] : memref<4xi16>
            %n = memref.load %facts[%c0] : memref<4xi16>
            dsd.set_fifo_length @f read %n
            %g = dsd.fifo @g : !dsd.fifo<i16>
            %c = dsd.mov16 %d, %g : !dsd.mem1d<i16>, !dsd.fifo<i16> -> i1
            %nc = arith.extui %c : i1 to i16
            memref.store %nc, %facts[%c2] : memref<4xi16>
            dsd.mov16 %g, %n : !dsd.fifo<i16>, i16
            %rest = dsd.mem1d %x at 2 extent 2 : memref<12xi16>
            %all = dsr.get_dsr : !dsr.src1<i16, 2>
            %start = dsr.load %rest : !dsd.mem1d<i16> -> !dsr.dest<i16, 6>
            dsr.mov16 %start, %all : !dsr.dest<i16, 6>, !dsr.src1<i16, 2>
            wse.return
          }
          wse.task @noted local {
            %c3 = arith.constant 3 : index
            %seven = arith.constant 7 : i16
            %facts = wse.get_buffer @facts : memref<4xi16>
            memref.store %seven, %facts[%c3] : memref<4xi16>
          }
        }
      }
    """
    options = "full_action terminate priority low" if target == "wse3" else "simd simd_32"
    assert_same(text.replace("TARGET", target).replace("OPTIONS", options), tmp_path)
    assert ".full_action = .{ .terminate = true }" in (tmp_path / "cell.csl").read_text() or target == "wse2"


def stream_into_register(target: str) -> str:
    return f"""
      wse.program @p target "{target}" rectangle 2 x 1 {{
        wse.color @c
        wse.route @c on [0, 0] from [ramp] to [east]
        wse.route @c on [1, 0] from [west] to [ramp]
        wse.pe @sender on [0, 0] {{
          wse.buffer @x : memref<8xf32>
          wse.export @x
          wse.export @main
          wse.output_queue @out color @c id 2
          wse.func @main() {{
            %x = wse.get_buffer @x : memref<8xf32>
            %d = dsd.mem1d %x extent 8 : memref<8xf32>
            %o = dsd.fabout @out extent 8 : !dsd.fabout<f32>
            dsd.fmovs %o, %d async : !dsd.fabout<f32>, !dsd.mem1d<f32>
            wse.return
          }}
        }}
        wse.pe @receiver on [1, 0] {{
          wse.buffer @y : memref<8xf32>
          wse.export @y
          wse.export @main
          wse.input_queue @in color @c id 3
          wse.func @main() {{
            %y = wse.get_buffer @y : memref<8xf32>
            %d = dsd.mem1d %y extent 8 : memref<8xf32>
            %i = dsd.fabin @in extent 8 : !dsd.fabin<f32>
            %r = dsr.load %i async : !dsd.fabin<f32> -> !dsr.src1<f32, 1>
            %t = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
            dsr.fmovs %t, %r : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
            wse.return
          }}
        }}
      }}
    """


@pytest.mark.slow
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_queues_that_registers_read_keep_their_color(target: str, tmp_path: Path) -> None:
    """What a register is loaded with takes its color from @initialize_queue on both machines (DSR-046)."""
    assert_same(stream_into_register(target), tmp_path)
    assert "@initialize_queue(in, .{ .color = c });" in (tmp_path / "receiver.csl").read_text()


@pytest.mark.slow
def test_conversions_of_prints(tmp_path: Path) -> None:
    body = """
      %n = arith.constant 40000 : i16
      %five = arith.constant 5 : i16
      %wide = arith.constant -2 : i32
      wse.print "{u} {X} {b} {d} {X} {b}\\0A", %n, %n, %five, %wide, %wide, %wide : i16, i16, i16, i32, i32, i32
    """
    text = program(body, target="wse3", rectangle="1 x 1")
    assert_same(text, tmp_path)
    printed = (tmp_path / "cell.csl").read_text()
    for function in ("u16_decimal", "u16_hex", "u16_binary", "u32_decimal", "u32_hex", "u32_binary"):
        assert printed.count(f"print_{function}(") == 1, printed
