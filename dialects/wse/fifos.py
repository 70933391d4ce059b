"""FIFOs in the memory of a PE.

Nothing here knows the operations that push into them and pop from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ...targets import Target
from ..machine.fifos import FifoOperation
from ..machine.symbols import Scope
from .code import TASK_HINT
from .memory import BufferOp
from .program import PeOp


@irdl_op_definition
class FifoOp(FifoOperation):
    """A first-in first-out buffer in the PE's memory, for DSD operations that push into it and pop from it.

    ```
    wse.fifo @f on @memory
    wse.fifo @g on @storage activate_push @pop_again activate_pop @push_again
    wse.fifo @h on @space empty_action terminate full_action suspend register 3 xdsr 0
    ```

    It holds as many elements as the buffer has. `activate_push` names the local task to activate when a push lets a
    pop go on that had found too little (DSD-147), `activate_pop` when a pop makes room for a push that had found none
    (DSD-144). `empty_action` and `full_action` say what an operation does that finds the FIFO empty or full:
    `test_or_suspend`, the default (DSD-136), stops a synchronous one, whose result is then false (DSD-131), and lets
    an asynchronous one wait (DSD-132); `terminate` ends either as if it were done (DSD-133), `suspend` lets either wait
    (DSD-134), and `fault` is an error (DSD-135). `register` is the dest and the src1 register that hold the FIFO from
    the start on, with `xdsr` (DSR-071, DSR-074). `priority` (WSE-3, DSD-227) is that of asynchronous
    operations on the FIFO; `simd` (WSE-2, DSD-243) says how many bits they move at once (DSD-146).

    Refused are: a buffer that is a scalar, or is the memory of another FIFO, or has an alignment below the target's for
    FIFOs (DSD-118); a task that is not local (DSD-143); on WSE-2 the actions `suspend` and `fault`, and any
    `full_action` (DSD-137 to DSD-139); a register without an XDSR or the reverse (DSR-073), one that the target lacks
    (DSR-076), and one of another FIFO (DSR-075); a `priority` on WSE-2 (DSD-229), a `simd` on WSE-3 (DSD-244).
    """

    OPTIONS: ClassVar = (
        "empty_action", "full_action", "activate_push", "activate_pop", "register", "xdsr", "priority", "simd"
    )  # fmt: skip
    HINT: ClassVar = TASK_HINT

    name = "wse.fifo"
    register = opt_prop_def(IntegerAttr)
    xdsr = opt_prop_def(IntegerAttr)
    priority = opt_prop_def(StringAttr)
    simd = opt_prop_def(StringAttr)
    traits = traits_def(HasParent(PeOp))

    def verify_symbols(self, scope: Scope) -> None:
        super().verify_symbols(scope)
        name, buffer, target = self.sym_name.data, scope.get(BufferOp, self.buffer), scope.target
        minimum = target.fifo_alignment
        if buffer.alignment is not None and buffer.alignment.value.data < minimum:
            raise VerifyException(
                f"FIFO @{name} uses buffer @{buffer.sym_name.data} with alignment {buffer.alignment.value.data}, "
                f"but {target.name} needs {minimum} bytes for a FIFO; use that alignment, or none"
            )
        self._verify_registers([op for op in scope.own.values() if isinstance(op, FifoOp)], target)
        if self.priority is not None and target.operation_priority:
            raise VerifyException(
                f"FIFO @{name} has a priority, but on {target.name} operations have priorities; set it there (DSD-229)"
            )
        if self.simd is not None and not target.operation_priority:
            raise VerifyException(
                f"FIFO @{name} has a SIMD mode, which {target.name} does not support; remove it (DSD-244)"
            )

    def _verify_registers(self, fifos: Sequence[FifoOp], target: Target) -> None:
        name = self.sym_name.data
        if (self.register is None) != (self.xdsr is None):
            raise VerifyException(f"FIFO @{name} has only one of register and xdsr; give both or none (DSR-073)")
        sizes = (("register", min(target.dsr_dest, target.dsr_src1)), ("xdsr", target.xdsrs))
        for kind, size in sizes:
            given = self.properties.get(kind)
            if given is None:
                continue
            assert isa(given, IntegerAttr)
            number = given.value.data
            if not 0 <= number < size:
                raise VerifyException(
                    f"FIFO @{name} has {kind} {number}, which {target.name} does not have; choose one from "
                    f"0 to {size - 1}"
                )
            for other in fifos[: fifos.index(self)]:
                if other.properties.get(kind) == given:
                    raise VerifyException(
                        f"FIFO @{name} has {kind} {number}, as @{other.sym_name.data} does; give it its own (DSR-075)"
                    )
