"""Reads whole files within a bound, and tells text from other data."""

import os
from typing import Final

from fsm.tools.context import ToolError
from states.text import safe_text

from .confined import Place, open_file

READ_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a file that is read at all: our choice, well above source files and saved outputs."""
_SNIFFED: Final = 8192
"""Bytes looked at for a NUL, which no text has (git looks at 8000)."""


def read(place: Place, limit: int = READ_LIMIT) -> bytes:
    """The content of a regular file. Raises ToolError if it is larger than `limit` bytes or no regular file."""
    descriptor = open_file(place)
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if size > limit:
            raise ToolError(f"{place.path!r} has {size:,} bytes; files above {limit:,} are not read. Use grep or bash.")
        return file.read(limit)


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:_SNIFFED]


def text_of(content: bytes, path: str) -> str:
    """The text, undecodable bytes made visible. Raises ToolError for data that is no text."""
    if is_binary(content):
        raise ToolError(f"{path!r} is a binary file of {len(content):,} bytes; it is not shown.")
    return safe_text(content)
