"""SdkRuntime: what a host script calls to run a compiled program, on our engine in place of a wafer.

Commands are carried out in the order they are given. A command with nonblock=True waits until one without it, or
`task_wait` or `stop`, has all before it done; one that takes data the machine has not sent yet lets later ones feed it.
"""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from inspect import currentframe
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import limits as environment
from ...diagnostics.errors import LoomError, shown
from ...operations import cb16, scalar_types
from . import artifact as artifacts
from . import core, direct_link, tensors
from .errors import SdkError
from .platforms import SdkCompileArtifacts, SdkExecutionPlatform, check_cmaddr

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ...runtime import Deadlock
    from ...runtime.statistics.report import Statistics
    from .device import Device, Sending

SIM_LOG = "sim.log"
"""What programs print with <simprint>, written to the working directory."""

TRACES = "simfab_traces"
"""Directory of traces, written to the working directory."""

CORE_FILE = "corefile.cs1"
"""The only name that the SDK's debugger reads a core under (HOST-024)."""

PATIENCE = 10_000
"""Questions whether a task is done, with nothing new to do in between, after which it never will be."""


class MemcpyDataType(enum.Enum):
    """Size of the elements of a copy on the device (HOST-052)."""

    MEMCPY_16BIT = 0
    MEMCPY_32BIT = 1


