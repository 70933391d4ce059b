#!/usr/bin/env cs_python
"""Run, then look for every PE's lines in the log, in their order."""

import argparse
import json
import re
from pathlib import Path

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, height = int(params["width"]), int(params["height"])

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.launch("report", np.uint16(40000), np.float32(2.5), nonblock=False)
runner.stop()

log = Path("sim.log").read_text()
for y in range(height):
    for x in range(width):
        # A line names the PE by its place on the whole fabric.
        lines = re.findall(rf"^@\d+ P{4 + x}\.{1 + y}: (.*)$", log, re.MULTILINE)
        n = 40000 + x
        assert lines[:4] == [
            f"n = {n} = 0x{n:04X} = 0b{n:016b}",
            "4000000000 {braces} DEADBEEF 2.5",
            "40000 9C40 0000000000000101 {literal}",
            "4000000000, 000000FF;",
        ], lines
        found = re.fullmatch(r"PE\((\d+),(\d+)\): x = ([0-9.e+]+)", lines[4])
        assert found, lines
        assert (int(found[1]), int(found[2]), float(found[3])) == (x, y, 2.5)
        assert len(lines) == 5, lines
assert "never" not in log
assert "unfinished" not in log
print("SUCCESS!")
