"""Emission once per body: what the code of a function asks of its PE program, and the body that the answers lead to.

The layout may place a hundred programs of the same files that differ in a few params, so most of their functions and
tasks are alike. Emission is deterministic: it sees the syntax tree, which all programs share, and beside that only what
it asks of its program, such as the value of a constant, the memory of a variable, or the queue of a color. Every such
question goes through `Evaluator.ask`, either by a function marked with `question` or by a method of the PE program that
is named in `ASKED`. So while a body is emitted its questions and answers are recorded; they form a decision tree over
all programs: after the same answers emission asks the same next question, and in the end makes the same body.

For a further program the tree is followed first. Its questions are asked of that program in the order in which
emission would ask them, so that what answers bring about (memory allocated, a function outlined) comes about as if the
body were emitted. Every question may be asked again without further effect, so where the answers lead out of the tree,
the body is emitted from its beginning.

What no question stands for is not shared: a body that meets such a thing is emitted for each program.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

from xdsl.ir import Attribute, Region

from ..csl import syntax
from ..csl.errors import CslError
from ..diagnostics.records import record
from ..dialects.machine.code import CodeOperation, reference_to
from ..operations.bit_patterns import identity
from .emit import Builder
from .frames import Frame
from .modules import Global, Module
from .types import Type
from .values import Address, Buffer, Callable, Column, Value, is_ssa, known

ASKED = frozenset(
    (
        "as_held", "choice_number", "color", "color_at", "color_place", "constant", "constant_at", "constant_of",
        "descriptor_at", "dispatcher", "filter_ids", "function_number", "held_like", "is_bound", "is_host_stream",
        "is_initialized", "is_outlined", "kind_of_task", "local_array", "local_symbols", "name_queue", "queue",
        "queue_of", "receives_by_queue", "report_queue", "set_descriptor_at", "spill", "step", "stepped", "symbol_of",
        "task_symbol", "use",
    )
)  # fmt: skip
"""The methods of a PE program by which emission asks it something."""

SEEN = frozenset(("inlined",))
"""Attributes that emission may read beside, as nothing it emits depends on them."""


class Program(Protocol):
    """The program of PEs that is asked."""

    def count_inlined(self, spent: dict[Hashable, int]) -> None: ...


class Asker(Protocol):
    """The evaluator, as far as asking concerns it."""

    journal: Journal | None
    pe: Any
    owner: Any
    builder: Builder | None
    frame: Frame

    @property
    def program(self) -> Program: ...

    def instance(self, key: Hashable) -> Module | None: ...

    def framed(self, frame: Frame) -> AbstractContextManager[Frame]: ...

    def at_compile_time(self) -> AbstractContextManager[None]: ...


_Made = TypeVar("_Made")
_Asking = TypeVar("_Asking", bound=Asker)
_Answer = TypeVar("_Answer")
_Arguments = ParamSpec("_Arguments")


def question(
    answer: Function[Concatenate[_Asking, _Arguments], _Answer],
) -> Function[Concatenate[_Asking, _Arguments], _Answer]:
    """Mark a function `f(ev, ...)` as a question of emission to its program.

    To call it again with the same arguments has no further effect.
    """

    plain = cast("Function[..., Any]", answer)

    @wraps(answer)
    def ask(ev: Asker, *arguments: Any) -> Any:
        return plain(ev, *arguments) if ev.journal is None else ev.journal.ask(ev, plain, arguments)

    return cast("Function[Concatenate[_Asking, _Arguments], _Answer]", ask)


def lasting_question(
    answer: Function[Concatenate[_Asking, _Arguments], _Answer],
) -> Function[Concatenate[_Asking, _Arguments], _Answer]:
    """Mark a question about a global or function that has one answer for good, so that it is recorded once."""
    _LASTING.add(answer)
    return question(answer)


_LASTING: set[Function[..., Any]] = set()


class _Unshareable(Exception):
    """Raised for what has no counterpart in another program."""


# Questions


@record
class _Instance:
    """A module, by what it is called in every program."""

    key: Hashable


@record
class _GlobalOf:
    module: Hashable
    name: str


@record
class _CallableOf:
    module: Hashable
    node: Any


@record
class _Asker:
    """The evaluator, which asks."""


@record
class Question:
    """A question as it is asked of any program: `answer` with the arguments, in a frame of a module."""

    answer: Function[..., Any]
    arguments: tuple[Any, ...]
    """With `_Instance`, `_GlobalOf` and `_CallableOf` in place of what belongs to one program."""
    module: Hashable

    def put(self, ev: Asker) -> Hashable:
        """Return what the answer of a program is equal by to that of another; None if it has none to give."""
        try:
            module = _instance(ev, self.module)
            arguments = [_in_program(ev, argument) for argument in self.arguments]
        except _Unshareable:
            return None
        with ev.at_compile_time(), ev.framed(Frame(module, comptime=True)):
            try:
                return key_of(self.answer(ev, *arguments))
            except CslError as error:
                return _key_of_error(error)
            except _Unshareable:
                return None


_ASKER = _Asker()


def _of_any_program(ev: Asker, item: Any) -> Any:
    """Return an argument of a question in a form that fits any program."""
    if item is ev:
        return _ASKER
    match item:
        case Module():
            return _Instance(item.key)
        case Global():
            return _GlobalOf(item.module.key, item.node.name)
        case Callable():
            return _CallableOf(item.module.key, item.node)
        case list():
            return [_of_any_program(ev, each) for each in cast("list[Any]", item)]
        case _:
            _check_shareable(item)
    return item


def _instance(ev: Asker, key: Hashable) -> Module:
    found = ev.instance(key)
    if found is None:
        raise _Unshareable
    return found


def _in_program(ev: Asker, item: Any) -> Any:
    match item:
        case _Asker():
            return ev
        case _Instance(key):
            return _instance(ev, key)
        case _GlobalOf(module, name):
            return _instance(ev, module).globals[name]
        case _CallableOf(module, node):
            return Callable(_instance(ev, module), node)
        case list():
            return [_in_program(ev, each) for each in cast("list[Any]", item)]
        case _:
            return item


def is_shareable(value: Value) -> bool:
    """Return True if a value known at compile time can be one of any program."""
    try:
        _check_shareable(value)
    except _Unshareable:
        return False
    return known(value)


def _check_shareable(item: Any) -> None:
    """Raise _Unshareable if data holds what belongs to one program."""
    if isinstance(item, tuple | list):
        for each in cast("Sequence[Any]", item):
            _check_shareable(each)
    elif isinstance(item, Value):
        _check_shareable(item.data)
    elif isinstance(item, Column | Module | Global | Callable) or getattr(item, "place", None) is not None:
        raise _Unshareable
    elif is_dataclass(item) and not is_ssa(item) and not isinstance(item, syntax.Node | Type | Attribute):
        for each in fields(item):
            _check_shareable(getattr(item, each.name))


# Answers


def key_of(item: Any) -> Hashable:
    """Return what answers of different programs are equal by. Raises _Unshareable where that cannot be said."""
    kind = item.__class__
    if kind is int or kind is str or kind is bool or kind is bytes or item is None:
        return kind, item
    if kind is float:
        return kind, identity(item)
    if kind is Value:
        return item.type, key_of(item.data)
    if kind is Address:
        return "address", key_of(item.buffer), key_of(item.offset), item.unit, key_of(item.base)
    if kind is Buffer:
        return "buffer", item.symbol, item.element, item.count
    if isinstance(item, list):
        items = cast("list[Any]", item)
        if set(map(type, items)) == {int}:
            return "integers", *items
        return "list", *map(key_of, items)
    if isinstance(item, tuple):
        members = cast("tuple[Any, ...]", item)
        return kind, getattr(members, "active", None), *map(key_of, members)
    if isinstance(item, Type):
        return "type", item
    if isinstance(item, Module):
        return "module", item.key
    if isinstance(item, Callable):
        return "callable", item.module.key, id(item.node)
    if isinstance(item, Global):
        return "global", item.module.key, item.node.name
    if isinstance(item, frozenset | Attribute):
        return cast("Hashable", item)
    if is_ssa(item):
        # Of a descriptor; only that it changes at run time matters to other bodies.
        return "at run time"
    describe = getattr(item, "asked", None)
    if describe is not None:
        return describe()
    if is_dataclass(item) and not isinstance(item, type) and getattr(item, "place", None) is None:
        return kind, *(key_of(getattr(item, each.name)) for each in fields(item))
    raise _Unshareable


def _key_of_error(error: CslError) -> Hashable:
    first = error.diagnostics[0]
    return "error", type(error), first.source.path, first.start, first.end, first.message


# Recording


class Journal:
    """What one body asked while it was emitted, and what was answered."""

    def __init__(self) -> None:
        self.entries: list[tuple[Question, Hashable]] = []
        self.is_shareable = True
        self.spent: dict[Hashable, int] = {}
        """How much code the calls of each function have made that were emitted in place here."""
        self._asked: set[Hashable] = set()

    def give_up(self) -> None:
        """Record that the body depends on what no question stands for."""
        self.is_shareable = False

    def ask(self, ev: Asker, answer: Function[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return an answer, and record it."""
        if not self.is_shareable:
            with _Unrecorded(ev):
                return answer(ev, *arguments)
        if answer in _LASTING:
            first = arguments[0]
            asked_about = answer, (id(first.module), id(first.node))
            if asked_about in self._asked:
                with _Unrecorded(ev):
                    return answer(ev, *arguments)
            self._asked.add(asked_about)
        found: Any = None
        try:
            asked = Question(answer, tuple(_of_any_program(ev, each) for each in arguments), ev.frame.module.key)
            with _Unrecorded(ev):
                try:
                    found = answer(ev, *arguments)
                except CslError as error:
                    self.entries.append((asked, _key_of_error(error)))
                    raise
            self.entries.append((asked, key_of(found)))
        except CslError:
            raise
        except _Unshareable:
            self.give_up()
            if found is None:
                with _Unrecorded(ev):
                    return answer(ev, *arguments)
        except BaseException:
            self.give_up()
            raise
        return found


