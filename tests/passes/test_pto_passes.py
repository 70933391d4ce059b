"""What holds for all passes on pipes together: on pairs of kernels made at random, and on public files.

For the latter set LOOMIR_PTOAS to the directory of a checkout of PTOAS.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp, StringAttr

from loomir.diagnostics.errors import LoomError
from loomir.dialects import get_all_dialects
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.buffers import ImportReservedBufferOp, ReserveBufferOp
from loomir.dialects.pto.frontend_pipes import OpenPipeOp, PipeUseOp
from loomir.dialects.pto.internal_pipes import (
    BoundPipeOp,
    InitializeL2G2LPipeOp,
    InitializeL2LPipeOp,
    InitializePipeOp,
    number,
)
from loomir.dialects.pto.kernels import architecture_of
from loomir.dialects.verification import verify
from loomir.operations import pipe_protocol
from loomir.passes import get_all_passes
from loomir.targets.chip import HARDWARE_FLAGS

from ..searches import examples

PASSES = [
    "pto-assign-default-frontend-pipe-id",
    "pto-lower-frontend-pipe-ops",
    "pto-infer-validate-pipe-init",
    "pto-place-reserved-buffers",
    "pto-resolve-reserved-buffers",
]
DIRECTORY = os.environ.get("LOOMIR_PTOAS")


def lowered(text: str, chip: str | None = None) -> ModuleOp:
    """The program after all passes, verified after each; the module is for `chip` if it names none."""
    context = Context()
    for dialects in (get_xdsl_dialects(), get_all_dialects()):
        for name, load in dialects.items():
            context.register_dialect(name, load)
    module = parse_ir(context, text, "program.pto")
    if chip is not None and not {"pto.target_arch", "pto.device-spec"} & set(module.attributes):
        module.attributes["pto.target_arch"] = StringAttr(chip)
    verify(module)
    for name in PASSES:
        get_all_passes()[name]()().apply(context, module)
        verify(module)
    return module


def pipes(module: ModuleOp, function: str) -> list[InitializePipeOp]:
    return [
        op
        for member in module.ops
        if member.properties.get("sym_name") == StringAttr(function)
        for op in member.walk()
        if isinstance(op, InitializePipeOp)
    ]


directions = st.sampled_from([pipe_protocol.C2V, pipe_protocol.V2C, pipe_protocol.BOTH])
shapes = st.lists(st.tuples(directions, st.sampled_from([256, 1024]), st.integers(1, 8), st.booleans()), max_size=5)


def program(shape: list[tuple[int, int, int, bool]], order: list[int], chip: str) -> str:
    """Two kernels with a pipe for each (direction, slot size, slots, split); the vector kernel in another `order`."""
    texts: dict[str, str] = {}
    for kernel, peer, place in (("cube", "vec", "mat"), ("vec", "cube", "vec")):
        lines: list[str] = []
        for index in range(len(shape)) if kernel == "cube" else order:
            direction, size, slots, split = shape[index]
            operands = ["gm_slot_buffer = %gm : !pto.ptr<f32>"]
            for way, consumer in ((pipe_protocol.C2V, "vec"), (pipe_protocol.V2C, "cube")):
                if not direction & way:
                    continue
                name = f"{'c2v' if way == pipe_protocol.C2V else 'v2c'}_{index}"
                key = f'name = "{name}"'
                if consumer == kernel:
                    clauses = f"{key}, size = {size * slots}, location = #pto.address_space<{place}>, auto = true"
                    lines.append(f"%{name} = pto.reserve_buffer {{{clauses}}} -> i32")
                else:
                    lines.append(f"%{name} = pto.import_reserved_buffer {{{key}, peer_func = @{peer}}} -> i32")
                operands.append(f"{name[:3]}_consumer_buf = %{name} : i32")
            open_pipe = "pto.aic_initialize_pipe" if kernel == "cube" else "pto.aiv_initialize_pipe"
            clauses = f"id = {index}, dir_mask = {direction}, slot_size = {size}, slot_num = {slots}"
            lines.append(f"{open_pipe} {{{clauses}}}({', '.join(operands)})")
            if kernel == "vec" and direction & pipe_protocol.C2V:
                lines.append(f"pto.tfree_from_aic {{id = {index}, split = {int(split)}}}")
        kind = "cube" if kernel == "cube" else "vector"
        head = f"func.func @{kernel}(%gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
        texts[kernel] = "\n".join([f"{head} {{", *lines, "return", "}"])
    return f'module attributes {{pto.target_arch = "{chip}"}} {{\n{texts["cube"]}\n{texts["vec"]}\n}}'


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.data(), shapes, st.sampled_from(["a3", "a5"]))
def test_both_ends_agree_and_nothing_overlaps(
    data: st.DataObject, shape: list[tuple[int, int, int, bool]], chip: str
) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    text = program(shape, order, chip)
    flags = sum(pipe_protocol.flag_count(direction) for direction, *_ in shape)
    if flags > HARDWARE_FLAGS:
        with pytest.raises(LoomError, match="fit within 16 hardware flag ids"):
            lowered(text)
        return
    module = lowered(text)
    cube, vec = ({pipe.frontend_id: pipe for pipe in pipes(module, name)} for name in ("cube", "vec"))
    assert set(cube) == set(vec) == set(range(len(shape)))
    used: list[int] = []
    for index, (direction, _, slots, split) in enumerate(shape):
        one, other = cube[index], vec[index]
        assert isinstance(one, InitializeL2LPipeOp if chip == "a5" else InitializeL2G2LPipeOp)
        assert one.flag_base is not None and other.flag_base is not None
        assert number(one.flag_base) == number(other.flag_base)
        assert one.nosplit == other.nosplit
        assert one.nosplit is not None
        assert bool(one.nosplit.value.data) is (bool(direction & pipe_protocol.C2V) and not split)
        assert one.depth == other.depth == slots
        first = number(one.flag_base)
        used += range(first, first + pipe_protocol.flag_count(direction))
    # First fit, and all of even width: no flag is left out.
    assert sorted(used) == list(range(flags))
    assert not any(isinstance(op, ReserveBufferOp | ImportReservedBufferOp | OpenPipeOp) for op in module.walk())


# ---------------------------------------------------------------------------------------------
# Public files
# ---------------------------------------------------------------------------------------------

_WANTED = re.compile(r"((?:T(?:ALLOC|PUSH|POP|FREE)<)?TPipe<\d+, Direction::\w+, \d+, \d+, \d+, \w+)")
_CALLS = {"pto.talloc": "TALLOC", "pto.tpush": "TPUSH", "pto.tpop": "TPOP", "pto.tfree": "TFREE"}
_WAYS = {pipe_protocol.C2V: "C2V", pipe_protocol.V2C: "V2C", pipe_protocol.BOTH: "BOTH"}
_DEFAULT_LOCAL_SLOTS = 2
"""Of the public compiler's type, where it is not given; our text has no such default."""


