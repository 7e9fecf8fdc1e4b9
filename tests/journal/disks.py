"""SQLite's disk, watched: a hook sees every change before it happens and may refuse it."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

Change = tuple[object, ...]
"""("create", name) | ("write", name, offset, data) | ("truncate", name, size) | ("sync", name) | ("delete", name)"""
Hook = Callable[[Change], None]
_numbers = itertools.count()


class _File(apsw.VFSFile):
    def __init__(self, name, flags, hook: Hook) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.name, self.hook = Path(path).name if path else "temporary", hook
        if path and not Path(path).exists():
            hook(("create", self.name))
        super().__init__("", name, flags)

    def xWrite(self, data, offset):  # noqa: N802 - apsw's names
        self.hook(("write", self.name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size):  # noqa: N802
        self.hook(("truncate", self.name, size))
        super().xTruncate(size)

    def xSync(self, flags):  # noqa: N802
        self.hook(("sync", self.name))
        super().xSync(flags)


class _Disk(apsw.VFS):
    def __init__(self, hook: Hook) -> None:
        self.vfs_name, self.hook = f"watched{next(_numbers)}", hook
        super().__init__(self.vfs_name, "")

    def xOpen(self, name, flags):  # noqa: N802
        return _File(name, flags, self.hook)

    def xDelete(self, name, sync):  # noqa: N802
        self.hook(("delete", Path(name).name, bool(sync)))
        super().xDelete(name, sync)


@contextmanager
def watched(hook: Hook) -> Iterator[str]:
    """The name of a VFS that tells `hook`."""
    disk = _Disk(hook)
    try:
        yield disk.vfs_name
    finally:
        disk.unregister()


class Faults:
    """A hook that counts changes by kind and, once armed, refuses some of them."""

    def __init__(self) -> None:
        self.counts: dict[object, int] = {}
        self._kind, self._error, self._left = "", None, 0

    def arm(self, kind: str, error: apsw.Error, *, times: int = 1) -> None:
        """Raise `error` at the next `times` changes of this kind."""
        self._kind, self._error, self._left = kind, error, times

    def disarm(self) -> None:
        self._left = 0

    def __call__(self, change: Change) -> None:
        self.counts[change[0]] = self.counts.get(change[0], 0) + 1
        if self._left and change[0] == self._kind:
            self._left -= 1
            raise self._error


def io_error(code: int = apsw.SQLITE_IOERR_FSYNC) -> apsw.Error:
    error = apsw.IOError("injected I/O error")
    error.extendedresult = code
    return error


def disk_full() -> apsw.Error:
    return apsw.FullError("injected full disk")
