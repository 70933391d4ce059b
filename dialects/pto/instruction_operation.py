"""The operation that is one instruction of a row in `operations/pto_instructions`.

Its text, its operands and results and the kinds of those follow from the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from ...operations.pto_instructions.instruction import Instruction
from .attribute_kinds import declared_attributes
from .kernels import fail
from .kinds import KINDS
from .syntax import SEGMENTS, BlockOf, Operand, Reading, Syntax, Types, Writing, syntax_of
from .tile_rules.registry import TILE_RULES
from .tile_rules.tiles import verify_tiles


class InstructionOp(Operation):
    """An instruction of the table."""

    row: ClassVar[Instruction]
    rule: ClassVar[Callable[[InstructionOp], None] | None] = None
    """What holds besides: a function of `instruction_rules`."""

    @classmethod
    def __subclasshook__(cls, subclass: type, /) -> bool:
        # Python would ask each of the many classes below this one.
        return cls in subclass.__mro__

    @classmethod
    def syntax(cls) -> Syntax:
        """Return the text of the instruction."""
        return syntax_of(cls.row.text, cls.row.order)

    @property
    def operand_groups(self) -> Mapping[str, Sequence[SSAValue]]:
        """The operands by the names of the row."""
        return self.syntax().groups(self) or {}

    @property
    def result_groups(self) -> Mapping[str, Sequence[SSAValue]]:
        """The results by the names of the row."""
        return self.syntax().result_groups(self) or {}

    def operand(self, name: str) -> SSAValue | None:
        """Return the operand of this name; None if it is missing."""
        values = self.operand_groups.get(name, ())
        return values[0] if values else None

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute of this name; None if it is missing."""
        found = self.properties.get(name)  # which may be false: a number that is 0
        return self.attributes.get(name) if found is None else found

    @classmethod
    def parse(cls, parser: Parser) -> InstructionOp:
        syntax, declared = cls.syntax(), declared_attributes(cls.row.attributes)
        reading = Reading(parser)
        for element in syntax.elements:
            element.parse(reading)
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for operand in syntax.operands:
            found = reading.operands.get(operand.name, [])
            sizes.append(len(found))
            types = reading.types.get(operand.twin or operand.name, [])
            if operand.fixed is not None:
                types = [operand.fixed] * len(found)
            operands.extend(parser.resolve_operands(found, types, parser.pos))
        properties: dict[str, Attribute] = {}
        if syntax.has_segments:
            properties[SEGMENTS] = DenseArrayBase.from_list(i32, sizes)
        return cls.create(
            operands=operands,
            result_types=[each for result in syntax.results for each in reading.types.get(result.name, [])],
            properties=properties | {name: each for name, each in reading.attributes.items() if name in declared},
            attributes={name: each for name, each in reading.attributes.items() if name not in declared},
            regions=reading.regions,
        )

    def print(self, printer: Printer) -> None:
        syntax = self.syntax()
        groups, results = syntax.groups(self), syntax.result_groups(self)
        if groups is None or results is None:
            printer.print_op_with_default_format(self)
            return
        writing = Writing(printer, self, groups, results, {**self.properties, **self.attributes})
        for element in syntax.elements:
            element.print(writing)

    def verify_(self) -> None:
        syntax = self.syntax()
        groups, results = syntax.groups(self), syntax.result_groups(self)
        if groups is None:
            fail(self, f"expects {_counted(syntax.operands, 'operand')}, not {len(self.operands)}")
        if results is None:
            fail(self, f"expects {_counted(syntax.results, 'result')}, not {len(self.results)}")
        if len(self.regions) != sum(isinstance(element, BlockOf) for element in syntax.elements):
            fail(self, f"expects another number of regions than {len(self.regions)}")
        for what, wanted, given in (("operand", syntax.operands, groups), ("result", syntax.results, results)):
            number = 0
            for each in wanted:
                for value in given[each.name]:
                    self._verify_type(what, number, each, value.type)
                    number += 1
        self._verify_attributes()
        if (rule := type(self).rule) is not None:
            rule(self)
        if (rules := TILE_RULES.get(self.row.name)) is not None:
            verify_tiles(self, dict(self._named()), rules)

    def _verify_attributes(self) -> None:
        """Check that the attributes of the row are there and have their types."""
        for name, declared in declared_attributes(self.row.attributes).items():
            found = self.attribute(name)
            if found is None and not declared.is_optional:
                fail(self, f"requires attribute '{name}'")
            if found is not None and not any(kind.accepts(found) for kind in declared.kinds):
                wanted = " or ".join(kind.summary for kind in declared.kinds)
                fail(self, f"attribute '{name}' failed to satisfy constraint: {wanted}, but it is {found}")

    def _named(self) -> Iterator[tuple[str, SSAValue]]:
        """Yield the operands with their names; those of which there may be any number are numbered."""
        groups = self.operand_groups
        for operand in self.syntax().operands:
            for number, value in enumerate(groups.get(operand.name, ())):
                yield (f"{operand.name}{number}" if operand.count in ("*", "+") else operand.name), value

    def _verify_type(self, what: str, number: int, wanted: Operand | Types, found: Attribute) -> None:
        if wanted.fixed is not None:
            if found != wanted.fixed:
                fail(self, f"{what} #{number} must be {wanted.fixed}, but got '{found}'")
        elif wanted.kind in KINDS:
            kind = KINDS[wanted.kind]
            if not kind.accepts(found):
                fail(self, f"{what} #{number} must be {kind.summary}, but got '{found}'")


def _counted(wanted: Sequence[Operand | Types], noun: str) -> str:
    least = sum(each.count == "" for each in wanted)
    most = "" if any(each.count == "*" for each in wanted) else f" to {len(wanted)}" if least < len(wanted) else ""
    more = " or more" if any(each.count == "*" for each in wanted) else ""
    return f"{least}{most}{more} {noun}{'' if (least, most, more) == (1, '', '') else 's'}"
