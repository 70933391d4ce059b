"""Every form of CSL's syntax and the tree it gives."""

import subprocess
import sys

import pytest

from loomir.csl import parse, syntax
from loomir.csl.syntax import Binary, Expression, Function, Name, Node, Variable

from .csl_trees import expression, shape, statement

EXPRESSIONS = [
    # Literals and names
    ("12", "12"),
    ("0xff", "0xff"),
    ("1.5e-3", "1.5e-3"),
    ("'a'", "'a'"),
    ('"ab"', "(String b'ab')"),
    ("x", "x"),
    ("true", "true"),
    # Suffixes
    ("f()", "(Call f [])"),
    ("f(1, x,)", "(Call f [1 x])"),
    ("a[i, j]", "(Index a [i j])"),
    ("a.b.c", "(Field (Field a b) c)"),
    ("p.*", "(Dereference p)"),
    ("p.*[1].x(2).*", "(Dereference (Call (Field (Index (Dereference p) [1]) x) [2]))"),
    ("@fp16()", "(Builtin fp16 [])"),
    ("@as(u16, 1) | 2", "(Binary | (Builtin as [u16 1]) 2)"),
    ("(a)[1]", "(Index a [1])"),
    ("(a + b).x", "(Field (Binary + a b) x)"),
    ('"ab"[0]', "(Index (String b'ab') [0])"),
    ("m.task", "(Field m task)"),
    # Prefixes
    ("-a", "(Unary - a)"),
    ("!~-&a", "(Unary ! (Unary ~ (Unary - (Unary & a))))"),
    ("-a.b[1]", "(Unary - (Index (Field a b) [1]))"),
    ("&a == b", "(Binary == (Unary & a) b)"),
    ("a--b", "(Binary - a (Unary - b))"),
    ("a & &b", "(Binary & a (Unary & b))"),
    # Operators
    ("a + b * c", "(Binary + a (Binary * b c))"),
    ("a * b + c", "(Binary + (Binary * a b) c)"),
    ("a - b - c", "(Binary - (Binary - a b) c)"),
    ("a / b % c", "(Binary % (Binary / a b) c)"),
    ("a & b == c", "(Binary == (Binary & a b) c)"),
    ("a << 8 == b", "(Binary == (Binary << a 8) b)"),
    ("a | b ^ c & d", "(Binary & (Binary ^ (Binary | a b) c) d)"),
    ("a << b + c", "(Binary << a (Binary + b c))"),
    ("a | b << c", "(Binary | a (Binary << b c))"),
    ("a or b and c", "(Binary or a (Binary and b c))"),
    ("a and b or c", "(Binary or (Binary and a b) c)"),
    ("a < b and b <= c", "(Binary and (Binary < a b) (Binary <= b c))"),
    ("a != b or !c", "(Binary or (Binary != a b) (Unary ! c))"),
    # Structs, tuples, arrays
    (".{}", "(Aggregate - [] [])"),
    (".{ .a = 1, .b = .{ 2, 3 }, }", "(Aggregate - [(FieldValue a 1) (FieldValue b (Aggregate - [] [2 3]))] [])"),
    (".{ .align = 1, .task = 2 }", "(Aggregate - [(FieldValue align 1) (FieldValue task 2)] [])"),
    ("T{}", "(Aggregate T [] [])"),
    ("m.T { .x = 1 }", "(Aggregate (Field m T) [(FieldValue x 1)] [])"),
    ("Pair(i16) { .x = 1 }", "(Aggregate (Call Pair [i16]) [(FieldValue x 1)] [])"),
    ("@element_type(T) { .x = 1 }", "(Aggregate (Builtin element_type [T]) [(FieldValue x 1)] [])"),
    ("[2]i16{1, 2}", "(Aggregate (ArrayType [2] i16) [] [1 2])"),
    ("([2]i16 {0, 0})[1]", "(Index (Aggregate (ArrayType [2] i16) [] [0 0]) [1])"),
    ("-T{1}", "(Unary - (Aggregate T [] [1]))"),
    (".{1, 2}[0]", "(Index (Aggregate - [] [1 2]) [0])"),
    # Types
    ("*i16", "(PointerType - i16)"),
    ("*const [3]f32", "(PointerType yes (ArrayType [3] f32))"),
    ("**T", "(PointerType - (PointerType - T))"),
    ("[*]f16", "(ManyPointerType - f16)"),
    ("[*]const m.T", "(ManyPointerType yes (Field m T))"),
    ("[n, 2 * m]T", "(ArrayType [n (Binary * 2 m)] T)"),
    ("[2]*fn(i16) void", "(ArrayType [2] (PointerType - (FunctionType fn [i16] void)))"),
    ("*const fn(i16, [*]f32) f32", "(PointerType yes (FunctionType fn [i16 (ManyPointerType - f32)] f32))"),
    ("fn(a: i16, f32, c: [*]m.T,) void", "(FunctionType fn [i16 f32 (ManyPointerType - (Field m T))] void)"),
    ("fn() void", "(FunctionType fn [] void)"),
    ("task () void", "(FunctionType task [] void)"),
    ("struct {}", "(StructType - struct [])"),
    ("packed struct { a: i8 }.x", "(Field (StructType packed struct [(FieldDeclaration a i8)]) x)"),
    ("extern struct {}{}", "(Aggregate (StructType extern struct []) [] [])"),
    ("union { a: i8 }", "(StructType - union [(FieldDeclaration a i8)])"),
    ("extern union {}", "(StructType extern union [])"),
    ("[2]packed union {}", "(ArrayType [2] (StructType packed union []))"),
    ("packed + 1", "(Binary + packed 1)"),
    (
        "struct { a: i16, b: [2]T, }",
        "(StructType - struct [(FieldDeclaration a i16) (FieldDeclaration b (ArrayType [2] T))])",
    ),
    ("enum { A, B }", "(EnumType - [(EnumMember A -) (EnumMember B -)])"),
    ("enum(u16) { a, b = -3, }", "(EnumType u16 [(EnumMember a -) (EnumMember b (Unary - 3))])"),
    ("enum(i16) { a }.a", "(Field (EnumType i16 [(EnumMember a -)]) a)"),
    ("@zeros([10]u16)", "(Builtin zeros [(ArrayType [10] u16)])"),
    # Tensor accesses
    ("|i|{10} -> A[2 * i + 1]", "(TensorAccess [i] [10] A [(Binary + (Binary * 2 i) 1)])"),
    ("|i, j|{n, m + 1} -> p.*[i, j]", "(TensorAccess [i j] [n (Binary + m 1)] (Dereference p) [i j])"),
    ("f(|i|{4} -> a[i], 1)", "(Call f [(TensorAccess [i] [4] a [i]) 1])"),
    ("a | b", "(Binary | a b)"),
    # Control flow as a value
    ("if (a) b else c", "(If [(IfBranch a b)] c)"),
    ("if (a) b + 1 else c + 1", "(If [(IfBranch a (Binary + b 1))] (Binary + c 1))"),
    ("if (a) 1 else if (b) 2 else 3", "(If [(IfBranch a 1) (IfBranch b 2)] 3)"),
    ("if (a) 1 else (if (b) 2 else 3)", "(If [(IfBranch a 1) (IfBranch b 2)] 3)"),
    ("if (a) (if (b) 1 else 2) else 3", "(If [(IfBranch a (If [(IfBranch b 1)] 2))] 3)"),
    (
        "if (a) [2]i16{1, 2} else .{}",
        "(If [(IfBranch a (Aggregate (ArrayType [2] i16) [] [1 2]))] (Aggregate - [] []))",
    ),
    ("1 + if (a) 2 else 3 + 4", "(Binary + 1 (If [(IfBranch a 2)] (Binary + 3 4)))"),
    ("(if (a) 0 else 1) + 2", "(Binary + (If [(IfBranch a 0)] 1) 2)"),
    ("if (a) return else break :l", "(If [(IfBranch a (Return -))] (Break l -))"),
    ("switch (x) { 1, 2 => a, else => b }", "(Switch x [(SwitchBranch [1 2] a) (SwitchBranch [] b)])"),
    ("switch (x) { e.A, => 1, }", "(Switch x [(SwitchBranch [(Field e A)] 1)])"),
    ("{}", "(Block - [])"),
    ("l: { break :l 1; }", "(Block l [(Break l 1)])"),
    ("l: { f(); break :l 1; } + 42", "(Binary + (Block l [(Call f []) (Break l 1)]) 42)"),
    ("comptime f(x) + 1", "(Comptime (Binary + (Call f [x]) 1))"),
    ('asm ("nop")', "(Asm - (String b'nop') [] [] [])"),
    ('asm volatile ("nop", )', "(Asm yes (String b'nop') [] [] [])"),
    (
        'asm (@strcat("a", "b") : [r] "=r" (x) : [s] "{r2}" (y + 1), [t] "==[r]" (z) : "r6", "memory")',
        "(Asm - (Builtin strcat [(String b'a') (String b'b')]) [(AsmOperand r (String b'=r') x)]"
        " [(AsmOperand s (String b'{r2}') (Binary + y 1)) (AsmOperand t (String b'==[r]') z)]"
        " [(String b'r6') (String b'memory')])",
    ),
    ('asm ("nop" : : : "r6")', "(Asm - (String b'nop') [] [] [(String b'r6')])"),
    # Bodies of functions do not take part in types
    ("@type_of(x)", "(Builtin type_of [x])"),
]

