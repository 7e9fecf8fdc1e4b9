"""What a body of a 200 becomes: recorded streams, and the quirks that public bugs tell of."""

import json

import pytest
from support.chat_server import DONE, calls_turn, chunk, event, text_turn, usage

from fsm.providers.answer import Answer
from fsm.providers.faults import Fault
from fsm.providers.openai_fold import ChatFold
from states.messages import Finish, Usage, calls_of, text_of
from states.ports import ReasoningDelta, TextDelta
from states.records import Trouble


def follow(answer, chunks):
    """The reply and the deltas of a body."""
    deltas = [delta for piece in chunks for delta in answer.feed(piece)] + answer.rest()
    return answer.reply(), deltas


def read(*chunks):
    return follow(Answer(ChatFold()), chunks)


def fault_of(*chunks):
    answer = Answer(ChatFold())
    with pytest.raises(Fault) as caught:
        follow(answer, chunks)
    return caught.value, answer


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("case", ["001-openai-text", "048-mistral-parallel-one-chunk", "105-snowflake-thinking"])
def test_a_recorded_stream_cut_at_every_byte_gives_the_same(recorded, case, end):
    stream = recorded[case].replace(b"\n", end)
    reply, _ = read(recorded[case])
    assert read(*(stream[at : at + 1] for at in range(len(stream))))[0] == reply
    for at in range(0, len(stream), 7):
        assert read(stream[:at], stream[at:])[0] == reply


@pytest.mark.parametrize(
    ("case", "status", "words", "seen"),
    [
        ("062-openrouter-midstream-error", 400, "Token limit reached", True),
        ("063-openrouter-only-error", 502, "Upstream error from Venice", False),
        ("llamacpp-error-after-tool-deltas", 500, "peg-native", True),
        ("llamacpp-error-notool", 500, "peg-native", False),
    ],
)
def test_a_recorded_error_inside_a_200_is_no_answer(recorded, case, status, words, seen):
    fault, answer = fault_of(recorded[case])
    assert (fault.status, answer.seen) == (status, seen)
    assert words in fault.message


# --- tool calls -------------------------------------------------------------------------------------------------


def calls(*pieces, finish="tool_calls"):
    """(id, name, arguments) of the calls that these deltas of `tool_calls` add up to."""
    chunks = [chunk({"tool_calls": piece if isinstance(piece, list) else [piece]}) for piece in pieces]
    reply, _ = read(*chunks, chunk({}, finish), DONE)
    return [(call.provider_id, call.name, call.arguments) for call in calls_of(reply.blocks)]


def piece(index=None, id=None, name=None, arguments=None, **more):  # noqa: A002  the wire's name
    function = {"name": name, "arguments": arguments}
    whole = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}} | more
    return {key: value for key, value in whole.items() if value is not None}


