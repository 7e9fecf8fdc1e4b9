"""Anthropic's Messages over real HTTP on loopback: what is sent, what comes back, what goes back exactly."""

import json

import pytest
from support.chat_server import CUT, HANG, ChatServer, Response
from support.validators import messages_complaint

from fsm.providers import Anthropic
from fsm.providers.answer import Answer
from fsm.providers.anthropic_encode import MARKER, MessagesEncoder
from fsm.providers.anthropic_fold import MessagesFold
from states.errors import ConfigError
from states.messages import (
    AssistantMessage,
    Call,
    Finish,
    Foreign,
    Image,
    Reasoning,
    Text,
    ToolMessage,
    Usage,
    UserMessage,
    text_of,
)
from states.ports import ReasoningDelta, Request, RetryNotice, TextDelta, ToolSpec
from states.records import Trouble

TOOL = ToolSpec("f", "Does f.", {"type": "object", "properties": {}})


def named(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more, ensure_ascii=False)}\n\n".encode()


def started(**usage):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude-x"}
    return named("message_start", message=message | {"stop_reason": None, "usage": usage or {"input_tokens": 3}})


def block(index, start, *deltas):
    begun = named("content_block_start", index=index, content_block=start)
    middle = [named("content_block_delta", index=index, delta=delta) for delta in deltas]
    return [begun, *middle, named("content_block_stop", index=index)]


def ended(reason="end_turn", **usage):
    return [
        named("message_delta", delta={"stop_reason": reason}, usage=usage or {"output_tokens": 5}),
        named("message_stop"),
    ]


def text_block(index, *words):
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": word} for word in words))


def call_block(index, call_id, name, *pieces, **more):
    start = {"type": "tool_use", "id": call_id, "name": name, "input": {}} | more
    return block(index, start, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


SAYS_HI = [started(), *text_block(0, "h", "i"), *ended()]


@pytest.fixture
def claude(naps):
    async def sleep(seconds):
        naps.append(seconds)

    def make(server, **options):
        url = server.url.removesuffix("/v1")
        return Anthropic(
            "claude-x", url, **({"api_key": "sk-ant-secret", "sleep": sleep, "clock": lambda: sum(naps)} | options)
        )

    return make


def serve(*turns):
    """One turn per request."""
    return ChatServer(lambda _, n: turns[n], strict=False)


def read(*pieces, signed=True):
    """The reply to a body, and what was shown."""
    answer = Answer(MessagesFold(signed=signed))
    shown = [delta for piece in pieces for delta in answer.feed(piece)] + list(answer.rest())
    return answer.reply(), shown


def encode(*messages, **options):
    """The messages of a request that ends in a question."""
    cache = options.pop("cache", False)
    encoder = MessagesEncoder({"model": "m", "max_tokens": 8192, "stream": True}, cache=cache, **options)
    return json.loads(encoder.body(Request("", [*messages, UserMessage("?")])))["messages"]


# --- what is sent -----------------------------------------------------------------------------------------------


def test_the_request_is_what_the_protocol_wants(claude, ask):
    with serve(SAYS_HI) as server:
        ask(claude(server), Request("be brief", [UserMessage("hi")], [TOOL], session="s"))
        (body,), (headers,) = server.requests, server.headers
    assert messages_complaint(body) is None
    mark = {"cache_control": {"type": "ephemeral"}}
    assert body == {
        "model": "claude-x",
        "max_tokens": 8192,
        "stream": True,
        "tools": [{"name": "f", "description": "Does f.", "input_schema": {"type": "object", "properties": {}}} | mark],
        "system": [{"type": "text", "text": "be brief"} | mark],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"} | mark]}],
        "tool_choice": {"type": "auto"},
    }
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("sk-ant-secret", "2023-06-01")
    assert "authorization" not in headers


def test_results_come_first_in_one_message_with_what_the_user_said_meanwhile():
    turn = AssistantMessage((Text("on it"), Call("c1", "f", '{"x":1}'), Call("c2", "g", "")))
    results = [ToolMessage("c1", "f", "one"), ToolMessage("c2", "g", "", failed=True)]
    sent = encode(UserMessage("a"), UserMessage("b"), turn, *results, UserMessage("also"))
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [part["text"] for part in sent[0]["content"]] == ["a", "b"]
    assert sent[1]["content"][1:] == [
        {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}},
        {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
    ]
    assert sent[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "(no output)", "is_error": True},
        {"type": "text", "text": "also"},
        {"type": "text", "text": "?"},
    ]


