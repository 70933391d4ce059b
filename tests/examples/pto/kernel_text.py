"""Writes `.pto` text: kernels line by line, with the constants, views and tile types a person would write out.

It knows how the text looks, and nothing of what the kernels of a test do.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Chip: TypeAlias = Literal["a3", "a5"]
Core: TypeAlias = Literal["cube", "vector"]
Index: TypeAlias = int | str
"""An index: a constant, or the name of a value."""

C2V, V2C, BOTH = 1, 2, 3
NO_SPLIT, UP_DOWN, LEFT_RIGHT, UP_DOWN_ODD, LEFT_RIGHT_ODD = range(5)

BYTES: Mapping[str, int] = {"f32": 4, "i32": 4, "ui32": 4, "f16": 2, "bf16": 2, "i16": 2, "i8": 1, "ui64": 8}

_LAYOUTS: Mapping[str, tuple[str, str, int]] = {
    "vec": ("row_major", "none_box", 512),
    "scaling": ("row_major", "none_box", 512),
    "mat": ("col_major", "row_major", 512),
    "left": ("col_major", "row_major", 512),
    "right": ("row_major", "col_major", 512),
    "acc": ("col_major", "row_major", 1024),
}


@dataclass(frozen=True)
class Tile:
    """A type of tiles. `valid` is all of it if None; an extent of it that is None is written `?`."""

    location: str
    element: str
    rows: int
    columns: int
    valid: tuple[int | None, int | None] | None = None
    column_major: bool = False
    """Of a tile without boxes: a column of numbers, one for each row."""
    boxed: bool = False
    """Of a tile of the vector core: in boxes, as the cube core takes tiles on a5."""

    @property
    def extents(self) -> tuple[int | None, int | None]:
        return self.valid or (self.rows, self.columns)

    def __str__(self) -> str:
        order, boxes, fractal = _LAYOUTS["mat" if self.boxed else self.location]
        valid_rows, valid_columns = ("?" if extent is None else extent for extent in self.extents)
        packed = ", compact=1" if self.location == "acc" and valid_rows not in ("?", self.rows) else ""
        return (
            f"!pto.tile_buf<loc={self.location}, dtype={self.element}, rows={self.rows}, cols={self.columns}, "
            f"v_row={valid_rows}, v_col={valid_columns}, blayout={'col_major' if self.column_major else order}, "
            f"slayout={boxes}, fractal={fractal}, pad=0{packed}>"
        )


@dataclass(frozen=True)
class Operand:
    """A value with its type."""

    name: str
    type: str


@dataclass(frozen=True)
class Pipe:
    """The numbers of a pipe; None leaves one to the compiler."""

    direction: int
    slot_size: int
    slots: int | None = None
    local_slots: int | None = None
    epilogue: str | None = None
    number: int = 0

    @property
    def depth(self) -> int:
        return self.slots or (4 if self.direction == BOTH else 8)

    def consumer_bytes(self, chip: Chip) -> int:
        """What a consumer reserves."""
        return self.slot_size * (self.local_slots or self.depth if chip == "a3" else self.depth)

    def ring_elements(self) -> int:
        """Numbers of 32 bits in global memory for the slots of all directions of one block."""
        return (2 if self.direction == BOTH else 1) * self.depth * self.slot_size // 4


class Kernel:
    """The text of one kernel while it is written; each block of cores works on its own part of every array."""

    def __init__(self, name: str, core: Core, chip: Chip, pointers: Mapping[str, str]):
        """`pointers` gives the element type of each pointer, by name."""
        self.name = name
        self.core: Core = core
        self.chip: Chip = chip
        self.peer = "vector_kernel" if core == "cube" else "cube_kernel"
        self.pointers = dict(pointers)
        self._constants: dict[tuple[str, str], str] = {}
        self._head: dict[str, str] = {}
        self._lines: list[str] = []
        self._depth = 2
        self._count = 0

    def text(self) -> str:
        arguments = ", ".join(f"%{name}: !pto.ptr<{element}>" for name, element in self.pointers.items())
        head = (
            f"  func.func @{self.name}({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<{self.core}>}} {{"
        )
        constants = [f"    {name} = arith.constant {value} : {kind}" for (value, kind), name in self._constants.items()]
        first = [f"    {name} = {text}" for text, name in self._head.items()]
        return "\n".join([head, *constants, *first, *self._lines, "    return", "  }"])

    # Lines -----------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def value(self, text: str) -> str:
        name = f"%v{self._count}"
        self._count += 1
        self.line(f"{name} = {text}")
        return name

    def once(self, text: str) -> str:
        """A value made at the head of the kernel, for all who ask for the same."""
        if text not in self._head:
            self._head[text] = f"%h{len(self._head)}"
        return self._head[text]

    def constant(self, value: float, kind: str = "index") -> str:
        text = str(value) if isinstance(value, int) else repr(float(value))
        return self._constants.setdefault((text, kind), f"%c{len(self._constants)}")

    @contextmanager
    def loop(self, first: int, count: int) -> Generator[str]:
        counter = f"%i{self._count}"
        self._count += 1
        bounds = f"{self.constant(first)} to {self.constant(count)} step {self.constant(1)}"
        self.line(f"scf.for {counter} = {bounds} {{")
        self._depth += 1
        yield counter
        self._depth -= 1
        self.line("}")

    # Indices ---------------------------------------------------------------------------------

    def name_of(self, index: Index) -> str:
        return self.constant(index) if isinstance(index, int) else index

    def times(self, one: Index, other: Index) -> Index:
        if isinstance(one, int) and isinstance(other, int):
            return one * other
        if 0 in (one, other):
            return 0
        if 1 in (one, other):
            return other if one == 1 else one
        return self.value(f"arith.muli {self.name_of(one)}, {self.name_of(other)} : index")

    def plus(self, one: Index, other: Index) -> Index:
        if isinstance(one, int) and isinstance(other, int):
            return one + other
        if 0 in (one, other):
            return other if one == 0 else one
        return self.value(f"arith.addi {self.name_of(one)}, {self.name_of(other)} : index")

    def minus(self, one: Index, other: Index) -> Index:
        if isinstance(one, int) and isinstance(other, int):
            return one - other
        return self.value(f"arith.subi {self.name_of(one)}, {self.name_of(other)} : index")

    @property
    def block(self) -> str:
        return self.once(f"arith.index_cast {self.once('pto.get_block_idx')} : i64 to index")

    @property
    def lane_number(self) -> str:
        """The number of the vector core, as i64."""
        return self.once("pto.get_subblock_idx")

    @property
    def lane(self) -> str:
        return self.once(f"arith.index_cast {self.lane_number} : i64 to index")

    # Memory ----------------------------------------------------------------------------------

    def pointer(self, name: str, size: int) -> str:
        """The block's part, of `size` elements, of the array a pointer names."""
        offset = self.once(f"arith.muli {self.block}, {self.constant(size)} : index")
        kind = f"<{self.pointers[name]}>"
        return self.once(f"pto.addptr %{name}, {offset} : {kind} -> {kind}")

    def part(self, name: str, shape: tuple[int, int], offsets: Sequence[Index], sizes: Sequence[Index]) -> Operand:
        """A part of the block's part of the matrix a pointer names, which is `shape` for each block."""
        rows, columns = shape
        pointer = self.pointer(name, rows * columns)
        return self.part_of(self.view(pointer, self.pointers[name], shape), offsets, sizes)

    def view(self, pointer: str, element: str, shape: tuple[int, int]) -> Operand:
        """A pointer made at the head of the kernel as a matrix, made there too."""
        rows, columns = shape
        kind = f"!pto.tensor_view<{rows}x{columns}x{element}>"
        extents = f"[{self.constant(rows)}, {self.constant(columns)}]"
        strides = f"[{self.constant(columns)}, {self.constant(1)}]"
        view = self.once(f"pto.make_tensor_view {pointer}, shape = {extents}, strides = {strides} : {kind}")
        return Operand(view, kind)

    def part_of(self, view: Operand, offsets: Sequence[Index], sizes: Sequence[Index]) -> Operand:
        element = view.type.rsplit("x", 1)[1].rstrip(">")
        extents = "x".join(str(size) if isinstance(size, int) else "?" for size in sizes)
        kind = f"!pto.partition_tensor_view<{extents}x{element}>"
        first = ", ".join(self.name_of(offset) for offset in offsets)
        count = ", ".join(self.name_of(size) for size in sizes)
        text = f"pto.partition_view {view.name}, offsets = [{first}], sizes = [{count}] : {view.type} -> {kind}"
        return Operand(self.value(text), kind)

    def tile(self, kind: Tile, valid: Sequence[Index] = ()) -> Operand:
        """A tile of its own; `valid` are the extents its type leaves open, rows first."""
        given = iter(valid)
        clauses = ""
        for name, extent in zip(("valid_row", "valid_col"), kind.extents, strict=True):
            if extent is None:
                clauses += f" {name} = {self.name_of(next(given))}"
        return Operand(self.value(f"pto.alloc_tile{clauses} : {kind}"), str(kind))

    def apply(self, name: str, inputs: Sequence[Operand], output: Operand, mode: str = "") -> Operand:
        names = ", ".join(operand.name for operand in inputs)
        types = ", ".join(operand.type for operand in inputs)
        self.line(f"pto.{name} ins({names}{mode} : {types}) outs({output.name} : {output.type})")
        return output

    def number(self, value: float, element: str) -> Operand:
        """A number as an operand of an operation on tiles."""
        return Operand(self.constant(float(value) if element[0] in "fb" else int(value), element), element)

    # Pipes -----------------------------------------------------------------------------------

    def open(self, pipe: Pipe) -> None:
        operands: list[str] = []
        if self.chip == "a3":
            gm = self.pointer("gm_slot_buffer", pipe.ring_elements())
            operands.append(f"gm_slot_buffer = {gm} : !pto.ptr<f32>")
        for way, consumer, name, place in ((C2V, "vector", "c2v", "vec"), (V2C, "cube", "v2c", "mat")):
            if not pipe.direction & way:
                continue
            key = f'name = "{name}_{pipe.number}"'
            if consumer == self.core:
                size = f"size = {pipe.consumer_bytes(self.chip)}"
                place = f"location = #pto.address_space<{place}>"
                buffer = self.value(f"pto.reserve_buffer {{{key}, {size}, {place}, auto = true}} -> i32")
            else:
                buffer = self.value(f"pto.import_reserved_buffer {{{key}, peer_func = @{self.peer}}} -> i32")
            operands.append(f"{name}_consumer_buf = {buffer} : i32")
        clauses = f"id = {pipe.number}, dir_mask = {pipe.direction}, slot_size = {pipe.slot_size}"
        if pipe.slots is not None:
            clauses += f", slot_num = {pipe.slots}"
        if pipe.local_slots is not None and self.chip == "a3":
            clauses += f", local_slot_num = {pipe.local_slots}"
        if pipe.epilogue is not None:
            clauses += f", nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<{pipe.epilogue}>"
        end = "aic" if self.core == "cube" else "aiv"
        self.line(f"pto.{end}_initialize_pipe {{{clauses}}}({', '.join(operands)})")

    def _use(self, split: int, number: int, explicit_lane: bool = False) -> str:
        lane = f" aiv_subblockid({self.lane_number})" if explicit_lane else ""
        return f"{{id = {number}, split = {split}}}{lane}"

    def push(self, entry: Operand, split: int, number: int = 0, explicit_lane: bool = False) -> None:
        other = "aiv" if self.core == "cube" else "aic"
        self.line(f"pto.tpush_to_{other}({entry.name} : {entry.type}) {self._use(split, number, explicit_lane)}")

    def alloc(self, kind: str, split: int, number: int = 0) -> Operand:
        other = "aiv" if self.core == "cube" else "aic"
        return Operand(self.value(f"pto.talloc_to_{other} {self._use(split, number)} -> {kind}"), kind)

    def pop(
        self, kind: Tile | str, split: int, valid: Sequence[Index] = (), number: int = 0, explicit_lane: bool = False
    ) -> Operand:
        other = "aiv" if self.core == "cube" else "aic"
        extents = f"({', '.join(self.name_of(extent) for extent in valid)})" if valid else ""
        use = self._use(split, number, explicit_lane)
        return Operand(self.value(f"pto.tpop_from_{other}{extents} {use} -> {kind}"), str(kind))

    def free(self, split: int, number: int = 0, entry: Operand | None = None) -> None:
        other = "aiv" if self.core == "cube" else "aic"
        given = "" if entry is None else f"({entry.name} : {entry.type})"
        self.line(f"pto.tfree_from_{other}{given} {self._use(split, number)}")

    # What many kernels do --------------------------------------------------------------------

    def load(self, kind: Tile, part: Operand, valid: Sequence[Index] = ()) -> Operand:
        return self.apply("tload", [part], self.tile(kind, valid))

    def to_left(self, mat: Operand, kind: Tile, valid: Sequence[Index] = ()) -> Operand:
        return self.apply("tmov", [mat], self.tile(replace(kind, location="left"), valid))

    def to_right(self, mat: Operand, kind: Tile, valid: Sequence[Index] = ()) -> Operand:
        return self.apply("tmov", [mat], self.tile(replace(kind, location="right"), valid))

    def for_cube(self, tile: Operand, kind: Tile) -> Operand:
        """The tile of a vector core as it is pushed: on a5, in boxes."""
        if self.chip == "a3":
            return tile
        return self.apply("tmov", [tile], self.tile(replace(kind, boxed=True)))


