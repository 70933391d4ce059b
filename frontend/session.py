"""One compilation: what the command line says, and what all files and programs of it share."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import targets
from ..csl import syntax
from ..csl.source import Diagnostic, Source
from . import types
from .asking import Bodies, Results
from .filter_ids import FilterIds
from .mistakes import Mistakes
from .modules import Files
from .search_path import SearchPath
from .step_limit import Steps
from .tree_analyses import TreeAnalyses

DEFAULT_CALL_DEPTH = 200
"""Calls within calls, if the command line does not say."""


@dataclass
class Options:
    """What the command line says, for all files of a program."""

    arch: str = "wse2"
    fabric: tuple[int, int] | None = None
    offsets: tuple[int, int] = (4, 1)
    memcpy: bool = False
    channels: int = 0
    print: Function[[str], None] = print
    search: SearchPath = field(default_factory=SearchPath)
    """Where else files of the program are looked for."""
    notice: Function[[str], None] | None = None
    """Takes a line now and then while the compilation takes long."""
    fp16: str = "f16"
    """The 16-bit floats that there are at run time."""
    max_inlined_iterations: int | None = None
    """Of an inline loop; None if the command line does not say."""
    call_depth: int = DEFAULT_CALL_DEPTH
    """Calls within calls, at compile time or inlined."""
    sections: Mapping[str, int] = field(default_factory=dict[str, int])
    """Byte addresses of link sections."""
    lint: bool = True
    """Warn of tasks, queues and variables that cannot do what they are declared for."""


class Session:
    """One compilation: the options, the files read, and how much has been evaluated."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.target = targets.get(options.arch)
        self.fp16 = types.FP16_FORMATS[options.fp16]
        self.files = Files()
        self.steps = Steps(options.notice)
        self.rectangle: tuple[int, int] | None = None
        self.rectangle_set: tuple[Source, syntax.Node] | None = None
        """Where @set_rectangle is called."""
        self.printed: set[tuple[str, str]] = set()
        """What @comptime_print has shown in code for run time, by place and text."""
        self.warnings: list[str] = []
        self.widening_reported = False
        """True if it has been reported that integers become wider by themselves."""
        self.sections_used: set[str] = set()
        """Link sections that variables are in."""
        self.filters = FilterIds(self.target.filters)
        self.imports_memcpy = False
        self.exports: dict[str, Any] = {}
        """Names the layout exports, `exports.Name` each."""
        self.analyses = TreeAnalyses()
        self.bodies = Bodies()
        self.results = Results()
        self.color_names: dict[int, str] = {}
        """What the layout calls colors, by number."""
        self.widths: dict[tuple[str, str, int], int] = {}
        """Words of the elements of DSD variables whose first array has others: by PE program, symbol and place."""
        self.asks_for_queues = False
        """True if programs ask for the state of queues, so that PEs go on in the order of time alone."""
        self.main_thread_changes = False
        """True if programs change the priority of what tasks wait for while they run."""
        self.filters_change = False
        """True if programs change filters, or read their counters: of which colors, is known at run time only."""
        self.changing_colors: set[int] = set()
        """Colors whose routes programs change, or that they tear down, while they run."""
        self.color_names_of_pes: dict[int, str] = {}
        """What the code of PEs calls them."""
        self.queues: dict[tuple[str, int, bool, int], bool] = {}
        """True if a PE program uses a queue that the program initializes: by file and place of @initialize_queue,
        whether it is an output queue, and id."""
        self.unused: dict[tuple[str, int, str], Diagnostic | None] = {}
        """Global variables by file, place and name: the mistake of one that no PE program uses, else None."""
        self.mistakes: Mistakes | None = None
        """The errors found so far while all of a program are looked for; None if the first ends the compilation."""

    def color_name(self, number: int) -> str | None:
        """Return what the program calls a color, None if it gives it no name."""
        return self.color_names.get(number) or self.color_names_of_pes.get(number)
