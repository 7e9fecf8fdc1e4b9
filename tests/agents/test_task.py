"""Agents that a run calls: sessions of their own, linked, begun once, taken up after a crash, never wider than it."""

import asyncio
import re

import pytest
from support.bench import Bench, story

from fsm import Agent, Budget, Loop, RunStatus, tool
from fsm import events as ev
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from states.contract import Permission
from states.errors import ConfigError
from states.names import State
from states.records import ApprovalAsked, Delegated, DelegationEnded, RunStarted, Status, ToolIntent, ToolResult

CALL = ("task", {"agent": "scout", "prompt": "find it"})


def scout(*turns, **options):
    return Agent("scout", "Finds things.", "You find things.", provider=Scripted(turns), **options)


async def child_of(b, session="s"):
    """The session of the only agent that was begun."""
    (delegated,) = await b.records(Delegated, session)
    return delegated.session


def ask(wait_s=0.0):
    """Asks for the result of the agent that the conversation tells of."""

    def turn(request):
        told = " ".join(str(message) for message in request.messages)
        handle = re.search(r"s\.\d+", told)[0]
        return asks_for(("task_output", {"handle": handle, "wait_s": wait_s}))

    return turn


def bench(agent, *turns, **options):
    return Bench(*turns, agents=[agent], **options)


def test_a_task_is_a_session_of_its_own_and_its_words_come_back():
    async def run():
        b = bench(scout(asks_for(("look", {"key": "a"})), says("it is here")), asks_for(CALL), says("done"))
        result = await b.run()
        child = await child_of(b)
        entries = await b.journal.read("s")
        intents = [entry.seq for entry in entries if isinstance(entry.record, ToolIntent)]
        return b, result, await b.records(RunStarted, child), intents

    b, result, started, intents = story(run())
    assert result.succeeded
    assert [answer.text for answer in b.answers()] == ["it is here"]
    assert (started[0].agent, started[0].parent, started[0].depth) == ("scout", f"s:{intents[0]}", 1)
    assert started[0].system == "You find things."
    assert "task" not in started[0].tool_names
    assert len(intents) == 1


def test_what_an_agent_uses_up_is_its_callers_too_and_both_audit_clean():
    async def run():
        b = bench(scout(says("it is here")), asks_for(CALL), says("done"))
        result = await b.run()
        child = await child_of(b)
        found = [audit(GRAPH, await b.journal.read(name), name) for name in ("s", child)]
        return b, result, child, found, await b.records(DelegationEnded)

    b, result, child, found, ended = story(run())
    assert result.usage.total == 3 * 15
    assert found == [[], []]
    assert [(end.session, end.state, end.usage.total) for end in ended] == [(child, State.SUCCEEDED, 15)]
    assert [event.agent_session for event in b.seen(ev.AgentStart)] == [child]


def test_agents_of_one_turn_work_side_by_side():
    async def run():
        together = asyncio.Barrier(2)

        @tool(read_only=True)
        async def meet() -> str:
            """Wait for the other."""
            await together.wait()
            return "met"

        def turns(request):
            return asks_for(("meet", {})) if len(request.messages) == 1 else says("met")

        agent = Agent("scout", "Meets.", "Meet.", provider=Scripted([turns] * 4))
        b = bench(agent, asks_for(CALL, CALL), says("done"), tools=[meet])
        return await b.run(), b

    result, b = story(run())
    assert result.succeeded
    assert [answer.text for answer in b.answers()] == ["met", "met"]


def test_a_failed_agent_is_an_error_that_says_why():
    async def run():
        b = bench(scout(), asks_for(CALL), says("it did not work"))
        return await b.run(), b

    result, b = story(run())
    (answer,) = b.answers()
    assert result.succeeded
    assert answer.failed
    assert "the agent scout failed (api_error)" in answer.text


@pytest.mark.parametrize(
    ("own", "asked", "granted"),
    [("ask", "full", "ask"), ("plan", "full", "plan"), ("full", "ask", "ask"), ("full", None, "full")],
)
def test_an_agent_is_never_allowed_more_than_its_caller(own, asked, granted):
    async def run():
        done = [says(f"done {n}") for n in range(3)]  # whoever plans is asked for its plan twice more
        b = bench(scout(says("ok"), permission=asked), asks_for(CALL), *done, permission=own)
        result = await b.run()
        return result, await b.records(RunStarted, await child_of(b)), await b.records(DelegationEnded)

    result, started, ended = story(run())
    assert result.succeeded is (own != "plan")
    assert started[0].permission is Permission(granted)
    assert [end.state for end in ended] == [State.SUCCEEDED]


