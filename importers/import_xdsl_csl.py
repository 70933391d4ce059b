"""Pass `import-xdsl-csl`: from xDSL's own `csl` dialect to `wse` and `dsd`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..diagnostics.errors import LoomError
from ..dialects.verification import verify_dominance


@dataclass(frozen=True)
class ImportXdslCslPass(ModulePass):
    """Replaces the `csl.module`s of a module by the `wse.program` that they describe.

    A layout module says which program runs where; a single program module without a layout runs on one PE. What they
    import is compiled with them: the libraries, and CSL files in `directory`. `arch` is the machine, which the dialect
    does not name; `params` are values for the layout's params, each written `name:value`. A module without a
    `csl.module` stays as it is. Raises LoomError at the operation that cannot be imported, naming it.
    """

    name = "import-xdsl-csl"

    arch: str = "wse3"
    directory: str = "."
    params: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Here, as only this pass needs the front end, which takes long to import.
        from .xdsl_csl import import_modules

        imported = import_modules(
            op, arch=self.arch, directory=Path(self.directory), params=dict(map(_param, self.params))
        )
        if imported is None:
            return
        for old in list(op.body.block.ops):
            old.detach()
            old.erase(safe_erase=False)
        for new in list(imported.body.block.ops):
            new.detach()
            op.body.block.add_op(new)
        verify_dominance(op)


def _param(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise LoomError(f"'{text}' does not name a param and its value; write name:value")
    return name, value
