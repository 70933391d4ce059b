"""Builder of kernel texts: one method for each kind of operation, constants and names of values by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

P = "!pto.ptr<f32>"

Number: TypeAlias = "int | float | str"
"""A constant, or the name of a value."""

Pair: TypeAlias = "tuple[Number, Number]"

_LAYOUTS = {
    "vec": ("row_major", "none_box", 512),
    "mat": ("col_major", "row_major", 512),
    "left": ("row_major", "row_major", 512),
    "right": ("row_major", "col_major", 512),
    "acc": ("col_major", "row_major", 1024),
}


def _tile(space: str, rows: int, columns: int, element: str, valid: tuple[int, int] | None) -> str:
    valid_rows, valid_columns = valid or (rows, columns)
    order, boxes, fractal = _LAYOUTS[space]
    return (
        f"!pto.tile_buf<loc={space}, dtype={element}, rows={rows}, cols={columns}, v_row={valid_rows}, "
        f"v_col={valid_columns}, blayout={order}, slayout={boxes}, fractal={fractal}, pad=0>"
    )


def vec(rows: int, columns: int, element: str = "f32", valid: tuple[int, int] | None = None) -> str:
    return _tile("vec", rows, columns, element, valid)


def mat(rows: int, columns: int, element: str = "f32", valid: tuple[int, int] | None = None) -> str:
    return _tile("mat", rows, columns, element, valid)


def left(rows: int, columns: int, element: str = "f32", valid: tuple[int, int] | None = None) -> str:
    return _tile("left", rows, columns, element, valid)


def right(rows: int, columns: int, element: str = "f32", valid: tuple[int, int] | None = None) -> str:
    return _tile("right", rows, columns, element, valid)


def acc(rows: int, columns: int, element: str = "f32", valid: tuple[int, int] | None = None) -> str:
    return _tile("acc", rows, columns, element, valid)


def column(rows: int) -> str:
    """A number for each row."""
    return vec(rows, 1).replace("row_major", "col_major")


class K:
    """One kernel."""

    def __init__(self, name: str, kind: str, args: Sequence[tuple[str, str]]) -> None:
        self.name, self.kind, self.args = name, kind, args
        self.lines: list[str] = []
        self.count = 0
        self.constants: dict[tuple[Number, str], str] = {}
        self.types: dict[str, str] = {}
        self.base: str = ""
        """The first row of the block, where rows are split among blocks."""
        self.sub_first: str | None = None

    def fresh(self, base: str = "v") -> str:
        self.count += 1
        return f"%{base}{self.count}"

    def c(self, value: Number, type: str = "index") -> str:
        if isinstance(value, str):
            return value
        name = f"%c{str(value).replace('-', 'm').replace('.', '_')}_{type}"
        return self.constants.setdefault((value, type), name)

    def op(self, text: str, base: str = "v") -> str:
        name = self.fresh(base)
        self.lines.append(f"{name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(text)

    def bin(self, operation: str, left: Number, right: Number) -> str:
        return self.op(f"arith.{operation} {self.c(left)}, {self.c(right)} : index", "i")

    def add(self, left: Number, right: Number) -> str:
        return self.bin("addi", left, right)

    def mul(self, left: Number, right: Number) -> str:
        return self.bin("muli", left, right)

    # Memory

    def tile(self, type: str, vr: Number | None = None, vc: Number | None = None) -> str:
        valid = "" if vr is None else f" valid_row = {self.c(vr)}"
        valid += "" if vc is None else f" valid_col = {self.c(vc)}"
        name = self.op(f"pto.alloc_tile{valid} : {type}", "t")
        self.types[name] = type
        return name

    def part(self, pointer: str, shape: Pair, offsets: Pair, sizes: Pair) -> str:
        """A part of a matrix at a pointer."""
        extents = "x".join("?" if isinstance(extent, str) else str(extent) for extent in shape)
        type = f"!pto.tensor_view<{extents}xf32>"
        rows, columns = map(self.c, shape)
        text = f"pto.make_tensor_view {pointer}, shape = [{rows}, {columns}], strides = [{columns}, {self.c(1)}]"
        return self.sub(self.op(f"{text} : {type}", "w"), type, offsets, sizes)

    def sub(self, view: str, type: str, offsets: Pair, sizes: Pair) -> str:
        """A part of a view."""
        extents = "x".join("?" if isinstance(size, str) else str(size) for size in sizes)
        part = f"!pto.partition_tensor_view<{extents}xf32>"
        places, counts = (", ".join(map(self.c, pair)) for pair in (offsets, sizes))
        name = self.op(f"pto.partition_view {view}, offsets = [{places}], sizes = [{counts}] : {type} -> {part}", "p")
        self.types[name] = part
        return name

    def load(self, part: str, tile: str) -> None:
        self.t1("tload", part, tile)

    def store(self, tile: str, part: str) -> None:
        self.t1("tstore", tile, part)

    # Tiles

    def t1(self, name: str, source: str, result: str, *more: str) -> None:
        """An operation on tiles; `more` are further sources."""
        sources = (source, *more)
        types = ", ".join(self.types[each] for each in sources)
        self.do(f"pto.{name} ins({', '.join(sources)} : {types}) outs({result} : {self.types[result]})")

    def ts(self, name: str, source: str, number: float, result: str) -> None:
        """An operation on a tile and a number."""
        value = self.c(number, "f32")
        self.do(f"pto.{name} ins({source}, {value} : {self.types[source]}, f32) outs({result} : {self.types[result]})")

    def fill(self, number: float, result: str) -> None:
        self.do(f"pto.texpands ins({self.c(number, 'f32')} : f32) outs({result} : {self.types[result]})")

    def mov(self, source: str, result: str) -> None:
        self.t1("tmov", source, result)

    def mm(self, lhs: str, rhs: str, result: str) -> None:
        self.t1("tmatmul", lhs, result, rhs)

    def mmacc(self, lhs: str, rhs: str, result: str) -> None:
        self.t1("tmatmul.acc", result, result, lhs, rhs)

    # Numbers of cores, loops

    def lane(self) -> str:
        return self.op(f"arith.index_cast {self.op('pto.get_subblock_idx', 'lane')} : i64 to index", "ln")

    def block(self) -> str:
        return self.op(f"arith.index_cast {self.op('pto.get_block_idx', 'blk')} : i64 to index", "bk")

    def for_(self, lower: Number, upper: Number, step: Number = 1) -> str:
        name = self.fresh("r")
        self.do(f"scf.for {name} = {self.c(lower)} to {self.c(upper)} step {self.c(step)} {{")
        return name

    def end(self) -> None:
        self.do("}")

    # Pipes

    def reserve(self, name: str, size: int, space: str) -> str:
        where = f"location = #pto.address_space<{space}>, auto = true"
        return self.op(f'pto.reserve_buffer {{name = "{name}", size = {size}, {where}}} -> i32', "buf")

    def imp(self, name: str, peer: str) -> str:
        return self.op(f'pto.import_reserved_buffer {{name = "{name}", peer_func = @{peer}}} -> i32', "buf")

    def open(
        self, id: int, mask: int, size: int, slots: int, c2v: str | None = None, v2c: str | None = None,
        gm: str | None = None, local: int | None = None,
    ) -> None:  # fmt: skip
        settings = f"id = {id}, dir_mask = {mask}, slot_size = {size}, slot_num = {slots}"
        settings += "" if local is None else f", local_slot_num = {local}"
        named = (("gm_slot_buffer", gm, P), ("c2v_consumer_buf", c2v, "i32"), ("v2c_consumer_buf", v2c, "i32"))
        operands = ", ".join(f"{name} = {value} : {type}" for name, value, type in named if value is not None)
        self.do(f"pto.{'aic' if self.kind == 'cube' else 'aiv'}_initialize_pipe {{{settings}}} ({operands})")

    def push(self, tile: str, id: int = 0, split: int = 0) -> None:
        to = "aiv" if self.kind == "cube" else "aic"
        self.do(f"pto.tpush_to_{to}({tile} : {self.types[tile]}) {{id = {id}, split = {split}}}")

    def pop(self, type: str, id: int = 0, split: int = 0, valid: Pair | None = None) -> str:
        where = "aiv" if self.kind == "cube" else "aic"
        extents = "" if valid is None else f"({self.c(valid[0])}, {self.c(valid[1])})"
        name = self.op(f"pto.tpop_from_{where}{extents} {{id = {id}, split = {split}}} -> {type}", "e")
        self.types[name] = type
        return name

    def free(self, id: int = 0, split: int = 0) -> None:
        self.do(f"pto.tfree_from_{'aiv' if self.kind == 'cube' else 'aic'} {{id = {id}, split = {split}}}")

    def text(self) -> str:
        arguments = ", ".join(f"{name}: {type}" for name, type in self.args)
        kind = f"attributes {{pto.kernel_kind = #pto.kernel_kind<{self.kind}>}}"
        constants = [
            f"{name} = arith.constant {float(value) if type == 'f32' else value} : {type}"
            for (value, type), name in self.constants.items()
        ]
        lines = "\n".join(f"  {line}" for line in (*constants, *self.lines, "return"))
        return f"func.func @{self.name}({arguments}) {kind} {{\n{lines}\n}}"


def module(arch: str, *kernels: K) -> str:
    text = "\n".join(kernel.text() for kernel in kernels)
    return f'module attributes {{pto.target_arch = "{arch}"}} {{\n{text}\n}}\n'
