"""Parameters of a wafer; the numbers are in `wse2` and `wse3`.

A `Target` is plain data; replace a field with `dataclasses.replace(target, dsr_dest=32)` to explore
another machine. Knows nothing of IR, passes or the engine.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from math import ceil

from ..diagnostics.records import record
from .wavelets import SETTINGS

LEVELS = ("low", "medium_low", "medium", "medium_high", "high")
"""Priorities of what shares the datapath of a PE, the lowest first (DSD-225, DSD-233, DSD-234)."""


@record
class Timing:
    """The cost model, in cycles. Every figure is an estimate, and so is all that is computed from it."""

    hop: int
    """From one router to the next; each link also takes one wavelet a cycle."""
    link_words: int
    """Wavelets that a link holds, the buffers at its ends included."""
    turn: int
    """Extra, where a route leaves a router in another direction than it came."""
    inject: int
    """From the first element that a send hands over to its wavelet on the link."""
    forward: int
    """Extra, where the wavelet is made of another that the operation takes."""
    ramp: int
    """From a router to the queue of its own PE."""
    task_start: int
    """From the last wavelet of an operation to the first instruction of the task it activates."""
    launch: int
    """From a call of the host to the start of the function on the PEs, through <memcpy>."""

    # Scalar code; the classes are described in `operations.costs`.
    instruction: int
    """A scalar instruction without a price of its own."""
    float_latency: int
    """A floating-point instruction that the next one depends on."""
    branch_not_taken: int
    branch_taken: int
    loop: int
    """An iteration of a loop, besides its test and its step."""
    call: int
    """A call that leads to no function that has not returned yet."""
    recursive_call: int
    access_16: int
    """A load or store of 8 or 16 bits at an address that is known."""
    access_32: int
    indexed_access_16: int
    """A load or store of 8 or 16 bits with an index that is computed."""
    indexed_access_32: int
    integer_division_16: int
    """A quotient or remainder."""
    integer_division_32: int
    float_division_16: int
    float_division_32: int
    square_root_16: int
    """Roots and their reciprocals."""
    square_root_32: int
    exponential_16: int
    exponential_32: int
    logarithm_16: int
    logarithm_32: int
    trigonometric_16: int
    """Sine and the like, and their inverse functions."""
    trigonometric_32: int
    hyperbolic_16: int
    """Hyperbolic functions, their inverse functions, and the error function."""
    hyperbolic_32: int
    power_16: int
    power_32: int
    descriptor: int
    """A change of a descriptor."""
    register_load: int
    """A load of a data structure register."""
    task_control: int
    """An activation, a block or an unblocking."""
    timestamp: int
    """A read of the clock."""

    # DSD operations
    memory_setup: int
    """Before the first element of an operation in memory."""
    send_setup: int
    """Before the first element of a synchronous operation that sends."""
    receive_setup: int
    """Before the first element of an operation that receives, or works with a FIFO."""
    register_setup: int
    """Instead of these, where all descriptors of an operation are in data structure registers that the program has
    loaded itself."""
    async_issue: int
    """What an asynchronous operation costs the thread that starts it."""
    read_words: int
    """16-bit words read from memory in one cycle."""
    half_lanes: int
    """16-bit elements computed in one cycle."""
    single_lanes: int
    """32-bit elements computed in one cycle."""
    single_multiply: Fraction
    """Cycles for one 32-bit floating-point product, with or without the sum."""
    reduction: int
    """Cycles for one element accumulated into a scalar."""
    elements: tuple[tuple[str, Fraction], ...] = ()
    """Cycles for one element of DSD operations that have a price of their own, by name: `fmacs`, `mov16`. These do not
    follow from the fields above, but strides and accumulation into a scalar still make them slower."""

    def element_cycles(
        self, function: str, bits: tuple[int, ...], strides: tuple[int, ...], name: str | None = None
    ) -> Fraction:
        """Return cycles for one element of a DSD operation that computes `function` ("move", "multiply_add", ...).

        `bits` are the widths of its elements, destination first, then the sources. `strides` are those of the
        operands in memory, destination first, in elements. A destination that stays in place (stride 0)
        makes any operation but a move a reduction. Words skipped by a stride are read too, but an element never
        costs more than one whole read. `name` is that of the operation, which may have a price in `elements`.
        """
        words = bits[0] // 16
        own = next((price for each, price in self.elements if each == name), None)
        if own is not None:
            cycles = own
        elif function == "move":
            cycles = Fraction(words, self.read_words)
        elif function in ("multiply", "multiply_add") and min(bits) == 32:
            cycles = self.single_multiply
        else:
            cycles = Fraction(1, self.half_lanes if bits[0] == 16 else self.single_lanes)
        if strides and strides[0] == 0 and function != "move":
            cycles = max(cycles, Fraction(self.reduction))
        widest = max((abs(stride) for stride in strides), default=1)
        return max(cycles, Fraction(min(widest * words, self.read_words), self.read_words))


def pace(cycles: Fraction) -> int:
    """Return the whole cycles from an element to the next of an operation that sends or receives, given those of an
    element: the nearest number, the lower of two, and 1 at least.

    A product costs more than a cycle on average because two operands may be in one bank of memory, which they are not
    where one comes from a queue.
    """
    return max(1, ceil(cycles - Fraction(1, 2)))


PRICES = tuple(
    each.name for each in fields(Timing) if each.type == "int" and not each.name.endswith(("words", "lanes"))
)
"""The fields of `Timing` that are cycles, and whole numbers."""


@record
class MemcpyResources:
    """What the memcpy library uses on each PE, so that a program with it must not."""

    colors: tuple[int, ...] = ()
    local_task_ids: tuple[int, ...] = ()
    control_task_ids: tuple[int, ...] = ()
    input_queues: tuple[int, ...] = ()
    output_queues: tuple[int, ...] = ()
    microthreads: tuple[int, ...] = ()
    dsr_dest: tuple[int, ...] = ()
    dsr_src1: tuple[int, ...] = ()


@record
class Registers:
    """Word addresses of the configuration registers of a PE that are simulated; `targets.wavelets` has their bits.

    Those of colors, and of switches on WSE-2, are published in programs; all others are assumed.
    """

    addresses: range = range(0x7C00, 0x8000)
    """Where registers are."""
    colors: int = 0x7C00
    """Color c at colors + c: its route, pop mode and teardown phase. A multiple of 32, as the next ones."""
    switches: int = 0x7F40
    """Its switch: current position and ring mode; on WSE-2 also positions 1 to 3."""
    positions: tuple[int, ...] = (0x7F60, 0x7F80, 0x7FA0)
    """Positions 1 to 3 of its switch; empty on WSE-2."""
    queue_priorities: range = range(0)
    """Input queue q at queue_priorities[q] on WSE-2: the priority of its microthread in public programs. Not simulated:
    what is written changes nothing, and 0 is read."""
    filters: int = 0x7F00
    """Filter f at filters + 4 f: its limit, the counter up to which wavelets pass, and its counter."""
    teardown_pending: int = 0x7FC0
    """Two words: the colors that have been torn down since it was read."""
    settings: int = 0x7FC8
    """One word for each of `targets.wavelets.SETTINGS`."""
    clock: int = 0x7FD0
    """Three words of the clock, the low one first, and one that programs write to let it run, which it always does."""
    queues: int = 0x7FC2
    """Six words: the status of the input queues and of the output queues, which are empty (low byte) and full; which of
    them have been flushed; and two that a program writes the id of a queue to that is to be flushed."""


@record
class Target:
    """One generation of the wafer as a program sees it."""

    name: str
    fabric: tuple[int, int]
    """Columns and rows of PEs of the whole machine."""
    memory_bytes: int
    """Memory of one PE, code and data together."""
    routable_colors: int
    switch_colors: tuple[int, ...]
    """Colors whose routes can have switch positions."""
    switch_changes_both_ways: bool
    """A switch position can change where a color comes from and where it goes, and send it to any number of ports;
    otherwise it changes one of them, to one port."""
    filters: int
    """Filters of a PE."""
    local_task_ids: range
    reserved_local_task_ids: tuple[int, ...]
    """Inside `local_task_ids`, but kept by the system."""
    control_task_ids: range
    input_queue_words: tuple[int, ...]
    """Length of each input queue, in 32-bit wavelets; the position is the queue's id."""
    output_queue_words: tuple[int, ...]
    """Length of each output queue, in 32-bit wavelets; the position is the queue's id."""
    microthreads: int
    dsr_dest: int
    dsr_src0: int
    dsr_src1: int
    xdsrs: int
    srs: int
    fifos: int
    fifo_alignment: int
    """In bytes."""
    fifo_actions: bool
    """Every action on an empty or full FIFO can be chosen; otherwise none of a full one, and of an empty one only to
    stop, with or without a report."""
    max_fabric_inputs: int
    """How many operands of one DSD operation may come from the fabric."""
    data_tasks_by_color: bool
    """Data tasks have the number of their color and are blocked by it; otherwise those of their queue."""
    queues_keep_color: bool
    """A queue is bound to its color when the program starts, and must be declared."""
    microthread_of_queue: bool
    """An operation runs on the microthread that has the number of its queue; otherwise on any."""
    operation_priority: bool
    """A priority is given to an operation; otherwise to a fabric descriptor."""
    default_priority: str
    """The priority of an asynchronous operation for which none is given, one of `LEVELS`."""
    main_thread_priority: str
    """That of the operations for which tasks wait, unless the program raises it."""
    timing: Timing
    memcpy: MemcpyResources = MemcpyResources()
    message_colors: tuple[int, ...] = ()
    """What <message_passing> uses wherever it is imported, the color that receivers get messages on last; empty where
    there is no such library."""
    flush_poll: int = 8
    """Cycles from one look at a queue that is to be flushed to the next. Assumed."""
    teardown_task: int = 29
    """The local task that a teardown command starts on the PE of each router that it passes."""
    registers: Registers = Registers()
    call_bytes: int = 2
    """What a call takes of the PE's memory while it is open: where it returns to. Assumed."""
    call_register_bytes: int = 4
    """What it takes besides for each register of the function that changes. Assumed: each is kept, and has 32 bits."""

    instruction_bytes: int = 4
    """Of an instruction of the tables, for estimates of the size of code. Assumed: 32 bits, and as many instructions
    as the machine has for the same."""

    @property
    def settings(self) -> range:
        """The word addresses of the registers of settings."""
        return range(self.registers.settings, self.registers.settings + len(SETTINGS))

    @property
    def input_queues(self) -> int:
        return len(self.input_queue_words)

    @property
    def output_queues(self) -> int:
        return len(self.output_queue_words)
