"""Deadlock reports: who waits for what, as text and as fields, and circular waits."""

from __future__ import annotations

import pytest

import loomir
from loomir.runtime import Deadlock

from .flow_modules import parse
from .machines import load

RING = """
      flow.color @east = 4
      flow.color @back = 5
      flow.route @east on [:-1, :] from [ramp] to [east]
      flow.route @east on [1:, :] from [west] to [ramp]
      flow.route @back on [-1, :] from [ramp] to [west]
      flow.route @back on [1:-1, :] from [east] to [west]
      flow.route @back on [0, :] from [east] to [ramp]"""
"""Two PEs in a row, each of which sends to the other."""


def exchange(body: str, extra: str = "") -> Deadlock:
    """The deadlock of two PEs that execute `body` with `receive N` and `send N` in it, one a line."""
    lines: list[str] = []
    for position, word in enumerate(body.split("\n")):
        kind, *rest = word.split() or [""]
        p = f"%n{position}"
        if kind == "send":
            lines.append(f"""{p}a = flow.stream @a at 0 strides [1] extents [{rest[0]}] : !flow.stream<i32>
              {p}o = flow.queue_stream @out extent {rest[0]} : !flow.stream<i32>
              flow.apply mov32 {p}o, {p}a {" ".join(rest[1:])} : !flow.stream<i32>, !flow.stream<i32>""")
        elif kind == "receive":
            lines.append(f"""{p}b = flow.stream @b at 0 strides [1] extents [{rest[0]}] : !flow.stream<i32>
              {p}i = flow.queue_stream @in extent {rest[0]} : !flow.stream<i32>
              flow.apply mov32 {p}b, {p}i {" ".join(rest[1:])} : !flow.stream<i32>, !flow.stream<i32>""")
        else:
            lines.append(word)
    text = f"""flow.fabric @pair target "wse3" grid 2 by 1 {{
      {RING}
      flow.units @u on [:, :] words 64 {{
        flow.buffer @a at 0 : memref<8xi32>
        flow.buffer @b at 16 : memref<8xi32>
        flow.queue output @out id 2 colors [@east on [0, :], @back on [1, :]]
        flow.queue input @in id 3 colors [@back on [0, :], @east on [1, :]]
        {extra}
        flow.task local @main id 9 active {{
          {chr(10).join(lines)}
          flow.return
        }}
      }}
    }}"""
    with pytest.raises(Deadlock) as caught:
        load(parse(text)).run(100_000)
    return caught.value


def test_who_waits_for_what_as_fields() -> None:
    """A script sees units, queues, colors and what is missing, without reading the message."""
    error = exchange("receive 3\nsend 3")
    assert isinstance(error, loomir.Deadlock)
    assert error.units == ((0, 0), (1, 0))
    assert error.queues == ("in",)
    assert sorted(error.colors) == ["back", "east"]
    assert error.missing == 6
    assert sorted(error.circle) == [(0, 0), (1, 0)]
    assert error.unread == ()
    assert sorted((wait.units, wait.queue, wait.colors, wait.missing) for wait in error.waits) == [
        (((0, 0),), "in", ("back",), 3),
        (((1, 0),), "in", ("east",), 3),
    ]
    assert all(" task @main: mov32" in f" {wait.text}" for wait in error.waits)
    assert error.statistics["grid"] == [2, 1]


def test_a_receive_that_is_too_long_is_not_a_circular_wait() -> None:
    """Both have sent all they ever will: neither waits for what the other could still do."""
    error = exchange("send 3\nreceive 4")
    assert error.circle == () and "circle" not in str(error)
    assert error.missing == 2
    assert "have finished; they sent too little, or the receiver expects too much" in str(error)


