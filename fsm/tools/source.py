"""Tools that come from elsewhere, and may change while a run goes on."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from states.ports import ToolOutput, ToolRun, ToolSpec


class Member(Protocol):
    """What a toolbox needs of a tool, ours or another's."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def leave(self) -> Callable[[str], Awaitable[None]] | None: ...

    async def run(self, run: ToolRun) -> ToolOutput: ...

    async def reconcile(self, run: ToolRun) -> ToolOutput | None: ...


class Source(Protocol):
    """A place that has tools."""

    @property
    def secrets(self) -> Sequence[str]: ...

    @property
    def tools(self) -> Sequence[Member]:
        """As they are known now."""

    async def open(self) -> bool:
        """Get ready; true if `tools` may have changed. Raises ConfigError if it cannot."""

    async def refresh(self) -> bool:
        """Take up what has changed; true if `tools` may be others now. Never raises."""

    async def close(self) -> None: ...
