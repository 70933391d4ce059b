"""Vector instructions: registers of 256 bytes, masks with a bit for each element.

Elements whose bit in the mask is off are zero in the result.
"""

from __future__ import annotations

from .instruction import Instruction, family

_UNARY = "%input:V, %mask:M {} : * -> result:V"
_BINARY = "%lhs:V, %rhs:V, %mask:M {} : * -> result:V"
_TERNARY = "%acc:V, %lhs:V, %rhs:V, %mask:M {} : * -> result:V"
_SCALAR = "%input:V, %scalar, %mask:M {} : * -> result:V"
_MASKS = "%src0:M, %src1:M, %mask:M {} : * -> result:M"
_PAIR = "%lhs:V, %rhs:V {} : * -> low:V, high:V"
_WIDTHS = (8, 16, 32)

TABLE: list[Instruction] = [
    # Arithmetic
    *family(
        _UNARY,
        {
            "vabs": "absolute value of each element",
            "vexp": "e to the power of each element",
            "vln": "natural logarithm of each element",
            "vsqrt": "square root of each element",
            "vneg": "negative of each element",
            "vrelu": "each element, or zero where it is negative",
            "vnot": "each bit inverted",
            "vcadd": "sum of all elements",
            "vcmax": "largest element, and its place",
            "vcmin": "smallest element, and its place",
            "vcgadd": "sum of each group of 32 bytes",
            "vcgmax": "largest element of each group of 32 bytes",
            "vcgmin": "smallest element of each group of 32 bytes",
            "vcpadd": "sum of each pair of neighbors",
            "vsqz": "elements whose bit is on, packed",
            "vusqz": "for each element, how many bits before it are on",
        },
        is_pure=True,
    ),
    *family(
        _BINARY,
        {
            "vadd": "sum",
            "vsub": "first less second",
            "vmul": "product",
            "vdiv": "first divided by second",
            "vmax": "larger of both",
            "vmin": "smaller of both",
            "vand": "bits that are on in both",
            "vor": "bits that are on in either",
            "vxor": "bits that are on in one of both",
            "vshl": "first shifted left by the second",
            "vshr": "first shifted right by the second",
            "vprelu": "first, times second where it is negative",
        },
        is_pure=True,
    ),
    *family(
        _TERNARY,
        {
            "vmula": "first plus the product of the others",
            "vmadd": "product of the first two plus the third",
        },
        is_pure=True,
    ),
    *family(
        _SCALAR,
        {
            "vadds": "each element plus a number",
            "vmuls": "each element times a number",
            "vmaxs": "larger of each element and a number",
            "vmins": "smaller of each element and a number",
            "vlrelu": "each element, times a number where it is negative",
            "vshls": "each element shifted left by a number",
            "vshrs": "each element shifted right by a number",
        },
        is_pure=True,
    ),
    *family(
        "%lhs:V, %rhs:V, %mask:M {} : * -> result:V, carry:M",
        {"vaddc": "sum, and its carry", "vsubc": "first less second, and its borrow"},
        is_pure=True,
    ),
    *family(
        "%lhs:V, %rhs:V, %carry_in:M, %mask:M {} : * -> result:V, carry:M",
        {"vaddcs": "sum with a carry, and its carry", "vsubcs": "first less second with a borrow, and its borrow"},
        is_pure=True,
    ),
    Instruction("vmull", "%lhs:V, %rhs:V, %mask:M {} : * -> low:V, high:V", "both halves of the product", True),
    Instruction(
        "vaxpy", "%src0:V, %src1:V, %alpha, %mask:M {} : * -> result:V", "first times a number plus second", True
    ),
    Instruction(
        "vexpdif", "%input:V, %max:V, %mask:M, #part {} : * -> result:V", "e to the power of first less second", True
    ),
    Instruction(
        "vmulscvt",
        "%input:V, %scalar, %mask:M, #rnd, #part {} : * -> result:V",
        "each element times a number, converted",
        True,
    ),
    *family(
        "%acc:V, %source:V, %mask:M8, %bin:i32 {} : * -> result:V",
        {"chistv2": "cumulative histogram of bytes", "dhistv2": "histogram of bytes"},
        is_pure=True,
    ),
    # Comparison and selection
    Instruction("vcmp", "%src0:V, %src1:V, %mask:M, #cmp {} : * -> result:M", "bits of a comparison", True),
    Instruction(
        "vcmps", "%src:V, %scalar, %mask:M, #cmp {} : * -> result:M", "bits of a comparison with a number", True
    ),
    *family(
        "%lhs:V, %rhs:V {} : * -> result:V",
        {"vaddreluconv": "sum, zero where it is negative, converted", "vmulconv": "product, converted"},
        is_pure=True,
    ),
    Instruction("vsel", "%src0:V, %src1:V, %mask:M {} : * -> result:V", "first where the bit is on, else second", True),
    *family(
        "%input:V, %mask:M {} : * -> value:V, predicate:M",
        {"vcbmax": "largest element, and where it is", "vcbmin": "smallest element, and where it is"},
        is_pure=True,
    ),
    # Conversions and moves between elements
    Instruction("vtrc", "%input:V, %mask:M, #round_mode {} : * -> result:V", "each element rounded", True),
    Instruction("vcvt", "%input:V, %mask:M {} : * -> result:V", "each element converted", True),
    Instruction("vbitcast", "%input:V {} : * -> result:V", "the same bits as other elements", True),
    Instruction("vbr", "%value {} : * -> result:V", "a number in every element", True),
    Instruction("vdup", "%input, %mask:M {} : * -> result:V", "a number, or one element, in every element", True),
    Instruction("vci", "%index:number {} : * -> result:V", "numbers that count from a first one", True),
    *family(
        "%src0:V, %src1:V {} : * -> result:V",
        {"vselr": "elements of the first in the order that the second names", "vselrv2": "the same of two registers"},
        is_pure=True,
    ),
    *family(
        "%src:V, %part:=index {} : src -> result:V",
        {"vsunpack": "half of the elements, widened with their sign", "vzunpack": "half of the elements, widened"},
        is_pure=True,
    ),
    Instruction("vpack", "%src:V, #part {} : * -> result:V", "the lower half of each element", True),
    *family(
        _PAIR,
        {"vintlv": "elements of both in turn", "vdintlv": "every second element of both"},
        is_pure=True,
    ),
    *family(
        "%lhs:V, %rhs:V, #part {} : * -> result:V",
        {"vintlvv2": "one half of the elements of both in turn", "vdintlvv2": "one half of every second element"},
        is_pure=True,
    ),
    # Masks
    *[
        row
        for bits in _WIDTHS
        for row in (
            Instruction(f"pset_b{bits}", f"#pattern {{}} : result:M{bits}", "mask of a pattern", True),
            Instruction(f"pge_b{bits}", f"#pattern {{}} : result:M{bits}", "mask of the first elements", True),
            Instruction(
                f"plt_b{bits}",
                f"%scalar:i32 {{}} : * -> mask:M{bits}, scalar_out:i32",
                "mask of as many elements as a number says, and what is left of it",
                True,
            ),
            Instruction(
                f"pltm_b{bits}", f"%loop:i16, %bound:i32 {{}} : * -> mask:M{bits}", "mask of one round of a loop", True
            ),
            Instruction(
                f"pintlv_b{bits}",
                f"%lhs:M{bits}, %rhs:M{bits} {{}} : * -> low:M{bits}, high:M{bits}",
                "bits of both in turn",
                True,
            ),
            Instruction(
                f"pdintlv_b{bits}",
                f"%lhs:M{bits}, %rhs:M{bits} {{}} : * -> low:M{bits}, high:M{bits}",
                "every second bit of both",
                True,
            ),
        )
    ],
    Instruction("pnot", "%input:M, %mask:M {} : * -> result:M", "bits inverted", True),
    *family(
        _MASKS,
        {
            "pand": "bits that are on in both",
            "por": "bits that are on in either",
            "pxor": "bits that are on in one of both",
            "psel": "bits of the first where the mask is on, else of the second",
        },
        is_pure=True,
    ),
    *family(
        "%input:M, #part {} : * -> result:M",
        {"ppack": "every second bit", "punpack": "each bit twice"},
        is_pure=True,
    ),
    Instruction("pbitcast", "%input:M {} : * -> result:M", "the same bits for elements of another width", True),
    # Loads
    Instruction("vlds", "%source:B[%offset:=index] {} : * -> result:V <?, updated_base:B?>", "loads a register"),
    Instruction(
        "vldsx2", "%source:B[%offset:index], #dist {} : * -> low:V, high:V <?, updated_base:B?>", "loads two registers"
    ),
    Instruction("vldas", "%source:P {} : * -> result:A", "begins unaligned loads"),
    Instruction("init_align", "{} : result:A", "begins unaligned stores", True),
    Instruction(
        "vldus",
        "%source:P, %align:A <?, %increment?:index?> {} : * -> result:V, updated_align:A <?, updated_base:P?>",
        "loads a register from any address",
    ),
    Instruction("uvld", "%source:B[%offset:=index] {} : * -> result:V", "loads a register from any address"),
    Instruction(
        "vsldb",
        "%source:B, %block_stride:i16, %repeat_stride:i16, %mask:M {} : * -> result:V <?, updated_base:B?>",
        "loads blocks of 32 bytes",
    ),
    *family(
        "%source:P, %offsets:V, %mask:M {} : * -> result:V",
        {
            "vgather2": "loads elements at offsets",
            "vgatherb": "loads blocks of 32 bytes at offsets",
            "vgather2_bc": "loads elements at offsets, and repeats them",
        },
    ),
    *family(
        "%source:B[%offset:index], #dist {} : * -> result:M <?, updated_base:B?>",
        {"plds": "loads a mask", "pldi": "loads a mask"},
    ),
    # Stores
    Instruction(
        "vsts", "%value:V, %destination:B[%offset:=index], %mask:M {} : * <?-> updated_base:B?>", "stores a register"
    ),
    Instruction(
        "vstsx2",
        "%low:V, %high:V, %destination:B[%offset:index], #dist, %mask:M {} : *",
        "stores two registers, their elements in turn",
    ),
    Instruction(
        "vsstb",
        "%value:V, %destination:B, %block_stride:i16, %repeat_stride:i16, %mask:M {} : * <?-> updated_base:B?>",
        "stores blocks of 32 bytes",
    ),
    Instruction("vscatter", "%value:V, %destination:P, %offsets:V, %mask:M {} : *", "stores elements at offsets"),
    Instruction(
        "vstus",
        "%align_in:A, %offset:i32, %value:V, %base:P {} : * -> align_out:A <?, base_out:P?>",
        "stores some elements to any address",
    ),
    Instruction(
        "vstur",
        "%align_in:A, %value:V, %base:P, #mode {} : * -> align_out:A",
        "stores as many elements as a register says",
    ),
    Instruction("vstar", "%value:A, %destination:B {} : *", "ends unaligned stores"),
    Instruction("vstas", "%value:A, %destination:B, %offset:i32 {} : * <?-> updated_base:B?>", "ends unaligned stores"),
    Instruction(
        "pstu", "%align_in:A, %value:M, %base:P {} : * -> align_out:A, base_out:P", "stores a mask to any address"
    ),
    *family(
        "%value:M, %destination:B[%offset:index], #dist {} : * <?-> updated_base:B?>",
        {"psts": "stores a mask", "psti": "stores a mask"},
    ),
    # Special registers
    Instruction("sprclr", "#spr {}", "clears a special register"),
    *family(
        "#spr, %destination:P[%offset:i32] {} : * <?-> updated_base:P?>",
        {"sprsti": "stores a special register", "sprsts": "stores a special register"},
    ),
    # Sorting
    Instruction(
        "vbitsort", "%destination:P, %source:P, %indices:P, %repeat_times:index {} : *", "sorts groups of 32 elements"
    ),
    Instruction(
        "vmrgsort4",
        "%destination:P, %source0:P, %source1:P, %source2:P, %source3:P, %count:i64, %config:i64 {} : *",
        "merges four sorted lists",
    ),
    Instruction("get_vms4_sr", "{} : list0:i16, list1:i16, list2:i16, list3:i16", "how much of each list was merged"),
    # Code for the vector unit
    Instruction("vecscope", "@body {}", "code of the vector unit"),
    Instruction(
        "strict_vecscope", "(%captures*) @body {} : signature:captures", "code of the vector unit, with what it uses"
    ),
    # Vectors in memory, of generation a3
    *family(
        "%dst:P, %src0:P, %src1:P, %repeat:i64, %dstBlockStride:i64, %src0BlockStride:i64, %src1BlockStride:i64, "
        "%dstRepeatStride:i64, %src0RepeatStride:i64, %src1RepeatStride:i64 {} : *",
        {
            "ub.vadd": "sum of vectors in memory",
            "ub.vsub": "difference of vectors in memory",
            "ub.vmul": "product of vectors in memory",
            "ub.vdiv": "quotient of vectors in memory",
            "ub.vmax": "larger elements of vectors in memory",
            "ub.vmin": "smaller elements of vectors in memory",
            "ub.vand": "bits that are on in both vectors in memory",
            "ub.vor": "bits that are on in either vector in memory",
            "ub.vaddrelu": "sum of vectors in memory, zero where it is negative",
        },
    ),
    *family(
        "%dst:P, %src:P, %repeat:i64, %dstBlockStride:i64, %srcBlockStride:i64, %dstRepeatStride:i64, "
        "%srcRepeatStride:i64 {} : *",
        {
            "ub.vnot": "bits of a vector in memory inverted",
            "ub.vabs": "absolute values of a vector in memory",
            "ub.vrelu": "a vector in memory, zero where it is negative",
            "ub.vexp": "e to the power of a vector in memory",
            "ub.vln": "natural logarithms of a vector in memory",
            "ub.vsqrt": "square roots of a vector in memory",
            "ub.vrsqrt": "reciprocal square roots of a vector in memory",
        },
    ),
    *[
        Instruction(
            f"ub.{name}",
            f"%dst:P, %src:P, %{operand}, %repeat:i64, %dstBlockStride:i64, %srcBlockStride:i64, "
            "%dstRepeatStride:i64, %srcRepeatStride:i64 {} : *",
            summary,
        )
        for name, operand, summary in (
            ("vshl", "shiftDist:i64", "a vector in memory shifted left"),
            ("vshr", "shiftDist:i64", "a vector in memory shifted right"),
            ("vmuls", "scalar", "a vector in memory times a number"),
            ("vadds", "scalar", "a vector in memory plus a number"),
            ("vmaxs", "scalar", "larger of a vector in memory and a number"),
            ("vmins", "scalar", "smaller of a vector in memory and a number"),
        )
    ],
    Instruction(
        "ub.vdup",
        "%dst:P, %scalar:i64, %repeat:i64, %dstBlockStride:i64, %srcBlockStride:i64, %dstRepeatStride:i64, "
        "%srcRepeatStride:i64 {} : *",
        "a number in all of a vector in memory",
    ),
    Instruction("ub.set_mask", "%mask0:i64, %mask1:i64 {} : *", "sets the elements that vectors in memory use"),
    Instruction("ub.set_mask_count", "{}", "counts the elements of vectors in memory"),
    Instruction("ub.set_mask_norm", "{}", "uses a mask for vectors in memory"),
]
