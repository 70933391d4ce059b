"""Classes of costs: what scalar code is charged for, by operation and width.

A run counts classes; `targets.model.Timing` has the price of each, in a field of its name.
"""

from __future__ import annotations

from .integers import DIVISIONS

SCALAR_CLASSES = (
    "instruction",  # everything that has no class of its own
    "float_latency",  # a float instruction that the next one depends on: sums, products, comparisons, conversions
    "branch_taken",
    "branch_not_taken",
    "loop",  # an iteration of a loop, besides its test and its step
    "call",  # a call, which the compiler inlines
    "recursive_call",  # a call that leads back to a function that has not returned
    # Loads and stores by bits; of 8 bits as of 16
    "access_16",
    "access_32",
    "indexed_access_16",  # with an index that is computed
    "indexed_access_32",
    # By bits of the result
    "integer_division_16",
    "integer_division_32",
    "float_division_16",
    "float_division_32",
    "square_root_16",
    "square_root_32",
    "exponential_16",
    "exponential_32",
    "logarithm_16",
    "logarithm_32",
    "trigonometric_16",
    "trigonometric_32",
    "hyperbolic_16",
    "hyperbolic_32",
    "power_16",
    "power_32",
    # Descriptors, registers and tasks
    "descriptor",  # a change of a descriptor
    "register_load",  # a load of a data structure register
    "task_control",  # an activation, a block or an unblocking
    "timestamp",
)
"""The classes, in the order in which tables count them."""

_FUNCTIONS = {
    "exponential": ("math.exp", "math.exp2", "math.expm1"),
    "logarithm": ("math.log", "math.log2", "math.log10", "math.log1p"),
    "trigonometric": (
        "math.sin", "math.cos", "math.tan", "math.asin", "math.acos", "math.atan", "math.atan2",
    ),
    "hyperbolic": (
        "math.sinh", "math.cosh", "math.tanh", "math.asinh", "math.acosh", "math.atanh", "math.erf",
    ),
    "square_root": ("math.sqrt", "math.rsqrt", "math.cbrt"),
    "power": ("math.powf",),
    "float_division": ("arith.divf", "flow.remf"),
    "integer_division": tuple(DIVISIONS),
}  # fmt: skip
_CLASS = {name: cost for cost, names in _FUNCTIONS.items() for name in names}


def scalar_class(name: str, bits: int, *, floats: bool) -> str:
    """Return the class of a scalar operation of a name in IR, with the bits of its result; `floats` if it is a float.

    Functions of cb16, which it computes in f32, count as float instructions.
    """
    cost = _CLASS.get(name)
    if cost is None:
        return "float_latency" if floats else "instruction"
    return f"{cost}_{16 if bits <= 16 else 32}"


def access_class(bits: int, *, indexed: bool) -> str:
    """Return the class of a load or store; `indexed` if its address depends on an index that is computed."""
    return f"{'indexed_' if indexed else ''}access_{16 if bits <= 16 else 32}"
