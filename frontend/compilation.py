"""From a layout file to a `wse` module: the layout is evaluated, PEs are sorted into classes, each class compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable as Function
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, Region

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic
from ..diagnostics.errors import LoomError, shown
from ..dialects import wse
from ..dialects.machine.code import CodeOperation
from ..dialects.machine.configuration import CONFIGURATION, configuration_attr
from ..dialects.machine.sharing import Sharing
from ..dialects.machine.source_names import UNNAMED, set_source_name
from . import (
    calls,
    control,
    emit,
    global_variables,
    linkage,
    memcpy_resources,
    message_passing,
    packing,
    recovery,
    types,
    unused_globals,
)
from .blocks import run_whole
from .builtins.exports import Export, Name, host_element, unify_export_types
from .builtins.layout import Tiles
from .builtins.tasks import bind_alternates, check_ids, task_arguments
from .classes import UnitClass, group
from .effects import Effect
from .emit import Builder
from .errors import Ended, Poisoned, UnknownDescriptor, in_program
from .evaluator import Evaluator, split_lanes, suggestion
from .frames import Frame
from .lint import lint
from .modules import Global, Module, is_exported_variable
from .packing import to_words
from .pe import Binding, PeProgram, Rotation, color_symbol, location
from .places import Memory
from .rectangle import Places, Routers, check_tiles, placement
from .registry import load_rules
from .search_path import SearchPath
from .session import DEFAULT_CALL_DEPTH, Options, Session
from .values import VOID, Callable, ChoiceChanges, Lanes, Split, Value, WidthChanges, boolean, string

MAX_PYTHON_FRAMES = 60_000
"""Python frames evaluation may use; calls of the program are bounded by `MAX_CALL_DEPTH`, trees by the parser."""

MAX_CALL_DEPTH = 1000
"""Calls within calls, whatever the command line says."""


@dataclass
class ExportedName:
    """A name of the program the host may use."""

    name: str
    kind: str
    """"buffer" or "function"."""
    type: str
    """As CSL writes it."""
    dtype: str | None = None
    """Of an element of a buffer: "f32", "u16"."""
    mutable: bool = False
    arguments: list[str] = field(default_factory=list[str])


@dataclass
class CompiledLayout:
    """A program in `wse` and `dsd` IR, and what the host must know of it."""

    module: ModuleOp
    rectangle: tuple[int, int]
    exports: dict[str, ExportedName]
    params: dict[str, Any]
    colors: dict[str, int]
    warnings: list[str]
    programs: int = 1
    """How many different programs the PEs run."""
    emitted_bodies: int = 0
    """How many functions and tasks have been emitted, rather than shared with a program that had emitted them."""
    imports_memcpy: bool = False
    """True if a PE imports <memcpy/memcpy>, which a program compiled without `--memcpy` cannot use."""


@contextmanager
def _deep() -> Generator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, MAX_PYTHON_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def compile_layout(
    path: Path | str,
    *,
    arch: str = "wse2",
    fabric_dims: tuple[int, int] | None = None,
    fabric_offsets: tuple[int, int] = (4, 1),
    params: Mapping[str, str | int | float | bool] | None = None,
    colors: Mapping[str, int] | None = None,
    memcpy: bool = False,
    channels: int = 0,
    print: Function[[str], None] = print,
    import_paths: Sequence[Path | str] = (),
    fp16_format: str = "f16",
    max_inlined_iterations: int | None = None,
    comptime_func_depth_limit: int | None = None,
    link_sections: Mapping[str, int] | None = None,
    notice: Function[[str], None] | None = None,
    lint: bool = True,
) -> CompiledLayout:
    """Compile a CSL program from its layout file.

    `params` and `colors` are what the command line gives to params of the layout file. `print` takes the lines of
    @comptime_print. `fp16_format` (f16, bf16, cb16) is the one type of 16-bit floats at run time, which @fp16()
    gives. `import_paths` are directories in which modules are looked for too, before those that the environment
    variable CSL_IMPORT_PATH names. `max_inlined_iterations` limits each inline loop, `comptime_func_depth_limit` calls
    within calls; `link_sections` gives byte addresses to link sections. `notice` takes a line now and then while the
    compilation takes long. With `lint` there are warnings about tasks, queues and variables that cannot do what they
    are declared for. Raises CslError, with all errors of the program, or LoomError.
    """
    session = start_session(
        arch=arch, fabric_dims=fabric_dims, fabric_offsets=fabric_offsets, memcpy=memcpy, channels=channels,
        print=print, import_paths=import_paths, fp16_format=fp16_format, notice=notice,
    )  # fmt: skip
    options = session.options
    options.max_inlined_iterations = max_inlined_iterations
    options.call_depth = min(comptime_func_depth_limit or DEFAULT_CALL_DEPTH, MAX_CALL_DEPTH)
    options.sections = dict(link_sections or {})
    options.lint = lint

    def compile(session: Session) -> CompiledLayout:
        return _Compiler(session, Path(path), dict(params or {}), dict(colors or {})).compile()

    with deep_evaluation(str(path)):
        try:
            return compile(session)
        except CslError as error:
            raise recovery.all_errors(error, session.files, lambda found: compile(again(session, found))) from None


def again(session: Session, mistakes: recovery.Mistakes) -> Session:
    """Return a session for looking for all errors of a program, which prints nothing again."""

    def ignore(line: str) -> None:
        pass

    again = Session(replace(session.options, print=ignore))
    again.files, again.mistakes = session.files, mistakes
    return again


def start_session(
    *,
    arch: str,
    fabric_dims: tuple[int, int] | None,
    fabric_offsets: tuple[int, int],
    memcpy: bool,
    channels: int,
    print: Function[[str], None],
    import_paths: Sequence[Path | str],
    fp16_format: str,
    notice: Function[[str], None] | None,
) -> Session:
    """Return a session with options as `compile_layout` takes them; raises LoomError for those that there are not."""
    if fp16_format not in types.FP16_FORMATS:
        raise LoomError(f"--fp16-format takes {', '.join(types.FP16_FORMATS)}, not {fp16_format!r}")
    search = SearchPath.of(import_paths)
    session = Session(Options(arch, fabric_dims, fabric_offsets, memcpy, channels, print, search, notice, fp16_format))
    session.warnings += search.warnings()
    return session


@contextmanager
def deep_evaluation(name: str) -> Generator[None]:
    """Evaluate inside with room for deep trees and calls, and numpy's warnings off; `name` is of the program."""
    with _deep(), np.errstate(all="ignore"):
        try:
            yield
        except CslError as error:
            raise in_program(error) from None
        except RecursionError:
            raise LoomError("the program is nested too deeply to be evaluated; simplify it", name) from None


