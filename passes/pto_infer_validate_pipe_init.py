"""Pass `pto-infer-validate-pipe-init`: infer whether one vector core takes part in a pipe, or both."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.passes import ModulePass

from ..analysis.pto.pipe_ends import Ends, pipe_ends, refusal
from ..dialects.pto.internal_pipes import BoundPipeOp, InitializePipeOp
from ..operations import pipe_protocol


@dataclass(frozen=True)
class PtoInferValidatePipeInitPass(ModulePass):
    """Gives both ends of every pipe the same `nosplit`.

    It is what one of them states, else whether entries go through whole (`split = 0`, PTO-025) or in parts (PTO-026,
    PTO-027); false if nothing goes through. Ends that contradict each other, or what goes through them, are errors.
    """

    name = "pto-infer-validate-pipe-init"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for ends in pipe_ends(op):
            nosplit = BoolAttr.from_bool(_nosplit(ends))
            for pipe in ends.pipes:
                if pipe.nosplit is None:
                    pipe.nosplit = nosplit


def _nosplit(ends: Ends) -> bool:
    stated: bool | None = None
    used: bool | None = None
    usages = {pipe: _usage(pipe) for pipe in ends.pipes}
    for pipe in ends.pipes:
        own = None if pipe.nosplit is None else bool(pipe.nosplit.value.data)
        if own is None:
            continue
        if stated is not None and stated != own:
            raise refusal(pipe, "conflicting explicit 'nosplit' across peer pipe init ops; write the same on both ends")
        stated = own
    for pipe, usage in usages.items():
        if usage is None:
            continue
        if used is not None and used != usage:
            raise refusal(
                pipe,
                "conflicting pipe split usage across peer pipe init ops; write 'split = 0' on both ends or on none",
            )
        used = usage
    for pipe in ends.pipes:
        if stated is None or used is None or stated == used or pipe.nosplit is None:
            continue
        needed = "0" if used else "1, 2, 3, or 4"
        raise refusal(
            pipe,
            f"explicit 'nosplit = {'true' if stated else 'false'}' conflicts with downstream users that require split "
            f"= {needed}; leave 'nosplit' out",
        )
    if stated is not None:
        return stated
    return bool(used)


def _usage(pipe: InitializePipeOp) -> bool | None:
    """Return True if the entries of a pipe are not split; None without entries."""
    whole = {
        use.operation.split_axis == pipe_protocol.NO_SPLIT
        for use in pipe.pipe.uses
        if isinstance(use.operation, BoundPipeOp)
    }
    if len(whole) > 1:
        raise refusal(
            pipe,
            "cannot mix 'split = 0' with 'split = 1', 'split = 2', 'split = 3', or 'split = 4' on the same logical "
            "pipe; open a second pipe",
        )
    return next(iter(whole), None)
