"""The evaluator: a partial evaluator of the syntax tree, with what all rules of the language share.

`expressions`, `statements`, `builtins` and the rest register the rules, by node class and builtin name (`registry`).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable as Function
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from xdsl.ir import SSAValue

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import CallNote, Diagnostic, Note, Source
from ..operations.bit_patterns import are_all_same, patterns
from . import types
from .addresses import pointer_word
from .asking import Journal
from .comptime_known import warn as warn_of_late
from .effects import Effect
from .emit import Builder, has_one_register
from .errors import Ended, Mistyped, MistypedAtRunTime
from .frames import Frame
from .modules import (
    LIBRARIES,
    Global,
    Module,
    is_in_library,
    is_of_library,
    is_wse3_only,
    library_names,
)
from .scalars import fit, lifted, one
from .search_path import SearchPath, is_file, listed
from .session import Session
from .step_limit import PER_EMITTED
from .types import Type
from .values import Address, Callable, Column, Lanes, Local, Split, Value, is_ssa, known

if TYPE_CHECKING:
    from .pe import PeProgram

MAX_CALL_NOTES = 4
"""Calls that an error names, besides those inside libraries."""

_MEMCPY = str(LIBRARIES / "memcpy" / "memcpy.csl")

MACHINE_BITS = 64
"""Bits of the widest integer that the machine computes with at once."""

_VALUES = (
    syntax.Binary, syntax.Unary, syntax.Index, syntax.Field, syntax.Dereference, syntax.Aggregate, syntax.TensorAccess
)  # fmt: skip
"""Expressions that do nothing by themselves, whatever the calls in them do."""


# Entered some hundred thousand times in a large program: classes take half the time of generators.


class _Framed:
    __slots__ = ("_ev", "_frame", "_live", "_previous")

    def __init__(self, ev: Evaluator, frame: Frame) -> None:
        self._ev = ev
        self._frame = frame

    def __enter__(self) -> Frame:
        ev = self._ev
        self._previous, self._live = ev.frame, len(ev.live)
        ev.frames.append(self._frame)
        ev.frame = self._frame
        return self._frame

    def __exit__(self, *_: object) -> None:
        ev = self._ev
        ev.frames.pop()
        ev.frame = self._previous
        del ev.live[self._live :]


class _Scoped:
    __slots__ = ("_ev", "_live", "_scopes")

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev

    def __enter__(self) -> None:
        self._scopes, self._live = self._ev.frame.scopes, len(self._ev.live)
        self._scopes.append({})

    def __exit__(self, *_: object) -> None:
        self._scopes.pop()
        del self._ev.live[self._live :]


class _AtCompileTime:
    __slots__ = ("_builder", "_ev")

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev

    def __enter__(self) -> None:
        self._builder, self._ev.builder = self._ev.builder, None

    def __exit__(self, *_: object) -> None:
        self._ev.builder = self._builder


class Evaluator:
    """Evaluates the layout, or the program of the PEs that `lanes` stand for."""

    def __init__(self, session: Session, lanes: Lanes, pe: PeProgram | None = None) -> None:
        self.session = session
        self.lanes = lanes
        self.pe = pe
        """The program of the PEs. While a body is emitted it is seen through `asking.AskedProgram`."""
        self.owner = pe
        """The same, always itself."""
        self.journal: Journal | None = None
        """What the body being emitted has asked; None while no body is emitted, or an answer is found."""
        self.spent_around: list[dict[Hashable, int]] = []
        """What `asking.Journal.spent` is in the bodies whose emission has led to the one being emitted."""
        self.frames: list[Frame] = []
        self.frame: Frame = None  # pyright: ignore[reportAttributeAccessIssue]
        self.builder: Builder | None = None
        """Where code for run time goes; None while only compile time goes on."""
        self.effects: list[Effect] = []
        self.live: list[Local] = []
        """The variables of all calls being emitted, innermost last."""
        self.instances: list[Module] = []
        self._instances: dict[Hashable, Module] = {}
        self.in_layout = False
        self.is_checking = False
        """True if code is evaluated for its errors alone (`checking`)."""
        self.branches = 0
        """Run-time branches and loops around the code being emitted."""
        self.mistakes = session.mistakes
        """Those of the session; None where an error ends what is evaluated."""

    @property
    def code(self) -> Builder:
        """`builder`, for rules that only get here while code is emitted."""
        if self.builder is None:
            raise AssertionError("code is to be emitted while only compile time goes on")
        return self.builder

    @property
    def program(self) -> PeProgram:
        """`pe`, for rules that only get here in the program of a PE."""
        if self.pe is None:
            raise AssertionError("the rule is for the program of a PE, and the layout is evaluated")
        return self.pe

    # Errors

    @property
    def source(self) -> Source:
        return self.frame.module.file.source

    def error(self, node: syntax.Node, message: str, *notes: Note) -> CslError:
        return CslError([Diagnostic(self.source, node.start, node.end, message, (*notes, *self._call_notes()))])

    def fail(self, node: syntax.Node, message: str, *notes: Note) -> NoReturn:
        """End the compilation with an error at a node of the file being evaluated."""
        raise self.error(node, message, *notes)

    def fail_for_lack(self, node: syntax.Node, message: str) -> NoReturn:
        """Fail as `fail` does, for what the layout or a comptime block does not say; it may be in one with an error."""
        error = self.error(node, message)
        raise error if self.mistakes is None else self.mistakes.for_lack(error)

    def mistyped(self, node: syntax.Node, message: str, *notes: Note) -> NoReturn:
        """End the compilation with an error that does not depend on the values."""
        raise Mistyped(self.error(node, message, *notes).diagnostics)

    def warn(self, node: syntax.Node, message: str) -> None:
        """Report, once, what the program may be wrong about at a node of the file being evaluated."""
        warning = f"{self.source.location(node.start)}: warning: {message}"
        if warning not in self.session.warnings:
            self.session.warnings.append(warning)

    def _call_notes(self) -> Iterator[Note]:
        """Yield notes that name the innermost calls around the current place, and as many as lead out of libraries."""
        is_inside = self.frame.module.is_library
        for count, frame in enumerate(reversed(self.frames)):
            call = frame.called_at
            if call is None and is_inside:
                # The initial value of a library's global depends on the params of its import, not on the call.
                yield from self._import_notes(frame.module)
                return
            if call is not None and (is_inside or count < MAX_CALL_NOTES):
                source, start, end, name = call
                is_inside = is_inside and is_of_library(source)
                yield CallNote(source, start, end, f"in this call of '{name}'")
        yield from self._import_notes(self.frame.module)

    def _import_notes(self, module: Module) -> Iterator[Note]:
        """Yield notes that name the import of a module, and those around it that lead out of libraries."""
        while module.importer is not None and module.imported_at is not None:
            at = module.imported_at
            yield CallNote(module.importer.file.source, at.start, at.end, f"'{module.path.name}' is imported here")
            module = module.importer
            if not module.is_library:
                return

    def note(self, node: syntax.Node, message: str, source: Source | None = None) -> Note:
        return Note(source or self.source, node.start, node.end, message)

    def step(self, node: syntax.Node) -> None:
        """Count one statement or iteration at compile time."""
        steps = self.session.steps
        steps.count += 1 if self.builder is None else PER_EMITTED
        if steps.count >= steps.due:
            end = steps.look(self.source, node)
            if end is not None:
                at, source, message = end
                raise Ended([Diagnostic(source, at.start, at.end, message, (*self._call_notes(),))])

    def initializes_global(self, node: syntax.Node) -> bool:
        """Return True if an expression is in the initial value of a global constant or param of this file."""
        for found in self.frame.module.globals.values():
            declaration = found.node
            if isinstance(declaration, syntax.Variable) and declaration.kind != "var" and declaration.value is not None:
                if declaration.value.start <= node.start and node.end <= declaration.value.end:
                    return True
        return False

    def linked_name(self, found: Global) -> str:
        """Return the symbol of a global: its linkname, else its name, below that of its module unless it is shared."""
        declaration = found.node
        if declaration.link_name is not None:
            with self.at_compile_time(), self.framed(Frame(found.module, comptime=True)):
                return self.text(declaration.link_name, "a linkname")
        if declaration.storage:
            return declaration.name
        return found.module.symbol(declaration.name)

    # Frames and scopes

    def framed(self, frame: Frame) -> _Framed:
        """Evaluate inside in a frame; what is declared there is gone behind it."""
        return _Framed(self, frame)

    def scope(self) -> _Scoped:
        """Evaluate inside in a scope of its own."""
        return _Scoped(self)

    def at_compile_time(self) -> _AtCompileTime:
        """Emit no code inside."""
        return _AtCompileTime(self)

    def declare(self, local: Local, node: syntax.Node) -> Local:
        self.frame.scopes[-1][local.name] = local
        local.depth = self.lanes.depth
        local.start = node.start
        local.branches = self.branches
        if not local.comptime:
            self.live.append(local)
        return local

    # Evaluation

    def expr(self, node: syntax.Node, want: Type | None = None) -> Value:
        """Return the value of an expression. `want` is the type it will be given, where that helps."""
        rule = EXPRESSIONS.get(type(node))
        if rule is None:
            self.fail(node, "this is not an expression; write one that has a value")
        return rule(self, node, want)

    def execute(self, node: syntax.Node) -> None:
        """Execute a statement."""
        rule = STATEMENTS.get(type(node))
        if rule is not None:
            rule(self, node)
        else:
            # The value of a builtin used as a statement is ignored.
            want = types.VOID if isinstance(node, syntax.Builtin) else None
            EXPRESSIONS[type(node)](self, node, want)
            if isinstance(node, _VALUES):
                self.warn(node, "this value is not used; assign it to '_' to discard it, or remove the expression")

    def typed(self, node: syntax.Node, type: Type) -> Value:
        """Return the value of an expression, converted to a type it must have."""
        return self.coerce(self.expr(node, type), type, node)

    def coerce(self, value: Value, type: Type, node: syntax.Node) -> Value:
        """Return the value with another type, where the language converts implicitly; raise CslError elsewhere."""
        source = value.type
        # Types of different classes are never equal, which takes longer to find out by ==.
        if source is type or (source.__class__ is type.__class__ and source == type) or source is types.UNDEFINED:
            return value
        rule = COERCIONS.get(type.__class__)
        converted = None if rule is None else rule(self, value, type, node)
        if converted is not None:
            return converted
        if type is types.FIFO or (isinstance(type, types.Descriptor) and source is types.FIFO):
            return value
        kind = MistypedAtRunTime if types.is_integer(source) and types.is_integer(type) else Mistyped
        raise kind(self.error(node, f"expected '{type}', found '{source}'{_advice(source, type)}").diagnostics)

    def place(self, node: syntax.Node) -> Place:
        """Return what an expression denotes: a variable, part of one, or a temporary with its value."""
        return PLACES.get(type(node), PLACES[syntax.Node])(self, node)

    def type_of(self, node: syntax.Node) -> Type:
        """Return the type an expression names."""
        if node.__class__ is syntax.Name:
            # Most are names such as u16: every param of every import has one.
            name = cast("syntax.Name", node).name
            plain = types.UNIVERSE.get(name)
            if plain is not None and name not in self.frame.module.globals and self.frame.find(name) is None:
                return plain
        value = self.comptime_expr(node, types.TYPE)
        if value.type is not types.TYPE:
            self.fail(node, f"a type is needed here, not a value of type '{value.type}'")
        return value.data

    def comptime_expr(self, node: syntax.Node, want: Type | None = None) -> Value:
        """Return the value of an expression that must be known at compile time."""
        if self.builder is None:
            value = self.expr(node, want)
        else:
            with self.at_compile_time():
                value = self.expr(node, want)
            warn_of_late(self, node)
        if not known(value):
            self.fail(node, "this is not known at compile time")
        return value

    def data(self, value: Value, node: syntax.Node, what: str = "this") -> Any:
        """Return the one number a value has in all lanes. Splits the lanes if there are several."""
        data = value.data
        if isinstance(data, Column):
            values = self.lanes.spread(data)
            if are_all_same(values):
                return one(values, 0)
            raise Split(values)
        if is_ssa(data):
            self.fail(node, f"{what} must be known at compile time")
        return data

    def integer(self, node: syntax.Node, what: str = "this") -> int:
        """Return an integer known at compile time, the same in all lanes."""
        value = self.comptime_expr(node)
        if not types.is_integer(value.type):
            self.fail(node, f"{what} must be an integer, not '{value.type}'")
        return self.data(value, node, what)

    def text(self, node: syntax.Node, what: str) -> str:
        """Return a string known at compile time."""
        value = self.comptime_expr(node)
        if value.type is not types.COMPTIME_STRING:
            self.fail(node, f"{what} must be a string, not '{value.type}'")
        return value.data.decode(errors="replace")

    def truth(self, value: Value, node: syntax.Node) -> bool | SSAValue:
        """Return a condition: known, or an SSA value."""
        if value.type is not types.BOOL:
            self.fail(node, f"a condition is of type 'bool', not '{value.type}'; compare it with something")
        data = value.data
        # What was computed outside of the lanes that have been split since may be the same in all that are left.
        return self.data(value, node) if isinstance(data, Column) else data

    def ssa(self, value: Value, node: syntax.Node) -> SSAValue:
        """Return a scalar as an SSA value."""
        data = value.data
        if is_ssa(data):
            return data
        if self.builder is None:
            self.fail(node, "this is not known at compile time")
        if types.is_comptime_only(value.type) or not has_one_register(value.type):
            self.fail(node, f"a value of type '{value.type}' exists at compile time only; give it another type")
        assert self.pe is not None
        self.check_format(value.type, node)
        self.builder.at(self.source, node.start)
        if isinstance(data, Column):
            return self.pe.parameter(self.builder, value.type, data)
        if isinstance(value.type, types.Pointer):
            return pointer_word(self, data, node)
        return self.builder.constant(value.type, data)

    def check_format(self, type: Type, node: syntax.Node, source: Source | None = None) -> None:
        """Raise CslError if values of a type cannot exist at run time for their format or their size."""
        if type is types.F32 or (isinstance(type, types.Int) and type.bits <= MACHINE_BITS):
            return
        for inner in types.scalars(type):
            if isinstance(inner, types.Int) and types.size(inner) > self.session.target.memory_bytes:
                message = (
                    f"a value of type '{inner}' takes {types.size(inner):,} bytes; a PE has "
                    f"{self.session.target.memory_bytes:,}"
                )
                raise CslError([Diagnostic(source or self.source, node.start, node.end, message)])
            if not isinstance(inner, types.Float) or inner.bits != 16:
                continue
            if inner != self.session.fp16:
                message = (
                    f"a value of type '{inner}' must be known at compile time, as --fp16-format is "
                    f"'{self.session.fp16}'; use @fp16(), or give --fp16-format={inner}"
                )
                notes = tuple(self._call_notes())
                raise CslError([Diagnostic(source or self.source, node.start, node.end, message, notes)])

    def lift(self, function: Function[..., Any], *arguments: Any) -> Any:
        return lifted(self.lanes, function, *arguments)

    def fitted(self, type: Type, data: Any) -> Any:
        return fit(self.lanes, type, data)

    # Modules

    def load(self, path: Path, bindings: dict[str, Value], name: str, *, is_library: bool = False) -> Module:
        """Return a new instance of a file; its globals are resolved as they are used.

        Raises CslError for the mistakes of the file.
        """
        if self.journal is not None:
            self.journal.give_up()
        file = self.session.files.parse(path)
        module = Module(name, file, path, bindings, is_library or is_in_library(str(path)))
        while module.key in self._instances:
            module.number += 1
        self._instances[module.key] = module
        module.globals = {node.name: Global(module, node) for node in self.session.files.declared(file).globals}
        self.instances.append(module)
        self.session.imports_memcpy |= str(path) == _MEMCPY
        return module

    def instance(self, key: Hashable) -> Module | None:
        """Return the module with a key, if there is one."""
        return self._instances.get(key)

    def find_file(self, node: syntax.Node, name: str) -> Path:
        """Return the file that an import or @set_tile_code names; raises CslError if there is none.

        A name in angled brackets is looked for in the search path, then among the libraries; any other beside the
        importing file, then in the search path, and at last, with a warning, where the compiler was started.
        """
        search, found = self.session.options.search, self.session.files.found
        key = self.frame.module.path, name
        known = found.get(key)
        if known is not None:
            return known
        if len(name) > 2 and name.startswith("<") and name.endswith(">"):
            found[key] = self._find_library(node, name, search)
            return found[key]
        if not name or not name.isprintable():
            self.fail(node, f"{name!r} is not a file name; write the path of a CSL file")
        if Path(name).is_absolute():
            if is_file(Path(name)):
                return Path(name)
            self.fail(node, f"there is no file '{name}'; check the path")
        beside = self.frame.module.path.parent
        linked = Path(os.path.realpath(self.frame.module.path)).parent
        looked = [(beside, "beside this file"), *search.directories()]
        if linked != Path(os.path.realpath(beside)):
            looked.insert(1, (linked, "beside the file that this one links to"))
        for directory, _ in looked:
            if is_file(directory / name):
                found[key] = directory / name
                return found[key]
        if is_file(search.started / name):
            self.warn(
                node,
                f"'{name}' is found where cslc was started, not beside this file, where the language looks for it; "
                "write the path from this file, or give --import-path=.",
            )
            return search.started / name
        looked.append((search.started, "where cslc was started"))
        self.fail(
            node, f"there is no file '{name}' in {listed(looked)}; check the path, which is relative to this file"
        )

    def _find_library(self, node: syntax.Node, name: str, search: SearchPath) -> Path:
        library = name[1:-1]
        # Below the directories only: what is elsewhere is named by a path, without brackets.
        if not {"", ".", ".."}.isdisjoint(library.split("/")) or not library.isprintable():
            self.fail(node, f"there is no library {name}; a name in angled brackets has no '.', '..' or empty part")
        for directory, _ in search.directories():
            for path in (directory / f"{library}.csl", directory / library):
                if is_file(path):
                    return path
        path = LIBRARIES / f"{library}.csl"
        if is_file(path):
            if is_wse3_only(library) and self.session.options.arch != "wse3":
                self.fail(node, f"the library {name} exists on WSE-3 only; compile with --arch=wse3, or remove it")
            return path
        if library.startswith("memcpy_multi/"):
            now = f"<memcpy/{library.partition('/')[2]}>"
            self.fail(
                node,
                f"{name} is a library of SDK 0.9 and earlier, and {now} since 1.0, which binds tasks to task ids "
                "rather than colors; adapt the program to it",
            )
        looked = f", and none in {listed(search.directories())}" if search.directories() else ""
        known = ", ".join(f"<{library}>" for library in library_names())
        self.fail(node, f"there is no library {name}{looked}; there are: {known}")


def _advice(source: Type, target: Type) -> str:
    if types.is_numeric(source) and types.is_numeric(target):
        return f"; convert it with @as({target}, ...)"
    if isinstance(source, types.Pointer) and isinstance(target, types.Pointer) and source.const and not target.const:
        return "; it points to constant memory"
    return ""


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return what to add to a message about a name there is not: the one that was probably meant, if any."""
    close = difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{close[0]}'?" if close else ""


