"""Prices are data with a date; what is not known costs None."""

from datetime import date

import pytest

from fsm.providers.prices import PRICES, cost, price_of
from states.messages import Usage


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("gpt-4.1", Usage(1_000_000, 0), 2.0),
        ("gpt-4.1", Usage(1_000_000, 0, cached=1_000_000), 0.5),
        ("gpt-4.1-2025-04-14", Usage(0, 1_000_000), 8.0),
        ("claude-sonnet-4-5-20250929", Usage(1_000_000, 1_000_000, cached=500_000), 1.5 + 0.15 + 15.0),
        ("claude-sonnet-4-5", Usage(1_000_000, 0, cached=500_000, written=400_000), 0.3 + 0.15 + 1.5),
        ("gpt-4.1", Usage(1_000_000, 0, written=400_000), 2.0),
        ("gpt-4.1", Usage(), 0.0),
    ],
)
def test_what_a_turn_costs(model, usage, dollars):
    assert cost(model, usage) == pytest.approx(dollars)


@pytest.mark.parametrize(
    "model", ["", "gpt-4.1-turbo", "gpt-5.6-sol", "my-gpt-4.1", "claude-sonnet-4-5-latest", "GPT-4.1"]
)
def test_an_unknown_model_has_no_price(model):
    assert price_of(model) is None
    assert cost(model, Usage(10, 10)) is None


def test_every_price_says_where_and_when_it_was_read():
    for name, price in PRICES.items():
        assert price.source, name
        assert price.as_of > date(2025, 1, 1), name
        assert 0 < price.cached < price.input < price.output, name
        assert price.written is None or price.written == pytest.approx(1.25 * price.input), name
