"""The journal in one SQLite file: durable on return, fenced and append-only by the file's own triggers."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from states.errors import CommitFailed, JournalCorrupt, JournalError, JournalUnusable, SessionBusy
from states.ports import Claim, Draft, FollowUp, Note, SessionInfo, Stored
from states.records import Entry
from states.text import safe_text

from . import schema
from .chain import Row, Walk, genesis, link
from .locks import SessionLock, is_held, owner_name
from .opening import STORED, connect, unguarded
from .reader import Reader
from .refusals import check_name, fenced, other_words, overtaken, storable, taken, unknown, unsealed
from .schema import Value, select
from .writer import Transaction, Writer

T = TypeVar("T")

CHUNK: Final = 500
"""Entries read before other tasks get their turn: about 8 ms."""
LOCK_TRIES: Final = 5
LOCK_PAUSE: Final = 0.002
"""Seconds between tries for a session's lock: `sessions` holds it for microseconds while it looks."""


class SqliteJournal:
    """A Journal in the file at `path`, which several processes may share.

    The file is opened by the first call that needs it, and made by the first claim that creates a session.
    `vfs` names an apsw VFS to reach it through, `now` gives seconds since the epoch. Every method may raise
    JournalUnusable, and NewerJournal for a file of a newer program.
    """

    def __init__(self, path: str | os.PathLike[str], *, vfs: str = "", now: Callable[[], float] = time.time) -> None:
        self.path = os.path.realpath(path)
        self._locks = Path(self.path + ".locks")
        self._now = now
        self._held: dict[Claim, SessionLock] = {}
        self._reader = Reader(self.path, vfs)
        self._writer = Writer(self.path, lambda: connect(self.path, vfs))
        self._end: tuple[type[JournalError], str] | None = None

    async def claim(self, session: str, *, create: bool = False) -> Claim:
        if create:
            check_name(session)
            await self._run(lambda _: None)  # the file is ours and can be written: else nothing is put beside it
        elif not self._rows(schema.STANDING, session):
            raise unknown(session, self.path)
        lock = await self._lock(session)
        try:
            claim = await self._run(lambda transaction: _take_over(transaction, session, self._now(), create=create))
        except BaseException:
            lock.release()
            raise
        self._held[claim] = lock
        return claim

    async def append(self, claim: Claim, drafts: Sequence[Draft]) -> None:
        self._lock_of(claim)
        if drafts:
            await self._run(lambda transaction: _append(transaction, claim, drafts), len(drafts))

    async def confirm(self, claim: Claim) -> None:
        if not self._lock_of(claim).holds():
            raise fenced(claim, "its lock file was removed or replaced")
        standing = self._rows(schema.STANDING, claim.session)
        if not standing or standing[0][0] != claim.fence:
            raise fenced(claim, f"claim {standing[0][0]} is newer" if standing else "the session is gone")

    async def release(self, claim: Claim) -> None:
        lock = self._held.pop(claim, None)
        if lock is None:
            return
        try:
            with suppress(JournalError):  # the owner's name is for show; the lock is what keeps others out
                await self._run(lambda tx: select(tx.connection, schema.DISOWN, claim.session, claim.fence))
        finally:
            lock.release()

    async def read(self, session: str) -> list[Entry]:
        entries: list[Entry] = []
        await self._walk(session, lambda _, read: entries.extend(read))
        return entries

    async def dump(self, session: str) -> list[Stored]:
        stored: list[Stored] = []
        await self._walk(session, lambda rows, _: stored.extend(Stored(*row) for row in rows))
        return stored

    async def _walk(self, session: str, take: Callable[[list[Row], list[Entry]], None]) -> None:
        """Hand over all entries, a piece at a time, as they are stored and as they are read."""
        head = self._rows(schema.HEAD, session)
        if not head and not self._rows(schema.ORPHANS, session):
            raise unknown(session, self.path)
        if not head:
            raise JournalCorrupt(f"session {session!r}: its head is missing, yet entries from 1 on are there")
        ((next_seq, digest, last),) = head
        walk = Walk(session, self._reader.version)
        while walk.seq < last:
            try:
                rows = self._rows(schema.ROWS, session, walk.seq, last, CHUNK)
            except JournalUnusable as error:
                if isinstance(error.__cause__, apsw.CorruptError):
                    raise JournalCorrupt(f"session {session!r}, entry {walk.seq + 1} or after: {error}") from error
                raise
            if not rows:
                break
            take(rows, walk.take(rows))
            await asyncio.sleep(0)
        walk.end(next_seq, digest)

    async def post(self, session: str, text: str | None) -> Note:
        if not self._rows(schema.STANDING, session):
            raise unknown(session, self.path)
        words, at = None if text is None else safe_text(text), self._now()
        rows = await self._run(lambda tx: select(tx.connection, schema.POST, session, words, at))
        if not rows:
            raise unknown(session, self.path)
        return Note(rows[0][0], session, words, at)

    async def notes(self, session: str, after: int) -> list[Note]:
        return [Note(*row) for row in self._rows(schema.NOTES, session, after)]

    async def queue(self, session: str, text: str, identity: str) -> FollowUp:
        if not self._rows(schema.STANDING, session):
            raise unknown(session, self.path)
        words, name, at = safe_text(text), safe_text(identity), self._now()
        rows = await self._run(lambda tx: _queue(tx, session, name, words, at))
        if not rows:
            raise unknown(session, self.path)
        found = FollowUp(*rows[0])
        if found.text != words:
            raise other_words(session, identity)
        return found

    async def queued(self, session: str, after: int) -> list[FollowUp]:
        if not self._rows(schema.HAS_FOLLOW_UPS):
            return []
        return [FollowUp(*row) for row in self._rows(schema.QUEUED, session, after)]

    async def adopt(self, session: str, entries: Sequence[Stored], *, noted: int = 0) -> None:
        check_name(session)
        await self._run(lambda _: None)  # the file is ours and can be written: else nothing is put beside it
        lock = await self._lock(session)
        try:
            await self._run(lambda tx: _adopt(tx, session, entries, noted), max(1, len(entries)))
        finally:
            lock.release()

    async def delete(self, session: str) -> None:
        if not self._rows(schema.STANDING, session):
            raise unknown(session, self.path)
        lock = await self._lock(session)
        try:
            await self._run(lambda tx: _forget(tx, session))
        finally:
            lock.release()

    async def sessions(self) -> list[SessionInfo]:
        """The one that was written to last comes first."""
        return [
            SessionInfo(
                session, fence, entries, created, updated, owner if owner and is_held(self._locks, session) else ""
            )
            for session, fence, entries, created, updated, owner in self._rows(schema.SESSIONS)
        ]

    async def unguarded(self) -> list[str]:
        """Tables and triggers of the file that are missing or were changed: nobody knows what was done since."""
        return unguarded(self._rows(STORED))

    async def close(self) -> None:
        if self._end is None:
            self._end = JournalUnusable, f"journal {self.path}: it was closed; open it anew"
        try:
            await self._writer.close()
        finally:
            self._let_go()

    # --- inside ---

    def _rows(self, query: str, *bindings: str | int) -> list[Any]:
        self._check_end()
        if bindings and isinstance(bindings[0], str) and not storable(bindings[0]):
            return []  # no session ever had such a name
        return self._reader.rows(query, *bindings)

    async def _run(self, work: Callable[[Transaction], T], size: int = 1) -> T:
        self._check_end()
        try:
            return await self._writer.run(work, size)
        finally:
            if self._writer.poison and self._end is None:  # also where a cancellation hides it
                self._end = CommitFailed, self._writer.poison
                self._let_go()  # else nobody could claim these sessions and look what became of them

    def _check_end(self) -> None:
        if self._end is not None:
            kind, words = self._end
            raise kind(words)

    def _let_go(self) -> None:
        self._reader.close()
        while self._held:
            self._held.popitem()[1].release()

    def _lock_of(self, claim: Claim) -> SessionLock:
        self._check_end()
        if claim not in self._held:
            raise fenced(claim, "it was released, or belongs to another Journal")
        return self._held[claim]

    async def _lock(self, session: str) -> SessionLock:
        for _ in range(LOCK_TRIES - 1):
            with suppress(SessionBusy):
                return SessionLock.acquire(self._locks, session)
            await asyncio.sleep(LOCK_PAUSE)
        return SessionLock.acquire(self._locks, session)


