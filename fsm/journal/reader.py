"""Reading a journal file: beside writers, and where nothing can be written at all."""

from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw

from states.codec import VERSION

from .opening import identify, open_file, shut, unusable
from .schema import Value, select

_UNSHARED: Final = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError)
"""What SQLite says where it can keep no locks beside the file."""


class Reader:
    """Answers queries from the file as it is; a file that is not there, or still empty, has no rows.

    No query outlives its call, so no checkpoint ever waits for us. `version` is the file's format version.
    """

    def __init__(self, path: str, vfs: str = "") -> None:
        self.path = path
        self.version = VERSION
        self._vfs = vfs
        self._shared: apsw.Connection | None = None

    def rows(self, query: str, *bindings: Value) -> list[Any]:
        """All rows at once. Raises JournalUnusable, NewerJournal."""
        try:
            if self._shared is None and not self._is_empty():
                self._shared = self._identified(self._open_shared())
            return select(self._shared, query, *bindings) if self._shared else []
        except _UNSHARED as error:
            return self._frozen_rows(query, bindings, error)
        except (apsw.Error, OSError) as error:
            raise unusable(self.path, error) from error

    def close(self) -> None:
        if self._shared is not None:
            shut(self._shared)
            self._shared = None

    def _is_empty(self) -> bool:
        try:
            return not Path(self.path).stat().st_size
        except FileNotFoundError:
            return True

    def _open_shared(self) -> apsw.Connection:
        connection = open_file(self.path, apsw.SQLITE_OPEN_READWRITE, self._vfs)
        connection.pragma("query_only", "ON")
        return connection

    def _frozen_rows(self, query: str, bindings: tuple[Value, ...], why: apsw.Error) -> list[Any]:
        """One look at a file that cannot be shared (read-only medium, full disk)."""
        self.close()
        try:
            connection = self._identified(self._open_frozen())
        except apsw.Error:
            raise unusable(self.path, why) from why
        if connection is None:
            return []
        try:
            return select(connection, query, *bindings)
        except apsw.Error as error:
            raise unusable(self.path, error) from error
        finally:
            shut(connection)

    def _open_frozen(self) -> apsw.Connection:
        """A WAL that nobody could merge is read through a VFS without locks; without one, nothing can change."""
        wal = Path(self.path + "-wal")
        if wal.exists() and wal.stat().st_size:
            connection = open_file(self.path, apsw.SQLITE_OPEN_READONLY, "unix-none")
            connection.pragma("locking_mode", "EXCLUSIVE")  # keeps the WAL's index in memory, not in a file
            return connection
        name = f"file:{quote(self.path)}?immutable=1"
        return open_file(name, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)

    def _identified(self, connection: apsw.Connection) -> apsw.Connection | None:
        try:
            version = identify(connection, self.path)
        except BaseException:
            shut(connection)
            raise
        if version is None:  # its first writer is not through yet
            shut(connection)
            return None
        self.version = version
        return connection
