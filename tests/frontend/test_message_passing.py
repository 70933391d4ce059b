"""<message_passing>: messages between any PEs of the rectangle, and misuse of the library."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

import loomir
from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow, wse
from loomir.runtime.deadlock import Deadlock

from ..runtime.machines import load
from ..searches import examples
from .harness import Csl

IMPORT = """
const mp = @import_module("<message_passing>", .{ .input_queue_id = 2, .output_queue_id = 3 });
const layout_module = @import_module("<layout>");
"""
WHERE_AND_DONE = """
fn at(x: u16, y: u16) bool { return layout_module.get_x_coord() == x and layout_module.get_y_coord() == y; }
const done_id = @get_local_task_id(10);
const sent_id = @get_local_task_id(11);
var done_count = @zeros([1]u16);
var sent_count = @zeros([1]u16);
task done() void { done_count[0] += 1; }
task sent() void { sent_count[0] += 1; }
comptime {
  @bind_local_task(done, done_id);
  @bind_local_task(sent, sent_id);
}
"""
COUNTS = {"done_count": "u16", "sent_count": "u16"}


def program(main: str, arrays: dict[str, tuple[int, str]], before: str = "") -> tuple[str, dict[str, str]]:
    """Return the code of all PEs, and what it exports: arrays of a length and type, and how often its tasks ran."""
    lines = [f"var {name} = @zeros([{count}]{type});" for name, (count, type) in arrays.items()]
    text = IMPORT + WHERE_AND_DONE + "\n".join(lines) + f"\n{before}\nfn main() void {{\n  mp.init();\n{main}\n}}\n"
    return text, {**{name: type for name, (_, type) in arrays.items()}, **COUNTS}


def start(
    csl: Csl, main: str, arrays: dict[str, tuple[int, str]], width: int, height: int = 1, before: str = ""
) -> loomir.Simulator:
    text, exports = program(main, arrays, before)
    return csl.start(text, exports, arch="wse3", width=width, height=height)


def run(csl: Csl, *arguments: Any, data: Any = None, **options: Any) -> loomir.Simulator:
    """Return the simulator after a launch of main, with `data` in the array of that name on all PEs."""
    simulator = start(csl, *arguments, **options)
    if data is not None:
        simulator.set("data", data)
    simulator.launch("main")
    return simulator


BOTH = {"data": (4, "u32"), "got": (6, "u32")}
DATA = np.array([7, 8, 9, 1 << 31], np.uint32)


# What messages do


def test_a_message_goes_to_another_column_and_row(csl: Csl) -> None:
    """LIB-001, LIB-005, LIB-012, LIB-014, LIB-015, LIB-016, LIB-022, LIB-024, LIB-025"""
    simulator = run(
        csl,
        """
        if (at(2, 1)) { mp.recv_message(&got, done_id, .{}); }
        if (at(0, 0)) { mp.send_message(2, 1, &data, 4, .{ .activate = sent_id }); }
        """,
        BOTH, 3, 2, data=DATA,
    )  # fmt: skip
    got = np.zeros((2, 3, 6), np.uint32)
    got[1, 2, :4] = DATA
    np.testing.assert_array_equal(simulator.get("got"), got)
    assert simulator.get("done_count")[:, :, 0].tolist() == [[0, 0, 0], [0, 0, 1]]
    assert simulator.get("sent_count")[:, :, 0].tolist() == [[1, 0, 0], [0, 0, 0]]


def test_the_length_counts_elements_and_the_receiver_learns_it(csl: Csl) -> None:
    """LIB-018, LIB-027"""
    simulator = run(
        csl,
        """
        if (at(1, 0)) { mp.recv_message(&got, done_id, .{}); }
        if (at(0, 0)) { mp.send_message(1, 0, &data, 2, .{}); }
        """,
        BOTH, 2, data=DATA,
    )  # fmt: skip
    assert simulator.get("got")[0, 1].tolist() == [7, 8, 0, 0, 0, 0]
    assert simulator.get("done_count")[0, 1, 0] == 1


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("call", "done", "sent"),
    [
        ("mp.recv_message(&got, later, .{})", 0, 1),
        ("mp.recv_message(&got, .{ .activate = done_id })", 1, 0),
        ("mp.recv_message(&got, .{})", 0, 0),
        ("mp.recv_message(&got, {})", 0, 0),
        ("mp.recv_message(&got, done_id, {})", 1, 0),
        ("mp.recv_message(&got, done_id, .{ .activate = sent_id })", 0, 1),
    ],
)
def test_receiving_as_the_manuals_of_both_sdks_say(csl: Csl, call: str, done: int, sent: int) -> None:
    """LIB-023, LIB-024: SDK 1.4 has no callback besides on_term, and writes {} for none."""
    main = f"""
        for (@range(u16, 4)) |i| {{ data[i] = @as(u32, i) + 5; }}
        if (at(0, 0)) {{ mp.send_message(1, 0, &data, 4, {{}}); }}
        if (at(1, 0)) {{ {call}; }}
    """
    before = "var later: local_task_id = sent_id;"
    simulator = start(csl, main, {"data": (4, "u32"), "got": (4, "u32")}, 2, before=before)
    simulator.launch("main")
    assert simulator.get("got")[0, 1].tolist() == [5, 6, 7, 8]
    assert simulator.get("done_count")[0, :, 0].tolist() == [0, done]
    assert simulator.get("sent_count")[0, :, 0].tolist() == [0, sent]


def test_nothing_happens_at_the_end_of_a_send_with_an_empty_on_term(csl: Csl) -> None:
    """LIB-023"""
    simulator = run(
        csl,
        """
        if (at(1, 0)) { mp.recv_message(&got, done_id, .{ .activate = sent_id }); }
        if (at(0, 0)) { mp.send_message(1, 0, &data, 4, .{}); }
        """,
        BOTH, 2, data=DATA,
    )  # fmt: skip
    # What on_term says comes in place of the callback (AMB-36).
    assert simulator.get("sent_count")[0, :, 0].tolist() == [0, 1]
    assert simulator.get("done_count")[0, :, 0].tolist() == [0, 0]


def test_on_term_unblocks(csl: Csl) -> None:
    """LIB-021, LIB-022, LIB-025"""
    simulator = run(
        csl,
        """
        @block(done_id);
        @activate(done_id);
        if (at(1, 0)) { mp.recv_message(&got, sent_id, .{ .unblock = done_id }); }
        if (at(0, 0)) { mp.send_message(1, 0, &data, 4, .{ .unblock = done_id }); }
        """,
        BOTH, 2, data=DATA,
    )  # fmt: skip
    assert simulator.get("done_count")[0, :, 0].tolist() == [1, 1]
    assert simulator.get("sent_count")[0, :, 0].tolist() == [0, 0]


@pytest.mark.parametrize("type", ["i16", "u16", "f16", "i32", "u32", "f32"])
def test_element_types(csl: Csl, type: str) -> None:
    """LIB-017, LIB-026"""
    values = np.array([1, -2, 3] if type[0] != "u" else [1, 65535, 3], np.dtype(type.replace("f", "float").replace(
        "u", "uint") if type[0] != "i" else type.replace("i", "int")))  # fmt: skip
    simulator = run(
        csl,
        """
        if (at(1, 1)) { mp.recv_message(&got, done_id, .{}); }
        if (at(0, 0)) { mp.send_message(1, 1, &data, 3, .{}); }
        """,
        {"data": (3, type), "got": (3, type)}, 2, 2, data=values,
    )  # fmt: skip
    np.testing.assert_array_equal(simulator.get("got")[1, 1], values)


def test_the_constants_of_the_module(csl: Csl) -> None:
    """LIB-003, LIB-010, LIB-011"""
    text = (
        IMPORT
        + """
    comptime {
      @comptime_assert(@is_same_type(@type_of(mp.mp_input_queue), input_queue));
      @comptime_assert(@is_same_type(@type_of(mp.mp_output_queue), output_queue));
      @comptime_assert(@is_same_type(@type_of(mp.mp_comm_color), color));
      @comptime_assert(@get_int(mp.mp_input_queue) == 2 and @get_int(mp.mp_output_queue) == 3);
      @comptime_print(@get_int(mp.mp_comm_color));
    }
    """
    )
    compiled = csl.pe(text, "wse3")
    assert targets.get("wse3").message_colors == (14, 15, 16, 17, 18)
    assert csl.printed == ["18"]
    (network,) = (op for op in compiled.module.walk() if isinstance(op, wse.MessageNetworkOp))
    colors = {op.sym_name.data: op.id for op in compiled.module.walk() if isinstance(op, wse.ColorOp)}
    number = colors[network.color.string_value()]
    assert number is not None and number.value.data == 18


def test_enable_asserts_is_false_by_default(csl: Csl) -> None:
    """LIB-008"""
    csl.pe(IMPORT + "comptime { @comptime_print(mp.enable_asserts); }", "wse3")
    assert csl.printed == ["false"]


def test_a_pe_sends_to_itself(csl: Csl) -> None:
    """LIB-001"""
    simulator = run(
        csl, "mp.recv_message(&got, done_id, .{}); mp.send_message(0, 0, &data, 4, .{});", BOTH, 1, data=DATA
    )
    assert simulator.get("got")[0, 0, :4].tolist() == DATA.tolist()


def test_buffers_are_whatever_points_to_an_array(csl: Csl) -> None:
    """LIB-017, LIB-026: arrays of several dimensions, constant ones, parts of others, pointers passed on."""
    simulator = run(
        csl,
        """
        if (at(1, 0)) { mp.recv_message(@ptrcast(*[2]u16, &got[3]), done_id, .{}); }
        if (at(0, 0)) { pass_on(&table, 6); }
        if (at(2, 0)) { mp.recv_message(&table, then_id, .{}); }
        """,
        {"data": (4, "u16"), "got": (6, "u16"), "copied": (6, "u16")}, 3,
        before="""
        const CONSTANT = [2]u16 { 7, 8 };
        const then_id = @get_local_task_id(12);
        const first_id = @get_local_task_id(13);
        var table = [2, 3]u16 { 1, 2, 3, 4, 5, 6 };
        fn pass_on(array: *[2, 3]u16, count: u16) void {
          for (@range(u16, 3)) |i| { array.*[1, i] += 10; }
          mp.send_message(2, 0, array, count, .{ .activate = first_id });
        }
        task first() void { mp.send_message(1, 0, &CONSTANT, 2, .{}); }
        task then() void {
          for (@range(u16, 2)) |i| { for (@range(u16, 3)) |j| { copied[3 * i + j] = table[i, j]; } }
        }
        comptime { @bind_local_task(first, first_id); @bind_local_task(then, then_id); }
        """,
    )  # fmt: skip
    assert simulator.get("got")[0, 1].tolist() == [0, 0, 0, 7, 8, 0]
    assert simulator.get("copied")[0, 2].tolist() == [1, 2, 3, 14, 15, 16]


@pytest.mark.parametrize("type", ["u16", "f32"])
def test_buffers_of_unknown_length(csl: Csl, type: str) -> None:
    """LIB-017, LIB-026, AMB-59: the send has the length it is given, the receive that of the message."""
    values = np.arange(1, 9).astype({"u16": np.uint16, "f32": np.float32}[type])
    simulator = run(
        csl,
        """
        if (at(0, 0)) { pass_on(&data, 5); }
        if (at(1, 0)) { take(&got); }
        """,
        {"data": (8, type), "got": (8, type)}, 2, data=values,
        before=f"""
        fn pass_on(array: [*]const {type}, count: u16) void {{ mp.send_message(1, 0, array, count, .{{}}); }}
        fn take(array: [*]{type}) void {{ mp.recv_message(array, done_id, .{{}}); }}
        """,
    )  # fmt: skip
    assert simulator.get("got")[0, 1].tolist() == [1, 2, 3, 4, 5, 0, 0, 0]


def test_destination_and_length_differ_from_pe_to_pe(csl: Csl) -> None:
    """LIB-016, LIB-018"""
    data = np.arange(16, dtype=np.uint16).reshape(1, 4, 4)
    simulator = run(
        csl,
        """
        const x = layout_module.get_x_coord();
        mp.recv_message(&got, done_id, .{});
        mp.send_message(3 - x, 0, &data, x + 1, .{});
        """,
        {"data": (4, "u16"), "got": (4, "u16")}, 4, data=data,
    )  # fmt: skip
    for x in range(4):
        sent = data[0, 3 - x, : 4 - x].tolist()
        assert simulator.get("got")[0, x].tolist() == sent + [0] * x


def test_an_operation_of_the_program_gets_the_header_too(csl: Csl) -> None:
    """LIB-010, LIB-011, LIB-015"""
    simulator = run(
        csl,
        """
        if (at(1, 0)) {
          const in = @get_dsd(fabin_dsd, .{
            .extent = 5, .fabric_color = mp.mp_comm_color, .input_queue = mp.mp_input_queue
          });
          const to = @get_dsd(mem1d_dsd, .{ .base_address = &got, .extent = 5 });
          @mov32(to, in, .{ .async = true, .activate = done_id });
        }
        if (at(0, 0)) { mp.send_message(1, 0, &data, 4, .{}); }
        """,
        BOTH, 2, data=DATA,
    )  # fmt: skip
    assert simulator.get("got")[0, 1].tolist() == [4, *DATA.tolist(), 0]


def test_a_receiver_that_does_not_import_the_library_on_the_way(csl: Csl) -> None:
    """LIB-001: only those that send and receive need it."""
    text, exports = program(
        """
        if (at(3, 0)) { mp.recv_message(&got, done_id, .{}); }
        if (at(0, 0)) { mp.send_message(3, 0, &data, 4, .{}); }
        """,
        BOTH,
    )  # fmt: skip
    lines = [f"var {name}_ptr: [*]{type} = &{name};" for name, type in exports.items()]
    lines += [f'comptime {{ @export_symbol({name}_ptr, "{name}"); }}' for name in exports]
    names = [f'@export_name("{name}", [*]{type}, true);' for name, type in exports.items()]
    layout = f"""
    layout {{
      @set_rectangle(4, 1);
      for (@range(i16, 4)) |x| {{ @set_tile_code(x, 0, if (x == 0 or x == 3) "pe.csl" else "idle.csl", .{{}}); }}
      {" ".join(names)}
      @export_name("main", fn() void);
    }}
    """
    pe = text + "\n".join(lines) + "\ncomptime { @export_symbol(main); }\n"
    idle = "fn main() void {}\ncomptime { @export_symbol(main); }\n"
    compiled = csl.layout(layout, pe, "wse3", files={"idle.csl": idle})
    simulator = loomir.Simulator(loomir.compile(compiled.module), step_limit=10_000)
    simulator.launch("main")
    assert simulator.get("done_count")[0, 3, 0] == 1


DATA_TASK = """
const receive_id = @get_data_task_id(mp.mp_input_queue);
var count: u16 = 0;
task receive(word: u32) void { got[count] = word; count += 1; }
comptime { @bind_data_task(receive, receive_id); }
"""


def test_a_data_task_gets_the_header_and_all_but_the_last_element(csl: Csl) -> None:
    """LIB-029, LIB-030, LIB-031"""
    simulator = run(
        csl,
        "if (at(0, 0)) { mp.send_message(1, 0, &data, 5, .{ .activate = sent_id }); }",
        {"data": (5, "u32"), "got": (8, "u32")}, 2, before=DATA_TASK, data=np.array([5, 6, 7, 8, 0], np.uint32),
    )  # fmt: skip
    assert simulator.get("got")[0, 1].tolist() == [5, 5, 6, 7, 8, 0, 0, 0]
    assert simulator.get("sent_count")[0, 0, 0] == 1


@pytest.mark.parametrize(("values", "element"), [([5, 6, 7], "the last element"), ([5], "the only element")])
def test_an_element_that_the_data_task_does_not_get_is_reported(
    csl: Csl, capfd: pytest.CaptureFixture[str], values: list[int], element: str
) -> None:
    """LIB-032"""
    run(
        csl,
        f"if (at(0, 0)) {{ mp.send_message(1, 0, &data, {len(values)}, .{{}}); }}",
        {"data": (len(values), "u32"), "got": (8, "u32")}, 2, before=DATA_TASK, data=np.array(values, np.uint32),
    )  # fmt: skip
    warning = capfd.readouterr().err
    assert f"warning: {element} of this message to PE (1, 0), with the bits {values[-1]:#x}, does not reach" in warning
    assert "pe.csl:" in warning and "LIB-032" in warning


def test_padding_is_not_reported(csl: Csl, capfd: pytest.CaptureFixture[str]) -> None:
    """LIB-032: a last element of 0 is what the sender has to append."""
    run(
        csl, "if (at(0, 0)) { mp.send_message(1, 0, &data, 3, .{}); }",
        {"data": (3, "u32"), "got": (8, "u32")}, 2, before=DATA_TASK, data=np.array([5, 6, 0], np.uint32),
    )  # fmt: skip
    assert "LIB-032" not in capfd.readouterr().err


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("values", "sent", "received", "warning"),
    [
        ([70000, 2, 1 << 31], "u32", "u16", "cuts 2 of them, the first from 0x11170 to 0x1170; send"),
        ([65535, 2, 0], "u32", "u16", ""),
        ([65535, 2, 70000], "u32", "f32", ""),
        ([65535, 2, 0], "u16", "u32", ""),
    ],
)
def test_elements_of_another_width(
    csl: Csl, capfd: pytest.CaptureFixture[str], late: bool, values: list[int], sent: str, received: str, warning: str
) -> None:
    """LIB-027: the wavelets do not tell the type; what a receiver cuts is reported."""
    wait = "for (@range(u16, 100)) |i| { got[0] = got[1]; }" if late else ""
    simulator = run(
        csl,
        f"""
        if (at(0, 0)) {{ mp.send_message(1, 0, &data, 3, .{{}}); }}
        if (at(1, 0)) {{ {wait} mp.recv_message(&got, done_id, .{{}}); }}
        """,
        {"data": (3, sent), "got": (3, received)}, 2, data=np.array(values, np.uint32 if sent == "u32" else np.uint16),
    )  # fmt: skip
    got = simulator.get("got")[0, 1]
    width = np.uint16 if received == "u16" else np.uint32
    assert got.view(width).tolist() == np.array(values, np.uint32).astype(width).tolist()
    err = capfd.readouterr().err
    assert "PE (1, 0) receives elements of 32 bits from PE (0, 0) into an array of 16 bits" in err or not warning
    assert warning in err and bool(err) == bool(warning)


def test_messages_of_many_senders_do_not_mix(csl: Csl) -> None:
    """LIB-001, LIB-029: a slow data task gets messages whole, whoever has to wait."""
    side, length = 4, 12
    simulator = start(
        csl,
        f"""
        if (!at(1, 1)) {{ mp.send_message(1, 1, &data, {length}, .{{ .activate = sent_id }}); }}
        """,
        {"data": (length, "u32"), "got": (side * side * length, "u32")},
        side, side,
        before=DATA_TASK.replace("count += 1;", "for (@range(u16, 20)) |_| { count += 0; } count += 1;"),
    )  # fmt: skip
    numbers = np.arange(1, side * side + 1).reshape(side, side, 1)
    data = (100 * numbers + np.arange(length)).astype(np.uint32)
    data[:, :, -1] = 0
    simulator.set("data", data)
    simulator.launch("main")
    got = simulator.get("got")[1, 1][: (side * side - 1) * length].reshape(-1, length)
    assert (got[:, 0] == length).all()
    want = [data[y, x, :-1].tolist() for y in range(side) for x in range(side) if (x, y) != (1, 1)]
    assert sorted(got[:, 1:].tolist()) == sorted(want)
    assert simulator.get("sent_count").sum() == side * side - 1


# Random patterns


LONGEST, SENDS, RECEIVES = 20, 4, 48
"""Elements of a message, messages of a PE, and messages to a PE, at most."""


RECEIVE = f"""
    const receive_id = @get_local_task_id(11);
    var incoming = @zeros([{LONGEST}]u32);
    fn receive() void {{
      if (received < expected[0]) {{ mp.recv_message(&incoming, receive_id, .{{}}); }}
    }}
    task received_one() void {{
      for (@range(u16, {LONGEST})) |i| {{ got[received, i] = incoming[i]; incoming[i] = 0; }}
      received += 1;
      receive();
    }}
    comptime {{ @bind_local_task(received_one, receive_id); }}
