"""Atomic output files: they appear whole or not at all.

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

from ..diagnostics.errors import LoomError
from ..host.output_files import create_partial, uninterrupted

ANOTHER_FILE = "name another file"


class Outputs:
    """A set of output files, used as a context manager: leaving it normally puts all of them in place."""

    def __init__(self) -> None:
        self._staged: list[tuple[IO[bytes], Path, Path]] = []
        self._reports: set[Path] = set()

    def open(self, path: str | Path, *, of_hang: bool = False, follow: bool = True) -> IO[bytes]:
        """Return a binary stream whose content becomes the file at `path`; raises LoomError if that cannot be written.

        `of_hang` puts it in place also if the program hangs: with what has been written until `keep_reports`. Without
        `follow` there may be a regular file at `path` or none, but neither a link nor a pipe: for names that are not
        the user's choice.
        """
        if not str(path):
            raise LoomError("an output has no name; name a file")
        try:
            special = os.path.exists(path) and not os.path.isfile(path)
            if not follow and (os.path.islink(path) or special):
                what = "a link" if os.path.islink(path) else "not a file"
                raise LoomError(f"exists and is {what}; remove it, or name another output", str(path))
            # A pipe reached through /dev/stdout has no path of its own; a symbolic link keeps pointing at the result.
            final = Path(path) if special or not follow else Path(os.path.realpath(path))
            with suppress(FileNotFoundError):
                # A name that is too long is reported here, not after a long run.
                os.lstat(final)
            if any(final == other for _, _, other in self._staged):
                raise LoomError("is named for two outputs; give each its own file", str(path))
            if final.is_dir():
                raise LoomError("cannot be written: it is a directory; name a file in it", str(path))
            if final.exists() and not os.access(final, os.W_OK):
                raise LoomError(f"cannot be written: Permission denied; {ANOTHER_FILE}", str(path))
            with uninterrupted():
                # What goes to a terminal or a pipe may be for the eyes of this user alone.
                stream, partial = (
                    create_partial(Path(tempfile.gettempdir()), 0o600) if special else create_partial(final.parent)
                )
                self._staged.append((stream, partial, final))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            is_folder_missing = isinstance(error, FileNotFoundError)
            remedy = f"make the folder '{Path(path).parent}' first" if is_folder_missing else ANOTHER_FILE
            raise LoomError(f"cannot be written: {reason}; {remedy}", str(path)) from error
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
            renamed: list[tuple[Path, Path]] = []
            for _, partial, final in self._staged:
                if final.exists() and not final.is_file():
                    with partial.open("rb") as source, final.open("wb", buffering=0) as target:
                        shutil.copyfileobj(source, target)
                else:
                    renamed.append((partial, final))
            with uninterrupted():
                for partial, final in renamed:
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
