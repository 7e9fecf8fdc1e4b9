"""One session as one file: a line that says what it is, then a line per entry, each as it is stored.

The bodies stand in the file to the byte and under the digests of the session's own chain: a file in which anything was
changed, left out or added is refused, and the record is named.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs
import orjson

from fsm.journal.chain import Walk
from states.codec import VERSION
from states.errors import ConfigError, JournalCorrupt, NewerJournal
from states.fold import apply
from states.history import History
from states.ports import Stored

FORMAT: Final = "interlock session"
_ENTRY: Final = {"seq": int, "fence": int, "kind": str, "at": float, "body": str, "digest": str}


@attrs.frozen
class Archive:
    """What a file holds; `history` is what its entries amount to."""

    session: str
    entries: tuple[Stored, ...]
    history: History


def written(session: str, entries: Sequence[Stored]) -> bytes:
    """The file of a session, from all its entries."""
    head = {"format": FORMAT, "version": VERSION, "session": session, "entries": len(entries)}
    return b"".join(line + b"\n" for line in (orjson.dumps(head), *_lines(entries)))


def _lines(entries: Sequence[Stored]) -> Iterator[bytes]:
    for entry in entries:
        plain = attrs.asdict(entry) | {"body": entry.body.decode(), "digest": entry.digest.hex()}
        yield orjson.dumps(plain)


def read(file: bytes) -> Archive:
    """What `written` wrote. Raises ConfigError for another kind of file, JournalCorrupt, NewerJournal, HistoryError."""
    first, *lines = file.split(b"\n")
    head = _head(first)
    session, count = head["session"], head["entries"]
    if lines[-1:] == [b""]:
        lines.pop()
    walk, history = Walk(session, head["version"]), History(session)
    entries: list[Stored] = []
    for place, line in enumerate(lines, 1):
        stored = _entry(session, place, line)
        (entry,) = walk.take([attrs.astuple(stored)])
        apply(history, entry)
        entries.append(stored)
    walk.end(count + 1, walk.digest)
    return Archive(session, tuple(entries), history)


def _head(line: bytes) -> dict[str, Any]:
    try:
        head = orjson.loads(line)
    except orjson.JSONDecodeError:
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ConfigError("this is no exported session; one begins with a line that says so (interlock export)")
    kinds = {"session": str, "entries": int, "version": int}
    if any(type(head.get(name)) is not kind for name, kind in kinds.items()):
        raise ConfigError("the first line of the exported session is damaged; export it again")
    if head["version"] > VERSION:
        raise NewerJournal(head["version"], VERSION, "the exported session")
    return head


def _entry(session: str, place: int, line: bytes) -> Stored:
    unreadable = JournalCorrupt(
        f"session {session!r}, entry {place}: its line in the file cannot be read. Nothing was imported."
    )
    try:
        plain = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise unreadable from error
    if not isinstance(plain, dict) or {name: type(value) for name, value in plain.items()} != _ENTRY:
        raise unreadable
    try:
        digest = bytes.fromhex(plain["digest"])
    except ValueError as error:
        raise unreadable from error
    return Stored(**plain | {"body": plain["body"].encode(), "digest": digest})
