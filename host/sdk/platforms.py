"""Execution platforms of newer host scripts: the simulator and its settings, never a wafer."""

from __future__ import annotations

import enum
from pathlib import Path

from ...diagnostics.records import record
from .errors import SdkError


class SdkTarget(enum.Enum):
    """The architecture that a program was compiled for."""

    WSE2 = "wse2"
    WSE3 = "wse3"


@record
class SimfabConfig:
    """Settings of the simulator. `num_threads` is accepted and has no effect.

    With `dump_core`, stop() writes the memory of all PEs to `core_path`, out.core if that is None.
    """

    num_threads: int = 16
    suppress_trace: bool = False
    dump_core: bool = False
    core_path: Path | str | None = None


@record
class SdkExecutionPlatform:
    """What get_platform and get_simulator return."""

    config: SimfabConfig
    target: SdkTarget

    def is_simulation(self) -> bool:
        """Return True always: there is nothing else."""
        return True

    def is_system(self) -> bool:
        """Return False always."""
        return False


@record
class SdkCompileArtifacts:
    """The directory of a compiled program."""

    artifacts_path: str


def check_cmaddr(cmaddr: object) -> None:
    """Raise SdkError for the address of a real wafer, of which there is none here (HOST-005, HOST-006)."""
    if cmaddr is None or cmaddr == "":
        return
    raise SdkError(
        f"cmaddr is {cmaddr!r}, a wafer's address; leave it out: loom runs programs on its own simulator only"
    )


def get_platform(
    cmaddr: str | None = None, config: SimfabConfig | None = None, target: SdkTarget = SdkTarget.WSE3
) -> SdkExecutionPlatform:
    """Return the simulator; SdkError for a wafer's address."""
    check_cmaddr(cmaddr)
    return get_simulator(config, target)


def get_simulator(config: SimfabConfig | None = None, target: SdkTarget = SdkTarget.WSE3) -> SdkExecutionPlatform:
    """Return the simulator of an architecture."""
    if not isinstance(target, SdkTarget):
        raise SdkError(f"target is {target!r}; give SdkTarget.WSE2 or SdkTarget.WSE3")
    if config is not None and not isinstance(config, SimfabConfig):
        raise SdkError(f"config is {config!r}; give a SimfabConfig")
    return SdkExecutionPlatform(config or SimfabConfig(), target)


def get_system(cmaddr: str) -> SdkExecutionPlatform:
    """Raise SdkError: there is no wafer."""
    raise SdkError(f"there is no wafer at {cmaddr!r}: loom runs programs on its own simulator only; use get_simulator")