"""
"""Receives one message after the other, each into a row."""

BY_DATA_TASK = f"""
    const receive_id = @get_data_task_id(mp.mp_input_queue);
    fn receive() void {{}}
    task receive_word(word: u32) void {{
      got[received / {LONGEST}, received % {LONGEST}] = word;
      received += 1;
      for (@range(u16, slowness[0])) |_| {{ received += 0; }}
    }}
    comptime {{ @bind_data_task(receive_word, receive_id); }}
"""
"""Receives word after word, as slowly as is said."""


@cache
def pattern(width: int, height: int, receiver: str) -> ModuleOp:
    """Return a program that sends as tables say, each message when the one before has left, and receives."""
    text = (
        IMPORT
        + f"""
    const send_id = @get_local_task_id(10);
    var columns = @zeros([{SENDS}]u16);
    var rows = @zeros([{SENDS}]u16);
    var lengths = @zeros([{SENDS}]u16);
    var pauses = @zeros([{SENDS}]u16);
    var total = @zeros([1]u16);
    var expected = @zeros([1]u16);
    var data = @zeros([{LONGEST}]u32);
    var slowness = @zeros([1]u16);
    var got = @zeros([{RECEIVES}, {LONGEST}]u32);
    var sent: u16 = 0;
    var received: u16 = 0;
    fn send() void {{
      if (sent < total[0]) {{
        for (@range(u16, pauses[sent])) |_| {{ sent += 0; }}
        const sender = @as(u32, layout_module.get_y_coord()) << 8 | @as(u32, layout_module.get_x_coord());
        for (@range(u16, lengths[sent])) |i| {{
          data[i] = sender << 16 | @as(u32, sent) << 8 | @as(u32, i);
        }}
        mp.send_message(columns[sent], rows[sent], &data, lengths[sent], .{{ .activate = send_id }});
        sent += 1;
      }}
    }}
    task sent_one() void {{ send(); }}
    comptime {{ @bind_local_task(sent_one, send_id); }}
    fn main() void {{ mp.init(); receive(); send(); }}
    {receiver}
    """
    )
    exports = dict.fromkeys(("columns", "rows", "lengths", "pauses", "total", "expected", "slowness"), "u16")
    with TemporaryDirectory() as directory:
        simulator = Csl(Path(directory)).start(text, {**exports, "got": "u32"}, arch="wse3", width=width, height=height)
    return simulator.program.module


Sent = tuple[int, int, int, int]
"""Column and row of the receiver, the length, and how long the sender pauses before."""


@st.composite
def traffic(draw: st.DrawFn) -> tuple[int, int, dict[tuple[int, int], list[Sent]]]:
    """Draw a grid and what each of its PEs sends: column, row, length and pause of each message."""
    width, height = draw(st.sampled_from([(1, 1), (4, 1), (1, 4), (3, 3), (4, 3)]))
    columns, rows = st.integers(0, width - 1), st.integers(0, height - 1)
    if draw(st.booleans()):
        columns, rows = st.just(draw(columns)), st.just(draw(rows))  # all to one
    message = st.tuples(
        columns, rows, st.integers(1, draw(st.sampled_from([1, 5, LONGEST]))), st.sampled_from([0, 3, 60])
    )
    places = [(x, y) for y in range(height) for x in range(width)]
    return width, height, {place: draw(st.lists(message, max_size=SENDS)) for place in places}


def tables_of(width: int, height: int, messages: dict[tuple[int, int], list[Sent]]) -> dict[str, Any]:
    """Return what the program is told: [rows, columns, messages] of each property, and how many there are."""
    tables: dict[str, Any] = {
        name: np.zeros((height, width, SENDS), np.uint16) for name in ("columns", "rows", "lengths", "pauses")
    }
    tables["total"], tables["expected"] = np.zeros((2, height, width, 1), np.uint16)
    for (x, y), sent in messages.items():
        tables["total"][y, x] = len(sent)
        for number, properties in enumerate(sent):
            for name, value in zip(("columns", "rows", "lengths", "pauses"), properties, strict=True):
                tables[name][y, x, number] = value
            tables["expected"][properties[1], properties[0]] += 1
    return tables


Received = dict[tuple[int, int], dict[int, list[list[int]]]]
"""By receiver and sender, the messages in their order."""


def sent_by(messages: dict[tuple[int, int], list[Sent]]) -> Received:
    """Return the words of all messages."""
    found: Received = defaultdict(lambda: defaultdict(list))
    for (x, y), sent in messages.items():
        for number, (column, row, length, _) in enumerate(sent):
            words = [y << 24 | x << 16 | number << 8 | i for i in range(length)]
            found[column, row][y << 8 | x].append(words)
    return found


def outcomes(width: int, height: int, tables: dict[str, Any], receiver: str) -> Any:
    """Return what all PEs have got, [rows, columns, words]."""
    machine = load(pattern(width, height, receiver))
    for name, table in tables.items():
        machine.write_symbol(name, table)
    machine.launch("main", ())
    machine.run(None)
    return machine.read_symbol("got").reshape(height, width, -1)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(traffic())
def test_random_patterns(drawn: tuple[int, int, dict[tuple[int, int], list[Sent]]]) -> None:
    """LIB-001: every message arrives whole, once, and those of one sender in their order."""
    width, height, messages = drawn
    tables, sent = tables_of(width, height, messages), sent_by(messages)
    got = outcomes(width, height, tables, RECEIVE).reshape(height, width, RECEIVES, LONGEST)
    for y, x in np.ndindex(height, width):
        received: dict[int, list[list[int]]] = defaultdict(list)
        for words in got[y, x, : int(tables["expected"][y, x, 0])].tolist():
            sender = words[0] >> 16
            length = len(sent[x, y][sender][len(received[sender])])
            assert not any(words[length:])
            received[sender].append(words[:length])
        assert received == sent.get((x, y), {})


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(traffic(), st.sampled_from([0, 1, 20]))
def test_random_patterns_to_data_tasks(
    drawn: tuple[int, int, dict[tuple[int, int], list[Sent]]], slowness: int
) -> None:
    """LIB-029, LIB-031: messages come whole, header first and without their last elements, however slow the tasks."""
    width, height, messages = drawn
    tables, sent = tables_of(width, height, messages), sent_by(messages)
    got = outcomes(width, height, tables | {"slowness": np.full((height, width, 1), slowness, np.uint16)}, BY_DATA_TASK)
    for y, x in np.ndindex(height, width):
        received: list[list[int]] = []
        words = got[y, x].tolist()
        for _ in range(int(tables["expected"][y, x, 0])):
            header, *words = words
            received.append(words[: header - 1])
            words = words[header - 1 :]
        assert not any(words)
        # Of one sender they come in order; those of a single element have none that says who sent them.
        expected = [message[:-1] for of_sender in sent[x, y].values() for message in of_sender]
        assert sorted(received) == sorted(expected)
        for sender in sent[x, y]:
            mine = [message for message in received if message and message[0] >> 16 == sender]
            assert mine == [message[:-1] for message in sent[x, y][sender] if len(message) > 1]


# How long they take


def cycles_of(csl: Csl, width: int, height: int, length: int) -> int:
    """Return the cycles of a message from PE (0, 0) to the opposite corner of a grid."""
    simulator = start(
        csl,
        f"""
        if (role[0] == 2) {{ mp.recv_message(&got, done_id, .{{}}); }}
        if (role[0] == 1) {{ mp.send_message({width - 1}, {height - 1}, &data, {length}, .{{}}); }}
        """,
        {"data": (length, "u32"), "got": (length, "u32"), "role": (1, "u16")}, width, height,
    )  # fmt: skip
    role = np.zeros((height, width, 1), np.uint16)
    role[0, 0], role[-1, -1] = 1, 2
    simulator.set("role", role)
    simulator.launch("main")
    return int(simulator.stats()["cycles_estimated"])


@pytest.mark.parametrize(("width", "height", "length"), [(9, 1, 1), (1, 6, 30), (5, 4, 1), (2, 2, 100)])
def test_cycles_follow_the_cost_model(csl: Csl, width: int, height: int, length: int) -> None:
    """LIB-015: a hop is two cycles, a turn is dear, and each element takes a cycle more."""
    timing = targets.get("wse3").timing
    hops, turns = width + height - 2, int(width > 1 and height > 1)
    more = (hops - 1) * timing.hop + turns * timing.turn + length - 1
    assert cycles_of(csl, width, height, length) - cycles_of(csl, 2, 1, 1) == more


@pytest.mark.slow
def test_two_messages_share_a_link_one_after_the_other(csl: Csl) -> None:
    """LIB-001: the second waits for all wavelets of the first: the address, the header and the elements."""
    length = 30
    main = """
        if (at(1, 0)) { mp.recv_message(&got, again_id, .{}); }
        if (at(0, 0) or at(2, 0) and BOTH) { mp.send_message(1, 0, &data, 30, .{}); }
    """
    before = """
        const again_id = @get_local_task_id(12);
        task again() void { done_count[0] += 1; if (BOTH and done_count[0] == 1) {
          mp.recv_message(&got, again_id, .{}); } }
        comptime { @bind_local_task(again, again_id); }
    """
    arrays = {"data": (length, "u32"), "got": (length, "u32")}
    cycles: list[int] = []
    for both in ("false", "true"):
        simulator = run(csl, main.replace("BOTH", both), arrays, 3, before=before.replace("BOTH", both))
        assert simulator.get("done_count")[0, 1, 0] == 1 + (both == "true")
        cycles.append(int(simulator.stats()["cycles_estimated"]))
    timing = targets.get("wse3").timing
    # The ramp is free a cycle after the last wavelet of the first message, and the second one's head is there; unless
    # the second receive has not set up by then.
    assert length + 2 <= cycles[1] - cycles[0] <= length + 2 + timing.send_setup + 30


# Who waits


@pytest.mark.slow
def test_a_sender_waits_for_a_receiver_that_is_busy(csl: Csl) -> None:
    """LIB-022: the send ends once all but what the receiver's queue holds has been taken."""
    ends: list[list[int]] = []
    for length in (3, 5, 40):
        simulator = start(
            csl,
            f"""
            if (at(1, 0)) {{
              for (@range(u16, 300)) |_| {{ done_count[0] += 0; }}
              mp.recv_message(&got, done_id, .{{}});
            }}
            if (at(0, 0)) {{ mp.send_message(1, 0, &data, {length}, .{{ .activate = left_id }}); }}
            """,
            {"data": (length, "u32"), "got": (length, "u32"), "stamp": (3, "u16")}, 2,
            before="""
            const time = @import_module("<time>");
            const left_id = @get_local_task_id(12);
            task left() void { time.get_timestamp(&stamp); }
            comptime { @bind_local_task(left, left_id); }
            """,
        )  # fmt: skip
        simulator.launch("main")
        ends.append(simulator.get("stamp")[0, 0].tolist())
    room = targets.get("wse3").input_queue_words[2]
    assert room == 4
    # A header and three elements fit into the queue, and two more wavelets on the link.
    assert ends[0][0] < 100 < 1000 < ends[1][0] < ends[2][0]


