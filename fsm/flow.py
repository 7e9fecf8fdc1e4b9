"""What a running tool says, at a pace that can be followed: a flood of lines becomes a few events a second."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

import attrs

PACE: Final = 0.05
"""Seconds between two events of one call (our choice: twenty a second are seen as movement)."""
PENDING: Final = 256
"""Lines that wait for the next event; the oldest is dropped (the bound of blade-code)."""

Show = Callable[[str, int], None]
"""Takes lines, joined, and how many before them were dropped."""


@attrs.define(eq=False)
class Flow:
    """One call's lines. The first is shown at once, later ones together, when their time has come."""

    show: Show
    _waiting: deque[str] = attrs.field(factory=deque)
    _dropped: int = 0
    _timer: asyncio.TimerHandle | None = None

    def say(self, line: str) -> None:
        self._waiting.append(line)
        if len(self._waiting) > PENDING:
            self._waiting.popleft()
            self._dropped += 1
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(PACE, self._due)

    def end(self) -> None:
        """Show what still waits; nothing comes any more."""
        self.stop()
        self._flush()

    def stop(self) -> None:
        """Nothing is shown any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        self._timer = None
        if self._waiting:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(PACE, self._due)

    def _flush(self) -> None:
        if self._waiting:
            said, dropped = "\n".join(self._waiting), self._dropped
            self._waiting.clear()
            self._dropped = 0
            self.show(said, dropped)
