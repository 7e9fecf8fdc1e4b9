"""A run with an agent, as a process that can be killed: crew_at_work.py FOLDER [resume]

The agent writes a line, then waits for ever, unless FOLDER/go is there.
"""

import asyncio
import sys
from pathlib import Path

from fsm import Agent, Loop, tool
from fsm.providers.scripted import Scripted, asks_for, says

home = Path(sys.argv[1])


@tool
async def write() -> str:
    """Write a line: an effect that must not happen twice."""
    with (home / "effects").open("a") as file:
        file.write("once\n")
    return "written"


@tool(read_only=True)
async def wait() -> str:
    """Wait until somebody lets it go on."""
    if not (home / "go").exists():
        sys.stdout.write("waiting\n")
        sys.stdout.flush()
        await asyncio.Event().wait()
    return "went on"


def by_place(*turns):
    """A model that goes by how much has been said, and so knows where it stands after a crash."""

    def turn(request):
        return turns[sum(type(message).__name__ == "AssistantMessage" for message in request.messages)]

    return Scripted([turn] * 20)


async def main():
    scout = Agent(
        "scout", "Works.", "Work.", provider=by_place(asks_for(("write", {})), asks_for(("wait", {})), says("found"))
    )
    task = ("task", {"agent": "scout", "prompt": "work"})
    loop = Loop(
        provider=by_place(asks_for(task), says("all done")),
        tools=[write, wait],
        agents=[scout],
        journal=home / "journal.db",
    )
    async with loop:
        result = await (loop.resume("s") if "resume" in sys.argv else loop.run("go", session="s"))
        answers = [entry.record.output for entry in await loop.journal.read("s") if hasattr(entry.record, "output")]
        sessions = [info.session for info in await loop.journal.sessions()]
        sys.stdout.write(" ".join(map(str, (result.status, result.usage.total, *answers, *sessions))))


asyncio.run(main())