def test_a_receiver_without_a_sender_is_reported(csl: Csl) -> None:
    """LIB-025"""
    with pytest.raises(Deadlock) as caught:
        run(csl, "if (at(1, 0)) { mp.recv_message(&got, done_id, .{}); }", BOTH, 2)
    assert "waits on input queue 'mp_input_queue' (id 2, color 'mp_comm_color') for a message" in caught.value.message
    assert "no message to PE (1, 0) is on its way; let a PE send one there" in caught.value.message
    assert [(wait.units, wait.missing) for wait in caught.value.waits] == [(((1, 0),), 6)]


def test_a_full_queue_and_who_waits_behind_are_reported(csl: Csl) -> None:
    """LIB-022"""
    with pytest.raises(Deadlock) as caught:
        run(
            csl,
            """
            if (at(3, 0)) { if (done_count[0] > 0) { mp.recv_message(&got, done_id, .{}); } }
            if (layout_module.get_x_coord() < 2) { mp.send_message(3, 0, &data, 12, .{ .activate = sent_id }); }
            """,
            {"data": (12, "u32"), "got": (12, "u32")}, 4,
        )  # fmt: skip
    message = caught.value.message
    full = "input queue 'mp_input_queue' of PE (3, 0) is full and is not read"
    assert f"cannot send its message of 12 elements to PE (3, 0): {full}" in message
    assert f"the way east at PE (1, 0) is held by the message from PE (1, 0) to PE (3, 0), and {full}" in message
    assert caught.value.units == ((0, 0), (1, 0))
    assert {(left.place, left.wavelets) for left in caught.value.unread} == {((3, 0), 13)}
    held = (
        "13 wavelets of color 'mp_comm_color' wait for PE (3, 0), 4 in input queue 'mp_input_queue' (id 2) and 9 held"
    )
    assert held in message


