"""What passes on pipes refuse by themselves in IR that no verifier has seen, as other tools may make it."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.passes import get_all_passes

OPEN = "pto.aiv_initialize_pipe {id = 2, dir_mask = 1, slot_size = 1024}"
ON_GM = "(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %a : i32)"
FREE = "pto.tfree_from_aic {id = 2, split = 0}"


def unverified(body: str, chip: str) -> ModuleOp:
    text = (
        f'module attributes {{pto.target_arch = "{chip}"}} {{\n'
        "func.func @f(%gm: !pto.ptr<f32>, %a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        f"{body}\nreturn\n}}\n}}\n"
    )
    return parse_ir(context(), text, "program.pto")


@pytest.mark.parametrize(
    ("chip", "body", "message"),
    [
        ("a3", f"{OPEN}{ON_GM}\n{OPEN}{ON_GM}", "requires unique initialize_pipe id in function (duplicate id = 2)"),
        ("a3", FREE, "requires matching frontend initialize_pipe(id = 2) in the same function"),
        ("a3", f"{OPEN.replace('= 1,', '= 2,')}{ON_GM.replace('c2v', 'v2c')}\n{FREE}", "(id = 2) to enable C2V"),
        (
            "a5",
            f"{OPEN}(gm_slot_buffer = %gm : !pto.ptr<f32>)",
            "requires local consumer buffer operands when lowering to a5",
        ),
        (
            "a3",
            f"{OPEN}(gm_slot_buffer = %gm : !pto.ptr<f32>)",
            "requires local consumer buffer operands for local FIFO pipe lowering",
        ),
    ],
)
def test_lowering_of_pipes_by_number(chip: str, body: str, message: str) -> None:
    module = unverified(body, chip)
    with pytest.raises(LoomError) as raised:
        get_all_passes()["pto-lower-frontend-pipe-ops"]()().apply(context(), module)
    assert message in raised.value.message
    assert raised.value.location is not None and raised.value.location.startswith("program.pto:")
