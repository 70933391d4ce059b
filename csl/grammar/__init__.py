"""The grammar of CSL, a file for each part; each builds on the one before. docs/csl-grammar.ebnf has all of it."""
