"""Inlined functions and functions that are jumped to: results and cycles are the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import loomir
from loomir.runtime.warps import codegen

from ..machines import load
from ..test_calls import WAITING, nested


def program(seed: int, width: int, height: int) -> str:
    """Functions @f0 to @f5, each of which may call those after it, branch on the unit, and use memory."""
    random = Random(seed)
    functions: list[str] = []
    for k in range(6):
        lines: list[str] = []
        values = ["%a", "%b"]

        def add(text: str, lines: list[str] = lines, values: list[str] = values) -> str:
            lines.append(f"%v{len(lines)} = {text}")
            values.append(f"%v{len(lines) - 1}")
            return values[-1]

        for _ in range(random.randrange(2, 6)):
            one, two = random.choice(values), random.choice(values)
            match random.randrange(5):
                case 0:
                    add(f"arith.{random.choice(['addi', 'subi', 'muli', 'xori'])} {one}, {two} : i16")
                case 1:
                    add(f"wse.coordinate {random.choice('xy')} : i16")
                case 2:
                    pointer = add("wse.address_of @memory : i16")
                    lines.append(f"%m{len(lines)} = wse.view {pointer} : memref<i16>")
                    view = lines[-1].split()[0]
                    lines.append(f"%z{len(lines)} = memref.load {view}[] : memref<i16>")
                    values.append(lines[-1].split()[0])
                    lines.append(f"memref.store {one}, {view}[] : memref<i16>")
                case _ if k < 5:
                    callee = random.randrange(k + 1, 6)
                    lines.append(
                        f"%c{len(lines)}, %d{len(lines)} = wse.call @f{callee}({one}, {two}) : (i16, i16) -> (i16, i16)"
                    )
                    call = lines[-1].split(",")[0][2:]
                    values += [f"%c{call}", f"%d{call}"]
                case _:
                    pass
        if k < 5:
            condition, one, two = f"%go{k}", random.choice(values), random.choice(values)
            lines.append(f"{condition} = arith.cmpi slt, {random.choice(values)}, {random.choice(values)} : i16")
            lines.append(
                f"""%if{k} = scf.if {condition} -> (i16) {{
                  %in, %out = wse.call @f{k + 1}({one}, {two}) : (i16, i16) -> (i16, i16)
                  scf.yield %out : i16
                }} else {{
                  scf.yield {random.choice(values)} : i16
                }}"""
            )
            values.append(f"%if{k}")
        functions.append(
            f"""wse.func @f{k}(%a: i16, %b: i16) -> (i16, i16) {{
              {chr(10).join(lines)}
              wse.return {values[-1]}, {random.choice(values)} : i16, i16
            }}"""
        )
    return f"""wse.program @p target "wse3" rectangle {width} x {height} {{
      wse.pe @cell on [:, :] {{
        wse.buffer @memory : memref<i16> = dense<3>
        wse.buffer @out : memref<3xi16>
        wse.export @memory
        wse.export @out
        wse.export @main
        {chr(10).join(functions)}
        wse.func @main(%n: i16) {{
          %x = wse.coordinate x : i16
          %lb = arith.constant 0 : index
          %one = arith.constant 1 : index
          %two = arith.constant 2 : index
          %ub = arith.constant 3 : index
          %p, %q = scf.for %i = %lb to %ub step %one iter_args(%a = %n, %b = %x) -> (i16, i16) {{
            %c, %d = wse.call @f0(%a, %b) : (i16, i16) -> (i16, i16)
            scf.yield %c, %d : i16, i16
          }}
          %r, %s = wse.call @f1(%q, %p) : (i16, i16) -> (i16, i16)
          %out = wse.get_buffer @out : memref<3xi16>
          memref.store %q, %out[%lb] : memref<3xi16>
          memref.store %r, %out[%one] : memref<3xi16>
          memref.store %s, %out[%two] : memref<3xi16>
          wse.return
        }}
      }}
    }}"""


def outcome(module, block: int | None) -> tuple[list, list, list]:
    made = load(module, block_units=block)
    made.launch("main", [5])
    made.run()
    return made.read_symbol("out").tolist(), made.read_symbol("memory").tolist(), made.clocks.tolist()


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(12))
def test_inlined_and_jumped_to(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loomir.compile(program(seed, 4, 3)).module
    found = []
    for limit in (0, 12, codegen.MAX_INLINE_SIZE, 1 << 60):
        monkeypatch.setattr(codegen, "MAX_INLINE_SIZE", limit)
        found += [outcome(module, None), outcome(module, 1)]
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("limit", [0, 1 << 60])
@pytest.mark.parametrize("block", [None, 1])
def test_units_that_wait_in_a_function(limit: int, block: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codegen, "MAX_INLINE_SIZE", limit)
    made = load(loomir.compile(WAITING).module, block_units=block)
    made.launch("main", [])
    made.run()
    assert made.read_symbol("v")[0].tolist() == [[0, 0], [3, 6], [0, 0], [2, 4]]


def test_only_large_functions_are_jumped_to() -> None:
    made = load(loomir.compile(nested(1, 3)).module)
    made.launch("f0", [])
    made.run()
    assert np.array_equal(made.read_symbol("count"), [[3]])
    (task,) = vars(made.executor)["classes"][0].task_list
    assert task.code.alone is not None
