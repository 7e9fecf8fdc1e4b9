"""The directory that a journal file lives in."""

import os
from contextlib import suppress
from pathlib import Path


def make_home(path: Path) -> None:
    """Make the directories above `path`, durably. One called `.interlock` keeps itself out of git. Raises OSError."""
    _make(path.parent)
    if path.parent.name == ".interlock":
        with suppress(FileExistsError), (path.parent / ".gitignore").open("x", encoding="ascii") as file:
            file.write("*\n")


def _make(directory: Path) -> None:
    """With each new name synced in its parent: SQLite does that for its own files only."""
    if directory.is_dir():
        return
    _make(directory.parent)
    with suppress(FileExistsError):
        directory.mkdir()
    descriptor = os.open(directory.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
