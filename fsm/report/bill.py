"""Tokens by model, and what they cost where the price is known."""

from collections.abc import Iterable

import attrs

from fsm.providers.prices import price_of
from states.messages import Usage
from states.records import AssistantTurn, Entry


@attrs.frozen
class Line:
    """`cost` in US dollars; None: the price of this model is not known, and none is guessed."""

    model: str
    turns: int
    usage: Usage
    cost: float | None
    source: str = ""


@attrs.frozen
class Bill:
    lines: tuple[Line, ...]

    @property
    def turns(self) -> int:
        return sum(line.turns for line in self.lines)

    @property
    def usage(self) -> Usage:
        return sum((line.usage for line in self.lines), Usage())

    @property
    def cost(self) -> float | None:
        """Of everything, or None where a part of it is not known."""
        known = [line.cost for line in self.lines if line.cost is not None]
        return sum(known) if known and len(known) == len(self.lines) else None


def bill(entries: Iterable[Entry]) -> Bill:
    turns: dict[str, list[Usage]] = {}
    for entry in entries:
        if isinstance(entry.record, AssistantTurn):
            turns.setdefault(entry.record.model, []).append(entry.record.usage)
    return Bill(tuple(_line(model, used) for model, used in turns.items()))


def _line(model: str, used: list[Usage]) -> Line:
    usage = sum(used, Usage())
    price = price_of(model)
    if price is None:
        return Line(model, len(used), usage, None)
    return Line(model, len(used), usage, price.of(usage), f"{price.source}, as of {price.as_of.isoformat()}")