ONE = [("a", "f", '{"x":1}')]
TWO = [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param([piece(0, "a", "f", '{"x"'), piece(0, arguments=":1}")], ONE, id="ordinary"),
        pytest.param(
            [piece(0, "a", "f", ""), piece(0, "a", "f", '{"x":'), piece(0, "a", "f", "1}")], ONE, id="repeated"
        ),
        pytest.param([piece(0, "a", "f", '{"x":'), piece(0, "", "", "1}")], ONE, id="empty id and name"),
        pytest.param([piece(0, "a", "f", '{"x":'), piece(0, "z", None, "1}")], ONE, id="another id, no name"),
        pytest.param([piece(None, "a", "f", '{"x":'), piece(arguments="1}")], ONE, id="no index"),
        pytest.param([piece(None, "a", "f", '{"x":'), piece(None, "a", None, "1}")], ONE, id="no index, id repeated"),
        pytest.param([piece(0, None, "f", '{"x":1}')], [("", "f", '{"x":1}')], id="no id"),
        pytest.param([piece(0, "a", "f", '{"x":1}'), piece(0, "b", "g", '{"y":2}')], TWO, id="all index 0"),
        pytest.param(
            [
                piece(0, "a", "f", '{"x":'),
                piece(0, arguments="1}"),
                piece(0, "b", "g", '{"y":'),
                piece(0, arguments="2}"),
            ],
            TWO,
            id="all index 0, in fragments",
        ),
        pytest.param(
            [piece(None, "a", "f", '{"x":1}'), piece(None, "b", "g", '{"y":2}')], TWO, id="no index, two calls"
        ),
        pytest.param(
            [
                piece(0, "a", "f", '{"x":'),
                piece(1, "b", "g", '{"y":'),
                piece(0, arguments="1}"),
                piece(1, arguments="2}"),
            ],
            TWO,
            id="interleaved",
        ),
        pytest.param(
            [piece(0, "a", "f", '{"x":1}'), piece(1, "a", "f", '{"x":2}')],
            [("a", "f", '{"x":1}'), ("a", "f", '{"x":2}')],
            id="one id for two",
        ),
        pytest.param(
            [piece(None, None, "f", '{"x":1}'), piece(None, None, "f", '{"x":2}')],
            [("", "f", '{"x":1}'), ("", "f", '{"x":2}')],
            id="no id and no index, two calls",
        ),
        pytest.param([[piece(0, "a", "f", '{"x":1}'), piece(1, "b", "g", '{"y":2}')]], TWO, id="both in one chunk"),
        pytest.param([piece(0, "a", "f", {"x": 1})], ONE, id="an object"),
        pytest.param([piece(0, "a", "f", '"{\\"x'), piece(0, arguments='\\":1}"')], ONE, id="double-encoded"),
        pytest.param([piece(0, "a", "f", '"{\\"x')], [("a", "f", '"{\\"x')], id="double-encoded and cut"),
        pytest.param([piece(0, "a", "f", '"words"')], [("a", "f", '"words"')], id="a string that is no object"),
        pytest.param([piece(0, "a", "f", [1])], [("a", "f", "[1]")], id="a list"),
        pytest.param([piece(0, "a", "f")], [("a", "f", "")], id="no arguments"),
        pytest.param([piece(0, "a", "f", "null")], [("a", "f", "null")], id="the word null"),
        pytest.param([piece(0, "a", "f", "{}")], [("a", "f", "{}")], id="an empty object"),
        pytest.param(
            [piece(0, "a", "f", '{"x"'), piece(0, arguments=":1}"), piece(0, arguments='{"x":1}')], ONE, id="once more"
        ),
        pytest.param(
            [piece(0, "a", "f", '{"x"'), piece(0, "a", "f", '{"x":1'), piece(0, "a", "f", '{"x":1}')], ONE, id="growing"
        ),
        pytest.param([piece(0, "a", "f", '{"x":1')], [("a", "f", '{"x":1')], id="cut: never closed"),
        pytest.param([piece(0, "a", "f", "{'x': 1}")], [("a", "f", "{'x': 1}")], id="no JSON: never repaired"),
        pytest.param([piece(0, "a", "f", '{"x":1}'), {}, piece(0)], ONE, id="empty entries"),
        pytest.param(
            [piece(0, "a", "f", '{"x":'), piece(0, arguments='{"x":1}}')], [("a", "f", '{"x":{"x":1}}')], id="nested"
        ),
    ],
)
def test_tool_calls_are_told_apart(pieces, expected):
    assert calls(*pieces) == expected


