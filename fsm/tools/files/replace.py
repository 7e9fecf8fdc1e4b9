"""Replaces a file's content as a whole: at every instant the old content or the new one is there."""

import hashlib
import os
import stat
from contextlib import suppress
from typing import Final

from fsm.tools.context import ToolError

from .confined import Place
from .effects import Effects, Receipt, digest

WRITE_LIMIT: Final = 10 * 1024 * 1024
"""Bytes that one call may write: our choice, far above what a model can say in one turn."""


def draft_name(key: str) -> str:
    """Named after the key, so that a repeated start finds what a killed one left behind."""
    return f".interlock-{hashlib.sha256(key.encode()).hexdigest()[:16]}.tmp"


def replace(place: Place, content: bytes, before: bytes | None, receipt: tuple[Effects, str, str]) -> Receipt:
    """Write `content` over the file at `place`, which held `before` (None: nothing).

    `receipt` is where to record it, under which key, and what to say of it; it is returned. What is replaced is kept.
    The mode and, where allowed, the owner stay. Durable on return. Raises ToolError if the file has changed since
    `place` was looked up.
    """
    if len(content) > WRITE_LIMIT:
        raise ToolError(f"{len(content):,} bytes are too many; one call writes at most {WRITE_LIMIT:,}.")
    effects, key, said = receipt
    draft = draft_name(key)
    remove_draft(place, key)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(draft, flags, 0o666, dir_fd=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if place.status is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, place.status.st_uid, place.status.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(place.status.st_mode))
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        made = Receipt(place.path, None if before is None else digest(before), digest(content), said)
        if before is not None:
            effects.keep(key, before)
        effects.record(key, made)
        _check_unchanged(place)
        os.rename(draft, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    except BaseException:
        remove_draft(place, key)
        raise
    os.fsync(place.parent)
    return made


def remove_draft(place: Place, key: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(draft_name(key), dir_fd=place.parent)


def _check_unchanged(place: Place) -> None:
    try:
        now: os.stat_result | None = os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if _trace(now) != _trace(place.status):
        raise ToolError(f"{place.path!r} was changed by somebody else meanwhile; nothing was written. Read it again.")


def _trace(status: os.stat_result | None) -> tuple[int, ...] | None:
    return status and (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns)
