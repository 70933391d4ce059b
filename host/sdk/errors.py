"""The error that a host script sees."""

from __future__ import annotations

from ...diagnostics.errors import LoomError


class SdkError(LoomError, RuntimeError):
    """A mistake in what a host script asks for, or a run that failed.

    It is a RuntimeError too, because that is what scripts written for the SDK catch.
    """