def test_calls_are_run_whatever_the_finish_says_but_not_after_a_cut():
    whole = [piece(0, "a", "f", "{}")]
    for word, with_calls, without_calls in [
        ("stop", Finish.CALLS, Finish.STOP),
        ("tool_calls", Finish.CALLS, Finish.UNKNOWN),
        ("function_call", Finish.CALLS, Finish.UNKNOWN),
        ("anything", Finish.CALLS, Finish.UNKNOWN),
        ("length", Finish.LENGTH, Finish.LENGTH),
        ("content_filter", Finish.FILTERED, Finish.FILTERED),
    ]:
        reply, _ = read(chunk({"tool_calls": whole}), chunk({}, word), DONE)
        assert (reply.finish, reply.finish_detail) == (with_calls, word)
        reply, _ = read(chunk({"content": "x"}), chunk({}, word), DONE)
        assert (reply.finish, reply.finish_detail) == (without_calls, word)


# --- the rest of a chunk ----------------------------------------------------------------------------------------


def test_text_reasoning_and_calls_come_in_that_order_in_the_reply():
    reply, _ = read(
        chunk({"reasoning_content": "hm "}),
        chunk({"reasoning": "so"}),
        chunk({"content": "on it"}),
        chunk({"tool_calls": [piece(0, "a", "f", "{}")]}),
        chunk({}, "tool_calls"),
    )
    reasoning, text, call = reply.blocks
    assert (reasoning.text, reasoning.origin, text.text, call.name) == ("hm so", "openai-chat", "on it", "f")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text", "thinking"])
def test_reasoning_is_known_by_each_of_its_names(name):
    reply, deltas = read(chunk({name: "h"}), chunk({name: "m", "content": None}), chunk({"content": "x"}, "stop"))
    assert reply.blocks[0].text == "hm"
    assert deltas == [ReasoningDelta("h"), ReasoningDelta("m"), TextDelta("x")]


def test_a_call_in_the_older_form_is_a_call_and_beside_tool_calls_it_is_nothing():
    def old(**function):
        return chunk({"function_call": function})

    reply, _ = read(
        old(name="f", arguments=""), old(arguments='{"x"'), old(arguments=":1}"), chunk({}, "function_call")
    )
    assert [(call.name, call.arguments) for call in calls_of(reply.blocks)] == [("f", '{"x":1}')]
    assert reply.finish is Finish.CALLS
    twin = {"tool_calls": [piece(0, "a", "f", '{"x":1}')], "function_call": {"name": "f", "arguments": '{"x":1}'}}
    late = chunk({"function_call": {"name": "f", "arguments": '{"x":1}'}})
    reply, _ = read(chunk(twin), late, chunk({"function_call": None}), chunk({}, "tool_calls"))
    assert [(call.name, call.arguments) for call in calls_of(reply.blocks)] == [("f", '{"x":1}')]


def test_only_the_first_choice_counts():
    two = [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]
    reply, deltas = read(event({"choices": two}), chunk({}, "stop"))
    assert (text_of(reply.blocks), deltas) == ("a", [TextDelta("a")])


def test_content_in_parts_is_told_into_text_and_thinking():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply, deltas = read(chunk({"content": [thinking, {"type": "text", "text": "yes"}]}), chunk({}, "stop"))
    assert deltas == [ReasoningDelta("hm"), TextDelta("yes")]
    assert text_of(reply.blocks) == "yes"


def test_usage_is_the_last_that_was_given():
    counts = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}
    reply, _ = read(usage(1, 1), chunk({"content": "x"}, usage=counts), chunk({}, "stop", usage=None), DONE)
    assert reply.usage == Usage(7, 3, 2)
    groq, _ = read(chunk({"content": "x"}, "stop", x_groq={"usage": {"prompt_tokens": 4, "completion_tokens": None}}))
    assert groq.usage == Usage(4, 0)


# --- ends -------------------------------------------------------------------------------------------------------


def test_done_may_be_missing_and_the_finish_may_be_missing_but_not_both():
    assert read(chunk({"content": "x"}), chunk({}, "stop"))[0].finish is Finish.STOP
    assert read(chunk({"content": "x"}), DONE)[0].finish is Finish.UNKNOWN
    fault, answer = fault_of(chunk({"content": "x"}))
    assert fault.message == "the stream ended before the answer was finished"
    assert answer.seen


