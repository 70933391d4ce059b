"""Tasks that several asynchronous operations start: an activation is a bit, cleared when the task is picked."""

from __future__ import annotations

import pytest

import loomir

from .harness import Csl

ARCHES = pytest.mark.parametrize("arch", ["wse2", "wse3"])


def start(
    csl: Csl, arch: str, lengths: list[int], completion: str, *, before: str = "", after: str = ""
) -> loomir.Simulator:
    """Return a PE that sends to itself, `lengths[k]` elements on color 3 + k, after its launch."""
    pe, receives, sends, routes = "", "", "", ""
    for k, length in enumerate(lengths):
        color, read, written = f"@get_color({3 + k})", k + 5, k + 2  # one microthread each on WSE-2
        routes += f"@set_color_config(0, 0, {color}, .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }});\n"
        pe += f"""
        const from{k} = @get_dsd(fabin_dsd, .{{
          .extent = {length}, .fabric_color = {color}, .input_queue = @get_input_queue({read})
        }});
        const to{k} = @get_dsd(fabout_dsd, .{{
          .extent = {length}, .fabric_color = {color}, .output_queue = @get_output_queue({written})
        }});
        """
        if arch == "wse3":
            pe += f"""comptime {{
              @initialize_queue(@get_input_queue({read}), .{{ .color = {color} }});
              @initialize_queue(@get_output_queue({written}), .{{ .color = {color} }});
            }}
            """
        thread = {"wse2": "", "wse3": f", .ut_id = @get_ut_id({read})"}[arch]
        receives += f"@fmovs(got, from{k}, .{{ .async = true, {completion}{thread} }});\n"
        thread = {"wse2": "", "wse3": f", .ut_id = @get_ut_id({written})"}[arch]
        sends += f"@fmovs(to{k}, values, .{{ .async = true{thread} }});\n"
    pe += f"""
    var out = @zeros([2]i16);
    var data = @zeros([20]f32);
    var sums = @zeros([20]f32);
    const values = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{20}} -> data[i] }});
    const got = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{20}} -> sums[i] }});
    const done = @get_local_task_id(10);
    task arrived() void {{ out[0] += 1; }}
    comptime {{ @bind_local_task(arrived, done); }}
    {"comptime { @block(done); }" if "unblock" in completion else ""}
    fn main() void {{ {before} {receives} {sends} {after} }}
    """
    simulator = csl.start(pe, {"out": "i16"}, layout=routes, arch=arch)
    simulator.launch("main")
    return simulator


@ARCHES
@pytest.mark.parametrize("lengths", [[12, 12], [12, 11], [12, 13], [12, 16], [12, 12, 12]], ids=str)
def test_operations_with_one_completion_task(csl: Csl, arch: str, lengths: list[int]) -> None:
    """They complete 0 to 5 cycles after one another; a third finds the bit set, or the task running."""
    simulator = start(csl, arch, lengths, ".activate = done")
    assert simulator.get("out")[0, 0].tolist() == [2, 0]


@ARCHES
def test_a_busy_pe_merges_activations(csl: Csl, arch: str) -> None:
    spin = "for (@range(i16, 100)) |i| { out[1] += i; }"
    simulator = start(csl, arch, [12, 12], ".activate = done", after=spin)
    assert simulator.get("out")[0, 0, 0] == 1


@ARCHES
@pytest.mark.parametrize("activations", [1, 2])
def test_a_blocked_task_activated_twice_runs_once(csl: Csl, arch: str, activations: int) -> None:
    """Also when two operations unblock it."""
    simulator = start(csl, arch, [12, 12], ".unblock = done", before="@activate(done);" * activations)
    assert simulator.get("out")[0, 0].tolist() == [1, 0]
