"""OpenAI's Responses over real HTTP on loopback, without state on the server."""

import json

import pytest
from support.chat_server import CUT, ChatServer, Response
from support.validators import responses_complaint

from fsm.providers import OpenAIResponses
from fsm.providers.answer import Answer
from fsm.providers.responses_encode import ResponsesEncoder
from fsm.providers.responses_fold import ResponsesFold
from states.messages import (
    AssistantMessage,
    Call,
    Finish,
    Foreign,
    Image,
    Reasoning,
    Text,
    ToolMessage,
    UserMessage,
    text_of,
)
from states.ports import ReasoningDelta, Request, RetryNotice, TextDelta, ToolSpec
from states.records import Trouble

TOOL = ToolSpec("f", "Does f.", {"type": "object", "properties": {}})
ORIGIN = "openai-responses"


def named(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more, ensure_ascii=False)}\n\n".encode()


CREATED = named("response.created", response={"status": "in_progress", "output": [], "error": None})


def item(index, whole, *deltas):
    begun = named("response.output_item.added", output_index=index, item={"type": whole["type"], "id": whole["id"]})
    return [begun, *deltas, named("response.output_item.done", output_index=index, item=whole)]


def message(index, *words, **more):
    deltas = [named("response.output_text.delta", output_index=index, delta=word) for word in words]
    parts = [{"type": "output_text", "text": "".join(words), "annotations": []}]
    whole = {"type": "message", "id": f"msg_{index}", "role": "assistant", "status": "completed", "content": parts}
    return item(index, whole | more, *deltas)


def called(index, call_id, name, arguments):
    whole = {"type": "function_call", "id": f"fc_{index}", "call_id": call_id, "name": name, "arguments": arguments}
    return item(index, whole | {"status": "completed"})


def ended(status="completed", **more):
    return named(
        f"response.{status}", response={"status": status, "model": "gpt-x", "output": [], "error": None} | more
    )


SAYS_HI = [CREATED, *message(0, "h", "i"), ended(usage={"input_tokens": 3, "output_tokens": 2})]


@pytest.fixture
def gpt(naps):
    async def sleep(seconds):
        naps.append(seconds)

    def make(server, **options):
        return OpenAIResponses("gpt-x", server.url, "sk-very-secret", sleep=sleep, clock=lambda: sum(naps), **options)

    return make


def serve(*turns):
    return ChatServer(lambda _, n: turns[n], strict=False)


def read(*pieces):
    answer = Answer(ResponsesFold())
    shown = [delta for piece in pieces for delta in answer.feed(piece)] + list(answer.rest())
    return answer.reply(), shown


def encode(*messages):
    encoder = ResponsesEncoder({"model": "m", "stream": True, "store": False})
    body = json.loads(encoder.body(Request("", [*messages, UserMessage("?")])))
    assert responses_complaint(body) is None
    return body["input"][:-1]


def test_the_request_is_stateless_and_asks_for_reasoning(gpt, ask):
    with serve(SAYS_HI, SAYS_HI) as server:
        first = Request("be brief", [UserMessage("hi")], [TOOL], session="s")
        second = Request("", [UserMessage("hi")], [TOOL], require_tool="f", session="s")
        *shown, _, _, reply = ask(gpt(server), first, second)
        assert server.headers[0]["authorization"] == "Bearer sk-very-secret"
        one, two = server.requests
    assert shown[:2] == [TextDelta("h"), TextDelta("i")]
    assert (text_of(reply.blocks), reply.finish, reply.usage.total, reply.model) == ("hi", Finish.STOP, 5, "gpt-x")
    tool = {
        "type": "function",
        "name": "f",
        "description": "Does f.",
        "parameters": {"type": "object", "properties": {}},
    }
    assert one == {
        "model": "gpt-x",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [tool | {"strict": False}],
        "instructions": "be brief",
        "input": [{"role": "user", "content": "hi"}],
        "tool_choice": "auto",
    }
    assert two["tool_choice"] == {"type": "function", "name": "f"}


