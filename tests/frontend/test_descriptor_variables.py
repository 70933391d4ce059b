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


def test_a_descriptor_variable_over_elements_of_another_width(csl: Csl) -> None:
    """A register that is loaded with it, in a task that is emitted before, holds elements of 32 bits too."""
    text = """
    const dummy = @zeros([1]i16);
    var data = [3]f32 { 1.5, 2.5, 4.0 };
    var out = @zeros([3]f32);
    var held = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> dummy[i] });
    const result = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> out[i] });
    const src = @get_dsr(dsr_src1, 1);
    const dest = @get_dsr(dsr_dest, 1);
    const id = @get_local_task_id(9);
    task use() void {
      @load_to_dsr(src, held);
      @load_to_dsr(dest, result);
      @fmovs(dest, src);
    }
    fn start(values: [*]f32) void {
      held = @set_dsd_base_addr(held, values);
      held = @set_dsd_length(held, 3);
      @activate(id);
    }
    fn main() void { start(&data); }
    comptime { @bind_local_task(use, id); }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [1.5, 2.5, 4.0]


@pytest.mark.parametrize("color", [5, 6])
def test_a_fabric_dsd_that_the_layout_makes(csl: Csl, color: int) -> None:
    """A variable may hold it, and one of the program's own on the same queue, of the same or another color."""
    fields = ".extent = 1, .output_queue = @get_output_queue(2)"
    layout = f"""
    const given = @get_dsd(fabout_dsd, .{{ {fields}, .fabric_color = @get_color(5) }});
    layout {{ @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{{ .given = given }}); }}
    """
    pe = f"""
    param given: fabout_dsd;
    const first = @get_dsd(fabout_dsd, .{{ {fields}, .fabric_color = @get_color(6) }});
    const own = @get_dsd(fabout_dsd, .{{ {fields}, .fabric_color = @get_color({color}) }});
    var chosen = own;
    var x: i16 = 3;
    task go() void {{ @mov16(first, x); if (x > 2) {{ chosen = given; }} @mov16(chosen, x); }}
    comptime {{ @bind_local_task(go, @get_local_task_id(8)); @activate(@get_local_task_id(8)); }}
    """
    text = str(csl.layout(layout, pe).module)
    assert text.count("dsd.mov16 ") == (2 if color == 5 else 3), "one for each that the variable may hold"
    assert "wse.color @c5 = 5" in text


@pytest.mark.parametrize(
    ("change", "stored", "filled"),
    [
        ("held = @increment_dsd_offset(held, 4, f32);", 1, [4, 5, 6, 7]),
        ("held = @set_dsd_length(held, n);", 1, [0, 1]),
        ("held = @set_dsd_base_addr(@set_dsd_length(held, n), &data[9]);", 2, [9, 10]),
        ("const before = held; other = 1; held = before;", 4, [0, 1, 2, 3]),
        ("held = second;", 3, [0, 2, 4]),
    ],
)
def test_only_words_that_change_are_stored(csl: Csl, change: str, stored: int, filled: list[int]) -> None:
    """A word that a descriptor variable holds already is not stored again, unless anything was stored since."""
    text = f"""
    var data = @zeros([16]f32);
    var other: i16 = 0;
    var n: u16 = 2;
    var held = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> data[i] }});
    var second = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> data[2 * i] }});
    fn main() void {{ {change} @fmovs(held, 7.0); }}
    """
    assert str(csl.program(text, {"data": "f32"}).module).count("flow.store ") == stored
    assert csl.run(text, {"data": "f32"})["data"].nonzero()[0].tolist() == filled


def test_the_words_of_a_descriptor_variable_are_loaded_with_it(csl: Csl) -> None:
    """An operation takes as long with a descriptor that is a variable as with one that is a constant."""
    cycles: list[int] = []
    for kind in ("var", "const"):
        text = f"""
        var data = @zeros([16]f32);
        {kind} held = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> data[i] }});
        fn main() void {{ @fmovs(held, 7.0); }}
        """
        simulator = csl.start(text, {"data": "f32"})
        simulator.launch("main")
        cycles.append(simulator.cycles)
    assert cycles[0] == cycles[1]
