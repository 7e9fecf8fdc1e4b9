"""Secrets are replaced wherever they stand, also when they come in pieces."""

from hypothesis import given
from hypothesis import strategies as st

from fsm.redact import MASK, Redactor

SECRET = "sk-abcabcabd"


@given(st.text("sk-abcd x", max_size=30), st.text("sk-abcd x", max_size=30), st.data())
def test_no_way_of_cutting_a_stream_lets_a_secret_through(before, after, data):
    whole = before + SECRET + after
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    stream = Redactor([SECRET]).stream()

    shown = "".join([stream.feed(piece) for piece in pieces] + [stream.rest()])

    assert SECRET not in shown
    assert shown == whole.replace(SECRET, MASK)


def test_text_without_a_secret_is_shown_at_once():
    assert Redactor([SECRET]).stream().feed("hello") == "hello"


def test_a_secret_is_found_in_an_encoded_record():
    redactor = Redactor(['sk-with"quote\\and'])

    assert redactor.body(b'{"text":"sk-with\\"quote\\\\and!"}') == b'{"text":"[redacted]!"}'


def test_a_string_too_short_to_be_a_secret_is_left_alone():
    assert Redactor(["a", "test"]).text("a test") == "a test"
