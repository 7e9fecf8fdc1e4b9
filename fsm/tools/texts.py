"""Types that travel as a JSON string: how each is read, and the format that the model is told."""

import base64
import datetime as dt
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import attrs
from jsonschema import FormatChecker

from states.records import JSON


@attrs.frozen
class AsText:
    """`read` raises ValueError, or ArithmeticError for a Decimal, for a text that is none."""

    schema: Mapping[str, JSON]
    read: Callable[[Any], object]

    @property
    def format(self) -> str:
        return str(self.schema["format"])


def _decimal(value: str | float) -> Decimal:
    number = Decimal(str(value))
    if not number.is_finite():
        raise ValueError(f"{value!r} is no finite number")
    return number


def _bytes(value: str) -> bytes:
    return base64.b64decode(value, validate=True)


TEXTS: Final[Mapping[type, AsText]] = {
    dt.datetime: AsText({"type": "string", "format": "date-time"}, dt.datetime.fromisoformat),
    dt.date: AsText({"type": "string", "format": "date"}, dt.date.fromisoformat),
    dt.time: AsText({"type": "string", "format": "time"}, dt.time.fromisoformat),
    uuid.UUID: AsText({"type": "string", "format": "uuid"}, uuid.UUID),
    Decimal: AsText({"type": ["string", "number"], "format": "decimal"}, _decimal),
    Path: AsText({"type": "string", "format": "path"}, Path),
    bytes: AsText({"type": "string", "format": "base64"}, _bytes),
}
"""Dates and times are ISO 8601, bytes base64 (RFC 4648). A Decimal may also come as a number, digit by digit."""


def _checker() -> FormatChecker:
    checker = FormatChecker(formats=())
    for kind in TEXTS.values():
        checker.checks(kind.format, raises=(ValueError, ArithmeticError))(_reads(kind))
    return checker


def _reads(kind: AsText) -> Callable[[object], bool]:
    wanted = kind.schema["type"]
    types = (str, int, float) if isinstance(wanted, list) else (str,)

    def check(value: object) -> bool:
        if isinstance(value, types):  # for anything else the type is the complaint
            kind.read(value)
        return True

    return check


FORMATS: Final = _checker()
"""Refuses what `read` would refuse, so that a bad date is a complaint that names its path, before anything starts."""
