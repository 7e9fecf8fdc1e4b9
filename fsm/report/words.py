"""Times, amounts and long texts, in words for a page."""

from datetime import UTC, datetime
from typing import Final

import attrs

from fsm.draw.lasting import lasting

__all__ = ["Clipped", "amount", "clipped", "dollars", "lasting", "when"]

SHOWN: Final = 20_000
"""Characters of one text that a page shows (our choice: some 250 lines; the journal has the rest)."""
TAIL: Final = 2_000
"""Of those, how many come from the end, where a command says how it ended."""


@attrs.frozen
class Clipped:
    """A text as far as it is shown: its beginning, how many characters are left out, and its end."""

    head: str
    left_out: int = 0
    tail: str = ""

    @property
    def long(self) -> bool:
        """Too long to stand open on a page."""
        return bool(self.left_out) or self.head.count("\n") > 14 or len(self.head) > 1_200


def clipped(text: str, shown: int = SHOWN, tail: int = TAIL) -> Clipped:
    if len(text) <= shown:
        return Clipped(text)
    return Clipped(text[: shown - tail], len(text) - shown, text[-tail:])


def when(at: float) -> str:
    """A point in time, in UTC: the same page on every machine."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def amount(count: int) -> str:
    """With a thin space between thousands."""
    return f"{count:,}".replace(",", "\u2009")


def dollars(cost: float) -> str:
    return f"US$ {cost:.4f}" if cost < 0.995 else f"US$ {cost:.2f}"
