"""`loom cslc`: compiles a CSL layout, with the SDK compiler's flags, to a directory that host scripts run."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from ..diagnostics.errors import LoomError
from ..diagnostics.output import tell_line, tell_progress
from ..host.garbage_collection import collector_paused
from ..host.sdk.placement import FabricPlacement
from ..targets import TARGETS, get
from ..targets.memcpy import HALO, MAX_CHANNELS, WEST_COLUMNS
from .arguments import Parser, TellAsJson
from .exit_status import run_tool
from .outputs import Outputs

MAX_FABRIC = 1 << 16
"""Of any number of PEs in a flag."""

Value = int | float | bool

ValueT = TypeVar("ValueT")

DESCRIPTION = """\
Compiles a CSL program, from the file with its layout block, to a directory that
loom python runs. The flags are those of the SDK's cslc. A mistake is shown with its
line; the directory appears whole or, after an error, not at all."""

EXAMPLE = """\
example:
  loom cslc layout.csl --arch=wse3 --fabric-dims=8,3 --fabric-offsets=4,1 \\
      --params=width:1,length:16 --memcpy --channels=1 -o out
  loom python run.py --name out

In DIR are out.json, with the params and colors for the host script;
program.flow.mlir, what runs; and program.wse.mlir, the same as compiled from CSL.

