"""A chain of providers: where one gives no answer the next one is asked from then on, on record."""

import asyncio
import json

import attrs
import pytest
from support.bench import Bench, story
from support.chat_server import CUT, ChatServer, Response, calls_turn, chunk, error, event, text_turn
from support.past import Past
from support.validators import chat_complaint, messages_complaint, responses_complaint

from fsm import Loop, events, tool
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal.memory import MemoryJournal
from fsm.providers import Anthropic, OpenAIChat, OpenAIResponses, Scripted
from fsm.providers.scripted import says
from fsm.redact import Redactor
from states.errors import ConfigError, HistoryError
from states.messages import Call, Finish
from states.ports import ProviderTrouble, Reply
from states.records import AssistantTurn, ChainChange, ProviderChange, Trouble, TurnFailure

DOWN = ProviderTrouble(Trouble.DOWN, "HTTP 503: busy", 503)
HALF = ProviderTrouble(Trouble.CUT, "the stream ended")


def refused(status):
    return ProviderTrouble(Trouble.REFUSED, f"HTTP {status}", status)


def chain(*scripts):
    return [Scripted(script, "abc"[place]) for place, script in enumerate(scripts)]


async def changes(bench):
    return [(change.place, change.epoch) for change in await bench.records(ProviderChange)]


@pytest.mark.parametrize("trouble", [DOWN, refused(401), refused(402), refused(404), refused(None)])
def test_the_next_one_is_asked_from_then_on(trouble):
    async def tale():
        first, second = chain([trouble], [says("hi"), says("again")])
        bench = Bench(provider=[first, second])
        result = await bench.run()
        (change,) = await bench.records(ProviderChange)
        (turn,) = await bench.records(AssistantTurn)
        assert (result.text, change.model, change.place, turn.epoch) == ("hi", "b", 1, 1)
        assert change.reason == f"{trouble.message}; b is asked from now on"
        assert [(event.model, event.seq > 0) for event in bench.seen(events.ProviderChanged)] == [("b", True)]
        assert len(first.requests) == len(second.requests) == 1
        assert audit(GRAPH, await bench.journal.read("s"), "s") == []
        return bench

    story(tale())


@pytest.mark.parametrize("trouble", [refused(400), refused(422), ProviderTrouble(Trouble.OVERFLOW, "too long", 400)])
def test_a_request_that_one_refuses_is_not_shopped_around(trouble):
    first, second = chain([trouble], [says("hi")])
    result = story(Bench(provider=[first, second]).run())
    assert (result.succeeded, second.requests) == (False, [])


def test_an_answer_that_broke_off_is_asked_for_again_and_the_second_time_elsewhere():
    class Now:
        """Waits cost nothing."""

        def now(self):
            return 0.0

        monotonic = now

        async def sleep(self, seconds):
            await asyncio.sleep(0)

    async def tale():
        first, second = chain([HALF, HALF], [says("whole")])
        bench = Bench(provider=[first, second], clock=Now())
        result = await bench.run()
        assert (result.text, len(first.requests)) == ("whole", 2)
        assert await changes(bench) == [(1, 3)]  # each half answer ended an epoch, and so did the first provider

    story(tale())


def test_each_is_tried_once_and_the_run_rests_until_somebody_resumes_it():
    async def tale():
        scripts = chain([DOWN, DOWN], [DOWN, says("back")], [DOWN])
        bench = Bench(provider=scripts)
        result = await bench.run()
        assert (result.reason, [len(one.requests) for one in scripts]) == ("provider", [1, 1, 1])
        scripts[2]._turns.append(DOWN)
        result = await bench.resume()  # it goes on with the last one, then round the chain
        assert (result.text, [len(one.requests) for one in scripts]) == ("back", [2, 2, 2])
        assert await changes(bench) == [(1, 1), (2, 2), (0, 3), (1, 4)]

    story(tale())


def test_a_good_turn_gives_everybody_another_chance():
    async def tale():
        asks = Reply((Call("", "look", "{}"),), Finish.CALLS)
        scripts = chain([DOWN, says("done")], [asks, DOWN])
        bench = Bench(provider=scripts)
        result = await bench.run()
        assert (result.text, await changes(bench)) == ("done", [(1, 1), (0, 2)])

    story(tale())


def test_another_process_goes_on_with_the_provider_that_is_on_record():
    async def tale():
        journal = MemoryJournal()
        await Bench(provider=chain([DOWN], [DOWN]), journal=journal).run()
        scripts = chain([], [says("still b")])
        later = Bench(provider=scripts, journal=journal)
        result = await later.resume()
        assert (result.text, scripts[0].requests) == ("still b", [])
        assert await later.records(ChainChange) == []

    story(tale())


def test_other_models_are_on_record_and_the_first_of_them_is_asked():
    async def tale():
        journal = MemoryJournal()
        await Bench(provider=chain([DOWN], [DOWN]), journal=journal).run()
        later = Bench(provider=Scripted([says("new")], "c"), journal=journal)
        result = await later.resume()
        assert result.text == "new"
        assert await later.records(ChainChange) == [ChainChange(("c",))]
        assert (await later.history()).models == ("c",)

    story(tale())


def test_a_new_run_begins_with_the_first_again():
    async def tale():
        scripts = chain([DOWN, says("two")], [says("one")])
        bench = Bench(provider=scripts)
        await bench.run()
        assert (await bench.resume("more")).text == "two"

    story(tale())


