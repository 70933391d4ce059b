"""FIFOs in the memory of a unit.

Nothing here knows the streams made of them.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def
from xdsl.traits import HasParent

from ..machine.fifos import FifoOperation
from .fabric import UnitsOp


@irdl_op_definition
class FifoOp(FifoOperation):
    """A first-in first-out buffer in unit memory, as many elements as its buffer has.

    `activate_push` is activated by a push that lets a pop go on, `activate_pop` by a pop that lets a push go on
    (DSD-144, DSD-147). `empty_action` and `full_action` say what an operation does that finds it empty or full, by
    default `test_or_suspend` (DSD-130 to DSD-136). `simd` says without how many bits an operation does not go on
    (DSD-146).
    """

    OPTIONS: ClassVar = ("empty_action", "full_action", "activate_push", "activate_pop", "simd")

    name = "flow.fifo"
    simd = opt_prop_def(StringAttr)
    traits = traits_def(HasParent(UnitsOp))
