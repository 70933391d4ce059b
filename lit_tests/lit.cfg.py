"""Configuration of lit: every .mlir file below this folder is a test, run with the tools installed beside lit."""

import os
import sys

import lit.formats

config.name = "loomir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
