"""The names of `from ptodsl import pto` that our example and page use."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

f32, i32 = "f32", "i32"
const_expr = object()


def ptr(dtype: str, space: str) -> str:
    return f"!pto.ptr<{dtype}, {space}>"


@dataclass
class _Value:
    name: str
    type: str


@dataclass
class _Trace:
    lines: list[str] = field(default_factory=list)
    numbers: dict[int, _Value] = field(default_factory=dict)
    count: int = 0

    def result(self, text: str, type: str) -> _Value:
        value = _Value(f"%{self.count}", type)
        self.count += 1
        self.lines.append(f"{value.name} = {text}")
        return value

    def index(self, value: int | _Value) -> str:
        if isinstance(value, int):
            if value not in self.numbers:
                self.numbers[value] = _Value(f"%c{value}", "index")
                self.lines.insert(0, f"%c{value} = arith.constant {value} : index")
            return self.numbers[value].name
        if value.type == "index":
            return value.name
        return self.result(f"arith.index_cast {value.name} : {value.type} to index", "index").name

    def indices(self, values: list[int | _Value]) -> str:
        return f"[{', '.join(self.index(value) for value in values)}]"


_trace = _Trace()


def get_block_idx() -> _Value:
    return _trace.result("pto.get_block_idx", "i64")


def make_tensor_view(pointer: _Value, *, shape: list, strides: list) -> _Value:
    type = f"!pto.tensor_view<{'x'.join('?' for _ in shape)}xf32>"
    sizes, steps = _trace.indices(shape), _trace.indices(strides)
    return _trace.result(f"pto.make_tensor_view {pointer.name}, shape = {sizes}, strides = {steps} : {type}", type)


def partition_view(view: _Value, *, offsets: list, sizes: list) -> _Value:
    shape = "x".join(str(size) if isinstance(size, int) else "?" for size in sizes)
    type = f"!pto.partition_tensor_view<{shape}xf32>"
    places, extents = _trace.indices(offsets), _trace.indices(sizes)
    text = f"pto.partition_view {view.name}, offsets = {places}, sizes = {extents} : {view.type} -> {type}"
    return _trace.result(text, type)


def alloc_tile(*, shape: list[int], dtype: str) -> _Value:
    rows, columns = shape
    type = (
        f"!pto.tile_buf<loc=vec, dtype={dtype}, rows={rows}, cols={columns}, v_row={rows}, v_col={columns}, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
    )
    return _trace.result(f"pto.alloc_tile : {type}", type)


def _operation(name: str, sources: list[_Value], target: _Value) -> None:
    names, types = (", ".join(getattr(source, part) for source in sources) for part in ("name", "type"))
    _trace.lines.append(f"pto.{name} ins({names} : {types}) outs({target.name} : {target.type})")


tile = SimpleNamespace(
    load=lambda part, tile: _operation("tload", [part], tile),
    store=lambda tile, part: _operation("tstore", [tile], part),
    add=lambda one, other, target: _operation("tadd", [one, other], target),
)


class _Artifact:
    """A kernel with given constants: `KernelHandle` with those of its defaults, or what `compile` returns."""

    def __init__(self, function: Any, target: str, constants: dict[str, Any]):
        self._function, self._target, self._constants = function, target, constants
        self.ir_function_name = function.__name__

    def mlir_text(self) -> str:
        global _trace
        _trace = _Trace()
        parameters = inspect.signature(self._function).parameters.values()
        given = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        arguments = [_Value(f"%arg{place}", str(p.annotation)) for place, p in enumerate(given)]
        self._function(*arguments, **self._constants)
        header = ", ".join(f"{argument.name}: {argument.type}" for argument in arguments)
        body = "\n".join(f"      {line}" for line in [*_trace.lines, "return"])
        return (
            f'module attributes {{pto.target_arch = "{self._target}"}} {{\n'
            f'  module attributes {{pto.backend = "vpto", pto.target_arch = "{self._target}"}} {{\n'
            f"    func.func @{self.ir_function_name}({header}) attributes {{pto.entry}} {{\n{body}\n    }}\n  }}\n}}\n"
        )

    def __str__(self) -> str:
        return self.mlir_text()


class _Handle(_Artifact):
    def compile(self, **constants: Any) -> _Artifact:
        unknown = constants.keys() - self._constants.keys()
        if unknown:
            raise TypeError(f"unknown constexpr {sorted(unknown)}")
        return _Artifact(self._function, self._target, self._constants | constants)


def jit(*, target: str = "a5") -> Any:
    def decorate(function: Any) -> _Handle:
        parameters = inspect.signature(function).parameters.values()
        return _Handle(function, target, {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY})

    return decorate
