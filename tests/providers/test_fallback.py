"""A chain of providers: the next one is asked where one is down, never once something was seen."""

import asyncio

import pytest
from support.chat_server import CUT, ChatServer, chunk, error, text_turn
from support.validators import chat_complaint

from fsm.providers import Anthropic, Fallback, OpenAIChat, Scripted
from fsm.providers.scripted import says
from states.errors import ConfigError
from states.messages import AssistantMessage, Call, Reasoning, ToolMessage, UserMessage, text_of
from states.ports import ProviderTrouble, Request, RetryNotice, TextDelta
from states.records import Trouble

DOWN = ProviderTrouble(Trouble.DOWN, "a: HTTP 503: busy", 503)


def test_the_next_one_answers_where_one_is_down(ask):
    second = Scripted([says("hi")], "b")
    items = ask(Fallback([Scripted([DOWN], "a"), second]))
    assert items[0] == RetryNotice(2, 0.0, "a: HTTP 503: busy; b is asked instead")
    assert items[1:] == [TextDelta("hi"), says("hi")]
    assert len(second.requests) == 1


@pytest.mark.parametrize("kind", [Trouble.CUT, Trouble.REFUSED, Trouble.OVERFLOW])
def test_any_other_trouble_is_final(trouble, kind):
    second = Scripted([says("hi")])
    caught = trouble(Fallback([Scripted([ProviderTrouble(kind, "no")]), second]))
    assert (caught.trouble, second.requests) == (kind, [])


def test_the_last_ones_trouble_is_the_chains(trouble):
    last = ProviderTrouble(Trouble.DOWN, "b: no connection")
    assert trouble(Fallback([Scripted([DOWN]), Scripted([last])])) is last


def test_one_that_was_down_is_passed_over_until_it_has_rested(ask):
    now = [0.0]
    first, second = Scripted([DOWN, says("a")], "a"), Scripted([says("b")] * 2, "b")
    chain = Fallback([first, second], rest=100.0, clock=lambda: now[0])
    answers = [text_of(ask(chain)[-1].blocks)]
    now[0] = 99.0
    answers.append(text_of(ask(chain)[-1].blocks))
    now[0] = 101.0
    answers.append(text_of(ask(chain)[-1].blocks))
    assert answers == ["b", "b", "a"]


def test_an_answer_that_broke_off_is_not_asked_for_elsewhere(chat, trouble):
    with ChatServer(lambda *_: [chunk({"content": "half"}), CUT]) as one, ChatServer(lambda *_: text_turn("x")) as two:
        assert trouble(Fallback([chat(one.url), chat(two.url)])).trouble is Trouble.CUT
        assert two.requests == []


def test_a_conversation_moves_to_another_protocol(ask):
    """The first provider's signed thinking and ids mean nothing to the second; the pairs stay paired."""
    thought = Reasoning("hm", "anthropic@127.0.0.1", '{"type":"thinking","thinking":"hm","signature":"c2ln"}')
    turn = AssistantMessage((thought, Call("call 1", "f", "{}", "toolu_1")))
    asked = Request("", [UserMessage("a"), turn, ToolMessage("call 1", "f", "ok")])
    with (
        ChatServer(lambda *_: error(529, "Overloaded"), strict=False) as one,
        ChatServer(lambda *_: text_turn("x")) as two,
    ):
        chain = Fallback([Anthropic("m", one.url, "k", patience=0), OpenAIChat("m", two.url, "k")])
        assert text_of(ask(chain, asked)[-1].blocks) == "x"
        (theirs,), (body,) = one.requests, two.requests
    assert theirs["messages"][1]["content"][0]["signature"] == "c2ln"
    assert chat_complaint(body) is None
    assert b"hm" not in two.bodies[0]
    call, result = body["messages"][1]["tool_calls"][0], body["messages"][2]
    assert call["id"] == result["tool_call_id"] != "call 1"


def test_secrets_and_the_name():
    chain = Fallback([OpenAIChat("a", "http://127.0.0.1:9", "sk-first-secret"), Anthropic("b", None, "sk-ant-second")])
    assert (chain.model, list(chain.secrets)) == ("a", ["sk-first-secret", "sk-ant-second"])
    asyncio.run(chain.close())
    with pytest.raises(ConfigError, match="at least one"):
        Fallback([])
