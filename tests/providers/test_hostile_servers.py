"""Servers that mean harm, or are merely broken, over real HTTP: whatever they send, a turn ends, and costs little."""

import asyncio
import gzip
import json
import tracemalloc
import zlib
from contextlib import suppress

import attrs
import pytest
from support.chat_server import CUT, HANG, ChatServer, Response

from fsm.providers import Anthropic, OpenAIChat, OpenAIResponses
from fsm.providers.answer import Answer
from fsm.providers.growth import Growth
from fsm.providers.openai_fold import ChatFold
from fsm.providers.sse import Decoder, StreamTooLarge
from fsm.providers.unpack import PIECE, unpacked
from states.messages import calls_of, text_of
from states.ports import ProviderTrouble, TextDelta
from states.records import Trouble


def event(payload):
    return b"data: " + (payload if isinstance(payload, str) else json.dumps(payload)).encode() + b"\n\n"


@attrs.frozen
class Protocol:
    """How one protocol says things. Payloads are given as JSON text, so that they can hold what json cannot write."""

    name: str
    make: type
    root: str
    start: tuple[bytes, ...]
    delta: str
    """One delta; WORDS stands for the JSON string."""
    opaque: str
    """A part of the answer that goes back to its provider as it came; VALUE stands for a member's value."""
    call: str
    """The beginning of the Nth call."""
    end: tuple[bytes, ...]

    def says(self, words):
        return event(self.delta.replace("WORDS", words))

    def answer(self, *words):
        return [*self.start, *map(self.says, words), *self.end]

    def provider(self, server, **options):
        url = server.url.removesuffix("/v1") + self.root
        return self.make("m", url, "sk-very-secret-key", **{"patience": 0, **options})


CHAT = Protocol(
    "chat",
    OpenAIChat,
    "/v1",
    (event({"choices": [{"delta": {"role": "assistant"}}]}),),
    '{"choices":[{"delta":{"content":WORDS}}]}',
    '{"choices":[{"delta":{"reasoning_details":[VALUE]}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"index":N,"id":"N","function":{"name":"f","arguments":"{}"}}]}}]}',
    (event({"choices": [{"delta": {}, "finish_reason": "stop"}]}), b"data: [DONE]\n\n"),
)
MESSAGES = Protocol(
    "messages",
    Anthropic,
    "",
    (
        event({"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 3}}}),
        event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ),
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":WORDS}}',
    '{"type":"content_block_start","index":9,"content_block":{"type":"x","y":VALUE}}',
    '{"type":"content_block_start","index":1N,"content_block":{"type":"tool_use","id":"N","name":"f","input":{}}}',
    (event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}), event({"type": "message_stop"})),
)
RESPONSES = Protocol(
    "responses",
    OpenAIResponses,
    "/v1",
    (event({"type": "response.created", "response": {"status": "in_progress"}}),),
    '{"type":"response.output_text.delta","output_index":0,"delta":WORDS}',
    '{"type":"response.output_item.done","output_index":9,"item":{"type":"x","y":VALUE}}',
    '{"type":"response.output_item.done","output_index":1N,"item":{"type":"function_call","name":"f","arguments":"{}"}}',
    (event({"type": "response.completed", "response": {"status": "completed"}}),),
)
PROTOCOLS = [CHAT, MESSAGES, RESPONSES]
every = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)


def serve(*turns):
    """One turn per request; the last one from then on."""
    return ChatServer(lambda _, n: turns[min(n, len(turns) - 1)], strict=False)


# --- what never ends --------------------------------------------------------------------------------------------

SLICE = 40
"""Events of one piece: the loopback then takes what a gigabyte would be in few writes."""


@every
def test_an_endless_answer_ends_at_the_limit(protocol, trouble):
    with serve([*protocol.start, *[protocol.says('"more and more "') * SLICE] * 100]) as server:
        caught = trouble(protocol.provider(server, largest=40_000))
    assert (caught.trouble, caught.message) == (Trouble.CUT, "127.0.0.1: the answer is longer than 40000 bytes")


