"""What DSD operations answer about themselves, on descriptors and on registers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, test
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.traits import EffectInstance, MemoryEffectKind, get_effects, is_side_effect_free

from loomir.dialects import dsd, dsr, get_all_dialects
from loomir.operations import dsd_table
from loomir.operations.float_exceptions import raises
from loomir.runtime.core.core import EXCEPTIONS

READ, WRITE = MemoryEffectKind.READ, MemoryEffectKind.WRITE

OPERANDS = """
%i, %o, %d, %e, %s, %c, %n = "test.op"()
  : () -> (!dsd.fabin<f32>, !dsd.fabout<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, memref<f32>, f32, i16)
"""


def parse(text: str) -> builtin.ModuleOp:
    context = Context()
    for dialect in (builtin.Builtin, arith.Arith, func.Func, test.Test):
        context.load_dialect(dialect)
    for name, load in get_all_dialects().items():
        context.register_dialect(name, load)
    module = Parser(context, OPERANDS + text).parse_module()
    module.verify()
    return module


def operation(text: str) -> dsd.DsdOperation:
    *_, last = (op for op in parse(text).walk() if isinstance(op, dsd.DsdOperation))
    return last


def names(op: Operation, kind: MemoryEffectKind, resource: str) -> Iterator[str | None]:
    """The operands an operation reads or writes of one resource."""
    effects = get_effects(op)
    assert effects is not None
    for effect in effects:
        if effect.kind is kind and effect.resource.name() == resource:
            yield getattr(effect.value, "name_hint", None)


def test_a_memory_operation_reads_its_sources_and_writes_its_destination() -> None:
    op = operation("dsd.fmacs %d, %e, %e, %c : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32")
    assert set(names(op, READ, "<Default>")) == {"e"}
    assert set(names(op, WRITE, "<Default>")) == {"d"}
    assert not list(names(op, READ, "<Queues>"))
    assert not op.is_async
    assert op.fabric_operands == ()


def test_a_destination_that_is_a_source_too_is_read() -> None:
    op = operation("dsd.fadds %d, %e, %d : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>")
    assert set(names(op, READ, "<Default>")) == {"d", "e"}


def test_a_scalar_buffer_is_written() -> None:
    op = operation("dsd.fmovs %s, %d : memref<f32>, !dsd.mem1d<f32>")
    assert set(names(op, WRITE, "<Default>")) == {"s"}


@pytest.mark.parametrize(
    ("text", "fabric"),
    [
        ("dsd.fmovs %o, %d : !dsd.fabout<f32>, !dsd.mem1d<f32>", ["o"]),
        ("dsd.fmovs %d, %i : !dsd.mem1d<f32>, !dsd.fabin<f32>", ["i"]),
        ("dsd.fmovs %o, %i : !dsd.fabout<f32>, !dsd.fabin<f32>", ["o", "i"]),
    ],
)
def test_fabric_operands_use_queues(text: str, fabric: list[str]) -> None:
    op = operation(text)
    assert [value.name_hint for value in op.fabric_operands] == fabric
    assert set(names(op, READ, "<Queues>")) == set(names(op, WRITE, "<Queues>")) == set(fabric)


def test_an_asynchronous_operation_changes_task_states() -> None:
    op = operation("dsd.fmovs %o, %d async(activate = @t, ut = 3) : !dsd.fabout<f32>, !dsd.mem1d<f32>")
    assert op.is_async
    assert op.settings is not None
    assert (op.settings.activated, op.settings.microthread) == ("t", 3)
    assert list(names(op, WRITE, "<TaskStates>")) == [None]


def test_a_register_operation_takes_its_settings_from_the_load() -> None:
    # DSD-182, DSD-195
    op = operation(
        """
        %r = dsr.load %i async(activate = @t) : !dsd.fabin<f32> -> !dsr.src1<f32, 1>
        %w = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
        dsr.fmovs %w, %r : !dsr.dest<f32, 0>, !dsr.src1<f32, 1>
        """
    )
    assert op.asynchronous is None
    assert op.is_async
    assert op.settings is not None
    assert op.settings.activated == "t"
    assert [value.name_hint for value in op.fabric_operands] == ["r"]
    assert [value.name_hint for value in op.fabric_inputs] == ["r"]


def test_register_operations_read_registers_and_loads_write_them() -> None:
    module = parse(
        """
        %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
        %w = dsr.load %e save_address : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
        %u = dsr.load %e : !dsd.mem1d<f32> -> !dsr.src1<f32>
        dsr.fadds %w, %r, %u : !dsr.dest<f32, 0>, !dsr.src0<f32, 1>, !dsr.src1<f32>
        """
    )
    *_, load, load_saving, load_open, op = module.body.block.ops
    register = dsr.RegisterResource(dsr.Src0Type.get(builtin.f32, 1))
    assert get_effects(load) == {EffectInstance(WRITE, resource=register)}
    assert list(names(load_saving, WRITE, "<dest 0>")) == [None]
    assert is_side_effect_free(load_open)
    assert list(names(op, READ, "<src0 1>")) == list(names(op, READ, "<dest 0>")) == [None]
    # DSR-065: save_address moves the register on.
    assert list(names(op, WRITE, "<dest 0>")) == [None]
    assert not list(names(op, WRITE, "<src0 1>"))


@pytest.mark.parametrize("level", [dsd.OPERATIONS, dsr.OPERATIONS])
def test_every_row_has_a_class_of_its_name(level: dict[str, type[dsd.DsdOperation]]) -> None:
    assert list(level) == list(dsd_table.OPERATIONS)
    dialect = dsd if level is dsd.OPERATIONS else dsr
    for name, operation_class in level.items():
        assert operation_class.name == f"{dialect.__name__.rpartition('.')[2]}.{name}"
        assert operation_class.table_row() is dsd_table.OPERATIONS[name]
        assert operation_class.__doc__ == f"`@{name}`: {dsd_table.OPERATIONS[name].summary}."
        class_name = f"{name[0].upper()}{name[1:]}Op"
        assert operation_class.__name__ == class_name
        assert getattr(dialect, class_name) is operation_class


@pytest.mark.parametrize(
    ("dimensions", "innermost", "needed"),
    # DSR-061 with its derived vectors, and DSR-064 for what is not known at compile time.
    [(1, 1, 0), (1, 5, 0), (2, 1, 0), (2, 2, 1), (3, 1, 1), (3, 2, 2), (4, 1, 2), (4, -1, 3), (2, None, 3)],
)
def test_stride_registers(dimensions: int, innermost: int | None, needed: int) -> None:
    assert dsr.stride_registers(dimensions, innermost) == needed


def test_a_fabric_descriptor_moves_to_a_queue_with_its_options() -> None:
    module = parse("%f = dsd.fabout color @c extent 4 {control, zero = second_source} : !dsd.fabout<f16>")
    made = module.body.block.last_op
    assert isinstance(made, dsd.FaboutOp)
    moved = made.with_queue("q")
    assert (moved.queue_name, moved.color_name, moved.extent) == ("q", None, 4)
    assert moved.options == made.options


def test_the_floating_point_exceptions_of_every_function_are_stated() -> None:
    """A function that is not stated would count as inexact wherever its result has a fraction."""
    functions = {row.function for row in dsd_table.OPERATIONS.values() if row.destination in ("f16", "f32")}
    assert {name for name in functions if raises(name) and name not in EXCEPTIONS} == {"convert"}
