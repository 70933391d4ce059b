"""Many senders to one queue, each with credits of its own."""

from __future__ import annotations

from .flow_modules import parse
from .machines import load

SENDERS, LAUNCHES, LATE = 40, 3, 5000

TEXT = f"""flow.fabric @many target "wse3" grid {SENDERS + 1} by 1 {{
  flow.color @c = 3
  flow.route @c on [1:, :] from [east, ramp] to [west]
  flow.route @c on [0, :] from [east] to [ramp]
  flow.units @reader on [0, :] words 64 {{
    flow.buffer @sum at 0 : memref<f32>
    flow.export @sum as "sum"
    flow.export @main as "main"
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main() {{
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %late = arith.constant {LATE} : i16
      scf.for %k = %zero to %late step %one : i16 {{ }}
      %to = flow.stream @sum at 0 strides [0] extents [{30 * SENDERS}] : !flow.stream<f32>
      %i = flow.queue_stream @in extent {30 * SENDERS} : !flow.stream<f32>
      flow.apply fadds %to, %to, %i : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }}
  }}
  flow.units @sender on [1:, :] words 64 {{
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.export @main as "main"
    flow.func @main() {{
      %x = flow.coordinate x : i16
      %value = arith.sitofp %x : i16 to f32
      %o = flow.queue_stream @out extent 30 : !flow.stream<f32>
      flow.apply fmovs %o, %value : !flow.stream<f32>, f32
      flow.return
    }}
  }}
}}"""


def test_each_of_many_senders_has_its_own_credits() -> None:
    """Those for whom the way holds all wavelets do not wait for the reader, the nearer ones do."""
    machine = load(parse(TEXT))
    capacity = [8 + 4 * hops for hops in range(1, SENDERS + 1)]  # the words of the reader's queue are shared
    for number in range(LAUNCHES):
        machine.launch("main", [])
        machine.run()
        ends = machine.clocks.ravel()[1:].tolist()
        if number == 0:
            assert [end > LATE for end in ends] == [held < 30 for held in capacity]
    assert machine.read_symbol("sum").ravel()[0] == LAUNCHES * 30 * sum(range(1, SENDERS + 1))