@every
def test_endless_keep_alives_end_at_the_limit_of_bytes_too(protocol, trouble):
    with serve([*protocol.start, *[b": keep-alive\n\n" * SLICE] * 100]) as server:
        caught = trouble(protocol.provider(server, largest=40_000))
    assert caught.message == "127.0.0.1: the answer is longer than 40000 bytes"


PINGS = {
    "comments": b": keep-alive\n\n",
    "pings": event({"type": "ping"}),
    "empty deltas": event({"choices": [{"delta": {"content": ""}}]}),
    "a line that never ends": b"d",
}


@every
@pytest.mark.parametrize("ping", PINGS.values(), ids=PINGS)
def test_what_only_says_that_it_is_alive_is_believed_for_a_while(protocol, trouble, ping):
    with serve([*protocol.start, *[piece for _ in range(500) for piece in (0.01, ping)]]) as server:
        caught = trouble(protocol.provider(server, progress=0.1))
    assert caught.trouble is Trouble.DOWN
    assert "nothing of an answer for 0.1 s, though bytes kept coming" in caught.message


def test_an_answer_that_grows_however_slowly_is_not_given_up():
    async def follow():
        loop, now = asyncio.get_running_loop(), [0.0]
        loop.time, real = lambda: now[0], loop.time
        try:
            answer = Answer(ChatFold())
            growth, found = Growth(answer, 10.0, 2.0), []
            for grows in [True, True, False, True, False, False]:
                now[0] += 8.0
                answer.feed(CHAT.says('"x"') if grows else PINGS["empty deltas"])
                found.append(growth.stalled())
            return found
        finally:
            loop.time = real

    assert asyncio.run(follow()) == [False, False, False, False, False, True]


@every
def test_what_follows_a_told_end_for_ever_delays_nobody(protocol, ask):
    endless = [piece for _ in range(500) for piece in (0.01, b": still here\n\n")]
    with serve([*protocol.start, protocol.says('"hi"'), protocol.end[0], *endless]) as server:
        assert text_of(ask(protocol.provider(server, grace=0.1))[-1].blocks) == "hi"


@every
def test_a_drip_of_single_bytes_is_read_and_its_silence_is_not_borne(protocol, ask, trouble):
    whole = b"".join(protocol.answer('"h"', '"i"'))
    with serve([bytes([byte]) for byte in whole]) as server:
        assert text_of(ask(protocol.provider(server))[-1].blocks) == "hi"
    with serve([*protocol.start, protocol.says('"h"'), b"d", HANG]) as server:
        caught = trouble(protocol.provider(server, inactivity=0.05))
    assert (caught.trouble, caught.message) == (Trouble.CUT, "127.0.0.1: not a byte for 0.05 s")


# --- what is too large ------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    "line", [b"data: " + b"x" * 4096, b"x" * 4096, b": " + b"x" * 4096], ids=["data", "bare", "comment"]
)
def test_a_line_that_never_ends_is_held_up_to_a_limit(protocol, trouble, line):
    with serve([*protocol.start, line, *[b"x" * 4096] * 50]) as server:
        caught = trouble(protocol.provider(server, largest=40_000))
    assert caught.trouble is Trouble.CUT
    assert caught.message == "127.0.0.1: one event of the answer is longer than 10000 bytes"


@every
def test_a_body_that_is_no_stream_is_held_up_to_a_limit(protocol, trouble):
    with serve([b'{"x": "', *[b"x" * 4096] * 50]) as server:
        caught = trouble(protocol.provider(server, largest=40_000))
    assert caught.message == "127.0.0.1: the answer is longer than 10000 bytes, and is no stream"


def test_pieces_of_two_bytes_take_no_more_room_than_their_sum():
    decoder = Decoder(max_event=40_000)
    tracemalloc.start()
    try:
        for _ in range(20_000):
            decoder.feed(b"xy")
        with pytest.raises(StreamTooLarge):
            decoder.feed(b"xy")
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


