"""Reads what a journal holds about sessions, without claiming any of them."""

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from states.errors import ConfigError, UnknownSession
from states.fold import fold
from states.history import CallState, History
from states.ports import Journal
from states.records import Entry


def opened(path: str) -> AbstractAsyncContextManager[Journal]:
    """A journal that exists. Raises ConfigError if there is no such file: looking must not make one."""
    from fsm.journal import open_journal

    journal = open_journal(path)
    if not exists(path):
        raise ConfigError(f"there is no journal {path}; say where it is with --journal or --workspace")
    return _closing(journal)


def exists(path: str) -> bool:
    """Something is there, be it a journal or not."""
    return os.path.lexists(path)


@asynccontextmanager
async def _closing(journal: Journal) -> AsyncIterator[Journal]:
    try:
        yield journal
    finally:
        await journal.close()


async def entries_of(path: str, session: str) -> list[Entry]:
    """All entries, the chain of digests checked. Raises JournalError, ConfigError."""
    async with opened(path) as journal:
        return await journal.read(session)


async def examined(path: str, session: str) -> tuple[list[Entry], list[str]]:
    """The same, what the file itself has lost of its protection, and whether a fork began as it says."""
    from fsm.journal.sqlite import SqliteJournal
    from fsm.sessions.forking import unproven

    async with opened(path) as journal:
        entries = await journal.read(session)
        forged = unproven(await journal.dump(session))
        lost = await journal.unguarded() if isinstance(journal, SqliteJournal) else []
    return entries, [
        *forged,
        *(f"the journal's {name} is missing or was changed: it was open to edits" for name in lost),
    ]


async def history_of(path: str, session: str) -> History:
    """What a session's entries amount to. Raises JournalError, HistoryError, ConfigError."""
    return fold(session, await entries_of(path, session))


async def known(path: str, session: str) -> History | None:
    """What a session's entries amount to; None if there is no such session. Raises JournalError, HistoryError."""
    if not exists(path):
        return None
    try:
        return await history_of(path, session)
    except UnknownSession:
        return None


def waiting(history: History) -> list[CallState]:
    """Calls that wait for a person's approval, in the model's order."""
    return [state for state in history.open_calls() if state.asked and state.approval is None]
