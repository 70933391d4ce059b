"""`loom-opt`: xDSL's optimizer driver with our dialects and passes, and errors of one line each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from difflib import get_close_matches
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import IO, Literal, NoReturn, get_args, get_origin, get_type_hints

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import DiagnosticException
from xdsl.xdsl_opt_main import xDSLOptMain

from ..backend import get_own_targets
from ..diagnostics.errors import LoomError, one_line
from ..dialects.ir_text import LocatingParser, decode_text
from ..dialects.verification import located, verify
from .arguments import TellAsJson
from .exit_status import run_tool
from .outputs import Outputs


class LoomOptMain(xDSLOptMain):
    """The driver: operations get locations, and SSA dominance is checked after every pass.

    Dialects and passes come from the installed `xdsl.universe` entry points, ours among them.
    """

    version_format = "loom-opt built on xdsl {xdsl_version}"

    _line_offset = 0
    _files: _CslFiles | None = None

    def register_all_frontends(self) -> None:
        super().register_all_frontends()

        def parse_mlir(stream: IO[bytes]) -> ModuleOp:
            name = self.get_input_name()
            text = decode_text(stream.read(), name)
            parser = LocatingParser(self.ctx, text, name, self._line_offset)
            return parser.parse_module(not self.args.no_implicit_module)

        self.available_frontends["mlir"] = parse_mlir

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        def error(message: str) -> NoReturn:
            raise LoomError(f"{message}; see {arg_parser.prog} --help")

        arg_parser.error = error
        super().register_all_arguments(arg_parser)
        arg_parser.add_argument("--json", action=TellAsJson, help=TellAsJson.HELP)

    def register_all_targets(self) -> None:
        self.available_targets.update(get_own_targets())
        super().register_all_targets()

    def setup_pipeline(self) -> None:
        for spec in parse_pipeline(self.args.passes):
            if spec.name not in self.available_passes:
                near = get_close_matches(spec.name, self.available_passes, 3)
                hint = f"did you mean {' or '.join(near)}?" if near else "--help lists them"
                raise LoomError(f"'{spec.name}' is not a pass; {hint}")
        try:
            super().setup_pipeline()
        except ValueError as error:
            message = self._wrong_option() or f"wrong options for a pass: {one_line(error)}"
            raise LoomError(message) from error
        check = self.pipeline.callback

        def callback(previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
            if not self.args.disable_verify:
                verify(module)
            if check is not None:
                check(previous, module, following)

        self.pipeline = PassPipeline(self.pipeline.passes, callback)

    def _wrong_option(self) -> str | None:
        """Return what is wrong with the first option that its pass does not take; None if that is not what is wrong."""
        for spec in parse_pipeline(self.args.passes):
            kind = self.available_passes[spec.name]()
            types = get_type_hints(kind)
            options = [option.name for option in fields(kind) if option.init and option.name != "name"]
            for option, given in spec.normalize_parameter_names().parameters.items():
                if option not in options:
                    known = f"its options are: {', '.join(options)}" if options else "it has none"
                    return f"'{spec.name}' has no option '{option}'; {known}"
                try:
                    kind.from_spec(ArgSpec(spec.name, {option: given}))
                except ValueError as error:
                    if not str(error).startswith("Incompatible types"):
                        continue
                    taken = get_args(types[option]) if get_origin(types[option]) is Literal else ()
                    one_of = f"use one of {', '.join(map(str, taken))}"
                    use = one_of if taken else f"it takes {_type_name(types[option])}"
                    return f"option '{option}' of '{spec.name}' is {','.join(map(str, given)) or 'empty'}; {use}"
        return None

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        stream, extension = super().get_input_stream()
        return stream, extension if extension in self.available_frontends else "mlir"

    def parse_chunk(self, chunk: IO[bytes], file_extension: str, start_offset: int = 0) -> ModuleOp | None:
        self._line_offset = start_offset
        return super().parse_chunk(chunk, file_extension, start_offset)

    def apply_passes(self, prog: ModuleOp) -> None:
        if not self.args.disable_verify:
            # With all that is wrong; xDSL's driver stops at the first operation.
            verify(prog)
        try:
            super().apply_passes(prog)
        except DiagnosticException as error:
            raise located(error) from None

    def prepare_output(self) -> IO[str]:
        if self.args.output_file is None:
            return sys.stdout
        if self.args.target == "csl" and (self.args.output_file.endswith("/") or Path(self.args.output_file).is_dir()):
            self._files = _CslFiles()
            return self._files
        return TextIOWrapper(self._outputs.open(self.args.output_file), encoding="utf-8")

    def run(self) -> None:
        with Outputs() as self._outputs:
            super().run()
            if self._files is not None:
                self._files.put(Path(self.args.output_file), self._outputs)


def _type_name(type: object) -> str:
    """Return what a message calls the type of an option."""
    names = {"int": "a number", "float": "a number", "bool": "true or false", "str": "a text"}
    name = getattr(type, "__name__", str(type))
    return names.get(name, name)


class _CslFiles(StringIO):
    """A stream of printed CSL whose text is then split into the files of a directory."""

    def close(self) -> None:
        if not self.closed:
            self._text = self.getvalue()
        super().close()

    def put(self, directory: Path, outputs: Outputs) -> None:
        """Write the files. Raises LoomError for an invalid file name and for one that exists and cannot be replaced."""
        # Only printing of CSL needs the backend, and every start of the tool would pay for it.
        from ..backend.csl.names import file_name_problem
        from ..backend.csl.target import file_of, split_files

        files = split_files(self._text)
        for name in files:
            problem = file_name_problem(name)
            if problem is not None:
                raise LoomError(f"file name '{name}' {problem}; rename the module", str(directory))
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            outputs.open(directory / file_of(name), follow=False).write(text.encode())


def main(argv: Sequence[str] | None = None) -> None:
    """Run the driver; a mistake in the input ends it with status 1 and one line on stderr."""
    status = run_tool(
        lambda: LoomOptMain(description="Runs Loom IR passes over a module and prints it", args=argv).run()
    )
    if status != 0:
        sys.exit(status)


if __name__ == "__main__":
    main()