def test_models_that_do_not_reason_are_not_asked_for_it():
    assert b"include" not in OpenAIResponses("gpt-4.1", api_key="")._lanes._encoder().body(Request("", []))
    assert b"include" in OpenAIResponses("o3", api_key="")._lanes._encoder().body(Request("", []))


def test_reasoning_goes_back_to_the_byte_before_its_call(gpt, ask):
    raw = '{"id": "rs_1",  "type":"reasoning", "summary":[], "encrypted_content":"gAAAA/é"}'
    done = b'data: {"type":"response.output_item.done","output_index":0,"item":%b }\n\n'
    first = [CREATED, done % raw.encode(), *called(1, "call_theirs", "f", '{"x": 1}'), ended()]
    with serve(first, SAYS_HI) as server:
        provider = gpt(server)
        (reply,) = ask(provider, Request("", [UserMessage("hi")]))
        thought, call = reply.blocks
        assert thought.opaque == raw
        assert reply.finish is Finish.CALLS
        ours = Call("call_1_0", call.name, call.arguments, call.provider_id, call.origin, call.opaque)
        turn = AssistantMessage((thought, ours))
        ask(provider, Request("", [UserMessage("hi"), turn, ToolMessage("call_1_0", "f", "ok")]))
        assert raw.encode() in server.bodies[1]
        sent = server.requests[1]["input"]
    assert responses_complaint(server.requests[1]) is None
    assert [entry.get("type") for entry in sent] == [None, "reasoning", "function_call", "function_call_output"]
    assert sent[2] == {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_1_0",
        "name": "f",
        "arguments": '{"x": 1}',
    }
    assert sent[3] == {"type": "function_call_output", "call_id": "call_1_0", "output": "ok"}


def test_thinking_is_shown_and_its_parts_are_paragraphs():
    def thought(part, delta):
        kind = "response.reasoning_summary_text.delta"
        return named(kind, item_id="rs_1", output_index=0, summary_index=part, delta=delta)

    summary = [{"type": "summary_text", "text": "ab"}, {"type": "summary_text", "text": "c"}]
    whole = {"type": "reasoning", "id": "rs_1", "summary": summary}
    reply, shown = read(
        CREATED, *item(0, whole, thought(0, "a"), thought(0, "b"), thought(1, "c")), *message(1, "x"), ended()
    )
    assert [delta.text for delta in shown if isinstance(delta, ReasoningDelta)] == ["a", "b", "\n\n", "c"]
    assert reply.blocks[0].text == "ab\n\nc"


def test_a_message_with_a_phase_goes_back_whole_and_words_alone_elsewhere():
    reply, _ = read(CREATED, *message(0, "first I look", phase="commentary"), *called(1, "c", "f", "{}"), ended())
    words, whole, _ = reply.blocks
    assert (words, whole.origin) == (Text("first I look"), ORIGIN)
    (_, sent, *_) = encode(UserMessage("a"), AssistantMessage(reply.blocks), ToolMessage("", "f", "ok"))
    assert (sent["phase"], sent["id"]) == ("commentary", "msg_0")
    foreign = tuple(Foreign("other", b.opaque) if isinstance(b, Foreign) else b for b in reply.blocks)
    (_, sent, *_) = encode(UserMessage("a"), AssistantMessage(foreign), ToolMessage("", "f", "ok"))
    assert sent == {"role": "assistant", "content": "first I look"}


def test_items_of_its_own_tools_are_carried_and_those_nobody_answered_are_not():
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    patch = {"type": "apply_patch_call", "id": "apc_1", "call_id": "x", "status": "completed"}
    reply, _ = read(CREATED, *item(0, search), *item(1, patch), *message(2, "x"), ended())
    assert [type(block) for block in reply.blocks] == [Foreign, Foreign, Text]
    (_, sent, words) = encode(UserMessage("a"), AssistantMessage(reply.blocks))
    assert (sent, words["content"]) == (search, "x")