def test_messages_that_nobody_has_received_are_unread(csl: Csl) -> None:
    """LIB-030"""
    simulator = run(
        csl,
        """
        if (at(1, 0)) { if (done_count[0] > 0) { mp.recv_message(&got, done_id, .{}); } }
        if (at(0, 0)) { mp.send_message(1, 0, &data, 2, .{}); }
        """,
        BOTH, 2,
    )  # fmt: skip
    (left,) = simulator._machine.unread()  # pyright: ignore[reportPrivateUsage]
    assert (left.color, left.place, left.wavelets) == ("mp_comm_color", (1, 0), 3)


def test_two_pes_that_send_before_they_receive_wait_for_each_other(csl: Csl) -> None:
    """LIB-022"""
    with pytest.raises(Deadlock, match=r"circular wait: PE \(\d, 0\) -> PE \(\d, 0\)"):
        run(
            csl,
            """
            mp.send_message(1 - layout_module.get_x_coord(), 0, &data, 40, .{ .activate = then_id });
            """,
            {"data": (40, "u32"), "got": (40, "u32")}, 2,
            before="""
            const then_id = @get_local_task_id(12);
            task then() void { mp.recv_message(&got, done_id, .{}); }
            comptime { @bind_local_task(then, then_id); }
            """,
        )  # fmt: skip


