"""What a loop can do with whole sessions. No model is asked for any of it."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from fsm.redact import Redactor
from states.codec import kind_of, settle
from states.errors import ConfigError
from states.fold import fold
from states.names import RESTING
from states.ports import Claim, Clock, Draft, FollowUp, Ids, Journal
from states.records import Entry, FileChange, GoalChange, GoalWord, Record, Titled, Undone

if TYPE_CHECKING:  # what is heavy is imported when it is asked for: `import fsm` stays light
    from states.goals import GoalStatus

    from .changes import Changed
    from .overview import Overview


class Sessions(ABC):
    """A part of `Loop`."""

    _clock: Clock
    _ids: Ids
    _state_dir: Path
    _workspace_name: str

    @property
    @abstractmethod
    def journal(self) -> Journal: ...

    @abstractmethod
    def _redactor(self) -> Redactor: ...

    async def sessions(self) -> "list[Overview]":
        """The sessions of the journal, the one written to last first."""
        from .overview import overviews

        return await overviews(self.journal)

    async def fork(self, session: str, *, at: int | None = None, name: str | None = None) -> str:
        """A new session that begins as `session` was after its record `at` (None: as it is now); its name.

        The two share nothing from there on. Raises ConfigError for a point within a step, naming the ones beside it,
        or a `name` that is taken; UnknownSession.
        """
        from .forking import branch

        fork = name or self._ids.session()
        made = branch(session, await self.journal.dump(session), at, self._clock.now())
        await self.journal.adopt(fork, made.entries, noted=made.noted)
        return fork

    async def title(self, session: str, text: str) -> None:
        """Call a session something (nothing: its task again). Raises SessionBusy while it is run, UnknownSession."""
        words = " ".join(self._redactor().text(text).split())
        claim = await self.journal.claim(session)
        try:
            await self._append(claim, Titled(words))
        finally:
            await self.journal.release(claim)

    async def goal(self, session: str, word: GoalWord | str | None = None) -> "tuple[str, GoalStatus] | None":
        """The session's goal and how far it has come; None without one. `word`: "pause", "resume" or "clear" it first.

        Raises ConfigError where there is no open goal to change, or the session does not rest; SessionBusy.
        """
        from states.goals import goal_status

        if word is not None:
            change = GoalChange(GoalWord(word))
            claim = await self.journal.claim(session)
            try:
                history = fold(session, await self.journal.read(session))
                if history.goal is None or history.goal.complete:
                    raise ConfigError(f"session {session!r} has no open goal to {change.word}")
                if history.state not in RESTING:
                    raise ConfigError(f"session {session!r} is in the middle of a run; resume or cancel it first")
                await self._append(claim, change)
            finally:
                await self.journal.release(claim)
        history = fold(session, await self.journal.read(session))
        status = goal_status(history)
        return None if history.goal is None or status is None else (history.goal.text, status)

    async def changes(self, session: str) -> "list[Changed]":
        """What the session's file tools changed, in order. What `bash` changed is not known. Raises UnknownSession."""
        from .changes import changes

        return changes(await self.journal.read(session))

    async def undo(self, session: str, *, to: int, force: bool = False) -> tuple[FileChange, ...]:
        """Make files what they were before record `to`, as far as the session's file tools changed them; on record.

        What came of it: the files that are others now. It can itself be undone. Raises ConfigError, and has changed
        nothing, for a session that does not rest, for a file that was changed since by somebody else (unless `force`),
        and for a copy that is gone; SessionBusy, UnknownSession.
        """
        from .changes import Undo, changes

        if not self._workspace_name:
            raise ConfigError("undo needs the folder that was worked on; give the loop workspace=...")
        undo = Undo(session, Path(self._workspace_name), self._state_dir)
        claim = await self.journal.claim(session)
        try:
            entries = await self.journal.read(session)
            if not 1 <= to <= len(entries):
                raise ConfigError(f"session {session!r} has records 1 to {len(entries)}; {to} is none of them")
            if fold(session, entries).state not in RESTING:
                raise ConfigError(f"session {session!r} is in the middle of a run; resume or cancel it first")
            files = undo.plan(changes(entries), to, force=force)
            if files:
                await self._append(claim, Undone(to, files))
                undo.carry_out(files, f"{session}:{claim.next_seq - 1}")
            return files
        finally:
            await self.journal.release(claim)

    async def _append(self, claim: Claim, record: Record) -> None:
        """One record that is no part of a run's work."""
        history = fold(claim.session, await self.journal.read(claim.session))
        if history.started is None:
            raise ConfigError(f"session {claim.session!r} never began a run; run something in it first")
        if history.closing:
            raise ConfigError(f"session {claim.session!r} was lost in the middle of a step; resume it first")
        kept, body = settle(record)
        entry = Entry(claim.next_seq, self._clock.now(), claim.fence, kept)
        await self.journal.append(claim, [Draft(entry, kind_of(kept), body)])

    async def delete(self, session: str) -> None:
        """Forget a session, and what its tools kept for it. Raises SessionBusy while it is run, UnknownSession."""
        from . import leftovers

        await self.journal.delete(session)
        leftovers.remove(self._state_dir, session)

    async def export(self, session: str) -> bytes:
        """A session as one file. Raises UnknownSession, JournalCorrupt."""
        from . import archive

        return archive.written(session, await self.journal.dump(session))

    async def import_session(self, file: bytes, *, name: str | None = None) -> str:
        """Take a session from a file that `export` made, as it was; its name.

        Under another `name` it is a fork of it: then both can live, here or elsewhere. Raises ConfigError for a file
        that is none or a name that is taken; JournalCorrupt, naming the record, for one that was changed.
        """
        from . import archive
        from .forking import branch

        found = archive.read(file)
        noted = max(found.history.noted, found.history.queued)
        if name is None or name == found.session:
            await self.journal.adopt(found.session, found.entries, noted=noted)
            return found.session
        made = branch(found.session, found.entries, None, self._clock.now())
        await self.journal.adopt(name, made.entries, noted=made.noted)
        return name

    async def follow_up(self, session: str, text: str, *, id: str | None = None) -> FollowUp:  # noqa: A002  its name everywhere
        """Queue words that begin a run of their own once the session's run has succeeded. Durable on return.

        The same `id` is queued once, however often it is posted (None: a new one). Raises UnknownSession, ConfigError.
        """
        if not text.strip():
            raise ConfigError("the follow-up is empty; say what is to be done next")
        words = self._redactor().text(text)
        return await self.journal.queue(session, words, self._ids.session() if id is None else id)
