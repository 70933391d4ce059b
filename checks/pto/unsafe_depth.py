"""Numbers of slots with which a push does not wait for the slot it reuses (PTO-028, H1)."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.pto.schedules import Pipe
from ...dialects.pto.frontend_pipes import OpenPipeOp
from ...dialects.pto.internal_pipes import InitializePipeOp
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from .hazard import Hazard
from .subject import Subject

CODES = ("unsafe-depth",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the pipes with such a number of slots, except those whose overwrites are decided otherwise."""
    for kernel in subject.kernels:
        if kernel.behavior == "ideal":
            continue
        for op in walk(kernel.function):
            if isinstance(op, OpenPipeOp | InitializePipeOp) and op not in subject.decided_pipes:
                yield from find_in_pipe(op)


def find_in_pipe(pipe: Pipe) -> Iterator[Hazard]:
    """Yield the pipe if its number of slots is unsafe."""
    depth = pipe.depth
    push = pipe_protocol.unsafe_push(depth)
    if push is not None:
        yield Hazard(
            "unsafe-depth",
            pipe,
            f"sparse free-space waiting is unsafe for slot_num = {depth}: push {push} reuses slot "
            f"{pipe_protocol.slot_of(push, depth)} before its free credit; use {depth - 1} or {depth + 1}",
            "warning",
        )
