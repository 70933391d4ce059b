"""Random `flow` programs that have one meaning: whatever runs them, memory and clocks must agree.

The programs are free of races: an asynchronous receive has a buffer of its own, which is touched only after its
completion; an output queue fed by a forwarding operation has no other sender. Everything else is left to chance:
branches on coordinates, parameters and data, loops, descriptor operations on aliasing buffers, activations, blocking,
unblocking, sends to neighbors, multicasts, routes with turns, queues with several senders, data tasks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

from .random_features import EXTRAS, FEATURES, Feature, Messages, Sent

BINARY_I = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui", "shli", "shrsi", "shrui")
BINARY_F = ("addf", "subf", "mulf", "maximumf", "minimumf")
ELEMENT = {"f32": "fmovs", "f16": "fmovh", "i16": "mov16", "i32": "mov32"}
ADD = {"f32": "fadds", "f16": "faddh", "i16": "add16"}
TWO_SOURCES = {
    "f32": ("fadds", "fsubs", "fmuls", "fmaxs"), "f16": ("faddh", "fsubh", "fmulh", "fmaxh"),
    "i16": ("add16", "addc16", "sub16", "and16", "xor16", "or16"),
}  # fmt: skip


@dataclass
class Channel:
    """A color pattern, its two queues and what the receivers do."""

    number: int
    kind: str
    colors: list[str] = field(default_factory=list)
    routes: list[str] = field(default_factory=list)
    out_colors: str = ""
    in_colors: str = ""
    senders: list[list[int]] = field(default_factory=list)
    receivers: list[list[int]] = field(default_factory=list)
    element: str = "f32"
    role: str = "async"
    forward_to: Channel | None = None
    forwarded: bool = False
    once: bool = False
    """Sent to asynchronously, by one operation: two at a time on a queue are a mistake (DSD-208)."""
    count: int = 1


def _mask(width: int, height: int, test) -> list[list[int]]:
    return [[int(bool(test(x, y))) for x in range(width)] for y in range(height)]


def _shift(channel: Channel, width: int, height: int, direction: str) -> None:
    even, odd = ("[::2, :]", "[1::2, :]") if direction in ("east", "west") else ("[:, ::2]", "[:, 1::2]")
    opposite = {"east": "west", "west": "east", "north": "south", "south": "north"}[direction]
    a, b = (f"@c{channel.number}_{i}" for i in range(2))
    channel.colors = [a, b]
    for color, senders, receivers in ((a, even, odd), (b, odd, even)):
        channel.routes.append(f"flow.route {color} on {senders} from [ramp] to [{direction}]")
        channel.routes.append(f"flow.route {color} on {receivers} from [{opposite}] to [ramp]")
    channel.out_colors = f"{a} on {even}, {b} on {odd}"
    channel.in_colors = f"{a} on {odd}, {b} on {even}"
    dx, dy = {"east": (1, 0), "west": (-1, 0), "south": (0, 1), "north": (0, -1)}[direction]
    channel.senders = _mask(width, height, lambda x, y: 0 <= x + dx < width and 0 <= y + dy < height)
    channel.receivers = _mask(width, height, lambda x, y: 0 <= x - dx < width and 0 <= y - dy < height)


def _multicast(channel: Channel, width: int, height: int, at: int) -> None:
    color = f"@c{channel.number}"
    channel.colors = [color]
    to = (["east"] if at < width - 1 else []) + (["west"] if at > 0 else [])
    channel.routes.append(f"flow.route {color} on [{at}, :] from [ramp] to [{', '.join(to)}]")
    for x in range(width):
        if x > at:
            channel.routes.append(
                f"flow.route {color} on [{x}, :] from [west] to [ramp{', east' if x < width - 1 else ''}]"
            )
        elif x < at:
            channel.routes.append(f"flow.route {color} on [{x}, :] from [east] to [ramp{', west' if x else ''}]")
    channel.out_colors = channel.in_colors = f"{color} on [:, :]"
    channel.senders = _mask(width, height, lambda x, y: x == at)
    channel.receivers = _mask(width, height, lambda x, y: x != at)


def _gather(channel: Channel, width: int, height: int) -> None:
    color = f"@c{channel.number}"
    channel.colors = [color]
    channel.routes = [
        f"flow.route {color} on [1:, :] from [east, ramp] to [west]",
        f"flow.route {color} on [0, :] from [east] to [ramp]",
    ]
    channel.out_colors = channel.in_colors = f"{color} on [:, :]"
    channel.senders = _mask(width, height, lambda x, y: x > 0)
    channel.receivers = _mask(width, height, lambda x, y: x == 0)


def _corner(channel: Channel, width: int, height: int) -> None:
    color = f"@c{channel.number}"
    channel.colors = [color]
    channel.routes = [
        f"flow.route {color} on [1:, 0] from [west] to [east]",
        f"flow.route {color} on [{width - 1}, :] from [north] to [south]",
        f"flow.route {color} on [0, 0] from [ramp] to [east]",
        f"flow.route {color} on [{width - 1}, 0] from [west] to [south]",
        f"flow.route {color} on [{width - 1}, {height - 1}] from [north] to [ramp]",
    ]
    channel.out_colors = channel.in_colors = f"{color} on [:, :]"
    channel.senders = _mask(width, height, lambda x, y: (x, y) == (0, 0))
    channel.receivers = _mask(width, height, lambda x, y: (x, y) == (width - 1, height - 1))


class Generator:
    """Writes one program. `words` is the memory of a unit."""

    def __init__(self, random: Random, *, statements: int = 4, most_features: int = 2):
        self.random = random
        self.width, self.height = random.randint(1, 5), random.randint(1, 4)
        self.lines: list[str] = []
        self.indent = 0
        self.names = 0
        self.statements = statements
        self.values: dict[str, list[str]] = {"i16": [], "f32": [], "f16": [], "i1": []}
        self.channels: list[Channel] = []
        self.tasks: list[str] = []
        self.blockable: list[str] = []
        self.address = 0
        self.buffers: dict[str, tuple[str, int]] = {}
        self.in_function = False
        count = random.randint(0, most_features)
        self._channels(3 if count == 0 else 2)
        kinds = [kind for kind in FEATURES if self.width >= kind.NEEDS_WIDTH]
        # One network of messages is enough; the others may be there twice.
        chosen: list[type[Feature]] = []
        for _ in range(count):
            chosen.append(random.choice([kind for kind in kinds if kind is not Messages or kind not in chosen]))
        self.features = [kind(self, slot) for slot, kind in enumerate(chosen)]
        self.extras = [
            kind(self, slot)
            for slot, kind in enumerate(random.choices(EXTRAS, k=random.choice([0, 0, 1, 2]) if most_features else 0))
        ]

    # Text

    def emit(self, text: str) -> None:
        if "async(microthread" in text and self.random.random() < 0.3:
            priority = self.random.choice(["low", "medium", "high"])
            text = re.sub(r"async\(microthread = \d+", rf"\g<0>, priority = {priority}", text)
        self.lines.append("  " * self.indent + text)

    def new(self, kind: str, text: str) -> str:
        name = f"%v{self.names}"
        self.names += 1
        self.emit(f"{name} = {text}")
        if kind in self.values:
            self.values[kind].append(name)
        return name

    def open(self, text: str) -> None:
        self.emit(text)
        self.indent += 1

    def close(self, text: str = "}") -> None:
        self.indent -= 1
        self.emit(text)

    def scope(self) -> dict[str, list[str]]:
        return {kind: list(names) for kind, names in self.values.items()}

    # Channels

    def _channels(self, most: int) -> None:
        random, width, height = self.random, self.width, self.height
        kinds: list[str] = []
        if width > 1:
            kinds += ["east", "west", "multicast", "gather", "gather"]
        if height > 1:
            kinds += ["north", "south"]
        if width > 1 and height > 1:
            kinds += ["corner"]
        if not kinds:
            return
        for number in range(random.randint(1, most)):
            kind = random.choice(kinds)
            channel = Channel(number, kind)
            if kind in ("east", "west", "north", "south"):
                _shift(channel, width, height, kind)
            elif kind == "multicast":
                _multicast(channel, width, height, random.randrange(width))
            elif kind == "gather":
                _gather(channel, width, height)
            else:
                _corner(channel, width, height)
            channel.element = random.choice(["f32", "f32", "f16", "i16"])
            channel.role = random.choice(["async", "async", "unblock", "sync", "data", "data", "pair", "forward"])
            if channel.role == "pair":
                channel.element = "f32"
            channel.count = random.randint(1, 5)
            channel.once = random.random() < 0.4
            self.channels.append(channel)
        for channel in self.channels:
            if channel.role == "forward":
                free = [
                    other for other in self.channels
                    if other is not channel and not other.forwarded and other.role != "forward"
                    and other.element == channel.element
                ]  # fmt: skip
                if free:
                    channel.forward_to = random.choice(free)
                    channel.forward_to.forwarded = True
                else:
                    channel.role = "async"

    # Expressions

    def value(self, kind: str) -> str:
        names = self.values[kind]
        if names and self.random.random() < 0.75:
            return self.random.choice(names[-8:])
        if kind == "i16":
            choice = self.random.randrange(5)
            if choice == 0:
                return self.new(kind, f"arith.constant {self.random.choice([0, 1, 2, 3, -1, 7, -32768, 32767])} : i16")
            if choice == 1:
                return self.new(kind, f"flow.coordinate {self.random.choice('xy')} : i16")
            if choice == 2:
                return self.new(kind, f"flow.get_param @{self.random.choice(['pi', 'pu'])} : i16")
            if choice == 3:
                return self.new(kind, f"flow.extent {self.random.choice('xy')} : i16")
            return self.new(kind, f"flow.load @si[{self.index(4)}] : i16")
        if kind == "f32":
            if self.random.random() < 0.4:
                return self.new(kind, f"arith.constant {self.random.choice(['0.5', '-1.25', '3.0e38', '0.0'])} : f32")
            if self.random.random() < 0.4:
                return self.new(kind, "flow.get_param @pf : f32")
            return self.new(kind, f"flow.load @sf[{self.index(4)}] : f32")
        if kind == "f16":
            if self.random.random() < 0.4:
                return self.new(kind, f"arith.constant {self.random.choice(['0.5', '-1.25', '6.0e4'])} : f16")
            return self.new(kind, f"flow.load @sh[{self.index(4)}] : f16")
        return self.condition()

    def index(self, size: int) -> str:
        if self.random.random() < 0.5:
            return self.new("index", f"arith.constant {self.random.randrange(size)} : index")
        masked = self.masked(self.value("i16"), size)
        return self.new("index", f"arith.index_cast {masked} : i16 to index")

    def masked(self, name: str, size: int) -> str:
        """Return a value below a power of two."""
        mask = self.new("", f"arith.constant {size - 1} : i16")
        return self.new("i16", f"arith.andi {name}, {mask} : i16")

    def condition(self) -> str:
        choice = self.random.random()
        if choice < 0.65:
            predicate = self.random.choice(["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge"])
            return self.new("i1", f"arith.cmpi {predicate}, {self.value('i16')}, {self.value('i16')} : i16")
        kind = self.random.choice(["f32", "f16"])
        predicate = self.random.choice(["olt", "ole", "oeq", "une", "uge", "ord", "uno", "one"])
        return self.new("i1", f"arith.cmpf {predicate}, {self.value(kind)}, {self.value(kind)} : {kind}")

    def expression(self) -> None:
        choice = self.random.randrange(12)
        if choice < 5:
            a, b = self.value("i16"), self.value("i16")
            self.new("i16", f"arith.{self.random.choice(BINARY_I)} {a}, {b} : i16")
        elif choice < 8:
            kind = self.random.choice(["f32", "f32", "f16"])
            a, b = self.value(kind), self.value(kind)
            self.new(kind, f"arith.{self.random.choice(BINARY_F)} {a}, {b} : {kind}")
        elif choice == 8:
            kind = self.random.choice(["i16", "f32", "f16"])
            condition, a, b = self.value("i1"), self.value(kind), self.value(kind)
            self.new(kind, f"arith.select {condition}, {a}, {b} : {kind}")
        elif choice == 9:
            self.new("f32", f"arith.{self.random.choice(['sitofp', 'uitofp'])} {self.value('i16')} : i16 to f32")
        elif choice == 10:
            if self.random.random() < 0.5:
                self.new("f16", f"arith.truncf {self.value('f32')} : f32 to f16")
            else:
                self.new("f32", f"arith.extf {self.value('f16')} : f16 to f32")
        else:
            one = self.new("", "arith.constant 3 : i16")
            divisor = self.new("i16", f"arith.ori {self.value('i16')}, {one} : i16")
            op = self.random.choice(["divsi", "remsi", "divui", "remui"])
            self.new("i16", f"arith.{op} {self.value('i16')}, {divisor} : i16")

    # Statements

    def store(self) -> None:
        kind, buffer = self.random.choice([("i16", "si"), ("f32", "sf"), ("f16", "sh")])
        value = self.value(kind)
        self.emit(f"flow.store {value}, @{buffer}[{self.index(4)}] : {kind}")

    def if_(self, depth: int, sync: bool) -> None:
        condition = self.value("i1")
        kind = self.random.choice(["", "", "i16", "f32"])
        outer = self.scope()
        result = f"%v{self.names}"
        if kind:
            self.names += 1
        self.open(f"{result + ' = ' if kind else ''}scf.if {condition}{f' -> ({kind})' if kind else ''} {{")
        self.body(self.random.randint(1, self.statements), depth + 1, sync)
        if kind:
            self.emit(f"scf.yield {self.value(kind)} : {kind}")
        self.values = outer
        if kind or self.random.random() < 0.5:
            outer = self.scope()
            self.close("} else {")
            self.indent += 1
            self.body(self.random.randint(0, self.statements), depth + 1, sync)
            if kind:
                self.emit(f"scf.yield {self.value(kind)} : {kind}")
            self.values = outer
        self.close()
        if kind:
            self.values[kind].append(result)

    def for_(self, depth: int, sync: bool) -> None:
        low = self.new("", "arith.constant 0 : i16")
        high = (
            self.masked(self.value("i16"), 4) if self.random.random() < 0.6
            else self.new("", f"arith.constant {self.random.randint(0, 4)} : i16")
        )  # fmt: skip
        step = self.new("", f"arith.constant {self.random.randint(1, 2)} : i16")
        initial = self.value("i16")
        outer = self.scope()
        result, index, carried = (f"%v{self.names + k}" for k in range(3))
        self.names += 3
        self.open(
            f"{result} = scf.for {index} = {low} to {high} step {step} "
            f"iter_args({carried} = {initial}) -> (i16) : i16 {{"
        )
        self.values["i16"] += [index, carried]
        self.body(self.random.randint(1, 3), depth + 1, sync)
        self.emit(f"scf.yield {self.value('i16')} : i16")
        self.values = outer
        self.close()
        self.values["i16"].append(result)

    def while_(self, depth: int) -> None:
        start = self.masked(self.value("i16"), 4)
        outer = self.scope()
        result, before, after = (f"%v{self.names + k}" for k in range(3))
        self.names += 3
        self.open(f"{result} = scf.while ({before} = {start}) : (i16) -> i16 {{")
        zero = self.new("", "arith.constant 0 : i16")
        self.values["i16"].append(before)
        self.expression()
        going = self.new("", f"arith.cmpi sgt, {before}, {zero} : i16")
        self.emit(f"scf.condition({going}) {before} : i16")
        self.close("} do {")
        self.indent += 1
        self.emit(f"^bb0({after} : i16):")
        self.values = {kind: list(names) for kind, names in outer.items()}
        self.values["i16"].append(after)
        self.body(self.random.randint(0, 2), depth + 1, False)
        one = self.new("", "arith.constant 1 : i16")
        less = self.new("", f"arith.subi {after}, {one} : i16")
        self.emit(f"scf.yield {less} : i16")
        self.values = outer
        self.close()
        self.values["i16"].append(result)

    def stream(self, kind: str, count: int) -> str:
        """Return a walk, or one of two walks of different length."""
        if self.random.random() > 0.1:
            return self.walk(kind, count)
        type = f"!flow.stream<{kind}>"
        condition = self.value("i1")
        outer = self.scope()
        result = f"%v{self.names}"
        self.names += 1
        self.open(f"{result} = scf.if {condition} -> ({type}) {{")
        self.emit(f"scf.yield {self.walk(kind, count)} : {type}")
        self.values = outer
        outer = self.scope()
        self.close("} else {")
        self.indent += 1
        self.emit(f"scf.yield {self.walk(kind, self.random.randint(1, count))} : {type}")
        self.values = outer
        self.close()
        return result

    def walk(self, kind: str, count: int) -> str:
        """Return a walk over a vector buffer of 16 elements that stays inside."""
        buffer = {"f32": ["va", "vb", "vc"], "f16": ["ha", "hb"], "i16": ["na", "nb"]}[kind]
        name = self.random.choice(buffer)
        stride = self.random.choice([1, 1, 1, 2, -1, 0, 3])
        span = stride * (count - 1)
        low, high = max(0, -span), 15 - max(0, span)
        if high < low:
            stride, low, high = 1, 0, 16 - count
        if self.random.random() < 0.3 and high - low >= 3:
            masked = self.masked(self.value("i16"), 4)
            base = self.new("", f"arith.constant {self.random.randint(low, high - 3)} : i16")
            at = self.new("", f"arith.addi {masked}, {base} : i16")
        else:
            at = str(self.random.randint(low, high))
        if count == 4 and stride == 1 and self.random.random() < 0.5:
            shape = self.random.choice(["strides [1, 1] extents [2, 2]", "strides [1, 0] extents [2, 2]"])
        elif self.random.random() < 0.3 and stride:
            strided = self.new("", f"arith.constant {stride} : i16")
            shape = f"strides [{strided}] extents [{count}]"
        else:
            shape = f"strides [{stride}] extents [{count}]"
        return self.new("", f"flow.stream @{name} at {at} {shape} : !flow.stream<{kind}>")

    def vector(self) -> None:
        kind = self.random.choice(["f32", "f32", "f16", "i16"])
        count = self.random.randint(1, 5)
        type = f"!flow.stream<{kind}>"
        choice = self.random.randrange(4)
        destination = self.stream(kind, count)
        if choice == 0 and kind != "i16":
            a, b, factor = self.stream(kind, count), self.stream(kind, count), self.value(kind)
            name = "fmacs" if kind == "f32" else "fmach"
            self.emit(f"flow.apply {name} {destination}, {a}, {b}, {factor} : {type}, {type}, {type}, {kind}")
        elif choice == 1:
            if self.random.random() < 0.5:
                self.emit(f"flow.apply {ELEMENT[kind]} {destination}, {self.value(kind)} : {type}, {kind}")
            else:
                self.emit(f"flow.apply {ELEMENT[kind]} {destination}, {self.stream(kind, count)} : {type}, {type}")
        else:
            name = self.random.choice(TWO_SOURCES[kind])
            first = self.stream(kind, count)
            if self.random.random() < 0.3:
                self.emit(f"flow.apply {name} {destination}, {first}, {self.value(kind)} : {type}, {type}, {kind}")
            else:
                second = self.stream(kind, count)
                self.emit(f"flow.apply {name} {destination}, {first}, {second} : {type}, {type}, {type}")

    def budget(self, condition: str | None = None) -> None:
        """Open a region that runs a bounded number of times in the life of a unit."""
        left = self.new("", "flow.load @budget[] : i16")
        zero = self.new("", "arith.constant 0 : i16")
        enough = self.new("", f"arith.cmpi sgt, {left}, {zero} : i16")
        if condition is not None:
            enough = self.new("", f"arith.andi {enough}, {condition} : i1")
        self.open(f"scf.if {enough} {{")
        one = self.new("", "arith.constant 1 : i16")
        less = self.new("", f"arith.subi {left}, {one} : i16")
        self.emit(f"flow.store {less}, @budget[] : i16")

    def activate(self) -> None:
        if not self.tasks:
            return
        self.budget()
        self.emit(f"flow.activate @{self.random.choice(self.tasks)}")
        self.close()

    def block(self) -> None:
        if self.blockable:
            self.emit(
                f"flow.{self.random.choice(['block', 'unblock', 'unblock'])} @{self.random.choice(self.blockable)}"
            )

    def extra(self) -> None:
        if self.extras:
            self.random.choice(self.extras).statement()

    def flag(self, param: str) -> str:
        value = self.new("", f"flow.get_param @{param} : i16")
        zero = self.new("", "arith.constant 0 : i16")
        return self.new("", f"arith.cmpi ne, {value}, {zero} : i16")

    def send(self, channel: Channel | None = None) -> None:
        free = [c for c in self.channels if not c.forwarded and not c.once]
        if channel is None and not free:
            return
        channel = channel or self.random.choice(free)
        outer = self.scope()
        self.budget(self.flag(f"sends{channel.number}"))
        kind = channel.element
        type = f"!flow.stream<{kind}>"
        count = self.random.randint(1, 6)
        extent = str(count)
        if self.random.random() < 0.25:
            extent = self.masked(self.value("i16"), 4)
            count = 4
        out = self.new("", f"flow.queue_stream @out{channel.number} extent {extent} : {type}")
        suffix = ""
        if channel.once:
            suffix = f" async(microthread = {4 + channel.number}"
            if self.tasks and self.random.random() < 0.4:
                suffix += f", activate = @{self.random.choice(self.tasks)}"
            suffix += ")"
        if self.random.random() < 0.2:
            self.emit(f"flow.apply {ELEMENT[kind]} {out}, {self.value(kind)}{suffix} : {type}, {kind}")
        elif self.random.random() < 0.3:
            a, b = self.stream(kind, count), self.stream(kind, count)
            self.emit(f"flow.apply {ADD[kind]} {out}, {a}, {b}{suffix} : {type}, {type}, {type}")
        else:
            source = self.stream(kind, count)
            self.emit(f"flow.apply {ELEMENT[kind]} {out}, {source}{suffix} : {type}, {type}")
        self.close()
        self.values = outer

    def body(self, count: int, depth: int = 0, sync: bool = False) -> None:
        for _ in range(count):
            choice = self.random.random()
            if choice < 0.28:
                self.expression()
            elif choice < 0.42:
                self.store()
            elif choice < 0.55:
                self.vector()
            elif choice < 0.66 and depth < 3:
                self.if_(depth, sync)
            elif choice < 0.73 and depth < 2:
                self.for_(depth, sync)
            elif choice < 0.75 and depth < 2:
                self.while_(depth)
            elif choice < 0.83:
                outer = self.scope()
                self.activate()
                self.values = outer
            elif choice < 0.86:
                self.block()
            elif choice < 0.88:
                self.extra()
            elif choice < 0.96:
                self.send()
            elif not self.in_function:
                name = self.random.choice(["f0", "f1"])
                self.new("i16", f"flow.call @{name}({self.value('i16')}) : (i16) -> i16")

    # Receives

    def receive(self, channel: Channel) -> None:
        """Post the receive of a channel, where the unit is a receiver."""
        number, kind = channel.number, channel.element
        type = f"!flow.stream<{kind}>"
        self.open(f"scf.if {self.flag(f'receives{number}')} {{")
        pairs = " in_pairs" if channel.count % 3 == 0 else ""
        source = self.new("", f"flow.queue_stream @in{number} extent {channel.count}{pairs} : {type}")
        if channel.role == "forward":
            assert channel.forward_to is not None
            self.open(f"scf.if {self.flag(f'sends{channel.forward_to.number}')} {{")
            out = self.new("", f"flow.queue_stream @out{channel.forward_to.number} extent {channel.count} : {type}")
            self.emit(
                f"flow.apply {ELEMENT[kind]} {out}, {source} async(microthread = {number}, activate = @done{number}) "
                f": {type}, {type}"
            )
            self.close()
            self.close()
            return
        reduce = self.random.random() < 0.25
        shape = f"strides [{0 if reduce else self.receive_stride()}] extents [{channel.count}]"
        at = 8 if "-1" in shape else 0
        into = self.new("", f"flow.stream @r{number} at {at} {shape} : {type}")
        key = {"async": "activate", "unblock": "unblock"}.get(channel.role)
        suffix = "" if key is None else f" async(microthread = {number}, {key} = @done{number})"
        if reduce or self.random.random() < 0.3:
            self.emit(f"flow.apply {ADD[kind]} {into}, {into}, {source}{suffix} : {type}, {type}, {type}")
        else:
            self.emit(f"flow.apply {ELEMENT[kind]} {into}, {source}{suffix} : {type}, {type}")
        self.close()

    def receive_stride(self) -> int:
        return self.random.choice([1, 1, 2, -1])

    def fresh(self) -> None:
        self.values = {kind: [] for kind in self.values}

    def received(self, channel: Channel) -> None:
        """Put an element of the receive buffer where everybody sees it."""
        kind, state = channel.element, {"f32": "sf", "f16": "sh", "i16": "si"}[channel.element]
        index = self.new("", f"arith.constant {self.random.randrange(8)} : index")
        value = self.new(kind, f"flow.load @r{channel.number}[{index}] : {kind}")
        self.emit(f"flow.store {value}, @{state}[{self.index(4)}] : {kind}")

    def repeat(self, channel: Channel) -> None:
        """Post a receive again, a bounded number of times."""
        self.budget()
        self.receive(channel)
        self.close()

    # The program

    def units(self, name: str, regions: str) -> None:
        self.open(f"flow.units @{name} on {regions} words 512 {{")
        self.emit("flow.buffer @si at 0 : memref<4xi16> = dense<[0, 1, -2, 300]>")
        self.emit("flow.buffer @budget at 4 : memref<i16> = dense<6>")
        self.emit("flow.buffer @sh at 5 : memref<4xf16> = dense<[0.5, -1.0, 0.0, 2.5]>")
        self.emit("flow.buffer @ha at 9 : memref<16xf16> undefined")
        self.emit("flow.buffer @hb at 25 : memref<16xf16> = dense<1.5>")
        self.emit("flow.buffer @na at 41 : memref<16xi16> = dense<7>")
        self.emit("flow.buffer @nb at 57 : memref<16xi16> undefined")
        self.emit("flow.buffer @sf at 74 : memref<4xf32> = dense<[0.25, 1.0, -3.0, 0.0]>")
        self.emit("flow.buffer @va at 82 : memref<16xf32> undefined")
        self.emit("flow.buffer @vb at 114 : memref<16xf32> = dense<1.25>")
        # Overlaps its neighbors: the same words under another name.
        self.emit("flow.buffer @vc at 100 : memref<16xf32> undefined")
        address = 150
        for channel in self.channels:
            size = 2 if channel.element == "f32" else 1
            self.emit(f"flow.buffer @r{channel.number} at {address} : memref<16x{channel.element}> undefined")
            address += 16 * size
        for line in self.params:
            self.emit(line)
        for part in [*self.features, *self.extras]:
            for line in part.members():
                self.emit(line)
        for channel in self.channels:
            self.emit(f"flow.queue input @in{channel.number} id {channel.number} colors [{channel.in_colors}]")
            self.emit(f"flow.queue output @out{channel.number} id {channel.number} colors [{channel.out_colors}]")
        for export in ("si", "sh", "sf", "budget"):
            self.emit(f'flow.export @{export} as "{export}"')
        self.emit('flow.export @main as "main"')
        self.tasks = ["t0", "t1", "t2"]
        self.blockable = ["t1", "t2"]
        self.blockable += [f"in{c.number}" for c in self.channels if c.role in ("data", "pair")]
        self.blockable += [f"done{c.number}" for c in self.channels if c.role == "unblock"]
        self.in_function = True
        for name_ in ("f0", "f1"):
            self.open(f"flow.func @{name_}(%arg: i16) -> (i16) {{")
            self.fresh()
            self.values["i16"].append("%arg")
            self.body(self.random.randint(1, 3), 1)
            self.emit(f"flow.return {self.value('i16')} : i16")
            self.close()
        self.in_function = False
        for channel in self.channels:
            self.channel_tasks(channel)
        for feature in self.features:
            feature.tasks()
        for position, flags in enumerate(("", " blocked" if self.random.random() < 0.3 else "", "")):
            self.open(f"flow.task local @t{position} id {20 + position}{flags} {{")
            self.fresh()
            self.body(self.random.randint(1, 6))
            self.emit("flow.return")
            self.close()
        self.open("flow.func @main(%n: i16) {")
        self.fresh()
        self.values["i16"].append("%n")
        for channel in self.channels:
            if channel.role in ("async", "unblock", "forward"):
                self.receive(channel)
            elif channel.role == "sync":
                self.emit(f"flow.activate @done{channel.number}")
        for part in [*self.features, *self.extras]:
            part.start()
        self.body(self.random.randint(2, 6))
        for channel in self.channels:
            if not channel.forwarded and self.random.random() < 0.8:
                self.send(channel)
        self.emit("flow.activate @t0")
        self.emit("flow.return")
        self.close()
        self.close()

    def channel_tasks(self, channel: Channel) -> None:
        number = channel.number
        self.fresh()
        if channel.role in ("data", "pair"):
            arguments = {"data": f"%a: {channel.element}", "pair": "%a: i16, %b: f16"}[channel.role]
            blocked = " blocked" if self.random.random() < 0.15 else ""
            self.open(f"flow.task data @done{number} id {number} on @in{number}{blocked} ({arguments}) {{")
            if channel.role == "data":
                self.values[channel.element].append("%a")
            else:
                self.values["i16"].append("%a")
                self.values["f16"].append("%b")
            self.body(self.random.randint(1, 4))
            self.store()
        else:
            flags = " active blocked" if channel.role == "unblock" else ""
            self.open(f"flow.task local @done{number} id {10 + number}{flags} {{")
            if channel.role == "sync":
                self.body(self.random.randint(0, 2))
                for _ in range(self.random.randint(1, 2)):
                    if self.random.random() < 0.4:
                        self.open(f"scf.if {self.value('i1')} {{")
                        outer = self.scope()
                        self.receive(channel)
                        self.body(1, 1)
                        self.values = outer
                        self.close()
                    else:
                        outer = self.scope()
                        self.receive(channel)
                        self.values = outer
                    self.received(channel)
            elif channel.role == "unblock":
                # Its activation comes from the start and from itself; the completion unblocks it again.
                self.emit(f"flow.block @done{number}")
                self.received(channel)
                self.emit(f"flow.activate @done{number}")
                self.body(self.random.randint(0, 3))
                self.repeat(channel)
            else:
                if channel.role == "async":
                    self.received(channel)
                self.body(self.random.randint(0, 3))
                self.repeat(channel)
        self.emit("flow.return")
        self.close()

    @property
    def params(self) -> list[str]:
        lines = ["flow.param @pu = dense<5> : tensor<i16>"]
        size = f"tensor<{self.height}x{self.width}x"
        for channel in self.channels:
            for name, mask in (("sends", channel.senders), ("receives", channel.receivers)):
                lines.append(f"flow.param @{name}{channel.number} = dense<{mask}> : {size}i16>")
        return lines + self.random_params

    def program(self) -> str:
        random = self.random
        size = f"tensor<{self.height}x{self.width}x"
        numbers = [[random.randint(-3, 5) for _ in range(self.width)] for _ in range(self.height)]
        floats = [[random.randint(-8, 8) / 4 for _ in range(self.width)] for _ in range(self.height)]
        self.random_params = [
            f"flow.param @pi = dense<{numbers}> : {size}i16>", f"flow.param @pf = dense<{floats}> : {size}f32>"
        ]  # fmt: skip
        self.open(f'flow.fabric @random target "wse3" grid {self.width} by {self.height} {{')
        position = 0
        for channel in self.channels:
            for color in channel.colors:
                self.emit(f"flow.color {color} = {position}")
                position += 1
            for route in channel.routes:
                self.emit(route)
        for feature in self.features:
            for line in feature.fabric():
                self.emit(line)
        classes = [["[:, :]"]]
        if self.width > 1:
            classes += [["[0, :]", "[1:, :]"], ["[::2, :]", "[1::2, :]"]]
        if self.width > 1 and self.height > 1:
            classes += [["[0, :] + [1:, 0]", "[1:, 1:]"], ["[::2, ::2] + [1::2, 1::2]", "[1::2, ::2] + [::2, 1::2]"]]
        chosen = random.choice([classes[0], classes[0], random.choice(classes)])
        for number, regions in enumerate(chosen):
            self.units(f"u{number}", regions)
        self.close()
        return "\n".join(self.lines)


def random_program(random: Random, *, most_features: int = 0) -> str:
    """Return the text of a module with one `flow.fabric` that exports @main(i16)."""
    return Generator(random, most_features=most_features).program()


@dataclass(frozen=True)
class RandomProgram:
    """A program and what a host does with it: launches of @main, one after the other, and words it sends before."""

    text: str
    launches: tuple[int, ...]
    sent: tuple[Sent, ...]
    parts: tuple[str, ...]
    """What it consists of: the roles of its channels and the names of its features."""


def random_exchange(random: Random, kind: type[Generator] = Generator) -> RandomProgram:
    """Return a program with parts that a host talks to, and what the host does."""
    generator = kind(random)
    text = generator.program()
    sent = [sent for feature in generator.features for sent in feature.sent]
    # Parts are started by a launch, and a second one would start them again before they have ended.
    launches = (3,) if generator.features else random.choice([(3,), (3, -1)])
    parts = [channel.role for channel in generator.channels]
    parts += [type(one).__name__ for one in [*generator.features, *generator.extras]]
    return RandomProgram(text, launches, tuple(sent), tuple(parts))
