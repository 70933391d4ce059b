"""Simulator: what a host may pass, and the errors for anything else."""

from __future__ import annotations

from typing import Any

import pytest

import loomir

DOUBLE = """wse.program @double target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @x : memref<4xf32>
    wse.export @x
    wse.export @main
    wse.func @main(%n: i16) {
      %x = wse.get_buffer @x : memref<4xf32>
      %d = dsd.mem1d %x extent 4 : memref<4xf32>
      dsd.fadds %d, %d, %d : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
    }
  }
}
"""


@pytest.fixture(scope="module")
def program() -> loomir.Program:
    return loomir.compile(DOUBLE)


@pytest.mark.parametrize("wrong", [None, DOUBLE, 3])
def test_no_compiled_program(wrong: Any) -> None:
    with pytest.raises(loomir.LoomError, match=r"a simulator runs a compiled program, not .*; make one with"):
        loomir.Simulator(wrong)


@pytest.mark.parametrize("limit", ["x", 1.5, [1]])
def test_no_step_limit(program: loomir.Program, limit: Any) -> None:
    with pytest.raises(loomir.LoomError, match="is not a step limit; give a whole number of at least 1, or none"):
        loomir.Simulator(program, step_limit=limit)


@pytest.mark.parametrize("limit", [0, -1])
def test_step_limit_that_lets_nothing_run(program: loomir.Program, limit: int) -> None:
    with pytest.raises(loomir.LoomError, match=f"a step limit of {limit} lets nothing run"):
        loomir.Simulator(program, step_limit=limit)


def test_no_trace(program: loomir.Program) -> None:
    wrong: Any = "trace.jsonl"
    with pytest.raises(loomir.LoomError, match=r"'trace\.jsonl'; open a file with mode 'wb'"):
        loomir.Simulator(program, trace=wrong)


@pytest.mark.parametrize("name", [None, 3, ["x"], "y"])
def test_no_symbol(program: loomir.Program, name: Any) -> None:
    simulator = loomir.Simulator(program)
    with pytest.raises(loomir.LoomError, match="exports no buffer"):
        simulator.set(name, 1.0)
    with pytest.raises(loomir.LoomError, match="exports no buffer"):
        simulator.get(name)
    with pytest.raises(loomir.LoomError, match="exports no function"):
        simulator.launch(name)


@pytest.mark.parametrize("arguments", [(), (1, 2), ("x",), (None,), ([1, 2],), (1.5,), (1 << 70,), ({},)])
def test_no_arguments_of_the_function(program: loomir.Program, arguments: Any) -> None:
    with pytest.raises(loomir.LoomError, match="argument"):
        loomir.Simulator(program).launch("main", *arguments)


@pytest.mark.parametrize("value", [None, "x", {}, object(), [[1, 2], [3]], [1.0, 2.0], 1j])
def test_no_values_of_the_buffer(program: loomir.Program, value: Any) -> None:
    with pytest.raises(loomir.LoomError, match="the array for 'x'"):
        loomir.Simulator(program).set("x", value)


@pytest.mark.parametrize("option", [{"target": []}, {"target": 3}, {"defines": "k"}, {"defines": [1]}])
def test_no_option_of_compile(option: Any) -> None:
    with pytest.raises(loomir.LoomError, match=r"unknown target|is not a mapping"):
        loomir.compile(DOUBLE, **option)
