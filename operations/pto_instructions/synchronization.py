"""Synchronization: flags between the pipelines of a core and between cores, buffers, barriers, fences, caches.

Where a core's instructions run one after the other, as they do here, flags inside a core, buffers, barriers, fences and
caches have no further effect.
"""

from __future__ import annotations

from .instruction import Instruction, family

_BETWEEN = "[#src_pipe=named(pipe), #dst_pipe=named(pipe), #event_id=named(event)] {}"
_DYNAMIC = "[#src_pipe, #dst_pipe, %event_id:=index] {}"
_EVENTS = "[#src_op=named(pipe_event_type), #dst_op=named(pipe_event_type), #event_id=named(event)] {}"
_CORES = "#pipe=named(pipe), <~#event_id=integer | %event_id_dyn?:=index~> {}"
_MODE = "#buf_id=integer <?, #mode=integer?>"
_BUFFER = f"<~#op_type=string, {_MODE} | [#op_type=other, {_MODE}]~> {{}}"
_DYNAMIC_MODE = "%buf_id+:=index <?, #mode=integer?>"
_BUFFER_DYNAMIC = f"<~#op_type=string, {_DYNAMIC_MODE} | [#op_type=other, {_DYNAMIC_MODE}]~> {{}}"

TABLE: list[Instruction] = [
    *family(
        _BETWEEN,
        {
            "set_flag": "raises a flag when what was issued on a pipeline is done",
            "wait_flag": "makes a pipeline wait for a flag of another",
        },
    ),
    *family(
        _DYNAMIC,
        {
            "set_flag_dyn": "raises a flag chosen when the kernel runs",
            "wait_flag_dyn": "waits for a flag chosen when the kernel runs",
        },
    ),
    *family(
        _EVENTS,
        {
            "record_event": "raises an event when operations of a kind are done",
            "wait_event": "makes operations of a kind wait for an event",
        },
    ),
    Instruction("barrier_sync", "[#op_type=named(sync_op_type)] {}", "waits for operations of a kind"),
    *family(
        _BUFFER,
        {"get_buf": "takes a buffer for a pipeline", "rls_buf": "frees a buffer of a pipeline"},
    ),
    *family(
        _BUFFER_DYNAMIC,
        {
            "get_buf_dyn": "takes a buffer chosen when the kernel runs",
            "rls_buf_dyn": "frees a buffer chosen when the kernel runs",
        },
    ),
    *family(
        _CORES,
        {
            "sync.set": "raises a flag for another core",
            "sync.wait": "waits for a flag of another core",
            "set_cross_block": "raises a flag for other blocks",
            "wait_cross_block": "waits for a flag of other blocks",
            "set_intra_block": "raises a flag for another core of the block",
            "wait_intra_block": "waits for a flag of another core of the block",
        },
    ),
    Instruction("mem_bar", "#kind=quoted(membar) {}", "orders accesses of the vector core's memory"),
    Instruction("dsb", "#mem=quoted(dsb_mem) {}", "waits for accesses of a memory"),
    Instruction(
        "dcci",
        "%ptr:P #cache=quoted(dcci_cache_line) <?, #dst=quoted(dcci_dst)?> {} : *",
        "cleans and invalidates a cache",
    ),
    Instruction(
        "cmo.cacheinvalid",
        "<~%addr? 'single_cache_line' : addr | 'all' #space~> {}",
        "invalidates a cache, or the line of an address",
    ),
    Instruction("fence.barrier_all", "#scope {}", "orders accesses of a memory"),
    Instruction("tsync", "'ins' (%events*:T : events) {}", "waits for tiles"),
    Instruction("trap", "{}", "stops the core"),
]
