"""What a run is charged for: classes of costs, with prices that tell them apart, on every executor."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from io import BytesIO
from math import ceil
from random import Random
from typing import Any

import pytest

from loomir import LoomError, targets
from loomir.host import machines
from loomir.operations.dsd_table import OPERATIONS
from loomir.operations.prices import of
from loomir.targets.model import PRICES

from .agreement import Way, differences, outcome
from .flow_modules import parse
from .machines import load
from .random_programs import random_exchange

NOTHING: dict[str, Any] = dict.fromkeys(PRICES, 0) | {"hop": 1, "inject": 1, "loop": 1, "task_start": 1}
"""The least that all may be."""

BODIES = {
    "loop": ("scf.for %i = %zero to %three step %one { }", 3),
    "branch_not_taken": ("scf.for %i = %zero to %three step %one { }", 1),
    "instruction": ("%x = arith.addi %n, %n : i16", 1),
    "access_16": ("%x = flow.load @a[%one] : i16\nflow.store %x, @a[%one] : i16", 2),
    "indexed_access_16": ("flow.store %n, @a[%at] : i16", 1),
    "access_32": ("%x = flow.load @f[%one] : f32\nflow.store %x, @f[%one] : f32", 2),
    "indexed_access_32": ("%x = flow.load @f[%at] : f32", 1),
    "float_division_32": ("%x = arith.divf %y, %y : f32", 1),
    "exponential_32": ("%x = math.exp %y : f32", 1),
    "exponential_16": ("%x = math.exp %h : f16", 1),
    "square_root_32": ("%x = math.sqrt %y : f32", 1),
    "logarithm_32": ("%x = math.log %y : f32", 1),
    "trigonometric_32": ("%x = math.sin %y : f32", 1),
    "hyperbolic_32": ("%x = math.tanh %y : f32", 1),
    "power_32": ("%x = math.powf %y, %y : f32", 1),
    "float_latency": ("%x = arith.addf %y, %y : f32", 1),
    "integer_division_16": ("%x = arith.divsi %n, %n : i16", 1),
    "call": ("flow.call @nothing() : () -> ()", 1),
    "timestamp": ("%low, %middle, %high = flow.timestamp", 1),
}
"""Code, and how often it is charged for the class of this name."""


def module(code: str) -> str:
    return f"""
    flow.fabric @prices target "wse3" grid 1 by 1 {{
      flow.units @cell on [:, :] words 256 {{
        flow.buffer @a at 0 : memref<4xi16>
        flow.buffer @f at 4 : memref<4xf32>
        flow.buffer @f32 at 12 : memref<64xf32>
        flow.buffer @f16 at 12 : memref<64xf16>
        flow.buffer @i16 at 12 : memref<64xi16>
        flow.func @nothing() {{ flow.return }}
        flow.func @main(%n: i16, %y: f32) {{
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %three = arith.constant 3 : index
          %at = arith.index_cast %n : i16 to index
          %h = arith.truncf %y : f32 to f16
          {code}
          flow.return
        }}
        flow.export @main as "main"
      }}
    }}"""


def cycles(code: str, prices: dict[str, Any]) -> int:
    """Return the cycles of one PE that runs code once."""
    machine = load(parse(module(code)), prices=of(NOTHING | prices))
    machine.launch("main", [2, 1.5])
    machine.run()
    return machine.cycles


@pytest.mark.parametrize("stride", [1, 2, 3, -1, -2])
@pytest.mark.parametrize("name", ["fmovs", "fadds", "fmuls", "fmovh", "add16"])
def test_strides_cost_what_the_target_says(name: str, stride: int) -> None:
    """`Timing.element_cycles`, of as many elements as there are, whichever way an operation is computed."""
    row = OPERATIONS[name]
    kinds = (row.destination, *row.sources)
    strides = (stride,) * len(kinds)
    each = targets.get("wse3").timing.element_cycles(
        row.function, tuple(int(kind[1:]) for kind in kinds), strides, name
    )

    def taken(count: int) -> int:
        start = 0 if stride > 0 else -stride * (count - 1)
        streams = [
            f"%s{place} = flow.stream @{kind} at {start} strides [{stride}] extents [{count}] : !flow.stream<{kind}>"
            for place, kind in enumerate(kinds)
        ]
        types = ", ".join(f"!flow.stream<{kind}>" for kind in kinds)
        operands = ", ".join(f"%s{place}" for place in range(len(kinds)))
        return cycles("\n".join([*streams, f"flow.apply {name} {operands} : {types}"]), {})

    assert taken(21) - taken(1) == ceil(21 * each) - ceil(each)


@pytest.mark.parametrize("name", BODIES)
def test_each_class_is_charged_as_often_as_the_code_has_it(name: str) -> None:
    code, count = BODIES[name]
    more, without = (cycles(text, {name: 200}) - cycles(text, {name: 100}) for text in (code, ""))
    assert more - without == 100 * count


def test_the_host_waits_for_a_launch() -> None:
    machine = load(parse(module("")), prices=of(NOTHING))
    machine.launch("main", [2, 1.5], delay=40)
    machine.run()
    assert machine.cycles == 40 + NOTHING["task_start"]


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(4))
def test_executors_price_random_programs_alike(seed: int) -> None:
    random = Random(seed)
    prices = of({name: random.randint(1, 40) for name in PRICES} | {"elements": {"fmacs": "7/3", "mov16": 2}})
    program = random_exchange(random)
    reference, core = (outcome(program, Way(name, (("prices", prices),))) for name in ("reference", "core"))
    assert differences(reference, core) == []


def test_counts_times_prices_are_the_cycles_of_one_pe() -> None:
    """A loop of three rounds with a branch and a division."""
    code = """
    scf.for %i = %zero to %three step %one {
      %x = flow.load @f[%i] : f32
      %q = arith.divf %x, %y : f32
      %more = arith.cmpf ogt, %q, %y : f32
      scf.if %more { flow.call @nothing() : () -> () }
    }
    """
    prices = {name: number + 1 for number, name in enumerate(PRICES)} | {"hop": 1, "inject": 1}
    machine = load(parse(module(code)), prices=of(prices), counts=True)
    machine.launch("main", [2, 1.5])
    machine.run()
    counts = machine.statistics()["costs"]
    assert counts["loop"] == counts["float_division_32"] == counts["indexed_access_32"] == counts["branch_taken"] == 3
    assert sum(prices[name] * count for name, count in counts.items()) == machine.cycles


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(4))
def test_executors_count_random_programs_alike(seed: int) -> None:
    program = random_exchange(Random(seed))
    counts: list[Any] = []
    for name in ("core", "reference"):
        machine = machines.load(parse(program.text), executor=name, counts=True)
        for argument in program.launches:
            machine.launch("main", [argument])
            with suppress(LoomError):
                machine.run(20_000, allow_pending=True)
        counts.append(machine.statistics().get("costs"))
    assert counts[0] == counts[1] != {}


REGISTERS = """
    flow.fabric @registers target "wse3" grid 2 by 1 {{
      flow.color @c = 3
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]
      flow.units @cell on [:, :] words 64 {{
        flow.buffer @a at 0 : memref<4xf32>
        flow.queue input @in id 2 colors [@c on [:, :]]
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.export @main as "main"
        flow.func @main(%y: f32) {{
          %walk = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
          %first = flow.queue_stream @out extent 4 : !flow.stream<f32>
          %last = flow.queue_stream @in extent 4 : !flow.stream<f32>
          flow.load_register dest 0, %walk : !flow.stream<f32>
          flow.load_register dest 1, %first : !flow.stream<f32>
          flow.load_register src1 0, %walk : !flow.stream<f32>
          flow.load_register src1 1, %last : !flow.stream<f32>
          %to = flow.register dest 0 : !flow.stream<f32>
          %send = flow.register dest 1 : !flow.stream<f32>
          %from = flow.register src1 0 : !flow.stream<f32>
          %receive = flow.register src1 1 : !flow.stream<f32>
          %x = flow.coordinate x : i16
          %zero = arith.constant 0 : i16
          %is_first = arith.cmpi eq, %x, %zero : i16
          scf.if %is_first {{
            {sends}
          }} else {{
            {receives}
          }}
          flow.return
        }}
      }}
    }}"""
TYPES = "!flow.stream<f32>, !flow.stream<f32>"
SCALED = f"{TYPES}, f32"
SETUPS = [
    (f"flow.apply fmovs %to, %from : {TYPES}", "", "register_setup"),
    (f"flow.apply fadds %to, %from, %y : {SCALED}", "", "register_setup"),
    (f"flow.apply fadds %to, %walk, %y : {SCALED}", "", "memory_setup"),
    (f"flow.apply fmovs %walk, %from : {TYPES}", "", "memory_setup"),
    (f"flow.apply fmovs %send, %from : {TYPES}", "", "register_setup"),
    (f"flow.apply fmovs %send, %walk : {TYPES}", "", "send_setup"),
    (f"flow.apply fmovs %first, %from : {TYPES}", "", "send_setup"),
    (f"flow.apply fmovs %send, %from : {TYPES}", f"flow.apply fmovs %to, %receive : {TYPES}", "register_setup"),
    (f"flow.apply fmovs %send, %from : {TYPES}", f"flow.apply fmovs %walk, %receive : {TYPES}", "receive_setup"),
    (f"flow.apply fmovs %send, %from : {TYPES}", f"flow.apply fmovs %to, %last : {TYPES}", "receive_setup"),
]
"""What the first PE does and what the second, and the setup of the last of them."""


def clocks_of(sends: str, receives: str, prices: dict[str, Any]) -> list[int]:
    machine = load(parse(REGISTERS.format(sends=sends, receives=receives)), prices=of(NOTHING | prices))
    machine.launch("main", [1.5])
    machine.run()
    return machine.clocks.ravel().tolist()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("sends", "receives", "name"), SETUPS)
@pytest.mark.slow
def test_operations_on_registers_alone_have_a_setup_of_their_own(sends: str, receives: str, name: str) -> None:
    """A descriptor that is given as such, and not by its register, makes an operation an ordinary one."""
    end = int(bool(receives))
    for other in ("memory_setup", "send_setup", "receive_setup", "register_setup"):
        # So long that wavelets are there before, or, where that of the sender grows, behind its setup.
        short, long = (clocks_of(sends, receives, {other: setup})[end] for setup in (1000, 3000))
        is_charged = other == name or (receives != "" and other == "register_setup")
        assert long - short == 2000 * is_charged


@pytest.mark.parametrize(("source", "setup"), [("%from", 100), ("%walk", 1000)])
def test_wavelets_leave_behind_the_setup(source: str, setup: int, executor: str) -> None:
    trace = BytesIO()
    prices = of(NOTHING | {"inject": 5, "register_setup": 100, "send_setup": 1000})
    text = REGISTERS.format(sends=f"flow.apply fmovs %send, {source} : {TYPES}", receives="")
    machine = machines.load(parse(text), executor=executor, prices=prices, trace=trace)
    machine.launch("main", [1.5])
    machine.run(allow_pending=True)
    moments = {event["event"]: event["cycle"] for event in map(json.loads, trace.getvalue().splitlines())}
    assert moments["sent"] - moments["operation"] == setup + 5
    assert moments["completed"] - moments["operation"] == setup + 4


@pytest.mark.slow
def test_setups_are_counted_apart() -> None:
    for sends, receives, name in SETUPS:
        machine = load(parse(REGISTERS.format(sends=sends, receives=receives)), counts=True)
        machine.launch("main", [1.5])
        machine.run()
        counts = machine.statistics()["costs"]
        setups = {key: count for key, count in counts.items() if key.endswith("_setup")}
        mine = {name: 1} if not receives else {"register_setup": 1} | {name: 1 + (name == "register_setup")}
        assert setups == mine


@pytest.mark.parametrize(("price", "paces"), [("1/4", 1), ("6/5", 1), ("3/2", 1), ("8/5", 2), ("7/3", 2), (3, 3)])
def test_an_operation_that_receives_takes_elements_at_whole_cycles(price: str | int, paces: int) -> None:
    """The nearest number to the price of an element, the lower of two, one at least; in memory the sum of all prices is
    rounded up."""
    prices = {"elements": {"fadds": price, "fmovs": 0}}
    sends, receives = f"flow.apply fmovs %first, %walk : {TYPES}", f"flow.apply fadds %walk, %last, %y : {SCALED}"
    # Wavelets come one a cycle, before it is ready.
    late = 100
    ends = clocks_of(sends, receives, prices | {"receive_setup": late})
    assert ends[1] == NOTHING["task_start"] + late + 4 * paces
    memory = clocks_of(f"flow.apply fadds %walk, %walk, %y : {SCALED}", "", prices)
    assert memory[0] == NOTHING["task_start"] + ceil(4 * Fraction(price))
