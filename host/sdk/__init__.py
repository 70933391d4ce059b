"""The SDK's host interface, on our engine: artifacts of `loom cslc`, SdkRuntime, sdk_utils, debug_util.

A host script sees these under the names it was written for, `cerebras.sdk...`; `modules` maps one to the other, for
one process. Nothing here knows CSL or how a program is lowered.
"""