# Misuse

LAYOUT = """
layout {
  @set_rectangle(2, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @set_tile_code(1, 0, "other.csl", .{});
  ROUTE
}
"""
PE = (
    IMPORT
    + WHERE_AND_DONE
    + """
var data = @zeros([4]u32);
var bytes = @zeros([4]u8);
var byte_pointer: [*]u8 = &bytes;
var later: local_task_id = done_id;
fn main() void { mp.init(); CALL; }
comptime { @export_symbol(main); }
"""
)


def refuses(csl: Csl, code: str, message: str, route: str = "", other: str = "") -> None:
    layout = LAYOUT.replace("ROUTE", route) + "\nlayout_end_marker" if False else LAYOUT.replace("ROUTE", route)
    layout = layout.replace("  @set_rectangle", '  @export_name("main", fn() void);\n  @set_rectangle')
    other = other or "fn main() void {}"
    csl.refuses(code, message, layout, "wse3", files={"other.csl": other + "\ncomptime { @export_symbol(main); }\n"})


def test_other_machines_have_no_such_library(csl: Csl) -> None:
    """LIB-002"""
    text = IMPORT.replace('"<message_passing>"', '«"<message_passing>"»')
    csl.refuses(text, "the library <message_passing> exists on WSE-3 only; compile with --arch=wse3", arch="wse2")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (".output_queue_id = 3", "param 'input_queue_id' has no value"),  # LIB-006
        (".input_queue_id = 2", "param 'output_queue_id' has no value"),  # LIB-006
        (".input_queue_id = 2, .output_queue_id = 3, .enable_asserts = 1", "expected 'bool'"),  # LIB-007
        ('.input_queue_id = 2, .output_queue_id = 3, .enable_asserts = "yes"', "expected 'bool'"),  # LIB-007
        (".input_queue_id = 8, .output_queue_id = 3", "there is no input queue 8 on WSE-3; they are 0 to 7"),
        (".input_queue_id = 2, .output_queue_id = 9", "there is no output queue 9 on WSE-3; they are 0 to 7"),
        (".input_queue_id = 2.5, .output_queue_id = 3", "takes an integer, not 'comptime_float'"),
    ],
)
def test_params(csl: Csl, params: str, message: str) -> None:
    csl.refuses(f'const mp = «@import_module("<message_passing>", .{{ {params} }})»;', message, arch="wse3")


