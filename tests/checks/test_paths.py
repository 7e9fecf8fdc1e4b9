"""Every row of the table, taken on the real loop over HTTP, with a store on disk, by the way that the search found."""

import asyncio
from functools import cache

import pytest

from fsm.checks import Broken, explore, paths
from fsm.checks.moves import told
from fsm.graph import GRAPH
from fsm.loop import Loop
from fsm.providers import OpenAIChat
from states.messages import calls_of, text_of
from states.names import Event
from states.ports import ProviderTrouble
from states.records import Trouble
from tests.support.chat_server import CUT, ChatServer, calls_turn, error, text_turn

ROWS = [row for row in GRAPH if row.event is not Event.COMMIT_FAILED]
FINISH = {"calls": "tool_calls", "filtered": "content_filter", "unknown": ""}


@cache
def plans():
    return {plan.row: plan for plan in paths.plans(explore.checked(GRAPH))}


def on_the_wire(said):
    """The bytes with which a server of chat completions says it."""
    if isinstance(said, ProviderTrouble):
        return {
            Trouble.DOWN: error(503, "overloaded"),
            Trouble.CUT: [*text_turn("so f")[:2], CUT],
            Trouble.OVERFLOW: error(400, "too long", "context_length_exceeded"),
            Trouble.REFUSED: error(401, "no such key"),
        }[said.trouble]
    finish = FINISH.get(said.finish, said.finish)
    calls = [(call.name, call.arguments) for call in calls_of(said.blocks)]
    return calls_turn(calls, finish=finish) if calls else text_turn(text_of(said.blocks), finish)


async def follow_over_http(plan, file):
    here = asyncio.get_running_loop()
    asked = []

    def answer(request, number):
        return on_the_wire(asyncio.run_coroutine_threadsafe(asked[0].cue(), here).result())

    async def at_once(seconds):
        """Waits between attempts cost no time here."""

    with ChatServer(answer) as server:

        def make_loop(**parts):
            asked.append(parts["provider"][0])
            options = {"api_key": "k", "patience": 0.0, "sleep": at_once}
            chain = [OpenAIChat(name, server.url, **options) for name in ("scripted", "another")]
            return Loop(**{**parts, "provider": chain})

        return await paths.follow(make_loop, plan, file)


def pauses(row):
    return any(guard.name.startswith("turn_ended") and not guard.name.endswith("passes") for guard in row.guards)


@pytest.mark.parametrize("row", [row for row in ROWS if not pauses(row)], ids=told)
def test_a_row_is_taken_over_http(row, tmp_path):
    """But those for a provider that pauses, which chat completions have no word for."""
    asyncio.run(follow_over_http(plans()[row], tmp_path / "journal.db"))


def test_all_rows_are_taken_without_a_wire(tmp_path):
    assert paths.replay(Loop, tmp_path) == len(ROWS)


def test_a_loop_that_does_not_take_the_row_is_found(tmp_path):
    plan = next(plan for row, plan in plans().items() if row.target == "succeeded")

    def make_loop(**parts):
        async def refuses():
            return ProviderTrouble(Trouble.REFUSED, "no")

        parts["provider"][0].cue = refuses
        return Loop(**parts)

    with pytest.raises(Broken, match=r"the way to finalize -- finalized .* did not take it"):
        asyncio.run(paths.follow(make_loop, plan, tmp_path / "journal.db"))
