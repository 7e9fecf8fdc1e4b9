"""Every recorded stream, through the real HTTP client, in pieces of every size, gives what the official SDK gives."""

import asyncio
import json

import pytest
from support.chat_server import ChatServer, Response
from support.recorded import CASES, FOLDER, HERE, PROVIDERS, Case, given, wanted

from states.messages import Finish, UserMessage, calls_of, text_of
from states.ports import CallReady, ProviderTrouble, ReasoningDelta, Reply, Request, TextDelta
from states.records import Trouble

DEVIATIONS = json.loads((HERE / "deviations.json").read_text())
"""By case and field: what we give instead, and why."""
SMALL = {1: 2_500, 7: 20_000}
"""Bytes up to which a body is served in pieces of that size, so that the suite stays quick."""
ELSEWHERE = FOLDER != HERE / "streams"


@pytest.fixture(scope="module")
def server():
    """Serves the case, cut the way, that the request's model names."""

    def answer(body, _):
        name, way = body["model"].split("|")
        case = next(case for case in CASES if case.name == name)
        return Response(case.cut(int(way) if way.isdigit() else way), case.status, {"content-type": case.content_type})

    with ChatServer(answer, strict=False) as running:
        yield running


def outcome(server, case, way):
    """The reply or the trouble, and the words that were shown."""
    address = server.url.removesuffix("/v1") if case.protocol == "anthropic-messages" else server.url
    provider = PROVIDERS[case.protocol](f"{case.name}|{way}", address, "k", patience=0)

    async def listen():
        shown, ready = {TextDelta: "", ReasoningDelta: ""}, []
        try:
            async for item in provider.stream(Request("", [UserMessage("hi")])):
                if isinstance(item, Reply):
                    assert ready == list(enumerate(calls_of(item.blocks)))[: len(ready)], "announced and then changed"
                    return item, shown
                if isinstance(item, CallReady):
                    ready.append((item.order, item.call))
                else:
                    shown[type(item)] += item.text
        except ProviderTrouble as trouble:
            return trouble, shown
        finally:
            await provider.close()

    return asyncio.run(listen())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recorded_stream_gives_the_expected_message(server, case):
    whole, shown = outcome(server, case, "whole")
    check(case, whole, shown)
    for way in (1, 7, "random"):
        if ELSEWHERE or len(case.body) <= SMALL.get(way, 10**6):
            other, _ = outcome(server, case, way)
            assert said(other) == said(whole), f"in pieces: {way}"


def said(item):
    return (item.trouble, item.message, item.status) if isinstance(item, ProviderTrouble) else item


def check(case, item, shown):
    expected = case.expected["outcome"]
    if expected in ("ok", "incomplete"):
        assert isinstance(item, Reply), f"{item}"
        instead = {field: change["ours"] for field, change in DEVIATIONS.get(case.name, {}).items()}
        assert given(case, item) == wanted(case) | instead
        assert shown[TextDelta] == given(case, item)["text"]
        assert shown[ReasoningDelta] == given(case, item)["reasoning"]
    else:
        assert isinstance(item, ProviderTrouble), f"{item}"
        assert item.trouble is (Trouble.CUT if any(shown.values()) else item.trouble)
        error = case.expected.get("error_body") or case.expected["stream_errors"][-1]
        assert words_of(error) in item.message
        if expected == "http_error":
            assert (item.trouble, item.status) == (Trouble.REFUSED, case.status)


def words_of(error):
    """The message in an error of any shape."""
    inner = error.get("error", error)
    return inner if isinstance(inner, str) else inner["message"].strip()[:200]


def test_every_deviation_is_explained_and_still_needed():
    if ELSEWHERE:
        pytest.skip("the deviations belong to the recordings of this repository")
    by_name = {case.name: case for case in CASES}
    for name, fields in DEVIATIONS.items():
        for field, change in fields.items():
            assert change["why"]
            assert wanted(by_name[name])[field] != change["ours"], f"{name}: {field} deviates no more"


LOCAL = {
    "llamacpp-messages-text": ("anthropic-messages", Finish.STOP, None),
    "llamacpp-messages-tool": ("anthropic-messages", Finish.CALLS, ("read_file", {"path": "notes.txt"})),
    "llamacpp-responses-tool": ("openai-responses", Finish.CALLS, ("read_file", {"path": "notes.txt"})),
    "llamacpp-chat-cut-call": ("openai-chat", Finish.LENGTH, None),
    "llamacpp-chat-duplicate-keys": ("openai-chat", Finish.CALLS, None),
    "llmock-messages-tool": ("anthropic-messages", Finish.CALLS, None),
    "llmock-chat-tool": ("openai-chat", Finish.CALLS, None),
}
"""Recorded from llama.cpp's server and from llmock: protocol, finish, and the call where it is worth naming."""


@pytest.mark.parametrize("name", LOCAL)
def test_a_stream_of_a_local_server(name):
    protocol, finish, called = LOCAL[name]
    body = (HERE / "streams" / "local" / f"{name}.sse").read_bytes()
    case = Case(name, protocol, 200, "text/event-stream", body, {})
    with ChatServer(lambda *_: Response(case.cut(7)), strict=False) as running:
        reply, shown = outcome(running, case, "7")
    assert (reply.finish, shown[TextDelta]) == (finish, text_of(reply.blocks))
    assert reply.usage.output > 0
    if called:
        (call,) = calls_of(reply.blocks)
        assert (call.name, json.loads(call.arguments)) == called
