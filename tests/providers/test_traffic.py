"""What sessions of one server share: the circuit, the places, the rate limits; and the silences that are borne."""

import asyncio
import random

import httpx
import pytest
from support.chat_server import HANG, ChatServer, Response, chunk, error, text_turn

from fsm.providers import OpenAIChat, Traffic
from fsm.providers.rate_limits import learn
from fsm.providers.traffic import COOLDOWN, FAILURES, HELD
from states.messages import UserMessage, text_of
from states.ports import ProviderTrouble, Reply, Request, RetryNotice
from states.records import Trouble

# --- the circuit ------------------------------------------------------------------------------------------------


def test_the_circuit_opens_after_failures_in_a_row_and_lets_one_probe_through():
    traffic = Traffic()
    for _ in range(FAILURES):
        assert traffic.admit(0.0, 100) is None
        traffic.failed(0.0)
    hold = traffic.admit(1.0, 100)
    assert (hold.seconds, hold.why) == (COOLDOWN - 1.0, "the server is failing")
    assert traffic.admit(COOLDOWN, 100) is None, "the probe"
    assert traffic.admit(COOLDOWN, 100).seconds == COOLDOWN, "the others wait for it"
    traffic.answered(COOLDOWN + 1, {})
    assert traffic.admit(COOLDOWN + 1, 100) is None
    assert traffic.admit(COOLDOWN + 1, 100) is None


def test_an_answer_in_between_keeps_the_circuit_closed():
    traffic = Traffic()
    for _ in range(3 * FAILURES):
        traffic.failed(0.0)
        traffic.answered(0.0, {})
    assert traffic.admit(0.0, 100) is None


def test_what_the_server_asked_of_one_session_holds_for_all_but_not_for_ever():
    traffic = Traffic()
    traffic.asked_to_wait(0.0, 7.0)
    assert traffic.admit(1.0, 100).seconds == 6.0
    traffic.asked_to_wait(0.0, 10_000.0)
    assert traffic.admit(0.0, 100).seconds == HELD


def test_many_sessions_of_a_dead_server_ask_it_no_oftener_than_one(naps):
    """Sessions share time: a nap of one is a nap of all."""

    async def all_at_once(server):
        elapsed = asyncio.get_running_loop().time
        traffic = Traffic()

        async def sleep(seconds):
            naps.append(seconds)
            await asyncio.sleep(seconds / 20)

        async def one(number):
            provider = OpenAIChat(
                "m",
                server.url,
                "k",
                patience=20.0,
                traffic=traffic,
                rng=random.Random(number),
                sleep=sleep,
                clock=lambda: 20 * elapsed(),
            )
            with pytest.raises(ProviderTrouble) as caught:
                async for _ in provider.stream(Request("", [UserMessage("hi")], session=str(number))):
                    pass
            await provider.close()
            return caught.value.trouble

        assert set(await asyncio.gather(*map(one, range(20)))) == {Trouble.DOWN}

    with ChatServer(lambda *_: error(503, "busy")) as server:
        asyncio.run(all_at_once(server))
        assert 20 <= len(server.requests) <= 20 + 20 / COOLDOWN + 1


# --- places -----------------------------------------------------------------------------------------------------


def test_no_more_requests_are_under_way_than_allowed(chat):
    under_way, most = set(), []

    def answer(body, number):
        under_way.add(number)
        most.append(len(under_way))
        return [0.01, *text_turn("hi")]

    async def all_at_once(server):
        provider = chat(server.url, concurrency=3)

        async def one(name):
            async for item in provider.stream(Request("", [UserMessage("hi")], session=str(name))):
                if isinstance(item, Reply):
                    under_way.pop()

        await asyncio.gather(*map(one, range(20)))
        await provider.close()

    with ChatServer(answer) as server:
        asyncio.run(all_at_once(server))
    assert max(most) <= 3
    assert len(most) == 20


def test_a_place_is_given_back_by_whoever_leaves(chat):
    async def leave_and_ask(server):
        provider = chat(server.url, concurrency=1)
        stream = provider.stream(Request("", [UserMessage("hi")], session="a"))
        await anext(stream)
        await stream.aclose()
        async with asyncio.timeout(5):
            items = [item async for item in provider.stream(Request("", [UserMessage("hi")], session="b"))]
        await provider.close()
        return items[-1]

    with ChatServer(lambda _, n: text_turn("hi") if n else [chunk({"content": "half"}), HANG]) as server:
        assert text_of(asyncio.run(leave_and_ask(server)).blocks) == "hi"


# --- rate limits ------------------------------------------------------------------------------------------------

OPENAI = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "1m0s",
}
ANTHROPIC = {
    "date": "Mon, 30 Nov 2026 12:00:00 GMT",
    "anthropic-ratelimit-requests-limit": "60",
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-11-30T12:01:00Z",
}


@pytest.mark.parametrize("headers", [OPENAI, ANTHROPIC])
def test_a_bucket_is_learnt_and_refills(headers):
    bucket = learn(headers, 100.0)["requests"]
    assert bucket.wait(1, 100.0) == pytest.approx(1.0)
    assert bucket.wait(1, 101.0) == 0
    bucket.take(1, 101.0)
    assert bucket.wait(1, 101.5) == pytest.approx(0.5)
    assert bucket.wait(10_000, 101.0) == pytest.approx(60.0), "never more than a full bucket"


