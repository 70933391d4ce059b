"""Host API of PTO programs: run kernels of cube and vector cores with arrays, and compare behaviors of pipes.

Knows the passes down to `flow`, and places arguments in memory by name; the lowering and the engine decide how pipes
behave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any, TypeAlias, cast, get_args

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.transforms.loop_invariant_code_motion import LoopInvariantCodeMotionPass

from ..analysis.pto.array_sizes import pointed_bytes, slot_arrays
from ..analysis.pto.dry_run.trace import Trace
from ..checks.pto.registry import OF_THE_CHIP, find_in_trace
from ..diagnostics.errors import LoomError
from ..diagnostics.findings import Finding, once_each
from ..diagnostics.nesting import deep_nesting
from ..diagnostics.records import record
from ..dialects import context, flow
from ..dialects.pto.kernels import Architecture, GetBlockIdxOp, GetBlockNumOp
from ..dialects.pto.types import PackedType, element_bytes
from ..dialects.scalar_types import element_dtype, kind_of
from ..dialects.verification import verify
from ..operations.pipe_protocol import Behavior
from ..passes.pto_bind_launch_arguments import BOUND, bind_launch_arguments
from ..passes.pto_infer_kernel_kinds import infer_kernel_kinds
from ..runtime import Deadlock, Machine
from ..runtime.hosted import as_register
from ..runtime.machine import argument_of
from ..runtime.places import Array
from ..targets.chip import LANES, MAX_BLOCKS
from . import machines
from .pto_check import check, check_behavior, chip_of, parse_kernels, prepare, set_target_arch
from .pto_devices import FIRST_WINDOW, MAX_DEVICES, WINDOWS, Peer, Value, Windows, context_words, of_each
from .pto_dry_run import Given, estimate, trace_of, trace_of_devices
from .pto_sources import Source, kernel_text

__all__ = [
    "WINDOWS", "Argument", "Arguments", "Finding", "Parameter", "Peer", "Printed", "Program", "Result", "check",
    "compare", "differences", "kernel_text", "launch", "run",
]  # fmt: skip

Argument: TypeAlias = "np.ndarray[Any, Any] | np.number[Any] | int | float | Peer | Windows"
"""An array for a pointer, a number for a scalar."""

Arguments: TypeAlias = "Mapping[str, Argument | Sequence[Argument] | None] | Sequence[Argument | None]"
"""Arguments by name, or all in the order in which the kernel takes them; None for an array that is not given.

With several devices, a list or tuple has a value for each."""

OUTSIDE = "outside-tensor"
"""The code of a dry run's finding whose numbers an error of a run lacks."""


@record
class Printed:
    """A tile that a core printed."""

    block: int
    core: str
    """"AIC", "AIV0" or "AIV1"."""
    label: str
    array: Array
    device: int | None = None
    """None if there is only one."""

    def __str__(self) -> str:
        with np.printoptions(linewidth=120, threshold=1024, precision=6, suppress=True):
            shape = " x ".join(map(str, self.array.shape))
            device = "" if self.device is None else f"device {self.device} "
            return f"{device}block {self.block} {self.core}: {self.label} {shape} {self.array.dtype}\n{self.array}"


@dataclass
class Result:
    """What a run has done: the arrays of the arguments by name, the tiles printed in order, the hazards met.

    Arrays of several devices are stacked along a first dimension. `slots` names the arrays in which pipes
    had their slots: what is left there means nothing to the program.
    """

    arrays: dict[str, Array]
    prints: list[Printed] = field(default_factory=list[Printed])
    findings: list[Finding] = field(default_factory=list[Finding])
    statistics: dict[str, Any] = field(default_factory=dict[str, Any])
    slots: frozenset[str] = frozenset()

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


@record
class Parameter:
    """An argument that a kernel takes: its name in the text, and what a pointer points to."""

    name: str
    pointed: Attribute | None
    kind: str = "i64"
    """The type of the number that is passed."""


