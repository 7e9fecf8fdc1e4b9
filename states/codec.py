"""Records to bytes and back. Encoding cannot fail for anything that already happened.

The body is JSON, tagged by `kind`. Unknown kinds, unknown fields and newer versions are refused by name:
a journal is never read by guessing.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Final, get_args

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

SHORT: Final = 96
"""Bytes of a body that is looked up before it is read: nearly half of a journal are the same few verdicts."""

MIGRATIONS: Final[dict[int, Callable[[dict[str, JSON]], dict[str, JSON]]]] = {}
"""From version n to n + 1, one function each. Empty while there is only one version."""


def _kind(cls: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def _build() -> cattrs.Converter:
    converter = make_converter(forbid_extra_keys=True, omit_if_default=True, detailed_validation=False)
    converter.register_structure_hook_func(lambda t: t == Metadata, lambda value, _: value)
    converter.register_unstructure_hook_func(lambda t: t == Metadata, dict)
    converter.register_structure_hook_func(lambda t: t == tuple[int, ...], lambda value, _: tuple(map(int, value)))
    for written_in_full in (Budget, Contract, RunStarted):  # what a run was held to must not change with our defaults
        hook = make_dict_unstructure_fn(written_in_full, converter, _cattrs_omit_if_default=False)
        converter.register_unstructure_hook(written_in_full, hook)
    configure_tagged_union(Block, converter, tag_name="type", tag_generator=_kind)
    configure_tagged_union(Ruling, converter, tag_name="type", tag_generator=_kind)
    return converter


_CONVERTER: Final = _build()
_KINDS: Final[Mapping[type, str]] = {cls: _kind(cls) for cls in get_args(Record)}
_CLASSES: Final[Mapping[str, type[Record]]] = {kind: cls for cls, kind in _KINDS.items()}


@cache
def _writer(kind: str) -> Callable[[Record], dict[str, JSON]]:
    """Made when first needed. Asked for once and for all, because cattrs' dispatch costs as much as the work itself."""
    return _CONVERTER.get_unstructure_hook(_CLASSES[kind])


@cache
def _reader(kind: str) -> Callable[[dict[str, JSON], type[Record]], Record]:
    return _CONVERTER.get_structure_hook(_CLASSES[kind])


def kind_of(record: Record) -> str:
    """The tag that the journal stores beside the body."""
    return _KINDS[type(record)]


def encode(record: Record) -> bytes:
    """JSON bytes. Text that JSON cannot hold is escaped visibly rather than refused."""
    return settle(record)[1]


def settle(record: Record) -> tuple[Record, bytes]:
    """The record as a reader of the journal will see it, and its bytes.

    It is the same record unless it held what JSON cannot: then memory and store would differ, and the store counts.
    """
    kind = kind_of(record)
    plain = _writer(kind)(record)
    plain["kind"] = kind
    try:
        return record, orjson.dumps(plain)
    except TypeError:  # lone surrogates, numbers beyond 64 bits, foreign objects in metadata
        body = orjson.dumps(safe_json(plain))
        return decode(body), body


def decode(body: bytes, version: int = VERSION) -> Record:
    """The record in `body`.

    Raises NewerJournal if `version` is newer than this program, CodecError if the body is not a record.
    """
    return _decode_short(body, version) if len(body) <= SHORT else _decode(body, version)


def _decode(body: bytes, version: int) -> Record:
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
    kind = plain.pop("kind")
    cls = _CLASSES.get(kind)
    if cls is None:
        raise CodecError(f"unknown kind of record {kind!r}: written by a newer or a foreign program")
    try:
        return _reader(kind)(plain, cls)
    except cattrs.ForbiddenExtraKeysError as error:
        if error.cl is not cls:
            raise CodecError(f"bad {kind!r} record: {error}") from error
        unknown = min(error.extra_fields)
        raise CodecError(
            f"unknown field {unknown!r} in a {kind!r} record: written by a newer or a foreign program"
        ) from error
    except (cattrs.BaseValidationError, TypeError, ValueError, KeyError) as error:
        raise CodecError(f"bad {kind!r} record: {error}") from error


_decode_short: Final = lru_cache(maxsize=256)(_decode)
