"""Runs a program as it is, and again after printing it as CSL and compiling that; memories must be the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

import loomir
from loomir.backend import csl
from loomir.dialects import wse
from loomir.dialects.ir_text import parse_ir
from loomir.frontend.compilation import compile_layout
from loomir.host.compilation import context

Launch = tuple[str, Sequence[float]]
Arrays = dict[str, NDArray[Any]]


def parse(text: str, name: str = "program.mlir") -> ModuleOp:
    """Verified IR."""
    module = parse_ir(context(), text, name)
    module.verify()
    return module


def through_csl(module: ModuleOp, directory: Path, fp16_format: str = "f16") -> ModuleOp:
    """Return the program printed as CSL files in `directory` and compiled from there."""
    (program,) = (op for op in module.body.block.ops if isinstance(op, wse.ProgramOp))
    for name, text in csl.source_of(module).items():
        (directory / name).write_text(text)
    compiled = compile_layout(
        directory / csl.LAYOUT_FILE, arch=program.target.data, memcpy=True, channels=1, fp16_format=fp16_format
    )
    compiled.module.verify()
    return compiled.module


def run(module: ModuleOp, launches: Sequence[Launch], seed: int = 0) -> Arrays:
    """Return what every exported buffer holds after the launches, having started with random numbers."""
    program = loomir.compile(module, verify_each=False)
    simulator = loomir.Simulator(program, step_limit=2_000_000)
    width, height = program.rectangle
    buffers = {name: symbol for name, symbol in program.symbols.items() if symbol.kind == "buffer"}
    buffers.pop("loom.cmd_stream", None)
    for name, symbol in sorted(buffers.items()):
        assert symbol.dtype is not None and symbol.shape is not None
        # The same numbers whatever the shape: printing may make an array of a scalar.
        generator = np.random.default_rng([seed, *name.encode()])
        count = int(np.prod(symbol.shape))
        numbers = generator.integers(-40, 40, (height, width, count))
        if symbol.dtype.kind == "f":
            numbers = numbers / 8
        if not symbol.read_only:
            simulator.set(name, numbers.reshape(height, width, *symbol.shape).astype(symbol.dtype))
    for name, arguments in launches:
        simulator.launch(name, *arguments)
    return {name: simulator.get(name).reshape(height, width, -1) for name in buffers}


def assert_same(
    text: str, directory: Path, launches: Sequence[Launch] = (("main", ()),), fp16_format: str = "f16"
) -> ModuleOp:
    """Printing and compiling changes nothing of what the program computes; the compiled module."""
    expected = run(parse(text), launches)
    again = through_csl(parse(text), directory, fp16_format)
    result = again.clone()
    actual = run(again, launches)
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(actual[name].view(f"u{array.itemsize}"), array.view(f"u{array.itemsize}"), name)
    return result
