"""A journal in memory that refuses like the one on disk; tests choose its faults."""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

import attrs

from states.errors import CommitFailed, JournalUnusable
from states.ports import Claim, Draft, FollowUp, Note, SessionInfo, Stored
from states.records import Entry
from states.text import safe_text

from .chain import Row, Walk, genesis, link
from .refusals import busy, check_name, fenced, other_words, overtaken, taken, unknown, unsealed

WHERE = "memory"
OWNER = "this process"


class Fault(StrEnum):
    """What becomes of one append."""

    NONE = "none"
    REFUSED = "refused"
    """JournalUnusable; nothing is written."""
    LOST = "lost"
    """CommitFailed; nothing was written, but only a reopened journal tells."""
    KEPT = "kept"
    """CommitFailed; the batch is there, but only a reopened journal tells."""
    UNSYNCED = "unsynced"
    """A store that lies: the append returns, and a crash before the next honest commit loses it."""


Hook = Callable[[Claim, Sequence[Draft]], None]


def _nothing(claim: Claim, drafts: Sequence[Draft]) -> None:
    """No hook."""


@attrs.define
class _Session:
    name: str
    created: float
    fence: int = 0
    rows: list[Row] = attrs.field(factory=list)
    synced: int = 0
    """Rows that a crash leaves."""
    holder: Claim | None = None
    lost: bool = False
    """The last holder never gave it back."""

    @property
    def digest(self) -> bytes:
        return self.rows[-1][-1] if self.rows else genesis(self.name)

    @property
    def updated(self) -> float:
        return self.rows[-1][3] if self.rows else self.created


