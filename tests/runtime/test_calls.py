"""Calls: units that wait in functions, code that many calls share, recursion and its stack."""

from __future__ import annotations

import itertools
import re
from time import perf_counter

import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.runtime.watch import Watch

from .flow_modules import parse
from .machines import load

WAITING = """wse.program @p target "wse3" rectangle 4 x 1 {
  wse.color @east
  wse.route @east on [::2, 0] from [ramp] to [east]
  wse.route @east on [1::2, 0] from [west] to [ramp]
  wse.pe @cell on [:, :] {
    wse.buffer @u : memref<2xf32> = dense<[1.0, 2.0]>
    wse.buffer @v : memref<2xf32>
    wse.export @u
    wse.export @v
    wse.export @main
    wse.input_queue @in color @east id 2
    wse.output_queue @out color @east id 3
    wse.func @move(%scale: f32) -> f32 {
      %x = wse.coordinate x : i16
      %one = arith.constant 1 : i16
      %bit = arith.andi %x, %one : i16
      %receives = arith.cmpi eq, %bit, %one : i16
      %u = wse.get_buffer @u : memref<2xf32>
      %v = wse.get_buffer @v : memref<2xf32>
      scf.if %receives {
        %d = dsd.mem1d %v extent 2 : memref<2xf32>
        %i = dsd.fabin @in extent 2 : !dsd.fabin<f32>
        dsd.fadds %d, %d, %i : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.fabin<f32>
      } else {
        %s = dsd.mem1d %u extent 2 : memref<2xf32>
        dsd.fmuls %s, %s, %scale : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
        %o = dsd.fabout @out extent 2 : !dsd.fabout<f32>
        dsd.fmovs %o, %s : !dsd.fabout<f32>, !dsd.mem1d<f32>
      }
      %two = arith.constant 2.0 : f32
      %next = arith.mulf %scale, %two : f32
      wse.return %next : f32
    }
    wse.func @main() {
      %a = arith.constant 1.0 : f32
      %b = wse.call @move(%a) : (f32) -> f32
      %x = wse.coordinate x : i16
      %limit = arith.constant 2 : i16
      %west = arith.cmpi slt, %x, %limit : i16
      scf.if %west {
        %c = wse.call @move(%b) : (f32) -> f32
      } else {
        %c = wse.call @move(%a) : (f32) -> f32
      }
      wse.return
    }
  }
}"""


def test_units_that_wait_in_a_function() -> None:
    made = load(loomir.compile(WAITING).module)
    made.launch("main", [])
    made.run()
    assert made.read_symbol("v")[0].tolist() == [[0, 0], [3, 6], [0, 0], [2, 4]]


def nested(depth: int, calls: int) -> str:
    """@f0 calls @f1 so many times, and so on to the last, which counts."""
    functions: list[str] = []
    for k in range(depth):
        body = f"wse.call @f{k + 1}() : () -> ()\n" * calls
        functions.append(f"wse.func @f{k}() {{ {body} wse.return }}")
    return f"""wse.program @p target "wse3" rectangle 1 x 1 {{
      wse.pe @cell on [:, :] {{
        wse.buffer @count : memref<i32>
        wse.export @count
        wse.export @f0
        {chr(10).join(functions)}
        wse.func @f{depth}() {{
          %c = wse.get_buffer @count : memref<i32>
          %a = memref.load %c[] : memref<i32>
          %one = arith.constant 1 : i32
          %b = arith.addi %a, %one : i32
          memref.store %b, %c[] : memref<i32>
          wse.return
        }}
      }}
    }}"""


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(("depth", "calls"), [(12, 2), (1500, 1), (1, 1500)])
def test_code_does_not_grow_with_the_calls(depth: int, calls: int) -> None:
    module = loomir.compile(nested(depth, calls), verify_each=False).module
    start = perf_counter()
    made = load(module)
    assert perf_counter() - start < 5
    made.launch("f0", [])
    made.run()
    assert made.read_symbol("count").tolist() == [[calls**depth]]


DOUBLING = """flow.fabric @program target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.export @main as "main"
    flow.func @twice(%n: i16) {
      %zero = arith.constant 0 : i16
      %more = arith.cmpi sgt, %n, %zero : i16
      scf.if %more {
        %one = arith.constant 1 : i16
        %next = arith.subi %n, %one : i16
        flow.call @twice(%next) : (i16) -> ()
        flow.call @twice(%next) : (i16) -> ()
      }
      flow.return
    }
    flow.func @main(%n: i16) {
      flow.call @twice(%n) : (i16) -> ()
      flow.return
    }
  }
}"""


