"""Buffers and exports: what `wse` and `flow` have in common of the memory of a PE and of what the host sees.

Nothing here knows the code that reads and writes.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def, traits_def
from xdsl.utils.exceptions import VerifyException

from .. import building
from ..traits import VerifiedByKind
from .code import FuncOperation
from .elements import element_count
from .rules import positions_attribute, verify_exported_buffer, verify_exported_function, verify_unsigned_arguments
from .symbols import Scope, SymbolDefinition, SymbolUser, described


class BufferOperation(SymbolDefinition, ABC):
    """An array in the memory of a PE, or a scalar variable."""

    NOUN: ClassVar = "a buffer"

    type = prop_def(MemRefType)
    traits = traits_def(VerifiedByKind())

    def seen_by_users(self) -> Hashable:
        # Where it is and what it holds at first concerns none of them.
        return type(self), self.type

    @property
    def element_type(self) -> Attribute:
        """What the buffer holds."""
        return self.type.get_element_type()

    @property
    def element_count(self) -> int:
        """Number of elements, 1 for a scalar."""
        return element_count(self.type)


class ExportOperation(SymbolUser, ABC):
    """A buffer or function that the host sees."""

    symbol = prop_def(SymbolRefAttr)
    points_to = opt_prop_def(MemRefType)
    unsigned = opt_prop_def(UnitAttr)
    unsigned_arguments = opt_prop_def(ArrayAttr[IntegerAttr])
    read_only = opt_prop_def(UnitAttr)
    traits = traits_def(VerifiedByKind())

    def __init__(
        self,
        symbol: str,
        names: Mapping[str, Attribute | None],
        *,
        points_to: MemRefType[Attribute] | None = None,
        unsigned: bool = False,
        unsigned_arguments: Sequence[int] = (),
        read_only: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        properties = {
            "symbol": building.symbol(symbol),
            **names,
            "points_to": points_to,
            "unsigned": building.flag(unsigned),
            "unsigned_arguments": positions_attribute(unsigned_arguments),
            "read_only": building.flag(read_only),
        }
        building.build(self, [], [], properties, attributes=attributes)

    @property
    def unsigned_positions(self) -> tuple[int, ...]:
        """Positions of the arguments that the host sees as unsigned."""
        return () if self.unsigned_arguments is None else tuple(each.value.data for each in self.unsigned_arguments)

    def verify_symbols(self, scope: Scope) -> None:
        found = scope.find(self.symbol)
        match found:
            case BufferOperation():
                unsigned = self.unsigned is not None
                verify_exported_buffer(found.sym_name.data, found.type, self.points_to, unsigned=unsigned)
                if self.unsigned_arguments is not None:
                    raise VerifyException(f"{described(found)} takes no arguments; remove 'unsigned_arguments'")
            case FuncOperation():
                verify_exported_function(found.sym_name.data, (self.unsigned, self.read_only, self.points_to))
                verify_unsigned_arguments(found.sym_name.data, found.function_type, self.unsigned_positions)
            case _:
                raise VerifyException(f"{described(found)} cannot be exported; export a buffer or a function")
