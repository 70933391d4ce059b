"""Identifiers of a CSL file: those of the IR if they are valid in CSL, else similar ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...csl.lexer import KEYWORDS, words

BUILT_IN = words(
    "bool void type color direction comptime_int comptime_float comptime_string comptime_struct imported_module"
    " i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 bf16 cb16"
    " mem1d_dsd mem4d_dsd circbuf_dsd fabin_dsd fabout_dsd dsr_dest dsr_src0 dsr_src1"
    " local_task_id data_task_id control_task_id input_queue output_queue ut_id"
    " true false _ align linkname linksection packed volatile EAST WEST NORTH SOUTH RAMP"
)
"""What the language names; a name of a program must differ."""


MAX_FILE_NAME = 200
"""Bytes of a file's name; most file systems take 255."""

DEVICES = words("aux con nul prn") | {f"{kind}{number}" for kind in ("com", "lpt") for number in range(1, 10)}
"""Names that some systems keep for devices, whatever follows the first dot."""


def file_name_problem(name: str) -> str | None:
    """Return what keeps a name that a program chooses from being that of a CSL file of its directory; None if nothing.

    Such a file is never in another directory, never hidden, and always ends in `.csl`.
    """
    stem = name.removesuffix(".csl")
    if not stem:
        return "is empty"
    if not re.fullmatch(r"\w[\w+-]*", stem, re.ASCII):
        return "has characters other than letters, digits, '_', '-' and '+' before '.csl'"
    if len(stem) > MAX_FILE_NAME:
        return f"is longer than {MAX_FILE_NAME} characters"
    if stem.lower() in DEVICES:
        return "is that of a device on some systems"
    return None


class Names:
    """The names in use in a file or in a function of it."""

    def __init__(self, outer: Names | None = None) -> None:
        self._taken: set[str] = set()
        self._outer = outer

    def reserve(self, names: Iterable[str]) -> None:
        """Mark these names as in use."""
        self._taken.update(names)

    def new(self, wanted: str | None, otherwise: str = "v") -> str:
        """Return a new identifier like `wanted`, with a number if it is in use."""
        base = re.sub(r"\W", "_", wanted or "", flags=re.ASCII)
        if not base or base == "_":
            base = otherwise
        if base[0].isdigit():
            base = f"{otherwise}{base}" if otherwise == "v" else f"{otherwise}_{base}"
        name, number = base, 0
        while self._is_taken(name):
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def _is_taken(self, name: str) -> bool:
        if name in self._taken or name in KEYWORDS or name in BUILT_IN:
            return True
        return self._outer is not None and self._outer._is_taken(name)
