"""FIFOs of the core: random programs that push and pop do on it what the reference says."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ...searches import examples
from .. import random_programs
from ..agreement import Way, differences, outcome
from ..random_features import Fifo, HostStream, Register
from ..random_programs import random_exchange


@pytest.fixture(scope="module", autouse=True)
def features_of_the_core() -> Iterator[None]:
    """Programs have FIFOs, registers and host streams, all of which the core runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_programs, "FEATURES", (Fifo, Fifo, Register, HostStream))
        yield


@pytest.mark.slow
@settings(max_examples=examples(40, seldom=True), suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1))
def test_random_programs_with_fifos(seed: int) -> None:
    program = random_exchange(Random(seed))
    core, reference = outcome(program, Way("core")), outcome(program, Way("reference"))
    assert differences(reference, core) == []
