"""A fork begins as its origin was, and what the origin had started is not the fork's to finish."""

import asyncio

import attrs
import pytest
from support.bench import Bench, story

from fsm import RunStatus, tool
from fsm.audit import audit
from fsm.checks.stage import StageClock
from fsm.graph import GRAPH
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.sessions.forking import unproven
from states.codec import encode
from states.errors import ConfigError, UnknownSession
from states.fold import fold
from states.messages import UserMessage
from states.names import State
from states.records import Forked, Status, ToolIntent, ToolResult, Transition, UserInput


async def forked(bench, **more):
    return await bench.loop.fork("s", name="f", **more)


def points(entries):
    """Records after which nothing is half done."""
    return [e.seq for e in entries if isinstance(e.record, Transition)]


def test_a_fork_goes_on_by_itself_and_leaves_its_origin_alone():
    async def tale():
        bench = Bench(says("one"), says("two, there"), says("two, here"))
        await bench.run("first")
        await forked(bench)
        there = await bench.loop.resume("f", "second, in the fork")
        here = await bench.resume("second, here")
        return bench, there, here, await bench.history("f"), await bench.history("s")

    bench, there, here, fork, origin = story(tale())
    assert (there.text, here.text) == ("two, there", "two, here")
    assert [m.text for m in bench.asked(1) if isinstance(m, UserMessage)] == ["first", "second, in the fork"]
    assert [m.text for m in bench.asked(2) if isinstance(m, UserMessage)] == ["first", "second, here"]
    assert (fork.forked.origin, origin.forked) == ("s", None)
    assert fork.spent.total == 30


def test_the_copies_are_what_the_origins_chain_had():
    async def tale():
        bench = Bench(says("one"), says("two"))
        await bench.run("first")
        await forked(bench)
        await bench.loop.resume("f", "second")
        return await bench.journal.dump("f")

    stored = story(tale())
    mark = next(entry for entry in stored if entry.kind == "forked")
    forged = [attrs.evolve(e, body=encode(UserInput("never said"))) if e.seq == 2 else e for e in stored]
    assert unproven(stored) == []
    assert unproven(forged) == [f"record {mark.seq}: what stands before it is not what session 's' had"]


@pytest.mark.parametrize("permission", ["full", "ask"])
def test_a_fork_at_any_point_goes_on_and_audits_clean(permission):
    async def tale():
        turns = [asks_for(("look", {"key": "a"}), ("write", {"what": "x"})), says("done")]
        bench = Bench(*turns, permission=permission)
        if (await bench.run()).status is RunStatus.SUSPENDED:
            await bench.resume(approve=["call_1_1"])
        entries = await bench.journal.read("s")
        for at in points(entries):
            bench.loop._providers = (Scripted([says(f"the end {n}") for n in range(4)]),)
            name = await bench.loop.fork("s", at=at)
            result = await bench.loop.resume(name)
            if result.status is RunStatus.SUSPENDED and result.reason == "approval":
                result = await bench.loop.resume(name, deny=["call_1_1"])
            assert result.status is RunStatus.SUCCEEDED, (at, result)
            assert audit(GRAPH, await bench.journal.read(name), name) == []
        return len(points(entries)), bench

    number, bench = story(tale())
    assert number > 6
    assert len(bench.ledger.effects) <= 2, "the origin's one, and the fork's that began before the call"


@pytest.mark.parametrize("declared", [{"read_only": True}, {"idempotent": True}, {"reconcile": lambda run: None}, {}])
def test_a_call_that_the_origin_had_started_is_unknown_in_the_fork_whatever_its_tool_declares(declared):
    class Started:
        def __init__(self):
            self.times, self.first, self.go_on = 0, asyncio.Event(), asyncio.Event()

        def tool(self):
            @tool(**declared)
            async def deploy() -> str:
                """Deploy."""
                self.times += 1
                self.first.set()
                await self.go_on.wait()
                return "deployed"

            return deploy

    async def tale():
        started = Started()
        bench = Bench(asks_for(("deploy", {})), says("there"), says("here"), tools=[started.tool()])
        run = asyncio.create_task(bench.run())
        await started.first.wait()
        await forked(bench)
        there = await bench.loop.resume("f")
        started.go_on.set()
        return bench, started, there, await run, await bench.records(ToolResult, "f")

    bench, started, there, here, (unknown,) = story(tale())
    assert (there.text, here.text, started.times) == ("there", "here", 1)
    assert unknown.status is Status.UNKNOWN
    assert "the session that this one was forked from" in bench.answers(1)[0].text


