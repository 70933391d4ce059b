"""The public texts of PTOAS, where a checkout of it is at hand: set LOOMIR_PTOAS to its directory.

Each program is read, verified, printed and read again; those that use pipes are checked too. One that is there for its
error gives one, or, where that is an error of a later pass, none.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from loomir.checks.pto.registry import find_hazards
from loomir.diagnostics.errors import LoomError

from .public_texts import PublicText, outcome, public_texts, read

DIRECTORY = os.environ.get("LOOMIR_PTOAS")

_PIPES = re.compile(
    r"pto\.(ai[cv]_initialize_pipe|initialize_l2g?2?l_pipe|tpush|tpop|tfree|talloc|(import_)?reserved?_buffer|set_quant_(scalar|vector)\b)"
)

OUTSIDE = (
    r"memref\.memory_space_cast does not have a custom format",  # dialects that are xDSL's
    r"Expected 'v_row'|type expected",  # texts of an older form, which PTOAS refuses too
    r"Operation has 0 results, but was given 1",  # texts whose name says that they are refused
    r"of a tensor, not memref<",
    r"left, right, and acc address spaces; they are mat",
)
"""What is said of the texts that tests of PTOAS compile, or do not use, and that are not read here."""


def texts() -> list[PublicText]:
    """The programs of the checkout."""
    return [] if DIRECTORY is None else list(public_texts(Path(DIRECTORY)))


@pytest.mark.skipif(DIRECTORY is None, reason="LOOMIR_PTOAS names no checkout of PTOAS")
@pytest.mark.parametrize("public", texts(), ids=lambda public: f"{public.path.stem}-{public.piece}")
def test_public_text(public: PublicText) -> None:
    found = outcome(public)
    if public.is_wrong:
        assert found == "good" or found.startswith("accepted")
    elif found != "good":
        assert any(re.search(known, found) for known in OUTSIDE), found
    if _PIPES.search(public.text):
        try:
            module = read(public.text, public.chip)
        except LoomError:
            return
        find_hazards(module)
