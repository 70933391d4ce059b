"""Commands `cslc` and `cs_python` on PATH, while scripts written for the SDK run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

COMMANDS = {"cslc": "cslc", "cs_python": "python"}
"""The SDK's commands, and ours that replace them."""


def write_commands(folder: Path) -> None:
    """Write the commands into a folder, as shell scripts that start this interpreter."""
    for name, command in COMMANDS.items():
        script = folder / name
        # -P: modules in the working directory must not shadow those that we import.
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m loomir.tools.loom {command} "$@"\n')
        script.chmod(0o755)


@contextmanager
def sdk_on_path(*, always: bool = False) -> Generator[None]:
    """Put the commands on PATH; by default only if there are none yet."""
    if not always and all(shutil.which(name) for name in COMMANDS):
        yield
        return
    path = os.environ.get("PATH")
    with tempfile.TemporaryDirectory(prefix="loom-sdk-") as folder:
        write_commands(Path(folder))
        os.environ["PATH"] = folder + os.pathsep + (path or os.defpath)
        try:
            yield
        finally:
            if path is None:
                del os.environ["PATH"]
            else:
                os.environ["PATH"] = path


def shell(script: Path) -> str:
    """Return the shell that a script asks for in its first line: bash unless that is plain sh."""
    with script.open("rb") as file:
        first = file.readline(200)
    return "sh" if re.match(rb"#!\s*\S*/(?:env\s+)?sh\s*$", first) else "bash"
