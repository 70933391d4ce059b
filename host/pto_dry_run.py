"""Dry runs of PTO programs for a host: the trace of a program with its arguments, and what is found in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..analysis.pto.dry_run.global_memory import GlobalMemory
from ..analysis.pto.dry_run.program import Program
from ..analysis.pto.dry_run.run import MAX_STEPS, dry_run
from ..analysis.pto.dry_run.timing import times_of
from ..analysis.pto.dry_run.trace import Trace
from ..analysis.pto.dry_run.values import Pointer
from ..diagnostics.locations import location_of
from ..diagnostics.records import record
from ..dialects.pto.kernels import Architecture, argument_name
from ..dialects.pto.types import PtrType
from ..operations.pipe_protocol import Behavior
from ..targets.chips import COSTS


def trace_of(
    placed: ModuleOp,
    behavior: Behavior,
    chip: Architecture,
    numbers: Mapping[str, Any],
    arrays: Mapping[str, Any] | None = None,
    *,
    blocks: int = 1,
    max_steps: int = MAX_STEPS,
    depths: Mapping[str, int] | None = None,
) -> Trace:
    """Return the trace of a module whose tiles and buffers have addresses, with numbers and arrays by name.

    Numbers that are not given are unknown. Arguments of one name are one array. `depths` are numbers of slots, by ring,
    that differ from those of the text.
    """
    program = Program(placed, behavior, chip, depths)
    arguments: dict[str, Any] = dict(numbers)
    for name in _pointers(program):
        arguments[name] = Pointer(name, 0)
    return dry_run(program, [arguments], blocks=blocks, arrays=arrays, max_steps=max_steps)


@record
class Given:
    """What an argument of one of several devices is: a number, or an address in global memory, with the array there."""

    value: int | float
    array: Any = None
    is_pointer: bool = False


def trace_of_devices(
    placed: ModuleOp, behavior: Behavior, chip: Architecture, given: Sequence[Mapping[str, Given]], blocks: int
) -> Trace:
    """Return the trace of a module on several devices, with the arguments of each."""
    program = Program(placed, behavior, chip)
    names = {
        (device, name): f"{name} of device {device}"
        for device, of in enumerate(given)
        for name, each in of.items()
        if each.array is not None
    }
    addresses = {label: int(given[device][name].value) for (device, name), label in names.items()}
    arrays = {label: given[device][name].array for (device, name), label in names.items()}
    memory = GlobalMemory(addresses)
    by_address = {address: label for label, address in addresses.items()}
    arguments: list[dict[str, Any]] = [
        {
            name: Pointer(by_address[int(each.value)], 0)
            if each.is_pointer and each.value in by_address
            else each.value
            for name, each in of.items()
        }
        for of in given
    ]
    return dry_run(program, arguments, blocks=blocks, arrays=arrays, memory=memory)


def _pointers(program: Program) -> Iterator[str]:
    """Yield the names of arguments that are pointers."""
    for function in program.launched:
        for argument in function.body.blocks[0].args:
            if isinstance(argument.type, PtrType):
                yield argument_name(argument)


def rings_opened_at(placed: ModuleOp, behavior: Behavior, chip: Architecture, location: str | None) -> list[str]:
    """Return the rings of the pipe that an operation at a location opens."""
    rings = Program(placed, behavior, chip).rings
    return [ring.name for ring in rings if location in {location_of(use.pipe) for use in ring.uses}]


def estimate(trace: Trace, chip: Architecture) -> dict[str, object]:
    """Return the estimated times of a trace on a chip as a record, see docs/pto.md."""
    costs = COSTS[chip]
    found = times_of(trace, costs, chip).statistics(costs.frequency_hz)
    return found if trace.complete else {**found, "incomplete": trace.reason}
