"""What a person is shown of strangers' text: nothing in it steers the terminal, turns a line around, or hides."""

import pytest

from fsm.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Ja\x9bb", "\\x1b[2Ja\\x9bb"),
        ("a\rb\x00", "a\\x0db\\x00"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("r\u200bm\ufeff -r\u2060f\xad", "r\\u200bm\\ufeff -r\\u2060f\\xad"),
        ("ls\U000e0072\U000e006d", "ls\\U000e0072\\U000e006d"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_steers_reorders_or_hides_is_written_out(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["a\tb\nc", "日本語", "👩\u200d💻", "می\u200cخواهم", "é"])
def test_what_people_write_stays_as_it_is(text):
    assert visible(text) == text
