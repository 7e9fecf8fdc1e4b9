"""Why arguments do not fit a schema, in a sentence that names the path and what was expected."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jsonschema.exceptions import ValidationError

SHOWN: Final = 8
"""Faults named in one complaint; a model mends the first few anyway."""
_CUT: Final = 200


def complain(errors: Iterable[ValidationError]) -> str | None:
    """One line for all faults, or None if there are none."""
    faults = sorted(errors, key=lambda error: [str(step) for step in error.absolute_path])
    if not faults:
        return None
    said = "; ".join(f"{path_of(fault)}: {_expected(fault)}" for fault in faults[:SHOWN])
    more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    return f"{said}{more}."


def path_of(fault: ValidationError) -> str:
    """The place in the arguments, as one would write it: `items[2].name`."""
    path = ""
    for step in fault.absolute_path:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path or "arguments"


def _expected(fault: ValidationError) -> str:
    words = _WORDS.get(str(fault.validator))
    return _short(words(fault) if words else fault.message)


def _type(fault: ValidationError) -> str:
    wanted = fault.validator_value
    return f"expected {' or '.join(wanted) if isinstance(wanted, list) else wanted}, got {_kind(fault.instance)}"


def _additional(fault: ValidationError) -> str:
    known: Mapping[str, Any] = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else {}
    unknown = sorted(set(_dict(fault.instance)) - set(known))
    return f"unknown {', '.join(map(repr, unknown))}; known are {', '.join(known) or 'none'}"


def _missing(fault: ValidationError) -> str:
    wanted, there = fault.validator_value, _dict(fault.instance)
    return (
        f"missing {', '.join(repr(name) for name in wanted if name not in there)}" if isinstance(wanted, list) else ""
    )


def _any_of(fault: ValidationError) -> str:
    options = "; or ".join(dict.fromkeys(f"{path_of(part)}: {_expected(part)}" for part in fault.context or ()))
    return f"fits none of the alternatives ({options})"


_WORDS: Final[Mapping[str, Callable[[ValidationError], str]]] = {
    "type": _type,
    "required": _missing,
    "additionalProperties": _additional,
    "enum": lambda fault: f"expected one of {_json(fault.validator_value)}, got {_json(fault.instance)}",
    "const": lambda fault: f"expected {_json(fault.validator_value)}, got {_json(fault.instance)}",
    "anyOf": _any_of,
    "oneOf": _any_of,
}


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _kind(value: object) -> str:
    """The JSON type, and the value itself where it is short."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return f"{kinds.get(type(value), 'null')} {_short(_json(value), 60)}" if value is not None else "null"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def _short(text: str, cut: int = _CUT) -> str:
    return text if len(text) <= cut else f"{text[:cut]}..."
