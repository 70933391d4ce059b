"""Words, descriptors and wavelets of the wafer: widths, ranges and bit positions, the same in both generations.

Sources: rules of docs/rules.md where one is named, from the pages of the CSL language reference on DSDs, switches and
control wavelets; the bit positions of commands and of a control task's id are those of the public `<control>` library.
"""

from __future__ import annotations

# Memory

WORD_BITS = 16
"""Bits of a word of memory, of an address, and of most registers."""

WORD_MASK = 0xFFFF
"""The bits of a word: lengths, extents and addresses in bytes are read with it as unsigned."""

CB16_BIAS = 42
"""Of the exponent of `cb16`: 6.0 has the bits 0b0101100100000000 (Types, FP16 types): exponent 44 for 2**2."""

TIMESTAMP_WORDS = 3
"""Words of the cycle counter, the low one first."""

# Fields of descriptors

EXTENTS = range(1 << 16)
"""What an extent may be, in elements or wavelets (DSD-008)."""

OFFSETS = range(-(1 << 15), 1 << 15)
"""What an offset may be, in elements (DSD-011, DSD-048)."""

MEM1D_STRIDES = range(-(1 << 7), 1 << 7)
"""What the stride of a mem1d descriptor may be, in elements (DSD-009)."""

MEM4D_STRIDES = range(-(1 << 15), 1 << 15)
"""What a stride of a mem4d descriptor may be, in elements (DSD-050)."""

MAX_DIMENSIONS = 4
"""Most dimensions of a walk, and of a mem4d descriptor (DSD-045, DSD-053, DSD-057, AMB-05)."""

POINTER_EXTENT = EXTENTS[-1]
"""Length of the walk that stands for a pointer to a scalar: never the shortest operand (DSD-072, AMB-01)."""

ENDLESS_EXTENT = 0x7FFF
"""The extent of a run of wavelets that never ends, as published programs write it."""

# Wavelets

INDEX_SHIFT = 16
"""Where a wavelet has its index: in its high half (DSD-108)."""

CONTROL_TASK_SHIFT, CONTROL_TASK_BITS = 16, 6
"""Where a control wavelet has the id of the task it starts: bits 16 to 21. The bits below are the task's argument."""

NO_CONTROL_TASK = 31
"""The id in a control wavelet that starts no task."""

COMMANDS = 8
"""Commands for routers in one control wavelet."""

COMMAND_BITS = 3
"""Bits of a command: a code of two, and one that keeps the wavelet from the compute engine."""

COMMANDS_SHIFT, HIGH_COMMANDS = 22, 8
"""Where the first commands are, and how many bits of them before they go on at bit 0."""

NOP, ADVANCE, RESET, TEARDOWN = range(4)
"""Codes of commands."""

CONTROL_MARK = 0b11 << 30
"""What `control_transform` puts into the two highest bits of a control wavelet's index (DSD-256, AMB-29)."""

# Routers

PORTS = ("ramp", "north", "east", "south", "west")
"""Ports of a router; `ramp` leads to the PE itself. x grows east, y grows south."""

SWITCH_POSITIONS = 4
"""Positions of a color's switch in a router, the route itself included."""

# Configuration registers of a color (targets.model.Registers)

REGISTER_PORTS = ("west", "east", "south", "north", "ramp")
"""Ports in registers: bit 0 to 4 are those that a color goes to, 5 to 9 those that it comes from (public programs for
WSE-2 write these registers; assumed for WSE-3)."""

POP_MODE_SHIFT = 12
"""Where the register of a color has its pop mode, two bits (as above; the values are assumed)."""

TEARDOWN_SHIFT = 14
"""Its bit for a teardown phase (as above)."""

RING_SHIFT, POSITION_SHIFT = 12, 13
"""Where the register of a switch has its ring mode, and its current position, two bits (as above)."""

POSITION_BITS, INPUT_SHIFT, INVALID_PORT = 4, 3, 5
"""Of the register of a switch on WSE-2: bits of positions 1 to 3, from bit 0 on; in each the bit that says that it
changes where the color comes from; and the number, in place of a port's, of a position that is not given (as above)."""

SETS_TRANSMIT_SHIFT, SETS_RECEIVE_SHIFT = 10, 11
"""Bits of the registers of positions on WSE-3, which have ports as those of colors: that it names where the color goes,
and where it comes from. Assumed."""

# Registers of settings of a PE (targets.model.Registers). Assumed

SETTINGS = ("control_mask", "main_thread", "low_tasks", "high_tasks")
"""What they hold: the mask of `control_transform`; the priority of what tasks wait for, 1 less than its place in
`targets.model.LEVELS`; and one bit, set for a high priority, for each of 16 tasks, by their ids."""

CONTROL_MASK_BITS = 6
"""Bits of that mask, from the lowest of a wavelet's index on (CSL language reference, `control_transform`)."""

# Filters, from the page of the CSL language reference on @set_color_config

FILTER_NUMBERS = ("id", "init_counter", "limit1", "limit2", "max_counter", "min_idx", "max_idx")
"""The numbers of filters; `id` is that by which a program names the filter."""

FILTER_FLAGS = ("count_data", "count_control", "filter_control")
"""What a filter counts, and if it lets control wavelets pass only, when the counter is at `max_counter`."""

FILTER_KINDS = {
    "counter": (("init_counter", "limit1", "max_counter"), FILTER_FLAGS),
    "sparse_counter": (("init_counter", "limit1", "limit2", "max_counter"), FILTER_FLAGS[:2]),
    "range": (("min_idx", "max_idx"), ()),
}
"""Numbers and flags of each kind."""

FILTER_VALUES = range(1 << 16)
"""What a counter or an index may be: `<tile_config>` takes registers of 16 bits for them, and an index is as wide."""

FILTER_WORDS = 4
"""Words of registers of a filter: its limit, the counter up to which wavelets pass, its counter, and one not used.
Assumed."""

SWAP_PORTS = {"x": ("east", "west"), "y": ("north", "south")}
"""Ports of each axis on which colors swap; with both axes also the ramp."""
