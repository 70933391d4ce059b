"""Back-pressure: sends that full receiving queues hold back.

A queue holds a few wavelets; a sender whose wavelets find no room waits until the receiver has taken some. So a send
of `n` wavelets ends no earlier than every receiver, with room for `c`, has taken the first `n - c` of them. Wavelets
on the way count as taken one latency later: the links hold them. Each send is judged by itself, and operations that
read the fabric and write to it at once are not held back: that is what this model leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .fabric import Delivery, senders_of
from .units import Array, Rectangle, UnitSet, from_mask, locate, position_keys, select, shift, some

if TYPE_CHECKING:
    from .program import Application
    from .queues import OutputQueue
    from .waits import Wait
    from .warp import Warp


class Send:
    """A send of some units that is not sure to find room. `done` is when it ends as far as known, [rows, columns]."""

    __slots__ = ("application", "count", "done", "queue", "settled", "units", "waiting", "warp")

    def __init__(self, application: Application, queue: OutputQueue, units: UnitSet, count: int, done: Any):
        self.application = application
        self.queue = queue
        self.units = units
        self.count = count
        self.done: Array = done if np.shape(done) == units.shape else np.full(units.shape, done, np.int64)
        self.waiting: Array = np.zeros(units.shape, np.int32)
        """Receivers of each unit that have not made room yet."""
        self.warp: Warp | None = None
        """The warp that waits for a synchronous send."""
        self.settled = False
        """True if the executor has seen what is left to wait for; from then on it is notified of ends."""

    def expect(self, delivery: Delivery, receivers: UnitSet, origin: Any) -> None:
        """Make the senders of some receivers wait for them."""
        if delivery.kind == "shift":
            self.waiting[locate(self.units, _before(delivery, receivers))] += 1
        else:
            place, _ = self._places(delivery, receivers, origin)
            np.add.at(self.waiting, place, 1)

    def accept(self, delivery: Delivery, receivers: UnitSet, origin: Any, time: Any) -> list[UnitSet]:
        """Note that receivers have made room at given times; return the senders that wait for no other."""
        if delivery.kind == "shift":
            senders = _before(delivery, receivers)
            index = locate(self.units, senders)
            self.done[index] = np.maximum(self.done[index], time - delivery.latency)
            self.waiting[index] -= 1
            left = self.waiting[index]
            return from_mask(senders, left == 0) if some(left != 0) else [senders]
        place, latency = self._places(delivery, receivers, origin)
        when = np.broadcast_to(np.asarray(time), receivers.shape).ravel() - latency
        np.maximum.at(self.done, place, when)
        np.subtract.at(self.waiting, place, 1)
        ended = np.zeros(self.units.shape, np.bool_)
        ended[place] = True
        return from_mask(self.units, ended & (self.waiting == 0))

    def end(self, units: UnitSet, time: int) -> list[UnitSet]:
        """Note that the last wavelet of some units has left; return those that wait for nothing else."""
        index = locate(self.units, units)
        self.done[index] = np.maximum(self.done[index], time)
        self.waiting[index] -= 1
        return from_mask(units, self.waiting[index] == 0)

    def _places(self, delivery: Delivery, receivers: UnitSet, origin: Any) -> tuple[tuple[Array, Array], Array]:
        """Return the index of the sender of every receiver, and its latency, flat."""
        rows, columns, latency = senders_of(delivery, receivers, origin)
        units = self.units
        if isinstance(units, Rectangle):
            return (
                ((rows - units.rows.start) // units.rows.step, (columns - units.columns.start) // units.columns.step),
                latency,
            )
        keys = position_keys(units.rows, units.columns)
        position = np.searchsorted(keys, position_keys(rows, columns))
        return (position, np.zeros_like(position)), latency

    def ends(self, units: UnitSet) -> Any:
        """Return when the send of a subset ends."""
        return select(self.units, units, self.done)

    def waits(self, *, allow_pending: bool) -> Iterator[Wait]:
        """Yield who waits for room, if the send signals its end, or with `allow_pending` if it holds a task."""
        if self.warp is not None or (self.application.has_completion and not allow_pending):
            yield from self.queue.waits(self)


def _before(delivery: Delivery, receivers: UnitSet) -> UnitSet:
    """Return the senders of the receivers of a shift."""
    return shift(receivers, -delivery.offset[0], -delivery.offset[1])
