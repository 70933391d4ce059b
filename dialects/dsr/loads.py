"""Registers and loads: operations that name registers and load descriptors into them, and redundant loads.

Nothing here knows the DSD operations.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, HasCanonicalizationPatternsTrait, MemoryEffect, MemoryEffectKind, Pure
from xdsl.utils.exceptions import VerifyException

from ...targets.wavelets import MAX_DIMENSIONS
from .. import wse
from ..building import build
from ..dsd import (
    AsyncAttr,
    CircbufType,
    DescriptorType,
    FabinType,
    FaboutType,
    FabricDescriptorType,
    FifoOp,
    FifoType,
    Mem4dType,
    MemoryDescriptorType,
    resolve_all,
    strides_if_constant,
)
from ..wse import CallOp, Scope, SymbolUser
from .types import (
    DescriptorRegisterType,
    RegisterResource,
    RegisterType,
    Src0Type,
    SrType,
    XdsrType,
)

MAX_STRIDE_REGISTERS = MAX_DIMENSIONS - 1
"""Most stride registers of one descriptor (DSR-058)."""


class RegisterEffects(MemoryEffect):
    """Loading an allocated register writes it; an unallocated one is only a value.

    With `save_address` operations move the register on, so each such load stands for itself.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, LoadOp)
        registers = {*op.written_registers, *(() if op.save_address is None else (op.register,))}
        return {EffectInstance(MemoryEffectKind.WRITE, resource=RegisterResource(register)) for register in registers}


def stride_registers(dimensions: int, innermost_stride: int | None) -> int:
    """Return the number of stride registers a mem4d needs (DSR-059 to DSR-061, DSR-064).

    `innermost_stride` is None for a descriptor that is not known at compile time, which takes three.
    """
    if innermost_stride is None:
        return MAX_STRIDE_REGISTERS
    if dimensions <= 1:
        return 0
    return dimensions - 1 - (innermost_stride == 1)


def needed_stride_registers(descriptor: SSAValue) -> int:
    """Return the number of stride registers that loading `descriptor`, a mem4d, needs."""
    strides = strides_if_constant(descriptor)
    return stride_registers(0, None) if strides is None else stride_registers(len(strides), strides[0])


def needs_xdsr(type: Attribute) -> bool:
    """Return True if a descriptor of `type` needs an XDSR beside its DSR (DSR-005)."""
    return isinstance(type, Mem4dType | CircbufType | FifoType)


class _GetRegisterOp(SymbolUser, ABC):
    """Names a physical register or, without a number, asks for some register of the file."""

    traits = traits_def(Pure())

    def __init__(self, type: RegisterType):
        super().__init__(result_types=[type])

    @property
    def register(self) -> RegisterType:
        return cast(RegisterType, self.results[0].type)

    def verify_symbols(self, scope: Scope) -> None:
        self.register.verify_index(scope.target)


@irdl_op_definition
class GetDsrOp(_GetRegisterOp):
    """Names a descriptor register that other code has loaded, or that holds a FIFO from the start on.

    ```
    %r = dsr.get_dsr : !dsr.src0<f32, 3>
    %f = dsr.get_dsr fifo : !dsr.src1<f32, 4>
    ```

    `fifo` says that the register holds a FIFO (DSR-012): an operation that finds it empty or full then does what the
    FIFO says (DSR-013), and must not find it so otherwise (DSR-016). Refused are: a register the target lacks
    (DSR-022), one without a number, which nothing can have loaded (DSR-003), and a FIFO in a src0 (DSR-011).
    """

    name = "dsr.get_dsr"
    fifo = opt_prop_def(UnitAttr)
    result = result_def(DescriptorRegisterType)
    assembly_format = "(`fifo` $fifo^)? attr-dict `:` type($result)"

    def __init__(self, type: RegisterType, *, fifo: bool = False):
        super().__init__(type)
        if fifo:
            self.properties["fifo"] = UnitAttr()

    def verify_(self) -> None:
        if not self.register.is_allocated:
            raise VerifyException(
                "dsr.get_dsr has no register number, so nothing can have loaded the register; give its number"
            )
        if self.fifo is not None and isinstance(self.register, Src0Type):
            raise VerifyException("a src0 register cannot hold a FIFO; use a dest or src1 (DSR-011)")


@irdl_op_definition
class GetXdsrOp(_GetRegisterOp):
    """Names an extended register, for a `dsr.load`.

    ```
    %x = dsr.get_xdsr : !dsr.xdsr<0>
    ```

    A register the target lacks is refused (DSR-028).
    """

    name = "dsr.get_xdsr"
    result = result_def(XdsrType)
    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class GetSrOp(_GetRegisterOp):
    """Names a stride register, for a `dsr.load`.

    ```
    %s = dsr.get_sr : !dsr.sr<0>
    ```

    A register the target lacks is refused (DSR-031).
    """

    name = "dsr.get_sr"
    result = result_def(SrType)
    assembly_format = "attr-dict `:` type($result)"