class _Unrecorded:
    """Asks nothing inside: what is evaluated there belongs to an answer."""

    def __init__(self, ev: Asker) -> None:
        self._ev = ev

    def __enter__(self) -> None:
        ev = self._ev
        self._kept = ev.journal, ev.pe, ev.builder
        ev.journal, ev.pe, ev.builder = None, ev.owner, None

    def __exit__(self, *_: object) -> None:
        self._ev.journal, self._ev.pe, self._ev.builder = self._kept


class AskedProgram:
    """What a body being emitted sees of its PE program: methods that ask it. All else ends the recording."""

    def __init__(self, ev: Asker, program: Program, journal: Journal) -> None:
        self._ev = ev
        self._program = program
        self._journal = journal

    def __getattr__(self, name: str) -> Any:
        if name in SEEN:
            return getattr(self._program, name)
        if name not in ASKED:
            self._journal.give_up()
            return getattr(self._program, name)
        answer = _METHODS.get(name)
        if answer is None:
            answer = _METHODS[name] = _method(name)

        def ask(*arguments: Any) -> Any:
            return self._journal.ask(self._ev, answer, arguments)

        return ask


_METHODS: dict[str, Function[..., Any]] = {}


def _method(name: str) -> Function[..., Any]:
    def answer(ev: Asker, *arguments: Any) -> Any:
        return getattr(ev.program, name)(*arguments)

    return answer


