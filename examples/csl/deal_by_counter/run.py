#!/usr/bin/env cs_python
"""Two decks: whole rounds leave the counters as they began, so that both are dealt alike."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
players, rounds = int(params["width"]) - 1, int(params["rounds"])
options = {
    "order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "streaming": False, "nonblock": False,
}  # fmt: skip

generator = np.random.default_rng(26)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
deck, hand = runner.get_id("deck"), runner.get_id("hand")
runner.load()
runner.run()
for _ in range(2):
    words = generator.integers(0, 1 << 32, players * rounds, dtype=np.uint32)
    runner.memcpy_h2d(deck, words, 0, 0, 1, 1, words.size, **options)
    runner.launch("deal", nonblock=False)
    found = np.zeros(words.size, np.uint32)
    runner.memcpy_d2h(found, hand, 1, 0, players, 1, rounds, **options)
    np.testing.assert_array_equal(found.reshape(players, rounds), words.reshape(rounds, players).T)
runner.stop()
print("SUCCESS!")
