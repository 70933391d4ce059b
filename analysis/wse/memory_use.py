"""Elements of arrays that descriptors and DSD operations touch, where they are known at compile time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, product

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from ...diagnostics.records import record
from ...dialects import dsd, dsr, wse
from ...targets.wavelets import ENDLESS_EXTENT

MAX_ELEMENTS = 1 << 16
"""Elements that a walk of several dimensions is followed for."""


@record
class Access:
    """Elements of a buffer that are read or written; of `elements` None it is one of them, not known which."""

    buffer: str
    size: int
    """Elements of the whole buffer."""
    elements: range | frozenset[int] | None
    writes: bool

    def common(self, other: Access) -> int | None:
        """Return the first element that both touch for certain, None if there is none."""
        if self.buffer != other.buffer or not (self.writes or other.writes):
            return None
        if self.elements is None or other.elements is None:
            known = other.elements if self.elements is None else self.elements
            return 0 if known is not None and len(set(known)) == self.size else None
        if isinstance(self.elements, range) and isinstance(other.elements, range):
            if self.elements.step == other.elements.step == 1:
                first = max(self.elements.start, other.elements.start)
                return first if first < min(self.elements.stop, other.elements.stop) else None
        return min(set(self.elements) & set(other.elements), default=None)


def array_of(value: SSAValue) -> tuple[str, MemRefType] | None:
    """Return the buffer that an array is, and its type, None if it is not known at compile time."""
    owner = value.owner
    if not isinstance(owner, wse.GetBufferOp):
        return None
    type = owner.result.type
    assert isa(type, MemRefType)
    return owner.buffer.string_value(), type


def access_of_element(value: SSAValue, indices: Sequence[SSAValue], *, writes: bool) -> Access | None:
    """Return what a load or store of scalar code touches."""
    array = array_of(value)
    if array is None:
        return None
    buffer, type = array
    shape = type.get_shape()
    element: int | None = 0
    for extent, index in zip(shape, indices, strict=True):
        number = dsd.constant_value(index)
        element = None if element is None or number is None else element * extent + number
    size = type.element_count()
    if element is not None and not 0 <= element < size:
        return None
    return Access(buffer, size, None if element is None else range(element, element + 1), writes)


@record
class Walk:
    """The elements of a memory descriptor: the first `count` of them are asked for."""

    buffer: str
    size: int
    length: int | None
    """None of a circular buffer, which goes on for ever."""
    elements: Callable[[int], range | frozenset[int]]


def walk_of(descriptor: SSAValue) -> Walk | None:
    """Return the elements of a memory descriptor, None if they are not known at compile time."""
    changes: list[dsd.DerivedDescriptorOp] = []
    owner = descriptor.owner
    while isinstance(owner, dsd.DerivedDescriptorOp):
        changes.append(owner)
        owner = owner.descriptor.owner
    if not isinstance(owner, dsd.Mem1dOp | dsd.Mem4dOp | dsd.CircbufOp):
        return None
    array = array_of(owner.base)
    if array is None or "wavelet_index_offset" in owner.properties:
        return None
    buffer, type = array
    size = type.element_count()
    if isinstance(owner, dsd.CircbufOp):
        wraparound = owner.wraparound
        return None if changes else Walk(buffer, size, owner.extent, lambda count: range(min(count, wraparound)))
    offset = dsd.constant_value(owner.offset)
    if isinstance(owner, dsd.Mem1dOp):
        strides, extents = [dsd.constant_value(owner.stride)], [dsd.constant_extent(owner.extent)]
    else:
        strides = [dsd.constant_value(stride) for stride in owner.strides]
        extents = [dsd.constant_extent(extent) for extent in owner.extents]
    for change in reversed(changes):
        match change:
            case dsd.IncrementOffsetOp():
                step = dsd.constant_value(change.value)
                offset = None if offset is None or step is None else offset + step
            case dsd.SetLengthOp():
                extents = [dsd.constant_extent(change.value)]
            case dsd.SetStrideOp():
                strides = [dsd.constant_value(change.value)]
            case _:
                return None
    known_strides = [stride for stride in strides if stride is not None]
    known_extents = [extent for extent in extents if extent is not None]
    if offset is None or len(known_strides) < len(strides) or len(known_extents) < len(extents):
        return None
    return _walk(buffer, size, offset, known_strides, known_extents)


def _walk(buffer: str, size: int, offset: int, strides: list[int], extents: list[int]) -> Walk | None:
    """Return a walk by strides, innermost first, and extents, outermost first (DSD-061, DSD-062)."""
    length = 1
    for extent in extents:
        length *= extent
    if len(extents) == 1:
        (stride,) = strides

        def line(count: int) -> range | frozenset[int]:
            if stride == 0:
                return range(offset, offset + min(count, 1))
            end = offset + count * stride
            return range(offset, end, stride) if stride > 0 else range(end - stride, offset + 1, -stride)

        return Walk(buffer, size, length, line)
    if length > MAX_ELEMENTS:
        return None
    return Walk(buffer, size, length, lambda count: frozenset(_nested(offset, strides, extents, count)))


def _nested(offset: int, strides: list[int], extents: list[int], count: int) -> Iterator[int]:
    # How far a step of each dimension leads, outermost first: the faster ones are wound back by it.
    wound = list(accumulate(zip(strides, reversed(extents), strict=True), _add_run, initial=0))
    steps = [stride + wound[place] for place, stride in enumerate(strides)][::-1]
    for number, places in enumerate(product(*map(range, extents))):
        if number >= count:
            return
        yield offset + sum(step * place for step, place in zip(steps, places, strict=True))


def _add_run(wound: int, dimension: tuple[int, int]) -> int:
    stride, extent = dimension
    return wound + (stride + wound) * (extent - 1)


@record
class Use:
    """Memory, registers and settings of a DSD operation, as far as they are constants."""

    settings: dsd.AsyncAttr | None
    """The settings of an asynchronous operation; None for a synchronous one."""
    is_known: bool
    """False if an operand is not known, so that it may be synchronous or not, and wait for wavelets or not."""
    receives: bool
    """True if it waits for wavelets, or uses a FIFO."""
    uses_fabric: bool
    accesses: tuple[Access, ...]
    registers: frozenset[Register]
    """Those that its operands are loaded into, numbered ones alone."""


Register = tuple[str, int | None]
"""A register: its file and number."""


def registers_of(load: dsr.LoadOp) -> frozenset[Register]:
    """Return the registers that a load fills, numbered ones alone."""
    return frozenset((register.file(), register.number) for register in load.written_registers)


def use_of(op: dsd.DsdOperation, load_of: Callable[[dsr.GetDsrOp], dsr.LoadOp | None]) -> Use:
    """Return what an operation uses; `load_of` finds what a register has been loaded with."""
    operands = (op.destination, *op.sources)
    descriptors: list[SSAValue | None] = []
    settings = op.asynchronous
    is_known = True
    moves: set[int] = set()
    registers: set[Register] = set()
    for place, operand in enumerate(operands):
        owner = operand.owner
        if isinstance(owner, dsr.GetDsrOp):
            owner = None if owner.fifo is not None else load_of(owner)
        if isinstance(operand.type, dsr.RegisterType) and not isinstance(owner, dsr.LoadOp):
            is_known = False
        if isinstance(owner, dsr.LoadOp):
            descriptors.append(owner.descriptor)
            registers |= registers_of(owner)
            if owner.save_address is not None:
                moves.add(place)
        else:
            descriptors.append(operand if isinstance(operand.type, dsd.DescriptorType) else None)
    if is_known and isinstance(op, dsr.RegisterOperation):
        settings = _settings_of_registers(op, load_of)
    types = [None if descriptor is None else descriptor.type for descriptor in descriptors]
    receives = any(isinstance(type, dsd.FabinType | dsd.FifoType) for type in types)
    uses_fabric = receives or isinstance(types[0], dsd.FaboutType)
    accesses = () if not is_known else tuple(_accesses(op, operands, descriptors, moves))
    return Use(settings, is_known, receives, uses_fabric, accesses, frozenset(registers))


def _settings_of_registers(
    op: dsr.RegisterOperation, load_of: Callable[[dsr.GetDsrOp], dsr.LoadOp | None]
) -> dsd.AsyncAttr | None:
    """Return how an operation on registers runs: the first that was loaded with `async` decides (DSD-182, DSD-195)."""
    for operand in op.table_operands:
        owner = operand.owner
        load = load_of(owner) if isinstance(owner, dsr.GetDsrOp) else owner
        if isinstance(load, dsr.LoadOp) and load.asynchronous is not None:
            return load.asynchronous
    return None


def _accesses(
    op: dsd.DsdOperation, operands: Sequence[SSAValue], descriptors: Sequence[SSAValue | None], moves: set[int]
) -> Iterator[Access]:
    """Yield what the operands in memory of an operation touch; nothing if its length is not known."""
    walks: list[Walk | None] = []
    lengths: list[int] = []
    zeroed: int | None = None
    for place, descriptor in enumerate(descriptors):
        walk = None
        if descriptor is not None:
            type, made_by = descriptor.type, dsd.defining_op(descriptor)
            if isinstance(type, dsd.FabinType | dsd.FaboutType):
                length = fabric_length(descriptor)
                if place == 0 and isinstance(made_by, dsd.FaboutOp) and made_by.zero is not None:
                    is_first = made_by.zero.data is dsd.ZeroedSource.FIRST_SOURCE
                    zeroed = min(0 if is_first else 1, len(operands) - 2) + 1
            else:
                walk = walk_of(descriptor)
                length = None if walk is None else walk.length
            if length is None or length == ENDLESS_EXTENT:
                return
            # A send is as long as what it sends, if that is in memory.
            if not (place == 0 and isinstance(type, dsd.FaboutType)):
                lengths.append(length)
        walks.append(None if place in moves else walk)
    if not lengths:
        return
    count = min(lengths)
    for place, (operand, walk) in enumerate(zip(operands, walks, strict=True)):
        writes = place == 0 or place == zeroed
        if place == 0 and op.drops_data is not None:
            continue
        if walk is not None and count > 0:
            yield Access(walk.buffer, walk.size, walk.elements(count), writes)
        elif walk is None and place == 0 and isa(operand.type, MemRefType):
            access = access_of_element(operand, (), writes=True)
            if access is not None:
                yield access


def fabric_length(descriptor: SSAValue) -> int | None:
    """Return the elements of a run of wavelets, None if they are not known, or not one to a wavelet."""
    owner, made_by = descriptor.owner, dsd.defining_op(descriptor)
    if not isinstance(made_by, dsd.FabinOp | dsd.FaboutOp) or made_by.simd is not None:
        return None
    return dsd.constant_extent(owner.value if isinstance(owner, dsd.SetLengthOp) else made_by.extent)
