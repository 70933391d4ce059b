"""Module instances, their global names, and the files they come from."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.grammar.declarations import DECLARATION_STARTS
from ..csl.parser import parse
from ..csl.source import Diagnostic, Note, Source
from ..diagnostics.errors import LoomError
from ..diagnostics.records import record
from .types import Function, Type

if TYPE_CHECKING:
    from .values import Address, Value

LIBRARIES = Path(__file__).parent / "libraries"
"""The CSL libraries, written in CSL: `<memcpy/memcpy>` is memcpy/memcpy.csl."""

_HEADING = re.compile(r"// <(?P<name>[^>]+)>(?P<wse3> on WSE-3)?: ")
"""First line of a library that programs may import: its name, `on WSE-3` if WSE-2 lacks it, and a colon."""


def library_names() -> list[str]:
    """Return the names of the libraries that a program may import, in order: `memcpy/memcpy` of `<memcpy/memcpy>`."""
    files = (path.relative_to(LIBRARIES).with_suffix("").as_posix() for path in LIBRARIES.rglob("*.csl"))
    return sorted(name for name in files if not is_internal(name))


def is_internal(name: str) -> bool:
    """Return True if only libraries import a library file: `cycle_counter` is cycle_counter.csl."""
    return _heading(name) is None


def is_wse3_only(name: str) -> bool:
    """Return True if a library exists on WSE-3 only (LIB-002)."""
    heading = _heading(name)
    return heading is not None and heading["wse3"] is not None


@lru_cache(maxsize=1024)
def _heading(name: str) -> re.Match[str] | None:
    """Return the beginning of a library file with its own name; None if it has none, and is a part of libraries."""
    with (LIBRARIES / f"{name}.csl").open(encoding="utf-8") as file:
        found = _HEADING.match(file.readline())
    return found if found is not None and found["name"] == name else None


@lru_cache(maxsize=1024)
def is_in_library(path: str) -> bool:
    """Return True if a path is that of a library's file."""
    return LIBRARIES in Path(path).parents


def is_of_library(source: Source) -> bool:
    """Return True if a text is that of a library's file."""
    return is_in_library(source.path)


@dataclass(eq=False)
class Global:
    """A global name of a module instance, resolved when first used."""

    module: Module
    node: syntax.Variable | syntax.Function
    resolving: bool = False
    type: Type | None = None
    value: Value | None = None
    """Of a constant, and the initial value of a variable."""
    owns: bool = False
    """As of a `values.Local`."""
    memory: Address | None = None
    """Where a variable, or a constant that needs an address, lives."""


@dataclass(eq=False)
class Module:
    """One import of a file, with its own globals."""

    name: str
    """Of the importing constants, joined by dots; empty for the file a PE or layout starts from."""
    file: syntax.File
    path: Path
    bindings: dict[str, Value]
    is_library: bool = False
    importer: Module | None = None
    imported_at: syntax.Node | None = None
    """In the file of `importer`."""
    globals: dict[str, Global] = field(default_factory=dict[str, Global])
    signatures: dict[str, Function] = field(default_factory=dict[str, Function])
    """The types of its functions, as far as they have been asked for."""
    number: int = 0
    """Of the modules with the same name and file."""

    @property
    def key(self) -> Hashable:
        """What the module has in common with its counterparts in other programs of the same files, and no other."""
        # Texts are compared faster than paths.
        return self.name, str(self.path), self.is_library, self.number

    @property
    def library(self) -> str | None:
        """The name that programs import it by, if it is a library."""
        if LIBRARIES not in self.path.parents:
            return None
        return f"<{self.path.relative_to(LIBRARIES).with_suffix('').as_posix()}>"

    def symbol(self, name: str) -> str:
        """Return the name of a global in the compiled program (Modules, Binary symbol names)."""
        return f"{self.name}.{name}" if self.name else name


@record
class Declared:
    """The declarations of a file, sorted once for all of its imports."""

    globals: tuple[syntax.Variable | syntax.Function, ...]
    elaborated: tuple[str, ...]
    """The imports, the exported variables and the functions that are exported or declared `extern`: what is looked at
    even if no code uses it."""
    comptime_blocks: tuple[syntax.ComptimeBlock, ...]

    @classmethod
    def of(cls, file: syntax.File) -> tuple[Declared, list[Diagnostic]]:
        """Sort the declarations of a file, the first of each name; return errors about the others."""
        named: dict[str, syntax.Variable | syntax.Function] = {}
        wrong: list[Diagnostic] = []
        for node in file.declarations:
            if not isinstance(node, syntax.Variable | syntax.Function):
                continue
            previous = named.setdefault(node.name, node)
            if previous is not node:
                message = f"'{node.name}' is declared twice; rename one"
                note = Note(file.source, previous.start, previous.end, "first here")
                wrong.append(Diagnostic(file.source, node.start, node.end, message, [note]))
            if isinstance(node, syntax.Function):
                wrong += _repeated_parameters(file.source, node)
        found = cls(
            tuple(named.values()),
            tuple(name for name, node in named.items() if _is_elaborated(node)),
            tuple(node for node in file.declarations if isinstance(node, syntax.ComptimeBlock)),
        )
        return found, wrong