class _RemovesRedundantLoads(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (RemoveRedundantLoad(),)


@irdl_op_definition
class LoadOp(SymbolUser):
    """Loads a descriptor into a register; a mem4d needs an XDSR and stride registers, a circbuf an XDSR.

    ```
    %a = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
    %b = dsr.load %i async(activate = @done) : !dsd.fabin<f32> -> !dsr.src1<f32>
    %c = dsr.load %q xdsr %x srs [%s, %t] save_address
           : !dsd.mem4d<f32>, !dsr.xdsr<0>, !dsr.sr<0>, !dsr.sr<1> -> !dsr.dest<f32, 0>
    ```

    `async` makes operations on the register asynchronous and says what their completion does (DSD-182,
    DSD-195); `save_address` makes each operation go on where the last one stopped (DSR-065); `single_step` is
    for `@map` (DSR-068). `implicit` is what the compiler loads for an operation that takes a descriptor: nothing else
    reads that register. Refused are: a fabin in a dest (DSR-040), a fabout in a source (DSR-041, DSR-042), a
    mem4d or circbuf without XDSR (DSR-043, DSR-044), an XDSR for anything else (DSR-050, DSR-055), a wrong number
    of stride registers (DSR-062, DSR-064), `async` on memory (DSR-036), `save_address` on the fabric
    (DSR-037), more than one of the three settings.
    """

    name = "dsr.load"
    descriptor = operand_def(DescriptorType)
    xdsr = opt_operand_def(XdsrType)
    srs = var_operand_def(SrType)
    asynchronous = opt_prop_def(AsyncAttr, prop_name="async")
    save_address = opt_prop_def(UnitAttr)
    single_step = opt_prop_def(UnitAttr)
    implicit = opt_prop_def(UnitAttr)
    result = result_def(DescriptorRegisterType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RegisterEffects(), _RemovesRedundantLoads())

    def __init__(
        self,
        descriptor: SSAValue,
        register: DescriptorRegisterType,
        *,
        xdsr: SSAValue | None = None,
        srs: Sequence[SSAValue] = (),
        asynchronous: AsyncAttr | None = None,
        save_address: bool = False,
        single_step: bool = False,
        implicit: bool = False,
    ):
        build(
            self,
            [descriptor, *srs] if xdsr is None else [descriptor, xdsr, *srs],
            [register],
            {
                "async": asynchronous,
                "save_address": UnitAttr() if save_address else None,
                "single_step": UnitAttr() if single_step else None,
                "implicit": UnitAttr() if implicit else None,
            },
            (1, int(xdsr is not None), len(srs)),
        )

    @property
    def register(self) -> DescriptorRegisterType:
        """The register that is loaded."""
        return self.result.type

    @property
    def written_registers(self) -> tuple[RegisterType, ...]:
        """The allocated registers the load writes."""
        extensions = (*(() if self.xdsr is None else (self.xdsr,)), *self.srs)
        registers = (self.register, *(cast(RegisterType, value.type) for value in extensions))
        return tuple(register for register in registers if register.is_allocated)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        operands = [parser.parse_unresolved_operand()]
        has_xdsr = parser.parse_optional_keyword("xdsr") is not None
        if has_xdsr:
            operands.append(parser.parse_unresolved_operand())
        if parser.parse_optional_keyword("srs") is not None:
            operands += parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        asynchronous = None
        if parser.parse_optional_keyword("async") is not None:
            asynchronous = AsyncAttr.parse_settings(parser, parser.Delimiter.PAREN)
        save_address = parser.parse_optional_keyword("save_address") is not None
        single_step = parser.parse_optional_keyword("single_step") is not None
        implicit = parser.parse_optional_keyword("implicit") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        descriptor, *extensions = resolve_all(parser, operands, types, position)
        parser.parse_punctuation("->")
        position = parser.pos
        register = parser.parse_type()
        if not isinstance(register, DescriptorRegisterType):
            parser.raise_error("a descriptor is loaded into a !dsr.dest, !dsr.src0 or !dsr.src1", position)
        op = cls(
            descriptor,
            register,
            xdsr=extensions.pop(0) if has_xdsr else None,
            srs=extensions,
            asynchronous=asynchronous,
            save_address=save_address,
            single_step=single_step,
            implicit=implicit,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.descriptor)
        if self.xdsr is not None:
            printer.print_string(" xdsr ")
            printer.print_operand(self.xdsr)
        if self.srs:
            printer.print_string(" srs ")
            with printer.in_square_brackets():
                printer.print_list(self.srs, printer.print_operand)
        if self.asynchronous is not None:
            printer.print_string(" async")
            self.asynchronous.print_settings(printer, "(", ")")
        if self.save_address is not None:
            printer.print_string(" save_address")
        if self.single_step is not None:
            printer.print_string(" single_step")
        if self.implicit is not None:
            printer.print_string(" implicit")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operands, lambda operand: printer.print_attribute(operand.type))
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        type = cast(DescriptorType, self.descriptor.type)
        file = self.register.file()
        if type.element_type != self.register.element_type:
            raise VerifyException(
                f"the register holds elements of {self.register.element_type}, the descriptor has "
                f"{type.element_type}; use that element type"
            )
        if isinstance(type, FabinType) and file == "dest":
            raise VerifyException("a fabin is a source and cannot be loaded into a dest; load it into a src0 or src1")
        if isinstance(type, FaboutType) and file != "dest":
            raise VerifyException(f"a fabout is a destination and cannot be loaded into a {file}; load it into a dest")
        self._verify_extensions(type)
        self._verify_settings(type)

    def _verify_extensions(self, type: DescriptorType) -> None:
        kind = type.name.removeprefix("dsd.")
        if needs_xdsr(type):
            if self.xdsr is None:
                extra = " and stride registers" if isinstance(type, Mem4dType) else ""
                raise VerifyException(f"a {kind} needs more than a descriptor register; give dsr.load an xdsr{extra}")
        elif self.xdsr is not None:
            raise VerifyException(f"a {kind} needs no xdsr; only a mem4d, circbuf or FIFO does, so remove it")
        if not isinstance(type, Mem4dType):
            if self.srs:
                raise VerifyException(f"a {kind} needs no stride register; only a mem4d does, so remove srs")
            return
        needed = needed_stride_registers(self.descriptor)
        if len(self.srs) not in (needed, MAX_STRIDE_REGISTERS):
            raise VerifyException(
                f"the mem4d needs {needed} stride registers, not {len(self.srs)}; give that many in srs"
            )

    def _verify_settings(self, type: DescriptorType) -> None:
        settings = {
            "async": self.asynchronous,
            "save_address": self.save_address,
            "single_step": self.single_step,
        }
        given = [name for name, value in settings.items() if value is not None]
        if len(given) > 1:
            raise VerifyException(f"{' and '.join(given)} cannot be combined; keep one of them")
        if self.asynchronous is not None:
            if not isinstance(type, FabricDescriptorType):
                raise VerifyException("async is for fabric descriptors; remove it from a load of memory")
            self.asynchronous.verify_settings()
        if self.save_address is not None and not isinstance(type, MemoryDescriptorType):
            raise VerifyException("save_address is for memory descriptors; remove it from a load of the fabric")

    def verify_symbols(self, scope: Scope) -> None:
        for value in (self.result, *self.operands[1:]):
            cast(RegisterType, value.type).verify_index(scope.target)
        if isinstance(self.descriptor.type, FifoType) and not isinstance(self.descriptor.owner, FifoOp):
            raise VerifyException(
                "the FIFO that is loaded must be known at compile time; name it with dsd.fifo (DSD-122)"
            )
        taken = [self.register] if not isinstance(self.register, Src0Type) else []
        self._verify_not_of_fifo([*taken, *(cast(RegisterType, value.type) for value in self.operands[1:])], scope)
        if self.asynchronous is not None:
            self.asynchronous.verify_symbols(scope)

    def _verify_not_of_fifo(self, registers: Sequence[RegisterType], scope: Scope) -> None:
        """Raise VerifyException if a register is one of a FIFO's, which hold it for good (DSR-075)."""
        for fifo in scope.own.values():
            if not isinstance(fifo, wse.FifoOp):
                continue
            for register in registers:
                held = fifo.xdsr if isinstance(register, XdsrType) else fifo.register
                if held is not None and not isinstance(register, SrType) and held.value.data == register.number:
                    raise VerifyException(
                        f"{register.file()} register {register.number} holds FIFO @{fifo.sym_name.data}; load another"
                    )


class RemoveRedundantLoad(RewritePattern):
    """Drop a load whose allocated register still holds the same descriptor from an earlier load of the block.

    The search goes back to the last load of the same register and stops at anything that could run other
    code, so all searches of a block together look at each operation once for each register. Loads of
    unallocated registers are values without effects, which common subexpression elimination shares.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        written = op.written_registers
        if op.save_address is not None or not written:
            return
        earlier = op.prev_op
        while earlier is not None and not earlier.regions and not isinstance(earlier, CallOp):
            if isinstance(earlier, LoadOp):
                if self._same(earlier, op):
                    rewriter.replace(op, [], [earlier.result])
                    return
                if any(register in written for register in earlier.written_registers):
                    return
            earlier = earlier.prev_op

    @staticmethod
    def _same(earlier: LoadOp, op: LoadOp) -> bool:
        return (
            tuple(earlier.operands) == tuple(op.operands)
            and earlier.properties == op.properties
            and earlier.result.type == op.result.type
        )
