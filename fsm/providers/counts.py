"""Reads token counts out of what a provider says about usage."""

from collections.abc import Mapping

from states.messages import LARGEST
from states.records import JSON


def count(usage: JSON | Mapping[str, JSON], key: str) -> int:
    """A count, or 0 where there is none that can be read, or none that can be believed."""
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and value is not True and 0 < value <= LARGEST else 0
