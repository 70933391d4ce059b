"""Task scheduling: when tasks run, what receives wait for, and what hangs report."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.runtime.deadlock import Deadlock
from loomir.runtime.machine import Machine

from .flow_modules import parse
from .machines import load

COLORS = """
  flow.color @east = 0
  flow.color @west = 1
  flow.route @east on [0, :] from [ramp] to [east]
  flow.route @east on [1:, :] from [west] to [ramp]
  flow.route @west on [1:, :] from [ramp] to [west]
  flow.route @west on [0, :] from [east] to [ramp]
"""
"""Column 0 and column 1 send to each other."""
QUEUES = """
    flow.queue output @out id 0 colors [@east on [0, :], @west on [1, :]]
    flow.queue input @in id 1 colors [@west on [0, :], @east on [1, :]]
"""
BUFFERS = """
    flow.buffer @log at 0 : memref<32xi16>
    flow.buffer @count at 32 : memref<i16>
    flow.buffer @data at 34 : memref<16xf32> = dense<1.5>
    flow.buffer @got at 66 : memref<16xf32>
    flow.buffer @half at 99 : memref<8xf16> = dense<0.5>
    flow.export @log as "log"
    flow.export @count as "count"
    flow.export @data as "data"
    flow.export @got as "got"
    flow.func @note(%value: i16) {
      %n = flow.load @count[] : i16
      %i = arith.index_cast %n : i16 to index
      flow.store %value, @log[%i] : i16
      %one = arith.constant 1 : i16
      %next = arith.addi %n, %one : i16
      flow.store %next, @count[] : i16
      flow.return
    }
    flow.func @spin(%turns: i16) {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      scf.for %k = %zero to %turns step %one : i16 {
        flow.store %k, @log[%last] : i16
      }
      flow.return
    }
""".replace("flow.store %k, @log[%last] : i16", "%d = arith.addi %k, %one : i16")


def note(value: int | str) -> str:
    """Appends a number, or an i16 value, to the log of the unit."""
    if isinstance(value, str):
        return f"flow.call @note({value}) : (i16) -> ()"
    name = f"%note{value}"
    return f"{name} = arith.constant {value} : i16\n flow.call @note({name}) : (i16) -> ()"


def machine(units: str, *, grid: tuple[int, int] = (1, 1), fabric: str = "", **options) -> Machine:
    return load(
        parse(f"""flow.fabric @test target "wse3" grid {grid[0]} by {grid[1]} {{
          {fabric}
          flow.units @u on [:, :] words 128 {{
            {BUFFERS}
            {units}
            flow.export @main as "main"
          }}
        }}"""),
        **options,
    )


def run(units: str, arguments=(), *, allow_pending: bool = False, **options) -> Machine:
    made = machine(units, **options)
    made.launch("main", arguments)
    made.run(100_000, allow_pending=allow_pending)
    return made


def logs(made: Machine) -> dict[tuple[int, int], list[int]]:
    log, count = made.read_symbol("log"), made.read_symbol("count")
    return {(x, y): log[y, x, : count[y, x]].tolist() for y in range(log.shape[0]) for x in range(log.shape[1])}


def task(name: str, body: str, flags: str = "", number: int = 20) -> str:
    return f"flow.task local @{name} id {number} {flags} {{\n {body}\n flow.return\n }}\n"


def main(body: str) -> str:
    return f"flow.func @main() {{\n {body}\n flow.return\n }}\n"


# Tasks


def test_two_activations_merge() -> None:
    made = run(task("t", note(1)) + main("flow.activate @t\n flow.activate @t"))
    assert logs(made) == {(0, 0): [1]}


def test_activation_by_itself_runs_again() -> None:
    again = f"""{note(1)}
      %n = flow.load @count[] : i16
      %three = arith.constant 3 : i16
      %more = arith.cmpi slt, %n, %three : i16
      scf.if %more {{
        flow.activate @t
      }}"""
    assert logs(run(task("t", again) + main("flow.activate @t"))) == {(0, 0): [1, 1, 1]}


def test_initially_active_tasks_run_without_a_launch() -> None:
    made = machine(task("t", note(4), "active") + main(""))
    made.run()
    assert logs(made) == {(0, 0): [4]}


def test_tasks_run_in_the_order_of_their_activations() -> None:
    """A task is activated at the cycle of the instruction, not when the activating task ends."""
    made = run(
        task("a", note(1), number=20) + task("b", note(2), number=21)
        + main("flow.activate @b\n flow.activate @a")
    )  # fmt: skip
    assert logs(made) == {(0, 0): [2, 1]}


def test_blocked_task_waits_for_its_unblocking() -> None:
    made = run(
        task("a", note(1), "blocked", 20) + task("b", f"{note(2)}\n flow.unblock @a", number=21)
        + main("flow.activate @a\n flow.activate @b")
    )  # fmt: skip
    assert logs(made) == {(0, 0): [2, 1]}


def test_block_in_a_task_keeps_the_next_from_running() -> None:
    made = run(
        task("a", note(1), number=20) + task("b", f"{note(2)}\n flow.unblock @a", number=21)
        + main("flow.block @a\n flow.activate @a\n flow.activate @b")
    )  # fmt: skip
    assert logs(made) == {(0, 0): [2, 1]}


def test_active_but_blocked_for_ever_is_reported() -> None:
    units = task("a", note(1), "blocked") + main("flow.activate @a")
    with pytest.raises(Deadlock, match=r"PE \(0, 0\): task @a .*is active but is blocked, and nothing unblocks it"):
        run(units)
    assert logs(run(units, allow_pending=True)) == {(0, 0): []}


DRAIN = "flow.task data @drain id 1 on @in (%v: f32) { flow.return }\n"
SEND_MANY = """
  %d = flow.stream @data at 0 strides [1] extents [16] : !flow.stream<f32>
  %o = flow.queue_stream @out extent 16 : !flow.stream<f32>
  flow.apply fmovs %o, %d async(microthread = 1, {completion}) : !flow.stream<f32>, !flow.stream<f32>
