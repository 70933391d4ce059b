"""Assembler: a `flow.fabric` as the tables that executors run (docs/tables.md).

Costs, steps, order and what is folded are those of the engine in `runtime/warps/`.
"""

from .fabric import NotAssembled, assemble

__all__ = ["NotAssembled", "assemble"]