def _repeated_parameters(source: Source, function: syntax.Function) -> Iterator[Diagnostic]:
    """Yield an error for each parameter that has the name of another."""
    names: set[str] = set()
    for parameter in function.parameters:
        if parameter.name is not None and parameter.name in names:
            message = f"'{function.name}' has two parameters '{parameter.name}'; rename one"
            yield Diagnostic(source, parameter.start, parameter.end, message)
        names.add(parameter.name or "")


def _is_elaborated(node: syntax.Variable | syntax.Function) -> bool:
    if isinstance(node, syntax.Function):
        return bool(node.storage)
    is_import = isinstance(node.value, syntax.Builtin) and node.value.name == "import_module"
    return is_import or is_exported_variable(node)


def is_exported_variable(node: syntax.Node) -> bool:
    """Return True for a declaration `export var`."""
    return isinstance(node, syntax.Variable) and node.storage == "export" and node.kind == "var"


class Files:
    """Reads and parses each file once, by however many paths it is reached."""

    def __init__(self) -> None:
        self._parsed: dict[str, syntax.File] = {}
        self._by_path: dict[Path, syntax.File] = {}
        self._declared: dict[int, Declared] = {}
        """By identity of the tree, which `_parsed` keeps."""
        self.found: dict[tuple[Path, str], Path] = {}
        """The file that each imported name resolves to, by importing file and name; filled on first use."""

    def all(self) -> list[syntax.File]:
        """Return the files, in the order in which they were read first."""
        return list(self._parsed.values())

    def paths(self) -> list[str]:
        """Return the paths of the files, as they were read first, in that order."""
        return [file.source.path for file in self.all()]

    def declared(self, file: syntax.File) -> Declared:
        """Return the declarations of a file; raises CslError, the first time only, for two of one name."""
        found = self._declared.get(id(file))
        if found is None:
            found, wrong = Declared.of(file)
            self._declared[id(file)] = found
            if wrong:
                raise CslError(wrong)
        return found

    def parse(self, path: Path) -> syntax.File:
        """Return the tree of a file. Raise LoomError if it cannot be read or is not CSL, CslError for its mistakes."""
        known = self._by_path.get(path)
        if known is not None:
            return known
        key = os.path.realpath(path)
        file = self._parsed.get(key)
        if file is None:
            text = read(path)
            try:
                file = self._parsed[key] = parse(text, str(path))
            except CslError:
                if not _is_like_csl(text, key):
                    # It may be anything, a secret too, so that nothing of it is shown.
                    message = "is not a CSL file, which consists of declarations; check the path"
                    raise LoomError(message, str(path)) from None
                raise
        self._by_path[path] = file
        return file


_BEGINNING = re.compile(r"(?>\s|\ufeff|//[^\n]*)*+(?P<word>[a-z]+)(?=[\s{])")
_ANYWHERE = re.compile(r"^[ \t]*+(?P<word>[a-z]+)[ \t{]", re.MULTILINE)


def _is_like_csl(text: str, path: str) -> bool:
    """Return True if a text that does not parse is CSL with mistakes in it.

    It begins as a declaration does; where the name of the file says that it is CSL, some line does.
    """
    if any(ord(character) < 32 and character not in "\t\n\r\f" for character in text):
        return False
    first = _BEGINNING.match(text)
    if first is not None and first["word"] in DECLARATION_STARTS:
        return True
    return path.endswith(".csl") and any(found["word"] in DECLARATION_STARTS for found in _ANYWHERE.finditer(text))


def read(path: Path) -> str:
    """Return the text of a CSL file. Raise LoomError if there is none or it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise LoomError(f"byte {error.start} is not UTF-8; CSL files are UTF-8 text", str(path)) from None
    except IsADirectoryError:
        raise LoomError("this is a directory; name a CSL file", str(path)) from None
    except OSError as error:
        raise LoomError(f"cannot be read ({error.strerror}); check the path", str(path)) from None
