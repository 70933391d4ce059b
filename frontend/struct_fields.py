"""The fields of a struct that configures a builtin, taken one by one."""

from __future__ import annotations

import difflib

from xdsl.utils.str_enum import StrEnum

from ..csl import syntax
from . import types
from .evaluator import Evaluator, suggestion
from .values import Value


class Fields:
    """The members of an options struct, each to be taken once."""

    def __init__(self, ev: Evaluator, value: Value, node: syntax.Node, what: str) -> None:
        if not isinstance(value.type, types.Struct) or (value.type.names is None and value.type.types):
            ev.fail(node, f"{what} must be a struct, .{{ .name = value }}, not '{value.type}'")
        self.ev, self.node, self.what = ev, node, what
        self.members = dict(zip(value.type.names or (), value.data, strict=True))
        self.known: list[str] = []

    def take(self, name: str) -> Value | None:
        self.known.append(name)
        value = self.members.pop(name, None)
        return None if value is None or value.type is types.VOID else value

    def has(self, name: str) -> bool:
        """Return True if a field is there that has not been taken, and has a value."""
        value = self.members.get(name)
        return value is not None and value.type is not types.VOID

    def take_apart(self, name: str) -> None:
        """Put the members of a field in its place."""
        value = self.take(name)
        if value is None:
            return
        if not isinstance(value.type, types.Struct) or not value.type.names:
            self.ev.fail(self.node, f"'.{name}' is written |i|{{n}} -> array[i], or as a struct")
        for inner, member in zip(value.type.names, value.data, strict=True):
            if inner in self.members:
                self.ev.fail(self.node, f"'.{inner}' is given twice, by '.{name}' too; leave one out")
            self.members[inner] = member

    def need(self, name: str) -> Value:
        value = self.take(name)
        if value is None:
            close = difflib.get_close_matches(name, self.members, 1)
            advice = f"; '.{close[0]}' is none of its fields" if close else ""
            self.ev.fail(self.node, f"{self.what} needs a field '.{name}'{advice}")
        return value

    def flag(self, name: str) -> bool:
        value = self.take(name)
        if value is None:
            return False
        if value.type is not types.BOOL:
            self.ev.fail(self.node, f"field '.{name}' is 'true' or 'false', not of type '{value.type}'")
        return bool(self.ev.data(value, self.node, f"field '.{name}'"))

    def number(self, name: str) -> int | None:
        value = self.take(name)
        if value is None:
            return None
        if not types.is_integer(value.type) and not isinstance(value.type, types.Identifier | types.Enum):
            self.ev.fail(self.node, f"field '.{name}' is an integer, not of type '{value.type}'")
        return int(self.ev.data(value, self.node, f"field '.{name}'"))

    def identifier(self, name: str, type: types.Identifier) -> int | None:
        value = self.take(name)
        if value is None:
            return None
        if value.type != type:
            self.ev.fail(self.node, f"field '.{name}' is of type '{type}', not '{value.type}'")
        return int(self.ev.data(value, self.node, f"field '.{name}'"))

    def choice(self, name: str) -> str | None:
        """Return the one member that is true of a struct of truth values, such as `.{ .high = true }`."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value.type, types.Struct) or not value.type.names:
            self.ev.fail(self.node, f"field '.{name}' is a struct such as .{{ .high = true }}")
        chosen = [key for key, member in zip(value.type.names, value.data, strict=True) if member.data]
        if len(chosen) != 1:
            self.ev.fail(self.node, f"exactly one choice of '.{name}' must be true, not {len(chosen)}")
        return chosen[0]

    def end(self) -> None:
        if self.members:
            name = next(iter(self.members))
            known = [f".{known}" for known in dict.fromkeys(self.known)]
            close = suggestion(f".{name}", known) or f"; its fields are: {', '.join(known)}"
            self.ev.fail(self.node, f"{self.what} has no field '.{name}'{close}")


def one_of(ev: Evaluator, kind: type[StrEnum], given: str, name: str, node: syntax.Node) -> str:
    known = [member.value for member in kind]
    if given not in known:
        ev.fail(node, f"'{given}' is not a '.{name}'; it is one of {', '.join(known)}")
    return given
