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


def spin(turns: int | str, cell: str = "@x", *, label: str = "") -> str:
    """Return code that loads and stores a cell so many times; its values end in `label`."""
    return f"""
      %from{label} = arith.constant 0 : index
      %step{label} = arith.constant 1 : index
      %to{label} = arith.constant {turns} : index
      scf.for %i{label} = %from{label} to %to{label} step %step{label} {{
        %v{label} = flow.load {cell}[] : i32
        flow.store %v{label}, {cell}[] : i32
      }}"""
