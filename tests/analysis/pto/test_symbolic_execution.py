"""Reports on kernels whose loops and branches depend on numbers that are not known."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from loomir.analysis.pto.control_trees import Arguments
from loomir.analysis.pto.rings import components, rings_of
from loomir.analysis.pto.schedules import kernel_of
from loomir.analysis.pto.symbolic_execution import SymbolicExecution
from loomir.checks.pto.registry import find_hazards
from loomir.diagnostics.findings import Finding
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.traversal import walk
from loomir.dialects.verification import verify
from loomir.operations.pipe_protocol import Behavior

ACC = "!pto.tile_buf<acc, 16x16xf32>"
HALF = "!pto.tile_buf<vec, 8x16xf32>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"
PUSH = f"pto.tpush_to_aiv(%t : {ACC}) {{split = 0}}\n"
FREE = "pto.tfree_from_aic {split = 0}\n"
ARGUMENTS = "%n: index, %m: index, %if: i1, %p: !pto.ptr<i32>, %q: !pto.ptr<i32>"


def pop(name: str = "v") -> str:
    return f"%{name} = pto.tpop_from_aic {{split = 0}} -> {VEC}\n"


def loop(count: str, body: str, name: str = "k", lower: str = "%zero") -> str:
    return f"scf.for %{name} = {lower} to {count} step %one {{\n{body}}}\n"


def branch(condition: str, then: str, other: str = "") -> str:
    return f"scf.if {condition} {{\n{then}}} else {{\n{other}}}\n"


def kernel(kind: str, name: str, arguments: str, body: str) -> str:
    constants = "".join(
        f"%{text} = arith.constant {value} : index\n" for value, text in enumerate(("zero", "one", "two", "three"))
    )
    attributes = f"attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
    return f"func.func @{name}({arguments}) {attributes} {{\n{constants}{body}return\n}}\n"


def text(
    cube: str, vector: str, slots: int = 2, arguments: Sequence[str] = (ARGUMENTS, ARGUMENTS), entry: str = ""
) -> str:
    settings = f"{{dir_mask = 1, slot_size = 1024, slot_num = {slots}}}(c2v_consumer_buf = %a : i32)\n"
    where = f"size = {1024 * slots}, location = #pto.address_space<vec>, auto = true"
    head = '%a = pto.import_reserved_buffer {name = "b", peer_func = @vector} -> i32\npto.aic_initialize_pipe '
    taker = f'%a = pto.reserve_buffer {{name = "b", {where}}} -> i32\npto.aiv_initialize_pipe {settings}'
    tile = f"%t = pto.alloc_tile : {ACC}\n"
    return (
        entry
        + kernel("cube", "cube", arguments[0], head + settings + tile + cube)
        + kernel("vector", "vector", arguments[1], taker + vector)
    )


def parsed(source: str) -> ModuleOp:
    module = parse_ir(context(), source, "program.pto")
    verify(module)
    return module


def told(cube: str, vector: str, slots: int = 2, behavior: Behavior = "ideal") -> list[Finding]:
    return find_hazards(parsed(text(cube, vector, slots)), behavior)


TURN = pop() + FREE
THREE = "%end = arith.addi %n, %three : index\n"
NOT = "%no = arith.constant true\n%not = arith.xori %if, %no : i1\n"


@pytest.mark.parametrize(
    ("cube", "vector"),
    [
        (loop("%n", PUSH), loop("%n", TURN)),
        (loop("%n", PUSH) + PUSH, pop("w") + FREE + loop("%n", TURN)),
        (branch("%if", PUSH), branch("%if", TURN)),
(branch("%if", PUSH), NOT + branch("%not", "", TURN)),
        (loop("%n", loop("%m", PUSH, "l")), loop("%n", loop("%m", TURN, "l"))),
(THREE + loop("%end", PUSH, lower="%n"), TURN + pop("w") + FREE + pop("x") + FREE),
    ],
)  # fmt: skip
def test_nothing_is_told_of_kernels_that_agree_for_all_numbers(cube: str, vector: str) -> None:
    assert told(cube, vector) == []


def test_values_that_are_computed_alike() -> None:
    """Of what is loaded from an array that no kernel writes, and of the number of the block."""
    load = "%x = pto.load_scalar %p[%one] : !pto.ptr<i32> -> i32\n%c = arith.index_cast %x : i32 to index\n"
    half = "%h = arith.divsi %c, %two : index\n"
    other = half.replace("%c, %two", "%c, %three")
    assert told(load + half + loop("%h", PUSH), load + half + loop("%h", TURN)) == []
    assert told(load + half + loop("%h", PUSH), load + other + loop("%h", TURN)) != []
    block = "%x = pto.get_block_idx\n%h = arith.index_cast %x : i64 to index\n"
    assert told(block + loop("%h", PUSH), block + loop("%h", TURN)) == []
    # What is in an array that is written is not known.
    store = "%y = arith.constant 1 : i32\npto.store_scalar %y, %p[%one] : !pto.ptr<i32>, i32\n"
    (finding,) = told(store + load + half + loop("%h", PUSH), load + half + loop("%h", TURN))
    assert (finding.severity, finding.code) == ("warning", "undecided")
    elsewhere = store.replace("%p", "%q")
    assert told(elsewhere + load + half + loop("%h", PUSH), load + half + loop("%h", TURN)) == []


def test_elements_of_a_mask() -> None:
    """In each round both ask for the element of that round."""
    ask = (
        "%x = pto.load_scalar %p[%k] : !pto.ptr<i32> -> i32\n%y = arith.constant 3 : i32\n"
        "%go = arith.cmpi sgt, %x, %y : i32\n"
    )
    assert told(loop("%n", ask + branch("%go", PUSH)), loop("%n", ask + branch("%go", TURN))) == []
    late = "%next = arith.addi %k, %one : index\n" + ask.replace("%p[%k]", "%p[%next]")
    (finding,) = told(loop("%n", ask + branch("%go", PUSH)), loop("%n", late + branch("%go", TURN)))
    assert finding.code == "undecided"
    assert "%p[" in finding.message


@pytest.mark.parametrize(
    ("computed", "message"),
    [
        ("%k1 = arith.subi %n, %one : index\n", "%n - 1 entries are popped in @vector, but %n are pushed into"),
        ("%k1 = arith.addi %n, %two : index\n", "%n + 2 entries are popped in @vector, but %n are pushed into"),
        ("%k1 = arith.muli %n, %two : index\n", "2 * %n entries are popped in @vector, but %n are pushed into"),
    ],
)
def test_other_numbers_of_rounds_are_errors_that_name_both(computed: str, message: str) -> None:
    (finding,) = told(loop("%n", PUSH), computed + loop("%k1", TURN))
    assert (finding.severity, finding.code) == ("error", "unbalanced-pipe")
    assert message in finding.message
    if "2 *" in message:
        assert "these counts are equal only if %n is 0" in finding.message


def test_numbers_that_may_be_alike_are_warned_of() -> None:
    (finding,) = told(loop("%n", PUSH), loop("%m", TURN))
    assert (finding.severity, finding.code) == ("warning", "unbalanced-pipe")
    assert "%m entries are popped in @vector, but %n are pushed into the pipe of 'b'" in finding.message


def test_a_number_that_may_be_the_usual_one_is_warned_of() -> None:
    """Four, or less than four where it cannot be more; the number of the block where there is one alone."""
    four = "%four = arith.constant 4 : index\n"
    least = four + "%least = arith.minsi %n, %four : index\n"
    block = "%x = pto.get_block_idx\n%h = arith.index_cast %x : i64 to index\n"
    for cube, vector in (
        (loop("%n", PUSH), four + loop("%four", TURN)),
        (least + loop("%least", PUSH), four + loop("%four", TURN)),
        (block + loop("%h", PUSH), TURN),
    ):
        assert {finding.severity for finding in told(cube, vector)} == {"warning"}


@pytest.mark.slow
def test_what_goes_wrong_from_some_number_on() -> None:
    """PTO-028: the sixth push is the first that overwrites."""
    (finding,) = told(loop("%n", PUSH), loop("%n", TURN), 5, "a2a3")
    assert (finding.severity, finding.code) == ("error", "unsafe-depth")
    assert "this happens whenever %n is at least 6" in finding.message
    # Entries that are held: the third has no slot.
    frees = loop("%n", FREE, "l")
    (finding,) = [one for one in told(loop("%n", PUSH), loop("%n", pop()) + frees) if one.code == "slots-held"]
    assert finding.severity == "error"
    assert "this happens whenever %n is at least 3" in finding.message


def test_what_goes_wrong_for_some_numbers() -> None:
    """Half of an odd number, twice, is one less."""
    half = "%h = arith.divsi %n, %two : index\n"
    found = told(half + loop("%h", PUSH * 2), loop("%n", TURN))
    assert {finding.severity for finding in found} == {"warning"}
    assert any("this happens if %n is 1, for example" in finding.message for finding in found)


def test_as_much_in_half_as_many_rounds() -> None:
    """Both do it as often for every number, but not in step, which states do not tell; what is tried is right."""
    (finding,) = told(loop("%n", PUSH * 2), "%both = arith.muli %n, %two : index\n" + loop("%both", TURN))
    assert (finding.severity, finding.code) == ("warning", "undecided")


def test_one_way_or_the_other() -> None:
    decide = "%go = arith.cmpi eq, %n, %one : index\n"
    found = told(decide + branch("%go", PUSH), decide + branch("%go", "", TURN))
    assert {(finding.severity, finding.code) for finding in found} == {("error", "unbalanced-pipe")}


@pytest.mark.slow
def test_trip_counts_that_depend_on_other_loops() -> None:
    """Triangular loops are proved right for all numbers, and shown to be wrong for some, within a second."""

    def nest(body: str, bound: str) -> str:
        inner = "%more = arith.addi %k, %one : index\n" + loop(bound, body, "j")
        return loop("%n", inner)

    start = process_time()
    assert told(nest(PUSH, "%more"), nest(TURN, "%more")) == []
    assert told(nest(PUSH, "%k"), nest(TURN, "%k")) == []
    found = told(nest(PUSH, "%more"), nest(TURN, "%k"))
    assert process_time() - start < 4
    assert [finding.code for finding in found] == ["unbalanced-pipe"]
    assert "0 entries are popped, but 1 is pushed" in found[0].message
    assert "if %n is 1, for example" in found[0].message


def test_credits_to_begin_with() -> None:
    """Pipes of split entries begin with some on a5, those of whole ones in the consumer's memory do not."""
    push, turn = (part.replace("split = 0", "split = 1").replace(VEC, HALF) for part in (PUSH, TURN))
    (finding,) = told(loop("%n", push), loop("%n", turn), behavior="a5")
    assert (finding.severity, finding.code) == ("note", "seeded-credits")
    assert told(loop("%n", PUSH), loop("%n", TURN), behavior="a5") == []


