"""Numbers of the machines are in targets/ alone, and the libraries written in CSL agree with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from loomir import targets
from loomir.dialects import wse
from loomir.frontend import types
from loomir.frontend.compilation import compile_layout
from loomir.runtime.fabric import routes
from loomir.runtime.reference import switches
from loomir.targets import memcpy, wavelets
from loomir.targets.chips import CHIPS

PACKAGE = Path(__file__).parents[2]
FOLDERS = sorted(
    file.parent.name for file in PACKAGE.glob("*/__init__.py") if file.parent.name not in ("targets", "tests")
)

NUMBERS = {
    *(0x3FFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000),
    *(targets.get(name).memory_bytes for name in targets.TARGETS),
    *(targets.get(name).memory_bytes // 2 for name in targets.TARGETS),
    *(memcpy.BUFFER_WAVELETS, 4 * memcpy.BUFFER_WAVELETS),
    *(number for chip in CHIPS.values() for number in (chip.vector_bytes, chip.cube_bytes, chip.left_bytes,
                                                              chip.accumulator_bytes)),
}  # fmt: skip
"""Widths, ranges and sizes that only a machine has."""

SHIFTS = (14, 15, 16, 25, 28)
"""Widths of words, and where a control wavelet has its commands."""

ELSEWHERE = {
    "operations/cb16.py": "the sign of a 16-bit float",
    "runtime/chips/records.py": "elements of a tile that no chip has room for",
    "runtime/reference/arithmetic.py": "a carry between 16-bit elements",
    "runtime/reference/cores.py": "halfwords of the instructions of tables",
    "runtime/chips/chip.py": "bytes between arrays of the host, which no machine has",
    "runtime/arrival_order/effects.py": "halfwords of the instructions of tables",
    "runtime/fabric/classes.py": "how many classes the numbers of classes have room for",
    "runtime/fabric/connect.py": "entries that an index of 16 bits reaches",
    "runtime/fabric/model.py": "wavelets that are surely received where nothing is known",
    "runtime/hosted.py": "the bits of a 16-bit float in a register",
    "runtime/reports/continuations.py": "halfwords of the instructions of tables",
    "runtime/reports/sentences.py": "a number that may be unsigned in a message, and two in one word",
    "runtime/tables/check.py": "halfwords of the instructions of tables",
    "runtime/tables/code.py": "halfwords of the instructions of tables",
    "runtime/tables/dump.py": "halfwords of the instructions of tables",
    "runtime/tables/format.py": "a row of 16 bits that is none",
    "runtime/tables/instructions.py": "halfwords of the instructions of tables",
    "backend/tables/body.py": "halfwords of the instructions of tables",
    "backend/tables/code.py": "halfwords of the instructions of tables",
    "backend/tables/values.py": "the bits of a 16-bit float in a register",
    "analysis/symbolic_integers.py": "entries of a cache",
    "analysis/model_checking/iterations.py": "entries of a cache",
    "analysis/wse/memory_use.py": "a limit of elements to follow",
    "operations/floats.py": "the bits of formats of floats",
    "runtime/reference/descriptors.py": "entries of a cache",
    "runtime/reference/order.py": "cycles of an epoch",
    "runtime/reference/interpreter.py": "halfwords of the instructions of tables",
    "operations/nans.py": "the bits of formats of floats",
    "diagnostics/nesting.py": "values of a frame of Python",
    "operations/print_format.py": "numbers of 16 bits in the text of an assertion",
    "tools/cslc.py": "a limit of flags",
    "host/sdk/conversions.py": "words of 16 bits of the SDK's own library",
    "host/sdk/tensors.py": "the upper half of a word of the host",
    "host/sdk/trace_records.py": "words of 16 bits in the SDK's records",
    "passes/lower_pto_to_flow/quantized_blocks.py": "the bits of a 16-bit float in those of 32 bits",
    "passes/vmi_lower_unified_to_legacy.py": "the bits of a 16-bit float but its sign",
    "backend/csl/tree.py": "how numpy packs bfloat16",
}
"""Files with such a number that is not the machine's, and what it is."""


def machine_numbers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines with a number of a machine, or a shift by one of its widths."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=int(number)) if number in NUMBERS and not isinstance(number, bool):
                yield node.lineno, str(number)
            case ast.BinOp(op=ast.LShift() | ast.RShift(), right=right):
                for inner in ast.walk(right):
                    if isinstance(inner, ast.Constant) and inner.value in SHIFTS:
                        yield node.lineno, f"shift by {inner.value}"
            case ast.BinOp(left=ast.Constant(value=int(left)), op=ast.Mult(), right=ast.Constant(value=int(right))):
                if left * right in NUMBERS:
                    yield node.lineno, f"{left} * {right}"
            case _:
                pass


