"""A window that is full, over real HTTP: compacted once, sent once more, in requests that each protocol accepts."""

import asyncio
import json
from itertools import pairwise

import pytest
from support.chat_server import CUT, ChatServer, Response, calls_turn, chunk, error, event, text_turn
from support.validators import chat_complaint, messages_complaint

from fsm import Loop, tool
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.providers import Anthropic, OpenAIChat
from states.ledger import HEADINGS, INSTRUCTION
from states.records import Compaction

LEDGER = "\n".join(f"## {heading}\nnone" for heading in HEADINGS)
OVERFLOWS = [
    error(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
    error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    error(413, "Request too large"),
    error(422, "Input is too long for requested model."),
    Response([event({"error": {"message": "no room", "type": "x", "code": "context_length_exceeded"}})]),
]
"""As OpenAI, Anthropic, a proxy, Bedrock say it, and inside a 200 before anything was said."""


@tool(read_only=True)
def read(n: int) -> str:
    """Read much."""
    return f"{n} " + "word " * 1500


def wants_ledger(body):
    return INSTRUCTION[:60] in str(body["messages"][-1])


def session(server, make=OpenAIChat, **options):
    address = server.url.removesuffix("/v1") if make is Anthropic else server.url

    async def tale():
        async with Loop(
            provider=make("m", address, "k", patience=0.0), tools=[read], journal=":memory:", **options
        ) as loop:
            result = await loop.run("Read it all.", session="s")
            return result, await loop.journal.read("s")

    return asyncio.run(tale())


@pytest.mark.parametrize("overflow", OVERFLOWS)
def test_a_request_that_does_not_fit_is_compacted_and_sent_once_more(overflow):
    ordinary = []

    def script(body, number):
        if wants_ledger(body):
            return text_turn(LEDGER)
        ordinary.append(body)
        if len(ordinary) <= 4:
            return calls_turn([("read", {"n": len(ordinary)})])
        return overflow if len(ordinary) == 5 else text_turn("done")

    with ChatServer(script) as server:
        result, entries = session(server)
    assert (result.text, len(ordinary)) == ("done", 6)
    assert [chat_complaint(body) for body in server.requests] == [None] * 7
    assert len(server.bodies[-1]) < len(server.bodies[4]) * 0.7
    assert LEDGER in ordinary[-1]["messages"][1]["content"]
    assert "Read it all." in ordinary[-1]["messages"][1]["content"]
    assert sum(isinstance(entry.record, Compaction) for entry in entries) == 1
    assert audit(GRAPH, entries, "s") == []


def test_what_was_shown_is_never_replayed_as_an_overflow():
    """The stream says after its first words that there is no room: that answer broke off, nothing is compacted."""
    late = [chunk({"content": "so f"}), event({"error": {"message": "x", "code": "context_length_exceeded"}}), CUT]

    with ChatServer(lambda body, number: late if number == 0 else text_turn("whole")) as server:
        result, entries = session(server)
    assert result.text == "whole"
    assert not any(isinstance(entry.record, Compaction) for entry in entries)
    assert b"so f" not in server.bodies[1]


def test_the_prefix_is_stable_up_to_a_compaction_and_after_it():
    """The request for the ledger begins with the one before, too: the provider has it cached."""

    def script(body, number):
        if wants_ledger(body):
            return text_turn(LEDGER)
        turn = [*calls_turn([("read", {"n": number})], "w" * 24_000)]
        turn[-2] = chunk(usage={"prompt_tokens": 26_000 if number == 4 else 1000, "completion_tokens": 1})
        return turn if number < 9 else text_turn("done")

    with ChatServer(script) as server:
        result, entries = session(server, window=40_000)
    assert result.text == "done"
    place = next(i for i, body in enumerate(server.requests) if wants_ledger(body))
    end = b'],"tool_choice"'
    cut = [body[: body.rindex(end)] for body in server.bodies]
    for at, (before, after) in enumerate(pairwise(cut), 1):
        if at == place:  # only the kept tail is left out
            shared = len(next_common(before, after))
            assert shared > 0.5 * len(before)
        elif at != place + 1:
            assert after.startswith(before)
    assert sum(isinstance(entry.record, Compaction) for entry in entries) == 1


def next_common(one, two):
    size = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return one[:size]


def named(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more)}\n\n".encode()


def claude(blocks, reason):
    pieces = [named("message_start", message={"id": "m", "model": "c", "usage": {"input_tokens": 5}})]
    for index, block in enumerate(blocks):
        pieces.append(named("content_block_start", index=index, content_block=block))
        pieces.append(named("content_block_stop", index=index))
    return Response([*pieces, named("message_delta", delta={"stop_reason": reason}, usage={}), named("message_stop")])


def test_anthropics_form_is_kept_too():
    ordinary = []

    def script(body, number):
        if wants_ledger(body):
            return claude([{"type": "text", "text": LEDGER}], "end_turn")
        ordinary.append(body)
        if len(ordinary) <= 4:
            return claude([{"type": "tool_use", "id": "t", "name": "read", "input": {"n": len(ordinary)}}], "tool_use")
        if len(ordinary) == 5:
            return error(400, "prompt is too long: 210000 tokens > 200000 maximum")
        return claude([{"type": "text", "text": "done"}], "end_turn")

    with ChatServer(script, strict=False) as server:
        result, entries = session(server, Anthropic)
    assert result.text == "done"
    assert [messages_complaint(body) for body in server.requests] == [None] * 7
    assert audit(GRAPH, entries, "s") == []