def test_slots_that_are_not_given_back() -> None:
    found = told(loop("%n", PUSH), loop("%n", pop()))
    (error,) = [finding for finding in found if finding.code == "unbalanced-pipe"]
    assert error.severity == "error"
    assert "%n entries are popped from the pipe of 'b', but 0 are freed" in error.message


def entry(first: str, second: str) -> str:
    return (
        "func.func @main(%rows: index, %columns: index) attributes {pto.entry} {\n"
        f"func.call @cube({first}) : (index) -> ()\nfunc.call @vector({second}) : (index) -> ()\nreturn\n}}\n"
    )


def test_arguments_are_those_of_the_entry_function() -> None:
    """By name without one."""
    names = ("%x: index", "%y: index")
    kernels = loop("%x", PUSH), loop("%y", TURN)
    assert find_hazards(parsed(text(*kernels, 2, names, entry("%rows", "%rows"))), "ideal") == []
    (finding,) = find_hazards(parsed(text(*kernels, 2, names, entry("%rows", "%columns"))), "ideal")
    assert "%columns entries are popped in @vector, but %rows are pushed into" in finding.message
    (finding,) = find_hazards(parsed(text(*kernels, 2, names)), "ideal")
    assert "%y entries are popped in @vector, but %x are pushed into" in finding.message
    same = loop("%x", PUSH), loop("%x", TURN)
    swapped = text(*same, 2, ("%x: index", "%x: index"), entry("%rows", "%columns"))
    assert find_hazards(parsed(swapped), "ideal") != []


