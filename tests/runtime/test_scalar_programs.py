"""Scalar programs: random bodies, branches by index, loops, divisions by zero, and elements of buffers."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.host import machines
from loomir.operations.scalar_types import numpy_type
from loomir.runtime.machine import Machine

from .machines import load

INTEGERS = ("i8", "i16", "i32", "i64")
BINARY = (
    "addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui", "shli", "shrsi", "shrui",
)  # fmt: skip
DIVISIONS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
)  # fmt: skip
MATH = ("absf", "sqrt", "rsqrt", "exp", "log", "log2", "sin", "cos", "tan", "tanh", "atan", "floor", "ceil", "round")
FLOATS = ("f16", "bf16", "f32")


class Body:
    """Writes random straight-line code; the values it makes, by type."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.lines: list[str] = []
        self.values: dict[str, list[str]] = {"i16": ["%a", "%b"], "f32": ["%f", "%g"], "i1": []}

    def add(self, text: str, type: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.setdefault(type, []).append(name)
        return name

    def some(self, type: str) -> str:
        known = self.values.get(type)
        if not known or self.random.random() < 0.1:
            if type in FLOATS:
                return self.add(f"arith.constant {self.random.choice(['0.0', '-1.5', '3.25', '1.0e4'])} : {type}", type)
            if type == "i1":
                return self.add(f"arith.constant {self.random.choice(['true', 'false'])}", type)
            bits = int(type[1:])
            number = self.random.choice([0, 1, -1, 3, 7, -(1 << (bits - 1)), (1 << (bits - 1)) - 1])
            return self.add(f"arith.constant {number} : {type}", type)
        return self.random.choice(known)

    def step(self) -> None:
        choice = self.random.choice
        kind, other = choice(INTEGERS), choice(INTEGERS)
        real, wider = choice(FLOATS), "f32"
        match self.random.randrange(12):
            case 0 | 1:
                self.add(f"arith.{choice(BINARY)} {self.some(kind)}, {self.some(kind)} : {kind}", kind)
            case 2:
                one = self.add(f"arith.constant {choice([1, 3, 100, -7])} : {kind}", kind)
                odd = (
                    one
                    if self.random.random() < 0.5
                    else self.add(f"arith.ori {self.some(kind)}, {one} : {kind}", kind)
                )
                self.add(f"arith.{choice(DIVISIONS)} {self.some(kind)}, {odd} : {kind}", kind)
            case 3:
                if kind != other:
                    narrow, wide = sorted((kind, other), key=lambda k: int(k[1:]))
                    self.add(f"arith.{choice(['extsi', 'extui'])} {self.some(narrow)} : {narrow} to {wide}", wide)
                    self.add(f"arith.trunci {self.some(wide)} : {wide} to {narrow}", narrow)
            case 4:
                self.add(f"arith.cmpi {choice(PREDICATES)}, {self.some(kind)}, {self.some(kind)} : {kind}", "i1")
            case 5:
                operands = f"{self.some('i1')}, {self.some(kind)}, {self.some(kind)}"
                self.add(f"arith.select {operands} : {kind}", kind)
                self.add(
                    f"arith.{choice(['andi', 'ori', 'xori', 'addi'])} {self.some('i1')}, {self.some('i1')} : i1", "i1"
                )
                self.add(f"arith.{choice(['extsi', 'extui'])} {self.some('i1')} : i1 to {kind}", kind)
            case 6:
                name = choice(["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"])
                self.add(f"arith.{name} {self.some(real)}, {self.some(real)} : {real}", real)
            case 7:
                self.add(f"arith.cmpf {choice(FLOAT_PREDICATES)}, {self.some(real)}, {self.some(real)} : {real}", "i1")
                self.add(f"arith.select {self.some('i1')}, {self.some(real)}, {self.some(real)} : {real}", real)
            case 8:
                self.add(f"arith.{choice(['sitofp', 'uitofp'])} {self.some(kind)} : {kind} to {real}", real)
                self.add(f"arith.{choice(['fptosi', 'fptoui'])} {self.some(real)} : {real} to {kind}", kind)
            case 9:
                self.add(f"arith.negf {self.some(real)} : {real}", real)
                if real != wider:
                    self.add(f"arith.extf {self.some(real)} : {real} to f32", "f32")
                    self.add(f"arith.truncf {self.some('f32')} : f32 to {real}", real)
            case 10:
                self.add(f"math.{choice(MATH)} {self.some(real)} : {real}", real)
                self.add(
                    f"math.{choice(['powf', 'atan2', 'copysign'])} {self.some(real)}, {self.some(real)} : {real}", real
                )
                self.add(f"math.fma {self.some(real)}, {self.some(real)}, {self.some(real)} : {real}", real)
            case _:
                self.add(f"math.{choice(['absi', 'ctpop', 'ctlz', 'cttz'])} {self.some(kind)} : {kind}", kind)
                self.add(f"arith.bitcast {self.some('i32')} : i32 to f32", "f32")
                self.add(f"arith.bitcast {self.some('f16')} : f16 to i16", "i16")


def module(seed: int, width: int):
    body = Body(seed)
    for _ in range(40):
        body.step()
    results: list[str] = []
    for type, values in list(body.values.items()):
        for value in values[-12:]:
            # Compared by value: what a NaN carries is no matter of these programs.
            if type in FLOATS:
                real = value if type == "f32" else body.add(f"arith.extf {value} : {type} to f32", "f32")
                nan = body.add(f"arith.cmpf uno, {real}, {real} : f32", "i1")
                one = body.add("arith.constant 12345.0 : f32", "f32")
                real = body.add(f"arith.select {nan}, {one}, {real} : f32", "f32")
                results.append(body.add(f"arith.bitcast {real} : f32 to i32", "i32"))
            elif type == "i64":
                shift = body.add("arith.constant 32 : i64", "i64")
                high = body.add(f"arith.shrui {value}, {shift} : i64", "i64")
                results += [body.add(f"arith.trunci {part} : i64 to i32", "i32") for part in (value, high)]
            else:
                results.append(value if type == "i32" else body.add(f"arith.extsi {value} : {type} to i32", "i32"))
    stores = "\n".join(
        f"%at{k} = arith.constant {k} : index\nmemref.store {value}, %out[%at{k}] : memref<{len(results)}xi32>"
        for k, value in enumerate(results)
    )
    random = Random(seed + 1)
    integers = [
        random.choice([0, 1, -1, 255, -32768, 32767, random.randrange(-40000, 32768) % 32768]) for _ in range(8)
    ]
    reals = [random.choice([0.0, -0.0, 1.0, 1e30, -2.5, 65000.0, random.uniform(-9, 9)]) for _ in range(8)]
    text = f"""wse.program @p target "wse3" rectangle {width} x 1 {{
      wse.pe @cell on [:, :] {{
        wse.buffer @out : memref<{len(results)}xi32>
        wse.export @out
        wse.export @main
        wse.param @a : i16 over {width} x 1 = dense<{[integers[:width]]}>
        wse.param @f : f32 over {width} x 1 = dense<[[{", ".join(f"{real:.9e}" for real in reals[:width])}]]>
        wse.func @main(%b: i16, %g: f32) {{
          %out = wse.get_buffer @out : memref<{len(results)}xi32>
          %a = wse.get_param @a : i16
          %f = wse.get_param @f : f32
          {chr(10).join(body.lines)}
          {stores}
          wse.return
        }}
      }}
    }}"""
    return loomir.compile(text).module


def outcome(made: Machine) -> tuple[list[list[int]], list[int]]:
    made.launch("main", [77, 0.1])
    made.run()
    return made.read_symbol("out").reshape(made.width * made.height, -1).tolist(), made.clocks.ravel().tolist()


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(25))
def test_random_bodies(seed: int) -> None:
    """Executors agree on whole bodies, in results and in cycles."""
    lowered = module(seed, 8)
    assert outcome(load(lowered)) == outcome(machines.load(lowered, executor="reference"))