class MemoryJournal:
    """A Journal without threads or files, for tests and for runs that nobody will resume.

    `faults` are taken one for each append that would be written; when they run out, none is left. `before` and `after`
    are called around each such append and may raise, to die there. `now` gives seconds since the epoch.
    """

    def __init__(
        self,
        faults: Iterable[Fault] = (),
        *,
        before: Hook = _nothing,
        after: Hook = _nothing,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._faults = iter(faults)
        self._before = before
        self._after = after
        self._now = now
        self._sessions: dict[str, _Session] = {}
        self._notes: list[Note] = []
        self._queue: list[FollowUp] = []
        self._last_note = self._last_follow_up = 0
        self._end: tuple[type[CommitFailed | JournalUnusable], str] | None = None

    def crash(self) -> None:
        """The process dies, and the next one opens the journal: claims and what was not synced are gone."""
        self._end = None
        for state in self._sessions.values():
            state.lost, state.holder = state.lost or state.holder is not None, None
            del state.rows[state.synced :]

    def held(self, session: str) -> bool:
        """Somebody runs it."""
        return session in self._sessions and self._sessions[session].holder is not None

    async def claim(self, session: str, *, create: bool = False) -> Claim:
        self._check_end()
        if create:
            check_name(session)
        elif session not in self._sessions:
            raise unknown(session, WHERE)
        state = self._sessions.setdefault(session, _Session(session, self._now()))
        if state.holder is not None:
            raise busy(session, OWNER)
        state.fence += 1
        state.holder = Claim(session, state.fence, len(state.rows) + 1, state.digest, state.lost)
        state.lost = False
        self._sync()
        return state.holder

    async def append(self, claim: Claim, drafts: Sequence[Draft]) -> None:
        state = self._held(claim)
        if not drafts:
            return
        rows = self._rows(state, claim, drafts)
        fault = next(self._faults, Fault.NONE)
        self._before(claim, drafts)
        if fault is Fault.REFUSED:
            raise JournalUnusable(f"session {claim.session!r}: nothing was written: this append was to be refused")
        if fault is Fault.LOST:
            raise self._fail(claim)
        state.rows += rows
        if fault is not Fault.UNSYNCED:
            self._sync()
        self._after(claim, drafts)
        if fault is Fault.KEPT:
            raise self._fail(claim)
        claim.next_seq, claim.digest = len(state.rows) + 1, state.digest
        await asyncio.sleep(0)  # others run here, and a cancellation arrives after the fact, as on disk

    async def confirm(self, claim: Claim) -> None:
        self._held(claim)

    async def release(self, claim: Claim) -> None:
        state = self._sessions.get(claim.session)
        if state is not None and state.holder is claim:
            state.holder = None

    async def read(self, session: str) -> list[Entry]:
        self._check_end()
        if session not in self._sessions:
            raise unknown(session, WHERE)
        state, walk = self._sessions[session], Walk(session)
        entries = walk.take(state.rows)
        walk.end(len(state.rows) + 1, state.digest)
        return entries

    async def dump(self, session: str) -> list[Stored]:
        await self.read(session)
        return [Stored(*row) for row in self._sessions[session].rows]

    async def adopt(self, session: str, entries: Sequence[Stored], *, noted: int = 0) -> None:
        self._check_end()
        check_name(session)
        if session in self._sessions:
            raise taken(session)
        state = _Session(session, entries[0].at if entries else 0.0, entries[-1].fence if entries else 1)
        for entry in entries:
            digest = link(state.digest, entry.seq, entry.fence, kind=entry.kind, at=entry.at, body=entry.body)
            state.rows.append((entry.seq, entry.fence, entry.kind, entry.at, entry.body, digest))
        self._sessions[session] = state
        self._last_note, self._last_follow_up = max(self._last_note, noted), max(self._last_follow_up, noted)
        self._sync()

    async def delete(self, session: str) -> None:
        self._check_end()
        if session not in self._sessions:
            raise unknown(session, WHERE)
        if self._sessions[session].holder is not None:
            raise busy(session, OWNER)
        del self._sessions[session]
        self._notes = [note for note in self._notes if note.session != session]
        self._queue = [item for item in self._queue if item.session != session]
        self._sync()

    async def post(self, session: str, text: str | None) -> Note:
        self._check_end()
        if session not in self._sessions:
            raise unknown(session, WHERE)
        words = None if text is None else safe_text(text)
        self._last_note += 1
        self._notes.append(Note(self._last_note, session, words, self._now()))
        self._sync()
        return self._notes[-1]

    async def notes(self, session: str, after: int) -> list[Note]:
        self._check_end()
        return [note for note in self._since(after) if note.session == session]

    def _since(self, after: int) -> list[Note]:
        return self._notes[bisect_right(self._notes, after, key=lambda note: note.number) :]

    async def queue(self, session: str, text: str, identity: str) -> FollowUp:
        self._check_end()
        if session not in self._sessions:
            raise unknown(session, WHERE)
        words, name = safe_text(text), safe_text(identity)
        for known in self._queue:
            if (known.session, known.id) == (session, name):
                if known.text != words:
                    raise other_words(session, identity)
                return known
        self._last_follow_up += 1
        self._queue.append(FollowUp(self._last_follow_up, session, name, words, self._now()))
        self._sync()
        return self._queue[-1]

    async def queued(self, session: str, after: int) -> list[FollowUp]:
        self._check_end()
        return [item for item in self._queue if item.session == session and item.number > after]

    async def sessions(self) -> list[SessionInfo]:
        """The one that was written to last comes first."""
        self._check_end()
        return [
            SessionInfo(s.name, s.fence, len(s.rows), s.created, s.updated, OWNER if s.holder else "")
            for s in sorted(self._sessions.values(), key=lambda s: (-s.updated, -s.created, s.name))
        ]

    async def close(self) -> None:
        if self._end is None:
            self._end = JournalUnusable, "the journal in memory was closed"

    def _check_end(self) -> None:
        if self._end is not None:
            kind, words = self._end
            raise kind(words)

    def _held(self, claim: Claim) -> _Session:
        self._check_end()
        state = self._sessions.get(claim.session)
        if state is None or state.holder is not claim:
            raise fenced(claim, "it was released, or belongs to another Journal")
        return state

    def _rows(self, state: _Session, claim: Claim, drafts: Sequence[Draft]) -> list[Row]:
        rows: list[Row] = []
        digest, next_seq = state.digest, len(state.rows) + 1
        for draft in drafts:
            seq, at, fence = draft.entry.seq, draft.entry.at, draft.entry.fence
            if (fence, seq) != (state.fence, next_seq):
                raise overtaken(claim, state.fence, next_seq)
            if draft.seals is not None and any(
                note.session == claim.session and note.text is not None for note in self._since(draft.seals)
            ):
                raise unsealed(claim, draft.seals)
            digest = link(digest, seq, fence, kind=draft.kind, at=at, body=draft.body)
            rows.append((seq, fence, draft.kind, at, draft.body, digest))
            next_seq += 1
        return rows

    def _fail(self, claim: Claim) -> CommitFailed:
        self._end = CommitFailed, f"session {claim.session!r}: a commit failed, and whether it is durable is unknown"
        return CommitFailed(self._end[1])

    def _sync(self) -> None:
        """One honest sync makes all durable that was written before it."""
        for state in self._sessions.values():
            state.synced = len(state.rows)
