"""The directory in which tools keep what must outlive a call: receipts, and outputs too long to show."""

import hashlib
import os
from pathlib import Path
from typing import Final
from urllib.parse import quote

_LONGEST: Final = 200
"""Characters of a file name before it is replaced by its digest (most systems take 255 bytes)."""


def file_name(key: str) -> str:
    """A file name for any key; different keys have different names."""
    name = quote(key, safe="").replace(".", "%2E")
    return name if 0 < len(name) <= _LONGEST else hashlib.sha256(key.encode()).hexdigest()


def make(directory: Path) -> None:
    """Create the directory, durably. A new one tells git to leave it alone."""
    if directory.is_dir():
        return
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    (directory / ".gitignore").write_text("*\n")
    for path in missing:
        sync(path.parent)


def write_durably(path: Path, body: bytes) -> None:
    """Replace the file as a whole; on return it survives a power loss."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    with draft.open("wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync(path.parent)


def sync(directory: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
