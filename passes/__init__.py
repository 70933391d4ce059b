"""The passes, one file each, named as the pass: `dsd-assign-queues` stands in dsd_assign_queues.py."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.passes import ModulePass


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Every pass of this package by name; calling an entry imports and returns it."""

    def get_dsd_expand_tensor_access() -> type[ModulePass]:
        from .dsd_expand_tensor_access import DsdExpandTensorAccessPass

        return DsdExpandTensorAccessPass

    def get_dsd_assign_queues() -> type[ModulePass]:
        from .dsd_assign_queues import DsdAssignQueuesPass

        return DsdAssignQueuesPass

    def get_dsd_assign_microthreads() -> type[ModulePass]:
        from .dsd_assign_microthreads import DsdAssignMicrothreadsPass

        return DsdAssignMicrothreadsPass

    def get_dsr_forward_loads() -> type[ModulePass]:
        from .dsr_forward_loads import DsrForwardLoadsPass

        return DsrForwardLoadsPass

    def get_dsr_allocate() -> type[ModulePass]:
        from .dsr_allocate import DsrAllocatePass

        return DsrAllocatePass

    def get_lower_to_flow() -> type[ModulePass]:
        from .lower_to_flow import LowerToFlowPass

        return LowerToFlowPass

    def get_lower_pto_to_flow() -> type[ModulePass]:
        from .lower_pto_to_flow import LowerPtoToFlowPass

        return LowerPtoToFlowPass

    def get_import_xdsl_csl() -> type[ModulePass]:
        from .import_xdsl_csl import ImportXdslCslPass

        return ImportXdslCslPass

    def get_pto_assign_default_frontend_pipe_id() -> type[ModulePass]:
        from .pto_assign_default_frontend_pipe_id import PtoAssignDefaultFrontendPipeIdPass

        return PtoAssignDefaultFrontendPipeIdPass

    def get_pto_infer_slots() -> type[ModulePass]:
        from .pto_infer_slots import PtoInferSlotsPass

        return PtoInferSlotsPass

    def get_pto_lower_frontend_pipe_ops() -> type[ModulePass]:
        from .pto_lower_frontend_pipe_ops import PtoLowerFrontendPipeOpsPass

        return PtoLowerFrontendPipeOpsPass

    def get_pto_infer_validate_pipe_init() -> type[ModulePass]:
        from .pto_infer_validate_pipe_init import PtoInferValidatePipeInitPass

        return PtoInferValidatePipeInitPass

    def get_pto_place_tiles() -> type[ModulePass]:
        from .pto_place_tiles import PtoPlaceTilesPass

        return PtoPlaceTilesPass

    def get_pto_place_reserved_buffers() -> type[ModulePass]:
        from .pto_place_reserved_buffers import PtoPlaceReservedBuffersPass

        return PtoPlaceReservedBuffersPass

    def get_pto_resolve_reserved_buffers() -> type[ModulePass]:
        from .pto_resolve_reserved_buffers import PtoResolveReservedBuffersPass

        return PtoResolveReservedBuffersPass

    return {
        "lower-pto-to-flow": get_lower_pto_to_flow,
        "import-xdsl-csl": get_import_xdsl_csl,
        "dsd-expand-tensor-access": get_dsd_expand_tensor_access,
        "dsd-assign-queues": get_dsd_assign_queues,
        "dsd-assign-microthreads": get_dsd_assign_microthreads,
        "dsr-forward-loads": get_dsr_forward_loads,
        "dsr-allocate": get_dsr_allocate,
        "lower-to-flow": get_lower_to_flow,
        "pto-assign-default-frontend-pipe-id": get_pto_assign_default_frontend_pipe_id,
        "pto-infer-slots": get_pto_infer_slots,
        "pto-lower-frontend-pipe-ops": get_pto_lower_frontend_pipe_ops,
        "pto-infer-validate-pipe-init": get_pto_infer_validate_pipe_init,
        "pto-place-tiles": get_pto_place_tiles,
        "pto-place-reserved-buffers": get_pto_place_reserved_buffers,
        "pto-resolve-reserved-buffers": get_pto_resolve_reserved_buffers,
    }
