"""Communication between devices in a dry run: copies between their memories, and signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from ....dialects.pto.attributes import AtomicType, AtomicTypeAttr, HardwarePipe
from ....dialects.pto.instructions import OPERATIONS, InstructionOp
from ....dialects.traversal import walk
from .core_state import CoreState, Waiting
from .signals import COMPARISONS, Await, Change, Place, Signal
from .trace import Access
from .values import Region, Tile, View

_TRANSFERS = [
    OPERATIONS[f"comm.{name}"]
    for name in ("tput", "tget", "tbroadcast", "tgather", "tscatter", "treduce", "tput_async", "tget_async")
]


def _does_nothing_else(test: Operation) -> bool:
    """Return True if an operation is in a loop that only repeats it, until it says so."""
    loop = test.parent_op()
    if not isinstance(loop, scf.WhileOp) or any(argument.type != i1 for argument in loop.arguments):
        return False
    others = [op for op in walk(loop) if op is not loop and op is not test]
    return all(op.name.startswith("arith.") or isinstance(op, scf.YieldOp | scf.ConditionOp) for op in others)


class Communication(CoreState):
    """Executes the operations of a core that concern other devices."""

    def _wait_for_pipes(self, op: Operation) -> None:
        """Let all pipes of the core end what they do, as such an operation does before and after."""
        self._step(op, "barrier", HardwarePipe.ALL, joins=(HardwarePipe.ALL,))

    def _of_group(self, op: InstructionOp) -> None:
        """Copy tensors, or combine them: what an operation reads, and what it writes."""
        written = {"dst"} if op.operand("dst") is not None else {"group"}
        atomic = op.attribute("atomicType")
        adds = isinstance(atomic, AtomicTypeAttr) and atomic.data is AtomicType.ADD
        accesses: list[Access] = []
        for name, operands in op.operand_groups.items():
            for operand in operands:
                view = self.values.get(operand)
                if isinstance(view, View):
                    accesses.append(Access(view.array, view.region(), name in written, None, adds))
                    if name in written:
                        self.barrier.written.add(view.array)
                elif isinstance(view, Tile):
                    # By way of it elements go.
                    self.memory.write(view, None)
        self._wait_for_pipes(op)
        self._step(op, "store", HardwarePipe.MTE3, tuple(accesses))
        self._wait_for_pipes(op)
        for result in op.results:
            self.values[result] = None
        if self.global_memory is None:
            self.trace.orders_cores = True

    def _ended(self, op: InstructionOp) -> None:
        for result in op.results:
            self.values[result] = 1

    def _nothing(self, op: InstructionOp) -> None:
        for result in op.results:
            self.values[result] = None

    def _signals(self, op: InstructionOp) -> list[tuple[Place, Signal]] | None:
        """Return the signals of an operation; None if it is not known which."""
        view = self.values.get(op.operands[0])
        region = view.region() if isinstance(view, View) else None
        if not isinstance(view, View) or region is None or self.global_memory is None:
            self.trace.orders_cores = True
            return None
        found: list[tuple[Place, Signal]] = []
        for start, end in region.rows():
            for byte in range(start, end, region.size):
                place = view.array, byte
                signal = self.trace.signals.of.get(place)
                if signal is None:
                    signal = self.trace.signals.of[place] = Signal(
                        self._first(view.array, Region(byte, (), region.size))
                    )
                found.append((place, signal))
        return found

    def _first(self, name: str, region: Region) -> int | None:
        """Return what an array has at the start in an element; None if unknown."""
        array = self.arrays.get(name)
        if array is None or not 0 <= region.start <= array.nbytes - region.size:
            return None
        return int(array.reshape(-1).view("u1")[region.start : region.start + region.size].view("i4")[0])

    def _notify(self, op: InstructionOp) -> None:
        signals = self._signals(op)
        if signals is None:
            return
        self._wait_for_pipes(op)
        step = self._step(op, "set", HardwarePipe.S)
        word = str(getattr(op.attribute("notifyOp"), "data", "set"))
        value = self.values.get(op.operands[1])
        for _, signal in signals:
            signal.changes.append(Change(step, word == "atomic_add", value))

    def _await(self, op: InstructionOp) -> Waiting:
        signals = self._signals(op)
        word, wanted = str(getattr(op.attribute("cmp"), "data", "ge")), self.values.get(op.operands[1])
        for place, signal in signals or ():
            while wanted is not None and signal.value is not None and not COMPARISONS[word](signal.value, wanted):
                yield
            self._has_come(op, place, signal, word, wanted)

    def _has_come(self, op: InstructionOp, place: Place, signal: Signal, word: str, wanted: int | None) -> None:
        """Note that a wait for a signal has ended."""
        step = self._step(op, "wait", HardwarePipe.S, after=tuple(change.step for change in signal.changes))
        self.trace.signals.awaits.append(Await(step, place, word, wanted))
        self._wait_for_pipes(op)

    def _test(self, op: InstructionOp) -> Waiting:
        """Ask for a signal: in a loop that does nothing else until it has come, which is a wait."""
        signals = self._signals(op)
        word, wanted = str(getattr(op.attribute("cmp"), "data", "ge")), self.values.get(op.operands[1])
        values = [signal.value for _, signal in signals or ()]
        self.values[op.results[0]] = None
        if signals is None or wanted is None or None in values or not _does_nothing_else(op):
            self.trace.orders_cores = True
            self.trace.unchecked.setdefault(
                op,
                "what it returns depends on when it is asked; wait with pto.comm.twait, or in a loop of nothing else",
            )
            return
        if not all(value is not None and COMPARISONS[word](value, wanted) for value in values):
            self.values[op.results[0]] = 0
            yield
            return
        for place, signal in signals:
            self._has_come(op, place, signal, word, wanted)
        self.values[op.results[0]] = 1

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        **dict.fromkeys(_TRANSFERS, _of_group),
        OPERATIONS["comm.build_async_session"]: _nothing,
        OPERATIONS["comm.wait_async_event"]: _ended,
        OPERATIONS["comm.test_async_event"]: _ended,
        OPERATIONS["comm.tnotify"]: _notify,
    }

    WAITING: ClassVar[Mapping[type[Operation], Callable[[Any, Any], Waiting]]] = {
        OPERATIONS["comm.twait"]: _await,
        OPERATIONS["comm.ttest"]: _test,
    }
