"""Operations that mix a DSR and DSDs: each borrows registers for its DSDs as long as it runs, and no longer."""

from __future__ import annotations

import pytest

from .harness import Csl

ARCHES = ("wse2", "wse3")


def mixed(count: int, kind: str) -> str:
    """`count` additions whose first source is a DSR, each to a place of its own."""
    lines = [f"@add16(@increment_dsd_offset(into, {k}, i16), src, four);" for k in range(count)]
    whole = "\n".join(lines)
    bodies = {
        "straight": f"fn main() void {{ {whole} }}",
        "loop": f"fn main() void {{ for (@range(i16, 2)) |i| {{ {whole} }} }}",
        "branch": f"fn main() void {{ if (out[0] == 0) {{ {whole} }} else {{ {whole} }} }}",
    }
    if kind in bodies:
        code = bodies[kind]
    else:
        each = -(-count // 10)
        code = "fn main() void { @activate(@get_local_task_id(8)); }\n"
        for t in range(10):
            following = f"@activate(@get_local_task_id({9 + t}));" if t < 9 else ""
            code += f"task t{t}() void {{ {' '.join(lines[t * each : (t + 1) * each])} {following} }}\n"
            code += f"comptime {{ @bind_local_task(t{t}, @get_local_task_id({8 + t})); }}\n"
    return f"""
    var given = [4]i16{{ 1, 2, 3, 4 }};
    var out = @zeros([{count + 4}]i16);
    const four = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> given[i] }});
    const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    const src = @get_dsr(dsr_src0, 3);
    comptime {{ @load_to_dsr(src, four); }}
    {code}
    """


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(("count", "kind"), [(17, "straight"), (17, "loop"), (40, "branch"), (100, "tasks")])
def test_registers_are_free_again_behind_an_operation(csl: Csl, arch: str, count: int, kind: str) -> None:
    """DSR-004: far more operations than the 16 registers of a file."""
    out = csl.run(mixed(count, kind), {"out": "i16"}, arch=arch)["out"].tolist()
    assert out == [*[2] * count, 4, 6, 8, 0]


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_extended_and_stride_registers_are_free_again(csl: Csl, arch: str) -> None:
    """DSR-005, DSR-006: twenty multi-dimensional destinations, of which each takes an XDSR and a stride register."""
    lines = "\n".join(f"@add16(@increment_dsd_offset(columns, {k}, i16), src, four);" for k in range(20))
    text = f"""
    var given = [4]i16{{ 1, 2, 3, 4 }};
    var out = @zeros([24]i16);
    const four = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> given[i] }});
    const columns = @get_dsd(mem4d_dsd, .{{ .base_address = &out, .extent = .{{ 2, 2 }}, .stride = .{{ 2, -1 }} }});
    const src = @get_dsr(dsr_src0, 3);
    comptime {{ @load_to_dsr(src, four); }}
    fn main() void {{ {lines} }}
    """
    # Four places 0, 2, 1, 3 beside each other take 2, 4, 6, 8.
    expected = [0] * 24
    for k in range(20):
        for place, value in zip((0, 2, 1, 3), (2, 4, 6, 8), strict=True):
            expected[k + place] = value
    assert csl.run(text, {"out": "i16"}, arch=arch)["out"].tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.thorough)])
def test_many_operations(csl: Csl, count: int) -> None:
    assert csl.run(mixed(count, "straight"), {"out": "i16"})["out"].tolist() == [*[2] * count, 4, 6, 8, 0]


def test_a_register_is_held_until_its_operation_has_ended(csl: Csl) -> None:
    """DSR-004: an asynchronous operation keeps its borrowed register while another body borrows one."""
    text = """
    const c = @get_color(3);
    const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = @get_output_queue(2) });
    const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) });
    var given = [4]i16{ 1, 2, 3, 4 };
    var out = @zeros([8]i16);
    const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> given[i] });
    const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
    const src = @get_dsr(dsr_src0, 3);
    const memory = @get_dsr(dsr_src1, 4);
    task meanwhile() void { @add16(@increment_dsd_offset(into, 4, i16), all, memory); @mov16(wire, all); }
    comptime {
      @load_to_dsr(src, from, .{ .async = true });
      @load_to_dsr(memory, all);
      @bind_local_task(meanwhile, @get_local_task_id(12));
      @initialize_queue(@get_input_queue(1), .{ .color = c });
      if (@is_arch("wse3")) @initialize_queue(@get_output_queue(2), .{ .color = c });
    }
    fn main() void { @mov16(into, src); @activate(@get_local_task_id(12)); }
    """
    route = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    for arch in ARCHES:
        assert csl.run(text, {"out": "i16"}, arch=arch, layout=route)["out"].tolist() == [1, 2, 3, 4, 2, 4, 6, 8]