environment:
  CSL_IMPORT_PATH=DIR:DIR...   more directories, searched after those of --import-path
  LOOM_STEP_LIMIT=N            end with an error after N statements and iterations at compile time
                               without progress to another PE (default: 5000000)
  LOOM_NOTICE_AFTER=S          seconds until a notice says which loop takes long (default: 10; 0: never)"""


def main(argv: Sequence[str]) -> int:
    """Compile as the flags say; return the exit status, having printed on stderr why if that is not 0."""
    return run_tool(lambda: _compile(argv))


def parser() -> Parser:
    """Return the flags of `loom cslc`."""
    found = Parser(
        prog="loom cslc",
        description=DESCRIPTION,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    found.add_argument("file", metavar="LAYOUT.csl", type=Path, help="the file with the layout block")
    found.add_argument(
        "-o", metavar="DIR", dest="output", type=Path, default=Path("out"), help="write to DIR (default: out)"
    )
    found.add_argument("--arch", choices=tuple(TARGETS), default="wse2", help="machine to compile for (default: wse2)")
    found.add_argument(
        "--fabric-dims", type=_pair, metavar="W,H", help="columns and rows of the fabric (default: the whole wafer)"
    )
    found.add_argument(
        "--fabric-offsets",
        type=_pair,
        metavar="X,Y",
        help="column and row of the program's first PE on the fabric (default: 4,1 with --memcpy, further east by "
        "--width-west-buf; else 0,0)",
    )
    found.add_argument(
        "--params",
        type=_params,
        action="append",
        default=[],
        metavar="NAME:VALUE,...",
        help="values of the layout's params: numbers, true or false; may be repeated",
    )
    found.add_argument(
        "--colors",
        type=_colors,
        action="append",
        default=[],
        metavar="NAME:ID,...",
        help="numbers of the layout's params that are colors; may be repeated",
    )
    found.add_argument(
        "--memcpy",
        action="store_true",
        help="connect the program with the host, for programs that import <memcpy/memcpy>",
    )
    found.add_argument(
        "--channels", type=_number, default=None, metavar="N", help="channels to the host, 1 to 16 (default: 1)"
    )
    found.add_argument(
        "--import-path",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="look for modules in this directory too: for <...> before the libraries, for others after the importer's "
        "own directory; may be repeated",
    )
    found.add_argument(
        "--fp16-format",
        default="f16",
        metavar="FORMAT",
        help="type of 16-bit floats at run time, the one that @fp16() names: f16, bf16 or cb16 (default: f16)",
    )
    found.add_argument(
        "--width-west-buf",
        type=_number,
        default=0,
        metavar="N",
        help="columns west of the program that buffer what the host sends (default: 0)",
    )
    found.add_argument(
        "--width-east-buf",
        type=_number,
        default=0,
        metavar="N",
        help="columns east of it that buffer what it sends (default: 0)",
    )
    found.add_argument(
        "--max-inlined-iterations",
        type=_count,
        metavar="N",
        help="refuse inline loops of more than N iterations (default: warn of more than SDK 1.4 takes)",
    )
    found.add_argument(
        "--comptime-func-depth-limit",
        type=_count,
        metavar="N",
        help="refuse calls at compile time that are nested more than N deep",
    )
    found.add_argument(
        "--link-section-start-address-bytes",
        type=_sections,
        action="append",
        default=[],
        metavar="SECTION:ADDRESS,...",
        help="put the variables of these link sections at these addresses of a PE's memory, in bytes; may be repeated",
    )
    found.add_argument(
        "--output-json",
        type=Path,
        metavar="PATH",
        help="write the params and colors to this file too; without =PATH to DIR.json",
    )
    found.add_argument(
        "--memory",
        metavar="PATH",
        help="print what each PE program takes of the memory of a PE, variable by variable; with =PATH write it "
        "there as JSON",
    )
    found.add_argument("--out-routes", action="store_true", help="print a table of colors and their routes")
    found.add_argument("--warnings-as-errors", action="store_true", help="write nothing if there are warnings")
    found.add_argument(
        "--no-lint",
        action="store_true",
        help="do not warn of tasks, queues and variables that cannot do what they are declared for",
    )
    found.add_argument("--max-parallelism", type=_count, metavar="N", help="accepted and ignored")
    found.add_argument("-g0", action="store_true", help="accepted and ignored")
    found.add_argument("--json", action=TellAsJson, help=TellAsJson.HELP)
    found.add_argument("--verbose", action="store_true", help="print progress on stderr")
    return found


IGNORED = {
    "max_parallelism": "--max-parallelism: one processor compiles",
    "g0": "-g0: where operations come from is always kept",
}
"""Flags that cannot matter here, and why."""

OWN_JSON = "--output-json"
LONE = (OWN_JSON, "--memory")
"""The flags whose value may be left out, but for which the next argument is never taken."""


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    arguments = parser().parse_args([f"{text}=" if text in LONE else text for text in argv])
    if arguments.output_json == Path():
        arguments.output_json = arguments.output.with_name(f"{arguments.output.name}.json")
    return arguments


def _compile(argv: Sequence[str]) -> None:
    arguments = _arguments(argv)
    params: dict[str, Value] = _merged(arguments.params, "parameter")
    colors: dict[str, int] = _merged(arguments.colors, "color")
    sections: dict[str, int] = _merged(arguments.link_section_start_address_bytes, "link section")
    start = time.perf_counter()

    def log(what: str) -> None:
        if arguments.verbose:
            tell_progress(f"cslc: {time.perf_counter() - start:.2f} s: {what}")

    placement = _placement(arguments)
    if not arguments.file.is_file():
        missing = "is not a file" if arguments.file.exists() else "does not exist"
        raise LoomError(f"{missing}; name the CSL file with the layout block", str(arguments.file))
    for directory in arguments.import_path:
        if not directory.is_dir():
            raise LoomError("is not a directory; correct --import-path", str(directory))
    for flag, why in IGNORED.items():
        if getattr(arguments, flag):
            log(f"ignored {why}")
    log(f"compiling {arguments.file} for {arguments.arch}")
    # Imported when the flags are known to be right: it takes most of the start-up time.
    from ..frontend import compile_layout
    from ..host.notices import print_notice
    from ..host.sdk import artifact

    with collector_paused():
        try:
            layout = compile_layout(
                arguments.file,
                arch=arguments.arch,
                fabric_dims=placement.fabric,
                fabric_offsets=placement.offsets,
                params=params,
                colors=colors,
                memcpy=arguments.memcpy,
                channels=placement.channels,
                print=print,
                import_paths=tuple(arguments.import_path),
                fp16_format=arguments.fp16_format,
                max_inlined_iterations=arguments.max_inlined_iterations,
                comptime_func_depth_limit=arguments.comptime_func_depth_limit,
                link_sections=sections,
                notice=print_notice,
                lint=not arguments.no_lint,
            )
        except LoomError as error:
            from ..host.compilation import errors_of_passes_too

            raise errors_of_passes_too(error) from None
        warnings = list(layout.warnings)
        if layout.imports_memcpy and not arguments.memcpy:
            message = "imports <memcpy/memcpy>, which on the machine needs the flags --memcpy and --channels=1"
            warnings.append(f"{arguments.file}: warning: the program {message}")
        for warning in warnings:
            tell_line(warning)
        if warnings and arguments.warnings_as_errors:
            what = "the warning is an error" if len(warnings) == 1 else f"the {len(warnings)} warnings are errors"
            raise LoomError(f"{what} by --warnings-as-errors; fix the cause, or leave out the flag")
        if arguments.out_routes:
            from .routes import table  # loads dialects, which only this flag needs here

            print(table(layout.module))
        width, height = layout.rectangle
        log(f"{width} x {height} PEs run {layout.programs} different programs; writing {arguments.output}")
        with Outputs() as outputs:
            if arguments.output_json is not None:
                outputs.open(arguments.output_json).write(artifact.out_json(layout).encode())
            memory = outputs.open(arguments.memory) if arguments.memory else None
            tables = artifact.write(arguments.output, layout, arguments.arch, placement)
            if arguments.memory is not None:
                from ..runtime.reports.memory import memory_of, text_of  # for this flag only

                maps = memory_of(tables)
                if memory is None:
                    print(text_of(maps))
                else:
                    memory.write(f"{json.dumps([each.as_json() for each in maps], indent=2)}\n".encode())
        log("done")


def _placement(arguments: argparse.Namespace) -> FabricPlacement:
    for flag in ("channels", "width_west_buf", "width_east_buf"):
        if not arguments.memcpy and getattr(arguments, flag):
            raise LoomError(f"--{flag.replace('_', '-')} needs --memcpy; add that flag")
    channels = 1 if arguments.channels is None else arguments.channels
    if not 1 <= channels <= MAX_CHANNELS:
        raise LoomError(f"--channels={channels} is out of range; give 1 to {MAX_CHANNELS}")
    fabric = arguments.fabric_dims or get(arguments.arch).fabric
    default = (HALO + WEST_COLUMNS + arguments.width_west_buf, HALO) if arguments.memcpy else (0, 0)
    return FabricPlacement(
        fabric,
        arguments.fabric_offsets or default,
        arguments.memcpy,
        channels,
        arguments.width_west_buf,
        arguments.width_east_buf,
    )


def _merged(parts: Sequence[dict[str, ValueT]], what: str) -> dict[str, ValueT]:
    merged: dict[str, ValueT] = {}
    for part in parts:
        for name, value in part.items():
            if merged.setdefault(name, value) != value:
                raise LoomError(f"{what} '{name}' is given twice, as {merged[name]} and as {value}; give it once")
    return merged


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) > MAX_FABRIC:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 to {MAX_FABRIC}")
    return int(text)


def _pair(text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) != 2:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NUMBER,NUMBER")
    return _number(parts[0].strip()), _number(parts[1].strip())


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def _sections(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in _entries(text, "ADDRESS", r"[^\s:,]+").items():
        if not re.fullmatch(r"[0-9]{1,9}|0[xX][0-9a-fA-F]{1,8}", value):
            raise argparse.ArgumentTypeError(f"'{value}' of '{name}' is not an address; give a number of bytes")
        found[name] = int(value, 16 if value[:2].lower() == "0x" else 10)
    return found


def _entries(text: str, what: str, names: str = r"[A-Za-z_][A-Za-z_0-9]*") -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in text.split(","):
        name, separator, value = (part.strip() for part in entry.partition(":"))
        if not separator or not re.fullmatch(names, name) or not value:
            raise argparse.ArgumentTypeError(f"'{entry}' is not of the form NAME:{what}")
        if found.setdefault(name, value) != value:
            raise argparse.ArgumentTypeError(f"'{name}' is given twice, as {found[name]} and as {value}")
    return found


def _params(text: str) -> dict[str, Value]:
    return {name: _value(name, value) for name, value in _entries(text, "VALUE").items()}


def _colors(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in _entries(text, "ID").items():
        if not re.fullmatch(r"[0-9]{1,3}", value):
            raise argparse.ArgumentTypeError(f"'{value}' of '{name}' is not a color id; give a number")
        found[name] = int(value)
    return found


def _value(name: str, text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    for convert in (lambda: int(text, 0), lambda: int(text), lambda: float(text)):
        try:
            return convert()
        except ValueError:
            continue
    raise argparse.ArgumentTypeError(f"'{text}' of '{name}' is not a value; give a number, true or false")