class Program:
    """Kernels lowered for one behavior of the pipes and a number of blocks.

    Without `verify_each` only what comes in and what comes out of the passes is verified; without `check` launches are
    not checked by a dry run; with `times`, statistics of launches have their estimated times. Raises LoomError for a
    program that the compiler's passes refuse, and for numbers that make no sense.
    """

    def __init__(
        self,
        source: Source,
        *,
        arch: Behavior = "ideal",
        blocks: int = 1,
        lanes: int | None = None,
        verify_each: bool = True,
        check: bool = True,
        times: bool = False,
        devices: int = 1,
    ):
        check_behavior(arch)
        blocks = whole_number(blocks, "the number of blocks")
        if not 1 <= blocks <= MAX_BLOCKS:
            raise LoomError(f"a launch has 1 to {MAX_BLOCKS:,} blocks, not {blocks}")
        lanes = None if lanes is None else whole_number(lanes, "the number of vector cores")
        if lanes is not None and not 1 <= lanes <= LANES:
            raise LoomError(f"a block has 1 to {LANES} vector cores, not {lanes}")
        devices = whole_number(devices, "the number of devices")
        if not 1 <= devices <= MAX_DEVICES:
            raise LoomError(f"a run has 1 to {MAX_DEVICES} devices, not {devices}")
        self.devices = devices
        module = parse_kernels(source).clone()
        infer_kernel_kinds(module)
        bind_launch_arguments(module)
        self.arch: Behavior = arch
        self.blocks = blocks
        chip = arch if arch != "ideal" else chip_of(module)
        set_target_arch(module, chip)
        verify(module)
        self.sizes = pointed_bytes(module, blocks)
        """Bytes of pointers as far as the text says, by name."""
        self.slots = slot_arrays(module)
        """The arrays in which pipes have their slots."""
        lower = {"protocol": arch, "blocks": blocks, "devices": devices} | ({} if lanes is None else {"lanes": lanes})
        self.chip: Architecture = chip
        self.times = times
        self.placed: ModuleOp | None = None
        """The kernels when tiles and buffers have got their addresses, for dry runs."""

        def keep(placed: ModuleOp) -> None:
            self.placed = placed.clone()

        prepare(module, chip, lower=lower, verify_each=verify_each, placed=keep if check or times else None)
        # What is the same for every entry is computed once, and the engine sees that it is.
        LoopInvariantCodeMotionPass().apply(context(), module)
        self.module = module
        exports = {op.visible_name.data: op for op in module.walk() if isinstance(op, flow.ExportOp)}
        self.kernels = [(name, _parameters(op)) for name, op in exports.items()]
        """What is launched, with its arguments: cube and vector cores may both have a part of it."""
        if not self.kernels:
            raise LoomError("the program has no kernel that can be launched")
        _check_names(self.kernels)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The arguments of all kernels; equal names are one argument."""
        return {parameter.name: parameter for _, parameters in self.kernels for parameter in parameters}

    def machine(self, *, order: str | None = None) -> Machine:
        """Return a machine with the kernels loaded.

        `order` "eager" runs each core until it waits; "prompt" runs the other cores after every push. The default is
        eager, and on a5, where no credits limit a producer, prompt.
        """
        if order not in (None, "eager", "prompt"):
            raise LoomError(f"order is '{order}'; use eager or prompt")
        prompt = order == "prompt" or (order is None and self.arch == "a5")
        machine = machines.load(self.module, prompt=prompt)
        if self.devices > 1:
            machine.chip.divide(self.devices)
        return machine


def _check_names(kernels: Sequence[tuple[str, Sequence[Parameter]]]) -> None:
    """Raise LoomError for one name of a pointer and a number: equal names are one argument."""
    first: dict[str, tuple[str, Parameter]] = {}
    for kernel, parameters in kernels:
        for parameter in parameters:
            other, known = first.setdefault(parameter.name, (kernel, parameter))
            if (known.pointed is None) != (parameter.pointed is None):
                what, otherwise = (
                    ("a pointer", "a number") if parameter.pointed is not None else ("a number", "a pointer")
                )
                raise LoomError(
                    f"argument '{parameter.name}' is {what} of @{kernel} and {otherwise} of @{other}; equal names are "
                    "one argument, so rename one"
                )


def _parameters(export: flow.ExportOp) -> list[Parameter]:
    units = export.parent_op()
    assert isinstance(units, flow.UnitsOp)
    name = export.symbol.string_value()
    function = next(op for op in units.body.block.ops if isinstance(op, flow.FuncOp) and op.sym_name.data == name)
    names = function.attributes.get("loom.arguments", ArrayAttr([]))
    pointers = function.attributes.get("loom.pointers", ArrayAttr([]))
    types = function.attributes.get("loom.types", ArrayAttr([]))
    assert isinstance(names, ArrayAttr) and isinstance(pointers, ArrayAttr) and isinstance(types, ArrayAttr)
    found: list[Parameter] = []
    for name, pointed, type in zip(
        cast("ArrayAttr[StringAttr]", names),
        cast("ArrayAttr[Attribute]", pointers),
        cast("ArrayAttr[Attribute]", types),
        strict=True,
    ):
        found.append(Parameter(name.data, pointed if _dtype_of(pointed) is not None else None, kind_of(type) or "i64"))
    return found


@deep_nesting()
def run(
    source: Source,
    *,
    arch: Behavior = "ideal",
    blocks: int = 1,
    lanes: int | None = None,
    arguments: Arguments | None = None,
    order: str | None = None,
    repeat: int = 1,
    step_limit: int | None = None,
    check: bool = True,
    times: bool = False,
    devices: int = 1,
) -> Result:
    """Run a program; return what it has done.

    - `source`: a file, the text of kernels, an xDSL module, or a kernel written in Python (see `kernel_text`).
    - `arch`: how pipes behave, "ideal" as documented, "a2a3" or "a5" as on a chip.
    - `blocks`: blocks of one cube core and its vector cores; `lanes`: vector cores of a block, by default as many as
      the pipes need.
    - `arguments`: arrays for pointers, numbers for the rest, by name, or a list in the order of the kernel's
      parameters, as at a launch in PTOAS's DSL. An array may have any shape; its elements have the type that the
      pointer points to, or are unsigned integers of its width with their bits. It is not changed: `Result.arrays` has
      the new one, of its shape and type. An array that is not given, or None, starts as zeros, flat, if the text says
      how large it is.
    - `order`: "eager" runs each core until it waits; "prompt" runs the other cores after every push.
    - `repeat`: launches in a row, each on what the one before has left.
    - `step_limit`: steps of the engine after which the run ends with an error.
    - `check`: look, in a dry run, for what a run does not show: unordered accesses, tiles never written.
    - `times`: `Result.statistics` has an estimate of cycles, occupancy and waits of each core, in one launch.
    - `devices`: each runs all blocks, on arrays of its own. An argument that is a list or tuple has a value for each
      device; another is the same for all, an array copied. `Peer("x", 1)` is the array `x` of device 1, and `WINDOWS`
      is where the memories of all begin.

    Raises LoomError for what cannot be run, and Deadlock for a program that waits for what never comes.
    """
    program = Program(
        source, arch=arch, blocks=blocks, lanes=lanes, check=check, times=times, devices=devices
    )  # fmt: skip
    return launch(program, {} if arguments is None else arguments, order=order, repeat=repeat, step_limit=step_limit)


def whole_number(value: object, what: str) -> int:
    """Return `value` if it is a whole number; raises LoomError otherwise."""
    try:
        return index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise LoomError(f"{what} is {value!r}; give a whole number") from None


def launch(
    program: Program,
    arguments: Arguments,
    *,
    order: str | None = None,
    repeat: int = 1,
    step_limit: int | None = None,
) -> Result:
    """Run a lowered program; see `run`."""
    if whole_number(repeat, "the number of launches") < 1:
        raise LoomError(f"a program is launched at least once, not {repeat} times")
    step_limit = None if step_limit is None else whole_number(step_limit, "the step limit")
    if step_limit is not None and step_limit < 1:
        raise LoomError(f"a step limit of {step_limit} lets nothing run; give at least 1, or none")
    if not isinstance(program, Program):
        raise LoomError(f"a launch is one of a loomir.pto.Program, not of {program!r}; make one, or call run")
    machine = program.machine(order=order)
    bound = bind_all(program, machine, arguments)
    trace = _dry_run(program, bound)
    if trace is not None:
        trace.launches = repeat
    found = [] if trace is None or program.placed is None else find_in_trace(program.placed, trace)
    for _ in range(repeat):
        start(program, machine, bound)
        try:
            machine.run(step_limit)
        except Deadlock as error:
            findings = _findings(program, machine, found)
            raise Deadlock(
                error.message,
                error.location,
                replace(error.hang, statistics=_statistics(program, machine, trace), findings=findings),
            ) from None
        except LoomError as error:
            # The dry run knows the numbers.
            exact = next(
                (finding for finding in found if (finding.code, finding.location) == (OUTSIDE, error.location)), None
            )
            if exact is not None:
                raise LoomError(exact.message, exact.location) from None
            raise
    result = _result(program, machine, bound, found)
    return replace(result, statistics=_statistics(program, machine, trace))


def _dry_run(program: Program, bound: Sequence[Mapping[str, Bound]]) -> Trace | None:
    """Return the trace of a launch; None if the program is not to be checked."""
    if program.placed is None:
        return None
    if program.devices > 1:
        pointers = {name for name, parameter in program.parameters.items() if parameter.pointed is not None}
        given = [
            {name: Given(argument.value, argument.array, name in pointers) for name, argument in of.items()}
            for of in bound
        ]
        return trace_of_devices(program.placed, program.arch, program.chip, given, program.blocks)
    (only,) = bound
    numbers = {name: argument.value for name, argument in only.items() if argument.array is None}
    arrays = {name: argument.array for name, argument in only.items() if argument.array is not None}
    return trace_of(program.placed, program.arch, program.chip, numbers, arrays, blocks=program.blocks)


def start(program: Program, machine: Machine, bound: Sequence[Mapping[str, Bound]]) -> None:
    """Start every kernel when the machine next runs."""
    for kernel, parameters in program.kernels:
        if program.devices == 1:
            machine.launch(kernel, [bound[0][parameter.name].value for parameter in parameters])
            continue
        words = [[_word(parameter, of[parameter.name].value) for parameter in parameters] for of in bound]
        table = np.array(words, np.uint64).reshape(-1)
        address = machine.chip.allocate("gm", max(table.nbytes, 8), "")
        machine.chip.fetch("gm", address, table.size, table.dtype)[...] = table
        machine.launch(kernel, [address])


def _word(parameter: Parameter, value: float) -> int:
    """Return an argument as a word of the table that several devices read."""
    return as_register(parameter.kind, argument_of(parameter.name, parameter.kind, value)) & ((1 << 64) - 1)


@dataclass
class Bound:
    """An argument as the kernels get it: a number, or the address of an array in global memory."""

    value: int | float
    array: Array | None = None
    """What the caller gave, or zeros."""


def _named(program: Program, arguments: Arguments) -> Mapping[str, Any]:
    """Return arguments by name; raises LoomError for those in order if kernels differ in what they take."""
    if isinstance(arguments, Mapping):
        return arguments
    if not isinstance(arguments, Sequence) or isinstance(arguments, str):
        raise LoomError(f"arguments are {type(arguments).__name__}; give a dict by name, or a list in order")
    orders = {kernel: tuple(parameter.name for parameter in parameters) for kernel, parameters in program.kernels}
    first, names = next(iter(orders.items()))
    other = next((kernel for kernel, order in orders.items() if order != names), None)
    if other is not None:
        raise LoomError(
            f"@{first} and @{other} take different arguments; give them by name: {', '.join(program.parameters)}"
        )
    if len(arguments) != len(names):
        raise LoomError(f"@{first} takes {len(names)} arguments ({', '.join(names)}), and {len(arguments)} are given")
    return dict(zip(names, arguments, strict=True))


def bind_all(program: Program, machine: Machine, arguments: Arguments) -> list[dict[str, Bound]]:
    """Place the arrays of all devices in global memory; return the launch arguments of each."""
    given = _named(program, arguments)
    if program.devices == 1:
        return [bind(program, machine, given)]
    each = of_each(given, program.devices)
    bound = [bind(program, machine, values, f" of device {device}") for device, values in enumerate(each)]
    bases = [min((of.value for of in found.values() if of.array is not None), default=0) for found in bound]
    memory = machine.chip
    for device, values in enumerate(each):
        for name, value in values.items():
            mine = bound[device].get(name)
            if isinstance(value, Peer) and mine is not None:
                mine.value = _peer(program, bound, name, value)
            elif isinstance(value, Windows) and mine is not None and mine.array is not None:
                mine.array[...] = context_words(device, [int(base) for base in bases])
                memory.fetch("gm", int(mine.value), mine.array.size, mine.array.dtype)[...] = mine.array
    return bound


def _peer(program: Program, bound: Sequence[Mapping[str, Bound]], name: str, peer: Peer) -> int | float:
    device = whole_number(peer.device, f"the device of argument '{name}'")
    if not 0 <= device < program.devices:
        raise LoomError(f"argument '{name}' is of device {device}; there are devices 0 to {program.devices - 1}")
    found = bound[device].get(peer.name)
    if found is None or found.array is None:
        raise LoomError(f"argument '{name}' is '{peer.name}' of device {device}, which is not an array there")
    return found.value


def bind(program: Program, machine: Machine, arguments: Mapping[str, Value], label: str = "") -> dict[str, Bound]:
    """Place arrays in global memory; return the launch arguments of the kernels.

    `label` is added to the names of arrays in messages.
    """
    parameters = program.parameters
    for name, given in arguments.items():
        if name in BOUND and name not in parameters:
            _check_bound(name, given, program.blocks)
        elif name not in parameters:
            known = ", ".join(parameters) or "none"
            raise LoomError(f"the kernels take no argument '{name}'; they take: {known}")
    memory = machine.chip
    bound: dict[str, Bound] = {}
    for name, parameter in parameters.items():
        given = arguments.get(name)
        if parameter.pointed is None:
            if given is None:
                raise LoomError(f"argument '{name}' is a number without a value; pass one")
            if isinstance(given, np.ndarray) and given.ndim > 0:
                raise LoomError(f"argument '{name}' is a number, not an array of shape {list(given.shape)}")
            value = given.item() if isinstance(given, np.generic | np.ndarray) else given
            if not isinstance(value, int | float):
                raise LoomError(f"argument '{name}' is a number, and {value!r} is not; pass an int or a float")
            bound[name] = Bound(_as_number(name, value, parameter.kind))
            continue
        dtype = _dtype_of(parameter.pointed)
        assert dtype is not None
        if isinstance(given, Peer | Windows) and program.devices == 1:
            raise LoomError(f"argument '{name}' is about other devices, and there is one; say how many devices run")
        if isinstance(given, Peer):
            bound[name] = Bound(0)
            continue
        if isinstance(given, Windows):
            if dtype.itemsize != np.dtype(np.int64).itemsize:
                raise LoomError(
                    f"argument '{name}' points to {parameter.pointed}, and where the memories of devices begin is in "
                    "64-bit integers; pass an array, or pto.Peer"
                )
            given = np.zeros(FIRST_WINDOW + program.devices, np.int64)
        if given is None:
            size = program.sizes.get(name)
            if size is None:
                raise LoomError(
                    f"argument '{name}' points to {parameter.pointed}, and the program does not say to how many; pass "
                    "an array"
                )
            try:
                array = np.zeros(-(-size // dtype.itemsize), dtype)
            except (MemoryError, ValueError) as error:
                message = f"argument '{name}' needs {size} bytes, which cannot be allocated; pass an array"
                raise LoomError(message) from error
        else:
            array = np.asarray(given)
            if not array.dtype.isnative:
                array = array.astype(array.dtype.newbyteorder("="))
            if array.ndim == 0:
                raise LoomError(f"argument '{name}' is a pointer to {parameter.pointed}; pass an array")
            if array.dtype.itemsize != dtype.itemsize:
                raise LoomError(
                    f"argument '{name}' points to {parameter.pointed}, and an array of {array.dtype} has elements of "
                    "another width; convert it"
                )
            if not _holds(array.dtype, dtype):
                raise LoomError(
                    f"argument '{name}' points to {parameter.pointed}, and the bits of an array of {array.dtype} have "
                    f"another format; convert it, or pass raw bits with .view(np.uint{8 * dtype.itemsize})"
                )
            needed = program.sizes.get(name)
            if needed is not None and array.nbytes < needed:
                raise LoomError(
                    f"argument '{name}' has {array.nbytes} bytes, but the kernels use {needed}; pass a larger array"
                )
        address = memory.allocate("gm", array.nbytes, f"{name}{label}")
        memory.fetch("gm", address, array.size, array.dtype)[...] = array.reshape(-1)
        bound[name] = Bound(address, array)
    return bound


def _check_bound(name: str, given: Value, blocks: int) -> None:
    """Raise LoomError for an argument that each core has from the launch, unless it is what all cores have."""
    asked = BOUND[name]
    of_all = blocks if asked is GetBlockNumOp else 0 if asked is GetBlockIdxOp and blocks == 1 else None
    if of_all is None or given != of_all:
        raise LoomError(
            f"argument '{name}' is the number that each core has in a launch of {blocks} blocks; leave it out, and say "
            "how many blocks run"
        )


def _dtype_of(element: Attribute) -> np.dtype[Any] | None:
    """Return the numpy type of elements in memory: those that only the dialect has are their bits."""
    return np.dtype(f"u{element_bytes(element)}") if isinstance(element, PackedType) else element_dtype(element)


def _holds(given: np.dtype[Any], pointed: np.dtype[Any]) -> bool:
    """Return True if an array of one type can hold elements of another of its width: equal, integers, or raw bits."""
    as_they_are = given.kind == "u" or (given.type is np.void and given.names is None)
    return given == pointed or as_they_are or (given.kind in "bi" and pointed.kind in "iu")


def _result(
    program: Program, machine: Machine, bound: Sequence[Mapping[str, Bound]], found: Sequence[Finding]
) -> Result:
    memory = machine.chip
    several = program.devices > 1
    parts: dict[str, list[Array]] = {}
    for of in bound:
        for name, argument in of.items():
            if argument.array is not None:
                array = argument.array
                assert isinstance(argument.value, int)
                part = memory.fetch("gm", argument.value, array.size, array.dtype).reshape(array.shape)
                parts.setdefault(name, []).append(part.copy())
    arrays = {name: np.stack(each) if several else each[0] for name, each in parts.items()}
    prints = [
        Printed(row % program.blocks, _core(column), label, values, row // program.blocks if several else None)
        for (column, row), label, values in machine.chip.printed_tiles
    ]
    return Result(arrays, prints, list(_findings(program, machine, found)), {}, frozenset(program.slots))


def _as_number(name: str, value: int | float, kind: str) -> int | float:
    """Return a number as a kernel takes it; raises LoomError for a fraction where it takes whole numbers."""
    if not kind.startswith("i"):
        return value
    if isinstance(value, float) and not value.is_integer():
        raise LoomError(f"argument '{name}' is a whole number, and {value} is not; pass an int")
    whole, bits = int(value), int(kind[1:])
    if not -(1 << bits - 1) <= whole < 1 << bits:
        raise LoomError(f"argument '{name}' is {whole}, which does not fit in {bits} bits")
    return whole


def _findings(program: Program, machine: Machine, found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the hazards that the runs have met, and those that a dry run has found beside them."""
    arch = None if program.arch == "ideal" else program.arch
    met = list(machine.chip.findings)
    known = {(finding.code, finding.location) for finding in met}
    met += [finding for finding in found if (finding.code, finding.location) not in known]
    # Both vector cores may meet the same.
    return tuple(once_each(dict.fromkeys(replace(finding, arch=arch) for finding in met), OF_THE_CHIP))