SWITCH = """wse.program @p target "wse3" rectangle {width} x 1 {{
  wse.pe @cell on [:, :] {{
    wse.buffer @out : memref<2xi16>
    wse.export @out
    wse.export @main
    wse.func @main() {{
      %out = wse.get_buffer @out : memref<2xi16>
      %x = wse.coordinate x : i16
      %i = arith.index_cast %x : i16 to index
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %r, %s = scf.index_switch %i -> i16, i16
      case 1 {{
        %a = arith.constant 10 : i16
        scf.yield %a, %x : i16, i16
      }}
      case 3 {{
        %a = arith.constant 30 : i16
        %b = arith.addi %a, %x : i16
        scf.yield %b, %a : i16, i16
      }}
      default {{
        %a = arith.constant -1 : i16
        scf.yield %a, %a : i16, i16
      }}
      memref.store %r, %out[%zero] : memref<2xi16>
      memref.store %s, %out[%one] : memref<2xi16>
      wse.return
    }}
  }}
}}"""


def test_index_switch() -> None:
    made = load(loomir.compile(SWITCH.format(width=5)).module)
    made.launch("main", [])
    made.run()
    assert made.read_symbol("out")[0].tolist() == [[-1, -1], [10, 1], [-1, -1], [33, 30], [-1, -1]]


