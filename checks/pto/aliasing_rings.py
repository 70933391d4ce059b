"""Slots of both directions of a pipe at the same addresses (H7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...analysis.pto.rings import Ring, consumer_buffer
from ...operations import pipe_protocol
from .hazard import Hazard
from .subject import Subject

CODES = ("aliasing-rings",)
"""Codes of the findings that this check reports."""


def find(subject: Subject) -> Iterator[Hazard]:
    """Yield the first push into a ring whose slots alias those of the other direction."""
    for ring in subject.rings:
        yield from _aliasing(ring, subject.rings)


def _aliasing(ring: Ring, rings: Sequence[Ring]) -> Iterator[Hazard]:
    pipe = ring.pipe
    if ring.direction != pipe_protocol.V2C or consumer_buffer(pipe, ring.direction) is not None or not ring.producers:
        return
    kernel, uses = next(iter(ring.producers.items()))
    for other in rings:
        shared = (
            other.direction == pipe_protocol.C2V and other.producers and other.consumers.keys() & ring.producers.keys()
        )
        if shared and any(use.pipe is uses[0].pipe for use in other.consumers.get(kernel, ())):
            if kernel.behavior != "ideal":
                yield Hazard(
                    "aliasing-rings",
                    uses[0].op,
                    "slots that are tensors have the same addresses in both directions of a pipe, so this overwrites "
                    "the entries of the other direction; open a pipe for each direction",
                )
