"""The DSD operations on registers, one class for each row of `dsd_table`: `FmacsOp`, `FmovsOp` and so on.

A class takes its docstring, its operand types and its arithmetic from the row.
"""

from __future__ import annotations

from ..dsd import dsd_operation
from .operations import RegisterOperation


@dsd_operation
class Add16Op(RegisterOperation):
    name = "dsr.add16"


@dsd_operation
class Addc16Op(RegisterOperation):
    name = "dsr.addc16"


@dsd_operation
class And16Op(RegisterOperation):
    name = "dsr.and16"


@dsd_operation
class ClzOp(RegisterOperation):
    name = "dsr.clz"


@dsd_operation
class CtzOp(RegisterOperation):
    name = "dsr.ctz"


@dsd_operation
class FabshOp(RegisterOperation):
    name = "dsr.fabsh"


@dsd_operation
class FabssOp(RegisterOperation):
    name = "dsr.fabss"


@dsd_operation
class FaddhOp(RegisterOperation):
    name = "dsr.faddh"


@dsd_operation
class FaddhsOp(RegisterOperation):
    name = "dsr.faddhs"


@dsd_operation
class FaddsOp(RegisterOperation):
    name = "dsr.fadds"


@dsd_operation
class Fh2sOp(RegisterOperation):
    name = "dsr.fh2s"


@dsd_operation
class Fh2xp16Op(RegisterOperation):
    name = "dsr.fh2xp16"


@dsd_operation
class FmachOp(RegisterOperation):
    name = "dsr.fmach"


@dsd_operation
class FmachsOp(RegisterOperation):
    name = "dsr.fmachs"


@dsd_operation
class FmacsOp(RegisterOperation):
    name = "dsr.fmacs"


@dsd_operation
class FmaxhOp(RegisterOperation):
    name = "dsr.fmaxh"


@dsd_operation
class FmaxsOp(RegisterOperation):
    name = "dsr.fmaxs"


@dsd_operation
class FmovhOp(RegisterOperation):
    name = "dsr.fmovh"


@dsd_operation
class FmovsOp(RegisterOperation):
    name = "dsr.fmovs"


@dsd_operation
class FmulhOp(RegisterOperation):
    name = "dsr.fmulh"


@dsd_operation
class FmulsOp(RegisterOperation):
    name = "dsr.fmuls"


@dsd_operation
class FneghOp(RegisterOperation):
    name = "dsr.fnegh"


@dsd_operation
class FnegsOp(RegisterOperation):
    name = "dsr.fnegs"


@dsd_operation
class FnormhOp(RegisterOperation):
    name = "dsr.fnormh"


@dsd_operation
class FnormsOp(RegisterOperation):
    name = "dsr.fnorms"


@dsd_operation
class Fs2hOp(RegisterOperation):
    name = "dsr.fs2h"


@dsd_operation
class Fs2xp16Op(RegisterOperation):
    name = "dsr.fs2xp16"


@dsd_operation
class FscalehOp(RegisterOperation):
    name = "dsr.fscaleh"


@dsd_operation
class FscalesOp(RegisterOperation):
    name = "dsr.fscales"


@dsd_operation
class FsubhOp(RegisterOperation):
    name = "dsr.fsubh"


@dsd_operation
class FsubsOp(RegisterOperation):
    name = "dsr.fsubs"


@dsd_operation
class Mov16Op(RegisterOperation):
    name = "dsr.mov16"


@dsd_operation
class Mov32Op(RegisterOperation):
    name = "dsr.mov32"


@dsd_operation
class Or16Op(RegisterOperation):
    name = "dsr.or16"


@dsd_operation
class PopcntOp(RegisterOperation):
    name = "dsr.popcnt"


@dsd_operation
class Sar16Op(RegisterOperation):
    name = "dsr.sar16"


@dsd_operation
class Sll16Op(RegisterOperation):
    name = "dsr.sll16"


@dsd_operation
class Slr16Op(RegisterOperation):
    name = "dsr.slr16"


@dsd_operation
class Sub16Op(RegisterOperation):
    name = "dsr.sub16"


@dsd_operation
class Xor16Op(RegisterOperation):
    name = "dsr.xor16"


@dsd_operation
class Xp162fhOp(RegisterOperation):
    name = "dsr.xp162fh"


@dsd_operation
class Xp162fsOp(RegisterOperation):
    name = "dsr.xp162fs"
