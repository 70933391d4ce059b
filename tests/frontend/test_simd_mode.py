"""The SIMD mode of fabric DSDs: two 16-bit values in a wavelet."""

from __future__ import annotations

import pytest

import loomir

from .harness import Csl

ARCHES = pytest.mark.parametrize("arch", ["wse2", "wse3"])
PACKED = ("simd_32", "simd_64", "simd_32_or_64", "simd_max")
VALUES = [3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16, 17, -18]


def start(
    csl: Csl, arch: str, main: str, sends: str, receives: str, *, sent: int = 16, received: int = 16
) -> loomir.Simulator:
    """Return a PE that sends to itself on one color, with these fields of its fabric DSDs; runs `main`."""
    pe = f"""
    var values = [16]i16{{ {", ".join(map(str, VALUES))} }};
    var out = @zeros([16]i16);
    var words = @zeros([16]i32);
    const from = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{16}} -> values[i] }});
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{16}} -> out[i] }});
    const wide = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{16}} -> words[i] }});
    const c = @get_color(3);
    const in_queue = @get_input_queue(5);
    const out_queue = @get_output_queue(2);
    const sent = @get_dsd(fabout_dsd, .{{
      .extent = {sent}, .fabric_color = c, .output_queue = out_queue {sends}
    }});
    const received = @get_dsd(fabin_dsd, .{{
      .extent = {received}, .fabric_color = c, .input_queue = in_queue {receives}
    }});
    fn main() void {{ {main} }}
    """
    if arch == "wse3":
        pe += """comptime {
          @initialize_queue(in_queue, .{ .color = c }); @initialize_queue(out_queue, .{ .color = c });
        }"""
    route = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    simulator = csl.start(pe, {"out": "i16", "words": "i32"}, layout=route, arch=arch)
    simulator.launch("main")
    return simulator


def send(arch: str, operation: str = "mov16", source: str = "from") -> str:
    thread = ", .ut_id = @get_ut_id(2)" if arch == "wse3" else ""
    return f"@{operation}(sent, {source}, .{{ .async = true{thread} }});"


def mode(name: str) -> str:
    return f", .simd_mode = .{{ .{name} = true }}"


@pytest.mark.one_in(2)
@ARCHES
@pytest.mark.parametrize("name", [*PACKED, "simd_off"])
@pytest.mark.parametrize("receive_first", [True, False])
def test_both_sides(csl: Csl, arch: str, name: str, receive_first: bool) -> None:
    """DSD-238, DSD-239, DSD-240, DSD-242, AMB-23: what arrives is what was sent, in half as many wavelets."""
    thread = ".async = true" + (", .ut_id = @get_ut_id(5)" if arch == "wse3" else "")
    receive = f"@mov16(to, received, .{{ {thread} }});"
    main = receive + send(arch) if receive_first else send(arch) + receive
    simulator = start(csl, arch, main, mode(name), mode(name))
    assert simulator.get("out")[0, 0].tolist() == VALUES
    assert simulator.stats()["wavelets_sent"] == (16 if name == "simd_off" else 8)


@ARCHES
@pytest.mark.parametrize("name", PACKED)
def test_what_a_wavelet_carries(csl: Csl, arch: str, name: str) -> None:
    """DSD-240: one that does not ask for SIMD sees both values, the first in the low half."""
    main = send(arch) + "@mov32(wide, received);"
    words = start(csl, arch, main, mode(name), "", received=8).get("words")[0, 0]
    expected = [(high & 0xFFFF) << 16 | low & 0xFFFF for low, high in zip(VALUES[::2], VALUES[1::2], strict=True)]
    assert [word & 0xFFFFFFFF for word in words[:8].tolist()] == expected
    assert not words[8:].any()


@ARCHES
def test_words_taken_apart(csl: Csl, arch: str) -> None:
    main = f"""for (@range(i16, 4)) |i| {{ words[i] = @as(i32, i) * 0x30001 + 5; }}
      {send(arch, "mov32", "wide")} @mov16(to, received);"""
    simulator = start(csl, arch, main, "", mode("simd_32"), sent=4, received=8)
    expected = [half for i in range(4) for half in (i + 5, 3 * i)]
    assert simulator.get("out")[0, 0, :8].tolist() == expected


