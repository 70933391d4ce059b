"""Pass `lower-to-flow`: from `wse`, `dsd` and `dsr` to the IR that the engine runs.

What is symbolic above has its number below: colors, tasks, and the address of every buffer. Descriptors become
streams, and registers vanish: an operation takes the stream that was loaded into its register. The new program is
built beside the old one in a single walk; nothing is done per PE. A body that several PE programs share is lowered once
for all that answer alike what its lowering asks of them, such as the address of a buffer.
"""

from __future__ import annotations

from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from ...diagnostics.errors import LoomError, Mistakes
from ...diagnostics.locations import location_of
from ...dialects import dsd, dsr, flow, wse
from ...dialects.traversal import walk
from .programs import ProgramLowering


class LowerToFlowPass(ModulePass):
    """Replaces each `wse.program` by a `flow.fabric`.

    Colors and tasks keep the ids they have and get free ones otherwise; buffers get addresses in the order of the
    program. Everything the passes before this one decide (queues, microthreads, registers) must be there. Raises
    LoomError at an operation that has no counterpart in `flow`, naming it; at a missing decision, naming the pass
    that makes it; if colors or task ids run out; if the buffers exceed the memory of a PE; and if two programs,
    or two routes of a color, share a PE.
    """

    name = "lower-to-flow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mistakes = Mistakes()
        for program in [program for program in op.body.block.ops if isinstance(program, wse.ProgramOp)]:
            fabric = ProgramLowering(program, mistakes).lower()
            if mistakes:
                continue
            _check_complete(fabric)
            op.body.block.insert_op_before(fabric, program)
            program.detach()
            program.erase()
        mistakes.end()


def _check_complete(fabric: flow.FabricOp) -> None:
    """Check that nothing above `flow` is left, neither an operation nor a type."""
    for op in walk(fabric):
        arguments = (value for region in op.regions for block in region.blocks for value in block.args)
        if _is_above(type(op)) or any(_is_lowered_away(value.type) for value in (*op.results, *arguments)):
            raise LoomError(f"{op.name} is left after lower-to-flow, which cannot lower it", location_of(op))


@lru_cache(maxsize=512)
def _is_above(kind: type[Operation]) -> bool:
    return kind.name.partition(".")[0] in ("wse", "dsd", "dsr", "memref")


def _is_lowered_away(type: Attribute) -> bool:
    return isinstance(type, dsd.DescriptorType | dsr.RegisterType | MemRefType)
