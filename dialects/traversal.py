"""Walks over deeply nested IR: xDSL's `walk` hands every operation up through all that it is nested in."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation


def walk(root: Operation) -> Iterator[Operation]:
    """Yield `root` and all operations inside it, outer before inner, in order. They must not be moved meanwhile."""
    pending = [root]
    while pending:
        op = pending.pop()
        yield op
        for region in reversed(op.regions):
            block = region.last_block
            while block is not None:
                inner = block.last_op
                while inner is not None:
                    pending.append(inner)
                    inner = inner.prev_op
                block = block.prev_block
