"""Trace of a dry run: the steps of all cores in an order in which they may happen, and the steps each waits for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from xdsl.ir import Operation

from ....dialects.pto.attributes import HardwarePipe
from .signals import Signals
from .values import Region

Kind: TypeAlias = Literal[
    "load", "store", "move", "compute", "product",
    "push", "pop", "alloc", "free", "drain",
    "barrier", "set", "wait", "scalar",
]  # fmt: skip
"""Kinds of steps: of tiles, of pipes between cores, and of the pipes of one core."""


class Core(NamedTuple):
    """A core: its block, and its number in it, 0 for the cube core and 1 and 2 for the vector cores."""

    block: int
    column: int
    device: int | None = None
    """None if there is only one."""

    def __str__(self) -> str:
        """Return its name in messages."""
        return f"{'' if self.device is None else f'device {self.device} '}block {self.block} {self.name}"

    def memory(self, space: str) -> str:
        """Return the name of one of its memories, which begins with its block."""
        return f"block {self.block} {self.name}{'' if self.device is None else f' of device {self.device}'} {space}"

    @property
    def name(self) -> str:
        """Its name within the block."""
        return "AIC" if self.column == 0 else f"AIV{self.column - 1}"


class Access(NamedTuple):
    """An access to memory: an array in global memory, or a memory of the core; its bytes, None if unknown."""

    memory: str
    region: Region | None
    writes: bool
    contents: object = None
    """A key of the contents stored: the same for the same contents; None if unknown."""
    adds: bool = False
    """True if it adds to what is there, atomically."""
    rows: object = None
    """A key of the rows stored: of two stores with one key, each row is the same wherever both have it; None if that is
    not known."""


@dataclass(slots=True)
class Step:
    """One operation of one core."""

    core: int
    """The number of the core in `Trace.cores`."""
    op: Operation
    kind: Kind
    pipe: HardwarePipe
    """The pipe of the core that performs it."""
    accesses: tuple[Access, ...] = ()
    after: tuple[int, ...] = ()
    """The steps of other cores, or of other pipes of the core, that it waits for."""
    extents: tuple[int, ...] = ()
    """Rows and columns of the elements; M, K and N of a product."""
    size: int = 4
    """Bytes of an element."""
    channel: str = ""
    number: int = 0
    """The entry, for steps on pipes between cores."""
    joins: tuple[HardwarePipe, ...] = ()
    """The pipes of the core that a barrier waits for, or the one that a flag is for."""


class Problem(NamedTuple):
    """Something wrong that the dry run meets: its code, the operation, and the message; an error unless `may`."""

    code: str
    op: Operation
    message: str
    may: bool = False
    core: int = -1
    """The core that meets it."""


@dataclass
class Trace:
    """The steps of a program; `complete` if all cores have ended."""

    cores: list[Core]
    steps: list[Step] = field(default_factory=list[Step])
    iterations: int = 0
    """Iterations of loops so far."""
    complete: bool = False
    reason: str = ""
    """Why the run has stopped, if it is not complete."""
    problems: dict[tuple[str, Operation], Problem] = field(default_factory=dict[tuple[str, Operation], Problem])
    slots: set[str] = field(default_factory=set[str])
    """The arrays that contain slots of pipes."""
    unknown_order: set[int] = field(default_factory=set[int])
    """The cores that order their pipes also by what a dry run does not follow."""
    orders_cores: bool = False
    """True if the program orders its cores also by what a dry run does not follow."""
    unchecked: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """Operations that order cores in a way that a dry run does not follow, and why it does not."""
    asks_lane: bool = False
    """True if vector cores ask which of the two they are."""
    launches: int = 1
    """The number of launches in a row, of which this trace is the first."""
    signals: Signals = field(default_factory=Signals)
    """Signals between cores of several devices."""
    explicit: set[int] = field(default_factory=set[int])
    """The cores whose program orders its pipes by flags; the pipes of the others are ordered by the compiler."""

    def report(self, problem: Problem) -> None:
        """Note a problem, the first of each code and operation."""
        self.problems.setdefault((problem.code, problem.op), problem)