@pytest.mark.slow
def test_the_first_that_sent_too_little_is_blamed() -> None:
    """The second has not finished: it would send on what it lacks."""
    queues = """%i = flow.queue_stream @in extent 3 : !flow.stream<i32>
      %o = flow.queue_stream @out extent 3 : !flow.stream<i32>
      %b = flow.stream @b at 0 strides [1] extents [3] : !flow.stream<i32>
      %a = flow.stream @a at 0 strides [1] extents [2] : !flow.stream<i32>
      %two = flow.queue_stream @out extent 2 : !flow.stream<i32>"""
    first = "flow.apply mov32 %two, %a : S, S\nflow.apply mov32 %b, %i : S, S"
    second = {
        "straight": "flow.apply mov32 %o, %i : S, S",
        "alone": "flow.apply mov32 %o, %i async(microthread = 2) : S, S",
        "fifo": """%f = flow.fifo_stream @fifo : S
          flow.apply mov32 %f, %i async(microthread = 2) : S, S
          flow.apply mov32 %o, %f async(microthread = 3) : S, S""",
    }
    for way, body in second.items():
        bodies = "".join(
            f"""flow.units @u{x} on [{x}, :] words 96 {{
              flow.buffer @a at 0 : memref<8xi32>
              flow.buffer @b at 16 : memref<8xi32>
              flow.buffer @fifo_buffer at 32 : memref<8xi32>
              flow.fifo @fifo on @fifo_buffer
              flow.queue output @out id 2 colors [@{"back" if x else "east"} on [{x}, :]]
              flow.queue input @in id 3 colors [@{"east" if x else "back"} on [{x}, :]]
              flow.task local @main id 9 active {{
                {queues}
                {body if x else first}
                flow.return
              }}
            }}
            """
            for x in range(2)
        )
        text = f'flow.fabric @pair target "wse3" grid 2 by 1 {{\n{RING}\n{bodies}}}'
        with pytest.raises(Deadlock) as caught:
            load(parse(text.replace(": S", ": !flow.stream<i32>").replace(", S", ", !flow.stream<i32>"))).run(100_000)
        blamed = "the PEs that send to input queue @in of PE (1, 0) have finished; they sent too little"
        assert blamed in str(caught.value), way
        assert "of PE (0, 0) have finished" not in str(caught.value), way


def test_a_route_by_which_nobody_sends() -> None:
    """The route is there: what is missing is the send."""
    with pytest.raises(Deadlock) as caught:
        run_alone()
    assert "no PE sends wavelets that reach input queue @in of PE (1, 0); let one send there" in str(caught.value)
    assert "no route leads" not in str(caught.value)


def run_alone() -> None:
    text = f"""flow.fabric @pair target "wse3" grid 2 by 1 {{
      {RING}
      flow.units @u on [1, :] words 64 {{
        flow.buffer @b at 16 : memref<8xi32>
        flow.queue input @in id 3 colors [@east on [1, :]]
        flow.task local @main id 9 active {{
          %b = flow.stream @b at 0 strides [1] extents [3] : !flow.stream<i32>
          %i = flow.queue_stream @in extent 3 : !flow.stream<i32>
          flow.apply mov32 %b, %i : !flow.stream<i32>, !flow.stream<i32>
          flow.return
        }}
      }}
    }}"""
    load(parse(text)).run(100_000)


def test_a_receive_that_is_too_long_before_tasks_that_do_not_send() -> None:
    other = "flow.task local @next id 10 {\n receive_nothing\n flow.return\n }".replace("receive_nothing", "")
    error = exchange("send 3\nreceive 4 async(microthread = 1, activate = @next)\nflow.activate @next", other)
    assert error.circle == ()


