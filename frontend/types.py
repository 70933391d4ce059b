"""The types of CSL. Equal types are equal objects; a struct or enum type carries the place it was written at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from ..diagnostics.records import record
from ..operations import integers
from ..targets.wavelets import EXTENTS


class Type:
    """A type; `str()` is how CSL writes it."""

    __slots__ = ()


@record
class Simple(Type):
    """A type that is only a name. Values of a `comptime_only` type never reach run time."""

    name: str
    comptime_only: bool = False

    def __str__(self) -> str:
        return self.name


@record
class Int(Type):
    bits: int
    signed: bool

    def __str__(self) -> str:
        return f"{'i' if self.signed else 'u'}{self.bits}"

    @cached_property
    def lowest(self) -> int:
        return integers.limits(self.bits, is_signed=self.signed)[0] if self.bits else 0

    @cached_property
    def highest(self) -> int:
        return integers.limits(self.bits, is_signed=self.signed)[1] if self.bits else 0

    @cached_property
    def carrier(self) -> int:
        """Bits of the integer that holds one at run time: those of the machine, or a multiple of the widest."""
        return next((bits for bits in (8, 16, 32) if bits >= self.bits), -(-self.bits // 64) * 64)

    @property
    def is_narrow(self) -> bool:
        """True if the integer that holds one at run time has bits to spare."""
        return self.bits != self.carrier

    def holds(self, value: int) -> bool:
        return self.lowest <= value <= self.highest

    def wrap(self, value: int) -> int:
        """Return the value of this type with the same low bits."""
        if not self.bits:
            return 0
        return integers.signed(value, self.bits) if self.signed else integers.unsigned(value, self.bits)


@record
class Float(Type):
    name: str
    bits: int

    def __str__(self) -> str:
        return self.name


@record
class Identifier(Type):
    """A number of the machine with a type of its own: a color, a queue, a task, a direction."""

    name: str

    def __str__(self) -> str:
        return self.name


@record
class Array(Type):
    """`[dims]element`; the element is not an array."""

    dims: tuple[int, ...]
    element: Type

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.dims))}]{self.element}"

    @cached_property
    def count(self) -> int:
        """Number of elements."""
        result = 1
        for extent in self.dims:
            result *= extent
        return result


@record
class Pointer(Type):
    """`*T`, or `[*]T` with `many`."""

    target: Type
    const: bool = False
    many: bool = False

    def __str__(self) -> str:
        return f"{'[*]' if self.many else '*'}{'const ' if self.const else ''}{self.target}"


@record
class Function(Type):
    """`fn(...) T` or `task(...) void`."""

    parameters: tuple[Type, ...]
    result: Type
    is_task: bool = False

    def __str__(self) -> str:
        return f"{'task' if self.is_task else 'fn'}({', '.join(map(str, self.parameters))}) {self.result}"


@record
class Record(Type):
    """What structs and unions have in common: `names` is None for a tuple, `origin` None for an anonymous one."""

    names: tuple[str, ...] | None
    types: tuple[Type, ...]
    origin: tuple[str, int] | None = None
    layout: str = ""
    """`extern`, `packed` or nothing. Without a word the layout in memory is that of `extern`."""

    def _written(self, keyword: str) -> str:
        if self.names is None:
            return f".{{{', '.join(map(str, self.types))}}}"
        members = ", ".join(f"{name}: {type}" for name, type in zip(self.names, self.types, strict=True))
        return f"{self.layout}{' ' if self.layout else ''}{keyword} {{ {members} }}"

    def index(self, name: str) -> int | None:
        """Return the position of a field; None if there is none of that name."""
        return self._positions.get(name)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names or ())}


@record
class Struct(Record):
    """A struct or tuple type."""

    def __str__(self) -> str:
        return self._written("struct")


@record
class Union(Record):
    """An untagged union type, whose fields are called variants."""

    def __str__(self) -> str:
        return self._written("union")


@record
class Enum(Type):
    """`enum(T) { ... }`; two are the same if they have the same members and were written at the same place."""

    underlying: Int
    members: tuple[tuple[str, int], ...]
    origin: tuple[str, int]

    def __str__(self) -> str:
        return f"enum({self.underlying}) {{ {', '.join(name for name, _ in self.members)} }}"

    @cached_property
    def values(self) -> dict[str, int]:
        return dict(self.members)

    @cached_property
    def names(self) -> dict[int, str]:
        return {value: name for name, value in self.members}


@record
class Descriptor(Type):
    """A DSD type, or `fifo` for what @allocate_fifo makes."""

    name: str

    def __str__(self) -> str:
        return self.name


@record
class Register(Type):
    """The type of a register: `dsr_dest`, `dsr_src0`, `dsr_src1`, `dsr_fifo_dest`, `dsr_fifo_src1`, `xdsr`, `sr`."""

    name: str

    def __str__(self) -> str:
        return self.name


@record
class Range(Type):
    """What @range makes: only ever the iterable of a loop."""

    element: Type = field()

    def __str__(self) -> str:
        return f"range of {self.element}"


@record
class Cast(Type):
    """What @as wants of its operand: a value of any type that converts to `target`.

    With `numbers_only` a value of a type of its own is wanted as it is: what is computed from it is converted.
    """

    target: Type
    numbers_only: bool = False

    def __str__(self) -> str:
        return str(self.target)


I8, I16, I32, I64 = (Int(bits, True) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (Int(bits, False) for bits in (8, 16, 32, 64))
F16, BF16, CB16, F32 = Float("f16", 16), Float("bf16", 16), Float("cb16", 16), Float("f32", 32)
FP16_FORMATS = {str(type): type for type in (F16, BF16, CB16)}
"""The types of 16-bit floats, one of which exists at run time."""
DSD_ELEMENTS = (I16, I32, U16, U32, *FP16_FORMATS.values(), F32)
"""The types of elements that operations on DSDs compute with."""
BOOL = Simple("bool")
VOID = Simple("void")
COMPTIME_INT = Simple("comptime_int", True)
COMPTIME_FLOAT = Simple("comptime_float", True)
COMPTIME_STRING = Simple("comptime_string", True)
COMPTIME_STRUCT = Simple("comptime_struct", True)
TYPE = Simple("type", True)
MODULE = Simple("imported_module", True)
ANYOPAQUE = Simple("anyopaque", True)
"""What a pointer of unknown type points to."""
UNDEFINED = Simple("noreturn", True)
POISON = Simple("a declaration with an error", True)
"""Of what has no value because of an error (`recovery`)."""
"""The type of an expression control never comes out of."""

COLOR = Identifier("color")
DIRECTION = Identifier("direction")
INPUT_QUEUE, OUTPUT_QUEUE = Identifier("input_queue"), Identifier("output_queue")
LOCAL_TASK_ID, DATA_TASK_ID, CONTROL_TASK_ID = (Identifier(f"{kind}_task_id") for kind in ("local", "data", "control"))
UT_ID = Identifier("ut_id")

MEM1D, MEM4D, CIRCBUF = Descriptor("mem1d_dsd"), Descriptor("mem4d_dsd"), Descriptor("circbuf_dsd")
FABIN, FABOUT, FIFO = Descriptor("fabin_dsd"), Descriptor("fabout_dsd"), Descriptor("fifo_dsd")
DSR_DEST, DSR_SRC0, DSR_SRC1 = Register("dsr_dest"), Register("dsr_src0"), Register("dsr_src1")
DSR_FIFO_DEST, DSR_FIFO_SRC1 = Register("dsr_fifo_dest"), Register("dsr_fifo_src1")
XDSR, SR = Register("xdsr"), Register("sr")

DIRECTIONS = ("NORTH", "SOUTH", "EAST", "WEST", "RAMP")
"""Directions by their number."""

MAX_INTEGER_BITS = 16_777_215
"""Bits of the widest integer of fixed width (Types, Arbitrary-Width Integer Types)."""

MAX_COMPTIME_BITS = 1 << 13
"""Bits of a `comptime_int`, which has no limit of its own; Python writes numbers of this size."""

UNIVERSE: dict[str, Type] = {
    str(type): type
    for type in (
        I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, CB16, F32, BOOL, VOID, COMPTIME_INT, COMPTIME_FLOAT,
        COMPTIME_STRING, COMPTIME_STRUCT, TYPE, MODULE, ANYOPAQUE, COLOR, DIRECTION, INPUT_QUEUE, OUTPUT_QUEUE,
        LOCAL_TASK_ID, DATA_TASK_ID, CONTROL_TASK_ID, UT_ID, MEM1D, MEM4D, CIRCBUF, FABIN, FABOUT, FIFO, DSR_DEST,
        DSR_SRC0, DSR_SRC1, DSR_FIFO_DEST, DSR_FIFO_SRC1, XDSR, SR,
    )
}  # fmt: skip
"""The types a program names by an identifier."""


def is_comptime_only(type: Type) -> bool:
    """Return True if values of the type exist at compile time only."""
    if isinstance(type, Simple):
        return type.comptime_only
    if isinstance(type, Array):
        return is_comptime_only(type.element)
    if isinstance(type, Record):
        return any(map(is_comptime_only, type.types))
    return isinstance(type, Function | Range)


def is_numeric(type: Type) -> bool:
    return isinstance(type, Int | Float) or type is COMPTIME_INT or type is COMPTIME_FLOAT


def is_integer(type: Type) -> bool:
    return isinstance(type, Int) or type is COMPTIME_INT


def is_float(type: Type) -> bool:
    return isinstance(type, Float) or type is COMPTIME_FLOAT


def size(type: Type) -> int:
    """Return how many bytes a value takes in memory, a multiple of its alignment."""
    match type:
        case Int(bits=bits):
            return integer_size(bits)
        case Float(bits=bits):
            return bits // 8
        case Enum():
            return size(type.underlying)
        case Array():
            return type.count * size(type.element)
        case Record(layout="packed"):
            return integer_size(bit_width(type) or 0)
        case Record():
            return layout(type)[1]
        case Descriptor():
            return 2 * DESCRIPTOR_WORDS[type.name]
        case _:
            return 1 if type is BOOL else 2


def integer_size(bits: int) -> int:
    """Return the bytes in memory of an integer of so many bits: one that is wider than 64 takes words of 32 bits."""
    return next((whole // 8 for whole in (8, 16, 32, 64) if bits <= whole), (bits + 31) // 32 * 4)


DESCRIPTOR_WORDS = {"mem1d_dsd": 4, "mem4d_dsd": 10, "circbuf_dsd": 4, "fabin_dsd": 2, "fabout_dsd": 2, "fifo_dsd": 1}
"""Words of a descriptor kept in memory: the fields that may change at run time (frontend/descriptors.py)."""


def alignment(type: Type) -> int:
    """Return the alignment of a value in bytes; 64-bit scalars are aligned as 32-bit ones."""
    match type:
        case Array():
            return alignment(type.element)
        case Record(layout="packed"):
            return min(4, size(type))
        case Record():
            return max(map(alignment, type.types), default=1)
        case Descriptor():
            return 2
        case _:
            return min(4, size(type))


def bit_width(type: Type) -> int | None:
    """Return the bits of a value in a packed struct or union; None if they cannot contain it."""
    match type:
        case Int(bits=bits) | Float(bits=bits):
            return bits
        case Enum():
            return type.underlying.bits
        case Pointer():
            return 16
        case Record(layout="packed"):
            inner = [bit_width(member) or 0 for member in type.types]
            return max(inner, default=0) if isinstance(type, Union) else sum(inner)
        case _:
            return 1 if type is BOOL else None


def layout(type: Record) -> tuple[list[int], int]:
    """Return the byte offset of each field of a struct or union that is not packed, and its size in bytes."""
    step = alignment(type)
    if isinstance(type, Union):
        widest = max(map(size, type.types), default=1)
        return [0] * len(type.types), -(-widest // step) * step
    offsets: list[int] = []
    position = 0
    for member in type.types:
        position = -(-position // alignment(member)) * alignment(member)
        offsets.append(position)
        position += size(member)
    return offsets, -(-position // step) * step


def scalars(type: Type) -> Iterator[Type]:
    """Yield the types of the parts of a value, each once for each place in the type; not what pointers point to."""
    if isinstance(type, Array):
        yield from scalars(type.element)
    elif isinstance(type, Record):
        for member in type.types:
            yield from scalars(member)
    else:
        yield type


def offsets(type: Record) -> list[int]:
    """Return the bit each field begins at."""
    if type.layout != "packed":
        return [8 * byte for byte in layout(type)[0]]
    if isinstance(type, Union):
        return [0] * len(type.types)
    widths = [bit_width(member) or 0 for member in type.types]
    return [sum(widths[:position]) for position in range(len(widths))]


def words_used(type: Record) -> int:
    """Return the number of 16-bit words that hold something of a value, without those that pad a packed one."""
    bits = bit_width(type) or 0 if type.layout == "packed" else 8 * size(type)
    return max(1, (bits + 15) // 16)


def dsd_words(type: Type) -> int | None:
    """Return the words of an element that DSDs can walk over (16 or 32 bits); None for other types."""
    match type:
        case Record(layout="packed"):
            return {2: 1, 4: 2}.get(size(type))
        case Record():
            return None if alignment(type) == 1 else 1
        case Int() | Float() | Enum():
            return {2: 1, 4: 2}.get(size(type))
        case _:
            return None if type is BOOL else 1


MAX_POINTER_EXTENT = len(EXTENTS)
"""The extent given to what a many-pointer points to: memory has no more elements."""
