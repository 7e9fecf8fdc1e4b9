"""Who is running a session right now: a lock that the kernel frees with the process.

It tells people, at once and truly, that somebody is at it. That a stale owner cannot write is the store's work.
"""

import fcntl
import hashlib
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs

from states.errors import JournalUnusable

from .refusals import busy

OURSELVES: Final = "another task of this very process"


def owner_name() -> str:
    """What others are told about this process."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def _file_of(directory: Path, session: str) -> Path:
    # A digest, because a session's name may be anything and file systems fold case and limit length.
    return directory / hashlib.sha256(session.encode()).hexdigest()[:32]


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


@attrs.define(eq=False)
class SessionLock:
    """A held lock. Its descriptor is not inherited by children: a tool must not outlive its owner's claim."""

    path: Path
    descriptor: int

    @classmethod
    def acquire(cls, directory: Path, session: str) -> "SessionLock":
        """Take it at once or not at all. Raises SessionBusy naming the holder, JournalUnusable."""
        path = _file_of(directory, session)
        try:
            directory.mkdir(exist_ok=True)
            while True:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
                lock = cls(path, descriptor)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if lock.holds():
                        os.ftruncate(descriptor, 0)
                        os.pwrite(descriptor, owner_name().encode(), 0)
                        return lock
                    os.close(descriptor)  # the last holder removed the file meanwhile
                except BlockingIOError:
                    owner = os.pread(descriptor, 300, 0).decode("utf-8", "replace") or "another process"
                    os.close(descriptor)
                    raise busy(session, OURSELVES if owner == owner_name() else owner) from None
                except OSError:
                    os.close(descriptor)
                    raise
        except OSError as error:
            raise JournalUnusable(f"session {session!r} cannot be locked: {error}. Nothing was written.") from error

    def holds(self) -> bool:
        """The file at the path is still the one that is locked: nobody removed or replaced it."""
        try:
            return _identity(self.path.stat()) == _identity(os.fstat(self.descriptor))
        except OSError:
            return False

    def release(self) -> None:
        """Give it up; the file goes while it is still locked, so that nobody can lock a file that has no name."""
        if self.holds():
            with suppress(OSError):
                self.path.unlink()
        os.close(self.descriptor)


def is_held(directory: Path, session: str) -> bool:
    """Somebody, perhaps we, runs the session now."""
    try:
        descriptor = os.open(_file_of(directory, session), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
