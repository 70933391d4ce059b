"""Switch positions of a router: how control wavelets change the route of a color while a program runs.

A route is position 0; up to three more positions each change the port the color comes from, or the ports it goes to,
of the one before. One attribute serves every dialect that has routes; nothing here knows which they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ...targets.wavelets import PORTS, SWITCH_POSITIONS
from .rules import verify_ports

MAX_POSITIONS = SWITCH_POSITIONS - 1
"""Positions a route has besides itself."""

POP_MODES = ("no_pop", "always_pop", "pop_on_advance", "pop_on_advance_nop")
"""When a router takes the first command off a control wavelet that passes; the first one is the default."""

Ports = tuple[str, ...]


class Position(NamedTuple):
    """What a switch position sets: the ports a color comes from and goes to; None leaves them as they are."""

    receive: Ports | None = None
    transmit: Ports | None = None

    @property
    def is_valid(self) -> bool:
        """True if a switch can ever be at this position."""
        return self.receive is not None or self.transmit is not None


_Ports = ArrayAttr[StringAttr] | NoneAttr


def _ports(ports: Ports | None) -> _Ports:
    return NoneAttr() if ports is None else ArrayAttr(StringAttr(port) for port in ports)


def _names(ports: _Ports) -> Ports | None:
    return None if isinstance(ports, NoneAttr) else tuple(port.data for port in ports)


@irdl_attr_definition
class PositionAttr(ParametrizedAttribute):
    """A switch position: `from [ramp] to [east]`, either alone, or `invalid`."""

    name = "wse.position"
    receive: ArrayAttr[StringAttr] | NoneAttr
    transmit: ArrayAttr[StringAttr] | NoneAttr

    @staticmethod
    def get(position: Position) -> PositionAttr:
        return PositionAttr(_ports(position.receive), _ports(position.transmit))

    @property
    def position(self) -> Position:
        return Position(_names(self.receive), _names(self.transmit))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = _parse_position(parser)
        return (position.receive, position.transmit)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(_position_text(self.position))


@irdl_attr_definition
class SwitchAttr(ParametrizedAttribute):
    """The switch of a route: positions 1 to 3, the position at the start, if it is a ring, and its pop mode."""

    name = "wse.switch"
    positions: ArrayAttr[PositionAttr]
    current: IntAttr
    ring: IntAttr
    pop_mode: StringAttr

    @staticmethod
    def get(
        positions: Sequence[Position], current: int = 0, *, ring: bool = False, pop_mode: str = POP_MODES[0]
    ) -> SwitchAttr:
        """Return positions 1, 2, ...; those behind the last valid one can be left out."""
        given = list(positions)
        while given and not given[-1].is_valid:
            given.pop()
        return SwitchAttr(
            ArrayAttr(PositionAttr.get(position) for position in given), IntAttr(current), IntAttr(int(ring)),
            StringAttr(pop_mode),
        )  # fmt: skip

    @property
    def is_ring(self) -> bool:
        """True if the position after the last valid one is the route itself."""
        return bool(self.ring.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            switch = parse_switch(parser)
        return (switch.positions, switch.current, switch.ring, switch.pop_mode)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(switch_text(self))


def _parse_ports(parser: AttrParser | Parser, keyword: str) -> _Ports:
    if parser.parse_optional_keyword(keyword) is None:
        return NoneAttr()
    return ArrayAttr(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: StringAttr(parser.parse_keyword_in(PORTS)))
    )


def _parse_position(parser: AttrParser | Parser) -> PositionAttr:
    if parser.parse_optional_keyword("invalid") is not None:
        return PositionAttr.get(Position())
    receive, transmit = _parse_ports(parser, "from"), _parse_ports(parser, "to")
    if isinstance(receive, NoneAttr) and isinstance(transmit, NoneAttr):
        parser.raise_error("a switch position is written 'from [port]', 'to [port, ...]', both, or 'invalid'")
    return PositionAttr(receive, transmit)


def parse_switch(parser: AttrParser | Parser) -> SwitchAttr:
    """Parse `[from [ramp] to [east], invalid, to [west]] at 1 ring always_pop`."""
    positions = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_position(parser))
    current = 0
    if parser.parse_optional_keyword("at") is not None:
        current = parser.parse_integer(allow_boolean=False)
    ring = parser.parse_optional_keyword("ring") is not None
    pop_mode = next((mode for mode in POP_MODES if parser.parse_optional_keyword(mode) is not None), POP_MODES[0])
    return SwitchAttr(ArrayAttr(positions), IntAttr(current), IntAttr(int(ring)), StringAttr(pop_mode))


def _position_text(position: Position) -> str:
    parts = [
        f"{keyword} [{', '.join(ports)}]"
        for keyword, ports in (("from", position.receive), ("to", position.transmit))
        if ports is not None
    ]
    return " ".join(parts) or "invalid"


def switch_text(switch: SwitchAttr) -> str:
    """Return a switch as it is written."""
    text = f"[{', '.join(_position_text(position.position) for position in switch.positions)}]"
    if switch.current.data:
        text += f" at {switch.current.data}"
    if switch.is_ring:
        text += " ring"
    return text if switch.pop_mode.data == POP_MODES[0] else f"{text} {switch.pop_mode.data}"


def settings(
    receive: Sequence[str], transmit: Sequence[str], switch: SwitchAttr | None
) -> list[tuple[Ports, Ports] | None]:
    """Return the ports a color comes from and goes to at position 0 and at each of `switch`; None for invalid ones.

    A position leaves what it does not name as the position before has it.
    """
    taken, sent = tuple(receive), tuple(transmit)
    found: list[tuple[Ports, Ports] | None] = [(taken, sent)]
    for attribute in switch.positions if switch is not None else ():
        position = attribute.position
        taken = taken if position.receive is None else position.receive
        sent = sent if position.transmit is None else position.transmit
        found.append((taken, sent) if position.is_valid else None)
    return found


def verify_switch(receive: Sequence[str], transmit: Sequence[str], switch: SwitchAttr) -> None:
    """Raise VerifyException unless a route with a switch makes sense at every position."""
    if len(switch.positions) > MAX_POSITIONS:
        raise VerifyException(
            f"the switch has {len(switch.positions)} positions besides the route; a router has {MAX_POSITIONS}"
        )
    if switch.pop_mode.data not in POP_MODES:
        raise VerifyException(f"'{switch.pop_mode.data}' is not a pop mode; the modes are {', '.join(POP_MODES)}")
    for attribute in switch.positions:
        position = attribute.position
        for port in (*(position.receive or ()), *(position.transmit or ())):
            if port not in PORTS:
                raise VerifyException(f"'{port}' is not a router port; the ports are {', '.join(PORTS)}")
        if position.receive is not None and len(position.receive) != 1:
            raise VerifyException(
                f"a switch position takes the color from {len(position.receive)} ports; name exactly one"
            )
    every = settings(receive, transmit, switch)
    for number, setting in enumerate(every):
        # Position 0 may be no route yet: the program writes it, or another position, into the register of the color.
        if setting is not None and (number > 0 or any(setting)):
            try:
                verify_ports(*setting, ends=True)
            except VerifyException as error:
                raise VerifyException(f"switch position {number}: {error}") from None
    current = switch.current.data
    if not 0 <= current < len(every) or every[current] is None:
        valid = [str(number) for number, setting in enumerate(every) if setting is not None]
        raise VerifyException(
            f"the switch starts at position {current}, which the route does not have; choose one of {', '.join(valid)}"
        )


def verify_switch_on(target: Target, switch: SwitchAttr, color: str, number: int | None) -> None:
    """Raise VerifyException unless routers of `target` have such switches for color `number`, where that is known."""
    if number is not None and number not in target.switch_colors:
        choices = ", ".join(map(str, target.switch_colors))
        raise VerifyException(
            f"color @{color} has id {number}, for which {target.name} has no switches; choose one of {choices}"
        )
    if target.switch_changes_both_ways:
        return
    for index, attribute in enumerate(switch.positions):
        position = attribute.position
        if position.receive is not None and position.transmit is not None:
            raise VerifyException(
                f"switch position {index + 1} changes where the color comes from and where it goes; on {target.name} "
                "a position changes one of them"
            )
        if position.transmit is not None and len(position.transmit) != 1:
            raise VerifyException(
                f"switch position {index + 1} sends the color to {len(position.transmit)} ports; on {target.name} a "
                "position names exactly one"
            )
