"""xDSL's `scf` with an operation that prints what it parses."""

from __future__ import annotations

from xdsl.dialects.scf import ExecuteRegionOp as XdslExecuteRegionOp
from xdsl.dialects.scf import Scf as XdslScf
from xdsl.ir import Dialect
from xdsl.printer import Printer


class ExecuteRegionOp(XdslExecuteRegionOp):
    """Runs its region once; xDSL leaves out the `scf.yield` of one without results, and refuses what it prints."""

    def print(self, printer: Printer) -> None:
        if self.outs:
            printer.print_string(" -> (")
            printer.print_list(self.outs.types, printer.print_attribute)
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(self.region, print_entry_block_args=False)
        if self.attributes:
            printer.print_attr_dict(self.attributes)


_OTHERS = [operation for operation in XdslScf.operations if operation is not XdslExecuteRegionOp]

Scf = Dialect("scf", [*_OTHERS, ExecuteRegionOp], list(XdslScf.attributes))
