"""Tile operations as tile functions on views: copies, arithmetic, products, conversions from the accumulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BoolAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    UnitAttr,
    f16,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...analysis.pto.pipe_ends import refusal
from ...dialects import flow
from ...dialects.pto.attributes import (
    AtomicType,
    FixpipeQuant,
    FixpipeRelu,
    Layout,
    PadMode,
    PadValue,
    PadValueAttr,
    ReluPreMode,
    ReluPreModeAttr,
    RoundMode,
    SaturationMode,
)
from ...dialects.pto.frontend_pipes import SetQuantOp, SetQuantScalarOp, SetQuantVectorOp
from ...dialects.pto.internal_pipes import InitializePipeOp, TPushOp
from ...dialects.pto.memory import LoadScalarOp, StoreScalarOp
from ...dialects.pto.tiles import TableOperation, TCvtOp, TExtractOp, TileOperation, TLoadOp, TMovOp, TPrintOp, TStoreOp
from ...dialects.pto.types import F4E1M2x2Type, F4E2M1x2Type, PtrType, TileBufType, element_bytes
from ...dialects.scalar_types import kind_of
from ...operations import integers
from ...operations.pto_tiles import Operand
from ...operations.tile_functions import COMPARISONS, FUNCTIONS
from ...targets.chip import SCALE_BOX
from .emission import Emitter
from .handles import Handles, lowered
from .views import GLOBAL_MEMORY, TENSOR_RANK, Number, View, in_order_of_matrix, known

ui8, ui16, ui32, ui64 = (IntegerType(bits, Signedness.UNSIGNED) for bits in (8, 16, 32, 64))

CONVERTER = "fixpipe"
"""Name of the space in which tiles from the accumulator are scaled."""

_FACTOR_BYTES = 8
"""Bytes of the scales of columns that are integers."""

ROUNDINGS = {
    RoundMode.RINT: "rint",
    RoundMode.CAST_RINT: "rint",
    RoundMode.ROUND: "round",
    RoundMode.FLOOR: "floor",
    RoundMode.CEIL: "ceil",
    RoundMode.TRUNC: "trunc",
    RoundMode.ODD: "odd",
}

SORTED_AT_ONCE = 32
"""Pairs that `tsort32` sorts with each other."""

_PAIR_BYTES = 8
"""Bytes of a value and its index."""

_NARROW_BYTES = 2
"""Integers up to this width keep the lower bits of floats that do not fit, on all chips, where nothing saturates."""


class TileOperations:
    """Lowers operations on tiles of one kernel."""

    def __init__(self, emitter: Emitter, handles: Handles, chip: str) -> None:
        self.emitter = emitter
        self.handles = handles
        self.chip = chip
        self.converter_bytes = 0
        """How large the space of the conversions has to be."""

    def lower(self, op: TileOperation) -> None:
        """Lower an operation that reads tiles and writes one."""
        match op:
            case TLoadOp():
                self._load(op)
            case TStoreOp():
                options = self.relu(op, op.reluPreMode)
                if op.atomicType is not None and op.atomicType.data is AtomicType.ADD:
                    options["accumulate"] = UnitAttr()
                source = self._view(op.src)
                target = self._matrix(op, self._view(op.dst), source)
                self.move(op, target, source, op.src, op.fp, op.preQuantScalar, options)
            case TMovOp():
                options = self.relu(op, op.reluPreMode)
                self.move(op, self._view(op.dst), self._view(op.src), op.src, op.fp, op.preQuantScalar, options)
            case TExtractOp():
                target = self._view(op.dst)
                offsets = [self.handles.number(op.indexRow), self.handles.number(op.indexCol)]
                whole = op.src.type
                assert isinstance(whole, TileBufType)
                for offset, extent, limit in zip(offsets, target.extents, whole.shape, strict=True):
                    message = "what is extracted stays within the tile; correct the indices or the valid shape"
                    self.emitter.within(offset, extent, limit, message)
                source = self.emitter.part(self._view(op.src), offsets, target.extents)
                options = self.relu(op, op.reluPreMode)
                self.move(op, target, source, op.src, op.fp, op.preQuantScalar, options)
            case TCvtOp():
                self._copy(op, self._view(op.dst), self._view(op.src), self._conversion(op))
            case TableOperation():
                self._table_operation(op)
            case _:
                raise refusal(op, "has no counterpart in `flow`; use another operation on tiles")

    def _view(self, handle: SSAValue) -> View:
        return self.handles.view(handle)

    # Copies ------------------------------------------------------------------------------------

    def _copy(self, op: Operation, target: View, source: View, options: dict[str, Attribute] | None = None) -> None:
        """Copy the common part of two views."""
        into, out_of = known(target.extents), known(source.extents)
        if into is not None and out_of is not None and prod(into) != prod(out_of):
            if len(into) != len(out_of):
                raise refusal(
                    op,
                    f"copies {' x '.join(map(str, out_of))} elements into {' x '.join(map(str, into))}; make "
                    "the numbers equal",
                )
            common = tuple(map(min, into, out_of))
            target, source = replace(target, extents=common), replace(source, extents=common)
        elif into is not None and out_of is not None and into != out_of:
            options = {**(options or {}), "reshape": UnitAttr()}
        self.emitter.apply("copy", target, [source], options)

    def _load(self, op: TLoadOp) -> None:
        target, source = self._view(op.dst), self._view(op.src)
        pads = op.pad_mode is not None and op.pad_mode.data is PadMode.VALUE and op.pad_value is not None
        if pads and op.pad_value is not None:
            self.emitter.apply("fill", target, [self.handles.value(op.pad_value)])
        if source.layout is not Layout.ND and len(source.extents) < TENSOR_RANK:
            self._load_boxes(target, source)
            return
        if source.layout is not Layout.ND:
            source = self._matrix(op, source, target)
        elif pads and len(target.extents) == len(source.extents):
            target = replace(target, extents=source.extents)
        self._copy(op, target, source)

    def _load_boxes(self, target: View, source: View) -> None:
        """Load scales in boxes of 16 x 2, behind each other along the side of two first; the last ones are whole."""
        emitter, sides = self.emitter, (0, 1) if source.layout is Layout.MX_A_ZZ else (1, 0)
        (long, short), (down, across) = ([view[side] for side in sides] for view in (source.extents, target.strides))
        height, width = SCALE_BOX
        size = height * width
        pitch = emitter.multiply(emitter.divide(emitter.add(short, width - 1), width), size)
        for along_long in self._pieces(long, height):
            for along_short in self._pieces(short, width):
                (boxes, rows, first), (others, columns, place) = along_long, along_short
                extents = (boxes, rows, others, columns)
                if 0 in extents:
                    continue
                skipped = emitter.add(emitter.multiply(first, pitch), emitter.multiply(place, size))
                origin = emitter.add(
                    emitter.multiply(emitter.multiply(first, height), down),
                    emitter.multiply(emitter.multiply(place, width), across),
                )
                strides = (emitter.multiply(down, height), down, emitter.multiply(across, width), across)
                emitter.apply(
                    "copy",
                    replace(target, address=emitter.add(target.address, origin), extents=extents, strides=strides),
                    [replace(source, address=emitter.add(source.address, skipped), extents=extents,
                             strides=(pitch, width, size, 1), layout=Layout.ND)],
                )  # fmt: skip

    def _pieces(self, extent: Number, size: int) -> list[tuple[Number, Number, Number]]:
        """Return whole boxes and the rest of an extent: how many boxes, their extent, and the boxes before them."""
        whole = self.emitter.divide(extent, size)
        return [(whole, size, 0), (1, self.emitter.remainder(extent, size), whole)]

    def _matrix(self, op: Operation, tensor: View, tile: View) -> View:
        """Return a tensor as the rows and columns of a tile, in the order of its layout."""
        if tensor.layout is Layout.ND:
            return tensor
        ordered, rows, columns = in_order_of_matrix(tensor)
        shape = self.emitter.product(rows), self.emitter.product(columns)
        extents, lying = known(shape), f"a tensor with layout {tensor.layout.value}"
        valid = known(tile.extents)
        if extents is not None and valid is not None and extents != valid:
            raise refusal(
                op,
                f"uses {' x '.join(map(str, valid))} elements of a tile and {' x '.join(map(str, extents))} of "
                f"{lying}; make the numbers equal",
            )
        for number, other, what in zip(shape, tile.extents, ("rows", "columns"), strict=True):
            self.emitter.equal(number, other, f"the tile has as many valid {what} as {lying}")
        return ordered

    def _conversion(self, op: TCvtOp) -> dict[str, Attribute]:
        """Return the options of a conversion; by default to nearest even and without saturation."""
        assert isinstance(op.src.type, TileBufType) and isinstance(op.dst.type, TileBufType)
        source, result = op.src.type.element_type, op.dst.type.element_type
        options: dict[str, Attribute] = {}
        to_integer = isinstance(source, AnyFloat) and not isinstance(result, AnyFloat)
        mode = RoundMode.CAST_RINT if op.rmode is None else op.rmode.data
        if mode is RoundMode.NONE:
            mode = RoundMode.TRUNC if to_integer else RoundMode.CAST_RINT
        if mode is RoundMode.ODD and (source, result) != (f32, f16):
            raise refusal(
                op, f"rounds by ODD from {source} to {result}, which the chips support only from f32 to f16; use RINT"
            )
        if mode is not RoundMode.CAST_RINT or source == result:
            options["rounding"] = StringAttr(ROUNDINGS[mode])
        if op.sat_mode is not None and op.sat_mode.data is SaturationMode.ON:
            options["saturate"] = UnitAttr()
        elif to_integer:
            width = element_bytes(result)
            if self.chip == "a5" or (width is not None and width <= _NARROW_BYTES):
                options["wrap"] = UnitAttr()
        return options

    def relu(self, op: Operation, mode: ReluPreModeAttr | None) -> dict[str, Attribute]:
        """Return the options of a copy for a ramp; raises LoomError for one that has no counterpart."""
        if mode is None or mode.data is ReluPreMode.NO_RELU:
            return {}
        if mode.data is not ReluPreMode.NORMAL_RELU:
            raise refusal(op, f"has ramp {mode.data.value}, which has no counterpart in `flow`; use normal_relu")
        return {"relu": UnitAttr()}

    # Out of the accumulator --------------------------------------------------------------------

    def move(
        self,
        op: Operation,
        target: View,
        source: View,
        tile: SSAValue,
        factors: SSAValue | None,
        scale: SSAValue | None,
        options: dict[str, Attribute],
    ) -> None:
        """Copy, scaled by a tile of factors or a number in 64 bits where there is one."""
        if factors is not None:
            source = self._scaled(op, source, tile, self._view(factors))
        elif scale is not None:
            bits = self.emitter.make(arith.TruncIOp(self.handles.value(scale), i32))
            source = self._scaled(op, source, tile, self.emitter.make(arith.BitcastOp(bits, f32)))
        if factors is not None or scale is not None:
            options = options | {"saturate": UnitAttr()}
        self._copy(op, target, source, options)

    def _scaled(self, op: Operation, source: View, tile: SSAValue, factor: View | SSAValue) -> View:
        """Return a tile of the accumulator times a scale, or a scale for each column, in 32-bit floats."""
        assert isinstance(tile.type, TileBufType)
        if isinstance(factor, View):
            factor = self._factors(op, factor, source.extents)
        self.keep(4 * prod(tile.type.shape))
        scaled = View(CONVERTER, f32, 0, source.extents, (tile.type.columns, 1))
        self.emitter.apply("multiply", scaled, [source, factor])
        return scaled

    def intermediate(self, op: Operation, tile: SSAValue, view: View) -> View:
        """Return a tile as another one, in a space that only conversions use."""
        assert isinstance(tile.type, TileBufType)
        size = tile.type.bytes
        if size is None:
            raise refusal(op, f"uses elements of type {view.element}, whose size is unknown")
        self.keep(size)
        return View(CONVERTER, view.element, 0, view.extents, (tile.type.columns, 1))

    def keep(self, size: int) -> None:
        """Make room for as many bytes in the space that only conversions use."""
        self.converter_bytes = max(self.converter_bytes, size)

    def _factors(self, op: Operation, view: View, extents: Sequence[Number]) -> View:
        """Return one scale for each column; the lower half of 64 bits is a 32-bit float."""
        row, element = replace(view, extents=(1, extents[-1])), view.element
        if not isinstance(element, AnyFloat):
            if element_bytes(element) != _FACTOR_BYTES:
                raise refusal(op, f"uses scales of type {element}; use 64-bit integers or floats")
            doubled = tuple(self.emitter.multiply(stride, 2) for stride in view.strides)
            row = replace(row, element=f32, strides=doubled)
        return row

    def set_scale(self, op: SetQuantOp) -> None:
        """Record the scales of the next pushes of a pipe."""
        match op:
            case SetQuantScalarOp():
                self.handles.scales[op.pipe_id] = self.handles.value(op.scale)
            case SetQuantVectorOp():
                self.handles.scales[op.pipe_id] = self._view(op.scaling_tile)
            case _:
                raise refusal(op, "has no counterpart in `flow`")

    def convert_push(self, op: TPushOp, pipe: InitializePipeOp, source: View) -> tuple[View, dict[str, Attribute]]:
        """Return the tile that a push copies from, and the options of its conversion."""
        epilogue = pipe.acc_push_epilogue
        assert epilogue is not None
        quant = epilogue.quant.data
        options: dict[str, Attribute] = {}
        if epilogue.relu.data is FixpipeRelu.NORMAL_RELU:
            options["relu"] = UnitAttr()
        if quant is not FixpipeQuant.NO_CONVERT:
            options["saturate"] = UnitAttr()
        if quant.is_scalar or quant.is_vector:
            factor = None if pipe.frontend_id is None else self.handles.scales.get(pipe.frontend_id)
            if factor is None:
                kind = "scalar" if quant.is_scalar else "vector"
                raise refusal(op, f"has no scale; set it with pto.set_quant_{kind} before")
            source = self._scaled(op, source, op.tile, factor)
        return source, options

    # Those of the table ------------------------------------------------------------------------

    def _table_operation(self, op: TableOperation) -> None:
        row = op.table_row()
        target = self._view(op.dst)
        rows, columns = target.extents
        sources = [
            self._source(kind, operand, rows, columns) for kind, operand in zip(row.operands, op.sources, strict=True)
        ]
        if row.function not in FUNCTIONS:
            self._composed(op, target, sources)
            return
        options: dict[str, Attribute] = {}
        if row.shape == "elementwise":
            sources = [
                self._widened(source, operand.type, target, op.dst.type) if kind == "tile" else source
                for kind, operand, source in zip(row.operands, op.sources, sources, strict=True)
            ]
        elif row.shape == "row_reduction":
            target = replace(target, extents=(rows, 1))
        elif row.shape == "padding":
            value = self._padding(op)
            if value is None:
                self._copy_inside(op, target, _tile(sources[0]))
                return
            options["value"] = value
        elif row.shape == "product":
            target, sources = self._product(op, target, sources)
        elif row.function == "select":
            sources[0] = self._mask(op, op.sources[0], _tile(sources[0]), target.extents)
        self.emitter.apply(row.function, target, sources, options)

    def _widened(self, source: View | SSAValue, tile: Attribute, target: View, whole: Attribute) -> View | SSAValue:
        """Return a source with as many elements as are valid in the result, where its own number turns out smaller.

        The cores compute the valid elements of the result, whatever is valid of the sources.
        """
        assert isinstance(source, View) and isinstance(tile, TileBufType) and isinstance(whole, TileBufType)
        is_known = known((*source.extents, *target.extents)) is not None
        if is_known or any(own < wanted for own, wanted in zip(tile.shape, whole.shape, strict=True)):
            return source
        extents = tuple(map(self.emitter.most, source.extents, target.extents))
        return replace(source, extents=extents)

    def _composed(self, op: TableOperation, target: View, sources: list[View | SSAValue]) -> None:
        """Lower what is several tile functions, or one of a turned tile."""
        _, columns = target.extents
        apply = self.emitter.apply
        match op.table_row().function:
            case "reciprocal_square_root":
                apply("square_root", target, sources)
                apply("reciprocal", target, [target])
            case "absolute" if isinstance(target.element, AnyFloat):
                # Also a zero, and what is not a number, lose their sign.
                bits = IntegerType(8 * (element_bytes(target.element) or 0))
                size = self.emitter.constant((1 << bits.width.data - 1) - 1)
                apply("bit_and", replace(target, element=bits), [replace(_tile(sources[0]), element=bits), size])
            case "absolute":
                negative = self.intermediate(op, op.dst, target)
                apply("negate", negative, sources)
                apply("maximum", target, [*sources, negative])
            case "rectify":
                apply("copy", target, sources, {"relu": UnitAttr()})
            case "exponential_difference":
                apply("subtract", target, sources)
                apply("exponential", target, [target])
            case "transpose":
                source = _tile(sources[0])
                self._copy(op, self._holding(op, target, op.dst.type, source.extents[::-1]), _turned(source))
            case "invert":
                apply("bit_xor", target, [*sources, self.emitter.constant(-1)])
            case function if function.startswith("column_"):
                into = _turned(replace(target, extents=(1, columns)))
                apply(function.replace("column", "row"), into, [_turned(_tile(sources[0]))])
            case "count_up":
                step = -1 if op.mode == BoolAttr.from_bool(True) else 1
                apply("count", target, [*sources, self.emitter.constant(step)])
            case "compare":
                mode = getattr(op.mode, "data", "eq")
                first = _tile(sources[0])
                self._check_comparison(op, first.element, str(mode))
                apply(f"compare_{COMPARISONS[mode]}", self._mask(op, op.dst, target, first.extents), sources)
            case "sort":
                self._sort(op, target, *map(_tile, sources))
            case "matrix_multiply_bias":
                left, right, bias = map(_tile, sources)
                whole, factors = self._product(op, target, [left, right])
                apply("matrix_multiply", whole, factors)
                apply("add", whole, [whole, replace(bias, extents=(1, whole.extents[1]))])
            case function:
                raise refusal(op, f"computes {function.replace('_', ' ')}, which has no counterpart in `flow` yet")

    def _check_comparison(self, op: Operation, element: Attribute, mode: str) -> None:
        """Refuse what a2 and a3 compute otherwise: there, integers of 32 bits compare by `eq` whatever is asked for."""
        if self.chip == "a2a3" and element == i32 and mode not in ("eq", "ne"):
            raise refusal(
                op,
                f"compares {element} by {mode}, which a2 and a3 do by eq whatever is asked for; convert to f32 first",
            )

    def _mask(self, op: Operation, tile: SSAValue, view: View, extents: tuple[Number, ...]) -> View:
        """Return the bytes of a tile with a bit for each element: a row of them begins where a row of the tile does."""
        assert isinstance(tile.type, TileBufType)
        size = element_bytes(view.element)
        if size is None:
            raise refusal(op, f"has bits in elements of type {view.element}, whose size is unknown; use integers")
        rows, columns = extents
        across = self.emitter.divide(self.emitter.add(columns, 7), 8)
        room = tile.type.columns * size
        if isinstance(across, int) and across > room:
            raise refusal(op, f"needs {across} bytes of bits for a row of {columns} elements, and has {room}")
        self.emitter.at_most(across, room, f"a row of bits of {op.name} has a byte for every eight elements")
        stride = self.emitter.multiply(view.strides[0], size)
        return replace(view, element=ui8, extents=(rows, across), strides=(stride, 1))

    def _sort(self, op: Operation, target: View, values: View, indices: View) -> None:
        """Sort pairs of a value and an index in groups of 32 by the value, the largest first.

        A pair is 8 bytes in the destination: a value of 4 bytes, or one of 2 and zeros, and the index.
        """
        rows, columns = values.extents
        pairs = replace(self.pairs(op, target, op.operands[-1], columns), extents=(rows, columns))
        size = element_bytes(values.element)
        assert size is not None
        if size == _NARROW_BYTES:
            self.emitter.apply("fill", replace(pairs, element=ui32, strides=_doubled(self.emitter, pairs.strides)),
                               [self.emitter.constant(0)])  # fmt: skip
        keys = self.keys(pairs, values.element)
        shift = replace(pairs, element=ui32, strides=_doubled(self.emitter, pairs.strides),
                        address=self.emitter.add(pairs.address, 4))  # fmt: skip
        if indices.extents[0] == 1:
            indices = replace(indices, extents=(1, columns))
        self.emitter.apply("copy", keys, [values])
        self.emitter.apply("fill", shift, [indices])
        whole = self.emitter.divide(columns, SORTED_AT_ONCE)
        rest = self.emitter.remainder(columns, SORTED_AT_ONCE)
        first = self.emitter.multiply(whole, SORTED_AT_ONCE)
        for view, extents, strides in (
            (pairs, (rows, whole, SORTED_AT_ONCE), (pairs.strides[0], SORTED_AT_ONCE, 1)),
            (self.emitter.part(pairs, (0, first), (rows, rest)), (rows, rest), pairs.strides),
        ):
            if 0 not in extents:
                self.sort_pairs("sort_pairs", replace(view, extents=extents, strides=strides), values.element)

    def pairs(self, op: Operation, view: View, tile: SSAValue, columns: Number) -> View:
        """Return a tile as pairs of a value and an index, 8 bytes each."""
        assert isinstance(tile.type, TileBufType)
        size = element_bytes(view.element)
        if size not in (2, 4) or tile.type.columns * size % _PAIR_BYTES:
            raise refusal(op, f"has pairs of a value and an index in {tile.type}; use rows of whole 8 bytes")
        room = tile.type.columns * size // _PAIR_BYTES
        if isinstance(columns, int) and columns > room:
            raise refusal(op, f"writes {columns} pairs of a value and an index, and a row of its tile has {room}")
        self.emitter.at_most(columns, room, f"a row of the result of {op.name} has 8 bytes for each pair")
        return replace(view, element=ui64, extents=(view.extents[0], columns), strides=(room, 1))

    def keys(self, pairs: View, element: Attribute) -> View:
        """Return the values of pairs."""
        size = element_bytes(element)
        assert size is not None
        strides = tuple(self.emitter.multiply(stride, _PAIR_BYTES // size) for stride in pairs.strides)
        return replace(pairs, element=element, strides=strides)

    def sort_pairs(self, function: str, pairs: View, element: Attribute) -> None:
        """Sort the pairs of each row of a view by their values."""
        self.emitter.apply(function, pairs, [pairs, self.keys(pairs, element)])

    def _holding(self, op: Operation, target: View, tile: Attribute, extents: tuple[Number, ...]) -> View:
        """Return the part of a tile that has these extents, which may be more than its valid ones."""
        assert isinstance(tile, TileBufType)
        for extent, whole, what in zip(extents, tile.shape, ("rows", "columns"), strict=True):
            self.emitter.at_most(extent, whole, f"the result of {op.name} has room for all {what}")
        return replace(target, extents=extents)

    def _product(
        self, op: TableOperation, target: View, sources: list[View | SSAValue]
    ) -> tuple[View, list[View | SSAValue]]:
        """Return the tiles of a product with the extents that the cores multiply.

        M and K are the valid extents of the left tile and N the valid columns of the right one; how much of the
        accumulator is valid plays no part (`TMATMUL_IMPL` of the public headers).
        """
        *totals, left, right = map(_tile, sources)
        (rows, inner), columns = left.extents, right.extents[1]
        of_left, of_right, of_result = (
            cast("TileBufType", tile.type) for tile in (*op.sources[len(totals) :][:2], op.dst)
        )
        for number, most, room, what in (
            (rows, of_left.rows, of_result.rows, "the accumulator has a row for each valid row of the left tile"),
            (columns, of_right.columns, of_result.columns, "the accumulator has a column for each of the right tile"),
            (inner, of_left.columns, of_right.rows, "the right tile has a row for each valid column of the left one"),
        ):
            if most > room:
                self.emitter.at_most(number, room, what)
        extents = (rows, columns)
        found: list[View | SSAValue] = [replace(total, extents=extents) for total in totals]
        found += [left, replace(right, extents=(inner, columns))]
        return replace(target, extents=extents), found

    def _source(self, kind: Operand, operand: SSAValue, rows: Number, columns: Number) -> View | SSAValue:
        match kind:
            case "tile" | "mask" | "bias":
                return self._view(operand)
            case "either":
                return self._view(operand) if isinstance(operand.type, TileBufType) else self.handles.value(operand)
            case "per_row":
                return self._column(self._view(operand), operand.type, rows)
            case "per_column":
                return self._row(self._view(operand), columns)
            case "scalar":
                return self.handles.value(operand)

    def _copy_inside(self, op: Operation, target: View, source: View) -> None:
        """Copy a tile into the first rows and columns of another, and leave the rest unchanged."""
        if known((*target.extents, *source.extents)) is not None:
            self._copy(op, target, source)
            return
        common: list[Number] = []
        for inner, outer, what in zip(source.extents, target.extents, ("rows", "columns"), strict=True):
            if isinstance(inner, int) and isinstance(outer, int):
                common.append(min(inner, outer))
                continue
            self.emitter.at_most(inner, outer, f"the result of {op.name} has no fewer valid {what} than its source")
            common.append(inner)
        inside = tuple(common)
        self.emitter.apply("copy", replace(target, extents=inside), [replace(source, extents=inside)])

    def _column(self, view: View, tile: Attribute, rows: Number) -> View:
        """Return one element for each row; a tile of a single row holds them along it."""
        assert isinstance(tile, TileBufType)
        lies_flat = tile.rows == 1 and tile.columns > 1
        self.emitter.at_most(rows, view.extents[1 if lies_flat else 0], "there is a valid element for each row")
        return replace(view, extents=(rows, 1), strides=view.strides[::-1] if lies_flat else view.strides)

    def _row(self, view: View, columns: Number) -> View:
        """Return one element for each column."""
        self.emitter.at_most(columns, view.extents[1], "there is a valid element for each column")
        return replace(view, extents=(1, columns))

    def _padding(self, op: TableOperation) -> Attribute | None:
        """Return the padding value, set by the operation or else the result's type; None if it is unspecified."""
        tile = op.dst.type
        assert isinstance(tile, TileBufType)
        stated = op.properties.get("padValue")
        pad = stated.data if isinstance(stated, PadValueAttr) else list(PadValue)[tile.pad.data]
        element = tile.element_type
        if pad is PadValue.NULL:
            return None
        if isinstance(element, AnyFloat):
            return FloatAttr({PadValue.ZERO: 0.0, PadValue.MAX: inf, PadValue.MIN: -inf}[pad], element)
        if not isinstance(element, IntegerType):
            raise refusal(op, f"pads elements of type {element}; use floats or integers")
        integer = cast("IntegerType", element)
        bits, unsigned = integer.bitwidth, integer.signedness.data is Signedness.UNSIGNED
        least, most = integers.limits(bits, is_signed=not unsigned)
        return IntegerAttr({PadValue.ZERO: 0, PadValue.MAX: most, PadValue.MIN: least}[pad], integer)

    # Single elements, printing -----------------------------------------------------------------

    def print(self, op: TPrintOp) -> None:
        """Lower `pto.tprint`."""
        label = op.src.name_hint or "tile"
        self.emitter.append(flow.TilePrintOp(label, self.emitter.tile(self._view(op.src))))

    def load(self, op: LoadScalarOp) -> None:
        """Lower `pto.load_scalar`."""
        view = self.element(op, op.ptr, self.handles.number(op.offset))
        # Tiles have no elements of f64: their bits are moved.
        as_bits = replace(view, element=i64) if view.element == f64 else view
        value = self.emitter.make(flow.TileGetOp(self.emitter.tile(as_bits), lowered(as_bits.element)))
        if as_bits is not view:
            value = self.emitter.make(arith.BitcastOp(value, f64))
        value.name_hint = op.value.name_hint
        self.handles.values[op.value] = value

    def store(self, op: StoreScalarOp) -> None:
        """Lower `pto.store_scalar`."""
        view = self.element(op, op.ptr, self.handles.number(op.offset))
        value = self.handles.value(op.value)
        if view.element == f64:
            view, value = replace(view, element=i64), self.emitter.make(arith.BitcastOp(value, i64))
        self.emitter.apply("fill", view, [value])

    def element(self, op: Operation, pointer: SSAValue, offset: Number) -> View:
        """Return the element at an offset in elements from a pointer to global memory."""
        assert isinstance(pointer.type, PtrType)
        if isinstance(op, LoadScalarOp | StoreScalarOp) and kind_of(lowered(pointer.type.element_type)) is None:
            element = pointer.type.element_type
            pair = ", a pair of 4-bit floats in a byte" if isinstance(element, F4E2M1x2Type | F4E1M2x2Type) else ""
            how = "loads" if isinstance(op, LoadScalarOp) else "stores"
            raise refusal(
                op,
                f"{how} an element of {element}{pair}, which scalar code does not compute with; use a pointer to i8 "
                "for its bits (pto.castptr), or move tiles and convert them with pto.tcvt",
            )
        address = self.address_behind(op, pointer, offset)
        return View(GLOBAL_MEMORY, pointer.type.element_type, address, (1,), (1,))

    def address_behind(self, op: Operation, pointer: SSAValue, offset: Number) -> Number:
        """Return the address at an offset in elements from a pointer."""
        assert isinstance(pointer.type, PtrType)
        size = element_bytes(pointer.type.element_type)
        if size is None:
            raise refusal(op, f"points to {pointer.type.element_type}, whose size is unknown")
        return self.emitter.add(self.handles.number(pointer), self.emitter.multiply(offset, size))


def _doubled(emitter: Emitter, strides: tuple[Number, ...]) -> tuple[Number, ...]:
    return tuple(emitter.multiply(stride, 2) for stride in strides)


def _turned(view: View) -> View:
    """Return a tile whose rows are the columns of another."""
    return replace(view, extents=view.extents[::-1], strides=view.strides[::-1])


def _tile(source: View | SSAValue) -> View:
    assert isinstance(source, View)
    return source
