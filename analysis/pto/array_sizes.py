"""Array sizes: the bytes of the arrays that kernels point to, where their text decides them.

The size of an array is known if all its uses have known sizes: views of constant shape and strides, slots of pipes, and
calls of kernels with such uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue

from ...dialects.pto.attributes import Layout
from ...dialects.pto.frontend_pipes import OpenPipeOp
from ...dialects.pto.internal_pipes import InitializePipeOp
from ...dialects.pto.memory import AddPtrOp, MakeTensorViewOp, constant_value
from ...dialects.pto.types import PtrType, element_bytes
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from .scale_tensors import boxed_count, inferred_order


def slot_arrays(module: ModuleOp) -> set[str]:
    """Return the names of the pointer arguments that are slots of pipes."""
    functions = {op.sym_name.data: op for op in walk(module) if isinstance(op, FuncOp)}
    return {
        _name(argument, position)
        for function in functions.values()
        for position, argument in enumerate(function.body.blocks[0].args if function.body.blocks else ())
        if isinstance(argument.type, PtrType) and _holds_slots(argument, functions)
    }


def _name(argument: SSAValue, position: int) -> str:
    return argument.name_hint or f"arg{position}"


def _holds_slots(pointer: SSAValue, functions: dict[str, FuncOp], within: tuple[SSAValue, ...] = ()) -> bool:
    if pointer in within:  # a function that calls itself
        return False
    within = (*within, pointer)
    for use in pointer.uses:
        op = use.operation
        if _is_pipe(op):
            return True
        if isinstance(op, MakeTensorViewOp | AddPtrOp) and _holds_slots(op.result, functions, within):
            return True
        if isinstance(op, CallOp):
            callee = functions.get(op.callee.root_reference.data)
            if (
                callee is not None
                and callee.body.blocks
                and _holds_slots(callee.body.blocks[0].args[use.index], functions, within)
            ):
                return True
    return False


def pointed_bytes(module: ModuleOp, blocks: int) -> dict[str, int]:
    """Return the bytes of the array of each pointer argument, by name; arguments of one name are one array.

    Names of unknown size are left out; an unused array has no bytes.
    """
    functions = {op.sym_name.data: op for op in walk(module) if isinstance(op, FuncOp)}
    sizes: dict[str, int] = {}
    unknown: set[str] = set()
    for function in functions.values():
        for position, argument in enumerate(function.body.blocks[0].args if function.body.blocks else ()):
            if not isinstance(argument.type, PtrType):
                continue
            name = _name(argument, position)
            size = _size(argument, functions)
            if size is None:
                unknown.add(name)
            else:
                sizes[name] = max(sizes.get(name, 0), size)
    return {name: size for name, size in sizes.items() if name not in unknown}


def _size(pointer: SSAValue, functions: dict[str, FuncOp], within: tuple[SSAValue, ...] = ()) -> int | None:
    """Return the bytes that the uses of a pointer reach, 0 without uses; None if one is unknown."""
    if pointer in within:  # a function that calls itself
        return 0
    largest = 0
    for size in _uses(pointer, functions, (*within, pointer)):
        if size is None:
            return None
        largest = max(largest, size)
    return largest


def _uses(pointer: SSAValue, functions: dict[str, FuncOp], within: tuple[SSAValue, ...]) -> Iterator[int | None]:
    assert isinstance(pointer.type, PtrType)
    size = element_bytes(pointer.type.element_type)
    for use in pointer.uses:
        op = use.operation
        match op:
            case MakeTensorViewOp():
                yield None if size is None else _view(op, size)
                # A tensor that is the slot of a pipe stands for all slots.
                yield from (_slots(user.operation) for user in op.result.uses if _is_pipe(user.operation))
            case _ if _is_pipe(op):
                yield _slots(op)
            case CallOp():
                callee = functions.get(op.callee.root_reference.data)
                if isinstance(op.callee, SymbolRefAttr) and callee is not None and callee.body.blocks:
                    yield _size(callee.body.blocks[0].args[use.index], functions, within)
                else:
                    yield None
            case _:
                yield None


def _is_pipe(op: Operation) -> bool:
    return isinstance(op, OpenPipeOp | InitializePipeOp)


def _view(op: MakeTensorViewOp, itemsize: int) -> int | None:
    shape = [constant_value(value) for value in op.shape]
    strides = [constant_value(value) for value in op.strides]
    if any(number is None for number in (*shape, *strides)):
        return None
    extents = [number for number in shape if number is not None]
    steps = [number for number in strides if number is not None]
    order = inferred_order(op)
    if order is not Layout.ND:
        return itemsize * boxed_count(order, extents[0], extents[1])
    return itemsize * (1 + sum((extent - 1) * step for extent, step in zip(extents, steps, strict=True)))


def _slots(op: Operation) -> int | None:
    mask, size, count = (op.get_attr_or_prop(name) for name in ("dir_mask", "slot_size", "slot_num"))
    if not isinstance(mask, IntegerAttr) or not isinstance(size, IntegerAttr):
        return None
    direction = mask.value.data
    number = count.value.data if isinstance(count, IntegerAttr) else pipe_protocol.default_slot_num(direction)
    return size.value.data * number * (2 if direction == pipe_protocol.BOTH else 1)
