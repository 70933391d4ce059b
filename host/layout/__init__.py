"""Layout of code regions on the fabric: placement, routing and color allocation.

`netlist` has the data, `layouts` does it all; both know nothing of CSL, IR or the SDK.
"""