@pytest.mark.executors("core")
def test_calls_that_take_for_ever_can_be_interrupted() -> None:
    """They count no steps: 2^60 calls here. The host is asked now and then all the same."""
    made = load(parse(DOUBLING))
    looks: list[str] = []
    made.watch = Watch(looks.append, first=1e-9)
    asked = itertools.count()
    made.launch("main", [60])
    made.run(until=lambda: next(asked) == 3)
    assert next(asked) == 4
    assert "in @main" in looks[0]


def test_calls_count_no_steps() -> None:
    made = load(parse(DOUBLING))
    made.launch("main", [21 if made.executor_name == "core" else 5])
    made.run(step_limit=1)
    assert made.executor.counts().steps == 1


def test_a_function_that_calls_itself() -> None:
    text = nested(3, 1).replace("wse.func @f3() {", "wse.func @f3() {\nwse.call @f1() : () -> ()")
    made = load(loomir.compile(text).module)
    made.launch("f0", [])
    with pytest.raises(LoomError, match=r"function @f\d is called on PE \(0, 0\) with \d+ calls open") as caught:
        made.run()
    assert caught.value.location is not None


@pytest.mark.parametrize("words", [4, 12_288, 24_000])
def test_the_stack_is_in_the_memory_of_the_pe(words: int) -> None:
    """Open calls take what variables leave of 48 KiB: as many are open as fit, and one more is an error."""
    text = f"""wse.program @p target "wse3" rectangle 1 x 1 {{ wse.pe @pe on [0, 0] {{
      wse.buffer @large : memref<{words}xi16>
      wse.buffer @depth : memref<i16>
      wse.export @depth
      wse.export @main
      wse.func @down(%n: i16) {{
        %b = wse.get_buffer @depth : memref<i16>
        %d = memref.load %b[] : memref<i16>
        %c1 = arith.constant 1 : i16
        %deeper = arith.addi %d, %c1 : i16
        memref.store %deeper, %b[] : memref<i16>
        %m = arith.subi %n, %c1 : i16
        %c0 = arith.constant 0 : i16
        %more = arith.cmpi ne, %m, %c0 : i16
        scf.if %more {{
          wse.call @down(%m) : (i16) -> ()
        }}
        wse.return
      }}
      wse.func @main(%n: i16) {{ wse.call @down(%n) : (i16) -> () wse.return }} }} }}"""
    module = loomir.compile(text).module

    def run(calls: int) -> int:
        machine = load(module)
        machine.launch("main", [calls])
        machine.run()
        return int(machine.read_symbol("depth")[0, 0])

    with pytest.raises(LoomError, match=r"function @down is called on PE \(0, 0\) with ") as caught:
        run(-1)
    said = r"with (\d+) calls open; .* would then have ([\d,]+) bytes, .* leave ([\d,]+);"
    found = re.search(said, str(caught.value))
    assert found is not None
    calls, stack, room = (int(number.replace(",", "")) for number in found.groups())
    assert room == 48 * 1024 - 2 * (words + 2)  # In pairs of words, of which @depth has one half.
    size = stack // calls
    assert stack == calls * size
    assert room - size < calls * size - size <= room
    assert run(calls - 1) == calls - 1
    with pytest.raises(LoomError, match=f"with {calls} calls open"):
        run(calls)


@pytest.mark.parametrize("count", [0, 1])
def test_recursion(count: int) -> None:
    """A function may call one that calls it."""
    text = f"""wse.program @p target "wse3" rectangle 2 x 2 {{ wse.pe @pe on [:, :] {{
      wse.buffer @n : memref<i16>
      wse.buffer @out : memref<1xi16>
      wse.export @out
      wse.export @main
      wse.func @even(%n: i16) {{
        %zero = arith.constant 0 : i16
        %go = arith.cmpi ne, %n, %zero : i16
        scf.if %go {{
          %one = arith.constant 1 : i16
          %less = arith.subi %n, %one : i16
          wse.call @odd(%less) : (i16) -> ()
        }}
        %buffer = wse.get_buffer @out : memref<1xi16>
        %first = arith.constant 0 : index
        %seven = arith.constant 7 : i16
        memref.store %seven, %buffer[%first] : memref<1xi16>
        wse.return
      }}
      wse.func @odd(%n: i16) {{
        wse.call @even(%n) : (i16) -> ()
        wse.return
      }}
      wse.func @main() {{
        %n = arith.constant {count} : i16
        wse.call @even(%n) : (i16) -> ()
        wse.return
      }}
    }} }}"""
    made = load(loomir.compile(text).module)
    made.launch("main", [])
    made.run()
    assert made.read_symbol("out")[..., 0].tolist() == [[7, 7], [7, 7]]
