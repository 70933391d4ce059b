"""Internal pipes: after the front end a pipe is an SSA value, and entries are bound to its slots.

`pto.initialize_l2l_pipe` makes a pipe with slots in the consumer's memory, `pto.initialize_l2g2l_pipe` one with slots
in global memory. Error messages contain the wording of the public verifier.
"""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import I8, I32, BoolAttr, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr, i1, i8, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from ...operations import pipe_protocol
from ...targets.chip import HARDWARE_FLAGS
from .assembly import (
    Clauses,
    parse_attribute_list,
    parse_boolean,
    parse_clauses,
    parse_integer,
    parse_lane,
    parse_operands,
    parse_typed_operand,
    parse_types_of,
    print_attribute_list,
    print_clauses,
    print_lane,
    print_typed_operands,
)
from .attributes import AccPushEpilogueAttr, AddressSpace, KernelKind
from .kernels import architecture_of, core_of, fail, is_tile_helper
from .types import DYNAMIC, PipeType, TensorViewType, TileBufType, ViewType

FRONTEND_ID = "__pto.frontend_id"
"""Attribute of a lowered pipe: the number of the front-end pipe it was."""

_PEER_FUNCTION, _PEER_BUFFER, _PEER_DIRECTION = (
    "__pto.peer_owner_func", "__pto.peer_reserve_name", "__pto.peer_dir_mask",
)  # fmt: skip
"""Attributes of a lowered pipe: the consumer's function, the name of its buffer, and the direction."""


def number(attribute: Attribute) -> int:
    """Return the value of an integer attribute; 0 for any other, which only invalid IR has."""
    return cast("IntegerAttr[IntegerType]", attribute).value.data if isinstance(attribute, IntegerAttr) else 0


# ---------------------------------------------------------------------------------------------
# What holds for entries of any pipe
# ---------------------------------------------------------------------------------------------


def verify_split(op: Operation, split: int) -> None:
    """Reject unknown values of `split`."""
    if not 0 <= split <= pipe_protocol.LEFT_RIGHT_ODD:
        fail(op, f"expects 'split' to be 0, 1, 2, 3, or 4; it is {split}")


def verify_odd_entry(op: Operation, split: int, entry: Attribute) -> None:
    """Reject odd splits of tensors."""
    if pipe_protocol.is_odd(split) and isinstance(entry, TensorViewType):
        fail(
            op,
            "supports odd split modes (split = 3 or 4) only for tile entries; the instruction set has no odd "
            "GlobalTensor offsets",
        )


def verify_parity(op: Operation, split: int, entry: Attribute) -> None:
    """Reject even splits of odd numbers of rows or columns, and odd splits of even ones; `entry` is the whole."""
    extents = entry.valid_shape if isinstance(entry, TileBufType) else ()
    if isinstance(entry, TensorViewType):
        extents = entry.extents
    if split == pipe_protocol.NO_SPLIT or len(extents) != 2:
        return
    rows = pipe_protocol.splits_rows(split)
    count = extents[0 if rows else 1]
    if count != DYNAMIC and (count % 2 == 1) != pipe_protocol.is_odd(split):
        parity = "odd" if pipe_protocol.is_odd(split) else "even"
        axis = "row" if rows else "column"
        fail(op, f"expects a statically {parity} valid-{axis} count for split = {split}; there are {count}")


def verify_lane_operand(op: Operation, lane: SSAValue | None, split: int, entry: Attribute) -> None:
    """Reject `aiv_subblockid` where it has no meaning."""
    if lane is None:
        return
    if split == pipe_protocol.NO_SPLIT:
        fail(op, "expects 'aiv_subblockid' only when 'split' is 1, 2, 3, or 4")
    if isinstance(entry, TensorViewType):
        fail(op, "does not support 'aiv_subblockid' for !pto.tensor_view pipe entries")
    if not isinstance(entry, TileBufType) or entry.location is not AddressSpace.VEC:
        fail(op, "expects 'aiv_subblockid' only on AIV-side vector tile pipe entries")


def verify_numbers(op: Operation, direction: int, slot_size: int, slot_num: int) -> None:
    """Reject unknown directions, and pipes without slots (PTO-023)."""
    if direction not in (pipe_protocol.C2V, pipe_protocol.V2C, pipe_protocol.BOTH):
        fail(op, f"expects 'dir_mask' to be 1, 2, or 3, not {direction}")
    if slot_size <= 0:
        fail(op, "expects 'slot_size' to be greater than 0; a slot holds one entry")
    if slot_num <= 0:
        fail(op, "expects 'slot_num' to be greater than 0; a pipe has at least one slot")


