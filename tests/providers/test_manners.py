"""What single chat servers want otherwise: reasoning that goes back or must not, signatures, forms of ids."""

import json

import pytest
from support.chat_server import DONE, ChatServer, chunk, text_turn

from fsm.providers import OpenAIChat
from fsm.providers.manners import GOOGLE, ReasoningBack, manners_of
from fsm.providers.openai_encode import ChatEncoder
from states.errors import InterlockError
from states.messages import AssistantMessage, Call, Image, Reasoning, Text, ToolMessage, UserMessage, calls_of
from states.ports import Request

HI = UserMessage("hi")


def sent(host, *messages, origin="openai-chat"):
    body = ChatEncoder({"model": "m"}, manners_of(host), origin).body(Request("", [*messages, UserMessage("?")]))
    return json.loads(body)["messages"]


CALLED = AssistantMessage((Reasoning("own", "openai-chat"), Call("c", "f", "{}")))
FOREIGN = AssistantMessage((Reasoning("foreign", "anthropic", "{}"), Call("c", "f", "{}")))
RESULT = ToolMessage("c", "f", "ok")


@pytest.mark.parametrize(
    ("host", "own", "foreign"),
    [
        ("api.deepseek.com", "own", ""),
        ("api.moonshot.ai", "own", ""),
        ("api.z.ai", "own", None),
        ("api.groq.com", None, None),
        ("api.openai.com", None, None),
        ("notdeepseek.com", None, None),
    ],
)
def test_reasoning_goes_back_as_each_server_wants_it(host, own, foreign):
    assert sent(host, HI, CALLED, RESULT)[1].get("reasoning_content") == own
    assert sent(host, HI, FOREIGN, RESULT)[1].get("reasoning_content") == foreign


def test_the_policy_can_be_said(ask):
    with ChatServer(lambda *_: text_turn("hi")) as server:
        for policy in ReasoningBack:
            turn = AssistantMessage((Reasoning("own", "openai-chat@127.0.0.1"), Call("c", "f", "{}")))
            ask(OpenAIChat("m", server.url, "k", reasoning=policy.value), Request("", [HI, turn, RESULT]))
        found = [body["messages"][1].get("reasoning_content") for body in server.requests]
    assert found == ["own", "own", None]
    with pytest.raises((ValueError, InterlockError), match="sometimes"):
        OpenAIChat("m", "http://127.0.0.1:9", "k", reasoning="sometimes")


def test_openrouters_reasoning_details_are_joined_and_go_back_whole(chat, ask):
    def piece(**more):
        return chunk({"reasoning": more.get("text"), "reasoning_details": [{"index": 0, "format": "x"} | more]})

    pieces = [
        piece(type="reasoning.text", text="let me ", signature=None),
        piece(type="reasoning.text", text="see", signature="c2ln"),
        piece(type="reasoning.encrypted", data="AAAA", id="tool_1", index=1),
        piece(type="reasoning.encrypted", data="BBBB", id="tool_2", index=1),
        chunk({"tool_calls": [{"index": 0, "id": "tool_1", "function": {"name": "f", "arguments": "{}"}}]}),
        chunk({}, "tool_calls"),
        DONE,
    ]
    details = [
        {"index": 0, "format": "x", "type": "reasoning.text", "text": "let me see", "signature": "c2ln"},
        {"index": 1, "format": "x", "type": "reasoning.encrypted", "data": "AAAA", "id": "tool_1"},
        {"index": 1, "format": "x", "type": "reasoning.encrypted", "data": "BBBB", "id": "tool_2"},
    ]
    with ChatServer(lambda _, n: text_turn("done") if n else pieces) as server:
        provider = chat(server.url)
        *_, reply = ask(provider, Request("", [HI], session="s"))
        thought, call = reply.blocks
        assert (thought.text, json.loads(thought.opaque)) == ("let me see", details)
        turn = AssistantMessage((thought, Call("c", "f", call.arguments)))
        ask(provider, Request("", [HI, turn, RESULT], session="s"))
        assert server.requests[1]["messages"][1]["reasoning_details"] == details
    elsewhere = sent("api.openai.com", HI, turn, RESULT)
    assert "reasoning_details" not in elsewhere[1]


def test_geminis_signature_goes_back_with_its_call(chat, ask):
    extra = {"google": {"thought_signature": "c2ln"}}
    calls = [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra},
        {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}},
    ]
    pieces = [chunk({"tool_calls": calls}), chunk({"tool_calls": [{"index": 0, "extra_content": None}]}, "stop"), DONE]
    with ChatServer(lambda *_: pieces) as server:
        (reply,) = ask(chat(server.url))
    first, second = calls_of(reply.blocks)
    assert (json.loads(first.opaque), first.origin, second.opaque) == (extra, "openai-chat@127.0.0.1", None)
    turn = AssistantMessage((Call("1", "f", "{}", "a", first.origin, first.opaque), Call("2", "g", "{}")))
    results = [ToolMessage("1", "f", "ok"), ToolMessage("2", "g", "ok")]
    back = sent("api.openai.com", HI, turn, *results, origin=first.origin)[1]["tool_calls"]
    assert [call.get("extra_content") for call in back] == [extra, None]
    assert "extra_content" not in sent("api.openai.com", HI, turn, *results)[1]["tool_calls"][0]


def test_a_foreign_call_gets_the_stand_in_that_gemini_documents():
    turn = AssistantMessage((Call("1", "f", "{}"), Call("2", "g", "{}")))
    results = [ToolMessage("1", "f", "ok"), ToolMessage("2", "g", "ok")]
    back = sent("generativelanguage.googleapis.com", HI, turn, *results)[1]["tool_calls"]
    assert [call.get("extra_content") for call in back] == [json.loads(GOOGLE), None]


def test_mistral_gets_ids_of_nine_letters_and_digits():
    turn = AssistantMessage((Call("call_1_0", "f", "{}"), Call("123456789", "g", "{}")))
    results = [ToolMessage("call_1_0", "f", "ok"), ToolMessage("123456789", "g", "ok")]
    _, answer, one, two, _ = sent("api.mistral.ai", HI, turn, *results)
    first, second = (call["id"] for call in answer["tool_calls"])
    assert (one["tool_call_id"], two["tool_call_id"]) == (first, second)
    assert second == "123456789"
    assert len(first) == 9
    assert first.isalnum()


def test_pictures_of_results_follow_the_results_as_the_users():
    turn = AssistantMessage((Text("x"), Call("1", "look", "{}"), Call("2", "f", "{}")))
    results = [ToolMessage("1", "look", "", images=(Image("image/png", "aGk="),)), ToolMessage("2", "f", "ok")]
    body = sent("api.openai.com", HI, turn, *results)
    assert [message["role"] for message in body] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert body[4]["content"][1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def test_a_name_that_the_model_made_up_is_made_sendable():
    turn = AssistantMessage((Call("1", "functions.read file", "{}"), Call("2", "", "{}")))
    answer = sent("api.openai.com", HI, turn, ToolMessage("1", "", "x"), ToolMessage("2", "", "x"))[1]
    assert [call["function"]["name"] for call in answer["tool_calls"]] == ["functions_read_file", "unnamed"]
