"""`loom pto`: check and run kernels of cube and vector cores that communicate through pipes."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, get_args

from ..diagnostics.errors import LoomError, shown
from .arguments import OnceEach, Parser, TellAsJson, assignment, number, positive
from .exit_status import run_tool
from .outputs import Outputs

if TYPE_CHECKING:
    from ..diagnostics.findings import Finding
    from ..host.pto import Printed, Result
    from ..host.pto_sources import KernelText
    from ..operations.pipe_protocol import Behavior
    from ..runtime import Deadlock


def main(argv: Sequence[str]) -> int:
    """Run one command; return its exit status: 1 if there is an error in the program, or the tool fails."""
    status = 0

    def run() -> None:
        nonlocal status
        arguments = parser().parse_args(argv)
        status = arguments.command(arguments)

    return run_tool(run) or status


def parser() -> Parser:
    """Return the parser of the flags of `loom pto`."""
    from ..operations.pipe_protocol import Behavior

    archs = get_args(Behavior)
    found = Parser(
        prog="loom pto",
        description="Checks or runs kernels in the text of PTOAS, without the chip.",
        epilog="loom pto COMMAND --help describes each command.",
        allow_abbrev=False,
    )
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="report what is wrong with a program without running it",
        description="Prints what is wrong with a program and what may go wrong, one finding a line: where, why, and "
        "what to do. Ends with status 1 if there is an error, 0 if there are only warnings.",
        allow_abbrev=False,
    )
    check.set_defaults(command=_check)
    check.add_argument("file", metavar="FILE", help="kernels (.pto); - for stdin")
    check.add_argument(
        "--arch",
        choices=archs,
        help="how pipes behave: as documented, or as on a chip; if not given, as on the chip the module names, or on "
        "every chip it is written for",
    )
    check.add_argument(
        "--json", action=TellAsJson, help="print the findings as JSON, and what is wrong with the call or file as well"
    )
    check.add_argument(
        "--level",
        type=int,
        choices=(1, 2, 3),
        help="the build level of PTOAS (--pto-level): 1 and 2 choose all addresses of tiles and buffers, 3 takes them "
        "from the text; if not given, the program has to be right on one of them",
    )
    check.add_argument("--slots", action="store_true", help="also print the cost and effect of other numbers of slots")
    run = commands.add_parser(
        "run",
        help="run a program",
        description="Runs kernels on blocks of a cube core and its vector cores. Output files appear whole or, after "
        "an error, not at all.",
        allow_abbrev=False,
    )
    run.set_defaults(command=_run)
    run.add_argument("file", metavar="FILE", help="kernels (.pto); - for stdin")
    run.add_argument(
        "--arch", choices=archs, default="ideal", help="how pipes behave: as documented (default), or as on a chip"
    )
    run.add_argument("--blocks", type=positive, default=1, metavar="N", help="blocks of cores (default: 1)")
    run.add_argument(
        "--lanes", type=positive, metavar="N", help="vector cores of a block (default: as many as the pipes need)"
    )
    run.add_argument(
        "--devices",
        type=_devices,
        default=1,
        metavar="N",
        help="devices, each with all blocks and arrays of its own (default: 1)",
    )
    run.add_argument(
        "--set",
        type=assignment,
        action=OnceEach,
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the kernels: a .npy file, or a number; with several devices also one for each, "
        "with commas, {device} for its number, NAME@DEVICE for an array of another one, or windows",
    )
    run.add_argument(
        "--get",
        type=assignment,
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="write an argument's array after the run; of several devices in one, or with {device} one for each",
    )
    run.add_argument(
        "--compare",
        action="store_true",
        help="also run with the other behaviors of pipes (ideal, a2a3, a5), and report what differs",
    )
    run.add_argument(
        "--order",
        choices=("eager", "prompt"),
        help="eager: each core runs until it waits; prompt: the other cores run after every push",
    )
    run.add_argument("--repeat", type=positive, default=1, metavar="N", help="run the program N times in a row")
    run.add_argument(
        "--no-check", action="store_true", help="do not look for races and tiles never written before the run"
    )
    run.add_argument("--step-limit", type=positive, metavar="N", help="end with an error after N engine steps")
    run.add_argument(
        "--stats",
        metavar="FILE.json",
        help="write the statistics of the run, with an estimate of cycles, occupancy and waits of each core",
    )
    run.add_argument(
        "--json",
        action=TellAsJson,
        help="print findings and printed tiles as one JSON object, and what is wrong with the call or file as well",
    )
    return found


def _devices(text: str) -> int:
    """Return a number of devices; raises ArgumentTypeError for one that no run has."""
    from ..host.pto_devices import MAX_DEVICES

    devices = positive(text)
    if devices > MAX_DEVICES:
        raise argparse.ArgumentTypeError(f"{text!r} is too many; a run has 1 to {MAX_DEVICES} devices")
    return devices


def _source(file: str) -> Path | KernelText:
    """Return a file, or the text that stdin has."""
    from ..dialects.ir_text import decode_text
    from ..host.pto_sources import KernelText

    return KernelText(decode_text(sys.stdin.buffer.read(), "stdin"), "stdin") if file == "-" else Path(file)


def _check(arguments: argparse.Namespace) -> int:
    from ..host.garbage_collection import collector_paused
    from ..host.pto_check import REJECTED, check, slots_of

    if arguments.json and arguments.slots:
        raise LoomError("--slots prints text; leave out --json")
    source = _source(arguments.file)
    with collector_paused():
        findings = check(source, arguments.arch, level=arguments.level)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(finding)
        print(f"{source.name if arguments.file == '-' else source}: {_summary(findings)}")
    if arguments.slots and not any(finding.code == REJECTED for finding in findings):
        for pipe in slots_of(source, arguments.arch):
            print(shown(f"{pipe.location}: {pipe.label}:{'' if pipe.tradeoffs else ' depends on values'}"))
            for tradeoff in pipe.tradeoffs:
                cycles = pipe.cycles.get(tradeoff.slots)
                times = "" if cycles is None else f", {cycles[0]} cycles, cores wait {cycles[1]} in all (estimate)"
                print(f"  {tradeoff}{times}{' (as it is)' if tradeoff.slots == pipe.slots else ''}")
    return int(any(finding.severity == "error" for finding in findings))


def _summary(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    kinds = ("error", "warning", "note")
    said = [f"{count} {kind}{'s' if count > 1 else ''}" for kind in kinds if (count := counts[kind])]
    return " and ".join(said) or "nothing found"


def _run(arguments: argparse.Namespace) -> int:
    import numpy as np

    from ..host.pto import Result, compare, run
    from ..runtime import Deadlock

    source = _source(arguments.file)
    with Outputs() as outputs:
        values = {name: _value(name, value, arguments.devices) for name, value in arguments.set}
        wanted = [
            (name, device, outputs.open(path.replace(_DEVICE, str(device))))
            for name, path in arguments.get
            for device in (range(arguments.devices) if _DEVICE in path else [None])
        ]
        stats = outputs.open(arguments.stats, of_hang=True) if arguments.stats is not None else None
        options: dict[str, Any] = {
            name: getattr(arguments, name) for name in ("blocks", "lanes", "order", "repeat", "step_limit", "devices")
        }
        runs: dict[Behavior, Result | LoomError] = {}
        if arguments.compare:
            runs = compare(source, arguments=values, **options)
            result = runs[arguments.arch]
        else:
            try:
                result = run(
                    source, arch=arguments.arch, arguments=values, times=stats is not None,
                    check=not arguments.no_check, **options,
                )  # fmt: skip
            except Deadlock as error:
                result = error
            runs = {arguments.arch: result}
        if isinstance(result, LoomError):
            if isinstance(result, Deadlock) or any(isinstance(other, Result) for other in runs.values()):
                _print_runs(runs, arguments)
            if isinstance(result, Deadlock):
                _write_stats(stats, result)
                outputs.keep_reports()
            raise result
        for name, device, stream in wanted:
            if name not in result.arrays:
                raise LoomError(f"the kernels take no array '{name}'; they take: {', '.join(result.arrays) or 'none'}")
            array = result.arrays[name]
            if device is not None and arguments.devices > 1:
                array = array[device]
            # Of types that are not numpy's own, .npy files hold the bits.
            np.save(stream, array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}"))
        _write_stats(stats, result)
        return _print_runs(runs, arguments)


_DEVICE = "{device}"
"""What stands for the number of a device in arguments."""


def _value(name: str, text: str, devices: int) -> Any:
    """Return the value of an argument; of several devices a list with one for each where they may differ."""
    if devices == 1:
        return _value_of_one(name, text.replace(_DEVICE, "0"))
    parts = text.split(",")
    if len(parts) == 1 and _DEVICE in text:
        parts = [text.replace(_DEVICE, str(device)) for device in range(devices)]
    found = [_value_of_one(name, part) for part in parts]
    return found[0] if len(found) == 1 else found


def _value_of_one(name: str, text: str) -> Any:
    from ..host.pto import WINDOWS, Peer
    from .loom import read_array

    if text.endswith(".npy"):
        return read_array(text)
    array, at, device = text.rpartition("@")
    if at and device.isdecimal():
        return Peer(array, int(device))
    return WINDOWS if text == "windows" else number(text, f"argument '{name}'", "neither a number nor a .npy file")


def _write_stats(stream: IO[bytes] | None, result: Result | Deadlock) -> None:
    if stream is not None:
        stream.write((json.dumps(result.statistics, indent=2) + "\n").encode())


def _print_runs(runs: Mapping[Behavior, Result | LoomError], arguments: argparse.Namespace) -> int:
    """Print what a run has met and printed, and how runs with other pipes differ from it; return the exit status."""
    from ..host.pto import Result, differences
    from ..runtime import Deadlock

    arch: Behavior = arguments.arch
    ended = [other for other, result in runs.items() if isinstance(result, Result)]
    different = differences(runs)
    # A program that is not written for a chip is not reported; one that hangs there is.
    failed = any(
        result.has_errors if isinstance(result, Result) else isinstance(result, Deadlock) for result in runs.values()
    )
    if arguments.json:
        found = _run_record(runs[arch])
        if arguments.compare:
            found["others"] = {other: _run_record(result) for other, result in runs.items() if other != arch}
            found["differences"] = different
        print(json.dumps(found, indent=2))
        return int(bool(different) or failed)
    # The error of the run itself ends the tool.
    for other in sorted(runs, key=lambda other: other != arch):
        result = runs[other]
        if isinstance(result, Result) and other == arch:
            for printed in result.prints:
                print(shown(str(printed)))
        for finding in result.findings if isinstance(result, Result | Deadlock) else ():
            print(finding)
        if isinstance(result, LoomError) and other != arch:
            print(f"the program fails on {other}: {result}")
    if arguments.compare and ended:
        alike = f"no result differs between {' and '.join(ended)}" if ended[1:] else "there is nothing to compare with"
        for sentence in different or [alike]:
            print(shown(sentence))
    return int(bool(different) or failed)


def _run_record(result: Result | LoomError) -> dict[str, Any]:
    """Return the JSON object of a run: its error, None if it has ended, its findings, and the tiles it printed."""
    from ..host.pto import Result
    from ..runtime import Deadlock

    found = result.findings if isinstance(result, Result | Deadlock) else ()
    error = None
    if isinstance(result, LoomError):
        error = {"message": result.message, "location": result.location}
    return {
        "error": error,
        "findings": [asdict(finding) for finding in found],
        "prints": [_print_record(printed) for printed in result.prints] if isinstance(result, Result) else [],
    }


def _print_record(printed: Printed) -> dict[str, Any]:
    """Return the JSON object of a printed tile. JSON has no NaN and no infinity: they are strings."""
    array = printed.array
    values: Any = array.tolist() if array.dtype.kind in "iub" else array.astype(float).tolist()
    rows = [[each if isfinite(each) else str(each) for each in row] for row in values]
    where = {name: getattr(printed, name) for name in ("device", "block", "core", "label")}
    return {**where, "dtype": str(array.dtype), "values": rows}