@ARCHES
def test_several_receives_of_one_message(csl: Csl, arch: str) -> None:
    """Lengths set at run time, and an addition."""
    main = (
        send(arch)
        + """
      var d = to;
      for (@range(u16, 3)) |i| {
        @add16(d, @set_dsd_length(received, 2 * i + 2), 100);
        d = @increment_dsd_offset(d, @as(i16, 2 * i + 2), i16);
      }"""
    )
    simulator = start(csl, arch, main, mode("simd_64"), mode("simd_64"))
    assert simulator.get("out")[0, 0].tolist() == [value + 100 for value in VALUES[:12]] + [0] * 4


def test_room_is_counted_in_wavelets(csl: Csl) -> None:
    """64 values are 32 wavelets, for which the queues of WSE-2 have no room."""
    with pytest.raises(loomir.Deadlock, match="cannot send its 32 wavelets on output queue"):
        start(csl, "wse2", "@mov16(sent, 7); @mov16(to, received);", mode("simd_32"), mode("simd_32"), sent=64)


@ARCHES
@pytest.mark.parametrize("executor", ["core", "reference"])
@pytest.mark.parametrize("count", [1, 3, 15])
def test_odd_extents(csl: Csl, arch: str, executor: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """AMB-23: the last wavelet of an odd extent carries one value, and the next message begins with the next one."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    main = f"""{send(arch, source=f"@set_dsd_length(from, {count})")} @mov16(to, received);"""
    if count <= 3:
        main += f"""@mov16(sent, @increment_dsd_offset(@set_dsd_length(from, {count}), 4, i16));
          @mov16(@increment_dsd_offset(to, {count}, i16), received);"""
    simulator = start(csl, arch, main, mode("simd_64"), mode("simd_64"), sent=count, received=count)
    messages = 1 if count > 3 else 2
    expected = VALUES[:count] + (VALUES[4 : 4 + count] if messages == 2 else [])
    assert simulator.get("out")[0, 0].tolist() == expected + [0] * (16 - len(expected))
    assert simulator.stats()["wavelets_sent"] == messages * (count + 1) // 2


@ARCHES
def test_the_high_half_of_an_odd_end_is_zero(csl: Csl, arch: str) -> None:
    words = start(
        csl, arch, send(arch, source="@set_dsd_length(from, 3)") + "@mov32(wide, received);", mode("simd_32"), "",
        received=2,
    )  # fmt: skip
    assert words.get("words")[0, 0, 1] == VALUES[2]


@pytest.mark.one_in(4)
@ARCHES
@pytest.mark.parametrize("executor", ["core", "reference"])
@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("where", ["comptime", "main"])
def test_in_registers(
    csl: Csl, arch: str, executor: str, name: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DSD-239: registers keep the mode, for operations on values of 16 bits; those on 32 bits are as without it."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    loads = "@load_to_dsr(sender, sent); @load_to_dsr(receiver, received);"
    queue = "@initialize_queue(in_queue, .{ .color = c });" if arch == "wse2" else ""
    main = f"""{loads if where == "main" else ""}
      @load_to_dsr(reader, @set_dsd_length(from, 4)); @load_to_dsr(writer, to);
      @mov16(sender, reader); @mov16(writer, receiver);
      for (@range(i16, 4)) |i| {{ words[i] = 70000 * @as(i32, i); }}
      @load_to_dsr(reader, @set_dsd_length(wide, 4)); @load_to_dsr(writer, copied);
      @mov32(sender, reader); @mov32(writer, receiver);
      for (@range(i16, 4)) |i| {{ words[i] = copy[i] + 1; }} }}
    var copy = @zeros([4]i32);
    const copied = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> copy[i] }});
    const sender = @get_dsr(dsr_dest, 2);
    const writer = @get_dsr(dsr_dest, 3);
    const reader = @get_dsr(dsr_src1, 4);
    const receiver = @get_dsr(dsr_src1, 5);
    comptime {{ {loads if where == "comptime" else ""} {queue} """
    simulator = start(csl, arch, main, mode(name), mode(name), sent=4, received=4)
    assert simulator.get("out")[0, 0, :4].tolist() == VALUES[:4]
    assert simulator.get("words")[0, 0, :4].tolist() == [1, 70001, 140001, 210001]
    assert simulator.stats()["wavelets_sent"] == 2 + 4


ONE_BY_ONE = """
const c = @get_color(3);
const in_queue = @get_input_queue(5);
const out_queue = @get_output_queue(2);
const receiver = @get_dsr(dsr_src1, 5);
var given = @zeros([6]KIND);
var taken = @zeros([6]KIND);
const from = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{VALUES} -> given[i] });
const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{6} -> taken[i] });
const sent = @get_dsd(fabout_dsd, .{ .extent = VALUES, .fabric_color = c, .output_queue = out_queue MODE });
const received = @get_dsd(fabin_dsd, .{ .extent = 3 * VALUES, .fabric_color = c, .input_queue = in_queue MODE });
fn send(number: i16) void { @MOVE(sent, @increment_dsd_offset(from, number * VALUES, KIND)); }
fn main() void {
  for (@range(i16, 6)) |i| { given[i] = @as(KIND, i + 1); }
  RECEIVE
  send(0);
}
comptime {
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
}
"""


@pytest.mark.one_in(4)
@ARCHES
@pytest.mark.parametrize("executor", ["core", "reference"])
@pytest.mark.parametrize("in_register", [False, True])
@pytest.mark.parametrize("kind", ["i16", "i32"])
@pytest.mark.parametrize("name", PACKED[1:])
def test_how_many_wavelets_are_awaited(
    csl: Csl, arch: str, executor: str, in_register: bool, kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DSD-241, DSD-242: in simd_64 the first wavelet is taken with the second one, and the last alone."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    values, settings = 2 if kind == "i16" else 1, f".{{ .async = true{', .ut_id = @get_ut_id(5)' * (arch == 'wse3')} }}"
    receive = f"@MOVE(to, received, {settings});"
    if in_register:
        receive = f"@load_to_dsr(receiver, received, {settings}); @MOVE(to, receiver, .{{ .async = true }});"
    text = ONE_BY_ONE.replace("RECEIVE", receive).replace("KIND", kind).replace("MODE", mode(name))
    text = text.replace("VALUES", str(values)).replace("MOVE", "mov16" if kind == "i16" else "mov32")
    route = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    simulator = csl.start(text, {"taken": kind}, {"main": "fn() void", "send": "fn(i16) void"}, layout=route, arch=arch)
    simulator.launch("main")
    sent = list(range(1, 1 + 3 * values))
    for count in range(1, 4):
        taken = 0 if count == 1 and name == "simd_64" else count * values
        assert simulator.get("taken")[0, 0].tolist() == sent[:taken] + [0] * (6 - taken)
        if count < 3:
            simulator.launch("send", count)


def test_refused(csl: Csl) -> None:
    """AMB-24 reports 32-bit values."""
    for fields, operation, message in (
        (".extent = 4" + mode("simd_32"), "@mov32(o, 1)", "simd_32 packs 16-bit values into wavelets, but the values"),
        (
            ".extent = 4, .wavelet_index_offset = true" + mode("simd_max"), "@mov16(o, 1, .{ .index = 1 })",
            "in simd_max a value takes the half of a wavelet that wavelet_index_offset puts the index in",
        ),
        (
            ".extent = 4" + mode("simd_16"), "@mov16(o, 1)",
            "'simd_16' is not a '.simd_mode'; it is one of simd_32, simd_64, simd_32_or_64, simd_off, simd_max",
        ),
    ):  # fmt: skip
        text = f"""const o = @get_dsd(fabout_dsd, .{{ {fields}, .fabric_color = @get_color(3), .output_queue =
          @get_output_queue(2) }});
        task t() void {{ {operation}; }}
        comptime {{ @bind_local_task(t, @get_local_task_id(9)); }}"""
        with pytest.raises(
            loomir.LoomError, match="^[^\\n]*pe.csl:[0-9]+:[0-9]+: error: " + message.replace("(", "\\(")
        ):
            csl.pe(text)
