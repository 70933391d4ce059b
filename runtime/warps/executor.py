"""Execution of DSD operations: on memory at once, to and from the fabric as messages arrive.

A send needs nothing but its operands, so it is done when it is issued: its wavelets go straight into the
operations that wait for them, else into the receivers' queues. An operation that reads the fabric waits as a
`Transfer` and proceeds by as many elements as have arrived. Results and clocks depend on neither order nor
batching: all times are computed from time stamps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...diagnostics.errors import LoomError
from ...operations.float_exceptions import raises
from ...operations.floats import LOWEST_NORMAL
from ...targets.model import pace
from ...targets.wavelets import ENDLESS_EXTENT, POINTER_EXTENT, WORD_BITS, WORD_MASK
from .arithmetic import ROW_ELEMENTS
from .fabric import arrivals
from .fifos import FifoStream, Side
from .memory import DTYPES, WIDE, is_odd, walk
from .program import Application, cycles, element_cycles
from .queues import InputQueue, Message, OutputQueue, Transfer, without_color
from .registers import Held, behind
from .sends import Send
from .streams import UNBOUNDED, Buffer, MemoryStream, QueueStream
from .switches import SwitchedColor, is_ignored, switched_parts
from .tasks import NEVER
from .units import Array, UnitSet, cell, every, from_mask, intersect, select, select_vector, singles, some, subtract
from .warp import CLOCK, SUSPENDED, Warp, merged

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .unit_class import UnitClass


ResultT = TypeVar("ResultT")

RECEIVED = (QueueStream, FifoStream)
"""Sources whose elements an operation may have to wait for."""


class Executor:
    """Executes the operations of one machine.

    Destinations and sources are values of a warp: streams, numbers, or arrays [rows, columns]. Times and rates are in
    cycles; a rate is the cycles between two elements.
    """

    def __init__(self, machine: WarpMachine):
        self.machine = machine
        self.timing = machine.target.timing
        self.arriving: deque[tuple[InputQueue, Message]] = deque()
        """Messages to be handed over when the operation at work is done with its own."""
        self.at_work = False

    # Entry

    def execute(
        self,
        warp: Warp,
        application: Application,
        destination: Any,
        sources: list[Any],
        moving: Sequence[Held] = (),
        *,
        in_registers: bool = False,
    ) -> int | None:
        """Run or start an operation for the units of a warp; `moving` are its registers that advance."""
        timing = self.timing
        count = self.count(warp.units, destination, sources)
        inputs = [source for source in sources if type(source) in RECEIVED]
        if not inputs and type(destination) is MemoryStream:
            warp.elapsed += timing.register_setup if in_registers else timing.memory_setup
            if count:
                strides = (destination.strides[0], *_strides(sources))
                warp.elapsed += cycles(self.timing, application.row, strides, count)
                self.compute(warp.cls, warp.units, application, destination, sources, 0, count, {})
            return None
        if inputs or type(destination) is FifoStream:
            setup = timing.register_setup if in_registers else timing.receive_setup
            return self._receive(warp, application, destination, sources, inputs, count, setup, moving)
        setup = timing.register_setup if in_registers else timing.send_setup
        return self._send(warp, application, destination, sources, count, setup)

    def count(self, units: UnitSet, destination: Any, sources: list[Any]) -> int:
        """Return the iterations: the length of the shortest stream that has one.

        A sending queue counts only if there is no other (AMB-01), and a FIFO only if its length is set (AMB-16).
        """
        streams = [stream for stream in (destination, *sources) if type(stream) in (MemoryStream, QueueStream)]
        fifos = [
            stream.fifo.writing if stream is destination else stream.fifo.reading
            for stream in (destination, *sources)
            if type(stream) is FifoStream
        ]
        lengths = [length for length in (side.lengths(units) for side in fifos) if length]
        if type(destination) is QueueStream:
            streams = streams[1:] or ([] if lengths else streams)
        elif fifos and not lengths and all(_repeats(stream) for stream in streams):
            return 1  # a scalar takes one element from a FIFO, and a FIFO one from a scalar
        lengths += [stream.count for stream in streams]
        if not lengths:
            return 1
        count = min(lengths)
        if count == ENDLESS_EXTENT and (fifos or any(type(source) is QueueStream for source in sources)):
            return UNBOUNDED
        return count

    # Arithmetic

    def compute(
        self,
        cls: UnitClass,
        units: UnitSet,
        application: Application,
        destination: Any,
        sources: list[Any],
        low: int,
        high: int,
        payloads: dict[int, Array],
    ) -> Array | None:
        """Return elements `low`..`high` of an operation; return the raw result if the destination is a queue.

        `payloads` holds, by source position, the raw wavelets [rows, high - low, columns] of queue operands.
        """
        row = application.row
        in_memory = type(destination) is MemoryStream
        if in_memory:
            self.check(cls, units, application, destination, low, high)
            if high - low > 1 and any(
                type(source) is MemoryStream and _in_order(destination, source, low, high) for source in sources
            ):
                for k in range(low, high):
                    piece = {position: raw[:, k - low : k - low + 1, :] for position, raw in payloads.items()}
                    self.compute(cls, units, application, destination, sources, k, k + 1, piece)
                return None
        memory = cls.memory
        operands: list[Any] = []
        for position, (source, kind) in enumerate(zip(sources, row.sources, strict=True)):
            if type(source) is MemoryStream:
                self.check(cls, units, application, source, low, high)
                operands.append(memory.gather(kind, units, source.address, source.walk, low, high))
            elif type(source) in RECEIVED:
                operands.append(decode(payloads[position], kind))
            elif type(source) is np.ndarray:
                operands.append(source[:, None, :])
            else:
                operands.append(source)
        kind = row.destination
        shape = (units.shape[0], high - low, units.shape[1])
        if in_memory:
            view = memory.view(kind, units, destination.address, destination.walk, low, high)
            if view is not None:
                self.apply(cls, units, application, view, operands)
                return None
            result = np.empty(shape, DTYPES[kind])
            self.apply(cls, units, application, result, operands)
            memory.scatter(kind, units, destination.address, destination.walk, low, high, result)
            return None
        result = np.empty(shape, DTYPES[kind])
        self.apply(cls, units, application, result, operands)
        return result.view(np.uint32 if kind in WIDE else np.uint16)

    def apply(
        self, cls: UnitClass, units: UnitSet, application: Application, out: Array, operands: Sequence[Any]
    ) -> None:
        """Compute elements into `out`; raise LoomError for a floating point exception that stops a unit."""
        row = application.row
        if cls.unmasked is None or row.destination not in LOWEST_NORMAL or not raises(row.function):
            application.kernel(out, *operands)
            return
        # The result may take the place of an operand.
        values = [np.broadcast_to(np.array(operand), out.shape) for operand in operands]
        application.kernel(out, *operands)
        cls.stop_at_exceptions(units, row.function, values, out, row.destination, application.where)

    def check(
        self, cls: UnitClass, units: UnitSet, application: Application, stream: MemoryStream, low: int, high: int
    ) -> None:
        """Warn of a walk that leaves the stream's buffer (DSD-171); the machine goes on into what is next to it.

        Raise LoomError where it leaves the memory in use.
        """
        steps, buffer = stream.walk, stream.buffer
        width = 2 if stream.kind in WIDE else 1
        address = stream.address
        if width == 2 and is_odd(address):
            cls.warn_of_odd_word(units, address, f"{application.text} reads or writes", application.where)
        if not buffer.name and not self.machine.warnings.has(application.where):
            self._check_pointer(cls, units, application, stream, low, high)
        if type(address) is int:
            if buffer.address <= address + steps.low * width and address + (steps.high + 1) * width <= buffer.end:
                return
            lowest = highest = address
        else:
            lowest, highest = int(address.min()), int(address.max())
        table = steps.table[low:high]
        if lowest + int(table.min()) * width >= buffer.address and (
            highest + (int(table.max()) + 1) * width <= buffer.end
        ):
            return
        start, end = (address + int(extreme) * width for extreme in (table.min(), table.max()))
        outside = np.asarray((start < 0) | (end + width > cls.memory.words))
        if outside.any():
            place, word = cls.describe_first(units, outside, np.where(start < 0, start, end + width - 1))
            walked = f" by way of @{buffer.name}" if buffer.name else ""
            raise LoomError(
                f"{application.text} reaches word address {word} on {place}{walked}, outside {cls.memory_in_words}, "
                f"words 0 to {cls.memory.words - 1}; check the pointer, offset, stride and extent",
                application.where,
            )
        if buffer.name and not self.machine.warnings.has(application.where):
            wrong = np.asarray((start < buffer.address) | (end + width > buffer.end))
            place, word = cls.describe_first(units, wrong, np.where(start < buffer.address, start, end))
            self._warn_of_walk(application, buffer, word, width, place)

    def _check_pointer(
        self, cls: UnitClass, units: UnitSet, application: Application, stream: MemoryStream, low: int, high: int
    ) -> None:
        """Warn of a walk from run-time addresses that leaves the variable where it begins (DSD-171)."""
        steps, address, width = stream.walk, stream.address, 2 if stream.kind in WIDE else 1
        start, end = cls.variables.around(address)
        lowest, highest = address + steps.low * width, address + (steps.high + 1) * width
        if np.all((start <= lowest) & (highest <= end)):
            return
        table = steps.table[low:high]
        lowest, highest = address + int(table.min()) * width, address + (int(table.max()) + 1) * width
        wrong = np.asarray((lowest < start) | (highest > end))
        if not wrong.any():
            return
        place, word = cls.describe_first(units, wrong, np.where(lowest < start, lowest, highest - width))
        _, begin = cls.describe_first(units, wrong, address)
        variable = cls.variables.at(begin)
        if variable is not None:
            self._warn_of_walk(application, variable, word, width, place)

    def _warn_of_walk(self, application: Application, buffer: Buffer, word: int, width: int, place: str) -> None:
        self.machine.warn(
            application.where,
            f"{application.text} reaches element {(word - buffer.address) // width} of @{buffer.name}, which has "
            f"{(buffer.end - buffer.address) // width}, on {place}, and continues in the memory next to it; check its "
            "offset, stride and extent",
        )

    # Sending

    def _send(
        self, warp: Warp, application: Application, destination: QueueStream, sources: list[Any], count: int,
        setup: int,
    ) -> int | None:  # fmt: skip
        timing = self.timing
        row = application.row
        per_element = pace(element_cycles(timing, row, _strides(sources)))
        issued = warp.now
        units = warp.units
        queue = destination.queue
        assert isinstance(queue, OutputQueue)
        if destination.message:
            _check_message(warp, application, destination, count)
        if application.is_async:
            done = issued + (timing.inject + per_element * count)
        else:
            done = issued + (setup + per_element * count)
        wavelets = -(-count // destination.lanes)
        send = Send(application, queue, units, wavelets, done) if wavelets > queue.room else None
        if queue.network is not None and (destination.message or destination.control):
            send = Send(application, queue, units, wavelets, done)
            send.waiting[...] = 1
        resources = [queue.resource]
        if application.thread is not None:
            resources.append(application.thread)
        for resource in resources:
            resource.use(units, application, issued, done if send is None else NEVER)
        if count:
            raw: Array | None = None
            owned = True
            source = sources[0]
            if row.function == "move" and type(source) is MemoryStream:
                self.check(warp.cls, units, application, source, 0, count)
                kind = row.destination
                raw = warp.cls.memory.gather(kind, units, source.address, source.walk, 0, count, raw=True)
                owned = raw.base is None
            if raw is None:
                raw = self.compute(warp.cls, units, application, destination, sources, 0, count, {})
                assert raw is not None
            self.transmit(
                application, destination, units, raw, issued + timing.inject, per_element, owned=owned, send=send,
                last=True,
            )  # fmt: skip
        if application.is_async:
            warp.elapsed += timing.async_issue
            if send is not None:
                self._settle(send)
            else:
                self._signal(warp.cls, application, units, done)
            return None
        if send is None:
            warp.elapsed += setup + per_element * count
            return None
        if not some(send.waiting != 0):
            queue.resource.release(units, send.done)
            warp.time, warp.elapsed = send.done, 0
            return None
        warp.pc += 1
        warp.stop = -1
        self.machine.scheduler.suspend(warp)
        send.warp = warp
        self._settle(send)
        return SUSPENDED

    def _settle(self, send: Send) -> None:
        """End a send for the units that wait for nobody, and remember it for the others."""
        send.settled = True
        waiting = send.waiting > 0
        if not some(waiting):
            self._sent(send, send.units)
            return
        cls = send.queue.cls
        self.machine.scheduler.sends[send] = None
        if send.application.has_completion:
            for part in from_mask(send.units, waiting):
                cls.unresolved[part.index] += 1
        for part in from_mask(send.units, ~waiting):
            self._sent(send, part)

    def _sent(self, send: Send, units: UnitSet) -> None:
        """Resume what waits for a send that has ended on some units."""
        application, cls = send.application, send.queue.cls
        done = send.ends(units)
        send.queue.resource.release(units, done)
        if application.thread is not None:
            application.thread.release(units, done)
        if send.warp is not None:
            self.machine.scheduler.resume(send.warp.part(units), done)
        else:
            self._signal(cls, application, units, done)

    def taken(self, message: Message, position: int, time: Any) -> None:
        """Let the sender know that a receiver takes wavelet `position` of a message."""
        if message.piece is not None:
            message.piece.taken(position, 1, time, 1)
        send, delivery = message.send, message.delivery
        if send is None or delivery is None or position != message.threshold:
            return
        self._notified(send, send.accept(delivery, message.units, message.origin, time))

    def sent(self, send: Send, units: UnitSet, time: int) -> None:
        """Let the unit that sends a message know that its last wavelet has left."""
        self._notified(send, send.end(units, time))

    def _notified(self, send: Send, ended: list[UnitSet]) -> None:
        """End a send for the units that wait for nobody any more."""
        if not send.settled:
            return
        for units in ended:
            if send.application.has_completion:
                send.queue.cls.unresolved[units.index] -= 1
            self._sent(send, units)
        if not some(send.waiting != 0):
            self.machine.scheduler.sends.pop(send, None)

    def transmit(
        self,
        application: Application,
        stream: QueueStream,
        units: UnitSet,
        payload: Array,
        first: Any,
        rate: int,
        *,
        owned: bool,
        last: bool,
        send: Send | None = None,
    ) -> None:
        """Send `payload` of `units` out of a queue; wavelet k leaves at `first + k * rate`.

        `last` means that the operation sends no more. `send` is notified when the receivers have made room for the
        wavelets; those of a color with switches wait in its routers, and hold no sender back.
        """
        queue = stream.queue
        assert isinstance(queue, OutputQueue)
        if stream.lanes > 1:
            if payload.shape[1] % 2 and not last:
                raise LoomError(
                    f"{application.text} sends two values per wavelet but receives an odd number, which is not "
                    "simulated yet; receive with the same simd_mode",
                    application.where,
                )
            payload, rate, owned = _pack(payload), rate * stream.lanes, True
        self._covered(application, queue, units)
        if stream.index is not None:
            index = stream.index if type(stream.index) is int else stream.index.astype(np.uint32)[:, None, :]
            payload = payload.astype(np.uint32) | (index & WORD_MASK) << WORD_BITS
            owned = True
        self.machine.scheduler.wavelets += payload.shape[1] * units.count
        if queue.unread_count is not None:
            queue.unread_count[units.index] += payload.shape[1]
        if queue.network is not None:
            queue.network.inject(stream, units, payload, first, rate, application=application, last=last, send=send)
            return
        outgoing: list[tuple[InputQueue, Message]] = []
        for part, wavelets, when in _for_engines(units, payload, first, rate) if stream.control else ():
            outgoing += self._over_static_routes(stream, part, wavelets, when, rate, owned=owned, send=send)
        if not stream.control:
            outgoing += self._over_static_routes(stream, units, payload, first, rate, owned=owned, send=send)
        if queue.switched:
            kept = payload if owned else payload.copy()
            for color, part in switched_parts(queue, units):
                color.send(
                    queue.cls.placement, part, select_vector(units, part, kept), select(units, part, first), rate,
                    control=stream.control, advance=stream.advance and last,
                )  # fmt: skip
                outgoing += color.settle()
        for receiver, message in outgoing:
            self.arrive(receiver, message)

    def _over_static_routes(
        self,
        stream: QueueStream,
        units: UnitSet,
        payload: Array,
        first: Any,
        rate: int,
        *,
        owned: bool,
        send: Send | None,
    ) -> list[tuple[InputQueue, Message]]:
        """Return where wavelets arrive that the tables of a queue deliver."""
        queue = stream.queue
        assert isinstance(queue, OutputQueue)
        outgoing: list[tuple[InputQueue, Message]] = []
        for delivery in queue.deliveries:
            common = intersect(units, delivery.source)
            if common is None:
                continue
            if common is units:
                part, when = payload, first
            else:
                part, when = select_vector(units, common, payload), select(units, common, first)
            for receivers, wavelets, time, origin in arrivals(delivery, common, part, when):
                message = Message(receivers, wavelets, time, rate, origin, stream.control, owned=owned)
                if send is not None:
                    threshold = message.count - delivery.receiver.room - 1
                    if threshold >= 0:
                        message.send, message.delivery, message.threshold = send, delivery, threshold
                        send.expect(delivery, receivers, origin)
                outgoing.append((delivery.receiver, message))
        return outgoing

    def decide(self, color: SwitchedColor, limit: int) -> None:
        """Let the routers of a color decide between wavelets that came to several ports before a time."""
        color.decide(limit)
        for receiver, message in color.settle():
            self.arrive(receiver, message)

    def _covered(self, application: Application, queue: OutputQueue, units: UnitSet) -> None:
        missing = without_color(queue, units)
        if missing is not None:
            place, _ = queue.cls.describe_first(units, missing, missing)
            raise LoomError(
                f"{application.text} sends on output queue {queue.number}, which has no color on {place}; give it one "
                "with @initialize_queue in a comptime block (AMB-34)",
                application.where,
            )
        if queue.swallowed is not None and some(queue.swallowed[units.index]):
            place, number = queue.cls.describe_first(units, queue.swallowed[units.index], queue.colors[units.index])
            self.machine.warn(
                application.where,
                f"{application.text} sends color {self.machine.color_label(number)}, whose route ends at {place} "
                "itself; the wavelets are lost: do not send there, or add a route with @set_color_config, or with "
                "paint or connect in an SdkLayout",
            )
        if queue.lost is None or queue.covers.get(units):
            return
        wrong = queue.lost[units.index]
        if some(wrong):
            place, _ = queue.cls.describe_first(units, wrong, wrong)
            raise LoomError(
                f"{application.text} on {place} sends wavelets that reach no queue: {queue.cls.loss(queue, units)}",
                application.where,
            )
        if len(queue.covers) < 4096:
            queue.covers[units] = True

    # Receiving

    def arrive(self, queue: InputQueue, message: Message) -> None:
        """Hand a message to the operations that wait for it, and queue the rest."""
        if queue.senders > 1:
            self.machine.scheduler.hold(queue, message.keep())
            return
        self.admit(queue, message)

    def admit(self, queue: InputQueue, message: Message) -> None:
        """Call `arrive` once nothing earlier can come from another sender."""
        self.arriving.append((queue, message))
        if not self.at_work:
            self._then_deliver(_nothing)

    def _then_deliver(self, act: Callable[[], ResultT]) -> ResultT:
        """Act, and then hand over what that has sent, so that chains of operations need no recursion."""
        if self.at_work:
            return act()
        self.at_work = True
        try:
            result = act()
            while self.arriving:
                self._hand_over(*self.arriving.popleft())
            return result
        finally:
            self.at_work = False
            self.arriving.clear()

    def _hand_over(self, queue: InputQueue, message: Message) -> None:
        """Give a message to the operations that wait for it, and queue the rest."""
        if message.piece is not None and self._hand_over_piece(queue, message):
            return
        for transfer in [
            waiting for waiting in queue.waiting if len(waiting.queues) > 1 or waiting.polled or waiting.header
        ]:
            common = intersect(transfer.units, message.units)
            if common is None:
                continue
            # The other input may lack wavelets still: queue this one and see what both have.
            self._store(queue, message.part(common))
            self._leave(transfer)
            self._post(transfer)
            rest = subtract(message.units, common)
            for units in rest:
                self._hand_over(queue, message.part(units))
            return
        for piece in self._serve(queue, message):
            self._store(queue, piece)

    def _hand_over_piece(self, queue: InputQueue, message: Message) -> bool:
        """Give a piece of a network's message to the operations of its unit; return False if something is left."""
        waiting = queue.by_unit.get(cell(message.units))
        while waiting and message.remaining:
            transfer = waiting[0]
            if queue.task is not None:
                self._contended(queue, transfer, message)
            if transfer.header:
                transfer.count = int(self._take_header(transfer, message)[0, 0])
                continue
            self._feed_elements(transfer, [message])
            if transfer.position >= transfer.count:
                waiting.popleft()
                self.complete(transfer)
        return not message.remaining

    def _store(self, queue: InputQueue, message: Message) -> None:
        """Queue wavelets that nobody waits for; they start the queue's data task if it has one."""
        queue.messages.append(message.keep())
        task = queue.task
        if task is not None and queue.control_only:
            task.active[message.units.index] = queue.head_times(message.units, NEVER)
            queue.cls.touch(message.units, task)
        elif task is not None:
            known = task.active[message.units.index]
            task.active[message.units.index] = np.where(known == NEVER, message.head_time, known)
            queue.cls.touch(message.units, task)

    def _recount(self, queues: Sequence[InputQueue], units: UnitSet) -> None:
        """Update the data task of a queue after an operation has taken wavelets from it."""
        for queue in queues:
            if queue.task is not None:
                queue.task.active[units.index] = queue.head_times(units, NEVER)
                queue.cls.touch(units, queue.task)

    def _serve(self, queue: InputQueue, message: Message) -> list[Message]:
        """Hand a message to the waiting operations that read this queue alone; return what is left."""
        rest: list[Message] = [message]
        waiting = queue.waiting
        index = 0
        while index < len(waiting) and rest:
            transfer = waiting[index]
            for position, piece in enumerate(rest):  # noqa: B007, used after the break
                common = intersect(transfer.units, piece.units)
                if common is not None:
                    break
            else:
                index += 1
                continue
            others = [] if common is piece.units else [piece.part(units) for units in subtract(piece.units, common)]
            active, mine = transfer.part(common), piece.part(common)
            remaining = [transfer.part(units) for units in subtract(transfer.units, common)]
            if queue.task is not None:
                self._contended(queue, active, mine)
            waiting[index : index + 1] = remaining
            self._feed_elements(active, [mine])
            if active.position < active.count:
                waiting.insert(index + len(remaining), active)
            else:
                self.complete(active)
                if mine.remaining:
                    others.append(mine)
            rest[position : position + 1] = others
        return rest

    def _awaited(self, warp: Warp, application: Application, queue: InputQueue) -> None:
        """Report an operation that awaits what cannot come (AMB-34)."""
        units = warp.units
        missing = without_color(queue, units)
        if missing is not None:
            place, _ = queue.cls.describe_first(units, missing, missing)
            raise LoomError(
                f"{application.text} receives from input queue {queue.number}, which has no color on {place}; give it "
                "one with @initialize_queue in a comptime block (AMB-34)",
                application.where,
            )
        if queue.unrouted is not None and some(queue.unrouted[units.index]):
            place, number = queue.cls.describe_first(units, queue.unrouted[units.index], queue.colors[units.index])
            self.machine.warn(
                application.where,
                f"{application.text} receives color {self.machine.color_label(number)}, which no route brings to the "
                f"ramp of {place}; add one with @set_color_config, or with paint or connect in an SdkLayout",
            )

    def _contended(self, queue: InputQueue, transfer: Transfer, message: Message) -> None:
        """Report wavelets for an operation in the background that the queue's data task may take as well."""
        task = queue.task
        if task is None or queue.control_only or transfer.warp is not None:
            return
        if task.unblocked is None:
            free: Any = np.ones(message.units.shape, np.bool_)
        else:
            free = task.unblocked[message.units.index] <= message.head_time
        if some(free):
            place, _ = queue.cls.describe_first(message.units, free, free)
            self.machine.warn(
                transfer.application.where,
                f"{transfer.application.text} receives from input queue {queue.number} on {place} while data task "
                f"@{task.name} of the queue is unblocked and may take the same wavelets; @block it until the operation "
                "has ended",
            )

    def _receive(
        self,
        warp: Warp,
        application: Application,
        destination: Any,
        sources: list[Any],
        inputs: list[QueueStream | FifoStream],
        count: int,
        setup: int,
        moving: Sequence[Held],
    ) -> int | None:
        queues: list[InputQueue] = []
        sides: list[Side | None] = []
        for stream in inputs:
            if isinstance(stream, FifoStream):
                sides.append(stream.fifo.reading)
                queues.append(stream.fifo.reading.queue)
                continue
            sides.append(None)
            assert isinstance(stream.queue, InputQueue)
            if stream.queue in queues:
                raise LoomError(
                    f"{application.text} reads input queue {stream.queue.label} twice; two fabric inputs need two "
                    "queues",
                    application.where,
                )
            self._awaited(warp, application, stream.queue)
            queues.append(stream.queue)
        fifos = [stream.fifo for stream in (destination, *inputs) if type(stream) is FifoStream]
        if type(destination) is FifoStream:
            sides.append(destination.fifo.writing)
            queues.append(destination.fifo.writing.queue)
        timing, row = self.timing, application.row
        strides = (*_strides([destination]), *_strides(sources))
        rate = pace(element_cycles(timing, row, strides))
        issued = warp.now
        ready = issued + setup
        transfer = Transfer(
            application, warp.units, queues, destination, sources, count, ready, rate,
            None if application.is_async else warp,
            application.has_completion or any(fifo.has_tasks for fifo in fifos),
        )  # fmt: skip
        transfer.moving = list(moving)
        if fifos:
            polled = [None if side is None or side.waits(is_async=application.is_async) else side for side in sides]
            if any(side is not None for side in polled):
                transfer.polled = polled
        for resource in transfer.resources:
            resource.use(warp.units, application, issued, NEVER)
        if application.is_async:
            warp.elapsed += timing.async_issue
            if transfer.signals_end:
                warp.cls.unresolved[warp.units.index] += 1
            self._then_deliver(lambda: self._post(transfer))
            return None
        return self._then_deliver(lambda: self._receive_now(warp, transfer, setup))

    def _receive_now(self, warp: Warp, transfer: Transfer, setup: int) -> int | None:
        """Run a synchronous read: go on at once if every unit has its wavelets, else suspend the warp."""
        if transfer.polled:
            return self._poll(warp, transfer)
        if transfer.count == 0:
            for resource in transfer.resources:
                resource.release(transfer.units, transfer.time)
            warp.elapsed += setup
            return None
        while transfer.position < transfer.count and not transfer.header:
            messages, units = self._take(transfer)
            if units is not transfer.units:
                self._put_back(transfer, messages)
                break
            self._feed_elements(transfer, messages)
            self._put_back(transfer, messages)
        self._recount(transfer.queues, transfer.units)
        if transfer.position == transfer.count:
            self._close(transfer)
            warp.time, warp.elapsed = transfer.time, 0
            return None
        warp.pc += 1
        warp.stop = -1
        self.machine.scheduler.suspend(warp)
        self._post(transfer)
        return SUSPENDED

    def _poll(self, warp: Warp, transfer: Transfer) -> int | None:
        """Run a synchronous operation that ends where a FIFO has nothing for it; mostly that is known at once."""
        ended, waiting = self._proceed(transfer)
        if not waiting:
            for part in ended:
                self._close(part)
            warp.time, warp.elapsed = merged(transfer.units, [(part.units, part.time) for part in ended], CLOCK), 0
            result = transfer.application.result
            if result is not None:
                results = [(part.units, not part.stopped) for part in ended]
                warp.slots[result] = merged(transfer.units, results, DTYPES["i1"])
            return None
        warp.pc += 1
        warp.stop = -1
        self.machine.scheduler.suspend(warp)
        for part in ended:
            self.complete(part)
        self._wait(waiting)
        return SUSPENDED

    def _take(self, transfer: Transfer) -> tuple[list[Message], UnitSet | None]:
        """Return the next message of every input, cut to units that have one on all of them, possibly none."""
        pending: list[UnitSet] = [transfer.units]
        while pending:
            part = pending.pop()
            units = part
            for queue in transfer.queues:
                found = queue.first(units) if queue.messages else None
                if found is None:
                    break
                units = found
            else:
                return [queue.take(units) for queue in transfer.queues], units
            if units is not part:
                # None of these has one on this queue, but others may.
                pending += subtract(part, units)
        return [], None

    def _put_back(self, transfer: Transfer, messages: list[Message]) -> None:
        for queue, message in zip(transfer.queues, messages, strict=False):
            if message.remaining:
                queue.put_back(message)

    def _post(self, transfer: Transfer) -> None:
        """Let a new transfer consume what is queued and wait for the rest."""
        ended, waiting = self._proceed(transfer)
        for part in ended:
            self.complete(part)
        self._wait(waiting)

    def _wait(self, transfers: list[Transfer]) -> None:
        for transfer in transfers:
            if transfer.queues[0].network is not None and len(transfer.queues) == 1 and not transfer.polled:
                for unit in singles(transfer.units):
                    transfer.queues[0].by_unit.setdefault(cell(unit), deque()).append(transfer.part(unit))
                continue
            for queue in transfer.queues:
                queue.waiting.append(transfer)

    def _proceed(self, transfer: Transfer) -> tuple[list[Transfer], list[Transfer]]:
        """Let a transfer consume what is queued; return the parts that have ended, and those that have to wait."""
        open_: list[Transfer] = [transfer]
        ended: list[Transfer] = []
        waiting: list[Transfer] = []
        while open_:
            current = open_.pop()
            if current.position >= current.count:
                ended.append(current)
                continue
            messages, units = self._take(current)
            if units is None:
                if current.polled:
                    self._look_for_elements(current, ended, waiting)
                else:
                    waiting.append(current)
                continue
            if units is not current.units:
                open_ += [current.part(other) for other in subtract(current.units, units)]
                current = current.part(units)
            for queue, message in zip(current.queues, messages, strict=True):
                if queue.task is not None:
                    self._contended(queue, current, message)
            if current.header:
                open_ += self._read_header(current, messages[0])
                continue
            if not current.polled:
                self._feed_elements(current, messages)
                self._put_back(current, messages)
                self._recount(current.queues, current.units)
                open_.append(current)
                continue
            for part, its, count in self._in_time(current, messages, ended):
                self._feed_elements(part, its, count)
                self._put_back(part, its)
                self._recount(part.queues, part.units)
                open_.append(part)
        return ended, waiting

    def _take_header(self, transfer: Transfer, message: Message) -> Array:
        """Take the header of a message; return how many elements follow, for each unit."""
        lengths = message.payload[:, message.position, :].astype(np.uint32) & WORD_MASK
        transfer.time = np.maximum(transfer.time, message.head_time)
        self.taken(message, message.position, transfer.time)
        transfer.time = transfer.time + transfer.rate
        transfer.header = False
        message.position += 1
        long = lengths > transfer.count
        if some(long):
            place, length = transfer.queues[0].cls.describe_first(transfer.units, long, lengths)
            raise LoomError(
                f"{transfer.application.text} on {place} receives a message of {length} elements into an array of "
                f"{transfer.count}; make the array at least as long as the longest message (LIB-028)",
                transfer.application.where,
            )
        if message.piece is not None and transfer.application.row.destination not in WIDE:
            message.piece.cut(transfer.application)
        return lengths

    def _read_header(self, transfer: Transfer, message: Message) -> list[Transfer]:
        """Take the header of a queued message; return the transfers of what it announces, by its length."""
        lengths = self._take_header(transfer, message)
        self._put_back(transfer, [message])
        self._recount(transfer.queues, transfer.units)
        found: list[Transfer] = []
        for length in np.unique(lengths).tolist():
            for units in from_mask(transfer.units, lengths == length):
                part = transfer.part(units)
                part.count = length
                found.append(part)
        return found

    # FIFOs that end operations

    def _look_for_elements(self, transfer: Transfer, ended: list[Transfer], waiting: list[Transfer]) -> None:
        """End a transfer of which no unit has all its messages, where a FIFO lacks them.

        It ends as soon as nothing can come in time.
        """
        units = transfer.units
        begin = np.broadcast_to(np.asarray(transfer.time), units.shape)
        left = np.ones(units.shape, np.bool_)
        for queue, side in zip(transfer.queues, transfer.polled, strict=True):
            if side is None:
                # A FIFO is looked at when all that is waited for is there.
                heads = queue.head_times(units, NEVER, to_read=True)
                left = left & (heads < NEVER)
                begin = np.maximum(begin, np.where(heads < NEVER, heads, 0))
        waiting += [transfer.part(part) for part in from_mask(units, ~left)] if some(~left) else []
        for queue, side in zip(transfer.queues, transfer.polled, strict=True):
            if side is None or not some(left):
                continue
            heads = queue.head_times(units, NEVER)
            late = left & (heads > begin)
            left = left & ~late
            fifo = side.cls.fifos[side.fifo]
            # An operation of the task itself sees all that its unit has done before; what microthreads do is not known.
            unknown = True if transfer.warp is None else fifo.other(side).queue.resource.is_open(units)
            unsure = late & (heads == NEVER) & unknown
            for part in from_mask(units, late & ~unsure) if some(late & ~unsure) else []:
                ended.append(self._stop(transfer.part(part), side, select(units, part, begin)))
            for part in from_mask(units, unsure) if some(unsure) else []:
                asking = transfer.part(part)
                self.machine.scheduler.polls[asking] = (side, select(units, part, begin))
                waiting.append(asking)

    def _in_time(
        self, transfer: Transfer, messages: list[Message], ended: list[Transfer]
    ) -> list[tuple[Transfer, list[Message], int]]:
        """Return the parts of a transfer for whose first element every FIFO has something in time.

        Each comes with its messages and the number of elements for which that holds; the other parts have ended.
        """
        left = [(transfer, messages)]
        for position, side in enumerate(transfer.polled):
            if side is None:
                continue
            following: list[tuple[Transfer, list[Message]]] = []
            for current, its in left:
                units = current.units
                begin, _ = _begin(current, its)
                late = np.broadcast_to(np.asarray(its[position].head_time > begin), units.shape)
                if not some(late):
                    following.append((current, its))
                    continue
                for part in from_mask(units, late):
                    stopped = current.part(part)
                    self._put_back(stopped, [message.part(part) for message in its])
                    ended.append(self._stop(stopped, side, select(units, part, begin)))
                if not every(late):
                    following += [
                        (current.part(part), [message.part(part) for message in its])
                        for part in from_mask(units, ~late)
                    ]
            left = following
        found: list[tuple[Transfer, list[Message], int]] = []
        for current, its in left:
            units = current.units
            begin, rate = _begin(current, its)
            count: Any = min(message.remaining for message in its)
            for message, side in zip(its, current.polled, strict=True):
                if side is not None and message.rate > rate:
                    count = np.minimum(count, (begin - message.head_time) // (message.rate - rate) + 1)
            if type(count) is not np.ndarray:
                found.append((current, its, int(count)))
                continue
            for number in np.unique(count).tolist():
                for part in from_mask(units, np.broadcast_to(count == number, units.shape)):
                    found.append((current.part(part), [message.part(part) for message in its], number))
        return found

    def _stop(self, transfer: Transfer, side: Side, time: Any) -> Transfer:
        """End an operation that looks at a FIFO at a time when that has nothing for it (DSD-127 to DSD-133)."""
        application, units, cls = transfer.application, transfer.units, side.cls
        if side.action == "fault":
            place, _ = cls.describe_first(units, np.ones(units.shape, np.bool_), 0)
            raise LoomError(
                f"{application.text} finds FIFO @{side.fifo} {side.lacks} on {place}, which its {side.lacks}_action "
                "makes a fault (DSD-135); choose another action, or prevent it",
                application.where,
            )
        for stream in (transfer.destination, *transfer.sources):
            if type(stream) is FifoStream and stream.register is not None and side in stream.fifo.sides:
                place, _ = cls.describe_first(units, np.ones(units.shape, np.bool_), 0)
                raise LoomError(
                    f"{application.text} finds FIFO @{side.fifo}, which {stream.register} holds, {side.lacks} on "
                    f"{place}; take the register as one of a FIFO (DSR-016)", application.where,
                )  # fmt: skip
        transfer.time = time
        transfer.stopped = side.action == "test_or_suspend"
        lacking = ENDLESS_EXTENT if transfer.count == UNBOUNDED else transfer.count - transfer.position
        side.stopped(units, time, lacking)
        if transfer.before is not None and side.name == "read":
            kind, scalar = application.row.destination, transfer.destination
            cls.memory.scatter(kind, units, scalar.address, scalar.walk, 0, 1, transfer.before, raw=True)
        for held in transfer.moving:
            stream = behind(held.stream, transfer.position)
            held.register.load(units, stream, save_address=True, settings=held.settings)
        transfer.count = transfer.position
        return transfer

    def give_up(self, transfer: Transfer, horizon: int) -> None:
        """End an operation on the units for which nothing can come any more up to `horizon`."""
        side, times = self.machine.scheduler.polls[transfer]
        self._leave(transfer)
        units = transfer.units
        early = np.broadcast_to(np.asarray(times <= horizon), units.shape)
        ended = [self._stop(transfer.part(part), side, select(units, part, times)) for part in from_mask(units, early)]
        if not every(early):
            for part in from_mask(units, ~early):
                asking = transfer.part(part)
                self.machine.scheduler.polls[asking] = (side, select(units, part, times))
                self._wait([asking])
        for part in ended:
            self._then_deliver(lambda part=part: self.complete(part))

    def _leave(self, transfer: Transfer) -> None:
        """Remove a transfer from those that wait."""
        for queue in transfer.queues:
            queue.waiting.remove(transfer)
        self.machine.scheduler.polls.pop(transfer, None)

    def _feed_elements(self, transfer: Transfer, messages: list[Message], most: int | None = None) -> None:
        """Advance a transfer by one message for each input, for the same units, and by `most` elements at most."""
        units, application = transfer.units, transfer.application
        if application.on_control and any(message.control for message in messages):
            self._end_by_control(transfer, messages)
            return
        low = transfer.position
        lanes = _lanes(transfer)
        count = transfer.count - low if most is None else min(most * lanes, transfer.count - low)
        rate, begin = transfer.rate, transfer.time
        for message in messages:
            count = min(count, message.remaining * lanes)
            # Element k is done at max(ready, there) + k * slower: exact where one side is the bottleneck
            # throughout, never too early otherwise.
            rate = max(rate, -(-message.rate // lanes))
            begin = np.maximum(begin, message.head_time)
        wavelets = -(-count // lanes)
        destination, row = transfer.destination, application.row
        cls = transfer.queues[0].cls
        self._wake_fifo_tasks(transfer, messages, count)
        if transfer.polled and transfer.before is None and _repeats(destination):
            # It keeps its value if the FIFO turns out to hold too little (DSD-128).
            transfer.before = cls.memory.gather(
                row.destination, units, destination.address, destination.walk, 0, 1, raw=True
            ).copy()
        raws = [message.payload[:, message.position : message.position + wavelets, :] for message in messages]
        if lanes > 1:
            raws = [_unpack(raw)[:, :count, :] for raw in raws]
        if (
            row.function == "move"
            and type(destination) is MemoryStream
            and (view := self._raw_view(cls, units, application, destination, low, low + count)) is not None
        ):
            raw = raws[0]
            _copy(view, raw if raw.dtype == view.dtype else raw.astype(view.dtype))
        else:
            positions = [i for i, source in enumerate(transfer.sources) if type(source) in RECEIVED]
            payloads = dict(zip(positions, raws, strict=False))
            result = self.compute(cls, units, application, destination, transfer.sources, low, low + count, payloads)
            if type(destination) is FifoStream:
                assert result is not None
                fifo = destination.fifo
                fifo.store(units, result)
                pushed = Message(units, result, begin + transfer.rate, rate, 0, False, owned=True)
                self._leave_in(fifo.reading, pushed)
            elif result is not None:
                self.transmit(
                    application, transfer.destination, units, result, begin + self.timing.inject, rate, owned=True,
                    last=low + count == transfer.count,
                )  # fmt: skip
        for source in transfer.sources:
            if type(source) is FifoStream:
                places = source.fifo.places(units, count, begin + transfer.rate, rate)
                self._leave_in(source.fifo.writing, places)
        for message in messages:
            if message.piece is not None:
                message.piece.taken(message.position, wavelets, begin, rate * lanes)
            if message.send is not None and 0 <= message.threshold - message.position < wavelets:
                self.taken(message, message.threshold, begin + (message.threshold - message.position) * rate * lanes)
            message.position += wavelets
        transfer.position += count
        transfer.time = begin + (count - 1) * rate + transfer.rate
        if transfer.count == UNBOUNDED:
            # It never ends, so what it has done is what the host sees of the time.
            scheduler = self.machine.scheduler
            scheduler.latest = max(scheduler.latest, int(np.max(transfer.time)))

    def _end_by_control(self, transfer: Transfer, messages: list[Message]) -> None:
        """End an operation early by a control wavelet, which is taken and not stored (DSD-199 to DSD-201)."""
        for message in messages:
            if message.control:
                transfer.time = np.maximum(transfer.time, message.head_time) + transfer.rate
                self.taken(message, message.position, transfer.time)
                message.position += 1
        transfer.count = transfer.position
        transfer.by_control = True

    def _leave_in(self, side: Side, message: Message) -> None:
        """Leave elements or places for the operations of a side of a FIFO."""
        side.arrived(message)
        self.admit(side.queue, message)

    def _wake_fifo_tasks(self, transfer: Transfer, messages: list[Message], count: int) -> None:
        """Start the tasks of a FIFO whose operation a push or pop lets go on (DSD-144, DSD-147)."""
        polled = transfer.polled or [None] * len(messages)
        received: list[Any] = [source for source in transfer.sources if type(source) in RECEIVED]
        sides = [source.fifo.reading if type(source) is FifoStream else None for source in received]
        if type(transfer.destination) is FifoStream:
            sides.append(transfer.destination.fifo.writing)
        for side, message, poll in zip(sides, messages, polled, strict=True):
            if side is not None and poll is None:
                side.woken(transfer.units, message, transfer.time, transfer.rate, count)

    def _raw_view(
        self, cls: UnitClass, units: UnitSet, application: Application, stream: MemoryStream, low: int, high: int
    ) -> Array | None:
        self.check(cls, units, application, stream, low, high)
        return cls.memory.view(application.row.destination, units, stream.address, stream.walk, low, high, raw=True)

    def complete(self, transfer: Transfer) -> None:
        """Complete an operation whose last element has arrived: resume its task, or start its completion task."""
        application, units = transfer.application, transfer.units
        cls = transfer.queues[0].cls
        self._close(transfer)
        if transfer.warp is not None:
            warp = transfer.warp.part(units)
            if transfer.stopped and application.result is not None:
                warp.slots[application.result] = False
            self.machine.scheduler.resume(warp, transfer.time)
            return
        if transfer.signals_end:
            cls.unresolved[units.index] -= 1
        self._signal(cls, application, units, transfer.time, by_control=transfer.by_control)

    def _close(self, transfer: Transfer) -> None:
        """Release what an operation that has ended used."""
        for resource in transfer.resources:
            resource.release(transfer.units, transfer.time)

    def _signal(
        self, cls: UnitClass, application: Application, units: UnitSet, time: Any, *, by_control: bool = False
    ) -> None:
        activate = application.control_activate if by_control else application.activate
        unblock = application.control_unblock if by_control else application.unblock
        if activate is not None:
            activate.complete(units, time, activate=True)
        elif unblock is not None:
            unblock.complete(units, time, activate=False)
        else:
            scheduler = self.machine.scheduler
            scheduler.latest = max(scheduler.latest, int(np.max(time)))


def _check_message(warp: Warp, application: Application, destination: QueueStream, count: int) -> None:
    """Raise LoomError for a message without elements, or with more than its array has."""
    if not count:
        raise LoomError(
            f"{application.text} sends a message of 0 elements on {warp.cls.describe(warp.units)}; its last element "
            "ends a message, so send at least 1",
            application.where,
        )
    if count > destination.count:
        raise LoomError(
            f"{application.text} sends a message of {count} elements on {warp.cls.describe(warp.units)}, but the array "
            f"has {destination.count}; send no more than it has (LIB-019)",
            application.where,
        )


def _for_engines(units: UnitSet, payload: Array, first: Any, rate: int) -> list[tuple[UnitSet, Array, Any]]:
    """Return control wavelets without those that an ignore bit keeps from the compute engine."""
    ignored = is_ignored(payload)
    if not some(ignored):
        return [(units, payload, first)]
    return [
        (part, select_vector(units, part, payload)[:, k : k + 1, :], select(units, part, first) + k * rate)
        for k in range(payload.shape[1])
        for part in from_mask(units, ~ignored[:, k, :])
    ]


def _begin(transfer: Transfer, messages: list[Message]) -> tuple[Any, int]:
    """Return when an operation looks at its FIFOs for its next element, and the cycles to the look after that."""
    begin, rate = transfer.time, transfer.rate
    for message, side in zip(messages, transfer.polled, strict=True):
        if side is None:
            begin = np.maximum(begin, message.head_time)
            rate = max(rate, message.rate)
    return begin, rate


def _lanes(transfer: Transfer) -> int:
    """Return how many values each wavelet carries that an operation takes."""
    lanes = {
        stream.lanes if type(stream) is QueueStream else 1 for stream in transfer.sources if type(stream) in RECEIVED
    }
    if len(lanes) > 1:
        application = transfer.application
        raise LoomError(
            f"{application.text} takes two values per wavelet from one queue and one from another, which is not "
            "simulated yet; use the same simd_mode",
            application.where,
        )
    return lanes.pop() if lanes else 1


def _pack(raw: Array) -> Array:
    """Pack values of 16 bits two to a wavelet, the first in the low half; a zero fills the last."""
    if raw.shape[1] % 2:
        raw = np.concatenate([raw, np.zeros_like(raw[:, :1])], axis=1)
    halves = raw.astype(np.uint32)
    return halves[:, ::2] | halves[:, 1::2] << WORD_BITS


def _unpack(raw: Array) -> Array:
    """Unpack what `_pack` packs."""
    wide = raw.astype(np.uint32)
    return (
        np.stack([wide & WORD_MASK, wide >> WORD_BITS], axis=2)
        .astype(np.uint16)
        .reshape(raw.shape[0], 2 * raw.shape[1], raw.shape[2])
    )


def _repeats(stream: Any) -> bool:
    """Return True if a stream is a scalar, which serves as many elements as there are."""
    return type(stream) is MemoryStream and stream.extents == (POINTER_EXTENT,)


def decode(raw: Array, kind: str) -> Array:
    """Return raw wavelet payloads as numbers of a kind: 16-bit kinds take the low half, 32-bit ones all of it."""
    if kind in WIDE:
        if raw.dtype != np.uint32:
            raw = raw.astype(np.uint32)
        return raw.view(DTYPES[kind]) if raw.strides[-1] == 4 else np.ascontiguousarray(raw).view(DTYPES[kind])
    if raw.dtype != np.uint16:
        raw = raw.astype(np.uint16)
    return np.ascontiguousarray(raw).view(DTYPES[kind])


def _nothing() -> None:
    pass


def _copy(view: Array, raw: Array) -> None:
    if view.shape[0] > 1 and view.shape[1] * view.shape[2] > ROW_ELEMENTS:
        for row in range(view.shape[0]):
            view[row] = raw[row]
    else:
        view[...] = raw


def _strides(operands: list[Any]) -> tuple[int, ...]:
    """Return the innermost stride of every memory operand."""
    return tuple(operand.strides[0] for operand in operands if type(operand) is MemoryStream)


def _span(stream: MemoryStream) -> tuple[Any, Any]:
    """Return the words a walk is in: the first, and the one after the last; arrays where the units differ."""
    width = 2 if stream.kind in WIDE else 1
    address, steps = stream.address, stream.walk
    return address + steps.low * width, address + (steps.high + 1) * width


def _in_order(destination: MemoryStream, source: MemoryStream, low: int, high: int) -> bool:
    """Return True if a source reads what an earlier iteration wrote, so that iterations must run one by one."""
    # Buffers may overlap, so addresses decide.
    (to, to_end), (at, at_end) = _span(destination), _span(source)
    if np.all((to_end <= at) | (at_end <= to)):
        return False
    # Only how far the walks are apart matters.
    apart = destination.address - source.address
    if type(apart) is np.ndarray:
        first = int(apart[0, 0])
        if not every(apart == first):
            return True
        apart = first
    return _reads_back(
        apart, destination.strides, destination.extents, destination.kind in WIDE,
        source.strides, source.extents, source.kind in WIDE, low, high,
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _reads_back(
    apart: int, to_strides: tuple[int, ...], to_extents: tuple[int, ...], to_wide: bool,
    at_strides: tuple[int, ...], at_extents: tuple[int, ...], at_wide: bool, low: int, high: int,
) -> bool:  # fmt: skip
    written = apart + walk(to_strides, to_extents).table[low:high] * (2 if to_wide else 1)
    read = walk(at_strides, at_extents).table[low:high] * (2 if at_wide else 1)
    first_write: dict[int, int] = {}
    for k, address in enumerate(written.tolist()):
        for word in (address, address + 1) if to_wide else (address,):
            first_write.setdefault(word, k)
    for k, address in enumerate(read.tolist()):
        for word in (address, address + 1) if at_wide else (address,):
            if first_write.get(word, k) < k:
                return True
    return False