@every
def test_an_error_of_any_length_is_read_in_part(protocol, trouble):
    page = Response([b"<p>no " + b"x" * 4096, *[b"x" * 4096] * 1000, HANG], 400, {"content-type": "text/html"})
    with serve(page) as server:
        caught = trouble(protocol.provider(server))
    assert (caught.trouble, caught.status) == (Trouble.REFUSED, 400)
    assert len(caught.message) < 300


@every
def test_headers_without_end_are_not_taken(protocol, trouble):
    flood = b"HTTP/1.1 200 OK\r\n" + b"x-flood: " + b"x" * 8000 + b"\r\n"
    with serve(Response([flood, *[b"x-more: " + b"x" * 8000 + b"\r\n"] * 100, HANG], raw=True)) as server:
        caught = trouble(protocol.provider(server))
    assert caught.trouble is Trouble.DOWN
    assert "the connection broke" in caught.message


@every
def test_more_calls_than_any_model_makes_are_refused(protocol, trouble):
    calls = b"".join(event(protocol.call.replace("N", str(number))) for number in range(1001))
    with serve([*protocol.start, calls, *protocol.end]) as server:
        caught = trouble(protocol.provider(server))
    assert (caught.trouble, caught.message) == (Trouble.CUT, "127.0.0.1: the answer has more than 1000 calls")


def test_arguments_in_thirty_thousand_pieces_cost_no_more_than_their_length(ask):
    """Each looks as if it were the last, and names the tool again."""
    piece = '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}}]}'
    with serve([event(piece) * 1000] * 30 + [*CHAT.end]) as server:
        reply = ask(CHAT.provider(server))[-1]
    assert [call.arguments for call in calls_of(reply.blocks)] == ["{}"]


# --- what is packed ---------------------------------------------------------------------------------------------


def packed(body, encoding="gzip"):
    headers = {"content-type": "text/event-stream", "content-encoding": encoding}
    return Response([body[at : at + 1000] for at in range(0, len(body), 1000)], 200, headers)


@every
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "GZIP"])
def test_a_packed_answer_is_read(protocol, ask, encoding):
    body = b"".join(protocol.answer('"hi"'))
    squeezed = zlib.compress(body) if encoding == "deflate" else gzip.compress(body)
    with serve(packed(squeezed, encoding)) as server:
        assert text_of(ask(protocol.provider(server))[-1].blocks) == "hi"


@every
def test_a_bomb_is_unpacked_up_to_the_limit(protocol, trouble):
    bomb = gzip.compress(b": keep-alive\n\n" * 2**20)
    assert len(bomb) < 100_000
    with serve(packed(bomb)) as server:
        caught = trouble(protocol.provider(server, largest=500_000))
    assert caught.message == "127.0.0.1: the answer is longer than 500000 bytes"


def test_a_bomb_is_unpacked_a_little_at_a_time():
    async def sizes():
        async def whole():
            yield gzip.compress(bytes(2**22))

        return [len(piece) async for piece in unpacked(whole(), "gzip")]

    found = asyncio.run(sizes())
    assert sum(found) == 2**22
    assert max(found) == PIECE


@every
def test_a_bomb_as_an_error_is_unpacked_in_part(protocol, trouble):
    bomb = attrs.evolve(packed(gzip.compress(b"no " * 2**22)), status=400)
    with serve(bomb) as server:
        caught = trouble(protocol.provider(server))
    assert caught.status == 400
    assert caught.message.startswith("127.0.0.1: HTTP 400: no no")


@every
@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "x" * 5000])
def test_what_is_packed_otherwise_is_refused_by_name(protocol, trouble, encoding):
    with serve(packed(b"x", encoding)) as server:
        caught = trouble(protocol.provider(server))
    assert caught.trouble is Trouble.REFUSED
    assert f"the body is packed as {encoding[:40]!r}" in caught.message


