"""What holds of whole programs: helpers that compute with tiles of others, entry functions, variables in functions."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...operations.pto_instructions import INSTRUCTIONS
from ...operations.pto_instructions.synchronization import TABLE as SYNCHRONIZATION
from ...operations.pto_instructions.threads import TABLE as THREADS
from ...operations.pto_instructions.tiles import TABLE as TILES
from ..traversal import walk
from .backend_modules import verify_backends
from .frontend_pipes import OpenPipeOp
from .internal_pipes import InitializePipeOp
from .kernels import BarrierOp, SectionOp, SyncAllOp, is_entry
from .memory import AllocTileOp
from .registers import StructType
from .structure_rules import escapes
from .tiles import TileOperation, TPrintOp
from .types import TileBufType

_HELPER = "pto.tileop.helper"

_FREE = ("mem_bar", "dcci", "cmo.cacheinvalid", "trap", "get_buf_dyn", "rls_buf_dyn")
"""What PTOAS does not count as synchronization of pipelines."""

_FLAGS = {
    *(row.name for row in SYNCHRONIZATION if row.name not in _FREE),
    "declare_eventid_array",
    "eventid_array_get",
    "eventid_array_set",
}
_LAUNCHES = ("simt_launch", "section.simt")
_PAST_CACHES = ("ld_dev", "st_dev")
_THREADS = {
    *(row.name for row in THREADS if row.name not in (*_LAUNCHES, *_PAST_CACHES)),
    *(f"get_{what}_{number}" for what in ("block", "subblock") for number in ("idx", "num")),
    "load",
    "store",
    "trap",
}
_TRANSFERS = ("mte_", "copy_", "load_cbuf_", "mgather", "mscatter")
"""How the names of transfers begin."""

_TILES = {
    *(row.name for row in TILES if row.name not in ("bitcast", "multi_tile_get")),
    "treshape",
    "tprefetch_async",
    "tensor_view_addr",
    "reserve_buffer",
}
_ENTRY_OPERATIONS = ("talloc", "tpush", "tpop", "tfree")
"""How the names of operations on entries of pipes begin."""


def verify_program(operations: Iterable[Operation]) -> None:
    """Raise LoomError if the operations of a program break a rule of whole programs."""
    for op in operations:
        if isinstance(op, FuncOp):
            _verify_function(op)
        elif isinstance(op, ModuleOp):
            verify_backends(op)
        elif (place := escapes(op)) is not None:
            _refuse(
                op,
                f"result {place} has type {op.results[place].type}, but only 'pto.declare_struct' may produce a "
                "!pto.struct result; derived results hide the stack-storage lifetime and can escape their declaring "
                "scope",
            )


def _refuse(op: Operation, message: str) -> None:
    raise LoomError(f"'{op.name}' op {message}", location_of(op))


def _verify_function(function: FuncOp) -> None:
    types = function.function_type
    for place, type in enumerate(types.inputs):
        if isinstance(type, StructType):
            _refuse(
                function,
                f"argument {place} has type {type}, but a stack-local struct must not be a function argument; structs "
                "must originate from 'pto.declare_struct' in the same function",
            )
    for place, type in enumerate(types.outputs):
        if isinstance(type, StructType):
            _refuse(function, f"result {place} has type {type}, but a stack-local struct must not be returned")
    if is_entry(function):
        if function.is_declaration:
            _refuse(function, "`pto.entry` is only valid on function definitions")
        if types.outputs.data:
            _refuse(function, "PTO entry functions must return void")
    if _HELPER in function.attributes:
        _verify_helper(function)


def _verify_helper(function: FuncOp) -> None:
    """Check a function that computes with tiles of its caller, on the vector or cube core alone."""
    for place, type in enumerate(function.function_type.inputs):
        if not isinstance(type, TileBufType | IntegerType | IndexType | AnyFloat):
            _refuse(function, f"tileop argument #{place} must be !pto.tile_buf or a PTO scalar, got {type}")
    if function.function_type.outputs.data:
        _refuse(
            function,
            "tileop helpers must not return values; write results through mutable Tile parameters",
        )
    for op in walk(function):
        name = op.name.removeprefix("pto.")
        if isinstance(op, SectionOp):
            _refuse(op, "tileop helpers must not contain pre-existing sections")
        if name.startswith(_TRANSFERS) and name in INSTRUCTIONS:
            _refuse(op, "tileop helpers must not contain MTE data movement")
        if name in _FLAGS or isinstance(op, BarrierOp | SyncAllOp | OpenPipeOp | InitializePipeOp):
            _refuse(op, "tileop helpers must not contain pipe synchronization")
        if name in _THREADS:
            _refuse(op, "tileop helpers must launch a @pto.simt helper instead of containing SIMT operations directly")
        is_entry = op.name.startswith("pto.") and name.partition("_")[0] in _ENTRY_OPERATIONS
        if name in _TILES or is_entry or isinstance(op, TileOperation | TPrintOp | AllocTileOp):
            _refuse(op, "tileop helpers must not contain Tile allocation or high-level TileOps")
        if isinstance(op, CallOp):
            _refuse(op, "tileop helpers must not call another helper; use pto.simt_launch for SIMT work")
        if name in _PAST_CACHES:
            _refuse(op, "tileop helpers may only contain Vector or Cube compute operations")
