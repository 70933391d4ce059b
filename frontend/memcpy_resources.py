"""Resources reserved by <memcpy/memcpy>: errors and warnings about programs that import it and use them too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic, Source
from ..dialects import wse
from . import recovery
from .effects import Effect
from .evaluator import Evaluator
from .modules import LIBRARIES
from .pe import PeProgram
from .session import Session

MEMCPY = LIBRARIES / "memcpy" / "memcpy.csl"


def check_pe(ev: Evaluator, pe: PeProgram) -> None:
    """Raise CslError if a PE that imports memcpy uses its colors or task ids; warns of its queues and registers."""
    if not any(module.path == MEMCPY for module in ev.instances):
        return
    memcpy = ev.session.target.memcpy
    for (kind, number), (source, node) in pe.uses.items():
        if kind == "color" and number in memcpy.colors:
            with recovery.checked(ev.session):
                _fail(source, node, f"color {number}", _listed("colors", memcpy.colors), "color")
    for (kind, number), binding in pe.bindings.items():
        is_dispatcher = number == ev.session.target.teardown_task and binding.task.module.is_library
        if kind is wse.TaskKind.LOCAL and number in memcpy.local_task_ids and not is_dispatcher:
            ids = _listed("local task ids", memcpy.local_task_ids)
            with recovery.checked(ev.session):
                _fail(binding.source, binding.node, f"local task id {number}", ids, "id")
        if kind is wse.TaskKind.CONTROL and number in memcpy.control_task_ids:
            ids = _listed("control task ids", memcpy.control_task_ids)
            with recovery.checked(ev.session):
                _fail(binding.source, binding.node, f"control task id {number}", ids, "id")
    shared = {
        "input queue": memcpy.input_queues,
        "output queue": memcpy.output_queues,
        "microthread": memcpy.microthreads,
        "dsr_dest": memcpy.dsr_dest,
        "dsr_src1": memcpy.dsr_src1,
    }
    for (output, number), (library, source, node) in pe.initialized.items():
        kind = "output queue" if output else "input queue"
        if library is not None and number in shared[kind]:
            ids = " and ".join(map(str, shared[kind]))
            message = (
                f"{kind} {number} belongs to <memcpy/memcpy>, which uses {kind}{'s' * (len(shared[kind]) > 1)} {ids}"
            )
            message += f"; give {library} other queues"
            with recovery.checked(ev.session):
                raise CslError([Diagnostic(source, node.start, node.end, message)])
    for (kind, number), (source, node) in pe.uses.items():
        if number in shared.get(kind, ()):
            warning = (
                f"{source.location(node.start)}: warning: <memcpy/memcpy> uses {kind} {number} too, which is free "
                "between the host's commands only; use another"
            )
            if warning not in ev.session.warnings:
                ev.session.warnings.append(warning)


def check_routes(session: Session, effects: Iterable[Effect], streams: Mapping[int, str]) -> None:
    """Raise CslError if a route is given to a color of memcpy, which has routes everywhere in the rectangle.

    Warns of routes of colors on which the host streams, `streams` with "in" or "out": what PEs send there meets that.
    """
    colors = session.target.memcpy.colors
    for effect in effects:
        if effect.name == "color" and effect.arguments[0].color in streams:
            color = effect.arguments[0].color
            way = "sends to PEs" if streams[color] == "in" else "receives from PEs"
            warning = (
                f"{effect.source.location(effect.node.start)}: warning: this gives color {color} a route, but the host "
                f"{way} on it, as <memcpy/get_params> was told, and memcpy routes it itself; choose another color"
            )
            if warning not in session.warnings:
                session.warnings.append(warning)
        if effect.name == "color" and effect.arguments[0].color in colors:
            color = effect.arguments[0].color
            with recovery.checked(session):
                _fail(effect.source, effect.node, f"color {color}", _listed("colors", colors), "color")
        if effect.name == "color" and effect.arguments[0].swap and effect.arguments[0].color ^ 1 in colors:
            color = effect.arguments[0].color
            used = f"color {color} swaps with color {color ^ 1}, which"
            with recovery.checked(session):
                _fail(effect.source, effect.node, used, _listed("colors", colors), "color")


def _listed(what: str, numbers: tuple[int, ...]) -> str:
    return f"the {what} {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _fail(source: Source, node: syntax.Node, used: str, kept: str, kind: str) -> NoReturn:
    rule = f"{used} belongs to <memcpy/memcpy>, which this program imports and which reserves {kept}"
    message = f"{rule}; choose another {kind}"
    raise CslError([Diagnostic(source, node.start, node.end, message)])
