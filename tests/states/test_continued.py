"""Where a continuation repeats the end of what was cut off, it is read once; what repeats itself rightfully stays."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from states.continued import DISTINCT, SHORTEST, joined

REPEATED = {
    "the end of a sentence": ("It rains. The quick brown fox jumps over", " the lazy dog.", "brown fox jumps over"),
    "a line of code": ("def f():\n    return compute(left, ri", "ght)\n", "    return compute(left, ri"),
    "Chinese": ("他说:春眠不觉晓,处处闻啼鸟。夜来风雨声,花落知", "多少。", "春眠不觉晓,处处闻啼鸟。夜来风雨声,花落知"),
    "all of it": ("The quick brown fox jumps over", " the lazy dog.", "The quick brown fox jumps over"),
    "exactly as short as may be": ("x: abcdefgh-12345678-az", "!", "abcdefgh-12345678-az"),
}


@pytest.mark.parametrize(("before", "rest", "again"), REPEATED.values(), ids=REPEATED)
@pytest.mark.parametrize("space", ["", " ", "\n\n"])
def test_the_end_that_is_said_again_is_read_once(before, rest, again, space):
    assert before.endswith(again)
    assert joined(before, space + again + rest) == before + rest


MEANT = {
    "nothing is repeated": ("The quick brown fox", " jumps over the lazy dog."),
    "too short": ("x: abcdefgh-12345678-a", "abcdefgh-12345678-a and on"),
    "a rule": ("Title\n" + "-" * 40, "-" * 40 + "\n"),
    "zeros": ("0, 0, 0, 0, 0, 0, 0, 0, ", "0, 0, 0, 0, 0, 0, 0, 0, 0"),
    "a table's equal rows": (
        "| a | b |\n" + "| none | unknown | 2026 |\n" * 2,
        "| none | unknown | 2026 |\n" * 2 + "end",
    ),
    "a refrain": ("oh the wind and the rain\nhey ho\noh the wind and the rain\n", "oh the wind and the rain\nend"),
    "in the middle, not at the end": ("The quick brown fox jumps over it", "The quick brown fox jumps, and"),
    "at the end of what follows": ("The quick brown fox jumps over", "Again: The quick brown fox jumps over"),
    "other capitals": ("so the quick brown fox jumps", "The quick brown fox jumps"),
    "nothing before": ("", "The quick brown fox jumps over"),
    "nothing after": ("The quick brown fox jumps over", ""),
    "only blank space after": ("The quick brown fox jumps over", " " * 40),
}


@pytest.mark.parametrize(("before", "after"), MEANT.values(), ids=MEANT)
def test_what_may_be_meant_stays(before, after):
    assert joined(before, after) == before + after


@given(st.text("ab \n", max_size=60), st.text("ab \n", max_size=60))
def test_few_different_characters_are_never_taken_away(before, after):
    assert len(set("ab \n")) < DISTINCT
    assert joined(before, after) == before + after


@given(st.text(max_size=80), st.text(max_size=80), st.integers(0, 80))
def test_nothing_is_lost_but_an_overlap(before, after, again):
    after = before[len(before) - again :] + after if again else after
    whole = joined(before, after)
    assert whole.startswith(before)
    assert after.endswith(whole[len(before) :])
    gone = len(before) + len(after) - len(whole)
    assert gone == 0 or (gone >= SHORTEST and before.endswith(after[:gone].lstrip()))


def test_a_text_that_nearly_repeats_itself_for_ever_is_joined_in_time():
    line = "the same line again and again\n"
    before, after = line * 4000 + "!", line * 4000
    began = time.process_time()
    assert joined(before, after) == before + after
    assert time.process_time() - began < 1
