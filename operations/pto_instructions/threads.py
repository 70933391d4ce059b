"""Code for the threads of the vector core (SIMT): a thread's numbers, scalar arithmetic, exchanges between threads."""

from __future__ import annotations

from .instruction import Instruction, family

_LOADS = "nmfv nmlv nmprs nmpref nakeep naclean nadrop idsfv idslv idsprs idspref exfv exlv exprs expref"
_STORES = "nmfv nmlv nmprs nmred naci napw napi nared wbhfv wbhlv wbhprs wbhred wtsfv wtslv wtsprs wtsred"
_L1 = "<?'l1cache' (#l1cache=word(uncache cache))?>"
_SIGN = "#signedness=word(signed unsigned)"
_AXES = ("x", "y", "z")

TABLE: list[Instruction] = [
    # Launches
    Instruction(
        "section.simt", "<<<#dimX=integer, #dimY=integer, #dimZ=integer>>> @body {}", "code for the threads of a block"
    ),
    Instruction(
        "simt_launch",
        "#callee <<<%dimX:=i32, %dimY:=i32, %dimZ:=i32>>> (%args*) {} : signature:args",
        "runs a function on the threads of a block",
    ),
    Instruction("store_vfsimt_info", "%dimZ:i32, %dimY:i32, %dimX:i32 {} : *", "sets the numbers of threads"),
    Instruction("keep", "%payload {} : *", "keeps a value of each thread for the next section"),
    Instruction("resume", "{} : result", "a value that each thread has kept"),
    # A thread's numbers
    *family(
        "{} : result:i32",
        {f"get_tid_{axis}": f"number of the thread along {axis}" for axis in _AXES}
        | {f"get_block_dim_{axis}": f"threads of a block along {axis}" for axis in _AXES}
        | {f"get_grid_dim_{axis}": f"blocks along {axis}" for axis in _AXES}
        | {f"get_block_idx_{axis}": f"number of the block along {axis}" for axis in _AXES}
        | {
            "get_veccoreid": "number of the vector core",
            "get_laneid": "number of the thread in its warp",
            "get_clock32": "a clock of 32 bits",
        }
        | {
            f"get_lanemask_{name}": f"bits of the threads of a warp with a number {what} this one's"
            for name, what in (("eq", "equal to"), ("le", "up to"), ("lt", "below"), ("ge", "from"), ("gt", "above"))
        },
        is_pure=True,
    ),
    Instruction("get_clock64", "{} : result:i64", "a clock of 64 bits", True),
    # Exchanges
    *family(
        "%pred:i1 {} : * -> result:i1",
        {
            "vote_all": "true if all threads of a warp say so",
            "vote_any": "true if a thread of a warp says so",
            "vote_uni": "true if all threads of a warp say the same",
        },
    ),
    Instruction("vote_ballot", "%pred:i1 {} : * -> result:i32", "a bit for each thread of a warp"),
    *[
        Instruction(f"shuffle_{name}", f"%value:SH, %{operand}:i32 {{}} : * -> result:SH", summary)
        for name, operand, summary in (
            ("idx", "index", "the value of the thread with a number"),
            ("up", "offset", "the value of a thread before"),
            ("down", "offset", "the value of a thread behind"),
            ("bfly", "mask", "the value of the thread whose number differs in some bits"),
        )
    ],
    *family(
        f"%value:RX <?{_SIGN}?> {{}} : * -> result:RX",
        {
            "redux_add": "sum of a warp",
            "redux_max": "largest of a warp",
            "redux_min": "smallest of a warp",
        },
    ),
    *family(
        "{}",
        {
            "syncthreads": "waits for all threads of a block",
            "threadfence": "orders a thread's accesses for all",
            "threadfence_block": "orders a thread's accesses for its block",
        },
    ),
    # Memory
    Instruction(
        "ldg",
        f"%ptr:P[%offset:=index] {_L1} <?'l2cache' (#l2cache=word({_LOADS}))?> {{}} : * -> value",
        "loads an element of global memory",
    ),
    Instruction(
        "stg",
        f"%value, %ptr:P[%offset:=index] {_L1} <?'l2cache' (#l2cache=word({_STORES}))?> {{}} : ptr, value",
        "stores an element of global memory",
    ),
    Instruction("ld_dev", "%ptr:P[%offset:=index] {} : * -> value:DV", "loads an element past the caches"),
    Instruction("st_dev", "%value:DV, %ptr:P[%offset:=index] {} : ptr, value", "stores an element past the caches"),
    *family(
        f"%ptr:P, %value:AT <?'l2cache' (#l2cache=word({_STORES}))?> <?{_SIGN}?> {{}} : * -> old:AT",
        {
            f"atomic_{name}": f"{what}, and what was there"
            for name, what in (
                ("exch", "replaces an element"),
                ("add", "adds to an element"),
                ("sub", "subtracts from an element"),
                ("min", "keeps the smaller of an element and a value"),
                ("max", "keeps the larger of an element and a value"),
                ("and", "keeps the bits of an element that are on in a value"),
                ("or", "sets bits of an element"),
                ("xor", "inverts bits of an element"),
            )
        },
    ),
    Instruction(
        "atomic_cas",
        f"%ptr:P, %compare:~value, %value:AT <?'l2cache' (#l2cache=word({_STORES}))?> <?{_SIGN}?> {{}} : "
        "ptr, value -> old:AT",
        "replaces an element if it equals a value, and what was there",
    ),
    # Arithmetic
    Instruction(
        "prmt", "%lhs:i32, %rhs:i32, %selector:i32 {} : * -> result:i32", "bytes of two words in another order", True
    ),
    Instruction("mulhi", f"%lhs:I2, %rhs:I2 {_SIGN} {{}} : * -> result:I2", "upper half of a product", True),
    Instruction("mul_i32toi64", f"%lhs:i32, %rhs:i32 {_SIGN} {{}} : * -> result:i64", "the whole of a product", True),
    *family(
        "%value:F3 {} : * -> result:F3",
        {"sqrt": "square root", "exp": "e to the power", "log": "natural logarithm"},
        is_pure=True,
    ),
    *family(
        "%value:F1 {} : * -> result:F1",
        {
            "ceil": "the next integer above",
            "floor": "the next integer below",
            "rint": "the nearest integer, even in a tie",
            "round": "the nearest integer, away from zero in a tie",
        },
        is_pure=True,
    ),
    *family("%value:f32 {} : * -> result:f32", {"sin": "sine", "cos": "cosine"}, is_pure=True),
    Instruction("absf", "%value:F4 {} : * -> result:F4", "absolute value", True),
    *family(
        "%lhs:F2, %rhs:F2 {} : * -> result:F2", {"fmin": "smaller of both", "fmax": "larger of both"}, is_pure=True
    ),
    Instruction("pow", "%lhs:F3, %rhs:F3 {} : * -> result:F3", "first to the power of second", True),
    Instruction(
        "fma", "%lhs:F2, %rhs:F2, %acc:F2 {} : * -> result:F2", "product of the first two plus the third", True
    ),
    Instruction(
        "convert",
        f"%src:CV 'round' (#rounding=word(r a f c z o h)) #saturation=word(sat nosat) <?{_SIGN}?> {{}} : * -> dst:CV",
        "a number of another type",
        True,
    ),
]
