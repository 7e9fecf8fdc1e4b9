"""A run with an agent in a worktree, as a process that can be killed: apart_at_work.py REPOSITORY [resume]

The agent writes a file, then waits for ever, unless REPOSITORY/.git/go is there.
"""

import asyncio
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.repositories import by_place, tools, write

from fsm import Agent, Loop, tool
from fsm.providers.scripted import asks_for, says
from states.messages import ToolMessage

root = Path(sys.argv[1])


@tool(read_only=True)
async def wait() -> str:
    """Wait until somebody lets it go on."""
    if not (root / ".git" / "go").exists():
        sys.stdout.write("waiting\n")
        sys.stdout.flush()
        await asyncio.Event().wait()
    return "went on"


def apply(request):
    told = next(message.text for message in request.messages if isinstance(message, ToolMessage))
    handle = re.search(r"handle '([^']+)'", told)[1]
    return asks_for(("task_apply", {"handle": handle}))


async def main():
    turns = by_place(asks_for(write("a.txt", "two\n")), asks_for(("wait", {})), says("found"))
    scout = Agent("scout", "Works.", "Work.", provider=turns, isolation="worktree")
    task = ("task", {"agent": "scout", "prompt": "work"})
    loop = Loop(
        provider=by_place(asks_for(task), apply, says("all done")),
        tools=[*tools(root), wait],
        agents=[scout],
        workspace=root,
    )
    async with loop:
        result = await (loop.resume("s") if "resume" in sys.argv else loop.run("go", session="s"))
        sys.stdout.write(f"{result.status} {len(await loop.journal.sessions())}")


asyncio.run(main())
