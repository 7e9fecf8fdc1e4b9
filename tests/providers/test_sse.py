from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsm.providers.sse import Decoder, StreamTooLarge


def decode(*chunks, **limits):
    decoder = Decoder(**limits)
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.end()


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\n", [b"a"]),
        (b"data:a\n\n", [b"a"]),
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\n\n\n\ndata: b\n\n\n", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b": ping\n\n", []),
        (b": ping\n\ndata: a\n\n", [b"a"]),
        (b": ping\ndata: a\n\n", [b"a"]),
        (b"id: 1\nretry: 5\ndata: a\n\n", [b"a"]),
        (b"data\n\ndata:\n\ndata: \n\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\r\n\ndata: b\n\r\n", [b"a", b"b"]),
        (b"data: a\n\ndata: b", [b"a", b"b"]),
        (b"data: a\n\ndata: b\n", [b"a", b"b"]),
        ("data: é€😀\n\n".encode(), ["é€😀".encode()]),
        (b"", []),
    ],
)
def test_the_events_do_not_depend_on_how_the_network_cut_them(stream, data):
    assert [payload for _, payload in decode(stream)] == data
    assert [payload for _, payload in decode(*(stream[at : at + 1] for at in range(len(stream))))] == data
    for at in range(len(stream)):
        assert [payload for _, payload in decode(stream[:at], stream[at:])] == data


def test_an_event_keeps_its_name():
    assert decode(b"event: error\ndata: a\n\ndata: b\n\n") == [(b"error", b"a"), (b"", b"b")]


def test_an_event_comes_as_soon_as_it_is_complete():
    decoder = Decoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\n") == [(b"", b"a")]
    assert decoder.feed(b"data: b\r\n\r") == [(b"", b"b")]
    assert decoder.feed(b"\ndata: c") == []
    assert decoder.feed(b"\n\n") == [(b"", b"c")]


lines = st.lists(st.sampled_from([b"data: x", b"data:y", b": c", b"event: e", b"", b"id: 1", b"data: \xc3\xa9"]))
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(lines, ends, st.lists(st.integers(0, 200)))
def test_any_cut_of_any_stream_gives_the_same(parts, end, cuts):
    stream = b"".join(part + end for part in parts)
    whole = decode(b"".join(part + b"\n" for part in parts))
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert decode(*(stream[a:b] for a, b in pairwise(places))) == whole


def test_an_event_that_never_ends_is_refused():
    with pytest.raises(StreamTooLarge, match="one event of the answer is longer than 100 bytes"):
        decode(*[b"data: " + b"x" * 30] * 4, max_event=100)


def test_an_answer_that_never_ends_is_refused():
    with pytest.raises(StreamTooLarge, match="the answer is longer than 100 bytes"):
        decode(*[b"data: x\n\n"] * 20, max_stream=100)


def test_a_long_event_in_small_pieces_costs_no_more_than_its_length():
    decoder = Decoder()
    for _ in range(20_000):
        assert decoder.feed(b"x" * 50) == []
    assert len(decoder._held) == 1_000_000, "one buffer, that grows at its end"
