# pyright: basic
"""A test format of lit that runs `loom-opt` and `filecheck` in lit's own processes, where Python has them imported.

Starting Python twice for each RUN line takes most of the time of the tests otherwise.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from typing import TextIO

import filecheck.main
import lit.Test
import lit.TestRunner
from lit.formats import ShTest
from lit.LitConfig import LitConfig
from lit.ShUtil import Command, Pipeline, ShParser

import loomir.tools.loom_opt

TOOLS: Mapping[str, Callable[[list[str]], None]] = {
    "loom-opt": lambda arguments: loomir.tools.loom_opt.main(arguments),
    "filecheck": lambda arguments: filecheck.main.main(["filecheck", *arguments]),
}
STDERR_TO_STDOUT = ((">&", 2), "1")


class InProcessTest(ShTest):
    """Runs tests whose RUN lines are pipelines of the tools; leaves tests with any other command to lit's shell."""

    def execute(self, test: lit.Test.Test, litConfig: LitConfig) -> lit.Test.Result:
        pipelines = None if litConfig.noExecute else _pipelines(test)
        if pipelines is None:
            result: lit.Test.Result = super().execute(test, litConfig)  # pyright: ignore[reportAssignmentType]
            return result
        for line, pipeline in pipelines:
            status, report = _run(pipeline)
            if status != 0:
                return lit.Test.Result(lit.Test.FAIL, f"Exit Code: {status}\n\n{line}\n\n{report}")
        return lit.Test.Result(lit.Test.PASS)


def _pipelines(test: lit.Test.Test) -> list[tuple[str, Pipeline]] | None:
    """Return the RUN lines of a test with what they run; None if that is more than pipelines of the tools."""
    script = lit.TestRunner.parseIntegratedTestScript(test)
    if isinstance(script, lit.Test.Result):
        return None
    substitutions = lit.TestRunner.getDefaultSubstitutions(test, *lit.TestRunner.getTempPaths(test))
    found: list[tuple[str, Pipeline]] = []
    for line in lit.TestRunner.applySubstitutions(script, substitutions):
        line = re.sub(r"^%dbg\([^)]*\)\s*", "", line)
        parsed = ShParser(line, pipefail=True).parse()
        if not isinstance(parsed, Pipeline) or parsed.negate or not all(map(_is_tool, parsed.commands)):
            return None
        found.append((line, parsed))
    return found


def _is_tool(command: Command) -> bool:
    names = command.args[1:2] if command.args[0] == "not" else command.args[:1]
    return (
        all(isinstance(argument, str) for argument in command.args)
        and names[0] in TOOLS
        and command.redirects in ([], [STDERR_TO_STDOUT])
    )


def _run(pipeline: Pipeline) -> tuple[int, str]:
    """Run the commands one after the other; return the last status that is not 0, and what went to stderr."""
    text = b""
    failed = 0
    errors = TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True)
    for command in pipeline.commands:
        output = TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True)
        status = _call(command.args, text, output, output if command.redirects else errors)
        failed = status or failed
        text = _written(output)
    return failed, (_written(errors) + text).decode()


def _written(stream: TextIOWrapper) -> bytes:
    buffer = stream.buffer
    assert isinstance(buffer, BytesIO)
    return buffer.getvalue()


def _call(command: Sequence[str], text: bytes, output: TextIO, errors: TextIO) -> int:
    """Call a tool with `text` as its standard input; return its exit status, turned around by `not`."""
    if command[0] == "not":
        return int(_call(command[1:], text, output, errors) == 0)
    before = sys.stdin, sys.argv
    sys.stdin, sys.argv = TextIOWrapper(BytesIO(text), encoding="utf-8"), list(command)
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            TOOLS[command[0]](list(command[1:]))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc(file=errors)
        return 1
    finally:
        sys.stdin, sys.argv = before
    return 0
