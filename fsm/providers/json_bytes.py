"""Values to JSON bytes, whatever they hold; parts that are JSON already go in as they stand."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from states.records import JSON
from states.text import safe_json

Raw = orjson.Fragment
"""A part that is JSON already: it is written as it stands."""

_NONE: Final = object()


def dump(value: Any) -> bytes:
    """JSON bytes of plain values and Raw parts. Lone surrogates, foreign numbers and mappings become plain."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_plain(value))


def object_in(text: str) -> dict[str, JSON] | None:
    """The JSON object that `text` is, or None."""
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def member(raw: bytes, name: str, value: JSON) -> str:
    """The member `name` of the JSON object `raw`, exactly as it was written; `value` is what it was read as."""
    from json import JSONDecoder

    at = raw.find(b'"' + name.encode() + b'"')
    if at >= 0:
        text = raw[at + len(name) + 2 :].decode("utf-8", "replace").lstrip().removeprefix(":").lstrip()
        try:
            found, end = JSONDecoder().raw_decode(text)
        except ValueError:
            found, end = _NONE, 0
        if found == value:
            return text[:end]
    return dump(value).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, Raw):
        return value
    if isinstance(value, Mapping):
        return {str(safe_json(str(key))): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return safe_json(value)
