"""One instruction of the public dialect: its name, its text, and what it does.

The text is in a notation of its own, in which a family of instructions takes one line:

    %lhs:V, %rhs:V, %mask:M {} : * -> result:V

| notation | meaning |
|---|---|
| `%x`, `%x?`, `%x*` | an operand, one that may be missing, any number of them |
| `%x+` | the next of any number of operands, written in several places |
| `%x:V` | an operand of kind V, see `KINDS`; its type is printed |
| `%x:=index` | an operand of this type, which is not printed |
| `%x:~y` | an operand of the type of operand `y` |
| `x` | the type of operand `x`; of any other name, the type of a result |
| `x:V`, `x:=index` | the type of a result of this kind; a result of this type, which is not printed |
| `*` | the types of all operands whose types are printed nowhere else, in order |
| `*(x=pad y/3=loop)` | the same, with `pad` before the type of `x`, and `loop` before every third of `y` |
| `#x`, `#x=kind` | an attribute, and how it is written: see `dialects/pto/syntax.py` |
| `{}`, `{a b}` | the dictionary of the attributes that are not written elsewhere; of those named only |
| `'word'`, `'word|other'` | a keyword; one that may also be written otherwise |
| `<?, %x?>` | a part that may be missing |
| `<*'loop' (%x+)*>` | a part that may be there any number of times |
| `<~ %x? | #x ~>` | one of several parts |
| `<| 'm' (%m?) | 'k' (%k?) |>` | parts that follow commas, in any order; with `^`, in this one |
| `@body` | a region |

All else is punctuation.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics.records import record


@record
class Instruction:
    """One instruction: its name without `pto.`, its text, and what it does.

    A pure one has no effect besides its results. A generic one is written in MLIR's generic form, and its text here
    only says what its operands and results are. `attributes` declares its attributes, see `attributes.py`. `order`
    names the operands as the generic form has them, where that is not the order of the text.
    """

    name: str
    text: str
    summary: str
    is_pure: bool = False
    order: tuple[str, ...] = ()
    is_generic: bool = False
    attributes: str = ""


def family(text: str, summaries: Mapping[str, str], *, is_pure: bool = False) -> list[Instruction]:
    """Return instructions that differ in their names and in what they do."""
    return [Instruction(name, text, summary, is_pure) for name, summary in summaries.items()]
