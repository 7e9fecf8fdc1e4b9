"""From Python annotations to JSON Schema (draft 2020-12), strictly: unknown keys are refused everywhere."""

import typing
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NewType, NotRequired, Required, Union, get_args, get_origin

import attrs

from states.errors import ConfigError
from states.records import JSON

from .fields import ABSENT, Field, fields_of
from .returned import as_json
from .texts import TEXTS

Schema = dict[str, JSON]

_SCALARS: Final[Mapping[object, Schema]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: {"type": "null"},
    NoneType: {"type": "null"},
    Any: {},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
}
_ARRAYS: Final = (list, Sequence)
_SETS: Final = (set, frozenset, AbstractSet)
_OBJECTS: Final = (dict, Mapping)
_ALIAS: Final = getattr(typing, "TypeAliasType", ())
"""`type X = ...` of Python 3.12; before that, nothing is an instance of it."""


class Keywords:
    """Further keywords of JSON Schema for a parameter: `Annotated[int, Keywords(minimum=1)]`."""

    def __init__(self, **keywords: JSON) -> None:
        self.keywords = keywords


def is_union(annotation: object) -> bool:
    return get_origin(annotation) in (Union, UnionType)


@attrs.define
class Schemas:
    """Builds schemas that share one set of definitions. A class that contains itself becomes a `$ref`."""

    definitions: dict[str, JSON] = attrs.field(factory=dict)
    _open: dict[type, str] = attrs.field(factory=dict)
    _named: dict[type, str] = attrs.field(factory=dict)

    def whole(self, schema: Schema) -> Schema:
        """The schema together with the definitions that it needs."""
        return {**schema, "$defs": dict(self.definitions)} if self.definitions else schema

    def fields(self, fields: Sequence[Field], where: str) -> Schema:
        """An object with exactly these properties."""
        properties: dict[str, JSON] = {}
        for field in fields:
            schema = dict(self.of(field.annotation, f"{where} {field.name!r}"))
            if field.description and "description" not in schema:
                schema["description"] = field.description
            if field.default is not ABSENT and field.default is not None:
                schema |= _default(field.default)
            properties[field.name] = schema
        required: list[JSON] = [field.name for field in fields if field.required]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def of(self, annotation: object, where: str) -> Schema:
        """The schema of one annotation. Raises ConfigError, naming `where`, if it has none."""
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is None:
            return self._plain(annotation, where)
        if origin is Annotated:
            return self._annotated(args, where)
        if is_union(annotation):
            return {"anyOf": [self.of(arg, where) for arg in args]}
        if origin is Literal:
            return {"enum": [_scalar(value, where) for value in args]}
        if origin in (Required, NotRequired):
            return self.of(args[0], where)
        if origin in _ARRAYS:
            return {"type": "array", "items": self.of(args[0], where)}
        if origin in _SETS:
            return {"type": "array", "items": self.of(args[0], where), "uniqueItems": True}
        if origin is tuple:
            return self._tuple(args, where)
        if origin in _OBJECTS and args[0] is str:
            return {"type": "object", "additionalProperties": self.of(args[1], where)}
        raise _unsupported(annotation, where)

    def _plain(self, annotation: object, where: str) -> Schema:
        if isinstance(annotation, NewType):
            return self.of(annotation.__supertype__, where)
        if isinstance(annotation, _ALIAS):
            return self.of(annotation.__value__, where)
        try:
            if annotation in _SCALARS:
                return dict(_SCALARS[annotation])
        except TypeError:  # not hashable, so not one of them
            raise _unsupported(annotation, where) from None
        if isinstance(annotation, type):
            if annotation in TEXTS:
                return dict(TEXTS[annotation].schema)
            if issubclass(annotation, Enum):
                return {"enum": [_scalar(member.value, where) for member in annotation]}
            return self._class(annotation, where)
        raise _unsupported(annotation, where)

    def _annotated(self, args: tuple[Any, ...], where: str) -> Schema:
        schema = self.of(args[0], where)
        for note in args[1:]:
            if isinstance(note, str):
                schema = {**schema, "description": note}
            elif isinstance(note, Keywords):
                schema = {**schema, **note.keywords}
        return schema

    def _tuple(self, args: tuple[Any, ...], where: str) -> Schema:
        if len(args) == 2 and args[1] is Ellipsis:
            return {"type": "array", "items": self.of(args[0], where)}
        items: list[JSON] = [self.of(arg, where) for arg in args]
        size = len(items)
        return {"type": "array", "prefixItems": items, "items": False, "minItems": size, "maxItems": size}

    def _class(self, cls: type, where: str) -> Schema:
        if cls in self._open:  # inside itself
            self._named[cls] = self._open[cls]
            return {"$ref": f"#/$defs/{self._open[cls]}"}
        if cls in self._named:
            return {"$ref": f"#/$defs/{self._named[cls]}"}
        fields = fields_of(cls, where)
        if fields is None:
            raise _unsupported(cls, where)
        name, taken = cls.__name__, {*self._open.values(), *self._named.values()}
        self._open[cls] = name if name not in taken else f"{name}_{len(taken)}"
        schema = self.fields(fields, f"{where}, field")
        name = self._open.pop(cls)
        if cls not in self._named:
            return schema
        self.definitions[name] = schema
        return {"$ref": f"#/$defs/{name}"}


def _scalar(value: object, where: str) -> JSON:
    plain = value.value if isinstance(value, Enum) else value
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    raise ConfigError(f"{where}: {value!r} has no JSON form; use strings, numbers, booleans or None")


def _default(value: object) -> Schema:
    """A default that cannot be shown is none of the model's business."""
    try:
        return {"default": as_json(value)}
    except (TypeError, ValueError, RecursionError):
        return {}


def _unsupported(annotation: object, where: str) -> ConfigError:
    return ConfigError(
        f"{where}: the annotation {annotation!r} has no JSON Schema; use str, int, float, bool, None, Any, unions, "
        "Literal, Enum, list, set, tuple, dict with str keys, TypedDict, dataclasses, attrs classes, datetime, date, "
        "time, UUID, Decimal, Path or bytes; Injected[...] for an object of your own that the model does not give"
    )