class _Compiler:
    def __init__(self, session: Session, path: Path, params: dict[str, Any], colors: dict[str, int]) -> None:
        self.session = session
        self.path = path
        self.params = params
        self.colors = colors

    def compile(self) -> CompiledLayout:
        ev, module = self._layout()
        tiles = [effect.arguments[0] for effect in ev.effects if effect.name == "tile"]
        with recovery.going_on(ev):
            check_tiles(self.session, tiles)
        assembly = Assembly(self.session, str(self.path))
        program = assembly.program(_symbol(self.path.stem), tiles, ev.effects)
        program.location = location(module.file.source, module.file)
        return assembly.result(program, self._all_params(ev, module), dict(self.colors))

    # The layout

    def _layout(self) -> tuple[Evaluator, Module]:
        ev = Evaluator(self.session, Lanes(1))
        module = ev.load(self.path, self._bindings(), "")
        self._check_bindings(module)
        blocks = [d for d in module.file.declarations if isinstance(d, syntax.Layout)]
        if len(blocks) != 1:
            at = blocks[1] if blocks else module.file
            message = (
                "a program has one layout block; remove this one"
                if blocks
                else "this file has no layout block; compile the layout file"
            )
            raise CslError([Diagnostic(module.file.source, at.start, min(at.end, at.start + 1), message)])
        self._infer_bindings(ev, module)
        ev.in_layout = True
        for kind in (syntax.Layout, syntax.ComptimeBlock):
            for declaration in module.file.declarations:
                if isinstance(declaration, kind) and not (kind is syntax.ComptimeBlock and self._is_code(ev)):
                    with recovery.going_on(ev), ev.framed(Frame(module, comptime=True)), ev.scope():
                        run_whole(ev, declaration.body.statements)
        if self.session.rectangle is None:
            ev.frames.append(Frame(module))
            ev.frame = ev.frames[-1]
            ev.fail_for_lack(blocks[0], "the layout does not set a rectangle; call @set_rectangle first")
        ev.frame = Frame(module, comptime=True)
        if self.session.options.lint:
            unused_globals.note(ev)
        return ev, module

    def _is_code(self, ev: Evaluator) -> bool:
        """Return True if the layout file is the code of PEs too; its comptime blocks are theirs then."""
        paths = {effect.arguments[0].path for effect in ev.effects if effect.name == "tile"}
        return any(path.samefile(self.path) for path in paths)

    def _bindings(self) -> dict[str, Value]:
        bindings: dict[str, Value] = {}
        for name, given in self.params.items():
            bindings[name] = _from_command_line(name, given)
        for name, number in self.colors.items():
            bindings[name] = Value(types.COLOR, number)
        return bindings

    def _check_bindings(self, module: Module) -> None:
        for name in (*self.params, *self.colors):
            found = module.globals.get(name)
            if found is None or not (isinstance(found.node, syntax.Variable) and found.node.kind == "param"):
                have = [
                    n
                    for n, g in module.globals.items()
                    if isinstance(g.node, syntax.Variable) and g.node.kind == "param"
                ]
                known = f"its params are: {', '.join(have)}" if have else "it has none"
                what = "color" if name in self.colors else "value"
                raise LoomError(
                    f"a {what} is given for '{name}', which is not a param of this file; {known}", str(self.path)
                )

    def _infer_bindings(self, ev: Evaluator, module: Module) -> None:
        """Give params of the command line the type of their declaration."""
        for name in self.params:
            found = module.globals[name]
            with ev.framed(Frame(module, comptime=True)):
                global_variables.resolve(ev, found, found.node)

    def _all_params(self, ev: Evaluator, module: Module) -> dict[str, Any]:
        """Return every param of the layout file that has a number, truth value or string, given or by default."""
        result: dict[str, Any] = dict(self.params)
        for name, found in module.globals.items():
            value = found.value
            if (
                name in result
                or value is None
                or not isinstance(found.node, syntax.Variable)
                or found.node.kind != "param"
            ):
                continue
            if isinstance(value.data, bool | int | float):
                result[name] = value.data
            elif isinstance(value.data, bytes):
                result[name] = value.data.decode(errors="replace")
        return result