class MemcpyOrder(enum.Enum):
    """The order of a tensor in the host's array (HOST-053)."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


class Task:
    """Handle of a command; see `SdkRuntime.is_task_done` and `SdkRuntime.task_wait` (HOST-031)."""

    def __init__(self, runtime: SdkRuntime, what: str, run: Callable[[bool], bool], stream: object = None) -> None:
        self.runtime = runtime
        self.what = what
        self.run = run
        """Carries the command out; False if it has to wait for data. With True as argument, waiting is an error."""
        self.stream = stream
        """What its data comes on, None for copies and launches: commands that have it alike keep their order."""
        self.done = False

    def __repr__(self) -> str:
        return f"<Task {self.what}: {'done' if self.done else 'pending'}>"


_unstopped: list[SdkRuntime] = []
"""Runtimes that were started and not stopped: a script may drop its last reference to one."""


class SdkRuntime:
    """Runs the compiled program in `bindir`, a directory written by `loom cslc` (HOST-001 to HOST-008).

    Keywords: `cmaddr`, the address of a wafer, has to be empty or None; `suppress_simfab_trace` leaves out the trace in
    the directory simfab_traces; `simfab_numthreads` and `msg_level` have no effect. `statistics=True`, which is
    ours, lets `statistics` return them. `platform` is what get_platform returns. Raises SdkError, a RuntimeError, for
    whatever does not fit, here and in all methods.
    """

    def __init__(
        self,
        bindir: Path | str | SdkCompileArtifacts | None = None,
        platform: SdkExecutionPlatform | None = None,
        **kwargs: Any,
    ) -> None:
        # The constructor that takes what SdkLayout.compile returns names it so.
        if bindir is None and "artifacts" in kwargs:
            bindir = kwargs.pop("artifacts")
        if isinstance(bindir, SdkCompileArtifacts):
            bindir = bindir.artifacts_path
        if not isinstance(bindir, str | Path):
            raise SdkError(f"bindir is {type(bindir).__name__}; give a str or pathlib.Path, the directory cslc wrote")
        if platform is not None and not isinstance(platform, SdkExecutionPlatform):
            raise SdkError(f"platform is {platform!r}; give what get_platform returns")
        known = ("cmaddr", "suppress_simfab_trace", "simfab_numthreads", "msg_level", "memcpy_required", "statistics")
        for name in kwargs:
            if name not in known:
                raise SdkError(f"SdkRuntime takes no argument '{name}'; it takes bindir, {', '.join(known)}")
        check_cmaddr(kwargs.get("cmaddr"))
        self._traced = not kwargs.get("suppress_simfab_trace", False)
        self._measured = bool(kwargs.get("statistics", False))
        self._is_printed = False
        try:
            self._artifact = artifacts.read(bindir)
        except LoomError as error:
            raise SdkError(error.message, error.location) from error
        if platform is not None and platform.target.value != self._artifact.arch:
            raise SdkError(
                f"the platform is a {platform.target.name}, but the program was compiled for {self._artifact.arch}; "
                f"pass target=SdkTarget.{self._artifact.arch.upper()} to get_platform"
            )
        self._platform = platform
        if platform is not None and platform.config.suppress_trace:
            self._traced = False
        self._ids = {export.name: number for number, export in enumerate(self._artifact.exports)}
        self._device: Device | None = None
        self._trace: Any = None
        self._state = "new"
        self._pending: list[Task] = []
        self._questions = 0
        self._log_lines = -1
        self._failed: str | None = None
        self._longer: set[tuple[str, str | None]] = set()
        """The calls, with their lines, of which a warning has said that their arrays are longer than needed."""
        self._silent: Deadlock | None = None
        """Why no further command can be carried out: a function has returned and not unblocked the command stream."""

    def coord_logical_to_physical(self, logical_coords: tuple[int, int]) -> tuple[int, int]:
        """Return column and row on the fabric of a PE of the program (HOST-010, HOST-011)."""
        try:
            x, y = (index(value) for value in logical_coords)
        except (TypeError, ValueError):
            raise SdkError(f"{logical_coords!r} is not a coordinate; give a pair of ints, (x, y)") from None
        return self._artifact.placement.offsets[0] + x, self._artifact.placement.offsets[1] + y

    def get_id(self, symbol: str) -> int:
        """Return the id of an exported buffer or function (HOST-012 to HOST-014)."""
        if symbol not in self._ids:
            known = ", ".join(self._ids) or "nothing"
            raise SdkError(f"the program exports no symbol '{symbol}'; it exports {known}")
        return self._ids[symbol]

    # HOST-015 to HOST-024: the life of a run

    def load(self) -> None:
        """Load the program into the machine."""
        self._check_state("load", "new")
        from .device import Device  # loads the engine, which takes most of the start-up time

        step_limit = _step_limit()
        try:
            if self._traced:
                self._trace = _open_trace()
            self._device = Device(self._artifact, self._trace, step_limit, statistics=self._measured)
        except LoomError as error:
            raise SdkError(error.message, error.location) from error
        self._state = "loaded"
        _unstopped.append(self)

    def run(self) -> None:
        """Start the machine, which then waits for commands."""
        self._check_state("run", "loaded")
        self._state = "running"
        with self._reporting("run"):
            self._machine.settle()

    def stop(self) -> None:
        """Finish all pending commands and stop the machine; none is accepted after it (HOST-018, HOST-019)."""
        self._check_state("stop", "running", "loaded")
        try:
            # After a failure the machine is where it was: there is nothing it could finish.
            if self._state == "running" and self._failed is None:
                self._finish()
                with self._reporting("stop"):
                    self._machine.end()
                if self._silent is not None:
                    print(f"warning: stop: {self._silent.message}", file=sys.stderr)
        finally:
            self._end()

    def warn_of_unread(self, when: str) -> None:
        """Warn of wavelets that nothing has read, unless commands are pending or one has failed."""
        if self._state == "running" and self._failed is None and not self._pending:
            self._machine.machine.warn_of_unread(when, at_end=True)

    def dump_core(self, corefile: str) -> None:
        """Write the memory of all PEs to a file, after stop() or right before it (HOST-021 to HOST-024)."""
        if corefile != CORE_FILE:
            raise SdkError(f"a core named '{corefile}' cannot be read by the debugger; name it '{CORE_FILE}'")
        if self._state not in ("running", "stopped"):
            raise SdkError("dump_core writes the memory of a stopped machine; call it after stop()")
        if self._state == "running":
            if self._failed is None:
                self._finish()
                with self._reporting("dump_core"):
                    self._machine.settle()
            print(
                "warning: dump_core: stop() was not called yet, so the core shows the memory as it is now; call "
                "dump_core after stop(), as SDK 2.10 wants it",
                file=sys.stderr,
            )
        core.write(Path(corefile), self._machine.machine)

    def read_symbol(self, x: int, y: int, symbol_name: str, dtype: Any = "uint8") -> NDArray[Any]:
        """Return all of a buffer on PE (x, y) of the program, exported or not, as elements of `dtype`."""
        if self._device is None:
            raise SdkError("read_symbol reads the machine's memory; call load() and run() before")
        return core.live_core(self._artifact, self._machine.machine).symbol(x, y, symbol_name, dtype)

    def statistics(self) -> Statistics | None:
        """Return what PEs have done with their cycles so far, int64 [height, width] each, and wavelets in queues and on
        links; docs/statistics.md defines each number. The SDK has no such method.

        It can be read after an error, a hang or an interruption too, and after stop(). None if neither the keyword
        `statistics` nor LOOM_STATS asks for it.
        """
        if self._device is None:
            raise SdkError("statistics returns what the machine has done; call load() and run() before")
        return self._machine.machine.measured()

    # HOST-025 to HOST-032: functions and tasks

    def launch(self, symbol: str, *args: Any, nonblock: bool = False) -> Task:
        """Call an exported function on every PE; done when all have called unblock_cmd_stream()."""
        export = self._export(symbol, "function", "launch")
        if len(args) != len(export.arguments):
            raise SdkError(f"launch: {export} takes {_arguments(len(export.arguments))}, not {len(args)}")
        values = [
            argument(value, kind, f"launch: argument {number} of {export}")
            for number, (value, kind) in enumerate(zip(args, export.arguments, strict=True), start=1)
        ]
        return self._launch(symbol, values, nonblock)

    def call(self, symbol: str, params: Sequence[Any] = (), nonblock: bool = False) -> Task:
        """Launch like `launch`, with the bits of each argument in a 32-bit word, unchecked."""
        export = self._export(symbol, "function", "call")
        if len(params) != len(export.arguments):
            raise SdkError(f"call: {export} takes {_arguments(len(export.arguments))}, not {len(params)}")
        values = [
            from_bits(value, kind, f"call: argument {number} of {export}")
            for number, (value, kind) in enumerate(zip(params, export.arguments, strict=True), start=1)
        ]
        return self._launch(symbol, values, nonblock)

    def is_task_done(self, task_handle: Task) -> bool:
        """Return True if a command is complete (HOST-029)."""
        task = self._task(task_handle)
        if not task.done:
            with self._reporting(task.what):
                self._machine.settle()
            self._advance()
            self._questions += 1
            if not task.done and self._questions > PATIENCE:
                self._await(task)
        return task.done

    def task_wait(self, task_handle: Task) -> None:
        """Wait until a command is complete (HOST-030)."""
        self._await(self._task(task_handle))

    # HOST-033 to HOST-053: copies and streams

    def memcpy_h2d(
        self, dest: int, src: NDArray[Any], px: int, py: int, w: int, h: int, elem_per_pe: int, **kwargs: Any
    ) -> Task:
        """Send a tensor to a region of PEs: to an exported buffer, or as wavelets of a color if `streaming`."""
        return self._send("memcpy_h2d", dest, src, (px, py, w, h), elem_per_pe, kwargs, (None, None))

    def memcpy_h2d_rowbcast(
        self, dest: int, src: NDArray[Any], px: int, py: int, w: int, h: int, elem_per_pe: int, **kwargs: Any
    ) -> Task:
        """Copy like memcpy_h2d, with one column of data, A[h][1][l], for all columns of the region."""
        return self._send("memcpy_h2d_rowbcast", dest, src, (px, py, w, h), elem_per_pe, kwargs, (1, None))

    def memcpy_h2d_colbcast(
        self, dest: int, src: NDArray[Any], px: int, py: int, w: int, h: int, elem_per_pe: int, **kwargs: Any
    ) -> Task:
        """Copy like memcpy_h2d, with one row of data, A[1][w][l], for all rows of the region."""
        return self._send("memcpy_h2d_colbcast", dest, src, (px, py, w, h), elem_per_pe, kwargs, (None, 1))

    def memcpy_d2h(
        self, dest: NDArray[Any], src: int, px: int, py: int, w: int, h: int, elem_per_pe: int, **kwargs: Any
    ) -> Task:
        """Fetch a tensor into the host's array, in place: an exported buffer, or wavelets of a color."""
        name = "memcpy_d2h"
        region, length = self._region(name, (px, py, w, h), elem_per_pe)
        options = self._options(name, kwargs)
        _, _, width, height = region
        shape = f"h x w x elem_per_pe = {height} x {width} x {length}"
        array = tensors.check_array(dest, width * height * length, f"{name}: dest", shape=shape)
        if not array.flags.writeable:
            raise SdkError(f"{name}: dest is read-only; give an array that can be written")
        if options.streaming:
            color = self._color(name, src, "to the host")

            def receive(last: bool) -> bool:
                words = self._machine.receive(color, region, length, last)
                if words is None:
                    return False
                tensors.pack(words, array, options.column_major)
                return True

            return self._enter(f"{name} of color {src}", receive, options.nonblock, index(src))
        export = self._buffer(name, src)

        def read(last: bool) -> bool:
            words = self._machine.read(export, region, length, options.bits, last=last)
            if words is None:
                return False
            tensors.pack(words, array, options.column_major)
            return True

        return self._enter(f"{name} of '{export.name}'", read, options.nonblock)

    # The direct link: streams of a layout that a host script made

    def get_port_id(self, port_name: str) -> int:
        """Return the id of a stream, which send and receive take as they take its name."""
        names = [stream.name for stream in self._artifact.streams]
        if port_name not in names:
            raise SdkError(
                f"get_port_id: there is no stream '{port_name}'; the streams are: {', '.join(names) or 'none'}"
            )
        return names.index(port_name)

    def report_port_infos(self) -> None:
        """Print the name, color and place on the fabric of every stream."""
        for number, stream in enumerate(self._artifact.streams):
            way = "input" if stream.is_input else "output"
            print(f"port {number}: {stream.name}, {way}, color {stream.color}, PE ({stream.x}, {stream.y})")

    def send(self, port: int | str, src: NDArray[Any], n_wavelets: int | None = None, **kwargs: Any) -> Task:
        """Send the first wavelets of an array, or all of it, to an input stream."""
        call = f"send to {port!r}"
        stream = direct_link.find_stream(call, self._artifact.streams, port, is_input=True)
        nonblock = direct_link.options(call, kwargs)
        words = direct_link.words_to_send(call, src, n_wavelets)
        asked = _line_of_script()
        send = partial(self._machine.send_stream, stream, words, blocks=not nonblock, asked=asked)
        return self._stream(call, send, nonblock)

    def receive(self, port: int | str, dest: NDArray[Any], n_wavelets: int, **kwargs: Any) -> Task:
        """Receive wavelets of an output stream into an array, in place."""
        call = f"receive from {port!r}"
        stream = direct_link.find_stream(call, self._artifact.streams, port, is_input=False)
        nonblock = direct_link.options(call, kwargs)
        array, count = direct_link.room_to_receive(call, dest, n_wavelets)

        def run(last: bool) -> bool:
            words = self._machine.receive_stream(stream, count, last)
            if words is not None:
                direct_link.put(words, array)
            return words is not None

        return self._enter(call, run, nonblock, stream.name)

    def receive_tofile(self, port: int | str, outfile: str, **kwargs: Any) -> Task:
        """Write the wavelets of an output stream to a file, as 32-bit words: all that come until the machine rests.

        With nonblock=True that is when the task is waited for, or at stop().
        """
        call = f"receive_tofile from {port!r}"
        stream = direct_link.find_stream(call, self._artifact.streams, port, is_input=False)
        nonblock = direct_link.options(call, kwargs)
        if not isinstance(outfile, str | Path):
            raise SdkError(f"{call}: outfile is {outfile!r}; give the path of a file")

        def run(last: bool) -> bool:
            if not last:
                return False
            words = self._machine.receive_all(stream)
            try:
                Path(outfile).write_bytes(words.tobytes())
            except OSError as error:
                raise SdkError(f"{call}: the file cannot be written: {error.strerror or error}", outfile) from error
            return True

        return self._enter(call, run, nonblock, stream.name)

    def _stream(self, call: str, send: Callable[[], Sending], nonblock: bool) -> Task:
        """Send on a stream; the command is done when all has left the host. What is sent later is behind it anyway."""
        sent: list[Sending] = []

        def run(last: bool) -> bool:
            if not sent:
                sent.append(send())
            return self._machine.has_left(call, sent[0], last=last)

        return self._enter(call, run, nonblock, object())

    def _send(
        self,
        name: str,
        dest: int,
        src: NDArray[Any],
        roi: tuple[int, int, int, int],
        elem_per_pe: int,
        kwargs: dict[str, Any],
        given: tuple[int | None, int | None],
    ) -> Task:
        region, length = self._region(name, roi, elem_per_pe)
        options = self._options(name, kwargs)
        _, _, width, height = region
        columns, rows = given[0] or width, given[1] or height
        shape = f"{'1' if given[1] else 'h'} x {'1' if given[0] else 'w'} x elem_per_pe = {rows} x {columns} x {length}"
        elements = columns * rows * length
        array = tensors.check_array(src, elements, f"{name}: src", shape=shape, exact=False)
        if array.size > elements:
            self._tell_of_more(name, array.size, f"{shape} = {elements}")
        tensor = np.broadcast_to(
            tensors.unpack(array.reshape(-1)[:elements], (rows, columns, length), options.column_major),
            (height, width, length),
        )
        if options.nonblock:
            tensor = tensor.copy()  # the script may go on using its array
        if options.streaming:
            color = self._color(name, dest, "from the host")
            asked = _line_of_script()
            return self._stream(
                f"{name} to color {dest}",
                lambda: self._machine.send(color, region, tensor, blocks=not options.nonblock, asked=asked),
                options.nonblock,
            )
        export = self._buffer(name, dest)
        if not export.mutable:
            raise SdkError(
                f"{name}: '{export.name}' is exported read-only; pass true as third argument of @export_name to "
                "let the host write it"
            )
        if options.bits == 16 and (place := tensors.not_widened(tensor)) is not None:
            # Programs are known that leave an index there, as streams of sparse data have it.
            print(
                f"warning: {name}: src for '{export.name}' holds {place}: with MEMCPY_16BIT the upper half is dropped; "
                "zero them, or widen the data with sdk_utils.input_array_to_u32 and sentinel None",
                file=sys.stderr,
            )

        def write(last: bool) -> bool:
            return self._machine.write(export, region, tensor, options.bits, last=last)

        return self._enter(f"{name} to '{export.name}'", write, options.nonblock)

    def _tell_of_more(self, name: str, size: int, needed: str) -> None:
        """Warn, once for each line of the script, of an array that is longer than the region takes (HOST-040)."""
        line = _line_of_script()
        if (name, line) in self._longer:
            return
        self._longer.add((name, line))
        print(
            f"warning: {name} at {line}: src has {size} elements, of which the region takes the first {needed}; pass "
            "these alone, or correct the region or elem_per_pe",
            file=sys.stderr,
        )

    def _region(
        self, name: str, roi: tuple[int, int, int, int], elem_per_pe: int
    ) -> tuple[tuple[int, int, int, int], int]:
        try:
            x, y, w, h = (index(value) for value in roi)
            length = index(elem_per_pe)
        except TypeError:
            raise SdkError(
                f"{name}: px, py, w, h and elem_per_pe are whole numbers, not {(*roi, elem_per_pe)}"
            ) from None
        width, height = self._artifact.rectangle
        if w < 1 or h < 1 or x < 0 or y < 0 or x + w > width or y + h > height:
            raise SdkError(
                f"{name}: the region px={x}, py={y}, w={w}, h={h} is not inside the program's rectangle of "
                f"{width} x {height} PEs"
            )
        if length < 1:
            raise SdkError(f"{name}: elem_per_pe is {length}; give at least 1")
        return (x, y, w, h), length

    def _options(self, name: str, kwargs: dict[str, Any]) -> _Options:
        known = ("streaming", "data_type", "order", "nonblock")
        for keyword in kwargs:
            if keyword not in known:
                raise SdkError(f"{name}: unknown argument '{keyword}'; the arguments are {', '.join(known)}")
        streaming = kwargs.get("streaming", False)
        for keyword, kind in (("order", MemcpyOrder), ("data_type", MemcpyDataType)):
            if keyword not in kwargs and not (keyword == "data_type" and streaming):
                raise SdkError(f"{name}: {keyword} is missing; pass {keyword}=" + " or ".join(map(str, kind)))
            if keyword in kwargs and not isinstance(kwargs[keyword], kind):
                raise SdkError(f"{name}: {keyword} is {kwargs[keyword]!r}; give " + " or ".join(map(str, kind)))
        wide = kwargs.get("data_type") is not MemcpyDataType.MEMCPY_16BIT
        return _Options(
            bool(streaming),
            32 if wide else 16,
            kwargs["order"] is MemcpyOrder.COL_MAJOR,
            bool(kwargs.get("nonblock", False)),
        )

    def _buffer(self, name: str, symbol: object) -> artifacts.Export:
        try:
            number = index(symbol)  # pyright: ignore[reportArgumentType]
        except TypeError:
            raise SdkError(f"{name}: {symbol!r} is not a symbol id; give the int that get_id returns") from None
        if not 0 <= number < len(self._artifact.exports):
            raise SdkError(f"{name}: no symbol has the id {number}; give the int that get_id returns")
        export = self._artifact.exports[number]
        if export.kind != "buffer":
            raise SdkError(f"{name}: '{export.name}' is a function; give the id of an exported array")
        return export

    def _color(self, name: str, color: object, way: str) -> int:
        try:
            return index(color)  # pyright: ignore[reportArgumentType]
        except TypeError:
            raise SdkError(
                f"{name}: {color!r} is not a color; with streaming=True give the number of a color {way}"
            ) from None

    def _export(self, symbol: str, kind: str, name: str) -> artifacts.Export:
        export = self._artifact.exports[self._ids[symbol]] if symbol in self._ids else None
        if export is None or export.kind != kind:
            known = ", ".join(found.name for found in self._artifact.exports if found.kind == kind) or "none"
            raise SdkError(f"{name}: the program exports no {kind} '{symbol}'; it exports: {known}")
        return export

    # Commands

    def _launch(self, symbol: str, values: list[Any], nonblock: bool) -> Task:
        def run(last: bool) -> bool:
            self._silent = self._machine.launch(symbol, values)
            return True

        return self._enter(f"launch of '{symbol}'", run, nonblock)

    def _enter(self, what: str, run: Callable[[bool], bool], nonblock: bool, stream: object = None) -> Task:
        """Append a command to those that wait, and wait for it if it blocks."""
        self._check_state(what, "running")
        if self._failed is not None:
            raise SdkError(f"{what}: the run has failed before: {self._failed}")
        task = Task(self, what, run, stream)
        self._pending.append(task)
        self._questions = 0
        if not nonblock:
            self._finish(task)
        return task

    def _advance(self) -> None:
        """Carry out what can be, in order. Data that is missing now may come with the next command."""
        progress = True
        while progress:
            progress = False
            waiting: set[object] = set()
            for task in list(self._pending):
                if task.stream in waiting:
                    continue
                if self._attempt(task, last=False):
                    progress = True
                else:
                    waiting.add(task.stream)

    def _finish(self, wanted: Task | None = None) -> None:
        """Carry out all commands up to `wanted`, or all; raises SdkError if one can never be completed."""
        self._advance()
        while (self._pending if wanted is None else not wanted.done) and self._pending:
            self._attempt(self._pending[0], last=True)

    def _await(self, task: Task) -> None:
        self._finish(task)
        if not task.done and self._silent is not None:
            with self._reporting(task.what):
                raise self._silent

    def _attempt(self, task: Task, *, last: bool) -> bool:
        with self._reporting(task.what):
            try:
                if self._silent is not None:
                    raise self._silent
                ended = task.run(last)
                task.done = ended and self._silent is None
            except BaseException:
                self._pending.remove(task)
                raise
        if ended:
            self._pending.remove(task)
        return ended

    def _task(self, handle: object) -> Task:
        if not isinstance(handle, Task) or handle.runtime is not self:
            raise SdkError(f"{handle!r} is not a task of this SdkRuntime; give what launch or a memcpy returned")
        return handle

    @property
    def _machine(self) -> Device:
        assert self._device is not None
        return self._device

    def _check_state(self, what: str, *allowed: str) -> None:
        if self._state in allowed:
            return
        if self._state == "stopped":
            raise SdkError(f"{what}: stop() was called; make a new SdkRuntime for more commands")
        order = {
            "new": "call load() and then run() before",
            "loaded": "call run() before",
            "running": "it is already running",
        }
        raise SdkError(f"{what}: {order[self._state]}")

    def _reporting(self, what: str) -> _Reporting:
        self._machine.watch.begin(what)
        return _Reporting(partial(self._report, what))

    def _report(self, what: str, error: BaseException | None) -> None:
        """Write the log whatever happens, and turn an error of the machine into one that says what failed."""
        self._write_log()
        if isinstance(error, KeyboardInterrupt):
            self._failed = "it was interrupted"
            self._write_statistics()
        if not isinstance(error, LoomError):
            return
        self._failed = error.message.splitlines()[0]
        from .deadlock import Deadlock, SdkDeadlock  # loads the engine, which a script that fails early does not need

        if isinstance(error, Deadlock):
            self._keep()
            report = error.message if isinstance(error, SdkError) else self._machine.with_regions(error)
            message = report if report.startswith(what) else f"{what}: {report}"
            short = self._machine.short_stream(error.hang)
            if short is not None:
                message = (
                    f"{short}\n{message}" if short.startswith(("memcpy_h2d", "send to")) else f"{message}\n  {short}"
                )
            self._failed = message.splitlines()[0]
            raise SdkDeadlock(message, error.location, error.hang) from error
        self._write_statistics()
        if isinstance(error, SdkError):
            return
        raise SdkError(f"{what}: {error.message}", error.location) from error

    def _write_log(self) -> None:
        entries = self._machine.log_length
        if entries != self._log_lines or not os.path.exists(SIM_LOG):
            write_log(self._machine.log)
            self._log_lines = entries

    def _end(self) -> None:
        """Write what others read of a machine that has stopped."""
        self._state = "stopped"
        self._pending.clear()
        with suppress(ValueError):
            _unstopped.remove(self)
        self._keep()
        if self._trace is not None:
            self._trace.close()
        if self._platform is not None and self._platform.config.dump_core:
            core.write(Path(self._platform.config.core_path or "out.core"), self._machine.machine)

    def _keep(self) -> None:
        """Write the trace and the memory of all PEs as far as the machine has come."""
        if self._trace is not None:
            # What is kept has some of the records that were written before.
            self._trace.seek(0)
            self._trace.truncate()
            self._machine.machine.write_trace()
            self._trace.flush()
        core.keep(self._artifact, self._machine.machine)
        self._write_statistics()

    def _write_statistics(self) -> None:
        """Print or write the statistics up to now if the environment asks for them."""
        path = os.environ.get(environment.STATISTICS)
        if not path:
            return
        from ...runtime.statistics.text import summary, whole  # few runs need it

        machine = self._machine.machine
        found = machine.measured()
        assert found is not None, "asked for"
        if path == "-":
            if not self._is_printed:
                print(summary(found), file=sys.stderr)
            self._is_printed = True
        else:
            try:
                Path(path).write_bytes(whole(machine.statistics(), found, path))
            except OSError as error:
                message = f"{environment.STATISTICS} names '{path}', which cannot be written: {error.strerror}"
                raise SdkError(f"{message}; name another file") from error