@pytest.mark.parametrize(("ids", "way", "number", "kept"), [((1, 3), "input", 1, "queues 0 and 1"),
                                                            ((2, 0), "output", 0, "queue 0")])  # fmt: skip
def test_queues_of_memcpy(csl: Csl, ids: tuple[int, int], way: str, number: int, kept: str) -> None:
    """LIB-005: <memcpy/memcpy> has queues of its own."""
    layout = """
    const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
    layout {
      @set_rectangle(1, 1);
      @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
    }
    """
    text = (
        'param memcpy_params: comptime_struct;\nconst sys = @import_module("<memcpy/memcpy>", memcpy_params);\n'
        f'const mp = «@import_module("<message_passing>", .{{ .input_queue_id = {ids[0]}, '
        f".output_queue_id = {ids[1]} }})»;"
    )
    message = f"{way} queue {number} belongs to <memcpy/memcpy>, which uses {way} {kept}; choose another {way}_queue_id"
    csl.refuses(text, message, layout, "wse3", memcpy=True, channels=1)


def test_one_import_with_two_pairs_of_queues(csl: Csl) -> None:
    """LIB-005: a PE has one pair of queues for messages."""
    second = IMPORT.splitlines()[1].replace("mp =", "other =").replace("= 2", "= 4")
    text = IMPORT.splitlines()[1].replace("mp = @import", "mp = «@import").replace(";", "»;") + "\n" + second
    csl.refuses(text, "<message_passing> is imported here and elsewhere with other queues", arch="wse3")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("color", [14, 15, 16, 17, 18])
