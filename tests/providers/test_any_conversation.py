"""Any conversation that the machine can reach, whoever took part in it, is a request that every provider accepts."""

import json

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from support.conversations import conversations, tools
from support.validators import (
    CHAT_ID,
    MISTRAL_ID,
    chat_complaint,
    messages_complaint,
    responses_complaint,
)

from fsm.providers.anthropic_encode import MARKER, MessagesEncoder
from fsm.providers.call_ids import ANTHROPIC, MISTRAL, CallIds
from fsm.providers.encoder import NUDGE
from fsm.providers.manners import manners_of
from fsm.providers.openai_encode import ChatEncoder
from fsm.providers.responses_encode import ResponsesEncoder
from states.messages import AssistantMessage, Foreign, Text, ToolMessage, UserMessage, calls_of
from states.ports import Request

CHAT = {"model": "m", "stream": True}
MESSAGES = CHAT | {"max_tokens": 8192}
RESPONSES = CHAT | {"store": False}

HOSTS = {
    "api.openai.com": {"ids": CHAT_ID, "reasoning": "forbid"},
    "api.groq.com": {"ids": CHAT_ID, "reasoning": "forbid"},
    "api.deepseek.com": {"ids": CHAT_ID, "reasoning": "require"},
    "api.z.ai": {"ids": CHAT_ID, "reasoning": "allow"},
    "api.mistral.ai": {"ids": MISTRAL_ID, "reasoning": "forbid"},
    "generativelanguage.googleapis.com": {"ids": CHAT_ID, "reasoning": "forbid"},
}

anthropics = st.tuples(st.booleans(), st.sampled_from(["anthropic", "anthropic@other"]))
"""Whether the model is asked to think, and whose opaque parts the server reads."""
systems = st.sampled_from(["", "be brief"])


def requests(conversation, specs, system, force):
    """The requests that were made on the way."""
    messages, stops = conversation
    require = specs[0].name if specs and force else None
    return [Request(system, messages[:stop], specs, require) for stop in stops if stop]


def paired(messages, sent_calls, sent_results):
    """Each call and its result carry one id, and different calls different ones."""
    ours = [
        call.id for message in messages if isinstance(message, AssistantMessage) for call in calls_of(message.blocks)
    ]
    answers = [message.call_id for message in messages if isinstance(message, ToolMessage)]
    assert len(sent_calls) == len(set(sent_calls)) == len(ours)
    assert dict(zip(ours, sent_calls, strict=True)) | dict(zip(answers, sent_results, strict=True)) == dict(
        zip(ours, sent_calls, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(conversations(), tools, systems, st.booleans(), st.sampled_from(sorted(HOSTS)))
def test_chat_completions(conversation, specs, system, force, host):
    encoder = ChatEncoder(CHAT, manners_of(host))
    for request in requests(conversation, specs, system, force):
        body = json.loads(encoder.body(request))
        assert chat_complaint(body, **HOSTS[host]) is None
        called = [call["id"] for message in body["messages"] for call in message.get("tool_calls", [])]
        answered = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
        paired(request.messages, called, answered)


@settings(max_examples=100, deadline=None)
@given(conversations(), tools, systems, st.booleans(), anthropics)
def test_anthropics_messages(conversation, specs, system, force, server):
    thinks, origin = server
    thinking = {"type": "enabled", "budget_tokens": 2048} if thinks else None
    encoder = MessagesEncoder(MESSAGES, origin, thinking=thinking)
    for request in requests(conversation, specs, system, force):
        body = json.loads(encoder.body(request))
        assert messages_complaint(body) is None
        blocks = [block for message in body["messages"] for block in message["content"]]
        called = [block["id"] for block in blocks if block["type"] == "tool_use"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        paired(request.messages, called, answered)


@settings(max_examples=50, deadline=None)
@given(conversations(), tools, systems, st.booleans())
def test_openais_responses(conversation, specs, system, force):
    encoder = ResponsesEncoder(RESPONSES)
    for request in requests(conversation, specs, system, force):
        body = json.loads(encoder.body(request))
        assert responses_complaint(body) is None
        called = [item["call_id"] for item in body["input"] if item.get("type") == "function_call"]
        answered = [item["call_id"] for item in body["input"] if item.get("type") == "function_call_output"]
        paired(request.messages, called, answered)


ENCODERS = {
    "chat": lambda: ChatEncoder(CHAT),
    "messages": lambda: MessagesEncoder(MESSAGES),
    "responses": lambda: ResponsesEncoder(RESPONSES),
}


@settings(max_examples=40, deadline=None)
@given(conversations(), tools, systems, st.sampled_from(sorted(ENCODERS)))
def test_the_cache_gives_what_a_fresh_encoder_gives(conversation, specs, system, kind):
    encoder = ENCODERS[kind]()
    grown = requests(conversation, specs, system, force=False)
    compacted = attrs.evolve(grown[-1], messages=grown[-1].messages[1:])
    for request in [*grown, compacted, *grown[:1], *grown]:
        assert encoder.body(request) == ENCODERS[kind]().body(request)


@settings(max_examples=50, deadline=None)
@given(conversations(), tools, systems, st.sampled_from(sorted(ENCODERS)))
def test_each_request_begins_with_the_one_before_byte_for_byte(conversation, specs, system, kind):
    """Anthropic's markers move along with the end; they are no part of what it caches."""
    encoder = ENCODERS[kind]()
    before = b""
    for request in requests(conversation, specs, system, force=False):
        body = encoder.body(request).replace(MARKER, b"")
        assert body.startswith(before)
        if isinstance(request.messages[-1], AssistantMessage):
            continue  # a paused turn grows, or is followed by words that stand for nobody
        end = body.rindex(b"]}]" if kind == "messages" else b"}]")
        before = body[:end]


def test_ids_that_would_meet_are_kept_apart():
    for form in (MISTRAL, ANTHROPIC):
        first = CallIds(form)
        taken = first("not acceptable")
        for order in ([taken, "not acceptable"], ["not acceptable", taken]):
            ids = CallIds(form)
            sent = [ids(call_id) for call_id in order]
            assert len({*sent}) == 2
            assert [ids(call_id) for call_id in order] == sent
            assert all(form.accepted.fullmatch(call_id) for call_id in sent)


def test_a_turn_that_another_provider_paused_is_followed_by_a_word_from_the_user():
    use = Foreign("elsewhere", '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}')
    paused = Request("", [UserMessage("a"), AssistantMessage((Text("I look"), use))])
    for kind, make in ENCODERS.items():
        body = json.loads(make().body(paused))
        last = (body.get("messages") or body["input"])[-1]
        assert last["role"] == "user", kind
        assert NUDGE in json.dumps(last), kind
