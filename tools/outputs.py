"""Output files that appear whole or not at all.

Everything is written under another name, beside its final place, and renamed only once all of it is complete; an
error leaves the files of before untouched. Of a program that hangs, those that report what it did appear all the same.
What is not a regular file (a terminal, a pipe) is copied at the end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from ..diagnostics import LoomError


class Outputs:
    """A set of output files, used as a context manager: leaving it normally puts all of them in place."""

    def __init__(self) -> None:
        self._staged: list[tuple[IO[bytes], Path, Path]] = []
        self._reports: set[Path] = set()

    def open(self, path: str | Path, *, of_hang: bool = False) -> IO[bytes]:
        """A binary stream whose content becomes the file at `path`; raises LoomError if that cannot be written.

        `of_hang` puts it in place also if the program hangs: with what has been written until `keep_reports`.
        """
        if not str(path):
            raise LoomError("an output has no name; name a file")
        try:
            special = os.path.exists(path) and not os.path.isfile(path)
            # A pipe reached through /dev/stdout has no path of its own; a symbolic link keeps pointing at the result.
            final = Path(path) if special else Path(os.path.realpath(path))
            if any(final == other for _, _, other in self._staged):
                raise LoomError("is named for two outputs; give each its own file", str(path))
            if final.is_dir():
                raise LoomError("cannot be written: it is a directory", str(path))
            if final.exists() and not os.access(final, os.W_OK):
                raise LoomError("cannot be written: Permission denied", str(path))
            folder = Path(tempfile.gettempdir()) if special else final.parent
            partial = folder / f".{final.name}.{os.getpid()}.partial"
            stream = partial.open("wb")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise LoomError(f"cannot be written: {reason}", str(path)) from error
        self._staged.append((stream, partial, final))
        if of_hang:
            self._reports.add(final)
        return stream

    def keep_reports(self) -> None:
        """Put the files in place that are of use where a program hangs, and drop the others."""
        rest = [staged for staged in self._staged if staged[2] not in self._reports]
        self._staged = [staged for staged in self._staged if staged[2] in self._reports]
        try:
            self._commit()
        finally:
            self._discard()
            self._staged = rest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._commit()
        finally:
            self._discard()

    def _commit(self) -> None:
        final = Path()
        try:
            for stream, _, _ in self._staged:
                stream.close()
            for _, partial, final in self._staged:
                if final.exists() and not final.is_file():
                    with partial.open("rb") as source, final.open("wb", buffering=0) as target:
                        shutil.copyfileobj(source, target)
                else:
                    os.replace(partial, final)
        except OSError as error:
            raise LoomError(f"cannot be written: {error.strerror}", str(final)) from error

    def _discard(self) -> None:
        for stream, partial, _ in self._staged:
            with suppress(OSError):
                stream.close()
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        self._staged.clear()
