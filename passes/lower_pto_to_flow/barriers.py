"""Barriers: `pto.syncall` as an exchange over channels, from the vector cores to the cube core and back."""

from __future__ import annotations

from xdsl.ir import Operation

from ...analysis.pto.pipe_ends import refusal
from ...dialects import flow
from ...dialects.pto.attributes import KernelKind, SyncCoreType
from ...dialects.pto.kernels import SyncAllOp
from .emission import Emitter
from .pipes import CUBE, VECTOR, Machine

_ARRIVED, _ALL_HERE = "arrived", "all_here"


class Barriers:
    """The barriers of a program. They are of one block: between blocks there are no channels."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.used = False

    def channels(self) -> list[flow.ChannelOp]:
        """Return the channels that barriers use."""
        if not self.used:
            return []
        lanes = self.machine.lanes
        return [
            flow.ChannelOp(_ARRIVED, VECTOR, CUBE, depth=1, lanes=lanes),
            flow.ChannelOp(_ALL_HERE, CUBE, VECTOR, depth=1, lanes=lanes),
        ]

    def lower(self, op: SyncAllOp, core: KernelKind, emitter: Emitter) -> None:
        """Lower a barrier of all cores."""
        kind = op.core_type.data
        if self.machine.blocks > 1:
            raise refusal(op, "waits for cores of other blocks, which is not supported yet; use one block")
        cores = self.machine.lanes if kind is SyncCoreType.AIV_ONLY else 1
        if kind is not SyncCoreType.MIX:
            if cores > 1:
                raise refusal(
                    op, "waits for vector cores only, which is not supported yet; use core type mix, or one lane"
                )
            return
        self.used = True
        sent, awaited = (_ALL_HERE, _ARRIVED) if core is KernelKind.CUBE else (_ARRIVED, _ALL_HERE)
        send: list[Operation] = [flow.AcquireOp(sent), flow.CommitOp(sent)]
        take: list[Operation] = [flow.WaitOp(awaited), flow.ReleaseOp(awaited)]
        for new in (*take, *send) if core is KernelKind.CUBE else (*send, *take):
            emitter.append(new)