def test_values_of_arguments_fix_the_events() -> None:
    module = parsed(text(loop("%n", PUSH), loop("%m", TURN)))
    kernels = [kernel_of(op, "ideal") for op in walk(module) if isinstance(op, FuncOp)]
    (component,) = components(kernels, rings_of(kernels))
    outcomes = SymbolicExecution(component, Arguments(module))
    ((_, pushes),) = outcomes.times("the pipe of 'b'", "push")
    ((_, pops),) = outcomes.times("the pipe of 'b'", "pop")
    assert pushes is not None and pops is not None
    assert str(pushes.minus(pops)) == "-%m + %n"
    (n,), (m,) = pushes.symbols, pops.symbols
    program = outcomes.program({n: 3, m: 2})
    assert program is not None and program.exact
    assert [len(events) for events in program.cores.values()] == [3, 4]
    assert outcomes.program({n: 3}) is None


def test_what_is_not_known_is_named_with_its_place() -> None:
    """Where one side alone is there, some rounds are looked at."""
    source = text(loop("%n", PUSH), loop("%n", pop()))
    alone = source[source.index("func.func @vector") :]
    found = find_hazards(parsed(alone), "ideal")
    assert {finding.severity for finding in found} == {"warning"}
    assert all(
        "whether this happens depends on the loop in line 8, which depends on %n" in finding.message
        for finding in found
    )