@pytest.mark.parametrize(
    ("body", "extra"),
    [
        # The send stands behind the receive, in the same task.
        ("receive 3\nsend 3", ""),
        # In a later round of the loop.
        ("%z = arith.constant 0 : index\n%o = arith.constant 1 : index\n%t = arith.constant 2 : index\n"
         "scf.for %k = %z to %t step %o {\nsend 1\nreceive 2\n}", ""),
        # In the task that the end of the receive starts.
        ("receive 3 async(microthread = 1, activate = @next)", "NEXT"),
        # In a task that is active, but cannot run while another one waits.
        ("flow.activate @next\nreceive 3", "NEXT"),
        # In a function that such a task calls.
        ("receive 3\nflow.call @f() : () -> ()", "FUNCTION"),
    ],
)  # fmt: skip
def test_a_circle_where_each_would_send_once_it_has_received(body: str, extra: str) -> None:
    send = """%s = flow.stream @a at 0 strides [1] extents [3] : !flow.stream<i32>
      %q = flow.queue_stream @out extent 3 : !flow.stream<i32>
      flow.apply mov32 %q, %s : !flow.stream<i32>, !flow.stream<i32>
      flow.return"""
    bodies = {
        "": "", "NEXT": f"flow.task local @next id 10 {{\n{send}\n}}", "FUNCTION": f"flow.func @f() {{\n{send}\n}}"
    }  # fmt: skip
    error = exchange(body, bodies[extra])
    assert sorted(error.circle) == [(0, 0), (1, 0)]
    assert "circular wait: PE (" in str(error)


def test_two_that_send_first_and_never_receive_are_not_a_circular_wait() -> None:
    """Room at the other is made by a read: where none follows, nobody waits for the other to get that far."""
    error = exchange("send 8\nsend 8\nsend 8")
    assert error.circle == ()
    assert "input queue @in at the other end is full and is not read, and no more than 16 wavelets fit" in str(error)
    assert sorted(exchange("send 8\nsend 8\nsend 8\nreceive 8").circle) == [(0, 0), (1, 0)]


def crowd(width: int, waits: str) -> Deadlock:
    """A row of PEs none of which gets anything; `waits` is the body of their task."""
    routes = "\n".join(
        f"flow.color @c{x} = {x}\n flow.route @c{x} on [{x}, :] from [east] to [ramp]" for x in range(width)
    )
    colors = ", ".join(f"@c{x} on [{x}, :]" for x in range(width))
    text = f"""flow.fabric @crowd target "wse3" grid {width} by 1 {{
      {routes}
      flow.color @d = 23
      flow.units @u on [:, :] words 32 {{
        flow.buffer @b at 0 : memref<8xi32>
        flow.queue input @in id 2 colors [{colors}]
        flow.queue input @other id 3 colors [@d on [:, :]]
        flow.task local @end id 9 {{
          flow.return
        }}
        flow.task local @main id 10 active {{
          {waits}
          flow.return
        }}
      }}
    }}"""
    with pytest.raises(Deadlock) as caught:
        load(parse(text)).run()
    return caught.value


def receive(name: str, queue: str, suffix: str = "") -> str:
    return f"""%{name}b = flow.stream @b at 0 strides [1] extents [2] : !flow.stream<i32>
      %{name}i = flow.queue_stream @{queue} extent 2 : !flow.stream<i32>
      flow.apply mov32 %{name}b, %{name}i {suffix} : !flow.stream<i32>, !flow.stream<i32>"""


def test_a_line_for_a_pe_and_a_count_of_the_rest() -> None:
    both = receive("x", "in", "async(microthread = 1, activate = @end)") + "\n" + receive("y", "other")
    error = crowd(3, both)
    first, *lines = str(error).splitlines()
    assert "6 waits remain" in first
    of_pes = [line for line in lines if line.startswith("  PE (")]
    assert len(of_pes) == 3
    for x, line in enumerate(of_pes):
        assert line.startswith(f"  PE ({x}, 0): ")
        assert f"color @c{x}" in line and "input queue @other" in line and line.count("waits on") == 2
    error = crowd(23, receive("x", "in"))
    lines = str(error).splitlines()[1:]
    assert sum(line.startswith("  PE (") for line in lines) == 20
    assert "  and 3 more PEs wait" in lines
    assert len(error.units) == 23 and error.missing == 46
