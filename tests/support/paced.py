"""A provider whose turns go step by step: items of the stream, and moments that it waits for."""

import asyncio

from states.messages import Call, Finish
from states.ports import CallReady, ProviderTrouble, Reply


def ready(order, name, arguments="{}", provider_id="same"):
    """A call is complete, while the answer goes on. All calls have the same provider's id: providers repeat theirs."""
    return CallReady(order, Call("", name, arguments, provider_id))


def asks(*calls, finish=Finish.CALLS):
    """The whole answer: calls of (name, arguments)."""
    return Reply(tuple(Call("", name, arguments, "same") for name, arguments in calls), finish, model="paced")


class Paced:
    """One turn after the other. A step is an item to yield, a trouble to raise, or a function to await."""

    model = "paced"
    secrets = ()

    def __init__(self, *turns):
        self.turns = list(turns)
        self.requests = []

    async def close(self):
        """Nothing is open."""

    async def stream(self, request):
        place = len(self.requests)
        self.requests.append(request.__class__(request.system, tuple(request.messages), request.tools))
        for step in self.turns[place]:
            if isinstance(step, ProviderTrouble):
                raise step
            if callable(step):
                await step()
            else:
                yield step


class Desk:
    """Reading tools that are told when to end, and a note of each start and end, in order."""

    def __init__(self):
        self.seen = []
        self.started = {}
        self.allowed = {}
        self.stopped = {}
        self.ended = {}
        self.stubborn = set()

    def _event(self, table, key):
        return table.setdefault(key, asyncio.Event())

    async def start_of(self, key):
        await self._event(self.started, key).wait()

    async def stop_of(self, key):
        await self._event(self.stopped, key).wait()

    def allow(self, *keys):
        for key in keys:
            self._event(self.allowed, key).set()

    def begun(self, key):
        """A step: wait until the call of `key` has started."""
        return lambda: self.start_of(key)

    def let(self, *keys):
        """A step: let calls end, and wait until they have."""

        async def step():
            self.allow(*keys)
            for key in keys:
                await self._event(self.ended, key).wait()
            await asyncio.sleep(0)

        return step

    async def work(self, key):
        self.seen.append(f"{key} starts")
        self._event(self.started, key).set()
        while True:
            try:
                await self._event(self.allowed, key).wait()
                break
            except asyncio.CancelledError:
                self.seen.append(f"{key} is stopped")
                self._event(self.stopped, key).set()
                if key not in self.stubborn:
                    raise
        self.seen.append(f"{key} ends")
        self._event(self.ended, key).set()
        return f"read {key}"

    def tools(self):
        from fsm import tool

        @tool(read_only=True, concurrency_safe=True)
        async def read(key: str = "") -> str:
            """Read something."""
            return await self.work(key)

        @tool(read_only=True, concurrency_safe=True)
        async def peek(key: str = "") -> str:
            """Read something; not on the list."""
            return await self.work(key)

        @tool(read_only=True)
        async def alone(key: str = "") -> str:
            """Read something, with the line for itself."""
            return await self.work(key)

        @tool
        async def change(key: str = "") -> str:
            """Change something."""
            return await self.work(key)

        return [read, peek, alone, change]
