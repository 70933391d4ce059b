"""IR as a table: what is read is what was written, and what was not written is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.diagnostics.locations import location_of
from loomir.dialects import context
from loomir.dialects.ir_table import MalformedTable, module_of, table_of
from loomir.dialects.ir_text import parse_ir

TEXT = """
builtin.module attributes {note = "a \\22 quote", half = 5.000000e-01 : f32} {
  %0 = arith.constant {mark} 3 : index
  %1 = "test.op"(%0) ({
  ^bb0(%2: f32, %3: memref<4xf32>):
    %4 = "test.op"(%2, %3) {list = [1 : i16, @name, dense<[1.0, 2.0]> : tensor<2xf32>]} : (f32, memref<4xf32>) -> i1
    "test.termop"(%4, %0) : (i1, index) -> ()
  }, {
  }) : (index) -> i1
  %5, %6 = "test.op"(%1, %1) : (i1, i1) -> (i16, !test.type<"x">)
  "test.op"(%5, %6) <{prop1 = unit}> : (i16, !test.type<"x">) -> ()
  "test.op"(%5, %6) <{prop1 = unit}> : (i16, !test.type<"x">) -> ()
}
"""


def module() -> ModuleOp:
    return parse_ir(context(), TEXT, "text.mlir")


def stored(table: dict[str, Any]) -> dict[str, Any]:
    """A table as a file holds it."""
    return json.loads(json.dumps(table))


def test_round_trip() -> None:
    written = module()
    read = module_of(context(), stored(table_of(written)))
    assert str(read) == str(written)
    read.verify()
    places = [location_of(op) for op in read.walk()]
    assert places == [location_of(op) for op in written.walk()]
    assert places[:2] == ["text.mlir:2:1", "text.mlir:3:3"]


def test_what_operations_share_is_written_once() -> None:
    table = table_of(module())
    assert [kind[0] for kind in table["kinds"]].count("test.op") == 4  # of five
    assert table["attributes"].count("index") == 2  # the type, and that of the constant's value


def test_operations_do_not_share_what_can_be_changed() -> None:
    read = module_of(context(), stored(table_of(module())))
    first, second = list(read.body.block.ops)[-2:]
    assert first.properties == second.properties
    first.properties.clear()
    assert second.properties


def test_branches() -> None:
    text = """
    "test.op"() ({
      "test.termop"() [^next] : () -> ()
    ^next:
      "test.termop"() : () -> ()
    }) : () -> ()
    """
    with pytest.raises(ValueError, match=r"test.termop branches to other blocks"):
        table_of(parse_ir(context(), text, "text.mlir"))


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.pop("kinds"),
        lambda table: table.update(attributes="3 : i16"),
        lambda table: table.update(attributes="[#nonsense"),
        lambda table: table.update(module=None),
        lambda table: table.update(module=table["module"][3][0][0][1][0]),
        lambda table: table["module"][3][0][0][1].reverse(),
        lambda table: table["kinds"].append(["test.unknown", {}, {}, []]),
        lambda table: table["kinds"][0].append(1),
    ],
)
def test_malformed(change: Any) -> None:
    table = stored(table_of(module()))
    change(table)
    with pytest.raises(MalformedTable):
        module_of(context(), table)
