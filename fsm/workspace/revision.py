"""The revision of a local directory: one digest over every path that counts and its content."""

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from states.errors import ConfigError

from .content import DIRECTORY, Contents, Stopped
from .listing import inside, paths_of

T = TypeVar("T")


class LocalWorkspace:
    """A `Workspace` on disk. Raises ConfigError if `root` is no directory.

    Where the root is in a git repository, ignored files do not count; caches and untracked products of a default list
    never do (see `ignored`). What git has staged or committed makes no difference, only what is there.
    """

    def __init__(self, root: Path | str, *, ignored: Iterable[Path | str] = ()) -> None:
        """`ignored`: what begins with one of these paths does not count either (a journal and the files beside it)."""
        self.root = Path(root).resolve()
        self._ignored = tuple(
            os.fsencode(path.relative_to(self.root))
            for path in (Path(os.path.realpath(given)) for given in ignored)
            if path.is_relative_to(self.root)
        )
        if not self.root.is_dir():
            raise ConfigError(f"the workspace {str(root)!r} is not a directory")
        self._contents = Contents()
        self._one_at_a_time = threading.Lock()

    async def revision(self) -> str:
        """SHA-256, hex. Runs in a thread. Equal digests: no relevant path, content, link or executable bit changed."""
        return await self._in_thread(self._revision)

    async def paths(self) -> list[str]:
        """Relative paths of everything that counts and is there, sorted."""
        return await self._in_thread(self._paths)

    async def _in_thread(self, work: Callable[[threading.Event], T]) -> T:
        """A cancellation ends the thread within a file's next megabyte, not only the waiting for it."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(work, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def _paths(self, stop: threading.Event) -> list[str]:
        root = os.fsencode(self.root)
        with self._one_at_a_time:
            self._contents.stop = stop
            return [os.fsdecode(path) for path in sorted(self._entries(root, paths_of(root)))]

    def _entries(self, root: bytes, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """What is at each path that is there; of a directory, what is in it."""
        found: dict[bytes, bytes] = {}
        for path in paths:
            if self._contents.stop.is_set():
                raise Stopped
            if path.startswith(self._ignored):
                continue
            entry = self._contents.entry(root + b"/" + path)
            if entry == DIRECTORY:
                found |= self._entries(root, inside(root, path))
            elif entry is not None:
                found[path] = entry
        return found

    def _revision(self, stop: threading.Event) -> str:
        root = os.fsencode(self.root)
        sha = hashlib.sha256()
        with self._one_at_a_time:
            self._contents.stop = stop
            entries = self._entries(root, paths_of(root))
            self._contents.renew()
        for path in sorted(entries):
            sha.update(path + b"\0" + entries[path])  # no path has a NUL, and all entries are of one length
        return sha.hexdigest()