class Assembly:
    """Puts a `wse.program` together from PEs with code and from routes, wherever they were stated."""

    def __init__(self, session: Session, name: str) -> None:
        self.session = session
        self.name = name
        """The program in warnings."""
        self.routers = Routers(session)
        self.used_colors: set[int] = set()
        self.effects: list[Effect] = []
        """What the programs of PEs say of routes."""
        self.streams: dict[tuple[int, str], list[Places]] = {}
        self.network: int | None = None
        """The color of <message_passing>, if the program imports it."""
        self.pes: list[PeProgram] = []
        """Those that import <message_passing> or use its colors."""
        self.count = 0
        """How many different programs the PEs run."""

    def program(self, name: str, tiles: list[Tiles], effects: Sequence[Effect]) -> wse.ProgramOp:
        """Return the program of a rectangle, with as few programs of PEs as their params allow."""
        session = self.session
        for effect in effects:
            if effect.name == "color":
                with recovery.checked(session):
                    self.routers.add(effect, of_layout=True)
        with recovery.checked(session):
            self.routers.number_filters()
        assert session.rectangle is not None
        pes: list[wse.PeOp] = []
        exports: list[tuple[PeProgram, Export]] = []
        names: set[str] = set()
        sharing = Sharing()
        for unit_class in group(tiles):
            pending = [unit_class]
            while pending:
                current = pending.pop()
                try:
                    pe, op = self._pe(current, names)
                except WidthChanges as change:
                    session.bodies.drop()
                    session.widths[current.path.stem, change.symbol, change.place] = change.unit
                    pending.append(current)
                    continue
                except ChoiceChanges as change:
                    session.bodies.drop()
                    held = current.held.setdefault(change.symbol, [])
                    held += [each for each in change.alternatives if each not in held]
                    pending.append(current)
                    continue
                except Split as split:
                    session.bodies.drop()
                    whole = Lanes(len(current.columns))
                    pending += [
                        current.select(part.index)
                        for part in reversed(split_lanes(whole, split.column))
                        if part.index is not None
                    ]
                    continue
                except CslError as error:
                    if session.mistakes is None or isinstance(error, Ended):
                        raise
                    session.mistakes.add(error)
                    session.bodies.complete()
                    continue
                if session.mistakes is not None:
                    pes.append(op)
                    continue
                sharing.add(op)
                session.bodies.complete()
                pes.append(op)
                exports += [(pe, export) for export in pe.exports.values()]
        if pes and session.asks_for_queues:
            pes[0].attributes["ordered"] = UnitAttr()
        if pes and session.main_thread_changes:
            pes[0].attributes["main_thread_changes"] = UnitAttr()
        if session.imports_memcpy:
            with recovery.checked(session):
                streams = dict(self.streams.keys())  # the way of each color
                memcpy_resources.check_routes(session, [*effects, *self.effects], streams)
        with recovery.checked(session):
            self.network = message_passing.check(session, self.pes, [*effects, *self.effects])
        if session.mistakes is not None:
            rest = wse.ProgramOp(name, session.target.name, *session.rectangle, Region(Block(self._fabric() + pes)))
            session.mistakes.rest = ModuleOp([rest])
            raise Poisoned(session.mistakes.error(()).diagnostics)
        self._check_exports(exports)
        for section in session.options.sections.keys() - session.sections_used:
            session.warnings.append(
                f"{self.name}: warning: the link section '{section}' contains no variable that is used"
            )
        unify_export_types(pes)
        self.count = len(pes)
        return wse.ProgramOp(name, session.target.name, *session.rectangle, Region(Block(self._fabric() + pes)))

    def result(self, program: wse.ProgramOp, params: dict[str, Any], colors: dict[str, int]) -> CompiledLayout:
        """Return the program with what the host must know of it."""
        session = self.session
        assert session.rectangle is not None
        if session.options.lint:
            session.warnings += lint(session, program)
        return CompiledLayout(
            ModuleOp([program]),
            session.rectangle,
            {name.name: _exported(name) for name in session.exports.values()},
            params,
            colors,
            [shown(warning, lines=True) for warning in session.warnings],
            self.count,
            session.bodies.emitted,
            session.imports_memcpy,
        )

    # The fabric

    def _fabric(self) -> list[Operation]:
        changing = self.session.changing_colors
        if self.session.filters_change:
            changing = changing | self.session.filters.by_color.keys()
        colors = sorted(self.used_colors | self.routers.colors())
        operations: list[Operation] = []
        for number in colors:
            operations.append(color := wse.ColorOp(color_symbol(number), number, changes=number in changing))
            set_source_name(color, self.session.color_name(number) or UNNAMED)
        operations += self.routers.operations()
        for (number, way), places in self.streams.items():
            operations.append(wse.HostStreamOp(color_symbol(number), wse.StreamWay(way), placement(places)))
        if self.network is not None:
            operations.append(wse.MessageNetworkOp(color_symbol(self.network)))
        return operations

    # PEs

    def _pe(self, unit_class: UnitClass, names: set[str]) -> tuple[PeProgram, wse.PeOp]:
        session = self.session
        before = 0 if session.mistakes is None else session.mistakes.count
        session.steps.progress()
        lanes = Lanes(len(unit_class.columns))
        pe = PeProgram(session, unit_class.path.stem, unit_class.columns, unit_class.rows, unit_class.held, to_words)
        pe.state["lanes"] = lanes
        ev = Evaluator(session, lanes, pe)
        effect = unit_class.tiles.effect
        bindings = {name: pe.adopted(value) for name, value in unit_class.bindings(lanes).items()}
        module = ev.load(unit_class.path, bindings, "")
        for name in bindings:
            found = module.globals.get(name)
            if found is None or not (isinstance(found.node, syntax.Variable) and found.node.kind == "param"):
                at = effect.source.location(effect.node.start)
                params = [n for n, g in module.globals.items() if getattr(g.node, "kind", "") == "param"]
                advice = suggestion(name, params) or "; remove it"
                warning = f"{at}: warning: '{unit_class.path.name}' has no param '{name}'{advice}"
                if warning not in session.warnings:
                    session.warnings.append(warning)
        bodies = _Bodies(ev, pe)
        bodies.elaborate()
        operations = bodies.emit()
        name = _fresh(_symbol(pe.name), names)
        names.add(name)
        message_passing.check_queues(ev, pe)
        memcpy_resources.check_pe(ev, pe)
        if message_passing.concerns(session, pe):
            self.pes.append(pe)
        for route in pe.effects:
            with recovery.going_on(ev):
                self.routers.add(route)
        self.effects += pe.effects
        for stream in pe.host_streams:
            self.streams.setdefault(stream, []).append((unit_class.columns, unit_class.rows))
        self.used_colors |= pe.colors
        where = placement([(unit_class.columns, unit_class.rows)])
        if session.mistakes is not None:
            files = {module.file.source.path for module in ev.instances}
            if session.mistakes.count > before or session.mistakes.are_in(files):
                # What passes would find in its code may follow from its errors; its buffers are at most too few.
                operations = [each for each in operations if isinstance(each, wse.BufferOp)]
                session.bodies.drop()
            session.bodies.complete()
        for queue in operations:
            if isinstance(queue, wse.QueueOp):
                is_output, number = isinstance(queue, wse.OutputQueueOp), queue.queue_id
                written = None if number is None else pe.queue_names.get((is_output, number))
                set_source_name(queue, written or UNNAMED)
        op = wse.PeOp(name, where, Region(Block(operations)), main_thread=pe.main_thread)
        settings = {at: value for at, value in pe.configuration.items() if at in session.target.settings}
        if settings:
            op.attributes[CONFIGURATION] = configuration_attr(settings)
        op.location = location(module.file.source, module.file)
        if session.options.lint:
            unused_globals.note(ev)
        return pe, op

    def _check_exports(self, exports: list[tuple[PeProgram, Export]]) -> None:
        """Warn of names of the layout that no PE exports: the host has no use of them."""
        have = {export.name for _, export in exports}
        for name in self.session.exports.values():
            if name.name not in have:
                message = f"no PE exports '{name.name}'; add @export_symbol to a comptime block of its code"
                at = name.source.location(name.node.start)
                self.session.warnings.append(f"{at}: warning: {message}, or remove this")


