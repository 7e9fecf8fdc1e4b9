"""No more calls run at once than the limits say; the others wait, have not started, and all are answered."""

import asyncio

import pytest
from support.bench import Bench, story
from support.virtual import VirtualClock, run_virtually

from fsm import Agent, Limits, Loop, RunStatus, tool
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import ConfigError
from states.records import Status, ToolResult

CALLS = 6


class Counted:
    """Tools that stay until others had every chance to join them, and a note of how many did."""

    def __init__(self):
        self.now, self.most = 0, 0

    async def work(self):
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(20):
            await asyncio.sleep(0)
        self.now -= 1
        return "done"

    def tools(self):
        @tool(read_only=True, concurrency_safe=True)
        async def read() -> str:
            """Read."""
            return await self.work()

        @tool(concurrency_safe=True)
        async def change() -> str:
            """Change."""
            return await self.work()

        return [read, change]


@pytest.mark.parametrize(
    ("limits", "name", "most"),
    [
        (Limits(), "read", CALLS),
        (Limits(process=2), "read", 2),
        (Limits(session=3), "change", 3),
        (Limits(reads=1), "read", 1),
        (Limits(reads=1), "change", CALLS),
        (Limits(effects=2, process=4), "change", 2),
        (Limits(tools={"read": 2}), "read", 2),
        (Limits(tools={"read": 2}), "change", CALLS),
    ],
)
def test_so_many_calls_of_a_turn_run_at_once(limits, name, most):
    async def tale():
        counted = Counted()
        bench = Bench(asks_for(*[(name, {})] * CALLS), says("ok"), tools=counted.tools(), limits=limits)
        result = await bench.run()
        return counted, result, await bench.records(ToolResult)

    counted, result, results = story(tale())
    assert (result.status, counted.most) == (RunStatus.SUCCEEDED, most)
    assert [record.status for record in results] == [Status.OK] * CALLS


@pytest.mark.parametrize(("limits", "most"), [(Limits(process=2), 2), (Limits(session=2), 4)])
def test_loops_that_share_limits_share_slots_and_sessions_have_their_own(limits, most):
    async def tale():
        counted = Counted()

        def loop():
            provider = Scripted([asks_for(*[("read", {})] * CALLS), says("ok")])
            return Loop(provider=provider, tools=counted.tools(), journal=MemoryJournal(), limits=limits)

        await asyncio.gather(loop().run("go", session="one"), loop().run("go", session="two"))
        return counted.most

    assert story(tale()) == most


def test_waiting_for_a_slot_is_told_apart_from_running():
    @tool(read_only=True, concurrency_safe=True)
    async def doze() -> str:
        """Take three seconds."""
        await asyncio.sleep(3)
        return "rested"

    async def tale():
        asked = asks_for(*(("doze", {}) for _ in range(3)))
        bench = Bench(asked, says("ok"), tools=[doze], limits=Limits(session=1), clock=VirtualClock())
        assert (await bench.run()).text == "ok"
        return await bench.records(ToolResult)

    results = run_virtually(tale())

    assert [(result.duration, result.metadata.get("waited")) for result in results] == [(3, None), (3, 3), (3, 6)]


def test_what_agents_call_takes_the_slots_of_their_callers_loop():
    async def tale():
        counted = Counted()
        reads = asks_for(*(("read", {}) for _ in range(CALLS)))
        scouts = [
            Agent(name, "Looks.", "Look.", provider=Scripted([reads, says(f"{name} has looked")]))
            for name in ("scout", "spy")
        ]
        both = asks_for(*(("task", {"agent": scout.name, "prompt": "look"}) for scout in scouts))
        provider = Scripted([both, says("all seen")])
        loop = Loop(
            provider=provider, tools=counted.tools(), agents=scouts, limits=Limits(reads=2), journal=MemoryJournal()
        )
        async with loop:
            result = await loop.run("go")
        return result, counted

    result, counted = story(tale())

    assert (result.status, result.text) == (RunStatus.SUCCEEDED, "all seen")
    assert counted.most == 2


def test_a_call_that_waits_for_a_slot_when_the_run_is_stopped_was_never_started():
    async def tale():
        started = asyncio.Event()

        @tool(concurrency_safe=True)
        async def hang() -> str:
            """Never come back."""
            started.set()
            await asyncio.Event().wait()
            return "never"

        box = [hang]
        provider = Scripted([asks_for(("hang", {}), ("hang", {}))])
        loop = Loop(provider=provider, tools=box, journal=MemoryJournal(), limits=Limits(process=1))
        run = asyncio.create_task(loop.run("go", session="s"))
        await started.wait()
        await loop.cancel("s")
        await run
        return [e.record for e in await loop.journal.read("s") if isinstance(e.record, ToolResult)]

    first, second = story(tale())
    assert "after it had started" in first.output
    assert "never started" in second.output


@pytest.mark.parametrize("given", [{"process": 0}, {"session": -1}, {"tools": {"bash": 0}}])
def test_a_limit_that_lets_nothing_run_is_refused(given):
    with pytest.raises(ConfigError, match="limits"):
        Limits(**given)
