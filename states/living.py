"""A toolbox some of whose tools live outside: servers to connect to, processes left running between calls."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Living(Protocol):
    """What such a `Toolbox` has besides; one without it is left alone."""

    @property
    def secrets(self) -> Sequence[str]:
        """Strings that must never be stored or shown."""

    async def open(self) -> None:
        """Called before a session is claimed. Raises ConfigError if a tool that was asked for cannot be had."""

    async def refresh(self) -> None:
        """Called before each provider turn: `specs` may be others afterwards, and stay so until the next one."""

    async def leave(self, session: str) -> None:
        """End what the session left running. Called when its run ends or rests, before another process may take it."""

    async def close(self) -> None: ...
