"""Attributes that choose among a few names, one row each: `#pto.event<EVENT_ID0>`, or `#pto<cmp eq>`.

Those whose values passes look at are classes of their own in `attributes`.
"""

from __future__ import annotations

import types
from typing import Any

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from .attributes import InAngleBrackets, Precision

_IN_BRACKETS: dict[str, tuple[str, str]] = {
    "event": (" ".join(f"EVENT_ID{number}" for number in range(8)), "A flag between two pipelines of a core"),
    "fence_scope": ("local_memory gm all", "The memory whose accesses a fence orders"),
    "membar": (
        "VV_ALL VST_VLD VLD_VST VST_VST VS_ALL VST_LD VLD_ST VST_ST SV_ALL ST_VLD LD_VST ST_VST SS_ALL ST_LD LD_ST "
        "ST_ST",
        "The accesses of a vector core's memory that a barrier orders",
    ),
    "dsb_mem": ("ALL DDR UB SEQ", "The memory whose accesses a data barrier waits for"),
    "dcci_cache_line": ("SINGLE_CACHE_LINE ENTIRE_DATA_CACHE", "How much of a cache is cleaned and invalidated"),
    "dcci_dst": ("CACHELINE_ALL CACHELINE_UB CACHELINE_OUT CACHELINE_ATOMIC", "The cache that is cleaned"),
    "pipe_event_type": (
        "TLOAD TSTORE_ACC TSTORE_VEC TMOV_M2L TMOV_M2S TMOV_M2B TMOV_M2V TMOV_V2M TMATMUL TVEC TVECWAIT_EVENT",
        "The kind of operation that an event follows or precedes",
    ),
    "sync_op_type": (
        "TLOAD TSTORE_ACC TSTORE_VEC TMOV_M2L TMOV_M2S TMOV_M2B TMOV_M2V TMOV_V2M TMATMUL TVEC TVECWAIT_EVENT",
        "The kind of operation that a synchronization is about",
    ),
    "mask_pattern": ("P0101 P1010 P0001 P0010 P0100 P1000 P1111", "Which of four elements are taken"),
    "tinsert_mode": ("split2 split4", "How `pto.tinsert` divides what it inserts"),
    "compact_mode": ("null normal row_plus_one", "How the rows of a tile are packed"),
    "func_core_type": ("AIC AIV MIX AIC_OR_AIV", "The cores that a function runs on"),
    "module_core_type": ("AIC AIV MIX", "The cores that a module is for"),
    "signedness": ("signed unsigned", "The sign of integers"),
    "ld_l2cache": (
        "nmfv nmlv nmprs nmpref nakeep naclean nadrop idsfv idslv idsprs idspref exfv exlv exprs expref",
        "How a load uses the second cache",
    ),
    "st_l2cache": (
        "nmfv nmlv nmprs nmred naci napw napi nared wbhfv wbhlv wbhprs wbhred wtsfv wtslv wtsprs wtsred",
        "How a store uses the second cache",
    ),
    "l1cache": ("uncache cache", "True if a load or store uses the first cache"),
    "rounding": ("r a f c z o h", "How a thread's conversion rounds"),
    "saturation": ("nosat sat", "True if a thread's conversion saturates"),
}

_SPACED: dict[str, tuple[str, str]] = {
    "cmp": ("eq ne lt le gt ge", "How elements are compared"),
    "notify_op": ("atomic_add set", "How a notification changes a signal"),
    "wait_cmp": ("eq ne gt ge lt le", "What a waiting core compares a signal with"),
    "reduce_op": ("sum max min", "How `pto.comm.treduce` combines"),
    "gather_oob": ("undefined clamp wrap zero", "What a gather does with an index outside"),
    "coalesce": ("row elem", "True if rows are gathered, or elements"),
    "scatter_atomic_op": ("none add max min", "How a scatter combines with what is there"),
    "scatter_oob": ("undefined skip clamp wrap", "What a scatter does with an index outside"),
    "scatter_conflict": ("default last", "Which of several elements for one place is kept"),
    "quant_type": ("INT8_SYM INT8_ASYM MXFP8 MXFP4_E2M1", "What elements are quantized to"),
    "quant_scale_alg": ("ocp nv", "How the scale of a block is found"),
    "mx_group_axis": ("axis0 axis1", "The dimension that blocks of one scale extend along"),
    "vec_store_mode": ("nd nz", "The layout that quantized elements are stored in"),
    "mad_unit_flag_mode": ("check_only check_and_set", "What a product does with the accumulator's unit flag"),
    "tf32_mode": ("round_even round_away", "How a product rounds f32 to fewer bits"),
    "mad_sat_mode": ("sat nosat", "True if a product saturates"),
    "unit_flag_ctrl": ("off check_only check_and_clear", "What a store does with the accumulator's unit flag"),
    "acc_store_atomic_type": ("f32 f16 s16 s32 s8 bf16", "The type in which a store out of the accumulator combines"),
    "acc_store_atomic_op": ("add max min", "How a store out of the accumulator combines"),
    "acc_store_mode": ("nz2nd nz2dn nz2nz", "The layout that a store out of the accumulator writes"),
    "acc_store_ub_dst_mode": ("single split_m split_n", "The vector cores that a store out of the accumulator serves"),
    "acc_store_sat_mode": ("sat nosat sat_preserve_nan", "True if a store out of the accumulator saturates"),
    "cube_load_frac_mode": ("nd2nz dn2nz", "How a load into the first memory reorders elements"),
    **{
        f"{name}_precision": (" ".join(Precision), f"How exactly `pto.{operations}` computes")
        for name, operations in (("rem", "trem"), ("rsqrt", "trsqrt"), ("fmod", "tfmod"), ("pow", "tpow"))
    },
}


def _attribute(name: str, choices: str, summary: str, style: type[object], example: str) -> type[EnumAttribute[Any]]:
    """Return the class of an attribute with these choices."""
    words = "".join(part.capitalize() for part in name.split("_"))
    choice = StrEnum(words, {word.upper(): word for word in choices.split()})

    def members(namespace: dict[str, Any]) -> None:
        namespace.update(
            name=f"pto.{name}",
            __module__=__name__,
            __doc__=f"{summary}, `{example}`: {', '.join(choices.split())}.",
        )

    bases = (style, EnumAttribute[choice]) if style is InAngleBrackets else (EnumAttribute[choice], style)
    return irdl_attr_definition(types.new_class(f"{words}Attr", bases, {}, members))


ENUMERATIONS: dict[str, type[EnumAttribute[Any]]] = {
    **{
        name: _attribute(name, choices, summary, InAngleBrackets, f"#pto.{name}<{choices.split()[0]}>")
        for name, (choices, summary) in _IN_BRACKETS.items()
    },
    **{
        name: _attribute(name, choices, summary, SpacedOpaqueSyntaxAttribute, f"#pto<{name} {choices.split()[0]}>")
        for name, (choices, summary) in _SPACED.items()
    },
}
"""The attributes by name."""

globals().update({attribute.__name__: attribute for attribute in ENUMERATIONS.values()})