class _Options:
    def __init__(self, streaming: bool, bits: int, column_major: bool, nonblock: bool) -> None:
        self.streaming = streaming
        self.bits = bits
        self.column_major = column_major
        self.nonblock = nonblock


class _Reporting:
    """Calls `report` when a command ends, with its error if it failed."""

    def __init__(self, report: Callable[[BaseException | None], None]) -> None:
        self._report = report

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._report(error)


def take_unstopped() -> bool:
    """Return True if some runtime has been loaded and not stopped (HOST-020); they are forgotten."""
    found = bool(_unstopped)
    _unstopped.clear()
    return found


def warn_of_unread(when: str) -> None:
    """Warn of wavelets that nothing has read in the runtimes that have not been stopped, nor failed, and rest."""
    for runtime in _unstopped:
        runtime.warn_of_unread(when)


NOT_STOPPED = "the program ends without SdkRuntime.stop(); call it when all is done"


def argument(value: Any, kind: str, what: str) -> int | float:
    """Return a launch argument for a parameter of a CSL type (HOST-026). Raises SdkError if it does not fit.

    numpy's numbers have to have the very type; Python's have none of their own and need to fit. numpy has no cb16: a
    Python number is rounded to one, and a numpy.uint16 is its bits.
    """
    dtype = dtype_of(kind, what)
    if kind == "cb16" and isinstance(value, int | float) and not isinstance(value, bool) and not _is_numpy(value):
        return cb16.bits(value)
    if _is_numpy(value):
        fits = value.dtype == dtype and value.ndim == 0
    elif isinstance(value, bool) or kind == "bool":
        fits = isinstance(value, bool) and kind == "bool"
    elif dtype.kind in "iu":
        fits = isinstance(value, int) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
    else:
        fits = isinstance(value, int | float)
    if not fits:
        given = repr(value) if _is_scalar(value) else f"{type(value).__name__} {value!r}"
        raise SdkError(f"{what} is {given}, but the function takes {kind}; pass numpy.{dtype}")
    return value.item() if _is_numpy(value) else value


