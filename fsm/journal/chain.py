"""Each entry's digest covers the one before it, so that an edit, a gap or a lost end shows, and where."""

import hashlib
import struct
from collections.abc import Iterable
from typing import Final

import attrs

from states.codec import VERSION, decode
from states.errors import CodecError, JournalCorrupt, NewerJournal
from states.records import Entry

Row = tuple[int, int, str, float, bytes, bytes]
"""seq, fence, kind, at, body, digest: an entry as a store keeps it."""

_HEAD: Final = struct.Struct(">32sqdqI")
"""Digest before, seq, at, fence, length of kind; then kind and body: no two entries have the same framing."""


def genesis(session: str) -> bytes:
    """What the first entry's digest goes on from: the session's name, so that entries cannot move to another."""
    return hashlib.sha256(b"interlock journal\x00" + session.encode()).digest()


def link(before: bytes, seq: int, fence: int, *, kind: str, at: float, body: bytes) -> bytes:
    """SHA-256 (32 bytes) over an entry and the digest before it."""
    tag = kind.encode()
    # + 0.0: SQLite keeps no sign of zero
    return hashlib.sha256(_HEAD.pack(before, seq, at + 0.0, fence, len(tag)) + tag + body).digest()


@attrs.define
class Walk:
    """Reads stored rows in order and refuses the first that does not follow. `version` is the store's format."""

    session: str
    version: int = VERSION
    seq: int = 0
    digest: bytes = attrs.field(default=attrs.Factory(lambda self: genesis(self.session), takes_self=True))

    def take(self, rows: Iterable[Row]) -> list[Entry]:
        """The entries of the next rows. Raises JournalCorrupt, NewerJournal."""
        entries = []
        for seq, fence, kind, at, body, digest in rows:
            if seq != self.seq + 1:
                raise self._corrupt(self.seq + 1, f"it is missing; the next one that is there is {seq}")
            if link(self.digest, seq, fence, kind=kind, at=at, body=body) != digest:
                raise self._corrupt(seq, "its digest does not match: it, or the one before it, was changed or moved")
            try:
                record = decode(body, self.version)
            except NewerJournal:
                raise
            except CodecError as error:
                raise self._corrupt(seq, f"its body cannot be read: {error}") from error
            entries.append(Entry(seq, at, fence, record))
            self.seq, self.digest = seq, digest
        return entries

    def end(self, next_seq: int, digest: bytes) -> None:
        """All rows are taken: they must end where the store's own head says. Raises JournalCorrupt."""
        if self.seq + 1 < next_seq:
            raise self._corrupt(
                self.seq + 1, f"it is missing, and all after it; the journal had {next_seq - 1} entries"
            )
        if self.seq + 1 > next_seq:
            raise self._corrupt(next_seq, f"it was put in from outside; the journal has {next_seq - 1} entries")
        if self.digest != digest:
            raise self._corrupt(self.seq, "its digest is not the one that the session's head keeps: one was changed")

    def _corrupt(self, seq: int, what: str) -> JournalCorrupt:
        return JournalCorrupt(f"session {self.session!r}, entry {seq}: {what}. Nothing was repaired; use a backup.")
