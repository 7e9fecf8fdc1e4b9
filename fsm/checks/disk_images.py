"""What a disk may hold after a power cut: every legal image of a recorded run.

Bytes belong to a file and are safe after its sync; until then any of them may be there, in any order, torn at 512
bytes. Names (create, delete) are an ordered list of which any beginning may be there; a sync of the directory, which
SQLite does with the first sync of a new WAL or journal, makes all of them safe.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from .watched_disk import Change

SECTOR: Final = 512
ALL_SUBSETS: Final = 6
"""Up to so many unsynced changes every subset is tried; beyond that beginnings, all but one, and random ones."""

Image = dict[str, bytes]
Pending = tuple[int, Change]
"""A file and a change of it that is not synced."""


def _apply(content: bytearray, change: Change) -> None:
    if change.kind == "write":
        if len(content) < change.offset:
            content.extend(bytes(change.offset - len(content)))
        content[change.offset : change.offset + len(change.data)] = change.data
    else:
        del content[change.offset :]


def _torn(pending: Pending, dice: random.Random) -> Pending:
    file, change = pending
    if change.kind != "write" or len(change.data) <= SECTOR or dice.random() < 0.5:
        return pending
    return file, attrs.evolve(change, data=change.data[: SECTOR * dice.randrange(1, len(change.data) // SECTOR + 1)])


def _survivors(pending: Sequence[Pending], dice: random.Random) -> Iterator[Sequence[Pending]]:
    count = len(pending)
    if count <= ALL_SUBSETS:
        for mask in range(2**count):
            yield [each for bit, each in enumerate(pending) if mask >> bit & 1]
    else:
        for end in range(count + 1):
            yield pending[:end]
            yield [*pending[:end], *pending[end + 1 :]]
    for _ in range(4 if count else 0):
        some = [_torn(each, dice) for each in pending if dice.random() < 0.7]
        dice.shuffle(some)
        yield some


class Disk:
    """Replays a trace. Names in changes are resolved to files, since a name may be deleted and made anew."""

    def __init__(self, main: str, seed: int = 0) -> None:
        self._main = main  # its first sync does not reach the directory
        self._dice = random.Random(seed)  # noqa: S311  no secret: it has to be repeatable
        self._current: dict[str, int] = {}
        self._files = 0
        self._safe: dict[int, bytearray] = {}
        self._unsynced: list[Pending] = []
        self._safe_names: dict[str, int] = {}
        self._name_changes: list[tuple[str, int | None]] = []
        self._unnamed: set[int] = set()

    def step(self, change: Change) -> None:
        kind, name = change.kind, change.name
        if kind == "create":
            self._files += 1
            self._current[name] = self._files
            self._safe[self._files] = bytearray()
            self._name_changes.append((name, self._files))
            self._unnamed.add(self._files)
        elif kind == "delete":
            del self._current[name]
            self._name_changes.append((name, None))
            if change.synced:
                self._sync_names()
        elif kind == "sync":
            file = self._current[name]
            for owner, pending in self._unsynced:
                if owner == file:
                    _apply(self._safe[file], pending)
            self._unsynced = [pair for pair in self._unsynced if pair[0] != file]
            if file in self._unnamed and name != self._main:
                self._sync_names()
        else:
            self._unsynced.append((self._current[name], change))

    def _names(self, count: int) -> dict[str, int]:
        names = dict(self._safe_names)
        for name, file in self._name_changes[:count]:
            if file is None:
                names.pop(name, None)
            else:
                names[name] = file
        return names

    def _sync_names(self) -> None:
        self._safe_names = self._names(len(self._name_changes))
        self._unnamed -= set(self._safe_names.values())
        self._name_changes.clear()

    def images(self) -> Iterator[Image]:
        """What may be there if the power goes now."""
        for count in range(len(self._name_changes) + 1):
            names = self._names(count)
            for survivors in _survivors(self._unsynced, self._dice):
                content = {file: bytearray(self._safe[file]) for file in names.values()}
                for file, change in survivors:
                    if file in content:
                        _apply(content[file], change)
                yield {name: bytes(content[file]) for name, file in names.items()}