@cache
def found() -> dict[str, list[str]]:
    """The numbers of machines outside of targets/, by file."""
    result: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            name = file.relative_to(PACKAGE).as_posix()
            for line, text in machine_numbers(ast.parse(file.read_text(encoding="utf-8"))):
                result.setdefault(name, []).append(f"{name}:{line}: {text}")
    return result


@pytest.mark.slow
def test_machine_numbers_are_in_targets() -> None:
    """A new one: name it in targets/ with its source, or, if no machine has it, say in ELSEWHERE what it is."""
    wrong = [place for name, places in found().items() if name not in ELSEWHERE for place in places]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_no_exception_is_left_over() -> None:
    assert sorted(ELSEWHERE) == sorted(name for name in ELSEWHERE if name in found())


def encoded(commands: list[tuple[int, bool]], task: int, data: int) -> int:
    """A control wavelet by the numbers of targets/: commands as (code, whether they keep it from the engine)."""
    bits = 0
    for position, (code, ignored) in enumerate(commands):
        command = code | ignored << wavelets.COMMAND_BITS - 1
        bits |= command << position * wavelets.COMMAND_BITS
    high = bits & (1 << wavelets.HIGH_COMMANDS) - 1
    return (
        data
        | bits >> wavelets.HIGH_COMMANDS
        | task << wavelets.CONTROL_TASK_SHIFT
        | high << wavelets.COMMANDS_SHIFT
    )  # fmt: skip


LAYOUT = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); }'
CODES = {
    "NOP": wavelets.NOP,
    "SWITCH_ADV": wavelets.ADVANCE,
    "SWITCH_RST": wavelets.RESET,
    "TEARDOWN": wavelets.TEARDOWN,
}


@pytest.mark.parametrize("count", [1, 2, 3, wavelets.COMMANDS])
def test_the_control_library_encodes_by_the_numbers_of_targets(tmp_path: Path, count: int) -> None:
    names = [list(CODES)[(3 - k) % 4] for k in range(count)]
    ignored = [k % 2 == 0 for k in range(count)]
    opcodes = ", ".join(f"control.opcode.{name}" for name in names)
    flags = ", ".join(str(flag).lower() for flag in ignored)
    (tmp_path / "layout.csl").write_text(LAYOUT)
    (tmp_path / "pe.csl").write_text(f"""
      const control = @import_module("<control>");
      comptime {{
        const codes = [{count}]control.opcode {{ {opcodes} }};
        const ignored = [{count}]bool {{ {flags} }};
        @comptime_print(control.encode_payload({count}, codes, ignored, true, @get_control_task_id(33)));
        @comptime_print(control.encode_payload({count}, codes, ignored, false, {{}}));
        @comptime_print(control.encode_single_payload(control.opcode.TEARDOWN, true, @get_control_task_id(40), 1234));
        @comptime_print(control.MAX_CMDS);
      }}
    """)
    printed: list[str] = []
    compile_layout(tmp_path / "layout.csl", arch="wse3", print=printed.append)
    commands = [(CODES[name], flag) for name, flag in zip(names, ignored, strict=True)]
    rest = wavelets.COMMANDS - count
    assert list(map(int, printed)) == [
        encoded(commands + [(wavelets.NOP, True)] * rest, 33, 0),
        encoded(commands + [(wavelets.NOP, False)] * rest, wavelets.NO_CONTROL_TASK, 0),
        encoded([(wavelets.TEARDOWN, True)], 40, 1234),
        wavelets.COMMANDS,
    ]


def test_ports_have_one_order() -> None:
    for module in (routes, switches):
        assert [wavelets.PORTS.index(name) for name in ("ramp", "north", "east", "south", "west")] == [
            module.RAMP,
            module.NORTH,
            module.EAST,
            module.SOUTH,
            module.WEST,
        ]
    assert {direction.value for direction in wse.Direction} == set(wavelets.PORTS)
    assert {name.lower() for name in types.DIRECTIONS} == set(wavelets.PORTS)


def test_the_time_library_counts_the_words_of_targets() -> None:
    text = (PACKAGE / "frontend" / "libraries" / "time.csl").read_text(encoding="utf-8")
    assert f"const tsc_size_words = {wavelets.TIMESTAMP_WORDS};" in text
