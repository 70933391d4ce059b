"""`flow` programs from text."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.math import Math
from xdsl.dialects.scf import Scf
from xdsl.parser import Parser

from loomir.dialects.flow import Flow


def parse(text: str, *, verify: bool = True) -> ModuleOp:
    """Return the module of a text."""
    context = Context()
    for dialect in (Builtin, Arith, Math, Scf, Flow):
        context.load_dialect(dialect)
    module = Parser(context, text, "program.mlir").parse_module()
    if verify:
        module.verify()
    return module
