"""Operations that receive into packed streams, too long walks, and tasks that wavelets of two PEs start."""

from __future__ import annotations

import pytest

from loomir.diagnostics.errors import LoomError

from .flow_modules import parse, spin
from .machines import load


def exchange(receiver: str, sender: str, *, words: int = 64) -> str:
    """Return a program in which PE (1, 0) sends on a color that PE (0, 0) receives, both in `main`."""
    return f"""flow.fabric @program target "wse3" grid 2 by 1 {{
      flow.color @c = 1
      flow.route @c on [1, :] from [ramp] to [west]
      flow.route @c on [0, :] from [east] to [ramp]
      flow.units @receiver on [0, :] words {words} {{
        flow.buffer @b at 0 : memref<{words}xi16>
        flow.export @b as "b"
        flow.export @main as "main"
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.func @main() {{ {receiver} flow.return }}
      }}
      flow.units @sender on [1, :] words 64 {{
        flow.buffer @a at 0 : memref<4xi16> = dense<[11, 22, 33, 44]>
        flow.buffer @next at 4 : memref<8xi16> = dense<7>
        flow.export @main as "main"
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.func @main() {{ {sender} flow.return }}
      }}
    }}"""


def test_a_packed_receive_of_single_elements_takes_two_from_each() -> None:
    machine = load(
        parse(
            exchange(
                """%s = flow.queue_stream @in extent 8 packed : !flow.stream<i16>
                %f = flow.stream @b at 0 strides [1] extents [8] : !flow.stream<i16>
                flow.apply mov16 %f, %s : !flow.stream<i16>, !flow.stream<i16>""",
                """%s = flow.queue_stream @out extent 4 : !flow.stream<i16>
                %f = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
                flow.apply mov16 %s, %f : !flow.stream<i16>, !flow.stream<i16>""",
            )
        )
    )
    machine.launch("main")
    machine.run()
    assert machine.read_symbol("b")[0, 0, :9].tolist() == [11, 0, 22, 0, 33, 0, 44, 0, 0]


def test_a_walk_whose_extents_are_too_large_at_run_time() -> None:
    machine = load(
        parse("""flow.fabric @program target "wse3" grid 1 by 1 {
          flow.units @u on [:, :] words 64 {
            flow.buffer @b at 0 : memref<64xi16>
            flow.export @main as "main"
            flow.func @main(%n: i16) {
              %to = flow.stream @b at 0 strides [1, 1, 1, 1] extents [%n, %n, %n, %n] : !flow.stream<i16>
              flow.apply mov16 %to, %n : !flow.stream<i16>, i16
              flow.return
            }
          }
        }""")
    )
    machine.launch("main", [30000])
    with pytest.raises(LoomError, match="far beyond the memory of a unit"):
        machine.run()


def delayed(cycles: int) -> str:
    """Return code that takes twice as many cycles."""
    return "".join(f"%q{k} = flow.load @x[] : i16 flow.store %q{k}, @x[] : i16 " for k in range(cycles))


def noted(number: int) -> str:
    """Return code that appends a number to @log."""
    return f"""
      %k = flow.load @k[] : i16
      %i = arith.index_cast %k : i16 to index
      %v = arith.constant {number} : i16
      flow.store %v, @log[%i] : i16
      %one = arith.constant 1 : i16
      %next = arith.addi %k, %one : i16
      flow.store %next, @k[] : i16
      flow.return"""


def meeting(before: int, between: int, sending: int) -> str:
    """Return a program in which a local task and wavelets of two PEs start tasks of PE (1, 0), which log it."""
    sender = f"""
        flow.buffer @x at 21 : memref<i16>
        flow.export @main as "main"
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.func @main() {{
          {delayed(sending)}
          %v = arith.constant 7 : i16
          %s = flow.queue_stream @out extent 1 : !flow.stream<i16>
          flow.apply mov16 %s, %v : !flow.stream<i16>, i16
          flow.return
        }}"""
    return f"""flow.fabric @program target "wse3" grid 3 by 1 {{
      flow.color @c = 1
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west, east] to [ramp]
      flow.route @c on [2, :] from [ramp] to [west]
      flow.units @middle on [1, :] words 64 {{
        flow.buffer @log at 0 : memref<16xi16>
        flow.buffer @k at 20 : memref<i16>
        flow.buffer @x at 21 : memref<i16>
        flow.export @log as "log"
        flow.export @main as "main"
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.task data @d id 2 on @in (%a: i16) {{ {noted(1)} }}
        flow.task local @t id 12 {{ {noted(2)} }}
        flow.task local @a id 13 {{ {delayed(between)} flow.activate @t flow.return }}
        flow.func @main() {{ {delayed(before)} flow.activate @a flow.return }}
      }}
      flow.units @west on [0, :] words 64 {{ {sender} }}
      flow.units @east on [2, :] words 64 {{ {sender} }}
    }}"""


@pytest.mark.parametrize(
    "before, between, log",
    [(0, 0, [2, 1, 1]), (2, 3, [2, 1, 1]), (6, 6, [2, 1, 1]), (7, 6, [1, 1, 2]), (8, 6, [1, 1, 2]), (9, 8, [1, 1, 2])],
)
def test_wavelets_that_meet_and_a_task_start_in_the_order_of_time(before: int, between: int, log: list[int]) -> None:
    """The local task is first if it is active before the wavelets come, whatever the distance in time."""
    machine = load(parse(meeting(before, between, 4)))
    machine.launch("main")
    machine.run()
    assert machine.read_symbol("log")[0, 1, :4].tolist() == [*log, 0]


@pytest.mark.parametrize("sender", [0, 2])
def test_a_data_task_that_may_take_what_an_operation_awaits(sender: int, capsys: pytest.CaptureFixture[str]) -> None:
    """AMB-34: told of a task that is unblocked when the operation is issued, and blocked later, whichever of the PEs
    goes on first."""
    side, towards = {0: ("west", "east"), 2: ("east", "west")}[sender]
    text = f"""flow.fabric @taken target "wse3" grid 3 by 1 {{
      flow.color @c = 3
      flow.route @c on [{sender}, :] from [ramp] to [{towards}]
      flow.route @c on [1, :] from [{side}] to [ramp]
      flow.units @sender on [{sender}, :] words 64 {{
        flow.buffer @a at 0 : memref<3xi16>
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.task local @main id 9 active {{
          %a = flow.stream @a at 0 strides [1] extents [3] : !flow.stream<i16>
          %o = flow.queue_stream @out extent 3 : !flow.stream<i16>
          flow.apply mov16 %o, %a : !flow.stream<i16>, !flow.stream<i16>
          flow.return
        }}
      }}
      flow.units @receiver on [1, :] words 64 {{
        flow.buffer @a at 0 : memref<3xi16>
        flow.buffer @x at 4 : memref<i32>
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.task data @take id 2 on @in (%v: i16) {{
          flow.return
        }}
        flow.task local @main id 9 active {{
          %a = flow.stream @a at 0 strides [1] extents [3] : !flow.stream<i16>
          %i = flow.queue_stream @in extent 3 : !flow.stream<i16>
          flow.apply mov16 %a, %i async(microthread = 1) : !flow.stream<i16>, !flow.stream<i16>
          {spin(100, label="w")}
          flow.block @take
          flow.return
        }}
      }}
    }}"""
    load(parse(text)).run()
    told = capsys.readouterr().err
    assert "while data task @take of the queue is unblocked and may take the same wavelets" in told