def _take_over(transaction: Transaction, session: str, at: float, *, create: bool) -> Claim:
    owner, before = owner_name(), select(transaction.connection, schema.OWNER, session)
    if rows := select(transaction.connection, schema.TAKE_OVER, owner, session):
        ((fence, next_seq, digest),) = rows
        return Claim(session, fence, next_seq, digest, lost=bool(before[0][0]))
    if not create:
        raise unknown(session, "the journal any more")
    select(transaction.connection, schema.CREATE, session, genesis(session), at, owner)
    return Claim(session, 1, 1, genesis(session))


def _append(transaction: Transaction, claim: Claim, drafts: Sequence[Draft]) -> None:
    digest = transaction.digest(claim)
    rows: list[tuple[Value, ...]] = []
    for draft in drafts:
        seq, at, fence = draft.entry.seq, draft.entry.at, draft.entry.fence
        if fence != claim.fence:
            raise fenced(claim, f"entry {seq} was made for claim {fence}")
        digest = link(digest, seq, fence, kind=draft.kind, at=at, body=draft.body)
        rows.append((claim.session, seq, fence, draft.kind, at, draft.seals, draft.body, digest))
    try:
        transaction.connection.executemany(schema.INSERT, rows)
    except (apsw.ConstraintError, apsw.TooBigError) as error:
        raise _refusal(transaction.connection, claim, drafts, error) from error
    transaction.heads[claim] = seq + 1, digest


