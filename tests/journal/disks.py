"""Faults of SQLite's disk: a hook that refuses some changes."""

import apsw

from fsm.checks.watched_disk import Change


class Faults:
    """A hook that counts changes by kind and, once armed, refuses some of them."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._kind, self._error, self._left = "", None, 0

    def arm(self, kind: str, error: apsw.Error, *, times: int = 1) -> None:
        """Raise `error` at the next `times` changes of this kind."""
        self._kind, self._error, self._left = kind, error, times

    def disarm(self) -> None:
        self._left = 0

    def __call__(self, change: Change) -> None:
        self.counts[change.kind] = self.counts.get(change.kind, 0) + 1
        if self._left and change.kind == self._kind:
            self._left -= 1
            raise self._error


def io_error(code: int = apsw.SQLITE_IOERR_FSYNC) -> apsw.Error:
    error = apsw.IOError("injected I/O error")
    error.extendedresult = code
    return error


def disk_full() -> apsw.Error:
    return apsw.FullError("injected full disk")