def test_a_picture_is_shown_and_one_that_cannot_be_is_named():
    turn = AssistantMessage((Call("c", "look", "{}"),))
    seen = ToolMessage("c", "look", "", images=(Image("image/png", "aGk="), Image("image/bmp", "aGk=")))
    sent = encode(UserMessage("a"), turn, seen)
    (result, _) = sent[2]["content"]
    assert result["content"] == [
        {"type": "text", "text": "\n(a picture of type 'image/bmp' that cannot be shown)"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]


def test_foreign_reasoning_is_dropped_and_foreign_calls_come_last():
    turn = AssistantMessage(
        (Call("c", "f", "{}"), Reasoning("hm", "openai-chat", "[]"), Text("so"), Foreign("x", "{}"))
    )
    sent = encode(UserMessage("a"), turn, ToolMessage("c", "f", "ok"))
    assert [part["type"] for part in sent[1]["content"]] == ["text", "tool_use"]


def test_the_markers_stand_on_the_stable_prefix_and_move_with_its_end():
    encoder = MessagesEncoder({"model": "m"})
    messages = [UserMessage("0")]
    for number in range(1, 4):
        messages += [AssistantMessage((Text("a"),)), UserMessage(str(number))]
        body = encoder.body(Request("be brief", messages, [TOOL]))
        assert body.count(MARKER) == 4
        marked = [
            part["text"] for m in json.loads(body)["messages"] for part in m["content"] if "cache_control" in part
        ]
        assert marked == [str(number - 1), str(number)]


def test_thinking_is_left_out_where_the_turn_under_way_began_without_it():
    thinking = {"type": "enabled", "budget_tokens": 2048}
    signed = Reasoning("hm", "anthropic", '{"type":"thinking","thinking":"hm","signature":"c2ln"}')
    for blocks, expected in [((Call("c", "f", "{}"),), None), ((signed, Call("c", "f", "{}")), thinking)]:
        encoder = MessagesEncoder({"model": "m"}, thinking=thinking)
        messages = [UserMessage("a"), AssistantMessage(blocks), ToolMessage("c", "f", "ok")]
        assert json.loads(encoder.body(Request("", messages, [TOOL]))).get("thinking") == expected
        settled = [*messages, AssistantMessage((Text("done"),)), UserMessage("next")]
        assert json.loads(encoder.body(Request("", settled, [TOOL])))["thinking"] == thinking


def test_a_forced_tool_waits_where_the_model_thinks():
    asked = Request("", [UserMessage("a")], [TOOL], require_tool="f")
    plain = json.loads(MessagesEncoder({}).body(asked))
    thinks = json.loads(MessagesEncoder({}, thinking={"type": "adaptive"}).body(asked))
    assert plain["tool_choice"] == {"type": "tool", "name": "f"}
    assert thinks["tool_choice"] == {"type": "auto"}


# --- what comes back, and goes back ------------------------------------------------------------------------------


def test_thinking_goes_back_exactly_as_it_came(claude, ask):
    redacted = '{"type": "redacted_thinking",  "data": "EmwKAhgB/é=="}'
    raw = b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":%b   }\n\n'
    thinking = block(
        1,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "let me "},
        {"type": "thinking_delta", "thinking": "see"},
        {"type": "signature_delta", "signature": "c2lnbmF0"},
        {"type": "signature_delta", "signature": "dXJl"},
    )
    first = [
        started(),
        raw % redacted.encode(),
        *thinking,
        *call_block(2, "toolu_1", "f", '{"x"', ": 1}"),
        *ended("tool_use"),
    ]
    with serve(first, SAYS_HI) as server:
        provider = claude(server)
        *shown, reply = ask(provider, Request("", [UserMessage("hi")]))
        assert shown == [ReasoningDelta("let me "), ReasoningDelta("see")]
        assert reply.finish is Finish.CALLS
        hidden, thought, call = reply.blocks
        assert hidden.opaque == redacted
        assert (call.provider_id, call.name, call.arguments) == ("toolu_1", "f", '{"x": 1}')
        turn = AssistantMessage((hidden, thought, Call("call_1_0", "f", call.arguments, "toolu_1")))
        ours = Reasoning("", "anthropic@127.0.0.1", '{"type":"redacted_thinking"}')
        assert ours.origin == hidden.origin
        ask(provider, Request("", [UserMessage("hi"), turn, ToolMessage("call_1_0", "f", "ok")]))
        assert redacted.encode() in server.bodies[1]
        again = server.requests[1]["messages"][1]["content"]
    assert again[1] == {"type": "thinking", "thinking": "let me see", "signature": "c2lnbmF0dXJl"}
    assert again[2] == {"type": "tool_use", "id": "call_1_0", "name": "f", "input": {"x": 1}}