def _refusal(connection: apsw.Connection, claim: Claim, drafts: Sequence[Draft], error: apsw.Error) -> JournalError:
    if str(error) == "unsealed":
        return unsealed(claim, next(draft.seals for draft in drafts if draft.seals is not None))
    if str(error) == "fenced":
        standing = select(connection, schema.STANDING, claim.session)
        return overtaken(claim, *standing[0]) if standing else fenced(claim, "the session is gone")
    return JournalUnusable(f"session {claim.session!r}: the store refused the batch ({error}). Nothing was written.")


def _queue(transaction: Transaction, session: str, identity: str, words: str, at: float) -> list[Any]:
    select(transaction.connection, schema.QUEUE, session, identity, words, at)
    return select(transaction.connection, schema.QUEUED_AS, session, identity)


def _adopt(transaction: Transaction, session: str, entries: Sequence[Stored], noted: int) -> None:
    connection, digest = transaction.connection, genesis(session)
    if select(connection, schema.STANDING, session):
        raise taken(session)
    created = entries[0].at if entries else 0.0
    select(connection, schema.ADOPT, session, entries[0].fence if entries else 1, digest, created)
    for fence, group in groupby(entries, key=lambda entry: entry.fence):
        rows: list[tuple[Value, ...]] = []
        for entry in group:
            digest = link(digest, entry.seq, fence, kind=entry.kind, at=entry.at, body=entry.body)
            rows.append((session, entry.seq, fence, entry.kind, entry.at, None, entry.body, digest))
        select(connection, schema.AS_OF_CLAIM, fence, session)
        connection.executemany(schema.INSERT, rows)
    for table in ("note", "follow_up"):
        select(connection, schema.NUMBERED, table)
        select(connection, schema.RENUMBER, table, noted)


def _forget(transaction: Transaction, session: str) -> None:
    for statement in schema.FORGET:
        transaction.connection.execute(statement, (session,) if "?1" in statement else ())
