"""Sentences of findings: what each code means to the person who wrote the program."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import prod
from typing import TypeAlias

import numpy as np

from ...diagnostics.errors import LoomError
from ...operations import float_exceptions
from ...operations.print_format import assertion_message
from ...targets.wavelets import PORTS, WORD_MASK
from ..fabric.classes import areas_of, words_in_use
from ..fabric.model import Fabric
from ..findings import EARLIER_WRITES, LATER_WRITES, NOTES, Code, Finding, is_error
from ..tables.format import INPUT, NONE, TASK_TYPES
from ..tables.instructions import BITS, CONTROL, KINDS
from ..warnings import Warnings
from .lost import leaving_wavelets, lost_wavelets, missing_ramp
from .places import Names


class Subject(Names):
    """A finding, and the words for what it names."""

    def __init__(self, fabric: Fabric, finding: Finding) -> None:
        super().__init__(fabric)
        self.finding = finding
        self.values = finding.values
        self.owner = int(fabric.pe_class[finding.pe])
        self.here = self.pe(finding.pe)

    @property
    def words(self) -> int:
        """The 16-bit words of memory of the PE."""
        return int(self.fabric.words[self.owner])

    @property
    def memory(self) -> str:
        """The memory that an address is outside of."""
        used = words_in_use(int(self.tables["classes"]["words"][self.owner]))
        return "its memory in use" if self.words == used else "its memory"

    @property
    def doing(self) -> str:
        """The operation that is the first value, with the task that was running."""
        return self.operation(self.values[0], self.finding.task)

    def color_of(self, queue: int) -> str:
        """Return the color that a queue serves on the PE."""
        return self.color(self.color_at(queue, self.finding.pe))

    @property
    def route(self) -> int:
        """The source place of the route, at the PE, of the color that is the first value; 0 if it is not known."""
        routes, (row, column) = self.tables["routes"], divmod(self.finding.pe, self.fabric.width)
        found = 0
        for route in routes[routes["color"] == self.values[0]]:
            if any(column in columns and row in rows for columns, rows in areas_of(self.tables, route)):
                found = int(route["where"])  # a later route holds where two meet
        return found

    def extent(self, buffer: int, dimension: int) -> int:
        """Return an extent of a buffer."""
        return int(self.tables["dims"][int(self.tables["buffers"]["dims"][buffer]) + dimension])

    def doing_of(self, operation: int) -> str:
        """Return an operation with the task that was running."""
        return self.operation(operation, self.finding.task)

    def ended(self, operation: int) -> str:
        """Return the name of the task that the end of an operation, or the control wavelet that ends it, starts; empty
        if the operation says none."""
        row = self.tables["operations"][operation]
        names = ("activate", "unblock", "control_activate", "control_unblock")
        found = next((int(row[name]) for name in names if row[name] != NONE), None)
        return "" if found is None else self.task(found)

    def element(self, word: int) -> str:
        """Return an element at a word of memory of the PE: "element 3 of @y", or its address."""
        buffer = self.buffer_at(word)
        if buffer is None:
            return f"word address {word}"
        bits = max(8, BITS[KINDS[int(self.tables["buffers"]["kind"][buffer])]])
        return f"element {16 * (word - self.buffer_words(buffer)[0]) // bits} of @{self.text('buffers', buffer)}"

    def buffer_at(self, word: int) -> int | None:
        """Return the buffer of the PE that a word of memory is in, or None."""
        for buffer in np.flatnonzero(self.tables["buffers"]["elements"]).tolist():
            start, end = self.buffer_words(buffer)
            if start <= word < end and int(self.tables["buffers"]["owner"][buffer]) == self.owner:
                return buffer
        return None

    def buffer_words(self, buffer: int) -> tuple[int, int]:
        """Return the first word of a buffer, and the one behind it."""
        record = self.tables["buffers"][buffer]
        start = int(record["address"])
        size = max(8, BITS[KINDS[int(record["kind"])]]) // 8
        return start, start + (int(record["elements"]) * size + 1) // 2


Sentence: TypeAlias = Callable[[Subject], str]

AT_ROUTERS = (Code.SWITCHES_LOOP, Code.TEARDOWN, Code.TEARDOWN_UNHANDLED, Code.COLOR_NOT_TAKEN)
"""Findings at a router: the place to look at is where its route is given."""

MISSING_REMEDY = "with @initialize_queue in a comptime block (AMB-34)"
MISSING_IN_DSD = "with '.fabric_color' in its fabout_dsd (AMB-34)"
ROUTE_REMEDY = "with @set_color_config, or with paint or connect in an SdkLayout"


def sentence(fabric: Fabric, finding: Finding) -> tuple[str, str | None]:
    """Return the sentence of a finding, and its source place."""
    subject = Subject(fabric, finding)
    place = subject.route or finding.where if finding.code in AT_ROUTERS else finding.where
    return SENTENCES[Code(finding.code)](subject), subject.where(place)


def deliver(fabric: Fabric, finding: Finding, warnings: Warnings) -> None:
    """Print a finding that is a warning, unless its source place has had one; raise LoomError for one that is not."""
    message, where = sentence(fabric, finding)
    if is_error(finding.code):
        raise LoomError(message, where)
    warnings.warn(where, message, "note" if finding.code in NOTES else "warning")


def show_index(value: int) -> str:
    """Return an index for a message. Types of IR have no sign: a large unsigned index of 16 bits is negative here."""
    return f"{value} ({value & 0xFFFF} if it is unsigned)" if -0x8000 <= value < 0 else str(value)


# Scalar code


def _address_outside(of: Subject) -> str:
    return (
        f"byte address {of.values[0]} on {of.here} is outside {of.memory}, bytes 0 to {2 * of.words - 1}; check the "
        "pointer"
    )


def _address_odd(of: Subject) -> str:
    address, size = of.values[:2]
    return (
        f"an element of {8 * size} bits is accessed at odd byte address {address} on {of.here}; only elements of 8 "
        "bits can be, so copy its bytes one by one"
    )


def _index(of: Subject) -> str:
    index, dimension, buffer = of.values[:3]
    return (
        f"index {show_index(index)} of dimension {dimension} is outside @{of.text('buffers', buffer)}, which has "
        f"{of.extent(buffer, dimension)} elements there, on {of.here}"
    )


def _index_outside_memory(of: Subject) -> str:
    return f"{_index(of)}, and outside {of.memory}; check the loop bounds"


def _index_outside(of: Subject) -> str:
    return f"{_index(of)}: the access is to the memory next to it; check the loop bounds"


def _assertion(of: Subject) -> str:
    row, value = of.values[:2]
    text = of.text("messages", row, "text")
    if of.tables["messages"]["shows_value"][row]:
        text = assertion_message(text, value)
    return f"the assertion fails on {of.here}: {text}"


def _stack_full(of: Subject) -> str:
    use, depth, stack, room = of.values[:4]
    name = of.text("bodies", int(of.tables["uses"]["body"][use]))
    memory = of.fabric.target.memory_bytes
    return (
        f"function @{name} is called on {of.here} with {depth} calls open; the stack would then have {stack:,} bytes, "
        f"but of the {memory:,} bytes of memory the variables leave {room:,}; end the recursion before, or write a loop"
    )


def _float_exception(of: Subject) -> str:
    bits, count, *values = of.values
    result, *operands = (struct.unpack("<d", struct.pack("<q", value))[0] for value in values)
    return float_exceptions.message(bits, operands[:count], result, of.here)


def _directives_differ(of: Subject) -> str:
    number, row, arguments, first, first_arguments, pe = of.values
    line = "column" if of.tables["directives"]["axis"][row] else "row"

    def words(directive: int, packed: int) -> str:
        name = of.text("directives", directive)
        return f"{name} with root {packed >> 16 & WORD_MASK} and count {packed & WORD_MASK}"

    return (
        f"directive {number + 1} of a {line} is {words(row, arguments)} on {of.here}, but "
        f"{words(first, first_arguments)} on {of.pe(pe)}; call the same directives with the same root and count, in "
        f"the same order, on all PEs of the {line}"
    )


def _odd_word(of: Subject, what: str) -> str:
    return (
        f"{what} 32-bit elements at byte address {2 * of.values[0]} on {of.here}, which is not a multiple of 4; align "
        "the variable that the pointer or DSD is made of with align(4)"
    )


# Data structure registers


def _register_empty(of: Subject) -> str:
    return (
        f"nothing has been loaded into {of.register(*of.values[:2])} of {of.here}, which an operation uses; load a "
        "descriptor into it first"
    )


def _register_without_fifo(of: Subject) -> str:
    return (
        f"{of.register(*of.values[:2])} of {of.here} does not hold a FIFO, as an operation expects; give the FIFO this "
        "register (DSR-015)"
    )


def _register_width(of: Subject) -> str:
    _, file, number, wanted, held = of.values[:5]
    return (
        f"{of.doing} takes {KINDS[wanted]} from {of.register(file, number)}, which was loaded with elements of "
        f"{KINDS[held]} on {of.here}"
    )


# Operations


def _walk_outside_memory(of: Subject) -> str:
    _, word, buffer = of.values[:3]
    walked = "" if buffer == NONE else f" by way of @{of.text('buffers', buffer)}"
    return (
        f"{of.doing} reaches word address {word} on {of.here}{walked}, outside {of.memory}, words 0 to "
        f"{of.words - 1}; check the pointer, offset, stride and extent"
    )


def _walk_leaves_buffer(of: Subject) -> str:
    _, word, buffer, width = of.values[:4]
    start, end = of.buffer_words(buffer)
    return (
        f"{of.doing} reaches element {(word - start) // width} of @{of.text('buffers', buffer)}, which has "
        f"{(end - start) // width}, on {of.here}, and continues in the memory next to it; check its offset, stride and "
        "extent"
    )


def _walk_too_long(of: Subject) -> str:
    extents = [extent for extent in of.values[:4] if extent]
    return (
        f"a stream of extents {extents} has {prod(extents):,} elements, far beyond the memory of a unit; check the "
        "extents"
    )


def _together(of: Subject, what: str, remedy: str) -> str:
    later, earlier, task = of.values[:3]
    same = (later, of.finding.task, of.finding.where) == (earlier, task, of.values[5] or of.finding.where)
    other = "itself, started before," if same else f"{of.operation(earlier, task)}{of.issued_at(earlier, task)}"
    return f"{of.doing} and {other} use {what} at the same time on {of.here}; {remedy}"


def _uses_queue(of: Subject) -> str:
    queue = of.values[3]
    direction = "input" if of.tables["queues"]["direction"][queue] == INPUT else "output"
    remedy = "give them different queues or start the second when the first has completed (DSD-208)"
    return _together(of, f"{direction} queue {of.queue(queue)}", remedy)


def _uses_microthread(of: Subject) -> str:
    remedy = "give them different ids (ut) or start the second when the first has completed (DSD-209)"
    return _together(of, f"microthread {of.values[3]}", remedy)


def _uses_fifo(of: Subject) -> str:
    noun = "writer" if of.values[4] else "reader"
    remedy = f"let the second start when the first has completed: a FIFO has one {noun} at a time"
    return _together(of, f"the {noun} of FIFO @{of.text('fifos', of.values[3])}", remedy)


def _sends_without_color(of: Subject) -> str:
    number = of.queue_id(of.values[1])
    remedy = MISSING_REMEDY if of.fabric.target.queues_keep_color else MISSING_IN_DSD
    return f"{of.doing} sends on output queue {number}, which has no color on {of.here}; give it one {remedy}"


def _sends_lost(of: Subject) -> str:
    why = lost_wavelets(of, of.values[1], of.finding.pe)
    return f"{of.doing} on {of.here} sends wavelets that reach no queue: {why}"


def _sends_off_grid(of: Subject) -> str:
    why = leaving_wavelets(of, of.values[1], of.finding.pe)
    return f"{of.doing} on {of.here} sends wavelets off the grid: {why}"


def _sends_swallowed(of: Subject) -> str:
    return (
        f"{of.doing} sends color {of.color_of(of.values[1])}, whose route ends at {of.here} itself; the wavelets are "
        f"lost: do not send there, or add a route {ROUTE_REMEDY}"
    )


def _receives_without_color(of: Subject) -> str:
    number = of.queue_id(of.values[1])
    return (
        f"{of.doing} receives from input queue {number}, which has no color on {of.here}; give it one {MISSING_REMEDY}"
    )


def _receives_unrouted(of: Subject) -> str:
    doing = f"{of.doing} receives color {of.color_of(of.values[1])}"
    pe = of.finding.pe
    if route := missing_ramp(of, of.color_at(of.values[1], pe), pe):
        return f"{doing}, but {route}"
    return f"{doing}, which no route brings to the ramp of {of.here}; add one {ROUTE_REMEDY}"


def _receives_twice(of: Subject) -> str:
    return f"{of.doing} reads input queue {of.queue(of.values[1])} twice; two fabric inputs need two queues"


def _receives_mixed_lanes(of: Subject) -> str:
    return (
        f"{of.doing} takes two values per wavelet from one queue and one from another, which is not simulated yet; use "
        "the same simd_mode"
    )


def _task_may_take(of: Subject) -> str:
    queue = of.values[1]
    task = int(of.tables["queues"]["task"][queue])
    place = of.place_of("tasks", task)
    return (
        f"{of.doing} receives from input queue {of.queue_id(queue)} on {of.here} while data task @{of.task(task)}"
        f"{f' at {place}' if place else ''} of the queue is unblocked and may take the same wavelets; @block it until "
        "the operation has ended"
    )


def _used_in_flight(of: Subject) -> str:
    word, bits, later = of.values[3:]
    does = "writes" if bits & LATER_WRITES else "reads"
    uses = "writes" if bits & EARLIER_WRITES else "reads"
    who = f"this {'store' if bits & LATER_WRITES else 'load'}" if later == NONE else of.doing_of(later)
    other, remedy = _in_flight(of)
    return f"{who} {does} {of.element(word)} on {of.here} while {other}, {uses} it; {remedy}"


def _in_flight(of: Subject) -> tuple[str, str]:
    """Return the asynchronous operation that the first three values are of, and how to wait for its end."""
    operation, task, where = of.values[:3]
    place = of.where(where)
    other = f"{of.operation(operation, task)}{f' at {place}' if place else ''}, which is asynchronous"
    end = of.ended(operation)
    if not end:
        return other, "give that operation a task to activate or unblock when it has ended, and do it there"
    if end == of.task(of.finding.task) == of.task(task):
        return other, f"do it before that is issued, and let nothing else start @{end} before that has ended"
    if end == of.task(of.finding.task):
        return other, f"@{end} has started for another reason: let nothing else start it before that has ended"
    return other, f"do it in @{end}, which starts when that has ended"


def _reloaded_in_flight(of: Subject) -> str:
    other, remedy = _in_flight(of)
    return f"{of.register(*of.values[3:5])} is loaded again on {of.here} while {other}, uses it; {remedy}"


def _reads_unwritten(of: Subject) -> str:
    operation = of.values[1]
    who = "this load" if operation == NONE else of.doing_of(operation)
    return f"{who} reads {_unwritten(of)}; write it before, or give the variable a value, such as @zeros"


def _sums_unwritten(of: Subject) -> str:
    return (
        f"{of.doing_of(of.values[1])} adds to {_unwritten(of)}; it counts on memory that holds zeros at the start: "
        "give the variable a value, such as @zeros"
    )


def _unwritten(of: Subject) -> str:
    word = of.values[0]
    buffer = of.buffer_at(word)
    declared = None if buffer is None else of.where(int(of.tables["buffers"]["where"][buffer]))
    place = f", declared at {declared} without a value" if declared else ""
    return f"{of.element(word)} on {of.here}, which nothing has written{place}"


def _order_of_streams(of: Subject) -> str:
    where, first, second, word, bits, senders = of.values
    does = "writes" if bits & LATER_WRITES else "reads"
    uses = "writes" if bits & EARLIER_WRITES else "reads"
    other = of.where(where)
    return (
        f"what comes by {_input(of, second)} from {of.pe(senders & 0xFFFFFFFF)} {does} {of.element(word)} on {of.here} "
        f"here, and what comes by {_input(of, first)} from {of.pe(senders >> 32)} {uses} it"
        f"{f' at {other}' if other else ''}; nothing decides which comes first, and the result depends on it: @block "
        "one of the two until the other has come, or do it in a task that starts when both have"
    )


def _order_of_senders(of: Subject) -> str:
    queue, first, second = of.values[:3]
    return (
        f"what comes by {_input(of, queue)} on {of.here} is stored in the order of arrival, and {of.pe(first)} and "
        f"{of.pe(second)} both send to the queue; nothing decides which comes first: give each a color and a queue of "
        "its own, let a switch or a wavelet of one say when the other may send, or send the index with the value"
    )


def _input(of: Subject, queue: int) -> str:
    return f"input queue {of.queue(queue)}, color {of.color_of(queue)},"


def _unblocks_early(of: Subject) -> str:
    operation, task, where = of.values[:3]
    place = of.where(where)
    return (
        f"{of.operation(operation, task)}, which is asynchronous, still receives on {of.here} when "
        f"@{of.task(of.finding.task)} calls unblock_cmd_stream(){f' at {place}' if place else ''}, and the host may "
        "read what it receives too early; call it in a task that this operation activates or unblocks when it has ended"
    )


def _starts_unblocked(of: Subject) -> str:
    operation, task, where = of.values[:3]
    place = of.where(where)
    return (
        f"@{of.task(of.finding.task)} starts on {of.here} before {of.operation(operation, task)}"
        f"{f' at {place}' if place else ''} has ended, which is asynchronous and unblocks it at its end: nothing has "
        "blocked it since it was unblocked last; @block it in a comptime block, and again each time that it has started"
    )


def _unblocks_again(of: Subject) -> str:
    where, task = of.values[:2]
    place = of.where(where)
    return (
        f"@{of.task(of.finding.task)} calls unblock_cmd_stream() again on {of.here}, which @{of.task(task)} has called"
        f"{f' at {place}' if place else ''} since the launch; call it once for each launch, where the work that this "
        "starts ends, since the first call lets the host go on"
    )


def _floats_mixed(of: Subject) -> str:
    sent, received, where, queue = of.values[:4]
    place = of.where(where)
    return (
        f"{KINDS[received]} elements are received here from input queue {of.queue(queue)} on {of.here}, but sent as "
        f"{KINDS[sent]}{f' at {place}' if place else ''}; send and receive the same type"
    )


def _lacks(of: Subject) -> str:
    return "full" if of.values[2] else "empty"


def _fifo_fault(of: Subject) -> str:
    return (
        f"{of.doing} finds FIFO @{of.text('fifos', of.values[1])} {_lacks(of)} on {of.here}, which its "
        f"{_lacks(of)}_action makes a fault (DSD-135); choose another action, or prevent it"
    )


def _fifo_in_register(of: Subject) -> str:
    register = of.register(*of.values[3:5])
    return (
        f"{of.doing} finds FIFO @{of.text('fifos', of.values[1])}, which {register} holds, {_lacks(of)} on {of.here}; "
        "take the register as one of a FIFO (DSR-016)"
    )


# Messages of networks


def _message_empty(of: Subject) -> str:
    return f"{of.doing} sends a message of 0 elements on {of.here}; its last element ends a message, so send at least 1"


def _message_too_long(of: Subject) -> str:
    _, count, room = of.values[:3]
    return (
        f"{of.doing} sends a message of {count} elements on {of.here}, but the array has {room}; send no more than it "
        "has (LIB-019)"
    )


def _message_without_front(of: Subject) -> str:
    return (
        f"{of.doing} on {of.here} ends a message of {of.values[1]} wavelets, which has no elements behind its address "
        "and header; send it with send_message"
    )


def _message_off_grid(of: Subject) -> str:
    column, row = of.values[:2]
    return (
        f"{of.here} sends a message to PE ({column}, {row}), which is outside the program rectangle of "
        f"{of.fabric.width} x {of.fabric.height} PEs; correct its column or row (LIB-020)"
    )


def _message_to_nobody(of: Subject) -> str:
    column, row, color = of.values[:3]
    return (
        f"{of.here} sends a message to PE ({column}, {row}), where no operation and no data task receives color "
        f"{of.color(color)}; let one receive messages there, or correct the destination"
    )


def _message_does_not_fit(of: Subject) -> str:
    _, length, room = of.values[:3]
    return (
        f"{of.doing} on {of.here} receives a message of {length} elements into an array of {room}; make the array at "
        "least as long as the longest message (LIB-028)"
    )


def _last_element_lost(of: Subject) -> str:
    value, single = of.values[:2]
    what = "the only element" if single else "the last element"
    return (
        f"{what} of this message to {of.here}, with the bits 0x{value:x}, does not reach the data task there, because "
        "it ends the message; append one element of 0 as padding (LIB-032)"
    )


def _elements_cut(of: Subject) -> str:
    _, sender, count, first = of.values[:4]
    return (
        f"{of.doing} on {of.here} receives elements of 32 bits from {of.pe(sender)} into an array of 16 bits, and cuts "
        f"{count} of them, the first from 0x{first:x} to 0x{first & WORD_MASK:x}; send and receive arrays of the same "
        "type"
    )


# Wavelets and routers


def _control_task_missing(of: Subject) -> str:
    number, queue = of.values[:2]
    tasks, offset = of.tables["tasks"], int(of.tables["queues"]["control_offset"][queue])
    bound: dict[int, int] = {}
    for row in range(len(tasks)):
        if tasks["owner"][row] == of.owner and TASK_TYPES[tasks["type"][row]] == "control":
            bound[int(tasks["number"][row])] = row
    known = ", ".join(f"{entry} (@{of.task(row)})" for entry, row in bound.items())
    table = f", which is {number + offset} in the control task table of the queue," if offset else ""
    return (
        f"a control wavelet with id {number}{table} arrives on color {of.color_of(queue)}, input queue "
        f"{of.queue(queue)}, at {of.here}, where no control task has that id; the control tasks are: {known or 'none'}"
    )


def _switches_loop(of: Subject) -> str:
    return f"wavelets of color {of.color(of.values[0])} loop through {of.here}; end it at a ramp"


def _teardown(of: Subject) -> str:
    return (
        f"a control wavelet of color {of.color(of.values[0])} has a teardown command for the router of {of.here}, "
        "but no program tears it down; give the color '.teardown' or, with @set_teardown_handler, a handler"
    )


def _teardown_unhandled(of: Subject) -> str:
    return (
        f"a control wavelet tears down color {of.color(of.values[0])} at {of.here}, whose program has no teardown "
        "handler for it; add @set_teardown_handler to a comptime block"
    )


def _register_unknown(of: Subject) -> str:
    return (
        f"{of.values[0]:#x} is not the address of a configuration register of {of.here}; registers of a color "
        "are there only if its routes change, so name the color by <tile_config>, or give it '.teardown'"
    )


def _microthread_missing(of: Subject) -> str:
    number, blocks = of.values[:2]
    done = "blocked" if blocks else "unblocked"
    last = of.fabric.target.microthreads - 1
    return (
        f"microthread {number} of {of.here} is {done}, which has microthreads 0 to {last}; give @get_ut_id one of these"
    )


def _message_blocked(of: Subject) -> str:
    return (
        f"{of.doing} sends a message on microthread {of.values[1]}, which is blocked: messages that wait for that are "
        "not simulated; send it when the microthread is unblocked"
    )


def _queue_of(of: Subject) -> str:
    return f"{'output' if of.values[1] else 'input'} queue {of.values[0]} of {of.here}"


def _flushed_twice(of: Subject) -> str:
    return (
        f"{_queue_of(of)} is flushed again before the first flush has ended; end it with queue_flush.exit of "
        "<tile_config> once the queue is empty"
    )


def _flush_unhandled(of: Subject) -> str:
    return (
        f"{_queue_of(of)} is flushed, and the program has no task for when it is empty; add "
        "@set_empty_queue_handler to a comptime block"
    )


def _switch_position_missing(of: Subject) -> str:
    return (
        f"the switch of color {of.color(of.values[0])} at {of.here} is set to position {of.values[1]}, which is not "
        "given; give it before, with switch_config of <tile_config>"
    )


def _index_too_wide(of: Subject) -> str:
    _, queue, control, word = of.values[:4]
    kind, happens = ("control", "loses them") if control else ("data", "may be sent on as a control wavelet")
    return (
        f"{of.doing} receives a {kind} wavelet 0x{word & 0xFFFFFFFF:08x} by input queue {of.queue(queue)} with "
        f"control_transform on {of.here}, whose index uses bit 14 or 15, and {happens}; keep the index below 16384 "
        "(DSD-258)"
    )


def _filter_missing(of: Subject) -> str:
    return f"{of.here} has no counter filter with id {of.values[0]}; give it one of @get_filter_id"


def _color_not_taken(of: Subject) -> str:
    color, port, other = of.values[:3]
    instead = f"those of {of.color(other)}" if other >= 0 else "others"
    return (
        f"wavelets of color {of.color(color)} come to {of.here} from {PORTS[port]}, where the color swaps and takes "
        f"{instead} instead, and no other color takes them; swap both colors there, or neither"
    )


def _never_starts(of: Subject) -> str:
    return (
        f"data task @{of.task(of.finding.task)} never starts: no route brings color {of.color(of.values[0])} to the "
        f"ramp of any PE; add one {ROUTE_REMEDY}"
    )


_INSTRUCTIONS = {"mark": "flow.indexed"}
"""Operations of IR that instructions come from, where the names differ."""


def _descriptor_shape(of: Subject) -> str:
    name = CONTROL[of.values[0]]
    if name == "apply":
        return (
            "flow.apply has a stream of another size of elements, or of a queue of the other direction, than it takes"
        )
    return f"{_INSTRUCTIONS.get(name, f'flow.{name}')} needs a one-dimensional stream of memory or of a queue"


SENTENCES: dict[Code, Sentence] = {
    Code.ADDRESS_OUTSIDE: _address_outside,
    Code.ADDRESS_ODD: _address_odd,
    Code.INDEX_OUTSIDE_MEMORY: _index_outside_memory,
    Code.DIVISION_BY_ZERO: lambda of: f"an integer is divided by zero on {of.here}; guard the divisor",
    Code.ASSERTION: _assertion,
    Code.FAILURE: lambda of: of.text("messages", of.values[0], "text"),
    Code.STACK_FULL: _stack_full,
    Code.STEP_LIMIT: lambda of: (
        f"the program runs past its step limit of {of.values[0]} in @{of.task(of.finding.task)} on {of.here}; raise "
        "the limit, or look for a loop or a task that never ends"
    ),
    Code.FLOAT_EXCEPTION: _float_exception,
    Code.DIRECTIVES_DIFFER: _directives_differ,
    Code.DESCRIPTOR_SHAPE: _descriptor_shape,
    Code.REGISTER_EMPTY: _register_empty,
    Code.REGISTER_WITHOUT_FIFO: _register_without_fifo,
    Code.REGISTER_WIDTH: _register_width,
    Code.WALK_OUTSIDE_MEMORY: _walk_outside_memory,
    Code.WALK_TOO_LONG: _walk_too_long,
    Code.USES_QUEUE: _uses_queue,
    Code.USES_MICROTHREAD: _uses_microthread,
    Code.USES_FIFO: _uses_fifo,
    Code.SENDS_WITHOUT_COLOR: _sends_without_color,
    Code.SENDS_LOST: _sends_lost,
    Code.RECEIVES_WITHOUT_COLOR: _receives_without_color,
    Code.RECEIVES_TWICE: _receives_twice,
    Code.RECEIVES_MIXED_LANES: _receives_mixed_lanes,
    Code.FIFO_FAULT: _fifo_fault,
    Code.FIFO_IN_REGISTER: _fifo_in_register,
    Code.MESSAGE_EMPTY: _message_empty,
    Code.MESSAGE_TOO_LONG: _message_too_long,
    Code.MESSAGE_WITHOUT_FRONT: _message_without_front,
    Code.MESSAGE_OFF_GRID: _message_off_grid,
    Code.MESSAGE_TO_NOBODY: _message_to_nobody,
    Code.MESSAGE_DOES_NOT_FIT: _message_does_not_fit,
    Code.CONTROL_TASK_MISSING: _control_task_missing,
    Code.SWITCHES_LOOP: _switches_loop,
    Code.TEARDOWN: _teardown,
    Code.TEARDOWN_UNHANDLED: _teardown_unhandled,
    Code.REGISTER_UNKNOWN: _register_unknown,
    Code.SWITCH_POSITION_MISSING: _switch_position_missing,
    Code.COLOR_NOT_TAKEN: _color_not_taken,
    Code.FLUSHED_TWICE: _flushed_twice,
    Code.FLUSH_UNHANDLED: _flush_unhandled,
    Code.FILTER_MISSING: _filter_missing,
    Code.MICROTHREAD_MISSING: _microthread_missing,
    Code.MESSAGE_BLOCKED: _message_blocked,
    Code.INDEX_OUTSIDE: _index_outside,
    Code.ODD_LOAD: lambda of: _odd_word(of, "this load reads"),
    Code.ODD_STORE: lambda of: _odd_word(of, "this store writes"),
    Code.ODD_WALK: lambda of: _odd_word(of, f"{of.operation(of.values[1], of.finding.task)} reads or writes"),
    Code.WALK_LEAVES_BUFFER: _walk_leaves_buffer,
    Code.SENDS_SWALLOWED: _sends_swallowed,
    Code.SENDS_OFF_GRID: _sends_off_grid,
    Code.RECEIVES_UNROUTED: _receives_unrouted,
    Code.TASK_MAY_TAKE: _task_may_take,
    Code.LAST_ELEMENT_LOST: _last_element_lost,
    Code.ELEMENTS_CUT: _elements_cut,
    Code.INDEX_TOO_WIDE: _index_too_wide,
    Code.USED_IN_FLIGHT: _used_in_flight,
    Code.FLOATS_MIXED: _floats_mixed,
    Code.UNBLOCKS_EARLY: _unblocks_early,
    Code.READS_UNWRITTEN: _reads_unwritten,
    Code.SUMS_UNWRITTEN: _sums_unwritten,
    Code.ORDER_OF_STREAMS: _order_of_streams,
    Code.ORDER_OF_SENDERS: _order_of_senders,
    Code.STARTS_UNBLOCKED: _starts_unblocked,
    Code.UNBLOCKS_AGAIN: _unblocks_again,
    Code.RELOADED_IN_FLIGHT: _reloaded_in_flight,
    Code.NEVER_STARTS: _never_starts,
}
"""The sentence of every code but `NOTHING`."""
