"""When a call of an answer is complete, as each protocol tells it, and only while the answer goes on."""

import json

import pytest
from support.chat_server import calls_turn, chunk

from fsm.providers.answer import Answer
from fsm.providers.anthropic_fold import MessagesFold
from fsm.providers.openai_fold import ChatFold
from fsm.providers.responses_fold import ResponsesFold
from states.ports import CallReady

CALLS = [("read", {"path": "a"}), ("read", {"path": "b"}), ("write", {"path": "c"})]


def told(answer, pieces):
    """The calls that each piece announced: place, name, arguments."""
    return [
        [(ready.order, ready.call.name, ready.call.arguments) for ready in answer.feed(piece) if is_ready(ready)]
        for piece in pieces
    ]


def is_ready(item):
    return isinstance(item, CallReady)


def flat(announced):
    return [call for piece in announced for call in piece]


def named(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more)}\n\n".encode()


def anthropic(calls):
    pieces = [named("message_start", message={"role": "assistant", "content": [], "model": "m"})]
    pieces.append(named("content_block_start", index=0, content_block={"type": "text", "text": "I look."}))
    pieces.append(named("content_block_stop", index=0))
    for place, (name, arguments) in enumerate(calls, 1):
        block = {"type": "tool_use", "id": "same", "name": name, "input": {}}
        pieces.append(named("content_block_start", index=place, content_block=block))
        for part in (arguments[:5], arguments[5:]):
            delta = {"type": "input_json_delta", "partial_json": part}
            pieces.append(named("content_block_delta", index=place, delta=delta))
        pieces.append(named("content_block_stop", index=place))
    return pieces


def responses(calls):
    pieces = [named("response.created", response={"status": "in_progress", "output": []})]
    thought = {"type": "reasoning", "id": "r", "summary": []}
    pieces.append(named("response.output_item.done", output_index=0, item=thought))
    for place, (name, arguments) in enumerate(calls, 1):
        item = {"type": "function_call", "id": f"f{place}", "call_id": "same", "name": name, "arguments": ""}
        pieces.append(named("response.output_item.added", output_index=place, item=item))
        whole = item | {"arguments": arguments}
        pieces.append(named("response.output_item.done", output_index=place, item=whole))
    return pieces


def chat(calls):
    return calls_turn(calls)[:-3]  # without the finish, the usage and the end


STREAMS = {"chat": (ChatFold, chat), "anthropic": (MessagesFold, anthropic), "responses": (ResponsesFold, responses)}


@pytest.mark.parametrize("protocol", STREAMS)
def test_each_call_is_announced_once_in_its_order_as_it_was_sent(protocol):
    fold, stream = STREAMS[protocol]
    calls = [(name, json.dumps(arguments)) for name, arguments in CALLS]
    announced = told(Answer(fold()), stream(calls))

    assert flat(announced) == [(place, *call) for place, call in enumerate(calls)]
    assert all(len(piece) <= 1 for piece in announced)


@pytest.mark.parametrize("protocol", STREAMS)
def test_arguments_that_break_off_are_not_completed(protocol):
    """Where the protocol itself ends the call, it is announced as it was sent; nothing is ever added to it."""
    fold, stream = STREAMS[protocol]
    announced = flat(told(Answer(fold()), stream([("read", '{"path": "a"'), ("read", "{}")])))

    assert all(call in [(0, "read", '{"path": "a"'), (1, "read", "{}")] for call in announced)


def test_a_piece_that_also_ends_the_answer_announces_nothing():
    whole = b"".join(calls_turn(CALLS))

    assert flat(told(Answer(ChatFold()), [whole])) == []


def test_a_chat_server_that_goes_on_with_another_call_ends_the_one_before():
    def piece(index, **function):
        return chunk({"tool_calls": [{"index": index, "function": function}]})

    announced = told(Answer(ChatFold()), [piece(0, name="now", arguments=""), piece(1, name="then", arguments="")])

    assert announced == [[], [(0, "now", "")]]


def test_long_arguments_of_a_chat_server_wait_for_the_next_call():
    long = json.dumps({"content": "x" * 5000})
    announced = told(Answer(ChatFold()), chat([("write", long), ("read", "{}")]))

    assert [piece for piece in announced if piece] == [[(0, "write", long)], [(1, "read", "{}")]]
