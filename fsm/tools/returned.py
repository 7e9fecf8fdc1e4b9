"""What a function returned or raised, as the output of a tool."""

import inspect
from functools import cache

import cattrs
import orjson
from cattrs.preconf.orjson import make_converter

from states.ports import ToolOutput
from states.records import Status
from states.text import safe_json

from .context import ToolError


def output_of(value: object) -> ToolOutput:
    """Text as it is, None as no text, a ToolOutput as it is, anything else as JSON (NaN and the like made visible)."""
    if isinstance(value, ToolOutput):
        return value
    if value is None or isinstance(value, str):
        return ToolOutput(Status.OK, value or "")
    if inspect.iscoroutine(value):
        value.close()
        return ToolOutput(Status.ERROR, "Error: the tool returned a coroutine; it must be declared with `async def`.")
    try:
        return ToolOutput(Status.OK, orjson.dumps(safe_json(_converter().unstructure(value))).decode())
    except Exception as error:  # noqa: BLE001  # the tool ran; whatever its value does, that must be said
        said = describe(error)
        return ToolOutput(Status.ERROR, f"Error: the tool ran to its end, but its value has no JSON form: {said}")


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


@cache
def _converter() -> cattrs.Converter:
    return make_converter()
