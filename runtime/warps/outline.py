"""What a host may know of a loaded program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..executor import Buffer, Color, Function, HostStream, Outline, UnitClass

if TYPE_CHECKING:
    from .loader import Exported
    from .machine import WarpMachine


def outline(machine: WarpMachine) -> Outline:
    """Return the outline of the program of a machine."""
    shape = (machine.height, machine.width)
    class_of = np.full(shape, -1, np.int16)
    for number, cls in enumerate(machine.classes):
        class_of[cls.placement.on_grid(np.ones(cls.shape, np.bool_))] = number
    inputs: dict[str, HostStream] = {}
    for name, stream in machine.host_inputs.items():
        reads = np.zeros(shape, np.bool_)
        for queue, mine in stream.readers:
            reads |= queue.cls.placement.on_grid(mine)
        inputs[name] = HostStream(stream.color, stream.connected, reads)
    return Outline(
        machine.width,
        machine.height,
        machine.target.name,
        tuple(UnitClass(cls.name, cls.words_in_use) for cls in machine.classes),
        class_of,
        {name: Color(color.number, color.label) for name, color in machine.colors.items()},
        {name: _buffer(machine, found) for name, found in machine.exports.items() if found.kind == "buffer"},
        {name: _function(machine, found) for name, found in machine.exports.items() if found.kind == "function"},
        inputs,
        {name: HostStream(each.color, each.connected, each.connected) for name, each in machine.host_outputs.items()},
    )


def _buffer(machine: WarpMachine, exported: Exported) -> Buffer:
    assert exported.dtype is not None
    places = {machine.classes.index(cls): place for cls, place in exported.places}
    return Buffer(exported.name, exported.dtype, exported.shape, exported.read_only, places)


def _function(machine: WarpMachine, exported: Exported) -> Function:
    signatures = {machine.classes.index(cls): tuple(task.code.argument_kinds) for cls, task in exported.launchers}
    return Function(exported.name, signatures)
