"""The directories in which the files of a CSL program are looked for, and what they are called in messages.

Knows nothing of the language; which names are looked for where is said by `evaluator.Evaluator.find_file`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..diagnostics.errors import LoomError
from ..diagnostics.records import record

VARIABLE = "CSL_IMPORT_PATH"
"""The environment variable with more directories, separated as those of PATH are (SDK release notes, 1.0.0)."""


@record
class SearchPath:
    """Directories in the order in which they are searched: those of the command line, then the environment's."""

    given: tuple[Path, ...] = ()
    environment: tuple[Path, ...] = ()
    started: Path = Path()
    """Where the compiler was started."""

    @classmethod
    def of(cls, given: Sequence[Path | str]) -> SearchPath:
        """Return the search path of this process; raises LoomError if one of `given` is not a directory."""
        for directory in given:
            if not os.path.isdir(directory):
                raise LoomError("is not a directory and cannot be searched for modules; correct it", str(directory))
        named = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
        return cls(tuple(map(Path, given)), tuple(dict.fromkeys(named)))

    def directories(self) -> list[tuple[Path, str]]:
        """Return each directory with what it comes from."""
        return [(path, "--import-path") for path in self.given] + [(path, VARIABLE) for path in self.environment]

    def warnings(self) -> list[str]:
        """Return what is wrong with the environment, which is seldom set for one program alone."""
        return [
            f"{path}: warning: {VARIABLE} contains this, which is not a directory; correct the variable"
            for path in self.environment
            if not os.path.isdir(path)
        ]


def listed(looked: Iterable[tuple[Path, str]]) -> str:
    """Return directories and what each is, as a message lists them."""
    parts = [f"{directory} ({what})" for directory, what in looked]
    return ", ".join(parts[:-1]) + (" or " if parts[1:] else "") + parts[-1]


def is_file(path: Path) -> bool:
    """Return True if there is a file to read; False too for paths that the system takes for none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