def module(chip: Chip, pointers: Mapping[str, str], kernels: Sequence[Kernel]) -> str:
    """A program: its kernels, and the entry function that calls them."""
    arguments = ", ".join(f"%{name}: !pto.ptr<{element}>" for name, element in pointers.items())
    types = ", ".join(f"!pto.ptr<{element}>" for element in pointers.values())
    names = ", ".join(f"%{name}" for name in pointers)
    calls = [f"    func.call @{kernel.name}({names}) : ({types}) -> ()" for kernel in kernels]
    entry = "\n".join([f"  func.func @main({arguments}) attributes {{pto.entry}} {{", *calls, "    return", "  }"])
    body = "\n\n".join([entry, *(kernel.text() for kernel in kernels)])
    return f'module attributes {{pto.target_arch = "{chip}"}} {{\n{body}\n}}\n'


def kernels_of(chip: Chip, pointers: Mapping[str, str]) -> tuple[Kernel, Kernel, dict[str, str]]:
    """An empty kernel for each core, and the pointers, with one to the slots where they are in global memory."""
    every = dict(pointers)
    if chip == "a3":
        every["gm_slot_buffer"] = "f32"
    return Kernel("cube_kernel", "cube", chip, every), Kernel("vector_kernel", "vector", chip, every), every
