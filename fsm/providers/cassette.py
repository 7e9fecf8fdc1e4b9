"""The file format of recorded turns: a header line, then one JSON line per turn."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

import attrs
import cattrs
import orjson
from cattrs.preconf.orjson import make_converter
from cattrs.strategies import configure_tagged_union

from states.errors import InterlockError
from states.messages import AssistantMessage, Block, Message, UserMessage
from states.ports import ReasoningDelta, Reply, Request, TextDelta
from states.text import safe_json

FORMAT: Final = "interlock-cassette"
VERSION: Final = 1

Delta = TextDelta | ReasoningDelta

_Line = TypeVar("_Line")


class BadCassette(InterlockError):
    """A file is no cassette that this program can read; the message names the file and the line."""


@attrs.frozen
class Header:
    """The first line of a cassette."""

    format: str
    version: int
    model: str


@attrs.frozen
class Turn:
    """One recorded turn. `turn` counts the answers before it; `request` is the digest of what was said since."""

    turn: int
    request: str
    deltas: tuple[Delta, ...]
    reply: Reply


def _build() -> cattrs.Converter:
    converter = make_converter(forbid_extra_keys=True, omit_if_default=True, detailed_validation=False)
    for union in (Block, Delta):
        configure_tagged_union(union, converter, tag_name="type", tag_generator=lambda cls: cls.__name__.lower())
    return converter


_CONVERTER: Final = _build()


def place_of(request: Request) -> tuple[int, str]:
    """Where in a conversation a request stands: the number of answers so far, and a digest of what followed them."""
    answers = [place for place, message in enumerate(request.messages) if isinstance(message, AssistantMessage)]
    since = request.messages[answers[-1] + 1 if answers else 0 :]
    return len(answers), _digest(since)


def line(value: Header | Turn) -> bytes:
    """JSON with a line feed."""
    plain = _CONVERTER.unstructure(value)
    try:
        return orjson.dumps(plain) + b"\n"
    except TypeError:  # lone surrogates
        return orjson.dumps(safe_json(plain)) + b"\n"


def read(path: Path) -> tuple[Header, list[Turn]]:
    """All of a cassette. Raises BadCassette."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadCassette(f"cannot read the cassette {path}: {error.strerror}") from None
    header = _structure(path, 1, lines[0] if lines else b"", Header)
    if header.format != FORMAT or header.version != VERSION:
        raise BadCassette(
            f"{path} has format {header.format!r} version {header.version}; this program reads {FORMAT!r} {VERSION}"
        )
    return header, [_structure(path, number, body, Turn) for number, body in enumerate(lines[1:], 2) if body]


def _structure(path: Path, number: int, body: bytes, cls: type[_Line]) -> _Line:
    try:
        return _CONVERTER.structure(orjson.loads(body), cls)
    except Exception as error:  # noqa: BLE001  whatever the converter stumbles over, the line is not ours
        raise BadCassette(f"{path}, line {number}, is not of a cassette: {error}") from None


def _digest(messages: Sequence[Message]) -> str:
    digest = hashlib.sha256()
    for message in messages:
        if not isinstance(message, AssistantMessage):
            role = "user" if isinstance(message, UserMessage) else f"tool {message.name}"
            digest.update(f"{role}\0{message.text}\0".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()
