"""What vectors of any length need besides layouts to become instructions on registers, in PTOAS's words.

Registers that are not full are a problem where an instruction does not leave elements out, memory has to be read in
order, and some instructions take one register only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ModuleOp,
)

from ....diagnostics.records import record
from ....dialects.pto.instruction_operation import InstructionOp
from .control_flow import inner_first
from .element_rules import carries, comparison, integers, mask_widths, numbers, scalar_merge, splat, vmull
from .full_registers import Reason
from .group_rules import loads_groups, loads_repeated, loads_slots, repeats, stores_groups
from .memory_rules import (
    blocks,
    deinterleave_load,
    expand_load,
    gather,
    interleave_store,
    load,
    masked_load,
    masked_store,
    scatter,
    store,
)
from .move_rules import channels, one_register, reduce, shuffle, vselr
from .problems import UNSUPPORTED, fail
from .support import (
    bitcast,
    change,
    conversion,
    group_reduce,
    histogram,
    is_left_open,
)
from .transfer import operation_name


@record
class _Needs:
    """What becomes of an operation, in PTOAS's words, why it does not, and what to do then.

    Where the first is empty, the reason says all.
    """

    what: str
    reason: Reason
    remedy: str


_WHOLE = "take a number of elements that fills the registers, of 256 bytes each"
_ONE = "take as many elements as one register of 256 bytes has"
_ORDER = "take elements in order: a contiguous layout"
_POINTER = "read and write memory in order, through a !pto.ptr or a memref without strides"
_GROUP = "take groups of a quarter, a half, 1, 2 or 4 blocks of 32 bytes, or of whole registers of 256"
_SLOTS = "take a constant distance of 1 element, or of a multiple of 32 bytes"
_LAYOUT = "change its layout before, or convert through a width that has one"
_STORED = "fill the registers, or keep elements in order, and write through a !pto.ptr or a memref without strides"

_REDUCTIONS = {
    "reduce_addf": "pto.vcadd only with reassoc, f32 contiguous full source chunks, matching mask chunks, and one "
    "init/result chunk",
    "reduce_addi": "pto.vcadd only for contiguous full 32-bit integer source chunks with matching mask chunks and one "
    "init/result chunk",
    **{
        f"reduce_{each}f": f"pto.vc{each} only for f16/f32 contiguous full source chunks with matching mask chunks and "
        "one init/result chunk"
        for each in ("max", "min")
    },
    **{
        f"reduce_{each}i": f"pto.vc{each} only for contiguous full integer source chunks with matching mask chunks and "
        "one init/result chunk"
        for each in ("max", "min")
    },
}

_GROUP_REDUCTIONS = {
    "addf": "pto.vcgadd for 32B blocks or through pto.vcadd for contiguous full source/mask chunks, "
    "#pto.vmi.layout<num_groups = G, slots = K> result chunks, and num_groups deriving a group size aligned to "
    "physical chunks",
    "addi": "pto.vcgadd/vadd for supported 32B block classes or through an internal widening pto.vcadd path for "
    "aligned full chunks",
    **{
        f"{each}{kind}": f"pto.vcg{each}/v{each} for supported 32B block classes or through pto.vc{each} for aligned "
        "full chunks"
        for each in ("max", "min")
        for kind in "fi"
    },
}

_EXTENDS = (
    "{} 8-bit or 16-bit integer physical source chunks to 2x/4x wider {}integer deinterleaved results, or matching "
    "group_slots(num_groups=G, slots=1) layouts and natural group_slots(num_groups=G, slots=8, lane_stride=2/4) to "
    "group_slots(num_groups=G, slots=8) widening layouts"
)

_NEEDS: Mapping[str, _Needs] = {
    "load": _Needs("direct lowering requires a supported memory source", load, _POINTER),
    "deinterleave_load": _Needs(
        "lowers through pto.vldsx2 only for matching contiguous full low/high result chunks with a supported UB source "
        "and 8/16/32-bit element type", deinterleave_load, _WHOLE,
    ),
    "stride_load": _Needs(
        "lowers through pto.vsldb only for one contiguous physical result/mask chunk and a supported UB source",
        blocks("result", "source", "vsldb"), _ONE,
    ),
    "group_load": _Needs(
        "requires contiguous full result chunks, a supported UB source, and num_groups deriving a group size aligned "
        "to physical chunks", loads_groups, _GROUP,
    ),
    "group_slot_load": _Needs(
        "requires explicit group_slots result layout matching num_groups, a supported UB pointer source, and either "
        "slots=8 with constant unit source_group_stride or slots=1 row-local lowering", loads_slots, _SLOTS,
    ),
    "group_broadcast_load": _Needs(
        "requires either the BRC full-group chunk form, the E2B packet form for b16/b32 direct or split group size, or "
        "the generic group-slot-load then group-broadcast fallback with supported UB pointer source and "
        "source_group_stride", loads_repeated, _SLOTS,
    ),
    "masked_load": _Needs(
        "direct lowering requires a supported memory source, contiguous result/passthru/mask layouts, and either full "
        "physical chunks or a statically safe full-read footprint", masked_load, _WHOLE,
    ),
    "gather": _Needs(
        "lowers through pto.vgather2_bc + pto.vsel only for UB pointer sources, contiguous full physical chunks, "
        "32-bit result elements, i32 indices, and b32 masks", gather, _WHOLE,
    ),
    "expand_load": _Needs(
        "direct lowering is currently supported for either a static all-active mask lowered as pto.vlds, or a "
        "one-full-chunk 32-bit UB runtime mask lowered through pto.vusqz + pto.vgather2_bc + pto.vsel", expand_load,
        _ONE,
    ),
    "store": _Needs(
        "requires an 8/16/32-bit predicate-maskable element type and either full physical chunks or contiguous "
        "tail-store layout, with UB-backed destination", store, _STORED,
    ),
    "interleave_store": _Needs(
        "lowers through pto.vstsx2 only for matching contiguous full low/high input chunks with a supported UB "
        "destination and 8/16/32-bit element type", interleave_store, _WHOLE,
    ),
    "group_store": _Needs(
        "requires a supported UB destination and a table-supported value layout lowering through one-block vsstb, "
        "full-chunk vsts, or deinterleaved vstsx2", stores_groups, _SLOTS,
    ),
    "masked_store": _Needs(
        "requires either full physical chunks or contiguous tail-store value/mask layout, with UB-backed destination",
        masked_store, _STORED,
    ),
    "stride_store": _Needs(
        "lowers through pto.vsstb only for one contiguous physical value/mask chunk and a supported UB destination",
        blocks("value", "destination", "vsstb"), _ONE,
    ),
    "scatter": _Needs(
        "lowers through pto.vscatter only with a UB pointer destination, contiguous full physical chunks, 32-bit value "
        "elements, i32 indices, and b32 masks", scatter, _WHOLE,
    ),
    "ensure_layout": _Needs(
        "cannot materialize the requested data layout conversion; partial/tail layout materialization requires an "
        "explicit packing plan", change, _LAYOUT,
    ),
    "ensure_mask_layout": _Needs(
        "cannot materialize the requested mask layout conversion; partial/tail predicate layout materialization "
        "requires an explicit packing plan", change, _LAYOUT,
    ),
    "ensure_mask_granularity": _Needs("", mask_widths, _LAYOUT),
    "constant": _Needs("", splat, "load the numbers from memory"),
    "group_broadcast": _Needs(
        "requires #pto.vmi.layout<num_groups = G, slots = K> source, a dense full result layout, and num_groups "
        "deriving a group size that divides or is a multiple of physical chunk lanes", repeats, _GROUP,
    ),
    **{
        name: _Needs(
            "requires contiguous Nx{ui8|i8} source, contiguous b8 mask, and contiguous 256x{ui16|i16} acc/result",
            histogram, _ORDER,
        )
        for name in ("vdhist", "vchist")
    },
    **{name: _Needs("requires matching 32-bit data and b32 mask parts", carries, _ORDER)
       for name in ("vaddc", "vaddcs")},
    "vmull": _Needs(
        "requires equal 64/128/256-lane i32/ui32 data ports, a matching b32 mask, and contiguous or deinterleaved "
        "factor-2/factor-4 lane_stride=1 layout", vmull, _ORDER,
    ),
    **{name: _Needs("", scalar_merge,
                    "compute everywhere and choose with pto.vmi.vsel")
       for name in ("vadds", "vmuls", "vmaxs", "vmins", "vshls", "vshrs")},
    "vselr": _Needs(
        "supports only contiguous lane_stride=1 layouts with N=64, 128, or 256 for 8-bit, N=64 or 128 for 16-bit, or "
        "N=64 for 32-bit elements", vselr, _ONE,
    ),
    **{name: _Needs("", comparison, "take one of these") for name in ("cmpf", "cmpi")},
    "active_prefix_index": _Needs(
        "lowers through pto.vusqz only for one contiguous physical chunk",
        one_register(("mask", "result"), full=("result", "mask"), so_that="affect the observable prefix",
                      more="multi-chunk prefix needs cross-chunk carry"), _ONE,
    ),
    "compress": _Needs(
        "lowers through pto.vsqz only for one contiguous full physical chunk",
        one_register(("source", "mask", "result"), full=("source",), so_that="be squeezed into the result",
                      more="multi-chunk compress needs cross-chunk compaction"), _ONE,
    ),
    "compress_store": _Needs(
        "lowers through pto.vsqz + pto.vstur only for one contiguous full physical chunk with a UB pointer destination",
        one_register(("value", "mask"), full=("value",), so_that="be squeezed into memory",
                      more="multi-chunk compress_store needs cross-chunk compaction and SQZN state planning"), _ONE,
    ),
    **{name: _Needs(f"lowers through {text}", reduce, _WHOLE) for name, text in _REDUCTIONS.items()},
    **{f"group_reduce_{name}": _Needs(f"lowers through {text}", group_reduce, _GROUP)
       for name, text in _GROUP_REDUCTIONS.items()},
    "extf": _Needs(
        "supports contiguous 16-bit float-like or fp8-like physical source chunks to f32 deinterleaved=2/4 results; "
        "partial/tail is allowed only when source padding maps to result padding", conversion, _LAYOUT,
    ),
    "truncf": _Needs(
        "supports f32/f16/bf16 source narrowing (dense EvenOdd, Packed4, or f32 group_slots(num_groups=G, slots=1) to "
        "f16 group_slots(num_groups=G, slots=1)); non-f32 sources currently require dense contiguous layouts",
        conversion, _LAYOUT,
    ),
    "fptosi": _Needs(
        "supports fp-to-signed-int conversion pairs listed in the VPTO vcvt contract", numbers, _LAYOUT
    ),
    "fptoui": _Needs(
        "supports fp-to-unsigned-int conversion pairs listed in the VPTO vcvt contract (e.g. f16 -> u8)", numbers,
        _LAYOUT,
    ),
    "sitofp": _Needs(
        "supports 32-bit integer source chunks to matching f32 result chunks with identical assigned layouts",
        numbers, _LAYOUT,
    ),
    "extsi": _Needs(f"supports {_EXTENDS.format('contiguous signed/signless', '')}", conversion, _LAYOUT),
    "extui": _Needs(f"supports {_EXTENDS.format('contiguous unsigned', 'unsigned ')}", conversion, _LAYOUT),
    "trunci": _Needs(
        "supports integer deinterleaved source layouts whose factor is the 2x/4x narrowing multiple of the contiguous "
        "or deinterleaved result layout factor, or matching group_slots(num_groups=G, slots=1) layouts and natural "
        "group_slots(num_groups=G, slots=8) to group_slots(num_groups=G, slots=8, lane_stride=2/4) narrowing layouts",
        integers, _LAYOUT,
    ),
    "bitcast": _Needs(
        "requires matching source/result layouts with width-changing forms restricted to supported layout table rows",
        bitcast, _LAYOUT,
    ),
    "channel_split": _Needs(
        "requires source layout to be contiguous or matching deinterleaved channel layout, every result layout to be "
        "contiguous, and complete physical channel groups", channels, _WHOLE,
    ),
    "channel_merge": _Needs(
        "requires every input layout to be contiguous and result layout to be contiguous or matching deinterleaved "
        "channel layout, with complete physical channel groups", channels, _WHOLE,
    ),
    "shuffle": _Needs(
        "requires physical chunk forwarding or lane0 splat or vci-materializable vselr indices", shuffle,
        "choose whole registers, one element for all, or elements that count up or down",
    ),
}  # fmt: skip


def check_registers(module: ModuleOp, leave: Sequence[str] = ()) -> None:
    """Raise LoomError at the first operation on vectors that have layouts but do not become instructions.

    Operations named in `leave` are not looked at.
    """
    for op in inner_first(module):
        needs = _NEEDS.get(operation_name(op)) if operation_name(op) not in leave else None
        if needs is None or not isinstance(op, InstructionOp) or is_left_open(op):
            continue
        reason = needs.reason(op)
        if reason is not None:
            _fail(op, needs, reason)


def _fail(op: InstructionOp, needs: _Needs, reason: str) -> None:
    uses = list(op.results[0].uses) if operation_name(op) == "ensure_layout" else []
    if len(uses) == 1:
        user, source, result = uses[0].operation, op.operands[0].type, op.results[0].type
        problem = (
            f"{user.name} operand #{uses[0].index} has type {source} but requires {result}; pto.vmi.ensure_layout "
            f"cannot materialize this conversion ({reason})"
        )
        fail(user, UNSUPPORTED, problem, needs.remedy)
    problem = f"{op.name} {needs.what} ({reason})" if needs.what else reason
    fail(op, UNSUPPORTED, problem, needs.remedy)
