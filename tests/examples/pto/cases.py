"""The conformance cases: for each the text for a chip, the arrays of one block, and what has to come out of them.

`CASES` is keyed by the name a case has in the table of `test_conformance`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from .kernel_text import BOTH, V2C, Chip
from .programs import (
    LEFT_RIGHT,
    LEFT_RIGHT_ODD,
    NO_SPLIT,
    UP_DOWN,
    UP_DOWN_ODD,
    Exchange,
    dequantized_product,
    operands_of_two_sizes,
    product_in_strips,
    slots_written_in_parts,
    sum_times_matrix,
    there_and_back,
)

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Arrays: TypeAlias = Mapping[str, Array]

BOTH_CHIPS: tuple[Chip, ...] = ("a3", "a5")
DTYPES: Mapping[str, Any] = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i16": np.int16, "i8": np.int8,
}  # fmt: skip
FLOAT_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Case:
    """One program with its data. `arrays` and `golden` are those of one block."""

    text: Callable[[Chip], str]
    arrays: Callable[[np.random.Generator, Chip], dict[str, Array]]
    golden: Callable[[Arrays], dict[str, Array]]
    tolerance: float = 0.0
    chips: tuple[Chip, ...] = BOTH_CHIPS
    per_lane: tuple[str, ...] = ()
    """Arrays with a part for each vector core. One that takes no part in a pipe pops zeros."""
    repeat: int = 1
    overfreed_on_a5: bool = False
    """Whether a5 gives more credits than slots become free: several entries are freed after a later pop (H3)."""


# ---------------------------------------------------------------------------------------------
# Exchanges
# ---------------------------------------------------------------------------------------------


def numbers_of(tile: int, lane: int, rows: int, columns: int) -> Array:
    """What a vector core pushes: tile, core and element can be told from each number."""
    return (tile * 100000 + lane * 1000 + np.arange(rows * columns).reshape(rows, columns) + 1).astype(np.float32)


def split_tile(tile: int, split: int, rows: int, columns: int) -> Array:
    """A tile of which each vector core has its numbers in its part."""
    if split == NO_SPLIT:
        return numbers_of(tile, 0, rows, columns)
    if split == UP_DOWN:
        return np.vstack([numbers_of(tile, lane, rows // 2, columns) for lane in range(2)])
    return np.hstack([numbers_of(tile, lane, rows, columns // 2) for lane in range(2)])


def exact_exchange(exchange: Exchange, step: int = 1000, **more: Any) -> Case:
    """Whole numbers through an exchange: tile t of the cube core is `t * step + 1, + 2, ...`, row by row."""
    rows, columns = exchange.valid or (exchange.rows, exchange.columns)

    def arrays(random: np.random.Generator, chip: Chip) -> dict[str, Array]:
        # Blocks differ by what is added to every number.
        block = int(random.integers(0, 50)) * 7
        found: dict[str, Array] = {}
        pushes = exchange.count("cube", "push") * exchange.rounds
        if pushes:
            if exchange.input_element == "i8":
                # row * columns + column + 1 + block, as a product of small numbers
                left = np.zeros((pushes * rows, exchange.inner), np.int8)
                left[:, 0] = left[:, 1] = np.tile(np.arange(rows), pushes)
                left[:, 2:4] = 1
                left[:, 4] = block % 50
                matrix = np.zeros((exchange.inner, columns), np.int8)
                matrix[0] = columns // 2
                matrix[1] = columns - columns // 2
                matrix[2] = np.arange(columns)
                matrix[3:5] = 1
            else:
                count = np.arange(rows * columns).reshape(rows, columns) + 1 + block
                left = np.zeros((pushes * rows, exchange.inner), np.float32)
                left[:, :columns] = np.vstack([tile * step + count for tile in range(pushes)])
                matrix = np.eye(exchange.inner, columns, dtype=np.float32)
            found |= {"cube_in": left, "matrix": matrix}
        pushes = exchange.count("vector", "push") * exchange.rounds
        if pushes:
            tiles = [split_tile(tile, exchange.split, rows, columns) + block for tile in range(pushes)]
            numbers = np.vstack(tiles)
            # The whole numbers that 16-bit floats have end at 2048.
            found["vector_in"] = (numbers % 2003 if exchange.element == "f16" else numbers).astype(
                DTYPES[exchange.element]
            )
        return found

    def golden(given: Arrays) -> dict[str, Array]:
        dtype = DTYPES[exchange.element]
        found: dict[str, Array] = {}
        if "cube_in" in given:
            exact = given["cube_in"].astype(np.float64) @ given["matrix"].astype(np.float64)
            found["vector_out"] = exact.astype(dtype)
        if "vector_in" in given:
            found["cube_out"] = given["vector_in"]
        return found

    per_lane = ("vector_out",) if exchange.split == NO_SPLIT else ()
    return Case(exchange.text, arrays, golden, per_lane=per_lane, **more)


def product_case(exchange: Exchange, *, whole: bool = False, **more: Any) -> Case:
    """Random factors, and a tile or a number to be added: `cube_in @ matrix + addend`."""
    rows, columns = exchange.valid or (exchange.rows, exchange.columns)
    total = exchange.count("cube", "push") * exchange.rounds * rows
    dtype, result = DTYPES[exchange.input_element], DTYPES[exchange.element]

    def draw(random: np.random.Generator, shape: tuple[int, ...], kind: Any, bound: int) -> Array:
        if whole:
            return random.integers(-bound, bound + 1, shape).astype(kind)
        return random.uniform(-bound, bound, shape).astype(kind)

    def arrays(random: np.random.Generator, chip: Chip) -> dict[str, Array]:
        found = {
            "cube_in": draw(random, (total, exchange.inner), dtype, 2),
            "matrix": draw(random, (exchange.inner, columns), dtype, 2),
        }
        if exchange.addend == "tile":
            found["addend"] = draw(random, (total, columns), result, 1)
        if isinstance(exchange.scale, str):
            scales = random.integers(1, 5, columns).astype(np.float32)
            # The older chips take the bits of a float in a word of 64.
            found["scale"] = scales.view(np.uint32).astype(np.uint64) if chip == "a3" else scales
        return found

    def golden(given: Arrays) -> dict[str, Array]:
        exact = given["cube_in"].astype(np.float64) @ given["matrix"].astype(np.float64)
        if isinstance(exchange.scale, str):
            scale = given["scale"]
            exact = exact * (scale.astype(np.uint32).view(np.float32) if scale.dtype == np.uint64 else scale)
        elif exchange.scale is not None:
            exact = exact * exchange.scale
        popped = exact.astype(result)
        if exchange.addend == "tile":
            popped = popped + given["addend"]
        elif exchange.addend is not None:
            popped = popped + result(exchange.addend)
        return {"vector_out": popped.astype(result)}

    per_lane = ("vector_out",) if exchange.split == NO_SPLIT else ()
    tolerance = 0.0 if whole else FLOAT_TOLERANCE
    return Case(exchange.text, arrays, golden, tolerance, per_lane=per_lane, **more)


def _exchanges() -> dict[str, Case]:
    found: dict[str, Case] = {}
    # One tile in a deep pipe. What one pushes is `Mat` where the cube core is the producer, else `Vec`. A5 has the
    # slots in the consumer's memory, where fewer of the vector cores' fit.
    for element in ("f32", "i32"):
        for rows in (64, 128):
            sums = {"input_element": "i8", "sum_element": "i32", "element": "i32", "inner": 32}
            kinds: dict[str, Any] = sums if element == "i32" else {"inner": 128}
            size: dict[str, Any] = {"rows": rows, "columns": 128, "slots": 8, "local_slots": 1}
            cube = Exchange("push", "pop free", **size, **kinds)
            case = exact_exchange(cube)
            shallow = replace(cube, slots=2)
            found[f"one_{element}_{rows}x128_mat"] = replace(
                case, text=lambda chip, deep=cube, shallow=shallow: (deep if chip == "a3" else shallow).text(chip)
            )
            vector = Exchange("pop free", "push", **size, element=element)
            found[f"one_{element}_{rows}x128_vec"] = exact_exchange(vector)
    stream = Exchange("push", "pop free", rows=64, columns=128, inner=128, slots=4, local_slots=2)
    for name, rounds in (("stream_of_12", 12), ("cv_single", 1), ("cv_stream", 10)):
        found[name] = exact_exchange(replace(stream, rounds=rounds))

    halves: dict[str, Any] = {"rows": 16, "columns": 16, "inner": 16}
    for split, name in ((UP_DOWN, "up_down"), (LEFT_RIGHT, "left_right")):
        found[f"v2c_halves_{name}"] = exact_exchange(Exchange("pop free", "push", split, **halves), chips=("a3",))
        found[f"both_{name}_matching_direction"] = exact_exchange(
            Exchange("pop free push", "push pop free", split, rows=16, columns=64, inner=64)
        )
        found[f"vc_{name}_single"] = exact_exchange(Exchange("pop free", "push", split))
        found[f"vc_{name}_wraparound"] = exact_exchange(
            Exchange("pop pop free free pop pop free free pop free", "push push push push push", split),
            overfreed_on_a5=True,
        )
        found[f"both_{name}_overlapping_pops"] = exact_exchange(
            Exchange(
                "pop pop push push free free", "push push pop pop free free", split, 16, 64, 64, slots=4, rounds=3
            ),
            overfreed_on_a5=True,
        )
    found["c2v_half"] = exact_exchange(Exchange("push", "pop free", UP_DOWN, **halves))
    found["c2v_both_halves"] = exact_exchange(Exchange("push", "pop free", UP_DOWN, **halves, slots=1, rounds=2))
    found["both_up_down_order"] = exact_exchange(
        Exchange(
            "push push pop free push", "pop free push pop free pop free", UP_DOWN, 16, 128, 128, slots=4, local_slots=4
        )
    )
    # What the document itself shows: 128 x 128, two slots, the slot as large as the tile.
    square: dict[str, Any] = {"rows": 128, "columns": 128, "inner": 128, "local_slots": 1}
    found["c2v_of_the_document"] = exact_exchange(Exchange("push", "pop free", **square, rounds=3))
    for element in ("f32", "f16"):
        found[f"v2c_of_the_document_{element}"] = exact_exchange(
            Exchange("pop free", "push", **square, element=element, rounds=3)
        )
    found["cv_nosplit_single"] = exact_exchange(Exchange("push", "pop free"))
    found["cv_nosplit_wraparound"] = exact_exchange(Exchange("push", "pop free", rounds=5))
    found["cv_nosplit_delayed_free"] = exact_exchange(
        Exchange("push push push push", "pop pop free free pop pop free free"), overfreed_on_a5=True
    )
    found["cv_nosplit_valid_rows"] = exact_exchange(
        Exchange(
            "push", "pop free", rows=128, columns=128, valid=(16, 128), input_element="i8", sum_element="i32",
            element="i32", local_slots=1,
        )
    )  # fmt: skip
    found["cv_nosplit_dynamic_valid"] = exact_exchange(Exchange("push", "pop free", dynamic=True, rounds=3))
    found["cv_nosplit_dynamic_part"] = exact_exchange(
        Exchange("push", "pop free", dynamic=True, valid=(11, 29), rounds=3, slots=1)
    )
    found["both_nosplit_c2v_then_v2c"] = exact_exchange(Exchange("push pop free", "pop free push"))
    found["both_nosplit_wrapped_ring"] = exact_exchange(
        Exchange("pop free push push push", "push pop free pop free pop free")
    )
    found["vc_nosplit_single"] = exact_exchange(Exchange("pop free", "push"))
    found["vc_nosplit_wraparound"] = exact_exchange(Exchange("pop free", "push", rounds=5))
    return found


def _products() -> dict[str, Case]:
    found: dict[str, Case] = {}
    # Number of tiles of 16 rows, and the type of the factors.
    sizes = {1: (1, "f16"), 2: (2, "f16"), 3: (1, "f32"), 4: (4, "f16")}
    for first, split, name in ((0, UP_DOWN, "up_down"), (4, LEFT_RIGHT, "left_right")):
        for number, (tiles, element) in sizes.items():
            exchange = Exchange("push", "pop free", split, rounds=tiles, input_element=element, addend="tile")
            case = product_case(exchange)
            # The older chips have one slot, the newer two.
            found[f"cv_{first + number}_{name}"] = replace(
                case, text=lambda chip, e=exchange: replace(e, slots=1 if chip == "a3" else 2).text(chip)
            )
    odd = Exchange("push", "pop free", UP_DOWN_ODD, 16, 128, slots=1, valid=(5, 128), addend="tile")
    found["cv_13_up_down_odd"] = product_case(odd, chips=("a3",))
    sideways = replace(odd, split=LEFT_RIGHT_ODD, valid=(5, 127))
    found["cv_14_left_right_odd"] = product_case(sideways, chips=("a3",))

    for number, (tiles, element) in {1: (1, "f16"), 2: (2, "f16"), 3: (1, "f32")}.items():
        exchange = Exchange("push", "pop free", rounds=tiles, input_element=element, addend="tile")
        found[f"cv_nosplit_{number}"] = product_case(exchange, whole=True)
    many = Exchange(
        "push", "pop free", columns=64, slots=8, local_slots=2, rounds=40, input_element="f16", addend="tile"
    )
    found["cv_nosplit_4_40_tiles"] = product_case(many, whole=True, repeat=80)

    fixpipe: list[tuple[str, str, int, str, str, float | str | None, float | None]] = [
        ("1_f32_f16", "f16", 64, "f32_f16", "f16", None, 1.0),
        ("2_f32_bf16", "f16", 64, "f32_bf16", "bf16", None, None),
        ("2_f32_bf16_plus_1", "f16", 64, "f32_bf16", "bf16", None, 1.0),
        ("3_deqf16", "i8", 128, "deqf16_scalar", "f16", 2.0, 1.0),
        ("4_vdeqf16", "i8", 128, "deqf16_vec", "f16", "scale", 1.0),
    ]
    for name, element, size, quant, result, scale, addend in fixpipe:
        epilogue = f"layout = nz2nd, quant = {quant}, relu = no_relu"
        exchange = Exchange(
            "push", "pop free", NO_SPLIT, size, size, size, input_element=element,
            sum_element="i32" if element == "i8" else "f32", element=result, epilogue=epilogue, scale=scale,
            addend=addend,
        )  # fmt: skip
        found[f"fixpipe_{name}"] = product_case(exchange, whole=True)
    return found


# ---------------------------------------------------------------------------------------------
# Programs of their own
# ---------------------------------------------------------------------------------------------


def uniform(**shapes: tuple[int, int]) -> Callable[[np.random.Generator, Chip], dict[str, Array]]:
    def arrays(random: np.random.Generator, chip: Chip) -> dict[str, Array]:
        return {name: random.uniform(-2, 2, shape).astype(np.float32) for name, shape in shapes.items()}

    return arrays


def uniform_halves(**shapes: tuple[int, int]) -> Callable[[np.random.Generator, Chip], dict[str, Array]]:
    def arrays(random: np.random.Generator, chip: Chip) -> dict[str, Array]:
        return {name: random.uniform(-1, 1, shape).astype(np.float16) for name, shape in shapes.items()}

    return arrays


def dequantized_case(split: int, quantized: str, inner_tiles: int, columns: int) -> Case:
    total = inner_tiles * 64

    def text(chip: Chip) -> str:
        return dequantized_product(chip, split=split, quantized=quantized, inner_tiles=inner_tiles, columns=columns)

    def arrays(random: np.random.Generator, chip: Chip) -> dict[str, Array]:
        scale = random.uniform(0.01, 0.1, (total, 1)).astype(np.float32)
        offset = random.uniform(-1, 1, (total, 1)).astype(np.float32)
        limits = np.iinfo(DTYPES[quantized])
        exact = random.uniform(-2, 2, (total, columns)) / scale + offset
        return {
            "a": random.uniform(-2, 2, (16, total)).astype(np.float32),
            "b": np.clip(np.round(exact), limits.min, limits.max).astype(DTYPES[quantized]),
            "offset": offset,
            "scale": scale,
        }

    def golden(given: Arrays) -> dict[str, Array]:
        numbers = (given["b"].astype(np.float64) - given["offset"]) * given["scale"]
        return {"out": (given["a"] @ numbers).astype(np.float32)}

    return Case(text, arrays, golden, FLOAT_TOLERANCE)


def _others() -> dict[str, Case]:
    found: dict[str, Case] = {}
    splits = {NO_SPLIT: "nosplit", UP_DOWN: "up_down", LEFT_RIGHT: "left_right"}
    for split, name in splits.items():
        for quantized in ("i8", "i16"):
            for tiles in (1, 2, 4):
                columns = 64 if split == LEFT_RIGHT and quantized == "i8" else 32
                found[f"vc_{name}_{quantized}_{tiles}"] = dequantized_case(split, quantized, tiles, columns)
    for size in (64, 128):
        found[f"vc_13_named_lane_{size}"] = Case(
            lambda chip, rows=size: sum_times_matrix(chip, rows=rows, inner=64, columns=64),
            uniform(x=(size, 64), y=(size, 64), z=(64, 64)),
            lambda given: {"out": (given["x"] + given["y"]).astype(np.float64) @ given["z"]},
            FLOAT_TOLERANCE,
        )

    for direction, name in ((V2C, "v2c"), (BOTH, "both")):
        for rows, columns in ((64, 32), (64, 64), (32, 16)):

            def text(chip: Chip, rows: int = rows, columns: int = columns, direction: int = direction) -> str:
                return operands_of_two_sizes(chip, rows=rows, inner=rows, columns=columns, direction=direction)

            found[f"mixed_{rows}x{rows}x{columns}_{name}"] = Case(
                text,
                uniform(a=(rows, rows), b=(rows, columns)),
                lambda given: {"out": given["a"].astype(np.float64) @ given["b"]},
                FLOAT_TOLERANCE,
            )

    for split in (UP_DOWN, LEFT_RIGHT):
        found[f"both_add_one_{splits[split]}"] = Case(
            lambda chip, split=split: there_and_back(
                chip, split=split, rows=32, inner=64, columns=64, tiles=8, slots=4, add_one=True
            ),
            uniform(a=(32, 64), d=(64, 512), f=(32, 512)),
            lambda given: {"out": (given["a"] + np.float32(1)).astype(np.float64) @ given["d"] + given["f"]},
            FLOAT_TOLERANCE,
        )
        for concurrent in (False, True):

            def both(chip: Chip, split: int = split, concurrent: bool = concurrent) -> str:
                return there_and_back(
                    chip, split=split, rows=128, inner=64, columns=128, slots=2, local_slots=1, subtract=True,
                    concurrent=concurrent,
                )  # fmt: skip

            def one_way(given: Arrays) -> dict[str, Array]:
                total = (given["a"] + given["b"]).astype(np.float64)
                return {"out": total @ given["d"] - given["f"]}

            def crossing(given: Arrays) -> dict[str, Array]:
                own, total = given["a"].astype(np.float64), (given["a"] + given["b"]).astype(np.float64)
                return {"out": own @ given["d"] - given["f"], "cube_out": total @ given["d"]}

            found[f"dir_both_{'concurrent_' if concurrent else ''}{splits[split]}"] = Case(
                both,
                uniform(a=(128, 64), b=(128, 64), d=(64, 128), f=(128, 128)),
                crossing if concurrent else one_way,
                FLOAT_TOLERANCE,
            )

    found["subtile"] = Case(
        lambda chip: slots_written_in_parts(chip, rows=128, inner=128, columns=128, repeat=4, band=16),
        uniform_halves(a=(128, 128), b=(128, 128)),
        lambda given: {"out": np.tile(given["a"].astype(np.float64) @ given["b"].astype(np.float64), (1, 4)) + 3.14},
        FLOAT_TOLERANCE,
    )  # fmt: skip
    found["slot_of_the_document"] = Case(
        lambda chip: slots_written_in_parts(chip, rows=128, inner=128, columns=128, repeat=1, band=128, split=NO_SPLIT),
        uniform_halves(a=(128, 128), b=(128, 128)),
        lambda given: {"out": given["a"].astype(np.float64) @ given["b"].astype(np.float64) + 3.14},
        FLOAT_TOLERANCE,
    )
    for dynamic in (False, True):
        found[f"strips_{'dynamic' if dynamic else 'static'}"] = Case(
            lambda chip, dynamic=dynamic: product_in_strips(
                chip, rows=32, inner=32, columns=128, strip=8, dynamic=dynamic
            ),
            uniform(a=(32, 32), b=(32, 128)),
            lambda given: {"out": given["a"].astype(np.float64) @ given["b"]},
            FLOAT_TOLERANCE,
        )
    return found


CASES: Mapping[str, Case] = {**_exchanges(), **_products(), **_others()}
