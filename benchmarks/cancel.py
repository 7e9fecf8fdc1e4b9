"""From `Loop.cancel` until a running tool has felt it: an async tool, one in a thread, a command's SIGTERM; and from
another loop with a journal of its own, as another process has it. Also what looking for that costs while nothing
happens.

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
IDLE: Final = 2.0
"""Seconds of doing nothing."""
COMMAND: Final = "trap 'date +%s%N > felt; exit' TERM; echo up; while :; do sleep 0.01; done"


def measure(rounds: int) -> Iterator[Figure]:
    for what, kind in (("an async tool", "wait"), ("a tool in a thread", "block"), ("a command (SIGTERM)", "bash")):
        yield Figure(f"cancel reaches {what}", tuple(asyncio.run(_once(kind)) for _ in range(rounds * 3)), "ms", GOAL)
    elsewhere = tuple(asyncio.run(_once("wait", elsewhere=True)) for _ in range(rounds * 3))
    yield Figure("cancel by another process reaches an async tool", elsewhere, "ms", GOAL)
    yield Figure("CPU of a session whose tool waits", tuple(asyncio.run(_idle()) for _ in range(rounds)), "ms a second")


async def _idle() -> float:
    """CPU milliseconds a second of this process while one session waits for its tool."""
    running = asyncio.Event()

    @tool
    async def wait() -> None:
        running.set()
        await asyncio.Event().wait()

    with tempfile.TemporaryDirectory() as place:
        loop = Loop(provider=Scripted([asks_for(("wait", {}))]), tools=[wait], journal=Path(place, "journal.db"))
        task = asyncio.create_task(loop.run("go", session="s"))
        await running.wait()
        since = time.process_time()
        await asyncio.sleep(IDLE)
        spent = time.process_time() - since
        await loop.cancel("s")
        await task
        await loop.close()
    return spent * 1000 / IDLE


async def _once(kind: str, *, elsewhere: bool = False) -> float:
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
        path = Path(place, "journal.db")
        loop = Loop(provider=Scripted([asks_for(call)]), tools=tools, journal=path if elsewhere else MemoryJournal())
        other = Loop(provider=Scripted([]), journal=path) if elsewhere else loop
        task = asyncio.create_task(loop.run("go", session="s", on_event=lambda event: _heard(event, running)))
        await running.wait()
        if elsewhere:
            await other.journal.sessions()  # its file is open, as it is for whoever has found the session
        begun = time.time()
        await other.cancel("s")
        await task
        await other.close()
        await loop.close()
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
