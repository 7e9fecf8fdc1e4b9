"""Names inside one directory, resolved so that nothing can lead out of it.

The path is walked one name at a time from an open directory to the next. The kernel never follows a link for us: links
are read and walked here, and `..` is a step back along the directories that are open. So a link that is swapped in
between the check and the use finds nobody who follows it.
"""

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

import attrs

from fsm.tools.context import ToolError

DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""O_NONBLOCK: should a FIFO be swapped in, opening it does not wait for a writer."""
PROTECTED: Final = (".git", ".interlock")
"""Names below which file tools write nothing: the journal and the repository are not the model's to edit."""
_LINKS: Final = 40
"""Symbolic links followed in one path (the limit of Linux)."""


@attrs.frozen
class Place:
    """A name in an open directory. `status` is None if nothing is there; `name` is empty for the root itself."""

    parent: int
    name: str
    path: str
    status: os.stat_result | None

    @property
    def is_directory(self) -> bool:
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)

    def remove(self) -> None:
        """Take the file's name away, durably. Raises OSError."""
        os.unlink(self.name, dir_fd=self.parent)
        os.fsync(self.parent)


class Confined:
    """One directory and what is below it. `protected` are further paths that file tools must not write."""

    def __init__(self, root: Path, protected: Iterable[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self._spellings = tuple(dict.fromkeys((str(self.root), str(Path(root).absolute()))))
        self._protected = tuple(Path(os.path.realpath(path)) for path in protected)

    @contextmanager
    def place(self, path: str, *, make_parents: bool = False) -> Iterator[Place]:
        """Where `path` leads: relative, or absolute below the root. Raises ToolError if it leads outside."""
        opened = [os.open(self.root, DIRECTORY)]
        names: list[str] = []
        todo = self._split(path, path)
        links, last = 0, ""
        try:
            while todo:
                name = todo.popleft()
                if name == "..":
                    if not names:
                        raise _outside(path)
                    os.close(opened.pop())
                    names.pop()
                    continue
                status = _lstat(name, opened[-1])
                if status is not None and stat.S_ISLNK(status.st_mode):
                    links += 1
                    if links > _LINKS:
                        raise ToolError(f"{path!r} leads through too many symbolic links.")
                    target = os.readlink(name, dir_fd=opened[-1])
                    if target.startswith("/"):
                        while names:
                            os.close(opened.pop())
                            names.pop()
                    todo.extendleft(reversed(self._split(target, path)))
                    continue
                if not todo:
                    last = name
                    break
                if status is None and make_parents:
                    self.check_writable("/".join((*names, name, *todo)))
                    os.mkdir(name, dir_fd=opened[-1])
                opened.append(_enter(name, opened[-1], path))
                names.append(name)
            status = _lstat(last, opened[-1]) if last else os.fstat(opened[-1])
            yield Place(opened[-1], last, "/".join((*names, last) if last else names), status)
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def check_writable(self, path: str) -> None:
        """Raises ToolError if a resolved path is the journal's, the repository's, or otherwise protected."""
        parts = PurePosixPath(path).parts
        whole = self.root / path
        if any(part.casefold() in PROTECTED for part in parts) or any(
            whole == kept or kept in whole.parents for kept in self._protected
        ):
            raise ToolError(f"{path!r} is not writable through file tools: it belongs to the journal or to git.")

    def relative(self, path: str) -> str:
        """An absolute path below the root made relative; others as they are. Raises ToolError if it leads outside."""
        if not path.startswith("/"):
            return path
        for root in self._spellings:
            if path == root or path.startswith(f"{root.rstrip('/')}/"):
                return path[len(root) :].lstrip("/")
        raise _outside(path)

    def _split(self, path: str, asked: str) -> "deque[str]":
        if "\0" in path:
            raise ToolError("a path cannot contain a NUL character.")
        try:
            path = self.relative(path)
        except ToolError:
            raise _outside(asked) from None
        return deque(part for part in path.split("/") if part not in ("", "."))


def open_file(place: Place) -> int:
    """A descriptor for reading a regular file. Raises ToolError for anything else: a FIFO would hang."""
    if place.status is None:
        raise ToolError(f"{place.path!r} does not exist.")
    _check_regular(place.status, place.path)
    descriptor = os.open(place.name, FILE, dir_fd=place.parent)
    try:
        _check_regular(os.fstat(descriptor), place.path)
    except ToolError:
        os.close(descriptor)
        raise
    return descriptor


def open_directory(place: Place) -> int:
    if place.status is None:
        raise ToolError(f"{place.path!r} does not exist.")
    if not place.is_directory:
        raise ToolError(f"{place.path!r} is not a directory.")
    return os.open(place.name or ".", DIRECTORY, dir_fd=place.parent)


def _check_regular(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{path or '.'!r} is {_KINDS.get(stat.S_IFMT(status.st_mode), 'something else')}, not a file.")


def _lstat(name: str, directory: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _enter(name: str, directory: int, path: str) -> int:
    try:
        return os.open(name, DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        raise ToolError(f"{path!r} does not exist: there is no directory {name!r}.") from None
    except NotADirectoryError:
        raise ToolError(f"{path!r} does not exist: {name!r} is not a directory.") from None


def _outside(path: str) -> ToolError:
    return ToolError(f"{path!r} leads outside the workspace; give a path inside it.")


_KINDS: Final = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link",
}