STATEMENTS = [
    ("x = 1;", "(Assign = x 1)"),
    *((f"a.b {operator} c;", f"(Assign {operator} (Field a b) c)") for operator in sorted(["+=", "-=", "*=", "/="])),
    *((f"a[0] {operator} c;", f"(Assign {operator} (Index a [0]) c)") for operator in ["%=", "<<=", ">>=", "&=", "|="]),
    ("p.* ^= 1;", "(Assign ^= (Dereference p) 1)"),
    ("(p.*)[0] = 1;", "(Assign = (Index (Dereference p) [0]) 1)"),
    ('@field(s, "a") = 20;', "(Assign = (Builtin field [s (String b'a')]) 20)"),
    ("_ = f();", "(Assign = _ (Call f []))"),
    ("f();", "(Call f [])"),
    ("m.f(1);", "(Call (Field m f) [1])"),
    ("@activate(t);", "(Builtin activate [t])"),
    ('asm ("nop");', "(Asm - (String b'nop') [] [] [])"),
    ("const a = 1;", "(Variable const a - 1 - - - - -)"),
    ("var b: [2]i16;", "(Variable var b (ArrayType [2] i16) - - - - - -)"),
    ("comptime var c: u16 = 2;", "(Variable var c u16 2 - yes - - -)"),
    ("var d: i16 align(32) = 1;", "(Variable var d i16 1 - - 32 - -)"),
    ("{ f(); ; { } }", "(Block - [(Call f []) (Block - [])])"),
    ("outer: { break :outer; }", "(Block outer [(Break outer -)])"),
    ("comptime { f(); }", "(Comptime (Block - [(Call f [])]))"),
    ("comptime { } ;", "(Comptime (Block - []))"),
    ("comptime f();", "(Comptime (Call f []))"),
    ("comptime x = 1;", "(Comptime (Assign = x 1))"),
    ("comptime for (a) |i| { }", "(Comptime (For - a i - (Block - []) -))"),
    ("if (a) { f(); }", "(If [(IfBranch a (Block - [(Call f [])]))] -)"),
    ("if (a) { } else { }", "(If [(IfBranch a (Block - []))] (Block - []))"),
    ("if (a) { } else if (b) { } else { }", "(If [(IfBranch a (Block - [])) (IfBranch b (Block - []))] (Block - []))"),
    ("if (a) f();", "(If [(IfBranch a (Call f []))] -)"),
    ("if (a) x = 1 else y += 2;", "(If [(IfBranch a (Assign = x 1))] (Assign += y 2))"),
    ("if (a) x = 1; else y = 2;", "(If [(IfBranch a (Assign = x 1))] (Assign = y 2))"),
    ("if (a) return;", "(If [(IfBranch a (Return -))] -)"),
    ("if (a) return 1 else { }", "(If [(IfBranch a (Return 1))] (Block - []))"),
    ("if (a) if (b) f() else g();", "(If [(IfBranch a (If [(IfBranch b (Call f []))] (Call g [])))] -)"),
    ("if (a) comptime f() else g();", "(If [(IfBranch a (Comptime (Call f [])))] (Call g []))"),
    ("if (a) while (b) { } else { }", "(If [(IfBranch a (While - b - (Block - [])))] (Block - []))"),
    ("for (a) |x| { }", "(For - a x - (Block - []) -)"),
    ("for (@range(i16, 3)) |_, i| { f(i); }", "(For - (Builtin range [i16 3]) _ i (Block - [(Call f [i])]) -)"),
    ("for ([2]i16 {1, 2}) |x| f(x);", "(For - (Aggregate (ArrayType [2] i16) [] [1 2]) x - (Call f [x]) -)"),
    ("l: for (a) |x| { continue :l; }", "(For l a x - (Block - [(Continue l)]) -)"),
    ("l: inline for (a) |x, i| { }", "(For l a x i (Block - []) yes)"),
    ("while (a < b) { }", "(While - (Binary < a b) - (Block - []))"),
    ("while (a) : (i += 1) { continue; }", "(While - a (Assign += i 1) (Block - [(Continue -)]))"),
    ("while (a) : (f()) { }", "(While - a (Call f []) (Block - []))"),
    ("l: while (a) { break; }", "(While l a - (Block - [(Break - -)]))"),
    ("switch (x) { 0 => f(), 1 => y = 2, else => { } }",
     "(Switch x [(SwitchBranch [0] (Call f [])) (SwitchBranch [1] (Assign = y 2)) (SwitchBranch [] (Block - []))])"),
    ("switch (x) { 0 => for (a) |i| { }, else => l: while (b) { } }",
     "(Switch x [(SwitchBranch [0] (For - a i - (Block - []) -)) (SwitchBranch [] (While l b - (Block - [])))])"),
    ("return;", "(Return -)"),
    ("return {};", "(Return (Block - []))"),
    ("return if (a) b else c;", "(Return (If [(IfBranch a b)] c))"),
    ("return switch (x) { else => 1 };", "(Return (Switch x [(SwitchBranch [] 1)]))"),
    ("break :l a + 1;", "(Break l (Binary + a 1))"),
    ("break :l {};", "(Break l (Block - []))"),
]  # fmt: skip

