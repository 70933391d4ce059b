"""Unread wavelets: reported, but not an error where others read them too."""

from __future__ import annotations

import pytest

from loomir.diagnostics.errors import LoomError
from loomir.runtime import Deadlock

from .flow_modules import parse
from .machines import load


def program(reader: str, columns: str = "1") -> str:
    """PE 0 sends three wavelets to PEs 1 and 2, of which those of `columns` have a queue."""
    return f"""flow.fabric @row target "wse3" grid 3 by 1 {{
      flow.color @c = 4
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp, east]
      flow.route @c on [2, :] from [west] to [ramp]
      flow.units @sender on [0, :] words 8 {{
        flow.buffer @a at 0 : memref<4xf32>
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.task local @send id 9 active {{
          %s = flow.stream @a at 0 strides [1] extents [3] : !flow.stream<f32>
          %o = flow.queue_stream @out extent 3 : !flow.stream<f32>
          flow.apply fmovs %o, %s : !flow.stream<f32>, !flow.stream<f32>
        }}
      }}
      flow.units @reader on [{columns}, :] words 16 {{
        flow.buffer @a at 0 : memref<8xf32>
        flow.queue input @in id 2 colors [@c on [:, :]]
        {reader}
      }}
    }}"""


def receive(count: int) -> str:
    return f"""flow.task local @take id 9 active {{
      %s = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
      %i = flow.queue_stream @in extent {count} : !flow.stream<f32>
      flow.apply fmovs %s, %i : !flow.stream<f32>, !flow.stream<f32>
    }}"""


def test_all_read() -> None:
    machine = load(parse(program(receive(3), "1:")))
    machine.run()
    assert machine.unread() == []


def test_a_receiver_without_queue() -> None:
    machine = load(parse(program(receive(3))))
    machine.run()
    (left,) = machine.unread()
    assert (left.color, left.place, left.wavelets, left.sender) == ("c", (2, 0), 3, (0, 0))
    assert (
        str(left)
        == "3 wavelets of color @c were sent by PE (0, 0) to PE (2, 0), which has no input queue for the color"
    )


def test_what_is_left_in_a_queue() -> None:
    machine = load(parse(program(receive(2), "1:")))
    machine.run()
    assert [(left.place, left.wavelets, left.queue) for left in machine.unread()] == [
        ((1, 0), 1, "in"),
        ((2, 0), 1, "in"),
    ]
    assert (
        str(machine.unread()[0])
        == "1 wavelet of color @c waits in input queue @in (id 2) of PE (1, 0): nothing reads it"
    )


def test_a_deadlock_names_them() -> None:
    with pytest.raises(Deadlock, match=r"3 wavelets of color @c were sent by PE \(0, 0\) to PE \(2, 0\)"):
        load(parse(program(receive(4)))).run()


def test_what_nobody_reads_is_an_error() -> None:
    text = program("").replace("flow.queue input @in id 2 colors [@c on [:, :]]", "")
    with pytest.raises(LoomError, match=r"on PE \(0, 0\) sends wavelets that reach no queue"):
        load(parse(text)).run()
