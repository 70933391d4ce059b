"""The rules of each operation on tiles, by its name without `pto.`."""

from __future__ import annotations

from collections.abc import Mapping

from ....operations.pto_tile_elements import ELEMENTS
from . import indexed, moves, padding, products, quantization, scratch
from .forms import check_elements
from .tiles import Rule

_FURTHER: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(("txor", "txors"), (scratch.like_destination,)),
    **dict.fromkeys(("tpow", "tpows"), (scratch.power,)),
    **dict.fromkeys(("trem", "trems"), (scratch.remainder,)),
    "tprelu": (scratch.leak,),
    "tlrelu": (scratch.slope,),
    "tsel": (scratch.select,),
    "tsels": (scratch.select_scalar,),
    "tsort32": (scratch.sort,),
    "ttrans": (scratch.transposition,),
    "trsqrt": (scratch.reciprocal_root,),
    "tcolsum": (scratch.column_sum,),
    **dict.fromkeys(("tcolargmax", "tcolargmin"), (scratch.column_place,)),
    **dict.fromkeys(("trowargmax", "trowargmin"), (scratch.row_place,)),
    **dict.fromkeys(
        (
            "trowexpandadd", "trowexpandsub", "trowexpandmul", "trowexpanddiv", "trowexpandmax", "trowexpandmin",
        ),
        (scratch.row_expansion,),
    ),
}  # fmt: skip
"""What holds beside the elements and the form of an operation."""

TILE_RULES: Mapping[str, tuple[Rule, ...]] = {
    **{name: (check_elements, *_FURTHER.get(name, ())) for name in ELEMENTS},
    "tci": (scratch.count,),
    "texpands": (scratch.fill,),
    "tfillpad": (padding.fill,),
    **dict.fromkeys(
        ("tmatmul", "tmatmul.acc", "tmatmul.bias", "tgemv", "tgemv.acc", "tgemv.bias"), (products.plain_product,)
    ),
    **dict.fromkeys(
        ("tmatmul.mx", "tmatmul.mx.acc", "tmatmul.mx.bias", "tgemv.mx", "tgemv.mx.acc", "tgemv.mx.bias"),
        (products.scaled_product,),
    ),
    "tget_scale_addr": (products.scale_address,),
    "tload": (moves.load,),
    "tprefetch": (moves.prefetch,),
    "tstore": (moves.store,),
    "tmov": (moves.move,),
    "textract": (moves.extract,),
    "tinsert": (moves.insert,),
    "tcvt": (moves.convert,),
    "tprint": (indexed.shown,),
    "tgather": (indexed.gather,),
    "tgatherb": (indexed.gather_blocks,),
    "tscatter": (indexed.scatter,),
    "tmrgsort": (indexed.merge,),
    "mgather": (indexed.gather_from_memory,),
    "mscatter": (indexed.scatter_to_memory,),
    "thistogram": (indexed.histogram,),
    "trandom": (indexed.random,),
    "tconcatidx": (indexed.concatenation,),
    **dict.fromkeys(("taxpy", "taddc", "taddsc"), (indexed.sums,)),
    "tquant": (quantization.quantize,),
    "tquant.mx": (quantization.quantize_blocks,),
    "tdequant": (quantization.dequantize,),
}
"""The rules of each operation."""
