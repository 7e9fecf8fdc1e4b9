"""Visits the files below a directory of the workspace, following no link."""

import os
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from fsm.tools.context import ToolError

from .confined import Confined, Place, open_directory

HIDDEN: Final = frozenset(
    {".git", ".interlock", ".hg", ".svn", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".pytest_cache"}
    | {".ruff_cache", ".tox", ".nox", ".hypothesis"}
)
"""Directories that are not entered, unless the search starts inside one."""
VISITED: Final = 200_000
"""Names looked at in one search: our choice, some seconds of work."""


class TooMany(Exception):  # a bound that was reached, not a fault
    """The search looked at as many names as one search may."""


@attrs.frozen
class Found:
    """A file by its path in the workspace, and by its name in a directory that is open until the next is asked for."""

    path: str
    directory: int
    name: str

    def place(self) -> Place:
        status = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        return Place(self.directory, self.name, self.path, status)


def walk(root: Confined, start: str, stopped: Callable[[], bool]) -> Iterator[Found]:
    """Files in a fixed order. Raises TooMany at the bound; ends early when `stopped` says so."""
    with root.place(start) as place:
        if place.status is None:
            raise ToolError(f"{start!r} does not exist.")
        if not place.is_directory:
            yield Found(place.path, place.parent, place.name)
            return
        todo = [place.path]
    visited = 0
    while todo and not stopped():
        path = todo.pop()
        try:
            with root.place(path) as place:
                descriptor = open_directory(place)
        except (OSError, ToolError):  # vanished or unreadable
            continue
        try:
            with os.scandir(descriptor) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
            visited += len(found)
            if visited > VISITED:
                raise TooMany
            below = []
            for entry in found:
                inside = f"{path}/{entry.name}" if path else entry.name
                if not entry.is_dir(follow_symlinks=False):
                    yield Found(inside, descriptor, entry.name)
                elif entry.name not in HIDDEN:
                    below.append(inside)
            todo.extend(reversed(below))
        finally:
            os.close(descriptor)