"""


def test_activation_of_the_future_is_not_merged_with_one_of_the_present() -> None:
    """The send completes after the task has run: two activations at different cycles are two runs."""
    units = (
        QUEUES + DRAIN + task("t", note(1)) + main(SEND_MANY.format(completion="activate = @t") + "flow.activate @t")
    )
    made = run(units, grid=(2, 2), fabric=COLORS)
    assert set(map(tuple, logs(made).values())) == {(1, 1)}


def test_unblocking_of_the_future_comes_after_a_block_of_the_present() -> None:
    """The completion unblocks long after the block: the task runs, and only then."""
    units = (
        QUEUES + DRAIN + task("t", note(1), number=20) + task("b", note(2), number=21)
        + main(
            SEND_MANY.format(completion="unblock = @t")
            + "flow.unblock @t\n flow.block @t\n flow.activate @t\n flow.activate @b"
        )
    )  # fmt: skip
    made = run(units, grid=(2, 2), fabric=COLORS)
    assert set(map(tuple, logs(made).values())) == {(2, 1)}


# Data tasks


def send(count: int, buffer: str = "data", *, suffix: str = "", name: str = "s") -> str:
    kind, move = ("f16", "fmovh") if buffer == "half" else ("f32", "fmovs")
    return f"""
      %{name}d = flow.stream @{buffer} at 0 strides [1] extents [{count}] : !flow.stream<{kind}>
      %{name}o = flow.queue_stream @out extent {count} : !flow.stream<{kind}>
      flow.apply {move} %{name}o, %{name}d{suffix} : !flow.stream<{kind}>, !flow.stream<{kind}>
    """


def receive(count: int, *, suffix: str = "", name: str = "r", at: int | str = 0) -> str:
    return f"""
      %{name}d = flow.stream @got at {at} strides [1] extents [{count}] : !flow.stream<f32>
      %{name}i = flow.queue_stream @in extent {count} : !flow.stream<f32>
      flow.apply fmovs %{name}d, %{name}i{suffix} : !flow.stream<f32>, !flow.stream<f32>
    """


def on_column(column: int, body: str, otherwise: str = "") -> str:
    other = f"}} else {{\n {otherwise}\n" if otherwise else ""
    return f"""
      %x = flow.coordinate x : i16
      %column = arith.constant {column} : i16
      %here = arith.cmpi eq, %x, %column : i16
      scf.if %here {{
        {body}
      {other} }}"""


WAVELET = "%n = arith.fptosi %v : f32 to i16\n " + note("%n")


def test_data_task_runs_for_every_wavelet() -> None:
    units = (
        QUEUES + f"flow.task data @d id 1 on @in (%v: f32) {{\n {WAVELET}\n flow.return\n }}\n"
        + main(on_column(0, send(5)))
    )  # fmt: skip
    made = machine(units, grid=(2, 2), fabric=COLORS)
    values = np.arange(16, dtype=np.float32) + np.arange(2, dtype=np.float32)[:, None, None] * 20
    made.write_symbol("data", values)
    made.launch("main", [])
    made.run()
    assert logs(made) == {(0, 0): [], (1, 0): [0, 1, 2, 3, 4], (0, 1): [], (1, 1): [20, 21, 22, 23, 24]}
    assert made.statistics()["wavelets_sent"] == 10


def test_data_task_of_two_halves_takes_the_low_one_first() -> None:
    units = (
        QUEUES
        + f"flow.task data @d id 1 on @in (%a: i16, %b: i16) {{\n {note('%a')}\n {note('%b')}\n flow.return\n }}\n"
        + main(on_column(0, send(1)))
    )
    made = machine(units, grid=(2, 1), fabric=COLORS)
    made.write_symbol("data", np.array([0xFFFE0007], np.uint32).view(np.float32).repeat(16))
    made.launch("main", [])
    made.run()
    assert logs(made)[1, 0] == [7, -2]


def test_blocked_data_task_consumes_nothing_until_it_is_unblocked() -> None:
    """`flow.block` and `flow.unblock` take the queue's name as well as the task's."""
    units = (
        QUEUES + f"flow.task data @d id 1 on @in blocked (%v: f32) {{\n {WAVELET}\n flow.return\n }}\n"
        + task("late", f"flow.call @spin(%turns) : (i16) -> ()\n {note(99)}\n flow.unblock @in").replace(
            "flow.call @spin", "%turns = arith.constant 100 : i16\n flow.call @spin"
        )
        + main(on_column(0, send(2), "flow.activate @late"))
    )  # fmt: skip
    made = run(units, grid=(2, 1), fabric=COLORS)
    assert logs(made)[1, 0] == [99, 1, 1]


def test_data_task_that_blocks_itself() -> None:
    """One wavelet is taken at a time; the others wait in the queue."""
    units = (
        QUEUES + f"flow.task data @d id 1 on @in (%v: f32) {{\n {WAVELET}\n flow.block @d\n flow.return\n }}\n"
        + main(on_column(0, send(3)))
    )  # fmt: skip
    made = run(units, grid=(2, 1), fabric=COLORS, allow_pending=True)
    assert logs(made)[1, 0] == [1]


# Synchronous receives


def test_receive_suspends_inside_if_and_for() -> None:
    """The units that wait are left behind in the loop and finish alone; the others go on."""
    loop = f"""
      %zero = arith.constant 0 : i16
      %three = arith.constant 3 : i16
      %two = arith.constant 2 : i16
      %one = arith.constant 1 : i16
      %sum = scf.for %k = %zero to %three step %one iter_args(%acc = %zero) -> (i16) : i16 {{
        %at = arith.muli %k, %two : i16
        {receive(2, at="%at")}
        %index = arith.index_cast %at : i16 to index
        %value = flow.load @got[%index] : f32
        %int = arith.fptosi %value : f32 to i16
        %new = arith.addi %acc, %int : i16
        scf.yield %new : i16
      }}
      {note("%sum")}"""
    units = QUEUES + main(
        "%turns = arith.constant 50 : i16\n" + on_column(1, loop, f"flow.call @spin(%turns) : (i16) -> ()\n {send(6)}")
        + note(7)
    )  # fmt: skip
    made = machine(units, grid=(2, 3), fabric=COLORS)
    data = np.arange(48, dtype=np.float32).reshape(3, 1, 16)
    made.write_symbol("data", data)
    made.launch("main", [])
    made.run()
    assert (made.read_symbol("got")[:, 1, :6] == data[:, 0, :6]).all()
    expected = {(0, y): [7] for y in range(3)} | {(1, y): [16 * y * 3 + 6, 7] for y in range(3)}
    assert logs(made) == expected


def test_receive_of_a_message_in_pieces_and_of_pieces_in_one() -> None:
    parts = send(2, name="a") + send(4, name="b") + send(1, name="c")
    whole = receive(1, name="a", at=0) + receive(5, name="b", at=3) + receive(1, name="c", at=9)
    made = machine(QUEUES + main(on_column(0, parts, whole)), grid=(2, 1), fabric=COLORS)
    made.write_symbol("data", np.arange(1, 17, dtype=np.float32))
    made.launch("main", [])
    made.run()
    assert made.read_symbol("got")[0, 1, :11].tolist() == [1, 0, 0, 2, 1, 2, 3, 4, 0, 1, 0]


@pytest.mark.parametrize("width", [2, 3, 6])
def test_forwarding_chain(width: int) -> None:
    """Every PE between the ends passes the wavelets on, from its input queue to its output queue."""
    fabric = """
      flow.color @a = 0
      flow.color @b = 1
      flow.route @a on [::2, :] from [ramp] to [east]
      flow.route @a on [1::2, :] from [west] to [ramp]
      flow.route @b on [1::2, :] from [ramp] to [east]
      flow.route @b on [::2, :] from [west] to [ramp]"""
    queues = """
      flow.queue output @out id 0 colors [@a on [::2, :], @b on [1::2, :]]
      flow.queue input @in id 1 colors [@b on [::2, :], @a on [1::2, :]]"""
    forward = """
      %fi = flow.queue_stream @in extent 9 : !flow.stream<f32>
      %fo = flow.queue_stream @out extent 9 : !flow.stream<f32>
      flow.apply fnegs %fo, %fi async(microthread = 2) : !flow.stream<f32>, !flow.stream<f32>"""
    body = f"""
      %x = flow.coordinate x : i16
      %zero = arith.constant 0 : i16
      %last = arith.constant {width - 1} : i16
      %is_first = arith.cmpi eq, %x, %zero : i16
      %is_last = arith.cmpi eq, %x, %last : i16
      scf.if %is_first {{
        {send(9)}
      }} else {{
        scf.if %is_last {{
          {receive(9)}
        }} else {{
          {forward}
        }}
      }}"""
    made = machine(queues + main(body), grid=(width, 2), fabric=fabric)
    data = np.arange(32, dtype=np.float32).reshape(2, 1, 16)
    made.write_symbol("data", data)
    made.launch("main", [])
    made.run()
    sign = 1 if width % 2 == 0 else -1
    assert (made.read_symbol("got")[:, width - 1, :9] == sign * data[:, 0, :9]).all()
    assert not made.read_symbol("got")[:, : width - 1].any()


GATHER = """
  flow.color @c = 0
  flow.route @c on [1:, :] from [east, ramp] to [west]
  flow.route @c on [0, :] from [east] to [ramp]"""
GATHER_QUEUES = """
  flow.queue output @out id 0 colors [@c on [:, :]]
  flow.queue input @in id 1 colors [@c on [:, :]]"""


@pytest.mark.parametrize("receiver", ["task", "operation", "posted"])
def test_wavelets_of_several_senders_come_in_the_order_of_time(receiver: str) -> None:
    """PE x starts 300 * order[x] turns late: what counts is the cycle of arrival, not the place or the batch."""
    order = [0, 2, 0, 3, 1]
    reader = {
        "task": f"flow.task data @d id 1 on @in (%v: f32) {{\n {WAVELET}\n flow.return\n }}\n",
        "operation": "", "posted": "",
    }[receiver]  # fmt: skip
    wait = {
        "task": "", "operation": receive(8), "posted": receive(8, suffix=" async(microthread = 1)"),
    }[receiver]  # fmt: skip
    body = f"""
      %turns = flow.get_param @turns : i16
      {
        on_column(
            0, wait or "%unused = arith.constant 0 : i16", f"flow.call @spin(%turns) : (i16) -> (){chr(10)} {send(2)}"
        )
    }"""
    units = (
        f"flow.param @turns = dense<[{[300 * k for k in order]}]> : tensor<1x5xi16>\n"
        + GATHER_QUEUES + reader + main(body)
    )  # fmt: skip
    made = machine(units, grid=(5, 1), fabric=GATHER)
    made.write_symbol("data", np.arange(5, dtype=np.float32)[:, None])
    made.launch("main", [])
    made.run()
    expected = [2, 2, 4, 4, 1, 1, 3, 3]
    if receiver == "task":
        assert logs(made)[0, 0] == expected
    else:
        assert made.read_symbol("got")[0, 0, :8].tolist() == expected


# Ends that are none


@pytest.mark.slow
def test_quiescence_with_pending_receives() -> None:
    """A receive that never completes is an error of a program that waits for it, and none of one that stops."""
    units = (
        QUEUES + task("t", note(1)) + main(on_column(1, receive(4, suffix=" async(microthread = 1, activate = @t)")))
    )
    with pytest.raises(Deadlock, match=r"PE \(1, 0\): microthread 1: fmovs .* waits on input queue @in .* 4 of 4"):
        run(units, grid=(2, 1), fabric=COLORS)
    made = run(units, grid=(2, 1), fabric=COLORS, allow_pending=True)
    assert logs(made) == {(0, 0): [], (1, 0): []}
    # Nothing is lost: the wavelets of a later launch complete the receive.
    units = units.replace(note(1), note(5)) + f"flow.func @go() {{\n {on_column(0, send(4))}\n flow.return\n }}\n"
    made = machine(units + 'flow.export @go as "go"', grid=(2, 1), fabric=COLORS)
    made.launch("main", [])
    made.run(allow_pending=True)
    made.launch("go", [])
    made.run()
    assert logs(made) == {(0, 0): [], (1, 0): [5]}
    assert made.read_symbol("got")[0, 1, :4].tolist() == [1.5] * 4


def test_mutual_wait_names_the_circle() -> None:
    units = QUEUES + main(receive(2) + send(2))
    with pytest.raises(Deadlock) as caught:
        run(units, grid=(2, 1), fabric=COLORS)
    text = str(caught.value)
    assert "2 waits remain" in text
    assert "circular wait: PE (0, 0) -> PE (1, 0) -> PE (0, 0)" in text or (
        "circular wait: PE (1, 0) -> PE (0, 0) -> PE (1, 0)" in text
    )
    assert "receive asynchronously" in text


def test_sender_that_sends_too_little() -> None:
    units = QUEUES + main(on_column(0, send(3), receive(5)))
    with pytest.raises(Deadlock) as caught:
        run(units, grid=(2, 1), fabric=COLORS)
    text = str(caught.value)
    assert "PE (1, 0): task @main: fmovs" in text and "for 2 of 5 wavelets" in text
    assert "the PEs that send to input queue @in" in text and "have finished" in text


def test_queue_that_no_route_leads_to() -> None:
    units = QUEUES.replace("@west on [0, :], @east on [1, :]", "@east on [0, :]") + main(on_column(0, receive(1)))
    with pytest.raises(Deadlock, match="no route leads to input queue @in"):
        run(units, grid=(2, 1), fabric=COLORS)


@pytest.mark.parametrize(
    ("fabric", "end"),
    [
        ("flow.route @east on [0, :] from [ramp] to [east]", "PE (1, 0)"),
        ("flow.route @east on [0, :] from [west] to [east]", "PE (0, 0)"),
    ],
)
def test_send_into_the_void(fabric: str, end: str) -> None:
    units = "flow.queue output @out id 0 colors [@east on [:, :]]\n" + main(on_column(0, send(1)))
    with pytest.raises(LoomError) as caught:
        run(units, grid=(2, 1), fabric=f"flow.color @east = 0\n {fabric}")
    text = str(caught.value)
    assert "fmovs in @main on PE (0, 0) sends wavelets that reach no queue" in text and end in text


def test_send_where_nobody_has_a_queue() -> None:
    units = "flow.queue output @out id 0 colors [@east on [0, :]]\n" + main(on_column(0, send(1)))
    with pytest.raises(LoomError, match=r"on PE \(0, 0\) sends wavelets that reach no queue"):
        run(units, grid=(2, 1), fabric=COLORS)


@pytest.mark.slow
def test_two_operations_on_one_input_queue() -> None:
    """DSD-208: both operations and the queue are named."""
    both = receive(2, suffix=" async(microthread = 1)") + receive(
        2, suffix=" async(microthread = 2)", name="q", at=8
    ).replace("fmovs", "fnegs")
    with pytest.raises(LoomError) as caught:
        run(QUEUES + main(on_column(1, both)), grid=(2, 1), fabric=COLORS)
    text = str(caught.value)
    assert "fmovs in @main" in text and "fnegs in @main" in text
    assert "input queue @in" in text and "PE (1, 0)" in text and "DSD-208" in text


def test_two_operations_on_one_output_queue() -> None:
    """DSD-208: an output queue too belongs to one operation at a time."""
    both = send(9, suffix=" async(microthread = 1)", name="a") + send(9, suffix=" async(microthread = 2)", name="b")
    units = QUEUES + DRAIN + main(on_column(0, both))
    with pytest.raises(LoomError, match=r"output queue @out .*at the same time on PE \(0, 0\).*DSD-208"):
        run(units, grid=(2, 1), fabric=COLORS)


def test_two_operations_on_one_microthread() -> None:
    """DSD-209: operations and microthread are named."""
    both = receive(2, suffix=" async(microthread = 3)") + send(2, suffix=" async(microthread = 3)")
    with pytest.raises(LoomError, match=r"microthread 3 at the same time on .*DSD-209"):
        run(QUEUES + main(both), grid=(2, 1), fabric=COLORS, allow_pending=True)


def test_operations_one_after_the_other_share_a_queue() -> None:
    """DSD-208: no report where the second starts when the first has completed."""
    first, reads = send(2, suffix=" async(microthread = 1, activate = @more)"), receive(2) + receive(2, name="q")
    more = task("more", send(2, name="m", suffix=" async(microthread = 1)"))
    made = run(QUEUES + more + main(on_column(0, first, reads)), grid=(2, 1), fabric=COLORS)
    assert made.statistics()["wavelets_sent"] == 4


def test_step_limit() -> None:
    made = machine(task("t", "flow.activate @t") + main("flow.activate @t"))
    made.launch("main", [])
    with pytest.raises(LoomError, match=r"step limit of 1000 in @t on PE \(0, 0\)"):
        made.run(1000)


@pytest.mark.parametrize("body", ["%m = flow.load @log[%i] : i16", "%m = arith.addi %one, %one : i16"])
def test_step_limit_of_an_endless_loop(body: str) -> None:
    made = machine(main(f"""
      %i = arith.constant 0 : index
      %one = arith.constant 1 : i16
      %yes = arith.constant true
      %r = scf.while (%k = %one) : (i16) -> i16 {{
        scf.condition(%yes) %k : i16
      }} do {{
      ^bb0(%l: i16):
        {body}
        scf.yield %l : i16
      }}"""))  # fmt: skip
    made.launch("main", [])
    with pytest.raises(LoomError, match=r"step limit of 1000 in @main on PE \(0, 0\)"):
        made.run(1000)


# Mistakes


@pytest.mark.parametrize("grid", [(1, 1), (3, 2)])
@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui"])
def test_division_by_zero(name: str, grid: tuple[int, int]) -> None:
    units = main(f"""
      %x = flow.coordinate x : i16
      %q = arith.{name} %x, %x : i16""")
    with pytest.raises(LoomError, match="an integer is divided by zero on PE"):
        run(units, grid=grid)


@pytest.mark.parametrize("access", ["%v = flow.load @half[%i] : f16", "flow.store %f, @half[%i] : f16"])
@pytest.mark.parametrize("sign", ["addi", "subi"])
def test_index_outside_an_array(access: str, sign: str, capsys: pytest.CaptureFixture) -> None:
    """It goes on in the memory next to the array, with one warning that names the index, the buffer and a PE."""
    made = machine(
        f"""flow.func @main(%n: i16) {{
          %x = flow.coordinate x : i16
          %zero = arith.constant 0 : i16
          %at = arith.{sign} {"%x, %n" if sign == "addi" else "%zero, %x"} : i16
          %i = arith.index_cast %at : i16 to index
          %f = arith.constant 1.0 : f16
          {access}
          flow.return
        }}""",
        grid=(3, 2),
    )  # fmt: skip
    made.launch("main", [6])
    index, place = ("8", (2, 0)) if sign == "addi" else ("-1 (65535 if it is unsigned)", (1, 0))
    made.run()
    line, *_ = capsys.readouterr().err.splitlines()
    assert f"warning: index {index} of dimension 0 is outside @half, which has 8 elements there, on PE {place}" in line
    assert "to the memory next to it; check the loop bounds" in line


@pytest.mark.parametrize(
    ("at", "stride", "extent", "element"),
    [(12, 1, 5, 16), (3, -1, 5, -1), (0, 4, 5, 16), (-1, 1, 2, -1), (16, 1, 1, 16)],
)
def test_stream_out_of_range(at: int, stride: int, extent: int, element: int, capsys: pytest.CaptureFixture) -> None:
    """DSD-171: a walk out of the tensor is reported once, with element, buffer and PE; it goes on behind it."""
    made = machine(
        main(f"""
      %s = flow.stream @data at {at} strides [{stride}] extents [{extent}] : !flow.stream<f32>
      flow.apply fadds %s, %s, %s : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>""")
    )
    data, got = np.arange(16, dtype=np.float32) + 1, np.arange(16, dtype=np.float32) + 100
    made.write_symbol("data", data)
    made.write_symbol("got", got)
    for _ in range(2):
        made.launch("main")
        made.run()
    memory = [0.0, *data.tolist(), *got.tolist()]
    for k in range(extent):
        memory[1 + at + stride * k] *= 4
    assert made.read_symbol("data")[0, 0].tolist() + made.read_symbol("got")[0, 0].tolist() == memory[1:]
    printed = capsys.readouterr().err
    assert f"warning: fadds in @main reaches element {element} of @data, which has 16, on PE" in printed
    assert printed.count("warning") == 1


def test_stream_out_of_range_on_one_unit(capsys: pytest.CaptureFixture) -> None:
    """DSD-171: of units with addresses of their own the one that leaves its tensor is named."""
    units = main("""
      %x = flow.coordinate x : i16
      %s = flow.stream @data at %x strides [1] extents [14] : !flow.stream<f32>
      flow.apply fadds %s, %s, %s : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>""")
    run(units, grid=(4, 1))
    assert "reaches element 16 of @data, which has 16, on PE (3, 0)" in capsys.readouterr().err


@pytest.mark.parametrize(("at", "word"), [(40, 139), (-18, -2)])
@pytest.mark.usefixtures("memory_in_use")
def test_stream_beyond_memory_in_use(at: int, word: int) -> None:
    """A large grid has no memory there, so there is nothing that it could go on with."""
    units = main(f"""
      %s = flow.stream @data at {at} strides [1] extents [13] : !flow.stream<f32>
      flow.apply fadds %s, %s, %s : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>""")
    message = (
        rf"fadds in @main reaches word address {word} on PE .*by way of @data, outside its memory in use, words 0 to"
    )
    with pytest.raises(LoomError, match=message):
        run(units)


@pytest.mark.parametrize(("at", "bad"), [(40, False), (12258, False), (12259, True), (-18, True)])
def test_stream_beyond_memory(at: int, bad: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Behind the last buffer is memory that the program does not use, up to the 24,576 words of a PE."""
    units = main(f"""
      %s = flow.stream @data at {at} strides [1] extents [13] : !flow.stream<f32>
      flow.apply fadds %s, %s, %s : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>""")
    if bad:
        with pytest.raises(LoomError, match="by way of @data, outside its memory, words 0 to 24575; check"):
            run(units)
        return
    run(units)
    assert f"warning: fadds in @main reaches element {at + 12} of @data, which has 16" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("at", "stride", "extent", "element"),
    [(68, 1, 16, None), (68 + 12 * 4, 1, 5, 16), (68 + 3 * 4, -1, 5, -1), (68 + 16 * 4, 1, 16, None)],
)
def test_walk_from_a_pointer_out_of_its_variable(
    at: int, stride: int, extent: int, element: int | None, capsys: pytest.CaptureFixture
) -> None:
    """DSD-171: so is a walk from an address known at run time, by the variable that the address is in."""
    run(
        main(f"""
      %p = arith.constant {at} : i16
      %s = flow.stream %p at 0 strides [{stride}] extents [{extent}] : !flow.stream<f32>
      flow.apply fadds %s, %s, %s : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>""")
    )
    printed = capsys.readouterr().err
    assert printed.count("warning") == (element is not None)
    assert element is None or f"warning: fadds in @main reaches element {element} of @data, which has 16" in printed


