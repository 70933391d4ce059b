"""Reference pages of the dialects, written by `python -m loomir.dialects.reference [DIRECTORY]`.

A page is made of what the dialect itself says: the docstrings of its module, types, attributes and operations, their
operands and properties, and the table of DSD operations where a dialect has those. The directory is `docs/reference`
of the checkout unless another is named.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ArrayOfConstraint, SymbolNameConstraint
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.irdl import (
    AllOf,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    OptionalDef,
    OptOperandDef,
    OptResultDef,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VariadicDef,
)

from ..operations import pto_instructions
from ..operations.pto_instructions import instruction
from . import get_all_dialects
from .dsd import DsdOperation
from .pto.instructions import InstructionOp
from .pto.tiles import TableOperation

DIRECTORY = Path(__file__).parent.parent / "docs" / "reference"
"""Where the pages are in a checkout."""


def page(dialect: Dialect, module_documentation: str) -> str:
    """Return the reference page of `dialect`, in Markdown."""
    operations = list(dialect.operations)
    table = [op for op in operations if issubclass(op, DsdOperation)]
    attributes = list(dialect.attributes)
    lines = [
        f"# The `{dialect.name}` dialect",
        "",
        "<!-- Written by `python -m loomir.dialects.reference` from the docstrings; do not edit. -->",
        "",
        _without_first_line(module_documentation),
        "",
        "Numbers such as DSD-061 are [rules](../rules.md).",
    ]
    lines += _attributes("Types", [a for a in attributes if issubclass(a, TypeAttribute)], "!")
    lines += _attributes("Attributes", [a for a in attributes if not issubclass(a, TypeAttribute)], "#")
    functions = [op for op in operations if issubclass(op, TableOperation)]
    instructions = [op for op in operations if issubclass(op, InstructionOp)]
    rows: set[type[Operation]] = {*table, *functions, *instructions}
    described = [op for op in operations if op not in rows]
    lines += ["", "## Operations", "", ", ".join(f"[{op.name}](#{_anchor(op.name)})" for op in described)]
    for op in described:
        lines += _operation(op)
    if table:
        lines += _table(table)
    if functions:
        lines += _tile_functions(functions)
    if instructions:
        lines += _instructions()
    return "\n".join(lines) + "\n"


def _without_first_line(documentation: str) -> str:
    """Return the documentation of a module without its first words, "The `x` dialect:", which the heading has said."""
    name, _, rest = documentation.partition(": ")
    return rest[:1].upper() + rest[1:] if name.startswith("The `") else documentation


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return heading.replace(".", "")


def _documentation(item: type[object]) -> str:
    return inspect.cleandoc(item.__doc__ or "")


def _attributes(title: str, attributes: Sequence[type[Attribute]], sign: str) -> Iterator[str]:
    if not attributes:
        return
    yield from ("", f"## {title}")
    for attribute in attributes:
        yield from ("", f"### `{sign}{attribute.name}`", "", _documentation(attribute))


def _operation(op: type[Operation]) -> Iterator[str]:
    yield from ("", f"### `{op.name}`", "", _documentation(op))
    fields = list(_fields(op)) if issubclass(op, IRDLOperation) else []
    if fields:
        yield from ("", "| field | kind | type |", "|---|---|---|", *fields)


def _fields(op: type[IRDLOperation]) -> Iterator[str]:
    """Yield operands, results and properties, as rows of a table."""
    definition = op.get_irdl_definition()
    for name, operand in definition.operands:
        yield _row(name, _count("operand", operand, OptOperandDef), operand.constr)
    for name, result in definition.results:
        yield _row(name, _count("result", result, OptResultDef), result.constr)
    for name, prop in definition.properties.items():
        if not name.endswith("SegmentSizes"):
            kind = "optional property" if isinstance(prop, OptionalDef) else "property"
            yield _row(name, kind, prop.constr)


def _count(noun: str, definition: object, optional: type[object]) -> str:
    if isinstance(definition, optional):
        return f"optional {noun}"
    return f"{noun}s" if isinstance(definition, VariadicDef) else noun


def _row(name: str, kind: str, constraint: AttrConstraint | RangeConstraint) -> str:
    return f"| `{name}` | {kind} | {_described(constraint)} |"


def _described(constraint: AttrConstraint | RangeConstraint) -> str:
    """Return what a constraint accepts, as far as that has a name."""
    match constraint:
        case RangeOf():
            return _described(constraint.constr)
        case RangeLengthConstraint():
            return _described(constraint.constraint)
        case ArrayOfConstraint():
            return f"list of {_described(constraint.elem_range_constraint)}"
        case EqAttrConstraint():
            return f"`{constraint.attr}`"
        case AnyOf():
            return ", ".join(_described(option) for option in constraint.attr_constrs)
        case SymbolNameConstraint():
            return "symbol"
        case AllOf():
            return _described(constraint.attr_constrs[0])
        case BaseAttr():
            return _named(constraint.attr)
        case ParamAttrConstraint():
            return _named(cast("type[Attribute]", constraint.base_attr))
        case _:
            return "any"


_PLAIN_NAMES = {"symbol_ref": "symbol reference", "unit": "flag", "fun": "function type"}
"""Attributes whose name in xDSL says little to a reader."""


def _named(attribute: type[Attribute]) -> str:
    # An abstract class stands for several types and has no name of its own.
    name = getattr(attribute, "name", attribute.__name__)
    return _PLAIN_NAMES.get(name, f"`{name}`")


def _table(operations: Sequence[type[DsdOperation]]) -> Iterator[str]:
    """Yield the DSD operations of a dialect, one row each: they differ only in what the table of operations says."""
    level = operations[0].__mro__[1]
    yield from ("", "## DSD operations", "", _documentation(level), "", _documentation(DsdOperation), "")
    yield (
        "Operands are named by their element type; a source in *italics* may also be a scalar, one in **bold** must "
        "be. *Scalar destination* tells whether the buffer of a scalar may be the destination (DSD-072, DSD-073). "
        "*Elements a cycle* is the most the hardware handles on WSE-2 and WSE-3."
    )
    yield from ("", "| operation | what it does | destination | sources | scalar destination | elements a cycle |")
    yield "|---|---|---|---|---|---|"
    for op in operations:
        row = op.table_row()
        sources = ", ".join(
            f"**{element}**" if n in row.scalar_only else f"*{element}*" if n in row.scalar_sources else element
            for n, element in enumerate(row.sources)
        )
        pointer = "yes" if row.scalar_destination else "no"
        rate = f"{row.simd[0]}, {row.simd[1]}"
        yield f"| `{op.name}` | {row.summary} | {row.destination} | {sources} | {pointer} | {rate} |"


def _tile_functions(operations: Sequence[type[TableOperation]]) -> Iterator[str]:
    """Yield the operations that are a function of whole tiles, one row each."""
    yield from ("", "## Tile functions", "", _documentation(TableOperation), "")
    yield "They are written `pto.tadd ins(%a, %b : <types>) outs(%c : <type>) {...}`."
    yield from ("", "| operation | what it computes | operands | mode |", "|---|---|---|---|")
    for op in operations:
        row = op.table_row()
        operands = [kind.replace("_", " ") for kind in row.operands]
        if row.scratch:
            operands.insert(len(operands) if row.scratch_at is None else row.scratch_at, "*scratch*")
        mode = "" if row.mode is None else f"`{row.mode[0]}`"
        yield f"| `{op.name}` | {row.summary} | {', '.join(operands)} | {mode} |"


def _instructions() -> Iterator[str]:
    """Yield the instructions that are rows of tables, by table."""
    documentation = inspect.cleandoc(instruction.__doc__ or "").partition("\n")[2].strip()
    yield from ("", "## Instructions", "")
    yield "Each takes a row: its name, what it does, and its text. " + documentation
    for module in pto_instructions.MODULES:
        yield from ("", f"### {_title(module.__name__)}", "", inspect.cleandoc(module.__doc__ or ""), "")
        yield from ("| instruction | what it does | text |", "|---|---|---|")
        for row in module.TABLE:
            text = "generic form: " if row.is_generic else ""
            shown = row.text.replace("|", "\\|")
            yield f"| `pto.{row.name}` | {row.summary} | {text}`` {shown} `` |"


def _title(module: str) -> str:
    return module.rpartition(".")[2].replace("_", " ").capitalize()


def pages() -> dict[str, str]:
    """Return the page of every dialect, by the dialect's name."""
    return {name: page(dialect, _module_documentation(dialect)) for name, dialect in _dialects()}


def _dialects() -> Iterator[tuple[str, Dialect]]:
    for name, load in get_all_dialects().items():
        yield name, load()


def _module_documentation(dialect: Dialect) -> str:
    module = inspect.getmodule(next(iter(dialect.operations)))
    if module is not None and module.__package__ != __package__:
        # A dialect that is a package of modules describes itself there.
        module = sys.modules[module.__package__ or ""]
    return inspect.cleandoc((module.__doc__ if module else None) or "")


def main(arguments: Sequence[str]) -> None:
    """Write all pages into the directory named, or into the checkout's."""
    if not arguments and not (DIRECTORY.parent.parent / "pyproject.toml").exists():
        sys.exit("error: this is not a checkout, so name the directory for the pages")
    directory = Path(arguments[0]) if arguments else DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (directory / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
