"""Builtins that import modules and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...csl import syntax
from .. import types
from ..evaluator import Evaluator, suggestion
from ..modules import LIBRARIES, Module, is_in_library, is_internal
from ..registry import Table, Where
from ..specialization import same
from ..types import Type
from ..values import Value, boolean, element_data, is_elements, string, struct

if TYPE_CHECKING:
    from typing_extensions import TypeIs

TABLE = Table("Modules and files", has_effects=False)


@TABLE.row(
    "@import_module(file[, params])",
    where=Where.GLOBAL,
    refusal="a module is imported for the whole program; make it a global: const name = @import_module(...)",
)
def _import_module(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    name = ev.text(arguments[0], "the name of a file")
    bindings: dict[str, Value] = {}
    if len(arguments) == 2:
        value = ev.expr(arguments[1])
        if not isinstance(value.type, types.Struct) or (value.type.names is None and value.type.types):
            ev.fail(arguments[1], f"params must be a struct, .{{ .name = value }}, not '{value.type}'")
        bindings = dict(zip(value.type.names or (), value.data, strict=True))
    path = ev.find_file(arguments[0], name)
    is_library = is_in_library(str(path))
    if is_library and not ev.frame.module.is_library and is_internal(_library_name(path)):
        ev.fail(arguments[0], f"there is no library {name}")
    _check_circle(ev, node, path, bindings)
    module = ev.load(path, bindings, _module_name(ev, node))
    module.importer, module.imported_at = ev.frame.module, node
    for binding in bindings:
        declared = module.globals.get(binding)
        if declared is None or not _is_param(declared.node):
            params = [name for name, found in module.globals.items() if _is_param(found.node)]
            ev.warn(node, f"{_shown(name)} has no param '{binding}'{suggestion(binding, params) or '; remove it'}")
    return Value(types.MODULE, module)


def _library_name(path: Path) -> str:
    return path.relative_to(LIBRARIES).with_suffix("").as_posix()


def _shown(name: str) -> str:
    """Return how an error calls an imported module: a library in angled brackets, another by its file."""
    return name if name.startswith("<") else f"'{Path(name).name}'"


MAX_IMPORT_DEPTH = 64
"""Imports of imports."""


def _check_circle(ev: Evaluator, node: syntax.Builtin, path: Path, bindings: dict[str, Value]) -> None:
    """Refuse to import a file that is importing this one with the same params; every import is a new instance."""
    importer: Module | None = ev.frame.module
    depth = 0
    while importer is not None:
        is_same = importer.bindings.keys() == bindings.keys() and importer.path.samefile(path)
        if is_same and all(same(importer.bindings[name], value) for name, value in bindings.items()):
            way = "" if depth == 0 else " through this file"
            ev.fail(node, f"'{path.name}' imports itself{way}; break the cycle")
        importer = importer.importer
        depth += 1
    if depth > MAX_IMPORT_DEPTH:
        ev.fail(node, f"imports are nested more than {MAX_IMPORT_DEPTH} deep; does this cycle ever end?")


def _is_param(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Variable) and node.kind == "param"


def _module_name(ev: Evaluator, node: syntax.Node) -> str:
    """Return the name of the constant an import initializes, below that of the importing module."""
    module = ev.frame.module
    for name, found in module.globals.items():
        value = getattr(found.node, "value", None)
        if value is node:
            return module.symbol(name)
    return module.symbol(f"import{len(ev.instances)}")


@TABLE.row("@import_comptime_value(type, file)")
def _import_comptime_value(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, name = node.arguments
    type = ev.type_of(target)
    path = ev.find_file(name, ev.text(name, "the name of a file"))
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        ev.fail(name, f"'{path.name}' is not valid JSON: {error}")
    return _from_json(ev, type, data, name)


def _is_object(data: Any) -> TypeIs[dict[str, Any]]:
    """Return True if data of a JSON file is an object."""
    return isinstance(data, dict)


def _from_json(ev: Evaluator, type: Type, data: Any, node: syntax.Node) -> Value:
    match type:
        case types.Array():
            if not is_elements(data) or len(data) != type.count:
                have = f"a list of {len(data)}" if is_elements(data) else "no list"
                ev.fail(node, f"'{type}' needs a list of {type.count} elements, but the file has {have}")
            return Value(type, [element_data(type, _from_json(ev, type.element, inner, node)) for inner in data])
        case types.BOOL:
            if isinstance(data, bool):
                return boolean(data)
        case types.COMPTIME_STRING:
            if isinstance(data, str):
                return string(data)
        case types.COMPTIME_STRUCT:
            if _is_object(data):
                members: dict[str, Value] = {}
                for label, item in data.items():
                    field_name, colon, type_text = label.partition(":")
                    if not colon:
                        ev.fail(node, f"the field '{label}' has no type; write it as \"name:type\"")
                    members[field_name] = _from_json(ev, _type_from_text(ev, type_text, node), item, node)
                return struct(**members)
        case _:
            if types.is_numeric(type) or type is types.COLOR:
                if isinstance(data, int | float) and not isinstance(data, bool):
                    if isinstance(data, float) and not types.is_float(type):
                        ev.fail(node, f"{data} in the file is not an integer, but '{type}' is needed")
                    if types.is_float(type):
                        return Value(type, ev.fitted(type, float(data)))
                    if type is types.COLOR:
                        if not 0 <= data < ev.session.target.routable_colors:
                            ev.fail(node, f"the file has color {data}, which does not exist")
                        return Value(type, data)
                    return ev.coerce(Value(types.COMPTIME_INT, data), type, node)
    ev.fail(node, f"the file has {json.dumps(data)[:40]} where '{type}' is needed")


def _type_from_text(ev: Evaluator, text: str, node: syntax.Node) -> Type:
    text = text.strip()
    if text.startswith("[") and "]" in text:
        extent, _, element = text[1:].partition("]")
        if extent.strip().isdigit():
            return types.Array((int(extent),), _type_from_text(ev, element, node))
    type = types.UNIVERSE.get(text)
    if type is None:
        ev.fail(node, f"'{text}' in the file is not a type")
    return type


@TABLE.row("@get_rectangle()")
def _get_rectangle(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    if ev.session.rectangle is None:
        ev.fail_for_lack(node, "the rectangle is not set yet; call @set_rectangle first")

    def pair(width: int, height: int) -> Value:
        return struct(width=Value(types.U16, width), height=Value(types.U16, height))

    width, height = ev.session.rectangle
    offsets = ev.session.options.offsets
    fabric = ev.session.options.fabric or (width + offsets[0] + 3, height + offsets[1] + 1)
    return struct(
        width=Value(types.U16, width), height=Value(types.U16, height), fabric=pair(*fabric), offsets=pair(*offsets)
    )
