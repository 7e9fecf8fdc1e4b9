"""Reads files that speak to the model: regular files only, never through a link that leads out of their folder."""

import os
import stat
from pathlib import Path

import attrs


@attrs.frozen
class Source:
    """A file as it was read; `why` says why it was not, and then `content` is empty."""

    path: Path
    content: bytes = b""
    why: str = ""


def read(path: Path, within: Path | None = None) -> Source:
    """The file at `path`. within: the folder (already resolved) that links must not lead out of."""
    try:
        real = path.resolve(strict=True)
        if within is not None and not real.is_relative_to(within):
            return Source(path, why=f"not read: it is a link that leads out of {within}")
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return Source(path, why="not read: it is no regular file")
            return Source(path, file.read())
    except (OSError, RuntimeError) as error:  # the latter: links in a circle
        return Source(path, why=f"not read: {error}")


def head(content: bytes, limit: int) -> bytes:
    """The beginning, at most `limit` bytes, to the end of a line where there is one."""
    if len(content) <= limit:
        return content
    kept = content[:limit]
    whole = kept[: kept.rfind(b"\n") + 1]
    return whole or kept.decode("utf-8", "ignore").encode()