@pytest.mark.parametrize(
    "change",
    [
        {"x-ratelimit-reset-requests": "soon"},
        {"x-ratelimit-limit-requests": "many"},
        {"x-ratelimit-remaining-requests": ""},
        {"x-ratelimit-remaining-requests": "-1"},
        {"x-ratelimit-limit-requests": "nan"},
    ],
)
def test_a_limit_that_cannot_be_read_in_full_is_none(change):
    assert learn(OPENAI | change, 0.0) == {}


def test_a_used_up_limit_is_waited_for_before_asking(chat, ask, naps):
    headers = {"content-type": "text/event-stream"} | OPENAI
    with ChatServer(lambda *_: Response(text_turn("hi"), headers=headers)) as server:
        asked = Request("", [UserMessage("hi")], session="s")
        _, _, notice, *_ = ask(chat(server.url), asked, asked)
        assert len(server.requests) == 2
    assert isinstance(notice, RetryNotice)
    assert notice.message == "127.0.0.1: its rate limit is used up"
    assert 1.0 <= naps[0] <= 1.5


def test_a_limit_is_an_estimate_and_never_the_reason_to_give_up(chat, ask, naps):
    headers = {"content-type": "text/event-stream"} | OPENAI | {"x-ratelimit-reset-requests": "20h"}
    with ChatServer(lambda *_: Response(text_turn("hi"), headers=headers)) as server:
        asked = Request("", [UserMessage("hi")], session="s")
        ask(chat(server.url), asked, asked)
        assert len(server.requests) == 2
    assert naps == []


# --- silences ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "limit", "kind"),
    [
        ([HANG], "first_token", Trouble.DOWN),
        ([chunk({"content": "half"}), HANG], "inactivity", Trouble.CUT),
    ],
)
def test_each_silence_has_its_own_limit(chat, trouble, pieces, limit, kind):
    with ChatServer(lambda *_: pieces) as server:
        caught = trouble(chat(server.url, patience=0, **{limit: 0.05}))
    assert (caught.trouble, caught.message.partition(" (")[0]) == (kind, "127.0.0.1: not a byte for 0.05 s")


def test_headers_that_never_come_are_not_waited_for(chat, trouble):
    with ChatServer(lambda *_: Response([HANG], raw=True)) as server:
        caught = trouble(chat(server.url, patience=0, headers_within=0.05, connect=0.05))
    assert "no answer within 0.05 s" in caught.message


def test_a_model_may_think_longer_than_it_may_pause(chat, ask):
    with ChatServer([[0.2, *text_turn("hi")]]) as server:
        assert text_of(ask(chat(server.url, inactivity=0.1))[-1].blocks) == "hi"


def test_an_end_that_was_told_needs_no_done(chat, ask):
    with ChatServer([[chunk({"content": "hi"}), chunk({}, "stop"), b": ping\n\n", HANG]]) as server:
        assert text_of(ask(chat(server.url, grace=0.05))[-1].blocks) == "hi"
        assert server.hung_up.wait(5)


def test_attempts_use_the_patience_up_as_waits_do(trouble):
    now = [0.0]

    async def sleep(seconds):
        now[0] += seconds

    def slow(_, n):
        now[0] += 20.0
        return error(503, "busy")

    with ChatServer(slow) as server:
        caught = trouble(OpenAIChat("m", server.url, "k", patience=30.0, sleep=sleep, clock=lambda: now[0]))
        assert len(server.requests) == 2
    assert caught.trouble is Trouble.DOWN


# --- the server's own word on asking again ----------------------------------------------------------------------


def test_should_retry_false_ends_the_turn_and_true_goes_on(chat, ask, trouble, naps):
    with ChatServer(lambda *_: error(500, "no", headers={"x-should-retry": "false"})) as server:
        assert trouble(chat(server.url)).trouble is Trouble.DOWN
        assert len(server.requests) == 1
    yes = error(404, "wait a bit", headers={"x-should-retry": "true"})
    with ChatServer(lambda _, n: text_turn("hi") if n else yes) as server:
        assert text_of(ask(chat(server.url))[-1].blocks) == "hi"


def test_money_is_not_waited_for_whatever_the_server_says(chat, trouble):
    broke = error(429, "no", code="insufficient_quota", headers={"x-should-retry": "true"})
    with ChatServer(lambda *_: broke) as server:
        assert trouble(chat(server.url)).trouble is Trouble.REFUSED


OVERFLOWS = {
    "Azure": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "Anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
    "Anthropic, with the answer": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "Bedrock": "Input is too long for requested model.",
    "Gemini": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "Groq": "Please reduce the length of the messages or completion.",
    "Mistral": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "llama.cpp": "the request exceeds the available context size. try increasing it",
    "DashScope": "Range of input length should be [1, 30720]",
    "Z.ai": "Prompt exceeds max length",
    "Moonshot": "Invalid request: Your request exceeded model token limit: 8192",
    "MiniMax": "invalid params, context window exceeds limit",
    "Copilot": "prompt token count of 131000 exceeds the limit of 128000",
    "LM Studio": "The number of tokens to keep from the initial prompt is greater than the context length",
    "Together": "`inputs` tokens + `max_new_tokens` must be <= 4097",
}


@pytest.mark.parametrize("words", OVERFLOWS.values(), ids=OVERFLOWS)
def test_an_overflow_is_told_by_each_providers_words(words):
    from fsm.providers.faults import of_response

    body = httpx.Response(400, json={"error": {"message": words, "type": "invalid_request_error"}}).content
    assert of_response(400, body).trouble is Trouble.OVERFLOW
    assert of_response(401, body).trouble is Trouble.REFUSED