def verify_entry_fits(op: Operation, tile: TileBufType, slot_bytes: int) -> None:
    """Reject a slot that is smaller than the tile (PTO-022)."""
    if tile.valid_bytes is not None and tile.valid_bytes > slot_bytes:
        fail(op, f"expects a slot_size of at least {tile.valid_bytes}, the bytes of the tile, not {slot_bytes}")


def verify_signal(op: Operation, signal: Attribute, split: int, slot_bytes: int) -> None:
    """Reject a control signal that is not an i1, that is split, or that is larger than a slot (PTO-021)."""
    if signal != i1:
        fail(op, f"expects a signal of type i1, not {signal}; use a comparison")
    if split != pipe_protocol.NO_SPLIT:
        fail(op, f"expects 'split' to be 0, as a signal cannot be split; it is {split}")
    if slot_bytes < pipe_protocol.SIGNAL_BYTES:
        fail(
            op,
            f"expects a slot_size of at least {pipe_protocol.SIGNAL_BYTES}, the bytes of a signal, not {slot_bytes}; "
            "open the pipe with larger slots",
        )


def verify_entry_matches(op: Operation, entry: ViewType, slot: ViewType, name: str) -> None:
    """Reject a tensor whose type differs from the slots of its pipe, described by `name`."""
    if slot.element_type != entry.element_type:
        fail(
            op,
            f"expects pipe entry element type to match {name} element type, {slot.element_type}, not "
            f"{entry.element_type}",
        )
    if len(slot.extents) != len(entry.extents):
        fail(op, f"expects pipe entry rank to match {name} rank, {len(slot.extents)}, not {len(entry.extents)}")
    for place, (have, want) in enumerate(zip(entry.extents, slot.extents, strict=True)):
        if have != want and DYNAMIC not in (have, want):
            fail(op, f"expects pipe entry dimension {place} to match {name} dimension {want}; it is {have}")


# ---------------------------------------------------------------------------------------------
# Pipes
# ---------------------------------------------------------------------------------------------

_SETTINGS: Clauses = {
    "dir_mask": parse_integer(8),
    "slot_size": parse_integer(32),
    "slot_num": parse_integer(32),
    "local_slot_num": parse_integer(32),
    "flag_base": parse_integer(32),
    "nosplit": parse_boolean,
}


