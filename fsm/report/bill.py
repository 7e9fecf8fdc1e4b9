"""Tokens by model, and what they cost where the price is known."""

from collections.abc import Iterable

import attrs

from fsm.providers.prices import price_of
from states.messages import Usage
from states.records import AssistantTurn, Cancellation, Entry, Spent, TurnFailure


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
    lost: dict[str, Usage] = {}
    for entry in entries:
        match entry.record:
            case AssistantTurn(model=model, usage=usage):
                turns.setdefault(model, []).append(usage)
            case (
                TurnFailure(spent=Spent(model=model, usage=usage)) | Cancellation(spent=Spent(model=model, usage=usage))
            ):
                lost[model] = lost.get(model, Usage()) + usage
    return Bill(tuple(_line(model, turns.get(model, []), lost.get(model, Usage())) for model in {**turns, **lost}))


def _line(model: str, used: list[Usage], lost: Usage) -> Line:
    """`lost`: of answers that were given up."""
    usage = sum(used, lost)
    price = price_of(model)
    if price is None:
        return Line(model, len(used), usage, None)
    return Line(model, len(used), usage, price.of(usage), f"{price.source}, as of {price.as_of.isoformat()}")
