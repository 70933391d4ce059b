#!/usr/bin/env cs_python
"""Run, then look for every PE's lines in the log, in their order; its cycle comes before each."""

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
        lines = re.findall(rf"^@\d+ {x}\.{y} (.*)$", log, re.MULTILINE)
        n = 40000 + x
        assert lines[::2] == [f"n = {n} = 0x{n:04X} = 0b{n:016b}", "40000 9C40 0000000000000101 {literal}"], lines
        found = re.fullmatch(r"4000000000 {braces} DEADBEEF ([0-9.e+]+)", lines[1])
        assert found, lines
        assert float(found[1]) == 2.5
        assert lines[3:] == ["4000000000, 000000FF;"], lines
        found = re.findall(rf"^@\d+ PE\({x},{y}\): x = ([0-9.e+]+)$", log, re.MULTILINE)
        assert [float(text) for text in found] == [2.5], log
assert "never" not in log
assert "unfinished" not in log
print("SUCCESS!")
