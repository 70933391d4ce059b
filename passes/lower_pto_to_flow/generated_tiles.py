"""Tiles made of numbers alone: triangles of ones, and random numbers."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import AnyFloat, f32, i64

from ...dialects.pto.instructions import InstructionOp
from .instruction_context import Instructions, Scratch, given, number_of, shape_of
from .tile_operations import ui32, ui64
from .views import Number, View

_WORDS = 4
"""Words of a counter, and of the numbers made of it."""

_WORD_BITS = 32

_WORD = (1 << _WORD_BITS) - 1

_FACTORS = (0xD2511F53, 0xCD9E8D57)
"""What the first and the third word of a counter are multiplied by: Philox 4x32 (Salmon et al., 2011)."""

_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
"""What is added to the words of the key after each round."""

_LANES = 64
"""Counters that the chip works on at a time."""

_ROUNDS = 10
"""Rounds of encryption where none are given."""


def triangle(kernel: Instructions, op: InstructionOp) -> None:
    """Write ones on one side of a diagonal, itself included, and zeros on the other."""
    emitter, target, room = kernel.emitter, kernel.view(op, "dst"), shape_of(op, "dst")
    rows, columns = target.extents
    is_upper = number_of(op, "upperOrLower", 0) == 1
    scratch = Scratch(kernel.tiles)
    diagonal = scratch.view(i64, (rows, 1), (room[0], 1))
    line = scratch.view(i64, (1, columns), (1, room[1]))
    places = scratch.view(i64, (rows, columns), room)
    inside = scratch.bits((rows, columns), room)
    one = emitter.constant(1)
    emitter.apply("count", diagonal, [emitter.value(kernel.handles.number(given(op, "diagonal"))), one])
    emitter.apply("count", line, [emitter.constant(0), one])
    emitter.apply("subtract", places, [line, diagonal])
    emitter.apply("compare_at_least" if is_upper else "compare_at_most", inside, [places, emitter.constant(0)])
    ones = emitter.constant(1.0, f32) if isinstance(target.element, AnyFloat) else one
    emitter.apply("select", target, [inside, ones, emitter.zero(target.element)])


def random(kernel: Instructions, op: InstructionOp) -> None:
    """Write the words of encrypted counters, those of one counter side by side.

    Lanes of 64 counters fill a row, and the next row counts on from the last lane, as the header for a5 does; where
    fewer than 256 elements are left in a row, by one more than the remainder of the last valid column by 64.
    """
    emitter, target, room = kernel.emitter, kernel.view(op, "dst"), shape_of(op, "dst")
    rounds = number_of(op, "rounds", _ROUNDS)
    rows, columns = target.extents
    blocks = emitter.divide(emitter.add(columns, _WORDS - 1), _WORDS)
    blocks_room = (room[0], -(-room[1] // _WORDS))
    scratch = Scratch(kernel.tiles)

    def area() -> View:
        return scratch.view(ui64, (rows, blocks), blocks_room)

    words = [area() for _ in range(_WORDS)]
    _count_blocks(kernel, op, scratch, words, columns)
    first, second, low = area(), area(), emitter.constant(_WORD)
    keys = [kernel.handles.number(given(op, name)) for name in ("key0", "key1")]
    for number in range(rounds):
        emitter.apply("multiply", first, [words[0], emitter.constant(_FACTORS[0])])
        emitter.apply("multiply", second, [words[2], emitter.constant(_FACTORS[1])])
        for product, mixed, key, step in zip((second, first), (1, 3), keys, _KEY_STEPS, strict=True):
            # The upper half of the other product, the word that stays, and the key of this round.
            into = words[mixed - 1]
            emitter.apply("shift_right", into, [product, emitter.constant(_WORD_BITS)])
            emitter.apply("bit_xor", into, [into, words[mixed]])
            emitter.apply("bit_xor", into, [into, emitter.value(emitter.add(key, number * step))])
            emitter.apply("bit_and", into, [into, low])
        emitter.apply("bit_and", words[1], [second, low])
        emitter.apply("bit_and", words[3], [first, low])
    line = (blocks_room[0], _WORDS * blocks_room[1])
    made = scratch.view(ui32, (rows, blocks), line)
    for place, word in enumerate(words):
        emitter.apply("copy", replace(made, address=emitter.add(made.address, 4 * place), strides=(line[1], _WORDS)),
                      [word])  # fmt: skip
    emitter.apply("copy", replace(target, element=ui32), [replace(made, extents=(rows, columns))])


def _count_blocks(
    kernel: Instructions, op: InstructionOp, scratch: Scratch, words: list[View], columns: Number
) -> None:
    """Write the counter of each block of four elements: 128 bits, the lowest word first."""
    emitter, shape = kernel.emitter, words[0].extents
    last = emitter.add(columns, -1)
    lanes_before = emitter.multiply(emitter.divide(last, _WORDS * _LANES), _LANES)
    of_a_row = emitter.add(lanes_before, emitter.add(emitter.remainder(last, _LANES), 1))
    room = shape_of(op, "dst")
    starts = scratch.view(ui64, (shape[0], 1), (room[0], 1))
    line = scratch.view(ui64, (1, shape[1]), (1, room[1]))
    carried = scratch.view(ui64, shape, room)
    emitter.apply("count", starts, [emitter.constant(0), emitter.value(of_a_row)])
    emitter.apply("count", line, [emitter.constant(0), emitter.constant(1)])
    emitter.apply("add", carried, [line, starts])
    for place, word in enumerate(words):
        emitter.apply("fill", word, [emitter.value(kernel.handles.number(given(op, f"counter{place}")))])
        emitter.apply("bit_and", word, [word, emitter.constant(_WORD)])
        emitter.apply("add", word, [word, carried])
        emitter.apply("shift_right", carried, [word, emitter.constant(_WORD_BITS)])
        emitter.apply("bit_and", word, [word, emitter.constant(_WORD)])
