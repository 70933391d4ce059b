"""Parts of random `flow` programs: FIFOs, host streams, registers, switches, senders that meet, on_control, networks,
filters, routes that change.

What needs nothing of the machine to itself is an `Extra`: collective directives, exception masks, many functions.

Each is a piece of a program by itself, with its own colors, queues, microthreads, tasks and buffers, so it is free of
races whatever stands beside it; its tasks run code of the generator on the state that the whole unit shares.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from loomir import targets
from loomir.targets.wavelets import FILTER_WORDS, POP_MODE_SHIFT, REGISTER_PORTS, TEARDOWN_SHIFT

from .router_model import encode

if TYPE_CHECKING:
    from .random_programs import Generator as Writer

WSE3 = targets.get("wse3")
WORDS = 96
"""Of memory for each part."""
MOVE = {"f32": "fmovs", "f16": "fmovh", "i16": "mov16", "i32": "mov32"}
ADD = {"f32": "fadds", "f16": "faddh", "i16": "add16"}
STATE = {"f32": "sf", "f16": "sh", "i16": "si"}
NUMBERS = {"f32": "1.5", "f16": "0.5", "i16": "3"}


class Sent(NamedTuple):
    """Words that the host sends to every PE, each plus the number of the PE."""

    color: str
    words: tuple[int, ...]


@dataclass
class Feature:
    """A part of a program. `slot` is 0 or 1, and chooses what of the machine it has to itself."""

    generator: Writer
    slot: int

    NEEDS_WIDTH: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self.queue = 2 + 3 * self.slot
        self.color = 4 + 4 * self.slot
        self.microthread = 2 + 4 * self.slot
        self.task = 12 + 4 * self.slot
        self.control = 40 + 4 * self.slot
        self.address = 230 + WORDS * self.slot
        random = self.generator.random
        self.kind = random.choice(["i16", "f32", "f16"])
        self.count = random.randint(1, 6)
        self.sent: list[Sent] = []
        self.choose()

    def choose(self) -> None:
        """Draw what is particular to the part."""

    def fabric(self) -> list[str]:
        """Return colors and routes."""
        return []

    def members(self) -> list[str]:
        """Return buffers, queues, FIFOs and parameters of the units."""
        return []

    def tasks(self) -> None:
        """Write the tasks."""

    def start(self) -> None:
        """Write what the program does first."""

    # What several parts write

    def name(self, what: str) -> str:
        return f"{what}_{self.slot}"

    def type(self, kind: str | None = None) -> str:
        return f"!flow.stream<{kind or self.kind}>"

    def walk(self, buffer: str, extent: str, kind: str | None = None) -> str:
        return self.generator.new(
            "", f"flow.stream @{self.name(buffer)} at 0 strides [1] extents [{extent}] : {self.type(kind)}"
        )

    def send(self, kind: str, flags: str, value: str, count: int = 1) -> None:
        """Send a value so many times, and wait until the queue has taken it."""
        generator = self.generator
        out = generator.new("", f"flow.queue_stream @{self.name('out')} extent {count}{flags} : {self.type(kind)}")
        generator.emit(f"flow.apply {MOVE[kind]} {out}, {value} : {self.type(kind)}, {kind}")

    def received(self, buffer: str, size: int) -> None:
        """Put an element of a buffer where all code of the unit sees it."""
        generator = self.generator
        index = generator.new("", f"arith.constant {generator.random.randrange(size)} : index")
        value = generator.new(self.kind, f"flow.load @{self.name(buffer)}[{index}] : {self.kind}")
        generator.emit(f"flow.store {value}, @{STATE[self.kind]}[{generator.index(4)}] : {self.kind}")

    def open_task(self, name: str, number: int, flags: str = "") -> None:
        self.generator.fresh()
        self.generator.open(f"flow.task local @{self.name(name)} id {self.task + number}{flags} {{")

    def close_task(self) -> None:
        """Let a task end with other code."""
        generator = self.generator
        generator.body(generator.random.randint(0, 2))
        generator.emit("flow.return")
        generator.close()

    def host_streams(self) -> list[str]:
        return [
            f"flow.color @{self.name('from_host')} = {self.color}",
            f"flow.color @{self.name('to_host')} = {self.color + 1}",
            f"flow.host_stream @{self.name('from_host')} in on [:, :]",
            f"flow.host_stream @{self.name('to_host')} out on [:, :]",
        ]

    def queues(self, of: str, to: str) -> list[str]:
        return [
            f"flow.queue input @{self.name('in')} id {self.queue} colors [@{self.name(of)} on [:, :]]",
            f"flow.queue output @{self.name('out')} id {self.queue} colors [@{self.name(to)} on [:, :]]",
        ]

    def row(self) -> str:
        """Return the color of the part, from the first column on to the east, as far as the second."""
        return f"@{self.name('way')}"

    def mask(self, test: str) -> str:
        generator = self.generator
        rows = [[int(eval(test, {"x": x})) for x in range(generator.width)] for _ in range(generator.height)]
        return f"dense<{rows}> : tensor<{generator.height}x{generator.width}xi16>"

    @contextmanager
    def where(self, param: str) -> Generator[None]:
        """Open code for the PEs of a mask."""
        outer = self.generator.scope()
        self.generator.open(f"scf.if {self.generator.flag(self.name(param))} {{")
        yield
        self.generator.close()
        self.generator.values = outer

    @contextmanager
    def seldom(self) -> Generator[None]:
        """Open code that runs a bounded number of times in the life of a unit."""
        outer = self.generator.scope()
        self.generator.budget()
        yield
        self.generator.close()
        self.generator.values = outer


@dataclass
class Fifo(Feature):
    """Words from the host wait in a FIFO for an operation that sends them back, or for tasks that pop them."""

    def choose(self) -> None:
        random = self.generator.random
        self.kind = random.choice(["i16", "f32"])
        self.capacity = random.randint(1, 5)
        self.popped_by = random.choice(["operation", "task", "pushed"])
        self.tells = "push" if self.popped_by == "pushed" else random.choice(["", "push", "pop"])
        count = self.count if self.popped_by != "operation" else random.randint(0, 8)
        self.sent.append(Sent(self.name("from_host"), tuple(range(1, 1 + count))))

    def fabric(self) -> list[str]:
        return self.host_streams()

    def members(self) -> list[str]:
        told = f" activate_{self.tells} @{self.name('told')}" if self.tells else ""
        return [
            *self.queues("from_host", "to_host"),
            f"flow.buffer @{self.name('got')} at {self.address} : memref<8x{self.kind}>",
            f"flow.buffer @{self.name('kept')} at {self.address + 16} : memref<{self.capacity}x{self.kind}>",
            f"flow.fifo @{self.name('fifo')} on @{self.name('kept')}{told}",
        ]

    def ends(self) -> str:
        return self.generator.new("", f"flow.fifo_stream @{self.name('fifo')} : {self.type()}")

    def start(self) -> None:
        generator, move = self.generator, MOVE[self.kind]
        source = generator.new("", f"flow.queue_stream @{self.name('in')} extent 32767 : {self.type()}")
        suffix = f"async(microthread = {self.microthread}) : {self.type()}, {self.type()}"
        if generator.random.random() < 0.5:
            generator.emit(f"flow.apply {move} {self.ends()}, {source} {suffix}")
        else:
            value = generator.value(self.kind)
            generator.emit(f"flow.apply {ADD[self.kind]} {self.ends()}, {source}, {value} {suffix}, {self.kind}")
        if self.popped_by == "operation":
            out = generator.new("", f"flow.queue_stream @{self.name('out')} extent 32767 : {self.type()}")
            generator.emit(
                f"flow.apply {move} {out}, {self.ends()} async(microthread = {self.microthread + 1}) : "
                f"{self.type()}, {self.type()}"
            )
        elif self.popped_by == "task":
            generator.emit(f"flow.activate @{self.name('popping')}")

    def pop(self, count: int) -> None:
        types = f"{self.type()}, {self.type()}"
        into = self.walk("got", str(count))
        self.generator.emit(f"flow.apply {MOVE[self.kind]} {into}, {self.ends()} : {types}")
        self.received("got", 8)

    def tasks(self) -> None:
        generator = self.generator
        if self.popped_by == "task":
            # It waits in the middle for what has not come yet.
            self.open_task("popping", 0)
            self.pop(self.count)
            self.close_task()
        if self.tells:
            self.open_task("told", 1)
            if self.popped_by == "pushed":
                self.pop(1)
            else:
                generator.store()
            self.close_task()


@dataclass
class HostStream(Feature):
    """Words from the host start a task each, or pass through an operation, and answers go back to the host."""

    def choose(self) -> None:
        random = self.generator.random
        self.endless = random.random() < 0.4
        self.kind = random.choice(["i16", "f32"])
        for _ in range(random.randint(1, 2)):
            words = tuple(random.choice([0, 1, 2, 7, 0x3F800000, 0xC0400000]) for _ in range(random.randint(1, 4)))
            self.sent.append(Sent(self.name("from_host"), words))

    def fabric(self) -> list[str]:
        return self.host_streams()

    def members(self) -> list[str]:
        return self.queues("from_host", "to_host")

    def start(self) -> None:
        if not self.endless:
            return
        generator = self.generator
        source = generator.new("", f"flow.queue_stream @{self.name('in')} extent 32767 : {self.type()}")
        target = generator.new("", f"flow.queue_stream @{self.name('out')} extent 32767 : {self.type()}")
        value = generator.value(self.kind)
        generator.emit(
            f"flow.apply {ADD[self.kind]} {target}, {source}, {value} async(microthread = {self.microthread}) : "
            f"{self.type()}, {self.type()}, {self.kind}"
        )

    def tasks(self) -> None:
        if self.endless:
            return
        generator = self.generator
        generator.fresh()
        generator.open(
            f"flow.task data @{self.name('take')} id {self.queue} on @{self.name('in')} (%a: {self.kind}) {{"
        )
        generator.values[self.kind].append("%a")
        generator.body(generator.random.randint(1, 3))
        generator.store()
        self.send(self.kind, "", generator.value(self.kind))
        generator.emit("flow.return")
        generator.close()


@dataclass
class Flooded(Feature):
    """The host sends more than there is room for to a color on which the first column sends to the second as well."""

    NEEDS_WIDTH: ClassVar[int] = 2

    def choose(self) -> None:
        random = self.generator.random
        self.kind = random.choice(["i16", "f32"])
        for _ in range(random.randint(1, 2)):
            self.sent.append(Sent(self.name("way"), tuple(range(1, random.randint(6, 24)))))
        self.words = sum(len(sent.words) for sent in self.sent)
        self.count = random.randint(1, 4)

    def fabric(self) -> list[str]:
        color = self.row()
        return [
            f"flow.color {color} = {self.color}",
            f"flow.host_stream {color} in on [:, :]",
            f"flow.route {color} on [0, :] from [ramp] to [east]",
            f"flow.route {color} on [1, :] from [west] to [ramp]",
        ]

    def members(self) -> list[str]:
        value = NUMBERS[self.kind]
        return [
            *self.queues("way", "way"),
            f"flow.buffer @{self.name('given')} at {self.address} : memref<4x{self.kind}> = dense<{value}>",
            f"flow.buffer @{self.name('got')} at {self.address + 8} : memref<32x{self.kind}>",
            f"flow.param @{self.name('first')} = {self.mask('x == 0')}",
            f"flow.param @{self.name('second')} = {self.mask('x == 1')}",
        ]

    def start(self) -> None:
        generator = self.generator
        with self.where("first"):
            out = generator.new("", f"flow.queue_stream @{self.name('out')} extent {self.count} : {self.type()}")
            given = self.walk("given", str(self.count))
            generator.emit(
                f"flow.apply {MOVE[self.kind]} {out}, {given} async(microthread = {self.microthread + 1}) : "
                f"{self.type()}, {self.type()}"
            )
        with self.where("second"):
            extent = self.generator.random.randint(1, min(32, self.words + self.count))
            source = generator.new("", f"flow.queue_stream @{self.name('in')} extent {extent} : {self.type()}")
            generator.emit(
                f"flow.apply {MOVE[self.kind]} {self.walk('got', str(extent))}, {source} async(microthread = "
                f"{self.microthread}, activate = @{self.name('done')}) : {self.type()}, {self.type()}"
            )

    def tasks(self) -> None:
        self.open_task("done", 0)
        self.received("got", 32)
        self.close_task()


@dataclass
class Register(Feature):
    """A walk kept in a register, which operations of several tasks use and perhaps move on; it may go in circles."""

    def choose(self) -> None:
        random = self.generator.random
        self.file = random.choice(["dest", "src0", "src1"])
        self.moves = random.random() < 0.5
        self.shape = random.choice(
            [f"strides [1] extents [{self.count}]", "strides [1, -3] extents [2, 4]", "strides [2, -1] extents [2, 2]"]
        )

    def members(self) -> list[str]:
        return [
            f"flow.buffer @{self.name('got')} at {self.address} : memref<8x{self.kind}>",
            f"flow.buffer @{self.name('kept')} at {self.address + 16} : memref<32x{self.kind}> "
            f"= dense<{NUMBERS[self.kind]}>",
        ]

    def start(self) -> None:
        generator = self.generator
        walk = generator.new("", f"flow.stream @{self.name('kept')} at 0 {self.shape} : {self.type()}")
        moves = " save_address" if self.moves and "," not in self.shape.split("]")[0] else ""
        generator.emit(f"flow.load_register {self.file} {self.slot}, {walk}{moves} : {self.type()}")
        with self.seldom():
            generator.emit(f"flow.activate @{self.name('use')}")

    def tasks(self) -> None:
        generator = self.generator
        generator.fresh()
        generator.open(f"flow.task local @{self.name('use')} id {self.task} {{")
        kept = generator.new("", f"flow.register {self.file} {self.slot} : {self.type()}")
        got = self.walk("got", str(self.count))
        target, source = (kept, got) if self.file == "dest" else (got, kept)
        if generator.random.random() < 0.5:
            generator.emit(f"flow.apply {MOVE[self.kind]} {target}, {source} : {self.type()}, {self.type()}")
        else:
            generator.emit(
                f"flow.apply {ADD[self.kind]} {target}, {source}, {generator.value(self.kind)} : "
                f"{self.type()}, {self.type()}, {self.kind}"
            )
        self.received("got", 8)
        generator.body(generator.random.randint(0, 2))
        with self.seldom():
            generator.emit(f"flow.activate @{self.name('use')}")
        generator.emit("flow.return")
        generator.close()


@dataclass
class Switch(Feature):
    """The first column sends data and control wavelets along its row; they move the switches that they pass."""

    NEEDS_WIDTH: ClassVar[int] = 2

    def choose(self) -> None:
        random = self.generator.random
        self.runs = [(random.randint(0, 3), self.commands()) for _ in range(random.randint(1, 4))]
        """Data wavelets and the commands behind them, each with whether the PEs see it."""
        self.ring = random.choice(["", "", " ring"])
        self.pop = random.choice(["", " always_pop", " pop_on_advance", " pop_on_advance_nop"])
        self.both = random.random() < 0.3

    def commands(self) -> list[tuple[int, bool]]:
        """Return the commands of a control wavelet: one for all routers that it passes, or for each its own."""
        random = self.generator.random
        codes, count = [0, 1, 1, 1, 2], random.choice([0, 0, 1, 3, 8])
        if not count:
            return [(random.choice(codes), random.random() < 0.5)] * 2
        return [(random.choice(codes), random.random() < 0.5) for _ in range(count)]

    def fabric(self) -> list[str]:
        color, last = self.row(), self.generator.width - 1
        lines = [f"flow.color {color} = {self.color}", f"flow.route {color} on [0, :] from [ramp] to [east]"]
        if last > 1:
            second = "[ramp, east]" if self.both else "[east]"
            lines.append(
                f"flow.route {color} on [1:{last}, :] from [west] to [ramp] switch [to {second}]{self.ring}{self.pop}"
            )
        lines.append(f"flow.route {color} on [{last}, :] from [west] to [ramp] switch [to []]{self.ring}{self.pop}")
        return lines

    def members(self) -> list[str]:
        return [
            *self.queues("way", "way"),
            f"flow.param @{self.name('first')} = {self.mask('x == 0')}",
        ]

    def start(self) -> None:
        generator = self.generator
        with self.where("first"):
            for count, commands in self.runs:
                for _ in range(count):
                    value = generator.new("", f"arith.extsi {generator.value('i16')} : i16 to i32")
                    self.send("i32", "", value)
                word = encode(commands, self.control)
                self.send("i32", " control", generator.new("", f"arith.constant {word - (word >> 31 << 32)} : i32"))

    def tasks(self) -> None:
        generator = self.generator
        generator.fresh()
        generator.open(f"flow.task data @{self.name('take')} id {self.queue} on @{self.name('in')} (%a: i32) {{")
        generator.new("i16", "arith.trunci %a : i32 to i16")
        generator.store()
        self.close_task()
        generator.fresh()
        generator.open(f"flow.task control @{self.name('told')} id {self.control} {{")
        generator.store()
        self.close_task()


@dataclass
class Row(Feature):
    """The first column sends data and control wavelets along its row; all others get them, and pass them on."""

    NEEDS_WIDTH: ClassVar[int] = 2
    CODES: ClassVar[tuple[int, ...]] = (0,)

    def choose(self) -> None:
        random = self.generator.random
        self.runs = [
            (random.randint(0, 4), [(random.choice(self.CODES), random.random() < 0.3)] * random.choice([1, 2, 8]))
            for _ in range(random.randint(1, 4))
        ]
        """Data wavelets and the commands behind them, each with whether the PEs see it."""

    def option(self) -> str:
        """Return what the routes of the receivers have besides."""
        return ""

    def changes(self) -> bool:
        """Return True if the program writes registers of the color."""
        return True

    def fabric(self) -> list[str]:
        color, last, option = self.row(), self.generator.width - 1, self.option()
        lines = [f"flow.color {color} = {self.color}{' changes' if self.changes() else ''}"]
        lines.append(f"flow.route {color} on [0, :] from [ramp] to [east]")
        if last > 1:
            lines.append(f"flow.route {color} on [1:{last}, :] from [west] to [ramp, east]{option}")
        lines.append(f"flow.route {color} on [{last}, :] from [west] to [ramp]{option}")
        return lines

    def members(self) -> list[str]:
        return [
            *self.queues("way", "way"),
            f"flow.param @{self.name('first')} = {self.mask('x == 0')}",
            f"flow.param @{self.name('inner')} = {self.mask(f'x + 1 < {self.generator.width}')}",
        ]

    def start(self) -> None:
        generator = self.generator
        with self.where("first"):
            for count, commands in self.runs:
                for _ in range(count):
                    value = generator.new("", f"arith.extsi {generator.value('i16')} : i16 to i32")
                    self.send("i32", "", value, generator.random.choice([1, 1, 2, 5]))
                self.between()
                word = encode(commands, self.control)
                self.send("i32", " control", generator.new("", f"arith.constant {word - (word >> 31 << 32)} : i32"))

    def between(self) -> None:
        """Write what the sender does between two runs."""

    def taken(self) -> None:
        """Write what a PE does with each wavelet."""

    def tasks(self) -> None:
        generator = self.generator
        generator.fresh()
        generator.open(f"flow.task data @{self.name('take')} id {self.queue} on @{self.name('in')} (%a: i32) {{")
        generator.new("i16", "arith.trunci %a : i32 to i16")
        generator.store()
        self.taken()
        self.close_task()
        generator.fresh()
        generator.open(f"flow.task control @{self.name('told')} id {self.control} {{")
        generator.store()
        self.taken()
        self.close_task()

    def register(self, address: int) -> str:
        """Return the byte address of a configuration register."""
        return self.generator.new("", f"arith.constant {2 * address - (1 << 16)} : i16")

    def read(self, address: int) -> str:
        """Read a register, and put it where all code of the unit sees it."""
        generator = self.generator
        value = generator.new("i16", f"flow.load {self.register(address)}[] : i16")
        generator.emit(f"flow.store {value}, @si[{generator.index(4)}] : i16")
        return value

    def write(self, address: int, value: str) -> None:
        self.generator.emit(f"flow.store {value}, {self.register(address)}[] : i16")


@dataclass
class Filtered(Row):
    """Filters drop some of the wavelets, and PEs may read and write their counters."""

    def choose(self) -> None:
        super().choose()
        random = self.generator.random
        self.filter = random.choice(["counter", "counter", "sparse_counter", "range"])
        self.is_changed = self.filter != "range" and random.random() < 0.6

    def changes(self) -> bool:
        return self.is_changed

    def option(self) -> str:
        random = self.generator.random
        if self.filter == "range":
            return f" filter range id {self.slot} min_idx {random.randint(0, 2)} max_idx {random.choice([1, 3, 65535])}"
        limit = random.randint(0, 4)
        limits = f"limit1 {limit}" if random.random() < 0.9 else ""
        if limits and self.filter == "sparse_counter" and random.random() < 0.6:
            limits += f" limit2 {random.randint(0, 4)}"
        counts = random.choice(["count_data", "count_data count_control", "count_control"])
        control = " filter_control" if self.filter == "counter" and random.random() < 0.2 else ""
        return (
            f" filter {self.filter} id {self.slot} init_counter {random.randint(0, limit if limits else 2)} {limits} "
            f"max_counter {random.randint(0, 3)} {counts}{control}"
        )

    def taken(self) -> None:
        random, generator = self.generator.random, self.generator
        if not self.is_changed or random.random() < 0.3:
            return
        filters = WSE3.registers.filters + FILTER_WORDS * self.slot
        self.read(filters + random.randrange(FILTER_WORDS))
        value = generator.new("", f"arith.constant {random.randint(0, 4)} : i16")
        self.write(filters + random.randrange(FILTER_WORDS), value)


@dataclass
class Rewritten(Row):
    """PEs change the routes of the color while wavelets are under way, and may tear it down."""

    def choose(self) -> None:
        self.tears = self.slot == 0 and self.generator.random.random() < 0.5
        self.codes = (0, 1, 2, 3) if self.tears else (0, 1, 2)
        super().choose()

    @property
    def CODES(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.codes

    def toggle(self, bit: int) -> None:
        """Change a bit of the register of the color."""
        generator = self.generator
        address = WSE3.registers.colors + self.color
        before = self.read(address)
        mask = generator.new("", f"arith.constant {1 << bit} : i16")
        self.write(address, generator.new("", f"arith.xori {before}, {mask} : i16"))

    def between(self) -> None:
        if self.generator.random.random() < 0.3:
            self.toggle(REGISTER_PORTS.index("east"))

    def taken(self) -> None:
        random = self.generator.random
        choice = random.random()
        if choice < 0.3:
            with self.where("inner"):
                self.toggle(REGISTER_PORTS.index("east"))
        elif choice < 0.5:
            self.toggle(random.choice([REGISTER_PORTS.index("ramp"), POP_MODE_SHIFT, POP_MODE_SHIFT + 1]))

    def tasks(self) -> None:
        super().tasks()
        if not self.tears:
            return
        generator = self.generator
        generator.fresh()
        generator.open(f"flow.task local @{self.name('torn')} id {WSE3.teardown_task} {{")
        self.read(WSE3.registers.teardown_pending)
        address = WSE3.registers.colors + self.color
        before = self.read(address)
        mask = generator.new("", f"arith.constant {~(1 << TEARDOWN_SHIFT)} : i16")
        self.write(address, generator.new("", f"arith.andi {before}, {mask} : i16"))
        self.close_task()


@dataclass
class Crossing(Feature):
    """PEs of a row send to its last one, and meet on the way; switches may hold some of them up, or let none pass."""

    NEEDS_WIDTH: ClassVar[int] = 2

    def choose(self) -> None:
        random = self.generator.random
        self.counts = [random.choice([0, 1, 2, 3, 4, 12, 30]) for _ in range(2)]
        self.advances = random.random() < 0.7
        turns = ["[from [west]]", "[from [west], from [ramp]] ring", "[from [ramp]] ring", "[to []]"]
        self.switch = random.choice(["", f" switch {random.choice(turns)}"])
        self.meets = random.random() < 0.7
        self.copies = random.random() < 0.3
        self.sends_too = random.random() < 0.5

    def fabric(self) -> list[str]:
        color, last = self.row(), self.generator.width - 1
        sources, ends = "[ramp, west]" if self.meets else "[ramp]", "[ramp, west]" if self.sends_too else "[west]"
        lines = [f"flow.color {color} = {self.color}", f"flow.route {color} on [0, :] from [ramp] to [east]"]
        if last > 1:
            to = "[ramp, east]" if self.copies else "[east]"
            lines.append(f"flow.route {color} on [1:{last}, :] from {sources} to {to}{self.switch}")
        lines.append(f"flow.route {color} on [{last}, :] from {ends} to [ramp]")
        return lines

    def members(self) -> list[str]:
        last = self.generator.width - (0 if self.sends_too else 1)
        return [*self.queues("way", "way"), f"flow.param @{self.name('first')} = {self.mask(f'x < {last}')}"]

    def start(self) -> None:
        generator = self.generator
        with self.where("first"):
            for count in self.counts:
                value = generator.new("", f"arith.extsi {generator.value('i16')} : i16 to i32")
                flag = " advance_switch" if self.advances and self.switch else ""
                self.send("i32", flag, value, count)
                generator.body(generator.random.randint(0, 2))

    def tasks(self) -> None:
        generator = self.generator
        generator.fresh()
        generator.open(f"flow.task data @{self.name('take')} id {self.queue} on @{self.name('in')} (%a: i32) {{")
        generator.values["i16"].append(generator.new("i16", "arith.trunci %a : i32 to i16"))
        generator.store()
        self.close_task()


@dataclass
class OnControl(Feature):
    """The second column receives until a control wavelet, or until it has enough."""

    NEEDS_WIDTH: ClassVar[int] = 2

    def choose(self) -> None:
        random = self.generator.random
        self.data = random.randint(0, 6)
        self.then = random.choice(["activate", "unblock", "terminate"])

    def fabric(self) -> list[str]:
        color = self.row()
        return [
            f"flow.color {color} = {self.color}",
            f"flow.route {color} on [0, :] from [ramp] to [east]",
            f"flow.route {color} on [1, :] from [west] to [ramp]",
        ]

    def members(self) -> list[str]:
        return [
            *self.queues("way", "way"),
            f"flow.buffer @{self.name('got')} at {self.address} : memref<8x{self.kind}>",
            f"flow.param @{self.name('first')} = {self.mask('x == 0')}",
            f"flow.param @{self.name('second')} = {self.mask('x == 1')}",
        ]

    def start(self) -> None:
        generator = self.generator
        self.receive()
        with self.where("first"):
            if self.data:
                self.send(self.kind, "", generator.value(self.kind), self.data)
            self.send("i32", " control", generator.new("", f"arith.constant {self.control << 16} : i32"))

    def receive(self) -> None:
        generator = self.generator
        then = f"{self.then} @{self.name('early')}" if self.then != "terminate" else "terminate"
        with self.where("second"):
            source = generator.new("", f"flow.queue_stream @{self.name('in')} extent {self.count} : {self.type()}")
            generator.emit(
                f"flow.apply {MOVE[self.kind]} {self.walk('got', str(self.count))}, {source} async(microthread = "
                f"{self.microthread}, activate = @{self.name('done')}, on_control = {then}) : "
                f"{self.type()}, {self.type()}"
            )

    def tasks(self) -> None:
        self.open_task("done", 0)
        self.received("got", 8)
        self.close_task()
        generator = self.generator
        flags = " active blocked" if self.then == "unblock" else ""
        self.open_task("early", 1, flags)
        generator.store()
        self.close_task()


@dataclass
class Relay(Feature):
    """The first column sends words from memory, some as control wavelets, and may clear them; the second receives them
    round a ring."""

    NEEDS_WIDTH: ClassVar[int] = 2

    def choose(self) -> None:
        random = self.generator.random
        self.kind = "i16"
        marks = [random.choice([0, 0, 1, 3]) << 30 for _ in range(8)]
        self.words = [mark | self.control << 16 | random.randrange(100) for mark in marks]
        self.count = random.randint(1, 8)
        self.extent, self.places = random.randint(1, 10), random.randint(1, 8)
        self.flags = random.choice(["", " zero second"]) + random.choice(
            ["", " control_transform", " control_transform"]
        )
        self.marks = (" in_pairs" if self.extent % 3 == 0 else "") + random.choice(["", " control_transform"])

    def fabric(self) -> list[str]:
        color = self.row()
        return [
            f"flow.color {color} = {self.color}",
            f"flow.route {color} on [0, :] from [ramp] to [east]",
            f"flow.route {color} on [1, :] from [west] to [ramp]",
        ]

    def members(self) -> list[str]:
        words = ", ".join(str(word - (word >> 31 << 32)) for word in self.words)
        return [
            *self.queues("way", "way"),
            f"flow.buffer @{self.name('ring')} at {self.address} : memref<8xi32>",
            f"flow.buffer @{self.name('words')} at {self.address + 16} : memref<8xi32> = dense<[{words}]>",
            f"flow.buffer @{self.name('halves')} at {self.address} : memref<32xi16>",
            f"flow.param @{self.name('first')} = {self.mask('x == 0')}",
            f"flow.param @{self.name('second')} = {self.mask('x == 1')}",
        ]

    def start(self) -> None:
        generator, type = self.generator, self.type("i32")
        with self.where("second"):
            source = generator.new(
                "", f"flow.queue_stream @{self.name('in')} extent {self.extent}{self.marks} : {type}"
            )
            ring = generator.new(
                "", f"flow.circular_stream @{self.name('ring')} extent {self.extent} wraparound {self.places} : {type}"
            )
            generator.emit(
                f"flow.apply mov32 {ring}, {source} async(microthread = {self.microthread}, activate = "
                f"@{self.name('done')}) : {type}, {type}"
            )
        with self.where("first"):
            out = generator.new("", f"flow.queue_stream @{self.name('out')} extent {self.count}{self.flags} : {type}")
            generator.emit(
                f"flow.apply mov32 {out}, {self.walk('words', str(self.count), 'i32')} async(microthread = "
                f"{self.microthread + 1}, activate = @{self.name('done')}) : {type}, {type}"
            )

    def tasks(self) -> None:
        self.open_task("done", 0)
        self.received("halves", 32)
        self.close_task()


@dataclass
class Unpacked(Feature):
    """The second column takes two values a wavelet from the first and sends them back one by one; the first takes them
    when it has sent all, so that not all find room before."""

    NEEDS_WIDTH: ClassVar[int] = 2

    def choose(self) -> None:
        random = self.generator.random
        self.kind = random.choice(["i16", "f16"])
        self.count = random.randint(12, 28)
        self.marks = random.choice(["", "", " in_pairs"])

    def fabric(self) -> list[str]:
        there, back = self.row(), f"@{self.name('back')}"
        return [
            f"flow.color {there} = {self.color}",
            f"flow.color {back} = {self.color + 1}",
            f"flow.route {there} on [0, :] from [ramp] to [east]",
            f"flow.route {there} on [1, :] from [west] to [ramp]",
            f"flow.route {back} on [1, :] from [ramp] to [west]",
            f"flow.route {back} on [0, :] from [east] to [ramp]",
        ]

    def members(self) -> list[str]:
        words = ", ".join(str(word) for word in range(1, 33))
        numbers = words if self.kind == "i16" else ", ".join(f"{word}.0" for word in range(1, 33))
        back = f"id {self.queue + 1} colors [@{self.name('back')} on [:, :]]"
        return [
            *self.queues("way", "way"),
            f"flow.queue input @{self.name('returned')} {back}",
            f"flow.queue output @{self.name('return')} {back}",
            f"flow.buffer @{self.name('words')} at {self.address} : memref<32x{self.kind}> = dense<[{numbers}]>",
            f"flow.buffer @{self.name('got')} at {self.address + 32} : memref<32x{self.kind}>",
            f"flow.param @{self.name('first')} = {self.mask('x == 0')}",
            f"flow.param @{self.name('second')} = {self.mask('x == 1')}",
        ]

    def run(self, queue: str, extent: int, flags: str = "") -> str:
        return self.generator.new("", f"flow.queue_stream @{self.name(queue)} extent {extent}{flags} : {self.type()}")

    def move(self, destination: str, source: str, microthread: int, then: str) -> None:
        how = f"async(microthread = {self.microthread + microthread}, activate = @{self.name(then)})"
        types = f"{self.type()}, {self.type()}"
        self.generator.emit(f"flow.apply {MOVE[self.kind]} {destination}, {source} {how} : {types}")

    def start(self) -> None:
        with self.where("second"):
            source = self.run("in", self.count, " packed" + self.marks)
            self.move(self.run("return", self.count), source, 0, "done")
        with self.where("first"):
            words = self.walk("words", str(self.count))
            self.move(self.run("out", self.count, " packed"), words, 1, "sent")

    def tasks(self) -> None:
        generator = self.generator
        self.open_task("sent", 0)
        generator.body(generator.random.randint(0, 2))
        self.move(self.walk("got", str(self.count)), self.run("returned", self.count), 0, "done")
        generator.emit("flow.return")
        generator.close()
        self.open_task("done", 1)
        self.received("got", 32)
        self.close_task()


@dataclass
class Messages(Feature):
    """Each PE sends a message of its own length to some other PE, and takes those that come for it."""

    def choose(self) -> None:
        random, width, height = self.generator.random, self.generator.width, self.generator.height
        self.kind = random.choice(["f32", "f16", "i16"])
        self.to = [
            [random.randrange(width) | random.randrange(height) << 16 for _ in range(width)] for _ in range(height)
        ]
        self.lengths = [[random.randint(1, 8) for _ in range(width)] for _ in range(height)]

    def fabric(self) -> list[str]:
        color = self.row()
        return [f"flow.color {color} = {self.color}", f"flow.message_network {color}"]

    def members(self) -> list[str]:
        at = self.address
        size = f"tensor<{self.generator.height}x{self.generator.width}x"
        low = [[word & 0xFFFF for word in row] for row in self.to]
        high = [[word >> 16 for word in row] for row in self.to]
        return [
            *self.queues("way", "way"),
            f"flow.buffer @{self.name('front')} at {at} : memref<4xi16>",
            f"flow.buffer @{self.name('head')} at {at} : memref<2xi32>",
            f"flow.buffer @{self.name('given')} at {at + 4} : memref<8x{self.kind}> = dense<{NUMBERS[self.kind]}>",
            f"flow.buffer @{self.name('got')} at {at + 20} : memref<8x{self.kind}>",
            f"flow.param @{self.name('column')} = dense<{low}> : {size}i16>",
            f"flow.param @{self.name('line')} = dense<{high}> : {size}i16>",
            f"flow.param @{self.name('length')} = dense<{self.lengths}> : {size}i16>",
        ]

    def start(self) -> None:
        generator = self.generator
        self.receive()
        length = generator.new("i16", f"flow.get_param @{self.name('length')} : i16")
        for index, value in ((0, "column"), (1, "line")):
            at = generator.new("", f"arith.constant {index} : index")
            word = generator.new("i16", f"flow.get_param @{self.name(value)} : i16")
            generator.emit(f"flow.store {word}, @{self.name('front')}[{at}] : i16")
        at = generator.new("", "arith.constant 2 : index")
        generator.emit(f"flow.store {length}, @{self.name('front')}[{at}] : i16")
        out = generator.new("", f"flow.queue_stream @{self.name('out')} extent 2 : {self.type('i32')}")
        head = self.walk("head", "2", "i32")
        generator.emit(f"flow.apply mov32 {out}, {head} : {self.type('i32')}, {self.type('i32')}")
        out = generator.new("", f"flow.queue_stream @{self.name('out')} extent 8 message : {self.type()}")
        generator.emit(
            f"flow.apply {MOVE[self.kind]} {out}, {self.walk('given', length)} : {self.type()}, {self.type()}"
        )

    def receive(self) -> None:
        generator = self.generator
        source = generator.new("", f"flow.queue_stream @{self.name('in')} extent 8 message : {self.type()}")
        generator.emit(
            f"flow.apply {MOVE[self.kind]} {self.walk('got', '8')}, {source} async(microthread = {self.microthread}, "
            f"activate = @{self.name('arrived')}) : {self.type()}, {self.type()}"
        )

    def tasks(self) -> None:
        generator = self.generator
        generator.fresh()
        generator.open(f"flow.task local @{self.name('arrived')} id {self.task} {{")
        self.received("got", 8)
        generator.body(generator.random.randint(0, 2))
        self.receive()
        generator.emit("flow.return")
        generator.close()


FEATURES: tuple[type[Feature], ...] = (
    Fifo, HostStream, Flooded, Register, Switch, Crossing, OnControl, Relay, Unpacked, Messages, Filtered, Rewritten
)  # fmt: skip


@dataclass
class Extra:
    """A part of a program that needs no color, queue, task or memory of its own. `slot` tells those of a kind apart."""

    generator: Writer
    slot: int

    def __post_init__(self) -> None:
        self.choose()

    def choose(self) -> None:
        """Draw what is particular to the part."""

    def members(self) -> list[str]:
        """Return what stands before all tasks and functions of the units."""
        return []

    def start(self) -> None:
        """Write what the program does first."""

    def statement(self) -> None:
        """Write what any code of the program may do."""


@dataclass
class Directives(Extra):
    """All PEs of a row or column call the same directives, each as often as it gets to them; seldom one is another."""

    def choose(self) -> None:
        random = self.generator.random
        self.axis = "xy"[self.slot % 2]
        self.first = [self.call() for _ in range(random.randint(0, 3))]
        self.later = self.call()
        self.differs = random.random() < 0.15

    def call(self) -> tuple[str, int, int]:
        random = self.generator.random
        return random.choice(["broadcast", "scatter", "reduce"]), random.randint(0, 3), random.randint(1, 5)

    def write(self, call: tuple[str, int, int]) -> None:
        generator = self.generator
        name, root, count = call
        operands = [generator.new("", f"arith.constant {value} : i16") for value in (root, count)]
        generator.emit(f'flow.directive "{name}" along "{self.axis}", {", ".join(operands)}')

    def start(self) -> None:
        for call in self.first:
            self.write(call)
        if self.differs:
            generator = self.generator
            root = generator.new("", "flow.get_param @pi : i16")
            count = generator.new("", "flow.get_param @pu : i16")
            generator.emit(f'flow.directive "{self.later[0]}" along "{self.axis}", {root}, {count}')

    def statement(self) -> None:
        self.write(self.later)


@dataclass
class ExceptionMasks(Extra):
    """Code between changes of the floating point exceptions that stop the PE: most find none, some do."""

    ALL = 0b11111 << 3

    def choose(self) -> None:
        random = self.generator.random
        bits = [1 << bit for bit in range(3, 8)]
        self.unmasked = sum(random.sample(bits, random.choice([1, 1, 2, 5])))

    def mask(self, stops: int) -> None:
        generator = self.generator
        generator.emit(f"flow.set_exception_mask {generator.new('', f'arith.constant {self.ALL & ~stops} : i16')}")

    def statement(self) -> None:
        generator, random = self.generator, self.generator.random
        outer = generator.scope()
        kind = random.choice(["f32", "f16"])
        harmless = {name: [] for name in outer}
        if random.random() < 0.75:
            generator.values = harmless
            numbers = [generator.new(kind, f"arith.constant {number} : {kind}") for number in ("0.5", "-1.25", "2.0")]
        else:
            numbers = [generator.value(kind) for _ in range(3)]
        self.mask(self.unmasked)
        for _ in range(random.randint(1, 3)):
            operation = random.choice(["addf", "subf", "mulf", "maximumf"])
            numbers.append(generator.new(kind, f"arith.{operation} {', '.join(random.sample(numbers, 2))} : {kind}"))
        self.mask(0)
        generator.values = outer
        at = generator.index(4)
        generator.emit(f"flow.store {numbers[-1]}, @{STATE[kind]}[{at}] : {kind}")
        if random.random() < 0.1:
            # Whatever comes next may stop the PE.
            self.mask(self.unmasked)


@dataclass
class Clocks(Extra):
    """Starts, resets and reads of the clock."""

    def statement(self) -> None:
        generator, random = self.generator, self.generator.random
        if random.random() < 0.5:
            generator.emit(f'flow.set_clock "{random.choice(["start", "reset"])}"')
        words = [f"%v{generator.names + word}" for word in range(3)]
        generator.names += 3
        generator.emit(f"{', '.join(words)} = flow.timestamp")
        generator.emit(f"flow.store {words[0]}, @{STATE['i16']}[{generator.index(4)}] : i16")


@dataclass
class Functions(Extra):
    """Functions for the host, so many that some of the tasks behind them are not bits of one word any more."""

    def choose(self) -> None:
        self.count = self.generator.random.randint(40, 70)

    def members(self) -> list[str]:
        lines: list[str] = []
        for number in range(self.count):
            name = f"other{self.slot}_{number}"
            lines += [f'flow.export @{name} as "{name}"', f"flow.func @{name}() {{", "  flow.return", "}"]
        return lines


@dataclass
class BlockedMicrothreads(Extra):
    """Microthreads that are blocked, mostly for a while, and some of them from the start on."""

    def choose(self) -> None:
        random = self.generator.random
        self.first = random.sample(range(WSE3.microthreads), random.choice([0, 0, 1, 2]))
        self.chosen = sorted({*self.first, *random.sample(range(WSE3.microthreads), 2)})

    def members(self) -> list[str]:
        return [f"flow.blocked_microthread {number}" for number in self.first]

    def change(self, what: str, number: str) -> None:
        self.generator.emit(f"flow.{what}_microthread {number} : i16")

    def number(self) -> str:
        generator, random = self.generator, self.generator.random
        if random.random() < 0.15:  # any of all
            return generator.masked(generator.value("i16"), WSE3.microthreads)
        return generator.new("", f"arith.constant {random.choice(self.chosen)} : i16")

    def statement(self) -> None:
        generator, random = self.generator, self.generator.random
        number = self.number()
        if random.random() < 0.4:
            self.change("unblock", number)
            return
        self.change("block", number)
        for _ in range(random.randint(0, 3)):
            generator.store()
        if random.random() < 0.9:
            self.change("unblock", number)


EXTRAS: tuple[type[Extra], ...] = (
    Directives, ExceptionMasks, Clocks, Functions, BlockedMicrothreads
)  # fmt: skip