def _is_scalar(value: object) -> TypeIs[np.generic[Any]]:
    return isinstance(value, np.generic)


def _is_numpy(value: object) -> TypeIs[np.generic[Any] | NDArray[Any]]:
    return isinstance(value, np.generic | np.ndarray)


def from_bits(value: Any, kind: str, what: str) -> int | float:
    """Return an argument of a CSL type whose bits are the low end of a 32-bit word."""
    dtype = dtype_of(kind, what)
    if _is_scalar(value) and value.dtype.itemsize == 4:
        bits = int(value.view(np.uint32))
    elif isinstance(value, int | np.integer) and -(1 << 31) <= int(cast(int, value)) < 1 << 32:
        bits = int(cast(int, value)) & 0xFFFFFFFF
    else:
        raise SdkError(f"{what} is {value!r}; call takes the bits of each argument as an unsigned 32-bit integer")
    if dtype.itemsize > 4:
        raise SdkError(f"{what} has type {kind}; call passes arguments of up to 32 bits")
    low = np.array([bits], np.uint32).view(f"u{dtype.itemsize}")[:1]
    return low.view(dtype)[0].item()


def dtype_of(kind: str, what: str) -> np.dtype[Any]:
    """Return numpy's type for a CSL scalar type."""
    if kind == "cb16":
        return scalar_types.numpy_type("u16")
    if kind not in ("f16", "bf16", "f32", "bool", *(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64))):
        raise SdkError(f"{what} has type {kind}, which the host cannot pass")
    return scalar_types.numpy_type("i1" if kind == "bool" else kind)


