"""What tokens cost, as data with a date. A model that is not listed has no price, and none is guessed."""

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

import attrs

from states.messages import Usage

MILLION: Final = 1_000_000
_SNAPSHOT: Final = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")


@attrs.frozen
class Price:
    """US dollars per million tokens, list prices for standard processing, and where and when they were read.

    `written` is for input that is written to the provider's cache (for five minutes, which is what we ask for); None:
    as any input. Not in it: batch and priority tiers, long-context surcharges, servers' own tools.
    """

    input: float
    cached: float
    output: float
    source: str = "the caller"
    as_of: date = date.min
    written: float | None = None

    def of(self, usage: Usage) -> float:
        """US dollars for this much; input that was read from or written to a cache at its own price."""
        fresh = max(0, usage.input - usage.cached - usage.written)
        written = usage.written * (self.input if self.written is None else self.written)
        return (fresh * self.input + usage.cached * self.cached + written + usage.output * self.output) / MILLION


OPENAI: Final = "openai.com/api/pricing"
ANTHROPIC: Final = "docs.claude.com/en/docs/about-claude/pricing"
DEEPSEEK: Final = "api-docs.deepseek.com/quick_start/pricing"
AS_OF: Final = date(2025, 9, 30)
"""The providers' pages showed these figures then, to the best of our knowledge; look there before you rely on one."""

Figures = tuple[float, ...]
"""Input, cached, output, and, where it is not as input, written."""
_LISTED: Final[Mapping[str, Mapping[str, Figures]]] = {
    OPENAI: {
        "gpt-5": (1.25, 0.125, 10.0),
        "gpt-5-mini": (0.25, 0.025, 2.0),
        "gpt-5-nano": (0.05, 0.005, 0.4),
        "gpt-4.1": (2.0, 0.5, 8.0),
        "gpt-4.1-mini": (0.4, 0.1, 1.6),
        "gpt-4.1-nano": (0.1, 0.025, 0.4),
        "gpt-4o": (2.5, 1.25, 10.0),
        "gpt-4o-mini": (0.15, 0.075, 0.6),
        "o3": (2.0, 0.5, 8.0),
        "o4-mini": (1.1, 0.275, 4.4),
    },
    ANTHROPIC: {
        "claude-opus-4-1": (15.0, 1.5, 75.0, 18.75),
        "claude-opus-4": (15.0, 1.5, 75.0, 18.75),
        "claude-sonnet-4-5": (3.0, 0.3, 15.0, 3.75),
        "claude-sonnet-4": (3.0, 0.3, 15.0, 3.75),
        "claude-3-7-sonnet": (3.0, 0.3, 15.0, 3.75),
        "claude-3-5-haiku": (0.8, 0.08, 4.0, 1.0),
    },
    DEEPSEEK: {"deepseek-chat": (0.28, 0.028, 0.42), "deepseek-reasoner": (0.28, 0.028, 0.42)},
}


def _price(source: str, fresh: float, cached: float, output: float, written: float | None = None) -> Price:
    return Price(fresh, cached, output, source, AS_OF, written)


PRICES: Final = {
    name: _price(source, *figures) for source, models in _LISTED.items() for name, figures in models.items()
}


def snapshot_of(model: str) -> str:
    """The model that a dated name (`-2025-04-14`, `-20250929`) is a snapshot of; any other name as it is."""
    return _SNAPSHOT.sub("", model)


Prices = Mapping[str, Price]


def price_of(model: str, own: Prices = MappingProxyType({})) -> Price | None:
    """The price of exactly this model, or of the one that it is a dated snapshot of (`-2025-04-14`, `-20250929`).

    `own`: a caller's prices, which come first.
    """
    names = (model, snapshot_of(model))
    return next((price for known in (own, PRICES) for name in names if (price := known.get(name)) is not None), None)


def cost(model: str, usage: Usage) -> float | None:
    """US dollars, or None where the price is not known."""
    price = price_of(model)
    return None if price is None else price.of(usage)
