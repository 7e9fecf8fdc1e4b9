"""Records survive the store, and nothing foreign is read by guessing."""

import attrs
import orjson
import pytest
from hypothesis import given
from strategies import anything, records

from states.codec import VERSION, decode, encode
from states.contract import Budget, Contract
from states.errors import CodecError, NewerJournal
from states.messages import LARGEST
from states.records import BudgetChange, Resumed, RunStarted, Status, ToolResult, UserInput
from states.text import safe_json, safe_text


@given(records)
def test_a_record_is_read_as_it_was_written(record):
    assert decode(encode(record)) == record


@given(anything)
def test_whatever_a_tool_returned_can_be_stored(value):
    result = ToolResult("c", Status.OK, safe_text(str(value)), {"value": safe_json(value)})

    assert decode(encode(result)) == result


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (b"caf\xe9\x00", "caf\\xe9\\x00"),
        ("lone \udc80", "lone \\udc80"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (2**70, hex(2**70)),
        ({3, 1, 2}, [1, 2, 3]),
        ({1: {2}}, {"1": [2]}),
        (True, True),
    ],
)
def test_what_json_cannot_hold_stays_visible(value, kept):
    assert safe_json(value) == kept


def test_a_lone_surrogate_in_words_does_not_lose_them():
    assert decode(encode(UserInput("a\ud800b"))) == UserInput("a\\ud800b")


def test_an_integer_too_long_to_print_is_kept():
    assert safe_json(10**5000) == hex(10**5000)


def test_nesting_is_bounded():
    value = []
    for _ in range(10_000):
        value = [value]

    assert decode(encode(ToolResult("c", Status.OK, "", {"deep": safe_json(value)})))


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"{", "not JSON"),
        (b"[]", "'kind'"),
        (b'{"kind":"teleport"}', "'teleport'"),
        (b'{"kind":"resumed","by":"me"}', "'by'"),
        (b'{"kind":"user_input"}', "'user_input'"),
        (b'{"kind":"verdict","gate":"g","ruling":{"type":"maybe"}}', "'verdict'"),
        (b'{"kind":"transition","source":"limbo","event":"x","target":"y"}', "limbo"),
        (b'{"kind":"user_input","text":"x","source":"telepathy"}', "telepathy"),
    ],
)
def test_a_foreign_body_is_refused_by_name(body, named):
    with pytest.raises(CodecError, match=named):
        decode(body)


def test_a_newer_format_is_refused():
    with pytest.raises(NewerJournal, match=f"knows {VERSION}"):
        decode(encode(Resumed()), VERSION + 1)


def test_what_a_run_is_held_to_is_written_in_full():
    """Else a later program with other defaults would read another contract out of the same journal."""
    body = orjson.loads(encode(RunStarted(1, "g", "t", "m")))

    assert body["contract"] == {
        "checks": [],
        "commands": [],
        "proofs": [],
        "output_schema": "",
        "verify": None,
    }
    assert body["budget"] == {field.name: None for field in attrs.fields(Budget)} | {"max_turns": 200}
    assert (body["permission"], body["system"], body["workspace"]) == ("full", "", "")


def test_a_changed_budget_is_written_in_full():
    body = orjson.loads(encode(BudgetChange(Budget(max_turns=7))))

    assert body["budget"] == {field.name: None for field in attrs.fields(Budget)} | {"max_turns": 7}


def test_a_contract_with_defaults_left_out_is_still_read():
    body = b'{"kind":"run_started","run":1,"graph":"g","tools":"t","model":"m"}'

    assert decode(body) == RunStarted(1, "g", "t", "m", contract=Contract(), budget=Budget())


LIMITS = [field.name for field in attrs.fields(Budget)]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("value", [0, -1, LARGEST + 1, 10**20, float("inf"), float("nan")])
def test_a_limit_that_a_journal_could_not_keep_is_refused_by_name(limit, value):
    with pytest.raises(ValueError, match=f"{limit} must be positive and at most"):
        Budget(**{limit: value})


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("value", [1, LARGEST, None])
def test_a_limit_within_bounds_is_read_as_it_was_written(limit, value):
    change = BudgetChange(Budget(**{limit: value}))

    assert decode(encode(change)) == change
