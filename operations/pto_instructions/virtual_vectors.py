"""Vector instructions on vectors of any length (`pto.vmi`), for which registers are chosen later."""

from __future__ import annotations

from .instruction import Instruction, family

_UNARY = "%source:L {} : * -> result:L"
_BINARY = "%lhs:L, %rhs:L {} : * -> result:L"
_REDUCTION = "%source:L, %mask:K {} : * -> result:L"
_MASKED_UNARY = "%source:L <?, %mask*:K?> {} : source <?, mask?> -> result:L"
_MASKED_BINARY = "%lhs:L, %rhs:L <?, %mask*:K?> {} : lhs, rhs <?, mask?> -> result:L"
_EITHER_BINARY = "%lhs:W, %rhs:W <?, %mask*:K?> {} : lhs, rhs <?, mask?> -> result:W"
_SCALAR = "%src:L, %scalar, %mask:K {} : * -> result:L"
_PAIR = "%lhs:L, %rhs:L, %mask:K {} : * -> low:L, high:L"

_GENERIC = ("constant", "constant_mask", "channel_split", "channel_merge", "unpack", "pack", "vaxpy", "vlrelu")

_KINDS = {"f": "floats", "i": "integers"}


def _vmi(rows: list[Instruction]) -> list[Instruction]:
    return [
        Instruction(f"vmi.{row.name}", row.text, row.summary, row.is_pure, row.order, row.name in _GENERIC)
        for row in rows
    ]