@every
def test_a_packed_body_that_is_damaged_is_asked_for_again(protocol, ask):
    async def sleep(_):
        pass

    with serve(packed(b"\x1f\x8bnonsense"), protocol.answer('"hi"')) as server:
        notice, *_, reply = ask(protocol.provider(server, patience=30, sleep=sleep))
    assert "the packed body is damaged" in notice.message
    assert text_of(reply.blocks) == "hi"


# --- what is nested ---------------------------------------------------------------------------------------------

LISTS = ["[" * depth + "]" * depth for depth in (129, 900)]
OBJECTS = ['{"a":' * depth + "1" + "}" * depth for depth in (1020, 100_000)]
nested = pytest.mark.parametrize("value", LISTS + OBJECTS, ids=lambda value: f"{value[0]} {value.count(value[0])}")


@every
@nested
def test_what_is_nested_without_end_is_no_answer(protocol, trouble, value):
    with serve([*protocol.start, event(protocol.opaque.replace("VALUE", value)), *protocol.end]) as server:
        caught = trouble(protocol.provider(server))
    assert caught.trouble is Trouble.DOWN
    assert "the stream holds a line that is " in caught.message


@every
@nested
@pytest.mark.parametrize("shape", ["VALUE", '{"error": VALUE}', '{"error": {"message": VALUE}}'])
def test_an_error_that_is_nested_without_end_is_quoted(protocol, trouble, value, shape):
    body = shape.replace("VALUE", value).encode()
    with serve(Response([body], 400, {"content-type": "application/json"})) as server:
        caught = trouble(protocol.provider(server))
    assert (caught.trouble, caught.status) == (Trouble.REFUSED, 400)
    assert len(caught.message) < 2100


@every
def test_up_to_a_hundred_levels_go_back_as_they_came(protocol, ask):
    value = '{"a":[' * 50 + "1" + "]}" * 50
    with serve(
        [*protocol.start, event(protocol.opaque.replace("VALUE", value)), protocol.says('"hi"'), *protocol.end]
    ) as server:
        reply = ask(protocol.provider(server))[-1]
    assert value in next(block.opaque for block in reply.blocks if getattr(block, "opaque", None))


def test_arguments_of_any_depth_are_kept_as_text(ask):
    arguments = json.dumps('{"a":' * 5000 + "1" + "}" * 5000)
    piece = CHAT.call.replace("N", "0").replace('"{}"', arguments)
    with serve([event(piece), *CHAT.end]) as server:
        (call,) = calls_of(ask(CHAT.provider(server))[-1].blocks)
    assert call.arguments == json.loads(arguments)


# --- what is no text, and no number -----------------------------------------------------------------------------

TEXTS = {
    "NUL": (['"a\\u0000b"'], "a\x00b"),
    "an escaped pair": (['"\\ud83d\\ude00"'], "😀"),
    "a pair cut in two": (['"a\\ud83d"', '"\\ude00b"'], "a😀b"),
    "half a pair": (['"a\\ud83d"', '"b"'], "a\ufffdb"),
    "the other half": (['"\\ude00"'], "\ufffd"),
    "halves the wrong way round": (['"\\ude00\\ud83d"', '"!"'], "\ufffd\ufffd!"),
}


@every
@pytest.mark.parametrize(("words", "text"), TEXTS.values(), ids=TEXTS)
def test_words_are_whole_characters(protocol, ask, words, text):
    with serve(protocol.answer(*words)) as server:
        *shown, reply = ask(protocol.provider(server))
    assert text_of(reply.blocks) == text
    assert "".join(delta.text for delta in shown) == text
    assert all(isinstance(delta, TextDelta) for delta in shown)


@every
def test_bytes_that_are_no_utf8_are_replaced(protocol, ask):
    bad = protocol.says('"BAD"').replace(b"BAD", b"a\xff\xc3b")
    with serve([*protocol.start, bad, *protocol.end]) as server:
        assert text_of(ask(protocol.provider(server))[-1].blocks) == "a\ufffd\ufffdb"


