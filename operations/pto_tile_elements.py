"""The elements that each PTO tile operation takes on each chip, and which of its tiles have to be alike and where.

The lists are those of PTOAS's verifiers, in the order of its messages; the dialect checks them, and says them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..diagnostics.records import record

Form: TypeAlias = Literal[
    "binary", "shift", "scalar", "scalar_row_major", "scalar_apart", "scalar_plain", "scalar_integers", "unary",
    "unary_in_vec", "row_reduction", "row_place", "column_reduction", "column_place", "row_expansion",
    "row_expansion_of_two", "row_expansion_of_either", "column_expansion", "column_expansion_of_two", "part", "sort",
    "select", "select_scalar", "compare", "compare_scalar", "transposition", "concatenation", "triangle",
]  # fmt: skip
"""Which tiles have to be alike, and where and in which layout they are: the dialect has a rule for each."""


@record
class Elements:
    """The elements of an operation: a form, the types on a2 and a3, those on a5, and the message about others."""

    form: Form
    a2a3: str
    a5: str
    message: str = "expects {chip} {name} element type to be {elements}"


_BASIC = "i32/i16/f16/f32"
_A5 = "i32/i16/i8/f16/bf16/f32"
_ORDERED = "i8/i16/i32/f16/bf16/f32"
_BITS = "i8/i16/i32"
_HALF = "f16 or f32"
_ANY_CHIP = "expects {name} element type to be {elements}"
_PLAIN = "expects element type to be {elements}"
_SUPPORTED = "expects {name} element type to be supported"
_ALL_BITS = "expects {chip} {name} src0, src1, and dst element type to be {elements}"
_ONE_BITS = "expects {chip} {name} src and dst element type to be {elements}"
_FOUR = "i16/i32/f16/f32"

ELEMENTS: dict[str, Elements] = {
    "tadd": Elements("binary", _BASIC, _A5),
    "tsub": Elements("binary", _BASIC, "i32/i16/i8/f16/f32"),
    "tmul": Elements("binary", _BASIC, _BASIC),
    "tdiv": Elements("binary", _HALF, _BASIC),
    "tmax": Elements("binary", _BASIC, "i32/i16/i8/f16/f32"),
    "tmin": Elements("binary", _BASIC, _A5),
    "tfmod": Elements("binary", _BASIC, _BASIC),
    "trem": Elements("binary", "i32/f32", _BASIC),
    "tpow": Elements("binary", "i8/i16/i32 or f32", "i8/i16/i32/f16/f32"),
    "tprelu": Elements("binary", _HALF, _HALF, "expects dst/src0/src1 element type to be {elements}"),
    "taddrelu": Elements("binary", "i16/f16/f32", "", _PLAIN),
    **dict.fromkeys(("tand", "tor", "txor"), Elements("binary", _BITS, _BITS, _ALL_BITS)),
    **dict.fromkeys(
        ("tshl", "tshr"), Elements("shift", _BITS, _BITS, "expects {name} src0 and src1 element type to be {elements}")
    ),
    # Wider than PTOAS: public tests of pipes add to bf16 on a3.
    "tadds": Elements("scalar", "i32/i16/f16/bf16/f32", _A5),
    **dict.fromkeys(("tsubs", "tmuls", "tmaxs", "tmins"), Elements("scalar", _BASIC, _A5)),
    "tdivs": Elements("scalar", _BASIC, "i32/i16/i8/f16/f32"),
    "tfmods": Elements("scalar_row_major", _BASIC, _BASIC),
    "trems": Elements("scalar_row_major", "i32/f32", _BASIC),
    "tpows": Elements("scalar_row_major", "i8/i16/i32 or f32", "i8/i16/i32/f16/f32"),
    "tands": Elements("scalar_apart", "i8/i16", _BITS, "expects {chip} {name} src, scalar, and dst element type to be "
                      "{elements}"),
    "tors": Elements("scalar_apart", "i8/i16", _BITS, _ONE_BITS),
    "txors": Elements("scalar_apart", "i8/i16", _BITS, _ONE_BITS),
    "tshrs": Elements("scalar_plain", "i16/i32", _BITS, _ONE_BITS),
    "tshls": Elements("scalar_integers", "i8/i16/i32/i64", "i8/i16/i32/i64", "expects integral element types"),
    "tlrelu": Elements("unary_in_vec", _HALF, _HALF),
    "tneg": Elements("unary_in_vec", _FOUR, "i8/i16/i32/f16/f32/bf16"),
    **dict.fromkeys(("tabs", "texp", "tlog", "trsqrt", "trecip"), Elements("unary", _HALF, _HALF, _PLAIN)),
    "tsqrt": Elements("unary", "f32/f16", "f32/f16", "expects src and dst element type to be float or half"),
    "trelu": Elements("unary", "i32/f16/f32", "i32/f16/f32"),
    "tnot": Elements("unary", "i16", _BITS),
    "tcmp": Elements("compare", "i32/f16/f32", _ORDERED, "expects {chip} {name} input element type to be {elements}"),
    "tcmps": Elements("compare_scalar", _FOUR, "i8/i16/i32/f16/f32", "expects {chip} {name} input element type to be "
                      "{elements}"),
    "tsel": Elements("select", "i16/i32/f16/bf16/f32", _ORDERED, _ALL_BITS),
    "tsels": Elements("select_scalar", "i16, i32, f16, or f32", "i8, i16, i32, f16, or f32", _ONE_BITS),
    "tconcat": Elements("concatenation", "i8, i16, i32, f16, f32, or bf16", "i8, i16, i32, f16, f32, or bf16", _PLAIN),
    **dict.fromkeys(("trowsum", "trowmax", "trowmin"), Elements("row_reduction", _FOUR, _FOUR, _PLAIN)),
    "trowprod": Elements("row_reduction", _FOUR, _FOUR),
    **dict.fromkeys(
        ("trowargmax", "trowargmin"), Elements("row_place", _FOUR, _FOUR, "expects src element type to be {elements}")
    ),
    "tcolsum": Elements("column_reduction", "f16/f32/i16/i32", _ORDERED),
    **dict.fromkeys(("tcolmax", "tcolmin"), Elements("column_reduction", "f16/f32/i16/i32", _ORDERED)),
    "tcolprod": Elements("column_reduction", "f16/f32/i16/i32", "i16/ui16/i32/ui32/f16/bf16/f32"),
    **dict.fromkeys(
        ("tcolargmax", "tcolargmin"),
        Elements("column_place", _ORDERED, _ORDERED, "expects src element type to be 1, 2, or 4 bytes wide"),
    ),
    "trowexpand": Elements("row_expansion", _ORDERED, _ORDERED, _SUPPORTED),
    "tcolexpand": Elements("column_expansion", _ORDERED, _ORDERED, _SUPPORTED),
    "trowexpanddiv": Elements("row_expansion_of_two", _HALF, "i8/i16/i32/f16/f32"),
    **dict.fromkeys(
        ("trowexpandmul", "trowexpandsub", "trowexpandadd"),
        Elements("row_expansion_of_two", _FOUR, "i8/i16/i32/f16/f32"),
    ),
    **dict.fromkeys(
        ("trowexpandmax", "trowexpandmin"), Elements("row_expansion_of_either", _FOUR, "i8/i16/i32/f16/f32")
    ),
    "trowexpandexpdif": Elements("row_expansion_of_either", _HALF, _HALF, _ANY_CHIP),
    **dict.fromkeys(
        ("tcolexpandmul", "tcolexpandadd", "tcolexpandsub", "tcolexpandmax", "tcolexpandmin"),
        Elements("column_expansion_of_two", _FOUR, "i8/i16/i32/f16/f32"),
    ),
    "tcolexpanddiv": Elements("column_expansion_of_two", _HALF, "i8/i16/i32/f16/f32"),
    "tcolexpandexpdif": Elements("column_expansion_of_two", _HALF, _HALF, _ANY_CHIP),
    **dict.fromkeys(("tpartadd", "tpartmul", "tpartmax", "tpartmin"), Elements("part", _BASIC, _A5)),
    **dict.fromkeys(("tpartargmax", "tpartargmin"), Elements("part", _BASIC, _A5)),
    "tsort32": Elements("sort", _HALF, _HALF, "expects src and dst element type to be {elements}"),
    "ttri": Elements("triangle", "f16/f32/i16/i32/u16/u32", "f16/f32/bf16/i8/i16/i32/u8/u16/u32",
                     "expects {chip} dst element type to be {elements}"),
    "ttrans": Elements("transposition", "i32/f32/i16/f16/bf16/i8", "i32/f32/i16/f16/bf16/i8",
                       "expects transpose element type to match the supported set for its width"),
}  # fmt: skip
"""The elements of operations by name without `pto.`."""
