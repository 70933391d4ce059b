"""The builtins of CSL: one file for each group of them, which declares them in a table and implements them.

`registry.load_rules` finds the files; `docs/csl.md` lists the tables. Nothing here may be imported by the evaluator
or by the rules of expressions and statements.
"""
