"""The stage of `loom pto check` for vectors of any length: chooses their layouts, and reports where that fails."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute

from ..analysis.pto.vector_layout.control_flow import virtual_values
from ..analysis.pto.vector_layout.layouts import bits_of, layout_of
from ..analysis.pto.vector_layout.registers import check_registers
from ..analysis.pto.vector_layout.rewriting import instruction
from ..analysis.pto.vector_layout.support import check_layouts
from ..analysis.pto.vector_layout.transfer import operation_name
from ..dialects import context
from ..dialects.pto.registers import VmiMaskType, VmiVRegType
from ..dialects.pto.vmi_stages import HELPERS
from ..dialects.traversal import walk
from ..passes import get_all_passes

_CHANGES = ("vmi-layout-rematerialize", "vmi-layout-fold", "vmi-layout-sink-materialization")
"""The passes that leave as few changes of layouts as they can."""

LOWER = "vmi-lower-unified-to-legacy"

ASSIGN = (
    "pto-vmi-normalize-signless-int-to-unsigned",
    LOWER,
    "vmi-legalize-arith-select",
    "vmi-pre-assignment-combine",
    "vmi-mask-granularity-assignment",
    "vmi-layout-rematerialize-weak-producers",
    "vmi-layout-assignment",
    *_CHANGES,
)
"""The passes that choose layouts, in PTOAS's order."""


def check_vectors(module: ModuleOp) -> None:
    """Raise LoomError where vectors of any length get no layouts, or do not become instructions on registers.

    Layouts that a text has are kept. What has layouts for some of its vectors and changes them besides is of no stage
    of a compiler, and not looked at. The module is left as it is.
    """
    values = list(virtual_values(module))
    if not values:
        return
    own = module.clone()
    leave: tuple[str, ...] = ()
    if all(_is_chosen(value.type) for value in values):
        stages = (LOWER, *_CHANGES)
        # Between PTOAS's stages masks change their width in ways that its last stage does not take.
        leave = ("ensure_mask_granularity",)
    elif any(operation_name(op) in HELPERS for op in walk(module)):
        return
    else:
        stages = ASSIGN
        _free_arguments(own)
    passes = get_all_passes()
    for name in stages:
        passes[name]()().apply(context(), own)
    check_layouts(own)
    check_registers(own, leave)


def _is_chosen(type: Attribute) -> bool:
    return isinstance(type, VmiVRegType | VmiMaskType) and bool(bits_of(type)) and layout_of(type) is not None


def _free_arguments(module: ModuleOp) -> None:
    """Have the arguments of functions that nobody calls come in whatever layout their uses need.

    They stand for a number in all elements, and for a mask of the first elements, which have any.
    """
    called = {op.callee.root_reference.data for op in walk(module) if isinstance(op, CallOp)}
    for function in [op for op in walk(module) if isinstance(op, FuncOp)]:
        if function.sym_name.data in called or not function.body.blocks:
            continue
        block = function.body.blocks[0]
        for argument in list(block.args):
            type = argument.type
            if not isinstance(type, VmiVRegType | VmiMaskType) or layout_of(type) is not None:
                continue
            is_mask = isinstance(type, VmiMaskType)
            number = block.insert_arg(IndexType() if is_mask else type.element_type, len(block.args))
            made = instruction("create_mask" if is_mask else "broadcast", [number], [type], of=function)
            block.insert_ops_before([made], block.first_op) if block.first_op else block.add_op(made)
            argument.replace_all_uses_with(made.results[0])
