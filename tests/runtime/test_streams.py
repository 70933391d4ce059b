"""Descriptors as values: through branches and loops, and changed on the way."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError

from .flow_modules import parse
from .machines import load

WIDTH, HEIGHT, SIZE = 4, 3, 40
S = "!flow.stream<f32>"


def run(body: str) -> np.ndarray:
    """Memory of every PE, [row, column, element], after `body`, which knows %x and %y; before, element k holds k."""
    made = load(
        parse(f"""flow.fabric @test target "wse3" grid {WIDTH} by {HEIGHT} {{
          flow.units @u on [:, :] words {2 * SIZE} {{
            flow.buffer @m at 0 : memref<{SIZE}xf32>
            flow.export @m as "m"
            flow.export @main as "main"
            flow.func @main() {{
              %x = flow.coordinate x : i16
              %y = flow.coordinate y : i16
              %c0 = arith.constant 0 : i16
              %c1 = arith.constant 1 : i16
              %c2 = arith.constant 2 : i16
              %c3 = arith.constant 3 : i16
              %hundred = arith.constant 100.0 : f32
              {body}
              flow.return
            }}
          }}
        }}"""),
    )
    made.write_symbol("m", np.arange(SIZE, dtype=np.float32))
    made.launch("main", [])
    made.run()
    return made.read_symbol("m")


def check(found: np.ndarray, written) -> None:
    """`written(x, y)` gives the elements that hold 100."""
    for y in range(HEIGHT):
        for x in range(WIDTH):
            expected = np.arange(SIZE, dtype=np.float32)
            expected[list(written(x, y))] = 100
            assert found[y, x].tolist() == expected.tolist(), (x, y)


FILL = f"flow.apply fmovs %s, %hundred : {S}, f32"


def test_address_of_every_unit() -> None:
    body = f"%s = flow.stream @m at %x strides [2] extents [5] : {S}\n {FILL}"
    check(run(body), lambda x, y: range(x, x + 10, 2))


def test_shape_of_every_unit() -> None:
    """Units with different extents or strides part ways where the stream is made."""
    body = f"""
      %n = arith.addi %x, %y : i16
      %s = flow.stream @m at 7 strides [%y] extents [%n] : {S}
      {FILL}"""
    check(run(body), lambda x, y: [7 + k * y for k in range(x + y)])


def test_streams_of_different_shape_meet_after_a_branch() -> None:
    body = f"""
      %left = arith.cmpi slt, %x, %c2 : i16
      %top = arith.cmpi eq, %y, %c0 : i16
      %s = scf.if %left -> ({S}) {{
        %at = arith.addi %x, %y : i16
        %a = flow.stream @m at %at strides [1] extents [3] : {S}
        scf.yield %a : {S}
      }} else {{
        %i = scf.if %top -> ({S}) {{
          %b = flow.stream @m at %x strides [2] extents [4] : {S}
          scf.yield %b : {S}
        }} else {{
          %c = flow.stream @m at 20 strides [1] extents [2] : {S}
          scf.yield %c : {S}
        }}
        scf.yield %i : {S}
      }}
      {FILL}"""

    def written(x: int, y: int):
        if x < 2:
            return range(x + y, x + y + 3)
        return range(x, x + 8, 2) if y == 0 else (20, 21)

    check(run(body), written)


@pytest.mark.slow
def test_mixed_streams_are_cut_by_a_later_branch() -> None:
    """Between the join and the use the units part once more, along another line."""
    body = f"""
      %left = arith.cmpi slt, %x, %c2 : i16
      %s0 = scf.if %left -> ({S}) {{
        %a = flow.stream @m at %y strides [1] extents [3] : {S}
        scf.yield %a : {S}
      }} else {{
        %b = flow.stream @m at %x strides [2] extents [4] : {S}
        scf.yield %b : {S}
      }}
      %low = arith.cmpi eq, %y, %c2 : i16
      scf.if %low {{
        %s = flow.advance %s0, %c2 : {S}
        {FILL}
      }} else {{
        %middle = arith.cmpi eq, %x, %c1 : i16
        scf.if %middle {{
          flow.apply fmovs %s0, %hundred : {S}, f32
        }}
      }}"""

    def written(x: int, y: int):
        walk = range(y, y + 3) if x < 2 else range(x, x + 8, 2)
        if y == 2:
            return [k + 1 for k in walk]
        return walk if x == 1 else ()

    check(run(body), written)


def test_advance_resize_restride() -> None:
    """DSD-168, DSD-175, DSD-179: a descriptor moved by words, with another length, with another stride."""
    body = f"""
      %s0 = flow.stream @m at 1 strides [1] extents [2] : {S}
      %words = arith.muli %x, %c2 : i16
      %s1 = flow.advance %s0, %words : {S}
      %s2 = flow.resize %s1, %c3 : {S}
      %stride = arith.addi %y, %c1 : i16
      %s = flow.restride %s2, %stride : {S}
      {FILL}"""
    check(run(body), lambda x, y: [1 + x + k * (y + 1) for k in range(3)])


def test_window_that_a_loop_moves() -> None:
    """A descriptor carried by a loop whose length differs from unit to unit."""
    body = f"""
      %s0 = flow.stream @m at %y strides [1] extents [2] : {S}
      %words = arith.constant 6 : i16
      %s = scf.for %k = %c0 to %x step %c1 iter_args(%w = %s0) -> ({S}) : i16 {{
        flow.apply fmovs %w, %hundred : {S}, f32
        %next = flow.advance %w, %words : {S}
        scf.yield %next : {S}
      }}
      {FILL}"""
    check(run(body), lambda x, y: [y + 3 * k + j for k in range(x + 1) for j in range(2)])


def test_negative_lengths_are_large_ones() -> None:
    """DSD-175: a length is unsigned; beside a shorter operand it does no harm (AMB-01)."""
    body = f"""
      %minus = arith.constant -1 : i16
      %a = flow.stream @m at 0 strides [0] extents [%minus] : {S}
      %s = flow.stream @m at 10 strides [1] extents [4] : {S}
      flow.apply fmovs %s, %a : {S}, {S}"""
    found = run(body)
    assert (found[:, :, 10:14] == 0).all() and found[0, 0, 14] == 14


def test_odd_address_of_wide_elements(capsys: pytest.CaptureFixture) -> None:
    """AMB-25: `flow.advance` counts words, and an odd one for 32-bit elements is a warning, once for each place."""
    body = """%s = flow.stream @m at 0 strides [1] extents [2] : !flow.stream<f32>
      %odd = flow.advance %s, %c1 : !flow.stream<f32>
      flow.apply fnegs %odd, %s : !flow.stream<f32>, !flow.stream<f32>"""
    found = np.ascontiguousarray(run(body)[0, 0])
    words = np.arange(SIZE, dtype=np.float32).view(np.uint16)
    # One by one: the second source begins in what the first result was written to.
    for at in (0, 2):
        words[at + 1 : at + 3] = (-words[at : at + 2].view(np.float32)).view(np.uint16)
    assert found.view(np.uint16).tolist() == words.tolist()
    line, *_ = capsys.readouterr().err.splitlines()
    assert "warning: fnegs in @main reads or writes 32-bit elements at byte address 2 on PE" in line


@pytest.mark.parametrize("stride", ["1", "%x"])
def test_walks_far_beyond_memory_are_refused(stride: str) -> None:
    """Extents alone, 65535 each, would fill the host's memory before anything is checked."""
    body = f"""%s = flow.stream @m at 0 strides [{stride}, 1, 1] extents [65535, 65535, 65535] : !flow.stream<f32>
      flow.apply fnegs %s, %s : !flow.stream<f32>, !flow.stream<f32>"""
    with pytest.raises(LoomError, match="far beyond the memory of a unit; check the extents"):
        run(body)


def test_scalars_of_another_type_are_read_by_their_bits() -> None:
    """`mov32` moves 32-bit words, whatever their type: 1.5 keeps its bits, and %x makes them differ from PE to PE."""
    body = """%s = flow.stream @m at 0 strides [1] extents [2] : !flow.stream<f32>
      %f = arith.sitofp %x : i16 to f32
      %half = arith.constant 0.5 : f32
      %v = arith.addf %f, %half : f32
      flow.apply mov32 %s, %v : !flow.stream<f32>, f32
      %t = flow.stream @m at 2 strides [1] extents [2] : !flow.stream<f32>
      flow.apply mov32 %t, %half : !flow.stream<f32>, f32"""
    found = run(body)
    assert (found[:, :, :2] == np.arange(WIDTH)[None, :, None] + np.float32(0.5)).all()
    assert (found[:, :, 2:4] == np.float32(0.5)).all()
