"""What a function asks for: its schema, and how JSON arguments become its parameters."""

import inspect
import typing
from collections.abc import Callable, Mapping

import attrs

from states.errors import ConfigError
from states.records import JSON

from .context import ToolContext
from .docstring import parameters_of
from .schema import Field, Schema, Schemas
from .structure import structure


@attrs.frozen
class Signature:
    """`types` are the parameters that the model fills; `context` is the name of the injected one."""

    schema: Schema
    types: Mapping[str, object]
    context: str | None = None

    def bind(self, arguments: Mapping[str, JSON], context: ToolContext) -> dict[str, object]:
        """Keyword arguments for the function. Raises whatever a class says about a value that it does not take."""
        bound = {name: structure(value, self.types[name]) for name, value in arguments.items()}
        return bound if self.context is None else {**bound, self.context: context}


def signature_of(function: Callable[..., object], name: str) -> Signature:
    """Raises ConfigError, naming the tool and the parameter, for anything that has no JSON Schema."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigError(f"tool {name!r}: its annotations cannot be resolved ({error})") from error
    described = parameters_of(function)
    fields: list[Field] = []
    context = None
    for parameter in inspect.signature(function).parameters.values():
        where = f"tool {name!r}, parameter {parameter.name!r}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ConfigError(f"{where}: *args and **kwargs cannot be described to a model; name each parameter")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ConfigError(f"{where}: arguments come by name, so it cannot be positional-only")
        if parameter.name not in hints:
            raise ConfigError(f"{where}: an annotation is missing; the schema is made of it")
        if hints[parameter.name] is ToolContext:
            context = parameter.name
            continue
        required = parameter.default is parameter.empty
        fields.append(
            Field(
                parameter.name,
                hints[parameter.name],
                required,
                None if required else parameter.default,
                described.get(parameter.name, ""),
            )
        )
    schemas = Schemas()
    schema = schemas.whole(schemas.fields(fields, f"tool {name!r}, parameter"))
    return Signature(schema, {field.name: field.annotation for field in fields}, context)
