"""Fabrics of tables beside what the first engine makes of the same routes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow
from loomir.runtime.fabric.connect import fabric_of
from loomir.runtime.findings import finding_of
from loomir.runtime.reports.sentences import deliver
from loomir.runtime.warnings import Warnings
from loomir.runtime.warps.machine import load

from ...searches import examples
from ..flow_modules import parse
from ..random_fabrics import RandomFabric, random_fabrics
from .same_fabric import compare


@pytest.mark.slow
@settings(max_examples=examples(150, seldom=True))
@given(random_fabrics(), st.sampled_from([1, 2, 16]))
def test_fabrics_are_those_of_the_first_engine(case: RandomFabric, displacements: int) -> None:
    """Ways, what is lost, and what queues hold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loomir.runtime.warps.deliveries.MAX_DISPLACEMENTS", displacements)
        check(case)


def check(case: RandomFabric) -> None:
    try:
        machine = load(parse(case.flow(), verify=False), Warnings())
    except LoomError as error:
        with pytest.raises(LoomError) as other:
            fabric_of(case.tables())
        assert str(other.value) == str(error)
        return
    compare(machine, fabric_of(case.tables()))


OTHER_FABRICS = {
    "switches, and senders that meet at them": """flow.fabric @f target "wse3" grid 3 by 3 {
      flow.color @c = 4
      flow.route @c on [1, 1] from [ramp, west] to [north]
        switch [to [south], invalid, from [east]] at 1 ring pop_on_advance
      flow.route @c on [0, 1] from [ramp] to [east]
      flow.route @c on [1, 0] from [south] to [ramp]
      flow.route @c on [2, 1] from [west] to [ramp]
      flow.units @a on [:2, 1] words 8 {
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.queue output @two id 3 colors [@c on [:, :]]
      }
      flow.units @b on [:, 0] + [2, 1] words 8 {
        flow.queue input @in id 2 colors [@c on [1:, :]]
      }
    }""",
    "streams of the host": """flow.fabric @f target "wse3" grid 3 by 2 {
      flow.color @up = 1
      flow.color @down = 2
      flow.color @none = 3
      flow.route @down on [0, 1] from [ramp] to [east]
      flow.route @down on [1, 1] from [west] to [ramp]
      flow.host_stream @up in on [:2, :]
      flow.host_stream @down out on [:, 0] + [0, 1]
      flow.units @a on [:2, :] words 8 {
        flow.queue input @in id 2 colors [@up on [:, 0], @down on [1, 1]]
        flow.queue input @never id 4 colors [@none on [:, :]]
        flow.queue output @out id 3 colors [@down on [:, :]]
        flow.task data @take id 4 on @never (%x : i32) {
          flow.return
        }
      }
      flow.units @b on [2, :] words 8 {
        flow.queue output @out id 3 colors [@down on [:, 0]]
        flow.queue output @two id 2 colors [@down on [:, 0]]
      }
    }""",
    "a network of messages": """flow.fabric @f target "wse3" grid 3 by 2 {
      flow.color @comm = 18
      flow.color @c = 2
      flow.message_network @comm
      flow.units @a on [:2, :] words 8 {
        flow.queue input @in id 2 colors [@comm on [0, :], @c on [1, :]]
        flow.queue output @out id 3 colors [@comm on [:, :]]
      }
      flow.units @b on [2, :] words 8 {
        flow.queue input @in id 2 colors [@comm on [:, 1]]
      }
    }""",
}


@pytest.mark.parametrize("name", OTHER_FABRICS)
def test_other_fabrics_are_those_of_the_first_engine(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Routers with switches, streams of the host and networks, and what is warned of on loading."""
    module = parse(OTHER_FABRICS[name])
    machine = load(module, Warnings())
    warned = capsys.readouterr().err
    (op,) = module.body.block.ops
    assert isinstance(op, flow.FabricOp)
    fabric = fabric_of(assemble(op))
    compare(machine, fabric)
    warnings = Warnings()
    for record in fabric.findings:
        deliver(fabric, finding_of(record), warnings)
    assert capsys.readouterr().err == warned
    assert bool(warned) == ("host" in name)
