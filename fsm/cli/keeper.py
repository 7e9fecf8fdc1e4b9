"""A loop for commands about whole sessions: it has a journal, and no model is ever asked."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from fsm.config import Settings
from fsm.loop import Loop

from .absent import Absent
from .past import opened

T = TypeVar("T")


async def with_loop(settings: Settings, work: Callable[[Loop], Awaitable[T]]) -> T:
    """What `work` returns. Raises ConfigError if there is no journal."""
    async with opened(settings.journal) as journal:
        return await work(Loop(provider=Absent(), journal=journal, workspace=settings.workspace))