class _Bodies:
    """Evaluates what a PE's files say at their top level, then emits functions and tasks."""

    def __init__(self, ev: Evaluator, pe: PeProgram) -> None:
        self.ev = ev
        self.pe = pe
        self.done = 0
        self.emitted: list[Operation] = []
        self.functions: dict[tuple[int, int], str] = {}
        self.finished: set[Any] = set()

    def elaborate(self) -> None:
        """Evaluate the imports and comptime blocks of all modules, also of those found on the way."""
        ev = self.ev
        while self.done < len(ev.instances):
            module = ev.instances[self.done]
            self.done += 1
            declared = ev.session.files.declared(module.file)
            for name in declared.elaborated:
                found = module.globals[name]
                with recovery.going_on(ev), ev.framed(Frame(module, comptime=True)):
                    if isinstance(found.node, syntax.Function):
                        linkage.check_function(ev, found)
                        continue
                    global_variables.resolve(ev, found, found.node)
                    if is_exported_variable(found.node):
                        global_variables.global_place(ev, found, found.node)
            for block in declared.comptime_blocks:
                with recovery.going_on(ev), ev.framed(Frame(module, comptime=True)), ev.scope():
                    run_whole(ev, block.body.statements)
        linkage.check_symbols(ev, self._type_of)

    def _type_of(self, found: Global) -> types.Type | None:
        with self.ev.framed(Frame(found.module, comptime=True)):
            global_variables.resolve(self.ev, found, found.node)
        return found.type

    def emit(self) -> list[Operation]:
        """Return the operations of the PE, in order."""
        pe = self.pe
        bind_alternates(self.ev)
        check_ids(self.ev)
        while pending := [key for key in (*pe.exports, *pe.bindings) if key not in self.finished]:
            postponed: UnknownDescriptor | None = None
            before = len(self.finished)
            for key in pending:
                try:
                    self._emit(key)
                except UnknownDescriptor as error:
                    # Code emitted later may say what the variable holds.
                    postponed = postponed or error
                    continue
                except CslError as error:
                    if self.ev.mistakes is None or isinstance(error, Ended):
                        raise
                    recovery.note(self.ev, error)
                self.finished.add(key)
            if len(self.finished) == before and postponed is not None:
                raise postponed
            self.elaborate()
        initial = self._initial()
        self._dispatchers()
        pe.add_initialized_queues()
        if any(kind is wse.TaskKind.CONTROL for kind, _ in pe.bindings):
            # Control wavelets come in by queues that nothing else may read.
            for number, (module, node) in pe.unblocked_queues.items():
                if (wse.TaskKind.DATA, number) not in pe.bindings:
                    with self.ev.framed(Frame(module, comptime=True)):
                        pe.unblock_queue(self.ev, number, node)
            self._unblock_shared_ids()
        pe.set_control_tables()
        with recovery.going_on(self.ev):
            pe.place_sections(self.ev)
        exported = [self._export(export) for export in pe.exports.values()]
        blocked = self._blocked_microthreads()
        return [
            *pe.operations,
            *pe.initializers,
            *pe.fifos,
            *initial,
            *blocked,
            *exported,
            *pe.functions_emitted,
            *self.emitted,
        ]

    def _unblock_shared_ids(self) -> None:
        """Let control wavelets of colors that share the id of a local task, which is not blocked, start control tasks.

        So it is where data tasks have the ids of colors.
        """
        ev, pe = self.ev, self.pe
        for (kind, number), binding in list(pe.bindings.items()):
            is_color = ev.session.target.data_tasks_by_color and number in pe.colors
            if kind is wse.TaskKind.LOCAL and is_color and (kind, number) not in pe.blocked:
                with ev.framed(Frame(binding.task.module, comptime=True)):
                    pe.unblock_queue(ev, number, binding.node)

    def _initial(self) -> list[Operation]:
        """Return what registers hold before the program starts."""
        pe, ev = self.pe, self.ev
        if not pe.initial_loads:
            return []
        block = Block()
        ev.builder = Builder(block)
        try:
            for module, load in pe.initial_loads:
                with recovery.going_on(ev), ev.framed(Frame(module)):
                    load()
        finally:
            ev.builder = None
        return [wse.InitialOp(Region(block))]

    def _blocked_microthreads(self) -> list[Operation]:
        """Return the microthreads that are blocked from the start on."""
        found: list[Operation] = []
        for number, (module, node) in sorted(self.pe.blocked_microthreads.items(), key=lambda each: each[0]):
            op = wse.BlockedMicrothreadOp(number)
            op.location = location(module.file.source, node)
            found.append(op)
        return found

    def _dispatchers(self) -> None:
        """Emit the dispatchers of calls through pointers, until none adds a function."""
        pe, ev = self.pe, self.ev
        emitted: list[Operation] = []
        before = (-1, -1)
        while before != (len(pe.functions), len(pe.dispatchers)):
            before = (len(pe.functions), len(pe.dispatchers))
            emitted = []
            for type, symbol in list(pe.dispatchers.items()):
                inputs = [types.U16, *type.parameters]
                block = Block(arg_types=[emit.scalar(item) for item in inputs])
                ev.builder = Builder(block)
                ev.code.location = pe.called_indirectly[type]
                module = ev.instances[0]
                values = [Value(item, argument) for item, argument in zip(inputs, block.args, strict=True)]
                try:
                    with ev.framed(Frame(module, called=type)):
                        result = calls.emit_dispatcher(ev, type, values, module.file)
                        outputs = [] if type.result is types.VOID else [ev.ssa(result, module.file)]
                        ev.code(wse.ReturnOp(*outputs))
                finally:
                    ev.builder = None
                signature = FunctionType.from_lists([emit.scalar(t) for t in inputs], [value.type for value in outputs])
                emitted.append(wse.FuncOp(symbol, signature, Region(block)))
        self.emitted += emitted

    def _export(self, export: Export) -> Operation:
        target = export.type
        element = target.target if isinstance(target, types.Pointer) else None
        if isinstance(element, types.Array):
            element = element.element
        stored = None if element is None else emit.stored(element)
        declared = self.ev.session.exports.get(export.name)
        op = wse.ExportOp(
            export.symbol,
            None if export.symbol == export.name else export.name,
            unsigned=stored is not None and _is_unsigned(stored),
            unsigned_arguments=_unsigned(target.parameters) if isinstance(target, types.Function) else (),
            read_only=export.function is None and declared is not None and not declared.mutable,
            points_to=export.pointer,
        )
        op.location = location(export.source, export.node)
        return op

    def _emit(self, key: str | tuple[wse.TaskKind, int]) -> None:
        """Emit what is exported under a name, or bound to an id."""
        if isinstance(key, str):
            self._function(self.pe.exports[key])
        else:
            self._task(key)

    def _function(self, export: Export) -> None:
        """Emit an exported function."""
        function = export.function
        if function is None:
            return
        key = (id(function.module), id(function.node))
        symbol = self.functions.get(key)
        if symbol is None:
            ev = self.ev
            with ev.framed(Frame(function.module, comptime=True)):
                parameters = [(p, ev.type_of(p.type)) for p in function.node.parameters]
                for parameter, type in parameters:
                    if not emit.has_one_register(type):
                        ev.fail(parameter, f"a function the host launches takes numbers, not '{type}'")
            arguments = [type for _, type in parameters]
            written = "function", function.module.key, id(function.node), tuple(arguments)
            op = calls.make_function(ev, written, function, lambda: self._body(function, arguments))
            symbol = self.functions[key] = op.sym_name.data
            self.emitted.append(op)
        export.symbol = symbol

    def _body(self, function: Callable, arguments: list[types.Type]) -> Region:
        ev = self.ev
        # A packed struct comes as the integer of its bits.
        given = [_backing_integer(type) for type in arguments]
        block = Block(arg_types=[emit.scalar(type) for type in given])
        ev.builder = Builder(block)
        try:
            values = [Value(type, value) for type, value in zip(given, block.args, strict=True)]
            with ev.framed(Frame(function.module, comptime=True)):
                values = [
                    value if value.type == type else packing.reinterpret(ev, value, type, function.node)
                    for type, value in zip(arguments, values, strict=True)
                ]
            calls.emit_function(ev, function, values)
            ev.code(wse.ReturnOp())
        finally:
            ev.builder = None
        return Region(block)

    def _rotating_body(self, binding: Binding, rotation: Rotation, arguments: list[types.Type]) -> Region:
        """Return the body of a data task that counts its starts, and runs another task instead at the limit."""
        ev, task, other = self.ev, binding.task, rotation.alternate
        block = Block(arg_types=[emit.scalar(_backing_integer(type)) for type in arguments])
        counter = Memory(rotation.counter, types.U16, const=False)
        ev.builder = Builder(block)

        def run(function: Callable, count: Value) -> Value:
            counter.store(ev, count, function.node)
            given = [Value(_backing_integer(type), value) for type, value in zip(arguments, block.args, strict=True)]
            given = given[: len(function.node.parameters)]
            with ev.framed(Frame(function.module, comptime=True)):
                given = [
                    value if value.type == type else packing.reinterpret(ev, value, type, function.node)
                    for type, value in zip(arguments, given, strict=False)
                ]
            calls.emit_function(ev, function, given, Frame(function.module, function.node))
            return VOID

        try:
            with ev.framed(Frame(task.module, comptime=True)):
                ev.code.location = location(binding.source, binding.node)
                count = ev.ssa(counter.load(ev, task.node), task.node)
                limit, one = (ev.code.constant(types.U16, number) for number in (rotation.limit, 1))
                more = emit.binary(ev.code, "+", types.U16, count, one)
                control.branch(
                    ev, emit.binary(ev.code, "==", types.U16, count, limit),
                    lambda: run(other, Value(types.U16, 0)), lambda: run(task, Value(types.U16, more)), task.node,
                )  # fmt: skip
            ev.code(wse.ReturnOp())
        finally:
            ev.builder = None
        return Region(block)

    def _task(self, key: tuple[wse.TaskKind, int]) -> None:
        ev, pe = self.ev, self.pe
        binding = pe.bindings[key]
        arguments = task_arguments(ev, binding)
        queue = None
        if binding.kind is wse.TaskKind.DATA:
            with ev.framed(Frame(binding.task.module, comptime=True)):
                if ev.session.target.data_tasks_by_color:
                    queue = pe.queue(ev, False, None, binding.id, binding.node)
                else:
                    queue = pe.queue(ev, False, binding.id, None, binding.node)

        def make(symbol: str, body: Region, _: CodeOperation | None) -> wse.TaskOp:
            return wse.TaskOp(
                symbol,
                binding.kind,
                body,
                queue=queue,
                id=None if binding.kind is wse.TaskKind.DATA else binding.id,
                active=key in pe.active,
                blocked=key in pe.blocked,
            )

        task, rotation = binding.task, binding.rotation
        if rotation is not None:
            op = make(binding.symbol, self._rotating_body(binding, rotation, arguments), None)
        else:
            written = "task", task.module.key, id(task.node), tuple(arguments), binding.symbol
            op = ev.session.bodies.make(ev, written, lambda: binding.symbol, lambda: self._body(task, arguments), make)
        op.location = location(binding.task.module.file.source, binding.task.node)
        self.emitted.append(op)


