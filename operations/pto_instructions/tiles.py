"""Operations on tiles that are not a tile function of `pto_tiles`: sorting, quantization, gathers, memory of tiles."""

from __future__ import annotations

from .instruction import Instruction, family


def _tiles(inputs: str, outputs: str = "%dst:T") -> str:
    """Return the text of an operation on tiles: operands in `ins(...)` and `outs(...)`, each with its type."""
    return f"{_list('ins', inputs)} {_list('outs', outputs)} {{}}"


def _list(word: str, operands: str) -> str:
    types: list[str] = []
    for operand in operands.split(", "):
        name = operand.partition(":")[0].lstrip("%").rstrip("?*")
        types.append(f"<?, {name}?>" if "?" in operand else f", {name}")
    shown = "".join(f"<?, {each}?>" if "?" in each else f", {each}" for each in operands.split(", "))
    return f"'{word}' ({shown[2:]} : {''.join(types)[2:]})"


_ONE = _tiles("%src:T")
_TWO = _tiles("%src0:T, %src1:T")
_THREE = _tiles("%src0:T, %src1:T, %src2:T")
_SCALAR = _tiles("%src:T, %scalar:N")
_MX = "%a:T, %a_scale:T, %b:T, %b_scale:T"


def _with_result(text: str) -> str:
    return f"{text} <?-> result?>"


TABLE: list[Instruction] = [
    # Memory of tiles
    Instruction(
        "alloc_multi_tile",
        "<?'addr' = %addr?:=i64?> <?'valid_row' = %valid_row?:=index?> <?'valid_col' = %valid_col?:=index?> {} : "
        "result",
        "makes several tiles of which one is used at a time",
    ),
    Instruction("multi_tile_get", "%source[%slot:=index] {} : source -> result:TB", "one of several tiles", True),
    Instruction("bitcast", "%src:TB {} : * -> result:TB", "the same bytes as other elements", True),
    Instruction("tassign", "%tile:T, %addr:=i64 {} : tile -> result:T", "a tile at another address"),
    Instruction("tprefetch", _ONE, "loads a tensor into the cache"),
    Instruction("tget_scale_addr", _ONE, "the scales of a tile's blocks"),
    # Elementwise
    Instruction("taddrelu", _TWO, "sum, or zero where it is negative"),
    Instruction("taxpy", _SCALAR, "adds a number times a tile"),
    *family(_THREE, {"taddc": "sum of three tiles", "tsubc": "first less second plus third"}),
    *family(
        _tiles("%src0:T, %scalar:N, %src1:T"),
        {"taddsc": "sum of two tiles and a number", "tsubsc": "first less a number plus second"},
    ),
    *family(
        _TWO,
        {
            "tpartadd": "sum where both are valid, else the one that is",
            "tpartmax": "larger where both are valid, else the one that is",
            "tpartmin": "smaller where both are valid, else the one that is",
            "tpartmul": "product where both are valid, else the one that is",
        },
    ),
    *family(
        _tiles("%src0:T, %src1:T, %src0Idx:T, %src1Idx:T", "%dst:T, %dstIdx:T"),
        {
            "tpartargmax": "larger where both are valid, and its index",
            "tpartargmin": "smaller where both are valid, and its index",
        },
    ),
    Instruction(
        "trandom",
        "'ins' (%key0:S, %key1:S, %counter0:S, %counter1:S, %counter2:S, %counter3:S {rounds} : key0, key1, counter0, "
        "counter1, counter2, counter3) 'outs' (%dst:T : dst) {}",
        "random numbers of a counter",
    ),
    Instruction("ttri", "'ins' (%diagonal:I {upperOrLower} : diagonal) 'outs' (%dst:T : dst) {}", "a triangle of ones"),
    # Single elements
    Instruction(
        "tsetval",
        "'ins' (%offset:index, %val:N : offset, val) 'outs' (%dst:T : dst) {}",
        "sets an element of a tile",
        order=("dst", "offset", "val"),
    ),
    Instruction("tgetval", "'ins' (%src:T, %offset:index : src, offset) 'outs' : dst:N {}", "an element of a tile"),
    # Moves between elements
    Instruction(
        "tinsert",
        "'ins' (%src:T, %indexRow:index, %indexCol:index : src, indexRow, indexCol <?'fp' %fp?:T : fp?> "
        "<?'pre_quant' %preQuantScalar? : preQuantScalar?>) 'outs' (%dst:T : dst) {}",
        "puts a tile into a part of another",
        order=("src", "indexRow", "indexCol", "dst", "fp", "preQuantScalar"),
    ),
    Instruction(
        "tgather",
        "'ins' (%src:T, <~{maskPattern} | %extra*~> : src <?, extra?><?, #axis?>) "
        "'outs' (%dst:T <?, %cdst?:T?> : dst <?, cdst?>) {}",
        "elements of a tile at indices, those that compare with a number, or those of a pattern",
    ),
    Instruction(
        "tmrgsort",
        "'ins' (%srcs* <?#no_tmp=flag(no_tmp)?> {exhausted} : srcs) 'outs' (%dsts* : dsts) {}",
        "merges sorted pairs, of one tile or of several",
    ),
    Instruction(
        "tconcatidx", _tiles("%src0:T, %src1:T, %src0Idx:T, %src1Idx:T"), "two tiles side by side, by their lengths"
    ),
    Instruction(
        "tscatter",
        "'ins' (%src:T, <~{maskPattern} | %indexes?:T~> : src <?, indexes?><?, #axis?>) 'outs' (%dst:T : dst) {}",
        "elements of a tile at indices of another",
        order=("src", "dst", "indexes"),
    ),
    Instruction("tgatherb", _tiles("%src:T, %offsets:T"), "blocks of 32 bytes at offsets"),
    Instruction(
        "mgather",
        _tiles("%mem:T, %idx:T, %scratch?:T"),
        "rows or elements of a tensor at indices",
        order=("mem", "idx", "dst", "scratch"),
    ),
    Instruction("mscatter", _tiles("%src:T, %idx:T", "%mem:T"), "stores rows or elements of a tile at indices"),
    # Quantization
    Instruction(
        "tquant",
        _tiles("%src:T, %fp:T, %offset?:T", "%dst:T, %tmp?:T"),
        "elements quantized to 8 bits",
        order=("src", "fp", "offset", "tmp", "dst"),
    ),
    Instruction(
        "tquant.mx",
        _tiles("%src:T", "%dst:T, %exp:T, %max:T, %scaling:T, %exp_zz?:T"),
        "elements quantized in blocks that share a scale",
    ),
    Instruction("tdequant", _tiles("%src:T, %scale:T, %offset:T"), "quantized elements as numbers"),
    Instruction("thistogram", _tiles("%src:T, %idx:T"), "histogram of a byte of each element"),
    # Products
    *[
        Instruction(f"{name}{suffix}", _with_result(_tiles(operands)), f"{what} {more}".strip())
        for name, what in (("tmatmul", "product of matrices"), ("tgemv", "product of a row and a matrix"))
        for suffix, operands, more in (
            (".mx", _MX, "whose blocks have scales"),
            (".mx.acc", f"%c_in:T, {_MX}", "whose blocks have scales, added to the accumulator"),
            (".mx.bias", f"{_MX}, %bias:T", "whose blocks have scales, plus a bias for each column"),
        )
    ],
]
