"""Replays what was really written: every session of every journal under a folder is read, folded and audited again.

For the end of a test run, an archive, or a copy of what production wrote: it shows that what is there still follows
from itself, by the code and the table of today.
"""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import apsw
import attrs

from fsm.audit import audit
from fsm.graph import GRAPH, Graph
from fsm.journal.opening import identify, open_file
from fsm.journal.sqlite import SqliteJournal
from states.errors import InterlockError, JournalUnusable, NewerJournal
from states.fold import fold
from states.names import State

from .broken import Broken

FORGED: Final = ".forged"
MAGIC: Final = b"SQLite format 3\x00"
"""How a database begins (SQLite's file format, section 1.3)."""


@attrs.frozen
class Replayed:
    """What was read again."""

    journals: int
    records: int
    sessions: Counter[State]
    """How many stand in each state."""

    def __str__(self) -> str:
        where = ", ".join(f"{count} {state}" for state, count in self.sessions.most_common())
        return f"{self.journals} journals, {self.sessions.total()} sessions ({where}), {self.records} records"


def check(folder: Path, graph: Graph = GRAPH) -> Replayed:
    """Every journal in `folder` and below. Raises Broken, with each file, session and what is wrong with it.

    graph: the table that the runs were made with. A folder with a file `.forged` is left out, and all below it: that
    is for tests that damage a journal to see it found. Nothing is written, and no session is claimed.
    """
    problems: list[str] = []
    journals, records, sessions = 0, 0, Counter[State]()
    for path in found(folder):
        journals += 1
        for session, read, state, wrong in asyncio.run(_read(path, graph)):
            records += read
            sessions.update([state] if state is not None else [])
            problems += [f"{path}: session {session}: {why}" for why in wrong]
    if problems:
        raise Broken(
            "journals", f"{len(problems)} things in {folder} do not follow from what stands before them", problems
        )
    return Replayed(journals, records, sessions)


def found(folder: Path) -> list[Path]:
    """The files that are journals, by what they say of themselves."""
    forged = {mark.parent for mark in folder.rglob(FORGED)}
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path for path in files if forged.isdisjoint(path.parents) and _ours(path))


def _ours(path: Path) -> bool:
    """A journal of whatever version: most of a young one still stands in its log beside it."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return False
    connection = open_file(str(path), apsw.SQLITE_OPEN_READWRITE)
    try:
        return identify(connection, str(path)) is not None
    except (NewerJournal, apsw.Error):  # a damaged one is not passed over: reading it says what is wrong
        return True
    except JournalUnusable:
        return False
    finally:
        connection.close()


_Session = tuple[str, int, State | None, list[str]]


async def _read(path: Path, graph: Graph) -> list[_Session]:
    journal = SqliteJournal(str(path))
    try:
        return [await _session(journal, info.session, graph) for info in await journal.sessions()]
    except InterlockError as error:
        return [("of any name", 0, None, [str(error)])]
    finally:
        await journal.close()


async def _session(journal: SqliteJournal, session: str, graph: Graph) -> _Session:
    try:
        entries = await journal.read(session)
        history = fold(session, entries)
    except InterlockError as error:
        return session, 0, None, [str(error)]
    return session, len(entries), history.state, audit(graph, entries, session)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{check(Path(sys.argv[1]))}\n")
    except Broken as error:
        sys.exit(str(error))
