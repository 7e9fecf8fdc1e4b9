"""The properties of an object: those of a TypedDict, a dataclass or an attrs class, in their order."""

import dataclasses
import typing
from typing import Any, Final, NotRequired, Required, get_origin

import attrs

from states.errors import ConfigError

from .docstring import said_by

ABSENT: Final = object()
"""There is no default, or none that can be shown."""


@attrs.frozen
class Field:
    """One property of an object. `default` is shown to the model where it has a JSON form."""

    name: str
    annotation: object
    required: bool
    default: object = ABSENT
    description: str = ""


def fields_of(cls: type, where: str) -> list[Field] | None:
    """None for a class of another kind. Raises ConfigError if its annotations cannot be resolved."""
    if not (typing.is_typeddict(cls) or attrs.has(cls) or dataclasses.is_dataclass(cls)):
        return None
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigError(f"{where}: the annotations of {cls.__name__} cannot be resolved ({error})") from error
    fields = _typed_dict(cls, hints) if typing.is_typeddict(cls) else _class(cls, hints)
    said = said_by(cls).parameters
    return [attrs.evolve(field, description=said.get(field.name, "")) for field in fields]


def _typed_dict(cls: type, hints: dict[str, Any]) -> list[Field]:
    keys: frozenset[str] = cls.__required_keys__  # type: ignore[attr-defined]  # of every TypedDict
    own = {NotRequired: False, Required: True}  # what the keys do not know where annotations are text
    return [Field(name, hint, own.get(get_origin(hint), name in keys)) for name, hint in hints.items()]


def _class(cls: Any, hints: dict[str, Any]) -> list[Field]:
    if attrs.has(cls):
        return [
            Field(a.name, hints.get(a.name, a.type), a.default is attrs.NOTHING, _shown(a.default, attrs.NOTHING))
            for a in attrs.fields(cls)
            if a.init
        ]
    missing = dataclasses.MISSING
    return [
        Field(f.name, hints[f.name], f.default is missing and f.default_factory is missing, _shown(f.default, missing))
        for f in dataclasses.fields(cls)
        if f.init
    ]


def _shown(default: object, missing: object) -> object:
    return ABSENT if default is missing else default
