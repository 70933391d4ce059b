"""Functions, tasks and calls: what `wse` and `flow` have in common of the code that a PE runs.

Nothing here knows what the bodies do.

A function or task of one PE program may share the body of one of the same name of another, as in
`wse.func @main() shares @cell::@main`. The symbols that the body names are then those of the program that shares it, so
one body serves programs whose buffers, queues and tasks have the same names and differ in what they are. `Bodies` finds
it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import opt_prop_def, prop_def, region_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from .. import building
from ..assembly import print_arguments, print_attributes, print_body
from ..symbols import symbol_name, symbols_of
from ..traits import VerifiedByKind
from ..traversal import walk
from ..verification import Failures
from .rules import verify_body, verify_call, verify_task
from .symbols import Scope, SymbolDefinition, SymbolUser, described, verify_user


class CodeOperation(SymbolDefinition, ABC):
    """A function or task: a body of its own, or one that it shares."""

    shares = opt_prop_def(SymbolRefAttr)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), VerifiedByKind())

    def print_code(self, printer: Printer) -> None:
        """Print the attributes, and the body or whose it is."""
        if self.shares is not None:
            printer.print_string(" shares ")
            printer.print_attribute(self.shares)
        print_attributes(printer, self)
        if self.shares is None:
            print_body(printer, self.body)

    def share(self, home: CodeOperation) -> None:
        """Drop the body for an equal one of another PE program."""
        for block in list(self.body.blocks):
            self.body.detach_block(block)
        self.shares = reference_to(home)

    @abstractmethod
    def verify_shared(self, home: CodeOperation) -> None:
        """Raise VerifyException unless the body of `home`, which this one shares, fits it."""

    def _verify_code(self) -> bool:
        """Return True if there is a body to be verified; raises VerifyException unless there is one, or one shared."""
        count = len(self.body.blocks)
        if self.shares is None and count != 1:
            raise VerifyException(f"{described(self)} has {count} blocks; give its body one")
        if self.shares is not None and count:
            raise VerifyException(f"{described(self)} has a body of its own and shares one; remove 'shares'")
        return self.shares is None


def reference_to(home: CodeOperation) -> SymbolRefAttr:
    """Return how other PE programs name a function or task."""
    owner = home.parent_op()
    assert owner is not None, "a function or task is in a PE program"
    return building.member(symbol_name(owner) or "", home.sym_name.data)


def parse_shared(parser: Parser) -> SymbolRefAttr | None:
    """Parse `shares @program::@name` if the text has it here."""
    if parser.parse_optional_keyword("shares") is None:
        return None
    shared = parser.parse_attribute()
    if not isinstance(shared, SymbolRefAttr) or len(shared.nested_references) != 1:
        parser.raise_error("'shares' names a PE program and its function or task, as in @cell::@main")
    return shared


class Bodies:
    """The bodies of the functions and tasks of a program, looked up once for all of its PE programs."""

    def __init__(self, program: Operation) -> None:
        self._program = program
        self._members: dict[str, dict[str, Operation]] | None = None
        self._homes: dict[tuple[int, type[CodeOperation], str], tuple[Attribute, CodeOperation]] = {}
        self._users: dict[CodeOperation, list[SymbolUser]] = {}
        """What names symbols in each body that is shared."""
        self._fitting: dict[CodeOperation, list[Mapping[str, Hashable]]] = {}
        """By shared body, the symbol tables of the programs whose symbols it is known to match."""

    def home(self, op: CodeOperation) -> CodeOperation:
        """Return the function or task that has the body; raises VerifyException if there is none to share."""
        shares = op.properties.get("shares")
        if shares is None:
            return op
        # Whoever shares a body names it alike; the attribute is kept, so that no other can take its identity.
        key = id(shares), type(op), op.sym_name.data
        known = self._homes.get(key)
        if known is None or known[1].shares is not None:
            known = self._homes[key] = shares, self._find_home(op)
        return known[1]

    def _find_home(self, op: CodeOperation) -> CodeOperation:
        assert op.shares is not None, "it has no body of its own"
        if self._members is None:
            owners = symbols_of(self._program)
            self._members = {name: symbols_of(owner) for name, owner in owners.items() if owner.regions}
        names = [op.shares.root_reference, *op.shares.nested_references]
        found = self._members.get(names[0].data, {}).get(names[-1].data) if len(names) == 2 else None
        if found is None:
            raise VerifyException(
                f"{described(op)} shares the body of {op.shares}, which is not defined; define it or correct the name"
            )
        if not isinstance(found, CodeOperation) or isinstance(found, FuncOperation) != isinstance(op, FuncOperation):
            raise VerifyException(
                f"{described(op)} cannot share the body of {described(found)}; name one of its own kind"
            )
        if found.sym_name != op.sym_name:
            raise VerifyException(
                f"{described(op)} shares the body of {described(found)}, which has another name; give both one name"
            )
        if found.shares is not None:
            raise VerifyException(
                f"{described(op)} shares the body of {op.shares}, which shares that of {found.shares}; name the latter"
            )
        return found

    def of(self, op: CodeOperation) -> Region:
        """Return the body of a function or task."""
        return self.home(op).body

    def walk(self, owner: Operation) -> Iterator[Operation]:
        """Yield a PE program and all operations inside it, those of bodies that it shares included."""
        yield owner
        for member in owner.regions[0].block.ops:
            yield from walk(member)
            if isinstance(member, CodeOperation) and member.shares is not None:
                for op in self.of(member).block.ops:
                    yield from walk(op)

    def verify(self, owner: Operation, scope: Scope, *, alone: bool = True) -> None:
        """Check what a PE program names, `scope` being its own, and that the bodies it shares fit.

        `alone` says that the check of a body sees no more of the program than the symbols that the body names, so that
        it is made once for programs in which these are alike.
        """
        failures = Failures()
        for op in walk(owner):
            if isinstance(op, SymbolUser):
                with failures.going_on():
                    verify_user(op, scope)
        failures.end()
        for op in owner.regions[0].block.ops:
            if isinstance(op, CodeOperation) and op.shares is not None:
                home = self.home(op)
                op.verify_shared(home)
                fitting = self._fitting.setdefault(home, [])
                if alone and any(all(scope.face(name) == face for name, face in seen.items()) for seen in fitting):
                    continue
                asked = scope.listening()
                for user in self._users_in(home):
                    with failures.going_on():
                        verify_user(user, asked.scope)
                failures.end()
                fitting.append({name: scope.face(name) for name in asked.names})

    def _users_in(self, home: CodeOperation) -> list[SymbolUser]:
        users = self._users.get(home)
        if users is None:
            inside = (inner for member in home.body.block.ops for inner in walk(member))
            users = self._users[home] = [inner for inner in inside if isinstance(inner, SymbolUser)]
        return users


class FuncOperation(CodeOperation, ABC):
    """A function."""

    NOUN: ClassVar = "a function"

    function_type = prop_def(FunctionType)

    @property
    def symbol_kind(self) -> str:
        return "function"

    def verify_(self) -> None:
        if self._verify_code():
            verify_body(self.sym_name.data, self.body, self.function_type)

    def print_parameters(self, printer: Printer) -> None:
        """Print the arguments, of a function that shares its body their types."""
        if self.shares is None:
            print_arguments(printer, self.body)
        else:
            with printer.in_parens():
                printer.print_list(self.function_type.inputs, printer.print_attribute)

    def verify_shared(self, home: CodeOperation) -> None:
        verify_body(self.sym_name.data, home.body, self.function_type)
        assert isinstance(home, FuncOperation), "only functions share with functions"
        if home.function_type != self.function_type:
            raise VerifyException(
                f"{described(self)} has type {self.function_type}, but the body it shares is of type "
                f"{home.function_type}; make both agree"
            )


class TaskOperation(CodeOperation, SymbolUser, ABC):
    """A task, started by activation, by wavelets of its queue or by control wavelets."""

    NOUN: ClassVar = "a task"

    queue = opt_prop_def(SymbolRefAttr)
    active = opt_prop_def(UnitAttr)
    blocked = opt_prop_def(UnitAttr)

    @property
    @abstractmethod
    def kind_name(self) -> str:
        """What starts the task: `local`, `data` or `control`."""

    @property
    def is_local(self) -> bool:
        """True if activation starts the task."""
        return self.kind_name == "local"

    @property
    def is_data(self) -> bool:
        """True if wavelets of an input queue start the task."""
        return self.kind_name == "data"

    @property
    def symbol_kind(self) -> str:
        return f"{self.kind_name} task"

    def print_state_and_body(self, printer: Printer) -> None:
        """Print the state at the start, arguments, attributes and body, which end every task."""
        if self.active is not None:
            printer.print_string(" active")
        if self.blocked is not None:
            printer.print_string(" blocked")
        if self.shares is None and self.body.block.args:
            printer.print_string(" ")
            print_arguments(printer, self.body)
        self.print_code(printer)

    def verify_(self) -> None:
        if self._verify_code():
            self._verify_arguments(self.body.block.arg_types)

    def verify_shared(self, home: CodeOperation) -> None:
        self._verify_arguments(home.body.block.arg_types)

    def _verify_arguments(self, types: Sequence[Attribute]) -> None:
        verify_task(self.kind_name, self.sym_name.data, types, active=self.active is not None)


def verify_activated(symbol: SymbolRefAttr | str, scope: Scope, *, hint: str = "") -> None:
    """Raise VerifyException unless `symbol` is a local task: nothing else can be activated (DSD-190, DSD-191)."""
    found = scope.find(symbol)
    if not isinstance(found, TaskOperation) or not found.is_local:
        raise VerifyException(f"{described(found)} cannot be activated; name a local task{hint}")


class CallOperation(SymbolUser, ABC):
    """A call of a function of the same program."""

    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()

    def verify_symbols(self, scope: Scope) -> None:
        function = scope.get(FuncOperation, self.callee)
        verify_call(self, function.sym_name.data, function.function_type)
