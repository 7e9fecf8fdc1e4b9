"""From validated JSON to the annotated types."""

from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import Any, get_args

import cattrs
from jsonschema import Draft202012Validator

from .schema import Schemas, is_union
from .texts import FORMATS, TEXTS, AsText


def structure(value: object, annotation: Any) -> object:
    """`value` as an instance of `annotation`. It must fit the annotation's schema; a class's own checks may raise."""
    return _converter().structure(value, annotation)


@cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=False, forbid_extra_keys=True)
    converter.register_structure_hook_factory(is_union, _union_hook)
    converter.register_structure_hook_func(lambda t: t is NoneType, lambda value, _: value)
    for kind, text in TEXTS.items():
        converter.register_structure_hook(kind, _reader(text))
    return converter


def _reader(text: AsText) -> Callable[[object, object], object]:
    return lambda value, _: text.read(value)


def _union_hook(union: Any, converter: cattrs.BaseConverter) -> Callable[[object, object], object]:
    """The first member whose schema the value fits: the same reading that the model was given."""

    def validator(member: object) -> Draft202012Validator:
        schemas = Schemas()
        return Draft202012Validator(schemas.whole(schemas.of(member, repr(union))), format_checker=FORMATS)

    members = [(validator(member), member) for member in get_args(union)]

    def hook(value: object, _: object) -> object:
        for validator, member in members:
            if validator.is_valid(value):
                return converter.structure(value, member)
        raise ValueError(f"{value!r} is none of {union}")

    return hook