def test_an_agent_that_needs_an_approval_rests_and_can_be_taken_up_again():
    """The caller is told; a person lets the agent go on; task_output then has its result."""

    async def run():
        agent = scout(asks_for(("write", {"what": "x"})), says("written"))
        b = bench(agent, asks_for(CALL), says("it waits"), ask(), says("done"), permission="ask")
        first = await b.run()
        told = b.answers()[-1].text
        child = await child_of(b)
        (waiting,) = await b.records(ApprovalAsked, child)
        person = Loop(provider=agent.provider, tools=b.ledger.tools(), journal=b.journal, permission="ask")
        await person.resume(child, approve=[waiting.call])
        await b.resume("and now?")
        return first, told, child, b, await b.records(DelegationEnded)

    first, told, child, b, ended = story(run())
    assert first.succeeded
    assert "waits for approval: " in told
    assert f"its session is {child}" in told
    assert [(end.state, end.reason) for end in ended] == [(State.SUSPENDED, "approval")]
    assert [what for _, what in b.ledger.effects] == ["x"]


def test_cancellation_reaches_the_agent_and_a_resume_does_not_begin_it_again():
    async def run():
        agent = scout(asks_for(("hang", {})), says("never"))
        b = bench(agent, asks_for(CALL), says("stopped, then"))
        work = asyncio.create_task(b.run())
        await b.ledger.started.wait()
        await b.loop.cancel("s")
        first = await work
        history = await b.history(await child_of(b))
        second = await b.resume()
        return first, history, second, await b.records(ToolResult), b

    first, history, second, results, b = story(run())
    assert (first.status, first.reason) == (RunStatus.SUSPENDED, "resume")
    assert history.state is State.SUSPENDED
    assert results[0].status is Status.CANCELLED
    assert "scout was stopped at its work" in results[0].output
    assert second.succeeded
    assert len(b.ledger.effects) == 1


def test_after_a_crash_the_agent_is_taken_up_where_it_stood():
    """Its effect has happened, its tool is lost: it goes on from there, in the same session, and is begun once."""

    async def run():
        journal = MemoryJournal()
        agent = scout(asks_for(("write", {"what": "x"})), asks_for(("hang", {})), says("wrote it"))
        b = bench(agent, asks_for(CALL), says("done"), journal=journal)
        await b.lost_at(b.ledger.started)
        result = await b.resume()
        sessions = sorted(info.session for info in await journal.sessions())
        return b, result, sessions, await child_of(b), await b.records(ToolResult)

    b, result, sessions, child, results = story(run())
    assert result.succeeded
    assert sessions == ["s", child]
    assert [what for _, what in b.ledger.effects] == ["x", ""]
    assert (results[0].status, results[0].output) == (Status.OK, "wrote it")
    assert result.usage.total == 5 * 15


def test_the_result_of_an_agent_that_had_finished_is_taken_after_a_crash():
    """The agent's success is durable, the call's answer is not: nobody is asked again."""

    async def run():
        done = asyncio.Event()
        journal = MemoryJournal()
        agent = scout(says("it is here"))
        b = bench(agent, asks_for(CALL), says("done"), journal=journal)

        def watch(claim, drafts):
            if claim.session != "s" and any(draft.kind == "finalized" for draft in drafts):
                done.set()
                journal.crash()

        journal._after = watch
        work = asyncio.create_task(b.run())
        await done.wait()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        journal._after = lambda claim, drafts: None
        journal.crash()
        return b, await b.resume(), len(agent.provider.requests)

    b, result, asked = story(run())
    assert result.succeeded
    assert asked == 1
    assert [answer.text for answer in b.answers()] == ["it is here"]


# --- in the background ------------------------------------------------------------------------------------------


BEHIND = ("task", {"agent": "scout", "prompt": "find it", "background": True})


def test_an_agent_in_the_background_gives_a_handle_and_later_its_result():
    async def run():
        go = asyncio.Event()

        @tool(read_only=True)
        async def gate() -> str:
            """Wait to be let through."""
            await go.wait()
            return "open"

        def let_through(request):
            go.set()
            return ask(wait_s=10)(request)

        agent = scout(asks_for(("gate", {})), says("it is here"))
        b = bench(agent, asks_for(BEHIND), ask(), let_through, says("done"), tools=[gate])
        return await b.run(), b, await b.records(DelegationEnded)

    result, b, ended = story(run())
    begun, still, last = (answer.text for answer in b.answers())
    assert result.succeeded
    assert "Its handle is 's." in begun
    assert "still at work" in still
    assert last == "it is here"
    assert result.usage.total == 6 * 15
    assert len(ended) == 1


