"""What a function returned or raised, as the output of a tool."""

import inspect
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

import attrs
import cattrs
import orjson
from cattrs.preconf.orjson import make_converter

from states.messages import Image
from states.ports import ToolOutput
from states.records import JSON, Status
from states.text import safe_json

from .context import ToolError


@attrs.frozen
class NeedsConfirmation:
    """Returned by a tool that did something pending: a person has to confirm or correct it before the run goes on.

    `show` is put before the person; `text` is what the model reads (nothing: the same). Their next words answer it.
    """

    show: str
    text: str = ""


def output_of(value: object) -> ToolOutput:
    """Text as it is, None as no text, a ToolOutput as it is, anything else as JSON (NaN and the like made visible).

    An Image, or a list with some among its members, is shown to the model as pictures beside the text of the rest.
    """
    if isinstance(value, ToolOutput):
        return value
    if isinstance(value, NeedsConfirmation):
        said = value.text or f"This was shown to the person, who has to confirm or correct it:\n{value.show}"
        return ToolOutput(Status.OK, said, asks=value.show)
    if inspect.iscoroutine(value):
        value.close()
        return ToolOutput(Status.ERROR, "Error: the tool returned a coroutine; it must be declared with `async def`.")
    try:
        parts = _parts(value)
        pictures = tuple(part for part in parts if isinstance(part, Image))
        words = [_text(part) for part in parts if not isinstance(part, Image)]
        return ToolOutput(Status.OK, "\n".join(words), images=pictures)
    except Exception as error:  # noqa: BLE001  # the tool ran; whatever its value does, that must be said
        said = describe(error)
        return ToolOutput(Status.ERROR, f"Error: the tool ran to its end, but its value has no JSON form: {said}")


def json_output_of(value: object) -> ToolOutput:
    """The same for a tool that promises JSON: None is null, and a text is taken for JSON, until it is read."""
    return output_of(value) if value is not None else ToolOutput(Status.OK, "null")


def _parts(value: object) -> Sequence[object]:
    if isinstance(value, list | tuple) and any(isinstance(item, Image) for item in value):
        return value
    return (value,)


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(as_json(value)).decode()


def as_json(value: object) -> JSON:
    """Plain JSON: classes by their fields, enums by their values, dates as ISO 8601, bytes as base64.

    Raises TypeError for an object that has no such form.
    """
    plain = _converter().unstructure(value)
    _refuse_foreign(plain)
    return safe_json(plain)


def _refuse_foreign(value: object) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_foreign(key)
            _refuse_foreign(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            _refuse_foreign(item)
    elif value is not None and not isinstance(value, bool | int | float | str):
        raise TypeError(
            f"{type(value).__name__} is no JSON; return text, numbers, lists, dicts, dataclasses or attrs classes"
        )


def error_of(error: BaseException) -> ToolOutput:
    return ToolOutput(Status.ERROR, f"Error: {describe(error)}")


def describe(error: BaseException) -> str:
    """One line that a model can act on: our own sentences bare, others with the name of their class."""
    if isinstance(error, ToolError):
        return str(error)
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(describe(one) for one in error.exceptions[:8])
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror} ({error.filename})" if error.filename is not None else error.strerror
    said = str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


_AS_TEXT: Final[Mapping[type, Callable[[Any], JSON]]] = {
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: timedelta.total_seconds,
    UUID: str,
    Decimal: str,
    PurePath: str,
    bytes: lambda value: b64encode(value).decode(),
}


@cache
def _converter() -> cattrs.Converter:
    converter = make_converter()
    for kind, form in _AS_TEXT.items():
        converter.register_unstructure_hook(kind, form)
    return converter
