"""An argument parser whose errors are ours: one line that says what is wrong and what may have been meant."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from typing import Any, NoReturn

from ..diagnostics import LoomError


class Parser(argparse.ArgumentParser):
    """Raises LoomError for flags it does not know or cannot read."""

    def error(self, message: str) -> NoReturn:
        raise LoomError(f"{message}; see {self.prog} --help")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        # A command would hand what it does not know to the parser above it, which knows none of its flags.
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = get_close_matches(unknown[0], self._option_string_actions, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return known, unknown
