"""CSL types of xDSL's `csl` dialect."""

from __future__ import annotations

from xdsl.dialects import csl
from xdsl.dialects.builtin import FunctionType, MemRefType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from ...backend.csl import tree
from ...backend.csl.types import refuse, scalar_type
from ...csl.syntax import Expression


def type_expression(user: Operation, type: Attribute) -> Expression:
    """Return the CSL type; raises LoomError at `user` if there is none. An array becomes a pointer to it."""
    match type:
        case csl.PtrType():
            is_const = type.constness.data is csl.PtrConst.CONST
            pointee = pointee_expression(user, type.type)
            if type.kind.data is csl.PtrKind.MANY:
                return tree.many_pointer_type(pointee, is_const=is_const)
            return tree.pointer_type(pointee, is_const=is_const)
        case FunctionType():
            return function_type(user, type)
        case csl.VarType():
            return type_expression(user, type.child_type)
        case csl.ColorType():
            return tree.name("color")
        case csl.DirectionType():
            return tree.name("direction")
        case csl.ComptimeStringType():
            return tree.name("comptime_string")
        case csl.DsdType():
            return tree.name(type.data.value)
        case _ if isa(type, MemRefType):
            return tree.pointer_type(array_type(user, type))
        case _:
            text = scalar_type(type)
            if text is None:
                raise refuse(user, f"{user.name} has a value of type {type}, which has no type in CSL; use another")
            return tree.name(text)


def pointee_expression(user: Operation, type: Attribute) -> Expression:
    """Return the type that a pointer points to: an array is itself."""
    return array_type(user, type) if isa(type, MemRefType) else type_expression(user, type)


def function_type(user: Operation, type: FunctionType) -> Expression:
    results = type.outputs.data
    if len(results) > 1:
        raise refuse(user, f"{user.name} has a function with {len(results)} results, and CSL's have one; return one")
    inputs = [type_expression(user, input) for input in type.inputs]
    return tree.function_type(inputs, type_expression(user, results[0]) if results else tree.name("void"))


def array_type(user: Operation, type: MemRefType) -> Expression:
    """Return the array type of a memref, whose extents must be static."""
    if not type.has_static_shape():
        raise refuse(user, f"{user.name} has an array of type {type} with an open extent; give every extent")
    return tree.array_type(type.get_shape(), type_expression(user, type.element_type))


def is_untyped(type: Attribute) -> bool:
    """Return True if a declaration omits the type: newer compilers have no name for it."""
    return isinstance(type, csl.ComptimeStructType | csl.ImportedModuleType)
