"""Tools that promise JSON: what a promise is made of, and a result that breaks it, which is an error and no text."""

from collections.abc import Mapping
from typing import Any, get_args

import attrs
import orjson

from states.errors import ConfigError
from states.messages import Image
from states.ports import ToolOutput, ToolSpec
from states.records import JSON, Status

from .returned import NeedsConfirmation

ANY_JSON: Mapping[str, JSON] = {}
"""The schema that any JSON fits."""
_FREE = (ToolOutput, NeedsConfirmation, Image)
"""A function that is annotated with one of these decides about its text itself."""


def promised(returns: object, annotation: object, where: str) -> Mapping[str, JSON] | None:
    """The schema that results have to fit; None for a tool whose results are text.

    `returns` is what was declared: "json", "text", a JSON Schema or a type; None leaves it to the function's
    `annotation`, which promises JSON if no text fits it. Raises ConfigError for what is no schema.
    """
    if returns == "text" or (returns is None and not _is_json(annotation)):
        return None
    if returns is None or returns == "json":
        return ANY_JSON
    if isinstance(returns, Mapping):
        return _checked(returns, where)
    if isinstance(returns, str):
        raise ConfigError(f'{where}: returns={returns!r}; give "json", "text", a JSON Schema or a type')
    from .schema import Schemas

    schemas = Schemas()
    return schemas.whole(schemas.of(returns, f"{where}, returns"))


def _is_json(annotation: object) -> bool:
    from .schema import Schemas

    if annotation in (None, type(None)) or _frees(annotation):
        return False
    try:
        schemas = Schemas()
        return not _takes_text(schemas.of(annotation, ""))
    except ConfigError:  # a generator, or a class that only a converter knows
        return False


def _frees(annotation: object) -> bool:
    return annotation in _FREE or any(_frees(arg) for arg in get_args(annotation))


def _takes_text(schema: Mapping[str, JSON]) -> bool:
    """Whether a string may fit it."""
    options, kinds, values = schema.get("anyOf"), schema.get("type"), schema.get("enum")
    if isinstance(options, list):
        return any(_takes_text(option) for option in options if isinstance(option, dict))
    if isinstance(values, list):
        return any(isinstance(value, str) for value in values)
    return "$ref" not in schema and (kinds is None or "string" in (kinds if isinstance(kinds, list) else [kinds]))


def _checked(schema: Mapping[str, Any], where: str) -> Mapping[str, JSON]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    plain = dict(schema)
    try:
        validator_for(plain, default=Draft202012Validator).check_schema(plain)
    except SchemaError as error:
        raise ConfigError(f"{where}: returns=... is no JSON Schema: {error.message}") from error
    return plain


def held(spec: ToolSpec | None, output: ToolOutput) -> ToolOutput:
    """The output, or an error with its text, if the tool had promised JSON and this is none, or other JSON.

    Pictures, questions to a person, and whatever did not end well are as they are.
    """
    free = output.status is not Status.OK or output.images or output.asks
    if spec is None or spec.returns is None or free:
        return output
    fault = broken(spec.returns, output.text)
    return attrs.evolve(output, status=Status.ERROR, text=f"{fault}\n{output.text}") if fault else output


def broken(schema: Mapping[str, JSON], text: str) -> str | None:
    """What a model has to know about a text that is not what was promised."""
    try:
        value: JSON = orjson.loads(text)
    except ValueError as error:
        return f"Error: the tool ran to its end, but what it returned is no JSON, which it promises ({error}):"
    said = misfit(schema, value) if schema else None
    return said and f"Error: the tool ran to its end, but what it returned is not what it promises ({said}):"


def misfit(schema: Mapping[str, JSON], value: JSON) -> str | None:
    """Where and why the value does not fit, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    from .complaints import complain

    cls = validator_for(schema, default=Draft202012Validator)
    try:
        said = complain(cls(schema, registry=Registry()).iter_errors(value))
    except (Unresolvable, RecursionError) as error:
        return f"its schema cannot be applied: {error}"
    return said and said.rstrip(".").replace("arguments: ", "")
