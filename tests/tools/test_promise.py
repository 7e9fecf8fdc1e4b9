"""Tools that promise JSON: what is one, what keeps it, and what breaks it is an error and never a silent text."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Literal, TypedDict

import attrs
import pytest
from support.bench import Bench, story

from fsm.providers.scripted import asks_for, says
from fsm.router import call, recall
from fsm.tools import NeedsConfirmation, Tools, tool
from fsm.world import NoHooks
from states.errors import ConfigError
from states.messages import Image
from states.ports import ToolOutput, ToolRun
from states.records import Status, ToolResult


@attrs.frozen
class Room:
    name: str
    floor: int = 1


class Booking(TypedDict):
    room: str
    people: int


NUMBERS = {"type": "array", "items": {"type": "integer"}}
BROKEN = "Error: the tool ran to its end, but what it returned is "


def returning(value, annotation=None, **options):
    """A tool that returns `value`, through all that comes after its start."""

    def work():
        return value

    if annotation is not None:
        work.__annotations__["return"] = annotation
    tools = Tools([tool(name="work", description="", **options)(work)])
    return asyncio.run(call(ToolRun("work", {}, "s:1"), tools, NoHooks(), None))


@pytest.mark.parametrize(
    ("value", "annotation", "text"),
    [
        ([Room("blue")], list[Room], '[{"name":"blue","floor":1}]'),
        ({"room": "blue", "people": 2}, Booking, '{"room":"blue","people":2}'),
        ('{"room": "blue"}', dict[str, str], '{"room": "blue"}'),
        (3, int, "3"),
        (None, Room | None, "null"),
        ("plain words", str, "plain words"),
        ("plain words", str | dict[str, int], "plain words"),
        ("a", Literal["a", "b"], "a"),
        ("plain words", None, "plain words"),
    ],
)
def test_what_a_function_is_annotated_with_is_kept(value, annotation, text):
    assert returning(value, annotation) == ToolOutput(Status.OK, text)


@pytest.mark.parametrize(
    "annotation", [list[Room], dict[str, int], Booking, Room, int, bool, Room | None, list[int] | int]
)
def test_a_text_that_is_no_json_is_an_error_where_json_was_promised(annotation):
    output = returning("all went {well", annotation)

    assert output.status is Status.ERROR
    assert output.text.startswith(f"{BROKEN}no JSON, which it promises (")
    assert output.text.endswith("\nall went {well"), "what the tool said is not lost"


@pytest.mark.parametrize(
    ("returns", "value", "said"),
    [
        ("json", "{", "no JSON, which it promises (unexpected end of data: line 1 column 2 (char 1)):\n{"),
        ("json", "", "no JSON, which it promises"),
        (NUMBERS, [1, "2"], 'not what it promises ([1]: expected integer, got string "2"):\n[1,"2"]'),
        (NUMBERS, {"a": 1}, "not what it promises (expected array, got object"),
        (Room, {"name": "blue", "wing": 3}, "not what it promises (unknown 'wing'; known are name, floor)"),
        (list[Room], None, "not what it promises (expected array, got null"),
    ],
)
def test_what_does_not_fit_a_declared_form_is_an_error_that_names_the_place(returns, value, said):
    output = returning(value, returns=returns)

    assert output.status is Status.ERROR
    assert output.text.startswith(BROKEN + said)


@pytest.mark.parametrize(
    ("returns", "value", "text"),
    [
        ("json", "[1]", "[1]"),
        (NUMBERS, [1, 2], "[1,2]"),
        (Room, Room("red"), '{"name":"red","floor":1}'),
        ("text", "{", "{"),
    ],
)
def test_what_fits_it_is_the_result(returns, value, text):
    assert returning(value, int if returns == "text" else None, returns=returns) == ToolOutput(Status.OK, text)


@pytest.mark.parametrize(
    "value",
    [
        ToolOutput(Status.ERROR, "it broke"),
        NeedsConfirmation("sure?"),
        Image("image/png", "AAAA"),
    ],
)
def test_faults_questions_and_pictures_are_no_broken_promises(value):
    output = returning(value, returns="json")

    assert not output.text.startswith(BROKEN)
    assert output.status is (Status.ERROR if isinstance(value, ToolOutput) else Status.OK)


def test_a_generator_promises_nothing_unless_it_says_so():
    async def steps() -> AsyncGenerator[str, None]:
        yield "one"

    outputs = [
        asyncio.run(
            call(ToolRun("steps", {}, "s:1"), Tools([tool(description="", returns=said)(steps)]), NoHooks(), None)
        )
        for said in (None, "json")
    ]

    assert [output.status for output in outputs] == [Status.OK, Status.ERROR]


def test_what_a_tools_own_check_finds_is_held_to_the_promise_as_well():
    @tool(description="", returns=NUMBERS, reconcile=lambda run: "nothing of the kind")
    def count() -> list[int]:
        return [1]

    output = asyncio.run(recall(ToolRun("count", {}, "s:1"), Tools([count]), None))

    assert (output.status, "no JSON" in output.text) == (Status.ERROR, True)


@pytest.mark.parametrize(
    ("returns", "named"),
    [
        ({"type": "nonsense"}, "tool 'work': returns=... is no JSON Schema: 'nonsense'"),
        ("yaml", "tool 'work': returns='yaml'; give \"json\", \"text\", a JSON Schema or a type"),
        (object(), "tool 'work', returns"),
    ],
)
def test_a_promise_that_cannot_be_is_refused(returns, named):
    with pytest.raises(ConfigError) as caught:
        returning(1, returns=returns)
    assert named in str(caught.value)


def test_a_run_goes_on_with_the_error_and_the_model_reads_it():
    @tool(read_only=True)
    async def rooms() -> list[Room]:
        """List rooms."""
        return "[{]"

    bench = Bench(asks_for(("rooms", {})), says("ok"), tools=[rooms])

    assert story(bench.run()).text == "ok"
    (result,) = story(bench.records(ToolResult))
    assert (result.status, bench.answers()[0].text) == (Status.ERROR, result.output)
    assert result.output.startswith(f"{BROKEN}no JSON")
