"""Which schemas an output may be held to, and whether a value fits one. Pure: nothing is ever fetched.

JSON Schema, drafts 7 and 2020-12 (the default). A `format` of the standard is asserted wherever the schema names one.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import orjson

from states.errors import ConfigError

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.protocols import Validator

LARGEST_SCHEMA: Final = 64 * 1024
"""Bytes of a schema in JSON. This and the next three are blade-code's limits."""
DEEPEST: Final = 20
"""Levels of objects and arrays in a schema."""
MOST_NODES: Final = 1_000
"""Objects and arrays in a schema."""
LARGEST_OUTPUT: Final = 128 * 1024
"""Bytes of an output in JSON."""

DRAFTS: Final[Mapping[str, str]] = {
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
}
_DATA: Final = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are data: what looks like a reference in them is none."""
_STANDARD: Final = re.compile(
    r"date|time|date-time|duration|regex|uuid|ipv[46]|(?:idn-)?(?:email|hostname)|[ui]ri(?:-reference)?|uri-template"
    r"|(?:relative-)?json-pointer"
)
"""Formats of the two drafts. Any other name is an annotation, as the standard has it."""
_ZONED: Final = r"(?:[Zz]|[+-]\d\d:\d\d)"
_DATE_TIME: Final = re.compile(rf"\d{{4}}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?{_ZONED}")
_TIME: Final = re.compile(rf"\d\d:\d\d:\d\d(?:\.\d+)?{_ZONED}")
_FRACTION: Final = re.compile(r"(\.\d{6})\d+")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]*")


def checked(text: str) -> str:
    """The schema's text again. Raises ConfigError that names what is wrong with it, and the way out."""
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    if len(text.encode()) > LARGEST_SCHEMA:
        raise _bad(f"it has {len(text.encode())} bytes, at most {LARGEST_SCHEMA} are taken; move parts into $defs")
    try:
        schema = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise _bad(f"it is no JSON: {error}") from error
    if not isinstance(schema, dict):
        raise _bad('a JSON Schema of an object is needed, such as {"type": "object", "properties": {...}}')
    _measure(schema)
    validator = validator_of(text)
    try:
        type(validator).check_schema(schema)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "its root"
        raise _bad(f"it is no JSON Schema, at {where}: {error.message}") from error
    except RecursionError:
        raise _bad("it is nested too deeply") from None
    _check_formats(schema, validator)
    try:
        _check_references(schema, validator)
    except Unresolvable as error:
        raise _bad(f"the reference {error.ref!r} leads nowhere in it") from error
    if schema.get("type") != "object":
        raise _bad('its root must say "type": "object"; put another value into a property of an object')
    return text


def _bad(why: str) -> ConfigError:
    return ConfigError(f"the output's schema cannot be taken: {why}")


@lru_cache(maxsize=32)
def validator_of(text: str) -> "Validator":
    """What checks values against a schema, given as JSON. Raises ConfigError for a draft that is not known."""
    import jsonschema
    from referencing import Registry

    schema = orjson.loads(text)
    said = str(schema.get("$schema", next(iter(DRAFTS)))).removesuffix("#")
    if said not in DRAFTS:
        raise _bad(f"its $schema is {said!r}; known are {' and '.join(DRAFTS)}")
    cls = getattr(jsonschema, DRAFTS[said])
    registry: Registry[Any] = Registry()  # an own one: nothing is ever fetched
    return cast("Validator", cls(schema, registry=registry, format_checker=_formats(cls.FORMAT_CHECKER)))


def fits(text: str, value: str) -> bool:
    """Whether a value, given as JSON, is an output that the schema takes."""
    if len(value.encode()) > LARGEST_OUTPUT:
        return False
    try:
        return validator_of(text).is_valid(orjson.loads(value))
    except RecursionError:
        return False


def _measure(schema: object) -> None:
    nodes = deepest = 0
    waiting: list[tuple[object, int]] = [(schema, 1)]
    while waiting:
        node, depth = waiting.pop()
        if not isinstance(node, dict | list):
            continue
        nodes, deepest = nodes + 1, max(deepest, depth)
        waiting += [(inner, depth + 1) for inner in (node.values() if isinstance(node, dict) else node)]
    if deepest > DEEPEST:
        raise _bad(
            f"it is {deepest} levels deep, at most {DEEPEST} are taken; name inner parts in $defs and refer to them"
        )
    if nodes > MOST_NODES:
        raise _bad(
            f"it has {nodes} objects and arrays, at most {MOST_NODES} are taken; refer to repeated parts in $defs"
        )


def _schemas(node: object) -> Iterator[dict[str, Any]]:
    """Every object in a schema that may be a schema itself."""
    if isinstance(node, list):
        for inner in node:
            yield from _schemas(inner)
    elif isinstance(node, dict):
        yield node
        for key, inner in node.items():
            if key not in _DATA:
                yield from _schemas(inner)


def _check_references(schema: dict[str, Any], validator: "Validator") -> None:
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT7, DRAFT202012

    specification = DRAFT7 if type(validator).__name__ == "Draft7Validator" else DRAFT202012
    resource = Resource.from_contents(schema, default_specification=specification)
    resolver = Registry().with_resource(resource.id() or "", resource).resolver(resource.id() or "")
    for node in _schemas(schema):
        for keyword in ("$ref", "$dynamicRef"):
            target = node.get(keyword)
            if not isinstance(target, str):
                continue
            if not target.startswith("#"):
                raise _bad(
                    f"it refers to {target!r}, and nothing is fetched; copy that into $defs and refer to it there"
                )
            resolver.lookup(target)


def _check_formats(schema: dict[str, Any], validator: "Validator") -> None:
    known = _formats(type(validator).FORMAT_CHECKER).checkers
    for node in _schemas(schema):
        name = node.get("format")
        if isinstance(name, str) and _STANDARD.fullmatch(name) and name not in known:
            raise _bad(
                f"the format {name!r} cannot be asserted here; install 'jsonschema[format-nongpl]', or say what is "
                "meant with a pattern"
            )


def _formats(known: "FormatChecker") -> "FormatChecker":
    """The library's checks, and those that it leaves to further packages but that everybody needs."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    ours: Mapping[str, Callable[[str], object]] = {"date-time": _date_time, "time": _time, "uri": _uri}
    checker.checkers = dict(known.checkers)
    for name, check in ours.items():
        if name not in checker.checkers:
            checker.checks(name, raises=ValueError)(_of_text(check))
    return checker


def _of_text(check: Callable[[str], object]) -> Callable[[object], bool]:
    """A format says something about text, and nothing about anything else."""
    return lambda value: not isinstance(value, str) or bool(check(value))


def _date_time(text: str) -> object:
    return _DATE_TIME.fullmatch(text) and datetime.fromisoformat(_short(text.upper()))


def _time(text: str) -> object:
    return _TIME.fullmatch(text) and time.fromisoformat(_short(text.upper())) is not None


def _short(text: str) -> str:
    """Digits of a second that Python does not read say nothing about the form."""
    return _FRACTION.sub(r"\1", text).replace(":60", ":59")


def _uri(text: str) -> object:
    return _URI.fullmatch(text) and urlsplit(text).scheme