def test_walks_from_pointers_that_differ(capsys: pytest.CaptureFixture) -> None:
    """DSD-171: of units with pointers of their own, only one that leaves its variable is named."""
    units = main("""
      %x = flow.coordinate x : i16
      %four = arith.constant 4 : i16
      %first = arith.constant 68 : i16
      %bytes = arith.muli %x, %four : i16
      %p = arith.addi %bytes, %first : i16
      %s = flow.stream %p at 0 strides [1] extents [14] : !flow.stream<f32>
      flow.apply fadds %s, %s, %s : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>""")
    run(units, grid=(4, 1))
    assert "reaches element 16 of @data, which has 16, on PE (3, 0)" in capsys.readouterr().err


def test_stream_out_of_range_that_is_not_used_is_legal() -> None:
    """AMB-02: making a descriptor that leaves its tensor is legal, using it is not."""
    run(main("%s = flow.stream @data at 12 strides [1] extents [50] : !flow.stream<f32>"))


def test_shorter_operand_decides() -> None:
    """AMB-01: the smallest length counts, so a long walk beside a short one stays inside."""
    made = run(
        main("""
      %s = flow.stream @data at 12 strides [1] extents [50] : !flow.stream<f32>
      %g = flow.stream @got at 0 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fmovs %g, %s : !flow.stream<f32>, !flow.stream<f32>""")
    )
    assert made.read_symbol("got")[0, 0, :5].tolist() == [1.5] * 4 + [0]


@pytest.mark.parametrize("count", [1, 2, 6])
def test_tasks_that_only_signal_take_their_cycles(count: int) -> None:
    """Each blocks itself, activates the next and unblocks it, an instruction each."""

    def cycles(count: int) -> int:
        tasks = "".join(
            task(f"t{k}", f"flow.block @t{k}\n flow.activate @t{k + 1}\n flow.unblock @t{k + 1}", "blocked", k + 8)
            for k in range(count)
        )
        return run(
            tasks + task(f"t{count}", note(1), "blocked", count + 8) + main("flow.activate @t0\n flow.unblock @t0")
        ).cycles

    timing = targets.get("wse3").timing
    assert cycles(count) - cycles(0) == count * (timing.task_start + 3 * timing.task_control)


def test_task_that_only_activates_itself_ends_at_the_step_limit() -> None:
    made = machine(task("t", "flow.activate @t") + main("flow.activate @t"))
    made.launch("main", ())
    with pytest.raises(LoomError, match="step limit"):
        made.run(1000)
