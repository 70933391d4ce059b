"""Attributes that rows declare: there if they have to be, of their types, and stored as properties."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.attribute_kinds import declared_attributes
from loomir.dialects.pto.instruction_operation import InstructionOp
from loomir.operations.pto_instructions import INSTRUCTIONS
from loomir.operations.pto_instructions.attributes import ATTRIBUTES


def made(text: str) -> InstructionOp:
    """Return the last operation of a text, unverified."""
    values = '%v, %n, %m = "test.op"() : () -> (!pto.vreg<64xf32>, f32, !pto.mask<b32>)'
    module: ModuleOp = parse_ir(context(), f"{values}\n{text}", "f")
    found = module.body.block.last_op
    assert isinstance(found, InstructionOp)
    return found


COMPARED = '%r = "pto.vcmps"(%v, %n, %m) {} : (!pto.vreg<64xf32>, f32, !pto.mask<b32>) -> !pto.mask<b32>'


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('{cmp = "lt"}', ""),
        ('<{cmp = "lt"}>', ""),
        ("{}", "'pto.vcmps' op requires attribute 'cmp'"),
        ("{cmp = 3 : i32}", "attribute 'cmp' failed to satisfy constraint: string attribute"),
        ('{cmp = "lt", pmode = 1 : i32}', "attribute 'pmode' failed to satisfy constraint: string attribute"),
    ],
)
def test_strings(attributes: str, message: str) -> None:
    op = made(COMPARED.replace("{}", attributes, 1))
    if not message:
        op.verify_()
        return
    with pytest.raises(VerifyException, match=re.escape(message)):
        op.verify_()


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("slot = 0 : i64", ""),
        ("slot = 0 : i32", "attribute 'slot' failed to satisfy constraint: 64-bit signless integer attribute"),
        ("note = 0 : i64", "requires attribute 'slot'"),
    ],
)
def test_numbers_of_a_width(attribute: str, message: str) -> None:
    """A number that is 0 is there."""
    op = made(f"pto.keep %n {{{attribute}}} : f32")
    if not message:
        with pytest.raises(VerifyException, match="must appear inside"):
            op.verify_()
        assert "slot" in op.properties and "slot" not in op.attributes
        return
    with pytest.raises(VerifyException, match=re.escape(message)):
        op.verify_()


def test_declarations_are_of_instructions_and_known_types() -> None:
    assert set(ATTRIBUTES) <= set(INSTRUCTIONS)
    for name, declared in ATTRIBUTES.items():
        assert INSTRUCTIONS[name].attributes == declared
        assert all(each.kinds for each in declared_attributes(declared).values())