def test_every_proper_prefix_of_a_stream_without_its_finish_is_cut():
    whole = b"".join(calls_turn([("f", {"x": 1})], text="é"))
    at_finish = whole.index(b'"finish_reason": "tool_calls"') + len(b'"finish_reason": "tool_calls"}]}')
    for at in range(at_finish):
        answer = Answer(ChatFold())
        answer.feed(whole[:at])
        answer.rest()
        with pytest.raises(Fault):
            answer.reply()
    assert read(whole[:at_finish])[0].finish is Finish.CALLS


@pytest.mark.parametrize("word", ["error", "abort", "insufficient_system_resource"])
def test_a_finish_that_means_broken_is_no_end(word):
    fault, answer = fault_of(chunk({"content": "x"}), chunk({}, word), DONE)
    assert word in fault.message
    assert not answer.whole


@pytest.mark.parametrize(
    ("error", "trouble", "status"),
    [
        ({"message": "no", "type": "invalid_request_error"}, Trouble.REFUSED, 400),
        ({"message": "no", "code": "insufficient_quota", "type": "insufficient_quota"}, Trouble.REFUSED, 500),
        ({"message": "no", "code": "context_length_exceeded"}, Trouble.OVERFLOW, 500),
        ({"message": "no", "code": 429}, None, 429),
        ({"message": "no", "code": "503"}, None, 503),
        ({"message": "no", "type": "overloaded_error"}, None, 529),
        ("no", None, 500),
    ],
)
def test_an_error_inside_a_200_is_read_like_an_http_error(error, trouble, status):
    fault, _ = fault_of(event({"error": error}))
    assert (fault.trouble, fault.status, fault.message) == (trouble, status, "error inside the stream: no")


def test_a_named_error_event_is_an_error_whatever_its_shape():
    fault, _ = fault_of(b'event: error\ndata: {"message": "no", "code": 503}\n\n')
    assert (fault.message, fault.status) == ("error inside the stream: no", 503)


def test_a_line_that_is_no_json_is_no_answer():
    fault, _ = fault_of(b"data: {oops\n\n")
    assert fault.message == "the stream holds a line that is not JSON: {oops"


def test_what_follows_done_is_ignored():
    reply, _ = read(*text_turn("hi"), chunk({"content": "more"}))
    assert text_of(reply.blocks) == "hi"


# --- bodies that are no stream ----------------------------------------------------------------------------------


def test_a_completion_that_was_not_streamed_is_taken():
    message = {"role": "assistant", "content": "hi", "tool_calls": [piece(None, "a", "f", "{}")]}
    body = json.dumps({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    reply, deltas = read(*(body[at : at + 5].encode() for at in range(0, len(body), 5)))
    assert (text_of(reply.blocks), reply.finish, reply.model, deltas) == ("hi", Finish.CALLS, "m", [TextDelta("hi")])
    assert calls_of(reply.blocks)[0].name == "f"


@pytest.mark.parametrize(
    "body",
    [
        b"<html><head><style>b{}</style></head><b>Welcome to &lt;nginx&gt;</b></html>",
        b'{"status":"ok"}',
        b"Not here",
        b"[]",
    ],
)
def test_anything_else_is_refused_in_a_plain_sentence(body):
    fault, _ = fault_of(*(body[at : at + 1] for at in range(len(body))))
    assert fault.trouble is Trouble.REFUSED
    assert fault.message.startswith(
        "the server answered with something that is no answer of this protocol; check the base URL"
    )
    if b"nginx" in body:
        assert fault.message.endswith("It says: Welcome to <nginx>")


@pytest.mark.parametrize("body", [b"", b"\n", b": ping\n\n", DONE])
def test_an_empty_stream_is_worth_another_try(body):
    fault, answer = fault_of(body)
    assert (fault.trouble, answer.seen) == (None, False)
