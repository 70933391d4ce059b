"""Loader of a `flow.fabric` of a chip: classes of cores, memories, channels, and the functions that it exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.nesting import deep_nesting
from ...dialects import flow
from ...dialects.machine.code import Bodies
from .channels import Channel
from .program import compile_body
from .tasks import Task
from .tiles import Space
from .unit_class import UnitClass
from .units import Rectangle

if TYPE_CHECKING:
    from .machine import WarpMachine


@deep_nesting()
def load_program(machine: WarpMachine) -> None:
    """Make the classes, memories and channels of a machine, and compile what it exports. Raises LoomError."""
    bodies = Bodies(machine.op)
    members = list(machine.op.body.block.ops)
    for op in members:
        if isinstance(op, flow.UnitsOp):
            machine.classes.append(UnitClass(machine, op, bodies))
        elif isinstance(op, flow.SpaceOp):
            machine.spaces[op.sym_name.data] = Space(op.sym_name.data, op.size.value.data, None)
        elif not isinstance(op, flow.ChannelOp):
            raise LoomError(f"{op.name} does not belong in a flow.fabric of a chip", location_of(op))
    taken = np.zeros((machine.height, machine.width), np.bool_)
    for cls in machine.classes:
        place = cls.placement.on_grid()
        if (taken & place).any():
            raise LoomError(f"units @{cls.name} share cores with another class", location_of(cls.op))
        taken |= place
        for op in cls.op.body.block.ops:
            if isinstance(op, flow.SpaceOp):
                cls.spaces[op.sym_name.data] = Space(op.sym_name.data, op.size.value.data, cls.shape)
    for op in members:
        if isinstance(op, flow.ChannelOp):
            _load_channel(machine, op)
    for cls in machine.classes:
        _load_class(machine, cls)


def _load_channel(machine: WarpMachine, op: flow.ChannelOp) -> None:
    classes = {cls.name: cls for cls in machine.classes}
    ends: list[UnitClass] = []
    for symbol in (op.producer, op.consumer):
        cls = classes.get(symbol.root_reference.data)
        if cls is None:
            raise LoomError(f"{symbol} is not a class of units", location_of(op))
        ends.append(cls)
    producer, consumer = ends
    name = op.sym_name.data
    if producer.shape[0] != consumer.shape[0] or not all(isinstance(cls.units, Rectangle) for cls in ends):
        raise LoomError(
            f"channel @{name} needs units @{producer.name} and @{consumer.name} on the same rows, without gaps",
            location_of(op),
        )
    machine.channels[name] = Channel(
        machine, name, producer, consumer, depth=op.depth.value.data, period=op.period.value.data,
        lanes=op.lanes.value.data, seed=op.seed.value.data, where=location_of(op),
    )  # fmt: skip


def _load_class(machine: WarpMachine, cls: UnitClass) -> None:
    members = list(cls.op.body.block.ops)
    for op in members:
        if isinstance(op, flow.FuncOp):
            home = cls.bodies.home(op)
            assert isinstance(home, flow.FuncOp), "verified: a function shares with a function"
            cls.functions[op.sym_name.data] = home
        elif not isinstance(op, flow.ExportOp | flow.SpaceOp):
            raise LoomError(f"{op.name} does not belong in units of cores", location_of(op))
    for op in members:
        if isinstance(op, flow.ExportOp):
            name = op.symbol.root_reference.data
            function = cls.functions.get(name)
            if function is None:
                raise LoomError(f"@{name} is exported but is not a function", location_of(op))
            code = compile_body(machine, cls, name, function.body.block)
            task = Task(cls, name, code, np.zeros(cls.shape, np.bool_))
            cls.tasks.append(task)
            machine.exports.setdefault(op.visible_name.data, []).append((cls, task))
