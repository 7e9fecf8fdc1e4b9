"""Digests of single files, remembered as long as a file certainly has not changed."""

import hashlib
import os
import stat
import threading
import time
from typing import Final

_RACY: Final = 2_000_000_000
"""Nanoseconds. A file changed less than 2 s before it was read is not remembered: its times might not show another
change (some file systems count in steps of 2 s; git calls such files racily clean)."""
_CHUNK: Final = 1 << 20
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Trace = tuple[int, ...]
DIRECTORY: Final = b"D" + hashlib.sha256(b"").digest()


class Contents:
    """Content digests by what identifies a file's state: device, inode, size, both times. For one thread at a time."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        """Set by whoever does not want the answer any more; reading then ends with `Stopped`."""
        self._known: dict[Trace, bytes] = {}
        self._next: dict[Trace, bytes] = {}

    def renew(self) -> None:
        """Forget whatever was not asked for since the last call."""
        self._known, self._next = self._next, {}

    def entry(self, path: bytes) -> bytes | None:
        """Kind, executable bit and digest; None for what is not there and for FIFOs, devices and sockets.

        What cannot be read has a digest of the error and of what can be seen from outside. Every directory has one
        and the same: what is in it has paths of its own.
        """
        seen: Trace = ()
        try:
            status = os.lstat(path)
            seen = _trace(status)
            if stat.S_ISLNK(status.st_mode):
                return b"L" + _sha(os.readlink(path))  # noqa: PTH115  # bytes: names need not be text
            if stat.S_ISREG(status.st_mode):
                return (b"X" if status.st_mode & 0o111 else b"F") + self._digest(path, status)
            if stat.S_ISDIR(status.st_mode):
                os.scandir(path).close()
                return DIRECTORY
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return b"E" + _sha(repr((error.errno, seen)).encode())
        return None

    def _digest(self, path: bytes, status: os.stat_result) -> bytes:
        trace = _trace(status)
        digest = self._known.get(trace)
        if digest is None:
            begun = time.time_ns()
            digest, read = _read(path, self.stop)
            settled = begun - max(read.st_mtime_ns, read.st_ctime_ns) > _RACY
            if not settled or _trace(read) != trace:
                return digest
        self._next[trace] = digest
        return digest


class Stopped(Exception):
    """Nobody waits for the digest any more."""


def _read(path: bytes, stop: threading.Event) -> tuple[bytes, os.stat_result]:
    """Digest of the content, at most as long as it is now: a file that grows for ever does not keep us."""
    sha = hashlib.sha256()
    with os.fdopen(os.open(path, _OPEN), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        left = status.st_size if stat.S_ISREG(status.st_mode) else 0
        while left > 0 and (chunk := file.read(min(left, _CHUNK))):
            if stop.is_set():
                raise Stopped
            sha.update(chunk)
            left -= len(chunk)
        after = os.fstat(file.fileno())
    return sha.digest(), after


def _trace(status: os.stat_result) -> Trace:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _sha(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
