"""Small tools and workspaces for tests of the loop."""

import asyncio

from fsm import tool
from states.ports import ToolOutput
from states.records import Status


class Ledger:
    """What really happened outside, by tool and key."""

    def __init__(self):
        self.effects = []
        self.started = asyncio.Event()

    def tools(self):
        from fsm import ToolContext

        @tool(read_only=True, concurrency_safe=True)
        async def look(key: str = "", seconds: float = 0.0) -> str:
            """Look something up."""
            await asyncio.sleep(seconds)
            return f"seen {key}"

        @tool
        async def write(context: ToolContext, what: str = "") -> str:
            """Do something that others can see."""
            self.effects.append((context.key, what))
            return f"wrote {what}"

        @tool
        async def hang() -> str:
            """Start, and never come back."""
            self.effects.append(("hang", ""))
            self.started.set()
            await asyncio.Event().wait()
            return "never"

        @tool
        async def bash(command: str, exit_status: int = 0) -> ToolOutput:
            """Pretend to have run a command."""
            status = Status.ERROR if exit_status else Status.OK
            return ToolOutput(status, "output", {"command": command, "exit_status": exit_status})

        @tool
        async def explode() -> str:
            """Raise."""
            raise RuntimeError("boom")

        return [look, write, hang, bash, explode]


class Revision:
    """A workspace whose revision the test turns by hand."""

    def __init__(self, *revisions):
        self.revisions = list(revisions) or ["r1"]

    async def revision(self):
        return self.revisions.pop(0) if len(self.revisions) > 1 else self.revisions[0]
