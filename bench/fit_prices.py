"""Prices with which counts of runs come nearest to published cycles: non-negative least squares.

Reads a JSON list of runs, each with `stats`, a file that `loom run --stats` or LOOM_STATS has written, and `cycles`,
those published. Writes a file of prices, and on the standard error stream how near they come, and how near prices come
that are fitted to the other runs alone: where these are far worse, there are too many prices for the runs. What is not
fitted keeps the price of the target. Cycles are taken for what one PE was charged, on average.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from loomir import targets
from loomir.operations.prices import least

ROUNDS = 10_000


def fitted(counts: np.ndarray, cycles: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return non-negative prices [k] for counts [n, k], so that counts x prices are near cycles [n], relatively.

    Coordinate descent, from `start` on; a price that nothing depends on stays there.
    """
    scaled, wanted = counts / cycles[:, None], np.ones(len(cycles))
    prices = start.astype(float)
    squares = (scaled**2).sum(axis=0)
    for _ in range(ROUNDS):
        before = prices.copy()
        for k in np.flatnonzero(squares):
            rest = wanted - scaled @ prices + scaled[:, k] * prices[k]
            prices[k] = max(0.0, float(scaled[:, k] @ rest) / squares[k])
        if np.allclose(before, prices, rtol=1e-9, atol=1e-9):
            break
    return prices


def charged(stats: dict[str, Any], fit: list[str]) -> tuple[list[float], float]:
    """Return the counts of prices to fit, and the cycles of all others, for a PE on average."""
    timing, costs, units = targets.get(stats["target"]).timing, dict(stats["costs"]), stats["units"]
    costs.pop("elements", None)  # they have prices by stride and width
    others = sum(getattr(timing, name) * count for name, count in costs.items() if name not in fit)
    return [costs.get(name, 0) / units for name in fit], others / units


def main() -> None:
    """Fit prices to the runs of a file."""
    parser = argparse.ArgumentParser(description="fit prices to published cycles")
    parser.add_argument("runs", help='a JSON list of {"stats": FILE, "cycles": N}')
    parser.add_argument(
        "--fit", action="append", required=True, metavar="PRICE", help="a price to fit; may be repeated"
    )
    arguments = parser.parse_args()
    runs = json.loads(Path(arguments.runs).read_text())
    folder = Path(arguments.runs).parent
    stats = [json.loads((folder / run["stats"]).read_text()) for run in runs]
    rows, others = zip(*(charged(each, arguments.fit) for each in stats), strict=True)
    counts, published = np.array(rows, float), np.array([run["cycles"] for run in runs], float)
    timing = targets.get(stats[0]["target"]).timing
    start = np.array([getattr(timing, name) for name in arguments.fit], float)
    left = np.maximum(published - np.array(others), 1)
    lowest = [least(name) for name in arguments.fit]

    def prices_of(chosen: np.ndarray) -> np.ndarray:
        return np.maximum(np.rint(fitted(counts[chosen], left[chosen], start)).astype(int), lowest)

    everything = np.arange(len(runs))
    prices = prices_of(everything)
    for number, (run, row, other) in enumerate(zip(runs, counts, others, strict=True)):
        without = prices_of(everything != number)
        now, then, alone = ((row @ each + other) / run["cycles"] for each in (start, prices, without))
        print(
            f"{run['stats']}: {now:.2f} of the published cycles, {then:.2f} with the prices, {alone:.2f} with those of "
            "the other runs",
            file=sys.stderr,
        )
    print(json.dumps(dict(zip(arguments.fit, prices.tolist(), strict=True)), indent=2))


if __name__ == "__main__":
    main()
