"""A long session in which everything happens follows from its journal alone, and no edit of it does."""

import asyncio

import attrs
import pytest
from support.bench import story

from fsm import Agent, Budget, Contract, Loop, ToolError, tool, workspace_tools
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from states.messages import Finish
from states.names import State
from states.ports import ProviderTrouble
from states.records import (
    Approval,
    AssistantTurn,
    Cancellation,
    Delegated,
    Evidence,
    Failed,
    Finalized,
    OutputAccepted,
    RunStarted,
    Source,
    Status,
    Suspended,
    ToolResult,
    Transition,
    Trouble,
    TurnFailure,
    UserInput,
    Verdict,
)
from states.verdicts import Fail, Pass, Retry

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
TURNS = [
    asks_for(("write_file", {"path": "a.txt", "content": "a"})),  # waits for an approval
    ProviderTrouble(Trouble.CUT, "broken off"),
    asks_for(("bash", {"command": "echo built", "background": True}), ("read_file", {"path": "a.txt"})),
    asks_for(("bash_output", {"handle": "bg_1", "wait_s": 30})),
    asks_for(("task", {"agent": "scout", "prompt": "look around"})),
    *(asks_for(("flaky", {"n": number})) for number in range(3)),
    says("Half an ans", Finish.LENGTH),
    says("That is it."),  # without the output that is owed
    asks_for(("structured_output", {"m": 1})),
    asks_for(("structured_output", {"n": 1})),  # without the check that is owed
    asks_for(("hang", {})),  # steered, then cancelled
    asks_for(("hang", {})),  # the process is lost
    asks_for(("bash", {"command": "true"})),
    asks_for(("edit_file", {"path": "a.txt", "old_string": "a", "new_string": "b"})),
    asks_for(("structured_output", {"n": 2})),  # the check is stale
    asks_for(("bash", {"command": "true"})),
    says("Done."),
    *(says(f"Nothing to do, {number}.") for number in range(3)),  # a second run, which fails
]


async def play(root):
    started = asyncio.Event()

    @tool
    async def hang() -> str:
        """Start, and never come back."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    @tool
    async def flaky(n: int) -> str:
        """Fail."""
        raise ToolError(f"boom {n}")

    journal = MemoryJournal()
    scout = Agent("scout", "Looks.", "Look.", provider=Scripted([asks_for(("list_dir", {"path": "."})), says("a.txt")]))
    loop = Loop(
        provider=Scripted(TURNS),
        tools=[*workspace_tools(root, root / ".interlock"), hang, flaky],
        agents=[scout],
        workspace=root,
        journal=journal,
        contract=Contract(commands=["true"]),
        output=SCHEMA,
        permission="ask",
        budget=Budget(max_turns=60),
    )
    async with loop:
        assert (await loop.run("write it", session="s")).reason == "approval"
        working = asyncio.create_task(loop.resume("s", approve=["call_1_0"], permission="full"))
        await started.wait()
        await loop.steer("s", "mind the gap")
        await loop.cancel("s", "enough")
        assert (await working).reason == "resume"

        started.clear()
        lost = asyncio.create_task(loop.resume("s", "go on"))
        await started.wait()
        journal.crash()
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        journal.crash()

        done = await loop.resume("s")
        assert (done.succeeded, done.output) == (True, {"n": 2})
        assert (await loop.resume("s", "again")).reason == "structured_output_failed"
        sessions = [info.session for info in await journal.sessions()]
        return {session: await journal.read(session) for session in sessions}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    return story(play(tmp_path_factory.mktemp("work")), seconds=60)


@pytest.fixture(scope="module")
def entries(sessions):
    return sessions["s"]


def of_kind(entries, kind):
    return [entry.record for entry in entries if isinstance(entry.record, kind)]


def test_everything_happened(entries):
    assert len(of_kind(entries, RunStarted)) == 2
    assert len(of_kind(entries, AssistantTurn)) == len(TURNS) - 1
    assert [failure.trouble for failure in of_kind(entries, TurnFailure)] == [Trouble.CUT]
    assert {result.status for result in of_kind(entries, ToolResult)} == {
        Status.OK,
        Status.ERROR,
        Status.CANCELLED,
        Status.UNKNOWN,
    }
    assert Source.STEERING in {words.source for words in of_kind(entries, UserInput)}
    assert len(of_kind(entries, OutputAccepted)) == 2
    for kind in (Approval, Cancellation, Delegated, Evidence, Suspended, Finalized, Failed):
        assert of_kind(entries, kind), kind
    objecting = {verdict.gate for verdict in of_kind(entries, Verdict) if not isinstance(verdict.ruling, Pass)}
    assert objecting >= {"calls_permitted", "provider_answers", "turn_whole", "output_accepted", "checks_passed"}
    hinting = {v.gate for v in of_kind(entries, Verdict) if isinstance(v.ruling, Pass) and v.ruling.hint}
    assert hinting == {"tools_work", "on_course"}


def test_every_verdict_and_move_follows_from_what_stood_before_it(sessions):
    assert len(sessions) == 2  # the agent's own, too
    for session, entries in sessions.items():
        assert of_kind(entries, Verdict)
        assert audit(GRAPH, entries, session) == []


def edited(entries, place, **fields):
    forged = attrs.evolve(entries[place], record=attrs.evolve(entries[place].record, **fields))
    return [*entries[:place], forged, *entries[place + 1 :]]


def other(ruling):
    """Rulings that somebody might want to have been given instead."""
    yield Fail("forged", "forged") if isinstance(ruling, Pass) else Pass()
    match ruling:
        case Pass():
            yield attrs.evolve(ruling, cites=(*ruling.cites, 1))
        case Retry():
            yield attrs.evolve(ruling, message="Never mind.")
        case Fail() | _:
            yield attrs.evolve(ruling, message="forged")


def test_every_edited_verdict_is_found(entries):
    for place, entry in enumerate(entries):
        if isinstance(entry.record, Verdict):
            for forged in other(entry.record.ruling):
                found = audit(GRAPH, edited(entries, place, ruling=forged)[: place + 2], "s")
                assert found, (entry.seq, forged)
                assert found[0].startswith(f"record {entry.seq}: gate {entry.record.gate} rules"), found[0]


def test_every_edited_move_is_found(entries):
    for place, entry in enumerate(entries):
        if isinstance(entry.record, Transition):
            astray = State.FAILED if entry.record.target is not State.FAILED else State.SUCCEEDED
            found = audit(GRAPH, edited(entries, place, target=astray)[: place + 1], "s")
            assert f"record {entry.seq}: " in found[0]
