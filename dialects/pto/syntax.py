"""Texts of instructions: the notation of `operations/pto_instructions`, read once, parses and prints operations.

A text is a list of elements, each of which parses its part and prints it. Spaces are those of the public compiler.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeGuard, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f32,
    i1,
    i16,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import PunctuationSpelling
from xdsl.utils.str_enum import StrEnum

from ...diagnostics.records import record
from .attributes import HardwarePipeAttr, InAngleBrackets, parse_choice
from .enumerations import ENUMERATIONS

FIXED_TYPES: Mapping[str, Attribute] = {
    "index": IndexType(), "i1": i1, "i16": i16, "i32": i32, "i64": i64, "f32": f32
}  # fmt: skip
"""Types that are not printed, by name."""

SEGMENTS = "operandSegmentSizes"
"""The property that says how many operands each name has."""

_TOKEN = re.compile(
    r"\s*(?:(?P<operand>%\w+(?:[?*+](?!>))?(?::[=~]?\w+)?)|(?P<attribute>#\w+(?:=\w+(?:\([^)]*\))?)?)|(?P<region>@\w+)"
    r"|(?P<dictionary>\{[\w ]*\})|(?P<open><[?*|~^])|(?P<close>[?*|~^]>)|(?P<bar>\|)|(?P<word>'[\w.|]+')"
    r"|(?P<types>\*(?:\([^)]*\))?)"
    r"|(?P<type>[A-Za-z]\w*(?:[*?](?!>))?(?::=?\w+)?)|(?P<punctuation>->|[^\s]))"
)


# ---------------------------------------------------------------------------------------------
# While a text is parsed or printed
# ---------------------------------------------------------------------------------------------


@dataclass
class Reading:
    """What has been parsed of an operation so far, by the names of its row."""

    parser: Parser
    operands: dict[str, list[UnresolvedOperand]] = field(default_factory=dict[str, list[UnresolvedOperand]])
    types: dict[str, list[Attribute]] = field(default_factory=dict[str, list[Attribute]])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: list[Region] = field(default_factory=list[Region])


@dataclass
class Writing:
    """An operation while it is printed: its values by the names of its row, and what comes next to a space."""

    printer: Printer
    op: Operation
    operands: Mapping[str, Sequence[SSAValue]]
    results: Mapping[str, Sequence[SSAValue]]
    attributes: dict[str, Attribute]
    wants_space: bool = True
    after_punctuation: bool = False
    rounds: dict[str, int] = field(default_factory=dict[str, int])
    """How many values have been printed of each operand that is written in several places."""

    def punctuation(self, text: str) -> None:
        glued = ">)}]," if self.after_punctuation else "<>(){}[],"
        if self.wants_space and text not in glued:
            self.printer.print_string(" ")
        self.printer.print_string(text)
        self.wants_space, self.after_punctuation = text not in "<({[", True

    def space(self) -> None:
        if self.wants_space:
            self.printer.print_string(" ")
        self.wants_space, self.after_punctuation = True, False

    def values(self, name: str) -> Sequence[SSAValue]:
        return self.operands.get(name, self.results.get(name, ()))

    def operand(self, name: str, count: str) -> Sequence[SSAValue]:
        """Return the values of an operand; of one that is written in several places, the next."""
        values = self.operands.get(name, ())
        if count != "+":
            return values
        turn = self.rounds.get(name, 0)
        self.rounds[name] = turn + 1
        return values[turn : turn + 1]

    def is_left(self, name: str) -> bool:
        """Return True if not all values of an operand that is written in several places have been printed."""
        return self.rounds.get(name, 0) < len(self.operands.get(name, ()))


# ---------------------------------------------------------------------------------------------
# Elements
# ---------------------------------------------------------------------------------------------


class Element(ABC):
    """A part of a text."""

    @abstractmethod
    def parse(self, reading: Reading) -> None:
        """Parse the part; raises ParseError where it is not what is there."""

    def parse_optional(self, reading: Reading) -> bool:
        """Parse the part if it is there, and return if it is; only elements that may begin an optional part can."""
        raise NotImplementedError

    @abstractmethod
    def print(self, writing: Writing) -> None:
        """Print the part."""

    def is_given(self, writing: Writing) -> bool | None:
        """Return True if the operation has what this element prints; None if it always prints the same."""
        return None


@record
class Punctuation(Element):
    text: PunctuationSpelling

    def parse(self, reading: Reading) -> None:
        reading.parser.parse_punctuation(self.text)

    def parse_optional(self, reading: Reading) -> bool:
        return reading.parser.parse_optional_punctuation(self.text) is not None

    def print(self, writing: Writing) -> None:
        writing.punctuation(self.text)


@record
class Word(Element):
    """A keyword; behind bars, others that are read for it."""

    text: str

    def parse(self, reading: Reading) -> None:
        reading.parser.parse_keyword_in(self.text.split("|"))

    def parse_optional(self, reading: Reading) -> bool:
        return reading.parser.parse_optional_keyword_in(self.text.split("|")) is not None

    def print(self, writing: Writing) -> None:
        writing.space()
        writing.printer.print_string(self.text.split("|")[0])


@record
class Operand(Element):
    """An operand; its type is parsed elsewhere, or follows from the row."""

    name: str
    count: str
    """`?` if it may be missing, `*` for any number, `+` for the next of any number, else empty."""
    kind: str
    fixed: Attribute | None

    @property
    def twin(self) -> str:
        """The operand whose type this one has; empty if it has one of its own."""
        return self.kind[1:] if self.kind.startswith("~") else ""

    def parse(self, reading: Reading) -> None:
        found = reading.operands.setdefault(self.name, [])
        if self.count != "*":
            found.append(reading.parser.parse_unresolved_operand())
            return
        while (operand := reading.parser.parse_optional_unresolved_operand()) is not None:
            found.append(operand)
            if reading.parser.parse_optional_punctuation(",") is None:
                return

    def parse_optional(self, reading: Reading) -> bool:
        if self.count == "*":
            self.parse(reading)
            return bool(reading.operands[self.name])
        operand = reading.parser.parse_optional_unresolved_operand()
        if operand is not None:
            reading.operands.setdefault(self.name, []).append(operand)
        return operand is not None

    def print(self, writing: Writing) -> None:
        if values := writing.operand(self.name, self.count):
            writing.space()
            writing.printer.print_list(values, writing.printer.print_operand)

    def is_given(self, writing: Writing) -> bool | None:
        return writing.is_left(self.name) if self.count == "+" else bool(writing.operands.get(self.name))


@record
class Types(Element):
    """The types of one operand, or of one result."""

    name: str
    count: str
    kind: str
    fixed: Attribute | None
    is_result: bool

    def parse(self, reading: Reading) -> None:
        found = reading.types.setdefault(self.name, [])
        if self.fixed is not None:
            found.append(self.fixed)
            return
        if self.is_result and self.count == "*":
            found.extend(reading.parser.parse_comma_separated_list(Parser.Delimiter.NONE, reading.parser.parse_type))
            return
        wanted = 1 if self.is_result else len(reading.operands.get(self.name, ()))
        while len(found) < wanted:
            found.append(reading.parser.parse_type())
            if len(found) < wanted:
                reading.parser.parse_punctuation(",")

    def parse_optional(self, reading: Reading) -> bool:
        if not self.is_result:
            given = bool(reading.operands.get(self.name))
            if given:
                self.parse(reading)
            return given
        found = reading.parser.parse_optional_type()
        if found is not None:
            reading.types[self.name] = [found]
        return found is not None

    def print(self, writing: Writing) -> None:
        values = writing.values(self.name)
        if self.fixed is None and values:
            writing.space()
            writing.printer.print_list(values, lambda value: writing.printer.print_attribute(value.type))

    def is_given(self, writing: Writing) -> bool | None:
        return bool(writing.values(self.name))


@record
class AllTypes(Element):
    """The types of the operands named, in order.

    Before the first type of some operands there is a keyword; `keywords` has it, and after how many types again.
    """

    names: tuple[str, ...]
    keywords: Mapping[str, tuple[str, int]]

    def parse(self, reading: Reading) -> None:
        parser = reading.parser
        wanted = [(name, index) for name in self.names for index in range(len(reading.operands.get(name, ())))]
        for position, (name, index) in enumerate(wanted):
            if position:
                parser.parse_punctuation(",")
            word = self._keyword(name, index)
            if word is not None:
                parser.parse_keyword_in(word.split("|"))
            reading.types.setdefault(name, []).append(parser.parse_type())

    def _keyword(self, name: str, index: int) -> str | None:
        word, every = self.keywords.get(name, ("", 1))
        return word if word and index % every == 0 else None

    def print(self, writing: Writing) -> None:
        values = [(name, i, v) for name in self.names for i, v in enumerate(writing.operands.get(name, ()))]
        if not values:
            return
        writing.space()
        for position, (name, index, value) in enumerate(values):
            word = self._keyword(name, index)
            before = ", " if position else ""
            writing.printer.print_string(before if word is None else f"{before}{word.split('|')[0]} ")
            writing.printer.print_attribute(value.type)


@record
class Signature(Element):
    """`(types) -> (types)`, of an operand and of the results."""

    operand: str
    result: str

    def parse(self, reading: Reading) -> None:
        signature = reading.parser.parse_function_type()
        reading.types[self.operand] = list(signature.inputs)
        reading.types[self.result] = list(signature.outputs)

    def print(self, writing: Writing) -> None:
        writing.space()
        printer, results = writing.printer, writing.results.get(self.result, ())
        for values, before in ((writing.operands.get(self.operand, ()), ""), (results, " -> ")):
            printer.print_string(before)
            one = before and len(values) == 1
            printer.print_string("" if one else "(")
            printer.print_list(values, lambda value: printer.print_attribute(value.type))
            printer.print_string("" if one else ")")


@record
class Dictionary(Element):
    """`{name = value, ...}` of the attributes that no other element prints; of those named alone, if any are."""

    names: tuple[str, ...]
    elsewhere: frozenset[str]

    def parse(self, reading: Reading) -> None:
        reading.attributes.update(reading.parser.parse_optional_attr_dict())

    def parse_optional(self, reading: Reading) -> bool:
        self.parse(reading)
        return bool(reading.attributes)

    def is_given(self, writing: Writing) -> bool | None:
        return any(name in writing.attributes for name in self.names)

    def print(self, writing: Writing) -> None:
        shown = {
            name: value
            for name, value in writing.attributes.items()
            if (name in self.names if self.names else name not in self.elsewhere)
        }
        if shown:
            writing.printer.print_op_attributes(shown)
            writing.wants_space, writing.after_punctuation = True, False


@record
class BlockOf(Element):
    """A region."""

    name: str

    def parse(self, reading: Reading) -> None:
        region = reading.parser.parse_region()
        if region.first_block is None:
            region.add_block(Block())
        reading.regions.append(region)

    def print(self, writing: Writing) -> None:
        writing.space()
        writing.printer.print_region(writing.op.regions[0], print_empty_block=False)


@record
class Part(Element):
    """Elements that are there together, or not at all; any number of times, if `repeats`."""

    elements: tuple[Element, ...]
    repeats: bool

    def parse(self, reading: Reading) -> None:
        while self.parse_optional(reading) and self.repeats:
            pass

    def parse_optional(self, reading: Reading) -> bool:
        types = self._types()
        if types is not None:
            # The operands say if their types follow.
            if not reading.operands.get(types.name):
                return False
            self.elements[0].parse(reading)
        elif not self.elements[0].parse_optional(reading):
            return False
        for element in self.elements[1:]:
            element.parse(reading)
        return True

    def _types(self) -> Types | None:
        if any(isinstance(element, Operand | AttributeElement) for element in self.elements):
            return None
        return next((e for e in self.elements if isinstance(e, Types) and not e.is_result), None)

    def print(self, writing: Writing) -> None:
        while self.is_given(writing):
            for element in self.elements:
                element.print(writing)
            if not self.repeats:
                return

    def is_given(self, writing: Writing) -> bool:
        """Return True if the first thing here that may be missing is not."""
        inner = [element for element in self.elements if not isinstance(element, Part)] or self.elements
        return next((given for e in inner if (given := e.is_given(writing)) is not None), False)


@record
class Clauses(Element):
    """Parts that follow commas, each once at most, in any order unless they are ordered; printed in theirs."""

    parts: tuple[Part, ...]
    are_ordered: bool = False

    def parse(self, reading: Reading) -> None:
        left = list(self.parts)
        last = 0
        while reading.parser.parse_optional_punctuation(",") is not None:
            position = reading.parser.pos
            found = next((part for part in left if part.parse_optional(reading)), None)
            if found is None:
                reading.parser.raise_error("unknown or duplicate clause; write each once")
            if self.are_ordered and self.parts.index(found) < last:
                reading.parser.raise_error("clauses must follow canonical order", position, reading.parser.pos)
            last = self.parts.index(found)
            left.remove(found)

    def print(self, writing: Writing) -> None:
        for part in self.parts:
            if part.is_given(writing):
                writing.punctuation(",")
                part.print(writing)


@record
class Alternatives(Element):
    """Parts of which there is one."""

    parts: tuple[Part, ...]

    def parse(self, reading: Reading) -> None:
        if not any(part.parse_optional(reading) for part in self.parts):
            reading.parser.raise_error("none of what may be here is")

    def print(self, writing: Writing) -> None:
        for part in self.parts:
            if part.is_given(writing):
                part.print(writing)
                return


# ---------------------------------------------------------------------------------------------
# Attributes in places of their own
# ---------------------------------------------------------------------------------------------


@record
class AttributeElement(Element):
    """An attribute, written as MLIR writes attributes."""

    name: str

    def parse(self, reading: Reading) -> None:
        if not self.parse_optional(reading):
            reading.parser.raise_error(f"expected {self.wanted()}")

    def parse_optional(self, reading: Reading) -> bool:
        value = self.read(reading.parser)
        if value is not None:
            reading.attributes[self.name] = value
        return value is not None

    def print(self, writing: Writing) -> None:
        value = writing.attributes.get(self.name)
        if value is not None:
            self.write(writing, value)

    def is_given(self, writing: Writing) -> bool | None:
        return self.name in writing.attributes

    def wanted(self) -> str:
        """Return what is expected here, for a message."""
        return f"the attribute '{self.name}'"

    def read(self, parser: Parser) -> Attribute | None:
        """Parse the value if it is there."""
        return parser.parse_optional_attribute()

    def write(self, writing: Writing, value: Attribute) -> None:
        """Print the value."""
        writing.space()
        writing.printer.print_attribute(value)


@record
class Choice(AttributeElement):
    """`#x=word(a b)`: one of some words, kept as a string."""

    words: tuple[str, ...]

    def wanted(self) -> str:
        return f"one of {', '.join(self.words)}"

    def read(self, parser: Parser) -> Attribute | None:
        word = parser.parse_optional_keyword_in(self.words)
        return None if word is None else StringAttr(word)

    def write(self, writing: Writing, value: Attribute) -> None:
        writing.space()
        writing.printer.print_string(_name_of(value))


@record
class Flag(AttributeElement):
    """`#x=flag(a)`: a word that is there or not."""

    word: str

    def read(self, parser: Parser) -> Attribute | None:
        return None if parser.parse_optional_keyword(self.word) is None else UnitAttr()

    def write(self, writing: Writing, value: Attribute) -> None:
        writing.space()
        writing.printer.print_string(self.word)


@record
class Number(AttributeElement):
    """`#x=integer`: an integer of 32 bits."""

    def wanted(self) -> str:
        return "an integer"

    def read(self, parser: Parser) -> Attribute | None:
        number = parser.parse_optional_integer(allow_boolean=False)
        return None if number is None else IntegerAttr(number, i32)

    def write(self, writing: Writing, value: Attribute) -> None:
        writing.space()
        if isinstance(value, IntegerAttr):
            writing.printer.print_string(str(cast("IntegerAttr[IntegerType]", value).value.data))
        else:
            writing.printer.print_attribute(value)


@record
class Numbers(AttributeElement):
    """`#x=integers`: a list of integers of 64 bits."""

    def read(self, parser: Parser) -> Attribute | None:
        found = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        return None if found is None else DenseArrayBase.from_list(i64, found)

    def write(self, writing: Writing, value: Attribute) -> None:
        numbers = ", ".join(map(str, cast("DenseArrayBase[IntegerType]", value).get_values()))
        for mark in "[", numbers, "]":
            if mark is numbers:
                writing.printer.print_string(numbers)
            else:
                writing.punctuation(mark)


@record
class Text(AttributeElement):
    """`#x=string`: a string."""

    def read(self, parser: Parser) -> Attribute | None:
        text = parser.parse_optional_str_literal()
        return None if text is None else StringAttr(text)

    def is_given(self, writing: Writing) -> bool | None:
        return isinstance(writing.attributes.get(self.name), StringAttr)


@record
class NoText(AttributeElement):
    """`#x=other`: an attribute that is not a string."""

    def is_given(self, writing: Writing) -> bool | None:
        return self.name in writing.attributes and not isinstance(writing.attributes[self.name], StringAttr)


_NAMED: Mapping[str, type[Attribute]] = {"pipe": HardwarePipeAttr, **ENUMERATIONS}


@record
class Named(AttributeElement):
    """`#x=named(event)`: an attribute of that name, which may also be written `"NAME"` or `<NAME>`.

    It is printed as `<NAME>`; with `quoted` for `named`, as `"NAME"`.
    """

    kind: str
    is_quoted: bool

    def read(self, parser: Parser) -> Attribute | None:
        kind = cast("type[InAngleBrackets]", _NAMED[self.kind])
        if (found := parser.parse_optional_attribute()) is None:
            if parser.parse_optional_punctuation("<") is None:
                return None
            choice = parse_choice(parser, kind.enum_type)
            parser.parse_punctuation(">")
            return cast("type[EnumAttribute[StrEnum]]", kind)(choice)
        if isinstance(found, StringAttr):
            choices = {choice.value: choice for choice in kind.enum_type}
            if found.data not in choices:
                parser.raise_error(f"expected one of {', '.join(choices)}, not '{found.data}'")
            return cast("type[EnumAttribute[StrEnum]]", kind)(choices[found.data])
        return found

    def write(self, writing: Writing, value: Attribute) -> None:
        writing.space()
        if not isinstance(value, EnumAttribute):
            writing.printer.print_attribute(value)
        else:
            name = _name_of(cast("Attribute", value))
            writing.printer.print_string(f'"{name}"' if self.is_quoted else f"<{name}>")


def _name_of(value: Attribute) -> str:
    return value.data if isinstance(value, StringAttr) else cast("EnumAttribute[StrEnum]", value).data.value


_ATTRIBUTE = re.compile(r"#(?P<name>\w+)(?:=(?P<kind>\w+)(?:\((?P<words>[^)]*)\))?)?")


def _attribute(text: str) -> AttributeElement:
    match = _ATTRIBUTE.fullmatch(text)
    assert match is not None, text
    name, words = match["name"], tuple((match["words"] or "").split())
    match match["kind"]:
        case "word":
            return Choice(name, words)
        case "flag":
            return Flag(name, words[0])
        case "integer":
            return Number(name)
        case "integers":
            return Numbers(name)
        case "string":
            return Text(name)
        case "other":
            return NoText(name)
        case "named" | "quoted" as how:
            return Named(name, words[0], how == "quoted")
        case _:
            return AttributeElement(name)


# ---------------------------------------------------------------------------------------------
# A whole text
# ---------------------------------------------------------------------------------------------


@record
class Syntax:
    """The text of an instruction, and its operands and results by name.

    The operands are in the order of the operation, which is that of the text unless the row names another.
    """

    elements: tuple[Element, ...]
    operands: tuple[Operand, ...]
    results: tuple[Types, ...]

    @property
    def has_segments(self) -> bool:
        """True if the number of operands does not say how many each name has."""
        return sum(operand.count != "" for operand in self.operands) > 1

    def groups(self, op: Operation) -> dict[str, Sequence[SSAValue]] | None:
        """Return the operands of `op` by name; None if their number does not fit."""
        sizes = self._segments(op)
        if sizes is None or len(sizes) != len(self.operands) or sum(sizes) != len(op.operands):
            return None
        groups: dict[str, Sequence[SSAValue]] = {}
        start = 0
        for operand, size in zip(self.operands, sizes, strict=True):
            if size < 0 or (size > 1 and operand.count not in "*+") or (size == 0 and operand.count == ""):
                return None
            groups[operand.name] = op.operands[start : start + size]
            start += size
        return groups

    def _segments(self, op: Operation) -> Sequence[int] | None:
        stated = op.properties.get(SEGMENTS) or op.attributes.get(SEGMENTS)
        if isinstance(stated, DenseArrayBase):
            return [int(size) for size in stated.get_values()]
        optional = sum(operand.count != "" for operand in self.operands)
        rest = len(op.operands) - (len(self.operands) - optional)
        if optional > 1 or (optional == 0 and rest != 0) or rest < 0:
            return None
        return [1 if operand.count == "" else rest for operand in self.operands]

    def result_groups(self, op: Operation) -> dict[str, Sequence[SSAValue]] | None:
        """Return the results of `op` by name; None if their number does not fit."""
        optional = [result for result in self.results if result.count != ""]
        rest = len(op.results) - (len(self.results) - len(optional))
        if rest < 0 or (not optional and rest) or (optional and optional[0].count == "?" and rest > 1):
            return None
        groups: dict[str, Sequence[SSAValue]] = {}
        start = 0
        for result in self.results:
            size = 1 if result.count == "" else rest
            groups[result.name] = op.results[start : start + size]
            start += size
        return groups


@cache
def syntax_of(text: str, order: tuple[str, ...] = ()) -> Syntax:
    """Parse a text in the notation of `operations/pto_instructions/instruction.py`."""
    tokens = list(_tokens(text))
    names = [_name_and_kind(token[1:]) for kind, token in tokens if kind == "operand"]
    operand_names = {name for name, *_ in names}
    types = [_name_and_kind(token) for kind, token in tokens if kind == "type"]
    printed = {name for name, *_ in types} | _signed(tokens)
    has_all = any(kind == "types" for kind, _ in tokens)
    elements, rest = _elements(tokens, operand_names)
    assert not rest, text
    operands: dict[str, Operand] = {}
    results: dict[str, Types] = {}
    for element in _flat(elements):
        if isinstance(element, Operand):
            operands.setdefault(element.name, element)
        elif isinstance(element, Types) and element.is_result:
            results.setdefault(element.name, element)
        elif isinstance(element, Signature):
            results.setdefault(element.result, Types(element.result, "*", "", None, True))
    for name, operand in operands.items():
        known = operand.fixed is not None or operand.twin or name in printed
        assert known or has_all, f"{text}: the type of {name}"
    untyped = tuple(
        name for name, operand in operands.items() if operand.fixed is None and not operand.twin and name not in printed
    )
    elsewhere = frozenset(element.name for element in _flat(elements) if isinstance(element, AttributeElement))
    elements = _complete(elements, untyped, elsewhere | {SEGMENTS})
    assert not order or set(order) == set(operands), text
    return Syntax(elements, tuple(operands[name] for name in order or operands), tuple(results.values()))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        assert match is not None and match.lastgroup is not None, text[position:]
        position = match.end()
        yield match.lastgroup, match[match.lastgroup]


def _signed(tokens: Sequence[tuple[str, str]]) -> set[str]:
    return {token.split(":")[1] for kind, token in tokens if kind == "type" and token.startswith("signature:")}


def _name_and_kind(token: str) -> tuple[str, str, str, Attribute | None]:
    """Return name, count, kind and fixed type of `x?:=index` or `x:V`."""
    name, _, kind = token.partition(":")
    count = name[-1] if name[-1] in "?*+" else ""
    name = name.rstrip("?*+")
    if kind.startswith("="):
        return name, count, "", FIXED_TYPES[kind[1:]]
    return name, count, kind, None


def _elements(
    tokens: Sequence[tuple[str, str]], operands: set[str]
) -> tuple[tuple[Element, ...], Sequence[tuple[str, str]]]:
    """Return the elements up to the end of the part that they are in, and the tokens behind it."""
    found: list[Element] = []
    rest = tokens
    while rest and rest[0][0] not in ("close", "bar"):
        (kind, token), rest = rest[0], rest[1:]
        match kind:
            case "operand":
                found.append(Operand(*_name_and_kind(token[1:])))
            case "attribute":
                found.append(_attribute(token))
            case "region":
                found.append(BlockOf(token[1:]))
            case "dictionary":
                found.append(Dictionary(tuple(token[1:-1].split()), frozenset()))
            case "open":
                parts: list[Part] = []
                while not parts or rest[0][0] == "bar":
                    inner, rest = _elements(rest[1:] if parts else rest, operands)
                    inner = tuple(replace(e, count="?") if _may_be_missing(e) else e for e in inner)
                    parts.append(Part(inner, token == "<*"))
                assert rest[0][0] == "close"
                rest = rest[1:]
                match token:
                    case "<|" | "<^":
                        found.append(Clauses(tuple(parts), token == "<^"))
                    case "<~":
                        found.append(Alternatives(tuple(parts)))
                    case _:
                        found.append(parts[0])
            case "word":
                found.append(Word(token[1:-1]))
            case "types":
                found.append(AllTypes((), _keywords(token[2:-1])))
            case "type" if token.startswith("signature:"):
                found.append(Signature(token.split(":")[1], "results"))
            case "type":
                name, count, given, fixed = _name_and_kind(token)
                found.append(Types(name, count, given, fixed, name not in operands))
            case _:
                found.append(Punctuation(cast("PunctuationSpelling", token)))
    return tuple(found), rest


def _may_be_missing(element: Element) -> TypeGuard[Types]:
    """Return True for the type of a result in a part that may be missing."""
    return isinstance(element, Types) and element.is_result and element.count == ""


def _keywords(text: str) -> dict[str, tuple[str, int]]:
    """Return the keywords before types of `x=word y/3=word`."""
    found: dict[str, tuple[str, int]] = {}
    for each in text.split():
        name, _, word = each.partition("=")
        name, _, every = name.partition("/")
        found[name] = word, int(every or 1)
    return found


def _flat(elements: Sequence[Element]) -> Iterator[Element]:
    for element in elements:
        yield element
        if isinstance(element, Part):
            yield from _flat(element.elements)
        elif isinstance(element, Clauses | Alternatives):
            yield from _flat(element.parts)


def _complete(elements: Sequence[Element], untyped: tuple[str, ...], elsewhere: frozenset[str]) -> tuple[Element, ...]:
    """Return the elements, knowing whose types `*` prints, and which attributes `{}` does not."""
    named = elsewhere | {name for e in _flat(elements) if isinstance(e, Dictionary) for name in e.names}

    def complete(element: Element) -> Element:
        match element:
            case AllTypes():
                return AllTypes(untyped, element.keywords)
            case Dictionary():
                return Dictionary(element.names, named)
            case Part():
                return Part(tuple(complete(each) for each in element.elements), element.repeats)
            case Clauses() | Alternatives():
                parts = tuple(Part(tuple(complete(e) for e in p.elements), False) for p in element.parts)
                return replace(element, parts=parts)
            case _:
                return element

    return tuple(complete(element) for element in elements)
