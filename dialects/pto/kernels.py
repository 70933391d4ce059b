"""Kernels and sections: the cube or vector core that `pto` code runs on, block numbers, and synchronization.

A function is a kernel of one core if it has the attribute `pto.kernel_kind`; other code says in sections which core
it is for. The chip is in the module's attribute `pto.target_arch` or `pto.device-spec`; without either, checks
that depend on the chip are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import IntegerType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...targets.tile_limits import WORKSPACE_BITS, WORKSPACE_NUMBERS
from ..assembly import parse_members
from .assembly import parse_attribute_list, parse_typed_operands, print_attribute_list, print_typed_operands
from .attributes import (
    AddressSpace,
    HardwarePipe,
    HardwarePipeAttr,
    KernelKind,
    KernelKindAttr,
    SyncAllMode,
    SyncAllModeAttr,
    SyncCoreTypeAttr,
    parse_choice,
)
from .types import DYNAMIC, PartitionTensorViewType, PtrType, TensorViewType

Architecture: TypeAlias = Literal["a2a3", "a5"]
"""A generation of chips."""

_CHIPS: Mapping[str, Architecture] = {"a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3", "a5": "a5"}
"""The generation of each chip that a module may name."""

_A5_DEVICES = ("Ascend950", "Ascend910_95")
"""How the names of the devices of generation a5 begin."""


# ---------------------------------------------------------------------------------------------
# Around an operation
# ---------------------------------------------------------------------------------------------


def fail(op: Operation, message: str) -> NoReturn:
    """Raise VerifyException about `op`, worded as the public verifier does: `'pto.tpush' op expects ...`."""
    raise VerifyException(f"'{op.name}' op {message}")


def ancestors(op: Operation) -> Iterator[Operation]:
    """Yield the operations around `op`, innermost first."""
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def function_of(op: Operation) -> FuncOp | None:
    """Return the function around `op`; None without one."""
    return next((parent for parent in ancestors(op) if isinstance(parent, FuncOp)), None)


def require_function(op: Operation) -> FuncOp:
    """Return the function around `op`; raises VerifyException without one."""
    function = function_of(op)
    if function is None:
        fail(op, "must be nested under a func.func; put it into one")
    return function


VECTOR_CODE = ("pto.vecscope", "pto.strict_vecscope")
"""Operations whose bodies are code for the vector unit."""


def check_outside_of_vector_code(op: Operation) -> None:
    """Raise VerifyException if what orders pipelines and cores is inside code of the vector unit."""
    for parent in ancestors(op):
        if parent.name in VECTOR_CODE:
            fail(op, f"must be outside '{parent.name}'; synchronization operations delimit vector scopes")


def core_of(op: Operation) -> KernelKind | None:
    """Return the core `op` runs on: that of the section around it, or else of the function."""
    for parent in ancestors(op):
        if isinstance(parent, SectionCubeOp):
            return KernelKind.CUBE
        if isinstance(parent, SectionVectorOp):
            return KernelKind.VECTOR
        if isinstance(parent, FuncOp):
            return kernel_kind(parent)
    return None


def kernel_kind(function: FuncOp) -> KernelKind | None:
    """Return the core of a kernel, which it or else a module around it names; None for other functions."""
    for op in (function, *(parent for parent in ancestors(function) if isinstance(parent, ModuleOp))):
        attribute = op.attributes.get("pto.kernel_kind")
        if isinstance(attribute, KernelKindAttr):
            return attribute.data
    return None


_ENTRIES = ("pto.entry", "hacc.entry", "pto.kernel", "pto.aicore")
"""The attributes of functions that the host starts."""


def argument_name(argument: BlockArgument) -> str:
    """Return the name of an argument of a kernel, by which a launch gives it: that of the text, or `arg0` and so on."""
    return argument.name_hint or f"arg{argument.index}"


def is_entry(function: FuncOp) -> bool:
    """Return True for a function that the host starts."""
    return any(isinstance(function.attributes.get(name), UnitAttr) for name in _ENTRIES)


def is_tile_helper(op: Operation) -> bool:
    """Return True if `op` is in a function for both kinds of cores."""
    function = function_of(op)
    return function is not None and "pto.tileop.helper" in function.attributes


def architecture_of(op: Operation) -> Architecture | None:
    """Return the chip of the innermost module around `op` that names one; raises LoomError for an unknown name."""
    for parent in ancestors(op):
        if not isinstance(parent, ModuleOp):
            continue
        name, device = (parent.attributes.get(key) for key in ("pto.target_arch", "pto.device-spec"))
        if name is not None:
            chip = _CHIPS.get(name.data.lower()) if isinstance(name, StringAttr) else None
            if chip is None:
                raise LoomError(f"pto.target_arch = {name} is not a chip; use a2, a3, a2a3 or a5", location_of(parent))
            return chip
        if isinstance(device, StringAttr):
            return "a5" if device.data.startswith(_A5_DEVICES) else "a2a3"
    return None


def possible_architectures(op: Operation) -> tuple[Architecture, ...]:
    """Return the chips that `op` may be for: the one that a module around it names, or all.

    The device of a2 or a3 that a program was written on does not choose: it may be compiled for a5.
    """
    for parent in ancestors(op):
        if isinstance(parent, ModuleOp) and {"pto.target_arch", "pto.device-spec"} & parent.attributes.keys():
            chip = architecture_of(op)
            if chip is not None and (chip == "a5" or "pto.target_arch" in parent.attributes):
                return (chip,)
            break
    return ("a2a3", "a5")


def peer_function(op: Operation, symbol: SymbolRefAttr) -> FuncOp | None:
    """Return the function that `symbol` refers to at `op`.

    It is looked up in the module of the function around `op`, then, if that module is nested in another, among all
    functions there that are not private; None if there is no such function, or more than one.
    """
    name = symbol.root_reference.data
    module = next((parent for parent in ancestors(op) if isinstance(parent, ModuleOp)), None)
    if module is None:
        return None
    for member in module.ops:
        if isinstance(member, FuncOp) and member.sym_name.data == name:
            return member
    outer = module.parent_op()
    if not isinstance(outer, ModuleOp):
        return None
    found = [
        function
        for function in outer.walk()
        if isinstance(function, FuncOp)
        and function.sym_visibility != StringAttr("private")
        and name in (function.sym_name.data, logical_name(function))
    ]
    return found[0] if len(found) == 1 else None


def logical_name(function: FuncOp) -> str | None:
    """Return the name of a function in the Python DSL, if it comes from there."""
    name = function.attributes.get("pto.ptodsl.logical_name")
    return name.data if isinstance(name, StringAttr) else None


# ---------------------------------------------------------------------------------------------
# Sections
# ---------------------------------------------------------------------------------------------


class SectionOp(IRDLOperation):
    """Code for one kind of core, in a function for both."""

    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(self, body: Region):
        super().__init__(regions=[body])

    @classmethod
    def parse(cls, parser: Parser) -> SectionOp:
        op = cls(parse_members(parser))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class SectionCubeOp(SectionOp):
    """Code for the cube core: `pto.section.cube { ... }`."""

    name = "pto.section.cube"


@irdl_op_definition
class SectionVectorOp(SectionOp):
    """Code for the vector cores: `pto.section.vector { ... }`."""

    name = "pto.section.vector"


# ---------------------------------------------------------------------------------------------
# Numbers of blocks
# ---------------------------------------------------------------------------------------------


class IndexOp(IRDLOperation):
    """A number that distinguishes the cores that run a program."""

    result = result_def(i64)
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[i64])

    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        op = cls()
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class GetBlockIdxOp(IndexOp):
    """Number of the block that runs the code; a block is a cube core with its vector cores."""

    name = "pto.get_block_idx"


@irdl_op_definition
class GetBlockNumOp(IndexOp):
    """How many blocks run the code."""

    name = "pto.get_block_num"


@irdl_op_definition
class GetSubBlockIdxOp(IndexOp):
    """Number of the vector core among those of its block."""

    name = "pto.get_subblock_idx"


@irdl_op_definition
class GetSubBlockNumOp(IndexOp):
    """How many vector cores a block has."""

    name = "pto.get_subblock_num"


# ---------------------------------------------------------------------------------------------
# Synchronization
# ---------------------------------------------------------------------------------------------


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Waits for the instructions of a pipeline of the core: `pto.barrier <PIPE_ALL>`."""

    name = "pto.barrier"
    pipe = prop_def(HardwarePipeAttr)

    def __init__(self, pipe: HardwarePipeAttr):
        super().__init__(properties={"pipe": pipe})

    @classmethod
    def parse(cls, parser: Parser) -> BarrierOp:
        pipe = parser.parse_optional_attribute()
        if pipe is None:
            with parser.in_angle_brackets():
                pipe = HardwarePipeAttr(parse_choice(parser, HardwarePipe))
        op = cls.build(properties={"pipe": pipe})
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.pipe.print_parameter(printer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        check_outside_of_vector_code(self)


def _verify_workspace(op: Operation, workspace: SSAValue) -> None:
    """Raise VerifyException unless a barrier in software has words in global memory to count in."""
    type, extents = workspace.type, ()
    if isinstance(type, PtrType):
        if type.space.data is not AddressSpace.GM:
            fail(op, "expects gm_workspace to be in GM address space")
        element = type.element_type
    elif isinstance(type, TensorViewType | PartitionTensorViewType):
        element, extents = type.element_type, type.extents
    else:
        fail(op, "expects gm_workspace to be a GM ptr/tensor_view/partition_view")
    if not isinstance(element, IntegerType) or cast("IntegerType", element).width.data != WORKSPACE_BITS:
        fail(op, "expects gm_workspace element type to be i32")
    capacity = 1
    for extent in extents:
        if extent == DYNAMIC:
            return
        capacity *= extent
    if extents and capacity < WORKSPACE_NUMBERS:
        fail(
            op,
            f"expects gm_workspace to contain at least {WORKSPACE_NUMBERS} i32 elements (64 bytes), but static "
            f"capacity is {capacity}",
        )


@irdl_op_definition
class SyncAllOp(IRDLOperation):
    """Waits until all cores of a kind reach this barrier.

    `pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>`; in mode `soft` there is a
    workspace in global memory, and possibly the number of cores: `pto.syncall(%gm, %n : !pto.ptr<i32>, i32) ...`.
    """

    name = "pto.syncall"
    gm_workspace = opt_operand_def(PtrType | TensorViewType | PartitionTensorViewType)
    used_cores = opt_operand_def(i32)
    mode = prop_def(SyncAllModeAttr)
    core_type = prop_def(SyncCoreTypeAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> SyncAllOp:
        operands: Sequence[SSAValue] = ()
        position = parser.pos
        parser.parse_punctuation("(")
        if parser.parse_optional_punctuation(")") is None:
            operands = parse_typed_operands(parser)
            parser.parse_punctuation(")")
        parser.parse_keyword("mode")
        parser.parse_punctuation("=")
        mode = parser.parse_attribute()
        parser.parse_punctuation(",")
        parser.parse_keyword("core_type")
        parser.parse_punctuation("=")
        properties = {"mode": mode, "core_type": parser.parse_attribute()}
        if len(operands) > 2:
            parser.raise_error("syncall takes at most a workspace and a number of cores", position, parser.pos)
        workspace, used = [*operands, None, None][:2]
        op = cls.build(operands=[workspace, used], properties=properties)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            if self.operands:
                print_typed_operands(printer, self.operands)
        printer.print_string(" mode = ")
        printer.print_attribute(self.mode)
        printer.print_string(", core_type = ")
        printer.print_attribute(self.core_type)
        print_attribute_list(printer, self, but=("mode", "core_type"))

    def verify_(self) -> None:
        check_outside_of_vector_code(self)
        if self.mode.data is SyncAllMode.HARD and self.operands:
            fail(self, "expects hard syncall to have no operands; leave them out")
        if self.mode.data is SyncAllMode.SOFT and self.gm_workspace is None:
            fail(self, "expects soft syncall to have gm_workspace and optional used_cores; name the workspace")
        if self.gm_workspace is not None:
            _verify_workspace(self, self.gm_workspace)


@irdl_op_definition
class SetFftsOp(IRDLOperation):
    """Sets the address of the flags between cores in global memory: `pto.set_ffts %p : !pto.ptr<i64>`."""

    name = "pto.set_ffts"
    ffts = operand_def(PtrType)

    @classmethod
    def parse(cls, parser: Parser) -> SetFftsOp:
        operand = parser.parse_unresolved_operand()
        properties, attributes = parse_attribute_list(parser, cls)
        parser.parse_punctuation(":")
        op = cls.build(operands=[parser.resolve_operand(operand, parse_pointer_type(parser))], properties=properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.ffts)
        print_attribute_list(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.ffts.type)


def parse_pointer_type(parser: Parser) -> PtrType:
    """Parse `!pto.ptr<f32>`, or `<f32>` alone."""
    position = parser.pos
    pointer = parser.parse_optional_type()
    if pointer is None:
        return PtrType.new(PtrType.parse_parameters(parser))
    if not isinstance(pointer, PtrType):
        parser.raise_error(f"{pointer} is not a pointer; use !pto.ptr<...>", position, parser.pos)
    return pointer
