"""Variables that hold descriptors."""

from __future__ import annotations

import pytest

from loomir.csl import CslError

from .harness import Csl


def test_a_descriptor_variable_may_be_filled_by_code_that_comes_later(csl: Csl) -> None:
    text = """
    var data = [4]i16 { 1, 2, 3, 4 };
    var out: [4]i16;
    var held: mem1d_dsd;
    const result = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
    fn use() void { @mov16(result, held); }
    fn zfill() void { held = @get_dsd(mem1d_dsd, .{ .base_address = &data, .extent = 4 }); }
    """
    functions = {"use": "fn() void", "zfill": "fn() void"}
    launches = (("zfill", ()), ("use", ()))
    out = csl.run(text, {"out": "i16"}, functions=functions, launches=launches)["out"]
    assert out.tolist() == [1, 2, 3, 4]


def test_a_descriptor_variable_nothing_fills(csl: Csl) -> None:
    text = "var held: mem1d_dsd;\nvar out: [4]i16;\nfn main() void { @mov16(held, 1); }"
    with pytest.raises(CslError, match="it is not known which DSD this variable holds"):
        csl.run(text, {"out": "i16"})