def _backing_integer(type: types.Type) -> types.Type:
    return types.Int(types.bit_width(type) or 0, False) if isinstance(type, types.Record) else type


def _is_unsigned(type: types.Type) -> bool:
    """Return True if the host sees numbers of a type as unsigned; of a cb16, which numpy does not have, the bits."""
    return type is types.CB16 or (isinstance(type, types.Int) and not type.signed)


def _unsigned(parameters: Sequence[types.Type]) -> list[int]:
    """Return the positions of the parameters that are unsigned integers."""
    held = [p.underlying if isinstance(p, types.Enum) else _backing_integer(p) for p in parameters]
    return [position for position, type in enumerate(held) if _is_unsigned(type)]


def _symbol(name: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def _fresh(name: str, names: set[str]) -> str:
    result, count = name, 1
    while result in names:
        count += 1
        result = f"{name}_{count}"
    return result


def _from_command_line(name: str, given: Any) -> Value:
    """Return a param's value as the command line writes it: a number, `true`, `false`, or else a string."""
    if isinstance(given, bool):
        return boolean(given)
    if isinstance(given, int):
        return Value(types.COMPTIME_INT, given)
    if isinstance(given, float):
        return Value(types.COMPTIME_FLOAT, given)
    text = str(given).strip()
    if text in ("true", "false"):
        return boolean(text == "true")
    with suppress(ValueError):
        return Value(types.COMPTIME_INT, int(text, 0))
    with suppress(ValueError):
        return Value(types.COMPTIME_FLOAT, float(text))
    return string(text)


def _exported(name: Name) -> ExportedName:
    type = name.type
    if isinstance(type, types.Function):
        return ExportedName(name.name, "function", str(type), arguments=[str(p) for p in type.parameters])
    element = host_element(type) if isinstance(type, types.Pointer) else type
    return ExportedName(name.name, "buffer", str(type), str(element), name.mutable)


# Last, as the rules' files include those that import this one.
load_rules()
