"""Classes of operations and types are known by inheritance alone."""

from __future__ import annotations

from abc import ABCMeta

import pytest

from loomir.dialects import dsd, dsr, wse
from loomir.dialects.inheritance import ByInheritance
from loomir.dialects.machine.symbols import SymbolDefinition, SymbolUser


@pytest.mark.parametrize("kind", [SymbolDefinition, SymbolUser, dsd.DsdOperation, dsd.DescriptorType, dsr.RegisterType])
def test_an_instance_is_found_without_a_search_for_virtual_subclasses(kind: type) -> None:
    assert type(kind).__instancecheck__ is type.__instancecheck__ is not ABCMeta.__instancecheck__


def test_instances_are_those_of_subclasses() -> None:
    op = wse.ActivateOp("step")
    assert isinstance(op, SymbolUser) and issubclass(wse.ActivateOp, SymbolUser)
    assert not isinstance(op, dsd.DsdOperation) and not isinstance(None, SymbolUser)


def test_virtual_subclasses_are_refused() -> None:
    class Base(metaclass=ByInheritance):
        pass

    with pytest.raises(TypeError, match="int cannot be registered as a subclass of Base; inherit from it"):
        Base.register(int)