LOOPS = """wse.program @p target "wse3" rectangle 4 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @out : memref<3xi32>
    wse.export @out
    wse.export @main
    wse.func @main(%step: i16) {
      %out = wse.get_buffer @out : memref<3xi32>
      %x = wse.coordinate x : i16
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i2 = arith.constant 2 : index
      %lb = arith.index_cast %x : i16 to index
      %ub = arith.constant 50 : index
      %by = arith.index_cast %step : i16 to index
      // Bounds and step of run time.
      %sum = scf.for %i = %lb to %ub step %by iter_args(%s = %zero) -> (i32) {
        %k = arith.index_cast %i : index to i32
        %t = arith.addi %s, %k : i32
        scf.yield %t : i32
      }
      memref.store %sum, %out[%i0] : memref<3xi32>
      // Steps of Collatz.
      %wide = arith.extsi %x : i16 to i32
      %seven = arith.constant 7 : i32
      %start = arith.addi %wide, %seven : i32
      %n, %count = scf.while (%v = %start, %c = %zero) : (i32, i32) -> (i32, i32) {
        %go = arith.cmpi ne, %v, %one : i32
        scf.condition(%go) %v, %c : i32, i32
      } do {
      ^bb0(%v: i32, %c: i32):
        %odd = arith.trunci %v : i32 to i1
        %next = scf.if %odd -> (i32) {
          %three = arith.constant 3 : i32
          %m = arith.muli %v, %three : i32
          %p = arith.addi %m, %one : i32
          scf.yield %p : i32
        } else {
          %two = arith.constant 2 : i32
          %h = arith.divui %v, %two : i32
          scf.yield %h : i32
        }
        %d = arith.addi %c, %one : i32
        scf.yield %next, %d : i32, i32
      }
      memref.store %count, %out[%i1] : memref<3xi32>
      // Counting down is a while loop.
      %last, %down = scf.while (%v = %x, %c = %zero) : (i16, i32) -> (i16, i32) {
        %least = arith.constant 0 : i16
        %go = arith.cmpi sge, %v, %least : i16
        scf.condition(%go) %v, %c : i16, i32
      } do {
      ^bb0(%v: i16, %c: i32):
        %k = arith.constant 1 : i16
        %w = arith.subi %v, %k : i16
        %d = arith.addi %c, %one : i32
        scf.yield %w, %d : i16, i32
      }
      memref.store %down, %out[%i2] : memref<3xi32>
      wse.return
    }
  }
}"""


@pytest.mark.parametrize("step", [1, 3, 60])
def test_loops(step: int) -> None:
    def collatz(n: int) -> int:
        count = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            count += 1
        return count

    made = load(loomir.compile(LOOPS).module)
    made.launch("main", [step])
    made.run()
    expected = [[sum(range(x, 50, step)), collatz(x + 7), x + 1] for x in range(4)]
    assert made.read_symbol("out")[0].tolist() == expected


DEAD_DIVISION = """wse.program @p target "wse3" rectangle 3 x 1 {
  wse.pe @cell on [:, :] {
    wse.export @main
    wse.func @main(%n: i16) {
      %x = wse.coordinate x : i16
      %zero = arith.constant 0 : i16
      %reached = arith.cmpi slt, %n, %x : i16
      scf.if %reached {
        %q = arith.divsi %x, %zero : i16
        %r = arith.addi %q, %q : i16
        %s = arith.addi %r, %q : i16
        %t = arith.addi %r, %q : i16
      }
      wse.return
    }
  }
}"""


def test_a_division_by_zero_is_an_error_where_it_is_reached() -> None:
    made = load(loomir.compile(DEAD_DIVISION).module)
    made.launch("main", [2])
    made.run()
    made.launch("main", [1])
    with pytest.raises(LoomError, match=r"an integer is divided by zero on PE \(2, 0\); guard the divisor") as caught:
        made.run()
    assert caught.value.location is not None


@pytest.mark.parametrize("type", ["i1", "i64"])
def test_buffers_hold_8_16_or_32_bits(type: str) -> None:
    text = f"""wse.program @p target "wse3" rectangle 1 x 1 {{
      wse.pe @cell on [:, :] {{
        wse.buffer @u : memref<3x{type}>
      }}
    }}"""
    with pytest.raises(LoomError, match=f"a buffer cannot hold {type}; use f16, bf16, f32, i8, i16 or i32"):
        loomir.compile(text)


BFLOAT = """wse.program @p target "wse3" rectangle 3 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @u : memref<3xbf16> = dense<[1.0, 2.5, -3.0]>
    wse.buffer @v : memref<3xbf16>
    wse.param @c : bf16 = dense<0.5>
    wse.export @v
    wse.export @main
    wse.func @main(%k: bf16) {
      %u = wse.get_buffer @u : memref<3xbf16>
      %v = wse.get_buffer @v : memref<3xbf16>
      %d = dsd.mem1d %u extent 3 : memref<3xbf16>
      %e = dsd.mem1d %v extent 3 : memref<3xbf16>
      dsd.mov16 %e, %d : !dsd.mem1d<bf16>, !dsd.mem1d<bf16>
      %c = wse.get_param @c : bf16
      %i = arith.constant 1 : index
      %x = memref.load %v[%i] : memref<3xbf16>
      %y = arith.mulf %x, %c : bf16
      %z = arith.addf %y, %k : bf16
      memref.store %z, %v[%i] : memref<3xbf16>
      wse.return
    }
  }
}"""


def test_bfloat_in_memory() -> None:
    made = load(loomir.compile(BFLOAT).module)
    made.launch("main", [0.1])
    made.run()
    bf16 = numpy_type("bf16").type
    middle = bf16(bf16(1.25) + bf16(0.1))
    assert made.read_symbol("v").astype(float)[0].tolist() == [[1.0, float(middle), -3.0]] * 3
    made.write_region("v", 0, 0, 3, 1, 2, np.array([[[1, 2]]], numpy_type("bf16")))
    assert made.read_region("v", 0, 0, 3, 1, 3).astype(float)[0, 0].tolist() == [1, 2, -3]
