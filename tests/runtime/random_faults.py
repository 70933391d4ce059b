"""Random programs with planted mistakes: several PEs make some of them, at different cycles.

Which one ends the run is decided by cycle and PE; what the PEs have done that are ahead makes no difference.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from .random_programs import Generator, RandomProgram, random_exchange


class FaultyGenerator(Generator):
    """Writes a program that divides by zero, leaves arrays and memory, and uses queues twice, all now and then."""

    def __init__(self, random: Random) -> None:
        self.often = random.choice([0.02, 0.1, 0.3])
        super().__init__(random)

    def body(self, count: int, depth: int = 0, sync: bool = False) -> None:
        for _ in range(count):
            super().body(1, depth, sync)
            if self.random.random() < self.often:
                self.random.choice([self.divide, self.load_far, self.walk_far, self.send_again, self.receive_again])()

    def receive_stride(self) -> int:
        return self.random.choice([super().receive_stride(), 90, 150])

    def divide(self) -> None:
        divisor = self.masked(self.value("i16"), 4)
        self.new("i16", f"arith.{self.random.choice(['divsi', 'remui'])} {self.value('i16')}, {divisor} : i16")

    def load_far(self) -> None:
        # What is known at compile time to be outside of the array is an error then.
        known = self.new("i16", f"flow.load @si[{self.index(4)}] : i16")
        at = self.new("index", f"arith.index_cast {self.masked(known, 1024)} : i16 to index")
        self.new("i16", f"flow.load @na[{at}] : i16")

    def walk_far(self) -> None:
        """Go over more than an array, or memory."""
        type = "!flow.stream<i16>"
        base = self.new("", f"arith.constant {self.random.choice([0, 100, 400])} : i16")
        at = self.new("", f"arith.addi {self.masked(self.value('i16'), 64)}, {base} : i16")
        walk = self.new("", f"flow.stream @na at {at} strides [1] extents [4] : {type}")
        self.emit(f"flow.apply mov16 {walk}, {self.value('i16')} : {type}, i16")

    def send_again(self) -> None:
        """Send in the background, on a queue that another operation may still use."""
        channels = [channel for channel in self.channels if not channel.forwarded]
        if channels:
            channel = self.random.choice(channels)
            self.send(replace(channel, once=True))

    def receive_again(self) -> None:
        """Receive from a queue that another operation may wait for."""
        channels = [channel for channel in self.channels if channel.role == "async"]
        if channels:
            outer = self.scope()
            self.repeat(self.random.choice(channels))
            self.values = outer


def random_mistakes(random: Random) -> RandomProgram:
    """Return a program that may end with an error."""
    return random_exchange(random, FaultyGenerator)
