"""How long a tool may take: by silence, with an optional ceiling, and how long it gets to stop."""

import asyncio
from contextlib import suppress
from typing import Final

import attrs

from states.errors import ConfigError

GRACE: Final = 5.0
"""Seconds that a tool in a thread gets to stop when the run is cancelled: our choice."""


@attrs.frozen
class Patience:
    """Seconds: `grace` to stop in, `quiet` without progress, `total` in all; None: as long as it likes."""

    grace: float = GRACE
    quiet: float | None = None
    total: float | None = None

    def check(self, tool: str) -> None:
        """Raises ConfigError for what is no time."""
        for name, seconds in (("grace", self.grace), ("quiet", self.quiet), ("total", self.total)):
            if seconds is not None and not seconds > 0:
                raise ConfigError(f"tool {tool!r}: {name}={seconds!r} is no time; give more than 0 seconds")

    @property
    def words(self) -> str:
        """Why a call was stopped."""
        parts = [f"no progress for {self.quiet:g} s"] if self.quiet else []
        return " or ".join([*parts, f"{self.total:g} s in all"] if self.total else parts)


class Watch:
    """`limit` ends what runs inside it; each `heard` puts that off."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._clock = asyncio.get_running_loop()
        self._begun = self._clock.time()
        self.limit = asyncio.timeout_at(self._end())

    def heard(self) -> None:
        if self._patience.quiet is not None and not self.limit.expired():
            with suppress(RuntimeError):  # it is over
                self.limit.reschedule(self._end())

    def _end(self) -> float | None:
        quiet, total = self._patience.quiet, self._patience.total
        ends = [self._clock.time() + quiet] if quiet is not None else []
        return min([*ends, self._begun + total] if total is not None else ends, default=None)
