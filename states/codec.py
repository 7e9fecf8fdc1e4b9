"""Records to bytes and back. Encoding cannot fail for anything that already happened.

The body is JSON, tagged by `kind`. Unknown kinds, unknown fields and newer versions are refused by name:
a journal is never read by guessing.
"""

import re
from collections.abc import Callable
from typing import Final, get_args

import attrs
import cattrs
import orjson
from cattrs.gen import make_dict_unstructure_fn
from cattrs.preconf.orjson import make_converter
from cattrs.strategies import configure_tagged_union

from .contract import Budget, Contract
from .errors import CodecError, NewerJournal
from .messages import Block
from .records import JSON, Metadata, Record, RunStarted
from .text import safe_json
from .verdicts import Ruling

VERSION: Final = 1
"""Version of the record schema; the journal stores it once per database."""

MIGRATIONS: Final[dict[int, Callable[[dict[str, JSON]], dict[str, JSON]]]] = {}
"""From version n to n + 1, one function each. Empty while there is only one version."""


def _kind(cls: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def _build() -> cattrs.Converter:
    converter = make_converter(forbid_extra_keys=True, omit_if_default=True, detailed_validation=False)
    converter.register_structure_hook_func(lambda t: t == Metadata, lambda value, _: value)
    converter.register_unstructure_hook_func(lambda t: t == Metadata, dict)
    for written_in_full in (Budget, Contract, RunStarted):  # what a run was held to must not change with our defaults
        hook = make_dict_unstructure_fn(written_in_full, converter, _cattrs_omit_if_default=False)
        converter.register_unstructure_hook(written_in_full, hook)
    configure_tagged_union(Block, converter, tag_name="type", tag_generator=_kind)
    configure_tagged_union(Ruling, converter, tag_name="type", tag_generator=_kind)
    configure_tagged_union(Record, converter, tag_name="kind", tag_generator=_kind)
    return converter


_CONVERTER: Final = _build()
_FIELDS: Final = {_kind(cls): {field.name for field in attrs.fields(cls)} for cls in get_args(Record)}


def kind_of(record: Record) -> str:
    """The tag that the journal stores beside the body."""
    return _kind(type(record))


def encode(record: Record) -> bytes:
    """JSON bytes. Text that JSON cannot hold is escaped visibly rather than refused."""
    return settle(record)[1]


def settle(record: Record) -> tuple[Record, bytes]:
    """The record as a reader of the journal will see it, and its bytes.

    It is the same record unless it held what JSON cannot: then memory and store would differ, and the store counts.
    """
    plain = _CONVERTER.unstructure(record, unstructure_as=Record)
    try:
        return record, orjson.dumps(plain)
    except TypeError:  # lone surrogates, numbers beyond 64 bits, foreign objects in metadata
        body = orjson.dumps(safe_json(plain))
        return decode(body), body


def decode(body: bytes, version: int = VERSION) -> Record:
    """The record in `body`.

    Raises NewerJournal if `version` is newer than this program, CodecError if the body is not a record.
    """
    if version > VERSION:
        raise NewerJournal(version, VERSION)
    try:
        plain = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise CodecError(f"not JSON: {error}") from error
    if not isinstance(plain, dict) or not isinstance(plain.get("kind"), str):
        raise CodecError("no record: a JSON object with a 'kind' is needed")
    for step in range(version, VERSION):
        plain = MIGRATIONS[step](plain)
    kind = plain["kind"]
    if kind not in _FIELDS:
        raise CodecError(f"unknown kind of record {kind!r}: written by a newer or a foreign program")
    unknown = sorted(plain.keys() - _FIELDS[kind] - {"kind"})
    if unknown:
        raise CodecError(f"unknown field {unknown[0]!r} in a {kind!r} record: written by a newer or a foreign program")
    try:
        record: Record = _CONVERTER.structure(plain, Record)  # type: ignore[arg-type]
    except (
        cattrs.BaseValidationError,
        cattrs.errors.ForbiddenExtraKeysError,
        TypeError,
        ValueError,
        KeyError,
    ) as error:
        raise CodecError(f"bad {kind!r} record: {error}") from error
    return record