@pytest.mark.parametrize("use", ["route", "local route", "queue", "queue of another program"])
def test_its_colors_serve_nothing_else(csl: Csl, use: str, color: int) -> None:
    """LIB-003, LIB-004"""
    pe, route, other = PE.replace("CALL", ""), "", ""
    routes = ".{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } }"
    queue = (
        f"const c = @get_color({color});\ncomptime {{ @initialize_queue(@get_output_queue(5), .{{ .color = c }}); }}"
    )
    if color == 18:
        queue = queue.replace("@initialize_queue(@get_output_queue(5), .{ .color = c })",
                              "«@initialize_queue(@get_output_queue(5), .{ .color = c })»")  # fmt: skip
    else:
        queue = queue.replace(".{ .color = c }", "«.{ .color = c }»")
    if use == "route":
        route = f"«@set_color_config(0, 0, @get_color({color}), {routes})»;"
    elif use == "local route":
        pe += f"comptime {{ «@set_local_color_config(@get_color({color}), {routes})»; }}"
    elif use == "queue":
        pe += queue
    else:
        other = queue + "\nfn main() void {}"
    message = f"color {color} belongs to <message_passing>, which this program imports and which uses the colors 14, 15"
    refuses(csl, pe, message, route, other)


def test_its_colors_are_free_without_it(csl: Csl) -> None:
    """LIB-004"""
    route = "@set_color_config(0, 0, @get_color(14), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });"
    code = "fn main() void {}\ncomptime { @export_symbol(main); }\n"
    layout = LAYOUT.replace("ROUTE", route + '@export_name("main", fn() void);')
    csl.layout(layout, code, "wse3", files={"other.csl": code})


def test_init_takes_no_arguments(csl: Csl) -> None:
    """LIB-012"""
    refuses(csl, PE.replace("mp.init()", "«mp.init(1)»").replace("CALL", ""), "'init' takes 0 arguments, not 1")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # LIB-014
        ("«mp.send_message(1, 0, &data, 4)»", "'send_message' takes 5 arguments, not 4"),
        ("mp.send_message(«-1», 0, &data, 4, .{})", "-1 does not fit in 'u16'"),
        ("mp.send_message(1, «1.5», &data, 4, .{})", "expected 'u16', found 'comptime_float'"),
        ("«mp.send_message(1, 0, &data, 4, done_id)»", "not a 'local_task_id' (LIB-021)"),
        # LIB-024
        ("«mp.recv_message(&data)»", "'recv_message' takes 3 arguments, not 1"),
        ("«mp.recv_message(&data, done_id)»", "not a 'local_task_id' (LIB-021)"),
        ("mp.recv_message(&data, «10», .{})", "expected 'local_task_id', found 'comptime_int'"),
        # LIB-017
        ("«mp.send_message(1, 0, &bytes, 4, .{})»", "i32, u32 or f32, such as &array, not a '*[4]u8' (LIB-017"),
        ("«mp.send_message(1, 0, data, 4, .{})»", "is a pointer to an array of i16"),
        ("«mp.send_message(1, 0, byte_pointer, 4, .{})»", "not a '[*]u8'"),
        # LIB-026
        ("«mp.recv_message(&bytes, done_id, .{})»", "not a '*[4]u8' (LIB-017, LIB-026)"),
        ("«mp.recv_message(&data[0], done_id, .{})»", "not a '*u32'"),
        # LIB-021
        (
            "«mp.send_message(1, 0, &data, 4, .{ .activate = done_id, .unblock = done_id })»",
            "on_term has one action, '.activate' or '.unblock', or is empty, and not '.activate', '.unblock' (LIB-021)",
        ),
        ("«mp.recv_message(&data, done_id, .{ .action = done_id })»", "or is empty, and not '.action' (LIB-021)"),
        (
            "«mp.send_message(1, 0, &data, 4, .{ .activate = 10 })»",
            "'.activate' of on_term takes the id of a local task, not a 'comptime_int' (LIB-021)",
        ),
        (
            "«mp.send_message(1, 0, &data, 4, .{ .unblock = mp.mp_output_queue })»",
            "'.unblock' of on_term takes the id of a task or queue, not a 'output_queue' (LIB-021)",
        ),
        (
            "«mp.send_message(1, 0, &data, 4, .{ .activate = @get_local_task_id(20) })»",
            "no task is bound to local task id 20",
        ),
        (
            "«mp.send_message(1, 0, &data, 4, .{ .activate = later })»",
            "the id of a local task that is known at compile time, and this 'local_task_id' is known at run time only",
        ),
    ],
)
def test_arguments(csl: Csl, call: str, message: str) -> None:
    refuses(csl, PE.replace("CALL", call), message)


