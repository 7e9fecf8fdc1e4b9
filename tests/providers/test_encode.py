"""Messages to the wire."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import text

from fsm.providers.manners import Manners, ReasoningBack
from fsm.providers.openai_encode import ChatEncoder
from states.messages import AssistantMessage, Call, Reasoning, Text, ToolMessage, UserMessage
from states.ports import Request, ToolSpec

OPTIONS = {"model": "m", "stream": True}


def encode(*messages, **manners):
    body = ChatEncoder(OPTIONS, Manners(**manners)).body(Request("", [*messages, UserMessage("?")]))
    return json.loads(body)["messages"][:-1]


def test_an_assistant_with_calls_and_no_text_has_null_content():
    (message,) = encode(AssistantMessage((Call("call_1_0", "f", '{"x":1}', "theirs"),)))
    call = {"id": "call_1_0", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    assert message == {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize("blocks", [(), (Text(""),), (Reasoning("hm", "openai-chat"),)])
def test_a_turn_without_words_and_calls_is_never_empty_on_the_wire(blocks):
    assert encode(AssistantMessage(blocks)) == [{"role": "assistant", "content": "(no text)"}]


def test_an_empty_tool_output_becomes_visible():
    assert encode(ToolMessage("c", "f", "")) == [{"role": "tool", "tool_call_id": "c", "content": "(no output)"}]


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"x": 1}', '{"x": 1}'),
        ("", "{}"),
        (" ", "{}"),
        ('{"x": ', '{"unreadable_arguments":"{\\"x\\": "}'),
        ("null", '{"unreadable_arguments":"null"}'),
        ("[1]", '{"unreadable_arguments":"[1]"}'),
        ("\ud800", '{"unreadable_arguments":"\\\\ud800"}'),
    ],
)
def test_arguments_that_no_server_could_parse_are_shown_as_what_they_were(arguments, sent):
    (message,) = encode(AssistantMessage((Call("c", "f", arguments),)))
    assert message["tool_calls"][0]["function"]["arguments"] == sent


def test_reasoning_goes_back_only_where_it_is_wanted_and_came_from():
    turn = AssistantMessage((Reasoning("ours", "openai-chat"), Reasoning("theirs", "anthropic"), Text("x")))
    assert encode(turn) == [{"role": "assistant", "content": "x"}]
    assert encode(turn, reasoning=ReasoningBack.ALLOW) == [
        {"role": "assistant", "content": "x", "reasoning_content": "ours"}
    ]


def test_text_that_json_cannot_hold_is_escaped_visibly():
    assert encode(UserMessage("a\ud800b")) == [{"role": "user", "content": "a\\ud800b"}]


blocks = st.builds(Text, text) | st.builds(Reasoning, text, st.just("openai-chat")) | st.builds(Call, text, text, text)
messages = st.lists(
    st.builds(UserMessage, text)
    | st.builds(ToolMessage, text, text, text)
    | st.builds(AssistantMessage, st.lists(blocks, max_size=3).map(tuple))
)
tools = st.lists(st.builds(ToolSpec, text, text, st.just({"type": "object"})), max_size=2)
# what happens to a conversation between two requests: it grows, or its beginning is replaced
steps = st.lists(st.tuples(messages, st.integers(0, 5) | st.none(), st.none() | tools, st.none() | text), max_size=6)


@given(steps)
def test_the_cache_gives_what_a_fresh_encoding_gives(changes):
    encoder = ChatEncoder(OPTIONS)
    conversation, specs, system = [], [], ""
    for new, keep, changed_tools, changed_system in changes:
        kept = conversation if keep is None else conversation[-keep:]
        conversation = [*kept, *new]
        specs = specs if changed_tools is None else changed_tools
        system = system if changed_system is None else changed_system
        require = specs[0].name if specs and keep else None
        request = Request(system, conversation, specs, require)
        body = encoder.body(request)
        assert body == ChatEncoder(OPTIONS).body(request)
        nudged = bool(conversation) and isinstance(conversation[-1], AssistantMessage)
        assert len(json.loads(body)["messages"]) == len(conversation) + bool(system) + nudged


def test_a_turn_encodes_only_what_is_new(monkeypatch):
    encoded = []
    plain = ChatEncoder._message

    def count(self, message):
        encoded.append(message)
        return plain(self, message)

    monkeypatch.setattr(ChatEncoder, "_message", count)
    encoder = ChatEncoder(OPTIONS)
    conversation = []
    for number in range(50):
        conversation.append(UserMessage(str(number)))
        encoder.body(Request("", conversation))
    assert encoded == conversation
