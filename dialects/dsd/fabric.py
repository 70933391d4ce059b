"""Fabric descriptors: operations that describe wavelets that arrive or are sent.

Nothing here knows how a queue is chosen for a color.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr, UnitAttr, f32, i16, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_operand_def, opt_prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from ...targets.wavelets import EXTENTS
from ..building import build, symbol
from ..machine.modes import SimdMode
from ..traits import VerifiedByKind
from ..wse import ColorOp, InputQueueOp, OutputQueueOp, Scope, SymbolUser
from .attributes import PriorityAttr, SimdModeAttr, ZeroedSourceAttr
from .fields import (
    Integer,
    constant_extent,
    dynamic_part,
    joined_parts,
    parse_integer,
    print_integer,
    static_part,
    verify_field,
)
from .folding import known_number, replace_changed
from .options import OPTIONS, parse_options, print_options, verify_options
from .types import DescriptorType, FabinType, FaboutType


class FoldsFabricExtent(HasCanonicalizationPatternsTrait):
    """An extent that is a constant value becomes a number."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (FoldFabricExtent(),)


class FabricDescriptorOp(SymbolUser, ABC):
    """Makes a descriptor of wavelets."""

    queue = opt_prop_def(SymbolRefAttr)
    color = opt_prop_def(SymbolRefAttr)
    extent_value = opt_operand_def(i16)
    extent_attr = opt_prop_def(IntegerAttr, prop_name="extent")
    control_transform = opt_prop_def(UnitAttr)
    simd = opt_prop_def(SimdModeAttr)
    priority = opt_prop_def(PriorityAttr)
    message = opt_prop_def(UnitAttr)
    traits = traits_def(Pure(), FoldsFabricExtent(), VerifiedByKind())

    def __init__(
        self,
        type: FabinType | FaboutType,
        extent: Integer,
        *,
        queue: str | None = None,
        color: str | None = None,
        options: Mapping[str, Attribute] | None = None,
    ):
        length = dynamic_part(extent)
        build(
            self,
            [] if length is None else [length],
            [type],
            {
                "queue": None if queue is None else symbol(queue),
                "color": None if color is None else symbol(color),
                "extent": static_part(extent),
                **(options or {}),
            },
        )

    @property
    def queue_name(self) -> str | None:
        """The queue's symbol, if it has been chosen."""
        return None if self.queue is None else self.queue.string_value()

    @property
    def color_name(self) -> str | None:
        """The color's symbol, if it is given."""
        return None if self.color is None else self.color.string_value()

    @property
    def extent(self) -> Integer:
        """Number of values, one to a wavelet except in a SIMD mode."""
        return joined_parts(self.extent_value, self.extent_attr, 0)

    @property
    def options(self) -> dict[str, Attribute]:
        """The options in braces, as a new descriptor with another queue needs them."""
        return {name: value for name, value in self.properties.items() if name in OPTIONS}

    @property
    def element_type(self) -> Attribute:
        """What a wavelet holds."""
        return cast(DescriptorType, self.results[0].type).element_type

    def with_queue(self, queue: str) -> FabricDescriptorOp:
        """Return the same descriptor on the queue called `queue`, not yet inserted."""
        new = type(self)(
            cast("FabinType | FaboutType", self.results[0].type),
            self.extent,
            queue=queue,
            options=self.options,
        )
        new.attributes.update(self.attributes)
        new.location = self.location
        return new

    @classmethod
    def parse(cls, parser: Parser) -> FabricDescriptorOp:
        queue = parser.parse_optional_symbol_name()
        color = parser.parse_symbol_name() if parser.parse_optional_keyword("color") is not None else None
        parser.parse_keyword("extent")
        extent = parse_integer(parser)
        properties, attributes = parse_options(parser, cls)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, FabinType | FaboutType) or type.name != cls.name:
            parser.raise_error(f"{cls.name} makes a !{cls.name}, for example !{cls.name}<f32>", position)
        op = cls(
            type,
            extent,
            queue=None if queue is None else queue.data,
            color=None if color is None else color.data,
            options=properties,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        if (queue := self.queue_name) is not None:
            printer.print_string(" ")
            printer.print_symbol_name(queue)
        if (color := self.color_name) is not None:
            printer.print_string(" color ")
            printer.print_symbol_name(color)
        printer.print_string(" extent ")
        print_integer(printer, self.extent)
        print_options(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        verify_options(self)
        verify_field("extent", self.extent_value, self.extent_attr, EXTENTS, needed=True)
        if self.queue is None and self.color is None:
            raise VerifyException(f"{self.name} has neither a queue nor a color; name one")
        if self.element_type in (f32, i32) and self.simd is not None and self.simd.data is SimdMode.SIMD_32:
            # The other modes also say how many wavelets are awaited, whatever is in them (DSD-241, DSD-242).
            raise VerifyException(
                f"simd_32 packs 16-bit values into wavelets, but the values are {self.element_type}; remove it"
            )
        other = next((name for name in ("control", "simd", "wavelet_index_offset") if name in self.options), None)
        if self.message is not None and other is not None:
            raise VerifyException(f"a message of a network has no {other}; remove it, or message")

        if self.is_packed and self.simd is not None and "wavelet_index_offset" in self.options:
            raise VerifyException(
                f"in {self.simd.data} a value takes the half of a wavelet that wavelet_index_offset puts the index in; "
                "use one of the two"
            )

        if "control_transform" in self.options and (self.is_packed or "control" in self.options):
            other, reason = ("control", "all that is sent is control wavelets with control")
            if self.is_packed:
                other, reason = ("simd", "a wavelet that carries two values has no index")
            raise VerifyException(f"{reason}, so control_transform has nothing to mark; remove it, or {other}")

    @property
    def is_packed(self) -> bool:
        """True if each wavelet carries two 16-bit values (DSD-240)."""
        if self.simd is None or self.element_type in (f32, i32):
            return False
        return self.simd.data is not SimdMode.SIMD_OFF

    @property
    def awaits_two(self) -> bool:
        """True if an operation that receives goes on only when two wavelets are there (DSD-241)."""
        return isinstance(self, FabinOp) and self.simd is not None and self.simd.data is SimdMode.SIMD_64

    @abstractmethod
    def find_queue(self, scope: Scope) -> InputQueueOp | OutputQueueOp | None:
        """Return the queue, if one is named; raises VerifyException if the symbol is not a queue of this direction."""

    def verify_symbols(self, scope: Scope) -> None:
        queue = self.find_queue(scope)
        if (color := self.color_name) is not None:
            scope.get(ColorOp, color)
            if queue is not None and all(entry.color_name != color for entry in queue.colors):
                raise VerifyException(
                    f"queue @{queue.sym_name.data} does not serve color @{color}; name its color or none"
                )
        if self.priority is not None and scope.target.operation_priority:
            raise VerifyException(
                f"on {scope.target.name} a fabric descriptor has no priority; give it to the operation"
            )


@irdl_op_definition
class FabinOp(FabricDescriptorOp):
    """Wavelets that arrive from an input queue.

    ```
    %i = dsd.fabin @from_west extent 64 : !dsd.fabin<f32>
    %j = dsd.fabin color @east0 extent %n {simd = simd_32} : !dsd.fabin<f16>
    ```

    With a color in place of a queue, `dsd-assign-queues` makes the queue. Options: `priority` (WSE-3,
    DSD-100), `simd` (DSD-238; `simd_32` on 16-bit values only), `control_transform` (DSD-253), `message` (the operation
    takes one message of a network, and `extent` is the most that there is room for). Refused are: a symbol that is not
    an input queue (DSD-213), `control` and `wavelet_index_offset` (DSD-110), `priority` on WSE-2 (DSD-101).
    """

    name = "dsd.fabin"
    result = result_def(FabinType)

    def find_queue(self, scope: Scope) -> InputQueueOp | None:
        return None if self.queue is None else scope.get(InputQueueOp, self.queue)


@irdl_op_definition
class FaboutOp(FabricDescriptorOp):
    """Wavelets that are sent through an output queue.

    ```
    %o = dsd.fabout @to_east extent 64 : !dsd.fabout<f32>
    %c = dsd.fabout @to_east extent 1 {control, advance_switch} : !dsd.fabout<i32>
    ```

    With a color in place of a queue, `dsd-assign-queues` makes the queue. Options as for `dsd.fabin`, and
    `control` (the wavelets are control wavelets, DSD-106), `advance_switch` (DSD-252),
    `wavelet_index_offset` (each wavelet carries the operation's index, DSD-108) and `zero = first_source` or
    `second_source` (DSD-246). With `message` the last wavelet is a control wavelet, which ends a message of a network,
    and `extent` is the most that the source has. Refused are: a symbol that is not an output queue (DSD-213), an index
    beside 32-bit data, `priority` on WSE-2 (DSD-101).
    """

    name = "dsd.fabout"
    control = opt_prop_def(UnitAttr)
    advance_switch = opt_prop_def(UnitAttr)
    wavelet_index_offset = opt_prop_def(UnitAttr)
    zero = opt_prop_def(ZeroedSourceAttr)
    result = result_def(FaboutType)

    def verify_(self) -> None:
        super().verify_()
        if self.wavelet_index_offset is not None and self.element_type in (f32, i32):
            raise VerifyException(
                "wavelet_index_offset puts an index into the high half of each wavelet, where "
                f"{self.element_type} has data; send 16-bit values"
            )

    def find_queue(self, scope: Scope) -> OutputQueueOp | None:
        return None if self.queue is None else scope.get(OutputQueueOp, self.queue)


class FoldFabricExtent(RewritePattern):
    """Write an extent that is a constant value as a number."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FabinOp | FaboutOp, rewriter: PatternRewriter) -> None:
        if (extent := known_number(op.extent_value, constant_extent, EXTENTS)) is not None:
            new = type(op)(op.result.type, extent, queue=op.queue_name, color=op.color_name, options=op.options)
            replace_changed(rewriter, op, new, op)
