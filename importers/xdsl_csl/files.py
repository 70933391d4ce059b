"""CSL files from modules of xDSL's `csl` dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from xdsl.dialects import csl, memref
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Operation

from ...backend.csl import tree
from ...backend.csl.names import Names
from ...backend.csl.tree import NOWHERE
from ...backend.csl.types import refuse
from ...csl import syntax
from ...csl.source import Source
from ...csl.syntax import Declaration, Expression, Statement
from ...targets import Target
from .code import CslCode
from .types import function_type, type_expression


class ProgramWriter:
    """Writes the modules of one program: PE programs, and a layout unless the program is for one PE.

    `files` maps each file's name to its tree, the layout's first; `origins` maps nodes, by identity, to the operation
    they came from.
    """

    def __init__(self, modules: Sequence[csl.CslModuleOp], target: Target) -> None:
        self.target = target
        self.origins: dict[int, Operation] = {}
        self.layouts = [module for module in modules if module.kind.data is csl.ModuleKind.LAYOUT]
        self.programs = [module for module in modules if module.kind.data is csl.ModuleKind.PROGRAM]
        self.exports: dict[str, tuple[Expression, bool | None]] = {}
        files = Names()
        self.layout_file = f"{files.new(_stem(self.layouts[0]) if self.layouts else None, 'layout')}.csl"
        """Its stem is the name of the compiled program."""
        self._names = {module: f"{files.new(_stem(module), 'program')}.csl" for module in self.programs}

    def write(self) -> dict[str, syntax.File]:
        """Return the files; raises LoomError at what cannot be imported."""
        if len(self.layouts) > 1:
            raise refuse(self.layouts[1], "the module holds two layouts; keep one csl.module of kind layout")
        if not self.programs and not self.layouts:
            return {}
        if not self.layouts and len(self.programs) > 1:
            message = "no layout says where the programs run; add a csl.module of kind layout"
            raise refuse(self.programs[1], f"the module holds {len(self.programs)} programs and {message}")
        programs = {self._names[module]: FileWriter(self, module).write() for module in self.programs}
        layout = FileWriter(self, self.layouts[0]).write() if self.layouts else self._single_pe()
        return {self.layout_file: layout, **programs}

    def file_of(self, op: csl.SetTileCodeOp) -> str:
        """Return the file that a name in the layout means: xDSL's pipeline calls the module of `f.csl` `f_program`."""
        wanted = op.file.data
        stem = PurePosixPath(wanted).stem
        for module, file in self._names.items():
            if stem in (_stem(module), _stem(module).removesuffix("_program")):
                return file
        # A file of CSL beside the IR.
        return wanted

    def _single_pe(self) -> syntax.File:
        """Return a layout of one PE, for a program without one."""
        (name,) = self._names.values()
        fields: dict[str, Expression] = {}
        declarations: list[Declaration] = []
        params = [op for op in self.programs[0].body.block.ops if isinstance(op, csl.ParamOp)]
        if any(op.param_name.data == "memcpy_params" for op in params):
            sides = tree.structure({"width": tree.integer(1), "height": tree.integer(1)})
            module = tree.builtin("import_module", tree.string("<memcpy/get_params>"), sides)
            declarations.append(tree.declare("const", "memcpy", None, module))
            fields["memcpy_params"] = tree.call(tree.member("memcpy", "get_params"), tree.integer(0))
        zero, one = tree.integer(0), tree.integer(1)
        statements: list[Statement] = [
            tree.builtin("set_rectangle", one, one),
            tree.builtin("set_tile_code", zero, zero, tree.string(name), tree.structure(fields)),
            *self.export_names(),
        ]
        declarations.append(syntax.Layout(NOWHERE, NOWHERE, tree.block(statements)))
        return syntax.File(NOWHERE, NOWHERE, declarations, Source("", ""))

    def export_names(self) -> list[Statement]:
        """Return the `@export_name` calls of the layout for all programs."""
        statements: list[Statement] = []
        for name, (type, mutable) in self.exports.items():
            arguments: list[Expression] = [tree.string(name), type]
            if mutable is not None:
                arguments.append(tree.name("true" if mutable else "false"))
            statements.append(tree.builtin("export_name", *arguments))
        return statements