class InitializePipeOp(IRDLOperation):
    """
    `{dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0}` gives its direction (1 from the cube core, 2 to it,
    3 both), the bytes and number of its slots, the first of its flags, and with `nosplit` that one vector core takes
    part.
    """

    dir_mask = prop_def(IntegerAttr[I8])
    slot_size = prop_def(IntegerAttr[I32])
    slot_num = prop_def(IntegerAttr[I32])
    flag_base = opt_prop_def(IntegerAttr[I32])
    nosplit = opt_prop_def(BoolAttr)
    acc_push_epilogue = opt_prop_def(AccPushEpilogueAttr)
    pipe = result_def(PipeType)

    @property
    def direction(self) -> int:
        """The direction mask of the pipe: `pipe_protocol.C2V`, `V2C` or `BOTH`."""
        return number(self.dir_mask)

    @property
    def entry_bytes(self) -> int:
        """The bytes of a slot."""
        return number(self.slot_size)

    @property
    def depth(self) -> int:
        """The number of slots in each direction."""
        return number(self.slot_num)

    @property
    def frontend_id(self) -> int | None:
        """The id of the front-end pipe this was lowered from."""
        attribute = self.attributes.get(FRONTEND_ID)
        return None if attribute is None else number(attribute)

    @classmethod
    def parse(cls, parser: Parser) -> InitializePipeOp:
        definition = cls.get_irdl_definition()
        clauses = {name: parse for name, parse in _SETTINGS.items() if name in definition.properties}
        settings = parse_clauses(parser, clauses, required=("dir_mask", "slot_size", "slot_num"))
        position, most = parser.pos, len(definition.operands)
        addresses = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_typed_operand(parser))
        if not 1 <= len(addresses) <= most:
            parser.raise_error(f"expected 1 to {most} addresses, not {len(addresses)}", position, parser.pos)
        properties, attributes = parse_attribute_list(parser, cls)
        parser.parse_punctuation("->")
        return cls.build(
            operands=[*addresses, *[None] * (most - len(addresses))],
            result_types=[parser.parse_type()],
            properties=settings | properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        print_clauses(printer, {name: self.properties.get(name) for name in _SETTINGS})
        with printer.in_parens():
            printer.print_list(self.operands, lambda address: print_typed_operands(printer, [address]))
        print_attribute_list(printer, self, but=tuple(_SETTINGS))
        printer.print_string(" -> ")
        printer.print_attribute(self.pipe.type)

    def verify_shape(self) -> None:
        """Verify direction, slot size and number of slots."""
        verify_numbers(self, self.direction, self.entry_bytes, self.depth)
        if self.flag_base is not None:
            base = number(self.flag_base)
            if base < 0:
                fail(self, "expects 'flag_base' to be non-negative when present")
            if base + pipe_protocol.flag_count(self.direction) > HARDWARE_FLAGS:
                fail(
                    self,
                    f"requires 'flag_base' and dir_mask to fit within {HARDWARE_FLAGS} hardware flag "
                    f"ids; it takes {pipe_protocol.flag_count(self.direction)} from {base} on",
                )

    def verify_peer_address(self, peer: SSAValue | None) -> None:
        """Verify that there is a second buffer exactly if there are two directions."""
        if self.direction == pipe_protocol.BOTH and peer is None:
            fail(self, "expects 'peer_local_addr' when dir_mask is 3")
        if self.direction != pipe_protocol.BOTH and peer is not None:
            fail(self, "'peer_local_addr' is only allowed when dir_mask is 3")


@irdl_op_definition
class InitializeL2LPipeOp(InitializePipeOp):
    __doc__ = f"""A pipe from one core's memory to the other's: a push writes into the consumer's buffer.
    {InitializePipeOp.__doc__}
    `pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 8}}(%buffer : i32) -> !pto.pipe`; for both
    directions, the buffer of the vector cores and that of the cube core.
    """

    name = "pto.initialize_l2l_pipe"
    local_addr = operand_def()
    peer_local_addr = opt_operand_def()

    def verify_(self) -> None:
        self.verify_shape()
        self.verify_peer_address(self.peer_local_addr)


@irdl_op_definition
class InitializeL2G2LPipeOp(InitializePipeOp):
    __doc__ = f"""A pipe by way of global memory: a push writes there, a pop loads from there.
    {InitializePipeOp.__doc__}
    `pto.initialize_l2g2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 2}}(%gm : !pto.ptr<f32>,
    %buffer : i32) -> !pto.pipe`: the slots, and the consumer's buffer, of `local_slot_num` slots; for both directions,
    the buffers of both. Without a buffer, entries are tensors in global memory.
    """

    name = "pto.initialize_l2g2l_pipe"
    local_slot_num = opt_prop_def(IntegerAttr[I32])
    gm_addr = operand_def()
    local_addr = opt_operand_def()
    peer_local_addr = opt_operand_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def local_depth(self) -> int:
        """The number of slots in the consumer's own memory."""
        return self.depth if self.local_slot_num is None else number(self.local_slot_num)

    def verify_(self) -> None:
        self.verify_shape()
        if self.local_addr is None:
            if self.peer_local_addr is not None:
                fail(self, "'peer_local_addr' requires 'local_addr'")
            if self.local_slot_num is not None:
                fail(self, "'local_slot_num' is only allowed when 'local_addr' is present")
            return
        if self.local_slot_num is not None:
            if self.local_depth <= 0:
                fail(self, "expects 'local_slot_num' to be greater than 0")
            if self.local_depth > self.depth:
                fail(self, f"expects 'local_slot_num' to be less than or equal to slot_num ({self.depth})")
        self.verify_peer_address(self.peer_local_addr)


def peer_attributes(function: FuncOp, buffer: str) -> dict[str, Attribute]:
    """Return the attributes that identify both ends of a lowered C2V pipe with an epilogue: consumer and buffer."""
    return {
        _PEER_FUNCTION: SymbolRefAttr(function.sym_name.data),
        _PEER_BUFFER: StringAttr(buffer),
        _PEER_DIRECTION: IntegerAttr(pipe_protocol.C2V, i8),
    }


def lowered_pipe(op: Operation, function: FuncOp, buffer: str) -> bool:
    """Return True if `op` is the lowered end, with an epilogue, of the pipe into `buffer` of `function`."""
    return (
        isinstance(op, InitializePipeOp)
        and op.acc_push_epilogue is not None
        and peer_attributes(function, buffer).items() <= op.attributes.items()
    )


# ---------------------------------------------------------------------------------------------
# Through the pipe
# ---------------------------------------------------------------------------------------------


class BoundPipeOp(IRDLOperation):
    """Pushes or pops an entry of a pipe, or frees its slot."""

    pipe_handle = operand_def(PipeType)
    split = prop_def(IntegerAttr[I8])

    IS_PRODUCER: ClassVar[bool]

    @property
    def split_axis(self) -> int:
        """How the entry is split between vector cores: `pipe_protocol.NO_SPLIT` or another (PTO-025 to PTO-027)."""
        return number(self.split)

    @property
    def entry_value(self) -> SSAValue | None:
        """The pushed or popped tile or tensor, if the operation names it."""
        raise NotImplementedError

    def verify_use(self) -> InitializePipeOp:
        """Verify the rules shared by all uses; return the operation that made the pipe."""
        core = core_of(self)
        if core is None and not is_tile_helper(self):
            fail(self, "must be inside pto.section.cube/vector or a kernel_kind function; move it there")
        maker = self.pipe_handle.owner
        if not isinstance(maker, InitializePipeOp):
            fail(self, "pipe_handle must be produced by pto.initialize_l2l_pipe or pto.initialize_l2g2l_pipe")
        verify_split(self, self.split_axis)
        if pipe_protocol.is_odd(self.split_axis):
            self._verify_odd(maker, core)
        entry = None if self.entry_value is None else self.entry_value.type
        if entry is None:
            return maker
        verify_odd_entry(self, self.split_axis, entry)
        if isinstance(entry, TensorViewType):
            self._verify_tensor(maker, entry)
        elif self.IS_PRODUCER and isinstance(entry, TileBufType) and maker.acc_push_epilogue is None:
            verify_entry_fits(self, entry, maker.entry_bytes)
        return maker

    def _verify_odd(self, maker: InitializePipeOp, core: KernelKind | None) -> None:
        """Reject odd splits but of tiles through global memory; from vector cores on a2 and a3 alone."""
        by_global_memory = isinstance(maker, InitializeL2G2LPipeOp)
        has_buffers = by_global_memory and maker.local_addr is not None
        from_vector = core is (KernelKind.VECTOR if self.IS_PRODUCER else KernelKind.CUBE)
        if from_vector and maker.direction & pipe_protocol.V2C:
            if architecture_of(self) == "a5" or not has_buffers:
                fail(
                    self,
                    "supports odd split modes (split = 3 or 4) from V2C only on A2/A3, for a "
                    "pto.initialize_l2g2l_pipe with a local consumer buffer",
                )
        elif from_vector or maker.direction != pipe_protocol.C2V or not has_buffers:
            fail(
                self,
                "supports odd split modes (split = 3 or 4) only for a unidirectional C2V pto.initialize_l2g2l_pipe "
                "with a local consumer buffer",
            )

    def _verify_tensor(self, maker: InitializePipeOp, entry: TensorViewType) -> None:
        if not isinstance(maker, InitializeL2G2LPipeOp):
            fail(self, "expects !pto.tensor_view pipe entry to use a pipe produced by pto.initialize_l2g2l_pipe")
        if maker.local_addr is not None:
            fail(
                self,
                "expects !pto.tensor_view pipe entry to use global-only pto.initialize_l2g2l_pipe without local_addr",
            )
        slot = maker.gm_addr.type
        if not isinstance(slot, TensorViewType):
            fail(
                self,
                "expects !pto.tensor_view pipe entry to use pto.initialize_l2g2l_pipe gm_addr with tensor_view slot "
                "type",
            )
        verify_entry_matches(self, entry, slot, "initialize_l2g2l_pipe gm_addr")
        size, split = entry.bytes, self.split_axis != pipe_protocol.NO_SPLIT
        if size is not None and size != maker.entry_bytes and not (split and 2 * size == maker.entry_bytes):
            half = " or half slot_size for split entries" if split else ""
            fail(
                self,
                f"expects pipe entry byte size to match initialize_l2g2l_pipe slot_size{half} (got entry byte size = "
                f"{size}, slot_size = {maker.entry_bytes})",
            )

    def print_split(self, printer: Printer) -> None:
        """Print ` {split = 0}`."""
        print_clauses(printer, {"split": self.split})


def _parse_bound(parser: Parser, *, lone_pipe: bool = False) -> list[SSAValue]:
    """Parse `(%entry, %pipe : type, !pto.pipe)`, or with `lone_pipe` also `(%pipe : !pto.pipe)`."""
    position = parser.pos
    with parser.in_parens():
        operands = parse_operands(parser)
        parser.parse_punctuation(":")
        values = parse_types_of(parser, operands)
    if len(values) != 2 and not (lone_pipe and len(values) == 1):
        parser.raise_error("expected an entry and a pipe", position, parser.pos)
    return values


def _parse_split(parser: Parser) -> dict[str, Attribute]:
    return parse_clauses(parser, {"split": parse_integer(8)}, required=("split",))


@irdl_op_definition
class TAllocOp(BoundPipeOp):
    """Binds a declared tensor to the next free slot: `pto.talloc(%slot, %pipe : <type>, !pto.pipe) {split = 0}`."""

    name = "pto.talloc"
    entry = operand_def(TensorViewType)
    pipe_handle = operand_def(PipeType)
    IS_PRODUCER: ClassVar[bool] = True

    @property
    def entry_value(self) -> SSAValue:
        return self.entry

    @classmethod
    def parse(cls, parser: Parser) -> TAllocOp:
        operands = _parse_bound(parser)
        return cls.build(
            operands=operands, properties=_parse_split(parser), attributes=parser.parse_optional_attr_dict()
        )

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            print_typed_operands(printer, [self.entry, self.pipe_handle])
        self.print_split(printer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        self.verify_use()


class TileThroughPipeOp(BoundPipeOp):
    """A push or a pop: an entry, a pipe, and possibly which vector core's part it is."""

    tile = operand_def(TileBufType | TensorViewType)
    pipe_handle = operand_def(PipeType)
    aiv_subblockid = opt_operand_def(i64)

    @property
    def entry_value(self) -> SSAValue:
        return self.tile

    def verify_whole(self, entry: Attribute) -> None:
        """Reject a tile of the cube core that cannot be split; vector cores have parts, of any size."""
        if core_of(self) is KernelKind.CUBE:
            verify_parity(self, self.split_axis, entry)

    @classmethod
    def parse(cls, parser: Parser) -> TileThroughPipeOp:
        tile, pipe = _parse_bound(parser)
        properties = _parse_split(parser)
        return cls.build(
            operands=[tile, pipe, parse_lane(parser)],
            properties=properties,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            print_typed_operands(printer, [self.tile, self.pipe_handle])
        self.print_split(printer)
        print_lane(printer, self.aiv_subblockid)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class TPushOp(TileThroughPipeOp):
    """Pushes an entry into a pipe: `pto.tpush(%tile, %pipe : <type>, !pto.pipe) {split = 0}`.

    A tile is stored once its slot is free, and the consumer is signaled; for a tensor the consumer is only signaled
    (PTO-006 to PTO-010). Tiles come from the accumulator or the vector cores' buffer (PTO-017).
    """

    name = "pto.tpush"
    IS_PRODUCER: ClassVar[bool] = True

    def verify_(self) -> None:
        self.verify_use()
        entry = self.tile.type
        self.verify_whole(entry)
        verify_lane_operand(self, self.aiv_subblockid, self.split_axis, entry)
        if isinstance(entry, TileBufType) and entry.location not in (AddressSpace.ACC, AddressSpace.VEC):
            fail(
                self,
                f"tile type must map to a supported producer pipe: loc=acc or loc=vec, not {entry.location.value}",
            )


@irdl_op_definition
class TPopOp(TileThroughPipeOp):
    """Binds a declared tile or tensor to the next entry: `pto.tpop(%tile, %pipe : <type>, !pto.pipe) {split = 0}`."""

    name = "pto.tpop"
    IS_PRODUCER: ClassVar[bool] = False

    def verify_(self) -> None:
        self.verify_use()
        entry = self.tile.type
        self.verify_whole(entry)
        verify_lane_operand(self, self.aiv_subblockid, self.split_axis, entry)
        if isinstance(entry, TileBufType) and entry.location not in (AddressSpace.MAT, AddressSpace.VEC):
            fail(
                self,
                "tile type and target arch must map to a supported consumer pipe: loc=vec or loc=mat, not "
                f"{entry.location.value}",
            )


@irdl_op_definition
class TFreeOp(BoundPipeOp):
    """Frees the slot of the oldest popped entry: `pto.tfree(%pipe : !pto.pipe) {split = 0}`.

    For a slot in global memory, `pto.tfree(%slot, %pipe : <type>, !pto.pipe) {split = 0}`.
    """

    name = "pto.tfree"
    entry = opt_operand_def(TileBufType | TensorViewType)
    pipe_handle = operand_def(PipeType)
    IS_PRODUCER: ClassVar[bool] = False

    @property
    def entry_value(self) -> SSAValue | None:
        return self.entry

    @classmethod
    def parse(cls, parser: Parser) -> TFreeOp:
        operands = _parse_bound(parser, lone_pipe=True)
        entry, pipe = [None, *operands][-2:]
        return cls.build(
            operands=[entry, pipe], properties=_parse_split(parser), attributes=parser.parse_optional_attr_dict()
        )

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            print_typed_operands(printer, self.operands)
        self.print_split(printer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        self.verify_use()


# ---------------------------------------------------------------------------------------------
# Control signals
# ---------------------------------------------------------------------------------------------


class SignalThroughPipeOp(BoundPipeOp):
    """A push or a pop of a control signal."""

    CORE: ClassVar[KernelKind]

    @property
    def signal_value(self) -> SSAValue:
        """The i1 that is pushed or popped."""
        raise NotImplementedError

    @property
    def entry_value(self) -> SSAValue:
        return self.signal_value

    def verify_(self) -> None:
        maker = self.verify_use()
        core = core_of(self)
        if core is not None and core is not self.CORE:
            fail(
                self,
                f"must be inside a {self.CORE.value} kernel function or section; control signals go from vector cores "
                "to the cube core",
            )
        if not maker.direction & pipe_protocol.V2C:
            fail(
                self,
                f"expects a pipe with dir_mask = 2 or 3, not {maker.direction}; control signals go from vector cores "
                "to the cube core",
            )
        if isinstance(maker, InitializeL2G2LPipeOp) and maker.local_addr is None:
            fail(self, "expects a pipe with 'local_addr'; a pipe whose slots are tensors has no room for signals")
        verify_signal(self, self.signal_value.type, self.split_axis, maker.entry_bytes)


def whole() -> dict[str, Attribute]:
    """Return NO_SPLIT, the split of every control signal."""
    return {"split": IntegerAttr(pipe_protocol.NO_SPLIT, i8)}


@irdl_op_definition
class TPushSignalOp(SignalThroughPipeOp):
    """Pushes a control signal into a pipe to the cube core: `pto.tpush_signal(%signal, %pipe : i1, !pto.pipe)`.

    Ours: the public text has no form for it. It takes a slot as a tile does, and is stored as one 32-bit word, 1 if
    it is true and else 0 (PTO-021).
    """

    name = "pto.tpush_signal"
    signal = operand_def()
    pipe_handle = operand_def(PipeType)
    IS_PRODUCER: ClassVar[bool] = True
    CORE: ClassVar[KernelKind] = KernelKind.VECTOR

    @property
    def signal_value(self) -> SSAValue:
        return self.signal

    @classmethod
    def parse(cls, parser: Parser) -> TPushSignalOp:
        operands = _parse_bound(parser)
        return cls.build(operands=operands, properties=whole(), attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            print_typed_operands(printer, [self.signal, self.pipe_handle])
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class TPopSignalOp(SignalThroughPipeOp):
    """Pops the next entry of a pipe as a control signal: `%signal = pto.tpop_signal(%pipe : !pto.pipe) -> i1`.

    Ours: the public text has no form for it. The signal is true if the first word of the slot is 1 (PTO-021); the slot
    is freed by `pto.tfree`.
    """

    name = "pto.tpop_signal"
    signal = result_def()
    pipe_handle = operand_def(PipeType)
    IS_PRODUCER: ClassVar[bool] = False
    CORE: ClassVar[KernelKind] = KernelKind.CUBE

    @property
    def signal_value(self) -> SSAValue:
        return self.signal

    @classmethod
    def parse(cls, parser: Parser) -> TPopSignalOp:
        with parser.in_parens():
            pipe = parse_typed_operand(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.build(operands=[pipe], result_types=[parser.parse_type()], properties=whole(), attributes=attributes)

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            print_typed_operands(printer, [self.pipe_handle])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.signal.type)