def test_reasoning_that_nothing_follows_or_that_nobody_kept_does_not_go_back():
    kept = Reasoning("", ORIGIN, '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"}')
    lost = Reasoning("", ORIGIN, '{"type":"reasoning","id":"rs_2","summary":[]}')
    sent = encode(UserMessage("a"), AssistantMessage((lost, Text("x"), kept)))
    assert sent[1:] == [{"role": "assistant", "content": "x"}]


def test_pictures_are_part_of_the_output():
    seen = ToolMessage("c", "look", "here", images=(Image("image/png", "aGk="),))
    (*_, result) = encode(UserMessage("a"), AssistantMessage((Call("c", "look", "{}"),)), seen)
    assert result["output"] == [
        {"type": "input_text", "text": "here"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
    ]


@pytest.mark.parametrize(
    ("end", "finish", "detail"),
    [
        (ended("incomplete", incomplete_details={"reason": "max_output_tokens"}), Finish.LENGTH, "max_output_tokens"),
        (ended("incomplete", incomplete_details={"reason": "content_filter"}), Finish.FILTERED, "content_filter"),
        (ended(), Finish.STOP, "completed"),
    ],
)
def test_ends(end, finish, detail):
    reply, _ = read(CREATED, *message(0, "x"), end)
    assert (reply.finish, reply.finish_detail) == (finish, detail)


def test_a_cut_call_says_so():
    reply, _ = read(
        CREATED,
        *called(0, "c", "f", '{"x": 4'),
        ended("incomplete", incomplete_details={"reason": "max_output_tokens"}),
    )
    assert (reply.finish, reply.blocks[0].arguments) == (Finish.LENGTH, '{"x": 4')


def test_a_refusal_is_words_and_no_answer():
    whole = {"type": "message", "id": "msg_0", "content": [{"type": "refusal", "refusal": "I can't"}]}
    reply, shown = read(CREATED, *item(0, whole, named("response.refusal.delta", delta="I can't")), ended())
    assert shown == [TextDelta("I can't")]
    assert (text_of(reply.blocks), reply.finish) == ("I can't", Finish.FILTERED)


def test_words_whose_item_never_comes_are_kept():
    whole = message(1, "b")
    reply, shown = read(CREATED, *message(0, "a")[:2], *whole, ended())
    assert (text_of(reply.blocks), len(shown)) == ("ab", 2)
    declined, _ = read(CREATED, named("response.refusal.delta", output_index=0, delta="no"), ended())
    assert (text_of(declined.blocks), declined.finish) == ("no", Finish.FILTERED)
    told, _ = read(CREATED, *message(0, "a")[:2], ended(output=[{"type": "message", "content": [{"text": "all"}]}]))
    assert text_of(told.blocks) == "all"


def test_what_a_text_cites_goes_back_with_it():
    note = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 2}
    part = {"type": "output_text", "text": "so", "annotations": [note]}
    whole = {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": [part]}
    told = named("response.output_text.annotation.added", output_index=0, annotation_index=0, annotation=note)
    said = named("response.output_text.delta", output_index=0, delta="so")
    reply, shown = read(CREATED, *item(0, whole, said, told), ended())
    assert (text_of(reply.blocks), shown) == ("so", [TextDelta("so")])
    (_, sent) = encode(UserMessage("a"), AssistantMessage(reply.blocks))
    assert sent == whole


OTHERS = [
    "audio.delta",
    "audio.done",
    "audio.transcript.delta",
    "audio.transcript.done",
    "code_interpreter_call_code.delta",
    "code_interpreter_call_code.done",
    "code_interpreter_call.completed",
    "code_interpreter_call.in_progress",
    "code_interpreter_call.interpreting",
    "content_part.added",
    "content_part.done",
    "custom_tool_call_input.delta",
    "custom_tool_call_input.done",
    "file_search_call.completed",
    "file_search_call.in_progress",
    "file_search_call.searching",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "image_generation_call.completed",
    "image_generation_call.generating",
    "image_generation_call.in_progress",
    "image_generation_call.partial_image",
    "in_progress",
    "mcp_call_arguments.delta",
    "mcp_call_arguments.done",
    "mcp_call.completed",
    "mcp_call.failed",
    "mcp_call.in_progress",
    "mcp_list_tools.completed",
    "mcp_list_tools.failed",
    "mcp_list_tools.in_progress",
    "output_text.annotation.added",
    "output_text.done",
    "compaction.compacting",
    "queued",
    "reasoning_summary_part.added",
    "reasoning_summary_part.done",
    "reasoning_summary_text.done",
    "reasoning_text.done",
    "refusal.done",
    "shell_call_command.added",
    "shell_call_command.delta",
    "shell_call_command.done",
    "shell_call_output_content.delta",
    "shell_call_output_content.done",
    "web_search_call.completed",
    "web_search_call.in_progress",
    "web_search_call.searching",
    "never_heard_of",
]
"""Events that tell of what the finished item holds: those of openai 3.57, and one of the future."""


@pytest.mark.parametrize("kind", OTHERS)
def test_events_that_only_tell_of_the_way_change_nothing(kind):
    beside = {"output_index": 0, "item_id": "msg_0", "delta": "x", "text": "y", "part": {}, "annotation": {}}
    other = [named(f"response.{kind}", **beside), named(f"response.{kind}")]
    assert read(CREATED, *message(0, "h", "i"), *other, ended()) == read(CREATED, *message(0, "h", "i"), ended())


def test_the_order_is_that_of_the_indices_not_of_the_last_event():
    reply, _ = read(CREATED, *message(1, "b"), *message(0, "a"), ended(output=[{"type": "message", "content": []}]))
    assert text_of(reply.blocks) == "ab"


def test_a_body_that_was_not_streamed_is_read_all_the_same(gpt, ask):
    parts = [{"type": "output_text", "text": "hi"}]
    whole = {"status": "completed", "error": None, "output": [{"type": "message", "content": parts}]}
    with serve(Response([json.dumps(whole).encode()], 200, {"content-type": "application/json"})) as server:
        assert ask(gpt(server))[0] == TextDelta("hi")


def failed(code):
    return ended("failed", error={"code": code, "message": "sorry"})


@pytest.mark.parametrize(
    "first",
    [
        [CREATED, failed("server_error")],
        [CREATED, failed("rate_limit_exceeded")],
        [CREATED, named("error", code="server_error", message="sorry", param=None)],
        [CREATED, named("error", error={"type": "server_error", "message": "sorry"})],
        [CREATED, named("keepalive", sequence_number=3), b": keepalive\n\n", CUT],
        [CREATED, b"data: [DONE]\n\n"],
        [CREATED, ended("cancelled")],
    ],
)
def test_what_gave_nothing_of_an_answer_is_asked_again(gpt, ask, first):
    with serve(first, SAYS_HI) as server:
        notice, *_, reply = ask(gpt(server))
    assert isinstance(notice, RetryNotice)
    assert text_of(reply.blocks) == "hi"


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ([CREATED, failed("insufficient_quota")], Trouble.REFUSED),
        ([CREATED, failed("context_length_exceeded")], Trouble.OVERFLOW),
        ([CREATED, failed("invalid_prompt")], Trouble.REFUSED),
        ([CREATED, *message(0, "half"), failed("server_error")], Trouble.CUT),
        ([CREATED, *message(0, "half")[:2], CUT], Trouble.CUT),
        ([CREATED, *message(0, "half")], Trouble.CUT),
        ([CREATED, *called(0, "c", "f", "{}"), CUT], Trouble.CUT),
    ],
)
def test_what_cannot_be_asked_again(gpt, trouble, first, kind):
    with serve(first) as server:
        assert trouble(gpt(server)).trouble is kind
        assert len(server.requests) == 1
