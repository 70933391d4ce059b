"""Front-end pipes: each kernel opens its end of a pipe under an id, then pushes, pops and frees.

The cube core opens with `pto.aic_initialize_pipe`, the vector cores with `pto.aiv_initialize_pipe`; `dir_mask` is 1
for tiles from the cube core (C2V), 2 for tiles to it (V2C), 3 for both. Operations on the pipe name its `id`.
Error messages contain the wording of the public verifier.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import I8, I32, BoolAttr, IndexType, IntegerAttr, f32, i8, i32, i64
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
from ..traversal import walk
from . import epilogue
from .assembly import (
    Clauses,
    parse_boolean,
    parse_clauses,
    parse_integer,
    parse_lane,
    parse_typed_operand,
    print_clauses,
    print_lane,
    print_typed_operands,
)
from .attributes import AccPushEpilogueAttr, AddressSpace, KernelKind
from .buffers import ImportReservedBufferOp, ReserveBufferOp, reservation_of
from .internal_pipes import (
    InitializePipeOp,
    lowered_pipe,
    number,
    verify_entry_fits,
    verify_entry_matches,
    verify_lane_operand,
    verify_numbers,
    verify_odd_entry,
    verify_parity,
    verify_signal,
    verify_split,
    whole,
)
from .kernels import architecture_of, core_of, fail, function_of, is_tile_helper, require_function
from .memory import verify_valid
from .types import TensorViewType, TileBufType, ViewType

_INDEX = IndexType()

Entry: TypeAlias = TileBufType | TensorViewType
"""What goes through a pipe: a tile (PTO-003), or a slot in global memory as a tensor (PTO-004)."""

_UNPUBLISHED = (
    "stPhase", "st_phase", "atomicType", "atomic_type", "subBlockId", "subBlockid", "sub_blockid", "clipReluMode",
    "clip_relu_mode", "isChannelSplit", "is_channel_split", "channelSplit", "channel_split",
)  # fmt: skip
"""Settings of the instruction set that the text does not offer."""


class FrontendOperation(IRDLOperation, ABC):
    """An operation of a kernel on one of its pipes."""

    id = opt_prop_def(IntegerAttr[I32])

    SETTINGS: ClassVar[Clauses] = {"id": parse_integer(32)}
    REQUIRED: ClassVar[tuple[str, ...]] = ()
    """Those of the settings that are always written."""

    @property
    def pipe_id(self) -> int:
        """The id of the pipe in its function; 0 if none is written."""
        return 0 if self.id is None else number(self.id)

    def verify_settings(self) -> None:
        """Reject properties that the text form does not have."""
        for name in self.attributes:
            if name in _UNPUBLISHED:
                fail(
                    self,
                    f"does not allow unpublished fixpipe attr '{name}'; STPhase / AtomicType / SubBlockId / "
                    "ClipReluMode / IsChannelSplit are not part of the PTOIR frontend surface",
                )

    def verify_core(self, core: KernelKind) -> None:
        """Reject an operation on the wrong core."""
        if not is_tile_helper(self) and core_of(self) is not core:
            fail(self, f"must be inside a {core.value} kernel function or section; move it there")

    def verify_id(self) -> None:
        """Reject negative pipe ids."""
        if self.pipe_id < 0:
            fail(self, "expects 'id' to be non-negative")

    @classmethod
    def parse_settings(cls, parser: Parser) -> dict[str, Attribute]:
        """Parse `{id = 0, ...}`."""
        return parse_clauses(parser, cls.SETTINGS, required=cls.REQUIRED)

    def print_settings(self, printer: Printer) -> None:
        """Print ` {id = 0, ...}`."""
        print_clauses(printer, {name: self.properties.get(name) for name in self.SETTINGS})


class OneOperandOp(FrontendOperation):
    """An operation written `(%operand : type) {id = 0, ...}`."""

    @classmethod
    def parse(cls, parser: Parser) -> OneOperandOp:
        with parser.in_parens():
            operand = parse_typed_operand(parser)
        settings = cls.parse_settings(parser)
        return cls.build(operands=[operand], properties=settings, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            print_typed_operands(printer, self.operands)
        self.print_settings(printer)
        printer.print_op_attributes(self.attributes)


class OneResultOp(FrontendOperation):
    """An operation written `{id = 0, ...} -> type`."""

    @classmethod
    def parse(cls, parser: Parser) -> OneResultOp:
        settings = cls.parse_settings(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.build(result_types=[parser.parse_type()], properties=settings, attributes=attributes)

    def print(self, printer: Printer) -> None:
        self.print_settings(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)


# ---------------------------------------------------------------------------------------------
# Opening
# ---------------------------------------------------------------------------------------------

_OPENING_OPERANDS = ("gm_slot_buffer", "gm_slot_tensor", "c2v_consumer_buf", "v2c_consumer_buf")


class OpenPipeOp(FrontendOperation):
    """Opens one end of a pipe.

    `{id = 0, dir_mask = 1, slot_size = 1024, slot_num = 8}(gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %a
    : i32, v2c_consumer_buf = %b : i32)`: `slot_size` bytes hold one entry (PTO-022), there are `slot_num` of them
    (PTO-023; 8, or 4 for each of two directions, if not given), `local_slot_num` on the consumer's side; `nosplit`
    says that one vector core takes part, `acc_push_epilogue` what a push does with an accumulator tile. The slots lie
    in global memory at `gm_slot_buffer`, or are the tensor `gm_slot_tensor`; the consumer of each direction gets
    tiles at the address of its buffer.
    """

    dir_mask = prop_def(IntegerAttr[I8])
    slot_size = prop_def(IntegerAttr[I32])
    slot_num = opt_prop_def(IntegerAttr[I32])
    local_slot_num = opt_prop_def(IntegerAttr[I32])
    nosplit = opt_prop_def(BoolAttr)
    acc_push_epilogue = opt_prop_def(AccPushEpilogueAttr)
    gm_slot_buffer = opt_operand_def()
    gm_slot_tensor = opt_operand_def()
    c2v_consumer_buf = opt_operand_def(i32)
    v2c_consumer_buf = opt_operand_def(i32)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        dir_mask: int,
        slot_size: int,
        slot_num: int | None = None,
        *,
        id: int = 0,
        nosplit: bool | None = None,
        local_slot_num: int | None = None,
        acc_push_epilogue: AccPushEpilogueAttr | None = None,
        **operands: SSAValue,
    ) -> None:
        """Open an end; `operands` say where the slots are, by name: `gm_slot_buffer`, `c2v_consumer_buf` and so on."""
        super().__init__(
            operands=[operands.get(name) for name in _OPENING_OPERANDS],
            properties={
                "id": IntegerAttr(id, i32),
                "dir_mask": IntegerAttr(dir_mask, i8),
                "slot_size": IntegerAttr(slot_size, i32),
                "slot_num": None if slot_num is None else IntegerAttr(slot_num, i32),
                "local_slot_num": None if local_slot_num is None else IntegerAttr(local_slot_num, i32),
                "nosplit": None if nosplit is None else BoolAttr.from_bool(nosplit),
                "acc_push_epilogue": acc_push_epilogue,
            },
        )
        assert operands.keys() <= set(_OPENING_OPERANDS), f"a pipe has {', '.join(_OPENING_OPERANDS)}"

    CORE: ClassVar[KernelKind]
    SETTINGS: ClassVar[Clauses] = {
        "id": parse_integer(32),
        "dir_mask": parse_integer(8),
        "slot_size": parse_integer(32),
        "slot_num": parse_integer(32),
        "local_slot_num": parse_integer(32),
        "nosplit": parse_boolean,
        "acc_push_epilogue": lambda parser: parser.parse_attribute(),
    }
    REQUIRED: ClassVar[tuple[str, ...]] = ("dir_mask", "slot_size")

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
        return pipe_protocol.default_slot_num(self.direction) if self.slot_num is None else number(self.slot_num)

    @property
    def local_depth(self) -> int:
        """The number of slots in the consumer's own memory, for pipes whose slots are in global memory."""
        return self.depth if self.local_slot_num is None else number(self.local_slot_num)

    def consumer_buffer(self, direction: int) -> SSAValue | None:
        """Return the consumer's buffer for one direction."""
        return self.c2v_consumer_buf if direction == pipe_protocol.C2V else self.v2c_consumer_buf

    @classmethod
    def parse(cls, parser: Parser) -> OpenPipeOp:
        settings = cls.parse_settings(parser)
        operands: dict[str, SSAValue] = {}

        def operand() -> None:
            position = parser.pos
            name = parser.parse_identifier()
            if name not in _OPENING_OPERANDS:
                parser.raise_error(
                    f"unexpected initialize_pipe operand '{name}'; use one of {', '.join(_OPENING_OPERANDS)}",
                    position,
                    position + len(name),
                )
            if name in operands:
                parser.raise_error(f"duplicate '{name}' operand; write it once", position, position + len(name))
            parser.parse_punctuation("=")
            operands[name] = parse_typed_operand(parser)

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, operand)
        return cls.build(
            operands=[operands.get(name) for name in _OPENING_OPERANDS],
            properties=settings,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        self.print_settings(printer)
        operands = [
            (name, operand)
            for name in _OPENING_OPERANDS
            if (operand := cast("SSAValue | None", getattr(self, name))) is not None
        ]
        with printer.in_parens():
            printer.print_list(operands, lambda pair: _print_named_operand(printer, *pair))
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        self.verify_settings()
        self.verify_core(self.CORE)
        function = require_function(self)
        self.verify_id()
        if len(opened_pipes(function, self.pipe_id)) > 1:
            fail(self, "requires 'id' to be unique across frontend initialize_pipe ops in the function; renumber one")
        verify_numbers(self, self.direction, self.entry_bytes, self.depth)
        if self._verify_slots_in_global_memory():
            return
        self._verify_consumer_buffers()
        self._verify_local_slots()
        self._verify_reservations()
        if self.acc_push_epilogue is not None:
            self._verify_epilogue(self.acc_push_epilogue)
            self.verify_peer(self.acc_push_epilogue)

    def _verify_slots_in_global_memory(self) -> bool:
        """Verify `gm_slot_tensor`; return True if entries are tensors, which need no further checks."""
        if self.gm_slot_tensor is None:
            return False
        if self.gm_slot_buffer is not None:
            fail(self, "'gm_slot_tensor' cannot be combined with 'gm_slot_buffer'; leave one out")
        has_c2v, has_v2c = self.c2v_consumer_buf is not None, self.v2c_consumer_buf is not None
        if has_v2c or (has_c2v and self.direction != pipe_protocol.C2V):
            fail(
                self,
                "GM-backed tile pipe init currently supports only dir_mask = 1 with 'gm_slot_tensor' and "
                "'c2v_consumer_buf'; name a 'gm_slot_buffer' instead",
            )
        if not has_c2v and self.local_slot_num is not None:
            fail(self, "globaltensor pipe init does not use 'local_slot_num'; leave it out")
        view = self.gm_slot_tensor.type
        if not isinstance(view, TensorViewType):
            fail(self, f"expects 'gm_slot_tensor' to be !pto.tensor_view, not {view}")
        if not view.extents:
            fail(self, "expects 'gm_slot_tensor' to describe one slot entry tensor")
        if view.bytes is not None and self.entry_bytes not in (view.bytes, 2 * view.bytes):
            fail(
                self,
                "expects 'slot_size' to equal gm_slot_tensor byte size or twice gm_slot_tensor byte size for split "
                f"GlobalTensor entries (got slot_size = {self.entry_bytes}, gm_slot_tensor byte size = {view.bytes})",
            )
        return not has_c2v

    def _verify_consumer_buffers(self) -> None:
        has_c2v, has_v2c = self.c2v_consumer_buf is not None, self.v2c_consumer_buf is not None
        if not has_c2v and not has_v2c:
            fail(
                self,
                "expects local pipe init to provide at least one consumer buffer operand; use 'gm_slot_tensor' for "
                "globaltensor pipe entries",
            )
        if self.direction == pipe_protocol.C2V and not has_c2v:
            fail(self, "expects 'c2v_consumer_buf' when dir_mask is 1")
        if self.direction == pipe_protocol.V2C and not has_v2c:
            fail(self, "expects 'v2c_consumer_buf' when dir_mask is 2")
        if self.direction == pipe_protocol.BOTH and not (has_c2v and has_v2c):
            fail(self, "expects both 'c2v_consumer_buf' and 'v2c_consumer_buf' when dir_mask is 3")

    def _verify_local_slots(self) -> None:
        if self.local_slot_num is None:
            return
        if architecture_of(self) == "a5":
            fail(self, "'local_slot_num' is only supported for a2/a3 frontend pipe lowering; leave it out")
        if self.local_depth <= 0:
            fail(self, "expects 'local_slot_num' to be greater than 0")
        if self.local_depth > self.depth:
            fail(
                self,
                f"expects 'local_slot_num' to be less than or equal to slot_num ({self.depth}) for dir_mask = "
                f"{self.direction}",
            )

    def _verify_reservations(self) -> None:
        """Verify that consumers pop tiles into their own memory."""
        for direction, name, space in (
            (pipe_protocol.C2V, "c2v_consumer_buf", AddressSpace.VEC),
            (pipe_protocol.V2C, "v2c_consumer_buf", AddressSpace.MAT),
        ):
            buffer = self.consumer_buffer(direction)
            if not self.direction & direction or buffer is None:
                continue
            reserved = reservation_of(buffer)
            if reserved is not None and reserved.space is not space:
                fail(
                    self,
                    f"expects '{name}' to be reserved with location = #pto.address_space<{space.value}>, where its "
                    f"consumer pops tiles, not {reserved.space.value}",
                )

    def _verify_epilogue(self, config: AccPushEpilogueAttr) -> None:
        if self.direction != pipe_protocol.C2V:
            fail(self, "expects fixpipe pipe (with 'acc_push_epilogue') to have dir_mask = 1 (C2V only)")
        if self.nosplit is None or not self.nosplit.value.data:
            fail(self, "expects fixpipe pipe (with 'acc_push_epilogue') to have nosplit = true")
        buffer = self.c2v_consumer_buf
        if buffer is not None and not isinstance(buffer.owner, ReserveBufferOp | ImportReservedBufferOp):
            fail(
                self,
                "expects fixpipe pipe 'c2v_consumer_buf' to trace to reserve_buffer or import_reserved_buffer for "
                "peer contract verification",
            )
        quant = config.quant.data
        if quant in epilogue.A5_ONLY and architecture_of(self) == "a2a3":
            fail(self, f"expects {epilogue.A5_ONLY[quant]} to be used only on A5 target")

    def verify_peer(self, config: AccPushEpilogueAttr) -> None:
        """Verify that the other end has the same epilogue."""
        raise NotImplementedError

    def verify_same_epilogue(self, own: str, mine: AccPushEpilogueAttr, peer: str, other: Operation) -> None:
        """Reject an epilogue that differs from the other end's; `own` and `peer` name the ends."""
        theirs = _epilogue_of(other)
        if theirs is None:
            fail(
                self,
                f"expects peer {peer} pipe init to also have 'acc_push_epilogue' for fixpipe contract consistency",
            )
        for part in ("layout", "quant", "relu"):
            this, that = (cast(str, getattr(config, part).data.value) for config in (mine, theirs))
            if this != that:
                fail(
                    self,
                    f"expects acc_push_epilogue.{part} to match peer {peer} ({own} has {this}, {peer} has {that})",
                )


def _print_named_operand(printer: Printer, name: str, operand: SSAValue) -> None:
    printer.print_string(f"{name} = ")
    print_typed_operands(printer, [operand])


def _epilogue_of(op: Operation) -> AccPushEpilogueAttr | None:
    return op.acc_push_epilogue if isinstance(op, OpenPipeOp | InitializePipeOp) else None


@irdl_op_definition
class AicInitializePipeOp(OpenPipeOp):
    __doc__ = str(OpenPipeOp.__doc__).replace("one end of a pipe", "the cube core's end of a pipe", 1)

    name = "pto.aic_initialize_pipe"
    CORE: ClassVar[KernelKind] = KernelKind.CUBE

    def verify_peer(self, config: AccPushEpilogueAttr) -> None:
        consumer = self._consumer()
        if consumer is None:
            fail(
                self,
                "expects peer consumer function to contain a matching aiv_initialize_pipe with the same consumer "
                "buffer contract",
            )
        self.verify_same_epilogue("producer", config, "consumer", consumer)

    def _consumer(self) -> Operation | None:
        """Return the consumer's end of the pipe, found by the buffer this end imports."""
        buffer = self.c2v_consumer_buf
        if buffer is None or not isinstance(buffer.owner, ImportReservedBufferOp):
            return None
        peer = buffer.owner.peer_function
        if peer is None:
            return None
        return _only(
            [
                other
                for other in walk(peer)
                if (isinstance(other, AivInitializePipeOp) and other.reserved_name == buffer.owner.key)
                or lowered_pipe(other, peer, buffer.owner.key)
            ]
        )


@irdl_op_definition
class AivInitializePipeOp(OpenPipeOp):
    __doc__ = str(OpenPipeOp.__doc__).replace("one end of a pipe", "the vector cores' end of a pipe", 1)

    name = "pto.aiv_initialize_pipe"
    CORE: ClassVar[KernelKind] = KernelKind.VECTOR

    @property
    def reserved_name(self) -> str | None:
        """The name under which this end reserves the buffer of C2V entries."""
        buffer = self.c2v_consumer_buf
        return buffer.owner.key if buffer is not None and isinstance(buffer.owner, ReserveBufferOp) else None

    def verify_peer(self, config: AccPushEpilogueAttr) -> None:
        function = require_function(self)
        if self.c2v_consumer_buf is None:
            fail(self, "expects fixpipe consumer pipe to have 'c2v_consumer_buf'")
        if self.reserved_name is None:
            fail(self, "expects consumer-side fixpipe pipe to use reserve_buffer, not import_reserved_buffer")
        producer = self._producer(function, self.reserved_name)
        self.verify_same_epilogue("consumer", config, "producer", producer)
        tile = self._popped_tile(function)
        quant, layout = config.quant.data, config.layout.data
        if tile.element_type not in epilogue.result_types(quant):
            fail(self, f"expects consumer element type to match acc_push_epilogue.quant {quant.value}")
        if not epilogue.has_layout(layout, tile):
            fail(self, f"expects consumer tile layout to match acc_push_epilogue.layout {layout.value}")
        self._verify_slot_size(tile, producer)
        self._verify_pushed(tile, producer, config)

    def _producer(self, function: FuncOp, name: str) -> Operation:
        """Return the producer's end of the pipe, found by its import of the buffer this end reserves."""
        imports = [
            op
            for op in _members(function.parent_op())
            if isinstance(op, ImportReservedBufferOp) and op.key == name and op.peer_function is function
        ]
        if not imports:
            fail(self, f"cannot find peer import_reserved_buffer for consumer buffer '{name}'; import it there")
        if len(imports) > 1:
            fail(self, f"finds multiple peer import_reserved_buffer ops for consumer buffer '{name}'; keep one")
        peer = function_of(imports[0])
        producer = _only(
            [
                other
                for other in _members(peer)
                if (isinstance(other, AicInitializePipeOp) and other.c2v_consumer_buf is imports[0].addr)
                or lowered_pipe(other, function, name)
            ]
        )
        if producer is None:
            fail(
                self,
                "expects peer producer function to contain a matching aic_initialize_pipe with the same consumer "
                "buffer contract",
            )
        return producer

    def _popped_tile(self, function: FuncOp) -> TileBufType:
        """Return the type of the tiles popped from the pipe."""
        types = [
            pop.entry_value.type
            for pop in walk(function)
            if isinstance(pop, TPopFromAicOp) and pop.pipe_id == self.pipe_id
        ]
        if not types:
            fail(
                self,
                f"expects at least one tpop_from_aic for fixpipe pipe id = {self.pipe_id} to resolve the consumer "
                "entry type",
            )
        if any(type != types[0] for type in types):
            fail(
                self,
                f"expects all tpop_from_aic results for fixpipe pipe id = {self.pipe_id} to use the same tile type",
            )
        if not isinstance(types[0], TileBufType):
            fail(self, "expects fixpipe consumer tpop result to be !pto.tile_buf")
        return types[0]

    def _verify_slot_size(self, tile: TileBufType, producer: Operation) -> None:
        if tile.bytes is None:
            return
        for whose, op in (("consumer-side", self), ("peer producer", producer)):
            if isinstance(op, OpenPipeOp | InitializePipeOp) and op.entry_bytes < tile.bytes:
                fail(
                    self,
                    f"expects {whose} fixpipe slot_size to be at least {tile.bytes} bytes for the resolved "
                    "post-fixpipe consumer entry",
                )

    def _verify_pushed(self, tile: TileBufType, producer: Operation, config: AccPushEpilogueAttr) -> None:
        function = function_of(producer)
        if not isinstance(producer, AicInitializePipeOp) or function is None:
            return
        for push in walk(function):
            if not isinstance(push, TPushToAivOp) or push.pipe_id != producer.pipe_id:
                continue
            pushed = push.entry_value.type
            if isinstance(pushed, TileBufType) and not epilogue.converts(
                config.quant.data, pushed.element_type, tile.element_type
            ):
                fail(
                    self,
                    "expects producer source element type and consumer tpop result element type to satisfy "
                    f"acc_push_epilogue.quant {config.quant.data.value}; they are {pushed.element_type} and "
                    f"{tile.element_type}",
                )


def _members(op: Operation | None) -> list[Operation]:
    return [] if op is None else list(walk(op))


def _only(found: list[Operation]) -> Operation | None:
    return found[0] if len(found) == 1 else None


def opened_pipes(function: FuncOp, pipe_id: int) -> list[OpenPipeOp]:
    """Return the operations of a function that open the pipe with this id."""
    return [op for op in walk(function) if isinstance(op, OpenPipeOp) and op.pipe_id == pipe_id]


def opened_pipe(op: FrontendOperation) -> OpenPipeOp:
    """Return the first operation that opens the pipe of `op`, which says if there are others; raises VerifyException
    if there is none."""
    pipes = (other for other in walk(require_function(op)) if isinstance(other, OpenPipeOp))
    found = next((pipe for pipe in pipes if pipe.pipe_id == op.pipe_id), None)
    if found is None:
        fail(
            op,
            f"expects 'id' = {op.pipe_id} to match a frontend initialize_pipe op in the same function; open it or "
            "correct the number",
        )
    return found


# ---------------------------------------------------------------------------------------------
# Through the pipe
# ---------------------------------------------------------------------------------------------


class PipeUseOp(FrontendOperation):
    """Pushes or pops an entry of a pipe, or frees its slot."""

    split = prop_def(IntegerAttr[I8])

    SETTINGS: ClassVar[Clauses] = {"id": parse_integer(32), "split": parse_integer(8)}
    REQUIRED: ClassVar[tuple[str, ...]] = ("split",)
    CORE: ClassVar[KernelKind]
    DIRECTION: ClassVar[int]
    NOUN: ClassVar[str]

    @property
    def split_axis(self) -> int:
        """How the entry is split between vector cores: `pipe_protocol.NO_SPLIT` or another (PTO-025 to PTO-027)."""
        return number(self.split)

    @property
    def entry_value(self) -> SSAValue:
        """The pushed or popped tile or tensor."""
        raise NotImplementedError

    def entry_types(self) -> list[Attribute]:
        """Return the type of the entry, if the operation names it."""
        return [self.entry_value.type]

    def verify_use(self) -> OpenPipeOp:
        """Verify the rules shared by all uses; return the operation that opened the pipe."""
        self.verify_settings()
        self.verify_core(self.CORE)
        self.verify_id()
        verify_split(self, self.split_axis)
        if pipe_protocol.is_odd(self.split_axis):
            self._verify_odd()
        pipe = opened_pipe(self)
        if not pipe.direction & self.DIRECTION:
            fail(
                self,
                f"expects 'id' = {self.pipe_id} to reference initialize_pipe with dir_mask = {self.DIRECTION} or 3",
            )
        if pipe.acc_push_epilogue is not None and self.split_axis != pipe_protocol.NO_SPLIT:
            fail(self, f"expects fixpipe {self.NOUN} to have split = 0")
        for entry in self.entry_types():
            verify_odd_entry(self, self.split_axis, entry)
            self._verify_tensor(pipe, entry)
        return pipe

    def _verify_odd(self) -> None:
        """Reject odd splits but of tiles through global memory; from vector cores on a2 and a3 alone."""
        pipe = opened_pipe(self)
        on_a5 = architecture_of(self) == "a5"
        in_global_memory = pipe.gm_slot_tensor is not None or (not on_a5 and pipe.gm_slot_buffer is not None)
        if self.DIRECTION == pipe_protocol.V2C:
            if on_a5 or not in_global_memory or pipe.v2c_consumer_buf is None:
                fail(
                    self,
                    "supports odd split modes (split = 3 or 4) from V2C only on A2/A3, for a GM-backed tile pipe with "
                    "both GM slot and V2C consumer buffers",
                )
        elif pipe.direction != pipe_protocol.C2V or not in_global_memory or pipe.c2v_consumer_buf is None:
            fail(
                self,
                "supports odd split modes (split = 3 or 4) only for a unidirectional C2V GM-backed tile pipe with "
                "both GM slot and C2V consumer buffers",
            )

    def _verify_tensor(self, pipe: OpenPipeOp, entry: Attribute) -> None:
        if not isinstance(entry, TensorViewType):
            return
        if pipe.gm_slot_tensor is None:
            fail(
                self,
                f"expects 'id' = {self.pipe_id} to reference initialize_pipe with 'gm_slot_tensor' when the pipe entry "
                "is !pto.tensor_view",
            )
        slot = pipe.gm_slot_tensor.type
        if isinstance(slot, ViewType):
            verify_entry_matches(self, entry, slot, "gm_slot_tensor")


def _use(split: int, id: int) -> dict[str, Attribute]:
    """Return the properties of an operation on an entry."""
    return {"id": IntegerAttr(id, i32), "split": IntegerAttr(split, i8)}


class AllocSlotOp(OneResultOp, PipeUseOp):
    """Allocates the next free slot in global memory, a tensor to be written and then pushed (PTO-011).

    `%slot = pto.talloc_to_aiv {id = 0, split = 0} -> !pto.tensor_view<16x16xf32>`
    """

    entry = result_def(TensorViewType)
    NOUN: ClassVar[str] = "TALLOC"

    def __init__(self, type: TensorViewType, split: int, id: int = 0) -> None:
        super().__init__(result_types=[type], properties=_use(split, id))

    @property
    def entry_value(self) -> SSAValue:
        return self.entry

    def verify_(self) -> None:
        self.verify_use()


class PushOp(PipeUseOp):
    """Pushes a tile into the next slot of a pipe, or a slot in global memory that was written.

    `pto.tpush_to_aiv(%tile : <type>) {id = 0, split = 0}`; a push of a tile waits for a free slot now and then
    (PTO-006, PTO-028), stores the tile and signals the consumer (PTO-007, PTO-008); a push of a tensor only signals
    (PTO-010). The cube core pushes accumulator tiles, the vector cores tiles of theirs (PTO-017 to PTO-019).
    """

    tile = operand_def(TileBufType | TensorViewType)
    NOUN: ClassVar[str] = "TPUSH"
    SPACE: ClassVar[AddressSpace]

    def __init__(self, tile: SSAValue, split: int, id: int = 0) -> None:
        rest = [None] * (len(self.get_irdl_definition().operands) - 1)
        super().__init__(operands=[tile, *rest], properties=_use(split, id))

    @property
    def entry_value(self) -> SSAValue:
        return self.tile

    def verify_push(self) -> OpenPipeOp:
        """Verify the rules shared by all pushes."""
        pipe = self.verify_use()
        entry = self.tile.type
        if isinstance(entry, TileBufType) and pipe.acc_push_epilogue is None:
            if entry.location is not self.SPACE:
                fail(
                    self,
                    f"expects a tile with loc={self.SPACE.value}, which the {self.CORE.value} core pushes, not "
                    f"{entry.location.value}",
                )
            verify_entry_fits(self, entry, pipe.entry_bytes)
        return pipe


@irdl_op_definition
class TAllocToAivOp(AllocSlotOp):
    __doc__ = AllocSlotOp.__doc__

    name = "pto.talloc_to_aiv"
    CORE: ClassVar[KernelKind] = KernelKind.CUBE
    DIRECTION: ClassVar[int] = pipe_protocol.C2V


@irdl_op_definition
class TAllocToAicOp(AllocSlotOp):
    __doc__ = AllocSlotOp.__doc__

    name = "pto.talloc_to_aic"
    CORE: ClassVar[KernelKind] = KernelKind.VECTOR
    DIRECTION: ClassVar[int] = pipe_protocol.V2C


@irdl_op_definition
class TPushToAivOp(OneOperandOp, PushOp):
    __doc__ = PushOp.__doc__

    name = "pto.tpush_to_aiv"
    CORE: ClassVar[KernelKind] = KernelKind.CUBE
    DIRECTION: ClassVar[int] = pipe_protocol.C2V
    SPACE: ClassVar[AddressSpace] = AddressSpace.ACC

    def verify_(self) -> None:
        pipe = self.verify_push()
        verify_parity(self, self.split_axis, self.tile.type)
        if isinstance(pipe, AicInitializePipeOp) and pipe.acc_push_epilogue is not None:
            self._verify_epilogue(pipe.acc_push_epilogue)

    def _verify_epilogue(self, config: AccPushEpilogueAttr) -> None:
        tile, quant = self.tile.type, config.quant.data
        if not isinstance(tile, TileBufType):
            fail(self, "expects fixpipe TPUSH source tile to be a tile type")
        if tile.location is not AddressSpace.ACC:
            fail(self, f"expects fixpipe TPUSH source tile to use loc=acc, not {tile.location.value}")
        if tile.element_type not in epilogue.source_types(quant):
            fail(
                self,
                "expects fixpipe TPUSH source element type to match acc_push_epilogue.quant mode requirements; "
                f"{quant.value} takes {epilogue.source_types(quant)[0]}, not {tile.element_type}",
            )
        for needed, setter in ((quant.is_scalar, SetQuantScalarOp), (quant.is_vector, SetQuantVectorOp)):
            if needed and not self._is_preceded_by(setter):
                fail(self, f"expects a preceding {setter.name} with id = {self.pipe_id} in the same block")

    def _is_preceded_by(self, setter: type[FrontendOperation]) -> bool:
        before = self.prev_op
        while before is not None:
            if isinstance(before, setter) and before.pipe_id == self.pipe_id:
                return True
            before = before.prev_op
        return False


@irdl_op_definition
class TPushToAicOp(PushOp):
    __doc__ = f"""{PushOp.__doc__}
    It may be followed by the vector core whose part it is: `aiv_subblockid(%lane)`.
    """

    name = "pto.tpush_to_aic"
    tile = operand_def(TileBufType | TensorViewType)
    aiv_subblockid = opt_operand_def(i64)
    CORE: ClassVar[KernelKind] = KernelKind.VECTOR
    DIRECTION: ClassVar[int] = pipe_protocol.V2C
    SPACE: ClassVar[AddressSpace] = AddressSpace.VEC

    @classmethod
    def parse(cls, parser: Parser) -> TPushToAicOp:
        with parser.in_parens():
            tile = parse_typed_operand(parser)
        settings = cls.parse_settings(parser)
        return cls.build(
            operands=[tile, parse_lane(parser)],
            properties=settings,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            print_typed_operands(printer, [self.tile])
        self.print_settings(printer)
        print_lane(printer, self.aiv_subblockid)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        self.verify_push()
        verify_lane_operand(self, self.aiv_subblockid, self.split_axis, self.tile.type)


class PopOp(PipeUseOp):
    """Pops the next entry of a pipe: a tile, or the slot in global memory as a tensor.

    `%tile = pto.tpop_from_aic(%m, %n) {id = 0, split = 1} aiv_subblockid(%lane) -> <type>`: valid rows and columns are
    given where the tile's type leaves them open; `aiv_subblockid` says which vector core's part it is.
    """

    valid_row = opt_operand_def(_INDEX)
    valid_col = opt_operand_def(_INDEX)
    aiv_subblockid = opt_operand_def(i64)
    tile = result_def(TileBufType | TensorViewType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    NOUN: ClassVar[str] = "TPOP"

    def __init__(
        self,
        type: TileBufType | TensorViewType,
        split: int,
        id: int = 0,
        *,
        valid_row: SSAValue | None = None,
        valid_col: SSAValue | None = None,
        aiv_subblockid: SSAValue | None = None,
    ) -> None:
        super().__init__(
            operands=[valid_row, valid_col, aiv_subblockid], result_types=[type], properties=_use(split, id)
        )

    @property
    def entry_value(self) -> SSAValue:
        return self.tile

    @classmethod
    def parse(cls, parser: Parser) -> PopOp:
        valid: tuple[SSAValue | None, SSAValue | None] = (None, None)
        if parser.parse_optional_punctuation("(") is not None:
            rows = parser.parse_operand(_INDEX)
            parser.parse_punctuation(",")
            valid = (rows, parser.parse_operand(_INDEX))
            parser.parse_punctuation(")")
        settings = cls.parse_settings(parser)
        lane = parse_lane(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.build(
            operands=[*valid, lane],
            result_types=[parser.parse_type()],
            properties=settings,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        if self.valid_row is not None and self.valid_col is not None:
            with printer.in_parens():
                printer.print_list((self.valid_row, self.valid_col), printer.print_operand)
        self.print_settings(printer)
        print_lane(printer, self.aiv_subblockid)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.tile.type)

    def verify_(self) -> None:
        pipe = self.verify_use()
        entry = self.tile.type
        has_valid = self.valid_row is not None
        if has_valid != (self.valid_col is not None):
            fail(self, "expects valid_row and valid_col operands to be provided together")
        is_part = pipe_protocol.is_odd(self.split_axis) and self.DIRECTION == pipe_protocol.C2V
        if is_part and not has_valid and isinstance(entry, TileBufType):
            fail(self, "expects odd C2V split tpop to provide per-sub-core valid_row and valid_col operands")
        if has_valid:
            if not isinstance(entry, TileBufType):
                fail(self, "does not accept valid_row/valid_col when result is !pto.tensor_view")
            if not entry.has_dynamic_valid:
                fail(
                    self,
                    "expects tile result to have dynamic validShape (?, ?) when valid_row/valid_col operands are "
                    "provided; write v_row=?, v_col=?",
                )
            verify_valid(self, self.valid_row, self.valid_col, entry)
        if self.CORE is KernelKind.CUBE:
            verify_parity(self, self.split_axis, entry)
        verify_lane_operand(self, self.aiv_subblockid, self.split_axis, entry)
        if isinstance(pipe, AivInitializePipeOp) and pipe.acc_push_epilogue is not None:
            self._verify_epilogue(pipe.acc_push_epilogue)

    def _verify_epilogue(self, config: AccPushEpilogueAttr) -> None:
        tile = self.tile.type
        if not isinstance(tile, TileBufType):
            fail(self, "expects fixpipe TPOP result to be a tile type")
        if any(
            isinstance(other, TPopFromAicOp) and other.pipe_id == self.pipe_id and other.tile.type != tile
            for other in walk(require_function(self))
        ):
            fail(
                self,
                f"expects all tpop_from_aic results for fixpipe pipe id = {self.pipe_id} to use the same tile type",
            )
        quant, layout = config.quant.data, config.layout.data
        if tile.element_type not in epilogue.result_types(quant):
            fail(self, f"expects consumer element type to match acc_push_epilogue.quant {quant.value}")
        if not epilogue.has_layout(layout, tile):
            fail(self, f"expects consumer tile layout to match acc_push_epilogue.layout {layout.value}")


@irdl_op_definition
class TPopFromAicOp(PopOp):
    __doc__ = PopOp.__doc__

    name = "pto.tpop_from_aic"
    CORE: ClassVar[KernelKind] = KernelKind.VECTOR
    DIRECTION: ClassVar[int] = pipe_protocol.C2V


@irdl_op_definition
class TPopFromAivOp(PopOp):
    __doc__ = PopOp.__doc__

    name = "pto.tpop_from_aiv"
    CORE: ClassVar[KernelKind] = KernelKind.CUBE
    DIRECTION: ClassVar[int] = pipe_protocol.V2C


class FreeOp(PipeUseOp):
    """Frees the slot of the popped entry, for the producer.

    `pto.tfree_from_aic {id = 0, split = 0}`, or `pto.tfree_from_aic(%slot : <type>) {id = 0, split = 0}` of a slot in
    global memory.
    """

    entry = opt_operand_def(TileBufType | TensorViewType)
    NOUN: ClassVar[str] = "TFREE"

    def __init__(self, split: int, id: int = 0, entry: SSAValue | None = None) -> None:
        super().__init__(operands=[entry], properties=_use(split, id))

    def entry_types(self) -> list[Attribute]:
        return [] if self.entry is None else [self.entry.type]

    @classmethod
    def parse(cls, parser: Parser) -> FreeOp:
        entry: SSAValue | None = None
        if parser.parse_optional_punctuation("(") is not None:
            entry = parse_typed_operand(parser)
            parser.parse_punctuation(")")
        settings = cls.parse_settings(parser)
        return cls.build(operands=[entry], properties=settings, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        if self.entry is not None:
            with printer.in_parens():
                print_typed_operands(printer, [self.entry])
        self.print_settings(printer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        self.verify_use()


@irdl_op_definition
class TFreeFromAicOp(FreeOp):
    __doc__ = FreeOp.__doc__

    name = "pto.tfree_from_aic"
    CORE: ClassVar[KernelKind] = KernelKind.VECTOR
    DIRECTION: ClassVar[int] = pipe_protocol.C2V


@irdl_op_definition
class TFreeFromAivOp(FreeOp):
    __doc__ = FreeOp.__doc__

    name = "pto.tfree_from_aiv"
    CORE: ClassVar[KernelKind] = KernelKind.CUBE
    DIRECTION: ClassVar[int] = pipe_protocol.V2C


# ---------------------------------------------------------------------------------------------
# Control signals
# ---------------------------------------------------------------------------------------------


class SignalOp(PipeUseOp):
    """A push or a pop of a control signal, from vector cores to the cube core (PTO-021)."""

    SETTINGS: ClassVar[Clauses] = FrontendOperation.SETTINGS
    REQUIRED: ClassVar[tuple[str, ...]] = ()
    DIRECTION: ClassVar[int] = pipe_protocol.V2C

    @classmethod
    def parse_settings(cls, parser: Parser) -> dict[str, Attribute]:
        return {**super().parse_settings(parser), **whole()}

    def verify_(self) -> None:
        pipe = self.verify_use()
        if pipe.consumer_buffer(self.DIRECTION) is None:
            fail(
                self,
                f"expects 'id' = {self.pipe_id} to reference initialize_pipe with 'v2c_consumer_buf'; a pipe "
                "whose slots are tensors has no room for signals",
            )
        verify_signal(self, self.entry_value.type, self.split_axis, pipe.entry_bytes)


@irdl_op_definition
class TPushSignalToAicOp(OneOperandOp, SignalOp):
    """Pushes a control signal into a pipe to the cube core: `pto.tpush_signal_to_aic(%signal : i1) {id = 0}`.

    Ours: the public text has no form for it. It takes a slot of an ordinary pipe as a whole tile does (`split = 0`),
    and is stored as one 32-bit word, 1 if it is true and else 0 (PTO-021).
    """

    name = "pto.tpush_signal_to_aic"
    signal = operand_def()
    CORE: ClassVar[KernelKind] = KernelKind.VECTOR
    NOUN: ClassVar[str] = "TPUSH"

    @property
    def entry_value(self) -> SSAValue:
        return self.signal


@irdl_op_definition
class TPopSignalFromAivOp(OneResultOp, SignalOp):
    """Pops the next entry of a pipe as a control signal: `%signal = pto.tpop_signal_from_aiv {id = 0} -> i1`.

    Ours: the public text has no form for it. The signal is true if the first word of the slot is 1 (PTO-021); the slot
    is freed by `pto.tfree_from_aiv {id = 0, split = 0}`.
    """

    name = "pto.tpop_signal_from_aiv"
    signal = result_def()
    CORE: ClassVar[KernelKind] = KernelKind.CUBE
    NOUN: ClassVar[str] = "TPOP"

    @property
    def entry_value(self) -> SSAValue:
        return self.signal


# ---------------------------------------------------------------------------------------------
# Scales of the conversion out of the accumulator
# ---------------------------------------------------------------------------------------------


class SetQuantOp(OneOperandOp):
    """Sets the scale by which the next pushes of a pipe convert elements."""

    REQUIRED: ClassVar[tuple[str, ...]] = ("id",)

    def verify_pipe(self, kind: str) -> None:
        """Verify that the pipe quantizes, by scales of a `kind`: `scalar` or `vector`."""
        self.verify_settings()
        function = require_function(self)
        frontend: list[Operation] = [*opened_pipes(function, self.pipe_id)]
        found = frontend or [
            op for op in walk(function) if isinstance(op, InitializePipeOp) and op.frontend_id == self.pipe_id
        ]
        if len(found) != 1:
            count = "exactly one" if found else "a"
            fail(
                self,
                f"expects 'id' = {self.pipe_id} to match {count} frontend or lowered initialize_pipe op in the same "
                "function",
            )
        if isinstance(found[0], AivInitializePipeOp):
            fail(
                self,
                f"expects 'id' = {self.pipe_id} to reference an aic_initialize_pipe or lowered producer pipe",
            )
        config = _epilogue_of(found[0])
        if config is None:
            fail(self, f"expects 'id' = {self.pipe_id} to reference a fixpipe pipe (with acc_push_epilogue)")
        quant = config.quant.data
        if not (quant.is_scalar if kind == "scalar" else quant.is_vector):
            fail(
                self,
                f"expects 'id' = {self.pipe_id} to reference a pipe with {kind} quantization mode, but found "
                f"non-{kind} mode",
            )


@irdl_op_definition
class SetQuantScalarOp(SetQuantOp):
    """Sets one scale for all elements: `pto.set_quant_scalar(%s : f32) {id = 0}`."""

    name = "pto.set_quant_scalar"
    scale = operand_def()

    def verify_(self) -> None:
        if self.scale.type != f32:
            fail(self, f"operand #0 must be 32-bit float, but got '{self.scale.type}'; expects 'scale' to be f32")
        self.verify_pipe("scalar")


@irdl_op_definition
class SetQuantVectorOp(SetQuantOp):
    """Sets a scale for each column: `pto.set_quant_vector(%t : !pto.tile_buf<loc=scaling, ...>) {id = 0}`."""

    name = "pto.set_quant_vector"
    scaling_tile = operand_def(TileBufType | TensorViewType)

    def verify_(self) -> None:
        self.verify_pipe("vector")
        tile = self.scaling_tile.type
        if not isinstance(tile, TileBufType):
            fail(self, "expects 'scaling_tile' to be a tile type")
        if tile.location is not AddressSpace.SCALING:
            fail(self, f"expects 'scaling_tile' to use loc=scaling, not {tile.location.value}")
        architecture = architecture_of(self)
        if architecture is None:
            return
        if tile.element_type not in epilogue.factor_types(architecture):
            kinds = "f16, bf16, or f32 on A5" if architecture == "a5" else "packed i64/ui64 on A3"
            fail(self, f"expects 'scaling_tile' element type to be {kinds}, not {tile.element_type}")
