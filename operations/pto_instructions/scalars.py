"""Values of the scalar unit: addresses, variables of a kernel, what types say about tensors and tiles."""

from __future__ import annotations

from .instruction import Instruction, family

TABLE: list[Instruction] = [
    # Addresses
    Instruction("ptrtoint", "%ptr:P {} : * -> result:i64", "an address as a number", True),
    Instruction("inttoptr", "%addr:I {} : * -> result:P", "a number as an address", True),
    Instruction("castptr", "%input {} : * -> result", "an address, or a number, as an address of other elements", True),
    Instruction("load", "%ptr:B[%offset:=index] {} : ptr -> value", "loads an element"),
    Instruction("store", "%value, %ptr:B[%offset:=index] {} : ptr, value", "stores an element"),
    Instruction("tile_buf_addr", "%src {} : * -> dst:Q", "the address of a tile", True),
    Instruction("tensor_view_addr", "%src {} : * -> dst:Q", "the address of a tensor", True),
    *family(
        "%tensor_view:G, %dim_index:=index : tensor_view -> result:index {}",
        {"get_tensor_view_dim": "an extent of a tensor", "get_tensor_view_stride": "a stride of a tensor"},
        is_pure=True,
    ),
    *family(
        "%src:TB {} : * -> result:index",
        {"tile_valid_rows": "the valid rows of a tile", "tile_valid_cols": "the valid columns of a tile"},
        is_pure=True,
    ),
    Instruction(
        "get_validshape",
        "%source:TB {} : * valid_row:=index valid_col:=index",
        "the valid rows and columns of a tile",
    ),
    # Variables
    Instruction("declare_eventid_array", "{} -> array", "numbers of flags"),
    Instruction(
        "eventid_array_get", "%array[%index:=index] {} : array result:=index", "one of several numbers of flags"
    ),
    Instruction(
        "eventid_array_set", "%array[%index:=index], %value:=index {} : array", "sets one of several numbers of flags"
    ),
    Instruction("declare_local_array", "{} -> array", "an array of the scalar unit"),
    Instruction(
        "local_array_get",
        "%array[%indices*:=index] {} : array -> result:N",
        "an element of an array of the scalar unit",
    ),
    Instruction(
        "local_array_set",
        "%array[%indices*:=index], %value:N {} : array, value",
        "sets an element of an array of the scalar unit",
    ),
    Instruction("declare_struct", "{} -> s", "several variables in one"),
    Instruction("struct_get", "%s#path=integers {} : * -> value", "one of several variables"),
    Instruction("struct_set", "%s#path=integers, %value {} : s, value", "sets one of several variables"),
    Instruction("print", "'ins' (#format, %scalar:printable : scalar) {}", "prints a number"),
    # Regions of fused operations
    Instruction("fusion_region", "@body {} : outputs*", "operations that are compiled together"),
    Instruction("yield", "(%values*) {} : signature:values", "what a region of fused operations returns"),
]