def test_the_old_ones_late_answer_is_refused():
    past = Past()
    past.history.models = ("m", "n")
    failure = TurnFailure(Trouble.DOWN, "busy", epoch=past.history.epoch)
    past.add(ProviderChange(1, 1, "busy", "n"), failure).move()
    with pytest.raises(HistoryError, match="a turn of dead epoch 0"):
        past.add(AssistantTurn((), "stop", past.history.seq, "m", epoch=0))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (ProviderChange(0, 1, ""), "provider 0 is asked already"),
        (ProviderChange(2, 1, ""), "the chain has no provider 2"),
        (ProviderChange(1, 0, ""), "epoch 1 is due"),
    ],
)
def test_a_change_that_cannot_be_is_refused(change, why):
    past = Past()
    past.history.models = ("m", "n")
    with pytest.raises(HistoryError, match=why):
        past.add(change)


def test_a_chain_that_was_tried_to_its_end_is_not_tried_again():
    past = Past()
    past.history.models = ("m", "n")
    past.add(ProviderChange(1, 1, ""), TurnFailure(Trouble.DOWN, "busy")).move()
    with pytest.raises(HistoryError, match="every provider of the chain was tried"):
        past.add(ProviderChange(0, 2, ""))


def test_the_audit_sees_a_chain_that_was_not_followed():
    async def tale():
        bench = Bench(provider=chain([DOWN], [says("hi")]))
        await bench.run()
        return await bench.journal.read("s")

    entries = story(tale())
    place = next(i for i, entry in enumerate(entries) if isinstance(entry.record, ProviderChange))
    forged = [*entries]
    forged[place] = attrs.evolve(entries[place], record=attrs.evolve(entries[place].record, model="z"))
    assert "the next one was b" in audit(GRAPH, forged, "s")[0]


# --- over the wire ----------------------------------------------------------------------------------------------


def named(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more)}\n\n".encode()


def claude_calls():
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    yield named("message_start", message={"id": "m", "model": "claude", "usage": {"input_tokens": 5}})
    yield named("content_block_start", index=0, content_block=thinking)
    yield named("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "secret thought"})
    yield named("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "c2ln"})
    yield named("content_block_stop", index=0)
    use = {"type": "tool_use", "id": "toolu_9", "name": "look", "input": {}}
    yield named("content_block_start", index=1, content_block=use)
    yield named("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": '{"key":"b"}'})
    yield named("content_block_stop", index=1)
    yield named("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 7})
    yield named("message_stop")


def gpt_says(text):
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    item["content"] = [{"type": "output_text", "text": text, "annotations": []}]
    yield event({"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}})
    yield event({"type": "response.output_item.done", "output_index": 0, "item": item})
    whole = {"id": "r", "model": "gpt", "status": "completed", "output": [item], "usage": {"input_tokens": 3}}
    yield event({"type": "response.completed", "response": whole})


@tool(read_only=True)
def look(key: str) -> str:
    """Look something up."""
    return f"value of {key}"


def test_a_conversation_moves_from_chat_to_anthropic_to_responses():
    """Each server goes down after it answered; what it said is translated for the next one, and every pair is whole."""

    def chat(body, number):
        return calls_turn([("look", {"key": "a"})], "I look.", ids=["call 1"]) if number == 0 else error(503, "busy")

    def claude(body, number):
        return Response(list(claude_calls())) if number == 0 else error(529, "overloaded")

    options = {"patience": 0.0}
    with (
        ChatServer(chat) as one,
        ChatServer(claude, strict=False) as two,
        ChatServer(lambda *_: Response(list(gpt_says("done"))), strict=False) as three,
    ):
        loop = Loop(
            provider=[
                OpenAIChat("chat", one.url, "k", **options),
                Anthropic("claude", two.url, "k", thinking=1024, **options),
                OpenAIResponses("gpt", three.url, "k", **options),
            ],
            tools=[look],
            journal=":memory:",
        )
        result = asyncio.run(loop._once(loop.run("go", session="s")))
        entries = asyncio.run(loop.journal.read("s"))
    assert (result.text, result.turns) == ("done", 3)
    assert [entry.record.model for entry in entries if isinstance(entry.record, ProviderChange)] == ["claude", "gpt"]
    assert [chat_complaint(body) for body in one.requests] == [None, None]
    assert [messages_complaint(body) for body in two.requests] == [None, None]
    assert [responses_complaint(body) for body in three.requests] == [None]
    assert b"secret thought" in two.bodies[1]
    assert b"secret thought" not in three.bodies[0]
    assert three.bodies[0].count(b"value of ") == 2
    assert audit(GRAPH, entries, "s") == []


def test_a_server_that_cuts_every_answer_is_left_for_the_next():
    with (
        ChatServer(lambda *_: [chunk({"content": "half"}), CUT]) as one,
        ChatServer(lambda *_: text_turn("whole")) as two,
    ):
        chain = [OpenAIChat("a", one.url, "k"), OpenAIChat("b", two.url, "k")]
        loop = Loop(provider=chain, journal=":memory:")
        result = loop.run_sync("go")
    assert (result.text, len(one.requests), len(two.requests)) == ("whole", 2, 1)
    assert b"half" not in two.bodies[0]


def test_every_secret_of_the_chain_is_kept_out_and_an_empty_chain_is_refused():
    first, second = OpenAIChat("a", "http://127.0.0.1:9", "sk-first-secret"), Anthropic("b", None, "sk-ant-second")
    loop = Loop(provider=[first, second], journal=":memory:")
    assert Redactor(loop._secrets).text("sk-first-secret sk-ant-second").count("secret") == 0
    with pytest.raises(ConfigError, match="asks nobody"):
        Loop(provider=[], journal=":memory:")
