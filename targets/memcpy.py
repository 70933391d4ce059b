"""The PEs that memcpy takes around a program, and how many channels it has.

Source: the SDK's documentation of the host runtime; the counts depend on the flags of the compiler alone.
"""

from __future__ import annotations

HALO = 1
"""PEs left free along every edge of the fabric."""

WEST_COLUMNS = 3
"""Columns of PEs that bring data and commands in, west of the program, not counting buffers."""

EAST_COLUMNS = 2
"""Columns of PEs that bring data out, east of the program, not counting buffers."""

BUFFER_WAVELETS = 46 * 1024 // 4
"""Wavelets that one column of buffers holds for a row of PEs, 46 KiB of them."""

MAX_CHANNELS = 16
"""Input and output channels a program may use."""

MAX_STREAMS = 4
"""Colors on which the library streams, each way."""

COMMAND_STREAM = "loom.cmd_stream"
"""Our name of the word that every PE exports that imports <memcpy/memcpy>: its calls of unblock_cmd_stream()."""
