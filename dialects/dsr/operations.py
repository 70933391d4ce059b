"""The DSD operations on registers: what all have in common.

Nothing here knows one operation; `builtins` has a class for each.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import SSAValue
from xdsl.traits import EffectInstance, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from ..dsd import AsyncAttr, DsdOperation
from ..wse import Scope
from .loads import LoadOp
from .types import DescriptorRegisterType, DestType, RegisterResource, RegisterType, Src1Type


class RegisterOperation(DsdOperation, ABC):
    """A DSD operation on registers: the first source in src0, the second in src1, scalars as values.

    A destination is a dest or src0 register or the buffer of a scalar. An operation on a register that was
    loaded with `async` is asynchronous even if it does not say so (DSD-182); the settings are then those of
    the load (DSD-195).
    """

    @property
    def loads(self) -> tuple[LoadOp, ...]:
        """The loads of the operands, where they are known."""
        owners = (operand.owner for operand in self.table_operands)
        return tuple(owner for owner in owners if isinstance(owner, LoadOp))

    @property
    def settings(self) -> AsyncAttr | None:
        own = self.asynchronous
        loaded = [load.asynchronous for load in self.loads if load.asynchronous is not None]
        if not loaded:
            return own
        # The first register with a microthread decides; the pass that numbers them writes into the operation.
        given = [settings.microthread for settings in (*loaded, *([] if own is None else [own]))]
        number = next((number for number in given if number is not None), None)
        return loaded[0] if number is None else loaded[0].with_microthread(number)

    def descriptor_of(self, operand: SSAValue) -> SSAValue | None:
        owner = operand.owner
        return owner.descriptor if isinstance(owner, LoadOp) else None

    def effects(self) -> set[EffectInstance]:
        found = super().effects()
        for operand in (self.destination, *self.sources):
            type = operand.type
            if isinstance(type, RegisterType) and type.is_allocated:
                found.add(EffectInstance(MemoryEffectKind.READ, resource=RegisterResource(type)))
        for load in self.loads:
            if load.save_address is not None and load.register.is_allocated:
                resource = RegisterResource(load.register)
                found.add(EffectInstance(MemoryEffectKind.WRITE, resource=resource))
        return found

    def verify_operand(self, operand: SSAValue, source: int | None) -> None:
        row, type = self.definition, operand.type
        noun = "the destination" if source is None else f"source {source + 1}"
        if not isinstance(type, DescriptorRegisterType):
            raise VerifyException(f"{noun} of {row.name} is of type {type}; load a descriptor with dsr.load")
        if source is None and isinstance(type, Src1Type):
            raise VerifyException(
                f"the destination of {row.name} is a src1 register, which holds sources only; use a dest or src0"
            )
        if source is not None and isinstance(type, DestType):
            raise VerifyException(
                f"{noun} of {row.name} is a dest register, which holds destinations only; use a src0 or src1"
            )
        needed = row.destination if source is None else row.sources[source]
        self._verify_element(noun, needed, type.element_type)

    def verify_use(self) -> None:
        super().verify_use()
        row = self.definition
        files = [s.type.file() for s in self.sources if isinstance(s.type, DescriptorRegisterType)]
        if len(set(files)) != len(files):
            raise VerifyException(
                f"two sources of {row.name} are {files[0]} registers; load one of them into the other source file"
            )
        if any(load.single_step is not None for load in self.loads):
            raise VerifyException(
                f"an operand of {row.name} was loaded with single_step, which is for @map; load it without"
            )
        if self.asynchronous is not None:
            self._verify_async(self.asynchronous)

    def verify_symbols(self, scope: Scope) -> None:
        super().verify_symbols(scope)
        for operand in self.table_operands:
            if isinstance(operand.type, RegisterType):
                operand.type.verify_index(scope.target)

    def _verify_async(self, own: AsyncAttr) -> None:
        """Check that an asynchronous operation takes its settings from the load of a fabric register."""
        registers = (self.destination, *self.sources)
        if any(isinstance(r.type, RegisterType) and self.descriptor_of(r) is None for r in registers):
            # What the register holds was decided elsewhere, so only the run can tell.
            return
        if not self.fabric_operands:
            raise VerifyException(
                f"{self.shown_name} is async but moves no wavelets; only operations with a fabric operand can be"
            )
        loaded = [load.asynchronous for load in self.loads if load.asynchronous is not None]
        if not loaded:
            raise VerifyException(
                f"{self.shown_name} is async, but no fabric operand was loaded with async; add async to its dsr.load"
            )
        for name, given in (("activate", own.activate), ("unblock", own.unblock)):
            if not isinstance(given, NoneAttr) and all(getattr(settings, name) != given for settings in loaded):
                raise VerifyException(
                    f"{name} takes effect only where the fabric descriptor is loaded; give it to that dsr.load"
                )
