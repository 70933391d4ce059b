"""Compilation pipeline: `compile` lowers a program at any level to a `Program`, which can run.

Knows which passes there are and in which order, and nothing of how they work or of how the result is run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, Literal, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import DiagnosticException

from .. import targets
from ..diagnostics.errors import LoomError, LoomErrors, Mistakes, in_order
from ..diagnostics.locations import location_of
from ..diagnostics.nesting import deep_nesting
from ..dialects import context as context
from ..dialects import flow, wse
from ..dialects.ir_text import parse_ir, text_of
from ..dialects.machine.rules import rectangle_problem
from ..dialects.traversal import walk
from ..dialects.verification import located, verify
from ..operations.scalar_types import numpy_type
from ..runtime.tables.format import Tables
from .arrays import convert
from .garbage_collection import collector_paused

PIPELINE = (
    "expand-wide-integers",
    "dsd-expand-tensor-access",
    "dsr-forward-loads",
    "dsd-assign-queues",
    "dsd-assign-microthreads",
    "dsd-hoist-descriptors",
    "dsr-allocate",
    "lower-to-flow",
)
"""The passes from what users write down to what the engine runs; each leaves alone what is lowered already."""


_INTERNAL = "loom."
"""Begins the names that are between the libraries and us."""


@dataclass(frozen=True)
class ExportedSymbol:
    """What the host sees of a buffer or function.

    `shape` is that of the buffer on one PE, or of what its pointer points to, where an open extent is -1. For a
    function, `dtype` and `shape` are None and `arguments` holds the type of each argument.
    """

    name: str
    kind: Literal["buffer", "function"]
    dtype: np.dtype | None
    shape: tuple[int, ...] | None
    arguments: tuple[np.dtype, ...] = ()
    read_only: bool = False

    def __str__(self) -> str:
        if self.kind == "function":
            return f"{self.name}({', '.join(str(argument) for argument in self.arguments)})"
        return f"{self.name}: {self.dtype} {list(self.shape or ())}"


@dataclass(frozen=True, repr=False)
class Program:
    """A program ready to run: `module` is its `flow` IR. It prints as its name, machine and exported symbols."""

    module: ModuleOp
    fabric: flow.FabricOp
    symbols: Mapping[str, ExportedSymbol]
    warnings: tuple[str, ...] = ()
    """Of the compiler, each a line with its place."""
    tables: Tables | None = None
    """What `module` is for an executor, if that is known already: with the places of the source, not of its text."""

    @property
    def rectangle(self) -> tuple[int, int]:
        """Width and height in PEs."""
        return self.fabric.width.value.data, self.fabric.height.value.data

    @property
    def target(self) -> targets.Target:
        return targets.get(self.fabric.target.data)

    def __repr__(self) -> str:
        width, height = self.rectangle
        head = f"Program {self.fabric.sym_name.data} for {self.target.name}, {width}x{height} PEs"
        visible = [symbol for symbol in self.symbols.values() if not symbol.name.startswith(_INTERNAL)]
        if not visible:
            return f"{head}, exports nothing"
        return "\n  ".join([f"{head}, exports", *map(str, visible)])


@deep_nesting()
def compile(
    source: str | Path | ModuleOp,
    target: str | None = None,
    rectangle: tuple[int, int] | None = None,
    defines: Mapping[str, ArrayLike] | None = None,
    progress: Callable[[str], None] | None = None,
    verify_each: bool = True,
    params: Mapping[str, int | float | bool] | None = None,
    fp16_format: str | None = None,
    import_paths: Sequence[str | Path] = (),
    notice: Callable[[str], None] | None = None,
) -> Program:
    """Lower a program, at whatever level it is, until it can run.

    `source` is a file, IR text, or a module, which is changed in place. `target`, `rectangle` (width, height) and
    `defines` (a new value for each parameter named: one, or an array [height, width]) replace what the program says;
    they need a program that is not lowered to `flow` yet. `progress` is called with the name of each pass before it
    runs. Without `verify_each` only what comes in and what comes out is verified, which takes a third less time. Raises
    LoomError with the location of the first mistake, of several LoomErrors with all.

    A file whose name ends in .csl is the layout of a CSL program, compiled as by `loom cslc --memcpy` for `target`
    (wse2 if it is None) on a fabric of the whole wafer. `params` are values for the params of the layout; it places its
    rectangle itself, and `defines` are not for it. `fp16_format` is its type of 16-bit floats, f16 if it is None.
    `import_paths` are directories in which its modules are looked for too. `notice` takes a line now and then while
    evaluation at compile time takes long.
    """
    if defines is not None and not isinstance(defines, Mapping):
        raise LoomError(f"{defines!r} is not a mapping; give defines as a mapping from names of parameters to values")
    ctx = context()
    warnings: tuple[str, ...] = ()
    if _is_csl(source):
        module, warnings = _compile_csl(
            Path(source), target, rectangle, defines, params, fp16_format, import_paths, progress, notice
        )
        target = None
    elif params:
        raise LoomError("params are for CSL layouts; the parameters of a program in IR are given as defines")
    elif fp16_format is not None:
        raise LoomError("fp16_format is for CSL layouts; a program in IR names the types of its floats")
    elif import_paths:
        raise LoomError("import_paths are for CSL layouts; a program in IR imports no modules")
    else:
        module = _read(ctx, source)
    verify(module)
    programs = [op for op in module.body.block.ops if isinstance(op, wse.ProgramOp)]
    fabrics = [op for op in module.body.block.ops if isinstance(op, flow.FabricOp)]
    if not programs and not fabrics:
        kernel = next((op for op in walk(module) if op.name.startswith("pto.")), None)
        if kernel is not None:
            raise LoomError(
                "the program has kernels in pto; run it with `loom pto run` or loomir.pto.run", location_of(kernel)
            )
        raise LoomError("the module contains no program; it needs one wse.program or flow.fabric", location_of(module))
    if len(programs) + len(fabrics) > 1:
        second = (programs + fabrics)[1]
        raise LoomError(
            "the module contains several programs; keep one wse.program or flow.fabric", location_of(second)
        )
    if fabrics and (target is not None or rectangle is not None or defines):
        message = "the program is lowered already, so target, rectangle and parameters are fixed"
        raise LoomError(f"{message}; start from its wse.program", location_of(fabrics[0]))
    for program in programs:
        if _override(program, target, rectangle, defines or {}):
            verify(module)
    whole = (programs + fabrics)[0]
    _check_rectangle(whole, whole.width.value.data, whole.height.value.data)
    if programs:
        _lower(ctx, module, progress, verify_each)
    fabric = next((op for op in module.body.block.ops if isinstance(op, flow.FabricOp)), None)
    if fabric is None:
        raise LoomError("lower-to-flow left no flow.fabric", location_of(module))
    return Program(module, fabric, _symbols(fabric), warnings)


def _is_csl(source: object) -> TypeGuard[str | Path]:
    if isinstance(source, str) and "\n" in source:
        return False
    return isinstance(source, str | Path) and Path(source).suffix == ".csl"


def _compile_csl(
    path: Path,
    target: str | None,
    rectangle: tuple[int, int] | None,
    defines: Mapping[str, ArrayLike] | None,
    params: Mapping[str, int | float | bool] | None,
    fp16_format: str | None,
    import_paths: Sequence[str | Path],
    progress: Callable[[str], None] | None,
    notice: Callable[[str], None] | None,
) -> tuple[ModuleOp, tuple[str, ...]]:
    """Return the program of a CSL layout in `wse` and `dsd`, and the warnings of the front end."""
    from ..frontend import compile_layout  # programs in IR do not need the front end

    if rectangle is not None:
        raise LoomError("a CSL layout sets its rectangle itself; give its size as a param", str(path))
    if defines:
        raise LoomError("the params of a CSL layout are given as params, not as defines", str(path))
    if params is not None and not isinstance(params, Mapping):
        raise LoomError(f"{params!r} is not a mapping; give params as a mapping from names to values", str(path))
    values: dict[str, Any] = {
        name: cast("np.generic[Any]", value).item() if isinstance(value, np.generic) else value
        for name, value in (params or {}).items()
    }
    if isinstance(import_paths, str | Path):
        raise LoomError(f"import_paths is one path, {str(import_paths)!r}; give a list of directories")
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, bool | int | float):
            raise LoomError(f"param {name!r} is {value!r}; give a number, true or false", str(path))
    if progress is not None:
        progress("CSL")
    arch = targets.get(target or "wse2").name
    with collector_paused():
        try:
            layout = compile_layout(
                path,
                arch=arch,
                params=values,
                memcpy=True,
                channels=1,
                import_paths=import_paths,
                fp16_format=fp16_format or "f16",
                notice=notice,
            )
        except LoomError as error:
            raise errors_of_passes_too(error) from None
    return layout.module, tuple(layout.warnings)


def errors_of_passes_too(error: LoomError) -> LoomError:
    """Return an error of the front end together with those that passes find in the code that has none."""
    from ..frontend.errors import ProgramErrors  # only programs in CSL have such

    if not isinstance(error, ProgramErrors) or error.rest is None:
        return error
    found = Mistakes()
    try:
        with deep_nesting():
            _run_passes(context(), error.rest, None, found, verify_each=False)
    except Exception:
        # What goes wrong after an error in a way that nobody has foreseen ends the search for others.
        if os.environ.get("LOOM_TRACEBACK"):
            raise
    places = {each.location for each in error.diagnostics}
    more = [each for each in found.errors if each.location not in places]
    return LoomErrors(in_order([*error.diagnostics, *more], error.files), error.unreported) if more else error


def _read(ctx: Context, source: str | Path | ModuleOp) -> ModuleOp:
    return source if isinstance(source, ModuleOp) else parse_ir(ctx, *text_of(source))


def _override(
    program: wse.ProgramOp,
    target: str | None,
    rectangle: tuple[int, int] | None,
    defines: Mapping[str, ArrayLike],
) -> bool:
    """Apply the overrides of `compile`; return True if they changed anything."""
    if target is not None:
        program.target = StringAttr(targets.get(target).name)
    if rectangle is not None:
        width, height = _sides(rectangle)
        if width < 1 or height < 1:
            raise LoomError(f"rectangle {width}x{height} contains no PE; both sides must be at least 1")
        _check_rectangle(program, width, height)
        program.width, program.height = IntegerAttr(width, i64), IntegerAttr(height, i64)
    params = [op for op in program.walk() if isinstance(op, wse.ParamOp)] if defines else []
    for name, value in defines.items():
        named = [param for param in params if param.sym_name.data == name]
        if not named:
            known = ", ".join(sorted({param.sym_name.data for param in params})) or "none"
            raise LoomError(f"the program has no parameter '{name}'; it has {known}", location_of(program))
        for param in named:
            array = np.asarray(value)
            width, height = program.rectangle
            if array.shape not in ((), (height, width)):
                shape = list(array.shape)
                message = f"parameter '{name}' has shape {shape}; give one value or [{height}, {width}]"
                raise LoomError(message, location_of(param))
            element = param.type
            assert isinstance(element, IntegerType | Float16Type | Float32Type)
            element = cast("IntegerType | Float16Type | Float32Type", element)
            # Integers of the machine have no sign of their own: 65535 and -1 are the same 16 bits.
            unsigned = array.dtype.kind in "iu" and bool((array >= 0).all())
            data = convert(array, dtype_of(element, unsigned=unsigned), f"parameter '{name}'")
            param.value = DenseIntOrFPElementsAttr(TensorType(element, array.shape), BytesAttr(data.tobytes()))
    return target is not None or rectangle is not None or bool(defines)


def _sides(rectangle: object) -> tuple[int, int]:
    match cast("Sequence[Any]", rectangle):
        case (width, height):
            with suppress(TypeError):
                return index(width), index(height)
        case _:
            pass
    raise LoomError(f"{rectangle!r} is not a rectangle; give (width, height) as whole numbers of PEs")


def _check_rectangle(program: wse.ProgramOp | flow.FabricOp, width: int, height: int) -> None:
    problem = rectangle_problem(width, height, targets.get(program.target.data))
    if problem is not None:
        raise LoomError(problem, location_of(program))


def _lower(ctx: Context, module: ModuleOp, progress: Callable[[str], None] | None, verify_each: bool) -> None:
    mistakes = Mistakes()
    try:
        _run_passes(ctx, module, progress, mistakes, verify_each=verify_each)
    except Exception:
        if not mistakes or os.environ.get("LOOM_TRACEBACK"):
            raise
    mistakes.end_in_order()
    verify(module)


def _run_passes(
    ctx: Context, module: ModuleOp, progress: Callable[[str], None] | None, mistakes: Mistakes, *, verify_each: bool
) -> None:
    """Run the passes one after the other, those behind an error too, to look for others.

    What they raise then may be no mistake of the user's.
    """
    from ..passes import get_all_passes  # host scripts import this module and run programs that are lowered already

    passes = get_all_passes()
    for name in PIPELINE:
        if progress is not None:
            progress(name)
        try:
            passes[name]()().apply(ctx, module)
        except LoomError as error:
            mistakes.add_independent(error)
        except DiagnosticException as error:
            raise located(error) from None
        if verify_each and not mistakes and name != PIPELINE[-1]:
            verify(module)


def _symbols(fabric: flow.FabricOp) -> dict[str, ExportedSymbol]:
    symbols: dict[str, ExportedSymbol] = {}
    for units in fabric.body.block.ops:
        if not isinstance(units, flow.UnitsOp):
            continue
        defined = {op.sym_name.data: op for op in units.body.block.ops if isinstance(op, flow.BufferOp | flow.FuncOp)}
        for export in units.body.block.ops:
            if not isinstance(export, flow.ExportOp):
                continue
            op = defined.get(export.symbol.root_reference.data)
            if op is None:
                message = f"@{export.symbol.root_reference.data} is exported but is not a buffer or function here"
                raise LoomError(message, location_of(export))
            symbol = _symbol(export, op)
            if symbols.setdefault(symbol.name, symbol) != symbol:
                message = f"'{symbol.name}' is exported as {symbols[symbol.name]} elsewhere, here as {symbol}"
                raise LoomError(f"{message}; give them one type or two names", location_of(export))
    return symbols


def _symbol(export: flow.ExportOp, op: flow.BufferOp | flow.FuncOp) -> ExportedSymbol:
    name = export.visible_name.data
    unsigned = export.unsigned is not None
    if isinstance(op, flow.FuncOp):
        arguments = tuple(
            _argument_type(argument, unsigned=position in export.unsigned_positions)
            for position, argument in enumerate(op.function_type.inputs.data)
        )
        return ExportedSymbol(name, "function", None, None, arguments)
    type = op.type if export.points_to is None else export.points_to
    dtype = dtype_of(type.get_element_type(), unsigned=unsigned)
    shape = tuple(max(extent, -1) for extent in type.get_shape())
    return ExportedSymbol(name, "buffer", dtype, shape, read_only=export.read_only is not None)


def _argument_type(type: Attribute, *, unsigned: bool) -> np.dtype:
    """Return the numpy type of an argument, which memory need not hold."""
    match type:
        case IntegerType(width=width) if width.data == 1:
            return numpy_type("i1")
        case IntegerType(width=width) if width.data == 64:
            return numpy_type(f"{'u' if unsigned else 'i'}64")
        case _:
            return dtype_of(type, unsigned=unsigned)


def dtype_of(type: Attribute, *, unsigned: bool = False) -> np.dtype:
    """Return the numpy type of an element; raises LoomError if memory and wavelets cannot hold it."""
    match type:
        case Float16Type() | Float32Type() | BFloat16Type():
            return numpy_type(type.name)
        case IntegerType(width=width) if width.data in (8, 16, 32):
            return numpy_type(f"{'u' if unsigned else 'i'}{width.data}")
        case _:
            raise LoomError(f"the host cannot see values of type {type}; use f16, bf16, f32, i16 or i32")


def describe(symbols: Mapping[str, ExportedSymbol], kind: Literal["buffer", "function"]) -> str:
    """Return the exported symbols of one kind, for an error message."""
    names: Sequence[str] = sorted(
        symbol.name for symbol in symbols.values() if symbol.kind == kind and not symbol.name.startswith(_INTERNAL)
    )
    return (
        f"it exports the {kind}{'' if len(names) == 1 else 's'} {', '.join(names)}"
        if names
        else f"it exports no {kind}"
    )
