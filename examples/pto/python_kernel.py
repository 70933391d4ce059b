"""A kernel in PTOAS's Python DSL, run with numpy arrays on as many blocks as there are rows: out = x + y.

Needs `ptodsl`, which comes with the package of PTOAS: python examples/pto/python_kernel.py. Exit status 0 means that
the result was right.
"""

# The DSL has no types, and calls functions in annotations.
# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false

import sys

import numpy as np

from loomir import LoomError, pto

try:
    from ptodsl import pto as dsl
except ImportError as error:
    sys.exit(f"ptodsl cannot be imported ({error}); install the package of PTOAS, or write the kernel as a .pto file")


@dsl.jit(target="a5")
def add_rows(
    x_ptr: dsl.ptr(dsl.f32, "gm"),
    y_ptr: dsl.ptr(dsl.f32, "gm"),
    out_ptr: dsl.ptr(dsl.f32, "gm"),
    rows: dsl.i32,
    *,
    COLUMNS: dsl.const_expr = 64,
):
    """Add one row of `x` and `y` in each block."""
    row = dsl.get_block_idx()
    parts = [
        dsl.partition_view(
            dsl.make_tensor_view(pointer, shape=[rows, COLUMNS], strides=[COLUMNS, 1]),
            offsets=[row, 0],
            sizes=[1, COLUMNS],
        )
        for pointer in (x_ptr, y_ptr, out_ptr)
    ]
    tiles = [dsl.alloc_tile(shape=[1, COLUMNS], dtype=dsl.f32) for _ in parts]
    dsl.tile.load(parts[0], tiles[0])
    dsl.tile.load(parts[1], tiles[1])
    dsl.tile.add(tiles[0], tiles[1], tiles[2])
    dsl.tile.store(tiles[2], parts[2])


def main() -> int:
    x, y = np.random.default_rng(1).uniform(-2, 2, (2, 6, 128)).astype(np.float32)
    kernel = add_rows.compile(COLUMNS=128)  # as for a launch; `add_rows` itself has the defaults
    for finding in pto.check(kernel):
        print(finding)
    try:
        result = pto.run(kernel, arch="a5", blocks=6, arguments=[x, y, np.zeros_like(x), 6])
    except LoomError as error:
        print(error)
        return 1
    *_, out = result.arrays.values()
    is_right = bool((out == x + y).all())
    print("right" if is_right else "wrong")
    return 0 if is_right and not result.has_errors else 1


if __name__ == "__main__":
    sys.exit(main())
