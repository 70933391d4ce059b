"""Register allocation for DSD operations: which register holds every operand, and where it is loaded.

The files are kept apart: dest, src0 and src1 hold descriptors, xdsr and sr what some descriptors need besides. An
asynchronous operation holds its registers from its issue to its end, so those that may overlap get different ones
(coloring). A synchronous operation needs its registers until the task goes on; what it loaded stays in its register
until something else is loaded there, and an operand that is still held is not loaded again. What a loop uses and does
not change is loaded once before it, if enough registers are free. Callees are planned before their callers: a call
invalidates the registers that its function loads, and a recursive call all of them. At the start of a task no register
is known, since other tasks load them too; tasks do not interrupt each other.

The registers of an asynchronous operation are its own. It loads them where it is issued, unless what it needs has been
loaded there before, in the same task: an operation leaves its registers as they are. Before a loop it loads them only
if no operation that uses one of them can be under way there. A synchronous operation reads them too, if none can be
under way meanwhile.

Operations and descriptors are hashable keys; the module knows neither IR nor machine, only how large each file is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, product
from typing import Any, Literal, cast

from ..diagnostics.records import record
from .coloring import Exhausted, Graph, color_graph, graph_of
from .concurrency import Concurrency
from .skeleton import Branch, Call, Loop, Operation, Program, Signal, Statement, callees_first, statements

File = Literal["dest", "src0", "src1", "xdsr", "sr"]
Files = Mapping[File, int]
Register = tuple[File, int]


@record
class Demand:
    """An operand that needs a register of `file`, one XDSR if `extended`, and so many stride registers."""

    descriptor: Hashable
    file: File
    extended: bool = False
    strides: int = 0

    def units(self) -> list[File]:
        """Return the files of all registers it needs, its own first."""
        extended: list[File] = ["xdsr"] if self.extended else []
        strides: list[File] = ["sr"] * self.strides
        return [self.file, *extended, *strides]


@dataclass(eq=False)
class Load:
    """Loads a descriptor into registers before the operation or loop `before`."""

    demand: Demand
    before: Hashable
    registers: list[Register]
    """In the order of `Demand.units`."""


@dataclass
class Plan:
    """Every load, those of one body in its order, and the load that each operand of an operation reads."""

    loads: list[Load] = field(default_factory=list[Load])
    operands: dict[tuple[Hashable, int], Load] = field(default_factory=dict[tuple[Hashable, int], Load])


@dataclass
class OutOfRegisters(Exception):
    """A file has too few registers for `operation` and `live`: they all run at the same time, or so many of them at a
    time that no choice of registers suits all, but one would without any one of them."""

    file: File
    operation: Hashable
    live: tuple[Hashable, ...]


def plan_registers(
    program: Program,
    demands: Mapping[Any, Sequence[Demand]],
    sizes: Files,
    *,
    reserved: Iterable[Register] = (),
    is_invariant: Callable[[Hashable, Hashable], bool] = lambda loop, descriptor: False,
    microthreads: Mapping[Any, int] | None = None,
) -> Plan:
    """Return registers for the `demands` of every operation of `program`, whose position is their index.

    Asynchronous operations with the same of the `microthreads` never run at the same time, whatever the program's
    order leaves open: what breaks that is refused when it happens. `reserved` registers are never taken.
    `is_invariant(loop, descriptor)` tells whether a descriptor is known before the loop with that key. Raises
    OutOfRegisters.
    """
    concurrency = Concurrency(program)
    operations = [operation for operation in program.operations() if demands.get(operation.key)]
    files: dict[File, list[int]] = {
        file: [number for number in range(size) if (file, number) not in set(reserved)] for file, size in sizes.items()
    }

    def plan(held: _Held) -> Plan:
        planner = _Planner(demands, files, held, concurrency, is_invariant)
        first = callees_first(program)
        rest = [name for name in program.functions if name not in set(first)]
        for name in (*first, *rest):
            planner.function(name, program.functions[name].body)
        in_functions, planner.plan.loads = planner.plan.loads, []
        for task in program.tasks.values():
            planner.body(task.body)
        planner.plan.loads += in_functions
        return planner.plan

    asynchronous = [operation for operation in operations if operation.asynchronous]
    try:
        return plan(_registers_of(asynchronous, demands, files, concurrency, microthreads or {}))
    except OutOfRegisters as error:
        if error.operation in {operation.key for operation in asynchronous}:
            raise
    # What asynchronous operations hold may leave too little to a synchronous one: choose with regard to all of those.
    return plan(_registers_of(operations, demands, files, concurrency, microthreads or {}))


_Held = dict[Hashable, list[list[Register]]]


def _registers_of(
    operations: Sequence[Operation],
    demands: Mapping[Any, Sequence[Demand]],
    files: Mapping[File, list[int]],
    concurrency: Concurrency,
    microthreads: Mapping[Any, int],
) -> _Held:
    """Return the registers of every asynchronous operation: for each of its demands those of its units.

    Synchronous ones among the operations get registers beside those, so that there are enough for them.
    """
    keys = [operation.key for operation in operations]
    asynchronous = {operation.key for operation in operations if operation.asynchronous}
    position = {key: number for number, key in enumerate(keys)}
    needs = tuple(tuple(tuple(demand.units()) for demand in demands[key]) for key in keys)
    at_the_same_time: list[tuple[int, ...]] = []
    for key in keys:
        own = microthreads.get(key)
        others = [
            other
            for other in concurrency.overlapping(key)
            if other in position and other != key and (key in asynchronous or other in asynchronous)
        ]
        at_the_same_time.append(
            tuple(position[other] for other in others if own is None or own != microthreads.get(other))
        )
    files_in_order = tuple((file, tuple(numbers)) for file, numbers in files.items())
    try:
        held = _registers_of_numbered(needs, tuple(at_the_same_time), files_in_order)
    except OutOfRegisters as error:
        operation, live = cast(int, error.operation), cast("tuple[int, ...]", error.live)
        raise OutOfRegisters(error.file, keys[operation], tuple(keys[n] for n in live)) from None
    return {
        key: [list(registers) for registers in held[number]] for key, number in position.items() if key in asynchronous
    }


@lru_cache(maxsize=64)
def _registers_of_numbered(
    needs: tuple[tuple[tuple[File, ...], ...], ...],
    at_the_same_time: tuple[tuple[int, ...], ...],
    files: tuple[tuple[File, tuple[int, ...]], ...],
) -> tuple[tuple[tuple[Register, ...], ...], ...]:
    """Return the registers of operations called by their numbers: the programs of one file mostly ask the same.

    `needs` has the units of each operation's demands, `at_the_same_time` the others that each may overlap.
    """
    held: list[list[list[Register]]] = [[[(file, -1) for file in units] for units in demands] for demands in needs]
    for file, numbers in files:
        # Nodes in the order of the program: (operation, demand, unit).
        nodes = [
            (operation, demand, unit)
            for operation, demands in enumerate(needs)
            for demand, units in enumerate(demands)
            for unit, needed in enumerate(units)
            if needed == file
        ]
        of_operation: list[list[int]] = [[] for _ in needs]
        for number, (operation, _, _) in enumerate(nodes):
            of_operation[operation].append(number)
        edges = [pair for own in of_operation for pair in combinations(own, 2)]
        for operation, others in enumerate(at_the_same_time):
            for other in others:
                edges += product(of_operation[operation], of_operation[other])
        graph = graph_of(range(len(nodes)), edges)
        try:
            found = color_graph(graph, dict.fromkeys(graph, numbers))
        except Exhausted as error:
            competitors = set(error.competitors)
            keys = list(dict.fromkeys(nodes[node][0] for node in graph if node in competitors))
            if sum(len(of_operation[key]) for key in keys) <= len(numbers):
                keys = _inseparable(graph, of_operation, numbers)
            raise OutOfRegisters(file, keys[-1], tuple(keys[:-1])) from None
        for node, number in found.items():
            operation, demand, unit = nodes[node]
            held[operation][demand][unit] = (file, number)
    return tuple(tuple(tuple(registers) for registers in demands) for demands in held)


def _inseparable(graph: Graph[int], of_operation: Sequence[Sequence[int]], numbers: Sequence[int]) -> list[int]:
    """Return operations that do not fit, but would without any one of them; `of_operation` are the nodes of each."""
    kept = [key for key, own in enumerate(of_operation) if own]
    for key in reversed(kept):
        rest = {node for other in kept if other != key for node in of_operation[other]}
        part = {node: [other for other in graph[node] if other in rest] for node in graph if node in rest}
        try:
            color_graph(part, dict.fromkeys(part, numbers))
        except Exhausted:
            kept.remove(key)
    return kept


def fewest_to_end(error: OutOfRegisters, needed: Mapping[Hashable, int], size: int) -> list[Hashable]:
    """Return the fewest operations, one at least, after whose ends the others that compete have enough registers.

    `needed` are the registers that each operation needs of the file, of `size`. Those that need most are taken first,
    of equal ones the earlier. Where they do not all run at the same time, the end of one is enough.
    """
    missing = needed[error.operation] + sum(needed[op] for op in error.live) - size
    found: list[Hashable] = []
    for op in sorted(error.live, key=lambda op: -needed[op]):
        if found and missing <= 0:
            break
        found.append(op)
        missing -= needed[op]
    return [op for op in error.live if op in found]


_Key = tuple[File, Hashable, tuple[Register, ...]]
_Cache = dict[_Key, Load]
"""Descriptors that registers hold, least recently used first, by file and descriptor, and by the registers if these are
those of an asynchronous operation."""


def _key_of(demand: Demand, cache: _Cache, busy: Collection[Register]) -> _Key | None:
    """Return where the cache has a descriptor, in registers that no asynchronous operation may be using."""
    for key, load in cache.items():
        if key[:2] == (demand.file, demand.descriptor) and not any(register in busy for register in load.registers):
            return key
    return None


def _loaded_there(demand: Demand, registers: Sequence[Register], cache: _Cache) -> Load | None:
    """Return the load that has put a descriptor into just these registers."""
    for key, load in cache.items():
        if key[:2] == (demand.file, demand.descriptor) and load.registers == registers:
            return load
    return None


class _Planner:
    def __init__(
        self,
        demands: Mapping[Any, Sequence[Demand]],
        files: Mapping[File, list[int]],
        held: _Held,
        concurrency: Concurrency,
        is_invariant: Callable[[Hashable, Hashable], bool],
    ):
        self.plan = Plan()
        self._demands = demands
        self._files = files
        self._held = held
        self._concurrency = concurrency
        self._is_invariant = is_invariant
        self._pinned: set[Load] = set()
        self._written: dict[Hashable, set[Register]] = {}
        """The registers that functions and what they call load; without those that may call themselves."""

    def body(self, body: tuple[Statement, ...]) -> None:
        self._follow(body, {}, {})

    def function(self, name: Hashable, body: tuple[Statement, ...]) -> None:
        """Plan a function, behind those that it calls."""
        first = len(self.plan.loads)
        self.body(body)
        written = {register for load in self.plan.loads[first:] for register in load.registers}
        called = {statement.function for statement in statements(body) if isinstance(statement, Call)}
        if called <= self._written.keys():
            self._written[name] = written.union(*(self._written[other] for other in called))

    def _follow(self, body: tuple[Statement, ...], cache: _Cache, visible: _Cache) -> None:
        """Plan the statements of a body; `cache` changes with them. `visible` is what separate arms see."""
        for statement in body:
            match statement:
                case Signal():
                    pass
                case Call():
                    written = self._written.get(statement.function)
                    if written is None:
                        cache.clear()
                    else:
                        self._evict(cache, written)
                case Operation():
                    if statement.key in self._held:
                        self._asynchronous(statement, cache)
                    else:
                        self._synchronous(statement, cache)
                case Branch():
                    self._branch(statement, cache, visible)
                case Loop():
                    self._loop(statement, cache)

    def _asynchronous(self, operation: Operation, cache: _Cache) -> None:
        for position, demand in enumerate(self._demands[operation.key]):
            registers = self._held[operation.key][position]
            load = _loaded_there(demand, registers, cache)
            if load is None:
                load = self._load_into(demand, operation.key, registers, cache)
            self.plan.operands[operation.key, position] = load

    def _load_into(self, demand: Demand, before: Hashable, registers: list[Register], cache: _Cache) -> Load:
        """Load the registers of an asynchronous operation."""
        self._evict(cache, registers)
        load = Load(demand, before, registers)
        cache[demand.file, demand.descriptor, tuple(registers)] = load
        self.plan.loads.append(load)
        return load

    def _synchronous(self, operation: Operation, cache: _Cache) -> None:
        busy = self._busy([operation.key])
        used: list[Load] = []
        wanted = list(enumerate(self._demands.get(operation.key, ())))
        # What is held already comes first, so that loading the rest does not throw it out.
        for position, demand in wanted:
            key = _key_of(demand, cache, busy)
            if key is not None:
                load = cache[key] = cache.pop(key)
                used.append(load)
                self.plan.operands[operation.key, position] = load
        for position, demand in wanted:
            if (operation.key, position) in self.plan.operands:
                continue
            load = self._load(demand, operation.key, operation.key, cache, busy, used)
            used.append(load)
            self.plan.operands[operation.key, position] = load

    def _load(
        self,
        demand: Demand,
        before: Hashable,
        operation: Hashable,
        cache: _Cache,
        busy: set[Register],
        used: Sequence[Load],
    ) -> Load:
        registers: list[Register] = []
        for file in demand.units():
            taken = {*busy, *registers, *(register for load in used for register in load.registers)}
            register = self._free(file, cache, taken)
            if register is None:
                raise OutOfRegisters(file, operation, self._holders(file, operation))
            self._evict(cache, [register])
            registers.append(register)
        load = Load(demand, before, registers)
        cache[demand.file, demand.descriptor, ()] = load
        self.plan.loads.append(load)
        return load

    def _free(self, file: File, cache: _Cache, taken: set[Register]) -> Register | None:
        """Return an empty register, or else the one whose content was used longest ago."""
        contents = {register: load for load in cache.values() for register in load.registers}
        candidates: list[Register] = [(file, number) for number in self._files[file] if (file, number) not in taken]
        for register in candidates:
            if register not in contents:
                return register
        age = {load: position for position, load in enumerate(cache.values())}
        evictable = [register for register in candidates if contents[register] not in self._pinned]
        return min(evictable, key=lambda register: age[contents[register]], default=None)

    def _branch(self, branch: Branch, cache: _Cache, visible: _Cache) -> None:
        before = dict(cache)
        start = {key: load for key, load in before.items() if visible.get(key) is load} if branch.separate else before
        for arm in branch.arms:
            after = dict(start)
            self._follow(arm, after, dict(start))
            # What an arm overwrites is gone behind the branch, and what only an arm loads is not seen there.
            overwritten = {
                register for key, load in after.items() if before.get(key) is not load for register in load.registers
            }
            for key, load in list(cache.items()):
                lost = key in start and after.get(key) is not load
                if lost or any(register in overwritten for register in load.registers):
                    del cache[key]

    def _loop(self, loop: Loop, cache: _Cache) -> None:
        inside = list(statements(loop.body))
        called = {statement.function for statement in inside if isinstance(statement, Call)}
        pinned: _Cache = {}
        if called <= self._written.keys():
            written = set[Register]().union(*(self._written[name] for name in called))
            pinned = self._pin(loop, [s for s in inside if isinstance(s, Operation)], written, cache)
        for key in [key for key in cache if pinned.get(key) is not cache[key]]:
            del cache[key]
        new = set(pinned.values()) - self._pinned
        self._pinned |= new
        self._follow(loop.body, dict(pinned), pinned)
        self._pinned -= new

    def _pin(self, loop: Loop, operations: Sequence[Operation], written: set[Register], cache: _Cache) -> _Cache:
        """Load before the loop what it uses and does not change, leaving each file enough for the rest.

        `written` are the registers that the functions it calls load.
        """
        busy = self._busy([operation.key for operation in operations]) | written
        for operation in operations:
            for registers in self._held.get(operation.key, ()):
                busy.update(registers)
        reserve: dict[File, int] = defaultdict(int)
        for operation in operations:
            needs: dict[File, int] = defaultdict(int)
            for demand in self._demands.get(operation.key, ()):
                for file in demand.units():
                    needs[file] += 1
            for file, count in needs.items():
                reserve[file] = max(reserve[file], count)
        pinned: _Cache = {key: load for key, load in cache.items() if load in self._pinned}
        for operation in operations:
            for position, demand in enumerate(self._demands.get(operation.key, ())):
                if loop.key is None or not self._is_invariant(loop.key, demand.descriptor):
                    continue
                if operation.key in self._held:
                    others = [other.key for other in operations if other.key != operation.key]
                    own = self._held[operation.key][position]
                    if not written.intersection(own) and not self._takes_another(others, demand, own):
                        self._pin_held(loop, demand, own, busy, reserve, cache, pinned)
                    continue
                if _key_of(demand, pinned, busy) is not None:
                    continue
                kept = {register for load in pinned.values() for register in load.registers}
                units = demand.units()
                free: dict[File, int] = {
                    file: sum((file, n) not in kept and (file, n) not in busy for n in self._files[file])
                    for file in units
                }
                if any(free[file] - units.count(file) < reserve[file] for file in units):
                    continue
                key = _key_of(demand, cache, busy)
                if key is None:
                    load = self._load(demand, loop.key, operation.key, cache, busy, list(pinned.values()))
                    key = demand.file, demand.descriptor, ()
                else:
                    load = cache[key]
                pinned[key] = load
        return pinned

    def _takes_another(self, operations: Iterable[Hashable], demand: Demand, registers: Sequence[Register]) -> bool:
        """Return True if one of the operations holds some of the registers for another descriptor."""
        return any(
            not set(registers).isdisjoint(held) and (held != registers or other != demand)
            for operation in operations
            if operation in self._held
            for other, held in zip(self._demands[operation], self._held[operation], strict=True)
        )

    def _pin_held(
        self,
        loop: Loop,
        demand: Demand,
        registers: list[Register],
        busy: set[Register],
        reserve: Mapping[File, int],
        cache: _Cache,
        pinned: _Cache,
    ) -> None:
        """Load the registers of an asynchronous operation before a loop if nothing can be under way that uses them,
        and enough is left."""
        key = demand.file, demand.descriptor, tuple(registers)
        load = _loaded_there(demand, registers, cache)
        kept = {register for load in pinned.values() for register in load.registers}
        if load is None:
            under_way = self._registers_held(self._concurrency.before(loop.key))
            free: dict[File, int] = {
                file: sum((file, n) not in kept and (file, n) not in busy for n in self._files[file])
                for file in demand.units()
            }
            if not kept.union(under_way).isdisjoint(registers) or any(free[file] < reserve[file] for file in free):
                return
            load = self._load_into(demand, loop.key, registers, cache)
        pinned[key] = load

    def _evict(self, cache: _Cache, registers: Collection[Register]) -> None:
        for key in [key for key, load in cache.items() if any(register in registers for register in load.registers)]:
            del cache[key]

    def _busy(self, keys: Iterable[Hashable]) -> set[Register]:
        """Return the registers that asynchronous operations may hold while the operations `keys` run."""
        return self._registers_held(other for key in keys for other in self._concurrency.overlapping(key))

    def _registers_held(self, operations: Iterable[Hashable]) -> set[Register]:
        """Return the registers of asynchronous operations."""
        return {register for key in operations for registers in self._held.get(key, ()) for register in registers}

    def _holders(self, file: File, operation: Hashable) -> tuple[Hashable, ...]:
        return tuple(
            other
            for other in self._concurrency.overlapping(operation)
            if any(register[0] == file for registers in self._held.get(other, ()) for register in registers)
        )
