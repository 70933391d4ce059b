"""Argument parsing, with errors of one line that say what is wrong and what may have been meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from ..diagnostics.errors import LoomError
from ..diagnostics.output import use_json


class Parser(argparse.ArgumentParser):
    """Raises LoomError for flags it does not know or cannot read."""

    _given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        if message.startswith("the following arguments are required"):
            # A flag that does not exist explains it better: what follows it was taken for its value, or left out.
            flags = [flag.partition("=")[0] for flag in self._given if flag.startswith("--") and flag != "--"]
            unknown = [flag for flag in flags if flag not in self._option_string_actions]
            if unknown:
                message = self._unrecognized(unknown)
        raise LoomError(f"{message}; see {self.prog} --help")

    def _unrecognized(self, flags: Sequence[str]) -> str:
        near = get_close_matches(flags[0], self._option_string_actions, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"unrecognized arguments: {' '.join(flags)}{hint}"

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]  (its overloads differ in their result)
        self, args: Any = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        # A command would hand what it does not know to the parser above it, which knows none of its flags.
        self._given = args or ()
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unrecognized(unknown))
        return known, unknown


def assignment(text: str) -> tuple[str, str]:
    """Return a flag's `NAME=VALUE`."""
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name, value


class OnceEach(argparse.Action):
    """A flag that may be repeated, with a NAME=VALUE for each name; one name twice is an error."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        given: list[tuple[str, str]] = getattr(namespace, self.dest)
        name, value = values
        for other, before in given:
            if other == name:
                parser.error(f"{option_string} gives '{name}' twice, {before} and {value}; leave one out")
        setattr(namespace, self.dest, [*given, values])


def positive(text: str) -> int:
    """Return a flag's number above 0."""
    if not re.fullmatch(r"[0-9]+", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def number(text: str, what: str, instead: str = "not a number") -> int | float:
    """Return the number in a text, which is `what` an error calls it; raises LoomError if there is none, which says
    what the text is `instead`."""
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise LoomError(f"{what} is '{text}', which is {instead}") from None


class TellAsJson(argparse.Action):
    """A flag that prints diagnostics as JSON, also those of wrong flags behind it."""

    HELP = "print errors, warnings and notes on stderr as JSON, one object per line"

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=False, **options)

    def __call__(self, parser: object, namespace: argparse.Namespace, *_: object) -> None:
        use_json()
        setattr(namespace, self.dest, True)
