"""IR to other languages, and to tables: the targets of `loom-opt`, each loaded only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.utils.target import Target


def get_all_targets() -> dict[str, Callable[[], type[Target]]]:
    """Return the targets by the names that every xDSL tool knows; calling an entry imports and returns it."""

    def get_loom_csl() -> type[Target]:
        from .csl.target import LoomCslTarget

        return LoomCslTarget

    def get_loom_tables() -> type[Target]:
        from .tables.target import TablesTarget

        return TablesTarget

    return {"loom-csl": get_loom_csl, "loom-tables": get_loom_tables}


def get_own_targets() -> dict[str, Callable[[], type[Target]]]:
    """Return the targets that replace xDSL's of the same name in `loom-opt`."""

    def get_csl() -> type[Target]:
        from .csl.target import CslTarget

        return CslTarget

    return {"csl": get_csl}
