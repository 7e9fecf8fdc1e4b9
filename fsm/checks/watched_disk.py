"""SQLite's disk, watched: a hook sees every change before it happens, and may refuse it by raising."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import attrs


@attrs.frozen
class Change:
    """kind: create, write (data at offset), truncate (to offset), sync, or delete (synced: the directory too)."""

    kind: str
    name: str
    offset: int = 0
    data: bytes = b""
    synced: bool = False


Hook = Callable[[Change], None]
_numbers = itertools.count()


class _File(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], hook: Hook) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.name, self.hook = Path(path).name if path else "temporary", hook
        if path and not Path(path).exists():
            hook(Change("create", self.name))
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  apsw's names
        self.hook(Change("write", self.name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self.hook(Change("truncate", self.name, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.hook(Change("sync", self.name))
        super().xSync(flags)


class _Disk(apsw.VFS):
    def __init__(self, hook: Hook) -> None:
        self.vfs_name, self.hook = f"observed{next(_numbers)}", hook
        super().__init__(self.vfs_name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(name, flags, self.hook)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.hook(Change("delete", Path(filename).name, synced=bool(syncdir)))
        super().xDelete(filename, syncdir)


@contextmanager
def watched(hook: Hook) -> Iterator[str]:
    """The name of a VFS that tells `hook`."""
    disk = _Disk(hook)
    try:
        yield disk.vfs_name
    finally:
        disk.unregister()
