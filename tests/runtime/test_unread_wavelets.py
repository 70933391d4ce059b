"""Unread wavelets: reported, but not an error where others read them too."""

from __future__ import annotations

import pytest

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.runtime import Deadlock

from .flow_modules import parse
from .machines import load


def program(reader: str, columns: str = "1") -> str:
    """PE 0 sends three wavelets to PEs 1 and 2, of which those of `columns` have a queue."""
    return f"""flow.fabric @row target "wse3" grid 3 by 1 {{
      flow.color @c = 4
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp, east]
      flow.route @c on [2, :] from [west] to [ramp]
      flow.units @sender on [0, :] words 8 {{
        flow.buffer @a at 0 : memref<4xf32>
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.task local @send id 9 active {{
          %s = flow.stream @a at 0 strides [1] extents [3] : !flow.stream<f32>
          %o = flow.queue_stream @out extent 3 : !flow.stream<f32>
          flow.apply fmovs %o, %s : !flow.stream<f32>, !flow.stream<f32>
        }}
      }}
      flow.units @reader on [{columns}, :] words 16 {{
        flow.buffer @a at 0 : memref<8xf32>
        flow.queue input @in id 2 colors [@c on [:, :]]
        {reader}
      }}
    }}"""


def receive(count: int) -> str:
    return f"""flow.task local @take id 9 active {{
      %s = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
      %i = flow.queue_stream @in extent {count} : !flow.stream<f32>
      flow.apply fmovs %s, %i : !flow.stream<f32>, !flow.stream<f32>
    }}"""


def test_all_read() -> None:
    machine = load(parse(program(receive(3), "1:")))
    machine.run()
    assert machine.unread() == []


def test_a_receiver_without_queue() -> None:
    machine = load(parse(program(receive(3))))
    machine.run()
    (left,) = machine.unread()
    assert (left.color, left.place, left.wavelets, left.sender) == ("c", (2, 0), 3, (0, 0))
    assert (
        str(left)
        == "3 wavelets of color @c were sent by PE (0, 0) to PE (2, 0), where no operation and no task reads the color"
    )


def test_what_is_left_in_a_queue() -> None:
    machine = load(parse(program(receive(2), "1:")))
    machine.run()
    assert [(left.place, left.wavelets, left.queue) for left in machine.unread()] == [
        ((1, 0), 1, "in"),
        ((2, 0), 1, "in"),
    ]
    assert (
        str(machine.unread()[0])
        == "1 wavelet of color @c waits in input queue @in (id 2) of PE (1, 0): nothing reads it"
    )


def test_a_deadlock_names_them() -> None:
    with pytest.raises(Deadlock, match=r"3 wavelets of color @c were sent by PE \(0, 0\) to PE \(2, 0\)"):
        load(parse(program(receive(4)))).run()


def test_what_nobody_reads_is_an_error() -> None:
    text = program("").replace("flow.queue input @in id 2 colors [@c on [:, :]]", "")
    with pytest.raises(LoomError, match=r"on PE \(0, 0\) sends wavelets that reach no queue"):
        load(parse(text)).run()


def exchange(count: int) -> str:
    """Both PEs send `count` wavelets to each other, and neither receives before it has sent."""
    wavelets = "flow.queue_stream @{} extent {} : !flow.stream<f32>"
    sides = "".join(
        f"""flow.units @{name} on [{x}, :] words 600 {{
          flow.buffer @a at 0 : memref<{count}xf32>
          flow.queue output @out id 2 colors [@{out} on [:, :]]
          flow.queue input @in id 3 colors [@{into} on [:, :]]
          flow.task local @both id 9 active {{
            %a = flow.stream @a at 0 strides [1] extents [{count}] : !flow.stream<f32>
            %o = {wavelets.format("out", count)}
            flow.apply fmovs %o, %a : !flow.stream<f32>, !flow.stream<f32>
            %i = {wavelets.format("in", count)}
            flow.apply fmovs %a, %i : !flow.stream<f32>, !flow.stream<f32>
          }}
        }}"""
        for name, x, out, into in (("left", 0, "c", "d"), ("right", 1, "d", "c"))
    )
    return f"""flow.fabric @pair target "wse3" grid 2 by 1 {{
      flow.color @c = 4
      flow.color @d = 5
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]
      flow.route @d on [1, :] from [ramp] to [west]
      flow.route @d on [0, :] from [east] to [ramp]
      {sides}
    }}"""


@pytest.mark.parametrize("more", [0, 1, 184])
def test_no_more_wait_than_fit_on_the_way(more: int) -> None:
    """DSD-214: a way holds the words of both queues and of its links; the sender keeps the rest."""
    wse3 = targets.get("wse3")
    holds = wse3.output_queue_words[2] + wse3.input_queue_words[3] + wse3.timing.link_words
    machine = load(parse(exchange(holds + more)))
    if not more:
        machine.run()
        return
    with pytest.raises(Deadlock, match=f"no more than {holds} wavelets fit on the way") as caught:
        machine.run()
    assert [(left.color, left.wavelets) for left in caught.value.unread] == [("c", holds), ("d", holds)]
    assert str(caught.value.unread[0]) == (
        f"{holds} wavelets of color @c wait in input queue @in (id 3) of PE (1, 0) and on the way there: nothing reads "
        f"them, and the sender still holds {more} more"
    )
    # Both began at cycle 0, and are where they sent.
    begun = wse3.timing.task_start
    cycle = int(str(caught.value).split("deadlock at cycle ")[1].split()[0])
    assert machine.cycles == 0 and begun <= cycle < begun + holds + more
    assert caught.value.statistics["cycles_estimated"] == cycle


@pytest.mark.parametrize("text", [program(receive(4), "1:"), exchange(200)])
def test_a_deadlock_is_at_the_same_cycle_on_both(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cycles: set[str] = set()
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        with pytest.raises(Deadlock) as caught:
            load(parse(text)).run()
        cycles.add(caught.value.message.split(":")[0])
    assert len(cycles) == 1 and cycles != {"deadlock at cycle 0 (estimated)"}


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize("sent", [1, 2, 3])
def test_the_cycle_of_a_deadlock_counts_what_receives_have_taken(
    sent: int, executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the one at which a receive of as many elements as come ends."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)

    def text(wanted: int) -> str:
        return program(receive(wanted), "1:").replace("[3]", f"[{sent}]").replace("extent 3", f"extent {sent}")

    whole = load(parse(text(sent)))
    whole.run()
    with pytest.raises(Deadlock) as caught:
        load(parse(text(7))).run()
    assert caught.value.message.startswith(f"deadlock at cycle {whole.cycles} (estimated)")
