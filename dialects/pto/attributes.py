"""Attributes of the `pto` dialect: address spaces, kernel kinds, layouts, modes of tile operations, epilogues.

Each is an enumeration. Most print as `#pto.kernel_kind<cube>`, some, as the public text has them, as
`#pto<round_mode ROUND>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

_ChoiceT = TypeVar("_ChoiceT", bound=StrEnum)


class InAngleBrackets:
    """An attribute of one choice written `#pto.name<choice>`."""

    enum_type: ClassVar[type[StrEnum]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return parse_choice(parser, cls.enum_type)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(cast("EnumAttribute[StrEnum]", self).data.value)


def parse_choice(parser: AttrParser, choices: type[_ChoiceT]) -> _ChoiceT:
    """Parse a name of an enumeration, as a keyword or in quotes."""
    position = parser.pos
    name = parser.parse_optional_identifier_or_str_literal()
    found = next((choice for choice in choices if choice.value == name), None)
    if found is None:
        known = ", ".join(choice.value for choice in choices)
        written = "" if name is None else f", not '{name}'"
        parser.raise_error(f"expected one of {known}{written}", position, parser.pos)
    return found


# ---------------------------------------------------------------------------------------------
# Memories and cores
# ---------------------------------------------------------------------------------------------


class AddressSpace(StrEnum):
    """A memory: global (`gm`), L1 (`mat`), the cube's inputs and accumulator, the vector cores' buffer (`vec`)."""

    ZERO = "zero"
    GM = "gm"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    VEC = "vec"
    BIAS = "bias"
    SCALING = "scaling"


class KernelKind(StrEnum):
    """The core a function runs on."""

    CUBE = "cube"
    VECTOR = "vector"


class Layout(StrEnum):
    """Layout of a tensor in global memory."""

    ND = "nd"
    DN = "dn"
    NZ = "nz"
    MX_A_ZZ = "mx_a_zz"
    MX_B_NN = "mx_b_nn"


class BLayout(StrEnum):
    """Order of the boxes of a tile, or of its elements where it has no boxes."""

    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


class SLayout(StrEnum):
    """Order of the elements in a box of a tile."""

    NONE_BOX = "none_box"
    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


@irdl_attr_definition
class AddressSpaceAttr(InAngleBrackets, EnumAttribute[AddressSpace]):
    """A memory, `#pto.address_space<vec>`."""

    name = "pto.address_space"


@irdl_attr_definition
class KernelKindAttr(InAngleBrackets, EnumAttribute[KernelKind]):
    """The core a function runs on, `#pto.kernel_kind<cube>`, attribute `pto.kernel_kind` of the function."""

    name = "pto.kernel_kind"


@irdl_attr_definition
class LayoutAttr(InAngleBrackets, EnumAttribute[Layout]):
    """Layout of a tensor in global memory, `#pto.layout<nd>`."""

    name = "pto.layout"


@irdl_attr_definition
class BLayoutAttr(InAngleBrackets, EnumAttribute[BLayout]):
    """Order of the boxes of a tile, `#pto.blayout<row_major>`."""

    name = "pto.blayout"


@irdl_attr_definition
class SLayoutAttr(InAngleBrackets, EnumAttribute[SLayout]):
    """Order of the elements in a box of a tile, `#pto.slayout<none_box>`."""

    name = "pto.slayout"


# ---------------------------------------------------------------------------------------------
# Synchronization
# ---------------------------------------------------------------------------------------------


class HardwarePipe(StrEnum):
    """An instruction pipeline of a core; not a FIFO between cores."""

    S = "PIPE_S"
    V = "PIPE_V"
    M = "PIPE_M"
    MTE1 = "PIPE_MTE1"
    MTE2 = "PIPE_MTE2"
    MTE3 = "PIPE_MTE3"
    ALL = "PIPE_ALL"
    MTE4 = "PIPE_MTE4"
    MTE5 = "PIPE_MTE5"
    V2 = "PIPE_V2"
    FIX = "PIPE_FIX"
    VIRTUAL_MTE2_L1A = "VIRTUAL_PIPE_MTE2_L1A"
    VIRTUAL_MTE2_L1B = "VIRTUAL_PIPE_MTE2_L1B"
    NUM = "PIPE_NUM"
    UNASSIGNED = "PIPE_UNASSIGNED"


class SyncAllMode(StrEnum):
    """What performs a `pto.syncall`: hardware, or software over a workspace in global memory."""

    HARD = "hard"
    SOFT = "soft"


class SyncCoreType(StrEnum):
    """Which cores take part in a `pto.syncall`."""

    AIV_ONLY = "aiv_only"
    AIC_ONLY = "aic_only"
    MIX = "mix"


@irdl_attr_definition
class HardwarePipeAttr(InAngleBrackets, EnumAttribute[HardwarePipe]):
    """An instruction pipeline of a core, `#pto.pipe<PIPE_ALL>`."""

    name = "pto.pipe"


@irdl_attr_definition
class SyncAllModeAttr(InAngleBrackets, EnumAttribute[SyncAllMode]):
    """What performs a `pto.syncall`, `#pto.sync_all_mode<hard>`."""

    name = "pto.sync_all_mode"


@irdl_attr_definition
class SyncCoreTypeAttr(InAngleBrackets, EnumAttribute[SyncCoreType]):
    """Which cores take part in a `pto.syncall`, `#pto.sync_core_type<mix>`."""

    name = "pto.sync_core_type"


# ---------------------------------------------------------------------------------------------
# Modes of tile operations
# ---------------------------------------------------------------------------------------------


class RoundMode(StrEnum):
    """How `pto.tcvt` rounds."""

    NONE = "NONE"
    RINT = "RINT"
    ROUND = "ROUND"
    FLOOR = "FLOOR"
    CEIL = "CEIL"
    TRUNC = "TRUNC"
    ODD = "ODD"
    CAST_RINT = "CAST_RINT"


class SaturationMode(StrEnum):
    """True if `pto.tcvt` saturates."""

    ON = "ON"
    OFF = "OFF"


class Precision(StrEnum):
    """How exactly an operation computes."""

    DEFAULT = "default"
    HIGH_PRECISION = "high_precision"


class Phase(StrEnum):
    """Phase of a store or product among those of one result."""

    UNSPECIFIED = "unspecified"
    PARTIAL = "partial"
    FINAL = "final"


class AtomicType(StrEnum):
    """How a store combines a value with that in memory."""

    NONE = "atomic_none"
    ADD = "atomic_add"


class ReluPreMode(StrEnum):
    """The ramp that a move from the accumulator applies."""

    NO_RELU = "no_relu"
    NORMAL_RELU = "normal_relu"
    SCALAR_RELU = "scalar_relu"
    VECTOR_RELU = "vector_relu"
    PWL = "pwl"


class AccToVecMode(StrEnum):
    """The vector cores that a move from the accumulator serves."""

    SINGLE_MODE_VEC0 = "single_mode_vec0"
    SINGLE_MODE_VEC1 = "single_mode_vec1"
    DUAL_MODE_SPLIT_M = "dual_mode_split_m"
    DUAL_MODE_SPLIT_N = "dual_mode_split_n"


class PadValue(StrEnum):
    """Padding outside the valid part of a tile; in a tile type, the index in this list."""

    NULL = "null"
    ZERO = "zero"
    MAX = "max"
    MIN = "min"


class PadMode(StrEnum):
    """Where the padding of a load comes from."""

    NULL = "PadNull"
    FIRST_ELEMENT = "PadFirstElem"
    VALUE = "PadValue"


class PrintFormat(StrEnum):
    """Width and digits of the numbers `pto.tprint` prints."""

    WIDTH8_PRECISION4 = "width8_precision4"
    WIDTH8_PRECISION2 = "width8_precision2"
    WIDTH10_PRECISION6 = "width10_precision6"


@irdl_attr_definition
class RoundModeAttr(EnumAttribute[RoundMode], SpacedOpaqueSyntaxAttribute):
    """How `pto.tcvt` rounds, `#pto<round_mode ROUND>`."""

    name = "pto.round_mode"


@irdl_attr_definition
class SaturationModeAttr(EnumAttribute[SaturationMode], SpacedOpaqueSyntaxAttribute):
    """True if `pto.tcvt` saturates, `#pto<saturation_mode ON>`."""

    name = "pto.saturation_mode"


@irdl_attr_definition
class DivPrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """How exactly an operation divides, `#pto<div_precision high_precision>`."""

    name = "pto.div_precision"


@irdl_attr_definition
class ExpPrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """How exactly `pto.texp` computes, `#pto<exp_precision high_precision>`."""

    name = "pto.exp_precision"


@irdl_attr_definition
class LogPrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """How exactly `pto.tlog` computes, `#pto<log_precision high_precision>`."""

    name = "pto.log_precision"


@irdl_attr_definition
class RecipPrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """How exactly `pto.trecip` computes, `#pto<recip_precision high_precision>`."""

    name = "pto.recip_precision"


@irdl_attr_definition
class SqrtPrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """How exactly `pto.tsqrt` computes, `#pto<sqrt_precision high_precision>`."""

    name = "pto.sqrt_precision"


@irdl_attr_definition
class StorePhaseAttr(EnumAttribute[Phase], SpacedOpaqueSyntaxAttribute):
    """Phase of a `pto.tstore` among those of one result, `#pto<st_phase final>`."""

    name = "pto.st_phase"


@irdl_attr_definition
class AccPhaseAttr(EnumAttribute[Phase], SpacedOpaqueSyntaxAttribute):
    """Phase of a product among those of one sum, `#pto<acc_phase final>`."""

    name = "pto.acc_phase"


@irdl_attr_definition
class AtomicTypeAttr(EnumAttribute[AtomicType], SpacedOpaqueSyntaxAttribute):
    """How `pto.tstore` combines a value with that in memory, `#pto<atomic_type atomic_add>`."""

    name = "pto.atomic_type"


@irdl_attr_definition
class ReluPreModeAttr(EnumAttribute[ReluPreMode], SpacedOpaqueSyntaxAttribute):
    """The ramp that a move from the accumulator applies, `#pto<relu_pre_mode normal_relu>`."""

    name = "pto.relu_pre_mode"


@irdl_attr_definition
class AccToVecModeAttr(InAngleBrackets, EnumAttribute[AccToVecMode]):
    """The vector cores that a move from the accumulator serves, `#pto.acc_to_vec_mode<dual_mode_split_m>`."""

    name = "pto.acc_to_vec_mode"


@irdl_attr_definition
class PadValueAttr(InAngleBrackets, EnumAttribute[PadValue]):
    """What `pto.tfillpad` fills with, `#pto.pad_value<zero>`."""

    name = "pto.pad_value"


@irdl_attr_definition
class PadModeAttr(InAngleBrackets, EnumAttribute[PadMode]):
    """Where the padding of a load comes from, `#pto.padmode<PadNull>`."""

    name = "pto.padmode"


@irdl_attr_definition
class PrintFormatAttr(EnumAttribute[PrintFormat], SpacedOpaqueSyntaxAttribute):
    """Width and digits of the numbers `pto.tprint` prints, `#pto<print_format width8_precision4>`."""

    name = "pto.print_format"


# ---------------------------------------------------------------------------------------------
# What a push does on its way out of the accumulator
# ---------------------------------------------------------------------------------------------


class FixpipeLayout(StrEnum):
    """The layout of the tile the consumer gets."""

    NZ2ND = "nz2nd"
    NZ2DN = "nz2dn"
    NZ2NZ = "nz2nz"


class FixpipeQuant(StrEnum):
    """The conversion of the elements; `scalar` takes one scale for the tile, `vec` one for each column."""

    NO_CONVERT = "no_convert"
    F32_F16 = "f32_f16"
    F32_BF16 = "f32_bf16"
    REQ8_SCALAR = "req8_scalar"
    REQ8_VEC = "req8_vec"
    DEQF16_SCALAR = "deqf16_scalar"
    DEQF16_VEC = "deqf16_vec"
    QF322B8_PRE_SCALAR = "qf322b8_pre_scalar"
    QF322B8_PRE_VEC = "qf322b8_pre_vec"
    QF322F16_PRE_SCALAR = "qf322f16_pre_scalar"
    QF322BF16_PRE_SCALAR = "qf322bf16_pre_scalar"
    QS322BF16_PRE_SCALAR = "qs322bf16_pre_scalar"
    QS322BF16_PRE_VEC = "qs322bf16_pre_vec"
    QF322HIF8_PRE_SCALAR = "qf322hif8_pre_scalar"
    QF322FP8_PRE_SCALAR = "qf322fp8_pre_scalar"

    @property
    def is_scalar(self) -> bool:
        """True if one scale, from `pto.set_quant_scalar`, applies to the whole tile."""
        return self.value.endswith("_scalar")

    @property
    def is_vector(self) -> bool:
        """True if each column has its own scale, from `pto.set_quant_vector`."""
        return self.value.endswith("_vec")


class FixpipeRelu(StrEnum):
    """The ramp applied to the elements."""

    NO_RELU = "no_relu"
    NORMAL_RELU = "normal_relu"


@irdl_attr_definition
class FixpipeLayoutAttr(InAngleBrackets, EnumAttribute[FixpipeLayout]):
    """The layout of the tile the consumer gets, `#pto.fixpipe_layout<nz2nd>`."""

    name = "pto.fixpipe_layout"


@irdl_attr_definition
class FixpipeQuantAttr(InAngleBrackets, EnumAttribute[FixpipeQuant]):
    """The conversion of the elements, `#pto.fixpipe_quant<deqf16_scalar>`."""

    name = "pto.fixpipe_quant"


@irdl_attr_definition
class FixpipeReluAttr(InAngleBrackets, EnumAttribute[FixpipeRelu]):
    """The ramp applied to the elements, `#pto.fixpipe_relu<no_relu>`."""

    name = "pto.fixpipe_relu"


@irdl_attr_definition
class AccPushEpilogueAttr(ParametrizedAttribute):
    """Conversion of an accumulator tile by a push to the vector cores.

    `#pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>`
    """

    name = "pto.acc_push_epilogue"
    layout: FixpipeLayoutAttr
    quant: FixpipeQuantAttr
    relu: FixpipeReluAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            layout = FixpipeLayoutAttr(_parse_named(parser, "layout", FixpipeLayout))
            parser.parse_punctuation(",")
            quant = FixpipeQuantAttr(_parse_named(parser, "quant", FixpipeQuant))
            parser.parse_punctuation(",")
            relu = FixpipeReluAttr(_parse_named(parser, "relu", FixpipeRelu))
        return (layout, quant, relu)

    def print_parameters(self, printer: Printer) -> None:
        layout, quant, relu = self.layout.data, self.quant.data, self.relu.data
        printer.print_string(f"<layout = {layout.value}, quant = {quant.value}, relu = {relu.value}>")


def _parse_named(parser: AttrParser, name: str, choices: type[_ChoiceT]) -> _ChoiceT:
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return parse_choice(parser, choices)
