"""What the operations of a program may name, and what its members must fulfil together.

The program knows its members only here: they are built on it. Nothing here changes an operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ..symbols import symbols_of
from ..traversal import walk
from .attributes import TaskKind
from .code import FuncOp, InitialOp, TaskOp
from .fabric import ColorOp, HostStreamOp, RouteOp
from .memory import BufferOp, ExportOp, InitializeOp, ParamOp
from .program import PeOp, ProgramOp
from .queues import FifoOp, InputQueueOp, OutputQueueOp
from .symbols import SymbolUser, described

_OperationT = TypeVar("_OperationT", bound=Operation)


@dataclass(frozen=True)
class Scope:
    """What the operations of one PE program may name, and the machine it is for.

    Built once for each `wse.pe`, so that checking all uses of symbols costs one walk of the program.
    """

    target: Target
    rectangle: tuple[int, int]
    program: Mapping[str, Operation]
    pe: Mapping[str, Operation]
    pe_name: str

    def find(self, symbol: SymbolRefAttr | str) -> Operation:
        """The operation that defines `symbol`; raises VerifyException if there is none."""
        name = symbol if isinstance(symbol, str) else symbol.string_value()
        found = self.pe.get(name) or self.program.get(name)
        if found is None:
            raise VerifyException(
                f"@{name} is not defined in wse.pe @{self.pe_name} or its program; define it or correct the name"
            )
        return found

    def color(self, symbol: SymbolRefAttr | str) -> ColorOp:
        """The color called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, ColorOp, "a color")

    def buffer(self, symbol: SymbolRefAttr | str) -> BufferOp:
        """The buffer called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, BufferOp, "a buffer")

    def fifo(self, symbol: SymbolRefAttr | str) -> FifoOp:
        """The FIFO called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FifoOp, "a FIFO")

    def param(self, symbol: SymbolRefAttr | str) -> ParamOp:
        """The parameter called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, ParamOp, "a parameter")

    def func(self, symbol: SymbolRefAttr | str) -> FuncOp:
        """The function called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FuncOp, "a function")

    def input_queue(self, symbol: SymbolRefAttr | str) -> InputQueueOp:
        """The input queue called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, InputQueueOp, "an input queue")

    def output_queue(self, symbol: SymbolRefAttr | str) -> OutputQueueOp:
        """The output queue called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, OutputQueueOp, "an output queue")

    def task_to_activate(self, symbol: SymbolRefAttr | str) -> TaskOp:
        """The local task called `symbol`: nothing else can be activated (DSD-190, DSD-191)."""
        found = self.find(symbol)
        if not isinstance(found, TaskOp) or found.task_kind is not TaskKind.LOCAL:
            raise VerifyException(f"{described(found)} cannot be activated; name a local task (wse.task ... local)")
        return found

    def check_unblock(self, symbol: SymbolRefAttr | str, done: str = "unblocked") -> None:
        """Accept what can be unblocked on the target: DSD-192, DSD-193, DSD-204 to DSD-206."""
        found = self.find(symbol)
        if isinstance(found, TaskOp) and found.task_kind is not TaskKind.CONTROL:
            return
        by_color = self.target.data_tasks_by_color
        if isinstance(found, ColorOp if by_color else InputQueueOp):
            return
        other = "a color" if by_color else "an input queue"
        raise VerifyException(
            f"{described(found)} cannot be {done} on {self.target.name}; name a local task, a data task or {other}"
        )

    def _of_kind(self, symbol: SymbolRefAttr | str, kind: type[_OperationT], noun: str) -> _OperationT:
        found = self.find(symbol)
        if not isinstance(found, kind):
            raise VerifyException(f"{described(found)} stands where {noun} is needed; name {noun}")
        return found


def _verify_symbols(user: SymbolUser, scope: Scope) -> None:
    """Report an error at the operation that made it, not at the program that found it."""
    try:
        user.verify_symbols(scope)
    except VerifyException as error:
        user.emit_error(f"Operation does not verify: {error}", error)


def _verify_color_id(color: ColorOp, taken: dict[int, str], target: Target) -> None:
    if color.id is None:
        return
    number, name = color.id.value.data, color.sym_name.data
    if not 0 <= number < target.routable_colors:
        raise VerifyException(
            f"color @{name} has id {number}, which {target.name} does not offer; choose one from 0 to "
            f"{target.routable_colors - 1}"
        )
    _verify_unique(taken, number, "color", name)


def _verify_unique(taken: dict[int, str], number: int, noun: str, name: str) -> None:
    if (other := taken.setdefault(number, name)) != name:
        raise VerifyException(f"{noun} @{name} has id {number}, which @{other} has already; give one another id")


_PE_MEMBERS = (
    BufferOp, InitializeOp, FifoOp, InitialOp, ParamOp, ExportOp, InputQueueOp, OutputQueueOp, FuncOp, TaskOp
)  # fmt: skip


def verify_program_members(program: ProgramOp, target: Target) -> None:
    """Check all that the operations of a program name; raises VerifyException, or reports an error where it is made."""
    symbols = symbols_of(program)
    ids: dict[int, str] = {}
    for op in program.body.block.ops:
        match op:
            case PeOp():
                scope = Scope(target, program.rectangle, symbols, symbols_of(op), op.sym_name.data)
                for user in walk(op):
                    if isinstance(user, SymbolUser):
                        _verify_symbols(user, scope)
            case ColorOp():
                _verify_color_id(op, ids, target)
            case RouteOp() | HostStreamOp():
                _verify_symbols(op, Scope(target, program.rectangle, symbols, {}, ""))
            case _:
                raise VerifyException(
                    f"{op.name} does not belong in a wse.program directly; only colors, routes, host streams and "
                    "PE programs do"
                )


def verify_pe_members(pe: PeOp) -> None:
    """Check the members of a PE program, the names of its exports and the ids of its tasks; raises VerifyException."""
    exported: set[str] = set()
    task_ids: dict[TaskKind, dict[int, str]] = {kind: {} for kind in TaskKind}
    for op in pe.body.block.ops:
        if not isinstance(op, _PE_MEMBERS):
            raise VerifyException(f"{op.name} does not belong in a wse.pe directly; put it into a wse.func or wse.task")
        if isinstance(op, ExportOp):
            if op.exported_name in exported:
                raise VerifyException(f'"{op.exported_name}" is exported twice; give one of them another name')
            exported.add(op.exported_name)
        elif isinstance(op, TaskOp) and (number := op.task_id) is not None:
            _verify_unique(task_ids[op.task_kind], number, f"{op.task_kind} task", op.sym_name.data)
