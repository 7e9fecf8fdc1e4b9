"""Calls that run ahead of their turn, in the process that started them. They outlive the activity that did."""

import asyncio
from collections.abc import Coroutine

import attrs

from .records import ToolResult

Work = Coroutine[None, None, ToolResult]


@attrs.define(eq=False)
class Ahead:
    """Tasks by the id of their call. Whoever takes one awaits it; whatever is not taken is stopped."""

    _tasks: "dict[str, asyncio.Task[ToolResult]]" = attrs.field(factory=dict)

    def start(self, call: str, work: Work) -> None:
        self._tasks[call] = asyncio.create_task(work)

    def take(self, call: str) -> "asyncio.Task[ToolResult] | None":
        """The task of a call, handed over: its cancellation is now the taker's."""
        return self._tasks.pop(call, None)

    def landed(self) -> tuple[ToolResult, ...]:
        """Results that are there, in the order in which their calls started; they are handed over."""
        done = [call for call, task in self._tasks.items() if task.done() and not task.cancelled()]
        return tuple(self._tasks.pop(call).result() for call in done)

    async def stop(self) -> dict[str, ToolResult | None]:
        """Cancel all, wait until each has ended, and say what it left: a result, or None if it was cut off."""
        tasks, self._tasks = self._tasks, {}
        if not tasks:
            return {}
        for task in tasks.values():
            task.cancel()
        said = await asyncio.gather(*tasks.values(), return_exceptions=True)
        return {
            call: result if isinstance(result, ToolResult) else None for call, result in zip(tasks, said, strict=True)
        }
