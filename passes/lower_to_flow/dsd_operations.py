"""DSD operations, and the registers and FIFOs that they read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import (
    MemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...analysis.wse.pe_program import descriptor_makers
from ...dialects import dsd, dsr, flow
from ...targets.wavelets import POINTER_EXTENT
from .descriptors import DescriptorLowering
from .emission import refusal
from .registers import Registers, is_kept


@dataclass
class DsdOperationLowering(DescriptorLowering):
    """Lowers DSD operations, registers and FIFOs."""

    registers: Registers = field(default_factory=Registers)

    def _register(self, op: Operation) -> None:
        """Lower a register or load: the result of a load is the stream that was loaded. Only those that the program
        names, or that operations move on, stay."""
        match op:
            case dsr.LoadOp():
                for register in (op.result, *op.operands[1:]):
                    type = register.type
                    if isinstance(type, dsr.RegisterType) and not type.is_allocated:
                        raise refusal(
                            op,
                            f"dsr.load uses a {type.file()} register without a number; run dsr-allocate before "
                            "lower-to-flow",
                        )
                self.registers.load(op)
                self.values[op.result] = self._value(op, op.descriptor)
                if op.single_step is None and self.ask("is kept", op.register.file(), op.register.number):
                    self._load_register(op)
            case dsr.GetXdsrOp() | dsr.GetSrOp() | dsr.GetDsrOp():
                # Names a register for a load or an operation, and holds nothing by itself.
                pass
            case _:
                raise refusal(
                    op, f"{op.name} has no counterpart in flow, which has no registers; load the descriptor here"
                )

    def _load_register(self, op: dsr.LoadOp) -> None:
        properties: dict[str, Attribute | None] = {}
        settings = op.asynchronous
        if settings is not None:
            number = settings.microthread
            if number is None:
                # The queue gives the microthread (DSD-223, AMB-14).
                makers = [m for m in descriptor_makers(op.descriptor) if isinstance(m, dsd.FabricDescriptorOp)]
                name = makers[0].queue_name if makers else None
                number = None if name is None else self.ask("queue id", name)
            if number is None:
                raise refusal(op, "dsr.load is asynchronous and its queue has no id; run dsd-assign-queues before")
            properties = self._settings(op, settings, number, self._priority(settings, [op.descriptor]))
        number = op.register.number
        assert number is not None
        self._append(
            op,
            flow.LoadRegisterOp(
                op.register.file(),
                number,
                self.values[op.result],
                save_address=op.save_address is not None,
                settings=properties,
            ),
        )

    def _dsd_operation(self, op: dsd.DsdOperation) -> None:
        with self.mistakes.going_on():
            self.registers.check(op)
        streams = [self._operand(op, operand) for operand in op.table_operands]
        if isinstance(op.destination.type, MemRefType):
            streams[0] = self._pointer(op, streams[1:])
        settings = op.settings
        # An operation on a register that is loaded elsewhere is what that load makes of it.
        unknown = any(isinstance(operand.owner, dsr.GetDsrOp) for operand in op.table_operands)
        if settings is not None and settings.microthread is None and not unknown:
            raise refusal(
                op,
                f"{op.name} is asynchronous and has no microthread; run dsd-assign-microthreads before lower-to-flow",
            )
        if settings is None or settings.microthread is None:
            properties = None
        else:
            descriptors = map(op.descriptor_of, op.table_operands)
            priority = self._priority(settings, descriptors)
            if priority is None and op.asynchronous is not None and op.asynchronous.microthread_priority is not None:
                priority = op.asynchronous.microthread_priority.value  # the load of a register gives none
            properties = self._settings(op, settings, settings.microthread, priority)
        with_result = op.result is not None
        self._emit(
            op,
            flow.ApplyOp(
                op.definition.name,
                streams[0],
                streams[1:],
                properties,
                with_result=with_result,
                fp16=op.fp16,
                drops_data=op.drops_data is not None,
            ),
        )

    def _settings(
        self, op: Operation, settings: dsd.AsyncAttr, microthread: int, priority: str | None
    ) -> dict[str, Attribute | None]:
        unblocked = settings.unblocked
        return flow.AsynchronousOp.settings(
            microthread,
            settings.activated,
            None if unblocked is None else self._unblocked(op, unblocked),
            self._on_control(op, settings),
            priority,
        )

    def _priority(self, settings: dsd.AsyncAttr, descriptors: Iterable[SSAValue | None]) -> str | None:
        """Return the priority: that of the operation or load on WSE-2, of its first operand that is a fabric descriptor
        or a FIFO on WSE-3 (DSD-225, DSD-227, AMB-13)."""
        if settings.microthread_priority is not None:
            return settings.microthread_priority.value
        for descriptor in descriptors:
            match None if descriptor is None else dsd.defining_op(descriptor):
                case dsd.FabricDescriptorOp() as made_by:
                    return None if made_by.priority is None else made_by.priority.data.value
                case dsd.FifoOp() as made_by:
                    return cast("str | None", self.ask("priority", made_by.fifo.string_value()))
                case _:
                    pass
        return None

    def _on_control(self, op: Operation, settings: dsd.AsyncAttr) -> tuple[str, str | None] | None:
        control = settings.control
        if control is None:
            return None
        task = control.task
        if task is not None and control.control_action is dsd.ControlAction.UNBLOCK:
            task = self._unblocked(op, task)
        return control.control_action.value, task

    def _operand(self, op: dsd.DsdOperation, operand: SSAValue) -> SSAValue:
        """Return an operand's scalar or stream, moved by the operation's index if its descriptor asks for that."""
        if isinstance(operand.type, MemRefType):
            return operand
        register = operand.type
        if isinstance(register, dsr.DescriptorRegisterType) and is_kept(operand):
            assert register.number is not None
            fifo = isinstance(operand.owner, dsr.GetDsrOp) and operand.owner.fifo is not None
            new = flow.RegisterOp(register.file(), register.number, register.element_type, fifo=fifo)
            value = self._make(op, new)
        else:
            value = self._value(op, operand)
        if op.index is None or not isinstance(value.type, flow.StreamType):
            return value
        descriptor = op.descriptor_of(operand)
        made_by = None if descriptor is None else dsd.defining_op(descriptor)
        match made_by:
            case dsd.Mem1dOp() | dsd.Mem4dOp() if made_by.wavelet_index_offset is not None:
                # The index counts 16-bit words (DSD-236), as flow.advance does.
                return self._make(op, flow.AdvanceOp(value, self._value(op, op.index)))
            case dsd.FaboutOp() if made_by.wavelet_index_offset is not None:
                return self._make(op, flow.IndexedOp(value, self._value(op, op.index)))
            case None:
                raise refusal(
                    op,
                    f"{op.name} has an index, but the descriptor of an operand is not known here; make the descriptor "
                    "next to the operation",
                )
            case _:
                return value

    def _pointer(self, op: dsd.DsdOperation, sources: Iterable[SSAValue]) -> SSAValue:
        """Return the stream of a pointer to a scalar, which is written once for each element of the sources, always in
        the same place."""
        array = self._array(op, op.destination)
        walks = any(isinstance(source.type, flow.StreamType) for source in sources)
        type = cast("MemRefType[Attribute]", op.destination.type).element_type
        return self._make(op, flow.StreamOp(array, 0, [0], [POINTER_EXTENT if walks else 1], type))

    def _fifo(self, op: dsd.FifoOp) -> None:
        self._emit(op, flow.FifoStreamOp(op.fifo, op.result.type.element_type))

    def _fifo_length(self, op: dsd.SetFifoLengthOp) -> None:
        self._emit(op, flow.SetFifoLengthOp(op.fifo, op.side.data, self._amount(op, op.length)))
