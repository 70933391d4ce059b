"""What a program calls its colors and queues: the first constant that holds each, for messages of a run.

The layout's name of a color is what the user sees all PEs by; a PE's own name serves where the layout has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import types
from .values import Value

if TYPE_CHECKING:
    from .evaluator import Evaluator


def note(ev: Evaluator, name: str, value: Value | None) -> None:
    """Take down that a constant, variable or param of user code has a value, if that is a color or a queue."""
    if value is None or type(value.data) is not int or ev.frame.module.is_library:
        return
    if value.type is types.COLOR:
        names = ev.session.color_names if ev.pe is None else ev.session.color_names_of_pes
        names.setdefault(value.data, name)
    elif ev.pe is not None and value.type in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        ev.pe.name_queue(value.type is types.OUTPUT_QUEUE, value.data, name)