@pytest.mark.parametrize("asserts", ["", ", .enable_asserts = true"])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        # LIB-009, LIB-019
        (
            "mp.send_message(1, 0, &data, length, .{})",
            "sends a message of 5 elements on PE (0, 0), but the array has 4",
        ),
        ("mp.send_message(1, 0, &data, length - 5, .{})", "sends a message of 0 elements on PE (0, 0)"),
        # LIB-009, LIB-020
        (
            "mp.send_message(length, 0, &data, 4, .{})",
            "PE (0, 0) sends a message to PE (5, 0), which is outside the program rectangle of 2 x 1 PEs",
        ),
        ("mp.send_message(0, 1, &data, 4, .{})", "a message to PE (0, 1), which is outside the program rectangle"),
        (
            "mp.send_message(1, 0, &data, 4, .{})",
            "where no operation and no data task receives color 'mp_comm_color'; let one receive messages there",
        ),
        # LIB-024
        (
            "mp.recv_message(&data, @get_local_task_id(length), .{})",
            "on PE (0, 0): no task is bound to local task id 5; bind one with @bind_local_task",
        ),
    ],
)
def test_what_only_a_run_shows(csl: Csl, asserts: str, call: str, message: str) -> None:
    before = "var length: u16 = 5;"
    text, exports = program(f"if (at(0, 0)) {{\n{call};\n}}", {"data": (4, "u32")}, before)
    text = text.replace(" });\nconst layout_module", asserts + " });\nconst layout_module")
    simulator = csl.start(text, exports, arch="wse3", width=2)
    with pytest.raises(LoomError) as caught:
        simulator.launch("main")
    assert message in caught.value.message
    line = next(number for number, line in enumerate(text.splitlines(), 1) if call in line)
    assert caught.value.location == f"{csl.directory}/pe.csl:{line}:1"


@pytest.mark.parametrize("call", ["mp.send_message(0, 0, &data, 4, .{})", "mp.recv_message(&data, done_id, .{})"])
def test_nothing_goes_before_init(csl: Csl, call: str) -> None:
    """LIB-013"""
    text, exports = program(f"{call};", {"data": (4, "u32")})
    simulator = csl.start(text.replace("mp.init();", ""), exports, arch="wse3")
    with pytest.raises(LoomError, match=r"is not initialized; call init\(\) of <message_passing>") as caught:
        simulator.launch("main")
    assert caught.value.location is not None and "/pe.csl:" in caught.value.location


def test_a_buffer_that_is_too_small(csl: Csl) -> None:
    """LIB-028"""
    simulator = start(
        csl,
        """
        if (at(1, 0)) { mp.recv_message(&data, done_id, .{}); }
        if (at(0, 0)) { mp.send_message(1, 0, &got, 6, .{}); }
        """,
        BOTH, 2,
    )  # fmt: skip
    with pytest.raises(LoomError, match=r"on PE \(1, 0\) receives a message of 6 elements into an array of 4;"):
        simulator.launch("main")


def test_a_second_send_waits_for_the_first(csl: Csl) -> None:
    """LIB-022: whoever does not wait for its end is told."""
    text, _ = program("mp.send_message(0, 0, &data, 4, .{});\nmp.send_message(0, 0, &data, 4, .{});", BOTH)
    with pytest.raises(LoomError, match="at the same time on the same queue 'mp_output_queue'"):
        csl.start(text, {}, arch="wse3")


def test_a_second_send_of_a_loop_that_starts_too_early(csl: Csl) -> None:
    """LIB-022: known in the run only."""
    with pytest.raises(LoomError, match="use output queue 'mp_output_queue' at the same time on PE"):
        run(
            csl,
            """
            if (at(1, 0)) { mp.recv_message(&got, done_id, .{}); }
            if (at(0, 0)) { while (count < 2) : (count += 1) { mp.send_message(1, 0, &data, 40, .{}); } }
            """,
            {"data": (40, "u32"), "got": (40, "u32")}, 2, before="var count: u16 = 0;",
        )  # fmt: skip


@pytest.mark.parametrize(("width", "most"), [(1, 3), (2, 4), (4, 8)])
def test_circles_of_sends_that_are_received_at_their_end(csl: Csl, width: int, most: int) -> None:
    """LIB-022: one message fits into the queue and on the links."""
    for extra in (0, 1):
        simulator = start(
            csl,
            f"""
            const next = (layout_module.get_x_coord() + 1) % {width};
            mp.send_message(next, 0, &data, {most + extra}, .{{ .activate = then_id }});
            """,
            {"data": (16, "u32"), "got": (16, "u32")}, width,
            before="""
            const then_id = @get_local_task_id(12);
            task then() void { mp.recv_message(&got, done_id, .{}); }
            comptime { @bind_local_task(then, then_id); }
            """,
        )  # fmt: skip
        if extra:
            with pytest.raises(Deadlock):
                simulator.launch("main")
        else:
            simulator.launch("main")
            assert (simulator.get("done_count") == 1).all()


# IR


def test_the_network_goes_through_the_levels(csl: Csl) -> None:
    """LIB-011: the color of the messages is a network down to flow, printed and parsed."""
    text, exports = program("mp.recv_message(&got, done_id, .{}); mp.send_message(0, 0, &data, 4, .{});", BOTH)
    simulator = csl.start(text, exports, arch="wse3")
    module = simulator.program.module
    (network,) = (op for op in module.walk() if isinstance(op, flow.MessageNetworkOp))
    assert network.color.string_value() == "c18"
    streams = [op for op in module.walk() if isinstance(op, flow.QueueStreamOp)]
    assert sorted(op.message is not None for op in streams) == [False, True, True]
    again = load(loomir.compile(str(module)).module)
    again.launch("main", ())
    again.run(None)
    assert again.read_symbol("done_count").ravel().tolist() == [1]