def test_what_the_origin_had_not_started_is_the_forks_own_to_start():
    async def tale():
        bench = Bench(asks_for(("write", {"what": "x"})), says("done"), says("done here"))
        await bench.run()
        entries = await bench.journal.read("s")
        moves = [entry for entry in entries if isinstance(entry.record, Transition)]
        dispatch = next(move.seq for move in moves if move.record.target is State.DISPATCH_TOOLS)
        await forked(bench, at=dispatch)
        await bench.loop.resume("f")
        intents = [e for e in await bench.journal.read("f") if isinstance(e.record, ToolIntent)]
        return bench, intents

    bench, (intent,) = story(tale())
    keys = [key for key, _ in bench.ledger.effects]
    assert keys[1] == f"f:{intent.seq}"
    assert keys[0].startswith("s:")


def test_an_approval_was_given_to_the_origin_alone():
    async def tale():
        bench = Bench(asks_for(("write", {"what": "x"})), says("done"), permission="ask")
        await bench.run()
        await bench.loop.fork("s", name="f")
        waits = (await bench.history("f")).open_calls()
        again = await bench.loop.resume("f")
        return waits, again

    (state,), again = story(tale())
    assert not state.asked
    assert (again.status, again.reason) == (RunStatus.SUSPENDED, "approval")


def test_a_point_within_a_step_is_refused_with_the_ones_beside_it():
    async def tale():
        bench = Bench(asks_for(("look", {})), says("done"))
        await bench.run()
        entries = await bench.journal.read("s")
        middle = next(e.seq for e in entries if isinstance(e.record, Transition)) - 1
        before, after = 2, middle + 1
        with pytest.raises(ConfigError, match=f"record {middle} .* fork at {before} or {after}"):
            await forked(bench, at=middle)
        with pytest.raises(ConfigError, match=r"records 1 to \d+; 99999 is none"):
            await forked(bench, at=99999)
        with pytest.raises(ConfigError, match="fork at 2"):
            await forked(bench, at=1)
        await forked(bench, at=after)
        with pytest.raises(ConfigError, match="there is a session 'f' already"):
            await forked(bench, at=after)
        with pytest.raises(UnknownSession):
            await bench.loop.fork("nobody")

    story(tale())


def test_a_fork_of_a_fork_names_both():
    async def tale():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        await forked(bench)
        await bench.loop.fork("f", name="g")
        await bench.loop.resume("g", "go on")
        marks = [e.record for e in await bench.journal.read("g") if isinstance(e.record, Forked)]
        return marks, unproven(await bench.journal.dump("g")), fold("g", await bench.journal.read("g"))

    marks, lost, history = story(tale())
    assert [mark.origin for mark in marks] == ["s", "f"]
    assert lost == []
    assert history.state is State.SUCCEEDED


def test_inputs_that_were_posted_before_and_after_the_fork_reach_the_session_they_were_posted_to():
    async def tale():
        bench = Bench(says("one"), says("two"), says("three"), clock=StageClock())
        await bench.run()
        await bench.loop.steer("s", "for the origin")
        await forked(bench)
        await bench.loop.steer("f", "for the fork")
        await bench.loop.resume("f")
        await bench.resume()
        return bench

    bench = story(tale())
    assert bench.asked(1)[-1] == UserMessage("for the fork")
    assert bench.asked(2)[-1] == UserMessage("for the origin")
