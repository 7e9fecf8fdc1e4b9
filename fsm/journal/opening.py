"""Opening a journal file, for writing only if it keeps every promise that durability and fencing rest on."""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

import apsw

from states.codec import VERSION
from states.errors import JournalUnusable, NewerJournal

from .home import make_home
from .schema import APPLICATION_ID, LATER, SCHEMA

LIBRARY: Final = (3, 51, 3)
"""First SQLite without the WAL-reset bug (https://sqlite.org/wal.html#walresetbug), which loses commits."""
PAGE_SIZE: Final = 8192
"""Bytes. Records are about 1.5 KiB: four to a page; measured 20 % smaller files than with 4096 at the same speed."""
EXTRA: Final = 3
"""PRAGMA synchronous=EXTRA as it reads back. In WAL it costs the same as FULL, and it is durable without WAL too."""
CHECKPOINT: Final = 1000
"""Pages in the WAL before a commit moves them (SQLite's default): 3 ms at most, and the WAL stays at 8 MB."""
BUSY_TRIES: Final = 30_000
BUSY_PAUSE: Final = 0.002
"""Seconds, at most, between tries for another process's lock: random, because equal pauses starve one process.
With BUSY_TRIES it gives up after about half a minute."""

_REASONS: Final[tuple[tuple[type[apsw.Error], str], ...]] = (
    (apsw.FullError, "the disk is full; free some space"),
    (apsw.ReadOnlyError, "the file or its directory is read-only"),
    (apsw.CantOpenError, "the file cannot be opened or created there; look at the path and its permissions"),
    (apsw.PermissionsError, "permission was denied"),
    (apsw.BusyError, "another process has kept it locked for half a minute"),
    (apsw.NotADBError, "it is no SQLite database, so it is no journal of ours; it was left alone"),
    (apsw.CorruptError, "the database file is damaged; it was not repaired, use a backup"),
    (apsw.IOError, "reading or writing the file failed"),
)


def unusable(path: str, error: Exception, before: str = "") -> JournalUnusable:
    """The error in plain words, with the file's name."""
    reason = next((words for kind, words in _REASONS if isinstance(error, kind)), "the store refused")
    return JournalUnusable(f"journal {path}: {before}{reason} ({error})")


def _wait(tries: int) -> bool:
    time.sleep(random.uniform(0, BUSY_PAUSE))  # noqa: S311 - jitter, no secret
    return tries < BUSY_TRIES


def identify(connection: apsw.Connection, path: str) -> int | None:
    """The format version of the journal in the file, None if nothing is in it yet. Raises for anything else."""
    if connection.in_transaction:
        return _identified(connection, path)
    connection.execute("BEGIN")  # one look at it all: another process may be making it a journal just now
    try:
        return _identified(connection, path)
    finally:
        connection.execute("ROLLBACK")


def _identified(connection: apsw.Connection, path: str) -> int | None:
    application, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application == APPLICATION_ID and version > VERSION:
        raise NewerJournal(version, VERSION, f"journal {path}: it")
    if application == APPLICATION_ID and version > 0:
        return int(version)
    if application or version or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
        raise JournalUnusable(f"journal {path}: it is a database of another program; it was left alone")
    return None


STORED: Final = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"


def unguarded(stored: Iterable[Sequence[object]]) -> list[str]:
    """Tables and triggers of ours that are missing from what a file has stored, or were changed there."""
    model = apsw.Connection(":memory:")
    for statement in SCHEMA:
        model.execute(statement)
    wanted = model.execute(STORED).fetchall()
    model.close()
    found = {tuple(row) for row in stored}
    return [str(row[0]) for row in wanted if tuple(row) not in found]


def _initialise(connection: apsw.Connection, path: str) -> None:
    """One transaction makes an empty file a journal; whoever comes second finds it done."""
    connection.execute("BEGIN IMMEDIATE")
    if identify(connection, path) is None:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", VERSION)
    connection.execute("COMMIT")


def _check_schema(connection: apsw.Connection, path: str) -> None:
    """The triggers are half of the safety: a file without them is not written to."""
    for name in unguarded(connection.execute(STORED).fetchall()):
        raise JournalUnusable(f"journal {path}: its {name} is missing or was changed, so it cannot protect itself")


def connect(path: str, vfs: str = "") -> apsw.Connection:
    """The connection that appends; makes the file if need be. Raises JournalUnusable, NewerJournal."""
    library = apsw.sqlite_lib_version()
    if tuple(int(part) for part in library.split(".")) < LIBRARY:
        wanted = ".".join(map(str, LIBRARY))
        raise JournalUnusable(f"SQLite {library} can lose commits (WAL-reset bug); {wanted} is needed: upgrade apsw")
    try:
        make_home(Path(path))
    except OSError as error:
        raise JournalUnusable(f"journal {path}: its directory cannot be made: {error}") from error
    try:
        connection = open_file(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, vfs)
    except apsw.Error as error:
        raise unusable(path, error) from error
    try:
        _persist(lambda: _prepare(connection, path))
    except apsw.Error as error:
        shut(connection)
        raise unusable(path, error) from error
    except BaseException:
        shut(connection)
        raise
    return connection


def _persist(work: Callable[[], None]) -> None:
    """Changing to WAL says "busy" at once where two processes make the file together: SQLite asks no handler there."""
    for tries in count():
        try:
            work()
        except apsw.BusyError:
            if not _wait(tries):
                raise
        else:
            return


def _prepare(connection: apsw.Connection, path: str) -> None:
    version = identify(connection, path)  # before anything is changed: it may not be ours
    connection.pragma("page_size", PAGE_SIZE)
    mode = connection.pragma("journal_mode", "WAL")
    connection.pragma("synchronous", "EXTRA")
    connection.pragma("fullfsync", "ON")  # macOS: its plain fsync does not reach the disk
    connection.pragma("recursive_triggers", "ON")  # else INSERT OR REPLACE deletes past the trigger
    connection.pragma("wal_autocheckpoint", CHECKPOINT)
    synchronous = connection.pragma("synchronous")
    if (mode, synchronous) != ("wal", EXTRA):
        raise JournalUnusable(
            f"journal {path}: needs journal_mode=wal and synchronous={EXTRA}, got {mode} and {synchronous}; "
            "use a local file system"
        )
    if version is None:
        _initialise(connection, path)
    elif version < VERSION:
        raise JournalUnusable(
            f"journal {path}: has format version {version}; this program writes {VERSION} and still reads it. "
            "Start a new journal file."
        )
    _check_schema(connection, path)
    for statement in LATER:
        connection.execute(statement)


def shut(connection: apsw.Connection) -> None:
    """Close it. What fails then (a checkpoint) was durable in the WAL before: the next to open catches up."""
    with suppress(apsw.Error):
        connection.close(force=True)


def open_file(path: str, flags: int, vfs: str = "") -> apsw.Connection:
    """A connection that waits for others. Raises JournalUnusable for what cannot be a file, apsw.Error."""
    if Path(path).is_dir():
        raise JournalUnusable(f"journal {path}: it is a directory; give the path of a file")
    try:
        connection = apsw.Connection(path, flags=flags, vfs=vfs or None)
    except UnicodeEncodeError as error:
        raise unusable(path, error, "its name is not UTF-8; ") from error
    connection.set_busy_handler(_wait)
    return connection
