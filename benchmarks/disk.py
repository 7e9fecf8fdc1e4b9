"""The usual VFS of SQLite, with its syncs counted."""

from itertools import count

import apsw

from .meter import METER


class _CountedFile(apsw.VFSFile):
    def __init__(self, name, flags, numbers) -> None:
        super().__init__("", name, flags)
        self._numbers = numbers

    def xSync(self, flags) -> None:  # noqa: N802  apsw's name
        METER.extra["syncs"] = next(self._numbers)
        super().xSync(flags)


class CountedDisk(apsw.VFS):
    """How often something is synced ends up in the report."""

    name = "counted"

    def __init__(self) -> None:
        super().__init__(self.name, "")
        self._numbers = count(1)

    def xOpen(self, name, flags) -> _CountedFile:  # noqa: N802
        return _CountedFile(name, flags, self._numbers)
