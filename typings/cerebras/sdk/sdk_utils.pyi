from loomir.host.sdk.conversions import calculate_cycles as calculate_cycles
from loomir.host.sdk.conversions import input_array_to_u32 as input_array_to_u32
from loomir.host.sdk.conversions import memcpy_view as memcpy_view
