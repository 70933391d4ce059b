"""Programs for several backends: an outer module with a module for each part, which call and import from each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ..traversal import walk
from .attributes import KernelKindAttr
from .buffers import ImportReservedBufferOp
from .kernels import logical_name

_BACKEND = "pto.backend"
_BACKENDS = ("emitc", "vpto")
_UNSUPPORTED = "mixed-backend child assembly does not yet support"


def _members(module: ModuleOp) -> list[Operation]:
    """Return the operations of a module, of all its blocks if a text gives it several."""
    return [op for block in module.body.blocks for op in block.ops]


def verify_backends(module: ModuleOp) -> None:
    """Raise LoomError if a module names no backend that there is, or its parts for several do not fit together."""
    stated = module.attributes.get(_BACKEND)
    if stated is not None and not (isinstance(stated, StringAttr) and stated.data.lower() in _BACKENDS):
        name = stated.data if isinstance(stated, StringAttr) else str(stated)
        _refuse(module, f"invalid {_BACKEND} '{name}'. Expected 'emitc' or 'vpto'.")
    members = _members(module)
    parts = [op for op in members if isinstance(op, ModuleOp)]
    if stated is not None or len(parts) < 2 or not any(_BACKEND in part.attributes for part in parts):
        return
    stray = next((op for op in members if not isinstance(op, ModuleOp)), None)
    if stray is not None:
        _refuse(
            stray,
            "mixed pto.backend fatobj mode expects either a single module or an outer module containing only child "
            f"modules; move '{stray.name}' into one of them",
        )
    for part in parts:
        _verify_part(part, parts)


def _refuse(op: Operation, message: str) -> NoReturn:
    raise LoomError(message, location_of(op))


def _verify_part(part: ModuleOp, parts: Sequence[ModuleOp]) -> None:
    own = {op.sym_name.data for op in _members(part) if isinstance(op, FuncOp)}
    for name, call in _callees(part).items():
        if name not in own and _public(name, part, parts, "function reference", by_logical_name=False) is None:
            _refuse(
                call,
                f"{_UNSUPPORTED} unresolved cross-child function reference '@{name}'; each cross-child func.call must "
                "resolve to one sibling public func.func",
            )
    _verify_logical_names(part)
    for op in walk(part):
        name = op.peer.root_reference.data if isinstance(op, ImportReservedBufferOp) else None
        if name is None or name in own:
            continue
        peer = _public(name, part, parts, "peer_func reference", by_logical_name=True)
        if peer is None:
            _refuse(
                op,
                f"{_UNSUPPORTED} unresolved cross-child peer_func reference '@{name}'; each import_reserved_buffer "
                "peer_func must resolve to one sibling public func.func",
            )
        called = sorted(_callees(peer))
        if called:
            _refuse(
                peer,
                f"{_UNSUPPORTED} transitive cross-child function closure for imported peer '{name}'; cloned peer body "
                f"@{peer.sym_name.data} directly calls @{called[0]}. Keep peer_func targets leaf-only for now.",
            )


def _callees(root: Operation) -> dict[str, CallOp]:
    """Return the names that are called in `root`, with the first call of each."""
    found: dict[str, CallOp] = {}
    for op in walk(root):
        if isinstance(op, CallOp):
            found.setdefault(op.callee.root_reference.data, op)
    return found


def _exported(part: ModuleOp) -> Iterator[FuncOp]:
    for op in _members(part):
        if isinstance(op, FuncOp) and op.sym_visibility != StringAttr("private"):
            yield op


def _public(name: str, part: ModuleOp, parts: Sequence[ModuleOp], what: str, *, by_logical_name: bool) -> FuncOp | None:
    """Return the function of another part with a name; None without one. Raises LoomError for several."""
    others = [op for other in parts if other is not part for op in _exported(other)]
    exact = [op for op in others if op.sym_name.data == name]
    logical = [op for op in others if by_logical_name and logical_name(op) == name and op not in exact]
    for found, kind in ((exact, ""), (logical, "logical ")):
        if len(found) > 1:
            _refuse(
                part,
                f"{_UNSUPPORTED} ambiguous cross-child {kind}{what} '@{name}'; found multiple sibling public func.func "
                "definitions",
            )
        if found:
            return found[0]
    return None


def _verify_logical_names(part: ModuleOp) -> None:
    """Raise LoomError for two functions of a part, for no core, with one name in the Python DSL."""
    seen: set[str] = set()
    for op in _exported(part):
        if op.is_declaration or isinstance(op.attributes.get("pto.kernel_kind"), KernelKindAttr):
            continue
        name = logical_name(op) or op.sym_name.data
        if name in seen:
            _refuse(
                op,
                f"{_UNSUPPORTED} ambiguous in-child logical reference '@{name}'; found multiple ABI-specialized public "
                "func.func definitions; make one of them private",
            )
        seen.add(name)