def public_files() -> list[Path]:
    if DIRECTORY is None:
        return []
    found = sorted((Path(DIRECTORY) / "test" / "lit" / "pto").glob("*.pto"))
    return [path for path in found if "TPipe<" in path.read_text(encoding="utf-8")]


def instantiation(pipe: InitializePipeOp) -> str:
    """How the public compiler's C++ names the type of a pipe."""
    by_global_memory = isinstance(pipe, InitializeL2G2LPipeOp)
    way = _WAYS[pipe.direction] + ("_GM" if by_global_memory and architecture_of(pipe) == "a5" else "")
    local = pipe.local_depth if by_global_memory else _DEFAULT_LOCAL_SLOTS
    assert pipe.flag_base is not None and pipe.nosplit is not None
    whole = "true" if pipe.nosplit.value.data else "false"
    flag = number(pipe.flag_base)
    return f"TPipe<{flag}, Direction::DIR_{way}, {pipe.entry_bytes}, {pipe.depth}, {local}, {whole}"


@pytest.mark.skipif(DIRECTORY is None, reason="needs a checkout of PTOAS")
@pytest.mark.parametrize("path", public_files(), ids=lambda path: path.stem)
def test_public_files_get_the_pipes_they_expect(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if "split-file" in text:
        pytest.skip("several programs in one file")
    prefix = re.search(r"check-prefix=(\S+)", text)
    check = re.compile(rf"^// *{re.escape(prefix.group(1) if prefix else 'CHECK')}(?:-\w+)?:(.*)$", re.MULTILINE)
    chip = re.search(r"--pto-arch[= ](\w+)", text)
    module = lowered(text, None if chip is None else chip.group(1))
    made: list[str] = []
    for op in module.walk():
        if isinstance(op, InitializePipeOp):
            made.append(instantiation(op))
        elif isinstance(op, BoundPipeOp) and isinstance(maker := op.pipe_handle.owner, InitializePipeOp):
            made.append(f"{_CALLS[op.name]}<{instantiation(maker)}")
        assert not isinstance(op, OpenPipeOp | PipeUseOp)
    remaining = iter(made)
    for line in check.findall(text):
        for wanted in _WANTED.findall(line):
            assert wanted in remaining, f"{wanted} is not made, or not in this order"
