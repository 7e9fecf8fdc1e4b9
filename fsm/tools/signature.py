"""What a function asks for: its schema, and how JSON arguments become its parameters."""

import inspect
import typing
from collections.abc import Callable, Mapping

import attrs

from states.errors import ConfigError
from states.records import JSON

from .context import ToolContext, ToolError
from .docstring import Said
from .fields import ABSENT, Field
from .injected import Need, need_of
from .returned import describe
from .schema import Schema, Schemas
from .structure import structure


@attrs.frozen
class Signature:
    """`types` are the parameters that the model fills, `needs` those that take a dependency.

    `context` is the name of the parameter that takes the ToolContext.
    """

    schema: Schema
    types: Mapping[str, object]
    context: str | None = None
    needs: Mapping[str, Need] = attrs.field(factory=dict)
    returns: object = None
    """The annotation of what it returns; None without one."""

    def bind(
        self, arguments: Mapping[str, JSON], context: ToolContext, injected: Mapping[str, object]
    ) -> dict[str, object]:
        """Keyword arguments for the function. Raises ToolError, naming the parameter whose value was not taken."""
        bound = {name: self._structured(name, value) for name, value in arguments.items()}
        return {**bound, **injected, **({} if self.context is None else {self.context: context})}

    def _structured(self, name: str, value: JSON) -> object:
        try:
            return structure(value, self.types[name])
        except Exception as error:
            raise ToolError(f"{name}: {describe(error)}") from error


def signature_of(function: Callable[..., object], name: str, said: Said) -> Signature:
    """Raises ConfigError, naming the tool and the parameter, for anything that has no JSON Schema."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigError(f"tool {name!r}: its annotations cannot be resolved ({error})") from error
    fields: list[Field] = []
    needs: dict[str, Need] = {}
    context = None
    for parameter in inspect.signature(function).parameters.values():
        where = f"tool {name!r}, parameter {parameter.name!r}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ConfigError(f"{where}: *args and **kwargs cannot be described to a model; name each parameter")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ConfigError(f"{where}: arguments come by name, so it cannot be positional-only; remove the '/'")
        if parameter.name not in hints:
            raise ConfigError(f"{where}: an annotation is missing; the schema is made of it, so add one (`: str`, say)")
        hint = hints[parameter.name]
        if hint is ToolContext:
            context = parameter.name
            continue
        required = parameter.default is parameter.empty
        need = need_of(hint, where, required=required)
        if need is not None:
            needs[parameter.name] = need
            continue
        default = ABSENT if required else parameter.default
        fields.append(Field(parameter.name, hint, required, default, said.parameters.get(parameter.name, "")))
    schemas = Schemas()
    schema = schemas.whole(schemas.fields(fields, f"tool {name!r}, parameter"))
    return Signature(schema, {field.name: field.annotation for field in fields}, context, needs, hints.get("return"))
