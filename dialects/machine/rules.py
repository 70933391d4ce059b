"""Rules of the machine at every level: checks of routes, tasks, functions and exports that `wse` and `flow` share.

Knows ports, kinds, numbers and types, not the operations that hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, Region
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ..building import array, integer
from .elements import verify_element_type, verify_memory_type


def rectangle_problem(width: int, height: int, target: Target) -> str | None:
    """Return what is wrong with a rectangle that the machine does not have room for; None if it fits."""
    columns, rows = target.fabric
    if width <= columns and height <= rows:
        return None
    return f"the rectangle is {width} x {height} PEs, but {target.name} has {columns} x {rows}; make it smaller"


def verify_ports(receive: Sequence[str], transmit: Sequence[str], *, ends: bool = False) -> None:
    """Raise VerifyException unless a router can send a color from all of `receive` to all of `transmit`.

    The color may end there, by going to no port, only where `ends`. It may go to one of several ports that it comes
    from, since nothing need come from there.
    """
    for ports, way in ((receive, "from"), (transmit, "to")):
        if not ports and not (ends and way == "to"):
            raise VerifyException(
                f"the route {'comes from' if way == 'from' else 'goes to'} no port; name at least one"
            )
        if len(set(ports)) != len(ports):
            raise VerifyException(f"the route names a port twice in '{way}'; name it once")
    for port in receive:
        if port in transmit and port != "ramp" and len(receive) == 1:
            raise VerifyException(f"the route sends the color back to {port}, where it comes from; remove one")


def verify_stream_way(way: str) -> None:
    """Raise VerifyException unless a host stream goes `in` or `out`."""
    if way not in ("in", "out"):
        raise VerifyException(f"a host stream cannot go '{way}'; use in (from the host) or out (to it)")


def verify_unblocked_queue(name: str, *, is_input: bool, unblocked: bool) -> None:
    """Raise VerifyException if an output queue is `unblocked`."""
    if unblocked and not is_input:
        raise VerifyException(f"output queue @{name} is unblocked, but starts no tasks; remove 'unblocked'")


def verify_fifos(fifos: Sequence[tuple[str, str]], name: str, target: Target) -> None:
    """Raise VerifyException if FIFO `name`, one of `fifos` with their buffers, is one too many or shares its buffer."""
    number = [fifo for fifo, _ in fifos].index(name)
    for other, buffer in fifos[:number]:
        if buffer == fifos[number][1]:
            raise VerifyException(f"FIFO @{name} uses buffer @{buffer}, as @{other} does; give it a buffer of its own")
    if number >= target.fifos:
        raise VerifyException(f"FIFO @{name} is one too many: {target.name} has {target.fifos}; use fewer (DSD-121)")


def verify_task(
    kind: str,
    name: str,
    types: Sequence[Attribute],
    *,
    active: bool,
) -> None:
    """Raise VerifyException unless a task of that kind can take arguments of `types` and start `active`."""
    if active and kind != "local":
        raise VerifyException(f"{kind} task @{name} cannot be active; only local tasks are activated")
    if kind == "local" and types:
        raise VerifyException(
            f"local task @{name} takes arguments, but nothing passes any to it; keep the values in buffers"
        )
    if kind == "data" and not types:
        raise VerifyException(f"data task @{name} takes no argument; give it one for the wavelet, or two of 16 bits")
    for type in types:
        verify_element_type(type, "a wavelet")
    if len(types) > 1 and sum(type.bitwidth for type in types if isinstance(type, IntegerType | AnyFloat)) > 32:
        raise VerifyException(
            f"{kind} task @{name} takes more than a wavelet holds; give it one argument of 16 or 32 bits, or two of "
            "16 bits"
        )


def verify_task_id(task: str, number: int, target: Target, *, control: bool) -> None:
    """Raise VerifyException if `target` does not offer the id to a control task, or else to a local one."""
    allowed = target.control_task_ids if control else target.local_task_ids
    if not control and number in target.reserved_local_task_ids and number != target.teardown_task:
        raise VerifyException(f"{task} has id {number}, which {target.name} reserves for the system; choose another")
    if number not in allowed:
        raise VerifyException(
            f"{task} has id {number}, which {target.name} does not offer; choose one from {allowed[0]} to {allowed[-1]}"
        )


def verify_body(name: str, body: Region, type: FunctionType) -> None:
    """Raise VerifyException unless the body of function `name` takes the arguments of its type."""
    if tuple(body.block.arg_types) != tuple(type.inputs):
        raise VerifyException(f"the body of function @{name} does not take the arguments of its type; make both agree")


def verify_return(op: Operation) -> None:
    """Raise VerifyException unless the terminator `op` returns what its function or task promises."""
    parent = op.parent_op()
    # The parent is verified after its body, so its type may still be missing or wrong.
    type = None if parent is None else parent.properties.get("function_type")
    expected = type.outputs.data if isinstance(type, FunctionType) else ()
    if tuple(operand.type for operand in op.operands) != tuple(expected):
        raise VerifyException(
            f"{op.name} does not return what its function or task declares "
            f"({', '.join(map(str, expected)) or 'nothing'}); make both agree"
        )


def verify_call(op: Operation, name: str, type: FunctionType) -> None:
    """Raise VerifyException unless `op` calls function `name` with arguments and results of its type."""
    inputs, outputs = [operand.type for operand in op.operands], [result.type for result in op.results]
    if inputs != list(type.inputs) or outputs != list(type.outputs):
        used = FunctionType.from_lists(inputs, outputs)
        raise VerifyException(f"function @{name} has type {type}, but is called as {used}; make both agree")


def verify_exported_buffer(
    name: str, type: MemRefType[Attribute], points_to: MemRefType[Attribute] | None, *, unsigned: bool
) -> None:
    """Raise VerifyException unless the host can see buffer `name`, or what it `points_to`, possibly as `unsigned`."""
    if points_to is not None:
        _verify_pointer(name, type, points_to)
        verify_memory_type(points_to.get_element_type(), "memory")
    shown = type if points_to is None else points_to
    if unsigned and shown.get_element_type() not in (i8, i16, i32):
        raise VerifyException(f"buffer @{name} of {shown} cannot be exported as unsigned; only i8, i16 and i32 can")


def verify_exported_function(name: str, words: Sequence[Attribute | None]) -> None:
    """Raise VerifyException if function `name` is exported with `words` that only buffers have."""
    if any(word is not None for word in words):
        raise VerifyException(f"function @{name} cannot be unsigned, read_only or a pointer; remove the keyword")


def positions_attribute(positions: Sequence[int]) -> ArrayAttr[IntegerAttr] | None:
    """Return positions as a property; None if there are none."""
    return array(tuple(map(integer, positions))) if positions else None


def verify_unsigned_arguments(name: str, type: FunctionType, positions: Sequence[int]) -> None:
    """Raise VerifyException unless the arguments of function `name` that the host sees as unsigned are integers."""
    inputs = type.inputs.data
    for position in positions:
        if not 0 <= position < len(inputs):
            raise VerifyException(
                f"function @{name} has no argument {position} to be unsigned; it takes {len(inputs)}, counted from 0"
            )
        if inputs[position] not in (i8, i16, i32, i64):
            raise VerifyException(
                f"argument {position} of function @{name} is {inputs[position]}, which has no sign; remove it from "
                "unsigned_arguments"
            )


def _verify_pointer(name: str, buffer: MemRefType[Attribute], pointee: MemRefType[Attribute]) -> None:
    if buffer.get_num_dims() or buffer.get_element_type() != i16:
        raise VerifyException(
            f"buffer @{name} of {buffer} is not a pointer; points_to needs a memref<i16>, which holds a byte address"
        )
    if not pointee.has_static_shape() and pointee.get_num_dims() != 1:
        raise VerifyException(f"@{name} points to {pointee}; only the extent of a single dimension can be open")


def network_problem(networks: Iterable[str], others: Iterable[str]) -> str | None:
    """Return what is wrong with the colors that are networks of messages, beside those with routes or host streams."""
    known: set[str] = set()
    routed = set(others)
    for color in networks:
        if color in known:
            return f"color @{color} is made a network of messages twice; leave one out"
        if color in routed:
            return f"color @{color} is a network of messages and has routes or a stream of the host; use another color"
        known.add(color)
    return None
