"""What holds for all passes together, on the example programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp, StringAttr

from loomir import targets
from loomir.analysis.concurrency import Concurrency
from loomir.analysis.wse.pe_program import PeCode, ProgramReader, programs
from loomir.diagnostics.locations import location_of
from loomir.dialects import dsd, dsr, get_all_dialects, wse
from loomir.dialects.ir_text import LocatingParser
from loomir.dialects.verification import verify
from loomir.passes import get_all_passes

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.mlir"))
PASSES = ["dsd-expand-tensor-access", "dsd-assign-queues", "dsd-assign-microthreads", "dsr-allocate"]


def parsed(text: str, name: str) -> tuple[Context, ModuleOp]:
    ctx = Context()
    for dialect, get in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        ctx.register_dialect(dialect, get)
    return ctx, LocatingParser(ctx, text, name).parse_module()


def run(ctx: Context, module: ModuleOp) -> None:
    for name in PASSES:
        get_all_passes()[name]()().apply(ctx, module)
        verify(module)


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.name)
def example(request: pytest.FixtureRequest) -> tuple[Context, ModuleOp]:
    path: Path = request.param
    return parsed(path.read_text(), str(path))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_examples_go_down_to_registers(example: tuple[Context, ModuleOp], target: str) -> None:
    ctx, module = example
    for op in module.walk():
        if isinstance(op, wse.ProgramOp):
            op.target = StringAttr(target)
    run(ctx, module)
    for op in module.walk():
        assert not isinstance(op, dsd.DescriptorOperation | dsd.TensorAccessOp)
        for result in op.results:
            assert not isinstance(result.type, dsr.RegisterType) or result.type.is_allocated
        if isinstance(op, wse.QueueOp):
            assert op.queue_id in range(len(op.queue_words(targets.get(target))))
        if isinstance(op, dsr.RegisterOperation) and op.settings is not None:
            assert op.settings.microthread in range(8)


def test_new_operations_stand_where_the_old_ones_stood(example: tuple[Context, ModuleOp]) -> None:
    ctx, module = example
    before = set(module.walk())
    known = {location_of(op) for op in before} - {None}
    run(ctx, module)
    new = [op for op in module.walk() if op not in before]
    assert new
    for op in new:
        assert location_of(op) in known, op


@pytest.mark.slow
def test_a_second_run_changes_nothing(example: tuple[Context, ModuleOp]) -> None:
    ctx, module = example
    run(ctx, module)
    once = str(module)
    run(ctx, module)
    assert str(module) == once


def test_the_transfers_of_the_stencil_overlap_each_other_but_not_the_next_iteration() -> None:
    path = next(path for path in EXAMPLES if path.name == "stencil.mlir")
    _, module = parsed(path.read_text(), str(path))
    (whole,) = programs(module)
    (pe,) = whole.pes
    program = PeCode(pe, ProgramReader(whole)).outline.program
    transfers = [operation.key for operation in program.operations() if operation.asynchronous]
    concurrency = Concurrency(program)
    assert len(transfers) == 8
    for first in transfers:
        for second in transfers:
            assert (second in concurrency.overlapping(first)) == (first is not second)
