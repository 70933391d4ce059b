"""The instructions of the tables: what each does is in docs/tables.md.

An instruction is four halfwords: an operation and three operands. The operations below `FIRST_SCALAR` are listed in
`CONTROL`; those from there on compute one scalar from one to three others and are listed in `SCALARS`. Both lists are
part of the format: the file says by `VERSION` which ones it was made with.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from ...operations import cb16, integers
from ...operations.costs import SCALAR_CLASSES as COSTS
from ...operations.dsd_table import OPERATIONS
from ...operations.tile_functions import FUNCTIONS
from .format import DROPS_DATA

KINDS = ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64")
"""Kinds of scalars, by number; f64 is one of cores of chips alone.

A register is 64 bits wide. It holds an integer sign-extended, a truth value as 0 or 1, and a float as its bits with
zeros above them.
"""

COST = {name: number for number, name in enumerate(COSTS)}

KIND = {kind: number for number, kind in enumerate(KINDS)}

INTEGERS = KINDS[:6]
FLOATS = KINDS[6:]
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}

CONTROL = (
    "invalid",
    # Flow of control. Targets of jumps are b | c << 16, from the first instruction of the body.
    "tick",  # charge the costs of row a of `costs`
    "jump",
    "branch_false",  # jump if register a is 0
    "branch_true",
    "step",  # count a step: an iteration of a loop
    "for_test",  # jump unless register a < register a + 1, both signed; else count a step
    "call",  # the use in slot a, arguments from register b on, results into register c on
    "return",  # results are in register a on
    "end",  # of a task
    # Registers
    "move",  # a = b
    "select",  # a = c if register b is not 0, else a
    "column",  # a = value of this PE in the column of slot b
    "coordinate",  # a = column (b = 0) or row (b = 1) of this PE in the grid
    "check_divisor",  # a finding if register a is 0
    # Memory. Registers b, b + 1, ...: the pointer if the access of slot c has one, then its indices.
    "load",  # a = element
    "store",  # element = a
    # Descriptors: a and the source of `descriptor` are operands as those of operations are.
    "descriptor",  # frame descriptor a = descriptor operand b
    "set_address",  # of a, to the byte address in register b; a finding if it is odd
    "set_offset",  # move a by register b elements
    "set_stride",  # stride c of a = register b, signed
    "set_extent",  # extent c of a = register b, unsigned 16 bits
    "advance",  # move a by register b words
    "resize",  # extent of a, of one dimension or of a queue, = register b
    "restride",  # stride of a, of one dimension, = register b
    "rebase",  # a to the byte address in register b, as a walk over all of memory
    "mark",  # wavelets of a carry register b in their high half
    "load_register",  # descriptor operand a into the data structure register of slot c
    "read_register",  # frame descriptor a = what the data structure register of slot c holds
    # Operations and tasks
    "apply",  # the operation of slot a; its result, if b is not NO_REGISTER, into register b
    "activate",  # the task of slot a
    "block",
    "unblock",
    "block_microthread",  # of the number in register a
    "unblock_microthread",
    "set_fifo_length",  # of the FIFO of slot b, to read (c = 0) or write (c = 1), to register a
    # What a program says and asks of itself
    "assert",  # that register a is not 0, else the message of slot c with register b
    "print",  # by the format of slot a, arguments in register b on
    "directive",  # of slot a, root in register b, count in register c
    "timestamp",  # words of the clock into registers a, a + 1, a + 2
    "set_clock",  # to 0, if it has not been started (c = 0), or always (c = 1)
    "set_exception_mask",  # to register a
    "check_exceptions",  # of the operation that slot a describes
    "fail",  # with the message of slot c: what cannot be run has been reached
    # Cores of chips
    "tile",  # frame descriptor a = the tile of slot c, its numbers in register b on
    "tile_apply",  # the function of slot a
    "tile_print",  # tile a under the label of slot b
    "tile_get",  # a = the first element of tile b
    "acquire",  # a = number of the next entry of the producer's channel of slot b
    "commit",  # an entry of the producer's channel of slot a
    "wait",  # a = number of the next entry of the consumer's channel of slot b
    "release",  # an entry of the consumer's channel of slot a
    "drain",  # wait for the credits still to come of the producer's channel of slot a
    "rest",  # until other cores have done something, unless register a is not 0; b is compared with c
)
"""The other operations, by number. `a`, `b` and `c` are the operands."""

OF_CHIPS = CONTROL[CONTROL.index("tile") :]
"""Those that cores of chips alone have."""

SHARED = ("jump", "branch_false", "branch_true", "step", "for_test", "end", "move", "select", "coordinate",
          "check_divisor", "descriptor", "assert", "fail")  # fmt: skip
"""Those that PEs and cores of chips have. The others are of PEs alone."""

CONTROL_NUMBER = {name: number for number, name in enumerate(CONTROL)}

OPERANDS: dict[str, str] = {
    "invalid": "...", "tick": "t..", "jump": ".j.", "branch_false": "rj.", "branch_true": "rj.", "step": "...",
    "for_test": "rj.", "call": "srw", "return": "r..", "end": "...", "move": "wr.", "select": "mrr", "column": "ws.",
    "coordinate": "wx.", "check_divisor": "r..", "load": "wrs", "store": "rrs", "descriptor": "Dd.",
    "set_address": "Mr.", "set_offset": "Mr.", "set_stride": "Mri", "set_extent": "Mri", "advance": "Mr.",
    "resize": "Mr.", "restride": "Mr.", "rebase": "Mr.", "mark": "Mr.", "load_register": "d.s", "read_register": "D.s",
    "apply": "sw.", "activate": "s..", "block": "s..", "unblock": "s..",
    "block_microthread": "r..", "unblock_microthread": "r..", "set_fifo_length": "rsx", "assert": "rrs",
    "print": "sr.", "directive": "srr", "timestamp": "w..", "set_clock": "..x",
    "set_exception_mask": "r..", "check_exceptions": "s..",
    "fail": "..s", "tile": "Drs", "tile_apply": "s..", "tile_print": "ds.", "tile_get": "wd.", "acquire": "ws.",
    "commit": "s..", "wait": "ws.", "release": "s..", "drain": "s..",
    "rest": "rrr",
}  # fmt: skip
"""Roles of a, b and c of each: a register that is read (r), written (w) or both (m), with those behind it where there
are several; a descriptor that is read (d), written (D) or both (M); a slot (s); a row of `costs` (t); 0 or 1 (x); a
number of a dimension (i); in b and c the target of a jump (j); or nothing."""

FIRST_SCALAR = 256
"""Number of the first operation of `SCALARS`."""

NO_REGISTER = 0xFFFF
"""In place of a register: none."""

STATIC_DESCRIPTOR, FRAME_DESCRIPTOR = 0x8000, 0xC000
"""Added to the number of a descriptor that is an operand: of the use, or of the frame. Without either: a register."""

SLOTS = (
    "use", "column", "access", "register_load", "register_read", "operation", "task", "fifo", "message", "print",
    "directive", "trap", "tile", "tile_apply", "tile_print", "producer", "consumer",
)  # fmt: skip
"""Kinds of slots, by number."""

_SECTIONS = {"access": "accesses", "tile_apply": "tile_applies", "producer": "channels", "consumer": "channels"}


def slot_section(kind: str) -> str:
    """Return the section that the row of a slot is in: that of its name in the plural, mostly."""
    return _SECTIONS.get(kind, f"{kind}s")


SLOT = {name: number for number, name in enumerate(SLOTS)}

DSD_ROWS = tuple(OPERATIONS)
"""Names of DSD operations, by number."""


TILE_FUNCTIONS = tuple(FUNCTIONS)
"""Names of functions on tiles, by number."""

ELEMENTS = (
    "f32",
    "f16",
    "bf16",
    "f8E4M3FN",
    "f8E5M2",
    "i64",
    "i32",
    "i16",
    "i8",
    "u64",
    "u32",
    "u16",
    "u8",
    "f64",
    "i1",
    "index",
)
"""Types of elements of tiles, by number, and behind them those that only scalars have."""

ELEMENT = {name: number for number, name in enumerate(ELEMENTS)}

TILE_ELEMENTS = ELEMENT["f64"]
"""How many of `ELEMENTS` are elements of tiles."""

ROUNDINGS = (None, "rint", "floor", "ceil", "trunc", "round", "odd")
"""How copies round, by number."""

ROLES = ("written", "read", "copied")
"""What a tile is to the entry of a channel it belongs to, by number."""


def operation_name(record: Any) -> str:
    """Return the name of the builtin of CSL that a row of the operations stands for."""
    return "dfilt" if record["flags"] & DROPS_DATA else DSD_ROWS[int(record["function"])]


FORMATS = (None, "bf16", "cb16")
"""Formats of 16-bit floats of a DSD operation, by number."""

REGISTER_FILES = ("dest", "src0", "src1")

PRIORITIES = (None, "low", "medium", "high")
"""Priorities of operations, by number."""

FIFO_ACTIONS = ("test_or_suspend", "suspend", "terminate", "fault")


class Scalar(NamedTuple):
    """An operation that computes a scalar: `name` and `predicate` as in IR, `kinds` of its operands and its result.

    Operands are in registers b and c; a third one is in a, where the result goes.
    """

    mnemonic: str
    name: str
    kinds: tuple[str, ...]
    result: str
    predicate: int = 0


CMPF = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
"""Predicates of `arith.cmpf`, by number."""

_FLOAT_UNARY = (
    "math.absf", "math.sqrt", "math.cbrt", "math.rsqrt", "math.exp", "math.exp2", "math.expm1", "math.log",
    "math.log2", "math.log10", "math.log1p", "math.sin", "math.cos", "math.tan", "math.asin", "math.acos", "math.atan",
    "math.sinh", "math.cosh", "math.tanh", "math.asinh", "math.acosh", "math.atanh", "math.erf", "math.floor",
    "math.ceil", "math.trunc", "math.round", "math.roundeven", "arith.negf",
)  # fmt: skip
_FLOAT_BINARY = (
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
    "arith.minnumf", "math.atan2", "math.powf", "math.copysign", "flow.remf",
)  # fmt: skip


def _scalars() -> Iterator[Scalar]:
    for kind in INTEGERS:
        for name, row in integers.OPERATIONS.items():
            yield Scalar(_short(name, kind), name, (kind,) * len(row.reads), kind)
        for name in integers.COUNTS if kind != "i1" else ():
            yield Scalar(_short(name, kind), name, (kind,), kind)
        for number, predicate in enumerate(integers.PREDICATES):
            yield Scalar(f"cmpi_{predicate.name}_{kind}", "arith.cmpi", (kind, kind), "i1", number)
    for source in INTEGERS:
        for result in INTEGERS:
            for name in _integer_conversions(source, result):
                yield Scalar(_short(name, source, result), name, (source,), result)
    for kind in FLOATS:
        for name in _FLOAT_UNARY:
            yield Scalar(_short(name, kind), name, (kind,), kind)
        for name in _FLOAT_BINARY:
            yield Scalar(_short(name, kind), name, (kind, kind), kind)
        yield Scalar(_short("math.fma", kind), "math.fma", (kind, kind, kind), kind)
        for number, predicate in enumerate(CMPF):
            yield Scalar(f"cmpf_{predicate}_{kind}", "arith.cmpf", (kind, kind), "i1", number)
        for integer in INTEGERS:
            for name in ("arith.fptosi", "arith.fptoui"):
                yield Scalar(_short(name, kind, integer), name, (kind,), integer)
            for name in ("arith.sitofp", "arith.uitofp"):
                yield Scalar(_short(name, integer, kind), name, (integer,), kind)
    for source in FLOATS:
        for result in FLOATS:
            if BITS[source] < BITS[result]:
                yield Scalar(_short("arith.extf", source, result), "arith.extf", (source,), result)
            elif BITS[source] > BITS[result]:
                yield Scalar(_short("arith.truncf", source, result), "arith.truncf", (source,), result)
    for source in KINDS:
        for result in KINDS:
            floats = source in FLOATS or result in FLOATS
            if floats and source != result and BITS[source] == BITS[result] and "index" not in (source, result):
                yield Scalar(_short("arith.bitcast", source, result), "arith.bitcast", (source,), result)
    for name, signature in cb16.FUNCTIONS.items():
        for integer in INTEGERS if "i" in signature else ("i16",):
            letters = {"c": "i16", "f": "f32", "b": "i1", "i": integer}
            *kinds, result = [letters[letter] for letter in signature]
            suffix = f"_{integer}" if "i" in signature else ""
            yield Scalar(f"cb16_{name}{suffix}", f"cb16.{name}", tuple(kinds), result)


def _integer_conversions(source: str, result: str) -> Iterator[str]:
    if "index" in (source, result):
        if source != result:
            yield "arith.index_cast"
    elif BITS[source] < BITS[result]:
        yield from ("arith.extsi", "arith.extui")
    elif BITS[source] > BITS[result]:
        yield "arith.trunci"


def _short(name: str, *kinds: str) -> str:
    return "_".join([name.partition(".")[2], *kinds])


SCALARS = tuple(_scalars())
"""The operations on scalars; the number of each is `FIRST_SCALAR` and its place."""

SCALAR_NUMBER = {
    (row.name, row.kinds, row.result, row.predicate): FIRST_SCALAR + place for place, row in enumerate(SCALARS)
}


def _version() -> int:
    """Return a number that changes with what the numbers in a file mean."""
    text = repr((KINDS, CONTROL, SCALARS, COSTS, SLOTS, DSD_ROWS, FORMATS, REGISTER_FILES, PRIORITIES, FIFO_ACTIONS,
                 TILE_FUNCTIONS, ELEMENTS, ROUNDINGS, ROLES))  # fmt: skip
    return int.from_bytes(sha256(text.encode()).digest()[:4], "little")


VERSION = _version()