def _stem(module: csl.CslModuleOp) -> str:
    return module.sym_name.data.removesuffix(".csl")


class FileWriter:
    """Writes one module."""

    def __init__(self, program: ProgramWriter, module: csl.CslModuleOp) -> None:
        self.program = program
        self.module = module
        self.names = Names()
        self.declarations: list[Declaration] = []
        self._comptime: list[Statement] = []
        self._symbols: dict[str, str] = {}
        self._libraries: dict[str, str] = {}
        self._queues: dict[tuple[str, int], int] = {}
        self._data_tasks: list[tuple[csl.TaskOp, str, int]] = []
        params = [op.param_name.data for op in module.body.walk() if isinstance(op, csl.ParamOp)]
        self.names.reserve(params)
        for op in module.body.block.ops:
            if isinstance(op, csl.FuncOp | csl.TaskOp | memref.GlobalOp):
                self._symbols[op.sym_name.data] = self.names.new(op.sym_name.data)

    def write(self) -> syntax.File:
        """Return the tree; raises LoomError at what cannot be imported."""
        code = CslCode(self)
        for op in self.module.body.block.ops:
            code.write(op)
            self._take(code)
        self._bind_data_tasks()
        if self.program.target.queues_keep_color:
            for (way, queue), color in self._queues.items():
                number = tree.builtin(f"get_{way}_queue", tree.integer(queue))
                fields = tree.structure({"color": tree.builtin("get_color", tree.integer(color))})
                self._comptime.append(tree.builtin("initialize_queue", number, fields))
        if self._comptime:
            self.declarations.append(syntax.ComptimeBlock(NOWHERE, NOWHERE, tree.block(self._comptime)))
        return syntax.File(NOWHERE, NOWHERE, self.declarations, Source("", ""))

    def _take(self, code: CslCode) -> None:
        """Move what was written at file level to where a file can have it."""
        for statement in code.statements:
            if isinstance(statement, syntax.Variable):
                self.declarations.append(statement)
            else:
                self._comptime.append(statement)
        code.statements = []

    # What the code asks for

    def note(self, op: Operation, node: syntax.Node) -> None:
        """Remember which operation a node came from."""
        self.program.origins.setdefault(id(node), op)

    def add(self, op: Operation, declaration: Declaration) -> None:
        """Add a declaration to the file."""
        self.note(op, declaration)
        self.declarations.append(declaration)

    def symbol(self, op: Operation, name: str) -> str:
        """Return the identifier of a function, task or global array."""
        if name not in self._symbols:
            raise refuse(
                op, f"{op.name} names @{name}, which the module does not define; define it or correct the name"
            )
        return self._symbols[name]

    def library(self, name: str) -> str:
        """Import a library that scalar operations need; return its name in the file."""
        if name not in self._libraries:
            self._libraries[name] = self.names.new(name)
            module = tree.builtin("import_module", tree.string(f"<{name}>"))
            self.declarations.append(tree.declare("const", self._libraries[name], None, module))
        return self._libraries[name]

    def param(self, op: csl.ParamOp, initial: Expression | None) -> None:
        type = None if isinstance(op.res.type, csl.ComptimeStructType | csl.ImportedModuleType) else op.res.type
        expression = None if type is None else type_expression(op, type)
        self.add(op, tree.declare("param", op.param_name.data, expression, initial))

    def export(self, op: csl.SymbolExportOp, value: Expression | None) -> None:
        name = op.get_name()
        if isinstance(op.type, FunctionType):
            self._export(op, name, function_type(op, op.type), None)
            exported = tree.name(self.symbol(op, name))
        else:
            assert value is not None, "verified: a pointer is exported with its value"
            self._export(op, name, type_expression(op, op.type), op.type.constness.data is csl.PtrConst.VAR)
            exported = value
        statement = tree.builtin("export_symbol", exported, tree.string(name))
        self.note(op, statement)
        self._comptime.append(statement)

    def _export(self, op: Operation, name: str, type: Expression, mutable: bool | None) -> None:
        known = self.program.exports.setdefault(name, (type, mutable))
        if known[1] != mutable or not syntax.equal(known[0], type):
            raise refuse(op, f'"{name}" is exported with another type elsewhere; use one type or two names')

    def routine(self, op: csl.FuncOp | csl.TaskOp, outer: CslCode) -> None:
        """Write a function or task, and the binding of a task to its id."""
        self._take(outer)
        name = op.sym_name.data
        if len(op.body.blocks) != 1:
            what = "no body" if not op.body.blocks else "several blocks"
            raise refuse(op, f"{op.name} @{name} has {what}; give it one block, with scf for control flow")
        code = CslCode(self, outer)
        parameters: list[syntax.Parameter] = []
        for value in op.body.block.args:
            local = code.names.new(value.name_hint)
            code.set_value(value, tree.name(local))
            type = type_expression(op, value.type)
            parameters.append(syntax.Parameter(NOWHERE, NOWHERE, local, type, False))
        results = op.function_type.outputs.data
        result = type_expression(op, results[0]) if results else tree.name("void")
        body = code.body(op.body.block)
        keyword = "fn" if isinstance(op, csl.FuncOp) else "task"
        symbol = self._symbols[name]
        self.add(op, syntax.Function(NOWHERE, NOWHERE, keyword, symbol, parameters, result, tree.block(body)))
        if isinstance(op, csl.TaskOp) and op.id is not None:
            number = op.id.value.data % (1 << op.id.type.bitwidth)
            kind = op.kind.data
            if kind is csl.TaskKind.DATA:
                self._data_tasks.append((op, symbol, number))
            else:
                self._bind(op, symbol, tree.integer(number))

    def _bind(self, op: csl.TaskOp, symbol: str, number: Expression) -> None:
        kind = op.kind.data.value
        id = tree.builtin(f"get_{kind}_task_id", number)
        statement = tree.builtin(f"bind_{kind}_task", tree.name(symbol), id)
        self.note(op, statement)
        self._comptime.append(statement)

    def _bind_data_tasks(self) -> None:
        """Bind data tasks: to the id of their color, or on WSE-3 of a queue that serves the color."""
        for op, symbol, color in self._data_tasks:
            if self.program.target.data_tasks_by_color:
                self._bind(op, symbol, tree.builtin("get_color", tree.integer(color)))
                continue
            serving = [queue for (way, queue), served in self._queues.items() if way == "input" and served == color]
            queue = serving[0] if serving else self._free_queue(op)
            self._queues["input", queue] = color
            self._bind(op, symbol, tree.builtin("get_input_queue", tree.integer(queue)))

    def _free_queue(self, op: csl.TaskOp) -> int:
        used = {queue for way, queue in self._queues if way == "input"}
        free = [queue for queue in range(self.program.target.input_queues) if queue not in used]
        if not free:
            raise refuse(op, f"data task @{op.sym_name.data} gets no input queue, all are in use; share one")
        return free[-1]

    def uses_queue(self, op: Operation, way: str, queue: int, color: int) -> None:
        """Note that a queue serves a color; raises LoomError if it serves another where that cannot change."""
        known = self._queues.setdefault((way, queue), color)
        if known != color and self.program.target.queues_keep_color:
            raise refuse(
                op,
                f"{way} queue {queue} serves color {color} here and color {known} elsewhere, but on "
                f"{self.program.target.name} a queue keeps its color; use another queue",
            )

    def layout(self, op: csl.LayoutOp, outer: CslCode) -> None:
        """Write the layout block, with the exports of all programs."""
        self._take(outer)
        code = CslCode(self, outer)
        statements = code.body(op.body.block) if op.body.blocks else []
        block = tree.block([*statements, *self.program.export_names()])
        self.add(op, syntax.Layout(NOWHERE, NOWHERE, block))


def modules_in(ops: Iterable[Operation]) -> list[csl.CslModuleOp]:
    """Return the modules of xDSL's `csl` dialect among operations."""
    return [op for op in ops if isinstance(op, csl.CslModuleOp)]
