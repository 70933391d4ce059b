"""Assembler: a `flow.fabric` as the tables that executors run (docs/tables.md).

What is folded is computed by the reference, so that code is equal to what executors would compute.
"""

from .fabric import assemble

__all__ = ["assemble"]
