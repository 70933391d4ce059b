"""Table of colors and routes, as `cslc --out-routes` prints it."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ..dialects import wse
from ..dialects.machine.filters import filter_text, swap_text
from ..dialects.machine.region import RegionAttr
from ..dialects.wse.fabric import DirectionAttr

HEADINGS = ("color", "PEs (columns, rows)", "rx", "tx", "switch")


def table(module: ModuleOp) -> str:
    """Return the routes of a program in `wse`, those of a color together, in columns."""
    (program,) = (op for op in module.body.block.ops if isinstance(op, wse.ProgramOp))
    ids = {op.sym_name.data: op.id for op in program.body.block.ops if isinstance(op, wse.ColorOp)}
    rows: list[tuple[int, tuple[str, ...]]] = []
    for op in program.body.block.ops:
        if isinstance(op, wse.RouteOp):
            id = ids[op.color.string_value()]
            color = id.value.data if isinstance(id, IntegerAttr) else 0
            switch = "" if op.switch is None else _text(op.switch)
            if op.swap is not None:
                switch += f" swap {swap_text(op.swap)}"
            if op.filter is not None:
                switch += f" filter {filter_text(op.filter)}"
            places = " + ".join(_region(region, *program.rectangle) for region in op.placement)
            rows.append((color, (str(color), places, _ports(op.inputs), _ports(op.outputs), switch.lstrip())))
    lines = [HEADINGS, *(cells for _, cells in sorted(rows, key=lambda row: row[0]))]
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in lines)


def _region(region: RegionAttr, width: int, height: int) -> str:
    return ", ".join(map(_range, region.resolve(width, height)))


def _range(indices: range) -> str:
    if len(indices) == 1:
        return str(indices[0])
    return f"{indices[0]}..{indices[-1]}" + (f" step {indices.step}" if indices.step > 1 else "")


def _ports(ports: ArrayAttr[DirectionAttr]) -> str:
    return "{" + ", ".join(port.data.value.upper() for port in ports) + "}"


def _text(attribute: Attribute) -> str:
    text = StringIO()
    Printer(stream=text).print_attribute(attribute)
    return text.getvalue().removeprefix("#wse.switch<").removesuffix(">")
