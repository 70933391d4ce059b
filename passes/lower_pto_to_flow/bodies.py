"""Kernel bodies: one function of `flow` for each kernel that the host launches, with its callees inlined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects import arith, cf, func, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerType,
    StringAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
    VectorType,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...analysis.pto.local_memory import called, tile_strides
from ...analysis.pto.pipe_ends import refusal
from ...analysis.pto.scale_tensors import inferred_order
from ...dialects import flow
from ...dialects.pto.attributes import AddressSpace, KernelKind, Layout
from ...dialects.pto.frontend_pipes import SetQuantOp
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.internal_pipes import (
    InitializePipeOp,
    TAllocOp,
    TFreeOp,
    TPopOp,
    TPopSignalOp,
    TPushOp,
    TPushSignalOp,
)
from ...dialects.pto.kernels import (
    BarrierOp,
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    SectionCubeOp,
    SectionOp,
    SetFftsOp,
    SyncAllOp,
    argument_name,
    core_of,
    kernel_kind,
)
from ...dialects.pto.memory import (
    AddPtrOp,
    AllocTileOp,
    DeclareGlobalOp,
    DeclareTileOp,
    LoadScalarOp,
    MakeTensorViewOp,
    PartitionViewOp,
    SetValidShapeOp,
    StoreScalarOp,
    SubViewOp,
    TReshapeOp,
)
from ...dialects.pto.tiles import TCvtOp, TileOperation, TMovOp, TPrintOp
from ...dialects.pto.types import PartitionTensorViewType, PipeType, TensorViewType, TileBufType, element_bytes
from ...dialects.scalar_types import SCALAR_DIALECTS
from ...targets.chip import BOX_ROWS, SCALE_BOX
from . import core_flags, packed_floats, scale_orders
from .barriers import Barriers
from .control_flow import ControlFlow, single_block
from .emission import Emitter
from .handles import Handles, is_handle, lowered, pointed
from .instruction_context import Instructions
from .instructions import lower_instruction
from .pipes import Machine, Pipes, Plan
from .tile_operations import CONVERTER, TileOperations
from .unused import erase_unused
from .views import GLOBAL_MEMORY, SPACES, TENSOR_RANK, Declared, Number, View

ARGUMENTS, POINTERS, TYPES = "loom.arguments", "loom.pointers", "loom.types"
"""Attributes of a function a host starts: the names of its arguments in the source, what those that are pointers
point to, and the types of the numbers that it gets."""

_MIN_RANK = 2

ARGUMENT_BYTES = 8
"""Bytes of an argument in the table of several devices."""


class KernelLowering:
    """Lowers a function for one core. `spaces` collects the bytes of the spaces made for it alone."""

    def __init__(
        self,
        function: FuncOp,
        core: KernelKind,
        machine: Machine,
        plans: Mapping[InitializePipeOp, Plan],
        barriers: Barriers,
        flags: core_flags.CoreFlags,
    ) -> None:
        self.function = function
        self.core = core
        self.machine = machine
        self.barriers = barriers
        self.core_flags = flags
        self.spaces: dict[str, int] = {}
        self.emitter = Emitter(Block(), function)
        self.handles = Handles(self.emitter)
        self.lane = self._lane()
        self._table = self._arguments_of_device()
        self._taken = 0
        self.tiles = TileOperations(self.emitter, self.handles, machine.chip)
        self.pipes = Pipes(self.emitter, self.handles, core, machine, plans, self.lane, self.tiles.convert_push)
        self.instructions = Instructions(self.emitter, self.handles, self.tiles, self.spaces, self._bind)
        self.control_flow = ControlFlow(self.emitter, self.handles, self._body)
        self._opened: list[list[InitializePipeOp]] = []
        self._active: list[FuncOp] = []

    def lower(self, name: str) -> flow.FuncOp:
        """Return the function of `flow`, called `name` there."""
        entry = self.emitter.entry
        names: list[Attribute] = []
        pointers: list[Attribute] = []
        types: list[Attribute] = []
        for argument in self.function.body.block.args:
            own = argument_name(argument)
            if isinstance(argument.type, TileBufType):
                self._own_tile(argument, own)
                continue
            if isinstance(argument.type, VectorType):
                continue  # numbers of sorted pairs: nothing that runs reads them, and a host passes none
            self._argument(argument, own)
            names.append(StringAttr(own))
            pointers.append(pointed(argument.type) or UnitAttr())
            types.append(self._type(argument))
        self._body(self.function.body.block)
        self.emitter.at = self.function
        self.emitter.append(flow.ReturnOp())
        if self.tiles.converter_bytes:
            self.spaces[CONVERTER] = self.tiles.converter_bytes
        region = Region(entry)
        erase_unused(region)
        new = flow.FuncOp(name, region)
        new.attributes |= {ARGUMENTS: ArrayAttr(names), POINTERS: ArrayAttr(pointers), TYPES: ArrayAttr(types)}
        new.location = self.function.location
        return new

    # Arguments ---------------------------------------------------------------------------------

    def _type(self, old: BlockArgument) -> Attribute:
        """Return the type of the number that a host passes for an argument."""
        return i64 if isinstance(old.type, IndexType) or pointed(old.type) is not None else lowered(old.type)

    def _argument(self, old: BlockArgument, name: str) -> None:
        entry = self.emitter.entry
        if isinstance(old.type, TensorViewType | PartitionTensorViewType | PipeType):
            raise refusal(
                self.function,
                f"takes %{name} of type {old.type}, which a host cannot pass; take a pointer, and make the view in the "
                "kernel",
            )
        type = self._type(old)
        new = entry.insert_arg(type, len(entry.args)) if self._table is None else self._from_table(type, self._table)
        new.name_hint = old.name_hint
        self.handles.values[old] = new
        if isinstance(old.type, IndexType):
            self.handles.values[old] = self.emitter.make(arith.IndexCastOp(new, IndexType()))

    def _arguments_of_device(self) -> Number | None:
        """Return the address of the arguments of the core's device; None if it is the only one."""
        machine = self.machine
        if machine.devices == 1:
            return None
        table = self.emitter.entry.insert_arg(i64, 0)
        row = self.emitter.integer(self.emitter.make(flow.CoordinateOp("y", IndexType())))
        count = sum(not isinstance(argument.type, TileBufType) for argument in self.function.body.block.args)
        return self.emitter.add(
            table, self.emitter.multiply(self.emitter.divide(row, machine.blocks), count * ARGUMENT_BYTES)
        )

    def _from_table(self, type: Attribute, table: Number) -> SSAValue:
        """Return the next argument of the core's device."""
        address = self.emitter.add(table, self._taken * ARGUMENT_BYTES)
        self._taken += 1
        stored = IntegerType(8) if type == i1 else type
        value = self.emitter.make(
            flow.TileGetOp(self.emitter.tile(View(GLOBAL_MEMORY, stored, address, (1,), (1,))), stored)
        )
        return self.emitter.make(arith.TruncIOp(value, i1)) if type == i1 else value

    def _own_tile(self, old: BlockArgument, name: str) -> None:
        """Place a tile argument in a space of its own, which starts as zeros."""
        tile = old.type
        assert isinstance(tile, TileBufType)
        if tile.bytes is None:
            raise refusal(self.function, f"takes tile %{name} of {tile.element_type}, whose size is unknown")
        space = f"argument_{name}"
        self.spaces[space] = tile.bytes
        self.handles.bind(old, View(space, tile.element_type, 0, self._valid(tile, None, None), tile_strides(tile)))

    def _lane(self) -> SSAValue:
        """Return the column of this vector core; 0 for the cube core."""
        if self.core is KernelKind.CUBE:
            return self.emitter.constant(0)
        column = self.emitter.make(flow.CoordinateOp("x", IndexType()))
        lane = self.emitter.make(arith.SubiOp(column, self.emitter.constant(1, IndexType())))
        return self.emitter.integer(lane)

    # Blocks ------------------------------------------------------------------------------------

    def _body(self, block: Block) -> Sequence[SSAValue]:
        """Lower the operations of a block; return its terminator's operands."""
        self._opened.append([])
        ended: Sequence[SSAValue] = ()
        for op in block.ops:
            self.emitter.at = op
            if isinstance(op, func.ReturnOp | scf.YieldOp | scf.ConditionOp):
                ended = op.operands
                break
            self._operation(op)
        for pipe in self._opened.pop():
            self.pipes.close(pipe)
        return ended

    def _is_of_another_core(self, op: Operation) -> bool:
        """Return True if only sections for the other kind of core use a tile or part, which this core may not reach."""
        uses = list(op.results[0].uses)
        return bool(uses) and all(core_of(use.operation) not in (None, self.core) for use in uses)

    def _operation(self, op: Operation) -> None:
        match op:
            case TCvtOp() if packed_floats.converts(op):
                packed_floats.convert(self.instructions, op)
            case TMovOp() if scale_orders.orders_scales(op):
                scale_orders.order_scales(self.instructions, op)
            case TileOperation():
                self.tiles.lower(op)
            case InstructionOp() if op.row.name in core_flags.NAMES:
                column = 0 if self.core is KernelKind.CUBE else self.emitter.add(self.lane, 1)
                self.core_flags.lower(op, column, self.emitter, self.handles)
            case InstructionOp() if op.row.name == "tassign":
                self._assign(op)
            case InstructionOp():
                lower_instruction(self.instructions, op)
            case arith.SelectOp() if is_handle(op.result):
                self.control_flow.select(op)
            case _ if op.dialect_name() in SCALAR_DIALECTS:
                self._copy(op)
            case AllocTileOp() | PartitionViewOp() if self._is_of_another_core(op):
                pass
            case UnrealizedConversionCastOp() if _changes_sign_alone(op):
                self.handles.values[op.results[0]] = self.handles.value(op.operands[0])
            case AllocTileOp():
                self._allocate(op)
            case cf.AssertOp():
                self.emitter.append(flow.AssertOp(self.handles.value(op.arg), op.msg.data))
            case PartitionViewOp():
                self._partition(op)
            case MakeTensorViewOp():
                self._tensor(op)
            case scf.IfOp() | scf.ForOp() | scf.WhileOp():
                self.control_flow.lower(op)
            case TPopOp():
                self.pipes.pop(op)
            case TPushOp():
                self.pipes.push(op)
            case TFreeOp():
                self.pipes.free(op)
            case TAllocOp():
                self.pipes.allocate(op)
            case TPushSignalOp():
                self.pipes.push_signal(op)
            case TPopSignalOp():
                self.pipes.pop_signal(op)
            case InitializePipeOp():
                self.pipes.open(op)
                self._opened[-1].append(op)
            case DeclareTileOp():
                assert isinstance(op.tile.type, TileBufType)
                self.handles.bind(op.tile, Declared(self._valid(op.tile.type, None, None)))
            case DeclareGlobalOp():
                self.handles.bind(op.entry, Declared(()))
            case SetValidShapeOp():
                self._set_valid(op)
            case SubViewOp():
                self._subview(op)
            case TReshapeOp():
                self._reshape(op)
            case AddPtrOp():
                address = self.tiles.address_behind(op, op.ptr, self.handles.number(op.offset))
                self.handles.values[op.result] = self.emitter.value(address)
            case LoadScalarOp():
                self.tiles.load(op)
            case StoreScalarOp():
                self.tiles.store(op)
            case TPrintOp():
                self.tiles.print(op)
            case SetQuantOp():
                self.tiles.set_scale(op)
            case GetBlockIdxOp() | GetBlockNumOp() | GetSubBlockIdxOp() | GetSubBlockNumOp():
                self.handles.values[op.result] = self._place(op)
            case BarrierOp() | SetFftsOp():
                # Operations of a core take place one after the other here.
                pass
            case SyncAllOp():
                self.barriers.lower(op, self.core, self.emitter)
            case SectionOp():
                if isinstance(op, SectionCubeOp) == (self.core is KernelKind.CUBE):
                    self._body(op.body.block)
            case func.CallOp():
                self._call(op)
            case _:
                raise refusal(
                    op, "has no counterpart in `flow`; use operations on tiles and pipes, arith, math and scf"
                )

    def _call(self, op: func.CallOp) -> None:
        """Inline the callee in place of the call."""
        callee = called(op)
        if callee is None:
            raise refusal(op, f"calls @{op.callee.string_value()}, which has no body here; define it in the module")
        kind = kernel_kind(callee)
        if kind is not None and kind is not self.core:
            return
        if callee in self._active:
            raise refusal(op, f"calls @{callee.sym_name.data} from itself; write a loop instead")
        block = single_block(callee, callee.body)
        for argument, operand in zip(block.args, op.arguments, strict=True):
            self._alias(argument, operand)
        self._active.append(callee)
        results = self._body(block)
        self._active.pop()
        self.emitter.at = op
        for result, value in zip(op.results, results, strict=True):
            self._alias(result, value)
        # What the callee changed of a tile, the caller sees.
        for argument, operand in zip(block.args, op.arguments, strict=True):
            if isinstance(argument.type, TileBufType):
                self.handles.bind(operand, self.handles.meaning(argument))

    def _alias(self, new: SSAValue, old: SSAValue) -> None:
        """Make a value of the kernel an alias of another."""
        if isinstance(old.type, PipeType):
            self.pipes.pipes[new] = self.pipes.pipes[old]
        elif is_handle(old):
            self.handles.bind(new, self.handles.meaning(old))
        else:
            self.handles.values[new] = self.handles.value(old)

    def _place(self, op: GetBlockIdxOp | GetBlockNumOp | GetSubBlockIdxOp | GetSubBlockNumOp) -> SSAValue:
        match op:
            case GetBlockIdxOp():
                row = self.emitter.integer(self.emitter.make(flow.CoordinateOp("y", IndexType())))
                if self.machine.devices == 1:
                    return row
                return self.emitter.value(self.emitter.remainder(row, self.machine.blocks))
            case GetBlockNumOp():
                return self.emitter.constant(self.machine.blocks)
            case GetSubBlockIdxOp():
                return self.lane
            case _:
                return self.emitter.constant(self.machine.lanes)

    # Scalar code -------------------------------------------------------------------------------

    def _copy(self, op: Operation) -> None:
        """Copy scalar code, on the new values."""
        new = op.clone_without_regions({old: self.handles.value(old) for old in op.operands})
        self.emitter.append(new)
        self._results(op, new)

    def _results(self, op: Operation, new: Operation) -> None:
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            self.handles.values[old] = result

    # Tensors -----------------------------------------------------------------------------------

    def _tensor(self, op: MakeTensorViewOp) -> None:
        tensor = op.result.type
        assert isinstance(tensor, TensorViewType)
        extents = tuple(
            self.handles.number(given) if extent < 0 else extent
            for extent, given in zip(tensor.extents, op.shape, strict=True)
        )
        strides = tuple(self.handles.number(stride) for stride in op.strides)
        view = View(GLOBAL_MEMORY, tensor.element_type, self.handles.number(op.ptr), extents, strides)
        order = inferred_order(op)
        layout = self._layout(op, view)
        if order is not Layout.ND:
            view = replace(view, layout=order)
        elif layout is not Layout.ND:
            # The order of its dimensions says which are rows and which are columns.
            missing = TENSOR_RANK - len(extents)
            view = replace(view, extents=(1,) * missing + extents, strides=(0,) * missing + strides, layout=layout)
        self.handles.bind(op.result, view)

    def _layout(self, op: MakeTensorViewOp, view: View) -> Layout:
        """Return the layout of a tensor: the stated one, or the fractal one that PTOAS infers.

        That is where the last three of its dimensions are a box of 16-bit elements, without a gap.
        """
        rank = len(view.extents)
        if op.layout is None:
            alike = view.extents[-3:] == (BOX_ROWS,) * 3 and view.strides[-2:] == (BOX_ROWS, 1)
            return Layout.NZ if alike and element_bytes(view.element) == 2 else Layout.ND
        layout = op.layout.data
        if layout is Layout.DN and rank <= _MIN_RANK:
            return Layout.ND
        if layout in (Layout.MX_A_ZZ, Layout.MX_B_NN) and (rank < TENSOR_RANK or view.extents[-2:] != SCALE_BOX):
            raise refusal(
                op,
                f"has layout {layout.value} in global memory, with boxes of 16 x 2 scales; give its shape in five "
                "dimensions, the last of which are 16 and 2",
            )
        return layout

    def _partition(self, op: PartitionViewOp) -> None:
        whole = self.handles.view(op.source)
        offsets = [self.handles.number(offset) for offset in op.offsets]
        extents = tuple(self.handles.number(size) for size in op.sizes)
        for offset, extent, limit in zip(offsets, extents, whole.extents[-len(extents) :], strict=True):
            self.emitter.within(
                offset, extent, limit, "the partition stays within its tensor; correct offsets or sizes"
            )
        if whole.layout is not Layout.ND and len(whole.extents) == TENSOR_RANK:
            missing = len(whole.extents) - len(extents)
            self.handles.bind(op.result, self.emitter.part(whole, [0] * missing + offsets, (1,) * missing + extents))
            return
        part = self.emitter.part(whole, offsets, extents)
        # Dimensions of one element in front say nothing.
        leading = 0
        while len(extents) - leading > _MIN_RANK and extents[leading] == 1:
            leading += 1
        part = replace(part, extents=extents[leading:], strides=part.strides[leading:])
        if len(part.extents) > flow.MAX_TILE_DIMENSIONS:
            raise refusal(
                op,
                f"has {len(part.extents)} dimensions of more than one element; use at most {flow.MAX_TILE_DIMENSIONS}",
            )
        self.handles.bind(op.result, part)

    # Tiles -------------------------------------------------------------------------------------

    def _valid(self, tile: TileBufType, rows: SSAValue | None, columns: SSAValue | None) -> tuple[Number, Number]:
        """Return valid rows and columns: those of the type, else the operands, else the whole tile."""
        found: list[Number] = []
        for stated, given, whole in zip(tile.valid_shape, (rows, columns), tile.shape, strict=True):
            if stated >= 0:
                found.append(stated)
            else:
                found.append(whole if given is None else self._valid_extent(self.handles.number(given), whole))
        return found[0], found[1]

    def _valid_extent(self, valid: Number, whole: int) -> Number:
        """Return a number of valid rows or columns, checked against the tile."""
        self.emitter.at_most(valid, whole, "valid rows and columns stay within the tile; correct them", "one of them")
        return valid

    def _space(self, op: Operation, tile: TileBufType) -> str:
        of_vector = tile.location is AddressSpace.VEC
        if of_vector is not (self.core is KernelKind.VECTOR):
            core = "vector cores" if self.core is KernelKind.VECTOR else "cube core"
            raise refusal(op, f"is a tile with loc={tile.location.value}, which the {core} cannot reach")
        return SPACES[tile.location]

    def _bind(self, handle: SSAValue, view: View) -> None:
        """Bind a tile, and create its value here, before the loops that use it."""
        self.handles.bind(handle, view)
        self.emitter.tile(view, handle.name_hint)

    def _allocate(self, op: AllocTileOp) -> None:
        tile = op.result.type
        assert isinstance(tile, TileBufType)
        if op.addr is None:
            raise refusal(op, "has no address; run pto-place-tiles before lower-pto-to-flow")
        extents = self._valid(tile, op.valid_row, op.valid_col)
        address = self.handles.number(op.addr)
        self._bind(op.result, View(self._space(op, tile), tile.element_type, address, extents, tile_strides(tile)))

    def _assign(self, op: InstructionOp) -> None:
        """Move a tile: what PTOAS emits changes the tile itself, so its old name is at the new address too."""
        tile, address = op.operands
        type = tile.type
        assert isinstance(type, TileBufType)
        view = View(
            self._space(op, type),
            type.element_type,
            self.handles.number(address),
            self.handles.extents(tile),
            tile_strides(type),
        )
        for handle in (tile, op.results[0]):
            self._bind(handle, view)

    def _set_valid(self, op: SetValidShapeOp) -> None:
        tile = op.source.type
        assert isinstance(tile, TileBufType)
        rows, columns = tile.shape
        extents = (
            self._valid_extent(self.handles.number(op.valid_row), rows),
            self._valid_extent(self.handles.number(op.valid_col), columns),
        )
        found = self.handles.any_view(op.source)
        if isinstance(found, Declared):
            self.handles.bind(op.source, Declared(extents))
        else:
            self._bind(op.source, replace(found, extents=extents))

    def _subview(self, op: SubViewOp) -> None:
        tile = op.result.type
        assert isinstance(tile, TileBufType)
        offsets = [self.handles.number(offset) for offset in op.offsets]
        extents = cast("tuple[Number, Number]", tuple(
            stated if stated >= 0 else size if given is None else self.handles.number(given)
            for stated, given, size in zip(tile.valid_shape, (op.valid_row, op.valid_col), op.extents, strict=True)
        ))  # fmt: skip
        whole = op.source.type
        assert isinstance(whole, TileBufType)
        for offset, size, limit in zip(offsets, op.extents, whole.shape, strict=True):
            self.emitter.within(offset, size, limit, "the subview stays within its tile; correct its offsets")
        for extent, size in zip(extents, op.extents, strict=True):
            self.emitter.at_most(extent, size, "valid rows and columns stay within the subview")
        self._bind(op.result, self.emitter.part(self.handles.view(op.source), offsets, extents))

    def _reshape(self, op: TReshapeOp) -> None:
        source, before, after = self.handles.view(op.src), op.src.type, op.result.type
        assert isinstance(before, TileBufType) and isinstance(after, TileBufType)
        extents = self._valid(after, None, None)
        if after.has_dynamic_valid:
            if after.shape == before.shape:
                extents = source.extents
            elif after.shape == before.shape[::-1]:
                extents = source.extents[::-1]
        self._bind(
            op.result,
            replace(source, element=after.element_type, extents=extents, strides=tile_strides(after)),
        )


def _changes_sign_alone(op: UnrealizedConversionCastOp) -> bool:
    """Return True for a cast between integers of one width, as from i32 to ui32."""
    types: list[Attribute] = [*op.operand_types, *op.result_types]
    if len(types) != 2 or any(not isinstance(type, IntegerType) for type in types):
        return False
    return lowered(types[0]) == lowered(types[1])
