"""From `Loop.cancel` until a running tool has felt it: an async tool, one in a thread, and a command's SIGTERM.

`python -m benchmarks.cancel`; it needs no server.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fsm import Loop, ToolContext, tool, workspace_tools
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted, asks_for

from .figures import Figure, publish

GOAL: Final = 100.0
"""Milliseconds (the issue's own)."""
COMMAND: Final = "trap 'date +%s%N > felt; exit' TERM; echo up; while :; do sleep 0.01; done"


def measure(rounds: int) -> Iterator[Figure]:
    for what, kind in (("an async tool", "wait"), ("a tool in a thread", "block"), ("a command (SIGTERM)", "bash")):
        yield Figure(f"cancel reaches {what}", tuple(asyncio.run(_once(kind)) for _ in range(rounds * 3)), "ms", GOAL)


async def _once(kind: str) -> float:
    running = asyncio.Event()
    felt: list[float] = []

    @tool
    async def wait() -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            felt.append(time.time())

    @tool
    def block(context: ToolContext) -> None:
        context.progress("up")
        context.wait_cancelled(60)
        felt.append(time.time())

    with tempfile.TemporaryDirectory() as place:
        tools = [wait, block, *workspace_tools(place)]
        call = (kind, {"command": COMMAND} if kind == "bash" else {})
        loop = Loop(provider=Scripted([asks_for(call)]), tools=tools, journal=MemoryJournal())
        task = asyncio.create_task(loop.run("go", session="s", on_event=lambda event: _heard(event, running)))
        await running.wait()
        begun = time.time()
        await loop.cancel("s")
        await task
        if kind == "bash":
            felt.append(_nanoseconds(Path(place, "felt")) / 1e9)
        return (felt[0] - begun) * 1000


def _nanoseconds(path: Path) -> int:
    return int(path.read_text())


def _heard(event: object, running: asyncio.Event) -> None:
    if type(event).__name__ == "ToolProgress":
        running.set()


if __name__ == "__main__":
    publish("cancel", measure(3))