def test_thinking_that_was_cut_before_its_signature_does_not_go_back():
    cut = block(0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "hm"})
    reply, _ = read(started(), *cut, *ended("max_tokens"))
    assert reply.blocks == (Reasoning("hm", "anthropic"),)
    unsigned, _ = read(started(), *cut, *ended(), signed=False)
    assert json.loads(unsigned.blocks[0].opaque)["thinking"] == "hm"


def test_server_tools_are_carried_through_unharmed():
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "u", "score": 1e22}]}
    reply, _ = read(
        started(),
        *block(0, use, {"type": "input_json_delta", "partial_json": '{"query": "é"}'}),
        *block(1, result),
        *block(
            2,
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "so"},
            {"type": "citations_delta", "citation": {"url": "u"}},
        ),
        *ended(),
    )
    assert text_of(reply.blocks) == "so"
    (_, answer, _) = encode(UserMessage("a"), AssistantMessage(reply.blocks))
    assert answer["content"] == [
        use | {"input": {"query": "é"}},
        result,
        {"type": "text", "text": "so", "citations": [{"url": "u"}]},
    ]


def test_a_paused_turn_goes_back_and_is_not_answered_for():
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    reply, _ = read(started(), *text_block(0, "looking"), *block(1, use), *ended("pause_turn"))
    assert reply.finish is Finish.PAUSED
    paused = [UserMessage("a"), AssistantMessage(reply.blocks)]
    encoder = MessagesEncoder({"model": "m"}, cache=False)
    body = json.loads(encoder.body(Request("", paused)))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
    assert body["messages"][1]["content"][-1] == use
    left = json.loads(encoder.body(Request("", [*paused, UserMessage("never mind")])))
    assert [part["type"] for part in left["messages"][1]["content"]] == ["text"]


def test_what_a_call_brought_beside_its_input_goes_back_with_it():
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {}}
    reply, _ = read(started(), *block(0, use), *call_block(1, "toolu_1", "f", caller=caller), *ended("tool_use"))
    (_, answer, _) = encode(UserMessage("a"), AssistantMessage(reply.blocks), ToolMessage("", "f", "ok"))
    assert answer["content"][0] == use, "a server tool whose own call is open stays"
    assert answer["content"][1]["caller"] == caller


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("max_tokens", Finish.LENGTH),
        ("refusal", Finish.FILTERED),
        ("pause_turn", Finish.PAUSED),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("tool_use", Finish.UNKNOWN),
        ("something_new", Finish.UNKNOWN),
    ],
)
def test_stop_reasons(reason, finish):
    reply, _ = read(started(), *text_block(0, "x"), *ended(reason))
    assert (reply.finish, reply.finish_detail) == (finish, reason)


def test_a_full_window_without_a_word_is_an_overflow(claude, trouble):
    with serve([started(), *ended("model_context_window_exceeded")]) as server:
        assert trouble(claude(server)).trouble is Trouble.OVERFLOW