def test_an_agent_in_the_background_ends_with_its_caller_and_what_it_used_counts():
    async def run():
        b = bench(scout(asks_for(("hang", {}))), asks_for(BEHIND), asks_for(("look", {})), says("done"))

        def wait(request):
            return asks_for(("look", {"seconds": 0.05})) if not b.ledger.started.is_set() else says("done")

        b.provider._turns[1:] = [wait] * 50
        return await b.run(), await b.history(await child_of(b)), await b.records(DelegationEnded)

    result, child, ended = story(run())
    assert result.succeeded
    assert child.state is State.SUSPENDED
    assert [(end.state, end.reason) for end in ended] == [(State.SUSPENDED, "resume")]
    assert result.usage.total == (result.turns + 1) * 15


def test_an_agent_in_the_background_is_taken_up_when_its_caller_goes_on_after_a_crash():
    async def run():
        go = asyncio.Event()

        @tool(read_only=True)
        async def gate() -> str:
            """Wait to be let through."""
            await go.wait()
            return "open"

        agent = scout(asks_for(("hang", {})), says("it is here"))
        b = bench(agent, asks_for(BEHIND), asks_for(("gate", {})), ask(wait_s=10), says("done"), tools=[gate])
        await b.lost_at(b.ledger.started)
        go.set()
        result = await b.resume()
        return result, b, await child_of(b)

    result, b, child = story(run())
    assert result.succeeded
    assert b.answers()[-1].text == "it is here"
    assert child.startswith("s.")


def test_a_handle_that_is_none_is_named():
    async def run():
        b = bench(scout(), asks_for(("task_output", {"handle": "x"})), says("done"))
        await b.run()
        return b.answers()[0].text

    assert "no agent with the handle 'x'; there are: none" in story(run())


# --- how deep, how much, and by whom ----------------------------------------------------------------------------


def test_agents_call_agents_only_as_deep_as_was_declared():
    async def run(depth):
        def turns(request):
            if any(spec.name == "task" for spec in request.tools) and len(request.messages) == 1:
                return asks_for(CALL)
            return says("done")

        b = bench(scout(*[turns] * 9), asks_for(CALL), says("done"), agent_depth=depth)
        assert (await b.run()).succeeded
        return sorted(info.session.count(".") for info in await b.journal.sessions())

    assert story(run(1)) == [0, 1]
    assert story(run(2)) == [0, 1, 2]


def test_what_is_left_of_the_callers_tokens_bounds_the_agent():
    async def run():
        b = bench(scout(says("ok"), budget=Budget(tokens=900)), asks_for(CALL), says("done"), budget=Budget(tokens=100))
        await b.run()
        return (await b.records(RunStarted, await child_of(b)))[0].budget.tokens

    assert story(run()) == 100 - 15


def test_an_agent_has_the_tools_that_it_names_and_no_others():
    async def run():
        b = bench(scout(says("ok"), tools=["look"]), asks_for(CALL), says("done"))
        await b.run()
        return (await b.records(RunStarted, await child_of(b)))[0].tool_names

    assert story(run()) == ("look",)


@pytest.mark.parametrize(
    ("agents", "says_"),
    [
        ([Agent("a", "d", "p"), Agent("a", "d", "p")], "two agents are called 'a'"),
        ([Agent("a", "d", "p", tools=["nothing"])], "agent 'a' asks for a tool 'nothing'; there are: look"),
        (["a"], "'a' is no agent"),
    ],
)
def test_agents_that_cannot_work_are_refused_with_a_reason(agents, says_):
    with pytest.raises(ConfigError, match=says_):
        Bench(says("ok"), agents=agents)


@pytest.mark.parametrize(
    ("name", "description", "prompt"), [("", "d", "p"), ("a b", "d", "p"), ("a", " ", "p"), ("a", "d", "")]
)
def test_an_agent_without_a_name_or_words_is_none(name, description, prompt):
    with pytest.raises(ConfigError, match="agent '"):
        Agent(name, description, prompt)


def test_a_session_of_somebody_else_is_not_taken_for_an_agents():
    async def run():
        def turns():
            return scout(says("mine")), asks_for(CALL), says("done")

        before = bench(*turns())
        await before.run()
        b = bench(*turns())
        b.provider._turns.insert(0, says("other"))
        await b.loop.run("something else", session=await child_of(before))
        return await b.run(), b.answers()[0]

    result, answer = story(run())
    assert result.succeeded
    assert answer.failed
    assert "already, and it is not this call's" in answer.text
