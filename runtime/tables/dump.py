"""Tables as text, for tests and for people: what a class has, and one instruction a line, by its mnemonic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...targets.model import LEVELS
from ...targets.wavelets import FILTER_FLAGS, FILTER_KINDS, FILTER_NUMBERS, PORTS, SETTINGS
from .format import (
    ACCUMULATES,
    ADVANCE_SWITCH,
    BUFFER_UNDEFINED,
    CHANNEL_DRAINED,
    CLASS_MAIN_THREAD_CHANGES,
    CLASS_ORDERED,
    CLASS_TRAPS,
    CONTROL_WAVELETS,
    FIFO_END,
    IN_PAIRS,
    INPUT,
    MAIN_THREAD_BITS,
    MAIN_THREAD_SHIFT,
    MEMORY_WALK,
    MESSAGE,
    NO_MICROTHREAD,
    NONE,
    PACKED,
    RELU,
    RESHAPES,
    SATURATES,
    TASK_TYPES,
    TILE_DIMENSIONS,
    WRAPS,
    Tables,
)
from .instructions import (
    CONTROL,
    COSTS,
    ELEMENTS,
    FIFO_ACTIONS,
    FIRST_SCALAR,
    FORMATS,
    FRAME_DESCRIPTOR,
    KINDS,
    NO_REGISTER,
    OPERANDS,
    PRIORITIES,
    REGISTER_FILES,
    ROLES,
    ROUNDINGS,
    SCALARS,
    SLOTS,
    STATIC_DESCRIPTOR,
    TILE_FUNCTIONS,
    operation_name,
    slot_section,
)

_TILE_OPTIONS = {
    SATURATES: "saturate", WRAPS: "wrap", RELU: "relu", ACCUMULATES: "accumulate", RESHAPES: "reshape",
}  # fmt: skip


def dump(tables: Tables) -> str:
    """Return checked tables as text."""
    return "\n".join(_Dump(tables).lines()) + "\n"


class _Dump:
    def __init__(self, tables: Tables):
        self.tables = tables
        self.strings = tables.strings

    def lines(self) -> Iterator[str]:
        tables = self.tables
        program = tables["program"][0]
        target, name = self.text(program["target"]), self.text(program["name"])
        yield f"program @{name} {target} {program['width']} x {program['height']}"
        for row, color in enumerate(tables["colors"]):
            changes = " changes" if color["changes"] else ""
            label = self.text(color["label"])
            yield f"color {row} @{self.text(color['name'])} id {color['number']} label {label}{changes}"
        for route in tables["routes"]:
            swap = f" swap {_ports(route['swap'])}" if route["swap"] else ""
            switch = "" if route["switch"] == NONE else f" {self.switch(tables['switches'][route['switch']])}"
            filter = "" if route["filter"] == NONE else f" {self.filter(tables['filters'][route['filter']])}"
            yield (
                f"route {self.color(route['color'])} on {self.regions(route)} from {_ports(route['receive'])} to "
                f"{_ports(route['transmit'])}{swap}{switch}{' teardown' if route['teardown'] else ''}{filter}"
            )
        for stream in tables["host_streams"]:
            yield (
                f"host_stream {'out' if stream['out'] else 'in'} {self.color(stream['color'])} on "
                f"{self.regions(stream)}"
            )
        for network in tables["networks"]:
            yield f"network {self.color(network['color'])}"
        for space in tables["spaces"][tables["spaces"]["owner"] == NONE]:
            yield f"space @{self.text(space['name'])} of {space['size']} bytes"
        for channel in tables["channels"]:
            yield self.channel(channel)
        for row in range(len(tables["classes"])):
            yield from self.units(row)
        for export in tables["exports"]:
            yield self.export(export)
        for row in range(len(tables["uses"])):
            yield from self.use(row)
        for row in range(len(tables["bodies"])):
            yield from self.body(row)

    # Names

    def text(self, row: Any) -> str:
        return self.strings[int(row)]

    def color(self, row: int) -> str:
        return f"@{self.text(self.tables['colors'][row]['name'])}"

    def regions(self, record: Any) -> str:
        first, count = int(record["regions"]), int(record["region_count"])
        return " + ".join(_region(region) for region in self.tables["regions"][first : first + count]) or "nothing"

    def task(self, row: Any) -> str:
        return "none" if row == NONE else f"@{self.text(self.tables['tasks'][row]['name'])}"

    def type(self, record: Any) -> str:
        first, rank = int(record["dims"]), int(record["rank"])
        dims: list[int] = self.tables["dims"][first : first + rank].tolist()
        return "".join("?x" if extent == NONE else f"{extent}x" for extent in dims) + KINDS[int(record["kind"])]

    def kinds(self, first: Any, count: Any) -> list[str]:
        numbers: list[int] = self.tables["kinds"][int(first) : int(first) + int(count)].tolist()
        return [KINDS[number] for number in numbers]

    # The grid

    def switch(self, switch: Any) -> str:
        positions = [
            f"{_ports(switch['receive'][place])} to {_ports(switch['transmit'][place])}"
            if switch["valid"] >> place & 1
            else "invalid"
            for place in range(1, 4)
        ]
        ring = " ring" if switch["ring"] else ""
        return f"switch [{', '.join(positions)}] at {switch['current']}{ring} pop {switch['pop_mode']}"

    def filter(self, filter: Any) -> str:
        parts = [f"filter {list(FILTER_KINDS)[filter['kind'] - 1]}"]
        for name, first, count in zip(
            FILTER_NUMBERS, filter["values"].tolist(), filter["counts"].tolist(), strict=True
        ):
            values = self.tables["column_values"][first : first + count].tolist()
            parts += [f"{name} {' '.join(map(str, values))}"] if values else []
        return " ".join([*parts, *(flag for bit, flag in enumerate(FILTER_FLAGS) if filter["flags"] >> bit & 1)])

    def units(self, row: int) -> Iterator[str]:
        tables, record = self.tables, self.tables["classes"][row]
        flags = int(record["flags"])
        level = flags >> MAIN_THREAD_SHIFT & (1 << MAIN_THREAD_BITS) - 1
        traps = (" traps" if flags & CLASS_TRAPS else "") + (f" main_thread {LEVELS[level - 1]}" if level else "")
        traps += " ordered" if flags & CLASS_ORDERED else ""
        traps += " main_thread_changes" if flags & CLASS_MAIN_THREAD_CHANGES else ""
        yield f"class {row} @{self.text(record['name'])} on {self.regions(record)} words {record['words']}{traps}"
        for space in tables["spaces"][tables["spaces"]["owner"] == row]:
            yield f"  space @{self.text(space['name'])} of {space['size']} bytes"
        for buffer in self.members(record, "buffer"):
            undefined = " undefined" if buffer["flags"] & BUFFER_UNDEFINED else ""
            yield f"  buffer @{self.text(buffer['name'])} at {buffer['address']} : {self.type(buffer)}{undefined}"
        for column in tables["columns"][tables["columns"]["owner"] == row]:
            values = tables["column_values"][int(column["values"]) :][:4].tolist()
            yield f"  column @{self.text(column['name'])} : {KINDS[column['kind']]} {values}"
        for image in tables["images"][tables["images"]["owner"] == row]:
            piece = tables["image_bytes"][int(image["bytes"]) : int(image["bytes"]) + int(image["size"])]
            yield f"  image at byte {image['address']}: {bytes(piece[:32]).hex()}{'...' if len(piece) > 32 else ''}"
        for patch in tables["patches"][tables["patches"]["owner"] == row]:
            yield f"  patch at byte {patch['address']}: column {patch['column']}"
        for queue in self.members(record, "queue"):
            way = "input" if queue["direction"] == INPUT else "output"
            first, count = int(queue["colors"]), int(queue["color_count"])
            colors = ", ".join(
                f"{self.color(each['color'])} on {self.regions(each)}"
                for each in tables["queue_colors"][first : first + count]
            )
            task = "" if queue["task"] == NONE else f" starts {self.task(queue['task'])}"
            offset = f" control offset {queue['control_offset']}" if queue["control_offset"] else ""
            yield (
                f"  {way} queue @{self.text(queue['name'])} id {queue['id']} [{colors}] room "
                f"{queue['room']}{task}{offset}"
            )
        for fifo in self.members(record, "fifo"):
            yield (
                f"  fifo @{self.text(fifo['name'])} on @{self.text(tables['buffers'][fifo['buffer']]['name'])} push "
                f"{self.task(fifo['push_task'])} pop {self.task(fifo['pop_task'])} "
                f"{FIFO_ACTIONS[fifo['empty_action']]} {FIFO_ACTIONS[fifo['full_action']]} "
                f"step {fifo['step']}"
            )
        for task in self.members(record, "task"):
            words = ("active", "blockable", "blocked", "completion_activates", "completion_unblocks")
            flags = "".join(f" {word}" for bit, word in enumerate(words) if task["flags"] >> bit & 1)
            use = "" if task["use"] == NONE else f" use {task['use']}"
            queue = "" if task["queue"] == NONE else f" on @{self.text(tables['queues'][task['queue']]['name'])}"
            yield f"  {TASK_TYPES[task['type']]} task @{self.text(task['name'])} id {task['number']}{queue}{use}{flags}"
        for start in tables["starts"][tables["starts"]["owner"] == row]:
            yield f"  start use {start['use']}"
        for setting in tables["settings"][tables["settings"]["owner"] == row]:
            yield f"  {SETTINGS[setting['number']]} {setting['value']:#x}"
        for blocked in tables["blocked_microthreads"][tables["blocked_microthreads"]["owner"] == row]:
            yield f"  blocked microthread {blocked['number']}"

    def channel(self, channel: Any) -> str:
        ends = [self.text(self.tables["classes"][channel[end]]["name"]) for end in ("producer", "consumer")]
        return (
            f"channel @{self.text(channel['name'])} from @{ends[0]} to @{ends[1]} depth {channel['depth']} period "
            f"{channel['period']} lanes {channel['lanes']} seed {channel['seed']}"
            f"{' drained' if channel['flags'] & CHANNEL_DRAINED else ''}"
        )

    def tile(self, tile: Any) -> str:
        rank, opened = int(tile["rank"]), int(tile["open"])
        extents = ["?" if opened >> k & 1 else str(tile["extents"][k]) for k in range(rank)]
        strides = ["?" if opened >> TILE_DIMENSIONS + k & 1 else str(tile["strides"][k]) for k in range(rank)]
        owner = "" if tile["owner"] == NONE else f" of @{self.text(self.tables['classes'][tile['owner']]['name'])}"
        slot = "" if tile["channel"] == NONE else (
            f" slot @{self.text(self.tables['channels'][tile['channel']]['name'])} of {tile['slot_count']} by "
            f"{tile['slot_size']} as {ROLES[tile['role']]}"
        )  # fmt: skip
        return (
            f"tile @{self.text(self.tables['spaces'][tile['space']]['name'])}{owner}{slot} extents "
            f"[{', '.join(extents)}] strides [{', '.join(strides)}] : {ELEMENTS[tile['element']]}"
        )

    def tile_apply(self, record: Any) -> str:
        sources = ", ".join(
            f"{operand(int(source))}{'' if source >= FRAME_DESCRIPTOR else f' : {ELEMENTS[kind]}'}"
            for source, kind in zip(record["sources"], record["kinds"], strict=True)
            if source != NO_REGISTER
        )
        flags = int(record["options"])
        words = [word for flag, word in _TILE_OPTIONS.items() if flags & flag]
        words += [ROUNDINGS[record["rounding"]] or ""] if record["rounding"] else []
        return " ".join(
            [f"{TILE_FUNCTIONS[record['function']]} {operand(int(record['destination']))} ({sources})", *words]
        )

    def members(self, record: Any, name: str) -> Any:
        first, count = int(record[f"{name}s"]), int(record[f"{name}_count"])
        return self.tables[f"{name}s"][first : first + count]

    def export(self, export: Any) -> str:
        name = f'export "{self.text(export["name"])}" of class {export["owner"]}: '
        if export["type"]:
            return name + f"launch {self.task(export['row'])}"
        flags = "".join(
            f" {word}" for bit, word in enumerate(("unsigned", "points_to", "read_only")) if export["flags"] >> bit & 1
        )
        return name + (
            f"buffer @{self.text(self.tables['buffers'][export['row']]['name'])} : {self.type(export)}{flags}"
        )

    # Code

    def use(self, row: int) -> Iterator[str]:
        tables, use = self.tables, self.tables["uses"][row]
        body = tables["bodies"][use["body"]]
        first = int(use["rows"])
        rows = tables["rows"][first : first + int(body["numbers"]) + int(body["descriptors"]) + int(body["slots"])]
        numbers, rest = np.split(rows, [int(body["numbers"])])
        descriptors, slots = np.split(rest, [int(body["descriptors"])])
        yield f"use {row} of body {use['body']} @{self.text(body['name'])}"
        if len(numbers):
            yield f"  numbers {', '.join(str(tables['numbers'][each]) for each in numbers)}"
        for place, descriptor in enumerate(descriptors):
            yield f"  s{place} = {self.descriptor(tables['descriptors'][descriptor])}"
        for place, (kind, slot) in enumerate(zip(self.slot_kinds(body), slots, strict=True)):
            yield f"  ${place} = {self.slot(kind, int(slot))}"

    def slot_kinds(self, body: Any) -> list[str]:
        first = int(body["slot_kinds"])
        numbers: list[int] = self.tables["slot_kinds"][first : first + int(body["slots"])].tolist()
        return [SLOTS[number] for number in numbers]

    def descriptor(self, record: Any) -> str:
        kind = KINDS[int(record["kind"])]
        if record["type"] == MEMORY_WALK:
            dimensions = int(record["dimensions"])
            base = "memory" if record["row"] == NONE else f"@{self.text(self.tables['buffers'][record['row']]['name'])}"
            return (
                f"walk {base} at {record['address']} strides {record['strides'][:dimensions].tolist()} extents "
                f"{record['extents'][:dimensions].tolist()} : {kind}"
            )
        if record["type"] == FIFO_END:
            return f"fifo @{self.text(self.tables['fifos'][record['row']]['name'])} : {kind}"
        words = {CONTROL_WAVELETS: "control", ADVANCE_SWITCH: "advance_switch", PACKED: "packed", IN_PAIRS: "in_pairs",
                 MESSAGE: "message"}  # fmt: skip
        flags = "".join(f" {word}" for flag, word in words.items() if record["flags"] & flag)
        queue = self.text(self.tables["queues"][record["row"]]["name"])
        return f"queue @{queue} extent {record['extents'][0]}{flags} : {kind}"

    def slot(self, kind: str, row: int) -> str:
        record = self.tables[slot_section(kind)][row]
        match kind:
            case "use":
                return f"use {row} @{self.text(self.tables['bodies'][record['body']]['name'])}"
            case "access":
                name = "memory" if record["buffer"] == NONE else (
                    f"@{self.text(self.tables['buffers'][record['buffer']]['name'])}"
                )  # fmt: skip
                first, rank = int(record["dims"]), int(record["rank"])
                dims = "" if record["flags"] else "".join(
                    f" [{dim['extent']}] * {dim['scale']}"
                    for dim in self.tables["access_dims"][first : first + rank]
                )  # fmt: skip
                pointer = f" pointer{' indexed' if rank else ''}" if record["flags"] else f" byte {record['base']}"
                return f"access {name}{pointer}{dims} : {KINDS[record['kind']]}"
            case "operation":
                return f"operation {self.operation(record)}"
            case "register_load":
                flags = "".join(
                    f" {word}"
                    for bit, word in enumerate(("save_address", "async", "on_control"))
                    if record["flags"] >> bit & 1
                )
                return f"load of {REGISTER_FILES[record['file']]} register {record['number']}{flags}{self.ends(record)}"
            case "register_read":
                fifo = " fifo" if record["fifo"] else ""
                return f"read of {REGISTER_FILES[record['file']]} register {record['number']}{fifo}"
            case "message":
                return f'message "{self.text(record["text"])}"{" value" if record["shows_value"] else ""}'
            case "tile":
                return self.tile(record)
            case "tile_apply":
                return self.tile_apply(record)
            case "tile_print":
                return f"label {self.text(record['label'])!r}"
            case "print":
                kinds = self.kinds(record["kinds"], record["arguments"])
                return f"print {self.text(record['format'])!r} ({', '.join(kinds)})"
            case "directive":
                return f"directive {self.text(record['name'])} along {'y' if record['axis'] else 'x'}"
            case "trap":
                operands = ", ".join(f"r{each}" for each in record["operands"][: int(record["count"])])
                return f"trap {self.text(record['name'])} ({operands}) -> r{record['result']} : {KINDS[record['kind']]}"
            case _:
                return f"{kind} @{self.text(record['name'])}"

    def operation(self, record: Any) -> str:
        name = operation_name(record)
        operands = [operand(int(record["destination"]))]
        operands += [operand(int(each)) for each in record["sources"] if each != NO_REGISTER]
        format = FORMATS[int(record["format"])]
        result = " result" if record["flags"] & 2 else ""
        control = " on_control" if record["flags"] & 1 else ""
        return f"{name} {', '.join(operands)}{f' {format}' if format else ''}{result}{control}{self.ends(record)}"

    def ends(self, record: Any) -> str:
        """Return the microthread, the priority and the tasks of an operation."""
        if record["microthread"] == NO_MICROTHREAD:
            return ""
        text = f" microthread {record['microthread']}"
        for name in ("activate", "unblock", "control_activate", "control_unblock"):
            if record[name] != NONE:
                text += f" {name} {self.task(record[name])}"
        priority = PRIORITIES[int(record["priority"])]
        return text + (f" priority {priority}" if priority else "")

    def body(self, row: int) -> Iterator[str]:
        tables, body = self.tables, self.tables["bodies"][row]
        count, results = int(body["arguments"]), int(body["results"])
        kinds = self.kinds(body["kinds"], count + results)
        returned = f" -> ({', '.join(kinds[count:])})" if results else ""
        yield (
            f"body {row} @{self.text(body['name'])} ({', '.join(kinds[:count])}){returned} registers "
            f"{body['registers']} numbers {body['numbers']} descriptors {body['descriptors']} + "
            f"{body['frame_descriptors']} slots {body['slots']}"
        )
        start = int(body["code"])
        for place, instruction in enumerate(tables["code"][start : start + int(body["length"])].tolist()):
            yield f"  {place}: {self.instruction(instruction)}"

    def instruction(self, instruction: tuple[int, int, int, int]) -> str:
        op, *fields = instruction
        if op >= FIRST_SCALAR:
            row = SCALARS[op - FIRST_SCALAR]
            operands = [f"r{fields[0]}", *(f"r{field}" for field in fields[1 : 1 + min(len(row.kinds), 2)])]
            return f"{row.mnemonic} {', '.join(operands)}"
        name = CONTROL[op]
        shown: list[str] = []
        for role, field in zip(OPERANDS[name], fields, strict=True):
            match role:
                case "r" | "w" | "m":
                    shown.append("none" if field == NO_REGISTER else f"r{field}")
                case "d" | "D" | "M":
                    shown.append(operand(field))
                case "s":
                    shown.append(f"${field}")
                case "i" | "x":
                    shown.append(str(field))
                case "j":
                    shown.append(f"-> {fields[1] | fields[2] << 16}")
                case "t":
                    counts = self.tables["costs"][field]["counts"].tolist()
                    shown += [f"{cost} {count}" for cost, count in zip(COSTS, counts, strict=False) if count]
                case _:
                    pass
        return f"{name} {', '.join(shown)}".rstrip()


def operand(value: int) -> str:
    """Return a register (r), a descriptor of the use (s) or of the frame (f)."""
    if value >= FRAME_DESCRIPTOR:
        return f"f{value - FRAME_DESCRIPTOR}"
    return f"s{value - STATIC_DESCRIPTOR}" if value >= STATIC_DESCRIPTOR else f"r{value}"


def _ports(mask: Any) -> str:
    return f"[{', '.join(port for bit, port in enumerate(PORTS) if int(mask) >> bit & 1)}]"


def _region(region: Any) -> str:
    def indices(first: Any, count: Any, step: Any) -> str:
        first, count, step = int(first), int(count), int(step)
        if count == 1:
            return str(first)
        end = first + (count - 1) * step + 1
        return f"{first}:{end}" + ("" if step == 1 else f":{step}")

    columns = indices(region["x"], region["columns"], region["x_step"])
    return f"[{columns}, {indices(region['y'], region['rows'], region['y_step'])}]"
