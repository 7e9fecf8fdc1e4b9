"""What an answer had cost that broke off, or that somebody stopped: counted where the provider had said it."""

import asyncio
import json

import attrs
import pytest
from support.chat_server import CUT, HANG, ChatServer, chunk

from fsm import Budget, Loop
from fsm.audit import audit
from fsm.events import Delta
from fsm.journal.memory import MemoryJournal
from fsm.providers import Anthropic, OpenAIChat
from fsm.providers.prices import Price
from fsm.report.bill import bill
from states.messages import Usage
from states.records import Cancellation, Spent, TurnFailure


def named(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more)}\n\n".encode()


USAGE = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 1000, "output_tokens": 1}
TOLD = Usage(1110, 1, cached=100, written=1000)
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "claude-x", "usage": USAGE}
HALF = [
    named("message_start", message=MESSAGE),
    named("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    named("content_block_delta", index=0, delta={"type": "text_delta", "text": "half"}),
]
WHOLE = [
    *HALF,
    named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 7}),
    named("message_stop"),
]
PRICES = {"claude-x": Price(1.0, 0.1, 5.0, written=1.25)}
COST = (10 * 1.0 + 100 * 0.1 + 1000 * 1.25 + 1 * 5.0) / 1e6
ANSWER = attrs.evolve(TOLD, output=7)


def story(*turns, make=Anthropic, stop=False, **options):
    """A run against a server that gives these turns, and its records; with `stop` the first word makes it stop."""

    async def work(server):
        url = server.url.removesuffix("/v1") if make is Anthropic else server.url
        journal = MemoryJournal()
        loop = Loop(provider=make("claude-x", url, "k"), tools=[], journal=journal, prices=PRICES, **options)
        shown = asyncio.Event()

        def hear(event):
            if isinstance(event, Delta):
                shown.set()

        running = asyncio.create_task(loop.run("go", session="s", on_event=hear))
        if stop:
            await shown.wait()
            await loop.cancel("s")
        result = await running
        entries = await journal.read("s")
        assert audit(loop.graph, entries, "s") == []
        await loop.close()
        return result, entries

    with ChatServer(lambda _, n: turns[n], strict=False) as server:
        result, entries = asyncio.run(work(server))
        return result, entries, len(server.requests)


def kinds(entries, kind):
    return [entry.record for entry in entries if isinstance(entry.record, kind)]


def test_an_answer_that_broke_off_is_counted_and_so_is_the_next():
    result, entries, _ = story([*HALF, CUT], WHOLE, budget=Budget(max_turns=5))

    (failure,) = kinds(entries, TurnFailure)
    assert failure.spent == Spent(TOLD, "claude-x", pytest.approx(COST))
    assert (result.text, result.usage) == ("half", TOLD + ANSWER)
    assert result.cost == pytest.approx(2 * COST + 6 * 5e-6)
    assert bill(entries).usage == result.usage
    assert bill(entries).turns == 1


def test_an_answer_that_somebody_stopped_is_counted():
    result, entries, _ = story([*HALF, HANG], stop=True)

    (stopped,) = kinds(entries, Cancellation)
    assert stopped.spent == Spent(TOLD, "claude-x", pytest.approx(COST))
    assert (result.status, result.usage, result.cost) == ("suspended", TOLD, pytest.approx(COST))
    assert bill(entries).usage == TOLD


def test_what_broke_off_uses_the_budget_up():
    result, _, asked = story([*HALF, CUT], WHOLE, budget=Budget(tokens=1000))

    assert (result.status, result.reason, asked) == ("suspended", "budget", 1)
    assert "1111 of 1000 tokens" in result.message


def test_where_nothing_was_said_nothing_is_counted_and_no_price_is_missed():
    half = [chunk({"content": "half"}), CUT]
    result, entries, _ = story(half, [chunk({"content": "all"}), chunk({}, "stop")], make=OpenAIChat)

    assert [failure.spent for failure in kinds(entries, TurnFailure)] == [None]
    assert (result.text, result.usage, result.cost) == ("all", Usage(), 0.0)


def test_counts_in_every_chunk_are_those_of_the_last():
    half = [chunk({"content": "a"}, usage={"prompt_tokens": 5, "completion_tokens": n}) for n in (1, 2)]
    _, entries, _ = story([*half, CUT], [chunk({"content": "all"}), chunk({}, "stop")], make=OpenAIChat)

    assert [failure.spent.usage for failure in kinds(entries, TurnFailure)] == [Usage(5, 2)]
