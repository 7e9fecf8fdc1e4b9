"""How long to wait before asking again, and for how long in all."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

FIRST: Final = 0.5
"""Seconds: the upper bound of the first wait; it doubles (the OpenAI SDK's values)."""
CEILING: Final = 8.0
"""Seconds: the upper bound never grows beyond this."""
SHORTEST: Final = 0.05
"""Seconds waited at least, so that a patience is always used up."""


class Patience:
    """Waits of one request: full jitter under a doubling bound, until `seconds` are used up, attempts included."""

    def __init__(self, seconds: float, rng: random.Random) -> None:
        self.left = seconds
        self.attempt = 1
        self._rng = rng
        self._bound = FIRST

    def spend(self, seconds: float) -> None:
        """An attempt that gave nothing took this long."""
        self.left -= seconds

    def hold(self, seconds: float) -> float | None:
        """Seconds to wait before an attempt that is held back, or None if that is longer than is left."""
        if seconds > self.left:
            return None
        delay = min(seconds + self._rng.uniform(SHORTEST, FIRST), self.left)
        self.left -= delay
        return delay

    def next(self, asked: float | None) -> float | None:
        """Seconds to wait before the next attempt, or None to give up. `asked` is what the server asked for."""
        if self.left <= 0 or (asked is not None and asked > self.left):
            return None
        jitter = max(SHORTEST, self._rng.uniform(0, self._bound))
        delay = min((asked or 0) + jitter, self.left)
        self._bound = min(2 * self._bound, CEILING)
        self.left -= delay
        self.attempt += 1
        return delay


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asked for: `retry-after-ms`, or `Retry-After` as seconds or as a date.

    A date is read against the server's own `Date`. None if it asked for nothing that can be read.
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    until = date_of(value)
    if until is None:
        return None
    now = date_of(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """What the server itself says about asking again (`x-should-retry`, of OpenAI and Anthropic); None: nothing."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def date_of(value: str) -> datetime | None:
    """A date as HTTP writes it, or None."""
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