# What the answers lead to


class _Node(Generic[_Made]):
    """A point that evaluation comes to: it asks a question next, or is complete."""

    __slots__ = ("branches", "made", "question")

    def __init__(self) -> None:
        self.question: Question | None = None
        self.branches: dict[Hashable, _Node[_Made]] = {}
        self.made: _Made | None = None


class _Trees(Generic[_Made]):
    """What has been made after which answers, by what it is made from."""

    def __init__(self) -> None:
        self._roots: dict[Hashable, _Node[_Made]] = {}

    def find(self, ev: Asker, key: Hashable) -> _Made | None:
        """Return what the answers of a program lead to; None if nothing has been made after them yet."""
        node = self._roots.get(key)
        while node is not None and node.made is None:
            assert node.question is not None
            node = node.branches.get(node.question.put(ev))
        return None if node is None else node.made

    def add(self, key: Hashable, journal: Journal, made: _Made) -> None:
        """Record what has been made after the answers of a journal."""
        node = self._roots.setdefault(key, _Node())
        for question, answer in journal.entries:
            if node.question is None:
                node.question = question
            node = node.branches.setdefault(answer, _Node())
        if node.made is None:
            node.made = made


class Results:
    """The results of calls at compile time so far, by what they asked."""

    def __init__(self) -> None:
        self._trees = _Trees[Value]()

    def of(self, ev: Asker, key: Hashable, evaluate: Function[[], Value]) -> Value:
        """Return the result of a call: that of an equal call, perhaps in an earlier program, or else evaluated.

        `key` says what is called, and with which arguments.
        """
        found = self._trees.find(ev, key)
        if found is not None:
            return found
        with _Recorded(ev) as journal:
            result = evaluate()
        if journal.is_shareable and is_shareable(result):
            self._trees.add(key, journal, result)
        return result