@every
@pytest.mark.parametrize("number", ["1e999", "NaN", "-Infinity", "9" * 400, "1e-999", "true"])
def test_numbers_beyond_all_bounds_hurt_nobody(protocol, ask, number):
    beside = f'{{"usage":{{"prompt_tokens":{number},"input_tokens":{number},"completion_tokens":{number}}},'
    said = [
        event(beside + protocol.delta.replace("WORDS", '"hi"')[1:]),
        event(protocol.opaque.replace("VALUE", number)),
    ]
    with serve([*protocol.start, *said, *protocol.end]) as server:
        reply = ask(protocol.provider(server))[-1]
    assert text_of(reply.blocks) == "hi"
    assert reply.usage.output == 0


def test_half_a_character_in_arguments_is_never_made_whole(ask):
    call = CHAT.call.replace("N", "0").replace('"{}"', '"{\\"x\\": \\"\\ud83d\\"}"')
    with serve([event(call), *CHAT.end]) as server:
        (found,) = calls_of(ask(CHAT.provider(server))[-1].blocks)
    assert found.arguments == '{"x": "\ud83d"}'


# --- where it leads, and how it breaks --------------------------------------------------------------------------


@every
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_key_is_not_carried_to_where_a_redirect_leads(protocol, trouble, status):
    with serve(protocol.answer('"hi"')) as elsewhere:
        with serve(Response([], status, {"location": elsewhere.url + "/chat/completions"})) as server:
            caught = trouble(protocol.provider(server))
            assert len(server.requests) == 1
        assert elsewhere.connections == 0
    assert (caught.trouble, caught.status) == (Trouble.REFUSED, status)
    assert f"set the base URL to {elsewhere.url}" in caught.message


@every
@pytest.mark.parametrize("location", ["http://[::1/", "x" * 20_000, "//sk-very-secret-key@evil.example/", "\x7f"])
def test_a_redirect_to_nowhere_is_told_briefly(protocol, trouble, location):
    with serve(Response([], 302, {"location": location})) as server:
        caught = trouble(protocol.provider(server))
    assert len(caught.message) < 400
    assert "sk-very-secret-key" not in caught.message


def raw(*pieces):
    return Response(pieces, raw=True)


def head(length):
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % length


@every
def test_a_body_that_ends_before_its_announced_length_is_cut(protocol, trouble):
    half = b"".join([*protocol.start, protocol.says('"half"')])
    with serve(raw(head(len(half) + 100), half, CUT)) as server:
        assert trouble(protocol.provider(server)).trouble is Trouble.CUT


@every
def test_a_told_end_counts_though_the_announced_length_is_wrong(protocol, ask):
    whole = b"".join(protocol.answer('"hi"'))
    for length in (len(whole) + 100, len(whole) - 1):
        with serve(raw(head(length), whole, CUT)) as server:
            assert text_of(ask(protocol.provider(server))[-1].blocks) == "hi"


@every
@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzzzz\r\n",
        b"HTTP/1.1 200 OK\r\nx y: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\x00\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
)
def test_a_connection_that_breaks_in_the_headers_is_asked_again(protocol, ask, start):
    async def sleep(_):
        pass

    with serve(raw(start, CUT), protocol.answer('"hi"')) as server:
        notice, *_, reply = ask(protocol.provider(server, patience=30, sleep=sleep))
        assert len(server.requests) == 2
    assert "127.0.0.1: " in notice.message
    assert text_of(reply.blocks) == "hi"


@every
def test_nothing_but_trouble_comes_of_noise(protocol, ask):
    import random

    rng = random.Random(20)
    alphabet = [*b'data: {}[]"\\:,\n\r0e', 0, 255]
    whole = b"".join(protocol.answer('"hi"'))
    for _ in range(10):
        noise = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            noise[rng.randrange(len(noise))] = rng.choice(alphabet)
        with serve([bytes(noise)]) as server, suppress(ProviderTrouble):
            assert ask(protocol.provider(server))
