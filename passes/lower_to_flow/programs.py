"""Programs: the numbers of their colors, their routes, and where their PE programs are."""

from __future__ import annotations

from xdsl.ir import Operation

from ... import targets
from ...analysis.numbering import number
from ...diagnostics.errors import Mistakes
from ...dialects import flow, wse
from ...dialects.machine.region import indices_text, region_list_text
from ...dialects.machine.region_overlap import first_overlap
from ...dialects.machine.rules import rectangle_problem
from ...dialects.machine.source_names import set_source_name, source_name
from .emission import refusal
from .pe_programs import PeLowering, Shared

_NO_COLOR = 1 << 12
"""The first of the numbers that colors go on with which get none."""


class ProgramLowering:
    """Lowers one program: its colors, routes and PE programs."""

    def __init__(self, program: wse.ProgramOp, mistakes: Mistakes) -> None:
        self.program = program
        self.mistakes = mistakes
        self.target = targets.get(program.target.data)
        self.colors = self._number_colors()
        self.shared = Shared(program, self.target, self.colors, mistakes)

    def lower(self) -> flow.FabricOp:
        width, height = self.program.rectangle
        if (problem := rectangle_problem(width, height, self.target)) is not None:
            self.mistakes.add(refusal(self.program, problem))
        fabric = flow.FabricOp(self.program.sym_name.data, self.target.name, width, height)
        fabric.location = self.program.location
        self._check_placement()
        self._check_routes()
        for op in self.program.body.block.ops:
            with self.mistakes.going_on():
                fabric.body.block.add_op(self._member(op))
        return fabric

    def _member(self, op: Operation) -> Operation:
        """Return what becomes of an operation of the program."""
        match op:
            case wse.ColorOp():
                new = flow.ColorOp(op.sym_name.data, self.colors[op.sym_name.data], changes=op.changes is not None)
                set_source_name(new, source_name(op))
            case wse.RouteOp():
                new = flow.RouteOp(
                    op.color, op.placement.data, op.input_ports, op.output_ports, op.switch,
                    teardown=op.teardown is not None, swap=op.swap, filter=op.filter,
                )  # fmt: skip
            case wse.HostStreamOp():
                new = flow.HostStreamOp(op.color, op.way.data, op.placement.data)
            case wse.MessageNetworkOp():
                new = flow.MessageNetworkOp(op.color)
            case wse.PeOp():
                new = PeLowering(op, self.shared).lower()
            case _:
                raise refusal(op, f"{op.name} in a wse.program has no counterpart in flow")
        new.location = op.location
        return new

    def _number_colors(self) -> dict[str, int]:
        colors = [op for op in self.program.body.block.ops if isinstance(op, wse.ColorOp)]
        # On WSE-2 a data task has the number of its color, which no local task of a fixed id may have too.
        avoid: set[int] = set()
        if self.target.data_tasks_by_color:
            avoid = {
                op.id.value.data
                for pe in self.program.pes
                for op in pe.body.block.ops
                if isinstance(op, wse.TaskOp) and op.task_kind is wse.TaskKind.LOCAL and op.id is not None
            }
        wanted = {op.sym_name.data: None if op.id is None else op.id.value.data for op in colors}
        switched = {
            op.color.string_value()
            for op in self.program.body.block.ops
            if isinstance(op, wse.RouteOp) and op.switch is not None
        }
        # Those with a switch choose first: not every color can have one.
        fixed = {id for id in wanted.values() if id is not None}
        choosy = {name: id for name, id in wanted.items() if name in switched}
        wanted |= number(choosy, self.target.switch_colors, avoid | fixed)
        without = [op for op in colors if op.sym_name.data in switched and wanted[op.sym_name.data] is None]
        if without:
            message = (
                f"a color gets no id: {len(switched)} colors of the program have switches, and {self.target.name} has "
                f"{len(self.target.switch_colors)} ids for them; let parts of the program that are far apart share one"
            )
            self.mistakes.add(refusal(without[0], message))
        numbers = number(wanted, range(self.target.routable_colors), avoid)
        without = [op for op in colors if op.sym_name.data not in numbers]
        if without and not self.mistakes:
            message = (
                f"color @{without[0].sym_name.data} gets no id: the program has {len(colors)} colors, and "
                f"{self.target.name} routes {self.target.routable_colors}; let parts of the program that are far "
                "apart share a color"
            )
            self.mistakes.add(refusal(without[0], message))
        # Those go on with numbers that no color has.
        return numbers | {op.sym_name.data: _NO_COLOR + place for place, op in enumerate(without)}

    def _check_placement(self) -> None:
        for pe in self.program.pes:
            if not any(all(region.resolve(*self.program.rectangle)) for region in pe.placement):
                message = (
                    f"wse.pe @{pe.sym_name.data} on {region_list_text(pe.placement)} covers no PE of the rectangle, "
                    f"which has {indices_text(*self.program.rectangle)}; correct its region or enlarge the rectangle"
                )
                self.mistakes.add(refusal(pe, message))
        places = [(pe, region.resolve(*self.program.rectangle)) for pe in self.program.pes for region in pe.placement]
        found = first_overlap(places)
        if found is not None:
            (first, _), (second, _) = places[found[0]], places[found[1]]
            x, y = found[2]
            message = (
                f"wse.pe @{second.sym_name.data} is placed on PE ({x}, {y}), where @{first.sym_name.data} is already; "
                "place one program on each PE"
            )
            self.mistakes.add(refusal(second, message))

    def _check_routes(self) -> None:
        by_color: dict[str, list[tuple[wse.RouteOp, tuple[range, range]]]] = {}
        for op in self.program.body.block.ops:
            if isinstance(op, wse.RouteOp):
                regions = [(op, region.resolve(*self.program.rectangle)) for region in op.placement]
                by_color.setdefault(op.color.string_value(), []).extend(regions)
        for color, routes in by_color.items():
            found = first_overlap(routes)
            if found is not None:
                x, y = found[2]
                message = f"color @{color} has two routes at PE ({x}, {y}); name all its ports in one of them"
                self.mistakes.add(refusal(routes[found[1]][0], message))
