"""Communication between devices: puts and gets, signals, collectives."""

from __future__ import annotations

from .instruction import Instruction, family

_STAGED = "(%dst:C, %src:C, 'buf' (%ping:C <?, %pong?:C?>) : *) {}"
_COLLECTIVE = "'recv' (%ping:C <?, %pong?:C?>), 'group' (%group*:C) : *) {}"

TABLE: list[Instruction] = [
    *family(
        _STAGED,
        {
            "comm.tput": "copies a tensor to another device, by a tile or two in turn",
            "comm.tget": "copies a tensor from another device, by a tile or two in turn",
        },
    ),
    Instruction("comm.tnotify", "(%signal:C, %value:S : *) {}", "changes a signal of another device"),
    Instruction("comm.twait", "(%signal:C, %cmpValue:S : *) {}", "waits until a signal compares with a number"),
    Instruction(
        "comm.ttest", "(%signal:C, %cmpValue:S : *) {} -> result:i1", "true if a signal compares with a number"
    ),
    *[
        Instruction(f"comm.{name}", f"({first}{_COLLECTIVE}", summary)
        for name, first, summary in (
            ("tbroadcast", "%src:C, ", "copies a tensor to all devices of a group"),
            ("tgather", "%dst:C, ", "collects tensors from all devices of a group"),
            ("tscatter", "%src:C, ", "deals a tensor to all devices of a group"),
            ("treduce", "%dst:C, %acc:C, ", "combines tensors of all devices of a group"),
        )
    ],
    Instruction(
        "comm.build_async_session",
        "(%scratch:TB, %workspace:P : *) {} -> session",
        "what asynchronous transfers share",
    ),
    *family(
        "(%dst:C, %src:C, %session : *) {} -> event",
        {
            "comm.tput_async": "begins to copy a tensor to another device",
            "comm.tget_async": "begins to copy a tensor from another device",
        },
    ),
    *family(
        "(%event, %session : *) {} -> completed:i1",
        {
            "comm.wait_async_event": "waits for the end of a transfer",
            "comm.test_async_event": "true if a transfer has ended",
        },
    ),
    Instruction("make_prefetch_async_context", "(%workspace:P : *) {} -> ctx", "what asynchronous prefetches share"),
    Instruction("get_prefetch_async_session", "%ctx {} : * -> session", "the transfers that prefetches are among"),
    Instruction("tprefetch_async", "(%src:T, %ctx : *) {} -> event", "begins to load a tensor into the cache"),
]
