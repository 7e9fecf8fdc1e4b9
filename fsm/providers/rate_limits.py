"""A token bucket per limit of a server, learnt from what its headers say."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Final

import attrs

from .backoff import date_of

KINDS: Final = ("requests", "tokens", "input-tokens")
_PARTS: Final = re.compile(r"([0-9.]+)(ms|s|m|h|d)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@attrs.define
class Bucket:
    """`limit` at most, `level` at the time `at`, refilled by `rate` a second."""

    limit: float
    level: float
    rate: float
    at: float

    def wait(self, need: float, now: float) -> float:
        """Seconds until `need` is there. Something beyond the limit waits for a full bucket only."""
        missing = min(need, self.limit) - self._now(now)
        return missing / self.rate if missing > 0 and self.rate > 0 else 0.0

    def take(self, need: float, now: float) -> None:
        self.level, self.at = self._now(now) - need, now

    def _now(self, now: float) -> float:
        return min(self.limit, self.level + self.rate * max(0.0, now - self.at))


def learn(headers: Mapping[str, str], now: float) -> dict[str, Bucket]:
    """Buckets by kind, of the limits that a response tells in full: how many, how many are left, until when."""
    found: dict[str, Bucket] = {}
    if not any("ratelimit" in name for name in headers):
        return found
    for kind in KINDS:
        for limit_of, left_of, reset_of in (
            (f"x-ratelimit-limit-{kind}", f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}"),
            (
                f"anthropic-ratelimit-{kind}-limit",
                f"anthropic-ratelimit-{kind}-remaining",
                f"anthropic-ratelimit-{kind}-reset",
            ),
        ):
            limit, left = _number(headers.get(limit_of)), _number(headers.get(left_of))
            reset = _seconds(headers.get(reset_of, ""), headers)
            if limit and left is not None and reset is not None and 0 <= left <= limit:
                rate = (limit - left) / reset if reset > 0 else limit
                found[kind] = Bucket(limit, left if reset > 0 else limit, rate, now)
    return found


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if isfinite(number) else None


def _seconds(value: str, headers: Mapping[str, str]) -> float | None:
    """Until the bucket is full: "6m0s", "12ms", seconds as a number, or a time (RFC 3339)."""
    if (number := _number(value)) is not None:
        return max(0.0, number)
    parts = _PARTS.findall(value)
    if parts and "".join(map("".join, parts)) == value:
        return sum(float(count) * _UNITS[unit] for count, unit in parts)
    try:
        until = datetime.fromisoformat(value)
    except ValueError:
        return None
    here = date_of(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until if until.tzinfo else until.replace(tzinfo=UTC)).timestamp() - here.timestamp())
