"""xDSL's csl dialect: what is imported runs and computes what it says; what cannot be is an error that names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import csl
from xdsl.dialects.builtin import ModuleOp

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.diagnostics.locations import location_of
from loomir.dialects import dsd, wse
from loomir.dialects.ir_text import parse_ir
from loomir.host.compilation import context
from loomir.importers.import_xdsl_csl import ImportXdslCslPass
from loomir.operations.dsd_table import OPERATIONS

FILE = "program.mlir"
MANY = "#csl<ptr_kind many>, #csl<ptr_const var>"
SINGLE = "#csl<ptr_kind single>, #csl<ptr_const var>"


def load(text: str, directory: Path | str = ".", arch: str = "wse3", params: tuple[str, ...] = ()) -> ModuleOp:
    """Return the text, imported."""
    module = parse_ir(context(), text, FILE)
    module.verify()
    ImportXdslCslPass(arch=arch, directory=str(directory), params=params).apply(Context(), module)
    module.verify()
    return module


def start(module: ModuleOp) -> loomir.Simulator:
    return loomir.Simulator(loomir.compile(module), step_limit=100_000)


def program(body: str, name: str = "main") -> str:
    """Return a csl.module of kind program."""
    return (
        f'"csl.module"() <{{kind = #csl<module_kind program>}}> ({{\n{body}\n}}) {{sym_name = "{name}"}} : () -> ()\n'
    )


def layout(body: str, before: str = "") -> str:
    """Return a csl.module of kind layout."""
    return (
        f'"csl.module"() <{{kind = #csl<module_kind layout>}}> ({{\n{before}\ncsl.layout {{\n{body}\n}}\n}}) '
        '{sym_name = "main_layout"} : () -> ()\n'
    )


def exported(name: str, shape: int, element: str, value: str | None = None) -> str:
    """Return an exported global array, and the value of its memory."""
    pointer = f"!csl.ptr<{element}, {MANY}>"
    initial = f'"initial_value" = dense<{value}> : tensor<{shape}x{element}>' if value else '"initial_value"'
    return f"""
      "memref.global"() {{"sym_name" = "{name}", "type" = memref<{shape}x{element}>, {initial},
                          "sym_visibility" = "public"}} : () -> ()
      %{name} = memref.get_global @{name} : memref<{shape}x{element}>
      %{name}_ptr = "csl.addressof"(%{name}) : (memref<{shape}x{element}>) -> {pointer}
      "csl.export"(%{name}_ptr) <{{var_name = "{name}", type = {pointer}}}> : ({pointer}) -> ()
    """


EXPORT_MAIN = '"csl.export"() <{var_name = @main, type = () -> ()}> : () -> ()'

AXPY = layout(
    """
    "csl.set_rectangle"(%width, %height) : (i16, i16) -> ()
    scf.for %x = %zero to %width step %one : i16 {
      scf.for %y = %zero to %height step %one : i16 {
        %memcpy = "csl.member_call"(%get_params, %x) <{field = "get_params"}>
                : (!csl.imported_module, i16) -> !csl.comptime_struct
        %sum = arith.addi %x, %y : i16
        %first = "csl.const_struct"(%memcpy) <{ssa_fields = ["memcpy_params"]}>
               : (!csl.comptime_struct) -> !csl.comptime_struct
        %second = "csl.const_struct"(%sum) <{ssa_fields = ["shift"], items = {scale = 4.0 : f32}}>
                : (i16) -> !csl.comptime_struct
        %params = "csl.concat_structs"(%first, %second)
                : (!csl.comptime_struct, !csl.comptime_struct) -> !csl.comptime_struct
        "csl.set_tile_code"(%x, %y, %params) <{file = "axpy.csl"}> : (i16, i16, !csl.comptime_struct) -> ()
      }
    }
    """,
    """
    %zero = arith.constant 0 : i16
    %one = arith.constant 1 : i16
    %w = arith.constant 3 : i16
    %width = "csl.param"(%w) <{param_name = "width"}> : (i16) -> i16
    %height = "csl.param"() <{param_name = "height"}> : () -> i16
    %sides = "csl.const_struct"(%width, %height) <{ssa_fields = ["width", "height"]}>
           : (i16, i16) -> !csl.comptime_struct
    %get_params = "csl.import_module"(%sides) <{module = "<memcpy/get_params>"}>
                : (!csl.comptime_struct) -> !csl.imported_module
    """,
) + program(
    f"""
    %memcpy_params = "csl.param"() <{{param_name = "memcpy_params"}}> : () -> !csl.comptime_struct
    %shift = "csl.param"() <{{param_name = "shift"}}> : () -> i16
    %scale = "csl.param"() <{{param_name = "scale"}}> : () -> f32
    %memcpy = "csl.import_module"(%memcpy_params) <{{module = "<memcpy/memcpy>"}}>
            : (!csl.comptime_struct) -> !csl.imported_module
    {exported("x", 8, "f32")}
    {exported("y", 8, "f32")}
    "csl.export"() <{{var_name = @axpy, type = (f32) -> ()}}> : () -> ()
    %rounds = "csl.variable"() <{{default = 0 : i16}}> : () -> !csl.var<i16>
    csl.func @axpy(%a: f32) {{
      %n = arith.constant 8 : i16
      %xs = "csl.get_mem_dsd"(%x, %n) : (memref<8xf32>, i16) -> !csl<dsd mem1d_dsd>
      %ys = "csl.get_mem_dsd"(%y, %n) : (memref<8xf32>, i16) -> !csl<dsd mem1d_dsd>
      "csl.fmacs"(%ys, %ys, %xs, %a)
        : (!csl<dsd mem1d_dsd>, !csl<dsd mem1d_dsd>, !csl<dsd mem1d_dsd>, f32) -> ()
      csl.activate local, 9 : ui5
      csl.return
    }}
    csl.task @again() attributes {{kind = #csl<task_kind local>, id = 9 : ui5}} {{
      %r = csl.load_var(%rounds : !csl.var<i16>) : i16
      %go = arith.cmpi slt, %r, %shift : i16
      scf.if %go {{
        %one = arith.constant 1 : i16
        %next = arith.addi %r, %one : i16
        csl.store_var %rounds : !csl.var<i16> = %next : i16
        %i = arith.index_cast %r : i16 to index
        %v = memref.load %y[%i] : memref<8xf32>
        %w = arith.mulf %v, %scale : f32
        memref.store %w, %y[%i] : memref<8xf32>
        csl.activate local, 9 : ui5
      }} else {{
        "csl.member_call"(%memcpy) <{{field = "unblock_cmd_stream"}}> : (!csl.imported_module) -> ()
      }}
      csl.return
    }}
    """,
    "axpy_program",
)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_program_equals_numpy(arch: str) -> None:
    module = load(AXPY, arch=arch, params=("height:2",))
    (found,) = (op for op in module.body.block.ops if isinstance(op, wse.ProgramOp))
    assert (found.sym_name.data, found.target.data, found.rectangle) == ("main_layout", arch, (3, 2))
    assert len(found.pes) == 1
    simulator = start(module)
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal((2, 3, 8)).astype(np.float32) for _ in range(2))
    simulator.set("x", x)
    simulator.set("y", y)
    simulator.launch("axpy", 1.5)
    expected = y + x * np.float32(1.5)
    for row in range(2):
        for column in range(3):
            expected[row, column, : row + column] *= 4
    np.testing.assert_array_equal(simulator.get("y"), expected)
    assert (simulator.get("loom.cmd_stream") == 1).all()


def test_operations_know_where_they_come_from() -> None:
    module = load(AXPY, params=("height:2",))
    (fmacs,) = (op for op in module.walk() if op.name == "dsd.fmacs")
    line = next(number for number, text in enumerate(AXPY.splitlines(), 1) if "csl.fmacs" in text)
    assert location_of(fmacs) == f"{FILE}:{line}:7"


FABRIC = layout(
    """
    %width = arith.constant 2 : i16
    %height = arith.constant 1 : i16
    %zero = arith.constant 0 : i16
    %one = arith.constant 1 : i16
    "csl.set_rectangle"(%width, %height) : (i16, i16) -> ()
    %sends = "csl.const_struct"() <{items = {is_sender = true}}> : () -> !csl.comptime_struct
    %receives = "csl.const_struct"() <{items = {is_sender = false}}> : () -> !csl.comptime_struct
    "csl.set_tile_code"(%zero, %zero, %sends) <{file = "sender.csl"}> : (i16, i16, !csl.comptime_struct) -> ()
    "csl.set_tile_code"(%one, %zero, %receives) <{file = "receiver"}> : (i16, i16, !csl.comptime_struct) -> ()
    """
) + "".join(
    program(
        f"""
        %is_sender = "csl.param"() <{{param_name = "is_sender"}}> : () -> i1
        %five = arith.constant 5 : i16
        %color = "csl.get_color"(%five) : (i16) -> !csl.color
        "csl.rpc"(%color) : (!csl.color) -> ()
        %east = "csl.get_dir"() <{{dir = #csl<dir_kind east>}}> : () -> !csl.direction
        %name = csl.const_str "away"
        %settings = "csl.const_struct"(%color, %is_sender, %east, %name)
                      <{{ssa_fields = ["wavelets", "is_sender", "towards", "remark"]}}>
                  : (!csl.color, i1, !csl.direction, !csl.comptime_string) -> !csl.comptime_struct
        %route = "csl.import_module"(%settings) <{{module = "route.csl"}}>
               : (!csl.comptime_struct) -> !csl.imported_module
        %ready = "csl.member_access"(%route) <{{field = "ready"}}> : (!csl.imported_module) -> i16
        {exported("y", 4, "f32")}
        {EXPORT_MAIN}
        {body}
        """,
        name,
    )
    for name, body in (
        (
            "sender_program",
            """
            csl.func @main() {
              %n = arith.constant 4 : i16
              %out = "csl.get_fab_dsd"(%n) <{fabric_color = 5 : ui5, queue_id = 2 : i3, control = false,
                                             wavelet_index_offset = false}> : (i16) -> !csl<dsd fabout_dsd>
              %in_memory = "csl.get_mem_dsd"(%y, %ready) : (memref<4xf32>, i16) -> !csl<dsd mem1d_dsd>
              %longer = "csl.set_dsd_length"(%in_memory, %n) : (!csl<dsd mem1d_dsd>, i16) -> !csl<dsd mem1d_dsd>
              "csl.fnegs"(%out, %longer) : (!csl<dsd fabout_dsd>, !csl<dsd mem1d_dsd>) -> ()
              csl.return
            }
            """,
        ),
        (
            "receiver",
            """
            %at = "csl.variable"() <{default = 0 : i16}> : () -> !csl.var<i16>
            csl.task @got(%v: f32) attributes {kind = #csl<task_kind data>, id = 5 : ui5} {
              %i = csl.load_var(%at : !csl.var<i16>) : i16
              %index = arith.index_cast %i : i16 to index
              memref.store %v, %y[%index] : memref<4xf32>
              %one = arith.constant 1 : i16
              %next = arith.addi %i, %one : i16
              csl.store_var %at : !csl.var<i16> = %next : i16
              csl.return
            }
            csl.func @main() {
              csl.return
            }
            """,
        ),
    )
)

ROUTE = """
param wavelets: color;
param is_sender: bool;
param towards: direction;
param remark: comptime_string;
const ready: i16 = 1;
comptime {
  if (is_sender) {
    @set_local_color_config(wavelets, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ towards } } });
  } else {
    @set_local_color_config(wavelets, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
  }
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_wavelets_and_a_csl_file_beside_the_ir(arch: str, tmp_path: Path) -> None:
    (tmp_path / "route.csl").write_text(ROUTE)
    simulator = start(load(FABRIC, tmp_path, arch))
    y = np.arange(8, dtype=np.float32).reshape(1, 2, 4)
    simulator.set("y", y)
    simulator.launch("main")
    np.testing.assert_array_equal(simulator.get("y")[0, 1], -y[0, 0])


VALUES = program(
    f"""
    {exported("r", 12, "i16")}
    {exported("f", 6, "f32", "[1.5, 2.5, -3.0, 4.0, 5.0, 6.0]")}
    {EXPORT_MAIN}
    %n = arith.constant 6 : i16
    %seven = arith.constant 7.0 : f32
    %zeros = "csl.zeros"(%n) : (i16) -> memref<?xi16>
    %fixed = "csl.zeros"() <{{is_const}}> : () -> memref<6xi16>
    %filled = "csl.constants"(%n, %seven) : (i16, f32) -> memref<?xf32>
    %table = arith.constant dense<[3, 1, 2]> : memref<3xi16>
    %time = "csl.import_module"() <{{module = "<time>"}}> : () -> !csl.imported_module
    %stamp = "csl.zeros"() : () -> memref<6xui16>
    %held = csl.variable() : !csl.var<memref<6xf32>>
    %descriptor = csl.variable() : !csl.var<!csl<dsd mem1d_dsd>>
    csl.func @double(%x: f32) -> f32 {{
      %two = arith.constant 2.0 : f32
      %y = arith.mulf %x, %two : f32
      csl.return %y : f32
    }}
    csl.func @give(%value: i16, %to: !csl.ptr<i16, {SINGLE}>) {{
      csl.return
    }}
    csl.func @main() {{
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i2 = arith.constant 2 : index
      %i3 = arith.constant 3 : index
      %i4 = arith.constant 4 : index
      %i5 = arith.constant 5 : index
      %x = memref.load %f[%i0] : memref<6xf32>
      %y = "csl.call"(%x) <{{callee = @double}}> : (f32) -> f32
      memref.store %y, %f[%i0] : memref<6xf32>
      %t = memref.load %table[%i2] : memref<3xi16>
      memref.store %t, %r[%i0] : memref<12xi16>
      %u = csl.mlir.signedness_cast %t : i16 to ui16
      %wide = arith.extui %u : ui16 to ui32
      %back = csl.mlir.signedness_cast %wide : ui32 to i32
      %low = arith.trunci %back : i32 to i16
      memref.store %low, %r[%i1] : memref<12xi16>
      %k = memref.load %filled[%i3] : memref<?xf32>
      memref.store %k, %f[%i1] : memref<6xf32>
      csl.store_var %held : !csl.var<memref<6xf32>> = %f : memref<6xf32>
      %same = csl.load_var(%held : !csl.var<memref<6xf32>>) : memref<6xf32>
      %s = memref.load %same[%i5] : memref<6xf32>
      memref.store %s, %same[%i2] : memref<6xf32>
      %many = "csl.addressof"(%f) : (memref<6xf32>) -> !csl.ptr<f32, {MANY}>
      %whole = "csl.ptrcast"(%many) : (!csl.ptr<f32, {MANY}>) -> !csl.ptr<memref<6xf32>, {SINGLE}>
      %address = csl.intptrcast %many : !csl.ptr<f32, {MANY}> to i16
      %again = csl.intptrcast %address : i16 to !csl.ptr<f32, {MANY}>
      %size = arith.constant 2 : i16
      %ds = "csl.get_mem_dsd"(%f, %size) : (memref<6xf32>, i16) -> !csl<dsd mem1d_dsd>
      %moved = "csl.set_dsd_base_addr"(%ds, %again)
             : (!csl<dsd mem1d_dsd>, !csl.ptr<f32, {MANY}>) -> !csl<dsd mem1d_dsd>
      %three = arith.constant 3 : i16
      %on = "csl.increment_dsd_offset"(%moved, %three) <{{elem_type = f32}}>
          : (!csl<dsd mem1d_dsd>, i16) -> !csl<dsd mem1d_dsd>
      %stride = arith.constant 2 : i8
      %strided = "csl.set_dsd_stride"(%on, %stride) : (!csl<dsd mem1d_dsd>, i8) -> !csl<dsd mem1d_dsd>
      csl.store_var %descriptor : !csl.var<!csl<dsd mem1d_dsd>> = %strided : !csl<dsd mem1d_dsd>
      %kept = csl.load_var(%descriptor : !csl.var<!csl<dsd mem1d_dsd>>) : !csl<dsd mem1d_dsd>
      %half = arith.constant 0.5 : f32
      "csl.fmuls"(%kept, %kept, %half) : (!csl<dsd mem1d_dsd>, !csl<dsd mem1d_dsd>, f32) -> ()
      %element = memref.load %r[%i4] : memref<12xi16>
      %pointer = "csl.addressof"(%element) : (i16) -> !csl.ptr<i16, {SINGLE}>
      "csl.call"(%t, %pointer) <{{callee = @give}}> : (i16, !csl.ptr<i16, {SINGLE}>) -> ()
      %function = "csl.addressof_fn"() <{{fn_name = @double}}>
                : () -> !csl.ptr<(f32) -> f32, #csl<ptr_kind single>, #csl<ptr_const const>>
      %stamps = "csl.addressof"(%stamp) : (memref<6xui16>) -> !csl.ptr<ui16, {MANY}>
      %three_words = "csl.ptrcast"(%stamps) : (!csl.ptr<ui16, {MANY}>) -> !csl.ptr<memref<3xui16>, {SINGLE}>
      "csl.member_call"(%time, %three_words) <{{field = "get_timestamp"}}>
        : (!csl.imported_module, !csl.ptr<memref<3xui16>, {SINGLE}>) -> ()
      %word = memref.load %stamp[%i0] : memref<6xui16>
      %signed = csl.mlir.signedness_cast %word : ui16 to i16
      %none = arith.constant 0 : i16
      %some = arith.cmpi ne, %signed, %none : i16
      %passed = arith.extui %some : i1 to i16
      memref.store %passed, %r[%i5] : memref<12xi16>
      %i6 = arith.constant 6 : index
      %two = arith.constant 2 : i16
      %grid = "csl.get_mem_dsd"(%r, %two, %two) <{{tensor_access = affine_map<(i, j) -> (i * 3 + j + 6)>}}>
            : (memref<12xi16>, i16, i16) -> !csl<dsd mem4d_dsd>
      %nine = arith.constant 9 : i16
      %word_value = csl.mlir.signedness_cast %nine : i16 to si16
      "csl.mov16"(%grid, %word_value) : (!csl<dsd mem4d_dsd>, si16) -> ()
      csl.return
    }}
    """
)


@pytest.mark.slow
def test_values_pointers_and_memory_of_a_program_without_a_layout() -> None:
    module = load(VALUES)
    (found,) = (op for op in module.body.block.ops if isinstance(op, wse.ProgramOp))
    assert found.rectangle == (1, 1)
    simulator = start(module)
    simulator.launch("main")
    f: NDArray[Any] = simulator.get("f")[0, 0]
    np.testing.assert_array_equal(f, np.array([3.0, 7.0, 6.0, 2.0, 5.0, 3.0], np.float32))
    r = simulator.get("r")[0, 0]
    assert r.tolist() == [2, 2, 0, 0, 0, 1, 9, 9, 0, 9, 9, 0]


def _operands(name: str) -> tuple[list[str], list[str], str]:
    """Operands and types of a DSD operation in the dialect's signatures, and what defines the scalars."""
    row = OPERATIONS[name]
    types = {"f16": "f16", "f32": "f32", "i16": "si16", "i32": "si32"}
    operands, given, before = ["%d0"], ["!csl<dsd mem1d_dsd>"], ""
    if len(row.scalar_only) == len(row.sources):
        element = types[row.destination]
        before = f"""
          %zero = arith.constant 0 : index
          %element = memref.load %m0[%zero] : memref<4x{element}>
          %d0 = "csl.addressof"(%element) : ({element}) -> !csl.ptr<{element}, {SINGLE}>
        """
        given = [f"!csl.ptr<{element}, {SINGLE}>"]
    else:
        before = f'%d0 = "csl.get_mem_dsd"(%m0, %n) : (memref<4x{types[row.destination]}>, i16) -> {given[0]}'
    for position, element in enumerate(row.sources, 1):
        if position - 1 in row.scalar_only:
            operands.append(f"%s{position}")
            given.append(types[element])
            if element[0] == "i":
                before += f"\n%k{position} = arith.constant 2 : {element}"
                before += f"\n%s{position} = csl.mlir.signedness_cast %k{position} : {element} to {types[element]}"
            else:
                before += f"\n%s{position} = arith.constant 2.0 : {element}"
        else:
            operands.append(f"%d{position}")
            given.append("!csl<dsd mem1d_dsd>")
            before += f'\n%d{position} = "csl.get_mem_dsd"(%m{position}, %n) : (memref<4x{types[element]}>, i16) -> '
            before += "!csl<dsd mem1d_dsd>"
    return operands, given, before


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_dsd_operation(name: str) -> None:
    row = OPERATIONS[name]
    types = {"f16": "f16", "f32": "f32", "i16": "si16", "i32": "si32"}
    operands, given, before = _operands(name)
    arrays = "\n".join(
        f'%m{position} = "csl.zeros"() : () -> memref<4x{types[element]}>'
        for position, element in enumerate((row.destination, *row.sources))
    )
    text = program(
        f"""
        {arrays}
        {EXPORT_MAIN}
        csl.func @main() {{
          %n = arith.constant 4 : i16
          {before}
          "csl.{name}"({", ".join(operands)}) : ({", ".join(given)}) -> ()
          csl.return
        }}
        """
    )
    module = load(text)
    (op,) = (op for op in module.walk() if isinstance(op, dsd.DsdOperation))
    assert op.name == f"dsd.{name}" and len(op.sources) == len(row.sources)


def test_control_tasks(tmp_path: Path) -> None:
    text = program(
        f"""
        {EXPORT_MAIN}
        csl.func @main() {{
          csl.return
        }}
        csl.task @end(%v: i16) attributes {{kind = #csl<task_kind control>, id = 40 : ui6}} {{
          csl.return
        }}
        csl.task @unbound() attributes {{kind = #csl<task_kind local>}} {{
          csl.return
        }}
        """
    )
    tasks = [op for op in load(text).walk() if isinstance(op, wse.TaskOp)]
    assert [(op.sym_name.data, op.task_kind, op.task_id) for op in tasks] == [("end", wse.TaskKind.CONTROL, 40)]


def test_no_operation_of_the_dialect_is_left_out() -> None:
    texts = AXPY + FABRIC + VALUES
    forms = {"csl.return": "csl.return", "csl.layout": "csl.layout"}
    for op in csl.CSL.operations:
        tested = op.name in texts or op.name.removeprefix("csl.") in OPERATIONS
        assert tested or op.name in forms, op.name


MAIN = f"{EXPORT_MAIN}\ncsl.func @main() {{\nBODY\ncsl.return\n}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            program(MAIN.replace("BODY", '%x = "test.op"() : () -> i16')),
            "test.op cannot be imported; lower it to the csl dialect first",
        ),
        (
            program(MAIN.replace("BODY", "csl.activate data, 3 : ui5")),
            "csl.activate of a data task: only local tasks can be activated",
        ),
        (
            program(MAIN.replace("BODY", '"csl.call"() <{callee = @nowhere}> : () -> ()')),
            "csl.call names @nowhere, which the module does not define",
        ),
        (
            program(
                MAIN.replace("BODY", "%a = memref.alloc(%n) : memref<?xf32>").replace(
                    "csl.func", "%n = arith.constant 4 : index\ncsl.func"
                )
            ),
            "memref.alloc has an unknown size; give every extent in its type",
        ),
        (
            program(
                '%m = "csl.import_module"() <{module = "missing.csl"}> : () -> !csl.imported_module\n'
                '"csl.member_call"(%m) <{field = "f"}> : (!csl.imported_module) -> ()'
            ),
            "csl.import_module cannot be imported: ",
        ),
        (
            program(
                '%m = "csl.import_module"() <{module = "<time>"}> : () -> !csl.imported_module\n'
                + MAIN.replace("BODY", '"csl.member_call"(%m) <{field = "tea"}> : (!csl.imported_module) -> ()')
            ),
            "csl.member_call cannot be imported: ",
        ),
        (
            program(MAIN.replace("BODY", "%x = arith.constant 1.0 : f64")),
            "arith.constant has a value of type f64, which CSL does not have",
        ),
        (
            program('"csl.export"() <{var_name = @gone, type = () -> ()}> : () -> ()'),
            "csl.export names @gone, which the module does not define",
        ),
        (
            program(MAIN.replace("BODY", ""), "one") + program(MAIN.replace("BODY", ""), "two"),
            "the module holds 2 programs and no layout says where the programs run",
        ),
        (
            layout("") + layout("").replace("main_layout", "other"),
            "the module holds two layouts; keep one csl.module of kind layout",
        ),
        (
            program(MAIN.replace("BODY", "")) + "func.func @f() {\nfunc.return\n}",
            "func.func is beside a csl.module and cannot be imported; remove it",
        ),
        (
            program(
                MAIN.replace(
                    "BODY",
                    """
                    %n = arith.constant 4 : i16
                    %a = "csl.get_fab_dsd"(%n) <{fabric_color = 2 : ui5, queue_id = 3 : i3}>
                       : (i16) -> !csl<dsd fabin_dsd>
                    %b = "csl.get_fab_dsd"(%n) <{fabric_color = 4 : ui5, queue_id = 3 : i3}>
                       : (i16) -> !csl<dsd fabin_dsd>
                    """,
                )
            ),
            "input queue 3 serves color 4 here and color 2 elsewhere, but on wse3 a queue keeps its color",
        ),
        (
            AXPY,
            "param 'height' has no value",
        ),
    ],
)
def test_what_cannot_be_imported(text: str, message: str) -> None:
    with pytest.raises(LoomError) as caught:
        load(text)
    assert message in caught.value.message
    assert caught.value.location is not None and caught.value.location.startswith(f"{FILE}:")


def test_a_param_without_a_value() -> None:
    with pytest.raises(LoomError) as caught:
        load(AXPY, params=("height",))
    assert caught.value.message == "'height' does not name a param and its value; write name:value"


def test_a_module_without_csl_stays_as_it_is() -> None:
    module = parse_ir(context(), "func.func @f() {\nfunc.return\n}", FILE)
    before = str(module)
    ImportXdslCslPass().apply(Context(), module)
    assert str(module) == before
