"""One queue, two readers: a data task takes a message's header, an operation that it starts takes the rest."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.runtime import Deadlock, Machine

from .flow_modules import parse
from .machines import load

LENGTHS = (5, 3, 7)


def program(receive: str, extra: str = "", flags: str = "") -> str:
    """PE 0 sends messages, each a header with its length and as many words; PE 1 collects the words."""
    total = sum(LENGTHS) + len(LENGTHS)
    return f"""flow.fabric @messages target "wse3" grid 2 by 2 {{
      flow.color @c = 0
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]
      flow.units @sender on [0, :] words 64 {{
        flow.buffer @stream at 0 : memref<{total}xi32>
        flow.export @stream as "stream"
        flow.export @main as "main"
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.func @main {{
          %s = flow.stream @stream at 0 strides [1] extents [{total}] : !flow.stream<i32>
          %o = flow.queue_stream @out extent {total} : !flow.stream<i32>
          flow.apply mov32 %o, %s async(microthread = 2) : !flow.stream<i32>, !flow.stream<i32>
          flow.return
        }}
      }}
      flow.units @receiver on [1, :] words 128 {{
        flow.buffer @got at 0 : memref<{sum(LENGTHS)}xi32>
        flow.buffer @at at 64 : memref<i16> = dense<0>
        flow.buffer @headers at 66 : memref<i16> = dense<0>
        flow.export @got as "got"
        flow.export @headers as "headers"
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.task data @header id 2 on @in {flags} (%length: i32) {{
          %n = arith.trunci %length : i32 to i16
          %at = flow.load @at[] : i16
          %next = arith.addi %at, %n : i16
          flow.store %next, @at[] : i16
          %h = flow.load @headers[] : i16
          %one = arith.constant 1 : i16
          %h1 = arith.addi %h, %one : i16
          flow.store %h1, @headers[] : i16
          %i = flow.queue_stream @in extent %n : !flow.stream<i32>
          %g = flow.stream @got at %at strides [1] extents [%n] : !flow.stream<i32>
          {receive}
          flow.return
        }}
        {extra}
      }}
    }}"""


def run(text: str) -> Machine:
    machine = load(parse(text))
    words = np.arange(2 * sum(LENGTHS), dtype=np.int32).reshape(2, -1) + 100
    streams = [
        np.concatenate(
            [[n, *row[start : start + n]] for n, start in zip(LENGTHS, np.cumsum((0, *LENGTHS)), strict=False)]
        )
        for row in words
    ]
    machine.write_symbol("stream", np.asarray(streams, np.int32)[:, None, :])
    machine.launch("main")
    machine.run()
    assert (machine.read_symbol("got")[:, 1] == words).all()
    assert (machine.read_symbol("headers")[:, 1] == len(LENGTHS)).all()
    return machine


RECEIVES = {
    "synchronous": ("flow.apply mov32 %g, %i : !flow.stream<i32>, !flow.stream<i32>", ""),
    "blocked meanwhile": (
        """flow.block @header
          flow.apply mov32 %g, %i async(microthread = 2, unblock = @header) : !flow.stream<i32>, !flow.stream<i32>""",
        "",
    ),
}


@pytest.mark.parametrize("kind", RECEIVES)
def test_a_data_task_receives_the_rest_of_its_message(kind: str) -> None:
    """Headers start the task and only headers: the operation takes what it asked for, in order."""
    run(program(*RECEIVES[kind]))


def test_a_task_that_does_not_wait_for_its_operation_is_reported() -> None:
    """DSD-208: the next header starts the task again while the first operation still reads the queue."""
    receive = "flow.apply mov32 %g, %i async(microthread = 2) : !flow.stream<i32>, !flow.stream<i32>"
    with pytest.raises(LoomError, match="mov32 in @header and itself, started before, use input queue @in"):
        run(program(receive))


def test_a_blocked_data_task_with_wavelets_is_a_deadlock() -> None:
    """Nothing unblocks it: said in words, with its place; not lost in silence."""
    text = program(*RECEIVES["synchronous"], flags="blocked")
    machine = load(parse(text))
    machine.launch("main")
    with pytest.raises(Deadlock, match=r"task @header .*has wavelets waiting on input queue @in but is blocked"):
        machine.run()