TABLE: list[Instruction] = _vmi(
    [
        # Values
        Instruction("constant", "{} : result:L", "a constant", True),
        Instruction("constant_mask", "{} : result:K", "a constant mask", True),
        *family(
            "%value {} : * -> result:L",
            {"broadcast": "a number in every element", "vbrc": "a number in every element"},
            is_pure=True,
        ),
        *family(
            "%base:number {} : * -> result:L",
            {
                "iota": "numbers that count from a first one",
                "group_iota": "numbers that count from a first one in each group",
                "vci": "numbers that count from a first one",
            },
            is_pure=True,
        ),
        Instruction("create_mask", "%active_lanes:index {} : * -> result:K", "mask of the first elements", True),
        Instruction(
            "create_group_mask",
            "%active_elems_per_group:index {} : * -> result:K",
            "mask of the first elements of each group",
            True,
        ),
        *family(
            "#pattern {} : result:K", {"pset": "mask of a pattern", "pge": "mask of the first elements"}, is_pure=True
        ),
        Instruction(
            "plt", "%scalar:i32 {} : * -> mask:K, scalar_out:i32", "mask of as many elements as a number says", True
        ),
        *family(
            "%lhs:K, %rhs:K {} : * -> result:K",
            {
                "mask_and": "bits that are on in both",
                "mask_or": "bits that are on in either",
                "mask_xor": "bits that are on in one of both",
            },
            is_pure=True,
        ),
        Instruction("mask_not", "%source:K {} : * -> result:K", "bits inverted", True),
        # Arithmetic
        *family(
            _BINARY,
            {
                f"{name}{kind}": f"{what} of {of}"
                for name, what in (
                    ("add", "sum"),
                    ("sub", "difference"),
                    ("mul", "product"),
                    ("min", "smaller"),
                    ("max", "larger"),
                )
                for kind, of in _KINDS.items()
            }
            | {
                "divf": "quotient of floats",
                "andi": "bits that are on in both",
                "ori": "bits that are on in either",
                "xori": "bits that are on in one of both",
                "shli": "first shifted left by the second",
                "shrui": "first shifted right by the second, without sign",
                "shrsi": "first shifted right by the second, with its sign",
            },
            is_pure=True,
        ),
        Instruction(
            "fma", "%lhs:L, %rhs:L, %acc:L {} : * -> result:L", "product of the first two plus the third", True
        ),
        *family(
            _UNARY,
            {
                "negf": "negative of floats",
                "negi": "negative of integers",
                "absf": "absolute value of floats",
                "absi": "absolute value of integers",
                "sqrt": "square root",
                "exp": "e to the power of each element",
                "ln": "natural logarithm",
                "relu": "each element, or zero where it is negative",
                "not": "bits inverted",
                "extf": "floats made wider",
                "truncf": "floats made narrower",
                "fptosi": "floats as signed integers",
                "fptoui": "floats as unsigned integers",
                "sitofp": "signed integers as floats",
                "extsi": "integers made wider, with their sign",
                "extui": "integers made wider",
                "trunci": "integers made narrower",
                "bitcast": "the same bits as other elements",
                "vcvt": "each element converted",
                "vinterpret_cast": "the same bits as other elements",
                "group_broadcast": "one element of each group in all of it",
                "ensure_layout": "the same vector in another layout",
            },
            is_pure=True,
        ),
        *family(
            "%source:K {} : * -> result:K",
            {
                "ensure_mask_layout": "the same mask in another layout",
                "ensure_mask_granularity": "the same mask for elements of another width",
            },
            is_pure=True,
        ),
        *family(
            _MASKED_BINARY,
            {
                "vadd": "sum",
                "vsub": "first less second",
                "vmul": "product",
                "vdiv": "first divided by second",
                "vmin": "smaller of both",
                "vmax": "larger of both",
                "vshl": "first shifted left by the second",
                "vshr": "first shifted right by the second",
            },
            is_pure=True,
        ),
        *family(
            _EITHER_BINARY,
            {
                "vand": "bits that are on in both",
                "vor": "bits that are on in either",
                "vxor": "bits that are on in one of both",
            },
            is_pure=True,
        ),
        *family(
            _MASKED_UNARY,
            {
                "vneg": "negative",
                "vabs": "absolute value",
                "vsqrt": "square root",
                "vexp": "e to the power of each element",
                "vln": "natural logarithm",
                "vrelu": "each element, or zero where it is negative",
            },
            is_pure=True,
        ),
        Instruction("vnot", "%source:W <?, %mask*:K?> {} : source <?, mask?> -> result:W", "bits inverted", True),
        *family("%lhs:L, %rhs:L, %mask:K {} : * -> result:L, carry:K", {"vaddc": "sum, and its carry"}, is_pure=True),
        *family(
            "%lhs:L, %rhs:L, %carry_in:K, %mask:K {} : * -> result:L, carry:K",
            {"vaddcs": "sum with a carry, and its carry"},
            is_pure=True,
        ),
        *family(
            _SCALAR,
            {
                "vadds": "each element plus a number",
                "vmuls": "each element times a number",
                "vmaxs": "larger of each element and a number",
                "vmins": "smaller of each element and a number",
            },
            is_pure=True,
        ),
        *family(
            "%src:L, %scalar:i16, %mask:K {} : * -> result:L",
            {
                "vshls": "each element shifted left by a number",
                "vshrs": "each element shifted right by a number",
            },
            is_pure=True,
        ),
        Instruction(
            "vmula",
            "%acc:L, %lhs:L, %rhs:L <?, %mask*:K?> {} : acc, lhs, rhs <?, mask?> -> result:L",
            "first plus the product of the others",
            True,
        ),
        Instruction("vmull", "%a:L, %b:L, %mask:K {} : * -> low:L, high:L", "both halves of the product", True),
        Instruction(
            "vaxpy", "%x:L, %acc:L, %alpha:F, %mask:K {} : * -> result:L", "second plus a number times first", True
        ),
        Instruction(
            "vlrelu",
            "%x:L, %slope:F, %mask:K {} : * -> result:L",
            "each element, times a number where it is negative",
            True,
        ),
        *family(
            "%x:L, %alpha:L, %mask:K {} : * -> result:L",
            {"vprelu": "first, times second where it is negative"},
            is_pure=True,
        ),
        Instruction("vexpdif", "%x:L, %max:L, %mask:K {} : * -> result:L", "e to the power of first less second", True),
        # Comparison and selection
        *family(
            "#predicate, %lhs:L, %rhs:L {} : * -> result:K",
            {"cmpf": "bits of a comparison of floats", "cmpi": "bits of a comparison of integers"},
            is_pure=True,
        ),
        Instruction("vcmp", "%lhs:L, %rhs:L, %seed:K {} : * -> result:K", "bits of a comparison", True),
        Instruction("vcmps", "%src:L, %scalar, %seed:K {} : * -> result:K", "bits of a comparison with a number", True),
        *family(
            "%mask:K, %true_value:L, %false_value:L {} : * -> result:L",
            {"select": "first where the bit is on, else second", "vsel": "first where the bit is on, else second"},
            is_pure=True,
        ),
        # Reductions
        *family(
            _REDUCTION,
            {
                f"{group}reduce_{name}{kind}": f"{what} of {of}{' in each group' if group else ''}"
                for group in ("", "group_")
                for name, what in (("add", "sum"), ("max", "largest"), ("min", "smallest"))
                for kind, of in _KINDS.items()
            }
            | {
                "vcadd": "sum of all elements, or of each group",
                "vcmax": "largest element, or that of each group",
                "vcmin": "smallest element, or that of each group",
                "compress": "elements whose bit is on, packed",
            },
            is_pure=True,
        ),
        *family(
            "%acc:L, %source:L, %mask:K {} : * -> result:L",
            {"vdhist": "histogram of bytes", "vchist": "cumulative histogram of bytes"},
            is_pure=True,
        ),
        # Moves between elements
        Instruction(
            "active_prefix_index",
            "%mask:K {} : * -> result:L",
            "for each element, how many bits before it are on",
            True,
        ),
        Instruction("shuffle", "%source:L#indices=integers {} : source -> result:L", "elements in another order", True),
        Instruction(
            "vselr", "%source:L, %index:L {} : * -> result:L", "elements in the order that the second names", True
        ),
        *family(_PAIR, {"vintlv": "elements of both in turn", "vdintlv": "every second element of both"}, is_pure=True),
        Instruction("channel_split", "(%source:L) {} : * -> results*", "every n-th element in each of n vectors", True),
        Instruction("channel_merge", "(%inputs*:L) {} : * -> result:L", "elements of several vectors in turn", True),
        Instruction("unpack", "(%source:W) {} : * -> parts*:R", "the registers of a vector", True),
        Instruction("pack", "(%parts*:R) {} : * -> result:W", "a vector made of registers", True),
        # Loads and stores
        Instruction("load", "%source:Q[%offset:=index] {} : source -> result:L", "loads a vector"),
        Instruction(
            "deinterleave_load",
            "%source:Q[%offset:=index] {} : source -> low:L, high:L",
            "loads every second element twice",
        ),
        *[
            Instruction(name, f"%source:Q[%offset:=index], %{stride}:=index {{}} : source -> result:L", summary)
            for name, stride, summary in (
                ("group_load", "row_stride", "loads a row for each group"),
                ("group_slot_load", "source_group_stride", "loads an element for each group"),
                ("group_broadcast_load", "source_group_stride", "loads an element for each group, and repeats it"),
            )
        ],
        Instruction(
            "stride_load",
            "%source:Q[%offset:=index], %block_stride:i16, %repeat_stride:i16, %mask:K {} : "
            "source, block_stride, repeat_stride, mask -> result:L",
            "loads blocks of 32 bytes",
        ),
        *family(
            "%source:Q[%offset:=index], %mask:K, %passthru:L {} : source, mask, passthru -> result:L",
            {
                "masked_load": "loads the elements whose bit is on",
                "expand_load": "loads one element after the other where the bit is on",
            },
        ),
        Instruction(
            "gather",
            "%source:Q[%indices:L], %mask:K, %passthru:L {} : source, indices, mask, passthru -> result:L",
            "loads elements at indices",
        ),
        Instruction("store", "%value:L, %destination:Q[%offset:=index] {} : value, destination", "stores a vector"),
        Instruction(
            "interleave_store",
            "%low:L, %high:L, %destination:Q[%offset:=index] {} : low, high, destination",
            "stores the elements of two vectors in turn",
        ),
        Instruction(
            "group_store",
            "%value:L, %destination:Q[%offset:=index], %row_stride:=index {} : value, destination",
            "stores a row for each group",
        ),
        Instruction(
            "stride_store",
            "%value:L, %destination:Q[%offset:=index], %block_stride:i16, %repeat_stride:i16, %mask:K {} : "
            "value, destination, block_stride, repeat_stride, mask",
            "stores blocks of 32 bytes",
        ),
        *family(
            "%value:L, %destination:Q[%offset:=index], %mask:K {} : value, destination, mask",
            {
                "masked_store": "stores the elements whose bit is on",
                "compress_store": "stores the elements whose bit is on, packed",
            },
        ),
        Instruction(
            "scatter",
            "%value:L, %destination:Q[%indices:L], %mask:K {} : value, destination, indices, mask",
            "stores elements at indices",
        ),
        Instruction(
            "vsstb",
            "%value:L, %destination:Q[%offset:=index], %block_stride:=i16, %mask:K {} : value, destination, mask",
            "stores a block of 32 bytes for each group",
        ),
        *family(
            "%source:Q, %offsets:L, %mask:K {} : * -> result:L",
            {"vgather": "loads elements at offsets", "vgatherb": "loads blocks of 32 bytes at offsets"},
        ),
        Instruction("vscatter", "%value:L, %destination:Q, %offsets:L, %mask:K {} : *", "stores elements at offsets"),
    ]
)
