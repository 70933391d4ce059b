"""Who waits in a machine at rest: the waits for entries and credits of channels, as nodes of the wait graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Block

from .. import wait_graph
from ..places import Array, Unit
from .units import UnitSet, cells, some

if TYPE_CHECKING:
    from .channels import Channel
    from .machine import WarpMachine
    from .unit_class import UnitClass


class Wait(NamedTuple):
    """Units of a class that wait for an entry or a credit of a channel."""

    cls: UnitClass
    units: UnitSet
    text: str
    where: str | None
    channel: Channel
    function: str
    """The function that waits."""


def waits(machine: WarpMachine) -> list[wait_graph.Wait]:
    """Return the waits that never end, as `Executor.waits` has them."""
    return [_node(machine, wait) for channel in machine.channels.values() for wait in channel.waits()]


def _node(machine: WarpMachine, wait: Wait) -> wait_graph.Wait:
    def used_after(places: Array) -> frozenset[str]:
        return _used_after(_at(wait, places))

    return wait_graph.Wait(
        machine.classes.index(wait.cls),
        wait.cls.placement.places(wait.units),
        wait.text,
        wait.where,
        _End(wait),
        held=True,
        queue=wait.channel.name,
        missing=1,
        used_after=used_after,
    )


class _End:
    """One end of a channel, of which the wait graph asks by places of the grid."""

    waits_for_all = True

    def __init__(self, wait: Wait) -> None:
        self._wait = wait
        self.remedy = wait.channel.remedy

    def pairs(self, places: Array) -> Iterable[tuple[Unit, Unit, str]]:
        return self._wait.channel.pairs(_at(self._wait, places))

    def explanation(self, places: Array, units: str) -> str | None:
        """Return None: the wait itself says how often each unit has pushed, popped and freed."""
        return None


def _at(wait: Wait, places: Array) -> Wait:
    """Return the wait for units at places of the grid."""
    local = wait.cls.placement.local(places[:, ::-1])
    return wait._replace(units=cells(local[:, 0], local[:, 1]))


def _used_after(wait: Wait) -> frozenset[str]:
    """Return the symbols that the units of a wait may name once it is over, too many rather than too few.

    A function that waits keeps all others from running that have been launched.
    """
    cls = wait.cls
    launched = {task.name for task in cls.tasks if some(task.active[wait.units.index])}
    functions = [cls.functions[name] for name in launched | {wait.function}]
    return frozenset(symbol for function in functions for symbol in _named(function.body.block))


def _named(block: Block) -> set[str]:
    """Return the symbols that operations of a body name."""
    return {
        attribute.root_reference.data
        for op in block.walk()
        for attribute in (*op.properties.values(), *op.attributes.values())
        if isinstance(attribute, SymbolRefAttr)
    }
