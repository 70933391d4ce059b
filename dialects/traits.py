"""Traits of operations that all dialects share: how much of a program the verification of an operation sees."""

from __future__ import annotations

from xdsl.traits import OpTrait


class VerifiedByKind(OpTrait):
    """The operation's own check sees only its types and attributes, so equal ones are checked once, except where they
    have operations inside.

    What it says of symbols is checked by the program it is in, each by itself.
    """


class VerifiedByConstants(OpTrait):
    """The operation's own check sees its types and attributes, and those of its operands that are constants."""


class VerifiedByDescriptors(OpTrait):
    """The operation's own check sees its types and attributes, and how its descriptors were made."""
