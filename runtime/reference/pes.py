"""PEs: the state of each, and what those of a class have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ...targets.wavelets import CONTROL_MASK_BITS, INDEX_SHIFT, SETTINGS, WORD_BITS
from .arithmetic import Element
from .descriptors import Descriptor, Held
from .fifos import Fifo
from .program import Operation, Settings, Use
from .queues import InputQueue, OutputQueue
from .resources import Resource, User
from .tasks import NEVER, Task
from .variables import Variables

if TYPE_CHECKING:
    from .microthreads import Gate
    from .priorities import Datapath

CONTROL_MASK, MAIN_THREAD, LOW_TASKS, HIGH_TASKS = range(len(SETTINGS))

NOT_BEGUN, WANTS_STEP = -1, -2
"""In place of an instruction: the start of a task that is not counted yet, before and after it is traced."""


@dataclass(eq=False, slots=True)
class Frame:
    """An activation of a use: its registers and descriptors, and where it goes on."""

    use: Use
    registers: list[int]
    descriptors: list[Descriptor | None]
    caller: Frame | None = None
    results: int = 0
    """The register of the caller that takes the first result."""
    depth: int = 1
    """Activations that are open, this one included."""
    stack: int = 0
    """Bytes of the PE's memory that the calls take which are open."""
    pc: int = 0
    """The next instruction; negative if the step of the task's start has not been counted."""


@dataclass(eq=False)
class UnitClass:
    """What the PEs of a class have in common."""

    number: int
    row: Any
    words: int
    """16-bit words of memory of each PE."""
    stack_room: int
    """Bytes of it for the calls that are open."""
    variables: Variables
    traps: bool
    """True if floating point exceptions may stop its PEs."""
    levels: int
    """Levels of priority that its operations on queues and FIFOs have, as bits; 0 if they are all alike."""
    blockable: int
    """Microthreads that its code, or its start, may block, as bits."""
    settings: tuple[int, ...]
    """What the registers of `SETTINGS` hold at the start."""


@dataclass(eq=False, slots=True)
class PE:
    """A PE. Times are cycles."""

    number: int
    """y * width + x."""
    x: int
    y: int
    unit: int
    """Its number in its class, by rows of the grid."""
    cls: UnitClass
    memory: memoryview
    clock: int = 0
    """When it is free."""
    queued: int = NEVER
    """The cycle for which it is to pick a task, NEVER if there is none."""
    tasks: dict[int, Task] = field(default_factory=dict[int, Task])
    """By row, in the order in which they come first."""
    control_tasks: dict[int, Task] = field(default_factory=dict[int, Task])
    data_tasks: dict[int, Task] = field(default_factory=dict[int, Task])
    """By id."""
    inputs: dict[int, InputQueue] = field(default_factory=dict[int, InputQueue])
    outputs: dict[int, OutputQueue] = field(default_factory=dict[int, OutputQueue])
    fifos: dict[int, Fifo] = field(default_factory=dict[int, Fifo])
    registers: dict[tuple[int, int], Held] = field(default_factory=dict[tuple[int, int], Held])
    """Data structure registers, by file and number."""
    threads: dict[int, Resource] = field(default_factory=dict[int, Resource])
    """Microthreads that have been used."""
    unmasked: int = 0
    """Floating point exceptions that stop it, as bits."""
    datapath: Datapath | None = None
    """Its datapath, if its operations have several priorities, or their microthreads may be blocked."""
    gates: dict[int, Gate] = field(default_factory=dict[int, "Gate"])
    """Of the microthreads that may be blocked."""
    turn: int = -1
    """The cycle in which its task may use configuration registers."""
    torn_down: int = 0
    """Colors that have been torn down at its router since it was told, as bits by their ids."""
    flushing: list[int] = field(default_factory=lambda: [0, 0])
    """Input queues, and output queues, that are to be flushed, as bits..."""
    flushed: list[int] = field(default_factory=lambda: [0, 0])
    """... and those that have been."""
    clock_origin: int = 0
    """The cycle at which its clock would show 0."""
    clock_is_started: bool = False
    """True if the program has started it, by an instruction."""
    clock_control: int = 0
    """What it has written to let its clock run."""
    settings: list[int] = field(default_factory=list[int])
    """What its registers of `SETTINGS` hold."""
    teardown_task: Task | None = None
    """Is activated when a color is torn down."""

    # The task that runs, or waits for an operation
    task: Task | None = None
    frame: Frame | None = None
    now: int = 0
    """The cycle that the task has come to."""

    @property
    def control_mask(self) -> int:
        """What is changed of the control wavelets that it sends with `control_transform`."""
        return (self.settings[CONTROL_MASK] & (1 << CONTROL_MASK_BITS) - 1) << INDEX_SHIFT

    @property
    def main_level(self) -> int:
        """The level of the operations for which its tasks wait, as a place in `LEVELS`."""
        return 1 + (self.settings[MAIN_THREAD] & 3)

    @property
    def high_tasks(self) -> int:
        """The tasks with a high priority, as bits by their ids."""
        return self.settings[LOW_TASKS] | self.settings[HIGH_TASKS] << WORD_BITS

    @property
    def bytes(self) -> int:
        """Bytes of its memory that a program may touch."""
        return 2 * self.cls.words

    # Memory

    def read(self, address: int, size: int) -> int:
        """Return `size` bytes at a byte address as an unsigned integer."""
        return int.from_bytes(self.memory[address : address + size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """Write `size` bytes at a byte address from an unsigned integer."""
        self.memory[address : address + size] = value.to_bytes(size, "little")


class Issue(NamedTuple):
    """An operation that a PE has issued."""

    pe: PE
    operation: Operation
    settings: Settings
    """Those of the operation, or of a register among its operands."""
    user: User
    """Its row, the task that issued it and its source place."""
    element: Element
    """Computes its elements, one after the other."""
    result: int | None
    """The register that says if it has completed."""
    load: int | None = None
    """The row of register loads that says how it runs, if that is not the operation's own."""

    @property
    def is_async(self) -> bool:
        """True if the task goes on while it runs."""
        return self.settings.is_async
