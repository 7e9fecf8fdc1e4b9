"""When a turn is asked for again, and for how long."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import CUT, HANG, ChatServer, Response, chunk, error, text_turn

from fsm.providers.backoff import CEILING, FIRST, SHORTEST, Patience, retry_after
from states.messages import text_of
from states.ports import RetryNotice
from states.records import Trouble

ROLE = chunk({"role": "assistant", "content": None})


@pytest.mark.parametrize(
    "first",
    [
        *(error(status, "busy") for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
        Response([b"<html>Bad Gateway</html>"], 502, {"content-type": "text/html"}),
        [CUT],
        [HANG],
        [b": ping\n\n", CUT],
        [ROLE, CUT],
        [ROLE],
        [],
        [ROLE, b'data: {"error":{"code":500,"message":"peg-native","type":"server_error"}}\n\n'],
        [b'data: {"error":{"message":"Upstream error","code":502}}\n\n'],
        [b'{"error":{"message":"busy","code":"503"}}'],
    ],
)
def test_what_gave_nothing_of_an_answer_is_asked_again(chat, ask, naps, first):
    with ChatServer(lambda _, n: text_turn("hi") if n else first) as server:
        notice, *_, reply = ask(chat(server.url, first_token=0.1))
        assert len(server.requests) == 2
        assert server.bodies[0] == server.bodies[1]
    assert isinstance(notice, RetryNotice)
    assert notice.attempt == 2
    assert naps == [notice.delay]
    assert 0 < notice.delay <= FIRST
    assert text_of(reply.blocks) == "hi"


def test_the_waits_double_up_to_a_ceiling_and_end_with_the_patience(chat, trouble, naps):
    with ChatServer(lambda *_: error(503, "busy")) as server:
        caught = trouble(chat(server.url, patience=30.0))
        assert 5 < len(server.requests) <= len(naps) + 1
    assert caught.trouble is Trouble.DOWN
    assert "giving up" in caught.message
    assert 20 < sum(naps) <= 30


def test_without_patience_there_is_one_attempt(chat, trouble, naps):
    with ChatServer(lambda *_: error(503, "busy")) as server:
        assert trouble(chat(server.url, patience=0)).trouble is Trouble.DOWN
        assert len(server.requests) == 1
    assert naps == []


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:07 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 7.0),
    ],
)
def test_the_wait_that_the_server_asks_for_is_kept(chat, ask, naps, headers, least):
    with ChatServer(lambda _, n: text_turn("hi") if n else error(429, "slow down", headers=headers)) as server:
        ask(chat(server.url))
    assert least < naps[0] <= least + FIRST


def test_a_wait_beyond_the_patience_ends_the_turn_at_once(chat, trouble, naps):
    with ChatServer(lambda *_: error(429, "slow down", headers={"retry-after": "3600"})) as server:
        caught = trouble(chat(server.url))
        assert len(server.requests) == 1
    assert (caught.trouble, naps) == (Trouble.DOWN, [])
    assert "it asks to wait 3600 s, more than the 30 s left" in caught.message


FAR: str = "Wed, 21 Oct 99999999999999999999 07:28:00 GMT"


@pytest.mark.parametrize("value", ["", "soon", "-1", "nan", "inf", "Thu, 99 Foo 2015", FAR])
def test_a_retry_after_that_cannot_be_read_is_none(value):
    assert retry_after({"retry-after": value}) is None


def test_a_date_in_the_past_asks_for_no_wait():
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


@given(st.integers(), st.floats(0, 100), st.lists(st.none() | st.floats(0, 20), max_size=50))
def test_patience_is_never_exceeded_and_always_ends(seed, seconds, asked):
    patience = Patience(seconds, random.Random(seed))
    waited = 0.0
    for wish in [*asked, *[None] * int(seconds / SHORTEST + 2)]:
        left = patience.left
        delay = patience.next(wish)
        if delay is None:
            assert left <= 0 or (wish is not None and wish > left)
            if wish is None:
                break
            continue
        assert (wish or 0) <= delay <= (wish or 0) + CEILING
        waited += delay
    assert waited <= seconds + 1e-6
    assert patience.next(None) is None