_Code = TypeVar("_Code", bound=CodeOperation)


@record
class _Body:
    """A function or task that has been emitted, with how much code was repeated in it at calls."""

    op: CodeOperation
    spent: dict[Hashable, int]


class Bodies:
    """The bodies emitted for the PE programs so far, by what they asked."""

    def __init__(self) -> None:
        self._trees = _Trees[_Body]()
        self._new: list[tuple[Hashable, Journal, CodeOperation]] = []
        """Those of the program being emitted, which others share only when it is complete."""
        self.emitted = 0
        """How many bodies have been emitted, rather than found."""

    def make(
        self,
        ev: Asker,
        key: Hashable,
        name: Function[[], str],
        emit: Function[[], Region],
        make: Function[[str, Region, CodeOperation | None], _Code],
    ) -> _Code:
        """Return a function or task with a body that is emitted, or that of an earlier program.

        `key` says what it is emitted from; `name` chooses its symbol once the body is there. `make` is given the
        symbol, the body, and what has that body already, which then is empty.
        """
        found = self._trees.find(ev, key)
        symbol = None
        if found is not None:
            symbol = name()
            if found.op.sym_name.data == symbol:
                ev.program.count_inlined(found.spent)
                op = make(symbol, Region(), found.op)
                op.shares = found.op.shares or reference_to(found.op)
                return op
        self.emitted += 1
        with _Recorded(ev) as journal:
            body = emit()
        op = make(symbol or name(), body, None)
        if journal.is_shareable:
            self._new.append((key, journal, op))
        return op

    def complete(self) -> None:
        """Let further programs share the bodies of the one that is complete."""
        for key, journal, op in self._new:
            self._trees.add(key, journal, _Body(op, journal.spent))
        self._new.clear()

    def drop(self) -> None:
        """Forget the bodies of a program that does not become complete."""
        self._new.clear()


class _Recorded:
    """The recording of what one body asks."""

    def __init__(self, ev: Asker) -> None:
        self._ev = ev
        self.journal = Journal()

    def __enter__(self) -> Journal:
        ev = self._ev
        self._kept = ev.journal, ev.pe
        ev.journal, ev.pe = self.journal, AskedProgram(ev, ev.program, self.journal)
        return self.journal

    def __exit__(self, *_: object) -> None:
        ev = self._ev
        ev.journal, ev.pe = self._kept
        assert ev.owner is not None
        ev.owner.count_inlined(self.journal.spent)
