"""Reserved buffers: the memory of a consumer's slots, and its import by the producer.

The consumer reserves a buffer under a name, the producer imports it from the consumer's function.
"""

from __future__ import annotations

from xdsl.dialects.builtin import I32, BoolAttr, IntegerAttr, StringAttr, SymbolRefAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from ..assembly import parse_symbol
from ..traversal import walk
from .assembly import parse_boolean, parse_clauses, parse_integer, print_clauses
from .attributes import AddressSpace, AddressSpaceAttr
from .kernels import fail, peer_function, require_function


def _parse_string(parser: Parser) -> Attribute:
    return StringAttr(parser.parse_str_literal())


def _parse_space(parser: Parser) -> Attribute:
    """Parse `#pto.address_space<vec>`, or `<vec>` alone."""
    attribute = parser.parse_optional_attribute()
    return AddressSpaceAttr(AddressSpaceAttr.parse_parameter(parser)) if attribute is None else attribute


@irdl_op_definition
class ReserveBufferOp(IRDLOperation):
    """Reserves bytes for the slots of a consumer.

    `pto.reserve_buffer {name = "c2v", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32` gives the
    address; with `auto = false` it is stated, `base = 4096`. The vector cores take tiles from `vec`, the cube core
    from `mat`.
    """

    name = "pto.reserve_buffer"
    buffer_name = prop_def(StringAttr, prop_name="name")
    size = prop_def(IntegerAttr[I32])
    location_space = prop_def(AddressSpaceAttr, prop_name="location")
    automatic = prop_def(BoolAttr, prop_name="autoAlloc")
    base = opt_prop_def(IntegerAttr[I32])
    addr = result_def(i32)

    def __init__(self, name: str, size: int, space: AddressSpace, base: int | None = None) -> None:
        super().__init__(
            result_types=[i32],
            properties={
                "name": StringAttr(name),
                "size": IntegerAttr(size, i32),
                "location": AddressSpaceAttr(space),
                "autoAlloc": BoolAttr.from_bool(base is None),
                "base": None if base is None else IntegerAttr(base, i32),
            },
        )

    @property
    def key(self) -> str:
        """The name the buffer is imported by."""
        return self.buffer_name.data

    @property
    def space(self) -> AddressSpace:
        """The memory that contains the buffer."""
        return self.location_space.data

    @classmethod
    def parse(cls, parser: Parser) -> ReserveBufferOp:
        clauses = parse_clauses(
            parser,
            {
                "name": _parse_string,
                "size": parse_integer(32),
                "location": _parse_space,
                "auto": parse_boolean,
                "base": parse_integer(32),
            },
            required=("name", "size", "location", "auto"),
        )
        clauses["autoAlloc"] = clauses.pop("auto")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.build(result_types=[parser.parse_type()], properties=clauses, attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_clauses(
            printer,
            {
                "name": self.buffer_name,
                "size": self.size,
                "location": self.location_space,
                "auto": self.automatic,
                "base": self.base,
            },
        )
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.addr.type)

    def verify_(self) -> None:
        function = require_function(self)
        if self.size.value.data <= 0:
            fail(self, "expects 'size' to be greater than 0; reserve the bytes of all slots")
        if self.space not in (AddressSpace.VEC, AddressSpace.MAT):
            fail(self, "expects 'location' to be #pto.address_space<vec> or #pto.address_space<mat>")
        if not self.automatic.value.data and self.base is None:
            fail(self, "expects 'base' when 'auto' is false; state the address")
        if self.base is not None and self.base.value.data < 0:
            fail(self, "expects 'base' to be non-negative when present")
        if len(reserved_buffers(function, self.key)) > 1:
            fail(self, f"requires 'name' to be unique within the function; rename one of the buffers '{self.key}'")


@irdl_op_definition
class ImportReservedBufferOp(IRDLOperation):
    """Returns the address of a buffer that another function reserves.

    `pto.import_reserved_buffer {name = "c2v", peer_func = @vector_kernel} -> i32`
    """

    name = "pto.import_reserved_buffer"
    buffer_name = prop_def(StringAttr, prop_name="name")
    peer = prop_def(SymbolRefAttr, prop_name="peer_func")
    addr = result_def(i32)

    def __init__(self, name: str, peer: str) -> None:
        """Import a buffer that the function `peer` reserves."""
        super().__init__(result_types=[i32], properties={"name": StringAttr(name), "peer_func": SymbolRefAttr(peer)})

    @property
    def key(self) -> str:
        """The name the buffer is reserved under."""
        return self.buffer_name.data

    @property
    def peer_function(self) -> FuncOp | None:
        """Return the function that reserves the buffer; None if no function has its name."""
        return peer_function(self, self.peer)

    @classmethod
    def parse(cls, parser: Parser) -> ImportReservedBufferOp:
        clauses = parse_clauses(
            parser, {"name": _parse_string, "peer_func": parse_symbol}, required=("name", "peer_func")
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.build(result_types=[parser.parse_type()], properties=clauses, attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_clauses(printer, {"name": self.buffer_name, "peer_func": self.peer})
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.addr.type)

    def verify_(self) -> None:
        function = require_function(self)
        peer = self.peer_function
        if peer is None:
            fail(
                self,
                "expects 'peer_func' to reference an existing func.func, the only one of that name that is not private",
            )
        same = [
            other
            for other in walk(function)
            if isinstance(other, ImportReservedBufferOp) and (other.key, other.peer) == (self.key, self.peer)
        ]
        if len(same) > 1:
            fail(self, "requires (name, peer_func) to be unique within the function; import the buffer once")
        if not reserved_buffers(peer, self.key):
            fail(
                self,
                f"expects matching peer reserve_buffer to exist; reserve '{self.key}' in @{peer.sym_name.data} or "
                "correct the name",
            )


def reserved_buffers(function: FuncOp, name: str) -> list[ReserveBufferOp]:
    """Return the buffers a function reserves under `name`."""
    return [op for op in walk(function) if isinstance(op, ReserveBufferOp) and op.key == name]


def reservation_of(address: SSAValue) -> ReserveBufferOp | None:
    """Return the reservation of an address, imported or not; None without exactly one."""
    owner = address.owner
    if isinstance(owner, ReserveBufferOp):
        return owner
    if isinstance(owner, ImportReservedBufferOp) and (peer := owner.peer_function) is not None:
        found = reserved_buffers(peer, owner.key)
        return found[0] if len(found) == 1 else None
    return None
