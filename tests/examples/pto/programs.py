"""The programs of the conformance tests: text for one chip, from sizes, splits and element types.

Every array has one part for each block, one behind the other. Goldens are the tests' business.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from .kernel_text import (
    BOTH,
    BYTES,
    C2V,
    LEFT_RIGHT,
    LEFT_RIGHT_ODD,
    NO_SPLIT,
    UP_DOWN,
    UP_DOWN_ODD,
    V2C,
    Chip,
    Index,
    Kernel,
    Operand,
    Pipe,
    Tile,
    kernels_of,
    module,
)

LANES = 2


@dataclass(frozen=True)
class Lane:
    """What of a tile one vector core gets: the type of its part, its place, and its extents if they differ."""

    kind: Tile
    place: tuple[Index, Index]
    extents: tuple[Index, Index]

    @property
    def open_extents(self) -> list[Index]:
        """The extents its type leaves open."""
        given = zip(self.kind.extents, self.extents, strict=True)
        return [extent for written, extent in given if written is None]


def lane_of(kernel: Kernel, split: int, tile: tuple[int, int], valid: tuple[int, int], element: str) -> Lane:
    """The part of a tile of which the upper left is valid; an odd number of rows or columns gives core 0 one more."""
    rows, columns = valid
    if split == NO_SPLIT:
        return Lane(Tile("vec", element, *tile, None if tile == valid else valid), (0, 0), valid)
    by_rows = split in (UP_DOWN, UP_DOWN_ODD)
    count, whole = (rows, tile[0]) if by_rows else (columns, tile[1])
    half = (count + 1) // LANES
    odd = split in (UP_DOWN_ODD, LEFT_RIGHT_ODD)
    number = kernel.once(f"arith.muli {kernel.lane}, {kernel.constant(half)} : index")
    extent: Index = half
    if odd:
        extent = kernel.once(f"arith.subi {kernel.constant(half)}, {kernel.lane} : index")
    room = max(half, whole // LANES)
    shape = (room, tile[1]) if by_rows else (tile[0], room)
    extents: tuple[Index, Index] = (extent, columns) if by_rows else (rows, extent)
    open_or_valid = (None, None) if odd else (half, columns) if by_rows else (rows, half)
    kind = Tile("vec", element, *shape, None if open_or_valid == shape else open_or_valid)
    return Lane(kind, (number, 0) if by_rows else (0, number), extents)


# ---------------------------------------------------------------------------------------------
# Pushes and pops in a stated order
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exchange:
    """Two kernels that push, pop and free in a stated order, `rounds` times.

    `cube` and `vector` are words `push`, `pop` and `free`. The cube core's push number i is `cube_in[i] @ matrix`;
    a vector core's is its part of `vector_in[i]`. What is popped is stored when it is freed, so that it has to last as
    long: by the cube core to `cube_out`, by a vector core, plus the addend (a number, or its part of `addend`), to
    `vector_out`, which without a split has a part for each vector core.
    """

    cube: str
    vector: str
    split: int = NO_SPLIT
    rows: int = 16
    columns: int = 32
    inner: int = 32
    slots: int | None = 2
    local_slots: int | None = None
    rounds: int = 1
    input_element: str = "f32"
    sum_element: str = "f32"
    element: str = "f32"
    """Of what the vector cores pop and push."""
    valid: tuple[int, int] | None = None
    dynamic: bool = False
    """Whether the valid rows and columns are values, not in the types."""
    addend: float | str | None = None
    epilogue: str | None = None
    scale: float | str | None = None
    """Of the epilogue: a number, or the name of an array."""
    explicit_lane: bool = False

    @property
    def direction(self) -> int:
        if "pop" not in self.cube:
            return C2V
        return BOTH if "push" in self.cube else V2C

    def count(self, core: str, word: str) -> int:
        return (self.cube if core == "cube" else self.vector).split().count(word)

    def text(self, chip: Chip) -> str:
        pointers: dict[str, str] = {}
        if self.direction & C2V:
            pointers |= {"cube_in": self.input_element, "matrix": self.input_element}
            pointers |= {"addend": self.element} if self.addend == "tile" else {}
            pointers |= {"scale": "ui64" if chip == "a3" else "f32"} if isinstance(self.scale, str) else {}
            pointers |= {"vector_out": self.element}
        if self.direction & V2C:
            pointers |= {"vector_in": self.element, "cube_out": self.element}
        cube, vector, every = kernels_of(chip, pointers)
        slot_element = self.element if self.direction == V2C or self.epilogue else self.sum_element
        size = self.rows * self.columns * BYTES[slot_element]
        pipe = Pipe(self.direction, size, self.slots, self.local_slots, self.epilogue)
        for kernel, write in ((cube, self._cube), (vector, self._vector)):
            kernel.open(pipe)
            write(kernel)
        return module(chip, every, [cube, vector])

    @property
    def _valid(self) -> tuple[int, int]:
        return self.valid or (self.rows, self.columns)

    def _whole(self, location: str, element: str, rows: int, columns: int, extents: tuple[int, int]) -> Tile:
        valid = (None, None) if self.dynamic else None if extents == (rows, columns) else extents
        return Tile(location, element, rows, columns, valid)

    def _rounds(self, kernel: Kernel, words: str, act: Callable[[str, int, Index], None]) -> None:
        """Write the words out, each with the number of its tile in a round and in all rounds."""
        steps = words.split()
        context = kernel.loop(0, self.rounds) if self.rounds > 1 else nullcontext(0)
        with context as done:
            counts = dict.fromkeys(steps, 0)
            for step in steps:
                number = counts[step]
                act(step, number, kernel.plus(kernel.times(done, steps.count(step)), number))
                counts[step] += 1

    def _cube(self, kernel: Kernel) -> None:
        rows, columns = self._valid
        inner = self.inner
        mat = self._whole("mat", self.input_element, self.rows, inner, (rows, inner))
        right_mat = self._whole("mat", self.input_element, inner, self.columns, (inner, columns))
        acc = self._whole("acc", self.sum_element, self.rows, self.columns, (rows, columns))
        popped = self._whole("mat", self.element, self.rows, self.columns, (rows, columns))

        def extents(*values: int) -> list[Index]:
            return list(values) if self.dynamic else []

        right: Operand | None = None
        if self.direction & C2V:
            part = kernel.part("matrix", (inner, columns), (0, 0), (inner, columns))
            matrix = kernel.load(right_mat, part, extents(inner, columns))
            right = kernel.to_right(matrix, right_mat, extents(inner, columns))
            self._set_scale(kernel)
        held: list[Operand] = []

        def act(step: str, number: int, index: Index) -> None:
            if step == "push" and right is not None:
                total = self.count("cube", "push") * self.rounds
                part = kernel.part("cube_in", (total * rows, inner), (kernel.times(index, rows), 0), (rows, inner))
                left = kernel.to_left(kernel.load(mat, part, extents(rows, inner)), mat, extents(rows, inner))
                product = kernel.apply("tmatmul", [left, right], kernel.tile(acc, extents(rows, columns)))
                kernel.push(product, self.split)
            elif step == "pop":
                held.append(kernel.pop(popped, self.split, extents(rows, columns)))
            else:
                total = self.count("cube", "pop") * self.rounds
                place = kernel.times(index, rows)
                out = kernel.part("cube_out", (total * rows, columns), (place, 0), (rows, columns))
                kernel.apply("tstore", [held.pop(0)], out)
                kernel.free(self.split)

        self._rounds(kernel, self.cube, act)

    def _set_scale(self, kernel: Kernel) -> None:
        if isinstance(self.scale, str):
            element, columns = kernel.pointers[self.scale], self.columns
            part = kernel.part(self.scale, (1, columns), (0, 0), (1, columns))
            mat = kernel.load(Tile("mat", element, 1, columns), part)
            tile = kernel.apply("tmov", [mat], kernel.tile(Tile("scaling", element, 1, columns)))
            kernel.line(f"pto.set_quant_vector({tile.name} : {tile.type}) {{id = 0}}")
        elif self.scale is not None:
            kernel.line(f"pto.set_quant_scalar({kernel.constant(float(self.scale), 'f32')} : f32) {{id = 0}}")

    def _vector(self, kernel: Kernel) -> None:
        rows, columns = self._valid
        lane = lane_of(kernel, self.split, (self.rows, self.columns), self._valid, self.element)
        kind = lane.kind
        if self.dynamic:
            kind = Tile("vec", self.element, kind.rows, kind.columns, (None, None))
            lane = Lane(kind, lane.place, lane.extents)
        held: list[Operand] = []

        def part(name: str, total: int, index: Index, copies: int = 1) -> Operand:
            first = kernel.plus(kernel.times(index, rows), lane.place[0])
            if copies > 1:
                first = kernel.plus(first, kernel.times(kernel.lane, total * rows))
            return kernel.part(name, (copies * total * rows, columns), (first, lane.place[1]), lane.extents)

        def act(step: str, number: int, index: Index) -> None:
            if step == "push":
                total = self.count("vector", "push") * self.rounds
                tile = kernel.load(kind, part("vector_in", total, index), lane.open_extents)
                pushed = kernel.for_cube(tile, kind) if not self.dynamic else tile
                kernel.push(pushed, self.split, explicit_lane=self.explicit_lane)
            elif step == "pop":
                held.append(kernel.pop(kind, self.split, lane.open_extents, explicit_lane=self.explicit_lane))
            else:
                total = self.count("vector", "pop") * self.rounds
                result = held.pop(0)
                if self.addend is not None:
                    name, other = "tadds", None
                    if self.addend == "tile":
                        name = "tadd"
                        other = kernel.load(kind, part("addend", total, index), lane.open_extents)
                    elif not isinstance(self.addend, str):
                        other = kernel.number(self.addend, self.element)
                    assert other is not None
                    result = kernel.apply(name, [result, other], kernel.tile(kind, lane.open_extents))
                copies = LANES if self.split == NO_SPLIT else 1
                kernel.apply("tstore", [result], part("vector_out", total, index, copies))
                kernel.free(self.split)

        self._rounds(kernel, self.vector, act)


# ---------------------------------------------------------------------------------------------
# Vector to cube, with work on the way
# ---------------------------------------------------------------------------------------------


def dequantized_product(
    chip: Chip, *, split: int, quantized: str, inner_tiles: int, rows: int = 16, inner: int = 64, columns: int = 32,
    slots: int = 2,
) -> str:  # fmt: skip
    """`out = a @ ((b - offset) * scale)`, summed over tiles of the inner dimension.

    The vector cores make floats of their parts of `b`, whose every row has an offset and a scale.
    """
    total = inner_tiles * inner
    pointers = {"a": "f32", "b": quantized, "offset": "f32", "scale": "f32", "out": "f32"}
    cube, vector, every = kernels_of(chip, pointers)
    pipe = Pipe(V2C, inner * columns * 4, slots)

    vector.open(pipe)
    with vector.loop(0, inner_tiles) as step:
        lane = lane_of(vector, split, (inner, columns), (inner, columns), "f32")
        kind = lane.kind
        first = vector.plus(vector.times(step, inner), lane.place[0])
        numbers = Tile("vec", quantized, kind.rows, kind.columns)
        part = vector.part("b", (total, columns), (first, lane.place[1]), (kind.rows, kind.columns))
        tile = vector.load(numbers, part)
        for element in ("f16", "f32") if quantized == "i8" else ("f32",):
            other = vector.tile(Tile("vec", element, kind.rows, kind.columns))
            tile = vector.apply("tcvt", [tile], other, " {rmode = #pto<round_mode RINT>}")
        for name, operation in (("offset", "trowexpandsub"), ("scale", "trowexpandmul")):
            part = vector.part(name, (total, 1), (first, 0), (kind.rows, 1))
            row = vector.load(Tile("vec", "f32", kind.rows, 1, column_major=True), part)
            tile = vector.apply(operation, [tile, row], vector.tile(kind))
        vector.push(vector.for_cube(tile, kind), split)

    mat, acc = Tile("mat", "f32", inner, columns), Tile("acc", "f32", rows, columns)
    left = Tile("mat", "f32", rows, inner)
    cube.open(pipe)
    product = cube.tile(acc)

    def multiply(step: Index, operation: str, more: list[Operand]) -> None:
        part = cube.part("a", (rows, total), (0, cube.times(step, inner)), (rows, inner))
        one = cube.to_left(cube.load(left, part), left)
        other = cube.to_right(cube.pop(mat, split), mat)
        cube.free(split)
        cube.apply(operation, [*more, one, other], product)

    multiply(0, "tmatmul", [])
    if inner_tiles > 1:
        with cube.loop(1, inner_tiles) as step:
            multiply(step, "tmatmul.acc", [product])
    cube.apply("tstore", [product], cube.part("out", (rows, columns), (0, 0), (rows, columns)))
    return module(chip, every, [cube, vector])


def sum_times_matrix(chip: Chip, *, rows: int, inner: int, columns: int, slots: int = 2) -> str:
    """`out = (x + y) @ z`, summed by the vector cores, which name the halves of rows they push."""
    cube, vector, every = kernels_of(chip, dict.fromkeys(("x", "y", "z", "out"), "f32"))
    pipe = Pipe(V2C, rows * inner * 4, slots)
    vector.open(pipe)
    lane = lane_of(vector, UP_DOWN, (rows, inner), (rows, inner), "f32")
    one, other = (
        vector.load(lane.kind, vector.part(name, (rows, inner), lane.place, lane.extents)) for name in ("x", "y")
    )
    total = vector.apply("tadd", [one, other], vector.tile(lane.kind))
    vector.push(vector.for_cube(total, lane.kind), UP_DOWN, explicit_lane=True)

    cube.open(pipe)
    left, right = Tile("mat", "f32", rows, inner), Tile("mat", "f32", inner, columns)
    matrix = cube.load(right, cube.part("z", (inner, columns), (0, 0), (inner, columns)))
    factors = [cube.to_left(cube.pop(left, UP_DOWN), left), cube.to_right(matrix, right)]
    cube.free(UP_DOWN)
    product = cube.apply("tmatmul", factors, cube.tile(Tile("acc", "f32", rows, columns)))
    cube.apply("tstore", [product], cube.part("out", (rows, columns), (0, 0), (rows, columns)))
    return module(chip, every, [cube, vector])


def operands_of_two_sizes(chip: Chip, *, rows: int, inner: int, columns: int, direction: int = V2C) -> str:
    """`out = a @ b`, both factors through one pipe, and both popped before either is freed."""
    cube, vector, every = kernels_of(chip, dict.fromkeys(("a", "b", "out"), "f32"))
    pipe = Pipe(direction, max(rows, columns) * inner * 4, 8, 8)
    shapes = {"a": (rows, inner), "b": (inner, columns)}
    vector.open(pipe)
    for name, shape in shapes.items():
        kind = Tile("vec", "f32", *shape)
        tile = vector.load(kind, vector.part(name, shape, (0, 0), shape))
        vector.push(vector.for_cube(tile, kind), NO_SPLIT)
    cube.open(pipe)
    kinds = [Tile("mat", "f32", *shape) for shape in shapes.values()]
    popped = [cube.pop(kind, NO_SPLIT) for kind in kinds]
    factors = [cube.to_left(popped[0], kinds[0]), cube.to_right(popped[1], kinds[1])]
    cube.free(NO_SPLIT)
    cube.free(NO_SPLIT)
    product = cube.apply("tmatmul", factors, cube.tile(Tile("acc", "f32", rows, columns)))
    cube.apply("tstore", [product], cube.part("out", (rows, columns), (0, 0), (rows, columns)))
    return module(chip, every, [cube, vector])


# ---------------------------------------------------------------------------------------------
# There and back
# ---------------------------------------------------------------------------------------------


def there_and_back(
    chip: Chip, *, split: int, rows: int, inner: int, columns: int, tiles: int = 1, slots: int = 2,
    local_slots: int | None = None, add_one: bool = False, subtract: bool = False, concurrent: bool = False,
) -> str:  # fmt: skip
    """`out = (a + b) @ d + f`, a tile of `columns` columns at a time.

    The vector cores add, the cube core multiplies, the vector cores add again. With `add_one` there is no `b`, and it
    is `a + 1`; with `subtract` it is `- f`. With `concurrent` the cube core multiplies `a` itself, and sends that back
    before it takes `a + b`, whose product is `cube_out`: both directions are under way at once.
    """
    names = ["a", *([] if add_one else ["b"]), "d", "f", "out", *(["cube_out"] if concurrent else [])]
    cube, vector, every = kernels_of(chip, dict.fromkeys(names, "f32"))
    pipe = Pipe(BOTH, max(inner, columns) * rows * 4, slots, local_slots)
    wide = tiles * columns

    vector.open(pipe)
    with vector.loop(0, tiles) as step:
        there = lane_of(vector, split, (rows, inner), (rows, inner), "f32")
        back = lane_of(vector, split, (rows, columns), (rows, columns), "f32")
        addends = [
            vector.load(there.kind, vector.part(name, (rows, inner), there.place, there.extents))
            for name in ("a", *([] if add_one else ["b"]))
        ]
        if add_one:
            addends.append(vector.number(1, "f32"))
        total = vector.apply("tadds" if add_one else "tadd", addends, vector.tile(there.kind))
        vector.push(vector.for_cube(total, there.kind), split)
        product = vector.pop(back.kind, split)
        place = (back.place[0], vector.plus(vector.times(step, columns), back.place[1]))
        other = vector.load(back.kind, vector.part("f", (rows, wide), place, back.extents))
        operation = "tsub" if subtract else "tadd"
        result = vector.apply(operation, [product, other], vector.tile(back.kind))
        vector.apply("tstore", [result], vector.part("out", (rows, wide), place, back.extents))
        vector.free(split)

    cube.open(pipe)
    left, right = Tile("mat", "f32", rows, inner), Tile("mat", "f32", inner, columns)
    acc = Tile("acc", "f32", rows, columns)
    with cube.loop(0, tiles) as step:
        place = (0, cube.times(step, columns))
        matrix = cube.load(right, cube.part("d", (inner, wide), place, (inner, columns)))
        factor = cube.to_right(matrix, right)
        if concurrent:
            own = cube.to_left(cube.load(left, cube.part("a", (rows, inner), (0, 0), (rows, inner))), left)
            cube.push(cube.apply("tmatmul", [own, factor], cube.tile(acc)), split)
        total = cube.to_left(cube.pop(left, split), left)
        cube.free(split)
        product = cube.apply("tmatmul", [total, factor], cube.tile(acc))
        if concurrent:
            cube.apply("tstore", [product], cube.part("cube_out", (rows, wide), place, (rows, columns)))
        else:
            cube.push(product, split)
    return module(chip, every, [cube, vector])


# ---------------------------------------------------------------------------------------------
# Slots in global memory, parts of accumulators
# ---------------------------------------------------------------------------------------------


def slots_written_in_parts(
    chip: Chip, *, rows: int, inner: int, columns: int, repeat: int, band: int, split: int = UP_DOWN
) -> str:
    """`out = tile(a @ b) + 3.14`: the product `repeat` times side by side in one slot, read `band` rows at a time."""
    wide = repeat * columns
    pointers = {"a": "f16", "b": "f16", "out": "f32", "slots": "f32"}
    cube, vector, _ = kernels_of("a5", pointers)
    view = f"!pto.tensor_view<{rows}x{wide}xf32>"
    size = rows * wide * 4
    # An entry of the vector cores is the part of one of them.
    half = rows if split == NO_SPLIT else rows // LANES
    for kernel, end, height in ((cube, "aic", rows), (vector, "aiv", half)):
        ring = kernel.pointer("slots", 2 * rows * wide)
        slot = kernel.view(ring, "f32", (height, wide))
        numbers = f"{{id = 0, dir_mask = 1, slot_size = {size}, slot_num = 2}}"
        kernel.line(f"pto.{end}_initialize_pipe {numbers}(gm_slot_tensor = {slot.name} : {slot.type})")

    left, right = Tile("mat", "f16", rows, inner), Tile("mat", "f16", inner, columns)
    matrix = cube.load(right, cube.part("b", (inner, columns), (0, 0), (inner, columns)))
    factor = cube.to_right(matrix, right)
    own = cube.to_left(cube.load(left, cube.part("a", (rows, inner), (0, 0), (rows, inner))), left)
    product = cube.apply("tmatmul", [own, factor], cube.tile(Tile("acc", "f32", rows, columns)))
    entry = cube.alloc(view, split)
    with cube.loop(0, repeat) as step:
        part = cube.part_of(entry, (0, cube.times(step, columns)), (rows, columns))
        cube.apply("tstore", [product], part)
    cube.push(entry, split)

    entry = vector.pop(f"!pto.tensor_view<{half}x{wide}xf32>", split)
    kind = Tile("vec", "f32", band, wide)
    first = 0 if split == NO_SPLIT else vector.times(vector.lane, half)
    with vector.loop(0, half // band) as step:
        row = vector.times(step, band)
        tile = vector.load(kind, vector.part_of(entry, (row, 0), (band, wide)))
        result = vector.apply("tadds", [tile, vector.number(3.14, "f32")], vector.tile(kind))
        out = vector.part("out", (rows, wide), (vector.plus(first, row), 0), (band, wide))
        vector.apply("tstore", [result], out)
    vector.free(split, entry=entry)
    return module(chip, pointers, [cube, vector])


def product_in_strips(chip: Chip, *, rows: int, inner: int, columns: int, strip: int, dynamic: bool) -> str:
    """`out = a @ b`, the accumulator pushed `strip` rows at a time."""
    cube, vector, every = kernels_of(chip, dict.fromkeys(("a", "b", "out"), "f32"))
    pipe = Pipe(C2V, strip * columns * 4, 2, 2)
    left, right = Tile("mat", "f32", rows, inner), Tile("mat", "f32", inner, columns)
    cube.open(pipe)
    matrix = cube.load(right, cube.part("b", (inner, columns), (0, 0), (inner, columns)))
    factor = cube.to_right(matrix, right)
    own = cube.to_left(cube.load(left, cube.part("a", (rows, inner), (0, 0), (rows, inner))), left)
    acc = Tile("acc", "f32", rows, columns)
    product = cube.apply("tmatmul", [own, factor], cube.tile(acc))
    with cube.loop(0, rows // strip) as step:
        part = Tile("acc", "f32", strip, columns, (None, None) if dynamic else None)
        names = (cube.constant(strip), cube.constant(columns))
        valid = f" valid [{names[0]}, {names[1]}]" if dynamic else ""
        place = f"[{cube.name_of(cube.times(step, strip))}, {cube.constant(0)}]"
        text = f"pto.subview {product.name}{place} sizes [{strip}, {columns}]{valid} : {acc} -> {part}"
        cube.push(Operand(cube.value(text), str(part)), NO_SPLIT)
    vector.open(pipe)
    with vector.loop(0, rows // strip) as step:
        tile = vector.pop(Tile("vec", "f32", strip, columns), NO_SPLIT)
        place = (vector.times(step, strip), 0)
        vector.apply("tstore", [tile], vector.part("out", (rows, columns), place, (strip, columns)))
        vector.free(NO_SPLIT)
    return module(chip, every, [cube, vector])


__all__ = [
    "LEFT_RIGHT",
    "LEFT_RIGHT_ODD",
    "NO_SPLIT",
    "UP_DOWN",
    "UP_DOWN_ODD",
    "Exchange",
    "dequantized_product",
    "operands_of_two_sizes",
    "product_in_strips",
    "slots_written_in_parts",
    "sum_times_matrix",
    "there_and_back",
]