def split_lanes(lanes: Lanes, column: np.ndarray[Any, Any]) -> list[Lanes]:
    """Return the lanes with each value of a column."""
    _, inverse = np.unique(patterns(column), return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    counts = np.bincount(inverse.ravel())
    return [Lanes(len(part), lanes, part) for part in np.split(order, np.cumsum(counts)[:-1])]


class Place:
    """Something with a type that can be read, perhaps written, and whose parts are places too."""

    type: Type

    def load(self, ev: Evaluator, node: syntax.Node) -> Value:
        raise NotImplementedError

    def store(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:
        ev.fail(node, "this is not a variable and cannot be assigned to")

    def element(self, ev: Evaluator, index: Any, node: syntax.Node) -> Place:
        """Return the element at a linear index: a number, or an i16 at run time."""
        raise NotImplementedError

    def field(self, ev: Evaluator, position: int, node: syntax.Node) -> Place:
        raise NotImplementedError

    def address(self, ev: Evaluator, node: syntax.Node) -> Address:
        ev.fail(node, "this has no address; & takes the address of a variable")

    def function(self) -> Callable | None:
        """Return the function this is, if it is one by name."""
        return None

    def asked(self) -> Hashable:
        """Return what places are equal by as answers to a question (`asking.key_of`)."""
        raise AssertionError(f"a {type(self).__name__} does not answer questions")

    @property
    def is_const(self) -> bool:
        return True


# The rules, which `registry` lists

EXPRESSIONS: dict[type[syntax.Node], Function[[Evaluator, Any, Type | None], Value]] = {}
STATEMENTS: dict[type[syntax.Node], Function[[Evaluator, Any], None]] = {}
PLACES: dict[type[syntax.Node], Function[[Evaluator, Any], Place]] = {}
"""What finds the place an expression denotes; that of `syntax.Node` is for all others."""
COERCIONS: dict[type[Type], Function[[Evaluator, Value, Any, syntax.Node], Value | None]] = {}
"""What converts a value implicitly to a type of each class; None if it cannot."""
