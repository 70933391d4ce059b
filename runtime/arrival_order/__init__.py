"""Results that depend on the order in which wavelets of two senders arrive.

Two *actors* of a PE, tasks or operations that receive, which different queues start, race if one is sure to write a
word that the other is sure to use, and nothing can decide which is first:

- nothing on the PE: neither leads to the other by activations and completions, no task that may be blocked is among
  them, no other wavelets lead to either, and they do not look at what the other does (each may read what the other
  writes, as tasks do that join by flags; what both read and write, such as a count, is left aside);
- nothing outside: two PEs send, no wavelet can lead from one to the other or from the receiver to one of them, neither
  by a switch nor by the host, and one launch starts all.

So do two senders that meet in one queue if the host sees in which order their wavelets arrive: an operation moves it
to several elements, or a data task stores it where the wavelet does not say, and never reads what was there. What is
written by both counts only if the host sees it, since tasks may use scratch memory one after the other.

Found on loading, for the first PE of each class; silent wherever it cannot tell. Runs only where races are looked for.
"""

from __future__ import annotations

from typing import Any

from ..fabric.model import Fabric
from .actors import ClassActors
from .senders import Senders


def undecided_orders(fabric: Fabric) -> list[tuple[Any, ...]]:
    """Return a finding for each two accesses whose order the program leaves open."""
    found: list[tuple[Any, ...]] = []
    senders = Senders(fabric)
    if senders.may_meet:
        for number in range(len(fabric.words)):
            found += ClassActors(fabric, number, senders).findings()
    return found
