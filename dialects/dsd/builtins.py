"""The DSD operations on descriptors, one class for each row of `dsd_table`: `FmacsOp`, `FmovsOp` and so on.

A class takes its docstring, its operand types and its arithmetic from the row.
"""

from __future__ import annotations

from .operations import DescriptorOperation, dsd_operation


@dsd_operation
class Add16Op(DescriptorOperation):
    name = "dsd.add16"


@dsd_operation
class Addc16Op(DescriptorOperation):
    name = "dsd.addc16"


@dsd_operation
class And16Op(DescriptorOperation):
    name = "dsd.and16"


@dsd_operation
class ClzOp(DescriptorOperation):
    name = "dsd.clz"


@dsd_operation
class CtzOp(DescriptorOperation):
    name = "dsd.ctz"


@dsd_operation
class FabshOp(DescriptorOperation):
    name = "dsd.fabsh"


@dsd_operation
class FabssOp(DescriptorOperation):
    name = "dsd.fabss"


@dsd_operation
class FaddhOp(DescriptorOperation):
    name = "dsd.faddh"


@dsd_operation
class FaddhsOp(DescriptorOperation):
    name = "dsd.faddhs"


@dsd_operation
class FaddsOp(DescriptorOperation):
    name = "dsd.fadds"


@dsd_operation
class Fh2sOp(DescriptorOperation):
    name = "dsd.fh2s"


@dsd_operation
class Fh2xp16Op(DescriptorOperation):
    name = "dsd.fh2xp16"


@dsd_operation
class FmachOp(DescriptorOperation):
    name = "dsd.fmach"


@dsd_operation
class FmachsOp(DescriptorOperation):
    name = "dsd.fmachs"


@dsd_operation
class FmacsOp(DescriptorOperation):
    name = "dsd.fmacs"


@dsd_operation
class FmaxhOp(DescriptorOperation):
    name = "dsd.fmaxh"


@dsd_operation
class FmaxsOp(DescriptorOperation):
    name = "dsd.fmaxs"


@dsd_operation
class FmovhOp(DescriptorOperation):
    name = "dsd.fmovh"


@dsd_operation
class FmovsOp(DescriptorOperation):
    name = "dsd.fmovs"


@dsd_operation
class FmulhOp(DescriptorOperation):
    name = "dsd.fmulh"


@dsd_operation
class FmulsOp(DescriptorOperation):
    name = "dsd.fmuls"


@dsd_operation
class FneghOp(DescriptorOperation):
    name = "dsd.fnegh"


@dsd_operation
class FnegsOp(DescriptorOperation):
    name = "dsd.fnegs"


@dsd_operation
class FnormhOp(DescriptorOperation):
    name = "dsd.fnormh"


@dsd_operation
class FnormsOp(DescriptorOperation):
    name = "dsd.fnorms"


@dsd_operation
class Fs2hOp(DescriptorOperation):
    name = "dsd.fs2h"


@dsd_operation
class Fs2xp16Op(DescriptorOperation):
    name = "dsd.fs2xp16"


@dsd_operation
class FscalehOp(DescriptorOperation):
    name = "dsd.fscaleh"


@dsd_operation
class FscalesOp(DescriptorOperation):
    name = "dsd.fscales"


@dsd_operation
class FsubhOp(DescriptorOperation):
    name = "dsd.fsubh"


@dsd_operation
class FsubsOp(DescriptorOperation):
    name = "dsd.fsubs"


@dsd_operation
class Mov16Op(DescriptorOperation):
    name = "dsd.mov16"


@dsd_operation
class Mov32Op(DescriptorOperation):
    name = "dsd.mov32"


@dsd_operation
class Or16Op(DescriptorOperation):
    name = "dsd.or16"


@dsd_operation
class PopcntOp(DescriptorOperation):
    name = "dsd.popcnt"


@dsd_operation
class Sar16Op(DescriptorOperation):
    name = "dsd.sar16"


@dsd_operation
class Sll16Op(DescriptorOperation):
    name = "dsd.sll16"


@dsd_operation
class Slr16Op(DescriptorOperation):
    name = "dsd.slr16"


@dsd_operation
class Sub16Op(DescriptorOperation):
    name = "dsd.sub16"


@dsd_operation
class Xor16Op(DescriptorOperation):
    name = "dsd.xor16"


@dsd_operation
class Xp162fhOp(DescriptorOperation):
    name = "dsd.xp162fh"


@dsd_operation
class Xp162fsOp(DescriptorOperation):
    name = "dsd.xp162fs"
