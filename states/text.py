"""Makes anything that a tool can return storable, visibly and without loss where that is possible."""

import math
from collections.abc import Mapping
from typing import Final

from .records import JSON

DEPTH: Final = 64
"""Levels kept in nested data; deeper parts become text. orjson itself stops at 254."""
REPR: Final = 1000
"""Characters kept of a foreign object's repr (our choice: enough to recognise it)."""
_INT64: Final = 2**63


def safe_text(value: str | bytes) -> str:
    r"""Text that every store and every provider takes.

    Undecodable bytes and lone surrogates become `\xNN` or `\uNNNN`, NUL becomes `\x00`.
    """
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text.replace("\x00", "\\x00") if "\x00" in text else text


def safe_json(value: object, depth: int = DEPTH) -> JSON:
    """Plain JSON for any object. NaN and infinities become text, keys become text, foreign objects their repr."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -_INT64 <= value < _INT64 else hex(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, str | bytes):
        return safe_text(value)
    if depth == 0:
        return _described(value)
    if isinstance(value, Mapping):
        return {_key(key): safe_json(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [safe_json(item, depth - 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((safe_json(item, depth - 1) for item in value), key=repr)
    return _described(value)


def _key(key: object) -> str:
    return safe_text(key) if isinstance(key, str | bytes) else str(safe_json(key, 1))


def _described(value: object) -> str:
    """A foreign object's repr, or its type's name where even that raises."""
    try:
        return safe_text(repr(value)[:REPR])
    except Exception:  # noqa: BLE001  a result that has its effect must be stored, whatever its class does
        return f"<{type(value).__name__}>"
