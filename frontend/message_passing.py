"""Checks of <message_passing>: what its functions are given, and that nothing else uses its colors and queues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic, Source
from ..targets.wavelets import POINTER_EXTENT
from . import recovery, types
from .effects import Effect
from .errors import Refused
from .evaluator import Evaluator
from .memcpy_resources import MEMCPY
from .pe import PeProgram
from .session import Session
from .values import Callable, Value, is_ssa

ELEMENTS = (types.I16, types.U16, types.F16, types.I32, types.U32, types.F32)
"""Types of elements that messages consist of (LIB-017, LIB-026)."""


def use_network(ev: Evaluator, input_queue: int, output_queue: int) -> int:
    """Let the PE use the network by two queues; return its color."""
    pe = ev.program
    if pe.message_queues not in (None, (input_queue, output_queue)):
        source, node = pe.uses["message_passing", 0]
        _fail_at(
            source, node, "<message_passing> is imported here and elsewhere with other queues; import it once and pass "
            "the module on",
        )  # fmt: skip
    pe.message_queues = input_queue, output_queue
    color = ev.session.target.message_colors[-1]
    # Whatever is wrong with these is said of the import.
    pe.use(ev, "message_passing", 0, ev.frame.module.file)
    pe.color(color)
    ev.session.color_names_of_pes.setdefault(color, "mp_comm_color")
    pe.queue_names.setdefault((False, input_queue), "mp_input_queue")
    pe.queue_names.setdefault((True, output_queue), "mp_output_queue")
    return color


def check_call(ev: Evaluator, buffer: Value, on_term: Value, node: syntax.Node) -> types.Array:
    """Return the array that a buffer points to, the longest that there may be if its pointer does not say.

    Raises CslError, at the user's call, for a buffer or on_term that send_message and recv_message do not take.
    """
    array = buffer.type.target if isinstance(buffer.type, types.Pointer) else None
    if array is not None and isinstance(buffer.type, types.Pointer) and buffer.type.many:
        # Memory has fewer elements, and the longest extent stands for a pointer to a scalar.
        array = types.Array((POINTER_EXTENT - 1,), array)
    if not isinstance(array, types.Array) or array.element not in ELEMENTS:
        _fail(
            ev, node, "the buffer of a message is a pointer to an array of i16, u16, f16, i32, u32 or f32, such as "
            f"&array, not a '{buffer.type}' (LIB-017, LIB-026)",
        )  # fmt: skip
    type = on_term.type
    if type is types.VOID:
        return array
    if not isinstance(type, types.Struct) or (type.names is None and type.types):
        _fail(ev, node, f"on_term is .{{}}, or .{{ .activate = id }} or .{{ .unblock = id }}, not a '{type}' (LIB-021)")
    names = type.names or ()
    if len(names) > 1 or not set(names) <= {"activate", "unblock"}:
        given = ", ".join(f"'.{name}'" for name in names)
        _fail(ev, node, f"on_term has one action, '.activate' or '.unblock', or is empty, and not {given} (LIB-021)")
    for name, value in zip(names, on_term.data, strict=True):
        allowed, noun = (types.LOCAL_TASK_ID,), "local task"
        if name == "unblock":
            allowed, noun = (types.LOCAL_TASK_ID, types.DATA_TASK_ID, types.INPUT_QUEUE), "task or queue"
        if is_ssa(value.data):
            _fail(
                ev, node, f"'.{name}' of on_term takes the id of a {noun} that is known at compile time, and this "
                f"'{value.type}' is known at run time only (LIB-021)",
            )  # fmt: skip
        if value.type not in allowed and not isinstance(value.data, Callable):
            _fail(ev, node, f"'.{name}' of on_term takes the id of a {noun}, not a '{value.type}' (LIB-021)")
    return array


def check_queues(ev: Evaluator, pe: PeProgram) -> None:
    """Raise CslError if <message_passing> is to work on a queue that <memcpy/memcpy> uses in the same PE."""
    if pe.message_queues is None or not any(module.path == MEMCPY for module in ev.instances):
        return
    memcpy = ev.session.target.memcpy
    source, node = pe.uses["message_passing", 0]
    for name, number, kept in zip(
        ("input", "output"), pe.message_queues, (memcpy.input_queues, memcpy.output_queues), strict=True
    ):
        if number in kept:
            ids = " and ".join(map(str, kept))
            noun = "queue" if len(kept) == 1 else "queues"
            with recovery.checked(ev.session):
                _fail_at(
                    source, node, f"{name} queue {number} belongs to <memcpy/memcpy>, which uses {name} {noun} {ids}; "
                    f"choose another {name}_queue_id for <message_passing>",
                )  # fmt: skip


def concerns(session: Session, pe: PeProgram) -> bool:
    """Return True if a PE imports <message_passing> or uses one of its colors."""
    colors = session.target.message_colors
    return pe.message_queues is not None or any(
        ("color", color) in pe.uses or color in pe.queue_colors.values() for color in colors
    )


def check(session: Session, pes: Sequence[PeProgram], effects: Iterable[Effect]) -> int | None:
    """Return the color of the network if a PE imports <message_passing>.

    Raises CslError if anything else in the program uses one of its colors (LIB-004).
    """
    if all(pe.message_queues is None for pe in pes):
        return None
    colors = session.target.message_colors
    for effect in effects:
        if effect.name == "color" and effect.arguments[0].color in colors:
            with recovery.checked(session):
                _fail_color(effect.source, effect.node, effect.arguments[0].color, colors)
    for pe in pes:
        for color in colors[:-1]:
            if ("color", color) in pe.uses:
                with recovery.checked(session):
                    _fail_color(*pe.uses["color", color], color, colors)
        for (output, number), color in pe.queue_colors.items():
            mine = pe.message_queues is not None and number == pe.message_queues[output]
            if color == colors[-1] and not mine:
                source, node = pe.uses["output queue" if output else "input queue", number]
                with recovery.checked(session):
                    _fail_color(source, node, color, colors)
    return colors[-1]


def _fail_color(source: Source, node: syntax.Node, color: int, colors: Sequence[int]) -> NoReturn:
    _fail_at(
        source, node, f"color {color} belongs to <message_passing>, which this program imports and which uses the "
        f"colors {', '.join(map(str, colors[:-1]))} and {colors[-1]} everywhere; choose another color (LIB-004)",
    )  # fmt: skip


def _fail(ev: Evaluator, node: syntax.Node, message: str) -> NoReturn:
    """End the compilation with an error at the program's call of the library."""
    raise Refused(ev.error(node, message).diagnostics)


def _fail_at(source: Source, node: syntax.Node, message: str) -> NoReturn:
    raise CslError([Diagnostic(source, node.start, node.end, message)])
