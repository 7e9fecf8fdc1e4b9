"""The code of docs/tools.md runs, and does what the page says."""

import asyncio
import re
from pathlib import Path

import pytest

from fsm.tools import Tools
from states.ports import ToolRun
from states.records import Status

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


@pytest.fixture(scope="module")
def page():
    names = {"__name__": "page"}
    for code in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(code, PAGE.name, "exec"), names)  # our own page
    return names


def call(page, name, /, **arguments):
    lines = []
    tools = Tools([page[name]], context=page["Index"]())
    return asyncio.run(tools.run(ToolRun(name, arguments, "session:7", lines.append))), lines


def test_the_tools_answer_as_they_say(page):
    rooms, _ = call(page, "free_rooms", day="2026-01-02")
    booked, shown = call(page, "book", room={"name": "blue"}, people=3)
    counted, steps = call(page, "count", upto=2)

    assert rooms.text == '[{"name":"blue","floor":2},{"name":"red","floor":1}]'
    assert (booked.text, shown) == ("booked blue under session:7", ["asking for blue"])
    assert (counted.text, steps) == ("2 of 2", ["1 of 2", "2 of 2"])
    assert call(page, "lookup", key="answer")[0].text == "answer: 42"


def test_what_does_not_fit_is_told(page):
    crowd, _ = call(page, "book", room={"name": "blue"}, people=9)
    nobody, _ = call(page, "book", room={"name": "blue"}, people=0)
    someday, _ = call(page, "free_rooms", day="someday")

    assert crowd.text == "Error: blue takes 8 people; ask for a larger one."
    assert "people: 0 is less than the minimum of 1" in nobody.text
    assert "day: 'someday' is not a 'date'" in someday.text
    assert {crowd.status, nobody.status, someday.status} == {Status.ERROR}


def test_the_model_sees_the_words_and_none_of_what_is_injected(page):
    book = page["book"].spec.parameters["properties"]

    assert page["free_rooms"].spec.description == "List the rooms that are free."
    assert page["free_rooms"].spec.parameters["properties"]["day"]["description"] == "the day that is asked about"
    assert book["room"]["properties"]["floor"] == {"type": "integer", "description": "where it is", "default": 1}
    assert book["people"] == {"type": "integer", "description": "how many come", "minimum": 1}
    assert list(page["lookup"].spec.parameters["properties"]) == ["key"]


def test_the_servers_keep_their_secrets(page):
    assert page["wiki"].secrets == ("Bearer a-long-secret", "a-long-secret")
    assert page["clock"].secrets == ()
