"""The toolbox: what it refuses at the start, what it says to bad arguments, and what it does with long outputs."""

import asyncio
from typing import Annotated

import attrs
import pytest

from fsm.tools import Keywords, Tools, tool
from fsm.tools.limits import KEPT, LIMIT, limited
from states.errors import ConfigError
from states.ports import ToolOutput, ToolRun
from states.records import Status


@attrs.frozen
class Item:
    name: str
    price: float = 0.0


@tool
def order(items: list[Item], count: Annotated[int, Keywords(minimum=1)] = 1, mode: "str | None" = None) -> str:
    """Order something."""
    return f"{len(items)} x {count}"


@tool
def ping() -> str:
    """Answer."""
    return "pong"


TOOLS = Tools([order, ping])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["arguments: missing 'items'"]),
        ([1], ["arguments: expected object, got array [1]"]),
        (None, ["arguments: expected object, got null"]),
        ({"items": "x"}, ['items: expected array, got string "x"']),
        ({"items": [{"name": "a"}, {"name": 3, "price": "dear"}]}, ["items[1].name: expected string, got integer 3"]),
        ({"items": [{"name": "a"}, {"name": 3, "price": "dear"}]}, ["items[1].price: expected number"]),
        ({"items": [], "extra": 1, "more": 2}, ["unknown 'extra', 'more'; known are items, count, mode"]),
        ({"items": [], "count": 0}, ["count: 0 is less than the minimum of 1"]),
        ({"items": [], "count": True}, ["count: expected integer, got boolean true"]),
        ({"items": [], "mode": 5}, ["mode: fits none of the alternatives", "expected string", "expected null"]),
    ],
)
def test_a_complaint_names_the_path_and_what_was_expected(arguments, words):
    said = TOOLS.complaint("order", arguments)

    assert said.startswith("the arguments do not fit order: ")
    assert said.endswith(".")
    for word in words:
        assert word in said


def test_good_arguments_are_not_complained_about():
    assert TOOLS.complaint("order", {"items": [{"name": "a", "price": 1}], "count": 2, "mode": "fast"}) is None
    assert TOOLS.complaint("ping", {}) is None


def test_a_complaint_names_eight_faults_and_counts_the_rest_and_stays_short():
    said = TOOLS.complaint("order", {"items": ["x" * 10_000] * 12})

    assert said.count("expected object") == 8
    assert said.endswith("; and 4 more.")
    assert len(said) < 2_000


def test_an_unknown_tool_is_answered_with_the_known_ones():
    assert TOOLS.complaint("pong", {}) == "there is no tool 'pong'; the tools are order, ping."
    assert Tools([]).complaint("pong", {}) == "there is no tool 'pong'; the tools are none at all."
    assert TOOLS.spec("pong") is None


def test_specs_keep_their_order():
    assert [spec.name for spec in TOOLS.specs] == ["order", "ping"]
    assert TOOLS.spec("ping") is ping.spec


def test_running_checks_the_arguments_again():
    output = asyncio.run(TOOLS.run(ToolRun("order", {"items": 1}, "s:1")))
    lost = asyncio.run(TOOLS.run(ToolRun("pong", {}, "s:1")))

    assert output.status is lost.status is Status.ERROR
    assert output.text.endswith("Not started.")
    assert lost.text.startswith("Error: there is no tool 'pong'")


def test_a_tool_that_is_gone_cannot_be_asked_what_happened():
    output = asyncio.run(TOOLS.reconcile(ToolRun("pong", {}, "s:1")))

    assert output.status is Status.UNKNOWN


def _with(parameters):
    return attrs.evolve(ping, spec=attrs.evolve(ping.spec, parameters=parameters))


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([ping, ping], "two tools are called 'ping'"),
        ([lambda: None], "decorate it with @tool"),
        ([_with({"type": "nonsense"})], "no JSON Schema"),
        ([_with({"type": "array"})], "type 'object'"),
    ],
)
def test_a_toolbox_is_checked_when_it_is_made(tools, words):
    with pytest.raises(ConfigError, match=words):
        Tools(tools)


def test_a_schema_is_never_fetched_from_elsewhere():
    tools = Tools([_with({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}})])

    assert "refers to something that is not in it" in tools.complaint("ping", {"a": 1})


def test_endless_nesting_is_a_complaint():
    schema = {"type": "object", "additionalProperties": {"$ref": "#"}}
    arguments = {}
    for _ in range(600):
        arguments = {"a": arguments}

    assert Tools([_with(schema)]).complaint("ping", arguments) == "the arguments of ping are nested too deeply."


def _shown(text, directory, key="s:1", **metadata):
    return limited(ToolOutput(Status.OK, text, {"a": 1} | metadata), key, directory)


def test_a_text_at_the_limit_is_left_alone(tmp_path):
    output = _shown("x" * LIMIT, tmp_path)

    assert output == ToolOutput(Status.OK, "x" * LIMIT, {"a": 1})


def test_a_longer_text_keeps_head_and_tail_and_says_where_the_whole_is(tmp_path):
    text = "HEAD" + "\ud800" + "m" * 300_000 + "TAIL"
    output = _shown(text, tmp_path / "out", "../s:1")
    kept = tmp_path / "out" / "%2E%2E%2Fs%3A1.txt"

    assert output.text.startswith("HEAD\\ud800mmm")
    assert output.text.endswith("mmmTAIL")
    assert len(output.text) <= LIMIT
    assert "of 300,014 characters left out here" in output.text
    assert str(kept) in output.text
    assert output.metadata == {"a": 1, "truncated": True, "full_output": str(kept)}
    assert kept.read_text() == text.replace("\ud800", "\\ud800")


@pytest.mark.parametrize("where", [None, "file"])
def test_without_a_place_to_keep_it_the_text_is_cut_all_the_same(tmp_path, where):
    (tmp_path / "file").write_text("in the way")
    output = _shown("x" * 300_000, where and tmp_path / where)

    assert "was not kept" in output.text
    assert output.metadata == {"a": 1, "truncated": True}


def test_the_kept_outputs_are_bounded(tmp_path):
    for number in range(KEPT):
        (tmp_path / f"{number}.txt").write_text("")
    _shown("x" * 100_001, tmp_path)

    assert len(list(tmp_path.glob("*.txt"))) == KEPT
    assert (tmp_path / "s%3A1.txt").exists()


def test_what_the_tool_itself_has_kept_is_not_written_over(tmp_path):
    (tmp_path / "s%3A1.txt").write_text("all that was printed")
    output = _shown("x" * 100_001, tmp_path, full_output=str(tmp_path / "s%3A1.txt"))

    assert (tmp_path / "s%3A1.txt").read_text() == "all that was printed"
    assert (tmp_path / "s%3A1%3Ashown.txt").read_text() == "x" * 100_001
    assert output.metadata["full_output"] == str(tmp_path / "s%3A1%3Ashown.txt")
