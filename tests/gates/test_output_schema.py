"""Which schemas an output may be held to, and what fits them."""

import json

import pytest
from jsonschema import FormatChecker

from gates import output_schema
from gates.output_schema import DEEPEST, LARGEST_OUTPUT, LARGEST_SCHEMA, MOST_NODES, checked, fits
from states.errors import ConfigError

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def of(**properties):
    return json.dumps({"type": "object", "properties": properties})


def nested(levels):
    """A schema of an object with exactly so many levels of objects."""
    inner = {}
    for _ in range((levels - 1) // 2):
        inner = {"properties": {"x": inner}}
    return json.dumps({"type": "object"} | inner)


def test_a_schema_within_the_limits_is_taken():
    assert checked(nested(DEEPEST - 1))
    assert checked(of(**{f"p{n}": {} for n in range(MOST_NODES - 2)}))
    assert checked(of(x={"description": "y" * (LARGEST_SCHEMA - 100)}))


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (nested(DEEPEST + 1), f"at most {DEEPEST} are taken; name inner parts in \\$defs"),
        (of(**{f"p{n}": {} for n in range(MOST_NODES - 1)}), f"at most {MOST_NODES} are taken; refer to repeated"),
        (of(x={"description": "y" * LARGEST_SCHEMA}), f"at most {LARGEST_SCHEMA} are taken; move parts"),
        ("{", "it is no JSON"),
        ("[]", "a JSON Schema of an object is needed"),
        ('{"type": "array"}', 'its root must say "type": "object"'),
        (of(x={"type": "number", "minimum": "1"}), "it is no JSON Schema, at properties/x/minimum"),
        (of(x={"$ref": "https://example.org/other.json"}), "nothing is fetched; copy that into"),
        (of(x={"$ref": "other.json#/a"}), "nothing is fetched"),
        (of(x={"$ref": "#/$defs/Nowhere"}), "leads nowhere in it"),
        (of(x={"type": "string", "format": "idn-hostname-x"}), None),
        (json.dumps({"type": "object", "$schema": "http://json-schema.org/draft-04/schema#"}), "known are .*2020-12"),
    ],
)
def test_what_is_wrong_with_a_schema_is_named_with_the_way_out(schema, said):
    if said is None:
        assert checked(schema)  # a format that the standard does not know is an annotation
        return
    with pytest.raises(ConfigError, match=f"the output's schema cannot be taken: .*{said}"):
        checked(schema)


def test_a_format_that_nothing_here_can_assert_is_refused(monkeypatch):
    monkeypatch.setattr(output_schema, "_formats", lambda known: FormatChecker(formats=()))

    with pytest.raises(ConfigError, match="'duration' cannot be asserted here; install 'jsonschema"):
        checked(of(x={"format": "duration"}))


def test_what_only_looks_like_a_reference_is_none():
    assert checked(of(**{"$ref": {"type": "string"}}, x={"const": {"$ref": "http://elsewhere"}}))


@pytest.mark.parametrize("schema", [DRAFT_7, DRAFT_2020])
def test_both_drafts_are_read_each_in_its_own_way(schema):
    """A list of `items` is a tuple in draft 7; in 2020-12 that is said with `prefixItems`."""
    word = "items" if schema == DRAFT_7 else "prefixItems"
    text = json.dumps(
        {"$schema": schema, "type": "object", "properties": {"x": {word: [{"type": "integer"}, {"type": "string"}]}}}
    )

    assert checked(text)
    assert fits(text, '{"x": [1, "a"]}')
    assert not fits(text, '{"x": ["a", 1]}')


def test_a_reference_to_oneself_is_followed():
    tree = {"type": "object", "properties": {"inner": {"$ref": "#"}}, "additionalProperties": False}
    text = checked(json.dumps(tree))

    assert fits(text, '{"inner": {"inner": {}}}')
    assert not fits(text, '{"inner": {"inner": {"other": 1}}}')


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", "2026-02-28T12:00:00Z", "2026-02-30T12:00:00Z"),
        ("date-time", "2026-02-28t12:00:00.123456789+01:00", "2026-02-28 noon"),
        ("time", "12:00:00Z", "25:00:00Z"),
        ("date", "2026-02-28", "2026-02-30"),
        ("uri", "https://example.org/a?b", "example.org"),
        ("uri", "mailto:a@b", "https://exa mple.org"),
        ("email", "a@b", "a"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("regex", "a+", "a("),
    ],
)
def test_formats_are_asserted(name, good, bad):
    text = checked(of(x={"format": name}))

    assert fits(text, json.dumps({"x": good}))
    assert not fits(text, json.dumps({"x": bad}))
    assert fits(text, '{"x": 1}')  # a format says nothing about a number


def test_an_output_that_is_too_large_fits_nothing():
    text = checked(of())

    assert fits(text, json.dumps({"x": "y" * (LARGEST_OUTPUT - 9)}))
    assert not fits(text, json.dumps({"x": "y" * (LARGEST_OUTPUT - 8)}))


def test_one_that_refers_to_itself_without_end_fits_nothing():
    text = checked(json.dumps({"type": "object", "$ref": "#"}))

    assert not fits(text, "{}")