def test_usage_counts_the_cache_as_input_and_later_counts_win():
    begun = started(input_tokens=10, cache_read_input_tokens=100, cache_creation_input_tokens=1000, output_tokens=1)
    details = {"thinking_tokens": 3}
    reply, _ = read(
        begun, *ended(input_tokens=20, output_tokens=7, cache_read_input_tokens=None, output_tokens_details=details)
    )
    assert reply.usage == Usage(1120, 7, 100, 3, 1000)


def test_a_body_that_was_not_streamed_is_read_all_the_same(claude, ask):
    whole = {"type": "message", "model": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "hi"}]}
    with serve(Response([json.dumps(whole).encode()], 200, {"content-type": "application/json"})) as server:
        shown, reply = ask(claude(server))
    assert (shown, reply.finish) == (TextDelta("hi"), Finish.STOP)


# --- troubles ---------------------------------------------------------------------------------------------------


def failure(kind, status=200, words="no"):
    error = {"type": "error", "error": {"type": kind, "message": words}}
    return Response([json.dumps(error).encode()], status, {"content-type": "application/json"})


@pytest.mark.parametrize(
    "first",
    [
        failure("overloaded_error", 529),
        failure("rate_limit_error", 429),
        failure("api_error", 500),
        [named("error", error={"type": "overloaded_error", "message": "Overloaded"})],
        [started(), named("ping"), named("error", error={"type": "api_error", "message": "x"})],
        [started(), named("ping"), CUT],
        [started(), *text_block(0)],
    ],
)
def test_what_gave_nothing_of_an_answer_is_asked_again(claude, ask, naps, first):
    with serve(first, SAYS_HI) as server:
        notice, *_, reply = ask(claude(server))
    assert isinstance(notice, RetryNotice)
    assert text_of(reply.blocks) == "hi"


@pytest.mark.parametrize(
    "broken",
    [
        [
            started(),
            *text_block(0, "half"),
            named("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        ],
        [started(), *text_block(0, "half"), CUT],
        [started(), *text_block(0, "half")],
        [started(), *call_block(0, "toolu_1", "f", '{"x"')],
    ],
)
def test_an_answer_that_breaks_off_is_cut_and_never_asked_for_again(claude, trouble, broken):
    with serve(broken) as server:
        assert trouble(claude(server)).trouble is Trouble.CUT
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (failure("authentication_error", 401), Trouble.REFUSED),
        (failure("request_too_large", 413), Trouble.OVERFLOW),
        (failure("invalid_request_error", 400, "prompt is too long: 9 > 8"), Trouble.OVERFLOW),
        (failure("invalid_request_error", 400, "input length and `max_tokens` exceed context limit"), Trouble.OVERFLOW),
    ],
)
def test_a_final_no_is_told_at_once(claude, trouble, response, kind):
    with serve(response) as server:
        caught = trouble(claude(server))
    assert (caught.trouble, caught.status) == (kind, response.status)


def test_pings_keep_a_silent_model_alive_and_a_lost_end_is_not_waited_for(claude, ask):
    pings = [piece for _ in range(6) for piece in (0.05, named("ping"))]
    with serve([started(), *pings, *text_block(0, "at last"), *ended()[:1], HANG]) as server:
        provider = claude(server, first_token=0.15, grace=0.05)
        assert text_of(ask(provider)[-1].blocks) == "at last"


# --- settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thinking": 500}, "at least 1024"),
        ({"thinking": 8192}, "less than max_tokens"),
        ({"extra_body": {"system": "x"}}, "cannot set 'system'"),
    ],
)
def test_a_setting_that_cannot_work_is_named(options, words):
    with pytest.raises(ConfigError, match=words):
        Anthropic("m", **options)


def test_the_environment_gives_the_key_and_the_place(ask, monkeypatch):
    with serve(SAYS_HI) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-from-the-environment")
        provider = Anthropic("m")
        ask(provider)
        assert server.headers[0]["x-api-key"] == "sk-ant-from-the-environment"
    assert provider.secrets == ("sk-ant-from-the-environment",)
