"""The schema of a tool: every supported annotation, and a plain refusal of every other."""

import dataclasses
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict

import attrs
import pytest
from jsonschema import Draft202012Validator

from fsm.tools import Keywords, ToolContext, tool
from states.errors import ConfigError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(Enum):
    WORD = "a"
    NUMBER = 1
    NOTHING = None


class Point(TypedDict):
    x: int
    label: NotRequired[Annotated[str, "what to call it"]]


class Loose(TypedDict, total=False):
    a: int


@attrs.frozen
class Node:
    name: str
    below: "list[Node]" = attrs.field(factory=list)


@attrs.frozen
class Pair:
    left: int
    right: str = "r"
    made: int = attrs.field(init=False, default=0)


@dataclasses.dataclass
class Box:
    size: float
    tags: list[str] = dataclasses.field(default_factory=list)


Metres = NewType("Metres", float)

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "label": {"type": "string", "description": "what to call it"}},
    "required": ["x"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045  # the old spelling counts too
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),  # noqa: PYI061  # this spelling counts too
        (Literal[Colour.RED], {"enum": ["red"]}),
        (Colour, {"enum": ["red", "blue"]}),
        (Level, {"enum": [1, 2]}),
        (Mixed, {"enum": ["a", 1, None]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": False,
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
        (Metres, {"type": "number"}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (dt.date, {"type": "string", "format": "date"}),
        (dt.time, {"type": "string", "format": "time"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (Decimal, {"type": ["string", "number"], "format": "decimal"}),
        (Path, {"type": "string", "format": "path"}),
        (list[bytes], {"type": "array", "items": {"type": "string", "format": "base64"}}),
        (Annotated[int, "how many", Keywords(minimum=1)], {"type": "integer", "description": "how many", "minimum": 1}),
        (Point, POINT),
        (
            Loose,
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": [], "additionalProperties": False},
        ),
        (
            Pair,
            {
                "type": "object",
                "properties": {"left": {"type": "integer"}, "right": {"type": "string", "default": "r"}},
                "required": ["left"],
                "additionalProperties": False,
            },
        ),
        (
            Box,
            {
                "type": "object",
                "properties": {"size": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["size"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_an_annotation_has_this_schema(annotation, expected):
    def f(value): ...

    f.__annotations__ = {"value": annotation}
    parameters = tool(f).spec.parameters

    assert parameters == {
        "type": "object",
        "properties": {"value": expected},
        "required": ["value"],
        "additionalProperties": False,
    }
    Draft202012Validator.check_schema(parameters)


def test_a_class_that_contains_itself_becomes_a_reference():
    @tool
    def plant(tree: Node, other: Node | None = None) -> None: ...

    schema = plant.spec.parameters
    validator = Draft202012Validator(schema)

    assert schema["properties"]["tree"] == {"$ref": "#/$defs/Node"}
    assert schema["properties"]["other"] == {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}
    assert validator.is_valid({"tree": {"name": "a", "below": [{"name": "b", "below": []}]}})
    assert not validator.is_valid({"tree": {"name": "a", "below": [{"name": 1}]}})


def test_names_descriptions_defaults_and_promises_reach_the_spec():
    @tool(read_only=True)
    def find(
        query: str, limit: int = 5, colour: Colour = Colour.RED, where: Annotated[str, "told twice"] = "here"
    ) -> str:
        """Look for something,
        quickly.

        More about it.

        Args:
            query: what to look for,
                in plain words
            limit (int): how many: at most
            where: told here too

        Returns:
            query: not a parameter
        """

    spec = find.spec

    assert (spec.name, spec.description) == ("find", "Look for something, quickly.\n\nMore about it.")
    assert spec.parameters["properties"] == {
        "query": {"type": "string", "description": "what to look for, in plain words"},
        "limit": {"type": "integer", "description": "how many: at most", "default": 5},
        "colour": {"enum": ["red", "blue"], "default": "red"},
        "where": {"type": "string", "description": "told twice", "default": "here"},
    }
    assert spec.parameters["required"] == ["query"]
    assert (spec.read_only, spec.concurrency_safe, spec.idempotent, spec.reconcilable) == (True, False, False, False)


def test_a_name_and_a_description_can_be_given():
    made = tool(name="other", description="Said differently.", idempotent=True, reconcile=lambda run: None)(
        lambda: None
    )

    assert (made.spec.name, made.spec.description) == ("other", "Said differently.")
    assert (made.spec.idempotent, made.spec.reconcilable) == (True, True)


def test_the_context_is_injected_and_not_in_the_schema():
    @tool
    def f(a: int, context: ToolContext) -> None: ...

    assert list(f.spec.parameters["properties"]) == ["a"]


def _bare(value): ...


def _star(*values: int): ...


def _stars(**values: int): ...


def _positional(value: int, /): ...


def _odd(value: object): ...


def _keys(value: dict[int, str]): ...


def _complex(value: list[complex]): ...


def _nowhere(value: "Nowhere"): ...  # noqa: F821  # that is the point


@dataclasses.dataclass
class Odd:
    when: dt.timedelta


def _inside(value: Odd): ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_bare, ("'_bare'", "'value'", "annotation is missing")),
        (_star, ("'_star'", "'values'", "*args")),
        (_stars, ("'_stars'", "'values'", "**kwargs")),
        (_positional, ("'_positional'", "'value'", "positional-only")),
        (_odd, ("'_odd'", "'value'", "object", "Injected[...]")),
        (_keys, ("'_keys'", "'value'", "dict[int, str]")),
        (_complex, ("'_complex'", "'value'", "complex")),
        (_inside, ("'_inside'", "'value'", "'when'", "timedelta")),
        (_nowhere, ("'_nowhere'", "Nowhere")),
        (lambda: None, ("'<lambda>'", "name=")),
    ],
)
def test_a_bad_declaration_is_refused_in_a_sentence(function, words):
    with pytest.raises(ConfigError) as refused:
        tool(function)

    for word in words:
        assert word in str(refused.value)


def _google(query: str, limit: int = 1):
    """Find it.

    Args:
        query: what to look for
        limit: how many
    """


def _numpy(query: str, limit: int = 1):
    """Find it.

    Parameters
    ----------
    query : str
        what to
        look for
    limit : int
        how many
    """


def _rest(query: str, limit: int = 1):
    """Find it.

    :param query: what to look for
    :param limit: how many
    :returns: nothing
    """


@pytest.mark.parametrize("function", [_google, _numpy, _rest])
def test_each_style_of_docstring_describes_the_parameters(function):
    spec = tool(function).spec

    assert spec.description == "Find it."
    assert {name: schema["description"] for name, schema in spec.parameters["properties"].items()} == {
        "query": "what to look for",
        "limit": "how many",
    }


def test_lists_in_a_docstring_keep_their_lines():
    @tool
    def f() -> None:
        """Do one
        of these:

        - the first
        - the second
        """

    assert f.spec.description == "Do one of these:\n\n- the first\n- the second"


@attrs.frozen
class Order:
    """An order.

    Attributes:
        name: what is ordered
    """

    name: str
    pair: Pair = Pair(1)


def test_the_fields_of_a_class_are_described_and_their_defaults_shown():
    @tool
    def f(order: Order, colours: list[Colour] = [Colour.RED]) -> None: ...  # noqa: B006  # shown, never changed

    properties = f.spec.parameters["properties"]

    assert properties["order"]["properties"]["name"] == {"type": "string", "description": "what is ordered"}
    assert properties["order"]["properties"]["pair"]["default"] == {"left": 1, "right": "r"}
    assert properties["colours"]["default"] == ["red"]


NOTHING = object()


def test_a_default_without_a_json_form_is_not_shown():
    @tool
    def f(value: Any = NOTHING) -> None: ...

    assert f.spec.parameters["properties"] == {"value": {}}
    assert f.spec.parameters["required"] == []