def _statistics(program: Program, machine: Machine, trace: Trace | None) -> dict[str, Any]:
    found = {"arch": program.arch, "blocks": program.blocks, "steps": machine.statistics()["steps"]}
    return found if trace is None or not program.times else {**found, "estimate": estimate(trace, program.chip)}


def _core(column: int) -> str:
    """Return the name of the core at a column of the grid."""
    return "AIC" if column == 0 else f"AIV{column - 1}"


def compare(
    source: Source,
    *,
    blocks: int = 1,
    lanes: int | None = None,
    arguments: Arguments | None = None,
    order: str | None = None,
    repeat: int = 1,
    step_limit: int | None = None,
    devices: int = 1,
) -> dict[Behavior, Result | LoomError]:
    """Run a program with every behavior of the pipes; see `run`. A behavior that fails has its error as the result."""
    found: dict[Behavior, Result | LoomError] = {}
    for arch in get_args(Behavior):
        try:
            found[arch] = run(
                source, arch=arch, blocks=blocks, lanes=lanes, arguments=arguments, order=order, repeat=repeat,
                step_limit=step_limit, devices=devices,
            )  # fmt: skip
        except LoomError as error:
            found[arch] = error
    return found


def differences(results: Mapping[Behavior, Result | LoomError]) -> list[str]:
    """Return the differences between runs of one program, as sentences: each compared with the first that completed.

    Slots are not compared, nor what only cores print that do not take part in the other.
    """
    ended = [(arch, result) for arch, result in results.items() if isinstance(result, Result)]
    found: list[str] = []
    for arch, result in ended[1:]:
        first_arch, first = ended[0]
        for name in sorted(first.arrays.keys() - first.slots):
            found += _difference(f"argument {name}", first_arch, first.arrays[name], arch, result.arrays[name])
        one, other = _by_core(first.prints), _by_core(result.prints)
        for core in sorted(one.keys() & other.keys()):
            block, name = core
            if len(one[core]) != len(other[core]):
                found.append(
                    f"block {block} {name} prints {len(one[core])} tiles on {first_arch} and {len(other[core])} on "
                    f"{arch}"
                )
                continue
            for mine, theirs in zip(one[core], other[core], strict=True):
                what = f"the tile printed by block {block} {name} ({mine.label})"
                found += _difference(what, first_arch, mine.array, arch, theirs.array)
    return found


def _by_core(prints: Sequence[Printed]) -> dict[tuple[int, str], list[Printed]]:
    found: dict[tuple[int, str], list[Printed]] = {}
    for printed in prints:
        found.setdefault((printed.block, printed.core), []).append(printed)
    return found


def _difference(what: str, first_arch: str, first: Array, arch: str, other: Array) -> list[str]:
    if first.shape != other.shape:
        return [f"{what} has shape {list(first.shape)} on {first_arch} and {list(other.shape)} on {arch}"]
    same = (first == other) | ((first != first) & (other != other))
    if same.all():
        return []
    place = tuple(int(i) for i in np.argwhere(~same)[0])
    return [
        f"{what} differs in {int((~same).sum())} of {first.size} elements between {first_arch} and {arch}: the first, "
        f"{list(place)}, is {first[place]} and {other[place]}"
    ]
