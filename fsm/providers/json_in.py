"""JSON as servers send it: read leniently where strictness would only lose an answer, and never deeper than we can go.

Python's and JavaScript's servers send what strict readers refuse: NaN and Infinity, one half of a surrogate pair (an
emoji that was cut between two deltas), bytes that are no UTF-8. Numbers without a value become null, bytes that are
no text U+FFFD as in every browser.
"""

import json
from math import isfinite
from typing import Final

import orjson

from states.records import JSON

DEPTH: Final = 128
"""Levels of nesting that are read (our choice: orjson writes 254, Python recurses about 1,000)."""


class NotReadable(ValueError):
    """The message says why."""


class Reader:
    """Reads the values of one answer."""

    def __init__(self) -> None:
        self.lenient = False
        """One was read that strict readers refuse: words may hold halves of surrogate pairs from now on."""

    def read(self, data: bytes) -> JSON:
        """The value. Raises NotReadable for what is no JSON, and for what is nested too deeply."""
        try:
            value: JSON = orjson.loads(data)
        except orjson.JSONDecodeError:
            value, self.lenient = _leniently(data), True
        if len(data) > 2 * DEPTH and data.count(b"[") + data.count(b"{") > DEPTH and _deeper(value, DEPTH):
            raise NotReadable(f"nested deeper than {DEPTH} levels")
        return value


def joined_halves(value: str, *, lost: str = "replace") -> str:
    """Halves of a pair that stand side by side as one character; one that stands alone as U+FFFD, or as `lost` says."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", lost)


def _leniently(data: bytes) -> JSON:
    try:
        value: JSON = json.loads(data.decode("utf-8", "replace"), parse_float=_number, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise NotReadable("not JSON") from None
    return value


def _number(digits: str) -> float | None:
    number = float(digits)
    return number if isfinite(number) else None


def _deeper(value: JSON, limit: int) -> bool:
    """Whether it is nested deeper than `limit`; level by level, since recursion is what has to be avoided."""
    level: list[JSON] = [value]
    for _ in range(limit + 1):
        level = [
            item
            for outer in level
            if isinstance(outer, dict | list)
            for item in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)
