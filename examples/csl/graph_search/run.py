#!/usr/bin/env cs_python
"""Search a random directed graph from one vertex and compare all distances with a search in Python."""

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
width, height, vertices, edges = (int(params[name]) for name in ("width", "height", "vertices", "edges"))
pes = width * height
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}
FAR = 0xFFFFFFFF

generator = np.random.default_rng(8)
# Few edges, so that some vertices are far away and some out of reach.
used = np.minimum(generator.integers(0, vertices * 5 // 2, pes), edges)
targets = generator.integers(0, pes * vertices, (pes, edges), dtype=np.uint32)
starts = np.zeros((pes, vertices + 1), np.uint32)
for pe in range(pes):
    starts[pe, 1:-1] = np.sort(generator.integers(0, used[pe] + 1, vertices - 1))
    starts[pe, -1] = used[pe]

source = int(np.argmax(used)) * vertices
source += int(np.argmax(np.diff(starts[source // vertices].astype(np.int64))))
expected = np.full(pes * vertices, FAR, np.uint32)
expected[source] = 0
frontier = [source]
while frontier:
    following: list[int] = []
    for vertex in frontier:
        pe, local = divmod(vertex, vertices)
        for target in targets[pe, starts[pe, local] : starts[pe, local + 1]].tolist():
            if expected[target] == FAR:
                expected[target] = expected[vertex] + 1
                following.append(target)
    frontier = following
assert expected[expected < FAR].max() >= 4 and (expected == FAR).any()

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in ("starts", "targets", "distances")}
runner.load()
runner.run()
runner.memcpy_h2d(symbols["starts"], starts.ravel(), 0, 0, width, height, vertices + 1, **copy)
runner.memcpy_h2d(symbols["targets"], targets.ravel(), 0, 0, width, height, edges, **copy)
runner.launch("search", np.uint16(source), nonblock=False)
distances = np.zeros(pes * vertices, np.uint32)
runner.memcpy_d2h(distances, symbols["distances"], 0, 0, width, height, vertices, **copy)
runner.stop()
np.testing.assert_array_equal(distances, expected)
print("SUCCESS!")
