"""Types of the attributes that instructions declare, in upstream's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute
from xdsl.utils.str_enum import StrEnum

from ...diagnostics.records import record
from .enumerations import ENUMERATIONS
from .kinds import Kind


@record
class DeclaredAttribute:
    """What a row declares of an attribute."""

    kinds: tuple[Kind, ...]
    is_optional: bool


def _integer(type: Attribute) -> Callable[[Attribute], bool]:
    return lambda found: isinstance(found, IntegerAttr) and cast("IntegerAttr[IntegerType]", found).type == type


def _is_integers(found: Attribute) -> bool:
    return isinstance(found, DenseArrayBase) and cast("DenseArrayBase[IntegerType]", found).elt_type == i64


def _of(*classes: type[Attribute]) -> Callable[[Attribute], bool]:
    return lambda found: isinstance(found, classes)


_KINDS: Mapping[str, Kind] = {
    "string": Kind(_of(StringAttr), "string attribute"),
    "i32": Kind(_integer(i32), "32-bit signless integer attribute"),
    "i64": Kind(_integer(i64), "64-bit signless integer attribute"),
    "bool": Kind(_integer(i1), "bool attribute"),
    "unit": Kind(_of(UnitAttr), "unit attribute"),
    "integers": Kind(_is_integers, "i64 dense array attribute"),
    "symbol": Kind(_of(SymbolRefAttr), "flat symbol reference attribute"),
}


def _words(name: str) -> Kind:
    """Return the kind of an attribute of some words; where the text has a bare word, that is kept as a string."""

    def accepts(found: Attribute) -> bool:
        if isinstance(found, EnumAttribute):
            return cast("EnumAttribute[StrEnum]", found).name == f"pto.{name}"
        known = ENUMERATIONS.get(name)
        return isinstance(found, StringAttr) and (known is None or found.data in set(known.enum_type))

    return Kind(accepts, f"#pto.{name} attribute")


@cache
def declared_attributes(declared: str) -> Mapping[str, DeclaredAttribute]:
    """Return the attributes that a row declares, by name."""
    found: dict[str, DeclaredAttribute] = {}
    for each in declared.split():
        name, _, kinds = each.partition(":")
        found[name.rstrip("?")] = DeclaredAttribute(
            tuple(_KINDS.get(kind) or _words(kind) for kind in kinds.split("|")), name.endswith("?")
        )
    return found
