"""A loop on a journal in memory, with a scripted model and tools whose effects are written down."""

import asyncio

from support.boxes import Ledger

from fsm import Loop
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted
from states.fold import fold
from states.messages import ToolMessage


class Bench:
    """A loop with its parts at hand. `tools` stand beside the ledger's; other options are the loop's own."""

    def __init__(self, *turns, faults=(), journal=None, provider=None, tools=(), wrap=None, **options):
        self.ledger = Ledger()
        self.provider = provider or Scripted(turns)
        self.journal = journal or MemoryJournal(faults)
        self.events = []
        self.loop = Loop(provider=self.provider, tools=[*self.ledger.tools(), *tools], journal=self.journal, **options)
        if wrap is not None:
            self.loop._tools = wrap(self.loop._tools)

    async def run(self, task="go", session="s"):
        return await self.loop.run(task, session=session, on_event=self.events.append)

    async def resume(self, *args, **more):
        return await self.loop.resume("s", *args, on_event=self.events.append, **more)

    async def lost_at(self, moment):
        """Run until `moment` (an Event), then lose the process: nobody hears of its tasks again."""
        run = asyncio.create_task(self.run())
        await moment.wait()
        self.journal.crash()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        self.journal.crash()

    async def records(self, kind, session="s"):
        return [e.record for e in await self.journal.read(session) if isinstance(e.record, kind)]

    async def history(self, session="s"):
        return fold(session, await self.journal.read(session))

    def asked(self, number=-1):
        """What the model was shown, by request."""
        return list(self.provider.requests[number].messages)

    def answers(self, number=-1):
        return [message for message in self.asked(number) if isinstance(message, ToolMessage)]

    def seen(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


class Broken:
    """A toolbox some of whose methods are replaced."""

    def __init__(self, tools, **methods):
        self._tools = tools
        self.__dict__.update(methods)

    def __getattr__(self, name):
        return getattr(self._tools, name)


def story(work, seconds=20):
    """Run a coroutine to its end. One that hangs fails, and does not stop the others."""
    return asyncio.run(asyncio.wait_for(work, seconds))
