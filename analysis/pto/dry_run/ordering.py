"""Operations in a dry run that order the pipes of a core, or cores: barriers, flags, events and shared buffers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from xdsl.ir import Attribute, Operation

from ....diagnostics.locations import location_of
from ....dialects.pto.attributes import HardwarePipe, HardwarePipeAttr
from ....dialects.pto.kernels import (
    BarrierOp,
    SyncAllOp,
    function_of,
)
from ....dialects.traversal import walk
from .core_state import CoreState, Waiting
from .trace import Problem

OF_CORES = ("pto.comm.",)
"""Beginnings of names of operations that order cores."""

OF_PIPES = frozenset(
    f"pto.{name}"
    for name in (
        "barrier_sync", "tsync",
    )
)  # fmt: skip
"""Operations that order the pipes of a core in other ways than flags."""

WITHOUT_EFFECT = ("pto.set_ffts", "pto.set_quant", "pto.cmo.", "pto.fence.", "pto.dsb", "pto.dcci", "pto.mem_bar")
"""Names, or beginnings, of operations that write nothing."""

_SETS = ("pto.set_flag", "pto.set_flag_dyn", "pto.record_event")
_FLAGS_OF_HARDWARE = ("pto.set_flag", "pto.set_flag_dyn")
FLAGS = {
    **dict.fromkeys(
        ("pto.set_flag", "pto.wait_flag", "pto.set_flag_dyn", "pto.wait_flag_dyn"), ("src_pipe", "dst_pipe")
    ),
    **dict.fromkeys(("pto.record_event", "pto.wait_event"), ("src_op", "dst_op")),
}
"""The attributes of flags and events with the pipes, or kinds of operations, that they are between."""

_FREES = ("pto.rls_buf", "pto.rls_buf_dyn")
BUFFERS = ("pto.get_buf", "pto.get_buf_dyn", *_FREES)

_PIPES = {
    "TLOAD": HardwarePipe.MTE2,
    "TSTORE_VEC": HardwarePipe.MTE3,
    "TSTORE_ACC": HardwarePipe.FIX,
    "TMOV_M2L": HardwarePipe.MTE1,
    "TMOV_M2B": HardwarePipe.MTE1,
    "TMOV_M2S": HardwarePipe.FIX,
    "TMOV_M2V": HardwarePipe.V,
    "TMOV_V2M": HardwarePipe.FIX,
    "TMATMUL": HardwarePipe.M,
    "TVEC": HardwarePipe.V,
    "TVECWAIT_EVENT": HardwarePipe.V,
}
"""The pipe of each kind of operation (`mapSyncOpTypeToPipe` of PTOAS)."""


_NUMBER = re.compile(r"^(?:.*EVENT_ID)?(\d+)(?:\D.*)?$")
"""A flag or buffer in the text: `#pto.event<EVENT_ID3>`, or `3 : i32`."""


class OrderingOperations(CoreState):
    """Executes the operations of a core that order its pipes."""

    def _barrier(self, op: BarrierOp) -> None:
        self._step(op, "barrier", op.pipe.data, joins=(op.pipe.data,))

    def _sync_all(self, op: SyncAllOp) -> Waiting:
        mine = self._step(op, "barrier", HardwarePipe.ALL, joins=(HardwarePipe.ALL,))
        round = self.barrier.arrive(self.core, mine)
        while not self.barrier.is_complete(round):
            yield
        self._step(op, "barrier", HardwarePipe.ALL, (), self.barrier.arrivals(round), joins=(HardwarePipe.ALL,))

    def _shared_buffer(self, op: Operation) -> None:
        """Order a pipe behind the one that freed a buffer last, or note that it frees it."""
        pipe = _pipe_of(op.properties.get("op_type", op.attributes.get("op_type")))
        if pipe is None:
            return
        number = self._chosen(op, "buf_id")
        if number is None:
            return
        self.trace.explicit.add(self.core)
        if op.name in _FREES:
            self.freed[number] = self._step(op, "set", pipe)
        else:
            last = self.freed.get(number)
            self._step(op, "wait", pipe, (), () if last is None else (last,))

    def _flag(self, op: Operation) -> None:
        names = FLAGS[op.name]
        source, target = (_pipe_of(op.properties.get(name, op.attributes.get(name))) for name in names)
        event = self._chosen(op, "event_id")
        if source is None or target is None or event is None:
            return
        self.trace.explicit.add(self.core)
        key = source.value, target.value, event
        if op.name in _SETS:
            index = self._step(op, "set", source, joins=(target,))
            self.flags.setdefault(key, []).append(index)
            return
        raised = self.flags.get(key)
        if not raised:
            self.trace.report(
                Problem(
                    "unset-flag",
                    op,
                    f"{self.place.name} waits for flag {event} of {key[0]} to {key[1]} that nothing has set, so "
                    f"{key[1]} waits forever{self._instead(op, key)}; let {key[0]} set it before",
                )
            )
            return
        self._step(op, "wait", target, (), (raised.pop(0),), joins=(source,))

    def _instead(self, op: Operation, key: tuple[str, str, str]) -> str:
        """Return what may have been meant to set a flag: that comes behind its wait, or sets one like it."""
        source, target, event = key
        function = function_of(op)
        own: list[Operation] = [] if function is None else list(walk(function))
        for other in own[own.index(op) + 1 :] if op in own else ():
            if other.name in _SETS and self._stated(other) == key:
                return f", and {other.name} at {location_of(other)} comes behind it"
        # Of the same pipelines with another number, or of these the other way round.
        left = [found for found, raised in self.flags.items() if raised]
        alike = [found for found in left if found[:2] == (source, target)]
        for found in alike or [found for found in left if found == (target, source, event)]:
            place = location_of(self.trace.steps[self.flags[found][0]].op)
            return f", while flag {found[2]} of {found[0]} to {found[1]}, set at {place}, is not waited for"
        return ""

    def _stated(self, op: Operation) -> tuple[str, ...]:
        """Return pipes and number of a flag as the text has them."""
        source, target = (_pipe_of(op.properties.get(name, op.attributes.get(name))) for name in FLAGS[op.name])
        stated = str(op.properties.get("event_id", op.attributes.get("event_id")))
        digits = _NUMBER.search(stated)
        number = stated if digits is None else digits[1]
        return () if source is None or target is None else (source.value, target.value, number)

    def _check_flags(self) -> None:
        """Report flags that a core leaves set, if all that it sets and waits for are known.

        Not beside a wait for a flag that nothing sets, which may be the one that is missing here.
        """
        if self.core in self.trace.unknown_order or any(code == "unset-flag" for code, _ in self.trace.problems):
            return
        for (source, target, event), raised in self.flags.items():
            op = self.trace.steps[raised[-1]].op if raised else None
            if op is None or op.name not in _FLAGS_OF_HARDWARE:
                continue
            times = "once" if len(raised) == 1 else f"{len(raised)} times"
            self.trace.report(
                Problem(
                    "leftover-flag",
                    op,
                    f"{self.place.name} ends with flag {event} of {source} to {target} set {times} more than it is "
                    "waited for, so the first wait for it in the next kernel does not wait; wait for it before the end",
                    may=True,
                )
            )

    def _chosen(self, op: Operation, name: str) -> str | None:
        """Return the flag or buffer of an operation as a text; None if it is chosen by a number that is not known."""
        stated = op.properties.get(name, op.attributes.get(name))
        if stated is not None:
            text = str(stated)
            digits = _NUMBER.search(text)
            return text if digits is None else digits[1]
        number = self.values.get(op.operands[0]) if len(op.operands) == 1 else None
        if number is None:
            self.trace.unknown_order.add(self.core)
            return None
        return str(number)

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        BarrierOp: _barrier,
    }

    WAITING: ClassVar[Mapping[type[Operation], Callable[[Any, Any], Waiting]]] = {
        SyncAllOp: _sync_all,
    }


def _pipe_of(attribute: Attribute | None) -> HardwarePipe | None:
    """Return the pipe that an attribute names, or that of the kind of operation; None for anything else."""
    if isinstance(attribute, HardwarePipeAttr):
        return attribute.data
    named: object = getattr(attribute, "data", None)
    name = str(getattr(named, "value", named))
    return _PIPES.get(name) or next((pipe for pipe in HardwarePipe if pipe.value == name), None)
