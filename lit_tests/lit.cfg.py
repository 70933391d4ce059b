"""Configuration of lit: every .mlir file below this folder is a test, run with the tools installed beside lit.

The tools run in lit's processes; `lit -D processes lit_tests` starts them as commands, as users do.
"""

import os
import sys

import lit.formats

config.name = "loomir"
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])

if "processes" in lit_config.params:
    config.test_format = lit.formats.ShTest(execute_external=False)
else:
    sys.path.insert(0, config.test_source_root)
    from in_process import InProcessTest

    config.test_format = InProcessTest(execute_external=False)