def write_log(log: Sequence[tuple[int, int, int, str]]) -> None:
    """Write sim.log: each line of each PE's text, after the cycle of its last piece.

    An entry of the log is (cycle, x, y, text). A line that has not ended is not written.
    """
    open_lines: dict[tuple[int, int], str] = {}
    lines: list[str] = []
    for cycle, x, y, text in log:
        *whole, rest = (open_lines.get((x, y), "") + text).split("\n")
        # It is read on terminals.
        lines += [f"@{cycle} {shown(line)}\n" for line in whole]
        open_lines[x, y] = rest
    try:
        with open(SIM_LOG, "w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        print(f"warning: {SIM_LOG} cannot be written: {error.strerror}", file=sys.stderr)


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _line_of_script() -> str | None:
    """Return `file:line` of the call of ours that is being carried out."""
    frame = currentframe()
    own = os.path.dirname(__file__)
    while frame is not None:
        if os.path.dirname(frame.f_code.co_filename) != own:
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def _step_limit() -> int | None:
    """Return the steps after which a command is to end with an error, as the environment says."""
    try:
        return environment.step_limit()
    except LoomError as error:
        raise SdkError(error.message) from None


def _open_trace() -> Any:
    try:
        os.makedirs(TRACES, exist_ok=True)
        return open(os.path.join(TRACES, "trace.jsonl"), "wb")
    except OSError as error:
        print(f"warning: no trace: {TRACES} cannot be written: {error.strerror}", file=sys.stderr)
        return None