DECLARATIONS = [
    ("", []),
    (";;", []),
    ("const x = 1;", ["(Variable const x - 1 - - - - -)"]),
    ("const x : i16 = 1;", ["(Variable const x i16 1 - - - - -)"]),
    ("var x: T;", ["(Variable var x T - - - - - -)"]),
    ("param p;", ["(Variable param p - - - - - - -)"]),
    ("param p: i16 = 3;", ["(Variable param p i16 3 - - - - -)"]),
    ("const a align(64) = b;", ["(Variable const a - b - - 64 - -)"]),
    (
        'export var x: i16 linksection(".s") align(4) linkname("y") = 1;',
        ["(Variable var x i16 1 export - 4 (String b'.s') (String b'y'))"],
    ),
    ("extern var x: i16;", ["(Variable var x i16 - extern - - - -)"]),
    ("extern const z: [*]f16;", ["(Variable const z (ManyPointerType - f16) - extern - - - -)"]),
    ("export const z: [*]f16;", ["(Variable const z (ManyPointerType - f16) - export - - - -)"]),
    ("var align: i16;", ["(Variable var align i16 - - - - - -)"]),
    ("fn f() void { }", ["(Function fn f [] void (Block - []) - - - - -)"]),
    ("task t(x: i16,) void { }", ["(Function task t [(Parameter x i16 -)] void (Block - []) - - - - -)"]),
    (
        "fn f(comptime T: type, x: anytype, y: @type_of(x)) Point(T) { return y; }",
        [
            "(Function fn f [(Parameter T type yes) (Parameter x (AnyType) -) (Parameter y (Builtin type_of [x]) -)]"
            " (Call Point [T]) (Block - [(Return y)]) - - - - -)"
        ],
    ),
    ("fn f() [2, n]f32 { }", ["(Function fn f [] (ArrayType [2 n] f32) (Block - []) - - - - -)"]),
    ("fn f() struct { a: i16 } { }",
     ["(Function fn f [] (StructType - struct [(FieldDeclaration a i16)]) (Block - []) - - - - -)"]),
    ("fn f() m.T { }", ["(Function fn f [] (Field m T) (Block - []) - - - - -)"]),
    ("fn f() (if (a) b else c) { }", ["(Function fn f [] (If [(IfBranch a b)] c) (Block - []) - - - - -)"]),
    ('fn f() linkname("g") void { }', ["(Function fn f [] void (Block - []) - - - - (String b'g'))"]),
    ('export fn f() i16 linkname("g") { }', ["(Function fn f [] i16 (Block - []) export - - - (String b'g'))"]),
    ("export fn f(x: i16) { }", ["(Function fn f [(Parameter x i16 -)] - (Block - []) export - - - -)"]),
    ("inline fn f() void { }", ["(Function fn f [] void (Block - []) - inline - - -)"]),
    ("export noinline fn f() void { }", ["(Function fn f [] void (Block - []) export noinline - - -)"]),
    ("extern fn f(f16, x: *i16, [*]T) void;",
     ["(Function fn f [(Parameter - f16 -) (Parameter x (PointerType - i16) -) (Parameter - (ManyPointerType - T) -)]"
      " void - extern - - - -)"]),
    ("comptime { f(); }", ["(ComptimeBlock (Block - [(Call f [])]))"]),
    ("layout { const a = 1; }", ["(Layout (Block - [(Variable const a - 1 - - - - -)]))"]),
    ("const a = 1; // one\n/// two\nvar b: T;",
     ["(Variable const a - 1 - - - - -)", "(Variable var b T - - - - - -)"]),
    ("fn f() type { return struct { a: i16 }; };\nvar x: i16;",
     ["(Function fn f [] type (Block - [(Return (StructType - struct [(FieldDeclaration a i16)]))]) - - - - -)",
      "(Variable var x i16 - - - - - -)"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tree"), EXPRESSIONS)
def test_expressions(text: str, tree: str) -> None:
    assert shape(expression(text)) == tree


@pytest.mark.parametrize(("text", "tree"), STATEMENTS)
def test_statements(text: str, tree: str) -> None:
    assert shape(statement(text)) == tree


@pytest.mark.parametrize(("text", "trees"), DECLARATIONS)
def test_declarations(text: str, trees: list[str]) -> None:
    assert [shape(declaration) for declaration in parse(text, "a.csl").declarations] == trees


def test_every_class_of_node_is_in_the_tables() -> None:
    classes = {
        name
        for name, value in vars(syntax).items()
        if isinstance(value, type) and issubclass(value, Node) and value not in (Node, Expression, syntax.File)
    }
    seen: set[str] = {"Name", "Integer", "Float"}
    trees = [tree for _, tree in EXPRESSIONS + STATEMENTS] + [tree for _, trees in DECLARATIONS for tree in trees]
    for tree in trees:
        seen.update(word.lstrip("([").rstrip(")]") for word in tree.split() if word.lstrip("[").startswith("("))
    assert classes <= seen


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("1_000", 1000),
        ("0xFF_ff", 0xFFFF),
        ("0b1010", 10),
        ("0o17", 15),
        ("340282366920938463463374607431768211456", 2**128),
        ("'a'", 97),
        (r"'\n'", 10),
        (r"'\x0a'", 10),
        (r"'\xff'", 255),
        (r"'\''", 39),
        ("'\"'", 34),
        ("'é'", 0xE9),
        (r"'\u{1f44d}'", 0x1F44D),
        ("1.5", 1.5),
        ("1_0.2_5", 10.25),
        ("2e3", 2000.0),
        ("1.5E-1", 0.15),
        ("0x1.8p1", 3.0),
        ('""', b""),
        (r'"a\n\r\t\\\"\'"', b"a\n\r\t\\\"'"),
        (r'"abc\x00xyz\xff"', b"abc\x00xyz\xff"),
        ('"👍"', b"\xf0\x9f\x91\x8d"),
        (r'"\u{e9}"', b"\xc3\xa9"),
        (r'"\\"', b"\\"),
        ('"// no comment"', b"// no comment"),
    ],
)
def test_values_of_literals(text: str, value: object) -> None:
    node = expression(text)
    assert isinstance(node, syntax.Integer | syntax.Float | syntax.String)
    assert node.value == value
    assert type(node.value) is type(value)


def text_of(node: Node, text: str) -> str:
    return text[node.start : node.end]


PLACES = """\
// A comment.
param size : u16 = 4;
export fn f(comptime T: type, x: [*]T) void {
  const y = (x[0] + 1) * -(2) ;
  if (y == 3) { g(.{ .a = 1, .b = T{} }); } else h(y).z.* = 2;
  l: for (x) |a, i| { break :l {}; }
  switch (y) { 1, 2 => @as(T, y), else => return }
  comptime var s = struct { m: i16, n: *const T };
  var d = |i|{size} -> A[i, 0];
  return if (y) (1) else 2;
}
"""


def test_places_of_nodes() -> None:
    """Each node's text, by class in the order of the file; `walk` visits a node before those below it."""
    found: dict[str, list[str]] = {}
    for node in syntax.walk(parse(PLACES, "a.csl")):
        if not isinstance(node, syntax.File):
            found.setdefault(type(node).__name__, []).append(text_of(node, PLACES))
    assert found["Variable"] == [
        "param size : u16 = 4",
        "const y = (x[0] + 1) * -(2)",
        "comptime var s = struct { m: i16, n: *const T }",
        "var d = |i|{size} -> A[i, 0]",
    ]
    assert found["Function"] == [PLACES[PLACES.index("export") :].rstrip()]
    assert found["Parameter"] == ["comptime T: type", "x: [*]T"]
    assert found["ManyPointerType"] == ["[*]T"]
    assert found["Binary"] == ["(x[0] + 1) * -(2)", "x[0] + 1", "y == 3"]
    assert found["Unary"] == ["-(2)"]
    assert found["If"] == ["if (y == 3) { g(.{ .a = 1, .b = T{} }); } else h(y).z.* = 2;", "if (y) (1) else 2"]
    assert found["IfBranch"] == ["if (y == 3) { g(.{ .a = 1, .b = T{} }); }", "if (y) (1)"]
    assert found["Aggregate"] == [".{ .a = 1, .b = T{} }", "T{}"]
    assert found["FieldValue"] == [".a = 1", ".b = T{}"]
    assert found["Assign"] == ["h(y).z.* = 2"]
    assert found["Dereference"] == ["h(y).z.*"]
    assert found["Field"] == ["h(y).z"]
    assert found["Call"] == ["g(.{ .a = 1, .b = T{} })", "h(y)"]
    assert found["For"] == ["l: for (x) |a, i| { break :l {}; }"]
    assert found["Break"] == ["break :l {}"]
    assert found["Block"][1:] == ["{ g(.{ .a = 1, .b = T{} }); }", "{ break :l {}; }", "{}"]
    assert found["Switch"] == ["switch (y) { 1, 2 => @as(T, y), else => return }"]
    assert found["SwitchBranch"] == ["1, 2 => @as(T, y)", "else => return"]
    assert found["StructType"] == ["struct { m: i16, n: *const T }"]
    assert found["FieldDeclaration"] == ["m: i16", "n: *const T"]
    assert found["PointerType"] == ["*const T"]
    assert found["TensorAccess"] == ["|i|{size} -> A[i, 0]"]
    assert found["Return"] == ["return", "return if (y) (1) else 2"]
    assert found["Integer"] == ["4", "0", "1", "2", "3", "1", "2", "1", "2", "0", "1", "2"]


def test_places_of_names_and_operators() -> None:
    text = "export fn f(x: T) void { const yy = x.field + 1; }"
    (function,) = parse(text, "a.csl").declarations
    assert isinstance(function, Function)
    assert text[function.name_start :].startswith("f(")
    assert function.body is not None
    (variable,) = function.body.statements
    assert isinstance(variable, Variable)
    assert text[variable.name_start :].startswith("yy")
    assert isinstance(variable.value, Binary)
    assert text[variable.value.operator_start :].startswith("+ 1")
    assert isinstance(variable.value.left, syntax.Field)
    assert text[variable.value.left.name_start :].startswith("field")


def test_children_lie_within_their_parents() -> None:
    for node in syntax.walk(parse(PLACES, "a.csl")):
        for child in syntax.children(node):
            assert node.start <= child.start <= child.end <= node.end


def test_equal_ignores_places_only() -> None:
    def tree(text: str) -> Node:
        return parse(text, "a.csl")

    assert syntax.equal(tree("const x = (a + 1);"), tree(" const x=a\n+1 ;"))
    for other in ("const x = a + 2;", "const x = a - 1;", "var x = a + 1;", "const x = a + 1; const y = 1;"):
        assert not syntax.equal(tree("const x = a + 1;"), tree(other))


def test_nodes_compare_by_identity() -> None:
    assert Name(0, 1, "a") != Name(0, 1, "a")
    assert len({Name(0, 1, "a"), Name(0, 1, "a")}) == 2


@pytest.mark.slow
def test_parsing_imports_neither_xdsl_nor_numpy() -> None:
    program = (
        "import sys; from loomir import csl; csl.parse('const x = 1;', 'a.csl');"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'xdsl', 'numpy', 'networkx'}))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
