"""Tile functions: the operations on whole tiles that have a row in `pto_tiles`, one class each.

A class takes its docstring, its operands and the shapes that it accepts from the row.
"""

from __future__ import annotations

from .tiles import TableOperation, table_operation


@table_operation
class TAddOp(TableOperation):
    name = "pto.tadd"


@table_operation
class TAddsOp(TableOperation):
    name = "pto.tadds"


@table_operation
class TSubOp(TableOperation):
    name = "pto.tsub"


@table_operation
class TSubsOp(TableOperation):
    name = "pto.tsubs"


@table_operation
class TMulOp(TableOperation):
    name = "pto.tmul"


@table_operation
class TMulsOp(TableOperation):
    name = "pto.tmuls"


@table_operation
class TDivOp(TableOperation):
    name = "pto.tdiv"


@table_operation
class TMaxOp(TableOperation):
    name = "pto.tmax"


@table_operation
class TMaxsOp(TableOperation):
    name = "pto.tmaxs"


@table_operation
class TMinsOp(TableOperation):
    name = "pto.tmins"


@table_operation
class TNegOp(TableOperation):
    name = "pto.tneg"


@table_operation
class TExpOp(TableOperation):
    name = "pto.texp"


@table_operation
class TLogOp(TableOperation):
    name = "pto.tlog"


@table_operation
class TSqrtOp(TableOperation):
    name = "pto.tsqrt"


@table_operation
class TRecipOp(TableOperation):
    name = "pto.trecip"


@table_operation
class TExpandsOp(TableOperation):
    name = "pto.texpands"


@table_operation
class TRowSumOp(TableOperation):
    name = "pto.trowsum"


@table_operation
class TRowMaxOp(TableOperation):
    name = "pto.trowmax"


@table_operation
class TRowExpandMulOp(TableOperation):
    name = "pto.trowexpandmul"


@table_operation
class TRowExpandSubOp(TableOperation):
    name = "pto.trowexpandsub"


@table_operation
class TRowExpandDivOp(TableOperation):
    name = "pto.trowexpanddiv"


@table_operation
class TColExpandOp(TableOperation):
    name = "pto.tcolexpand"


@table_operation
class TColExpandAddOp(TableOperation):
    name = "pto.tcolexpandadd"


@table_operation
class TColExpandMulOp(TableOperation):
    name = "pto.tcolexpandmul"


@table_operation
class TConcatOp(TableOperation):
    name = "pto.tconcat"


@table_operation
class TFillPadOp(TableOperation):
    name = "pto.tfillpad"


@table_operation
class TMatmulOp(TableOperation):
    name = "pto.tmatmul"


@table_operation
class TMatmulAccOp(TableOperation):
    name = "pto.tmatmul.acc"
